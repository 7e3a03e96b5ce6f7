"""One deck for many parameter sets.

An outline is the model of a reading with traced numbers (``parameters.py``). It serves every parameter set with the
same decisions during reading, with other numbers where parameters are used; for any other set the deck is read in full,
as it is if there are mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.deck.parameters import Address, Course, Otherwise, Values, filler, plain, traced_in
from fem.deck.reader import checked_text, read_file
from fem.deck.scanner import checked_overrides
from fem.model import Model

MOST_OUTLINES = 8
"""Largest number of outlines of a deck; after that it is read in full each time."""


class Outline:
    """A model with traced numbers, and the course of its reading: the model for other values of the parameters."""

    def __init__(self, model: Model, course: Course) -> None:
        self._course, self._model, self._fill = course, model, filler(model)
        self._known = {name.upper(): plain(value) for name, value in model.parameters.items()}

    def __call__(self, values: Values) -> Model:
        """Otherwise: it has another outline."""
        found = self._course.follow({**self._known, **values})
        return self._fill(found) if self._fill else self._model

    def columns(self, values: Mapping[str, Floats]) -> dict[Address, Floats]:
        """The numbers of the model that change, for columns (k,) of values, each a column. Otherwise: a row of them has
        another outline."""
        found, (count, *_) = self._course.follow({**self._known, **values}), map(len, values.values())
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return {place: np.broadcast_to(each.of(found), count) for place, each in traced_in(self._model)}
        except ArithmeticError as error:
            raise Otherwise from error


class OutlineReader:
    """Reads a deck as ``read_deck`` does, for parameter sets that differ in ``varied`` ones only.

    last  the outline of the last set; None: it was read in full
    """

    def __init__(self, path: str | Path | Model, varied: Collection[str]) -> None:
        if isinstance(path, Model):
            checked_text(path)
        self._path = path
        self._varied = frozenset(name.upper() for name in varied)
        self._stored: dict[Path, bytes] = {}
        self._others: tuple[dict[str, float], frozenset[str]] | None = None
        self._outlines: list[Outline] = []
        self._tries = 0
        self.last: Outline | None = None

    def __getstate__(self) -> dict[str, Any]:
        """For another process: the text, but not what has been made of it."""
        return self.__dict__ | {"_others": None, "_outlines": [], "_tries": 0, "last": None}

    def __call__(self, parameters: Mapping[str, float]) -> Model:
        overrides = checked_overrides(parameters)
        fixed = {name: value for name, value in overrides.items() if name not in self._varied}
        others = fixed, self._varied & overrides.keys()  # parameters that are not varied have the deck's values
        if others != self._others:
            self._others, self._outlines, self._tries = others, [], 0
        for outline in self._outlines:
            with suppress(Otherwise):
                found, self.last = outline(overrides), outline
                return found
        self.last = None
        if self._tries < MOST_OUTLINES:
            self._tries += 1
            self.last = self._trace(overrides)
            with suppress(Otherwise):
                if self.last is not None:
                    found = self.last(overrides)
                    self._outlines.insert(0, self.last)
                    return found
        is_traced, self.last = self.last is not None, None
        model = read_file(self._path, overrides, self._stored)
        if not is_traced:  # it has no mistakes, so no other reading of it can be traced either
            self._tries = MOST_OUTLINES
        return model

    def _trace(self, overrides: Mapping[str, float]) -> Outline | None:
        """The outline of a reading. None if it has mistakes, or uses the numbers in a way that cannot be traced."""
        course = Course()
        varied = {name: course.parameter(name, overrides[name]) for name in self._varied & overrides.keys()}
        traced: dict[str, Any] = {**overrides, **varied}
        try:
            return Outline(read_file(self._path, traced, self._stored, course), course)
        except Exception:  # reading in full reports any error
            return None
