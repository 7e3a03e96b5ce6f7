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
from fem.compiled.lanes import Duals, steepest, where

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
