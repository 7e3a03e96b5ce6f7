"""A kernel of a few lines with what all kernels use: arrays, a group, numbers, an inner kernel and a called one."""

from __future__ import annotations

from typing import NamedTuple, cast

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.compiled.kernel import Kernel


class Group(NamedTuple):
    """Arrays that travel together, one of them missing."""

    first: Floats
    second: None = None


@inner_kernel
def product(x: Floats, y: Floats) -> float:
    """x.y"""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@called_kernel
def larger(x: float, y: float) -> tuple[float, bool]:
    """The larger one; whether it is the first."""
    return max(x, y), x > y


@kernel
def sample(x: Floats, group: Group, factor: float, number: int) -> tuple[float, bool]:
    """The larger one of factor x.first and a number."""
    return larger(factor * product(x, group.first), number * 1.0)


ARRAY = ("array", "d", 1)
GROUP = ("group", Group.__module__, Group.__qualname__, (ARRAY, "none"))
SAMPLES = (
    (cast(Kernel, larger), ("float", "float")),
    (cast(Kernel, sample), (ARRAY, GROUP, "float", "int")),
)
"""Kernels, and kinds of their arguments."""
