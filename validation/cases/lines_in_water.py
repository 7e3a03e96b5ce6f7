"""Bars and ropes in water and wind: Code_Aster's bar in a gust, a towed rope, a rod that swings in water."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import published, water

NAME = "lines_in_water"
TITLE = "drag, buoyancy, added mass: a bar in a gust (ssnl118a), a towed rope, a rod in water"
SOURCE = (
    "Published targets of Code_Aster (ssnl118a); the catenary of a stream in closed form; the rod's equation by "
    "DOP853. Decks inputs/ssnl118a.inp, towed_rope.inp, water_pendulum.inp."
)
LONG = False

DENSITY, LENGTH, CHORD, WIDTH = 1025.0, 80.0, 60.0, 0.03
LEGS = (10, 20, 40)
AREA = np.pi * 1e-4
"""Of the rod, whose diameter is 0.02."""


def run(folder: Path) -> Outcome:
    """Displacements, orders, books."""
    rope, shapes = _rope()
    rod, history, exact = _rod()
    return Outcome((*_gust(), *rope, *rod), {"rope": _shape(shapes), "rod": _angles(history, exact)}, ())


def _gust() -> list[Row]:
    """Both ends at 10, 15 and 20 m/s."""
    history = fem.run(tools.deck("ssnl118a"))
    rows, why = [], "published: ssnl118a, to 6e-8 a bar that keeps its length; it stretches by 1e-7"
    for (time, values), wind in zip(published.SSNL118A.items(), (10, 15, 20), strict=True):
        k = int(np.argmin(np.abs(history.time - time)))
        for (node, axis), value in zip(((1, 0), (1, 1), (2, 0), (2, 1)), values, strict=True):
            quantity = f"wind {wind}: U{axis + 1} of node {node} [m]"
            rows.append(Row(Target(quantity, value, "absolute", why, 3e-8), float(history.of_node(node)[k][axis])))
    return rows


def _rope() -> tuple[list[Row], Any]:
    """Force at the ends and depth of the bight: order in the length of a bar, and what it tends to."""
    exact = water.towed_rope(LENGTH, CHORD, 0.5 * DENSITY * WIDTH * 1.2 * 1.5**2)
    found, shapes = [], {}
    for leg in LEGS:
        history = fem.run(tools.deck("towed_rope", {"leg": leg}))
        place = history.mesh.coordinates + history.u[-1].reshape(-1, 3)
        shapes[leg] = place[np.argsort(place[:, 1])]
        found.append([np.linalg.norm(history.of_node(1, "reactions")[-1]), place[:, 0].max()])
    rows, why = [], "closed form: the catenary of a stream; what the extrapolation leaves, a stretch of 1e-6"
    for name, unit, value, values in zip(("tension", "depth"), "Nm", exact, np.array(found).T, strict=True):
        order, limit = tools.orders(np.abs(values - value))[-1], values[-1] + (values[-1] - values[-2]) / 3
        two = Target(f"towed rope: order of its {name}", 2.0, "order", "analytic: two Gauss points", 0.1)
        rows += [
            Row(two, float(order)),
            Row(Target(f"towed rope: {name} [{unit}]", value, "relative", why, 1e-5), float(limit)),
        ]
    return rows, shapes


def _rod() -> tuple[list[Row], Any, Any]:
    """Angle, energy taken, books."""
    mass, displaced = 7850.0 * AREA * 2.0, 1000.0 * AREA * 2.0
    errors = []
    for dt in (0.04, 0.02, 0.01):
        history = fem.run(tools.deck("water_pendulum", {"dt": dt}))
        exact = water.rod(history.time, 2.0, mass, displaced, 9.81 * (mass - displaced), 0.5 * 1000.0 * 0.02 * 1.2)
        errors.append(np.abs(_angle(history) - exact[:, 0]).max())
    balance = history.energy[:, :5] @ [1.0, 1.0, 1.0, -1.0, 1.0]
    why = "independent: the equation of motion by DOP853; second order"
    order, books = float(tools.orders(np.array(errors))[-1]), float(np.abs(balance - balance[0]).max())
    taken = Target("rod: energy taken by the water [J]", float(exact[-1, 1]), "relative", why, 4e-7)
    rows = [
        Row(Target("rod: order of its angle", 2.0, "order", "analytic: midpoint rule", 0.1), order),
        Row(Target("rod: largest error of its angle, dt = 0.01", 0.0, "absolute", why, 5e-5), float(errors[-1])),
        Row(taken, float(history.energy[-1, 4])),
        Row(Target("rod: error of the energy balance [J]", 0.0, "absolute", "analytic: ENERGY MOMENTUM", 2e-11), books),
    ]
    return rows, history, exact


def _angle(history: Any) -> Any:
    """(k,) below the horizontal."""
    tip = history.of_node(2) + [2.0, 0.0, 0.0]
    return np.arctan2(-tip[:, 2], tip[:, 0])


def _shape(shapes: Any) -> Any:
    sheet, axes = tools.figure("A rope towed across itself", "y [m]", "x [m]")
    a, y = water.towed_rope(LENGTH, CHORD, 1.0)[0], np.linspace(0.0, CHORD, 201)
    exact = np.hypot(a, LENGTH / 2) - a * np.cosh((y - CHORD / 2) / a)
    axes.plot(y, exact, "-", color=tools.BLUE, label="catenary of a stream")
    axes.plot(*shapes[LEGS[0]].T[[1, 0]], "o", color=tools.ORANGE, markersize=4, label="20 bars")
    tools.legend(axes)
    return sheet


def _angles(history: Any, exact: Any) -> Any:
    sheet, axes = tools.figure("A rod that swings in water", "t [s]", "angle below the horizontal [rad]")
    axes.plot(history.time, exact[:, 0], "-", color=tools.BLUE, label="DOP853")
    axes.plot(history.time[::10], _angle(history)[::10], "o", color=tools.ORANGE, markersize=4, label="one bar")
    tools.legend(axes)
    return sheet
