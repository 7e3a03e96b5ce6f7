"""Periodic orbits, their branches over a parameter, through folds, and the bifurcations on them.

Newton's iteration on P(z; p) - z = 0, in the coordinates y of a chart around the last guess, over their scales, and
the parameter p over its range:

    [ P_y - 1   P_p ] [dy]     [ P - y ]
    [     t         ] [dp] = - [   0   ]        t: the tangent of the branch, or (0, 1): p is constant

Source: Keller, in Applications of Bifurcation Theory (1977), 359-384 (pseudo-arclength). The eigenvalues of P_y at an
orbit are its Floquet multipliers mu: perturbations grow by them from period to period.

Steps along the tangent change orbits by at most the range of the parameter over the number of its values. Bifurcations
are sign changes between two orbits:

    fold                the tangent turns back in the parameter: t_p = 0, mu = 1
    branch point        product of 1 - mu, the tangent not turning back: another branch crosses (symmetry breaking)
    period doubling     product of 1 + mu: a branch of twice the period begins
    Neimark-Sacker      a complex pair crosses |mu| = 1: a torus begins
    grazing             a change of events of ropes and stops: an impact with zero speed, a rope slack for zero time

They are located by Brent's method along the step, and accepted only with mu at its critical value.
Source: Kuznetsov, Elements of Applied Bifurcation Theory (2004), ch. 10; grazing: Nordmark, J. Sound Vib. 145 (1991).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Columns, Floats, without_kind
from fem.deck import deck_reader, read_model
from fem.errors import CommandError, FemError, NoConvergence
from fem.linear.factors import solve_dense
from fem.model import Model
from fem.runs.progress import Progress, showing
from fem.runs.record import Event, StepStart
from fem.study.points import Points, make_grid, parameter_of
from fem.study.question import Study
from fem.study.sections import Section, SectionSink, check_column, columns_named, moving_most
from fem.study.sections import strobe as drive_of
from fem.study.strobe import Chart, Move, State, Strobe

SHARP, GOOD = 1e-11, 1e-8
"""Residual |P(z) - z| over the scales at which the iteration ends; and the largest accepted one if rounding prevents
this."""
HELPS = 0.3
"""Below GOOD the iteration continues while each step reduces the residual by at least this factor."""
MOST_ITERATIONS, MOST_ALONG = 25, 8
"""Largest number of iterations at a value of the parameter, and along a branch, where guesses are better."""
LONGEST = 0.3
"""Longest correction, over the scales."""
DENSE = 200
"""Largest number of coordinates for which P_y is a matrix; beyond that only products are used."""
LEADING = 6
"""Number of multipliers computed then, the largest."""
CONFIRMED = 1e-8
"""Largest residual of the eigenvalue problem, as a fraction of its matrix, for accepted multipliers."""
UNSTABLE = 1e-6
"""A multiplier is outside the unit circle if it is by more than this."""
ASIDE = 1e-5
"""Step of the derivative by the parameter, as a fraction of its range."""
FORCING = 1e-6
"""Relative accuracy of the iterative solution for a correction."""
STILL = 1e-3
"""Ranges below this fraction of the size of the model are not used as scales of an orbit."""
CROSSING = 1e-5
"""Branches cross if a singular value, of coordinates over their scales, is below this."""

Complexes = NDArray[np.complex128]


class Tape(SectionSink):
    """The last motion through the map, with the events of ropes and stops."""

    def __init__(self, model: Model, every: int, multiple: int) -> None:
        super().__init__(model, every, multiple, multiple + 1)
        self.track = 0
        self.events: list[Event] = []

    def begin(self, start: StepStart) -> None:
        self.points, self.tracks, self.events = [], [], []

    def event(self, event: Event) -> None:
        self.events.append(event)


@dataclass(frozen=True, slots=True)
class MapFamily:
    """The maps of one deck over one parameter.

    read   gives the model at a value;  name, width  of the parameter and its range (width 1: there is none)
    scale  of displacements and velocities; None: the size of the model, and that times the frequency
    """

    read: Callable[[float], Model]
    name: str = ""
    width: float = 1.0
    period: float | str | None = None
    multiple: int = 1
    scale: tuple[float, float] | None = None

    def strobe(self, value: float) -> tuple[Strobe, Tape]:
        """The map at a value, and the tape of its motion."""
        model = self.read(value)
        tape = Tape(model, drive_of(model, self.period)[1], self.multiple)
        strobe = Strobe(model, self.period, self.multiple, tape)
        strobe.scale = self.scale or strobe.scale
        return strobe, tape

    def named(self, value: float) -> str:
        return f" at {self.name} = {value:.9g}" if self.name else ""


class Slopes:
    """P_y at the base of a chart: a matrix, or products with it."""

    def __init__(self, strobe: Strobe, chart: Chart) -> None:
        self.strobe, self.chart, self.size = strobe, chart, len(chart)
        self.matrix: Floats | None = None
        if self.size <= DENSE:
            image, self.matrix = strobe.slopes(chart, np.eye(self.size))
        else:
            image = strobe.image(chart, np.zeros(self.size))
        self.gap: Floats = image

    def times(self, y: Floats) -> Floats:
        """P_y y."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ y)
        length = float(np.linalg.norm(y))
        return length * self.strobe.slopes(self.chart, y[None] / length)[1][:, 0] if length else np.zeros(self.size)

    def solve(self, column: Floats, row: Floats, right: Floats) -> Floats | None:
        """(2m + 1,) solution of the bordered system; None: it is singular, or the iteration does not converge.
        Nearly singular directions are left out: at a branch point they lead to the other branch."""
        if self.matrix is not None:
            whole = np.block([[self.matrix - np.eye(self.size), column[:, None]], [row[None]]])
            left, values, directions = np.linalg.svd(whole)
            if values[-1] > CROSSING:
                return solve_dense(whole, right)
            kept = values > CROSSING
            return np.asarray(directions[kept].T @ (left.T[kept] @ right / values[kept]))
        from scipy.sparse.linalg import LinearOperator, gmres

        def product(x: Floats) -> Floats:
            y = x[: self.size]
            return np.append(self.times(y) - y + x[-1] * column, row @ x)

        whole = LinearOperator((len(right), len(right)), matvec=product, dtype=float)
        found, info = gmres(whole, right, rtol=FORCING, restart=60, maxiter=3)
        return None if info else np.asarray(found)

    def multipliers(self) -> tuple[Complexes, Complexes]:
        """(k,) largest first, and eigenvectors (2m, k). NoConvergence: their own residuals do not confirm them."""
        if self.matrix is not None:
            values, vectors = np.linalg.eig(self.matrix)
        else:
            from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

            whole = LinearOperator((self.size, self.size), matvec=self.times, dtype=float)
            try:
                values, vectors = eigs(whole, LEADING, v0=np.ones(self.size), tol=CONFIRMED)
            except ArpackNoConvergence:
                raise NoConvergence("the Floquet multipliers were not found: ARPACK did not converge") from None
        image = np.array([self.times(x.real) + 1j * self.times(x.imag) for x in vectors.T]).T
        size = max(1.0, float(np.abs(values).max())) if self.matrix is None else float(np.linalg.norm(self.matrix, 2))
        worst = float(np.abs(image - values * vectors).max())
        if not worst <= CONFIRMED * max(size, np.finfo(float).tiny) * (1.0 if self.matrix is not None else 1e3):
            raise NoConvergence(f"the Floquet multipliers are not confirmed: their residual is {worst:.3g}")
        order = np.argsort(-np.abs(values), kind="stable")
        return values[order].astype(complex), vectors[:, order].astype(complex)


