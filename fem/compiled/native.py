"""Arguments of kernels: their kinds as types of numba, and their conversion from Python's objects, in machine code.

The entry of a unit gets the items of a tuple of all objects, and the numbers among them again, as 64-bit words.
The fields of an array are those of ``PyArrayObject_fields`` and ``PyArray_Descr``, which numpy's C interface fixes for
compiled code. In machine code an array is the address of its numbers and its shape; it is C-contiguous. numba's own
arrays have owners, sizes and strides, too: seven words for one axis instead of two, in every group passed between
kernels, which took a third of the time of a translation.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import Registry
from numba.np.arrayobj import fix_integer_index
from numba.np.numpy_support import as_dtype, from_dtype

from fem.compiled.handover import ApartType, PlacedType, homeless, member_of, read, register
from fem.compiled.interpreted import Kind
from fem.compiled.kernel import DONE, FAILED, MOST, OTHER_ARRAYS
from fem.compiled.packs import FixedType, LanesType
from fem.compiled.store import FIND_LATE

PLAIN = {"bool": types.boolean, "int": types.int64, "float": types.float64, "none": types.none}
ANNOTATED = {**PLAIN, "None": types.none}
KINDS = {its: kind for kind, its in PLAIN.items()}
LETTERS = {types.boolean: "?", types.int64: "q", types.float64: "d"}


def type_of(kind: Kind, apart: Callable[[Any], Any] = ApartType) -> Any:
    """numba's type of arguments of a kind. apart: of tuples of groups."""
    if isinstance(kind, str):
        return PLAIN[kind]
    what, *rest = kind
    if what == "array":
        return types.Array(from_dtype(np.dtype(rest[0])), rest[1], "C")
    if what == "group":
        module, name, members = rest
        group = attrgetter(name)(importlib.import_module(module))
        its = types.BaseTuple.from_types([type_of(member, apart) for member in members], group)
        return apart(its) if group is tuple and any(isinstance(one, types.NamedTuple) for one in its) else its
    if what == "lanes":
        return LanesType(*rest)
    assert what == "fixed"
    return FixedType(from_dtype(np.dtype(rest[0])), *rest[1:])


def members(its: Any) -> tuple[Any, ...]:
    """The types in a tuple; of anything else the type itself."""
    return tuple(its.types) if is_tuple(its) else (its,)


def is_tuple(its: Any) -> bool:
    return isinstance(its, types.BaseTuple)


def kind_of_type(its: Any) -> Kind:
    """The kind that ``type_of`` makes such a type of.
    Raises KeyError where there is none."""
    if isinstance(its, ApartType):
        return kind_of_type(its.its)
    if isinstance(its, types.Array) and its.layout == "C":
        return ("array", as_dtype(its.dtype).char, its.ndim)
    if is_tuple(its):
        group = getattr(its, "instance_class", tuple)
        return ("group", group.__module__, group.__qualname__, tuple(kind_of_type(member) for member in members(its)))
    return KINDS[types.unliteral(its)]


def returned(function: Any) -> Any:
    """numba's type of what a function returns, by its annotation: numbers, a tuple of numbers, nothing."""
    given = function.__annotations__["return"]  # text if the module postpones annotations, else a type
    annotation = given if isinstance(given, str) else given.__name__ if isinstance(given, type) else str(given)
    if not annotation.startswith("tuple["):
        return ANNOTATED[annotation]
    names = annotation.removeprefix("tuple[").removesuffix("]").split(", ")
    return types.BaseTuple.from_types([ANNOTATED[name] for name in names])


def result_letters(its: Any) -> str:
    """``Unit.result`` of a return type."""
    if its == types.none:
        return ""
    return "".join(LETTERS[types.unliteral(one)] for one in members(its))


HEAD = object.__basicsize__
DATA, DIMENSIONS, SIZES, DESCRIPTION, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48
LETTER = HEAD + 9
"""Of the item type, in its description."""
CONTIGUOUS = 0x1
BYTE, WORD, HALF = ir.IntType(8), ir.IntType(64), ir.IntType(32)
NUMBER, TRUTH, ARRAY, PLACE = range(4)
"""What is read of the objects of a call: a number of 64 bits, a boolean, an array, the place of a tuple of groups."""
Row: TypeAlias = tuple[int, int, int, int, int, int]
"""What is read; where it goes in the block; which object or number it is, or the place itself; of an array its
dimensions, of how many the sides go there, and the letter of its items."""


