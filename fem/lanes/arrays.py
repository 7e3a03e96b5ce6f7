"""What Python hands to kernels that run lanes: arrays of packs, arrays known at compilation.

``kind`` is what a compilation depends on, ``array`` what machine code reads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fem.arrays import Floats

ALIGNMENT = 64
"""Bytes: a full vector register, and a line of the cache."""


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


class Fixed:
    """An array that kernels know when they are compiled: another one, another compilation."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Type, shape and content."""
        return ("fixed", self.array.dtype.char, self.array.shape, tuple(self.array.ravel().tolist()))
