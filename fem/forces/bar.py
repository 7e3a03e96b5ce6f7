"""Two-node bars: every bar returns the same nine numbers, whatever its strain measure, its law and the scheme.

Force on node j (minus that on node i) and tangent block (+ on jj and ii, - on ij and ji):

    force = (N/L0) p,     block = alpha p q^T + t I.

Point evaluation (end of the increment): p = q = d1, t = N/L0.
Secant evaluation (energy-conserving schemes): p = (d0 + d1)/2, q = d1, t = N/(2 L0); N = A sbar ebar.
Geometrically linear: p = q = d_b, the base vector, t = 0.
A rod keeps its length: N/L0 is the multiplier of the constraint g = E L0^2 = 0, q its gradient, alpha infinite and g a
tenth number; a taut rope is a rod, a slack one a bar without modulus; the length of a stop counts negative: in contact
it is a rod with - g and - q, whose multiplier pushes. A plane that a node does not enter is a linear stop, between the
plane's node and that one, with d_b = L0 n; L0 is the size of the model. A linear solver finds the change of the
multiplier, tau = alpha (q.(du_j - du_i) + g) with alpha = inf.
A rope of constant length over a pulley is two bars, LEG and BEYOND, that stand together: g = L0 (l1 + l2 - L0) is the
sum of what they have, q = L0 n, and one multiplier is that of both. With n, m and h of each (``directions``), T = N:

    force = T m,     block = h T (I - m n^T)

Strains use the displacement difference w = u_j - u_i, E = (g + D.w + w.w/2)/L0^2, which keeps all digits; the gap
g = (|D|^2 - L0^2)/2 of the reference position is 0 unless the bar has a rest length of its own.
A viscous stress eta de/dt (material BETA, dashpots) adds to S; its tangent makes q a mixture of d1 and v_j - v_i. In
cables and struts it never turns the stress round (``laws.damped_fractions``). The secant one is eta (e1 - e0)/dt.
Source: Crisfield, Non-linear Finite Element Analysis, vol. 1, ch. 3; Gonzalez, J. Nonlinear Sci. 6 (1996).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.compiled.lanes import common, some, where
from fem.forces.laws import (
    BEYOND,
    BILINEAR,
    ENGINEERING,
    GREEN,
    LEG,
    LINEAR,
    LOG,
    RIGID,
    Elasticity,
    bilinear,
    damped_fractions,
    damped_secant,
    elastic_stress,
    measure,
)
from fem.forces.protocol import Trial, apart, blend, component, dot, scaled
from fem.forces.running import LEAST_LEG, Leg, directions, leg_between

# Mass of a bar, per direction: three rules, m = rho A L0.
#
# LUMPED      m/2 diag(1, 1)     the default
# CONSISTENT  m/6 [2 1; 1 2]     exact slender rod
# ONE POINT   m/4 [1 1; 1 1]     mass at the centre of gravity (Code_Aster's MECABL2)
#
# Each is a fraction on the diagonal and a fraction off it; it never depends on the order in which a bar names its
# nodes. What depends on direction is added by families (``Family.mass``).

MASS_FRACTIONS = {"LUMPED": (1 / 2, 0.0), "CONSISTENT": (1 / 3, 1 / 6), "ONE POINT": (1 / 4, 1 / 4)}
"""rule -> (diagonal, off-diagonal) fraction of the bar's mass."""


@kernel
def multiply_mass(diagonal: Floats, off: Floats, nodes: Ints, x: Floats, product: Floats) -> None:
    """product = M x for the diagonal (3n,) and the coupling part (m,) (empty: none) of a mass or damping matrix."""
    for dof in range(diagonal.shape[0]):
        product[dof] = diagonal[dof] * x[dof]
    for e in range(off.shape[0]):
        coupling = off[e]
        if some(coupling != 0.0):
            i = 3 * nodes[e, 0]
            j = 3 * nodes[e, 1]
            for c in range(3):
                product[i + c] += coupling * x[j + c]
                product[j + c] += coupling * x[i + c]


# Rows of Bars.constants
REF, INV_LENGTH, AREA, YOUNG, PLUS, MINUS, STRESS0, VISCOUS, STARTING, OF_LAW = 0, 3, 4, 5, 6, 7, 8, 9, 10, 11
BASE, BASE_CONSTANT, BASE_SLOPE, COMPLIANCE, CONJUGATE, RESTITUTION, FRICTION = 13, 16, 17, 18, 19, 20, 21
CONSTANTS = 22

