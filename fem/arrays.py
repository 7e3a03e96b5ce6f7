"""Type aliases for the arrays that travel through the program (all C-contiguous), tables of them, frozen data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from fem.errors import unknown

if TYPE_CHECKING:
    from scipy.sparse import sparray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Complexes: TypeAlias = NDArray[np.complex128]
Flags: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = "sparray"
Matrix: TypeAlias = "Floats | Sparse"
"""Sparse, or dense where it is small: names only, so that SciPy need not be imported."""
Number = TypeVar("Number", bound=np.generic)
Class = TypeVar("Class")
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


def parts(count: int, links: Iterable[Sequence[int]]) -> Ints:
    """(count,) one number of the part that each number below ``count`` belongs to, by links between two of them.
    SciPy has it too, but takes longer to import than most decks to check."""
    above = list(range(count))

    def top(number: int) -> int:
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    for first, second in links:
        above[top(first)] = top(second)
    return np.array([top(number) for number in range(count)], np.int64)


def first_least(values: Floats) -> int:
    """Position of the least value (k,); of values equal but for round-off, the first, on every processor."""
    return int(np.flatnonzero(values <= values.min() + ROUND_OFF * abs(values.min()))[0])


def without_kind(name: str) -> str:
    """``U1_2``, ``T_1_max``: what ``U1_n2``, ``T_e1_max`` are as columns of sections and sweeps."""
    return re.sub(r"_[EN](?=\d)", "_", name, flags=re.IGNORECASE)


class Columns(dict[str, NDArray[Any]]):
    """A table: columns (k,) by name, in order. A ``dict``, as ``pandas.DataFrame`` wants it.

    KeyError: there is no such column; the message has those that there are.
    """

    def __missing__(self, name: str) -> NDArray[Any]:
        """``U1_n2_end`` and ``T_e1_max`` are ``U1_2_end`` and ``T_1_max``."""
        if (other := without_kind(name)) in self:
            return self[other]
        raise unknown("column", name, self)

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        text = textwrap.shorten(f"{rows} rows of {', '.join(self)}", 400, placeholder=" ...")
        return textwrap.fill(text, 100, subsequent_indent="  ")


def copy_of(values: Floats) -> Floats:
    """A copy; zeros take no memory until others are written there."""
    return values.copy() if values.any() else np.zeros_like(values)


class Indices(dict[int, int]):
    """label -> index of labels (k,); it is made when a label is first asked for, as it is larger than all arrays of a
    bar."""

    def __init__(self, labels: Ints) -> None:
        super().__init__()
        self._labels: Ints | None = labels

    def __missing__(self, label: int) -> int:
        labels, self._labels = self._labels, None
        if labels is None:
            raise KeyError(label)
        self.update(zip(labels.tolist(), range(len(labels)), strict=True))
        return self[label]


def same(left: Any, right: Any) -> bool:
    """Equal values, arrays compared element by element, containers item by item."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.array_equal(np.asarray(left), np.asarray(right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _compared(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in _names(one.__class__))


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Fields of a class that count in comparisons."""
    return tuple(each.name for each in fields(kind) if each.compare)


class _Shared:
    """The methods of frozen classes that need not be written for each of them."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return same(_compared(self), _compared(other)) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(_compared(self))

    def __repr__(self) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(shown)})"


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Class]) -> type[Class]:
    """``dataclass(frozen=True, slots=True)`` for classes of every start, and for those whose fields may be arrays.

    ``dataclass`` compiles all methods of every class anew; those that classes share are there already.
    """
    for name in ("__eq__", "__hash__", "__repr__"):
        if name not in vars(cls):
            setattr(cls, name, vars(_Shared)[name])
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)
