"""Data lines of ``*SPRING`` and ``*DASHPOT``: an optional dof line, then a constant or a table.

| elements            | dof line                                             | then            |
|---------------------|------------------------------------------------------|-----------------|
| SPRINGA, DASHPOTA   | none, blank, or up to two dofs (without effect)      | k, c or a table |
| SPRING1, DASHPOT1   | one dof                                              | k, c or a table |
| SPRING2, DASHPOT2   | two dofs: of the first node, of the second           | k, c or a table |
A table row has two entries, so a first row of two entries above a table of SPRINGA is its first point.
"""

from __future__ import annotations

from fem.deck.draft import Draft
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.deck.model_cards.conditions import translation
from fem.model import Dashpot, Spring


def read_spring(card: Card, element_set: str, kind: str, draft: Draft) -> Spring:
    """A linear spring, or a table (force, elongation)."""
    table = card.flag("NONLINEAR")
    dofs, rows = split_dofs(card, draft, kind, table)
    if not table:
        return Spring(element_set, dofs, constant(card, rows, "the stiffness"))
    points = tuple(point(row) for row in rows)
    for row, before, after in zip(rows[1:], points, points[1:], strict=False):
        if after[1] <= before[1]:
            message, hint = f"elongations must rise: {after[1]:g} after {before[1]:g}", "rows are force, elongation"
            raise Mistake(row.field(1).place, message, f"{hint}; a dof line of SPRINGA is left blank")
    if len(points) < 2:
        raise card.mistake("a nonlinear spring needs at least two rows force, elongation")
    return Spring(element_set, dofs, 0.0, points)


def read_dashpot(card: Card, element_set: str, kind: str, draft: Draft) -> Dashpot:
    """A linear dashpot."""
    dofs, rows = split_dofs(card, draft, kind, False)
    value = constant(card, rows, "the damping coefficient")
    if value < 0.0:
        raise Mistake(rows[0].place, f"the damping coefficient is negative: {value:g}")
    return Dashpot(element_set, dofs, value)


def split_dofs(card: Card, draft: Draft, kind: str, table: bool) -> tuple[tuple[int, ...], list[Row]]:
    """The dofs and the rows after them."""
    rows = list(draft.rows(card))
    count = {"A": 0, "1": 1, "2": 2}[kind[-1]]
    if count == 0:
        # above the data may stand a line of one dof, or of two above a constant, without effect
        is_idle = len(rows) > 1 and len(rows[0]) <= (1 if table else 2)
        is_idle = is_idle and all(field.text in ("", "1", "2", "3", "4", "5", "6") for field in rows[0].fields())
        return (), rows[1:] if is_idle else rows
    first = rows[0]
    what = "a line with one dof" if count == 1 else "a line with two dofs"
    if len(rows) == 1:
        raise Mistake(first.place, f"*{card.keyword} for {kind} needs {what}, then the constant; got one line")
    if len(first) != count:
        raise Mistake(first.place, f"expected {what} for {kind}, got {len(first)} entries")
    return tuple(translation(first.field(at)) for at in range(count)), rows[1:]


def constant(card: Card, rows: list[Row], what: str) -> float:
    """The one number of a linear spring or dashpot."""
    if len(rows) > 1:
        hint = "for a table say NONLINEAR" if card.keyword == "SPRING" else ""
        raise Mistake(rows[1].place, f"expected one line with {what}, got a second", hint)
    rows[0].end(1, f"{what} alone (it depends on neither frequency nor temperature)")
    return rows[0].number(0, what)


def point(row: Row) -> tuple[float, float]:
    """force, elongation."""
    row.end(2, "force, elongation")
    return row.number(0, "the force"), row.number(1, "the elongation")
