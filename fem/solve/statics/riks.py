"""``*STATIC, RIKS``: arc lengths, loads scaled by the load factor, loads in force afterwards.

Arc lengths are those of Abaqus: the first increment changes the load factor by dt/period. Later ones grow and shrink
with the square root of the iterations they took (Crisfield, vol. 1, 9.5.1) and are halved after a failure.
The path is followed by ``newton/arc.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fem.assembly.cases import Case, Span
from fem.assembly.environment import Environment
from fem.assembly.system import System
from fem.errors import ModelError
from fem.model import ArcEnd, Controls, Static
from fem.model.curves import Constant, Ramp, evaluate
from fem.solve.clock import Grid
from fem.solve.newton.arc import (
    DOF,
    ENDING,
    FACTOR,
    FAR,
    FARTHEST,
    LARGEST,
    NUMBERS,
    RADIUS,
    REACHED,
    ROUND_CORNERS,
    VALUE,
    Arc,
)
from fem.solve.newton.groups import Motion
from fem.solve.step_system import StepSystem

WANTED_ITERATIONS = 5
"""Number of solves of an arc whose length was right."""
MOST_OF_AN_ARC = 10_000
"""Default of INC=: largest number of increments, for paths without end."""


class ArcClock:
    """Arc lengths of one step, with the interface of ``Clock``; time is the arc length so far."""

    is_static = True
    is_steady = False
    is_paced = False
    may_cut = False
    changing = ("time", "dt", "_cuts")

    def __init__(self, procedure: Static, controls: Controls, start: float, arc: Arc) -> None:
        self.start, self.end, self.time = start, start + procedure.period, start
        self.is_direct, self.controls, self.arc = procedure.direct, controls, arc
        self.dt, self.period = procedure.dt, procedure.period
        self.smallest = procedure.dt_min or procedure.dt * controls.cut_factor**controls.max_cutbacks * (1.0 - 1e-9)
        self.largest = procedure.dt_max or math.inf
        self._cuts = 0

    @property
    def is_finished(self) -> bool:
        """Whether the end of the path is reached."""
        return bool(self.arc.numbers[ENDING] == REACHED)

    def plan(self, count: int) -> Grid:
        is_shortest = self.dt * self.controls.cut_factor < self.smallest
        self.arc.numbers[RADIUS] = math.sqrt(2.0) * self.dt / self.period
        self.arc.numbers[FAR] = ROUND_CORNERS if is_shortest else FARTHEST
        return Grid(self.time, self.time, 0, 1, self.dt, self.time + self.dt, self.dt)

    def advance(self, time: float, done: int, iterations: int) -> None:
        """An arc has converged in ``iterations``."""
        self.time, self._cuts = time, 0
        if not self.is_direct:
            fraction = math.sqrt(WANTED_ITERATIONS / max(iterations, 1))
            self.dt = min(max(self.dt * min(max(fraction, 0.5), 2.0), self.smallest), self.largest)

    def cut(self, reason: int) -> bool:
        """Shortens the next arc, whatever the reason; False if this is not allowed any more."""
        dt = self.dt * self.controls.cut_factor
        if self.is_direct or self._cuts >= self.controls.max_cutbacks or dt < self.smallest:
            return False
        self.dt, self._cuts = dt, self._cuts + 1
        return True


def make_arc(stage: StepSystem, motion: Motion, span: Span, end: ArcEnd) -> Arc:
    """Data of the march for a path from here.
    ModelError: something other than loads would have to be scaled by the load factor, or nothing is."""
    system, environment = stage.system, stage.environment
    if len(environment.supports.moving(motion.u)):
        raise ModelError("*STATIC, RIKS follows loads only: a moving support is not supported; load its node instead")
    if any(isinstance(case.curve, Ramp) for case in environment.heat):
        raise ModelError("*STATIC, RIKS follows loads only: a temperature that changes is not supported")
    if any(isinstance(case.curve, Ramp) for flow in environment.flows for case in flow.cases):
        what = "water and wind that change in the step are not supported; apply them in a *STATIC step before it"
        raise ModelError(f"*STATIC, RIKS follows loads that do not depend on the motion: {what}")
    base, slope = np.zeros(len(stage.loads.cases)), np.zeros(len(stage.loads.cases))
    for p, case in enumerate(stage.loads.cases):
        base[p] = evaluate(case.curve, np.array([span.start]))[0]
        if isinstance(case.curve, Ramp):
            slope[p] = case.curve.last - case.curve.first
    reference = slope @ stage.loads.vectors if len(slope) else np.zeros(system.size)
    if not np.any(reference[stage.nodes.dof_kind != 0]):
        message = "*STATIC, RIKS: no load changes in this step; loads with AMPLITUDE do not follow the load factor"
        raise ModelError(message)
    numbers = np.zeros(NUMBERS)
    numbers[LARGEST] = math.inf if end.factor is None else end.factor
    numbers[DOF] = -1.0 if end.target is None else _end_dof(system, stage, end)
    numbers[VALUE] = end.value
    direction, pending, normal, last = np.zeros((4, system.size))
    return Arc(numbers, base, slope, direction, pending, normal, last, np.zeros(len(stage.bars.nodes)))


def _end_dof(system: System, stage: StepSystem, end: ArcEnd) -> float:
    """The dof whose displacement ends the step."""
    assert end.target is not None
    nodes = system.nodes_of(end.target)
    if len(nodes) != 1:
        raise ModelError(f"*STATIC, RIKS: set {end.target} has {len(nodes)} nodes; one node must end the step")
    dof = 3 * int(nodes[0]) + end.dof - 1
    if stage.nodes.dof_kind[dof] != 1:
        raise ModelError(f"*STATIC, RIKS: {system.name_dof(dof)}, whose displacement ends the step, is not free")
    return float(dof)


def settled(environment: Environment, arc: Arc) -> Environment:
    """Loads at the last load factor of the step, for the steps that follow."""
    factor = float(arc.numbers[FACTOR])

    def hold(case: Case) -> Case:
        if not isinstance(case.curve, Ramp):
            return case
        return replace(case, curve=Constant(case.curve.first + factor * (case.curve.last - case.curve.first)))

    names = ("nodal", "body", "gravity", "released")
    held: dict[str, Any] = {name: tuple(map(hold, getattr(environment, name))) for name in names}
    return replace(environment, **held)
