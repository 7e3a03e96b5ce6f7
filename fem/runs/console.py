"""One plain line per increment (fewer on a terminal, with a progress bar below a long run), and the summary."""

from __future__ import annotations

import errno
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np

from fem.model import Model
from fem.model.notices import WARNING
from fem.model.quantities import in_newtons
from fem.runs.frames import Exchange, energies_of, energy_error_text
from fem.runs.progress import ProgressBar, Shown
from fem.runs.record import Event, Factors, Modes, Response, Rows, SilentSink, StepStart
from fem.runs.run_record import Totals, is_complete
from fem.runs.schedule import Schedule

LINES_AT_ONCE = 5_000
WIDTH = 100
KEPT = "\xa0"  # a no-break space
"""A space at which lines are not broken."""
SHOWN = 50
"""A terminal shows about this number of increments of a step, and of its cut-backs; files have all."""
LONGEST_LABEL = 8
FIXED_COLUMNS = (("step", 4, "d"), ("increment", 9, "d"), ("time", 13, ".8g"))
SOLVE_COLUMNS = (("iterations", 10, "d"), ("residual", 9, ".2e"))
STEP_SIZE = (("dt", 10, ".3g"),)
LOAD_FACTOR = (("load factor", 11, ".6g"),)


class ConsoleSink(SilentSink):
    """Prints a run; stops printing when the reader has closed the pipe (``| head``)."""

    def __init__(self, model: Model, stream: TextIO | None = None) -> None:
        self._model = model
        self._stream = stream or sys.stdout
        self._node: int | None = None
        self._line = ""
        self._columns: list[str] = []
        self._owed = ""
        self._bar: ProgressBar | None = None
        self._progress: RunProgress | None = None
        if self._stream.isatty():
            self._progress = RunProgress(model, partial(ProgressBar, self._stream))
            self._bar = cast(ProgressBar, self._progress.shown)
        self._thinner = Thinner() if self._stream.isatty() else None

    def begin(self, start: StepStart) -> None:
        if self._progress is not None:
            self._progress.begin(start)
        name = f" '{start.name}'" if start.name else ""
        title = f"\nstep {start.step}{name}: {start.procedure.lower()}"
        if start.procedure in ("FREQUENCY", "BUCKLE"):
            self._print(title + "\n")
            return
        if start.procedure == "STEADY STATE DYNAMICS":
            names = f"{'frequency':>14} {'iterations':>10} {'residual':>9} {'largest |U|':>12}"
            self._print(f"{title}, {start.increments} frequencies\n{names}\n")
            return
        self._node = Schedule(self._model, start.step - 1, start.time, start.increments).shown_node
        heads = ["largest |u|"]
        if self._node is not None:
            label = self._model.mesh.named(int(self._model.mesh.node_labels[self._node]))
            label = label if len(label) <= LONGEST_LABEL else f"..{label[2 - LONGEST_LABEL :]}"
            heads = [f"U{axis}({label})" for axis in (1, 2, 3)]
        static = self._model.steps[start.step - 1].static
        arcs = LOAD_FACTOR if static is not None and static.riks is not None else ()
        size = STEP_SIZE if start.increments is None and not arcs else ()
        columns = [*FIXED_COLUMNS, *size, *SOLVE_COLUMNS, *arcs, *((head, 12, ".5e") for head in heads)]
        self._columns = ["increment", "time", *(["dt"] if size else []), "iterations", "residual_norm"]
        self._columns += ["load_factor"] * len(arcs)
        self._line = " ".join(f"%{width}{code}" for _, width, code in columns) + "\n"
        known = "automatic increments" if start.increments is None else f"{start.increments} increments"
        known = "RIKS: time is the arc length" if arcs else known
        if self._thinner is not None:
            known += self._thinner.begin(start)
        title += f", period {start.period:.6g}, {known}\n"
        self._print(title + " ".join(f"{head:>{width}}" for head, width, _ in columns) + "\n")

    def rows(self, rows: Rows) -> None:
        columns: list[list[Any]] = [[rows.step] * len(rows.increment)]
        columns += [getattr(rows, name).tolist() for name in self._columns]
        if self._node is None:
            columns.append(rows.largest_u.tolist())
        else:
            place = int(np.searchsorted(rows.nodes, self._node))
            columns += rows.values(self._model)["n"]["U"][:, place, :].T.tolist()
        if self._thinner is not None and len(rows.increment):
            last = self._line % tuple(column[-1] for column in columns)
            shown = self._thinner.shown(rows)
            columns = [[column[row] for row in shown] for column in columns]
            self._owed = "" if shown and shown[-1] == len(rows.increment) - 1 else last
        for first in range(0, len(columns[0]), LINES_AT_ONCE):
            # One format string for many lines: several times faster than a call per line.
            lines = [column[first : first + LINES_AT_ONCE] for column in columns]
            cells = [cell for line in zip(*lines, strict=True) for cell in line]
            self._print(self._line * len(lines[0]) % tuple(cells))
        if self._progress is not None:
            self._progress.rows(rows)

    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None:
        if start is not None:
            self.begin(start)
        totals = checkpoint["totals"]["sums"]
        self._print(f"continuing after {totals['increments']} increments, from time {totals['time']:.8g}\n")

    def event(self, event: Event) -> None:
        if event.event == "cutback" and (self._thinner is None or self._thinner.shows_cutback()):
            self._print(f"{event.step:4d} {event.increment:9d} {event.time:12.6g} cut back: smaller increment\n")
        if event.event in PATHS:
            at = "" if event.load_factor is None else f" at load factor {event.load_factor:.10g}"
            self._print(f"{event.step:4d} {event.increment:9d} {event.time:12.6g} {PATHS[event.event]}{at}\n")

    def modes(self, modes: Modes) -> None:
        lines = [f"{'mode':>6} {'frequency':>14} {'omega':>14} {'generalized mass':>17}\n"]
        table = zip(modes.number, modes.frequency, modes.omega, modes.generalized_mass, strict=True)
        lines += [f"{mode:6d} {f:14.7g} {w:14.7g} {m:17.7g}\n" for mode, f, w, m in table]
        self._print("".join(lines))
        if self._progress is not None:
            self._progress.modes(modes)

    def factors(self, factors: Factors) -> None:
        lines = [f"{'mode':>6} {'factor':>20} {'residual':>10}\n"]
        table = zip(factors.number, factors.factor, factors.residual, strict=True)
        lines += [f"{mode:6d} {factor:20.12g} {residual:10.1e}\n" for mode, factor, residual in table]
        self._print("".join(lines))

    def response(self, response: Response) -> None:
        size = np.abs(response.motion[0]).max(initial=0.0)
        self._print(f"{response.frequency:14.7g} {response.iterations:10d} {response.residual:9.2e} {size:12.5e}\n")
        if self._progress is not None:
            self._progress.response(response)

    def notice(self, text: str) -> None:
        self._print(as_note(text) + "\n")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._print(self._owed)  # the run ended early
        self._owed = ""

    def summary(self, totals: Totals, verdict: str, seconds: float, folder: Path, files: Sequence[str]) -> None:
        """The last lines of a run."""
        named = ((name.replace("_", " "), value) for name, value in totals.energies.items() if name != "energy_error")
        error = energy_error_text(totals.largest_energy_error, totals.energy_exchanged, self._model.heading)
        if taken := totals.numerical_dissipation:  # numerical damping is part of the error; the rest is drift
            error += f"  numerical{KEPT}dissipation{KEPT}{taken:.6g}  drift{KEPT}{totals.energy_drift:.3g}"
        unloaded = ""
        if totals.unloaded_residual:
            unloaded = f" of the forces; {in_newtons(totals.unloaded_residual, self._model)} where nothing is loaded"
        steps = f"{totals.steps} step" + ("s" if totals.steps != 1 else "")
        kind, colon, why = verdict.partition(":")
        entries = [
            ("verdict", verdict if is_complete(verdict) else kind.upper() + colon + why),
            ("increments", f"{totals.increments} in {steps}, to time {totals.time:.8g}"),
            ("iterations", f"{totals.iterations}, cutbacks {totals.cutbacks}"),
            ("residual", f"largest {totals.largest_residual_norm:.3g}{unloaded}"),
            ("energies", "  ".join(f"{name}{KEPT}{value:.6g}" for name, value in named)),
            ("", f"energy error {error}"),
            ("events", ", ".join(f"{count} {name}" for name, count in sorted(totals.events.items()))),
            ("wall time", f"{seconds:.2f} s"),
            ("written", f"in {folder}: {', '.join(files)}"),
        ]
        lines = [in_lines(f"{name:<11}{text}", 11) for name, text in entries if text]
        self._print("\n" + "\n".join(lines) + "\n")

    def _print(self, text: str) -> None:
        show(text, self._stream, self._bar)


