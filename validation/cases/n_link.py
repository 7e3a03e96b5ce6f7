"""Pendulums of 1, 2, 3 and 5 rods: angles, speeds, energies and joint reactions against Lagrange's equations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.lines.pendulums import Pendulum
from fem.study.validation import Outcome, Row, Target
from validation import links, tools
from validation.references.links import Motion, solve

NAME = "n_link"
TITLE = "pendulums of N links: bars, point masses on rods, unequal links"
SOURCE = (
    "N-link compound pendulum simulation (5 links of 1 m and 1 kg, each 30 degrees from the previous one). Reference: "
    "Lagrange's equations in the angles, DOP853 to 1e-13 (validation/references/links.py). Misprints of the document: "
    "theta'' is squared in its moment equation, which needs Rx cos - Ry sin; the half term of its x-equation has the "
    "wrong sign; m L^2/6 should be m L/6."
)
LONG = False

DT = 1e-4
DOCUMENT = "5 bars"
PENDULUMS = {
    "1 bar": Pendulum((1.0,), (1.0,), (90.0,)),
    "2 bars": Pendulum((1.0,) * 2, (1.0,) * 2, (60.0, 30.0)),
    "3 unequal bars, moving": Pendulum((1.0, 0.6, 1.5), (2.0, 0.5, 1.0), (40.0, -70.0, 25.0), (60.0, -90.0, 30.0)),
    DOCUMENT: Pendulum((1.0,) * 5, (1.0,) * 5, (30.0,) * 5),
    "2 points": Pendulum((1.0,) * 2, (1.0,) * 2, (60.0, 30.0), body="point"),
    "3 unequal points, moving": Pendulum(
        (1.0, 0.6, 1.5), (2.0, 0.5, 1.0), (40.0, -70.0, 25.0), (60.0, -90.0, 30.0), body="point"
    ),
    "5 points": Pendulum((1.0,) * 5, (1.0,) * 5, (30.0,) * 5, body="point"),
}
LIMITS = {
    "1 bar": (2e-7, 1e-6, 2e-7, 1e-6),
    "2 bars": (4e-7, 4e-6, 1e-7, 1.5e-6),
    "3 unequal bars, moving": (1e-6, 1e-5, 4e-7, 5e-6),
    DOCUMENT: (1e-6, 2e-5, 5e-8, 1e-5),
    "2 points": (2e-7, 1.5e-6, 8e-8, 1e-6),
    "3 unequal points, moving": (6e-7, 5e-6, 2e-7, 5e-6),
    "5 points": (7e-7, 7e-6, 4e-8, 1e-4),
}
"""Angles, angular speeds, energies, forces: three to five times the second-order error, which is the same in every run.

Round-off of positions comes into forces over dt^2: for five point masses 1e-6 of the weight, but 1e-5 to 5e-5 in one
increment of 9999, at 0.956 s, where the iterations stop 5e-12 m off; how much depends on the last digits.
"""
PUBLISHED = (0.349347349, 0.278876197, 0.096129933, -0.432294876, -0.711346249)
"""Angles of the document's five bars at 1 s [rad], recomputed from the corrected equations."""
LINK_COLOURS = (tools.BLUE, tools.ORANGE, tools.GREEN, tools.RED, "#CC79A7")


def run(folder: Path) -> Outcome:
    """One second of each pendulum at two increments; six of the document's for the figures."""
    rows: list[Row] = []
    for name, described in PENDULUMS.items():
        found = [compared(replace(described, time=1.0, dt=dt)) for dt in (8 * DT, 4 * DT, DT)]
        rows += _rows(name, *found)
        if name == DOCUMENT:
            rows += _published(found[-1]["angles at the end"])
    described = replace(PENDULUMS[DOCUMENT], time=6.0, dt=DT)
    history = fem.run(tools.of_links(described))
    motion = solve(links.reference(described), history.time)
    figures = {
        "angles": _angle_figure(history, motion),
        "energies": _energy_figure(history, motion),
        "motion": _motion_figure(history, motion),
        "reactions": _reaction_figure(history, motion, described),
        "divergence": _divergence_figure(history, motion),
    }
    growth = np.abs(tools.link_angles(history) - motion.theta).max(axis=1)
    at = [round(t / DT) for t in (1.0, 3.0, 5.0, 6.0)]
    listed = ", ".join(f"{history.time[k]:g} s: {growth[k]:.2g}" for k in at)
    return Outcome(tuple(rows), figures, (f"{DOCUMENT}, chaotic: largest angle error [rad] at {listed}.",))


