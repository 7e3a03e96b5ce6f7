"""Figures of shapes: T of bars over time and over bars, the range along a line, modes, where lines leave the bottom."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from fem.arrays import Floats, Say, first_least
from fem.errors import CommandError, unknown
from fem.model.named import COLUMNS, WORDS, kind_of
from fem.runs.fields import FOLDER, read_field, read_mesh
from fem.runs.read import LEAST_INSTANTS, Missing, Results, model_of, open_results
from fem.show import reading, style
from fem.show.animate import even_times
from fem.show.scenery import draw_scenery, with_scenery
from fem.show.series import Series, read_series, write_and_tell

MOST_ROPES = 20
MOST_STEPS = 4
INSTANTS = 6
LEAST_SHARE = 0.5
"""Of the bars of a model that is no chain, to be shown as a picture of it."""
SLACK = "#f6e4c3"
Chain: TypeAlias = tuple[list[int], list[int]]
"""Labels of p + 1 nodes, and of the p bars between them."""


def tension(results: Results) -> Figure:
    """T over time: of bars between the one with the largest and the one with the smallest, the range and extremes of
    all; times at which ropes, or the bar with the largest T, are slack."""
    found = reading.read_tensions(results)
    ranked = np.argsort(-np.abs(found.values).max(axis=0), kind="stable")
    columns = [int(ranked[place]) for place in style.some_of(ranked.tolist())]
    labels = [found.labels[column] for column in columns]
    spells = reading.slack_spells(results, float(found.time[0]), float(found.time[-1]))
    word, spells = ("rope", spells) if spells else ("bar", reading.slack_bar(found, columns[0]))
    rows = min(len(spells), MOST_ROPES) if len(spells) > 1 else 0
    figure = Figure(figsize=(style.WIDTH, 4.2 + 0.12 * rows), layout="constrained")
    ratios = (1.0, 0.15 + 0.06 * rows)[: 1 + bool(rows)]
    axes = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios).tolist()
    panel = axes[0][0]
    if len(found.labels) > len(labels):
        starts = np.arange(0, len(found.time), -(-2 * len(found.time) // style.MOST_POINTS))
        low, high = np.minimum.reduceat(found.values.min(axis=1), starts), found.values.max(axis=1)
        high, what = np.maximum.reduceat(high, starts), f"all {len(found.labels)} bars"
        panel.fill_between(found.time[starts], low, high, color="#bbbbbb", alpha=0.5, lw=0, label=what)
    for place, (label, column) in enumerate(zip(labels, columns, strict=True)):
        style.curve(panel, found.time, found.values[:, column], place, f"bar {label}")
    for which, flat, mark in (("maximum", found.values.argmax(), "^"), ("minimum", found.values.argmin(), "v")):
        row, place = divmod(int(flat), len(found.labels))
        when, value = found.time[row], found.values[row, place] + 0.0
        what = f"{which} {style.with_unit(results, value, 'force')}\nbar {found.labels[place]} at {when:.5g}"
        panel.plot(when, value, mark, color="#222222", ms=6, label=what)
    shade(panel, spells, word)
    panel.set_ylabel(style.labelled(results, "T along the bar", "force"))
    title = f"Forces in the bars{style.part_of(labels, len(found.labels))}"
    figure.suptitle(style.shortened(title), fontsize=style.TITLE)
    style.finish(results, axes)
    if rows:
        ropes = list(spells)[:MOST_ROPES]
        for row, rope in enumerate(ropes):
            axes[1][0].broken_barh([(a, b - a) for a, b in spells[rope]], (row - 0.4, 0.8), color="#999999", lw=0)
        axes[1][0].set(yticks=range(len(ropes)), yticklabels=list(map(str, ropes)), ylim=(len(ropes) - 0.4, -0.6))
        axes[1][0].tick_params(axis="y", labelsize=min(style.SMALL, 160 / len(ropes)))
        more = f", {len(ropes)} of {len(spells)}" if len(ropes) < len(spells) else ""
        axes[1][0].set_ylabel(f"slack ropes{more}", fontsize=style.SMALL)
    figure.set_label(found.source)
    return figure


def shade(panel: Any, spells: dict[int, list[tuple[float, float]]], word: str = "rope") -> None:
    """Bands behind the curves where the only rope of a model, or a bar, is slack."""
    if len(spells) == 1:
        ((bar, its),) = spells.items()
        spans, axis = [(a, b - a) for a, b in its], panel.get_xaxis_transform()
        look = {"color": SLACK, "lw": 0, "zorder": 0.4, "label": f"{word} {bar} slack"}
        panel.broken_barh(spans, (0.0, 1.0), transform=axis, **look)


def envelope(results: Results) -> Figure:
    """Least, mean and greatest T in each step: of a chain over its arc length, of others on their undeformed bars."""
    found = reading.read_tensions(results)
    if len(found.labels) == 1:
        raise Missing("there is only one bar: its force is in the figure tension")
    parts, more = by_steps(results, found, "T")
    title = f"Minimum, mean and maximum force in the bars{more}"
    try:
        figure = along(results, found.labels, parts, title, line_of(results, reading.chain_of(results)), "force")
    except Missing:
        if len(found.labels) < LEAST_SHARE * results.mesh.is_bar.sum():
            few = f"T is known of {len(found.labels)} of {results.mesh.is_bar.sum()} bars"
            raise Missing(f"{few}, which would leave a picture of all empty: request *EL PRINT of T of all") from None
        figure = maps(results, found, parts, title)
    figure.set_label(found.source)
    return figure


def curvature(results: Results) -> Figure:
    """Least, mean and greatest SK of nodes in each step, over the arc length of a line that bends."""
    found = reading.read_printed(results.nodes, "SK", "*NODE PRINT")
    parts, more = by_steps(results, found, "SK")
    line = line_of(results, reading.chain_of(results), of_nodes=True)
    return along(results, found.labels, parts, f"Minimum, mean and maximum curvature{more}", line, "1/length")


def by_steps(results: Results, found: reading.Tensions, what: str) -> tuple[list[Any], str]:
    """Parts of ``along`` for the last steps, and words for a title that has not all."""
    edges = [found.time[0], *results.boundaries[results.boundaries > found.time[0]], found.time[-1]]
    spans = [(a, b, (found.time >= a) & (found.time <= b)) for a, b in pairwise(edges) if b > a]
    spans = [span for span in spans if span[2].any()]
    parts = [(f"{what}, time {a:g} to {b:g}", *ranges(found, chosen)) for a, b, chosen in spans[-MOST_STEPS:]]
    return parts, ", the last steps" if len(spans) > len(parts) else ""


class Along(NamedTuple):
    """Positions along a line, from a node ``start``: labels of bars or nodes, natural lengths up to these (middles)."""

    start: int
    labels: list[int]
    x: Floats


def along(results: Results, labels: list[int], parts: list[Any], title: str, line: Along, unit: str) -> Figure:
    """Over the length of a line; a panel for each of the ``parts``: its name, then least, mean and greatest value of
    each of the bars or nodes ``labels``."""
    figure, rows = style.panels(len(parts), title, height=2.6)
    column_of = {label: column for column, label in enumerate(labels)}
    places = [place for place, label in enumerate(line.labels) if label in column_of]
    columns, x = [column_of[line.labels[place]] for place in places], line.x[places]
    for (panel,), (name, least, mean, greatest) in zip(rows, parts, strict=True):
        panel.fill_between(x, least[columns], greatest[columns], color=style.OKABE_ITO[5], alpha=0.3, lw=0)
        for place, (which, values) in enumerate((("maximum", greatest), ("mean", mean), ("minimum", least))):
            style.curve(panel, x, values[columns], place, which, marker="." if len(x) <= 30 else None)
        panel.set_ylabel(style.labelled(results, name, unit) if unit else name)
        style.tidy(panel)
    rows[-1][0].set_xlabel(f"length along the bars from node {line.start} [{results.unit('length')}]")
    style.legend_below(rows[0][0])
    return figure


def ranges(found: reading.Tensions, chosen: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Smallest value, mean over time, and largest value of T (q,) at some instants."""
    values, time = found.values[chosen], found.time[chosen]
    dt = np.diff(time)
    mean = (0.5 * dt) @ (values[1:] + values[:-1]) / dt.sum() if dt.sum() > 0.0 else values.mean(axis=0)
    return values.min(axis=0), mean, values.max(axis=0)


