"""A deck as other codes need it: springs along lines, masses at nodes, forces at nodes, held dofs, in steps of equal dt.

It is made of the arrays that our own runs are made of, so all codes are given the same numbers. k members, n nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, frozen
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, LoadSet, first_environment, load_set, next_environment
from fem.assembly.supports import FREE, Supports
from fem.assembly.system import System, assemble
from fem.codes.features import Writing
from fem.forces import bar
from fem.forces.laws import TABLE
from fem.model import Dynamic, Model, Static, outputs_in_force
from fem.model.curves import Constant, Curve, Follow, Ramp, evaluate
from fem.model.facts import distances
from fem.model.mesh import AXIAL

MOST_POINTS = 20_000
"""Of a table of a load or a support that is no straight line."""


MOST_BESIDE = 12


class Member(NamedTuple):
    """An axial element: force stiffness * (l - length0) + pretension, times ``plus`` where > 0, ``minus`` where < 0.

    first, last  node indices;  distance  of its nodes;  table  (force, l - length0) in place of all that, flat outside
    damping  force per dl/dt;  mass  of the element; ``off``: what of it is off the diagonal of the mass matrix
    """

    label: int
    kind: str
    first: int
    last: int
    distance: float
    length0: float
    stiffness: float
    pretension: float
    plus: float
    minus: float
    damping: float
    mass: float
    off: float
    area: float = 1.0
    table: tuple[tuple[float, float], ...] = ()

    @property
    def is_linear(self) -> bool:
        """A spring without force at the distance of its nodes."""
        rest = self.pretension == 0.0 and self.length0 == self.distance
        return not self.table and rest and self.plus == self.minus == 1.0

    @property
    def force_rows(self) -> tuple[tuple[float, float], ...]:
        """(force, elongation from the distance of the nodes); for elongations up to the length, either way."""
        gap = self.length0 - self.distance
        if self.table:
            return tuple((force, x + gap) for force, x in self.table)
        zero = gap - self.pretension / self.stiffness if self.stiffness else gap
        reach = self.length0 + abs(zero)
        force = self.stiffness * reach
        low, high = (-self.minus * force, zero - reach), (self.plus * force, zero + reach)
        return (low, high) if self.plus == self.minus else (low, (0.0, zero), high)


class Series(NamedTuple):
    """Values over total time, straight lines between the points."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def is_constant(self) -> bool:
        return len(set(self.values)) == 1


class Stage(NamedTuple):
    """A step: its loads by dof (3 * node + axis), its held dofs, over total time.

    rows  of output: every so many increments
    """

    name: str
    dynamic: Dynamic | None
    start: float
    period: float
    dt: float
    loads: dict[int, Series]
    held: dict[int, Series]
    environment: Environment
    every: int = 1

    @property
    def count(self) -> int:
        return max(1, round(self.period / self.dt))


@frozen
class Twin:
    """u, v (3n,): initial; mass (n,): of nodes; nodes, elements: labels that are printed."""

    model: Model
    system: System
    members: tuple[Member, ...]
    stages: tuple[Stage, ...]
    mass: Floats
    u: Floats
    v: Floats
    nodes: tuple[int, ...]
    elements: tuple[int, ...]

    @property
    def fixed(self) -> Flags:
        """(3n,) dofs that never move."""
        still = np.ones(self.system.size, np.bool_)
        for stage in self.stages:
            held = [dof for dof, series in stage.held.items() if not any(series.values)]
            still &= np.isin(np.arange(self.system.size), held)
        return still

    @property
    def end(self) -> float:
        return self.stages[-1].start + self.stages[-1].period

    def label(self, node: int) -> int:
        """Of a node index."""
        return int(self.model.mesh.node_labels[node])


