"""Arrays that travel through the program."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fem.arrays import distinct


@given(st.lists(st.integers(-5, 5)))
def test_distinct_numbers_are_those_of_numpy(numbers: list[int]) -> None:
    for dtype in (np.int64, np.float64):
        found = distinct(np.array(numbers, dtype))
        assert found.dtype == dtype and np.array_equal(found, np.unique(np.array(numbers, dtype)))
