"""The parameter sets of a study: every combination of values (the first name varies slowest), or a list in a CSV.

A name is a ``*PARAMETER`` of the deck, or a start: ``U1_n2`` or ``U1_2`` (displacement 1 of node 2), ``V1_n2``.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np

from fem.arrays import Floats, Say
from fem.commands.files import table_lines
from fem.deck import deck_reader
from fem.deck.parameters import Address, Otherwise
from fem.errors import CommandError, proposal
from fem.model import InitialCondition, Model
from fem.model.named import item_named

MAX_POINTS = 10_000_000
FEW_VALUES = 4
MOST_LISTED = 1000
"""Values of a name that a record lists."""
Values: TypeAlias = tuple[float, ...] | Floats
"""Many are an array, which takes a quarter of the memory."""
Cell = tuple[int, str]
"""Column of a text in the line, from 1, and the text."""


def span(name: str, values: Values) -> str:
    """``A = 0 ... 15 (61 values)``, or all values if they are few."""
    if len(values) <= FEW_VALUES:
        return f"{name} = {', '.join(f'{value:.6g}' for value in values)}"
    return f"{name} = {values[0]:.6g} ... {values[-1]:.6g} ({len(values)} values)"


def stated(values: Any) -> Any:
    """What a record says of the values of a grid, by name: all of them; of many how many, between what, and a checksum.
    What is said already stays as it is."""
    if isinstance(values, Mapping):
        return {name: stated(its) for name, its in values.items()}
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) <= MOST_LISTED:
        return values
    numbers = np.array(values, "<f8")
    checksum = blake2b(numbers.tobytes(), digest_size=16).hexdigest()
    return {"count": len(numbers), "least": float(numbers.min()), "greatest": float(numbers.max()), "blake2b": checksum}


@dataclass(frozen=True, slots=True)
class Points:
    """Parameter sets of ``names``; a point is the index of one of them, from 0.

    values   of each name: all combinations are points, the first name varying slowest, or, without ``is_grid``, its
             value at each point
    source   the file of a list;  places: place of each name in it
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    is_grid: bool = True
    source: str = ""
    places: tuple[str, ...] = ()

    def __len__(self) -> int:
        return math.prod(map(len, self.values)) if self.is_grid else len(self.values[0])

    def point(self, index: int) -> dict[str, float]:
        """The parameter set at a point."""
        chosen = []
        for values in reversed(self.values):
            rest, place = divmod(index, len(values))
            index = rest if self.is_grid else index
            chosen.append(float(values[place]))
        return dict(zip(self.names, reversed(chosen), strict=True))

    def columns(self) -> dict[str, Floats]:
        """name -> (k,) its values at all points."""
        found = np.meshgrid(*self.values, indexing="ij") if self.is_grid else map(np.array, self.values)
        return {name: values.ravel() for name, values in zip(self.names, found, strict=True)}

    @property
    def identity(self) -> dict[str, Any]:
        """Identity of a sweep: the parameter sets, not the name of their file."""
        own: dict[str, Any] = dict(zip(self.names, self.values, strict=True))
        found: dict[str, Any] = stated(own if self.is_grid else {"cases": own})
        return found

    def description(self) -> str:
        """The parameters and their ranges, in a line."""
        return (
            " x ".join(map(span, self.names, self.values))
            if self.is_grid
            else f"{', '.join(self.names)} of {self.source}"
        )

    def place(self, name: str) -> str:
        """Place of a name in a list, for messages."""
        return f"{self.places[self.names.index(name)]}: " if self.places else ""


