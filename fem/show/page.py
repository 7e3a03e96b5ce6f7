"""Parts of HTML reports: a title block, then sections of facts, tables, figures and texts.

``page.html.jinja`` makes HTML of them. ``report`` makes the pages of results; that of ``fem line --sag-tension`` is
here.
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

from fem.commands.files import is_marked, mark_of, replace_file
from fem.runs.frames import as_svg
from fem.runs.own import check_file
from fem.show import style

LARGEST_SVG = 300_000
"""Characters: larger figures are embedded as pixels, which are smaller and faster to show."""
MOST_ROWS = 60
"""Rows of a table; the file it comes from has the others."""
DPI = 110
TALL = 0.8
"""Height over width of a figure that has more than a third of a page of paper, as its text becomes too small."""
DIGITS, GIVEN = 4, 6
"""Of numbers in tables; of what was given."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of names, each with a text."""

    rows: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; ``note``: what it omits."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    kind: str = "grid"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, as text of ``<svg>`` or as address of the pixels in the page; is_tall: more than a third of a page of
    paper."""

    svg: str = ""
    pixels: str = ""
    caption: str = ""
    is_tall: bool = False
    kind: str = "picture"


@dataclass(frozen=True, slots=True)
class Words:
    """``kind`` film: a page with a player; text: lines as they are; list: sentences; reasons: for the person who ran
    it. Films and reasons are not printed."""

    text: str = ""
    items: tuple[str, ...] = ()
    kind: str = "list"


@dataclass(slots=True)
class PageSection:
    """A heading and what is below it."""

    title: str
    blocks: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    """A whole report. is_good: the run ended regularly; mark: origin of the page; about: author, date, program..."""

    title: str
    lines: list[str]
    verdict: str
    is_good: bool
    mark: str
    note: str = ""
    about: Facts | None = None
    sections: list[PageSection] = field(default_factory=list)

    def add(self, title: str, *blocks: Any) -> None:
        """Adds a section, unless it is empty."""
        kept = [block for block in blocks if block is not None]
        if kept:
            self.sections.append(PageSection(title, kept))

    def html(self) -> str:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        loader = FileSystemLoader(Path(__file__).parent)
        environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        return environment.get_template("page.html.jinja").render(page=self)


def facts(given: Mapping[str, Any]) -> Facts | None:
    """The facts that have a text; None: none has."""
    rows = tuple((name, shown(value)) for name, value in given.items() if shown(value))
    return Facts(rows) if rows else None


def grid(
    head: Sequence[str], rows: Iterable[Sequence[Any]], source: str = "", note: str = "", digits: int = DIGITS
) -> PageTable | None:
    """A table of the first rows; None: there are none. source: the file with all rows; note: text below; digits: of
    its numbers."""
    found = [tuple(shown(each, digits) for each in row) for row in rows]
    if len(found) > MOST_ROWS:
        note = f"The first {MOST_ROWS} of {len(found)} rows; {source} has all. {note}"
    return PageTable(tuple(head), tuple(found[:MOST_ROWS]), note) if found else None


def records(
    found: Sequence[Mapping[str, Any]], kind: str = "", words: Mapping[str, str] | None = None
) -> PageTable | None:
    """A table of records of equal form, without columns in which all is empty, zero or no; kind: what they are, in the
    first head; words: names of columns, where the record's own are not meant for readers."""
    names = [name for name in (found[0] if found else ()) if any(shown(each[name]) not in NOTHING for each in found)]
    names.sort(key=lambda name: name not in ("name", "element_set"))
    heads = [(words or {}).get(name, name.replace("_", " ")) for name in names]
    heads[:1] = [f"{kind}: {head}" if kind else head for head in heads[:1]]
    return grid(heads, [[each[name] for name in names] for each in found], digits=GIVEN)


NOTHING = "", "0", "no"
"""What a column of a record says that says nothing."""


def rounded(value: float, digits: int = DIGITS) -> str:
    """A number in so many digits; whole up to 1e7, where exponents are hard to read."""
    return f"{value + 0.0:.0f}" if 10.0**digits <= abs(value) < 1e7 else f"{value + 0.0:.{digits}g}"  # 0 has no sign


def shown(value: Any, digits: int = GIVEN) -> str:
    """A value for readers: numbers in some digits, lists with commas, empty text for nothing."""
    if value is None or value == "" or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return rounded(float(value), digits)
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {shown(item)}" for name, item in value.items() if shown(item))
    return ", ".join(filter(None, map(shown, value))) if isinstance(value, list | tuple) else str(value)


