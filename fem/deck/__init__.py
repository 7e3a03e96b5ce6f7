"""Input decks: ``.inp`` text to ``Model`` and back; the only place that knows commas and asterisks.

To add a keyword: a form in the fitting file (``table.py``), or a function ``(card, draft)`` under ``@keyword(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fem.commands.installed import has_additions, load_installed
from fem.deck import reader
from fem.deck.outline import OutlineReader
from fem.deck.scanner import DeckFiles, checked_overrides
from fem.deck.table import KEYWORDS
from fem.deck.writer import write_deck
from fem.errors import CommandError, DeckError
from fem.model import Model

Answer = TypeVar("Answer")


def read_deck(
    path: str | Path,
    parameters: Mapping[str, float] | None = None,
    earlier: reader.EarlierDecks = (),
) -> Model:
    """Read an input deck.

    path        of the ``.inp``
    parameters  values that replace those of ``*PARAMETER`` lines, by name (``--set``)
    earlier     decks of earlier runs, the last one first, and their parameters: a deck that contains only further steps
                uses their model (``*RESTART, READ``)

    Raises
    ------
    DeckError     all errors of the deck, in its order, at most ``MAX_PROBLEMS``
    CommandError  a name in ``parameters`` is no ``*PARAMETER`` of the deck, or its value is not a finite number

    >>> len(fem.read_deck("inputs/chain_modes.inp", {"links": 20}).mesh.node_labels)
    21
    """
    known = [(each, checked_overrides(values)) for each, values in earlier]
    return answered(lambda: reader.read_file(path, checked_overrides(parameters), earlier=known))


def answered(read: Callable[[], Answer]) -> Answer:
    """The result of ``read``; after unknown names once more, with the additions of installed packages."""
    before = has_additions()
    try:
        return read()
    except (CommandError, DeckError) as mistakes:
        if not load_installed(mistakes) and has_additions() == before:  # no quantity of the deck has imported them
            raise
    return read()


def read_model(
    deck: str | Path | Model,
    parameters: Mapping[str, float] | None = None,
    earlier: reader.EarlierDecks = (),
) -> Model:
    """As ``read_deck``, unless it is a ``Model``, whose text is read again for other parameters. CommandError: no such
    file; parameters of a model without text."""
    if isinstance(deck, Model):
        if not parameters:
            return deck
        return answered(lambda: reader.read_file(deck, checked_overrides(parameters)))
    path = Path(deck)
    if not path.is_file():
        what = "is a folder, not a deck" if path.is_dir() else "does not exist"
        beside = Path(f"{path}.inp")
        from fem.commands.example import copies

        hint = f"did you mean {beside}?" if beside.is_file() else copies(path)
        raise CommandError(f"{path} {what}" + (f"; {hint}" if hint else ""))
    return read_deck(path, dict(parameters or {}), earlier)


def deck_reader(path: str | Path | Model, varied: Collection[str]) -> OutlineReader:
    """``read_deck`` of one deck for many parameter sets that differ in the ``varied`` ones.
    The text of the first reading is kept. If only numbers of the model can change, these are replaced without
    reading again (``OutlineReader``)."""
    return OutlineReader(path, varied)


def parse_deck(
    text: str, parameters: Mapping[str, float] | None = None, name: str = "deck", folder: Path | None = None
) -> Model:
    """Like ``read_deck``, for a deck given as text.

    text        of the deck
    parameters  as in ``read_deck``
    name        of the deck, in messages and in names of files
    folder      of the files that ``*INCLUDE`` reads; None: there are none

    >>> fem.parse_deck(open("inputs/sdnl100.inp").read()).mesh.node_labels.tolist()
    [1, 2]
    """

    def read() -> Model:
        files = DeckFiles()
        given = checked_overrides(parameters)
        model = reader.read_source(files, files.open_text(text, name, folder), given)
        return replace(model, text="" if folder else text, given=given)

    return answered(read)


__all__ = ["KEYWORDS", "deck_reader", "parse_deck", "read_deck", "read_model", "write_deck"]
