"""Runs whose last step a study advances to an increment of its choice."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from fem.assembly.environment import Environment
from fem.errors import CommandError
from fem.model import Controls, Dynamic, Model
from fem.runs.record import Requests, Sink
from fem.solve.loop import Run
from fem.solve.newton.groups import Motion
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem

NEVER = 2**40
"""An increment number beyond that of any step."""


class Trajectory(Run):
    """A run whose last step, ``last``, is not yet opened; all steps before it have been computed."""

    last: StepRun

    def __init__(self, model: Model, sink: Sink, kind: type[StepRun] = StepRun) -> None:
        super().__init__(model, sink, Requests(fields=False))
        self.kind = kind
        self.run()

    def follow(self, step_run: StepRun) -> None:
        """Runs a step, or keeps the last one for later."""
        if step_run.number < len(self.model.steps):
            super().follow(step_run)
        else:
            self.last = step_run

    def open(self) -> None:
        self.last.open()

    def branch(self, model: Model, sink: Sink, stage: StepSystem, environment: Environment) -> Trajectory:
        """The run of another model that has come as far by the same steps, with the arrays of its own last step.
        This run stays where it is, and must not have been opened."""
        run = copy(self)
        run.model, run.sink, run.system, run.environment = model, sink, stage.system, environment
        run.progress = replace(self.progress, motion=Motion(*(each.copy() for each in self.progress.motion)))
        its = self.last
        plan = replace(its.plan, step=model.steps[-1])
        run.last = self.kind(run, plan, (stage, its.marcher), copy(its.clock), its.schedule, its.start)
        return run


def advance_to(last: StepRun, end: int = NEVER, is_paced: bool = False) -> None:
    """Advance an open step to increment ``end``, or to its own end.
    is_paced  in chunks of limited wall time, between which Ctrl-C is handled"""
    progress = last.progress
    while progress.increment < end and not last.clock.is_finished:
        if not is_paced:
            progress.chunk = end - progress.increment
        last.advance(end - progress.increment)


def size_of(model: Model) -> float:
    """Diagonal of the box around the nodes; 1 if all are at one point."""
    return float(np.linalg.norm(np.ptp(model.mesh.coordinates, axis=0))) or 1.0


def halved(model: Model) -> Model | None:
    """The model with half the increments in its last step; None if these are not equal, or not given."""
    if not has_equal_increments(model):
        return None
    return with_motion(model, replace(motion_of(model), dt=0.5 * motion_of(model).dt))


def tightened(model: Model, factor: float) -> Model:
    """The model with smaller residuals, and twice the iterations."""

    def tighter(controls: Controls) -> Controls:
        names = ("residual_relative", "residual_absolute", "correction_relative")
        given = {name: getattr(controls, name) for name in names}
        smaller = {name: value * factor for name, value in given.items() if value is not None}
        return replace(controls, **smaller, max_iterations=2 * controls.max_iterations)

    return replace(model, steps=tuple(replace(step, controls=tighter(step.controls)) for step in model.steps))


def has_equal_increments(model: Model) -> bool:
    """All increments of the last step are as long as in the deck."""
    procedure = motion_of(model)
    return bool(procedure.dt) and (procedure.direct or procedure.integrator == "CENTRAL DIFFERENCE")


def lasting(model: Model, time: float | None) -> Model:
    """The model with the length of its last step changed to ``time``; CommandError where that is not a motion."""
    if not model.steps or not model.steps[-1].dynamic:
        raise CommandError("the last step of the deck is not *DYNAMIC: there is no motion to study")
    return model if time is None else with_motion(model, replace(motion_of(model), period=time))


def motion_of(model: Model) -> Dynamic:
    """The ``*DYNAMIC`` of the last step."""
    found = model.steps[-1].dynamic
    assert found is not None
    return found


def with_motion(model: Model, procedure: Dynamic) -> Model:
    """The model with another ``*DYNAMIC`` in its last step, and no limit of increments there."""
    step = replace(model.steps[-1], procedure=procedure, max_increments=None)
    return replace(model, steps=(*model.steps[:-1], step))
