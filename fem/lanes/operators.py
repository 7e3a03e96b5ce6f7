"""What kernels may do with packs and masks: arithmetic, comparisons, logic."""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fem.lanes.types import MaskType, PackType

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


def _width(args: tuple[Any, ...], wide: Any, plain: Any) -> int:
    """Width of the packs (masks) among ``args``; 0 where there are none, or something else."""
    widths = {kind.width for kind in args if isinstance(kind, wide)}
    fits = all(isinstance(kind, wide | plain) for kind in args)
    return widths.pop() if fits and len(widths) == 1 else 0


def _typed(function: Any, count: int, wide: type = PackType, plain: Any = NUMBER, result: Any = None) -> None:
    """``function`` of ``count`` packs (or masks), numbers among them spread, gives ``result`` (default: the same)."""

    class Template(AbstractTemplate):
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
