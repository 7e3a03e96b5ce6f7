"""From a deck to answers: the only module that knows all stages."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fem.compiled.folder import is_first_start
from fem.deck import read_deck
from fem.errors import CommandError, EnergyDrift, FemError, NoConvergence
from fem.model import Model
from fem.outlet import FanOut, InterruptGuard, Writer, cannot_write
from fem.pictures import PICTURES, PLOTTED
from fem.results import run_record
from fem.results.console import ConsoleSink
from fem.results.history import History, HistorySink
from fem.results.record import Sink
from fem.results.run_record import Timing, TotalsSink, deck_name, default_folder, usable_folder, write_run_record
from fem.results.tables import TableSink
from fem.results.vtk import VtkSink, remove_fields
from fem.solve.loop import solve

TABLES = ("increments.csv", "nodes.csv", "elements.csv", "events.csv", "frequencies.csv")


def run(
    deck: str | Path | Model,
    *,
    output: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    solver: str = "AUTO",
    output_every: int = 1,
) -> History:
    """Read an input deck, solve its steps in order and return the motion.

    Units are the deck's own and pass through unchanged; ``inputs/`` uses SI.
    The history starts with the initial state and has one row per saved increment.

    deck          path of the ``.inp``, or a ``Model``
    output        folder for the files of a run (README, "What a run writes"), overwritten; None: no files
    parameters    values that override the deck's ``*PARAMETER``
    solver        AUTO, CHAIN, BAND, CG, DIRECT (best library there is), SUPERLU or PARDISO
    output_every  save every k-th increment in the history; the last of a step always

    Raises
    ------
    DeckError      unknown keyword, parameter or label; the message shows file, line and card.
    ModelError     the deck reads well but cannot be solved.
    NoConvergence  an increment spent ``max_iterations``; ``error.history`` holds the motion so far.
    EnergyDrift    the energy balance left its band; a ``NoConvergence``, likewise.

    >>> history = run("inputs/sdnl100.inp")
    >>> history.iterations[[10, 20, 40]].tolist()
    [9, 5, 6]
    """
    timing = Timing()
    if isinstance(deck, Model):
        if parameters:
            raise CommandError("parameters belong to the text of a deck; this Model has been read already")
        model = deck
    else:
        model = load(deck, parameters)
    timing.mark("read")
    collected = HistorySink(model.mesh, output_every, model.notices)
    files = None if output is None else RunFiles(usable_folder(Path(output)), model, solver)
    try:
        drive(model, solver, [collected], files, timing, record_all=True)
    except NoConvergence as error:
        error.history = collected.history()
        raise
    return collected.history()


def run_to_files(
    deck: str | Path,
    output: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    quiet: bool = False,
    plot: bool = False,
    vtk: bool = True,
    solver: str = "AUTO",
) -> None:
    """Solve a deck and write its files as it goes (README, "What a run writes"): memory does not grow with increments.

    output  folder, overwritten; None: ``results/<deck name>/``, refused where it holds another deck's results

    Raises what ``run`` raises, and ``KeyboardInterrupt``; everything finished is on disk by then.
    """
    timing = Timing()
    with InterruptGuard() as guard:
        model = load(deck, parameters)
        timing.mark("read")
        folder = default_folder(model) if output is None else usable_folder(Path(output))
        files = RunFiles(folder, model, solver, vtk)
        console = None if quiet else ConsoleSink(model)
        if console is not None:
            for text in model.notices:
                console.notice(text)
        if is_first_start():
            compile_first(console is not None)
        try:
            drive(model, solver, [] if console is None else [console], files, timing, guard)
        finally:
            if plot and files.is_open and files.verdict != run_record.INTERRUPTED:
                from fem.pictures.plot import write_plots

                write_plots(folder)
            if console is not None and files.is_open:
                console.summary(files.progress.totals, files.verdict, timing.total(), folder, files.names())


def compile_first(is_told: bool) -> None:
    """The first run after an installation or update compiles the solver before it starts."""
    from fem.warmup import announced, compile_all

    with announced(sys.stdout) if is_told else contextlib.nullcontext():
        compile_all()


def drive(
    model: Model,
    solver: str,
    sinks: Sequence[Sink],
    files: RunFiles | None,
    timing: Timing,
    guard: InterruptGuard | None = None,
    record_all: bool = False,
) -> None:
    """Solve into the sinks and the files; whatever happens, both are closed and ``run.json`` says how it ended."""
    fan = FanOut([*sinks, files.progress] if files else sinks, files.open if files else list, timing, guard)
    verdict = run_record.COMPLETED
    try:
        solve(model, fan, solver=solver, record_all=record_all, fields=files is not None and files.has_fields)
        fan.close()
    except BaseException as error:
        verdict = verdict_of(error)
        fan.abandon()
        raise
    finally:
        timing.mark("solve")
        if files is not None and files.is_open:
            files.finish(verdict, timing)


def load(deck: str | Path, parameters: Mapping[str, float] | None) -> Model:
    """Read a deck; a missing file is the command's mistake."""
    path = Path(deck)
    if not path.is_file():
        what = "is a folder, not a deck" if path.is_dir() else "does not exist"
        beside = Path(f"{path}.inp")
        raise CommandError(f"{path} {what}" + (f"; did you mean {beside}?" if beside.is_file() else ""))
    return read_deck(path, dict(parameters or {}))


def verdict_of(error: BaseException) -> str:
    """How ``run.json`` names a failure."""
    if isinstance(error, KeyboardInterrupt):
        return run_record.INTERRUPTED
    if isinstance(error, NoConvergence):
        return run_record.ENERGY_DRIFT if isinstance(error, EnergyDrift) else run_record.NO_CONVERGENCE
    text = str(error).partition("\n")[0]
    return f"error: {text}" if isinstance(error, FemError) else f"error: {type(error).__name__}: {text}"


class RunFiles:
    """All files of one run. They appear when the first step begins: a deck that cannot be solved leaves none."""

    def __init__(self, folder: Path, model: Model, solver: str, vtk: bool = True) -> None:
        self.folder = folder
        self.progress = TotalsSink(model)
        self.verdict = run_record.RUNNING
        self.is_open = False
        self.has_fields = vtk
        self._model, self._solver = model, solver

    def open(self) -> list[Sink]:
        """Clear what an earlier run left, write the first ``run.json``, and give the sinks that write the rest."""
        name = deck_name(self._model)
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_fields(self.folder, name)
        for old in ("frequencies.csv", *PICTURES):
            (self.folder / old).unlink(missing_ok=True)
        self._record({})
        self.is_open = True
        sinks: list[Sink] = [TableSink(self.folder, self._model)]
        if self.has_fields:
            sinks.append(VtkSink(self.folder, name, self._model))
        return [Writer(sinks)]

    def finish(self, verdict: str, timing: Timing) -> None:
        """The last ``run.json``."""
        self.verdict = verdict
        try:
            self._record(timing.block())
        except OSError as error:
            if verdict == run_record.COMPLETED:
                raise cannot_write(error) from error

    def names(self) -> list[str]:
        """What was written in the folder; the single fields in ``vtu/`` stand behind their ``.pvd``."""
        name = deck_name(self._model)
        lists = [f"{name}.pvd", *(f"{name}_modes_step{step + 1}.pvd" for step in range(len(self._model.steps)))]
        wanted = [*TABLES, *(lists if self.has_fields else []), *PLOTTED, run_record.RUN_RECORD]
        return [file for file in wanted if (self.folder / file).is_file()]

    def _record(self, timing: Mapping[str, float]) -> None:
        write_run_record(self.folder, self._model, self._solver, self.progress, self.verdict, timing)