def line_of(results: Results, chain: Chain, of_nodes: bool = False) -> Along:
    """Natural lengths along a chain of p + 1 nodes and p bars, to these nodes or the middles of the bars."""
    nodes, elements = chain
    distance = np.linalg.norm(np.diff(results.mesh.coordinates[reading.nodes_at(results, nodes)], axis=0), axis=1)
    places = reading.places_of(elements, results.mesh.element_labels)
    given, fraction = results.mesh.length[places], distance / np.bincount(places, distance)[places]  # 1 without pulleys
    length = np.where(np.isnan(given), distance, given * fraction)
    if of_nodes:
        return Along(nodes[0], nodes, np.concatenate([[0.0], np.cumsum(length)]))
    return Along(nodes[0], elements, np.cumsum(length) - 0.5 * length)


def maps(results: Results, found: reading.Tensions, parts: list[Any], title: str) -> Figure:
    """The undeformed bars, from the side, coloured by least, mean and greatest T; a row for each step."""
    mesh = results.mesh
    legs, elements = mesh.legs
    column = np.full(len(mesh.ends), -1)
    column[reading.places_of(found.labels, mesh.element_labels)] = np.arange(len(found.labels))
    ends, column = legs[column[elements] >= 0], column[elements[column[elements] >= 0]]
    low, high = mesh.coordinates.min(axis=0), mesh.coordinates.max(axis=0)
    across = list(reading.plane_within(low, high, results.gravity))
    middle, half = 0.5 * (low + high)[across], 0.54 * np.maximum(high - low, 0.15 * (high - low).max())[across]
    scale, _ = reading.tension_scale(np.array([part[1:] for part in parts]))
    is_flat = len(across) == 2
    size = 10.5, 1.0 + (3.0 if is_flat else 3.6) * len(parts)
    figure, axes = pictures(len(parts), 3, size, reading.magnified_title(title, 1.0), is_flat)
    for row, (when, *values) in zip(axes, parts, strict=True):
        for panel, name, forces in zip(row, ("minimum", "mean", "maximum"), values, strict=True):
            draw_bars(panel, mesh.coordinates[ends][:, :, across], forces[column], scale)
            panel.set_title(f"{name} of {when}", fontsize=style.SMALL)
            dress(results.unit("length"), panel, tuple(across), middle, half)
    figure.colorbar(scale, ax=axes, shrink=0.8, label=f"T [{results.unit('force')}]")
    return figure