IDLE = 1e-6
"""Fraction of the starting tension below which it is that which makes the tangent regular."""

# Rows of ``Tangent.bar_tangent``: the nine numbers of a bar, and the constraint of a rod
GEOMETRIC, ALPHA, P, Q, PULL, GAP = 0, 1, 2, 5, 8, 9
LOST = GAP  # of a viscous bar, which is no rod: the part of its pull that does not come from stored energy
STORED = 10
STRIP = 256
"""Bars evaluated in one go: their numbers stay in the fastest cache."""
FEW = 8
"""Fewer bars of a kind than this are evaluated one by one: vectors of them would stay empty."""


class Bars(NamedTuple):
    """All axial elements (T3D2, T2D2, SPRINGA, DASHPOTA).

    nodes        (m, 2)          node indices i, j
    kinds        (m, 2)          strain measure, law; bars of one kind stand together
    blocks       (b, 5)          runs of one kind: measure, law, first and past-last bar, 1 where any is viscous
    constants    (CONSTANTS, m)  row by row: D (3), 1/L0, area, modulus, r_plus, r_minus, S_0, viscosity
                                 eta, starting tension,
                                 numbers of the law (2), base vector (3), base constant (of bars that are
                                 not LINEAR: the gap (|D|^2 - L0^2)/2 of the reference position), base slope,
                                 volume over modulus (0 where there is no modulus), N/(A S) at the base,
                                 restitution, coefficient of friction
    table        (rows, 3)       elongation, force, energy of tabulated laws; None: there are none
    off_mass     (m,)            coupling mass between the two nodes, per direction
    off_damping  (m,)            coupling mass-proportional damping
    rods         (r,)            those that keep their length (of a rope over a pulley both branches: ``rows_of``)
    """

    nodes: Ints
    kinds: Ints
    blocks: Ints
    constants: Floats
    table: Floats | None
    off_mass: Floats
    off_damping: Floats
    rods: Ints


class BlockKind(NamedTuple):
    """What a run of bars has in common, and what is wanted of it; where these are literals the rest falls away.

    tangent  False: only the force on node j, rows P of the first columns of ``bar_tangent``
    """

    measure: int
    law: int
    secant: bool
    is_viscous: bool
    tangent: bool


@inner_kernel
def sense(plus: float) -> float:
    """How the length of a rod counts: -1 where it carries no tension (a stop), else 1."""
    way: float = where(plus == 0.0, -1.0, 1.0)
    return way


def senses(bars: Bars, index: Ints) -> Floats:
    """(r,) of the bars ``index``."""
    return np.where(bars.constants[PLUS, index] == 0.0, -1.0, 1.0)


@inner_kernel
def stiffening(pull: float, starting: float) -> float:
    """The pull that resists a turn of a bar: where it has none, its starting tension."""
    across: float = where(abs(pull) < IDLE * starting, starting, pull)
    return across


