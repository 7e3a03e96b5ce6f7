"""Actions on the model in one step, as arrays: supports, loads, water and wind, temperatures and thermal strains.

All continue from one step to the next by the rules of ``cases``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.assembly.cases import Case, Entry, Span, advance, carried, follow
from fem.assembly.supports import Supports, advance_supports, initial_supports
from fem.assembly.system import System
from fem.forces.moments import couples
from fem.model import Expansion, FluidLoad, Step
from fem.model.curves import Constant, Curve, Ramp, combined, evaluate
from fem.model.facts import growth_of

ADDED = "ADDED MASS"


@dataclass(frozen=True, slots=True)
class Flow:
    """Fluid loads of one kind with equal parameters: ``load``, without target, amplitude and magnitude.
    streams  the amplitudes of its stream;  cases: M of the elements, (k, 1)"""

    load: FluidLoad
    streams: tuple[Curve, Curve]
    cases: tuple[Case, ...]

    def diameter(self, system: System) -> Floats:
        """(k,) diameters D of the elements; in water with marine growth."""
        grown = 0.0 if self.load.kind in ("WDD", "FLD") else 2.0 * growth_of(system.model)[0]
        return self.load.diameter + grown + np.zeros(len(system.family))


def buoyancy_cases(system: System, flows: Iterable[Flow]) -> list[Case]:
    """(n, 3) buoyancy of bars that are always wet, half on each node; without loads per current length."""
    found, water, up = list[Case](), system.model.water, system.model.mesh.up
    for flow in flows:
        if flow.load.kind == "PB" and not flow.load.is_current and water is not None:
            is_bar = (system.bar_index >= 0) & ~system.gone
            volume = np.zeros(len(is_bar))
            volume[is_bar] = 0.25 * np.pi * flow.diameter(system)[is_bar] ** 2 * system.lengths_of(is_bar)
            for case in flow.cases:
                lift = np.zeros((len(volume), 3))
                lift[:, up] = water.density * water.gravity * volume * case.field[:, 0]
                found.append(Case(lift, case.curve))
    return found


def advance_flows(before: Iterable[Flow], system: System, step: Step, span: Span) -> tuple[Flow, ...]:
    """Flows of a step, from those of the step before and the step's own loads."""
    model, replaces_all = system.model, "DLOAD" in step.replaced
    given = []
    for load in step.fluid_loads:
        streams = [Constant(1.0) if name is None else follow(model, name, span) for name in load.streams]
        bare = replace(load, target="", magnitude=1.0, amplitude=None, streams=(None, None))
        given.append((load, bare, tuple(streams)))
    known: dict[Any, tuple[Case, ...]] = {}
    for flow in before:
        if flow.load.kind != ADDED:
            first, second = flow.streams
            known[flow.load, (carried(first, span), carried(second, span))] = flow.cases
    for _, *key in given:
        known.setdefault(tuple(key), ())
    found = []
    for key, cases in known.items():
        entries = [_entry(system, load, tuple(own) == key) for load, *own in given if load.kind == key[0].kind]
        acting = advance(cases, entries, replaces_all, span, model)
        found += [Flow(key[0], key[1], acting)] if acting else []
    return tuple(found)


def _entry(system: System, load: FluidLoad, is_own: bool) -> Entry:
    """M of the elements that a load names; zero for those where another load of the same kind replaces it."""
    mask = np.zeros((len(system.family), 1), np.bool_)
    mask[system.elements_of(load.target)] = True
    return Entry(np.where(mask, load.magnitude if is_own else 0.0, 0.0), mask, load.amplitude)


