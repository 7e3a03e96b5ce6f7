"""Items and shapes of arrays of packs, of arrays known at compilation, of values that follow shared curves."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import lower_builtin

from fem.lanes.types import CURVES, DrivenType, FixedType, LanesType, PackType, spread


def _indices(kind: Any) -> tuple[Any, ...]:
    """Types of the indices; empty for what is no index."""
    kinds: tuple[Any, ...] = (kind,) if isinstance(kind, types.Integer) else getattr(kind, "types", ())
    return kinds if all(isinstance(each, types.Integer) for each in kinds) else ()


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    """A pack, or with fewer indices the array of packs below."""

    def generic(self, args: Any, kws: Any) -> Any:
        array, index = args
        if not isinstance(array, LanesType):
            return None
        count = len(_indices(index))
        if not 0 < count <= array.ndim:
            return None
        result = LanesType(array.sides[count:], array.width) if count < array.ndim else PackType(array.width)
        return signature(result, array, index)


@infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    """One pack."""

    def generic(self, args: Any, kws: Any) -> Any:
        array, index, value = args
        if not isinstance(array, LanesType) or len(_indices(index)) != array.ndim:
            return None
        if isinstance(value, PackType | types.Float | types.Integer):
            return signature(types.none, array, index, PackType(array.width))
        return None


def _sides(context: Any, builder: Any, kind: LanesType, array: Any) -> list[Any]:
    """The shape: constants where the type knows them."""
    given = cgutils.unpack_tuple(builder, array.shape)
    return [
        one if side is None else context.get_constant(types.intp, side)
        for one, side in zip(given, kind.sides, strict=True)
    ]


@infer_getattr
class LanesAttributes(AttributeTemplate):
    """``shape``, without the lanes."""

    key = LanesType

    def resolve_shape(self, kind: LanesType) -> Any:
        return types.UniTuple(types.intp, kind.ndim)


@lower_getattr(LanesType, "shape")
def _lower_shape(context: Any, builder: Any, kind: LanesType, value: Any) -> Any:
    array = cgutils.create_struct_proxy(kind)(context, builder, value)
    return cgutils.pack_array(builder, _sides(context, builder, kind, array), context.get_value_type(types.intp))


def _address(context: Any, builder: Any, sig: Any, args: Any) -> tuple[Any, Any]:
    """Pointer to the first lane of the item, and the array."""
    kind, index_kind = sig.args[:2]
    array = cgutils.create_struct_proxy(kind)(context, builder, args[0])
    kinds = _indices(index_kind)
    given = cgutils.unpack_tuple(builder, args[1]) if isinstance(index_kind, types.BaseTuple) else [args[1]]
    sides = _sides(context, builder, kind, array)
    place: Any = None
    for axis in range(kind.ndim):
        if axis < len(kinds):
            index = context.cast(builder, given[axis], kinds[axis], types.intp)
            place = index if place is None else builder.add(builder.mul(place, sides[axis]), index)
        else:
            place = builder.mul(place, sides[axis])
    lane = builder.mul(place, ir.Constant(place.type, kind.width))
    return builder.gep(array.data, [lane]), array


def _getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, array = _address(context, builder, sig, args)
    result = sig.return_type
    if isinstance(result, PackType):
        vector = context.get_value_type(result)
        loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        loaded.align = sig.args[0].alignment
        return loaded
    below = cgutils.create_struct_proxy(result)(context, builder)
    below.data = pointer
    sides = _sides(context, builder, sig.args[0], array)[-result.ndim :]
    below.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return below._getvalue()


def _setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, _ = _address(context, builder, sig, args)
    vector = context.get_value_type(sig.args[2])
    builder.store(args[2], builder.bitcast(pointer, vector.as_pointer()), align=sig.args[0].alignment)
    return context.get_dummy_value()


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, LanesType, _index)(_getitem)
    lower_builtin(operator.setitem, LanesType, _index, PackType)(_setitem)


@infer_getattr
class FixedAttributes(AttributeTemplate):
    """``shape``."""

    key = FixedType

    def resolve_shape(self, kind: FixedType) -> Any:
        return types.UniTuple(types.intp, kind.ndim)


@lower_getattr(FixedType, "shape")
def _lower_fixed_shape(context: Any, builder: Any, kind: FixedType, value: Any) -> Any:
    sides = [context.get_constant(types.intp, side) for side in kind.shape]
    return cgutils.pack_array(builder, sides, context.get_value_type(types.intp))


@infer_global(operator.getitem)
class GetFixed(AbstractTemplate):
    """One number."""

    def generic(self, args: Any, kws: Any) -> Any:
        fixed, index = args
        if isinstance(fixed, FixedType) and len(_indices(index)) == fixed.ndim:
            return signature(fixed.item, fixed, index)
        return None


def _get_fixed(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind = sig.args
    given = cgutils.unpack_tuple(builder, args[1]) if isinstance(index_kind, types.BaseTuple) else [args[1]]
    place: Any = None
    for side, one, its in zip(kind.shape, given, _indices(index_kind), strict=True):
        index = context.cast(builder, one, its, types.intp)
        place = index if place is None else builder.add(builder.mul(place, place.type(side)), index)
    item = context.get_value_type(kind.item)
    numbers = [item(number) for number in kind.numbers]
    table = cgutils.global_constant(builder, "fixed", ir.Constant(ir.ArrayType(item, len(numbers)), numbers))
    return builder.load(builder.gep(table, [place.type(0), place], inbounds=True))


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, FixedType, _index)(_get_fixed)


@infer_global(operator.getitem)
class GetDriven(AbstractTemplate):
    """One index: the part below; two: the pack of an instant and a column."""

    def generic(self, args: Any, kws: Any) -> Any:
        driven, index = args
        if not isinstance(driven, DrivenType):
            return None
        if driven.ndim == 2 and len(_indices(index)) == 2:
            return signature(PackType(driven.width), driven, index)
        if driven.ndim > 2 and len(_indices(index)) == 1:
            return signature(DrivenType(LanesType(driven.values.sides[1:], driven.width)), driven, index)
        return None


@lower_builtin(operator.getitem, DrivenType, types.Integer)
def _driven_below(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, result = sig.args[0], sig.return_type
    driven = cgutils.create_struct_proxy(kind)(context, builder, args[0])
    below = cgutils.create_struct_proxy(result)(context, builder)
    below.values = _getitem(
        context, builder, signature(result.values, kind.values, sig.args[1]), [driven.values, args[1]]
    )
    below.curves = driven.curves
    return below._getvalue()


@lower_builtin(operator.getitem, DrivenType, types.BaseTuple)
def _driven_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind = sig.args
    driven = cgutils.create_struct_proxy(kind)(context, builder, args[0])
    given = cgutils.unpack_tuple(builder, args[1])
    instant, column = (
        context.cast(builder, one, its, types.intp) for one, its in zip(given, _indices(index_kind), strict=True)
    )
    pack, pair, triple = sig.return_type, types.UniTuple(types.intp, 2), types.UniTuple(types.intp, 3)
    curve = context.get_function(operator.getitem, signature(types.float64, CURVES, triple))
    total = None
    for term in range(kind.values.sides[-1]):
        place = context.get_constant(types.intp, term)
        index = context.make_tuple(builder, pair, (column, place))
        value = _getitem(context, builder, signature(pack, kind.values, pair), [driven.values, index])
        index = context.make_tuple(builder, triple, (instant, column, place))
        product = builder.fmul(value, spread(builder, curve(builder, [driven.curves, index]), pack.width))
        total = product if total is None else builder.fadd(total, product)
    return total
