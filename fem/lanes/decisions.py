"""The words of ``choose`` in compiled code, for numbers and for packs."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fem.lanes import items, operators  # noqa: F401  what packs can do
from fem.lanes.choose import common, every, local, some, where
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


class _Reduce(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], MaskType | types.Boolean):
            return signature(types.boolean, args[0])
        return None


infer_global(some)(type("_Some", (_Reduce,), {}))
infer_global(every)(type("_Every", (_Reduce,), {}))


@infer_global(common)
class _Common(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], PackType | types.Float):
            return signature(types.float64, args[0])
        return None


@lower_builtin(where, types.Boolean, types.Any, types.Any)
@lower_builtin(where, MaskType, PackType, PackType)
def _lower_where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(*args)


@lower_builtin(common, types.Float)
@lower_builtin(some, types.Boolean)
@lower_builtin(every, types.Boolean)
def _lower_itself(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@lower_builtin(common, PackType)
def _lower_common(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(args[0], ir.Constant(ir.IntType(32), 0))


@lower_builtin(some, MaskType)
def _lower_some(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bits = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


@lower_builtin(every, MaskType)
def _lower_every(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bits = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
    return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))


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