Entries: TypeAlias = tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A winch that keeps the tension of legs at ``pull`` times a curve, with at most ``speed`` [length/time]."""

    elements: Ints
    leg: int
    pull: float
    speed: float
    curve: Curve


@dataclass(frozen=True, slots=True)
class Environment:
    """Loads as cases: ``nodal`` (n, 3) forces, ``moments`` (free bodies, 3), ``body`` (elements, 3) forces per volume,
    ``gravity`` (elements, 3) accelerations, ``heat`` (n, 1) temperatures; ``released`` (n, 3): reactions of removed
    supports that fade out; ``flows``: loads of water and wind; ``winches`` (elements, 2): change of the natural length
    of both legs; ``tensions``: winches that keep a tension; ``creeps``: materials creep (``*VISCO``); ``sea_from``,
    ``gusts_from``: total times at which ramps of waves and of gusts begin, infinite before; ``is_arc``: of RIKS.
    """

    supports: Supports
    nodal: tuple[Case, ...] = ()
    body: tuple[Case, ...] = ()
    gravity: tuple[Case, ...] = ()
    moments: tuple[Case, ...] = ()
    heat: tuple[Case, ...] = ()
    released: tuple[Case, ...] = ()
    initial_temperature: Floats | None = None
    flows: tuple[Flow, ...] = ()
    winches: tuple[Case, ...] = ()
    tensions: tuple[Kept, ...] = ()
    creeps: bool = False
    sea_from: float = math.inf
    gusts_from: float = math.inf
    is_arc: bool = False


@dataclass(frozen=True, slots=True)
class LoadSet:
    """Load vectors (p, 3n), whether each is gravity (p,), and their curves."""

    vectors: Floats
    is_gravity: Ints
    cases: tuple[Case, ...]

    def factors(self, time: Floats) -> Floats:
        """(k, p) factors at given times."""
        factors = np.empty((len(time), len(self.cases)))
        for p, case in enumerate(self.cases):
            factors[:, p] = evaluate(case.curve, time)
        return factors

    def by_curve(self) -> Floats:
        """(c, 3n) sums of vectors with equal curves, which may balance each other, as weight and buoyancy do."""
        found = dict[object, Floats]()
        for case, vector in zip(self.cases, self.vectors, strict=True):
            found[case.curve] = found.get(case.curve, 0.0) + vector
        return np.array(list(found.values())).reshape(-1, self.vectors.shape[1])


def curves_of(environment: Environment) -> tuple[Curve, ...]:
    """The curves that anything follows, each once."""
    supports, flows = environment.supports, environment.flows
    cases = (environment.nodal, environment.body, environment.gravity, environment.moments, environment.heat)
    found = [supports.groups[k][1] for k in distinct(supports.group[supports.group >= 0])]
    found += [case.curve for family in (*cases, environment.released, environment.winches) for case in family]
    found += [curve for flow in flows for curve in (*flow.streams, *(case.curve for case in flow.cases))]
    found += [kept.curve for kept in environment.tensions]
    return tuple(dict.fromkeys(found))


def first_environment(system: System, u: Floats) -> Environment:
    """Before the first step: the model's own supports and initial temperatures, no loads."""
    temperature = np.zeros(len(system.labels))
    for condition in system.model.initial_conditions:
        if condition.kind == "TEMPERATURE":
            temperature[system.nodes_of(condition.target)] = condition.value
    heat = (Case(temperature[:, None], Constant(1.0)),) if temperature.any() else ()
    return Environment(initial_supports(system, system.model, u), heat=heat, initial_temperature=temperature)


def next_environment(
    system: System, before: Environment, step: Step, span: Span, u: Floats, v: Floats, reaction: Floats
) -> Environment:
    """Actions in a step. u, v, reaction (3n,): the state at its start."""
    model, replaced = system.model, step.replaced
    supports = advance_supports(system, before.supports, step, span, u, v)
    gone = before.supports.supported & ~supports.supported
    released: tuple[Case, ...] = ()
    if span.ramps and np.any(reaction[gone]):
        released = (Case(np.where(gone, reaction, 0.0).reshape(-1, 3), Ramp(span.start, span.end, 1.0, 0.0)),)
    initial = before.initial_temperature
    assert initial is not None
    nodal, body, gravity = _load_entries(system, step)
    rows = ((heat.amplitude, system.nodes_of(heat.target), heat.value) for heat in step.temperatures)
    heat_entries = _entries((len(system.labels), 1), rows, last=True)
    if "TEMPERATURE" in replaced:
        spoken = np.zeros((len(initial), 1), np.bool_)
        for entry in heat_entries:
            spoken |= entry.mask
        heat_entries += (Entry(np.where(spoken, 0.0, initial[:, None]), ~spoken, None),)
    flows = advance_flows(before.flows, system, step, span)
    sea_from, gusts_from = ramps_begin(before, system, step, span, flows)
    return Environment(
        replace(supports, sea_from=sea_from),
        advance(before.nodal, nodal, "CLOAD" in replaced, span, model),
        advance(before.body, body, "DLOAD" in replaced, span, model),
        advance(before.gravity, gravity, "DLOAD" in replaced, span, model),
        advance(before.moments, _moment_entries(system, step), "CLOAD" in replaced, span, model),
        advance(before.heat, heat_entries, "TEMPERATURE" in replaced, span, model),
        released,
        initial,
        flows,
        _winches(system, before, step, span),
        _kept_tensions(system, step, span),
        bool(step.static and step.static.creeps),
        sea_from,
        gusts_from,
        bool(step.static and step.static.riks),
    )


