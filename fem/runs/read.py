"""A folder of results, checked and open for reading, and ``fem.load``: the history of a run from its files.

The CSV tables are read in blocks: a million lines in seconds, in bounded memory. numpy reads them, to the last digit.
It takes 29 % of the time of drawing all figures of 10,000 links with every 10th of 200 increments printed (0.5 of 1.7 s
with U, 2.6 of 9.1 s with everything); a compiled parser of our own took half of that, too little to be worth its code.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Complexes, Floats, Ints
from fem.commands.files import mark_of
from fem.deck import read_model
from fem.errors import CommandError, FemError
from fem.model import ElementBlock, Mesh, Model
from fem.model.mesh import nodes_per_element
from fem.model.quantities import (
    ELEMENTAL,
    ENERGIES,
    HARMONIC,
    NODAL,
    Quantity,
    recorded_rows,
    recorded_values,
    says_si,
    twisted_at,
)
from fem.runs.fields import FOLDER, FieldMesh, read_field, read_list, read_mesh
from fem.runs.frames import energy_error_text, exchanged, unit_of
from fem.runs.history import BALANCED, COUNTS, LEDGER, History
from fem.runs.own import from_json, number_in, stem_of
from fem.runs.record import Acting, Event, Factors, Modes, Response, from_record
from fem.runs.run_record import RUN_RECORD, RUNNING, earlier_decks, is_complete
from fem.runs.sweep_files import table_in
from fem.runs.tables import INSTANT, PHASE

LEAST_INSTANTS = 3
"""Smallest number of points of a curve."""


class Missing(Exception):
    """A figure cannot be drawn from these results; the message gives the reason and what to request."""


@dataclass(frozen=True, eq=False)
class Results:
    """The files of one run in a folder; ``record``: its ``run.json``."""

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the deck without its ending."""
        return stem_of(str(self.record["deck"]["file"]))

    @property
    def mark(self) -> str:
        """The mark that pictures of these results contain."""
        return mark_of(str(self.record["deck"]["file"]))

    @property
    def deck(self) -> Path:
        """Path of the deck that was run; the file may have been removed or changed since."""
        return self.folder / str(self.record.get("deck_folder", ".")) / str(self.record["deck"]["file"])

    @property
    def heading(self) -> str:
        lines = self.settings.get("heading") or [self.name]
        return str(lines[0])

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.record.get("settings", {})
        return found

    @cached_property
    def is_si(self) -> bool:
        """Whether the heading states SI units."""
        return says_si(self.settings.get("heading") or [])

    def unit(self, formula: str) -> str:
        return unit_of(formula, self.is_si)

    def symbol(self, formula: str) -> str:
        """Symbol of a unit if the heading says SI, else empty."""
        return self.unit(formula) if self.is_si else ""

    @cached_property
    def clock(self) -> tuple[str, str]:
        """What the column ``time`` counts, and its symbol if the heading says SI: of *STATIC, RIKS arc lengths."""
        arcs = [(step.get("procedure") or {}).get("riks") is not None for step in self.settings.get("steps") or []]
        if any(arcs):
            return "arc length" if all(arcs) else "time, arc length", ""
        return "time", self.symbol("time")

    @property
    def energy_error_text(self) -> str:
        """The largest energy error and its share of the energy exchanged. Missing: the run has no increments."""
        totals = self.record.get("totals") or {}
        if "energy_exchanged" in totals:
            numbers = number_in(totals.get("largest_energy_error")), number_in(totals["energy_exchanged"])
        else:  # a run of an earlier version of the program
            rows = self.increments
            numbers = float(np.fmax.reduce(np.abs(rows[:, 10]))), exchanged(rows[:, 0], rows[:, 5:])
        return energy_error_text(*numbers, self.settings.get("heading") or [])

    @property
    def remark(self) -> str:
        """How the run ended, if it is not complete."""
        verdict = str(self.record.get("verdict", RUNNING))
        if is_complete(verdict):
            return ""
        ended = "is still running, or was killed" if verdict == RUNNING else f"ended early ({verdict})"
        return f"the run {ended}; the results so far are used"

    @cached_property
    def gravity(self) -> Floats | None:
        """Unit direction of the first GRAV load; None without one."""
        for step in self.settings.get("steps", []):
            for load in step.get("gravity", []):
                size = float(np.linalg.norm(load))
                if size > 0.0:
                    return np.asarray(load, float) / size
        return None

    @cached_property
    def acting(self) -> dict[int, Acting]:
        """Step number -> masses, loads and springs of the step, for the steps whose record has them."""
        records = {step: record for step, record in enumerate(self.record.get("acting", []), start=1) if record}
        found = {step: from_record(record, len(self.mesh.node_labels)) for step, record in records.items()}
        if not found:
            raise Missing("run.json does not contain the loads of the model: request *NODE PRINT of A of all nodes")
        return found

    def table(self, name: str) -> CsvTable:
        """The table in ``<name>.csv``."""
        return CsvTable(self.folder / f"{name}.csv")

    @cached_property
    def nodes(self) -> CsvTable:
        return self.table("nodes")

    @cached_property
    def elements(self) -> CsvTable:
        return self.table("elements")

    @cached_property
    def fields(self) -> list[tuple[float, Path]]:
        """Times and files of the fields, in order."""
        return read_list(self.folder / f"{self.name}.pvd")

    @cached_property
    def mesh(self) -> FieldMesh:
        """From the first field. Missing: there are none."""
        if not self.fields:
            has_moved = (self.record.get("totals") or {}).get("increments", 1)
            hint = "run the deck without --no-vtk" if has_moved else "the run has no increments"
            raise Missing(f"the mesh is stored with the fields (vtu/), and there are none: {hint}")
        return read_mesh(self.fields[0][1])

    @cached_property
    def increments(self) -> Floats:
        """(increments, 11): step, increment, time, iterations, residual_norm, five energies, energy_error."""
        names, table = (*KEY, "iterations", "residual_norm", *ENERGIES), self.table("increments")
        if lost := set(names) - set(table.columns):
            raise Missing(f"increments.csv has no {', '.join(sorted(lost))}")
        rows = table.read(names)
        if not len(rows):
            raise Missing("increments.csv has no increments (a frequency step has none)")
        return rows

    @cached_property
    def events(self) -> list[Event]:
        """The lines of ``events.csv``."""
        path, found = self.folder / "events.csv", []
        for row in csv.DictReader(path.read_text(errors="replace").splitlines()) if path.is_file() else ():
            where = int(row["step"]), int(row["increment"]), float(row["time"]), int(row["element"])
            factor = float(row["load_factor"]) if row.get("load_factor") else None
            found.append(Event(*where, row["event"], float(row["energy_loss"]), int(row.get("node", 0)), factor))
        return found

    @cached_property
    def boundaries(self) -> Floats:
        """Total times at which a later step begins."""
        try:
            step, time = self.increments[:, 0], self.increments[:, 2]
        except Missing:
            return np.zeros(0)
        return time[1:][np.diff(step) > 0]


