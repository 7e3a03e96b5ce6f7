"""Free rigid motions in statics.

Each body (nodes connected by bars, springs and equations) has six rigid motions: v = t + w x (x - c). They are free if
they move no support, no held direction, no spring to the ground and no equation, and if internal forces rotate with the
body. If the loads do no work along them, as many dofs as there are free motions are held by a stiffness *in the tangent
only*: the residuals do no work along them either, so this stiffness has no force, and Newton's method is unchanged. The
dofs are those with the largest independent displacements (pivoted Gram-Schmidt).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Sparse
from fem.errors import ModelError
from fem.forces.bar import AREA, GEOMETRIC, INV_LENGTH, YOUNG
from fem.solve.newton.groups import Motion
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem, loading_at

HELD = 1e-6
"""Stiffness of held dofs over the largest of the model: small, so as not to suppress restoring moments of loads."""
BALANCED = 1e-6
"""Fraction of the largest force that is a rounding error of equilibrium."""
DEFORMED = 1e-3
"""Moment of loads in balance on a deformed body, as a fraction of the loads times its size."""
NONE = 1e-9
"""Fraction of a motion, a load or a stiffness that counts as zero."""
STRAIGHT = 1e-12
"""Mean square displacement of a rotation, for a body of size 1, that moves none of its nodes."""
MOST_SUPPORTS = 60
"""Bodies with at least this number of supported dofs have no free motions."""
SMALL_TURN = 1e-4
"""Angles [radians], or displacements over the size of a body, of the motions that are tried."""
AXES = "xyz"
COUNT = ("", "one rigid motion is", "two rigid motions are", "three rigid motions are", "four rigid motions are",
         "five rigid motions are", "six rigid motions are")  # fmt: skip


class Rigid(NamedTuple):
    """The free rigid motions of a body.

    nodes    (k,) of the body;  place (k, 3) present positions, centre (3,), size of the body
    motions  (6, r)  orthonormal: translations, rotations times size
    is_held  other motions of the body are supported
    """

    nodes: Ints
    place: Floats
    centre: Floats
    size: float
    motions: Floats
    is_held: bool

    def turns(self, forces: Floats) -> bool:
        """Whether the moment of forces (k, 3) changes when the body rotates and they do not."""
        change = np.cross(self.motions[3:].T[:, None, :], forces[None])
        return bool(np.abs(change).max(initial=0.0) > NONE * np.abs(forces).max(initial=0.0))

    def shapes(self) -> Floats:
        """(k, 3, r) displacements."""
        return np.asarray(np.einsum("kij,jr->kir", fields(self.place, self.centre, self.size), self.motions))

    def whole(self, count: int) -> Floats:
        """(3n, r) the same over all n nodes."""
        found = np.zeros((count, 3, self.motions.shape[1]))
        found[self.nodes] = self.shapes()
        return found.reshape(3 * count, -1)


def fields(place: Floats, centre: Floats, size: float) -> Floats:
    """(k, 3, 6) displacements of nodes in three translations and rotations about a centre; angles times ``size``."""
    arm = (place - centre) / size
    turns = np.cross(np.eye(3)[None, :, :], arm[:, None, :]).transpose(0, 2, 1)
    return np.concatenate([np.broadcast_to(np.eye(3), (len(place), 3, 3)), turns], axis=2)


def rigid_motions(stage: StepSystem, motion: Motion) -> list[Rigid]:
    """Free rigid motions of all bodies that have any; none in models with free rigid bodies."""
    system, nodes = stage.system, stage.nodes
    if system.model.corners:
        return []
    is_free = (nodes.dof_kind != 0).reshape(-1, 3)
    place = (nodes.place + motion.u).reshape(-1, 3)
    found = list[Rigid]()
    label = stage.parts()
    count = np.bincount(label, weights=is_free.sum(axis=1), minlength=label.max(initial=-1) + 1)
    fixed = np.bincount(label, weights=(~is_free).sum(axis=1), minlength=len(count))
    for body in np.flatnonzero((count > 0) & (fixed < MOST_SUPPORTS)):
        (its,) = np.nonzero(label == body)
        if len(its) < 2:
            continue
        centre = place[its].mean(axis=0)
        size = float(np.abs(place[its] - centre).max()) or 1.0
        shapes = fields(place[its], centre, size)
        rows = _held(stage, its, shapes)
        square, vectors = np.linalg.eigh(np.einsum("kir,kis->rs", shapes, shapes) / len(its))
        moving = vectors.T[square > STRAIGHT]  # rotation of a straight body about its axis moves no node
        _, values, those = np.linalg.svd(rows @ moving.T, full_matrices=True)
        motions = moving.T @ those[int(np.count_nonzero(values > 1e-7)) :].T
        if motions.shape[1]:
            found.append(Rigid(its, place[its], centre, size, motions, bool(rows.any())))
    return found


def _held(stage: StepSystem, its: Ints, shapes: Floats) -> Floats:
    """(h, 6) displacements by the six motions of some nodes at supports, held directions, springs and equations."""
    nodes, springs, equations = stage.nodes, stage.system.springs, stage.equations
    count = len(stage.system.labels)
    full = np.zeros((3 * count + 1, 6))
    full[(3 * its[:, None] + np.arange(3)).ravel()] = shapes.reshape(-1, 6)
    rows = [full[:-1][nodes.dof_kind == 0]]
    if len(nodes.artificial_stiffness):
        blocks = nodes.artificial_stiffness.reshape(-1, 3, 3)
        (held,) = np.nonzero(blocks.any(axis=(1, 2)))
        scale = np.abs(blocks[held]).max(axis=(1, 2))
        rows.append((blocks[held] / scale[:, None, None] @ full[:-1].reshape(-1, 3, 6)[held]).reshape(-1, 6))
    rows.append(full[springs.dofs[:, 0]] - full[springs.dofs[:, 1]])
    terms = equations.factor[:, None] * full[equations.master]
    owner = np.repeat(np.arange(len(equations.slave)), np.diff(equations.start))
    sums = full[equations.slave]
    np.subtract.at(sums, owner, terms)
    twists = stage.system.twists
    if twists is not None and np.isin(twists.node, its).any():  # a clamp that holds direction and twist
        rows.append(np.eye(6)[3:])
    return np.concatenate([*rows, sums])


def hold_rigid(stage: StepSystem, motion: Motion, now: float, nlgeom: bool) -> str:
    """Holds the free rigid motions in the tangent; returns a notice of them, or an empty text.
    The state must have been evaluated into ``stage.work``."""
    free = [each for each in rigid_motions(stage, motion) if not np.any(_parts(stage.loads.by_curve(), each))]
    free = [each for each in free if not _is_loaded(stage, motion, each)]
    free = [each for each in free if _turns_freely(stage, motion, now, each, nlgeom)]
    if not free:
        return ""
    stiff, held = _stiffness(stage), np.zeros((len(stage.system.labels), 9))
    for each in free:
        is_free = (stage.nodes.dof_kind == 1).reshape(-1, 3)[each.nodes]
        for node, axis in _apart(each.shapes() * is_free[:, :, None]):
            held[each.nodes[node], 4 * axis] = HELD * stiff
    stage.rigid, stage.free_shapes = held, over_all(stage, free)
    before = stage.nodes.artificial_stiffness
    stage.nodes = stage.nodes._replace(artificial_stiffness=held + before if len(before) else held)
    return f"{listed_motions(stage, free)}: the loads have no part along them, and they are held in the tangent only"


def listed_motions(stage: StepSystem, free: list[Rigid]) -> str:
    """How many motions are free, and their names."""
    texts = list[str]()
    for each in free:
        of = "" if len(free) == 1 else f" of the part with node {stage.system.labels[each.nodes[0]]}"
        texts.append(f"{COUNT[each.motions.shape[1]]} free{of} ({_names(each)})")
    return ", ".join(texts)


def _is_loaded(stage: StepSystem, motion: Motion, each: Rigid) -> bool:
    """Whether a supported body is stabilised by its loads, and its bars carry forces, as in a hanging line."""
    free = (stage.nodes.dof_kind != 0).reshape(-1, 3)[each.nodes]
    loads = (load.reshape(-1, 3)[each.nodes] for load in stage.loads.by_curve())
    return each.is_held and any(map(each.turns, loads)) and each.turns(motion.force.reshape(-1, 3)[each.nodes] * free)


def refuse_rigid_loads(stage: StepSystem, motion: Motion, now: float, nlgeom: bool) -> None:
    """ModelError: a load does work along a free rigid motion, and nothing turns the body: neither loads that act
    already, as on a hanging line, nor bars whose forces are not yet in equilibrium."""
    if len(stage.loads.cases) == 0:
        return
    for each in rigid_motions(stage, motion):
        part = _parts(stage.loads.by_curve(), each)
        if not np.any(part) or not _turns_freely(stage, motion, now, each, nlgeom):
            continue
        along, is_move = _along(each, part)
        if is_move or not _is_turned(stage, motion, each):
            raise not_held(stage, each, along)


def not_held(stage: StepSystem, each: Rigid, along: Floats) -> ModelError:
    """Loads act along a motion (6,) that nothing holds."""
    hangs = "; lines that hang find their place in a step with NLGEOM if all bars have *NO COMPRESSION"
    return ModelError(
        f"nothing holds the part with node {stage.system.labels[each.nodes[0]]} against {_name(each, along)}, and "
        f"its loads have a part along it; add supports, or loads that are in balance{hangs * each.is_held}"
    )


def _along(each: Rigid, part: Floats) -> tuple[Floats, bool]:
    """The motion (6,) along which loads act, their translation where they have one, which is the usual name; whether
    it is that."""
    along = each.motions @ part
    moves, _ = _moves_and_turns(each.motions)
    is_move = moves.shape[1] > 0 and bool(np.linalg.norm(moves.T @ along) > NONE * np.linalg.norm(along))
    along = moves @ (moves.T @ along) if is_move else along
    return along / np.linalg.norm(along), is_move


def refuse_along(stage: StepSystem, free: list[Rigid], load: Floats) -> None:
    """ModelError: a load (3n,) acts along one of these motions; moments by deformation of the body are none."""
    for each in free:
        if np.any(part := _parts([load], each)):
            along, is_move = _along(each, part)
            if is_move or np.linalg.norm(part) > DEFORMED * np.abs(load.reshape(-1, 3)[each.nodes]).sum():
                raise not_held(stage, each, along)


def unheld(stage: StepSystem, bodies: list[Rigid], rows: Sparse, weights: Floats) -> list[Rigid]:
    """The rigid motions of bodies without supports, and those of others in which K = R^T w R has no stiffness, that of
    loads included; rows R over all dofs."""
    found = list[Rigid]()
    for each in bodies:
        moved = rows @ each.whole(len(stage.system.labels))
        stiffness, vectors = np.linalg.eigh(moved.T @ (weights[:, None] * moved))
        limit = BALANCED * np.abs(weights[:, None] * moved**2).sum() + NONE * NONE * _stiffness(stage) * len(each.nodes)
        if (free := (np.abs(stiffness) <= limit) | (not each.is_held)).any():
            found.append(each._replace(motions=each.motions @ vectors[:, free]))
    return found


def _is_turned(stage: StepSystem, motion: Motion, each: Rigid) -> bool:
    """Whether loads that act already, or bars whose forces are not yet in equilibrium, turn the body."""
    free = (stage.nodes.dof_kind != 0).reshape(-1, 3)[each.nodes]
    acting = stage.work.load.reshape(-1, 3)[each.nodes] * free
    left = acting - motion.force.reshape(-1, 3)[each.nodes] * free
    pulls = stage.work.tangent.bar_tangent[GEOMETRIC] * stage.system.length0
    size = max(float(np.abs(forces).max(initial=0.0)) for forces in (stage.work.load, pulls))
    return each.turns(acting) or (bool(np.abs(left).max(initial=0.0) > BALANCED * size) and each.turns(left))


def _parts(loads: Iterable[Floats], each: Rigid) -> Floats:
    """(r,) component of a load along each motion, above rounding; of several loads, of the first that has one."""
    for load in loads:
        forces = load.reshape(-1, 3)[each.nodes]
        part = np.asarray(np.einsum("kir,ki->r", each.shapes(), forces))
        if np.linalg.norm(part) > NONE * np.abs(forces).sum():
            return part
    return np.zeros(0)


def over_all(stage: StepSystem, free: list[Rigid]) -> Floats:
    """(3n, r) orthonormal displacements of all motions over all nodes."""
    columns = [each.whole(len(stage.system.labels)) for each in free]
    return np.linalg.qr(np.concatenate(columns, axis=1))[0]


def _turns_freely(stage: StepSystem, motion: Motion, now: float, each: Rigid, nlgeom: bool) -> bool:
    """Whether internal forces rotate with the body, so that nothing else holds it (a seabed, water, a clamped end)."""
    instant, kept = loading_at(stage, motion, now), motion.u.copy()
    states = [array.copy() for array in (motion.force, motion.flow, motion.power, motion.state)]
    inside = motion.force.reshape(-1, 3)[each.nodes].copy()
    least = NONE * _stiffness(stage) * SMALL_TURN * each.size + NONE * float(np.abs(inside).max(initial=0.0))
    is_free = True
    for column in each.motions.T:
        move, angle = SMALL_TURN * each.size * column[:3], SMALL_TURN * column[3:]
        turn = _rotation(angle) if nlgeom else np.eye(3) + _cross(angle)
        arm = each.place - each.centre
        motion.u.reshape(-1, 3)[each.nodes] += arm @ (turn - np.eye(3)).T + move
        evaluate_start(stage, motion, instant)
        off = motion.force.reshape(-1, 3)[each.nodes] - inside @ turn.T
        motion.u[:] = kept
        is_free &= bool(np.abs(off).max() <= least)
    evaluate_start(stage, motion, instant)
    motion.force[:], motion.flow[:], motion.power[:], motion.state[:] = states
    return is_free


def _cross(w: Floats) -> Floats:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _rotation(angle: Floats) -> Floats:
    """(3, 3) rotation matrix of a rotation vector (Rodrigues)."""
    size = float(np.linalg.norm(angle))
    if size == 0.0:
        return np.eye(3)
    k = _cross(angle / size)
    return np.asarray(np.eye(3) + np.sin(size) * k + (1.0 - np.cos(size)) * k @ k)


def _apart(shapes: Floats) -> list[tuple[int, int]]:
    """Nodes and axes of as many dofs as there are motions (k, 3, r), which no motion is left to move when they are
    held."""
    rows, chosen = shapes.reshape(-1, shapes.shape[2]).copy(), list[tuple[int, int]]()
    for _ in range(rows.shape[1]):
        size = (rows * rows).sum(axis=1)
        first = int(np.flatnonzero(size >= (1.0 - 1e-9) * size.max())[0])
        chosen.append((first // 3, first % 3))
        along = rows[first] / np.sqrt(size[first])
        rows -= np.outer(rows @ along, along)
    return chosen


def _name(each: Rigid, along: Floats) -> str:
    """Description of a motion (6,): a translation, or a rotation and a point of its axis."""
    move, turn = along[:3], along[3:] / each.size
    if np.linalg.norm(along[3:]) <= 1e-6:
        return f"translation along {_direction(move)}"
    axis = turn / np.linalg.norm(turn)
    point = each.centre + np.cross(turn, move) / (turn @ turn)
    point = np.where(np.abs(point) < 1e-9 * each.size, 0.0, point)
    return f"rotation about {_direction(axis)} through ({', '.join(f'{x:.5g}' for x in point)})"


def _direction(way: Floats) -> str:
    way = way / np.linalg.norm(way)
    axis = int(np.abs(way).argmax())
    if abs(way[axis]) > 1.0 - 1e-9:
        return AXES[axis]
    return f"({', '.join(f'{x:.4g}' for x in np.where(np.abs(way) < 1e-9, 0.0, way))})"


def _moves_and_turns(motions: Floats) -> tuple[Floats, Floats]:
    """Orthonormal motions (6, r) divided into translations (6, a) and rotations (6, b)."""
    _, values, rest = np.linalg.svd(motions[3:], full_matrices=True)
    rank = int(np.count_nonzero(values > 1e-7))
    return motions @ rest[rank:].T, motions @ rest[:rank].T


def _names(each: Rigid) -> str:
    """The free motions, along axes where possible."""
    moves, turns = _moves_and_turns(each.motions)
    names = [f"translation along {', '.join(map(_direction, _aligned(moves[:3])))}"] if moves.shape[1] else []
    if turns.shape[1] == 1:
        names.append(_name(each, turns[:, 0]))
    elif turns.shape[1]:
        names.append(f"rotation about {', '.join(map(_direction, _aligned(turns[3:])))}")
    return "; ".join(names)


def _aligned(ways: Floats) -> Floats:
    """(r, 3) directions that span columns (3, r), axes where these lie among them."""
    base, _ = np.linalg.qr(ways)
    projector = base @ base.T
    found = list[Floats]()
    for axis in np.argsort(-np.diag(projector), kind="stable"):
        way = projector[axis].copy()
        for known in found:
            way -= (way @ known) * known
        if (size := float(np.linalg.norm(way))) > 1e-6 and len(found) < ways.shape[1]:
            found.append(way / size)
    return np.array(sorted(found, key=lambda way: int(np.abs(way).argmax()))).reshape(-1, 3)


def _stiffness(stage: StepSystem) -> float:
    """The largest stiffness of a bar, a spring or a node."""
    constants = stage.bars.constants
    springs = stage.system.springs.constants[:, 0]
    bars = constants[YOUNG] * constants[AREA] * constants[INV_LENGTH]
    return float(max(bars.max(initial=0.0), np.abs(springs).max(initial=0.0))) or 1.0
