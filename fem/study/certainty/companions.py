"""The companions of a run: the same deck with tighter criteria, with a half and a quarter of its increments, with
twice the bars.

All companions iterate to a residual a thousand times smaller, so that what differs between them is dt or the mesh
alone; the run itself against the companion with its own increments shows what its criterion leaves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Ints
from fem.deck.refined import Refined, refined
from fem.errors import NoConvergence
from fem.model import Controls, Dynamic, Model, Static, Step
from fem.runner import drive, verdict_of
from fem.runs.history import History, HistorySink
from fem.runs.record import Requests
from fem.runs.run_record import COMPLETED, Timing
from fem.study.question import Answer, Job, Question, Row
from fem.study.workers import DIED, Block, LostWorker, likely_seconds, on_this_machine, process_team

TIGHT, HALF, QUARTER, FINE = "residual", "dt/2", "dt/4", "mesh"
TIGHTER, LESS_TIGHT = 1e-3, 0.1
"""Residuals of companions over that of the run; and where that cannot be reached."""
LOCAL_ORDER = 3
"""Of the error of one increment, by which automatic increments are chosen."""
MOST_NUMBERS = 40_000_000
"""Kept of a companion; beyond that only some of its rows are."""


@dataclass(frozen=True, slots=True)
class Motion(Question):
    """The motion of one model, iterated as far as it can be."""

    kind: ClassVar[str] = "error bars"
    every: int = 1
    solver: str = "AUTO"

    def columns(self) -> list[str]:
        return []

    def sink(self, model: Model) -> Any:
        """What takes in the motion, and has its ``history()``."""
        return HistorySink(model, self.every)

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        verdict, found = COMPLETED, None
        for factor in (TIGHTER, LESS_TIGHT, 1.0):
            sink = self.sink(model)
            requests = Requests(self.solver, record_all=True, fields=False)
            try:
                drive(tightened(model, factor), requests, None, Timing(), None, sink)
            except Exception as error:
                verdict, found = verdict_of(error), sink.history()
                if isinstance(error, NoConvergence):
                    continue
            return verdict, (), sink.history()
        return verdict, (), found


def tightened(model: Model, factor: float) -> Model:
    """The model with smaller residuals."""

    def tighter(controls: Controls) -> Controls:
        names = ("residual_relative", "residual_absolute", "correction_relative")
        given = {name: getattr(controls, name) for name in names}
        smaller = {name: value * factor for name, value in given.items() if value is not None}
        return replace(controls, **smaller, max_iterations=2 * controls.max_iterations)

    return replace(model, steps=tuple(replace(step, controls=tighter(step.controls)) for step in model.steps))


def divided(model: Model, parts: int, dt: Mapping[int, float]) -> Model:
    """The model with each increment in ``parts``. dt: step -> increment, of steps that leave it to the solver."""
    return replace(
        model, steps=tuple(divided_step(step, parts, dt.get(n, 0.0)) for n, step in enumerate(model.steps, 1))
    )


def divided_step(step: Step, parts: int, dt: float) -> Step:
    """Statics follow the same loads in the same increments, as no time passes, unless materials creep."""
    procedure = step.procedure
    if not (isinstance(procedure, Dynamic) or (isinstance(procedure, Static) and procedure.creeps)):
        return step
    given = {"dt": procedure.dt or dt, "dt_min": procedure.dt_min, "dt_max": procedure.dt_max}
    smaller: dict[str, Any] = {name: value / parts for name, value in given.items() if value is not None}
    error = step.controls.time_error
    if error and not getattr(procedure, "direct", False):
        error /= parts**LOCAL_ORDER
    controls = replace(step.controls, time_error=error)
    most = step.max_increments and step.max_increments * int(parts**LOCAL_ORDER)
    return replace(step, procedure=replace(procedure, **smaller), controls=controls, max_increments=most)


@dataclass(frozen=True, eq=False)
class Companions:
    """What is to be run beside a model, and why some is not.

    missing  name of a companion -> why there is none
    """

    model: Model
    mesh: bool = True
    every: int = 1
    solver: str = "AUTO"

    @cached_property
    def fine(self) -> Refined:
        return refined(self.model)

    @property
    def moves(self) -> bool:
        """Time passes in some step."""
        return any(divided_step(step, 2, 1.0) is not step for step in self.model.steps)

    @property
    def is_explicit(self) -> bool:
        """The critical increment of half as long bars is half as long, too: theirs are halved."""
        procedures = (step.procedure for step in self.model.steps)
        return any(isinstance(each, Dynamic) and each.integrator == "CENTRAL DIFFERENCE" for each in procedures)

    @property
    def compared(self) -> tuple[str, ...]:
        """Names, in the order of ``richardson.estimate``; with the last one that of twice the bars is compared."""
        return TIGHT, HALF, QUARTER, FINE, HALF if self.is_explicit else TIGHT

    @property
    def missing(self) -> dict[str, str]:
        found: dict[str, str] = {}
        if not self.moves:
            found |= dict.fromkeys((HALF, QUARTER), "no time passes in any step")
        if not self.mesh:
            found[FINE] = "the mesh is the model, as asked for"
        elif not len(self.fine.split):
            found[FINE] = "no bar is a piece of a line"
        return found

    def models(self, plain: History | None) -> dict[str, Model]:
        """Name -> model; plain: the run itself, where steps leave their increments to the solver."""
        dt = increments_of(plain) if plain else {}
        found = {TIGHT: self.model}
        if HALF not in self.missing:
            found |= {HALF: divided(self.model, 2, dt), QUARTER: divided(self.model, 4, dt)}
        if FINE not in self.missing:
            found[FINE] = divided(self.fine.model, 2, dt) if self.is_explicit else self.fine.model
        return found

    def jobs(self, plain: History | None) -> list[Job]:
        """Of all companions, those that take longest first."""
        models = self.models(plain)
        numbers = len(self.model.mesh.node_labels) * 12 + len(self.model.mesh.element_labels) * 4
        size = numbers * sum(increments_in(step) for step in self.model.steps)
        found = []
        for name in sorted(models, key=LONGEST.index):
            parts = {HALF: 2, QUARTER: 4}.get(name, 1) if size * 4 > MOST_NUMBERS else 1
            found.append(Job(LONGEST.index(name), models[name], Motion(self.every * parts, self.solver), True))
        return found

    def run(self, plain: History, processes: int | None = None) -> dict[str, Answer]:
        """Name -> what came of it, of all companions; in processes side by side where that is sooner."""
        jobs = self.jobs(plain)
        answers = [each for some in on_this_machine(iter(jobs), len(jobs), processes) for each in some]
        return {LONGEST[answer.point]: answer for answer in answers}

    @contextmanager
    def beginning(self, processes: int | None = None) -> Iterator[Callable[[History], dict[str, Answer]]]:
        """Companions of a long run begin at once, in processes of their own, while it goes; what this gives waits for
        their answers. Those of a short run, or of one whose increments are the solver's, follow it.
        """
        count = processes or os.cpu_count() or 1
        left_open = any(isinstance(step.procedure, Dynamic) and not step.procedure.dt for step in self.model.steps)
        if count < 2 or left_open or likely_seconds(self.model) < LONG:
            yield lambda history: self.run(history, processes)
            return
        waiting = self.jobs(None)
        with process_team(min(count, len(waiting))) as team:
            under_way = 0
            answers: list[Answer] = []

            def submit() -> int:
                free = min(team.capacity - under_way, len(waiting))
                for _ in range(free):
                    team.submit(Block((waiting.pop(0),)))
                return free

            def collected(history: History) -> dict[str, Answer]:
                nonlocal under_way
                while under_way:
                    for block, outcome in team.collect():
                        under_way -= 1
                        if isinstance(outcome, LostWorker):
                            outcome = [Answer(job.point, DIED.format(why=outcome.why), ()) for job in block.jobs]
                        answers.extend(outcome)
                    under_way += submit()
                return {LONGEST[answer.point]: answer for answer in answers}

            under_way = submit()
            yield collected


LONGEST = (QUARTER, HALF, FINE, TIGHT)
"""By the time that they take."""
LONG = 0.05
"""Guess of ``likely_seconds`` (a second or more, in truth) of a run whose companions begin with it."""


def increments_of(plain: History) -> dict[int, float]:
    """Step -> its largest increment."""
    steps = range(1, len(plain.model.steps) + 1)
    return {step: float(np.nan_to_num(plain.dt[plain.of_step(step)]).max(initial=0.0)) for step in steps}


def increments_in(step: Step) -> float:
    procedure = step.procedure
    return procedure.period / procedure.dt if isinstance(procedure, Dynamic | Static) and procedure.dt else 1.0


def halves_of(fine: Refined, name: str) -> Ints:
    """(k, 2) elements of a companion that are the halves of each of the model."""
    count = len(fine.halves)
    return fine.halves if name == FINE else np.column_stack([np.arange(count)] * 2)
