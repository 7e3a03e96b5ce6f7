"""The companions of a run: the same deck with other increments, with twice the bars, with a tighter criterion.

Each companion shows one effect, by comparison with a run that differs in this only, and is as coarse as possible: the
effects of mesh and residuals are visible with increments of 2 dt and 4 dt, too. If nothing can be coarser, in statics
and EXPLICIT steps of lines, one companion differs in all. Together they cost two to three times the run. Short runs get
another companion, with half of the shortest increment, if the others do not show the order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from fem.deck.draft import machine_memory
from fem.errors import CommandError, ModelError, NoConvergence
from fem.model import Model, Step
from fem.runner import drive, verdict_of
from fem.runs.history import History
from fem.runs.progress import Progress, showing
from fem.runs.record import Requests
from fem.runs.run_record import COMPLETED, Timing
from fem.study.question import Answer, Job, Question, Row
from fem.study.refined import Refined, refined
from fem.study.tracks import SeriesSink, Track, every_name
from fem.study.trajectory import tightened
from fem.study.workers import (
    Block,
    likely_increments,
    likely_seconds,
    on_this_machine,
    process_team,
    solve_block,
    spread,
)

TIGHT, QUARTER, HALF, DOUBLE, FOURFOLD, FINE = "residual", "dt/4", "dt/2", "2 dt", "4 dt", "mesh"
RUN = ""
"""The run itself."""
FACTORS = {FOURFOLD: 4.0, DOUBLE: 2.0, RUN: 1.0, HALF: 0.5, QUARTER: 0.25}
"""Increment of a companion over that of the run; the error due to dt is computed from the last three available."""
BESIDE = {FOURFOLD: (DOUBLE, FOURFOLD), DOUBLE: (HALF, DOUBLE)}
"""By the longest increments of companions: those from which the order is computed."""
TIGHTER, LESS_TIGHT, TIGHT_ENOUGH = 1e-3, 0.1, 1e-8
"""Residuals of the tight companion over that of the run, and where that cannot be reached. Looser criteria become
1e-8, as do all in statics: Newton's last iteration may have reached a thousandth of a loose one already."""
LOCAL_ORDER = 3
"""Order of the error of one increment, by which automatic increments are chosen."""


@dataclass(frozen=True, slots=True)
class NumbersOverTime(Question):
    """Some numbers of one model over time.

    tightness  factors of the residual, tried in turn;  halves, every: as in ``SeriesSink``
    """

    kind: ClassVar[str] = "error bars"
    names: tuple[str, ...] = ()
    solver: str = "AUTO"
    tightness: tuple[float, ...] = (1.0,)
    halves: Mapping[int, int] = field(default_factory=dict)
    every: int = 1

    def columns(self) -> list[str]:
        return []

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, Any]:
        for factor in self.tightness:
            sink = SeriesSink(model, self.names, self.halves, self.every)
            try:
                drive(tightened(model, factor), self.requests, None, Timing(), None, sink)
            except Exception as error:
                verdict, found = verdict_of(error), sink.track()
                if isinstance(error, (NoConvergence, ModelError)):
                    continue
                return verdict, (), found
            return COMPLETED, (), sink.track()
        return verdict, (), found

    @property
    def requests(self) -> Requests:
        return Requests(self.solver, record_all=True, fields=False)


def stretched(model: Model, factor: float, dt: Mapping[int, float] | None = None) -> Model:
    """The model with other increments. dt: step -> increment, for steps whose increment the solver chooses."""
    dt = dt or {}
    steps = (stretched_step(step, factor, dt.get(n, 0.0)) for n, step in enumerate(model.steps, 1))
    return replace(model, steps=tuple(steps))


def stretched_step(step: Step, factor: float, dt: float) -> Step:
    """Statics follow the same loads in the same increments, as no time passes, unless materials creep.

    The energy watch is off, because longer increments may lose more energy than the run.
    """
    if not (step.dynamic or (step.static and step.static.creeps)):
        return step
    procedure = step.timed
    given = {"dt": procedure.dt or dt, "dt_min": procedure.dt_min, "dt_max": procedure.dt_max}
    other: dict[str, Any] = {name: value * factor for name, value in given.items() if value is not None}
    other["dt"] = min(other["dt"], procedure.period)
    error = step.controls.time_error
    if error and not getattr(procedure, "direct", False):
        error *= factor**LOCAL_ORDER
    drift = None if factor > 1.0 else step.controls.energy_drift
    controls = replace(step.controls, time_error=error, energy_drift=drift)
    most = step.max_increments and max(1, round(step.max_increments / min(1.0, factor**LOCAL_ORDER)))
    return replace(step, procedure=replace(procedure, **other), controls=controls, max_increments=most)


