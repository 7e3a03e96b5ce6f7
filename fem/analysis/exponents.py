"""Lyapunov exponents of the last step of a deck: of one model, or what a sweep asks of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fem.analysis.averages import BATCHES, rates
from fem.analysis.growth import tangent_growth
from fem.analysis.neighbour import two_growth
from fem.analysis.trajectory import lasting
from fem.arrays import Floats
from fem.errors import CommandError
from fem.model import Model
from fem.results.history import History
from fem.results.run_record import COMPLETED
from fem.runner import load, verdict_of

METHODS = ("tangent", "two")
TRANSIENT = 0.2
"""Share of the time that is left out at the start."""


@dataclass(frozen=True, slots=True, eq=False)
class Exponents:
    """The k largest Lyapunov exponents, per unit of time.

    values, errors  (k,)        an exponent is positive where its value exceeds its error
    growth          (r, k + 1)  logarithms of growth from one orthonormalisation to the next, and the times between
    """

    values: Floats
    errors: Floats
    growth: Floats

    @property
    def is_chaotic(self) -> bool:
        """The largest exponent is positive beyond its error bar."""
        return bool(self.values[0] > self.errors[0])


@dataclass(frozen=True, slots=True)
class Lyapunov:
    """How exponents are found; also the question of a sweep (``fem/sweeping``).

    time       length of the last step, None: the deck's own
    count      how many exponents, the largest first
    method     ``tangent``: from the tangent map of every increment; ``two``: from two motions close to each other
    every      increments between two orthonormalisations; None: 10, for ``two`` 400
    transient  share of the time that is left out
    """

    time: float | None = None
    count: int = 1
    method: str = "tangent"
    every: int | None = None
    transient: float = TRANSIENT
    kind: ClassVar[str] = "lyapunov"
    figures: ClassVar[tuple[str, ...]] = ("exponents.png",)
    counts: ClassVar[tuple[str, ...]] = ("chaotic",)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CommandError(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")
        if self.method == "two" and self.count != 1:
            raise CommandError("two motions give the largest exponent only: use --method tangent for more")
        if not 0.0 <= self.transient < 1.0:
            raise CommandError(f"the transient is a share of the time from 0 to below 1, not {self.transient:g}")

    @property
    def settings(self) -> Mapping[str, Any]:
        """What makes two sweeps the same."""
        names = ("time", "count", "method", "every", "transient")
        return {f"lyapunov {name}": getattr(self, name) for name in names}

    def columns(self) -> list[str]:
        """``chaotic`` is 1 where the largest exponent exceeds its error."""
        numbered = range(1, self.count + 1)
        return ["chaotic", *(f"exponent_{n}" for n in numbered), *(f"error_{n}" for n in numbered)]

    def exponents(self, model: Model) -> Exponents:
        """Of one model. CommandError: it has no such motion; NoConvergence: the march failed."""
        model = lasting(model, self.time)
        is_two = self.method == "two"
        growth = two_growth(model, self.every) if is_two else tangent_growth(model, self.count, self.every)
        first = math.ceil(self.transient * len(growth))
        if len(growth) - first < 2 * BATCHES:
            raise CommandError(
                f"{len(growth)} intervals are too few for a mean with an error bar: a longer --time is needed"
            )
        return Exponents(*rates(growth[first:, :-1], growth[first:, -1]), growth)

    def solve(self, model: Model, history: bool) -> tuple[str, tuple[int | float, ...], History | None]:
        """A row of a sweep."""
        try:
            found = self.exponents(model)
        except Exception as error:
            return verdict_of(error), (0, *[math.nan] * (2 * self.count)), None
        return COMPLETED, (int(found.is_chaotic), *found.values.tolist(), *found.errors.tolist()), None


def lyapunov(
    deck: str | Path | Model,
    *,
    parameters: Mapping[str, float] | None = None,
    time: float | None = None,
    exponents: int = 1,
    method: str = "tangent",
    every: int | None = None,
    transient: float = TRANSIENT,
) -> Exponents:
    """The largest Lyapunov exponents of the last step of a deck, with error bars; arguments as in ``Lyapunov``.

    >>> found = lyapunov("inputs/string_pendulum_rigid.inp", time=500.0)
    >>> found.is_chaotic
    True
    """
    model = deck if isinstance(deck, Model) else load(deck, parameters)
    return Lyapunov(time, exponents, method, every, transient).exponents(model)
