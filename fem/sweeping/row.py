"""What a sweep keeps of one run: a row of numbers, and the names of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Frequency, Model
from fem.model.quantities import ENERGIES, QUANTITIES, Quantity
from fem.runner import drive, verdict_of
from fem.runs.history import History, HistorySink
from fem.runs.record import Modes, Rows, StepStart, Wishes
from fem.runs.run_record import COMPLETED, Timing, TotalsSink
from fem.runs.schedule import printed_in_step, union
from fem.sweeping.recorded.record import Record, Recorder
from fem.sweeping.together.run import march_together

TOTALS = ("increments", "iterations", "cutbacks")
ENERGY_COLUMNS = (*(f"{name}_end" for name in ENERGIES), "energy_error_largest")
EXTREMES, SCATTER, LIFE = "extremes.png", "scatter.csv", "fatigue.csv"
"""What is made of recorded numbers, beside the table."""
KEPT = {kind: [quantity for quantity in table if quantity.swept] for kind, table in QUANTITIES.items()}
"""What is kept of the motion of printed nodes and elements."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the rows of a sweep tell of: labels of printed nodes and elements, (step, mode) of natural frequencies;
    numbers over time that are recorded.
    """

    nodes: tuple[int, ...]
    elements: tuple[int, ...]
    modes: tuple[tuple[int, int], ...]
    record: Record | None = None
    kind: ClassVar[str] = "sweep"
    figures: ClassVar[tuple[str, ...]] = (EXTREMES, SCATTER, LIFE)
    counts: ClassVar[tuple[str, ...]] = tuple(f"{name}_total" for name in TOTALS)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"record": self.record.settings} if self.record else {}

    def columns(self) -> list[str]:
        """Names of the numbers of a row, after point, parameters and verdict."""
        motion = [
            f"{column}_{label}_{what}"
            for kind, labels in (("NODE", self.nodes), ("EL", self.elements))
            for quantity in KEPT[kind]
            for label in labels
            for column in quantity.columns
            for what in quantity.swept
        ]
        frequencies = [f"frequency_{step}_{mode}" for step, mode in self.modes]
        recorded = self.record.columns() if self.record else []
        return [*self.counts, "time_end", *ENERGY_COLUMNS, *motion, *frequencies, *recorded]

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, tuple[int | float, ...], History | None]:
        """One run; whatever goes wrong in it is its verdict."""
        sink = RowSink(model, self)
        collected = HistorySink(model) if history else None
        verdict = COMPLETED
        try:
            sinks = [sink, collected] if collected else [sink]
            drive(model, Wishes(record_all=history, fields=False), None, Timing(), None, *sinks)
        except Exception as error:
            verdict = verdict_of(error)
        return verdict, sink.row(), collected.history() if collected else None

    def together(
        self, models: Sequence[Model], points: Sequence[int], may_compile: bool
    ) -> dict[int, tuple[int | float, ...]]:
        """Rows of those models that march well as lanes."""
        found: dict[int, tuple[int | float, ...]] = {}
        if self.record and self.record.is_derived():
            return found
        for marched in march_together(models, may_compile=may_compile):
            rows = rows_of_lanes(models[next(iter(marched.numbers))], self, marched.rows) if marched.numbers else []
            found |= {number: rows[lane] for number, lane in marched.numbers.items()}
        return found


def layout_of(model: Model, record: Record | None = None) -> Layout:
    """What a model prints in any of its steps; ``record``: what is kept of numbers over time."""
    steps = dict(enumerate(model.steps, 1))
    nodes, elements = (
        union([printed_in_step(model, step, f"{kind} PRINT") for step in steps]) for kind in ("NODE", "EL")
    )
    counts = {step: its.procedure.modes for step, its in steps.items() if isinstance(its.procedure, Frequency)}
    modes = tuple((step, mode) for step, count in counts.items() for mode in range(1, count + 1))
    mesh = model.mesh
    return Layout(tuple(mesh.node_labels[nodes].tolist()), tuple(mesh.element_labels[elements].tolist()), modes, record)


def prints_alike(model: Model, other: Model) -> bool:
    """Both have one mesh and, step by step, one procedure and one list of requests: their layouts are the same."""
    pairs = zip(model.steps, other.steps, strict=False)
    return (
        model.mesh is other.mesh
        and len(model.steps) == len(other.steps)
        and all(one.procedure is its.procedure and one.outputs is its.outputs for one, its in pairs)
    )


class Watch:
    """Last value, least and greatest of what rows keep of printed nodes and elements; NaN: never seen.

    ``lanes``: further axes of all values.
    """

    def __init__(self, model: Model, layout: Layout, lanes: tuple[int, ...] = ()) -> None:
        self._model, self._labels = model, {"NODE": layout.nodes, "EL": layout.elements}
        self._chosen: dict[str, tuple[Ints, Ints]] = {}
        self._kept: list[tuple[str, Quantity, dict[str, Floats]]] = []
        for kind, labels in self._labels.items():
            for quantity in KEPT[kind]:
                shape = (len(labels), len(quantity.columns), *lanes)
                self._kept.append((kind, quantity, {what: np.full(shape, np.nan) for what in ("end", "min", "max")}))

    def begin(self, step: int) -> None:
        """A step begins, from 1: what it prints of what rows keep, and where in the row that stands."""
        mesh = self._model.mesh
        for kind, labels in self._labels.items():
            places = {label: place for place, label in enumerate(labels)}
            indices = printed_in_step(self._model, step, f"{kind} PRINT")
            its = (mesh.node_labels if kind == "NODE" else mesh.element_labels)[indices].tolist()
            known = [(i, places[n]) for i, n in zip(indices.tolist(), its, strict=True) if n in places]
            here, there = np.array(known, np.int64).reshape(-1, 2).T
            self._chosen[kind] = here, there

    def add(self, rows: Rows) -> None:
        """Some increments."""
        values = {"NODE": rows.of_nodes(self._model), "EL": rows.of_elements(self._model)}
        for kind, quantity, found in self._kept:
            indices, here = self._chosen[kind]
            new = values[kind].columns(quantity.name)[:, np.searchsorted(values[kind].indices, indices)]
            found["end"][here] = new[-1]
            found["min"][here] = np.fmin(found["min"][here], new.min(axis=0))
            found["max"][here] = np.fmax(found["max"][here], new.max(axis=0))

    def columns(self) -> Floats:
        """(c, ...) values in the order of ``Layout.columns``."""
        stacks = [np.stack([found[what] for what in of.swept], axis=2) for _, of, found in self._kept]
        return np.concatenate([stack.reshape(-1, *stack.shape[3:]) for stack in stacks])


class RowSink(TotalsSink):
    """Makes the row of one run, also of one that fails."""

    def __init__(self, model: Model, layout: Layout) -> None:
        super().__init__(model)
        self._layout, self._watch = layout, Watch(model, layout)
        self._recorder = Recorder(model, layout.record) if layout.record else None
        self._frequencies: dict[tuple[int, int], float] = {}

    def begin(self, start: StepStart) -> None:
        super().begin(start)
        self._watch.begin(start.step)
        if self._recorder:
            self._recorder.begin(start.step)

    def rows(self, rows: Rows) -> None:
        super().rows(rows)
        if len(rows.increment):
            self._watch.add(rows)
            if self._recorder:
                self._recorder.add(rows)

    def modes(self, modes: Modes) -> None:
        pairs = zip(modes.number.tolist(), modes.frequency.tolist(), strict=True)
        self._frequencies |= {(modes.step, mode): frequency for mode, frequency in pairs}

    def row(self) -> tuple[int | float, ...]:
        """Values in the order of ``Layout.columns``; NaN where there is none."""
        totals = self.totals
        is_begun = bool(totals.energies)
        energies = [totals.energies.get(name, np.nan) for name in ENERGIES]
        energies.append(totals.largest_energy_error if is_begun else np.nan)
        kept = [*self._watch.columns().tolist(), *(self._frequencies.get(mode, np.nan) for mode in self._layout.modes)]
        kept += self._recorder.columns().tolist() if self._recorder else []
        counts = [getattr(totals, name) for name in TOTALS]
        return (*counts, totals.time if is_begun else np.nan, *energies, *kept)


def rows_of_lanes(model: Model, layout: Layout, rows: Rows) -> list[tuple[int | float, ...]]:
    """``RowSink.row`` of models that marched a whole step side by side, by lane; ``rows`` as ``Marched`` has them."""
    watch = Watch(model, layout, rows.kinetic.shape[1:])
    watch.begin(rows.step)
    watch.add(rows)
    ends = [getattr(rows, name)[-1] for name in ENERGIES]
    largest = np.fmax.reduce(np.abs(rows.energy_error))
    recorded = []
    if layout.record:
        recorder = Recorder(model, layout.record, rows.kinetic.shape[1:])
        recorder.begin(rows.step)
        recorder.add(rows)
        recorded.append(recorder.columns())
    kept = np.concatenate([ends, largest[None], watch.columns(), *recorded])
    iterations = rows.iterations.sum(axis=0).ravel().tolist()
    count, cutbacks, time = int(rows.increment[-1]), int(rows.cutbacks.sum()), float(rows.time[-1])
    lanes = zip(iterations, kept.reshape(len(kept), -1).T.tolist(), strict=True)
    return [(count, spent, cutbacks, time, *numbers) for spent, numbers in lanes]
