"""Constraints of nodes: equations, links, rigid bodies, local axes; initial conditions; contradictions of supports."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.beams import Clamps
from fem.deck.cards import Card, Field, Row
from fem.deck.draft import SAME_PLACE, Draft, EquationTerm, StepDraft
from fem.deck.kinds import ANY, REFERENCE, Kind, name_of, target_of, word_of
from fem.deck.lookup import Lookup
from fem.deck.source import Mistake, Place, did_you_mean, listing, shown
from fem.deck.table import DataLine, Parameters, Value, keyword
from fem.model import Boundary, Equation, InitialCondition, Mesh, Model, RigidBody, Step
from fem.model.beams import beams_at
from fem.model.mesh import BARS, REEVED

INITIAL = ("VELOCITY", "STRESS", "TEMPERATURE", "DISPLACEMENT", "ANCHOR")
OURS = ("DISPLACEMENT", "ANCHOR")
MAX_TERMS = 100_000
POINT_STRESSES = 8
"""Entries of an initial stress row in CalculiX: element, integration point, six components; Abaqus has one less."""
MOST_HEADING = 20_000
"""Longest heading that is kept, in characters."""


@keyword("HEADING", "anywhere")
def heading(card: Card, draft: Draft) -> None:
    """Title lines: any text."""
    text = "\n".join(text.strip() for text in card.texts())
    if len(text) > MOST_HEADING:
        draft.notice(f"the heading is truncated after {MOST_HEADING} characters")
    draft.heading += text[:MOST_HEADING].splitlines()


def dof_of(field: Field) -> int:
    dof = field.integer("a dof")
    if dof > 6:
        hint = "use *TEMPERATURE for temperatures" if dof == 11 else "1, 2, 3 are displacements, 4, 5, 6 rotations"
        raise Mistake(field.place, f"there is no dof {dof}", hint)
    return dof


def translation(field: Field) -> int:
    dof = dof_of(field)
    if dof > 3:
        raise Mistake(field.place, f"dof {dof} is a rotation", "nodes of bars have only dofs 1, 2, 3")
    return dof


DOF = Kind(lambda field, what, draft: dof_of(field), str)
"""Dof of a node in a data line; it may be a rotation."""
NODES = Value("target", target_of("node"))
NODAL_VALUE = DataLine("nodes, dof, value", NODES, Value("dof", DOF), Value("value", ANY, "the value"))
NODAL_TEMPERATURE = DataLine("nodes, temperature", NODES, Value("value", ANY, "the temperature"))


@keyword("EQUATION", "model", unsupported=("REMOVE",))
def equation(card: Card, draft: Draft) -> None:
    """``number of terms``, then node or set, dof, coefficient; up to four terms a line."""
    rows = draft.rows(card)
    for row in rows:
        with draft.guard():
            row.end(1, "the number of terms, on a separate line")
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
                raise Mistake(place, "the first coefficient must not be zero: its dof is eliminated")
            draft.equations.append(terms)


def read_term(draft: Draft, row: Row, at: int) -> EquationTerm:
    target, dof = draft.target(row.field(at), "node"), translation(row.field(at + 1))
    return EquationTerm(target, dof, row.number(at + 2, "the coefficient"), row.field(at).place)


@keyword("MPC", "model", unsupported=("MODE", "USER"))
def mpc(card: Card, draft: Draft) -> None:
    """``LINK, a, b``: two nodes keep their distance. ``PIN, a, b``, ``TIE, a, b``: a has the displacements of b. Sets
    node by node; a set of one node is that node."""
    for row in draft.rows(card):
        with draft.guard():
            kind = row.field(0).text.upper()
            if kind not in ("LINK", "PIN", "TIE"):
                hint = "LINK, a, b keeps the distance of two nodes, PIN and TIE move them as one; *RIGID BODY is stiff"
                raise Mistake(row.field(0).place, f"*MPC of type {shown(row.field(0).text)} is not supported", hint)
            row.end(3, f"{kind}, a, b")
            first, second = draft.target(row.field(1), "node"), draft.target(row.field(2), "node")
            if kind == "LINK":
                draft.links.append((first, second, row.place))
                continue
            draft.ties[row.place] = kind
            for dof in (1, 2, 3):
                pair = (first, 1.0), (second, -1.0)
                draft.equations.append(tuple(EquationTerm(node, dof, factor, row.place) for node, factor in pair))


FREE_BODY = "is not supported: ROTARYI and MASS elements at the reference node make a body free"
FREE = "a body that moves by itself has ROTARYI and MASS elements at its reference node"
FREE_BODIES = dict.fromkeys(("DENSITY", "POSITION"), FREE_BODY)
OTHER_BODIES = ("ELSET", "ROT NODE", "ANALYTICAL SURFACE")
TIED = ("PIN NSET", "TIE NSET", "NSET")
"""Parameters for the nodes of a body. Nodes have no rotations here, so all these sets are tied in the same way."""
RIGID_BODY = Parameters(
    {
        "REF NODE": Value("node", REFERENCE),
        "PIN NSET": Value("pinned", name_of("node"), default="", shown=True),
        "ROTATION": Value("rotation", word_of("RPY", "VECTOR"), default="RPY", shown=True, is_ours=True),
        "RAO": Value("rao", name_of("RAO"), default=None, is_ours=True),
        "HEADING": Value("heading", ANY, default=0.0, is_ours=True),
        "CORNERS": Value("corners", name_of("node"), default=None, is_ours=True),
        "AXES": Value("axes", name_of("node"), default=None, is_ours=True),
    }
)


@keyword("RIGID BODY", "model", RIGID_BODY, takes=TIED[1:], refuses=FREE_BODIES, unsupported=OTHER_BODIES)
def rigid_body(card: Card, draft: Draft) -> None:
    """Nodes that move rigidly with a reference node, with its six motions."""
    if card.has("HEADING") and not card.has("RAO"):
        raise Mistake(card.field("HEADING").place, "HEADING is for RAO=")
    if sum(map(card.has, TIED)) != 1:
        raise card.mistake(f"*RIGID BODY needs one of {listing([f'{name}=' for name in TIED], 'and')}")
    field = tied_field(card)
    given = RIGID_BODY.read(card, draft) | {"pinned": name_of("node").read(field, f"{field.text}=", draft)}
    draft.bodies.append((RigidBody(**given), card))
    draft.no_rows(card)


def tied_field(card: Card) -> Field:
    return next(card.field(name) for name in TIED if card.has(name))


@keyword("INITIAL CONDITIONS", "model", needs=("TYPE",), ignores=("NUMBER LAYERS",))
def initial_conditions(card: Card, draft: Draft) -> None:
    """VELOCITY, DISPLACEMENT, ANCHOR: target, dof, value; TEMPERATURE: nodes, value; STRESS: elements, s11, along bars,
    or as in CalculiX element, integration point, xx, yy, zz, xy, xz, yz in global axes.
        ANCHOR: displacement of the anchor of a node's friction on the seabed."""
    field = card.field("TYPE")
    kind = field.text.upper()
    if kind not in INITIAL:
        hint = f"{listing(INITIAL, 'and')} are"
        raise Mistake(field.place, f"*INITIAL CONDITIONS, TYPE={shown(kind)[1:-1]} is not supported", hint)
    if kind in OURS:
        draft.extension(f"*INITIAL CONDITIONS, TYPE={kind}")
    for row in draft.rows(card):
        with draft.guard():
            condition = read_condition(row, kind, draft)
            draft.initial_conditions.append((condition, row.field(1).place if condition.dof > 3 else row.place))


