"""Lists of parameter sets: a CSV whose header names parameters, a set in each line below it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError

MAX_POINTS = 10_000_000
FEW_VALUES = 4
Cell = tuple[int, str]
"""Its column in the line, from 1, and its text."""


def span(name: str, values: tuple[float, ...]) -> str:
    """``A = 0 ... 15 (61 values)``, or all values if they are few."""
    if len(values) <= FEW_VALUES:
        return f"{name} = {', '.join(f'{value:.6g}' for value in values)}"
    return f"{name} = {values[0]:.6g} ... {values[-1]:.6g} ({len(values)} values)"


@dataclass(frozen=True, slots=True)
class Cases:
    """Parameter sets of ``names``, one after the other; a point is the index of one of them, from 0.

    rows    (k) sets of as many values as there are names
    source  the file;  places: where in it each name stands
    """

    names: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    source: str
    places: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def point(self, index: int) -> dict[str, float]:
        """The parameter set at a point."""
        return dict(zip(self.names, self.rows[index], strict=True))

    def columns(self) -> dict[str, Floats]:
        """name -> (k,) its values at all points."""
        return dict(zip(self.names, np.array(self.rows).T, strict=True))

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from other sweeps: the sets, not the name of their file."""
        return {"cases": {name: list(map(float, values)) for name, values in self.columns().items()}}

    def said(self) -> str:
        """What it is over, in a line."""
        return f"{', '.join(self.names)} of {self.source}"

    def place(self, name: str) -> str:
        """Where a name was given, for messages."""
        return f"{self.places[self.names.index(name)]}: "


def read_cases(path: str | Path) -> Cases:
    """Read a list. CommandError, with line and column: what is no name or number, too many or too few of them, a set
    that is there twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--cases: {path} cannot be read: {getattr(error, 'strerror', '') or error}") from None
    lines = [(n, cells_in(line)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) < 2:
        raise CommandError(f"{path}: expected a line of parameter names and at least one set of values below it")
    if len(lines) > MAX_POINTS:
        raise CommandError(f"{path}: {len(lines) - 1} parameter sets; at most {MAX_POINTS} are possible")
    (first, head), *rest = lines
    names = tuple(names_of(f"{path}:{first}", head))
    seen: dict[tuple[float, ...], int] = {}
    for n, cells in rest:
        row = values_of(f"{path}:{n}", cells, names)
        if row in seen:
            raise CommandError(f"{path}:{n}:1: the parameter set of line {seen[row]} once more; leave one of them out")
        seen[row] = n
    return Cases(names, tuple(seen), Path(path).name, tuple(f"{path}:{first}:{column}" for column, _ in head))


def cells_in(line: str) -> list[Cell]:
    """Of a line, without blanks and quotes around them."""
    found, start = [], 0
    for part in line.split(","):
        column = start + len(part) - len(part.lstrip()) + 1
        found.append((column, part.strip().strip('"').strip()))
        start += len(part) + 1
    return found


def names_of(place: str, cells: list[Cell]) -> Iterator[str]:
    """Those of the header."""
    known: set[str] = set()
    for column, name in cells:
        if not name:
            raise CommandError(f"{place}:{column}: a parameter name is missing")
        if ";" in name or "\t" in name:
            raise CommandError(f"{place}:{column}: {name!r} is no parameter name: cells are parted by commas")
        if name.upper() in known:
            raise CommandError(f"{place}:{column}: {name} is given twice")
        known.add(name.upper())
        yield name


def values_of(place: str, cells: list[Cell], names: tuple[str, ...]) -> tuple[float, ...]:
    """A set: a finite number for each name; Fortran's D exponent is understood."""
    if len(cells) != len(names):
        column = cells[len(names)][0] if len(cells) > len(names) else cells[-1][0]
        hint = " (numbers have decimal points, not commas)" if len(cells) > len(names) else ""
        expected = f"{len(names)} value{'s' * (len(names) != 1)}, of {', '.join(names)}"
        raise CommandError(f"{place}:{column}: {len(cells)} values; expected {expected}{hint}")
    found = []
    for (column, text), name in zip(cells, names, strict=True):
        try:
            value = float(text.upper().replace("D", "E"))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise CommandError(f"{place}:{column}: {text!r} is not a finite number; expected a value of {name}")
        found.append(value)
    return tuple(found)
