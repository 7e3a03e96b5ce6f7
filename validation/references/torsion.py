"""Rods that bend and twist: closed forms and integrals of the linear theory."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad_vec, solve_bvp

Array: TypeAlias = NDArray[np.float64]

BEND = {300.0: (58.7802, 22.2453, 40.1894), 450.0: (52.2400, 18.5087, 48.5001), 600.0: (47.1522, 15.6854, 53.4718)}
"""Load -> tip of a bend of 45 degrees, R = 100, EI = GJ = 1e7/12, EA = 1e7: a Kirchhoff rod, by shooting to 1e-8.
Published with shear, for 600: (47.2, 15.9, 53.4); Bathe and Bolourchi, Int. J. Numer. Methods Eng. 14 (1979) 961."""


def quarter_circle(push: float, radius: float, bending: float, torsion: float) -> float:
    """Deflection of the tip under a load across the plane: P R^3 (pi/(4 EI) + (3 pi/4 - 2)/GJ) (Castigliano)."""
    return push * radius**3 * (np.pi / (4.0 * bending) + (3.0 * np.pi / 4.0 - 2.0) / torsion)


def spring_stiffness(radius: float, pitch: float, turns: int, bending: float, torsion: float, stretch: float) -> float:
    """Axial stiffness of a helix between ends that do not turn: the inverse of its whole compliance (6, 6).
    The handbook's G d^4/(8 D^3 N) is 0.998 of it for a pitch of D/10."""
    rise = pitch / (2.0 * np.pi)
    end = 2.0 * np.pi * turns

    def place(f: float) -> NDArray[np.float64]:
        return np.array([radius * np.cos(f), radius * np.sin(f), rise * f])

    def compliance(f: float) -> NDArray[np.float64]:
        t = np.array([-radius * np.sin(f), radius * np.cos(f), rise]) / np.hypot(radius, rise)
        x, y, z = place(end) - place(f)
        moment = np.hstack([[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], np.eye(3)])
        along, force = np.outer(t, t), np.zeros((6, 6))
        force[:3, :3] = along / stretch
        whole = moment.T @ (along / torsion + (np.eye(3) - along) / bending) @ moment + force
        return np.asarray(whole * np.hypot(radius, rise))

    found = quad_vec(compliance, 0.0, end, epsabs=1e-10, epsrel=1e-10)[0]
    return float(np.linalg.inv(found)[2, 2])


def torsional_frequency(number: int, length: float, torsion: float, polar: float) -> float:
    """Circular frequency of a rod clamped at one end: (2 n - 1) pi/(2 L) sqrt(GJ/Ip)."""
    return float((2 * number - 1) * np.pi / (2.0 * length) * np.sqrt(torsion / polar))


CLAMPED = {0.0: 8.98681891, 20.0: 11.80040, 50.0: 15.58930}
"""T L^2/EI -> M L/EI at which a straight rod between clamps buckles. Without tension tan(x/2) = x/2; with it the
``clamped_determinant`` vanishes."""


def clamped_determinant(torque: float, tension: float) -> complex:
    """Of a rod of length and EI 1 between clamps: w = y + i z, which a torque and a tension bend, is a sum of 1, s and
    exp(i k s) with k^2 - M k + T = 0 (Greenhill 1883); w and its slope are zero at both ends."""
    first, second = np.roots([1.0, -torque, tension])
    one, two = np.exp(1j * first), np.exp(1j * second)
    rows = [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1j * first, 1j * second], [1.0, 1.0, one, two]]
    return complex(np.linalg.det([*rows, [0.0, 1.0, 1j * first * one, 1j * second * two]]))


def ring_turn(bending: float, torsion: float) -> float:
    """Turn of one end of a ring, straight at rest, at which it leaves its plane: 2 pi sqrt(3) EI/GJ (Michell 1889)."""
    return float(2.0 * np.pi * np.sqrt(3.0) * bending / torsion)


def strip_load(length: float, stiff: float, soft: float, torsion: float) -> float:
    """Load across the tip at which a cantilever strip buckles sideways: 4.0126 sqrt(EI2 GJ)/L^2 (Prandtl 1899), over
    sqrt((1 - EI2/EI1)(1 - GJ/EI1)) for the deflection before."""
    return float(4.0126 * np.sqrt(soft * torsion / ((1.0 - soft / stiff) * (1.0 - torsion / stiff))) / length**2)


def hung_rod(
    length: float, span: float, weight: float, bending: float, torsion: float, turn: float
) -> tuple[float, float]:
    """Torque, and height of the middle, of a heavy rod, straight at rest and of constant length, that hangs between
    clamps along x, of which the second is turned by ``turn``: a boundary value problem, by collocation to 1e-7.

    t' = m x t/EI, m' = - t x n, n' = weight z; d is carried along without twist. The torque m.t is the same all along,
    and the second end is turned by its angle m.t L/GJ and by that of d.
    """

    def slope(s: Array, y: Array, force: Array) -> Array:
        t, m, d = y[3:6].T, y[6:9].T, y[9:12].T
        n = force + np.outer(s, [0.0, 0.0, weight])
        omega = np.cross(t, np.cross(m, t)) / bending
        return np.concatenate([t.T, np.cross(omega, t).T, -np.cross(t, n).T, np.cross(omega, d).T])

    def off(first: Array, last: Array, part: float) -> Array:
        angle = np.arctan2(-last[10], last[11]) + first[6] * length / torsion
        start = first[:6] - [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], first[9:12] - [0.0, 0.0, 1.0]
        return np.concatenate([*start, last[:3] - [span, 0.0, 0.0], last[4:6], [angle - part]])

    s, slant = np.linspace(0.0, length, 121), span / length
    pull, sides = 0.3 * weight * span, np.where(s < 0.5 * length, -1.0, 1.0)
    y, force = np.zeros((12, len(s))), np.array([pull, 0.0, -0.5 * weight * length])
    y[0], y[2] = slant * s, -np.sqrt(1.0 - slant**2) * np.minimum(s, length - s)
    y[3], y[5], y[11] = slant, np.sqrt(1.0 - slant**2) * sides, 1.0
    y[7] = np.sqrt(bending * pull) * np.cos(2.0 * np.pi * s / length)
    for part in np.linspace(0.0, turn, 6):
        found = solve_bvp(slope, lambda a, b, p, part=part: off(a, b, part), s, y, force, tol=1e-7, max_nodes=4000)
        if found.status:
            raise ValueError(found.message)
        s, y, force = found.x, found.y, found.p
    return float(y[6, 0]), float(found.sol(0.5 * length)[2])


def helix_force(radius: float, slope: float, bending: float, torque: float) -> float:
    """Force along the axis of a helix that holds a rod, straight at rest, with this torque in it.

    (M - EI tau) kappa over the cosine of the pitch angle, with curvature kappa and torsion tau of the helix.
    Source: Love, Mathematical Theory of Elasticity (1927), section 270."""
    curvature, torsion = np.cos(slope) ** 2 / radius, np.sin(slope) * np.cos(slope) / radius
    return float((torque - bending * torsion) * curvature / np.cos(slope))
