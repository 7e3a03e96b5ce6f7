"""A string pendulum shaken up and down: taut and slack phases and impacts against an event-driven ODE code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import rope

NAME = "rope_pendulum"
TITLE = "string pendulum on a shaken support"
SOURCE = (
    "Phases and impacts integrated to 1e-12 (references/rope.py), with the numbers of the paper of the forced string "
    "pendulum: L = 5 m, omega = 0.9 sqrt(g/L), damping 0.5, no restitution. Deck inputs/string_pendulum_rope.inp."
)
LONG = False

AMPLITUDES, ANGLES = (2.0, 8.0, 10.0), (0.1, np.pi / 4)
INCREMENT, DURATION, CLOSE_UNTIL = 1.25e-4, 60.0, 30.0
LIMITS = {2.0: (0.0, 1e-7), 8.0: (4e-7, 8e-7), 10.0: (9e-6, 4e-6)}
"""Errors of events [s] and of the path [m] by amplitude: about four times the second-order error at this increment."""
EVERY = 80
STEPS = 0.016 / 2.0 ** np.arange(5)


def run(folder: Path) -> Outcome:
    """Six motions of 60 s with events located; one by Moreau-Jean time stepping with five increments."""
    rows: list[Row] = []
    figures = {}
    for amplitude in AMPLITUDES:
        for angle in ANGLES:
            history = _run(amplitude, angle, INCREMENT, DURATION)
            instants = history.time[::EVERY]
            exact = rope.path(rope.Shaken(amplitude), float(angle), instants)
            rows += _compare(
                f"A = {amplitude:g} m, theta_0 = {angle:.4g}", history, exact, instants, *LIMITS[amplitude]
            )
            if angle == ANGLES[0]:
                figures[f"path_{amplitude:g}"] = _figure(amplitude, instants, exact, history)
    errors = np.array([_moreau_error(float(dt)) for dt in STEPS])
    order = float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])
    why = "ODE: first order; the error depends on where in an increment the impact falls, hence 0.25"
    rows.append(Row(Target("Moreau-Jean: order of the path in dt, A = 8 m, 6 s", 1.0, "order", why, 0.25), order))
    title = "Moreau-Jean time stepping: error of the path, 0 to 6 s"
    figures["moreau"] = tools.convergence(title, "increment [s]", "rms error [m]", STEPS, errors, 1.0)
    return Outcome(tuple(rows), figures)


def _run(amplitude: float, angle: float, dt: float, period: float, impact: str = "EVENT") -> Any:
    model = tools.deck("string_pendulum_rope", {"A": amplitude, "theta0": float(angle), "dt": dt, "duration": period})
    return fem.run(tools.with_controls(model, impact=impact))


def _compare(
    name: str, history: Any, exact: rope.Path, instants: np.ndarray, event_limit: float, path_limit: float
) -> list[Row]:
    found = [event for event in history.events if event.event in ("impact", "slack")]
    count = sum(event.event == "impact" for event in found)
    wanted = sum(kind == "impact" for _, kind, _ in exact.events)
    why = "ODE: the same impacts"
    rows = [Row(Target(f"{name}: impacts in 60 s, less those of the ODE", 0.0, "exact", why), count - wanted)]
    if wanted and len(found) == len(exact.events):
        late = max(abs(event.time - time) for event, (time, _, _) in zip(found, exact.events, strict=True))
        why = "ODE: four times the second-order error"
        rows.append(
            Row(Target(f"{name}: largest error of an event's time [s]", 0.0, "absolute", why, event_limit), late)
        )
    early = instants <= CLOSE_UNTIL
    place = history.positions(2)[::EVERY][:, [0, 2]]
    miss = float(np.abs(place - exact.position)[early].max())
    why = "ODE: four times the second-order error"
    rows.append(Row(Target(f"{name}: largest error of the path to 30 s [m]", 0.0, "absolute", why, path_limit), miss))
    return rows


def _moreau_error(dt: float) -> float:
    history = _run(8.0, 0.1, dt, 6.0, "MOREAU")
    exact = rope.path(rope.Shaken(8.0), 0.1, history.time)
    return float(np.sqrt(np.mean((history.positions(2)[:, [0, 2]] - exact.position) ** 2)))


def _figure(amplitude: float, instants: np.ndarray, exact: rope.Path, history: Any) -> Any:
    title = f"String pendulum, support A = {amplitude:g} m"
    sheet, (upper, lower) = tools.panels(title, "time [s]", "x [m]", "z [m]")
    computed = history.positions(2)[::EVERY]
    for axes, k, axis in ((upper, 0, 0), (lower, 1, 2)):
        axes.plot(instants, exact.position[:, k], color=tools.BLUE, label="event-driven ODE")
        axes.plot(instants[::50], computed[::50, axis], "o", color=tools.ORANGE, markersize=3, label="computed")
    slack = [time for time, kind, _ in exact.events if kind == "slack"]
    taut = [time for time, kind, _ in exact.events if kind == "impact"]
    if taut and (not slack or taut[0] < slack[0]):
        slack.insert(0, 0.0)
    for number, start in enumerate(slack):
        end = min((time for time in taut if time > start), default=float(instants[-1]))
        for axes in (upper, lower):
            axes.axvspan(start, end, color="#DDDDDD", zorder=0, label="" if number else "slack")
    tools.legend(upper)
    return sheet
