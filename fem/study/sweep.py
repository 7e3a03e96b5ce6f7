"""One deck, many parameter sets: ``fem.sweep`` and ``python -m fem sweep``; progress of a sweep on the console."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np

import fem
from fem.arrays import Columns, Flags, Floats, Ints
from fem.deck import read_model
from fem.errors import CommandError, FemError, keep
from fem.model import Model
from fem.model.quantities import says_si
from fem.runner import verdict_of
from fem.runs.console import as_note, say, show
from fem.runs.frames import frame_of, grid_of
from fem.runs.history import History
from fem.runs.own import OwnFolder, deck_entry, deck_name
from fem.runs.progress import LINE_SECONDS, Progress, ProgressBar, shown
from fem.runs.run_record import COMPLETED
from fem.runs.sweep_files import CSV, check_format
from fem.study.certainty.recorded import recorded_of
from fem.study.points import LoadCase, PointReader, Points, make_grid, points_of, read_cases, spelled
from fem.study.question import Answer, Jobs, Question
from fem.study.row import Layout, Record, layout_of
from fem.study.table import CONTINUES, RECORD, SweepTable, sweep_folder
from fem.study.workers import JobQueue, on_this_machine

NAMED_FAILURES = 3
Scheduler: TypeAlias = Any
"""None, the name or address of a Dask cluster, or a ``distributed.Client``, which is untyped."""
QuestionOf = Callable[[Model], Question]
Drawer = Callable[["Sweep", Path, "Plan"], None]
Computer = Callable[[Ints], Generator[list[Answer], None, None]]


class Sweep(Columns):
    """The results of a sweep: the columns of ``sweep.csv`` (docs/reference/sweeps.md), as ``sweep["U1_2_end"]``, with
    one entry per parameter set in grid order (the first parameter varies slowest).

    names      names of the varied parameters
    histories  (k,) the motions, with ``history=True``; None for a deck that could not be read
    notices    messages of the reader, and results that the table cannot show
    is_si      the heading of the deck contains SI
    is_grid    True: all combinations of values; False: a list of cases
    record     what was recorded over time;  cases: names and shares of time, where a list has them

    >>> found = fem.sweep("inputs/pendulum_lumped.inp", {"duration": [0.5, 1.0], "increments": [100, 200, 400]})
    >>> found.parameters["duration"].tolist()
    [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]
    >>> found.to_frame().query("duration == 1").increments_total.tolist()
    [43, 85, 169]
    >>> found.to_xarray().T_1_max.sel(increments=400).round(1).values.tolist()
    [13.6, 14.7]
    """

    def __init__(
        self,
        columns: Mapping[str, np.ndarray],
        names: tuple[str, ...],
        histories: tuple[History | None, ...] = (),
        notices: tuple[str, ...] = (),
        is_si: bool = False,
        is_grid: bool = True,
        record: Record | None = None,
        cases: tuple[LoadCase, ...] = (),
    ) -> None:
        super().__init__(columns)
        self.names, self.histories, self.notices, self.is_si = names, histories, notices, is_si
        self.is_grid, self.record, self.cases = is_grid, record, cases

    def __repr__(self) -> str:
        failed = self.failures().partition("\n")[0] or "none failed"
        return f"Sweep over {', '.join(self.names)}, {failed}\n{super().__repr__()}"

    def _repr_html_(self) -> str:
        from fem.runs.frames import sweep_html

        return sweep_html(self, self.names, self.failures())

    def to_frame(self) -> Any:
        """The table as ``pandas.DataFrame``; if the heading contains SI, ``attrs["units"]`` has the units."""
        return frame_of(self, self.is_si, self.names)

    def to_xarray(self) -> Any:
        """The table as ``xarray.Dataset`` with one axis for each parameter; a list of cases has the axis ``point``."""
        if not self.is_grid:
            return grid_of(self, ("point",), self.is_si)
        return grid_of(self, self.names, self.is_si)

    @property
    def parameters(self) -> dict[str, Floats]:
        """name -> (k,) values of the varied parameters."""
        return {name: self[name] for name in self.names}

    def over_seeds(self) -> Columns | None:
        """Mean, spread, intervals and Gumbel fractiles over parameters called ``SEED...``; None where none varies.

        >>> found = fem.sweep("inputs/sea_state.inp", {"SEED": range(1, 5)})
        >>> found.over_seeds()["seeds"].tolist()[:2]
        [4, 4]
        """
        from fem.study.scatter import over_seeds

        return over_seeds(self, self.names)

    def over_cases(self) -> Columns | None:
        """A row for each case (sets that differ in their seed alone) and each recorded number: the largest value, the
        extreme to expect in ``Record.duration``, its interval and method, damage (docs/reference/sweeps.md); None
        without a duration.

        >>> study = fem.Record("T_e16", step=2, start=20.0, duration=10800.0)
        >>> found = fem.sweep("inputs/sea_state.inp", {"SEED": [1, 2, 3]}, record=study)
        >>> found.over_cases()["method"].tolist()
        ['Gumbel of seeds']
        """
        from fem.study.load_cases import over_cases

        if self.record is None or self.record.duration is None:
            return None
        return over_cases(self, self.names, self.record, self.cases)

    @property
    def failed(self) -> Flags:
        """(k,) True for runs that were not completed."""
        return np.asarray(self["verdict"] != COMPLETED)

    def named(self, point: int) -> str:
        """The name of a parameter set, made of its values."""
        return ", ".join(f"{name}={values[point]:.9g}" for name, values in self.parameters.items())

    def failures(self) -> str:
        """The failed parameter sets, grouped by verdict, the first few by name; empty if none failed."""
        failed = self.failed
        lines = [f"{np.count_nonzero(failed)} of {len(failed)} parameter sets failed"] if failed.any() else []
        for verdict in dict.fromkeys(self["verdict"][failed].tolist()):
            (points,) = np.nonzero(self["verdict"] == verdict)
            named = "; ".join(map(self.named, points[:NAMED_FAILURES]))
            more = f"; and {len(points) - NAMED_FAILURES} more" if len(points) > NAMED_FAILURES else ""
            lines.append(f"  {verdict} at {named}{more}")
        return "\n".join(lines)


def sweep(
    deck: str | Path | Model,
    grid: Mapping[str, Iterable[float]] | None = None,
    *,
    cases: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    scheduler: Scheduler = None,
    record: Record | None = None,
    history: bool = False,
    force: bool = False,
    progress: Progress = False,
    format: str = CSV,
) -> Sweep:
    """Run a deck for every combination of values of ``*PARAMETER`` names or initial values.

    deck        path of the ``.inp``, or a ``Model`` of ``fem.Builder`` or ``fem.parse_deck``
    grid        name -> values, the first varying slowest; ``U1_2``, unless it is the name of a parameter, is the
                initial displacement 1 of node 2, ``V1_2`` its velocity
    cases       instead of a grid: CSV file with a line of names, then one parameter set per line; columns ``case``,
                ``seeds``, ``probability`` and ``occurrences`` are name, number of seeds and share of time of a case
    parameters  other ``*PARAMETER`` values to override, the same for all runs
    output      folder for ``sweep.csv`` and ``sweep.json``; an interrupted sweep in the same folder continues where it
                stopped, another sweep of the same deck file is overwritten; None: no files
    workers     largest number of processes or threads (short sweeps use none); None: one per processor
    scheduler   None: this machine; ``local``: a Dask cluster on it; ``tls://host:port``, ``tcp://``: that one;
                or a ``distributed.Client`` of yours, which stays open
    record      time series of which the table also contains mean, std, extremes and fatigue damage
    history     also keep every ``History`` (all points are computed then)
    force       replace files with the program's own names in any folder; never a file that the deck is read from
    progress    True: show how far it is, in a bar; or a function that is called with the share done, 0 to 1, and a text
    format      of the table in ``output``, when it is complete: ``csv``, ``npy`` (``numpy.load``: a structured array),
                ``parquet`` (extra ``parquet``)

    A run that fails does not stop the sweep; ``verdict`` states the reason. Ctrl-C does: ``error.sweep`` of the
    ``KeyboardInterrupt`` is the ``Sweep`` of the rows so far.

    Raises
    ------
    DeckError     the deck has errors with its own parameter values
    CommandError  the folder contains other files, or another sweep writes there; a name is no
                  ``*PARAMETER`` of the deck, a value is not a number, or the scheduler does not answer; a format
                  without output, or without its package

    >>> found = sweep("inputs/pendulum_lumped.inp", {"duration": [0.5, 1.0]})
    >>> found["increments_total"].tolist()
    [85, 169]
    """
    if (grid is None) == (cases is None):
        raise CommandError(
            "a sweep needs either a grid of values or cases, the name of a file that lists parameter sets"
        )
    check_format(format, output is not None)
    points = make_grid(grid or {}) if cases is None else read_cases(cases)
    plan = make_plan(deck, points, parameters, history, partial(recorded_of, record=record), format)
    own = None if output is None else sweep_folder(output, plan.model, plan.identity, force=force, form=format)
    with own or nullcontext():
        return carry_out(plan, own, partial(computed, plan, workers=workers, scheduler=scheduler), False, progress)


def run_sweep(options: argparse.Namespace, question_of: QuestionOf = layout_of, draw: Drawer | None = None) -> int:
    """``sweep`` with the options of a command line; prints what failed, and returns the exit code.

    Without a folder among them it is ``results/<deck>_sweep/``, refused where another sweep is.

    question_of  the question to each model; that to the deck itself names the columns and the folder
    draw         writes what else belongs to the table into its folder
    """
    form = getattr(options, "format", CSV)
    check_format(form)
    plan = make_plan(options.deck, points_of(options), dict(options.parameters), False, question_of, form)
    with plan.folder(options.output, options.force) as own:
        compute = partial(computed, plan, workers=options.workers, scheduler=options.scheduler)
        found = carry_out(plan, own, compute, not options.quiet)
        if draw is not None:
            draw(found, own.path, plan)
    return report_failures(found)


def report_failures(found: Sweep) -> int:
    """Name on stderr what failed; the exit code."""
    if failures := found.failures():
        say(f"fem: error: {failures}", sys.stderr)
    return 3 if failures else 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A sweep before it starts. ``identity``: what makes two sweeps the same; ``model``: the deck with its own values.

    ``notices`` grows with what is remarkable. ``form``: format of the table.
    """

    model: Model
    read: PointReader
    grid: Points
    fixed: dict[str, float]
    question_of: QuestionOf
    question: Question
    identity: dict[str, Any]
    history: bool
    notices: list[str]
    form: str = CSV

    def folder(self, output: str | Path | None, force: bool) -> OwnFolder:
        """Where table and figures go; ``output`` as ``sweep_folder`` has it."""
        its = self.question
        return sweep_folder(output, self.model, self.identity, its.kind, its.figures, force, self.form)


