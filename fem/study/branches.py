"""A branch of periodic orbits over a parameter, through folds, and the bifurcations on it.

Steps along the tangent, each corrected (``orbit.py``), so long that orbits change by no more than the range of the
parameter over the number of its values. Between two orbits a function of the multipliers mu changes its sign:

    fold                the tangent turns back in the parameter: t_p = 0, mu = 1
    branch point        product of 1 - mu, the tangent not turning back: another branch crosses (symmetry breaking)
    period doubling     product of 1 + mu: a branch of twice the period begins
    Neimark-Sacker      a complex pair crosses |mu| = 1: a torus begins
    grazing             other events of ropes and stops: an impact with no speed, a rope slack for no time

It is located by Brent's method along the step, and named only where mu is there.
Source: Kuznetsov, Elements of Applied Bifurcation Theory (2004), ch. 10; grazing: Nordmark, J. Sound Vib. 145 (1991).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Columns, Floats
from fem.deck import deck_reader, read_model
from fem.errors import CommandError, FemError, NoConvergence, proposal
from fem.model import Model
from fem.study.orbit import LEADING, UNSTABLE, Direction, Family, Orbit, correct, happened, tangent
from fem.study.points import Grid, make_grid
from fem.study.question import Study
from fem.study.sections import check_column, column_named, moving_most
from fem.study.strobe import Move

FOLD, BRANCH, DOUBLING, TORUS, GRAZING = "fold", "branch point", "period doubling", "Neimark-Sacker", "grazing"
PLACES = {FOLD: 1.0, BRANCH: 1.0, DOUBLING: -1.0}
"""Where a multiplier is."""
LEAST_STEPS = 10
"""Of a branch, however few values are given."""
SHORTEST = 1e-4
"""Shortest step, as a fraction of the longest one."""
TURN = 0.9
"""Least cosine between two tangents."""
CHANGED = 2.0
"""By which factor a motion has other ranges than those that are the scales, until these follow."""
ASTRAY = 1.5
"""How many steps away from the last orbit the next one may be."""
QUICK, GROWS = 4, 1.5
"""Iterations up to which the next step is longer, and by which factor."""
LOCATED = 1e-9
"""Fraction of a step to which bifurcations are located."""
THERE = 1e-3
"""How near to its place a multiplier is that names a bifurcation."""
BEYOND = 0.02
"""Step beyond the end of a branch, likewise, that shows what begins there: shorter impacts are not detected."""
MOST_STEPS = 20
"""Steps of a branch, per value of the parameter, beyond which it is left."""
MOST_TESTS = 60
ENTRANCES = 1.0, 0.25, 0.06
"""Steps with which a branch that begins is entered, as fractions of the first."""
SAME = 0.05
"""Distance of two bifurcations, over the longest step, below which they are one."""
AT_ENDS = 1e-6
"""Events nearer to the ends of the period than this fraction of it may move in or out without grazing."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """An orbit of a branch. along: the tangent there; arclength: from its start; kind: a bifurcation, or nothing."""

    orbit: Orbit
    along: Direction
    arclength: float
    kind: str = ""


def sign(kind: str, point: Point) -> float:
    """What changes its sign where a bifurcation is passed; NaN: nothing can."""
    multipliers = point.orbit.multipliers
    if kind == FOLD:
        return point.along[1]
    if kind == TORUS:  # the complex pair that is nearest to the unit circle
        pairs = np.abs(multipliers[multipliers.imag > 0.0])
        return float(pairs[np.abs(pairs - 1.0).argmin()] - 1.0 - UNSTABLE) if len(pairs) else np.nan
    return float(np.prod(multipliers - PLACES[kind]).real)


def off(kind: str, orbit: Orbit) -> float:
    """Distance of the nearest multiplier from where one is at a bifurcation."""
    if kind == TORUS:
        pairs = np.abs(orbit.multipliers[orbit.multipliers.imag != 0.0])
        return float(np.abs(pairs - 1.0).min(initial=np.inf))
    return float(np.abs(orbit.multipliers - PLACES[kind]).min())


class Walk:
    """Along one branch, from an orbit on, between two values of the parameter.

    longest  step over the scales;  known: bifurcations of other branches, at which this one may end
    notices  why it ended, what was not located
    """

    def __init__(self, family: Family, ends: tuple[float, float], count: int, known: Sequence[Point]) -> None:
        self.family, self.ends, self.known = family, (min(ends), max(ends)), known
        steps = max(count - 1, LEAST_STEPS)
        self.most, self.longest = MOST_STEPS * steps, 1.0 / steps
        self.notices: list[str] = []

    def run(self, first: Orbit, along: Direction) -> Iterator[Point]:
        """Points in order, bifurcations among them; along: roughly where to."""
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
                if any(self.is_same(point, other) for other in self.known):
                    return  # where it began, or where it ends, on another branch
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
        """The point, its tangent of length 1 over the ranges of its motion, which are the scales from here on."""
        reach, chart = here.orbit.reach, here.orbit.slopes.chart
        if reach is None or all(1.0 / CHANGED < r / s < CHANGED for r, s in zip(reach, chart.scale, strict=True)):
            return here
        self.family = replace(self.family, scale=reach)
        (du, dv), dp = here.along
        y = chart.scaled(reach).directions(du, dv)
        length = float(np.hypot(np.linalg.norm(y), dp))
        return replace(here, along=(Move(du / length, dv / length), dp / length))

    def grazes(self, here: Point) -> bool:
        """Ropes and stops do something else a little further on, where no orbit was found."""
        (move, change), step = here.along, BEYOND * self.longest
        strobe, tape = self.family.strobe(here.orbit.value + step * change * self.family.width)
        try:
            strobe.go(here.orbit.state.moved(move, step))
        except FemError:
            return False
        return happened(tape.events) != here.orbit.happened

    def is_same(self, one: Point, other: Point) -> bool:
        return distance(one, other) < SAME * self.longest

    def after(self, here: Point, step: float) -> Point:
        """The point of the branch a step further."""
        move, change = here.along
        value = here.orbit.value + step * change * self.family.width
        orbit = correct(self.family, here.orbit.state.moved(move, step), value, here.along)
        return Point(orbit, tangent(self.family, orbit, here.along), here.arclength + step)

    def last(self, here: Point, there: Point) -> Iterator[Point]:
        """What is left of a step up to the end of the range."""
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
        """Where it is; None (and a notice) where that is not to be found, or no multiplier is there."""
        from scipy.optimize import brentq  # it takes a third of a second, and few commands need it

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
            if kind != TORUS:  # two real multipliers may become such a pair outside the circle
                near = self.family.named(here.orbit.value)
                self.notices.append(
                    f"a {kind} could not be located between two orbits,{near} and{self.family.named(there.orbit.value)}"
                )
            return None
        return replace(point, kind=kind)

    def graze(self, here: Point, there: Point) -> Point | None:
        """Where ropes and stops do something else, halved down to round-off; None: an event has left the period."""
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
    """Between two orbits, over the scales; of different periods: of their starts."""
    y = one.orbit.slopes.chart.coordinates(other.orbit.state)
    return float(np.hypot(np.linalg.norm(y), one.orbit.place - other.orbit.place))


def turn_of(one: Point, other: Point) -> float:
    """Cosine between two tangents."""
    chart = one.orbit.slopes.chart
    first, second = (np.append(chart.directions(*point.along[0]), point.along[1]) for point in (one, other))
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def switched(family: Family, point: Point, step: float) -> Iterator[tuple[Family, Orbit, Direction]]:
    """First orbits, one step away, of the branches that start at a bifurcation, and their directions.

    Of a doubling the one branch (half a period later it is that to the other side); of a branch point both sides.
    """
    orbit, chart = point.orbit, point.orbit.slopes.chart
    if point.kind == DOUBLING:
        family = replace(family, multiple=2 * family.multiple)
    vector = orbit.vectors[:, int(np.abs(orbit.multipliers - PLACES[point.kind]).argmin())].real
    away, change = vector / np.linalg.norm(vector), 0.0
    if point.kind == BRANCH:  # across the branch that it is on
        along = np.append(chart.directions(*point.along[0]), point.along[1])
        whole = np.append(away, 0.0)
        whole -= along * float(along @ whole) / float(along @ along)
        away, change = whole[:-1], float(whole[-1])
    for side in (1.0,) if point.kind == DOUBLING else (1.0, -1.0):
        leave = chart.moves(side * away), side * change
        yield family, entered(family, orbit, leave, step), leave


def entered(family: Family, orbit: Orbit, leave: Direction, step: float) -> Orbit:
    """The first orbit of a branch that leaves another one; NoConvergence: none is found, however near."""
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
"""Parts of the range of a parameter below this fraction of it are not missed."""
ELSEWHERE = "another initial state, or --transient N, which starts from the motion after N periods"
FIRST_STEP = 0.5
"""Of the longest step: how far from a bifurcation a branch that begins there is entered."""


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
        self.notices = (*notices, *self._of_missed())

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

    def _of_missed(self) -> Iterable[str]:
        if len(self.missed):
            part = float(np.diff(self.missed).sum()) / abs(self.range[1] - self.range[0])
            parts = ", ".join(f"{first:.6g} to {last:.6g}" for first, last in self.missed)
            yield (
                f"{100.0 * part:.3g} % of the range was not reached: {self.name} = {parts}. The branches turn back or "
                f"end before it, but there may be others: try {ELSEWHERE}, the range from its other end, or fem "
                "continue, which follows stable motions"
            )

    def bifurcations(self) -> list[str]:
        """A line for each bifurcation."""
        (rows,) = np.nonzero(self["kind"] != "")
        return [
            f"{self['kind'][row]} at {self.name} = {self[self.name][row]:.9g} (branch {self['branch'][row]}, "
            f"period {self['multiple'][row]})"
            for row in rows
        ]


@dataclass(frozen=True, slots=True)
class Search(Study):
    """How orbits are looked for.

    period     of the drive, or the ``*PARAMETER`` that has it; None: that of the deck's PERIODIC amplitude
    multiple   periods of the drive after which orbits come back
    transient  periods from the deck's own start to the first guess
    what       column of the section whose range the table has; empty: the displacement that moves most
    depth      follow branches that start at bifurcations, and branches of these, to this depth
    """

    period: float | str | None = None
    multiple: int = 1
    transient: int = 0
    what: str = ""
    depth: int = 1
    kind: ClassVar[str] = "orbits"

    def find(self, deck: str | Path | Model, parameters: Mapping[str, float], grid: Grid | None) -> Orbits:
        if grid is None:
            model = read_model(deck, parameters)
            check_column(model, self.what)
            first = self.first(Family(lambda _: model, "", 1.0, self.period, self.multiple), 0.0)
            still = Move(np.zeros_like(first.state.u), np.zeros_like(first.state.v))
            return self.table([[Point(first, (still, 1.0), 0.0)]], "", [])
        if len(grid.names) != 1 or len(grid) < 2:
            raise CommandError("orbits are followed over one parameter, from its first value to its last one")
        if isinstance(deck, Model):
            raise CommandError("a parameter is varied in the text of a deck; this Model has been read already")
        return self.follow(deck, parameters, grid.names[0], grid.values[0])

    def first(self, family: Family, value: float) -> Orbit:
        """The orbit near the deck's own start, or near where it leads to."""
        strobe, _ = family.strobe(value)
        state = strobe.begin()
        for _ in range(-(-self.transient // self.multiple)):
            state = strobe.go(state)
        try:
            return correct(family, state, value)
        except NoConvergence as error:
            hint = "more periods of --transient, or another initial state" if self.transient else ELSEWHERE
            raise NoConvergence(f"{error}; try {hint}") from None

    def follow(self, deck: str | Path, parameters: Mapping[str, float], name: str, values: tuple[float, ...]) -> Orbits:
        """Branch after branch, those that begin on others after them."""
        model = read_model(deck, parameters)
        check_column(model, self.what)
        spellings = {known.upper(): known for known in model.parameters}
        if name.upper() not in spellings:
            raise CommandError(f"the deck has no *PARAMETER {name}; {proposal(name, spellings.values())}")
        if name.upper() in map(str.upper, parameters):
            raise CommandError(f"parameter {name} is both varied and set")
        reader = deck_reader(deck, (name,))
        family = Family(
            lambda value: reader({**parameters, name: value}),
            spellings[name.upper()],
            abs(values[-1] - values[0]),
            self.period,
            self.multiple,
        )
        first = self.first(family, values[0])
        still = Move(np.zeros_like(first.state.u), np.zeros_like(first.state.v))
        starts: deque[tuple[int, Family, Orbit, Direction]] = deque()
        starts.append((0, family, first, (still, float(np.sign(values[-1] - values[0])))))
        branches: list[list[Point]] = []
        notices: list[str] = []
        known: list[Point] = []
        while starts:
            depth, its, orbit, along = starts.popleft()
            walk = Walk(its, (values[0], values[-1]), len(values), known)
            branches.append(list(walk.run(orbit, along)))
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
        what = column_named(self.what) or moving_most(model, (point.orbit.section for *_, point in points))
        rows = [self.row(name, what, *each) for each in points]
        widest = max(rows, key=len)  # ropes that are taut in the section leave fewer multipliers
        columns = {column: np.array([row.get(column, np.nan) for row in rows]) for column in widest}
        return Orbits(columns, name, what, tuple(point.orbit for *_, point in points), tuple(notices), ends)

    def row(self, name: str, what: str, branch: int, place: int, point: Point) -> dict[str, Any]:
        """Numbers of a point: ``start`` is the value of ``what`` in the section."""
        orbit, section = point.orbit, point.orbit.section
        start, values = section.of(what)[0], section.motion_of(what)
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
) -> Orbits:
    """Periodic orbits of the last step of a deck, stable or unstable, by Newton's method on the stroboscopic map.

    deck        path of the ``.inp``; without ``grid`` also a ``Model``
    grid        name -> values of one parameter: the branch is followed from the first to the last, around folds, in
                steps of arclength of about the distance of two values; bifurcations are located and classified
    parameters  other values that override those of the deck
    period      period of the excitation, or the name of its ``*PARAMETER``; None: that of the deck's PERIODIC amplitude
    multiple    periods of the excitation after which orbits repeat
    transient   periods from the deck's initial state to the first guess; 0: the initial state is the first guess
    what        column whose range the table contains, such as ``U1_2``; empty: the displacement that moves most
    depth       follow branches that start at bifurcations, and branches of these, to this depth

    Raises
    ------
    CommandError   the increments do not divide the period, or there is no such parameter
    NoConvergence  no orbit was found near the initial state

    >>> found = orbits("inputs/string_pendulum_rigid.inp", parameters={"A": 4.0, "beta": 0.5})
    >>> found.orbits[0].unstable, found["multiplier_1"].round(4).tolist()
    (0, [0.3987])
    """
    values = None if grid is None else make_grid(grid)
    return Search(period, multiple, transient, what, depth).find(deck, dict(parameters or {}), values)
