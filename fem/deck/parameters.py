"""``*PARAMETER``: its arithmetic, and numbers that record how they depend on the parameters of a deck.

Real numbers, + - * / **, parentheses, a few functions, earlier names:
expression = term {(+|-) term};  term = factor {(*|/) factor};  factor = (+|-) factor | power
power = atom [** factor];  atom = number | name | function ( expression ) | ( expression )
Never ``eval``: the text is cut into tokens and computed on the way down, in floats only, so that no input runs long.

When a deck is read with ``Traced`` numbers for some parameters, every decision that depends on them is recorded. Other
values with the same decisions change only numbers of the model. An operation that evaluates a traced number in a
way that leaves no trace (``float(x)``, formats, arrays, hashes) raises TypeError, and the deck is read anew each time.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from fem.deck.source import Hint, did_you_mean, shown

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "exp": math.exp,
    "log": math.log,
}
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
RESERVED = (*FUNCTIONS, "pi")
MAX_DEPTH = 40
MAX_LENGTH = 10_000
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/()]))",
    re.ASCII,
)


class ArithmeticMistake(Exception):
    """Error in an expression, ``column`` counted from 0."""

    def __init__(self, column: int, message: str, hint: Hint = "") -> None:
        super().__init__(message)
        self.column, self.message, self.hint = column, message, hint


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of an expression; ``values`` holds the earlier names in upper case."""
    if len(text) > MAX_LENGTH:
        raise ArithmeticMistake(0, f"the expression is longer than {MAX_LENGTH} characters")
    parser = _Parser(text, values)
    value = parser.expression(0)
    if parser.kind:
        raise ArithmeticMistake(parser.column, f"expected an operator or the end, got {shown(parser.token)}")
    return value


class _Parser:
    """Recursive descent with one token of look-ahead."""

    def __init__(self, text: str, values: Mapping[str, float]) -> None:
        self.text, self.values = text.rstrip(), values
        self.end = 0
        self.advance()

    def advance(self) -> None:
        """Step to the next token; kind "" at the end."""
        rest = self.text[self.end :]
        if not rest.strip():
            self.kind, self.token, self.column = "", "", len(self.text)
            return
        match = TOKEN.match(self.text, self.end)
        if match is None:
            column = self.end + len(rest) - len(rest.lstrip())
            hint = "powers are written **" if self.text[column] == "^" else ""
            raise ArithmeticMistake(column, f"{shown(self.text[column])} has no meaning in arithmetic", hint)
        self.kind = match.lastgroup or ""
        self.token, self.column, self.end = match.group(self.kind), match.start(self.kind), match.end()

    def take(self, *signs: str) -> str:
        """Skip one of the signs and return it; "" if another token is next."""
        if self.kind != "sign" or self.token not in signs:
            return ""
        sign = self.token
        self.advance()
        return sign

    def expression(self, depth: int) -> float:
        return self.chain(depth, self.term, "+-")

    def term(self, depth: int) -> float:
        return self.chain(depth, self.factor, "*/")

    def chain(self, depth: int, part: Callable[[int], float], signs: str) -> float:
        """Value of parts joined by some of the signs, evaluated from the left."""
        value = part(depth)
        column, sign = self.column, self.take(*signs)
        while sign:
            other = part(depth)
            if sign == "/" and other == 0.0:
                raise ArithmeticMistake(column, "division by zero")
            value = finite(OPERATIONS[sign](value, other), column)
            column, sign = self.column, self.take(*signs)
        return value

    def factor(self, depth: int) -> float:
        if depth > MAX_DEPTH:
            raise ArithmeticMistake(self.column, f"the expression is nested deeper than {MAX_DEPTH}")
        sign = self.take("+", "-")
        if sign:
            return self.factor(depth + 1) * (-1.0 if sign == "-" else 1.0)
        base = self.atom(depth)
        column = self.column
        return power(base, self.factor(depth + 1), column) if self.take("**") else base

    def atom(self, depth: int) -> float:
        kind, token, column = self.kind, self.token, self.column
        if kind == "number":
            self.advance()
            return finite(float(token.upper().replace("D", "E")), column)
        if kind == "name":
            self.advance()
            return self.named(token, column, depth)
        if self.take("("):
            return self.closed(depth)
        got = shown(token) if token else "the end"
        raise ArithmeticMistake(column, f"expected a number, a name or '(', got {got}")

    def closed(self, depth: int) -> float:
        value = self.expression(depth + 1)
        if not self.take(")"):
            raise ArithmeticMistake(self.column, "expected ')'")
        return value

    def named(self, name: str, column: int, depth: int) -> float:
        if name.upper() in self.values:
            return self.values[name.upper()]
        if name.lower() == "pi":
            return math.pi
        function = FUNCTIONS.get(name.lower())
        if function is None:
            hint = did_you_mean(name, [*self.values, *RESERVED], "only names defined before may be used")
            raise ArithmeticMistake(column, f"unknown name {shown(name)}", hint)
        if not self.take("("):
            raise ArithmeticMistake(self.column, f"expected '(' after {name}")
        argument = self.closed(depth)
        try:
            return finite(function(argument), column)
        except (ValueError, OverflowError) as error:
            raise ArithmeticMistake(column, f"{name.lower()}({argument:g}) has no finite real value") from error


def finite(value: float, column: int) -> float:
    if not math.isfinite(value):
        raise ArithmeticMistake(column, "the result is too large")
    return value


def power(base: float, exponent: float, column: int) -> float:
    """base ** exponent over the reals."""
    if base == 0.0 and exponent < 0.0:
        raise ArithmeticMistake(column, "division by zero")
    if base < 0.0 and not exponent.is_integer():
        raise ArithmeticMistake(column, "a negative number to a fractional power is complex")
    try:
        return finite(math.pow(base, exponent), column)
    except OverflowError as error:
        raise ArithmeticMistake(column, "the result is too large") from error


