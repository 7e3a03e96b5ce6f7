"""``*SEABED``: a plane bottom below lines. Its elements, and where it lies, are known when all cards are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Ints
from fem.deck.draft import Bed, Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.model import Mesh, RigidCylinder, Seabed
from fem.model.mesh import BARS

SMALL = 0.01
"""Ramp of the damping and slip of the friction over the contact width, where they are not given."""
STEEPEST = 60.0
OF_MESH = ("NODE", "NGEN", "NFILL", "ELEMENT", "ELGEN", "INCLUDE")
"""Cards without which places of elements are not known."""
TOO_DEEP = 10.0
"""Widths by which a node may lie below the bottom at the start."""
OURS = ("ELSET", "ELEVATION", "SLOPE", "UPHILL", "FRICTION")


@keyword("model", takes=OURS)
def seabed(card: Card, draft: Draft) -> None:
    """``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``."""
    draft.extension("*SEABED")
    elements = draft.named_if(card, "ELSET", "element")
    elevation, slope, uphill = map(card.number, ("ELEVATION", "SLOPE", "UPHILL"))
    if not abs(slope) < STEEPEST:
        message = f"SLOPE must lie between -{STEEPEST:g} and {STEEPEST:g} degrees, got {slope:g}"
        raise Mistake(card.field("SLOPE").place, message, "UPHILL= says to which side it rises, in degrees from +x")
    rows = list(draft.rows(card))
    bed = Seabed(elements, elevation, **contact(card, rows), slope=slope, uphill=uphill)
    draft.seabeds.append(Bed(card, bed))


def contact(card: Card, rows: list[Row]) -> dict[str, Any]:
    """How a surface presses and rubs: ``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``."""
    friction = card.word("FRICTION", ("DYNAMIC", "ALL"), "DYNAMIC")
    if len(rows) > 2:
        raise Mistake(rows[2].place, f"*{card.keyword} takes two data lines: stiffness, and friction")
    rows[0].end(4, "stiffness K, damping C, contact width D, ramp of the damping")
    stiffness = rows[0].amount(0, "the stiffness K", positive=True)
    width = rows[0].amount(2, "the contact width D", positive=True)
    damping = rows[0].amount(1, "the damping C", 0.0)
    ramp = rows[0].amount(3, "the ramp of the damping", SMALL * width, positive=True)
    found = {"stiffness": stiffness, "width": width, "damping": damping, "ramp": ramp}
    if len(rows) > 1:
        rows[1].end(3, "friction along the line, friction across it, slip")
        found["axial"] = rows[1].amount(0, "the coefficient of friction")
        found["lateral"] = rows[1].amount(1, "the coefficient of friction across the line", found["axial"])
        found["slip"] = rows[1].amount(2, "the slip", SMALL * width, positive=True)
    return {**found, "rubs_in_statics": friction == "ALL"}


def elevated(draft: Draft, bed: Bed) -> Seabed:
    """A bottom where it lies: by its card, or by that of the water."""
    if bed.card.has("ELEVATION") or draft.has_failed("AQUA"):
        return bed.value
    if draft.water is None:
        hint = "ELEVATION= is the height of the plane at x = y = 0, else that of *AQUA"
        raise bed.card.mistake("nothing says how deep the bottom lies", hint)
    return replace(bed.value, elevation=draft.water.seabed)


def build_seabeds(draft: Draft, mesh: Mesh) -> tuple[Seabed, ...]:
    """All of them, each with its elevation; what touches two of them, or lies deep below one, is a mistake."""
    is_bar = mesh.is_of(*BARS)
    taken = np.zeros(len(is_bar), np.bool_)
    found: list[Seabed] = []
    for entry in draft.seabeds:
        draft.card = card = entry.card
        with draft.guard():
            bed = elevated(draft, entry)
            elements = mesh.bars_in(bed.element_set)
            check_elements(card, draft, mesh, elements, is_bar, taken)
            check_depth(card, draft, bed, mesh, elements)
            taken[elements] = True
            found.append(bed)
    draft.card = None
    return tuple(found)


def check_elements(card: Card, draft: Draft, mesh: Mesh, elements: Ints, is_bar: np.ndarray, taken: np.ndarray) -> None:
    """They are bars, above one bottom each."""
    labels = mesh.element_labels
    nothing = f"is no bar: only T3D2 and T2D2 lie on a *{card.keyword}"
    for wrong, what in ((~is_bar, nothing), (taken, "lies on two bottoms")):
        if wrong[elements].any():
            label = draft.as_written(int(labels[elements[wrong[elements]][0]]))
            raise card.mistake(f"element {label} {what}")


def check_depth(card: Card, draft: Draft, bed: Seabed | RigidCylinder, mesh: Mesh, elements: Ints) -> None:
    """No node begins far below the surface."""
    nodes = np.unique(mesh.element_nodes[elements])
    if not len(nodes) or draft.has_failed(*OF_MESH):
        return
    depth = bed.depth(mesh.coordinates[nodes], mesh.up)
    deepest = int(depth.argmax())
    most, what = TOO_DEEP * bed.width, f"{TOO_DEEP:g} contact widths"
    if isinstance(bed, RigidCylinder) and most > 0.5 * bed.radius:
        most, what = 0.5 * bed.radius, "half of the radius"
    if depth[deepest] > most:
        label = draft.as_written(int(mesh.node_labels[nodes[deepest]]))
        where = "inside the cylinder" if isinstance(bed, RigidCylinder) else "below the bottom"
        hint = f"it may be at most {what} ({most:g}) deep"
        raise card.mistake(f"node {label} begins {depth[deepest]:.6g} {where}", hint)
