"""Bars together: runs of one kind, their tangent blocks as matrices, the gradients of rods."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.forces.bars.bar import ALPHA, GEOMETRIC, VISCOUS, Bars, P, Q


def blocks_of(kinds: Ints, constants: Floats) -> Ints:
    """Runs of bars of one kind, (b, 5), as ``Bars.blocks`` holds them."""
    if len(kinds) == 0:
        return np.zeros((0, 5), np.int64)
    (ends,) = (kinds[1:] != kinds[:-1]).any(axis=1).nonzero()
    first, last = np.concatenate([[0], ends + 1]), np.concatenate([ends + 1, [len(kinds)]])
    viscous = np.maximum.reduceat(constants[VISCOUS] != 0.0, first)
    return np.ascontiguousarray(np.array([*kinds[first].T, first, last, viscous], np.int64).T)


def bar_blocks(bar_tangent: Floats, rigid: float = 0.0) -> Floats:
    """(m, 3, 3) tangent blocks alpha p q^T + t I from the numbers of the bars; ``rigid``: alpha of rods."""
    alpha = np.where(np.isinf(bar_tangent[ALPHA]), rigid, bar_tangent[ALPHA])
    blocks: Floats = np.einsum("e,ae,ce->eac", alpha, bar_tangent[P : P + 3], bar_tangent[Q : Q + 3])
    return blocks + bar_tangent[GEOMETRIC, :, None, None] * np.eye(3)


def rod_gradients(bars: Bars, bar_tangent: Floats, row: int = Q) -> tuple[Ints, Ints, Floats]:
    """Rows, dofs and values of G (rods, 3n): p or q (``row``) of a rod at its second node, minus that at its first."""
    values: Floats = bar_tangent[row : row + 3, bars.rods].T.ravel()
    dofs = np.concatenate([(3 * bars.nodes[bars.rods, end, None] + np.arange(3)).ravel() for end in (1, 0)])
    rows = np.tile(np.repeat(np.arange(len(bars.rods)), 3), 2)
    return rows, dofs, np.concatenate([values, -values])
