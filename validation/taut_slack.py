"""Figures 11 to 14 of the forced string pendulum: the rope that goes slack beside the spring that gives way."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.sections import Section, Sections
from fem.study.validation import Row, Target
from validation import tools
from validation.references import rope

DRAG, SPRING = 0.5, {"k": 1000.0, "k2": 0.01}
AMPLITUDES = {12: 2.0, 13: 8.0, 14: 15.0}
"""Of figures 12 to 14."""
MODELS = {"taut-slack rope": ("rope", {}), "spring, k2 = 0.01": ("spring", SPRING)}
INCREMENTS, CYCLES, POINTS = 800, 100, 64
SETTLED = 24
"""Cycles after which the attractors of the rope are compared: perturbations have shrunk by e^-28."""
EARLY = 12
"""Cycles from the start that figure 12 shows, too."""
TIME, FINE = 40.0, 3200
"""Length of figure 11 [s], and its increments a cycle."""
SECTION_5 = "published: section 5"


@dataclass(frozen=True)
class Plane:
    """One model at one amplitude: its section with the last cycles, and the first ones.

    first (k, 4)  x, z, x', z' of the first cycles; slack: share of the last cycles in which it is slack
    """

    section: Section
    first: np.ndarray
    slack: float

    def last(self, states: np.ndarray) -> np.ndarray:
        """(k, 4) x, z, x', z' of states with the columns of the section."""
        chosen = [self.section.columns.index(name) for name in ("U1_2", "U3_2", "V1_2", "V3_2")]
        return np.asarray(states[:, chosen] + self.section.reference[chosen])


def model_of(name: str, amplitude: float, **more: float) -> Any:
    """The deck of one of ``MODELS``."""
    deck, parameters = MODELS[name]
    return tools.deck(f"string_pendulum_{deck}", {"A": amplitude, "beta": DRAG, **parameters, **more})


def plane(name: str, amplitude: float) -> Plane:
    """Both parts of the motion of one model."""
    section = Sections(cycles=CYCLES, points=POINTS).section(model_of(name, amplitude, increments=INCREMENTS))
    history = fem.run(model_of(name, amplitude, increments=INCREMENTS, periods=EARLY))
    at, v = history.positions(2), history.of_node(2, "v")
    found = Plane(section, np.column_stack([at[:, [0, 2]], v[:, [0, 2]]]), 0.0)
    x, z = found.last(section.track)[:, :2].T
    support = amplitude * np.cos(rope.Shaken(amplitude).omega * section.track_time)
    unstressed = 5.0 - 9.8 / SPRING["k"] if MODELS[name][1] else 5.0
    slack = np.hypot(x, z - support) < unstressed - 1e-6
    return Plane(section, found.first, float(slack.mean()))


def planes() -> dict[int, dict[str, Plane]]:
    """Figures 12 to 14."""
    return {number: {name: plane(name, a) for name in MODELS} for number, a in AMPLITUDES.items()}


# --------------------------------------------------------------------------------------------------- rows
def plane_rows(found: dict[int, dict[str, Plane]]) -> list[Row]:
    """What section 5 says of figures 12 to 14."""
    rows = []
    for (name, part), ripple in zip(found[12].items(), (1e-9, 5e-3), strict=True):  # the spring stretches as it shakes
        x, z = np.ptp(part.last(part.section.track)[:, :2], axis=0)
        steady = f"{SECTION_5}, 'steady in the moving frame'"
        rows += [
            Row(Target(f"fig. 12: range of x, A = 2, {name} [m]", 0.0, "absolute", steady, 1e-9), float(x)),
            Row(
                Target(f"fig. 12: range of z, A = 2, {name} [m]", 4.0, "relative", f"{steady}: the support's", ripple),
                float(z),
            ),
        ]
    (rigid, spring), (rigid_15, spring_15) = found[13].values(), found[14].values()
    rows += [
        Row(
            Target("fig. 13: taut-slack rope, A = 8, is periodic [1: yes]", 1, "exact", f"{SECTION_5}, 'periodic'"),
            float(rigid.section.period > 0),
        ),
        Row(
            Target("fig. 13: period of the spring, A = 8 (0: none)", 0, "exact", f"{SECTION_5}, 'chaotic'"),
            float(spring.section.period),
        ),
    ]
    for name, part in found[14].items():
        target = Target(f"fig. 14: {name}, A = 15, is periodic [1: yes]", 1, "exact", f"{SECTION_5}, 'stable periodic'")
        rows.append(Row(target, float(part.section.period > 0)))
    wider = np.ptp(spring_15.last(spring_15.section.track)[:, 1]) - np.ptp(rigid_15.last(rigid_15.section.track)[:, 1])
    text = f"{SECTION_5}, 'slightly higher range of values'"
    rows.append(
        Row(
            Target("fig. 14: z of the spring covers a slightly wider range [1: yes]", 1, "exact", text),
            float(0.0 < wider < 0.5),
        )
    )
    return rows


def settled() -> dict[int, tuple[Any, rope.Path]]:
    """Figures 13 and 14: numbers of three cycles, and the event-driven motion of the rope at their ends."""
    cycles = SETTLED + np.arange(3)
    found = {}
    for number in (13, 14):
        model = rope.Shaken(AMPLITUDES[number])
        found[number] = cycles, rope.path(model, 0.1, 2.0 * np.pi / model.omega * np.concatenate([[0], cycles]))
    return found


def settled_rows(found: dict[int, dict[str, Plane]], paths: dict[int, tuple[Any, rope.Path]]) -> list[Row]:
    """The attractors of the rope against the event-driven ODE: both forget how they began."""
    rows = []
    for number, (cycles, exact) in paths.items():
        part = found[number]["taut-slack rope"]
        at, last = part.last(part.section.points)[:, :2], np.arange(CYCLES - POINTS + 1, CYCLES + 1)
        same = [int(np.flatnonzero((last - n) % 2 == 0)[-1]) for n in cycles]
        source = (
            f"ODE: event-driven DOP853 (references/rope.py), {SETTLED} cycles; two to four times the errors of dt^2"
        )
        target = Target(f"fig. {number}: points of the section, taut-slack rope [m]", 0.0, "absolute", source, 1e-3)
        rows.append(Row(target, float(np.abs(at[same] - exact.position[1:]).max())))
    return rows


def remark(found: dict[int, dict[str, Plane]], paths: dict[int, tuple[Any, rope.Path]]) -> str:
    """Where our result differs from the paper's, with evidence."""
    shares = "; ".join(
        f"A = {AMPLITUDES[number]:g}: {', '.join(f'{name} {part.slack:.0%}' for name, part in parts.items())}"
        for number, parts in found.items()
    )
    last, end = paths[14][1].events[-1], 2.0 * np.pi / rope.Shaken(15.0).omega * paths[14][0][-1]
    return (
        "Figures 12 to 14: share of the last 16 cycles in which the string is slack: "
        f"{shares}. At A = 15 the paper has both models go through taut and slack states; here both are slack at the "
        "start only, and then swing over the top with a taut string, one way in one cycle and back in the next, hence "
        f"a period of two cycles. The event-driven ODE agrees: its last event is at {last[0]:.2f} s of {end:.0f} s. "
        "Six angles theta0 from 0.05 to 2.5 end in the same motion, at A = 8 and at A = 15."
    )


