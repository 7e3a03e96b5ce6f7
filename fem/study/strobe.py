"""The stroboscopic map z -> P(z) of the last step of a deck: from the start of the step through whole periods.

z is an admissible displacement and velocity of all dofs: prescribed at supports, rods at their lengths with zero rates,
no rope too long and no stop too short. Accelerations follow from z, as at the start of a deck; an integrator with its
own accelerations (HHT, GENERALIZED ALPHA) has forgotten them after a period.
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
"""Step of differences, as a fraction of the scales, if there is no tangent map."""
AGREE = 1e-2
"""Largest difference of derivatives from two steps, relative to the largest, for them to be accepted."""


class Move(NamedTuple):
    """A small change of displacement and velocity of all dofs (3n,)."""

    u: Floats
    v: Floats


class State(NamedTuple):
    """Displacement and velocity of all dofs (3n,); taut (r,): ropes and stops that are projected to their lengths and
    zero rates, like rods; None: their states follow from the displacements."""

    u: Floats
    v: Floats
    taut: Flags | None = None

    def moved(self, move: Move, factor: float = 1.0) -> State:
        """The state after ``factor`` times a change."""
        return self._replace(u=self.u + factor * move.u, v=self.v + factor * move.v)


class Chart:
    """Coordinates y (2m,) of the states near ``base``: m independent displacements and velocities, over their scales.

    basis (d, m)    orthonormal directions b of the independent dofs that do not stretch rods or taut ropes: G b = 0
    reading (m, d)  gives coordinates from changes of these dofs: the identity on ``basis``, 0 on M^-1 G^T

    A displaced moving state has velocities with G dv = - dG v. They are not in the span of the basis: the map adds a
    part along M^-1 G^T, as every projection of a run does. ``reading`` must ignore this part, or a state would have
    other coordinates than those it was made from, and the derivative of the map would be wrong.
    """

    def __init__(
        self, base: State, dofs: Independent, basis: Floats, reading: Floats, scale: tuple[float, float]
    ) -> None:
        self.base, self.dofs, self.basis, self.reading, self.scale = base, dofs, basis, reading, scale

    def scaled(self, scale: tuple[float, float]) -> Chart:
        """The chart with other scales."""
        return Chart(self.base, self.dofs, self.basis, self.reading, scale)

    def __len__(self) -> int:
        return 2 * int(self.basis.shape[1])

    def state(self, y: Floats) -> State:
        """The state at y, to first order if there are rods."""
        return self.base.moved(self.moves(y))

    def moves(self, y: Floats) -> Move:
        """Change of all dofs for a small change of the coordinates."""
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
    sink    receives the rows of its marches; None: they are not recorded
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
        """Reduces residuals in proportion to the distance of the motions compared: a motion along a taut line converges
        earlier than the small one across it."""
        limits = self.last.stage.limits
        limits[[LIMIT.relative, LIMIT.absolute, LIMIT.correction]] *= APART
        limits[LIMIT.iterations] *= 2

    def begin(self, state: State | None = None) -> State:
        """Sets the model to a state (None: that of the deck) and projects it to an admissible one, which it returns."""
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
        """Corrects rods and taut ropes to their lengths, slack ropes that are too long, and stops that are too short.
        Returns the stage in which the rods and taut ropes are rods."""
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
        """The state at the end of the periods, from the state that ``begin`` has set."""
        last, motion = self.last, self.last.progress.motion
        with ErrorsTold(self.model, last.number):
            advance_to(last, is_paced=True)
            self._close()
        return State(motion.u.copy(), motion.v.copy())

    def _close(self, vectors: Floats | None = None) -> None:
        """Projects velocities at the end, and perturbations (k, 2, 3n), along rods, which ENERGY MOMENTUM does not."""
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
        """Coordinates around a state, which is made admissible."""
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
        """P, in the coordinates of the chart."""
        return chart.coordinates(self.go(chart.state(y)))

    def gap(self, chart: Chart) -> Floats:
        """P(z) - z in the coordinates, z being the base of the chart, possibly of another model."""
        start = self.begin(chart.base)
        return chart.coordinates(self.march()) - chart.coordinates(start)

    def slopes(self, chart: Chart, directions: Floats) -> tuple[Floats, Floats]:
        """P at the base of a chart (2m,), and its derivative along some directions (k, 2m): (2m, k).
        By the tangent map of every increment and event, or, if there is none, by differences with two steps,
        extrapolated to zero."""
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