@inner_kernel
def evaluate_block(
    which: BlockKind, first: int, last: int, trial: Trial, bars: Bars, bar_tangent: Floats, force: Floats, flow: Floats
) -> float:
    """The nine numbers of the bars first..last of one kind, and their forces; returns the energy they store at u1.
    Differences between nodes are taken beforehand and forces are added afterwards: inlined with literal kinds the rest
    is branch-free and runs on vectors of bars."""
    kind, law, secant, is_viscous, tangent = which
    at = first if tangent else 0
    constants, thermal, rate = bars.constants, trial.thermal, trial.rate
    take_differences(first, last, at, Q, Q + 1, Q + 2, trial.u1, bars.nodes, bar_tangent)
    if secant:
        take_differences(first, last, at, P, P + 1, P + 2, trial.u0, bars.nodes, bar_tangent)
    if is_viscous:
        take_differences(first, last, at, GEOMETRIC, ALPHA, PULL, trial.v1, bars.nodes, bar_tangent)
    energy = 0.0
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(at + number)
        inverse = constants[INV_LENGTH, e]
        dx, dy, dz = constants[REF, e], constants[REF + 1, e], constants[REF + 2, e]
        wx, wy, wz = bar_tangent[Q, s], bar_tangent[Q + 1, s], bar_tangent[Q + 2, s]
        gap = 0.0
        if kind == LINEAR:
            dx, dy, dz = constants[BASE, e], constants[BASE + 1, e], constants[BASE + 2, e]
            green1 = (dx * wx + dy * wy + dz * wz) * inverse * inverse
            q = dx, dy, dz
        else:
            gap = constants[BASE_CONSTANT, e]
            green1 = (gap + dx * wx + dy * wy + dz * wz + 0.5 * (wx * wx + wy * wy + wz * wz)) * inverse * inverse
            q = dx + wx, dy + wy, dz + wz
        green0, p = green1, q
        if secant:
            ox, oy, oz = bar_tangent[P, s], bar_tangent[P + 1, s], bar_tangent[P + 2, s]
            if kind == LINEAR:
                green0 = (dx * ox + dy * oy + dz * oz) * inverse * inverse
            else:
                green0 = (gap + dx * ox + dy * oy + dz * oz + 0.5 * (ox * ox + oy * oy + oz * oz)) * inverse * inverse
                p = 0.5 * (q[0] + dx + ox), 0.5 * (q[1] + dy + oy), 0.5 * (q[2] + dz + oz)
        e0, e1, slope1, slope, curvature = measure(
            kind, green0, green1, constants[BASE_CONSTANT, e], constants[BASE_SLOPE, e]
        )
        area, young = constants[AREA, e], constants[YOUNG, e]
        plus, minus = constants[PLUS, e], constants[MINUS, e]
        stress0, length = constants[STRESS0, e] - young * thermal[e], 1.0 / inverse
        one, two, compliance = constants[OF_LAW, e], constants[OF_LAW + 1, e], constants[COMPLIANCE, e]
        own = Elasticity(young, stress0, plus, minus, compliance, length, area * length, one, two)
        stress, modulus, stored, ends = elastic_stress(law, secant, e0, e1, own, bars.table)
        energy += stored
        group, eta, way = stress, constants[VISCOUS, e], 1.0
        if is_viscous and secant:
            rise = slope * (green1 - green0)
            stress, modulus = damped_secant(stress, modulus, ends, eta * rate, rise, young, plus, minus)
        elif is_viscous:
            r = bar_tangent[GEOMETRIC, s], bar_tangent[ALPHA, s], bar_tangent[PULL, s]
            approach = dot(q, r) * inverse * inverse
            elastic, viscous = damped_fractions(ends[1], eta * slope1 * approach, eta, young * trial.onset, plus, minus)
            drag = area * eta * viscous
            if law == BILINEAR:
                stress, modulus = elastic * ends[1], 0.5 * elastic * young
        normal = area * stress * slope
        stiffness = area * (modulus * slope1 * slope + stress * curvature)
        if not secant:
            stiffness *= 2.0
        alpha = trial.weight * stiffness * inverse * inverse * inverse
        if is_viscous and not secant:
            viscosity = drag * slope1 * slope1
            normal += viscosity * approach
            inverse3 = trial.weight * inverse * inverse * inverse
            along = alpha + inverse3 * viscosity * rate
            across = 0.0
            if kind != LINEAR:
                along += inverse3 * drag * 4.0 * slope1 * curvature * approach
                across = inverse3 * viscosity
            q, alpha = blend(along, q, across, r), 1.0
        if law == RIGID:
            normal, alpha, way = trial.multiplier[e] / inverse, np.inf, sense(plus)
            p, q = scaled(way, p), scaled(way, q)
            bar_tangent[GAP, s] = way * e1 / (inverse * inverse)
        pull, lost = normal * inverse, (normal - area * group * slope) * inverse
        if not tangent:
            bar_tangent[P, s], bar_tangent[P + 1, s], bar_tangent[P + 2, s] = scaled(pull, p)
            if is_viscous:
                bar_tangent[Q, s], bar_tangent[Q + 1, s], bar_tangent[Q + 2, s] = scaled(lost, p)
            continue
        resistance = 0.0
        if kind != LINEAR:
            starting = 0.0 if secant else constants[STARTING, e]  # inertia alone makes the secant tangent regular
            resistance = where(abs(normal) < IDLE * starting, starting * inverse, way * pull)
        bar_tangent[GEOMETRIC, s] = trial.weight * (0.5 if secant else 1.0) * resistance
        bar_tangent[ALPHA, s] = alpha
        bar_tangent[P, s], bar_tangent[P + 1, s], bar_tangent[P + 2, s] = p
        bar_tangent[Q, s], bar_tangent[Q + 1, s], bar_tangent[Q + 2, s] = q
        bar_tangent[PULL, s] = pull
        if is_viscous:
            bar_tangent[LOST, s] = lost
    add_forces(first, last, at, P, PULL if tangent else -1, bars.nodes, bar_tangent, force)
    if is_viscous:
        add_forces(first, last, at, P if tangent else Q, LOST if tangent else -1, bars.nodes, bar_tangent, flow)
    return energy


