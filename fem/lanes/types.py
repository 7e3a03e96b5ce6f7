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


class WideType(types.Type):
    """``width`` values, over which a plain one spreads."""

    plain: Any

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"{type(self).__name__}({width})")

    def unify(self, typing: Any, other: Any) -> Any:
        """With a plain value: lanes of it."""
        return self if isinstance(other, self.plain) else None

    def can_convert_from(self, typing: Any, other: Any) -> Any:
        """From a plain value."""
        return Conversion.safe if isinstance(other, self.plain) else None


class PackType(WideType):
    """float64 lanes."""

    plain = types.Float | types.Integer
    one, item = types.float64, ir.DoubleType()


class MaskType(WideType):
    """Truth values. It has no truth of its own: branches on it do not compile."""

    plain = types.Boolean
    one, item = types.boolean, ir.IntType(1)


CURVES = types.Array(types.float64, 3, "C")


class ManyType(types.Type):
    """What lanes give kernels. ``arrays``: types of those that machine code reads of it."""

    arrays: tuple[Any, ...] = ()


class LanesType(ManyType):
    """An array of packs. ``sides``: its shape, None where it is only known at run time.

    With known sides (and ``Fixed`` indices) loops unroll and working room turns into registers. ``alignment``: bytes.
    """

    def __init__(self, sides: tuple[int | None, ...], width: int) -> None:
        self.sides, self.width, self.ndim = sides, width, len(sides)
        self.alignment = min(ALIGNMENT, 8 * width)
        self.arrays = (types.Array(types.float64, self.ndim + 1, "C"),)
        super().__init__(name=f"Lanes({sides}, {width})")


class FixedType(ManyType):
    """An array of numbers that are part of the type."""

    def __init__(self, item: types.Type, shape: tuple[int, ...], numbers: tuple[Any, ...]) -> None:
        self.item, self.shape, self.numbers, self.ndim = item, shape, numbers, len(shape)
        super().__init__(name=f"Fixed({item}, {shape}, {list(numbers)})")


register_model(FixedType)(models.OpaqueModel)


@register_model(PackType)
@register_model(MaskType)
class WideModel(models.PrimitiveModel):
    """A vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(kind.item, kind.width))


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
@lower_cast(types.Boolean, MaskType)
def _spread_out(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, source, target.one), target.width)


class DrivenType(ManyType):
    """Values in the lanes times curves they share."""

    def __init__(self, values: LanesType) -> None:
        self.values, self.ndim, self.width = values, values.ndim, values.width
        self.arrays = (*values.arrays, CURVES)
        super().__init__(name=f"Driven({values.name})")


@register_model(DrivenType)
class DrivenModel(models.StructModel):
    """Both arrays."""

    def __init__(self, manager: Any, kind: DrivenType) -> None:
        super().__init__(manager, kind, [("values", kind.values), ("curves", CURVES)])
