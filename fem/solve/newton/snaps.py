"""Snaps: bars that were slack pull at once, because their ends move apart when they become taut.

A bar of stiffness k between masses m_i and m_j whose ends move apart at the speed w when it becomes taut pulls with

    Z w,    Z = sqrt(k mu),    1/mu = 1/m_i + 1/m_j    (supports are infinite masses)

a moment later: half its kinetic energy mu w^2/2 of stretching against k. In a chain of such bars that is, but for a
factor sqrt(2), Joukowsky's A sqrt(E rho) w, with which the front of the snap runs along the line; it doubles where the
line is held. w is the mean speed in the increment, so that bars which ring about zero tension in much less time than
the increment do not count. The snap counts where Z w, or the tension that the increment already finds, is a given
share of the largest internal force so far.

Sources: Joukowsky 1898 (water hammer; the same equations); snap loads of moorings: Hsu, Thiagarajan & Manuel, Ocean
Engineering 146 (2017) 8-25.
"""

from __future__ import annotations

from fem.compiled import called_kernel
from fem.forces.bars.bar import AREA, INV_LENGTH, MINUS, PLUS, YOUNG, Bars
from fem.forces.bars.laws import RIGID, TABLE
from fem.forces.values import bar_point
from fem.solve.newton.groups import PULL, Loading, Motion, Nodes, Scratch

CLEARLY = 0.5
"""A slack bar cannot reach a tension if its modulus times its stretching is below this part of it: its modulus is that
at zero strain, and it may cool at the same time."""


@called_kernel
def snaps(share: float, k: int, nodes: Nodes, bars: Bars, loading: Loading, motion: Motion, work: Scratch) -> bool:
    """Whether a bar snaps taut in increment k, with at least this share of the largest internal force so far."""
    largest = motion.memory[PULL]
    for dof in range(motion.force.shape[0]):
        largest = max(largest, abs(motion.force[dof]))
    motion.memory[PULL] = largest
    least, dt, last = share * largest, loading.dt[k], loading.thermal_end.shape[0] - 1
    before, now = loading.thermal_end[min(k, last)], loading.thermal_end[min(k + 1, last)]
    constants, place, u0, u1 = bars.constants, nodes.place, motion.u, work.u
    for e in range(bars.nodes.shape[0]):
        kind = bars.kinds[e, 1]
        if kind in (RIGID, TABLE) or constants[MINUS, e] >= constants[PLUS, e]:
            continue
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        rise = 0.0
        for c in range(3):
            d = place[j + c] - place[i + c]
            d0, d1 = d + u0[j + c] - u0[i + c], d + u1[j + c] - u1[i + c]
            rise += d1 * d1 - d0 * d0
        if rise <= 0.0:
            continue
        rise *= 0.5 * constants[INV_LENGTH, e]
        stiffness = constants[YOUNG, e] * constants[AREA, e] * constants[INV_LENGTH, e]
        inverse = 0.0
        for node in (i, j):
            if nodes.mask[node] + nodes.mask[node + 1] + nodes.mask[node + 2] > 0.0 and nodes.mass[node] > 0.0:
                inverse += 1.0 / nodes.mass[node]
        is_fast = rise * rise * stiffness > least * least * dt * dt * inverse
        if not is_fast and stiffness * rise < CLEARLY * least:  # most bars: what they pull with is not looked at
            continue
        if bar_point(e, u0, motion.v, bars, before, motion.multiplier)[1] > 0.0:
            continue
        tension = bar_point(e, u1, work.v, bars, now, motion.multiplier)[1] * constants[AREA, e]
        if tension > least or (is_fast and tension > 0.0):
            return True
    return False