@inner_kernel
def leg_of(e: int, u: Floats, bars: Bars) -> Leg:
    """A branch of a rope over a pulley at displacement u."""
    reference = bars.constants[REF, e], bars.constants[REF + 1, e], bars.constants[REF + 2, e]
    distance = math.sqrt(dot(reference, reference))
    return leg_between(reference, distance, apart(3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], u))


@inner_kernel
def other_leg(e: int, bars: Bars) -> int:
    """The other branch of the rope."""
    return e + 1 if bars.kinds[e, 0] == LEG else e - 1


@inner_kernel
def gap_of_legs(e: int, u: Floats, bars: Bars) -> float:
    """L0 (l1 + l2 - L0) of the rope over a pulley that has branch e."""
    longer = leg_of(e, u, bars).longer + leg_of(other_leg(e, bars), u, bars).longer
    gap: float = (longer + 2.0 * bars.constants[BASE_CONSTANT, e]) / bars.constants[INV_LENGTH, e]
    return gap


@inner_kernel
def turning(e: int, u: Floats, w: Vector, bars: Bars) -> float:
    """d2g/dt2 of a branch whose ends keep their relative velocity w: L0 (w.w - (n.w)^2)/l."""
    leg = leg_of(e, u, bars)
    along = dot(leg.d, w) / leg.length
    rate: float = (dot(w, w) - along * along) / (leg.length * bars.constants[INV_LENGTH, e])
    return rate


@called_kernel
def evaluate_legs(
    law: int, first: int, last: int, trial: Trial, bars: Bars, tangent: bool, force: Floats, bar_tangent: Floats
) -> float:
    """What ``evaluate_block`` has of bars, of the branches first..last of ropes over pulleys; slack ones do not pull.
    Infinite where one has come to its end."""
    energy = 0.0
    for e in range(first, last):
        i, j, inverse = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], bars.constants[INV_LENGTH, e]
        leg = leg_of(e, trial.u1, bars)
        energy += where(leg.length * inverse < LEAST_LEG, math.inf, 0.0)
        n, m, each = directions(leg, leg_of(e, trial.u0, bars) if trial.secant else leg, trial.secant)
        pull = trial.multiplier[e] / inverse if law == RIGID else 0.0 * inverse
        for c in range(3):
            part = pull * component(m, c)
            force[i + c] -= part
            force[j + c] += part
        if not tangent:
            continue
        turns = trial.weight * each * stiffening(pull, 0.0 if trial.secant else bars.constants[STARTING, e])
        bar_tangent[GEOMETRIC, e] = turns
        bar_tangent[ALPHA, e] = -turns * inverse * inverse
        bar_tangent[P, e], bar_tangent[P + 1, e], bar_tangent[P + 2, e] = scaled(1.0 / inverse, m)
        bar_tangent[Q, e], bar_tangent[Q + 1, e], bar_tangent[Q + 2, e] = scaled(1.0 / inverse, n)
        bar_tangent[PULL, e] = pull * inverse
        bar_tangent[GAP, e] = (leg.longer + bars.constants[BASE_CONSTANT, e]) / inverse
    return energy


@inner_kernel
def add_run(
    which: BlockKind, first: int, last: int, trial: Trial, bars: Bars, bar_tangent: Floats, force: Floats, flow: Floats
) -> float:
    """``evaluate_block`` for a run of bars of one kind, strip by strip."""
    energy = 0.0
    for start in range(first, last, STRIP):
        energy += evaluate_block(which, start, min(start + STRIP, last), trial, bars, bar_tangent, force, flow)
    return energy


@inner_kernel
def add_common(
    which: BlockKind, first: int, last: int, trial: Trial, bars: Bars, bar_tangent: Floats, force: Floats, flow: Floats
) -> float:
    """``add_run`` for a literal kind at the end of the increment, without viscosity: the compiler drops every branch.
    Of few bars each is a loop of one, which it drops too: everything stays in registers."""
    if last - first >= FEW:
        return add_run(which, first, last, trial, bars, bar_tangent, force, flow)
    energy = 0.0
    for e in range(first, last):
        energy += evaluate_block(which, e, e + 1, trial, bars, bar_tangent, force, flow)
    return energy


