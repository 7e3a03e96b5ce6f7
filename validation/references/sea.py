"""Linear waves summed up one by one: an irregular sea from its spectrum, the water in it, a body on springs in it.

Spectrum (Hasselmann et al. 1973): S ~ w^-5 exp(-5/4 (wp/w)^4) gamma^exp(-(w/wp - 1)^2/(2 s^2)), s = 0.07 up to the
peak, 0.09 beyond, scaled to m0 = Hs^2/16; bins of equal width, in each one wave with the energy of the bin. Chance:
SplitMix64 (Steele, Lea & Flood 2014), first places in the bins, then phases. Water: Dean & Dalrymple 1991, ch. 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

Array = NDArray[np.float64]


def chance(seed: int, count: int) -> Array:
    """(count,) numbers in [0, 1), with the 64 bits of numpy's unsigned integers."""
    state = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((state ^ (state >> np.uint64(31))) >> np.uint64(11)).astype(float) * 2.0**-53)


def density(omega: float, period: float, gamma: float) -> float:
    """The spectrum, but for its scale."""
    ratio = omega * period / (2.0 * math.pi)
    width = 0.07 if ratio <= 1.0 else 0.09
    return ratio**-5 * math.exp(-1.25 * ratio**-4) * gamma ** math.exp(-((ratio - 1.0) ** 2) / (2.0 * width**2))


def wave_number(omega: float, depth: float, gravity: float) -> float:
    """k of omega^2 = g k tanh(k h)."""
    deep = omega**2 / gravity
    most = deep + math.sqrt(deep / depth)
    return float(brentq(lambda k: gravity * k * math.tanh(k * depth) - omega**2, 0.999 * deep, most, xtol=1e-16))


def components(
    height: float, period: float, gamma: float, seed: int, count: int, depth: float, gravity: float
) -> Array:
    """(count, 4) omega, k, amplitude, phase, from 0.5 to 4 times the frequency of the peak."""
    peak = 2.0 * math.pi / period
    edges, drawn = np.linspace(0.5 * peak, 4.0 * peak, count + 1), chance(seed, 2 * count)
    energy = []
    for low, high in pairwise(edges.tolist()):
        cuts = [low, peak, high] if low < peak < high else [low, high]
        parts = [quad(density, *ends, (period, gamma), epsabs=0.0, epsrel=1e-12)[0] for ends in pairwise(cuts)]
        energy.append(math.fsum(parts))
    amplitude = np.sqrt(2.0 * np.array(energy) / math.fsum(energy) * height**2 / 16.0)
    omega = edges[:-1] + drawn[:count] * (edges[1] - edges[0])
    k = [wave_number(w, depth, gravity) for w in omega.tolist()]
    return np.column_stack([omega, k, amplitude, 2.0 * np.pi * drawn[count:]])


def water(
    sea: Array, x: Array, z: Array, time: Array, depth: float, ramp: float = 0.0, since: float = 0.0
) -> tuple[Array, Array, Array]:
    """Elevation (k,), velocity and acceleration (k, 2) along x and z at places (k,) below the surface at times (k,).

    Potential of each wave as a complex number, whose derivative by time is -i omega; the ramp is (1 - cos)/2 from
    the time since on.
    """
    part = np.pi * np.clip((time - since) / ramp, 0.0, 1.0) if ramp else np.full_like(time, np.pi)
    grown, rate = 0.5 - 0.5 * np.cos(part), (0.5 * np.pi / ramp * np.sin(part) if ramp else 0.0 * time)
    omega, k, amplitude, phase = (row[:, None] for row in sea.T)
    turning = amplitude * np.exp(1j * (k * x - omega * time + phase))
    level = np.minimum(z, 0.0)
    speeds = np.stack([
        omega * np.cosh(k * (level + depth)) / np.sinh(k * depth) * turning,
        -1j * omega * np.sinh(k * (level + depth)) / np.sinh(k * depth) * turning,
    ])  # fmt: skip
    velocity = speeds.sum(axis=1).real
    acceleration = grown * (-1j * omega * speeds).sum(axis=1).real + rate * velocity
    return grown * turning.sum(axis=0).real, (grown * velocity).T, acceleration.T


def spectral_error(sea: Array, duration: float) -> float:
    """Relative standard error of Hs from a Gaussian record: half that of its variance, 2 pi/T times the integral of S^2
    over m0^2."""
    energy, width = 0.5 * sea[:, 2] ** 2, np.gradient(sea[:, 0])
    return float(0.5 * np.sqrt(2.0 * np.pi / duration * np.sum(energy**2 / np.abs(width))) / energy.sum())


def body(
    times: Array,
    flow: Callable[[float, float, float], tuple[Array, Array]],
    depth: float,
    mass: float,
    stiffness: float,
    drag: float,
    inertia: float,
    added: float,
) -> Array:
    """(k, 2) displacements along x and z of a body on springs, at rest at first; DOP853 to 1e-11.

    (mass + added) a = drag |v| v + inertia a_water - stiffness u; ``flow`` (x, z, t) gives velocity and acceleration of
    the water, v is that velocity past the body.
    """

    def rate(time: float, state: Array) -> Array:
        velocity, acceleration = flow(state[0], state[1] - depth, time)
        v = velocity - state[2:]
        force = drag * np.hypot(*v) * v + inertia * acceleration - stiffness * state[:2]
        return np.concatenate([state[2:], force / (mass + added)])

    found = solve_ivp(rate, (0.0, times[-1]), np.zeros(4), "DOP853", times, rtol=1e-11, atol=1e-12)
    return np.asarray(found.y[:2].T)