class RunProgress(SilentSink):
    """Tells how far a run is: in its steps by their time, in a step of modes or harmonic motions as in the longest."""

    def __init__(self, model: Model, shown: Callable[[float], Shown]) -> None:
        self._model, self._exchange = model, Exchange()
        periods = [step.procedure.period for step in model.steps]
        self._sizes = [period or max(periods) or 1.0 for period in periods]
        self.shown = shown(sum(self._sizes))

    def begin(self, start: StepStart) -> None:
        self._exchange.start = None
        self._start = start

    def rows(self, rows: Rows) -> None:
        if len(rows.time):
            self._exchange.add(energies_of(rows))
            error = energy_error_text(float(rows.energy_error[-1]), self._exchange.largest, self._model.heading)
            self._move(float(rows.time[-1]) - self._start.time, f"energy error {error}")

    def modes(self, modes: Modes) -> None:
        self._move(self._sizes[modes.step - 1], f"{len(modes.number)} modes")

    def response(self, response: Response) -> None:
        asked = self._model.steps[response.step - 1].harmonic
        share = response.frequency / max(asked.frequencies()) if asked else 1.0
        self._move(share * self._sizes[response.step - 1], f"frequency {response.frequency:.6g}")

    def close(self) -> None:
        self.shown.close()

    def _move(self, done: float, text: str) -> None:
        step = self._start.step
        self.shown.move(sum(self._sizes[: step - 1]) + done, f"step {step}/{len(self._sizes)}, {text}")


