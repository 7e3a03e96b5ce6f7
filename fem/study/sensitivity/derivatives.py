"""``fem.sensitivity``: the numbers of a run with their derivatives by parameters; ``fem.gradient``, for optimisation.

Names of numbers are those of error bars: ``T_e12`` (at the end), ``T_e12@2.5``, ``max:T_e12``, ``mean:T_e12``,
``frequency_1_2``. The derivative of a largest value is that of the number at its instant: the instant moves, but to
first order that changes nothing. Derivatives of statistics follow by the chain rule from those of all instants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck import deck_reader, read_model
from fem.errors import CommandError, unknown
from fem.model import Model
from fem.model.named import members_named, set_named
from fem.runs.record import Requests, SilentSink, Sink
from fem.solve.checkpoint import Checkpoints
from fem.solve.loop import begin
from fem.study.certainty.numbers import asked, common, statistic
from fem.study.points import parameter_of
from fem.study.sensitivity.duals import MOST, NoDerivative, slopes
from fem.study.sensitivity.harmonic import Harmonics, harmonic_number, is_harmonic
from fem.study.sensitivity.run import Differentiated, Reader
from fem.study.tracks import Track, table_names
from fem.study.trajectory import size_of

WILD = 100.0
"""Growth of derivatives at which they tell nothing of changes of 1 %: it is told, and nothing is fitted by them."""
STILL = 1e-9
"""A displacement that is smaller, as a fraction of the model's size, is round-off."""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """The numbers of a run, and their derivatives.

    parameters  name -> value, of the s parameters;  scales (s,): steps of the shadows are ``STEP`` times these
    track       numbers (k, c) over time;  shadows (4 s,): the same, moved by the derivatives
    exact, rates  columns of numbers that the march itself computes, and their derivatives times the scale (k, e)
    single      frequencies and buckling factors with derivatives (s,)
    harmonics   steps of harmonic motions, by number
    worst       the largest part of the derivatives of an increment that was left unsolved
    """

    parameters: dict[str, float]
    scales: Floats
    track: Track
    shadows: Sequence[Track]
    exact: Sequence[int]
    rates: Sequence[Floats]
    single: dict[str, tuple[float, Floats]]
    worst: float = 0.0
    harmonics: Mapping[int, Harmonics] = field(default_factory=dict)

    @property
    def growth(self) -> float:
        """How far a parameter would move the nodes if it were twice as large, to first order, over the largest motion:
        very large where the motion is chaotic."""
        at = [place for place, name in enumerate(self.track.names) if name.startswith("U")]
        values, slopes = self.track.values[:, at], self.slopes[:, at]
        most = max(float(np.abs(values).max(initial=0.0)), STILL * size_of(self.track.model))
        return float(np.abs(slopes * self.scales).max(initial=0.0)) / most

    @cached_property
    def slopes(self) -> Floats:
        """(k, c, s) derivatives of all numbers at all rows."""
        found = self.by(lambda track: track.values)[1]
        for place, (rate, scale) in enumerate(zip(self.rates, self.scales.tolist(), strict=True)):
            found[:, self.exact, place] = rate / scale
        return found

    def by(self, function: Callable[[Track], Floats]) -> tuple[Floats, Floats]:
        """What a function makes of the run, and its derivatives, on a further axis (s,)."""
        found = list(map(function, self.shadows))
        parts = [slopes(found[4 * n : 4 * n + 4]) / scale for n, scale in enumerate(self.scales.tolist())]
        own = np.asarray(function(self.track))
        return own, np.stack(parts, axis=-1) if parts else np.empty((*own.shape, 0))

    def value(self, name: str) -> float:
        """A number. CommandError: the run has none of this name."""
        return self.of(name)[0]

    def slope(self, name: str) -> dict[str, float]:
        """Its derivatives, by parameter; NaN where it has none."""
        return dict(zip(self.parameters, self.of(name)[1].tolist(), strict=True))

    def of(self, name: str) -> tuple[float, Floats, float]:
        """A number, its derivatives (s,), and its instant (of harmonic motions the frequency; NaN: it has none)."""
        if name in self.single:
            return (*self.single[name], np.nan)
        if harmonic := harmonic_number(self.harmonics, name):
            return harmonic
        kind, sign, series, instant = asked(name)
        values, places = self._series(series)
        if function := statistic(name):
            rows = np.arange(len(values))
            found, rates = self.by(lambda its: np.array(function(its.time, its.values[rows, places])))
            return float(found), rates, np.nan
        if kind in ("max", "min"):
            row = int(np.nanargmax(values) if kind == "max" else np.nanargmin(values))
        elif kind or sign:
            raise CommandError(f"{name!r} has no derivative; expected max:, min:, mean:, std:, damage:M: or a series")
        else:
            row = int(common(np.array([float(instant)]), self.track.time)[0][0]) if instant else len(values) - 1
        return float(values[row]), self.slopes[row, places[row]], float(self.track.time[row])

    def _series(self, name: str) -> tuple[Floats, Ints]:
        """A number over time (k,), of a set the largest at each instant, and its column (k,)."""
        names = [str(each) for each in members_named(self.track.model.mesh, name)] if set_named(name) else [name]
        places = {each.upper(): place for place, each in enumerate(self.track.names)}
        for each in names:
            if each.upper() not in places:
                raise CommandError(unknown("number", each, self.track.names).args[0])
        at = np.array([places[each.upper()] for each in names])
        values, rows = self.track.values[:, at], np.arange(len(self.track.time))
        which = values.argmax(axis=1)
        return values[rows, which], at[which]


def series_in(names: Sequence[str], model: Model) -> list[str]:
    """The numbers over time that names such as ``max:T_e12`` are made of."""
    found = [asked(name)[2] for name in names if not (name.startswith(("frequency_", "factor_")) or is_harmonic(name))]
    members = [[str(each) for each in members_named(model.mesh, name)] if set_named(name) else [name] for name in found]
    return [name for its in members for name in its]


def differentiating(
    reader: Reader, model: Model, by: Sequence[str], given: Mapping[str, float],
    names: Sequence[str],
) -> tuple[Callable[..., None], Callable[[], Derivatives]]:  # fmt: skip
    """A function in place of ``solve.loop.solve``, and one that returns what it has found.

    model  that of the ``given`` values
    by     parameters, each of which changes while the others are held: none follows from another one, as it may in the
           deck;  names: of numbers over time

    NoDerivative: a parameter changes more than numbers. CommandError: too many or none.
    """
    if len(by) > MOST or len(set(by)) < len(by) or not by:
        raise CommandError(f"{', '.join(by) or 'no parameter'}: expected 1 to {MOST} different parameters")
    if model.earlier is not None:
        raise NoDerivative("there are no derivatives of a run that continues another one")
    values = {name: float(model.parameters[name]) for name in by}
    made: list[Differentiated] = []

    def solve(model: Model, sink: Sink, requests: Requests, checkpoints: Checkpoints | None = None) -> None:
        run = begin(Differentiated, model, sink, replace(requests, record_all=True), checkpoints)
        run.differentiate_by(reader, {**given, **values}, values, names)
        made.append(run)
        run.run()

    def found() -> Derivatives:
        run = made[0]
        return Derivatives(values, run.scales, *run.tracks(), run.small_motions(), run.worst, run.harmonics)

    return solve, found


def sensitivity(
    deck: str | Path | Model, by: Sequence[str], names: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None, solver: str = "AUTO",
) -> Derivatives:  # fmt: skip
    """Run a deck, and return its numbers with their derivatives by ``*PARAMETER`` values.

    deck        path of the ``.inp``, or a ``Model``
    by          up to seven parameters of the deck
    names       numbers such as ``max:T_e12`` that are asked for; None: all that the deck prints
    parameters  values that override the deck's ``*PARAMETER``
    solver      CHAIN, BAND or BORDER; AUTO chooses as in ``fem.run``

    Raises what ``fem.run`` raises, and CommandError where a derivative does not exist.

    >>> found = fem.sensitivity("inputs/catenary.inp", ["weight"], ["max:T_e1"], {"stiffness": 1e9})
    >>> round(found.value("max:T_e1") / found.slope("max:T_e1")["weight"])  # the tension is as the weight
    200
    """
    given = dict(parameters or {})
    model = read_model(deck, given)
    by = [parameter_of(model, name) for name in by]
    series = table_names(model) if names is None else tuple(dict.fromkeys(series_in(names, model)))
    return differentiated(partial(deck_reader, deck), model, by, given, series, solver)


def differentiated(
    reader: Reader, model: Model, by: Sequence[str], given: Mapping[str, float],
    series: Sequence[str], solver: str = "AUTO",
) -> Derivatives:  # fmt: skip
    """Runs a model; arguments as of ``differentiating``."""
    solve, found = differentiating(reader, model, by, given, series)
    solve(model, SilentSink(), Requests(solver.upper(), fields=False))
    return found()


class Gradient:
    """A number of a deck as a function of parameters, with its gradient: ``scipy.optimize.minimize(f, f.x0,
    jac=True)``.

    x0     values of the deck;  runs: how many runs it has made
    """

    def __init__(
        self, deck: str | Path | Model, quantity: str, by: Sequence[str], parameters: Mapping[str, float] | None = None
    ) -> None:
        model = read_model(deck, parameters)
        self._deck, self._quantity, self._given = deck, quantity, dict(parameters or {})
        self.by = tuple(parameter_of(model, name) for name in by)
        self.x0 = np.array([float(model.parameters[name]) for name in self.by])
        self.runs, self._last = 0, (self.x0 * np.nan, 0.0, self.x0)

    def __call__(self, x: Any = None) -> tuple[float, Floats]:
        """The number and its gradient (s,) at x (s,); None: at the values of the deck."""
        at = self.x0 if x is None else np.asarray(x, float)
        if not np.array_equal(at, self._last[0]):
            values = self._given | dict(zip(self.by, at.tolist(), strict=True))
            value, slope, _ = sensitivity(self._deck, self.by, [self._quantity], values).of(self._quantity)
            self.runs, self._last = self.runs + 1, (at.copy(), value, slope)
        return self._last[1], self._last[2].copy()

    def value(self, x: Any = None) -> float:
        return self(x)[0]

    def jac(self, x: Any = None) -> Floats:
        return self(x)[1]


def gradient(
    deck: str | Path | Model, quantity: str, by: Sequence[str], parameters: Mapping[str, float] | None = None
) -> Gradient:
    """A number of a deck, as a function of parameters that returns it and its gradient.

    deck        path of the ``.inp``, or a ``Model``
    quantity    ``max:T_e12``, ``T_e12@2.5``, ``mean:T_e12``, ``frequency_1_2``, ...
    by          up to seven parameters of the deck
    parameters  values that override others of its ``*PARAMETER``

    Raises what ``fem.sensitivity`` raises.

    >>> f = fem.gradient("inputs/catenary.inp", "max:T_e1", ["weight"], {"stiffness": 1e9})
    >>> value, slope = f([200.0])
    >>> round(value / slope[0])
    200
    """
    return Gradient(deck, quantity, by, parameters)
