"""Figures of chains of bars (angles, centres, phase planes) and of the forces in the joints of trees of bars.

The force in a joint follows from the motion of everything beyond it, the link included:

    F = sum of m (a_i + a_j)/2 + c (v_i + v_j)/2 - loads + springs to the ground - reactions

with mass m and damping c of each element; the mass rule of a bar and its law cancel. The sum over all must equal the
reaction of the support, which is checked. ENERGY MOMENTUM prints A and RF of the middle of increments: with means of
loads, velocities and elongations at both ends the sum is exact, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fem.arrays import Flags, Floats, Ints
from fem.runs.read import LEAST_INSTANTS, Missing, Results
from fem.runs.record import Acting
from fem.show import reading, style
from fem.show.curves import force_figure, printed


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """k instants of p links of a chain.

    labels (p,) of the elements; every: number of links of the chain
    centre       U -> position, V, A of the middle between both ends, (k, p, 3), as far as written
    direction    (k, p, 3) from the end nearer to the support to the other
    rate         (k, p, 3) its time derivative, None without V
    """

    time: Floats
    labels: list[int]
    every: int
    centre: dict[str, Floats]
    direction: Floats
    rate: Floats | None
    source: str


@lru_cache(maxsize=1)
def read_links(results: Results, variables: tuple[str, ...] = ("U", "V"), most: int = style.MOST_CURVES) -> Links:
    """At most ``most`` links of the chain. Missing: no chain, or no motion of both ends."""
    nodes, elements = reading.chain_of(results)
    places = style.some_of(elements, most)
    labels = [elements[place] for place in places]
    first, second = [nodes[place] for place in places], [nodes[place + 1] for place in places]
    ends = list(dict.fromkeys([*first, *second]))
    motion = reading.read_motion(results, ends, variables)
    start, end = ([ends.index(label) for label in side] for side in (first, second))
    values = dict(motion.values)
    values["U"] = values["U"] + results.mesh.coordinates[reading.nodes_at(results, ends)]
    centre = {name: 0.5 * (part[:, start] + part[:, end]) for name, part in values.items()}
    direction = values["U"][:, end] - values["U"][:, start]
    rate = values["V"][:, end] - values["V"][:, start] if "V" in values else None
    return Links(motion.time, labels, len(elements), centre, direction, rate, motion.source)


def frame_of(results: Results) -> tuple[Floats, Floats | None, str]:
    """Down (3,), the horizontal in the plane of motion (None: the motion is in space), and the name of down.
    Down is the direction of GRAV; without it, or if it is normal to the plane, against the plane's second axis."""
    axes = reading.plane_of(results)
    down = np.zeros(3)
    gravity = results.gravity
    largest = -1 if gravity is None else int(np.argmax(np.abs(gravity)))
    if gravity is not None and largest in axes and np.count_nonzero(np.abs(gravity) > 1e-9) == 1:
        down[largest] = np.sign(gravity[largest])
    else:
        down[axes[-1]] = -1.0
    upright = int(np.argmax(np.abs(down)))
    name = f"{'−' if down[upright] < 0.0 else '+'}{style.AXES[upright]}"
    if len(axes) == 3:
        return down, None, name
    across = np.zeros(3)
    across[next(axis for axis in axes if axis != upright)] = 1.0
    return down, across, name


def angles_of(links: Links, down: Floats, across: Floats | None) -> tuple[Floats, Floats | None]:
    """Angle (k, p) [rad] and its rate (k, p), None without velocities.
    In a plane theta = atan2(d.h, d.g), unwrapped, theta' = (d.h' d.g - d.h d.g') / (d.h^2 + d.g^2) with the direction
    d of the link, g down, h across. In space the inclination acos(d.g / |d|), and |d x d'| / d^2."""
    d, rate = links.direction, links.rate
    square = np.einsum("kpi,kpi->kp", d, d)
    if across is None:
        angle = np.arccos(np.clip(d @ down / np.sqrt(square), -1.0, 1.0))
        return angle, None if rate is None else np.linalg.norm(np.cross(d, rate), axis=2) / square
    a, b = d @ across, d @ down
    angle = np.unwrap(np.arctan2(a, b), axis=0)
    return angle, None if rate is None else (rate @ across * b - a * (rate @ down)) / (a * a + b * b)


