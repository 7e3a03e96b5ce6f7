"""An explicit step beside the increment loop: what it refuses, when it closes balances, how it calls the march.

The rods of an explicit step made ready: which of them meet, in which order they are eliminated, room to work.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import ModelError
from fem.forces.families import massive_ones, trouble_of
from fem.linear.choice import BAND_WORK, narrow_order
from fem.model import Dynamic
from fem.model.steps import MOST_INCREMENTS
from fem.solve.clock import BALANCES
from fem.solve.explicit.critical import as_stiff_as_can_be, bound_of, critical_increment, stiffest_at
from fem.solve.explicit.leapfrog import BEFORE, STIFFENED, UNTIED, WATCH, Moved, Ties, leapfrog
from fem.solve.newton.groups import CONTROL, NOT_FINITE, Loading, Motion, Record
from fem.solve.state import Marcher, StepState
from fem.solve.step_system import StepSystem

SAFE = 0.9
"""Fraction of the critical increment that a blank increment becomes."""


class Explicit(Marcher):
    """The explicit march of one step. ``taut``: ``as_stiff_as_can_be``; ``moved``: as in ``leapfrog``."""

    def __init__(self, stage: StepSystem) -> None:
        self.stage = stage
        self.taut = as_stiff_as_can_be(stage.problem)
        self.moved = _moved(stage)
        self.ties = tie(stage, self.moved.inverse)
        self.is_dissipative = bool(len(stage.nodes.damping) or len(stage.work.flow))

    def choose(self, procedure: Dynamic, motion: Motion, thermal: Floats, time: float) -> Dynamic:
        """The procedure with its increment: a blank one (0) becomes ``SAFE`` of the critical one.
        ModelError for an increment above the critical one, and for a period that would have too many blank ones."""
        if procedure.dt > 0.0 and not self._is_too_long(procedure.dt, motion, thermal, time):
            return procedure
        critical = critical_increment(self.stage, self.taut, self.moved, motion, thermal, time)
        if procedure.dt == 0.0 and not np.isfinite(critical.dt):
            raise ModelError("nothing stiff limits the increment of this EXPLICIT step: specify it on the data line")
        if procedure.dt > 0.0:
            raise ModelError(
                f"the increment {procedure.dt:.6g} of an EXPLICIT step exceeds the critical one, {critical.dt:.6g}, "
                f"set by {stiffest_at(self.stage, critical.node)}: take {SAFE * critical.dt:.3g} or less (the default, "
                "if it is blank), make that element longer, softer or its nodes heavier, or remove EXPLICIT"
            )
        if not procedure.period <= MOST_INCREMENTS * SAFE * critical.dt:
            raise ModelError(
                f"this EXPLICIT step would have more than {MOST_INCREMENTS:g} increments: its period is "
                f"{procedure.period:g}, the critical increment {critical.dt:.3g}, set by "
                f"{stiffest_at(self.stage, critical.node)}; make the period shorter, that element longer, softer or "
                "its nodes heavier, or remove EXPLICIT"
            )
        return replace(procedure, dt=min(SAFE * critical.dt, procedure.period))

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError where a free dof has no mass; held ones (nothing acts on them) rest."""
        massless = (self.stage.nodes.dof_kind == 1) & (self.moved.inverse == 0.0)
        massless[held] = False
        if np.any(massless):
            name = self.stage.system.name_dof(int(np.flatnonzero(massless)[0]))
            raise ModelError(
                f"{name} is free and has no mass, which EXPLICIT divides by: give it mass (*DENSITY, *MASS), hold it "
                "with *BOUNDARY, or remove EXPLICIT"
            )

    def length(self, count: int, increment: int) -> int:
        """Up to where a balance is closed."""
        return count + BALANCES - (increment + count) % BALANCES

    def due(self, step: StepState, chunk: Loading) -> Flags:
        """(k,) increments whose energy balance has to be closed: all where work depends on the path in between."""
        factors, time, done = chunk.factors, chunk.time, step.progress.increment
        is_free = not (self.is_dissipative or len(chunk.support_dofs) or len(chunk.thermal_end) > 1)
        asks = step.whole.requests.record_all or step.system.model.failures
        if asks or not is_free or np.any(factors[1:] != factors[:-1]):
            self.closed: Flags = np.ones(len(chunk.dt), np.bool_)
            return self.closed
        increments = done + np.arange(1, len(time))
        wanted = step.schedule.rows_due(increments, time[1:], bool(time[-1] >= step.clock.end))
        self.closed = wanted | (increments % BALANCES == 0)
        self.closed[-1] = True  # where the motion is handed back
        return self.closed

    def march(self, step: StepState, control: Ints, chunk: Loading, kept: Record) -> int:
        """Call the march until the chunk ends, or until the increment is in fact too long (STIFFENED)."""
        stage, motion = self.stage, step.progress.motion
        control[BEFORE] = step.progress.increment
        through, marks = stage.passage(chunk, motion, kept), self.closed.astype(np.int64)
        while (reason := leapfrog(control, marks, self.moved, self.ties, through)) == WATCH:
            done = int(control[CONTROL.increment])
            thermal = chunk.thermal_end[min(done, len(chunk.thermal_end) - 1)]
            if self._is_too_long(float(chunk.dt[done - 1]), motion, thermal, float(chunk.time[done])):
                return STIFFENED
        return int(reason)

    def _is_too_long(self, dt: float, motion: Motion, thermal: Floats, time: float) -> bool:
        """dt exceeds the critical one: the bound, which is cheap and safe, is looked at first."""
        at = self.stage, self.taut, self.moved, motion, thermal, time
        square, _ = bound_of(*at, dt)
        return dt**2 * square > 4.0 and dt > critical_increment(*at).dt

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        trouble = trouble_of(self.stage.system, self.stage.work.u, self.stage.work.state)
        if trouble and reason == NOT_FINITE:
            where = f"step {step.number} stopped after t = {step.progress.time:.9g}"
            return f"{where}: {trouble} Everything computed so far is written"
        if reason == UNTIED:
            what = f"lengths of rods cannot be kept with the increment {dt:.6g}, or their constraints depend on "
            what += "each other."
        elif reason != STIFFENED:
            what = "the motion is no longer finite (overflow)."
        else:
            now, known = step.progress, (self.stage, self.taut, self.moved)
            critical = critical_increment(*known, now.motion, step.thermal, now.time)
            what = (
                f"the structure has become stiffer, the increment {dt:.6g} exceeds what is now the critical one, "
                f"{critical.dt:.6g}, set by {stiffest_at(self.stage, critical.node)}."
            )
        return (
            f"step {step.number} stopped at t = {step.progress.time:.9g}: {what} Use smaller increments. Everything "
            "computed so far is written"
        )


