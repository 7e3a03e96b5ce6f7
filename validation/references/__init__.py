"""Closed forms, elliptic integrals, shooting: numpy and scipy only, never ``fem``."""
