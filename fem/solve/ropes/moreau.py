"""Moreau-Jean time stepping: many ropes at once, impacts as impulses of whole increments, no instants located.

The increment is that of the energy-momentum rule, with vbar = (v + v1)/2 = (u1 - u)/dt of what is free and G the
gradients of the lengths at (u + u1)/2; ropes that are at their length there pull with the mean force lambda:

    M (v1 - v)/dt + f_dg(u, u1) + C vbar + G^T lambda = f_ext
    rods  G v1 = b;    ropes  0 <= lambda,  G v1 <= b,  one of them zero;    b as below
    planes  also friction along their tangents, as in ``complementarity.py``

b is the largest rate of lengthening of ropes and rods at the end of an increment. With w the relative velocity of two
ends and s = d.w the rate of a length:

    an increment without impacts   G vbar <= 0: the length of what pulls is constant, no energy is lost
    one with an impact             s1 <= - c s for a slack rope that reaches its length with s > 0, else s1 <= 0; but
                                   G vbar >= 0 for what pulls: impulses take the energy dt lambda.(G vbar) >= 0

s1 = G v1 + (d1 - d).w1/2 and G vbar = (G v + G v1)/2 are linear in G v1. Friction ends slipping: T v1 = 0.
Supports move by dt vbar and a small dt ``lag`` in addition; the correction of positions removes its effect on lengths,
and its energy is work of the supports.

Then u1 moves by the least K^-1 G1^T mu that brings every length back into its bound; lengths of what has pulled are
kept. Impulses take the energy dt lambda.(G vbar) >= 0. Energy added by the correction of positions is subtracted from
it and, if that is not enough or there is no impact, exchanged with the kinetic energy (with moving supports it is their
work): energy never increases by itself.
First order in dt with impacts, else second. Increments of small models without changes are computed by ``steady.py``.
Sources: Jean, Comput. Methods Appl. Mech. Eng. 177 (1999) 235-257; Acary & Brogliato, Numerical Methods for Nonsmooth
Dynamical Systems (2008), ch. 10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import Independent, expand
from fem.errors import ModelError
from fem.forces import bar
from fem.forces.laws import LINEAR, RIGID
from fem.forces.protocol import GIVEN, TAKEN
from fem.solve.momenta import kept_momenta
from fem.solve.newton import evaluate, groups
from fem.solve.newton.balance import has_drifted
from fem.solve.newton.groups import CONTROL, ENERGY, LIMIT, Ledger, Loading, Motion, Passage
from fem.solve.rope_states import Stages, can_change, gaps_of
from fem.solve.ropes.complementarity import CREEPS, NoPulls, Slips, complementarity, impulses
from fem.solve.ropes.instants import SLOW, SettingOff
from fem.solve.ropes.steady import (
    AT_LENGTH,
    CLOSED,
    NEGLIGIBLE,
    ROUND_OFF,
    SMALL,
    TURNS,
    begin,
    close_with_losses,
    desk_of,
    linearise,
    steady,
    support_lag,
    take_from_motion,
)
from fem.solve.ropes.watched import event_of
from fem.solve.state import Marcher, StepState
from fem.solve.step_system import StepSystem


class Law:
    """The bounds of one increment for the ropes and rods ``near`` (c,), which slip along the tangents ``slips``.

    holds, one_sided, restitution (c,)  kept their length up to now; are ropes;  v0 (3n,) first velocities
    comes, arrives (c,)  reach their length while lengthening; have an impact
    """

    def __init__(
        self, lengths: Lengths, near: Ints, u: Floats, v0: Floats, holds: Flags, one_sided: Flags, restitution: Floats
    ) -> None:
        self.lengths, self.near, self.v0, self.restitution = lengths, near, v0, restitution
        self.one_sided, self.slips = one_sided, lengths.slips(near, len(u))
        self.whose = np.concatenate([np.arange(len(near)), self.slips.contact])
        self.u = u
        rows = self.gradients(u)[0][: len(near)]
        self.rate: Floats = rows @ v0
        speed = np.sqrt(lengths.square[near]) * float(np.abs(v0).max(initial=0.0))
        self.comes: Flags = one_sided & ~holds & (self.rate > SLOW * speed)
        self.arrives = self.comes.copy()

    def gradients(self, u: Floats) -> tuple[Floats, Floats]:
        """G, then T, at u: over all dofs (c + 2f, 3n), and over the independent ones."""
        both = zip(self.lengths.gradients(self.near, u), (self.slips.rows, self.slips.reduced), strict=True)
        rows, reduced = (np.concatenate(parts) if len(parts[1]) else parts[0] for parts in both)
        return rows, reduced

    def bound(self, rows: Floats, u1: Floats, v1: Floats) -> Floats:
        """(c + 2f,) upper bound of G v1 (for rods, and T v1 without sliding: its value), given the end of the last
        guess."""
        bound = -(rows[: len(self.near)] @ self.v0)
        if self.arrives.any():
            moved = self.lengths.relative(self.near, u1) - self.lengths.relative(self.near, self.u)
            turn = 0.5 * self.lengths.sense[self.near] * (moved * self.lengths.relative(self.near, v1)).sum(1)
            wanted = -turn - np.where(self.arrives, self.restitution * self.rate, 0.0)
            bound = np.where(self.one_sided, np.maximum(wanted, bound), wanted)
        return np.append(bound, np.zeros(len(self.slips.contact)))


def put_in(k: int, stage: StepSystem, through: Passage, move: Floats, strain: float) -> tuple[float, float]:
    """Stored energy at positions corrected by ``move`` (3n,), and the energy added, also by work against drag.
    strain: stored energy before"""
    chunk, motion, work = through.loading, through.motion, through.work
    thermal = chunk.thermal_end[min(k + 1, len(chunk.thermal_end) - 1)]
    by_moments = work.power[GIVEN:TAKEN].copy()  # work over the increment that is not stored energy
    ends = evaluate.stored_energy(float(chunk.time[k]), float(chunk.time[k + 1]), thermal, stage.problem, motion, work)
    work.power[GIVEN:TAKEN] = by_moments
    now, mean = chunk.factors[k + 1], 0.5 * (chunk.factors[k] + chunk.factors[k + 1])
    given = ends - strain - float((np.where(chunk.is_gravity == 1, now, mean) @ chunk.vectors) @ move)
    if len(work.flow):
        way = work.u - motion.u
        loss = float(work.flow @ way)
        given += (max(loss, 0.0) if stage.problem.is_passive else loss) - float(work.flow @ (way - move))
    if len(stage.nodes.damping):
        evaluate.multiply_dampings(stage.problem, 0.5 * (motion.v + work.v), work.momentum)
        given += float(work.momentum @ move)
    return ends, given


class Lengths:
    """Lengths of bars ``index`` (c,), all of which may pull. square (c,) lengths squared; sense (c,) -1: stops."""

    def __init__(self, stage: StepSystem, index: Ints) -> None:
        bars = stage.bars
        self.index, self.bars = index, bars
        self.square: Floats = 1.0 / bars.constants[bar.INV_LENGTH, index] ** 2
        self.sense: Floats = bar.senses(bars, index)
        self.is_linear = bars.kinds[index, 0] == LINEAR
        self.dofs = Independent(stage.nodes.dof_kind, stage.equations)
        self.friction: Floats = bars.constants[bar.FRICTION, index]
        self.tangents = self._tangents()

    def gaps(self, u: Floats) -> Floats:
        """(l^2 - L0^2)/2, of stops minus that."""
        return gaps_of(self.bars, self.index, u)

    def relative(self, chosen: Ints, x: Floats) -> Floats:
        """(c, 3) x_j - x_i of some of them; zero where the bar is geometrically linear."""
        ends = x.reshape(-1, 3)[self.bars.nodes[self.index[chosen]]]
        return np.where(self.is_linear[chosen, None], 0.0, ends[:, 1] - ends[:, 0])

    def gradients(self, chosen: Ints, u: Floats) -> tuple[Floats, Floats]:
        """G of some of them at u: over all dofs (c, 3n), and over the independent ones."""
        e, w = self.index[chosen], self.relative(chosen, u)
        first = np.where(self.is_linear[chosen], bar.BASE, bar.REF)
        way = np.stack([self.bars.constants[first + c, e] + w[:, c] for c in range(3)], axis=1)
        return self._spread(e, self.sense[chosen][:, None] * way, len(u))

    def _tangents(self) -> Floats:
        """(c, 2, 3) tangents of planes with friction, as long as their normals; zero elsewhere.

        The first one is perpendicular to the axis with the smallest component of the normal: in plane models the
        second lies in the plane of the model.
        """
        found, rubs = np.zeros((len(self.index), 2, 3)), self.friction > 0.0
        normal = self.bars.constants[bar.BASE : bar.BASE + 3, self.index[rubs]].T
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        first = np.cross(normal, np.eye(3)[np.abs(normal).argmin(axis=1)])
        first *= length / np.linalg.norm(first, axis=1, keepdims=True)
        found[rubs] = np.stack([first, np.cross(normal, first) / length], axis=1)
        return found

    def slips(self, chosen: Ints, size: int) -> Slips:
        """Tangents of contacts with friction among the chosen lengths; size: number of dofs."""
        (rubs,) = np.nonzero(self.friction[chosen] > 0.0)
        of = chosen[np.tile(rubs, 2)]
        ways = np.concatenate([self.tangents[chosen[rubs], t] for t in range(2)])
        return Slips(np.tile(rubs, 2), self.friction[of], *self._spread(self.index[of], ways, size))

    def _spread(self, e: Ints, way: Floats, size: int) -> tuple[Floats, Floats]:
        """Gradients over all dofs and over the independent ones, of bars e, from those at their second nodes (c, 3)."""
        rows, at, ends, dofs = np.zeros((len(e), size)), np.arange(len(e)), 3 * self.bars.nodes[e], self.dofs
        for c in range(3):
            rows[at, ends[:, 1] + c] += way[:, c]
            rows[at, ends[:, 0] + c] -= way[:, c]
        return rows, rows[:, dofs.unknown] if dofs.transform is None else rows @ dofs.transform


MOST_CORRECTIONS = 50


class Moreau(Marcher):
    """The march of one dynamic step with ropes and rods ``index`` among the bars of ``stage``, whose rods are none.
    happened   (increment of the chunk, rope, event, energy lost) since it was last emptied; notice: for the user"""

    changing = ("pulls", "holds", "spare", "trouble")

    def __init__(self, stage: StepSystem, ropes: Ints, notice: str) -> None:
        bars, self.notice = stage.bars, notice
        self.stage, self.all = stage, ropes
        # A rope between two supports has no free end.
        self.ropes: Ints = ropes[can_change(bars, ropes, stage.nodes.dof_kind)]
        ropes = self.ropes
        self.index: Ints = np.concatenate([ropes, bars.rods])
        self.lengths = Lengths(stage, self.index)
        self.one_sided: Flags = np.arange(len(self.index)) < len(ropes)
        self.restitution: Floats = np.where(self.one_sided, bars.constants[bar.RESTITUTION, self.index], 0.0)
        others = len(stage.system.springs.dofs) or not stage.system.is_passive
        self.is_elastic = bool(np.any(bars.kinds[:, 1] != RIGID) or others)
        elastic = bars.constants[bar.INV_LENGTH, bars.kinds[:, 1] != RIGID]
        self.shortest = 1.0 / float(elastic.max()) if len(elastic) else 0.0
        self.is_coupled = self.is_elastic or bool(len(bars.off_mass) or len(stage.equations.slave))
        self.pulls: Flags = np.zeros(len(self.index), np.bool_)
        self.holds: Flags = self.pulls.copy()
        self.spare, self.trouble = 0.0, "its iteration did not converge"
        self.happened: list[tuple[int, int, str, float]] = []
        self.kept = kept_momenta(stage)
        self.creeps = False
        self.desk = desk_of(
            stage,
            self.index,
            self.one_sided,
            self.lengths.tangents,
            self.is_elastic,
            self.shortest,
            self.kept is not None,
        )

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError where a free dof has no mass (held ones rest, nothing acts on them)."""
        massless = (self.stage.nodes.dof_kind == 1) & (self.stage.system.inertia <= 0.0)
        massless[held] = False
        if np.any(massless):
            name = self.stage.system.name_dof(int(np.flatnonzero(massless)[0]))
            raise ModelError(f"{name} is free and has no mass, which IMPACT=MOREAU needs: give it mass or support it")

    def rope_start(self, step: StepState) -> SettingOff:
        """Start of the ropes, as for events that are located."""
        stages = Stages(self.stage, self.all, step.whole.requests.solver)
        return SettingOff(step, stages, self._take_up)

    def _take_up(self, taut: Flags) -> None:
        """Sets the ropes of the model (r,) that are taut at the start of the step."""
        self.pulls[:] = np.isin(self.index, self.all[taut])
        self.holds[:] = self.pulls

    def tell(self, step: StepState, before: int, times: Floats) -> None:
        """Reports the events of a chunk."""
        for k, r, what, lost in self.happened:
            at, sense = (step.number, before + k + 1, float(times[k + 1])), float(self.lengths.sense[r])
            step.sink.event(event_of(self.stage.system, at, int(self.index[r]), what, sense, lost))
        self.happened.clear()
        if self.creeps:
            step.notify(CREEPS)

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        return (
            f"step {step.number} stopped at t = {step.progress.time:.9g}: the increment {dt:.6g} of the time stepping "
            f"over impacts found no solution ({self.trouble}). "
            + ("" if self.trouble.startswith("friction jams") else "Use smaller increments. ")
            + "Everything computed so far is written"
        )

    def march(self, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> int:
        fraction, motion = float(self.stage.limits[LIMIT.drift_fraction]), step.progress.motion
        through = self.stage.passage(chunk, motion, kept)
        self.happened.clear()  # from a chunk that is repeated
        while control[CONTROL.increment] < len(chunk.dt):
            verdict = self._go_on(control, through)
            if verdict != groups.EVENT:
                return verdict
            k = int(control[CONTROL.increment])
            error = self._increment(k, through)
            if error is None or not np.isfinite(error):
                return groups.NOT_CONVERGED
            control[CONTROL.increment] += 1
            dt = float(chunk.dt[k])
            if k >= control[CONTROL.judged] and has_drifted(
                self.stage.nodes, self.stage.bars, motion, dt, error, fraction
            ):
                return groups.DRIFT
        return groups.DONE

    def _go_on(self, control: Ints, through: Passage) -> int:
        """Computes increments of a small model without changes of state; EVENT: the next increment has one."""
        if self.desk is None:
            return groups.EVENT
        desk = self.desk._replace(pulls=self.pulls, holds=self.holds, spare=np.array([self.spare]))
        verdict = int(steady(control, desk, through))
        self.spare = float(desk.spare[0])
        return verdict

    def _increment(self, k: int, through: Passage) -> float | None:
        """One increment; returns its energy error, None if it has no solution."""
        chunk, motion, work = through.loading, through.motion, through.work
        stage, dt, lengths = self.stage, float(chunk.dt[k]), self.lengths
        v0 = np.empty(len(motion.u))
        begin(k, through, v0)
        middle = motion.u + 0.5 * dt * v0  # for supports, too: accelerations have no influence
        (near,) = np.nonzero(~self.one_sided | (lengths.gaps(middle) > -AT_LENGTH * lengths.square))
        one_sided = self.one_sided[near]
        law = Law(lengths, near, motion.u, v0, self.holds[near], one_sided, self.restitution[near])
        rows, reduced = law.gradients(middle)
        bound = law.bound(rows, motion.u + dt * v0, v0)
        pull = np.zeros(len(rows))
        iterations, most = 0, int(stage.limits[LIMIT.iterations])
        while True:
            if iterations == most:
                return None
            iterations += 1
            linearise(k, through)
            solve = self._factor(dt)
            change = solve(work.residual[lengths.dofs.unknown])
            if len(near):
                along = solve(reduced.T)
                compliance = 2.0 / dt * (reduced @ along)
                if np.diag(compliance).min() < 0.0:
                    self.trouble = "bars buckle within it"
                    return None
                free = rows @ (work.v + 2.0 / dt * lengths.dofs.spread(change))
                noise = ROUND_OFF * np.sqrt(lengths.square[near]) * float(np.abs(work.v).max() + np.abs(v0).max())
                try:
                    pull, creeps = impulses(compliance, free - bound, one_sided, law.slips, noise[law.whose])
                    self.creeps |= creeps
                except NoPulls as error:
                    name = self._name(int(near[error.worst]))
                    self.trouble = error.why.format(name) or f"no tensions keep all lengths: {name} is pulled apart"
                    return None
                change = change - along @ pull
            move = lengths.dofs.spread(change)
            work.u[:] += move
            work.v[:] += 2.0 / dt * move
            work.a[:] += 2.0 / dt**2 * move
            size, extent = (float(np.abs(each).max(initial=0.0)) for each in (work.u - motion.u, work.u))
            enough = max(SMALL * size, NEGLIGIBLE * max(extent, self.shortest))
            if float(np.abs(move).max(initial=0.0)) <= enough or (not self.is_elastic and iterations >= TURNS):
                break
            if iterations < TURNS and len(near):
                law.arrives &= np.any(law.arrives & (pull[: len(near)] > 0.0))
                rows, reduced = law.gradients(0.5 * (motion.u + work.u))
                bound = law.bound(rows, work.u, work.v)
        lag = np.empty(len(v0))
        support_lag(k, chunk, motion.u, v0, lag)
        if len(stage.equations.slave):
            expand(stage.equations, lag)
        loss = pull * (rows @ (work.u - motion.u - dt * lag))
        motion.energies[ENERGY.work] -= dt * float(pull @ (rows @ lag))
        return self._finish(k, through, law, rows, pull, loss, iterations)

    def _finish(
        self, k: int, through: Passage, law: Law, rows: Floats, pull: Floats, loss: Floats, iterations: int
    ) -> float | None:
        """Forces of the increment, correction of positions, energy balance."""
        stage, near, count = self.stage, law.near, len(law.near)
        chunk, motion, work = through.loading, through.motion, through.work
        strain = linearise(k, through)  # inertia and damping at the end
        work.multiplier[self.index[near]] = pull[:count]
        motion.multiplier[self.ropes] = work.multiplier[self.ropes]
        work.force[:] += rows.T @ pull
        law.arrives &= pull[:count] > 0.0
        bounced = law.comes & ((law.restitution > 0.0) | ~law.arrives)
        self.holds[:] = False
        self.holds[near[(pull[:count] > 0.0) & ~bounced]] = True
        rubbed = np.bincount(law.slips.contact, loss[count:], minlength=count).astype(float)
        before, taken, rubs = work.u.copy(), float(loss[:count].sum()), float(rubbed.sum())
        if not self._correct(float(chunk.dt[k])):
            return None
        move = work.u - before
        quicker, drift = self._keep_momenta(float(chunk.dt[k]), motion.u, before, rows[:count].T @ pull[:count])
        taken -= quicker
        if np.any(move):
            strain, given = put_in(k, stage, through, move, strain)
            if np.any(chunk.support_u[k] != motion.u[chunk.support_dofs]):
                motion.energies[ENERGY.work] += given
            else:
                taken -= given
        lent = min(rubs, max(-taken, 0.0))  # negative friction work for a moment counts as none
        taken, rubs = taken + lent, rubs - lent
        if taken < 0.0 or not np.any(law.arrives):
            taken += take_from_motion(-taken, drift, stage.problem, work) if taken else 0.0
            motion.energies[ENERGY.work] -= min(taken, 0.0)  # a model at rest has no kinetic energy to give
            taken = max(taken, 0.0)
        self._note(k, law, pull[:count], loss[:count], taken, rubbed)
        return float(close_with_losses(k, iterations, strain, taken + rubs, through))

    def _keep_momenta(self, dt: float, u: Floats, before: Floats, pull: Floats) -> tuple[float, Floats]:
        """Rigid velocities that restore the conserved momenta, which the correction of positions and pulls along the
        gradients of an earlier guess have changed. Returns the energy that they add, and the rigid velocity (3n,).
        before, pull (3n,): positions before the correction; force of ropes and rods"""
        work, kept, place = self.stage.work, self.kept, self.stage.nodes.place
        if kept is None or not (pull.any() or np.any(work.u != before)):
            return 0.0, np.zeros(len(u))
        momentum, now = kept.momentum(work.v), kept.motions(place + work.u)
        wanted = kept.motions(place + before) @ momentum + dt * kept.motions(place + 0.5 * (u + before)) @ pull
        change, drift = kept.rigid(now, np.column_stack([wanted - now @ momentum, wanted]))
        work.v[:] += change
        return float(change @ (momentum + 0.5 * kept.momentum(change))), drift

    def _correct(self, dt: float) -> bool:
        """Move the trial positions until no rope is too long, and rods and ropes that pull have their lengths."""
        work, lengths = self.stage.work, self.lengths
        one_sided = self.one_sided & ~self.holds
        solve, touched = None, ~one_sided
        for _ in range(MOST_CORRECTIONS):
            gap = lengths.gaps(work.u)
            strain = np.where(one_sided, gap, np.abs(gap)) / lengths.square
            if strain.max(initial=0.0) <= CLOSED:
                return True
            touched = touched | (gap > 0.0)
            (near,) = np.nonzero(touched)
            _, reduced = lengths.gradients(near, work.u)
            solve = solve or self._factor(dt)
            along = solve(reduced.T)
            noise = CLOSED * lengths.square[near]
            try:
                pull, _ = complementarity(reduced @ along, gap[near], one_sided[near], noise)
            except NoPulls as error:
                self.trouble = f"no motion keeps all lengths: {self._name(int(near[error.worst]))} is pulled apart"
                if np.array_equal(one_sided, self.one_sided):
                    return False
                one_sided = self.one_sided  # not all that pulled can keep their lengths
                continue
            work.u[:] -= lengths.dofs.spread(along @ pull)
        return False

    def _name(self, r: int) -> str:
        return self.stage.system.name_bar(int(self.index[r]))

    def _factor(self, dt: float) -> Callable[[Floats], Floats]:
        """The inverse of the effective tangent over the independent dofs, as a function."""
        if self.is_coupled:
            from scipy.sparse.linalg import splu

            solve: Callable[[Floats], Floats] = splu(self.stage.tangent.matrix(self.stage.work).tocsc()).solve
            return solve
        nodes, unknown = self.stage.nodes, self.lengths.dofs.unknown
        damping = nodes.damping[unknown] if len(nodes.damping) else 0.0
        diagonal = 2.0 / dt**2 * nodes.mass[unknown] + damping / dt
        return lambda right: right / (diagonal if right.ndim == 1 else diagonal[:, None])

    def _note(self, k: int, law: Law, pull: Floats, loss: Floats, taken: float, rubbed: Floats) -> None:
        """Notes the changes of ropes in increment k, with the energy lost.

        Each impact gets its share, and the work of its friction; energy without an event is added to the next one.
        """
        near, arrives, rubs = law.near, law.arrives, np.zeros(len(self.pulls))
        rubs[near] = np.maximum(rubbed, 0.0)
        now, hits, lost = np.zeros_like(self.pulls), np.zeros_like(self.pulls), np.zeros(len(self.pulls))
        now[near], hits[near], lost[near] = pull > 0.0, arrives & (pull > 0.0), np.maximum(loss, 0.0)
        lost[~self.one_sided] = 0.0
        total = float(lost.sum())
        lost *= taken / total if total > 0.0 else 0.0
        self.spare += taken if total <= 0.0 else 0.0
        reports = self.one_sided & (hits | (now != self.pulls))
        self.spare += float(lost[~reports].sum())
        for r in np.flatnonzero(reports).tolist():
            what = "impact" if hits[r] else "taut" if now[r] else "slack"
            self.happened.append((k, r, what, float(lost[r]) + self.spare + float(rubs[r] if hits[r] else 0.0)))
            self.spare = 0.0
        self.pulls[:] = now
