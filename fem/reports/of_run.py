"""The report of a run, from its files alone."""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.errors import CommandError
from fem.model.quantities import ENERGIES
from fem.pictures import style
from fem.pictures.animate import animate
from fem.pictures.figures.scenery import draw_scenery, with_scenery
from fem.pictures.figures.tension import draw_bars, dress
from fem.pictures.folder import Missing, Results, open_results
from fem.pictures.motion import overview, plane_of
from fem.pictures.plot import WHAT
from fem.pictures.tension import events_of
from fem.reports.page import Facts, Grid, Page, Words, facts, grid, picture, records
from fem.results.frames import si_unit
from fem.results.run_record import COMPLETED, RUNNING

FRAMES, FPS = 72, 12.0
"""Of the film: six seconds, one or two megabytes."""


def page_of_run(folder: Path) -> Page:
    """What ``fem report`` shows of a run, also of one that goes on or has failed."""
    results = open_results(folder)
    record, settings = results.record, results.settings
    verdict = str(record.get("verdict", RUNNING))
    heading = [str(line).strip() for line in settings.get("heading") or []]
    said = f"Verdict: {verdict}" + (f" ({results.remark})" if results.remark else "")
    page = Page(results.heading, heading[1:], said, verdict == COMPLETED, results.mark)
    page.add("Summary", summary(results), figure_of_mesh(results))
    page.add("Notices", Words(items=tuple(record["notices"])) if record.get("notices") else None)
    page.add("Motion", film(results))
    add_figures(page, results)
    page.add("Extremes", extremes(results, "nodes"), extremes(results, "elements"))
    page.add("Frequencies", table_of(folder / "frequencies.csv"))
    counted = Counter(row["event"] for row in events_of(results))
    page.add("Events", facts(counted), table_of(folder / "events.csv") if counted else None)
    page.add("Settings as understood", *understood(settings, record))
    page.add("Made with", facts(record.get("versions") or {}), facts({"seconds": record.get("timing")}))
    page.add("Deck", *deck_text(results))
    return page


def summary(results: Results) -> Facts | None:
    """What ran, how large, how far."""
    record, settings = results.record, results.settings
    totals, deck = record.get("totals") or {}, record["deck"]
    counts = ("steps", "increments", "iterations", "cutbacks")
    return facts(
        {
            "deck": deck["file"],
            "parameters": deck.get("parameters"),
            "nodes": settings.get("nodes"),
            "elements": settings.get("elements"),
            **{name: totals.get(name) for name in counts},
            "time reached": f"{totals.get('time', 0.0):.6g} {results.symbol('time')}".strip(),
            "largest relative residual": totals.get("largest_residual_norm"),
            "largest |energy error|": f"{totals.get('largest_energy_error', 0.0):.4g} {results.symbol('energy')}",
            **snaps_of(totals),
            "SHA-256 of the deck": deck.get("sha256"),
        }
    )


def snaps_of(totals: dict[str, Any]) -> dict[str, str]:
    """The mark of peaks that come from snaps in increments that are too long to show them."""
    count = (totals.get("events") or {}).get("snap", 0)
    return (
        {"peaks of tension": f"may be wrong: lines snap taut in {count} increments too long to show it"}
        if count
        else {}
    )


def figure_of_mesh(results: Results) -> Any:
    """The model before it moves; None without fields."""
    try:
        return picture(mesh_figure(results), "The model at the start; squares: nodes that stay where they are.")
    except Missing:
        return None


