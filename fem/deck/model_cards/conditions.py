"""``*EQUATION``, ``*MPC``, ``*RIGID BODY``, ``*INITIAL CONDITIONS``, ``*HEADING``."""

from __future__ import annotations

import numpy as np

from fem.deck.draft import Draft, EquationTerm, RigidBodyDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Field, Row
from fem.deck.lexical.source import Mistake, listing, shown
from fem.deck.mesh_draft import SAME_PLACE
from fem.model import InitialCondition

INITIAL = ("VELOCITY", "STRESS", "TEMPERATURE", "DISPLACEMENT", "ANCHOR")
OURS = ("DISPLACEMENT", "ANCHOR")
MAX_TERMS = 100_000
POINT_STRESSES = 8
"""Entries of an initial stress row in CalculiX: element, integration point, six components; Abaqus has one less."""
MOST_HEADING = 20_000
"""Characters of a heading that are kept."""


@keyword("anywhere")
def heading(card: Card, draft: Draft) -> None:
    """Any text."""
    text = "\n".join(text.strip() for text in card.texts())
    if len(text) > MOST_HEADING:
        draft.notice(f"the heading is cut after {MOST_HEADING} characters")
    draft.heading += text[:MOST_HEADING].splitlines()


def dof_of(field: Field) -> int:
    """A dof, 1 to 6."""
    dof = field.integer("a dof")
    if dof > 6:
        hint = "temperatures are given by *TEMPERATURE" if dof == 11 else "1, 2, 3 are displacements, 4, 5, 6 rotations"
        raise Mistake(field.place, f"there is no dof {dof}", hint)
    return dof


def translation(field: Field) -> int:
    """A dof of a node, 1 to 3."""
    dof = dof_of(field)
    if dof > 3:
        raise Mistake(field.place, f"dof {dof} is a rotation", "nodes of bars have only dofs 1, 2, 3")
    return dof


@keyword("model", unsupported=("REMOVE",))
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


@keyword("model", unsupported=("MODE", "USER"))
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


FREE_BODY = "makes a free body, which is not supported: reference nodes move as *BOUNDARY says"
PLUS = ("ROTATION",)
FREE_BODIES = dict.fromkeys(("DENSITY", "POSITION"), FREE_BODY)
OTHER_BODIES = ("TIE NSET", "NSET", "ELSET", "ROT NODE", "ANALYTICAL SURFACE")


@keyword("model", PLUS, ("REF NODE", "PIN NSET"), refuses=FREE_BODIES, unsupported=OTHER_BODIES, plus=PLUS)
def rigid_body(card: Card, draft: Draft) -> None:
    """Nodes that follow the six motions of a reference node."""
    field = card.field("REF NODE")
    node: str | int = field.integer("a node label") if field.is_integer() else card.needed("REF NODE")
    draft.use("node", node, field.place)
    pinned = draft.named(card, "PIN NSET", "node")
    draft.bodies.append(RigidBodyDraft(card, node, pinned, card.word("ROTATION", ("RPY", "VECTOR"), "RPY")))
    draft.no_rows(card)


@keyword("model", needs=("TYPE",), ignores=("NUMBER LAYERS",))
def initial_conditions(card: Card, draft: Draft) -> None:
    """VELOCITY, DISPLACEMENT, ANCHOR: target, dof, value; STRESS: elements, s11; TEMPERATURE: nodes, value.

    ANCHOR: where the friction of a bottom holds a node, as a displacement of it.
    """
    field = card.field("TYPE")
    kind = field.text.upper()
    if kind not in INITIAL:
        hint = f"{listing(INITIAL, 'and')} are"
        raise Mistake(field.place, f"*INITIAL CONDITIONS, TYPE={shown(kind)[1:-1]} is not supported", hint)
    if kind in OURS:
        draft.extension(f"*INITIAL CONDITIONS, TYPE={kind}")
    for row in draft.rows(card):
        with draft.guard():
            draft.initial.append((read_condition(row, kind, draft), row.place))


@keyword("model", needs=("NSET",), takes=("TYPE",))
def transform(card: Card, draft: Draft) -> None:
    """``xa, ya, za, xb, yb, zb``: x' points to a, y' lies towards b in the plane of both."""
    if card.word("TYPE", ("R", "C", "S"), "R") != "R":
        raise Mistake(card.field("TYPE").place, "axes of *TRANSFORM that turn about are not supported", "TYPE=R is")
    row = draft.single_row(card, "two points")
    row.end(6, "two points: xa, ya, za, xb, yb, zb")
    first, second = np.array([row.number(at, "a coordinate", 0.0) for at in range(6)]).reshape(2, 3)
    third = np.cross(first, second)
    size = np.linalg.norm(third)
    if not size > SAME_PLACE * np.linalg.norm(first) * np.linalg.norm(second):
        raise Mistake(row.place, "the two points of *TRANSFORM and the origin lie on a line")
    axes = np.array([first, np.cross(third, first), third])
    draft.axes.append((draft.named(card, "NSET", "node"), axes / np.linalg.norm(axes, axis=1)[:, None]))


def read_condition(row: Row, kind: str, draft: Draft) -> InitialCondition:
    """One line."""
    if kind == "STRESS":
        target = draft.target(row, 0, "element")
        value = row.number(1, "the stress s11")
        first = 1
        if len(row) == POINT_STRESSES:
            row.integer(1, "the integration point")
            first, value = 2, row.number(2, "the stress s11")
            known = draft.point_stresses.setdefault(target, value)
            if known != value:
                message = f"s11 of element {target} is {value:g} here and {known:g} at another integration point"
                raise Mistake(row.field(2).place, message, "a bar has one stress")
            draft.notice("initial stresses of integration points: s11 is the stress along the bar")
        row.end(POINT_STRESSES, "element set, s11, or element, integration point, six stresses")
        for at in range(first + 1, len(row)):
            if row.number(at, "a stress component", 0.0) != 0.0:
                raise Mistake(row.field(at).place, "bars carry s11 only", "give element set, s11")
        return InitialCondition(kind, target, value)
    target = draft.target(row, 0, "node")
    if kind == "TEMPERATURE":
        row.end(2, "nodes, temperature")
        return InitialCondition(kind, target, row.number(1, "the temperature"))
    row.end(3, "nodes, dof, value")
    return InitialCondition(kind, target, row.number(2, "the value"), translation(row.field(1)))