def twin_of(writing: Writing, keeps_off: bool = False) -> Twin:
    """The twin of a model that the code can express. keeps_off: the code has consistent masses of bars.

    What a twin cannot have is refused, what differs in it noted.
    """
    writing.close()
    model = writing.model
    system = assemble(model)
    u, v = np.zeros((2, system.size))
    for each in model.initial_conditions:
        if each.kind in ("DISPLACEMENT", "VELOCITY"):
            (u if each.kind == "DISPLACEMENT" else v)[3 * system.nodes_of(each.target) + each.dof - 1] = each.value
    members, stages = members_of(system), stages_of(writing, system, u.copy(), v.copy())
    mesh = model.mesh
    nodes, elements = printed(model)
    twin = Twin(model, system, members, stages, system.mass.copy(), u, v, nodes, elements)
    free = ~twin.fixed.reshape(-1, 3).all(axis=1)
    for each in members:
        if each.off and free[each.first] and free[each.last] and not keeps_off:
            rule = next(section.mass_rule for section in model.sections if section.mass_rule != "LUMPED")
            message = f"element {mesh.named(each.label)}: MASS={rule} between two free nodes, {writing.code} has masses at nodes"
            writing.refuse("SOLID SECTION", rule, message, "MASS=LUMPED")
            break
    if any(section.strain == "GREEN" for section in model.sections):
        writing.note("strain: GREEN in the deck, elongation over length here; at a strain e forces differ by 1.5 e")
    if any(section.strain == "LOG" for section in model.sections):
        writing.note("strain: LOG in the deck, elongation over length here; at a strain e forces differ by 0.5 e")
    if any(each.damping and each.plus != each.minus for each in members):
        writing.note("BETA: damps slack cables, too, where ours is damped only while it is taut")
    writing.close()
    return twin


def members_of(system: System) -> tuple[Member, ...]:
    """All axial elements, in the order of the deck."""
    mesh, constants = system.model.mesh, system.bars.constants
    apart = distances(mesh)
    kinds = [block.kind for block in mesh.blocks for _ in block.labels]
    found = []
    for element, label in enumerate(mesh.element_labels.tolist()):
        b = int(system.bar_index[element])
        if b < 0 or kinds[element] not in AXIAL:
            continue
        area, young, viscous, stress, inverse = constants[
            [bar.AREA, bar.YOUNG, bar.VISCOUS, bar.STRESS0, bar.INV_LENGTH], b
        ]
        table: tuple[tuple[float, float], ...] = ()
        if system.bars.kinds[b, 1] == TABLE:
            first, rows = constants[bar.OF_LAW : bar.OF_LAW + 2, b].astype(int)
            table = tuple((force, x) for x, force, _ in system.bars.table[first : first + rows].tolist())
        scale = area * inverse
        off = float(system.bars.off_mass[b]) if len(system.bars.off_mass) else 0.0
        numbers = (
            apart[element],
            1.0 / inverse,
            scale * young,
            area * stress,
            constants[bar.PLUS, b],
            constants[bar.MINUS, b],
        )
        numbers = (*numbers, scale * viscous, system.element_mass[element], off, area)
        i, j = system.element_nodes[element].tolist()
        found.append(Member(label, kinds[element], i, j, *map(float, numbers), table))
    return tuple(found)


def stages_of(writing: Writing, system: System, u: Floats, v: Floats) -> tuple[Stage, ...]:
    """Steps, whose supports are known without a run; u, v (3n,) become NaN where they are not known."""
    model = writing.model
    environment, start, found = first_environment(system, u), 0.0, []
    for number, step in enumerate(model.steps):
        procedure = step.procedure
        assert isinstance(procedure, Static | Dynamic)
        end = start + procedure.period
        span = Span(start, end, step.ramps)
        before = environment
        environment = next_environment(system, before, step, span, u, v, np.zeros(system.size))
        supports = environment.supports
        if span.ramps and (before.supports.supported & ~supports.supported).any():
            message = "a support is released in a static step: how its reaction fades is known after a run only"
            writing.refuse("BOUNDARY", "OP", message, "release it in a *DYNAMIC step")
        (dofs,) = np.nonzero(supports.group[: system.size] != FREE)
        if (
            np.isnan(supports.base[dofs]).any()
            or np.isnan(supports.value[dofs]).any()
            or np.isnan(supports.rate[dofs]).any()
        ):
            message = "a support begins where the motion has brought its node, which is known after a run only"
            writing.refuse("BOUNDARY", "", message, "give the support in all steps")
            return ()
        is_dynamic = isinstance(procedure, Dynamic)
        dt = procedure.dt if procedure.dt < procedure.period else procedure.period
        if not procedure.direct and is_dynamic:
            writing.note(f"increments: automatic in the deck, equal here, dt = {dt:g}")
        stepper = isinstance(procedure, Dynamic) and procedure.integrator
        grid = start + dt * np.arange(1 + min(MOST_POINTS, max(1, round(procedure.period / dt))))
        grid[-1] = end
        held = held_series(supports, dofs, grid)
        every = min(
            (r.every for r in outputs_in_force(model.steps, number) if r.kind == "NODE PRINT" and r.every), default=1
        )
        name = step.name or f"step {number + 1}{f' ({stepper})' if stepper else ''}"
        loads = load_series(load_set(system, replace(environment, flows=())), grid)
        found.append(
            Stage(name, procedure if is_dynamic else None, start, procedure.period, dt, loads, held, environment, every)
        )
        u, v = np.full((2, system.size), np.nan)
        u[dofs], v[dofs] = (each[0] for each in supports.motion(dofs, np.array([end]))[:2])
        start = end
    return tuple(found)


