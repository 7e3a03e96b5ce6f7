"""The forced string pendulum: trajectories against another integrator, phase planes, time histories."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.sections import Section, Sections
from fem.study.validation import Outcome, Row, Target
from validation import taut_slack, tools
from validation.references.string_pendulum import Pendulum, motion, printed_shortening, recurrence

NAME = "string_pendulum"
TITLE = "forced string pendulum: trajectories, phase planes, time histories (figures 3, 6b, 7, 11 to 14)"
SOURCE = (
    "V. Ciocanel, T. Witelski, Modeling and numerical simulation of the nonlinear dynamics of the parametrically "
    "forced string pendulum (Duke University, 2012). Decks inputs/string_pendulum_rigid.inp, _spring.inp, _rope.inp. "
    "The paper states no initial conditions: here the mass is at rest in the laboratory at theta0 (0.1 unless stated), "
    "at the length L. Exponents (figures 4, 6, 8, 9) are the case string_pendulum_exponents."
)
LONG = False

LENGTH, GRAVITY = 5.0, 9.8
PLANES = {"A = 4": (4.0, 0.05, 1.381, 300), "A = 8.35": (8.35, 3.077, 2.18, 300), "A = 11": (11.0, 0.1, 0.0, 600)}
"""Figure 3: amplitude, theta0, rate0 (near the periodic motions, whose chaotic transients may be long), cycles."""
SERIES = {"rigid": None, "spring": (1000.0, 1000.0), "piecewise": (1000.0, 0.01)}
"""Figure 7: stiffness in tension and compression."""
COLOURS = (tools.BLUE, tools.RED, tools.GREEN)


def run(folder: Path) -> Outcome:
    """Everything that takes seconds."""
    planes = {
        label: section("rigid", cycles, A=a, theta0=theta, rate0=rate, beta=0.01)
        for label, (a, theta, rate, cycles) in PLANES.items()
    }
    spring = section("spring", 400, A=11.0, tuned=1.0)
    strings, paths, history = taut_slack.planes(), taut_slack.settled(), taut_slack.time_history()
    series = {name: time_history(name) for name in SERIES}
    rows = [*orders(), *kinds(planes), *series_rows(series)]
    rows += [*taut_slack.history_rows(history), *taut_slack.plane_rows(strings)]
    rows += taut_slack.settled_rows(strings, paths)
    figures = {
        "fig3": plane_figure("Figure 3: rigid pendulum, beta = 0.01", planes, 1),
        "fig6b": plane_figure("Figure 6b: spring, k = 1000, A = 11", {"A = 11": spring}, 1),
        "fig7": series_figure(series),
        "fig11": taut_slack.history_figure(history),
    }
    for number, both in strings.items():
        figures[f"fig{number}"] = taut_slack.plane_figure(number, both)
        taut_slack.write_planes(folder / f"{NAME}_fig{number}.csv", both)
    taut_slack.write_history(folder / f"{NAME}_fig11.csv", history)
    for name, found in {**planes, "spring A = 11": spring}.items():
        write_track(folder / f"{NAME}_{slug(name)}.csv", found)
    write_series(folder / f"{NAME}_fig7.csv", series)
    return Outcome(tuple(rows), figures, (FIGURE_3, taut_slack.remark(strings, paths), printed_law()))


FIGURE_3 = (
    "Figure 3: several motions are possible for the same parameters. At A = 4 the motion from theta0 = 0.1 decays (the "
    "pendulum at rest is stable, too); from theta0 = pi/4 it continues with the period of the drive, as in the paper's "
    "figure. At A = 8.35, from theta0 = 0.1 or pi/4, hundreds to thousands of cycles of chaos end in a motion of two "
    "periods of the drive; from theta0 = 1.5 chaos has not ended after 20000 s. The figure starts near the periodic "
    "motions."
)


def section(deck: str, cycles: int, **parameters: float) -> Section:
    """The section and the last cycles of one of the decks."""
    return Sections(cycles=cycles, points=128).section(tools.deck(f"string_pendulum_{deck}", parameters))


def parts_of(name: str) -> dict[str, float]:
    """Parameters of a model of figure 7."""
    stiffness = SERIES[name]
    return {} if stiffness is None else {"k": stiffness[0], "k2": stiffness[1]}


def positions(history: Any) -> np.ndarray:
    """(k, 2) x and z of the mass in the laboratory."""
    return np.asarray(history.mesh.coordinates[1, [0, 2]] + history.of_node(2)[:, [0, 2]])


def time_history(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Time and position of figure 7: no drive, beta = 0.5."""
    deck = "rigid" if name == "rigid" else "spring"
    model = tools.deck(f"string_pendulum_{deck}", {"A": 0.0, "beta": 0.5, "periods": 4, **parts_of(name)})
    history = fem.run(model)
    return history.time, positions(history)


def printed_law() -> str:
    """Why figure 7 differs from the paper's in z."""
    shorter = printed_shortening(Pendulum(0.0, 0.5, k=1000.0, k2=0.01), 20.0)
    return (
        "Figure 7: all three models agree in x, as the paper says. With N = kappa(s) s the piecewise spring stays "
        "taut at these small angles, so it agrees with the plain spring in z, too. The paper's z of the piecewise "
        "spring differs: (2.7b) as printed keeps the weight term when slack and shortens the string by up to "
        f"{1000 * shorter:.0f} mm (DOP853)."
    )


