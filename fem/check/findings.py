"""What looks wrong in a model: each function looks for one kind of mistake and says what it found.

To add one: a function ``(model, bars) -> list[str]`` and a row in ``CHECKS`` below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem.arrays import Floats, Ints
from fem.check.bars import LISTED, Bars, some, stiffest_bar
from fem.model import Dynamic, Frequency, Mesh, Model, Static
from fem.model.curves import Follow, evaluate

LENGTH_RATIO = 1e3
"""Longest over shortest bar: beyond it, two units or a node that should be another are likelier than intent."""
UNRESOLVED_PERIODS = 10.0
"""Increments of so many periods of the stiffest bar leave its vibration unresolved (SDNL100 at T/40: 133)."""
NO_JUMP = 1e-9
"""Displacements that differ by less than this fraction of them are the same."""
LOW_MODULUS = 1e3
HIGH_DENSITY = 1e5
"""Osmium, the densest solid, has 2.26e4 kg/m^3; the softest gels have E of about 1e3 Pa."""
SOFT_STRAIN = 0.1


def loose_nodes(model: Model, bars: Bars) -> list[str]:
    """Nodes of no element and no equation; nodes in one place that nothing joins."""
    used = np.zeros(len(model.mesh.node_labels), bool)
    for a, b in _links(model):
        used[[a, b]] = True
    labels = model.mesh.node_labels
    found = []
    if not used.all():
        found.append(f"nodes attached to nothing: {some(labels[~used])}")
    first: dict[tuple[float, ...], int] = {}
    joined = {frozenset(link) for link in _links(model)}
    twins = []
    for k, place in enumerate(map(tuple, model.mesh.coordinates.tolist())):
        other = first.setdefault(place, k)
        if other != k and frozenset((k, other)) not in joined:
            twins.append(f"{labels[other]} and {labels[k]}")
    if twins:
        found.append(f"nodes in the same place, joined by nothing: {'; '.join(twins[:LISTED])}")
    return found


def _links(model: Model) -> list[tuple[int, int]]:
    """Pairs of node indices that an element, an equation or a link joins (a node with itself: grounded elements)."""
    links = [(int(row[0]), int(row[-1])) for block in model.mesh.blocks for row in block.connectivity]
    for equation in model.equations:
        links += [(equation.terms[0][0], term[0]) for term in equation.terms]
    return links + list(model.links)


def bars_of_odd_length(model: Model, bars: Bars) -> list[str]:
    """Very different lengths, and two bars between the same nodes."""
    found = []
    if bars.labels.size and bars.length0.max() > LENGTH_RATIO * bars.length0.min():
        short, long = int(np.argmin(bars.length0)), int(np.argmax(bars.length0))
        found.append(
            f"bar {bars.labels[long]} is {bars.length0[long] / bars.length0[short]:.3g} times as long as bar "
            f"{bars.labels[short]}: coordinates in two units, or nodes that should be one?"
        )
    seen: dict[frozenset[int], int] = {}
    for label, pair in zip(bars.labels, bars.connectivity.tolist(), strict=True):
        other = seen.setdefault(frozenset(pair), int(label))
        if other != label:
            found.append(f"bars {other} and {label} join the same two nodes")
    return found[:LISTED]


def free_bodies(model: Model, bars: Bars) -> list[str]:
    """Parts that no support and no grounded spring holds."""
    given = (*model.boundaries, *(boundary for step in model.steps for boundary in step.boundaries))
    if not given:
        return ["no supports: no *BOUNDARY anywhere"]
    parent = list(range(len(model.mesh.node_labels)))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    links = _links(model)
    for a, b in links:
        parent[root(a)] = root(b)
    held = {root(int(k)) for boundary in given for k in model.mesh.nodes_of(boundary.target)}
    held |= {root(int(k)) for block in model.mesh.blocks if block.kind == "SPRING1" for k in block.connectivity[:, 0]}
    parts: dict[int, list[int]] = {}
    for k in sorted({node for link in links for node in link}):
        if root(k) not in held:
            parts.setdefault(root(k), []).append(int(model.mesh.node_labels[k]))
    return [f"a free body, held by no support: nodes {some(part)}" for part in parts.values()][:LISTED]


def nothing_acts(model: Model, bars: Bars) -> list[str]:
    """Steps without anything that could move the model."""
    if not model.steps:
        return ["no *STEP: nothing will be solved"]
    if all(isinstance(step.procedure, Frequency) for step in model.steps) or model.initial_conditions:
        return []
    for step in model.steps:
        moved = any(boundary.value or boundary.amplitude for boundary in step.boundaries)
        if step.nodal_loads or step.distributed_loads or step.temperatures or moved:
            return []
    return ["no loads: no *CLOAD, *DLOAD, *TEMPERATURE, moving support or initial condition"]


def increments(model: Model, bars: Bars) -> list[str]:
    """Increments against the stiffest bar, the snap time and the step."""
    found, stiffest = [], stiffest_bar(bars)
    slack = np.flatnonzero(bars.can_go_slack & (bars.snap_time > 0))
    bounce = bounce_time(model, bars)
    light = np.flatnonzero(bars.can_go_slack & (bars.snap_time == 0) & (bounce > 0))
    for number, step in enumerate(model.steps, start=1):
        procedure, where = step.procedure, f"step {number}"
        if not isinstance(procedure, Frequency) and procedure.dt > procedure.period:
            found.append(f"{where}: the first increment {procedure.dt:g} is longer than the step {procedure.period:g}")
        found += [f"{where}: {text}" for text in [model.coarse_swing(procedure)] if text]
        if not isinstance(procedure, Dynamic):
            continue
        if light.size and procedure.dt > bounce[light].min():
            shortest = int(light[bounce[light].argmin()])
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than masses need to bounce on bar {bars.labels[shortest]} "
                f"when it becomes taut ({bounce[shortest]:.3g}): the snap is not resolved"
            )
        if stiffest is None:
            continue
        shortest, label = bars.period[stiffest], bars.labels[stiffest]
        if procedure.integrator == "NEWMARK" and procedure.dt > UNRESOLVED_PERIODS * shortest:
            found.append(
                f"{where}: dt = {procedure.dt:g} is {procedure.dt / shortest:.3g} periods of bar {label}; the "
                "trapezoidal rule then lets bar forces alternate and, in large motion, energy drift: watch "
                "energy_error, or use TIME INTEGRATOR=ENERGY MOMENTUM"
            )
        if slack.size and procedure.dt > bars.snap_time[slack].min():
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than L0/(2c) = {bars.snap_time[slack].min():.3g} of a line "
                "that can go slack: tension peaks when it becomes taut are overstated by 2-15 %"
            )
    return found


def bounce_time(model: Model, bars: Bars) -> Floats:
    """(m,) pi/omega of each bar, without mass of its own, against the point masses at its free ends."""
    mass = np.zeros(len(model.mesh.node_labels))
    for point in model.masses:
        np.add.at(mass, nodes_of_elements(model.mesh, model.mesh.elements_of(point.element_set)), point.mass)
    with np.errstate(divide="ignore", invalid="ignore"):
        compliance = np.where((model.reach() > 0.0) & (mass > 0.0), 1.0 / mass, 0.0)
        stiffness = bars.young * bars.area / bars.length0
        return np.asarray(np.pi / np.sqrt(stiffness * compliance[bars.connectivity].sum(axis=1)))


def jumps(model: Model, bars: Bars) -> list[str]:
    """Prescribed displacements that jump where a dynamic step begins."""
    mesh, found, begin = model.mesh, [], 0.0
    place = np.zeros((len(mesh.node_labels), 3))
    for number, step in enumerate(model.steps, start=1):
        period = 0.0 if isinstance(step.procedure, Frequency) else step.procedure.period
        for given in step.boundaries:
            if given.kind != "DISPLACEMENT":
                continue
            first = last = given.value
            if given.amplitude is not None:
                amplitude = model.amplitudes[given.amplitude]
                curve = Follow(amplitude, begin if amplitude.time == "STEP TIME" else 0.0)
                first, last = given.value * evaluate(curve, np.array([begin, begin + period]))
            nodes, axis = mesh.nodes_of(given.target), given.dof - 1
            off = nodes[np.abs(first - place[nodes, axis]) > NO_JUMP * (abs(first) + np.abs(place[nodes, axis]))]
            if off.size and isinstance(step.procedure, Dynamic):
                found.append(
                    f"step {number}: the prescribed displacement of nodes {some(mesh.node_labels[off])} in direction "
                    f"{given.dof} jumps to {first:g} at the start of the step: give it an AMPLITUDE, or is it meant?"
                )
            place[nodes, axis] = last
        begin += period
    return found


def geometry(model: Model, bars: Bars) -> list[str]:
    """Steps without NLGEOM."""
    linear = [number for number, step in enumerate(model.steps, start=1) if not step.nlgeom]
    if not linear or not bars.labels.size:
        return []
    return [f"geometrically linear (no NLGEOM): step {some(linear)}; cables usually need NLGEOM"]


def floating_across(model: Model, bars: Bars) -> list[str]:
    """Straight, unstressed, unsupported across: a first static step finds no stiffness there."""
    slack_ok = not model.steps or not isinstance(model.steps[0].procedure, Static)
    stressed = any(condition.kind == "STRESS" for condition in model.initial_conditions)
    if slack_ok or stressed or any(section.starting_tension > 0 for section in model.sections):
        return []
    n = len(model.mesh.node_labels)
    stiffness, touched = np.zeros((n, 3, 3)), np.zeros(n, bool)
    d = model.mesh.coordinates[bars.connectivity[:, 1]] - model.mesh.coordinates[bars.connectivity[:, 0]]
    direction = d / np.maximum(bars.length0, np.finfo(float).tiny)[:, None]
    for end in (0, 1):
        np.add.at(stiffness, bars.connectivity[:, end], direction[:, :, None] * direction[:, None, :])
        touched[bars.connectivity[:, end]] = True
    for block in model.mesh.blocks:
        flat = block.kind == "T2D2"
        spring = block.kind.startswith("SPRING")
        stiffness[np.unique(block.connectivity)] += np.diag([spring, spring, spring or flat]).astype(float)
    for boundary in (*model.boundaries, *model.steps[0].boundaries):
        stiffness[model.mesh.nodes_of(boundary.target), boundary.dof - 1, boundary.dof - 1] += 1.0
    values, vectors = np.linalg.eigh(stiffness)
    pull = np.abs(np.einsum("ni,nik->nk", first_loads(model), vectors))
    loose = touched & ((values < 1e-9) & (pull > 1e-12 * np.abs(pull).max(initial=0.0))).any(axis=1)
    if not loose.any():
        return []
    return [
        f"nodes {some(model.mesh.node_labels[loose])}: loaded where nothing holds them, across their bars, in the "
        "first static step; give an initial stress or *SOLID SECTION, STARTING TENSION="
    ]


def first_loads(model: Model) -> Floats:
    """(n, 3) directions in which nodes are loaded in the first step; sizes only as given, weights unscaled."""
    mesh, step = model.mesh, model.steps[0]
    loads = np.zeros((len(mesh.node_labels), 3))
    for load in step.nodal_loads:
        loads[mesh.nodes_of(load.target), load.dof - 1] += abs(load.value)
    for spread in step.distributed_loads:
        direction = np.array(spread.direction) if spread.kind == "GRAV" else np.eye(3)["XYZ".index(spread.kind[1])]
        elements = np.arange(len(mesh.element_labels)) if spread.target is None else mesh.elements_of(spread.target)
        loads[nodes_of_elements(mesh, elements)] += spread.value * direction
    return loads


def nodes_of_elements(mesh: Mesh, elements: Ints) -> Ints:
    """Indices of all nodes that the elements of given indices touch."""
    touched, start = [np.zeros(0, np.int64)], 0
    for block in mesh.blocks:
        inside = elements[(elements >= start) & (elements < start + len(block.labels))] - start
        touched.append(block.connectivity[inside].ravel())
        start += len(block.labels)
    return np.unique(np.concatenate(touched))


def massless_nodes(model: Model, bars: Bars) -> list[str]:
    """Free nodes without mass: the accelerations a dynamic step starts from cannot be found."""
    dynamic = [step.procedure for step in model.steps if isinstance(step.procedure, Dynamic)]
    if not any(procedure.initial_acceleration and procedure.singular_mass == "ERROR" for procedure in dynamic):
        return []
    mesh = model.mesh
    massless, held = np.zeros(len(mesh.node_labels), bool), np.zeros((len(mesh.node_labels), 3), bool)
    massless[nodes_of_elements(mesh, np.arange(len(mesh.element_labels)))] = True
    massless[bars.connectivity[bars.mass > 0.0].ravel()] = False
    for point in model.masses:
        if point.mass > 0.0:
            massless[nodes_of_elements(mesh, mesh.element_sets[point.element_set])] = False
    for boundary in (*model.boundaries, *(entry for step in model.steps for entry in step.boundaries)):
        held[mesh.nodes_of(boundary.target), boundary.dof - 1] = True
    massless &= ~held.all(axis=1)
    if model.equations or not massless.any():
        return []
    return [
        f"nodes {some(mesh.node_labels[massless])}: no mass, so a *DYNAMIC step cannot find its initial accelerations; "
        "give *DENSITY or *MASS, or say SINGULAR MASS=WARNING"
    ]


def units(model: Model, bars: Bars) -> list[str]:
    """Numbers that are rare in consistent units, and bars too soft for the weight."""
    found = []
    for material in model.materials.values():
        if material.young is not None and 0 < material.young < LOW_MODULUS:
            found.append(
                f"material {material.name}: E = {material.young:g} is low for Pa: given in GPa or MPa by mistake?"
            )
        if material.density > HIGH_DENSITY:
            found.append(f"material {material.name}: density {material.density:g} is above that of any solid in kg/m^3")
    unused = set(model.materials) - {section.material for section in model.sections}
    found += [f"material {name} is used by no section" for name in sorted(unused)]
    gravity = [load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    if gravity and bars.labels.size:
        weight = max(abs(g) for g in gravity) * float(bars.mass.sum())
        strain = weight / (bars.young * bars.area)
        weak = np.flatnonzero(strain > SOFT_STRAIN)
        if weak.size:
            found.append(
                f"bars {some(bars.labels[weak])}: the weight of all bars would stretch one by "
                f"{100 * np.nanmax(strain):.3g} %: E, area, density and gravity in the same units?"
            )
    return found


CHECKS: tuple[Callable[[Model, Bars], list[str]], ...] = (
    loose_nodes, bars_of_odd_length, free_bodies, nothing_acts, floating_across, massless_nodes, increments, jumps,
    geometry, units,
)  # fmt: skip
