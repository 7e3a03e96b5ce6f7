"""The CSV tables of a run: one file each, whole lines only, every number with all its digits (as ``repr`` has them).

What is printed when follows the deck's PRINT requests (``schedule.py``); a run that ends early still gets the last
increment it computed. ``touchdown.csv`` has where the lines above a ``*SEABED`` leave the bottom, and how much of them
lies on it. The tables of ``*STEADY STATE DYNAMICS`` have a row for each frequency, and for each frequency and node, or
element: x(t) = amplitude cos(2 pi frequency t + phase), the phase in degrees from -180 to 180, 0 where nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Columns, Floats, Ints
from fem.commands.files import GrowingFile
from fem.model import Model, OutputRequest, Seabed, outputs_in_force
from fem.model.facts import natural_lengths
from fem.model.mesh import Mesh
from fem.model.quantities import ENERGIES, HARMONIC, QUANTITIES, meant
from fem.model.surroundings import COMPONENTS
from fem.runs.digits import EMPTY, NUMBER, WHOLE, lines
from fem.runs.record import Event, Factors, Frame, Modes, Response, Rows, SilentSink, StepStart
from fem.runs.schedule import NEVER, Cadence, harmonic_items, is_active, request_cadence, target_indices, union

HEAD = ("step", "increment", "time")
INCREMENT = ("dt", "iterations", "residual_norm", "cutbacks", *ENERGIES)
EVENT = ("element", "event", "energy_loss")
INSTANT = ("step", "frequency")
BUCKLING = ("step", "mode", "factor", "residual")
FREQUENCY = ("step", "mode", "frequency", "omega", "generalized_mass")
COUNTED = frozenset(("step", "increment", "iterations", "cutbacks", "node", "element", "mode"))
"""Columns of whole numbers."""
PRINTS = ("ENERGY PRINT", "NODE PRINT", "EL PRINT")
"""Requests that print lines of increments, nodes and elements."""
Wanted: TypeAlias = tuple[Ints, frozenset[str]]
Request: TypeAlias = tuple[Cadence, list[Wanted]]
Chunk: TypeAlias = tuple[int, Ints, Floats, Ints, Mapping[str, Floats]]
"""Step, increments (k,), times (k,), recorded items (p,), values (k, p, c) of variables."""
LINES_AT_ONCE = 20_000
"""Number of lines formatted together, to bound the memory of the text."""


class TableFile(GrowingFile):
    """One CSV file, which must not exist, or is cut back to ``size`` bytes.

    It is not buffered, so a killed run loses no finished line. ``kinds`` (1, c): kinds of its cells. ``kept`` also
    receives the numbers of the lines, NaN for empty cells.
    """

    def __init__(
        self, path: Path, columns: Sequence[str], size: int | None = None, kept: list[Floats] | None = None
    ) -> None:
        super().__init__(path, size)
        self.columns, self._kept = tuple(columns), kept
        self.kinds = np.array([[WHOLE if name in COUNTED else NUMBER for name in columns]], np.uint8)
        if size is None:
            self.add_line(",".join(columns))

    def add_rows(self, numbers: Floats, kinds: np.ndarray | None = None) -> None:
        """Append lines: numbers (k, c), kinds of cells (p, c) for line 0, p, 2p, ..., as the columns' names if None."""
        kinds = self.kinds if kinds is None else kinds
        if len(numbers):
            self.add(lines(numbers, kinds))
        if self._kept is not None:
            self._kept.append(np.where(np.resize(kinds == EMPTY, numbers.shape), np.nan, numbers))

    def add_line(self, text: str) -> None:
        self.add(text.encode() + b"\n")


