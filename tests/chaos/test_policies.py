"""What the numbers decide that tell periods, growth and the start of a motion apart from what is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fem.study.exponents import Horizon, Lyapunov, Settled, rates
from fem.study.sections import period_of


@pytest.mark.parametrize(("period", "found"), [(31, 31), (32, 32), (33, 0)])
def test_periods_of_up_to_32_drives_are_found(period, found):
    points = np.tile(np.random.default_rng(1).random((period, 2)), (4, 1))
    assert period_of(points, np.ones(2)) == found


@pytest.mark.parametrize(("apart", "period"), [(0.9e-3, 1), (1.1e-3, 2)])
def test_points_closer_than_a_thousandth_of_the_motion_are_the_same(apart, period):
    points = np.tile([[1.0], [1.0 + 5.0 * apart]], (20, 1))
    assert period_of(points, np.array([5.0])) == period


def test_growth_that_never_changes_is_known_to_two_powers_of_e():
    """Batches agree to the last digit: what stays of the error bar is 2/time."""
    value, error = rates(np.full((160, 1), 0.3), np.full(160, 0.5))
    assert value == pytest.approx([0.6]) and error == pytest.approx([2.0 / 80.0], rel=1e-9)


def test_the_first_fifth_of_the_time_is_left_out(monkeypatch):
    """Growth there does not count, growth right after it does."""
    growth = np.column_stack([np.zeros(1000), np.ones(1000)])
    course = Horizon(None, 1000, 1000, 0, 0.0, 0.0)  # type: ignore[arg-type]
    monkeypatch.setattr("fem.study.exponents.lasting", lambda model, time: model)
    monkeypatch.setattr(Lyapunov, "followed", lambda *_: Known(course, growth))
    model: Any = SimpleNamespace(failures=())
    growth[:200, 0] = 100.0
    assert Lyapunov().exponents(model).values[0] == 0.0
    growth[200:240, 0] = 100.0
    assert Lyapunov().exponents(model).values[0] > 0.0


class Known:
    """A record that is given: growth, and points of the section."""

    is_finished = True

    def __init__(self, course: Horizon, rows: np.ndarray, settled: Settled | None = None) -> None:
        self.course, self.growth, self.its, self.increment = course, SimpleNamespace(rows=rows), settled, len(rows)

    def settled(self) -> Settled | None:
        return self.its
