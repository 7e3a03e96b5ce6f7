"""When output is due: the nodes and elements a step records, and the increments at which something is written."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fem.arrays import Flags, Floats, Ints, distinct
from fem.errors import ModelError
from fem.model import Model, OutputRequest, outputs_in_force
from fem.model.mesh import Mesh
from fem.model.notices import held_nodes, support_distance
from fem.model.quantities import ELEMENTAL, with_neighbours

MAX_FIELDS = 200
"""Without a FILE request a step keeps its start, its end and at most this many evenly spaced fields."""
NEVER = 2**62
"""Increment number that means never."""
MOST_INSTANTS = 1_000_000
"""Largest number of instants of a history in a step."""
LANDING = 1e-9
"""Tolerance of an instant, as a fraction of the period of the history."""


class Cadence:
    """When one request is due within a step: at every n-th increment, or at given instants.

    every      increments 0, n, 2n, ... and the last one; 0: never
    instants   rising total times, or None; due at the first increment at or after each of them
    tolerance  how far before an instant counts as at it
    ends       with instants: due at the last increment too

    With instants it remembers how many have passed: ask in the order of the increments.
    """

    changing = ("passed",)

    def __init__(
        self, every: int, instants: ArrayLike | None = None, tolerance: float = 0.0, ends: bool = False
    ) -> None:
        self.every = every
        self.instants = None if instants is None else np.array(instants, float) - tolerance
        self.ends = ends
        self.passed = 0

    def is_due(self, increment: int, time: float, is_last: bool) -> bool:
        return bool(self.due(np.array([increment]), np.array([time]), is_last)[0])

    def next_increment(self, increment: int) -> int:
        """Number of the next increment after this one that is due; ``NEVER`` for none."""
        return (increment // self.every + 1) * self.every if self.instants is None and self.every > 0 else NEVER

    def next_instant(self) -> float:
        """The first total time that has not passed; infinite for none."""
        if self.instants is None or self.passed == len(self.instants):
            return math.inf
        return float(self.instants[self.passed])

    def due(self, increment: Ints, time: Floats, is_end: bool) -> Flags:
        """(k,) for k consecutive increments; ``is_end``: the last of them ends the step."""
        if self.instants is None:
            flags = increment % self.every == 0 if self.every > 0 else np.zeros(len(increment), bool)
            flags[-1:] |= is_end and self.every > 0
            return flags
        passed = np.maximum.accumulate(np.searchsorted(self.instants, time, side="right"))
        passed = np.maximum(passed, self.passed)
        flags = np.diff(passed, prepend=self.passed) > 0
        flags[-1:] |= is_end and self.ends
        self.passed = int(passed[-1]) if len(passed) else self.passed
        return flags


def is_active(request: OutputRequest) -> bool:
    """False for FREQUENCY=0."""
    return request.every > 0 or request.times is not None


def request_cadence(request: OutputRequest, model: Model, start_time: float, period: float) -> Cadence:
    """The cadence of a request in a step that starts at ``start_time``."""
    instants = instants_of(request, model, period)
    if instants is None:
        return Cadence(request.every)
    return Cadence(0, start_time + instants, LANDING * period, ends=request.times is None)


def instants_of(request: OutputRequest, model: Model, period: float) -> Floats | None:
    """Step times at which a request is due; None: it depends on the number of increments.
    ModelError: there are more than ``MOST_INSTANTS``."""
    if request.times is not None:
        return np.array(model.time_points[request.times])
    interval = period / request.intervals if request.intervals else request.interval
    if not interval:
        return None
    if period > MOST_INSTANTS * interval:
        raise ModelError(f"a history is requested at intervals of {interval:g}: more than {MOST_INSTANTS:,} in a step")
    return np.arange(int(period / interval * (1.0 + LANDING)) + 1, dtype=np.float64) * interval


def field_cadences(
    model: Model, requests: Sequence[OutputRequest], start_time: float, period: float, increments: int | None
) -> list[Cadence]:
    """Cadences of the whole-field (VTK) output of a step; ``increments``: how many it will have, if known."""
    files = [request for request in requests if request.kind.endswith("FILE")]
    if files:
        return [request_cadence(request, model, start_time, period) for request in files if is_active(request)]
    if increments is not None:
        return [Cadence(max(1, -(-increments // MAX_FIELDS)))]
    instants = [start_time + period * j / MAX_FIELDS for j in range(MAX_FIELDS + 1)]
    return [Cadence(0, instants, LANDING * period, ends=True)]


class Schedule:
    """What the increment loop records in one step, and when."""

    changing = ("_asked",)

    def __init__(
        self, model: Model, step_index: int, start_time: float, expected_increments: int | None, fields: bool = True
    ) -> None:
        requests = outputs_in_force(model.steps, step_index)
        period = model.steps[step_index].procedure.period
        node_sets = printed(model, requests, "NODE PRINT")
        above = [np.unique(model.mesh.element_nodes[model.mesh.bars_in(bed.element_set)]) for bed in model.seabeds]
        self.elements = union(printed(model, requests, "EL PRINT"))
        if any(each.at_ends for each in ELEMENTAL):
            above.append(np.unique(model.mesh.element_nodes[self.elements]))
        self.nodes = with_neighbours(model, union([*node_sets, *above]))  # ``touchdown.csv`` needs all nodes of lines
        self._model, self._first = model, next((nodes for nodes in node_sets if nodes.size), None)
        marked = {request.pace: request for request in requests if request.marks}.values()
        found = [points for each in marked if (points := instants_of(each, model, period)) is not None]
        points = distinct(np.concatenate([np.zeros(0), *found]))
        self.instants = start_time + points[(points > 0.0) & (points < period * (1.0 - LANDING))]
        wanted = [request for request in requests if request.kind.endswith("PRINT") and is_active(request)]
        self._rows = [request_cadence(request, model, start_time, period) for request in wanted]
        if all(request.kind != "ENERGY PRINT" for request in requests):
            self._rows.append(Cadence(1))
        self._expected = expected_increments
        self._fields = field_cadences(model, requests, start_time, period, expected_increments) if fields else []
        self._asked = (-1, False)

    @property
    def shown_node(self) -> int | None:
        """Node of the first ``*NODE PRINT`` that is farthest from supports, for the console; None without one."""
        if self._first is None:
            return None
        distance = support_distance(self._model, self._first, held_nodes(self._model))
        return int(self._first[distance.argmax()])

    @property
    def cadences(self) -> list[Cadence]:
        """Cadences of rows and of fields."""
        return [*self._rows, *self._fields]

    def is_vtk_due(self, increment: int, time: float, is_last: bool) -> bool:
        """Whether the whole field of this increment goes to VTK. Ask from increment 0 on, in order."""
        if self._fields and self._asked[0] != increment:
            # A list, not a generator: every cadence has to see the increment.
            answers = [cadence.is_due(increment, time, is_last) for cadence in self._fields]
            self._asked = (increment, any(answers))
        return self._asked[1]

    def rows_due(self, increment: Ints, time: Floats, is_end: bool) -> Flags:
        """(k,) consecutive increments of which a table wants a row. Ask in order, once.
        ``is_end``: the last of them ends the step. Without ``*ENERGY PRINT`` that is every one."""
        due = np.zeros(len(increment), np.bool_)
        for cadence in self._rows:
            due |= cadence.due(increment, time, is_end)
        return due

    def next_field(self, increment: int) -> int:
        """The next increment after this one whose field is due because of its number; ``NEVER`` for none.
        The last increment of a step is always due; it is not predicted if the number of increments is unknown."""
        if not self._fields:
            return NEVER
        following = min([cadence.next_increment(increment) for cadence in self._fields])
        if following < NEVER and self._expected is not None and increment < self._expected:
            return min(following, self._expected)
        return following

    def next_instant(self) -> float:
        """The next total time at or after which a field is due because of its instant; infinite for none."""
        return min([cadence.next_instant() for cadence in self._fields]) if self._fields else math.inf


def printed(model: Model, requests: Sequence[OutputRequest], kind: str) -> list[Ints]:
    """Node or element indices of every active request of a PRINT kind."""
    return [target_indices(model.mesh, request) for request in requests if request.kind == kind and is_active(request)]


def harmonic_items(model: Model, step_index: int, is_all: bool) -> tuple[Ints, Ints]:
    """Nodes and elements whose amplitudes a step gives: those printed; without ``*NODE PRINT`` all nodes.
    is_all  all nodes and elements, whatever is requested"""
    requests = outputs_in_force(model.steps, step_index)
    everything = [np.arange(len(labels)) for labels in (model.mesh.node_labels, model.mesh.element_labels)]
    nodes, elements = (union(printed(model, requests, kind)) for kind in ("NODE PRINT", "EL PRINT"))
    has_nodes = any(request.kind == "NODE PRINT" for request in requests)
    return everything[0] if is_all or not has_nodes else nodes, everything[1] if is_all else elements


def target_indices(mesh: Mesh, request: OutputRequest) -> Ints:
    """Sorted node indices of a NODE request, element indices of an EL request."""
    is_nodal = request.kind.startswith("NODE")
    if request.target is None:
        return np.arange(len(mesh.node_labels if is_nodal else mesh.element_labels))
    return mesh.nodes_of(request.target) if is_nodal else mesh.elements_of(request.target)


def union(groups: Sequence[Ints]) -> Ints:
    """Sorted indices that occur in any of the groups, each of them sorted."""
    return distinct(np.concatenate([np.zeros(0, np.int64), *groups]))


def printed_in_step(model: Model, step: int, kind: str) -> Ints:
    """Sorted indices that step ``step`` (from 1) prints (NODE PRINT, EL PRINT)."""
    return union(printed(model, outputs_in_force(model.steps, step - 1), kind))