def leaf_types(arguments: Any) -> Iterator[Any]:
    """Types of arguments, groups member by member."""
    for its in arguments:
        if isinstance(its, ApartType):
            yield from leaf_types(members(its.its))
        elif is_tuple(its):
            yield from leaf_types(members(its))
        else:
            yield its


def apart_types(arguments: Any) -> Iterator[Any]:
    """Types of the tuples in arguments that are handed over by their places."""
    for its in arguments:
        if isinstance(its, ApartType):
            yield its.its
        if isinstance(its, ApartType) or is_tuple(its):
            yield from apart_types(members(its.its if isinstance(its, ApartType) else its))


def is_byte(its: Any) -> bool:
    """Whether a value may begin at any byte of the block, as LLVM lays out structures; others begin at words."""
    return bool(its == types.boolean or (is_tuple(its) and all(map(is_byte, members(its)))))


def places_of(arguments: Any, start: int) -> list[int]:
    """Where values begin in the block, behind ``start``, and where the last one ends."""
    found = [start]
    for its in arguments:
        if not is_byte(its):
            found[-1] = -(-found[-1] // 8) * 8
        found.append(found[-1] + size_of(its))
    return found


def size_of(its: Any) -> int:
    """Bytes of a value."""
    if is_tuple(its):
        return -(-places_of(members(its), 0)[-1] // (1 if is_byte(its) else 8)) * (1 if is_byte(its) else 8)
    if isinstance(its, (types.Array, LanesType)):
        return 8 * (1 + its.ndim)
    return 1 if its == types.boolean else 8


def table_of(given: Any) -> tuple[list[Row], int]:
    """What an entry reads of its arguments to the block, and the bytes of the block."""
    apart = list(apart_types(given))
    places = places_of((*given, *apart), 8 * MOST)
    rooms, rows, objects, numbers = iter(places[len(given) :]), list[Row](), count(), count()

    def add(its: Any, place: int) -> None:
        if isinstance(its, ApartType):
            room = next(rooms)
            rows.append((PLACE, place, room, 0, 0, 0))
            add(its.its, room)
        elif is_tuple(its):
            for member, at in zip(members(its), places_of(members(its), place), strict=False):
                add(member, at)
        else:
            index = next(objects)
            if its in LETTERS:
                rows.append((TRUTH if its == types.boolean else NUMBER, place, next(numbers), 0, 0, 0))
            elif isinstance(its, (types.Array, LanesType)):
                array = its.array if isinstance(its, LanesType) else its
                rows.append((ARRAY, place, index, array.ndim, its.ndim, ord(as_dtype(array.dtype).char)))

    for its, place in zip(given, places, strict=False):
        add(its, place)
    return rows, places[-1]


def reading_function(module: Any) -> Any:
    """LLVM code that reads by such a table (table, objects, numbers, block): whether all arrays are of its types; else
    nothing is read."""
    pointer = WORD.as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.IntType(1), [pointer, pointer, pointer, WORD]), "read")
    function.attributes.add("noinline")
    table, objects, numbers, block = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))

    def at(words: Any, place: Any) -> Any:
        return builder.load(builder.gep(words, [place]))

    def field(address: Any, offset: int, kind: Any = WORD) -> Any:
        return builder.load(builder.inttoptr(builder.add(address, WORD(offset)), kind.as_pointer()))

    def row(index: Any) -> list[Any]:
        first = builder.add(builder.mul(index, WORD(6)), WORD(1))
        return [at(table, builder.add(first, WORD(k))) for k in range(6)]

    def store(value: Any, place: Any) -> None:
        builder.store(value, builder.inttoptr(place, value.type.as_pointer()))

    def is_that(what: Any, wanted: int) -> Any:
        return builder.if_then(builder.icmp_unsigned("==", what, WORD(wanted)))

    rows = at(table, WORD(0))
    with cgutils.for_range(builder, rows) as loop:
        what, _, index, dimensions, _, letter = row(loop.index)
        with is_that(what, ARRAY):
            address = at(objects, index)
            flags = builder.and_(field(address, FLAGS, HALF), HALF(CONTIGUOUS))
            its = builder.zext(field(field(address, DESCRIPTION), LETTER, BYTE), WORD)
            fits = builder.icmp_unsigned("==", flags, HALF(CONTIGUOUS))
            fits = builder.and_(fits, builder.icmp_unsigned("==", its, letter))
            sides = builder.zext(field(address, DIMENSIONS, HALF), WORD)
            fits = builder.and_(fits, builder.icmp_unsigned("==", sides, dimensions))
            with builder.if_then(builder.not_(fits)):
                builder.ret(cgutils.false_bit)
    with cgutils.for_range(builder, rows) as loop:
        what, place, index, _, sides, _ = row(loop.index)
        place = builder.add(block, place)
        with is_that(what, NUMBER):
            store(at(numbers, index), place)
        with is_that(what, TRUTH):
            store(builder.trunc(at(numbers, index), BYTE), place)
        with is_that(what, PLACE):
            store(builder.add(block, index), place)
        with is_that(what, ARRAY):
            address = at(objects, index)
            store(field(address, DATA), place)
            first = builder.inttoptr(field(address, SIZES), pointer)
            with cgutils.for_range(builder, sides) as axis:
                store(at(first, axis.index), builder.add(place, builder.mul(builder.add(axis.index, WORD(1)), WORD(8))))
    builder.ret(cgutils.true_bit)
    return function


