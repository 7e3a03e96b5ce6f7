"""Newton's cradle: balls on strings that stay taut, below a frame that may be shaken; impacts of neighbours one by one.

Ball i of diameter D hangs from (x_i + s_x, s_z) on the length L at the angle theta_i from the downward vertical; the
frame moves by s = shake (cos(omega t) - 1); drag alpha times the absolute velocity:

    theta'' = - ((g + s_z'') sin theta + s_x'' cos theta)/L - alpha (theta' + (s_x' cos theta + s_z' sin theta)/L)

Balls i, i+1 meet where their distance is D; at rest there is a gap > 0 between them. With n from one to the other,
a = n . (cos theta, sin theta) of each and the rate of approach w = L (a_i theta_i' - a_(i+1) theta_(i+1)'), the impulse
along n is (1 + c) w/k, k = (a_i^2 + a_(i+1)^2)/m; it changes theta' by - and + a/(m L) of it and takes
(1 - c^2) w^2/(2 k). Integrated by scipy's DOP853 between impacts. Source: Newton's law of impact and Lagrange's
equations; Herrmann, Schmaelzle, Am. J. Phys. 49 (1981) 761 (impacts that travel from ball to ball).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
ACCURACY, LONGEST_STEP = 1e-12, 0.02
MOST_IMPACTS = 20_000
TOUCHING, RESTING = 1e-13, 1e-10
"""Distance and rate below which two balls touch, or do not approach: some impacts fall on the same instant."""


@dataclass(frozen=True, slots=True)
class Cradle:
    """balls in a row, ``gap`` between neighbours at rest; shake (x, z) of the frame."""

    balls: int = 5
    diameter: float = 0.05
    gap: float = 5e-8
    length: float = 0.5
    mass: float = 0.1
    gravity: float = 9.81
    drag: float = 0.0
    restitution: float = 1.0
    shake: tuple[float, float] = (0.0, 0.0)
    omega: float = 1.0

    def places(self, theta: Array) -> Array:
        """(n, 2) x, z of the balls in the frame."""
        x = (self.diameter + self.gap) * np.arange(self.balls)
        return np.column_stack((x + self.length * np.sin(theta), -self.length * np.cos(theta)))

    def rates(self, t: float, y: Array) -> Array:
        """Of (theta, theta')."""
        theta, turn = y[: self.balls], y[self.balls :]
        sine, cosine, shake = np.sin(theta), np.cos(theta), np.array(self.shake)
        speed, push = -self.omega * np.sin(self.omega * t) * shake, -(self.omega**2) * np.cos(self.omega * t) * shake
        weight = ((self.gravity + push[1]) * sine + push[0] * cosine) / self.length
        wind = turn + (speed[0] * cosine + speed[1] * sine) / self.length
        return np.concatenate((turn, -weight - self.drag * wind))


@dataclass(frozen=True, slots=True)
class Impact:
    """Of the balls ``pair`` and ``pair`` + 1, from 0 on, with the energy it takes; rates (n,): theta' after it."""

    time: float
    pair: int
    loss: float
    theta: Array
    rates: Array


def swing(model: Cradle, theta: Array, instants: Array) -> tuple[Array, tuple[Impact, ...]]:
    """Angles and rates (k, 2 n) at the instants, from rest in the laboratory at the angles theta (n,); all impacts."""
    t, end = float(instants[0]), float(instants[-1])
    y, states, impacts = np.concatenate((theta, np.zeros(model.balls))), [], []
    tests = [_distance(model, pair) for pair in range(model.balls - 1)]
    shown = 0
    for _ in range(MOST_IMPACTS):
        found = solve_ivp(model.rates, (t, end), y, "DOP853", events=tests, dense_output=True, rtol=ACCURACY,
                               atol=1e-13, max_step=LONGEST_STEP)  # fmt: skip
        t, y = float(found.t[-1]), found.y[:, -1].copy()
        count = int(np.searchsorted(instants, t, side="right")) - shown
        states += [found.sol(instants[shown : shown + count]).T] if count > 0 else []
        shown += max(count, 0)
        if found.status == 0:
            return np.concatenate(states), tuple(impacts)
        while (pair := _arriving(model, y, tests)) is not None:
            loss = _collide(model, y, pair)
            impacts.append(Impact(t, pair, loss, y[: model.balls].copy(), y[model.balls :].copy()))
    raise RuntimeError(f"more than {MOST_IMPACTS} impacts before t = {t:g}")


def _distance(model: Cradle, pair: int) -> Callable[[float, Array], float]:
    """Between the surfaces of two neighbours."""

    def test(_: float, y: Array) -> float:
        between = np.diff(model.places(y[: model.balls])[pair : pair + 2], axis=0)
        return float(np.linalg.norm(between) - model.diameter)

    event = test
    event.terminal, event.direction = True, -1.0
    return event


def _arriving(model: Cradle, y: Array, distances: list[Callable[[float, Array], float]]) -> int | None:
    """The first pair that touches and approaches."""
    near = [pair for pair, distance in enumerate(distances) if distance(0.0, y) < TOUCHING]
    return next((pair for pair in near if _approach(model, y, pair)[1] > RESTING), None)


def _approach(model: Cradle, y: Array, pair: int) -> tuple[Array, float]:
    """a (2,) of both balls, and how fast they come nearer."""
    theta, rates = y[pair : pair + 2], y[model.balls + pair : model.balls + pair + 2]
    normal = np.diff(model.places(y[: model.balls])[pair : pair + 2], axis=0)[0]
    normal /= np.linalg.norm(normal)
    lever = np.cos(theta) * normal[0] + np.sin(theta) * normal[1]
    return lever, model.length * float(lever[0] * rates[0] - lever[1] * rates[1])


def _collide(model: Cradle, y: Array, pair: int) -> float:
    """Change the rates of two balls; the energy that takes."""
    lever, approach = _approach(model, y, pair)
    rates = y[model.balls + pair : model.balls + pair + 2]
    inverse = float(lever @ lever) / model.mass
    rates += (1.0 + model.restitution) * approach / (inverse * model.mass * model.length) * lever * [-1.0, 1.0]
    return (1.0 - model.restitution**2) * approach**2 / (2.0 * inverse)


def handed_on(speed: float, restitution: float, balls: int) -> Array:
    """Speeds of equal balls in a row after one has met the next, that the next, and so on: (1 - c)/2 and (1 + c)/2."""
    kept, given = 0.5 * (1.0 - restitution), 0.5 * (1.0 + restitution)
    arriving = speed * given ** np.arange(balls)
    return np.append(arriving[:-1] * kept, arriving[-1])
