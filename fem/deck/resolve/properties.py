"""Which element has which property: every one exactly one, of its own kind."""

from __future__ import annotations

import numpy as np

from fem.arrays import distinct
from fem.deck.draft import Draft, MaterialDraft, Property
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake, listing
from fem.deck.resolve.companions import LAWS, strangers
from fem.deck.resolve.springs import read_dashpot, read_spring
from fem.deck.rope_laws.checks import ROPE_LAWS, rope_law_mistakes
from fem.model import BarSection, Dashpot, Material, Mesh, PointMass, Spring
from fem.model.mesh import BARS, REEVED

KINDS_OF = {
    "SOLID SECTION": (*BARS, *REEVED),
    "SPRING": ("SPRINGA", "SPRING1", "SPRING2"),
    "DASHPOT": ("DASHPOTA", "DASHPOT1", "DASHPOT2"),
    "MASS": ("MASS",),
}
NO_STRAIN = "a bar that keeps its length has no strain"
BESIDE_RODS = {"ELASTIC": "a bar is elastic or keeps its length, not both", "EXPANSION": NO_STRAIN}
"""Cards that make no sense in a material of rods."""
OF_BARS = ("INEXTENSIBLE", "NO TENSION", "EXPANSION")
"""Cards in a material of bars alone: ropes over pulleys have none of them."""
CARD_OF = {kind: card for card, kinds in KINDS_OF.items() for kind in kinds}


def build_properties(draft: Draft, mesh: Mesh) -> list[BarSection | Spring | Dashpot | PointMass]:
    """All properties in deck order."""
    kinds = np.array([at for at, block in enumerate(mesh.blocks) for _ in range(len(block.labels))], dtype=np.int64)
    owner = np.full(len(kinds), -1, dtype=np.int64)
    found: list[BarSection | Spring | Dashpot | PointMass] = []
    for number, entry in enumerate(draft.properties):
        draft.card = entry.card
        if entry.element_set not in mesh.element_sets:
            draft.failed.add("PROPERTY")
        with draft.guard():
            members = mesh.element_sets.get(entry.element_set, np.zeros(0, np.int64))
            names = [mesh.blocks[at].kind for at in distinct(kinds[members]).tolist()]
            wanted = KINDS_OF[entry.card.keyword]
            for name in (name for name in names if name not in wanted):
                hint = f"*{entry.card.keyword} is for {listing(wanted, 'and')}; {name} takes *{CARD_OF[name]}"
                raise entry.card.mistake(f"element set {entry.element_set} has elements of type {name}", hint)
            taken = members[owner[members] >= 0]
            owner[members] = number
            if len(taken):
                label = draft.as_written(int(mesh.element_labels[taken[0]]))
                message = f"element {label} gets a second property by *{entry.card.keyword}"
                raise entry.card.mistake(message, f"{len(taken)} elements of {entry.element_set} have one already")
            if isinstance(entry.value, BarSection) and not set(names).isdisjoint(REEVED):
                refuse_on_pulleys(draft, entry.card, entry.value)
            if names or entry.value is not None:
                found.append(entry.value or read_text(entry, names, draft))
    draft.card = None
    blame_bare_elements(draft, mesh, kinds, owner)
    return found


def refuse_on_pulleys(draft: Draft, card: Card, section: BarSection) -> None:
    """Mistake where a section has what ropes over pulleys have not."""
    beside = f"is for bars, and element set {section.element_set} has elements of type {listing(REEVED, 'and')}"
    for name, has_it in (
        ("STRAIN", section.strain == "LOG"),
        ("MASS", section.mass_rule != "LUMPED"),
    ):
        if has_it:
            field = card.field(name)
            raise Mistake(field.place, f"{name}={field.text.upper()} {beside}")
    material = draft.materials.get(section.material)
    for name, place in material.cards.items() if material else ():
        if name in OF_BARS:
            raise Mistake(place, f"*{name} {beside}", f"made of material {section.material}")


