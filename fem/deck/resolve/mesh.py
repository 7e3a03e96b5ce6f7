"""The mesh: nodes, element blocks and sets by index, with every label looked up."""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.draft import Draft
from fem.deck.lexical.source import Mistake
from fem.deck.mesh_draft import MAX_PER_CARD, ElementChunk, SetTable
from fem.model import ElementBlock, Mesh
from fem.model.mesh import AXIAL, nodes_per_element

NODE_CARDS = ("NODE", "NGEN", "NFILL", "INCLUDE")
ELEMENT_CARDS = ("ELEMENT", "ELGEN", "INCLUDE")


class Lookup:
    """label -> index for whole arrays."""

    def __init__(self, labels: Ints) -> None:
        self.order = np.argsort(labels, kind="stable")
        self.sorted = labels[self.order]

    def find(self, wanted: Ints) -> tuple[Ints, Flags]:
        """Indices (0 where there is none) and whether the label exists."""
        if not len(self.sorted):
            return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
        at = np.minimum(np.searchsorted(self.sorted, wanted), len(self.sorted) - 1)
        found = self.sorted[at] == wanted
        return np.where(found, self.order[at], 0), found


def build_mesh(draft: Draft) -> Mesh:
    """The mesh as far as it makes sense; what does not is reported."""
    labels = joined([chunk.labels for chunk in draft.nodes.chunks])
    coordinates = np.concatenate([np.zeros((0, 3)), *(chunk.coordinates for chunk in draft.nodes.chunks)])
    nodes = Lookup(labels)
    if not len(labels) and draft.elements.chunks and not draft.has_failed(*NODE_CARDS):
        draft.report(Mistake(draft.elements.chunks[0].where(0), "the deck has elements, but no *NODE"))
        draft.failed.add("NODE")
    blocks = build_blocks(draft, nodes, coordinates)
    elements = Lookup(joined([block.labels for block in blocks]))
    return Mesh(
        labels,
        coordinates,
        blocks,
        build_sets(draft, draft.node_sets, nodes, "node", NODE_CARDS),
        build_sets(draft, draft.element_sets, elements, "element", ELEMENT_CARDS),
    )


def joined(arrays: list[Ints]) -> Ints:
    """One array of integers, also of none."""
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def build_blocks(draft: Draft, nodes: Lookup, coordinates: Floats) -> tuple[ElementBlock, ...]:
    """One block per kind, in order of first appearance."""
    parts: dict[str, list[ElementBlock]] = {}
    for chunk in draft.elements.chunks:
        connectivity, found = nodes.find(chunk.nodes)
        if not found.all():
            blame_unknown_nodes(draft, chunk, found)
        elif chunk.kind in AXIAL:
            blame_no_length(draft, chunk, coordinates[connectivity])
            if chunk.kind == "T2D2":
                blame_not_flat(draft, chunk, coordinates[connectivity, 2])
        parts.setdefault(chunk.kind, []).append(ElementBlock(chunk.kind, chunk.labels, connectivity))
    return tuple(
        ElementBlock(
            kind,
            joined([part.labels for part in blocks]),
            np.concatenate([part.connectivity for part in blocks]).reshape(-1, nodes_per_element(kind)),
        )
        for kind, blocks in parts.items()
    )


def blame_unknown_nodes(draft: Draft, chunk: ElementChunk, found: Flags) -> None:
    """Elements on nodes that do not exist."""
    if draft.has_failed(*NODE_CARDS):
        return
    for row, column in np.argwhere(~found)[:MAX_PER_CARD].tolist():
        place = chunk.where(row)
        field = place._replace(column=column_of_entry(place.source.lines[place.line - 1], column + 1, place.column))
        label, node = int(chunk.labels[row]), int(chunk.nodes[row, column])
        message = f"element {draft.shown(label)} names node {draft.shown(node)}, which does not exist"
        draft.report(Mistake(field, message, draft.hint_at_instances(node, "node")))


def column_of_entry(text: str, entry: int, otherwise: int) -> int:
    """Column of entry ``entry`` of a plain line; generated elements have no such entry."""
    pieces = text.split(",")
    if entry >= len(pieces) or len(pieces) > 4:
        return otherwise
    before = sum(len(piece) + 1 for piece in pieces[:entry])
    return before + len(pieces[entry]) - len(pieces[entry].lstrip()) + 1


def blame_no_length(draft: Draft, chunk: ElementChunk, ends: Floats) -> None:
    """Axial elements need two different points; nodes named twice have been blamed before."""
    coincident = (ends[:, 0] == ends[:, 1]).all(axis=1) & (chunk.nodes[:, 0] != chunk.nodes[:, 1])
    for row in np.nonzero(coincident)[0][:MAX_PER_CARD].tolist():
        label, first, second = map(draft.shown, (int(chunk.labels[row]), *chunk.nodes[row].tolist()))
        message = f"element {label} has no length: nodes {first} and {second} lie at the same point"
        draft.report(Mistake(chunk.where(row), message))


def blame_not_flat(draft: Draft, chunk: ElementChunk, heights: Floats) -> None:
    """T2D2 lies in the plane z = 0."""
    for row, column in np.argwhere(heights != 0.0)[:MAX_PER_CARD].tolist():
        node, label = draft.shown(int(chunk.nodes[row, column])), draft.shown(int(chunk.labels[row]))
        message = f"node {node} of T2D2 element {label} lies outside the plane z = 0"
        draft.report(Mistake(chunk.where(row), message, "use T3D2 in space"))


def build_sets(draft: Draft, table: SetTable, lookup: Lookup, family: str, cards: tuple[str, ...]) -> dict[str, Ints]:
    """Sorted indices of each set; members that do not exist are reported once, where they are named."""
    sets = {}
    silent = draft.has_failed(*cards)
    for name, chunks in table.chunks.items():
        members = []
        for chunk in chunks:
            indices, found = lookup.find(chunk.labels)
            members.append(indices[found])
            if chunk.where is not None and not silent and not found.all():
                row = int(np.argmin(found))
                label = int(chunk.labels[row])
                message = f"set {name}: there is no {family} {draft.shown(label)}"
                draft.report(Mistake(chunk.where(row), message, draft.hint_at_instances(label, family)))
        sets[name] = np.unique(joined(members))
    return sets
