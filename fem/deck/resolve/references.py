"""Names and labels used before they were known: do they exist?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from fem.deck.draft import Draft, Use
from fem.deck.lexical.source import Mistake, did_you_mean
from fem.deck.resolve.mesh import ELEMENT_CARDS, NODE_CARDS
from fem.errors import MAX_PROBLEMS

MOST = 10 * MAX_PROBLEMS
SET_CARDS = {"node": ("NSET", *NODE_CARDS), "element": ("ELSET", *ELEMENT_CARDS)}


def check_uses(draft: Draft) -> None:
    """Report what is used and does not exist, unless its own card had a mistake."""
    found = (check_target(draft, use) if use.family in SET_CARDS else check_name(draft, use) for use in draft.uses)
    draft.report(*islice(filter(None, found), MOST))


def check_target(draft: Draft, use: Use) -> Mistake | None:
    """A node or element label, or the name of a set."""
    is_node = use.family == "node"
    if isinstance(use.name, int):
        if use.name in draft.table(use.family).rows or draft.has_failed(*SET_CARDS[use.family][1:]):
            return None
        named = str(use.name) in (draft.node_sets if is_node else draft.element_sets)
        quoted = f'the set of that name is written "{use.name}" here' if named else ""
        otherwise = quoted or draft.hint_at_instances(use.name, use.family)
        return Mistake(use.place, f"there is no {use.family} {draft.as_written(use.name)}", otherwise)
    table, other = (draft.node_sets, draft.element_sets) if is_node else (draft.element_sets, draft.node_sets)
    if use.name in table or draft.has_failed(*SET_CARDS[use.family]):
        return None
    otherwise = f"{use.name} is {'an element' if is_node else 'a node'} set" if use.name in other else ""
    hint = otherwise or did_you_mean(use.name, table.chunks)
    return Mistake(use.place, f"there is no {use.family} set {use.name}", hint)


def check_name(draft: Draft, use: Use) -> Mistake | None:
    """The name of an amplitude, a material, time points: those of a card of the same name."""
    tables: dict[str, Mapping[str, object]] = {
        "amplitude": draft.amplitudes,
        "material": draft.materials,
        "time points": draft.time_points,
        "drag law": draft.drag_laws,
    }
    known = tables[use.family]
    if use.name in known or draft.has_failed(use.family.upper()):
        return None
    what = "are no" if use.family.endswith("s") else "is no"
    return Mistake(use.place, f"there {what} {use.family} {use.name}", did_you_mean(str(use.name), known))