WATER, WIND = ("FDD", "FDT", "FI", "PB"), ("WDD", "FLD")
"""Fluid loads that depend on waves and on gusts."""


def ramps_begin(
    before: Environment, system: System, step: Step, span: Span, flows: Iterable[Flow]
) -> tuple[float, float]:
    """Total times at which ramps of waves and of gusts begin: with the first dynamic step in which they act, on bars or
    on a vessel; waves without any effect rise in the first dynamic step."""
    sea_from, gusts_from, model = before.sea_from, before.gusts_from, system.model
    if step.dynamic and (model.waves or model.wind):
        kinds = {flow.load.kind for flow in flows}
        moves = any(body.rao for body in model.bodies) or not model.reach.flows.keys() & set(WATER)
        if moves or kinds.intersection(WATER):
            sea_from = min(sea_from, span.start)
        if kinds.intersection(WIND):
            gusts_from = min(gusts_from, span.start)
    return sea_from, gusts_from


def _entries(shape: tuple[int, ...], given: Iterable[tuple[str | None, Any, Any]], last: bool = False) -> Entries:
    """One entry per amplitude, from rows (amplitude, items, value); ``last``: of two values the last one holds."""
    found: dict[str | None, Entry] = {}
    for amplitude, items, value in given:
        if amplitude not in found:
            found[amplitude] = Entry(np.zeros(shape), np.zeros(shape, np.bool_), amplitude)
        for other in found.values() if last else ():
            other.field[items], other.mask[items] = 0.0, False
        found[amplitude].field[items] += value
        found[amplitude].mask[items] = True
    return tuple(found.values())


LoadColumns: TypeAlias = Mapping[tuple[str, int], Floats]
"""Values (k,) of loads, by their tuple in a step and their place in it."""


def _load_entries(
    system: System, step: Step, columns: LoadColumns | None = None, lanes: tuple[int, ...] = ()
) -> tuple[Entries, Entries, Entries]:
    """Forces on nodes, per volume, gravity; with ``columns`` fields (items, 3, k), ``lanes`` being (k,)."""
    given = columns or {}
    nodal: list[Any] = []
    body: list[Any] = []
    gravity: list[Any] = []
    for number, load in enumerate(step.nodal_loads):
        value = given.get(("nodal_loads", number), load.value)
        nodal.append((load.amplitude, (system.nodes_of(load.target), load.dof - 1), value))
    for number, its in enumerate(step.distributed_loads):
        elements = system.elements_of(its.target)
        value = given.get(("distributed_loads", number), its.value)
        if its.kind == "GRAV":
            accelerations = np.multiply.outer(np.array(its.direction), np.broadcast_to(value, lanes))
            gravity.append((its.amplitude, elements, accelerations))
        else:
            body.append((its.amplitude, (elements, "XYZ".index(its.kind[1])), value))
    shape = len(system.family), 3, *lanes
    return _entries((len(system.labels), 3, *lanes), nodal), _entries(shape, body), _entries(shape, gravity)


def load_columns(system: System, environment: Environment, step: Step, columns: LoadColumns) -> Floats | None:
    """(k, p, 3n) load vectors of a model's only step for values of its loads, in the order of ``load_set``. None where
    a load is not a load vector of its own: it is zero in the model, or added to others with the same curve."""
    known, (count,) = load_set(system, environment).vectors, {len(column) for column in columns.values()}
    found = np.repeat(known[None], count, axis=0)
    nodal, body, gravity = _load_entries(system, step, columns, (count,))
    after = len(environment.nodal) + len(environment.released) + len(environment.moments)
    families = (
        (0, environment.nodal, nodal, None),
        (after, environment.body, body, system.volume),
        (after + len(environment.body), environment.gravity, gravity, system.element_mass),
    )
    for first, cases, entries, weight in families:
        if len(entries) != len(cases):
            return None
        for place, entry in enumerate(entries, first):
            field = entry.field if weight is None else _to_nodes(system, entry.field * weight[:, None, None])
            found[:, place] = np.moveaxis(field, -1, 0).reshape(count, -1)
    return found


