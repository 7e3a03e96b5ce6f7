"""Harmonic responses as columns: those of the files ``steady.csv``, ``steady_nodes.csv``, ``steady_elements.csv``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem.arrays import Columns, Complexes, Floats
from fem.model.mesh import Mesh
from fem.model.quantities import HARMONIC, QUANTITIES
from fem.results.record import Response

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
