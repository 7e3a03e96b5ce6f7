"""Packs of float64 lanes, masks of their comparisons, and arrays of packs, as types of compiled code.

A pack is one LLVM vector: an operation on it is a few vector instructions whatever the vectoriser thinks of the loop
around it. An array of packs is a C-contiguous float64 array whose last axis is the lane; its items are packs.
A number meets a pack as the same number in every lane.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typeconv.castgraph import Conversion
from numba.extending import (
    NativeValue,
    lower_cast,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from fem.arrays import Floats

ALIGNMENT = 64
"""Bytes: a full vector register, and a line of the cache."""


class PackType(types.Type):
    """``width`` float64 lanes."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Pack({width})")

    def unify(self, typing: Any, other: Any) -> Any:
        """A number or a pack: a pack."""
        return self if isinstance(other, types.Float | types.Integer) else None

    def can_convert_from(self, typing: Any, other: Any) -> Any:
        """Numbers spread over the lanes."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


class MaskType(types.Type):
    """``width`` truth values. It has no truth of its own: branches on it do not compile."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Mask({width})")

    def unify(self, typing: Any, other: Any) -> Any:
        """A truth value or a mask: a mask."""
        return self if isinstance(other, types.Boolean) else None

    def can_convert_from(self, typing: Any, other: Any) -> Any:
        """A truth value spreads over the lanes."""
        return Conversion.safe if isinstance(other, types.Boolean) else None


class LanesType(types.Type):
    """An array of packs. ``sides``: its shape, None where it is only known at run time.

    With known sides (and ``Fixed`` indices) loops unroll and working room turns into registers.
    """

    def __init__(self, sides: tuple[int | None, ...], width: int) -> None:
        self.sides, self.width, self.ndim = sides, width, len(sides)
        super().__init__(name=f"Lanes({sides}, {width})")


class FixedType(types.Type):
    """An array of numbers that are part of the type."""

    def __init__(self, array: Any) -> None:
        self.array, self.ndim = array, array.ndim
        self.item = types.int64 if array.dtype.kind == "i" else types.float64
        super().__init__(name=f"Fixed({array.shape}, {array.ravel().tolist()})")


class Lanes:
    """An array of packs on the Python side: ``array`` (..., width), C-contiguous, aligned to ``ALIGNMENT`` bytes.

    ``known`` sides, counted from the last one, are part of its type.
    """

    __slots__ = ("array", "known")

    def __init__(self, *shape: int, known: int = 0) -> None:
        size = math.prod(shape)
        room = np.zeros(size + ALIGNMENT // 8)
        first = (-room.ctypes.data % ALIGNMENT) // 8
        self.array: Floats = room[first : first + size].reshape(shape)
        self.known = known


class Fixed:
    """An array that kernels know when they are compiled: another one, another compilation."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)


@typeof_impl.register(Fixed)
def _type_of_fixed(value: Fixed, context: Any) -> FixedType:
    return FixedType(value.array)


register_model(FixedType)(models.OpaqueModel)


@unbox(FixedType)
def _unbox_fixed(kind: FixedType, value: Any, c: Any) -> Any:
    return NativeValue(c.context.get_dummy_value())


@typeof_impl.register(Lanes)
def _type_of_lanes(value: Lanes, context: Any) -> LanesType:
    return LanesType(_sides(value), value.array.shape[-1])


def _sides(lanes: Lanes) -> tuple[int | None, ...]:
    sides = lanes.array.shape[:-1]
    return tuple(side if axis >= len(sides) - lanes.known else None for axis, side in enumerate(sides))


@register_model(PackType)
class PackModel(models.PrimitiveModel):
    """A vector of doubles."""

    def __init__(self, manager: Any, kind: PackType) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.DoubleType(), kind.width))


@register_model(MaskType)
class MaskModel(models.PrimitiveModel):
    """A vector of bits."""

    def __init__(self, manager: Any, kind: MaskType) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), kind.width))


@register_model(LanesType)
class LanesModel(models.StructModel):
    """Pointer to the first lane of the first pack, shape without the lanes."""

    def __init__(self, manager: Any, kind: LanesType) -> None:
        members = [("data", types.CPointer(types.float64)), ("shape", types.UniTuple(types.intp, kind.ndim))]
        super().__init__(manager, kind, members)


@unbox(LanesType)
def _unbox_lanes(kind: LanesType, value: Any, c: Any) -> Any:
    plain = types.Array(types.float64, kind.ndim + 1, "C")
    array = c.pyapi.object_getattr_string(value, "array")
    native = c.unbox(plain, array)
    c.pyapi.decref(array)  # the object keeps it
    source = c.context.make_array(plain)(c.context, c.builder, native.value)
    lanes = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    lanes.data = source.data
    sides = cgutils.unpack_tuple(c.builder, source.shape)[: kind.ndim]
    lanes.shape = cgutils.pack_array(c.builder, sides, c.context.get_value_type(types.intp))
    return NativeValue(lanes._getvalue(), is_error=native.is_error)


def spread(builder: Any, value: Any, width: int) -> Any:
    """A vector with ``value`` in every lane."""
    undefined = ir.Constant(ir.VectorType(value.type, width), ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(one, undefined, zeros)


@lower_cast(types.Float, PackType)
@lower_cast(types.Integer, PackType)
def _number_to_pack(context: Any, builder: Any, source: Any, target: PackType, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, source, types.float64), target.width)


@lower_cast(types.Boolean, MaskType)
def _truth_to_mask(context: Any, builder: Any, source: Any, target: MaskType, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, source, types.boolean), target.width)


class DrivenType(types.Type):
    """Values in the lanes times curves they share."""

    def __init__(self, values: LanesType) -> None:
        self.values, self.ndim, self.width = values, values.ndim, values.width
        super().__init__(name=f"Driven({values.name})")


class Driven:
    """An array of packs (k, c) that is not stored: item = sum over j of curves[k, c, j] values[..., c, j].

    values (..., c, 3, width), curves (k, c, 3). Thousands of lanes follow one curve, each times its own numbers.
    """

    __slots__ = ("curves", "values")

    def __init__(self, values: Lanes, curves: Floats) -> None:
        self.values, self.curves = values, np.ascontiguousarray(curves)


CURVES = types.Array(types.float64, 3, "C")


@typeof_impl.register(Driven)
def _type_of_driven(value: Driven, context: Any) -> DrivenType:
    return DrivenType(_type_of_lanes(value.values, context))


@register_model(DrivenType)
class DrivenModel(models.StructModel):
    """Both arrays."""

    def __init__(self, manager: Any, kind: DrivenType) -> None:
        super().__init__(manager, kind, [("values", kind.values), ("curves", CURVES)])


@unbox(DrivenType)
def _unbox_driven(kind: DrivenType, value: Any, c: Any) -> Any:
    driven = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    failed = cgutils.false_bit
    for name, inner in (("values", kind.values), ("curves", CURVES)):
        part = c.pyapi.object_getattr_string(value, name)
        native = c.unbox(inner, part)
        c.pyapi.decref(part)  # the object keeps it
        setattr(driven, name, native.value)
        failed = c.builder.or_(failed, native.is_error)
    return NativeValue(driven._getvalue(), is_error=failed)