def open_results(folder: Path) -> Results:
    """The results in a folder. CommandError: there are none."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder" if folder.exists() else f"{folder} does not exist")
    path = folder / RUN_RECORD
    if not path.is_file():
        raise CommandError(f"{folder} contains no results of a run: there is no {RUN_RECORD} in it")
    try:
        results = Results(folder, from_json(path.read_bytes()))
        results.name  # noqa: B018 - a record of another program has none
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(f"{path} cannot be read as the record of a run: {error}") from None
    return results


BLOCK = 1 << 23
"""Bytes read at once."""
MOST_NUMBERS = 16_000_000
"""Larger selections are thinned during reading: extremes are kept, memory is bounded."""
KEY = ("step", "increment", "time")


def parsed(text: bytes, places: Sequence[int]) -> Floats:
    """(lines, places) numbers of whole lines of a table; NaN for an empty cell.
    Raises ValueError for text that is no number, and for lines that are too short."""

    def read(text: bytes) -> Floats:
        return np.loadtxt(BytesIO(text), delimiter=",", usecols=places, ndmin=2, comments=None, encoding="ascii")

    try:
        return read(text)
    except ValueError:  # an empty cell; most tables have none
        text = text.replace(b",\n", b",nan\n").replace(b",,", b",nan,").replace(b",,", b",nan,")
        return read(text)


class CsvTable:
    """One CSV file; the fourth column of ``nodes.csv`` and ``elements.csv`` is a label.
    An incomplete last line (of a killed run) is ignored; a missing or empty file is a table without columns.
    Lines that a run in progress appends later are ignored, too, so that reading ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        head, self._end = b"", 0
        if path.is_file():
            with path.open("rb") as file:
                head, self._end = file.readline(), os.fstat(file.fileno()).st_size
        self.columns = tuple(head.decode(errors="replace").strip().split(",")) if head.endswith(b"\n") else ()
        self._start = len(head)
        self._instants: dict[int, Floats] = {}

    def blocks(self, names: Sequence[str]) -> Iterator[Floats]:
        """(lines, names) of the whole file, in blocks."""
        if not self.columns:
            return
        places = [self.columns.index(name) for name in names]
        with self.path.open("rb") as file:
            file.seek(self._start)
            rest = b""
            while piece := file.read(min(BLOCK, self._end - file.tell())):
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                if newline:
                    try:
                        yield parsed(whole + newline, places)
                    except ValueError as error:
                        raise CommandError(f"{self.path} is not a table written by fem: {error}") from None

    @cached_property
    def lines_of(self) -> dict[int, int]:
        """Label -> number of its lines, in the order of the labels."""
        found: dict[int, int] = {}
        for block in self.blocks(self.columns[3:4]):
            labels, counts = np.unique(block[:, 0], return_counts=True)
            for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
                found[int(label)] = found.get(int(label), 0) + count
        return dict(sorted(found.items()))

    @cached_property
    def lines(self) -> int:
        """Number of lines below the header."""
        return sum(len(block) for block in self.blocks(self.columns[:1]))

    def instants(self, label: int) -> Floats:
        """(lines, 3) step, increment, time of a label."""
        if label not in self._instants:
            self._instants[label] = self.curves((), (label,))[label]
        return self._instants[label]

    def whole(self, names: Sequence[str]) -> Floats:
        """(lines, names) of all lines; no lines if there is no table."""
        return np.concatenate([np.empty((0, len(names))), *self.blocks(names)])

    def read(self, names: Sequence[str]) -> Floats:
        """(lines, names) of the whole table, thinned if it is long."""
        size = group_size(self.lines, len(names))
        parts = [extremes(block, size) for block in self.blocks(names)]
        return np.concatenate([np.empty((0, len(names))), *parts])

    def curves(
        self, names: Sequence[str], labels: Sequence[int], instants: Floats | None = None, is_whole: bool = False
    ) -> dict[int, Floats]:
        """Label -> (lines, 3 + names): step, increment, time, values; at all its lines, or those of some ``instants``
        (rising keys of ``instant_keys``). ``is_whole``: without thinning."""
        width = 3 + len(names)
        is_whole |= instants is not None
        size = 1 if is_whole else group_size(sum(self.lines_of[label] for label in labels), width)
        parts: dict[int, list[Floats]] = {label: [] for label in labels}
        for block in self.blocks((*KEY, *names, self.columns[3])):
            keep = np.isin(block[:, -1], labels)
            if instants is not None:
                keep &= np.isin(instant_keys(block), instants)
            rows = block[keep]
            rows = rows[np.argsort(rows[:, -1], kind="stable")]
            found, starts = np.unique(rows[:, -1], return_index=True)
            for label, part in zip(found.tolist(), np.split(rows[:, :-1], starts[1:]), strict=False):
                parts[int(label)].append(extremes(part, size))
        return {label: np.concatenate([np.empty((0, width)), *parts[label]]) for label in labels}


