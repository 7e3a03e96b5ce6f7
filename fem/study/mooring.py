"""Statics of a mooring: forces on a vessel over its offsets, 6 x 6 stiffness, lines: ``fem mooring``, ``fem.mooring``.

The nodes of the vessel are held where the deck has them in equilibrium, and moved as a rigid body. With the forces f of
the lines on the vessel at arms r from the reference point, which moves with it, d a displacement and t a small rotation
about global axes,

    F = sum f,  M = sum r x f
    K = - d(F, M)/d(d, t) = G^T (k_bb - k_bi k_ii^-1 k_ib) G + sum [0 0; 0 (r.f) 1 - r f^T]

k is the tangent of the lines, b the dofs of the vessel, i those of the lines; G = (1, -[r]) moves b with the vessel.
(t x r) x f = r (t.f) - t (r.f) is the last sum: it is symmetric where M = 0.

A line on the seabed touches it with whole nodes, so that k jumps where one lands or lifts off. The last node that
touches carries a share p = N/W of its weight W: the line leaves the seabed (p - 1/2) h from there. K is the parabola
through the stiffness with this node lifted, with it down, and with the next one down, too: that of a continuous line to
second order in the length h of bars, and the mean over several nodes of the derivative of F, M.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, Sparse
from fem.assembly.equations import reduction
from fem.deck import read_model
from fem.errors import CommandError, ModelError
from fem.linear.factors import solve_pivoting
from fem.model import Boundary, Frequency, Model, RigidBody, Static, Step
from fem.model.facts import natural_lengths
from fem.model.free_bodies import rotation_of, rotation_vector
from fem.model.mesh import BARS, BEAMS, ElementBlock, Mesh
from fem.model.quantities import ELEMENTAL, NODAL, Values
from fem.runner import run
from fem.runs.record import Modes, Requests, SilentSink
from fem.runs.tables import chains_of
from fem.solve.loop import Run, begin
from fem.solve.modes import springs_of
from fem.solve.outcome import frame_of
from fem.solve.plan import StepPlan
from fem.solve.start import evaluate_start, mass_matrix
from fem.solve.step_system import StepSystem, loading_at
from fem.study.rigidity import number_of

HEADINGS = tuple(45.0 * k for k in range(8))
LINE = ("pull", "TE", "DECL", "AZIM", "T_anchor", "uplift", "on_bottom")
"""Columns of a line: its pull back against the offset; force, declination and azimuth at the vessel; at the other end T
of the bar and the upward pull; natural length on the seabed."""
MOTIONS = ("x", "y", "z", "rx", "ry", "rz")
NOISE = 1e-9
"""Fraction of what is beside it at which a printed number is zero within rounding errors."""
FAINT = 1e-13
"""Stiffness, over the largest, that holds what is slack."""


class Attached(NamedTuple):
    """A chain of bars from the vessel: nodes (n+1,), indices, the first of which is on the vessel; bars (n,)."""

    nodes: Ints
    bars: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Moored:
    """A mooring with the vessel at an offset.

    offset (6,)       displacement and rotation vector (radians) from where the vessel is at rest
    force (6,)        of the lines on the vessel: force, and moment about the reference point, which moves with it
    stiffness (6, 6)  about that point;  tangent (6, 6)  that of the discrete lines, without interpolation
    lines (l, c)      ``LINE``;  ends (l, 3)  pull of each line on the vessel
    """

    offset: Floats
    force: Floats
    stiffness: Floats
    tangent: Floats
    lines: Floats
    ends: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """stiffness, mass (d + 6, d + 6), sparse: of the free dofs of the lines, then of the motions of the vessel; mass is
    that of the lines alone.  dofs (d, 2)  label of the node, axis (1, 2, 3)"""

    stiffness: Sparse
    mass: Sparse
    dofs: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Mooring:
    """What ``fem.mooring`` finds.

    model     the deck up to the state, as it is solved: the vessel held, what acts on it alone left out
    about     the reference point at rest;  fairleads, anchors (l,)  labels of the ends of lines (0: no support there)
    rest      the mooring without offset;  moved (k, 6)  how the vessel is there displaced from the drawing of the deck
    paths     heading in degrees -> the mooring at rising offsets, the first of them 0
    others    at further offsets that were asked for
    energy    heading -> (k,) energy stored along the path
    modes     of the whole deck at rest; None: not asked for
    matrices  at rest
    """

    model: Model
    about: Floats
    fairleads: Ints
    anchors: Ints
    rest: Moored
    moved: Floats
    paths: dict[float, list[Moored]]
    others: list[Moored]
    modes: Modes | None
    matrices: Matrices
    notices: tuple[str, ...]

    @property
    def energy(self) -> dict[float, Floats]:
        """Of the restoring force, with its slope: int R ds = h/2 (R0 + R1) + h^2/12 (R0' - R1') between two offsets."""
        found = {}
        for heading, path in self.paths.items():
            way, total = direction(heading), [0.0]
            for one, other in pairwise(path):
                h = float((other.offset - one.offset) @ way)
                (r0, r1), (k0, k1) = (
                    [float(sign @ way) for sign in its]
                    for its in ((-one.force, -other.force), (one.stiffness @ way, other.stiffness @ way))
                )
                total.append(total[-1] + 0.5 * h * (r0 + r1) + h * h / 12.0 * (k0 - k1))
            found[heading] = np.array(total)
        return found

    def __repr__(self) -> str:
        rest, size = self.rest, np.sqrt(np.abs(self.rest.stiffness.diagonal()))
        stiffness = np.where(np.abs(rest.stiffness) < NOISE * np.outer(size, size), 0.0, rest.stiffness)
        force = np.where(np.abs(rest.force) < NOISE * np.abs(rest.force).max(initial=0.0), 0.0, rest.force)
        about = np.round(self.about, 9) + 0.0
        count = f"{len(self.fairleads)} line{'s' * (len(self.fairleads) != 1)}"
        lines = [f"mooring    {count} at rest, about ({', '.join(f'{x:.6g}' for x in about)})"]
        lines.append("lines      fairlead  anchor    end force    decl.    azim.  T at anchor    uplift  on seabed")
        for fairlead, anchor, row in zip(self.fairleads, self.anchors, rest.lines, strict=True):
            _, te, decl, azim, t, uplift, lies = row.tolist()
            ends, angles = f"{fairlead:19}  {anchor or '-':>6} {te:12.6g}", f"{decl:8.2f} {azim + 0.0:8.2f}"
            lines.append(f"{ends} {angles} {t:12.6g} {uplift:9.4g}  {lies:9.5g}")
        lines.append("force      " + " ".join(f"{value:12.6g}" for value in force))
        heads = ["stiffness", *[""] * 5]
        for head, values in zip(heads, stiffness, strict=True):
            lines.append(f"{head:11}" + " ".join(f"{value:12.6g}" for value in values))
        for heading, path in self.paths.items():
            way, last = direction(heading), path[-1]
            lines.append(
                f"offset     {np.linalg.norm(last.offset):.6g} towards {heading:g}: restoring force "
                f"{-(last.force @ way):.6g}, largest end force {last.lines[:, 1].max():.6g}"
            )
        if self.modes is not None:
            turn = np.degrees(self.moved[3:])
            lines.append("moved      " + " ".join(f"{x:.6g}" for x in (*self.moved[:3], *turn)) + " (from the drawing)")
            periods = (f"{1.0 / f:.5g}" if f > 0.0 else "none" for f in self.modes.frequency)
            lines.append(f"periods    {', '.join(periods)}")
        return "\n".join(lines)


def direction(heading: float) -> Floats:
    """(6,) unit displacement along a heading in degrees from x towards y."""
    angle = math.radians(heading)
    return np.array([math.cos(angle), math.sin(angle), 0.0, 0.0, 0.0, 0.0])


def mooring(
    deck: str | Path | Model,
    *,
    vessel: str | int | None = None,
    about: Sequence[float] | None = None,
    after: int | str | None = None,
    offset: float = 0.0,
    points: int = 10,
    headings: Sequence[float] = HEADINGS,
    at: Sequence[Sequence[float]] = (),
    modes: int | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Mooring:
    """Forces of a mooring on its vessel over offsets, and its stiffness, by statics and its tangent.

    deck        path of the ``.inp``, or a model
    vessel      reference node of the rigid body, or a set of fairleads, that moves; None: the only body
    about       reference point of moments, stiffness and rotations, as the deck draws it; None: the reference node, or
                the mean of the fairleads
    after       number or name of the static step after which the vessel is at rest; None: the last one before others
    offset      the largest horizontal offset;  points: number of offsets up to it;  headings: degrees from x towards y
    at          further offsets: displacement (3), with a rotation vector in degrees (6)
    modes       number of modes at rest; None: 6 of a free body, otherwise none
    parameters  values that override the deck's ``*PARAMETER``

    Raises
    ------
    CommandError  no such vessel or step, numbers that cannot be.
    ModelError    the lines cannot be solved as described; other errors of ``fem.run``.

    >>> found = fem.mooring("inputs/moored_platform.inp", vessel="FAIRLEADS", offset=10, headings=[0])
    >>> [round(-state.force[0] / 1e3) for state in found.paths[0][::5]]
    [391, 833, 1355]
    """
    model = read_model(deck, parameters)
    wrong = {
        f"the offset must not be negative, got {offset:g}": not 0.0 <= offset < math.inf,
        f"points are {points}; expected 1 or more": points < 1,
        "an offset has 3 numbers, or 6 with a rotation": any(len(each) not in (3, 6) for each in at),
        "about needs 3 numbers": about is not None and len(about) != 3,
        "numbers must be finite": not np.isfinite([*headings, *(about or ()), *(x for each in at for x in each)]).all(),
        f"{modes} modes; expected 0 or more": modes is not None and modes < 0,
        "an offset needs headings": offset > 0.0 and not len(headings),
    }
    for message in (message for message, is_so in wrong.items() if is_so):
        raise CommandError(message)
    body, nodes = vessel_of(model, vessel)
    steps = steps_until(model, after)
    count = modes if modes is not None else 6 * (body is not None and body.corners is not None)
    asked = (Step(Frequency(count), nlgeom=True),) if count else ()
    whole = run(replace(model, steps=(*steps, *asked)))
    u = np.array(whole.motion[-1, 0])
    held, left_out = hold(smooth_in_statics(replace(model, steps=steps)), nodes, u)
    at_rest = held.mesh.coordinates[nodes] + u[nodes]
    moved = (
        about
        if about is not None
        else (
            held.mesh.coordinates[nodes] if body is None else held.mesh.coordinates[held.mesh.nodes_of(body.node)]
        ).mean(axis=0)
    )
    drawn = held.mesh.coordinates[nodes]
    turn, shift = rigid_motion(drawn, at_rest, np.asarray(moved, float))
    point = np.asarray(moved, float) + shift
    lines = list(lines_of(held, nodes))
    if not lines:
        raise ModelError("no line ends at the vessel")
    frame = Vessel(nodes, at_rest, point, lines)
    others = [np.array([*each[:3], *np.radians([*each[3:], 0.0, 0.0, 0.0][:3])]) for each in at]
    ways = [[offset * k / points * direction(heading) for k in range(1, points + 1)] for heading in headings if offset]
    found = [follow(held, frame, way) for way in [*ways, *([each] for each in others)] or [[]]]
    rest = found[0][0][0]
    paths = {float(heading): its[0] for heading, its in zip(headings if offset else (), found, strict=False)}
    ends = [held.mesh.node_labels[[line.nodes[0], line.nodes[-1]]] for line in lines]
    supported = set(held.mesh.node_labels[fixed_nodes(held)].tolist())
    anchors = [last if last in supported else 0 for last in (int(pair[1]) for pair in ends)]
    notices = dict.fromkeys((*whole.notices, *left_out, *(text for its in found for text in its[2])))
    return Mooring(
        held,
        point,
        np.array([pair[0] for pair in ends]),
        np.array(anchors),
        rest,
        np.concatenate([shift, turn]),
        paths,
        [its[0][-1] for its in found[len(ways) :]] if others else [],
        whole.modes[-1] if count else None,
        found[0][1],
        tuple(notices),
    )


def vessel_of(model: Model, vessel: str | int | None) -> tuple[RigidBody | None, Ints]:
    """The body that moves, if it is one, and all nodes that move with it. CommandError: there is none, or several."""
    bodies, mesh = (*model.bodies, *model.free_bodies), model.mesh
    names = ", ".join(mesh.named(body.node) for body in bodies)
    if vessel is None:
        if len(bodies) != 1:
            has = f"the deck has {len(bodies)} rigid bodies ({names})" if bodies else "the deck has no *RIGID BODY"
            raise CommandError(f"{has}: --vessel names the reference node of one, or a set of fairleads")
        chosen: str | int = bodies[0].node
    else:
        chosen = int(vessel) if str(vessel).isdigit() else vessel
    try:
        nodes = mesh.nodes_of(chosen)
    except KeyError as error:
        raise CommandError(str(error.args[0])) from None
    for body in bodies:
        its = body_nodes(model, body)
        if np.array_equal(mesh.nodes_of(body.node), nodes):
            return body, its
        if np.isin(nodes, its).any():
            raise CommandError(
                f"{vessel} is on the rigid body of node {mesh.named(body.node)}: --vessel names that node"
            )
    return None, np.unique(nodes)


def body_nodes(model: Model, body: RigidBody) -> Ints:
    """All nodes that move with a body, with those that carry its inertia or stand for its rotations."""
    sets = [name for name in (body.pinned, body.corners, body.axes) if name]
    its = [model.mesh.nodes_of(body.node), *(model.mesh.nodes_of(name) for name in sets)]
    return np.unique(np.concatenate(its))


def steps_until(model: Model, after: int | str | None) -> tuple[Step, ...]:
    """The static steps to the state at rest. CommandError: there are none, or others among them."""
    count = len(list(takewhile(lambda step: step.static, model.steps)))
    number = count if after is None else number_of(model, after)
    if model.earlier is not None:
        raise CommandError("a deck that continues another run (*RESTART, READ) has no mooring of its own")
    if not 0 < number <= count:
        what = f"step {count + 1} is not *STATIC" if number > count else "the deck does not begin with *STATIC"
        raise CommandError(f"{what}: the vessel must come to rest in static steps")
    if not all(step.nlgeom for step in model.steps[:number]):
        raise CommandError("statics of a mooring needs *STEP, NLGEOM: lines that hang have no linear equilibrium")
    return model.steps[:number]


def hold(model: Model, nodes: Ints, u: Floats) -> tuple[Model, list[str]]:
    """The model with some nodes held at displacements u (n, 3), without what acts on these alone; and what that is."""
    mesh, is_held = model.mesh, np.zeros(len(model.mesh.node_labels), np.bool_)
    is_held[nodes] = True
    inside = is_held[mesh.element_nodes].all(axis=1) & ~mesh.is_of(*BEAMS)
    if mesh.has_pulleys:
        inside &= mesh.pulley_nodes < 0
    small = without(mesh, inside)
    here: dict[str, Any] = {
        "mesh": small,
        "bodies": tuple(b for b in model.bodies if not is_held[mesh.nodes_of(b.node)].any()),
    }
    here["free_bodies"] = tuple(b for b in model.free_bodies if not is_held[mesh.nodes_of(b.node)].any())
    here["equations"] = tuple(e for e in model.equations if not all(is_held[node] for node, *_ in e.terms))
    here["links"] = tuple(pair for pair in model.links if not is_held[list(pair)].all())
    here["boundaries"] = outside(mesh, model.boundaries, is_held)
    here["rotations"] = outside(mesh, model.rotations, is_held)

    def left(entries: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(each for each in entries if not is_gone(mesh, small, each))

    for name in PROPERTIES:
        here[name] = left(getattr(model, name))
    begun = [each for each in model.initial_conditions if each.kind not in ("STRESS", "VELOCITY")]
    stressed = [each for each in model.initial_conditions if each.kind == "STRESS"]
    here["initial_conditions"] = (*left(stressed), *outside(mesh, begun, is_held))
    stays, steps = held_at(mesh, nodes, u[nodes]), []
    for step in model.steps:
        own: dict[str, Any] = {
            name: outside(mesh, getattr(step, name), is_held) for name in ("boundaries", "rotations", "nodal_loads")
        }
        own |= {name: left(getattr(step, name)) for name in ACTIONS}
        own["boundaries"] = (*own["boundaries"], *stays)
        steps.append(replace(step, **own, moments=(), outputs=()))
    notices = []
    if count := int(np.count_nonzero(inside)):
        what = f"{count} elements between nodes of the vessel and their loads are left out"
        notices.append(f"{what}: forces are those of the lines")
    return replace(model, **here, steps=tuple(steps), laid=()), notices


def smooth_in_statics(model: Model) -> Model:
    """Without the friction of bottoms that do not rub in statics, which would otherwise stick in the tangent of
    perturbation steps: the stiffness would not be the derivative of the forces."""

    def smooth(bed: Any) -> Any:
        return bed if bed.rubs_in_statics else replace(bed, axial=0.0, lateral=0.0)

    return replace(model, seabeds=tuple(map(smooth, model.seabeds)), cylinders=tuple(map(smooth, model.cylinders)))


def held_at(mesh: Mesh, nodes: Ints, u: Floats) -> tuple[Boundary, ...]:
    """Supports of nodes (p,) at displacements (p, 3)."""
    places = zip(mesh.node_labels[nodes].tolist(), u.tolist(), strict=True)
    return tuple(Boundary(label, axis, x) for label, row in places for axis, x in enumerate(row, 1))


PROPERTIES = (
    *("sections", "springs", "dashpots", "masses", "inertias", "nonstructural", "rest_lengths", "pulleys", "failures"),
    *("seabeds", "growths"),
)
ACTIONS = ("distributed_loads", "fluid_loads", "winches")


def is_gone(mesh: Mesh, small: Mesh, entry: Any) -> bool:
    """Whether an entry belongs to elements that the smaller mesh has not."""
    target = getattr(entry, "element_set", getattr(entry, "target", None))
    if isinstance(target, str):
        return not len(small.element_sets[target.upper()]) and bool(len(mesh.element_sets[target.upper()]))
    return target is not None and target not in small.element_labels


def without(mesh: Mesh, gone: Flags) -> Mesh:
    """The mesh without some elements."""
    kept, first, blocks = ~gone, 0, []
    for block in mesh.blocks:
        own = kept[first : first + len(block.labels)]
        first += len(block.labels)
        if own.any():
            blocks.append(ElementBlock(block.kind, block.labels[own], np.ascontiguousarray(block.connectivity[own])))
    place = np.cumsum(kept) - 1
    sets = {name: place[its[kept[its]]] for name, its in mesh.element_sets.items()}
    return replace(mesh, blocks=tuple(blocks), element_sets=sets)


def outside(mesh: Mesh, entries: Sequence[Any], is_held: Flags) -> tuple[Any, ...]:
    """Entries of nodes, without those of nodes that are held."""
    found = []
    for entry in entries:
        its = mesh.nodes_of(entry.target)
        free = its[~is_held[its]]
        if len(free) == len(its):
            found.append(entry)
        else:
            found += [replace(entry, target=label) for label in mesh.node_labels[free].tolist()]
    return tuple(found)


def fixed_nodes(model: Model) -> Ints:
    """Nodes that supports hold in all directions."""
    mesh, held = model.mesh, np.zeros((len(model.mesh.node_labels), 4), np.bool_)
    for each in (*model.boundaries, *(each for step in model.steps for each in step.boundaries)):
        held[mesh.nodes_of(each.target), each.dof] = True
    return np.flatnonzero(held[:, 1:].all(axis=1))


def rigid_motion(drawn: Floats, places: Floats, about: Floats) -> tuple[Floats, Floats]:
    """Rotation vector (3,) and displacement of a point (3,) that fit the motion of points best (Kabsch)."""
    left, _, right = np.linalg.svd((drawn - drawn.mean(axis=0)).T @ (places - places.mean(axis=0)))
    sign = np.sign(np.linalg.det(left @ right)) or 1.0
    turn = (left * [1.0, 1.0, sign] @ right).T
    vector = rotation_vector(turn[None])[0] if np.linalg.matrix_rank(drawn - drawn.mean(axis=0)) > 1 else np.zeros(3)
    turn = rotation_of(vector)
    return vector, places.mean(axis=0) + turn @ (about - drawn.mean(axis=0)) - about


def lines_of(model: Model, nodes: Ints) -> Iterator[Attached]:
    """Chains of bars that end at the vessel, from there on, in the order of the deck."""
    mesh, is_held = model.mesh, np.zeros(len(model.mesh.node_labels), np.bool_)
    is_held[nodes] = True
    ends = mesh.element_nodes
    bars = np.flatnonzero(mesh.is_of(*BARS) & ~is_held[ends].all(axis=1))
    for path, its in chains_of(ends, bars):
        cuts = [0, *(np.flatnonzero(is_held[path[1:-1]]) + 1).tolist(), len(path) - 1]
        for first, last in pairwise(cuts):
            part, own = path[first : last + 1], its[first:last]
            if is_held[part[0]]:
                yield Attached(part, own)
            elif is_held[part[-1]]:
                yield Attached(part[::-1], own[::-1])


class Vessel(NamedTuple):
    """nodes (p,) of the vessel, at (p, 3) at rest, the reference point (3,) there, and its lines."""

    nodes: Ints
    at_rest: Floats
    point: Floats
    lines: list[Attached]

    def places(self, offset: Floats) -> Floats:
        """(p, 3) at an offset."""
        return np.asarray(self.point + offset[:3] + (self.at_rest - self.point) @ rotation_of(offset[3:]).T)


class MooringRun(Run):
    """A run that notes the mooring in its perturbation steps.  look  (stage, frame of the state)"""

    look: Callable[[StepSystem, Any], None]

    def frequency(self, plan: StepPlan, procedure: Frequency, stage: StepSystem) -> None:
        motion, acting = self.progress.motion, loading_at(stage, self.progress.motion, plan.span.start)
        evaluate_start(stage, motion, acting)
        self.look(stage, frame_of(stage, plan.number, self.progress, acting.thermal_end[0], None, False, False))


class Notices(SilentSink):
    """Keeps notices."""

    hears_rows = False

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def follow(model: Model, frame: Vessel, offsets: Sequence[Floats]) -> tuple[list[Moored], Matrices, list[str]]:
    """The mooring at rest and at offsets one after the other; matrices at rest; notices."""
    looking = Step(Frequency(1), nlgeom=True)
    steps = [*model.steps, looking]
    for offset in offsets:
        moves = held_at(model.mesh, frame.nodes, frame.places(offset) - model.mesh.coordinates[frame.nodes])
        steps += [Step(Static(), nlgeom=True, amplitude="RAMP", boundaries=moves), looking]
    found: list[Moored] = []
    kept: list[Matrices] = []

    def look(stage: StepSystem, seen: Any) -> None:
        offset = offsets[len(found) - 1] if found else np.zeros(6)
        arms = frame.places(offset) - frame.point - offset[:3]
        of = Values(NODAL, model, np.arange(len(model.mesh.node_labels)), seen.motion)
        pulls = of.pull[frame.nodes]
        force = np.concatenate([pulls.sum(axis=0), np.cross(arms, pulls).sum(axis=0)])
        made = matrices_of(stage, frame.nodes, arms, pulls)
        if not found:
            kept.append(made)
        lifts = [list(lift_offs(model, line, stage, of)) for line in frame.lines]
        both = condensed(stage, made, [each for its in lifts for each in its])
        found.append(Moored(offset, force, *both, *of_lines(model, frame, stage, seen, of, offset, lifts)))

    heard = Notices()
    run = begin(MooringRun, replace(model, steps=tuple(steps)), heard, Requests(fields=False), None)
    run.look = look
    run.run()
    return found, kept[0], heard.notices


def matrices_of(stage: StepSystem, nodes: Ints, arms: Floats, pulls: Floats) -> Matrices:
    """Tangent and mass of a state evaluated into ``stage.work``, with the motions of the vessel."""
    from scipy.sparse import coo_array, eye_array, hstack

    dofs, kind = (3 * nodes[:, None] + np.arange(3)).ravel(), stage.nodes.dof_kind.copy()
    kind[dofs] = 1
    unknown = np.flatnonzero(kind == 1)
    own = np.flatnonzero(np.isin(unknown, dofs, invert=True))
    x, y, z = arms.T
    none = np.zeros_like(x)
    turns = np.array([[none, z, -y], [-z, none, x], [y, -x, none]]).transpose(2, 0, 1)  # u = t x r
    moves = np.concatenate([np.tile(np.eye(3), (len(nodes), 1, 1)), turns], axis=2).reshape(-1, 6)
    rows = np.repeat(np.searchsorted(unknown, dofs), 6)
    body = coo_array((moves.ravel(), (rows, np.tile(np.arange(6), len(dofs)))), shape=(len(unknown), 6))
    whole = (reduction(kind, stage.equations) @ hstack([eye_array(len(unknown)).tocsc()[:, own], body])).tocsr()
    right, weights, left = springs_of(stage, whole)
    right = (right @ whole).tocsr()
    stiffness = ((right if left is None else left).T.multiply(weights) @ right).tolil()
    size = stiffness.shape[0]
    turned = (arms * pulls).sum() * np.eye(3) - arms.T @ pulls
    stiffness[size - 3 :, size - 3 :] += turned
    mass = whole.T @ mass_matrix(stage) @ whole
    at = unknown[own]
    return Matrices(stiffness.tocsc(), mass.tocsc(), np.column_stack([stage.system.labels[at // 3], at % 3 + 1]))


class LiftOff(NamedTuple):
    """The last node that touches a seabed, the next one of the line, which does not, and how far from the node towards
    that one the line leaves the seabed, over the length h of bars, -1/2 to 1/2."""

    node: int
    beside: int
    way: float
    normal: Floats
    stiffness: float


def lift_offs(model: Model, line: Attached, stage: StepSystem, of: Values) -> Iterator[LiftOff]:
    """Where a line leaves the seabed, as long as nodes there are free."""
    up = model.mesh.up
    kind, load, block = stage.nodes.dof_kind.reshape(-1, 3), stage.work.load.reshape(-1, 3), stage.work.tangent.block
    places = of["COORD"][line.nodes]
    depth, below = depths(model, line, places)
    down = depth > 0.0
    for first in np.flatnonzero(down[1:] != down[:-1]):
        here, other = (first, first + 1) if down[first] else (first + 1, first)
        beyond = 2 * here - other
        if not (0 <= beyond < len(down) and down[beyond]):
            continue  # it touches with one node only
        node, beside, bed = int(line.nodes[here]), int(line.nodes[other]), model.seabeds[below[here]]
        slope = bed.normal(up) if bed.grid is None else -bed.grid.depth(places[[here]])[1][0]
        normal = slope / np.linalg.norm(slope)
        weight, stiff = -float(load[node] @ normal), float(normal @ block[node].reshape(3, 3) @ normal)
        if weight > 0.0 and stiff > 0.0 and (kind[[node, beside]] == 1).all():
            way = min(float(of["CFORCE"][node] @ normal) / weight, 1.0) - 0.5
            yield LiftOff(node, beside, way, normal, stiff)


def depths(model: Model, line: Attached, places: Floats) -> tuple[Floats, Ints]:
    """Depth (n+1,) of the nodes of a line below a seabed that a bar beside the node may touch, the greatest, and the
    number (n+1,) of this seabed; -inf where there is none. The segments of a line may have a seabed each."""
    deepest, number = np.full(len(places), -np.inf), np.zeros(len(places), np.int64)
    for k, bed in enumerate(model.seabeds):
        may = np.isin(line.bars, model.mesh.bars_in(bed.element_set))
        touches = np.append(may, False) | np.append(False, may)
        depth = np.where(touches, bed.depth(places, model.mesh.up), -np.inf)
        number = np.where(depth > deepest, k, number)
        deepest = np.maximum(depth, deepest)
    return deepest, number


def condensed(stage: StepSystem, made: Matrices, found: Sequence[LiftOff]) -> tuple[Floats, Floats]:
    """(6, 6) stiffness of the vessel, with the lines in equilibrium, and without interpolation.

    ModelError: the tangent is singular.
    With the contact c e e^T of a node more, k_ii^-1 is less by c x x'/(1 + c e.x), x = k_ii^-1 e."""
    from scipy.sparse import eye_array

    size = made.stiffness.shape[0] - 6
    inner, across = made.stiffness[:size, :size], made.stiffness[:size, size:].toarray()
    back = made.stiffness[size:, :size].toarray()
    if len(stage.bars.rods):
        raise ModelError("lines of constant length (*INEXTENSIBLE) have no stiffness of their own: give them *ELASTIC")
    held = inner + FAINT * float(np.abs(inner.diagonal()).max(initial=0.0)) * eye_array(size)
    ways = [(each, node, sign) for each in found for node, sign in ((each.node, -1.0), (each.beside, 1.0))]
    normals = np.zeros((size, len(ways)))
    for e, (each, node, _) in zip(normals.T, ways, strict=True):
        e[made.dofs[:, 0] == stage.system.labels[node]] = each.normal
    solved = solve_pivoting(held.tocsc(), np.hstack([across, normals]))
    if solved is None:
        raise ModelError("the lines have no stiffness in some direction: they are mechanisms")
    through, moved = solved[:, :6], solved[:, 6:]
    tangent = made.stiffness[size:, size:].toarray() - back @ through
    whole = tangent.copy()
    for (each, _, sign), e, x in zip(ways, normals.T, moved.T, strict=True):  # Lagrange's parabola
        share, c = 0.5 * each.way * (each.way + sign), sign * each.stiffness
        whole += share * c / (1.0 + c * float(e @ x)) * np.outer(back @ x, e @ through)
    if not np.isfinite(whole).all():
        raise ModelError("the stiffness is not finite: the lines are mechanisms")
    return whole, tangent


