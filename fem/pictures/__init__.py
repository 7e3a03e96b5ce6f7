"""Figures and films of a finished run, drawn from its files alone."""

from __future__ import annotations

from fem.files.whole import REPORT
from fem.model.quantities import NODAL

FIGURES = (
    *("energies", "iterations", *(quantity.figure for quantity in NODAL if quantity.figure)),
    *("angles", "links", "reactions", "joints", "phase", "phase_angles"),
    *("tension", "envelope", "shapes", "touchdown", "response"),
    *("modes", "load_factor"),
)
FORMATS = ("png", "svg", "pdf")
FILM = "motion"
FILMS = ("gif", "mp4", "html")
PLOTTED = tuple(f"{name}.png" for name in FIGURES[:3])
"""What ``run --plot`` draws."""
PICTURES = tuple(f"{name}.{form}" for name in FIGURES for form in FORMATS) + tuple(f"{FILM}.{form}" for form in FILMS)
PICTURES += (REPORT,)
"""Everything that is drawn into a folder of results: stale once the deck runs again."""
