"""Some numbers of a run over time, where a whole ``History`` would be too large, or is not asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.refined import Refined
from fem.model import Model
from fem.model.quantities import ENERGIES
from fem.runs.record import Event, Modes, Rows, SilentSink
from fem.show.series import number_of
from fem.study.row import place_of


@dataclass(eq=False)
class SeriesSink(SilentSink):
    """Keeps some numbers of a run over time, its frequencies and events: what a ``History`` of few numbers has.

    names   of the numbers;  places: of each, node or element indices over which its mean is taken
    """

    model: Model
    names: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    modes_found: list[Modes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    parts: list[tuple[Ints, Floats, Floats, Floats]] = field(default_factory=list)

    def rows(self, rows: Rows) -> None:
        if not len(rows.time):
            return
        found: dict[str, Any] = {"n": rows.of_nodes(self.model), "e": rows.of_elements(self.model)}
        columns = []
        for name, places in zip(self.names, self.places, strict=True):
            if name in ENERGIES:
                columns.append(getattr(rows, name))
                continue
            column, kind, _ = number_of(name)
            quantity, _, axis = place_of(column, kind)
            columns.append(found[kind].columns(quantity)[:, list(places), axis].mean(axis=1))
        values = np.column_stack(columns) if columns else np.zeros((len(rows.time), 0))
        self.parts.append((np.full(len(rows.time), rows.step), rows.time.copy(), rows.dt.copy(), values.copy()))

    def modes(self, modes: Modes) -> None:
        self.modes_found.append(modes)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def history(self) -> Track:
        empty = [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, len(self.names))))]
        step, time, dt, values = map(np.concatenate, zip(*(self.parts or empty), strict=True))
        return Track(self.model, step, time, dt, values, tuple(self.modes_found), tuple(self.events))


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Rows (k,) of a run with some numbers (k, c); its modes and events."""

    model: Model
    step: Ints
    time: Floats
    dt: Floats
    values: Floats
    modes: tuple[Modes, ...]
    events: tuple[Event, ...]

    def of_step(self, step: int) -> Flags:
        return np.equal(self.step, step)


def places_of(model: Model, names: Sequence[str], fine: Refined | None = None) -> tuple[tuple[int, ...], ...]:
    """Indices of the node or element of each series; of both halves of an element in a finer model."""
    found: list[tuple[int, ...]] = []
    for name in names:
        if name in ENERGIES:
            found.append(())
            continue
        _, kind, label = number_of(name)
        labels = model.mesh.element_labels if kind == "e" else model.mesh.node_labels
        index = int(np.flatnonzero(labels == label)[0])
        found.append(tuple(fine.halves[index].tolist()) if fine is not None and kind == "e" else (index,))
    return tuple(found)
