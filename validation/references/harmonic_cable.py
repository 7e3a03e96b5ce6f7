"""Harmonic motion of a cable in still water about its elastic catenary, as a boundary value problem in arc length.

s is the unstressed arc, t = (cos, sin) of the slope the tangent at rest, n across it, T the tension at rest. With small
motion u and change of force f, both as complex amplitudes, P = I - t t^T, c the mass of the water that goes along,

    u' = (t.f/EA) t + (1 + T/EA)/T P f,     f' = -w^2 (m I + c P) u + 8/(3 pi) d |w n.u| i w P u

where d |v| v is the drag across the cable, of which the first harmonic of a motion along a line is 8/(3 pi); u is given
at both ends. Integrated by SciPy's ``solve_bvp`` (collocation of fourth order): no bars, no assembly.
Sources: Irvine, Cable Structures (1981), sections 1.4 and 2.3; Krylov & Bogoliubov (1937) for the drag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_bvp
from scipy.optimize import root

Array = NDArray[np.float64]
POINTS, MOST_POINTS, SMALL = 201, 20_000, 1e-8


@dataclass(frozen=True, slots=True)
class Wet:
    """A cable from (0, 0) to ``span`` = (x, z): unstressed length, EA, weight in water and mass per length, ``added``
    mass of water across it and ``drag`` (force over the square of the speed across it), both per length."""

    span: tuple[float, float]
    length: float
    axial_stiffness: float
    weight: float
    mass: float
    added: float
    drag: float


def at_rest(cable: Wet) -> tuple[float, float]:
    """Horizontal force, and the vertical one at the lower end (Irvine's elastic catenary, ends at any heights)."""
    w, length, stiffness = cable.weight, cable.length, cable.axial_stiffness

    def miss(forces: Array) -> Array:
        h, low = np.exp(forces[0]), forces[1] * w * length
        high = low + w * length
        x = h * length / stiffness + h / w * (np.arcsinh(high / h) - np.arcsinh(low / h))
        z = (high**2 - low**2) / (2.0 * w * stiffness) + (np.hypot(h, high) - np.hypot(h, low)) / w
        return np.array([x, z]) / length - np.array(cable.span) / length

    found = root(miss, (np.log(w * length), 0.0), tol=1e-14)
    if np.abs(miss(found.x)).max() > 1e-12:
        raise RuntimeError(f"no catenary found: {found.message}")
    return float(np.exp(found.x[0])), float(found.x[1] * w * length)


def tension(cable: Wet, omega: float, end: tuple[complex, complex], arcs: Array) -> NDArray[np.complex128]:
    """Complex amplitudes of the tension at ``arcs``; the lower end is held, the upper one moves by ``end``."""
    horizontal, low = at_rest(cable)

    def rest(s: Array) -> tuple[Array, Array]:
        force = np.hypot(horizontal, low + cable.weight * s)
        return np.stack((horizontal / force, (low + cable.weight * s) / force)), force

    def rates(s: Array, y: Array) -> Array:
        (t, force), (u, f) = rest(s), np.split(y[:4] + 1j * y[4:], 2)
        pull, across = (t * f).sum(axis=0), u - (t * u).sum(axis=0) * t
        stretch = pull / cable.axial_stiffness * t
        turn = (1.0 / force + 1.0 / cable.axial_stiffness) * (f - pull * t)
        speed = omega * np.sqrt((np.abs(across) ** 2).sum(axis=0))
        brake = 8.0 / (3.0 * np.pi) * cable.drag * speed
        inertia = -(omega**2) * (cable.mass * u + cable.added * across)
        rate = np.concatenate((stretch + turn, inertia + 1j * omega * brake * across))
        return np.concatenate((rate.real, rate.imag))

    moved = np.array([*np.real(end), *np.imag(end)])

    def ends(first: Array, last: Array) -> Array:
        return np.concatenate((first[[0, 1, 4, 5]], last[[0, 1, 4, 5]] - moved)) / np.abs(moved).max()

    s = np.linspace(0.0, cable.length, POINTS)
    guess = np.zeros((8, POINTS))
    guess[[0, 1, 4, 5]] = moved[:, None] * s / cable.length
    found = solve_bvp(rates, ends, s, guess, tol=SMALL, max_nodes=MOST_POINTS)
    if not found.success:
        raise RuntimeError(f"no harmonic motion found: {found.message}")
    y = found.sol(arcs)
    return np.asarray((rest(arcs)[0] * (y[2:4] + 1j * y[6:])).sum(axis=0))
