"""Results in notebooks (HTML, ``pandas.DataFrame``, ``xarray.Dataset``) with units, and the energy error in words.

Units are known only if the heading of the deck contains the word SI.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats, Ints
from fem.errors import CommandError, lacks
from fem.model import Model
from fem.model.named import COLUMNS, NAME, split
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL, Quantity, says_si

STORED = ("kinetic", "strain", "potential")
MOST_POINTS = 1_000
"""Points of a curve in a small plot."""
MOST_ROWS = 8
"""Rows of a sweep that are shown: the first ones and the last."""


def history_html(
    model: Model, increments: Columns, energy_error: str, modes: Sequence[Floats], notices: Sequence[str]
) -> str:
    """Kind of run, counts, energies over time; ``modes``: frequencies of each step that requested some."""
    time = increments["time"]
    facts = {
        "model": f"{len(model.mesh.node_labels)} nodes, {len(model.mesh.element_labels)} elements",
        "rows": f"{len(time)}" + (f", time {time[0]:.6g} to {time[-1]:.6g}" if len(time) else ""),
        "iterations": f"{increments['iterations'].sum()}",
        "energy error": energy_error,
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
    """The first and the last rows, and a plot of the result that varies most over the first parameter."""
    facts = {"parameter sets": f"{len(table['point'])} over {', '.join(names)}", "failed": failures}
    plot = ""
    came_out = [name for name in table if name.endswith(("_end", "_max", "_1")) and not name.startswith("time")]
    chosen = [name for name in came_out if np.isfinite(table[name]).any() and np.ptp(table[name]) > 0.0][-1:]
    if len(names) == 1 and len(table["point"]) > 2 and chosen:
        plot = small_plot(table[names[0]], {chosen[0]: table[chosen[0]]}, names[0], chosen[0])
    count = len(table["point"])
    places = [*range(min(count, MOST_ROWS)), *([count - 1] if count > MOST_ROWS else [])]
    columns = list(table)[: 3 + len(names) + MOST_ROWS]
    head = "".join(f"<th>{escaped(name)}</th>" for name in columns)
    lines = ["".join(f"<td>{cell(table[name][place])}</td>" for name in columns) for place in places]
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return block("Sweep", facts, f"<table><tr>{head}</tr>{rows}</table>{plot}")


def escaped(text: str) -> str:
    from html import escape  # which takes 2 ms of every start

    return escape(text)


def cell(value: Any) -> str:
    """A number in few digits, or a text."""
    return f"{value:.6g}" if isinstance(value, float | np.floating) else escaped(str(value))


def block(title: str, facts: Mapping[str, str], rest: str) -> str:
    """A title, facts, and further content."""
    known = ((name, text) for name, text in facts.items() if text)
    rows = "".join(f'<tr><th style="text-align:left">{name}</th><td>{escaped(text)}</td></tr>' for name, text in known)
    return f"<div><b>{escaped(title)}</b><table>{rows}</table>{rest}</div>"


def small_plot(x: Floats, curves: Mapping[str, Floats], across: str, upright: str) -> str:
    """Curves as inline SVG, on white, so that it is readable in dark notebooks, too."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    panel = figure.subplots()
    thin = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    for name, values in curves.items():
        panel.plot(x[thin], values[thin], lw=1.2, label=name)
    panel.set(xlabel=across, ylabel=upright)
    panel.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        figure.legend(frameon=False, loc="outside lower center", ncols=min(len(curves), 5))
    return as_svg(figure)


def as_svg(figure: Any) -> str:
    """A figure as the element ``<svg>`` with real text; equal figures give equal bytes."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.hashsalt": "fem", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    found = text.getvalue()
    return found[found.index("<svg") :]


AXES = ("time", "node", "axis")


def library(name: str) -> Any:
    """A library of the extra ``notebook``. CommandError: it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise CommandError(lacks(name, "notebook")) from None


def frame_of(table: Columns, is_si: bool, parameters: Collection[str] = ()) -> Any:
    """A table as ``pandas.DataFrame``; in SI ``attrs["units"]`` has the unit of each column that has one.
    parameters  columns without known units, whatever their names"""
    frame = library("pandas").DataFrame(table)
    known = [name for name in table if is_si and name not in parameters]
    frame.attrs["units"] = {name: unit for name in known if (unit := si_unit(name))}
    return frame


