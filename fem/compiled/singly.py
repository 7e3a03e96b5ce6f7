"""Kernels of plain numbers that are called for packs: lane after lane, with copies of the arrays of that lane.

So lanes take part in what has too many branches for ``where``. Such a call costs a copy of all arrays of packs that are
passed, there and back; all else of the march remains one instruction for all lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import signature

from fem.compiled.handover import homeless
from fem.compiled.native import make_array
from fem.compiled.packs import DualType, LanesType, MaskType, PackType

WIDE = {types.float64: PackType, types.none: lambda width: types.none}
"""What a call for all lanes returns, by what it returns for one."""


def of_one(its: Any) -> Any:
    """The type of one lane of an argument."""
    if isinstance(its, LanesType):
        return types.Array(types.float64, its.ndim, "C")
    if isinstance(its, PackType | MaskType):
        return its.one
    if isinstance(its, types.NamedTuple):
        return types.NamedTuple(tuple(map(of_one, its)), its.instance_class)
    return homeless(types.unliteral(its))


def widths_of(its: Any) -> Iterator[int]:
    """Widths of the packs in an argument."""
    if isinstance(its, PackType | MaskType) or (isinstance(its, LanesType) and not its.is_dual):
        yield its.width
    for member in its if isinstance(its, types.NamedTuple) else ():
        yield from widths_of(member)


def has_duals(its: Any) -> bool:
    """Whether there are dual numbers in an argument."""
    if isinstance(its, LanesType):
        return its.is_dual
    return isinstance(its, DualType) or any(map(has_duals, its if isinstance(its, types.NamedTuple) else ()))


def copier(module: Any, width: int, back: bool) -> Any:
    """The function (packs, from a lane on; copy; count) that copies numbers of a lane, or copies them back.
    One loop for all arrays: unrolled ones for each would take minutes to compile."""
    name = f"copy_lane_{width}_{back}"
    if name in module.globals:
        return module.globals[name]
    number, count = ir.DoubleType(), ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [number.as_pointer(), number.as_pointer(), count])
    function = ir.Function(module, kind, name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    packs, copy, most = function.args
    with cgutils.for_range(builder, most, intp=count) as loop:
        there = builder.gep(packs, [builder.mul(loop.index, ir.Constant(count, width))])
        here = builder.gep(copy, [loop.index])
        source, target = (here, there) if back else (there, here)
        builder.store(builder.load(source), target)
    builder.ret_void()
    return function


class LaneCopies:
    """Copies of one lane of all arrays of packs among the arguments."""

    def __init__(self, context: Any, builder: Any, width: int) -> None:
        self.context, self.builder, self.width = context, builder, width
        self.copies: list[tuple[Any, Any, Any]] = []

    def take(self, its: Any, value: Any) -> None:
        """LaneCopies for the arrays of an argument."""
        builder = self.builder
        if isinstance(its, LanesType):
            count = ir.Constant(ir.IntType(64), 1)
            for side in self.sides(its, value):
                count = builder.mul(count, side)
            data = cgutils.create_struct_proxy(its)(self.context, builder, value).data
            self.copies.append((data, builder.alloca(ir.DoubleType(), count), count))
        for k, member in enumerate(its if isinstance(its, types.NamedTuple) else ()):
            self.take(member, builder.extract_value(value, k))

    def sides(self, its: Any, value: Any) -> list[Any]:
        """The shape of an array of packs."""
        given = cgutils.unpack_tuple(
            self.builder, cgutils.create_struct_proxy(its)(self.context, self.builder, value).shape
        )
        return [
            one if side is None else self.context.get_constant(types.intp, side)
            for one, side in zip(given, its.sides, strict=True)
        ]

    def copy(self, lane: Any, back: bool) -> None:
        """All arrays from their lane, or back into it."""
        function = copier(self.builder.module, self.width, back)
        for data, copy, count in self.copies:
            self.builder.call(function, [self.builder.gep(data, [lane]), copy, count])

    def one(self, its: Any, value: Any, lane: Any, copies: Iterator[Any]) -> Any:
        """An argument of one lane, whose arrays have been copied."""
        builder = self.builder
        if isinstance(its, LanesType):
            return make_array(self.context, builder, of_one(its), next(copies)[1], self.sides(its, value))
        if isinstance(its, PackType | MaskType):
            return builder.extract_element(value, builder.trunc(lane, ir.IntType(32)))
        if isinstance(its, types.NamedTuple):
            members = [self.one(each, builder.extract_value(value, k), lane, copies) for k, each in enumerate(its)]
            return self.context.make_tuple(builder, of_one(its), members)
        return self.context.cast(builder, value, its, of_one(its))


def singly(symbol: str, unit: Any, width: int) -> Any:
    """LLVM code of a call of a unit, whose descriptor is given, for all lanes."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        intp, one = ir.IntType(64), context.get_function(symbol, signature(unit.restype, *unit.argtypes))
        place = ir.FunctionType(cgutils.voidptr_t, [])
        before = builder.call(cgutils.get_or_insert_function(builder.module, place, "llvm.stacksave"), [])
        found = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), width))
        room = LaneCopies(context, builder, width)
        for its, value in zip(sig.args, args, strict=True):
            room.take(its, value)
        with cgutils.for_range(builder, ir.Constant(intp, width), intp=intp) as loop:
            room.copy(loop.index, back=False)
            copies = iter(room.copies)
            given = [
                context.cast(builder, room.one(its, value, loop.index, copies), of_one(its), to)
                for its, value, to in zip(sig.args, args, unit.argtypes, strict=True)
            ]
            result = one(builder, given)
            room.copy(loop.index, back=True)
            if unit.restype == types.float64:
                builder.store(result, cgutils.gep_inbounds(builder, found, 0, loop.index))
        place = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t])
        builder.call(cgutils.get_or_insert_function(builder.module, place, "llvm.stackrestore"), [before])
        if unit.restype == types.none:
            return context.get_dummy_value()
        pack = ir.Constant(ir.VectorType(ir.DoubleType(), width), ir.Undefined)
        for lane in range(width):
            number = builder.load(cgutils.gep_inbounds(builder, found, 0, lane))
            pack = builder.insert_element(pack, number, ir.Constant(ir.IntType(32), lane))
        return pack

    return code
