"""Packs of float64 lanes, masks of their comparisons, and arrays of packs, as types of compiled code.

A pack is one LLVM vector: an operation on it is a few vector instructions, independent of the vectoriser of loops.
An array of packs is a C-contiguous float64 array whose last axis is the lane; its items are packs.
A number combined with a pack counts as the same number in every lane.

Below the types: arithmetic, comparisons and logic of packs and masks; items and shapes of arrays of packs and of
arrays known at compilation; the words of ``lanes.py``, for numbers and for packs; and how plain numba takes Python's
arrays of packs apart (our own machine code reads them by itself).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import NativeValue, lower_builtin, lower_cast, models, register_model, typeof_impl, unbox
from numba.np.numpy_support import from_dtype

from fem.compiled.lanes import (
    ALIGNMENT,
    Fixed,
    Lanes,
    carried,
    common,
    every,
    is_carrier,
    itself,
    local,
    some,
    steepest,
    where,
)


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
    """A pack: float64 lanes."""

    plain = types.Float | types.Integer
    one, item = types.float64, ir.DoubleType()


class MaskType(WideType):
    """Truth values of lanes. A mask itself has no truth value: branches on it do not compile."""

    plain = types.Boolean
    one, item = types.boolean, ir.IntType(1)


class DualType(WideType):
    """A number (slot 0) and its derivatives by ``width`` - 1 parameters: dual numbers, a + b e with e^2 = 0.

    A plain number is a constant. Comparisons look at the numbers alone, and give one truth value.
    """

    plain = types.Float | types.Integer
    one, item = types.float64, ir.DoubleType()


class LanesType(types.Type):
    """An array of packs, or of dual numbers. ``sides``: its shape, None where it is only known at run time.

    With known sides (and ``Fixed`` indices) loops unroll and working room turns into registers. ``alignment``: bytes.
    ``array``: type of that which machine code reads. ``item``: type of what it holds; of dual numbers of width 1, which
    lose their derivatives, plain numbers.
    """

    def __init__(self, sides: tuple[int | None, ...], width: int, is_dual: bool = False) -> None:
        self.sides, self.width, self.ndim, self.is_dual = sides, width, len(sides), is_dual
        self.item: Any = (DualType if is_dual else PackType)(width) if width > 1 or not is_dual else types.float64
        self.alignment = min(ALIGNMENT, 8 * width)
        self.array = types.Array(types.float64, self.ndim + 1, "C")
        super().__init__(name=f"Lanes({sides}, {width}, {is_dual})")

    def below(self, count: int) -> LanesType:
        """The array behind so many indices."""
        return LanesType(self.sides[count:], self.width, self.is_dual)


class FixedType(types.Type):
    """An array of numbers that are part of the type."""

    def __init__(self, item: types.Type, shape: tuple[int, ...], numbers: tuple[Any, ...]) -> None:
        self.item, self.shape, self.numbers, self.ndim = item, shape, numbers, len(shape)
        super().__init__(name=f"Fixed({item}, {shape}, {list(numbers)})")


register_model(FixedType)(models.OpaqueModel)


@register_model(PackType)
@register_model(DualType)
@register_model(MaskType)
class WideModel(models.PrimitiveModel):
    """A pack, dual number or mask is one LLVM vector."""

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


OPCODES = {
    "fadd": (operator.add, operator.iadd),
    "fsub": (operator.sub, operator.isub),
    "fmul": (operator.mul, operator.imul),
    "fdiv": (operator.truediv, operator.itruediv),
    "and_": (operator.and_, operator.iand),
    "or_": (operator.or_, operator.ior),
    "xor": (operator.xor, operator.ixor, operator.ne),
}
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def define(function: Any, count: int, wide: type[WideType], code: Callable[..., Any], result: Any = None) -> None:
    """``function`` of ``count`` packs or masks, numbers among them spread, gives ``result`` of their width (the same).
    code  (context, builder, *values): the LLVM code"""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            widths = {kind.width for kind in args if isinstance(kind, wide)}
            if len(args) != count or len(widths) != 1 or not all(isinstance(kind, wide | wide.plain) for kind in args):
                return None
            width = widths.pop()
            return signature((result or wide)(width), *[wide(width)] * count)

    infer_global(function)(Template)
    lower_builtin(function, *[wide] * count)(lambda context, builder, sig, args: code(context, builder, *args))


def opcode(name: str) -> Callable[..., Any]:
    """An operation that is one LLVM instruction."""
    return lambda context, builder, *values: getattr(builder, name)(*values)


def intrinsic(name: str) -> Callable[..., Any]:
    """An LLVM intrinsic of a vector."""

    def code(context: Any, builder: Any, value: Any) -> Any:
        kind = ir.FunctionType(value.type, [value.type])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{value.type.count}f64")
        return builder.call(function, [value])

    return code


def comparison(symbol: str) -> Callable[..., Any]:
    """NaN compares as in Python."""
    name = "fcmp_unordered" if symbol == "!=" else "fcmp_ordered"
    return lambda context, builder, one, other: getattr(builder, name)(symbol, one, other)


def extreme(symbol: str) -> Callable[..., Any]:
    """The second value if it compares so with the first, as ``min`` and ``max`` do."""

    def code(context: Any, builder: Any, one: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered(symbol, other, one), other, one)

    return code


def lane_by_lane(function: Any) -> Callable[..., Any]:
    """A function of numbers, called for each lane."""

    def code(context: Any, builder: Any, *packs: Any) -> Any:
        one = context.get_function(function, signature(types.float64, *[types.float64] * len(packs)))
        result = packs[0]
        for lane in range(result.type.count):
            place = ir.Constant(ir.IntType(32), lane)
            numbers = [builder.extract_element(pack, place) for pack in packs]
            result = builder.insert_element(result, one(builder, numbers), place)
        return result

    return code


for _name, _functions in OPCODES.items():
    for _function in _functions:
        define(_function, 2, PackType if _name.startswith("f") else MaskType, opcode(_name))
for _symbol, _function in (*COMPARISONS.items(), ("!=", operator.ne)):
    define(_function, 2, PackType, comparison(_symbol), MaskType)
define(operator.neg, 1, PackType, opcode("fneg"))
define(operator.not_, 1, MaskType, opcode("not_"))
define(abs, 1, PackType, intrinsic("fabs"))
define(math.sqrt, 1, PackType, intrinsic("sqrt"))
define(math.floor, 1, PackType, intrinsic("floor"))
for _of_numbers, _count in ((math.log1p, 1), (math.sin, 1), (math.cos, 1), (math.atan2, 2), (operator.pow, 2)):
    define(_of_numbers, _count, PackType, lane_by_lane(_of_numbers))
define(min, 2, PackType, extreme("<"))
define(max, 2, PackType, extreme(">"))


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
        if not isinstance(array, LanesType | FixedType) or not 0 < count <= array.ndim:
            return None
        if isinstance(array, FixedType):
            return signature(array.item, array, index) if count == array.ndim else None
        return signature(array.below(count) if count < array.ndim else array.item, array, index)


@infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    """Assignment of one pack."""

    def generic(self, args: Any, kws: Any) -> Any:
        array, index, value = args
        if not isinstance(array, LanesType) or len(_indices(index)) != array.ndim:
            return None
        if isinstance(value, DualType) and array.item == types.float64:
            return signature(types.none, array, index, value)
        if isinstance(value, type(array.item) | types.Float | types.Integer):
            return signature(types.none, array, index, array.item)
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
    """Index of the item, or of the first one below, row by row."""
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
    if isinstance(result, WideType | types.Float):
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
    vector, value = context.get_value_type(sig.args[0].item), args[2]
    if value.type != vector:
        value = first(context, builder, value)
    builder.store(value, builder.bitcast(pointer, vector.as_pointer()), align=sig.args[0].alignment)
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
    lower_builtin(operator.setitem, LanesType, _index, DualType)(_setitem)
    lower_builtin(operator.setitem, LanesType, _index, types.Float)(_setitem)
    lower_builtin(operator.getitem, FixedType, _index)(_get_fixed)


@infer_global(where)
class _Where(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        condition, yes, no = args
        if isinstance(condition, MaskType):
            pack = PackType(condition.width)
            return signature(pack, condition, pack, pack)
        kind = self.context.unify_pairs(yes, no)
        if kind is None or not isinstance(condition, types.Boolean):
            return None
        kind = types.unliteral(kind)
        return signature(kind, types.boolean, kind, kind)


def plain(function: Any, kind: Any, result: Any) -> None:
    """Of a plain value the function gives just that."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(result, args[0]) if isinstance(args[0], kind) else None

    infer_global(function)(Template)
    lower_builtin(function, kind)(lambda context, builder, sig, args: args[0])


