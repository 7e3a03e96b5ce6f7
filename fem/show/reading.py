"""Motion of chosen nodes and forces T of bars, from the tables if they contain it, else from the fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, Normalize

from fem.arrays import Flags, Floats, Ints
from fem.errors import CommandError, unknown
from fem.model.named import WORDS
from fem.model.quantities import NODAL
from fem.runs.fields import FieldMesh, read_field
from fem.runs.read import LEAST_INSTANTS, MOST_NUMBERS, CsvTable, Missing, Results, instant_keys
from fem.runs.tables import chains_of

NODES = {quantity.name: quantity for quantity in NODAL}
Pick: TypeAlias = Callable[[Floats], Ints]
"""Times (k,) -> indices of those to use."""
SAMPLES = 40
"""Number of fields that are read to find moving and supported nodes."""
REST = 1e-9
"""Values below this fraction of the largest count as zero."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedMotion:
    """k instants of p nodes and q elements.

    nodes: their labels; time (k,); values: U, V, A, RF -> (k, p, 3), those that were written; tension (k, q) or None
    source  empty for the tables; for the fields what to request to get more
    keys    (k,) of the tables' instants (``instant_keys``), None for the fields
    """

    nodes: list[int]
    time: Floats
    values: dict[str, Floats]
    tension: Floats | None
    source: str
    keys: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """What some fields of a run show, n nodes, m elements.

    moved    (n, 3)  components of nodes that leave their first place
    reaction (n, 3)  largest magnitudes of RF, zeros without it
    low, high (3,)   box around all positions
    """

    moved: Flags
    reaction: Floats
    low: Floats
    high: Floats

    @property
    def at_rest(self) -> Flags:
        """(n,) nodes with the same position in all fields."""
        return np.asarray(~self.moved.any(axis=1))


@lru_cache(maxsize=1)
def overview(results: Results) -> Overview:
    """Look at up to ``SAMPLES`` fields. Missing: there are none."""
    mesh = results.mesh
    chosen = np.unique(np.linspace(0, len(results.fields) - 1, SAMPLES).round().astype(int))
    moved = np.zeros(mesh.coordinates.shape, bool)
    reaction = np.zeros(mesh.coordinates.shape)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in chosen:
        field = read_field(results.fields[k][1], ("displacement", "reaction"))
        u = field.get("displacement", np.zeros_like(mesh.coordinates))
        moved |= u != 0.0
        if "reaction" in field:
            reaction = np.maximum(reaction, np.abs(field["reaction"]))
        low = np.minimum(low, (mesh.coordinates + u).min(axis=0))
        high = np.maximum(high, (mesh.coordinates + u).max(axis=0))
    return Overview(moved, reaction, low, high)


def plane_of(results: Results) -> tuple[int, ...]:
    """Axes of the coordinate plane that contains the motion; all three if there is none.
    A motion along one axis is shown with the vertical."""
    look = overview(results)
    return plane_within(look.low, look.high, results.gravity)


def plane_within(low: Floats, high: Floats, gravity: Floats | None) -> tuple[int, ...]:
    """As ``plane_of``, for a box (3,); ``gravity`` (3,) is its direction, or None."""
    extent = high - low
    flat = extent <= REST * extent.max()
    down = -1 if gravity is None else int(np.argmax(np.abs(gravity)))
    for axis in (1, 2, 0):
        if flat[axis] and (axis != down or flat.sum() == 1):
            return tuple(j for j in range(3) if j != axis)
    return (0, 1, 2)


def places_of(labels: Sequence[int] | Ints, known: Ints) -> Ints:
    """Indices of labels among all known ones."""
    order = np.argsort(known)
    return order[np.searchsorted(known[order], labels)]


def nodes_at(results: Results, labels: Sequence[int]) -> Ints:
    return places_of(labels, results.mesh.node_labels)


def labels_of(results: Results, kind: str) -> Ints:
    """Of all elements (``e``) or nodes. Missing: there are no fields."""
    return results.mesh.element_labels if kind == "e" else results.mesh.node_labels


