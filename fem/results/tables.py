"""The CSV tables of a run: one file each, whole lines only, every number with all its digits (as ``repr`` has them).

What is printed when follows the deck's PRINT requests (``schedule.py``); a run that ends early still gets the last
increment it computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Frequency, Model, OutputRequest, outputs_in_force
from fem.model.quantities import ENERGIES, QUANTITIES, Values, meant
from fem.results.digits import EMPTY
from fem.results.printing.table import Table
from fem.results.record import Event, Frame, Modes, Rows, SilentSink, StepStart
from fem.results.schedule import Cadence, is_active, request_cadence, target_indices, union

INCREMENT_COLUMNS = ("step", "increment", "time", "dt", "iterations", "residual_norm", "cutbacks", *ENERGIES)
PRINTS = ("NODE PRINT", "EL PRINT")
HEAD = ("step", "increment", "time")
EVENT_COLUMNS = ("step", "increment", "time", "element", "event", "energy_loss")
FREQUENCY_COLUMNS = ("step", "mode", "frequency", "omega", "generalized_mass")
Wanted: TypeAlias = tuple[Ints, frozenset[str]]
LINES_AT_ONCE = 20_000
"""Lines formatted in one go: bounds the memory of the text, not its meaning."""


class Printer:
    """The lines of ``nodes.csv`` or ``elements.csv`` in one step.

    labels     (n,) by node or element index
    requests   cadences, each with what is printed then: pairs of indices and variables
    variables  name -> its columns, in the order of the header
    """

    def __init__(
        self,
        table: Table,
        labels: Ints,
        requests: Sequence[tuple[Cadence, list[Wanted]]],
        variables: Mapping[str, Sequence[str]],
    ) -> None:
        self._table = table
        self._labels = labels
        self._requests = requests
        self._variables = variables
        self._layouts: dict[int, tuple[Ints, np.ndarray]] = {}
        self.last: tuple[int, Ints, Floats, Ints, dict[str, Floats]] | None = None

    @property
    def cadences(self) -> list[Cadence]:
        """Those of the requests."""
        return [cadence for cadence, _ in self._requests]

    def add(
        self,
        step: int,
        increment: Ints,
        time: Floats,
        values: Values,
        is_end: bool,
    ) -> None:
        """Print what is due of k increments, of which there are ``values``."""
        self.last = None
        if not self._requests or not len(increment):
            return
        which = np.zeros(len(increment), np.int64)
        for bit, (cadence, _) in enumerate(self._requests):
            which |= cadence.due(increment, time, is_end).astype(np.int64) << bit
        (rows,) = np.nonzero(which)
        starts = np.nonzero(np.diff(which[rows], prepend=-1))[0]
        due = {name: values.columns(name) for name in self._variables} if rows.size or not is_end else {}
        for group in np.split(rows, starts[1:]):
            if group.size:
                self._print(int(which[group[0]]), step, increment[group], time[group], values.indices, due, group)
        if not which[-1] and not is_end:
            kept = {name: part[-1:].copy() for name, part in due.items()}
            self.last = (step, increment[-1:].copy(), time[-1:].copy(), values.indices, kept)

    def finish(self) -> None:
        """Print the last increment if nothing of it was due: the run ended before the end of the step."""
        if self.last is not None:
            step, increment, time, recorded, values = self.last
            self.last = None
            everything = (1 << len(self._requests)) - 1
            self._print(everything, step, increment, time, recorded, values, np.zeros(1, np.int64))

    def _layout(self, which: int) -> tuple[Ints, np.ndarray]:
        """Indices printed when the requests in ``which`` are due, and the kinds of their cells."""
        if which not in self._layouts:
            chosen = [want for bit, (_, wants) in enumerate(self._requests) if which >> bit & 1 for want in wants]
            items = union([indices for indices, _ in chosen])
            kinds = np.tile(self._table.kinds, (len(items), 1))
            column = len(HEAD) + 1
            for name, columns in self._variables.items():
                width = len(columns)
                given = np.isin(items, union([indices for indices, variables in chosen if name in variables]))
                kinds[~given, column : column + width] = EMPTY
                column += width
            self._layouts[which] = (items, kinds)
        return self._layouts[which]

    def _print(
        self, which: int, step: int, increment: Ints, time: Floats, recorded: Ints, values: Mapping[str, Floats],
        group: Ints,
    ) -> None:  # fmt: skip
        items, kinds = self._layout(which)
        if not items.size:
            return
        places = np.searchsorted(recorded, items)
        at_once = max(1, LINES_AT_ONCE // len(items))
        for first in range(0, len(group), at_once):
            part = slice(first, first + at_once)
            numbers = np.empty((len(group[part]), len(items), kinds.shape[1]))
            numbers[:, :, 0] = step
            numbers[:, :, 1] = increment[part, None]
            numbers[:, :, 2] = time[part, None]
            numbers[:, :, 3] = self._labels[items]
            column = len(HEAD) + 1
            for name, columns in self._variables.items():
                numbers[:, :, column : column + len(columns)] = values[name][np.ix_(group[part], places)]
                column += len(columns)
            self._table.add(numbers.reshape(-1, kinds.shape[1]), kinds)


class TableSink(SilentSink):
    """Writes ``increments.csv``, ``nodes.csv``, ``elements.csv``, ``events.csv`` and ``frequencies.csv``."""

    def __init__(self, folder: Path, model: Model, before: Mapping[str, Any] | None = None) -> None:
        """``before``: the checkpoint of tables that are cut back and go on."""
        self._model = model
        self._node_labels = model.mesh.node_labels
        self._element_labels = model.mesh.element_labels
        self._variables = [header_variables(model, kind) for kind in PRINTS]
        nodes, elements = ([name for names in header.values() for name in names] for header in self._variables)
        self._has_load_factor = any(getattr(step.procedure, "riks", None) is not None for step in model.steps)
        ledger = (*INCREMENT_COLUMNS, *(["load_factor"] if self._has_load_factor else []))
        columns = {"increments": ledger, "nodes": (*HEAD, "node", *nodes)}
        columns |= {"elements": (*HEAD, "element", *elements), "events": EVENT_COLUMNS}
        if any(isinstance(step.procedure, Frequency) for step in model.steps):
            columns["frequencies"] = FREQUENCY_COLUMNS
        sizes = before["tables"]["sizes"] if before else {}
        self._tables = {name: Table(folder / f"{name}.csv", heads, sizes.get(name)) for name, heads in columns.items()}
        self._increments, self._nodes, self._elements, self._events = list(self._tables.values())[:4]
        self._ledger_cadences = [Cadence(1)]
        self._last_ledger: Floats | None = None
        self._printers: list[Printer] = []
        self._prints_ends = True
        self._last_frame: Frame | None = None

    def begin(self, start: StepStart) -> None:
        self._finish_step()
        requests = outputs_in_force(self._model.steps, start.step - 1)
        self._prints_ends = all(request.kind != "NODE PRINT" for request in requests)
        energy = [request for request in requests if request.kind == "ENERGY PRINT"]
        self._ledger_cadences = [
            request_cadence(request, self._model, start.time, start.period) for request in energy
        ] or [Cadence(1)]
        nodes, elements = (self._grouped(kind, requests, start) for kind in PRINTS)
        self._printers = [
            Printer(self._nodes, self._node_labels, nodes, self._variables[0]),
            Printer(self._elements, self._element_labels, elements, self._variables[1]),
        ]

    def rows(self, rows: Rows) -> None:
        self._add_ledger(rows)
        values = rows.of_nodes(self._model), rows.of_elements(self._model)
        for printer, of in zip(self._printers, values, strict=True):
            printer.add(rows.step, rows.increment, rows.time, of, rows.is_end)

    def frame(self, frame: Frame) -> None:
        if self._prints_ends:
            self._last_frame = frame
            if frame.is_end:
                self._print_frame()

    def event(self, event: Event) -> None:
        cells = (event.step, event.increment, float(event.time), event.element, event.event, float(event.energy_loss))
        self._events.add_line(",".join(map(str, cells)))

    def modes(self, modes: Modes) -> None:
        if "frequencies" in self._tables:
            head = np.full(len(modes.number), modes.step), modes.number
            self._tables["frequencies"].add(
                np.column_stack([*head, modes.frequency, modes.omega, modes.generalized_mass])
            )

    def keep(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["tables"] = {
            "sizes": {name: table.size for name, table in self._tables.items()},
            "passed": [cadence.passed for cadence in self._cadences()],
            "owed": (self._last_ledger, self._last_frame, *(printer.last for printer in self._printers)),
        }

    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None:
        if start is None:
            return
        self.begin(start)
        state = checkpoint["tables"]
        for cadence, passed in zip(self._cadences(), state["passed"], strict=True):
            cadence.passed = passed
        self._last_ledger, self._last_frame, *owed = state["owed"]
        for printer, last in zip(self._printers, owed, strict=True):
            printer.last = last

    def close(self) -> None:
        try:
            self._finish_step()
        finally:
            for table in self._tables.values():
                table.close()

    def _cadences(self) -> list[Cadence]:
        return [*self._ledger_cadences, *(cadence for printer in self._printers for cadence in printer.cadences)]

    def _grouped(
        self, kind: str, requests: Sequence[OutputRequest], start: StepStart
    ) -> list[tuple[Cadence, list[Wanted]]]:
        """The active requests of a kind, those of equal cadence together."""
        groups: dict[tuple[int, str | None], tuple[Cadence, list[Wanted]]] = {}
        for request in requests:
            if request.kind == kind and is_active(request):
                cadence = request_cadence(request, self._model, start.time, start.period)
                _, wants = groups.setdefault((request.every, request.times), (cadence, []))
                wants.append((target_indices(self._model.mesh, request), meant(request.kind, request.variables)))
        return list(groups.values())

    def _add_ledger(self, rows: Rows) -> None:
        due = np.zeros(len(rows.increment), bool)
        for cadence in self._ledger_cadences:
            due |= cadence.due(rows.increment, rows.time, rows.is_end)
        (chosen,) = np.nonzero(due)
        for first in range(0, len(chosen), LINES_AT_ONCE):
            self._add_increments(ledger_numbers(rows, chosen[first : first + LINES_AT_ONCE]))
        self._last_ledger = None
        is_silent = all(cadence.every == 0 and cadence.instants is None for cadence in self._ledger_cadences)
        if len(due) and not due[-1] and not rows.is_end and not is_silent:
            self._last_ledger = ledger_numbers(rows, np.array([len(due) - 1]))

    def _add_increments(self, numbers: Floats) -> None:
        """Lines of ``increments.csv``; the load factor is empty in the steps that have none."""
        kinds = self._increments.kinds
        if self._has_load_factor and numbers.shape[1] < kinds.shape[1]:
            numbers = np.column_stack([numbers, np.zeros(len(numbers))])
            kinds = kinds * (np.arange(kinds.shape[1]) < kinds.shape[1] - 1).astype(np.uint8)
        self._increments.add(numbers, kinds)

    def _print_frame(self) -> None:
        """U of all nodes: what ``nodes.csv`` holds without ``*NODE PRINT``."""
        frame, self._last_frame = self._last_frame, None
        if frame is None:
            return
        numbers = np.zeros((len(self._node_labels), len(self._nodes.columns)))
        numbers[:, :3] = frame.step, frame.increment, frame.time
        numbers[:, 3], numbers[:, 4:7] = self._node_labels, frame.of_nodes(self._model)["U"]
        kinds = self._nodes.kinds.copy()
        kinds[:, 7:] = EMPTY
        self._nodes.add(numbers, kinds)

    def _finish_step(self) -> None:
        """What is still owed when a step ended without saying so."""
        if self._last_ledger is not None:
            self._add_increments(self._last_ledger)
            self._last_ledger = None
        for printer in self._printers:
            printer.finish()
        self._print_frame()


def ledger_numbers(rows: Rows, chosen: Ints) -> Floats:
    """The chosen rows of ``increments.csv``, one column more where there is a load factor."""
    columns = [np.full(len(chosen), rows.step), *(getattr(rows, name)[chosen] for name in INCREMENT_COLUMNS[1:])]
    return np.column_stack([*columns, *([] if rows.load_factor is None else [rows.load_factor[chosen]])])


def header_variables(model: Model, kind: str) -> dict[str, tuple[str, ...]]:
    """Quantities of nodes or elements that any step prints, and those of every table, with their columns."""
    prints = [request for step in model.steps for request in step.outputs if request.kind == kind]
    wanted = meant(kind).union(*(meant(kind, request.variables) for request in prints if is_active(request)))
    return {each.name: each.columns for each in QUANTITIES[kind.split()[0]] if each.name in wanted}
