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
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

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


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """The value of an expression; ``values`` holds the earlier names in upper case, each a number or an array of
    numbers, of which each is computed as alone. ArithmeticMistake, of an array where one of its numbers has it."""
    if len(text) > MAX_LENGTH:
        raise ArithmeticMistake(0, f"the expression is longer than {MAX_LENGTH} characters")
    parser = _Parser(text, values)
    value = parser.expression(0)
    if parser.kind:
        raise ArithmeticMistake(parser.column, f"expected an operator or the end, got {shown(parser.token)}")
    return value


class _Parser:
    """Recursive descent with one token of look-ahead."""

    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
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

    def expression(self, depth: int) -> Any:
        return self.chain(depth, self.term, "+-")

    def term(self, depth: int) -> Any:
        return self.chain(depth, self.factor, "*/")

    def chain(self, depth: int, part: Callable[[int], Any], signs: str) -> Any:
        """Value of parts joined by some of the signs, evaluated from the left."""
        value = part(depth)
        column, sign = self.column, self.take(*signs)
        while sign:
            other = part(depth)
            if sign == "/" and is_any(other == 0.0):
                raise ArithmeticMistake(column, "division by zero")
            value = finite(OPERATIONS[sign](value, other), column)
            column, sign = self.column, self.take(*signs)
        return value

    def factor(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ArithmeticMistake(self.column, f"the expression is nested deeper than {MAX_DEPTH}")
        sign = self.take("+", "-")
        if sign:
            return self.factor(depth + 1) * (-1.0 if sign == "-" else 1.0)
        base = self.atom(depth)
        column = self.column
        return power(base, self.factor(depth + 1), column) if self.take("**") else base

    def atom(self, depth: int) -> Any:
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

    def closed(self, depth: int) -> Any:
        value = self.expression(depth + 1)
        if not self.take(")"):
            raise ArithmeticMistake(self.column, "expected ')'")
        return value

    def named(self, name: str, column: int, depth: int) -> Any:
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
            return finite(of_each(function, argument), column)
        except (ValueError, OverflowError) as error:
            raise ArithmeticMistake(column, f"{name.lower()}({np.min(argument):g}) has no finite real value") from error


def finite(value: Any, column: int) -> Any:
    if is_any(value - value != 0.0):
        raise ArithmeticMistake(column, "the result is too large")
    return value


def is_any(condition: Any) -> bool:
    """Of a number, or of one of an array."""
    return bool(condition if isinstance(condition, bool) else condition.any())


def of_each(function: Callable[..., float], *numbers: Any) -> Any:
    """A function of numbers, or of each of some arrays: numpy's own differ in the last digit."""
    if not any(isinstance(each, np.ndarray) for each in numbers):
        return function(*numbers)
    return np.array([function(*map(float, row)) for row in np.broadcast(*numbers)])


def power(base: Any, exponent: Any, column: int) -> Any:
    """base ** exponent over the reals."""
    return of_each(lambda base, exponent: real_power(base, exponent, column), base, exponent)


def real_power(base: float, exponent: float, column: int) -> float:
    if base == 0.0 and exponent < 0.0:
        raise ArithmeticMistake(column, "division by zero")
    if base < 0.0 and not exponent.is_integer():
        raise ArithmeticMistake(column, "a negative number to a fractional power is complex")
    try:
        return float(finite(math.pow(base, exponent), column))
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

    def require(self, decide: Callable[[Values], bool]) -> None:
        """What must hold of other values for the same course."""
        self.decisions.append((decide, True))

    def follow(self, values: dict[str, Any]) -> dict[str, Any]:
        """All parameters for other values of the traced ones, numbers or arrays. Otherwise: a decision has another
        result, for one of the sets."""
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                for name, text, is_overridden in self.assignments:
                    value = evaluate(text, values)
                    if not is_overridden:
                        values[name] = value
                if all(np.all(decide(values) == decision) for decide, decision in self.decisions):
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

    def whole(self) -> Traced:
        """The whole number that it is; TypeError where it is none."""
        if not self.value.is_integer():
            raise TypeError("a traced number that is not whole")
        self.course.require(lambda values: float(self.of(values)).is_integer())
        return Traced(self.course, int(self.value), lambda values: int(self.of(values)))

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


Filler = Callable[[Values], Any]
Address: TypeAlias = tuple[str | int | tuple[int, ...], ...]
"""Where a number is in a model: names of fields, keys, positions in tuples, indices of an array."""


def traced_in(part: Any, place: Address = ()) -> Iterator[tuple[Address, Traced]]:
    """The traced numbers of a part of a model, as ``filler`` finds them."""
    if isinstance(part, Traced):
        yield place, part
    elif isinstance(part, tuple):
        for number, item in enumerate(part):
            yield from traced_in(item, (*place, number))
    elif isinstance(part, dict):
        for key, item in part.items():
            yield from traced_in(item, (*place, key))
    elif is_dataclass(part):
        for field in fields(part):
            yield from traced_in(getattr(part, field.name), (*place, field.name))
    elif isinstance(part, np.ndarray) and part.dtype == object:
        for index, item in np.ndenumerate(part):
            yield from traced_in(item, (*place, index))


def array_filler(part: np.ndarray) -> Filler:
    """Function that computes an array of numbers from the parameters that it depends on."""
    own = np.array(list(map(plain, part.ravel())), np.float64).reshape(part.shape)
    places = [(place, item.of) for place, item in np.ndenumerate(part) if isinstance(item, Traced)]

    def fill(values: Values) -> np.ndarray:
        found = own.copy()
        for place, of in places:
            found[place] = of(values)
        return found

    return fill


def filler(part: Any) -> Filler | None:
    """Function that computes a part of a model from the parameters; None: constant. TypeError: it is not traceable."""
    if isinstance(part, Traced):
        return part.of
    if isinstance(part, tuple):
        fillers = [filler(item) for item in part]
        pairs = list(zip(part, fillers, strict=True))
        return (lambda values: tuple(fill(values) if fill else item for item, fill in pairs)) if any(fillers) else None
    if isinstance(part, dict):
        entries = {key: found for key, item in part.items() if (found := filler(item))}
        return (lambda values: part | {key: fill(values) for key, fill in entries.items()}) if entries else None
    if is_dataclass(part):
        names = [field.name for field in fields(part) if field.init]
        own = filler({name: getattr(part, name) for name in names})
        return (lambda values: replace(part, **own(values))) if own else None  # type: ignore[type-var]
    if isinstance(part, np.ndarray) and part.dtype == object:
        return array_filler(part)
    if part is None or isinstance(part, str | float | int | frozenset | np.ndarray):
        return None
    raise TypeError(f"a model with a {type(part).__name__}")


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
