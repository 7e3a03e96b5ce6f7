"""What is asked of the tables of a finished run: cycles and fatigue, extremes, ranges along a line."""

from __future__ import annotations

POSTED = ".", r"(rainflow|range)_[A-Z]+[1-3]?_.+\.(csv|png)"
"""Folder and names of what is written beside them: stale once the deck runs again."""