@keyword("TRANSFORM", "model", needs=("NSET",), takes=("TYPE",))
def transform(card: Card, draft: Draft) -> None:
    """``xa, ya, za, xb, yb, zb``: x' points to a, y' lies towards b in the plane of both."""
    if card.word("TYPE", ("R", "C", "S"), "R") != "R":
        raise Mistake(card.field("TYPE").place, "*TRANSFORM, TYPE=C and TYPE=S are not supported", "TYPE=R is")
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
    if kind == "STRESS":
        target = draft.target(row.field(0), "element")
        if len(row) == POINT_STRESSES:
            row.integer(1, "the integration point")
            stress = tuple(row.number(at, "a stress component") for at in range(2, POINT_STRESSES))
            if draft.point_stresses.setdefault(target, stress) != stress:
                message = f"element {target} has another stress at another integration point"
                raise Mistake(row.field(2).place, message, "a bar has one stress")
            return InitialCondition(kind, target, stress[0])
        if target in draft.point_stresses:
            raise Mistake(row.place, f"element {target} has a stress at integration points")
        value = row.number(1, "the stress s11")
        row.end(POINT_STRESSES, "element set, s11, or element, integration point, six stresses in global axes")
        for at in range(2, len(row)):
            if row.number(at, "a stress component", 0.0) != 0.0:
                raise Mistake(row.field(at).place, "bars carry s11 only", "give element set, s11")
        return InitialCondition(kind, target, value)
    line = NODAL_TEMPERATURE if kind == "TEMPERATURE" else NODAL_VALUE
    return InitialCondition(kind, **line.read(row, draft))


