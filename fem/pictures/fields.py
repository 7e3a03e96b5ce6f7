"""Reads what ``fem.results.vtk`` writes: the list of fields (.pvd) and one field (.vtu, raw appended binary)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.files.names import on_disk
from fem.model.mesh import legs_of

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
