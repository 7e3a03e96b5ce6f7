"""Two-node bars: whatever the strain, the law or the scheme, a bar hands over the same nine numbers.

Force on node j (minus that on node i) and tangent block (+ on jj and ii, - on ij and ji):

    force = (N/L0) p,     block = alpha p q^T + t I.

Point evaluation (end of the increment): p = q = d1, t = N/L0.
Secant evaluation (energy-conserving schemes): p = (d0 + d1)/2, q = d1, t = N/(2 L0); N = A sbar ebar.
Geometrically linear: p = q = d_b, the base vector, t = 0.
Strains use the displacement difference w = u_j - u_i, E = (D.w + w.w/2)/L0^2, which keeps all digits.
A viscous stress eta de/dt (material BETA, dashpots) adds to S; its tangent makes q a mixture of d1 and v_j - v_i. In
cables and struts it is limited to the stress itself (``allowed_viscous``).
Source: Crisfield, Non-linear Finite Element Analysis, vol. 1, ch. 3; Gonzalez, J. Nonlinear Sci. 6 (1996).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.lanes.choose import common, some, where
from fem.mechanics.laws import BILINEAR, TABLE, bilinear, share, table_point, table_secant
from fem.mechanics.strain import ENGINEERING, GREEN, LINEAR, measure

# Rows of Bars.constants
REF, INV_LENGTH, AREA, YOUNG, PLUS, MINUS, STRESS0, VISCOUS, STARTING, FIRST, COUNT, BASE, BASE_CONSTANT = (
    0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16,
)  # fmt: skip
BASE_SLOPE, COMPLIANCE, CONJUGATE = 17, 18, 19
CONSTANTS = 20

# Rows of the store: the nine numbers of a bar
GEOMETRIC, ALPHA, P, Q, PULL = 0, 1, 2, 5, 8
STORED = 9

# Indices that come out of arrays are unsigned: numba then has no negative ones to look after.
ONE, TWO = np.uintp(1), np.uintp(2)


class Bars(NamedTuple):
    """All axial elements (T3D2, T2D2, SPRINGA, DASHPOTA).

    nodes        (m, 2)          node indices i, j
    kinds        (m, 2)          strain measure, law; bars of one kind stand together
    blocks       (b, 5)          runs of one kind: measure, law, first and past-last bar, 1 where any is viscous
    constants    (CONSTANTS, m)  row by row: D (3), 1/L0, area, modulus, r_plus, r_minus, S_0, viscosity
                                 eta, starting tension,
                                 first row and row count of a table, base vector (3), base constant, base slope,
                                 volume over modulus (0 where there is no modulus), N/(A S) at the base
    table        (rows, 3)       elongation, force, energy of tabulated laws; None: there are none
    off_mass     (m,)            coupling mass between the two nodes, per direction
    off_damping  (m,)            coupling mass-proportional damping
    """

    nodes: Ints
    kinds: Ints
    blocks: Ints
    constants: Floats
    table: Floats | None
    off_mass: Floats
    off_damping: Floats


@kernel
def allowed_viscous(stress: float, viscous: float, plus: float, minus: float) -> float:
    """Viscous stress of a bar: a cable (r_minus = 0) damps only while taut and by no more than its stress.

    So it never pushes, and its force is continuous where it becomes taut or slack: an increment always has a
    solution. A strut (r_plus = 0) likewise.
    """
    is_one_sided = (minus == 0.0) != (plus == 0.0)
    if some(is_one_sided):
        limit = abs(stress)
        return where(is_one_sided, min(max(viscous, -limit), limit), viscous)
    return viscous


@kernel
def evaluate_block(
    kind: int, law: int, secant: bool, is_viscous: bool, first: int, last: int, weight: float, rate: float,
    u0: Floats, u1: Floats, v1: Floats, bars: Bars, thermal: Floats, store: Floats,
) -> float:  # fmt: skip
    """The nine numbers of the bars first..last of one kind; returns the energy they store at u1.

    Inlined with literal kinds it is branch-free and runs on vectors of bars.
    """
    nodes, constants, table = bars.nodes, bars.constants, bars.table
    energy = 0.0
    for e in range(first, last):
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        inverse = constants[INV_LENGTH, e]
        dx, dy, dz = constants[REF, e], constants[REF + 1, e], constants[REF + 2, e]
        wx, wy, wz = u1[j] - u1[i], u1[j + ONE] - u1[i + ONE], u1[j + TWO] - u1[i + TWO]
        if kind == LINEAR:
            dx, dy, dz = constants[BASE, e], constants[BASE + 1, e], constants[BASE + 2, e]
            green1 = (dx * wx + dy * wy + dz * wz) * inverse * inverse
            qx, qy, qz = dx, dy, dz
        else:
            green1 = (dx * wx + dy * wy + dz * wz + 0.5 * (wx * wx + wy * wy + wz * wz)) * inverse * inverse
            qx, qy, qz = dx + wx, dy + wy, dz + wz
        px, py, pz = qx, qy, qz
        green0 = green1
        if secant:
            ox, oy, oz = u0[j] - u0[i], u0[j + ONE] - u0[i + ONE], u0[j + TWO] - u0[i + TWO]
            if kind == LINEAR:
                green0 = (dx * ox + dy * oy + dz * oz) * inverse * inverse
            else:
                green0 = (dx * ox + dy * oy + dz * oz + 0.5 * (ox * ox + oy * oy + oz * oz)) * inverse * inverse
                px, py, pz = 0.5 * (qx + dx + ox), 0.5 * (qy + dy + oy), 0.5 * (qz + dz + oz)
        e0, e1, slope1, slope, curvature = measure(
            kind, green0, green1, constants[BASE_CONSTANT, e], constants[BASE_SLOPE, e]
        )
        area, young = constants[AREA, e], constants[YOUNG, e]
        plus, minus = constants[PLUS, e], constants[MINUS, e]
        active = 1.0
        if law == TABLE:
            length = 1.0 / inverse
            row, rows = int(common(constants[FIRST, e])), int(common(constants[COUNT, e]))
            stress, modulus = table_secant(e0 * length, e1 * length, row, rows, table)
            modulus *= length
            energy += table_point(e1 * length, row, rows, table)[2]
        else:
            shift = constants[STRESS0, e] - young * thermal[e]
            t1 = young * e1 + shift
            active = share(t1, plus, minus)
            energy += 0.5 * active * t1 * t1 * constants[COMPLIANCE, e]
            if secant:
                stress, modulus = bilinear(young * e0 + shift, t1, young, plus, minus)
            else:
                stress, modulus = active * t1, 0.5 * active * young
        normal = area * stress * slope
        tangent = area * (modulus * slope1 * slope + stress * curvature)
        half = 0.5
        if not secant:
            tangent *= 2.0
            half = 1.0
        alpha = weight * tangent * inverse * inverse * inverse
        if is_viscous:
            rx, ry, rz = v1[j] - v1[i], v1[j + ONE] - v1[i + ONE], v1[j + TWO] - v1[i + TWO]
            approach = (qx * rx + qy * ry + qz * rz) * inverse * inverse
            eta = constants[VISCOUS, e] * active
            viscous = eta * slope1 * approach
            granted = allowed_viscous(stress, viscous, plus, minus)
            is_limited = granted != viscous  # to a share of the stress, which is all that is left of it
            if some(is_limited):
                factor = where(is_limited & (stress != 0.0), 1.0 + granted / stress, 1.0)
                alpha, normal, eta = alpha * factor, normal * factor, where(is_limited, 0.0, eta)
            drag = area * eta * slope1 * slope1
            normal += drag * approach
            inverse3 = weight * inverse * inverse * inverse
            along = alpha + inverse3 * drag * rate
            across = 0.0
            if kind != LINEAR:
                along += inverse3 * area * eta * 4.0 * slope1 * curvature * approach
                across = inverse3 * drag
            qx, qy, qz = along * qx + across * rx, along * qy + across * ry, along * qz + across * rz
            alpha = 1.0
        pull = normal * inverse
        stiffening = 0.0
        if kind != LINEAR:
            starting = constants[STARTING, e]
            stiffening = where(abs(normal) < 1e-6 * starting, starting * inverse, pull)
        store[GEOMETRIC, e] = weight * half * stiffening
        store[ALPHA, e] = alpha
        store[P, e] = px
        store[P + 1, e] = py
        store[P + 2, e] = pz
        store[Q, e] = qx
        store[Q + 1, e] = qy
        store[Q + 2, e] = qz
        store[PULL, e] = pull
    return energy


@kernel
def evaluate_bars(
    secant: bool, weight: float, rate: float, u0: Floats, u1: Floats, v1: Floats,
    bars: Bars, thermal: Floats, force: Floats, store: Floats,
) -> float:  # fmt: skip
    """Internal force of all bars and their nine numbers; returns the energy stored at u1.

    secant        False: at u1; True: discrete gradient between u0 and u1
    weight        of the force in the equilibrium of the scheme; goes into the tangent only
    rate          dv1/du1 of the scheme; 0 switches viscosity off (statics)
    u0, u1, v1    (3n,)        displacements and velocity
    thermal       (m,)         thermal strain at the end of the increment
    force         (3n,)        out, added to
    store         (STORED, m)  out: t, alpha, p, q (weighted), N/L0
    """
    nodes, blocks = bars.nodes, bars.blocks
    energy = 0.0
    for b in range(blocks.shape[0]):
        kind, law, first, last = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3]
        viscous = rate != 0.0 and blocks[b, 4] == 1
        # The common kinds with literals, so that the compiler drops every branch; all others through the same source.
        if law == BILINEAR and kind == GREEN and not secant and not viscous:
            energy += evaluate_block(
                GREEN, BILINEAR, False, False, first, last, weight, rate, u0, u1, v1, bars, thermal, store
            )
        elif law == BILINEAR and kind == ENGINEERING and not secant and not viscous:
            energy += evaluate_block(
                ENGINEERING, BILINEAR, False, False, first, last, weight, rate, u0, u1, v1, bars, thermal, store
            )
        else:
            energy += evaluate_block(
                kind, law, secant, viscous, first, last, weight, rate, u0, u1, v1, bars, thermal, store
            )
    for e in range(nodes.shape[0]):
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        pull = store[PULL, e]
        fx, fy, fz = pull * store[P, e], pull * store[P + 1, e], pull * store[P + 2, e]
        force[i] -= fx
        force[i + ONE] -= fy
        force[i + TWO] -= fz
        force[j] += fx
        force[j + ONE] += fy
        force[j + TWO] += fz
    return energy


@kernel
def bar_point(
    e: int, u: Floats, v: Floats, bars: Bars, thermal: Floats
) -> tuple[float, float, float, float, float, float]:
    """Strain e, elastic stress, viscous stress, strain slope e'(E), stretch l/L0 and stored energy of one bar."""
    constants = bars.constants
    i = 3 * bars.nodes[e, 0]
    j = 3 * bars.nodes[e, 1]
    kind = bars.kinds[e, 0]
    inverse = constants[INV_LENGTH, e]
    first = BASE if kind == LINEAR else REF
    along = 0.0
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
    active = 1.0
    if bars.kinds[e, 1] == TABLE:
        stress, _, energy = table_point(
            strain / inverse, int(common(constants[FIRST, e])), int(common(constants[COUNT, e])), bars.table
        )
    else:
        trial = young * (strain - thermal[e]) + constants[STRESS0, e]
        active = share(trial, plus, minus)
        stress = active * trial
        energy = 0.5 * active * trial * trial * constants[COMPLIANCE, e]
    viscous = constants[VISCOUS, e] * active * slope * approach * inverse * inverse
    viscous = allowed_viscous(stress, viscous, plus, minus)
    return strain, stress, viscous, slope, math.sqrt(length2) * inverse, energy


def blocks_of(kinds: Ints, constants: Floats) -> Ints:
    """Runs of bars of one kind, (b, 5), as ``Bars.blocks`` holds them."""
    if len(kinds) == 0:
        return np.zeros((0, 5), np.int64)
    ends = np.flatnonzero(np.any(np.diff(kinds, axis=0) != 0, axis=1)) + 1
    first = np.concatenate([[0], ends])
    last = np.concatenate([ends, [len(kinds)]])
    viscous = np.maximum.reduceat(constants[VISCOUS] != 0.0, first)
    return np.column_stack([kinds[first], first, last, viscous]).astype(np.int64)


def bar_blocks(store: Floats) -> Floats:
    """(m, 3, 3) tangent blocks alpha p q^T + t I from the numbers of the bars."""
    blocks: Floats = np.einsum("e,ae,ce->eac", store[ALPHA], store[P : P + 3], store[Q : Q + 3])
    return blocks + store[GEOMETRIC, :, None, None] * np.eye(3)
