"""SDLL135E: an axial wave in a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import published, wave

NAME = "sdll135e"
TITLE = "axial wave in a pipe (Code_Aster astest sdll135e)"
SOURCE = "Published end displacements of Code_Aster; d'Alembert's solution. Deck inputs/sdll135e.inp, 200 bars."
LONG = False

LENGTH, STIFFNESS, SPEED, FORCE = 1.0, 2e11 * 9.73894e-3, np.sqrt(2e11 / 7830), np.sqrt(0.5)


def run(folder: Path) -> Outcome:
    """End displacement at three instants, and the force front on its way."""
    history = fem.run(tools.deck("sdll135e"))
    time, end = np.asarray(history.time), history.of_node(201)[:, 0]
    rows = []
    for instant, value in published.SDLL135E_DISPLACEMENT:
        k = int(np.argmin(np.abs(time - instant)))
        computed, name = float(end[k]), f"end displacement [m] at {instant:g} s"
        limit = published.SDLL135E_TOLERANCE
        rows.append(Row(Target(name, value, "relative", "published: sdll135e.comm, its tolerance", limit), computed))
        exact = wave.displacement(LENGTH, instant, LENGTH, STIFFNESS, SPEED, FORCE)
        why = "analytic: d'Alembert; three times the error of 200 bars while the front passes"
        rows.append(Row(Target(name, exact, "relative", why, 3.5e-4), computed))
    return Outcome(tuple(rows), {"end": _end_figure(history), "front": _front_figure(history)})


def _end_figure(history: Any) -> Any:
    sheet, axes = tools.figure("SDLL135E: displacement of the pulled end", "time [ms]", "displacement [1e-10 m]")
    time = np.asarray(history.time)
    exact = np.array([wave.displacement(LENGTH, t, LENGTH, STIFFNESS, SPEED, FORCE) for t in time])
    axes.plot(1e3 * time, 1e10 * history.of_node(201)[:, 0], color=tools.BLUE, label="200 bars")
    axes.plot(1e3 * time, 1e10 * exact, "--", color=tools.ORANGE, label="d'Alembert")
    points = np.array(published.SDLL135E_DISPLACEMENT)
    axes.plot(1e3 * points[:, 0], 1e10 * points[:, 1], "D", color="black", markersize=5, label="published")
    tools.legend(axes)
    return sheet


def _front_figure(history: Any) -> Any:
    sheet, axes = tools.figure("SDLL135E: force in the pipe, front half-way", "x [m]", "normal force N [N]")
    k = int(np.argmin(np.abs(np.asarray(history.time) - 0.5 * LENGTH / SPEED)))
    order = np.argsort(history.mesh.element_labels)
    middle = (np.arange(order.size) + 0.5) * LENGTH / order.size
    front = LENGTH - SPEED * history.time[k]
    axes.plot(middle, history.elements[k, order, 2], color=tools.BLUE, label="200 bars, CONSISTENT mass")
    axes.plot([0, front, front, LENGTH], [0, 0, FORCE, FORCE], "--", color=tools.ORANGE, label="d'Alembert")
    tools.legend(axes)
    return sheet
