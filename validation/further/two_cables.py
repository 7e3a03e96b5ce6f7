"""A ball on two cables from a frame that is shaken: order and instants of all impacts and releases, paths, pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.references import two_ropes

DURATION, DT, EVERY = 4.0, 5e-4, 10
GRAVITY, HALF = 9.81, 0.3
MOTIONS: dict[str, dict[str, float]] = {
    "sideways": {"X": 0.3},
    "sideways, ropes 1.0 and 0.9 m": {"X": 0.3, "L2": 0.9},
    "up and down": {"X": 0.0, "Z": 0.4},
    "in both directions, ropes 1.0 and 0.9 m": {"X": 0.15, "Z": 0.3, "L2": 0.9},
    "released at 40 degrees": {"X": 0.0, "turn": 40.0, "L2": 0.9},
    "sideways, restitution 0.5": {"X": 0.3, "c": 0.5},
    "up and down, pushed out of the plane": {"X": 0.0, "Z": 0.4, "vy": 1.0},
}
COLOURS = {2: tools.GREY, 1: tools.BLUE, 0: tools.RED}
NAMES = {2: "both taut", 1: "one slack", 0: "both slack"}
BOUNCES = 1e-6
"""Energy [J] of the impacts that are compared: those of less are the tail of bounces that end in a taut rope."""


def reference(numbers: dict[str, float]) -> tuple[two_ropes.Hung, np.ndarray]:
    """The deck's model and where the ball starts, from the deck's parameters."""
    lengths = np.array([1.0, numbers.get("L2", 1.0)])
    across = (lengths[0] ** 2 - lengths[1] ** 2) / (4.0 * HALF) + HALF
    phi = np.arcsin(across / lengths[0]) + np.radians(numbers.get("turn", 0.0))
    points = np.array([[-HALF, 0.0, 0.0], [HALF, 0.0, 0.0]])
    shake = np.array([numbers["X"], 0.0, numbers.get("Z", 0.0)])
    start = np.array([lengths[0] * np.sin(phi) - HALF, 0, -lengths[0] * np.cos(phi), 0, numbers.get("vy", 0.0), 0])
    return two_ropes.Hung(points, lengths, shake, 6.0, GRAVITY, 0.1, numbers.get("c", 0.0)), start


def run(numbers: dict[str, float]) -> Any:
    """The program's motion."""
    return fem.run(tools.deck("ball_on_two_ropes", {**numbers, "dt": DT, "duration": DURATION}))


def rows(name: str, history: Any) -> list[Row]:
    """One motion against the event-driven one."""
    model, start = reference(MOTIONS[name])
    exact = two_ropes.motion(model, start, history.time[::EVERY])
    told = [(e.time, e.rope + 1, e.what) for e in exact.events if e.what != "impact" or e.loss > BOUNCES]
    found = [(e.time, e.element, e.event) for e in history.events if e.event != "impact" or e.energy_loss > BOUNCES]
    told, found = ([each for each in part if each[2] != "taut"] for part in (told, found))
    same = [each[1:] for each in found] == [each[1:] for each in told]
    late = max((abs(a[0] - b[0]) for a, b in zip(found, told, strict=False)), default=0.0)
    off = float(np.abs(history.positions(3)[::EVERY] - exact.states[:, :3]).max())
    source = "ODE: event-driven DOP853 (references/two_ropes.py)"
    return [
        Row(Target(f"{name}: order of {len(told)} impacts and releases [1: same]", 1, "exact", source), float(same)),
        Row(Target(f"{name}: largest error of their times [s]", 0.0, "absolute", source, 1e-5), late),
        Row(Target(f"{name}: largest error of the path [m]", 0.0, "absolute", f"{source}; dt^2", 5e-5), off),
    ]


def taut(history: Any) -> np.ndarray:
    """(k,) how many ropes are taut."""
    return np.asarray((history.of_element(1, "T") > 0.0).astype(int) + (history.of_element(2, "T") > 0.0))


def figure(histories: dict[str, Any]) -> Figure:
    """Paths in the frame, and the states over time below them."""
    shown = list(MOTIONS)[:6]
    sheet = Figure(figsize=(10.2, 8.2), layout="constrained")
    sheet.suptitle("A ball on two cables: path in the moving frame, and which cables are taut in the first 4 s")
    grid = sheet.subplots(4, 3, gridspec_kw={"height_ratios": [9, 1, 9, 1]})
    for place, name in enumerate(shown):
        line, column = divmod(place, 3)
        _path(grid[2 * line, column], name, histories[name])
        _strip(grid[2 * line + 1, column], histories[name])
    handles = [Line2D([], [], color=COLOURS[n], linewidth=2.5, label=NAMES[n]) for n in COLOURS]
    sheet.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return sheet


def _path(axes: Any, name: str, history: Any) -> None:
    count = taut(history)
    at = history.positions(3) - history.of_node(1)
    x, z = at[:, 0], at[:, 2]
    lengths = reference(MOTIONS[name])[0].lengths
    for side, length in zip((-HALF, HALF), lengths, strict=True):
        turn = np.linspace(0.0, 2.0 * np.pi, 400)
        axes.plot(side + length * np.cos(turn), length * np.sin(turn), color="#CCCCCC", linewidth=0.7, zorder=0)
        axes.plot([side, x[0]], [0.0, z[0]], color="#888888", linewidth=0.8, zorder=1)
        axes.plot(side, 0.0, "ks", markersize=4)
    pieces = np.stack([np.column_stack([x[:-1], z[:-1]]), np.column_stack([x[1:], z[1:]])], axis=1)
    axes.add_collection(LineCollection(pieces, colors=[COLOURS[n] for n in count[1:]], linewidths=1.3))
    still = count == 2
    axes.plot(x[still], z[still], ".", color=COLOURS[2], markersize=5)
    axes.set(title=name, aspect="equal", xlim=(-0.8, 0.8), ylim=(-1.1, 0.1))
    axes.title.set_fontsize(9)
    axes.set_xlabel("x [m]", fontsize=8)
    axes.set_ylabel("z [m]", fontsize=8)
    axes.tick_params(labelsize=8)


def _strip(axes: Any, history: Any) -> None:
    count, time = taut(history), history.time
    for n, colour in COLOURS.items():
        axes.fill_between(time, 0.0, 1.0, where=count == n, color=colour, linewidth=0.0, step="pre")
    axes.set(yticks=[], xlim=(0.0, time[-1]), ylim=(0.0, 1.0))
    axes.set_xlabel("time [s]", fontsize=8)
    axes.tick_params(labelsize=8)
