"""Two-node bars: whatever the strain, the law or the scheme, a bar hands over the same nine numbers.

Force on node j (minus that on node i) and tangent block (+ on jj and ii, - on ij and ji):

    force = (N/L0) p,     block = alpha p q^T + t I.

Point evaluation (end of the increment): p = q = d1, t = N/L0.
Secant evaluation (energy-conserving schemes): p = (d0 + d1)/2, q = d1, t = N/(2 L0); N = A sbar ebar.
Geometrically linear: p = q = d_b, the base vector, t = 0.
Strains use the displacement difference w = u_j - u_i, E = (D.w + w.w/2)/L0^2, which keeps all digits.
A viscous stress eta de/dt (material BETA, dashpots) adds to S; its tangent makes q a mixture of d1 and v_j - v_i.
Source: Crisfield, Non-linear Finite Element Analysis, vol. 1, ch. 3; Gonzalez, J. Nonlinear Sci. 6 (1996).
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.mechanics.laws import TABLE, bilinear, share, table_point, table_secant
from fem.mechanics.strain import LINEAR, measure

# Columns of Bars.constants
REF, INV_LENGTH, AREA, YOUNG, PLUS, MINUS, STRESS0, VISCOUS, STARTING, FIRST, COUNT, BASE, BASE_CONSTANT = (
    0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16,
)  # fmt: skip
BASE_SLOPE, COMPLIANCE = 17, 18
CONSTANTS = 19

# Columns of the store: the nine numbers of a bar
GEOMETRIC, ALPHA, P, Q, PULL = 0, 1, 2, 5, 8
STORED = 9


class Bars(NamedTuple):
    """All axial elements (T3D2, T2D2, SPRINGA, DASHPOTA).

    nodes        (m, 2)          node indices i, j
    kinds        (m, 2)          strain measure, law
    constants    (m, CONSTANTS)  D (3), 1/L0, area, modulus, r_plus, r_minus, S_0, viscosity eta, starting tension,
                                 first row and row count of a table, base vector (3), base constant, base slope,
                                 volume over modulus (0 where there is no modulus)
    table        (rows, 3)       elongation, force, energy of tabulated laws
    off_mass     (m,)            coupling mass between the two nodes, per direction
    off_damping  (m,)            coupling mass-proportional damping
    """

    nodes: Ints
    kinds: Ints
    constants: Floats
    table: Floats
    off_mass: Floats
    off_damping: Floats


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
    store         (m, STORED)  out: t, alpha, p, q (weighted), N/L0
    """
    nodes, kinds, constants, table = bars.nodes, bars.kinds, bars.constants, bars.table
    energy = 0.0
    for e in range(nodes.shape[0]):
        i = 3 * nodes[e, 0]
        j = 3 * nodes[e, 1]
        kind = kinds[e, 0]
        inverse = constants[e, INV_LENGTH]
        dx, dy, dz = constants[e, REF], constants[e, REF + 1], constants[e, REF + 2]
        wx, wy, wz = u1[j] - u1[i], u1[j + 1] - u1[i + 1], u1[j + 2] - u1[i + 2]
        if kind == LINEAR:
            dx, dy, dz = constants[e, BASE], constants[e, BASE + 1], constants[e, BASE + 2]
            green1 = (dx * wx + dy * wy + dz * wz) * inverse * inverse
            qx, qy, qz = dx, dy, dz
        else:
            green1 = (dx * wx + dy * wy + dz * wz + 0.5 * (wx * wx + wy * wy + wz * wz)) * inverse * inverse
            qx, qy, qz = dx + wx, dy + wy, dz + wz
        px, py, pz = qx, qy, qz
        green0 = green1
        if secant:
            ox, oy, oz = u0[j] - u0[i], u0[j + 1] - u0[i + 1], u0[j + 2] - u0[i + 2]
            if kind == LINEAR:
                green0 = (dx * ox + dy * oy + dz * oz) * inverse * inverse
            else:
                green0 = (dx * ox + dy * oy + dz * oz + 0.5 * (ox * ox + oy * oy + oz * oz)) * inverse * inverse
                px, py, pz = 0.5 * (qx + dx + ox), 0.5 * (qy + dy + oy), 0.5 * (qz + dz + oz)
        e0, e1, slope1, slope, curvature = measure(
            kind, green0, green1, constants[e, BASE_CONSTANT], constants[e, BASE_SLOPE]
        )
        area, young = constants[e, AREA], constants[e, YOUNG]
        plus, minus = constants[e, PLUS], constants[e, MINUS]
        active = 1.0
        if kinds[e, 1] == TABLE:
            length = 1.0 / inverse
            stress, modulus = table_secant(
                e0 * length, e1 * length, int(constants[e, FIRST]), int(constants[e, COUNT]), table
            )
            modulus *= length
            energy += table_point(e1 * length, int(constants[e, FIRST]), int(constants[e, COUNT]), table)[2]
        else:
            shift = constants[e, STRESS0] - young * thermal[e]
            t1 = young * e1 + shift
            stress, modulus = bilinear(young * e0 + shift, t1, young, plus, minus)
            active = share(t1, plus, minus)
            energy += 0.5 * active * t1 * t1 * constants[e, COMPLIANCE]
        normal = area * stress * slope
        tangent = area * (modulus * slope1 * slope + stress * curvature)
        half = 0.5
        if not secant:
            tangent *= 2.0
            half = 1.0
        alpha = weight * tangent * inverse * inverse * inverse
        eta = constants[e, VISCOUS] * active
        if eta != 0.0 and rate != 0.0:
            rx, ry, rz = v1[j] - v1[i], v1[j + 1] - v1[i + 1], v1[j + 2] - v1[i + 2]
            approach = (qx * rx + qy * ry + qz * rz) * inverse * inverse
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
        stiffening = pull
        starting = constants[e, STARTING]
        if abs(normal) < 1e-6 * starting:
            stiffening = starting * inverse
        if kind == LINEAR:
            stiffening = 0.0
        store[e, GEOMETRIC] = weight * half * stiffening
        store[e, ALPHA] = alpha
        store[e, P], store[e, P + 1], store[e, P + 2] = px, py, pz
        store[e, Q], store[e, Q + 1], store[e, Q + 2] = qx, qy, qz
        store[e, PULL] = pull
        force[i] -= pull * px
        force[i + 1] -= pull * py
        force[i + 2] -= pull * pz
        force[j] += pull * px
        force[j + 1] += pull * py
        force[j + 2] += pull * pz
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
    inverse = constants[e, INV_LENGTH]
    first = BASE if kind == LINEAR else REF
    along = 0.0
    square = 0.0
    approach = 0.0
    length2 = 0.0
    for c in range(3):
        w = u[j + c] - u[i + c]
        d = constants[e, first + c]
        along += d * w
        square += w * w
        if kind != LINEAR:
            d += w
        length2 += d * d
        approach += d * (v[j + c] - v[i + c])
    green = along * inverse * inverse
    if kind != LINEAR:
        green += 0.5 * square * inverse * inverse
    _, strain, slope, _, _ = measure(kind, green, green, constants[e, BASE_CONSTANT], constants[e, BASE_SLOPE])
    young, plus, minus = constants[e, YOUNG], constants[e, PLUS], constants[e, MINUS]
    active = 1.0
    if bars.kinds[e, 1] == TABLE:
        stress, _, energy = table_point(
            strain / inverse, int(constants[e, FIRST]), int(constants[e, COUNT]), bars.table
        )
    else:
        trial = young * (strain - thermal[e]) + constants[e, STRESS0]
        active = share(trial, plus, minus)
        stress = active * trial
        energy = 0.5 * active * trial * trial * constants[e, COMPLIANCE]
    viscous = constants[e, VISCOUS] * active * slope * approach * inverse * inverse
    return strain, stress, viscous, slope, length2**0.5 * inverse, energy
