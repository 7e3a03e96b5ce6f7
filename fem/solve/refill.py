"""Amplitudes set by a program, and the reuse of the arrays of a chunk when it drives a run in many short chunks.

Two chunks with equally many increments differ only in times, and in values that follow amplitudes set by the program:
``refill`` writes these, with results identical to those of ``increments`` and ``step_system.loading``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import bound, exact_kernel
from fem.model.curves import GIVEN, LEVELS, NEAR, START, Constant, Live
from fem.solve.clock import Grid
from fem.solve.newton.groups import ROW, Ledger, Loading, Motion
from fem.solve.outcome import REACTION
from fem.solve.step_system import StepSystem


class Sources(NamedTuple):
    """Sources of the numbers of a chunk.

    table    (l, 69)  all amplitudes that are set (``Live.numbers``)
    still    (s,)     supported dofs at rest;  places (s,): their displacements
    columns  (c, 2)   of each moving dof its amplitude in the table, and which derivative of u that gives
    numbers  (c, 3)   its base, rate and value (``Supports``)
    cases    (p,)     of each load its amplitude in the table; -1: it is constant
    start    time from which velocities are integrated;  late: weight of the loads at the end of an increment
    """

    table: Floats
    still: Ints
    places: Floats
    columns: Ints
    numbers: Floats
    cases: Ints
    start: float
    late: float
    is_dynamic: bool
    is_secant: bool


FIRST, SECOND, THIRD = (first for first, _ in LEVELS)
HOW = GIVEN + 2


@exact_kernel
def reach(now: float, time: float, table: Floats) -> None:
    """Writes the intervals from now to a time of amplitudes (l, 69) that have been set for that time.
    If a rate is given there, a cubic (Hermite) that also continues the last rate."""
    width = time - now
    for i in range(table.shape[0]):
        how, value, rate, first = table[i, HOW], table[i, GIVEN], table[i, GIVEN + 1], table[i, 15]
        if how == 0.0:
            continue
        old = 2 if now == table[i, 2] else 3  # the interval that ends now: the last, or a constant
        start = FIRST + 4 * old
        a, b, c, d = table[i, start], table[i, start + 1], table[i, start + 2], table[i, start + 3]
        slope, last, square, cube = (value - first) / width, (value - first) / width, 0.0, 0.0
        if how == 2.0:
            local = now - table[i, 1]
            last = (d * 3.0 * local + c * 2.0) * local + b if old == 2 else 0.0
            square = (3.0 * slope - 2.0 * last - rate) / width
            cube = (last + rate - 2.0 * slope) / (width * width)
        one, two = table[i, SECOND + 5 * old], table[i, THIRD + 6 * old]
        table[i, 0], table[i, 1], table[i, 2], table[i, HOW] = table[i, old - 1], now, time, 0.0
        for k in range(16):
            table[i, FIRST + k] = 0.0
        table[i, FIRST], table[i, FIRST + 12] = a, value
        table[i, FIRST + 4], table[i, FIRST + 5], table[i, FIRST + 6], table[i, FIRST + 7] = a, b, c, d
        table[i, FIRST + 8], table[i, FIRST + 9], table[i, FIRST + 10], table[i, FIRST + 11] = first, last, square, cube
        integrate(table, i, FIRST, SECOND, 4, one)
        integrate(table, i, SECOND, THIRD, 5, two)


@exact_kernel
def integrate(table: Floats, i: int, of: int, to: int, width: int, constant: float) -> None:
    """Writes coefficients from ``to`` on: the integral of those from ``of`` on, equal to ``constant`` at the first
    break."""
    for piece in range(4):
        if piece > 1:
            rise = 0.0
            for power in range(width - 1, -1, -1):
                rise = (rise + table[i, to + (width + 1) * (piece - 1) + power + 1]) * (
                    table[i, piece - 1] - table[i, piece - 2]
                )
            constant = constant + rise
        table[i, to + (width + 1) * piece] = constant
        for power in range(width):
            table[i, to + (width + 1) * piece + power + 1] = table[i, of + width * piece + power] / (power + 1)


@exact_kernel
def live_value(table: Floats, i: int, order: int, time: float, after: bool, since: float) -> float:
    """Value of amplitude i at a time, as ``model.curves.evaluate`` computes it."""
    first, width = FIRST, 4
    if order == -1:
        first, width = SECOND, 5
    elif order == -2:
        first, width = THIRD, 6
    near = NEAR * (abs(time) + abs(table[i, 2]) + abs(table[i, 0]))
    piece = 0
    for k in range(3):
        is_over = table[i, k] <= time + near if after else table[i, k] < time - near
        piece += 1 if is_over else 0
    local = time - table[i, max(piece - 1, 0)]
    value = 0.0
    for power in range(width - 1, max(order, 0) - 1, -1):
        coefficient = table[i, first + width * piece + power]
        for factor in range(power, power - order, -1):
            coefficient = coefficient * factor
        value = value * local + coefficient
    if order == -1:
        value = value - table[i, START]
    elif order == -2:
        value = value - (table[i, START + 1] + table[i, START + 2] * (time - since))
    return value


@exact_kernel
def refill(
    asked: float, until: float, now: float, origin: float, first: int, size: int, dt0: float, end: float, rest: float,
    of: Sources, u: Floats, control: Ints, chunk: Loading, kept: Ledger,
) -> bool:  # fmt: skip
    """Write amplitudes that were set at one time for another; ends of increments, factors of loads and the motion of
    supports in a chunk; clear the sums of the march. False: the number of increments or the moving supports differ.

    asked, until  those times;  now ... rest: the ``Grid``;  u (3n,): displacements at the start
    """
    time, dt, table, late, start = chunk.time, chunk.dt, of.table, of.late, of.start
    reach(asked, until, table)
    if size != dt.shape[0]:
        return False
    for k in range(size):
        time[k + 1], dt[k] = origin + (first + k + 1) * dt0, dt0
    time[0], time[size], dt[size - 1] = now, end, rest
    for place in range(control.shape[0]):
        control[place] = 0
    for k in range(kept.kinematics.shape[0]):
        for quantity in range(REACTION + 1, kept.kinematics.shape[1]):
            for node in range(kept.kinematics.shape[2]):
                for axis in range(3):
                    kept.kinematics[k, quantity, node, axis] = 0.0
    for s in range(of.still.shape[0]):
        if u[of.still[s]] != of.places[s]:
            return False
    for p in range(of.cases.shape[0]):
        if of.cases[p] >= 0:
            for k in range(time.shape[0]):
                chunk.factors[k, p] = live_value(table, of.cases[p], 0, time[k], False, start)
            for k in range(dt.shape[0]):
                chunk.weighted[k, p] = late * chunk.factors[k + 1, p] + (1.0 - late) * chunk.factors[k, p]
    for c in range(of.columns.shape[0]):
        i, given = of.columns[c, 0], of.columns[c, 1]
        base, rate, value = of.numbers[c, 0], of.numbers[c, 1], of.numbers[c, 2]
        for k in range(dt.shape[0]):
            end = time[k + 1]
            moved = live_value(table, i, -given, end, False, start)
            chunk.support_u[k, c] = base + rate * (end - start) + moved * value
            if of.is_dynamic:
                v1 = rate + live_value(table, i, 1 - given, end, False, start) * value
                v0 = rate + live_value(table, i, 1 - given, time[k], True, start) * value
                a1 = live_value(table, i, 2 - given, end, False, start) * value
                chunk.support_v[k, c], chunk.support_start[k, c] = v1, v0
                chunk.support_a[k, c] = (v1 - v0) / dt[k] if of.is_secant else a1
    return True


class Refill:
    """Writes further chunks of as many increments as one has into its arrays.

    parts     the chunk, room for what is kept of its increments, and for where the march is
    count     increments;  is_quiet: there is no output for increments without events
    """

    def __init__(
        self, stage: StepSystem, motion: Motion, chunk: Loading, kept: Ledger, control: Ints, of: Sources
    ) -> None:
        self.stage, self.parts, self.count, self.is_quiet = stage, (chunk, kept, control), len(chunk.dt), False
        self._refill = bound(refill, *(0.0,) * 4, 0, 0, *(0.0,) * 3, of, motion.u, control, chunk, kept)
        flags, whole = kept.increments[:, ROW.flags], kept.increments.base
        assert whole is not None and not whole.any()
        flags[:] = 1.0
        self._whole, self._is_flag = whole, whole.copy()
        flags[:] = 0.0

    def fits(self, grid: Grid, asked: float = 0.0, until: float = 0.0) -> bool:
        """Writes another chunk, and amplitudes set at one time for another; False: more than that differs."""
        return bool(self._refill(asked, until, *grid))

    def is_good(self) -> bool:
        """Whether all increments are complete, without flags, with finite numbers."""
        return bool(self._whole.dot(self._is_flag) == 0.0)


def refill_of(stage: StepSystem, motion: Motion, chunk: Loading, kept: Ledger, control: Ints) -> Refill | None:
    """The refill for chunks like this one; None: some input is neither constant nor an amplitude that is set."""
    driven, supports, moving = stage.system.model.driven, stage.environment.supports, chunk.support_dofs
    if not driven or supports.bodies or len(chunk.thermal_end) > 1:
        return None
    curves = [supports.groups[group] for group in supports.group[moving].tolist()]
    is_known = all(isinstance(curve, Live) for _, curve in curves)
    if not (is_known and all(isinstance(case.curve, Constant | Live) for case in stage.loads.cases)):
        return None
    numbers = np.column_stack([supports.base[moving], supports.rate[moving], supports.value[moving]])
    columns = np.array([(curve.number, order) for order, curve in curves if isinstance(curve, Live)], np.int64)
    columns = columns.reshape(-1, 2)
    numbers[columns[:, 1] < 2, 1] = 0.0
    cases = [case.curve.number if isinstance(case.curve, Live) else -1 for case in stage.loads.cases]
    still = np.setdiff1d(supports.supported.nonzero()[0], moving)
    table = next(iter(driven.values())).numbers.base
    assert table is not None
    rule = supports.start, stage.coefficients.wc, stage.is_dynamic, stage.scheme.secant
    places, acting = supports.places[still], np.array(cases, np.int64)
    return Refill(stage, motion, chunk, kept, control, Sources(table, still, places, columns, numbers, acting, *rule))
