"""What a page of ``fem report`` is made of: a title block, then sections of facts, tables, figures and texts.

``page.html.jinja`` makes HTML of them.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.runs.frames import as_svg

LARGEST_SVG = 300_000
"""Characters; figures of many bars are smaller, and faster to show, as pixels."""
MOST_ROWS = 60
"""Of a table; the file that it is from has the others."""
DPI = 110


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of names, each with a text."""

    rows: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; ``note``: what it leaves out."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    kind: str = "grid"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, as text of ``<svg>`` or as address of the pixels in the page."""

    svg: str = ""
    pixels: str = ""
    caption: str = ""
    kind: str = "picture"


@dataclass(frozen=True, slots=True)
class Words:
    """``kind`` film: a page with a player; text: lines as they are; list: sentences; reasons: such as are of use to who
    ran it. Films and reasons are not printed."""

    text: str = ""
    items: tuple[str, ...] = ()
    kind: str = "list"


@dataclass(slots=True)
class Section:
    """A heading and what is below it."""

    title: str
    blocks: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    """A whole report. is_good: it ended as it should; mark: whose it is; about: author, date, program, deck."""

    title: str
    lines: list[str]
    verdict: str
    is_good: bool
    mark: str
    note: str = ""
    about: Facts | None = None
    sections: list[Section] = field(default_factory=list)

    def add(self, title: str, *blocks: Any) -> None:
        """A section, if there is anything in it."""
        kept = [block for block in blocks if block is not None]
        if kept:
            self.sections.append(Section(title, kept))

    def html(self) -> str:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        loader = FileSystemLoader(Path(__file__).parent)
        environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        return environment.get_template("page.html.jinja").render(page=self)


def facts(given: Mapping[str, Any]) -> Facts | None:
    """Those that say something; None: none does."""
    rows = tuple((name, shown(value)) for name, value in given.items() if shown(value))
    return Facts(rows) if rows else None


def grid(head: Sequence[str], rows: Iterable[Sequence[Any]], source: str = "", note: str = "") -> Grid | None:
    """A table of the first rows; None: there are none. source: the file with all of them; note: what to say below."""
    found = [tuple(map(shown, row)) for row in rows]
    if len(found) > MOST_ROWS:
        note = f"The first {MOST_ROWS} of {len(found)} rows; {source} has all. {note}"
    return Grid(tuple(head), tuple(found[:MOST_ROWS]), note) if found else None


def records(found: Sequence[Mapping[str, Any]]) -> Grid | None:
    """A table of records of equal form, without columns in which nothing stands."""
    names = [name for name in (found[0] if found else ()) if any(shown(each[name]) for each in found)]
    names.sort(key=lambda name: name not in ("name", "element_set"))
    return grid([name.replace("_", " ") for name in names], [[each[name] for name in names] for each in found])


def shown(value: Any) -> str:
    """For people: numbers in six digits, lists with commas, nothing for nothing."""
    if value is None or value == "" or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value + 0.0:.6g}"  # zero has no sign
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {shown(item)}" for name, item in value.items() if shown(item))
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(shown, value)))
    return str(value)


def picture(figure: Figure, caption: str = "") -> Picture:
    svg = as_svg(figure)
    if len(svg) <= LARGEST_SVG:
        return Picture(svg=svg, caption=caption)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI)
    return Picture(pixels=address(content.getvalue()), caption=caption)


def drawn(path: Path, caption: str = "") -> Picture | None:
    """A PNG that is there; None: it is not."""
    return Picture(pixels=address(path.read_bytes()), caption=caption or path.name) if path.is_file() else None


def address(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()