@called_kernel
def add_other(
    which: BlockKind, first: int, last: int, trial: Trial, bars: Bars, bar_tangent: Floats, force: Floats, flow: Floats
) -> float:
    """``add_run`` for all other kinds, which are told apart while it runs."""
    energy: float = add_run(which, first, last, trial, bars, bar_tangent, force, flow)
    return energy


@kernel
def evaluate_bars(trial: Trial, bars: Bars, tangent: bool, force: Floats, flow: Floats, bar_tangent: Floats) -> float:
    """Internal force of all bars and their numbers; returns the energy stored at u1.

    tangent       False (a literal): forces only, ``bar_tangent`` is room
    force, flow   (3n,)        out, added to: all of it, and what does not come from the stored energy
    bar_tangent   (STORED, m)  out: t, alpha, p, q (weighted), N/L0
    """
    secant, rate = trial.secant, trial.rate
    blocks = bars.blocks
    energy = 0.0
    for b in range(blocks.shape[0]):
        kind, law, first, last = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3]
        viscous = common(rate) != 0.0 and blocks[b, 4] == 1
        is_plain = law == BILINEAR and not secant and not viscous
        if is_plain and kind == GREEN:
            which = BlockKind(GREEN, BILINEAR, False, False, tangent)
            energy += add_common(which, first, last, trial, bars, bar_tangent, force, flow)
        elif is_plain and kind == ENGINEERING:
            which = BlockKind(ENGINEERING, BILINEAR, False, False, tangent)
            energy += add_common(which, first, last, trial, bars, bar_tangent, force, flow)
        elif kind >= LEG:
            energy += evaluate_legs(law, first, last, trial, bars, tangent, force, bar_tangent)
        else:
            which = BlockKind(kind, law, secant, viscous, tangent)
            energy += add_other(which, first, last, trial, bars, bar_tangent, force, flow)
    return energy


def linear_constants(constants: Floats, measures: Ints, w: Floats) -> Floats:
    """Constants (CONSTANTS, m) of bars with these strain measures, whose strains are linear about w = u_j - u_i (m, 3):
    e_b + slope_b (E - E_b)."""
    constants = constants.copy()
    reference, square = constants[REF : REF + 3].T, constants[INV_LENGTH] ** 2
    green = (constants[BASE_CONSTANT] + (reference * w).sum(axis=1) + 0.5 * (w * w).sum(axis=1)) * square
    stretch = np.sqrt(1.0 + 2.0 * green)
    kinds = [measures == ENGINEERING, measures == LOG]
    strain = np.select(kinds, [2.0 * green / (1.0 + stretch), 0.5 * np.log1p(2.0 * green)], green)
    slope = np.select(kinds, [1.0 / stretch, 1.0 / stretch**2], 1.0)
    constants[CONJUGATE] = np.where(kinds[1], 1.0 / stretch, 1.0)
    base = reference + w
    constants[BASE : BASE + 3] = base.T
    constants[BASE_SLOPE] = slope
    constants[BASE_CONSTANT] = strain - slope * (base * w).sum(axis=1) * square
    return constants


# Differences of nodal values, and forces back to the nodes, stand apart from the physics: these indirect accesses are
# all that keeps it from running on vectors of bars.

# Indices that come out of arrays are unsigned: numba then has no negative ones to look after.
ONE, TWO = np.uintp(1), np.uintp(2)


@inner_kernel
def take_differences(
    first: int, last: int, at: int, row0: int, row1: int, row2: int, x: Floats, nodes: Ints, bar_tangent: Floats
) -> None:
    """x_j - x_i of the bars first..last into three rows of ``bar_tangent``, from column ``at`` on."""
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(at + number)
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        bar_tangent[row0, s] = x[j] - x[i]
        bar_tangent[row1, s] = x[j + ONE] - x[i + ONE]
        bar_tangent[row2, s] = x[j + TWO] - x[i + TWO]


