"""A deck in the form that other codes need: axial springs, masses and forces at nodes, fixed dofs, steps with equal dt.

It is made from the arrays of our own runs, so that all codes get the same numbers. dof = 3 * node + axis.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, frozen
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, LoadSet, first_environment, load_set, next_environment
from fem.assembly.supports import FREE
from fem.assembly.system import System, assemble
from fem.codes.export import Writing
from fem.forces import bar
from fem.forces.laws import TABLE
from fem.model import Dynamic, Model, outputs_in_force
from fem.model.curves import Constant, Curve, Follow, Ramp, evaluate
from fem.model.facts import distances
from fem.model.mesh import AXIAL

MOST_POINTS = 20_000
"""Largest number of points in the table of a load or a support."""
MOST_BESIDE = 12
FAR = 1e3
"""Tables of bars reach so many lengths; beyond them CalculiX has constant forces."""
SHARP = 1e-6
"""Of an increment: what is left of a step is no further one."""
DIFFERENCES = {"GREEN": 1.5, "LOG": -1.5}
"""Relative difference of a force from the engineering law, per unit of strain: (s^2 - 1) s/2 and ln(s)/s over s - 1."""
NUMBERS = [bar.AREA, bar.YOUNG, bar.VISCOUS, bar.STRESS0, bar.INV_LENGTH, bar.PLUS, bar.MINUS]


class Member(NamedTuple):
    """An axial element: force stiffness * (l - length0) + pretension, times ``plus`` where > 0, ``minus`` where < 0.

    first, last  node indices;  distance  of its nodes;  table  (force, l - length0) in place of all that, flat outside
    damping  force per dl/dt;  mass  of the element; ``off``: its off-diagonal part in the mass matrix
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
    area: float
    table: tuple[tuple[float, float], ...] = ()

    @property
    def strain(self) -> float:
        """At the start, over the distance of the nodes; with it stiffness * distance gives the force."""
        return (
            self.distance - self.length0 + (self.pretension / self.stiffness if self.stiffness else 0.0)
        ) / self.distance

    @property
    def rows(self) -> tuple[tuple[float, float], ...]:
        """(force, elongation from the distance of the nodes), ``FAR`` times the length either way; none of a spring."""
        gap = self.length0 - self.distance
        if self.table:
            return tuple((force, x + gap) for force, x in self.table)
        if self.pretension == gap == 0.0 and self.plus == self.minus == 1.0:
            return ()
        zero = gap - self.pretension / self.stiffness if self.stiffness else gap
        reach = FAR * (self.length0 + abs(zero))
        low, high = -self.minus * self.stiffness * reach, self.plus * self.stiffness * reach
        between = () if self.plus == self.minus else ((0.0, zero),)
        return ((low, zero - reach), *between, (high, zero + reach))


