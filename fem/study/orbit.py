"""Periodic orbits: Newton's iteration on P(z; p) - z = 0, at a value of the parameter or along a branch.

In the coordinates y of a chart around the last guess, over their scales, and the parameter p over its range:

    [ P_y - 1   P_p ] [dy]     [ P - y ]
    [     t         ] [dp] = - [   0   ]        t: the tangent of the branch, or (0, 1): p stays as it is

Source: Keller, in Applications of Bifurcation Theory (1977), 359-384 (pseudo-arclength). The eigenvalues of P_y at an
orbit are its Floquet multipliers: perturbations grow by them from period to period.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Floats
from fem.errors import NoConvergence
from fem.linear.factors import solve_dense
from fem.model import Model
from fem.runs.record import Event, StepStart
from fem.study import sections
from fem.study.sections import Section, SectionSink
from fem.study.strobe import Chart, Move, State, Strobe

SHARP, GOOD = 1e-11, 1e-8
"""|P(z) - z| over the scales at which an orbit is found, and that is good enough where round-off allows no less."""
HELPS = 0.3
"""Newton goes on below GOOD while an iteration leaves no more than this of the residual."""
MOST_ITERATIONS, MOST_ALONG = 25, 8
"""At a value of the parameter, and along a branch, where the first guess is near or the step too long."""
LONGEST = 0.3
"""Longest correction, over the scales."""
DENSE = 200
"""Coordinates up to which P_y is a matrix; beyond, it is only multiplied with."""
LEADING = 6
"""Multipliers that are found then, the largest."""
CONFIRMED = 1e-8
"""Residual of the eigenvalue problem, as a fraction of its matrix, up to which multipliers are confirmed."""
UNSTABLE = 1e-6
"""A multiplier is outside the unit circle if it is by more than this."""
ASIDE = 1e-5
"""Step of the derivative by the parameter, as a fraction of its range."""
FORCING = 1e-6
"""What the iteration for a correction may leave."""
STILL = 1e-3
"""Ranges below this fraction of the size of the model are no scale for an orbit."""
CROSSING = 1e-5
"""Singular value, of coordinates over their scales, below which branches cross."""

Complexes = NDArray[np.complex128]


class Tape(SectionSink):
    """The motion of the last march through the map, and what happened to ropes and stops."""

    def __init__(self, model: Model, every: int, multiple: int) -> None:
        super().__init__(model, every, multiple, multiple + 1)
        self.track = 0
        self.events: list[Event] = []

    def begin(self, start: StepStart) -> None:
        self.points, self.tracks, self.events = [], [], []

    def event(self, event: Event) -> None:
        self.events.append(event)


@dataclass(frozen=True, slots=True)
class Family:
    """The maps of one deck over one parameter.

    read   gives the model at a value;  name, width  of the parameter and its range (width 1: there is none)
    scale  of displacements and velocities; None: the size of the model, and that times the frequency
    """

    read: Callable[[float], Model]
    name: str = ""
    width: float = 1.0
    period: float | str | None = None
    multiple: int = 1
    scale: tuple[float, float] | None = None

    def strobe(self, value: float) -> tuple[Strobe, Tape]:
        """The map at a value, and what hears of it."""
        model = self.read(value)
        tape = Tape(model, sections.strobe(model, self.period)[1], self.multiple)
        strobe = Strobe(model, self.period, self.multiple, tape)
        strobe.scale = self.scale or strobe.scale
        return strobe, tape

    def named(self, value: float) -> str:
        return f" at {self.name} = {value:.9g}" if self.name else ""


class Slopes:
    """P_y at the base of a chart: a matrix, or products with it."""

    def __init__(self, strobe: Strobe, chart: Chart) -> None:
        self.strobe, self.chart, self.size = strobe, chart, len(chart)
        self.matrix: Floats | None = None
        if self.size <= DENSE:
            image, self.matrix = strobe.slopes(chart, np.eye(self.size))
        else:
            image = strobe.image(chart, np.zeros(self.size))
        self.gap: Floats = image

    def times(self, y: Floats) -> Floats:
        """P_y y."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ y)
        length = float(np.linalg.norm(y))
        return length * self.strobe.slopes(self.chart, y[None] / length)[1][:, 0] if length else np.zeros(self.size)

    def solve(self, column: Floats, row: Floats, right: Floats) -> Floats | None:
        """(2m + 1,) of the bordered system; None: it is singular, or the iteration does not get there.

        Nothing along directions in which it is next to singular: at a branch point those lead to the other branch.
        """
        if self.matrix is not None:
            whole = np.block([[self.matrix - np.eye(self.size), column[:, None]], [row[None]]])
            left, values, directions = np.linalg.svd(whole)
            if values[-1] > CROSSING:
                return solve_dense(whole, right)
            kept = values > CROSSING
            return np.asarray(directions[kept].T @ (left.T[kept] @ right / values[kept]))
        from scipy.sparse.linalg import LinearOperator, gmres

        def product(x: Floats) -> Floats:
            y = x[: self.size]
            return np.append(self.times(y) - y + x[-1] * column, row @ x)

        whole = LinearOperator((len(right), len(right)), matvec=product, dtype=float)
        found, info = gmres(whole, right, rtol=FORCING, restart=60, maxiter=3)
        return None if info else np.asarray(found)

    def multipliers(self) -> tuple[Complexes, Complexes]:
        """(k,) largest first, and eigenvectors (2m, k). NoConvergence: their own residuals do not confirm them."""
        if self.matrix is not None:
            values, vectors = np.linalg.eig(self.matrix)
        else:
            from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

            whole = LinearOperator((self.size, self.size), matvec=self.times, dtype=float)
            try:
                values, vectors = eigs(whole, LEADING, v0=np.ones(self.size), tol=CONFIRMED)
            except ArpackNoConvergence:
                raise NoConvergence("the Floquet multipliers were not found: ARPACK did not converge") from None
        image = np.array([self.times(x.real) + 1j * self.times(x.imag) for x in vectors.T]).T
        size = max(1.0, float(np.abs(values).max())) if self.matrix is None else float(np.linalg.norm(self.matrix, 2))
        worst = float(np.abs(image - values * vectors).max())
        if not worst <= CONFIRMED * max(size, np.finfo(float).tiny) * (1.0 if self.matrix is not None else 1e3):
            raise NoConvergence(f"the Floquet multipliers are not confirmed: their residual is {worst:.3g}")
        order = np.argsort(-np.abs(values), kind="stable")
        return values[order].astype(complex), vectors[:, order].astype(complex)


