"""W6, W7 and ``many``: mooring lines with driven fairleads, in a current, in waves. Nothing here needs ``fem``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

GRAVITY, WATER = 9.80665, 1025.0


@dataclass(frozen=True, slots=True)
class Chain:
    """Numbers of a section: m, kg/m, N; drag and added mass on the volume diameter."""

    diameter: float
    mass: float
    stiffness: float
    drag: float
    drag_along: float
    added: float
    added_along: float = 0.0


STUDLESS = Chain(0.216, 286.56, 1.2298e9, 1.333, 0.639, 1.0)
"""Studless chain of 120 mm: 19.9e3 d^2 kg/m, 0.854e11 d^2 N, volume diameter 1.8 d; drag of 2.4 d across and 1.15 d
along (MoorPy's MoorProps_default, DNV-OS-E301)."""
VOLTURN = Chain(0.333, 685.0, 3.27e9, 1.333, 0.639, 0.82)
"""Chain of 185 mm of the VolturnUS-S reference platform (NREL/TP-5000-76773, table 6)."""


@dataclass(frozen=True, slots=True)
class LineJob:
    """One piece of work.

    anchors   (l, 3) on the bottom; fairleads at rest (l, 3)
    motion    amplitude and period of surge, sway, heave of all fairleads
    bed       stiffness per area and depth, damping per area and speed
    sea       Hs, Tp, gamma, seed and number of regular waves, along x; None: there are no waves
    """

    name: str
    chain: Chain
    anchors: tuple[tuple[float, float, float], ...]
    rest: tuple[tuple[float, float, float], ...]
    length: float
    bars: int
    depth: float
    current: tuple[float, float, float]
    motion: tuple[tuple[float, float], ...]
    dt: float
    increments: int
    bed: tuple[float, float] = (3e6, 3e4)
    sea: tuple[float, float, float, int, int] | None = None

    def fairleads(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(l, 3) place, velocity and acceleration at t; the motion begins over one period of surge."""
        amplitude, period = np.array(self.motion).T
        w, ramp = 2.0 * np.pi / np.where(period > 0.0, period, 1.0), period[0]
        share, rate, curve = 1.0, 0.0, 0.0
        if t < ramp:
            p = np.pi / ramp
            share, rate, curve = 0.5 - 0.5 * np.cos(p * t), 0.5 * p * np.sin(p * t), 0.5 * p * p * np.cos(p * t)
        s, c = np.sin(w * t), np.cos(w * t)
        u = amplitude * share * s
        v = amplitude * (rate * s + share * w * c)
        a = amplitude * (curve * s + 2.0 * rate * w * c - share * w * w * s)
        rest = np.array(self.rest)
        return rest + u, np.broadcast_to(v, rest.shape).copy(), np.broadcast_to(a, rest.shape).copy()


class Heaving(LineJob):
    """Lines whose fairleads heave by amplitude (cos(w t) - 1): with a wave, whose crest is there at the start."""

    __slots__ = ()

    def fairleads(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        amplitude, period = self.motion[2]
        w = 2.0 * np.pi / period
        s, c = np.sin(w * t), np.cos(w * t)
        u, v, a = amplitude * np.array([[c - 1.0], [-w * s], [-w * w * c]]) * np.array([0.0, 0.0, 1.0])
        rest = np.array(self.rest)
        return rest + u, np.broadcast_to(v, rest.shape).copy(), np.broadcast_to(a, rest.shape).copy()


def single(bars: int, dt: float = 0.1, seconds: float = 600.0) -> LineJob:
    """One chain in 200 m of water and a current, 600 s."""
    return LineJob(
        f"W6 line {bars}", STUDLESS, ((-780.0, 0.0, -200.0),), ((0.0, 0.0, -10.0),), 850.0, bars, 200.0,
        (0.6, 0.4, 0.0), ((4.0, 20.0), (2.0, 14.0), (1.5, 10.0)), dt, round(seconds / dt),
    )  # fmt: skip


def platform(bars: int, dt: float = 0.1, seconds: float = 3600.0) -> LineJob:
    """The three lines of VolturnUS-S, surge and heave, one hour."""
    turns = np.radians([180.0, 60.0, -60.0])
    ways = list(zip(np.cos(turns).tolist(), np.sin(turns).tolist(), strict=True))
    anchors = tuple((837.6 * c, 837.6 * s, -200.0) for c, s in ways)
    rest = tuple((58.0 * c, 58.0 * s, -14.0) for c, s in ways)
    return LineJob(
        f"W6 platform {bars}", VOLTURN, anchors, rest, 850.0, bars, 200.0, (0.0, 0.0, 0.0),
        ((5.0, 90.0), (0.0, 0.0), (2.0, 12.0)), dt, round(seconds / dt),
    )  # fmt: skip


def at_sea(bars: int, dt: float = 0.1, seconds: float = 3600.0) -> LineJob:
    """The same three lines and motion, in an irregular sea that acts on them."""
    return replace(platform(bars, dt, seconds), name=f"W7 sea {bars}", sea=(6.0, 11.0, 3.3, 1, 200))


def heaving(height: float, period: float) -> LineJob:
    """The line of W6 with 20 bars for one minute, its fairlead moving with a wave of this height and period."""
    job = replace(single(20, seconds=60.0), name="many", motion=((0.0, 0.0), (0.0, 0.0), (0.5 * height, period)))
    return Heaving(*(getattr(job, each.name) for each in fields(job)))


def line_job(word: str) -> LineJob:
    """``line:20:0.1:600``, ``platform:50:0.1:3600`` or ``sea:50:0.1:3600``: bars of a line, increment and seconds."""
    kind, bars, dt, seconds = word.split(":")
    return {"line": single, "platform": platform, "sea": at_sea}[kind](int(bars), float(dt), float(seconds))
