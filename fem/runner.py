"""From a deck to answers: the only module that knows all stages."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from fem.arrays import Floats
from fem.commands import memory
from fem.commands.files import free
from fem.deck import deck_reader, read_model
from fem.errors import CommandError, FemError, MachineError, NoConvergence, from_system, keep
from fem.model import Boundary, Frequency, Model, Static, Step
from fem.model.mesh import sets_left_out
from fem.model.notices import WARNING
from fem.runs import run_record
from fem.runs.checkpoint import NAME, changed_parts, digests_of, read_checkpoint
from fem.runs.console import ConsoleSink, RunProgress, WarningSink, say
from fem.runs.history import History, HistorySink
from fem.runs.progress import Progress, shown
from fem.runs.record import EarlierRun, Modes, Requests, Sink
from fem.runs.run_record import Timing, earlier_decks
from fem.runs.write import FanOut, InterruptGuard, RunFiles
from fem.solve.checkpoint import TYPES, Checkpoints, handed_on
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
    progress: Progress = False,
) -> History:
    """Read an input deck, solve its steps in order and return the motion.

    Results have the units of the deck; ``inputs/`` uses SI.
    The history starts with the initial state and has one row per saved increment.

    deck          path of the ``.inp``, or a ``Model``
    output        folder for the files of the run (docs/reference/results.md): new, empty, or with earlier results of
                  the same deck file, which are replaced; None: no files
    parameters    values that override the deck's ``*PARAMETER``
    solver        AUTO, CHAIN, BAND, BORDER, CG, DIRECT (the best installed library), SUPERLU or PARDISO
    output_every  save every k-th increment in the history, and the last of each step
    force         replace files with the program's own names in any folder; never a file that the deck is read from
    earlier       folder of the run with whose state the first step begins (``*RESTART, READ``)
    progress      True: show how far it is, in a bar; or a function that is called with the share done, 0 to 1, and a
                  text while the run proceeds

    Ctrl-C (``KeyboardInterrupt``, which the function may raise, too) ends the run like a failure: ``error.history``
    holds the motion so far, and the files in the folder are complete up to there.

    Raises
    ------
    CommandError   the folder contains other files, or another run writes there.
    DeckError      errors in the deck; the message shows file, line and card.
    ModelError     the deck is correct, but the model cannot be solved.
    NoConvergence  an increment did not converge; ``error.history`` holds the motion so far.
    EnergyDrift    the energy drift exceeded its limit; a ``NoConvergence``, with the same ``history``.

    >>> history = run("inputs/sdnl100.inp")
    >>> history.iterations[[10, 20, 40]].tolist()
    [9, 5, 6]
    """
    timing = Timing()
    model = read_model(deck, parameters, earlier_decks(earlier))
    timing.mark("read")
    collected = HistorySink(model, output_every)
    requests = Requests(solver, True, output is not None, earlier_state(model, earlier))
    sinks = [collected, RunProgress(model, partial(shown, progress))] if progress else [collected]
    guard = InterruptGuard()
    with guard.watching():
        files = None if output is None else RunFiles(output, model, requests, False, force)
        try:
            drive(model, requests, files, timing, guard, *sinks)
        except NoConvergence as error:
            error.history = collected.history()
            raise
        except KeyboardInterrupt as error:
            keep(error, history=collected.history())
            raise
        finally:
            if files is not None:
                files.close()
    return collected.history()


class Prepared:
    """A deck to run many times with other values of its ``*PARAMETER``, created by ``fem.prepare``.

    Its text is read once, as in ``fem.sweep``, as long as parameters change only numbers of the model.
    """

    def __init__(self, deck: str | Path | Model, parameters: Mapping[str, float] | None = None) -> None:
        self._fixed = {name.upper(): value for name, value in (parameters or {}).items()}
        model = read_model(deck, self._fixed)
        self._name, self._read = model.source, deck_reader(deck, model.parameters)

    def __repr__(self) -> str:
        fixed = f" with {', '.join(f'{name}={value:g}' for name, value in self._fixed.items())}" if self._fixed else ""
        return f"Prepared {self._name}{fixed}: run(parameters), model(parameters)"

    def model(self, parameters: Mapping[str, float] | None = None) -> Model:
        """The model with these values; other parameters have those given to ``prepare``, otherwise those of the deck.

        DeckError, CommandError: as ``read_deck``.
        """
        return self._read({**self._fixed, **{name.upper(): value for name, value in (parameters or {}).items()}})

    def run(self, parameters: Mapping[str, float] | None = None, **options: Any) -> History:
        """Run the deck with these values. The motion and the options are exactly those of ``fem.run``."""
        return run(self.model(parameters), **options)


def prepare(deck: str | Path | Model, *, parameters: Mapping[str, float] | None = None) -> Prepared:
    """Read a deck once, to run it with many values of its parameters; ``model`` returns the ``Model`` for some values.

    deck        path of the ``.inp``, or a ``Model`` of ``fem.Builder`` or ``fem.parse_deck``
    parameters  values that override the deck's ``*PARAMETER`` in all runs

    Raises the errors of ``read_deck``.

    >>> prepared = fem.prepare("inputs/pendulum_lumped.inp")
    >>> [len(prepared.run({"duration": duration})) for duration in (0.5, 1.0)]
    [86, 170]
    """
    return Prepared(deck, parameters)


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
    kept: Mapping[str, list[Floats]] | None = None,
    solving: Callable[..., None] | None = None,
) -> None:
    """Solve a deck and write its files as it goes (docs/reference/results.md): memory does not grow with increments.

    output   folder; None: ``results/<deck name>/``. Refused where it holds what the same deck file did not give
    force    as in ``run``
    goes_on  from the last checkpoint of such a run in the folder, if there is one: its files end as without a break
    earlier  as in ``run``
    kept     name of a table -> gets the numbers of its lines, in blocks (lines, columns), NaN for empty cells
    solving  in place of ``solve``; None: that itself

    Raises what ``run`` raises, and ``KeyboardInterrupt``; everything finished is on disk by then.
    """
    timing = Timing()
    guard = InterruptGuard()
    with guard.watching():
        model = read_model(deck, parameters, earlier_decks(earlier))
        timing.mark("read")
        requests = Requests(solver, fields=vtk, earlier=earlier_state(model, earlier))
        files = RunFiles(output, model, requests, plot, force, TYPES if goes_on else None, kept)
        if goes_on and files.before is None and not quiet:
            say(f"{files.folder} is complete" if files.is_complete else f"{files.folder} holds {NOTHING_KEPT}")
        if files.is_complete:
            free(files.folder)
            return
        if warning := memory.shortage(len(model.mesh.node_labels), len(model.mesh.element_labels)):
            say(f"warning: {warning}", sys.stderr)
        console = None if quiet else ConsoleSink(model)
        told = console or WarningSink()
        for text in (*model.notices, *(sets_left_out(model.mesh) if vtk else ())):
            told.notice(text)
        with contextlib.closing(files):
            try:
                drive(model, requests, files, timing, guard, told, solving=solving)
            except (KeyboardInterrupt, MachineError, MemoryError) as error:
                if files.is_open and (files.folder / NAME).exists():
                    error.add_note(f"the same command with --continue continues from {files.folder / NAME}")
                raise
            finally:
                if plot and files.is_open and not isinstance(sys.exception(), UNPLOTTED):
                    from fem.show.plot import write_plots

                    write_plots(files.folder)
                if console is not None and files.is_open:
                    console.summary(files.progress.totals, files.verdict, timing.total(), files.folder, files.names())


NOTHING_KEPT = "no checkpoint: the run starts from the beginning"
UNPLOTTED = (KeyboardInterrupt, MachineError, MemoryError)
"""After these nobody waits for pictures, or there is no room for them."""


def drive(
    model: Model,
    requests: Requests,
    files: RunFiles | None,
    timing: Timing,
    guard: InterruptGuard | None,
    *sinks: Sink,
    solving: Callable[..., None] | None = None,
) -> None:
    """Solve into the sinks and the files; whatever happens, both are closed and ``run.json`` says how it ended."""
    fan, kept = listeners(model, requests, files, timing, guard or InterruptGuard(), *sinks)
    if files is None:  # nobody keeps anything
        kept = Checkpoints(earlier=requests.state)
    verdict = run_record.COMPLETED
    try:
        (solving or solve)(model, fan, requests=requests, checkpoints=kept)
        fan.close()
    except BaseException as error:
        verdict = verdict_of(error)
        fan.abandon()
        raise
    finally:
        timing.mark("solve")
        if files is not None and files.is_open:
            files.finish(verdict, timing)


def listeners(
    model: Model, requests: Requests, files: RunFiles | None, timing: Timing, guard: InterruptGuard, *sinks: Sink
) -> tuple[FanOut, Checkpoints]:
    """Who hears of a run, and when its state is kept."""
    every, before = model.restart_every, files.before if files else None
    fan = FanOut([*sinks, files.progress] if files else sinks, files.open if files else list, timing, guard)
    return fan, Checkpoints(every or 0, every is not None, before, requests.state, guard)


def earlier_state(model: Model, folder: str | Path | None) -> EarlierRun | None:
    """The state that ``*RESTART, READ`` of a model asks for; None where it has no such card.

    CommandError: there is no such state, or it is of another model.
    """
    request = model.earlier
    if request is None or folder is None:
        if folder is not None:
            raise CommandError("--from needs *RESTART, READ in the deck")
        return None
    path = Path(folder) / NAME
    if not path.is_file():
        raise CommandError(f"{folder} contains no {NAME}: the earlier run needs *RESTART, WRITE in its deck")
    found = read_checkpoint(path, run_record.versions(), TYPES, "run the earlier deck again")
    if changed := changed_parts(found["model"], digests_of(model)):
        raise CommandError(f"the model is not that of {path}: {', '.join(changed)} changed")
    states = handed_on(found)
    held = ", ".join(f"STEP={step}, INC={number}" for step, number in states) or "none"
    last = list(states)[-1:]
    number = request.increment
    wanted = [at for at, state in states.items() if number == at[1] or (number is None and state["is_end"])]
    chosen = last if request.step is None else [at for at in wanted if at[0] == request.step]
    if not chosen:
        raise CommandError(f"{path} does not contain the state that *RESTART, READ names; it contains {held}")
    (step, number), state = chosen[0], states[chosen[0]]
    if not (state["is_end"] or request.ends_step):
        raise CommandError(
            f"increment {number} is not the end of step {step} of {path}: *RESTART, READ, END STEP skips the rest of "
            "that step; fem run with --continue finishes the earlier run first"
        )
    return EarlierRun(state, {"sha256": found["deck"]["sha256"], "step": step, "increment": number}, Path(folder))


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


def frequencies(
    deck: str | Path | Model,
    modes: int | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    solver: str = "AUTO",
) -> Modes:
    """The lowest modes about the state after the static steps at the beginning of a deck, or about its initial state.

    Supports are fixed in that state. Loads of other steps do not act: a structure that gets its stiffness from weight
    or tension needs a ``*STATIC`` step, as with ``*FREQUENCY``.

    deck        path of the ``.inp``, or a ``Model``
    modes       number of modes; None: that of its first ``*FREQUENCY`` step, or 10
    parameters  values that override the deck's ``*PARAMETER``
    solver      as in ``fem.run``

    Modes that cannot be confirmed are omitted, with a warning. Raises the errors of ``fem.run``.

    >>> fem.frequencies("inputs/chain_modes.inp", 3).frequency.round(3).tolist()
    [0.599, 1.376, 2.158]
    """
    model = read_model(deck, parameters)
    at_rest = list(takewhile(lambda step: step.static, model.steps))
    asked = [step.modes.modes for step in model.steps if step.modes]
    count = modes if modes is not None else (*asked, 10)[0]
    if count < 1:
        raise CommandError(f"{count} modes; expected 1 or more")
    # Without a static step the first one says what is held; how it moves is left out.
    first = (*model.steps, Step(Static(), nlgeom=True))[0]
    boundaries, rotations = ((), ()) if at_rest else (still(first.boundaries), still(first.rotations))
    asking = Step(Frequency(count), nlgeom=(at_rest or [first])[-1].nlgeom, boundaries=boundaries, rotations=rotations)
    history = run(replace(model, steps=(*at_rest, asking)), solver=solver)
    for notice in history.notices:
        if notice.removeprefix(WARNING).startswith(f"step {len(at_rest) + 1}: "):
            warnings.warn(notice, stacklevel=2)
    return history.modes[-1]


def still(boundaries: Iterable[Boundary]) -> tuple[Boundary, ...]:
    """The same supports without motion."""
    return tuple(replace(each, value=0.0, amplitude=None) for each in boundaries)