@dataclass(frozen=True, slots=True, eq=False)
class Orbit:
    """A motion that comes back after ``multiple`` periods of the drive, at a value of the parameter.

    place        the value over the range of the parameter
    state        (u, v) of all dofs at the start of the period
    residual     largest component of P(z) - z, over the scales
    multipliers  (k,) complex, the largest first; vectors (2m, k) in the coordinates of ``slopes.chart``
    section      its motion: states of the printed nodes
    events       what happened to ropes and stops, in order
    by_value     derivative of P(z; p) - z by the parameter over its range, near the orbit; None: not known
    """

    value: float
    place: float
    state: State
    multiple: int
    residual: float
    iterations: int
    multipliers: Complexes
    vectors: Complexes
    section: Section
    events: tuple[Event, ...]
    slopes: Slopes
    by_value: Move | None = None

    @property
    def reach(self) -> tuple[float, float] | None:
        """Largest ranges of displacements and velocities; None: it hardly moves."""
        ranges = np.ptp(self.section.track, axis=0).reshape(-1, 2, 3).max(axis=(0, 2))
        is_still = (ranges < STILL * np.array(self.slopes.strobe.scale)).any()
        return None if is_still else (float(ranges[0]), float(ranges[1]))

    @property
    def unstable(self) -> int:
        """Number of multipliers outside the unit circle; 0: it is stable."""
        return int(np.count_nonzero(np.abs(self.multipliers) > 1.0 + UNSTABLE))

    @property
    def happened(self) -> Counter[str]:
        """Number of events of ropes and stops, by kind."""
        return happened(self.events)

    def __repr__(self) -> str:
        named = ", ".join(f"{x.real:.9g}" + (f"{x.imag:+.9g}i" if x.imag else "") for x in self.multipliers)
        kind = f"unstable in {self.unstable} directions" if self.unstable else "stable"
        return f"Orbit of period {self.multiple}, {kind}, |P(z) - z| = {self.residual:.2g}, multipliers {named}"


