"""Ropes in statics: which of them are taut is found together with the equilibrium, increment by increment.

With the multipliers p of the taut ropes and the gaps g of the slack ones, an equilibrium has

    0 <= p,  g <= 0,  one of the two zero

Each increment is solved with the taut ropes of the last one as rods, without the slack ones. Taut ropes in compression
become slack, slack ropes that are too long become taut, and it is solved again from its start. All change together
while that makes progress, otherwise only the worst one; of ropes whose lengths depend on each other only some pull.
If the slack ropes leave a mechanism, all ropes are tried taut, once (a load that falls into its ropes).
Sources: Luenberger & Ye, Linear and Nonlinear Programming (2008), ch. 12.3 (active sets); Judice & Pires, Comput. Oper.
Res. 21 (1994) 587-596 (changes of many at once).
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import ModelError
from fem.forces.bar import INV_LENGTH, heads, whole
from fem.forces.laws import LEG
from fem.solve.newton import groups
from fem.solve.newton.groups import CONTROL, ROW, Ledger, Loading, Motion
from fem.solve.rods import dense, over_independent
from fem.solve.rope_states import positions
from fem.solve.ropes.complementarity import DEPENDENT
from fem.solve.ropes.watched import Failed, Piece, Watched, copy_of, restore
from fem.solve.start import evaluate_rods, evaluate_start
from fem.solve.statics.laying import LAID, laid, may_be_laid
from fem.solve.statics.mechanisms import MECHANISM, hold_unrestrained, softest
from fem.solve.step_system import NO_ROPES, StepSystem, loading, loading_at

NO_PULL = 1e-10
"""A tension below this fraction of the largest force counts as zero."""
NO_GAP = 1e-12
"""Strain below which a slack rope is not too long."""
MOST_TRIALS = 1000

Trial = tuple[Ledger, Floats]


def largest_reaction(stage: StepSystem, motion: Motion) -> float:
    """Of the supports."""
    return float(np.abs(motion.reaction[stage.nodes.dof_kind == 0]).max(initial=0.0))


class ActiveSet(Watched):
    """The ropes of one static step."""

    notice = ""
    changing = ("taut", "trouble", "notice")

    def start(self, motion: Motion, now: float) -> None:
        """Ropes at their length begin taut, except those between two supports."""
        if np.any(self.friction):
            self.step_run.notify("planes are smooth in statics: FRICTION of *STOP PLANE acts in *DYNAMIC steps only")
        gap = self._gaps()
        self._refuse_too_long(gap)
        self.taut[:] = self._some(motion, now, self._is_near(gap) & self.can_pull)
        motion.multiplier[whole(self.stages.first.bars, self.ropes.bars[~self.taut])] = 0.0
        self.step_run.stage = self.stages.of(self.taut)

    def march(self, control: Ints, chunk: Loading, kept: Ledger) -> int:
        """Every increment is solved by a search for the taut ropes."""
        return groups.EVENT

    def advance(self, begin: float, end: float, dt: float) -> Ledger:
        """One increment, with the ropes that are taut at its end. Failed: no solution exists, or none is found."""
        motion = self.step_run.progress.motion
        saved, before, self.trouble = copy_of(motion), self.taut.copy(), ""
        try:
            kept = self._search(begin, end, dt, saved)
        except (Failed, ModelError):
            restore(motion, saved)
            found = self._hung(begin, end, dt, saved)
            if found is None:
                self.taut[:] = before
                self.step_run.stage = self.stages.of(before)
                raise
            kept = found
        self.step_run.notify(self.notice)
        for r in np.flatnonzero(self.taut != before).tolist():
            self._happens(end, r, "taut" if self.taut[r] else "slack")
        return kept

    def _hung(self, begin: float, end: float, dt: float, saved: Motion) -> Ledger | None:
        """The increment, from where ropes and cables hang (``statics/laying.py``), wherever they were; None:
        that does not help, or there is more than these."""
        stage, motion, step = self.stages.first, self.step_run.progress.motion, self.step_run.step
        if not step.nlgeom or np.any(self.sense < 0.0) or not may_be_laid(stage, self.ropes.bars):
            return None
        for place in laid(stage, motion, loading(stage, motion, np.array([begin, end]), np.array([dt])), 0):
            motion.u[:] = place
            self.taut[:] = self._some(motion, begin, self._is_near(self._gaps()) & self.can_pull)
            try:
                kept = self._search(begin, end, dt, copy_of(motion))
            except (Failed, ModelError):
                restore(motion, saved)
                continue
            self.step_run.notify(LAID)
            return kept
        return None

    def _search(self, begin: float, end: float, dt: float, saved: Motion) -> Ledger:
        """Tries sets of taut ropes until one satisfies the conditions."""
        iterations, alone, tried = 0.0, False, {self.taut.tobytes()}
        (kept, off), why = self._first(begin, end, dt, saved)
        pushed = np.zeros(len(off), np.bool_)
        while True:
            iterations += float(kept.increments[0, ROW.iterations])
            wrong, good = off > 0.0, self.taut.copy()
            pushed |= good & wrong
            if not wrong.any():
                kept.increments[0, ROW.iterations] = iterations
                return kept
            worst = np.arange(len(off)) == int(off.argmax())
            pull = self.step_run.progress.motion.multiplier[self.ropes.bars]
            restore(self.step_run.progress.motion, saved)
            while True:
                new = self._changed(good, worst if alone else wrong, pushed, pull, begin)
                if new.tobytes() not in tried and len(tried) < MOST_TRIALS:
                    tried.add(new.tobytes())
                    try:
                        kept, off = self._try(new, begin, end, dt, saved)
                        break
                    except (Failed, ModelError):
                        if alone or np.array_equal(wrong, worst):
                            raise
                if alone:
                    raise why or self._cycle(wrong, begin, kept, len(tried))
                alone = True

    def _changed(self, taut: Flags, wrong: Flags, pushed: Flags, pull: Floats, now: float) -> Flags:
        """The set without the ropes in compression, and with those that are too long.
        Others at their length replace those removed, unless they were in compression in this increment."""
        motion = self.step_run.progress.motion
        stays, rows = taut & ~wrong, self._rows(motion, now)
        pull = np.where(stays, np.maximum(pull, 0.0), 0.0)
        near = self.can_pull & ~taut & ~wrong & ~pushed & self._is_near(self._gaps())
        return enter(rows, enter(rows, stays, np.flatnonzero(wrong & ~taut), pull), np.flatnonzero(near), None)

    def _is_near(self, gap: Floats) -> Flags:
        """(r,) ropes at their length."""
        return np.asarray(gap > -self.same_length * self.length**2)

    def _some(self, motion: Motion, now: float, wanted: Flags) -> Flags:
        """A largest set of the ropes wanted (r,) that can pull together."""
        return enter(self._rows(motion, now), np.zeros(len(wanted), np.bool_), np.flatnonzero(wanted), None)

    def _rows(self, motion: Motion, now: float) -> Floats:
        """Gradients of the ropes, then of the rods, at a state (which is not changed)."""
        stage = self.stages.of(np.ones(len(self.taut), np.bool_))
        evaluate_rods(stage, motion, now)
        rows = dense(over_independent(stage, stage.nodes.dof_kind))
        at, rods = positions(heads(stage.bars), self.ropes.bars), np.arange(len(heads(stage.bars)))
        order = np.concatenate([at, np.setdiff1d(rods, at)])
        return np.asarray(rows[order])

    def _first(self, begin: float, end: float, dt: float, saved: Motion) -> tuple[Trial, Exception | None]:
        """Solves with the states of the last increment; if that fails, with all ropes taut; returns the error of the
        former."""
        given = self.taut.copy()
        try:
            return self._try(given, begin, end, dt, saved), None
        except (Failed, ModelError) as error:
            restore(self.step_run.progress.motion, saved)
            every = self._some(self.step_run.progress.motion, begin, self.can_pull)
            if np.array_equal(given, every):
                raise
            try:
                return self._try(every, begin, end, dt, saved), error
            except (Failed, ModelError):
                raise error from None

    def _try(self, taut: Flags, begin: float, end: float, dt: float, saved: Motion) -> Trial:
        """The increment with these ropes taut, and the violation of each rope's condition, as a fraction (positive:
        wrong)."""
        step_run, motion = self.step_run, self.step_run.progress.motion
        restore(motion, saved)
        self.taut[:] = taut
        stage = step_run.stage = self.stages.of(taut)
        motion.multiplier[whole(stage.bars, self.ropes.bars[~taut])] = 0.0
        is_fresh = taut & (motion.multiplier[self.ropes.bars] <= 0.0)
        fresh = self.ropes.bars[is_fresh]
        # Ropes have transverse stiffness only under tension: the first guess has the size of the loads. Stops push.
        loads = self.stages.first.loads
        acting = loads.factors(np.array([end]))[0] @ loads.vectors if len(loads.vectors) else np.zeros(1)
        force = max(float(np.abs(acting).max(initial=0.0)), largest_reaction(stage, motion))
        pulls = np.maximum(self.sense[is_fresh], 0.0) * force
        motion.multiplier[fresh] = pulls * stage.bars.constants[INV_LENGTH, fresh]
        over = fresh[stage.bars.kinds[fresh, 0] == LEG]
        motion.multiplier[over + 1] = motion.multiplier[over]
        evaluate_start(stage, motion, loading_at(stage, motion, begin))
        try:
            self.notice = hold_unrestrained(stage, step_run.step, has_ropes=True)[1]
        except ModelError as error:
            raise ModelError(f"{error}{self._slack()}") from error
        try:
            piece = self._march(Piece(step_run, self.ropes, begin, end, dt), NO_ROPES)
        except Failed:
            restore(motion, saved)
            self._refuse_mechanism(begin)
            raise
        return piece.kept, self._off(motion)

    def _off(self, motion: Motion) -> Floats:
        """(r,) compression as a fraction of the largest force, or strain of slack ropes that are too long; 0:
        satisfied."""
        excess = self.excess()
        force = max(float(np.abs(motion.force).max(initial=0.0)), largest_reaction(self.stages.first, motion))
        push = excess * self.length / force if force > 0.0 else np.zeros(len(excess))
        strain = excess / self.length**2
        off = np.where(self.taut, push - NO_PULL, strain - NO_GAP)
        return np.where(self.can_pull, np.maximum(off, 0.0), 0.0)

    def _refuse_mechanism(self, now: float) -> None:
        """ModelError: with these states of the ropes the model is a mechanism."""
        step_run = self.step_run
        dof, fraction = softest(step_run.stage, step_run.progress.motion, now)
        if fraction < MECHANISM:
            raise ModelError(
                f"the model is a mechanism at t = {now:.9g}: {step_run.system.name_dof(dof)} can move without "
                f"resistance{self._slack()}"
            )

    def _slack(self) -> str:
        """Names of the slack ropes, for a message about a mechanism."""
        slack = ~self.taut & self.can_pull
        if not slack.any():
            return ""
        return (
            f" (slack: {self.names(slack)}; use ropes that are taut at the start of the step, or find the shape by a "
            "damped *DYNAMIC step)"
        )

    def _cycle(self, wrong: Flags, now: float, kept: Ledger, tried: int) -> Failed:
        """No set of the ropes satisfies the conditions: notes which ropes change repeatedly; the increment is then cut
        back."""
        which = "no choice" if tried < MOST_TRIALS else f"none of {tried} choices"
        names = ", ".join(self.step_run.system.name_bar(int(e)) for e in self.ropes.bars[wrong][:6])
        self.trouble = (
            f"step {self.step_run.number} stopped at t = {now:.9g}: {which} of taut ropes is in equilibrium; {names} "
            "would push when taut and be too long when slack. Smaller increments, or a damped "
            "*DYNAMIC step, may find one. Everything computed so far is written"
        )
        control = np.zeros(len(CONTROL), np.int64)
        return Failed(groups.NOT_CONVERGED, control, kept.increments)


# Which of the ropes that should pull can do so together: those whose lengths do not depend on each other.
#
# Four ropes at their length hold one node in space, but only three of their tensions follow from equilibrium. With the
# gradients g of lengths and the pulls p >= 0 of the ropes that pull now, a rope that enters with the pull t and depends
# on them, g = sum c_i g_i, changes theirs to p_i - t c_i: the first one to reach zero is replaced by it.
# Source: the ratio test of the simplex method; Nocedal & Wright, Numerical Optimization (2006), ch. 13.3.
def enter(rows: Floats, taut: Flags, entering: Ints, pull: Floats | None) -> Flags:
    """taut (r,) with the ropes ``entering`` added; if one depends on others, it replaces one of them, or is not added.
    rows (r + q, n)  gradients of the ropes, then of the rods, over the independent dofs
    pull (r,)        of the ropes now, changed; None: nothing is replaced"""
    taut, count = taut.copy(), len(taut)
    rods = np.arange(count, len(rows))
    basis = np.linalg.qr(rows[np.concatenate([np.flatnonzero(taut), rods])].T)[0]
    for r in entering.tolist():
        rest = rows[r].copy()
        for _ in range(2):  # twice, because of rounding
            rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > DEPENDENT * float(np.linalg.norm(rows[r])):
            basis = np.column_stack([basis, rest / size])
            taut[r] = True
        elif pull is not None:
            _exchange(rows, rods, taut, r, pull)
    return taut


def _exchange(rows: Floats, rods: Ints, taut: Flags, r: int, pull: Floats) -> None:
    """Replaces by rope r the first rope whose pull it reduces to zero, if any."""
    (at,) = np.nonzero(taut)
    fraction = np.linalg.lstsq(rows[np.concatenate([at, rods])].T, rows[r], rcond=None)[0][: len(at)]
    (gives,) = np.nonzero(fraction > DEPENDENT)
    if len(gives) == 0:
        return
    ratio = pull[at[gives]] / fraction[gives]
    first = int(ratio.argmin())
    pull[at] -= ratio[first] * fraction
    taut[at[gives[first]]], taut[r] = False, True
    pull[at[gives[first]]], pull[r] = 0.0, ratio[first]