class WarningSink(SilentSink):
    """Prints the warnings of a quiet run on standard error."""

    def notice(self, text: str) -> None:
        if text.startswith(WARNING):
            say(as_note(text), sys.stderr)


def as_note(text: str) -> str:
    """A notice in lines of the console."""
    return in_lines(text if text.startswith(WARNING) else f"note: {text}", 6)


def in_lines(text: str, indent: int) -> str:
    """Text broken into lines of the console's width; lines after the first begin with spaces."""
    filled = textwrap.fill(text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return filled.replace(KEPT, " ")


PATHS = {"limit": "limit point", "bifurcation": "bifurcation", "jump": "jump to another equilibrium"}
"""Names of the events of static paths on the console."""


class Thinner:
    """Selects the increments of a step that a terminal shows: evenly spaced by number, else in time, and the last."""

    def begin(self, start: StepStart) -> str:
        """Note on the selection of rows, for the heading of the table."""
        self._start, self._place, self._cutbacks = start.time, -1, 0
        if start.increments is None:
            self._every, self._spacing = 0, start.period / SHOWN
            return f", at most {SHOWN} shown"
        steps = (factor * 10**power for power in range(12) for factor in (1, 2, 5))
        self._every = next(step for step in steps if start.increments <= SHOWN * step)
        return f", one in {self._every} shown" if self._every > 1 else ""

    def shown(self, rows: Rows) -> list[int]:
        """Places of the rows to show."""
        if self._every:
            places = rows.increment // self._every
        else:
            places = np.floor((rows.time - self._start) / self._spacing + 1e-9).astype(np.int64)
        is_due = np.diff(places, prepend=self._place) != 0
        is_due[-1] |= rows.is_end
        self._place = int(places[-1])
        return [int(row) for row in np.flatnonzero(is_due)]

    def shows_cutback(self) -> bool:
        """Whether one more cut-back is shown."""
        self._cutbacks += 1
        return self._cutbacks <= SHOWN


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints a line, unless the reader has gone."""
    show(text + "\n", stream or sys.stdout)


def show(text: str, stream: TextIO, bar: ProgressBar | None = None) -> None:
    """Prints text unchanged, above the progress bar if there is one; nothing once the reader has gone."""
    try:
        if bar is None or not bar.print(text):
            stream.write(text)
            stream.flush()
    except OSError as error:
        # Windows reports a pipe that nobody reads as EINVAL.
        if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
            error.filename = error.filename or "standard output"
            raise
        stop_writing(stream)


def stop_writing(stream: TextIO) -> None:
    """The reader has gone: redirect the rest to nowhere, so that neither the run nor the interpreter's exit fails."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
