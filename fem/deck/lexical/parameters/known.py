"""The parameters of a deck: a table that only grows, and views of what was known at a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from fem.deck.lexical.parameters.traced import plain


class Parameters:
    """Values by name in upper case, in order of definition; a name is given once."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.values: list[Any] = []

    def define(self, name: str, value: Any) -> None:
        """The next parameter."""
        self.places[name] = len(self.values)
        self.values.append(value)

    def known(self, is_plain: bool = False) -> Known:
        """Those of now; ``is_plain``: traced values as their numbers."""
        return Known(self, len(self.values), is_plain)


class Known(Mapping[str, Any]):
    """The first ``count`` parameters of a table that may have grown since. A card keeps one: it must cost nothing."""

    __slots__ = ("_count", "_is_plain", "_table")

    def __init__(self, table: Parameters, count: int, is_plain: bool) -> None:
        self._table, self._count, self._is_plain = table, count, is_plain

    def __getitem__(self, name: str) -> Any:
        place = self._table.places[name]
        if place >= self._count:
            raise KeyError(name)
        value = self._table.values[place]
        return plain(value) if self._is_plain else value

    def __iter__(self) -> Iterator[str]:
        return islice(self._table.places, self._count)

    def __len__(self) -> int:
        return self._count
