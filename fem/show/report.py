"""``fem report``: one HTML file about a results folder, which needs no network and can be printed.

Its first page has the subject, the program and the main results; figures, settings and the deck follow.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Columns, Floats, Say
from fem.commands.files import REPORT, is_marked, mark_of, replace_file
from fem.errors import CommandError
from fem.model import FAILURES
from fem.model.named import Named, series_named
from fem.model.quantities import ENERGIES, says_si
from fem.runs.frames import si_unit
from fem.runs.own import check_file, listed_names, number_in, read_record, usable_folder
from fem.runs.read import Missing, Results, open_results
from fem.runs.run_record import COMPLETED, RUNNING
from fem.runs.sweep_files import CASES, read_columns, table_in
from fem.show import style
from fem.show.animate import animate
from fem.show.curves import printed
from fem.show.page import (
    Facts,
    Page,
    PageSection,
    PageTable,
    Words,
    drawn,
    facts,
    grid,
    picture,
    records,
    rounded,
    shown,
)
from fem.show.paper import print_page
from fem.show.plot import WHAT
from fem.show.reading import (
    ERROR,
    NODES,
    Extreme,
    extremes_in_fields,
    extremes_of,
    labels_of,
    members_of,
    overview,
    plane_of,
    read_tensions,
    sets_of,
)
from fem.show.scenery import draw_scenery, with_scenery
from fem.show.shapes import draw_bars, dress, shapes
from fem.show.style import MOST_CURVES, curve, legend_below, panels, prefixed, some_of, tidy

RECORDS = ("run.json", "sweep.json", "lyapunov.json", "sections.json", "validation.json")


def report(
    folder: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    title: str = "",
    author: str = "",
    note: str = "",
    date: str = "",
    strength: Mapping[str, float] | Iterable[tuple[str, float]] = (),
    pdf: bool = False,
    force: bool = False,
    say: Say = lambda text: None,
) -> Path:
    """Write the report of a run, a sweep, exponents, sections or a validation. Returns the file written.

    folder    results folder, or several of runs, which are then compared
    output    file of the page; None: ``report.html`` in the (first) folder
    title, author, note, date  of the title block; defaults: the heading of the deck, today
    strength  of a run: element set (empty: all bars) -> breaking load, for the utilisation beside that of *FAILURE
    pdf       write a PDF of the same name, too, printed by Chromium or WeasyPrint
    force     overwrite a file that the program did not write
    say       function that receives messages: what is written

    Raises
    ------
    CommandError  there are no results or no such element set, the file exists and was not written by the program, or
                  nothing prints a PDF.

    >>> _ = fem.run("inputs/sdnl100.inp", output="results/told")
    >>> fem.report("results/told").name
    'report.html'
    """
    folders = [Path(folder)] if isinstance(folder, str | Path) else [Path(each) for each in folder]
    first = folders[0]
    page = page_of(first, dict(strength)) if len(folders) == 1 else page_of_runs(folders, dict(strength))
    if title:
        page.lines.insert(0, page.title)
    page.title, page.note = title or page.title, note
    record = next(found for name in RECORDS if (found := read_record(first / name)) is not None)
    deck, version = record.get("deck") or {}, (record.get("versions") or {}).get("fem")
    about: dict[str, Any] = {"author": author, "date": date or datetime.date.today().isoformat()}
    about |= {"program": version and f"fem {version}"}
    if len(folders) == 1:
        about |= {"deck": deck.get("file"), "SHA-256": deck.get("sha256")}
    page.about = facts(about)
    path = Path(output) if output is not None else first / REPORT
    files = [path, path.with_suffix(".pdf")] if pdf else [path]
    for file in files:
        check_file(file, (), force, is_marked(file, page.mark))
    usable_folder(path.parent)
    text = page.html()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode(errors="replace"))
    say(f"{path} ({len(text) / 1e6:.1f} MB)")
    if pdf:
        print_page(path, files[1], page.mark)
        say(str(files[1]))
    return path


def report_command(folder: list[Path], compare: bool, **options: Any) -> None:
    """``fem report``. CommandError: several folders, and it is not said that they are to be compared, or only one."""
    if compare != (len(folder) > 1):
        raise CommandError("--compare needs more than one folder" if compare else "several folders need --compare")
    report(folder if compare else folder[0], **options)


def page_of(folder: Path, strength: Mapping[str, float]) -> Page:
    """The page of a folder, by its record. CommandError: it has no results."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder" if folder.exists() else f"{folder} does not exist")
    found = [name for name in RECORDS if (folder / name).is_file()]
    if not found:
        raise CommandError(f"{folder} holds no results: there is none of {', '.join(RECORDS)} in it")
    kind = found[0].removesuffix(".json")
    if kind == "run":
        return page_of_run(folder, strength)
    if strength:
        raise CommandError(f"{folder} contains no run: a breaking load (strength) belongs to the bars of one")
    if kind == "sweep":
        return page_of_sweep(folder)
    return page_of_validation(folder) if kind == "validation" else page_of_one(folder, kind)


