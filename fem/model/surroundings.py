"""Water, wind and seabed around a model, and the loads on bars from them. Heights are along the axis against gravity.

Waves: ``*WAVE``, the regular waves that it consists of, and the motion of the water in them.

All are of first order (Airy). With z from the still level up, the depth h, time t and, for a direction b,
theta = k (x cos b + y sin b) - omega t + phi, where omega^2 = g k tanh kh:

    eta = a cos theta
    u = a omega cosh k(z+h)/sinh kh cos theta  along b,   w = a omega sinh k(z+h)/sinh kh sin theta  upwards

Accelerations are their derivatives by time at a place. Written with exponentials of negative numbers nothing overflows,
however deep the water is. Above the still level z is stretched (``stretched``); above eta there is no water.
Sources: Dean & Dalrymple, Water Wave Mechanics for Engineers and Scientists, 1991, ch. 3; Wheeler, J. Pet. Tech. 22
(1970) 359; Hasselmann et al., Dt. Hydrogr. Z. A8 (1973) 12 (JONSWAP); Steele, Lea & Flood, OOPSLA 2014 (SplitMix64).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats, frozen
from fem.model.bathymetry import DepthGrid

Rows = tuple[tuple[float, float], ...]


@frozen
class Water:
    """``*AQUA``. current: rows (vx, vy, vz, elevation), elevation rising; linear between them, constant outside.
    amplitude  of the current in total time, for loads that have none of their own, and for what is printed"""

    seabed: float
    level: float
    gravity: float
    density: float
    current: tuple[tuple[float, float, float, float], ...] = ()
    amplitude: str | None = None


@frozen
class Wind:
    """``*WIND``: (speeds[0] A_x i + speeds[1] A_y j) (height above the still level / reference)^power.

    i = (direction[0], direction[1], 0), j = up x i; A_x and A_y: amplitudes of the load, 1 without; gusts: what is
    added at each node (``model/gusts.py``)
    """

    density: float
    reference: float
    speeds: tuple[float, float] = (1.0, 1.0)
    direction: tuple[float, float] = (1.0, 0.0)
    power: float = 1.0 / 7.0
    gusts: Any = None

    def vectors(self, up: int) -> Floats:
        """(2, 3) speeds along i and j at the reference height; of plane models (y is up) z of i is -direction[1]."""
        first, second = self.direction
        level = np.array([[first, second], [-second, first]]) * np.array(self.speeds)[:, None]
        found = np.zeros((2, 3))
        found[:, 0], found[:, 3 - up] = level[:, 0], level[:, 1] * (1.0 if up == 2 else -1.0)
        return found


@frozen
class DragLaw:
    """``*DRAG LAW``: rows (speed, force per length), speed rising from (0, 0), which is the first; beyond the last its
    slope goes on. By angle: rows (angle [degrees], C_D, C_L), angle rising by less than a turn, which it goes round."""

    name: str
    rows: tuple[tuple[float, ...], ...]
    is_by_angle: bool = False

    @property
    def radians(self) -> Floats:
        """(k, 3) rows with angles in radians; for a law by speed the third column is zero."""
        rows = np.array(self.rows)
        if self.is_by_angle:
            return np.column_stack([np.radians(rows[:, 0]), rows[:, 1:]])
        return np.column_stack([rows, np.zeros(len(rows))])

    def at(self, degrees: float) -> tuple[float, float]:
        """Of a law by angle: C_D, and dC_L/dalpha per radian on the side of increasing angle."""
        turn = 2.0 * np.pi
        angle, drag, lift = np.vstack([self.radians, self.radians[0] + [turn, 0.0, 0.0]]).T
        here = angle[0] + (np.radians(degrees) - angle[0]) % turn
        k = min(int(np.searchsorted(angle, here, side="right")), len(angle) - 1) - 1
        return float(np.interp(here, angle, drag)), float((lift[k + 1] - lift[k]) / (angle[k + 1] - angle[k]))


@frozen
class MarineGrowth:
    """``*MARINE GROWTH`` on bars of a diameter: rows (elevation, thickness, density), elevation rising; linear between
    them, constant outside."""

    element_set: str
    diameter: float
    rows: tuple[tuple[float, float, float], ...]

    def at(self, height: Any) -> tuple[Any, Any]:
        """Thickness at a height (or at several), and mass per length."""
        elevation, layer, density = np.array(self.rows).T
        thickness = np.interp(height, elevation, layer)
        outer = self.diameter + 2.0 * thickness
        return thickness, 0.25 * np.pi * np.interp(height, elevation, density) * (outer**2 - self.diameter**2)


@frozen
class VortexLift:
    """``*VIV``: lift of vortices on the bars of a set, in the current of ``*AQUA`` and dynamic steps.
    coefficient  C of the lift;  centre, band  c, b: frequencies that it follows, over s/D (``forces/vortices.py``)"""

    element_set: str
    diameter: float
    coefficient: float
    centre: float = 0.18
    band: float = 0.08


@frozen
class FluidLoad:
    """``*DLOAD`` FDD, FDT, FI, PB (water), WDD, FLD (wind); ``ADDED MASS`` (``*D ADDED MASS`` of a ``*FREQUENCY``).

    target      element set or label
    magnitude   M, scaled by ``amplitude`` and ramps
    diameter    D
    coefficient Cd, Ct or C_M; the name of a drag law in its place
    follows     alpha_R: factor of the velocity of the bar in the relative velocity
    exponent    h of FDT;  angle  of the ice of FLD [degrees]
    added       C_A;  added_along: C_At, None: no inertia force along the bar
    streams     amplitudes of the current and of waves (A_c, A_w), of the wind (A_x, A_y)
    is_current  per current length, not per unstressed length
    """

    target: str | int
    kind: str
    magnitude: float
    diameter: float
    coefficient: float | str = 0.0
    follows: float = 1.0
    exponent: float = 2.0
    added: float = 0.0
    added_along: float | None = None
    streams: tuple[str | None, str | None] = (None, None)
    amplitude: str | None = None
    is_current: bool = False
    angle: float = 0.0


@frozen
class Seabed:
    """``*SEABED``: a plane bottom, or a grid, that pushes back the nodes of the bars of a set (None: of all bars).

    elevation  of the plane at x = y = 0;  slope, uphill  [degrees] how steeply, and where to from +x, it rises
    stiffness  K, force over area and depth;  damping  C, force over area and speed, of what sinks in
    width      D, times half of the lengths of its bars the area of a node;  ramp  depth at which C is fully active
    axial, lateral  coefficients of friction along the line and across it;  slip  displacement at full friction
    rubs_in_statics  friction acts in static steps, too
    grid       in place of elevation and slope
    """

    element_set: str | None
    elevation: float
    stiffness: float
    width: float
    damping: float = 0.0
    ramp: float = 0.0
    axial: float = 0.0
    lateral: float = 0.0
    slip: float = 0.0
    slope: float = 0.0
    uphill: float = 0.0
    rubs_in_statics: bool = False
    grid: DepthGrid | None = None
    radius: ClassVar[float] = 0.0
    axis: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.0)

    @property
    def points(self) -> int:
        """Of its grid; 0 for a plane."""
        return 0 if self.grid is None else self.grid.z.size

    def normal(self, up: int) -> Floats:
        """(3,) unit normal away from the plane; up: the axis against gravity."""
        steep, towards = np.radians(self.slope), np.radians(self.uphill)
        normal = np.array([-np.sin(steep) * np.cos(towards), -np.sin(steep) * np.sin(towards), 0.0])
        normal[up] = np.cos(steep)
        return normal

    def depth(self, places: Floats, up: int) -> Floats:
        """(n,) normal distances of points (n, 3) below the bottom."""
        if self.grid is not None:
            return self.grid.depth(places)[0]
        foot = np.zeros(3)
        foot[up] = self.elevation
        return np.asarray((foot - places) @ self.normal(up))

    def towards(self, places: Floats, up: int) -> Floats:
        """(n, 3) unit normals of the plane at points (n, 3); above a grid, the points."""
        if self.grid is not None:
            return places
        return np.tile(self.normal(up), (len(places), 1))


@frozen
class RigidCylinder:
    """``*RIGID CYLINDER``: infinite, about an axis through two points. Other fields as in ``Seabed``."""

    element_set: str | None
    point: tuple[float, float, float]
    other: tuple[float, float, float]
    radius: float
    stiffness: float
    width: float
    damping: float = 0.0
    ramp: float = 0.0
    axial: float = 0.0
    lateral: float = 0.0
    slip: float = 0.0
    rubs_in_statics: bool = False

    @property
    def axis(self) -> Floats:
        """(3,) unit vector along the axis."""
        way = np.array(self.other) - np.array(self.point)
        return np.asarray(way / np.linalg.norm(way))

    def depth(self, places: Floats, up: int) -> Floats:
        """(n,) depths of points (n, 3) inside the surface."""
        return np.asarray(self.radius - np.linalg.norm(np.cross(self.towards(places, up), self.axis), axis=1))

    def towards(self, places: Floats, up: int) -> Floats:
        """(n, 3) vectors from the nearest points of the axis to points (n, 3)."""
        return np.asarray(places - np.array(self.point))


def current_at(water: Water, height: Floats, eta: Floats | float = 0.0) -> Floats:
    """(..., 3) velocity of the current at a height; zero above the surface, which is eta above the still level."""
    rows = np.array(water.current or [(0.0, 0.0, 0.0, 0.0)])
    found = np.stack([np.interp(height, rows[:, 3], rows[:, axis]) for axis in range(3)], axis=-1)
    return np.where((np.asarray(height) <= water.level + eta)[..., None], found, 0.0)


VERTICAL, WHEELER, NONE = "VERTICAL", "WHEELER", "NONE"
STRETCHINGS = (VERTICAL, WHEELER, NONE)
COMPONENTS = ("omega", "k", "amplitude", "phase", "direction")
"""Of each regular wave; phase and direction (from +x) in radians."""
WIDTHS = 0.07, 0.09
"""Widths of the peak of a JONSWAP spectrum, below its frequency and above."""
POINTS = 24
"""Gauss points in each bin of a spectrum."""
MOST_PASSES = 50
MOST_SEAS = 64
"""Seas whose regular waves are kept: sweeps have one for each row."""
FEW = 10
"""Up to this number of regular waves all crests may well coincide, and each wave is reported."""


@frozen
class Airy:
    """``*WAVE, TYPE=AIRY``: rows (amplitude, length or period, phase [degrees], cos b, sin b); also what TABLE and
    ELEVATION give.

    ramp   time in which they rise, as (1 - cos)/2, from the first dynamic step on in which they act
    place  (x, y) where they have these phases
    """

    rows: tuple[tuple[float, float, float, float, float], ...]
    is_period: bool = False
    ramp: float = 0.0
    stretching: str = VERTICAL
    place: tuple[float, float] = (0.0, 0.0)

    @property
    def is_sea(self) -> bool:
        """Whether there are so many waves that their crests never coincide."""
        return len(self.rows) > FEW

    def components(self, water: Water) -> Floats:
        """(c, 5) regular waves, columns as in ``COMPONENTS``."""
        amplitude, size, phase, x, y = np.array(self.rows).T
        depth = water.level - water.seabed
        if self.is_period:
            omega = 2.0 * np.pi / size
            k = wave_numbers(omega, water.gravity, depth)
        else:
            k = 2.0 * np.pi / size
            omega = np.sqrt(water.gravity * k * np.tanh(k * depth))
        b, phase = np.arctan2(y, x), np.radians(phase)
        if any(self.place):
            phase = phase - k * (np.cos(b) * self.place[0] + np.sin(b) * self.place[1])
        return np.column_stack([omega, k, amplitude, phase, b])


FINE_BINS = 2001
WHOLE = 0.2, 1e4
"""Range of frequency over peak frequency that contains the moments m0 and m2 of the spectrum."""


@frozen
class Jonswap:
    """``*WAVE, TYPE=JONSWAP``: a sea of significant height Hs and peak period Tp, all in one direction.

    gamma   peak enhancement;  seed  of jitters and phases;  count  of its regular waves
    low, high  their circular frequencies over that of the peak
    """

    height: float
    period: float
    seed: int
    count: int = 200
    gamma: float = 3.3
    direction: tuple[float, float] = (1.0, 0.0)
    low: float = 0.5
    high: float = 4.0
    ramp: float = 0.0
    stretching: str = VERTICAL
    is_sea: ClassVar[bool] = True

    def components(self, water: Water) -> Floats:
        """(c, 5) regular waves as in ``COMPONENTS``: one in each of ``count`` bins of equal width, with its energy.
        The frequency within the bin is random, so that the sea does not repeat itself after 2 pi over the width."""
        edges = 2.0 * np.pi / self.period * np.linspace(self.low, self.high, self.count + 1)
        chance = split_mix(self.seed, 2 * self.count)
        omega = edges[:-1] + chance[: self.count] * np.diff(edges)
        energy = self.energies(edges)
        amplitude = np.sqrt(2.0 * energy / energy.sum() * self.height**2 / 16.0)
        k = wave_numbers(omega, water.gravity, water.level - water.seabed)
        b = np.full(self.count, np.arctan2(self.direction[1], self.direction[0]))
        return np.column_stack([omega, k, amplitude, 2.0 * np.pi * chance[self.count :], b])

    def energies(self, edges: Floats) -> Floats:
        """(c,) integrals of the spectrum over bins with edges (c+1,), up to a common factor; Gauss quadrature on each
        side of the peak, where the second derivative jumps."""
        peak = 2.0 * np.pi / self.period
        cuts = np.unique(np.append(edges, np.clip(peak, edges[0], edges[-1])))
        points, weights = gauss_points()
        half = 0.5 * np.diff(cuts)[:, None]
        ratio = (cuts[:-1, None] + half * (1.0 + points)) / peak
        bell = np.exp(-0.5 * ((ratio - 1.0) / np.where(ratio <= 1.0, *WIDTHS)) ** 2)
        found = (half * ratio**-5.0 * np.exp(-1.25 * ratio**-4.0) * self.gamma**bell) @ weights
        own = np.searchsorted(edges, cuts[:-1], side="right") - 1
        return np.asarray(np.bincount(own, found, len(edges) - 1), float)

    def crossing_period(self, low: float, high: float) -> float:
        """Tz = 2 pi sqrt(m0/m2) of the part between two circular frequencies, both divided by that of the peak."""
        edges = 2.0 * np.pi / self.period * np.geomspace(low, high, FINE_BINS)
        energy = self.energies(edges)
        return float(2.0 * np.pi * np.sqrt(energy.sum() / (energy @ (edges[1:] * edges[:-1]))))


@cache
def gauss_points() -> tuple[Floats, Floats]:
    """Points in [-1, 1], and weights."""
    return np.polynomial.legendre.leggauss(POINTS)


def split_mix(seed: int, count: int) -> Floats:
    """(count,) numbers in [0, 1) of SplitMix64, the same on every machine."""
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(((z ^ z >> np.uint64(31)) >> np.uint64(11)) / 2.0**53)


STEEPEST = 0.142
"""Height over length at which waves break in deep water (Miche, Ann. Ponts Chauss. 114, 1944); elsewhere times tanh kd.
"""


def breaking(wave: Airy | Jonswap, water: Water) -> str:
    """What breaks of a few regular waves; empty where nothing does."""
    if wave.is_sea:
        return ""
    depth = water.level - water.seabed
    for _, k, amplitude, *_ in components_of((wave,), water).tolist():
        height, length, limit = 2.0 * abs(amplitude), 2.0 * np.pi / k, STEEPEST * np.tanh(k * depth)
        if height / length > limit:
            return (
                f"*WAVE: a wave with the amplitude {abs(amplitude):.4g} and the length {length:.4g} would break: "
                f"height over length is {height / length:.3g} and can be {limit:.3g} (AIRY takes half the height, and "
                "the length, or the period with WAVE PERIOD)"
            )
    return ""


def wave_numbers(omega: Floats, gravity: float, depth: float) -> Floats:
    """(c,) k > 0 of omega^2 = g k tanh kh, by Newton's method for x tanh x = y from Eckart's guess, to round-off."""
    y = omega**2 * depth / gravity
    x = y / np.sqrt(np.tanh(y))
    for _ in range(MOST_PASSES):
        t = np.tanh(x)
        step = (x * t - y) / (t + x * (1.0 - t * t))
        x = x - step
        if np.all(np.abs(step) <= 1e-15 * x):
            break
    assert np.all(np.abs(x * np.tanh(x) - y) <= 1e-14 * y)
    return np.asarray(x / depth)


@lru_cache(MOST_SEAS)
def components_of(waves: tuple[Airy | Jonswap, ...], water: Water | None) -> Floats:
    """(c, 6) regular waves of all cards: ``COMPONENTS`` and the ramp of each."""
    parts = [np.zeros((0, 6))]
    for each in waves:
        assert water is not None
        own = each.components(water)
        parts.append(np.column_stack([own, np.full(len(own), each.ramp)]))
    return np.concatenate(parts)


def stretched(z: Floats, eta: Floats, depth: float, how: str) -> Floats:
    """Height at which the formulas are evaluated for a point at z: z itself below the still level; above it that level
    (VERTICAL, NONE); with WHEELER the height that divides the depth as z divides the depth below eta."""
    height = (z - eta) * depth / (depth + eta) if how == WHEELER else z
    return np.clip(height, -depth, 0.0)


def water_at(
    waves: tuple[Airy | Jonswap, ...], water: Water, up: int, places: Floats, time: Floats | float,
    stream: Floats | float = 1.0, since: float = 0.0,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Elevation (...) of the surface, velocity and acceleration (..., 3) of the water at places (..., p, 3).
    time (...): total time; stream (...): factor of the current, which is part of the velocity, without amplitudes of
    loads; since: total time at which ramps begin. Above the surface all are zero."""
    depth, side = water.level - water.seabed, 1.0 if up == 2 else -1.0
    x, y, z = places[..., 0], side * places[..., 3 - up], places[..., up] - water.level
    sea, how = components_of(waves, water), waves[0].stretching if waves else VERTICAL
    now = np.asarray(time, float)[..., None]
    eta, velocity, acceleration = np.zeros_like(x), np.zeros_like(places), np.zeros_like(places)
    for theta, grown, _, (_, _, amplitude, _, _, _) in trains(sea, x, y, now, since):
        eta += amplitude * grown * np.cos(theta)
    height, moves = stretched(z, eta, depth, how), (z <= eta) & ((z <= 0.0) | (how != NONE))
    for theta, grown, rate, (omega, k, amplitude, _, b, _) in trains(sea, x, y, now, since):
        size = moves * amplitude * omega / -np.expm1(-2.0 * k * depth)
        top, bottom = np.exp(k * height), np.exp(-k * (height + 2.0 * depth))
        for axis, part in ((0, np.cos(b)), (3 - up, side * np.sin(b))):
            along = part * size * (top + bottom)
            velocity[..., axis] += along * grown * np.cos(theta)
            acceleration[..., axis] += along * (grown * omega * np.sin(theta) + rate * np.cos(theta))
        upwards = size * (top - bottom)
        velocity[..., up] += upwards * grown * np.sin(theta)
        acceleration[..., up] += upwards * (rate * np.sin(theta) - grown * omega * np.cos(theta))
    current = np.asarray(stream)[..., None, None] * current_at(water, places[..., up], eta)
    return eta, velocity + current, acceleration


def trains(sea: Floats, x: Floats, y: Floats, now: Floats, since: float) -> Iterator[tuple[Floats, Any, Any, Floats]]:
    """For each regular wave: theta, the factor of its ramp, the rate of that, and its row of ``components_of``."""
    for row in sea:
        omega, k, _, phase, b, ramp = row
        grown, rate = 1.0, 0.0
        if ramp:
            part = np.pi * np.clip((now - since) / ramp, 0.0, 1.0)
            grown, rate = 0.5 * (1.0 - np.cos(part)), 0.5 * np.pi / ramp * np.sin(part)
        yield k * (np.cos(b) * x + np.sin(b) * y) - omega * now + phase, grown, rate, row
