"""Amplitudes: functions of total time that loads, supports and temperatures follow, with derivatives and integrals.

An amplitude is a piecewise polynomial (TABULAR, SMOOTH STEP, SPLINE), a Fourier series (PERIODIC), a wave of changing
frequency (SWEEP), or set by a program during the run (USER, ``Live``). ``order`` 0 is the value, 1 and 2 its
derivatives, -1 and -2 its integrals from ``since`` (SWEEP has none). At a break the derivative is that of the segment
before (end of an increment) unless ``after`` is set (its start); so it is at the start time of a PERIODIC one, and at
both ends of a SWEEP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, frozen
from fem.errors import ModelError


@frozen
class Amplitude:
    """A function of time.

    definition  ``TABULAR`` (also EQUALLY SPACED once read), ``SMOOTH STEP``, ``SPLINE``, ``PERIODIC``, ``SWEEP`` or
                ``USER``, whose only point is its first value
    time        ``STEP TIME`` or ``TOTAL TIME``
    points      (n, 2) of t and value, t rising: TABULAR linear, SMOOTH STEP with Abaqus' quintic between two points,
                SPLINE with cubics that make one curve of two derivatives (not-a-knot ends);
                constant before the first and after the last
    PERIODIC    value = a0 for t < t0, else a0 + sum_n [A_n cos(n omega (t - t0)) + B_n sin(n omega (t - t0))]
                with ``fourier`` = ((A_1, B_1), ...)
    SWEEP       the same with one term, whose phase has the derivative omega at t0 and omega_end from t0 + duration on;
                between them it changes linearly, or in proportion to itself (``is_logarithmic``)
    """

    name: str
    definition: str = "TABULAR"
    time: str = "STEP TIME"
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    omega: float = 0.0
    start: float = 0.0
    mean: float = 0.0
    fourier: tuple[tuple[float, float], ...] = ()
    omega_end: float = 0.0
    duration: float = 0.0
    is_logarithmic: bool = False
    _pieces: dict[int, tuple[Floats, Floats]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Converts ``points`` that were given as pairs."""
        points = np.array(self.points, dtype=np.float64).reshape(-1, 2)
        points.flags.writeable = False
        object.__setattr__(self, "points", points)

    def __hash__(self) -> int:
        """Hash of the short fields only: measured motions have 100,000 points, and are looked up in every chunk."""
        last = self.points[-1:].tobytes()
        return hash((self.name, self.definition, self.time, len(self.points), last, self.fourier))


class Table(NamedTuple):
    """A curve as numbers: polynomials piece by piece, and a Fourier series.

    breaks (n,) in its own time, which is total time less ``origin``;  coefficients (n + 1, d) before, between and after
    them, counted from the break before (the first from the first)
    fourier (t, 2): cosines and sines of 1, 2, ... times ``omega``, from ``start`` on
    """

    breaks: Floats
    coefficients: Floats
    origin: float = 0.0
    start: float = 0.0
    omega: float = 0.0
    fourier: Floats = np.zeros((0, 2))


@frozen
class Constant:
    """The same value at all times."""

    value: float

    def table(self) -> Table:
        return Table(np.zeros(1), np.array([[self.value], [self.value]]))


@frozen
class Ramp:
    """Linear from ``first`` at time ``start`` to ``last`` at ``end``."""

    start: float
    end: float
    first: float
    last: float

    def table(self) -> Table:
        rate = (self.last - self.first) / (self.end - self.start)
        return Table(
            np.array([self.start, self.end]), np.array([[self.first, 0.0], [self.first, rate], [self.last, 0.0]])
        )


@frozen
class Follow:
    """An amplitude whose own time is total time less ``origin``."""

    amplitude: Amplitude
    origin: float

    def table(self) -> Table:
        own = self.amplitude
        if own.definition == "SWEEP":
            raise ModelError(
                f"*AMPLITUDE {own.name}: a SWEEP is for supports and forces, not for moments, currents or wind"
            )
        if own.definition != "PERIODIC":
            return Table(*_segments(own), self.origin)
        pieces = np.zeros(1), np.array([[own.mean], [own.mean]])
        return Table(*pieces, self.origin, own.start, own.omega, np.array(own.fourier).reshape(-1, 2))