def instant_keys(rows: Floats) -> Floats:
    """One number per line for step and increment (the first two columns): steps share their first and last times."""
    return np.asarray(rows[:, 0] * 2.0**40 + rows[:, 1])


def group_size(lines: int, width: int) -> int:
    """Lines per group, so that the extremes of all groups together stay below ``MOST_NUMBERS``; 1: keep every line."""
    return 1 if lines * width <= MOST_NUMBERS else -(-lines * width // MOST_NUMBERS) * 2 * width


def extremes(rows: Floats, size: int) -> Floats:
    """Of every ``size`` consecutive rows those with the smallest and the largest value of a column; first and last."""
    whole = len(rows) // size if size > 1 else 0
    if whole < 2:
        return rows
    groups = rows[: whole * size].reshape(whole, size, -1)
    base = size * np.arange(whole)[:, None]
    low = np.argmin(np.where(np.isnan(groups), np.inf, groups), axis=1)
    high = np.argmax(np.where(np.isnan(groups), -np.inf, groups), axis=1)
    ends = 0, *range(whole * size, len(rows)), len(rows) - 1
    return np.asarray(rows[np.unique(np.concatenate([ends, (base + low).ravel(), (base + high).ravel()]))])


def load(folder: str | Path, *, output_every: int = 1) -> History:
    """Read the results folder of a run as a ``History``, like that of ``fem.run``.

    The run may still be in progress, or may have failed.
    The rows are all increments in any of the tables. Values that were not written are NaN: quantities that are neither
    printed nor in the fields at that time, and energies of increments that ``*ENERGY PRINT`` omits (counts are 0 there,
    with a notice). The model is that of the deck if the deck is unchanged; otherwise only the mesh of the fields, with
    a notice. Harmonic responses agree with the run to round-off, since amplitude and phase were written; NaN if not
    printed.

    folder        results folder of a run
    output_every  read every k-th increment, and the first and last of each step

    Raises
    ------
    CommandError  the folder holds no results of a run, its files are unreadable, or they do not fit into memory.

    >>> history = fem.run("inputs/sdnl100.inp", output="results/kept")
    >>> again = fem.load("results/kept")
    >>> bool((again.of_node(2) == history.of_node(2)).all())
    True
    """
    if (Path(folder) / "sweep.json").is_file():
        table = table_in(Path(folder))
        how = {".csv": "pandas.read_csv", ".npy": "numpy.load", ".parquet": "pandas.read_parquet"}[table.suffix]
        raise CommandError(f"{folder} contains a sweep, not a run: {how}('{table}') reads it")
    if output_every < 1:
        raise CommandError(f"output_every is {output_every}; expected 1 or more")
    results = open_results(Path(folder))
    model, notices = model_of(results)
    tables = {name: results.table(name) for name in ("increments", "nodes", "elements")}
    keys = thinned(instants_of(tables.values()), output_every)
    k, n, m = len(keys), len(model.mesh.node_labels), len(model.mesh.element_labels)
    is_loaded = model.earlier is not None or any(step.nodal_loads for step in model.steps)
    touches, twists = bool(model.seabeds or model.cylinders), bool(len(twisted_at(model)))
    nodal = NODAL[: recorded_rows(touches, is_loaded, bool(model.equations), twists)]
    elemental = ELEMENTAL[: recorded_values(model)]
    if (size := k * (3 * n * len(nodal) + m * len(elemental))) > MOST_LOADED:
        fewer = f"load({str(folder)!r}, output_every={-(-size * output_every // MOST_LOADED)})"
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
        elements=elements, model=model, modes=tuple(modes_of(results, n)), buckling=tuple(factors_of(results, n)),
        events=tuple(results.events),
        responses=tuple(responses_of(results, model)), sea_from=results.record.get("sea_from", math.inf),
        notices=tuple(dict.fromkeys((*map(str, results.record.get("notices", [])), *notices))), **series,
    )  # fmt: skip


