"""``*FORM FINDING``: free nodes are placed in equilibrium for given force densities, forces or lengths of bars, which
get the natural lengths that belong to their forces. The deck then is the found structure, as if written so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.cards import Card
from fem.deck.draft import Draft
from fem.deck.kinds import target_of
from fem.deck.source import Mistake, Place
from fem.deck.steps import build_step
from fem.deck.table import keyword
from fem.errors import listed
from fem.lines.forms import FormError, FoundForm, Net, find_form
from fem.model import Model, RestLength
from fem.model.facts import natural_lengths, of_sections, stretches
from fem.model.mesh import BARS, Mesh
from fem.model.notices import held_dofs

TYPES = ("FORCE DENSITY", "FORCE", "LENGTH")
PASSES, SETTLED = 50, 1e-13
"""Iterations for weights, which depend on the natural lengths, and the change of these at which they end."""
TARGET = target_of("element")


class Given(NamedTuple):
    """A data line: type, elements, value."""

    kind: str
    target: str | int
    value: float
    place: Place


@keyword("FORM FINDING", "model", takes=("LOADS",), needs=("TYPE",), extension="*FORM FINDING")
def form_finding(card: Card, draft: Draft) -> None:
    """``elements or set, value``, as often as wanted."""
    kind = card.word("TYPE", TYPES, "FORCE DENSITY")
    draft.forms_are_loaded &= card.word("LOADS", ("FIRST STEP", "NONE"), "FIRST STEP") == "FIRST STEP"
    for row in draft.rows(card):
        row.end(2, "elements or set, value")
        target = TARGET.read(row.field(0), "the elements", draft)
        value = row.number(1, f"the {kind.lower()}")
        if value == 0.0 or (kind == "LENGTH" and value < 0.0):
            what = "a length above zero" if kind == "LENGTH" else "a number other than zero"
            raise Mistake(row.field(1).place, f"expected {what}, got {value:g}")
        draft.forms.append(Given(kind, target, value, row.place))


def found_form(draft: Draft, model: Model) -> Model:
    """The model in the form that the cards ask for, with the supports and loads of the first step (of the first run);
    Mistakes are reported, and leave it as it is."""
    first = (build_step(draft.first_step),) if draft.first_step else ()
    draft.forms_are_loaded &= not any(step.buckling or step.harmonic for step in first)  # theirs are small changes
    try:
        return replace(_found(draft, replace(model, steps=first)), steps=model.steps)
    except Mistake as mistake:
        draft.report(mistake)
        return model


def _found(draft: Draft, model: Model) -> Model:
    mesh, first = model.mesh, draft.forms[0].place
    values = np.full((3, len(mesh.element_labels)), np.nan)
    for each in draft.forms:
        chosen = mesh.elements_of(each.target)
        if not mesh.is_of(*BARS)[chosen].all():
            raise Mistake(each.place, "form finding is for bars (T3D2, T2D2)", "name an element set of bars")
        values[:, chosen] = np.nan
        values[TYPES.index(each.kind), chosen] = each.value
    given = np.flatnonzero(~np.isnan(values).all(axis=0))
    what = {"*EQUATION": model.equations, "*MPC": model.links, "lines of variable length": model.runs,
            "rigid bodies": model.bodies or model.free_bodies}  # fmt: skip
    if odd := [name for name, there in what.items() if there]:
        raise Mistake(first, f"*FORM FINDING with {listed(odd)} is not supported")
    own = [rest for rest, _ in draft.rest_lengths if np.isin(mesh.elements_of(rest.target), given).any()]
    if own or any(each.kind == "STRESS" for each in model.initial_conditions):
        raise Mistake(first, "*FORM FINDING gives bars their natural lengths, and so does another card",
                      "remove *REST LENGTH and initial stress")  # fmt: skip
    stiffness = stiffness_of(model)
    plain = of_sections(model, lambda section, law: not (law.is_inextensible or law.has_rope_law), 0.0)
    if len(odd_ones := given[np.isnan(stiffness[given]) | (plain[given] == 0.0)]):
        names = listed(mesh.element_names[odd_ones].tolist())
        why = f"form finding needs bars with a section and *ELASTIC as their only law; not so element {names}"
        raise Mistake(first, why)
    ends = mesh.element_nodes[given]
    held = held_dofs(model).copy()
    touched = np.isin(np.arange(len(held)), ends)
    held[~touched] = True
    held[ends[mesh.is_of("T2D2")[given]].ravel(), 2] = True  # they stay in their plane
    left, is_free = mesh.is_of(*BARS) & np.isnan(values).all(axis=0), np.asarray(~held.all(axis=1), np.bool_)
    loose = np.flatnonzero(left & is_free[mesh.element_nodes].any(axis=1))
    if len(loose):
        names = listed(mesh.element_names[loose].tolist())
        where = f"element {names} ends at a free node" if len(loose) == 1 else f"elements {names} end at free nodes"
        it = "it" if len(loose) == 1 else "them"
        raise Mistake(first, f"{where}, but no density, force or length is given for {it}")
    return _placed(draft, model, Net(mesh.coordinates, held, ends, *values[:, given]), given, stiffness[given])


def _placed(draft: Draft, model: Model, net: Net, given: Ints, stiffness: Floats) -> Model:
    """The model with nodes and natural lengths; weights follow these."""
    mesh, first = model.mesh, draft.forms[0].place
    dead = _nodal(draft, model, first)
    lengths = natural_lengths(mesh, model.rest_lengths)
    strains = strains_of(model)
    try:
        for _ in range(PASSES):
            form = find_form(net, dead + _weight(draft, model, lengths))
            before, lengths = lengths, lengths.copy()
            lengths[given] = form.length / stretches(form.density * form.length / stiffness, strains[given])
            if np.abs(lengths - before).max() <= SETTLED * np.abs(lengths).max():
                break
    except FormError as error:
        raise Mistake(first, _told(model, given, net, error), "hold more nodes, or give other values") from None
    if not (np.isfinite(lengths[given]).all() and (lengths[given] > 0.0).all()):
        raise Mistake(first, "the forces are larger than the strain measure of the bars allows")
    ratios = of_sections(model, lambda section, law: law.compression_ratio, 1.0)
    if len(pressed := given[(form.density < 0.0) & (ratios[given] < 1.0)]):
        place = next(each.place for each in reversed(draft.forms) if pressed[0] in mesh.elements_of(each.target))
        what = f"*FORM FINDING presses cables (*NO COMPRESSION): element {listed(mesh.element_names[pressed].tolist())}"
        raise Mistake(place, what, "give them tension, or a material without *NO COMPRESSION")
    labels = mesh.element_labels[given].tolist()
    rests = [RestLength(label, float(length)) for label, length in zip(labels, lengths[given].tolist(), strict=True)]
    _tell(draft, form, mesh)
    return replace(model, mesh=replace(mesh, coordinates=form.place), rest_lengths=(*model.rest_lengths, *rests))


def strains_of(model: Model) -> np.ndarray:
    """(k,) strain measure of each element, empty without a section."""
    found = np.full(len(model.mesh.element_labels), "", object)
    for section in model.sections:
        found[model.mesh.elements_of(section.element_set)] = section.strain
    return found


def stiffness_of(model: Model) -> Floats:
    """(k,) E A of each element, NaN without one."""
    return of_sections(model, lambda section, law: section.area * (law.young or np.nan), np.nan)


def _tell(draft: Draft, form: FoundForm, mesh: Mesh) -> None:
    force, moved = form.density * form.length, np.linalg.norm(form.place - mesh.coordinates, axis=1)
    turns = f" after {form.iterations} iterations" if form.iterations > 1 else ""
    most = int(moved.argmax())
    far = f", up to {moved[most]:.4g} from where they were drawn (node {mesh.node_names[most]})"
    draft.notice(f"*FORM FINDING: nodes placed{turns}{far}; N from {force.min():.6g} to {force.max():.6g}")


def _nodal(draft: Draft, model: Model, first: Place) -> Floats:
    """(n, 3) forces on nodes in the first step, at their full value."""
    load = np.zeros_like(model.mesh.coordinates)
    step = model.steps[0] if draft.forms_are_loaded and model.steps else None
    if step is None:
        return load
    if step.fluid_loads or any(each.kind != "GRAV" for each in step.distributed_loads):
        raise Mistake(first, "*FORM FINDING knows *CLOAD and GRAV only of the loads of the first step", "LOADS=NONE")
    for each in step.nodal_loads:
        load[model.mesh.nodes_of(each.target), each.dof - 1] += each.value
    return load


def _weight(draft: Draft, model: Model, lengths: Floats) -> Floats:
    """(n, 3) weight of bars, half to each end, and of point masses."""
    mesh = model.mesh
    load = np.zeros_like(mesh.coordinates)
    mass = of_sections(model, lambda section, law: section.area * law.density) * lengths
    for each in model.masses:
        mass[mesh.elements_of(each.element_set)] += each.mass
    for pull in model.steps[0].distributed_loads if draft.forms_are_loaded and model.steps else ():
        chosen = mesh.elements_of(pull.target) if pull.target is not None else np.arange(len(mass))
        force = (mass[chosen] * pull.value)[:, None] * np.array(pull.direction)
        for end in range(2):
            np.add.at(load, mesh.element_nodes[chosen, end], 0.5 * force)
    return load


def _told(model: Model, given: Ints, net: Net, error: FormError) -> str:
    """Why there is no form, with labels."""
    mesh = model.mesh
    if error.bars is not None:
        return f"*FORM FINDING: {error}: element {listed(mesh.element_names[given[error.bars]].tolist())}"
    assert error.nodes is not None
    tied = np.asarray(net.held.any(axis=1), np.bool_)
    while (more := tied[net.ends].any(axis=1) & ~tied[net.ends].all(axis=1)).any():
        tied[net.ends[more]] = True
    loose = np.flatnonzero(~tied)
    if len(loose):
        return f"*FORM FINDING: node {listed(mesh.node_names[loose].tolist())} is tied to no support by these bars"
    return "*FORM FINDING: these force densities leave the form free (D is singular)"