def compared(described: Pendulum) -> dict[str, Any]:
    """Largest differences between run and reference over the run."""
    history = fem.run(tools.of_links(described))
    exact = solve(links.reference(described), history.time)
    theta = tools.link_angles(history)
    shift = history.energy[0, 2] - exact.potential[0]
    energies = (history.of_energy("kinetic") - exact.kinetic, history.of_energy("potential") - exact.potential - shift)
    total = history.energy[:, :3].sum(1)
    support = links.at_joints(history.of_node(1, "reactions")[:, [0, 2]]) - exact.reactions[1:-1, 0]
    tension = links.at_joints(history.elements[:, : described.links, 3]) - exact.tension[1:-1]
    reactions = links.joint_reactions(history, described) - exact.reactions[1:-1]
    return {
        "angles at the end": theta[-1],
        "angle": np.abs(theta - exact.theta).max(),
        "speed": np.abs(links.speeds(history) - exact.omega).max(),
        "energy": max(np.abs(difference).max() for difference in energies) / np.ptp(exact.potential),
        "drift": np.abs(total - total[0]).max() / np.ptp(exact.potential),
        "tension": np.abs(tension).max(),
        "reaction": np.abs(reactions).max(),
        "support": np.abs(support).max(),
        "stretch": links.stretch(history, described).max(),
        "weight": sum(described.masses) * described.gravity,
    }


def _rows(name: str, coarse: dict[str, Any], middle: dict[str, Any], fine: dict[str, Any]) -> list[Row]:
    """Differences at the finer increment and the orders at which they vanish."""
    why = f"ODE: Lagrange's equations, DOP853 to 1e-13; second-order error at dt = {DT:g} s, three to five times"
    angle, speed, energy, force = LIMITS[name]
    limits = {
        "angle": ("angles [rad]", fine["angle"], angle),
        "speed": ("angular speeds [rad/s]", fine["speed"], speed),
        "energy": ("kinetic and potential energy, relative", fine["energy"], energy),
        "tension": ("rod forces, relative to the weight", fine["tension"] / fine["weight"], force),
        "reaction": ("joint reactions, relative to the weight", fine["reaction"] / fine["weight"], force),
        "support": ("support reaction, relative to the weight", fine["support"] / fine["weight"], force),
    }
    rows = [
        Row(Target(f"{name}: largest difference of {quantity}", 0.0, "absolute", why, tolerance), float(found))
        for quantity, found, tolerance in limits.values()
    ]
    why = "analytic: second-order scheme; 0.003 for the next term of the error (0.001)"
    for key in ("angle", "reaction"):
        order = float(np.log2(coarse[key] / middle[key]))
        rows.append(Row(Target(f"{name}: order of the {key}s", 2.0, "order", why, 0.003), order))
    why = "analytic: kept exactly; round-off, 3e-14 and 2e-15"
    rows.append(Row(Target(f"{name}: energy error, relative", 0.0, "absolute", why, 3e-13), float(fine["drift"])))
    rows.append(Row(Target(f"{name}: largest |l - L0| [m]", 0.0, "absolute", why, 1e-13), float(fine["stretch"])))
    return rows


def _published(theta: Any) -> list[Row]:
    """The five bars of the document at 1 s."""
    why = "ODE: corrected equations of the document, nine printed decimals; 1e-6 for the second-order error"
    return [
        Row(Target(f"{DOCUMENT}: angle of link {i} at 1 s [rad]", value, "absolute", why, 1e-6), float(found))
        for i, (value, found) in enumerate(zip(PUBLISHED, theta, strict=True), 1)
    ]