SEEN, SHOWN = 0.02, 0.1
"""Displacements below the first fraction of the extent of a model are magnified, at most up to the second."""


def fitting_scale(results: Results, coordinates: Floats, u: Floats) -> float:
    """1, or 1, 2 or 5 times a power of ten for displacements that are too small to be seen, with no scenery touched."""
    extent, largest = np.ptp(coordinates, axis=0).max(), np.linalg.norm(u, axis=-1).max()
    has_scenery = any(results.settings.get(what) for what in ("water", "seabeds", "planes", "cylinders"))
    if has_scenery or not 0.0 < largest < SEEN * extent:
        return 1.0
    most = SHOWN * extent / largest
    power = 10.0 ** np.floor(np.log10(most))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= most))


def shapes(results: Results, scale: float | None = None) -> Figure:
    """Bars at six instants, coloured by T; ``scale``: factor of displacements, None: chosen."""
    motion = reading.whole_motion(results, even_times(results.boundaries, INSTANTS))
    mesh, axes = results.mesh, reading.plane_of(results)
    scale = fitting_scale(results, mesh.coordinates, motion.values["U"]) if scale is None else scale
    x = (mesh.coordinates + scale * motion.values["U"])[:, :, axes]
    bars, broken = reading.bars_of(mesh)[0], reading.break_times(results)
    held = reading.overview(results).at_rest & np.isin(np.arange(len(mesh.node_labels)), bars)
    low, high = with_scenery(results, axes, x.min(axis=(0, 1)), x.max(axis=(0, 1)))
    shown = style.some_of(motion.time.tolist(), INSTANTS)
    title = reading.magnified_title(results.heading, scale)
    figure, panels, middle, half = set_stage(axes, low, high, len(shown), title)
    colours = None if motion.tension is None else reading.tension_scale(motion.tension)[0]
    if colours is not None:
        figure.colorbar(colours, ax=panels, shrink=0.8, panchor=False, label=f"T [{results.unit('force')}]")
    for place, panel in zip(shown, panels, strict=True):
        draw_scenery(results, panel, axes, middle - half, middle + half)
        lines = np.where((broken > motion.time[place])[:, None, None], x[place][bars], np.nan)
        draw_bars(panel, lines, None if motion.tension is None else motion.tension[place], colours)
        panel.plot(*x[place][held].T, "s", color="#000000", ms=3)
        panel.set_title(f"t = {motion.time[place]:.4g} {results.clock[1]}", fontsize=style.SMALL)
        dress(results.unit("length"), panel, axes, middle, half)
    return figure


