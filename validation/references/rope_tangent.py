"""The tangent map of a mass on a string below a support that moves up and down, through impacts and releases.

Model and numbers of ``rope.Shaken``; here everything in Cartesian coordinates y = (x, z, x', z'). With the support's
motion s, r = (x, z) - s, w = r', e = r/|r|, f = (0, -g) - beta (x', z'):

    slack  a = f;  taut  a = f + mu r,  mu = - (w.w + r.(f - s''))/L^2;  the derivative of a gives that of the flow

At an event h(t, y) = 0 the state jumps to R(t, y), the flow from F- to F+, and a disturbance is mapped by the
*saltation matrix* S = R_y + (F+ - R_y F- - R_t) h_y/(h_t + h_y F-): the neighbour meets the event earlier or later, and
has the other flow for that time. Impact: h = |r| - L, R turns the velocity into v - (1 + c)(w.e) e. Release: at zero
tension F+ = F-, and S is one. Where the string is taut afterwards (c = 0) S leaves two dimensions.

Source: Aizerman, Gantmakher (1958); Leine, Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems
(2004), ch. 7. Exponents: Benettin et al. (1980), QR once a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from validation.references.rope import Shaken

Array = NDArray[np.float64]
TIGHT, LONGEST_STEP = 1e-11, 0.05
MOST_EVENTS = 1000
SLOWEST = 1e-6
"""Bounces that are slower, one of many that follow each other ever faster, are none: the string is taut."""
GRAVITY_AXIS = np.array([0.0, 1.0])


def tangent_map(
    model: Shaken, start: Array, taut: bool, begin: float, end: float, vectors: Array, tolerance: float = TIGHT
) -> tuple[Array, bool, Array]:
    """State (4,), whether taut, and disturbances (4, k) at the end, from those at the begin."""
    t, y, spread, free_until = begin, np.asarray(start, float), np.asarray(vectors, float), -np.inf
    for _ in range(MOST_EVENTS):
        t, y, spread = _phase(model, t, end, y, spread, taut, free_until, tolerance)
        if t >= end:
            return y, taut, _kept(model, t, y) @ spread if taut else spread
        if taut:
            taut, free_until = False, t + 1e-9
        else:
            y, taut, jump = impact(model, t, y)
            spread, free_until = jump @ spread, t + 1e-9
    raise RuntimeError(f"more than {MOST_EVENTS} events within {begin:g} to {end:g}")


def exponents(
    model: Shaken, theta: float, cycles: int, skipped: int, count: int = 1, tolerance: float = 1e-9
) -> tuple[Array, Array]:
    """The largest ``count`` Lyapunov exponents, and growth in every cycle counted (cycles - skipped, count) [1/s]."""
    cycle = 2.0 * np.pi / model.omega
    y = np.array([model.length * np.sin(theta), model.support(0.0)[0] - model.length * np.cos(theta), 0.0, 0.0])
    taut = tension(model, 0.0, y) >= 0.0
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(4, count)))[0]
    if taut:
        vectors = np.linalg.qr(_kept(model, 0.0, y) @ vectors)[0]
    rates = []
    for n in range(cycles):
        y, taut, vectors = tangent_map(model, y, taut, n * cycle, (n + 1) * cycle, vectors, tolerance)
        vectors, r = np.linalg.qr(vectors)
        rates.append(np.log(np.abs(np.diag(r))) / cycle)
    return np.mean(rates[skipped:], axis=0), np.array(rates[skipped:])


def impact(model: Shaken, t: float, y: Array) -> tuple[Array, bool, Array]:
    """State after the impact, whether the string is taut then, and the saltation matrix (4, 4)."""
    height, speed, push = model.support(t)
    r, w = np.array([y[0], y[1] - height]), np.array([y[2], y[3] - speed])
    size = float(np.hypot(*r))
    e = r / size
    bounce = 1.0 + (model.restitution if model.restitution * (w @ e) > SLOWEST else 0.0)
    turn = (np.eye(2) - np.outer(e, e)) / size  # de/dq
    after = y.copy()
    after[2:] -= bounce * (w @ e) * e
    taut = bounce == 1.0 and tension(model, t, after) >= 0.0
    reset = np.eye(4)
    reset[2:, :2] = -bounce * (np.outer(e, turn @ w) + (w @ e) * turn)
    reset[2:, 2:] -= bounce * np.outer(e, e)
    in_time = np.concatenate((np.zeros(2), bounce * push * e[1] * e)) - speed * reset[:, 1]
    in_time[1] += speed  # R_t at fixed y: positions stay
    slope = np.concatenate((e, np.zeros(2)))
    before, later = flow(model, t, y, False), flow(model, t, after, taut)
    rate = slope @ before - e[1] * speed
    return after, taut, reset + np.outer(later - reset @ before - in_time, slope) / rate


def flow(model: Shaken, t: float, y: Array, taut: bool) -> Array:
    """y'."""
    a = -model.gravity * GRAVITY_AXIS - model.drag * y[2:]
    if taut:
        a = a - tension(model, t, y) / model.length * np.array([y[0], y[1] - model.support(t)[0]])
    return np.concatenate((y[2:], a))