def first_of(deck: str | Path | Model, parameters: Mapping[str, float], grid: Points) -> Model:
    """The deck at the first point of the grid at which it can be read; with its own values where there is none."""
    model = read_model(deck, dict(parameters))
    points = spelled(grid, model)
    for point in range(len(points)):
        with suppress(FemError):
            return read_model(deck, {**parameters, **points.point(point)})
    return model


def make_plan(
    deck: str | Path | Model,
    grid: Points,
    parameters: Mapping[str, float] | None,
    history: bool,
    question_of: QuestionOf = layout_of,
    form: str = CSV,
) -> Plan:
    """Read the deck with its own values, and check the names against it."""
    fixed = dict(parameters or {})
    model = read_model(deck, fixed)
    grid = spelled(grid, model)
    for name in grid.names:
        if name.upper() in map(str.upper, fixed):
            raise CommandError(f"parameter {name} is both varied and set")
    question = question_of(model)
    columns = ["point", *grid.names, "verdict", *question.columns()]
    if len(set(columns)) < len(columns):
        raise CommandError("a varied parameter has the same name as another column of the table: rename it")
    identity = {
        "deck": {**deck_entry(model), "parameters": fixed, **question.settings},
        "grid": grid.identity,
        "columns": columns,
        "versions": {"fem": fem.__version__},
    }
    notices = list(model.notices)
    if isinstance(question, Layout) and question.record:
        question.record.check(model)
    if isinstance(question, Layout) and not (question.nodes or question.elements or question.modes):
        notices.append("the deck has no *NODE PRINT and no *EL PRINT: the table contains only energies and counts")
    read = PointReader(deck, grid, model)
    notices += [f"{name} changes nothing in the model" for name in idle_parameters(read, model, grid, fixed)]
    return Plan(model, read, grid, fixed, question_of, question, identity, history, notices, form)


