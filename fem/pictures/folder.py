"""A folder of results: checked, then open for reading.

The CSV tables of a run, read in blocks: a million lines in seconds, in bounded memory.

numpy reads them, to the last digit. Of drawing all figures of 10,000 links with every 10th of 200 increments printed
that is 29 % (0.5 of 1.7 s with U, 2.6 of 9.1 s with everything printed); a compiled parser of our own took half of
that, which would not be worth its keep.

Reads what ``fem.results.vtk`` writes: the list of fields (.pvd) and one field (.vtu, raw appended binary).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.files.whole import mark_of, on_disk
from fem.model.mesh import legs_of
from fem.model.quantities import ENERGIES
from fem.results.acting import Acting, from_record
from fem.results.frames import says_si, unit_of
from fem.results.run_record import COMPLETED, RUN_RECORD, RUNNING, stem_of

LEAST_INSTANTS = 3
"""A curve needs at least so many points."""


class Missing(Exception):
    """A figure cannot be drawn from these results; the text says why and what to request."""


@dataclass(frozen=True, eq=False)
class Results:
    """The files of one run.

    folder  where they are
    record  ``run.json``
    """

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the deck without its ending."""
        return stem_of(str(self.record["deck"]["file"]))

    @property
    def mark(self) -> str:
        """What pictures of these results bear."""
        return mark_of(str(self.record["deck"]["file"]))

    @property
    def deck(self) -> Path:
        """The file that ran, where it was: it may be gone since, or have changed."""
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
        """The heading says which units there are."""
        return says_si(self.settings.get("heading") or [])

    def unit(self, formula: str) -> str:
        """As ``unit_of``."""
        return unit_of(formula, self.is_si)

    def symbol(self, formula: str) -> str:
        """Of a unit where the heading says which there are, else nothing."""
        return self.unit(formula) if self.is_si else ""

    @property
    def remark(self) -> str:
        """How the run ended, where it is not complete."""
        verdict = str(self.record.get("verdict", RUNNING))
        if verdict == COMPLETED:
            return ""
        ended = "is still going on, or was killed" if verdict == RUNNING else f"ended early ({verdict})"
        return f"the run {ended}; what it has written is drawn"

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
        """Step -> what acts in it, of the steps whose record has it."""
        records = {step: record for step, record in enumerate(self.record.get("acting", []), start=1) if record}
        found = {step: from_record(record, len(self.mesh.node_labels)) for step, record in records.items()}
        if not found:
            raise Missing("run.json does not hold what acts on the model: request *NODE PRINT of A of all nodes")
        return found

    @cached_property
    def nodes(self) -> Table:
        return Table(self.folder / "nodes.csv")

    @cached_property
    def elements(self) -> Table:
        return Table(self.folder / "elements.csv")

    @cached_property
    def fields(self) -> list[tuple[float, Path]]:
        """Times and files of the fields, in order."""
        return read_list(self.folder / f"{self.name}.pvd")

    @cached_property
    def mesh(self) -> FieldMesh:
        """From the first field. Missing: there are none."""
        if not self.fields:
            raise Missing("the mesh is in the fields (vtu/), and there are none: run the deck without --no-vtk")
        return read_mesh(self.fields[0][1])

    @cached_property
    def increments(self) -> Floats:
        """(increments, 11): step, increment, time, iterations, residual_norm, five energies, energy_error."""
        names, table = (*KEY, "iterations", "residual_norm", *ENERGIES), Table(self.folder / "increments.csv")
        if lost := set(names) - set(table.columns):
            raise Missing(f"increments.csv has no {', '.join(sorted(lost))}")
        rows = table.read(names)
        if not len(rows):
            raise Missing("increments.csv has no increments (a frequency step has none)")
        return rows

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
        raise CommandError(f"{folder} holds no results of a run: there is no {RUN_RECORD} in it")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        results = Results(folder, record)
        results.name  # noqa: B018 - a record of another program has none
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(f"{path} cannot be read as the record of a run: {error}") from None
    return results


