"""Arithmetic of dual numbers in machine code: each operation with its rule of differentiation.

The numbers themselves (slot 0) are computed exactly as without derivatives. A derivative that does not exist where it
is multiplied by zero anyway, such as that of a square root at 0, is zero.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast

from fem.compiled.lanes import carried, common, itself, steepest
from fem.compiled.packs import COMPARISONS, DualType, comparison, define, intrinsic, opcode, spread

NUMBER, FIRST = ir.DoubleType(), ir.Constant(ir.IntType(32), 0)


def number(builder: Any, dual: Any) -> Any:
    """The number itself."""
    return builder.extract_element(dual, FIRST)


def with_number(builder: Any, slopes: Any, value: Any) -> Any:
    """The dual number of a value and derivatives."""
    return builder.insert_element(slopes, value, FIRST)


def scaled(builder: Any, dual: Any, factor: Any) -> Any:
    """All slots times a plain number."""
    return builder.fmul(dual, spread(builder, factor, dual.type.count))


def finite_or_zero(builder: Any, value: Any) -> Any:
    """Zero in place of infinity and NaN."""
    rest = builder.fsub(value, value)
    return builder.select(builder.fcmp_ordered("==", rest, NUMBER(0.0)), value, NUMBER(0.0))


@lower_cast(types.Float, DualType)
@lower_cast(types.Integer, DualType)
def _constant(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    zeros = ir.Constant(ir.VectorType(NUMBER, target.width), [0.0] * target.width)
    return with_number(builder, zeros, context.cast(builder, value, source, types.float64))


def multiply(context: Any, builder: Any, one: Any, other: Any) -> Any:
    """(a b)' = a b' + b a'; either may be plain."""
    a, b = (number(builder, each) if is_dual(each) else each for each in (one, other))
    if not is_dual(one):
        slopes = scaled(builder, other, a)
    elif not is_dual(other):
        slopes = scaled(builder, one, b)
    else:
        slopes = builder.fadd(scaled(builder, other, a), scaled(builder, one, b))
    return with_number(builder, slopes, builder.fmul(a, b))


def divide(context: Any, builder: Any, one: Any, other: Any) -> Any:
    """(a/b)' = (a' - (a/b) b')/b; either may be plain."""
    a, b = (number(builder, each) if is_dual(each) else each for each in (one, other))
    quotient, inverse = builder.fdiv(a, b), builder.fdiv(NUMBER(1.0), b)
    if not is_dual(other):
        slopes = scaled(builder, one, inverse)
    else:
        slopes = scaled(builder, other, builder.fneg(builder.fmul(quotient, inverse)))
        slopes = builder.fadd(slopes, scaled(builder, one, inverse)) if is_dual(one) else slopes
    return with_number(builder, slopes, quotient)


def is_dual(value: Any) -> bool:
    return isinstance(value.type, ir.VectorType)


def raise_to(context: Any, builder: Any, one: Any, other: Any) -> Any:
    """(a^b)' = b a^(b-1) a' + a^b log(a) b'."""
    power = context.get_function(operator.pow, signature(types.float64, types.float64, types.float64))
    logarithm = context.get_function(math.log, signature(types.float64, types.float64))
    a, b = (number(builder, each) if is_dual(each) else each for each in (one, other))
    value, zeros = power(builder, (a, b)), None
    if is_dual(one):
        slope = builder.fmul(b, power(builder, (a, builder.fsub(b, NUMBER(1.0)))))
        zeros = scaled(builder, one, finite_or_zero(builder, slope))
    if is_dual(other):
        slope = builder.fmul(value, logarithm(builder, (a,)))
        more = scaled(builder, other, finite_or_zero(builder, slope))
        zeros = more if zeros is None else builder.fadd(zeros, more)
    return with_number(builder, zeros, value)


MIXED = {
    multiply: (operator.mul, operator.imul),
    divide: (operator.truediv, operator.itruediv),
    raise_to: (operator.pow, operator.ipow),
}


def define_mixed(function: Any, code: Callable[..., Any]) -> None:
    """``function`` of dual numbers, or of one and a plain number, which is not made a dual one."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            duals = [kind for kind in args if isinstance(kind, DualType)]
            if len(args) != 2 or not duals or not all(isinstance(kind, DualType | DualType.plain) for kind in args):
                return None
            return signature(duals[0], *(kind if isinstance(kind, DualType) else types.float64 for kind in args))

    infer_global(function)(Template)
    for kinds in ((DualType, DualType), (DualType, types.Float), (types.Float, DualType)):
        lower_builtin(function, *kinds)(lambda context, builder, sig, args: code(context, builder, *args))


def chained(function: Any, slope: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one number; ``slope(builder, call, x, f)`` is its derivative at x, f its value, ``call`` calls
    others."""

    def code(context: Any, builder: Any, dual: Any) -> Any:
        def call(other: Any, x: Any) -> Any:
            return context.get_function(other, signature(types.float64, types.float64))(builder, (x,))

        x = number(builder, dual)
        value = call(function, x)
        return with_number(builder, scaled(builder, dual, slope(builder, call, x, value)), value)

    return code


def slope_of_root(builder: Any, call: Any, x: Any, f: Any) -> Any:
    return finite_or_zero(builder, builder.fdiv(NUMBER(0.5), f))


