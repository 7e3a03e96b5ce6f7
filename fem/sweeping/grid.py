"""Parameter grids: values of several names, every combination, the first name varying slowest.

A name is a ``*PARAMETER`` of the deck, or a start: ``U1_2`` displacement 1 of node 2, ``V1_2`` its velocity.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.deck import deck_reader
from fem.deck.source import nearest
from fem.errors import CommandError
from fem.model import InitialCondition, Model
from fem.sweeping.cases import MAX_POINTS, Cases, read_cases, span

FORM = "NAME=first:last:count or NAME=value,value,..."
START = re.compile(r"([UV])([123])_(\d+)", re.IGNORECASE)
KINDS = {"U": "DISPLACEMENT", "V": "VELOCITY"}
Reader = Callable[[Mapping[str, float]], Model]


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of ``values[j]`` of ``names[j]``; a point is the index of one of them, from 0."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

    def __len__(self) -> int:
        return math.prod(map(len, self.values))

    def point(self, index: int) -> dict[str, float]:
        """The parameter set at a point."""
        chosen = []
        for values in reversed(self.values):
            index, place = divmod(index, len(values))
            chosen.append(values[place])
        return dict(zip(self.names, reversed(chosen), strict=True))

    def columns(self) -> dict[str, Floats]:
        """name -> (k,) its values at all points."""
        found = np.meshgrid(*self.values, indexing="ij")
        return {name: values.ravel() for name, values in zip(self.names, found, strict=True)}

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from other sweeps."""
        return dict(zip(self.names, self.values, strict=True))

    def said(self) -> str:
        """What it is over, in a line."""
        return " x ".join(map(span, self.names, self.values))

    def place(self, name: str) -> str:
        """Where a name was given, for messages: with what asked for it."""
        return ""


Points = Grid | Cases
"""The parameter sets of a sweep."""


def make_grid(vary: Mapping[str, Iterable[float]]) -> Grid:
    """A grid from values by name; CommandError where they are none."""
    values = {name: tuple(float(value) for value in given) for name, given in vary.items()}
    if not values:
        raise CommandError("a sweep varies at least one parameter: --vary NAME=first:last:count, or --cases FILE.csv")
    for name, numbers in values.items():
        if not numbers:
            raise CommandError(f"parameter {name} has no values to sweep over")
        if not all(map(math.isfinite, numbers)):
            raise CommandError(f"the values of parameter {name} are not all finite numbers")
        if len(set(numbers)) < len(numbers):
            raise CommandError(f"parameter {name} has the same value twice")
    if len({name.upper() for name in values}) < len(values):
        raise CommandError("a parameter is varied twice")
    grid = Grid(tuple(values), tuple(values.values()))
    if len(grid) > MAX_POINTS:
        raise CommandError(f"the sweep has {len(grid)} parameter sets; at most {MAX_POINTS} are possible")
    return grid


def spelled(grid: Points, model: Model) -> Points:
    """The grid with names as the deck and tables have them; CommandError: there is no such name."""
    known = {name.upper(): name for name in model.parameters}
    names = []
    for name in grid.names:
        found = START.fullmatch(name)
        if name.upper() not in known and found and int(found[3]) in model.mesh.node_labels:
            names.append(name.upper())
        elif name.upper() in known:
            names.append(known[name.upper()])
        elif found:
            raise CommandError(f"{grid.place(name)}{name}: the deck has no node {found[3]}")
        else:
            guess = nearest(name, known.values())
            hint = f"; did you mean {guess}?" if guess else ""
            raise CommandError(f"{grid.place(name)}the deck has no *PARAMETER {name}{hint}")
    return replace(grid, names=tuple(names))


def reader_of(deck: str | Path, grid: Points, model: Model) -> Reader:
    """Reads the deck for values of names of the grid, and of other parameters; ``model``: it with its own values."""
    starts = [name for name in grid.names if name not in model.parameters]
    read = deck_reader(deck, [name for name in grid.names if name in model.parameters])

    def started(values: Mapping[str, float]) -> Model:
        """Starts come after those of the deck, and so in their place."""
        found = read({name: value for name, value in values.items() if name not in starts})
        conditions = [InitialCondition(KINDS[n[0]], int(n[3:]), values[n], int(n[1])) for n in starts]
        return replace(found, initial_conditions=(*found.initial_conditions, *conditions))

    return started if starts else read


def read_vary(texts: Iterable[str]) -> Grid:
    """The grid of ``--vary`` options."""
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
    """The parameter sets that a command line asks for: a grid, or a list."""
    if (cases := getattr(options, "cases", None)) is None:
        return read_vary(options.vary)
    if options.vary:
        raise CommandError("--cases lists all parameter sets: it does not go with --vary")
    return read_cases(cases)


def spaced(parts: list[str], text: str) -> list[float]:
    """``first:last:count``: evenly spaced, both ends included."""
    if len(parts) != 3:
        raise CommandError(f"{text!r} is not of the form {FORM}")
    first, last = number(parts[0], text), number(parts[1], text)
    if not parts[2].strip().isdecimal() or len(parts[2]) > 9 or int(parts[2]) < 1:
        raise CommandError(f"{parts[2]!r} in {text!r} is not a number of values (1, 2, ...)")
    count = int(parts[2])
    if (count == 1) != (first == last):
        what = "one value cannot have two ends" if count == 1 else "both ends are the same"
        raise CommandError(f"{text!r}: {what}")
    if count > MAX_POINTS:
        raise CommandError(f"{text!r}: at most {MAX_POINTS} values are possible")
    between = [first + (last - first) * i / (count - 1) for i in range(count - 1)]
    return [*between, last]


def number(text: str, whole: str) -> float:
    """A finite number; Fortran's D exponent is understood."""
    try:
        value = float(text.upper().replace("D", "E"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CommandError(f"{text.strip()!r} in {whole!r} is not a finite number")
    return value
