"""The mesh: nodes, element blocks and sets by index; every label and name that was used is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np

from fem.arrays import Flags, Floats, Ints, distinct
from fem.deck.draft import MAX_PER_CARD, Chunk, Draft, SetTable, Use
from fem.deck.source import Mistake, did_you_mean
from fem.errors import MAX_PROBLEMS
from fem.model import ElementBlock, Mesh
from fem.model.mesh import AXIAL, REEVED

NODE_CARDS = ("NODE", "NGEN", "NFILL", "INCLUDE")
ELEMENT_CARDS = ("ELEMENT", "ELGEN", "INCLUDE")


class Lookup:
    """label -> index for whole arrays; name of a set -> indices."""

    def __init__(self, labels: Ints, sets: Mapping[str, Ints] | None = None) -> None:
        self.order = np.argsort(labels, kind="stable")
        self.sorted = labels[self.order]
        self.sets = sets or {}

    def find(self, wanted: Ints) -> tuple[Ints, Flags]:
        """Indices (0 where there is none) and whether the label exists."""
        if not len(self.sorted):
            return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, bool)
        at = np.minimum(np.searchsorted(self.sorted, wanted), len(self.sorted) - 1)
        found = self.sorted[at] == wanted
        return np.where(found, self.order[at], 0), found

    def known(self, wanted: Ints) -> Ints:
        """Indices of those labels that exist."""
        index, found = self.find(wanted)
        return index[found]

    def members(self, target: str | int) -> Ints:
        """Indices of a set or label, none if it does not exist (which is reported elsewhere)."""
        if isinstance(target, str):
            return self.sets.get(target, np.zeros(0, np.int64))
        return self.known(np.array([target], dtype=np.int64))


def build_mesh(draft: Draft) -> Mesh:
    """The mesh as far as it makes sense; what does not is reported."""
    labels, coordinates = draft.nodes.once()
    nodes = Lookup(labels)
    if not len(labels) and draft.elements.chunks and not draft.has_failed(*NODE_CARDS):
        draft.report(Mistake(draft.elements.chunks[0].where(0), "the deck has elements, but no *NODE"))
        draft.failed.add("NODE")
    blocks = build_blocks(draft, nodes, coordinates)
    elements = Lookup(joined([block.labels for block in blocks]))
    node_sets = build_sets(draft, draft.node_sets, nodes, "node", NODE_CARDS)
    element_sets = build_sets(draft, draft.element_sets, elements, "element", ELEMENT_CARDS)
    return Mesh(labels, coordinates, blocks, node_sets, element_sets)


def joined(arrays: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def build_blocks(draft: Draft, nodes: Lookup, coordinates: Floats) -> tuple[ElementBlock, ...]:
    """One block per kind, in order of first appearance."""
    parts: dict[str, list[tuple[Ints, Ints]]] = {}
    for chunk in draft.elements.chunks:
        connectivity, found = nodes.find(chunk.numbers)
        if not found.all():
            blame_unknown_nodes(draft, chunk, found)
        elif chunk.kind in (*AXIAL, *REEVED):
            places = coordinates[connectivity]
            coincident = (places[:, 1:] == places[:, :-1]).all(axis=2) & (chunk.numbers[:, 1:] != chunk.numbers[:, :-1])
            for row, leg in np.argwhere(coincident)[:MAX_PER_CARD].tolist():
                label, *ends = map(draft.as_written, (int(chunk.labels[row]), *chunk.numbers[row].tolist()))
                what = f"element {label}" if chunk.kind in AXIAL else f"a branch of element {label}"
                message = f"{what} has no length: nodes {ends[leg]} and {ends[leg + 1]} are at the same point"
                draft.report(Mistake(chunk.where(row), message))
            off_plane = np.argwhere(places[:, :, 2] != 0.0) if chunk.kind == "T2D2" else ()
            for row, column in off_plane[:MAX_PER_CARD]:
                node, label = draft.as_written(chunk.numbers[row, column]), draft.as_written(chunk.labels[row])
                message = f"node {node} of T2D2 element {label} lies outside the plane z = 0"
                draft.report(Mistake(chunk.where(int(row)), message, "use T3D2 in space"))
        parts.setdefault(chunk.kind, []).append((chunk.labels, connectivity))
    return tuple(ElementBlock(kind, *map(np.concatenate, zip(*found, strict=True))) for kind, found in parts.items())


def blame_unknown_nodes(draft: Draft, chunk: Chunk, found: Flags) -> None:
    if draft.has_failed(*NODE_CARDS):
        return
    for row, column in np.argwhere(~found)[:MAX_PER_CARD].tolist():
        place = chunk.where(row)
        pieces = place.source.lines[place.line - 1].split(",")
        if column + 1 < len(pieces) <= 4:  # a plain line: generated elements have no such entry
            before = len(",".join(pieces[: column + 1])) + 1
            place = place._replace(column=before + len(pieces[column + 1]) - len(pieces[column + 1].lstrip()) + 1)
        label, node = int(chunk.labels[row]), int(chunk.numbers[row, column])
        message = f"element {draft.as_written(label)} refers to node {draft.as_written(node)}, which does not exist"
        draft.report(Mistake(place, message, draft.hint_at_instances(node, "node")))


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
                message = f"set {name}: there is no {family} {draft.as_written(label)}"
                draft.report(Mistake(chunk.where(row), message, draft.hint_at_instances(label, family)))
        sets[name] = distinct(joined(members))
    return sets


MOST = 10 * MAX_PROBLEMS
SET_CARDS = {"node": ("NSET", *NODE_CARDS), "element": ("ELSET", *ELEMENT_CARDS)}


def check_uses(draft: Draft) -> None:
    """Report what is used and does not exist, unless its own card had a mistake."""
    found = (check_target(draft, use) if use.family in SET_CARDS else check_name(draft, use) for use in draft.uses)
    draft.report(*islice(filter(None, found), MOST))


def check_target(draft: Draft, use: Use) -> Mistake | None:
    """A node or element label, or the name of a set."""
    is_node = use.family == "node"
    if isinstance(use.name, int):
        if use.name in draft.table(use.family).rows or draft.has_failed(*SET_CARDS[use.family][1:]):
            return None
        named = str(use.name) in (draft.node_sets if is_node else draft.element_sets)
        quoted = f'put the name in quotes, "{use.name}", for the set of that name' if named else ""
        otherwise = quoted or draft.hint_at_instances(use.name, use.family)
        return Mistake(use.place, f"there is no {use.family} {draft.as_written(use.name)}", otherwise)
    table, other = (draft.node_sets, draft.element_sets) if is_node else (draft.element_sets, draft.node_sets)
    if use.name in table or draft.has_failed(*SET_CARDS[use.family]):
        return None
    otherwise = f"{use.name} is {'an element' if is_node else 'a node'} set" if use.name in other else ""
    hint = otherwise or did_you_mean(use.name, table.chunks)
    return Mistake(use.place, f"there is no {use.family} set {use.name}", hint)


def check_name(draft: Draft, use: Use) -> Mistake | None:
    """The name of an amplitude, a material, time points: those of a card of the same name."""
    known: Mapping[str, object] = getattr(draft, use.family.lower().removesuffix("s").replace(" ", "_") + "s")
    if use.name in known or draft.has_failed(use.family.upper()):
        return None
    what = "are no" if use.family.endswith("s") else "is no"
    return Mistake(use.place, f"there {what} {use.family} {use.name}", did_you_mean(str(use.name), known))
