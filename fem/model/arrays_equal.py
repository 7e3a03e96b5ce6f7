"""Equality of frozen dataclasses that hold arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def same(left: Any, right: Any) -> bool:
    """Equal values, arrays compared element by element, containers item by item."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.array_equal(np.asarray(left), np.asarray(right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


class ArrayData:
    """Base of frozen dataclasses (``eq=False``) whose fields may be arrays."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.compare
        )

    __hash__ = None  # type: ignore[assignment]
