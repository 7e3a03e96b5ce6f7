"""One pendulum, many methods: the Calcpad worksheet in its angle, and the same pendulum as a stiff bar beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.lines.pendulums import Pendulum
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import calcpad, pendulum

NAME = "calcpad"
TITLE = "simple pendulum by many methods (Calcpad worksheet), and as a stiff bar"
SOURCE = (
    "Calcpad, Comparison of several methods for analysis of simple undamped pendulum; g = 9.81, l = 1, 60 degrees, "
    "h = 0.05 s. Misprints corrected: dn = sqrt(1 - k^2 sn^2), omega' = -(g/l) sin theta, Crank-Nicolson is implicit. "
    "The worksheet integrates the angle. A bar has positions as unknowns and an axial vibration in addition: its "
    "results belong to another discretisation and are given for comparison."
)
LONG = False

SWING = calcpad.Swing()
STIFFNESS = 1e6
# Name in the deck, its order, n of the increments h/n that show it.
INTEGRATORS = (("NEWMARK", 2, (8, 16)),)
LEFT = 0.5
"""A bar whose angle is off by more than this [rad] has left the true motion."""
COLOURS = dict(
    zip(("exact", *calcpad.METHODS), ("black", tools.RED, tools.GREEN, tools.BLUE, tools.ORANGE), strict=True)
)
STYLES = dict(zip(calcpad.METHODS, (":", "-.", "-", "--"), strict=True))


def run(folder: Path) -> Outcome:
    """Numbers and figures of the worksheet; the bar at h, and its order at finer increments."""
    paths = {method: calcpad.march(method, SWING) for method in calcpad.METHODS}
    rows = [*_periods(), *_methods(paths), *_printed(paths)]
    figures = {
        "period_error": _period_figure(),
        "rotation": _rotation_figure(paths),
        "energy": _energy_figure(paths, tuple(calcpad.METHODS), "Energy by four methods, h = 0.05 s", log=True),
        "comparison": _comparison_figure(paths),
        "comparison_energy": _energy_figure(
            paths, ("Crank-Nicolson", "Runge-Kutta 4"), "Energy by Crank-Nicolson and Runge-Kutta 4, h = 0.05 s"
        ),
    }
    bars = {name: bar(name, 1) for name, _, _ in INTEGRATORS}
    rows += [row for integrator in INTEGRATORS for row in _orders(*integrator)]
    figures["bar"] = _bar_figure(bars)
    return Outcome(tuple(rows), figures, tuple(_remark(name, *found) for name, found in bars.items()))


# ------------------------------------------------------------------------------------------ the worksheet's numbers
def _periods() -> list[Row]:
    """Periods, energy, the exact angle at the end."""
    small, exact = 2 * np.pi / SWING.omega0, pendulum.period(SWING.omega0, SWING.theta0)
    final = float(calcpad.exact(SWING, SWING.times)[0][-1])
    why = "40-digit recomputation of the worksheet; half a unit of its last digit, or round-off"
    return [
        Row(Target("small-angle period [s]", calcpad.PERIOD_SMALL, "absolute", why, 5e-9), small),
        Row(Target("exact period [s]", calcpad.PERIOD_EXACT, "absolute", why, 5e-9), exact),
        Row(Target("error of the small-angle period", calcpad.PERIOD_ERROR, "absolute", why, 5e-8), 1 - small / exact),
        Row(Target("energy at the start [J]", calcpad.ENERGY, "absolute", why, 1e-14), float(_energy(SWING.theta0, 0))),
        Row(Target("exact angle at 10 s [rad]", calcpad.EXACT_FINAL, "absolute", why, 1e-13), final),
    ]


def _methods(paths: dict[str, Any]) -> list[Row]:
    """Angle, angular velocity and energy at 10 s by each method."""
    rows = []
    why = "40-digit recomputation of the worksheet's steps; half a unit of its ten decimals"
    for method, (theta, omega) in paths.items():
        found = (theta[-1], omega[-1], _energy(theta[-1], omega[-1]))
        names = ("angle [rad]", "angular velocity [rad/s]", "energy [J]")
        for name, value, computed in zip(names, calcpad.FINAL[method], found, strict=True):
            rows.append(Row(Target(f"{method}: {name} at 10 s", value, "absolute", why, 5e-11), float(computed)))
    return rows


def _printed(paths: dict[str, Any]) -> list[Row]:
    """The worksheet's own three digits."""
    small, exact = 2 * np.pi / SWING.omega0, pendulum.period(SWING.omega0, SWING.theta0)
    found = {"T": small, "f": 1 / small, "T_e": exact, "f_e": 1 / exact, "omega": SWING.omega0}
    found |= {"omega_e": 2 * np.pi / exact, "E_0": float(_energy(SWING.theta0, 0)), "error": 100 * (1 - small / exact)}
    pairs = [(name, calcpad.PRINTED[name], value) for name, value in found.items()]
    for method, (theta, omega) in paths.items():
        printed = calcpad.PRINTED_STEPS[method]
        pairs += [(f"{method} theta_2", printed[0], theta[1]), (f"{method} omega_2", printed[1], omega[1])]
    why = "published: Calcpad worksheet; half a unit of three digits is up to 0.5 %"
    return [
        Row(Target(f"as printed: {name}", value, "relative", why, 0.005), float(computed))
        for name, value, computed in pairs
    ]


