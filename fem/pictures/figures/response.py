"""Harmonic motion over the frequency: amplitudes and phases of nodes and elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.model.quantities import QUANTITIES
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results, Table
from fem.pictures.style import curve, labelled, legend_beside, panels, some_of, tidy

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
    share: str


def response(results: Results) -> Figure:
    """Amplitude left, phase right, over the frequency; of the last step that has them."""
    found = {each.name: each for kind in ("NODE", "EL") for each in drawn_of(results, kind)}
    chosen = [found[name] for name in PREFERRED if name in found][:MOST_ROWS]
    if not chosen:
        raise Missing(f"steady_nodes.csv and steady_elements.csv hold less than {LEAST_INSTANTS} frequencies of a step")
    figure, rows = panels(len(chosen), "Harmonic response: amplitude cos(2π f t + phase)", 2, 2.6)
    for (left, right), each in zip(rows, chosen, strict=True):
        draw_row(results, left, right, each)
    label = f"frequency f [1/{results.unit('time')}]"
    for panel in rows[-1]:
        panel.set_xlabel(label)
    return figure


def draw_row(results: Results, left: Axes, right: Axes, each: Drawn) -> None:
    """One quantity."""
    ratio = each.frequency[-1] / each.frequency[0]
    for place, label in enumerate(each.labels):
        size = each.amplitude[place]
        curve(left, each.frequency, np.where(size > 0.0, size, np.nan), place)
        curve(right, *with_breaks(each.frequency, each.phase[place]), place, label)
    for panel in (left, right):
        panel.set_xscale("log" if ratio > 10.0 else "linear")
    left.set_yscale("log")
    left.set_ylabel(labelled(results, f"amplitude of {each.name}", each.unit))
    right.set_ylabel("phase\n[degrees]")
    right.set_ylim(-190.0, 190.0)
    tidy(left)
    tidy(right)
    right.set_yticks([-180, -90, 0, 90, 180])
    legend_beside(right)
    if each.share:
        left.set_title(f"{each.name}{each.share}", fontsize=9)


def with_breaks(frequency: Floats, phase: Floats) -> tuple[Floats, Floats]:
    """No line where the phase jumps from one end of its range to the other."""
    jumps = np.flatnonzero(np.abs(np.diff(phase)) > 180.0) + 1
    return np.insert(frequency, jumps, np.nan), np.insert(phase, jumps, np.nan)


def drawn_of(results: Results, kind: str) -> Iterator[Drawn]:
    """What a table holds of the last step that is in it."""
    item, name = ("node", "steady_nodes") if kind == "NODE" else ("element", "steady_elements")
    table = Table(results.folder / f"{name}.csv")
    if not table.columns:
        if not (results.folder / "steady.csv").is_file():
            raise Missing("there is no steady.csv: the deck has no *STEADY STATE DYNAMICS")
        return
    rows = np.concatenate([np.empty((0, len(table.columns))), *table.blocks(table.columns)])
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
        kept = curves[some_of(range(len(curves)))].tolist()
        ats, axes = (list(each) for each in zip(*kept, strict=True))
        names = [f"{quantity.columns[axis]} of {item} {labels[at]:.0f}" for at, axis in kept]
        share = f": {len(kept)} of {len(curves)} curves" if len(kept) < len(curves) else ""
        yield Drawn(quantity.name, quantity.unit, names, frequency, amplitude[ats, :, axes], phase[ats, :, axes], share)