@inner_kernel
def add_forces(
    first: int, last: int, at: int, row: int, factor: int, nodes: Ints, bar_tangent: Floats, force: Floats
) -> None:
    """Add the forces of the bars first..last to those of their nodes j, subtract them from those of i.
    They are the rows row, row + 1 and row + 2 of ``bar_tangent``, from column ``at`` on, times row ``factor`` (1 where
    that is negative)."""
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(at + number)
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        pull = bar_tangent[factor, s] if factor >= 0 else 1.0
        fx, fy, fz = pull * bar_tangent[row, s], pull * bar_tangent[row + 1, s], pull * bar_tangent[row + 2, s]
        force[i] -= fx
        force[i + ONE] -= fy
        force[i + TWO] -= fz
        force[j] += fx
        force[j + ONE] += fy
        force[j + TWO] += fz


@kernel
def bar_point(
    e: int, u: Floats, v: Floats, bars: Bars, thermal: Floats, multiplier: Floats, onset: float = 0.0
) -> tuple[float, float, float, float, float, float]:
    """Strain e, elastic stress, viscous stress, strain slope e'(E), stretch l/L0 and stored energy of one bar.
    onset  as in ``evaluate_bars``, of the increment that ends here"""
    constants, kind, law, area = bars.constants, bars.kinds[e, 0], bars.kinds[e, 1], bars.constants[AREA, e]
    i, j, inverse = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], constants[INV_LENGTH, e]
    if kind >= LEG:
        pulls = 1.0 if law == RIGID else 0.0
        longer = gap_of_legs(e, u, bars) * inverse * inverse
        return longer, pulls * multiplier[e] / (inverse * area), 0.0, 1.0, 1.0, 0.0
    first = BASE if kind == LINEAR else REF
    along = 0.0 if kind == LINEAR else constants[BASE_CONSTANT, e]
    square, approach, length2 = 0.0, 0.0, 0.0
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
    young, stress0, plus, minus = constants[YOUNG, e], constants[STRESS0, e], constants[PLUS, e], constants[MINUS, e]
    one, two, compliance = constants[OF_LAW, e], constants[OF_LAW + 1, e], constants[COMPLIANCE, e]
    own = Elasticity(young, stress0, plus, minus, compliance, 1.0 / inverse, area / inverse, one, two)
    free = strain - thermal[e] if law == BILINEAR else strain
    stress, _, energy, (_, trial, active) = elastic_stress(law, False, free, free, own, bars.table)
    if law == RIGID:
        stress = sense(plus) * multiplier[e] / (inverse * area)
    eta = constants[VISCOUS, e]
    viscous = eta * slope * approach * inverse * inverse
    elastic, damped = damped_fractions(trial, viscous, eta, young * onset, plus, minus)
    viscous = (elastic - active) * trial + damped * viscous
    return strain, stress, viscous, slope, math.sqrt(length2) * inverse, energy


@inner_kernel
def trial_stress(e: int, strain: float, thermal: Floats, bars: Bars) -> float:
    """E (e - e_th) + S_0."""
    stress: float = bars.constants[YOUNG, e] * (strain - thermal[e]) + bars.constants[STRESS0, e]
    return stress


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
    The stress at half-way is that of the mean thermal strain at both ends of the increment, exact for linear laws."""
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
    The first half of the change then acts on the bars as they were, the second half as they are."""
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


def rows_of(bars: Bars) -> Ints:
    """(r,) of each of the rods: its constraint, which both branches of a rope over a pulley share."""
    return np.cumsum(bars.kinds[bars.rods, 0] != BEYOND) - 1


def heads(bars: Bars) -> Ints:
    """(c,) the first rod of each constraint: all rods but the branches beyond pulleys."""
    return np.asarray(bars.rods[bars.kinds[bars.rods, 0] != BEYOND])


def whole(bars: Bars, index: Ints) -> Ints:
    """Bars with, behind them, the branches beyond pulleys that belong to them."""
    return np.concatenate([index, index[bars.kinds[index, 0] == LEG] + 1])


def rod_places(bars: Bars) -> tuple[Ints, Ints]:
    """Rows and dofs of G (constraints, 3n): each rod at its second node, then at its first. Values for one place add
    up."""
    dofs = np.concatenate([(3 * bars.nodes[bars.rods, end, None] + np.arange(3)).ravel() for end in (1, 0)])
    return np.tile(np.repeat(rows_of(bars), 3), 2), dofs


def rod_values(bars: Bars, bar_tangent: Floats, row: int = Q) -> Floats:
    """Values of G at ``rod_places``: p or q (``row``) of each rod, and minus that."""
    values: Floats = bar_tangent[row : row + 3, bars.rods].T.ravel()
    return np.concatenate([values, -values])
