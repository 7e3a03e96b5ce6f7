"""Harmonic motion about the current state: ``*STEADY STATE DYNAMICS, DIRECT``."""
