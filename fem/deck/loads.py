"""Contents of a step: supports, loads, temperatures, winches; removal of elements: ``*MODEL CHANGE``, ``*FAILURE``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from fem import model
from fem.arrays import Flags, Floats, Ints
from fem.deck.cards import Card, Row
from fem.deck.conditions import DOF, NODAL_TEMPERATURE, NODES, dof_of
from fem.deck.draft import Draft, MaterialDraft, StepDraft
from fem.deck.fluids import FIELDS, fluid_load
from fem.deck.harmonic import PHASES, is_imaginary
from fem.deck.kinds import ANY, POSITIVE_NUMBER, target_of, whole
from fem.deck.lookup import Lookup
from fem.deck.source import Mistake, Place, did_you_mean, listing, shown, words
from fem.deck.table import DataLine, Value, keyword
from fem.model.curves import Follow, evaluate
from fem.model.facts import natural_lengths
from fem.model.mesh import BARS, BEAMS, REEVED

SHORTHANDS: dict[str, tuple[int, ...]] = {
    "ENCASTRE": (1, 2, 3, 4, 5, 6),
    "PINNED": (1, 2, 3),
    "XSYMM": (1, 5, 6),
    "YSYMM": (2, 4, 6),
    "ZSYMM": (3, 4, 5),
    "XASYMM": (2, 3, 4),
    "YASYMM": (1, 3, 5),
    "ZASYMM": (1, 2, 6),
}
"""Dofs that these words fix; the rotations are those of bending lines and of free bodies."""
LABELS = ("GRAV", "BX", "BY", "BZ", *FIELDS)
KINDS = ("DISPLACEMENT", "VELOCITY", "ACCELERATION")
UNSUPPORTED = words("USER, SUBMODEL, SECTOR, REGION TYPE, ORIENTATION, MASS FLOW")
KEPT = "loads keep their direction"


def operation(card: Card, draft: Draft) -> None:
    """OP=NEW removes the entries of earlier steps; it must come with the first card of its kind in a step."""
    op = card.word("OP", ("MOD", "NEW"), "MOD")
    step = draft.step
    if step is None:
        if op == "NEW":
            raise Mistake(card.field("OP").place, "OP=NEW before the first step: there is nothing to remove")
        return
    if op == "NEW" and card.keyword in step.changed and card.keyword not in step.replaced:
        first = step.changed[card.keyword]
        message = f"OP=NEW must be given with the first *{card.keyword} of the step"
        raise Mistake(card.field("OP").place, message, f"that is at {first}")
    step.changed.setdefault(card.keyword, card.place)
    if op == "NEW":
        step.replaced.add(card.keyword)


def loads(card: Card, draft: Draft) -> Iterator[tuple[Row, str | None]]:
    """The data lines of a card of loads or supports, with its amplitude."""
    amplitude = draft.named_if(card, "AMPLITUDE", "amplitude")
    operation(card, draft)
    for row in draft.rows(card, needed=not card.has("OP")):
        yield row, amplitude


@keyword(
    "BOUNDARY",
    "anywhere",
    takes=("OP", "AMPLITUDE", "TYPE", "FIXED", "REAL", "IMAGINARY"),
    unsupported=(*UNSUPPORTED, "LOAD CASE", "STEP", "DATA SET", "INC"),
)
def boundary(card: Card, draft: Draft) -> None:
    """``set or label, first dof[, last dof[, value]]`` or ``set or label, ENCASTRE``."""
    kind = card.word("TYPE", KINDS, "DISPLACEMENT")
    if card.flag("FIXED"):
        refused = next((name for name in ("TYPE", "AMPLITUDE") if card.has(name)), None)
        if refused:
            raise Mistake(card.field(refused).place, f"FIXED of *BOUNDARY keeps dofs where they are: remove {refused}=")
        kind = "FIXED"
    elif draft.step is None and kind != "DISPLACEMENT":
        raise Mistake(card.field("TYPE").place, f"TYPE={kind} before the first step", "put it into a *STEP")
    found, late = draft.boundaries if draft.step is None else draft.step.boundaries, is_imaginary(card, draft)
    for row, amplitude in loads(card, draft):
        with draft.guard():
            found += supports(row, kind, amplitude, late, draft)


def supports(
    row: Row, kind: str, amplitude: str | None, late: bool, draft: Draft
) -> list[tuple[model.Boundary, Place]]:
    """The dofs that one line prescribes, with their places; rotations are for rigid bodies only."""
    target = draft.target(row.field(0), "node")
    word = row.field(1)
    if word.text and not word.is_number():
        if word.text.upper() not in SHORTHANDS:
            hint = did_you_mean(word.text, SHORTHANDS)
            raise Mistake(word.place, f"expected a dof or ENCASTRE, PINNED, XSYMM..., got {shown(word.text)}", hint)
        row.end(2, "nothing after the type of support")
        name, part = word.text.upper(), draft if draft.step is None else draft.step
        held = [(model.Boundary(target, dof, 0.0, amplitude, kind, late), row.place) for dof in SHORTHANDS[name]]
        part.turned += [(entry, place) for entry, place in held if entry.dof > 3]
        return [(entry, place) for entry, place in held if entry.dof <= 3]
    row.end(4, "nodes, first dof, last dof, value")
    other = row.field(2)
    first, last = dof_of(word), dof_of(other if other.text else word)
    value = row.number(3, "the value", 0.0)
    if last < first:
        raise Mistake(other.place, f"the last dof {last} is smaller than the first, {first}")
    if kind == "FIXED" and value != 0.0:
        draft.ignore("values of *BOUNDARY, FIXED (dofs keep their present values)")
        value = 0.0
    if value != 0.0 and draft.step is None:
        raise Mistake(row.field(3).place, "a moving support before the first step", "put it into a *STEP")
    turning = (other if first <= 3 else word).place
    entries = [model.Boundary(target, dof, value, amplitude, kind, late) for dof in range(first, last + 1)]
    return [(entry, row.place if entry.dof <= 3 else turning) for entry in entries]


NODAL_FORCE = DataLine("nodes, dof, force", NODES, Value("dof", DOF), Value("value", ANY, "the force"))
PLANNED = {"FOLLOWER": f"is planned, not yet supported: {KEPT}"}


@keyword("CLOAD", "step", takes=("OP", "AMPLITUDE", *PHASES), refuses=PLANNED, unsupported=UNSUPPORTED)
def cload(card: Card, draft: Draft) -> None:
    """``set or label, dof, force``; dofs 4 to 6: moments on free bodies."""
    late = is_imaginary(card, draft)
    for row, amplitude in loads(card, draft):
        with draft.guard():
            load = model.NodalLoad(**NODAL_FORCE.read(row, draft), amplitude=amplitude, is_imaginary=late)
            if load.dof > 3:
                draft.open_step.moments.append((load, row.field(1).place))
            else:
                draft.open_step.nodal_loads.append(load)


DEAD = {"FOLLOWER": f"is not supported: {KEPT}"}


@keyword(
    "DLOAD",
    "step",
    takes=("OP", "AMPLITUDE", "LENGTH", *PHASES),
    plus=("LENGTH",),
    refuses=DEAD,
    unsupported=(*UNSUPPORTED, "CONSTANT RESULTANT"),
)
def dload(card: Card, draft: Draft) -> None:
    """``elements, GRAV, g, nx, ny, nz``, ``elements, BX, force per volume``, or loads of water and wind."""
    is_current = card.word("LENGTH", ("REFERENCE", "CURRENT"), "REFERENCE") == "CURRENT"
    step, late = draft.open_step, is_imaginary(card, draft)
    for row, amplitude in loads(card, draft):
        with draft.guard():
            load = load_of(row, amplitude, is_current, draft)
            if isinstance(load, model.FluidLoad):
                step.fluid_loads.append((load, row.place))
            else:
                step.distributed_loads.append(replace(load, is_imaginary=late))


def load_of(row: Row, amplitude: str | None, is_current: bool, draft: Draft) -> model.DistributedLoad | model.FluidLoad:
    label = row.field(1)
    kind = label.text.upper()
    if kind not in LABELS:
        hint = f"{listing(LABELS, 'and')} are; a force q per length is BX, BY or BZ with q/A"
        if kind in ("P1", "P2"):
            hint = f"it is a force per length in Abaqus, a pressure in CalculiX, along a local axis of a beam; {hint}"
        raise Mistake(label.place, f"load {shown(label.text)} is not supported", hint)
    if kind in FIELDS:
        return fluid_load(row, kind, amplitude, is_current, draft)
    if kind != "GRAV":
        row.end(3, f"elements, {kind}, force per volume")
        target: str | int | None = draft.target(row.field(0), "element")
        return model.DistributedLoad(target, kind, row.number(2, "the force per volume"), amplitude=amplitude)
    row.end(6, "elements, GRAV, g, nx, ny, nz")
    target = draft.target(row.field(0), "element") if row.field(0).text else None
    value = row.number(2, "the acceleration")
    components = [row.number(at, "a component of the direction", 0.0) for at in (3, 4, 5)]
    if not any(components):
        raise Mistake(row.field(3).place, "gravity has no direction", "give nx, ny, nz, for example 0, 0, -1")
    largest = max(map(abs, components))
    if abs(math.hypot(*components) - 1.0) > 1e-15:
        components = [component / largest for component in components]
        length = math.hypot(*components)
        components = [component / length for component in components]
    x, y, z = components
    return model.DistributedLoad(target, kind, value, (x, y, z), amplitude)


@keyword("TEMPERATURE", "step", takes=("OP", "AMPLITUDE"), unsupported=(*UNSUPPORTED, *PHASES, "FILE", "BSTEP"))
def temperature(card: Card, draft: Draft) -> None:
    """``nodes, temperature``."""
    for row, amplitude in loads(card, draft):
        with draft.guard():
            given = NODAL_TEMPERATURE.read(row, draft)
            draft.open_step.temperatures.append(model.Temperature(**given, amplitude=amplitude))


ELEMENTS, CARRIED = "ELEMENT", "NONSTRUCTURAL MASS"
NO_CONTACT = {"MECHANICAL": "is for contact pairs, which are not supported"}


@keyword("MODEL CHANGE", "step", takes=("REMOVE", "ADD", "TYPE"), refuses=NO_CONTACT)
def model_change(card: Card, draft: Draft) -> None:
    """Elements, sets, or names of nonstructural masses that are removed (masses: or added) at the start of the step."""
    kind, removes, adds = card.word("TYPE", (ELEMENTS, CARRIED), ELEMENTS), card.flag("REMOVE"), card.flag("ADD")
    if removes == adds:
        raise card.mistake("*MODEL CHANGE needs REMOVE or ADD", "*MODEL CHANGE, REMOVE removes elements")
    if adds and kind == ELEMENTS:
        what = "ADD of *MODEL CHANGE is not supported: elements that have been removed stay removed"
        raise Mistake(card.field("ADD").place, what, f"but masses on bars can be added: TYPE={CARRIED}")
    step = draft.open_step
    for row in draft.rows(card):
        for at, field in enumerate(row.fields()):
            with draft.guard():
                if kind == ELEMENTS:
                    step.removals.append((draft.target(row.field(at), "element"), field.place))
                else:
                    (step.shed if removes else step.put).append((field.name("the name of a mass"), field.place))


ELEMENTS_OF = Value("target", target_of("element"))
FAILING = {
    kind: DataLine("elements, value", ELEMENTS_OF, Value("value", POSITIVE_NUMBER, f"the {kind.lower()}"))
    for kind in model.FAILURES
}


@keyword("FAILURE", "model", needs=("TYPE",), extension="*FAILURE")
def failure(card: Card, draft: Draft) -> None:
    """``elements, value``: value of T, E or total time at which each of them breaks."""
    kind = card.word("TYPE", tuple(model.FAILURES), "TENSION")
    for row in draft.rows(card):
        with draft.guard():
            draft.failures.append((model.Failure(kind=kind, **FAILING[kind].read(row, draft)), row.place))


LEAST = 0.1
"""Smallest fraction of its natural length to which a line may be wound."""
SAMPLES = 400
"""Instants of a step at which an amplitude is evaluated, in addition to its own points."""


END = Value("end", whole(1, 2), "the end", 1)
HAULING = DataLine(
    "elements, change of length, end", ELEMENTS_OF, Value("value", ANY, "the change of natural length"), END
)
KEEPING = DataLine(
    "elements, tension, speed, end",
    ELEMENTS_OF,
    Value("value", POSITIVE_NUMBER, "the tension"),
    Value("speed", POSITIVE_NUMBER, "the speed", None),
    END,
)


@keyword("WINCH", "step", takes=("AMPLITUDE", "TENSION"), extension="*WINCH")
def winch(card: Card, draft: Draft) -> None:
    """``elements, change of length[, end]``, or with TENSION ``elements, tension[, speed[, end]]``."""
    amplitude = draft.named_if(card, "AMPLITUDE", "amplitude")
    keeps = card.has("TENSION") and (not card.field("TENSION").text or card.word("TENSION", ("YES", "NO"), "") == "YES")
    line = KEEPING if keeps else HAULING
    for row in draft.rows(card):
        with draft.guard():
            found = model.Winch(**line.read(row, draft), amplitude=amplitude, is_tension=keeps)
            draft.open_step.winches.append((found, row.place))


def check_winches(draft: Draft, mesh: model.Mesh, elements: Lookup, materials: Mapping[str, model.Material]) -> None:
    """Checks winches: on bars and ropes over pulleys, one for each in a step, with enough length left; and the
    materials of lines that run."""
    if draft.mistakes or not (mesh.has_pulleys or any(step.winches for step in draft.steps)):
        return  # lengths of an incomplete mesh are unknown
    reeved, begin = mesh.is_of(*REEVED), 0.0
    wound, lengths = np.zeros(len(reeved), np.bool_), natural_lengths(mesh, (rest for rest, _ in draft.rest_lengths))
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
                    label = draft.as_written(mesh.element_labels[chosen[at]])
                    message = f"this leaves element {label} a natural length of {least[at]:.6g}, less than a tenth of "
                    message += f"its initial length, {lengths[chosen[at]]:.6g}"
                    raise Mistake(place, message, "use short elements that are hauled in one after the other")
        begin = end
    for step in draft.steps:
        for load, place in step.fluid_loads:
            if load.kind != "ADDED MASS" and not load.is_current and wound[elements.members(load.target)].any():
                told = f"{load.kind} acts per initial natural length, which *WINCH changes"
                draft.report(Mistake(place, told, "use *DLOAD, LENGTH=CURRENT"))
    blame_materials(draft, mesh, np.flatnonzero(wound), np.flatnonzero(wound | reeved), materials)


def blame_of(draft: Draft, mesh: model.Mesh, entry: model.Winch, chosen: Ints, turned: Flags) -> tuple[str, str] | None:
    """The error of the elements of a winch, and a hint; None if there is none."""
    if not mesh.is_of(*BARS, *REEVED)[chosen].all():
        return f"{entry.target} has elements on which a winch cannot act", "it acts on T3D2, T2D2 and PULLEY"
    if mesh.is_of(*BEAMS)[chosen].any():
        return f"{entry.target} has elements B31, which a winch cannot haul", "it acts on T3D2, T2D2 and PULLEY"
    if turned.any():
        label = draft.as_written(mesh.element_labels[chosen[turned]][0])
        return f"element {label} has a second winch in this step", ""
    if entry.end == 2 and not mesh.is_of(*REEVED)[chosen].all():
        return "only a PULLEY has an end 2", "a bar has one length: remove the end"
    return None


def values_of(draft: Draft, entry: model.Winch, begin: float, end: float) -> Floats:
    """Values of the winch within a step, which runs from total time ``begin`` to ``end``."""
    amplitude = draft.amplitudes.get(entry.amplitude or "")
    if amplitude is None:
        return np.ones(1)
    origin = begin if amplitude.time == "STEP TIME" else 0.0
    points = origin + amplitude.points[:, 0]
    inside = points[(points > begin) & (points < end)]
    return evaluate(Follow(amplitude, origin), np.concatenate([np.linspace(begin, end, SAMPLES), inside]))


def blame_materials(
    draft: Draft, mesh: model.Mesh, wound: Ints, running: Ints, materials: Mapping[str, model.Material]
) -> None:
    """Checks the materials of lines that run, and the steps they run in. wound: elements with winches."""
    carrying = [mesh.element_sets.get(mass.element_set, wound[:0]) for mass, _ in draft.nonstructural]
    is_heavy = any(np.isin(wound, elements).any() for elements in carrying)
    for entry in draft.properties:
        section = entry.value
        if not isinstance(section, model.BarSection) or section.material not in draft.materials:
            continue
        members = mesh.element_sets.get(section.element_set, running[:0])
        if not np.isin(running, members).any():
            continue
        given, material = draft.materials[section.material], materials[section.material]
        is_heavy |= material.density > 0.0
        place = given.cards.get("DAMPING", given.place)
        why = f"lines that run (*WINCH, PULLEY) must be elastic and undamped: material {material.name}"
        is_constant = material.is_inextensible and not np.isin(wound, members).any()
        if is_constant:
            blame_constant(draft, mesh, np.intersect1d(running, members), given, material)
        for name in ("INEXTENSIBLE", "EXPANSION", "NO TENSION"):
            if name in given.cards and not (is_constant and name == "INEXTENSIBLE"):
                draft.report(Mistake(given.cards[name], f"{why} has *{name}"))
        if material.has_rope_law:
            draft.report(Mistake(place, f"{why} has a rope law", "use that law in bars next to the one that runs"))
        if material.beta or material.alpha:
            draft.report(Mistake(place, f"{why} has *DAMPING", "use dashpots, or *MASS, ALPHA= of the masses on them"))
        if not material.is_inextensible and not (material.young or 0.0) > 0.0:
            draft.report(Mistake(given.cards.get("ELASTIC", given.place), f"{why} has no modulus"))
        if section.mass_rule != "LUMPED" and np.isin(wound, members).any():
            what = f"MASS={section.mass_rule} is for bars of constant length, and *WINCH acts on some of "
            what += section.element_set
            draft.report(Mistake(entry.card.field("MASS").place, what, "MASS=LUMPED"))
    for step in draft.steps:
        blame_step(draft, step, len(wound) > 0, is_heavy)


def blame_constant(draft: Draft, mesh: model.Mesh, ropes: Ints, given: MaterialDraft, material: model.Material) -> None:
    """Refuses properties that ropes over pulleys (their elements) of constant length cannot have."""
    what = f"the rope over a pulley of material {material.name} is *INEXTENSIBLE"
    if material.density > 0.0:
        place = given.cards.get("DENSITY", given.place)
        draft.report(Mistake(place, f"{what} and has *DENSITY", "such ropes have no mass: use *MASS at their ends"))
    for pulley, place in draft.pulleys:
        if pulley.friction > 0.0 and np.isin(ropes, mesh.element_sets.get(pulley.element_set, ropes[:0])).any():
            draft.report(Mistake(place, f"{what}: it runs without friction", "use *ELASTIC, or remove *PULLEY"))
    if material.compression_ratio != 0.0:
        draft.notice(f"{what} without *NO COMPRESSION: it pushes where it would go slack")


def blame_step(draft: Draft, step: StepDraft, is_wound: bool, is_heavy: bool) -> None:
    """Checks that steps in which lines run are geometrically nonlinear, and do not use RIKS with winches or weights."""
    place, what = step.procedure_place or step.place, "winches" if is_wound else "pulleys"
    if step.small_motion:
        return
    if not step.nlgeom:
        draft.report(Mistake(step.place, f"a geometrically linear step has no {what}", "*STEP, NLGEOM"))
    if step.static and step.static.riks and (is_wound or is_heavy):
        which = "*WINCH" if is_wound else "PULLEY with a density"
        hint = "remove RIKS: lengths and weights of lines that run depend on time, not on a load factor"
        draft.report(Mistake(place, f"*STATIC, RIKS does not follow {which}", hint))
