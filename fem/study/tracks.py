"""Numbers of a run over time, where a whole ``History`` would be too large, or is not asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.refined import Refined
from fem.model import Model
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL
from fem.runner import drive
from fem.runs.history import History
from fem.runs.record import Event, Modes, Requests, Rows, SilentSink
from fem.runs.run_record import Timing
from fem.runs.schedule import printed_in_step, union
from fem.runs.tables import header_variables
from fem.show.series import number_of

NODE_QUANTITIES = NODAL[:4]
ELEMENT_QUANTITIES = ELEMENTAL[:4]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Rows (k,) of a run with some numbers (k, c), ``U1_n2``, ``T_e1``, ``kinetic``; its modes and events."""

    model: Model
    names: tuple[str, ...]
    step: Ints
    time: Floats
    dt: Floats
    values: Floats
    modes: tuple[Modes, ...]
    events: tuple[Event, ...]

    def of_step(self, step: int) -> Flags:
        return np.equal(self.step, step)

    @property
    def frequencies(self) -> dict[str, float]:
        """Natural frequencies by their names in sweeps."""
        return {name: value for modes in self.modes for name, value in modes.by_name.items()}

    @property
    def event_times(self) -> dict[str, float]:
        """``1:slack_e5``: the time of the first event of this kind, of an element or a node."""
        counts: dict[str, int] = {}
        found = {}
        for event in self.events:
            if event.event == "cutback":
                continue
            name = f"{event.event}_e{event.element}" if event.element else f"{event.event}_n{event.node}"
            counts[name] = counts.get(name, 0) + 1
            found[f"{counts[name]}:{name}"] = event.time
        return found


@dataclass(eq=False)
class SeriesSink(SilentSink):
    """Keeps some numbers of a run over time, its frequencies and events.

    names   of the numbers
    places  of each, the node or element index, or the two over which its mean is taken
    every   increments 0, k, 2k, ... are kept, and the last one of a step
    """

    model: Model
    names: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    every: int = 1
    modes_found: list[Modes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    parts: list[tuple[Ints, Floats, Floats, Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Where each number is among all values of all quantities wanted, side by side."""
        sizes = {"n": len(self.model.mesh.node_labels), "e": len(self.model.mesh.element_labels)}
        columns = {
            (kind, column): (quantity.name, axis, len(quantity.columns))
            for kind, table in (("n", NODAL), ("e", ELEMENTAL))
            for quantity in table
            for axis, column in enumerate(quantity.columns)
        }
        self.starts: dict[tuple[str, str], int] = {}
        width, found = 0, []
        for name, places in zip(self.names, self.places, strict=True):
            kind, (quantity, axis, axes) = "", (name, 0, 1)
            if name not in ENERGIES:
                head, kind, _ = number_of(name)
                quantity, axis, axes = columns[kind, head]
            if (kind, quantity) not in self.starts:
                self.starts[kind, quantity] = width
                width += axes * sizes.get(kind, 1)
            start, ends = self.starts[kind, quantity] + axis, places or (0,)
            found.append((start + axes * ends[0], start + axes * ends[-1]))
        self.first, self.second = np.array(found, int).reshape(-1, 2).T
        (self.halved,) = np.nonzero(self.first != self.second)

    def rows(self, rows: Rows) -> None:
        kept = rows.increment % self.every == 0
        kept[-1:] |= rows.is_end
        if not kept.any():
            return
        chosen = slice(None) if kept.all() else kept
        of = {"n": rows.of_nodes(self.model), "e": rows.of_elements(self.model)}
        parts = [
            (of[kind].columns(quantity) if kind else getattr(rows, quantity)).reshape(len(kept), -1)
            for kind, quantity in self.starts
        ]
        every = np.concatenate([part[chosen] for part in parts], axis=1) if parts else np.zeros((len(kept), 0))[chosen]
        values = every[:, self.first]
        values[:, self.halved] = 0.5 * (values[:, self.halved] + every[:, self.second[self.halved]])
        time = rows.time[chosen].copy()
        self.parts.append((np.full(len(time), rows.step), time, rows.dt[chosen].copy(), values))

    def modes(self, modes: Modes) -> None:
        self.modes_found.append(modes)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def track(self) -> Track:
        empty = [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, len(self.names))))]
        step, time, dt, values = map(np.concatenate, zip(*(self.parts or empty), strict=True))
        return Track(self.model, self.names, step, time, dt, values, tuple(self.modes_found), tuple(self.events))


def tracked(model: Model, names: Sequence[str], solver: str = "AUTO") -> Track:
    """Run a model for some numbers. Raises what ``fem.run`` raises."""
    sink = SeriesSink(model, tuple(names), places_of(model, names))
    drive(model, Requests(solver, record_all=True, fields=False), None, Timing(), None, sink)
    return sink.track()


def track_of(history: History, names: Sequence[str] | None = None) -> Track:
    """Some numbers of a run, or all, of those of ``every_name``."""
    nodes = history.motion[:, : len(NODE_QUANTITIES)].transpose(0, 2, 1, 3)
    elements = history.elements[:, :, : len(ELEMENT_QUANTITIES)]
    parts = [nodes, elements, history.energy, history.energy_error[:, None]]
    values = np.column_stack([part.reshape(len(part), math.prod(part.shape[1:])) for part in parts])
    every = every_name(history.model)
    if names is not None:
        place = {name: n for n, name in enumerate(every)}
        values, every = values[:, [place[name] for name in names]], tuple(names)
    rows = history.step, history.time, history.dt, values
    return Track(history.model, every, *rows, history.modes, history.events)


def table_names(model: Model) -> tuple[str, ...]:
    """Those of ``every_name`` that tables show, of nodes and elements that some step prints, and of the whole model."""
    steps, asked, known = range(1, len(model.steps) + 1), list[str](), frozenset(every_name(model))
    for kind, letter, labels in (("NODE", "n", model.mesh.node_labels), ("EL", "e", model.mesh.element_labels)):
        items = union([printed_in_step(model, step, f"{kind} PRINT") for step in steps])
        columns = [name for names in header_variables(model, f"{kind} PRINT").values() for name in names]
        asked += [f"{column}_{letter}{label}" for label in labels[items].tolist() for column in columns]
    return *(name for name in asked if name in known), *ENERGIES


def every_name(model: Model) -> tuple[str, ...]:
    """U, V, A and RF of all nodes, E, S, N and T of all elements, energies."""
    columns = [column for quantity in NODE_QUANTITIES for column in quantity.columns]
    return (
        *(f"{column}_n{label}" for label in model.mesh.node_labels.tolist() for column in columns),
        *(f"{quantity.name}_e{e}" for e in model.mesh.element_labels.tolist() for quantity in ELEMENT_QUANTITIES),
        *ENERGIES,
    )


def places_of(model: Model, names: Sequence[str], fine: Refined | None = None) -> tuple[tuple[int, ...], ...]:
    """Indices of the node or element of each series; of both halves of an element in a finer model."""
    found: list[tuple[int, ...]] = []
    mesh = model.mesh
    index = {"n": {label: n for n, label in enumerate(mesh.node_labels.tolist())}}
    index["e"] = {label: n for n, label in enumerate(mesh.element_labels.tolist())}
    for name in names:
        if name in ENERGIES:
            found.append(())
            continue
        _, kind, label = number_of(name)
        place = index[kind][label]
        found.append(tuple(fine.halves[place].tolist()) if fine is not None and kind == "e" else (place,))
    return tuple(found)
