"""The parameter sets of a study: every combination of values (the first name varies slowest), or a list in a CSV.

A name is a ``*PARAMETER`` of the deck, or a start: ``U1_n2`` or ``U1_2`` (displacement 1 of node 2), ``V1_n2``.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
class LoadCase:
    """A line of a list: its name (empty: none), the values of its parameters but the seed, its fraction of all time."""

    name: str
    values: tuple[float, ...]
    share: float = math.nan


@dataclass(frozen=True, slots=True)
class Points:
    """Parameter sets of ``names``; a point is the index of one of them, from 0.

    values   of each name: all combinations are points, the first name varying slowest, or, without ``is_grid``, its
             value at each point
    source   the file of a list;  places: place of each name in it
    cases    of a list with columns of ``OF_CASES``: its lines;  special: the names of these columns, and their places
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    is_grid: bool = True
    source: str = ""
    places: tuple[str, ...] = ()
    cases: tuple[LoadCase, ...] = ()
    special: tuple[tuple[str, str], ...] = ()

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


CASE, SEEDS, PROBABILITY, OCCURRENCES = "case", "seeds", "probability", "occurrences"
OF_CASES = (CASE, SEEDS, PROBABILITY, OCCURRENCES)
"""Columns of a list that are no parameters: name of a case, number of seeds, share of the time."""
SAME = 1e-9
"""Values are equal if they differ by less than this fraction."""


def read_cases(path: str | Path) -> Points:
    """Read a list. CommandError, with line and column: an invalid name or number, too many or too few of them, a
    duplicate set or name, a number of seeds or a share of time that cannot be."""
    names, table, heads, places, texts = read_table(path, worded=(CASE,))
    special = {name.lower(): column for column, name in enumerate(names) if name.lower() in OF_CASES}
    own = [column for column in range(len(names)) if column not in special.values()]
    if not own:
        raise CommandError(f"{heads[0]}: a list of cases needs a column of a *PARAMETER or an initial value")
    given, seen = table[:, own], dict[tuple[float, ...], str]()
    for place, row in zip(places, map(tuple, given.tolist()), strict=True):
        if row in seen:
            number = seen[row].rpartition(":")[2]
            raise CommandError(f"{place}:1: the same parameter set as in line {number}; remove one of them")
        seen[row] = place
    for line, text in enumerate(texts):
        if text and (before := texts.index(text)) < line:
            raise CommandError(
                f"{places[line]}: {text} is already the case of line {places[before].rpartition(':')[2]}"
            )
    kept, at = tuple(names[column] for column in own), tuple(heads[column] for column in own)
    named = tuple((name, heads[column]) for name, column in special.items())
    if special and (seed := next(filter(is_seed, kept), "")):
        head = at[kept.index(seed)]
        raise CommandError(f"{head}: where a list has {', '.join(special)}, a line is a case of all its seeds: give "
                           f"their number in a column {SEEDS} instead of {seed}")  # fmt: skip
    shares = shares_of(special, table, places)
    cases = tuple(LoadCase(*each) for each in zip(texts, map(tuple, given.tolist()), shares, strict=True))
    if SEEDS in special:
        counts = counts_in(table[:, special[SEEDS]], places)
        check_size(path, sum(counts))
        given = np.column_stack([np.repeat(given, counts, axis=0), [1.0 + n for count in counts for n in range(count)]])
        kept, at = (*kept, "SEED"), (*at, heads[special[SEEDS]])
    check_size(path, len(given))
    columns = tuple(map(tuple, given.T.tolist()))
    return Points(kept, columns, False, Path(path).name, at, cases if special else (), named)


def check_size(path: str | Path, count: int) -> None:
    """CommandError: there are too many parameter sets."""
    if count > MAX_POINTS:
        raise CommandError(f"{path}: {count} parameter sets; at most {MAX_POINTS} are possible")


def counts_in(column: Floats, places: Sequence[str]) -> list[int]:
    """Numbers of seeds. CommandError, with the line: it is none."""
    for count, place in zip(column.tolist(), places, strict=True):
        if not (count.is_integer() and 1.0 <= count <= MAX_POINTS):
            raise CommandError(f"{place}: {SEEDS} must be a whole number from 1 on, got {count:g}")
    return list(map(int, column))


