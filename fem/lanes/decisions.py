"""The words of ``choose`` in compiled code, for numbers and for packs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fem.lanes import items  # noqa: F401  what packs can do
from fem.lanes.choose import common, every, local, some, where
from fem.lanes.operators import define
from fem.lanes.types import LanesType, MaskType, PackType


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
