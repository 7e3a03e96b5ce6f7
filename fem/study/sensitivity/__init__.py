"""Derivatives of the numbers of a run by parameters of its deck."""
