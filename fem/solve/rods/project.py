"""Velocities and accelerations of rods: the hidden constraints G v = 0 and G a = - |v_j - v_i|^2.

Newmark's formulas with constraints on positions alone let multipliers alternate in sign, undamped (an index-3 system).
At the end of an increment v and a are therefore moved to the nearest ones, measured by the mass, that fit:

    M dv + G^T mu = 0, G (v + dv) = 0;      M da + G^T nu = 0, G (a + da) = - |v_j - v_i|^2

and nu goes into the multipliers. Order and positions stay as they are; without rods nothing changes. The same linear
solvers do it: mass in place of the effective tangent, bars without stiffness, the rates as the gaps of the rods.
Source: Hairer & Wanner, Solving Ordinary Differential Equations II, ch. VII.2 (projection methods).
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.mechanics.bar import ALPHA, GAP, GEOMETRIC, Bars, P, Q
from fem.mechanics.links import Links, expand
from fem.mechanics.strain import LINEAR
from fem.solve.newton.groups import WF, Nodes, Scratch
from fem.solve.newton.iterate import inertia_forces


@inner_kernel
def mass_blocks(nodes: Nodes, work: Scratch) -> None:
    """Mass in the blocks within one node."""
    for i in range(work.block.shape[0]):
        for k in range(9):
            work.block[i, k] = nodes.held[i, k] if nodes.held.shape[0] > 0 else 0.0
        for c in range(3):
            work.block[i, 4 * c] += nodes.mass[3 * i]


@called_kernel
def mass_system(bars: Bars, work: Scratch) -> None:
    """Mass as the matrix of the next linear solve (its nodal blocks apart); no load."""
    for e in range(bars.off_mass.shape[0]):
        work.off[e] = bars.off_mass[e]
    for s in range(work.spring_stiffness.shape[0]):
        work.spring_stiffness[s] = 0.0
    for e in range(bars.nodes.shape[0]):
        work.store[GEOMETRIC, e] = 0.0
        if work.store[ALPHA, e] != np.inf:  # the stiffness of bars is left out here
            work.store[ALPHA, e] = 0.0
    for dof in range(work.residual.shape[0]):
        work.residual[dof] = 0.0


@inner_kernel
def along(e: int, bars: Bars, x: Floats, work: Scratch) -> float:
    """q.(x_j - x_i): the row of G of rod e times x."""
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    product = 0.0
    for c in range(3):
        product += work.store[Q + c, e] * (x[j + c] - x[i + c])
    return product


@called_kernel
def velocity_gaps(bars: Bars, work: Scratch) -> None:
    """G v into the gaps of the rods."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        work.store[GAP, e] = along(e, bars, work.v, work)


@called_kernel
def acceleration_gaps(bars: Bars, work: Scratch) -> None:
    """G a + |v_j - v_i|^2 into the gaps of the rods."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        rate = along(e, bars, work.a, work)
        if bars.kinds[e, 0] != LINEAR:
            for c in range(3):
                relative = work.v[j + c] - work.v[i + c]
                rate += relative * relative
        work.store[GAP, e] = rate


@called_kernel
def move_velocities(links: Links, work: Scratch) -> None:
    """v += du."""
    expand(links, work.du)
    for dof in range(work.v.shape[0]):
        work.v[dof] += work.du[dof]


@called_kernel
def move_accelerations(scheme: Floats, nodes: Nodes, bars: Bars, links: Links, work: Scratch) -> None:
    """a += du, multipliers and the internal force follow."""
    expand(links, work.du)
    for dof in range(work.a.shape[0]):
        work.a[dof] += work.du[dof]
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        pull = work.tau[e] / scheme[WF]
        work.multiplier[e] += pull
        for c in range(3):
            work.force[i + c] -= pull * work.store[P + c, e]
            work.force[j + c] += pull * work.store[P + c, e]
    inertia_forces(nodes, bars, work.v, work.a, work.inertia, work.drag)
