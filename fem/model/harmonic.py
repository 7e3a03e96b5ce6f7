"""Procedures of small motions about the current state: natural modes, harmonic motion."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

import numpy as np

from fem.arrays import Floats, frozen


@frozen
class Perturbation:
    """Small motions about the current state, which stays as it is: they take no time."""

    period: ClassVar[float] = 0.0


@frozen
class Frequency(Perturbation):
    """``*FREQUENCY``: number of modes about the current state."""

    modes: int


@frozen
class FrequencyRange:
    """Frequencies from ``lower`` to ``upper`` [cycles/time], both among the ``points``; bias > 1: dense at the ends."""

    lower: float
    upper: float
    points: int = 20
    bias: float = 1.0

    def frequencies(self, is_linear: bool, between: Collection[float] = ()) -> Floats:
        """Rising; ``points`` from the lower one to the first of ``between``, from that to the next one, and so on.

        Source: Abaqus Analysis Guide, Direct-solution and Mode-based steady-state dynamic analysis.
        """
        if self.upper == self.lower:
            return np.array([self.lower])
        ends = np.array([self.lower, *sorted(each for each in between if self.lower < each < self.upper), self.upper])
        low, high = (part if is_linear else np.log(part) for part in (ends[:-1, None], ends[1:, None]))
        way = np.linspace(-1.0, 1.0, self.points)
        place = 0.5 * (low + high) + 0.5 * (high - low) * np.sign(way) * np.abs(way) ** (1.0 / self.bias)
        found = place if is_linear else np.exp(place)
        found[:, 0], found[:, -1] = ends[:-1], ends[1:]
        return np.unique(found)


@frozen
class ModalDamping:
    """Of modes ``first`` to ``last``: a fraction of critical damping, and that of alpha M + beta K."""

    first: int
    last: int
    fraction: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0


@frozen
class SteadyState(Perturbation):
    """``*STEADY STATE DYNAMICS``: harmonic motion about the current state.

    is_linear        frequencies are spaced linearly, not by their logarithms
    modes            superposed are so many, those of the ``*FREQUENCY`` step before; 0: DIRECT, all dofs
    parted           natural frequencies part the ranges (INTERVAL=EIGENFREQUENCY)
    """

    ranges: tuple[FrequencyRange, ...]
    is_linear: bool = False
    modes: int = 0
    parted: bool = False
    damping: tuple[ModalDamping, ...] = ()

    def frequencies(self, natural: Collection[float] = ()) -> Floats:
        """(f,) those of all ranges, rising, each once; natural: natural frequencies, where they part ranges."""
        between = natural if self.parted else ()
        return np.unique(np.concatenate([each.frequencies(self.is_linear, between) for each in self.ranges]))

    def damping_rates(self, omega: Floats) -> Floats:
        """2 zeta omega [1/time] of modes 1, 2, ... with natural frequencies (m,) [radians/time]."""
        rates = np.zeros_like(omega)
        for each in self.damping:
            mine = slice(each.first - 1, each.last)
            rates[mine] += 2.0 * each.fraction * omega[mine] + each.alpha + each.beta * omega[mine] ** 2
        return rates
