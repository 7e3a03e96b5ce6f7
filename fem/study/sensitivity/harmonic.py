"""Derivatives of harmonic motions: amplitudes and phases at the frequencies of ``*STEADY STATE DYNAMICS``.

Names: ``amplitude_2:T_e12@0.15`` in step 2 at the frequency 0.15 (the nearest of the step; none: the last one),
``phase_2:T_e12@0.15`` in degrees, ``max:amplitude_2:T_e12`` the largest over all frequencies. Complex amplitudes are
differenced, which are smooth where an amplitude vanishes and where a phase passes 180 degrees. A frequency that a
parameter moves (one between natural frequencies) keeps its place in the list, as increments keep theirs in a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fem.arrays import Complexes, Floats
from fem.errors import CommandError, unknown
from fem.model import Model
from fem.model.named import PRINTS, labels_of, names_of, number_named
from fem.model.quantities import HARMONIC, QUANTITIES
from fem.runs.record import Response
from fem.runs.tables import asked_of
from fem.study.certainty.numbers import common
from fem.study.points import finite
from fem.study.sensitivity.duals import OFFSETS, are_same, roughness, slopes

NAME = re.compile(r"(max:)?(amplitude|phase)_(\d+):([^@]+)(?:@(.+))?")
ROUGH, LOST = 1.5e-3, 0.3
"""``roughness`` r of amplitudes at a frequency that is told, and at which they have no derivative: close to a resonance
without damping. There they are as 1/(p - p0), and differences have 4/9 of r^2 too much; of a single mode so does the
middle, and the derivative of the logarithm is exact."""
STILL = 1e-9
"""An amplitude that is smaller, as a fraction of the largest of its quantity, is round-off."""


@dataclass(frozen=True, eq=False)
class Harmonics:
    """Numbers (c) of a harmonic step at its frequencies (k), with derivatives by parameters (s); NaN: there are none.

    names      (c,) T_e12
    frequency  (k,);  rates (k, s) its derivatives
    values     (k, c) complex amplitudes;  slopes (k, c, s) derivatives of their logarithms
    """

    names: tuple[str, ...]
    frequency: Floats
    rates: Floats
    values: Complexes
    slopes: Complexes

    def parts(self, kind: str, of: Any = slice(None)) -> tuple[Floats, Floats]:
        """Amplitudes or phases [degrees] (k, c), and their derivatives (k, c, s); ``of`` some columns."""
        values, slopes = self.values[:, of], self.slopes[:, of]
        size = np.abs(values)
        if kind == "amplitude":
            return size, size[..., None] * slopes.real
        return np.where(size == 0.0, 0.0, np.degrees(np.angle(values))), np.degrees(slopes.imag)

    @cached_property
    def places(self) -> dict[str, int]:
        """Column of each number, by its name in capital letters."""
        return {each.upper(): place for place, each in enumerate(self.names)}

    def of(self, is_largest: bool, kind: str, number: str, at: str | None) -> tuple[float, Floats, float]:
        """A number, its derivatives (s,), its frequency. CommandError: there is none of this name."""
        if number.upper() not in self.places:
            raise CommandError(unknown("harmonic number", number, self.names).args[0])
        wanted = finite(at) if at else self.frequency[-1]
        if wanted is None:
            raise CommandError(f"{at!r} is no frequency")
        values, rates = self.parts(kind, self.places[number.upper()])
        is_known = is_largest and not np.isnan(values).all()
        row = int(np.nanargmax(values) if is_known else common(np.array([wanted]), self.frequency)[0][0])
        return float(values[row]), rates[row], float(self.frequency[row])

    def largest(self) -> Iterator[str]:
        """The names of the largest amplitude of each column (U1, T, ...), without those that are round-off."""
        size, most = np.nanmax(np.abs(self.values), axis=0, initial=0.0), dict[str, float]()
        places = dict[str, int]()
        for place, (name, its) in enumerate(zip(self.names, size.tolist(), strict=True)):
            number = number_named(name)
            most[number.family] = max(most.get(number.family, 0.0), its)
            if its > size[places.setdefault(number.column, place)]:
                places[number.column] = place
        return (self.names[at] for column, at in places.items() if size[at] > STILL * most[column.rstrip("123")])


def is_harmonic(name: str) -> bool:
    return bool(NAME.fullmatch(name))


def harmonic_number(found: Mapping[int, Harmonics], name: str) -> tuple[float, Floats, float] | None:
    """A number of harmonic steps, its derivatives (s,) and its frequency; None: it has no such name."""
    if not (match := NAME.fullmatch(name)):
        return None
    largest, kind, step, number, at = match.groups()
    if int(step) not in found or (largest and kind == "phase"):
        raise CommandError(f"{name!r}: expected amplitude_, max:amplitude_ or phase_ of step {list(found)}")
    return found[int(step)].of(bool(largest), kind, number, at)


def harmonics_of(model: Model, responses: Sequence[Response]) -> dict[int, Harmonics]:
    """What steps print, by their numbers, without derivatives; responses: of printed nodes and elements."""
    found = {}
    for step in sorted({each.step for each in responses}):
        its, names, parts = [each for each in responses if each.step == step], list[str](), []
        for kind, card in PRINTS.items():
            family, asked = card.split()[0], asked_of(model, card)
            of = [HARMONIC[family].index(name) for name in asked]
            columns = [name for each in QUANTITIES[family] if each.name in asked for name in each.columns]
            labels = labels_of(model.mesh, kind)[its[0].nodes if kind == "n" else its[0].elements]
            names += names_of(kind, columns, labels.tolist())
            values = [each.motion.swapaxes(0, 1) if kind == "n" else each.values for each in its]
            parts.append(np.array([each[:, of].ravel() for each in values]))
        frequency, amplitudes = np.array([each.frequency for each in its]), np.concatenate(parts, axis=1)
        nothing = np.zeros((*amplitudes.shape, 0))
        found[step] = Harmonics(tuple(names), frequency, nothing[:, 0], amplitudes, nothing.astype(complex))
    return found


def middle(parts: Sequence[Any]) -> Any:
    """A number from those of the four shadows of a parameter; exactly theirs where these are the same."""
    first, second, third, last = parts
    return second + (4.0 * (third - second) - (first - second) - (last - second)) / 6.0


def by_shadows(own: Harmonics, parts: Sequence[Harmonics], scales: Floats) -> tuple[Harmonics, Floats]:
    """A step with derivatives from its answers in the shadows, four of each parameter, at all frequencies. And their
    ``roughness`` (k, s): of the quantity with the least, as a resonance spoils all; others may be round-off."""
    count, families = len(OFFSETS), np.array([number_named(name).family for name in own.names])
    alike = [np.flatnonzero(families == each) for each in np.unique(families)]
    rows = common(own.frequency, middle([each.frequency for each in parts[:count]]))[0]
    rates, rough = np.empty((len(rows), len(scales))), np.zeros((len(rows), len(scales)))
    found = np.empty((*own.values.shape, len(scales)), complex)
    for slot, scale in enumerate(scales.tolist()):
        its = parts[count * slot : count * (slot + 1)]
        rates[:, slot] = slopes([each.frequency[rows] for each in its]) / scale
        values: list[Any] = [each.values[rows] for each in its]
        change, size = slopes(values) / scale, middle(values)
        at_zero = np.where(change == 0.0, 0.0, np.nan + 0j)
        found[..., slot] = np.divide(change, size, out=at_zero, where=size != 0.0)
        for row in range(len(rows)):
            changed = [at for at in alike if not are_same([each[row, at] for each in values])]
            offs = [roughness([each[row, at, None] for each in values]) for at in changed]
            for at, off in zip(changed, offs, strict=True):
                found[row, at, slot] *= 1.0 if off <= LOST else np.nan
            rough[row, slot] = min(offs, default=0.0)
    return replace(own, rates=rates, slopes=found), rough


def told_of_resonance(rough: Floats, frequency: Floats) -> str:
    """Message: derivatives at some frequencies are less exact, or there are none; rough (k,). Empty: all are exact."""
    lost, texts = ~(rough <= LOST), list[str]()
    for those, what in (~lost & (rough > ROUGH), "they are known to {:.1g} or better"), (lost, "there are none"):
        if count := int(those.sum()):
            named = ", ".join(f"{each:.6g}" for each in frequency[those][:6].tolist()) + ", ..." * (count > 6)
            texts.append(f"at frequency {named} " + what.format(4.0 / 9.0 * float(rough[those].max()) ** 2))
    return "; ".join(texts) + ", as close to a resonance without damping" if texts else ""
