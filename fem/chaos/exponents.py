"""Lyapunov exponents of the last step of a deck: of one model, or what a sweep asks of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Flags, Floats
from fem.chaos import growth, neighbour
from fem.chaos.growth import TangentGrowth
from fem.chaos.neighbour import TwoGrowth
from fem.chaos.trajectory import halved, lasting
from fem.chaos.verdict import APART, BATCHES, Followed, Settled, course_of, judge, rates
from fem.deck import read_model
from fem.errors import CommandError
from fem.model import Model
from fem.runner import verdict_of
from fem.runs.history import History
from fem.runs.run_record import COMPLETED

METHODS = ("tangent", "two")
TRANSIENT = 0.2
"""Fraction of the time that is left out at the start."""
AGAIN = ("sample", "dt", "none")
"""Which parameter sets are run again at dt/2: one in ``ONE_IN``, all, none."""
ONE_IN = 10


@dataclass(frozen=True, slots=True, eq=False)
class Exponents:
    """The k largest Lyapunov exponents, per unit of time.

    values, errors  (k,)        an exponent is positive where its value exceeds its error; -inf (error 0): nothing is
                    left of a perturbation where ropes or stops become taut without rebound
    growth          (r, k + 1)  logarithms of growth from one orthonormalisation to the next, and the times between,
                    of the time that counts: after the transient, and since the motion has settled
    dt_errors       (k,)        the values at dt/2 less these; NaN where that was not asked for
    is_chaotic      the largest exponent is positive, and stays so where the motion is followed further; False: it is
                    not; None: the motion has not settled, or dt decides
    verdict         that in words, or why there is none
    settled         period of the section, and time of the step from which it comes back; None: it does not
    """

    values: Floats
    errors: Floats
    growth: Floats
    dt_errors: Floats
    is_chaotic: bool | None
    verdict: str
    settled: Settled | None

    def __repr__(self) -> str:
        """A line for each."""
        lines = []
        for n, (value, error, change) in enumerate(zip(self.values, self.errors, self.dt_errors, strict=True), 1):
            moves = "" if np.isnan(change) else f"; {value + change:.6f} at dt/2, a change of {change:+.6f}"
            moves = ", ends where ropes or stops become taut" if value == -np.inf else moves
            lines.append(f"exponent {n}   {value: .6f} +- {error:.6f}{moves}")
        return "\n".join(lines)

    @property
    def moved(self) -> Flags:
        """(k,) True where dt matters more than the error bars say."""
        return beyond_bar(self.dt_errors, self.errors)


def doubt_at(found: Exponents, finer: Exponents) -> str:
    """Why what was found is no verdict after a run at dt/2; empty where it is one."""
    if finer.is_chaotic is None:
        return f"at dt/2 {finer.verdict}"
    bar = math.hypot(float(found.errors[0]), float(finer.errors[0]))
    is_same = not found.is_chaotic or abs(float(found.dt_errors[0])) <= APART * bar
    if found.is_chaotic == finer.is_chaotic and is_same:
        return ""
    value, other = float(found.values[0]), float(finer.values[0])
    return f"depends on the increment: {value:.3g}, but {other:.3g} at dt/2: take smaller increments, or run longer"


def beyond_bar(difference: Floats, error: Floats) -> Flags:
    """Two values whose difference has no bar of its own: both have that error, independently of each other."""
    return np.asarray(np.abs(difference) > math.sqrt(2.0) * error)


@dataclass(frozen=True, slots=True)
class Lyapunov:
    """How exponents are found; also the question of a sweep (``fem/sweeping``).

    time       length of the last step, None: the deck's own
    count      how many exponents, the largest first
    method     ``tangent``: from the tangent map of every increment; ``two``: from two motions close to each other
    every      increments between two orthonormalisations; None: 10, for ``two`` 400
    transient  fraction of the time that is left out
    again      which points of a sweep are run again at dt/2: one of ``AGAIN``; a single model is, but for ``none``
    """

    time: float | None = None
    count: int = 1
    method: str = "tangent"
    every: int | None = None
    transient: float = TRANSIENT
    again: str = "none"
    kind: ClassVar[str] = "lyapunov"
    figures: ClassVar[tuple[str, ...]] = ("exponents.png",)
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CommandError(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")
        if self.method == "two" and self.count != 1:
            raise CommandError("two motions give the largest exponent only: use --method tangent for more")
        if not 0.0 <= self.transient < 1.0:
            raise CommandError(f"the transient is a fraction of the time from 0 to below 1, not {self.transient:g}")
        if self.again not in AGAIN:
            raise CommandError(f"there is no error {self.again!r}; there are {', '.join(AGAIN)}")

    @property
    def settings(self) -> Mapping[str, Any]:
        """What makes two sweeps the same."""
        return {f"lyapunov {each.name}": getattr(self, each.name) for each in fields(self)}

    def columns(self) -> list[str]:
        """``chaotic``: 1, 0, or empty where the motion has not settled or dt decides."""
        numbered = range(1, self.count + 1)
        names = ("exponent", "error") if self.again == "none" else ("exponent", "error", "error_dt")
        return ["chaotic", *(f"{name}_{n}" for name in names for n in numbered)]

    def exponents(self, model: Model) -> Exponents:
        """Of one model. CommandError: it has no such motion; NoConvergence: the march failed."""
        model = lasting(model, self.time)
        if model.failures:
            raise CommandError("elements that break (*FAILURE) leave no motion that goes on as it was: no exponents")
        followed = self.followed(model)
        grown = followed.growth.rows
        first = math.ceil(self.transient * len(grown))
        if len(grown) - first < 2 * BATCHES:
            raise CommandError(
                f"{len(grown)} intervals are too few for a mean with an error bar: a longer --time is needed"
            )
        verdict = judge(followed, first)
        counted = grown[verdict.first :]
        values, errors = rates(counted[:, :-1], counted[:, -1])
        none = np.full(len(values), np.nan)
        return Exponents(values, errors, counted, none, verdict.is_chaotic, verdict.words, verdict.settled)

    def followed(self, model: Model) -> Followed:
        """The motion of the record."""
        course = course_of(model)
        is_two = self.method == "two"
        longer = course.model
        growth = TwoGrowth(longer, self.every) if is_two else TangentGrowth(longer, self.count, self.every)
        found = Followed(course, growth)
        found.follow(course.record)
        return found

    def with_dt_errors(self, model: Model, found: Exponents) -> Exponents:
        """What was found, with its change at dt/2; NaN stays where increments differ, or nobody asked."""
        finer = None if self.again == "none" else halved(lasting(model, self.time))
        if finer is None:
            return found
        every = self.every or (neighbour.EVERY if self.method == "two" else growth.EVERY)
        other, lasts = replace(self, every=2 * every).exponents(finer), np.isfinite(found.values)
        changes = np.where(lasts, other.values, np.nan) - np.where(lasts, found.values, 0.0)
        found = replace(found, dt_errors=changes)
        doubt = "" if found.is_chaotic is None else doubt_at(found, other)
        return replace(found, is_chaotic=None, verdict=doubt) if doubt else found

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, tuple[int | float, ...], History | None]:
        """A row of a sweep."""
        verdict, found = COMPLETED, None
        try:
            found = self.exponents(model)
            if self.again == "dt" or (self.again == "sample" and point % ONE_IN == 0):
                found = self.with_dt_errors(model, found)
        except Exception as error:
            verdict = verdict_of(error)
        if found is None:
            return verdict, (math.nan,) * len(self.columns()), None
        numbers = np.concatenate([found.values, found.errors, found.dt_errors]).tolist()
        chaotic = math.nan if found.is_chaotic is None else int(found.is_chaotic)
        return verdict, (chaotic, *numbers[: len(self.columns()) - 1]), None


def lyapunov(
    deck: str | Path | Model,
    *,
    parameters: Mapping[str, float] | None = None,
    time: float | None = None,
    exponents: int = 1,
    method: str = "tangent",
    every: int | None = None,
    transient: float = TRANSIENT,
    again: str = "none",
) -> Exponents:
    """The largest Lyapunov exponents of the last step of a deck, with error bars; arguments as in ``Lyapunov``.

    The error bars are those of the means; ``again="dt"`` takes three times as long and tells what dt does to them.

    >>> found = lyapunov("inputs/string_pendulum_rigid.inp", time=500.0)
    >>> found.is_chaotic
    True
    """
    model = read_model(deck, parameters)
    asked = Lyapunov(time, exponents, method, every, transient, again)
    return asked.with_dt_errors(model, asked.exponents(model))