# ------------------------------------------------------------------------------------------------ pictures
def kind_of(period: int) -> str:
    """In words."""
    if period == 0:
        return "aperiodic"
    return "period 1 cycle" if period == 1 else f"period {period} cycles"


def plane_figure(number: int, found: dict[str, Plane]) -> Figure:
    """Rows: the two models; columns: x and z. Equal axes in each column."""
    sheet = Figure(figsize=(9.6, 7.6), layout="constrained")
    sheet.suptitle(f"Figure {number}: phase planes, A = {AMPLITUDES[number]:g} m, β = {DRAG:g} kg/s")
    grid = sheet.subplots(2, 2, sharex="col", sharey="col")
    for (name, part), line in zip(found.items(), grid, strict=True):
        kind = kind_of(part.section.period)
        states, points = part.last(part.section.track), part.last(part.section.points)
        for place, (axes, axis) in enumerate(zip(line, "xz", strict=True)):
            if number == 12:
                axes.plot(part.first[:, place], part.first[:, place + 2], color="#999999", linewidth=0.7,
                          label=f"first {EARLY} cycles")  # fmt: skip
            axes.plot(states[:, place], states[:, place + 2], color=tools.BLUE, linewidth=0.8, label="last 16 cycles")
            axes.plot(points[:, place], points[:, place + 2], "o", color=tools.RED, markersize=3.5,
                      label="state once in every cycle of the drive")  # fmt: skip
            axes.set(title=f"{name}: {kind}", ylabel=f"d{axis}/dt [m/s]")
            axes.grid(True, color="#DDDDDD", linewidth=0.6)
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(f"{axis} [m]")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return sheet