LEVELS = (3, 4), (19, 5), (39, 6)
"""Layout of the numbers of a ``Live``: first column and width of four rows of coefficients, of the value, of its
integral, and of the integral of that."""
START = 63
"""First of three numbers: both integrals at the start of the step, and the slope of the second."""
GIVEN = 66
"""First of three numbers: value and rate at the end of the next interval, and the interpolation to it: 0 constant,
1 linear, 2 cubic."""
ZERO = 0.0, 0.0, 0.0


@dataclass(eq=False, slots=True)
class Live:
    """A USER amplitude that a program sets, in total time: constant, then the last two intervals set, then constant.

    numbers  (69,) a row of the array that all USER amplitudes share: three breaks; ``LEVELS``; ``START``; ``GIVEN``
    number   index of that row
    copies   arrays of kernels (weak references), and the first of the four rows that this amplitude has in each
    """

    name: str
    numbers: Floats
    number: int
    copies: list[tuple[Any, int]] = field(default_factory=list, init=False, repr=False)

    def pieces(self, integrals: int = 0) -> tuple[Floats, Floats]:
        """Breaks and coefficients, in the format of ``_segments``."""
        first, width = LEVELS[integrals]
        return self.numbers[:3], self.numbers[first : first + 4 * width].reshape(4, width)

    def table(self) -> Table:
        return Table(*self.pieces())

    @property
    def value(self) -> float:
        """Value at the last instant for which it was set; it is constant from then on."""
        return self.numbers.item(15)

    def hold(self, now: float, value: float) -> None:
        """Sets a constant value from ``now`` on; the amplitude may jump."""
        at = np.array([now])
        one, two = (_polynomial(*self.pieces(level), at).item() for level in (1, 2))
        rows = (value, *ZERO) * 4, (one, value, *ZERO) * 4, (two, one, 0.5 * value, *ZERO) * 4
        self.numbers[:START] = (now, now, now, *chain(*rows))
        self.copy()

    def begin(self, time: float) -> None:
        """Starts a step: integrals are zero at this time."""
        if self.numbers[0] == self.numbers[2]:  # never set, or not set since the last jump
            self.numbers[LEVELS[1][0] : START] = 0.0
            self.hold(time, self.value)
        at = np.array([time])
        found = [_polynomial(*self.pieces(level), at, order)[0] for level, order in ((1, 0), (2, 0), (2, 1))]
        self.numbers[START:GIVEN] = found

    def copy(self) -> None:
        """Copies its pieces into those arrays of kernels that still exist."""
        self.copies[:] = [each for each in self.copies if each[0]() is not None]
        for array, first in self.copies:
            if (its := array()) is not None:
                its[first + 1 : first + 4, 0], its[first : first + 4, 1:5] = self.pieces()


def live_ones(first: Mapping[str, float]) -> dict[str, Live]:
    """USER amplitudes before they are set, with their first values; their numbers are rows of one array."""
    table = np.zeros((len(first), GIVEN + 3))
    ones = {name: Live(name, table[k], k) for k, name in enumerate(first)}
    for name, value in first.items():
        ones[name].hold(0.0, value)
    return ones


NEAR = 1e-13
"""A time this close to a break, relative to both, is the break: end times of increments have rounding errors."""
SHORT = 4
"""Up to this number of instants, Python floats are faster than arrays."""
Curve: TypeAlias = Constant | Ramp | Follow | Live


def evaluate(curve: Curve, time: Floats, order: int = 0, after: bool = False, since: float = 0.0) -> Floats:
    """(k,) values of a curve, its derivative (order > 0) or its integral from ``since`` (order < 0)."""
    if order >= 0:
        return derivatives(curve, time, (order,), after)[0]
    local, base = np.asarray(time, float), since
    if isinstance(curve, Follow):
        local, base = local - curve.origin, since - curve.origin
        if curve.amplitude.definition == "SWEEP":
            return _sweep(curve.amplitude, local, order, after)
        if curve.amplitude.definition == "PERIODIC":
            start = np.array([base])
            change = _periodic_primitive(curve.amplitude, local, -order)
            change = change - _periodic_primitive(curve.amplitude, start, -order)
            if order == -2:
                change -= _periodic_primitive(curve.amplitude, start, 1) * (local - base)
            return change
        breaks, coefficients = _segments(curve.amplitude, -order)
    elif isinstance(curve, Live):
        breaks, coefficients = curve.pieces(-order)
    else:
        breaks, coefficients, *_ = curve.table()
        for _ in range(-order):
            coefficients = _antiderivative(breaks, coefficients)
    value = _polynomial(breaks, coefficients, local, 0, after)
    if isinstance(curve, Live):  # the start of the step may lie before its pieces
        one, two, slope = curve.numbers[START:GIVEN].tolist()
        value -= one if order == -1 else two + slope * (local - base)
        return value
    # the integral from ``since``: a primitive less the Taylor polynomial it has there
    origin = np.array([base])
    value -= _polynomial(breaks, coefficients, origin)
    if order == -2:
        value -= _polynomial(breaks, coefficients, origin, 1) * (local - base)
    return value


