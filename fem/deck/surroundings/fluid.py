"""``*AQUA``, ``*WIND``, ``*DRAG LAW``, ``*MARINE GROWTH``: water and wind, before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.model import DragLaw, MarineGrowth, Water, Wind

STREAM = ("vx", "vy", "vz", "the elevation")
NOT_FIELDS = "velocities that change along x and y are not supported: vx, vy, vz, elevation are"


def rising(rows: Sequence[tuple[Row, tuple[float, ...]]], at: int, what: str) -> tuple[Any, ...]:
    """The numbers of data lines in the order of number ``at``; Mistake where two lines have the same."""
    found = sorted(rows, key=lambda pair: pair[1][at])
    for (_, one), (row, other) in pairwise(found):
        if other[at] <= one[at]:
            raise Mistake(row.place, f"two lines have the same {what}, {other[at]:g}")
    return tuple(numbers for _, numbers in found)


def once(card: Card, known: object) -> None:
    """There is one water and one wind."""
    if known is not None:
        raise card.mistake(f"the deck has two *{card.keyword}")


@keyword("model")
def aqua(card: Card, draft: Draft) -> None:
    """``seabed elevation, still level, g, density``, then lines ``vx, vy, vz, elevation`` of the current."""
    once(card, draft.water)
    rows = list(draft.rows(card))
    first = rows[0]
    first.end(4, "seabed elevation, still level, g, density")
    seabed, level = first.number(0, "the elevation of the seabed"), first.number(1, "the still level")
    gravity, density = first.amount(2, "g"), first.amount(3, "the density")
    if seabed > level:
        raise Mistake(first.place, f"the seabed at {seabed:g} is above the still level, {level:g}")
    current = []
    for row in rows[1:]:
        if len(row) > 4:
            raise Mistake(row.field(4).place, NOT_FIELDS)
        current.append((row, tuple(row.number(at, what, 0.0) for at, what in enumerate(STREAM))))
    draft.water = Water(seabed, level, gravity, density, rising(current, 3, "elevation"))


@keyword("model")
def wind(card: Card, draft: Draft) -> None:
    """``air density, reference height, cx, cy, ix, iy, alpha``."""
    once(card, draft.wind)
    row = draft.single_row(card, "air density, reference height, cx, cy, ix, iy, alpha")
    row.end(7, "air density, reference height, cx, cy, ix, iy, alpha")
    density, reference = row.amount(0, "the density of air"), row.amount(1, "the reference height", positive=True)
    speeds = row.number(2, "cx", 1.0), row.number(3, "cy", 1.0)
    along = row.number(4, "ix", 0.0), row.number(5, "iy", 0.0)
    if not row.field(4).text and not row.field(5).text:
        along = 1.0, 0.0
    if along[0] == 0.0 and along[1] == 0.0:
        raise Mistake(row.field(4).place, "the wind has no direction", "ix, iy is a unit vector, for example 1, 0")
    power = row.amount(6, "alpha", 1.0 / 7.0)
    size = along[0] * along[0] + along[1] * along[1]
    if abs(size - 1.0) > 2e-3:
        draft.notice("*WIND: ix, iy is no unit vector: speeds are multiplied by its length")
    draft.wind = Wind(density, reference, speeds, along, power)


@keyword("model", needs=("NAME",))
def drag_law(card: Card, draft: Draft) -> None:
    """``speed, force per length``, from 0, 0."""
    draft.extension("*DRAG LAW")
    name = draft.declare(card, "drag law")
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(2, "speed, force per length")
        rows.append((row, (row.amount(0, "the speed"), row.amount(1, "the force per length"))))
    law = rising(rows, 0, "speed")
    if law[0][0] > 0.0:
        law = ((0.0, 0.0), *law)
    elif law[0][1] != 0.0:
        raise Mistake(rows[0][0].place, f"the force at speed 0 must be 0, got {law[0][1]:g}")
    if len(law) < 2:
        raise card.mistake(f"drag law {name} has no force at any speed but 0")
    if law[-1][1] < law[-2][1]:
        raise Mistake(rows[-1][0].place, "the force falls at the end of the law", "its last slope goes on for ever")
    draft.drag_laws[name] = DragLaw(name, law)


@keyword("model", needs=("ELSET", "DIAMETER"))
def marine_growth(card: Card, draft: Draft) -> None:
    """``thickness, density, elevation``."""
    draft.extension("*MARINE GROWTH")
    element_set, diameter = draft.named(card, "ELSET", "element"), card.positive("DIAMETER")
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(3, "thickness, density, elevation")
        thickness, density = row.amount(0, "the thickness"), row.amount(1, "the density of the growth")
        rows.append((row, (row.number(2, "the elevation", 0.0), thickness, density)))
    draft.growths.append((MarineGrowth(element_set, diameter, rising(rows, 0, "elevation")), card.place))