def _energy(theta: Any, omega: Any) -> Any:
    return SWING.energy(theta, omega)


# -------------------------------------------------------------------------------------------- the pendulum as a bar
def bar(integrator: str, division: int) -> tuple[Any, Any, str]:
    """Times, angles of the bar at h/division, and why it stopped early, if it did."""
    described = Pendulum(
        (SWING.length,),
        (SWING.mass,),
        (np.degrees(SWING.theta0),),
        body="point",
        stiffness=STIFFNESS,
        gravity=SWING.gravity,
        time=SWING.h * SWING.steps,
        dt=SWING.h / division,
        integrator=integrator,
    )
    try:
        history = fem.run(tools.with_controls(tools.of_links(described), residual_relative=1e-9, energy_drift=None))
    except fem.NoConvergence as error:
        history = error.history
        return history.time, tools.link_angles(history)[:, 0], str(error)
    except fem.ModelError as error:  # the explicit rule refuses an increment above its limit
        return np.zeros(1), np.array([SWING.theta0]), str(error)
    return history.time, tools.link_angles(history)[:, 0], ""


def _orders(name: str, order: int, divisions: tuple[int, int]) -> list[Row]:
    """Order of the angle of the elastic pendulum, over the 200 instants of the worksheet."""
    exact, errors = calcpad.elastic(SWING, STIFFNESS, SWING.times), []
    for division in divisions:
        _, theta, stopped = bar(name, division)
        reached = not stopped and len(theta) == division * SWING.steps + 1
        errors.append(np.abs(theta[::division] - exact).max() if reached else np.nan)
    why = "ODE: point mass on an elastic bar, DOP853 to 1e-12; 0.015 for the next term of the error (0.005)"
    quantity = f"bar, {name}: order of the angle, h/{divisions[0]} to h/{divisions[1]}"
    found = float(tools.orders(np.array(errors), divisions[1] / divisions[0])[0])
    return [Row(Target(quantity, float(order), "order", why, 0.015), found)]


def _remark(name: str, times: Any, theta: Any, stopped: str) -> str:
    """How the bar fares at the worksheet's increment."""
    off = np.abs(theta - calcpad.exact(SWING, times)[0])
    left = np.flatnonzero(off > LEFT)
    text = f"Bar of EA = {STIFFNESS:g} N, {name}, h = {SWING.h:g} s, energy watch off: "
    if stopped:
        return text + f"stops at {times[-1]:.2f} s ({stopped.splitlines()[0]})."
    if len(left):
        return text + f"leaves the true motion at {times[left[0]]:.2f} s (angle off by more than {LEFT:g} rad)."
    return text + f"theta(10) = {theta[-1]:.6f} rad, off by {theta[-1] - calcpad.EXACT_FINAL:+.3g}."