class Printer:
    """The lines of one table in one step: of nodes, of elements, or of increments, which are of a single item.

    labels     (n,) of the items, by index; None: there is no column for them
    requests   cadences, each with the pairs of indices and variables that it prints
    variables  name -> its columns, in the order of the header
    """

    def __init__(
        self, table: TableFile, labels: Ints | None, requests: Sequence[Request], variables: Mapping[str, Sequence[str]]
    ) -> None:
        self._table, self._labels, self.requests, self._variables = table, labels, requests, variables
        self._first = len(HEAD) + (labels is not None)
        self._layouts: dict[int, tuple[Ints, np.ndarray]] = {}
        self.last: Chunk | None = None

    def add(self, rows: Rows, recorded: Ints, columns: Callable[[str], Floats]) -> None:
        """Prints the increments that are due; ``columns`` (k, p, c) of a variable, for the items ``recorded`` (p,)."""
        self.last = None
        if not self.requests or not len(rows.increment):
            return
        which = np.zeros(len(rows.increment), np.int64)
        for bit, (cadence, _) in enumerate(self.requests):
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
        """Prints the last increment if it was not printed: the run ended before the end of the step."""
        if self.last is not None:
            everything = (1 << len(self.requests)) - 1
            self._print(everything, self.last, np.zeros(1, np.int64))
            self.last = None

    def _layout(self, which: int) -> tuple[Ints, np.ndarray]:
        """Indices printed when the requests in ``which`` are due, and the kinds of their cells."""
        if which not in self._layouts:
            chosen = [want for bit, (_, wants) in enumerate(self.requests) if which >> bit & 1 for want in wants]
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
            self._table.add_rows(numbers.reshape(-1, kinds.shape[1]), kinds)


RESPONSES = ("steady", "steady_nodes", "steady_elements")
TABLES: dict[str, Callable[[Model], Any]] = dict.fromkeys(
    ("increments", "nodes", "elements", "events"), lambda model: True
)
TABLES |= {"touchdown": lambda model: model.seabeds, "waves": lambda model: model.waves}
TABLES |= {"buckling": lambda model: any(step.buckling for step in model.steps)}
TABLES |= {"frequencies": lambda model: any(step.modes for step in model.steps)}
TABLES |= dict.fromkeys(RESPONSES, lambda model: any(step.harmonic for step in model.steps))
"""Name of every table, and whether a model has it."""


def tables_of(model: Model) -> list[str]:
    return [name for name, has in TABLES.items() if has(model)]


