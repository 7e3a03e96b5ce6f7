"""Nodes, elements and sets."""

from __future__ import annotations

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
    elements = mesh.element_labels
    for name, members in mesh.node_sets.items():
        lines += [card("NSET", NSET=name), *rows_of(list(map(str, labels[members].tolist())), SET_WIDTH)]
    for name, members in mesh.element_sets.items():
        lines += [card("ELSET", ELSET=name), *rows_of(list(map(str, elements[members].tolist())), SET_WIDTH)]
    return lines