def held_series(supports: Supports, dofs: Ints, grid: Floats) -> dict[int, Series]:
    """Displacements of held dofs over the instants of a step."""
    places = supports.motion(dofs, grid)[0]
    whole = tuple(grid.tolist())
    return {
        dof: Series((whole[0], whole[-1]), (column[0],) * 2) if len(set(column)) == 1 else Series(whole, tuple(column))
        for dof, column in zip(dofs.tolist(), places.T.tolist(), strict=True)
    }


def points_of(curve: Curve, grid: Floats) -> Floats:
    """Instants between which a curve is straight: its own points, or the increments."""
    ends = grid[[0, -1]]
    if isinstance(curve, Constant):
        return ends
    own = np.array([curve.start, curve.end]) if isinstance(curve, Ramp) else None
    if isinstance(curve, Follow) and curve.amplitude.definition == "TABULAR":
        own = curve.amplitude.points[:, 0] + curve.origin
    if own is None:
        return grid
    return np.concatenate([ends, own[(own > ends[0]) & (own < ends[1])]])


def load_series(loads: LoadSet, grid: Floats) -> dict[int, Series]:
    """Forces by dof; one curve each, as codes want it that allow one load at a dof."""
    found: dict[int, Series] = {}
    known: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
    for dof in np.flatnonzero(np.any(loads.vectors, axis=0)).tolist():
        acting = tuple(np.flatnonzero(loads.vectors[:, dof]).tolist())
        if acting not in known:
            times = np.unique(np.concatenate([points_of(loads.cases[p].curve, grid) for p in acting]))
            known[acting] = times, np.stack([evaluate(loads.cases[p].curve, times) for p in acting])
        times, factors = known[acting]
        values = loads.vectors[list(acting), dof] @ factors
        found[dof] = Series(tuple(times.tolist()), tuple(values.tolist()))
    return found


def printed(model: Model) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Labels of what is compared: the nodes and the axial elements of all print requests.

    Without such nodes: all nodes; without such elements: those beside these nodes, the first ``MOST_BESIDE``.
    """
    mesh = model.mesh
    asked: dict[str, list[Ints]] = {"NODE PRINT": [], "EL PRINT": []}
    for request in (request for step in model.steps for request in step.outputs if request.every):
        if request.kind in asked:
            of = mesh.nodes_of if request.kind == "NODE PRINT" else mesh.elements_of
            every = len(mesh.node_labels) if request.kind == "NODE PRINT" else len(mesh.element_labels)
            asked[request.kind].append(of(request.target) if request.target else np.arange(every))
    nodes, elements = (np.unique(np.concatenate([np.zeros(0, np.int64), *found])) for found in asked.values())
    nodes = nodes if len(nodes) else np.arange(len(mesh.node_labels))
    axial = np.flatnonzero(mesh.is_of(*AXIAL))
    beside = axial[np.isin(mesh.element_nodes[axial], nodes).any(axis=1)][:MOST_BESIDE]
    elements = np.intersect1d(elements, axial) if len(elements) else beside
    return tuple(mesh.node_labels[nodes].tolist()), tuple(mesh.element_labels[elements].tolist())


def spectral_radius(dynamic: Dynamic) -> float:
    """At high frequencies of a scheme: 1 undamped, 0 all damped at once."""
    if dynamic.integrator == "HHT":
        return (1.0 + dynamic.alpha) / (1.0 - dynamic.alpha)
    if dynamic.integrator == "GENERALIZED ALPHA":
        return dynamic.rho
    return 0.0 if dynamic.integrator == "BACKWARD EULER" else 1.0