class TableSink(SilentSink):
    """Writes all tables that a model has."""

    def __init__(
        self,
        folder: Path,
        model: Model,
        before: Mapping[str, Any] | None = None,
        kept: Mapping[str, list[Floats]] | None = None,
    ) -> None:
        """``before``: checkpoint with the sizes to which tables are cut.  ``kept``: as in ``TableFile``, by name."""
        self._model = model
        self._labels = (None, model.mesh.node_labels, model.mesh.element_labels)
        riks = [getattr(step.procedure, "riks", None) is not None for step in model.steps]
        self._arcs = {step for step, is_arc in enumerate(riks, start=1) if is_arc}  # steps with a load factor
        self._variables: list[dict[str, tuple[str, ...]]] = [{name: (name,) for name in INCREMENT}]
        self._variables[0] |= {"load_factor": ("load_factor",)} if self._arcs else {}
        self._variables += [header_variables(model, kind) for kind in PRINTS[1:]]
        increments, nodes, elements = ([name for names in of.values() for name in names] for of in self._variables)
        heads = {"increments": (*HEAD, *increments), "nodes": (*HEAD, "node", *nodes)}
        of_events = *["node"] * bool(model.planes), *["load_factor"] * bool(self._arcs)
        heads |= {"elements": (*HEAD, "element", *elements), "events": (*HEAD, *EVENT, *of_events)}
        heads |= {"touchdown": (*HEAD, *COLUMNS), "waves": COMPONENTS, "frequencies": FREQUENCY, "buckling": BUCKLING}
        heads |= {"steady": (*INSTANT, "omega", "iterations", "residual")}
        for name, item, kind in (("steady_nodes", "node", "NODE"), ("steady_elements", "element", "EL")):
            heads[name] = (*INSTANT, item, *columns_of(kind, asked_of(model, f"{kind} PRINT")))
        self._lines, self._touches = bed_lines(model), [Cadence(NEVER)]
        sizes = before["tables"]["sizes"] if before else {}
        self._tables = {
            name: TableFile(folder / f"{name}.csv", heads[name], sizes.get(name), (kept or {}).get(name))
            for name in tables_of(model)
        }
        if model.waves and not before:
            self._tables["waves"].add_rows(model.sea[:, : len(COMPONENTS)].copy())
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
        for printer, values in zip(others, rows.values(self._model).values(), strict=False):
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
        cells += ["" if event.load_factor is None else float(event.load_factor)] * bool(self._arcs)
        self._tables["events"].add_line(",".join(map(str, cells)))

    def modes(self, modes: Modes) -> None:
        if "frequencies" in self._tables:
            columns = modes.number, modes.frequency, modes.omega, modes.generalized_mass
            self._tables["frequencies"].add_rows(np.column_stack([np.full(len(modes.number), modes.step), *columns]))

    def factors(self, factors: Factors) -> None:
        if "buckling" in self._tables:
            columns = factors.number, factors.factor, factors.residual
            self._tables["buckling"].add_rows(np.column_stack([np.full(len(factors.number), factors.step), *columns]))

    def response(self, response: Response) -> None:
        response = printed_of(response, self._model)
        for name in RESPONSES:
            columns, table = response_columns(name, [response], self._model.mesh), self._tables[name]
            if table.columns[3:]:  # quantities are printed
                table.add_rows(np.column_stack([columns[each] for each in table.columns]))

    def sync(self) -> None:
        """Flush all tables to the disk."""
        for table in self._tables.values():
            table.sync()

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
        return [*(cadence for each in self._printers for cadence, _ in each.requests), *self._touches]

    def _grouped(self, kind: str, requests: Sequence[OutputRequest], start: StepStart) -> list[Request]:
        """The active requests of a kind; those with equal cadence are joined."""
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
        """Items and variables of a request; for increments all, with the load factor in the steps that have one."""
        if request.kind == "ENERGY PRINT":
            return np.zeros(1, np.int64), frozenset(self._variables[0] if start.step in self._arcs else INCREMENT)
        return target_indices(self._model.mesh, request), meant(request.kind, request.variables)

    def _print_touchdown(self, rows: Rows) -> None:
        """Prints the touchdown points of lines whenever nodes are printed; otherwise at the ends of steps."""
        due = np.any([each.due(rows.increment, rows.time, rows.is_end) for each in self._touches], axis=0)
        (chosen,) = np.nonzero(due)
        cells = []
        for line in self._lines:
            u = rows.motion[chosen][:, 0, np.searchsorted(rows.nodes, line.nodes)]
            cells.append(touchdown_lines(line, self._model.mesh.coordinates[line.nodes] + u, self._model.mesh.up))
        for row, *texts in zip(chosen.tolist(), *cells, strict=True):
            head = rows.step, int(rows.increment[row]), float(rows.time[row])
            for text in texts:
                self._tables["touchdown"].add_line(",".join((*map(str, head), text)))

    def _print_frame(self) -> None:
        """Prints U of all nodes: the content of ``nodes.csv`` without ``*NODE PRINT``."""
        frame, self._last_frame = self._last_frame, None
        if frame is None:
            return
        table, labels = self._tables["nodes"], self._model.mesh.node_labels
        numbers = np.zeros((len(labels), len(table.columns)))
        numbers[:, :3] = frame.step, frame.increment, frame.time
        numbers[:, 3], numbers[:, 4:7] = labels, frame.values(self._model)["n"]["U"]
        kinds = table.kinds.copy()
        kinds[:, 7:] = EMPTY
        table.add_rows(numbers, kinds)

    def _finish_step(self) -> None:
        """Prints the last rows of a step that ended early (a failure)."""
        for printer in self._printers:
            printer.finish()
        self._print_frame()


