"""Files, console lines and figures of ``fem continue`` and ``fem orbits``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.branches.continuation import WAY, Continuation, continue_folder, follow_plan, followed
from fem.branches.orbits import Orbits, Search
from fem.chaos.figures import phase_plane
from fem.chaos.files import begin_anew, folder_of, tidy_points, write_table
from fem.deck import read_model
from fem.files import lines_of, replace_file
from fem.model import Model
from fem.runs.console import as_note, say
from fem.runs.frames import says_si, unit_of
from fem.runs.run_record import RESULTS, deck_name
from fem.show.style import OKABE_ITO, legend_beside, panels, save_png, tidy
from fem.sweeping.grid import read_vary
from fem.sweeping.sweep import Sweep, carry_out, first_of


def write_continuation(options: Namespace) -> int:
    """The table as a sweep has it, ``points.csv`` (a row for each point of a section), ``continue.png``."""
    asked = Continuation(options.period, options.transient, options.points, options.what, options.method)
    values, parameters = read_vary(options.vary), dict(options.parameters)
    asked = asked.decided(first_of(options.deck, parameters, values))
    plan = follow_plan(options.deck, values, options.back, parameters, asked)
    own = continue_folder(options.output, plan, options.force)
    with own:
        found = carry_out(plan, own, lambda missing: followed(plan, asked, own.path, missing), not options.quiet)
        names = [WAY, found.names[1], "n", asked.what or "value"]
        write_table(own.path / asked.figures[0], names, tidy_points(found, asked.points))
        save_png(both_ways(found, asked, says_si(plan.model.heading)), own.path / asked.figures[1])
    if not options.quiet:
        print(f"           and {', '.join(asked.figures[:2])}")
    if failures := found.failures():
        say(f"fem: error: {failures}", sys.stderr)
    return 3 if failures else 0


def write_orbits(options: Namespace) -> int:
    """``orbits.csv`` and ``orbits.png``; without ``--vary`` also the motion, ``orbit.csv``."""
    asked = Search(options.period, options.multiple, options.transient, options.what, options.depth)
    grid = read_vary(options.vary) if options.vary else None
    model = read_model(options.deck, dict(options.parameters))
    options.output = options.output or RESULTS / f"{deck_name(model)}_{asked.kind}"
    names = ("orbits.csv", "orbits.png", "orbit.csv")
    with folder_of(options, model, asked, names) as own:
        found = asked.find(options.deck, dict(options.parameters), grid)
        begin_anew(own, model, asked)
        replace_file(own.path / names[0], lines_of([list(found), *zip(*map(texts, found.values()), strict=True)]))
        if grid is None:
            section = found.orbits[0].section
            table = np.column_stack([section.track_time, section.track])
            write_table(own.path / names[2], ["time", *section.columns], table)
            save_png(phase_plane(section, says_si(model.heading)), own.path / names[1])
        else:
            save_png(branches(found, says_si(model.heading)), own.path / names[1])
    if not options.quiet:
        tell(found, model)
        print(f"written    in {own.path}: {', '.join(names[: 3 if grid is None else 2])}")
    return 0


def texts(column: np.ndarray) -> list[str]:
    """Cells with all their digits."""
    return [value if isinstance(value, str) else repr(value) for value in column.tolist()]


def tell(found: Orbits, model: Model) -> None:
    """What came of it, on the console."""
    for text in (*model.notices, *found.notices):
        print(as_note(text))
    if not found.name:
        print(found.orbits[0])
        return
    for text in found.bifurcations():
        print(text)
    worst = found["residual"].max()
    print(f"{len(found.orbits)} orbits on {found['branch'].max()} branches, all with |P(z) - z| <= {worst:.2g}")


WAYS = ((1.0, "up", {"marker": "o", "ms": 3.5, "mfc": "none"}), (-1.0, "down", {"marker": ".", "ms": 3}))


def both_ways(sweep: Sweep, asked: Continuation, is_si: bool) -> Figure:
    """Section, range, period, share of time that ropes are taut, exponent: up and down."""
    shown = ["section", "range", "period"]
    shown += ["taut"] if np.isfinite(sweep["taut"]).any() else []
    shown += ["exponent"] if np.isfinite(sweep["exponent"]).any() else []
    figure, axes = panels(len(shown), "Followed up and down", height=2.4)
    unit = unit_of("length/time" if asked.what.startswith("V") else "length", is_si)
    labels = {
        "section": f"{asked.what} [{unit}]",
        "range": f"its least and greatest\nin the last periods [{unit}]",
        "period": "period of the motion\n(0: aperiodic)",
        "taut": "share of increments\nin which ropes pull",
        "exponent": f"largest exponent\n[{unit_of('1/time', is_si)}]",
    }
    points = np.array([sweep[f"point_{n}"] for n in range(1, asked.points + 1)])
    several = {"section": points, "range": np.array([sweep["least"], sweep["greatest"]])}
    for place, (way, label, mark) in enumerate(WAYS):
        rows = sweep[WAY] == way
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
    for place, ([panel], name) in enumerate(zip(axes, shown, strict=True)):
        panel.set_xlim(*padded(values))
        mark_missing(panel, around(values, np.unique(sweep[sweep.names[1]][sweep.failed])), None if place else "failed")
        panel.set_ylabel(labels[name])
        tidy(panel)
    axes[-1][0].set_xlabel(sweep.names[1])
    legend_beside(axes[0][0])
    return figure


def padded(values: Floats) -> tuple[float, float]:
    """All of the range, failed or not, and a little more."""
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def around(values: Floats, some: Floats) -> Floats:
    """(k, 2) from halfway to the value below to halfway to the one above some of them."""
    known = np.unique(values)
    edges = np.concatenate([known[:1], 0.5 * (known[1:] + known[:-1]), known[-1:]])
    at = np.searchsorted(known, some)
    return np.column_stack([edges[at], edges[at + 1]])


def mark_missing(panel: Axes, spans: Floats, label: str | None) -> None:
    """Grey where there is no answer: (k, 2) spans of the parameter."""
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
        # From orbit to orbit: as the one that is no bifurcation, whose multiplier is on the circle.
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
    unit = unit_of("length/time" if found.what.startswith("V") else "length", is_si)
    top.set_ylabel(f"least and greatest\n{found.what} [{unit}]")
    low.set(ylabel="largest multiplier", xlabel=found.name)
    for panel in (top, low):
        tidy(panel)
    legend_beside(top)
    return figure