FRAMES, FPS = 72, 12.0
"""Frames of the film and frames per second: six seconds, one or two megabytes."""


def page_of_run(folder: Path, strength: Mapping[str, float]) -> Page:
    """The page of a run, even if it is in progress or has failed."""
    results = open_results(folder)
    record, settings = results.record, results.settings
    verdict = str(record.get("verdict", RUNNING))
    heading = [str(line).strip() for line in settings.get("heading") or []]
    said = f"Verdict: {verdict}" + (f" ({results.remark})" if results.remark else "")
    page = Page(results.heading, heading[1:], said, verdict == COMPLETED, results.mark)
    page.add("Summary", summary(results))
    page.add("Utilisation", utilisation(results, strength))
    page.add("Extremes", extremes(results, "elements"), extremes(results, "nodes"))
    page.add("What limits the accuracy", *accuracy(record.get("error_bars"), results.is_si))
    page.add("What limits this result", *inputs_in(folder, record.get("uncertain")))
    page.add("Notices", Words(items=tuple(record["notices"])) if record.get("notices") else None)
    with contextlib.suppress(Missing):
        caption = "The model at the start; squares: nodes that stay where they are."
        page.add("Model", picture(mesh_figure(results), caption))
    add_figures(page, results)
    page.add("Frequencies", table_of(folder / "frequencies.csv"))
    page.add("Buckling factors", table_of(folder / "buckling.csv"))
    counted = Counter(event.event for event in results.events)
    page.add("Events", facts(counted), table_of(folder / "events.csv") if counted else None)
    page.add("Settings as understood", *understood(results))
    page.add("Software", facts(record.get("versions") or {}), seconds(record.get("timing") or {}))
    page.add("Deck", *deck_text(results))
    return page


def accuracy(record: Mapping[str, Any] | None, is_si: bool) -> list[PageTable | Words | None]:
    """Error bars of the run (``fem run --error-bars``), and missing contributions."""
    if not record:
        return []
    missing = tuple(f"no contribution of {name}: {why}" for name, why in record["missing"].items())
    parts = {"dt": "by increments", "mesh": "by mesh", "residual": "by criterion", "rows": "between rows"}
    head = ("number", "value", *parts.values(), "largest share", "order", "remark")
    lines = []
    for each in record["limits"]:
        column = each["name"].partition(":")[2] or each["name"].partition("@")[0]
        factor, unit = prefixed(si_unit(column) if is_si else "", each["value"])
        value = f"{with_bar(each['value'], each['bar'], factor)} {unit}"
        shares = [f"{number_in(each[name]) / factor:.2g}".replace("nan", "") for name in parts]
        lines.append((each["name"], value, *shares, each["limited_by"], each["order"], each["verdict"]))
    note = "± is the error bar; the four columns after it are its parts, in the same unit."
    return [grid(head, lines, "run.json", note), Words(items=missing) if missing else None]


def with_bar(value: float, bar: Any, factor: float = 1.0) -> str:
    """A number over a factor with its error bar, where it has one; in the digits that the bar leaves."""
    bar = number_in(bar)
    if not np.isfinite(bar):
        return rounded(value / factor)
    known = 6 if bar <= 0.0 or value == 0.0 else int(np.clip(np.ceil(np.log10(abs(value) / bar)) + 2, 2, 6))
    return f"{value / factor:.{known}g} ± {bar / factor:.2g}"


