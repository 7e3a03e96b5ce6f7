"""``fem.orbits``: periodic orbits of a deck, at one value or over a parameter, with branches that begin on others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Columns, Floats
from fem.branches.branch import BRANCH, DOUBLING, Point, Walk, switched
from fem.branches.orbit import LEADING, Direction, Family, Orbit, correct
from fem.branches.strobe import Move
from fem.chaos.sections import check_column, moving_most
from fem.deck import deck_reader, read_model
from fem.errors import CommandError, FemError, NoConvergence
from fem.model import Model
from fem.sweeping.grid import Grid, make_grid

REACHED = 1e-6
"""Parts of the range of a parameter below this fraction of it are not missed."""
ELSEWHERE = "another start, or --transient N, which begins where the motion has led to after N periods"
FIRST_STEP = 0.5
"""Of the longest step: how far from a bifurcation a branch that begins there is entered."""


class Orbits(Columns):
    """The table of ``orbits.csv``: a row for each orbit and each bifurcation between them, branch by branch.

    name     of the parameter; empty: none was varied
    what     column of the section that ``start``, ``least`` and ``greatest`` are of
    orbits   (k,) the orbits themselves
    notices  where branches ended, what was not located, what part of the range was not reached
    range    first and last value that were asked for; (0, 0): none was varied
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
            share = float(np.diff(self.missed).sum()) / abs(self.range[1] - self.range[0])
            parts = ", ".join(f"{first:.6g} to {last:.6g}" for first, last in self.missed)
            yield (
                f"{100.0 * share:.3g} % of the range was not reached: {self.name} = {parts}. The branches turn back or "
                f"end before it, but others may be there: try {ELSEWHERE}, the range from its other end, or fem "
                "continue, which follows what is stable"
            )

    def bifurcations(self) -> list[str]:
        """One line for each."""
        (rows,) = np.nonzero(self["kind"] != "")
        return [
            f"{self['kind'][row]} at {self.name} = {self[self.name][row]:.9g} (branch {self['branch'][row]}, "
            f"period {self['multiple'][row]})"
            for row in rows
        ]


@dataclass(frozen=True, slots=True)
class Search:
    """How orbits are looked for.

    period     of the drive, or the ``*PARAMETER`` that has it; None: that of the deck's PERIODIC amplitude
    multiple   periods of the drive after which orbits come back
    transient  periods from the deck's own start to the first guess
    what       column of the section whose range the table has; empty: the displacement that moves most
    depth      how many times branches are left for those that begin on them (period doublings, branch points)
    """

    period: float | str | None = None
    multiple: int = 1
    transient: int = 0
    what: str = ""
    depth: int = 1
    kind: ClassVar[str] = "orbits"

    @property
    def settings(self) -> Mapping[str, Any]:
        """For the record."""
        return {f"orbits {each.name}": getattr(self, each.name) for each in fields(self)}

    def find(self, deck: str | Path | Model, parameters: Mapping[str, float], grid: Grid | None) -> Orbits:
        """All of them."""
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
            hint = "more periods of --transient, or another start" if self.transient else ELSEWHERE
            raise NoConvergence(f"{error}; try {hint}") from None

    def follow(self, deck: str | Path, parameters: Mapping[str, float], name: str, values: tuple[float, ...]) -> Orbits:
        """Branch after branch, those that begin on others after them."""
        model = read_model(deck, parameters)
        check_column(model, self.what)
        spellings = {known.upper(): known for known in model.parameters}
        if name.upper() not in spellings:
            raise CommandError(f"the deck has no *PARAMETER {name}")
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
                    notices.append(f"no branch is found at the {point.kind}{its.named(point.orbit.value)}: {error}")
        return self.table(branches, family.name, notices, (values[0], values[-1]))

    def table(
        self, branches: list[list[Point]], name: str, notices: list[str], ends: tuple[float, float] = (0.0, 0.0)
    ) -> Orbits:
        """The rows of all points."""
        numbered = enumerate(branches, 1)
        points = [(number, place, point) for number, its in numbered for place, point in enumerate(its, 1)]
        model = points[0][-1].orbit.slopes.strobe.model
        what = self.what or moving_most(model, (point.orbit.section for *_, point in points))
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
    """Periodic orbits of the last step of a deck, stable or not: Newton's iteration on the stroboscopic map.

    deck        path of the ``.inp``; without ``grid`` also a ``Model``
    grid        name -> values of one parameter: the branch is followed from the first to the last one, through folds,
                in steps of arclength of about the distance of two values; bifurcations are located and named
    parameters  other values that override the deck's
    period      of the drive, or the ``*PARAMETER`` that has it; None: that of the deck's PERIODIC amplitude
    multiple    periods of the drive after which orbits come back
    transient   periods from the deck's own start to the first guess; 0: Newton sets off from the start itself
    what        column whose range the table has, as ``U1_2``; empty: the displacement that moves most
    depth       how many times branches are left for those that begin at period doublings and branch points

    Raises
    ------
    CommandError   increments that do not divide the period, no such parameter
    NoConvergence  there is no orbit near the start

    >>> found = orbits("inputs/string_pendulum_rigid.inp", parameters={"A": 4.0, "beta": 0.5})
    >>> found.orbits[0].unstable, found["multiplier_1"].round(4).tolist()
    (0, [0.3987])
    """
    values = None if grid is None else make_grid(grid)
    return Search(period, multiple, transient, what, depth).find(deck, dict(parameters or {}), values)
