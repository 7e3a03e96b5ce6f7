"""Linear and angular momentum: rigid motions without external force, their conservation and its check.

Internal forces do no work along a rigid motion r (3n,), so that its momentum r.M v is constant without external force:

    shifts   translations without supports, equations, springs to the ground or loads along them
    turns    about the centre of mass, with no load but weight, if no force has a fixed direction in space: no spring
             between dofs, no geometrically linear bar or plane, no equation but those of nodes that are tied to bodies

None with other external actions: water, the ground, a moment, damping by ALPHA, a clamp held in space. All this is
decided once per step.

Every scheme conserves linear momentum. Angular momentum is conserved if forces act in the middle of increments (ENERGY
MOMENTUM, MOREAU) and with EXPLICIT; the other schemes have an error in each increment, as in energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import Equations, expand
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.families import acting
from fem.forces.laws import LINEAR
from fem.forces.protocol import Family
from fem.forces.reeving import REEVING
from fem.forces.rope_laws import ROPE_LAWS
from fem.solve.clock import Progress
from fem.solve.newton.evaluate import multiply_masses
from fem.solve.newton.groups import Motion, Problem
from fem.solve.step_system import StepSystem

EXACT, ROUGH = 1e-4, 1e-2
"""Allowed change of momenta over those of all nodes, for schemes that conserve them, and for others."""
ROUND_OFF = 1e-12
SAME = 1e-9
"""Fraction of a load, or of a direction, that counts as zero."""


@dataclass(frozen=True, slots=True)
class Conserved:
    """moved (s, 3n) shifts;  spins (a, 3, 3) r -> axis x r as r @ spin;  share (n,) part of the mass of each node."""

    problem: Problem
    moved: Floats
    spins: Floats
    share: Floats

    def motions(self, x: Floats) -> Floats:
        """(s + a, 3n) rigid motions of nodes that are at x (3n,)."""
        place = x.reshape(-1, 3)
        turns = (place - self.share @ place) @ self.spins
        return np.concatenate([self.moved, turns.reshape(len(turns), x.size)])

    def momentum(self, v: Floats) -> Floats:
        """(3n,) M v."""
        found = np.empty(len(v))
        multiply_masses(self.problem, v, found)
        return found

    def rigid(self, motions: Floats, wanted: Floats) -> Floats:
        """(c, 3n) the rigid velocities along the motions (k, 3n) that have momenta (k, c)."""
        mass = motions @ np.array([self.momentum(motion) for motion in motions]).T
        return np.asarray(np.linalg.lstsq(mass, wanted, rcond=None)[0].T @ motions)


def kept_momenta(stage: StepSystem) -> Conserved | None:
    """Momenta that are conserved in a step; None: none."""
    nodes, equations, problem = stage.nodes, stage.equations, stage.problem
    held, dofs = _axes_of(np.flatnonzero(nodes.dof_kind == 0)), stage.system.springs.dofs
    if held.all() or len(nodes.damping):
        return None
    mass = np.empty(len(nodes.mass))
    multiply_masses(problem, np.ones(len(mass)), mass)
    weights = mass.reshape(-1, 3)[:, 0]
    loads = stage.loads.vectors.reshape(-1, len(weights), 3)
    loads = loads[loads.any(axis=(1, 2))]
    is_free = all(_is_internal(*each, len(loads) > 0) for each in acting(problem.families))
    if not (is_free and weights.any()):
        return None
    share, place = weights / weights.sum(), nodes.place.reshape(-1, 3)
    uneven = dofs[(dofs[:, 1] < 0) | ((dofs[:, 0] - dofs[:, 1]) % 3 != 0)]
    shifts = np.eye(3)[:, ~(held | _axes_of(uneven[uneven >= 0]))]
    sizes = np.abs(loads).sum(axis=(1, 2))[:, None]
    missed = loads.sum(axis=1) / sizes
    has_directions = len(dofs) > 0 or bool(np.any(stage.bars.kinds[:, 0] == LINEAR))
    if len(equations.slave):
        missed = np.concatenate([missed, _missed(equations, np.tile(np.eye(3), len(share)))])
        stretched = np.einsum("ib,ac->abic", place - share @ place, np.eye(3)).reshape(9, -1)
        has_directions |= np.abs(_missed(equations, stretched)).max() > SAME * np.abs(place).max()
    missed = missed @ shifts
    if missed.size:
        _, size, ways = np.linalg.svd(missed)
        shifts = shifts @ ways[np.count_nonzero(size > SAME) :].T
    is_weight = bool(np.all(np.abs(loads - share[:, None] * loads.sum(axis=1, keepdims=True)) <= SAME * sizes[:, None]))
    may_turn = is_weight and not has_directions and np.count_nonzero(held) <= 1
    spins = np.cross(np.eye(3)[:, None], np.eye(3))[(held | ~held.any()) & may_turn]
    kept = Conserved(problem, np.tile(shifts.T, len(share)), spins, share)
    return kept if shifts.size or len(spins) else None


def _missed(equations: Equations, motions: Floats) -> Floats:
    """(slaves, k) difference of motions (k, 3n) from those of dofs that depend on others."""
    followed = motions.copy()
    for motion in followed:
        expand(equations, motion)
    return np.asarray((followed - motions)[:, equations.slave].T)


def _axes_of(dofs: Ints) -> Flags:
    """(3,) whether any of the dofs belongs to an axis."""
    found = np.zeros(3, bool)
    found[dofs % 3] = True
    return found


def _is_internal(family: Family, group: Any, has_loads: bool) -> bool:
    """Whether its forces act between nodes only: bending without ends clamped in space, lines over pulleys without
    weight."""
    if family is BENDING or family is BENDING_DAMPING:
        return bool(np.all(group.nodes[:, 0] >= 0))
    return family is ROPE_LAWS or (family is REEVING and not has_loads)


class MomentumWatch:
    """Compares the conserved momenta of a step with those at its start.

    begin (k,)  momenta at the start of the step;  sizes (2,) largest so far of all nodes: along shifts, about axes
    """

    def __init__(self) -> None:
        self.kept: Conserved | None = None
        self.begin, self.sizes, self.is_told = np.zeros(0), np.zeros(2), False

    def open(self, stage: StepSystem, motion: Motion) -> None:
        """Begins to watch a step, or the remaining model after elements were removed."""
        self.kept, self.sizes[:] = kept_momenta(stage) if stage.is_dynamic else None, 0.0
        self.keeps_turns = stage.is_explicit or (stage.scheme.is_recursion and bool(stage.coefficients.secant))
        if self.kept:
            self.place = stage.nodes.place
            self.begin = self._momenta(motion)[0]

    def look(self, progress: Progress) -> str:
        """Notice about changed momenta at the end of a chunk, given once; usually empty."""
        if not self.kept or self.is_told:
            return ""
        now, noise = self._momenta(progress.motion)
        shifts, off = len(self.kept.moved), np.abs(now - self.begin)
        allowed = np.where(np.arange(len(off)) < shifts, EXACT, EXACT if self.keeps_turns else ROUGH)
        sizes = np.repeat(self.sizes, [shifts, len(off) - shifts])
        (wrong,) = np.nonzero(off > allowed * sizes + noise)
        self.is_told = len(wrong) > 0
        if not self.is_told:
            return ""
        worst = int(wrong[0])
        is_lost = worst >= shifts and not self.keeps_turns
        way = "TIME INTEGRATOR=ENERGY MOMENTUM keeps it, smaller increments most of it"
        return (
            f"at t = {progress.time:.6g} the {'linear' if worst < shifts else 'angular'} momentum is off by "
            f"{100.0 * off[worst] / sizes[worst]:.2g} % of those of all nodes, though nothing outside acts: "
            f"{way if is_lost else 'tighter tolerances in *CONTROLS keep it'}"
        )

    def _momenta(self, motion: Motion) -> tuple[Floats, Floats]:
        """(k,) conserved momenta, and their rounding errors; updates the sizes."""
        assert self.kept
        x, p = self.place + motion.u, self.kept.momentum(motion.v)
        nodes, own = x.reshape(-1, 3), p.reshape(-1, 3)
        arms, largest = nodes - self.kept.share @ nodes, float(np.abs(own).sum())
        about = float(
            (np.abs(arms).max(axis=1) * np.abs(own - self.kept.share[:, None] * own.sum(axis=0)).max(1)).sum()
        )
        np.maximum(self.sizes, [largest, about], out=self.sizes)
        noise = (
            ROUND_OFF
            * largest
            * np.append(np.ones(len(self.kept.moved)), np.full(len(self.kept.spins), np.abs(x).max()))
        )
        return self.kept.motions(x) @ p, noise
