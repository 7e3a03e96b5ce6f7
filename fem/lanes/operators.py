"""What kernels may do with packs and masks: arithmetic, comparisons, logic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fem.lanes.types import MaskType, PackType, WideType

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

    code  (context, builder, *values): the LLVM code
    """

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
    """One instruction."""
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
    """The second one where it compares so with the first, as ``min`` and ``max`` do."""

    def code(context: Any, builder: Any, one: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered(symbol, other, one), other, one)

    return code


def log1p(context: Any, builder: Any, value: Any) -> Any:
    """Lane by lane."""
    one = context.get_function(math.log1p, signature(types.float64, types.float64))
    result = value
    for lane in range(value.type.count):
        place = ir.Constant(ir.IntType(32), lane)
        result = builder.insert_element(result, one(builder, [builder.extract_element(value, place)]), place)
    return result


for _name, _functions in OPCODES.items():
    for _function in _functions:
        define(_function, 2, PackType if _name.startswith("f") else MaskType, opcode(_name))
for _symbol, _function in (*COMPARISONS.items(), ("!=", operator.ne)):
    define(_function, 2, PackType, comparison(_symbol), MaskType)
define(operator.neg, 1, PackType, opcode("fneg"))
define(operator.not_, 1, MaskType, opcode("not_"))
define(abs, 1, PackType, intrinsic("fabs"))
define(math.sqrt, 1, PackType, intrinsic("sqrt"))
define(math.log1p, 1, PackType, log1p)
define(min, 2, PackType, extreme("<"))
define(max, 2, PackType, extreme(">"))
