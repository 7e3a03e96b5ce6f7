"""How heavy the bars of a line are that is laid in equilibrium: by the first step, and in water."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.draft import Catenary, Draft, SetTable
from fem.deck.loads import load_of
from fem.deck.source import Mistake
from fem.model import DistributedLoad, FluidLoad, PointMass
from fem.model.facts import carried_by, grown_at

PARALLEL = 1e-12


class Bars(NamedTuple):
    """The m bars of a line, one or several between each node and the next, from its first node to its last.

    labels (m,);  gap (m,) between which two of the n + 1 nodes;  area, density (m,);  strain (m,) measures
    young (m,), infinite where a bar keeps its length;  up  the axis that is up: y where all lie in the plane z = 0
    """

    labels: Ints
    gap: Ints
    area: Floats
    young: Floats
    density: Floats
    strain: np.ndarray
    up: int

    def together(self, values: Floats) -> Floats:
        """(n,) sums over the bars (m,) that lie side by side."""
        return np.asarray(np.bincount(self.gap, values), float)


def dead_loads(draft: Draft) -> tuple[list[DistributedLoad], list[FluidLoad]]:
    """Of the first step; of a deck that continues with the model of another one, those of that one."""
    if not draft.earlier_loads:
        step = draft.steps[0] if draft.steps else None
        return (step.distributed_loads, [load for load, _ in step.fluid_loads]) if step else ([], [])
    loads = [load_of(row, None, False, draft) for card in draft.earlier_loads for row in draft.rows(card)]
    dead = [each for each in loads if isinstance(each, DistributedLoad)]
    return dead, [each for each in loads if isinstance(each, FluidLoad)]


def members(draft: Draft, bars: Bars, target: str | int | None) -> Flags:
    if target is None:
        return np.ones(len(bars.labels), np.bool_)
    named = draft.element_sets.ordered(target) if isinstance(target, str) else np.array([target])
    return np.asarray(np.isin(bars.labels, named))


def gravity_on(draft: Draft, bars: Bars) -> Floats:
    """(m, 3) acceleration of gravity that acts on each bar."""
    gravity = np.zeros((len(bars.labels), 3))
    for load in dead_loads(draft)[0]:
        if load.kind == "GRAV":
            gravity[members(draft, bars, load.target)] += load.value * np.array(load.direction)
    return gravity


def upwards(draft: Draft, catenary: Catenary, bars: Bars) -> Floats:
    """(3,) against gravity; what is up in the model where there is none."""
    gravity = gravity_on(draft, bars)
    size = np.linalg.norm(gravity, axis=1)
    if not size.any():
        return np.asarray(np.eye(3)[bars.up])
    up: Floats = -gravity[size.argmax()] / size.max()
    if np.abs(gravity + size[:, None] * up).max() > PARALLEL * size.max():
        raise catenary.card.mistake("GRAV of the first step points in different directions along the line")
    return up


def weights(draft: Draft, catenary: Catenary, bars: Bars, places: Floats) -> Floats:
    """(n,) weight per natural length from node to node, these at ``places`` (n+1, 3); in water what it has there."""
    given = catenary.weight
    own = given is None
    weight = bars.together(weights_in_water(draft, bars, places)) if own else np.full(len(places) - 1, given)
    if not weight.any():
        hint = "it comes from GRAV in the first *STEP and *DENSITY, or from WEIGHT= per natural length"
        raise catenary.card.mistake("the line has no weight", hint)
    return np.asarray(weight)


def weights_in_water(draft: Draft, bars: Bars, places: Floats) -> Floats:
    """(m,) by gravity, with what has grown on the bars and what they carry, less the water they displace."""
    size = np.linalg.norm(gravity_on(draft, bars), axis=1)
    first, second = places[bars.gap, bars.up], places[bars.gap + 1, bars.up]
    named = partial(members, draft, bars)
    layer, mass = grown_at((growth for growth, _ in draft.growths), named, 0.5 * (first + second))
    there = []
    gone = {name for step in draft.steps[:1] for name, _ in step.shed}
    for each, place in draft.nonstructural:
        if each.is_total and members(draft, bars, each.element_set).any():
            hint = "its distribution depends on the lengths, and these on the weight: give MASS PER LENGTH"
            raise Mistake(place, "TOTAL MASS is not possible for a line laid by LINE=CATENARY", hint)
        if each.name not in gone:
            there.append(each)
    carried = carried_by(there, partial(members, draft, bars), np.ones(len(bars.labels)))
    weight = (bars.density * bars.area + mass + carried) * size
    low, high = np.minimum(first, second), np.maximum(first, second)
    for load in dead_loads(draft)[1]:
        if load.kind == "PB" and draft.water is not None:
            deep = draft.water.level - low
            wet = np.clip(np.divide(deep, high - low, out=np.sign(deep), where=high > low), 0.0, 1.0)
            area = 0.25 * np.pi * (load.diameter + 2.0 * layer) ** 2
            lift = load.magnitude * draft.water.density * draft.water.gravity * area * wet
            weight -= np.where(members(draft, bars, load.target), lift, 0.0)
    return np.asarray(weight)


def joint_weights(draft: Draft, labels: Ints, up: Floats) -> Floats:
    """(n+1,) weight that nodes of a line have besides its bars, downwards: ``*MASS`` by GRAV, ``*CLOAD`` of step 1."""
    weight, at = np.zeros(len(labels)), {label: k for k, label in enumerate(labels.tolist())}
    gravity = [load for load in dead_loads(draft)[0] if load.kind == "GRAV"]
    mass_of: dict[int, float] = {}
    for entry in draft.properties:
        if isinstance(entry.value, PointMass):
            mass_of |= dict.fromkeys(draft.element_sets.ordered(entry.element_set).tolist(), entry.value.mass)
    for chunk in draft.elements.chunks if mass_of and gravity else ():
        for label, numbers in zip(chunk.labels.tolist(), chunk.numbers.tolist(), strict=True):
            if chunk.kind == "MASS" and label in mass_of and numbers[0] in at:
                for load in gravity:
                    if load.target is None or label in _named(draft.element_sets, load.target):
                        down = -load.value * float(np.array(load.direction) @ up)
                        weight[at[numbers[0]]] += mass_of[label] * down
    for nodal in draft.steps[0].nodal_loads if draft.steps and not draft.earlier_loads else ():
        for label in _named(draft.node_sets, nodal.target):
            if label in at and nodal.dof <= 3 and not nodal.is_imaginary:
                weight[at[label]] -= nodal.value * up[nodal.dof - 1]
    return weight


def _named(sets: SetTable, target: str | int) -> list[int]:
    return sets.ordered(target).tolist() if isinstance(target, str) else [target]