BLOCK = 1 << 23
"""Bytes read at once."""
MOST_NUMBERS = 16_000_000
"""Larger selections are thinned while they are read: extremes stay, memory is bounded."""
KEY = ("step", "increment", "time")


def parsed(text: bytes, places: Sequence[int]) -> Floats:
    """(lines, places) numbers of whole lines of a table; NaN for an empty cell.

    Raises ValueError for what is no number, and for lines that are too short.
    """

    def read(text: bytes) -> Floats:
        return np.loadtxt(BytesIO(text), delimiter=",", usecols=places, ndmin=2, comments=None, encoding="ascii")

    try:
        return read(text)
    except ValueError:  # an empty cell; most tables have none
        text = text.replace(b",\n", b",nan\n").replace(b",,", b",nan,").replace(b",,", b",nan,")
        return read(text)


class Table:
    """One CSV file; the fourth column of ``nodes.csv`` and ``elements.csv`` is a label.

    A last line without an end (a run that was killed) is left out; a missing or empty file is a table without columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        head = b""
        if path.is_file():
            with path.open("rb") as file:
                head = file.readline()
        self.columns = tuple(head.decode(errors="replace").strip().split(",")) if head.endswith(b"\n") else ()
        self._start = len(head)
        self._instants: dict[int, Floats] = {}

    def blocks(self, names: Sequence[str]) -> Iterator[Floats]:
        """(lines, names) of the whole file, piece by piece."""
        if not self.columns:
            return
        places = [self.columns.index(name) for name in names]
        with self.path.open("rb") as file:
            file.seek(self._start)
            rest = b""
            while piece := file.read(BLOCK):
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
        """Lines below the head."""
        return sum(len(block) for block in self.blocks(self.columns[:1]))

    def instants(self, label: int) -> Floats:
        """(lines, 3) step, increment, time of a label."""
        if label not in self._instants:
            self._instants[label] = self.curves((), (label,))[label]
        return self._instants[label]

    def read(self, names: Sequence[str]) -> Floats:
        """(lines, names) of the whole table."""
        size = share_size(self.lines, len(names))
        parts = [extremes(block, size) for block in self.blocks(names)]
        return np.concatenate([np.empty((0, len(names))), *parts])

    def curves(
        self, names: Sequence[str], labels: Sequence[int], instants: Floats | None = None, is_whole: bool = False
    ) -> dict[int, Floats]:
        """Label -> (lines, 3 + names): step, increment, time, values; at all its lines, or those of some ``instants``
        (rising keys of ``instant_keys``). ``is_whole``: however many, none is left out."""
        width = 3 + len(names)
        is_whole |= instants is not None
        size = 1 if is_whole else share_size(sum(self.lines_of[label] for label in labels), width)
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


def share_size(lines: int, width: int, most: int = MOST_NUMBERS) -> int:
    """Lines per share, so that the extremes of all shares together stay below ``most`` numbers; 1: keep every line."""
    return 1 if lines * width <= most else -(-lines * width // most) * 2 * width


def extremes(rows: Floats, size: int) -> Floats:
    """Of every ``size`` consecutive rows those with the smallest and the largest value of a column; first and last."""
    whole = len(rows) // size if size > 1 else 0
    if whole < 2:
        return rows
    shares = rows[: whole * size].reshape(whole, size, -1)
    base = size * np.arange(whole)[:, None]
    low = np.argmin(np.where(np.isnan(shares), np.inf, shares), axis=1)
    high = np.argmax(np.where(np.isnan(shares), -np.inf, shares), axis=1)
    ends = 0, *range(whole * size, len(rows)), len(rows) - 1
    return np.asarray(rows[np.unique(np.concatenate([ends, (base + low).ravel(), (base + high).ravel()]))])


KINDS = {"Float64": "<f8", "Int64": "<i8", "UInt8": "|u1"}
START = b'<AppendedData encoding="raw">'


@dataclass(frozen=True, slots=True, eq=False)
class FieldMesh:
    """What all fields of a run share.

    node_labels (n,), coordinates (n, 3) reference position X
    element_labels (m,), ends (m, 2) node indices (twice the same for an element with one node)
    pulleys (m,) the node between them, -1: none
    is_bar (m,) an element with a cross-section
    length (m,) natural length, NaN where it is the distance of both nodes
    """

    node_labels: Ints
    coordinates: Floats
    element_labels: Ints
    ends: Ints
    pulleys: Ints
    is_bar: np.ndarray
    length: Floats

    @property
    def legs(self) -> tuple[Ints, Ints]:
        """As ``Mesh.legs``."""
        return legs_of(self.ends, self.pulleys)

    @property
    def bars(self) -> tuple[Ints, Ints]:
        """(q, 2) node indices and (q,) elements of the pieces of all bars."""
        legs, elements = self.legs
        chosen = self.is_bar[elements] & (legs[:, 0] != legs[:, 1])
        return legs[chosen], elements[chosen]


def read_list(path: Path) -> list[tuple[float, Path]]:
    """Times and files of a ``.pvd``; none where it is missing."""
    if not path.is_file():
        return []
    try:
        entries = ElementTree.fromstring(path.read_bytes()).iter("DataSet")
        listed = [(float(entry.attrib["timestep"]), path.parent / on_disk(entry.attrib["file"])) for entry in entries]
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise CommandError(f"{path} cannot be read as a list of fields: {error}") from None
    return [(time, file) for time, file in listed if file.is_file()]


def read_field(path: Path, names: Collection[str] | None = None, of: str = "Piece") -> dict[str, np.ndarray]:
    """Arrays of a ``.vtu`` by name, the points' under ``coordinates``; ``names`` None: all of them. ``of`` CellData: of
    elements alone (a set of nodes may have the name of one of elements).

    Vectors are (n, 3), scalars (n,) or (m,). CommandError: not a field of ours.
    """
    content = path.read_bytes()
    head, mark, _ = content.partition(START)
    try:
        root = ElementTree.fromstring(head + b"</VTKFile>" if mark else content)
        if not mark or root.attrib.get("header_type") != "UInt64":
            raise ValueError("no raw appended data with 64-bit sizes")
        start = content.index(b"_", len(head) + len(mark)) + 1
        arrays = {}
        for entry in root.iterfind(f".//{of}//DataArray"):
            name = entry.attrib["Name"] or "coordinates"
            if entry.attrib["format"] == "appended" and (names is None or name in names):
                array = read_array(content, start + int(entry.attrib["offset"]), KINDS[entry.attrib["type"]])
                width = int(entry.attrib.get("NumberOfComponents", 1))
                arrays[name] = array.reshape(-1, width) if width > 1 else array
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise CommandError(f"{path} is not a field written by fem: {error}") from None
    return arrays


def read_array(content: bytes, place: int, kind: str) -> np.ndarray:
    """One block: its length in bytes, then its bytes."""
    size = int.from_bytes(content[place : place + 8], "little")
    if place + 8 + size > len(content):
        raise ValueError("the file ends too early")
    return np.frombuffer(content, kind, size // np.dtype(kind).itemsize, place + 8)


def read_mesh(path: Path) -> FieldMesh:
    """The mesh of a field."""
    field = read_field(path, ("coordinates", "connectivity", "offsets", "node", "element", "radius", "rest_length"))
    try:
        last = field["offsets"] - 1
        first = np.concatenate([[0], field["offsets"]])[:-1]
        ends = np.stack([field["connectivity"][first], field["connectivity"][last]], axis=1)
        between = np.where(last - first == 2, field["connectivity"][last - 1], -1)
        length = field.get("rest_length", np.full(len(ends), np.nan))
        shared = field["node"], field["coordinates"], field["element"]
        return FieldMesh(*shared, ends, between, field["radius"] > 0.0, length)
    except KeyError as error:
        raise CommandError(f"{path} is not a field written by fem: no {error}") from None
