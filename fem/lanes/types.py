"""Packs of float64 lanes, masks of their comparisons, and arrays of packs, as types of compiled code.

A pack is one LLVM vector: an operation on it is a few vector instructions whatever the vectoriser thinks of the loop
around it. An array of packs is a C-contiguous float64 array whose last axis is the lane; its items are packs.
A number meets a pack as the same number in every lane.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typeconv.castgraph import Conversion
from numba.extending import lower_cast, models, register_model

from fem.lanes.arrays import ALIGNMENT


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

    With known sides (and ``Fixed`` indices) loops unroll and working room turns into registers. ``alignment``: bytes.
    """

    def __init__(self, sides: tuple[int | None, ...], width: int) -> None:
        self.sides, self.width, self.ndim = sides, width, len(sides)
        self.alignment = min(ALIGNMENT, 8 * width)
        super().__init__(name=f"Lanes({sides}, {width})")


class FixedType(types.Type):
    """An array of numbers that are part of the type."""

    def __init__(self, item: types.Type, shape: tuple[int, ...], numbers: tuple[Any, ...]) -> None:
        self.item, self.shape, self.numbers, self.ndim = item, shape, numbers, len(shape)
        super().__init__(name=f"Fixed({item}, {shape}, {list(numbers)})")


register_model(FixedType)(models.OpaqueModel)


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


CURVES = types.Array(types.float64, 3, "C")


@register_model(DrivenType)
class DrivenModel(models.StructModel):
    """Both arrays."""

    def __init__(self, manager: Any, kind: DrivenType) -> None:
        super().__init__(manager, kind, [("values", kind.values), ("curves", CURVES)])
