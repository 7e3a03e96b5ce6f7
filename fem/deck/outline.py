"""One deck for many parameter sets: the model of one reading, with other numbers where parameters stand.

An outline is the model of a reading with traced numbers (``parameters.py``). It serves every parameter
set for which the reading would have taken the same course; any other is read in full, as is any that has mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fem.deck.parameters import Course, Otherwise, Traced, Values, plain
from fem.deck.reader import read_file
from fem.deck.scanner import checked_overrides
from fem.deck.table import Handler
from fem.model import Model

MOST_OUTLINES = 8
"""A deck whose course changes more often is read in full each time."""
Filler = Callable[[Values], Any]


class Outline:
    """A model whose numbers follow from the parameters, and the course of the reading it came from."""

    def __init__(self, model: Model, course: Course) -> None:
        self._course, self._model = course, model
        self._known = {name.upper(): plain(value) for name, value in model.parameters.items()}
        self._fill = filler(model)

    def model(self, overrides: Mapping[str, float]) -> Model:
        """The model for other values of the traced parameters. Otherwise: it has another outline."""
        values = self._course.follow({**self._known, **overrides})
        return self._model if self._fill is None else self._fill(values)


class OutlineReader:
    """Reads a deck as ``read_deck`` does, for parameter sets that differ in ``varied`` ones only."""

    def __init__(self, path: str | Path, varied: Collection[str], keywords: Mapping[str, Handler]) -> None:
        self._path, self._keywords = path, keywords
        self._varied = frozenset(name.upper() for name in varied)
        self._stored: dict[Path, bytes] = {}
        self._others: tuple[dict[str, float], frozenset[str]] | None = None
        self._outlines: list[Outline] = []
        self._tries = 0

    def __call__(self, parameters: Mapping[str, float]) -> Model:
        overrides = checked_overrides(parameters)
        fixed = {name: value for name, value in overrides.items() if name not in self._varied}
        others = fixed, self._varied & overrides.keys()  # what is not varied now has the deck's own value
        if others != self._others:
            self._others, self._outlines, self._tries = others, [], 0
        for outline in self._outlines:
            try:
                return outline.model(overrides)
            except Otherwise:
                continue
        if self._tries < MOST_OUTLINES:
            self._tries += 1
            found = self._trace(overrides)
            if found is not None:
                self._outlines.insert(0, found)
                return found.model(overrides)
        return read_file(self._path, overrides, self._keywords, self._stored)

    def _trace(self, overrides: Mapping[str, float]) -> Outline | None:
        """The outline of a reading; None where it has mistakes or looks into the numbers too closely."""
        course = Course()
        varied = {name: course.parameter(name, overrides[name]) for name in self._varied & overrides.keys()}
        traced: dict[str, Any] = {**overrides, **varied}
        try:
            return Outline(read_file(self._path, traced, self._keywords, self._stored, course), course)
        except Exception:  # whatever it is, the reading in full says it in its own words
            return None


def array_filler(part: np.ndarray) -> Filler:
    """How an array of numbers follows from the parameters that some of them are traced to."""
    own = np.array(list(map(plain, part.ravel())), np.float64).reshape(part.shape)
    places = [(place, item.of) for place, item in np.ndenumerate(part) if isinstance(item, Traced)]

    def fill(values: Values) -> np.ndarray:
        found = own.copy()
        for place, of in places:
            found[place] = of(values)
        return found

    return fill


def filler(part: Any) -> Filler | None:
    """How a part of a model follows from the parameters; None: not at all. TypeError where that cannot be seen."""
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
        names = [field.name for field in fields(part)]
        own = filler({name: getattr(part, name) for name in names})
        return (lambda values: replace(part, **own(values))) if own else None  # type: ignore[type-var]
    if isinstance(part, np.ndarray) and part.dtype == object:
        return array_filler(part)
    if part is None or isinstance(part, str | float | int | frozenset | np.ndarray):
        return None
    raise TypeError(f"a model with a {type(part).__name__}")
