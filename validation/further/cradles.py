"""Newton's cradle: momentum, energy, as many out as in, losses by pairs, a frame at rest and shaken; pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.references import cradle

ANGLE, GAP, FINE = 10.0, 5e-8, 8e-6
"""Of the balls that are pulled [deg]; between balls at rest, 1e-6 of their diameter; increments for 1e-9 [s]."""
ODE = "ODE: event-driven DOP853 (references/cradle.py)"
SHAKEN = {"X": 0.02, "c": 0.9, "duration": 10.0, "omega": 4.0}
PICTURES: dict[str, tuple[int, dict[str, float]]] = {
    "1 ball, c = 1": (1, {}),
    "2 balls, c = 1": (2, {}),
    "3 balls, c = 1": (3, {}),
    "1 ball, c = 0.9": (1, {"c": 0.9, "duration": 6.0}),
    "2 balls, c = 0.9": (2, {"c": 0.9, "duration": 6.0}),
    "frame shaken sideways, c = 0.9": (1, SHAKEN),
}


def run(pulled: int, **numbers: Any) -> Any:
    """The program's motion; ``pulled`` balls at the angle."""
    angles = {f"theta{n}": ANGLE for n in range(2, pulled + 1)}
    return fem.run(tools.deck("cradle", {"gap": GAP, "dt": 1e-4, **angles, **numbers}))


def reference(pulled: int, times: np.ndarray, **numbers: float) -> tuple[np.ndarray, tuple[cradle.Impact, ...]]:
    """The event-driven motion and its impacts."""
    model = cradle.Cradle(gap=numbers.get("gap", GAP), restitution=numbers.get("c", 1.0),
                          shake=(numbers.get("X", 0.0), 0.0), omega=numbers.get("omega", 4.0))  # fmt: skip
    theta = np.where(np.arange(model.balls) < pulled, -np.radians(ANGLE), 0.0)
    return cradle.swing(model, theta, times)


def speeds(history: Any) -> np.ndarray:
    """(k, 5) along the row."""
    return np.column_stack([history.of_node(11 + n, "v")[:, 0] for n in range(5)])


def impacts(history: Any) -> list[Any]:
    """All of them."""
    return [event for event in history.events if event.event == "impact"]


def rows() -> list[Row]:
    """All of it."""
    return [*kept(), *in_and_out(), *by_pairs(), *touching(), *same_order()]


def kept() -> list[Row]:
    """c = 1: momentum as in the reference, energy as at the start, through the first ten impacts."""
    history = run(1, duration=1.8, dt=FINE)
    last = int(np.searchsorted(history.time, impacts(history)[9].time)) + 2
    some = np.unique(np.append(np.arange(0, last, 50), last - 1))
    states, _ = reference(1, history.time[some])
    model = cradle.Cradle()
    exact = (model.length * states[:, 5:] * np.cos(states[:, :5])).sum(axis=1)
    fast = np.sqrt(2.0 * model.gravity * model.length * (1.0 - np.cos(np.radians(ANGLE))))
    momentum = speeds(history)[some].sum(axis=1)
    energy = np.zeros(len(some))
    for n in range(5):
        place, v = history.positions(11 + n)[some], history.of_node(11 + n, "v")[some]
        energy += model.mass * (0.5 * (v**2).sum(axis=1) + model.gravity * place[:, 1])
    lost = sum(abs(event.energy_loss) for event in impacts(history)[:10])
    law = "analytic: impacts without loss; relative to the start"
    return [
        Row(Target("c = 1, ten impacts: momentum over that of the first ball", 0.0, "absolute", ODE, 1e-9),
            float(np.abs(momentum - exact).max() / fast)),
        Row(Target("c = 1, ten impacts: change of energy", 0.0, "absolute", law, 1e-9),
            float(np.abs(energy / energy[0] - 1.0).max())),
        Row(Target("c = 1, ten impacts: dissipated energy", 0.0, "absolute", law, 1e-9), float(lost / energy[0])),
    ]  # fmt: skip


def in_and_out() -> list[Row]:
    """n balls in, n balls out; and their speeds."""
    found = []
    for pulled in (1, 2, 3, 4):
        history = run(pulled, duration=0.5)
        row = int(np.searchsorted(history.time, 0.36))
        v = speeds(history)[row]
        exact = reference(pulled, history.time[[0, row]])[0][1]
        off = np.abs(v - 0.5 * exact[5:] * np.cos(exact[:5])).max()
        out = float(np.count_nonzero(v > 0.5 * v.max()))
        law = "analytic: equal balls hand on their speeds"
        found += [
            Row(Target(f"c = 1: balls that leave after {pulled} have arrived", pulled, "exact", law), out),
            Row(Target(f"c = 1: speeds after {pulled} have arrived [m/s]", 0.0, "absolute", ODE, 1e-9), float(off)),
        ]
    return found