@lru_cache(maxsize=4)
def sets_of(results: Results, kind: str) -> dict[str, Flags]:
    """Name -> (m,) elements (``e``) or (n,) nodes of it, of the sets in the first field, which is there."""
    arrays = read_field(results.fields[0][1], of="CellData" if kind == "e" else "PointData").items()
    return {name.removeprefix("SET "): array > 0 for name, array in arrays if array.dtype == np.uint8}


def members_of(results: Results, name: str, kind: str = "e") -> Flags:
    """(m,) elements or (n,) nodes of a set. Missing: there are no fields; CommandError: no such set is in them."""
    count, sets = len(labels_of(results, kind)), sets_of(results, kind)
    if name not in sets:
        told = unknown(f"{WORDS[kind]} set", name, sets).args[0]
        raise CommandError(f"{told} (of {count} {WORDS[kind]}s)")
    return sets[name]


def read_motion(
    results: Results,
    nodes: Sequence[int],
    variables: Sequence[str],
    elements: Sequence[int] | None = None,
    pick: Pick | None = None,
    required: Sequence[str] = (),
) -> RecordedMotion:
    """U and the ``variables`` that were written, of node labels, with T of element labels.
    The source, tables or fields, is the one with more variables, then with more instants; if both have all that is
    ``required``, the one with more instants. ``pick`` selects times; by default all, or a number that bounds the
    memory, evenly spread. Missing: neither has three instants of U (and T, and the required variables)."""
    wanted = tuple(dict.fromkeys(("U", *variables)))
    found = [
        source(results, nodes, wanted, elements, pick or within_memory(len(nodes)))
        for source in (from_tables, from_fields)
    ]
    usable = [motion for motion in found if motion is not None and len(motion.time) >= LEAST_INSTANTS]
    usable = [motion for motion in usable if set(required) <= set(motion.values)]
    if not usable:
        wanted = tuple(dict.fromkeys(("U", *(required or variables))))
        request = f"*NODE PRINT of {', '.join(wanted)} of both ends of every bar" if len(nodes) > 1 else "*NODE PRINT"
        request += "" if elements is None else " and *EL PRINT of T"
        raise Missing(f"neither the tables nor the fields contain the motion: request {request}, or run with fields")
    if required:
        return max(usable, key=lambda motion: len(motion.time))
    return max(usable, key=lambda motion: (len(motion.values), len(motion.time)))


