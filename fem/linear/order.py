"""In which order nodes with several neighbours are eliminated, and where the blocks (3 x 3) of that elimination stand.

Nodes of equations and of rods wait for the end: they are the *border*, whose matrix pivots (``border.py``). All others
go one by one, next the one with the fewest neighbours left, all of which then couple with each other. Along a line
that is one block more a node (two where it bends), up to the node that is tied to a body. In a band nobody goes first.
Source: minimum degree; George & Liu, SIAM Rev. 31 (1989) 1-19.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations
from fem.forces.protocol import NO_PAIRS


class Plan(NamedTuple):
    """Order of the nodes inside, and the numbers of blocks.

    sequence (q,)   nodes inside, in the order of elimination
    first    (q+1,) of the neighbours of each that are left then: near (k,); K_ij of these, K_ji: blocks n + 2k, + 1
    target   blocks between each two of these neighbours, one node after the other
    own (n,), between (m + p, 2)  blocks K_ii of nodes; K_ij, K_ji of bars and pairs
    border (b,), rank (n,)  nodes, and the place of a node among them
    inner    (s, 2) nodes of each block of theirs, by place; the last blocks but one, which nobody reads, are these
    start (3b+1,), column, factor  dofs of the border as sums of its equations' unknowns: none where fixed
    multiplier (r,) unknowns that are those of rods
    """

    sequence: Ints
    first: Ints
    near: Ints
    target: Ints
    own: Ints
    between: Ints
    border: Ints
    rank: Ints
    inner: Ints
    start: Ints
    column: Ints
    factor: Floats
    multiplier: Ints

    @property
    def blocks(self) -> int:
        """How many there are."""
        return len(self.own) + 2 * len(self.near) + len(self.inner) + 1


NOTHING = np.zeros(0, np.int64)
NO_PLAN = Plan(
    NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NO_PAIRS, NOTHING, NOTHING, NO_PAIRS, NOTHING, NOTHING, np.zeros(0),
    NOTHING,
)  # fmt: skip
"""For solvers that have none."""
BLOCK, NODE = 27, 60
"""Multiplications of a product of two blocks; of what else a node takes."""


def plan_of(
    edges: Ints, rods: Ints, free: Ints, equations: Equations, most: float, equation: Ints | None = None
) -> Plan | None:
    """Plan for the nodes of bars, then of pairs (m + p, 2), and those of rods; None beyond ``most`` multiplications.
    free (3n,)  1 independent, 0 fixed, 2 dependent
    equation    (3n + m,) numbers of dofs and multipliers in a band, where all nodes are of the border"""
    count = len(free) // 3
    is_open = (free.reshape(-1, 3) != 0).any(axis=1)
    tied = np.concatenate([equations.slave, equations.master]) // 3
    border = np.unique(np.concatenate([tied, edges[rods].ravel()])) if equation is None else np.flatnonzero(is_open)
    rank = np.full(count, -1, np.int64)
    rank[border] = np.arange(len(border))
    is_left, work = (is_open & (rank < 0)).tolist(), 0.0
    if equation is None:
        (unknown,) = np.nonzero((free == 1) & (rank.repeat(3) >= 0))
        rows = np.concatenate([unknown, 3 * count + rods])
        equation = np.full(3 * count + len(edges), -1, np.int64)
        equation[rows] = np.arange(len(rows))
        work = len(rows) ** 3 / 3.0
    around: list[set[int]] = [set() for _ in is_left]
    for i, j in edges.tolist():
        if i != j and (is_left[i] or is_left[j]) and (is_left[i] or rank[i] >= 0) and (is_left[j] or rank[j] >= 0):
            around[i].add(j)
            around[j].add(i)
    waiting = [(len(around[node]), node, node) for node in range(count) if is_left[node]]
    heapify(waiting)
    sequence, first, near, turn = list[int](), [0], list[int](), count
    target, place = list[tuple[int, int]](), {(node, node): node for node in range(count) if is_left[node]}
    while waiting:
        degree, _, node = heappop(waiting)
        others = sorted(around[node])
        if not is_left[node] or degree != len(others):
            continue
        work += NODE + BLOCK * degree * (degree + 1)
        if work > most:
            return None
        is_left[node] = False
        sequence.append(node)
        for other in others:
            place[node, other], place[other, node] = count + 2 * len(near), count + 2 * len(near) + 1
            near.append(other)
            target += [(other, another) for another in others]
            around[other].update(others)
            around[other] -= {node, other}
            if is_left[other]:  # behind its equals: lines take turns, which a processor overlaps
                turn += 1
                heappush(waiting, (len(around[other]), turn, other))
        first.append(len(near))
    if work > most:
        return None
    ends = [(i, j) for i, j in edges.tolist()]
    back, own = [(j, i) for i, j in ends], [(node, node) for node in range(count)]
    is_tied, begin = (rank >= 0).tolist(), count + 2 * len(near)
    inner = dict.fromkeys(each for each in [*own, *ends, *back, *target] if is_tied[each[0]] and is_tied[each[1]])
    place.update({each: begin + k for k, each in enumerate(inner)})

    def blocks(wanted: list[tuple[int, int]]) -> Ints:
        return np.array([place.get(each, begin + len(inner)) for each in wanted], np.int64)

    sums = {dof: [(k, 1.0)] for dof, k in enumerate(equation[: 3 * count].tolist()) if k >= 0}
    for k, slave in enumerate(equations.slave.tolist()):
        those = range(equations.start[k], equations.start[k + 1])
        sums[slave] = [(sums[m][0][0], equations.factor[t]) for t in those if (m := equations.master[t]) in sums]
    terms = [sums.get(dof, []) for dof in (3 * border[:, None] + np.arange(3)).ravel().tolist()]
    return Plan(
        np.array(sequence, np.int64),
        np.array(first, np.int64),
        np.array(near, np.int64),
        blocks(target),
        blocks(own),
        np.column_stack([blocks(ends), blocks(back)]),
        border,
        rank,
        rank[np.array([*inner], np.int64).reshape(-1, 2)],
        np.cumsum([0, *map(len, terms)]),
        np.array([k for each in terms for k, _ in each], np.int64),
        np.array([factor for each in terms for _, factor in each], float),
        equation[3 * count + rods],
    )
