"""Dual numbers in kernels: every operation is its rule of differentiation.

The references are central differences of the same function of plain numbers, of fourth order: exact to 1e-10.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from fem.arrays import Floats
from fem.compiled import kernel
from fem.compiled.choice import is_plain
from fem.compiled.lanes import Duals, carried, is_carrier, itself, steepest, where
from fem.forces.waves import decays, elevation_around, motion_at_bottom, motion_near, motion_of, on_circle
from fem.study.sensitivity.duals import as_powers

pytestmark = pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")
X, DX = np.array([0.7, 1.3, -0.4]), np.array([[0.3, -1.1], [0.8, 0.2], [1.7, -0.6]])
"""Three numbers, and their derivatives by two parameters."""


@kernel
def many(x: Floats, y: Floats) -> None:
    """Every operation that kernels use, of numbers and of numbers with constants."""
    a, b, c = x[0], x[1], x[2]
    y[0], y[1], y[2], y[3] = a + b, a - 2.0, 3.0 * a * b, -c
    y[4], y[5], y[6] = a / b, 1.0 / a, b / 4.0
    y[7], y[8], y[9], y[10] = a**2, b**1.5, 2.0**a, a**b
    y[11], y[12], y[13] = math.sqrt(b), math.sin(a), math.cos(c)
    y[14], y[15], y[16], y[17] = math.exp(c), math.expm1(a), math.log1p(a), math.asin(c)
    y[18], y[19], y[20] = math.atan2(c, a), abs(c), math.copysign(a, c)
    y[21], y[22], y[23] = min(a, b), max(a, c), where(a < b, a * c, b)
    y[24] = a * a if c < 0.0 else b
    y[25], y[26] = math.floor(b) + a, float(int(b)) + 0.0 * a
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * x[k]
    y[27] = total


@kernel
def corners(x: Floats, y: Floats) -> None:
    """What has no derivative at zero, but is multiplied by zero there; infinity."""
    a = x[0]
    y[0], y[1], y[2] = math.sqrt(a) * a, abs(a) ** 0.5 * a, math.atan2(a, a)
    y[3] = np.inf * (a + 1.0)
    y[4] = steepest(x[1])


COUNT = 28


def plain(x: np.ndarray) -> np.ndarray:
    found = np.zeros(COUNT)
    many(x, found)
    return found


def test_every_operation_is_differentiated_by_its_rule():
    x, y = Duals(3, 4), Duals(COUNT, 4)
    x.array[:, 0], x.array[:, 1:3] = X, DX
    many(x, y)
    assert y.array[:, 0] == pytest.approx(plain(X), rel=1e-15, abs=1e-15)  # the numbers themselves, but for one digit
    h = 1e-3
    for slot, direction in enumerate(DX.T, 1):
        at = [plain(X + step * h * direction) for step in (-2, -1, 1, 2)]
        expected = (8.0 * (at[2] - at[1]) - (at[3] - at[0])) / (12.0 * h)
        assert y.array[:, slot] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert not y.array[:, 3].any()  # of a third parameter, on which nothing depends


def test_derivatives_that_do_not_exist_are_zero_where_they_do_not_matter():
    x, y = Duals(2, 4), Duals(5, 4)
    x.array[:, 1:3] = [[1.0, 2.0], [-5.0, 3.0]]
    corners(x, y)
    assert y.array[:3, 1:3].tolist() == [[0.0, 0.0]] * 3
    assert y.array[3, 0] == np.inf
    assert y.array[4].tolist() == [5.0, 0.0, 0.0, 0.0]  # a plain number: the largest derivative


@kernel
def words(x: Floats, kept: Floats, y: Floats) -> None:
    """Numbers without derivatives, arrays that lose them, the chain rule."""
    a, b = x[0], x[1]
    kept[0], kept[1] = a * b, 2.0
    kept[1] += a
    y[0], y[1] = itself(a) * b, carried(itself(a) ** 3, 3.0 * itself(a) ** 2, a)
    y[2], y[3] = carried(b, itself(a), a), kept[0] + kept[1] * b
    y[4] = 1.0 if is_carrier(a) and not is_carrier(kept[0]) else 0.0
    y[5], y[6] = on_circle(a)
    y[7], y[8] = decays(-b)


def test_numbers_without_derivatives_and_the_chain_rule():
    x, kept, y = Duals(3, 4), Duals(2, 1), Duals(9, 4)
    x.array[:, 0], x.array[:, 1:3] = X, DX
    words(x, kept, y)
    (a, b, _), (da, db, _) = X, DX
    turn = 2.0 * math.pi
    cosine, sine = math.cos(turn * a), math.sin(turn * a)
    assert kept.array[:, 0].tolist() == [a * b, 2.0 + a]
    assert y.array[:, 0] == pytest.approx(
        [a * b, a**3, b, a * b + (2.0 + a) * b, 1.0, cosine, sine, math.exp(-b), math.exp(b - 40.0)], rel=1e-13
    )
    rates = [a * db, 3.0 * a * a * da, db + a * da, (2.0 + a) * db, 0.0 * da, -turn * sine * da, turn * cosine * da]
    rates += [-math.exp(-b) * db, math.exp(b - 40.0) * db]
    assert y.array[:, 1:3] == pytest.approx(np.array(rates), rel=1e-12)
    assert not y.array[:, 3].any()


@kernel
def water(at: Floats, trains: Floats, y: Floats) -> None:
    """Water at a time and place, above the bottom and on it, and the surface above, by regular waves."""
    count = trains.shape[1]
    y[0], y[1], y[2], y[3], y[4], y[5] = motion_near(0, count, at[3], at[0], at[1], at[2], trains)
    y[6], y[7], _, y[8], y[9], _ = motion_near(0, count, at[3], at[0], at[1], -7.0, trains)
    y[10] = elevation_around(0, count, at[3], at[0], at[1], trains)


@kernel
def plain_water(at: Floats, trains: Floats, y: Floats) -> None:
    """The same wave by wave, by the functions of runs."""
    count = trains.shape[1]
    y[0], y[1], y[2], y[3], y[4], y[5] = motion_of(0, count, at[3], at[0], at[1], at[2], trains)
    y[6], y[7], y[8], y[9] = motion_at_bottom(0, count, at[3], at[0], at[1], trains)


def test_water_has_the_derivatives_of_its_place_and_time():
    """Three waves in 7 m of water: those of runs, and their differences of fourth order."""
    k, omega, heading, amplitude = np.array([0.3, 0.7, 1.9]), np.array([1.5, 2.5, 4.3]), np.array([0.0, 0.4, 2.0]), 0.2
    speed = amplitude * omega / -np.expm1(-14.0 * k)
    trains = np.array([
        k * np.cos(heading) / math.tau, k * np.sin(heading) / math.tau, omega / math.tau, [0.1, 0.2, 0.7], k,
        np.exp(40.0 - 14.0 * k), speed, 2.0 * speed * np.exp(-7.0 * k), [amplitude] * 3, omega, np.cos(heading),
        np.sin(heading),
    ])  # fmt: skip
    place, rates = np.array([1.3, -0.8, -2.1, 5.2]), np.array([[0.3, 1.0], [0.5, -0.2], [-0.7, 0.4], [0.9, 0.0]])
    at, y = Duals(4, 4), Duals(11, 4)
    at.array[:, 0], at.array[:, 1:3] = place, rates
    water(at, trains, y)

    def plain(where: np.ndarray) -> np.ndarray:
        found = np.zeros(11)
        plain_water(where, trains, found)
        phase = math.tau * (trains[0] * where[0] + trains[1] * where[1] - trains[2] * where[3] + trains[3])
        found[10] = amplitude * np.cos(phase).sum()
        return found

    assert y.array[:, 0] == pytest.approx(plain(place), rel=1e-13)
    h = 1e-3
    for slot, way in enumerate(rates.T, 1):
        far, near = (plain(place + n * h * way) - plain(place - n * h * way) for n in (2, 1))
        assert y.array[:, slot] == pytest.approx((8.0 * near - far) / (12.0 * h), abs=1e-10)


def test_powers_of_a_parameter_have_no_round_off():
    value = np.array([3.0, 3.0, 3.0, 3.0, 0.0, np.inf])
    slope = np.array([3.0 + 3e-12, -1.5 + 2e-12, 1e-12, 1.2345, 0.7, 0.0])
    assert as_powers(slope, value).tolist() == [3.0, -1.5, 0.0, 1.2345, 0.7, 0.0]