def within_memory(nodes: int) -> Pick:
    """All instants, or evenly spread ones."""

    def pick(time: Floats) -> Ints:
        most = min(len(time), max(MOST_NUMBERS // (15 * nodes), 1000))
        return np.linspace(0, len(time) - 1, most).round().astype(np.int64)

    return pick


def from_tables(
    results: Results, nodes: Sequence[int], wanted: Sequence[str], elements: Sequence[int] | None, pick: Pick
) -> RecordedMotion | None:
    """Motion of nodes that are all printed (or never move); None if they are not."""
    table = results.nodes
    printed = [label for label in nodes if label in table.lines_of]
    still = set(nodes) - set(printed)
    if not printed or (still and not (results.fields and overview(results).at_rest[nodes_at(results, [*still])].all())):
        return None
    written = [name for name in wanted if NODES[name].columns[0] in table.columns and not (name == "RF" and still)]
    instants = table.instants(printed[0])
    keys = instant_keys(instants)[pick(instants[:, 2])]
    curves = table.curves([column for name in written for column in NODES[name].columns], printed, keys)
    keys = common([curves[label] for label in printed])
    tension = None
    if elements is not None:
        if "T" not in results.elements.columns or set(elements) - set(results.elements.lines_of):
            return None
        forces = results.elements.curves(["T"], elements, keys)
        keys = np.intersect1d(keys, common(list(forces.values())))
        tension = at_keys(forces, elements, keys, 3)[:, :, 0]
        if np.isnan(tension).all():
            return None
    if len(keys) == 0:
        return None
    rows = at_keys(curves, printed, keys)
    values = np.zeros((len(rows), len(nodes), 3 * len(written)))
    values[:, np.isin(nodes, printed)] = rows[:, :, 3:]
    split = dict(zip(written, np.split(values, len(written), axis=2), strict=True))
    kept = {name: part for name, part in split.items() if not np.isnan(part).any()}
    return RecordedMotion(list(nodes), rows[:, 0, 2], kept, tension, "", keys) if "U" in kept else None


def common(curves: Sequence[Floats]) -> Floats:
    """Instants of all curves, as keys."""
    keys = np.unique(instant_keys(curves[0]))
    for curve in curves[1:]:
        keys = np.intersect1d(keys, instant_keys(curve))
    return keys


def at_keys(curves: Mapping[int, Floats], labels: Sequence[int], keys: Floats, since: int = 0) -> Floats:
    """(k, p, columns) rows of the curves of labels at given instants, from a column on; the first where one was printed
    twice."""
    found = []
    for curve in map(curves.__getitem__, labels):
        own, first = np.unique(instant_keys(curve), return_index=True)
        found.append(curve[first[np.searchsorted(own, keys)], since:])
    return np.stack(found, axis=1)


def table_values(table: CsvTable, names: Sequence[str], labels: Sequence[int], keys: Floats | None) -> Floats | None:
    """(k, p, names) values of labels at the instants ``keys``; None if the table lacks some, or does not exist."""
    if keys is None or not labels or set(names) - set(table.columns) or set(labels) - set(table.lines_of):
        return None
    curves = table.curves(names, labels, keys)
    if len(common(list(curves.values()))) < len(keys):
        return None
    return at_keys(curves, labels, keys, 3)


def from_fields(
    results: Results, nodes: Sequence[int], wanted: Sequence[str], elements: Sequence[int] | None, pick: Pick
) -> RecordedMotion | None:
    """Motion at the times of the fields; variables that a field lacks are omitted."""
    if not results.fields:
        return None
    places = nodes_at(results, nodes)
    cells = places_of(elements or [], results.mesh.element_labels)
    source = {name: (NODES[name].field, places) for name in wanted} | {"T": ("T", cells)}
    time, found = field_values(results, pick, source)
    tension = found.pop("T", None)
    if "U" not in found or (elements is not None and tension is None):
        return None
    remark = f"the {len(time)} fields in vtu/; *NODE PRINT of these nodes gives every increment"
    return RecordedMotion(list(nodes), time, found, None if elements is None else tension, remark)


def field_values(
    results: Results, pick: Pick, source: Mapping[str, tuple[str, Ints | Flags]]
) -> tuple[Floats, dict[str, Floats]]:
    """Times (k,) of some fields, and name -> (k, ...) rows of an array in them; without what one of them lacks."""
    times = np.array([time for time, _ in results.fields])
    chosen = pick(times)
    parts: dict[str, list[Any]] = {name: [] for name in source}
    for place in chosen.tolist():
        field = read_field(results.fields[place][1], [array for array, _ in source.values()])
        for name, (array, rows) in source.items():
            if array in field:
                parts[name].append(field[array][rows])
    return times[chosen], {name: np.stack(part) for name, part in parts.items() if 0 < len(part) == len(chosen)}


def neighbours(mesh: FieldMesh, elements: Ints) -> dict[int, list[tuple[int, int]]]:
    """Node -> the elements that end there, each with the node at its other end."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for element, (i, j) in zip(elements.tolist(), mesh.ends[elements].tolist(), strict=True):
        beside.setdefault(i, []).append((element, j))
        beside.setdefault(j, []).append((element, i))
    return beside


def chain_of(results: Results, members: Flags | None = None) -> tuple[list[int], list[int]]:
    """Node labels (p + 1) and element labels (p) along a chain of bars, from its supported end; a rope over a pulley
    counts twice.

    members  (m,) which elements it is made of; None: all
    Missing: the bars are a net, a tree, a ring or several chains.
    """
    mesh = results.mesh
    ends, elements = mesh.bars
    bars = np.arange(len(ends)) if members is None else np.flatnonzero(members[elements])
    chains = list(chains_of(ends, bars))
    if len(chains) != 1 or len(chains[0][1]) < len(bars):
        raise Missing("the bars do not form one chain")
    (nodes, links), look = chains[0], overview(results)
    # The supported end is first; if both or neither are, the one with the smaller label.
    rank = [(not look.at_rest[node], not look.reaction[node].any(), mesh.node_labels[node]) for node in nodes[[0, -1]]]
    way = 1 if rank[0] < rank[1] else -1
    return mesh.node_labels[nodes[::way]].tolist(), mesh.element_labels[elements[links[::way]]].tolist()


NOTE = "displacements are magnified {:g} times"


def magnified_title(title: str, scale: float) -> str:
    """A title with remarks that readers need: the factor of displacements, and that axes are not stretched."""
    return f"{title} (equal scales{f', displacements x {scale:g}' if scale != 1.0 else ''})"


PULLED = LinearSegmentedColormap.from_list("pulled", ("#b4b4b4", "#56B4E9", "#0072B2", "#06263d"))
PUSHED = LinearSegmentedColormap.from_list("pushed", ("#b4b4b4", "#E69F00", "#D55E00", "#5a2300"))
"""Tension from grey to dark blue, compression from grey to brown: apart also for colour-blind readers."""
BEYOND = 0.5
"""Percent of the values at either end beyond the colour scale, so that one spike does not hide all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensions:
    """T of q bars at k instants: labels (q,), time (k,), values (k, q); source: what to request to get more."""

    labels: list[int]
    time: Floats
    values: Floats
    source: str = ""


def read_tensions(results: Results) -> Tensions:
    """Tensions of all bars with T printed at three or more instants; else of all in the fields. Missing: neither."""
    with suppress(Missing):
        return read_printed(results.elements, "T", "*EL PRINT")
    mesh = results.mesh
    bars = np.flatnonzero(mesh.is_bar & (mesh.ends[:, 0] != mesh.ends[:, 1]))
    time, found = field_values(results, within_memory(len(bars) or 1), {"T": ("T", bars)})
    if not len(bars) or len(time) < LEAST_INSTANTS or not found:
        raise Missing("neither elements.csv nor the fields contain T at three instants: request *EL PRINT of T")
    remark = f"the {len(time)} fields in vtu/; *EL PRINT of T gives every increment"
    return Tensions(mesh.element_labels[bars].tolist(), time, found["T"], remark)


def read_printed(table: CsvTable, column: str, request: str) -> Tensions:
    """A column at three instants or more, of all labels that have it at all of them. Missing: there is none."""
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    if labels and column in table.columns:
        instants = table.instants(labels[0])
        curves = table.curves([column], labels, instant_keys(instants)[within_memory(len(labels))(instants[:, 2])])
        keys = common(list(curves.values()))
        rows = at_keys(curves, labels, keys)
        (printed,) = np.nonzero(~np.isnan(rows[:, :, 3]).any(axis=0))
        if len(keys) >= LEAST_INSTANTS and len(printed):
            return Tensions([labels[place] for place in printed], rows[:, 0, 2], rows[:, printed, 3])
    raise Missing(f"{table.path.name} contains no {column} at three instants: request {request} of {column}")


class Extreme(NamedTuple):
    """A value, the label of its node or element, its time, and its error bar, NaN where it has none."""

    value: float
    label: str
    time: float
    error: float = math.nan


ERROR = "_err"
"""Suffix of columns of error bars (``fem run --error-bars``)."""


def extremes_of(
    table: CsvTable, columns: Sequence[str], labels: Sequence[int] | Ints | None = None
) -> dict[tuple[str, str], Extreme]:
    """(column, ``least`` or ``greatest``) -> of all labels, or of these; without columns that are NaN throughout."""
    found: dict[tuple[str, str], Extreme] = {}
    bars = [column + ERROR for column in columns if column + ERROR in table.columns]
    bar_of = {name.removesuffix(ERROR): place for place, name in enumerate(bars, start=2 + len(columns))}
    for block in table.blocks((*table.columns[2:4], *columns, *bars)) if columns else ():
        rows = block if labels is None else block[np.isin(block[:, 1], labels)]
        for place, column in enumerate(columns, start=2):
            values = rows[:, place]
            if np.isnan(values).all():
                continue
            for which, row in (("least", int(np.nanargmin(values))), ("greatest", int(np.nanargmax(values)))):
                best = found.get((column, which))
                if best is None or (values[row] - best[0]) * (1.0 if which == "greatest" else -1.0) > 0.0:
                    error = float(rows[row, bar_of[column]]) if column in bar_of else math.nan
                    found[column, which] = Extreme(
                        values[row].item(), f"{rows[row, 1]:.0f}", rows[row, 0].item(), error
                    )
    return found


def extremes_in_fields(results: Results, labels: Ints | None = None) -> dict[tuple[str, str], Extreme]:
    """As ``extremes_of``, of the T in the fields; empty without."""
    try:
        found = read_tensions(results)
    except Missing:
        return {}
    chosen = np.arange(len(found.labels)) if labels is None else np.flatnonzero(np.isin(found.labels, labels))
    values, ends = found.values[:, chosen], dict[tuple[str, str], Extreme]()
    for which, flat in (("least", values.argmin()), ("greatest", values.argmax())) if len(chosen) else ():
        row, at = divmod(int(flat), len(chosen))
        ends["T", which] = Extreme(float(values[row, at]), str(found.labels[chosen[at]]), float(found.time[row]))
    return ends


def break_times(results: Results) -> Floats:
    """(q,) total times at which bars break; infinite for those that do not."""
    labels = bars_of(results.mesh)[1]
    broken = {event.element: event.time for event in results.events if event.event == "break"}
    return np.array([broken.get(label, np.inf) for label in labels])


def slack_spells(results: Results, first: float, last: float) -> dict[int, list[tuple[float, float]]]:
    """Rope -> begin and end of each time in which it is slack between two times, from ``events.csv``. Times too
    close to be distinguished in a figure are joined. Ropes without events are omitted: T shows their state. Stops
    and planes are never slack."""
    never = {0, *results.settings.get("stops", [])}
    spells: dict[int, list[tuple[float, float]]] = {}
    since: dict[int, float | None] = {}
    for event in results.events:
        if event.event not in ("slack", "taut", "impact") or event.element in never:
            continue
        rope, time = event.element, event.time
        begun = since.get(rope, first)  # slack from the start if the first event is a pull
        if event.event == "slack":
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
    """Adds a time in which it is slack, joined to the one before if the gap is invisible."""
    if spells and begin - spells[-1][1] < 2e-4 * whole:
        begin = spells.pop()[0]
    spells.append((begin, end))


def bars_of(mesh: FieldMesh) -> tuple[Ints, list[int]]:
    """(q, 2) node indices and labels of all bars, as ``whole_motion`` has them; a rope over a pulley is two."""
    ends, elements = mesh.bars
    return ends, mesh.element_labels[elements].tolist()


def free_ends(results: Results) -> list[int]:
    """Free moving ends of chains of bars, whose paths are drawn in films and pages."""
    look = overview(results)
    count = np.bincount(results.mesh.bars[0].ravel(), minlength=len(look.moved))
    free: list[int] = np.flatnonzero((count == 1) & ~look.at_rest & ~look.reaction.any(axis=1)).tolist()
    return free


def whole_motion(results: Results, pick: Pick) -> RecordedMotion:
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
    If all bars are always in tension with nearly equal forces, the scale begins at the smallest one."""
    least, most = float(np.nanmin(tension)), float(np.nanmax(tension))
    slack = REST * max(most, -least)
    low = float(np.nanpercentile(tension, BEYOND, method="lower"))
    high = float(np.nanpercentile(tension, 100.0 - BEYOND, method="higher"))
    if not 0.5 * high < low < 0.999 * high:
        low, high = min(0.0, low) if low < -slack else 0.0, max(0.0, high)
    high = high if high > low else 1.0
    values = np.linspace(low, high, 512)
    fraction = np.abs(values) / max(high, -low) if low <= 0.0 else (values - low) / (high - low)
    colours = ListedColormap(np.where((values >= 0.0)[:, None], PULLED(fraction), PUSHED(fraction)))
    is_cut = least < low - slack, most > high + slack
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
    colours.colorbar_extend = extend.get(is_cut, "neither")  # type: ignore[assignment]
    return ScalarMappable(Normalize(low, high), colours), slack
