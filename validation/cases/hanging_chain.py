"""A rope hung straight, then slackened: against an independent chain, and towards the elastic catenary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import catenary, chain

NAME = "hanging_chain"
TITLE = "chain of bars under its own weight, and the elastic catenary"
SOURCE = (
    "Chain: shooting on the horizontal force with the bar law (validation/references/chain.py). Continuum: Irvine, "
    "Cable Structures (1981), engineering strain. Deck inputs/hanging_chain.inp."
)
LONG = False

LENGTH, AXIAL_STIFFNESS = 100.0, 1e11 * 5e-4
WEIGHT = 7850 * 9.81 * 5e-4 * LENGTH
SPANS = {1: 100.0, 2: 80.0}
BARS = (10, 20, 40)


def run(folder: Path) -> Outcome:
    """Both steps with 20 bars against the chain; the deep catenary with 10, 20 and 40."""
    histories = {bars: fem.run(tools.deck("hanging_chain", {"bars": bars})) for bars in BARS}
    rows = [row for step in SPANS for row in _against_chain(histories[20], step)]
    exact = catenary.elastic(SPANS[2], LENGTH, WEIGHT, AXIAL_STIFFNESS)
    sags = np.array([_sag(histories[bars], bars) for bars in BARS])
    why = (
        "analytic: weights lumped at the nodes of a polygon, order 2 in the bar length; 0.01 for the next term (0.003)"
    )
    order = float(tools.orders(np.abs(sags - exact.sag))[-1])
    rows.append(Row(Target("order of the sag in bar length, 20 to 40 bars", 2.0, "order", why, 0.01), order))
    extrapolated = float(sags[-1] + (sags[-1] - sags[-2]) / 3)
    why = "analytic: elastic catenary (Irvine 1981); 1e-6: fourth-order term left by the extrapolation"
    rows.append(Row(Target("sag [m], extrapolated to many bars", exact.sag, "relative", why, 1e-6), extrapolated))
    remark = "sag [m] " + ", ".join(f"{n} bars: {sag:.6f}" for n, sag in zip(BARS, sags, strict=True))
    figures = {
        "shape": _shape_figure(histories[10], exact),
        "convergence": tools.convergence(
            "Hanging chain: sag against the elastic catenary",
            "bar length [m]",
            "error of the sag [m]",
            LENGTH / np.array(BARS, float),
            np.abs(sags - exact.sag),
            2.0,
        ),
    }
    return Outcome(tuple(rows), figures, (f"{remark}; catenary: {exact.sag:.6f}.",))


def _positions(history: Any, row: int) -> np.ndarray:
    return np.asarray(history.mesh.coordinates + history.u[row].reshape(-1, 3))


def _sag(history: Any, bars: int) -> float:
    """Drop of the lowest node at the end."""
    return float(-_positions(history, -1)[:, 2].min())


def _against_chain(history: Any, step: int) -> list[Row]:
    """All node positions and bar forces of one step's end."""
    k, span = tools.end_of(history, step), SPANS[step]
    exact = chain.hang(20, span, LENGTH, WEIGHT, AXIAL_STIFFNESS, "ENGINEERING")
    order = np.argsort(history.mesh.node_labels)
    x = _positions(history, k)[order][:, [0, 2]]
    tension = history.elements[k, np.argsort(history.mesh.element_labels), 3]
    name = f"span {span:g} m"
    why = "independent: shooting; the last iteration leaves round-off, 1e-11 where the chain is slack and soft"
    miss = float(np.abs(x - exact.positions).max())
    forces = float(np.abs(tension / exact.tension - 1).max())
    return [
        Row(Target(f"{name}: sag [m]", exact.sag, "relative", why, 2e-12), float(-x[:, 1].min())),
        Row(Target(f"{name}: largest position difference [m]", 0.0, "absolute", why, 6e-11), miss),
        Row(Target(f"{name}: largest relative difference of T", 0.0, "absolute", why, 8e-11), forces),
    ]


def _shape_figure(history: Any, exact: catenary.Cable) -> Any:
    sheet, axes = tools.figure("Hanging chain after slackening by 20 m", "x [m]", "z [m]")
    arcs = np.linspace(0, LENGTH, 201)
    x, z = catenary.elastic_shape(exact, arcs, LENGTH, WEIGHT, AXIAL_STIFFNESS)
    axes.plot(x, -z, "-", color=tools.GREY, label="elastic catenary")
    place = _positions(history, -1)[np.argsort(history.mesh.node_labels)]
    axes.plot(place[:, 0], place[:, 2], "o-", color=tools.BLUE, markersize=5, linewidth=1, label="10 bars")
    axes.set_aspect("equal")
    tools.legend(axes)
    return sheet
