"""The numbers of a run over time: their sizes, their differences from other runs, their peaks and their statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import CommandError
from fem.model import Mesh, Model
from fem.model.quantities import ENERGIES
from fem.runs.history import BALANCED
from fem.show.series import count_cycles, damage
from fem.study.tracks import Track, table_names

AT_REST = 1e-6
"""Displacement over the extent of a model that is none."""
SAME = 1e-6
"""Of an increment: instants that differ by less are one."""


def printed_names(model: Model) -> frozenset[str]:
    """Displacements, velocities and reactions of nodes, tensions of elements, that some step prints; energies."""
    shown = {f"{quantity}{axis}" for quantity in ("U", "V", "RF") for axis in "123"} | {"T"}
    return frozenset(BALANCED) | {name for name in table_names(model) if name.partition("_")[0] in shown}


def scales(values: Floats, names: Sequence[str], mesh: Mesh) -> Floats:
    """(c,) largest magnitude of the quantity, over rows and nodes; of displacements at least ``AT_REST`` of the extent
    of the model; energies: of the largest energy."""
    extent = float(np.ptp(mesh.coordinates, axis=0).max(initial=0.0))
    largest = np.nan_to_num(np.abs(values)).max(axis=0, initial=0.0)
    family = [name.partition("_")[0].rstrip("123") if "_n" in name or "_e" in name else "" for name in names]
    family = ["" if name in ENERGIES else its for name, its in zip(names, family, strict=True)]
    most: dict[str, float] = {"U": AT_REST * extent}
    for its, size in zip(family, largest.tolist(), strict=True):
        most[its] = max(most.get(its, 0.0), size)
    return np.array([most[its] for its in family])


def aligned(track: Track, to: Track) -> Floats:
    """(k, c) values at the rows of another motion; NaN outside.

    Where all these rows are its own they are read, else the differences at common instants follow a cubic between them,
    which is more accurate than values that do; without such instants the values do.
    """
    found = np.full((len(to.time), track.values.shape[1]), np.nan)
    for step in np.unique(to.step).tolist():
        rows, its = np.flatnonzero(to.step == step), np.flatnonzero(track.step == step)
        if not len(its):
            continue
        own, values, wanted = track.time[its], track.values[its], to.time[rows]
        nearest, is_common = common(own, wanted)
        if np.count_nonzero(is_common) >= 4 and not common(wanted, own)[1].all():
            apart = values[is_common] - to.values[rows][nearest[is_common]]
            found[rows] = to.values[rows] + at_times(own[is_common], apart, wanted)
        else:
            found[rows] = at_times(own, values, wanted)
    return found


def common(time: Floats, others: Floats) -> tuple[Ints, Flags]:
    """Of each of some instants (k,): the place of the nearest one among rising others, and whether it is the same."""
    after = np.clip(others.searchsorted(time), 0, len(others) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(others[before] - time) < np.abs(others[after] - time), before, after)
    step = np.where(after > before, others[after] - others[before], 1.0)
    return nearest, np.abs(others[nearest] - time) <= SAME * step


def at_times(time: Floats, values: Floats, wanted: Floats) -> Floats:
    """(w, c) of values (k, c) at rising times (k,): those of the same instant, or a cubic; NaN outside."""
    nearest, is_common = common(wanted, time)
    found = values[nearest].astype(float)
    outside = ~is_common & ((wanted < time[0]) | (wanted > time[-1]))
    between = ~is_common & ~outside
    if between.any() and len(time) >= 4:
        first = np.clip(time.searchsorted(wanted[between]) - 2, 0, len(time) - 4)
        points = time[first[:, None] + np.arange(4)]
        x = wanted[between]
        total = np.zeros((len(x), values.shape[1]))
        for i in range(4):
            others = [j for j in range(4) if j != i]
            weight = np.prod([(x - points[:, j]) / (points[:, i] - points[:, j]) for j in others], axis=0)
            total += weight[:, None] * values[first + i]
        found[between] = total
    elif between.any():
        outside |= between
    found[outside] = np.nan
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Largest (or least) of each number (c,): of the rows and its instant, and of the parabola through three rows."""

    row: Floats
    instant: Floats
    peak: Floats
    peak_instant: Floats


def peaks_of(track: Track, sign: float) -> Peaks:
    """sign: 1 for the largest, -1 for the least; of the rows in which a number is known."""
    known = np.isfinite(track.values)
    found = np.full((4, known.shape[1]), np.nan)
    alike: dict[bytes, list[int]] = {}
    for column, its in enumerate(np.ascontiguousarray(known.T)):
        alike.setdefault(its.tobytes(), []).append(column)
    for columns in alike.values():
        if (rows := known[:, columns[0]]).any():
            found[:, columns] = highest(track.time[rows], sign * track.values[rows][:, columns])
    return Peaks(sign * found[0], found[1], sign * found[2], found[3])


def highest(time: Floats, values: Floats) -> Floats:
    """(4, c) largest of values (k, c) in the rows, its instant; the same of the parabola through three rows there."""
    columns = np.arange(values.shape[1])
    at = np.argmax(values, axis=0)
    row, instant = values[at, columns], time[at]
    if len(time) < 3:
        return np.array([row, instant, row, instant])
    middle = np.clip(at, 1, len(time) - 2)  # of the first and the last row the neighbour: the peak may be between
    before, here, after = (values[middle + i, columns] for i in (-1, 0, 1))
    h1, h2 = time[middle] - time[middle - 1], time[middle + 1] - time[middle]
    there = (h1 > 0.0) & (h2 > 0.0)
    h1, h2 = np.where(there, h1, 1.0), np.where(there, h2, 1.0)
    s1, s2 = (here - before) / h1, (after - here) / h2
    curvature = (s2 - s1) / (h1 + h2)
    slope = (s1 * h2 + s2 * h1) / (h1 + h2)
    there &= curvature < 0.0
    shift = np.where(there, -0.5 * slope / np.where(there, curvature, 1.0), 0.0)
    there &= (shift >= -h1) & (shift <= h2)
    peak, peak_instant = here + 0.5 * slope * shift, time[middle] + shift
    return np.array([row, instant, np.where(there, peak, row), np.where(there, peak_instant, instant)])


def mean_of(time: Floats, values: Floats) -> float:
    """Over time, by the trapezoidal rule."""
    length = np.ptp(time)
    return float(np.trapezoid(values, time) / length) if length > 0.0 else float(values[-1])


def deviation_of(time: Floats, values: Floats) -> float:
    return math.sqrt(mean_of(time, (values - mean_of(time, values)) ** 2))


STATISTICS: dict[str, Callable[[Floats, Floats], float]] = {"mean": mean_of, "std": deviation_of}


def statistic(name: str) -> tuple[str, Callable[[Floats, Floats], float]] | None:
    """The series and the function of times and values that ``mean:T_e1``, ``std:T_e1`` or ``damage:3:T_e1`` names.

    None: it is no such name. CommandError: the slope of a damage is not above zero.
    """
    kind, _, rest = name.partition(":")
    if kind in STATISTICS:
        return rest, STATISTICS[kind]
    if kind != "damage":
        return None
    slope, _, series = rest.partition(":")
    try:
        m = float(slope)
    except ValueError:
        m = math.nan
    if not (0.0 < m < math.inf and series):
        raise CommandError(f"{name!r}: write damage:3:T_e12 for the slope 3 of the S-N curve N = K range^-3, K = 1")
    return series, lambda time, values: damage(count_cycles(values), m, 1.0)
