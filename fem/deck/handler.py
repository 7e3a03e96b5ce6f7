"""What a keyword states about itself: where it may stand and which parameters it has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeAlias

from fem.deck.cards import Card, Parameter
from fem.deck.draft import Draft
from fem.deck.source import Mistake, did_you_mean, listing, shown, squeezed

Handler: TypeAlias = Callable[[Card, Draft], None]
SHORTEST = 4


class Statement(NamedTuple):
    """What ``keyword`` was told of a card, ``refused`` with the reasons."""

    level: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    ignores: tuple[str, ...]
    refused: Mapping[str, str]
    plus: tuple[str, ...]


STATEMENTS: dict[Handler, Statement] = {}
"""Of all handlers: the keyword reference of the documentation is written from them."""


def keyword(
    level: str,
    takes: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    ignores: tuple[str, ...] = (),
    refuses: Mapping[str, str] | None = None,
    unsupported: tuple[str, ...] = (),
    plus: tuple[str, ...] = (),
) -> Callable[[Handler], Handler]:
    """Check level and parameters of a card before its function sees it.

    level    where the card may stand: anywhere, model, step, material
    takes    optional parameters; needs: required ones
    ignores  parameters that can change no result
    refuses  parameters of Abaqus or CalculiX that would, with the reason why not; unsupported: without one
    plus     those of ``takes`` and ``needs`` that neither Abaqus nor CalculiX has
    """
    known, ignored, extra = ({*map(squeezed, names)} for names in ((*needs, *takes), ignores, plus))
    reasons = dict.fromkeys(unsupported, "is not supported") | dict(refuses or {})
    refused = {squeezed(name): reason for name, reason in reasons.items()}
    answered = known | ignored | refused.keys()

    def decorate(function: Handler) -> Handler:
        def checked(card: Card, draft: Draft) -> None:
            check_level(card, draft, level)
            if not known.issuperset(card.parameters):
                expand(card.parameters, known)
                expand(card.parameters, answered)
            for name, parameter in card.parameters.items():
                if name in refused:
                    raise Mistake(parameter.place, f"{parameter.name} of *{card.keyword} {refused[name]}")
                if name in ignored:
                    draft.ignore(f"*{card.keyword}, {parameter.name}")
                elif name not in known:
                    raise unknown_parameter(card, name, (*needs, *takes, *ignores))
                elif name in extra:
                    draft.extension(f"*{card.keyword}, {parameter.name}")
            for name in needs:
                if not card.has(name):
                    raise card.mistake(f"*{card.keyword} needs {name}=")
            function(card, draft)

        checked.__doc__, checked.__name__ = function.__doc__, function.__name__
        STATEMENTS[checked] = Statement(level, takes, needs, ignores, reasons, plus)
        return checked

    return decorate


def expand(parameters: dict[str, Parameter], names: Collection[str]) -> None:
    """Abbreviations of one name only, of at least ``SHORTEST`` letters, become that name, as in Abaqus."""
    for short in [name for name in parameters if name not in names and len(name) >= SHORTEST]:
        found = [name for name in names if name.startswith(short)]
        if len(found) == 1 and found[0] not in parameters:
            parameters[found[0]] = parameters.pop(short)


def check_level(card: Card, draft: Draft, level: str) -> None:
    """A card at a wrong place is a mistake."""
    if level != "material":
        draft.material = None
    if level == "step" and draft.step is None:
        raise card.mistake(f"*{card.keyword} stands outside a step", "it belongs between *STEP and *END STEP")
    if level in ("model", "material") and draft.step is not None:
        raise card.mistake(f"*{card.keyword} stands inside a step", "it belongs before the first *STEP")
    if level == "material" and draft.material is None:
        raise card.mistake(f"*{card.keyword} stands outside a material", "it belongs directly below a *MATERIAL")


def unknown_parameter(card: Card, name: str, known: tuple[str, ...]) -> Mistake:
    """A parameter nobody knows, or a data line taken for one."""
    parameter = card.parameters[name]
    otherwise = f"it has {listing(known, 'and')}" if known else "it has none"
    if parameter.place.line > card.place.line:
        otherwise = "the comma at the end of the line above continues the keyword line"
    hint = did_you_mean(name, known, otherwise)
    return Mistake(parameter.place, f"*{card.keyword} has no parameter {shown(parameter.name)}", hint)
