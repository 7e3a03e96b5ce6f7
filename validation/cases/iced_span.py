"""Ice falls off the middle one of three spans: how high it jumps, how far the insulators swing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import iced_span as reference

NAME = "iced_span"
TITLE = "ice falls off the middle one of three spans of conductor between suspension strings"
SOURCE = (
    "Masses on springs, DOP853 (validation/references/iced_span.py); linear span: it jumps by twice the difference of "
    "its sags (overshoot of a step load). Deck inputs/iced_span.inp without damping."
)
LONG = False
BARS, SPAN, LENGTH, STRING, HEIGHT = 30, 300.0, 300.544818, 2.5, 22.0
BARE, ICE, GRAVITY, PERIOD = 1.628, 900.0 * np.pi * 0.012 * (0.0281 + 0.012), 9.81, 3.0


def run(folder: Path) -> Outcome:
    """The deck with ENERGY MOMENTUM, its equilibria and its jump."""
    deck = tools.deck("iced_span", {"air": 0.0, "beta": 0.0, "time": PERIOD})
    history = fem.run(tools.with_procedure(deck, 2, integrator="ENERGY MOMENTUM"))
    during, rest = history.of_step(2), float(history.positions(46)[-1, 2])
    time, height = history.time[during] - 1.0, history.positions(46)[during, 2]
    swing = float(-history.of_node(31)[during, 0].min())
    jump, fine = motion(BARS, time), motion(2 * BARS, time)
    there = jump.height.max() - jump.height[0]
    chain = "the same chain, DOP853 1e-7; {}"
    rows = (
        Row(Target("middle with ice [m]", jump.height[0], "absolute", chain.format("Newton to 1e-6"), 1e-6), height[0]),
        Row(Target("middle at rest again [m]", jump.rest, "absolute", chain.format("Newton to 1e-6"), 1e-6), rest),
        Row(Target("jump [m]", there, "relative", chain.format("dt = 5 ms"), 1e-5), float(np.ptp(height))),
        Row(Target("swing of the clamps [m]", jump.swing, "relative", chain.format("dt = 5 ms"), 5e-4), swing),
        Row(
            Target("middle, largest difference [m]", 0.0, "absolute", chain.format("dt = 5 ms"), 6e-4),
            float(np.abs(height - jump.height).max()),
        ),
        Row(
            Target("jump of twice as many bars [m]", np.ptp(fine.height), "relative", "mesh: second order", 1e-3),
            float(np.ptp(height)),
        ),
        Row(
            Target("jump over difference of sags", 2.0, "absolute", "analytic: linear span; it stiffens", 0.15),
            float(np.ptp(height) / (rest - height[0])),
        ),
    )
    return Outcome(rows, {"jump": _figure(time, height, jump)})


class Jump(NamedTuple):
    """Height of the middle (k,), at rest again, largest way of a clamp."""

    height: tools.Array
    rest: float
    swing: float


def motion(bars: int, times: tools.Array) -> Jump:
    """Of spans of so many bars, by the reference."""
    line = reference.spans(bars, SPAN, LENGTH, STRING, 34.75e6, 100e6)
    bar = np.arange(len(line.ends))
    bare, is_middle = np.where(line.is_wire, BARE, 24.0), (bar >= bars) & (bar < 2 * bars)
    after = line.lumped(bare + np.where(line.is_wire & ~is_middle, ICE, 0.0))
    start = reference.rest(line, GRAVITY * line.lumped(bare + np.where(line.is_wire, ICE, 0.0)))
    places = reference.motion(line, start, after, GRAVITY, times)
    middle, rest = 3 * bars // 2, reference.rest(line, GRAVITY * after)
    swing = float((places[0, bars, 0] - places[:, bars, 0]).max())
    return Jump(HEIGHT + places[:, middle, 1], HEIGHT + float(rest[middle, 1]), swing)


def _figure(time: tools.Array, height: tools.Array, jump: Jump) -> Any:
    sheet, axes = tools.figure("A span that loses its ice", "t [s]", "z of its middle [m]")
    axes.plot(time, jump.height, color=tools.GREY, lw=4, label="DOP853")
    axes.plot(time, height, color=tools.BLUE, label="fem")
    axes.axhline(jump.rest, color=tools.ORANGE, lw=1, label="at rest")
    tools.legend(axes)
    return sheet
