"""The figures of ``docs/theory/rods_and_ropes.md``, from runs of decks in ``inputs/``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fem
from fem.arrays import Floats
from fem.show.style import OKABE_ITO

ROOT = Path(__file__).resolve().parents[1]
BLUE, RED, GREEN, GREY = *OKABE_ITO[:3], "#888888"
COLOURS = 64
"""Of a picture: enough for lines, and half the bytes."""


def run(deck: str, **parameters: float) -> fem.History:
    """A deck of ``inputs``, with other values of its parameters."""
    return fem.run(ROOT / "inputs" / f"{deck}.inp", parameters=parameters)


def sheet(height: float, columns: int = 1, rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure of the width of the page, and its panels."""
    figure = Figure(figsize=(8.5, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def laws() -> Figure:
    """The force of rod, rope and stop over the length: the conditions themselves, no deck."""
    figure, panels = sheet(2.4, 3, sharey=True)
    points: Mapping[str, tuple[list[float], list[float]]] = {
        "rod": ([1.0, 1.0], [-1.0, 1.0]),
        "rope": ([0.5, 1.0, 1.0], [0.0, 0.0, 1.0]),
        "stop": ([1.0, 1.0, 1.5], [-1.0, 0.0, 0.0]),
    }
    for axes, (name, (length, force)) in zip(panels, points.items(), strict=True):
        axes.axhline(0.0, color=GREY, lw=0.6)
        axes.plot(length, force, color=BLUE, lw=2.4)
        axes.set(title=name, xlabel="length l", xlim=(0.5, 1.5), ylim=(-1.1, 1.1), xticks=[1.0], yticks=[0.0])
        axes.set_xticklabels(["$L_0$"])
    panels[0].set_ylabel("force T (tension > 0)")
    return figure


def rods() -> Figure:
    """Two rods below a support that moves sideways: positions, and how well lengths are kept."""
    history = run("two_driven_rods", X=0.3, duration=20.0)
    nodes = np.stack([history.positions(node)[:, [0, 2]] for node in (1, 2, 3)], axis=1)
    lengths = np.linalg.norm(np.diff(nodes, axis=1), axis=2)
    figure, (motion, kept) = sheet(3.2, 2, width_ratios=(1.0, 1.3))
    shown = np.flatnonzero(history.time <= 1.1)[::27]
    for row in shown:
        motion.plot(*nodes[row].T, "o-", color=BLUE, lw=1.4, ms=3.5, alpha=0.25 + 0.75 * row / shown[-1])
    motion.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    for place, length in enumerate((1.0, 0.7)):
        error = np.maximum.accumulate(np.abs(lengths[:, place] / length - 1.0))
        kept.semilogy(history.time, error, color=(BLUE, RED)[place], label=f"rod of {length:g} m")
    kept.set(xlabel="time [s]", ylabel="largest relative error so far", ylim=(1e-17, 1e-11))
    kept.legend(frameon=False, loc="upper right")
    return figure


def ropes() -> Figure:
    """A mass on a rope below a shaken support: distance, tension, impacts."""
    history = run("string_pendulum_rope", A=10.0, periods=3.0)
    distance = np.linalg.norm(history.positions(2) - history.positions(1), axis=1)
    figure, (length, tension) = sheet(4.0, rows=2, sharex=True)
    length.plot(history.time, distance, color=BLUE)
    length.axhline(5.0, color=GREY, lw=0.8)
    length.set(ylabel="distance [m]")
    tension.plot(history.time, history.of_element(1, "T"), color=BLUE)
    tension.set(xlabel="time [s]", ylabel="tension T [N]")
    for event in history.events:
        for axes in (length, tension) if event.event == "impact" else ():
            axes.axvline(event.time, color=RED, lw=1.0, ls="--")
    return figure


def stops() -> Figure:
    """Newton's cradle: where the balls are."""
    history = run("cradle")
    figure, axes = sheet(3.0)
    for ball in range(11, 16):
        x = 1000.0 * history.positions(ball)[:, 0]
        axes.plot(history.time, x, color=OKABE_ITO[ball - 11], label=f"ball {ball - 10}")
    axes.set(xlabel="time [s]", ylabel="x [mm]")
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    return figure


def planes() -> Figure:
    """A ball on a table that is shaken, and a chain that falls on a floor."""
    figure, (ball, chain) = sheet(3.2, 2)
    history = run("bouncing_ball", off=0.02)
    until = history.time <= 1.2
    for node, colour, name in ((1, GREY, "table"), (2, BLUE, "ball")):
        ball.plot(history.time[until], 1000.0 * history.positions(node)[until, 1], color=colour, label=name)
    ball.set(xlabel="time [s]", ylabel="height [mm]")
    history = run("chain_dropped")
    nodes = np.stack([history.positions(node)[:, :2] for node in range(11, 20)], axis=1)
    shown = np.flatnonzero(history.time <= 0.4)[::25]
    for row in shown:
        chain.plot(*nodes[row].T, "o-", color=BLUE, lw=1.0, ms=2.5, alpha=0.25 + 0.75 * row / shown[-1])
    chain.axhline(0.0, color=GREY, lw=1.5)
    chain.set(xlabel="x [m]", ylabel="height [m]", aspect="equal")
    ball.legend(frameon=False, loc="upper right", ncols=2)
    return figure


def fall(height: float) -> tuple[Floats, Floats, Floats]:
    """Time, height above the floor and velocity of a ball that is released from this height."""
    history = run("ball_on_table", A=0.0, h=height, duration=0.7, dt=5e-4)
    return history.time, history.positions(2)[:, 2] - 0.2, history.of_node(2, "v")[:, 2]


def neighbours() -> Figure:
    """Two motions through an impact, and the difference of their velocities."""
    figure, (heights, rates) = sheet(3.2, 2)
    (time, one, v), (_, other, w) = fall(1.0), fall(1.1)
    first, later = (float(time[np.argmax(speed > 0.0)]) for speed in (v, w))
    heights.plot(time, one, color=BLUE, label="motion")
    heights.plot(time, other, color=RED, ls="--", label="neighbour")
    heights.set(xlabel="time [s]", ylabel="height [m]", xlim=(0.3, 0.7), ylim=(-0.05, 0.7))
    rates.plot(time, w - v, color=GREEN)
    rates.set(xlabel="time [s]", ylabel="difference of the velocities [m/s]", xlim=(0.3, 0.7))
    for axes in (heights, rates):
        mark_delay(axes, first, later)
    heights.legend(frameon=False, loc="upper right")
    return figure


def mark_delay(axes: Axes, first: float, later: float) -> None:
    """The interval between both impacts, shaded."""
    axes.axvspan(first, later, color=GREY, alpha=0.25, lw=0)
    axes.text(0.5 * (first + later), 0.93, "τ", ha="center", transform=axes.get_xaxis_transform())


def main() -> None:
    """Write ``docs/theory/ropes_<figure>.png``."""
    from PIL import Image

    for draw in (laws, rods, ropes, stops, planes, neighbours):
        figure = draw()
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
        name = "rope" if draw is ropes else draw.__name__
        path = ROOT / "docs" / "theory" / f"ropes_{name}.png"
        figure.savefig(path, dpi=110)
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
