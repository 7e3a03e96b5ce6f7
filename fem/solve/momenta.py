"""Linear and angular momentum: the rigid motions along which nothing from outside acts, and what goes with them.

Internal forces do no work along a rigid motion r (3n,), so that its momentum r.M v stays where nothing else does:

    shifts   that no support, equation, spring to the ground or load resists or drives
    turns    about the centre of mass, where nothing but weight acts and no force keeps a direction in space: no spring
             between dofs, no geometrically linear bar or plane, no equation

None where something else acts from outside: water, the ground, a moment, damping by ALPHA, a clamp held in space. All
this is decided once per step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import expand
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.families import acting
from fem.forces.laws import LINEAR
from fem.forces.protocol import Family
from fem.forces.reeving import REEVING
from fem.forces.rope_laws import ROPE_LAWS
from fem.solve.newton.evaluate import multiply_masses
from fem.solve.newton.groups import Problem
from fem.solve.step_system import StepSystem

SAME = 1e-9
"""Part of a load, or of a direction, below which it counts as none."""


@dataclass(frozen=True, slots=True)
class Kept:
    """moved (s, 3n) shifts;  spins (a, 3, 3) r -> axis x r as r @ spin;  share (n,) part of the mass of each node."""

    problem: Problem
    moved: Floats
    spins: Floats
    share: Floats

    def __bool__(self) -> bool:
        return len(self.moved) + len(self.spins) > 0

    def motions(self, x: Floats) -> Floats:
        """(s + a, 3n) rigid motions of nodes that are at x (3n,)."""
        place = x.reshape(-1, 3)
        turns = (place - self.share @ place) @ self.spins
        return np.concatenate([self.moved, turns.reshape(len(turns), -1)])

    def momentum(self, v: Floats) -> Floats:
        """(3n,) M v."""
        found = np.empty(len(v))
        multiply_masses(self.problem, v, found)
        return found

    def rigid(self, motions: Floats, wanted: Floats) -> Floats:
        """(c, 3n) the velocities along the motions (k, 3n) that have momenta (k, c)."""
        mass = motions @ np.array([self.momentum(motion) for motion in motions]).T
        return np.asarray(np.linalg.lstsq(mass, wanted, rcond=None)[0].T @ motions)


def kept_momenta(stage: StepSystem) -> Kept:
    """Which momenta stay in a step."""
    nodes, equations, problem = stage.nodes, stage.equations, stage.problem
    mass = np.empty(len(nodes.mass))
    multiply_masses(problem, np.ones(len(mass)), mass)
    weights = mass.reshape(-1, 3)[:, 0]
    share = weights / weights.sum() if weights.any() else weights
    loads = stage.loads.vectors.reshape(-1, len(share), 3)
    loads = loads[loads.any(axis=(1, 2))]
    is_free = all(_is_internal(*each, len(loads) > 0) for each in acting(problem.families))
    if len(nodes.damping) or not (is_free and weights.any()):
        return Kept(problem, np.zeros((0, len(mass))), np.zeros((0, 3, 3)), share)
    held, dofs = _axes_of(np.flatnonzero(nodes.dof_kind == 0)), stage.system.springs.dofs
    uneven = dofs[(dofs[:, 1] < 0) | ((dofs[:, 0] - dofs[:, 1]) % 3 != 0)]
    shifts = np.eye(3)[:, ~(held | _axes_of(uneven[uneven >= 0]))]
    sizes = np.abs(loads).sum(axis=(1, 2))[:, None]
    broken = np.zeros((len(equations.slave), 3))
    for axis, shift in enumerate(np.tile(np.eye(3), len(share))):
        followed = shift.copy()
        expand(equations, followed)
        broken[:, axis] = (followed - shift)[equations.slave]
    missed = np.concatenate([loads.sum(axis=1) / sizes, broken]) @ shifts
    if missed.size:
        _, size, ways = np.linalg.svd(missed)
        shifts = shifts @ ways[np.count_nonzero(size > SAME) :].T
    is_weight = bool(np.all(np.abs(loads - share[:, None] * loads.sum(axis=1, keepdims=True)) <= SAME * sizes[:, None]))
    has_directions = len(equations.slave) or len(dofs) or np.any(stage.bars.kinds[:, 0] == LINEAR)
    may_turn = is_weight and not has_directions and np.count_nonzero(held) <= 1
    spins = np.cross(np.eye(3)[:, None], np.eye(3))[(held | ~held.any()) & may_turn]
    return Kept(problem, np.tile(shifts.T, len(share)), spins, share)


def _axes_of(dofs: Ints) -> Flags:
    """(3,) which axes some dofs belong to."""
    return np.isin(np.arange(3), dofs % 3)


def _is_internal(family: Family, group: Any, has_loads: bool) -> bool:
    """Its forces act between nodes: those of bending where no end is held in space, lines over pulleys where they have
    no weight."""
    if family is BENDING or family is BENDING_DAMPING:
        return bool(np.all(group.nodes[:, 0] >= 0))
    return family is ROPE_LAWS or (family is REEVING and not has_loads)
