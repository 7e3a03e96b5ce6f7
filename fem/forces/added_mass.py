"""Added mass of the water around bars, for acceleration across them and, if requested, along them.

A bar of direction t, of which the part q1 - q0 is wet, has the added mass m (C_A (I - t t^T) + C_At t t^T) (q1 - q0),
m = M rho pi D^2/4 L0, divided between its nodes by the MASS rule of its section (Abaqus/Aqua FI, Morison's inertia
term). The load of accelerated water in waves is a force (``fluid``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import some, where
from fem.forces.bar import MASS_FRACTIONS
from fem.forces.curves import Curves, distinct, gathered, value_at
from fem.forces.protocol import NO_PAIRS, Family, Tangent, Trial
from fem.forces.waves import WATER, Sea, elevation_near, flows, sea_of, wetted

KINDS = ("FI", "ADDED MASS")
# Entries of rows: the bar, the curve of its magnitude, 1 where forces are per current length
BAR, MAGNITUDE, IS_CURRENT = 0, 1, 2
# Entries of numbers: mass across and along for a magnitude of 1; L0; fractions of it at a node, and between the nodes
ACROSS, ALONG, LENGTH, DIAGONAL, OFF = 0, 1, 2, 3, 4
NUMBERS = 5


class AddedMass(NamedTuple):
    """Bars with added mass, r rows.

    rows (r, 3), numbers (r, NUMBERS): of the step;  elements (q,), ends (q, 2)  the bars that have it in any step,
    their nodes, and fractions (q, 2) of their MASS rules;  first: the number of their first pair, -1: it couples none
    sea     waves of the surface, with the vertical axis and the still level
    """

    rows: Ints
    numbers: Floats
    elements: Ints
    ends: Ints
    fractions: Floats
    first: int
    curves: Curves
    sea: Sea


def assemble(model: Any, system: Any, pair: int, state: int) -> AddedMass:
    """The bars that have added mass in any step, removed ones included: all keep their places."""
    elements, fractions = model.reach.of(KINDS), np.zeros((len(system.family), 2))
    for section in model.sections:
        fractions[system.elements_of(section.element_set)] = MASS_FRACTIONS[section.mass_rule]
    fractions = fractions[elements]
    ends = np.ascontiguousarray(system.element_nodes[elements])
    sea = sea_of(model, elements[:0], system.lengths_of(elements), 0)
    nothing, first = (np.zeros((0, 3), np.int64), np.zeros((0, NUMBERS))), pair if fractions[:, 1].any() else -1
    return AddedMass(*nothing, elements, ends, fractions, first, gathered(()), sea)


def in_step(group: AddedMass, system: Any, environment: Any) -> AddedMass:
    """The group with the added mass that acts in a step."""
    flows = [flow for flow in environment.flows if flow.load.kind in KINDS]
    curves = distinct(case.curve for flow in flows for case in flow.cases)
    sea = group.sea._replace(since=environment.sea_from)
    if any(flow.load.kind != "FI" for flow in flows):  # modes are for still water
        sea = sea._replace(ramps=sea.ramps[:0])
    rows, numbers = [np.zeros((0, 3), np.int64)], [np.zeros((0, NUMBERS))]
    length = system.lengths_of(group.elements) * ~system.gone[group.elements]
    for flow in flows:
        load, width = flow.load, flow.diameter(system)[group.elements]
        for case in flow.cases:
            whole = case.field[group.elements, 0] * system.model.water.density * 0.25 * np.pi * width**2 * length
            acts = np.flatnonzero(whole)
            same = np.tile([curves[case.curve], int(load.is_current)], (len(acts), 1))
            rows.append(np.column_stack([acts, same]))
            of_bars = whole * load.added, whole * (load.added_along or 0.0), length, group.fractions
            numbers.append(np.column_stack(of_bars)[acts])
    return group._replace(
        rows=np.ascontiguousarray(np.concatenate(rows)),
        numbers=np.concatenate(numbers),
        curves=gathered(curves),
        sea=sea,
    )


@inner_kernel
def evaluate(trial: Trial, group: AddedMass, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Zero force: added mass acts through inertia only."""
    return 0.0


@called_kernel
def mass(group: AddedMass, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
    """Added mass of all rows, into the blocks of nodes, then into those between nodes."""
    between = u.shape[0] // 3 + group.first
    known, magnitude, sea = -1, 0.0, group.sea
    for r in range(group.rows.shape[0]):
        if group.rows[r, MAGNITUDE] != known:
            known = group.rows[r, MAGNITUDE]
            magnitude = value_at(group.curves, known, time)
        i, j = group.ends[group.rows[r, BAR], 0], group.ends[group.rows[r, BAR], 1]
        d = (
            place[3 * j] + u[3 * j] - place[3 * i] - u[3 * i],
            place[3 * j + 1] + u[3 * j + 1] - place[3 * i + 1] - u[3 * i + 1],
            place[3 * j + 2] + u[3 * j + 2] - place[3 * i + 2] - u[3 * i + 2],
        )
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        zi, zj = place[3 * i + sea.up] + u[3 * i + sea.up], place[3 * j + sea.up] + u[3 * j + sea.up]
        low, high = min(zi, zj) - sea.level, max(zi, zj) - sea.level
        is_near = (low < sea.rise) & (high > -sea.rise)
        if sea.ramps.shape[0] > 0 and some(is_near):
            zi -= where(is_near, elevation_near(3 * i, time, place, u, sea), 0.0)
            zj -= where(is_near, elevation_near(3 * j, time, place, u, sea), 0.0)
        first, last, _ = wetted(WATER, zi, zj, sea.level)
        size = magnitude * (last - first)
        if group.rows[r, IS_CURRENT] == 1:
            size *= math.sqrt(square) / group.numbers[r, LENGTH]
        across = size * group.numbers[r, ACROSS]
        along = (size * group.numbers[r, ALONG] - across) / square
        for a in range(3):
            for b in range(3):
                value = (across if a == b else 0.0) + along * d[a] * d[b]
                block[i, 3 * a + b] += group.numbers[r, DIAGONAL] * value
                block[j, 3 * a + b] += group.numbers[r, DIAGONAL] * value
                if group.first >= 0:
                    block[between + group.rows[r, BAR], 3 * a + b] += group.numbers[r, OFF] * value


def pairs_of(group: AddedMass) -> Ints:
    """Nodes that it couples."""
    return group.ends if group.first >= 0 else NO_PAIRS


ADDED_MASS = Family(
    "added mass", assemble, evaluate, None, pairs_of, wanted=flows, mass=mass, in_step=in_step, smooth=False
)