def model_of(results: Results) -> tuple[Model, list[str]]:
    """The model that was run, and notices about it. CommandError: neither the deck nor a field is readable."""
    path, deck = results.deck, results.record["deck"]
    notices = [results.remark] if results.remark else []
    try:
        before = (results.record.get("earlier") or {}).get("folder")
        model = read_model(path, deck.get("parameters"), earlier_decks(before and results.folder / before))
        reason = "" if model.digest == deck.get("sha256") else f"{path} has changed since the run"
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


def instants_of(tables: Iterable[CsvTable]) -> Floats:
    """(k, 3) step, increment, time of all lines of the tables, in order, without duplicates."""
    parts = [np.unique(block, axis=0) for table in tables for block in table.blocks(KEY)]
    return np.unique(np.concatenate([np.empty((0, 3)), *parts]), axis=0)


def thinned(keys: Floats, every: int) -> Floats:
    """Rows of every k-th increment, and the first and the last of each step."""
    step, increment = keys[:, 0], keys[:, 1]
    is_last = np.append(np.diff(step) > 0, True)[: len(keys)]
    return np.asarray(keys[(increment % every == 0) | is_last])


def rows_at(lines: Floats, keys: Floats) -> tuple[Ints, Ints]:
    """Lines (step, increment, ...) that belong to rows of ``keys``, and the index of the row of each."""
    known, wanted = instant_keys(keys), instant_keys(lines)
    rows = np.searchsorted(known, wanted).clip(0, len(known) - 1)
    (chosen,) = np.nonzero(known[rows] == wanted)
    return chosen, rows[chosen]


