"""Reports of sweeps, of exponents and sections, of validation: their tables and figures."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fem.arrays import Columns
from fem.errors import CommandError
from fem.files.own import listed_names, read_record
from fem.files.whole import mark_of
from fem.pictures.style import MOST_CURVES, curve, legend_beside, panels, some_of, tidy
from fem.reports.page import Page, drawn, facts, grid, picture
from fem.results.run_record import COMPLETED

SHOWN = (r"exponent_1", r"frequency_.*", r"T_.*_max", r"T_.*_min", r"U._.*_max", r"U._.*_min", "energy_error_largest")
"""Columns of sweeps that are drawn: of each kind the one that varies most."""
TEXTS = ("verdict", "case", "quantity", "kind", "source")
"""Columns that hold no numbers."""
COUNTED = ("point", "verdict", "increments_total", "iterations_total", "energy_error_largest")
"""Columns that the table of a report has, beside the parameters and those that are drawn."""


def page_of_sweep(folder: Path) -> Page:
    """A table over parameters, curves of what came out; of exponents and sections their own figures, too."""
    record = record_in(folder, "sweep.json")
    table = read_columns(folder / "sweep.csv")
    names = [name for name in record.get("grid", {}) if name in table]
    verdicts, points = Counter(table["verdict"].tolist()), int(record.get("points", 0))
    done = len(table["verdict"])
    is_good = done == points and set(verdicts) == {COMPLETED}
    told = f"{done} of {points} parameter sets computed: " + ", ".join(f"{n} {name}" for name, n in verdicts.items())
    deck = record["deck"]
    page = Page(f"Sweep of {deck['file']} over {', '.join(names)}", [], told, is_good, mark_of(deck["file"]))
    values = {
        name: f"{len(given)} values, {min(given):g} to {max(given):g}" for name, given in record.get("grid", {}).items()
    }
    held = {"deck": deck["file"], "held fixed": deck.get("parameters"), "SHA-256 of the deck": deck.get("sha256")}
    asked = {name: value for name, value in deck.items() if name not in ("file", "parameters", "sha256")}
    page.add("Summary", facts(held | values | asked), grid(("verdict", "count"), verdicts.items()))
    page.add("Figures", *pictures(folder, record), sweep_figure(table, names))
    drawn_ones = shown_columns(table)
    chosen = [name for name in table if name in (*names, *COUNTED, *drawn_ones)]
    rows = zip(*(table[name].tolist() for name in chosen), strict=True)
    left = len(table) - len(chosen)
    note = f"{left} more columns are in sweep.csv." if left else ""
    page.add("Table", grid([name.replace("_", " ") for name in chosen], rows, "sweep.csv", note))
    page.add("Made with", facts(record.get("versions") or {}))
    return page


def pictures(folder: Path, record: Mapping[str, Any]) -> list[Any]:
    """The figures that a record lists."""
    return [drawn(folder / name) for name in sorted(listed_names(record)) if name.endswith(".png")]


def record_in(folder: Path, name: str) -> dict[str, Any]:
    """The record of a folder. CommandError: it cannot be understood."""
    record = read_record(folder / name) or {}
    if not isinstance(record.get("deck"), dict) or "file" not in record["deck"]:
        raise CommandError(f"{folder / name} cannot be read as a record of fem")
    return record


def read_columns(path: Path) -> Columns:
    """A table; columns of numbers as such, empty cells NaN. CommandError: it is none."""
    try:
        with path.open(newline="", errors="replace") as file:
            head, *rows = csv.reader(file)
        cells = list(zip(*(row for row in rows if len(row) == len(head)), strict=True)) or [()] * len(head)
        return Columns({name: column_of(name, column) for name, column in zip(head, cells, strict=True)})
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read as a table of fem: {error}") from None


def column_of(name: str, cells: Sequence[str]) -> NDArray[Any]:
    """Texts, whole numbers or numbers. ValueError: they are none."""
    if name in TEXTS:
        return np.array(cells, object)
    if cells and all(cell.lstrip("-").isdigit() for cell in cells):
        return np.array(list(map(int, cells)))
    return np.array([float(cell or "nan") for cell in cells])


def shown_columns(table: Columns) -> list[str]:
    """Of each kind of ``SHOWN`` the column that varies most."""
    found = []
    for pattern in SHOWN:
        spread = {}
        for name in table:
            if re.fullmatch(pattern, name) and np.isfinite(table[name]).any():
                spread[name] = float(np.nanmax(table[name]) - np.nanmin(table[name]))
        if spread and max(spread.values()) > 0.0:
            found.append(max(spread, key=lambda name: spread[name]))
    return found


def sweep_figure(table: Columns, names: list[str]) -> Any:
    """What came out over the parameter with most values, curves for some values of the next, others at their first."""
    counts = {name: len(np.unique(table[name])) for name in names}
    across = max(counts, key=lambda name: counts[name]) if counts else ""
    shown = shown_columns(table)
    if not across or counts[across] < 3 or not shown:
        return None
    others = sorted((name for name in names if name != across), key=lambda name: -counts[name])
    fixed = np.ones(len(table[across]), bool)
    for name in others[1:]:
        fixed &= table[name] == table[name][0]
    beside = np.unique(table[others[0]]) if others else np.zeros(1)
    some = beside[some_of(range(len(beside)), MOST_CURVES)]
    figure: Figure
    figure, axes = panels(len(shown), f"Over {across}")
    for [panel], column in zip(axes, shown, strict=True):
        for place, value in enumerate(some.tolist()):
            rows = np.flatnonzero(fixed & (table[others[0]] == value) if others else fixed)
            rows = rows[np.argsort(table[across][rows], kind="stable")]
            label = f"{others[0]} = {value:g}" if others else None
            curve(panel, table[across][rows], table[column][rows], place, label)
        panel.set_ylabel(column.replace("_", " "))
        tidy(panel)
    axes[-1][0].set_xlabel(across)
    legend_beside(axes[0][0])
    where = ", ".join(f"{name} = {table[name][0]:g}" for name in others[1:])
    return picture(figure, f"At {where}." if where else "")


def page_of_one(folder: Path, kind: str) -> Page:
    """Exponents or a section of one model: settings, figures, the last line of the convergence."""
    record = record_in(folder, f"{kind}.json")
    deck = record["deck"]
    what = {"lyapunov": "Lyapunov exponents", "sections": "Stroboscopic section"}[kind]
    settings = {name.removeprefix(f"{kind} "): value for name, value in deck.items() if name.startswith(f"{kind} ")}
    verdict, found = "", None
    if kind == "lyapunov":
        table = read_columns(folder / "convergence.csv")
        count = sum(name.startswith("exponent_") for name in table)
        pairs = [(n, float(table[f"exponent_{n}"][-1]), float(table[f"error_{n}"][-1])) for n in range(1, count + 1)]
        verdict = str(record.get("in words", ""))
        found = grid(("exponent", "value", "error"), pairs)
    page = Page(f"{what} of {deck['file']}", [], verdict, True, mark_of(deck["file"]))
    page.add("Result", found, *pictures(folder, record))
    page.add("Settings", facts(settings))
    page.add("Deck", facts({"deck": deck["file"], "SHA-256": deck.get("sha256"), **deck.get("parameters", {})}))
    return page


def page_of_validation(folder: Path) -> Page:
    """Every case with its targets and figures, as ``report.md`` has them."""
    table = read_columns(folder / "report.csv")
    parts = re.split(r"^## ", (folder / "report.md").read_text(errors="replace"), flags=re.MULTILINE)[1:]
    written = {part.partition(":")[0]: part for part in parts}
    titles = {case: part.partition("\n")[0].partition(": ")[2] for case, part in written.items()}
    missed = int(np.count_nonzero(table["verdict"] != "ok"))
    cases = list(dict.fromkeys(table["case"].tolist()))
    told = f"{len(cases)} cases, {len(table['case'])} targets, " + (f"{missed} missed" if missed else "all met")
    page = Page("Validation", [], told, not missed, mark_of("validation"))
    page.add("Cases", grid(("case", "title", "targets", "missed"), [
        (case, titles.get(case, ""), int((table["case"] == case).sum()),
         int(((table["case"] == case) & (table["verdict"] != "ok")).sum())) for case in cases]))  # fmt: skip
    columns = ("quantity", "target", "computed", "ratio", "tolerance", "kind", "verdict", "source")
    for case in cases:
        rows = np.flatnonzero(table["case"] == case)
        lines = [[told_exactly(table[name][row]) for name in columns] for row in rows]
        figures = [drawn(folder / name) for name in re.findall(r"^!\[.*\]\((\w+\.png)\)$", written.get(case, ""), re.M)]
        page.add(f"{case}: {titles.get(case, '')}".rstrip(": "), grid(columns, lines, "report.csv"), *figures)
    return page


def told_exactly(value: Any) -> str:
    """Numbers with the digits that targets are judged by."""
    return f"{value + 0.0:.12g}" if isinstance(value, float | np.floating) else str(value)
