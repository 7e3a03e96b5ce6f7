"""Warnings before a run from the model alone: too few increments per period, snapping lines, jumping winches, floating
cables. Notices that begin with ``WARNING`` report an error of the model or method; ``--quiet`` prints them, too.

The errors of tensions when increments are too long for lines that snap taut were measured on chains of 40 and 50 bars
with a dropped load, a body that jerks, and a fairlead that moves up and down: table in docs/theory/time.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import listed
from fem.model import Model
from fem.model.beams import beams_at
from fem.model.curves import PARTS_OF_A_WAVE, Follow, evaluate
from fem.model.facts import natural_lengths, of_sections
from fem.model.mesh import BARS, BEAMS
from fem.model.steps import Controls, Dynamic, Step
from fem.model.surroundings import components_of

WARNING = "warning: "


def warning(text: str) -> str:
    """Marks a notice as ``WARNING``; empty if the text is empty."""
    return WARNING + text if text else ""


def of_step(number: int, text: str) -> str:
    """A notice with the number of its step."""
    text, is_wrong = text.removeprefix(WARNING), text.startswith(WARNING)
    return f"{WARNING * is_wrong}step {number}: {text}"


SHARE = 0.1
"""Snaps of at least this fraction of the largest force so far are reported if increments do not resolve them."""
FINE = 1e-4
"""TIME ERROR that shortens increments sufficiently: its default."""
CHANGE = 0.3
"""TENSION CHANGE that shortens increments sufficiently."""
FOLLOW = "automatic increments (without DIRECT, with the default TIME ERROR) resolve snaps"


def damps_waves(procedure: Dynamic) -> bool:
    """Whether the scheme damps high frequencies strongly, at least as GENERALIZED ALPHA with RHO = 0.5 does.
    For HHT, RHO = (1 + ALPHA)/(1 - ALPHA)."""
    return procedure.integrator == "BACKWARD EULER" or (
        (procedure.integrator == "GENERALIZED ALPHA" and procedure.rho <= 0.5)
        or (procedure.integrator == "HHT" and procedure.alpha <= -1.0 / 3.0)
    )


def follows_snaps(procedure: Dynamic, controls: Controls) -> bool:
    """Whether local error or change of tension shorten increments where a line snaps taut (error of peaks some 5 %)."""
    if procedure.direct or procedure.by_convergence or procedure.integrator == "CENTRAL DIFFERENCE":
        return False
    if controls.time_error is None:
        return False
    return controls.time_error <= FINE or 0.0 < (controls.tension_change or 0.0) <= CHANGE


def expected_peaks(procedure: Dynamic, waves: float) -> str:
    """Error of tension peaks, as measured on chains, if an increment lasts ``waves`` wave passages through a bar."""
    if procedure.integrator == "CENTRAL DIFFERENCE":
        return "may be off by a tenth"
    if procedure.integrator == "ENERGY MOMENTUM":
        return "may be off by a tenth" if waves <= 2.0 else "may be off by 10 to 40 %, either way"
    if damps_waves(procedure):
        return "may be understated by up to 20 %" if waves <= 2.0 else "are understated by 15 to 60 %"
    return (
        f"may be off by a tenth, or overstated ten to several hundred times: {procedure.integrator} lets bars vibrate"
    )


SHOWN_BY = 20
"""Increments per period that are enough: the trapezoidal rule then makes the period longer by 0.8 %."""
MOST_HELD = 100
"""Distances are measured to at most so many fixed nodes."""


def held_nodes(model: Model) -> Flags:
    """(n,) nodes that are fixed in all directions in at least one step."""
    return np.asarray(held_dofs(model).all(axis=1))


def held_dofs(model: Model) -> Flags:
    """(n, 3) dofs that are fixed or have a prescribed motion in at least one step."""
    if "held" not in model.found:
        model.found["held"] = held = np.zeros((len(model.mesh.node_labels), 3), bool)
        for given in (*model.boundaries, *(boundary for step in model.steps for boundary in step.boundaries)):
            held[model.mesh.nodes_of(given.target), given.dof - 1] = True
        held[model.pinned] = True
        held.flags.writeable = False
    return np.asarray(model.found["held"])


def support_distance(model: Model, nodes: Ints, held: Flags) -> Floats:
    """(k,) distance of nodes from the nearest of the ``held_nodes``; infinite if there are none."""
    x = model.mesh.coordinates
    square = np.where(held[nodes], 0.0, np.inf)
    for place in x[held][:MOST_HELD]:
        np.minimum(square, ((x[nodes] - place) ** 2).sum(axis=1), out=square)
    return np.sqrt(square)


def coarse_swing(model: Model, procedure: Dynamic | None) -> str:
    """Warning that equal increments are too long even for the slowest swing, of period 2 pi sqrt(L/g); empty if not.
    L: distance of a node from a support. Nets and chains swing: they have fewer than two bars for each free node."""
    weights = [load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    if not (procedure and procedure.direct and any(weights)):
        return ""
    held = held_nodes(model)
    free = np.flatnonzero(~held)
    if not 0 < sum(len(block.labels) for block in model.mesh.blocks if block.kind in BARS) < 2 * len(free):
        return ""
    distance = support_distance(model, free, held)
    farthest = model.mesh.node_names[free[distance.argmax()]]
    period = 2.0 * math.pi * math.sqrt(distance.max() / max(map(abs, weights)))
    if SHOWN_BY * procedure.dt <= period:
        return ""
    return (
        f"dt = {procedure.dt:g} is longer than a twentieth of the slowest swing period (about {period:.3g}: 2 pi "
        f"sqrt(L/g), L from a support to node {farthest}): increments do not resolve the motion"
    )


def coarse_waves(model: Model, procedure: Dynamic | None) -> str:
    """Warning that equal increments are too long for the waves: an eighth of their mean period, 2 pi sqrt(m0/m2). With
    fewer in a wave they see little of its crests, with one nothing."""
    if not (procedure and procedure.direct and model.waves and model.water):
        return ""
    omega, _, amplitude, *_ = components_of(model.waves, model.water).T
    if not amplitude.any():
        return ""
    period = 2.0 * math.pi * math.sqrt((amplitude**2).sum() / ((amplitude * omega) ** 2).sum())
    if PARTS_OF_A_WAVE * procedure.dt <= period:
        return ""
    return (
        f"dt = {procedure.dt:g} is longer than an eighth of the mean period of the waves ({period:.3g}): increments "
        "see the waves at their ends only, and do not follow them"
    )


UPRIGHT = 0.99
"""Cosine of the angle from the vertical, above which GRAV is weight."""
OTHER_GRAVITY = 2.0
"""A factor between the gravity of water and that of weights that no safety factor explains."""


def of_gravity(model: Model, step: Step) -> Iterator[str]:
    """Warnings of a step's weights that act twice, and of water whose gravity is not that of the weights."""
    mesh = model.mesh
    acting = [load for load in step.distributed_loads if load.kind == "GRAV" and load.value and not step.harmonic]
    times: dict[tuple[object, ...], Ints] = {}
    for load in acting:
        way = np.sign(load.value) * np.array(load.direction)
        counts = times.setdefault((load.amplitude, *np.round(way, 9)), np.zeros(len(mesh.element_labels), int))
        counts[slice(None) if load.target is None else mesh.elements_of(load.target)] += 1
    for counts in times.values():
        if counts.max(initial=0) > 1:
            names = listed(mesh.element_names[counts > 1], LISTED)
            yield (
                f"GRAV acts {counts.max()} times in the same direction on element {names}: the values are added up "
                "(sets overlap, or a blank set means all elements)"
            )
    weights = [abs(load.value) for load in acting if abs(load.direction[mesh.up]) > UPRIGHT]
    g = model.water.gravity if model.water else 0.0
    if g and weights and not 1.0 / OTHER_GRAVITY < g / max(weights) < OTHER_GRAVITY:
        yield (
            f"*AQUA has the gravity {g:g}, GRAV has {max(weights):g}: the data line is seabed, still level, g, density"
        )


