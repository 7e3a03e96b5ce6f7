"""``fem.load``: the history and the harmonic responses of a run, from its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Complexes, Floats, Ints
from fem.errors import CommandError, FemError
from fem.model import ElementBlock, Mesh, Model
from fem.model.mesh import nodes_per_element
from fem.model.quantities import ELEMENTAL, HARMONIC, NODAL, RECORDED, Quantity, recorded_rows
from fem.pictures.folder import KEY, Missing, Results, Table, instant_keys, open_results, read_field, read_list
from fem.pictures.tension import events_of
from fem.results.harmonic import PHASE
from fem.results.history import BALANCED, COUNTS, LEDGER, History
from fem.results.record import Event, Modes, Response
from fem.runner import load as read_model


def load(folder: str | Path, *, output_every: int = 1) -> History:
    """The motion of a run from its folder of results, also of a run that goes on or has failed: what ``fem.run`` gives.

    Rows are all increments in any of the tables. What was not written is NaN: quantities of nodes and elements that are
    neither printed nor in the fields at that time, energies where ``*ENERGY PRINT`` leaves increments out (counts are 0
    there, and a notice says so). The model is that of the deck, where that is still as it was when it ran; else the
    mesh of the fields, and a notice says so. Harmonic responses are what tables say: to round-off, as amplitude and
    phase are written, and NaN of what is not printed.

    output_every  rows of every k-th increment; the first and the last of a step always

    Raises
    ------
    CommandError  the folder holds no results of a run, what is in it is not readable, or it is too much for memory.

    >>> history = fem.run("inputs/sdnl100.inp", output="results/kept")
    >>> again = fem.load("results/kept")
    >>> bool((again.of_node(2) == history.of_node(2)).all())
    True
    """
    if (Path(folder) / "sweep.json").is_file():
        table = Path(folder) / "sweep.csv"
        raise CommandError(f"{folder} holds a sweep, not a run: pandas.read_csv('{table}') reads it")
    if output_every < 1:
        raise CommandError(f"output_every is {output_every}; it has to be 1 or more")
    results = open_results(Path(folder))
    model, notices = model_of(results)
    tables = {name: Table(results.folder / f"{name}.csv") for name in ("increments", "nodes", "elements")}
    keys = thinned(instants_of(tables.values()), output_every)
    k, n, m = len(keys), len(model.mesh.node_labels), len(model.mesh.element_labels)
    is_loaded = model.earlier is not None or any(step.nodal_loads for step in model.steps)
    nodal = NODAL[: recorded_rows(bool(model.seabeds or model.cylinders), is_loaded)]
    elemental = ELEMENTAL[: RECORDED["EL"] + model.mesh.has_pulleys]  # over pulleys T2, too
    if (size := k * (3 * n * len(nodal) + m * len(elemental))) > MOST_NUMBERS:
        fewer = f"load({str(folder)!r}, output_every={-(-size * output_every // MOST_NUMBERS)})"
        raise CommandError(f"{k} rows are {size / 1.25e8:.0f} GB; {fewer} takes fewer")
    motion, elements = np.full((k, len(nodal), n, 3), np.nan), np.full((k, m, len(elemental)), np.nan)
    fill(motion.swapaxes(1, 2), tables["nodes"], keys, model.mesh.node_labels, nodal)
    fill(elements[..., None], tables["elements"], keys, model.mesh.element_labels, elemental)
    fill_from_fields(results, keys[:, 2], (nodal, elemental), motion, elements)
    series, is_known = increments_of(tables["increments"], keys)
    if not is_known.all():
        notices.append(f"{np.count_nonzero(~is_known)} rows are not in increments.csv: no energies, counts of 0")
    return History(
        step=keys[:, 0].astype(np.int64), increment=keys[:, 1].astype(np.int64), time=keys[:, 2], motion=motion,
        elements=elements, model=model, modes=tuple(modes_of(results, n)), events=tuple(events(results)),
        responses=tuple(responses_of(results, model)),
        notices=tuple(dict.fromkeys((*map(str, results.record.get("notices", [])), *notices))), **series,
    )  # fmt: skip


def model_of(results: Results) -> tuple[Model, list[str]]:
    """What ran, and what is to be said of it. CommandError: neither the deck nor a field tells."""
    path, deck = results.deck, results.record["deck"]
    notices = [results.remark] if results.remark else []
    try:
        model = read_model(path, deck.get("parameters"))
        reason = "" if model.digest == deck.get("sha256") else f"{path} has changed since it ran"
    except (FemError, OSError) as error:
        reason = f"the deck cannot be read ({str(error).partition(chr(10))[0]})"
    if not reason:
        return model, notices
    try:
        shown = results.mesh
    except Missing:
        raise CommandError(f"{reason}, and {results.folder} has no fields (vtu/) to take the mesh from") from None
    kinds = np.where(shown.ends[:, 0] == shown.ends[:, 1], "MASS", np.where(shown.is_bar, "T3D2", "SPRINGA"))
    kinds[shown.pulleys >= 0] = "PULLEY"
    blocks = []
    for kind, places in groupby(range(len(kinds)), lambda place: str(kinds[place])):
        chosen = list(places)
        (first, last), between = shown.ends[chosen].T, shown.pulleys[chosen]
        nodes = {1: [first], 2: [first, last], 3: [first, between, last]}[nodes_per_element(kind)]
        blocks.append(ElementBlock(kind, shown.element_labels[chosen], np.stack(nodes, axis=1)))
    mesh = Mesh(shown.node_labels, shown.coordinates, tuple(blocks))
    heading = tuple(map(str, results.settings.get("heading") or ()))
    return Model(mesh, heading, source=str(path)), [*notices, f"{reason}: the model is the mesh of the fields alone"]


def instants_of(tables: Iterable[Table]) -> Floats:
    """(k, 3) step, increment, time of all lines of some tables, in order, each once."""
    parts = [np.unique(block, axis=0) for table in tables for block in table.blocks(KEY if table.columns else ())]
    return np.unique(np.concatenate([np.empty((0, 3)), *parts]), axis=0)


def thinned(keys: Floats, every: int) -> Floats:
    """Rows of every k-th increment, and the first and the last of each step."""
    step, increment = keys[:, 0], keys[:, 1]
    is_last = np.append(np.diff(step) > 0, True)[: len(keys)]
    return np.asarray(keys[(increment % every == 0) | is_last])


def rows_at(lines: Floats, keys: Floats) -> tuple[Ints, Ints]:
    """Which lines (step, increment, ...) stand in rows, and in which."""
    known, wanted = instant_keys(keys), instant_keys(lines)
    rows = np.searchsorted(known, wanted).clip(0, len(known) - 1)
    (chosen,) = np.nonzero(known[rows] == wanted)
    return chosen, rows[chosen]


def fill(array: Floats, table: Table, keys: Floats, labels: Ints, quantities: Sequence[Quantity]) -> None:
    """Into (k, items, quantities, components) goes what a table has; CommandError: an item that the mesh has not."""
    written = [(place, each.columns) for place, each in enumerate(quantities) if each.columns[0] in table.columns]
    names = [name for _, columns in written for name in columns]
    order = np.argsort(labels)
    for block in table.blocks((*KEY[:2], table.columns[3], *names) if names else ()):
        items = order[np.searchsorted(labels, block[:, 2], sorter=order).clip(0, len(labels) - 1)]
        if len(lost := block[labels[items] != block[:, 2], 2]):
            raise CommandError(f"{table.path} has {table.columns[3]} {lost[0]:.0f}, which is not in the model")
        chosen, rows = rows_at(block, keys)
        column = 3
        for place, columns in written:
            array[rows, items[chosen], place] = block[chosen, column : column + len(columns)]
            column += len(columns)


def fill_from_fields(
    results: Results, time: Floats, recorded: Sequence[Sequence[Quantity]], motion: Floats, elements: Floats
) -> None:
    """What no table has, at the times of the fields: of a time that two steps share the end of the first."""
    nodal, elemental = recorded
    named = {each.field: motion[:, place] for place, each in enumerate(nodal)}
    named |= {each.field: elements[:, :, place] for place, each in enumerate(elemental)}
    for instant, path in results.fields:
        (rows,) = np.nonzero(time == instant)
        if not rows.size or not (np.isnan(motion[rows[0]]).any() or np.isnan(elements[rows[0]]).any()):
            continue
        for name, values in read_field(path, named).items():
            array = named[name][rows[0]]
            if array.shape != values.shape:
                raise CommandError(f"{path} has {name} of {len(values)} items, the mesh has {len(array)}")
            np.copyto(array, values, where=np.isnan(array))


def increments_of(table: Table, keys: Floats) -> tuple[dict[str, Any], np.ndarray]:
    """Arrays of ``increments.csv`` by the names a history has for them, and (k,) which rows are in it."""
    names = [name for name in (*LEDGER[1:], *BALANCED, "load_factor") if name in table.columns]
    found = {name: np.full(len(keys), np.nan) for name in (*LEDGER[1:], *BALANCED, "load_factor")}
    is_known = np.zeros(len(keys), bool)
    for block in table.blocks((*KEY[:2], *names) if names else ()):
        chosen, rows = rows_at(block, keys)
        is_known[rows] = True
        for column, name in enumerate(names, start=2):
            found[name][rows] = block[chosen, column]
    energy = np.stack([found.pop(name) for name in BALANCED], axis=1)
    counts = {name: np.nan_to_num(found.pop(name)).astype(np.int64) for name in COUNTS if name in found}
    return {**found, **counts, "energy": energy}, is_known


def events(results: Results) -> Iterable[Event]:
    """The lines of ``events.csv``."""
    for row in events_of(results):
        where = int(row["step"]), int(row["increment"]), float(row["time"]), int(row["element"])
        yield Event(*where, row["event"], float(row["energy_loss"]), int(row.get("node", 0)))


def modes_of(results: Results, nodes: int) -> Iterable[Modes]:
    """Of each ``*FREQUENCY`` step, from ``frequencies.csv`` and the fields of the shapes, NaN without these."""
    table = Table(results.folder / "frequencies.csv")
    names = ("step", "mode", "frequency", "omega", "generalized_mass")
    rows = table.read(names) if table.columns else np.empty((0, 5))
    try:
        increments = results.increments
    except Missing:
        increments = np.zeros((0, 3))
    for step in np.unique(rows[:, 0]).astype(int).tolist():
        mode, frequency, omega, mass = rows[rows[:, 0] == step, 1:].T
        files = [path for _, path in read_list(results.folder / f"{results.name}_modes_step{step}.pvd")]
        shapes = np.full((len(mode), nodes, 3), np.nan)
        for place, path in enumerate(files if len(files) == len(mode) else []):
            shapes[place] = read_field(path, ["mode"])["mode"]
        before = increments[increments[:, 0] < step, 2]
        yield Modes(step, float(before.max(initial=0.0)), mode.astype(np.int64), frequency, omega, mass, shapes)


INSTANT = ("step", "frequency")
MOST_NUMBERS = 400_000_000
"""Three gigabytes."""


def responses_of(results: Results, model: Model) -> Iterator[Response]:
    """One of each line of ``steady.csv``, of all nodes and elements: NaN where nothing was printed.

    CommandError: a table that is none, or has a node or an element that the model has not.
    """
    folder, mesh = results.folder, model.mesh
    table = Table(folder / "steady.csv")
    rows = whole(table, (*INSTANT, "iterations", "residual"))
    if not len(rows):
        return
    known, row_of = np.unique(rows[:, :2], axis=0, return_inverse=True)
    n, m = len(mesh.node_labels), len(mesh.element_labels)
    if (size := 8 * len(known) * (3 * n + m)) > MOST_NUMBERS:
        many = f"{len(known)} harmonic responses of {n} nodes"
        raise CommandError(f"{many} are {size / 1.25e8:.0f} GB; pandas.read_csv reads {table.path}")
    nodal, elemental = NODAL[: len(HARMONIC["NODE"])], ELEMENTAL[: len(HARMONIC["EL"])]
    motion = filled(Table(folder / "steady_nodes.csv"), "node", known, mesh.node_labels, nodal)
    values = filled(Table(folder / "steady_elements.csv"), "element", known, mesh.element_labels, elemental)
    for (step, frequency, iterations, residual), row in zip(rows.tolist(), row_of.ravel().tolist(), strict=True):
        solved = int(step), frequency, int(iterations), residual
        yield Response(*solved, np.arange(n), motion[row], np.arange(m), values[row, :, :, 0].T)


def whole(table: Table, names: Sequence[str]) -> Floats:
    """(lines, names), none left out; no lines where there is no table."""
    return np.concatenate([np.empty((0, len(names))), *table.blocks(names if table.columns else ())])


def index_of(known: Floats) -> dict[tuple[float, ...], int]:
    """Step and frequency -> row."""
    return {tuple(pair): row for row, pair in enumerate(known.tolist())}


def filled(table: Table, item: str, known: Floats, labels: Ints, quantities: Sequence[Quantity]) -> Complexes:
    """(f, quantities, items, components) complex amplitudes at the known steps and frequencies (f, 2)."""
    found = np.full((len(known), len(quantities), len(labels), len(quantities[0].columns)), complex(np.nan, np.nan))
    written = [(place, each.columns) for place, each in enumerate(quantities) if each.columns[0] in table.columns]
    names = [name for _, columns in written for column in columns for name in (column, column + PHASE)]
    lines = whole(table, (*INSTANT, item, *names) if names else ())
    if not lines.size:
        return found
    order = np.argsort(labels)
    items = order[np.searchsorted(labels, lines[:, 2], sorter=order).clip(0, len(labels) - 1)]
    if len(lost := lines[labels[items] != lines[:, 2], 2]):
        raise CommandError(f"{table.path} has {item} {lost[0]:.0f}, which is not in the model")
    row_of, (pairs, which) = index_of(known), np.unique(lines[:, :2], axis=0, return_inverse=True)
    rows = np.array([row_of.get(pair, -1) for pair in map(tuple, pairs.tolist())])[which.ravel()]
    is_known = rows >= 0  # of a run that goes on the tables may be a frequency apart
    amplitude, phase = lines[:, 3::2], np.radians(lines[:, 4::2])
    numbers, column = amplitude * np.exp(1j * phase), 0
    for place, columns in written:
        found[rows[is_known], place, items[is_known]] = numbers[is_known, column : column + len(columns)]
        column += len(columns)
    return found
