"""How perturbations of a motion grow: by the tangent map of its increments, or from two motions close to each other."""

from __future__ import annotations

import numpy as np

from fem.analysis.trajectory import Trajectory
from fem.arrays import Flags, Floats, Ints
from fem.errors import CommandError
from fem.model import Model
from fem.results.record import SilentSink
from fem.solve.marching import Marching
from fem.solve.newton import groups
from fem.solve.newton.groups import Loading, Motion, Record
from fem.solve.ropes.events import NOTHING
from fem.solve.variation.carry import carry
from fem.solve.variation.groups import SINCE, WRITTEN, Variation, new_variation

UNIT = 1.0
"""Time in which displacements are counted as velocities, in the deck's unit."""
EVERY_TANGENT, EVERY_TWO = 10, 400
"""Increments between two orthonormalisations, or until two motions are brought close again."""
CLOSE = 1e-7
"""Distance of two motions, as a share of the size of the model."""
SEED = 20120612


class Varied(Marching):
    """A step that carries perturbations along."""

    variation: Variation | None = None
    every = EVERY_TANGENT

    def perturb(self, count: int) -> None:
        """Begin with ``count`` random perturbations."""
        self.refuse(count)
        self.variation = new_variation(count, self.system.size, self.stage.bars, self.stage.nodes.open, SEED)
        self.grown: list[Floats] = []
        self.elapsed = 0.0

    def refuse(self, count: int) -> None:
        """CommandError where there is no tangent map, or not so many exponents."""
        stage = self.stage
        if self.events or self.explicit or stage.choice.solver not in (*groups.CHAINS, groups.BAND):
            what = (
                "ropes"
                if self.events
                else "explicit steps"
                if self.explicit
                else f"the solver of this step ({stage.choice.text})"
            )
            raise CommandError(f"there is no tangent map for {what}: use --method two")
        most = 2 * (int(np.count_nonzero(stage.nodes.free == 1)) - len(stage.bars.rods))
        if count > most:
            raise CommandError(f"the model has {most} Lyapunov exponents, not {count}")

    def march(self, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """As ``Marching``, with the perturbations."""
        if self.variation is None:
            return super().march(control, due, chunk, kept)
        stage, count = self.stage, len(self.variation.vectors)
        growth = np.zeros((len(chunk.dt) // self.every + 2, count + 1))
        growth[0, count] = self.elapsed
        self.variation = self.variation._replace(growth=growth)
        self.variation.counter[WRITTEN] = 0
        reason = carry(
            self.every, UNIT, control, stage.row, stage.scheme.secant, stage.limits, self.extrapolation,
            stage.choice.solver, stage.nodes, stage.bars, NOTHING, self.system.springs, stage.links, stage.choice.tree,
            stage.choice.equation, chunk, self.arc, self.progress.motion, stage.work, kept, self.variation,
        )  # fmt: skip
        if reason == groups.NEED_SOLVE:
            raise CommandError(
                "the tangent of an increment has no safe pivot for the compiled solver: use --method two"
            )
        written = int(self.variation.counter[WRITTEN])
        self.grown.append(growth[:written])
        self.elapsed = float(growth[written, count]) if self.variation.counter[SINCE] else 0.0
        return int(reason)


def tangent_growth(model: Model, count: int, every: int | None = None) -> Floats:
    """(r, count + 1) logarithms of growth of ``count`` perturbations in the last step; last column: times between."""
    trajectory = Trajectory(model, SilentSink(), Varied)
    last = trajectory.last
    assert isinstance(last, Varied)
    trajectory.open()
    last.every = every or EVERY_TANGENT
    last.perturb(count)
    while not last.clock.is_finished:
        last.advance()
    return np.concatenate(last.grown)


def two_growth(model: Model, every: int | None = None) -> Floats:
    """(r, 2) the same for one perturbation, from a second motion that is brought close to the first again and again.

    Whatever the march does (impacts, slackness, any solver), it does to both.
    """
    first, second = (Trajectory(model, SilentSink()) for _ in range(2))
    generator = np.random.default_rng(SEED)
    free = first.last.stage.nodes.free == 1
    close = CLOSE * size_of(model) / UNIT
    push = np.where(free, generator.standard_normal(len(free)), 0.0)
    for trajectory in (first, second):
        trajectory.open()
    second.progress.motion.v[:] += close * push / np.linalg.norm(push)
    rows = []
    time = distance = 0.0
    distance = apart(first.progress.motion, second.progress.motion)
    while not first.last.clock.is_finished:
        start = first.progress.time
        for trajectory in (first, second):
            trajectory.progress.chunk = every or EVERY_TWO
        first.last.advance()
        while second.progress.time < first.progress.time:
            second.progress.chunk = min(second.progress.chunk, every or EVERY_TWO)
            second.last.advance()
        if second.progress.time != first.progress.time:
            raise CommandError("the two motions take different increments: use *DYNAMIC, DIRECT")
        time = first.progress.time - start
        grown = apart(first.progress.motion, second.progress.motion)
        rows.append((np.log(grown / distance), time))
        distance = bring_close(first.progress.motion, second.progress.motion, close / grown)
    return np.array(rows)


def size_of(model: Model) -> float:
    """Diagonal of the box around the nodes; 1 where all are in one place."""
    return float(np.linalg.norm(np.ptp(model.mesh.coordinates, axis=0))) or 1.0


def apart(first: Motion, second: Motion) -> float:
    """Distance of two states."""
    return float(np.hypot(np.linalg.norm(second.u - first.u) / UNIT, np.linalg.norm(second.v - first.v)))


def bring_close(first: Motion, second: Motion, share: float) -> float:
    """Leave ``share`` of the difference between two states; returns their distance as it then really is."""
    for name in ("u", "v", "a", "force", "reaction", "multiplier"):
        here, there = getattr(first, name), getattr(second, name)
        there[:] = here + share * (there - here)
    second.tally[:], second.memory[:] = first.tally, first.memory
    return apart(first, second)