class PiecewiseSeries(NamedTuple):
    """Values over total time, linear between the points."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def is_constant(self) -> bool:
        return len(set(self.values)) == 1

    @property
    def scaled(self) -> tuple[PiecewiseSeries, float]:
        """The series with a largest value of 1, and its factor."""
        scale = max(self.values, key=abs) or 1.0
        return PiecewiseSeries(self.times, tuple(round(value / scale, 14) for value in self.values)), scale


class Stage(NamedTuple):
    """A step: its loads (without those of water) and its held dofs over total time, with
    their rates and accelerations; rows after ``every`` increments."""

    name: str
    dynamic: Dynamic | None
    start: float
    period: float
    dt: float
    loads: dict[int, PiecewiseSeries]
    held: dict[int, PiecewiseSeries]
    rates: dict[int, PiecewiseSeries]
    accelerations: dict[int, PiecewiseSeries]
    environment: Environment
    every: int
    tolerance: float

    @property
    def times(self) -> Floats:
        """(k + 1,) where its increments begin and end; the last one is shorter where dt does not divide the period."""
        return times_of(self.start, self.period, self.dt)

    @property
    def increments(self) -> int:
        return len(self.times) - 1

    @property
    def end(self) -> float:
        return self.start + self.period


def times_of(start: float, period: float, dt: float) -> Floats:
    """As ``Stage.times``."""
    count = max(1, math.ceil(period / dt - SHARP))
    return np.append(start + dt * np.arange(count), start + period)


def radius_of(dynamic: Dynamic) -> float:
    """Spectral radius of a scheme at high frequencies: 1 without damping, 0 with full damping in one increment."""
    known = {"GENERALIZED ALPHA": dynamic.rho, "BACKWARD EULER": 0.0}
    known["HHT"] = (1.0 + dynamic.alpha) / (1.0 - dynamic.alpha)
    return known.get(dynamic.integrator, 1.0)


def hht_at(radius: float) -> float:
    """ALPHA of HHT with that radius, down to -1/3."""
    return max(-1.0 / 3.0, (radius - 1.0) / (radius + 1.0))


def hht_of(dynamic: Dynamic, writing: Writing) -> float:
    """ALPHA of HHT in place of a scheme, noted where the deck has another one."""
    alpha = hht_at(radius_of(dynamic))
    if dynamic.integrator not in ("NEWMARK", "HHT"):
        writing.note(f"scheme: {dynamic.integrator} in the deck, HHT with ALPHA={alpha:.4g} here")
    elif dynamic.integrator == "NEWMARK" and (dynamic.beta, dynamic.gamma) != (0.25, 0.5):
        writing.note("scheme: the deck's BETA and GAMMA are not those of ALPHA=0, the trapezoidal rule")
    return alpha


@frozen
class Twin:
    """fixed (n, 3): dofs that never move;  u, v (3n,): initial;  mass (n,);  nodes, elements: labels that are printed.
    free (n,): nodes that are not held in all directions"""

    model: Model
    system: System
    members: tuple[Member, ...]
    stages: tuple[Stage, ...]
    fixed: Flags
    mass: Floats
    u: Floats
    v: Floats
    nodes: tuple[int, ...]
    elements: tuple[int, ...]

    @property
    def free(self) -> Flags:
        return np.asarray(~self.fixed.all(axis=1))

    def label(self, node: int) -> int:
        """Of a node index."""
        return int(self.model.mesh.node_labels[node])

    def ends(self, member: Member) -> tuple[int, int]:
        """Labels of its nodes."""
        return self.label(member.first), self.label(member.last)

    def moved(self, stage: Stage) -> dict[int, PiecewiseSeries]:
        """Held dofs of a step that are not fixed."""
        return {dof: series for dof, series in stage.held.items() if not self.fixed[divmod(dof, 3)]}

    def initial(self, values: Floats) -> list[tuple[int, int, float]]:
        """Node, dof and value of all non-zero initial values."""
        return [(self.label(dof // 3), dof % 3 + 1, float(values[dof])) for dof in values.nonzero()[0].tolist()]

    def mass_beside(self, share: float, *, of_off: bool) -> dict[int, float]:
        """Masses of free nodes without a share at both ends of the bars whose mass is (not) off the diagonal, too."""
        mass = self.mass.copy()
        for each in self.members:
            if bool(each.off) == of_off:
                mass[[each.first, each.last]] -= share * each.mass
        some = self.free & (mass > 1e-12 * self.mass.max(initial=0.0))
        return {node: float(mass[node]) for node in some.nonzero()[0].tolist()}


def twin_of(writing: Writing, keeps_off: bool = False) -> Twin:
    """The twin of a model. keeps_off: the code has off-diagonal masses of bars between free nodes.
    DeckError: features that a twin cannot have; differences are noted."""
    writing.close()
    model = writing.model
    elastic = {name: replace(one, plastic=None) for name, one in model.materials.items()}
    system = assemble(replace(model, materials=elastic))  # members that yield have their elastic stiffness here
    u, v = np.zeros((2, system.size))
    for each in model.initial_conditions:
        if each.kind in ("DISPLACEMENT", "VELOCITY"):
            (u if each.kind == "DISPLACEMENT" else v)[3 * system.nodes_of(each.target) + each.dof - 1] = each.value
    stages = stages_of(writing, system, u.copy(), v.copy())
    writing.close()
    still = [{dof for dof, series in stage.held.items() if not any(series.values)} for stage in stages]
    fixed = np.isin(np.arange(system.size), list(set.intersection(*still))).reshape(-1, 3)
    twin = Twin(model, system, members_of(system), stages, fixed, system.mass, u, v, *printed(model))
    coupled = [m for m in twin.members if m.off and twin.free[m.first] and twin.free[m.last]]
    if coupled and not keeps_off:
        message = f"the mass of element {coupled[0].label} couples two free nodes: {writing.code} has masses at nodes"
        writing.refuse("SOLID SECTION", "CONSISTENT|ONE POINT", message, "use MASS=LUMPED")
    for name in sorted({section.strain for section in model.sections} & DIFFERENCES.keys()):
        times = f"{abs(DIFFERENCES[name])} times the strain"
        writing.note(f"strain: {name} in the deck, elongation over length here; forces differ by {times}")
    if any(each.damping and each.plus != each.minus for each in twin.members):
        writing.note("BETA damps slack cables, too; ours are damped while they are taut")
    writing.close()
    return twin


def members_of(system: System) -> tuple[Member, ...]:
    """All axial elements, in the order of the deck."""
    mesh, bars = system.model.mesh, system.bars
    apart, found = distances(mesh), []
    kinds = [block.kind for block in mesh.blocks for _ in block.labels]
    for element, label in enumerate(mesh.element_labels.tolist()):
        if kinds[element] not in AXIAL:
            continue
        b, (i, j) = int(system.bar_index[element]), system.element_nodes[element]
        area, young, viscous, stress, inverse, plus, minus = bars.constants[NUMBERS, b].tolist()
        table: tuple[tuple[float, float], ...] = ()
        if bars.kinds[b, 1] == TABLE:
            first, count = bars.constants[bar.OF_LAW : bar.OF_LAW + 2, b].astype(int)
            table = tuple((force, x) for x, force, _ in np.asarray(bars.table)[first : first + count].tolist())
        scale, off = area * inverse, float(bars.off_mass[b]) if len(bars.off_mass) else 0.0
        found.append(Member(
            label, kinds[element], int(i), int(j), float(apart[element]), 1.0 / inverse,
            scale * young, area * stress, plus, minus, scale * viscous, float(system.element_mass[element]),
            off, area, table,
        ))  # fmt: skip
    return tuple(found)


def stages_of(writing: Writing, system: System, u: Floats, v: Floats) -> tuple[Stage, ...]:
    """Steps, whose supports must be known without a run; u, v (3n,) become NaN where they are not."""
    model = writing.model
    environment, start, found = first_environment(system, u), 0.0, list[Stage]()
    for number, step in enumerate(model.steps):
        procedure, dynamic = step.timed, step.dynamic
        span, before = Span(start, start + procedure.period, step.ramps), environment.supports
        environment = next_environment(system, environment, step, span, u, v, np.zeros(system.size))
        supports = environment.supports
        (dofs,) = np.nonzero(supports.group[: system.size] != FREE)
        is_unknown = np.isnan([supports.base[dofs], supports.value[dofs], supports.rate[dofs]]).any()
        if is_unknown or (span.ramps and (before.supported & ~supports.supported).any()):
            message = "what a support that begins or ends in this step has to do is known after a run only"
            writing.refuse("BOUNDARY", "", message, "support the node in all steps, or release it in a *DYNAMIC step")
            return ()
        dt = min(procedure.dt, procedure.period)
        if not procedure.direct and (dynamic or model.yields):
            writing.note(f"increments: automatic in the deck, equal here, dt = {dt:g}")
        if procedure.period > MOST_POINTS * dt and (step.boundaries or step.nodal_loads or step.distributed_loads):
            count = len(times_of(start, procedure.period, dt)) - 1
            writing.note(f"curves: {MOST_POINTS} points, straight between them, in a step of {count} increments")
        grid = times_of(start, procedure.period, max(dt, procedure.period / MOST_POINTS))
        motion = np.stack(supports.motion(dofs, grid))
        motion[:, :1] = supports.motion(dofs, grid[:1], after=True)
        held, rates, accelerations = (series_of(dofs, grid, each) for each in motion)
        requests = outputs_in_force(model.steps, number)
        found.append(Stage(
            step.name or f"step {number + 1}", dynamic, start, procedure.period, dt,
            load_series(load_set(system, replace(environment, flows=())), grid),
            held, rates, accelerations, environment,
            min((each.every for each in requests if each.kind == "NODE PRINT" and each.every), default=1),
            step.controls.residual_relative or 1e-8,
        ))  # fmt: skip
        u, v = np.full((2, system.size), np.nan)
        u[dofs], v[dofs] = (each[0] for each in supports.motion(dofs, np.array([span.end]))[:2])
        start = span.end
    return tuple(found)


def series_of(dofs: Ints, times: Floats, values: Floats) -> dict[int, PiecewiseSeries]:
    """Series of values (k, c) of dofs (c,); two points for constant values."""
    short, whole = (float(times[0]), float(times[-1])), tuple(times.tolist())
    return {
        dof: PiecewiseSeries(short, (column[0], column[0]))
        if len(set(column)) == 1
        else PiecewiseSeries(whole, tuple(column))
        for dof, column in zip(dofs.tolist(), values.T.tolist(), strict=True)
    }


def points_of(curve: Curve, grid: Floats) -> Floats:
    """Instants between which a curve is linear: its own points, or the increments."""
    own = np.zeros(0)
    if isinstance(curve, Ramp):
        own = np.array([curve.start, curve.end])
    elif isinstance(curve, Follow) and curve.amplitude.definition == "TABULAR":
        own = curve.amplitude.points[:, 0] + curve.origin
    elif not isinstance(curve, Constant):
        return grid
    return np.concatenate([grid[[0, -1]], own[(own > grid[0]) & (own < grid[-1])]])


def load_series(loads: LoadSet, grid: Floats) -> dict[int, PiecewiseSeries]:
    """Forces by dof, one curve each: CalculiX allows one load at a dof."""
    dofs = np.flatnonzero(np.any(loads.vectors, axis=0))
    groups: dict[tuple[int, ...], list[int]] = {}
    for dof in dofs.tolist():
        groups.setdefault(tuple(np.flatnonzero(loads.vectors[:, dof]).tolist()), []).append(dof)
    found: dict[int, PiecewiseSeries] = {}
    for acting, own in groups.items():
        times = np.unique(np.concatenate([points_of(loads.cases[p].curve, grid) for p in acting]))
        factors = np.stack([evaluate(loads.cases[p].curve, times) for p in acting], axis=1)
        found |= series_of(np.array(own), times, factors @ loads.vectors[np.ix_(acting, own)])
    return found


def printed(model: Model) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Labels of what is compared: the nodes and the axial elements of all print requests.
    Without such nodes: all nodes; without such elements: those beside these nodes, the first ``MOST_BESIDE``."""
    mesh = model.mesh
    nodes, elements = set[int](), set[int]()
    for request in (request for step in model.steps for request in step.outputs if request.every):
        if request.kind == "NODE PRINT":
            nodes |= set(mesh.nodes_of(request.target).tolist() if request.target else range(len(mesh.node_labels)))
        elif request.kind == "EL PRINT":
            its = mesh.elements_of(request.target).tolist() if request.target else range(len(mesh.element_labels))
            elements |= set(its)
    chosen = np.array(sorted(nodes or range(len(mesh.node_labels))))
    axial = np.flatnonzero(mesh.is_of(*AXIAL))
    beside = axial[np.isin(mesh.element_nodes[axial], chosen).any(axis=1)][:MOST_BESIDE]
    members = axial[np.isin(axial, list(elements))] if elements else beside
    return tuple(mesh.node_labels[chosen].tolist()), tuple(mesh.element_labels[members].tolist())
