"""Figures of a finished run, drawn from its tables: energies, iterations, displacements."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fem.arrays import Floats

MOST_POINTS = 5_000
"""Longer curves are drawn by the smallest and largest value of each of half as many equal shares."""
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Colours that stay apart for colour-blind readers (Okabe and Ito 2008)."""
DASHES = ("-", "--", "-.", ":", "-", "--", "-.", ":")
ENERGY_CURVES = ("kinetic", "strain", "potential", "external_work", "dissipated")
MOST_NODES = 7
ROUND_OFF = 1e-10
"""A direction that moves less than this share of the others does not get a panel."""
SIZE = (9.0, 6.0)
TIME = "time (deck's units)"


def write_plots(folder: Path) -> list[Path]:
    """Draw what the tables in ``folder`` allow; returns the paths of the PNG files.

    No displacements are drawn where ``nodes.csv`` holds fewer than three instants (no ``*NODE PRINT``).
    """
    with (folder / "increments.csv").open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    columns = [names.index(name) for name in ("step", "increment", "time", "iterations", "residual_norm")]
    columns += [names.index(name) for name in (*ENERGY_CURVES, "energy_error")]
    ledger = read_columns(folder / "increments.csv", columns)
    if not len(ledger):
        return []
    boundaries = step_boundaries(ledger[:, 0], ledger[:, 2])
    figures = {
        "energies": energies(ledger[:, 2], ledger[:, 5:], boundaries),
        "iterations": iterations(ledger, boundaries),
    }
    motion = read_columns(folder / "nodes.csv", (2, 3, 4, 5, 6))
    if len(np.unique(motion[:, 0])) >= 3:
        figures["displacements"] = displacements(motion, boundaries)
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        # Without software and date in the file, equal runs give equal bytes.
        figure.savefig(paths[-1], dpi=150, metadata={"Software": None})
    return paths


def energies(time: Floats, ledger: Floats, boundaries: Floats) -> Figure:
    """Energies above, the error of their balance below; ledger (k, 6)."""
    figure = Figure(figsize=SIZE, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for j, name in enumerate(ENERGY_CURVES):
        # Stored energies of prestress and position have no zero of their own: shown as changes.
        start = ledger[0, j] if name in ("strain", "potential") else 0.0
        curve = thinned(time, ledger[:, j] - start)
        # The last one is solid: below the others, so that curves at zero stay visible.
        order = 1.9 if name == ENERGY_CURVES[-1] else 2.0
        upper.plot(
            *curve,
            DASHES[j],
            color=OKABE_ITO[j],
            lw=1.5,
            label=name.replace("_", " ") + (f" (less {start:.4g})" if start else ""),
            zorder=order,
        )
    upper.set_ylabel("energy (deck's units)")
    upper.set_title("Energies")
    legend_beside(upper)
    lower.plot(*thinned(time, ledger[:, 5]), color="#000000", lw=1.2)
    lower.set_ylabel("energy error")
    finish((upper, lower), boundaries)
    return figure


def iterations(ledger: Floats, boundaries: Floats) -> Figure:
    """Linear solves per increment above, the residual norm they ended with below."""
    figure = Figure(figsize=SIZE, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    time, count, residual = ledger[ledger[:, 1] > 0, 2:5].T
    size = 3.0 if len(time) > 300 else 6.0
    upper.plot(*thinned(time, count), ".", color=OKABE_ITO[0], ms=size)
    upper.set_ylabel("linear solves per increment")
    share = -(-2 * len(time) // MOST_POINTS)
    upper.set_title("Iterations" + (f", smallest and largest of every {share} increments" if share > 2 else ""))
    upper.set_ylim(0.0, max(1.0, float(count.max(initial=0.0))) * 1.08)
    upper.yaxis.set_major_locator(MaxNLocator(integer=True))
    if np.any(residual > 0.0):
        lower.semilogy(*thinned(time, np.where(residual > 0.0, residual, np.nan)), ".", color=OKABE_ITO[1], ms=size)
    lower.set_ylabel("residual norm")
    finish((upper, lower), boundaries)
    first, last = float(ledger[0, 2]), float(ledger[-1, 2])
    if last > first:
        margin = 0.01 * (last - first)
        lower.set_xlim(first - margin, last + margin)
    return figure


def displacements(motion: Floats, boundaries: Floats) -> Figure:
    """U of the printed nodes, one panel per direction that moves; motion (rows, 5): time, node, U1, U2, U3."""
    labels = list(dict.fromkeys(motion[:, 1].tolist()))
    chosen = labels
    if len(labels) > MOST_NODES:
        chosen = [labels[j] for j in np.linspace(0, len(labels) - 1, MOST_NODES).round().astype(int)]
    largest = [float(np.nanmax(np.abs(motion[:, 2 + axis]))) for axis in range(3)]
    moving = [axis for axis in range(3) if largest[axis] > ROUND_OFF * max(largest)] or [0]
    figure = Figure(figsize=(SIZE[0], 1.8 + 2.2 * len(moving)), layout="constrained")
    panels = list(figure.subplots(len(moving), 1, sharex=True, squeeze=False)[:, 0])
    for j, label in enumerate(chosen):
        rows = motion[motion[:, 1] == label]
        for panel, axis in zip(panels, moving, strict=True):
            curve = thinned(rows[:, 0], rows[:, 2 + axis])
            panel.plot(*curve, DASHES[j], color=OKABE_ITO[j], lw=1.3, label=f"node {label:.0f}")
    for panel, axis in zip(panels, moving, strict=True):
        panel.set_ylabel(f"U{axis + 1} (deck's units)")
    some = f", {len(chosen)} of {len(labels)}" if len(chosen) < len(labels) else ""
    panels[0].set_title(f"Displacements of the printed nodes{some}")
    legend_beside(panels[0])
    finish(panels, boundaries)
    return figure


def legend_beside(axes: Axes) -> None:
    """Right of the axes, never over the data."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)


def finish(panels: list[Axes] | tuple[Axes, ...], boundaries: Floats) -> None:
    """Grid, step boundaries and the time axis."""
    for panel in panels:
        panel.grid(True, color="#dddddd", lw=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
        panel.margins(x=0.01)
        for boundary in boundaries:
            panel.axvline(boundary, color="#888888", lw=0.8, ls=(0, (4, 3)), zorder=0.5)
    panels[-1].set_xlabel(TIME + (", dashed: a new step" if len(boundaries) else ""))


def step_boundaries(step: Floats, time: Floats) -> Floats:
    """Total times at which a later step begins."""
    return time[1:][np.diff(step) > 0]


def thinned(time: Floats, values: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """At most ``most`` points that keep every extreme: smallest and largest of each share, in their order."""
    if len(values) <= most:
        return time, values
    edges = np.linspace(0, len(values), most // 2 + 1).astype(int)
    keep = []
    for first, last in pairwise(edges):
        share = values[first:last]
        if np.isnan(share).all():
            keep.append(first)
            continue
        keep += sorted({first + int(np.nanargmin(share)), first + int(np.nanargmax(share))})
    return time[keep], values[keep]


def read_columns(path: Path, columns: list[int] | tuple[int, ...]) -> Floats:
    """(rows, columns) of a table; a table without lines gives none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*input contained no data.*")
        table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=columns, ndmin=2)
    return table.reshape(-1, len(columns))
