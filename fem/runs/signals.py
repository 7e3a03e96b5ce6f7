"""Named numbers over time, from the rows of a run in progress or from the motion that it has returned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Model
from fem.model.named import PRINTS, Named, labels_of
from fem.model.quantities import Values
from fem.runs.schedule import printed_in_step, union


class Signals:
    """Some numbers of a model, ``U3_n5``, ``T_e12``, ``kinetic``, which are read quantity by quantity.

    numbers  (c,) their names; KeyError: the model has no such node or element
    """

    def __init__(self, model: Model, numbers: Sequence[Named]) -> None:
        self.count = len(numbers)
        items = {kind: places_of(model, kind) for kind in {number.kind for number in numbers}}
        found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
        for place, number in enumerate(numbers):
            its = place, items[number.kind][number.label], number.axis
            found.setdefault((number.kind, number.quantity.name), []).append(its)
        self._parts = {of: np.array(its).T for of, its in found.items()}

    def parts(self, values: Mapping[str, Values]) -> Iterator[tuple[Ints, Floats]]:
        """For each quantity the indices (g,) of its numbers among all, and their values (k, g, ...) at k instants.
        values  in the format of ``values_of``, of all nodes and elements that are named"""
        for (kind, name), (places, items, axes) in self._parts.items():
            its = values[kind]
            yield places, its.columns(name)[:, its.indices.searchsorted(items), axes]

    def of(self, values: Mapping[str, Values]) -> Floats:
        """(k, c, ...) values of all numbers."""
        k, _, *lanes = values[""]["kinetic"].shape
        found = np.empty((k, self.count, *lanes))
        for places, part in self.parts(values):
            found[:, places] = part
        return found


def places_of(model: Model, kind: str) -> dict[int, int]:
    """Label -> index of all nodes (n) or elements (e); for energies (empty kind) their only index."""
    labels = labels_of(model.mesh, kind).tolist() if kind else [-1]
    return {label: place for place, label in enumerate(labels)}


def labels_printed(model: Model, kind: str, steps: Iterable[int] | None = None) -> Ints:
    """Labels of elements (e) or nodes (n) that some steps (from 1) print, or any step."""
    chosen = range(1, len(model.steps) + 1) if steps is None else steps
    return labels_of(model.mesh, kind)[union([printed_in_step(model, step, PRINTS[kind]) for step in chosen])]
