"""One plain line per increment, a progress bar where a terminal watches a long run, and the summary."""

from __future__ import annotations

import errno
import os
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fem.model import Frequency, Model
from fem.results.record import Event, Modes, Rows, SilentSink, StepStart
from fem.results.run_record import COMPLETED, Totals
from fem.results.schedule import Schedule

LINES_AT_ONCE = 5_000
WIDTH = 110
BAR_AFTER = 2.0
"""Seconds after which a run counts as long."""
FIXED_COLUMNS = (("step", 4, "d"), ("increment", 9, "d"), ("time", 13, ".8g"))
SOLVE_COLUMNS = (("iterations", 10, "d"), ("residual", 9, ".2e"))
STEP_SIZE = (("dt", 10, ".3g"),)


class ConsoleSink(SilentSink):
    """Prints a run; goes silent when nobody reads any more (``| head``)."""

    def __init__(self, model: Model, stream: TextIO | None = None) -> None:
        self._model = model
        self._stream = stream or sys.stdout
        self._node: int | None = None
        self._line = ""
        self._columns: list[str] = []
        periods = [0.0 if isinstance(step.procedure, Frequency) else step.procedure.period for step in model.steps]
        self._bar = Bar(self._stream, sum(periods)) if self._stream.isatty() else None

    def begin(self, start: StepStart) -> None:
        node = None if start.procedure == "FREQUENCY" else self._shown_node(start)
        self._node = node
        size = () if start.increments is not None else STEP_SIZE
        width = 13
        if node is None:
            motion = [("largest |u|", width, ".5e")]
        else:
            label = int(self._model.mesh.node_labels[node])
            motion = [(f"U{axis}({label})", max(width, len(f"U{axis}({label})")), ".5e") for axis in (1, 2, 3)]
        columns = [*FIXED_COLUMNS, *size, *SOLVE_COLUMNS, *motion]
        self._columns = ["step", "increment", "time", *(["dt"] if size else []), "iterations", "residual_norm"]
        self._line = " ".join(f"%{width}{code}" for _, width, code in columns) + "\n"
        name = f" '{start.name}'" if start.name else ""
        title = f"\nstep {start.step}{name}: {start.procedure.lower()}"
        if start.procedure == "FREQUENCY":
            self._print(title + "\n")
            return
        known = "automatic increments" if start.increments is None else f"{start.increments} increments"
        title += f", period {start.period:.6g}, {known}\n"
        self._print(title + " ".join(f"{head:>{width}}" for head, width, _ in columns) + "\n")

    def rows(self, rows: Rows) -> None:
        columns: list[list[Any]] = [[rows.step] * len(rows.increment)]
        columns += [getattr(rows, name).tolist() for name in self._columns[1:]]
        if self._node is None:
            columns.append(rows.largest_u.tolist())
        else:
            place = int(np.searchsorted(rows.nodes, self._node))
            columns += rows.of_nodes(self._model)["U"][:, place, :].T.tolist()
        for first in range(0, len(rows.increment), LINES_AT_ONCE):
            # One format string for many lines: several times faster than a call per line.
            lines = [column[first : first + LINES_AT_ONCE] for column in columns]
            cells = [cell for line in zip(*lines, strict=True) for cell in line]
            self._print(self._line * len(lines[0]) % tuple(cells))
        if self._bar is not None and len(rows.time):
            self._bar.move(float(rows.time[-1]), f"step {rows.step}/{len(self._model.steps)}")

    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None:
        if start is not None:
            self.begin(start)
        totals = checkpoint["totals"]["sums"]
        self._print(f"going on after {totals['increments']} increments, from time {totals['time']:.8g}\n")

    def event(self, event: Event) -> None:
        if event.event == "cutback":
            self._print(f"{event.step:4d} {event.increment:9d} {event.time:12.6g} cut back: smaller increment\n")

    def modes(self, modes: Modes) -> None:
        lines = [f"{'mode':>6} {'frequency':>14} {'omega':>14} {'generalized mass':>17}\n"]
        columns = modes.number, modes.frequency, modes.omega, modes.generalized_mass
        table = zip(*(column.tolist() for column in columns), strict=True)
        lines += [f"{mode:6d} {f:14.7g} {w:14.7g} {m:17.7g}\n" for mode, f, w, m in table]
        self._print("".join(lines))

    def notice(self, text: str) -> None:
        self._print(textwrap.fill(f"note: {text}", WIDTH, subsequent_indent="      ", break_long_words=False) + "\n")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._print("")

    def summary(self, totals: Totals, verdict: str, seconds: float, folder: Path, files: Sequence[str]) -> None:
        """The last lines of a run."""
        named = ((name.replace("_", " "), value) for name, value in totals.energies.items() if name != "energy_error")
        steps = f"{totals.steps} step" + ("s" if totals.steps != 1 else "")
        entries = [
            ("verdict", verdict if verdict == COMPLETED else verdict.upper()),
            ("increments", f"{totals.increments} in {steps}, to time {totals.time:.8g}"),
            ("iterations", f"{totals.iterations}, cutbacks {totals.cutbacks}"),
            ("residual", f"largest {totals.largest_residual_norm:.3g}"),
            ("energies", "  ".join(f"{name} {value:.6g}" for name, value in named)),
            ("", f"largest |energy error| {totals.largest_energy_error:.3g}"),
            ("events", ", ".join(f"{count} {name}" for name, count in sorted(totals.events.items()))),
            ("wall time", f"{seconds:.2f} s"),
            ("written", f"in {folder}: {', '.join(files)}"),
        ]
        self._print("\n" + "".join(f"{name:<11}{text}\n" for name, text in entries if text))

    def _shown_node(self, start: StepStart) -> int | None:
        return Schedule(self._model, start.step - 1, start.time, start.increments).shown_node

    def _print(self, text: str) -> None:
        try:
            if self._bar is not None and self._bar.is_shown:
                self._bar.print(text)
            else:
                self._stream.write(text)
                self._stream.flush()
        except OSError as error:
            # Windows reports a pipe that nobody reads as EINVAL.
            if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
                error.filename = error.filename or "standard output"
                raise
            stop_writing(self._stream)


def say(text: str, stream: TextIO | None = None) -> None:
    """A line to whoever still reads."""
    stream = stream or sys.stdout
    try:
        print(text, file=stream, flush=True)
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
            raise
        stop_writing(stream)


def stop_writing(stream: TextIO) -> None:
    """The reader has gone: send the rest nowhere, so that neither we nor the interpreter's exit trip over it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class Bar:
    """Progress of a long run on a terminal, below the lines. ``rich`` is imported when it first shows."""

    def __init__(self, stream: TextIO, total: float) -> None:
        self._stream = stream
        self._total = total
        self._begun = time.monotonic()
        self._progress: Any = None
        self._task: Any = None

    @property
    def is_shown(self) -> bool:
        return self._progress is not None

    def move(self, done: float, text: str) -> None:
        """Total time reached; shows the bar once the run has become long."""
        if self._progress is None and time.monotonic() - self._begun > BAR_AFTER:
            self._show()
        if self._progress is not None:
            self._progress.update(self._task, completed=done, description=text)

    def print(self, text: str) -> None:
        """Lines above the bar, as they are."""
        self._progress.console.out(text, end="", highlight=False)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        console = Console(file=self._stream)
        self._progress = Progress(*columns, console=console, transient=True, refresh_per_second=4)
        self._task = self._progress.add_task("", total=self._total)
        self._progress.start()
