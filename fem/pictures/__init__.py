"""Figures and films of a finished run, drawn from its files alone."""

from __future__ import annotations

WITH_A_RUN = ("energies", "iterations", "displacements")
"""Figures that ``run --plot`` draws."""
FIGURES = (
    *WITH_A_RUN,
    *("velocities", "accelerations", "angles", "links", "reactions", "joints", "phase", "phase_angles"),
)
"""Names of all figures, without their ending."""
FORMATS = ("png", "svg", "pdf")
FILM = "motion"
FILMS = ("gif", "mp4", "html")
FILES = tuple(f"{name}.{form}" for name in FIGURES for form in FORMATS) + tuple(f"{FILM}.{form}" for form in FILMS)
"""Everything drawn into a folder of results: stale once the deck runs again."""
