"""Fields for ParaView, written and read: ``<name>.pvd`` with ``vtu/<name>_NNNNN.vtu``, mode shapes in
``<name>_modes_stepK.pvd``.

Points are the *reference* coordinates X: show the deformed shape with "Warp By Vector" and ``displacement``.
The state at the start of a later step has the time of the end of the step before and is left out, so that every
time has one field; the timesteps of a modes file are the frequencies. FILE requests choose the variables, for all
steps; a field always covers the whole mesh. Sets are arrays of 0 and 1.
Format: VTK XML, raw appended binary, https://docs.vtk.org (VTKFileFormats).
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.commands.files import Room, on_disk, replace_file, sync
from fem.errors import CommandError
from fem.model import BarSection, Dashpot, Mesh, Model, PointMass, Spring, outputs_in_force
from fem.model.facts import given_lengths
from fem.model.mesh import legs_of, shown_sets
from fem.model.quantities import QUANTITIES, Quantity, meant
from fem.runs.record import Factors, Frame, Modes, SilentSink

FOLDER = "vtu"
CELLS = np.array([0, 1, 3, 4], np.uint8)
"""Types of cells by their number of points: VERTEX, LINE, POLY_LINE."""
TYPES = {"u1": ("UInt8", "|u1"), "i": ("Int64", "<i8"), "f": ("Float64", "<f8")}
APART = 1e-9
"""Times of modes with equal frequencies differ by this fraction of the highest frequency."""
PVD_EVERY = 1.0
"""The list of times is rewritten at most once in so many seconds."""
ESCAPED = str.maketrans({sign: f"&#{ord(sign)};" for sign in '"\n\r\t'} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def quoted(text: str) -> str:
    """Escapes an attribute of XML. ``xml.sax.saxutils`` does the same, but imports the HTTP modules at every start."""
    return f'"{text.translate(ESCAPED)}"'


def as_pvd(entries: Sequence[str]) -> bytes:
    """The text of a ``.pvd`` file: the list of fields and times that ParaView opens."""
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n<Collection>\n'
    return (head + "".join(entries) + "</Collection>\n</VTKFile>\n").encode(errors="surrogateescape")


def pvd_entry(time_value: float, file: str) -> str:
    return f'<DataSet timestep="{time_value!r}" group="" part="0" file={quoted(file)}/>\n'


class Appended:
    """Arrays in VTK's appended format, each after its length; ``heads`` adds some and returns their XML.

    The order of the data is the reverse of that in the XML. VTK reads any order; meshio replaces the offsets in the
    XML one by one in the order of the data, at the first match, and reads wrong arrays with any other order."""

    def __init__(self, blobs: Sequence[bytes | memoryview] = (), size: int = 0) -> None:
        self.blobs = list(blobs)
        self.size = size

    def heads(self, arrays: Mapping[str, np.ndarray]) -> str:
        lines = []
        for name, array in reversed([*arrays.items()]):
            kind, code = TYPES["u1" if array.dtype == np.uint8 else array.dtype.kind]
            array = np.ascontiguousarray(array, dtype=code)
            components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
            head = f'<DataArray type="{kind}" Name={quoted(name)}{components} format="appended"'
            lines.append(f'{head} offset="{self.size}"/>\n')
            self.blobs += [array.nbytes.to_bytes(8, "little"), array.data if array.size else b""]
            self.size += 8 + array.nbytes
        return "".join(reversed(lines))


def named_numbers(name: str, words: Sequence[str]) -> str:
    """Names of the numbers 0, 1, ... as field data: an array of numbers whose components have these names. ParaView
    shows the names. meshio reads the numbers; it would refuse a file with an array of strings."""
    names = "".join(f" ComponentName{number}={quoted(word)}" for number, word in enumerate(words))
    head = f'<DataArray type="Int64" Name={quoted(name)} NumberOfComponents="{len(words)}"{names} NumberOfTuples="1"'
    return f'{head} format="ascii">{" ".join(map(str, range(len(words))))}</DataArray>\n' if words else ""


class Skeleton:
    """The constant part of all fields, encoded once; ``field`` adds the rest."""

    def __init__(self, model: Model) -> None:
        mesh = model.mesh
        pairs = [block.connectivity for block in mesh.blocks]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.full(len(p), p.shape[1]) for p in pairs)])
        types = CELLS[sizes]
        nodes = np.concatenate([np.zeros(0, np.int64), *(p.ravel() for p in pairs)])
        names, section, radius = section_of_elements(model)
        self._of_points: dict[str, np.ndarray] = {
            "node": mesh.node_labels,
            **instance_of(mesh, mesh.node_labels),
            **sets_of(mesh.node_sets, len(mesh.node_labels)),
        }
        of_cells: dict[str, np.ndarray] = {
            "element": mesh.element_labels,
            "section": section,
            "radius": radius,
            **instance_of(mesh, mesh.element_labels),
            **({"rest_length": given_lengths(model.mesh, model.rest_lengths)} if model.rest_lengths else {}),
            **sets_of(mesh.element_sets, len(types)),
        }
        self._appended = Appended()
        cells = self._appended.heads({"connectivity": nodes, "offsets": np.cumsum(sizes), "types": types})
        points = self._appended.heads({"": mesh.coordinates})
        self._constant = self._appended.heads(of_cells)
        self._names = named_numbers("section_names", names)
        if mesh.instances:
            self._names += named_numbers("instance_names", [instance.name for instance in mesh.instances])
        self._piece = f'</FieldData>\n<Piece NumberOfPoints="{len(mesh.node_labels)}" NumberOfCells="{len(types)}">\n'
        self._mesh = f"<Points>\n{points}</Points>\n<Cells>\n{cells}</Cells>\n"

    def field(self, time_value: float, points: dict[str, Floats], cells: dict[str, Floats]) -> bytes:
        """The bytes of one .vtu file: vectors (n, 3) at the points, scalars (m,) in the cells."""
        appended = Appended(self._appended.blobs, self._appended.size)
        cell_heads, point_heads = appended.heads(cells), appended.heads({**points, **self._of_points})
        vectors = ' Vectors="displacement"' if "displacement" in points else ""
        head = (
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"'
            ' header_type="UInt64">\n<UnstructuredGrid>\n<FieldData>\n'
            f'<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{time_value!r}'
            f"</DataArray>\n{self._names}{self._piece}"
            f"<PointData{vectors}>\n{point_heads}</PointData>\n"
            f"<CellData>\n{cell_heads}{self._constant}</CellData>\n{self._mesh}"
            '</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
        )
        return b"".join([head.encode(), *appended.blobs, b"\n</AppendedData>\n</VTKFile>\n"])


def instance_of(mesh: Mesh, labels: Ints) -> dict[str, np.ndarray]:
    """The number of the instance (-1: none) and the label in it, where a model has instances."""
    if not mesh.instances:
        return {}
    added = np.array([instance.added for instance in mesh.instances])
    instance = np.searchsorted(added, labels) - 1
    return {"instance": instance, "label": labels - np.where(instance < 0, 0, added[instance])}


def sets_of(sets: Mapping[str, Ints], count: int) -> dict[str, np.ndarray]:
    """Name -> (count,) 1 for members of a set, 0 for others. A set with the name of a quantity becomes ``SET T``."""
    fields = {each.field for table in QUANTITIES.values() for each in table}
    places = np.arange(count)
    shown = shown_sets(sets).items()
    return {f"SET {n}" if n in fields else n: np.isin(places, members).astype(np.uint8) for n, members in shown}


def section_of_elements(model: Model) -> tuple[list[str], np.ndarray, Floats]:
    """Names of the element sets with properties, their number for each element (-1: none), radius sqrt(area / pi)."""
    count = len(model.mesh.element_labels)
    section, radius = np.full(count, -1), np.zeros(count)
    properties: list[BarSection | Spring | Dashpot | PointMass] = [*model.sections]
    properties += [*model.springs, *model.dashpots, *model.masses]
    for number, entry in enumerate(properties):
        section[model.mesh.elements_of(entry.element_set)] = number
    for bar in model.sections:
        radius[model.mesh.elements_of(bar.element_set)] = np.sqrt(bar.area / np.pi)
    return [entry.element_set for entry in properties], section, radius


def field_name(name: str, number: int) -> str:
    """The file of a field, from 0, in the order of time."""
    return f"{FOLDER}/{name}_{number:05d}.vtu"


def field_patterns(name: str) -> tuple[tuple[str, str], ...]:
    """Folder and pattern of the files of all fields, and of all mode shapes."""
    stem = re.escape(name)
    return (FOLDER, rf"{stem}_\d{{5,}}\.vtu"), (FOLDER, rf"{stem}_modes_step\d+_\d{{3,}}\.vtu")


class VtkSink(SilentSink):
    """Writes every frame that is due, and the mode shapes."""

    def __init__(
        self, folder: Path, name: str, model: Model, room: Room | None = None, before: Mapping[str, Any] | None = None
    ) -> None:
        """``before``: the checkpoint from which the fields continue."""
        self._folder, self._name, self._model = folder, name, model
        self._room = room or Room()
        self._skeleton = Skeleton(model)
        self._entries: list[str] = []
        self._variables = field_variables(model)
        self._time, self._at = float("nan"), (0, -1)
        self._unsynced: list[Path] = []
        self._displacement: Floats = np.zeros_like(model.mesh.coordinates)
        self._written = time.monotonic()
        if before:
            kept = before["fields"]
            self._entries, self._displacement = list(kept["entries"]), kept["displacement"]
            self._time, self._at = kept["time"], kept["at"]
        (folder / FOLDER).mkdir(exist_ok=True)

    def frame(self, frame: Frame) -> None:
        nodes, elements, _ = frame.values(self._model).values()
        self._displacement = nodes["U"]
        at = frame.step, frame.increment
        if not frame.for_vtk or at == self._at or (frame.increment == 0 and frame.time == self._time):
            return
        nodal, cellwise = self._variables
        points = {quantity.field: nodes[quantity.name] for quantity in nodal}
        cells = {quantity.field: elements[quantity.name] for quantity in cellwise}
        file = field_name(self._name, len(self._entries))
        self._write(file, self._skeleton.field(float(frame.time), points, cells))
        self._entries.append(pvd_entry(float(frame.time), file))
        self._time, self._at = frame.time, at
        if len(self._entries) == 1 or time.monotonic() - self._written > PVD_EVERY:
            self._write_list()

    def modes(self, modes: Modes) -> None:
        self._write_shapes(modes.step, modes.number, modes.frequency, modes.shapes)

    def factors(self, factors: Factors) -> None:
        order = np.argsort(factors.factor, kind="stable")  # times rise
        each = factors.number[order], factors.factor[order], factors.shapes[order]
        self._write_shapes(factors.step, *each)

    def _write_shapes(self, step: int, numbers: Ints, values: Floats, shapes: Floats) -> None:
        """Shapes (k, n, 3), whose times are their frequencies or factors."""
        entries = []
        name = f"{self._name}_modes_step{step}"
        before, apart = -math.inf, APART * float(np.abs(values).max(initial=0.0) or 1.0)
        for number, value, shape in zip(numbers.tolist(), values, shapes, strict=True):
            before = time_value = max(float(value), before + apart)
            file = f"{FOLDER}/{name}_{number:03d}.vtu"
            arrays = {"mode": shape, "displacement": self._displacement}
            self._write(file, self._skeleton.field(time_value, arrays, {}))
            entries.append(pvd_entry(time_value, file))
        self._write(f"{name}.pvd", as_pvd(entries))

    def __len__(self) -> int:
        """Number of fields written."""
        return len(self._entries)

    def sync(self) -> None:
        """Flush the fields to the disk."""
        for path in [*self._unsynced, self._folder / FOLDER, self._folder] if self._unsynced else ():
            with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                sync(path)
        self._unsynced.clear()

    def _write(self, file: str, content: bytes) -> None:
        replace_file(self._folder / file, content)
        self._unsynced.append(self._folder / file)

    def keep(self, checkpoint: dict[str, Any]) -> None:
        state = {"displacement": self._displacement, "time": self._time, "at": self._at}
        checkpoint["fields"] = {"entries": list(self._entries), **state}

    def close(self) -> None:
        if self._entries:
            self._write_list()

    def _write_list(self) -> None:
        content = as_pvd(self._entries)
        self._room.replace(self._folder / f"{self._name}.pvd", content)
        self._room.keep(len(content))
        self._written = time.monotonic()


def field_variables(model: Model) -> list[list[Quantity]]:
    """Quantities of nodes and of elements in all fields: those of any step, as filters need the same in each file."""
    names = {"U", "T"}  # motion, and the usual colour
    for index, step in enumerate(model.steps):
        files = [request for request in outputs_in_force(model.steps, index) if request.kind.endswith("FILE")]
        for request in files:
            names |= meant(request.kind, request.variables)
        if not (files or step.small_motion):
            names |= {each.name for table in QUANTITIES.values() for each in table if each.shown}
    return [[each for each in table if each.name in names] for table in QUANTITIES.values()]


KINDS = {"Float64": "<f8", "Int64": "<i8", "UInt8": "|u1"}
START = b'<AppendedData encoding="raw">'


@dataclass(frozen=True, slots=True, eq=False)
class FieldMesh:
    """The mesh that all fields of a run share."""

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
    from xml.etree import ElementTree

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
    from xml.etree import ElementTree

    content = path.read_bytes()
    head, mark, _ = content.partition(START)
    try:
        root = ElementTree.fromstring(head + b"</VTKFile>" if mark else content)
        if not mark or root.attrib.get("header_type") != "UInt64":
            raise ValueError("it has no raw appended data with 64-bit sizes")
        start = content.index(b"_", len(head) + len(mark)) + 1
        arrays = {}
        for entry in root.iterfind(f".//{of}//DataArray"):
            name = entry.attrib["Name"] or "coordinates"
            if entry.attrib["format"] == "appended" and (names is None or name in names):
                place, kind = start + int(entry.attrib["offset"]), np.dtype(KINDS[entry.attrib["type"]])
                size = int.from_bytes(content[place : place + 8], "little")  # of the block behind it
                if place + 8 + size > len(content):
                    raise ValueError("the file is truncated")
                array = np.frombuffer(content, kind, size // kind.itemsize, place + 8)
                width = int(entry.attrib.get("NumberOfComponents", 1))
                arrays[name] = array.reshape(-1, width) if width > 1 else array
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise CommandError(f"{path} is not a field written by fem: {error}") from None
    return arrays


def read_mesh(path: Path) -> FieldMesh:
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