def inputs_in(folder: Path, record: Mapping[str, Any] | None) -> list[Any]:
    """What inputs change (``fem run --uncertain``), beside errors of numerics, and the tornado of the inputs."""
    if not record:
        return []
    caption = (
        f"What each input changes: {record['inputs']}. *: by runs at both ends, as the number is not linear in it."
    )
    return [records(record["limits"]), drawn(folder / "tornado.png", caption)]


def summary(results: Results) -> Facts | None:
    record, settings = results.record, results.settings
    totals, deck = record.get("totals") or {}, record["deck"]
    counts = ("steps", "increments", "iterations", "cutbacks")
    snaps, (name, unit) = (totals.get("events") or {}).get("snap") or "", results.clock
    return facts(
        {
            "parameters": [f"{name} = {shown(value)}" for name, value in (deck.get("parameters") or {}).items()],
            "nodes": settings.get("nodes"),
            "elements": [f"{count} {kind}" for kind, count in (settings.get("elements") or {}).items()],
            **{name: totals.get(name) for name in counts},
            f"{name} reached": f"{number_in(totals.get('time', 0.0)):.6g} {unit}".strip(),
            "largest relative residual": totals.get("largest_residual_norm"),
            "energy error": results.energy_error_text if totals.get("increments") else "",
            "peaks of tension": snaps and f"may be wrong: lines snap taut in {snaps} increments too long to show it",
        }
    )


def energy_table(results: Results) -> PageTable | None:
    try:
        rows = results.increments
    except Missing:
        return None
    lines = []
    for name, values in zip(ENERGIES, rows[:, 5:].T, strict=True):
        if np.isnan(values).all():
            continue
        low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
        factor, unit = prefixed(results.symbol("energy"), max(-values[low], values[high]))
        start, end, least, most = (float(each) / factor for each in (values[0], values[-1], values[low], values[high]))
        name = f"{name.replace('_', ' ')} [{unit}]" if unit else name.replace("_", " ")
        lines.append((name, start, end, least, float(rows[low, 2]), most, float(rows[high, 2])))
    at = timed("at time", results)
    return grid(("energy", "start", "end", "least", at, "greatest", at), lines)


def timed(name: str, results: Results) -> str:
    """The head of a column of times, with their unit."""
    what, unit = results.clock
    return name.replace("time", what) + f" [{unit}]" * bool(unit)


def add_figures(page: Page, results: Results) -> None:
    """Adds the film, all figures for which there are data, and why others are missing."""
    motion, reasons = PageSection("Motion"), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = animate(results.folder, Path(folder) / "motion.html", frames=FRAMES, fps=FPS)
            motion.blocks.append(Words(path.read_text(encoding="utf-8"), kind="film"))
        except CommandError as error:
            motion.blocks.append(Words(items=(str(error),)))
    page.sections.append(motion)
    for name, drawings in WHAT.items():
        found: list[Any] = []
        for draw in drawings:
            try:
                figure = draw(results)
            except Missing as missing:
                if name == "load_factor" and "load_factor" in results.table("increments").columns:
                    found.append(Words(items=(f"No figure: {missing}",)))
                reasons.append(f"No {draw.__name__.replace('_', ' ')}: {missing}")
            else:
                source = figure.get_label()
                into = motion.blocks if draw is shapes else found
                into.append(picture(figure, f"From {source}." if source else ""))
        if name == "energy":
            page.add("Energy balance", energy_table(results), *found)
        else:
            page.add(name.replace("_", " ").capitalize(), *found)
    page.add("Figures left out", Words(items=tuple(reasons), kind="reasons") if reasons else None)