def tension(model: Shaken, t: float, y: Array) -> float:
    """- mu L, per mass, of a straight string."""
    height, speed, push = model.support(t)
    r, w = np.array([y[0], y[1] - height]), np.array([y[2], y[3] - speed])
    f = -(model.gravity + push) * GRAVITY_AXIS - model.drag * y[2:]
    return float((w @ w + r @ f) / model.length)


def _jacobian(model: Shaken, t: float, y: Array, taut: bool) -> Array:
    """dy'/dy."""
    found = np.zeros((4, 4))
    found[:2, 2:] = np.eye(2)
    found[2:, 2:] = -model.drag * np.eye(2)
    if taut:
        height, speed, push = model.support(t)
        r, w = np.array([y[0], y[1] - height]), np.array([y[2], y[3] - speed])
        f = -(model.gravity + push) * GRAVITY_AXIS - model.drag * y[2:]
        mu = -(w @ w + r @ f) / model.length**2
        of_mu = -np.concatenate((f, 2.0 * w - model.drag * r)) / model.length**2
        found[2:] += np.outer(r, of_mu)
        found[2:, :2] += mu * np.eye(2)
    return found


def _kept(model: Shaken, t: float, y: Array) -> Array:
    """Projector (4, 4) onto the disturbances that keep the string straight."""
    height, speed, _ = model.support(t)
    r, w = np.array([y[0], y[1] - height]), np.array([y[2], y[3] - speed])
    rows = np.array([[*r, 0.0, 0.0], [*w, *r]])
    return np.asarray(np.eye(4) - rows.T @ np.linalg.solve(rows @ rows.T, rows))


def _phase(
    model: Shaken, t: float, end: float, y: Array, spread: Array, taut: bool, free_until: float, tolerance: float
) -> tuple[float, Array, Array]:
    """Up to the event or the end."""
    count = spread.shape[1]

    def rates(now: float, state: Array) -> Array:
        change = _jacobian(model, now, state[:4], taut) @ state[4:].reshape(4, count)
        return np.concatenate((flow(model, now, state[:4], taut), change.ravel()))

    def test(now: float, state: Array) -> float:
        if taut:
            return tension(model, now, state[:4])
        inside = float(np.hypot(state[0], state[1] - model.support(now)[0])) - model.length
        return inside if now > free_until else -1.0

    event = test
    event.terminal, event.direction = True, -1.0 if taut else 1.0
    found = solve_ivp(rates, (t, end), np.concatenate((y, spread.ravel())), "DOP853", events=event, rtol=tolerance,
                      atol=0.1 * tolerance, max_step=LONGEST_STEP if tolerance < 1e-10 else 0.2)  # fmt: skip
    last = found.y[:, -1]
    y = last[:4]
    if taut:
        y = _straightened(model, float(found.t[-1]), y)
    return float(found.t[-1]), y, last[4:].reshape(4, count)


def _straightened(model: Shaken, t: float, y: Array) -> Array:
    """The state with the string at its length and no rate of it: what round-off has moved it by."""
    height, speed, _ = model.support(t)
    r, w = np.array([y[0], y[1] - height]), np.array([y[2], y[3] - speed])
    e = r / np.hypot(*r)
    w = w - (w @ e) * e
    r = model.length * e
    return np.array([r[0], r[1] + height, w[0], w[1] + speed])
