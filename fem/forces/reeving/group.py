"""The family of lines that run: which they are, what winches and gravity do to them in a step, why they stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.forces.bars.strain import MEASURES
from fem.forces.fluid.curves import distinct, gathered
from fem.forces.protocol import Family
from fem.forces.reeving.evaluate import evaluate
from fem.forces.reeving.lines import (
    AREA,
    BROUGHT,
    DENSITY,
    DIES,
    DISTANCE,
    FIRST_LEG,
    FRICTION,
    KNOWN,
    LEAST_LEG,
    LEAST_LENGTH,
    LENGTH,
    MINUS,
    NUMBERS,
    PLUS,
    REMEMBERED,
    REST,
    STARTING,
    STRESS0,
    YOUNG,
    Lines,
)
from fem.forces.reeving.weight import mass, values


def assemble(model: Any, system: Any, pair: int, state: int) -> Lines:
    """All lines of a model."""
    mesh = model.mesh
    between = mesh.pulley_nodes
    is_wound = np.zeros(len(between), np.bool_)
    is_wound[model.reach.wound] = True
    elements = np.flatnonzero(is_wound | (between >= 0))
    ends, reeved = mesh.element_nodes[elements], between[elements] >= 0
    nodes = np.column_stack([ends[:, 0], np.where(reeved, between[elements], ends[:, 1]), ends[:, 1]])
    nodes[~reeved, 2] = -1
    pairs = pair + np.cumsum(np.where(reeved, 3, 1)) - np.where(reeved, 3, 1)
    numbers = np.zeros((len(elements), NUMBERS))
    for leg in range(2):
        vector = system.coordinates[nodes[:, 2 * leg]] - system.coordinates[nodes[:, 1]]
        numbers[:, FIRST_LEG + 3 * leg : FIRST_LEG + 3 * leg + 3] = np.where(leg & ~reeved[:, None], 0.0, vector)
        numbers[:, DISTANCE + leg] = np.where(leg & ~reeved, 0.0, np.sqrt((vector**2).sum(axis=1)))
    numbers[:, REST : REST + 2] = numbers[:, DISTANCE : DISTANCE + 2]
    set_rest_lengths(model, elements, reeved, numbers)
    measure = set_materials(model, system, elements, reeved, numbers)
    nothing = np.zeros(0, np.int64)
    rows = np.zeros((len(elements), 4), np.int64), np.zeros((0, 2), np.int64), np.zeros(0)
    control = np.full((len(elements), 2), -1), np.zeros((len(elements), 2))
    turns = *rows, *control, nothing, np.zeros((0, 3)), gathered(())
    return Lines(elements, nodes, pairs, state, measure, numbers, *turns)


def set_rest_lengths(model: Any, elements: Ints, reeved: Any, numbers: Floats) -> None:
    """Natural lengths of both legs: given in two parts, or in proportion to the distances."""
    for rest in model.rest_lengths:
        chosen = np.isin(elements, model.mesh.elements_of(rest.target))
        parts = numbers[chosen, DISTANCE : DISTANCE + 2]
        if rest.second is None:
            parts *= rest.length / parts.sum(axis=1, keepdims=True)
        else:
            parts[:] = rest.length, rest.second
        numbers[chosen, REST : REST + 2] = parts


def set_materials(model: Any, system: Any, elements: Ints, reeved: Any, numbers: Floats) -> Ints:
    """Constants of all lines; (q,) their strain measures."""
    there, mesh, measure = ~system.gone[elements], model.mesh, np.zeros(len(elements), np.int64)
    for section in model.sections:
        chosen = np.isin(elements, mesh.element_sets[section.element_set])
        material = model.materials[section.material]
        measure[chosen] = MEASURES[section.strain]
        numbers[chosen, AREA] = section.area * there[chosen]
        numbers[chosen, YOUNG : MINUS + 1] = material.young, material.tension_ratio, material.compression_ratio
        numbers[chosen, STARTING] = section.starting_tension
        numbers[chosen, DENSITY] = material.density * section.area * there[chosen]
    for condition in model.initial_conditions:
        if condition.kind == "STRESS":
            numbers[np.isin(elements, mesh.elements_of(condition.target)), STRESS0] = condition.value
    for pulley in model.pulleys:
        numbers[np.isin(elements, mesh.element_sets[pulley.element_set]), FRICTION] = pulley.friction
    bars = elements[~reeved]  # with what these carry
    numbers[~reeved, DENSITY] = system.element_mass[bars] / system.length0[system.bar_index[bars]]
    numbers[~reeved, KNOWN] = 0.5 * system.element_mass[bars]
    numbers[:, DIES] = there
    return measure


def pairs_of(own: Lines) -> Ints:
    """Nodes that lines couple."""
    legs = [[(a, p)] if b < 0 else [(a, p), (p, b), (a, b)] for a, p, b in own.nodes.tolist()]
    return np.array([pair for each in legs for pair in each], np.int64).reshape(-1, 2)


def first_states(own: Lines) -> Floats:
    """Natural lengths at the start; of a rope that runs freely as long as its legs are."""
    found = np.zeros((len(own.elements), REMEMBERED))
    found[:, LENGTH : LENGTH + 2] = own.numbers[:, REST : REST + 2]
    return found.ravel()


def in_step(own: Lines, system: Any, environment: Any) -> Lines:
    """What winches give, keep and how gravity pulls in a step."""
    if not len(own.elements):
        return own
    place = {element: k for k, element in enumerate(own.elements.tolist())}
    heavy = own.numbers[:, DENSITY] > 0.0
    kept = environment.tensions
    weights = environment.gravity if heavy.any() else ()
    known = distinct(each.curve for each in (*environment.winches, *kept, *weights))
    turns = [
        (k, leg, known[case.curve], float(case.field[element, leg]))
        for case in environment.winches
        for element, k in place.items()
        for leg in range(2)
        if case.field[element, leg] != 0.0
    ]
    pulls = [
        (k, known[case.curve], *case.field[element].tolist())
        for case in weights
        for element, k in place.items()
        if heavy[k] and case.field[element].any()
    ]
    turns, pulls = sorted(turns), sorted(pulls)
    spans = np.column_stack([*spans_of(turns, len(place)), *spans_of(pulls, len(place))])
    control, wanted = np.full((len(place), 2), -1), np.zeros((len(place), 2))
    for each in kept:
        for element in each.elements.tolist():
            control[place[element]], wanted[place[element]] = (each.leg, known[each.curve]), (each.pull, each.speed)
    return own._replace(
        spans=np.ascontiguousarray(spans),
        turns=np.array([row[1:3] for row in turns], np.int64).reshape(-1, 2),
        changes=np.array([row[3] for row in turns], float),
        control=control,
        wanted=wanted,
        pulls=np.array([row[1] for row in pulls], np.int64),
        fields=np.array([row[2:] for row in pulls], float).reshape(-1, 3),
        curves=gathered(known),
    )


def spans_of(rows: list[Any], count: int) -> tuple[Ints, Ints]:
    """First and past-last row of each line."""
    sizes = np.bincount([row[0] for row in rows], minlength=count) if rows else np.zeros(count, np.int64)
    ends = np.cumsum(sizes)
    return ends - sizes, ends


def stiffest(own: Lines, place: Floats, u: Floats, dt: float) -> Lines:
    """Slack lines may soon be taut; a winch that lets go of its tension holds."""
    numbers = own.numbers.copy()
    numbers[:, PLUS] = numbers[:, MINUS] = np.maximum(numbers[:, PLUS], numbers[:, MINUS])
    return own._replace(numbers=numbers, control=np.full_like(own.control, -1))


def stored(own: Lines, index: int, u: Floats, state: Floats) -> float:
    """W of a bar that a winch turns."""
    node, other, _ = own.nodes[index]
    place, numbers = u.reshape(-1, 3), own.numbers[index]
    length = np.linalg.norm(numbers[FIRST_LEG : FIRST_LEG + 3] + place[node] - place[other])
    natural = state[own.first + REMEMBERED * index + LENGTH]
    strain = np.array([0.5 * ((length / natural) ** 2 - 1.0), length / natural - 1.0, np.log(length / natural)])
    trial = numbers[YOUNG] * strain[own.measure[index]] + numbers[STRESS0]
    active = numbers[PLUS if trial >= 0.0 else MINUS]
    return float(0.5 * active * trial**2 / numbers[YOUNG] * numbers[AREA] * natural)


def trouble(own: Lines, system: Any, u: Floats, state: Floats) -> str:
    """Why lines do not go on in a state: too little of one is left, a pulley has come to its end, or an iteration."""
    place, names = (system.coordinates.ravel() + u).reshape(-1, 3), system.model.mesh.element_names
    for k, element in enumerate(own.elements.tolist()):
        if not own.numbers[k, DIES]:
            continue
        at, start = own.first + REMEMBERED * k, own.numbers[k, REST : REST + 2].sum()
        left = float(state[at + LENGTH : at + LENGTH + 2].sum())
        if not left >= LEAST_LENGTH * start:
            return (
                f"a winch leaves element {names[element]} a natural length of {left:.6g}, less than a tenth of the "
                f"{start:.6g} it begins with. Make it longer, or a chain of short elements that are hauled in one "
                "after the other."
            )
        for end in own.nodes[k, [0, 2]] if own.nodes[k, 2] >= 0 else ():
            far = float(np.linalg.norm(place[end] - place[own.nodes[k, 1]]))
            if not far >= LEAST_LEG * start:
                return (
                    f"node {system.labels[end]} has come to the pulley, node {system.labels[own.nodes[k, 1]]}, of "
                    f"element {names[element]}: {far:.3g} of its rope is left there, whose length is {start:.6g}."
                )
        if np.isnan(state[at + BROUGHT]) and np.isfinite(place[own.nodes[k]]).all():
            if own.control[k, 0] >= 0:
                return f"no natural length is found at which element {names[element]} has the tension its winch keeps."
            return (
                f"no way is found in which the rope of element {names[element]} shares itself out so that it holds on "
                f"its pulley, node {system.labels[own.nodes[k, 1]]}."
            )
    return ""


REEVING = Family(
    "winches and pulleys",
    assemble,
    evaluate,
    values,
    pairs_of,
    first_states,
    mass,
    elements=lambda own: own.elements,
    owners=lambda own: np.repeat(own.elements, REMEMBERED),
    in_step=in_step,
    wanted=lambda model: model.runs,
    symmetric=False,
    smooth=False,
    stiffest=stiffest,
    couples=False,
    size=lambda own: (own.numbers[:, AREA] * own.numbers[:, YOUNG]).max(initial=0.0),
    stored=stored,
    trouble=trouble,
)