@dataclass(frozen=True, eq=False)
class Companions:
    """The companions of a model.

    mesh   False: the mesh is the model
    names  of the numbers that are kept of each; None: all
    """

    model: Model
    mesh: bool = True
    solver: str = "AUTO"
    names: tuple[str, ...] | None = None

    @cached_property
    def fine(self) -> Refined:
        return refined(self.model)

    @property
    def moves(self) -> bool:
        """Whether some step has a time."""
        return any(stretched_step(step, 0.5, 1.0) is not step for step in self.model.steps)

    @property
    def is_explicit(self) -> bool:
        """EXPLICIT: increments cannot be longer, and half as long bars need half as long increments; there are no
        iterations."""
        moves = (step.dynamic for step in self.model.steps)
        return any(dynamic and dynamic.integrator == "CENTRAL DIFFERENCE" for dynamic in moves)

    @property
    def has_mesh(self) -> bool:
        """Whether some bars are pieces of a line, which can be split."""
        return self.mesh and len(self.fine.split) > 0

    @property
    def is_joint(self) -> bool:
        """Whether one companion shows all: with twice the bars and half the increment, or a tighter criterion in
        statics."""
        return self.has_mesh and (self.is_explicit or not self.moves)

    @property
    def coarsest(self) -> str:
        """The run with which smaller residuals are compared, and a finer mesh if that is the only other one."""
        if self.is_joint or self.is_explicit or not self.moves:
            return RUN
        return FOURFOLD if self.has_mesh else DOUBLE

    @property
    def beside_fine(self) -> str:
        """The run with which the finer mesh is compared."""
        return DOUBLE if self.coarsest == FOURFOLD else RUN

    @cached_property
    def missing(self) -> dict[str, str]:
        """Name of a companion -> reason why there is none."""
        found: dict[str, str] = {}
        if not self.moves:
            found["dt"] = "no time passes in any step"
        if not self.mesh:
            found[FINE] = "the mesh is the model, as asked for"
        elif not self.has_mesh:
            found[FINE] = "no bar is a piece of a line"
        elif self.is_joint:
            found["dt" if self.moves else TIGHT] = "it is part of that of the mesh, which one companion shows"
        return found

    def jobs(self, dt: Mapping[int, float] | None) -> dict[str, Job]:
        """Name -> job, the longest first. dt: as in ``stretched``."""
        names = every_name(self.model) if self.names is None else self.names
        plain = NumbersOverTime(names, self.solver, every=2 if self.is_explicit else 1)
        loosest = max([step.controls.residual_relative or 0.0 for step in self.model.steps])
        first = min(TIGHTER if self.moves else LESS_TIGHT, TIGHT_ENOUGH / loosest) if loosest else TIGHTER
        factors = tuple(sorted({first, max(first, TIGHTER), LESS_TIGHT}))
        tight = replace(plain, tightness=factors)
        jobs = {}
        if self.has_mesh:
            beside = plain if self.moves else replace(tight, tightness=(*factors, 1.0))
            motion = replace(beside, halves=self.fine.second)
            factor = FACTORS[HALF if self.is_explicit else self.beside_fine]
            jobs[FINE] = Job(0, stretched(self.fine.model, factor, dt), motion, True)
        if not (self.is_joint or self.is_explicit):
            jobs[TIGHT] = Job(0, stretched(self.model, FACTORS[self.coarsest], dt), tight, True)
        chosen = (HALF,) if self.is_explicit and not self.is_joint else BESIDE.get(self.coarsest, ())
        for name in chosen:
            jobs[name] = Job(0, stretched(self.model, FACTORS[name], dt), plain, True)
        return {name: replace(job, point=place) for place, (name, job) in enumerate(jobs.items())}

    def finer(self, than: str, plain: History | Track) -> dict[str, Job]:
        """The companion with half the increment of another one, down to a quarter of that of the run."""
        levels = list(FACTORS)
        names = every_name(self.model) if self.names is None else self.names
        motion = NumbersOverTime(names, self.solver)
        chosen = levels[levels.index(than) + 1 :][:1]
        dt = increments_of(plain)
        return {name: Job(0, stretched(self.model, FACTORS[name], dt), motion, True) for name in chosen}

    @property
    def is_short(self) -> bool:
        """Whether companions run after the run in its process, because other processes would not be ready sooner."""
        return likely_seconds(self.model) < LONG

    def run(
        self, plain: History | Track, processes: int | None = None, progress: Progress = False
    ) -> dict[str, Answer]:
        """Name -> result of all companions; in parallel processes if that is faster."""
        self.check_size(len(plain.time))
        return answered(self.jobs(increments_of(plain)), processes, progress)

    def check_size(self, increments: float) -> None:
        """CommandError: the numbers at all increments need more than half of the memory."""
        count = len(every_name(self.model) if self.names is None else self.names)
        if (needed := BYTES_EACH * count * increments) > 0.5 * machine_memory():
            what = f"error bars of {count} numbers at {increments:.0f} increments need about {needed / 1e9:.2g} GB"
            hint = "print sets of fewer nodes and elements, or ask for single numbers (fem converge --want max:T_e1)"
            raise CommandError(f"{what}: {hint}")

    @contextmanager
    def beginning(
        self, processes: int | None = None
    ) -> Iterator[Callable[[History | Track, Progress], dict[str, Answer]]]:
        """Starts the companions of a long run in other processes; some may follow it in this one, as do all of a short
        run, or of one with increments chosen by the solver. Yields a function that waits for their results.
        """
        count = processes or os.cpu_count() or 1
        left_open = any(step.dynamic and not step.dynamic.dt for step in self.model.steps)
        if not left_open:
            self.check_size(likely_increments(self.model))
        jobs = self.jobs(None)
        if count < 2 or left_open or not jobs or self.is_short:
            yield lambda plain, progress: self.run(plain, processes, progress)
            return
        here, *others = shared(self.model, jobs.values(), count)
        with process_team(len(others)) as team:
            answers = spread(team, map(Block, others))
            next(answers)  # starts them

            def collected(plain: History | Track, progress: Progress) -> dict[str, Answer]:
                return counted(jobs, chain(map(solve_block, [here]), answers), progress)

            yield collected