# --------------------------------------------------------------------------------------------------- rows
def orders() -> list[Row]:
    """Errors against DOP853 over four cycles, for three increments."""
    rows = []
    # Each with the tolerances of its order and of its largest error: two to five times what is reached, without chance.
    cases = {
        "rigid, A = 4": ("rigid", 4.0, None, None, 0.005, 5e-6),
        "spring k = 1000, A = 4": ("spring", 4.0, 1000.0, 1000.0, 0.015, 8e-4),
        "k2 = 0.01, A = 8": ("spring", 8.0, 1000.0, 0.01, 0.04, 1e-2),  # snaps: errors grow from one to the next
    }
    for label, (deck, amplitude, k, k2, limit, near) in cases.items():
        truth = Pendulum(amplitude, 0.1, k=k, k2=k2)
        errors = []
        for increments in (800, 1600, 3200):
            parameters = {"A": amplitude, "periods": 2.0, "increments": increments}
            parameters |= {} if k2 is None else {"k2": k2}
            history = fem.run(tools.deck(f"string_pendulum_{deck}", parameters))
            exact, _ = motion(truth, history.time)
            errors.append(float(np.abs(positions(history) - exact).max()))
        ode = "ODE: DOP853 at 1e-11 (validation/references)"
        rows.append(
            Row(
                Target(f"order of positions over two cycles, {label}", 2.0, "order", f"{ode}; both schemes: 2", limit),
                float(np.log2(errors[-2] / errors[-1])),
            )
        )
        target = Target(f"largest error, 3200 increments a cycle, {label} [m]", 0.0, "absolute", ode, near)
        rows.append(Row(target, errors[-1]))
    return rows


def kinds(planes: dict[str, Section]) -> list[Row]:
    """Figure 3: what kind of motion."""
    source = "ODE: DOP853 from the same start; published: figure 3, 'simple periodic', 'higher order', 'chaotic' (0)"
    rows = []
    for label, (amplitude, *start, cycles) in PLANES.items():
        value = recurrence(Pendulum(amplitude, 0.01), (start[0], start[1]), int(cycles))
        rows.append(Row(Target(f"fig. 3: period, {label}, in cycles", value, "exact", source), planes[label].period))
    return rows


def series_rows(series: dict[str, tuple[np.ndarray, np.ndarray]]) -> list[Row]:
    """Figure 7: the three models, and each against DOP853."""
    time, truth = series["rigid"]
    rows = []
    for name in ("spring", "piecewise"):
        far = float(np.abs(series[name][1][:, 0] - truth[:, 0]).max() / np.abs(truth[:, 0]).max())
        source = "published: 'almost indistinguishably'; by DOP853, too, they differ by 2e-5"
        rows.append(Row(Target(f"fig. 7: x of {name} less x of rigid, share", 0.0, "absolute", source, 1e-4), far))
    for name, (k, k2) in {"rigid": (None, None), "spring": (1000.0, 1000.0), "piecewise": (1000.0, 0.01)}.items():
        exact, _ = motion(Pendulum(0.0, 0.5, k=k, k2=k2), time)
        target = Target(
            f"fig. 7: {name} against DOP853 [m]", 0.0, "absolute", "ODE: DOP853; three times the error of dt^2", 8e-5
        )
        rows.append(Row(target, float(np.abs(series[name][1] - exact).max())))
    return rows


# ------------------------------------------------------------------------------------------------ pictures
def plane_figure(title: str, found: dict[str, Section], *axes_shown: int) -> Any:
    """Phase planes side by side: the last cycles, and the section."""
    panels = [(label, part, axis) for label, part in found.items() for axis in axes_shown]
    sheet = Figure(figsize=(4.3 * len(panels) + 0.4, 4.2), layout="constrained")
    sheet.suptitle(title)
    for place, (label, part, axis) in enumerate(panels):
        axes = sheet.add_subplot(1, len(panels), place + 1)
        u, v = (part.columns.index(f"{kind}{axis}_2") for kind in "UV")
        at = part.reference[u]
        axes.plot(at + part.track[:, u], part.track[:, v], color=tools.BLUE, linewidth=0.6)
        axes.plot(at + part.points[:, u], part.points[:, v], ".", color=tools.RED, markersize=4)
        name = "x" if axis == 1 else "z"
        kind = f"period {part.period}" if part.period else "no period"
        axes.set(title=f"{label}: {kind}", xlabel=f"{name} [m]", ylabel=f"d{name}/dt [m/s]")
        axes.grid(True, color="#DDDDDD", linewidth=0.6)
        if np.ptp(part.track[:, u]) < 1e-6:
            axes.set(xlim=(-1, 1), ylim=(-1, 1))
    return sheet


def series_figure(series: dict[str, tuple[np.ndarray, np.ndarray]]) -> Any:
    sheet, panels = tools.panels("Figure 7: A = 0, beta = 0.5, k = 1000, k2 = 0.01", "time [s]", "x [m]", "z [m]")
    for (name, (time, x)), colour, line in zip(series.items(), COLOURS, ("-", "--", ":"), strict=True):
        for axis in range(2):
            panels[axis].plot(time, x[:, axis], line, color=colour, label=name, linewidth=1.6)
    tools.legend(panels[0])
    return sheet


# -------------------------------------------------------------------------------------------------- tables
def slug(label: str) -> str:
    return label.replace(" = ", "").replace(" ", "_").replace(".", "_")


def write_track(path: Path, found: Section) -> None:
    """The curves of a phase plane."""
    write(path, ["time", *found.columns], np.column_stack([found.track_time, found.track]))


def write_series(path: Path, series: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """The curves of figure 7."""
    names = ["time", *(f"{axis}_{name}" for name in series for axis in "xz")]
    write(path, names, np.column_stack([series["rigid"][0], *(x for _, x in series.values())]))


def write(path: Path, names: Sequence[str], rows: np.ndarray) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows([f"{value:.9g}" for value in row] for row in rows)
