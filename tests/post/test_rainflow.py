"""Cycles of rainflow counting: the example of the standard, and what holds for any history."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.errors import CommandError
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


@given(HISTORIES, st.floats(1.0, 9.0), st.sampled_from([10.0, 40.0]))
def test_goodman_replaces_a_cycle_by_one_about_zero(values: np.ndarray, slope: float, strength: float) -> None:
    """By its definition: the amplitude a about a mean m does the damage of a/(1 - m/strength) about zero."""
    cycles = count_cycles(values)
    about_zero = [(size / (1.0 - max(mean, 0.0) / strength), 0.0, count) for size, mean, count in cycles]
    expected = damage(np.array(about_zero).reshape(-1, 3), slope, 1e6)
    assert damage(cycles, slope, 1e6, None, strength) == pytest.approx(expected, rel=1e-12)
    assert damage(cycles, slope, 1e6, None, strength) >= damage(cycles, slope, 1e6)


@given(HISTORIES, st.floats(1.0, 9.0), st.sampled_from([0.5, 1e6]))
def test_a_t_n_curve_does_not_depend_on_the_unit_of_force(values: np.ndarray, slope: float, unit: float) -> None:
    here, there = count_cycles(values), count_cycles(values * unit)
    of = damage(here, slope, 1e3, 20.0, 30.0), damage(there, slope, 1e3, 20.0 * unit, 30.0 * unit)
    assert of[0] == pytest.approx(of[1], rel=1e-9)
    assert damage(here, slope, 1e3, 20.0) == pytest.approx(damage(here, slope, 1e3 * 20.0**slope), rel=1e-9)


def test_a_mean_that_breaks_by_itself_has_no_cycles_to_failure() -> None:
    with pytest.raises(CommandError, match="the mean of a cycle, 5, reaches 5 of Goodman's line"):
        damage(np.array([[1.0, 5.0, 1.0]]), 3.0, 1.0, None, 5.0)
