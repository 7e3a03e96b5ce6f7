"""The force T of the bars of a run: its values, its colours, and when ropes are slack."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize

from fem.arrays import Floats, Ints
from fem.pictures.folder import LEAST_INSTANTS, FieldMesh, Missing, Results, instant_keys
from fem.pictures.motion import REST, Motion, Pick, at_keys, common, field_values, read_motion, within_memory

PULLED = LinearSegmentedColormap.from_list("pulled", ("#b4b4b4", "#56B4E9", "#0072B2", "#06263d"))
PUSHED = LinearSegmentedColormap.from_list("pushed", ("#b4b4b4", "#E69F00", "#D55E00", "#5a2300"))
"""Tension from grey to dark blue, compression from grey to brown: apart also for colour-blind readers."""
BEYOND = 0.5
"""Percent of the values at either end that have the colour of the end of the scale: one spike would hide all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensions:
    """T of q bars at k instants: labels (q,), time (k,), values (k, q); source: what to request to get more."""

    labels: list[int]
    time: Floats
    values: Floats
    source: str = ""


def read_tensions(results: Results) -> Tensions:
    """Of all bars of which T is printed at three instants or more; else of all bars in the fields. Missing: neither."""
    table = results.elements
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    if labels and "T" in table.columns:
        instants = table.instants(labels[0])
        curves = table.curves(["T"], labels, instant_keys(instants)[within_memory(len(labels))(instants[:, 2])])
        keys = common(list(curves.values()))
        rows = np.stack([at_keys(curves[label], keys) for label in labels], axis=1)
        (printed,) = np.nonzero(~np.isnan(rows[:, :, 3]).any(axis=0))
        if len(keys) >= LEAST_INSTANTS and len(printed):
            return Tensions([labels[place] for place in printed], rows[:, 0, 2], rows[:, printed, 3])
    mesh = results.mesh
    bars = np.flatnonzero(mesh.is_bar & (mesh.ends[:, 0] != mesh.ends[:, 1]))
    time, found = field_values(results, within_memory(len(bars) or 1), {"T": ("T", bars)})
    if not len(bars) or len(time) < LEAST_INSTANTS or not found:
        raise Missing("neither elements.csv nor the fields hold T at three instants: request *EL PRINT of T")
    remark = f"the {len(time)} fields in vtu/; *EL PRINT of T gives every increment"
    return Tensions(mesh.element_labels[bars].tolist(), time, found["T"], remark)


def events_of(results: Results) -> Iterable[dict[str, str]]:
    """The rows of ``events.csv``."""
    path = results.folder / "events.csv"
    return csv.DictReader(path.read_text(errors="replace").splitlines()) if path.is_file() else ()


def break_times(results: Results) -> Floats:
    """(q,) total times at which bars break; infinite for those that do not."""
    labels = bars_of(results.mesh)[1]
    broken = {int(row["element"]): float(row["time"]) for row in events_of(results) if row["event"] == "break"}
    return np.array([broken.get(label, np.inf) for label in labels])


def slack_spells(results: Results, first: float, last: float) -> dict[int, list[tuple[float, float]]]:
    """Rope -> begin and end of every time in which it is slack between two times, from ``events.csv``.

    Spells that cannot be told apart in a figure are one. Ropes without events are left out: T says what they are.
    Stops and planes are never slack.
    """
    never = {0, *results.settings.get("stops", [])}
    spells: dict[int, list[tuple[float, float]]] = {}
    since: dict[int, float | None] = {}
    for row in events_of(results):
        if row["event"] not in ("slack", "taut", "impact") or int(row["element"]) in never:
            continue
        rope, time = int(row["element"]), float(row["time"])
        begun = since.get(rope, first)  # slack from the start where the first that happens is a pull
        if row["event"] == "slack":
            since[rope] = time if since.get(rope) is None else begun
            spells.setdefault(rope, [])
        elif begun is not None:
            add_spell(spells.setdefault(rope, []), begun, time, last - first)
            since[rope] = None
    for rope, begun in since.items():
        if begun is not None:
            add_spell(spells[rope], begun, last, last - first)
    return {rope: found for rope, found in sorted(spells.items()) if found}


def slack_bar(found: Tensions, column: int) -> dict[int, list[tuple[float, float]]]:
    """As ``slack_spells``, of an elastic bar: where its T is zero at two instants or more; of bars that never push."""
    slack = REST * float(np.abs(found.values).max())
    if found.values.min() < -slack:
        return {}
    edges = np.flatnonzero(np.diff(np.concatenate([[0], found.values[:, column] <= slack, [0]])))
    spells: list[tuple[float, float]] = []
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        if last > first:
            begin, end = float(found.time[first]), float(found.time[last])
            add_spell(spells, begin, end, float(found.time[-1] - found.time[0]))
    return {found.labels[column]: spells} if spells else {}


def add_spell(spells: list[tuple[float, float]], begin: float, end: float, whole: float) -> None:
    """One more, joined to the one before where the gap is not seen."""
    if spells and begin - spells[-1][1] < 2e-4 * whole:
        begin = spells.pop()[0]
    spells.append((begin, end))


def bars_of(mesh: FieldMesh) -> tuple[Ints, list[int]]:
    """(q, 2) node indices and labels of all bars, as ``whole_motion`` has them; a rope over a pulley is two."""
    ends, elements = mesh.bars
    return ends, mesh.element_labels[elements].tolist()


def whole_motion(results: Results, pick: Pick) -> Motion:
    """All nodes, with T of all bars where it was written."""
    mesh = results.mesh
    bars = bars_of(mesh)[1]
    labels = mesh.node_labels.tolist()
    try:
        return read_motion(results, labels, (), bars or None, pick)
    except Missing:
        return read_motion(results, labels, (), None, pick)


def tension_scale(tension: Floats) -> tuple[ScalarMappable, float]:
    """Colours of T on one linear scale through grey at zero; and the size below which a bar is slack.

    Where every bar is pulled all the time by nearly the same force, the scale begins at the smallest one.
    """
    least, most = float(np.nanmin(tension)), float(np.nanmax(tension))
    slack = REST * max(most, -least)
    low = float(np.nanpercentile(tension, BEYOND, method="lower"))
    high = float(np.nanpercentile(tension, 100.0 - BEYOND, method="higher"))
    if not 0.5 * high < low < 0.999 * high:
        low, high = min(0.0, low) if low < -slack else 0.0, max(0.0, high)
    high = high if high > low else 1.0
    values = np.linspace(low, high, 512)
    share = np.abs(values) / max(high, -low) if low <= 0.0 else (values - low) / (high - low)
    colours = ListedColormap(np.where((values >= 0.0)[:, None], PULLED(share), PUSHED(share)))
    is_cut = least < low - slack, most > high + slack
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    colours.colorbar_extend = extend.get(is_cut, "neither")  # type: ignore[assignment]
    return ScalarMappable(Normalize(low, high), colours), slack


def nearest(time: Floats, wanted: Floats) -> Ints:
    """Places of the times closest to those wanted."""
    return np.asarray(np.searchsorted(0.5 * (time[1:] + time[:-1]), wanted), np.int64)
