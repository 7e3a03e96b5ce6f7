"""Figures of motions that are followed over a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.branches.continuation import WAY, Continuation
from fem.branches.orbits import Orbits
from fem.pictures.style import OKABE_ITO, legend_beside, panels, tidy
from fem.results.frames import unit_of
from fem.sweeping.sweep import Sweep

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
