"""Continuation of a motion up and down in a parameter: each value starts from the final state of the one before."""

from __future__ import annotations

import io
import math
from collections.abc import Generator, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar
from zipfile import BadZipFile

import numpy as np

from fem.arrays import Floats, Ints
from fem.commands.files import replace_file
from fem.errors import CommandError
from fem.model import Model
from fem.runner import verdict_of
from fem.runs.progress import Progress
from fem.runs.record import Rows
from fem.runs.run_record import COMPLETED
from fem.solve.rope_states import ropes_of
from fem.study import sections
from fem.study.exponents import BATCHES, rates
from fem.study.growth import EVERY, SEED, TwoGrowth
from fem.study.points import Points, make_grid
from fem.study.question import Answer, Question, Row
from fem.study.sections import SectionSink
from fem.study.strobe import State, Strobe
from fem.study.sweep import Plan, Sweep, carry_out, first_of, make_plan

TRANSIENT, POINTS = 100, 64
"""Number of periods before the section at each value, and of points of the section after that."""
NUDGE = 1e-6
METHODS = ("tangent", "two", "none")
WAY = "way"
"""Column of the direction: up (1) or down (-1)."""
KEPT = "state.npz"


class Taut(SectionSink):
    """A section, with the fraction of increments after the transient in which each rope pulled and each stop pushed."""

    ropes = np.zeros(0, np.int64)

    def watch(self, strobe: Strobe) -> None:
        """Watches all ropes and stops that are elements, printed or not."""
        labels = [strobe.last.system.label_of_bar(int(bar)) for bar in ropes_of(strobe.last.system)]
        self.ropes = np.array([strobe.last.system.element_index[label] for label in labels if label], np.int64)
        strobe.last.elements = np.union1d(strobe.last.elements, self.ropes)
        self.pulling, self.count = np.zeros(len(self.ropes)), 0

    def rows(self, rows: Rows) -> None:
        super().rows(rows)
        late = rows.increment > self.first
        if rows.step == self.step and len(self.ropes):
            tension = rows.values(self.model)["e"]["T"][late][:, np.searchsorted(rows.elements, self.ropes)]
            self.pulling += np.count_nonzero(tension, axis=0)
            self.count += len(tension)

    @property
    def fraction(self) -> float:
        """Mean fraction over all ropes and stops; NaN: there are none."""
        return float(self.pulling.mean() / self.count) if len(self.ropes) else math.nan