def unit_of_angles(results: Results) -> tuple[float, str]:
    """One radian in the unit of angles, and the unit's name: degrees if the heading says so."""
    says = any(re.search(r"\bdegrees\b", str(line)) for line in results.settings.get("heading") or [])
    return (180.0 / np.pi, "°") if says else (1.0, "rad")


def turns_of(results: Results, most: int = style.MOST_CURVES) -> tuple[Links, list[tuple[str, str, Floats, Floats]]]:
    """Links, and their angles from the vertical, with V angular velocities, in a plane accelerations, means between the
    instants (as those of ENERGY MOMENTUM are): title, unit, time (k,), values (k, p)."""
    found = read_links(results, ("U", "V"), most)
    down, across, name = frame_of(results)
    angle, speed = angles_of(found, down, across)
    (factor, unit), per = unit_of_angles(results), results.unit("time")
    what = f"angle from {name}" if across is not None else f"inclination from {name}"
    curves = [(what, unit, found.time, factor * angle)]
    if speed is not None:
        curves.append(("angular velocity", f"{unit}/{per}", found.time, factor * speed))
    if speed is not None and across is not None:
        begin = np.flatnonzero(np.diff(found.time) > 0.0)  # steps share their first and last times
        dt = found.time[begin + 1] - found.time[begin]
        means = factor * (speed[begin + 1] - speed[begin]) / dt[:, None]
        curves.append(("angular acceleration", f"{unit}/{per}²", found.time[begin] + 0.5 * dt, means))
    return found, curves


def angles(results: Results) -> Figure:
    found, curves = turns_of(results)
    title = f"Angles of the links{style.part_of(found.labels, found.every)}"
    figure, rows = style.panels(len(curves), title, height=2.5)
    for (panel,), (what, unit, time, values) in zip(rows, curves, strict=True):
        for place, label in enumerate(found.labels):
            style.curve(panel, time, values[:, place], place, f"link {label}")
        panel.set_ylabel(f"{what}\n[{unit}]")
    style.finish(results, rows)
    figure.set_label(found.source)
    return figure


def links(results: Results) -> Figure:
    found = read_links(results, ("U", "V", "A"))
    axes = reading.plane_of(results)
    title = f"Centres of the links{style.part_of(found.labels, found.every)}"
    figure, rows = style.panels(len(found.centre), title, len(axes))
    for row, (name, values) in zip(rows, found.centre.items(), strict=True):
        word = "position" if name == "U" else reading.NODES[name].field
        for panel, axis in zip(row, axes, strict=True):
            for place, label in enumerate(found.labels):
                style.curve(panel, found.time, values[:, place, axis], place, f"link {label}")
            panel.set_ylabel(style.labelled(results, f"{word} {style.AXES[axis]}", reading.NODES[name].unit))
    style.finish(results, rows)
    figure.set_label(found.source)
    return figure


UNBALANCED = 1e-4
"""Fraction of the largest force by which the forces and the reaction of a support may differ at a drawn instant:
a hundred times what RESI_GLOB_RELA lets Newton's iterations leave, a hundredth of what can be seen."""
MOST_LOST = 0.1
"""Largest fraction of the instants that may be omitted because of larger differences."""


@dataclass(frozen=True, slots=True)
class LinkTree:
    """links (p, 3) element, near and far node index, from the support outwards; root: where it hangs."""

    root: int
    links: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """k instants of p links: labels of the elements, force (k, p, 3) on each at its joint nearer to the support.
    nodes (p,): indices of these joints; every: number of links; tension (k, p) of the tables, or None; source: origin
    of the data, and error of the balance
    """

    time: Floats
    labels: list[int]
    nodes: Ints
    every: int
    force: Floats
    tension: Floats | None
    source: str


