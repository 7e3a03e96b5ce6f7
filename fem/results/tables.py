"""The CSV tables of a run: one file each, whole lines only, every number with all its digits (as ``repr`` has them).

What is printed when follows the deck's PRINT requests (``schedule.py``); a run that ends early still gets the last
increment it computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.files.whole import GrowingFile
from fem.model import Frequency, Model, OutputRequest, outputs_in_force
from fem.model.quantities import ENERGIES, QUANTITIES, meant
from fem.model.surroundings import COMPONENTS
from fem.results.digits import EMPTY, NUMBER, WHOLE, lines
from fem.results.record import Event, Frame, Modes, Rows, SilentSink, StepStart
from fem.results.schedule import NEVER, Cadence, is_active, request_cadence, target_indices, union
from fem.results.touchdown import COLUMNS, bed_lines, touchdown_lines

HEAD = ("step", "increment", "time")
INCREMENT = ("dt", "iterations", "residual_norm", "cutbacks", *ENERGIES)
EVENT = ("element", "event", "energy_loss")
FREQUENCY = ("step", "mode", "frequency", "omega", "generalized_mass")
COUNTED = frozenset(("step", "increment", "iterations", "cutbacks", "node", "element", "mode"))
"""Columns of whole numbers."""
PRINTS = ("ENERGY PRINT", "NODE PRINT", "EL PRINT")
"""What asks for lines of increments, nodes and elements."""
Wanted: TypeAlias = tuple[Ints, frozenset[str]]
Request: TypeAlias = tuple[Cadence, list[Wanted]]
Chunk: TypeAlias = tuple[int, Ints, Floats, Ints, Mapping[str, Floats]]
"""Step, increments (k,), times (k,), recorded items (p,), values (k, p, c) of variables."""
LINES_AT_ONCE = 20_000
"""Lines formatted in one go: bounds the memory of the text, not its meaning."""


class Table:
    """One CSV file, which must not exist, or is cut back to ``size`` bytes.

    Nothing waits in a buffer, so a killed run loses no finished line. ``kinds`` (1, c) of its cells.
    """

    def __init__(self, path: Path, columns: Sequence[str], size: int | None = None) -> None:
        self.columns = tuple(columns)
        self.kinds = np.array([[WHOLE if name in COUNTED else NUMBER for name in columns]], np.uint8)
        self._file = GrowingFile(path, size)
        if size is None:
            self.add_line(",".join(columns))

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._file.size

    def add(self, numbers: Floats, kinds: np.ndarray | None = None) -> None:
        """Append lines: numbers (k, c), kinds of cells (p, c) for line 0, p, 2p, ..., as the columns' names if None."""
        if len(numbers):
            self._file.add(lines(numbers, self.kinds if kinds is None else kinds))

    def add_line(self, text: str) -> None:
        """Append one line of text."""
        self._file.add(text.encode() + b"\n")

    def close(self) -> None:
        self._file.close()