def read_text(entry: Property, names: list[str], draft: Draft) -> Spring | Dashpot:
    """A spring or dashpot, now that the kind of its elements is known."""
    if len(names) > 1:
        message = f"element set {entry.element_set} mixes {listing(names, 'and')}"
        raise entry.card.mistake(message, "give each kind a set and a card of its own")
    reader = read_spring if entry.card.keyword == "SPRING" else read_dashpot
    return reader(entry.card, entry.element_set, names[0], draft)


def blame_bare_elements(draft: Draft, mesh: Mesh, kinds: np.ndarray, owner: np.ndarray) -> None:
    """Elements without any property."""
    if draft.has_failed("PROPERTY", "ELEMENT", "ELGEN", "ELSET", "INCLUDE", *KINDS_OF):
        return
    for at, block in enumerate(mesh.blocks):
        bare = np.nonzero((owner < 0) & (kinds == at))[0]
        if len(bare):
            label = int(mesh.element_labels[bare[0]])
            what = f"{len(bare)} element{'s' * (len(bare) > 1)} of type {block.kind}"
            message = f"{what} without *{CARD_OF[block.kind]}, the first is {draft.as_written(label)}"
            draft.report(Mistake(draft.elements.place_of(label), message))


def build_materials(draft: Draft, used: set[str]) -> dict[str, Material]:
    """All materials; those of sections must be elastic."""
    materials = {}
    for name, entry in draft.materials.items():
        if name in used:
            found = len(draft.mistakes)
            blame_missing_elastic(draft, entry)
            if len(draft.mistakes) == found and not entry.broken:
                blame_strangers(draft, entry)
        else:
            draft.notice(f"material {name} is used by no *SOLID SECTION")
        materials[name] = Material(name, **entry.numbers)  # type: ignore[arg-type]
    return materials


def blame_strangers(draft: Draft, entry: MaterialDraft) -> None:
    """Nothing stands in a material that its law takes no notice of."""
    for card, law in strangers(entry.cards):
        message = f"*{card} beside *{law} in material {entry.name}, which takes no notice of it"
        draft.report(Mistake(entry.cards[card], message, f"*{law} goes with {listing(LAWS[law], 'and')}"))


def blame_missing_elastic(draft: Draft, entry: MaterialDraft) -> None:
    """A bar has a modulus, or keeps its length."""
    if entry.broken:
        return
    if any(card in entry.cards for card in ROPE_LAWS):
        for card, message, hint in rope_law_mistakes(entry):
            draft.report(Mistake(entry.cards[card], message, hint))
        return
    if "INEXTENSIBLE" not in entry.cards:
        if not LAWS.keys() & entry.cards.keys():
            draft.report(Mistake(entry.place, f"material {entry.name} has neither *ELASTIC nor *INEXTENSIBLE"))
        elif entry.numbers.get("is_instant"):
            message = f"MODULI=INSTANTANEOUS in material {entry.name}, which has no *VISCOELASTIC"
            draft.report(Mistake(entry.cards["ELASTIC"], message))
        return
    beside = f"beside *INEXTENSIBLE in material {entry.name}"
    for card, why in BESIDE_RODS.items():
        if card in entry.cards:
            draft.report(Mistake(entry.cards[card], f"*{card} {beside}", why))
    if "NO COMPRESSION" in entry.cards:
        if entry.numbers["compression_ratio"] != 0.0:
            why = "a rope carries no compression: leave RATIO out"
            draft.report(Mistake(entry.cards["NO COMPRESSION"], f"RATIO beside *INEXTENSIBLE in {entry.name}", why))
    elif "RESTITUTION" in entry.cards and "NO TENSION" not in entry.cards:
        message = f"RESTITUTION is for ropes and stops: material {entry.name} has no *NO COMPRESSION or *NO TENSION"
        draft.report(Mistake(entry.cards["RESTITUTION"], message, "a rod keeps its length and meets no impacts"))
    if entry.numbers.get("beta"):
        draft.report(Mistake(entry.cards["DAMPING"], f"BETA of *DAMPING {beside}", NO_STRAIN))
