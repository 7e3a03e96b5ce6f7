"""The stroboscopic map z -> P(z) of the last step of a deck: from the start of the step through whole periods.

z is the displacement and velocity of all dofs where they may be: supports where they are prescribed, rods at their
lengths and at rates of zero, no rope too long and no stop too short. Accelerations are those that z demands, with which
every deck begins; an integrator that carries its own along (HHT, GENERALIZED ALPHA) has lost them after a period.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats
from fem.assembly.equations import Independent, expand
from fem.errors import CommandError, ModelError, NoConvergence
from fem.forces.bar import heads
from fem.forces.families import with_history
from fem.model import Model
from fem.runs.record import SilentSink, Sink
from fem.solve.loop import ErrorsTold
from fem.solve.newton.groups import LIMIT
from fem.solve.rods import consistent_velocities, dense, keep_rates, over_independent
from fem.solve.rope_states import gaps_of
from fem.solve.ropes.complementarity import NoPulls, move_to_nearest
from fem.solve.ropes.instants import Switched
from fem.solve.start import evaluate_rods, small_or_sparse_mass
from fem.solve.state import put_back
from fem.solve.step_system import StepSystem, loading_at
from fem.study.growth import Varied, map_over
from fem.study.sections import strobe
from fem.study.trajectory import Trajectory, advance_to, lasting, size_of
from fem.study.variation.saltation import project

APART = 1e-4
"""Step of differences, where there is no tangent map, as a fraction of the scales."""
AGREE = 1e-2
"""Difference of derivatives from two lengths, relative to the largest, up to which they are derivatives."""


class Move(NamedTuple):
    """A small change of displacement and velocity of all dofs (3n,)."""

    u: Floats
    v: Floats


class State(NamedTuple):
    """Displacement and velocity of all dofs (3n,); taut: ropes and stops that are brought to their lengths and rates of
    zero as rods are (r,), None: they are as in the state."""

    u: Floats
    v: Floats
    taut: Flags | None = None

    def moved(self, move: Move, factor: float = 1.0) -> State:
        """So many times a change away."""
        return self._replace(u=self.u + factor * move.u, v=self.v + factor * move.v)


class Chart:
    """Coordinates y (2m,) of the states near ``base``: m independent displacements and velocities, over their scales.

    basis (d, m)    orthonormal directions b of the independent dofs that no rod or taut rope feels: G b = 0
    reading (m, d)  what reads coordinates from changes of these dofs: 1 on ``basis``, 0 on M^-1 G^T

    A displaced state that moves has velocities with G dv = - dG v. They are not in the span of the basis: the map adds
    what they lack along M^-1 G^T, as every projection of a run does. ``reading`` must not see that, or a state would be
    read in other coordinates than it was written in, and the derivative of the map would not be one of the motion.
    """

    def __init__(
        self, base: State, dofs: Independent, basis: Floats, reading: Floats, scale: tuple[float, float]
    ) -> None:
        self.base, self.dofs, self.basis, self.reading, self.scale = base, dofs, basis, reading, scale

    def scaled(self, scale: tuple[float, float]) -> Chart:
        """The same coordinates over other scales."""
        return Chart(self.base, self.dofs, self.basis, self.reading, scale)

    def __len__(self) -> int:
        return 2 * int(self.basis.shape[1])

    def state(self, y: Floats) -> State:
        """The state at y, to first order where there are rods."""
        return self.base.moved(self.moves(y))

    def moves(self, y: Floats) -> Move:
        """A small change of the coordinates as one of all dofs."""
        parts = zip(self.scale, np.split(y, 2), strict=True)
        return Move(*(self.dofs.spread(scale * (self.basis @ part)) for scale, part in parts))

    def directions(self, u: Floats, v: Floats) -> Floats:
        """(2m,) the coordinates of a change of all dofs; (2m, k) of k of them (k, 3n)."""
        return np.concatenate(
            [self.reading @ x[..., self.dofs.unknown].T / s for x, s in zip((u, v), self.scale, strict=True)]
        )

    def coordinates(self, state: State) -> Floats:
        """(2m,) of a state."""
        return self.directions(state.u - self.base.u, state.v - self.base.v)


class Strobe:
    """The map of one model through ``multiple`` periods; it can be evaluated again and again.

    period  of the drive, or the ``*PARAMETER`` that has it; None: that of the deck's PERIODIC amplitude
    sink    is given the rows of its marches; None: they are not recorded
    """

    def __init__(
        self, model: Model, period: float | str | None = None, multiple: int = 1, sink: Sink | None = None
    ) -> None:
        self.period, every = strobe(model, period)
        self.model = lasting(model, multiple * self.period)
        self.trajectory = Trajectory(self.model, sink or SilentSink(), Varied)
        last = self.trajectory.last
        assert isinstance(last, Varied)
        if names := with_history(last.stage.system.families):
            raise CommandError(
                f"forces of this model depend on its history ({', '.join(names)}: friction, winches that keep a "
                "tension, materials with memory): its state is more than positions and velocities"
            )
        self.last, self.increments = last, multiple * every
        self.scale = size_of(model), 2.0 * np.pi / self.period * size_of(model)
        motion = last.progress.motion
        self.first = State(motion.u.copy(), motion.v.copy())
        supports, self.held = last.stage.environment.supports, np.flatnonzero(last.stage.nodes.dof_kind == 0)
        driven = supports.motion(self.held, np.array([last.clock.start]), after=True)
        self.driven: tuple[Floats, Floats] = driven[0][0], driven[1][0]
        self.mass: Any = small_or_sparse_mass(last.stage)
        self._unopened = last.state()
        try:
            last.refuse(0)
            self.has_tangent = True
        except CommandError:
            self.has_tangent = False
            self._converge_differences()

    def _converge_differences(self) -> None:
        """Residuals so much smaller as the motions that are compared are apart: a motion along a taut line converges
        before the small one across it does."""
        limits = self.last.stage.limits
        limits[[LIMIT.relative, LIMIT.absolute, LIMIT.correction]] *= APART
        limits[LIMIT.iterations] *= 2

    def begin(self, state: State | None = None) -> State:
        """Put the model there (None: where the deck does), and from there to where it may be: that state."""
        last, motion = self.last, self.last.progress.motion
        for name, part in last.parts():
            put_back(part, self._unopened[name])
        last.variation = None
        with ErrorsTold(self.model, last.number):
            if state is not None:
                motion.u[:], motion.v[:] = state.u, state.v
                self.trajectory.has_started = True
                motion.v[self.held] = self.driven[1]
            motion.u[self.held] = self.driven[0]
            expand(last.stage.equations, motion.u)
            firm = self._keep_lengths(state.taut if state else None)
            if state is not None and len(firm.bars.rods):
                evaluate_rods(firm, motion, last.clock.start)
                consistent_velocities(firm, motion, self.mass)
            self.trajectory.open()
        taut = last.events.taut.copy() if last.events else None
        return State(motion.u.copy(), motion.v.copy(), taut)

    def _keep_lengths(self, taut: Flags | None) -> StepSystem:
        """Rods and taut ropes to their lengths, others no longer, and stops no shorter, than they may be.
        Returns the stage whose rods are the former."""
        last, motion, ropes = self.last, self.last.progress.motion, self.last.at_start
        stage, firm, may = last.stage, last.stage, np.zeros(len(heads(last.stage.bars)), np.bool_)
        if isinstance(ropes, Switched):
            stages = ropes.stages
            taut = np.zeros(len(stages.ropes), np.bool_) if taut is None else taut
            stage, firm = stages.of(taut | (gaps_of(stages.first.bars, stages.ropes, motion.u) > 0.0)), stages.of(taut)
            may = np.isin(heads(stage.bars), stages.ropes[~taut])
        if len(may):
            try:
                move_to_nearest(stage, motion, loading_at(stage, motion, last.clock.start), self.mass, may)
            except NoPulls:
                raise ModelError("no state close to the given one satisfies the lengths of rods and ropes") from None
        return firm

    def go(self, state: State | None = None) -> State:
        """The map P(z)."""
        self.begin(state)
        return self.march()

    def march(self) -> State:
        """From where ``begin`` has put the model to the end of the periods."""
        last, motion = self.last, self.last.progress.motion
        with ErrorsTold(self.model, last.number):
            advance_to(last, is_paced=True)
            self._close()
        return State(motion.u.copy(), motion.v.copy())

    def _close(self, vectors: Floats | None = None) -> None:
        """Velocities at the end, and perturbations (k, 2, 3n), along rods: ENERGY MOMENTUM leaves them there."""
        stage, motion, now = self.last.stage, self.last.progress.motion, self.last.clock.end
        if not (stage.coefficients.secant and len(stage.bars.rods)):  # lengths and rates are kept already
            return
        evaluate_rods(stage, motion, now)
        impulse = keep_rates(stage, motion, self.mass)
        if vectors is not None:
            project(stage, motion, now, self.mass, vectors, impulse)

    def vary(self, starts: Floats) -> Floats:
        """(k, 2, 3n) derivative of P along changes (k, 2, 3n) of the state where ``begin`` has put the model."""
        vectors = map_over(self.last, self.increments, starts)
        self._close(vectors)
        return vectors

    def chart(self, state: State) -> Chart:
        """Coordinates around a state, which is made one that may be."""
        base, stage = self.begin(state), self.last.stage
        dofs = Independent(stage.nodes.dof_kind, stage.equations)
        basis: Floats = np.eye(len(dofs.unknown))
        reading = basis
        if count := len(heads(stage.bars)):
            evaluate_rods(stage, self.last.progress.motion, self.last.clock.start)
            rows = dense(over_independent(stage, stage.nodes.dof_kind))
            basis = np.linalg.qr(rows.T, mode="complete")[0][:, count:]
            heavy = basis.T @ dense(dofs.matrix(small_or_sparse_mass(stage)))
            reading = np.asarray(np.linalg.solve(heavy @ basis, heavy), np.float64)
        if not basis.shape[1]:
            raise CommandError("no degree of freedom of the model is free: it has no orbits")
        return Chart(base, dofs, basis, reading, self.scale)

    def image(self, chart: Chart, y: Floats) -> Floats:
        """P in the coordinates."""
        return chart.coordinates(self.go(chart.state(y)))

    def gap(self, chart: Chart) -> Floats:
        """P(z) - z in the coordinates, z being the state that the base of a chart of another model is in this one."""
        start = self.begin(chart.base)
        return chart.coordinates(self.march()) - chart.coordinates(start)

    def slopes(self, chart: Chart, directions: Floats) -> tuple[Floats, Floats]:
        """P at the base of a chart (2m,), and its derivative along some directions (k, 2m): (2m, k).
        By the tangent map of every increment and event, or, where there is none, by differences of two lengths,
        extrapolated to none."""
        if self.has_tangent:
            self.begin(chart.base)
            found = self.vary(np.array([chart.moves(each) for each in directions]))
            return chart.coordinates(self.march()), chart.directions(found[:, 0], found[:, 1])

        def central(direction: Floats, step: float) -> Floats:
            return (self.image(chart, step * direction) - self.image(chart, -step * direction)) / (2.0 * step)

        near, far = (np.array([central(each, step) for each in directions]).T for step in (APART, 2.0 * APART))
        if not np.abs(far - near).max() <= AGREE * max(1.0, float(np.abs(near).max())):
            raise NoConvergence("neighbouring motions give no derivative: impacts in time stepping, or a kink")
        return self.image(chart, np.zeros(len(chart))), (4.0 * near - far) / 3.0
