"""A mass on a string below a support that moves up and down: taut and slack phases and impacts, event by event.

The support is at z_s = A cos(omega t), the string has length L, the mass m and a drag beta v (absolute velocity).

    slack   x'' = - (beta/m) x',  z'' = - g - (beta/m) z'                     until x^2 + (z - z_s)^2 = L^2
    impact  relative velocity w = v - v_s: its radial part becomes - c times itself, the tangential one stays;
            energy lost m w_r^2 (1 - c^2)/2
    taut    x = L sin theta, z = z_s - L cos theta,
            theta'' = - (g + z_s'')/L sin theta - (beta/m) theta' - (beta/m) z_s'/L sin theta      until N = 0,
            N/m = L theta'^2 + (g + z_s'' + (beta/m) z_s') cos theta

After an impact the string stays taut where c = 0 and N >= 0. Integrated by scipy's DOP853 to 1e-12, phase by phase.
Source of the model: the paper of the forced string pendulum, (1.4) and (4.1)-(4.5), with the impact law in the moving
frame and release decided by the tension.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
ACCURACY = 1e-12
LONGEST_STEP = 0.02
"""Events are looked for once a step of the integrator; none hides in less than this."""


@dataclass(frozen=True, slots=True)
class Shaken:
    """The paper's numbers; ``mass`` 1."""

    amplitude: float
    length: float = 5.0
    gravity: float = 9.8
    drag: float = 0.5
    restitution: float = 0.0

    @property
    def omega(self) -> float:
        """Of the support."""
        return float(0.9 * np.sqrt(self.gravity / self.length))

    def support(self, t: float) -> tuple[float, float, float]:
        """Height, velocity and acceleration of the support."""
        w, a = self.omega, self.amplitude
        return a * np.cos(w * t), -a * w * np.sin(w * t), -a * w * w * np.cos(w * t)


@dataclass(frozen=True, slots=True)
class Path:
    """Positions (k, 2) x, z at the instants asked for; ``events``: (time, "impact" or "slack", energy lost)."""

    position: Array
    events: tuple[tuple[float, str, float], ...]


def path(model: Shaken, theta: float, instants: Array) -> Path:
    """Motion from rest in the laboratory frame, the string straight at the angle theta; instants (k,) from 0 on."""
    length = model.length
    height, speed, _ = model.support(0.0)
    t, end = 0.0, float(instants[-1])
    state = np.array([length * np.sin(theta), height - length * np.cos(theta), 0.0, 0.0])
    position = np.full((len(instants), 2), np.nan)
    events: list[tuple[float, str, float]] = []
    taut = _tension(model, t, theta, -speed * np.sin(theta) / length) >= 0.0
    while t < end:
        phase = _taut if taut else _slack
        t_next, state, inside, places = phase(model, t, state, end, instants)
        position[inside] = places
        t = t_next
        if t >= end:
            break
        if taut:
            events.append((t, "slack", 0.0))
            taut = False
        else:
            state, lost = _impact(model, t, state)
            events.append((t, "impact", lost))
            angle, rate = _angles(model, t, state)
            taut = model.restitution == 0.0 and _tension(model, t, angle, rate) >= 0.0
    return Path(position, tuple(events))


def exponent(model: Shaken, theta: float, cycles: int, skipped: int) -> float:
    """Largest Lyapunov exponent: two motions, brought close again once a cycle unless only one of them is taut."""
    cycle, close, total, since = 2.0 * np.pi / model.omega, 1e-7, 0.0, 1e-7
    first = np.array([model.length * np.sin(theta), model.amplitude - model.length * np.cos(theta), 0.0, 0.0])
    second = first + [0.0, 0.0, 0.0, close]
    taut = [_tension(model, 0.0, theta, 0.0) >= 0.0] * 2
    for n in range(cycles):
        first, taut[0] = _advance(model, n * cycle, (n + 1) * cycle, first, taut[0])
        second, taut[1] = _advance(model, n * cycle, (n + 1) * cycle, second, taut[1])
        if taut[0] != taut[1]:
            continue
        grown = float(np.linalg.norm(second - first))
        total += np.log(grown / since) if n >= skipped else 0.0
        second = first + close / grown * (second - first)
        if taut[1]:
            second = _straight(model, (n + 1) * cycle, *_angles(model, (n + 1) * cycle, second))
        since = float(np.linalg.norm(second - first))
    return float(total / ((cycles - skipped) * cycle))


