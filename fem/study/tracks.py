"""Numbers of a run over time, where a whole ``History`` would be too large, or is not asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.refined import Refined
from fem.model import Model
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL
from fem.runner import drive
from fem.runs.history import History
from fem.runs.record import Event, Modes, Requests, Rows, SilentSink
from fem.runs.run_record import Timing
from fem.show.series import number_of
from fem.study.row import place_of

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

    names   of the numbers;  places: of each, node or element indices over which its mean is taken
    """

    model: Model
    names: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    modes_found: list[Modes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    parts: list[tuple[Ints, Floats, Floats, Floats]] = field(default_factory=list)
    groups: dict[tuple[str, str, int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Columns of one quantity and axis, and of as many places each, are taken at once."""
        for column, (name, places) in enumerate(zip(self.names, self.places, strict=True)):
            if name not in ENERGIES:
                head, kind, _ = number_of(name)
                self.groups.setdefault((head, kind, len(places)), []).append(column)

    def rows(self, rows: Rows) -> None:
        if not len(rows.time):
            return
        found: dict[str, Any] = {"n": rows.of_nodes(self.model), "e": rows.of_elements(self.model)}
        values = np.zeros((len(rows.time), len(self.names)))
        for column, name in enumerate(self.names):
            if name in ENERGIES:
                values[:, column] = getattr(rows, name)
        for (head, kind, _), columns in self.groups.items():
            quantity, _, axis = place_of(head, kind)
            places = np.array([self.places[column] for column in columns])
            values[:, columns] = found[kind].columns(quantity)[:, places, axis].mean(axis=2)
        self.parts.append((np.full(len(rows.time), rows.step), rows.time.copy(), rows.dt.copy(), values))

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


def track_of(history: History) -> Track:
    """All numbers of a run, in the order of ``every_name``."""
    nodes = history.motion[:, : len(NODE_QUANTITIES)].transpose(0, 2, 1, 3)
    elements = history.elements[:, :, : len(ELEMENT_QUANTITIES)]
    parts = [nodes, elements, history.energy, history.energy_error[:, None]]
    values = np.column_stack([part.reshape(len(part), math.prod(part.shape[1:])) for part in parts])
    rows = history.step, history.time, history.dt, values
    return Track(history.model, every_name(history.model), *rows, history.modes, history.events)


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
