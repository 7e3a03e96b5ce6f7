"""What kernels may do with packs and masks: arithmetic, comparisons, items of arrays of packs."""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.core.imputils import lower_getattr
from numba.extending import lower_builtin

from fem.lanes.types import ALIGNMENT, CURVES, DrivenType, FixedType, LanesType, MaskType, PackType, spread

NUMBER = types.Float | types.Integer
ARITHMETIC = {
    "fadd": (operator.add, operator.iadd),
    "fsub": (operator.sub, operator.isub),
    "fmul": (operator.mul, operator.imul),
    "fdiv": (operator.truediv, operator.itruediv),
}
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
LOGIC = {
    "and_": (operator.and_, operator.iand),
    "or_": (operator.or_, operator.ior),
    "xor": (operator.xor, operator.ixor),
}


def _width(args: tuple[Any, ...], wide: type, plain: Any) -> int:
    """Width of the packs (masks) among ``args``; 0 where there are none, or something else."""
    widths = {kind.width for kind in args if isinstance(kind, wide)}
    fits = all(isinstance(kind, wide) or isinstance(kind, plain) for kind in args)
    return widths.pop() if fits and len(widths) == 1 else 0


def _typed(function: Any, count: int, wide: type = PackType, plain: Any = NUMBER, result: Any = None) -> None:
    """``function`` of ``count`` packs (or masks), numbers among them spread, gives ``result`` (default: the same)."""

    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            width = _width(args, wide, plain) if len(args) == count else 0
            if width == 0:
                return None
            given = wide(width)
            return signature(given if result is None else result(width), *[given] * count)

    infer_global(function)(Template)


def _arithmetic(opcode: str, function: Any) -> None:
    _typed(function, 2)

    @lower_builtin(function, PackType, PackType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, opcode)(*args)


def _comparison(symbol: str, function: Any) -> None:
    _typed(function, 2, result=MaskType)

    @lower_builtin(function, PackType, PackType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, *args)


def _logic(opcode: str, function: Any) -> None:
    _typed(function, 2, MaskType, types.Boolean)

    @lower_builtin(function, MaskType, MaskType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, opcode)(*args)


for _opcode, _functions in ARITHMETIC.items():
    for _function in _functions:
        _arithmetic(_opcode, _function)
for _symbol, _function in (*COMPARISONS.items(), ("!=", operator.ne)):
    _comparison(_symbol, _function)
for _opcode, _functions in LOGIC.items():
    for _function in _functions:
        _logic(_opcode, _function)
_logic("xor", operator.ne)


_typed(operator.neg, 1)
_typed(abs, 1)
_typed(math.sqrt, 1)
_typed(math.log1p, 1)
_typed(operator.not_, 1, MaskType, types.Boolean)
_typed(min, 2)
_typed(max, 2)


