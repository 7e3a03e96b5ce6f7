"""``*INCLUDE`` of a mesh file: its points become nodes, its lines T3D2 elements, its groups sets.

Bulk data of Nastran, meshes of Gmsh and files of VTK are read by ``nastran.py``, ``gmsh.py`` and ``vtk.py``, other
formats by meshio. Labels go on from the largest given above; all points and lines also join the sets NALL and EALL.
Notices report what is ignored: cells of other kinds, groups without members, and the remarks of the readers.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Ints
from fem.deck.cards import MAX_NAME, Card
from fem.deck.draft import Draft
from fem.deck.mesh_file import MeshFile, chained, counted, pieces
from fem.deck.scanner import readable
from fem.deck.source import Mistake, shown
from fem.deck.table import keyword
from fem.errors import lacks

REVERSED = re.compile(r"G_1D_-\d+")
"""What Gmsh calls groups of such curves in MED files, by their number."""
FOREIGN = {
    ".unv": "an I-deas universal file", ".neu": "a neutral file of Gambit", ".cdb": "an archive of Ansys",
    ".dxf": "a drawing", **dict.fromkeys((".step", ".stp", ".iges", ".igs", ".brep"), "a geometry without a mesh"),
}  # fmt: skip
"""Formats that are refused, by extension."""
ALL_NODES, ALL_ELEMENTS = "NALL", "EALL"


@keyword("INCLUDE", "anywhere", needs=("INPUT",))
def include(card: Card, draft: Draft) -> None:
    """Add the mesh of a file."""
    path = card.mesh
    if path is None:
        return
    field = card.field("INPUT")
    if draft.step is not None:
        raise card.mistake("a mesh is included inside a step", "put it before the first *STEP")
    draft.no_rows(card)
    draft.extension(f"*INCLUDE of a mesh file ({path.suffix})")
    found = load(path)
    if isinstance(found, str):
        raise Mistake(field.place, f"cannot read the mesh {shown(field.text)}: {found}")
    add_mesh(card, draft, found)


def readers() -> dict[str, Callable[[Path], MeshFile | None]]:
    """Readers by extension; they return None for files that meshio reads."""
    from fem.deck import gmsh, nastran, vtk

    return {
        **dict.fromkeys((".bdf", ".nas", ".fem"), nastran.read),
        **dict.fromkeys((".vtu", ".vtp", ".vtk"), vtk.read),
        ".msh": gmsh.read,
    }


def load(path: Path) -> MeshFile | str:
    """The mesh, or the reason why it cannot be read; foreign readers may raise any exception."""
    if kind := FOREIGN.get(path.suffix.lower()):
        return f"it is {kind}: save the mesh as .msh, .vtu, .med or .bdf"
    try:
        read = readers().get(path.suffix.lower())
        found = read(path) if read is not None else None
        return by_meshio(path) if found is None else found
    except ModuleNotFoundError as error:
        return f"for its format {lacks(str(error.name), 'meshes')}"
    except Exception as error:
        return " ".join(str(error).split())[:200] or type(error).__name__


def by_meshio(path: Path) -> MeshFile:
    """Mesh read by meshio. ValueError: meshio failed, with its message."""
    import meshio

    silent = io.StringIO()
    try:
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), readable(path) as file:
            mesh = meshio.read(file)
    except SystemExit:
        why = " ".join(silent.getvalue().split())
        raise ValueError(f"meshio does not support its format ({why})") from None
    is_line = [block.type == "line" for block in mesh.cells]
    cells = [np.asarray(block.data, np.int64) for block, chosen in zip(mesh.cells, is_line, strict=True) if chosen]
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.full(len(each), each.shape[1]) for each in cells)])
    chains = np.concatenate([np.zeros(0, np.int64), *(each.ravel() for each in cells)])
    lines, owner = pieces(chains, np.cumsum(sizes))
    said = [" ".join(text.split()) for text in [silent.getvalue()] if text.strip()]
    said += chained(int((sizes > 2).sum()), int((sizes[owner] > 2).sum()))
    others: Counter[str] = Counter()
    for block in mesh.cells:
        others[block.type] += len(block.data) * (block.type not in ("line", "vertex"))
    first, at = [], 0
    for block, chosen in zip(mesh.cells, is_line, strict=True):
        first.append(at)
        at += len(block.data) * chosen
    node_sets, element_sets = sets_of(mesh)
    if turned := [name for name in element_sets if REVERSED.fullmatch(name)]:
        said.append(
            f"groups {', '.join(turned)} hold curves that stand reversed in a group: Gmsh leaves them out of it in MED "
            "files; save it as .msh"
        )
    of_lines = {
        name: np.flatnonzero(np.isin(owner, [first[at] + row for at, row in members if is_line[at]]))
        for name, members in element_sets.items()
    }
    points = np.asarray(mesh.points, np.float64)
    points = np.pad(points[:, :3], ((0, 0), (0, max(0, 3 - points.shape[1]))))
    return MeshFile(points, lines, node_sets, of_lines, others, said)


def sets_of(mesh: Any) -> tuple[dict[str, Ints], dict[str, list[tuple[int, int]]]]:
    """Groups of a mesh of meshio: rows of points; and cells, each as its block and its row there. Groups of cells with
    one point are groups of points, too; those of MED are families of names."""
    node_sets = {name: np.asarray(rows, np.int64) for name, rows in mesh.point_sets.items()}
    cell_sets: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, groups in mesh.cell_sets.items():
        for at, rows in enumerate(groups):
            cell_sets[name] += [(at, int(row)) for row in (() if rows is None else rows)]
    for number, names in getattr(mesh, "point_tags", {}).items():
        for name in names:
            rows = np.flatnonzero(mesh.point_data["point_tags"] == number)
            node_sets[name] = np.append(node_sets.get(name, np.zeros(0, np.int64)), rows)
    for number, names in getattr(mesh, "cell_tags", {}).items():
        for at, tags in enumerate(mesh.cell_data["cell_tags"]):
            for name in names:
                cell_sets[name] += [(at, int(row)) for row in np.flatnonzero(np.asarray(tags) == number)]
    for name, members in [*cell_sets.items()]:
        points = [mesh.cells[at].data[row, 0] for at, row in members if mesh.cells[at].type == "vertex"]
        if points:
            node_sets[name] = np.append(node_sets.get(name, np.zeros(0, np.int64)), points)
            cell_sets[name] = [each for each in members if mesh.cells[each[0]].type != "vertex"]
            if not cell_sets[name]:
                del cell_sets[name]
    return node_sets, cell_sets


def add_mesh(card: Card, draft: Draft, mesh: MeshFile) -> None:
    """Adds nodes, elements and sets to the draft, with notices of what is ignored."""
    field = card.field("INPUT")
    place, name = field.place, f"mesh {shown(field.text)}"
    if not np.isfinite(mesh.points).all():
        raise Mistake(place, f"{name} has points that are not finite")
    others = counted(mesh.others)
    if not len(mesh.lines):
        raise Mistake(place, f"{name} has no line cells, only {others or 'points'}", "bars are lines")
    if mesh.lines.min() < 0 or mesh.lines.max() >= len(mesh.points):
        raise Mistake(place, f"a line cell of {name} refers to a point that does not exist")
    same = int((mesh.lines[:, 0] == mesh.lines[:, 1]).sum())
    if same:
        raise Mistake(place, f"{same} line cells of {name} have the same point twice")
    said = [f"cells that are left out: {others}"] if others else []
    empty = [each for sets in (mesh.node_sets, mesh.element_sets) for each, rows in sets.items() if not len(rows)]
    if empty:
        said.append(f"groups without points or lines are left out: {', '.join(empty)}")
    doubled = len(mesh.lines) - len(np.unique(np.sort(mesh.lines, axis=1), axis=0))
    if doubled:
        said.append(f"{doubled} lines join the same two points as another: they are bars side by side")
    for text in said + mesh.said:
        draft.notice(f"{name}: {text}")
    first_node = 1 + max((int(chunk.labels.max()) for chunk in draft.nodes.chunks), default=0)
    first_element = 1 + max((int(chunk.labels.max()) for chunk in draft.elements.chunks), default=0)
    points, lines = (np.arange(1, 1 + len(each)) for each in (mesh.points, mesh.lines))
    node_labels = first_node - 1 + (points if mesh.point_labels is None else mesh.point_labels)
    element_labels = first_element - 1 + (lines if mesh.line_labels is None else mesh.line_labels)
    draft.report(*draft.nodes.add(node_labels, mesh.points, lambda _: place))
    draft.report(*draft.elements.add("T3D2", element_labels, node_labels[mesh.lines], lambda _: place))
    draft.node_sets.add(ALL_NODES, node_labels)
    draft.element_sets.add(ALL_ELEMENTS, element_labels)
    for table, sets, labels in (
        (draft.node_sets, mesh.node_sets, node_labels),
        (draft.element_sets, mesh.element_sets, element_labels),
    ):
        for each, rows in sets.items():
            if len(rows):
                table.add(set_name(each), labels[rows])


def set_name(name: object) -> str:
    clean = "".join(c if c.isprintable() and c not in '"<>=*' else "_" for c in str(name).strip())
    return (clean or "_").upper()[:MAX_NAME]
