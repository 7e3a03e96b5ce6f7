"""How figures look: colours, lines, axes, legends below the data, curves thinned to what can be seen."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from fem.arrays import Floats
from fem.commands.files import replace_file
from fem.runs.read import Results, extremes

MOST_POINTS = 5_000
"""Longer curves are drawn by the smallest and largest value of equal shares."""
MOST_CURVES = 7
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that stay apart for colour-blind readers (Okabe and Ito 2008), without the yellow that paper swallows."""
PATTERNS = (6, 2), (6, 2, 1.2, 2), (1.2, 1.4), (9, 2, 2, 2), (3, 1.5), (6, 2, 1.2, 2, 1.2, 2)
DASHES: tuple[Any, ...] = ("-", *((0, lengths) for lengths in PATTERNS))
WIDTH = 8.5
PANEL = 2.1
"""Inches: width of a figure, height of one of several panels."""
TITLE, LABEL, SMALL = 12, 11, 10
"""Sizes of text in points."""
HANDLE, LETTER, LINE = 0.9, 0.085, 0.21
"""Inches, of a legend: width of a line's picture and the blanks around it, of a letter; height of a line."""
AXES = "xyz"
MARKED = {"png": "Software", "svg": "Creator", "pdf": "Creator"}
"""Entry of the description of a figure that bears the mark."""
UNDATED: dict[str, dict[str, str | None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Without date in the file, equal runs give equal bytes."""
DPI = 150


def panels(rows: int, title: str, columns: int = 1, height: float = PANEL) -> tuple[Figure, list[list[Axes]]]:
    width = WIDTH if columns == 1 else 4.2 * columns + 1.2
    figure = Figure(figsize=(width, max(3.6, 1.0 + height * rows)), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
    figure.suptitle(shortened(title), fontsize=TITLE, parse_math=False)  # of a name with $
    figure.align_ylabels()
    return figure, [list(row) for row in axes]


def shortened(text: str, most: int = 90) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def curve(axes: Axes, time: Floats, values: Floats, place: int, label: str | None = None, **style: Any) -> Line2D:
    """One of several lines: its colour and dashes by its place."""
    width = 1.4 if len(time) <= MOST_POINTS else 0.9
    dashes = DASHES[place % len(DASHES)]
    look = {"color": OKABE_ITO[place % MOST_CURVES], "ls": dashes, "lw": width} | style
    (line,) = axes.plot(*thinned(time, values), label=label, **look)
    return line


def band(axes: Axes, time: Floats, values: Floats, error: Floats, place: int) -> None:
    """What one of several lines may be wrong by; it does not widen the axis beyond twice what the line needs."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    room = max(high - low, np.finfo(float).tiny)
    below, above = (np.clip(values + sign * error, low - room, high + room) for sign in (-1.0, 1.0))
    axes.fill_between(time, below, above, color=OKABE_ITO[place % MOST_CURVES], alpha=0.2, lw=0.0, zorder=0.8)


def thinned(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most ``MOST_POINTS`` points that keep every extreme."""
    if len(values) <= MOST_POINTS:
        return time, values
    rows = extremes(np.stack([values, time], axis=1), -(-len(values) * 4 // MOST_POINTS))
    return rows[:, 1], rows[:, 0]


def finish(results: Results, axes: Sequence[Sequence[Axes]]) -> None:
    """Grid, step boundaries, the time axis and the legend below."""
    for panel in [panel for row in axes for panel in row]:
        tidy(panel)
        panel.margins(x=0.01)
        for boundary in results.boundaries:
            panel.axvline(boundary, color="#888888", lw=0.8, ls=(0, (4, 3)), zorder=0.5)
    name, unit = results.clock
    label = f"{name} [{unit}]" if unit else name
    for panel in axes[-1]:
        panel.set_xlabel(label + (", dashed: start of a step" if len(results.boundaries) else ""))
    legend_below(axes[0][-1])


def tidy(panel: Axes) -> None:
    """No frame, a light grid, fonts to read."""
    panel.grid(True, color="#e2e2e2", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=SMALL)
    panel.xaxis.label.set_fontsize(LABEL)
    panel.yaxis.label.set_fontsize(LABEL)
    panel.yaxis.get_offset_text().set_fontsize(SMALL)
    if panel.get_yscale() == "linear":
        panel.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))


def legend_below(panel: Axes, handles: Sequence[Any] = ()) -> None:
    """The legend of a panel below all axes of its figure, in as many columns as fit; the figure grows by its height."""
    handles = handles or panel.get_legend_handles_labels()[0]
    if not handles:
        return
    figure: Any = panel.figure
    labels = [str(handle.get_label()) for handle in handles]
    lines = [text.split("\n") for text in labels]
    longest, tallest = max(len(part) for text in lines for part in text), max(map(len, lines))
    columns = max(1, min(len(labels), int(figure.get_figwidth() / (HANDLE + LETTER * longest))))
    height = LINE * tallest * -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + height)
    look: dict[str, Any] = {"frameon": False, "handlelength": 3.2, "fontsize": SMALL, "ncols": columns}
    figure.legend(handles=handles, loc="outside lower center", **look)


def legends_beside(panels: Sequence[Axes]) -> None:
    """The legend of each panel to its right, where each has curves of its own; the figure grows by their width."""
    look: dict[str, Any] = {"frameon": False, "handlelength": 3.2, "fontsize": SMALL}
    legends = [panel.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), **look) for panel in panels]
    longest = max(len(text.get_text()) for legend in legends for text in legend.get_texts())
    figure: Any = panels[0].figure
    figure.set_figwidth(figure.get_figwidth() + HANDLE + LETTER * longest)


THOUSANDS = {"k": 2e3, "M": 2e6}
"""Prefixes of units, with the size from which numbers are read better with them."""
PREFIXED = r"N|N m|J|W"
"""SI units that take a prefix."""


def prefixed(unit: str, size: float) -> tuple[float, str]:
    """What to divide numbers up to ``size`` by, and their unit then: 1e3 and kN, 1e6 and MN; 1 and the unit itself
    where it takes no prefix, or the numbers are small."""
    found = (
        [prefix for prefix, least in THOUSANDS.items() if abs(size) >= least] if re.fullmatch(PREFIXED, unit) else []
    )
    return (1e3 ** len(found), found[-1] + unit) if found else (1.0, unit)


def with_unit(results: Results, value: float, formula: str) -> str:
    """A number with its unit, where the heading says SI."""
    factor, unit = prefixed(results.symbol(formula), value)
    return f"{value / factor:.4g} {unit}".strip()


def shorten_numbers(figure: Figure) -> None:
    """Axes in kN and MN where their labels say N and their numbers are large."""
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            found = re.search(rf"\[({PREFIXED})\]", axis.get_label_text())
            size = float(np.abs(axis.get_view_interval()).max())
            if found and axis.get_scale() == "linear" and np.isfinite(size):
                factor, unit = prefixed(found[1], size)
                if factor != 1.0:
                    axis.set_major_formatter(FuncFormatter(lambda value, _, factor=factor: f"{value / factor:g}"))
                    axis.set_label_text(axis.get_label_text().replace(found[0], f"[{unit}]"))


def labelled(results: Results, quantity: str, formula: str) -> str:
    """A quantity with its unit on two lines, for the upright axis of a small panel."""
    return f"{quantity}\n[{results.unit(formula)}]"


def some_of(labels: Sequence[int], most: int = MOST_CURVES) -> list[int]:
    """At most ``most`` places, evenly spread, first and last among them."""
    places = np.linspace(0, len(labels) - 1, min(most, len(labels)))
    return [round(place) for place in places.tolist()]


def part_of(chosen: Sequence[int], every: int) -> str:
    """Which of them are drawn, where it is not all."""
    if len(chosen) == every:
        return ""
    named = ", ".join(map(str, chosen[:MOST_CURVES])) + (", ..." if len(chosen) > MOST_CURVES else "")
    return f": {len(chosen)} of {every} ({named})"


def moving(values: Floats) -> list[int]:
    """Directions of (..., c) in which something happens; never none."""
    largest = np.nanmax(np.abs(values).reshape(-1, values.shape[-1]), axis=0, initial=0.0)
    return [axis for axis in range(len(largest)) if largest[axis] > 1e-10 * largest.max()] or [0]


def save(figure: Figure, path: Path, mark: str) -> None:
    """Write a figure that bears a mark; equal figures give equal bytes."""
    form, content = path.suffix[1:], io.BytesIO()
    shorten_numbers(figure)
    metadata = UNDATED[form] | {MARKED[form]: mark}
    with rc_context({"svg.hashsalt": "fem", "svg.fonttype": "none", "pdf.fonttype": 42}):
        figure.savefig(content, dpi=DPI, format=form, metadata=metadata)
    replace_file(path, content.getvalue())


def save_png(figure: Figure, path: Path) -> None:
    content = io.BytesIO()
    shorten_numbers(figure)
    figure.savefig(content, dpi=130, format="png")
    replace_file(path, content.getvalue())
