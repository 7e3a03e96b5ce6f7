"""Meshes of Gmsh: ``.msh`` of the formats 2 and 4.1, as text or binary, with their physical groups.

A curve is a member of a physical group also where it stands in it the other way round (a negative number), and may be
in several groups: format 2 then writes its lines once for each group, and they are taken once here. Groups of points
and of curves may have the same name. Groups without a name are called as in Gmsh's own files for Abaqus:
``PhysicalLine7``, ``PhysicalPoint3``.

Source: Gmsh reference manual, MSH file format, version 4.1 and version 2 (legacy).
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.mesh_file import MeshFile

POINT, LINE = 15, 1
KINDS = {
    1: ("line", 2), 2: ("triangle", 3), 3: ("quad", 4), 4: ("tetra", 4), 5: ("hexahedron", 8), 6: ("wedge", 6),
    7: ("pyramid", 5), 8: ("line3", 3), 9: ("triangle6", 6), 10: ("quad9", 9), 11: ("tetra10", 10),
    12: ("hexahedron27", 27), 13: ("wedge18", 18), 14: ("pyramid14", 14), 15: ("point", 1), 16: ("quad8", 8),
    17: ("hexahedron20", 20), 18: ("wedge15", 15), 19: ("pyramid13", 13), 20: ("triangle9", 9), 21: ("triangle10", 10),
    26: ("line4", 4), 27: ("line5", 5), 28: ("line6", 6), 29: ("tetra20", 20),
}  # fmt: skip
"""Element types: name and number of nodes."""
LARGEST = 2.0**53


def whole(found: Floats) -> Ints:
    """Numbers of a text as integers. ValueError: one is none."""
    if (found != np.clip(np.floor(found), -LARGEST, LARGEST)).any():
        raise ValueError("a label or a count is no whole number")
    return found.astype(np.int64)


UNNAMED = ("PhysicalPoint", "PhysicalLine")


class SectionNumbers:
    """The numbers of a section, read one after the other: text is split once, binary numbers are decoded when taken."""

    def __init__(self, content: bytes, start: int, stop: int, order: str, is_text: bool) -> None:
        self.content, self.at, self.order, self.is_text = content, start, order, is_text
        if is_text:
            self.words, self.at = np.array(content[start:stop].split(), np.float64), 0

    def take(self, kind: str, count: int) -> np.ndarray:
        """The next ``count`` numbers of a ``kind``: i4, u8 or f8. ValueError: the section has fewer."""
        if self.is_text:
            found = self.words[self.at : self.at + count]
            self.at += count
        else:
            found = np.frombuffer(self.content, f"{self.order}{kind}", count, self.at)
            self.at += found.nbytes
        if len(found) < count:
            raise ValueError("the file ends too early")
        return found.astype(float) if kind == "f8" else whole(found) if self.is_text else found.astype(np.int64)

    def first_line(self) -> int:
        """The number of entries of a section of format 2: text in binary files, too."""
        if self.is_text:
            return int(self.take("i4", 1)[0])
        stop = self.content.index(b"\n", self.at)
        count, self.at = int(self.content[self.at : stop]), stop + 1
        return count


class GmshElements(NamedTuple):
    """Elements of one kind: (k, nodes) labels of their nodes; ``groups`` numbers of physical groups; ``entity`` the
    tag of the point or curve that they are on."""

    kind: int
    nodes: Ints
    groups: list[int]
    entity: int


def read(path: Path) -> MeshFile | None:
    """The lines of a file. ValueError: it is damaged or unsupported. None: not a file of Gmsh."""
    content = path.read_bytes()
    if not content.startswith(b"$"):
        return None
    found = dict(sections(content))
    if "MeshFormat" not in found:
        raise ValueError("it has no $MeshFormat")
    start, stop = found["MeshFormat"]
    version, is_binary, size = content[start:stop].split(maxsplit=3)[:3]
    if version not in (b"2", b"2.0", b"2.1", b"2.2", b"4.1"):
        raise ValueError(f"format {version.decode(errors='replace')}: save it in format 4.1 (Mesh.MshFileVersion)")
    if "PartitionedEntities" in found:
        raise ValueError("it is partitioned: save the mesh as a whole")
    order, is_text = "<", is_binary == b"0"
    if not is_text:
        if size != b"8":
            raise ValueError("binary data must have sizes of 8 bytes")
        one = content.index(b"\n", start) + 1
        order = "<" if content[one : one + 4] == b"\1\0\0\0" else ">"
    of = {
        name: SectionNumbers(content, *found[name], order, is_text)
        for name in ("Entities", "Nodes", "Elements")
        if name in found
    }
    for name in ("Nodes", "Elements"):
        if name not in of:
            raise ValueError(f"it has no ${name}")
    names = names_of(content[slice(*found["PhysicalNames"])]) if "PhysicalNames" in found else {}
    is_new = version == b"4.1"
    labels, points = (nodes_4 if is_new else nodes_2)(of["Nodes"])
    groups = entities(of["Entities"]) if "Entities" in of else {}
    blocks = elements_4(of["Elements"], groups) if is_new else elements_2(of["Elements"])
    return assembled(labels, points, names, list(blocks))


def sections(content: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name of each section, with the start and end of its content."""
    at = 0
    while (at := content.find(b"$", at)) >= 0:
        stop = content.find(b"\n", at)
        name = content[at + 1 : stop].strip()
        end = content.find(b"$End" + name, stop)
        if stop < 0 or end < 0:
            raise ValueError(f"${name[:40].decode(errors='replace')} has no end")
        yield name.decode(errors="replace"), (stop + 1, end)
        at = end + 1


