"""A chain of cables between point masses that hangs slack, falls and snaps taut; the peak of its tension.

A cable of natural length L, stiffness k and damping beta carries N = max(0, k (s + beta s')) while its stretch s is
positive, and nothing else; half its mass is at each of its ends. With d = (x_j - x_i)/l, s = l - L, s' = d.(v_j - v_i)

    m_i x_i'' = sum of N d over its cables - m_i g e_z.

scipy's RK45 integrates that; forces have kinks, at which higher orders need more steps. Damping k beta takes what the
chain rings with: without it peaks would depend on the last digit of the start.
Source: Newton's second law; Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
INTERVALS, TIGHT = 20, 1e-7
"""The tension is looked at so often in the time L/c; with DOP853 at 1e-10 the peak differs by 3e-6 of it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Length, bars, E A, mass per length and at the end, time of damping beta; the first node is held."""

    length: float
    bars: int
    stiffness: float
    mass: float
    load: float
    beta: float
    gravity: float = 9.81

    @property
    def passing(self) -> float:
        """L/c: what a wave needs through a cable."""
        return self.length / self.bars * float(np.sqrt(self.mass / self.stiffness))

    @property
    def masses(self) -> Array:
        """(bars + 1,) of the nodes."""
        masses = np.full(self.bars + 1, self.mass * self.length / self.bars)
        masses[[0, -1]] *= 0.5
        masses[-1] += self.load
        return masses

    def pulls(self, x: Array, v: Array) -> tuple[Array, Array]:
        """Tensions (bars,), and forces (bars, 2) on the first node of each cable; x, v (bars + 1, 2)."""
        along, apart, natural = np.diff(x, axis=0), np.diff(v, axis=0), self.length / self.bars
        long = np.sqrt((along**2).sum(axis=1))
        stretch, rate = long - natural, (along * apart).sum(axis=1) / long
        tension = self.stiffness / natural * np.maximum(stretch + self.beta * rate, 0.0) * (stretch > 0.0)
        return tension, (tension / long)[:, None] * along

    def accelerations(self, x: Array, v: Array) -> Array:
        """(bars + 1, 2), x and z; that of the first node is zero."""
        pulls, force = self.pulls(x, v)[1], np.zeros_like(x)
        force[:-1] += pulls
        force[1:] -= pulls
        rates: Array = force / self.masses[:, None] - np.array([0.0, self.gravity])
        rates[0] = 0.0
        return rates


def largest_tension(chain: Chain, x: Array, end: float) -> float:
    """The largest of all cables up to t = end, from rest at x (bars + 1, 2). RuntimeError: the integrator gave up."""

    def rates(t: float, y: Array) -> Array:
        place, v = y.reshape(2, -1, 2)
        return np.concatenate((y[y.size // 2 :], chain.accelerations(place, v).ravel()))

    times = np.linspace(0.0, end, int(np.ceil(end * INTERVALS / chain.passing)) + 1)
    found = solve_ivp(rates, (0.0, end), np.append(x, np.zeros_like(x)), "RK45", times, rtol=TIGHT, atol=TIGHT)
    if not found.success:
        raise RuntimeError(found.message)
    states = found.y.T.reshape(len(times), 2, -1, 2)
    return max(float(chain.pulls(place, v)[0].max()) for place, v in states)
