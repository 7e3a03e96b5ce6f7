"""Derivatives through instants at which elements break.

An element breaks at the end of the increment in which its tension or strain reaches a limit: the instant of a run moves
with a parameter by whole increments, and its numbers jump there. What is differentiated is the motion that these runs
are samples of: the limit is reached at an instant t with dt/dp = -g_p/(dg/dt), g being the tension less the limit, as
where ropes change (``ropes``). In statics, and where a deck says when an element breaks, the end of the increment is
the instant.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import listed
from fem.solve.ropes.instants import NONE
from fem.solve.step_run import StepRun
from fem.study.sensitivity.duals import OFFSETS, NoDerivative, copied, slopes
from fem.study.sensitivity.ropes import NOW, Crossing, DualRun, Episode

VALUES = 2
"""Place of the values of elements among the arrays of rows."""


def break_at(
    whole: DualRun, step_run: StepRun, kinematics: Floats, times: Floats, steps: Floats, first: int, limits: Ints
) -> Floats:
    """Differentiates an increment from times[0] to times[1] at whose end limits are reached; its row is that before
    elements break. Returns the instants (1 + 4 s,) of the run and of each shadow.

    kinematics  (3, n, 3) at its end;  first: its number in its chunk
    """
    crossing, u, a = Breaking(whole, step_run, times, steps), kinematics[0].ravel(), kinematics[2].ravel()
    part = Episode(NONE > 0, float(steps[0]), u, a, np.zeros(0), NONE)
    return crossing.to_limits(part, limits, step_run.progress.increment + first)


class Breaking(Crossing):
    """An increment at whose end elements break."""

    def to_limits(self, part: Episode, limits: Ints, number: int) -> Floats:
        """See ``break_at``. number: of the increment before"""
        whole, begun = self.whole, copied(self.whole.motion)
        before, whole.is_first = int(whole.is_first), False
        steps = np.append(part.dt, (self.end - self.now)[1:])
        its = zip(self.now, self.end, steps, strict=True)
        instants = [(np.array([begin, end]), np.array([dt])) for begin, end, dt in its]
        found = whole.march(self.step_run, instants, part.u[None], part.a[None], before, True)
        shown = [(times[1 - before :], np.append(np.zeros(before), dt)) for times, dt in instants]
        whole.note(found, number + 1 - before, shown, self.step_run)
        if not self.step_run.stage.is_dynamic:
            return self.end
        breaks = [run.breaks for run in (self.step_run.whole, *whole.shadows)]
        elements, columns = breaks[0].elements[limits], breaks[0].columns[limits]
        goal = self._slopes([each.values[limits] for each in breaks])
        if np.any(columns < 0):
            ends = self._slopes([np.full(len(limits), end) for end in self.end.tolist()])
            if np.any(np.abs(ends - goal)[columns < 0] > NOW * self.step_run.clock.dt):
                raise NoDerivative(f"{self._when()} a parameter moves the time at which an element breaks")
            return self.end
        names = listed(self.step_run.system.element_labels[elements])
        return self._until(part, begun, lambda: self._values(elements, columns) - goal, f"element {names}")

    def _slopes(self, parts: list[Floats]) -> Floats:
        """(n, s) derivatives of numbers (n,) of the run and its shadows."""
        count = len(OFFSETS)
        return np.column_stack([slopes(parts[first : first + count]) for first in range(1, len(parts), count)])

    def _values(self, elements: Ints, columns: Ints) -> Floats:
        """(n, s) derivatives of values of elements."""
        whole, some = self.whole, np.unique(elements)
        of, whole.of, now, self.now = whole.of, (NONE, some), self.now, self.end
        rows = self.row(0)[0][VALUES][0]
        whole.of, self.now = of, now
        return np.asarray(rows[np.searchsorted(some, elements), columns, 1 : 1 + self.count])