def joint_forces(results: Results, most: int = style.MOST_CURVES) -> Joints:
    """Of at most ``most`` links. Missing: see ``forces_of``."""
    acting = results.acting
    trees = trees_of(results, np.concatenate([step.labels for step in acting.values() if step]))
    motion, needs_rates = motion_of(results, trees, acting)
    force, balance, kept = forces_of(results, trees, motion, acting, needs_rates)
    links = np.concatenate([tree.links for tree in trees])
    bars = np.flatnonzero(results.mesh.is_bar[links[:, 0]])
    chosen = bars[style.some_of(bars.tolist(), most)]
    labels = results.mesh.element_labels[links[chosen, 0]].tolist()
    pulls = reading.table_values(results.elements, ["T"], labels, None if motion.keys is None else motion.keys[kept])
    tension = None if pulls is None else pulls[:, :, 0]
    source = f"{motion.source or 'the tables'}; {balance}"
    return Joints(motion.time[kept], labels, links[chosen, 1], len(bars), force[:, chosen], tension, source)


def joints(results: Results) -> Figure:
    """Force on each link at the joint nearer to the support, components and T. Missing: see ``forces_of``."""
    found = joint_forces(results)
    title = f"Joint forces on the links, at the end nearer to the support{style.part_of(found.labels, found.every)}"
    names = [f"link {label}" for label in found.labels]
    letters = [f"F{axis}" for axis in style.AXES]
    figure = force_figure(results, found.time, found.force, names, title, letters, found.tension)
    figure.set_label(found.source)
    return figure


def trees_of(results: Results, springs: Ints) -> list[LinkTree]:
    """The trees that bars and axial springs form; springs: labels of those between dofs. Missing: they form loops."""
    mesh, look = results.mesh, reading.overview(results)
    supported = (look.reaction > reading.REST * look.reaction.max()).any(axis=1)
    edges = np.flatnonzero((mesh.ends[:, 0] != mesh.ends[:, 1]) & ~np.isin(mesh.element_labels, springs))
    beside = reading.neighbours(mesh, edges)
    rank = {node: (not supported[node], not look.at_rest[node], mesh.node_labels[node]) for node in beside}
    seen: set[int] = set()
    trees = []
    for root in sorted(beside, key=rank.__getitem__):
        if root in seen:
            continue
        found, front = [], [(root, -1)]
        seen.add(root)
        for node, above in front:
            for e, far in beside[node]:
                if e == above:
                    continue
                if far in seen:
                    raise Missing("bars form loops: the forces in a loop do not follow from the motion")
                seen.add(far)
                found.append((e, node, far))
                front.append((far, e))
        trees.append(LinkTree(root, np.array(found)))
    if not any(mesh.is_bar[tree.links[:, 0]].any() for tree in trees):
        raise Missing("there are no bars")
    return trees