def shares_of(columns: Mapping[str, int], table: Floats, places: Sequence[str]) -> list[float]:
    """Fractions of all time of the rows of a table, whose sum is at most 1, from a column of probabilities, or of
    occurrences, which are divided by their sum; NaN without. CommandError: what cannot be."""
    found = [name for name in (PROBABILITY, OCCURRENCES) if name in columns]
    if not found:
        return [math.nan] * len(table)
    if len(found) > 1:
        raise CommandError(f"{places[0]}: give one of {' and '.join(found)}")
    shares = table[:, columns[found[0]]]
    for share, place in zip(shares.tolist(), places, strict=True):
        if share < 0.0:
            raise CommandError(f"{place}: a negative value of {found[0]}: {share:g}")
    if not shares.sum() > 0.0:
        raise CommandError(f"{places[0]}: {found[0]} is zero throughout")
    if found[0] == OCCURRENCES:
        shares = shares / shares.sum()
    elif shares.sum() > 1.0 + SAME:
        raise CommandError(f"{places[0]}: the probabilities have the sum {shares.sum():.9g}; expected at most 1")
    return list(map(float, shares))


UNIT = re.compile(r"\s*[\[(].*[\])]$|^-$")
GAPS = ("", "-", "nan", "na", "n/a", "null", "none")
"""What stands where nothing was measured, in lower case."""


def read_numbers(
    path: str | Path, say: Say | None = None
) -> tuple[tuple[str, ...], Floats, tuple[str, ...], tuple[str, ...]]:
    """Names in the first line of a CSV file, numbers (k, c) below them, the place of each name and of each row; as
    ``read_table``."""
    return read_table(path, say)[:4]


def read_table(
    path: str | Path, say: Say | None = None, worded: Collection[str] = ()
) -> tuple[tuple[str, ...], Floats, tuple[str, ...], tuple[str, ...], list[str]]:
    """``read_numbers``, and the text of each row. Cells are between commas; or between semicolons or tabs, and then
    commas may be decimal.

    say    of measurements: gaps are NaN; units, behind names or in a line below them, are left out, and told
    worded  names of columns, in lower case, of which one may be there; it has a text in each row, and NaN in place of
           numbers
    """
    texts = table_lines(path)
    separator = next((sign for sign in ";\t" if texts and sign in texts[0][1]), ",")
    lines = [(n, cells_in(line, separator)) for n, line in texts]
    (first, head), *rest = lines or [(1, [])]
    if separator == ";" and len(head) > 1 and not head[-1][1]:  # lines that end with a semicolon
        head, rest = head[:-1], [(n, cells[: len(cells) - (not cells[-1][1])]) for n, cells in rest]
    if separator != ",":
        kept = [text.lower() in worded for _, text in head]
        rest = [(n, [*map(with_points, cells, [*kept, *[False] * len(cells)])]) for n, cells in rest]
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
    pairs, is_text = zip(places, rest, strict=True), [name.lower() in worded for name in names]
    table = np.array([values_of(place, cells, names, has_gaps, is_text) for place, (_, cells) in pairs])
    at = is_text.index(True) if any(is_text) else -1
    words = ["" if at < 0 else cells[at][1] for _, cells in rest]
    return names, table, tuple(f"{path}:{first}:{column}" for column, _ in head), places, words


def with_points(cell: Cell, is_text: bool) -> Cell:
    """A cell whose decimal commas are points."""
    return cell if is_text else (cell[0], cell[1].replace(",", "."))


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


def values_of(
    place: str, cells: list[Cell], names: tuple[str, ...], has_gaps: bool, is_text: Sequence[bool]
) -> tuple[float, ...]:
    """A set: a finite number for each name, or NaN where there may be gaps, and for texts."""
    if len(cells) != len(names):
        column = cells[len(names)][0] if len(cells) > len(names) else cells[-1][0]
        hint = " (numbers have decimal points, not commas)" if len(cells) > len(names) else ""
        expected = f"{len(names)} value{'s' * (len(names) != 1)}, of {', '.join(names)}"
        raise CommandError(f"{place}:{column}: {len(cells)} values; expected {expected}{hint}")
    found = []
    for (column, text), name, is_one in zip(cells, names, is_text, strict=True):
        value = None if is_one else finite(text)
        if is_one or (value is None and has_gaps and text.lower() in GAPS):
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
    for name, place in grid.special:
        if name.upper() in known:
            raise CommandError(
                f"{place}: {name} is a word of lists of cases, and a *PARAMETER of the deck: rename that"
            )
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
    between: list[float] = (first + (last - first) * np.arange(count - 1) / max(1, count - 1)).tolist()
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