def happened(events: Iterable[Event]) -> Counter[str]:
    """Number of events of ropes and stops, by kind."""
    return Counter(event.event for event in events if event.element)


Direction = tuple[Move, float]
"""Direction of a branch: change of all dofs, and of the parameter over its range."""


def correct(family: MapFamily, state: State, value: float, along: Direction | None = None) -> Orbit:
    """The orbit near a state, at a value of the parameter; with ``along``, the orbit on a branch near both.
    NoConvergence: none was found."""
    before, by_value = math.inf, None
    for iteration in range(MOST_ITERATIONS if along is None else MOST_ALONG):
        strobe, tape = family.strobe(value)
        chart = strobe.chart(state)
        slopes = Slopes(strobe, chart)
        residual = float(np.abs(slopes.gap).max())
        if residual <= SHARP or HELPS * before < residual <= GOOD:
            motion = tape.section(), tuple(tape.events)  # the last march was that of the orbit
            return Orbit(
                value, value / family.width, chart.base, family.multiple, residual, iteration, *slopes.multipliers(),
                *motion, slopes, by_value,
            )  # fmt: skip
        column, row = np.zeros(len(chart)), np.append(np.zeros(len(chart)), 1.0)
        if along is not None:
            by_value = by_value or chart.moves(by_parameter(family, chart, value))
            column, row = chart.directions(*by_value), np.append(chart.directions(*along[0]), along[1])
        change = slopes.solve(column, row, -np.append(slopes.gap, 0.0)) if math.isfinite(residual) else None
        if change is None or not np.any(change):
            break
        change *= min(1.0, LONGEST / float(np.linalg.norm(change)))
        state, value, before = chart.state(change[:-1]), value + family.width * float(change[-1]), residual
    raise NoConvergence(
        f"no orbit was found{family.named(value)}: |P(z) - z| = {residual:.3g}, relative to the size of the motion"
    )


def by_parameter(family: MapFamily, chart: Chart, value: float) -> Floats:
    """(2m,) derivative of P(z; p) - z by p over its range: central differences."""
    above, below = (family.strobe(value + sign * ASIDE * family.width)[0].gap(chart) for sign in (1.0, -1.0))
    return (above - below) / (2.0 * ASIDE)


def tangent(family: MapFamily, orbit: Orbit, before: Direction) -> Direction:
    """Tangent of the branch at an orbit, of scaled length 1, continuing the one ``before``.
    At a branch point, where it is undetermined, it is the one before."""
    slopes, chart = orbit.slopes, orbit.slopes.chart
    row = np.append(chart.directions(*before[0]), before[1])
    right = np.append(np.zeros(len(chart)), 1.0)
    known = orbit.by_value
    column = by_parameter(family, chart, orbit.value) if known is None else chart.directions(*known)
    found = slopes.solve(column, row, right)
    if found is None:
        return before
    found /= np.linalg.norm(found)
    return chart.moves(found[:-1]), float(found[-1])


