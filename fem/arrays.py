"""Type aliases for the arrays that travel through the program (all C-contiguous), tables of them, their equality."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fem.errors import unknown

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Complexes: TypeAlias = NDArray[np.complex128]
Flags: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
ROUND_OFF = 1e-9
"""Relative: numbers nearer to each other than this are equal where one of them has to be named."""
Say: TypeAlias = Callable[[str], None]
"""Who is told a line of text."""
Vector: TypeAlias = tuple[float, float, float]
Index: TypeAlias = int | np.uintp
"""Of an array, in kernels: unsigned where it came out of another array, as numba then asks for no negative ones."""


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """All numbers that occur, rising: ``np.unique``, which first imports ``numpy.ma``, a part of every start."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def first_least(values: Floats) -> int:
    """Position of the least value (k,); of values equal but for round-off, the first, on every processor."""
    return int(np.flatnonzero(values <= values.min() + ROUND_OFF * abs(values.min()))[0])


class Columns(dict[str, NDArray[Any]]):
    """A table: columns (k,) by name, in order. A ``dict``, as ``pandas.DataFrame`` wants it.

    KeyError: there is no such column; the message has those that there are.
    """

    def __missing__(self, name: str) -> NDArray[Any]:
        raise unknown("column", name, self)

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        text = textwrap.shorten(f"{rows} rows of {', '.join(self)}", 400, placeholder=" ...")
        return textwrap.fill(text, 100, subsequent_indent="  ")


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