NO_JUMP = 1e-9
"""Changes below this fraction of the natural length are rounding errors of times."""
LISTED = 5


def jumps(model: Model) -> Iterator[tuple[int, Floats, Floats]]:
    """For each step: its number, and the lengths wound by winches before it and at its start, both (elements, 2).
    NaN if the state of an earlier run, with which the first step begins, may determine them."""
    stands = np.full((len(model.mesh.element_labels), 2), 0.0 if model.earlier is None else np.nan)
    follows: dict[tuple[int, int], tuple[float, Follow]] = {}
    begin = 0.0
    for number, step in enumerate(model.steps, start=1):
        end, start, last = begin + step.procedure.period, stands.copy(), stands.copy()
        for winch in step.winches:
            if winch.is_tension:
                continue
            elements, leg = model.mesh.elements_of(winch.target), winch.end - 1
            start[elements, leg] = stands[elements, leg] if step.winds else winch.value
            last[elements, leg] = winch.value
            for element in elements.tolist():
                follows.pop((element, leg), None)
                if winch.amplitude is not None:
                    amplitude = model.amplitudes[winch.amplitude]
                    origin = begin if amplitude.time == "STEP TIME" else 0.0
                    follows[element, leg] = winch.value, Follow(amplitude, origin)
        for at, (value, curve) in follows.items():
            start[at], last[at] = value * evaluate(curve, np.array([begin, end]))
        yield number, stands, start
        follows = {at: each for at, each in follows.items() if each[1].amplitude.time != "STEP TIME"}
        begin, stands = end, last