def dataset_of(model: Model, increments: Columns, motion: Floats, elements: Floats) -> Any:
    """Results of a history over time, node and axis, or time and element; in SI every variable has its unit."""
    mesh, is_si = model.mesh, says_si(model.heading)

    def described(quantity: Quantity) -> dict[str, str]:
        unit = unit_of(quantity.unit, is_si) if is_si else ""
        return {"long_name": quantity.field} | ({"units": unit} if unit else {})

    counts = {name: ("time", values) for name, values in increments.items() if name != "time"}
    recorded = NODAL[: motion.shape[1]]
    nodal = {each.name: (AXES, motion[:, k], described(each)) for k, each in enumerate(recorded)}
    axes = ("time", "element")
    recorded = ELEMENTAL[: elements.shape[2]]
    elemental = {each.name: (axes, elements[:, :, k], described(each)) for k, each in enumerate(recorded)}
    coordinates = {
        "time": ("time", increments["time"], {"units": "s"} if is_si else {}),
        "node": mesh.node_labels,
        "axis": [1, 2, 3],
        "element": mesh.element_labels,
        "X": (AXES[1:], mesh.coordinates, {"long_name": "reference position"} | ({"units": "m"} if is_si else {})),
    }
    found = library("xarray").Dataset(nodal | elemental | with_units(counts, is_si), coordinates)
    return found.assign_attrs(heading="\n".join(model.heading), source=model.source)


def with_units(variables: Mapping[str, tuple[Any, np.ndarray]], is_si: bool) -> dict[str, tuple[Any, ...]]:
    """Variables of a data set with their units, as far as known."""
    units = {name: {"units": unit} for name in variables if is_si and (unit := si_unit(name))}
    return {name: (*variable, units.get(name, {})) for name, variable in variables.items()}


def grid_of(table: Columns, names: Iterable[str], is_si: bool) -> Any:
    """A sweep as a data set with one axis for each parameter."""
    values = {name: np.array(list(dict.fromkeys(table[name].tolist()))) for name in names}
    shape = tuple(map(len, values.values()))
    columns = {name: (tuple(values), column.reshape(shape)) for name, column in table.items() if name not in values}
    return library("xarray").Dataset(with_units(columns, is_si), values)


SI = {"length": "m", "time": "s", "force": "N", "energy": "J", "mass": "kg"}
FORMULAS = {"time": "time", "dt": "time", "frequency": "1/time", "omega": "1/time"}
"""Column of a table -> formula of its unit, for columns that are not quantities of nodes, elements or the model."""


def unit_of(formula: str, is_si: bool) -> str:
    """``length/time`` as such, or with SI symbols."""
    return re.sub(r"[a-z]+", lambda word: SI.get(word[0], word[0]), formula) if is_si else formula


def si_unit(column: str) -> str:
    """SI unit of a column of a table or sweep (``U1_2_end``: U1 of node 2 at the end; ``T_e12_mean``); empty:
    dimensionless."""
    own = {"damage": "", "rate": "1/time", "Tz": "time", "skew": "", "cycles": "", "time": "time"}
    column = re.sub("_(low|high|err)$", "", column)
    name, statistic = split(column, ("end", "min", "max", "mean", "std", "largest", "extreme", *own))
    found = NAME.fullmatch(name)
    if statistic in own:
        return unit_of(own[statistic], True) if found else ""
    bare = found[1] if found else "frequency" if name.startswith("frequency_") else name
    units = (known[bare][0].unit for known in COLUMNS.values() if bare in known)
    return unit_of(FORMULAS.get(bare) or next(units, ""), True)


EXCHANGED = tuple(ENERGIES)[:4]


ROUND_OFF = 1e-12
"""Changes below this fraction of the largest energy are rounding errors and do not count as exchanged."""


@dataclass(slots=True)
class Exchange:
    """Energy exchanged so far. start: kinetic, strain, potential energy and work at the start of the step."""

    largest: float = 0.0
    start: list[float] | None = None

    def add(self, energies: Floats) -> None:
        """Rows (k, 4) of one step that follow those before; NaN where an energy is not known."""
        if self.start is None:
            self.start = energies[0].tolist()
        changes = np.abs(energies - self.start)
        changes[changes <= ROUND_OFF * np.fmax.reduce(np.abs(energies), axis=None, initial=0.0)] = 0.0
        self.largest = max(self.largest, float(np.fmax.reduce(changes, axis=None, initial=0.0)))


def energies_of(rows: Any) -> Floats:
    """(k, 4) energies of the rows of a sink."""
    return np.stack([getattr(rows, name) for name in EXCHANGED], axis=1)


def exchanged(step: Ints | Floats, energies: Floats) -> float:
    """Energy exchanged, from rows (k, >= 4) with their step numbers (k,)."""
    found = Exchange()
    for number in np.unique(step):
        found.start = None
        found.add(energies[step == number, : len(EXCHANGED)])
    return found.largest


EXPLAINS = 0.995
"""If the error is a larger fraction of the energy exchanged than this, no percentage is given."""


def energy_error_text(error: float, of: float, heading: Any = ()) -> str:
    """``0.202 J, 4.1 % of the energy exchanged``.

    error    energy error, or its change in a step;  of: energy exchanged; the share is omitted if this is no larger
             than the error, as in uniform motion
    heading  of the deck, which says whether units are SI
    """
    if math.isnan(error):
        return "not known"
    size = f"{error + 0.0:.3g}" + (f" {SI['energy']}" if says_si(heading) else "")
    if not abs(error) < EXPLAINS * of:
        return size
    return f"{size}, {100.0 * abs(error) / of:.2g} % of the energy exchanged"
