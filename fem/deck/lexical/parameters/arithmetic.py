"""The arithmetic of ``*PARAMETER``: real numbers, + - * / **, parentheses, a few functions, earlier names.

expression = term {(+|-) term};  term = factor {(*|/) factor};  factor = (+|-) factor | power
power = atom [** factor];  atom = number | name | function ( expression ) | ( expression )
Never ``eval``: the text is cut into tokens and computed on the way down, in floats only, so that no input runs long.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping

from fem.deck.lexical.source import Hint, did_you_mean, shown

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
    """What is wrong with an expression, ``column`` counted from 0."""

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
        """Step over one of the signs; "" if another token stands here."""
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
        """Parts between some of the signs, worked out from the left."""
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
        """The rest of a parenthesis."""
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
    """The value itself, unless it overflowed."""
    if not math.isfinite(value):
        raise ArithmeticMistake(column, "the result is too large")
    return value


def power(base: float, exponent: float, column: int) -> float:
    """base ** exponent over the reals."""
    if base == 0.0 and exponent < 0.0:
        raise ArithmeticMistake(column, "division by zero")
    if base < 0.0 and not exponent.is_integer():
        raise ArithmeticMistake(column, "a negative number to a broken power is complex")
    try:
        return finite(math.pow(base, exponent), column)
    except OverflowError as error:
        raise ArithmeticMistake(column, "the result is too large") from error