@dataclass(frozen=True, slots=True)
class Continuation(Question):
    """Settings of ``continuation``."""

    period: float | str | None = None
    transient: int = TRANSIENT
    points: int = POINTS
    what: str = ""
    method: str = METHODS[0]
    nudge: float = NUDGE
    kind: ClassVar[str] = "continue"
    figures: ClassVar[tuple[str, ...]] = ("points.csv", "continue.png", KEPT)
    counts: ClassVar[tuple[str, ...]] = ("period",)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CommandError(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")
        if self.points < 2:
            raise CommandError("a section has at least 2 points")

    def decided(self, model: Model) -> Continuation:
        """The settings with the one column that all rows keep, chosen from a motion of this model."""
        return replace(self, what=sections.chosen_column(model, self.period, self.what))

    def columns(self) -> list[str]:
        """``taut``: fraction of increments in which ropes pull and stops push; ``exponent`` with its error."""
        numbered = (f"point_{n}" for n in range(1, self.points + 1))
        return ["period", "least", "greatest", "taut", "exponent", "error", *numbered]

    def follow(self, model: Model, start: State | None) -> tuple[str, Row, State | None]:
        """Verdict, row, and final state; the initial one if the run failed."""
        try:
            row, end = self._row(model, start)
        except Exception as error:
            return verdict_of(error), self.empty_row(), start
        return COMPLETED, row, end

    def _row(self, model: Model, start: State | None) -> tuple[Row, State]:
        cycles = self.transient + self.points
        every = sections.strobe(model, self.period)[1]
        sink = Taut(model, every, cycles, self.points)
        strobe = Strobe(model, self.period, cycles, sink)
        sink.watch(strobe)
        u, v, _ = start or strobe.first
        push = np.random.default_rng(SEED).standard_normal(len(v)) * strobe.last.stage.nodes.mask  # always the same
        start = State(u, v + self.nudge * strobe.scale[1] * push)
        strobe.begin(start)
        if self.method == "tangent":
            strobe.last.every = EVERY
            strobe.last.perturb(1)
            end = strobe.march()
            grown = np.concatenate(strobe.last.grown)
        elif self.method == "two":
            other = Strobe(model, self.period, cycles)
            other.begin(start)
            grown = np.zeros((0, 2))
            with suppress(CommandError):  # an impact has made both motions equal: no exponent
                growth = TwoGrowth(model, None, (strobe.trajectory, other.trajectory))
                growth.follow()
                grown = growth.rows
            end = strobe.march()
        else:
            grown, end = np.zeros((0, 2)), strobe.march()
        section = sink.section()
        what = self.what or sections.moving_most(model, [section])
        values, track = section.largest(sections.columns_named(model, what))
        numbers = section.period, float(track.min()), float(track.max()), sink.fraction
        return (*numbers, *self._exponent(grown, self.transient * strobe.period), *values.tolist()), end

    def _exponent(self, grown: Floats, transient: float) -> tuple[float, float]:
        """The exponent and its error, from the time of the section; NaN without growth."""
        if self.method == "none" or not len(grown):
            return math.nan, math.nan
        late = grown[grown[:, -1].cumsum() > transient]
        if len(late) < 2 * BATCHES:
            raise CommandError(f"{len(late)} intervals are too few for an exponent: increase --points")
        values, errors = rates(late[:, :-1], late[:, -1])
        return float(values[0]), float(errors[0])


def follow_plan(
    deck: str | Path | Model, values: Points, back: bool, parameters: Mapping[str, float], study: Continuation
) -> Plan:
    """A plan whose first axis is the direction; CommandError unless exactly one parameter is varied."""
    study = study.decided(first_of(deck, parameters, values))
    if len(values.names) != 1:
        raise CommandError("a continuation varies one parameter")
    plan = make_plan(deck, values, parameters, False, lambda _: study)
    grid = Points((WAY, *plan.grid.names), ((1.0, -1.0) if back else (1.0,), *values.values))
    columns = [WAY if name == "point" else name for name in plan.identity["columns"]]
    columns[:1] = ["point", WAY]
    identity = {**plan.identity, "grid": grid.identity, "columns": columns}
    return replace(plan, grid=grid, identity=identity)


def followed(plan: Plan, folder: Path | None, missing: Ints) -> Generator[list[Answer], None, None]:
    """Answers in the order of the motion, up and then down, from the last stored state on."""
    study = plan.question
    assert isinstance(study, Continuation)
    count = int(np.count_nonzero(plan.grid.columns()[WAY] > 0.0))
    order = [*range(count), *reversed(range(count, len(plan.grid)))]
    done, state = kept_state(folder, order, set(missing.tolist())) if len(missing) else (len(order), None)
    for place in range(done, len(order)):
        point = order[place]
        values = {name: value for name, value in plan.grid.point(point).items() if name != WAY}
        try:
            model = plan.read({**plan.fixed, **values})
        except Exception as error:
            verdict, row = verdict_of(error), study.empty_row()
        else:
            verdict, row, state = study.follow(model, state)
        yield [Answer(point, verdict, row)]
        if folder is not None and state is not None:
            content = io.BytesIO()
            np.savez(content, place=place, u=state.u, v=state.v)
            replace_file(folder / KEPT, content.getvalue())


def kept_state(folder: Path | None, order: list[int], missing: set[int]) -> tuple[int, State | None]:
    """Number of values done, and the state after them; from the start if the stored state does not belong to this
    study."""
    if folder is not None and (folder / KEPT).is_file():
        with suppress(OSError, ValueError, KeyError, BadZipFile), np.load(folder / KEPT) as kept:
            place, state = int(kept["place"]), State(kept["u"], kept["v"])
            if not missing & set(order[: place + 1]):
                return place + 1, state
    return 0, None


def continuation(
    deck: str | Path | Model,
    grid: Mapping[str, Iterable[float]],
    *,
    back: bool = True,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    transient: int = TRANSIENT,
    points: int = POINTS,
    what: str = "",
    method: str = METHODS[0],
    nudge: float = NUDGE,
    output: str | Path | None = None,
    force: bool = False,
    progress: Progress = False,
) -> Sweep:
    """Follow the motion of the last step of a deck through the values of one parameter, up and, with ``back``, down.

    Each value starts from the final state of the value before. If several motions are possible, the direction decides
    which is found (hysteresis). The table has a row for each value and ``way`` (1 up, -1 down): ``period`` in periods
    of the excitation (0: aperiodic), range and section of ``what``, ``taut`` (fraction of increments in which ropes are
    taut and stops closed), ``exponent`` with its error.

    deck        path of the ``.inp``, or a ``Model``, as for ``sweep``
    back        also down again
    grid        name -> values in upward order;  parameters: other values that override those of the deck
    period      time between two points of the section, or a ``*PARAMETER``; None: that of the deck's PERIODIC amplitude
    transient   periods before the section at each value;  points: points of the section, one per period
    what        column that the table keeps: ``U1_2``, ``T_1`` (force of an element), ``T_TOPS`` (at each instant the
                largest in a set); empty: the displacement that moves most in the first periods at the first value
    method      of the exponent: ``tangent``, ``two`` (ropes and stops), ``none``
    nudge       perturbation of the velocities at the start of each value, as a fraction of the size of the model times
                the frequency, so that the run leaves a motion that has become unstable
    output, force, progress  as for ``sweep``; an interrupted continuation in the same folder continues

    Raises the errors of ``sweep``. A value that fails has its verdict; the next one starts from the last valid state.

    >>> deck = "inputs/string_pendulum_rigid.inp"
    >>> found = continuation(deck, {"A": [3.0, 4.0]}, parameters={"beta": 0.5}, points=8, method="none")
    >>> found["period"].tolist()
    [1, 1, 1, 1]
    """
    study = Continuation(period, transient, points, what, method, nudge)
    plan = follow_plan(deck, make_grid(grid), back, parameters or {}, study)
    own = None if output is None else plan.folder(output, force)
    with own or nullcontext():
        return carry_out(plan, own, partial(followed, plan, own.path if own else None), False, progress)
