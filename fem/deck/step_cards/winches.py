"""``*WINCH``: natural lengths that change in a step, and what lines cannot do that run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.draft import Draft, StepDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.deck.resolve.mesh import Lookup
from fem.model import BarSection, Material, Mesh, Perturbation, Static, Winch
from fem.model.curves import Follow, evaluate
from fem.model.mesh import BARS, REEVED

LEAST = 0.1
"""Fraction of its natural length that a line keeps."""
SAMPLES = 400
"""Instants of a step at which an amplitude is looked at, beside its own points."""


@keyword("step", takes=("AMPLITUDE", "TENSION"))
def winch(card: Card, draft: Draft) -> None:
    """``elements, change of length[, end]``, or with TENSION ``elements, tension[, speed[, end]]``."""
    draft.extension("*WINCH")
    amplitude = draft.named_if(card, "AMPLITUDE", "amplitude")
    keeps = card.has("TENSION") and (not card.field("TENSION").text or card.word("TENSION", ("YES", "NO"), "") == "YES")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4 if keeps else 3, "elements, tension, speed, end" if keeps else "elements, change of length, end")
            target, speed = draft.target(row, 0, "element"), None
            if keeps and row.field(2).text:
                speed = row.amount(2, "the speed", positive=True)
            end = row.integer(3 if keeps else 2, "the end", 1, 2, default=1)
            value = (
                row.amount(1, "the tension", positive=True) if keeps else row.number(1, "the change of natural length")
            )
            draft.open_step.winches.append((Winch(target, value, end, amplitude, keeps, speed), row.place))


def check_winches(draft: Draft, mesh: Mesh, materials: Mapping[str, Material]) -> None:
    """Winches turn bars and ropes over pulleys, each by one in a step, and leave them long enough; what runs is made of
    something that can.
    """
    if draft.mistakes or not (mesh.has_pulleys or any(step.winches for step in draft.steps)):
        return  # of a mesh that is not whole no lengths are known
    reeved, begin = mesh.is_of(*REEVED), 0.0
    wound, lengths = np.zeros(len(reeved), np.bool_), natural_lengths(draft, mesh)
    elements = Lookup(mesh.element_labels, mesh.element_sets)
    for step in draft.steps:
        end, turned = begin + getattr(step.procedure, "period", 0.0), np.zeros(len(reeved), np.bool_)
        for entry, place in step.winches:
            chosen = elements.members(entry.target)
            wound[chosen] = True
            with draft.guard():
                what = blame_of(draft, mesh, entry, chosen, turned[chosen])
                turned[chosen] = True
                if what:
                    raise Mistake(place, *what)
                values = values_of(draft, entry, begin, end)
                if entry.is_tension and values.min() < 0.0:
                    raise Mistake(place, f"amplitude {entry.amplitude} makes the tension negative")
                least = lengths[chosen] + min(entry.value * values.min(), entry.value * values.max())
                short = least < LEAST * lengths[chosen]
                if not entry.is_tension and short.any():
                    at = int(short.argmax())
                    label = draft.as_written(int(mesh.element_labels[chosen[at]]))
                    message = f"this leaves element {label} a natural length of {least[at]:.6g}, less than a tenth of "
                    message += f"the {lengths[chosen[at]]:.6g} it begins with"
                    raise Mistake(place, message, "short elements are hauled in one after the other")
        begin = end
    for step in draft.steps:
        for load, place in step.fluid_loads:
            if load.kind != "ADDED MASS" and not load.is_current and wound[elements.members(load.target)].any():
                told = f"{load.kind} acts per natural length at the start, which *WINCH changes"
                draft.report(Mistake(place, told, "*DLOAD, LENGTH=CURRENT follows it"))
    blame_materials(draft, mesh, np.flatnonzero(wound), np.flatnonzero(wound | reeved), materials)


def blame_of(draft: Draft, mesh: Mesh, entry: Winch, chosen: Ints, turned: Flags) -> tuple[str, str] | None:
    """What is wrong with the elements of a winch, and a hint."""
    if not mesh.is_of(*BARS, *REEVED)[chosen].all():
        return f"{entry.target} has elements that no winch turns", "it turns T3D2, T2D2 and PULLEY"
    if turned.any():
        label = draft.as_written(int(mesh.element_labels[chosen[turned]][0]))
        return f"element {label} gets a second winch in this step", ""
    if entry.end == 2 and not mesh.is_of(*REEVED)[chosen].all():
        return "only a PULLEY has an end 2", "a bar is one piece of line: leave the end out"
    return None


def natural_lengths(draft: Draft, mesh: Mesh) -> Floats:
    """(k,) of all elements, at the start."""
    legs, owner = mesh.legs
    apart = np.linalg.norm(np.diff(mesh.coordinates[legs], axis=1)[:, 0], axis=1)
    lengths: Floats = np.bincount(owner, apart, len(mesh.element_labels)).astype(float)
    elements = Lookup(mesh.element_labels, mesh.element_sets)
    for rest, _ in draft.rest_lengths:
        lengths[elements.members(rest.target)] = rest.whole
    return lengths


def values_of(draft: Draft, entry: Winch, begin: float, end: float) -> Floats:
    """Of its amplitude within a step, which runs in total time from ``begin`` to ``end``."""
    amplitude = draft.amplitudes.get(entry.amplitude or "")
    if amplitude is None:
        return np.ones(1)
    origin = begin if amplitude.time == "STEP TIME" else 0.0
    points = origin + amplitude.points[:, 0]
    inside = points[(points > begin) & (points < end)]
    return evaluate(Follow(amplitude, origin), np.concatenate([np.linspace(begin, end, SAMPLES), inside]))


def blame_materials(draft: Draft, mesh: Mesh, wound: Ints, running: Ints, materials: Mapping[str, Material]) -> None:
    """What lines that run are made of, and the steps they run in. wound: those that a winch turns."""
    is_heavy = any(
        np.isin(wound, mesh.element_sets.get(mass.element_set, wound[:0])).any() for mass, _ in draft.nonstructural
    )
    for entry in draft.properties:
        section = entry.value
        if not isinstance(section, BarSection) or section.material not in draft.materials:
            continue
        members = mesh.element_sets.get(section.element_set, running[:0])
        if not np.isin(running, members).any():
            continue
        given, material = draft.materials[section.material], materials[section.material]
        is_heavy |= material.density > 0.0
        place = given.cards.get("DAMPING", given.place)
        why = f"lines that run (*WINCH, PULLEY) are elastic, and not damped: material {material.name}"
        for name in ("INEXTENSIBLE", "EXPANSION", "NO TENSION"):
            if name in given.cards:
                draft.report(Mistake(given.cards[name], f"{why} has *{name}"))
        if material.has_rope_law:
            draft.report(Mistake(place, f"{why} has a rope law", "put bars with that law beside the one that runs"))
        if material.beta or material.alpha:
            draft.report(Mistake(place, f"{why} has *DAMPING", "dashpots and *MASS, ALPHA= damp what hangs on them"))
        if not material.is_inextensible and not (material.young or 0.0) > 0.0:
            draft.report(Mistake(given.cards.get("ELASTIC", given.place), f"{why} has no modulus"))
        if section.mass_rule != "LUMPED" and np.isin(wound, members).any():
            what = (
                f"MASS={section.mass_rule} is for bars of constant length, *WINCH turns some of {section.element_set}"
            )
            draft.report(Mistake(entry.card.field("MASS").place, what, "MASS=LUMPED"))
    for step in draft.steps:
        blame_step(draft, step, len(wound) > 0, is_heavy)


def blame_step(draft: Draft, step: StepDraft, is_wound: bool, is_heavy: bool) -> None:
    """Lines run in steps that are geometrically nonlinear, and in time."""
    place, what = step.procedure_place or step.place, "winches" if is_wound else "pulleys"
    if isinstance(step.procedure, Perturbation):
        return
    if not step.nlgeom:
        draft.report(Mistake(step.place, f"a geometrically linear step has no {what}", "*STEP, NLGEOM"))
    if isinstance(step.procedure, Static) and step.procedure.riks and (is_wound or is_heavy):
        which = "*WINCH" if is_wound else "PULLEY with a density"
        hint = "leave out RIKS: lengths and weights of lines that run follow time, not a load factor"
        draft.report(Mistake(place, f"*STATIC, RIKS does not follow {which}", hint))
