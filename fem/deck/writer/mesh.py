"""Nodes, elements and sets."""

from __future__ import annotations

from fem.arrays import Ints
from fem.deck.writer.text import card, number, rows_of
from fem.model import Mesh

SET_WIDTH = 16


def mesh_lines(mesh: Mesh) -> list[str]:
    """``*NODE``, one ``*ELEMENT`` per block, then the sets."""
    labels = mesh.node_labels
    lines = ["*NODE"] if len(labels) else []
    for label, place in zip(labels.tolist(), mesh.coordinates.tolist(), strict=True):
        lines.append(f"{label}, {', '.join(map(number, place))}")
    for block in mesh.blocks:
        lines.append(card("ELEMENT", TYPE=block.kind))
        for label, nodes in zip(block.labels.tolist(), labels[block.connectivity].tolist(), strict=True):
            lines.append(", ".join(map(str, (label, *nodes))))
    for name, members in mesh.node_sets.items():
        lines += [card("NSET", NSET=name), *members_lines(labels[members])]
    elements = mesh.element_labels
    for name, members in mesh.element_sets.items():
        lines += [card("ELSET", ELSET=name), *members_lines(elements[members])]
    return lines


def members_lines(labels: Ints) -> list[str]:
    """Labels of a set."""
    return rows_of(list(map(str, labels.tolist())), SET_WIDTH)
