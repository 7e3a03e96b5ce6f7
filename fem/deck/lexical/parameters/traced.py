"""Numbers that know how they follow from the parameters of a deck, and what was decided by them.

A deck that is read with ``Traced`` numbers in place of some parameters tells, beside the model, for which other values
the reading would have taken the same course: then only these numbers change. Whatever looks into a traced number in a
way that leaves no trace (``float(x)``, formats, arrays, hashes) raises TypeError, and the deck is read anew each time.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from fem.deck.lexical.parameters.arithmetic import ArithmeticMistake, evaluate

Values = Mapping[str, float]
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Otherwise(Exception):
    """With these values the deck does not read the same way."""


class Course:
    """What one reading took from its parameters.

    assignments  (name, expression, is it overridden) of the ``*PARAMETER`` lines that name traced parameters, in order
    decisions    what was asked of traced numbers, and the answer
    """

    def __init__(self) -> None:
        self.assignments: list[tuple[str, str, bool]] = []
        self.decisions: list[tuple[Callable[[Values], bool], bool]] = []

    def parameter(self, name: str, value: float) -> Traced:
        """The value of a parameter."""
        return Traced(self, value, operator.itemgetter(name))

    def assign(self, name: str, text: str, earlier: Mapping[str, Any], numbers: Values, override: Any) -> Any:
        """The value of a ``*PARAMETER`` line, ``override`` (if not None) in its place. ArithmeticMistake.

        ``earlier``: the parameters above it; ``numbers``: these in this reading.
        """
        value = evaluate(text, numbers)
        is_traced = any(isinstance(earlier.get(word.upper()), Traced) for word in NAME.findall(text))
        if is_traced:
            self.assignments.append((name, text, override is not None))
        if override is not None:
            return self.parameter(name, override.value) if isinstance(override, Traced) else override
        return self.parameter(name, value) if is_traced else value

    def follow(self, values: dict[str, float]) -> dict[str, float]:
        """All parameters for other values of the traced ones. Otherwise: the reading takes another course."""
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
    """What has no text, no equal and no hash while it is traced."""

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
    """A number: its value in this reading, and what it is ``of`` other values of the parameters."""

    __slots__ = ("course", "of", "value")

    def __init__(self, course: Course, value: float, of: Callable[[Values], float]) -> None:
        self.course, self.value, self.of = course, value, of

    def combined(self, function: Callable[[float, float], float], other: Any) -> Any:
        """function(self, other)."""
        if not isinstance(other, Traced | float | int):
            return NotImplemented
        mine, its = self.of, other.of if isinstance(other, Traced) else lambda values: other
        return Traced(self.course, function(self.value, plain(other)), lambda v: function(mine(v), its(v)))

    def decided(self, function: Callable[[float, float], bool], other: Any) -> Any:
        """function(self, other), remembered."""
        if not isinstance(other, Traced | float | int):
            return NotImplemented
        mine, its = self.of, other.of if isinstance(other, Traced) else lambda values: other
        decision = function(self.value, plain(other))
        self.course.decisions.append((lambda v: function(mine(v), its(v)), decision))
        return decision

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
    """The value in this reading."""
    return number.value if isinstance(number, Traced) else number


class Known(Mapping[str, Any]):
    """The parameters that a growing ``table`` (name in upper case -> its number in the table, its value) has now.

    A card keeps one: it must cost nothing. is_plain: traced values as their numbers
    """

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