WIDTH, HEIGHT = 11.0, 8.4
"""Inches: width of such a figure, and its largest height."""
LONE = 8.0, 6.4
"""Of a single panel in space, which has about the shape of a cube."""
BESIDE = (0.0, 0.0, 0.96, 1.0)
"""Fractions of a figure that its panels in space take: left, bottom, width, height."""


def set_stage(
    axes: tuple[int, ...], low: Floats, high: Floats, count: int, title: str
) -> tuple[Figure, list[Any], Floats, Floats]:
    """Panels (as many as ``count``) of the box from ``low`` to ``high`` (axes,), as large as possible: the figure,
    the panels, and ``middle`` +- ``half``, (axes,) each, the range that all of them show."""
    half = 0.54 * np.maximum(high - low, 0.15 * (high - low).max() or 1.0)
    is_flat = len(axes) == 2
    grids = [(rows, -(-count // rows)) for rows in range(1, count + 1)]
    sizes = [
        min((0.85 * WIDTH / columns - 0.8) / half[0], (0.92 * HEIGHT / rows - 0.8) / half[1]) for rows, columns in grids
    ]  # of the model in each panel; titles and numbers need space
    flat_grid = grids[int(np.argmax(sizes))]
    rows, columns = flat_grid if is_flat else (1 if count < 3 else 2, -(-count // (1 if count < 3 else 2)))
    height = rows * (0.85 * WIDTH / columns * half[1] / half[0] + 1.0) + 0.6 if is_flat else 3.4 * rows
    size = (WIDTH, float(np.clip(height, 4.5, HEIGHT))) if is_flat or count > 1 else LONE
    figure, grid = pictures(rows, columns, size, style.shortened(title), is_flat)
    panels = grid.ravel().tolist()
    for panel in panels[count:]:
        panel.set_axis_off()
    return figure, panels[:count], 0.5 * (low + high), half


def pictures(rows: int, columns: int, size: tuple[float, float], title: str, is_flat: bool) -> tuple[Figure, Any]:
    """A figure of a size in inches, and (rows, columns) panels; the layout does not see the names of axes in space."""
    margins = {"w_pad": 0.04} if is_flat else {"w_pad": 0.3, "h_pad": 0.3, "rect": BESIDE}
    kind: dict[str, Any] = {"aspect": "equal"} if is_flat else {"projection": "3d"}
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(**margins))
    figure.suptitle(title, fontsize=style.TITLE, parse_math=False)
    return figure, figure.subplots(rows, columns, squeeze=False, subplot_kw=kind)


def dress(unit: str, panel: Any, axes: tuple[int, ...], middle: Floats, half: Floats, zoom: float = 0.0) -> None:
    """Limits, names and equal scales of axes; a flat model in space is drawn larger by up to ``zoom``, for which there
    must be room beside the panel."""
    for letter, axis, centre, reach in zip("xyz", axes, middle, half, strict=False):
        name = f"{style.AXES[axis]} [{unit}]"
        panel.set(**{f"{letter}lim": (centre - reach, centre + reach)})
        getattr(panel, f"set_{letter}label")(name, fontsize=style.SMALL)
        if len(axes) == 3:
            panel.locator_params(axis=letter, nbins=4 if reach > 0.3 * half.max() else 1, min_n_ticks=1)
    if len(axes) == 3:
        panel.set_box_aspect(half / half.max(), zoom=1.0 + zoom * (1.0 - half[2] / half.max()))
    panel.tick_params(labelsize=style.SMALL - 2)


def draw_bars(
    panel: Any, lines: Any, forces: Floats | None, scale: ScalarMappable | None, colour: str = "#222222"
) -> None:
    """Bars (m, 2, axes) in the colours of their T (m,); of one ``colour`` without."""
    kind: Any = Line3DCollection if lines.shape[2] == 3 else LineCollection
    look = {"colors": colour} if scale is None else {"array": forces, "cmap": scale.cmap, "norm": scale.norm}
    panel.add_collection(kind(lines, linewidths=1.8, **look))


MOST_MODES = 6
SIZE = 0.12
"""Largest displacement drawn, as a fraction of the largest extent of the model."""
EQUAL = 1e-6
"""Components that differ by less of the largest are equal: the first of them has the sign of the mode."""
REST_COLOUR = "#b4b4b4"
FLATTER = 0.45
"""Zoom of shapes: without a colour bar there is room beside them."""


def modes(results: Results, scale: float | None = None) -> Figure:
    """Up to six mode shapes over the shape about which they move, all of one size; ``scale`` times the usual one.
    Of the last step that has modes. Missing: there are none, or their fields are not there."""
    rows = results.table("frequencies").whole(("step", "mode", "frequency"))
    if not len(rows):
        raise Missing("there are no modes in frequencies.csv: the deck needs a step with *FREQUENCY")
    hertz = " Hz" if results.is_si else ""
    return mode_shapes(results, rows, "Modes", scale, lambda f: f"f = {f:.5g}{hertz}{', unstable' if f < 0.0 else ''}")


def buckling(results: Results, scale: float | None = None) -> Figure:
    """As ``modes``, of the last step with ``*BUCKLE``."""
    rows = results.table("buckling").whole(("step", "mode", "factor"))
    if not len(rows):
        raise Missing("there are no factors in buckling.csv: the deck needs a step with *BUCKLE")
    return mode_shapes(results, rows, "Buckling", scale, lambda factor: f"factor {factor:.6g}")


def mode_shapes(
    results: Results, rows: Floats, title: str, scale: float | None, named: Callable[[float], str]
) -> Figure:
    """Up to six shapes of the last step of a table with rows step, mode, value. Missing: their fields are not there."""
    step = int(rows[-1, 0])
    every = np.count_nonzero(rows[:, 0] == step)
    numbers, values = rows[rows[:, 0] == step, 1:][:MOST_MODES].T
    fields = []
    for number in numbers.astype(int).tolist():
        path = results.folder / FOLDER / f"{results.name}_modes_step{step}_{number:03d}.vtu"
        if not path.is_file():
            raise Missing(f"mode {number} of step {step} is not in {FOLDER}/: run the deck without --no-vtk")
        fields.append(read_field(path, ("mode", "displacement")))
    mesh = read_mesh(path)
    rest = mesh.coordinates + fields[0]["displacement"]
    extent = np.ptp(rest, axis=0).max() or 1.0
    x = rest + SIZE * (1.0 if scale is None else scale) * extent * np.stack([unit(each["mode"]) for each in fields])
    both = np.concatenate([x, rest[None]])
    low, high = both.min(axis=(0, 1)), both.max(axis=(0, 1))
    axes = reading.plane_within(low, high, results.gravity)
    count = len(fields)
    part = f", {count} of {every}" if count < every else ""
    title = reading.magnified_title(f"{title} of step {step}{part}: {results.heading}", 1.0)
    figure, panels, middle, half = set_stage(axes, low[list(axes)], high[list(axes)], count, title)
    broken = {each.element for each in results.events if each.event == "break" and each.step <= step}
    legs, elements = mesh.legs
    there = ~np.isin(mesh.element_labels[elements], list(broken)) & (legs[:, 0] != legs[:, 1])
    lines = np.asarray(legs[there])
    for panel, shape, number, value in zip(panels, x, numbers, values, strict=True):
        draw_shape(panel, rest[lines][:, :, axes], shape[lines][:, :, axes])
        panel.set_title(f"mode {number:.0f}\n{named(value)}", fontsize=style.SMALL)
        dress(results.unit("length"), panel, axes, middle, half, FLATTER)
    style.legend_below(panels[0])
    return figure


def draw_shape(panel: Any, rest: Floats, moved: Floats) -> None:
    """Bars (m, 2, axes) at rest and moved, with their names in the legend."""
    named = (REST_COLOUR, "before"), (style.OKABE_ITO[0], "shape (size and sign are arbitrary)")
    for lines, (colour, name) in zip((rest, moved), named, strict=True):
        draw_bars(panel, lines, None, None, colour)
        panel.plot(*[[]] * lines.shape[2], color=colour, label=name)


def unit(shape: Floats) -> Floats:
    """A mode (n, 3) whose largest displacement of a node is 1 and whose first largest component is positive."""
    size = np.abs(shape)
    first = int(np.argmax(size.ravel() >= (1.0 - EQUAL) * size.max()))
    return np.asarray(shape * np.sign(shape.ravel()[first]) / (np.linalg.norm(shape, axis=1).max() or 1.0))


def touchdown(results: Results) -> Figure:
    """Natural length up to the place where each line leaves the bottom, and that which lies on it, over time."""
    path = results.folder / "touchdown.csv"
    if not path.is_file():
        raise Missing("there is no touchdown.csv: the deck has no *SEABED")
    parts: dict[str, list[tuple[float, ...]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells = row["time"], row["s"] or "nan", row["on_bottom"]
            parts.setdefault(row["line"], []).append(tuple(map(float, cells)))
    found = {name: np.array(rows) for name, rows in parts.items() if len(rows) >= LEAST_INSTANTS}
    if not found:
        raise Missing("touchdown.csv contains fewer than three instants: request *NODE PRINT")
    chosen = [list(found)[place] for place in style.some_of(range(len(found)))]
    more = f": {len(chosen)} of {len(found)} lines" if len(chosen) < len(found) else ""
    figure, rows = style.panels(2, f"Touchdown{more}", height=2.5)
    for place, name in enumerate(chosen):
        for (panel,), column in zip(rows, (1, 2), strict=True):
            style.curve(panel, found[name][:, 0], found[name][:, column], place, name)
    for (panel,), what in zip(rows, ("natural length\nto touchdown", "natural length\non the seabed"), strict=True):
        panel.set_ylabel(style.labelled(results, what, "length"))
    style.finish(results, rows)
    return figure


RANGE_COLUMNS = ("s", "min", "mean", "max", "std", "time_min", "time_max")


def line_range(folder: Path, members: str, what: str, step: int | None, start: float, say: Say) -> None:
    """``fem post range``: a table with a row for each bar of a set, or each of its nodes, and a figure."""
    results, members, what = open_results(folder), members.upper(), what.upper()
    if what not in (known := COLUMNS["n"] | COLUMNS["e"]):
        raise CommandError(unknown("quantity", what, known).args[0])
    letter = kind_of(what)
    unit, kind = known[what][0].unit, WORDS[letter]
    try:
        line = line_of(results, reading.chain_of(results, reading.members_of(results, members)), of_nodes=letter == "n")
    except Missing as missing:
        raise CommandError(f"no range of {members}: {missing}") from None
    found = read_series(folder, what, letter, line.labels, step, start)
    extremes = np.array([extremes_of(series) for series in found])
    for notice in found[0].notices:
        say(f"note: {notice}")
    numbers = np.column_stack([line.x, extremes]).tolist()
    rows = [[label, *row] for label, row in zip(line.labels, numbers, strict=True)]
    write_and_tell(folder / f"range_{what}_{members}.csv", (kind, *RANGE_COLUMNS), rows, say)
    least, mean, greatest = extremes[:, :3].T
    high, low = first_least(-greatest), first_least(least)
    for word, place, value, time in (("max", high, greatest, extremes[:, 5]), ("min", low, least, extremes[:, 4])):
        where = f"{kind} {line.labels[place]}, s = {line.x[place]:.6g}"
        say(f"  {word}  {value[place]:.9g} in {where}, at {time[place]:.9g}")
    when = f"{what}, time {found[0].time[0]:g} to {found[0].time[-1]:g}"
    title = f"Minimum, mean and maximum {what} along {members}"
    figure = along(results, line.labels, [(when, least, mean, greatest)], title, line, unit)
    path = folder / f"range_{what}_{members}.png"
    style.save(figure, path, results.mark)
    say(str(path))


def kink(folder: Path, members: str, step: int | None, start: float, say: Say) -> None:
    """``fem post kink``: |M|/(2 sqrt(EI T)) at the nodes of a line that twists, whose torque M and tension T the deck
    prints; of a straight line without end it is 1 where it buckles (Greenhill). Slack: infinite where it is twisted."""
    results, members = open_results(folder), members.upper()
    model, notices = model_of(results)
    chosen = reading.members_of(results, members)
    try:
        chain = reading.chain_of(results, chosen)
        line = line_of(results, chain, of_nodes=True)
    except Missing as missing:
        raise CommandError(f"no torque of {members}: {missing}") from None
    torque = read_series(folder, "SM3", "n", chain[0], step, start)
    pull = read_series(folder, "T", "e", chain[1], step, start)
    if not np.array_equal(torque[0].time, pull[0].time):
        raise CommandError("SM3 and T are printed at different instants: request both with the same FREQUENCY=")
    for notice in (*notices, *torque[0].notices):
        say(f"note: {notice}")
    rigidity = np.full(len(results.mesh.element_labels), np.inf)
    for section in (each for each in model.sections if each.inertia):
        young, least = model.materials[section.material].young or 0.0, min(section.inertia, section.second or np.inf)
        rigidity[model.mesh.element_sets[section.element_set]] = young * least
    places = reading.places_of(chain[1], results.mesh.element_labels)
    tension, stiff = np.array([each.values for each in pull]), rigidity[places]
    tension = 0.5 * (np.vstack([tension[:1], tension]) + np.vstack([tension, tension[-1:]]))
    stiff = np.minimum(np.append(stiff[0], stiff), np.append(stiff, stiff[-1]))
    if not np.isfinite(stiff).all():
        raise CommandError(
            f"{members} has elements whose bending stiffness is not known: it is that of B31 in the deck"
        )
    moment = np.abs([each.values for each in torque])
    limit = 2.0 * np.sqrt(stiff[:, None] * np.maximum(tension, 0.0))
    with np.errstate(divide="ignore"):
        felt = moment > reading.REST * moment.max(initial=0.0)
        margin = np.divide(moment, limit, out=np.zeros_like(moment), where=felt)
    when = margin.argmax(axis=1)
    greatest, time = margin[np.arange(len(when)), when], torque[0].time[when]
    rows = [list(row) for row in zip(line.labels, line.x.tolist(), greatest.tolist(), time.tolist(), strict=True)]
    write_and_tell(folder / f"kink_{members}.csv", ("node", "s", "margin", "time"), rows, say)
    worst = int(greatest.argmax())
    found = f"at most {greatest[worst]:.4g}" if np.isfinite(greatest[worst]) else "beyond all bounds, the line slack,"
    say(f"  M/(2 sqrt(EI T)) {found} at node {line.labels[worst]}, at {time[worst]:.9g}")
    if greatest[worst] >= 1.0:
        say("  1 or more: a straight line buckles into a loop; if it goes slack, the loop becomes a kink")


def extremes_of(series: Series) -> list[float]:
    """min, mean, max, std, and the times of the extremes."""
    values, time = series.values, series.time
    low, high = int(values.argmin()), int(values.argmax())
    return [values[low], series.mean, values[high], series.std, time[low], time[high]]
