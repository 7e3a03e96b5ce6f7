"""Turbulent wind, ``*WIND, TYPE=``: gusts at given places as a table over time, measured or generated as follows.

u (along the mean wind of speed U), v (across it) and w (upwards) are independent of each other. With n = f L/U the
spectra S over the frequency f, each with its own variance s^2 = (I U)^2 and length L, are

    KAIMAL       f S/s^2 = 4 n/(1 + 6 n)^(5/3)
    VON KARMAN   u: 4 n/(1 + 70.8 n^2)^(5/6),  v, w: 4 n (1 + 755.2 n^2)/(1 + 283.2 n^2)^(11/6)
    DAVENPORT    (2/3) n^2/(1 + n^2)^(4/3), L = 1200 m

Gusts of one frequency at two places have the coherence (its square root; Davenport)

    exp(-f sqrt((C_y dy)^2 + (C_z dz)^2)/U)

for distances across the wind and upwards; along the wind they travel with U unchanged (Taylor), so they lag by dx/U.

Spectral method: at f_k = k/T the gusts of all places are a_k H(f_k) exp(i phase), a_k = sqrt(2 S(f_k)/T), with the
lower triangular H H^T = coherence and independent phases, a row of them for each place; the sum over k is one FFT for
each place. H is computed at ``GRID`` frequencies; between these its rows are interpolated over log f and scaled to
length 1, so that spectra are exact. The random phases depend on the index of a place only: a place added at the end
does not change the gusts at the others. The table repeats itself after T.
Sources: Shinozuka & Deodatis, Appl. Mech. Rev. 44 (1991) 191; IEC 61400-1 (2005), annex B; Davenport, Q. J. R. Met.
Soc. 87 (1961) 194; ESDU 85020; decays: Simiu & Scanlan, Wind Effects on Structures (1996), 2.4.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from fem.arrays import Floats, frozen
from fem.errors import ModelError
from fem.model.surroundings import split_mix

SPECTRA = ("KAIMAL", "VON KARMAN", "DAVENPORT")
GRID = 96
FINER = 8
"""Samples in a period of the highest frequency."""
MOST_BYTES = 1_000_000_000
ALIKE = 1e-10
"""Subtracted from the coherence of different places, so that H exists for two places with the same coordinates."""


@frozen
class Gusts:
    """intensity, length (3,): I and L of u, v, w;  decay: C_y, C_z;  duration T, cutoff: highest frequency;
    ramp: time in which gusts rise, as (1 - cos)/2."""

    spectrum: str
    seed: int
    duration: float
    cutoff: float
    intensity: tuple[float, float, float]
    length: tuple[float, float, float]
    decay: tuple[float, float] = (16.0, 10.0)
    ramp: float = 0.0

    @property
    def frequencies(self) -> Floats:
        """(m,) f_k."""
        return np.arange(1, int(self.cutoff * self.duration * (1.0 + 1e-12)) + 1) / self.duration

    def density(self, component: int, f: Floats, speed: float) -> Floats:
        """Spectral density S of u, v or w (component 0, 1, 2) at frequencies f."""
        size = (self.intensity[component] * speed) ** 2
        if size == 0.0:
            return np.zeros_like(f)
        n = f * self.length[component] / speed
        if self.spectrum == "KAIMAL":
            shape = 4.0 * n / (1.0 + 6.0 * n) ** (5.0 / 3.0)
        elif self.spectrum == "DAVENPORT":
            shape = 2.0 / 3.0 * n**2 / (1.0 + n**2) ** (4.0 / 3.0)
        elif component == 0:
            shape = 4.0 * n / (1.0 + 70.8 * n**2) ** (5.0 / 6.0)
        else:
            shape = 4.0 * n * (1.0 + 755.2 * n**2) / (1.0 + 283.2 * n**2) ** (11.0 / 6.0)
        return np.asarray(size * shape / f)

    def coherence(self, f: float, places: Floats, speed: float) -> Floats:
        """(p, p) coherence of places (p, 3), whose coordinates are along the wind, across it and upwards."""
        way = np.hypot(*(self.decay[k] * (places[:, None, 1 + k] - places[None, :, 1 + k]) for k in range(2)))
        return np.asarray(np.exp(-f * way / speed))

    def shares(self, speed: float) -> list[float]:
        """Variance of the table divided by s^2, for each component that has gusts."""
        f = self.frequencies
        variances = (self.density(k, f, speed).sum() / self.duration for k in range(3))
        return [float(found / (i * speed) ** 2) for found, i in zip(variances, self.intensity, strict=True) if i > 0.0]

    def bytes(self, places: int) -> int:
        """Memory of the table in bytes, with the work arrays that are about as large again."""
        return 8 * 3 * places * FINER * len(self.frequencies)

    def table(self, speed: float, places: Floats) -> Floats:
        """(p, 8 m, 3) gusts u, v, w over one duration. Raises ModelError if the table is too large."""
        return _table(self, speed, places.tobytes())


@lru_cache(maxsize=1)
def _table(gusts: Gusts, speed: float, rows: bytes) -> Floats:
    """The table of gusts; the last one is cached, because the model is assembled again when bars break."""
    places = np.frombuffer(rows).reshape(-1, 3)
    f, count = gusts.frequencies, len(places)
    check_size(gusts.bytes(count), count, "reduce DURATION, CUTOFF or the mesh")
    chance = split_mix(gusts.seed, 3 * count * len(f)).reshape(count, 3, len(f))
    waves = np.exp(2j * np.pi * chance)
    grid = np.unique(np.geomspace(1, len(f), min(GRID, len(f))).round().astype(int)) - 1
    after = _rows(gusts, f[grid[0]], places, speed)
    waves[:, :, 0] = after @ waves[:, :, 0]
    for first, last in pairwise(grid):
        before, after = after, _rows(gusts, f[last], places, speed)
        for k in range(first + 1, last + 1):
            part = np.log(f[k] / f[first]) / np.log(f[last] / f[first])
            mixed = (1.0 - part) * before + part * after
            mixed /= np.linalg.norm(mixed, axis=1)[:, None]
            waves[:, :, k] = mixed @ waves[:, :, k]
    size = FINER * len(f)
    waves *= np.exp(-2j * np.pi * places[:, :1] * f / speed)[:, None]
    for component in range(3):
        waves[:, component] *= 0.5 * size * np.sqrt(2.0 * gusts.density(component, f, speed) / gusts.duration)
    whole = np.zeros((count, 3, size // 2 + 1), complex)
    whole[:, :, 1 : len(f) + 1] = waves
    return np.ascontiguousarray(np.fft.irfft(whole, size, axis=2).swapaxes(1, 2))


def _rows(gusts: Gusts, f: float, places: Floats, speed: float) -> Floats:
    """(p, p) H."""
    alike = (1.0 - ALIKE) * gusts.coherence(f, places, speed)
    np.fill_diagonal(alike, 1.0)
    return np.asarray(np.linalg.cholesky(alike))


@frozen
class Velocities:
    """A wind that was measured: velocities (q, k, 3) along i and j of the wind and upwards, dt apart from time 0 on, at
    places (q, 3) on a straight line, (1, 3): everywhere; ramp: time in which it takes the place of the mean wind."""

    velocities: Floats
    dt: float
    places: Floats
    ramp: float = 0.0

    @property
    def duration(self) -> float:
        return self.dt * len(self.velocities[0])

    @property
    def along(self) -> Floats:
        """(q,) positions of the places along their line: 0 at the first, 1 at the last one."""
        way = self.places[-1] - self.places[0]
        return np.asarray((self.places - self.places[0]) @ way / max(float(way @ way), 1e-300))

    def table(self, places: Floats) -> Floats:
        """(p, k, 3) at other places: interpolated linearly along the line, constant beyond its ends."""
        along, way = self.along, self.places[-1] - self.places[0]
        check_size(8 * 3 * len(places) * self.velocities.shape[1], len(places), "use fewer samples or nodes")
        if len(along) == 1:
            return np.repeat(self.velocities, len(places), axis=0)
        at = np.clip((places - self.places[0]) @ way / (way @ way), 0.0, 1.0)
        k = np.clip(np.searchsorted(along, at, side="right") - 1, 0, len(along) - 2)
        part = ((at - along[k]) / (along[k + 1] - along[k]))[:, None, None]
        return np.asarray((1.0 - part) * self.velocities[k] + part * self.velocities[k + 1])


def gusts_at(wind: Any, up: int, places: Floats, level: float) -> Floats:
    """(p, k, 3) velocities beside the mean wind at places (p, 3); up: the axis against gravity; level: still water."""
    mean = wind.vectors(up).sum(axis=0)
    speed = float(np.linalg.norm(mean))
    axes = np.zeros((3, 3))
    axes[2, up] = 1.0
    if isinstance(wind.gusts, Velocities):
        axes[:2] = replace(wind, speeds=(1.0, 1.0)).vectors(up)
        share = (np.maximum(places[:, up] - level, 0.0) / wind.reference) ** wind.power
        return np.ascontiguousarray(wind.gusts.table(places) @ axes - share[:, None, None] * mean)
    axes[0] = mean / speed
    axes[1] = np.cross(axes[2], axes[0])
    return np.ascontiguousarray(wind.gusts.table(speed, np.ascontiguousarray(places @ axes.T)) @ axes)


def check_size(size: int, count: int, hint: str) -> None:
    """Raises ModelError if a table is too large."""
    if size > MOST_BYTES:
        raise ModelError(f"*WIND: {size / 1e9:.3g} GB of gusts at {count} nodes are too many: {hint}")