Values = Mapping[str, float]
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Otherwise(Exception):
    """For these values a decision during reading has another result."""


class Course:
    """Dependence of one reading on its parameters.

    assignments  (name, expression, is it overridden) of the ``*PARAMETER`` lines that name traced parameters, in order
    decisions    comparisons of traced numbers, and their results
    """

    def __init__(self) -> None:
        self.assignments: list[tuple[str, str, bool]] = []
        self.decisions: list[tuple[Callable[[Values], bool], bool]] = []

    def parameter(self, name: str, value: float) -> Traced:
        return Traced(self, value, operator.itemgetter(name))

    def assign(self, name: str, text: str, earlier: Mapping[str, Any], numbers: Values, override: Any) -> Any:
        """The value of a ``*PARAMETER`` line, ``override`` (if not None) in its place. ArithmeticMistake.
        ``earlier``: the parameters above it; ``numbers``: these in this reading."""
        value = evaluate(text, numbers)
        is_traced = any(isinstance(earlier.get(word.upper()), Traced) for word in NAME.findall(text))
        if is_traced:
            self.assignments.append((name, text, override is not None))
        if override is not None:
            return self.parameter(name, override.value) if isinstance(override, Traced) else override
        return self.parameter(name, value) if is_traced else value

    def follow(self, values: dict[str, float]) -> dict[str, float]:
        """All parameters for other values of the traced ones. Otherwise: a decision has another result."""
        try:
            for name, text, is_overridden in self.assignments:
                value = evaluate(text, values)
                if not is_overridden:
                    values[name] = value
            if all(decide(values) == decision for decide, decision in self.decisions):
                return values
        except (ArithmeticMistake, ArithmeticError) as error:
            raise Otherwise from error
        raise Otherwise


class Opaque:
    """Has no text, no equality and no hash while it is traced."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        raise TypeError("a traced number has no text")

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        raise TypeError("the text of a traced number is not known")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a traced number is no array")


class TracedText(Opaque):
    """The text of a field that is one traced number."""

    __slots__ = ("number",)

    def __init__(self, number: Traced) -> None:
        self.number = number


class Traced(Opaque):
    """A number with its value in this reading; ``of`` computes it for other values of the parameters."""

    __slots__ = ("course", "of", "value")

    def __init__(self, course: Course, value: float, of: Callable[[Values], float]) -> None:
        self.course, self.value, self.of = course, value, of

    def combined(self, function: Callable[[float, float], float], other: Any) -> Any:
        """function(self, other)."""
        if not isinstance(other, Traced | float | int):
            return NotImplemented
        mine, its = self.of, other.of if isinstance(other, Traced) else lambda values: other
        return Traced(self.course, function(self.value, plain(other)), lambda v: function(mine(v), its(v)))

    def decided(self, function: Callable[[float, float], Any], other: Any) -> Any:
        found = self.combined(function, other)
        if found is NotImplemented:
            return found
        self.course.decisions.append((found.of, found.value))
        return found.value

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __neg__(self) -> Traced:
        return Traced(self.course, -self.value, lambda v: -self.of(v))

    def __abs__(self) -> Traced:
        return Traced(self.course, abs(self.value), lambda v: abs(self.of(v)))


def _define(name: str, function: Callable[[Any, Any], Any], is_comparison: bool) -> None:
    """``Traced.__<name>__``, of numbers its reflection as well."""
    if is_comparison:
        setattr(Traced, f"__{name}__", lambda self, other: self.decided(function, other))
        return
    setattr(Traced, f"__{name}__", lambda self, other: self.combined(function, other))
    setattr(Traced, f"__r{name}__", lambda self, other: self.combined(lambda mine, its: function(its, mine), other))


for _name in ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne"):
    _define(_name, getattr(operator, _name), len(_name) == 2)


def plain(number: Any) -> float:
    return number.value if isinstance(number, Traced) else number


def number_array(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """(n, k) numbers: floats, or objects if some are traced, so that numpy computes with traced numbers."""
    if not any(isinstance(number, Traced) for row in rows for number in row):
        return np.array(rows, np.float64)
    found = np.empty((len(rows), len(rows[0])), object)
    for place in np.ndindex(*found.shape):
        found[place] = rows[place[0]][place[1]]
    return found


class Known(Mapping[str, Any]):
    """The present content of a growing ``table`` (name in upper case -> index in the table, value) of parameters.
    Every card keeps one, so no copy is made. is_plain: traced values as floats"""

    __slots__ = ("_count", "_is_plain", "_table")

    def __init__(self, table: dict[str, tuple[int, Any]], is_plain: bool = False) -> None:
        self._table, self._count, self._is_plain = table, len(table), is_plain

    def __getitem__(self, name: str) -> Any:
        number, value = self._table[name]
        if number >= self._count:
            raise KeyError(name)
        return plain(value) if self._is_plain else value

    def __iter__(self) -> Iterator[str]:
        return islice(self._table, self._count)

    def __len__(self) -> int:
        return self._count


def assigned(text: str, values: Mapping[str, float]) -> str:
    """The text of a deck with other values on its ``*PARAMETER`` lines; ``values`` by name in upper case."""
    lines, is_inside = text.split("\n"), False
    for place, line in enumerate(lines):
        if line.startswith("*") and not line.startswith("**"):
            is_inside = line[1:].strip().upper() == "PARAMETER"
        name, equals, _ = line.partition("=")
        if is_inside and equals and name.strip().upper() in values:
            lines[place] = f"{name}= {values[name.strip().upper()]!r}"
    return "\n".join(lines)