def places_in(table: CsvTable, item: str, given: Floats, labels: Ints) -> Ints:
    """(k,) indices in the model of the labels (k,) in a table. CommandError: the model has not all of them."""
    order = np.argsort(labels)
    places = order[np.searchsorted(labels, given, sorter=order).clip(0, len(labels) - 1)]
    if len(lost := given[labels[places] != given]):
        raise CommandError(f"{table.path} has {item} {lost[0]:.0f}, which is not in the model")
    return np.asarray(places)


def fill(array: Floats, table: CsvTable, keys: Floats, labels: Ints, quantities: Sequence[Quantity]) -> None:
    """Writes the values of a table into (k, items, quantities, components); CommandError: unknown item."""
    written = [(place, each.columns) for place, each in enumerate(quantities) if each.columns[0] in table.columns]
    names = [name for _, columns in written for name in columns]
    for block in table.blocks((*KEY[:2], table.columns[3], *names) if names else ()):
        items = places_in(table, table.columns[3], block[:, 2], labels)
        chosen, rows = rows_at(block, keys)
        column = 3
        for place, columns in written:
            array[rows, items[chosen], place] = block[chosen, column : column + len(columns)]
            column += len(columns)


def fill_from_fields(
    results: Results, time: Floats, recorded: Sequence[Sequence[Quantity]], motion: Floats, elements: Floats
) -> None:
    """Fills values missing in the tables from the fields; if two steps share a time, into the end of the first."""
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


def increments_of(table: CsvTable, keys: Floats) -> tuple[dict[str, Any], np.ndarray]:
    """Arrays of ``increments.csv`` under the names of ``History``, and (k,) whether a row is in the table."""
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


