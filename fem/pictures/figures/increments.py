"""Figures of ``increments.csv``: energies with the error of their balance, and iterations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fem.arrays import Floats
from fem.pictures.folder import Results
from fem.pictures.style import OKABE_ITO, WIDTH, curve, finish, thinned

CURVES = ("kinetic", "potential", "strain", "total", "external work", "dissipated")


def energy_curves(results: Results) -> Iterator[tuple[str, Floats, float]]:
    """Name, values, and the value that they begin with where they have no zero of their own: so do stored energies
    of prestress and position, which are shown as changes. Work and dissipated energy where there are any.
    """
    kinetic, strain, potential, work, dissipated = results.increments[:, 5:10].T
    total = kinetic + strain + potential
    for name, values in zip(CURVES, (kinetic, potential, strain, total, work, dissipated), strict=True):
        if name in CURVES[:4] or values.any():
            yield name, values, float(values[0]) if name in ("potential", "strain", "total") else 0.0


def energies(results: Results) -> Figure:
    """Energies above, the magnitude of the error of their balance below."""
    time, error = results.increments[:, 2], results.increments[:, 10]
    figure = Figure(figsize=(WIDTH, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1))
    figure.suptitle("Energies", fontsize=12)
    for name, values, start in energy_curves(results):
        look = {"color": "#000000", "ls": "-", "lw": 2.0, "zorder": 1.9} if name == "total" else {"lw": 1.6}
        place = 6 if name == "total" else CURVES.index(name)
        curve(upper, time, values - start, place, name + (f"\n(less {start:.4g})" if start else ""), **look)
    upper.set_ylabel(f"energy [{results.unit('energy')}]" if results.is_si else "energy")
    size = np.abs(error)
    if np.any(size > 0.0):
        lower.semilogy(*thinned(time, np.where(size > 0.0, size, np.nan)), color="#000000", lw=1.1)
    else:
        lower.text(0.5, 0.5, "zero throughout", ha="center", va="center", transform=lower.transAxes)
        lower.set_yticks([])
    lower.set_ylabel(f"|energy error| [{results.unit('energy')}]" if results.is_si else "|energy error|")
    finish(results, [[upper], [lower]])
    return figure


def iterations(results: Results) -> Figure:
    """Linear solves per increment above, the residual norm they ended with below."""
    rows = results.increments[results.increments[:, 1] > 0]
    time, count, residual = rows[:, 2:5].T
    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    size = 3.0 if len(time) > 300 else 6.0
    points = thinned(time, count)
    upper.plot(*points, ".", color=OKABE_ITO[0], ms=size)
    upper.set_ylabel("iterations")
    few = "" if len(points[0]) == len(time) else ": extremes of equal shares"
    figure.suptitle(f"Iterations of {len(time)} increments{few}", fontsize=12)
    if np.any(residual > 0.0):
        lower.semilogy(*thinned(time, np.where(residual > 0.0, residual, np.nan)), ".", color=OKABE_ITO[1], ms=size)
    lower.set_ylabel("relative residual")
    finish(results, [[upper], [lower]])
    upper.set_ylim(0.0, max(1.0, float(count.max(initial=0.0))) * 1.12)
    upper.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    first, last = results.increments[[0, -1], 2].tolist()
    if last > first:
        margin = 0.01 * (last - first)
        lower.set_xlim(first - margin, last + margin)
    return figure
