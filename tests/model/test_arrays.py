"""Arrays that travel through the program."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.arrays import distinct, frozen
from fem.model import Boundary, ElementBlock


@given(st.lists(st.integers(-5, 5)))
def test_distinct_numbers_are_those_of_numpy(numbers: list[int]) -> None:
    for dtype in (np.int64, np.float64):
        found = distinct(np.array(numbers, dtype))
        assert found.dtype == dtype and np.array_equal(found, np.unique(np.array(numbers, dtype)))


def test_frozen_classes_are_as_dataclass_makes_them() -> None:
    def by(decorator: Any) -> Any:
        class Load:
            target: str
            value: float = 2.0
            source: str = field(default="", compare=False)

        return decorator(Load)

    made, model = by(frozen), by(dataclass(frozen=True, slots=True))
    one, other = made("A", source="deck"), model("A", source="deck")
    assert repr(one) == repr(other) and hash(one) == hash(replace(one, source="")) and one != other
    assert one == made("A") and one != made("B") and one != replace(one, value=3.0)
    for name in ("value", "unknown"):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(one, name, 1.0)
    support = Boundary("ENDS", 1)
    assert pickle.loads(pickle.dumps(support)) == support == copy.copy(support)


def test_frozen_classes_compare_arrays_item_by_item() -> None:
    def block(last: int) -> ElementBlock:
        return ElementBlock("T3D2", np.array([1, 2]), np.array([[0, 1], [1, last]]))

    assert block(2) == block(2) and block(2) != block(3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(block(2))