def header_variables(model: Model, kind: str) -> dict[str, tuple[str, ...]]:
    """Quantities of nodes or elements that any step prints, and those of every table, with their columns."""
    prints = [request for step in model.steps for request in step.outputs if request.kind == kind]
    wanted = meant(kind).union(*(meant(kind, request.variables) for request in prints if is_active(request)))
    return {each.name: each.columns for each in QUANTITIES[kind.split()[0]] if each.name in wanted}


def printed_of(response: Response, model: Model) -> Response:
    """The response at the nodes and elements that the step prints."""
    nodes, elements = harmonic_items(model, response.step - 1, False)
    n, e = np.isin(response.nodes, nodes), np.isin(response.elements, elements)
    response = replace(response, nodes=response.nodes[n], motion=response.motion[:, n])
    return replace(response, elements=response.elements[e], values=response.values[e])


def asked_of(model: Model, kind: str) -> tuple[str, ...]:
    """The quantities that steps of harmonic motions print, in the order of the table of quantities."""
    names, family = set[str](), kind.split()[0]
    for index, step in enumerate(model.steps):
        if step.harmonic:
            requests = [each for each in outputs_in_force(model.steps, index) if each.kind == kind]
            names |= {"U"} if family == "NODE" and not requests else set()
            names = names.union(*(meant(kind, each.variables) for each in requests if is_active(each)))
    return tuple(name for name in HARMONIC[family] if name in names)


PHASE = "_phase"
"""Suffix of a column for its phase."""


def columns_of(kind: str, variables: Sequence[str]) -> list[str]:
    """Amplitude and phase of each component of quantities of ``NODE`` or ``EL``."""
    columns = {each.name: each.columns for each in QUANTITIES[kind]}
    return [name for each in variables for column in columns[each] for name in (column, column + PHASE)]