def slope_of_arcsine(builder: Any, call: Any, x: Any, f: Any) -> Any:
    rest = builder.fsub(NUMBER(1.0), builder.fmul(x, x))
    return finite_or_zero(builder, builder.fdiv(NUMBER(1.0), call(math.sqrt, rest)))


SLOPES: dict[Any, Callable[..., Any]] = {
    math.sqrt: slope_of_root,
    math.sin: lambda builder, call, x, f: call(math.cos, x),
    math.cos: lambda builder, call, x, f: builder.fneg(call(math.sin, x)),
    math.asin: slope_of_arcsine,
    math.exp: lambda builder, call, x, f: f,
    math.expm1: lambda builder, call, x, f: builder.fadd(f, NUMBER(1.0)),
    math.log1p: lambda builder, call, x, f: builder.fdiv(NUMBER(1.0), builder.fadd(NUMBER(1.0), x)),
    math.floor: lambda builder, call, x, f: NUMBER(0.0),
}


def arctangent(context: Any, builder: Any, y: Any, x: Any) -> Any:
    """atan2(y, x)' = (x y' - y x')/(x^2 + y^2)."""
    function = context.get_function(math.atan2, signature(types.float64, types.float64, types.float64))
    down, along = number(builder, y), number(builder, x)
    square = builder.fadd(builder.fmul(down, down), builder.fmul(along, along))
    inverse = finite_or_zero(builder, builder.fdiv(NUMBER(1.0), square))
    slopes = scaled(builder, y, builder.fmul(along, inverse))
    slopes = builder.fsub(slopes, scaled(builder, x, builder.fmul(down, inverse)))
    return with_number(builder, slopes, function(builder, (down, along)))


def magnitude(context: Any, builder: Any, dual: Any) -> Any:
    below = builder.fcmp_ordered("<", number(builder, dual), NUMBER(0.0))
    return builder.select(below, builder.fneg(dual), dual)


def with_sign(context: Any, builder: Any, dual: Any, other: Any) -> Any:
    size = magnitude(context, builder, dual)
    below = builder.fcmp_ordered("<", number(builder, other), NUMBER(0.0))
    return builder.select(below, builder.fneg(size), size)


def extreme(symbol: str) -> Callable[..., Any]:
    """The second if it compares so with the first, as ``min`` and ``max`` do."""

    def code(context: Any, builder: Any, one: Any, other: Any) -> Any:
        is_so = builder.fcmp_ordered(symbol, number(builder, other), number(builder, one))
        return builder.select(is_so, other, one)

    return code


def compared(symbol: str) -> Callable[..., Any]:
    code = comparison(symbol)
    return lambda context, builder, one, other: code(context, builder, number(builder, one), number(builder, other))


def first(context: Any, builder: Any, dual: Any) -> Any:
    return number(builder, dual)


def steepest_slot(context: Any, builder: Any, dual: Any) -> Any:
    sizes, most = intrinsic("fabs")(context, builder, dual), NUMBER(0.0)
    for slot in range(1, dual.type.count):
        size = builder.extract_element(sizes, ir.Constant(ir.IntType(32), slot))
        most = builder.select(builder.fcmp_ordered("<=", size, most), most, size)  # NaN remains
    return most


def with_slope(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """(value + slope (x - x0))' = value' + slope x'; of value and x one may be plain."""
    value, slope, x = args
    if not is_dual(x):
        return value
    slopes = scaled(builder, x, number(builder, slope) if is_dual(slope) else slope)
    if not is_dual(value):
        return with_number(builder, slopes, value)
    return with_number(builder, builder.fadd(value, slopes), number(builder, value))


def truncated(context: Any, builder: Any, dual: Any) -> Any:
    return builder.fptosi(number(builder, dual), ir.IntType(64))


for _code, _functions in MIXED.items():
    for _function in _functions:
        define_mixed(_function, _code)
for _name, _functions in (("fadd", (operator.add, operator.iadd)), ("fsub", (operator.sub, operator.isub))):
    for _function in _functions:
        define(_function, 2, DualType, opcode(_name))
for _symbol, _function in (*COMPARISONS.items(), ("!=", operator.ne)):
    define(_function, 2, DualType, compared(_symbol), lambda width: types.boolean)
for _of_numbers, _slope in SLOPES.items():
    define(_of_numbers, 1, DualType, chained(_of_numbers, _slope))
define(operator.neg, 1, DualType, opcode("fneg"))
define(abs, 1, DualType, magnitude)
define(math.atan2, 2, DualType, arctangent)
define(math.copysign, 2, DualType, with_sign)
define(min, 2, DualType, extreme("<"))
define(max, 2, DualType, extreme(">"))
define(int, 1, DualType, truncated, lambda width: types.int64)
for _of_numbers in (common, itself):
    define(_of_numbers, 1, DualType, first, lambda width: types.float64)
for _by in (types.Float, DualType):
    for _kinds in ((DualType, DualType), (DualType, types.Float), (types.Float, DualType)):
        lower_builtin(carried, _kinds[0], _by, _kinds[1])(with_slope)
define(steepest, 1, DualType, steepest_slot, lambda width: types.float64)
