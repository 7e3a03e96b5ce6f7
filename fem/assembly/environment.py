"""What acts on the model in one step: supports, loads, temperatures, and the arrays the march reads of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.cases import Case, Entry, Span, advance
from fem.assembly.supports import Supports, advance_supports, initial_supports
from fem.assembly.system import System
from fem.assembly.thermal import thermal_strain
from fem.model import Step
from fem.model.curves import Constant, Ramp, combined, evaluate


@dataclass(frozen=True, slots=True)
class Environment:
    """Loads as cases: ``nodal`` (n, 3) forces, ``body`` (elements, 3) forces per volume, ``gravity`` (elements, 3)
    accelerations, ``heat`` (n, 1) temperatures; ``released`` (n, 3): reactions of removed supports that fade out.
    """

    supports: Supports
    nodal: tuple[Case, ...] = ()
    body: tuple[Case, ...] = ()
    gravity: tuple[Case, ...] = ()
    heat: tuple[Case, ...] = ()
    released: tuple[Case, ...] = ()
    initial_temperature: Floats | None = None


@dataclass(frozen=True, slots=True)
class LoadSet:
    """Load vectors (p, 3n), which of them are gravity (p,), and their curves."""

    vectors: Floats
    is_gravity: Ints
    cases: tuple[Case, ...]

    def factors(self, time: Floats) -> Floats:
        """(k, p) factors at given times."""
        factors = np.empty((len(time), len(self.cases)))
        for p, case in enumerate(self.cases):
            factors[:, p] = evaluate(case.curve, time)
        return factors


def first_environment(system: System, u: Floats) -> Environment:
    """Before the first step: the model's own supports and initial temperatures, no loads."""
    temperature = np.zeros(len(system.labels))
    for condition in system.model.initial_conditions:
        if condition.kind == "TEMPERATURE":
            temperature[system.nodes_of(condition.target)] = condition.value
    return Environment(
        initial_supports(system, system.model.boundaries, u),
        heat=(Case(temperature[:, None], Constant(1.0)),),
        initial_temperature=temperature,
    )


def next_environment(
    system: System, before: Environment, step: Step, span: Span, u: Floats, v: Floats, reaction: Floats
) -> Environment:
    """What acts in a step. u, v, reaction (3n,): the state at its start."""
    model, replaced = system.model, step.replaced
    supports = advance_supports(system, before.supports, step, span, u, v)
    gone = before.supports.supported & ~supports.supported
    released: tuple[Case, ...] = ()
    if span.ramps and np.any(reaction[gone]):
        released = (Case(np.where(gone, reaction, 0.0).reshape(-1, 3), Ramp(span.start, span.end, 1.0, 0.0)),)
    initial = before.initial_temperature
    assert initial is not None
    heat_entries = _heat_entries(system, step)
    heat = before.heat
    if "TEMPERATURE" in replaced:
        spoken = np.zeros((len(initial), 1), np.bool_)
        for entry in heat_entries:
            spoken |= entry.mask
        heat_entries += (Entry(np.where(spoken, 0.0, initial[:, None]), ~spoken, None),)
    return Environment(
        supports, advance(before.nodal, _nodal_entries(system, step), "CLOAD" in replaced, span, model),
        advance(before.body, _distributed_entries(system, step, False), "DLOAD" in replaced, span, model),
        advance(before.gravity, _distributed_entries(system, step, True), "DLOAD" in replaced, span, model),
        advance(heat, heat_entries, "TEMPERATURE" in replaced, span, model), released, initial,
    )  # fmt: skip


class _Entries:
    """Entries of one family, those of one amplitude together."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.grouped: dict[str | None, Entry] = {}

    def of(self, amplitude: str | None) -> Entry:
        if amplitude not in self.grouped:
            self.grouped[amplitude] = Entry(np.zeros(self.shape), np.zeros(self.shape, np.bool_), amplitude)
        return self.grouped[amplitude]

    def all(self) -> tuple[Entry, ...]:
        return tuple(self.grouped.values())


def _nodal_entries(system: System, step: Step) -> tuple[Entry, ...]:
    entries = _Entries(len(system.labels), 3)
    for load in step.nodal_loads:
        entry = entries.of(load.amplitude)
        nodes = system.nodes_of(load.target)
        entry.field[nodes, load.dof - 1] += load.value
        entry.mask[nodes, load.dof - 1] = True
    return entries.all()


def _distributed_entries(system: System, step: Step, gravity: bool) -> tuple[Entry, ...]:
    entries = _Entries(len(system.family), 3)
    for load in step.distributed_loads:
        if (load.kind == "GRAV") != gravity:
            continue
        entry = entries.of(load.amplitude)
        elements = system.elements_of(load.target)
        if gravity:
            entry.field[elements] += load.value * np.array(load.direction)
            entry.mask[elements] = True
        else:
            axis = "XYZ".index(load.kind[1])
            entry.field[elements, axis] += load.value
            entry.mask[elements, axis] = True
    return entries.all()


def _heat_entries(system: System, step: Step) -> tuple[Entry, ...]:
    """Temperatures given twice in a step: the last one counts."""
    entries = _Entries(len(system.labels), 1)
    for heat in step.temperatures:
        nodes = system.nodes_of(heat.target)
        for other in entries.all():
            other.field[nodes] = 0.0
            other.mask[nodes] = False
        entry = entries.of(heat.amplitude)
        entry.field[nodes] = heat.value
        entry.mask[nodes] = True
    return entries.all()


def load_set(system: System, environment: Environment) -> LoadSet:
    """Nodal vectors of all loads in force: body forces and weight go half to each end of a bar."""
    vectors: list[Floats] = []
    gravity: list[int] = []
    cases: list[Case] = []

    def add(case: Case, vector: Floats, is_gravity: int) -> None:
        vectors.append(np.ascontiguousarray(vector.ravel()))
        gravity.append(is_gravity)
        cases.append(case)

    for case in (*environment.nodal, *environment.released):
        add(case, case.field, 0)
    for case in environment.body:
        add(case, _to_nodes(system, case.field * system.volume[:, None]), 0)
    for case in environment.gravity:
        add(case, _to_nodes(system, case.field * system.element_mass[:, None]), 1)
    return LoadSet(np.array(vectors).reshape(len(vectors), system.size), np.array(gravity, np.int64), tuple(cases))


def _to_nodes(system: System, force: Floats) -> Floats:
    """(n, 3) forces of elements (k, 3), half to each node (all to the node of a one-node element)."""
    total = np.zeros((len(system.labels), 3))
    for end in range(2):
        np.add.at(total, system.element_nodes[:, end], 0.5 * force)
    return total


def thermal_rows(system: System, environment: Environment, time: Floats) -> Floats:
    """(k, m) thermal strains of the bars at given times; one row where nothing changes."""
    initial = environment.initial_temperature
    assert initial is not None
    if not system.expansions:
        return np.zeros((1, len(system.bars.nodes)))
    if all(isinstance(case.curve, Constant) for case in environment.heat):
        time = time[:1]
    heat = [(case.field, case.curve) for case in environment.heat]
    temperature = combined(heat, time, (len(initial), 1))[:, :, 0]
    return thermal_strain(system, temperature, initial)
