"""Forces of rods, reactions and accelerations: of links in one line, and how fast they converge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.lines.pendulums import Pendulum
from fem.study.validation import Outcome, Row, Target
from validation import links, tools
from validation.references.links import describe, solve

NAME = "rod_forces"
TITLE = "pendulums of rods: forces of links in a straight line, order of convergence of all printed quantities"
SOURCE = "Lagrange's equations in the angles, DOP853 to 1e-13 (validation/references/links.py)."
LONG = False

SCHEMES = ("NEWMARK", "HHT", "GENERALIZED ALPHA")
STRAIGHT = Pendulum((1.0,) * 5, (1.0,) * 5, (30.0, 0.0, 0.0, 0.0, 0.0), (100.0, 0.0, 0.0, 0.0, 0.0))
BENT = Pendulum((1.0, 0.6), (2.0, 0.5), (40.0, -70.0), (60.0, -90.0), time=1.0)
INCREMENTS = (2e-3, 1e-3, 5e-4)


def run(folder: Path) -> Outcome:
    """Five uniform bars in one line, thrown; two unequal ones with three increments."""
    rows: list[Row] = []
    for scheme in (*SCHEMES, "BACKWARD EULER"):
        rows += _straight(scheme)
    for scheme in SCHEMES:
        rows += _orders(scheme)
    return Outcome(tuple(rows), {})


def _straight(scheme: str) -> list[Row]:
    """Forces at the start, and those of the state reached: they follow from angles and rates alone."""
    described = replace(STRAIGHT, time=0.3, dt=1e-3, integrator=scheme)
    history = fem.run(tools.of_links(described))
    motion = describe(links.reference(described), tools.link_angles(history), links.speeds(history))
    weight = sum(described.masses) * described.gravity
    tension = np.abs(history.elements[:, : described.links, 3] - motion.tension).max(axis=1) / weight
    support = history.of_node(1, "reactions")[:, [0, 2]] - motion.reactions[:, 0]
    exact = float(motion.tension[0, 0])
    why = "analytic: Lagrange's equations at the start; round-off"
    rows = [
        Row(Target(f"{scheme}: T of the first of five rods in a line [N]", exact, "relative", why, 1e-13),
            float(history.elements[0, 0, 3])),
        Row(Target(f"{scheme}: T of all of them at the start, error of the weight", 0.0, "absolute", why, 1e-13),
            float(tension[0])),
    ]  # fmt: skip
    why = "analytic: Lagrange's equations of the angles and rates reached; lengths are kept to 1e-12"
    rows.append(
        Row(Target(f"{scheme}: T in 0.3 s, error of the weight", 0.0, "absolute", why, 1e-12), float(tension.max()))
    )
    worst = float(np.abs(support).max() / weight)
    rows.append(Row(Target(f"{scheme}: support in 0.3 s, error of the weight", 0.0, "absolute", why, 1e-12), worst))
    return rows


def _orders(scheme: str) -> list[Row]:
    """Observed orders of displacement, force, reaction and acceleration."""
    errors: dict[str, list[float]] = {"U": [], "T": [], "RF": [], "A": []}
    for dt in INCREMENTS:
        described = replace(BENT, dt=dt, integrator=scheme)
        history = fem.run(tools.of_links(described))
        for name, error in _errors(history, described).items():
            errors[name].append(error)
    why = "analytic: second-order scheme, everything at the end of the increment; 0.01 for the next term of the error"
    return [
        Row(
            Target(f"{scheme}: order of {name} in dt", 2.0, "order", why, 0.01),
            float(tools.orders(np.array(found))[-1]),
        )
        for name, found in errors.items()
    ]


def _errors(history: Any, described: Pendulum) -> dict[str, float]:
    """Largest differences from the reference at the instants of the longest increment."""
    every = round(INCREMENTS[0] / described.dt)
    exact = solve(links.reference(described), history.time)
    differences = {
        "U": links.in_plane(history, "x") - exact.x,
        "T": history.elements[:, : described.links, 3] - exact.tension,
        "RF": history.of_node(1, "reactions")[:, [0, 2]] - exact.reactions[:, 0],
        "A": links.in_plane(history, "a") - exact.a,
    }
    return {name: float(np.abs(values[::every]).max()) for name, values in differences.items()}