def idle_parameters(
    read: PointReader, model: Model, grid: Points, fixed: Mapping[str, float]
) -> Iterator[str]:  # fmt: skip
    """Varied parameters with another value of which the deck is the same model."""
    its = {name: float(model.parameters[name]) for name in grid.names if name in model.parameters}
    for name, values in zip(grid.names, grid.values, strict=True):
        others = [value for value in values if name in its and value != its[name]]
        with suppress(FemError):  # reported with the row
            if others:
                other = read.read({**fixed, **its, name: float(others[0])})
                if replace(other, parameters=model.parameters) == model:
                    yield name


def carry_out(
    plan: Plan, own: OwnFolder | None, compute: Computer, is_shown: bool, progress: Progress = False
) -> Sweep:
    """Compute what the table does not have yet. is_shown: on the console of a command; progress: as a caller asked."""
    given = np.column_stack(list(plan.grid.columns().values()))
    its = plan.question
    table = SweepTable(own, plan.identity, given, its.counts, its.whole, not plan.history, plan.form)
    if table.broken:
        lost = f"{table.broken} row{'s' * (table.broken != 1)} of {table.found}"
        plan.notices.append(f"{lost} are damaged: computed again")
    histories: dict[int, History | None] = {}
    missing = np.flatnonzero(~table.is_done)
    console = SweepConsole(deck_name(plan.model), plan.grid, table.finished, plan.notices) if is_shown else None
    bar = shown(progress, len(plan.grid))

    def so_far() -> Sweep:
        kept = tuple(histories[point] for point in np.flatnonzero(table.is_done).tolist()) if plan.history else ()
        is_grid, is_si = plan.grid.is_grid and bool(table.is_done.all()), says_si(plan.model.heading)
        record = its.record if isinstance(its, Layout) else None
        named = plan.grid.names, kept, tuple(plan.notices)
        return Sweep(table.columns(), *named, is_si, is_grid, record, plan.grid.cases)

    try:
        with closing(compute(missing)) as blocks:
            for answers in blocks:
                if plan.history:
                    histories |= {answer.point: answer.history for answer in answers}
                table.add((answer.point, answer.verdict, answer.row) for answer in answers)
                if console is not None:
                    console.move(table.finished, len(table.verdicts))
                bar.move(table.finished, f"{table.finished}/{len(plan.grid)} parameter sets")
        ending = f"{len(table.verdicts)} failed" if table.verdicts else COMPLETED
    except BaseException as error:
        ending = verdict_of(error)
        if isinstance(error, KeyboardInterrupt):
            if own is not None:
                error.add_note(CONTINUES)
            if not is_shown:
                keep(error, sweep=so_far())
        raise
    finally:
        bar.close()
        table.close(ending)
        if console is not None and own is not None:
            console.close(table.finished, len(table.verdicts), own.path / table.file, plan.notices)
    return so_far()