def derivatives(curve: Curve, time: Floats, orders: Sequence[int], after: bool = False) -> list[Floats]:
    """(k,) values of each order >= 0, as ``evaluate`` returns them; the pieces of a table are looked up once."""
    time = np.asarray(time, float)
    if isinstance(curve, Constant):
        return [np.full(len(time), curve.value if order == 0 else 0.0) for order in orders]
    if len(time) <= SHORT:
        return list(np.array(rows_at(curve, time.tolist(), orders, after)).reshape(-1, len(orders)).T)
    if isinstance(curve, Follow):
        time = time - curve.origin
        if curve.amplitude.definition == "SWEEP":
            return [_sweep(curve.amplitude, time, order, after) for order in orders]
        if curve.amplitude.definition == "PERIODIC":
            return _periodic(curve.amplitude, time, orders, after)
        breaks, coefficients = _segments(curve.amplitude)
    else:
        breaks, coefficients, *_ = curve.table()
    local, chosen = _pieces(breaks, coefficients, time, after)
    return [_sum(chosen, local, order) for order in orders]


def rows_at(curve: Curve, times: Sequence[float], orders: Sequence[int], after: bool = False) -> list[list[float]]:
    """``derivatives`` at few times, row by row, with Python floats; the result is identical to the last bit."""
    if isinstance(curve, Constant):
        return [[curve.value if order == 0 else 0.0 for order in orders] for _ in times]
    if isinstance(curve, Follow):
        own, times = curve.amplitude, [time - curve.origin for time in times]
        if own.definition == "SWEEP":
            columns = (_sweep(own, np.array(times), order, after).tolist() for order in orders)
            return [list(row) for row in zip(*columns, strict=True)]
        if own.definition == "PERIODIC":
            return [_periodic_at(own, time, orders, after) for time in times]
        breaks, coefficients = _segments(own)
    else:
        breaks, coefficients, *_ = curve.table()
    return [_derivatives_at(breaks, coefficients, time, orders, after) for time in times]


def _derivatives_at(
    breaks: Floats, coefficients: Floats, time: float, orders: Sequence[int], after: bool
) -> list[float]:
    """``derivatives`` at one time, computed with Python floats; the result is identical to the last bit."""
    near = NEAR * (abs(time) + abs(float(breaks[-1])) + abs(float(breaks[0])))
    segment = int(breaks.searchsorted(time + near, "right") if after else breaks.searchsorted(time - near))
    local, row, found = time - float(breaks[max(segment - 1, 0)]), coefficients[segment].tolist(), []
    for order in orders:
        factors, value = row, 0.0
        for _ in range(order):
            factors = [power * each for power, each in enumerate(factors)][1:]
        for each in reversed(factors):
            value = value * local + each
        found.append(value)
    return found


def combined(parts: Iterable[tuple[Floats, Curve]], time: Floats, shape: tuple[int, ...]) -> Floats:
    """(k, *shape) sum of factors (items, components) times the values of their curves at the times."""
    total = np.zeros((len(time), *shape))
    for factors, curve in parts:
        total += evaluate(curve, time)[:, None, None] * factors
    return total


def _segments(amplitude: Amplitude, integrals: int = 0) -> tuple[Floats, Floats]:
    """Breaks (n,) and coefficients (n + 1, d) of the polynomials before, between and after the points, integrated."""
    known = amplitude._pieces
    if integrals not in known:
        before = _segments(amplitude, integrals - 1) if integrals else _interpolated(amplitude)
        known[integrals] = (before[0], _antiderivative(*before)) if integrals else before
    return known[integrals]


