"""The tables of ``*STEADY STATE DYNAMICS``: a row for each frequency, and for each frequency and node, or element.

x(t) = amplitude cos(2 pi frequency t + phase), the phase in degrees from -180 to 180, 0 where nothing moves.

Harmonic responses as columns: those of the files ``steady.csv``, ``steady_nodes.csv``, ``steady_elements.csv``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Complexes, Floats, Ints
from fem.model import Model, SteadyState, outputs_in_force
from fem.model.mesh import Mesh
from fem.model.quantities import HARMONIC, QUANTITIES, Values, meant
from fem.results.record import Response, SilentSink
from fem.results.schedule import harmonic_items, is_active
from fem.results.tables import Table


def has_responses(model: Model) -> bool:
    """Some step gives harmonic motions."""
    return any(isinstance(step.procedure, SteadyState) for step in model.steps)


class ResponseSink(SilentSink):
    """Writes ``steady.csv``, ``steady_nodes.csv`` and ``steady_elements.csv``."""

    def __init__(self, folder: Path, model: Model, before: Mapping[str, Any] | None = None) -> None:
        """``before``: the checkpoint of tables that are cut back and go on."""
        self._model = model
        self._variables = [asked_of(model, kind) for kind in ("NODE PRINT", "EL PRINT")]
        head = "step", "frequency"
        heads: list[tuple[str, ...]] = [(*head, "omega", "iterations", "residual")]
        kinds = ("node", "NODE"), ("element", "EL")
        heads += [(*head, item, *columns_of(of, each)) for (item, of), each in zip(kinds, self._variables, strict=True)]
        sizes = before["responses"] if before else dict.fromkeys(RESPONSES)
        found = zip(RESPONSES, heads, strict=True)
        self._tables = {name: Table(folder / f"{name}.csv", columns, sizes[name]) for name, columns in found}

    def response(self, response: Response) -> None:
        response = printed_of(response, self._model)
        step, frequency = response.step, response.frequency
        line = [step, frequency, 2.0 * np.pi * frequency, response.iterations, response.residual]
        self._tables["steady"].add(np.array([line]))
        mesh, model = self._model.mesh, self._model
        parts: Iterable[tuple[str, Ints, Values]] = (
            ("steady_nodes", mesh.node_labels[response.nodes], response.of_nodes(model)),
            ("steady_elements", mesh.element_labels[response.elements], response.of_elements(model)),
        )
        for (name, labels, values), variables in zip(parts, self._variables, strict=True):
            if not variables:
                continue
            columns = [values[each].reshape(len(labels), -1) for each in variables]
            head = np.broadcast_to([step, frequency], (len(labels), 2))
            self._tables[name].add(np.column_stack([head, labels, with_phases(np.concatenate(columns, axis=1))]))

    def keep(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["responses"] = {name: table.size for name, table in self._tables.items()}

    def close(self) -> None:
        for table in self._tables.values():
            table.close()


def printed_of(response: Response, model: Model) -> Response:
    """The same of the nodes and elements that the step prints."""
    nodes, elements = harmonic_items(model, response.step - 1, False)
    of_nodes, of_elements = np.isin(response.nodes, nodes), np.isin(response.elements, elements)
    return replace(
        response,
        nodes=response.nodes[of_nodes],
        motion=response.motion[:, of_nodes],
        elements=response.elements[of_elements],
        values=response.values[of_elements],
    )


def asked_of(model: Model, kind: str) -> tuple[str, ...]:
    """The quantities that steps of harmonic motions print, in the order of the table of quantities."""
    names, family = set[str](), kind.split()[0]
    for index, step in enumerate(model.steps):
        if isinstance(step.procedure, SteadyState):
            requests = [each for each in outputs_in_force(model.steps, index) if each.kind == kind]
            names |= {"U"} if family == "NODE" and not requests else set()
            names = names.union(*(meant(kind, each.variables) for each in requests if is_active(each)))
    return tuple(name for name in HARMONIC[family] if name in names)


RESPONSES = ("steady", "steady_nodes", "steady_elements")
PHASE = "_phase"
"""Behind the name of a column: its phase."""


def columns_of(kind: str, variables: Sequence[str]) -> list[str]:
    """Amplitude and phase of each component of quantities of ``NODE`` or ``EL``."""
    columns = {each.name: each.columns for each in QUANTITIES[kind]}
    return [name for each in variables for column in columns[each] for name in (column, column + PHASE)]


def with_phases(values: Complexes) -> Floats:
    """(k, 2c) amplitudes and phases [degrees] of (k, c), in turn."""
    found = np.empty((len(values), 2 * values.shape[1]))
    found[:, ::2], found[:, 1::2] = np.abs(values), np.degrees(np.angle(values))
    found[:, 1::2][values == 0.0] = 0.0
    return found


def response_columns(name: str, responses: Sequence[Response], mesh: Mesh) -> Columns:
    """A table of ``RESPONSES``, of all nodes or elements that the responses are of."""
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
    values = with_phases(np.concatenate([np.empty((0, len(names) // 2), complex), *blocks]))
    sizes = [len(each) for each in labels]
    head = {"step": np.repeat(step, sizes), "frequency": np.repeat(frequency, sizes)}
    head |= {item: np.concatenate([np.zeros(0, np.int64), *labels])}
    return Columns(head | dict(zip(names, values.T, strict=True)))
