"""When an increment has converged, and how well a linear solve is worth solving.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE.
"""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel, number_kernel
from fem.forces.bars.bar import GAP, INV_LENGTH, Bars
from fem.lanes.choose import common, where
from fem.solve.newton import groups
from fem.solve.newton.groups import Motion, Scratch
from fem.solve.newton.iterate import largest

TIGHTEST_FORCING, LOOSEST_FORCING = 1e-8, 1e-2
"""Range of the fraction of the residual that an iterative linear solve may leave."""
LEAST_FORCING = 1e-13
"""The same of solves that have no Newton iteration around them."""
FILTER_FORCING = 1e-5
"""The same of filters of error estimates, the least of which are some thousandths of what they are given."""
ROD_STRAIN = 1e-12
"""Largest strain of a rod in a converged increment."""
ROD_FLOOR = 1e-16
"""Strain of rods that cannot be told from none."""
STALLED = 0.9
"""A residual that keeps more than this fraction of its value from one solve to the next no longer falls."""
NOTHING_LEFT = 1e-16
"""Part of the forces D that a residual need not fall below: half of the last digit of the largest of them."""
NOISY = 0.3
"""The same among residuals that are as small as the round-off of bar forces: Newton's method would do much better."""


@inner_kernel
def rod_strain(bars: Bars, work: Scratch) -> float:
    """Largest strain of a rod (or NaN)."""
    largest_one = 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        inverse = bars.constants[INV_LENGTH, e]
        strain = abs(work.tangent.bar_tangent[GAP, e]) * inverse * inverse
        largest_one = where(strain <= largest_one, largest_one, strain)
    return largest_one


@inner_kernel
def is_converged(
    limits: Floats, norm: float, scale: float, iteration: int, bars: Bars, motion: Motion, work: Scratch
) -> tuple[bool, int]:
    """All given criteria hold, or the residual has reached the round-off floor; flags say what was special.

    TO_FLOOR: once they hold, go on until the residual no longer falls or is ``NOTHING_LEFT`` of the forces, or to the
    last iteration allowed. Where a solution has few digits (zero, along an axis) residuals would fall to 1e-320.
    """
    memory = motion.memory
    good, is_vanished = True, False
    if common(limits[groups.RELATIVE]) >= 0.0:
        bound, smallest = limits[groups.RELATIVE] * scale, memory[groups.SMALLEST_SCALE]
        is_vanished = (smallest > 0.0) & (scale <= 1e-6 * smallest)
        good = norm <= where(is_vanished, max(bound, memory[groups.LAST_RESIDUAL]), bound)
        is_vanished = is_vanished & (norm > bound)
    if common(limits[groups.ABSOLUTE]) >= 0.0:
        good = good & (norm <= limits[groups.ABSOLUTE])
    if common(limits[groups.CORRECTION]) >= 0.0:
        good = good & (largest(work.du) <= limits[groups.CORRECTION] * largest_move(motion.u, work.u))
    gap, gap_before = rod_strain(bars, work), memory[groups.PREVIOUS_GAP]
    memory[groups.PREVIOUS_GAP] = gap
    closed = gap <= ROD_STRAIN
    good = good & closed
    stalls = (norm >= STALLED * memory[groups.PREVIOUS]) & (norm <= limits[groups.FLOOR])
    is_floor = (iteration > 1) & (not good) & closed & stalls
    flags = where(is_floor, groups.AT_FLOOR, where(is_vanished, groups.LOADS_VANISHED, 0))
    if common(limits[groups.TO_FLOOR]) != 0.0:
        is_nothing = norm <= NOTHING_LEFT * scale
        falls_on = good & (iteration < limits[groups.ITERATIONS]) & ((not is_nothing) | (gap > ROD_FLOOR))
        fall = where(norm <= limits[groups.FLOOR], NOISY, STALLED)
        has_ended = is_nothing | (norm >= fall * memory[groups.PREVIOUS])
        is_tight = (gap <= ROD_FLOOR) | (gap >= STALLED * gap_before)
        good = good & ((not falls_on) | ((iteration > 1) & has_ended & is_tight))
        flags = where(falls_on, 0, flags)
    return good | is_floor, flags


@number_kernel
def largest_move(u0: Floats, u1: Floats) -> float:
    """Largest component of u1 - u0."""
    value = 0.0
    for dof in range(u0.shape[0]):
        value = max(value, abs(u1[dof] - u0[dof]))
    return value


@inner_kernel
def next_forcing(norm: float, previous: float) -> float:
    """How well the next linear solve is worth solving: a third of what the last Newton step left.

    Where the motion is nearly linear this tightens until one solve per increment does; where it is not, solves beyond
    the reach of the linearisation are spared. After Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996).
    """
    ratio = norm / previous if previous > 0.0 else 0.0
    return min(max(0.3 * ratio, TIGHTEST_FORCING), LOOSEST_FORCING)


@kernel
def forcing_of(phase: int, memory: Floats) -> float:
    """Fraction of the residual that the linear solve of a phase may leave."""
    if phase == groups.FILTER:
        return FILTER_FORCING
    forcing: float = memory[groups.FORCING] if phase in (groups.CORRECT, groups.LOAD_DIRECTION) else LEAST_FORCING
    return forcing