def read_cases(path: str | Path) -> Points:
    """Read a list. CommandError, with line and column: an invalid name or number, too many or too few of them, a
    duplicate set."""
    names, values, heads, places = read_numbers(path)
    if len(values) > MAX_POINTS:
        raise CommandError(f"{path}: {len(values)} parameter sets; at most {MAX_POINTS} are possible")
    seen: dict[tuple[float, ...], str] = {}
    for place, row in zip(places, map(tuple, values.tolist()), strict=True):
        if row in seen:
            line = seen[row].rpartition(":")[2]
            raise CommandError(f"{place}:1: the same parameter set as in line {line}; remove one of them")
        seen[row] = place
    return Points(names, tuple(zip(*seen, strict=True)), False, Path(path).name, heads)


UNIT = re.compile(r"\s*[\[(].*[\])]$|^-$")
GAPS = ("", "-", "nan", "na", "n/a", "null", "none")
"""What stands where nothing was measured, in lower case."""


def read_numbers(
    path: str | Path, say: Say | None = None
) -> tuple[tuple[str, ...], Floats, tuple[str, ...], tuple[str, ...]]:
    """Names in the first line of a CSV file, numbers (k, c) below them, the place of each name and of each row. Cells
    are between commas; or between semicolons or tabs, and then commas may be decimal.

    say  of measurements: gaps are NaN; units, behind names or in a line below them, are left out, and told
    """
    texts = table_lines(path)
    separator = next((sign for sign in ";\t" if texts and sign in texts[0][1]), ",")
    lines = [(n, cells_in(line, separator)) for n, line in texts]
    (first, head), *rest = lines or [(1, [])]
    if separator == ";" and len(head) > 1 and not head[-1][1]:  # lines that end with a semicolon
        head, rest = head[:-1], [(n, cells[: len(cells) - (not cells[-1][1])]) for n, cells in rest]
    if separator != ",":
        rest = [(n, [(column, text.replace(",", ".")) for column, text in cells]) for n, cells in rest]
    if say is not None:
        below = [text for _, text in rest[0][1]] if rest else []
        is_units = any(below) and all(finite(text) is None and text.lower() not in GAPS[2:] for text in below)
        units = below if is_units else []
        rest = rest[len(units) > 0 :]
        if units := [*units, *(found.group().strip() for _, text in head if (found := UNIT.search(text)))]:
            say(f"{path}: units {' '.join(units)} are not used: numbers have the units of the deck")
        head = [(column, UNIT.sub("", text)) for column, text in head]
    if not rest:
        raise CommandError(f"{path}: expected a line of names and at least one line of numbers below it")
    names = tuple(names_of(f"{path}:{first}", head))
    places, has_gaps = tuple(f"{path}:{n}" for n, _ in rest), say is not None
    pairs = zip(places, rest, strict=True)
    table = np.array([values_of(place, cells, names, has_gaps) for place, (_, cells) in pairs])
    return names, table, tuple(f"{path}:{first}:{column}" for column, _ in head), places


def cells_in(line: str, separator: str) -> list[Cell]:
    """Of a line, without blanks and quotes around them."""
    found, start = [], 0
    for part in line.split(separator):
        column = start + len(part) - len(part.lstrip()) + 1
        found.append((column, part.strip().strip('"').strip()))
        start += len(part) + 1
    return found


def names_of(place: str, cells: list[Cell]) -> Iterator[str]:
    known: set[str] = set()
    for column, name in cells:
        if not name:
            raise CommandError(f"{place}:{column}: a parameter name is missing")
        if name.upper() in known:
            raise CommandError(f"{place}:{column}: {name} is given twice")
        known.add(name.upper())
        yield name


def finite(text: str) -> float | None:
    """The finite number that a text is, or None; Fortran's D exponent is understood."""
    with suppress(ValueError):
        value = float(text.upper().replace("D", "E"))
        return value if math.isfinite(value) else None
    return None