def _interpolated(amplitude: Amplitude) -> tuple[Floats, Floats]:
    """The same of an amplitude itself."""
    time, value = amplitude.points.T.copy()
    coefficients = np.zeros(
        (len(time) + 1, {"TABULAR": 2, "USER": 2, "SPLINE": 4, "SMOOTH STEP": 6}[amplitude.definition])
    )
    coefficients[0, 0] = value[0]
    coefficients[1:, 0] = value
    width, rise = np.diff(time), np.diff(value)
    if amplitude.definition == "SMOOTH STEP":  # rise * x^3 (10 - 15 x + 6 x^2), x = t/width
        for power, factor in ((3, 10.0), (4, -15.0), (5, 6.0)):
            coefficients[1:-1, power] = factor * rise / width**power
    elif amplitude.definition == "SPLINE" and len(time) > 1:
        from scipy.interpolate import CubicSpline

        coefficients[1:-1] = CubicSpline(time, value).c[::-1].T
    else:
        coefficients[1:-1, 1] = rise / width
    return time, coefficients


def _polynomial(breaks: Floats, coefficients: Floats, time: Floats, order: int = 0, after: bool = False) -> Floats:
    local, chosen = _pieces(breaks, coefficients, time, after)
    return _sum(chosen, local, order)


def _pieces(breaks: Floats, coefficients: Floats, time: Floats, after: bool) -> tuple[Floats, Floats]:
    """(k,) times since the previous break, (k, d) coefficients of the polynomial that holds there."""
    near = NEAR * (np.abs(time) + np.abs(breaks[-1]) + np.abs(breaks[0]))
    segment = np.searchsorted(breaks, time + near if after else time - near, side="right" if after else "left")
    return time - breaks[np.maximum(segment - 1, 0)], coefficients[segment]


def _sum(coefficients: Floats, local: Floats, order: int) -> Floats:
    """(k,) values of polynomials, or of their derivatives."""
    for _ in range(order):
        coefficients = coefficients[:, 1:] * np.arange(1, coefficients.shape[1])
    value = np.zeros_like(local)
    for power in range(coefficients.shape[1] - 1, -1, -1):
        value = value * local + coefficients[:, power]
    return value


def _antiderivative(breaks: Floats, coefficients: Floats) -> Floats:
    """Coefficients of the integral that vanishes at the first break and is continuous."""
    result = np.zeros((coefficients.shape[0], coefficients.shape[1] + 1))
    result[:, 1:] = coefficients / np.arange(1, coefficients.shape[1] + 1)
    width, rise = np.diff(breaks), np.zeros(len(breaks) - 1)
    for power in range(result.shape[1] - 1, 0, -1):
        rise = (rise + result[1:-1, power]) * width
    result[2:, 0] = np.cumsum(rise)
    return result


def _sweep(amplitude: Amplitude, time: Floats, order: int, after: bool) -> Floats:
    """mean + A cos p + B sin p; p' goes from omega to omega_end straight, or as omega (omega_end/omega)^(t/length)."""
    if order < 0:
        raise ModelError(f"*AMPLITUDE {amplitude.name}: a SWEEP is for TYPE=DISPLACEMENT: it has no integral")
    ((a, b),), first, last, length = amplitude.fourier, amplitude.omega, amplitude.omega_end, amplitude.duration
    local = time - amplitude.start
    within, beyond = np.clip(local, 0.0, length), np.maximum(local - length, 0.0)
    near = NEAR * (np.abs(time) + abs(amplitude.start) + length)
    changes = local < length - near if after else local <= length + near
    rise = math.log(last / first) / length if amplitude.is_logarithmic else (last - first) / length
    if amplitude.is_logarithmic and rise != 0.0:
        grown = np.expm1(rise * within)
        phase, rate = first * grown / rise, first * (grown + 1.0)
        bend = np.where(changes, rise * rate, 0.0)
    else:
        phase, rate = (first + 0.5 * rise * within) * within, first + rise * within
        bend = np.where(changes, rise, 0.0)
    phase += last * beyond
    cosine, sine = np.cos(phase), np.sin(phase)
    value, slope = a * cosine + b * sine, b * cosine - a * sine
    found = (value, rate * slope, bend * slope - rate**2 * value)[order]
    has_begun = local >= -near if after or order == 0 else local > near
    return np.where(has_begun, found, 0.0) + (amplitude.mean if order == 0 else 0.0)


PARTS_OF_A_WAVE = 8
"""Points of a wave between which it is nearly straight: by cos(pi/8), 4 % of its range."""
SMALL_HARMONIC = 0.05
"""Harmonics that are smaller than this fraction of all are not followed by ``points_of_waves``."""
MOST_POINTS = 2_000_000
"""``points_of_waves`` gives at most so many points; from there on increments follow the motion alone."""