def body_module(context: Any, library: Any, result: Any, description: Any) -> Any:
    """LLVM code of the function that other units call: groups are passed by address, according to ``description``."""
    module = library.create_ir_module("body")
    inside = context.declare_function(module, result.fndesc)
    function = context.declare_function(module, description)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given = context.get_arg_packer(description.argtypes).from_arguments(builder, function.args[2:])
    values = [
        read(context, builder, its.its, value) if isinstance(its, PlacedType) else value
        for its, value in zip(description.argtypes, given, strict=True)
    ]
    packed = context.get_arg_packer(result.fndesc.argtypes).as_arguments(builder, values)
    builder.ret(builder.call(inside, [*function.args[:2], *packed]))
    return module


def entry_module(context: Any, library: Any, description: Any, symbol: str, defaults: Sequence[Any]) -> Any:
    """LLVM code of the function ``symbol`` (objects, numbers, block): DONE, OTHER_ARRAYS or FAILED.

    Results are written to the block, behind them what is read of the objects: a later call that is given none goes by
    that. Numbers that are arguments by themselves are read at every call.

    description  of the function that it calls
    defaults     values of the last arguments, which are not given"""
    module = library.create_ir_module("entry")
    inside = context.declare_function(module, description)
    function = ir.Function(module, ir.FunctionType(HALF, [WORD.as_pointer()] * 3), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    argument_types = [its.its if isinstance(its, PlacedType) else homeless(its) for its in description.argtypes]
    given = argument_types[: len(argument_types) - len(defaults)]
    rows, size = table_of(given)
    kinds = [ir.ArrayType(WORD, MOST), *(context.get_value_type(its) for its in (*given, *apart_types(given)))]
    whole = ir.LiteralStructType(kinds)
    assert size <= context.get_abi_sizeof(whole) < size + 8 <= 8 * MOST * (1 + len(list(leaf_types(given)))) + 8
    words = [WORD(len(rows)), *(WORD(word) for row in rows for word in row)]
    table = ir.GlobalVariable(module, ir.ArrayType(WORD, len(words)), f"{symbol}_table")  # others might write to it: so
    table.initializer = ir.Constant(table.value_type, words)  # LLVM does not write out its rows one by one
    objects, numbers, block = function.args
    with builder.if_then(cgutils.is_not_null(builder, objects)):
        first, place = builder.bitcast(table, WORD.as_pointer()), builder.ptrtoint(block, WORD)
        fits = builder.call(reading_function(module), [first, objects, numbers, place])
        with builder.if_then(builder.not_(fits), likely=False):
            builder.ret(HALF(OTHER_ARRAYS))
    inner, values, number = builder.bitcast(block, whole.as_pointer()), list[Any](), 0
    for k, (its, handed) in enumerate(zip(given, description.argtypes, strict=False), 1):
        if its in LETTERS:
            word = builder.load(builder.gep(numbers, [WORD(number)]))
            if its == types.float64:
                word = builder.bitcast(word, ir.DoubleType())
            values.append(builder.trunc(word, ir.IntType(1)) if its == types.boolean else word)
        else:
            place, is_placed = member_of(builder, inner, k), isinstance(handed, PlacedType)
            value = builder.bitcast(place, cgutils.voidptr_t) if is_placed else read(context, builder, its, place)
            values.append(value)
        number += sum(leaf in LETTERS for leaf in leaf_types([its]))
    for its, default in zip(argument_types[len(given) :], defaults, strict=True):
        values.append(context.get_constant_generic(builder, its, default))
    status, returned = context.call_conv.call_function(
        builder, inside, description.restype, description.argtypes, values
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(HALF(FAILED))
    its = description.restype
    if its != types.none:
        numbers = cgutils.unpack_tuple(builder, returned) if is_tuple(its) else [returned]
        for place, number in enumerate(numbers):
            if isinstance(number.type, ir.DoubleType):
                number = builder.bitcast(number, WORD)
            elif number.type != WORD:
                number = builder.zext(number, WORD)
            builder.store(number, builder.gep(function.args[2], [WORD(place)]))
    builder.ret(HALF(DONE))
    return module


def late_module(context: Any, library: Any, needs: Mapping[str, Any]) -> Any:
    """LLVM code of functions in other units, by symbol and descriptor: each looks up its address at the first call.
    They are inlined: in a loop only the load of an address remains."""
    module = library.create_ir_module("late")
    find = ir.Function(module, ir.FunctionType(WORD, [BYTE.as_pointer()]), FIND_LATE)
    for symbol, description in needs.items():
        function = context.declare_function(module, description)
        function.attributes.add("alwaysinline")
        place = ir.GlobalVariable(module, WORD, f"{symbol}_place")
        place.initializer, place.linkage = WORD(0), "internal"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        with builder.if_then(cgutils.is_scalar_zero(builder, builder.load(place)), likely=False):
            name = context.insert_const_string(module, symbol)
            builder.store(builder.call(find, [builder.bitcast(name, find.args[0].type)]), place)
        with builder.if_then(cgutils.is_scalar_zero(builder, builder.load(place)), likely=False):
            context.call_conv.return_exc(builder)
        its = builder.inttoptr(builder.load(place), function.type)
        builder.ret(builder.call(its, function.args))
    return module


ITEMS = Registry("items and shapes of arrays")
"""All operations of kernels on arrays."""
NO_MORE = "kernels take items and rows of arrays: no slices, no loops over an array, a, b = x[0], x[1] for a, b = x"


class ArrayModel(models.StructModel):
    """An array in machine code: pointer to the first item, shape."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", types.CPointer(kind.dtype)), ("shape", types.UniTuple(types.intp, kind.ndim))]
        super().__init__(manager, kind, members)


def data_models() -> Any:
    """numba's data models, with ours of arrays and groups."""
    manager = default_manager.copy()
    manager.register(types.Array, ArrayModel)
    register(manager)
    return manager


def make_array(context: Any, builder: Any, kind: Any, data: Any, sides: list[Any]) -> Any:
    """The array that begins at ``data``."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    array.data = data
    array.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return array._getvalue()


def _sides(builder: Any, kind: Any, array: Any) -> list[Any]:
    return [builder.extract_value(array, (1, axis)) for axis in range(kind.ndim)]


def _address(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any) -> Any:
    """Pointer to an item, or with fewer indices to the first one below."""
    several = isinstance(index_kind, types.BaseTuple)
    kinds = index_kind.types if several else [index_kind]
    if not all(isinstance(each, types.Integer) for each in kinds):
        raise TypeError(NO_MORE)
    given = cgutils.unpack_tuple(builder, index) if several else [index]
    place = context.get_constant(types.intp, 0)
    for axis, side in enumerate(_sides(builder, kind, array)):
        place = builder.mul(place, side) if axis else place
        if axis < len(kinds):
            one = fix_integer_index(context, builder, kinds[axis], given[axis], side)
            place = builder.add(place, one) if axis else one
    return builder.gep(builder.extract_value(array, 0), [place])


@ITEMS.lower_getattr(types.Array, "shape")
def _shape(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return builder.extract_value(array, 1)


@ITEMS.lower_getattr(types.Array, "size")
def _size(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    size = context.get_constant(types.intp, 1)
    for side in _sides(builder, kind, array):
        size = builder.mul(size, side)
    return size


@ITEMS.lower(operator.getitem, types.Array, types.Integer)
@ITEMS.lower(operator.getitem, types.Array, types.BaseTuple)
def _getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind = sig.args
    address = _address(context, builder, kind, args[0], index_kind, args[1])
    result = sig.return_type
    if isinstance(result, types.Array):
        return make_array(context, builder, result, address, _sides(builder, kind, args[0])[-result.ndim :])
    return context.unpack_value(builder, kind.dtype, address)


@ITEMS.lower(operator.setitem, types.Array, types.Any, types.Any)
def _setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index_kind, value_kind = sig.args
    address = _address(context, builder, kind, args[0], index_kind, args[1])
    context.pack_value(builder, kind.dtype, context.cast(builder, args[2], value_kind, kind.dtype), address)
    return context.get_dummy_value()


@ITEMS.lower("getiter", types.Array)
def _iterate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    raise TypeError(NO_MORE)