TENSION = [quantity.name for quantity in ELEMENTAL].index("T")


def of_lines(
    model: Model, frame: Vessel, stage: StepSystem, seen: Any, of: Values, offset: Floats, lifts: list[list[LiftOff]]
) -> tuple[Floats, Floats]:
    """``LINE`` (l, c) of all lines and their pulls on the vessel (l, 3)."""
    place, up, mesh = of["COORD"], model.mesh.up, model.mesh
    tension, mass = seen.element_values[:, TENSION], stage.system.element_mass
    toward = [
        way / np.linalg.norm(way) for way in (place[line.nodes[1]] - place[line.nodes[0]] for line in frame.lines)
    ]
    inner = [tension[line.bars[0]] * way for line, way in zip(frame.lines, toward, strict=True)]
    pulls = np.array(inner)
    tops = np.array([line.nodes[0] for line in frame.lines])
    shares = np.array([mass[line.bars[0]] for line in frame.lines])
    for top in np.unique(tops):  # what acts on half a bar there, in proportion to the mass
        its = tops == top
        part = shares[its] / shares[its].sum() if shares[its].sum() > 0.0 else np.full(its.sum(), 1.0 / its.sum())
        pulls[its] += part[:, None] * (of.pull[top] - pulls[its].sum(axis=0))
    lengths, reach = natural_lengths(mesh, model.rest_lengths), np.linalg.norm(offset[:2])
    supported, rows = fixed_nodes(model), []
    for line, pull, its_lifts in zip(frame.lines, pulls, lifts, strict=True):
        horizontal = np.hypot(*np.delete(pull, up))
        decl, azim = math.degrees(math.atan2(horizontal, pull[up])), math.degrees(math.atan2(pull[1], pull[0]))
        last = line.nodes[-1]
        uplift = max(float(of.pull[last, up]), 0.0) if last in supported else math.nan
        length = lengths[line.bars]
        deep = depths(model, line, place[line.nodes])[0]
        deep += np.where(np.isin(line.nodes, supported), NOISE * length.sum(), 0.0)
        lies = float(length[(deep[1:] > 0.0) & (deep[:-1] > 0.0)].sum())
        lies += sum(each.way * length[np.argmax(np.isin(line.nodes, (each.node, each.beside)))] for each in its_lifts)
        back = -float(pull[:2] @ offset[:2]) / reach if reach else 0.0
        rows.append([back, float(np.linalg.norm(pull)), decl, azim, tension[line.bars[-1]], uplift, lies])
    return np.array(rows), pulls