def _moved(stage: StepSystem) -> Moved:
    """Mass and damping that move with each free dof; ModelError where they are not diagonal."""
    if len(stage.bars.off_mass) or len(stage.nodes.mass_pairs):
        if stage.system.model.free_bodies:
            raise ModelError("EXPLICIT does not support free bodies (ROTARYI), which couple the masses of their points")
        coupling = np.flatnonzero(stage.bars.off_mass) if len(stage.bars.off_mass) else np.zeros(1, np.int64)
        name = stage.system.name_bar(int(coupling[0]))
        raise ModelError(
            f"{name} couples the masses of its nodes, which EXPLICIT does not support: use MASS=LUMPED in its section"
        )
    if len(stage.nodes.directed_mass) and (len(stage.bars.rods) or len(stage.equations.slave)):
        names = " and ".join(massive_ones(stage.system.families))
        raise ModelError(
            f"the mass of {names} depends on direction; EXPLICIT supports that only without rods and *EQUATION: remove "
            "EXPLICIT"
        )
    equations, free = stage.equations, stage.nodes.dof_kind
    mass = np.where(free == 1, stage.nodes.mass, 0.0)
    damping = np.where(free == 1, stage.nodes.damping, 0.0) if len(stage.nodes.damping) else stage.nodes.damping
    for k, slave in enumerate(equations.slave):
        parts = np.arange(equations.start[k], equations.start[k + 1])
        parts = parts[free[equations.master[parts]] == 1]
        if len(parts) > 1:
            names = " and ".join(stage.system.name_dof(int(dof)) for dof in equations.master[parts[:2]])
            raise ModelError(
                f"an *EQUATION makes {stage.system.name_dof(int(slave))} depend on {names}, which couples their "
                "masses; EXPLICIT supports one free dof per dependent one: remove EXPLICIT"
            )
        for part in parts:
            fraction = equations.factor[part] ** 2
            mass[equations.master[part]] += fraction * stage.nodes.mass[slave]
            if len(damping):
                damping[equations.master[part]] += fraction * stage.nodes.damping[slave]
    return Moved(np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0), damping)


