"""The numbers of a motion over time as columns of one array; their peaks; frequencies and event times by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Mesh
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL
from fem.runs.history import BALANCED, History
from fem.runs.schedule import printed_in_step, union

NODE_QUANTITIES = NODAL[:4]
ELEMENT_QUANTITIES = ELEMENTAL[:4]
AT_REST = 1e-6
"""Displacement over the extent of a model that is none."""
SAME = 1e-6
"""Of an increment: instants that differ by less are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """k rows, c numbers.

    step (k,), time (k,)  rows;  values (k, c)
    names    ``U1_n2``, ``T_e1``, ``kinetic``
    printed  those that the deck prints
    scale    (c,) largest magnitude, of each quantity, among its nodes or elements
    """

    step: Ints
    time: Floats
    values: Floats
    names: tuple[str, ...]
    printed: frozenset[str]
    scale: Floats


def curves_of(history: History, halves: Ints | None = None, names: tuple[str, ...] = ()) -> Curves:
    """Of all nodes and elements. halves (m, 2): the elements, in a finer model, of each element: their means count;
    names: those of the model, whose nodes are the first of the finer one."""
    mesh = history.mesh
    nodes = mesh.node_labels.tolist()
    elements = mesh.element_labels.tolist()
    values = history.elements[:, :, : len(ELEMENT_QUANTITIES)]
    motion = history.motion[:, : len(NODE_QUANTITIES)]
    if names:
        nodes = nodes[: sum(name.startswith("U1_n") for name in names)]
    if halves is not None:
        values = values[:, halves].mean(axis=2)
    k = len(history)
    of_nodes = motion[:, :, : len(nodes)].transpose(0, 2, 1, 3).reshape(k, 3 * motion.shape[1] * len(nodes))
    every = [
        of_nodes,
        values.reshape(k, values.shape[1] * values.shape[2]),
        history.energy,
        history.energy_error[:, None],
    ]
    printed: set[str] = set()
    if not names:
        columns = [column for quantity in NODE_QUANTITIES for column in quantity.columns]
        of_elements = [quantity.name for quantity in ELEMENT_QUANTITIES]
        names = (
            *(f"{column}_n{label}" for label in nodes for column in columns),
            *(f"{column}_e{label}" for label in elements for column in of_elements),
            *ENERGIES,
        )
        printed = printed_names(history)
    found = np.concatenate(every, axis=1)
    return Curves(history.step, history.time, found, names, frozenset(printed), scales(found, names, mesh))


def printed_names(history: History) -> set[str]:
    """Displacements, velocities and reactions of nodes, tensions of elements, that some step prints; energies."""
    model, mesh = history.model, history.mesh
    steps = range(1, len(model.steps) + 1)
    found = set(BALANCED)
    for kind, labels, wanted in (
        ("NODE", mesh.node_labels, ("U1", "U2", "U3", "RF1", "RF2", "RF3")),
        ("EL", mesh.element_labels, ("T",)),
    ):
        chosen = union([printed_in_step(model, step, f"{kind} PRINT") for step in steps])
        letter = kind[0].lower()
        found |= {f"{column}_{letter}{label}" for label in labels[chosen].tolist() for column in wanted}
    return found


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


def aligned(curves: Curves, to: Curves) -> Floats:
    """(k, c) values at the rows of another motion: at the same instants, or between rows by a cubic; NaN outside."""
    found = np.full((len(to.time), curves.values.shape[1]), np.nan)
    for step in np.unique(to.step).tolist():
        rows, its = np.flatnonzero(to.step == step), np.flatnonzero(curves.step == step)
        if len(its):
            found[rows] = at_times(curves.time[its], curves.values[its], to.time[rows])
    return found


def at_times(time: Floats, values: Floats, wanted: Floats) -> Floats:
    """(w, c) of values (k, c) at rising times (k,)."""
    after = np.clip(time.searchsorted(wanted), 0, len(time) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(time[before] - wanted) < np.abs(time[after] - wanted), before, after)
    step = np.where(after > before, time[after] - time[before], 1.0)
    found = values[nearest].astype(float)
    off = np.abs(time[nearest] - wanted) > SAME * step
    outside = off & ((wanted < time[0]) | (wanted > time[-1]))
    between = off & ~outside
    if between.any() and len(time) >= 4:
        first = np.clip(before[between] - 1, 0, len(time) - 4)
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


def peaks_of(curves: Curves, sign: float) -> Peaks:
    """sign: 1 for the largest, -1 for the least; of the rows in which a number is known."""
    known = np.isfinite(curves.values)
    found = np.full((4, known.shape[1]), np.nan)
    patterns, which = np.unique(known, axis=1, return_inverse=True)
    for number, rows in enumerate(patterns.T):
        if rows.any():
            (columns,) = np.nonzero(which.reshape(-1) == number)
            found[:, columns] = highest(curves.time[rows], sign * curves.values[np.ix_(rows, columns)])
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


def frequencies_of(history: History) -> dict[str, float]:
    """Natural frequencies by their names in sweeps."""
    return {
        f"frequency_{modes.step}_{number}": frequency
        for modes in history.modes
        for number, frequency in zip(modes.number.tolist(), modes.frequency.tolist(), strict=True)
    }


def event_times(history: History) -> dict[str, float]:
    """``1:slack_e5``: the time of the first event of this kind, of an element or a node."""
    counts: dict[str, int] = {}
    found = {}
    for event in history.events:
        if event.event == "cutback":
            continue
        name = f"{event.event}_e{event.element}" if event.element else f"{event.event}_n{event.node}"
        counts[name] = counts.get(name, 0) + 1
        found[f"{counts[name]}:{name}"] = event.time
    return found
