"""``*EQUATION``, ``*MPC``, ``*INITIAL CONDITIONS``, ``*HEADING``."""

from __future__ import annotations

from fem.deck.draft import Draft, EquationTerm
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Field, Row
from fem.deck.lexical.source import Mistake, listing, shown
from fem.model import InitialCondition

INITIAL = ("VELOCITY", "STRESS", "TEMPERATURE", "DISPLACEMENT")
MAX_TERMS = 100_000
ABAQUS_STRESSES = 7
"""Most entries of an initial stress row in Abaqus: an element set and six components."""


@keyword("anywhere")
def heading(card: Card, draft: Draft) -> None:
    """Any text."""
    draft.heading += [text.strip() for text in card.texts()]


def translation(field: Field) -> int:
    """A dof of a node, 1 to 3."""
    dof = field.integer("a dof")
    if dof > 6:
        raise Mistake(field.place, f"there is no dof {dof}", "1, 2, 3 are the displacements along x, y, z")
    if dof > 3:
        raise Mistake(field.place, f"dof {dof} is a rotation", "nodes of bars have only dofs 1, 2, 3")
    return dof


@keyword("model", unsupported=("REMOVE",), refuses={"INPUT": "is not supported: use *INCLUDE"})
def equation(card: Card, draft: Draft) -> None:
    """``number of terms``, then node or set, dof, coefficient; up to four terms a line."""
    rows = draft.rows(card)
    for row in rows:
        with draft.guard():
            row.end(1, "the number of terms on a line of its own")
            field = row.field(0)
            count = field.integer("the number of terms", high=MAX_TERMS)
            triples: list[tuple[Row, int]] = []
            while len(triples) < count:
                following = next(rows, None)
                if following is None:
                    raise Mistake(field.place, f"expected {count} terms, got {len(triples)}")
                if len(following) % 3:
                    message = f"expected triples node, dof, coefficient; got {len(following)} entries"
                    raise Mistake(following.place, message)
                triples += [(following, at) for at in range(0, len(following), 3)]
            if len(triples) > count:
                further, at = triples[count]
                raise Mistake(further.field(at).place, f"expected {count} terms, got more")
            terms = tuple(read_term(draft, *triple) for triple in triples)
            if terms[0].coefficient == 0.0:
                place = triples[0][0].field(2).place
                raise Mistake(place, "the first coefficient is zero: its dof is the one eliminated")
            draft.equations.append(terms)


def read_term(draft: Draft, row: Row, at: int) -> EquationTerm:
    """One triple."""
    target, dof = draft.target(row, at, "node"), translation(row.field(at + 1))
    return EquationTerm(target, dof, row.number(at + 2, "the coefficient"), row.field(at).place)


@keyword("model", unsupported=("MODE", "USER", "INPUT"))
def mpc(card: Card, draft: Draft) -> None:
    """``LINK, a, b``: two nodes, or the nodes of two sets one by one, keep their distance."""
    for row in draft.rows(card):
        with draft.guard():
            kind = row.field(0)
            if kind.text.upper() != "LINK":
                hint = "LINK, a, b keeps the distance of two nodes"
                raise Mistake(kind.place, f"*MPC of type {shown(kind.text)} is not supported", hint)
            row.end(3, "LINK, a, b")
            first, second = draft.target(row, 1, "node"), draft.target(row, 2, "node")
            draft.links.append((first, second, row.place))


@keyword("model", needs=("TYPE",), ignores=("NUMBER LAYERS",))
def initial_conditions(card: Card, draft: Draft) -> None:
    """VELOCITY, DISPLACEMENT: target, dof, value; STRESS: elements, s11; TEMPERATURE: nodes, value."""
    field = card.field("TYPE")
    kind = field.text.upper()
    if kind not in INITIAL:
        hint = f"{listing(INITIAL, 'and')} are"
        raise Mistake(field.place, f"*INITIAL CONDITIONS, TYPE={shown(kind)[1:-1]} is not supported", hint)
    if kind == "DISPLACEMENT":
        draft.extension("*INITIAL CONDITIONS, TYPE=DISPLACEMENT")
    for row in draft.rows(card):
        with draft.guard():
            draft.initial.append((read_condition(row, kind, draft), row.place))


def read_condition(row: Row, kind: str, draft: Draft) -> InitialCondition:
    """One line."""
    if kind == "STRESS":
        target = draft.target(row, 0, "element")
        value = row.number(1, "the stress s11")
        if len(row) > ABAQUS_STRESSES:
            hint = "CalculiX's rows (element, integration point, six stresses) are not read: give element set, s11"
            raise Mistake(row.field(1).place, f"expected element set, s11, got {len(row)} entries", hint)
        for at in range(2, len(row)):
            if row.number(at, "a stress component", 0.0) != 0.0:
                raise Mistake(row.field(at).place, "bars carry s11 only", "give element set, s11")
        return InitialCondition(kind, target, value)
    target = draft.target(row, 0, "node")
    if kind == "TEMPERATURE":
        row.end(2, "nodes, temperature")
        return InitialCondition(kind, target, row.number(1, "the temperature"))
    row.end(3, "nodes, dof, value")
    return InitialCondition(kind, target, row.number(2, "the value"), translation(row.field(1)))
