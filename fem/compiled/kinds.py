"""Kinds of arguments as types of numba, and back."""

from __future__ import annotations

import importlib
from operator import attrgetter
from typing import Any

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype, from_dtype

from fem.compiled.kernel import Kind
from fem.lanes.types import DrivenType, FixedType, LanesType

PLAIN = {"bool": types.boolean, "int": types.int64, "float": types.float64, "none": types.none}
ANNOTATED = {**PLAIN, "None": types.none}
KINDS = {its: kind for kind, its in PLAIN.items()}
LETTERS = {types.boolean: "?", types.int64: "q", types.float64: "d"}


def type_of(kind: Kind) -> Any:
    """numba's type of arguments of a kind."""
    if isinstance(kind, str):
        return PLAIN[kind]
    what, *rest = kind
    if what == "array":
        return types.Array(from_dtype(np.dtype(rest[0])), rest[1], "C")
    if what == "group":
        module, name, members = rest
        group = attrgetter(name)(importlib.import_module(module))
        return types.BaseTuple.from_types([type_of(member) for member in members], group)
    if what == "lanes":
        return LanesType(*rest)
    if what == "fixed":
        return FixedType(from_dtype(np.dtype(rest[0])), *rest[1:])
    assert what == "driven"
    return DrivenType(type_of(rest[0]))


def members(its: Any) -> tuple[Any, ...]:
    """The types in a tuple; of anything else the type itself."""
    return tuple(its.types) if is_tuple(its) else (its,)


def is_tuple(its: Any) -> bool:
    """A tuple or a group."""
    return isinstance(its, types.BaseTuple)


def kind_of_type(its: Any) -> Kind:
    """The kind that ``type_of`` makes such a type of.

    Raises KeyError where there is none.
    """
    if isinstance(its, types.Array) and its.layout == "C":
        return ("array", as_dtype(its.dtype).char, its.ndim)
    if is_tuple(its):
        group = getattr(its, "instance_class", tuple)
        return ("group", group.__module__, group.__qualname__, tuple(kind_of_type(member) for member in members(its)))
    return KINDS[types.unliteral(its)]


def returned(function: Any) -> Any:
    """numba's type of what a function returns, by its annotation: numbers, a tuple of numbers, nothing."""
    annotation: str = function.__annotations__["return"]
    if not annotation.startswith("tuple["):
        return ANNOTATED[annotation]
    names = annotation.removeprefix("tuple[").removesuffix("]").split(", ")
    return types.BaseTuple.from_types([ANNOTATED[name] for name in names])


def result_letters(its: Any) -> str:
    """``Unit.result`` of a return type."""
    if its == types.none:
        return ""
    return "".join(LETTERS[types.unliteral(one)] for one in members(its))