def points_of_waves(amplitude: Amplitude, end: float) -> Floats:
    """Times of its own, up to ``end``, at which a PERIODIC amplitude or a SWEEP has passed another eighth of its
    shortest wave."""
    sizes = np.hypot(*np.array(amplitude.fourier).T)
    large = np.flatnonzero(sizes > SMALL_HARMONIC * sizes.sum())
    if not len(large) or end <= amplitude.start:
        return np.zeros(0)
    part, local = 2.0 * math.pi / PARTS_OF_A_WAVE, end - amplitude.start
    if amplitude.definition == "PERIODIC":
        part /= abs(amplitude.omega) * (large[-1] + 1)
        return np.asarray(amplitude.start + part * np.arange(min(int(local / part) + 1, MOST_POINTS)))
    first, last, length = amplitude.omega, amplitude.omega_end, amplitude.duration
    rise = (math.log(last / first) if amplitude.is_logarithmic else last - first) / length
    if amplitude.is_logarithmic:
        turned = (last - first) / rise if rise else first * length
    else:
        turned = 0.5 * (first + last) * length
    whole = turned + last * max(local - length, 0.0)
    phases = part * np.arange(min(int(whole / part) + 1, MOST_POINTS))
    within = np.minimum(phases, turned)
    if amplitude.is_logarithmic:
        times = np.log1p(within * rise / first) / rise if rise else within / first
    else:
        times = 2.0 * within / (first + np.sqrt(np.maximum(first**2 + 2.0 * rise * within, 0.0)))
    times = times + (phases - within) / last
    return np.asarray(amplitude.start + times)


def _periodic(amplitude: Amplitude, time: Floats, orders: Sequence[int], after: bool) -> list[Floats]:
    phase = time - amplitude.start
    totals = [np.zeros_like(time) for _ in orders]
    for n, (a, b) in enumerate(amplitude.fourier, start=1):
        w = n * amplitude.omega
        turned = quarters(np.cos(w * phase), np.sin(w * phase))
        for total, order in zip(totals, orders, strict=True):
            total += _harmonic(a, b, turned, w, order)
    near = NEAR * (np.abs(time) + abs(amplitude.start))
    has_begun, late = phase >= -near, phase > near
    for total, order in zip(totals, orders, strict=True):
        total[~(has_begun if after or order == 0 else late)] = 0.0
        if order == 0:
            total += amplitude.mean
    return totals


def quarters(cosine: Any, sine: Any) -> tuple[Any, ...]:
    """A cosine and its derivatives: each turns the phase by a quarter."""
    return cosine, -sine, -cosine, sine


def _harmonic(a: float, b: float, turned: tuple[Any, ...], w: float, order: int) -> Any:
    """A derivative of a cos(x) + b sin(x), x = w t, from the ``quarters`` of x."""
    total = 0.0
    if a != 0.0:
        total = total + a * turned[order % 4]
    if b != 0.0:
        total = total + b * turned[(order + 3) % 4]
    return w**order * total


def _periodic_at(amplitude: Amplitude, time: float, orders: Sequence[int], after: bool) -> list[float]:
    """``_periodic`` at one time, computed with Python floats; the result is identical to the last bit."""
    phase, near = time - amplitude.start, NEAR * (abs(time) + abs(amplitude.start))
    totals = [0.0 for _ in orders]
    for n, (a, b) in enumerate(amplitude.fourier, start=1):
        w = n * amplitude.omega
        turned = quarters(float(np.cos(w * phase)), float(np.sin(w * phase)))
        for place, order in enumerate(orders):
            totals[place] += _harmonic(a, b, turned, w, order)
    for place, order in enumerate(orders):
        if not (phase >= -near if after or order == 0 else phase > near):
            totals[place] = 0.0
        if order == 0:
            totals[place] += amplitude.mean
    return totals


def _periodic_primitive(amplitude: Amplitude, time: Floats, times: int) -> Floats:
    """Repeated integral from the amplitude's start time; before that time the value is the mean."""
    phase = time - amplitude.start
    total = np.zeros_like(time)
    for n, (a, b) in enumerate(amplitude.fourier, start=1):
        w = n * amplitude.omega
        if times == 1:
            total += (a * np.sin(w * phase) + b * (1.0 - np.cos(w * phase))) / w
        else:
            total += (a * (1.0 - np.cos(w * phase)) + b * (w * phase - np.sin(w * phase))) / w**2
    total = np.where(phase >= 0.0, total, 0.0)
    return np.asarray(total + amplitude.mean * phase**times / times)
