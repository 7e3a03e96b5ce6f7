"""Moreau-Jean time stepping: many ropes at once, impacts as impulses of whole increments, no instants located.

The increment is that of the energy-momentum rule, with vbar = (v + v1)/2 = (u1 - u)/dt and G the gradients of the
lengths at u + dt/2 v; ropes that are at their length there pull with the mean force lambda of the increment:

    M (v1 - v)/dt + f_dg(u, u1) + C vbar + G^T lambda = f_ext
    rods  G v1 = 0;    ropes  0 <= lambda,  G v1 <= - c G v where G v > 0, else G vbar <= 0;  one of them zero

Then u1 moves by the least K^-1 G1^T mu that brings every length back into its bound. Impulses take dt lambda.(G vbar),
never less than nothing; what the correction of positions puts in is taken from it and, where supports rest and that is
not enough, from the velocities: energy never rises by itself. First order in dt.
Sources: Jean, Comput. Methods Appl. Mech. Eng. 177 (1999) 235-257; Acary & Brogliato, Numerical Methods for Nonsmooth
Dynamical Systems (2008), ch. 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.constraints import reduction
from fem.compiled import kernel
from fem.errors import ModelError
from fem.mechanics import bar
from fem.mechanics.bar import Bars
from fem.mechanics.energy import stored_energy
from fem.mechanics.laws import RIGID
from fem.mechanics.links import Links, expand
from fem.mechanics.mass import multiply_mass
from fem.mechanics.springs import Springs
from fem.mechanics.strain import LINEAR
from fem.results.record import Event, Sink
from fem.solve.newton import groups
from fem.solve.newton.groups import DISSIPATED, Loading, Motion, Nodes, Record, Ropes, Scratch
from fem.solve.newton.iterate import combine, evaluate, inertia_forces, residual
from fem.solve.newton.ledger import close_increment, has_drifted, note_increment
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.rods.constraints import SAME_LENGTH
from fem.solve.ropes.instants.complementarity import complementarity
from fem.solve.ropes.slack import excesses
from fem.solve.stage import Stage

AT_LENGTH = 1e-6
"""Strain from which on a rope counts as being at its length."""
CLOSED = 1e-11
"""Largest strain that the correction of positions leaves."""
MOST_CORRECTIONS = 50
SMALL = 1e-10
"""Share of the motion of an increment: corrections of the elastic parts below it end the iteration."""


@kernel
def close_books(
    row: Floats, k: int, iterations: int, strain: float, lost: float, nodes: Nodes, bars: Bars, springs: Springs,
    links: Links, loading: Loading, motion: Motion, work: Scratch, record: Record,
) -> float:  # fmt: skip
    """Increment k into the books and its row; lost: energy that impulses took. Returns the energy error."""
    error: float = close_increment(row, True, k, strain, nodes, bars, springs, links, loading, motion, work)
    motion.tally[DISSIPATED] += lost
    error += lost
    thermal = loading.thermal[min(k + 1, loading.thermal.shape[0] - 1)]
    note_increment(k, iterations, 0.0, 0.0, 0, error, bars, springs, thermal, motion, record)
    return error


class Moreau:
    """The march of one dynamic step with ropes among the bars of ``stage`` (no rods there). Ropes and rods: ``index``.

    happened   (increment of the chunk, rope, event, energy lost) since it was last emptied; notice: for the user
    """

    def __init__(self, stage: Stage, ropes: Ints, notice: str) -> None:
        bars, self.notice = stage.bars, notice
        moves = (stage.nodes.free != 0).reshape(-1, 3).any(axis=1)[bars.nodes].any(axis=1)
        self.stage, self.ropes = stage, ropes[moves[ropes]]  # one between two supports has nothing to pull
        ropes = self.ropes
        self.index: Ints = np.concatenate([ropes, bars.rods])
        self.all = Ropes(self.index, np.zeros(len(self.index)))
        self.one_sided: Flags = np.arange(len(self.index)) < len(ropes)
        self.square: Floats = 1.0 / bars.constants[bar.INV_LENGTH, self.index] ** 2
        self.restitution: Floats = np.where(self.one_sided, bars.constants[bar.RESTITUTION, self.index], 0.0)
        self.slack = bars._replace(kinds=np.column_stack([bars.kinds[:, 0], np.zeros(len(bars.kinds), np.int64)]))
        self.is_linear = bars.kinds[self.index, 0] == LINEAR
        self.unknown = np.flatnonzero(stage.nodes.free == 1)
        links = stage.links
        self.transform: Any = reduction(stage.nodes.free, links) if len(links.slave) else None
        self.is_elastic = bool(np.any(bars.kinds[:, 1] != RIGID) or len(stage.system.springs.dofs))
        self.is_coupled = self.is_elastic or bool(len(bars.off_mass) or len(links.slave))
        self.pulls: Flags = np.zeros(len(self.index), np.bool_)
        self.happened: list[tuple[int, int, str, float]] = []

    def start(self, motion: Motion) -> None:
        """ModelError where a rope is too long."""
        strain = np.where(self.one_sided, self._gaps(motion.u) / self.square, 0.0)
        worst = int(strain.argmax())
        if strain[worst] > SAME_LENGTH:
            raise ModelError(
                f"{self.stage.system.name_bar(int(self.index[worst]))} is a rope that is longer than its length at the "
                f"start of the step, by the strain {strain[worst]:.3g}"
            )

    def refuse_massless(self, held: Ints, motion: Motion) -> None:
        """ModelError where a free dof has no mass; held ones (nothing acts on them) rest."""
        massless = (self.stage.nodes.free == 1) & (self.stage.nodes.mass <= 0.0)
        massless[held] = False
        if np.any(massless):
            name = self.stage.system.name_dof(int(np.flatnonzero(massless)[0]))
            raise ModelError(f"{name} is free and has no mass, which IMPACT=MOREAU needs: give it mass, or hold it")

    def tell(self, sink: Sink, number: int, before: int, times: Floats) -> None:
        """Pass on the events of a chunk whose increments end at times[1:]; number of the step, increments before."""
        label = self.stage.system.label_of_bar
        for k, r, what, lost in self.happened:
            e = int(self.index[r])
            sink.event(Event(number, before + k + 1, float(times[k + 1]), label(e), what, lost))
        self.happened.clear()

    def due(self, chunk: Loading, asked: Flags, increments: Ints) -> Flags:
        """(k,) all increments have a row."""
        return np.ones(len(asked), np.bool_)

    def failure(self, reason: int, number: int, time: float, dt: float, motion: Motion, thermal: Floats) -> str:
        """Why the step stopped."""
        return (
            f"step {number} stopped at t = {time:.9g}: the increment {dt:.6g} of the time stepping over impacts found "
            "no solution. Use smaller increments. Everything computed so far is written"
        )

    def march(self, control: Ints, before: int, due: Flags, chunk: Loading, motion: Motion, kept: Record) -> int:
        """Advance through a chunk."""
        share = float(self.stage.limits[groups.DRIFT_SHARE])
        while control[groups.INCREMENT] < len(chunk.dt):
            k = int(control[groups.INCREMENT])
            error = self._increment(k, chunk, motion, kept)
            if error is None or not np.isfinite(error):
                return groups.NOT_CONVERGED
            control[groups.INCREMENT] += 1
            if k >= control[groups.JUDGED] and has_drifted(motion, float(chunk.dt[k]), error, share):
                return groups.DRIFT
        return groups.DONE

    def _increment(self, k: int, chunk: Loading, motion: Motion, kept: Record) -> float | None:
        """One increment; its energy error, None where it finds no solution."""
        stage, work, dt = self.stage, self.stage.work, float(chunk.dt[k])
        middle, v0 = self._begin(k, dt, chunk, motion)
        gap = self._gaps(middle)
        (near,) = np.nonzero(~self.one_sided | (gap > -AT_LENGTH * self.square))
        rows, reduced = self._gradients(near, middle)
        rate0 = rows @ v0
        bound = np.where(rate0 > 0.0, -self.restitution[near] * rate0, -rate0)
        bound[~self.one_sided[near]] = 0.0
        warmth = chunk.warmth[min(k, len(chunk.warmth) - 1)]
        pull = np.zeros(len(near))
        iterations, most = 0, int(stage.limits[groups.ITERATIONS])
        while True:
            if iterations == most:
                return None
            iterations += 1
            work.multiplier[:] = 0.0
            evaluate(stage.row, True, dt, motion.u, stage.bars, stage.system.springs, warmth, work)
            residual(stage.row, stage.nodes, stage.bars, stage.links, work)
            solve = self._factor(dt)
            change, along = solve(work.residual[self.unknown]), solve(reduced.T)
            if len(near):
                compliance = 2.0 / dt * (reduced @ along)
                free = rows @ (work.v + 2.0 / dt * self._spread(change))
                pull, _ = complementarity(compliance, free - bound, self.one_sided[near])
                change = change - along @ pull
            move = self._spread(change)
            work.u[:] += move
            work.v[:] += 2.0 / dt * move
            work.a[:] += 2.0 / dt**2 * move
            size = float(np.abs(work.u - motion.u).max(initial=0.0))
            if not self.is_elastic or float(np.abs(move).max(initial=0.0)) <= SMALL * size:
                break
        loss = pull * (rows @ (work.u - motion.u))
        self._note(k, near, pull, rate0, loss)
        return self._finish(k, dt, chunk, motion, kept, near, rows, pull, float(loss.sum()), iterations)

    def _begin(self, k: int, dt: float, chunk: Loading, motion: Motion) -> tuple[Floats, Floats]:
        """Trial state and what stays known; the displacements at which lengths are judged, and the first velocities."""
        stage, work, supports = self.stage, self.stage.work, chunk.support_dofs
        v0 = motion.v.copy()
        v0[supports] = chunk.support_start[k]
        expand(stage.links, v0)
        combine(chunk.vectors, chunk.weighted, k, work.load)
        inertia_forces(stage.nodes, stage.bars, v0, v0, work.inertia, work.drag)
        work.carry[:] = work.load - (0.5 * work.drag if len(stage.nodes.damping) else 0.0)
        moving = stage.nodes.open
        work.u[:], work.v[:], work.a[:] = motion.u, -moving * v0, -2.0 / dt * moving * v0
        work.u[supports], work.v[supports] = chunk.support_u[k], chunk.support_v[k]
        work.a[supports] = chunk.support_a[k]
        middle = motion.u + 0.5 * dt * v0  # supports too: their acceleration counts as little as that of masses
        for field in (work.u, work.v, work.a):
            expand(stage.links, field)
        if len(stage.bars.off_mass):
            work.off[:] = 2.0 / dt**2 * stage.bars.off_mass + stage.bars.off_damping / dt
        return middle, v0

    def _finish(
        self, k: int, dt: float, chunk: Loading, motion: Motion, kept: Record, near: Ints, rows: Floats,
        pull: Floats, lost: float, iterations: int,
    ) -> float | None:  # fmt: skip
        """Forces of the increment, positions corrected, books closed."""
        stage, work = self.stage, self.stage.work
        thermal = chunk.thermal[min(k + 1, len(chunk.thermal) - 1)]
        warmth = chunk.warmth[min(k, len(chunk.warmth) - 1)]
        work.multiplier[:] = 0.0
        strain = evaluate(stage.row, True, dt, motion.u, stage.bars, stage.system.springs, warmth, work)
        residual(stage.row, stage.nodes, stage.bars, stage.links, work)  # inertia and drag of the end
        work.multiplier[self.index[near]] = pull
        motion.multiplier[self.ropes] = work.multiplier[self.ropes]
        work.force[:] += rows.T @ pull
        before = work.u.copy()
        if not self._correct(dt):
            return None
        move = work.u - before
        if np.any(move):
            ends = stored_energy(work.u, work.v, stage.bars, stage.system.springs, thermal, work.multiplier)
            now, mean = chunk.factors[k + 1], 0.5 * (chunk.factors[k] + chunk.factors[k + 1])
            factors = np.where(chunk.is_gravity == 1, now, mean)
            lost += float((factors @ chunk.vectors) @ move) - (ends - strain)
            strain = ends
            if lost < 0.0 and not np.any(chunk.support_v[k]):
                lost += self._slow_down(-lost)
        return float(
            close_books(
                stage.row, k, iterations, strain, lost, stage.nodes, stage.bars, stage.system.springs, stage.links,
                chunk, motion, work, kept,
            )
        )  # fmt: skip

    def _correct(self, dt: float) -> bool:
        """Move the trial positions until no rope is too long and every rod has its length."""
        work = self.stage.work
        solve, touched = None, ~self.one_sided
        for _ in range(MOST_CORRECTIONS):
            gap = self._gaps(work.u)
            strain = np.where(self.one_sided, gap, np.abs(gap)) / self.square
            if strain.max(initial=0.0) <= CLOSED:
                return True
            touched = touched | (gap > 0.0)
            (near,) = np.nonzero(touched)
            _, reduced = self._gradients(near, work.u)
            solve = solve or self._factor(dt)
            along = solve(reduced.T)
            pull, _ = complementarity(reduced @ along, gap[near], self.one_sided[near])
            work.u[:] -= self._spread(along @ pull)
        return False

    def _slow_down(self, energy: float) -> float:
        """Take energy from the motion, as much as there is; returns how much it was."""
        work, bars = self.stage.work, self.stage.bars
        multiply_mass(self.stage.nodes.mass, bars.off_mass, bars.nodes, work.v, work.momentum)
        kinetic = 0.5 * float(work.v @ work.momentum)
        taken = min(energy, kinetic)
        if kinetic > 0.0:
            work.v[:] *= np.sqrt(1.0 - taken / kinetic)
        return taken

    def _factor(self, dt: float) -> Any:
        """The inverse of the effective tangent over the independent dofs, as a function."""
        stage, work = self.stage, self.stage.work
        if not self.is_coupled:
            damping = stage.nodes.damping[self.unknown] if len(stage.nodes.damping) else 0.0
            diagonal = 2.0 / dt**2 * stage.nodes.mass[self.unknown] + damping / dt
            return lambda right: right / (diagonal if right.ndim == 1 else diagonal[:, None])
        from scipy.sparse.linalg import splu

        nodal_blocks(stage.row, dt, stage.nodes, stage.system.springs, work)
        return splu(stage.tangent.matrix(work).tocsc()).solve

    def _gaps(self, u: Floats) -> Floats:
        """(l^2 - L0^2)/2 of ropes and rods."""
        gap = np.zeros(len(self.index))
        excesses(self.all, self.slack, u, u, gap)
        return gap

    def _gradients(self, chosen: Ints, u: Floats) -> tuple[Floats, Floats]:
        """G of some ropes and rods at u: over all dofs (c, 3n), and over the independent ones."""
        bars, e = self.stage.bars, self.index[chosen]
        first = np.where(self.is_linear[chosen], bar.BASE, bar.REF)
        ends = 3 * bars.nodes[e]
        rows = np.zeros((len(chosen), len(u)))
        at = np.arange(len(chosen))
        for c in range(3):
            w = np.where(self.is_linear[chosen], 0.0, u[ends[:, 1] + c] - u[ends[:, 0] + c])
            d = bars.constants[first + c, e] + w
            rows[at, ends[:, 1] + c] += d
            rows[at, ends[:, 0] + c] -= d
        return rows, rows[:, self.unknown] if self.transform is None else rows @ self.transform

    def _spread(self, x: Floats) -> Floats:
        if self.transform is not None:
            return np.asarray(self.transform @ x)
        full = np.zeros(len(self.stage.nodes.free))
        full[self.unknown] = x
        return full

    def _note(self, k: int, near: Ints, pull: Floats, rate: Floats, loss: Floats) -> None:
        """What ropes began or ceased to do in increment k."""
        now = np.zeros_like(self.pulls)
        now[near] = pull > 0.0
        for r in np.flatnonzero((now != self.pulls) & self.one_sided).tolist():
            n = int(np.searchsorted(near, r))
            what = "slack" if not now[r] else "impact" if rate[n] > 0.0 else "taut"
            self.happened.append((k, r, what, float(loss[n]) if now[r] else 0.0))
        self.pulls = now
