"""What goes with what in a material: a card that its law would ignore is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator

ANY = ("DENSITY", "DAMPING", "NO COMPRESSION")
LAWS: dict[str, tuple[str, ...]] = {
    "ELASTIC": (*ANY, "NO TENSION", "EXPANSION", "VISCOELASTIC", "DYNAMIC STIFFNESS"),
    "INEXTENSIBLE": (*ANY, "NO TENSION", "RESTITUTION"),
    "UNIAXIAL": (*ANY, "LOADING DATA", "UNLOADING DATA", "DYNAMIC STIFFNESS"),
    "VISCOELASTIC": (*ANY, "ELASTIC"),
    "DYNAMIC STIFFNESS": (*ANY, "ELASTIC", "UNIAXIAL", "LOADING DATA", "UNLOADING DATA"),
}
"""Cards that say how a bar answers to strain -> the others that each takes notice of. A card that stands nowhere here
goes with none.
"""


def strangers(cards: Collection[str]) -> Iterator[tuple[str, str]]:
    """Cards of a material that a law in it takes no notice of, with that law; empty: there is no law at all."""
    laws = [card for card in cards if card in LAWS]
    for card in cards:
        if not laws:
            yield card, ""
        for law in laws:
            if card != law and card not in LAWS[law]:
                yield card, law
                break
