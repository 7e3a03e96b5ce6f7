"""Lines and poly-lines of VTK's files: ``.vtu`` and ``.vtp`` (XML) and ``.vtk`` (legacy), in all their encodings.

A poly-line becomes a chain of bars. Of fields that a run of this program wrote (``fem/runs/fields.py``), labels and
sets are read, too, and cells without a cross-section (springs, dashpots, masses) are left out.

Source: VTK file formats, https://docs.vtk.org/en/latest/vtk_file_formats.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.mesh_file import MeshFile, chained, pieces
from fem.model.quantities import QUANTITIES

LINES = (3, 4)
"""Cells that become bars: line and poly-line."""
NAMES = {
    1: "vertex", 2: "poly-vertex", 5: "triangle", 6: "triangle strip", 7: "polygon", 8: "pixel", 9: "quad",
    10: "tetra", 11: "voxel", 12: "hexahedron", 13: "wedge", 14: "pyramid", 21: "quadratic line", 35: "cubic line",
    68: "Lagrange curve", 75: "Bezier curve",
}  # fmt: skip
SIZES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
LEGACY = {
    "char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4", "unsigned_int": "u4",
    "long": "i8", "unsigned_long": "u8", "vtkidtype": "i8", "vtktypeint64": "i8", "vtktypeint32": "i4",
    "float": "f4", "double": "f8",
}  # fmt: skip
UNPACK = {"vtkZLibDataCompressor": "zlib", "vtkLZMADataCompressor": "lzma"}
Arrays = dict[str, np.ndarray]
Cells = tuple[Ints, Ints, Ints]
"""Points of all cells one behind the other, where each cell ends in them, and its type."""


class VtkPiece(NamedTuple):
    """Points and cells of a piece, with their arrays."""

    points: Floats
    cells: Cells
    of_points: Arrays
    of_cells: Arrays


def read(path: Path) -> MeshFile | None:
    """The lines of a file. ValueError: it cannot be read. None: a grid that is not given by cells."""
    content = path.read_bytes()
    if path.suffix.lower() == ".vtk":
        return legacy(content)
    return Xml(content).mesh()


def mesh_of(points: Floats, cells: Cells, of_points: Arrays, of_cells: Arrays) -> MeshFile:
    chains, ends, types = cells
    if len(ends) != len(types) or (len(ends) and (ends[-1] != len(chains) or (np.diff(ends) < 0).any())):
        raise ValueError("the offsets of its cells do not fit")
    is_line = np.isin(types, LINES)
    is_ours = {"radius", "element", "section"} <= {*of_cells} and "node" in of_points
    others = {NAMES.get(kind, f"type {kind}"): int((types == kind).sum()) for kind in set(types[~is_line].tolist())}
    said = []
    if is_ours:
        others = {}
        if left := int((of_cells["radius"] <= 0.0).sum()):
            said.append(f"{left} springs, dashpots and masses (cells without a cross-section) are left out")
        is_line &= of_cells["radius"] > 0.0
        if "displacement" in of_points:
            said.append("points are where the deck had them: displacement is not added")
    lines, owner = pieces(chains, ends)
    lines, owner = lines[is_line[owner]], owner[is_line[owner]]
    said += chained(int((types[is_line] == 4).sum()), int((types[owner] == 4).sum()))
    if not is_ours:
        return MeshFile(points, lines, others=others, said=said)
    shown = {each.field for table in QUANTITIES.values() for each in table}

    def sets(arrays: Arrays, rows: Ints) -> dict[str, Ints]:
        members = {name: np.flatnonzero(values[rows]) for name, values in arrays.items() if values.dtype == np.uint8}
        return {name[4:] if name.startswith("SET ") and name[4:] in shown else name: m for name, m in members.items()}

    own = len(np.unique(owner)) == len(owner) and not ((of_cells.get("instance", np.array([-1])) >= 0).any())
    labels = (of_points["node"], of_cells["element"][owner]) if own else (None, None)
    node_sets, element_sets = sets(of_points, np.arange(len(points))), sets(of_cells, owner)
    return MeshFile(points, lines, node_sets, element_sets, others, said, *labels)


class Xml:
    """A file of the XML formats. ``appended``: where its appended data begins in ``content``."""

    def __init__(self, content: bytes) -> None:
        from xml.etree import ElementTree

        self.content, self.appended = content, 0
        mark = re.search(rb"<AppendedData[^>]*>\s*_", content)
        if mark:
            self.appended, self.is_raw = mark.end(), b'"raw"' in mark[0]
            content = content[: mark.start()] + b"</VTKFile>"
        try:
            self.root = ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            raise ValueError(f"it is no XML: {error}") from None
        order = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self.order, self.header = order, np.dtype(order + SIZES[self.root.get("header_type", "UInt32")])
        self.packed = self.root.get("compressor", "")
        if self.packed and self.packed not in UNPACK:
            raise ValueError(f"its data is packed by {self.packed}: write it with vtkZLibDataCompressor, or unpacked")

    def mesh(self) -> MeshFile:
        kind = self.root.get("type", "")
        if kind not in ("UnstructuredGrid", "PolyData"):
            raise ValueError(f"it has {kind or 'no type'}, not UnstructuredGrid or PolyData")
        parts = [self.piece(piece, kind) for piece in self.root.iter("Piece")]
        if not parts:
            raise ValueError("it has no Piece")
        first = np.cumsum([0, *(len(part.points) for part in parts)])
        start = np.cumsum([0, *(len(part.cells[0]) for part in parts)])
        chains = [part.cells[0] + at for part, at in zip(parts, first, strict=False)]
        ends = [part.cells[1] + at for part, at in zip(parts, start, strict=False)]
        cells = np.concatenate(chains), np.concatenate(ends), np.concatenate([part.cells[2] for part in parts])
        of_points, of_cells = together([part.of_points for part in parts]), together([part.of_cells for part in parts])
        return mesh_of(np.concatenate([part.points for part in parts]), cells, of_points, of_cells)

    def piece(self, piece: Any, kind: str) -> VtkPiece:
        [points, *_] = [*self.arrays(piece.find("Points")).values(), np.zeros((0, 3))]
        if kind == "PolyData":
            lists = [(number, self.arrays(piece.find(name))) for name, number in POLY.items()]
            cells = joined([(number, own["connectivity"], own["offsets"]) for number, own in lists if own])
        else:
            own = self.arrays(piece.find("Cells"))
            chains, ends, types = (own[name].astype(np.int64) for name in ("connectivity", "offsets", "types"))
            cells = chains, ends, types
        of_points = self.arrays(piece.find("PointData"), ("node", "displacement"))
        of_cells = self.arrays(piece.find("CellData"), ("element", "section", "radius", "instance"))
        return VtkPiece(np.asarray(points, np.float64).reshape(-1, 3), cells, of_points, of_cells)

    def arrays(self, parent: Any, names: Iterable[str] | None = None) -> Arrays:
        """The arrays of an element; ``names``: only these, with all arrays of bytes."""
        found = {}
        for entry in () if parent is None else parent.iter("DataArray"):
            name, kind = entry.get("Name", ""), entry.get("type", "")
            if names is None or name in names or kind == "UInt8":
                if kind not in SIZES:
                    raise ValueError(f"its array {name} has the type {kind}")
                found[name] = self.values(entry, np.dtype(self.order + SIZES[kind]))
        return found

    def values(self, entry: Any, kind: np.dtype) -> np.ndarray:
        if entry.get("format") == "ascii":
            return np.array((entry.text or "").split(), kind)
        is_appended = entry.get("format") == "appended"
        raw = is_appended and self.is_raw
        start = self.appended + int(entry.get("offset", 0)) if is_appended else 0
        data = self.content if is_appended else "".join((entry.text or "").split()).encode()

        def take(at: int, count: int) -> bytes:
            """``count`` bytes from a position in the text; in base64 a new encoding begins there."""
            found = data[at : at + count] if raw else base64.b64decode(data[at : at + characters(count)])[:count]
            if len(found) < count:
                raise ValueError(f"its array {entry.get('Name')} is cut off")
            return found

        def characters(count: int) -> int:
            return count if raw else -(-count // 3) * 4

        size = self.header.itemsize
        if not self.packed:
            count, behind = int(np.frombuffer(take(start, size), self.header)[0]), start + characters(size)
            if not raw and data[behind - 1 : behind] == b"=":  # its size is encoded separately
                return np.frombuffer(take(behind, count), kind)
            return np.frombuffer(take(start, size + count)[size:], kind)
        blocks = int(np.frombuffer(take(start, size), self.header)[0])
        sizes = np.frombuffer(take(start, size * (3 + blocks)), self.header)[3:].tolist()
        whole = take(start + characters(size * (3 + blocks)), sum(sizes))
        ends = np.cumsum([0, *sizes]).tolist()
        unpack = import_module(UNPACK[self.packed]).decompress
        return np.frombuffer(b"".join(unpack(whole[a:b]) for a, b in pairwise(ends)), kind)


def together(parts: list[Arrays]) -> Arrays:
    """Arrays that all pieces have, joined."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if all(name in p for p in parts)}


