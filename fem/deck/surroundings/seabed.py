"""``*SEABED``: a plane bottom below lines. Its elements, and where it lies, are known when all cards are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.arrays import Ints
from fem.deck.draft import Bed, Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.deck.surroundings.fluid import amount
from fem.model import Mesh, Seabed
from fem.model.mesh import BARS

SMALL = 0.01
"""Ramp of the damping and slip of the friction over the contact width, where they are not given."""
STEEPEST = 60.0
TOO_DEEP = 10.0
"""Widths by which a node may lie below the bottom at the start."""
OURS = ("ELSET", "ELEVATION", "SLOPE", "UPHILL", "FRICTION")


@keyword("model", takes=OURS)
def seabed(card: Card, draft: Draft) -> None:
    """``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``."""
    draft.extension("*SEABED")
    elements = draft.named_if(card, "ELSET", "element")
    elevation, slope, uphill = map(card.number, ("ELEVATION", "SLOPE", "UPHILL"))
    if not 0.0 <= slope < STEEPEST:
        message = f"SLOPE must be at least 0 and less than {STEEPEST:g} degrees, got {slope:g}"
        raise Mistake(card.field("SLOPE").place, message, "UPHILL= says to which side it rises, in degrees from +x")
    friction = card.word("FRICTION", ("DYNAMIC", "ALL"), "DYNAMIC")
    rows = list(draft.rows(card))
    if len(rows) > 2:
        raise Mistake(rows[2].place, "*SEABED takes two data lines: stiffness, and friction")
    rows[0].end(4, "stiffness K, damping C, contact width D, ramp of the damping")
    stiffness = amount(rows[0], 0, "the stiffness K", positive=True)
    width = amount(rows[0], 2, "the contact width D", positive=True)
    damping = amount(rows[0], 1, "the damping C", 0.0)
    ramp = amount(rows[0], 3, "the ramp of the damping", SMALL * width, positive=True)
    bed = Seabed(elements, elevation, stiffness, width, damping, ramp, slope=slope, uphill=uphill)
    if len(rows) > 1:
        rows[1].end(3, "friction along the line, friction across it, slip")
        axial = amount(rows[1], 0, "the coefficient of friction")
        lateral = amount(rows[1], 1, "the coefficient of friction across the line", axial)
        slip = amount(rows[1], 2, "the slip", SMALL * width, positive=True)
        bed = replace(bed, axial=axial, lateral=lateral, slip=slip)
    bed = replace(bed, rubs_in_statics=friction == "ALL")
    draft.seabeds.append(Bed(card, bed, card.has("ELEVATION")))


def elevated(draft: Draft, bed: Bed) -> Seabed:
    """A bottom where it lies: by its card, or by that of the water."""
    if bed.has_elevation or draft.has_failed("AQUA"):
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
    for wrong, what in ((~is_bar, "is no bar: only T3D2 and T2D2 lie on a *SEABED"), (taken, "lies on two bottoms")):
        if wrong[elements].any():
            label = draft.as_written(int(labels[elements[wrong[elements]][0]]))
            raise card.mistake(f"element {label} {what}")


def check_depth(card: Card, draft: Draft, bed: Seabed, mesh: Mesh, elements: Ints) -> None:
    """No node begins far below the plane."""
    nodes = np.unique(mesh.element_nodes[elements])
    if not len(nodes) or draft.has_failed("NODE", "NGEN", "NFILL", "ELEMENT", "ELGEN", "INCLUDE"):
        return
    depth = bed.depth(mesh.coordinates[nodes], mesh.up)
    deepest = int(depth.argmax())
    if depth[deepest] > TOO_DEEP * bed.width:
        label = draft.as_written(int(mesh.node_labels[nodes[deepest]]))
        most = f"{TOO_DEEP:g} contact widths ({TOO_DEEP * bed.width:g})"
        raise card.mistake(
            f"node {label} begins {depth[deepest]:.6g} below the bottom", f"it may be at most {most} deep"
        )
