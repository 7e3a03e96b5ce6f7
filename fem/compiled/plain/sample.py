"""A kernel of a few lines with what all kernels use: arrays, a group, numbers, an inner kernel and a called one."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from fem.arrays import Floats
from fem.compiled.kernel import Kernel

FAST = frozenset({"contract", "reassoc"})


class Group(NamedTuple):
    """Arrays that travel together, one of them missing."""

    first: Floats
    second: None = None


@partial(Kernel, fast=FAST, inner=True, inline=True)
def product(x: Floats, y: Floats) -> float:
    """x.y"""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@partial(Kernel, fast=FAST, inner=True, inline=False)
def larger(x: float, y: float) -> tuple[float, bool]:
    """The larger one; whether it is the first."""
    return max(x, y), x > y


@partial(Kernel, fast=FAST, inner=False, inline=True)
def sample(x: Floats, group: Group, factor: float, number: int) -> tuple[float, bool]:
    """The larger one of factor x.first and a number."""
    found: tuple[float, bool] = larger(factor * product(x, group.first), number * 1.0)
    return found


ARRAY = ("array", "d", 1)
GROUP = ("group", Group.__module__, Group.__qualname__, (ARRAY, "none"))
SAMPLES = ((larger, ("float", "float")), (sample, (ARRAY, GROUP, "float", "int")))
"""Kernels, and kinds of their arguments."""
