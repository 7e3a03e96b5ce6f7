"""The family of forces of water and wind: what of it acts in a model, and in a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.forces.fluid.curves import distinct, gathered, largest
from fem.forces.fluid.drag import evaluate
from fem.forces.fluid.immersed import (
    ALONG,
    EXPONENT,
    FOLLOWS,
    GIVEN,
    LENGTH,
    LIFT,
    MOST_CURRENT,
    MOST_WAVES,
    NORMAL,
    NUMBERS,
    ROW,
    Fluid,
)
from fem.forces.fluid.stream import INERTIA, WATER, WIND, Streams, flows
from fem.forces.fluid.swell import stiffest
from fem.forces.fluid.waves import REMEMBERED, sea_of
from fem.forces.protocol import Family


def labels_of(model: Any) -> tuple[str, ...]:
    """What acts by itself, in the order in which it is put into rows: only in waves does water accelerate."""
    return ("FDT", "FDD", "WDD", "PB", "FI") if model.waves else ("FDT", "FDD", "WDD", "PB")


def assemble(model: Any, system: Any, pair: int, state: int) -> Fluid:
    """The bars that water or wind acts on in any step, with those that are gone: all keep their places."""
    elements = model.reach.of(labels_of(model))
    rows = [row for law in model.drag_laws.values() for row in law.rows] if len(elements) else []
    nothing, ends = (np.zeros((0, ROW), np.int64), np.zeros((0, NUMBERS))), system.element_nodes[elements]
    table, streams = np.array(rows, float).reshape(-1, 2), streams_of(model)
    length = system.length0[system.bar_index[elements]]
    sea = sea_of(model, np.unique(system.element_nodes[elements]), length, state)
    asked = np.searchsorted(sea.nodes, ends) if len(sea.nodes) else np.zeros((0, 2), np.int64)
    ends, asked = np.ascontiguousarray(ends), np.ascontiguousarray(asked)
    return Fluid(*nothing, elements, ends, pair, table, gathered(()), streams, sea, asked)


def streams_of(model: Any) -> Streams:
    """Water and wind of a model."""
    up, water, wind = model.mesh.up, model.water, model.wind
    rows = [(z, vx, vy, vz) for vx, vy, vz, z in water.current] if water else []
    along, across = wind.vectors(up) if wind else np.zeros((2, 3))
    level, profile = water.level if water else 0.0, np.array(rows or [(0.0, 0.0, 0.0, 0.0)], float)
    reference, power = (wind.reference, wind.power) if wind else (1.0, 0.0)
    return Streams(up, level, profile, along, across, reference, power)


class Rows:
    """Rows in the making that have all but their bars in common; what is None is open.

    numbers (q, NUMBERS) of each bar
    """

    def __init__(self, key: list[Any], length: Floats) -> None:
        self.key = key
        self.numbers = np.zeros((len(length), NUMBERS))
        self.numbers[:, LENGTH], self.numbers[:, EXPONENT], self.numbers[:, FOLLOWS] = length, 2.0, 1.0

    def takes(self, key: list[Any]) -> bool:
        """These are such rows, too; then they have what was open."""
        if any(one != other for one, other in zip(self.key, key, strict=True) if None not in (one, other)):
            return False
        self.key = [other if one is None else one for one, other in zip(self.key, key, strict=True)]
        return True


def in_step(own: Fluid, system: Any, environment: Any) -> Fluid:
    """What acts in a step."""
    if not len(own.elements):
        return own
    model, found = system.model, list[Rows]()
    length, there = system.length0[system.bar_index[own.elements]], ~system.gone[own.elements]
    labels = labels_of(model)
    flows = [flow for flow in environment.flows if flow.load.kind in labels]
    for flow in sorted(flows, key=lambda flow: labels.index(flow.load.kind)):
        load, streams = flow.load, flow.streams
        medium = {"WDD": WIND, "FI": INERTIA}.get(load.kind, WATER)
        fluid = model.wind if medium == WIND else model.water
        law = load.coefficient if isinstance(load.coefficient, str) else ""
        key = {
            "PB": [None, None, None, None],
            "FDT": [streams, load.follows, None, load.exponent],
            "FI": [streams, 0.0, "", 1.0],
        }.get(load.kind, [streams, load.follows, law, None])
        width = flow.diameter(system)[own.elements]
        for case in flow.cases:
            rows = rows_for([medium, case.curve, load.is_current, *key], length, found)
            add_numbers(load, case.field[own.elements, 0] * there, width, fluid, rows.numbers)
    return own._replace(**arrays_of(found, model))


def rows_for(key: list[Any], length: Floats, found: list[Rows]) -> Rows:
    """Those of this kind, made where there are none."""
    for rows in found:
        if rows.takes(key):
            return rows
    found.append(Rows(key, length))
    return found[-1]


def add_numbers(load: Any, magnitude: Floats, width: Floats, fluid: Any, numbers: Floats) -> None:
    """What one flow adds to its rows; width (q,): its D."""
    acts = magnitude != 0.0
    if load.kind == "PB":
        numbers[:, LIFT] += magnitude * fluid.density * fluid.gravity * 0.25 * np.pi * width**2
        numbers[acts, GIVEN] = float(not load.is_current)
        return
    numbers[acts, FOLLOWS] = load.follows
    if load.kind == "FI":
        mass = magnitude * 0.25 * np.pi * fluid.density * width**2
        numbers[:, NORMAL] += load.coefficient * mass
        numbers[:, ALONG] += 0.0 if load.added_along is None else (1.0 + load.added_along) * mass
        numbers[acts, EXPONENT], numbers[acts, FOLLOWS] = 1.0, 0.0
    elif load.kind == "FDT":
        numbers[:, ALONG] += magnitude * 0.5 * np.pi * fluid.density * width * load.coefficient
        numbers[acts, EXPONENT] = load.exponent
    elif isinstance(load.coefficient, str):
        numbers[:, NORMAL] += magnitude
    else:
        numbers[:, NORMAL] += magnitude * 0.5 * fluid.density * width * load.coefficient


def arrays_of(found: Iterable[Rows], model: Any) -> dict[str, Any]:
    """The rows of a step, and their curves."""
    curves = distinct(curve for rows in found for curve in (rows.key[1], *(rows.key[3] or ())))
    first, places = 0, {"": (0, 0), None: (0, 0)}
    for law in model.drag_laws.values():
        places[law.name] = first, len(law.rows)
        first += len(law.rows)
    integers, numbers = [np.zeros((0, ROW), np.int64)], [np.zeros((0, NUMBERS))]
    for rows in found:
        medium, magnitude, is_current, streams, _, law, _ = rows.key
        acts = np.flatnonzero(np.any(rows.numbers[:, [NORMAL, ALONG, LIFT]], axis=1))
        one, other = streams or (magnitude, magnitude)  # no drag asks for them
        same = medium, curves[magnitude], curves[one], curves[other], *places[law], int(is_current)
        rows.numbers[acts, MOST_CURRENT], rows.numbers[acts, MOST_WAVES] = largest(one), largest(other)
        integers.append(np.column_stack([acts, np.tile(np.array(same, np.int64), (len(acts), 1))]))
        numbers.append(rows.numbers[acts])
    return {
        "rows": np.ascontiguousarray(np.concatenate(integers)),
        "numbers": np.concatenate(numbers),
        "curves": gathered(curves),
    }


FLUID = Family(
    "fluid",
    assemble,
    evaluate,
    wanted=flows,
    pairs=lambda own: own.ends,
    states=lambda own: np.zeros(REMEMBERED * len(own.sea.nodes)),
    owners=lambda own: np.repeat(own.sea.nodes, REMEMBERED),
    symmetric=False,
    in_step=in_step,
    stiffest=stiffest,
)