def utilisation(results: Results, strength: Mapping[str, float]) -> PageTable | None:
    """The greatest T or E of elements over the limit at which they break. CommandError: there is no such set."""
    failures = results.settings.get("failures", [])
    limits = [(each["target"], column, each["value"]) for each in failures if (column := FAILURES[each["kind"]])]
    lines: list[Sequence[Any]] = []
    for target, column, limit in [*limits, *((name, "T", value) for name, value in strength.items())]:
        factor, unit = prefixed(si_unit(column) if results.is_si and column == "T" else "", limit)
        name, most = target if target != "" else "all bars", f"{limit / factor:.6g} {unit}".rstrip()
        found = greatest(results, column, target)
        if found is None:
            lines.append((name, most, f"{column} is not printed", "", "", ""))
            continue
        found = limited(results, "e", column, "greatest", found)
        share = f"{100.0 * found.value / limit:.3g} %"
        told = f"{column} = {with_bar(found.value, found.error, factor)} {unit}".rstrip()
        lines.append((name, most, told, named_in(results, "e", found.label), found.time, share))
        end = end_force(results, target) if column == "T" else None
        if end and end.value > found.value:
            told = f"TE = {with_bar(end.value, end.error, factor)} {unit}".rstrip()
            place = f"node {named_in(results, 'n', end.label)}"
            lines.append((f"{name}, ends", most, told, place, end.time, f"{100.0 * end.value / limit:.3g} %"))
    lines += pressed_most(results)
    head = ("elements", "breaking load or strain", "greatest", "where", timed("at time", results), "utilisation")
    return grid(head, lines)


def end_force(results: Results, target: str | int) -> Extreme | None:
    """The largest TE of nodes at which one bar ends, one of those meant: T is the mean of a bar; None: not printed."""
    if "TE" not in results.nodes.columns:
        return None
    mesh = results.mesh
    legs, elements = mesh.legs
    meant = np.isin(mesh.element_labels[elements], labels_meant(results, target))
    counts = np.bincount(legs.ravel(), minlength=len(mesh.node_labels))
    ends = np.intersect1d(legs[meant], np.flatnonzero(counts == 1))
    found = extremes_of(results.nodes, ["TE"], mesh.node_labels[ends]).get(("TE", "greatest"))
    return found and limited(results, "n", "TE", "greatest", found)


def pressed_most(results: Results) -> list[Sequence[Any]]:
    """The strut, hinged at both ends, that comes nearest to its Euler load; none where none is pressed."""
    given, table, is_printed = results.settings.get("struts", {}), results.elements, False
    labels = np.array(sorted(map(int, given)), np.int64)
    limits, most = np.array([given[str(label)] for label in labels]), (0.0, 0.0, 0.0, 0, 0.0)
    for block in table.blocks((*table.columns[2:4], "T")) if given and "T" in table.columns else ():
        time, label, tension = block[np.isin(block[:, 1], labels) & ~np.isnan(block[:, 2])].T
        limit, is_printed = limits[np.searchsorted(labels, label)], is_printed or len(label) > 0
        if len(label) and (share := -tension / limit)[k := int(share.argmax())] > most[0]:
            most = share[k], limit[k], tension[k], int(label[k]), time[k]
    if given and not is_printed:
        return [("struts", "Euler's load", "T is not printed", "", "", "")]
    share, limit, tension, label, time = most
    if share <= 0.0:
        return []
    factor, unit = prefixed(si_unit("T") if results.is_si else "", limit)
    limit, tension = f"{limit / factor:.6g} {unit}".rstrip(), f"T = {rounded(tension / factor)} {unit}".rstrip()
    told = f"{limit} (Euler)", tension, named_in(results, "e", str(label)), time, f"{100.0 * share:.3g} %"
    return [("struts", *told)]


def greatest(results: Results, column: str, target: str | int) -> Extreme | None:
    """The largest T or E of an element, a set, or (empty) all; None: not written."""
    table, labels = results.elements, labels_meant(results, target)
    found = extremes_of(table, [column] if column in table.columns else [], labels)
    found = extremes_in_fields(results, labels) if not found and column == "T" else found
    return found.get((column, "greatest"))


def labels_meant(results: Results, target: str | int) -> Any:
    """Labels of an element, a set, or (empty) all elements."""
    labels = np.array([target]) if isinstance(target, int) else results.mesh.element_labels
    return labels[members_of(results, target)] if isinstance(target, str) and target else labels


ROUND_OFF = 1e-9


def limited(results: Results, kind: str, column: str, which: str, found: Extreme) -> Extreme:
    """With the error bar of the extreme itself, where the run tells one: that of its row has the error of its time."""
    name = f"{'max' if which == 'greatest' else 'min'}:{column}_{kind}{found.label}"
    limits = (results.record.get("error_bars") or {}).get("limits", [])
    return found._replace(error=next((number_in(each["bar"]) for each in limits if each["name"] == name), found.error))


