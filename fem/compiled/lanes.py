"""Packs of lanes in place of numbers, so that one kernel source computes one model or several at once.

Kernels that serve both decide on numbers with ``where``, ``some``, ``every`` and ``common`` in place of ``if``: a
branch on a comparison of packs does not compile. For plain numbers these are exactly ``yes if condition else no``, the
condition itself, the number itself; what they are in packs: ``packs``.

Python hands packs over as ``Lanes``, and what is known at compilation as ``Fixed``: ``kind`` is what a compilation
depends on, ``array`` what machine code reads. Arrays whose shape or content is part of their type let the compiler
unroll every loop over nodes and bars, at the price of a compilation for every shape of model.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from fem.arrays import Floats

Number = TypeVar("Number", int, float)
ALIGNMENT = 64
"""Bytes: a full vector register, and a line of the cache."""


def where(condition: bool, yes: Number, no: Number) -> Number:
    """``yes`` where the condition holds, else ``no``; both are computed."""
    return yes if condition else no


def some(condition: bool) -> bool:
    """Whether the condition holds in some lane."""
    return condition


def every(condition: bool) -> bool:
    """Whether the condition holds in every lane."""
    return condition


def common(number: float) -> float:
    """The value of a number that is the same in all lanes."""
    return number


def steepest(number: float) -> float:
    """The largest derivative that a number carries, by magnitude."""
    return 0.0


def itself(number: Number) -> Number:
    """The number without the derivatives that it carries."""
    return number


def carried(value: float, slope: float, number: float) -> float:
    """``value``, with ``slope`` times the derivatives that ``number`` carries added to its own (the chain rule)."""
    return value


def is_carrier(number: float) -> bool:
    """Whether numbers of this kind carry derivatives: known at compilation."""
    return False


def local(packs: Any) -> Any:
    """Zeros in the shape of an array of packs with known sides: on the stack, or in registers.
    They exist as long as the kernel that makes them: never return them."""
    raise NotImplementedError


class Lanes:
    """An array of packs on the Python side: ``array`` (..., width), C-contiguous, aligned to ``ALIGNMENT`` bytes.

    ``known`` sides, counted from the last one, are part of its kind.
    """

    __slots__ = ("array", "known")

    def __init__(self, *shape: int, known: int = 0) -> None:
        size = math.prod(shape)
        room = np.zeros(size + ALIGNMENT // 8)
        first = (-room.ctypes.data % ALIGNMENT) // 8
        self.array: Floats = room[first : first + size].reshape(shape)
        self.known = known

    @property
    def kind(self) -> tuple[Any, ...]:
        """Sides (None where only known at run time) and width."""
        sides = self.array.shape[:-1]
        known = tuple(side if axis >= len(sides) - self.known else None for axis, side in enumerate(sides))
        return ("lanes", known, self.array.shape[-1])


class Duals(Lanes):
    """An array of dual numbers: of each, the number and its derivatives (``packs.DualType``). Of width 1 it keeps the
    numbers alone: kernels do not compute derivatives of what they write there."""

    __slots__ = ()

    @property
    def kind(self) -> tuple[Any, ...]:
        """As of ``Lanes``, and that it is one of dual numbers."""
        return (*super().kind, True)


class Fixed:
    """An array known at compilation: another content needs another compilation."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Type, shape and content."""
        return ("fixed", self.array.dtype.char, self.array.shape, tuple(self.array.ravel().tolist()))
