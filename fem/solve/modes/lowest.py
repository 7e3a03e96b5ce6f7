"""The lowest modes of K x = omega^2 M x, each confirmed by its residual, none left out.

Modes are sought near a shift (``near.py``). The first shift has no mode below it, the next ones stand beside the lowest
mode that is not confirmed yet, so that each is seen from near however wide the spectrum is. That no mode is missing,
signs of pivots say.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Flags, Floats
from fem.errors import ModelError
from fem.solve.modes.factor import Factor
from fem.solve.modes.near import MassRoot, confirm, some_near
from fem.solve.modes.pencil import Pencil

FREE = 1e-10
"""Size of the first shift, over that of the largest eigenvalues: less than the modes of a free body, more than zero."""
ROUNDS = 20
"""Most shifts: windows cover a spectrum 1e16 wide in four, and a mode that is not confirmed costs two."""
STRIDE = 1e4
"""How much farther a shift looks for modes where none is seen."""
APART = 1e-4
"""Least relative distance of two modes between which the count is taken."""
SPARE = 6
"""Modes sought beyond those wanted: the count is taken in a gap behind the last one."""


@dataclass(slots=True)
class Ladder:
    """Modes by rising omega^2.

    squares   (k,)    omega^2 of confirmed modes; zero where a motion meets no stiffness
    shapes    (n, k)  x.M x = 1
    failed    (f,)    omega^2 of modes that were seen but not confirmed, roughly, rising
    total     how many modes the model has; -1: not counted
    missing   modes counted below the highest one but not seen; -1: they could not be counted
    massless  directions without mass and with negative stiffness
    """

    squares: Floats
    shapes: Floats
    failed: Floats
    total: int
    missing: int
    massless: int
    _previous: float = field(default=np.nan, init=False)

    def add(self, squares: Floats, shapes: Floats, seen: Floats) -> Floats:
        """Take in confirmed modes; of those only ``seen`` return what another shift may confirm, rising."""
        order = np.argsort(np.concatenate([self.squares, squares]), kind="stable")
        self.squares = np.concatenate([self.squares, squares])[order]
        self.shapes = np.concatenate([self.shapes, shapes], axis=1)[:, order]
        self.failed = self.failed[~_are_among(self.failed, squares)]  # another shift has confirmed what one could not
        seen = np.sort(seen[~_are_among(seen, self.failed)])
        if len(seen) and abs(seen[0] - self._previous) <= 1e-2 * abs(self._previous):  # a shift beside it was no help
            of_it = _are_among(seen, seen[:1])
            self.failed, seen = np.sort(np.append(self.failed, seen[of_it])), seen[~of_it]
        self._previous = seen[0] if len(seen) else np.nan
        return seen

    def settled(self) -> Floats:
        """Modes that will not be sought again, rising."""
        return np.sort(np.concatenate([self.squares, self.failed]))


def lowest_modes(pencil: Pencil, wanted: int) -> Ladder:
    """At least the ``wanted`` lowest modes, as far as there are so many and they can be confirmed."""
    heavy, none = int(np.count_nonzero(pencil.mass.diagonal())), np.zeros(0)
    root = MassRoot(pencil) if pencil.is_small or 2 * wanted >= heavy else None
    if root and root.modes == 0:
        return Ladder(none, np.zeros((pencil.size, 0)), none, 0, 0, 0)
    lowest = factor = _below_all(pencil)
    total = root.modes if root else -1
    sought = min(wanted, total) if root else wanted
    ladder = Ladder(none, np.zeros((pencil.size, 0)), none, total, -1, max(lowest.below, 0))
    spare = SPARE
    for turn in range(ROUNDS):
        settled = ladder.settled()
        if len(settled) == total:
            ladder.missing = 0
            break
        count, known = sought - len(ladder.squares) + spare, ladder.shapes
        near = root.near(factor, known) if root else some_near(factor, known, count, turn)
        order = np.argsort(near[0], kind="stable")
        order = order[near[0][order] > lowest.shift][:count]  # below it there is none, but rounding
        seen = ladder.add(*confirm(factor, known, near[0][order], near[1][:, order]))
        settled = ladder.settled()
        if len(settled) >= sought and not np.any(seen < settled[sought - 1]):
            ladder.missing = _missing(pencil, np.sort(np.append(settled, seen)), sought, lowest.below)
            if ladder.missing <= 0:
                break
            factor, spare = lowest, 2 * spare + ladder.missing
        elif len(seen):
            factor = _beside(pencil, seen[0], settled)
        else:  # nothing more is seen from here
            farthest = np.abs(np.append(settled, [factor.shift, FREE * pencil.scale])).max()
            factor, spare = _beside(pencil, STRIDE * farthest, settled), 2 * spare
    return ladder


def _below_all(pencil: Pencil) -> Factor:
    """Factors at the first of ever lower shifts that has no mode below it. ModelError where none is regular."""
    last: Factor | None = None
    for shift in (0.0, *(-FREE * pencil.scale * 100.0 ** np.arange(10))):
        factor = Factor(pencil, float(shift))
        if factor.is_regular and (last is None or factor.below < last.below):
            last = factor
        if last is not None and last.below <= 0:
            return last
    if last is None:
        raise ModelError("*FREQUENCY: some free dofs have neither mass nor stiffness; hold them or give them either")
    return last


def _beside(pencil: Pencil, square: float, settled: Floats) -> Factor:
    """Factors at a shift near a mode: half-way to the next settled one below, or farther off where it is singular."""
    below = settled[settled < square]
    gap = max(1e-2 * abs(square), 0.5 * (square - below[-1]) if len(below) else abs(square))
    gap = max(gap, 1e-14 * pencil.scale * FREE)
    for _ in range(30):
        factor = Factor(pencil, float(square - gap))
        if factor.is_regular:
            break
        gap *= 10.0
    return factor


def _missing(pencil: Pencil, rungs: Floats, sought: int, below_all: int) -> int:
    """Modes below the widest gap behind the last mode sought that are counted but not among ``rungs``; -1: unknown."""
    if sought == 0 or np.all(rungs[:sought] == 0.0):  # nothing lies below the first shift, so nothing below zero
        return 0
    gaps = np.diff(rungs[sought - 1 :])
    fraction = gaps / np.abs(rungs[sought:])
    widest = int(fraction.argmax()) if len(gaps) else 0
    last, top = len(rungs), rungs[-1] + APART * abs(rungs[-1])
    if len(gaps) and fraction[widest] > APART:
        last, top = sought + widest, rungs[sought - 1 + widest] + 0.5 * gaps[widest]
    factor = Factor(pencil, float(top))
    if not factor.is_regular or min(factor.below, below_all) < 0:
        return -1
    return max(factor.below - below_all - last, 0)


def _are_among(values: Floats, others: Floats) -> Flags:
    """Which values agree with one of the others to a hundredth."""
    near = np.abs(values[:, None] - others) <= 1e-2 * np.abs(others)
    return np.asarray(near.any(axis=1))