def bits(symbol: str, value: int) -> Callable[..., Any]:
    """All bits of a mask, as one whole number, against another."""

    def code(context: Any, builder: Any, mask: Any) -> Any:
        number = builder.bitcast(mask, ir.IntType(mask.type.count))
        return builder.icmp_unsigned(symbol, number, ir.Constant(number.type, value))

    return code


def first(context: Any, builder: Any, pack: Any) -> Any:
    """The number in the first lane."""
    return builder.extract_element(pack, ir.Constant(ir.IntType(32), 0))


plain(some, types.Boolean, types.boolean)
plain(every, types.Boolean, types.boolean)
plain(common, types.Float, types.float64)
define(some, 1, MaskType, bits("!=", 0), lambda width: types.boolean)
define(every, 1, MaskType, bits("==", -1), lambda width: types.boolean)
define(common, 1, PackType, first, lambda width: types.float64)


def _same(context: Any, builder: Any, value: Any, *others: Any) -> Any:
    return value


plain(itself, types.Float, types.float64)
define(itself, 1, PackType, _same)
define(carried, 3, PackType, _same)


@infer_global(carried)
class _Carried(AbstractTemplate):
    """Of plain numbers the value; dual where one of value and number is. Of the slope only its number counts."""

    def generic(self, args: Any, kws: Any) -> Any:
        kinds = [types.float64 if isinstance(kind, types.Float | types.Integer) else kind for kind in args]
        duals = [kind for kind in kinds[::2] if isinstance(kind, DualType)]
        if not all(isinstance(kind, DualType | types.Float) for kind in kinds):
            return None
        return signature(duals[0] if duals else types.float64, *kinds)


