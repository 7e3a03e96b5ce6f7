"""``fem.stepper``: a run that a program advances, sets and reads."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck import read_model
from fem.errors import CommandError, NoConvergence, keep, unknown
from fem.model import Model
from fem.model.curves import GIVEN, Live, live_ones
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL
from fem.runner import earlier_state, listeners, verdict_of
from fem.runs.history import History, HistorySink
from fem.runs.record import Requests
from fem.runs.run_record import COMPLETED, Timing, earlier_decks
from fem.runs.write import InterruptGuard, Relay, RunFiles
from fem.solve.checkpoint import TYPES
from fem.solve.clock import SHARP
from fem.solve.driven import Driven
from fem.solve.loop import begin
from fem.solve.newton.groups import ROW
from fem.solve.outcome import copy_of, frame_of

JOINED = 256
"""Rows of so many advances are kept as one."""
FIELDS = [quantity.name for quantity in NODAL]
TENSION = [quantity.name for quantity in ELEMENTAL].index("T")
ALL = slice(None)
Message: TypeAlias = tuple[str, tuple[Any, ...]]


class Log(Relay):
    """Hands a run on to its files, and remembers it; what has come since a state that is still kept waits, as the run
    may go back there.

    driven    what checkpoints keep of the driver
    """

    driven: Callable[[], dict[str, Any]]

    def __init__(self, sink: Relay, remembers: bool, has_files: bool) -> None:
        self._sink, self._remembers, self.hears_rows = sink, remembers, remembers or has_files
        self._told: list[Message] = []
        self._loose = 0
        self.pending: list[Message] = []
        self.kept = weakref.WeakSet[SavedState]()

    def messages(self) -> list[Message]:
        """All that happened, without fields."""
        return [*self._told, *self.pending]

    def flush(self) -> None:
        """Hand on what waits."""
        pending, self.pending = self.pending, []
        for method, what in pending:
            self._hand_on(method, what)

    def keep(self, checkpoint: dict[str, Any]) -> None:
        self._pass("keep", checkpoint | {"driven": self.driven()})

    def _pass(self, method: str, *what: Any) -> None:
        if self.kept:
            self.pending.append((method, what))
            return
        if self.pending:
            self.flush()
        self._hand_on(method, what)

    def _hand_on(self, method: str, what: tuple[Any, ...]) -> None:
        getattr(self._sink, method)(*what)
        is_kept = self._remembers and len(what[0].increment) > 0 if method == "rows" else True
        if not is_kept or method in ("frame", "keep", "resume"):
            return
        follows = method == "rows" and self._told and self._told[-1][0] == "rows" and what[0].increment[0] != 0
        self._loose = self._loose + 1 if follows else 0
        self._told.append((method, what))
        if self._loose == JOINED:
            rows = [message[1][0] for message in self._told[-JOINED - 1 :]]
            self._told[-JOINED - 1 :] = [("rows", (rows[0].joined(rows[1:]),))]
            self._loose = 0


class SavedState:
    """A state that ``Stepper.save`` has kept."""

    def __init__(self, log: Log, run: Driven) -> None:
        self.state, self.pending, reached = run.state(), list(log.pending), run.reached
        self.reached = reached and (copy_of(reached[0], np.array([reached[1]])), 0)  # as it stays
        log.kept.add(self)


class Stepper:
    """A run in progress, created by ``fem.stepper``.

    Results belong to the end of the last interval.
    """

    def __init__(
        self, model: Model, requests: Requests, step: int | None, output: str | Path | None, force: bool,
        goes_on: bool, history: bool, timing: Timing,
    ) -> None:  # fmt: skip
        self.model, self._timing, count = model, timing, len(model.steps)
        if step is not None and not 1 <= step <= count:
            raise CommandError(f"step={step}: the deck has {count} steps")
        users = {name: float(a.points[0, 1]) for name, a in model.amplitudes.items() if a.definition == "USER"}
        live = live_ones(users)
        model = replace(model, driven=live)
        kinds: Any = TYPES | {"Live": lambda name, **others: live[name]}
        self._files = None
        if output is not None:
            self._files = RunFiles(output, model, requests, False, force, kinds if goes_on else None)
        if self._files and self._files.is_complete:
            self._files.close()
            raise CommandError(f"{output} is complete: there is nothing to continue")
        self._fan, kept = listeners(model, requests, self._files, timing, InterruptGuard())
        self._log = Log(self._fan, history, self._files is not None)
        self._error: BaseException | None = None
        self._is_open, self._history = True, history
        self._places: dict[tuple[str, str | int], Any] = {}
        try:
            self._run = begin(partial(Driven, first=step or count), model, self._log, requests, kept)
            self._log.driven = self._run.driven
            self._run.start()
        except BaseException as error:
            self._error = error
            self.close()
            raise

    def __repr__(self) -> str:
        state = "complete" if self.is_finished else "closed" if not self._is_open else "in progress"
        if self._error is not None:
            state = f"ended by {type(self._error).__name__}"
        given = ", ".join(f"{name}={value:.6g}" for name, value in self.inputs.items())
        return f"Stepper of {self.model.source or 'a model'}: time {self.time:.8g}, {state}; inputs: {given or 'none'}"

    # Time

    @property
    def time(self) -> float:
        """Total time: the end of the last interval."""
        return self._run.progress.time

    @property
    def is_finished(self) -> bool:
        """Whether the last step of the deck is complete."""
        return self._run.last is None

    def advance(self, interval: float) -> None:
        """Advance by an interval, like ``advance_to``. CommandError: the interval is not positive."""
        if not interval > 0.0:
            raise CommandError(f"advance({interval:g}): the interval must be positive (use restore to go back in time)")
        self.advance_to(self._run.asked + interval)

    def advance_to(self, time: float) -> None:
        """Advance to an instant (total time), in increments of the deck; the last one is shortened to end there.

        CommandError   the time is not finite, not later than the present one, or after the end of the deck; or the run
                       has stopped
        NoConvergence  as in ``fem.run``; the last state can still be read, and ``restore`` returns to a saved one
        """
        self._refuse()
        run, last = self._run, self._run.last
        sharp = SHARP * last.clock.dt if last else 0.0  # times that are no farther apart are the same
        if last is None or not run.asked + sharp < time < math.inf:
            what = "the run has ended" if self.is_finished else "that is not later than now"
            raise CommandError(f"advance to {time:g} at time {run.asked:g}: {what}")
        if time > last.clock.end + sharp and time > run.end + sharp:
            raise CommandError(f"advance to {time:g}: the deck ends at {run.end:.9g}")
        try:
            run.advance_to(time)
        except BaseException as error:
            self._error = error
            if isinstance(error, NoConvergence) and self._history:
                error.history = self.history()
            if isinstance(error, KeyboardInterrupt) and self._history:
                keep(error, history=self.history())
            raise
        if run.last is None and not self._log.kept:
            self.close()

    # Inputs

    @property
    def inputs(self) -> dict[str, float]:
        """Present values of the USER amplitudes, without those set for the next instant."""
        return {name: live.value for name, live in self._run.live.items()}

    def __getitem__(self, name: str) -> float:
        return self._input(name).value

    def __setitem__(self, name: str, value: float | tuple[float, float]) -> None:
        """Set the value at the end of the next interval, reached along a straight line; with a rate, along a cubic.

        KeyError: no such USER amplitude. CommandError: a number is not finite, or the run has ended.
        """
        live, given = self._checked(name, value if isinstance(value, tuple) else (value,), 2)
        numbers = live.numbers  # one by one: a third of the time of a slice
        numbers[GIVEN], numbers[GIVEN + 1], numbers[GIVEN + 2] = given[0], given[-1], len(given)

    def jump(self, name: str, value: float) -> None:
        """Change an input immediately. Until the next advance, results are those before the jump. Errors as for
        ``sim[name] = value``.
        """
        live, (given,) = self._checked(name, (value,), 1)
        self._run.jump(live.name, given)

    def _input(self, name: str) -> Live:
        live = self._run.live.get(name.upper())
        if live is None:
            raise unknown("amplitude with DEFINITION=USER", name, self._run.live)
        return live

    def _checked(self, name: str, value: tuple[float, ...], most: int) -> tuple[Live, list[float]]:
        """An input, and numbers for it."""
        live, given = self._run.live.get(name) or self._input(name), [float(each) for each in value]
        self._refuse()
        if self._run.last is None:
            raise CommandError(f"{live.name} is set at time {self.time:g}: the run has ended")
        if not (0 < len(given) <= most and math.isfinite(sum(given))):
            told = "expected a finite value, or a finite value and its rate"
            raise CommandError(f"{live.name} is set to {value}: {told}")
        return live, given

    def _refuse(self) -> None:
        """CommandError: the run cannot continue."""
        if not self._is_open:
            raise CommandError(f"the run {'has ended' if self.is_finished else 'was closed'} at time {self.time:g}")
        if self._error is not None:
            why = str(self._error).partition("\n")[0]
            raise CommandError(f"the run ended at time {self.time:g} ({why}): restore a state that was saved before")

    # Outputs

    def u(self, where: int | str | None = None) -> Floats:
        """Displacement (3,) of a node, given by its label; (k, 3) of a set; (n, 3) of all nodes, as in
        ``model.mesh.node_labels``. Later advances do not change the array.

        KeyError: no such node or set.
        """
        return self._of_nodes("U", where)

    def position(self, where: int | str | None = None) -> Floats:
        """Coordinates plus displacement (COORD), with the arguments and shapes of ``u``."""
        coordinates: Floats = self.model.mesh.coordinates[self._place("NODE", where)]
        return coordinates + self._of_nodes("U", where)

    def v(self, where: int | str | None = None) -> Floats:
        """Velocity, with the arguments and shapes of ``u``."""
        return self._of_nodes("V", where)

    def a(self, where: int | str | None = None) -> Floats:
        """Acceleration, as ``u``; with ENERGY MOMENTUM and MOREAU the mean over the last increment."""
        return self._of_nodes("A", where)

    def reaction(self, where: int | str | None = None) -> Floats:
        """Force of a support on its node, as ``u``; of a reference node that of its rigid body. A mean, like ``a``."""
        return self._of_nodes("RF", where)

    def tension(self, where: int | str | None = None) -> Any:
        """T of an element, given by its label, as a number; (k,) of a set, (m,) of all elements.

        KeyError: no such element or set.
        """
        found = self._motion()[1][self._place("EL", where), TENSION]
        return found.item() if found.ndim == 0 else found.copy()

    @property
    def energies(self) -> dict[str, float]:
        """Energies and their error, as in ``increments.csv``; NaN before the first increment."""
        row = [math.nan] * len(ENERGIES)
        if self._run.reached:
            kept, last = self._run.reached
            row = kept.increments[last, ROW.kinetic :].tolist()
        return dict(zip(ENERGIES, row, strict=False))

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices of the reader and of the run so far."""
        told = (what[0] for method, what in self._log.messages() if method == "notice")
        return tuple(dict.fromkeys((*self.model.notices, *told)))

    def history(self) -> History:
        """The motion so far, as ``fem.run`` returns it. CommandError: ``history=False``."""
        if not self._history:
            raise CommandError("history=False: the motion is not stored")
        sink = HistorySink(self.model)
        for method, what in self._log.messages():
            getattr(sink, method)(*what)
        return sink.history()

    def _of_nodes(self, name: str, where: int | str | None) -> Floats:
        found: Floats = self._motion()[0][FIELDS.index(name), self._place("NODE", where)]
        return found.copy()

    def _motion(self) -> tuple[Floats, Floats]:
        """Recorded quantities of nodes (r, n, 3) and of elements (m, s)."""
        step, run = self._run.last, self._run
        if run.reached:
            kept, last = run.reached
            return kept.kinematics[last], kept.values[last]
        if step is None:
            raise CommandError("the deck has no step with motion")
        frame = frame_of(step.stage, step.number, run.progress, step.thermal, None, False, False)
        return frame.motion, frame.element_values

    def _place(self, kind: str, where: int | str | None) -> int | Ints | slice:
        """Index of a node or element, or those of a set; None: all of them."""
        if where is None:
            return ALL
        if (kind, where) not in self._places:
            mesh = self.model.mesh
            found = mesh.nodes_of(where) if kind == "NODE" else mesh.elements_of(where)
            self._places[kind, where] = found if isinstance(where, str) else int(found[0])
        place: int | Ints = self._places[kind, where]
        return place

    # States

    def save(self) -> SavedState:
        """Save the state; ``restore`` returns to it, any number of times. Later results are written to the files when
        the state is deleted (``del``) or the run is closed.
        """
        self._refuse()
        return SavedState(self._log, self._run)

    def restore(self, kept: SavedState) -> None:
        """Return to a state that this run has saved, also after an error.

        CommandError: the state belongs to another run, or the run is closed.
        """
        if not self._is_open or kept not in self._log.kept:
            raise CommandError("the state belongs to another run, or this run was closed")
        self._run.restore(kept.state)
        self._log.pending, self._run.reached = list(kept.pending), kept.reached
        self._error = None

    # The end

    def close(self) -> None:
        """End the run here. Its files are complete up to this time."""
        if not self._is_open:
            return
        self._is_open, files, error, is_complete = False, self._files, self._error, False
        try:
            if error is None and self._run.last is not None and self._run.last.has_begun:
                self._run.last.close()
            self._log.kept.clear()
            self._log.flush()
            if error is None:
                self._fan.close()
            is_complete = error is None
        finally:
            self._fan.abandon()
            self._timing.mark("solve")
            if files is not None:
                if files.is_open:
                    files.finish(self._verdict(is_complete), self._timing)
                files.close()

    def _verdict(self, is_complete: bool) -> str:
        if self._error is not None:
            return verdict_of(self._error)
        if not is_complete:
            return "error: its files could not be written"
        return COMPLETED if self.is_finished else f"ended by its program at t = {self.time:.9g}"

    def __enter__(self) -> Stepper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._error = self._error or error
        self.close()