def film(results: Results) -> Words:
    """The page of the player, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = animate(results.folder, Path(folder) / "motion.html", frames=FRAMES, fps=FPS)
        except CommandError as error:
            return Words(items=(str(error),))
        return Words(path.read_text(encoding="utf-8"), kind="film")


def energy_table(results: Results) -> Grid | None:
    """Each energy at the start and at the end, its extremes and when."""
    try:
        rows = results.increments
    except Missing:
        return None
    unit = f" [{results.unit('energy')}]" if results.is_si else ""
    lines = []
    for name, values in zip(ENERGIES, rows[:, 5:].T, strict=True):
        if np.isnan(values).all():
            continue
        low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
        ends = values[0], values[-1], values[low], rows[low, 2], values[high], rows[high, 2]
        lines.append((name.replace("_", " "), *map(float, ends)))
    return grid((f"energy{unit}", "start", "end", "least", "at time", "greatest", "at time"), lines)


def add_figures(page: Page, results: Results) -> None:
    """All figures that the run has data for, and why the others are not there."""
    reasons = []
    for name, drawings in WHAT.items():
        found = []
        for draw in drawings:
            try:
                figure = draw(results)
            except Missing as missing:
                reasons.append(f"No {draw.__name__.replace('_', ' ')}: {missing}")
            else:
                source = figure.get_label()
                found.append(picture(figure, f"From {source}." if source else ""))
        if name == "energy":
            page.add("Energy balance", energy_table(results), *found)
        else:
            page.add(name.replace("_", " ").capitalize(), *found)
    page.add("Figures left out", Words(items=tuple(reasons)) if reasons else None)


def extremes(results: Results, name: str) -> Grid | None:
    """Of every printed quantity the least and the greatest value, where and when; those that are zero are left out."""
    table = results.nodes if name == "nodes" else results.elements
    columns = table.columns[4:]
    found: dict[tuple[str, str], tuple[float, str, float]] = {}
    for block in table.blocks((*table.columns[2:4], *columns)) if columns else ():
        for place, column in enumerate(columns, start=2):
            values = block[:, place]
            if np.isnan(values).all():
                continue
            for which, row in (("least", int(np.nanargmin(values))), ("greatest", int(np.nanargmax(values)))):
                best = found.get((column, which))
                if best is None or (values[row] - best[0]) * (1.0 if which == "greatest" else -1.0) > 0.0:
                    found[column, which] = float(values[row]), f"{block[row, 1]:.0f}", float(block[row, 0])
    lines = []
    for column in columns:
        low, high = found.get((column, "least")), found.get((column, "greatest"))
        if low and high and (low[0] or high[0]):
            unit = si_unit(column) if results.is_si else ""
            lines.append((f"{column} [{unit}]" if unit else column, *low, *high))
    item = name.removesuffix("s")
    still = "" if len(lines) == len(columns) else "Quantities that are zero or not printed are left out."
    return grid(("quantity", "least", item, "time", "greatest", item, "time"), lines, note=still)


def table_of(path: Path) -> Grid | None:
    """A small table as it is, its numbers in fewer digits."""
    if not path.is_file():
        return None
    with path.open(newline="", errors="replace") as file:
        head, *rows = csv.reader(file) or [[]]
    return grid(head, [[number_or_text(cell) for cell in row] for row in rows if len(row) == len(head)], path.name)


def number_or_text(cell: str) -> float | str:
    """A whole number stays as it is written."""
    try:
        return cell if cell.lstrip("-").isdigit() else float(cell)
    except ValueError:
        return cell


def understood(settings: dict[str, Any], record: dict[str, Any]) -> list[Any]:
    """Materials and properties, then each step with its defaults filled in."""
    names = ("materials", "sections", "springs", "dashpots", "masses", "seabeds", "cylinders")
    lists = [settings.get(name) or [] for name in names]
    solvers = [*record.get("linear_solvers", []), *[""] * len(settings.get("steps", []))]
    steps = []
    for number, (step, solver) in enumerate(zip(settings.get("steps", []), solvers, strict=False), start=1):
        procedure = dict(step["procedure"])
        loads = ("boundaries", "nodal_loads", "distributed_loads", "temperatures")
        acting = {name: step.get(name) or None for name in loads}
        row = {"step": number, "name": step.get("name"), "procedure": procedure.pop("kind"), "parameters": procedure}
        row |= {"NLGEOM": step["nlgeom"], "acting": acting, "controls": step["controls"], "linear solver": solver}
        steps.append(row)
    others = {"water": settings.get("water"), "updates": settings.get("updates"), "solver": settings.get("solver")}
    others["extensions used"] = record.get("extensions")
    return [*map(records, lists), records(steps), facts(others)]


def deck_text(results: Results) -> list[Any]:
    """The text of the deck, where it still is what ran; else where it was."""
    try:
        content = results.deck.read_bytes()
    except OSError:
        return [Words(items=(f"The deck is no longer at {results.deck}.",))]
    text = Words(content.decode(errors="replace"), kind="text")
    if hashlib.sha256(content).hexdigest() == results.record["deck"].get("sha256"):
        return [text]
    return [Words(items=("The deck is read from more than this file, or has changed since it ran.",)), text]


NAMED = 12
"""Nodes have their labels up to so many, dots up to ten times as many."""


def mesh_figure(results: Results) -> Figure:
    """The elements between the places of the nodes at the start. Missing: there are no fields."""
    mesh, axes = results.mesh, plane_of(results)
    x = mesh.coordinates[:, axes]
    used = np.unique(mesh.legs[0])
    low, high = with_scenery(results, axes, x[used].min(axis=0), x[used].max(axis=0))
    middle, half = 0.5 * (low + high), 0.56 * np.maximum(high - low, 0.2 * (high - low).max() or 1.0)
    is_space = len(axes) == 3
    kind: dict[str, Any] = {"projection": "3d"} if is_space else {"aspect": "equal"}
    height = 6.0 if is_space else float(np.clip(style.WIDTH * half[1] / half[0], 2.4, 6.0))
    width = style.WIDTH if is_space else float(np.clip(height * half[0] / half[1] + 1.2, 3.0, style.WIDTH))
    figure = Figure(figsize=(width, height), layout="constrained")
    panel: Any = figure.add_subplot(**kind)
    draw_scenery(results, panel, axes, middle - half, middle + half)
    lines = mesh.ends[:, 0] != mesh.ends[:, 1]
    draw_bars(panel, x[mesh.bars[0]], None, None)
    for ends in x[mesh.ends[~mesh.is_bar & lines]]:
        panel.plot(*ends.T, color=style.OKABE_ITO[1], lw=1.0, ls=(0, (2, 1.5)))
    held = overview(results).at_rest & np.isin(np.arange(len(x)), used)
    if len(used) <= 10 * NAMED:
        panel.plot(*x[used].T, ".", color=style.OKABE_ITO[0], ms=5)
    panel.plot(*x[held].T, "s", color="#000000", ms=4)
    if len(used) <= NAMED:
        for node in used.tolist():
            panel.text(*x[node], f" {mesh.node_labels[node]}", fontsize=style.SMALL, va="bottom")
    dress(results, panel, axes, middle, half)
    return figure
