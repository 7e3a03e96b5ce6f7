"""The numbers of a run over time: their sizes, their differences from other runs, their peaks and their statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import CommandError
from fem.model import Mesh, Model
from fem.model.facts import natural_lengths, of_sections
from fem.model.named import number_named
from fem.runs.history import BALANCED
from fem.runs.signals import places_of
from fem.show.series import count_cycles, damage
from fem.study.points import finite
from fem.study.tracks import Track, table_names

ROUND_OFF = 1e-12
EPS = 2.0 * float(np.finfo(float).eps)
AT_REST = 1e-6
"""Displacement over the extent of a model that counts as zero."""
SAME = 1e-6
"""Instants that differ by less than this fraction of an increment are the same."""


def printed_names(model: Model) -> frozenset[str]:
    """Displacements, velocities, reactions and end tensions of nodes, tensions of elements, that some step prints;
    energies."""
    shown = ("U", "V", "RF", "TE", "T")
    return frozenset(BALANCED) | {name for name in table_names(model) if number_named(name).quantity.name in shown}


def scales(values: Floats, names: Sequence[str], mesh: Mesh) -> Floats:
    """(c,) largest magnitude of the quantity, over rows and nodes; of displacements at least ``AT_REST`` of the extent
    of the model; energies: of the largest energy."""
    extent = float(np.ptp(mesh.coordinates, axis=0).max(initial=0.0))
    largest = np.zeros(len(names))
    for row in (np.fmax.reduce(values), -np.fmin.reduce(values)) if len(values) else ():
        largest = np.fmax(largest, row)
    family = [number.family if number.kind else "" for number in map(number_named, names)]
    most: dict[str, float] = {"U": AT_REST * extent}
    for its, size in zip(family, largest.tolist(), strict=True):
        most[its] = max(most.get(its, 0.0), size)
    return np.array([most[its] for its in family])


def round_offs(names: Sequence[str], scale: Floats, model: Model) -> Floats:
    """(c,) rounding errors of numbers of such sizes. Those of displacements u cause errors of strains of ``EPS`` u/L0,
    and of forces of bars and reactions by the stiffness times that."""
    noise, numbers = ROUND_OFF * scale, list(map(number_named, names))
    moved = max((float(scale[column]) for column, its in enumerate(numbers) if its.family == "U"), default=0.0)
    length = natural_lengths(model.mesh, model.rest_lengths)
    strain = np.divide(EPS * moved, length, out=np.zeros_like(length), where=length > 0.0)
    young = of_sections(model, lambda section, material: material.young or 0.0)
    pull = young * of_sections(model, lambda section, material: section.area) * strain
    of_bar = {"E": strain, "S": young * strain, "N": pull, "T": pull}
    places = places_of(model, "e")
    for column, its in enumerate(numbers):
        if its.kind == "e" and its.column in of_bar:
            noise[column] += of_bar[its.column][places[its.label]]
    reactions = [column for column, its in enumerate(numbers) if its.family == "RF"]
    noise[reactions] += pull.max(initial=0.0)
    return np.asarray(noise)


class Reading:
    """Interpolates values at rising times (k,) to others (w,): equal instants exactly, others by a cubic; NaN outside.

    nearest  (w,) row of the nearest time;  outside: (o,) those outside the rising times
    between  (b,) those between rows, from four of these, the ``first`` (b,) and the next, with ``weights`` (4, b)
    """

    def __init__(self, time: Floats, wanted: Floats) -> None:
        self.nearest, is_common = common(wanted, time)
        outside = ~is_common & ((wanted < time[0]) | (wanted > time[-1]) | (len(time) < 4))
        (self.outside,), (self.between,) = np.nonzero(outside), np.nonzero(~is_common & ~outside)
        x = wanted[self.between]
        self.first = np.clip(time.searchsorted(x) - 2, 0, max(0, len(time) - 4))
        points = [time[self.first + i] for i in range(4)] if len(x) else []
        self.weights = [
            np.prod([(x - other) / (its - other) for j, other in enumerate(points) if j != i], axis=0)
            for i, its in enumerate(points)
        ]

    def __call__(self, values: Floats) -> Floats:
        """(w, c) of values (k, c)."""
        found = values[self.nearest]
        total = np.zeros((len(self.between), values.shape[1]))
        for i, weight in enumerate(self.weights):
            total += weight[:, None] * values[self.first + i]
        found[self.between] = total
        found[self.outside] = np.nan
        return found


class Aligned:
    """Numbers of a motion at the rows of another one; NaN outside.

    If all rows coincide, values are read; otherwise the differences at common instants are interpolated by a cubic,
    which is more accurate than to interpolate values. Values are interpolated if there are no common instants, or if
    the other motion prints a number less often.

    parts  of each step: rows of the other motion, rows of the motion, and how its values are read; rows of the motion,
           rows of the other one at the same instants as these, and how differences are (None: they are not needed)
    """

    def __init__(self, track: Track, to: Track) -> None:
        self.track, self.to = track, to
        self.parts: list[tuple[slice, slice, Reading, tuple[Ints, Ints, Reading] | None]] = []
        for step in np.unique(to.step).tolist():
            rows, its = (slice(*each.step.searchsorted([step, step + 1]).tolist()) for each in (to, track))
            own, wanted = track.time[its], to.time[rows]
            if not len(own):
                continue
            nearest, is_common = common(own, wanted)
            apart = None
            if np.count_nonzero(is_common) >= 4 and not common(wanted, own)[1].all():
                both = its.start + np.flatnonzero(is_common), rows.start + nearest[is_common]
                apart = *both, Reading(own[is_common], wanted)
            self.parts.append((rows, its, Reading(own, wanted), apart))

    def values(self, columns: slice) -> Floats:
        """(k, c) of some columns."""
        own, others = self.track.values[:, columns], self.to.values[:, columns]
        found = np.full(others.shape, np.nan)
        for rows, its, read, apart in self.parts:
            if apart is not None:
                at, beside, read_apart = apart
                found[rows] = others[rows] + read_apart(own[at] - others[beside])
            if apart is None or (np.isnan(found[rows]) & np.isfinite(others[rows])).any():
                found[rows] = np.where(np.isnan(found[rows]), read(own[its]), found[rows])
        return found


def common(time: Floats, others: Floats) -> tuple[Ints, Flags]:
    """For each of some instants (k,): index of the nearest one among rising others, and whether it is the same."""
    after = np.clip(others.searchsorted(time), 0, len(others) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(others[before] - time) < np.abs(others[after] - time), before, after)
    step = np.where(after > before, others[after] - others[before], 1.0)
    return nearest, np.abs(others[nearest] - time) <= SAME * step


class Peak(NamedTuple):
    """The largest (or least) of a number: of the rows and its instant, and of the parabola through three rows."""

    row: float
    instant: float
    peak: float
    peak_instant: float


def peak_of(track: Track, column: int, sign: float) -> Peak:
    """sign: 1 for the largest, -1 for the least; of the rows in which the number is known."""
    known = np.isfinite(track.values[:, column])
    if not known.any():
        return Peak(*[math.nan] * 4)
    found = highest(track.time[known], sign * track.values[known, column])
    return found._replace(row=sign * found.row, peak=sign * found.peak)


def highest(time: Floats, values: Floats) -> Peak:
    """The peak of values (k,)."""
    at = int(values.argmax())
    row, instant = float(values[at]), float(time[at])
    if len(time) < 3:
        return Peak(row, instant, row, instant)
    middle = min(max(at, 1), len(time) - 2)  # at the first and last row use the neighbour: the peak may lie between
    (h1, h2), (d1, d2) = (np.diff(each[middle - 1 : middle + 2]).tolist() for each in (time, values))
    if h1 > 0.0 and h2 > 0.0 and (curvature := (d2 / h2 - d1 / h1) / (h1 + h2)) < 0.0:
        slope = (d1 / h1 * h2 + d2 / h2 * h1) / (h1 + h2)
        shift = -0.5 * slope / curvature
        if -h1 <= shift <= h2:
            return Peak(row, instant, float(values[middle]) + 0.5 * slope * shift, float(time[middle]) + shift)
    return Peak(row, instant, row, instant)


def mean_of(time: Floats, values: Floats) -> float:
    """Mean over time, by the trapezoidal rule."""
    length = np.ptp(time)
    area = 0.5 * np.diff(time) @ (values[1:] + values[:-1])
    return float(area / length) if length > 0.0 else float(values[-1])


def deviation_of(time: Floats, values: Floats) -> float:
    return math.sqrt(mean_of(time, (values - mean_of(time, values)) ** 2))


STATISTICS: dict[str, Callable[[Floats, Floats], float]] = {"mean": mean_of, "std": deviation_of}


def asked(name: str) -> tuple[str, str, str, str]:
    """Parts of a name such as ``mean:T_e1``, ``instant:max:T_e1``, ``damage:3:T_e1``, ``T_e1@2.5``: kind (``mean``,
    ...); extreme or slope; series; instant (empty: at the end)."""
    if name.startswith("frequency_"):
        return "frequency", "", name, ""
    kind, colon, series = name.partition(":")
    if not colon:
        series, _, instant = name.partition("@")
        return "", "", series, instant
    of, _, series = series.partition(":") if kind in ("instant", "damage") else ("", "", series)
    return kind, of, series, ""


def statistic(name: str) -> Callable[[Floats, Floats], float] | None:
    """The function of times and values that ``mean:T_e1``, ``std:T_e1`` or ``damage:3:T_e1`` names; None: it is no such
    name. CommandError: the slope of a damage is not above zero."""
    kind, slope, series, _ = asked(name)
    if kind != "damage":
        return STATISTICS.get(kind)
    if not ((m := finite(slope) or 0.0) > 0.0 and series):
        raise CommandError(f"{name!r}: write damage:3:T_e12 for the slope 3 of the S-N curve N = K range^-3, K = 1")
    return lambda time, values: damage(count_cycles(values), m, 1.0)
