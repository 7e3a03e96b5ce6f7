"""Figures of sweeps, exponents, sections, basins, continuations and orbits."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fem.arrays import Flags, Floats
from fem.model.named import series_named
from fem.runs.frames import si_unit, unit_of
from fem.show.reading import places_of, plane_within
from fem.show.shapes import FLATTER, MOST_MODES, SIZE, draw_bars, draw_shape, dress, set_stage, unit
from fem.show.style import MOST_CURVES, OKABE_ITO, SMALL, TITLE, WIDTH, curve, legend_below, panels, tidy
from fem.study.points import is_seed

if TYPE_CHECKING:
    from fem.study.basins import Basins
    from fem.study.branches import Orbits
    from fem.study.continuation import Continuation
    from fem.study.mooring import Mooring
    from fem.study.rigidity import Rigidity
    from fem.study.sections import Section, Sections
    from fem.study.sweep import Sweep


def families(parameters: Mapping[str, Floats]) -> list[tuple[str, Flags]]:
    """Curves over the last parameter: one for each combination of the others, with its rows."""
    *names, last = parameters
    others = np.column_stack([np.zeros(len(parameters[last])), *(parameters[name] for name in names)])
    found = []
    for values in np.unique(others, axis=0):
        label = ", ".join(f"{name} = {value:g}" for name, value in zip(names, values[1:], strict=True))
        found.append((label, np.asarray((others == values).all(axis=1))))
    return found


def extremes(
    columns: Mapping[str, Floats], parameters: Mapping[str, Floats], what: Sequence[str], is_si: bool
) -> Figure:
    """Greatest and least value of each number against the parameter that varies fastest, a curve for each combination
    of the others; a curve goes through the means of samples (``SEED``), which are dots."""
    states = {name: values for name, values in parameters.items() if not is_seed(name)} or dict(parameters)
    last = list(states)[-1]
    figure, axes = panels(len(what), "Maximum and minimum", height=2.6)
    for [panel], number in zip(axes, what, strict=True):
        for place, (label, rows) in enumerate(families(states)):
            x, which = np.unique(states[last][rows], return_inverse=True)
            for end in ("max", "min"):
                y = columns[f"{number}_{end}"][rows]
                mean = np.bincount(which, y) / np.bincount(which)
                line = curve(panel, x, mean, place, (label or None) if end == "max" else None)
                panel.plot(states[last][rows], y, ".", ms=5, color=line.get_color())
        unit = si_unit(series_named(number).column) if is_si else ""
        panel.set_ylabel(number + (f" [{unit}]" if unit else ""))
        tidy(panel)
    axes[-1][0].set_xlabel(last)
    legend_below(axes[0][0])
    return figure


def expected_extremes(table: Mapping[str, Any], is_si: bool) -> Figure:
    """The largest value of each case, and the extreme to expect with its interval, a panel for each number; intervals
    that reach far beyond are cut off."""
    numbers, cases = (list(dict.fromkeys(table[name].tolist())) for name in ("number", "case"))
    figure, axes = panels(
        len(numbers), f"Largest values, and extremes to expect in {table['duration'][0]:g}", height=2.6
    )
    for [panel], number in zip(axes, numbers, strict=True):
        rows = np.flatnonzero(table["number"] == number)
        x = np.array([cases.index(case) for case in table["case"][rows]], float)
        value, low, high, largest, mean = (
            table[name][rows] for name in ("extreme", "extreme_low", "extreme_high", "max", "mean")
        )
        bars = np.nan_to_num(np.abs(np.array([value - low, high - value])))
        panel.errorbar(
            x + 0.1, value, bars, fmt="o", ms=5, capsize=3, color=OKABE_ITO[0], label="expected, 95 % interval"
        )
        errors = table["max_err"][rows] if "max_err" in table else None
        panel.errorbar(x - 0.1, largest, errors, fmt="_", ms=12, capsize=3, color=OKABE_ITO[1], label="largest seen")
        panel.plot(x, mean, ".", ms=5, color="#444444", label="mean")
        seen = np.concatenate([value, largest, mean])
        if np.isfinite(seen).any():
            least, most = float(np.nanmin(seen)), float(np.nanmax(seen))
            room = (most - least) or abs(most) or 1.0
            panel.set_ylim(
                least - 0.15 * room, min(max(np.nanmax(np.append(high, most)), most) + 0.1 * room, most + room)
            )
        unit = si_unit(series_named(number).column) if is_si else ""
        panel.set_ylabel(number + (f" [{unit}]" if unit else ""))
        tidy(panel)
    axes[-1][0].set_xticks(
        range(len(cases)), cases, rotation=30 if len(cases) > 6 else 0, ha="right" if len(cases) > 6 else "center"
    )
    axes[-1][0].set_xlim(-0.5, len(cases) - 0.5)
    legend_below(axes[0][0])
    return figure


def convergence(time: Floats, running: Floats, errors: Floats, verdict: str, is_si: bool) -> Figure:
    """The exponents (p, k) as they would be after part of the time (p,), each in the band of its error bar.
    Exponents that are -inf are omitted; below the title is the verdict."""
    lasts = np.isfinite(running).all(axis=0)
    running, errors = running[:, lasts], errors[:, lasts]
    figure, [[panel]] = panels(1, "Lyapunov exponents, averaged up to each time, and error bars (bands)", height=3.2)
    panel.set_title(textwrap.fill(verdict, 90), fontsize=8)
    for n, (values, bars) in enumerate(zip(running.T, errors.T, strict=True)):
        line = curve(panel, time, values, n, f"{n + 1}: {values[-1]:.4g} ± {bars[-1]:.1g}")
        panel.fill_between(time, values - bars, values + bars, color=line.get_color(), alpha=0.15, lw=0)
    late = slice(len(time) // 10, None)
    if lasts.any():
        low, high = (running - errors)[late].min(), (running + errors)[late].max()
        panel.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    panel.axhline(0.0, color="#444444", lw=0.8)
    finish(panel, f"averaging time [{unit_of('time', is_si)}]", f"exponent [{unit_of('1/time', is_si)}]")
    return figure


def phase_plane(section: Section, is_si: bool) -> Figure:
    """Velocity over position of every moving direction: the last periods, and the section in red."""
    reach = np.ptp(section.track, axis=0)
    pairs = [
        (c, section.columns.index("V" + name[1:]))
        for c, name in enumerate(section.columns)
        if name[0] == "U" and reach[c] > 1e-9 * reach.max()
    ][:4]
    kind = f"period {section.period}" if section.period else "aperiodic"
    figure = Figure(figsize=(4.6 * max(len(pairs), 1), 4.4), layout="constrained")
    figure.suptitle(f"Motion in the last periods, with stroboscopic section: {kind}")
    for place, (u, v) in enumerate(pairs):
        panel = figure.add_subplot(1, len(pairs), place + 1)
        at = section.reference[u]
        panel.plot(at + section.track[:, u], section.track[:, v], color=OKABE_ITO[0], lw=0.6)
        panel.plot(at + section.points[:, u], section.points[:, v], ".", color=OKABE_ITO[1], ms=5)
        axis, label = "xyz"[int(section.columns[u][1]) - 1], section.columns[u][3:]
        length, speed = unit_of("length", is_si), unit_of("length/time", is_si)
        panel.set(xlabel=f"{axis} of node {label} [{length}]", ylabel=f"velocity {axis} of node {label} [{speed}]")
        tidy(panel)
    return figure


def exponents_against(sweep: Sweep, is_si: bool) -> Figure:
    """The largest exponent, with its error bar, against the last parameter that was varied.
    Those without a verdict stand apart, as crosses that no line joins."""
    figure, [[panel]] = panels(1, "Largest Lyapunov exponent and its error bar (band)", height=3.2)
    for place, (label, rows) in enumerate(families(sweep.parameters)):
        x, y, error = (sweep[name][rows] for name in (sweep.names[-1], "exponent_1", "error_1"))
        is_open = np.isnan(sweep["chaotic"][rows])
        known = np.where(is_open, np.nan, y)
        line = curve(panel, x, known, place, label or None, marker=".", ms=5)
        panel.fill_between(x, known - error, known + error, color=line.get_color(), alpha=0.2, lw=0)
        if is_open.any():
            look: dict[str, Any] = {"fmt": "x", "color": line.get_color(), "ms": 6, "lw": 0.6}
            at, name = (x[is_open], y[is_open], error[is_open]), f"{label}: no verdict" if label else "no verdict"
            panel.errorbar(*at, label=name, **look)
        if "error_dt_1" in sweep:
            finer = y + sweep["error_dt_1"][rows]
            panel.plot(x, finer, "o", mfc="none", mec=line.get_color(), ms=6, label="at dt/2" if place == 0 else None)
    finish(panel, sweep.names[-1], f"largest exponent [{unit_of('1/time', is_si)}]")
    panel.axhline(0.0, color="#444444", lw=0.8)
    return figure


def bifurcation(sweep: Sweep, study: Sections, is_si: bool) -> Figure:
    """Points of the sections against the last parameter that was varied."""
    figure, [[panel]] = panels(1, "Stroboscopic section", height=3.2)
    for place, (label, rows) in enumerate(families(sweep.parameters)):
        x = sweep[sweep.names[-1]][rows]
        points = np.array([sweep[f"point_{n}"][rows] for n in range(1, study.points + 1)])
        look: dict[str, Any] = {"ms": 2, "mew": 0, "color": OKABE_ITO[place % len(OKABE_ITO)]}
        panel.plot(np.broadcast_to(x, points.shape).ravel(), points.ravel(), ".", label=label or None, **look)
    finish(panel, sweep.names[-1], with_unit(study.what, is_si))
    return figure


def peaks(sweep: Sweep, study: Sections, is_si: bool) -> Figure:
    """Range over the last periods against the last parameter that was varied: a response curve over a frequency."""
    figure, [[panel]] = panels(1, "Minimum and maximum in the last periods", height=3.2)
    for place, (label, rows) in enumerate(families(sweep.parameters)):
        x = sweep[sweep.names[-1]][rows]
        line = curve(panel, x, sweep["greatest"][rows], place, label or None, marker=".", ms=5)
        panel.plot(x, sweep["least"][rows], ".-", ms=5, lw=line.get_linewidth(), color=line.get_color())
    finish(panel, sweep.names[-1], with_unit(study.what, is_si))
    return figure


def with_unit(what: str, is_si: bool) -> str:
    """A column of a section, with its unit."""
    return f"{what or 'largest displacement'} [{unit_named(what, is_si)}]"


def unit_named(what: str, is_si: bool) -> str:
    return unit_of({"V": "length/time", "T": "force"}.get(what[:1], "length"), is_si)


def finish(panel: Axes, x: str, y: str) -> None:
    panel.set(xlabel=x, ylabel=y)
    tidy(panel)
    legend_below(panel)


FAILED = "#444444"


def picture(found: Basins, is_si: bool) -> Figure:
    """Attractors over the last two names; others have a panel each for their values; a legend in words."""
    axes = [np.unique(values) for values in found.starts.values()]
    numbers = np.zeros([len(values) for values in axes], np.int64)
    numbers[tuple(np.searchsorted(a, v) for a, v in zip(axes, found.starts.values(), strict=True))] = found.attractor
    names = list(found.starts)
    if len(names) == 1:
        numbers, axes, names = numbers[None], [np.zeros(1), *axes], ["", *names]
    panels = numbers.reshape(-1, *numbers.shape[-2:])
    figure = Figure(figsize=(max(7.2, 4.8 * len(panels)), 4.6), layout="constrained")
    figure.suptitle("\n".join(["Basins of attraction", *filter(None, [found.what_dt_does])]), fontsize=TITLE)
    colours = colours_of(len(found.attractors))

    def edges(values: Floats) -> Floats:
        half = 0.5 * float(values[1] - values[0]) if len(values) > 1 else 0.5
        return np.concatenate([values[:1] - half, 0.5 * (values[1:] + values[:-1]), values[-1:] + half])

    look: dict[str, Any] = {"cmap": ListedColormap(colours), "vmin": -0.5, "vmax": len(colours) - 0.5}
    for place, panel in enumerate(panels, 1):  # a pixel for each start
        pixels = figure.add_subplot(1, len(panels), place)
        pixels.pcolormesh(edges(axes[-2]), edges(axes[-1]), panel.T, rasterized=True, **look)
        figure.axes[-1].set(xlabel=labelled(names[-2], is_si), ylabel=labelled(names[-1], is_si))
    if len(names[0]) == 0:
        figure.axes[0].set(xticks=[])
    shown = [Patch(color=colours[of.number], label=str(of)) for of in found.attractors]
    if failed := np.mean(found.attractor == 0):
        shown.append(Patch(color=FAILED, label=f"run failed, {100.0 * failed:.3g} % of the starts"))
    legend_below(figure.axes[0], shown)
    return figure


def colours_of(count: int) -> list[Any]:
    """Colours of failed runs, then of each attractor."""
    many = matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, max(count, 1)))
    chosen = OKABE_ITO if count <= len(OKABE_ITO) else [tuple(colour) for colour in many]
    return [to_rgb(FAILED), *(to_rgb(colour) for colour in chosen[:count])]


def labelled(name: str, is_si: bool) -> str:
    """A start with its unit; a parameter as it is."""
    unit = {"U": "length", "V": "length/time"}.get(name[:1]) if name[1:2] in ("1", "2", "3") and "_" in name else None
    return f"{name} [{unit_of(unit, is_si)}]" if unit else name


WAYS = ((1.0, "up", {"marker": "o", "ms": 3.5, "mfc": "none"}), (-1.0, "down", {"marker": ".", "ms": 3}))


def both_ways(sweep: Sweep, study: Continuation, is_si: bool) -> Figure:
    """Section, range, period, fraction of time that ropes are taut, exponent: up and down."""
    shown = ["section", "range", "period"]
    shown += ["taut"] if np.isfinite(sweep["taut"]).any() else []
    shown += ["exponent"] if np.isfinite(sweep["exponent"]).any() else []
    figure, axes = panels(len(shown), "Parameter rising and falling", height=2.4)
    labels = {
        "section": with_unit(study.what, is_si),
        "range": f"minimum and maximum\nin the last periods [{unit_named(study.what, is_si)}]",
        "period": "period of the motion\n(0: aperiodic)",
        "taut": "fraction of increments\nwith taut ropes",
        "exponent": f"largest exponent\n[{unit_of('1/time', is_si)}]",
    }
    points = np.array([sweep[f"point_{n}"] for n in range(1, study.points + 1)])
    several = {"section": points, "range": np.array([sweep["least"], sweep["greatest"]])}
    for place, (way, label, mark) in enumerate(WAYS):
        rows = sweep["way"] == way
        if not rows.any():
            continue
        x = sweep[sweep.names[1]][rows]
        look: dict[str, Any] = {"ls": "", "color": OKABE_ITO[place], "label": label, **mark}
        for [panel], name in zip(axes, shown, strict=True):
            y: Any = several.get(name)
            y = (np.where(sweep.failed, np.nan, sweep[name])[None] if y is None else y)[:, rows]
            panel.plot(np.broadcast_to(x, y.shape).ravel(), y.ravel(), **look)
            if name == "exponent":
                error = sweep["error"][rows]
                panel.fill_between(x, y[0] - error, y[0] + error, color=OKABE_ITO[place], alpha=0.15, lw=0)
    values = np.sort(sweep[sweep.names[1]])
    margin = 0.04 * (values[-1] - values[0]) or 1.0  # the whole range, failed runs included, with margins
    for place, ([panel], name) in enumerate(zip(axes, shown, strict=True)):
        panel.set_xlim(values[0] - margin, values[-1] + margin)
        mark_missing(panel, around(values, np.unique(sweep[sweep.names[1]][sweep.failed])), None if place else "failed")
        panel.set_ylabel(labels[name])
        tidy(panel)
    axes[-1][0].set_xlabel(sweep.names[1])
    legend_below(axes[0][0])
    return figure


def around(values: Floats, some: Floats) -> Floats:
    """(k, 2) from halfway to the value below to halfway to the value above, for some of the values."""
    known = np.unique(values)
    edges = np.concatenate([known[:1], 0.5 * (known[1:] + known[:-1]), known[-1:]])
    at = np.searchsorted(known, some)
    return np.column_stack([edges[at], edges[at + 1]])


def mark_missing(panel: Axes, spans: Floats, label: str | None) -> None:
    """Grey where there are no results: (k, 2) spans of the parameter."""
    for place, (first, last) in enumerate(spans):
        panel.axvspan(first, last, color="#BBBBBB", alpha=0.35, lw=0, label=None if place else label)


MARKS = {"fold": "s", "branch point": "D", "period doubling": "^", "Neimark-Sacker": "o", "grazing": "x"}


def branches(found: Orbits, is_si: bool) -> Figure:
    """Ranges and multipliers over the parameter: stable orbits as lines, unstable ones dashed, bifurcations marked."""
    figure, axes = panels(2, "Periodic orbits", height=3.0)
    (top,), (low,) = axes
    size = np.hypot(found["multiplier_1"], found["multiplier_1_i"])
    for branch in np.unique(found["branch"]):
        (rows,) = np.nonzero(found["branch"] == branch)
        color = OKABE_ITO[(branch - 1) % len(OKABE_ITO)]
        label = f"branch {branch}, period {found['multiple'][rows[0]]}"
        # From orbit to orbit: drawn as the regular one, since a bifurcation has a multiplier on the circle.
        first, last = rows[:-1], rows[1:]
        is_unstable = found["unstable"][np.where(found["kind"][first] == "", first, last)] > 0
        for dashes, joined in (("-", ~is_unstable), ((0, (3, 2)), is_unstable)):
            look: dict[str, Any] = {"color": color, "ls": dashes, "lw": 1.4}
            for panel, y in ((top, found["greatest"]), (top, found["least"]), (low, size)):
                ends = [np.stack([of[first], of[last]])[:, joined] for of in (found[found.name], y)]
                panel.plot(*ends, **look)
        top.plot([], [], color=color, lw=1.4, label=label)
    for kind, mark in MARKS.items():
        (rows,) = np.nonzero(found["kind"] == kind)
        if len(rows):
            dots: dict[str, Any] = {"ls": "", "marker": mark, "color": "#000000", "ms": 5}
            top.plot(found[found.name][rows], found["greatest"][rows], label=kind, **dots)
            low.plot(found[found.name][rows], size[rows], **dots)
    for panel in (top, low):
        panel.set_xlim(*found.range)
        mark_missing(panel, found.missed, "not reached" if panel is top else None)
    low.axhline(1.0, color="#444444", lw=0.8)
    top.set_ylabel(f"minimum and maximum\n{with_unit(found.what, is_si)}")
    low.set(ylabel="largest |multiplier|", xlabel=found.name)
    for panel in (top, low):
        tidy(panel)
    legend_below(top)
    return figure


def residuals(table: Mapping[str, np.ndarray], is_si: bool) -> Figure:
    """Measured (dots, open where left out of the fit) and computed (lines) over time, and the residual below, for each
    column and the first records; statistics against their measured value."""
    columns = list(dict.fromkeys(table["column"].tolist()))
    figure = Figure(figsize=(WIDTH, max(3.6, 1.0 + 3.0 * len(columns))), layout="constrained")
    figure.suptitle("Measured (dots; open: left out of the fit) and computed (lines)", fontsize=TITLE)
    for place, name in enumerate(columns):
        rows = table["column"] == name
        its = {key: values[rows] for key, values in table.items()}
        is_series, unit = bool(np.isfinite(its["time"]).any()), si_unit(name) if is_si else ""
        upper, lower = figure.subfigures(len(columns), 1, squeeze=False)[place, 0].subplots(
            2, 1, sharex=True, height_ratios=(3, 2)
        )
        records = list(dict.fromkeys(its["record"].tolist()))
        for number, record in enumerate(records[:MOST_CURVES]):
            of = its["record"] == record if is_series else np.ones(len(its["record"]), bool)
            x, label = its["time" if is_series else "measured"][of], record if is_series else "runs"
            left_out, color = its["part"][of] != "fit", OKABE_ITO[number % MOST_CURVES]
            for panel, key in ((upper, "measured" if is_series else "computed"), (lower, "residual")):
                for chosen, fill in ((~left_out, color), (left_out, "none")):
                    panel.plot(x[chosen], its[key][of][chosen], "o", ms=2.5, mew=0.5, mec=color, mfc=fill)
            if is_series:
                upper.plot(x, its["computed"][of], color=color, lw=1.2, label=label)
            else:
                upper.plot(np.sort(x), np.sort(x), color="#444444", lw=0.8, label="equal")
                break
        lower.axhline(0.0, color="#444444", lw=0.8)
        upper.set_ylabel((name if is_series else f"{name}, computed") + (f" [{unit}]" if unit else ""))
        lower.set_ylabel("residual" + (f" [{unit}]" if unit else ""))
        lower.set_xlabel("time" + (" [s]" if is_si else "") if is_series else f"{name}, measured")
        for panel in (upper, lower):
            tidy(panel)
        upper.legend(frameon=False, fontsize=SMALL, ncols=MOST_CURVES)
    return figure


def self_stress(found: Rigidity, is_si: bool) -> Figure:
    """Forces of the first states of self-stress on the structure, struts blue, cables red."""
    lines, x = lines_of(found), found.place[None]
    count = min(found.sizes[0], MOST_MODES)
    figure, panels, axes, middle, half = structure_stage(
        x, count, f"States of self-stress: {count} of {found.sizes[0]}"
    )
    colours = ScalarMappable(Normalize(-1.0, 1.0), matplotlib.colormaps["coolwarm"])
    for number, (panel, state) in enumerate(zip(panels, found.states.T, strict=False), start=1):
        draw_bars(panel, found.place[lines][:, :, axes], state[: len(lines)], colours)
        panel.set_title(f"state {number}", fontsize=SMALL)
        dress(unit_of("length", is_si), panel, axes, middle, half)
    figure.colorbar(colours, ax=panels, shrink=0.8, panchor=False, label="force over the largest (tension above 0)")
    return figure


def mechanisms(found: Rigidity, is_si: bool) -> Figure:
    """The first mechanisms over the structure, and the stiffness that the prestress gives each of them."""
    lines, place, count = lines_of(found), found.place, min(found.sizes[1], MOST_MODES)
    extent = np.ptp(place, axis=0).max() or 1.0
    x = place + SIZE * extent * np.array([unit(each) for each in found.mechanisms[:count]])
    title = f"Mechanisms: {count} of {found.sizes[1]}"
    figure, panels, axes, middle, half = structure_stage(np.concatenate([x, place[None]]), count, title)
    for number, (panel, shape) in enumerate(zip(panels, x, strict=True), start=1):
        draw_shape(panel, place[lines][:, :, axes], shape[lines][:, :, axes])
        stiffness = f"{found.stiffness[number - 1]:.5g}" + " N/m" * is_si
        panel.set_title(f"mechanism {number}\nK_G = {stiffness}", fontsize=SMALL)
        dress(unit_of("length", is_si), panel, axes, middle, half, FLATTER)
    legend_below(panels[0])
    return figure


def lines_of(found: Rigidity) -> Any:
    """(b, 2) nodes of the bars among the members."""
    mesh = found.model.mesh
    bars = found.elements[~np.isnan(found.force)]
    return mesh.element_nodes[places_of(bars, mesh.element_labels)]


def structure_stage(
    shapes: Floats, count: int, title: str
) -> tuple[Figure, list[Any], tuple[int, ...], Floats, Floats]:
    """Figure, panels, axes, middle and half of what all panels show of shapes (k, n, 3)."""
    low, high = shapes.min(axis=(0, 1)), shapes.max(axis=(0, 1))
    axes = plane_within(low, high, None)
    figure, panels, middle, half = set_stage(axes, low[list(axes)], high[list(axes)], count, title)
    return figure, panels, axes, middle, half


def offsets(found: Mooring, is_si: bool) -> Figure:
    """Restoring force, the largest end force of all lines and the least length on the seabed over the offset."""
    figure = Figure(figsize=(WIDTH, 7.2), layout="constrained")
    figure.suptitle("A vessel moved from rest: forces of its mooring", fontsize=TITLE)
    panels = figure.subplots(3, 1, sharex=True)
    force, length = (f" [{unit_of(what, is_si)}]" if is_si else "" for what in ("force", "length"))
    for number, (heading, path) in enumerate(found.paths.items()):
        style = {
            "color": OKABE_ITO[number % MOST_CURVES],
            "ls": "-" if number < MOST_CURVES else "--",
            "marker": "o",
            "ms": 2.5,
        }
        way = path[-1].offset / np.linalg.norm(path[-1].offset)
        x = [float(state.offset @ way) for state in path]
        restoring = [-float(state.force @ way) for state in path]
        for panel, y in zip(
            panels, (restoring, [s.lines[:, 1].max() for s in path], [s.lines[:, -1].min() for s in path]), strict=True
        ):
            panel.plot(x, y, lw=1.2, label=f"{heading:g} degrees", **style)
    panels[0].axhline(0.0, color="#444444", lw=0.8)
    names = f"restoring force{force}", f"largest end force{force}", f"least length\non the seabed{length}"
    for panel, name in zip(panels, names, strict=True):
        panel.set_ylabel(name)
        tidy(panel)
    panels[-1].set_xlabel(f"offset{length}")
    legend_below(panels[-1])
    return figure
