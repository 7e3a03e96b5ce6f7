"""From a deck to answers: the only module that knows all stages."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from fem.deck import read_deck
from fem.errors import CommandError, FemError, MachineError, NoConvergence, from_system
from fem.files.checkpoint import NAME
from fem.files.lock import free
from fem.files.own import read_record
from fem.model import Model
from fem.model.mesh import sets_left_out
from fem.outlet import FanOut, InterruptGuard
from fem.results import run_record
from fem.results.console import ConsoleSink, say
from fem.results.history import History, HistorySink
from fem.results.record import Sink
from fem.results.run_record import Timing
from fem.run_files import RunFiles, earlier_state
from fem.solve.checkpoint import Checkpoints
from fem.solve.increment import Wishes
from fem.solve.loop import solve


def run(
    deck: str | Path | Model,
    *,
    output: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    solver: str = "AUTO",
    output_every: int = 1,
    force: bool = False,
    earlier: str | Path | None = None,
) -> History:
    """Read an input deck, solve its steps in order and return the motion.

    Units are the deck's own and pass through unchanged; ``inputs/`` uses SI.
    The history starts with the initial state and has one row per saved increment.

    deck          path of the ``.inp``, or a ``Model``
    output        folder for the files of a run (docs/reference/results.md): new, empty, or with what the same
                  deck file gave before, which is replaced; None: no files
    parameters    values that override the deck's ``*PARAMETER``
    solver        AUTO, CHAIN, BAND, CG, DIRECT (best library there is), SUPERLU or PARDISO
    output_every  save every k-th increment in the history; the last of a step always
    force         replace files of our names in a folder that is not ours, too; those the deck is read from never
    earlier       folder of the run whose state the first step begins with (``*RESTART, READ``)

    Raises
    ------
    CommandError   the folder holds what is not ours, or another run writes there
    DeckError      unknown keyword, parameter or label; the message shows file, line and card.
    ModelError     the deck reads well but cannot be solved.
    NoConvergence  an increment spent ``max_iterations``; ``error.history`` holds the motion so far.
    EnergyDrift    the energy balance left its band; a ``NoConvergence``, likewise.

    >>> history = run("inputs/sdnl100.inp")
    >>> history.iterations[[10, 20, 40]].tolist()
    [9, 5, 6]
    """
    timing = Timing()
    model = load(deck, parameters, earlier)
    timing.mark("read")
    collected = HistorySink(model, output_every)
    wishes = Wishes(solver, True, output is not None, earlier_state(model, earlier))
    files = None if output is None else RunFiles(output, model, wishes, False, force)
    try:
        drive(model, wishes, files, timing, None, collected)
    except NoConvergence as error:
        error.history = collected.history()
        raise
    finally:
        if files is not None:
            files.close()
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
    force: bool = False,
    goes_on: bool = False,
    earlier: str | Path | None = None,
    before: Callable[[], None] | None = None,
) -> None:
    """Solve a deck and write its files as it goes (docs/reference/results.md): memory does not grow with increments.

    output   folder; None: ``results/<deck name>/``. Refused where it holds what the same deck file did not give
    force    as in ``run``
    goes_on  from the last checkpoint of such a run in the folder, if there is one: its files end as without a break
    earlier  as in ``run``
    before   called when all is ready for the solver

    Raises what ``run`` raises, and ``KeyboardInterrupt``; everything finished is on disk by then.
    """
    timing = Timing()
    guard = InterruptGuard()
    with guard.watching():
        model = load(deck, parameters, earlier)
        timing.mark("read")
        wishes = Wishes(solver, fields=vtk, earlier=earlier_state(model, earlier))
        files = RunFiles(output, model, wishes, plot, force, goes_on)
        if goes_on and files.before is None and not quiet:
            say(f"{files.folder} is complete" if files.is_complete else f"{files.folder} holds {NOTHING_KEPT}")
        if files.is_complete:
            free(files.folder)
            return
        console = None if quiet else ConsoleSink(model)
        if console is not None:
            for text in (*model.notices, *(sets_left_out(model.mesh) if vtk else ())):
                console.notice(text)
        if before is not None:
            before()
        with contextlib.closing(files):
            try:
                drive(model, wishes, files, timing, guard, *([console] if console else []))
            except (KeyboardInterrupt, MachineError, MemoryError) as error:
                if files.is_open and (files.folder / NAME).exists():
                    error.add_note(f"the same command with --continue goes on from {files.folder / NAME}")
                raise
            finally:
                if plot and files.is_open and not isinstance(sys.exception(), UNPLOTTED):
                    from fem.pictures.plot import write_plots

                    write_plots(files.folder)
                if console is not None and files.is_open:
                    console.summary(files.progress.totals, files.verdict, timing.total(), files.folder, files.names())


NOTHING_KEPT = "no checkpoint: the run starts anew"
UNPLOTTED = (KeyboardInterrupt, MachineError, MemoryError)
"""After these nobody waits for pictures, or there is no room for them."""


def drive(
    model: Model, wishes: Wishes, files: RunFiles | None, timing: Timing, guard: InterruptGuard | None, *sinks: Sink
) -> None:
    """Solve into the sinks and the files; whatever happens, both are closed and ``run.json`` says how it ended."""
    guard = guard or InterruptGuard()
    fan = FanOut([*sinks, files.progress] if files else sinks, files.open if files else list, timing, guard)
    kept = files.checkpoints(guard) if files else Checkpoints(earlier=wishes.state)
    verdict = run_record.COMPLETED
    try:
        solve(model, fan, wishes=wishes, checkpoints=kept)
        fan.close()
    except BaseException as error:
        verdict = verdict_of(error)
        fan.abandon()
        raise
    finally:
        timing.mark("solve")
        if files is not None and files.is_open:
            files.finish(verdict, timing)


def load(deck: str | Path | Model, parameters: Mapping[str, float] | None, earlier: str | Path | None = None) -> Model:
    """Read a deck, unless it is a ``Model``; a missing file is the command's mistake. earlier: folder of the run it
    goes on from.
    """
    if isinstance(deck, Model):
        if parameters:
            raise CommandError("parameters belong to the text of a deck; this Model has been read already")
        return deck
    path = Path(deck)
    if not path.is_file():
        what = "is a folder, not a deck" if path.is_dir() else "does not exist"
        beside = Path(f"{path}.inp")
        raise CommandError(f"{path} {what}" + (f"; did you mean {beside}?" if beside.is_file() else ""))
    return read_deck(path, dict(parameters or {}), earlier_deck(earlier) if earlier else None)


def earlier_deck(folder: str | Path) -> tuple[Path, dict[str, float]] | None:
    """The deck of the run in a folder, and its parameters; None where its record does not say."""
    try:
        record = read_record(Path(folder) / run_record.RUN_RECORD) or {}
        place = Path(folder) / record["deck_folder"] / record["deck"]["file"]
        return place, {name: float(value) for name, value in record["deck"]["parameters"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def verdict_of(error: BaseException) -> str:
    """How ``run.json`` names a failure."""
    if isinstance(error, KeyboardInterrupt):
        return run_record.INTERRUPTED
    if isinstance(error, MemoryError):
        return "error: not enough memory"
    if isinstance(error, NoConvergence):
        return error.verdict
    if isinstance(error, OSError):
        error = from_system(error, "cannot write")
    text = str(error).partition("\n")[0]
    return f"error: {text}" if isinstance(error, FemError) else f"error: {type(error).__name__}: {text}"
