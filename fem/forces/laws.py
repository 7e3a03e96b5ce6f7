"""Laws of bars and springs: strain measures, then stress over strain."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fem.arrays import Floats, Vector
from fem.compiled import inner_kernel, kernel
from fem.compiled.lanes import common, every, where

# Strain measures of a bar as functions of its Green strain E = (l^2 - L0^2) / (2 L0^2).
#
# Every measure e(E) comes as a *secant* between two states, e0 = e(E0), e1 = e(E1), slope = (e1 - e0)/(E1 - E0) and
# d slope/dE1, written so that E1 = E0 needs no special case: then slope = e'(E) and d slope/dE1 = e''(E)/2.
#
# =============  ==================  =====================  =========================================
# measure        e(E)                slope                  d slope / dE1          (s = l/L0 = sqrt(1 + 2 E))
# =============  ==================  =====================  =========================================
# GREEN          E                   1                      0
# ENGINEERING    s - 1               2/(s0 + s1)            -2/((s0 + s1)^2 s1)
# LOG            ln s                phi(y)/(1 + 2 E0)      2 phi'(y)/(1 + 2 E0)^2
# =============  ==================  =====================  =========================================
#
# with y = 2 (E1 - E0)/(1 + 2 E0), phi(y) = ln(1 + y)/y. LINEAR serves geometrically linear steps: E is
# d_b.w/L0^2 with the base vector d_b, and e = base_constant + base_slope E.
# Source: Crisfield, Non-linear Finite Element Analysis of Solids and Structures, vol. 1, ch. 3; the secant form is
# Gonzalez' discrete gradient (J. Nonlinear Sci. 6, 1996) composed by the chain rule.

GREEN, ENGINEERING, LOG, LINEAR = 0, 1, 2, 3
MEASURES = {"GREEN": GREEN, "ENGINEERING": ENGINEERING, "LOG": LOG}


@inner_kernel
def log_ratio(y: float) -> tuple[float, float]:
    """phi = ln(1 + y)/y and its derivative, by series where the quotient would lose digits."""
    phi = 1.0 - y * (1.0 / 2 - y * (1.0 / 3 - y * (1.0 / 4 - y * (1.0 / 5 - y / 6))))
    slope = -1.0 / 2 + y * (2.0 / 3 - y * (3.0 / 4 - y * (4.0 / 5 - y * 5.0 / 6)))
    is_small = abs(y) < 1e-3
    if every(is_small):
        return phi, slope
    quotient = math.log1p(y) / y
    return where(is_small, phi, quotient), where(is_small, slope, (1.0 / (1.0 + y) - quotient) / y)


@kernel
def measure(
    kind: int, green0: float, green1: float, base_constant: float, base_slope: float
) -> tuple[float, float, float, float, float]:
    """Strain at both states, e'(E1), secant slope de/dE and its derivative with respect to E1.
    A bar crushed through its own length (1 + 2 E <= 0 can only come from round-off) gives NaN, which the Newton
    loop reports as not finite."""
    if kind == ENGINEERING:
        s0 = math.sqrt(1.0 + 2.0 * green0)
        s1 = math.sqrt(1.0 + 2.0 * green1)
        slope1 = 1.0 / s1
        slope = 2.0 / (s0 + s1)
        return 2.0 * green0 / (1.0 + s0), 2.0 * green1 / (1.0 + s1), slope1, slope, -0.5 * slope * slope * slope1
    if kind == LOG:
        stretch0 = 1.0 + 2.0 * green0
        phi, phi_slope = log_ratio(2.0 * (green1 - green0) / stretch0)
        return (
            0.5 * math.log1p(2.0 * green0),
            0.5 * math.log1p(2.0 * green1),
            1.0 / (1.0 + 2.0 * green1),
            phi / stretch0,
            2.0 * phi_slope / (stretch0 * stretch0),
        )
    if kind == LINEAR:
        return base_constant + base_slope * green0, base_constant + base_slope * green1, base_slope, base_slope, 0.0
    return green0, green1, 1.0, 1.0, 0.0


@inner_kernel
def measure_stretch(kind: int, h0: float, h1: float) -> tuple[float, float, float, float, float]:
    """What ``measure`` has, as functions of s = 1 + h in place of E: keeps the digits of h."""
    if kind == GREEN:
        return h0 + 0.5 * h0 * h0, h1 + 0.5 * h1 * h1, 1.0 + h1, 1.0 + 0.5 * (h0 + h1), 0.5
    if kind == LOG:
        stretch0 = 1.0 + h0
        phi, phi_slope = log_ratio((h1 - h0) / stretch0)
        e0, e1, curvature = math.log1p(h0), math.log1p(h1), phi_slope / (stretch0 * stretch0)
        return e0, e1, 1.0 / (1.0 + h1), phi / stretch0, curvature
    return h0, h1, 1.0, 1.0, 0.0


@inner_kernel
def write_values(
    kind: int, strain: float, stress: float, area: float, slope: float, conjugate: float, row: Floats
) -> None:  # fmt: skip
    """E, S, N, T of a bar; slope: de/ds, s = l/L0; conjugate: N/(A S), but for LOG, whose N is T."""
    row[0], row[1], row[3] = strain, stress, area * stress * slope
    row[2] = row[3] if kind == LOG else area * stress * conjugate


# Material laws of bars and springs: stress, its slope and the stored energy, as secants between two states.
#
# Like the strain measures, a law hands over sbar = (W1 - W0)/(e1 - e0) and d sbar/de1; for e1 = e0 these are the stress
# S(e) and *half* its slope S'(e).
#
# BILINEAR   trial stress t = E (e - e_th) + S_0, S = r t with r = r_plus for t >= 0 and r_minus for t < 0,
#            W = r t^2/(2 E). r_minus = 0 is a cable, r_plus = 0 a strut, in between a soft string.
#            Secant: same sign r (t0 + t1)/2; opposite signs (r1 t1^2 - r0 t0^2)/(2 (t1 - t0)), free of cancellation
#            because then |t1 - t0| = |t0| + |t1|.
# TABLE      force over elongation x = e * length, linear between rows (one of them at 0) and constant outside;
#            W = integral of the force from 0.
# RIGID      a rod: its force is the multiplier of the constraint that keeps its length, W = 0.
#
# A viscous stress w = eta de/dt (material BETA) adds to t. A bar with r_plus != r_minus is one that acts both ways,
# with the smaller of the two, beside a cable (or strut) with the rest. Such a cable is damped while it is taut only, in
# full while it stretches, and never below zero: it does not push. Hence S = min(r(t), r(t + w)) (t + w).

BILINEAR, TABLE, RIGID = 0, 1, 2
LEG, BEYOND = 4, 5
"""Behind the measures: the branches of a rope of constant length, before its pulley and beyond it."""


def law_of(material: Any) -> tuple[int, float, float]:
    """The law of bars of a material, and the two numbers that it reads beside the modulus."""
    return RIGID if material.is_inextensible else BILINEAR, 0.0, 0.0


@inner_kernel
def fraction(trial: float, plus: float, minus: float) -> float:
    """Fraction of the modulus in force: that of tension for a trial stress >= 0, else that of compression."""
    return where(trial >= 0.0, plus, minus)


@inner_kernel
def bilinear(t0: float, t1: float, young: float, plus: float, minus: float) -> tuple[float, float]:
    """Secant stress between two trial stresses and its derivative with respect to e1."""
    r0 = fraction(t0, plus, minus)
    r1 = fraction(t1, plus, minus)
    span = t1 - t0
    secant = 0.5 * (r1 * t1 * t1 - r0 * t0 * t0) / span
    slope = young * (r1 * t1 - secant) / span
    is_one_line = r0 == r1
    return where(is_one_line, 0.5 * r1 * (t0 + t1), secant), where(is_one_line, 0.5 * r1 * young, slope)


@inner_kernel
def damped_secant(
    stress: float, modulus: float, ends: Vector, eta: float, rise: float, young: float, plus: float, minus: float
) -> tuple[float, float]:  # fmt: skip
    """Secant stress and modulus with those of a viscous stress in proportion to the rise e1 - e0 of strain, less what
    falls to the fraction of the modulus that is not in force (a slack cable): (r1 t1 - r0 t0)/E without dividing by E,
    continuous where the trial stress changes its sign, and of the sign of the rise, so that it always dissipates.
    A cable whose damping would make it push, or a strut that would pull, lets go but for the fraction of its modulus
    that acts both ways.
    ends  trial stresses at both ends, and the fraction of the modulus in force at the second"""
    (t0, t1, r1), least = ends, min(plus, minus)
    r0 = fraction(t0, plus, minus)
    total = stress + eta * where(r0 == r1, r1 * rise, rise * (r1 * t1 - r0 * t0) / (t1 - t0))
    soft = least * (0.5 * (t0 + t1) + eta * rise)
    is_released = (total - soft) * (plus - minus) < 0.0
    return where(is_released, soft, total), where(is_released, least * (0.5 * young + eta), modulus + eta * r1)


@inner_kernel
def damped_fractions(
    trial: float, viscous: float, eta: float, reach: float, plus: float, minus: float
) -> tuple[float, float]:
    """Fractions r_t and r_w of the stress r_t t + r_w w of a damped bar.

    trial, viscous  t and w = eta de/dt
    reach           modulus times the time in which the scheme builds up a strain; 0: at an instant

    The force of a cable that becomes taut while it stretches jumps to w, and an increment that ends in the jump would
    have no solution. Such a cable (it would still stretch if t were 0 at the end of the increment) is damped by no
    more than eta t/reach, the rate at which the scheme has built up its strain.
    """
    active, least, side = fraction(trial, plus, minus), min(plus, minus), plus - minus
    is_stiff = active != least
    is_released = is_stiff & ((trial + viscous) * side < 0.0)
    is_new = is_stiff & ((viscous * reach - eta * trial) * side > 0.0)
    steep = where(is_new, eta / where(is_new, reach, 1.0), 0.0)
    elastic = where(is_released, least, active + steep * (active - least))
    return elastic, where(is_released | is_new, least, active)


@inner_kernel
def table_segment(x: float, first: int, count: int, table: Floats) -> int:
    """Index of the last row with elongation <= x, first - 1 before the table."""
    low, high = first - 1, first + count
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, 0] <= x:
            low = middle
        else:
            high = middle
    return low


@inner_kernel
def table_point(x: float, first: int, count: int, table: Floats | None) -> tuple[float, float, float]:
    """Force, slope and energy of a tabulated law at elongation x.
    table (rows, 3): elongation, force, energy (integral of the force from elongation 0); None: no element has one."""
    if table is None:
        return x, x, x
    row = table_segment(x, first, count, table)
    if row < first:
        force = table[first, 1]
        return force, 0.0, table[first, 2] + force * (x - table[first, 0])
    if row == first + count - 1:
        force = table[row, 1]
        return force, 0.0, table[row, 2] + force * (x - table[row, 0])
    slope = (table[row + 1, 1] - table[row, 1]) / (table[row + 1, 0] - table[row, 0])
    # From the end nearer to elongation 0, where the energy is small and exact.
    near = row + 1 if x < 0.0 else row
    step = x - table[near, 0]
    force = table[near, 1] + slope * step
    return force, slope, table[near, 2] + step * (table[near, 1] + 0.5 * slope * step)


@inner_kernel
def table_secant(x0: float, x1: float, first: int, count: int, table: Floats | None) -> tuple[float, float]:
    """Secant force (W1 - W0)/(x1 - x0) of a tabulated law and its derivative with respect to x1.
    Within one segment the mean of the end forces is exact; across segments the energies differ by more than
    round-off unless x1 - x0 is tiny, where the mean is exact to second order."""
    if table is None:
        return x0, x1
    f0, _, w0 = table_point(x0, first, count, table)
    f1, slope1, w1 = table_point(x1, first, count, table)
    span = x1 - x0
    same = table_segment(x0, first, count, table) == table_segment(x1, first, count, table)
    if same or abs(span) <= 1e-9 * (abs(x0) + abs(x1)):
        return 0.5 * (f0 + f1), 0.5 * slope1
    secant = (w1 - w0) / span
    return secant, (f1 - secant) / span


class Elasticity(NamedTuple):
    """Numbers of the law of a bar.

    stress0     trial stress at strain 0: S_0 less the modulus times the thermal strain
    compliance  volume over modulus (0 where there is no modulus);  length: elongation over strain
    one, two    of the law: of TABLE its first row in ``Bars.table`` and the count of its rows (the area is 1)
    """

    young: float
    stress0: float
    plus: float
    minus: float
    compliance: float
    length: float
    volume: float
    one: float
    two: float


@inner_kernel
def elastic_stress(
    law: int, secant: bool, e0: float, e1: float, own: Elasticity, table: Floats | None
) -> tuple[float, float, float, Vector]:
    """Secant stress, its derivative by e1 and the energy stored at e1; for e1 = e0 the stress and half its slope.
    Then trial stresses at both (1 where a law has none) and the fraction of the modulus in force at e1.
    secant  False (a literal): e0 is e1"""
    young, stress0, plus, minus, compliance, length, _, one, two = own
    if law == RIGID:
        return 0.0, 0.0, 0.0, (0.0, 0.0, 1.0)
    if law == BILINEAR:
        t0, t1 = young * e0 + stress0, young * e1 + stress0
        active = fraction(t1, plus, minus)
        energy = 0.5 * active * t1 * t1 * compliance
        stress, modulus = bilinear(t0, t1, young, plus, minus) if secant else (active * t1, 0.5 * active * young)
        return stress, modulus, energy, (t0, t1, active)
    first, count = int(common(one)), int(common(two))
    stress, slope = table_secant(e0 * length, e1 * length, first, count, table)
    return stress, slope * length, table_point(e1 * length, first, count, table)[2], (1.0, 1.0, 1.0)