def picture(figure: Figure, caption: str = "") -> Picture:
    style.shorten_numbers(figure)
    svg, is_tall = as_svg(figure), bool(figure.get_figheight() > TALL * figure.get_figwidth())
    if len(svg) <= LARGEST_SVG:
        return Picture(svg=svg, caption=caption, is_tall=is_tall)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI)
    return Picture(pixels=address(content.getvalue()), caption=caption, is_tall=is_tall)


def drawn(path: Path, caption: str = "") -> Picture | None:
    """A PNG that exists; None: it does not."""
    return Picture(pixels=address(path.read_bytes()), caption=caption or path.name) if path.is_file() else None


def address(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


POINTS = 80


def save_sags(line: Any, path: Path, force: bool) -> Path:
    """Write the figure of a ``SagTension``. CommandError: the file exists and was not written by the program."""
    mark = mark_of("sag_tension")
    check_file(path, (), force, is_marked(path, mark))
    style.save(sags(line), path, mark)
    return path


def save_page(line: Any, said: Sequence[str], path: Path, force: bool) -> Path:
    """Write a ``SagTension`` as a page to hand over; said: what the console says of it. CommandError as above."""
    mark = mark_of("sag_tension")
    check_file(path, (), force, is_marked(path, mark))
    head, *rows = line.table()
    page = Page(f"Sag and tension of {line.section.name}", list(said), "", True, mark)
    first = head.index(f"initial sag [{line.units['length']}]")
    final = head.index(f"final sag [{line.units['length']}]")
    for title, places in (
        ("Conditions", range(first)),
        ("Initial", (0, *range(first, final))),
        ("Final", (0, *range(final, len(head)))),
    ):
        chosen = [[cells[at] for at in places] for cells in (head, *rows)]
        page.add(title, grid(chosen[0], chosen[1:], "the table (CSV)"))
    page.add("Sag and tension over temperature", picture(sags(line), "Bare conductor; points: conditions with load."))
    page.add("Sources", facts({name.replace("_", " "): source for name, source in line.section.sources.items()}))
    replace_file(path, page.html().encode())
    return path


def sags(line: Any) -> Figure:
    """Initial and final sag and horizontal tension of the bare conductor; conditions with load are points."""
    given = [row.condition.temperature for row in line.rows]
    low, high = min(given), max(given)
    low, high = (low - 20.0, high + 20.0) if high - low < 1.0 else (low, high)
    celsius, told, units = np.linspace(low, high, POINTS), line.told, line.units
    of_span = f"{line.section.name}, span {told(line.span, 'length'):.6g} {units['length']}"
    figure, ((above,), (below,)) = style.panels(2, of_span, height=2.6)

    def numbers(states: Sequence[Any]) -> tuple[Any, Any]:
        """Sags and tensions."""
        sags, pulls = np.array([(state.shape.sag, state.h) for state in states]).reshape(-1, 2).T
        return told(sags, "length"), told(pulls, "force")

    for place, name in enumerate(("initial", "final")):
        sag, pull = numbers([line.state(float(each), name == "final") for each in celsius])
        style.curve(above, told(celsius, "temperature"), sag, place, name)
        style.curve(below, told(celsius, "temperature"), pull, place)
        loaded = [row for row in line.rows if not row.condition.is_bare]
        sag, pull = numbers([getattr(row, name) for row in loaded])
        warm = told(np.array([row.condition.temperature for row in loaded]), "temperature")
        look: dict[str, Any] = {"color": style.OKABE_ITO[place], "marker": "so"[place], "mfc": "none"}
        look |= {"ls": "", "ms": 5}
        above.plot(warm, sag, label=f"{name}, loaded" if loaded else None, **look)
        below.plot(warm, pull, **look)
        knee = line.knee(name == "final", low, high)
        if knee is not None:
            warm, sag = told(knee, "temperature"), told(line.state(knee, name == "final").shape.sag, "length")
            text = f"knee at {warm:.3g} {units['temperature']}"
            above.plot(warm, sag, "v", color=style.OKABE_ITO[place], ms=8, label=text)
    above.set_ylabel(f"sag [{units['length']}]")
    below.set(xlabel=f"temperature [{units['temperature']}]", ylabel=f"H [{units['force']}]")
    for panel in (above, below):
        style.tidy(panel)
    style.legend_below(above)
    return figure
