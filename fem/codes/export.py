"""``fem export DECK --to calculix|opensees|moordyn|code_aster|abaqus``: the files of a deck for another code."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from fem.arrays import Say
from fem.codes.features import stem_of
from fem.deck import read_model
from fem.errors import CommandError, proposal
from fem.files import write_new
from fem.model import Model

CODES = {
    "calculix": "CalculiX",
    "opensees": "OpenSees",
    "moordyn": "MoorDyn",
    "code_aster": "Code_Aster",
    "abaqus": "Abaqus",
}
"""Module of this package -> name of the code."""


def module_of(code: str) -> Any:
    """What writes for a code. CommandError: there is no such code."""
    if code not in CODES:
        raise CommandError(f"there is no code {code!r}; {proposal(code, CODES)}")
    return import_module(f"fem.codes.{code}")


def files_for(code: str, model: Model) -> tuple[dict[str, str], list[str]]:
    """Name -> text of the files, and notes on what differs. DeckError: what the code cannot express, line by line."""
    texts, notes = module_of(code).files_of(model)
    stem = stem_of(model)
    return {f"{stem}{suffix}": text for suffix, text in texts.items()}, notes


def export_deck(
    deck: str | Path | Model,
    to: str,
    folder: str | Path = ".",
    parameters: Mapping[str, float] | None = None,
    force: bool = False,
    say: Say = lambda text: None,
) -> list[Path]:
    """Write a deck for another code, and return the paths of the files.

    to      calculix, opensees, moordyn, code_aster, abaqus
    folder  of the files, whose names begin with that of the deck
    say     is told what differs there

    Raises
    ------
    DeckError     what the code cannot express, each with its line of the deck
    CommandError  a file exists and holds something else; no such code

    >>> [path.name for path in fem.export_deck("inputs/sdnl100.inp", "opensees", "exported")]
    ['sdnl100_opensees.py']
    """
    files, notes = files_for(to, read_model(deck, parameters))
    for note in notes:
        say(f"note: {note}")
    found = [write_new(Path(folder) / name, text.encode(), force) for name, text in files.items()]
    for path in found:
        say(f"wrote {path}")
    return found


def export(
    deck: Path, to: str, input: str, output: str, file: Path | None, fmi: int, parameters: Any, force: bool, say: Say
) -> None:
    """``fem export DECK --to CODE``; options of units for co-simulation have no meaning here."""
    for name, given in (("--input", input), ("--output", output), ("--fmi", fmi != 3)):
        if given:
            raise CommandError(f"{name} is for --to fmu; --file FOLDER/ names the folder of the files")
    export_deck(deck, to, file or Path(), dict(parameters), force, say)
