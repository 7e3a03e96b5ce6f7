"""``fem help``: the section of a keyword in the reference, from the page that comes with the program."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fem.commands.example import shipped
from fem.commands.installed import DESCRIBED, load_installed
from fem.errors import CommandError, proposal

if TYPE_CHECKING:
    from fem.arrays import Say  # which imports numpy

PAGE = "docs/reference/keywords.md"
WIDTH = 100


def pieces() -> list[str]:
    """The beginning of the page, then headings and texts by turns."""
    path = shipped() / PAGE
    if not path.is_file():
        raise CommandError(f"{path} is missing: the installation is incomplete")
    return re.split(r"^###? (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def sections() -> dict[str, str]:
    """Keyword -> its heading and its section; QUANTITIES -> their table."""
    _, *others = pieces()
    found = {head.upper(): text for head, text in zip(others[::2], others[1::2], strict=True) if text.strip()}
    return {head.strip("*"): f"{head}\n\n{text}" for head, text in found.items()}


def plain(text: str) -> str:
    """Markdown as text: links are their words, cells of tables are apart, only examples are longer than a line."""
    lines, is_example = [], False
    for line in re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).strip().splitlines():
        if line.startswith("```"):
            is_example = not is_example
        elif is_example:
            lines.append(f"    {line}")
        elif not re.fullmatch(r"[|\- ]+", line):
            indent = "    " if line[:1] in ("-", "|") else ""
            shown = re.sub(r"\s*\|\s*", "  ", line).strip() if line.startswith("|") else line.strip()
            lines.append(textwrap.fill(shown, WIDTH, subsequent_indent=indent, break_on_hyphens=False))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def keyword_help(words: Sequence[str] = (), say: Say = print) -> None:
    """Say what a keyword is for, its parameters, data lines, an example and wrong lines; without words, list keywords.

    words  of the keyword: ``node print``, ``*NODE PRINT``; ``quantities``: what output cards may request

    CommandError: there is no such keyword.
    """
    if not words:
        say(plain(pieces()[0].rpartition("\n\n|")[2]))
        say("fem help KEYWORD describes one of them, fem help quantities what output cards may request")
        return
    found = sections()
    name = " ".join(" ".join(words).upper().strip("* ,").split())
    if name not in found:
        load_installed()
        found |= DESCRIBED
    if name not in found:
        raise CommandError(f"there is no keyword *{name}; {proposal(name, found)}")
    say(plain(found[name]))