def by_pairs() -> list[Row]:
    """c = 0.9: losses and speeds of the first four impacts."""
    c, model = 0.9, cradle.Cradle()
    history = run(1, duration=0.36, dt=FINE, c=c)
    first = impacts(history)[:5]
    fast = np.sqrt(2.0 * model.gravity * model.length * (1.0 - np.cos(np.radians(ANGLE))))
    law = cradle.handed_on(fast, c, 5)
    losses = 0.25 * model.mass * (1.0 - c * c) * (fast * (0.5 * (1.0 + c)) ** np.arange(4)) ** 2
    between = int(np.searchsorted(history.time, 0.5 * (first[3].time + first[4].time)))
    source = "analytic: each keeps (1 - c)/2 of its speed and hands on (1 + c)/2"
    off = max(abs(event.energy_loss / loss - 1.0) for event, loss in zip(first[:4], losses, strict=True))
    return [
        Row(Target("c = 0.9: energy of the first four impacts, largest relative error", 0.0, "absolute", source, 1e-9),
            off),
        Row(Target("c = 0.9: speeds after them [m/s]; gravity acts for 2e-5 s", 0.0, "absolute", source, 1e-8),
            float(np.abs(speeds(history)[between] - law).max())),
    ]  # fmt: skip


def touching() -> list[Row]:
    """Balls that touch are the limit of small gaps."""
    found = []
    for pulled, c in ((1, 1.0), (2, 1.0), (1, 0.9)):
        touch = run(pulled, gap=0.0, duration=0.6, c=c)
        off = []
        for gap in (5e-7, 5e-8):
            apart = run(pulled, gap=gap, duration=0.6, c=c)
            off.append(float(np.abs(speeds(touch) - speeds(apart))[touch.time > 0.36].max()))
        text = f"{pulled} in, c = {c:g}"
        source = "analytic: the limit of small gaps"
        found += [
            Row(Target(f"{text}: speeds of touching balls less those of gaps of 1e-6 D [m/s]", 0.0, "absolute",
                       f"{source}; times shift by gaps over speeds", 1e-5), off[1]),
            Row(Target(f"{text}: that difference over the same for gaps of 1e-5 D", 0.1, "absolute", source, 5e-4),
                off[1] / off[0]),
        ]  # fmt: skip
    return found


def same_order() -> list[Row]:
    """Losses, frame at rest and shaken: every impact as in the reference."""
    found = []
    for name, pulled, numbers in (("frame at rest, 1 in", 1, {"c": 0.9}), ("frame at rest, 2 in", 2, {"c": 0.9}),
                                  ("frame shaken", 1, SHAKEN)):  # fmt: skip
        history = run(pulled, **numbers)
        exact = reference(pulled, history.time[[0, -1]], **numbers)[1]
        told = impacts(history)
        same = [event.element - 11 for event in told] == [impact.pair for impact in exact]
        late = max(abs(a.time - b.time) for a, b in zip(told, exact, strict=False))
        found += [
            Row(Target(f"c = 0.9, {name}: order of {len(exact)} impacts [1: same]", 1, "exact", ODE), float(same)),
            Row(Target(f"c = 0.9, {name}: largest error of their times [s]", 0.0, "absolute", ODE, 1e-5), late),
        ]
    return found


def figure() -> Figure:
    """Space and time: a line for each ball, a dot for each impact that takes or hands on something to see."""
    sheet = Figure(figsize=(10.2, 6.4), layout="constrained")
    sheet.suptitle("Newton's cradle: positions of the balls in the frame; dots: impacts")
    colours = (tools.BLUE, tools.ORANGE, tools.GREEN, tools.RED, tools.GREY)
    for axes, (name, (pulled, numbers)) in zip(sheet.subplots(2, 3, sharey=True).flat, PICTURES.items(), strict=True):
        history = run(pulled, **{**numbers, "dt": 1e-3})
        places = [history.positions(11 + n)[:, 0] - history.of_node(1)[:, 0] for n in range(5)]
        for x, colour in zip(places, colours, strict=True):
            axes.plot(history.time, 100.0 * x, color=colour, linewidth=1.1)
        for event in impacts(history):
            n = event.element - 11
            x = np.interp(event.time, history.time, 0.5 * (places[n] + places[n + 1]))
            axes.plot(event.time, 100.0 * x, "k.", markersize=3)
        axes.set(title=name, xlim=(0.0, history.time[-1]))
        axes.grid(True, color="#E6E6E6", linewidth=0.6)
        axes.set_xlabel("time [s]")
    for axes in sheet.axes[::3]:
        axes.set_ylabel("x [cm]")
    return sheet
