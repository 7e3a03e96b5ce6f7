"""Cycles of rainflow counting: the example of the standard, and what holds for any history."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.show.series import count_cycles, damage, gathered, turning_points

HISTORIES = st.lists(st.integers(-9, 9), min_size=1, max_size=60).map(lambda values: np.array(values, float))


def table(cycles: np.ndarray) -> dict[float, float]:
    """Range -> count."""
    return {size: float(cycles[cycles[:, 0] == size, 2].sum()) for size in np.unique(cycles[:, 0])}


def test_example_of_the_standard() -> None:
    """ASTM E1049-85 (2017), figure 6 and its table: A to I."""
    cycles = count_cycles(np.array([-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0]))
    assert table(cycles) == {3.0: 0.5, 4.0: 1.5, 6.0: 0.5, 8.0: 1.0, 9.0: 0.5}
    assert [1.0, 1.0] in cycles[cycles[:, 0] == 4.0][:, 1:].tolist()  # the one that closes, from E to F
    assert damage(cycles, 1.0, 2.0) == (3 * 0.5 + 4 * 1.5 + 6 * 0.5 + 8 + 9 * 0.5) / 2.0


@given(HISTORIES)
def test_every_turn_is_counted_once(values: np.ndarray) -> None:
    """A cycle has two ranges, a half one: all ranges between turning points are used up, whose largest stays."""
    cycles, turns = count_cycles(values), turning_points(values)
    assert 2.0 * cycles[:, 2].sum() == len(turns) - 1
    assert cycles[:, 0].max(initial=0.0) == np.ptp(values)
    assert (np.diff(np.sign(np.diff(turns))) != 0.0).all() and turns[0] == values[0]


@given(HISTORIES, st.integers(-5, 5), st.sampled_from([-2.0, 0.5, 4.0]))
def test_cycles_move_and_grow_with_the_history(values: np.ndarray, shift: int, factor: float) -> None:
    cycles, moved = count_cycles(values), count_cycles(factor * values + shift)
    assert np.array_equal(
        moved, np.column_stack([abs(factor) * cycles[:, 0], factor * cycles[:, 1] + shift, cycles[:, 2]])
    )


@given(HISTORIES, st.integers(1, 7))
def test_gathering_keeps_the_count_and_is_on_the_safe_side(values: np.ndarray, bins: int) -> None:
    cycles = count_cycles(values)
    equal, binned = gathered(cycles, None), gathered(cycles, bins)
    for found in (equal, binned):
        assert found[:, 2].sum() == cycles[:, 2].sum()
        assert found[:, 1] @ found[:, 2] == pytest.approx(cycles[:, 1] @ cycles[:, 2], abs=1e-9)
    assert damage(equal, 3.0, 1.0) == pytest.approx(damage(cycles, 3.0, 1.0), rel=1e-12)
    assert damage(binned, 3.0, 1.0) >= damage(cycles, 3.0, 1.0) * (1.0 - 1e-12)
    assert len(binned) <= bins