POLY = {"Verts": 2, "Lines": 4, "Strips": 6, "Polys": 7}
"""The cells of PolyData, in the order of their arrays, with the type of most."""


def joined(found: list[tuple[int, Ints, Ints]]) -> Cells:
    """Cells of several kinds: number of the kind, points, ends. Poly-lines of two points are lines."""
    chains = np.concatenate([np.zeros(0, np.int64), *(points for _, points, _ in found)]).astype(np.int64)
    starts = np.cumsum([0, *(len(points) for _, points, _ in found)])
    ends = [np.asarray(ends, np.int64) + start for (_, _, ends), start in zip(found, starts, strict=False)]
    types = [np.where((number == 4) & (np.diff(ends, prepend=0) == 2), 3, number) for number, _, ends in found]
    return chains, np.concatenate([np.zeros(0, np.int64), *ends]), np.concatenate([np.zeros(0, np.int64), *types])


SECTION = re.compile(
    rb"(?<=\n)(CELLS|CELL_TYPES|LINES|VERTICES|POLYGONS|TRIANGLE_STRIPS|CELL_DATA|POINT_DATA)\s+(.*)\n"
)
LEGACY_POLY = {"VERTICES": 2, "LINES": 4, "TRIANGLE_STRIPS": 6, "POLYGONS": 7}