def names_of(text: bytes) -> dict[tuple[int, int], str]:
    """Names of physical groups by dimension and number."""
    entries = [shlex.split(line) for line in text.decode(errors="replace").splitlines()[1:] if line.strip()]
    return {(int(dimension), abs(int(number))): name for dimension, number, name in entries}


def entities(numbers: SectionNumbers) -> dict[tuple[int, int], list[int]]:
    """Numbers of the physical groups of each entity, by dimension and tag: they are negative where the entity stands
    the other way round."""
    found = {}
    for dimension, count in enumerate(numbers.take("u8", 4).tolist()):
        for _ in range(count):
            tag = int(numbers.take("i4", 1)[0])
            numbers.take("f8", 6 if dimension else 3)
            groups = numbers.take("i4", int(numbers.take("u8", 1)[0]))
            found[dimension, tag] = list(map(abs, groups.tolist()))
            if dimension:
                numbers.take("i4", int(numbers.take("u8", 1)[0]))
    return found


def nodes_4(numbers: SectionNumbers) -> tuple[Ints, Floats]:
    labels, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(int(numbers.take("u8", 4)[0])):
        dimension, _, is_parametric = numbers.take("i4", 3).tolist()
        count, width = int(numbers.take("u8", 1)[0]), 3 + is_parametric * dimension
        labels.append(numbers.take("u8", count))
        points.append(numbers.take("f8", count * width).reshape(count, width)[:, :3])
    return np.concatenate(labels), np.concatenate(points)


def nodes_2(numbers: SectionNumbers) -> tuple[Ints, Floats]:
    count = numbers.first_line()
    if numbers.is_text:
        table = numbers.take("f8", 4 * count).reshape(count, 4)
        return whole(table[:, 0]), table[:, 1:]
    order = numbers.order
    table = np.frombuffer(numbers.content, [("label", f"{order}i4"), ("x", f"{order}f8", 3)], count, numbers.at)
    return table["label"].astype(np.int64), table["x"].astype(float)


def size_of(kind: int) -> int:
    if kind not in KINDS:
        raise ValueError(f"elements of type {kind} are not known")
    return KINDS[kind][1]


