"""Rods in explicit steps: RATTLE, the leapfrog rule whose positions and velocities both keep the lengths.

    u1 = u* - M^-1 G(u)^T nu,   g(u1) = 0;        v1 = v* - M^-1 G(u1)^T mu,   G(u1) v1 = 0

u*, v*: central differences without these forces. Any part of M^-1 G^T lambda in u* or v* drops out, so the
accelerations that the march starts from may hold the multipliers: a1 and lambda1 fit M a1 + G^T lambda1 = f and
G a1 = - |v_j - v_i|^2 at the end of the increment, where lambda is of second order and does not ring.

All is solved with S = G M^-1 G^T, a narrow band over the rods (two diagonals along a chain), factored once in every
increment, at u1: for mu, for lambda1 and, in the next increment, for the iteration on nu, which gains the factor by
which S turns in an increment with every pass. The rates that v1 and a1 leave are measured again and, should they be
more than round-off, put through the same factor once more.

Sources: Andersen, J. Comput. Phys. 52 (1983) 24-34; symplectic: Leimkuhler & Skeel, J. Comput. Phys. 112 (1994)
117-125; iteration with a factor kept: Barth, Kuczera, Leimkuhler & Skeel, J. Comput. Chem. 16 (1995) 1192-1209.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.forces.bar import BASE, BASE_CONSTANT, BASE_SLOPE, INV_LENGTH, REF, Bars
from fem.forces.laws import LINEAR, measure
from fem.solve.newton.groups import Scratch
from fem.solve.newton.iterate import largest
from fem.solve.rods.solve import MOST_SOLVES, NOTHING, POOR, ROUND_OFF, WORTHWHILE

CLOSED = 1e-14
"""Largest strain of a rod at which the positions are right."""
FLOOR = 1e-12
"""Largest strain that is accepted where round-off lets it fall no further."""
STALLED = 0.5
MOST_PASSES = 60
DEPENDENT = 1e-14
"""A pivot below this fraction of its diagonal entry: the constraints depend on each other."""


class Ties(NamedTuple):
    """The rods of an explicit step.

    rods      (r,)       their places among the bars
    inverse   (3n,)      of the mass that moves with each dof, 0 at others
    place     (r,)       row of each rod in the band
    meetings  (c, 4)     row and column of S and the two rods that meet at a node, row >= column;
    corners   (c, 2)     that node and the sign of their coupling there
    gradient  (3, r)     of the gaps with respect to the second node;  gap (r,)
    band      (r, w + 1) S, then its Cholesky factor: entry (i, j) at [i, j - i + w];  x (r,) right-hand sides
    """

    rods: Ints
    inverse: Floats
    place: Ints
    meetings: Ints
    corners: Ints
    gradient: Floats
    gap: Floats
    band: Floats
    x: Floats


@inner_kernel
def measure_gaps(ties: Ties, bars: Bars, u: Floats) -> float:
    """Gaps of all rods at u; returns the largest strain (or NaN)."""
    constants = bars.constants
    largest = 0.0
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        kind, inverse = bars.kinds[e, 0], constants[INV_LENGTH, e]
        first, half, green = (BASE, 0.0, 0.0) if kind == LINEAR else (REF, 0.5, constants[BASE_CONSTANT, e])
        for c in range(3):
            w = u[j + c] - u[i + c]
            green += constants[first + c, e] * w + half * w * w
        green *= inverse * inverse
        strain = measure(kind, green, green, constants[BASE_CONSTANT, e], constants[BASE_SLOPE, e])[1]
        ties.gap[r] = strain / (inverse * inverse)
        if not abs(strain) <= largest:
            largest = abs(strain)
    return largest


@called_kernel
def turn(ties: Ties, bars: Bars, u: Floats) -> bool:
    """Gradients at u, and the factor of S with them; False where constraints depend on each other."""
    gradient, band, width = ties.gradient, ties.band, ties.band.shape[1] - 1
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        is_fixed = bars.kinds[e, 0] == LINEAR
        for c in range(3):
            d = bars.constants[(BASE if is_fixed else REF) + c, e]
            gradient[c, r] = d if is_fixed else d + (u[j + c] - u[i + c])
    for row in range(band.shape[0]):
        for column in range(band.shape[1]):
            band[row, column] = 0.0
    for m in range(ties.meetings.shape[0]):
        row, column, r, s = ties.meetings[m, 0], ties.meetings[m, 1], ties.meetings[m, 2], ties.meetings[m, 3]
        node = 3 * ties.corners[m, 0]
        value = 0.0
        for c in range(3):
            value += ties.inverse[node + c] * gradient[c, r] * gradient[c, s]
        band[row, column - row + width] += ties.corners[m, 1] * value
    return factor(width, band)


@inner_kernel
def factor(width: int, band: Floats) -> bool:
    """Cholesky factor in place of a symmetric band, of which the lower half is given; False: not positive definite."""
    for i in range(band.shape[0]):
        size = band[i, width]
        for j in range(max(0, i - width), i + 1):
            value = band[i, j - i + width]
            for k in range(max(0, i - width), j):
                if k >= j - width:
                    value -= band[i, k - i + width] * band[j, k - j + width]
            if j < i:
                band[i, j - i + width] = value / band[j, width]
            elif value > DEPENDENT * size:
                band[i, width] = value**0.5
            else:
                return False
    return True


@called_kernel
def push(ties: Ties, bars: Bars, field: Floats) -> None:
    """S tau = gap; field -= M^-1 G^T tau, tau into ``ties.gap``."""
    band, x, width, count = ties.band, ties.x, ties.band.shape[1] - 1, ties.x.shape[0]
    for r in range(count):
        x[ties.place[r]] = ties.gap[r]
    for i in range(count):
        value = x[i]
        for j in range(max(0, i - width), i):
            value -= band[i, j - i + width] * x[j]
        x[i] = value / band[i, width]
    for i in range(count - 1, -1, -1):
        value = x[i] / band[i, width]
        x[i] = value
        for j in range(max(0, i - width), i):
            x[j] -= band[i, j - i + width] * value
    for r in range(count):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        ties.gap[r] = x[ties.place[r]]
        for c in range(3):
            pull = ties.gap[r] * ties.gradient[c, r]
            field[i + c] += ties.inverse[i + c] * pull
            field[j + c] -= ties.inverse[j + c] * pull


@called_kernel
def keep_lengths(dt: float, ties: Ties, bars: Bars, work: Scratch) -> bool:
    """Move ``work.u`` until every rod has its length, ``work.v`` with it; False where that fails.

    Leaves gradients and factor of the new positions.
    """
    u, v, start, before = work.u, work.v, work.du, 0.0
    for dof in range(u.shape[0]):
        start[dof] = u[dof]
    for count in range(MOST_PASSES):
        strain = measure_gaps(ties, bars, u)
        if strain <= CLOSED or (count > 1 and strain <= FLOOR and strain >= STALLED * before):
            for dof in range(u.shape[0]):
                v[dof] += (u[dof] - start[dof]) / dt
            return turn(ties, bars, u)
        if not strain < 1.0:
            return False
        before = strain
        push(ties, bars, u)
    return False


@inner_kernel
def measure_rates(longest: float, curved: float, ties: Ties, bars: Bars, v: Floats, x: Floats) -> float:
    """G x + curved |v_j - v_i|^2 into the gaps; returns the largest fraction of what one consists of (or NaN).

    longest  of x before it was corrected: what is at rest has no size of its own
    curved   0 where x are velocities, 1 where they are accelerations
    """
    fraction = 0.0
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        turns = 0.0 if bars.kinds[e, 0] == LINEAR else curved
        rate, size = 0.0, 0.0
        for c in range(3):
            square = turns * (v[j + c] - v[i + c]) ** 2
            rate += ties.gradient[c, r] * (x[j + c] - x[i + c]) + square
            size += abs(ties.gradient[c, r]) * (abs(x[j + c]) + abs(x[i + c]) + NOTHING * longest) + square
        ties.gap[r] = rate
        if not abs(rate) <= fraction * size:
            fraction = abs(rate) / size
    return fraction


@called_kernel
def correct_rates(curved: float, ties: Ties, bars: Bars, x: Floats, work: Scratch) -> bool:
    """Velocities or accelerations x that keep the lengths, measured again after each correction; False: they do not.

    What corrects accelerations goes into the multipliers and the internal force.
    """
    longest, before = largest(x), np.inf
    fraction = measure_rates(longest, curved, ties, bars, work.v, x)
    for _ in range(MOST_SOLVES):
        if fraction <= ROUND_OFF or not fraction < WORTHWHILE * before:
            break
        push(ties, bars, x)
        if curved > 0.0:
            pull(ties, bars, work.multiplier, work.force)
        before = fraction
        fraction = measure_rates(longest, curved, ties, bars, work.v, x)
    return fraction <= POOR


@inner_kernel
def keep_rates(inverse: Floats, damping: Floats, ties: Ties, bars: Bars, work: Scratch) -> bool:
    """Velocities, accelerations and multipliers that keep the lengths, into ``work``; the force follows.

    inverse, damping (3n,)  of the mass and the mass-proportional damping that move with each free dof (empty: none)
    """
    for dof in range(damping.shape[0]):
        work.du[dof] = work.v[dof]
    if not correct_rates(0.0, ties, bars, work.v, work):
        return False
    for dof in range(damping.shape[0]):
        work.a[dof] -= inverse[dof] * damping[dof] * (work.v[dof] - work.du[dof])
    return correct_rates(1.0, ties, bars, work.a, work)


@inner_kernel
def pull(ties: Ties, bars: Bars, multiplier: Floats, force: Floats) -> None:
    """What ``push`` found, added to the multipliers and the internal force."""
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        multiplier[e] += ties.gap[r]
        for c in range(3):
            own = ties.gap[r] * ties.gradient[c, r]
            force[i + c] -= own
            force[j + c] += own