@dataclass(frozen=True, slots=True, eq=False)
class Orbit:
    """A motion that comes back after ``multiple`` periods of the drive, at a value of the parameter.

    place        the value over the range of the parameter
    state        (u, v) of all dofs at the start of the period
    residual     largest component of P(z) - z, over the scales
    multipliers  (k,) complex, the largest first; vectors (2m, k) in the coordinates of ``slopes.chart``
    section      its motion: states of the printed nodes
    events       what happened to ropes and stops, in order
    by_value     derivative of P(z; p) - z by the parameter over its range, near the orbit; None: not known
    """

    value: float
    place: float
    state: State
    multiple: int
    residual: float
    iterations: int
    multipliers: Complexes
    vectors: Complexes
    section: Section
    events: tuple[Event, ...]
    slopes: Slopes
    by_value: Move | None = None

    @property
    def reach(self) -> tuple[float, float] | None:
        """Largest ranges of displacements and velocities; None: it moves next to nothing."""
        ranges = np.ptp(self.section.track, axis=0).reshape(-1, 2, 3).max(axis=(0, 2))
        is_still = (ranges < STILL * np.array(self.slopes.strobe.scale)).any()
        return None if is_still else (float(ranges[0]), float(ranges[1]))

    @property
    def unstable(self) -> int:
        """How many multipliers lie outside the unit circle; 0: it is stable."""
        return int(np.count_nonzero(np.abs(self.multipliers) > 1.0 + UNSTABLE))

    @property
    def happened(self) -> Counter[str]:
        """How often ropes and stops did what."""
        return happened(self.events)

    def __repr__(self) -> str:
        named = ", ".join(f"{shown(value)}" for value in self.multipliers)
        kind = f"unstable in {self.unstable} directions" if self.unstable else "stable"
        return f"Orbit of period {self.multiple}, {kind}, |P(z) - z| = {self.residual:.2g}, multipliers {named}"


def happened(events: Iterable[Event]) -> Counter[str]:
    """How often ropes and stops did what."""
    return Counter(event.event for event in events if event.element)


def shown(value: complex) -> str:
    return f"{value.real:.9g}" if value.imag == 0.0 else f"{value.real:.9g}{value.imag:+.9g}i"


Direction = tuple[Move, float]
"""Of a branch: what changes of all dofs, and of the parameter over its range."""


def correct(family: Family, state: State, value: float, along: Direction | None = None) -> Orbit:
    """The orbit near a state and a value of the parameter, which stays as it is; ``along`` a branch: next to them.

    NoConvergence: there is none in reach.
    """
    before, by_value = math.inf, None
    for iteration in range(MOST_ITERATIONS if along is None else MOST_ALONG):
        strobe, tape = family.strobe(value)
        chart = strobe.chart(state)
        slopes = Slopes(strobe, chart)
        residual = float(np.abs(slopes.gap).max())
        if residual <= SHARP or HELPS * before < residual <= GOOD:
            motion = tape.section(), tuple(tape.events)  # the last march was that of the orbit
            return Orbit(
                value, value / family.width, chart.base, family.multiple, residual, iteration, *slopes.multipliers(),
                *motion, slopes, by_value,
            )  # fmt: skip
        column, row = np.zeros(len(chart)), np.append(np.zeros(len(chart)), 1.0)
        if along is not None:
            by_value = by_value or chart.moves(by_parameter(family, chart, value))
            column, row = chart.directions(*by_value), np.append(chart.directions(*along[0]), along[1])
        change = slopes.solve(column, row, -np.append(slopes.gap, 0.0)) if math.isfinite(residual) else None
        if change is None or not np.any(change):
            break
        change *= min(1.0, LONGEST / float(np.linalg.norm(change)))
        state, value, before = chart.state(change[:-1]), value + family.width * float(change[-1]), residual
    raise NoConvergence(
        f"no orbit was found{family.named(value)}: |P(z) - z| = {residual:.3g}, relative to the size of the motion"
    )


def by_parameter(family: Family, chart: Chart, value: float) -> Floats:
    """(2m,) derivative of P(z; p) - z by p over its range: central differences."""
    above, below = (family.strobe(value + sign * ASIDE * family.width)[0].gap(chart) for sign in (1.0, -1.0))
    return (above - below) / (2.0 * ASIDE)


def tangent(family: Family, orbit: Orbit, before: Direction) -> Direction:
    """Of the branch at an orbit, of length 1 over the scales, pointing on from the one before.

    The one before where that is not determined, in a branch point.
    """
    slopes, chart = orbit.slopes, orbit.slopes.chart
    row = np.append(chart.directions(*before[0]), before[1])
    right = np.append(np.zeros(len(chart)), 1.0)
    known = orbit.by_value
    column = by_parameter(family, chart, orbit.value) if known is None else chart.directions(*known)
    found = slopes.solve(column, row, right)
    if found is None:
        return before
    found /= np.linalg.norm(found)
    return chart.moves(found[:-1]), float(found[-1])
