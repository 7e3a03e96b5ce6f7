"""The tables of ``*STEADY STATE DYNAMICS``: a row for each frequency, and for each frequency and node, or element.

x(t) = amplitude cos(2 pi frequency t + phase), the phase in degrees from -180 to 180, 0 where nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Ints
from fem.model import Model, SteadyState, outputs_in_force
from fem.model.quantities import HARMONIC, Values, meant
from fem.results.harmonic.columns import RESPONSES, columns_of, with_phases
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