def values_of(place: str, cells: list[Cell], names: tuple[str, ...], has_gaps: bool) -> tuple[float, ...]:
    """A set: a finite number for each name, or NaN where there may be gaps."""
    if len(cells) != len(names):
        column = cells[len(names)][0] if len(cells) > len(names) else cells[-1][0]
        hint = " (numbers have decimal points, not commas)" if len(cells) > len(names) else ""
        expected = f"{len(names)} value{'s' * (len(names) != 1)}, of {', '.join(names)}"
        raise CommandError(f"{place}:{column}: {len(cells)} values; expected {expected}{hint}")
    found = []
    for (column, text), name in zip(cells, names, strict=True):
        value = finite(text)
        if value is None and has_gaps and text.lower() in GAPS:
            value = math.nan
        if value is None:
            raise CommandError(f"{place}:{column}: {text!r} is not a finite number; expected a value of {name}")
        found.append(value)
    return tuple(found)


FORM = "NAME=first:last:count, NAME=1:20 (all whole numbers from 1 to 20) or NAME=value,value,..."
KINDS = {"U": "DISPLACEMENT", "V": "VELOCITY"}


def make_grid(vary: Mapping[str, Iterable[float]]) -> Points:
    """A grid from values by name; CommandError if they are invalid."""
    values = {name: tuple(map(float, given)) for name, given in vary.items()}
    if not values:
        raise CommandError("a sweep needs a parameter to vary: --vary NAME=first:last:count, or --cases FILE.csv")
    for name, numbers in values.items():
        if not numbers:
            raise CommandError(f"parameter {name} has no values to sweep over")
        if not all(map(math.isfinite, numbers)):
            raise CommandError(f"the values of parameter {name} are not all finite numbers")
        if len(set(numbers)) < len(numbers):
            raise CommandError(f"parameter {name} has the same value twice")
    if len({name.upper() for name in values}) < len(values):
        raise CommandError("a parameter is varied twice")
    grid = Points(tuple(values), tuple(its if len(its) <= MOST_LISTED else np.array(its) for its in values.values()))
    if len(grid) > MAX_POINTS:
        raise CommandError(f"the sweep has {len(grid)} parameter sets; at most {MAX_POINTS} are possible")
    return grid


def parameter_of(model: Model, name: str, place: str = "") -> str:
    """Name of a parameter as the deck spells it. CommandError: there is no such parameter."""
    known = {each.upper(): each for each in model.parameters}
    if name.upper() not in known:
        raise CommandError(f"{place}the deck has no *PARAMETER {name}; {proposal(name, known.values())}")
    return known[name.upper()]


def spelled(grid: Points, model: Model) -> Points:
    """The grid with names as the deck and tables have them; CommandError: there is no such name."""
    known = {name.upper() for name in model.parameters}
    names = []
    for name in grid.names:
        found = None
        if name.upper() not in known:
            with suppress(CommandError):
                found = item_named(name)
        if not found or found.family not in KINDS:
            names.append(parameter_of(model, name, grid.place(name)))
        elif found.label in model.mesh.node_labels:
            names.append(str(found._replace(kind="")))
        else:
            raise CommandError(f"{grid.place(name)}{name}: the deck has no node {found.label}")
    return replace(grid, names=tuple(names))


READING = RLock()
"""Threads read one after the other."""


