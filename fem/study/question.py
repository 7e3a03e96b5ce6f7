"""Interface of studies: the row of a table that a study computes for each model, and the names of tables and files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from fem.model import Model
from fem.runner import verdict_of
from fem.runs.history import History
from fem.runs.run_record import COMPLETED

Row = tuple[int | float, ...]


class Study:
    """A study with its settings as fields. ``kind``: its name; its folder is ``results/<deck>_<kind>``."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings that identify a study of a deck, as JSON."""
        return {f"{self.kind} {each.name}": getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


class Question(Study):
    """A study with a row of numbers for each of its models, NaN where there is none.

    counts   names of the columns that are whole numbers
    figures  files that are made from the complete table
    """

    __slots__ = ()
    counts: ClassVar[tuple[str, ...]] = ()
    figures: ClassVar[tuple[str, ...]] = ()

    def columns(self) -> list[str]:
        """Names of the numbers of a row."""
        raise NotImplementedError

    def row(self, model: Model, point: int) -> Row:
        """The numbers of one model, at index ``point`` of the grid."""
        raise NotImplementedError

    def empty_row(self) -> Row:
        """The row of a point without results."""
        return tuple(0 if name in self.counts else math.nan for name in self.columns())

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        """Verdict, row and (if wanted) the motion of a point; any failure becomes its verdict."""
        try:
            return COMPLETED, self.row(model, point), None
        except Exception as error:
            return verdict_of(error), self.empty_row(), None

    def together(self, models: Sequence[Model], points: Sequence[int], may_compile: bool) -> dict[int, Row]:
        """Rows, by index, of those models that can be computed in lanes; ``points``: their indices in the grid.
        may_compile  compilation for a new shape of lanes is worth its time"""
        return {}


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep. ``point``: its place in the grid; ``history``: keep the whole motion too."""

    point: int
    model: Model
    question: Question
    history: bool = False

    def solve(self) -> Answer:
        """The answer of a run of its own."""
        return Answer(self.point, *self.question.solve(self.model, self.point, self.history))


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a job: verdict, row (``Question.columns``), and the motion if wanted."""

    point: int
    verdict: str
    row: Row
    history: Any = None