FOLD, BRANCH, DOUBLING, TORUS, GRAZING = "fold", "branch point", "period doubling", "Neimark-Sacker", "grazing"
PLACES = {FOLD: 1.0, BRANCH: 1.0, DOUBLING: -1.0}
"""Critical value of the multiplier."""
LEAST_STEPS = 10
"""Smallest number of steps of a branch, however few values are given."""
SHORTEST = 1e-4
"""Shortest step, as a fraction of the longest one."""
TURN = 0.9
"""Least cosine between two tangents."""
CHANGED = 2.0
"""Factor by which the ranges of a motion must differ from the scales before the scales are adapted."""
ASTRAY = 1.5
"""Largest distance of the next orbit from the last one, in steps."""
QUICK, GROWS = 4, 1.5
"""Number of iterations up to which the next step is longer, and the factor."""
LOCATED = 1e-9
"""Fraction of a step to which bifurcations are located."""
THERE = 1e-3
"""Largest distance of a multiplier from its critical value at a bifurcation."""
BEYOND = 0.02
"""Step beyond the end of a branch, as a fraction, to see what begins there: shorter impacts are not detected."""
MOST_STEPS = 20
"""Largest number of steps of a branch, per value of the parameter."""
MOST_TESTS = 60
ENTRANCES = 1.0, 0.25, 0.06
"""Steps with which a new branch is entered, tried in turn, as fractions of the first."""
SAME = 0.05
"""Distance of two bifurcations, over the longest step, below which they are the same."""
AT_ENDS = 1e-6
"""Events closer to the ends of the period than this fraction of it may enter or leave it without grazing."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """An orbit of a branch. along: its tangent; arclength: from the branch's start; kind: a bifurcation, or empty."""

    orbit: Orbit
    along: Direction
    arclength: float
    kind: str = ""


def sign(kind: str, point: Point) -> float:
    """The function whose sign changes at a bifurcation of this kind; NaN: undefined."""
    multipliers = point.orbit.multipliers
    if kind == FOLD:
        return point.along[1]
    if kind == TORUS:  # the complex pair nearest to the unit circle
        pairs = np.abs(multipliers[multipliers.imag > 0.0])
        return float(pairs[np.abs(pairs - 1.0).argmin()] - 1.0 - UNSTABLE) if len(pairs) else np.nan
    return float(np.prod(multipliers - PLACES[kind]).real)


def off(kind: str, orbit: Orbit) -> float:
    """Distance of the nearest multiplier from the critical value of a bifurcation."""
    if kind == TORUS:
        pairs = np.abs(orbit.multipliers[orbit.multipliers.imag != 0.0])
        return float(np.abs(pairs - 1.0).min(initial=np.inf))
    return float(np.abs(orbit.multipliers - PLACES[kind]).min())


