"""True energies of a state: stored strain energy from the laws, not from the work of forces along the way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces.bar import (
    AREA,
    BASE,
    BASE_CONSTANT,
    BASE_SLOPE,
    COMPLIANCE,
    CONJUGATE,
    COUNT,
    FIRST,
    INV_LENGTH,
    MINUS,
    PLUS,
    REF,
    STRESS0,
    VISCOUS,
    YOUNG,
    Bars,
    sense,
)
from fem.forces.families import values_of_others
from fem.forces.laws import LINEAR, LOG, RIGID, TABLE, bilinear, damped_fractions, fraction, measure, table_point
from fem.forces.springs import Springs
from fem.lanes.choose import common, some, where


@inner_kernel
def trial_stress(e: int, strain: float, thermal: Floats, bars: Bars) -> float:
    """E (e - e_th) + S_0."""
    stress: float = bars.constants[YOUNG, e] * (strain - thermal[e]) + bars.constants[STRESS0, e]
    return stress


@kernel
def bar_point(
    e: int, u: Floats, v: Floats, bars: Bars, thermal: Floats, multiplier: Floats, onset: float = 0.0
) -> tuple[float, float, float, float, float, float]:
    """Strain e, elastic stress, viscous stress, strain slope e'(E), stretch l/L0 and stored energy of one bar.

    onset  as in ``evaluate_bars``, of the increment that ends here
    """
    constants = bars.constants
    i = 3 * bars.nodes[e, 0]
    j = 3 * bars.nodes[e, 1]
    kind = bars.kinds[e, 0]
    inverse = constants[INV_LENGTH, e]
    first = BASE if kind == LINEAR else REF
    along = 0.0 if kind == LINEAR else constants[BASE_CONSTANT, e]
    square = 0.0
    approach = 0.0
    length2 = 0.0
    for c in range(3):
        w = u[j + c] - u[i + c]
        d = constants[first + c, e]
        along += d * w
        square += w * w
        if kind != LINEAR:
            d += w
        length2 += d * d
        approach += d * (v[j + c] - v[i + c])
    green = along * inverse * inverse
    if kind != LINEAR:
        green += 0.5 * square * inverse * inverse
    _, strain, slope, _, _ = measure(kind, green, green, constants[BASE_CONSTANT, e], constants[BASE_SLOPE, e])
    young, plus, minus = constants[YOUNG, e], constants[PLUS, e], constants[MINUS, e]
    active, trial = 1.0, 1.0
    if bars.kinds[e, 1] == RIGID:
        stress, energy, trial = sense(plus) * multiplier[e] / (inverse * constants[AREA, e]), 0.0, 0.0
    elif bars.kinds[e, 1] == TABLE:
        stress, _, energy = table_point(
            strain / inverse, int(common(constants[FIRST, e])), int(common(constants[COUNT, e])), bars.table
        )
    else:
        trial = trial_stress(e, strain, thermal, bars)
        active = fraction(trial, plus, minus)
        stress = active * trial
        energy = 0.5 * active * trial * trial * constants[COMPLIANCE, e]
    eta = constants[VISCOUS, e]
    viscous = eta * slope * approach * inverse * inverse
    elastic, damped = damped_fractions(trial, viscous, eta, young * onset, plus, minus)
    viscous = (elastic - active) * trial + damped * viscous
    return strain, stress, viscous, slope, math.sqrt(length2) * inverse, energy


@called_kernel
def energy_of_bars(u: Floats, v: Floats, bars: Bars, thermal: Floats, multiplier: Floats) -> float:
    """Energy stored in all bars at displacement u (v only serves the shared evaluation)."""
    total = 0.0
    for e in range(bars.nodes.shape[0]):
        total += bar_point(e, u, v, bars, thermal, multiplier)[5]
    return total


@called_kernel
def thermal_work(
    u0: Floats, u1: Floats, v: Floats, bars: Bars, thermal0: Floats, thermal1: Floats, multiplier: Floats
) -> float:
    """Energy that a change of thermal strain puts into bars: - mean stress times volume times its change.

    The stress at half-way is that of the mean thermal strain at both ends of the increment, exact for linear laws.
    """
    total = 0.0
    for e in range(bars.nodes.shape[0]):
        change = thermal1[e] - thermal0[e]
        if some((change != 0.0) & (bars.constants[YOUNG, e] != 0.0)):
            stress0 = bar_point(e, u0, v, bars, thermal0, multiplier)[1]
            stress1 = bar_point(e, u1, v, bars, thermal1, multiplier)[1]
            total -= 0.5 * (stress0 + stress1) * change * bars.constants[AREA, e] / bars.constants[INV_LENGTH, e]
    return total


@called_kernel
def secant_thermal_work(
    u0: Floats, u1: Floats, v: Floats, bars: Bars, thermal0: Floats, thermal1: Floats, multiplier: Floats
) -> float:
    """The same where the increment stretches bars at their mean thermal strain, exact for every law.

    The first half of the change then acts on the bars as they were, the second half as they are.
    """
    constants = bars.constants
    total = 0.0
    for e in range(bars.nodes.shape[0]):
        half = 0.5 * (thermal1[e] - thermal0[e])
        if some((half != 0.0) & (constants[YOUNG, e] != 0.0)):
            young, plus, minus = constants[YOUNG, e], constants[PLUS, e], constants[MINUS, e]
            t0 = trial_stress(e, bar_point(e, u0, v, bars, thermal0, multiplier)[0], thermal0, bars)
            t1 = trial_stress(e, bar_point(e, u1, v, bars, thermal1, multiplier)[0], thermal1, bars)
            stress0 = bilinear(t0, t0 - young * half, young, plus, minus)[0]
            stress1 = bilinear(t1 + young * half, t1, young, plus, minus)[0]
            total -= (stress0 + stress1) * half * constants[AREA, e] / constants[INV_LENGTH, e]
    return total


@kernel
def element_values(
    elements: Ints, u: Floats, v: Floats, bars: Bars, springs: Springs, families: tuple[Any, ...] | None,
    thermal: Floats, multiplier: Floats, state: Floats, values: Floats, onset: float = 0.0,
) -> None:  # fmt: skip
    """Strain E, stress S, conjugate force N and force along the bar T of listed elements; where ropes run over pulleys
    T2, too: T at the other end, which differs for these ropes only.

    elements (q, 2) int   kind (0 bar, 1 spring between dofs, 2 point mass, more: a family) and index in it
    values   (q, 4 or 5)  out; N = A S (GREEN, ENGINEERING; A S L0/l for LOG), T = A S e'(E) l/L0, viscous part included

    state          what families remember
    onset          as in ``Trial``, of the increment that ends here
    Springs between dofs: elongation, then the force three times. Point masses: zeros.
    """
    for k in range(elements.shape[0]):
        number, index = elements[k, 0], elements[k, 1]
        if values.shape[1] > 4:
            values[k, 4] = np.inf  # until a family says what it is
        if number == 0:
            strain, stress, viscous, slope, stretch, _ = bar_point(index, u, v, bars, thermal, multiplier, onset)
            total = stress + viscous
            area = bars.constants[AREA, index]
            values[k, 0] = strain
            values[k, 1] = total
            values[k, 3] = area * total * slope * stretch
            values[k, 2] = area * total
            if bars.kinds[index, 0] == LOG:
                values[k, 2] = values[k, 3]
            elif bars.kinds[index, 0] == LINEAR:
                values[k, 2] *= bars.constants[CONJUGATE, index]
        else:
            for c in range(4):
                values[k, c] = 0.0
            values_of_others(number, index, springs, families, u, v, state, values[k])
        if values.shape[1] > 4:
            values[k, 4] = where(values[k, 4] < np.inf, values[k, 4], values[k, 3])
