"""The rods of an explicit step made ready: which of them meet, in which order they are eliminated, room to work."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import ModelError
from fem.solve.explicit.rattle import Ties
from fem.solve.linear.ordering import BAND_WORK
from fem.solve.step_system import StepSystem


def tie(stage: StepSystem, inverse: Floats) -> Ties:
    """What ``leapfrog`` needs of the rods. ``inverse`` (3n,): of the mass that moves with each dof.

    ModelError where a rod ends at a dependent dof, or where rods form nets too wide to be solved in every increment.
    """
    _refuse_dependent_ends(stage)
    ends = stage.bars.nodes[stage.bars.rods]
    pairs, corners = _meetings(ends)
    place = _order(pairs, len(ends))
    rows = place[pairs]
    lower = rows[:, 0] >= rows[:, 1]
    meetings = np.column_stack([rows, pairs])[lower]
    width = int((meetings[:, 0] - meetings[:, 1]).max(initial=0))
    if len(ends) * float(width) ** 2 > BAND_WORK:
        raise ModelError(
            f"{len(ends)} rods form a net (half bandwidth {width}) that EXPLICIT cannot solve in every increment: make "
            "some of them elastic, or leave out EXPLICIT"
        )
    count = len(ends)
    rooms = np.zeros((3, count)), np.zeros(count), np.zeros((count, width + 1)), np.zeros(count)
    return Ties(stage.bars.rods, inverse, place, meetings, corners[lower], *rooms)


def _meetings(ends: Ints) -> tuple[Ints, Ints]:
    """Pairs of rods (themselves included) that share a node, both ways round; the node and the sign of its part.

    Both enter with + at their second node, - at their first.
    """
    at: dict[int, list[tuple[int, int]]] = {}
    for rod, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append((rod, -1))
        at.setdefault(j, []).append((rod, 1))
    rows = [
        (one, other, node, sign * factor)
        for node, there in at.items()
        for one, sign in there
        for other, factor in there
    ]
    table = np.array(rows, np.int64).reshape(-1, 4)
    return np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:])


def _order(pairs: Ints, count: int) -> Ints:
    """Row of each rod, by reverse Cuthill-McKee."""
    if np.all(np.abs(pairs[:, 0] - pairs[:, 1]) <= 1):  # a chain, named along itself
        return np.arange(count)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()
    place = np.empty(count, np.int64)
    place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(count)
    return place


def _refuse_dependent_ends(stage: StepSystem) -> None:
    """ModelError where an *EQUATION moves an end of a rod."""
    ends = (3 * stage.bars.nodes[stage.bars.rods][:, :, None] + np.arange(3)).reshape(-1, 6)
    wrong = np.isin(ends, stage.equations.slave)
    if np.any(wrong):
        rod, at = np.argwhere(wrong)[0]
        raise ModelError(
            f"{stage.system.name_bar(int(stage.bars.rods[rod]))} keeps its length and ends at "
            f"{stage.system.name_dof(int(ends[rod, at]))}, which depends on others through an *EQUATION; EXPLICIT "
            "supports rods between independent dofs: leave out EXPLICIT"
        )
