"""Motions that come back, followed over a parameter: the stroboscopic map, its orbits, branches, hysteresis."""
