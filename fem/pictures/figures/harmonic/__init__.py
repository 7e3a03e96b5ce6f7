"""Figures of harmonic motions."""