def elements_4(numbers: SectionNumbers, groups: dict[tuple[int, int], list[int]]) -> Iterator[GmshElements]:
    for _ in range(int(numbers.take("u8", 4)[0])):
        dimension, tag, kind = numbers.take("i4", 3).tolist()
        count, width = int(numbers.take("u8", 1)[0]), 1 + size_of(kind)
        nodes = numbers.take("u8", count * width).reshape(count, width)[:, 1:]
        yield GmshElements(kind, nodes, groups.get((dimension, tag), []), tag)


def elements_2(numbers: SectionNumbers) -> Iterator[GmshElements]:
    """Each element has its own tags: the first is the group (0: none), the second the entity."""
    for (kind, group, entity), rows in groupby(rows_2(numbers), itemgetter(0, 1, 2)):
        yield GmshElements(kind, np.array([row[3] for row in rows], np.int64), [group] if group else [], entity)


def rows_2(numbers: SectionNumbers) -> Iterator[tuple[int, int, int, list[int]]]:
    """Kind, group, entity and nodes of each element."""
    left = numbers.first_line()
    words = whole(numbers.words[numbers.at :]).tolist() if numbers.is_text else []
    at = 0
    while left > 0:
        if numbers.is_text:
            if len(words) < at + 3:
                raise ValueError("the file ends too early")
            (kind, tags), count = words[at + 1 : at + 3], 1
            stop = at + 3 + tags + size_of(kind)
            rows, at = [words[at + 3 : stop]], stop
        else:
            kind, count, tags = numbers.take("i4", 3).tolist()
            width = 1 + tags + size_of(kind)
            rows = numbers.take("i4", count * width).reshape(count, width)[:, 1:].tolist()
        for row in rows:
            group, entity = [*map(abs, row[: min(tags, 2)]), 0, 0][:2]
            yield kind, group, entity, row[tags:]
        left -= max(count, 1)


def assembled(labels: Ints, points: Floats, names: dict[tuple[int, int], str], blocks: list[GmshElements]) -> MeshFile:
    """The mesh from all elements: labels as rows of the points, and the groups of points and lines."""
    order = np.argsort(labels, kind="stable")

    def rows(nodes: Ints) -> Ints:
        at = np.minimum(np.searchsorted(labels, nodes, sorter=order), len(labels) - 1)
        if not len(labels) or (labels[order[at]] != nodes).any():
            raise ValueError("an element refers to a node that does not exist")
        return order[at]

    others: Counter[str] = Counter()
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    lines: list[tuple[int, int]] = []
    seen: dict[tuple[frozenset[int], int], list[tuple[int, set[int]]]] = defaultdict(list)
    repeated = 0
    for kind, nodes, groups, entity in blocks:
        if kind not in (POINT, LINE):
            others[KINDS[kind][0]] += len(nodes)
            continue
        for pair in rows(nodes).tolist():
            row = pair[0]
            if kind == LINE:
                same = seen[frozenset(pair), entity]
                row, given = next((each for each in same if each[1] and not each[1] & {*groups}), (-1, set[int]()))
                if groups and row >= 0:
                    repeated += 1
                else:
                    row, given = len(lines), set()
                    lines.append((pair[0], pair[1]))
                    same.append((row, given))
                given.update(groups)
            for group in groups:
                members[kind == LINE, group].append(row)
    sets: list[dict[str, Ints]] = [{}, {}]
    for (dimension, number), name in names.items():
        if dimension < 2:
            sets[dimension][name] = np.array(members.pop((dimension, number), []), np.int64)
    for (dimension, number), found in members.items():
        sets[dimension][f"{UNNAMED[dimension]}{number}"] = np.array(found, np.int64)
    said = []
    if repeated:
        said.append(f"{repeated} lines stand in the file once for each of their groups: each is one element here")
    if wide := [name for (dimension, _), name in names.items() if dimension > 1]:
        said.append(f"groups of surfaces and volumes are left out: {', '.join(wide)}")
    return MeshFile(points, np.array(lines, np.int64).reshape(-1, 2), sets[0], sets[1], others, said)
