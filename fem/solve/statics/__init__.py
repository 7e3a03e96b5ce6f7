"""Statics beyond the ramp of loads."""