def motion_of(
    results: Results, trees: list[LinkTree], acting: dict[int, Acting]
) -> tuple[reading.RecordedMotion, bool]:
    """U, A, and if needed V and RF of all nodes involved; whether velocities or elongations are needed."""
    mesh, look = results.mesh, reading.overview(results)
    nodes = {node for tree in trees for node in (tree.root, *tree.links[:, 2].tolist())}
    for step in acting.values():
        nodes |= {dof // 3 for dof in step.springs.ravel().tolist() if dof >= 0}
    needs_rates = any(step.damping.any() or len(step.springs) for step in acting.values())
    beyond = sorted(nodes - {tree.root for tree in trees})
    has_supports = bool((look.reaction[beyond] > reading.REST * look.reaction.max()).any())
    wanted = ["A", *(["V"] if needs_rates else [])]
    required = [*wanted, *(["RF"] if has_supports else [])]
    labels = mesh.node_labels[sorted(nodes)].tolist()
    return reading.read_motion(results, labels, [*wanted, "RF"], required=required), needs_rates


def forces_of(
    results: Results,
    trees: list[LinkTree],
    motion: reading.RecordedMotion,
    acting: dict[int, Acting],
    needs_rates: bool,
) -> tuple[Floats, str, Flags]:
    """Force (k, links, 3) at the instants that are kept (all,), and their difference from the reactions of the roots.
    Missing: loads of a step are not recorded, forces are not in a table, or the balance fails."""
    if motion.keys is not None:
        steps: Ints = np.asarray(motion.keys // 2.0**40, np.int64)
    else:
        later = np.searchsorted(results.increments[:, 2], motion.time * (1.0 - 1e-12))
        steps = np.asarray(results.increments[np.minimum(later, len(results.increments) - 1), 0], np.int64)
    kept = np.ones(len(steps), np.bool_)
    count = sum(len(tree.links) for tree in trees)
    force, root = np.zeros((len(steps), count, 3)), np.zeros((len(steps), len(trees), 3))
    for step in np.unique(steps).tolist():
        rows = np.flatnonzero(steps == step)
        if step not in acting:
            raise Missing(f"run.json does not contain the loads of step {step}: request *NODE PRINT of A of all nodes")
        if acting[step].obstacle:
            raise Missing(f"step {step}: {acting[step].obstacle}")
        part, usable = middles(results, motion, rows, step, acting[step], needs_rates)
        kept[rows] = usable
        force[rows], root[rows] = passed_on(results, trees, part, acting[step])
    if kept.sum() < LEAST_INSTANTS:
        what = "for fewer than three instants the increment before is printed, too"
        raise Missing(f"{what}: request *NODE PRINT, FREQUENCY=1")
    if "RF" not in motion.values:
        return force[kept], "request *NODE PRINT of RF to check the balance", kept
    places = [motion.nodes.index(results.mesh.node_labels[tree.root]) for tree in trees]
    largest = max(np.abs(force[kept]).max(), np.abs(root[kept]).max())
    off = np.abs(root - motion.values["RF"][:, places]).max(axis=(1, 2)) / (largest or 1.0)
    lost = kept & ~(off <= UNBALANCED)
    if lost.sum() > MOST_LOST * kept.sum():
        raise Missing(f"forces from U and A differ from RF by {off[kept].max():.1g} of the largest force")
    kept &= ~lost
    left = f", but for {lost.sum()} instants, which are left out" if lost.any() else ""
    return force[kept], f"they agree with RF to {off[kept].max():.1g} of the largest{left}", kept


@dataclass(frozen=True, slots=True, eq=False)
class Instants:
    """k instants of one step: values (k, nodes, 3), forces on nodes (k, n, 3) and elements (k, e, 3); nodes by label.
    elongation, rate: U and V, or their means with ENERGY MOMENTUM"""

    nodes: list[int]
    a: Floats
    v: Floats
    elongation: Floats
    rate: Floats
    reaction: Floats
    on_nodes: Floats
    on_elements: Floats


def middles(
    results: Results, motion: reading.RecordedMotion, rows: Ints, step: int, acting: Acting, needs_rates: bool
) -> tuple[Instants, Flags]:
    """Quantities for the sums, and which rows (k,) are usable."""
    u = motion.values["U"][rows]
    v = motion.values["V"][rows] if "V" in motion.values else np.zeros_like(u)
    reaction = motion.values["RF"][rows] if "RF" in motion.values else np.zeros_like(u)
    on_nodes, on_elements = acting.loads(motion.time[rows])
    found = Instants(motion.nodes, motion.values["A"][rows], v, u, v, reaction, on_nodes, on_elements)
    usable = np.ones(len(rows), np.bool_)
    increment = np.full(len(rows), 1.0) if motion.keys is None else motion.keys[rows] % 2.0**40
    procedure = results.settings["steps"][step - 1]["procedure"]
    if not procedure.get("initial_acceleration", True) or procedure.get("singular_mass") == "WARNING":
        usable &= increment > 0  # its accelerations do not correspond to the loads
    if not acting.is_middle or (acting.is_constant and not needs_rates):
        return found, usable
    follows = np.concatenate([[False], np.diff(increment) == 1.0])
    usable &= follows | (increment == 0)
    (later,) = np.nonzero(follows)
    dt = np.diff(motion.time[rows], prepend=motion.time[rows[0]])[later, None, None]

    def mean(values: Floats) -> Floats:
        result = values.copy()
        result[later] = 0.5 * (values[later] + values[later - 1])
        return result

    rate = v.copy()
    rate[later] = (u[later] - u[later - 1]) / dt
    found = replace(found, v=mean(v), elongation=mean(u), rate=rate)
    return replace(found, on_nodes=mean(on_nodes), on_elements=mean(on_elements)), usable


def passed_on(results: Results, trees: list[LinkTree], at: Instants, acting: Acting) -> tuple[Floats, Floats]:
    """Forces on all links at their near ends (k, links, 3), and the required reactions at the roots (k, trees, 3)."""
    mesh = results.mesh
    place = np.full(len(mesh.node_labels), -1)
    place[reading.nodes_at(results, at.nodes)] = np.arange(len(at.nodes))
    mine = np.flatnonzero((place[mesh.ends] >= 0).all(axis=1) & (acting.mass >= 0.0))
    i, j = place[mesh.ends[mine]].T
    own = np.zeros((len(at.a), len(mesh.element_labels), 3))
    own[:, mine] = 0.5 * acting.mass[mine, None] * (at.a[:, i] + at.a[:, j])
    own[:, mine] += 0.5 * acting.damping[mine, None] * (at.v[:, i] + at.v[:, j]) - over(at.on_elements, mine)
    total = -over(at.on_nodes, reading.nodes_at(results, at.nodes)) - at.reaction
    for tree in trees:
        total[:, place[tree.root]] += at.reaction[:, place[tree.root]]
    alone = mine[mesh.ends[mine, 0] == mesh.ends[mine, 1]]
    for e in alone.tolist():
        total[:, place[mesh.ends[e, 0]]] += own[:, e]
    # springs and dashpots between dofs: k x + c x' against the first, for the second
    for (first, second), (stiffness, viscosity) in zip(acting.springs.tolist(), acting.constants.tolist(), strict=True):
        ends = [(place[dof // 3], dof % 3, sign) for dof, sign in ((first, 1.0), (second, -1.0)) if dof >= 0]
        pull = sum(
            sign * (stiffness * at.elongation[:, n, axis] + viscosity * at.rate[:, n, axis]) for n, axis, sign in ends
        )
        for n, axis, sign in ends:
            total[:, n, axis] += sign * pull
    found = []
    for tree in trees:
        force = np.zeros((len(at.a), len(tree.links), 3))
        for k, (e, near, far) in reversed(list(enumerate(tree.links.tolist()))):
            force[:, k] = own[:, e] + total[:, place[far]]
            total[:, place[near]] += force[:, k]
        found.append(force)
    return np.concatenate(found, axis=1), total[:, [place[tree.root] for tree in trees]]


def over(loads: Floats, chosen: Ints) -> Floats:
    """Forces (k, chosen, 3) of those loaded; zeros where no load acts at all."""
    return loads[:, chosen] if loads.shape[1] > int(chosen.max(initial=0)) else np.zeros((len(loads), len(chosen), 3))


MOST_PANELS = 3
MOST_POINTS = 10_000


def phase(results: Results) -> Figure:
    """(u, v) of the printed nodes that move, one panel per direction; relative to a support that moves."""
    support = moving_support(results)
    labels = [label for label, (_, v) in printed(results, reading.NODES["V"]).items() if label != support and v.any()]
    if not labels:
        raise Missing("no node has a velocity in nodes.csv: request *NODE PRINT, NSET=... of U, V")
    chosen = [labels[place] for place in style.some_of(labels)]
    motion: dict[int, tuple[Floats, Floats]] = {}
    for label in chosen:
        pair = reading.read_motion(results, [label] if support is None else [label, support], ("V",)).values
        if "V" not in pair:
            raise Missing(f"V is printed only at some instants, or not for node {support}: request *NODE PRINT of U, V")
        u, v = pair["U"], pair["V"]
        motion[label] = (u[:, 0], v[:, 0]) if support is None else (u[:, 0] - u[:, 1], v[:, 0] - v[:, 1])
    axes = style.moving(np.concatenate([motion[label][1] for label in chosen]))
    figure, panels = orbit_panels(len(axes), f"Phase plane of the printed nodes{style.part_of(chosen, len(labels))}")
    beside = "" if support is None else f" relative to node {support}"
    for panel, axis in zip(panels, axes, strict=True):
        for place, label in enumerate(chosen):
            orbit(panel, motion[label][0][:, axis], motion[label][1][:, axis], place, f"node {label}")
        panel.set_xlabel(f"U{axis + 1}{beside} [{results.unit('length')}]")
        panel.set_ylabel(f"V{axis + 1}{beside} [{results.unit('length/time')}]")
    finish_planes(panels)
    return figure


def moving_support(results: Results) -> int | None:
    """The only node that is held in a direction in which it moves; None if there is none, or more than one."""
    if not results.fields:
        return None
    look = reading.overview(results)
    held = look.reaction > reading.REST * look.reaction.max()
    found = results.mesh.node_labels[(held & look.moved).any(axis=1)]
    return int(found[0]) if len(found) == 1 else None


def phase_angles(results: Results) -> Figure:
    """(theta, theta') of all links of a chain in a plane, or of as many as there are panels."""
    links = read_links(results, most=MOST_PANELS * style.MOST_CURVES)
    down, across, name = frame_of(results)
    angle, speed = angles_of(links, down, across)
    if across is None or speed is None:
        raise Missing("the motion is in space" if across is None else "no velocities of both ends of every bar (V)")
    factor, unit = unit_of_angles(results)
    count = -(-len(links.labels) // style.MOST_CURVES)
    figure, panels = orbit_panels(count, f"Phase plane of the links{style.part_of(links.labels, links.every)}")
    for place, label in enumerate(links.labels):
        panel, row = panels[place * count // len(links.labels)], place % style.MOST_CURVES
        orbit(panel, factor * angle[:, place], factor * speed[:, place], row, f"link {label}")
    for panel in panels:
        panel.set_xlabel(f"angle from {name} [{unit}]")
        panel.set_ylabel(f"angular velocity [{unit}/{results.unit('time')}]")
        if count > 1:
            named = panel.get_legend_handles_labels()[1]
            panel.set_title(f"{named[0]} to {named[-1]}", fontsize=style.SMALL)
    finish_planes(panels)
    figure.set_label(links.source)
    return figure


def orbit_panels(count: int, title: str) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(4.4 * count + 1.6, 4.6), layout="constrained")
    figure.suptitle(style.shortened(title), fontsize=style.TITLE)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def orbit(panel: Axes, x: Floats, y: Floats, place: int, label: str) -> None:
    """One orbit; a dot where it starts."""
    look: dict[str, Any] = {"color": style.OKABE_ITO[place], "ls": style.DASHES[place], "lw": 1.2}
    if len(x) > MOST_POINTS:  # all of them, as pixels: fewer would cut the corners of the orbit
        look |= {"ls": "-", "lw": 0.5, "rasterized": True}
    panel.plot(x, y, label=label, **look)
    panel.plot(x[0], y[0], "o", color=style.OKABE_ITO[place], ms=5)


def finish_planes(panels: list[Axes]) -> None:
    for panel in panels:
        style.tidy(panel)
        panel.margins(0.05)
        panel.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    labelled = {line.get_label(): line for panel in panels for line in panel.get_legend_handles_labels()[0]}
    style.legend_below(panels[-1], list(labelled.values()))