def _moment_entries(system: System, step: Step) -> Entries:
    """Moments on free bodies, by their numbers."""
    numbers = {body.node: number for number, body in enumerate(system.model.free_bodies)}
    rows = ((load.amplitude, (numbers[int(load.target)], load.dof - 4), load.value) for load in step.moments)
    return _entries((len(numbers), 3), rows)


def _winches(system: System, before: Environment, step: Step, span: Span) -> tuple[Case, ...]:
    """Winches that change lengths; those without an amplitude run at constant speed over the step, also in statics."""
    evenly = replace(span, ramps=step.winds and span.end > span.start)
    turning = (winch for winch in step.winches if not winch.is_tension)
    rows = ((w.amplitude, (system.elements_of(w.target), w.end - 1), w.value) for w in turning)
    return advance(before.winches, _entries((len(system.family), 2), rows), False, evenly, system.model)


def winches_at(system: System, environment: Environment, time: float) -> Floats:
    """(elements, 2) changes of natural length by winches at an instant of the step."""
    given = [(case.field, case.curve) for case in environment.winches]
    return np.asarray(combined(given, np.array([time]), (len(system.family), 2))[0])


def _kept_tensions(system: System, step: Step, span: Span) -> tuple[Kept, ...]:
    """Winches that keep a tension; those of earlier steps keep their last one."""
    found = []
    for winch in (each for each in step.winches if each.is_tension):
        curve = Constant(1.0) if winch.amplitude is None else follow(system.model, winch.amplitude, span)
        speed = np.inf if winch.speed is None else winch.speed
        found.append(Kept(system.elements_of(winch.target), winch.end - 1, winch.value, speed, curve))
    return tuple(found)


def load_set(system: System, environment: Environment) -> LoadSet:
    """Nodal vectors of all dead loads in force; loads of bars (body forces, weight, buoyancy) go half to each end."""
    forces = (*environment.nodal, *environment.released, *environment.moments)
    vectors = [case.field for case in (*environment.nodal, *environment.released)]
    vectors += [couples(system.model, case.field, len(system.labels)) for case in environment.moments]
    vectors += [_to_nodes(system, case.field * system.volume[:, None]) for case in environment.body]
    vectors += [_to_nodes(system, case.field * system.element_mass[:, None]) for case in environment.gravity]
    lifts = buoyancy_cases(system, environment.flows)
    vectors += [_to_nodes(system, case.field) for case in lifts]
    cases = (*forces, *environment.body, *environment.gravity, *lifts)
    dead = len(forces) + len(environment.body)
    is_gravity = np.repeat([0, 1], [dead, len(cases) - dead])
    return LoadSet(np.array(vectors, float).reshape(len(cases), system.size), is_gravity, cases)


def _to_nodes(system: System, force: Floats) -> Floats:
    """(n, 3, ...) forces of elements (k, 3, ...), half to each node (all to the node of a one-node element)."""
    total = np.zeros((len(system.labels), *force.shape[1:]))
    for end in range(2):
        np.add.at(total, system.element_nodes[:, end], 0.5 * force)
    return total


def thermal_rows(system: System, environment: Environment, time: Floats) -> Floats:
    """(k, m) thermal strains of the bars at given times; one row where nothing changes.
    e_th = alpha(T) (T - ZERO) - alpha(T_0) (T_0 - ZERO), T the mean of both ends, as Abaqus defines it."""
    initial = environment.initial_temperature
    assert initial is not None
    if not system.expansions:
        return np.zeros((1, len(system.bars.nodes)))
    if all(isinstance(case.curve, Constant) for case in environment.heat):
        time = time[:1]
    heat = [(case.field, case.curve) for case in environment.heat]
    temperature = combined(heat, time, (len(initial), 1))[:, :, 0]
    strain = np.zeros((len(temperature), len(system.bars.nodes)))
    for bars, expansion in system.expansions:
        i, j = system.bars.nodes[bars].T
        now, start = 0.5 * (temperature[:, i] + temperature[:, j]), 0.5 * (initial[i] + initial[j])
        strain[:, bars] = coefficient(expansion, now) * (now - expansion.zero)
        strain[:, bars] -= coefficient(expansion, start) * (start - expansion.zero)
    return strain


def coefficient(expansion: Expansion, temperature: Floats) -> Floats:
    """alpha at given temperatures: linear between the rows, constant outside."""
    rows = np.array(expansion.rows, float)
    order = np.argsort(rows[:, 1], kind="stable")
    return np.asarray(np.interp(temperature, rows[order, 1], rows[order, 0]))
