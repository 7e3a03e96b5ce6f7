"""Compiled numbers are those of ``repr``, character by character."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fem.runs.digits import EMPTY, NUMBER, WHOLE, lines


def written(values: np.ndarray) -> list[str]:
    return bytes(lines(values.reshape(-1, 1), np.full((1, 1), NUMBER, np.uint8))).decode().splitlines()


def test_every_kind_of_number() -> None:
    seed = np.random.default_rng(3)
    powers = [2.0 ** np.arange(-1074, 1024), [float(f"1e{k}") for k in range(-323, 309)]]
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, np.finfo(float).max, 9007199254740993.0, 1e16, 9.999e-5]
    bits = seed.integers(0, 2**64, 100_000, np.uint64).view(float)
    values = np.concatenate([*powers, edges, bits, seed.standard_normal(50_000), np.arange(5000) * 0.001])
    with np.errstate(invalid="ignore"):  # signalling NaN among the random bits
        values = np.concatenate([values, -values, np.nextafter(values, 0.0)])
    assert written(values) == list(map(repr, values.tolist()))


@given(arrays(np.float64, 20, elements=st.floats()))
def test_any_number(values: np.ndarray) -> None:
    assert written(values) == list(map(repr, values.tolist()))


def test_cells_follow_the_kinds_of_their_line() -> None:
    kinds = np.array([[WHOLE, NUMBER, EMPTY], [WHOLE, EMPTY, NUMBER]], np.uint8)
    numbers = np.array([[1.0, 0.5, 7.0], [-20.0, 7.0, 1e-5], [2.0**53 - 1, 3.0, 7.0]])
    assert bytes(lines(numbers, kinds)) == b"1,0.5,\n-20,,1e-05\n9007199254740991,3.0,\n"