def stepper(
    deck: str | Path | Model,
    *,
    parameters: Mapping[str, float] | None = None,
    step: int | None = None,
    output: str | Path | None = None,
    solver: str = "AUTO",
    history: bool = True,
    force: bool = False,
    goes_on: bool = False,
    earlier: str | Path | None = None,
) -> Stepper:
    """Begin a run that your program drives: it sets inputs (amplitudes with ``DEFINITION=USER``), advances, and reads.

    step     the step in which your program takes over (1, 2, ...; None: the last); earlier steps are run immediately
    history  False: the motion is not stored (no ``history()``), for very long runs
    goes_on  continue from the last checkpoint in ``output``
    deck, parameters, output, solver, force, earlier: as in ``fem.run``

    From the end of the last interval to the end of the next, an input is:

    ``sim[name] = x``        a straight line to x at the end of the next interval; supports move with its slope
    ``sim[name] = x, rate``  a cubic between values and rates at both ends (Hermite)
    ``sim.jump(name, x)``    x from the end of the last interval on; nodes and loads jump there
    if nothing is set        constant, with its value at the end of the last interval

    Results belong to the end of the last interval (``sim.time``), before a jump there; before the first advance, to
    the end of the preceding step.

    Raises the errors of ``fem.run``.

    >>> mast = fem.Builder("A mass on a bar, pulled by a program")
    >>> ends = mast.nodes([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    >>> bar, _ = mast.bars(ends, area=1e-4, modulus=1e6), mast.masses(ends[1], 1.0)
    >>> mast.support(ends[0])
    >>> mast.support(ends[1], 2, 3)
    >>> mast.dynamic(2.0, 0.01)
    >>> mast.load(ends[1], (1.0, 0.0, 0.0), amplitude=mast.amplitude("pull"))
    >>> with fem.stepper(mast.model()) as sim:
    ...     while sim.time < 1.0:
    ...         sim["pull"] = 2.0 * (sim.time + 0.1)
    ...         sim.advance(0.1)
    ...     tension = sim.tension(1)
    ...     sim.jump("pull", 0.0)
    ...     sim.advance(0.5)
    >>> round(tension, 3), round(sim.time, 9), len(sim.history())
    (2.138, 1.5, 151)
    """
    timing = Timing()
    model = read_model(deck, parameters, earlier_decks(earlier))
    timing.mark("read")
    requests = Requests(solver, True, output is not None, earlier_state(model, earlier), is_driven=True)
    return Stepper(model, requests, step, output, force, goes_on, history, timing)