def named_in(results: Results, kind: str, label: str) -> str:
    """A node (``n``) or element (``e``) with the smallest set that it is in, as long as that is not all of them."""
    if not results.fields or not label:
        return label
    at = labels_of(results, kind) == int(label)
    inside = {name: its.sum() for name, its in sets_of(results, kind).items() if its[at].any() and not its.all()}
    return f"{label} ({min(inside, key=lambda name: inside[name])})" if inside else label


def extremes(results: Results, name: str) -> PageTable | None:
    """Smallest and largest value of every printed quantity, with place and time; without those that are zero, or, for a
    component of a vector, rounding errors of the others."""
    table, kind = (results.nodes, "n") if name == "nodes" else (results.elements, "e")
    columns = [column for column in table.columns[4:] if not column.endswith(ERROR)]
    found = extremes_of(table, columns)
    sizes: dict[str, float] = {}
    for (column, _), extreme in found.items():
        family = Named(column).family
        sizes[family] = max(abs(extreme.value), sizes.get(family, 0.0))
    if name == "elements" and ("T", "least") not in found and (of_fields := extremes_in_fields(results)):
        found, columns = found | of_fields, [*columns, *["T"] * ("T" not in columns)]
        sizes["T"] = max(abs(extreme.value) for extreme in of_fields.values())
    lines: list[Sequence[Any]] = []
    for column in columns:
        low, high = found.get((column, "least")), found.get((column, "greatest"))
        if low and high and max(abs(low.value), abs(high.value)) > ROUND_OFF * sizes[Named(column).family]:
            size = max(abs(low.value), abs(high.value))
            factor, unit = prefixed(si_unit(column) if results.is_si else "", size)
            cells: list[Any] = [f"{column} [{unit}]" if unit else column]
            for which, extreme in (("least", low), ("greatest", high)):
                each = limited(results, kind, column, which, extreme)
                cells += [with_bar(each.value, each.error, factor), named_in(results, kind, each.label), each.time]
            lines.append(cells)
    item = name.removesuffix("s")
    still = "Quantities that are zero, and those that the deck does not print, are left out." * (name == "elements")
    at = timed("time", results)
    return grid(("quantity", "least", item, at, "greatest", item, at), lines, note=still)


def seconds(timing: Mapping[str, Any]) -> Facts | None:
    """Wall-clock seconds of the stages, and what the record says of the last digits."""
    stages = [f"{name} {number:.3g}" for name, number in timing.items() if not isinstance(number, str)]
    return facts(
        {"seconds": stages, **{name.replace("_", " "): text for name, text in timing.items() if isinstance(text, str)}}
    )


def table_of(path: Path) -> PageTable | None:
    """A small table with numbers in fewer digits."""
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


WORDS = {
    "element_set": "elements", "node_set": "nodes", "young": "E", "poisson": "Poisson's ratio", "alpha": "ALPHA",
    "beta": "BETA", "compression_ratio": "E of compression over E", "tension_ratio": "E of tension over E",
    "is_inextensible": "inextensible", "is_instant": "moduli at once", "mass_rule": "mass", "strain": "strain measure",
    "is_straight": "straight at rest", "second": "I2", "inertia": "I", "torsion": "J", "shear": "G",
    "starting_tension": "tension of first iterations", "axial": "friction along", "lateral": "friction across",
    "slip": "displacement at full friction", "ramp": "depth of full damping", "rubs_in_statics": "friction in statics",
    "width": "diameter", "correction_relative": "correction over displacement, at most",
    "cut_factor": "failed increment times", "energy_drift": "energy drift, at most",
    "growth_factor": "increment may grow times", "impact": "impacts", "max_cutbacks": "cut-backs, at most",
    "max_iterations": "iterations, at most",
    "residual_absolute": "residual, at most", "residual_relative": "residual over force, at most",
    "tension_change": "change of tension in an increment, at most", "time_error": "error of an increment, at most",
    "creeps": "creep", "direct": "equal increments", "dt": "increment", "dt_max": "largest increment",
    "dt_min": "smallest increment", "period": "duration", "by_convergence": "increments by convergence alone",
    "initial_acceleration": "first acceleration computed", "singular_mass": "dofs without mass", "rho": "RHO",
    "integrator": "time integrator", "gamma": "GAMMA", "riks": "arc length",
}  # fmt: skip
"""Names of records of runs -> words for readers; those of keywords in capitals."""


