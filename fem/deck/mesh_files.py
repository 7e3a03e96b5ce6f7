"""``*INCLUDE`` of a mesh file: whatever meshio reads.

Points become nodes and line cells T3D2 elements, labelled on from the largest label given above; point sets, cell
sets and physical groups of lines become sets; all of them also join the sets NALL and EALL.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Ints
from fem.deck.draft import Draft
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import MAX_NAME
from fem.deck.lexical.files import readable
from fem.deck.lexical.source import Mistake, shown
from fem.errors import lacks

ALL_NODES, ALL_ELEMENTS = "NALL", "EALL"


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
    try:
        add_mesh(card, draft, found)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        raise Mistake(field.place, f"cannot read the mesh {shown(field.text)}: {error}") from error


def load(path: Path) -> Any:
    """meshio's mesh, or the reason why there is none: its readers raise whatever they please, and may exit."""
    try:
        import meshio
    except ImportError:
        return "the package meshio is not installed"
    try:
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), readable(path) as file:
            return meshio.read(file)
    except SystemExit:
        return "meshio does not know its format"
    except ModuleNotFoundError as error:
        return f"for its format {lacks(str(error.name), 'meshes')}"
    except Exception as error:
        return " ".join(str(error).split())[:200] or type(error).__name__


def add_mesh(card: Card, draft: Draft, mesh: Any) -> None:
    """Nodes, elements and sets."""
    place = card.field("INPUT").place
    points = np.asarray(mesh.points, dtype=np.float64)
    coordinates = np.zeros((len(points), 3))
    coordinates[:, : points.shape[1]] = points[:, :3]
    if not np.isfinite(coordinates).all():
        raise Mistake(place, "the mesh has points that are not finite")
    lines = [at for at, block in enumerate(mesh.cells) if block.type == "line"]
    others = sorted({block.type for block in mesh.cells} - {"line", "vertex"})
    if not lines:
        raise Mistake(place, f"the mesh has no line cells, only {', '.join(others) or 'points'}", "bars are lines")
    if others:
        draft.notice(f"mesh {shown(card.field('INPUT').text)}: cells of type {', '.join(others)} are left out")
    first_node = 1 + max((int(chunk.labels.max()) for chunk in draft.nodes.chunks), default=0)
    first_element = 1 + max((int(chunk.labels.max()) for chunk in draft.elements.chunks), default=0)
    connectivity = np.concatenate([np.asarray(mesh.cells[at].data, dtype=np.int64) for at in lines])
    if connectivity.min() < 0 or connectivity.max() >= len(points):
        raise Mistake(place, "a line cell of the mesh names a point that does not exist")
    node_labels = np.arange(first_node, first_node + len(points))
    element_labels = np.arange(first_element, first_element + len(connectivity))
    same = connectivity[:, 0] == connectivity[:, 1]
    if same.any():
        raise Mistake(place, f"{int(same.sum())} line cells of the mesh name the same point twice")
    draft.nodes.add(node_labels, coordinates, lambda _: place)
    draft.elements.add("T3D2", element_labels, node_labels[connectivity], lambda _: place)
    draft.node_sets.add(ALL_NODES, node_labels)
    draft.element_sets.add(ALL_ELEMENTS, element_labels)
    add_sets(draft, mesh, lines, node_labels, element_labels)


def add_sets(draft: Draft, mesh: Any, lines: list[int], node_labels: Ints, element_labels: Ints) -> None:
    """Point sets, cell sets, and Gmsh's physical groups: ``gmsh:physical`` tags that ``field_data`` names."""
    for name, points in mesh.point_sets.items():
        draft.node_sets.add(set_name(name), node_labels[np.asarray(points, dtype=np.int64)])
    tags = [np.asarray(tag) for tag in mesh.cell_data.get("gmsh:physical", ())]
    physical = {name: data for name, data in mesh.field_data.items() if tags and len(data) > 1}
    of_lines = {name: data[0] for name, data in physical.items() if data[1] == 1}
    of_cells = {name: [np.flatnonzero(tag == number) for tag in tags] for name, number in of_lines.items()}
    starts = np.cumsum([0, *(len(mesh.cells[at].data) for at in lines)])
    for name, groups in (of_cells | mesh.cell_sets).items():
        for start, at in zip(starts, lines, strict=False):
            if at < len(groups) and groups[at] is not None and len(groups[at]):
                members = start + np.asarray(groups[at], dtype=np.int64)
                draft.element_sets.add(set_name(name), element_labels[members])
    for name, data in physical.items():
        for block, tag in zip(mesh.cells, tags, strict=True) if data[1] == 0 and name not in mesh.cell_sets else ():
            if block.type == "vertex":
                points = np.asarray(block.data)[tag == data[0]].ravel()
                draft.node_sets.add(set_name(name), node_labels[points])


def set_name(name: object) -> str:
    """A group's name as a set name."""
    clean = "".join(c if c.isprintable() and c not in '"<>=*' else "_" for c in str(name).strip())
    return (clean or "_").upper()[:MAX_NAME]
