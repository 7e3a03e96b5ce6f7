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
    """A pack (of an array that is known: a number), or with fewer indices the array below."""

    def generic(self, args: Any, kws: Any) -> Any:
        array, index = args
        count = len(_indices(index))
        if not isinstance(array, LanesType | DrivenType | FixedType) or not 0 < count <= array.ndim:
            return None
        if isinstance(array, FixedType):
            return signature(array.item, array, index) if count == array.ndim else None
        if isinstance(array, LanesType):
            below = LanesType(array.sides[count:], array.width)
            return signature(below if count < array.ndim else PackType(array.width), array, index)
        if array.ndim == 2:  # an instant and a column
            return signature(PackType(array.width), array, index) if count == 2 else None
        below = LanesType(array.values.sides[1:], array.width)
        return signature(DrivenType(below), array, index) if count == 1 else None


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


def _sides(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    """The shape, without the lanes: constants where the type knows them."""
    if isinstance(kind, FixedType):
        return [context.get_constant(types.intp, side) for side in kind.shape]
    given = cgutils.unpack_tuple(builder, cgutils.create_struct_proxy(kind)(context, builder, value).shape)
    return [
        one if side is None else context.get_constant(types.intp, side)
        for one, side in zip(given, kind.sides, strict=True)
    ]


def _lower_shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return cgutils.pack_array(builder, _sides(context, builder, kind, value), context.get_value_type(types.intp))


for _kind in (LanesType, FixedType):
    _shape = {"key": _kind, "resolve_shape": lambda self, kind: types.UniTuple(types.intp, kind.ndim)}
    infer_getattr(type("_Shape", (AttributeTemplate,), _shape))
    lower_getattr(_kind, "shape")(_lower_shape)


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Which item it is, or the first one below, row by row."""
    kinds = _indices(sig.args[1])
    given = cgutils.unpack_tuple(builder, args[1]) if isinstance(sig.args[1], types.BaseTuple) else [args[1]]
    place = context.get_constant(types.intp, 0)
    for axis, side in enumerate(_sides(context, builder, sig.args[0], args[0])):
        place = builder.mul(place, side)
        if axis < len(kinds):
            place = builder.add(place, context.cast(builder, given[axis], kinds[axis], types.intp))
    return place


def _address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Pointer to the first lane of the item."""
    place = _place(context, builder, sig, args)
    array = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0])
    return builder.gep(array.data, [builder.mul(place, ir.Constant(place.type, sig.args[0].width))])


def _getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _address(context, builder, sig, args)
    result = sig.return_type
    if isinstance(result, PackType):
        vector = context.get_value_type(result)
        loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        loaded.align = sig.args[0].alignment
        return loaded
    below = cgutils.create_struct_proxy(result)(context, builder)
    below.data = pointer
    sides = _sides(context, builder, sig.args[0], args[0])[-result.ndim :]
    below.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return below._getvalue()


def _setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _address(context, builder, sig, args)
    vector = context.get_value_type(sig.args[2])
    builder.store(args[2], builder.bitcast(pointer, vector.as_pointer()), align=sig.args[0].alignment)
    return context.get_dummy_value()


def _get_fixed(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, place = sig.args[0], _place(context, builder, sig, args)
    item = context.get_value_type(kind.item)
    numbers = [item(number) for number in kind.numbers]
    table = cgutils.global_constant(builder, "fixed", ir.Constant(ir.ArrayType(item, len(numbers)), numbers))
    return builder.load(builder.gep(table, [place.type(0), place], inbounds=True))


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, LanesType, _index)(_getitem)
    lower_builtin(operator.setitem, LanesType, _index, PackType)(_setitem)
    lower_builtin(operator.getitem, FixedType, _index)(_get_fixed)


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