def worded(given: Mapping[str, Any]) -> dict[str, Any]:
    """A record in these words, without what is no or nothing; its kind keeps its name."""
    return {WORDS.get(name, name): value for name, value in given.items() if value not in (None, False)}


def understood(results: Results) -> list[Any]:
    """Materials and properties, then each step with its defaults filled in."""
    settings, record = results.settings, results.record
    names = ("materials", "sections", "springs", "dashpots", "masses", "seabeds", "cylinders")
    lists = [records(settings.get(name) or [], name.removesuffix("s"), WORDS) for name in names]
    solvers = [*record.get("linear_solvers", []), *[""] * len(settings.get("steps", []))]
    steps = []
    for number, (step, solver) in enumerate(zip(settings.get("steps", []), solvers, strict=False), start=1):
        procedure = worded(step["procedure"])
        loads = ("boundaries", "nodal_loads", "distributed_loads", "temperatures")
        acting = {name: step.get(name) or None for name in loads}
        row = {"step": number, "name": step.get("name"), "procedure": procedure.pop("kind"), "parameters": procedure}
        row |= {
            "NLGEOM": step["nlgeom"],
            "acting": acting,
            "controls": worded(step["controls"]),
            "linear solver": solver,
        }
        steps.append(row)
    others = {"water": settings.get("water"), "corrections of Newton's method": settings.get("updates")}
    others |= {"linear solver asked for": settings.get("solver")}
    others["extensions used"] = record.get("extensions")
    others["units"] = f"{'SI' if results.is_si else 'those of the deck'}, without prefixes in these tables"
    others["left out"] = "columns in which all is zero, no or empty"
    return [*lists, records(steps), facts(others)]


def deck_text(results: Results) -> list[Any]:
    """The text of the deck, if it is unchanged; else its path."""
    try:
        content = results.deck.read_bytes()
    except OSError:
        return [Words(items=(f"The deck is no longer at {results.deck}.",))]
    text = Words(content.decode(errors="replace"), kind="text")
    if hashlib.sha256(content).hexdigest() == results.record["deck"].get("sha256"):
        return [text]
    return [Words(items=("The deck is read from more than this file, or has changed since it ran.",)), text]


NAMED = 12
"""Nodes are labelled up to this number, and drawn as dots up to ten times as many."""


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
    dress(results.unit("length"), panel, axes, middle, half)
    return figure


SHOWN = (r"exponent_1", r"frequency_.*", r"T_.*_max", r"T_.*_min", r"U._.*_max", r"U._.*_min", "energy_error_largest")
"""Columns of sweeps that are drawn: of each kind the one with the largest variation."""
COUNTED = ("point", "verdict", "increments_total", "iterations_total", "energy_error_largest")
"""Columns of the table of a report, besides parameters and columns that are drawn."""


def page_of_runs(folders: Sequence[Path], strength: Mapping[str, float]) -> Page:
    """Several runs side by side: what differs in their parameters, their extremes, one figure of each quantity.
    CommandError: a folder has no run."""
    for folder in folders:
        if not (folder / "run.json").is_file():
            raise CommandError(f"{folder} holds no run: several folders are compared where each holds one")
    runs = [open_results(folder) for folder in folders]
    names = short_names(folders)
    verdicts = [str(results.record.get("verdict", RUNNING)) for results in runs]
    said = "Verdicts: " + ", ".join(f"{name} {verdict}" for name, verdict in zip(names, verdicts, strict=True))
    page = Page("Comparison of runs", [], said, set(verdicts) == {COMPLETED}, runs[0].mark)
    given = [{"deck": run.record["deck"]["file"], **(run.record["deck"].get("parameters") or {})} for run in runs]
    every = dict.fromkeys(name for one in given for name in one)
    differ = [name for name in every if len({shown(one.get(name)) for one in given}) > 1]
    rows = [(name, *(one.get(name) for one in given)) for name in differ]
    page.add("What differs", grid(("parameter", *names), rows) or Words(items=("All parameters are equal.",)))
    tables = [(what, [utilisation(run, strength) for run in runs]) for what in ("Utilisation",)]
    tables += [("Extremes", [extremes(run, kind) for run in runs]) for kind in ("nodes", "elements")]
    for title, found in tables:
        page.add(title, beside(names, found))
    for what, draw in (("Tension", tension_over), ("Displacement", displacement_over)):
        if (figure := compared(runs, names, what, draw)) is not None:
            page.add(what, picture(figure))
    return page


