"""SDNL100, the headline: a pendulum of one stiff bar, published table, iteration counts, order of convergence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import pendulum, sdnl100

NAME = "sdnl100"
TITLE = "pendulum in great oscillation (Code_Aster V5.02.100)"
SOURCE = (
    "Code_Aster validation manual V5.02.100; deck inputs/sdnl100.inp. The period belongs to a point mass at the centre "
    "of the bar (ONE POINT mass); the period of a uniform rod is 1.93333 s. The manual prints T = 1.6744 s; "
    "twelve terms of its (corrected) series give 1.67431 s, the elliptic integral 1.67431710 s."
)
LONG = False

OMEGA0 = pendulum.point_mass(0.5, 9.81)
AMPLITUDE = np.pi / 2
PERIOD = pendulum.period(OMEGA0, AMPLITUDE)
AXES = {0: "DX", 2: "DZ"}
DIVISIONS = (40, 80, 160, 320, 640)


def run(folder: Path) -> Outcome:
    """One period at T/40 against the published numbers, then finer increments against the exact motion."""
    model = tools.deck("sdnl100")
    history = fem.run(model)
    errors = [angle_errors(_divided(model, n)) for n in DIVISIONS]
    largest = np.array([np.abs(error).max() for error in errors])
    rows = [*_published(history), *_iterations(history), *_accuracy(largest), _drift()]
    figures = {
        "motion": _motion_figure(history),
        "iterations": _iteration_figure(history),
        "energy": _energy_figure(history),
        "convergence": tools.convergence(
            "SDNL100: error against the exact pendulum, trapezoidal rule",
            "increment / printed period",
            "largest angle error in one period [rad]",
            1 / np.array(DIVISIONS),
            largest,
            2.0,
        ),
    }
    listed = ", ".join(f"T/{n}: {error:.3g}" for n, error in zip(DIVISIONS, largest, strict=True))
    observed = ", ".join(f"{order:.3f}" for order in tools.orders(largest))
    remarks = (
        f"Largest angle error in the period [rad]: {listed}; observed orders: {observed}.",
        f"Energy error at T/40 in the first period: {history.energy_error_text}.",
    )
    return Outcome(tuple(rows), figures, remarks)


def _divided(model: Any, increments: int) -> Any:
    """History of one printed period in ``increments`` increments."""
    return fem.run(tools.with_procedure(model, 1, dt=sdnl100.PERIOD_PRINTED / increments))


def angle(history: Any) -> np.ndarray:
    """Angle from the downward vertical [rad] of the bar 1-2, continuous in time."""
    u = history.of_node(2)
    return np.unwrap(np.arctan2(1.0 + u[:, 0], -u[:, 2]))


def angle_errors(history: Any) -> np.ndarray:
    """Angle less the exact one at the 41 instants of T/40."""
    stride = (len(history.time) - 1) // 40
    exact, _ = pendulum.motion(np.asarray(history.time), OMEGA0, AMPLITUDE)
    return np.asarray(angle(history) - exact)[::stride]


def _published(history: Any) -> list[Row]:
    """The eight displacements of the manual, and Code_Aster's own digits."""
    u, rows = history.of_node(2), []
    for increment, axis, value, kind, tolerance, own in sdnl100.PUBLISHED:
        name = f"{AXES[axis]}(N2), increment {increment}"
        computed = float(u[increment, axis])
        rows.append(
            Row(Target(name, value, kind, "published: V5.02.100, section 4.1, its tolerance", tolerance), computed)
        )
        source = "published: Code_Aster's printed value; the same method, so only its last digits differ: 3e-12"
        rows.append(Row(Target(f"{name}, Code_Aster's own", own, "absolute", source, 1e-11), computed))
    return rows


def _iterations(history: Any) -> list[Row]:
    """Published counts, and the whole list."""
    counts = [int(count) for count in history.iterations[1:41]]
    rows = [
        Row(Target(f"iterations, increment {k}", n, "exact", "published: V5.02.100, section 4.1"), counts[k - 1])
        for k, n in sdnl100.PUBLISHED_ITERATIONS.items()
    ]
    agree = sum(a == b for a, b in zip(counts, sdnl100.ITERATIONS, strict=True))
    source = "regression: 40 counts of an independent run of Code_Aster's recipe"
    rows.append(Row(Target("increments whose count agrees, of 40", 40, "exact", source), agree))
    return rows


def _accuracy(largest: np.ndarray) -> list[Row]:
    """How near to the exact motion finer increments come, and how fast."""
    source = "analytic: elliptic functions; one and a half times the second-order error at T/640, 3.2e-4"
    rows = [Row(Target("largest angle error [rad] with T/640", 0.0, "absolute", source, 5e-4), float(largest[-1]))]
    source = "analytic: trapezoidal rule, order 2; 0.015 for the fourth-order term (0.005)"
    pairs = list(zip(DIVISIONS[:-1], DIVISIONS[1:], tools.orders(largest), strict=True))
    for coarse, fine, order in pairs[2:]:
        rows.append(Row(Target(f"order in dt, T/{coarse} to T/{fine}", 2.0, "order", source, 0.015), float(order)))
    return rows


def _drift() -> Row:
    """The continued run has to stop, soon after one period."""
    source = "regression: prototype of the same method, 10 % drift after 1.18 T; half an increment of 0.025 T"
    target = Target(
        "time / T at which a run of three periods at T/40 stops by energy drift", 1.18, "absolute", source, 0.0125
    )
    try:
        fem.run(tools.deck("sdnl100_3periods"))
    except fem.EnergyDrift as drift:
        return Row(target, float(drift.history.time[-1] / PERIOD))
    return Row(target, float("nan"))


def _motion_figure(history: Any) -> Any:
    sheet, axes = tools.figure("SDNL100: displacement of the tip", "time [s]", "displacement [m]")
    fine = np.linspace(0, sdnl100.PERIOD_PRINTED, 400)
    theta, _ = pendulum.motion(fine, OMEGA0, AMPLITUDE)
    u = history.of_node(2)
    for axis, exact, colour in ((0, np.sin(theta) - 1, tools.BLUE), (2, -np.cos(theta), tools.RED)):
        axes.plot(fine, exact, "-", color=colour, linewidth=1, label=f"{AXES[axis]}, exact")
        marker = "o" if axis == 0 else "s"
        axes.plot(history.time, u[:, axis], marker, color=colour, markersize=4, label=f"{AXES[axis]}, T/40")
    published = [(k * sdnl100.PERIOD_PRINTED / 40, value) for k, _, value, *_ in sdnl100.PUBLISHED]
    axes.plot(*zip(*published, strict=True), "x", color="black", markersize=8, label="published reference")
    tools.legend(axes)
    return sheet


def _iteration_figure(history: Any) -> Any:
    sheet, axes = tools.figure("SDNL100: linear solves per increment", "increment", "iterations")
    axes.bar(np.arange(1, 41), history.iterations[1:41], color=tools.BLUE, label="this run")
    axes.plot(np.arange(1, 41), sdnl100.ITERATIONS, "_", color="black", markersize=9, label="expected")
    marked = sdnl100.PUBLISHED_ITERATIONS
    axes.plot(list(marked), list(marked.values()), "D", color=tools.ORANGE, markersize=6, label="published")
    tools.legend(axes)
    return sheet


def _energy_figure(history: Any) -> Any:
    sheet, axes = tools.figure("SDNL100: energy error of the trapezoidal rule at T/40", "time [s]", "energy error [J]")
    axes.plot(history.time, history.energy_error, "o-", color=tools.BLUE, markersize=4)
    axes.axhline(0, color="black", linewidth=0.8)
    return sheet
