"""What looks wrong in a model: each function looks for one kind of mistake and says what it found.

To add one: a function ``(model, bars) -> list[str]`` and a row in ``CHECKS`` below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem.arrays import Ints, distinct, first_least
from fem.checking.bars import LISTED, Bars, collect_ropes, first_to_snap, snap_text, some, stiffest_bar
from fem.model import Boundary, Dynamic, Frequency, Model, Perturbation, Static, notices
from fem.model.curves import Follow, evaluate
from fem.model.mesh import BARS

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
    labels, links = model.mesh.node_names, _links(model)
    used = np.isin(np.arange(len(labels)), links)
    found = [] if used.all() else [f"nodes without elements: {some(labels[~used])}"]
    first: dict[tuple[float, ...], int] = {}
    joined = {frozenset(link) for link in links}
    twins = []
    for k, place in enumerate(map(tuple, model.mesh.coordinates.tolist())):
        other = first.setdefault(place, k)
        if other != k and frozenset((k, other)) not in joined:
            twins.append(f"{labels[other]} and {labels[k]}")
    if twins:
        found.append(f"nodes at the same point, not connected: {'; '.join(twins[:LISTED])}")
    return found


def _links(model: Model) -> list[tuple[int, int]]:
    """Pairs of node indices that an element, an equation or a link joins (a node with itself: grounded elements)."""
    links = [(first, second) for first, second in model.mesh.legs[0].tolist()]
    for equation in model.equations:
        links += [(equation.terms[0][0], term[0]) for term in equation.terms]
    for body in model.bodies:
        (node,) = model.mesh.nodes_of(body.node)
        links += [(int(node), pinned) for pinned in model.mesh.nodes_of(body.pinned).tolist()]
    for plane in model.planes:
        links += [(first, second) for first, second in plane.pairs(model.mesh).tolist()]
    return links + list(model.links)


def bars_of_odd_length(model: Model, bars: Bars) -> list[str]:
    """Very different lengths, and two bars of one section between the same nodes: of two, they are parts of a cable."""
    found: list[str] = []
    if bars.labels.size and bars.length0.max() > LENGTH_RATIO * bars.length0.min():
        short, long = first_least(bars.length0), first_least(-bars.length0)
        found.append(
            f"bar {bars.labels[long]} is {bars.length0[long] / bars.length0[short]:.3g} times as long as bar "
            f"{bars.labels[short]}: mixed units, or two nodes that should be one?"
        )
    section = np.zeros(len(model.mesh.element_labels), np.int64)
    for number, each in enumerate(model.sections):
        section[model.mesh.element_sets[each.element_set]] = number
    seen: dict[tuple[frozenset[int], int], int] = {}
    for label, pair, own in zip(bars.labels, bars.connectivity.tolist(), section[bars.elements].tolist(), strict=True):
        other = seen.setdefault((frozenset(pair), own), label)
        if other != label:
            found.append(f"bars {other} and {label}, of the same section, connect the same two nodes")
    return found[:LISTED]


def free_bodies(model: Model, bars: Bars) -> list[str]:
    """Parts that no support and no grounded spring holds."""
    given = supports(model)
    if not given and not model.bodies and not model.free_bodies:
        return ["no supports: no *BOUNDARY anywhere"]
    mesh, links = model.mesh, _links(model)
    part = _parts(len(mesh.node_labels), links)
    held = [model.pinned, *(mesh.nodes_of(boundary.target) for boundary in given)]
    held.append(mesh.element_nodes[mesh.is_of("SPRING1"), 0])
    held += [mesh.nodes_of(body.node) for body in model.free_bodies]
    linked = distinct(np.array(links, np.int64).ravel())
    free = linked[~np.isin(part[linked], part[np.concatenate(held)])]
    parts = [mesh.node_names[free[part[free] == number]] for number in dict.fromkeys(part[free].tolist())]
    return [f"a free body without supports: nodes {some(labels)}" for labels in parts][:LISTED]


def _parts(count: int, links: list[tuple[int, int]]) -> Ints:
    """(count,) one node of the part that each node belongs to; to import scipy for it takes longer than most checks."""
    above = list(range(count))

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    for first, second in links:
        above[top(first)] = top(second)
    return np.array([top(node) for node in range(count)], np.int64)


def supports(model: Model) -> list[Boundary]:
    """Those of the model and of all steps."""
    return [*model.boundaries, *(boundary for step in model.steps for boundary in step.boundaries)]


def nothing_acts(model: Model, bars: Bars) -> list[str]:
    """Steps without anything that could move the model."""
    if not model.steps:
        return ["no *STEP: nothing will be solved"]
    is_strained = model.initial_conditions or model.rest_lengths
    if is_strained or all(isinstance(step.procedure, Frequency) for step in model.steps):
        return []
    for step in model.steps:
        moving = [each for each in (*step.boundaries, *step.rotations) if each.value or each.amplitude]
        turning = [winch for winch in step.winches if winch.value or winch.is_tension]
        loads = step.nodal_loads or step.distributed_loads or step.fluid_loads or step.temperatures
        if loads or moving or turning:
            return []
    return ["no loads: no *CLOAD, *DLOAD, *TEMPERATURE, *WINCH, moving support or initial condition"]


def increments(model: Model, bars: Bars) -> list[str]:
    """Increments against the stiffest bar, the snap time and the step."""
    found, stiffest, snapping = [], stiffest_bar(bars), first_to_snap(bars)
    light = np.flatnonzero(bars.can_go_slack & (bars.snap_time == 0) & np.isfinite(bars.rebound))
    for number, step in enumerate(model.steps, start=1):
        procedure, where = step.procedure, f"step {number}"
        if not isinstance(procedure, Perturbation) and procedure.dt > procedure.period:
            found.append(f"{where}: the first increment {procedure.dt:g} is longer than the step {procedure.period:g}")
        found += [f"{where}: {text}" for text in [notices.coarse_swing(model, procedure)] if text]
        if not isinstance(procedure, Dynamic):
            continue
        if light.size and procedure.dt > bars.rebound[light].min():
            shortest = int(light[bars.rebound[light].argmin()])
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than the masses need to rebound on bar "
                f"{bars.labels[shortest]} when it becomes taut ({bars.rebound[shortest]:.3g}): the snap is not resolved"
            )
        periods = 0.0 if stiffest is None else procedure.dt / float(bars.period[stiffest])
        if procedure.integrator == "NEWMARK" and periods > UNRESOLVED_PERIODS:
            found.append(
                f"{where}: dt = {procedure.dt:g} is {periods:.3g} periods of bar {bars.labels[stiffest]}; the "
                "trapezoidal rule may then make bar forces alternate in sign and energy drift in large motion: watch "
                "energy_error, or use TIME INTEGRATOR=ENERGY MOMENTUM"
            )
        is_followed = notices.follows_snaps(procedure, step.controls)
        times = 0.0 if snapping is None else procedure.dt / float(bars.snap_time[snapping])
        if snapping is not None and not is_followed and times > 1.0:
            found.append(
                f"{where}: dt = {procedure.dt:g} is longer than {snap_text(bars, snapping)} of a line that can go "
                f"slack: peaks of tension when it snaps taut {notices.expected_peaks(procedure, 0.5 * times)}; "
                f"{notices.FOLLOW}"
            )
    return found


def jumps(model: Model, bars: Bars) -> list[str]:
    """Prescribed displacements that jump where a dynamic step begins."""
    mesh, found, begin = model.mesh, [], 0.0
    place = np.zeros((len(mesh.node_labels), 3))
    for number, step in enumerate(model.steps, start=1):
        period = step.procedure.period
        for given in () if isinstance(step.procedure, Perturbation) else step.boundaries:
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
                    f"step {number}: the prescribed displacement of nodes {some(mesh.node_names[off])} in direction "
                    f"{given.dof} jumps to {first:g} at the start of the step: give it an AMPLITUDE, unless that is "
                    "intended"
                )
            place[nodes, axis] = last
        begin += period
    return found


def winch_jumps(model: Model, bars: Bars) -> list[str]:
    """Winches that begin a step elsewhere than where they stand."""
    told = ((number, notices.told_of_jump(model, model.steps[number - 1], *at)) for number, *at in notices.jumps(model))
    return [f"step {number}: {text}" for number, text in told if text]


def geometry(model: Model, bars: Bars) -> list[str]:
    linear = [number for number, step in enumerate(model.steps, start=1) if not step.nlgeom]
    if not linear or not (bars.labels.size or model.mesh.has_pulleys):
        return []
    return [f"geometrically linear (no NLGEOM): step {some(linear)}; cables usually need NLGEOM"]


def floating_across(model: Model, bars: Bars) -> list[str]:
    """Straight, unstressed, unsupported across: a first static step finds no stiffness there."""
    slack_ok = not model.steps or not isinstance(model.steps[0].procedure, Static) or model.steps[0].fluid_loads
    stressed = model.rest_lengths or any(condition.kind == "STRESS" for condition in model.initial_conditions)
    if slack_ok or stressed or any(section.starting_tension > 0 for section in model.sections):
        return []
    n, (legs, owner) = len(model.mesh.node_labels), model.mesh.legs
    stiffness, touched = np.zeros((n, 3, 3)), np.zeros(n, bool)
    ends = legs[np.isin(owner, [*bars.elements, *collect_ropes(model).elements])]
    d = model.mesh.coordinates[ends[:, 1]] - model.mesh.coordinates[ends[:, 0]]
    direction = d / np.maximum(np.linalg.norm(d, axis=1), np.finfo(float).tiny)[:, None]
    for end in (0, 1):
        np.add.at(stiffness, ends[:, end], direction[:, :, None] * direction[:, None, :])
        touched[ends[:, end]] = True
    for block in model.mesh.blocks:
        flat = block.kind == "T2D2"
        spring = block.kind.startswith("SPRING")
        stiffness[np.unique(block.connectivity)] += np.diag([spring, spring, spring or flat]).astype(float)
    for boundary in (*model.boundaries, *model.steps[0].boundaries):
        stiffness[model.mesh.nodes_of(boundary.target), boundary.dof - 1, boundary.dof - 1] += 1.0
    stiffness[model.pinned] += np.eye(3)
    values, vectors = np.linalg.eigh(stiffness)
    mesh, step = model.mesh, model.steps[0]
    loads = np.zeros((len(mesh.node_labels), 3))
    for load in step.nodal_loads:
        loads[mesh.nodes_of(load.target), load.dof - 1] += abs(load.value)
    for spread in step.distributed_loads:
        direction = np.array(spread.direction) if spread.kind == "GRAV" else np.eye(3)["XYZ".index(spread.kind[1])]
        elements = np.arange(len(mesh.element_labels)) if spread.target is None else mesh.elements_of(spread.target)
        legs, owner = mesh.legs
        loads[np.unique(legs[np.isin(owner, elements)])] += spread.value * direction
    pull = np.abs(np.einsum("ni,nik->nk", loads, vectors))
    unheld = touched & ((values < 1e-9) & (pull > 1e-12 * np.abs(pull).max(initial=0.0))).any(axis=1)
    if not unheld.any():
        return []
    return [
        f"nodes {some(model.mesh.node_names[unheld])}: loaded perpendicular to their bars, where nothing resists, in "
        "the first static step; give an initial stress or *SOLID SECTION, STARTING TENSION="
    ]


def massless_nodes(model: Model, bars: Bars) -> list[str]:
    """Free nodes without mass: the accelerations a dynamic step starts from cannot be found."""
    dynamic = [step.procedure for step in model.steps if isinstance(step.procedure, Dynamic)]
    if not any(procedure.initial_acceleration and procedure.singular_mass == "ERROR" for procedure in dynamic):
        return []
    mesh = model.mesh
    n = len(mesh.node_labels)
    massless, held = np.zeros(n, bool), np.zeros((n, 3), bool)
    (legs, owner), ropes = mesh.legs, collect_ropes(model)
    massless[legs] = True
    massless[bars.connectivity[bars.mass > 0.0].ravel()] = False
    massless[legs[np.isin(owner, ropes.elements[ropes.mass > 0.0])]] = False
    for point in model.masses:
        if point.mass > 0.0:
            massless[mesh.element_nodes[mesh.element_sets[point.element_set]]] = False
    for boundary in supports(model):
        held[mesh.nodes_of(boundary.target), boundary.dof - 1] = True
    held[model.pinned] = True
    massless &= ~held.all(axis=1)
    if model.equations or not massless.any():
        return []
    return [
        f"nodes {some(mesh.node_names[massless])}: no mass, so a *DYNAMIC step cannot find its initial accelerations; "
        "give *DENSITY or *MASS, or use SINGULAR MASS=WARNING"
    ]


def units(model: Model, bars: Bars) -> list[str]:
    """Numbers that are rare in consistent units, and bars too soft for the weight."""
    found = []
    unit_area = {section.material for section in model.sections if section.area == 1.0}
    for material in model.materials.values():
        is_axial = material.name in unit_area  # E A is given as E
        if material.young is not None and 0 < material.young < LOW_MODULUS and not is_axial:
            low = f"E = {material.young:g} is low for Pa: given in GPa or MPa by mistake?"
            found.append(f"material {material.name}: {low}")
        if material.density > HIGH_DENSITY:
            found.append(f"material {material.name}: density {material.density:g} is above that of any solid in kg/m^3")
    unused = set(model.materials) - {section.material for section in model.sections}
    found += [f"material {name} is used by no section" for name in sorted(unused)]
    gravity = [load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    if gravity and bars.labels.size:
        weight = max(abs(g) for g in gravity) * float(bars.mass.sum())
        strain = weight / (bars.young * bars.area)
        weak = np.flatnonzero((strain > SOFT_STRAIN) & ~np.isin(bars.elements, model.members))
        if weak.size:
            found.append(
                f"bars {some(bars.labels[weak])}: the weight of all bars would stretch one of them by "
                f"{100 * np.nanmax(strain):.3g} %: are E, area, density and gravity in consistent units?"
            )
    return found


CALM = 0.4
"""RHO above which chains that land and snap ring: with 0.8, largest forces of one line came out 48 % too high."""


def ringing(model: Model, bars: Bars) -> list[str]:
    """Lines that can go slack in water or land on the bottom, and integrators that let them ring."""
    snapping = first_to_snap(bars)
    damped = any(material.beta for material in model.materials.values())
    if snapping is None or damped or not (model.water or model.seabeds):
        return []
    found = []
    for number, step in enumerate(model.steps, start=1):
        own = step.procedure
        rings = isinstance(own, Dynamic) and {"NEWMARK": True, "GENERALIZED ALPHA": own.rho > CALM}.get(own.integrator)
        if rings:
            found.append(
                f"step {number}: lines that snap taut or touch down vibrate axially, and nothing damps that: TIME "
                f"INTEGRATOR=GENERALIZED ALPHA, RHO=0.4 (or BETA of *DAMPING) and dt <= {snap_text(bars, snapping)} "
                "keep peaks of tension accurate"
            )
    return found


PART_OF_LINE = 0.05
"""Fraction of a line between two supports above which a straight branch is reported."""
STRAIGHT = (
    "element {0} over node {1}: its branch to node {2} is a straight line of length {3:.4g} (the whole line: {4:.4g}), "
    "with half of its weight at each end: it does not sag, and the pulley transmits the tension at its middle, up to "
    "{5:.4g} less than that at the pulley; move node {2} closer to the pulley and add bars beyond it"
)


def straight_branches(model: Model, bars: Bars) -> list[str]:
    """Branches that are long parts of a line, and heavy: half of their weight is missing in what passes over."""
    if not model.mesh.has_pulleys:
        return []
    ropes = collect_ropes(model)
    loads = [load for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    gravity = max((abs(load.value) for load in loads), default=0.0)
    mesh, found = model.mesh, []
    for rope in np.flatnonzero(ropes.mass * gravity > 0.0).tolist():
        element, weight = ropes.elements[rope], gravity * ropes.mass[rope] / ropes.length0[rope]
        for end, branch in zip(mesh.element_nodes[element].tolist(), ropes.branches[rope].tolist(), strict=True):
            line = branch + _line_beyond(model, end)
            if branch > PART_OF_LINE * line:
                names = mesh.element_names[element], mesh.node_names[ropes.pulleys[rope]], mesh.node_names[end]
                found.append(STRAIGHT.format(*names, branch, line, 0.5 * weight * branch))
    return found


def _line_beyond(model: Model, node: int) -> float:
    """Length of the bars that follow a node one by one, up to where they end, meet others, or are held."""
    mesh, length, before, held = model.mesh, 0.0, -1, notices.held_nodes(model)
    legs, owners = mesh.legs
    is_bar, pairs = mesh.is_of(*BARS)[owners], legs[legs[:, 0] != legs[:, 1]]
    beside: dict[int, list[int]] = {}
    for first, second in pairs.tolist():
        beside.setdefault(first, []).append(second)
        beside.setdefault(second, []).append(first)
    bars = {frozenset(pair) for pair in legs[is_bar].tolist()}
    for _ in range(len(pairs)):
        following = [other for other in beside[node] if other != before and frozenset((node, other)) in bars]
        if len(following) != 1 or len(beside[node]) != 2 or held[node]:
            break
        length += float(np.linalg.norm(mesh.coordinates[following[0]] - mesh.coordinates[node]))
        before, node = node, following[0]
    return length


def folded_at_the_surface(model: Model, bars: Bars) -> list[str]:
    """Cables that float through the surface: they have no position of rest."""
    return [text] if (text := notices.floating_text(model)) else []


STRUCTURE = (loose_nodes, bars_of_odd_length, free_bodies, nothing_acts, floating_across, massless_nodes)
STEEP = 60.0
"""Degrees between two rows of a vessel's table: a straight line across them loses 13 % of the amplitude."""


def vessels(model: Model, bars: Bars) -> list[str]:
    """Tables of vessels whose rows are far apart, and vessels that waves meet at full height."""
    found = []
    for name in dict.fromkeys(body.rao for body in model.bodies if body.rao):
        turn, motion, heading, first, last = model.raos[name].steepest()
        if turn > STEEP:
            periods = f"periods {2.0 * np.pi / last:.4g} and {2.0 * np.pi / first:.4g}"
            rest = np.cos(np.radians(turn / 2))
            found.append(
                f"RAO {name}: the phase of {motion} turns by {turn:.3g} degrees between {periods} at heading "
                f"{heading:g}: interpolation leaves {rest:.2g} of the amplitude; give more rows"
            )
        if any(wave.ramp == 0.0 for wave in model.waves):
            found.append(f"RAO {name}: waves without RAMP= are at full height when the vessel begins to move: it jumps")
    return found


CHECKS: tuple[Callable[[Model, Bars], list[str]], ...] = (
    *STRUCTURE,
    straight_branches,
    increments,
    ringing,
    folded_at_the_surface,
    jumps,
    winch_jumps,
    vessels,
    geometry,
    units,
)
