"""How perturbations of a motion grow by the tangent map of its increments."""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.chaos.neighbour import SEED, UNIT
from fem.chaos.trajectory import Trajectory
from fem.chaos.variation.carry import carry
from fem.chaos.variation.groups import SINCE, WRITTEN, Variation, new_variation
from fem.errors import CommandError
from fem.forces.families import rough_ones
from fem.model import Model
from fem.results.record import SilentSink
from fem.solve.newton import groups
from fem.solve.newton.groups import Loading, Record
from fem.solve.step_run import StepRun

EVERY = 10
"""Increments between two orthonormalisations."""


class Varied(StepRun):
    """A step that carries perturbations along."""

    variation: Variation | None = None
    every = EVERY

    def perturb(self, count: int) -> None:
        """Begin with ``count`` random perturbations."""
        self.refuse(count)
        self.variation = new_variation(count, self.system.size, self.stage.bars, self.stage.nodes.mask, SEED)
        self.grown: list[Floats] = []
        self.elapsed = 0.0

    def refuse(self, count: int) -> None:
        """CommandError where there is no tangent map, or not so many exponents."""
        stage = self.stage
        if self.at_start or stage.choice.solver not in (*groups.CHAINS, groups.BAND):
            what = "explicit steps" if stage.is_explicit else f"the solver of this step ({stage.choice.text})"
            what = "ropes" if self.at_start else what
        else:
            what = ", ".join(rough_ones(self.system.families))
        if what:
            raise CommandError(f"there is no tangent map for {what}: use --method two")
        most = 2 * (int(np.count_nonzero(stage.nodes.dof_kind == 1)) - len(stage.bars.rods))
        if count > most:
            raise CommandError(f"the model has {most} Lyapunov exponents, not {count}")

    def march(self, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """As ``StepRun``, with the perturbations."""
        if self.variation is None:
            return super().march(control, due, chunk, kept)
        stage, count = self.stage, len(self.variation.vectors)
        growth = np.zeros((len(chunk.dt) // self.every + 2, count + 1))
        growth[0, count] = self.elapsed
        self.variation = self.variation._replace(growth=growth)
        self.variation.counter[WRITTEN] = 0
        through = stage.passage(chunk, self.progress.motion, kept)
        reason = carry(self.every, UNIT, control, self.arc, through, self.variation)
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
    last.every = every or EVERY
    last.perturb(count)
    while not last.clock.is_finished:
        last.advance()
    return np.concatenate(last.grown)