def short_names(folders: Sequence[Path]) -> list[str]:
    """The last part of each path, with as many before it as tell them apart."""
    parts = [folder.resolve().parts for folder in folders]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{number}: {name}" for number, name in enumerate(names, 1)]  # the same folder twice


def beside(names: Sequence[str], tables: Sequence[PageTable | None]) -> PageTable | None:
    """Tables of equal form, row under row, with a first column that says whose each is."""
    found = [(name, table) for name, table in zip(names, tables, strict=True) if table is not None]
    keys = list(dict.fromkeys(row[0] for _, table in found for row in table.rows))
    rows = [(name, *row) for key in keys for name, table in found for row in table.rows if row[0] == key]
    return grid(("run", *found[0][1].head), rows) if found else None


Course = tuple[str, Floats, Floats]
"""What is drawn of a run: its label, times (k,) and values (k,)."""


def tension_over(results: Results) -> Course:
    """T of the bar with the largest. Missing: no T."""
    found = read_tensions(results)
    place = int(np.abs(found.values).max(axis=0).argmax())
    return f"T of bar {found.labels[place]}", found.time, found.values[:, place]


def displacement_over(results: Results) -> Course:
    """The displacement, along one axis, that varies most among the printed nodes. Missing: no U."""
    motion = printed(results, NODES["U"])
    if not motion:
        raise Missing("nodes.csv has no U")
    sizes = {(label, axis): float(np.ptp(u[:, axis])) for label, (_, u) in motion.items() for axis in range(3)}
    label, axis = max(sizes, key=lambda one: sizes[one])
    time, u = motion[label]
    return f"U{axis + 1} of node {label}", time, u[:, axis]


def compared(
    runs: Sequence[Results], names: Sequence[str], what: str, draw: Callable[[Results], Course]
) -> Figure | None:
    """One curve of each run; None: fewer than two have it."""
    found = []
    for results, name in zip(runs, names, strict=True):
        with contextlib.suppress(Missing):
            found.append((name, *draw(results)))
    if len(found) < 2:
        return None
    figure, ((panel,),) = panels(1, f"{what} of {len(found)} runs", height=3.2)
    for place, (name, label, time, values) in enumerate(found):
        curve(panel, time, values, place, f"{name}: {label}")
    panel.set_ylabel(style.labelled(runs[0], what, "force" if what == "Tension" else "length"))
    style.finish(runs[0], [[panel]])
    return figure


def page_of_sweep(folder: Path) -> Page:
    """A table over parameters, curves of the results; for exponents and sections their own figures, too."""
    record = record_in(folder, "sweep.json")
    file = table_in(folder)
    table = read_columns(file)
    grids = record.get("grid", {})
    is_list = isinstance(listed := grids.get("cases"), dict) and "least" not in listed
    grids = listed if is_list else grids
    names = [name for name in grids if name in table]
    verdicts, points = Counter(table["verdict"].tolist()), int(record.get("points", 0))
    done = len(table["verdict"])
    is_good = done == points and set(verdicts) == {COMPLETED}
    told = f"{done} of {points} parameter sets computed: " + ", ".join(f"{n} {name}" for name, n in verdicts.items())
    deck = record["deck"]
    page = Page(f"Sweep of {deck['file']} over {', '.join(names)}", [], told, is_good, mark_of(deck["file"]))
    values = {name: range_of(given) for name, given in grids.items()}
    held = {"deck": deck["file"], "held fixed": deck.get("parameters"), "SHA-256 of the deck": deck.get("sha256")}
    asked = {name: value for name, value in deck.items() if name not in ("file", "parameters", "sha256")}
    page.add("Summary", facts(held | values | asked), grid(("verdict", "count"), verdicts.items()))
    page.add("Load cases", *load_cases(folder, record))
    page.add("Figures", *pictures(folder, record), None if is_list else sweep_figure(table, names))
    drawn_ones = shown_columns(table)
    chosen = [name for name in table if name in (*names, *COUNTED, *drawn_ones)]
    rows = zip(*(table[name].tolist() for name in chosen), strict=True)
    left = len(table) - len(chosen)
    note = f"{left} more columns are in {file.name}." if left else ""
    page.add("Table", grid([name.replace("_", " ") for name in chosen], rows, file.name, note))
    page.add("Software", facts(record.get("versions") or {}))
    return page