def time_history() -> Any:
    """Figure 11: A = 10, taut-slack rope."""
    model = model_of("taut-slack rope", 10.0, increments=FINE)
    cycle = 2.0 * np.pi / rope.Shaken(10.0).omega
    return fem.run(tools.with_procedure(model, 1, period=round(TIME / cycle * FINE) * cycle / FINE))


def slack_spells(history: Any) -> list[tuple[float, float]]:
    """Begin and end of every time in which the rope is slack, from its events."""
    spells, since = [], 0.0 if history.events[0].event != "slack" else None
    for event in history.events:
        if event.event == "slack":
            since = event.time
        elif since is not None and event.event in ("impact", "taut"):
            spells.append((since, event.time))
            since = None
    return [*spells, (since, float(history.time[-1]))] if since is not None else spells


def history_figure(history: Any) -> Figure:
    """x, z and between them the strip that says when the rope is taut."""
    sheet = Figure(figsize=(9.6, 6.8), layout="constrained")
    sheet.suptitle("Figure 11: taut-slack rope, A = 10 m, β = 0.5 kg/s, restitution 0")
    upper, strip, lower = sheet.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": [5, 1, 5]})
    at, spells = history.positions(2), slack_spells(history)
    support = 10.0 * np.cos(rope.Shaken(10.0).omega * history.time)
    upper.plot(history.time, at[:, 0], color=tools.BLUE, linewidth=1.2, label="mass")
    lower.plot(history.time, at[:, 2], color=tools.BLUE, linewidth=1.2, label="mass")
    lower.plot(history.time, support, color=tools.ORANGE, linewidth=1.0, linestyle="--", label="support")
    edges = np.array([0.0, *(t for spell in spells for t in spell), history.time[-1]])
    taut = np.tile([1.0, 0.0], len(spells) + 1)[: len(edges)]
    taut[-1] = taut[-2]
    strip.step(edges, taut, where="post", color=tools.GREEN, linewidth=1.8)
    strip.set(yticks=[0, 1], yticklabels=["slack", "taut"], ylim=(-0.3, 1.3))
    for axes in (upper, strip, lower):
        for number, (start, end) in enumerate(spells):
            axes.axvspan(start, end, color="#E4E4E4", zorder=0, linewidth=0, label="" if number else "slack")
        axes.grid(True, axis="x", color="#DDDDDD", linewidth=0.6)
    upper.set(ylabel="x [m]", xlim=(0.0, history.time[-1]))
    lower.set(ylabel="z [m]", xlabel="time [s]")
    tools.legend(lower)
    tools.legend(upper)
    return sheet


def history_rows(history: Any) -> list[Row]:
    """Figure 11: taut and slack in turn, as the event-driven ODE has it."""
    exact = rope.path(rope.Shaken(10.0), 0.1, history.time[[0, -1]]).events
    found = [(event.time, event.event) for event in history.events if event.event in ("impact", "slack")]
    same = [kind for _, kind in found] == [kind for _, kind, _ in exact]
    late = max(abs(a[0] - b[0]) for a, b in zip(found, exact, strict=False))
    source, text = "ODE: event-driven DOP853 (references/rope.py)", f"{SECTION_5}, 'alternating taut and slack states'"
    time = Target("fig. 11: largest error of an event's time, 40 s [s]", 0.0, "absolute", f"{source}; dt^2", 2e-4)
    spells = float(len(slack_spells(history)) > 5)
    return [
        Row(Target(f"fig. 11: order of {len(exact)} impacts and releases [1: same]", 1, "exact", source), float(same)),
        Row(time, late),
        Row(Target("fig. 11: taut and slack in turn, A = 10 [1: yes]", 1, "exact", text), spells),
    ]


# -------------------------------------------------------------------------------------------------- tables
def write_planes(path: Path, found: dict[str, Plane]) -> None:
    """A row for each increment of the last cycles of each model."""
    rows: list[Sequence[Any]] = []
    for name, part in found.items():
        states = np.column_stack([part.section.track_time, part.last(part.section.track)])
        rows += [(name, *(f"{value:.9g}" for value in state)) for state in states]
    write(path, ["model", "time", "x", "z", "vx", "vz"], rows)


def write_history(path: Path, history: Any) -> None:
    """time, x, z, and 1 where the rope is taut."""
    taut = np.ones(len(history.time))
    for start, end in slack_spells(history):
        taut[(history.time > start) & (history.time < end)] = 0.0
    table = np.column_stack([history.time, history.positions(2)[:, [0, 2]], taut])
    write(path, ["time", "x", "z", "taut"], [[f"{value:.9g}" for value in row] for row in table])


def write(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)