class Walk:
    """Follows one branch from an orbit, between two values of the parameter.

    longest  step over the scales;  known: bifurcations of other branches, at which this one may end
    notices  why it ended, what was not located
    """

    def __init__(self, family: MapFamily, ends: tuple[float, float], count: int, known: Sequence[Point]) -> None:
        self.family, self.ends, self.known = family, (min(ends), max(ends)), known
        steps = max(count - 1, LEAST_STEPS)
        self.most, self.longest = MOST_STEPS * steps, 1.0 / steps
        self.notices: list[str] = []

    def run(self, first: Orbit, along: Direction) -> Iterator[Point]:
        """Points in order, with bifurcations; along: approximate direction at the start."""
        here = self.scaled(Point(first, tangent(self.family, first, along), 0.0))
        yield here
        start, step = here, 0.25 * self.longest
        for number in range(self.most):
            try:
                there = self.after(here, step)
                if turn_of(there, here) < TURN or distance(there, here) > ASTRAY * step:
                    raise NoConvergence("it turns sharply or jumps to another branch")
            except FemError as error:
                step *= 0.5
                if step < SHORTEST * self.longest:
                    if self.grazes(here):
                        yield replace(here, kind=GRAZING)
                    self.notices.append(f"the branch ends{self.family.named(here.orbit.value)}: {error}")
                    return
                continue
            if not self.ends[0] <= there.orbit.value <= self.ends[1]:
                yield from self.last(here, there)
                return
            for point in self.between(here, there):
                if any(distance(point, other) < SAME * self.longest for other in self.known):
                    return  # back at its start, or at its end on another branch
                yield point
            yield there
            if number > 2 and distance(there, start) < 0.5 * step and turn_of(there, start) > TURN:
                return  # it has closed
            here = self.scaled(there)
            step = min(self.longest, step * (GROWS if there.orbit.iterations <= QUICK else 1.0))
        self.notices.append(
            f"the branch is not followed beyond{self.family.named(here.orbit.value)}, after {self.most} steps"
        )

    def scaled(self, here: Point) -> Point:
        """The point, its tangent of length 1 over the ranges of its motion, which become the scales."""
        reach, chart = here.orbit.reach, here.orbit.slopes.chart
        if reach is None or all(1.0 / CHANGED < r / s < CHANGED for r, s in zip(reach, chart.scale, strict=True)):
            return here
        self.family = replace(self.family, scale=reach)
        (du, dv), dp = here.along
        y = chart.scaled(reach).directions(du, dv)
        length = float(np.hypot(np.linalg.norm(y), dp))
        return replace(here, along=(Move(du / length, dv / length), dp / length))

    def grazes(self, here: Point) -> bool:
        """Whether events of ropes and stops change just beyond, where no orbit was found."""
        (move, change), step = here.along, BEYOND * self.longest
        strobe, tape = self.family.strobe(here.orbit.value + step * change * self.family.width)
        try:
            strobe.go(here.orbit.state.moved(move, step))
        except FemError:
            return False
        return happened(tape.events) != here.orbit.happened

    def after(self, here: Point, step: float) -> Point:
        """The point of the branch one step further."""
        move, change = here.along
        value = here.orbit.value + step * change * self.family.width
        orbit = correct(self.family, here.orbit.state.moved(move, step), value, here.along)
        return Point(orbit, tangent(self.family, orbit, here.along), here.arclength + step)

    def last(self, here: Point, there: Point) -> Iterator[Point]:
        """The rest of a step up to the end of the range."""
        one, other = here.orbit, there.orbit
        end = self.ends[0] if other.value < self.ends[0] else self.ends[1]
        if end == one.value:
            return
        part = (end - one.value) / (other.value - one.value)
        state = one.state.moved(Move(other.state.u - one.state.u, other.state.v - one.state.v), part)
        try:
            orbit = correct(self.family, state, end)
            point = Point(orbit, tangent(self.family, orbit, here.along), here.arclength)
            if distance(point, here) > ASTRAY * distance(there, here):
                raise NoConvergence(f"the orbit{self.family.named(end)} is not on this branch")
        except FemError as error:
            self.notices.append(str(error))
            return
        point = replace(point, arclength=here.arclength + distance(point, here))
        yield from self.between(here, point)
        yield point

    def between(self, here: Point, there: Point) -> Iterator[Point]:
        """Bifurcations between two points, in order."""
        found = []
        turns = sign(FOLD, here) * sign(FOLD, there) < 0.0
        for kind in (FOLD, BRANCH, DOUBLING, TORUS):
            if sign(kind, here) * sign(kind, there) < 0.0 and not (kind == BRANCH and turns):
                found.append(self.locate(kind, here, there))
        if here.orbit.happened != there.orbit.happened:
            found.append(self.graze(here, there))
        yield from sorted((point for point in found if point), key=lambda point: point.arclength)

    def locate(self, kind: str, here: Point, there: Point) -> Point | None:
        """Locates a bifurcation; None (with a notice) if that fails, or no multiplier is critical there."""
        from scipy.optimize import brentq  # the import takes a third of a second

        tried: dict[float, Point] = {}
        length = there.arclength - here.arclength

        def value(step: float) -> float:
            tried[step] = here if step == 0.0 else there if step == length else self.after(here, step)
            return sign(kind, tried[step])

        try:
            at = brentq(value, 0.0, length, xtol=LOCATED * length, rtol=1e-14, maxiter=MOST_TESTS)
            point = tried.get(at) or self.after(here, at)
        except (FemError, RuntimeError, ValueError):
            point = None
        if point is None or off(kind, point.orbit) > THERE:
            if kind != TORUS:  # two real multipliers may become a pair outside the circle
                near = self.family.named(here.orbit.value)
                self.notices.append(
                    f"a {kind} could not be located between two orbits,{near} and{self.family.named(there.orbit.value)}"
                )
            return None
        return replace(point, kind=kind)

    def graze(self, here: Point, there: Point) -> Point | None:
        """Locates a change of events of ropes and stops by bisection to rounding; None: an event left the period."""
        before, low, high, point = here.orbit.happened, 0.0, there.arclength - here.arclength, there
        length = high
        for _ in range(MOST_TESTS):
            if high - low <= LOCATED * length:
                break
            middle = 0.5 * (low + high)
            try:
                tried = self.after(here, middle)
            except FemError:
                self.notices.append(
                    f"the branch is not smooth{self.family.named(here.orbit.value)}: no orbits were found next to a "
                    "grazing bifurcation"
                )
                return None
            if tried.orbit.happened == before:
                low = middle
            else:
                high, point = middle, tried
        strobe = point.orbit.slopes.strobe
        times = [event.time for orbit in (point.orbit, here.orbit) for event in orbit.events if event.element]
        start, end = strobe.last.clock.start, strobe.last.clock.end
        if any(min(time - start, end - time) < AT_ENDS * strobe.period for time in times):
            return None
        return replace(point, kind=GRAZING)


