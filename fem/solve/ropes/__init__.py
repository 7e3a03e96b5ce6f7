"""Ropes: bars that never get longer than their length. When they change between taut and slack, and what impacts do."""
