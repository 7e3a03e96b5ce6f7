"""Inputs that are not known exactly: what a result is worth.

Each input is a range, ``EA=5%`` (of its value) or ``mu=0.3:0.6``. To first order it moves a number by its derivative
times the distance to the ends of the range; the bar of inputs is the root of the sum of squares of all contributions,
as of inputs that do not know of each other. Two more runs for each input, at its ends, show whether the number is
straight there: where it is not, what these runs give counts. Source: JCGM 100:2008 (GUM), 5.1.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.deck import read_model
from fem.errors import CommandError, FemError
from fem.model import Model
from fem.model.named import number_named
from fem.study.points import finite, parameter_of
from fem.study.sensitivity.derivatives import STILL, Derivatives, series_in
from fem.study.sensitivity.harmonic import harmonics_of
from fem.study.tracks import tracked
from fem.study.trajectory import size_of

CURVED = 0.04
"""Part of a contribution that may be wrong to first order: a bar of 1 standard deviation that is wrong by as much holds
2 % less or more than 68 % (a normal distribution has 0.48 there)."""
ROUGH = 1e-6
"""Part of a number below which differences of runs are what their iterations leave."""
FORM = "NAME=5% or NAME=low:high"


@dataclass(frozen=True, slots=True)
class Range:
    """An input: its value, and the ends of its range."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """How much an input lowers and raises a number: to first order, and by runs at its ends (NaN: failed).

    is_curved  the runs count, as first order is wrong by more than ``CURVED``
    """

    name: str
    first: tuple[float, float]
    ends: tuple[float, float]
    is_curved: bool

    @property
    def change(self) -> tuple[float, float]:
        """The two that count, at the low and the high end of the range."""
        return self.ends if self.is_curved else self.first


@dataclass(frozen=True, slots=True)
class InputBar:
    """A number with the bar of its inputs: contributions, the largest first."""

    name: str
    value: float
    contributions: tuple[Contribution, ...]

    @property
    def bar(self) -> tuple[float, float]:
        """How much it may be smaller, and larger."""
        below = [max(0.0, *(-each for each in its.change)) for its in self.contributions]
        above = [max(0.0, *its.change) for its in self.contributions]
        return math.hypot(*below), math.hypot(*above)


def read_ranges(text: str, model: Model) -> list[Range]:
    """``EA=5%,mu=0.3:0.6``. CommandError: it has another form, or a value is outside its range."""
    found = []
    for part in text.split(","):
        name, equals, right = (each.strip() for each in part.partition("="))
        if not (name and equals and right):
            raise CommandError(f"{part.strip()!r} is not of the form {FORM}")
        name = parameter_of(model, name)
        value = float(model.parameters[name])
        share = finite(right.removesuffix("%")) if right.endswith("%") else None
        ends = [finite(each) for each in right.split(":")]
        if share is not None and share > 0.0 and value != 0.0:
            low, high = value - 0.01 * share * abs(value), value + 0.01 * share * abs(value)
        elif len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
            low, high = ends[0], ends[1]
        else:
            raise CommandError(f"{part.strip()!r} is not of the form {FORM}, with low < high")
        if not low <= value <= high:
            raise CommandError(f"{part.strip()!r}: {name} is {value:g} in the deck, outside of this range")
        found.append(Range(name, value, low, high))
    if len({each.name for each in found}) < len(found):
        raise CommandError(f"{text!r} names a parameter twice")
    return found


def representative(found: Derivatives) -> list[str]:
    """The largest and the least of each printed quantity (T, U1, ...) of any element or node, unless it is round-off
    beside the others of its vector; the largest amplitude of each that has derivatives; frequencies."""
    columns: dict[str, list[int]] = {}
    values, size = found.track.values, {"U": size_of(found.track.model)}
    for place, name in enumerate(found.track.names if len(values) else ()):
        number = number_named(name)
        if number.kind and number.quantity.name in ("U", "RF", "TE", "T", "SM", "SK"):
            columns.setdefault(number.column, []).append(place)
            largest_seen = float(np.abs(values[:, place]).max(initial=0.0, where=np.isfinite(values[:, place])))
            size[number.family] = max(size.get(number.family, 0.0), largest_seen)
    names = list[str]()
    for places in columns.values():
        least = STILL * size[number_named(found.track.names[places[0]]).family]
        for kind, ends in (("max", np.fmax.reduce(values[:, places])), ("min", -np.fmin.reduce(values[:, places]))):
            if np.isfinite(ends).any() and abs(float(np.nanmax(ends))) > least:
                names.append(f"{kind}:{found.track.names[places[int(np.nanargmax(ends))]]}")
    largest = [f"max:amplitude_{step}:{name}" for step, its in found.harmonics.items() for name in its.largest()]
    known = [name for name in largest if not np.isnan(found.of(name)[1]).any()]
    return names + known + list(found.single)


def input_bars(
    deck: str | Path | Model, found: Derivatives, ranges: Sequence[Range], names: Sequence[str],
    given: Mapping[str, float], solver: str,
) -> list[InputBar]:  # fmt: skip
    """The numbers with bars of the inputs, from derivatives and from runs at the ends of the ranges."""
    ends: dict[str, list[dict[str, float]]] = {}
    held = {**given, **{one.name: one.value for one in ranges}}
    for one in ranges:
        runs = [{one.name: end} if end != one.value else {} for end in (one.low, one.high)]
        ends[one.name] = [numbers_at(deck, names, {**held, **own}, solver) if own else {} for own in runs]
    bars = []
    for name in names:
        value, slopes, _ = found.of(name)
        between = between_rows(found, name)
        its = dict(zip(found.parameters, slopes.tolist(), strict=True))
        contributions = []
        for one in ranges:
            moves = one.low - one.value, one.high - one.value
            first = moves[0] * its[one.name], moves[1] * its[one.name]
            at = [each.get(name, math.nan) - value for each in ends[one.name]]
            at = [0.0 if move == 0.0 else each for each, move in zip(at, moves, strict=True)]
            size, known = max(map(abs, (*first, *at)), default=0.0), all(map(math.isfinite, at))
            wrong = max(abs(a - b) for a, b in zip(first, at, strict=True)) if known else 0.0
            is_curved = known and size > between and not wrong <= max(CURVED * size, ROUGH * abs(value))
            contributions.append(Contribution(one.name, first, (at[0], at[1]), is_curved))
        contributions.sort(key=lambda each: -max(map(abs, each.change)))
        bars.append(InputBar(name, value, tuple(contributions)))
    return bars


def between_rows(found: Derivatives, name: str) -> float:
    """How far the peak of a number over time may lie beyond its largest row: an eighth of the second difference of the
    rows there, if it is a parabola. By less, runs differ because their increments end at other instants; 0 for other
    numbers."""
    column = {
        f"{kind}:{each}".upper(): place for place, each in enumerate(found.track.names) for kind in ("max", "min")
    }
    if (place := column.get(name.upper())) is None:
        return 0.0
    values = found.track.values[:, place]
    row = int(np.searchsorted(found.track.time, found.of(name)[2]))
    beside = values[row - 1 : row + 2] if 0 < row < len(values) - 1 else np.zeros(3)
    bend = float(np.abs(np.diff(beside, 2)).max()) / 8.0
    return bend if math.isfinite(bend) else 0.0


def numbers_at(
    deck: str | Path | Model, names: Sequence[str], given: Mapping[str, float], solver: str
) -> dict[str, float]:
    """Some numbers of a run; none where it fails, and without those that it does not have."""
    try:
        model = read_model(deck, given)
        track = tracked(model, tuple(dict.fromkeys(series_in(names, model))), solver)
    except FemError:
        return {}
    nothing = np.zeros(0)
    single = {name: (value, nothing) for name, value in track.frequencies.items()}
    harmonics = harmonics_of(track.model, track.responses)
    found, numbers = Derivatives({}, nothing, track, (), (), (), single, harmonics=harmonics), dict[str, float]()
    for name in names:
        with suppress(CommandError):
            numbers[name] = found.value(name)
    return numbers
