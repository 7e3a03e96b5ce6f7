"""A ball on ropes from a frame that is shaken: flight, impacts, ropes taut alone or together, event by event.

The ball at q (3,) hangs from points P_k + s(t) of the frame, s = shake (cos(omega t) - 1); rope k is at most L_k long;
drag alpha times the absolute velocity. With r_k = q - P_k - s, the velocity w = q' - s' relative to the frame, f the
weight and drag per mass, and S the taut ropes:

    q'' = f + sum_S mu_k r_k,   sum_S (r_j . r_k) mu_k = - w.w - r_j . (f - s'')     (r_k . r_k = L_k^2 derived twice)

The tension per mass is - mu_k L_k. A taut rope goes slack where it reaches zero, a slack one meets an impact where
|r_k| = L_k, which turns w into w + sum p_k n_k, n_k = - r_k/L_k, over all ropes at their length, with

    p_k >= 0,  n_k . w_after + c n_k . w_before >= 0,  one of them zero            (c counts where a rope arrives)

Afterwards those ropes are taut whose rate is zero and whose pull is positive, by the same law for pulls and
accelerations. In a plane two taut ropes hold the ball in the frame; in space it swings about the line of the points.
Integrated by scipy's DOP853 in Cartesian coordinates. Source: Pfeiffer, Glocker, Multibody Dynamics with Unilateral
Contacts (1996), ch. 8 (Newton's law of impact, several at once).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
Ropes = frozenset[int]
ACCURACY, LONGEST_STEP = 1e-12, 0.02
AT_LENGTH, AT_REST = 1e-9, 1e-7
"""A rope that is shorter by less is at its length; one whose rate is less keeps it (impacts that follow each other ever
faster end there)."""
MOST_EVENTS = 20_000


@dataclass(frozen=True, slots=True)
class Hung:
    """points (r, 3) where the frame holds the ropes at t = 0; lengths (r,); shake (3,) amplitude of the frame."""

    points: Array
    lengths: Array
    shake: Array
    omega: float
    gravity: float = 9.81
    drag: float = 0.0
    restitution: float = 0.0

    def frame(self, t: float) -> tuple[Array, Array, Array]:
        """Displacement, velocity and acceleration of the frame."""
        w, a = self.omega, self.shake
        return a * (np.cos(w * t) - 1.0), -a * w * np.sin(w * t), -a * w * w * np.cos(w * t)

    def spans(self, t: float, q: Array) -> Array:
        """r_k (r, 3)."""
        return np.asarray(q - self.points - self.frame(t)[0])

    def free(self, v: Array) -> Array:
        """f."""
        return np.array([0.0, 0.0, -self.gravity]) - self.drag * v

    def pulls(self, t: float, y: Array, taut: Ropes) -> Array:
        """mu_k of the taut ropes, sorted."""
        _, speed, acceleration = self.frame(t)
        r, w = self.spans(t, y[:3])[sorted(taut)], y[3:] - speed
        return np.linalg.solve(r @ r.T, -(w @ w) - r @ (self.free(y[3:]) - acceleration))


@dataclass(frozen=True, slots=True)
class Event:
    """``impact`` (with the energy per mass it takes), ``taut`` (without a speed) or ``slack`` of a rope, from 0 on."""

    time: float
    rope: int
    what: str
    loss: float = 0.0


@dataclass(frozen=True, slots=True)
class Motion:
    """states (k, 6) at the instants asked for; taut (k, r) then; the events."""

    states: Array
    taut: NDArray[np.bool_]
    events: tuple[Event, ...]


def motion(model: Hung, start: Array, instants: Array) -> Motion:
    """From the place and velocity ``start`` (6,) at the first of the instants (k,)."""
    t, y, end = float(instants[0]), np.array(start, float), float(instants[-1])
    states, shown = np.full((len(instants), 6), np.nan), np.zeros((len(instants), len(model.lengths)), np.bool_)
    events: list[Event] = []
    taut: Ropes = frozenset()
    released: Ropes = frozenset()
    for _ in range(MOST_EVENTS):
        y, struck = collide(model, t, y)
        before, taut = taut, keep(model, t, y, released)
        y = settled(model, t, y, taut)
        told = [Event(t, k, "impact", loss) for k, loss in struck.items()]
        told += [Event(t, k, "slack") for k in sorted(before - taut - set(struck))]
        told += [Event(t, k, "taut") for k in sorted(taut - before - set(struck))]
        events += sorted(told, key=lambda event: event.rope) if t > instants[0] else []
        t, y, released, inside, found = phase(model, t, y, taut, end, instants)
        states[inside], shown[inside] = found, [k in taut for k in range(len(model.lengths))]
        if t >= end:
            return Motion(states, shown, tuple(events))
    raise RuntimeError(f"more than {MOST_EVENTS} events before t = {t:g}")


def phase(
    model: Hung, t: float, start: Array, taut: Ropes, end: float, instants: Array
) -> tuple[float, Array, Ropes, Array, Array]:
    """Up to the next event or the end: time and state there, ropes whose tension is spent, rows passed and states."""

    def rates(now: float, y: Array) -> Array:
        a = model.free(y[3:])
        if taut:
            a = a + model.pulls(now, y, taut) @ model.spans(now, y[:3])[sorted(taut)]
        return np.concatenate((y[3:], a))

    watched = [*sorted(taut), *(k for k in range(len(model.lengths)) if k not in taut)]
    tests = [_watch(model, k, taut, t) for k in watched]
    solution = solve_ivp(rates, (t, end), start, "DOP853", events=tests, dense_output=True, rtol=ACCURACY,
                              atol=1e-13, max_step=LONGEST_STEP)  # fmt: skip
    now, y = float(solution.t[-1]), solution.y[:, -1]
    spent = frozenset(k for k, at in zip(watched, solution.t_events, strict=True) if k in taut and len(at))
    inside = np.flatnonzero((instants >= t) & (instants <= now))
    return now, y, spent, inside, solution.sol(instants[inside]).T if len(inside) else np.zeros((0, 6))


def _watch(model: Hung, k: int, taut: Ropes, since: float) -> Callable[[float, Array], float]:
    """Tension of a taut rope, falling; how much too long a slack one is, rising."""
    place = sorted(taut).index(k) if k in taut else -1

    def tension(now: float, y: Array) -> float:
        return float(-model.pulls(now, y, taut)[place])

    def excess(now: float, y: Array) -> float:
        return float(np.linalg.norm(model.spans(now, y[:3])[k]) - model.lengths[k]) if now > since + 1e-9 else -1.0

    test = tension if k in taut else excess
    test.terminal, test.direction = True, -1.0 if k in taut else 1.0
    return test


def collide(model: Hung, t: float, y: Array) -> tuple[Array, dict[int, float]]:
    """The state after the impact of this instant, if there is one, and what each rope takes of the energy per mass."""
    inward, near = _at_length(model, t, y)
    w = y[3:] - model.frame(t)[1]
    arrive = -inward @ w
    if not near or np.all(arrive <= AT_REST):
        return y, {}
    bounce = model.restitution * np.where(arrive > AT_REST, arrive, 0.0)
    p = complement(inward @ inward.T, -arrive - bounce)
    after = w + p @ inward
    losses = 0.5 * p * (arrive - inward @ after)  # - p . (mean rate along the rope)
    struck = {k: float(loss) for k, loss, push in zip(near, losses, p, strict=True) if push > 0.0}
    return np.concatenate((y[:3], after + model.frame(t)[1])), struck


def keep(model: Hung, t: float, y: Array, released: Ropes) -> Ropes:
    """Which ropes are taut from now on; not those whose tension is spent."""
    inward, near = _at_length(model, t, y)
    _, speed, acceleration = model.frame(t)
    w = y[3:] - speed
    still = [n for n, k in enumerate(near) if abs(inward[n] @ w) <= AT_REST and k not in released]
    own, names = inward[still], [near[n] for n in still]
    swing = w @ w / model.lengths[names]
    pulls = complement(own @ own.T, own @ (model.free(y[3:]) - acceleration) - swing)
    return frozenset(k for k, pull in zip(names, pulls, strict=True) if pull > 0.0)


def settled(model: Hung, t: float, y: Array, taut: Ropes) -> Array:
    """The state without what is left of the rates of taut ropes, which would lengthen them."""
    r, w = model.spans(t, y[:3])[sorted(taut)], y[3:] - model.frame(t)[1]
    return np.concatenate((y[:3], y[3:] - np.linalg.pinv(r) @ (r @ w)))


def _at_length(model: Hung, t: float, y: Array) -> tuple[Array, list[int]]:
    """n_k of the ropes at their length, and which these are."""
    r = model.spans(t, y[:3])
    near = [k for k in range(len(r)) if np.linalg.norm(r[k]) > model.lengths[k] - AT_LENGTH]
    return np.asarray(-r[near] / model.lengths[near, None]), near


def complement(matrix: Array, vector: Array) -> Array:
    """p >= 0 with matrix p + vector >= 0 and p . (matrix p + vector) = 0, by trying who takes part."""
    for chosen in np.ndindex(*(2,) * len(vector)):
        part, p = np.flatnonzero(chosen), np.zeros(len(vector))
        p[part] = np.linalg.solve(matrix[np.ix_(part, part)], -vector[part])
        if np.all(p >= 0.0) and np.all(matrix @ p + vector >= -1e-12):
            return p
    raise RuntimeError("no impulse keeps all ropes")
