"""The jump of perturbations at an instant at which ropes or stops change: the saltation matrix; parts of increments.

A neighbour reaches the gap g = 0 later by ``delay``; until then it goes on with a pace w, z, after it with v+, a+,
where the motion itself already has v+, a+. With du, dv before, du+, dv+ after, both at the time of the motion's own
event:

    delay = - G du / (G w),    moved = du + delay w,    rate = dv + delay z
    du+ = moved - delay v+,    dv+ = rate+ - delay a+

over all dofs, those of supports included (there du = dv = 0). With w, z = v, a of the motion that is S = R_z + (f+ -
R_z f - R_t) h_z / (h_z f + h_t). The run reaches the event at the end of a part of an increment, whose end changes with
its length by w, z; what begins later by ``delay`` is not quite on the way v+, a+ either: ``Parts`` has both, and so
makes the map the derivative of what the run does. rate+ = rate + x is the impact law, differentiated: impulses p along
the rods and ropes that act, G v+ = - c G v, dG the change of the gradients by ``moved``:

    M x + G^T dp = - dG^T p,    G x = - dG v+ - c (G rate + dG v) - G rate

Impacts of one instant that follow from each other are such steps one after another, with one delay. det S = c^2; for
c = 1 S is symplectic. Where ropes stay taut (c = 0, or after the last of many impacts) S projects onto the constraint:
what it takes out is gone, and its exponent is minus infinity. A rope that arrives without speed is the limit G v -> 0:
du+, dv+ are the nearest that keep the length. At release the multiplier, and with it the jump of a, is zero: S = 1 of
the motion; of the run, the delay is that of the multiplier.
Where several ropes arrive at one instant neighbours meet them in another order: there is no derivative.

Sources: Aizerman & Gantmakher, Q. J. Mech. Appl. Math. 11 (1958) 225-241; Mueller, Chaos, Solitons & Fractals 5 (1995)
1671-1681; Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems (2004), ch. 7.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.compiled import kernel
from fem.errors import CommandError
from fem.forces.bar import Bars, senses
from fem.forces.laws import LINEAR
from fem.forces.protocol import Trial
from fem.linear.products import add_product
from fem.solve.newton.evaluate import evaluate_apart, inertia_forces, multiply_masses
from fem.solve.newton.groups import Motion, Problem, Scratch
from fem.solve.rods import consistent_accelerations, keep_rates, multiply, relative, solve_saddle
from fem.solve.ropes.complementarity import move_to_nearest
from fem.solve.ropes.events import SHORT, Events
from fem.solve.ropes.instants import Blow, Instant
from fem.solve.ropes.watched import copy_of, restore
from fem.solve.start import evaluate_rods, evaluate_start
from fem.solve.step_system import StepSystem, loading_at
from fem.study.variation.linearise import DA, DF, DU, DV, END, KNOWN

EXACT = 1e-8
"""Largest error of the impact law of a perturbation, as a fraction of the largest rate of a length."""
NO_MASS = "perturbations need mass at every node that is free to move (*DENSITY, *MASS): use --method two"


def flow(earlier: StepSystem, instant: Instant, mass: Any) -> Floats:
    """(2, 3n) v and a at the end of the part before an event, whose stage is ``earlier``."""
    state = copy_of(instant.motion)
    state.v[:] = instant.blows[instant.stage.scheme.secant].before
    return np.array([state.v, consistent(earlier, state, float(instant.chunk.time[0]), mass).a])


def arrivals(instant: Instant, row: int, pace: Floats, vectors: Floats) -> Floats:
    """(k,) delays of neighbouring motions at the length of rope ``row`` of ``instant.stage``; pace as in ``cross``."""
    evaluate_rods(instant.stage, instant.motion, float(instant.chunk.time[0]))
    gaps = [float(multiply(instant.stage, vector[DU])[row]) for vector in vectors]
    return -np.array(gaps) / float(multiply(instant.stage, pace[DU])[row])


def cross(instant: Instant, has_struck: bool, pace: Floats, delays: Floats, vectors: Floats) -> None:
    """Perturbations (k, ROWS, 3n) after an event, which neighbouring motions reach later by ``delays`` (k,);
    accelerations are not changed. has_struck: with an impact; pace (2, 3n): rates of u and v before the event"""
    stage, mask = instant.stage, instant.stage.nodes.mask
    blows, v1, a1 = instant.blows if has_struck else instant.blows[: stage.scheme.secant], *instant.motion[1:3]
    evaluate_rods(stage, instant.motion, float(instant.chunk.time[0]))
    for vector, delay in zip(vectors, delays.tolist(), strict=True):
        moved, rate = vector[DU] + delay * pace[DU], vector[DV] + delay * pace[DV]
        for blow in blows:
            rate = rate + struck(instant, blow, moved, rate)
        vector[DU], vector[DV] = mask * (moved - delay * v1), mask * (rate - delay * a1)


def struck(instant: Instant, blow: Blow, moved: Floats, rate: Floats) -> Floats:
    """x (3n,) of the differentiated impact law, for perturbations of positions and velocities at the event."""
    stage, network, (at,) = instant.stage, instant.network, np.nonzero(blow.acts)
    turn, along = turned(stage.bars, moved), multiply(stage, rate)
    before, after = blow.before, blow.before + network.change(blow.pull)
    target = -along - (turn * relative(stage.bars, after)).sum(1)
    target -= blow.restitution * (along + (turn * relative(stage.bars, before)).sum(1))
    free = network.solve(network.dofs.load(-pulled(stage.bars, blow.pull[:, None] * turn, len(moved))))
    wanted = (target - network.rows @ free)[at]
    pull = np.linalg.lstsq(network.compliance[np.ix_(at, at)], wanted, rcond=None)[0]
    x = free + network.answer[:, at] @ pull
    off = np.abs(network.rows[at] @ x - target[at]).max(initial=0.0)
    if off > EXACT * np.abs(np.concatenate([target[at], along])).max(initial=0.0):
        raise CommandError(
            "an impact involves redundant constraints: perturbations are not defined there; use --method two"
        )
    return network.dofs.spread(x)


def project(
    stage: StepSystem, motion: Motion, now: float, mass: Any, vectors: Floats, impulse: Floats | None = None
) -> None:
    """Projects displacements and velocities of perturbations onto the constraints of rods and taut ropes.

    impulse  (rods,) of the projection of the motion itself, M (v - v_before) + G^T impulse = 0; None: zero
    """
    if len(stage.bars.rods) == 0:
        return
    evaluate_rods(stage, motion, now)
    for vector in vectors:
        vector[DU] += _least(stage, mass, 0.0 * vector[DU], -multiply(stage, vector[DU]))
        turn = turned(stage.bars, vector[DU])
        forces = 0.0 * vector[DV] if impulse is None else -pulled(stage.bars, impulse[:, None] * turn, vector.shape[1])
        rate = (turn * relative(stage.bars, motion.v)).sum(1)
        vector[DV] += _least(stage, mass, forces, -rate - multiply(stage, vector[DV]))


def accelerate(stage: StepSystem, motion: Motion, now: float, mass: Any, vectors: Floats) -> None:
    """Accelerations and forces of perturbations from their displacements and velocities.

    M da + C dv + K du + D dv + G^T dlambda + dG^T lambda = 0,    G da + dG a + 2 (v_j - v_i).(dv_j - dv_i) = 0
    """
    bars, work, chunk = stage.bars, stage.work, loading_at(stage, motion, now)
    evaluate_rods(stage, motion, now)
    change_forces(now, chunk.thermal_end[0], stage.problem, motion, work, vectors)
    for vector in vectors:
        inertia_forces(stage.problem, vector[DV], vector[DA], work.inertia, work.damping_force)
        target = -(turned(bars, vector[DU]) * relative(bars, motion.a)).sum(1)
        target -= 2.0 * (turned(bars, vector[DV]) * relative(bars, motion.v)).sum(1)
        vector[DA] = _least(stage, mass, -vector[KNOWN] - work.damping_force, target)
        inertia_forces(stage.problem, vector[DV], vector[DA], work.inertia, work.damping_force)
        vector[DF], vector[END] = -work.inertia - work.damping_force, vector[DA]


def consistent(stage: StepSystem, motion: Motion, now: float, mass: Any, after: bool = False) -> Motion:
    """A motion with accelerations, forces and multipliers from its displacements and velocities, at the end of the part
    before ``now``, or ``after`` it."""
    state, work, free = copy_of(motion), stage.work, stage.nodes.dof_kind
    state.a[:] = 0.0
    supported = np.flatnonzero(free == 0)
    state.a[supported] = stage.environment.supports.motion(supported, np.array([now]), after=after)[2][0]
    known = state.a.copy()
    evaluate_start(stage, state, loading_at(stage, state, now))
    multiply_masses(stage.problem, known, work.inertia)
    right = work.load - state.force - work.inertia - work.damping_force
    if not consistent_accelerations(stage, state, mass, right, known, free):
        raise CommandError(NO_MASS)
    state.lagged[:] = state.a
    return state


def turned(bars: Bars, x: Floats) -> Floats:
    """(rods, 3) change of the gradients of rods by displacements x; zero where they are geometrically linear."""
    way = np.where(bars.kinds[bars.rods, 0] == LINEAR, 0.0, senses(bars, bars.rods))
    return np.asarray(way[:, None] * relative(bars, x))


def pulled(bars: Bars, forces: Floats, size: int) -> Floats:
    """(3n,) forces (rods, 3) on the second nodes of rods, and minus those on the first."""
    total = np.zeros(size).reshape(-1, 3)
    np.add.at(total, bars.nodes[bars.rods, 1], forces)
    np.subtract.at(total, bars.nodes[bars.rods, 0], forces)
    return total.ravel()


def orthonormal(vectors: Floats, delays: Floats, unit: float, least: float) -> Floats:
    """(k,) logarithms of growth: displacements and velocities of perturbations are made orthonormal.

    delays (k,)  transformed with them
    least  a perturbation depends on those before, and becomes zero, if its fraction outside their span is below this
    """
    count, scale = len(vectors), np.repeat([unit, 1.0], vectors.shape[2])
    states, growth = vectors[:, : DV + 1].reshape(count, -1) / scale, np.full(count, -np.inf)
    for j in range(count):
        size = float(np.linalg.norm(states[j]))
        for _ in range(2):  # twice, because of rounding
            shared = states[:j] @ states[j]
            states[j] -= shared @ states[:j]
            delays[j] -= shared @ delays[:j]
        rest = float(np.linalg.norm(states[j]))
        growth[j] = np.log(rest) if rest > least * size else -np.inf
        scaled = 1.0 / rest if rest > least * size else 0.0
        states[j] *= scaled
        delays[j] *= scaled
    vectors[:, : DV + 1] = (states * scale).reshape(count, 2, -1)
    return growth


def _least(stage: StepSystem, mass: Any, right: Floats, target: Floats) -> Floats:
    """x (3n,): M x + G^T y = right, G x = target."""
    found = solve_saddle(stage, mass, right, target, stage.nodes.dof_kind)
    if found is None:
        raise CommandError(NO_MASS)
    return found[0]


@kernel
def change_forces(
    now: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch, vectors: Floats
) -> None:
    """Row KNOWN of every perturbation: K du + D dv, the multipliers of rods kept; their gradients into ``work``.
    The tangent at dv1/du1 = r is T(r) = K + r D:  K du + D dv = T(1) (2 du - dv) + T(2) (dv - du)."""
    for turn in range(2):
        trial = Trial(
            False, 1.0, 1.0 + turn, 0.0, 0.0, now, now, 0.0, motion.u, motion.v, motion.a, motion.u, motion.v,
            motion.a, thermal, motion.multiplier, problem.nodes.place, motion.state, work.state, work.power,
        )  # fmt: skip
        evaluate_apart(trial, problem, work)
        for j in range(vectors.shape[0]):
            for dof in range(vectors.shape[2]):
                du, dv = vectors[j, DU, dof], vectors[j, DV, dof]
                work.du[dof] = 2.0 * du - dv if turn == 0 else dv - du
                if turn == 0:
                    vectors[j, KNOWN, dof] = 0.0
            add_product(1.0, problem.bars.rods.shape[0] > 0, work.tangent, work.du, vectors[j, KNOWN])


# Parts of an increment divided by events: derivatives of their end with respect to the times of their start and end.
#
# A neighbour meets an event later by ``delay``: the part up to there is longer by it, the next one begins later by it
# and ends where it did. With Phi the march of a part from t to t1, and v, a the state at t:
#
#     by_end    d Phi / d t1
#     by_start  the derivative of Phi along t + s, u + s v, v + s a, accelerations anew: zero but for the scheme's error
#
# Both are differences of marches like those by which the run locates events, so that loads, supports and projections of
# every scheme are included. Two formulas must agree. ``late``, the delay of neighbouring motions at a release, uses the
# change of the multipliers at the end of a part, computed in the same way.
#
# Not differentiated: positions that the run moves back where ropes leave their length (``Events``: stops and ropes of
# BACKWARD EULER after their last impacts), and releases of ENERGY MOMENTUM in the first hundredth of an increment,
# whose pulls are interpolated from those in the middle of the one before. There the map is the derivative of the motion
# to the order of the scheme, as it is where a force has a kink close by, or an event falls on the end of an increment.

NUDGE = 1e-2
"""Steps of differences, as a fraction of an increment; the square is the fraction of the shortest rope."""
AGREE = 1e-3
"""Largest difference of two formulas, as a fraction of the change: it is larger if there is a kink nearby."""
LONGER = np.array([[-77.0, 214.0, -234.0, 122.0, -25.0], [-52.0, 114.0, -84.0, 22.0, 0.0]]) / 12.0
"""Derivative at 0 of polynomials through values at 1, 2, 3, 4, 5 (their weights add up to 0), and at the first four:
parts are made longer only, because rounding errors of short ones grow with the inverse square of their length."""
ASIDE = np.array([[8.0, -8.0, -1.0, 1.0], [6.0, -6.0, 0.0, 0.0]]) / 12.0
"""The same from values at 1, -1, 2, -2, and at the first two."""


class Part(NamedTuple):
    """A computed part: motion, perturbations (k, ROWS, 3n) and stage at its start, instants."""

    start: Motion
    vectors: Floats
    stage: StepSystem
    begin: float
    end: float


class Late(NamedTuple):
    """Neighbouring motions that begin a part later (k,), moving on with v and a (3n,)."""

    delays: Floats
    v: Floats
    a: Floats


class Ends(NamedTuple):
    """State at the end of a part: rows (ROWS - 1, 3n) as in perturbations, excess (r,) of ropes."""

    rows: Floats
    excess: Floats


class Parts:
    """Repeated marches of parts, for ropes whose step continues unchanged."""

    def __init__(self, events: Events) -> None:
        self.events, self.step_run = events, events.step_run
        self.step = NUDGE * events.step_run.clock.dt

    def by_end(self, part: Part) -> Ends | None:
        """Derivative of the part with respect to its end time; None: no derivative."""
        ends = self.step * np.arange(1.0, 6.0)
        return self._agreed(
            part, *self._slopes(part, [(part.start, 0.0, s) for s in ends.tolist()], LONGER / self.step)
        )

    def by_start(self, part: Part) -> Ends | None:
        """Derivative of the part with respect to its start time; None: no derivative."""
        starts = []
        for s in (-self.step * np.arange(1.0, 6.0)).tolist():
            starts.append((self._earlier(part, s), s, 0.0))
        return self._agreed(part, *self._slopes(part, starts, -LONGER / self.step))

    def has_own_pulls(self, part: Part) -> bool:
        """Whether releases are located by the pulls at the end of the part, not by those of earlier increments."""
        return not part.stage.scheme.secant or part.end - part.begin >= SHORT * self.step_run.clock.dt

    def late(self, part: Part, r: int, by_end: Ends, before: Floats) -> Floats:
        """(k,) delays of the release of rope r at the end of the part. before (k,): change of its excess before."""
        shortest, size = float(self.events.length.min()), part.end - part.begin
        lags, found = part.stage.coefficients.lags, before.copy()
        for k, vector in enumerate(part.vectors):
            most = max(float(np.abs(vector[DU]).max()), size * float(np.abs(vector[DV]).max()))
            if most == 0.0:
                continue
            step, starts = NUDGE**2 * shortest / most, []
            for s in (step, -step, 2.0 * step, -2.0 * step):
                moved = _moved(part.start, s, vector[DU], vector[DV])
                moved.a[:] += s * vector[END if lags else DA]
                moved.lagged[:] += s * vector[DA]
                moved.force[:] += s * vector[DF]
                starts.append((moved, 0.0, 0.0))
            found[k] += self._slopes(part, starts, ASIDE / step)[0].excess[r]
        slowed: Floats = -found / by_end.excess[r]
        return slowed

    def _earlier(self, part: Part, s: float) -> Motion:
        """The start at another instant, with supports and lengths of that instant: velocities would feel errors over
        dt."""
        stage, now, mass = part.stage, part.begin + s, self.events.mass
        moved = _moved(part.start, s, part.start.v, part.start.a)
        supported = np.flatnonzero(stage.nodes.dof_kind == 0)
        u, v, _ = stage.environment.supports.motion(supported, np.array([now]), after=True)
        moved.u[supported], moved.v[supported] = u[0], v[0]
        if count := len(stage.bars.rods):
            move_to_nearest(stage, moved, loading_at(stage, moved, now), mass, np.zeros(count, np.bool_))
            evaluate_rods(stage, moved, now)
            keep_rates(stage, moved, mass)
        return consistent(stage, moved, now, mass, after=True)

    def _slopes(self, part: Part, starts: list[tuple[Motion, float, float]], weights: Floats) -> list[Ends]:
        """Weighted sums (2, n) of ends; each with its start, and the delays of its beginning and end."""
        m, motion = self.step_run, self.step_run.progress.motion
        saved, stage, ends = copy_of(motion), m.stage, []
        m.stage = part.stage
        for state, begins, longer in starts:
            restore(motion, state)
            ends.append(self.events.trial(part.begin + begins, part.end + longer, lambda _: self._end(part.stage)))
        m.stage = stage
        restore(motion, saved)
        return [Ends(*(np.tensordot(each, np.array(all_), 1) for all_ in zip(*ends, strict=True))) for each in weights]

    def _agreed(self, part: Part, found: Ends, other: Ends) -> Ends | None:
        for row, scale in ((DU, part.start.v), (DV, part.start.a)):
            if np.abs(found.rows[row] - other.rows[row]).max() > AGREE * np.abs(scale).max():
                return None
        return found

    def _end(self, stage: StepSystem) -> Ends:
        motion = self.step_run.progress.motion
        rows, mask = np.zeros((END + 1, len(motion.u))), stage.nodes.mask
        rows[DU], rows[DV], rows[DF], rows[END] = motion.u, motion.v, motion.force, mask * motion.a
        rows[DA] = mask * (motion.lagged if stage.coefficients.lags else motion.a)
        return Ends(rows, self.events.excess())


def _moved(motion: Motion, s: float, u: Floats, v: Floats) -> Motion:
    moved = copy_of(motion)
    moved.u[:] += s * u
    moved.v[:] += s * v
    return moved
