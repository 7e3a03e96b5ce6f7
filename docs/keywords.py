"""Text of the keyword reference: what the reader states of each card, ``docs/reference/keywords.toml``, decks of
``inputs`` as examples, and messages that the reader gives for the wrong decks of ``tests/deck/bad``.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from fem.deck import KEYWORDS, read_deck
from fem.deck.table import STATEMENTS, Statement
from fem.errors import DeckError, Problem
from fem.model.quantities import ENERGIES, QUANTITIES

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "reference" / "keywords.toml"
OF_SCANNER = {
    "INCLUDE": Statement("anywhere", (), ("INPUT",), (), {}, ()),
    "PARAMETER": Statement("anywhere", (), (), (), {}, ()),
}
"""Cards that ``fem/deck/scanner.py`` answers, before any handler."""
PLACES = {
    "anywhere": "anywhere",
    "model": "before the first `*STEP`",
    "step": "in a step",
    "material": "below `*MATERIAL`",
}
MOST_LINES, MOST_ERRORS = 8, 4
"""Lines of an example, errors of a keyword."""
NOT_FIELDS = {"N": "force conjugate to the strain", "T": "force along the bar, of a PULLEY along its first branch"}
NOT_FIELDS["T2"] = "the same along the second branch; of other elements T"
"""What these are, where the name of the field in ParaView says nothing."""


def stated(name: str) -> Statement:
    """What the reader says of a card."""
    return OF_SCANNER.get(name) or STATEMENTS[KEYWORDS[name]]


def written() -> dict[str, dict[str, Any]]:
    """What people have written of each card, in the order of the page."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def keyword_of(line: str) -> str:
    """Of a keyword line, as in ``KEYWORDS``; nothing of any other."""
    if not line.startswith("*") or line.startswith("**"):
        return ""
    return " ".join(line[1:].partition(",")[0].upper().split())