def legacy(content: bytes) -> MeshFile | None:
    """Reads the sections in order; those that are not needed are skipped."""
    head = content.split(b"\n", 4)
    if not head[0].startswith(b"# vtk DataFile") or len(head) < 4:
        raise ValueError("it does not begin with # vtk DataFile")
    is_text = head[2].strip().upper() == b"ASCII"
    form = re.search(rb"\nDATASET\s+(\w+)", content)
    if form is None or form[1].upper() not in (b"UNSTRUCTURED_GRID", b"POLYDATA"):
        return None

    def take(at: int, count: int, kind: str) -> tuple[np.ndarray, int]:
        """Numbers from a position, and the position after them."""
        if is_text:
            words = content[at:].split(None, count)
            stop = len(content) - len(words.pop() if len(words) > count else b"")
            found = np.array(words, "f8" if kind[0] == "f" else "i8")
        else:
            stop = at + count * int(kind[1])
            found = np.frombuffer(content[at:stop], f">{kind}")
        if len(found) != count:
            raise ValueError("the file ends too early")
        return found.astype(np.float64 if kind[0] == "f" else np.int64), stop

    begin = re.compile(rb"\nPOINTS\s+(\d+)\s+(\w+)[^\n]*\n").search(content, form.start())
    if begin is None:
        raise ValueError("it has no POINTS")
    points, at = take(begin.end(), 3 * int(begin[1]), LEGACY[begin[2].decode().lower()])
    found: dict[str, Any] = {}
    while (section := SECTION.search(content, at - 1)) and not section[1].endswith(b"_DATA"):
        name, sizes = section[1].decode(), [int(word) for word in section[2].split()]
        at = section.end()
        if name == "CELL_TYPES":
            found[name], at = take(at, sizes[0], "i4")
        elif content[at : at + 7] == b"OFFSETS":  # version 5
            arrays = []
            for count in sizes:
                line = content[at : content.index(b"\n", at)]
                values, at = take(at + len(line) + 1, count, LEGACY[line.split()[1].decode().lower()])
                arrays.append(values)
                at += content[at : at + 1] == b"\n"
            found[name] = arrays[1], arrays[0][1:]
        else:
            rows, at = take(at, sizes[1], "i4")
            found[name] = unrolled(rows, sizes[0])
    if form[1].upper() == b"POLYDATA":
        cells = joined([(number, *found[name]) for name, number in LEGACY_POLY.items() if name in found])
    elif "CELLS" in found and "CELL_TYPES" in found:
        cells = *found["CELLS"], found["CELL_TYPES"]
    else:
        raise ValueError("it has no CELLS and CELL_TYPES")
    return mesh_of(points.reshape(-1, 3).astype(np.float64), cells, {}, {})


def unrolled(rows: Ints, count: int) -> tuple[Ints, Ints]:
    """Points and ends of cells that are given as number of points and points, one behind the other."""
    starts, at, values = [], 0, rows.tolist()
    for _ in range(count):
        if at >= len(values):
            raise ValueError("the file ends too early")
        starts.append(at)
        at += 1 + values[at]
    if at != len(values):
        raise ValueError("the sizes of its cells do not fit")
    sizes = rows[starts] if starts else np.zeros(0, np.int64)
    return np.delete(rows, starts), np.cumsum(sizes)
