"""Figures of exponents, sections and bifurcations."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fem.arrays import Flags, Floats
from fem.runs.frames import unit_of
from fem.show.style import OKABE_ITO, curve, legend_beside, panels, tidy

if TYPE_CHECKING:
    from fem.chaos.sections import Section, Sections
    from fem.sweeping.sweep import Sweep


def convergence(time: Floats, running: Floats, errors: Floats, verdict: str, is_si: bool) -> Figure:
    """The exponents (p, k) as they would be after part of the time (p,), each in the band of its error bar.

    Without those that are -inf; below the title stands the verdict.
    """
    lasts = np.isfinite(running).all(axis=0)
    running, errors = running[:, lasts], errors[:, lasts]
    figure, [[panel]] = panels(1, "Lyapunov exponents, from the time so far", height=3.2)
    panel.set_title(textwrap.fill(verdict, 90), fontsize=8)
    for n, (values, bars) in enumerate(zip(running.T, errors.T, strict=True)):
        line = curve(panel, time, values, n, f"{n + 1}: {values[-1]:.4g} ± {bars[-1]:.1g}")
        panel.fill_between(time, values - bars, values + bars, color=line.get_color(), alpha=0.15, lw=0)
    late = slice(len(time) // 10, None)
    if lasts.any():
        low, high = (running - errors)[late].min(), (running + errors)[late].max()
        panel.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    panel.axhline(0.0, color="#444444", lw=0.8)
    unit = unit_of("1/time", is_si)
    panel.set(xlabel=f"time that counts [{unit_of('time', is_si)}]", ylabel=f"exponent [{unit}]")
    tidy(panel)
    legend_beside(panel)
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
    figure.suptitle(f"Motion of the last periods and stroboscopic section: {kind}")
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


def families(sweep: Sweep) -> list[tuple[str, Flags]]:
    """Curves over the last parameter: one for each combination of the others, with its rows."""
    others = np.column_stack([np.zeros(len(sweep["point"])), *(sweep[name] for name in sweep.names[:-1])])
    found = []
    for values in np.unique(others, axis=0):
        label = ", ".join(f"{name} = {value:g}" for name, value in zip(sweep.names[:-1], values[1:], strict=True))
        found.append((label, np.asarray((others == values).all(axis=1))))
    return found


def exponents_against(sweep: Sweep, is_si: bool) -> Figure:
    """The largest exponent, with its error bar, against the last parameter that was varied.

    Those without a verdict stand apart, as crosses that no line joins.
    """
    figure, [[panel]] = panels(1, "Largest Lyapunov exponent", height=3.2)
    for place, (label, rows) in enumerate(families(sweep)):
        x, y, error = (sweep[name][rows] for name in (sweep.names[-1], "exponent_1", "error_1"))
        is_open = np.isnan(sweep["chaotic"][rows])
        known = np.where(is_open, np.nan, y)
        line = curve(panel, x, known, place, label or None, marker=".", ms=5)
        panel.fill_between(x, known - error, known + error, color=line.get_color(), alpha=0.2, lw=0)
        if is_open.any():
            look: dict[str, Any] = {"fmt": "x", "color": line.get_color(), "ms": 6, "lw": 0.6}
            at, told = (x[is_open], y[is_open], error[is_open]), f"{label}: no verdict" if label else "no verdict"
            panel.errorbar(*at, label=told, **look)
        if "error_dt_1" in sweep:
            finer = y + sweep["error_dt_1"][rows]
            panel.plot(x, finer, "o", mfc="none", mec=line.get_color(), ms=6, label="at dt/2" if place == 0 else None)
    finish(panel, sweep.names[-1], f"largest exponent [{unit_of('1/time', is_si)}]")
    panel.axhline(0.0, color="#444444", lw=0.8)
    return figure


def bifurcation(sweep: Sweep, asked: Sections, is_si: bool) -> Figure:
    """Points of the sections against the last parameter that was varied."""
    figure, [[panel]] = panels(1, "Stroboscopic section", height=3.2)
    for place, (label, rows) in enumerate(families(sweep)):
        x = sweep[sweep.names[-1]][rows]
        points = np.array([sweep[f"point_{n}"][rows] for n in range(1, asked.points + 1)])
        look: dict[str, Any] = {"ms": 2, "mew": 0, "color": OKABE_ITO[place % len(OKABE_ITO)]}
        panel.plot(np.broadcast_to(x, points.shape).ravel(), points.ravel(), ".", label=label or None, **look)
    finish(panel, sweep.names[-1], kept(asked, is_si))
    return figure


def peaks(sweep: Sweep, asked: Sections, is_si: bool) -> Figure:
    """Range over the last periods against the last parameter that was varied: a response curve over a frequency."""
    figure, [[panel]] = panels(1, "Least and greatest value over the last periods", height=3.2)
    for place, (label, rows) in enumerate(families(sweep)):
        x = sweep[sweep.names[-1]][rows]
        line = curve(panel, x, sweep["greatest"][rows], place, label or None, marker=".", ms=5)
        panel.plot(x, sweep["least"][rows], ".-", ms=5, lw=line.get_linewidth(), color=line.get_color())
    finish(panel, sweep.names[-1], kept(asked, is_si))
    return figure


def kept(asked: Sections, is_si: bool) -> str:
    """What a sweep of sections keeps, with its unit."""
    unit = unit_of({"V": "length/time", "T": "force"}.get(asked.what[:1], "length"), is_si)
    return f"{asked.what or 'largest displacement'} [{unit}]"


def finish(panel: Axes, x: str, y: str) -> None:
    """Labels, grid, legend."""
    panel.set(xlabel=x, ylabel=y)
    tidy(panel)
    legend_beside(panel)