BYTES_EACH = 120.0
"""Of a number at an increment, in all processes together: 93 are measured (57 in the process of the run, 67 in that of
dt/2), beside 300 MB that do not grow with it."""
LONG = 0.05
"""Estimated seconds (``likely_seconds``; in truth a second or more) of a run from which on companions start with it."""


def shared(model: Model, jobs: Collection[Job], processes: int) -> list[tuple[Job, ...]]:
    """Jobs for this process, after it has run the model, and for each other one, balanced by estimated time."""
    shares: list[tuple[Job, ...]] = [()] * min(processes, len(jobs) + 1)
    seconds = [likely_seconds(model), *[0.0] * (len(shares) - 1)]
    for its, job in sorted([(likely_seconds(job.model), job) for job in jobs], key=lambda pair: -pair[0]):
        idle = seconds.index(min(seconds))
        shares[idle] += (job,)
        seconds[idle] += its
    return shares


def named(jobs: Mapping[str, Job], answers: list[Answer]) -> dict[str, Answer]:
    names = list(jobs)
    return {names[answer.point]: answer for answer in answers}


def answered(jobs: Mapping[str, Job], processes: int | None, progress: Progress = False) -> dict[str, Answer]:
    """Name -> answer of jobs, from answers with the number of the job."""
    return counted(jobs, on_this_machine(iter(jobs.values()), len(jobs), processes), progress)


def counted(jobs: Mapping[str, Job], answers: Iterable[list[Answer]], progress: Progress) -> dict[str, Answer]:
    """Name -> answer, of answers as they come."""
    found = list[Answer]()
    with showing(progress, len(jobs)) as told:
        for some in filter(None, answers):
            found += some
            told.move(len(found), f"{len(found)}/{len(jobs)} companions")
    return named(jobs, found)


def increments_of(plain: History | Track) -> dict[int, float]:
    """Step -> its largest increment."""
    steps = range(1, len(plain.model.steps) + 1)
    return {step: float(np.nan_to_num(plain.dt[plain.of_step(step)]).max(initial=0.0)) for step in steps}