@infer_global(is_carrier)
class _IsCarrier(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, *args)


for _by in (types.Float, DualType):
    lower_builtin(carried, types.Float, _by, types.Float)(lambda context, builder, sig, args: args[0])
for _number in (types.Float, PackType, DualType):
    lower_builtin(is_carrier, _number)(
        lambda context, builder, sig, args: context.get_constant(types.boolean, isinstance(sig.args[0], DualType))
    )


def _is_constant(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.get_constant(types.float64, 0.0)


@infer_global(steepest)
class _Steepest(AbstractTemplate):
    """Plain numbers are constants."""

    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.float64, types.float64) if isinstance(args[0], types.Float) else None


lower_builtin(steepest, types.Float)(_is_constant)


@lower_builtin(where, types.Boolean, types.Any, types.Any)
@lower_builtin(where, MaskType, PackType, PackType)
def _lower_where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(*args)


@infer_global(local)
class _Local(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], LanesType) and None not in args[0].sides else None


@lower_builtin(local, LanesType)
def _lower_local(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.return_type
    vector = context.get_value_type(PackType(kind.width))
    count = math.prod(kind.sides)
    with builder.goto_entry_block():
        room = builder.alloca(vector, max(count, 1))
    room.align = kind.alignment
    intp = context.get_value_type(types.intp)
    with cgutils.for_range(builder, intp(count), intp=intp) as loop:
        builder.store(ir.Constant(vector, None), builder.gep(room, [loop.index]), align=kind.alignment)
    array = cgutils.create_struct_proxy(kind)(context, builder, args[0])
    array.data = builder.bitcast(room, array.data.type)
    return array._getvalue()


@typeof_impl.register(Lanes)
def _type_of_lanes(value: Lanes, context: Any) -> LanesType:
    return LanesType(*value.kind[1:])


@typeof_impl.register(Fixed)
def _type_of_fixed(value: Fixed, context: Any) -> FixedType:
    return FixedType(from_dtype(value.array.dtype), *value.kind[2:])


@unbox(LanesType)
def _unbox_lanes(its: LanesType, value: Any, c: Any) -> NativeValue:
    found = c.pyapi.object_getattr_string(value, "array")
    array = c.context.make_array(its.array)(c.context, c.builder, c.unbox(its.array, found).value)
    c.pyapi.decref(found)  # the object keeps it
    lanes = cgutils.create_struct_proxy(its)(c.context, c.builder)
    lanes.data = c.builder.bitcast(array.data, lanes.data.type)
    lanes.shape = cgutils.pack_array(c.builder, cgutils.unpack_tuple(c.builder, array.shape)[: its.ndim])
    return NativeValue(lanes._getvalue())


@unbox(FixedType)
def _unbox_fixed(its: FixedType, value: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())
