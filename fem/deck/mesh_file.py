"""Common to the readers of mesh files: a mesh of points and lines with named groups, and notices of what is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Floats, Ints


@dataclass(frozen=True)
class MeshFile:
    """The lines of a mesh file.

    points         (n, 3) in the order of the file
    lines          (m, 2) rows of points
    node_sets      names of groups of points, with their rows
    element_sets   names of groups of lines, with their rows
    others         number of cells of each other kind, which are ignored
    said           further remarks for the user
    point_labels, line_labels  those of the file; None: 1, 2, 3, ...
    """

    points: Floats
    lines: Ints
    node_sets: Mapping[str, Ints] = field(default_factory=dict)
    element_sets: Mapping[str, Ints] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    point_labels: Ints | None = None
    line_labels: Ints | None = None


def pieces(chains: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Splits poly-lines into lines: (m, 2) points, and (m,) the poly-line of each.
    chains  the points of all poly-lines, one after the other; ends  the end of each poly-line in them"""
    owner = np.searchsorted(ends, np.arange(len(chains)), side="right")
    joined = np.flatnonzero(owner[1:] == owner[:-1])
    return np.stack([chains[joined], chains[joined + 1]], axis=1), owner[joined]


def chained(chains: int, bars: int) -> list[str]:
    """Notice that poly-lines became chains of bars."""
    return [f"poly-lines become bars: {chains} of them, {bars} bars"] if chains else []


def counted(numbers: Mapping[str, int]) -> str:
    """``3 triangle, 2 tetra``."""
    return ", ".join(f"{count} {name}" for name, count in sorted(numbers.items()) if count)
