"""When an increment has converged, and how well a linear solve is worth solving.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE.
"""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import inner_kernel, number_kernel
from fem.mechanics.bar import GAP, INV_LENGTH, Bars
from fem.solve.newton.groups import (
    ABSOLUTE,
    AT_FLOOR,
    CORRECTION,
    FLOOR,
    ITERATIONS,
    LAST_RESIDUAL,
    LOADS_VANISHED,
    PREVIOUS,
    PREVIOUS_GAP,
    RELATIVE,
    SMALLEST_SCALE,
    TO_FLOOR,
    Motion,
    Scratch,
)  # fmt: skip
from fem.solve.newton.iterate import largest

TIGHTEST_FORCING, LOOSEST_FORCING = 1e-8, 1e-2
"""Range of the share of the residual that an iterative linear solve may leave."""
ROD_STRAIN = 1e-12
"""Largest strain of a rod in a converged increment."""
ROD_FLOOR = 1e-16
"""Strain of rods that cannot be told from none."""
STALLED = 0.9
"""A residual that keeps more than this share of its value from one solve to the next no longer falls."""
NOISY = 0.3
"""The same among residuals that are as small as the round-off of bar forces: Newton's method would do much better."""


@inner_kernel
def rod_strain(bars: Bars, work: Scratch) -> float:
    """Largest strain of a rod (or NaN)."""
    largest_one = 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        inverse = bars.constants[INV_LENGTH, e]
        strain = abs(work.store[GAP, e]) * inverse * inverse
        if not strain <= largest_one:
            largest_one = strain
    return largest_one


@inner_kernel
def is_converged(
    limits: Floats, norm: float, scale: float, iteration: int, bars: Bars, motion: Motion, work: Scratch
) -> tuple[bool, int]:
    """All given criteria hold, or the residual has reached the round-off floor; flags say what was special.

    TO_FLOOR: once they hold, go on until the residual no longer falls, or to the last iteration allowed.
    """
    memory = motion.memory
    flags = 0
    good = True
    if limits[RELATIVE] >= 0.0:
        bound = limits[RELATIVE] * scale
        if memory[SMALLEST_SCALE] > 0.0 and scale <= 1e-6 * memory[SMALLEST_SCALE]:
            bound = max(bound, memory[LAST_RESIDUAL])
            flags = LOADS_VANISHED
        good = norm <= bound
    if limits[ABSOLUTE] >= 0.0:
        good = good and norm <= limits[ABSOLUTE]
    if limits[CORRECTION] >= 0.0:
        good = good and largest(work.du) <= limits[CORRECTION] * largest_move(motion.u, work.u)
    gap, gap_before = rod_strain(bars, work), memory[PREVIOUS_GAP]
    memory[PREVIOUS_GAP] = gap
    closed = gap <= ROD_STRAIN
    good = good and closed
    if limits[TO_FLOOR] != 0.0 and good and norm + gap > 0.0 and iteration < limits[ITERATIONS]:
        fall = NOISY if norm <= limits[FLOOR] else STALLED
        is_tight = gap <= ROD_FLOOR or gap >= STALLED * gap_before
        return iteration > 1 and norm >= fall * memory[PREVIOUS] and is_tight, 0
    stalled = iteration > 1 and norm >= STALLED * memory[PREVIOUS] and norm <= limits[FLOOR]
    if not good and stalled and closed:
        return True, AT_FLOOR
    if flags == LOADS_VANISHED and norm <= limits[RELATIVE] * scale:
        flags = 0
    return good, flags


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