def distance(one: Point, other: Point) -> float:
    """Scaled distance of two orbits; of their starts if the periods differ."""
    y = one.orbit.slopes.chart.coordinates(other.orbit.state)
    return float(np.hypot(np.linalg.norm(y), one.orbit.place - other.orbit.place))


def turn_of(one: Point, other: Point) -> float:
    """Cosine between two tangents."""
    chart = one.orbit.slopes.chart
    first, second = (np.append(chart.directions(*point.along[0]), point.along[1]) for point in (one, other))
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def switched(family: MapFamily, point: Point, step: float) -> Iterator[tuple[MapFamily, Orbit, Direction]]:
    """First orbits, one step away, of the branches that start at a bifurcation, and their directions: one at a period
    doubling (half a period later it is on the other side), both sides at a branch point."""
    orbit, chart = point.orbit, point.orbit.slopes.chart
    if point.kind == DOUBLING:
        family = replace(family, multiple=2 * family.multiple)
    vector = orbit.vectors[:, int(np.abs(orbit.multipliers - PLACES[point.kind]).argmin())].real
    away, change = vector / np.linalg.norm(vector), 0.0
    if point.kind == BRANCH:  # perpendicular to its own branch
        along = np.append(chart.directions(*point.along[0]), point.along[1])
        whole = np.append(away, 0.0)
        whole -= along * float(along @ whole) / float(along @ along)
        away, change = whole[:-1], float(whole[-1])
    for side in (1.0,) if point.kind == DOUBLING else (1.0, -1.0):
        leave = chart.moves(side * away), side * change
        yield family, entered(family, orbit, leave, step), leave


def entered(family: MapFamily, orbit: Orbit, leave: Direction, step: float) -> Orbit:
    """The first orbit of a branch that leaves another one; NoConvergence: none is found at any distance."""
    for shorter in ENTRANCES:
        size = shorter * step
        try:
            return correct(
                family, orbit.state.moved(leave[0], size), orbit.value + size * leave[1] * family.width, leave
            )
        except NoConvergence as error:
            last = error
    raise last


REACHED = 1e-6
"""Parts of the parameter's range below this fraction of it do not count as missed."""
ELSEWHERE = "another initial state, or --transient N, which starts from the motion after N periods"
FIRST_STEP = 0.5
"""Distance from a bifurcation, over the longest step, at which a branch that begins there is entered."""