class Printer:
    """The lines of one table in one step: of nodes, of elements, or of increments, which are of a single item.

    labels     (n,) of the items, by index; None: there is no column for them
    requests   cadences, each with what is printed then: pairs of indices and variables
    variables  name -> its columns, in the order of the header
    """

    def __init__(
        self, table: Table, labels: Ints | None, requests: Sequence[Request], variables: Mapping[str, Sequence[str]]
    ) -> None:
        self._table, self._labels, self._requests, self._variables = table, labels, requests, variables
        self._first = len(HEAD) + (labels is not None)
        self._layouts: dict[int, tuple[Ints, np.ndarray]] = {}
        self.last: Chunk | None = None

    @property
    def cadences(self) -> list[Cadence]:
        """Those of the requests."""
        return [cadence for cadence, _ in self._requests]

    def add(self, rows: Rows, recorded: Ints, columns: Callable[[str], Floats]) -> None:
        """Print what is due of k increments; ``columns`` (k, p, c) of a variable, for the items ``recorded`` (p,)."""
        self.last = None
        if not self._requests or not len(rows.increment):
            return
        which = np.zeros(len(rows.increment), np.int64)
        for bit, (cadence, _) in enumerate(self._requests):
            which |= cadence.due(rows.increment, rows.time, rows.is_end).astype(np.int64) << bit
        (due,) = np.nonzero(which)
        starts = np.nonzero(np.diff(which[due], prepend=-1))[0]
        values = {name: columns(name) for name in self._variables} if due.size or not rows.is_end else {}
        for group in np.split(due, starts[1:]):
            if group.size:
                self._print(int(which[group[0]]), (rows.step, rows.increment, rows.time, recorded, values), group)
        if not which[-1] and not rows.is_end:
            kept = {name: part[-1:].copy() for name, part in values.items()}
            self.last = (rows.step, rows.increment[-1:].copy(), rows.time[-1:].copy(), recorded, kept)

    def finish(self) -> None:
        """Print the last increment if nothing of it was due: the run ended before the end of the step."""
        if self.last is not None:
            everything = (1 << len(self._requests)) - 1
            self._print(everything, self.last, np.zeros(1, np.int64))
            self.last = None

    def _layout(self, which: int) -> tuple[Ints, np.ndarray]:
        """Indices printed when the requests in ``which`` are due, and the kinds of their cells."""
        if which not in self._layouts:
            chosen = [want for bit, (_, wants) in enumerate(self._requests) if which >> bit & 1 for want in wants]
            items = union([indices for indices, _ in chosen])
            kinds = np.tile(self._table.kinds, (len(items), 1))
            column = self._first
            for name, columns in self._variables.items():
                given = np.isin(items, union([indices for indices, variables in chosen if name in variables]))
                kinds[~given, column : column + len(columns)] = EMPTY
                column += len(columns)
            self._layouts[which] = (items, kinds)
        return self._layouts[which]

    def _print(self, which: int, chunk: Chunk, group: Ints) -> None:
        items, kinds = self._layout(which)
        if not items.size:
            return
        step, increment, time, recorded, values = chunk
        places = np.searchsorted(recorded, items)
        at_once = max(1, LINES_AT_ONCE // len(items))
        for first in range(0, len(group), at_once):
            part = group[first : first + at_once]
            numbers = np.empty((len(part), len(items), kinds.shape[1]))
            numbers[:, :, 0] = step
            numbers[:, :, 1] = increment[part, None]
            numbers[:, :, 2] = time[part, None]
            if self._labels is not None:
                numbers[:, :, 3] = self._labels[items]
            column = self._first
            for name, columns in self._variables.items():
                numbers[:, :, column : column + len(columns)] = values[name][np.ix_(part, places)]
                column += len(columns)
            self._table.add(numbers.reshape(-1, kinds.shape[1]), kinds)


class TableSink(SilentSink):
    """Writes ``increments.csv``, ``nodes.csv``, ``elements.csv``, ``events.csv`` and ``frequencies.csv``."""

    def __init__(self, folder: Path, model: Model, before: Mapping[str, Any] | None = None) -> None:
        """``before``: the checkpoint of tables that are cut back and go on."""
        self._model = model
        self._labels = (None, model.mesh.node_labels, model.mesh.element_labels)
        riks = [getattr(step.procedure, "riks", None) is not None for step in model.steps]
        self._arcs = {step for step, is_arc in enumerate(riks, start=1) if is_arc}  # steps with a load factor
        self._variables: list[dict[str, tuple[str, ...]]] = [{name: (name,) for name in INCREMENT}]
        self._variables[0] |= {"load_factor": ("load_factor",)} if self._arcs else {}
        self._variables += [header_variables(model, kind) for kind in PRINTS[1:]]
        increments, nodes, elements = ([name for names in of.values() for name in names] for of in self._variables)
        heads = {"increments": (*HEAD, *increments), "nodes": (*HEAD, "node", *nodes)}
        heads |= {"elements": (*HEAD, "element", *elements), "events": (*HEAD, *EVENT, *["node"] * bool(model.planes))}
        self._lines, self._touches = bed_lines(model), [Cadence(NEVER)]
        if model.seabeds:
            heads["touchdown"] = (*HEAD, *COLUMNS)
        if any(isinstance(step.procedure, Frequency) for step in model.steps):
            heads["frequencies"] = FREQUENCY
        if model.waves:
            heads["waves"] = COMPONENTS
        sizes = before["tables"]["sizes"] if before else {}
        self._tables = {name: Table(folder / f"{name}.csv", head, sizes.get(name)) for name, head in heads.items()}
        if model.waves and not before:
            self._tables["waves"].add(model.sea[:, : len(COMPONENTS)].copy())
        self._printers: list[Printer] = []
        self._prints_ends = True
        self._last_frame: Frame | None = None

    def begin(self, start: StepStart) -> None:
        self._finish_step()
        requests = outputs_in_force(self._model.steps, start.step - 1)
        self._prints_ends = all(request.kind != "NODE PRINT" for request in requests)
        prints = [each for each in requests if each.kind == "NODE PRINT" and is_active(each)]
        self._touches = [request_cadence(each, self._model, start.time, start.period) for each in prints]
        self._touches = self._touches or [Cadence(NEVER)]
        tables = zip(self._tables.values(), self._labels, PRINTS, self._variables, strict=False)
        self._printers = [
            Printer(table, labels, self._grouped(kind, requests, start), variables)
            for table, labels, kind, variables in tables
        ]

    def rows(self, rows: Rows) -> None:
        def of_increments(name: str) -> Floats:
            found = getattr(rows, name)
            return np.zeros((len(rows.time), 1, 1)) if found is None else found[:, None, None]

        increments, *others = self._printers
        increments.add(rows, np.zeros(1, np.int64), of_increments)
        for printer, values in zip(others, (rows.of_nodes(self._model), rows.of_elements(self._model)), strict=True):
            printer.add(rows, values.indices, values.columns)
        if self._lines and len(rows.increment):
            self._print_touchdown(rows)

    def frame(self, frame: Frame) -> None:
        if self._prints_ends:
            self._last_frame = frame
            if frame.is_end:
                self._print_frame()

    def event(self, event: Event) -> None:
        cells = [event.step, event.increment, float(event.time), event.element, event.event, float(event.energy_loss)]
        cells += [event.node] * bool(self._model.planes)
        self._tables["events"].add_line(",".join(map(str, cells)))

    def modes(self, modes: Modes) -> None:
        if "frequencies" in self._tables:
            columns = modes.number, modes.frequency, modes.omega, modes.generalized_mass
            self._tables["frequencies"].add(np.column_stack([np.full(len(modes.number), modes.step), *columns]))

    def keep(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["tables"] = {
            "sizes": {name: table.size for name, table in self._tables.items()},
            "passed": [cadence.passed for cadence in self._cadences()],
            "owed": (self._last_frame, *(printer.last for printer in self._printers)),
        }

    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None:
        if start is None:
            return
        self.begin(start)
        state = checkpoint["tables"]
        for cadence, passed in zip(self._cadences(), state["passed"], strict=True):
            cadence.passed = passed
        self._last_frame, *owed = state["owed"]
        for printer, last in zip(self._printers, owed, strict=True):
            printer.last = last

    def close(self) -> None:
        try:
            self._finish_step()
        finally:
            for table in self._tables.values():
                table.close()

    def _cadences(self) -> list[Cadence]:
        return [*(cadence for printer in self._printers for cadence in printer.cadences), *self._touches]

    def _grouped(self, kind: str, requests: Sequence[OutputRequest], start: StepStart) -> list[Request]:
        """The active requests of a kind, those of equal cadence together."""
        groups: dict[object, Request] = {}
        asked = [request for request in requests if request.kind == kind]
        if kind == "ENERGY PRINT" and not asked:
            asked = [OutputRequest(kind)]  # every increment
        for request in asked:
            if is_active(request):
                cadence = request_cadence(request, self._model, start.time, start.period)
                _, wants = groups.setdefault(request.pace, (cadence, []))
                wants.append(self._wanted(request, start))
        return list(groups.values())

    def _wanted(self, request: OutputRequest, start: StepStart) -> Wanted:
        """Items and variables; of an increment all, the load factor in the steps that have one."""
        if request.kind == "ENERGY PRINT":
            return np.zeros(1, np.int64), frozenset(self._variables[0] if start.step in self._arcs else INCREMENT)
        return target_indices(self._model.mesh, request), meant(request.kind, request.variables)

    def _print_touchdown(self, rows: Rows) -> None:
        """Where lines leave the bottom, whenever nodes are printed; without that at the ends of steps."""
        due = np.any([each.due(rows.increment, rows.time, rows.is_end) for each in self._touches], axis=0)
        (chosen,) = np.nonzero(due)
        for line in self._lines:
            u = rows.motion[chosen][:, 0, np.searchsorted(rows.nodes, line.nodes)]
            cells = touchdown_lines(line, self._model.mesh.coordinates[line.nodes] + u, self._model.mesh.up)
            for row, text in zip(chosen.tolist(), cells, strict=True):
                head = rows.step, int(rows.increment[row]), float(rows.time[row])
                self._tables["touchdown"].add_line(",".join((*map(str, head), text)))

    def _print_frame(self) -> None:
        """U of all nodes: what ``nodes.csv`` holds without ``*NODE PRINT``."""
        frame, self._last_frame = self._last_frame, None
        if frame is None:
            return
        table, labels = self._tables["nodes"], self._model.mesh.node_labels
        numbers = np.zeros((len(labels), len(table.columns)))
        numbers[:, :3] = frame.step, frame.increment, frame.time
        numbers[:, 3], numbers[:, 4:7] = labels, frame.of_nodes(self._model)["U"]
        kinds = table.kinds.copy()
        kinds[:, 7:] = EMPTY
        table.add(numbers, kinds)

    def _finish_step(self) -> None:
        """What is still owed when a step ended without saying so."""
        for printer in self._printers:
            printer.finish()
        self._print_frame()


def header_variables(model: Model, kind: str) -> dict[str, tuple[str, ...]]:
    """Quantities of nodes or elements that any step prints, and those of every table, with their columns."""
    prints = [request for step in model.steps for request in step.outputs if request.kind == kind]
    wanted = meant(kind).union(*(meant(kind, request.variables) for request in prints if is_active(request)))
    return {each.name: each.columns for each in QUANTITIES[kind.split()[0]] if each.name in wanted}