@lower_builtin(operator.neg, PackType)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@lower_builtin(operator.not_, MaskType)
def _lower_not(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.not_(args[0])


def _call(builder: Any, name: str, *args: Any) -> Any:
    """An LLVM intrinsic of vectors."""
    vector = args[0].type
    kind = ir.FunctionType(vector, [vector] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{vector.count}f64")
    return builder.call(function, args)


@lower_builtin(abs, PackType)
def _lower_abs(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "fabs", args[0])


@lower_builtin(math.sqrt, PackType)
def _lower_sqrt(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _call(builder, "sqrt", args[0])


@lower_builtin(math.log1p, PackType)
def _lower_log1p(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lane by lane."""
    one = context.get_function(math.log1p, signature(types.float64, types.float64))
    result = args[0]
    for lane in range(sig.return_type.width):
        place = ir.Constant(ir.IntType(32), lane)
        result = builder.insert_element(result, one(builder, [builder.extract_element(args[0], place)]), place)
    return result


@lower_builtin(min, PackType, PackType)
def _lower_min(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", args[1], args[0]), args[1], args[0])


@lower_builtin(max, PackType, PackType)
def _lower_max(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", args[1], args[0]), args[1], args[0])


# Items


def _indices(kind: Any) -> tuple[Any, ...]:
    """Types of the indices; empty for what is no index."""
    kinds = (kind,) if isinstance(kind, types.Integer) else tuple(kind) if isinstance(kind, types.BaseTuple) else ()
    return kinds if all(isinstance(each, types.Integer) for each in kinds) else ()


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):  # type: ignore[misc]
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
class SetItem(AbstractTemplate):  # type: ignore[misc]
    """One pack."""

    def generic(self, args: Any, kws: Any) -> Any:
        array, index, value = args
        if not isinstance(array, LanesType) or len(_indices(index)) != array.ndim:
            return None
        if isinstance(value, PackType) or isinstance(value, NUMBER):
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
class LanesAttributes(AttributeTemplate):  # type: ignore[misc]
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
    place = None
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
        loaded.align = ALIGNMENT
        return loaded
    below = cgutils.create_struct_proxy(result)(context, builder)
    below.data = pointer
    sides = _sides(context, builder, sig.args[0], array)[-result.ndim :]
    below.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return below._getvalue()


def _setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, _ = _address(context, builder, sig, args)
    vector = context.get_value_type(sig.args[2])
    builder.store(args[2], builder.bitcast(pointer, vector.as_pointer()), align=ALIGNMENT)
    return context.get_dummy_value()


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, LanesType, _index)(_getitem)
    lower_builtin(operator.setitem, LanesType, _index, PackType)(_setitem)


# Numbers known at compilation


@infer_getattr
class FixedAttributes(AttributeTemplate):  # type: ignore[misc]
    """``shape``."""

    key = FixedType

    def resolve_shape(self, kind: FixedType) -> Any:
        return types.UniTuple(types.intp, kind.ndim)


@lower_getattr(FixedType, "shape")
def _lower_fixed_shape(context: Any, builder: Any, kind: FixedType, value: Any) -> Any:
    sides = [context.get_constant(types.intp, side) for side in kind.array.shape]
    return cgutils.pack_array(builder, sides, context.get_value_type(types.intp))


@infer_global(operator.getitem)
class GetFixed(AbstractTemplate):  # type: ignore[misc]
    """One number."""

    def generic(self, args: Any, kws: Any) -> Any:
        fixed, index = args
        if isinstance(fixed, FixedType) and len(_indices(index)) == fixed.ndim:
            return signature(fixed.item, fixed, index)
        return None


def _get_fixed(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind = sig.args
    given = cgutils.unpack_tuple(builder, args[1]) if isinstance(index_kind, types.BaseTuple) else [args[1]]
    place = None
    for side, one, its in zip(kind.array.shape, given, _indices(index_kind), strict=True):
        index = context.cast(builder, one, its, types.intp)
        place = index if place is None else builder.add(builder.mul(place, place.type(side)), index)
    item = context.get_value_type(kind.item)
    numbers = [item(number) for number in kind.array.ravel().tolist()]
    table = cgutils.global_constant(builder, "fixed", ir.Constant(ir.ArrayType(item, len(numbers)), numbers))
    return builder.load(builder.gep(table, [place.type(0), place], inbounds=True))


for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, FixedType, _index)(_get_fixed)


# Values times shared curves


@infer_global(operator.getitem)
class GetDriven(AbstractTemplate):  # type: ignore[misc]
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
    for term in range(3):
        place = context.get_constant(types.intp, term)
        index = context.make_tuple(builder, pair, (column, place))
        value = _getitem(context, builder, signature(pack, kind.values, pair), [driven.values, index])
        index = context.make_tuple(builder, triple, (instant, column, place))
        product = builder.fmul(value, spread(builder, curve(builder, [driven.curves, index]), pack.width))
        total = product if total is None else builder.fadd(total, product)
    return total
