"""A motion followed up and down in amplitude and frequency: rod, spring, rope; bifurcations of periodic motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.further import bouncing
from validation.references import bouncing_ball, forced_orbits
from validation.references.string_pendulum import Pendulum

DRAG, TRANSIENT, POINTS = 0.5, 30, 16
AMPLITUDES = tuple(0.5 * n for n in range(31))
SHAKE, RATIOS = 1.0, tuple(round(1.2 + 0.05 * n, 2) for n in range(37))
"""Of the resonance: amplitude [m], frequencies over that of small swings."""
NATURAL = float(np.sqrt(9.8 / 5.0))
START = 0.3
"""Angle at the first amplitude: off the hanging state, which else stays for ever."""
START_X = 5.0 * float(np.sin(START))
MODELS: dict[str, tuple[str, dict[str, float]]] = {
    "rod": ("rigid", {}),
    "spring, k = 1000, k2 = 0.01": ("spring", {"k2": 0.01}),
    "rope": ("rope", {"increments": 200.0}),
}
WAYS = ((1, tools.BLUE, "up", 4.5), (-1, tools.RED, "down", 2.5))
SAME = 0.05
"""Distance of exponents, or of points [m], beyond which up and down are not the same motion."""


def rows() -> list[Row]:
    """Bifurcations as ``fem orbits`` locates and names them."""
    table = "analytic: derived in references/bouncing_ball.py"
    floquet = "ODE: variational equations by DOP853 (references/forced_orbits.py); Mathieu's tongue"
    doubling = bouncing_ball.doubling_amplitude(bouncing.MODEL)
    hanging = forced_orbits.rest_border(Pendulum(1.0, 0.1), 1.0, 4.0, 5.0)
    grazing = bouncing_ball.grazing_amplitude(bouncing.MODEL, 1, True)
    found = []
    for name, kind, value, source, near, deck, numbers, values in (
        ("table: A at which the period doubles [m]", "period doubling", doubling, table, 1e-9,
         "ball_on_table", on_table(0.36), np.linspace(0.36, 0.39, 4)),
        ("rod, beta = 0.1: A beyond which it does not hang [m]", "branch point", hanging,
         f"{floquet}; dt^2, 4e-5 with 1600 increments", 1e-4, "string_pendulum_rigid",
         {"beta": 0.1, "theta0": 0.0, "increments": 1600.0}, np.linspace(4.4, 4.6, 5)),
        ("table: A at which the unstable motion grazes it [m]", "grazing", grazing, f"{table}; dt",
         5e-6, "ball_on_table", on_table(0.6, True) | {"dt": 0.005}, np.linspace(0.6, 0.65, 11)),
    ):  # fmt: skip
        orbits = fem.orbits(tools.INPUTS / f"{deck}.inp", {"A": values}, parameters=numbers, depth=0)
        places = orbits["A"][np.asarray(orbits["kind"]) == kind]
        nearest = places[np.abs(places - value).argmin()] if len(places) else np.nan
        found.append(Row(Target(f"fem orbits, {name}", value, "absolute", source, near), float(nearest)))
    return found


def on_table(amplitude: float, saddle: bool = False) -> dict[str, float]:
    """Where the ball is at t = 0 in the motion of one impact in a period, the stable one or the other."""
    height, velocity = bouncing_ball.start(bouncing.at(amplitude), saddle=saddle)
    return {"h": height, "v0": velocity, "dt": 0.02}


def followed(deck: str, numbers: dict[str, float], vary: dict[str, tuple[float, ...]], folder: Path, name: str) -> Any:
    """Up and down; a folder that is not complete goes on."""
    path = tools.INPUTS / f"string_pendulum_{deck}.inp"
    return fem.continuation(path, vary, back=True, parameters={"beta": DRAG, "theta0": START, **numbers},
                            transient=TRANSIENT, points=POINTS, method="tangent", output=folder / name)  # fmt: skip


def points(found: Any) -> np.ndarray:
    """(k, POINTS) x in the section of each row, 0 below the support."""
    return START_X + np.column_stack([found[f"point_{n}"] for n in range(1, POINTS + 1)])


def hysteresis(folder: Path) -> tuple[Figure, str]:
    """Section and exponent against the amplitude, both ways, of three models."""
    sheet = Figure(figsize=(10.2, 7.4), layout="constrained")
    sheet.suptitle(f"Increasing and decreasing amplitude, β = {DRAG:g} kg/s: x once in every period, and the exponent")
    grid, texts = sheet.subplots(2, 3, sharex=True, sharey="row"), []
    for column, (name, (deck, numbers)) in enumerate(MODELS.items()):
        found = followed(deck, numbers, {"A": AMPLITUDES}, folder, f"further_work_up_down_{deck}")
        both_ways(grid[:, column], found, "A")
        grid[0, column].set_title(name)
        grid[1, column].set_xlabel("A [m]")
        texts.append(f"{name}: {apart(found, 'A')}")
    grid[0, 0].set_ylabel("x [m]")
    grid[1, 0].set_ylabel("largest exponent [1/s]")
    handles, labels = grid[1, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return (
        sheet,
        f"Amplitudes at which increasing and decreasing amplitude lead to different motions: {'; '.join(texts)}.",
    )


def both_ways(axes: Any, found: Any, name: str) -> None:
    """Two panels: points, exponents."""
    for way, colour, label, size in WAYS:
        chosen = found["way"] == way
        value, section = found[name][chosen], points(found)[chosen]
        axes[0].plot(np.repeat(value, POINTS), section.ravel(), ".", color=colour, markersize=size, label=label)
        axes[1].plot(value, found["exponent"][chosen], ".-", color=colour, linewidth=1.0, markersize=size, label=label)
    axes[1].axhline(0.0, color="black", linewidth=0.8)
    for each in axes:
        each.grid(True, color="#DDDDDD", linewidth=0.6)


def apart(found: Any, name: str) -> str:
    """Values at which regular motions differ by more than left and right."""
    up, down = (np.flatnonzero(found["way"] == way) for way in (1, -1))
    down = down[np.argsort(found[name][down])]
    section, values = np.sort(np.abs(points(found)), axis=1), []
    for one, other in zip(up[np.argsort(found[name][up])], down, strict=True):
        differs = np.abs(section[one] - section[other]).max() > SAME
        regular = max(found["exponent"][one], found["exponent"][other]) < SAME
        if differs and regular:
            values.append(f"{found[name][one]:g}")
    return ", ".join(values) or "none"


def resonance(folder: Path) -> Figure:
    """Largest horizontal displacement against the frequency, both ways."""
    title = f"Increasing and decreasing frequency, A = {SHAKE:g} m, β = 0.1 kg/s"
    sheet, axes = tools.figure(title, "ω / √(g/L)", "greatest |x| [m]")
    omegas = tuple(ratio * NATURAL for ratio in RATIOS)
    for (name, (deck, numbers)), marker in zip(MODELS.items(), "os^", strict=True):
        asked = {**numbers, "A": SHAKE, "beta": 0.1}
        found = followed(deck, asked, {"omega": omegas}, folder, f"further_work_resonance_{deck}")
        reach = np.maximum(np.abs(START_X + found["least"]), np.abs(START_X + found["greatest"]))
        for way, colour, label, size in WAYS:
            chosen = found["way"] == way
            axes.plot(found["omega"][chosen] / NATURAL, reach[chosen], "-", marker=marker, color=colour, linewidth=0.6,
                      markersize=size, label=f"{name}, {label}", fillstyle="none")  # fmt: skip
    tools.legend(axes)
    return sheet