def cards(path: Path) -> list[tuple[str, str]]:
    """Keyword and lines of each card of a deck."""
    found: list[tuple[str, list[str]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("*"):
            found.append((keyword_of(line), []))
        found[-1][1].append(line)
    return [
        (name, "\n".join(lines[:MOST_LINES] + ["..."] * (len(lines) > MOST_LINES))) for name, lines in found if name
    ]


@cache
def examples() -> dict[str, tuple[Path, str]]:
    """Keyword -> the deck of ``inputs`` with the card that shows most parameters, then data lines, of it; that card."""
    found: dict[str, tuple[Path, str]] = {}
    for path in sorted((ROOT / "inputs").glob("*.inp")):
        for name, text in cards(path):
            if name not in found or richness(text) > richness(found[name][1]):
                found[name] = path, text
    return found


def richness(text: str) -> tuple[int, int]:
    """Parameters, then data lines."""
    first, *data = text.splitlines()
    return first.count(","), len(data)


@cache
def errors() -> dict[str, list[Problem]]:
    """Keyword -> what the reader says of the decks in ``tests/deck/bad`` with a mistake in such a card."""
    found: dict[str, list[Problem]] = {}
    for path in sorted((ROOT / "tests" / "deck" / "bad").glob("*.inp")):
        lines = path.read_text(encoding="utf-8").splitlines()
        try:
            read_deck(path)
        except DeckError as error:
            for problem in error.problems:
                names = [keyword_of(line) for line in lines[: problem.line]]
                name = next(filter(None, reversed(names)), "")
                found.setdefault(name, []).append(problem)
    return found


def rows_of(name: str, entry: dict[str, Any]) -> str:
    """The table of parameters."""
    own, meanings = stated(name), entry.get("parameters", {})
    if not meanings:
        return "No parameters.\n"
    rows = []
    for parameter, meaning in meanings.items():
        text, _, default = meaning.partition(". Default: ")
        default = "needed" if parameter in own.needs else default
        mark = " (+)" if parameter in own.plus else ""
        rows.append(f"| `{parameter}`{mark} | {text} | {default} |")
    return "\n".join(["| parameter | meaning | default |", "|---|---|---|", *rows]) + "\n"


def data_of(entry: dict[str, Any]) -> str:
    """The data lines."""
    if "data" not in entry:
        return "No data lines.\n"
    rows = []
    for line in entry["data"]:
        entries, _, meaning = line.removeprefix("*").partition(": ")
        entries = entries if "`" in entries else f"`{entries}`"
        rows.append(f"- {entries}{' (any number of lines)' * line.startswith('*')}{': ' * bool(meaning)}{meaning}")
    return "Data lines:\n\n" + "\n".join(rows) + "\n"


def others_of(own: Statement) -> str:
    """Parameters of other codes that do nothing here, or are refused."""
    text = ""
    if own.ignores:
        text += f"Taken without effect: {', '.join(f'`{name}`' for name in own.ignores)}.\n\n"
    if own.refused:
        text += "Refused: " + "; ".join(f"`{name}` {reason}" for name, reason in own.refused.items()) + ".\n\n"
    return text


def example_of(name: str, entry: dict[str, Any]) -> str:
    """A card of a deck that runs."""
    if name not in examples():
        return f"```text\n{entry['example']}\n```\n"
    path, text = examples()[name]
    return f"From [`inputs/{path.name}`](../../inputs/{path.name}):\n\n```text\n{text}\n```\n"


def errors_of(name: str) -> str:
    """Some wrong lines, with the messages that they get."""
    found = errors().get(name, [])[:MOST_ERRORS]
    if not found:
        return ""
    lines = [
        f"{problem.text.strip()}\n    error: {problem.message}{'; ' * bool(problem.hint)}{problem.hint}"
        for problem in found
    ]
    text = re.sub(r"\S*/(\w+\.inp)", r"\1", "\n".join(lines))  # files without their folders
    return f"Errors, among others:\n\n```text\n{text}\n```\n"


def section(name: str, entry: dict[str, Any]) -> str:
    """One keyword."""
    own = stated(name)
    parts = (
        f"({anchor(name)})=\n### *{name}\n",
        f"{entry['does']}\n",
        f"It stands {PLACES[own.level]}.\n",
        rows_of(name, entry),
        data_of(entry),
        others_of(own),
        example_of(name, entry),
        errors_of(name),
    )
    return "\n".join(filter(None, parts))


def anchor(name: str) -> str:
    """Of its section."""
    return f"keyword-{name.lower().replace(' ', '-')}"


def quantities() -> str:
    """What output cards may ask for."""
    rows = [
        f"| `{each.name}` | {kind} | {NOT_FIELDS.get(each.name, each.field).replace('_', ' ')} | {each.unit or '1'} |"
        for kind, table in (("nodes", QUANTITIES["NODE"]), ("elements", QUANTITIES["EL"]))
        for each in table
    ]
    energies = {name: column.replace("_", " ") for column, name in ENERGIES.items() if name}
    rows += [f"| `{name}` | the model, in `increments.csv` | {column} | energy |" for name, column in energies.items()]
    return "\n".join(["## Quantities\n", "| name | of | is | unit |", "|---|---|---|---|", *rows]) + "\n"


def reference() -> str:
    """All sections, in chapters, behind a list of links."""
    chapters: dict[str, list[str]] = {}
    for name, entry in written().items():
        chapter = entry.get("chapter") or [*chapters][-1]
        chapters.setdefault(chapter, []).append(name)
    found = written()
    links = [
        f"| {chapter} | {', '.join(f'[`*{name}`](#{anchor(name)})' for name in names)} |"
        for chapter, names in chapters.items()
    ]
    text = "\n".join(["| | |", "|---|---|", *links]) + "\n\n" + quantities()
    for chapter, names in chapters.items():
        text += f"\n## {chapter}\n\n" + "\n".join(section(name, found[name]) for name in names)
    return text
