"""Figures of curves: energies and iterations, motion of nodes and forces of supports over time; load factors of RIKS
steps; amplitudes and phases of harmonic motion over the frequency.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fem.arrays import Floats
from fem.model.quantities import NODAL, QUANTITIES, Quantity
from fem.runs.read import KEY, LEAST_INSTANTS, Missing, Results, instant_keys
from fem.runs.record import Event
from fem.show import style
from fem.show.reading import ERROR, NODES, REST, RecordedMotion, nodes_at, overview, read_motion, slack_spells
from fem.show.shapes import shade

CURVES = ("kinetic", "potential (0 at lowest)", "strain", "total", "external work", "dissipated")
TOTAL = 3


def energy_curves(results: Results) -> Iterator[tuple[int, str, Floats]]:
    """Index in ``CURVES``, name and values of energies that are not zero.
    Potential energy is relative to its lowest value, strain energy with prestress relative to the start; the total is
    their sum with the kinetic energy."""
    kinetic, strain, potential, work, dissipated = results.increments[:, 5:10].T
    names = list(CURVES)
    names[2] += " (change)" if strain[0] else ""
    potential, strain = potential - np.fmin.reduce(potential), strain - strain[0]
    total = kinetic + strain + potential
    for place, values in enumerate((kinetic, potential, strain, total, work, dissipated)):
        if place == TOTAL or values.any():
            yield place, names[place], values


def energies(results: Results) -> Figure:
    """Energies above, the magnitude of the error of their balance below."""
    time, error = results.increments[:, 2], results.increments[:, 10]
    figure = Figure(figsize=(style.WIDTH, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1))
    figure.suptitle("Energies", fontsize=12)
    for place, name, values in energy_curves(results):
        look = {"color": "#000000", "ls": "-", "lw": 2.0, "zorder": 1.9} if place == TOTAL else {"lw": 1.6}
        style.curve(upper, time, values, place, name, **look)
    upper.set_ylabel(f"energy [{results.unit('energy')}]" if results.is_si else "energy")
    size = np.abs(error)
    if np.any(size > 0.0):
        lower.semilogy(*style.thinned(time, np.where(size > 0.0, size, np.nan)), color="#000000", lw=1.1)
    else:
        lower.text(0.5, 0.5, "zero throughout", ha="center", va="center", transform=lower.transAxes)
        lower.set_yticks([])
    lower.set_title(f"energy error {results.energy_error_text}", loc="left", fontsize=style.SMALL)
    lower.set_ylabel(f"|energy error| [{results.unit('energy')}]" if results.is_si else "|energy error|")
    style.finish(results, [[upper], [lower]])
    return figure


def iterations(results: Results) -> Figure:
    """Linear solves per increment above, the residual norm they ended with below."""
    rows = results.increments[results.increments[:, 1] > 0]
    time, count, residual = rows[:, 2:5].T
    figure = Figure(figsize=(style.WIDTH, 5.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    size = 3.0 if len(time) > 300 else 6.0
    points = style.thinned(time, count)
    upper.plot(*points, ".", color=style.OKABE_ITO[0], ms=size)
    upper.set_ylabel("iterations")
    few = "" if len(points[0]) == len(time) else ": highest and lowest of each interval"
    figure.suptitle(f"Iterations of {len(time)} increments{few}", fontsize=12)
    if np.any(residual > 0.0):
        points = style.thinned(time, np.where(residual > 0.0, residual, np.nan))
        lower.semilogy(*points, ".", color=style.OKABE_ITO[1], ms=size)
    lower.set_ylabel("relative residual")
    style.finish(results, [[upper], [lower]])
    upper.set_ylim(0.0, max(1.0, float(count.max(initial=0.0))) * 1.12)
    upper.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    first, last = results.increments[[0, -1], 2].tolist()
    if last > first:
        margin = 0.01 * (last - first)
        lower.set_xlim(first - margin, last + margin)
    return figure


def drawing(quantity: Quantity) -> Callable[[Results], Figure]:
    """The figure of a quantity, as a function of its name."""

    def draw(results: Results) -> Figure:
        return motion_figure(results, quantity)

    draw.__name__ = quantity.figure
    return draw


MOTIONS = tuple(drawing(quantity) for quantity in NODAL if quantity.figure)
displacements = MOTIONS[0]


def motion_figure(results: Results, quantity: Quantity) -> Figure:
    """One panel per direction that moves, one line per node. Missing: fewer than three instants."""
    motion = printed(results, quantity)
    if not motion:
        name = quantity.name
        raise Missing(f"nodes.csv contains fewer than three instants: request *NODE PRINT, NSET=... of {name}")
    chosen = [list(motion)[place] for place in style.some_of(list(motion))]
    parts = [motion[label][1] for label in chosen]
    columns = style.moving(np.concatenate([part - part[0] for part in parts] if quantity.name == "COORD" else parts))
    title = f"{quantity.figure.capitalize()} of the printed nodes{style.part_of(chosen, len(motion))}"
    figure, rows = style.panels(len(columns), title)
    for place, label in enumerate(chosen):
        time, values = motion[label]
        for (panel,), column in zip(rows, columns, strict=True):
            style.curve(panel, time, values[:, column], place, f"node {label}")
    if quantity.columns[0] + ERROR in results.nodes.columns:
        names = [quantity.columns[column] for column in columns]
        bands = results.nodes.curves([*names, *(name + ERROR for name in names)], chosen)
        for place, label in enumerate(chosen):
            known = bands[label][~np.isnan(bands[label]).any(axis=1)]
            for (panel,), known_values, error in zip(rows, known[:, 3:].T, known[:, 3 + len(names) :].T, strict=False):
                style.band(panel, known[:, 2], known_values, error, place)
    spells = slack_spells(results, *(float(edge(motion[chosen[0]][0])) for edge in (np.min, np.max)))
    for (panel,), column in zip(rows, columns, strict=True):
        shade(panel, spells)
        panel.set_ylabel(style.labelled(results, quantity.columns[column], quantity.unit))
    style.finish(results, rows)
    return figure


def printed(results: Results, quantity: Quantity) -> dict[int, tuple[Floats, Floats]]:
    """Label -> time (k,) and values (k, c), where ``nodes.csv`` holds at least three; positions follow from U."""
    table = results.nodes
    if quantity.name == "COORD" and quantity.columns[0] not in table.columns and results.fields:
        u = printed(results, NODES["U"])
        places = results.mesh.coordinates[nodes_at(results, list(u))]
        return {label: (time, x + values) for (label, (time, values)), x in zip(u.items(), places, strict=True)}
    if quantity.columns[0] not in table.columns:
        return {}
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    curves = table.curves(quantity.columns, labels)
    found = {label: rows[~np.isnan(rows[:, 3:]).any(axis=1)] for label, rows in curves.items()}
    return {label: (rows[:, 2], rows[:, 3:]) for label, rows in found.items() if len(rows) >= LEAST_INSTANTS}


def reactions(results: Results) -> Figure:
    """RF of the supported nodes, those with the largest."""
    motion, every = read_reactions(results)
    title = f"Reactions of the supports{style.part_of(motion.nodes, every)}"
    names = [f"node {label}" for label in motion.nodes]
    figure = force_figure(results, motion.time, motion.values["RF"], names, title, ["RF1", "RF2", "RF3"], None)
    figure.set_label(motion.source)
    return figure


def read_reactions(results: Results, most: int = style.MOST_CURVES) -> tuple[RecordedMotion, int]:
    """RF of supported nodes, those with the largest, and how many there are. Missing: no reactions."""
    largest: dict[int, float] = {}
    if results.fields:
        sizes = overview(results).reaction.max(axis=1)
        largest = dict(zip(results.mesh.node_labels.tolist(), sizes.tolist(), strict=True))
    if not any(largest.values()) and "RF1" in results.nodes.columns:
        rows = results.nodes.curves(["RF1", "RF2", "RF3"], list(results.nodes.lines_of))
        largest = {
            label: float(np.nanmax(np.abs(part[:, 3:]), initial=0.0))
            for label, part in rows.items()
            if len(part) >= LEAST_INSTANTS
        }
    least = REST * max(largest.values(), default=0.0)
    labels = sorted((label for label, size in largest.items() if size > least), key=lambda label: -largest[label])
    if not labels:
        raise Missing("no support has a reaction in the fields or in RF of nodes.csv (*NODE PRINT of RF)")
    motion = read_motion(results, labels[:most], ("RF",))
    if "RF" not in motion.values:
        raise Missing("neither nodes.csv (*NODE PRINT of RF) nor the fields (*NODE FILE of RF) contain reactions")
    return motion, len(labels)


def force_figure(
    results: Results, time: Floats, force: Floats, names: list[str], title: str, labels: list[str], pull: Floats | None
) -> Figure:
    """Components of force (k, p, 3), one panel each, and T (k, p) below where it is given."""
    parts = [(labels[axis], force[:, :, axis]) for axis in style.moving(force)]
    parts += [] if pull is None else [("T along the bar", pull)]
    figure, rows = style.panels(len(parts), title)
    for (panel,), (what, values) in zip(rows, parts, strict=True):
        for place, name in enumerate(names):
            style.curve(panel, time, values[:, place], place, name)
        panel.set_ylabel(style.labelled(results, what, "force"))
    style.finish(results, rows)
    return figure


COLUMNS = ("U1", "U2", "U3")
REQUEST = "nodes.csv has no displacement at three increments of *STATIC, RIKS: request *NODE PRINT of U"
MOST_NAMED = 8
"""Limit points and bifurcations with their numbers in the legend."""


class Path(NamedTuple):
    """What is printed of one step: ``column`` (U1, U2 or U3) of ``node``; displacement (k,), factor (k,).
    points  limit points and bifurcations between the rows: kind, displacement, factor"""

    step: int
    node: int
    column: str
    displacement: Floats
    factor: Floats
    points: tuple[tuple[str, float, float], ...]


def load_factor(results: Results) -> Figure:
    """A curve for each step; triangles at its limit points, crosses at bifurcations."""
    paths = read_paths(results)
    figure = Figure(figsize=(style.WIDTH, 5.0), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(style.shortened(f"Load factor: {results.heading}"), fontsize=style.TITLE, parse_math=False)
    for place, path in enumerate(paths):
        marker = "." if len(path.factor) <= 100 else None
        style.curve(panel, path.displacement, path.factor, place, f"step {path.step}", marker=marker)
    points = [(path, *point) for path in paths for point in path.points]
    for count, (path, kind, u, factor) in enumerate(points):
        name = "limit point" if kind == "limit" else "bifurcation"
        named = f"{name}\n{factor:.5g} at {u:.4g}" if count < MOST_NAMED else None
        beside = np.interp(0.5, np.arange(2), path.factor[np.argsort(np.abs(path.displacement - u))[:2]])
        mark = "X" if kind != "limit" else "^" if factor >= beside else "v"
        colour = style.OKABE_ITO[{"^": 1, "v": 2, "X": 3}[mark]]
        panel.plot(u, factor, mark, color=colour, ms=8, label=named, zorder=3)
    panel.axhline(0.0, color="#888888", lw=0.8, zorder=0.5)
    panel.set_xlabel(f"{paths[0].column} of node {paths[0].node} [{results.unit('length')}]", fontsize=style.LABEL)
    panel.set_ylabel("load factor", fontsize=style.LABEL)
    style.tidy(panel)
    style.legend_below(panel)
    if len(points) > MOST_NAMED:
        title = f"{len(points)} limit points and bifurcations, {MOST_NAMED} labelled"
        panel.set_title(title, fontsize=style.SMALL)
    return figure


def read_paths(results: Results) -> list[Path]:
    """Of every step of ``*STATIC, RIKS``. Missing: there is none, or it has no displacement at three increments."""
    table = results.table("increments")
    if "load_factor" not in table.columns:
        raise Missing("increments.csv has no load_factor: the deck needs a step with *STATIC, RIKS")
    rows = table.whole((*KEY, "load_factor"))
    rows = rows[~np.isnan(rows[:, 3])]
    keys = instant_keys(rows)
    if set(COLUMNS) - set(results.nodes.columns):
        raise Missing(REQUEST)
    labels = np.array(list(results.nodes.lines_of))
    low, high = np.full((len(labels), 3), np.inf), np.full((len(labels), 3), -np.inf)
    for block in results.nodes.blocks((*KEY, "node", *COLUMNS)):
        moves = block[np.isin(instant_keys(block), keys) & ~np.isnan(block[:, 4:]).any(axis=1)]
        places = np.searchsorted(labels, moves[:, 3])
        np.minimum.at(low, places, moves[:, 4:])
        np.maximum.at(high, places, moves[:, 4:])
    extent = np.where(high >= low, high - low, -1.0)
    if extent.max(initial=-1.0) < 0.0:
        raise Missing(REQUEST)
    place, axis = divmod(int(np.argmax(extent)), 3)
    node, column = int(labels[place]), COLUMNS[axis]
    values = results.nodes.curves((column,), (node,), keys)[node]
    values = values[~np.isnan(values[:, 3])]
    factor = rows[np.searchsorted(keys, instant_keys(values)), 3]
    steps = [(int(step), values[:, 0] == step) for step in np.unique(values[:, 0]).tolist()]
    found = [each for each in results.events if each.event in ("limit", "bifurcation")]
    paths = [
        Path(step, node, column, values[its, 3], factor[its], _points(found, step, values[its, 2], values[its, 3]))
        for step, its in steps
        if its.sum() >= LEAST_INSTANTS
    ]
    if not paths:
        raise Missing(REQUEST)
    return paths


def _points(events: list[Event], step: int, time: Floats, u: Floats) -> tuple[tuple[str, float, float], ...]:
    """Kind, displacement and load factor of those of a step, the displacement between the rows (k,) beside them."""
    return tuple(
        (each.event, float(np.interp(each.time, time, u)), each.load_factor)
        for each in events
        if each.step == step and each.load_factor is not None
    )


PHASE = "_phase"
MOST_ROWS = 4
PREFERRED = ("T", "U", "RF", "S", "V", "A", "N", "E")
"""What is drawn first where there is more than a figure has room for."""


class Drawn(NamedTuple):
    """One quantity of some nodes or elements: labels of curves, frequencies, amplitudes and phases (c, k)."""

    name: str
    unit: str
    labels: list[str]
    frequency: Floats
    amplitude: Floats
    phase: Floats
    part: str


def response(results: Results) -> Figure:
    """Amplitude left, phase right, over the frequency; of the last step that has them."""
    found = {each.name: each for kind in ("NODE", "EL") for each in drawn_of(results, kind)}
    chosen = [found[name] for name in PREFERRED if name in found][:MOST_ROWS]
    if not chosen:
        few = f"fewer than {LEAST_INSTANTS} frequencies of a step"
        raise Missing(f"steady_nodes.csv and steady_elements.csv contain {few}")
    figure, rows = style.panels(len(chosen), "Harmonic response: amplitude cos(2π f t + phase)", 2, 2.6)
    for (left, right), each in zip(rows, chosen, strict=True):
        ratio = each.frequency[-1] / each.frequency[0]
        for place, label in enumerate(each.labels):
            size = each.amplitude[place]
            style.curve(left, each.frequency, np.where(size > 0.0, size, np.nan), place)
            phase = each.phase[place]
            # phase jumps between the ends of its range: no line
            jumps = np.flatnonzero(np.abs(np.diff(phase)) > 180.0) + 1
            style.curve(right, np.insert(each.frequency, jumps, np.nan), np.insert(phase, jumps, np.nan), place, label)
        for panel in (left, right):
            panel.set_xscale("log" if ratio > 10.0 else "linear")
        left.set_yscale("log")
        left.set_ylabel(style.labelled(results, f"amplitude of {each.name}", each.unit))
        right.set_ylabel("phase\n[degrees]")
        right.set_ylim(-190.0, 190.0)
        style.tidy(left)
        style.tidy(right)
        right.set_yticks([-180, -90, 0, 90, 180])
        if each.part:
            left.set_title(f"{each.name}{each.part}", fontsize=9, parse_math=False)
    for panel in rows[-1]:
        panel.set_xlabel(f"frequency f [1/{results.unit('time')}]")
    style.legends_beside([right for _, right in rows])
    return figure


def drawn_of(results: Results, kind: str) -> Iterator[Drawn]:
    """What a table holds of the last step that is in it."""
    item, name = ("node", "steady_nodes") if kind == "NODE" else ("element", "steady_elements")
    table = results.table(name)
    if not table.columns:
        if not (results.folder / "steady.csv").is_file():
            raise Missing("there is no steady.csv: the deck has no *STEADY STATE DYNAMICS")
        return
    rows = table.whole(table.columns)
    rows = rows[rows[:, 0] == rows[:, 0].max(initial=0.0)]
    column = {each: place for place, each in enumerate(table.columns)}
    labels, frequency = np.unique(rows[:, column[item]]), np.unique(rows[:, 1])
    if len(frequency) < LEAST_INSTANTS:
        return
    cube = rows[np.lexsort((rows[:, 1], rows[:, column[item]]))].reshape(len(labels), len(frequency), -1)
    for quantity in QUANTITIES[kind]:
        if quantity.columns[0] not in column:
            continue
        places = [column[each] for each in quantity.columns]
        amplitude, phase = cube[:, :, places], cube[:, :, [column[each + PHASE] for each in quantity.columns]]
        curves = np.argwhere(amplitude.max(axis=1) > 1e-10 * amplitude.max())
        if not len(curves):
            continue
        kept = curves[style.some_of(range(len(curves)))].tolist()
        ats, axes = (list(each) for each in zip(*kept, strict=True))
        names = [f"{quantity.columns[axis]} of {item} {labels[at]:.0f}" for at, axis in kept]
        part = f": {len(kept)} of {len(curves)} curves" if len(kept) < len(curves) else ""
        yield Drawn(quantity.name, quantity.unit, names, frequency, amplitude[ats, :, axes], phase[ats, :, axes], part)
