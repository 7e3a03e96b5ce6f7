"""``touchdown.csv``: where the lines above a ``*SEABED`` leave the bottom, and how much of them lies on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Model, Seabed
from fem.model.facts import natural_lengths

COLUMNS = ("line", "s", "x", "y", "z", "on_bottom", "contacts")
NEAR = 1e-9
"""Distance from the plane, over the length of the line, that is none."""


class BedLine(NamedTuple):
    """A chain of bars above a bottom: its name, its nodes (n+1,) and s (n+1,), the natural length up to each."""

    name: str
    nodes: Ints
    s: Floats
    bed: Seabed


def bed_lines(model: Model) -> list[BedLine]:
    """All chains of the bars of each bottom, those of one bottom numbered; nets and rings are none."""
    mesh, found = model.mesh, []
    length = natural_lengths(model.mesh, model.rest_lengths)
    for bed in model.seabeds:
        chains = list(chains_of(mesh.element_nodes, mesh.bars_in(bed.element_set)))
        for number, (nodes, bars) in enumerate(chains, 1):
            name = (bed.element_set or "ALL") + (f"-{number}" if len(chains) > 1 else "")
            found.append(BedLine(name, nodes, np.concatenate([[0.0], np.cumsum(length[bars])]), bed))
    return found


def chains_of(ends: Ints, bars: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Nodes (n+1,) and bars (n,) of every path between two nodes that have another number of these bars than two.

    ends (elements, 2). A path begins with the end whose bar comes first in the deck.
    """
    beside: dict[int, list[int]] = {}
    for bar in bars.tolist():
        for node in ends[bar].tolist():
            beside.setdefault(node, []).append(bar)
    used: set[int] = set()
    for first in bars.tolist():
        here = next((node for node in ends[first].tolist() if len(beside[node]) != 2), None)
        if here is None or first in used:
            continue
        nodes, chain, bar = [here], [], first
        while True:
            used.add(bar)
            chain.append(bar)
            here = int(ends[bar].sum()) - here
            nodes.append(here)
            if len(beside[here]) != 2:
                break
            bar = next(other for other in beside[here] if other != bar)
        yield np.array(nodes), np.array(chain)


def touchdown_lines(line: BedLine, places: Floats, up: int) -> list[str]:
    """The cells of ``COLUMNS`` for k instants; places (k, n+1, 3) of the nodes of the line."""
    depth = line.bed.depth(places.reshape(-1, 3), up).reshape(places.shape[:2])
    below = np.maximum(depth, 0.0)
    both = np.abs(depth[:, 1:]) + np.abs(depth[:, :-1])
    part = np.divide(below[:, 1:] + below[:, :-1], both, out=np.zeros_like(both), where=both > 0.0)
    lying, contacts = part @ np.diff(line.s), (depth > 0.0).sum(axis=1)
    rows = []
    for row in range(len(depth)):
        found = lift_off(depth[row], NEAR * float(line.s[-1]))
        cells: Sequence[object] = ("", "", "", "")
        if found is not None:
            bar, way = found
            ends = places[row, bar : bar + 2]
            s = line.s[bar] + way * (line.s[bar + 1] - line.s[bar])
            cells = [float(value) for value in (s, *(ends[0] + way * (ends[1] - ends[0])))]
        rows.append(",".join(map(str, (line.name, *cells, float(lying[row]), int(contacts[row])))))
    return rows


def lift_off(depth: Floats, near: float) -> tuple[int, float] | None:
    """The bar, and the part of it, at which a line leaves the bottom, seen from the end that lies on it.

    Where none of its ends does, where it first comes down; None where it does not touch.
    """
    if depth[0] >= -near:
        return leaves(depth)
    if depth[-1] >= -near:
        bar, way = leaves(depth[::-1])
        return len(depth) - 2 - bar, 1.0 - way
    if not (depth > 0.0).any():
        return None
    bar = int((depth > 0.0).argmax()) - 1
    return bar, float(depth[bar] / (depth[bar] - depth[bar + 1]))


def leaves(depth: Floats) -> tuple[int, float]:
    """The same of a line whose first node lies on the bottom; where it lies all along, its last node."""
    above = depth[1:] < 0.0
    if not above.any():
        return len(depth) - 2, 1.0
    bar = int(above.argmax())
    start = max(float(depth[bar]), 0.0)
    return bar, start / (start - float(depth[bar + 1]))