def check_supports(draft: Draft, mesh: Mesh, nodes: Lookup) -> None:
    """Checks for contradictions: model supports, then supports of each step; real and imaginary parts separately."""
    for group in (draft.boundaries, *(step.boundaries for step in draft.steps)):
        owners = np.full((2, 6 * len(mesh.node_labels)), -1, dtype=np.int64)
        for number, (entry, place) in enumerate(group):
            dofs = 6 * nodes.members(entry.target) + entry.dof - 1
            for owner, earlier in [(part, each) for part in owners for each in sorted({*part[dofs].tolist()})]:
                if earlier >= 0 and contradict(entry, group[earlier][0]):
                    node, axis = divmod(int(dofs[owner[dofs] == earlier][0]), 6)
                    message = f"node {written(draft, mesh, node)}, dof {axis + 1} is prescribed twice in different ways"
                    draft.report(Mistake(place, message, f"first at {group[earlier][1]}"))
                    break
            owners[int(entry.is_imaginary), dofs] = number


def contradict(one: Boundary, other: Boundary) -> bool:
    """Whether two motions of one dof differ. Zero is zero with any amplitude; parts of harmonic motions are added."""
    if one.kind == other.kind and (one.value == other.value == 0.0 or one.is_imaginary != other.is_imaginary):
        return False
    return (one.kind, one.value, one.amplitude) != (other.kind, other.value, other.amplitude)


def build_equations(draft: Draft, mesh: Mesh, nodes: Lookup) -> tuple[Equation, ...]:
    """Node indices; an equation over sets becomes one per member."""
    equations: list[Equation] = []
    eliminated: dict[tuple[int, int], Place] = {}
    turned = {node for name, _ in draft.axes for node in nodes.members(name).tolist()} if draft.ties else set[int]()
    bent = beams_at(mesh) if "TIE" in draft.ties.values() and not draft.mistakes else {}
    for terms in draft.equations:
        with draft.guard():
            for equation in expand(draft, nodes, terms):
                dofs = [(node, dof) for node, dof, _ in equation.terms]
                check_tie(draft, mesh, dofs, terms[0].place, turned, bent)
                if len(set(dofs)) < len(dofs):
                    raise Mistake(terms[0].place, "the equation contains the same dof of the same node twice")
                if dofs[0] in eliminated:
                    message = f"node {written(draft, mesh, dofs[0][0])}, dof {dofs[0][1]} comes first in two equations"
                    raise Mistake(terms[0].place, message, f"the other is at {eliminated[dofs[0]]}")
                eliminated[dofs[0]] = terms[0].place
                equations.append(equation)
    return tuple(equations)