# ------------------------------------------------------------------------------------------------------------- figures
def _lines(axes: Any, time: Any, values: Any, exact: Any, every: int = 1000) -> None:
    """A line per link, its reference as dots."""
    for i, colour in enumerate(LINK_COLOURS):
        axes.plot(time, values[:, i], color=colour, linewidth=1, label=f"link {i + 1}")
        axes.plot(time[::every], exact[::every, i], "o", color=colour, markersize=3)
    axes.plot([], [], "o", color=tools.GREY, markersize=3, label="reference")


def _angle_figure(history: Any, motion: Motion) -> Any:
    labels = ("angle from the vertical [°]", "angular speed [rad/s]")
    sheet, panels = tools.panels(f"{DOCUMENT}: angles, dt = {DT:g} s", "time [s]", *labels)
    _lines(panels[0], history.time, np.degrees(tools.link_angles(history)), np.degrees(motion.theta))
    _lines(panels[1], history.time, links.speeds(history), motion.omega)
    tools.legend(panels[0])
    return sheet


def _energy_figure(history: Any, motion: Motion) -> Any:
    labels = ("energy [J]", "error of TE [J]")
    sheet, (upper, lower) = tools.panels(f"{DOCUMENT}: energies, dt = {DT:g} s", "time [s]", *labels)
    shift = history.energy[0, 2] - motion.potential[0]
    kinetic, potential = history.of_energy("kinetic"), history.of_energy("potential") - shift
    exact = (motion.kinetic, motion.potential, motion.kinetic + motion.potential)
    named = (("KE", kinetic, tools.BLUE), ("PE", potential, tools.ORANGE), ("TE", kinetic + potential, "black"))
    for (name, values, colour), points in zip(named, exact, strict=True):
        upper.plot(history.time, values, color=colour, linewidth=1, label=name)
        upper.plot(history.time[::1000], points[::1000], "o", color=colour, markersize=3)
    upper.plot([], [], "o", color=tools.GREY, markersize=3, label="reference")
    lower.plot(history.time, kinetic + potential - exact[2][0], color="black", linewidth=0.8)
    tools.legend(upper)
    return sheet


def _motion_figure(history: Any, motion: Motion) -> Any:
    """Lower end of each link: place, speed, acceleration."""
    labels = ("x [m]", "z [m]", "speed [m/s]", "acceleration [m/s²]")
    sheet, panels = tools.panels(f"{DOCUMENT}: lower end of each link, dt = {DT:g} s", "time [s]", *labels)
    x, v, a = (links.in_plane(history, field)[:, 1:] for field in ("x", "v", "a"))
    _lines(panels[0], history.time, x[..., 0], motion.x[:, 1:, 0])
    _lines(panels[1], history.time, x[..., 1], motion.x[:, 1:, 1])
    _lines(panels[2], history.time, np.linalg.norm(v, axis=-1), np.linalg.norm(motion.v[:, 1:], axis=-1))
    _lines(panels[3], history.time, np.linalg.norm(a, axis=-1), np.linalg.norm(motion.a[:, 1:], axis=-1))
    panels[3].set_yscale("symlog", linthresh=50)
    tools.legend(panels[0])
    return sheet


def _reaction_figure(history: Any, motion: Motion, described: Pendulum) -> Any:
    """Force on the upper end of each link."""
    labels = ("$R_x$ [N]", "$R_z$ [N]")
    sheet, panels = tools.panels(f"{DOCUMENT}: force on the upper end of each link", "time [s]", *labels)
    found = links.joint_reactions(history, described)
    for axis, axes in enumerate(panels):
        _lines(axes, history.time[1:-1], found[..., axis], motion.reactions[1:-1, :, axis])
        axes.set_yscale("symlog", linthresh=100)
    tools.legend(panels[0])
    return sheet


def _divergence_figure(history: Any, motion: Motion) -> Any:
    """How the error of a second-order rule grows in a chaotic motion."""
    sheet, axes = tools.figure(
        f"{DOCUMENT}: difference from the reference, dt = {DT:g} s", "time [s]", "angle difference [rad]"
    )
    off = np.abs(tools.link_angles(history) - motion.theta)
    for i, colour in enumerate(LINK_COLOURS):
        axes.semilogy(history.time[1:], off[1:, i], color=colour, linewidth=0.8, label=f"link {i + 1}")
    tools.legend(axes)
    return sheet
