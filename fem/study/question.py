"""What a study computes for each of its models: the rows of one table; names of the table, of its folder and files."""

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
        """What makes two studies of one deck the same, as JSON."""
        return {f"{self.kind} {each.name}": getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


class Question(Study):
    """A study with a row of numbers for each of its models, NaN where there is none.

    counts   names of the columns that are whole numbers
    figures  files that are made of the table when it is complete
    """

    __slots__ = ()
    counts: ClassVar[tuple[str, ...]] = ()
    figures: ClassVar[tuple[str, ...]] = ()

    def columns(self) -> list[str]:
        """Names of the numbers of a row."""
        raise NotImplementedError

    def row(self, model: Model, point: int) -> Row:
        """The numbers of one model, whose place in the grid is ``point``."""
        raise NotImplementedError

    def empty_row(self) -> Row:
        """The row of a point of which nothing is known."""
        return tuple(0 if name in self.counts else math.nan for name in self.columns())

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        """Verdict, row and (where it is wanted) the motion of a point; any failure is its verdict."""
        try:
            return COMPLETED, self.row(model, point), None
        except Exception as error:
            return verdict_of(error), self.empty_row(), None

    def together(self, models: Sequence[Model], points: Sequence[int], may_compile: bool) -> dict[int, Row]:
        """Rows, by number, of those models that march well as lanes; ``points``: their places in the grid.
        may_compile  lanes of a shape that is not compiled yet are worth it"""
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
    """What came of a job: how it ended, the row (``Question.columns``), the motion where it was wanted, as the question
    has it."""

    point: int
    verdict: str
    row: Row
    history: Any = None