def _advance(model: Shaken, t: float, end: float, state: Array, taut: bool) -> tuple[Array, bool]:
    """From t to the end through all events."""
    while t < end:
        t, state, _, _ = (_taut if taut else _slack)(model, t, state, end, np.zeros(0))
        if t < end and taut:
            taut = False
        elif t < end:
            state, _ = _impact(model, t, state)
            taut = model.restitution == 0.0 and _tension(model, t, *_angles(model, t, state)) >= 0.0
    return state, taut


def _straight(model: Shaken, t: float, theta: float, rate: float) -> Array:
    """State of a straight string."""
    height, speed, _ = model.support(t)
    length, sine, cosine = model.length, np.sin(theta), np.cos(theta)
    return np.array([length * sine, height - length * cosine, length * rate * cosine, speed + length * rate * sine])


def _tension(model: Shaken, t: float, theta: float, rate: float) -> float:
    _, velocity, acceleration = model.support(t)
    return float(
        model.length * rate**2 + (model.gravity + acceleration + model.drag * velocity) * np.cos(theta)
    )  # per mass


def _angles(model: Shaken, t: float, state: Array) -> tuple[float, float]:
    """theta and its rate of a straight string."""
    height, speed, _ = model.support(t)
    x, z, vx, vz = state
    theta = float(np.arctan2(x, height - z))
    return theta, float((vx * np.cos(theta) + (vz - speed) * np.sin(theta)) / model.length)


def _impact(model: Shaken, t: float, state: Array) -> tuple[Array, float]:
    height, speed, _ = model.support(t)
    outward = np.array([state[0], state[1] - height]) / np.hypot(state[0], state[1] - height)
    approach = float(outward @ (state[2:] - [0.0, speed]))
    after = state.copy()
    after[2:] -= (1.0 + model.restitution) * approach * outward
    return after, 0.5 * approach**2 * (1.0 - model.restitution**2)


def _slack(model: Shaken, t: float, state: Array, end: float, instants: Array) -> tuple[float, Array, Array, Array]:
    def rates(_: float, y: Array) -> list[float]:
        return [y[2], y[3], -model.drag * y[2], -model.gravity - model.drag * y[3]]

    def gap(now: float, y: Array) -> float:
        return float(np.hypot(y[0], y[1] - model.support(now)[0]) - model.length) if now > t + 1e-9 else -1.0

    found, inside, y = _integrate(rates, gap, 1.0, t, state, end, instants)
    return found[0], found[1], inside, y[:2].T


def _taut(model: Shaken, t: float, state: Array, end: float, instants: Array) -> tuple[float, Array, Array, Array]:
    length = model.length

    def rates(now: float, y: Array) -> list[float]:
        _, velocity, acceleration = model.support(now)
        pull = (model.gravity + acceleration + model.drag * velocity) / length
        return [y[1], -pull * np.sin(y[0]) - model.drag * y[1]]

    def tension(now: float, y: Array) -> float:
        return _tension(model, now, y[0], y[1])

    start = np.array(_angles(model, t, state))
    (now, last), inside, y = _integrate(rates, tension, -1.0, t, start, end, instants)
    state = _straight(model, now, float(last[0]), float(last[1]))
    heights = np.array([model.support(instant)[0] for instant in instants[inside]])
    return now, state, inside, np.column_stack([length * np.sin(y[0]), heights - length * np.cos(y[0])])


def _integrate(
    rates: object, event: object, direction: float, t: float, start: Array, end: float, instants: Array
) -> tuple[tuple[float, Array], Array, Array]:
    """Up to the event or the end: (time, state) there, which instants lie before, and the states at them."""
    event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
    solution = solve_ivp(
        rates, (t, end), start, method="DOP853", rtol=ACCURACY, atol=1e-13, max_step=LONGEST_STEP, events=event,
        dense_output=True,
    )  # fmt: skip
    inside = np.flatnonzero((instants >= t) & (instants <= solution.t[-1]))
    states = solution.sol(instants[inside]) if len(inside) else np.zeros((len(start), 0))
    return (float(solution.t[-1]), np.asarray(solution.y[:, -1])), inside, states
