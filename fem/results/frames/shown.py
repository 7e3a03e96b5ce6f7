"""What notebooks show of results: a few numbers and a small plot, as HTML."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats
from fem.model import Model
from fem.results.frames.units import says_si, si_unit

STORED = ("kinetic", "strain", "potential")
MOST_POINTS = 1_000
"""Points of a curve in a small plot."""
MOST_ROWS = 8
"""Of a sweep; the first ones and the last."""


def history_html(model: Model, increments: Columns, modes: Sequence[Floats], notices: Sequence[str]) -> str:
    """What ran, its counts, energies over time; ``modes``: frequencies of each step that asked for some."""
    time, error = increments["time"], np.abs(increments["energy_error"])
    facts = {
        "model": f"{len(model.mesh.node_labels)} nodes, {len(model.mesh.element_labels)} elements",
        "rows": f"{len(time)}" + (f", time {time[0]:.6g} to {time[-1]:.6g}" if len(time) else ""),
        "iterations": f"{increments['iterations'].sum()}",
        "largest |energy error|": f"{np.nanmax(error):.3g}" if np.isfinite(error).any() else "not known",
        "frequencies": "; ".join(", ".join(f"{value:.6g}" for value in found[:MOST_ROWS]) for found in modes),
        "notices": "; ".join(notices),
    }
    title = next((line.strip() for line in model.heading), "") or model.source or "History"
    series = {name: increments[name] for name in STORED}
    moved = {name: values - values[0] for name, values in series.items() if len(values) > 2 and np.ptp(values) > 0.0}
    unit = f" [{si_unit('kinetic')}]" if says_si(model.heading) else ""
    plot = small_plot(time, moved, "time", f"change of energy{unit}") if moved else ""
    return block(title, facts, plot)


def sweep_html(table: Columns, names: Sequence[str], failures: str) -> str:
    """The first rows and the last, and what varies most of what came out, over the first parameter."""
    facts = {"parameter sets": f"{len(table['point'])} over {', '.join(names)}", "failed": failures}
    plot = ""
    came_out = [name for name in table if name.endswith(("_end", "_max", "_1")) and not name.startswith("time")]
    chosen = [name for name in came_out if np.isfinite(table[name]).any() and np.ptp(table[name]) > 0.0][-1:]
    if len(names) == 1 and len(table["point"]) > 2 and chosen:
        plot = small_plot(table[names[0]], {chosen[0]: table[chosen[0]]}, names[0], chosen[0])
    count = len(table["point"])
    places = [*range(min(count, MOST_ROWS)), *([count - 1] if count > MOST_ROWS else [])]
    columns = list(table)[: 3 + len(names) + MOST_ROWS]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = ["".join(f"<td>{cell(table[name][place])}</td>" for name in columns) for place in places]
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return block("Sweep", facts, f"<table><tr>{head}</tr>{rows}</table>{plot}")


def cell(value: Any) -> str:
    """A number in few digits, or a text."""
    return f"{value:.6g}" if isinstance(value, float | np.floating) else escape(str(value))


def block(title: str, facts: Mapping[str, str], rest: str) -> str:
    """A title, what is known, and more."""
    known = ((name, text) for name, text in facts.items() if text)
    rows = "".join(f'<tr><th style="text-align:left">{name}</th><td>{escape(text)}</td></tr>' for name, text in known)
    return f"<div><b>{escape(title)}</b><table>{rows}</table>{rest}</div>"


def small_plot(x: Floats, curves: Mapping[str, Floats], across: str, upright: str) -> str:
    """Some curves as inline SVG, on white, so that it is read in dark notebooks, too."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.2), layout="constrained")
    panel = figure.subplots()
    thin = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    for name, values in curves.items():
        panel.plot(x[thin], values[thin], lw=1.2, label=name)
    panel.set(xlabel=across, ylabel=upright)
    panel.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        panel.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return as_svg(figure)


def as_svg(figure: Any) -> str:
    """A figure as the element ``<svg>``, its texts as texts; equal figures give equal text."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.hashsalt": "fem", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    found = text.getvalue()
    return found[found.index("<svg") :]
