"""What the cases share: decks, variants of them, rows of a history, crossings, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

import fem
from fem.lines.pendulums import Pendulum, deck_text
from fem.runs.record import Requests, Rows, SilentSink
from fem.solve.loop import solve
from fem.study.exponents import Lyapunov
from fem.study.points import make_grid
from fem.study.sweep import Sweep, carry_out, computed, make_plan
from fem.study.table import sweep_folder

Array = NDArray[np.float64]
INPUTS = Path(__file__).resolve().parent.parent / "inputs"
# Okabe and Ito's palette, told apart by all kinds of colour vision.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def deck(name: str, parameters: Mapping[str, float] | None = None) -> Any:
    """The model of ``inputs/<name>.inp``."""
    return fem.read_deck(INPUTS / f"{name}.inp", parameters=dict(parameters or {}))


def with_procedure(model: Any, step: int, **changes: Any) -> Any:
    """The same model with fields of one step's procedure changed (dt, period, integrator...); ``step`` from 1."""
    steps = list(model.steps)
    steps[step - 1] = replace(steps[step - 1], procedure=replace(steps[step - 1].procedure, **changes))
    return replace(model, steps=tuple(steps))


def with_controls(model: Any, **changes: Any) -> Any:
    """The same model with fields of the controls of every step changed (tolerances, energy drift...)."""
    steps = (replace(step, controls=replace(step.controls, **changes)) for step in model.steps)
    return replace(model, steps=tuple(steps))


def of_links(described: Pendulum) -> Any:
    """The model of a pendulum of N links."""
    return fem.parse_deck(deck_text(described), name=f"pendulum_{described.links}")


def link_angles(history: Any) -> Array:
    """(k, N) angles of the links of such a pendulum from the downward vertical [rad], continuous in time."""
    x = history.mesh.coordinates + history.u.reshape(len(history.time), -1, 3)
    d = np.diff(x, axis=1)
    return np.asarray(np.unwrap(np.arctan2(d[..., 0], -d[..., 2]), axis=0))


class Forces(SilentSink):
    """Sizes (k, n) of RF at n nodes over time (k,), and nothing else of a long run."""

    def __init__(self, model: Any, labels: Sequence[int]) -> None:
        self.model, self.time, self.found = model, list[Any](), list[Any]()
        self.nodes = [int(model.mesh.nodes_of(label)[0]) for label in labels]

    def rows(self, rows: Rows) -> None:
        """Those of some increments."""
        chosen = rows.nodes.searchsorted(self.nodes)
        self.time.append(rows.time)
        self.found.append(np.linalg.norm(rows.values(self.model)["n"]["RF"][:, chosen], axis=-1))


def reactions(model: Any, labels: Sequence[int]) -> tuple[Array, Array]:
    """Run a model that prints RF: time (k,), sizes of RF (k, n) at these nodes."""
    sink = Forces(model, labels)
    solve(model, sink, Requests(fields=False))
    return np.concatenate(sink.time), np.concatenate(sink.found)


def end_of(history: Any, step: int) -> int:
    """Row of the last increment of a step."""
    return int(np.flatnonzero(np.asarray(history.step) == step)[-1])


def crossings(time: Array, x: Array, v: Array) -> Array:
    """Times at which x = 0, by the cubic through values and slopes of each interval (Hermite), error O(dt^4)."""
    found = []
    for k in np.flatnonzero(np.sign(x[:-1]) * np.sign(x[1:]) < 0):
        h = time[k + 1] - time[k]
        a, b, va, vb = x[k], x[k + 1], h * v[k], h * v[k + 1]
        roots = np.roots([2 * (a - b) + va + vb, 3 * (b - a) - 2 * va - vb, va, a])
        real = roots[np.abs(roots.imag) < 1e-9].real
        inside = real[(real >= 0) & (real <= 1)]
        found.append(time[k] + h * inside[0])
    return np.array(found)


def orders(errors: Array, ratio: float = 2.0) -> Array:
    """Observed orders between successive refinements."""
    return np.asarray(np.log(errors[:-1] / errors[1:]) / np.log(ratio))


def figure(title: str, x_label: str, y_label: str) -> tuple[Figure, Any]:
    """An empty labelled figure and its axes; legends go outside through ``legend``."""
    sheet, (axes,) = panels(title, x_label, y_label)
    return sheet, axes


def panels(title: str, x_label: str, *y_labels: str) -> tuple[Figure, Any]:
    """An empty figure of panels above each other, one per y label, and their axes."""
    sheet = Figure(figsize=(8.0, 1.7 + 2.8 * len(y_labels)), layout="constrained")
    column = sheet.subplots(len(y_labels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, y_label in zip(column, y_labels, strict=True):
        axes.set_ylabel(y_label)
        axes.grid(True, color="#DDDDDD", linewidth=0.6)
        axes.set_axisbelow(True)
    column[0].set_title(title)
    column[-1].set_xlabel(x_label)
    return sheet, column


def legend(axes: Any) -> None:
    """A legend beside the data, not on it."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def swept(
    name: str, vary: Mapping[str, Sequence[float]], fixed: Mapping[str, float], folder: Path, asked: Lyapunov
) -> Sweep:
    """Exponents of ``inputs/string_pendulum_<name>.inp``; an unfinished table in the folder is completed."""
    path = INPUTS / f"string_pendulum_{name}.inp"
    plan = make_plan(path, make_grid(vary), fixed, False, lambda _: asked)
    with sweep_folder(folder, plan.model, plan.identity, asked.kind, asked.figures) as own:
        return carry_out(plan, own, partial(computed, plan, workers=None, scheduler=None), False)


def exponents(title: str, parts: Mapping[str, Any]) -> Figure:
    """Largest Lyapunov exponents of sweeps over the amplitude A, error bars as bands."""
    sheet, axes = figure(title, "amplitude A [m]", "largest Lyapunov exponent [1/s]")
    for (label, part), colour, line in zip(
        parts.items(), (BLUE, RED, GREEN, ORANGE), ("-", "--", "-.", ":"), strict=False
    ):
        a, exponent, error = part["A"], part["exponent_1"], part["error_1"]
        axes.plot(a, exponent, line, marker=".", color=colour, label=label, linewidth=1.2, markersize=4)
        axes.fill_between(a, exponent - error, exponent + error, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xlim(0.0, 15.0)
    legend(axes)
    return sheet


def convergence(title: str, x_label: str, y_label: str, steps: Array, errors: Array, order: float) -> Figure:
    """Errors against step on log axes, above a line of the slope they should have."""
    sheet, axes = figure(title, x_label, y_label)
    axes.loglog(steps, errors, "o-", color=BLUE, label="measured")
    axes.loglog(steps, 0.6 * errors[-1] * (steps / steps[-1]) ** order, "--", color=GREY, label=f"slope {order:g}")
    axes.set_xticks(steps, [f"{step:.3g}" for step in steps])
    axes.xaxis.set_minor_locator(NullLocator())
    legend(axes)
    return sheet
