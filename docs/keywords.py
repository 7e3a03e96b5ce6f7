"""Text of the keyword reference: the rules of each card as the reader states them, ``docs/reference/keywords.toml``,
examples from the decks of ``inputs``, and the messages of the reader for the wrong decks of ``tests/deck/bad``.

``python -m docs.keywords`` writes the page anew; the wheel has it, too, for ``fem help``.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from fem.deck import KEYWORDS, read_deck
from fem.deck.table import Keyword
from fem.errors import DeckError, Problem
from fem.model.quantities import ENERGIES, QUANTITIES

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "reference" / "keywords.toml"
PAGE = FILE.with_suffix(".md")
MARK = "<!-- written by python -m docs.keywords -->\n"
OF_SCANNER = {"PARAMETER": Keyword("anywhere", (), (), (), {}, (), lambda card, draft: None)}
"""Cards that ``fem/deck/scanner.py`` handles itself."""
PLACES = {
    "anywhere": "anywhere in the deck",
    "model": "before the first `*STEP`",
    "step": "in a step",
    "material": "below `*MATERIAL`",
}
MOST_LINES, MOST_ERRORS = 8, 4
"""Largest number of lines of an example, and of errors of a keyword."""
NOT_FIELDS = {"N": "force conjugate to the strain", "T": "force along the bar; of a PULLEY in its first branch"}
NOT_FIELDS["T2"] = "force in the second branch of a PULLEY; of other elements T"
"""Meanings of quantities whose name in ParaView does not explain them."""


def stated(name: str) -> Keyword:
    """The rules of a card, as the reader states them."""
    return OF_SCANNER.get(name) or KEYWORDS[name]


def written() -> dict[str, dict[str, Any]]:
    """The text that is written by hand for each card, in the order of the page."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def keyword_of(line: str) -> str:
    """Keyword of a keyword line, as in ``KEYWORDS``; empty for any other line."""
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
    """Keyword -> the deck of ``inputs`` whose card has most parameters, then most data lines; that card."""
    found: dict[str, tuple[Path, str]] = {}
    for path in sorted((ROOT / "inputs").glob("*.inp")):
        for name, text in cards(path):
            if name not in found or richness(text) > richness(found[name][1]):
                found[name] = path, text
    return found


def richness(text: str) -> tuple[int, int]:
    """Number of parameters, number of data lines."""
    first, *data = text.splitlines()
    return first.count(","), len(data)


@cache
def errors() -> dict[str, list[Problem]]:
    """Keyword -> the errors that the reader reports for such cards in the decks of ``tests/deck/bad``."""
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
        default = "required" if parameter in own.needs else default
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
        rows.append(f"- {entries}{' (may be repeated)' * line.startswith('*')}{': ' * bool(meaning)}{meaning}")
    return "Data lines:\n\n" + "\n".join(rows) + "\n"


def others_of(own: Keyword) -> str:
    """Parameters of other codes that are ignored or refused here."""
    text = ""
    if own.ignores:
        text += f"Accepted, but ignored: {', '.join(f'`{name}`' for name in own.ignores)}.\n\n"
    reasons: dict[str, list[str]] = {}
    for name, reason in own.refused.items():
        reasons.setdefault(reason.removeprefix("is not supported").removeprefix(": "), []).append(f"`{name}`")
    if reasons:
        entries = [", ".join(names) + f" ({reason})" * bool(reason) for reason, names in reasons.items()]
        text += f"Not supported: {'; '.join(entries)}.\n\n"
    return text.removesuffix("\n")


def example_of(name: str, entry: dict[str, Any]) -> str:
    """A card from a deck that runs, or the example of the entry."""
    if name not in examples():
        return f"```text\n{entry['example']}\n```\n"
    path, text = examples()[name]
    return f"From [`inputs/{path.name}`](../../inputs/{path.name}):\n\n```text\n{text}\n```\n"


def errors_of(name: str) -> str:
    """Some wrong lines, with their error messages."""
    found = errors().get(name, [])[:MOST_ERRORS]
    if not found:
        return ""
    lines = [
        f"{problem.text.strip()}\n    error: {problem.message}{'; ' * bool(problem.hint)}{problem.hint}"
        for problem in found
    ]
    text = re.sub(r"\S*/(\w+\.inp)", r"\1", "\n".join(lines))  # files without their folders
    return f"Some error messages:\n\n```text\n{text}\n```\n"


def section(name: str, entry: dict[str, Any]) -> str:
    """One keyword."""
    own = stated(name)
    parts = (
        f"### *{name}\n",
        f"{entry['does']}\n",
        f"Allowed {PLACES[own.level]}.\n",
        rows_of(name, entry),
        data_of(entry),
        others_of(own),
        example_of(name, entry),
        errors_of(name),
    )
    return "\n".join(filter(None, parts))


def anchor(name: str) -> str:
    """Anchor of its section, as web pages of Markdown have it."""
    return name.lower().replace(" ", "-")


def quantities() -> str:
    """The table of quantities that output cards may request."""
    rows = [
        f"| `{each.name}` | {kind} | {NOT_FIELDS.get(each.name, each.field).replace('_', ' ')} | {each.unit or '1'} |"
        for kind, table in (("nodes", QUANTITIES["NODE"]), ("elements", QUANTITIES["EL"]))
        for each in table
    ]
    energies = {name: column.replace("_", " ") for column, name in ENERGIES.items() if name}
    rows += [f"| `{name}` | the model, in `increments.csv` | {column} | energy |" for name, column in energies.items()]
    return "\n".join(["## Quantities\n", "| name | of | meaning | unit |", "|---|---|---|---|", *rows]) + "\n"


def reference() -> str:
    """All sections, in chapters, after a list of links."""
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


def page() -> str:
    """The whole page: what is written by hand, up to the mark, and the reference."""
    return PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + reference()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