def check_tie(
    draft: Draft, mesh: Mesh, dofs: list[tuple[int, int]], place: Place, turned: set[int], bent: Container[int]
) -> None:
    """Mistake if nodes of a TIE or PIN have other axes, or if a TIE would have to join directions of beams."""
    kind, own = draft.ties.get(place), [node for node, _ in dofs]
    for node in turned.intersection(own) if kind else ():
        raise Mistake(
            place, f"node {written(draft, mesh, node)} of *MPC {kind} has axes by *TRANSFORM", "use *EQUATION"
        )
    if kind == "TIE" and all(node in bent for node in own):
        message = f"TIE of lines that bend, at nodes {listing([written(draft, mesh, node) for node in own], 'and')}"
        raise Mistake(place, message, "let them share a node, which joins their directions; PIN makes a hinge")


def expand(draft: Draft, nodes: Lookup, terms: tuple[EquationTerm, ...]) -> list[Equation]:
    """One equation for each member of the sets, which have equal size; a single node, or a set of one, is in all."""
    columns = [column(draft, nodes, term.target) for term in terms]
    if not all(map(len, columns)):
        return []
    sizes = {len(found) for found in columns if len(found) > 1}
    if len(sizes) > 1:
        raise Mistake(terms[0].place, f"the sets of the equation have different sizes: {sorted(sizes)}")
    count = max(map(len, columns))
    draft.spend(count * len(terms) if sizes else 0, terms[0].place)
    rows = [found.tolist() * (count // len(found)) for found in columns]
    return [
        Equation(tuple((row[at], term.dof, term.coefficient) for row, term in zip(rows, terms, strict=True)))
        for at in range(count)
    ]


def build_links(draft: Draft, mesh: Mesh, nodes: Lookup) -> tuple[tuple[int, int], ...]:
    """Pairs of node indices; two sets are paired in their order."""
    pairs: list[tuple[int, int]] = []
    for *targets, place in draft.links:
        with draft.guard():
            columns = [column(draft, nodes, target) for target in targets]
            if len(columns[0]) != len(columns[1]) and min(map(len, columns)) > 1:
                raise Mistake(place, f"the sets of *MPC have different sizes: {len(columns[0])} and {len(columns[1])}")
            count = max(map(len, columns)) if all(map(len, columns)) else 0
            for pair in zip(*(each.tolist() * (count // max(1, len(each))) for each in columns), strict=False):
                if np.array_equal(*mesh.coordinates[list(pair)]):
                    first, second = map(draft.as_written, mesh.node_labels[list(pair)].tolist())
                    message = f"nodes {first} and {second} of *MPC are at the same point: no distance to keep"
                    raise Mistake(place, message)
                pairs.append(pair)
    return tuple(pairs)


def build_bodies(draft: Draft, mesh: Mesh, nodes: Lookup) -> tuple[RigidBody, ...]:
    """Rigid bodies; supports of rotations become motions of the bodies of their reference nodes."""
    bodies, owner = [], dict[int, str]()
    busy = busy_nodes(draft, mesh, nodes) if draft.bodies else {}
    turned, clamps = {node for name, _ in draft.axes for node in nodes.members(name).tolist()}, Clamps(draft, mesh)
    for each, card in draft.bodies:
        with draft.guard():
            pinned = nodes.members(each.pinned).tolist()
            place = card.field("REF NODE").place
            for node in nodes.members(each.node).tolist():
                label = int(mesh.node_labels[node])
                bodies.append(replace(each, node=label))
                blame = "is pinned to itself" if node in pinned else busy.get(node)
                if blame is not None:
                    raise Mistake(place, f"reference node {draft.as_written(label)} {blame}", FREE)
                for other in {node, *pinned} & turned:
                    raise Mistake(place, f"node {written(draft, mesh, other)} of a rigid body has axes by *TRANSFORM")
                owner |= dict.fromkeys(pinned, draft.as_written(label))
    for each, card in (*draft.bodies, *draft.free_bodies):
        if card.has("TIE NSET"):
            clamps.tied |= clamps.beams.keys() & set(nodes.members(each.pinned).tolist())
    given: dict[int, set[int]] = {int(nodes.members(body.node)[0]): set() for body in bodies}
    before = [step for step in (draft.first_step,) if step and step not in draft.steps]  # of an earlier run
    parts: list[Draft | StepDraft] = [draft, *before, *draft.steps]
    for part in parts:
        split_supports(draft, part, mesh, nodes, given, owner, clamps)
    clamps.finish()
    led = {int(nodes.members(body.node)[0]) for body in bodies if body.rao}
    for node, dofs in given.items():
        if node not in led and (missing := sorted({1, 2, 3, 4, 5, 6} - dofs)):
            what = f"dof{'s' * (len(missing) > 1)} {listing(map(str, missing), 'and')}"
            draft.notice(f"{what} of reference node {written(draft, mesh, node)}: fixed, as no *BOUNDARY moves them")
    return tuple(bodies)


def written(draft: Draft, mesh: Mesh, node: int) -> str:
    return draft.as_written(mesh.node_labels[node])


def busy_nodes(draft: Draft, mesh: Mesh, nodes: Lookup) -> dict[int, str]:
    """Nodes that cannot be reference nodes, with the reason."""
    tied = [term.target for terms in draft.equations for term in terms]
    tied += [each for *pair, _ in draft.links for each in pair]
    loaded = [load.target for step in draft.steps for load in step.nodal_loads]
    blamed = (loaded, "is loaded, but moves as *BOUNDARY says"), (tied, "belongs to an equation or a link")
    found = {node: what for targets, what in blamed for target in targets for node in nodes.members(target).tolist()}
    found |= dict.fromkeys(mesh.legs[0].ravel().tolist(), "belongs to an element")
    return found


def split_supports(
    draft: Draft, part: Draft | StepDraft, mesh: Mesh, nodes: Lookup, given: dict[int, set[int]], owner: dict[int, str],
    clamps: Clamps,
) -> None:  # fmt: skip
    """Separates rotations of reference nodes from displacements; supports of pinned nodes are mistakes.
    given  by reference node (index): the dofs that are prescribed;  owner: by pinned node, the label it moves with"""
    kept, held = list[tuple[Boundary, Place]](), set[tuple[int, int]]()
    for entry, place in part.turned:
        stiff = clamps.beams.keys() & set(nodes.members(entry.target).tolist())
        clamps.take(part, stiff, entry, place)
        held |= {(node, entry.dof) for node in stiff}
    for entry, place in part.boundaries:
        if entry.dof <= 3 and not given:
            kept.append((entry, place))
            continue
        named = nodes.members(entry.target).tolist()
        for node in [node for node in named if node in owner and entry.dof <= 3][:1]:
            what = f"node {written(draft, mesh, node)} is pinned to a rigid body: it moves with node {owner[node]}"
            draft.report(Mistake(place, what, "remove it from *BOUNDARY"))
        moving = [node for node in named if node in given]
        for node in moving:
            given[node].add(entry.dof)
        if entry.dof <= 3:
            kept.append((entry, place))
            continue
        part.rotations += [replace(entry, target=int(mesh.node_labels[node])) for node in moving]
        stiff = clamps.beams.keys() & set(named)
        clamps.take(part, stiff, entry, place)
        held |= {(node, entry.dof) for node in stiff}
        if len(moving) + len(stiff) < len(named) and not draft.has_failed("RIGID BODY"):
            if entry.value != 0.0 and (clamps.beams or not draft.mistakes):  # after mistakes beams are not known
                draft.report(Mistake(place, "bars have no rotations 4-6 to prescribe"))
            draft.ignore("*BOUNDARY on rotations 4-6 (bars have none)")
    part.boundaries[:] = kept
    if not isinstance(part, Draft) and "BOUNDARY" in part.replaced:
        clamps.replaced(part, held)


def column(draft: Draft, nodes: Lookup, target: str | int) -> Ints:
    """Node indices of a label, or of a set in the order in which it was written."""
    return nodes.known(draft.node_sets.ordered(target)) if isinstance(target, str) else nodes.members(target)


def check_removals(draft: Draft, mesh: Mesh, elements: Lookup) -> None:
    """Checks that an element is removed only once, breaks before that, and has one failure of each kind."""
    begin, last = 0.0, np.full(len(mesh.element_labels), np.inf)
    for number, step in enumerate(draft.steps):
        if draft.failures and getattr(step.procedure, "riks", None) and step.procedure_place:
            hint = "remove RIKS: then each part of the load waits until elements have broken"
            draft.report(Mistake(step.procedure_place, "*STATIC, RIKS does not follow *FAILURE", hint))
        for target, place in step.removals:
            index = elements.members(target)
            for element in index[last[index] < np.inf][:1]:
                gone = f"element {draft.as_written(mesh.element_labels[element])} has been removed before"
                draft.report(Mistake(place, gone))
            last[index] = begin if number else -np.inf
        begin += getattr(step.procedure, "period", 0.0)
    known: set[tuple[str, int]] = set()
    for entry, place in draft.failures:
        index = elements.members(entry.target)
        for element in index.tolist():
            name = f"element {draft.as_written(mesh.element_labels[element])}"
            if (entry.kind, element) in known:
                draft.report(Mistake(place, f"{name} has a second {entry.kind.lower()} to break at"))
            elif last[element] <= (entry.value if entry.kind == "TIME" else -np.inf):
                draft.report(Mistake(place, f"{name} can never break: *MODEL CHANGE removes it before"))
            elif entry.kind != "TIME" and mesh.is_of("MASS")[element]:
                draft.report(Mistake(place, f"{name} is a point mass, which has no {entry.kind.lower()}"))
            else:
                known.add((entry.kind, element))
                continue
            break


def check_masses(draft: Draft) -> None:
    """Checks that nonstructural masses are removed only if present, and added only if removed before."""
    there = dict.fromkeys((entry.name for entry, _ in draft.nonstructural if entry.name), True)
    for step in draft.steps:
        for names, goes in ((step.shed, True), (step.put, False)):
            for name, place in names:
                if name not in there:
                    hint = did_you_mean(name, there, "give it a name with NAME= of *NONSTRUCTURAL MASS")
                    draft.report(Mistake(place, f"there is no nonstructural mass {name}", hint))
                elif there[name] is not goes:
                    what = "has been removed before" if goes else "is present already"
                    draft.report(Mistake(place, f"nonstructural mass {name} {what}"))
                else:
                    there[name] = not goes


ACROSS = 1e-3
"""Largest part of a stress perpendicular to a bar: components in decks have few digits."""


def turn_stresses(draft: Draft, mesh: Mesh, elements: Lookup) -> None:
    """Converts stresses in global axes to stresses along the bars, n.S.n."""
    found: list[tuple[InitialCondition, Place]] = []
    left, turned = list[int](), set[str | int]()
    if not len(mesh.coordinates):  # a mistake
        return
    for entry, place in draft.initial_conditions:
        stress = draft.point_stresses.get(entry.target) if entry.kind == "STRESS" else None
        if stress is None:
            found.append((entry, place))
        if stress is None or entry.target in turned:
            continue
        turned.add(entry.target)
        index = elements.members(entry.target)
        way = np.diff(mesh.coordinates[mesh.element_nodes[index]], axis=1)[:, 0]
        n = way / np.maximum(np.linalg.norm(way, axis=1), np.finfo(float).tiny)[:, None]
        xx, yy, zz, xy, xz, yz = stress
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        along = np.einsum("ni,ij,nj->n", n, tensor, n)
        across = np.linalg.norm(tensor - along[:, None, None] * n[:, :, None] * n[:, None], axis=(1, 2))
        labels = mesh.element_labels[index].tolist()
        left += mesh.element_labels[index[across > ACROSS * np.linalg.norm(tensor)]].tolist()
        found += [(InitialCondition("STRESS", *each), place) for each in zip(labels, along.tolist(), strict=True)]
    if draft.point_stresses:
        draft.notice("initial stresses of integration points are in global axes, as in CalculiX: bars carry n.S.n")
    if left:
        draft.notice(
            f"initial stress of element {draft.as_written(left[0])} (and {len(set(left)) - 1} more): bars carry what "
            "lies along them, n.S.n; stress across them is left out"
        )
    draft.initial_conditions[:] = found


OTHERS = "{target} has elements other than "
NOT_PULLEY = "{element} is not a PULLEY: "


def check_kinds(draft: Draft, mesh: Mesh, elements: Lookup) -> None:
    """Checks that properties of bars and of ropes over pulleys are not given to other elements, and that an element
    has only one of each."""
    no_bar, is_reeved = ~mesh.is_of(*BARS), mesh.is_of(*REEVED)
    has_length, rubs = np.zeros((2, len(is_reeved)), np.bool_)

    def refuse(target: str | int, place: Place, wrong: Flags, what: str, cause: str = "") -> None:
        index = elements.members(target)
        for element in index[wrong[index]][:1]:
            named = f"element {draft.as_written(mesh.element_labels[element])}"
            draft.report(Mistake(place, what.format(target=target, element=named), "", cause))

    for mass, place in draft.nonstructural:
        what = "T3D2 and T2D2: *NONSTRUCTURAL MASS is for bars, *MASS for points"
        refuse(mass.element_set, place, no_bar, OTHERS + what)
    for entry, place in draft.initial_conditions:
        if entry.kind == "STRESS":
            refuse(entry.target, place, no_bar, OTHERS + "T3D2 and T2D2: they carry no initial stress")
    for rest, place in draft.rest_lengths:
        what = "T3D2, T2D2 and PULLEY: they have no length of their own"
        refuse(rest.target, place, no_bar & ~is_reeved, OTHERS + what)
        refuse(rest.target, place, has_length, "{element} has a second rest length", "second rest length")
        has_length[elements.members(rest.target)] = True
        if rest.second is not None:
            refuse(rest.target, place, ~is_reeved, NOT_PULLEY + "it has one rest length, not two")
    for pulley, place in draft.pulleys:
        refuse(pulley.element_set, place, ~is_reeved, NOT_PULLEY + "*PULLEY gives the friction of these only")
        refuse(pulley.element_set, place, rubs, "{element} has a second *PULLEY")
        rubs[elements.members(pulley.element_set)] = True
    for failing, place in draft.failures:
        refuse(failing.target, place, is_reeved, "{element} is a PULLEY, which cannot break")
    for step in draft.steps:
        for target, place in step.removals:
            refuse(target, place, is_reeved, "{element} is a PULLEY, which cannot be removed")
        for load in step.distributed_loads:
            if load.kind != "GRAV" and load.target is not None:
                refuse(load.target, step.place, is_reeved, f"{{element}} is a PULLEY: {load.kind} acts on bars")


# ``*TRANSFORM``: each node with local axes e_i gets a companion node with displacements u_i along these axes, tied by
# three equations: u_node = sum of e_i u_i. Supports and loads of the node act on the companion, whose U, V, A and RF
# are therefore the components along the local axes.
SUFFIX = " IN AXES"


class _Nodes:
    """Maps each node to the node that has its dofs; ``mesh``: with the added nodes and the sets needed."""

    def __init__(self, mesh: Mesh, axes: dict[int, Floats]) -> None:
        self.own = np.array(sorted(axes), np.int64)
        count = len(mesh.node_labels)
        self.place = np.arange(count)
        self.place[self.own] = count + np.arange(len(self.own))
        labels = np.append(mesh.node_labels, mesh.node_labels.max() + 1 + np.arange(len(self.own)))
        coordinates = np.concatenate([mesh.coordinates, mesh.coordinates[self.own]])
        self.mesh = replace(mesh, node_labels=labels, coordinates=coordinates, node_sets=dict(mesh.node_sets))

    def target(self, name: Any, beside: bool = False) -> Any:
        """The set or label of the nodes that carry the dofs in local axes; ``beside``: with the original nodes."""
        nodes: Ints = np.zeros(0, np.int64) if name is None else self.mesh.nodes_of(name)
        if not np.isin(nodes, self.own).any():
            return name
        if isinstance(name, int):
            return int(self.mesh.node_labels[self.place[nodes[0]]])
        own = f"{name} AND{SUFFIX}" if beside else f"{name}{SUFFIX}"
        self.mesh.node_sets[own] = np.union1d(self.place[nodes], nodes if beside else nodes[:0])
        return own

    def moved(self, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        """Supports or loads, converted to the axes of ``*TRANSFORM``."""
        return tuple(replace(entry, target=self.target(entry.target)) for entry in entries)

    def step(self, step: Step) -> Step:
        """A step with supports, loads and tables converted to local axes."""
        outputs = tuple(
            replace(one, target=self.target(one.target, beside=True)) if one.kind.startswith("NODE") else one
            for one in step.outputs
        )
        boundaries, loads = self.moved(step.boundaries), self.moved(step.nodal_loads)
        return replace(step, boundaries=boundaries, nodal_loads=loads, outputs=outputs)


def in_axes(model: Model, axes: dict[int, Floats]) -> Model:
    """The model with local axes for some nodes (by index): rows e_1, e_2, e_3 of (3, 3), orthonormal."""
    if not axes:
        return model
    nodes = _Nodes(model.mesh, axes)
    equations = [
        replace(each, terms=tuple((int(nodes.place[node]), dof, factor) for node, dof, factor in each.terms))
        for each in model.equations
    ]
    for node in nodes.own.tolist():
        for k in range(3):
            parts = [(int(nodes.place[node]), i + 1, -float(axes[node][i, k])) for i in range(3) if axes[node][i, k]]
            equations.append(Equation(((node, k + 1, 1.0), *parts)))
    return replace(
        model,
        mesh=nodes.mesh,
        equations=tuple(equations),
        boundaries=nodes.moved(model.boundaries),
        initial_conditions=tuple(initial_in_axes(model, nodes, axes)),
        steps=tuple(map(nodes.step, model.steps)),
    )


def initial_in_axes(model: Model, nodes: _Nodes, axes: dict[int, Floats]) -> Iterator[InitialCondition]:
    """Initial displacements and velocities, given along the global axes, rotated for the added nodes."""
    found: dict[tuple[str, int], Floats] = {}
    for condition in model.initial_conditions:
        kind, named = condition.kind, np.zeros(0, np.int64)
        if kind in ("DISPLACEMENT", "VELOCITY"):
            named = model.mesh.nodes_of(condition.target)
        for node in np.intersect1d(named, nodes.own).tolist():
            found.setdefault((kind, node), np.zeros(3))[condition.dof - 1] = condition.value
        others = np.setdiff1d(named, nodes.own)
        if len(others) == len(named):
            yield condition
        elif len(others):
            name = f"{condition.target} NOT{SUFFIX}"
            nodes.mesh.node_sets[name] = others
            yield replace(condition, target=name)
    for (kind, node), vector in found.items():
        label = int(nodes.mesh.node_labels[nodes.place[node]])
        for dof in np.flatnonzero(turned := axes[node] @ vector).tolist():
            yield InitialCondition(kind, label, float(turned[dof]), dof + 1)