CASE_TEXTS = ("case", "number", "method", "note")
"""Columns of a table of load cases that hold no numbers."""
CASE_VALUES = "max", "max_err", "extreme", "extreme_low", "extreme_high"
"""Those in the unit of what is recorded."""
CASE_COLUMNS = ("case", "number", "seeds", "skewness", "cycles", "max", "max_err", "extreme", "extreme_low",
                "extreme_high", "method", "values", "damage", "part", "note")  # fmt: skip


def load_cases(folder: Path, record: Mapping[str, Any]) -> list[Any]:
    """The table of load cases, where the sweep has one, without columns that are in the table of the sweep, too."""
    names = set(CASES) & set(listed_names(record))
    found = next((path for name in sorted(names) if (path := folder / name).is_file()), None)
    if found is None:
        return []
    table = read_columns(found, CASE_TEXTS)
    chosen = [name for name in CASE_COLUMNS if name in table]
    lines = [list(line) for line in zip(*(table[name].tolist() for name in chosen), strict=True)]
    if says_si(heading_of(folder, record)):
        lines = [case_line(dict(zip(chosen, line, strict=True))) for line in lines]
    note = (
        f"Extremes are those to expect in {table['duration'][0]:g}, with 95 % intervals. {found.name} has all columns."
    )
    heads = [name.replace("_", " ") for name in chosen]
    return [grid(heads, lines, found.name, note)]


def case_line(row: Mapping[str, Any]) -> list[Any]:
    """A row of load cases with the number's unit beside its name, and values in that unit."""
    factor, unit = prefixed(si_unit(series_named(row["number"]).column), abs(row["max"]))
    named = f"{row['number']} [{unit}]" if unit else row["number"]
    return [named if name == "number" else each / factor if name in CASE_VALUES else each for name, each in row.items()]


def heading_of(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """Lines of the heading of the deck of a sweep; none where the deck has gone."""
    try:
        text = (folder / str(record.get("deck_folder", ".")) / str(record["deck"]["file"])).read_text(errors="replace")
    except OSError:
        return []
    found = re.search(r"^\*HEADING[^\n]*\n((?:(?!\*)[^\n]*\n|\*\*[^\n]*\n)*)", text, re.MULTILINE | re.IGNORECASE)
    return found[1].splitlines() if found else []


def range_of(values: Any) -> str:
    """How many values a record has of a name, and between what; it lists them, or says this of them."""
    if isinstance(values, list):
        values = {"count": len(values), "least": min(values), "greatest": max(values)}
    return "{count} values, {least:g} to {greatest:g}".format(**values)


def pictures(folder: Path, record: Mapping[str, Any]) -> list[Any]:
    return [drawn(folder / name) for name in sorted(listed_names(record)) if name.endswith(".png")]


def record_in(folder: Path, name: str) -> dict[str, Any]:
    """The record of a folder. CommandError: it cannot be understood."""
    record = read_record(folder / name) or {}
    if not isinstance(record.get("deck"), dict) or "file" not in record["deck"]:
        raise CommandError(f"{folder / name} cannot be read as a record of fem")
    return record


def shown_columns(table: Columns) -> list[str]:
    """For each kind of ``SHOWN`` the column with the largest variation."""
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
    """Results over the parameter with most values, curves for some values of the next one, the others at their first
    value."""
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
    legend_below(axes[0][0])
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
        cells = [[table[name][row] for name in columns] for row in rows]
        lines = [[f"{cell + 0.0:.12g}" if isinstance(cell, float) else str(cell) for cell in row] for row in cells]
        figures = [drawn(folder / name) for name in re.findall(r"^!\[.*\]\((\w+\.png)\)$", written.get(case, ""), re.M)]
        page.add(f"{case}: {titles.get(case, '')}".rstrip(": "), grid(columns, lines, "report.csv"), *figures)
    return page