# ------------------------------------------------------------------------------------------------------------- figures
def _period_figure() -> Any:
    sheet, axes = tools.figure(
        "Error of the small-angle period", "initial angle $\\theta_0$ [°]", "$(T_e - T)/T_e$ [%]"
    )
    degrees = np.linspace(0, 175, 351)
    axes.plot(degrees, 100 * calcpad.period_error(np.radians(degrees)), color=tools.BLUE, label="small-angle period")
    axes.plot(60, 100 * calcpad.PERIOD_ERROR, "o", color=tools.RED, label="this pendulum: 60°, 6.82 %")
    axes.set(xlim=(0, 180), ylim=(0, None), xticks=range(0, 181, 30))
    tools.legend(axes)
    return sheet


def _rotation_figure(paths: dict[str, Any]) -> Any:
    sheet, axes = tools.figure("Rotation by all methods, h = 0.05 s", "time [s]", "rotation $\\theta$ [°]")
    fine = np.linspace(0, SWING.times[-1], 1001)
    axes.plot(fine, np.degrees(calcpad.exact(SWING, fine)[0]), color=COLOURS["exact"], linewidth=2.5, label="exact")
    axes.plot(fine, np.degrees(calcpad.small_angle(SWING, fine)[0]), color=tools.GREY, label="small angles")
    for method, (theta, _) in paths.items():
        gone = f" ({np.degrees(theta[-1]):.0f}° at 10 s)" if abs(theta[-1]) > np.pi else ""
        axes.plot(SWING.times, np.degrees(theta), STYLES[method], color=COLOURS[method], label=method + gone)
    axes.set_ylim(-150, 150)
    tools.legend(axes)
    return sheet


def _energy_figure(paths: dict[str, Any], methods: tuple[str, ...], title: str, log: bool = False) -> Any:
    sheet, axes = tools.figure(title, "time [s]", "energy [J]")
    axes.axhline(calcpad.ENERGY, color=COLOURS["exact"], linewidth=2, label="exact")
    for method in methods:
        axes.plot(SWING.times, _energy(*paths[method]), STYLES[method], color=COLOURS[method], label=method)
    if log:
        axes.set_yscale("log")
    tools.legend(axes)
    return sheet


def _comparison_figure(paths: dict[str, Any]) -> Any:
    """Crank-Nicolson and Runge-Kutta 4: rotation above, absolute error below."""
    labels = ("rotation $\\theta$ [°]", "absolute error $|\\Delta\\theta|$ [°]")
    sheet, (upper, lower) = tools.panels("Crank-Nicolson and Runge-Kutta 4, h = 0.05 s", "time [s]", *labels)
    exact = calcpad.exact(SWING, SWING.times)[0]
    fine = np.linspace(0, SWING.times[-1], 1001)
    upper.plot(fine, np.degrees(calcpad.exact(SWING, fine)[0]), color=COLOURS["exact"], linewidth=2.5, label="exact")
    for method in ("Crank-Nicolson", "Runge-Kutta 4"):
        theta = paths[method][0]
        upper.plot(SWING.times, np.degrees(theta), STYLES[method], color=COLOURS[method], label=method)
        error = np.degrees(np.abs(theta - exact))
        lower.plot(SWING.times[1:], error[1:], STYLES[method], color=COLOURS[method], label=method)
    lower.set_yscale("log")
    tools.legend(upper)
    tools.legend(lower)
    return sheet


def _bar_figure(bars: dict[str, tuple[Any, Any, str]]) -> Any:
    """The bar at the worksheet's increment by every integrator, as far as it goes."""
    title = f"The same pendulum as a bar of EA = {STIFFNESS:g} N, h = {SWING.h:g} s"
    sheet, axes = tools.figure(title, "time [s]", "rotation $\\theta$ [°]")
    fine = np.linspace(0, SWING.times[-1], 1001)
    axes.plot(fine, np.degrees(calcpad.exact(SWING, fine)[0]), color=COLOURS["exact"], linewidth=2.5, label="exact")
    marks = "os^vDP"
    for mark, (name, (times, theta, _)) in zip(marks, bars.items(), strict=False):
        axes.plot(times, np.degrees(theta), mark + "-", markersize=3, linewidth=0.8, label=name)
    axes.set_ylim(-100, 100)
    tools.legend(axes)
    return sheet