def told_of_jump(model: Model, step: Step, stands: Floats, start: Floats) -> str:
    """Warning that winches jump at the start of a step, and what the step does about it; empty if none does.
    stands, start  (elements, 2) changes of natural length before the step and at its start"""
    stiffness = of_sections(model, lambda section, material: section.area * (material.young or 0.0))
    length = natural_lengths(model.mesh, model.rest_lengths)
    length = np.where(length > 0.0, length, 1.0)  # elements without natural length have no winch
    change = start - stands
    jumping = (np.abs(change) > NO_JUMP * length[:, None]).any(axis=1)
    if not jumping.any():
        return ""
    force = np.where(jumping, stiffness * np.abs(change).sum(axis=1) / length, -1.0)
    worst = int(force.argmax())
    end = int(np.abs(change[worst]).argmax())
    names = model.mesh.element_names[jumping]
    moved = change[worst, end]
    effect = "makes" if moved < 0.0 else "removes"
    remedy = "let its AMPLITUDE begin at the value before (it counts from the start of the run), or remove it"
    if not step.winds:
        remedy = "remove AMPLITUDE=STEP from *STEP: the winch then runs evenly over the step"
    return (
        f"*WINCH changes the length of element {listed(names, LISTED)} abruptly at the start of the step: by "
        f"{moved:.6g} of element {model.mesh.element_names[worst]}, from {stands[worst, end]:.6g}, its value before, "
        f"to {start[worst, end] + 0.0:.6g}; that {effect} {force[worst]:.4g} of tension (EA dL/L0) before anything "
        f"moves. Unless that is intended, {remedy}"
    )


MOST_FLOATING = 3


def floating_cables(model: Model) -> tuple[Ints, Floats]:
    """Cables without stiffness in compression, lighter than water, with an end above the still water level.

    Buoyancy ends at the surface, so a vertical floating line is compressed there. A spar resists by its bending
    stiffness; a chain of cables has none and folds until it lies in the surface. The only equilibrium is level in the
    surface with each bar partly wet. In the model a level bar is either wholly wet or wholly dry, so that no positions
    of the nodes are in equilibrium.

    (k,) elements and (k,) weight of the displaced water per unit of length.
    """
    mesh, water = model.mesh, model.water
    lift, mass = np.zeros((2, len(mesh.element_labels)))
    if water is None:
        return np.zeros(0, np.int64), lift[:0]
    for load in (load for step in model.steps for load in step.fluid_loads if load.kind == "PB"):
        lift[mesh.elements_of(load.target)] = load.magnitude * water.density * np.pi / 4.0 * load.diameter**2
    for section in model.sections:
        material = model.materials[section.material]
        is_cable = material.compression_ratio == 0.0
        mass[mesh.elements_of(section.element_set)] = material.density * section.area if is_cable else np.inf
    found = np.flatnonzero((lift > mass) & (mass > 0.0))
    heights = mesh.coordinates[mesh.element_nodes[found], mesh.up] if len(found) else np.zeros((0, 2))
    found = found[heights.max(axis=1, initial=-np.inf) > water.level]
    return found, lift[found] * water.gravity


