"""Accuracy of a run: its numbers with error bars, from companion runs with smaller increments, finer meshes and tighter
criteria."""
