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
from operator import attrgetter
from typing import Any

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


class Reader:
    """Reads the objects and numbers of a call, in the order of the arguments.

    rooms  places for tuples of groups that are handed over by their places, in the same order
    """

    def __init__(self, context: Any, builder: Any, words: Any, rooms: Sequence[Any] = ()) -> None:
        self.context, self.builder, (self.objects, self.numbers), self.rooms = context, builder, words, iter(rooms)
        self.plain, self.number = 0, 0
        self.fits = cgutils.true_bit

    def _word(self, words: Any, place: int) -> Any:
        return self.builder.load(self.builder.gep(words, [WORD(place)]))

    def next(self) -> Any:
        """The address of the next argument or member of a group."""
        self.plain += 1
        return self._word(self.objects, self.plain - 1)

    def next_number(self) -> Any:
        """The next argument or member, a number."""
        self.plain, self.number = self.plain + 1, self.number + 1
        return self._word(self.numbers, self.number - 1)

    def field(self, address: Any, offset: int, kind: Any) -> Any:
        place = self.builder.add(address, WORD(offset))
        return self.builder.load(self.builder.inttoptr(place, kind.as_pointer()))

    def check(self, address: Any, letter: str, dimensions: int) -> None:
        """Take note whether an array has this item type and so many dimensions, in C order."""
        builder = self.builder
        its = self.field(self.field(address, DESCRIPTION, WORD), LETTER, BYTE)
        flags = builder.and_(self.field(address, FLAGS, HALF), HALF(CONTIGUOUS))
        count = self.field(address, DIMENSIONS, HALF)
        for value, expected in ((count, dimensions), (its, ord(letter)), (flags, CONTIGUOUS)):
            self.fits = builder.and_(self.fits, builder.icmp_unsigned("==", value, value.type(expected)))

    def sides(self, address: Any, count: int) -> list[Any]:
        first = self.field(address, SIZES, WORD)
        return [self.field(first, 8 * axis, WORD) for axis in range(count)]


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


def check_arrays(reader: Reader, arguments: Any) -> None:
    """Checks all arrays before any is read."""
    for its in leaf_types(arguments):
        address, array = reader.next(), its.array if isinstance(its, LanesType) else its
        if isinstance(array, types.Array):
            reader.check(address, as_dtype(array.dtype).char, array.ndim)


def value_of(reader: Reader, its: Any) -> Any:
    """The next argument in numba's representation."""
    context, builder = reader.context, reader.builder
    if isinstance(its, ApartType):
        room = next(reader.rooms)
        builder.store(value_of(reader, its.its), room)
        return builder.bitcast(room, cgutils.voidptr_t)
    if is_tuple(its):
        return context.make_tuple(builder, its, [value_of(reader, member) for member in members(its)])
    if its in (types.float64, types.boolean, types.int64):
        word = reader.next_number()
        if its == types.float64:
            return builder.bitcast(word, ir.DoubleType())
        return builder.trunc(word, ir.IntType(1)) if its == types.boolean else word
    address = reader.next()
    if isinstance(its, types.Array):
        return array_of(reader, its, address)
    return lanes_of(reader, its, address) if isinstance(its, LanesType) else context.get_dummy_value()


def array_of(reader: Reader, its: Any, address: Any) -> Any:
    """An array from the address of its object."""
    context, builder = reader.context, reader.builder
    pointer = context.get_value_type(types.CPointer(its.dtype))
    data = builder.inttoptr(reader.field(address, DATA, WORD), pointer)
    return make_array(context, builder, its, data, reader.sides(address, its.ndim))


def lanes_of(reader: Reader, its: Any, address: Any) -> Any:
    """An array of packs from the address of the array that has its lanes."""
    context, builder = reader.context, reader.builder
    proxy = cgutils.create_struct_proxy(its)(context, builder)
    proxy.data = builder.inttoptr(reader.field(address, DATA, WORD), proxy.data.type)
    sides = reader.sides(address, its.ndim)
    proxy.shape = cgutils.pack_array(builder, sides, context.get_value_type(types.intp))
    return proxy._getvalue()


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
    apart, count = list(apart_types(given)), len(list(leaf_types(given)))
    kinds = [ir.ArrayType(WORD, MOST), *(context.get_value_type(its) for its in (*given, *apart))]
    whole = ir.LiteralStructType(kinds)
    assert context.get_abi_sizeof(whole) <= 8 * MOST * (1 + count)
    block = builder.bitcast(function.args[2], whole.as_pointer())
    places = [member_of(builder, block, k) for k in range(1, len(kinds))]
    with builder.if_then(cgutils.is_not_null(builder, function.args[0])):
        reader = Reader(context, builder, function.args[:2])
        check_arrays(reader, given)
        with builder.if_then(builder.not_(reader.fits), likely=False):
            builder.ret(HALF(OTHER_ARRAYS))
        reader = Reader(context, builder, function.args[:2], places[len(given) :])
        for its, place in zip(given, places, strict=False):
            builder.store(value_of(reader, its), place)
    reader, values = Reader(context, builder, function.args[:2]), list[Any]()
    for its, handed, place in zip(given, description.argtypes, places, strict=False):
        if its in LETTERS:
            values.append(value_of(reader, its))
            continue
        reader.number += sum(leaf in LETTERS for leaf in leaf_types([its]))
        is_placed = isinstance(handed, PlacedType)
        values.append(builder.bitcast(place, cgutils.voidptr_t) if is_placed else read(context, builder, its, place))
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
