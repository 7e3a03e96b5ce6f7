"""Displacements drawn larger, or smaller, than they are."""

from __future__ import annotations

from fem.arrays import Floats

NOTE = "displacements are drawn {:g} times as large as they are"


def magnified(coordinates: Floats, u: Floats, scale: float) -> Floats:
    """Positions (..., n, 3) of nodes at ``coordinates`` (n, 3) that move by ``scale`` times u (..., n, 3)."""
    return coordinates + scale * u


def magnified_title(title: str, scale: float) -> str:
    """Says how many times."""
    return title if scale == 1.0 else f"{title} (displacements x {scale:g})"