def computed(
    plan: Plan, points: Ints, workers: int | None, scheduler: Scheduler
) -> Generator[list[Answer], None, None]:
    """Answers of some points, as they come."""
    jobs, count = JobQueue(jobs_of(plan, points)), len(points)
    if scheduler:
        from fem.study.cluster import on_dask

        solved = on_dask(jobs, workers, scheduler)
    else:
        solved = on_this_machine(jobs, count, workers)
    for answers in solved:
        if not all(answer.fits for answer in answers) and OTHERS not in plan.notices:
            plan.notices.append(OTHERS)
        yield answers


OTHERS = (
    "some parameter sets print other nodes, elements or modes than the deck with its own values: the table has columns "
    "for the latter only"
)


def jobs_of(plan: Plan, points: Sequence[int] | Ints) -> Jobs:
    """The runs of some points, whose decks are read where they run."""
    columns, chosen = plan.grid.columns(), np.asarray(points, np.int64)
    given = np.column_stack([column[chosen] for column in columns.values()])
    return Jobs(plan.read, list(columns), chosen, given, plan.fixed, plan.question, plan.history)


COLD = 3
"""Blocks of answers at the start that load or compile kernels: how long they take is no measure of the others."""


class SweepConsole:
    """Prints the progress of a sweep; stops printing when its output is closed (``| head``)."""

    def __init__(
        self, deck: str, grid: Points, finished: int, notices: list[str], stream: TextIO | None = None
    ) -> None:
        self._stream = stream or sys.stdout
        self._total, self._moves = len(grid), 0
        self._begun = self._last = time.monotonic()
        self._warm = self._begun, finished
        self._bar = ProgressBar(self._stream, self._total) if self._stream.isatty() else None
        self._shown = len(notices)
        self._print(f"sweep of {deck} over {grid.description()}: {self._total} parameter set{'s' * (self._total != 1)}")
        if finished:
            self._print(f"{finished} of them were finished before")
        self._note(notices)

    def move(self, finished: int, failed: int) -> None:
        bad = f", {failed} failed" if failed else ""
        text = f"{finished}/{self._total} parameter sets{bad}"
        now = time.monotonic()
        self._moves += 1
        if self._moves <= COLD:
            self._warm = now, finished
        if self._bar is not None:
            self._bar.move(finished, text)
        elif now - self._last > LINE_SECONDS:
            self._last = now
            since, before = self._warm
            if finished > before:
                text += f", about {(self._total - finished) * (now - since) / (finished - before):.0f} s left"
            self._print(text)

    def close(self, finished: int, failed: int, table: Path, notices: list[str]) -> None:
        """The last lines; ``notices`` may have grown."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        seconds = time.monotonic() - self._begun
        self._note(notices[self._shown :])
        self._print(f"finished   {finished} of {self._total} parameter sets, {failed or 'none'} failed")
        self._print(f"wall time  {seconds:.2f} s")
        self._print(f"written    in {table.parent}: {table.name}, {RECORD}")

    def _note(self, notices: list[str]) -> None:
        for text in notices:
            self._print(as_note(text))

    def _print(self, text: str) -> None:
        show(text + "\n", self._stream, self._bar)
