"""Decisions that hold lane by lane: the same words for one number and for a pack.

Kernels that serve both decide with these in place of branches on numbers. For plain numbers they are exactly
``yes if condition else no``, the condition itself, the number itself. What they are in packs: ``decisions``.
"""

from __future__ import annotations

from typing import Any, TypeVar

Number = TypeVar("Number", int, float)


def where(condition: bool, yes: Number, no: Number) -> Number:
    """``yes`` where the condition holds, else ``no``; both are computed."""
    return yes if condition else no


def some(condition: bool) -> bool:
    """The condition holds in some lane."""
    return condition


def every(condition: bool) -> bool:
    """The condition holds in every lane."""
    return condition


def common(number: float) -> float:
    """A number that is the same in all lanes."""
    return number


def local(packs: Any) -> Any:
    """Zeros of the shape of an array of packs whose sides are known: on the stack, or in registers.
    They live as long as the kernel that asks for them: never return them."""
    raise NotImplementedError