class Orbits(Columns):
    """The table of ``orbits.csv``: a row for each orbit and each bifurcation between them, branch by branch.

    name     of the parameter; empty: none was varied
    what     column of the section that ``start``, ``least`` and ``greatest`` are of
    orbits   (k,) the orbits themselves
    notices  where branches ended, what was not located, what part of the range was not reached
    range    first and last value; (0, 0): no parameter was varied
    missed   (j, 2) parts of the range, from lower to higher values, in which no branch has an orbit
    """

    def __init__(
        self,
        columns: Mapping[str, np.ndarray],
        name: str,
        what: str,
        orbits: tuple[Orbit, ...],
        notices: tuple[str, ...],
        ends: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        super().__init__(columns)
        self.name, self.what, self.orbits, self.range = name, what, orbits, ends
        self.missed = self._missed()
        self.notices = notices
        if len(self.missed):
            part = float(np.diff(self.missed).sum()) / abs(ends[1] - ends[0])
            parts = ", ".join(f"{first:.6g} to {last:.6g}" for first, last in self.missed)
            text = f"{100.0 * part:.3g} % of the range was not reached: {name} = {parts}. The branches turn back or "
            text += f"end before it, but there may be others: try {ELSEWHERE}, the range from its other end, or fem "
            self.notices += (text + "continue, which follows stable motions",)

    def _missed(self) -> Floats:
        low, high = min(self.range), max(self.range)
        found, least = [], REACHED * (high - low)
        for branch in np.unique(self["branch"]) if high > low else ():
            values = self[self.name][self["branch"] == branch]
            found.append((float(values.min()), float(values.max())))
        gaps, reached = [], low
        for first, last in [*sorted(found), (high, high)]:
            if first - reached > least:
                gaps.append((reached, first))
            reached = max(reached, last)
        return np.array(gaps).reshape(-1, 2)

    def bifurcations(self) -> list[str]:
        """A line of text for each bifurcation."""
        (rows,) = np.nonzero(self["kind"] != "")
        return [
            f"{self['kind'][row]} at {self.name} = {self[self.name][row]:.9g} (branch {self['branch'][row]}, "
            f"period {self['multiple'][row]})"
            for row in rows
        ]


@dataclass(frozen=True, slots=True)
class Search(Study):
    """Settings of ``orbits``, and the search."""

    period: float | str | None = None
    multiple: int = 1
    transient: int = 0
    what: str = ""
    depth: int = 1
    kind: ClassVar[str] = "orbits"

    def find(
        self, deck: str | Path | Model, parameters: Mapping[str, float], grid: Points | None, progress: Progress = False
    ) -> Orbits:
        if grid is None:
            model = read_model(deck, parameters)
            check_column(model, self.what)
            first = self.first(MapFamily(lambda _: model, "", 1.0, self.period, self.multiple), 0.0, progress)
            still = Move(np.zeros_like(first.state.u), np.zeros_like(first.state.v))
            return self.table([[Point(first, (still, 1.0), 0.0)]], "", [])
        if len(grid.names) != 1 or len(grid) < 2:
            raise CommandError("orbits are followed over one parameter, from its first value to its last one")
        return self.follow(deck, parameters, grid.names[0], tuple(map(float, grid.values[0])), progress)

    def first(self, family: MapFamily, value: float, progress: Progress) -> Orbit:
        """The orbit near the initial state of the deck, or near the state after the transient."""
        strobe, _ = family.strobe(value)
        state, count = strobe.begin(), -(-self.transient // self.multiple)
        with showing(progress, count) as told:
            for done in range(1, count + 1):
                state = strobe.go(state)
                told.move(done, f"period {done * self.multiple}/{count * self.multiple} of the transient")
        try:
            return correct(family, state, value)
        except NoConvergence as error:
            hint = "more periods of --transient, or another initial state" if self.transient else ELSEWHERE
            raise NoConvergence(f"{error}; try {hint}") from None

    def follow(
        self,
        deck: str | Path | Model,
        parameters: Mapping[str, float],
        name: str,
        values: tuple[float, ...],
        progress: Progress,
    ) -> Orbits:
        """All branches; those that begin on others follow them."""
        model = read_model(deck, parameters)
        check_column(model, self.what)
        spelled = parameter_of(model, name)
        if name.upper() in map(str.upper, parameters):
            raise CommandError(f"parameter {name} is both varied and set")
        reader = deck_reader(deck, (name,))
        width = abs(values[-1] - values[0])
        family = MapFamily(lambda p: reader({**parameters, name: p}), spelled, width, self.period, self.multiple)
        first = self.first(family, values[0], progress)
        still = Move(np.zeros_like(first.state.u), np.zeros_like(first.state.v))
        starts: deque[tuple[int, MapFamily, Orbit, Direction]] = deque()
        starts.append((0, family, first, (still, float(np.sign(values[-1] - values[0])))))
        branches: list[list[Point]] = []
        notices: list[str] = []
        known: list[Point] = []
        while starts:
            depth, its, orbit, along = starts.popleft()
            walk = Walk(its, (values[0], values[-1]), len(values), known)
            far = max(abs(end - orbit.value) for end in (values[0], values[-1]))
            with showing(progress, far) as told:
                branches.append([])
                for point in walk.run(orbit, along):
                    branches[-1].append(point)
                    reached = max(abs(each.orbit.value - orbit.value) for each in branches[-1])
                    text = f"branch {len(branches)}, {len(branches[-1])} orbits"
                    told.move(reached, f"{text}, {spelled} = {point.orbit.value:.6g}")
                told.move(far, f"branch {len(branches)} has ended")
            notices += walk.notices
            for point in branches[-1]:
                if point.kind not in (DOUBLING, BRANCH):
                    continue
                known.append(point)
                try:
                    for found in switched(its, point, FIRST_STEP * walk.longest) if depth < self.depth else ():
                        starts.append((depth + 1, *found))
                except FemError as error:
                    notices.append(f"no branch was found at the {point.kind}{its.named(point.orbit.value)}: {error}")
        return self.table(branches, family.name, notices, (values[0], values[-1]))

    def table(
        self, branches: list[list[Point]], name: str, notices: list[str], ends: tuple[float, float] = (0.0, 0.0)
    ) -> Orbits:
        numbered = enumerate(branches, 1)
        points = [(number, place, point) for number, its in numbered for place, point in enumerate(its, 1)]
        model = points[0][-1].orbit.slopes.strobe.model
        what = without_kind(self.what.upper()) or moving_most(model, (point.orbit.section for *_, point in points))
        kept = columns_named(model, what)
        rows = [self.row(name, kept, *each) for each in points]
        widest = max(rows, key=len)  # with taut ropes in the section there are fewer multipliers
        columns = {column: np.array([row.get(column, np.nan) for row in rows]) for column in widest}
        return Orbits(columns, name, what, tuple(point.orbit for *_, point in points), tuple(notices), ends)

    def row(self, name: str, kept: Sequence[str], branch: int, place: int, point: Point) -> dict[str, Any]:
        """Numbers of a point: ``start`` is the largest of what is kept in the section."""
        orbit = point.orbit
        (start, *_), values = orbit.section.largest(kept)
        found: dict[str, Any] = {"branch": branch, "point": place} | ({name: orbit.value} if name else {})
        found |= {"arclength": point.arclength, "kind": point.kind, "multiple": orbit.multiple}
        found |= {"unstable": orbit.unstable, "start": start, "least": values.min(), "greatest": values.max()}
        found |= {"impacts": orbit.happened["impact"], "residual": orbit.residual, "iterations": orbit.iterations}
        count = min(LEADING, len(orbit.multipliers))
        for n, value in enumerate(orbit.multipliers[:count], 1):
            found |= {f"multiplier_{n}": value.real, f"multiplier_{n}_i": value.imag}
        return found


def orbits(
    deck: str | Path | Model,
    grid: Mapping[str, Iterable[float]] | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    multiple: int = 1,
    transient: int = 0,
    what: str = "",
    depth: int = 1,
    progress: Progress = False,
) -> Orbits:
    """Periodic orbits of the last step of a deck, stable or unstable, by Newton's method on the stroboscopic map.

    deck        path of the ``.inp``; without ``grid`` also a ``Model``
    grid        name -> values of one parameter: the branch is followed from the first to the last, around folds, in
                steps of arclength of about the distance of two values; bifurcations are located and classified
    parameters  other values that override those of the deck
    period      period of the excitation, or the name of its ``*PARAMETER``; None: that of the deck's PERIODIC amplitude
    multiple    periods of the excitation after which orbits repeat
    transient   periods from the deck's initial state to the first guess; 0: the initial state is the first guess
    what        column whose range the table contains: ``U1_2``, ``T_1`` (force of an element), ``T_TOPS`` (at each
                instant the largest in a set); empty: the displacement that moves most
    depth       follow branches that start at bifurcations, and branches of these, to this depth
    progress    as for ``run``; the share is of the range of the parameter, branch by branch

    Raises
    ------
    CommandError   the increments do not divide the period, or there is no such parameter
    NoConvergence  no orbit was found near the initial state

    >>> found = orbits("inputs/string_pendulum_rigid.inp", parameters={"A": 4.0, "beta": 0.5})
    >>> found.orbits[0].unstable, found["multiplier_1"].round(4).tolist()
    (0, [0.3987])
    """
    values = None if grid is None else make_grid(grid)
    return Search(period, multiple, transient, what, depth).find(deck, dict(parameters or {}), values, progress)