class PointReader:
    """Reads a deck for values of names of a grid, and of other parameters; in another process the same text.

    model  the deck with its own values;  starts: names of initial values, which come after those of the deck
    """

    def __init__(self, deck: str | Path | Model, grid: Points, model: Model) -> None:
        self.key = uuid4().hex
        self.last: tuple[Mapping[str, float], Model] | None = None
        self.starts = {name: item_named(name) for name in grid.names if name not in model.parameters}
        self.read = deck_reader(deck, [name for name in grid.names if name in model.parameters])

    def __reduce__(self) -> tuple[Any, ...]:
        return reader_there, (self.key, self.__dict__ | {"last": None})

    def __call__(self, values: Mapping[str, float]) -> Model:
        """What was read last is asked for again: how long will it take?"""
        with READING:
            if self.last is None or self.last[0] != values:
                self.last = values, self._read(values)
            return self.last[1]

    def _read(self, values: Mapping[str, float]) -> Model:
        found = self.read({name: value for name, value in values.items() if name not in self.starts})
        if not self.starts:
            return found
        items = [(values[name], its) for name, its in self.starts.items()]
        conditions = [InitialCondition(KINDS[its.family], its.label, value, its.axis + 1) for value, its in items]
        return replace(found, initial_conditions=(*found.initial_conditions, *conditions))

    def columns(self, given: Mapping[str, Floats]) -> tuple[Model, dict[Address, Floats]] | None:
        """The model at the first of some points (name -> (k,) values), and the numbers in which those of the others
        differ, each a column; None where they are not read alike."""
        with READING:
            model = self._read({name: float(column[0]) for name, column in given.items()})
            outline = self.read.last
        if outline is None:
            return None
        own = {name.upper(): column for name, column in given.items() if name not in self.starts}
        first = len(model.initial_conditions) - len(self.starts)
        try:
            found = outline.columns(own) if own else {}
        except Otherwise:
            return None
        for number, name in enumerate(self.starts, first):
            found["initial_conditions", number, "value"] = given[name]
        return model, found


@cache
def readers_there() -> dict[str, PointReader]:
    """Those that came to this process."""
    return {}


def reader_there(key: str, state: dict[str, Any]) -> PointReader:
    """The reader that is known here, with all that it has made of the text, or a new one."""
    known = readers_there()
    if key not in known:
        known.clear()
        known[key] = PointReader.__new__(PointReader)
        known[key].__dict__.update(state)
    return known[key]


def read_vary(texts: Iterable[str]) -> Points:
    vary: dict[str, list[float]] = {}
    for text in texts:
        name, equals, right = (part.strip() for part in text.partition("="))
        if not (name and equals and right):
            raise CommandError(f"{text!r} is not of the form {FORM}")
        if name in vary:
            raise CommandError(f"{name} is given twice")
        vary[name] = spaced(right.split(":"), text) if ":" in right else [number(v, text) for v in right.split(",")]
    return make_grid(vary)


def points_of(options: argparse.Namespace) -> Points:
    """The parameter sets of a command line: a grid, or a list."""
    if (cases := getattr(options, "cases", None)) is None:
        return read_vary(options.vary)
    if options.vary:
        raise CommandError("--cases lists all parameter sets: use it without --vary")
    return read_cases(cases)


def spaced(parts: list[str], text: str) -> list[float]:
    """``first:last:count``: evenly spaced, both ends included; ``first:last``: all whole numbers between."""
    if len(parts) == 2:
        ends = [number(part, text) for part in parts]
        if not (all(end.is_integer() for end in ends) and ends[0] < ends[1]):
            raise CommandError(f"{text!r} lacks the number of values: {FORM}")
        parts = [*parts, str(int(ends[1] - ends[0]) + 1)]
    if len(parts) != 3:
        raise CommandError(f"{text!r} is not of the form {FORM}")
    first, last = number(parts[0], text), number(parts[1], text)
    if not parts[2].strip().isdecimal() or len(parts[2]) > 9 or int(parts[2]) < 1:
        raise CommandError(f"{parts[2]!r} in {text!r} is not a count of values (1, 2, ...)")
    count = int(parts[2])
    if (count == 1) != (first == last):
        what = "one value needs equal ends" if count == 1 else "both ends are equal"
        raise CommandError(f"{text!r}: {what}")
    if count > MAX_POINTS:
        raise CommandError(f"{text!r}: at most {MAX_POINTS} values are possible")
    between = [first + (last - first) * i / (count - 1) for i in range(count - 1)]
    return [*between, last]


def number(text: str, whole: str) -> float:
    """A finite number in an option."""
    value = finite(text)
    if value is None:
        raise CommandError(f"{text.strip()!r} in {whole!r} is not a finite number")
    return value


def is_seed(name: str) -> bool:
    """Whether a parameter has the name of a seed: parameter sets that differ in it only are samples."""
    return name.upper() == "SEED"