def response_columns(name: str, responses: Sequence[Response], mesh: Mesh) -> Columns:
    """A table of ``RESPONSES`` with all nodes or elements of the responses."""
    step, frequency = np.array([each.step for each in responses], np.int64), np.array([r.frequency for r in responses])
    if name == "steady":
        counts = {"iterations": np.array([each.iterations for each in responses], np.int64)}
        left = {"residual": np.array([each.residual for each in responses])}
        return Columns({"step": step, "frequency": frequency, "omega": 2.0 * np.pi * frequency} | counts | left)
    if name == "steady_nodes":
        item, kind, labels = "node", "NODE", [mesh.node_labels[each.nodes] for each in responses]
        blocks = [np.moveaxis(each.motion, 0, 1).reshape(len(each.nodes), -1) for each in responses]
    else:
        item, kind, labels = "element", "EL", [mesh.element_labels[each.elements] for each in responses]
        blocks = [each.values for each in responses]
    names = columns_of(kind, HARMONIC[kind])
    found = np.concatenate([np.empty((0, len(names) // 2), complex), *blocks])
    phase = np.where(found == 0.0, 0.0, np.degrees(np.angle(found)))
    values = np.stack([np.abs(found), phase], axis=2).reshape(len(found), len(names))
    sizes = [len(each) for each in labels]
    head = {"step": np.repeat(step, sizes), "frequency": np.repeat(frequency, sizes)}
    head |= {item: np.concatenate([np.zeros(0, np.int64), *labels])}
    return Columns(head | dict(zip(names, values.T, strict=True)))


COLUMNS = ("line", "s", "x", "y", "z", "on_bottom", "contacts")
NEAR = 1e-9
"""Distance from the plane, relative to the length of the line, that counts as zero."""


class BedLine(NamedTuple):
    """A chain of bars above a bottom: its name, its nodes (n+1,) and s (n+1,), the natural length up to each."""

    name: str
    nodes: Ints
    s: Floats
    bed: Seabed


def bed_lines(model: Model) -> list[BedLine]:
    """All chains of bars above each bottom, those of one bottom numbered; nets and rings are ignored."""
    mesh, found = model.mesh, []
    length = natural_lengths(model.mesh, model.rest_lengths)
    for bed in model.seabeds:
        chains = list(chains_of(mesh.element_nodes, mesh.bars_in(bed.element_set)))
        for number, (nodes, bars) in enumerate(chains, 1):
            name = (bed.element_set or "ALL") + (f"-{number}" if len(chains) > 1 else "")
            found.append(BedLine(name, nodes, np.concatenate([[0.0], np.cumsum(length[bars])]), bed))
    return found


def chains_of(ends: Ints, bars: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Nodes (n+1,) and bars (n,) of every path whose end nodes have one or more than two of these bars.
    ends (elements, 2). A path begins with the end whose bar comes first in the deck."""
    beside: dict[int, list[int]] = {}
    for bar in bars.tolist():
        for node in ends[bar].tolist():
            beside.setdefault(node, []).append(bar)
    used: set[int] = set()
    for first in bars.tolist():
        here = next((node for node in ends[first].tolist() if len(beside[node]) != 2), None)
        if here is None or first in used:
            continue
        nodes, chain, bar = [here], [], first
        while True:
            used.add(bar)
            chain.append(bar)
            here = int(ends[bar].sum()) - here
            nodes.append(here)
            if len(beside[here]) != 2:
                break
            bar = next(other for other in beside[here] if other != bar)
        yield np.array(nodes), np.array(chain)


def touchdown_lines(line: BedLine, places: Floats, up: int) -> list[str]:
    """The cells of ``COLUMNS`` for k instants; places (k, n+1, 3) of the nodes of the line."""
    depth = line.bed.depth(places.reshape(-1, 3), up).reshape(places.shape[:2])
    below = np.maximum(depth, 0.0)
    both = np.abs(depth[:, 1:]) + np.abs(depth[:, :-1])
    part = np.divide(below[:, 1:] + below[:, :-1], both, out=np.zeros_like(both), where=both > 0.0)
    # row by row: a matrix product rounds differently for different numbers of rows
    lying, contacts = (part * np.diff(line.s)).sum(axis=1), (depth > 0.0).sum(axis=1)
    rows = []
    for row in range(len(depth)):
        found = lift_off(depth[row], NEAR * float(line.s[-1]))
        cells: Sequence[object] = ("", "", "", "")
        if found is not None:
            bar, way = found
            ends = places[row, bar : bar + 2]
            s = line.s[bar] + way * (line.s[bar + 1] - line.s[bar])
            cells = [float(value) for value in (s, *(ends[0] + way * (ends[1] - ends[0])))]
        rows.append(",".join(map(str, (line.name, *cells, float(lying[row]), int(contacts[row])))))
    return rows


def lift_off(depth: Floats, near: float) -> tuple[int, float] | None:
    """The bar, and the fraction of it, at which a line leaves the bottom, seen from the end that lies on it. If none of
    its ends does, where it first touches it; None if it does not touch."""
    if depth[0] >= -near:
        return leaves(depth)
    if depth[-1] >= -near:
        bar, way = leaves(depth[::-1])
        return len(depth) - 2 - bar, 1.0 - way
    if not (depth > 0.0).any():
        return None
    bar = int((depth > 0.0).argmax()) - 1
    return bar, float(depth[bar] / (depth[bar] - depth[bar + 1]))


def leaves(depth: Floats) -> tuple[int, float]:
    """The same for a line whose first node lies on the bottom; if all of it lies there, its last node."""
    above = depth[1:] < 0.0
    if not above.any():
        return len(depth) - 2, 1.0
    bar = int(above.argmax())
    start = max(float(depth[bar]), 0.0)
    return bar, start / (start - float(depth[bar + 1]))