def factors_of(results: Results, nodes: int) -> Iterable[Factors]:
    """Factors of each ``*BUCKLE`` step, from ``buckling.csv`` and the fields of the shapes, NaN without these."""
    rows = results.table("buckling").read(("step", "mode", "factor", "residual"))
    for step in np.unique(rows[:, 0]).astype(int).tolist():
        mode, factor, residual = rows[rows[:, 0] == step, 1:].T
        shapes = np.full((len(mode), nodes, 3), np.nan)
        for place, number in enumerate(mode.astype(int).tolist()):
            path = results.folder / FOLDER / f"{results.name}_modes_step{step}_{number:03d}.vtu"
            if path.is_file():
                shapes[place] = read_field(path, ["mode"])["mode"]
        yield Factors(step, math.nan, mode.astype(np.int64), factor, residual, shapes)


def modes_of(results: Results, nodes: int) -> Iterable[Modes]:
    """Modes of each ``*FREQUENCY`` step, from ``frequencies.csv`` and the fields of the shapes, NaN without these."""
    rows = results.table("frequencies").read(("step", "mode", "frequency", "omega", "generalized_mass"))
    try:
        increments = results.increments if len(rows) else rows
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


MOST_LOADED = 400_000_000
"""Largest number of values that are loaded: three gigabytes."""


def responses_of(results: Results, model: Model) -> Iterator[Response]:
    """One response for each line of ``steady.csv``, for all nodes and elements: NaN where nothing was printed.
    CommandError: a damaged table, or one with nodes or elements that are not in the model."""
    mesh, table = model.mesh, results.table("steady")
    rows = table.whole((*INSTANT, "iterations", "residual"))
    if not len(rows):
        return
    known, row_of = np.unique(rows[:, :2], axis=0, return_inverse=True)
    n, m = len(mesh.node_labels), len(mesh.element_labels)
    if (size := 8 * len(known) * (3 * n + m)) > MOST_LOADED:
        many = f"{len(known)} harmonic responses of {n} nodes"
        raise CommandError(f"{many} are {size / 1.25e8:.0f} GB; pandas.read_csv reads {table.path}")
    nodal, elemental = NODAL[: len(HARMONIC["NODE"])], ELEMENTAL[: len(HARMONIC["EL"])]
    motion = filled(results.table("steady_nodes"), "node", known, mesh.node_labels, nodal)
    values = filled(results.table("steady_elements"), "element", known, mesh.element_labels, elemental)
    for (step, frequency, iterations, residual), row in zip(rows.tolist(), row_of.ravel().tolist(), strict=True):
        solved = int(step), frequency, int(iterations), residual
        yield Response(*solved, np.arange(n), motion[row], np.arange(m), values[row, :, :, 0].T)


def filled(table: CsvTable, item: str, known: Floats, labels: Ints, quantities: Sequence[Quantity]) -> Complexes:
    """(f, quantities, items, components) complex amplitudes at the known steps and frequencies (f, 2)."""
    found = np.full((len(known), len(quantities), len(labels), len(quantities[0].columns)), complex(np.nan, np.nan))
    written = [(place, each.columns) for place, each in enumerate(quantities) if each.columns[0] in table.columns]
    names = [name for _, columns in written for column in columns for name in (column, column + PHASE)]
    lines = table.whole((*INSTANT, item, *names) if names else ())
    if not lines.size:
        return found
    items = places_in(table, item, lines[:, 2], labels)
    row_of = {tuple(pair): row for row, pair in enumerate(known.tolist())}
    pairs, which = np.unique(lines[:, :2], axis=0, return_inverse=True)
    rows = np.array([row_of.get(pair, -1) for pair in map(tuple, pairs.tolist())])[which.ravel()]
    is_known = rows >= 0  # tables of a run in progress may differ by a frequency
    amplitude, phase = lines[:, 3::2], np.radians(lines[:, 4::2])
    numbers, column = amplitude * np.exp(1j * phase), 0
    for place, columns in written:
        found[rows[is_known], place, items[is_known]] = numbers[is_known, column : column + len(columns)]
        column += len(columns)
    return found