def floating_text(model: Model) -> str:
    """Notice of nodes that float, and what to do; empty where there are none."""
    found, lift = floating_cables(model)
    if not len(found):
        return ""
    names = listed(model.mesh.element_names[found], MOST_FLOATING)
    return (
        f"elements {names} are cables lighter than water that reach its surface: without stiffness in bending "
        "and compression they have no position of rest there; replace each float by a *SPRING to the ground (SPRING1, "
        f"vertical) of k = rho g A = {lift.max():.5g} and the load -(weight + k z) (*CLOAD) on the node below it, at "
        "the height z above still water"
    )


COARSE = 0.05
"""Deflections with a larger relative error than this are reported."""
GOOD = 0.02
"""Relative error of deflections with the recommended number of elements."""
ERRORS = {("clamp", "end"): 1 / 3, ("end", "end"): 0.8, ("corner", "end"): 0.5, ("clamp", "clamp"): 1.0}
"""c of the relative error c/n^2 of deflections of a member of n equal elements, by the kinds of its ends: the first two
under distributed loads, the others under loads at their ends with moments of opposite sign. 2 for all others."""


def coarse_beams(model: Model) -> str:
    """Warning that members have too few elements B31: most bend too much, as the moment is integrated by the
    trapezoidal rule (``model/beams.py``); empty if none has. A member ends at an end of the line, at a clamp, and at a
    corner of the moment: a node with an attachment, support or load that not all its neighbours have, too (planes hold
    whole lines, and distributed loads act on all nodes). Lines that the reader laid in equilibrium are left out."""
    if not model.bends:
        return ""
    mesh, beams = model.mesh, beams_at(model.mesh)
    nodes, bars = model.bent_at
    clamps, others = set(nodes[bars[:, 0] < 0, 1].tolist()), ~mesh.is_of(*BEAMS)
    touched = [mesh.element_nodes[others].ravel(), [*model.corners]]
    touched += [mesh.nodes_of(load.target) for step in model.steps for load in step.nodal_loads]
    touched += [[node for node, _, _ in equation.terms] for equation in model.equations]
    held, (acted, closed) = held_dofs(model), np.zeros((2, len(mesh.node_labels)), bool)
    acted[np.concatenate([np.zeros(0), *touched, *model.links]).astype(int)] = True
    closed[[*clamps, *(node for node, ways in beams.items() if len(ways) < 2)]] = True
    laid = set(np.concatenate([np.zeros(0, np.int64), *(line.labels for line in model.laid)]).tolist())
    fixed, spread = held_nodes(model), any(step.distributed_loads or step.fluid_loads for step in model.steps)

    def is_corner(node: int) -> bool:
        beside = [other for _, other in beams[node]]
        is_spread = acted[beside].any() and (acted | closed)[beside].all()
        return bool((held[node] & ~held[beside]).any() or (acted[node] and not is_spread))

    def kind(node: int) -> str:
        return "clamp" if node in clamps else "end" if len(beams[node]) < 2 else "corner" if is_corner(node) else ""

    found: list[tuple[float, list[int], list[int]]] = []
    for start in filter(kind, beams):
        for element, node in beams[start]:
            way, line = [start, node], [element]
            while not kind(node):
                element, node = next(each for each in beams[node] if each[0] != element)
                way.append(node)
                line.append(element)
            first, last = sorted((kind(start), kind(node)))
            factor = ERRORS.get((first, last), 2.0) if spread or (first, last) != ("clamp", "end") else 0.0
            bends = len(line) > 1 or (first, last) != ("end", "end")
            error = factor / len(line) ** 2 if bends and not fixed[way].all() else 0.0
            if error > COARSE and way[0] <= way[-1] and not laid.issuperset(mesh.node_labels[way].tolist()):
                found.append((error, line, way))
    if not found:
        return ""
    error, line, way = max(found, key=lambda each: each[0])
    ends, count = mesh.node_names[[way[0], way[-1]]], math.ceil(len(line) * math.sqrt(error / GOOD))
    more = f" (and {len(found) - 1} more members)" if len(found) > 1 else ""
    return (
        f"the beam from node {ends[0]} to node {ends[1]}{more} has {len(line)} element{'s' * (len(line) > 1)} B31: its "
        f"deflection may be off by up to {100.0 * error:.3g} %, mostly too large ({error * len(line) ** 2:.2g}/n^2 "
        f"with n elements: their nodes have no rotations); {count} elements make it {100.0 * GOOD:.2g} %"
    )