def tie(stage: StepSystem, inverse: Floats) -> Ties:
    """What ``leapfrog`` needs of the rods. ``inverse`` (3n,): of the mass that moves with each dof.
    ModelError where a rod ends at a dependent dof, or where rods form nets too wide to be solved in every increment."""
    _refuse_dependent_ends(stage)
    ends = stage.bars.nodes[stage.bars.rods]
    pairs, corners = _meetings(ends)
    place = _order(pairs, len(ends))
    rows = place[pairs]
    lower = rows[:, 0] >= rows[:, 1]
    meetings = np.column_stack([rows, pairs])[lower]
    width = int((meetings[:, 0] - meetings[:, 1]).max(initial=0))
    if len(ends) * float(width) ** 2 > BAND_WORK:
        raise ModelError(
            f"{len(ends)} rods form a net (half bandwidth {width}) that EXPLICIT cannot solve in every increment: make "
            "some of them elastic, or remove EXPLICIT"
        )
    count = len(ends)
    rooms = np.zeros((3, count)), np.zeros(count), np.zeros((count, width + 1)), np.zeros(count)
    return Ties(stage.bars.rods, inverse, place, meetings, corners[lower], *rooms)


def _meetings(ends: Ints) -> tuple[Ints, Ints]:
    """Pairs of rods (themselves included) that share a node, both ways round; the node and the sign of its part.
    Both enter with + at their second node, - at their first."""
    at: dict[int, list[tuple[int, int]]] = {}
    for rod, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append((rod, -1))
        at.setdefault(j, []).append((rod, 1))
    rows = [
        (one, other, node, sign * factor)
        for node, there in at.items()
        for one, sign in there
        for other, factor in there
    ]
    table = np.array(rows, np.int64).reshape(-1, 4)
    return np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:])


def _order(pairs: Ints, count: int) -> Ints:
    """Row of each rod in a narrow band."""
    if np.all(np.abs(pairs[:, 0] - pairs[:, 1]) <= 1):  # a chain, named along itself
        return np.arange(count)
    place = np.empty(count, np.int64)
    place[narrow_order(pairs, count)] = np.arange(count)
    return place


def _refuse_dependent_ends(stage: StepSystem) -> None:
    """ModelError where an *EQUATION moves an end of a rod."""
    ends = (3 * stage.bars.nodes[stage.bars.rods][:, :, None] + np.arange(3)).reshape(-1, 6)
    wrong = np.isin(ends, stage.equations.slave)
    if np.any(wrong):
        rod, at = np.argwhere(wrong)[0]
        raise ModelError(
            f"{stage.system.name_bar(int(stage.bars.rods[rod]))} is inextensible and ends at "
            f"{stage.system.name_dof(int(ends[rod, at]))}, which depends on others through an *EQUATION; EXPLICIT "
            "supports rods between independent dofs: remove EXPLICIT"
        )
