"""What moves with a reference node: nodes of rigid bodies on prescribed ways, and planes that nodes do not enter.

The formulas: ``forces/rigid_motion``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.forces import bar
from fem.forces.rigid_motion import move_body
from fem.forces.waves import TURN
from fem.model import Model, RigidBody
from fem.model.vessels import moved_by


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One ``*RIGID BODY``.

    driven    (6,)    dofs of the reference node; those of rotations lie behind those of all nodes
    dofs      (3p,)   of the pinned nodes, rising
    arms      (p, 3)  X - X_r
    is_vector         rotations are the components of one rotation vector
    trains    (5, c)  waves that move it, none without RAO, rising in their ramps: turns by x, y, z, time; those at X_r
    swings    (2, 6, c)  real and imaginary part of a H of its six motions, in the axes of the model
    spans     (g, 2)  first and last + 1 of the waves of each ramp;  ramps (g,)
    """

    driven: Ints
    dofs: Ints
    arms: Floats
    is_vector: bool
    trains: Floats
    swings: Floats
    spans: Ints
    ramps: Floats

    def moved(self, ways: Floats, time: Floats, after: bool = False, at_sea: bool = False) -> Floats:
        """(3, k, 3p) u, v, a of the pinned nodes; ``after``: one-sided rates.
        ways (3, k, 6)  motions of the reference node and their rates, to which waves add theirs ``at_sea``"""
        moved, room = np.empty((3, len(time), self.arms.size)), np.empty((6, self.trains.shape[1]))
        waves = self.spans, self.ramps if at_sea else self.ramps[:0]
        move_body(time, after, self.is_vector, self.trains, *waves, self.swings, self.arms, room, ways, moved)
        return moved


def bodies_of(model: Model) -> tuple[Body, ...]:
    """Those of a model, in order."""
    mesh, size = model.mesh, 3 * len(model.mesh.node_labels)
    found = []
    for number, body in enumerate(model.bodies):
        (reference,) = mesh.nodes_of(body.node)
        pinned = np.unique(mesh.nodes_of(body.pinned))
        driven = np.concatenate([3 * reference + np.arange(3), size + 3 * number + np.arange(3)])
        dofs = (3 * pinned[:, None] + np.arange(3)).ravel()
        arms = mesh.coordinates[pinned] - mesh.coordinates[reference]
        found.append(Body(driven, dofs, arms, body.rotation == "VECTOR", *waves_on(model, body)))
    return tuple(found)


def waves_on(model: Model, body: RigidBody) -> tuple[Floats, Floats, Ints, Floats]:
    """``trains``, ``swings``, ``spans`` and ``ramps`` of a body."""
    if body.rao is None or not len(model.sea):
        return np.zeros((5, 0)), np.zeros((2, 6, 0)), np.zeros((0, 2), np.int64), np.zeros(0)
    up, (at,) = model.mesh.up, model.mesh.coordinates[model.mesh.nodes_of(body.node)]
    sea = model.sea[np.argsort(model.sea[:, 5], kind="stable")]
    omega, k, _, phase, b, ramp = sea.T
    way = level_axes(up) @ np.array([k * np.cos(b), k * np.sin(b), 0.0 * k])
    bow = np.radians(body.heading)
    turn = np.array([[np.cos(bow), -np.sin(bow), 0.0], [np.sin(bow), np.cos(bow), 0.0], [0.0, 0.0, 1.0]])
    axes = level_axes(up) @ turn
    found = moved_by(model.raos[body.rao], sea, body.heading)
    found = np.concatenate([axes @ found[:3], axes @ found[3:]])
    trains, ramps = np.vstack([way, omega, phase + at @ way]) / TURN, distinct(ramp)
    spans = np.column_stack([ramp.searchsorted(ramps), ramp.searchsorted(ramps, "right")])
    return trains, np.stack([found.real, found.imag]), spans, ramps


def level_axes(up: int) -> Floats:
    """(3, 3) the axes x, y, upwards of waves, as columns: of plane models (y is up) the second is -z."""
    return np.eye(3) if up == 2 else np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def planes_of(model: Model) -> tuple[Ints, Floats]:
    """Ends (c, 2) and constants (CONSTANTS, c) of the stops of all planes, one for each node."""
    ends, columns = [np.zeros((0, 2), np.int64)], [np.zeros((bar.CONSTANTS, 0))]
    for plane in model.planes:
        size, distances = plane.size(model.mesh), plane.distances(model.mesh)
        constants = np.zeros((bar.CONSTANTS, len(distances)))
        for first in (bar.REF, bar.BASE):
            constants[first : first + 3] = size * plane.direction[:, None]
        constants[bar.INV_LENGTH], constants[bar.BASE_CONSTANT] = 1.0 / size, distances / size
        constants[[bar.AREA, bar.MINUS, bar.BASE_SLOPE, bar.CONJUGATE]] = 1.0
        constants[bar.RESTITUTION], constants[bar.FRICTION] = plane.restitution, plane.friction
        ends.append(plane.pairs(model.mesh))
        columns.append(constants)
    return np.concatenate(ends), np.concatenate(columns, axis=1)
