"""Interface of studies: the row of a table that a study computes for each model, and the names of tables and files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias, overload

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.parameters import Address
from fem.errors import DeckError
from fem.model import Model
from fem.runner import verdict_of
from fem.runs.history import History
from fem.runs.run_record import COMPLETED
from fem.study.points import PointReader

Row: TypeAlias = Sequence[int | float]


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

    counts   names of the columns that are whole numbers;  whole: of others that are, where there is a number
    figures  files that are made of the table when it is complete
    threads  lanes (``together``) may be computed in several threads
    """

    __slots__ = ()
    counts: ClassVar[tuple[str, ...]] = ()
    whole: ClassVar[tuple[str, ...]] = ()
    figures: ClassVar[tuple[str, ...]] = ()
    threads: ClassVar[bool] = False

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

    def fits(self, model: Model) -> bool:
        """All that is asked for is there."""
        return True

    def together(self, jobs: Sequence[Job], may_compile: bool) -> Mapping[int, Row]:
        """Rows, by point, of those runs that march well as lanes.
        may_compile  lanes of a shape that is not compiled yet are worth it"""
        return {}


class ParameterSet(NamedTuple):
    """A model that is read when it is asked for, wherever that is. DeckError"""

    read: PointReader
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep. ``point``: its place in the grid; ``history``: keep the whole motion too."""

    point: int
    source: Model | ParameterSet
    question: Question
    history: bool = False

    @property
    def model(self) -> Model:
        return self.source.read(self.source.values) if isinstance(self.source, ParameterSet) else self.source

    def solve(self) -> Answer:
        """The answer of a run of its own."""
        try:
            model = self.model
        except Exception as error:
            return Answer(self.point, verdict_in_line(error), self.question.empty_row())
        solved = self.question.solve(model, self.point, self.history)
        return Answer(self.point, *solved, isinstance(self.source, Model) or self.question.fits(model))


class Jobs(Sequence[Job]):
    """Runs of a sweep, each a ``Job`` when it is asked for.

    points (k,); given (k, p): values of ``names`` at each;  fixed: other values, of all
    """

    def __init__(
        self, read: PointReader, names: Sequence[str], points: Ints, given: Floats, fixed: Mapping[str, float],
        question: Question, history: bool = False,
    ) -> None:  # fmt: skip
        self.read, self.names, self.points, self.given, self.fixed = read, names, points, given, fixed
        self.question, self.history = question, history

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, place: int) -> Job: ...
    @overload
    def __getitem__(self, place: slice) -> Jobs: ...
    def __getitem__(self, place: int | slice) -> Job | Jobs:
        points, given = self.points[place], self.given[place]
        if isinstance(place, slice):
            return Jobs(self.read, self.names, points, given, self.fixed, self.question, self.history)
        values = {**self.fixed, **dict(zip(self.names, given.tolist(), strict=True))}
        return Job(int(points), ParameterSet(self.read, values), self.question, self.history)

    def columns(self) -> dict[str, Floats]:
        """name -> (k,) its values, fixed ones, too."""
        fixed = {name: np.full(len(self), value) for name, value in self.fixed.items()}
        return fixed | dict(zip(self.names, self.given.T, strict=True))


def points_in(jobs: Sequence[Job]) -> list[int]:
    return jobs.points.tolist() if isinstance(jobs, Jobs) else [job.point for job in jobs]


def models_of(jobs: Iterable[Job]) -> dict[int, Model]:
    """By point, of those that can be read."""
    found: dict[int, Model] = {}
    for job in jobs:
        with suppress(Exception):  # its own run will report it
            found[job.point] = job.model
    return found


def columns_of(jobs: Sequence[Job]) -> tuple[Model, dict[Address, Floats]] | None:
    """``PointReader.columns`` of jobs of one reader."""
    if isinstance(jobs, Jobs):
        with suppress(Exception):  # a run of its own will report it
            return jobs.read.columns(jobs.columns())
        return None
    readings = [job.source for job in jobs if isinstance(job.source, ParameterSet)]
    if len(readings) == len(jobs) > 0 and all(each.read is readings[0].read for each in readings):
        with suppress(Exception):  # a run of its own will report it
            names = readings[0].values
            return readings[0].read.columns(
                {name: np.array([each.values[name] for each in readings]) for name in names}
            )
    return None


def verdict_in_line(error: Exception) -> str:
    """Why a deck cannot be read."""
    if isinstance(error, DeckError):
        problem = error.problems[0]
        return f"error: {Path(problem.file).name}:{problem.line}: {problem.message}"
    return verdict_of(error)


class Answer(NamedTuple):
    """What came of a job: how it ended, the row (``Question.columns``), the motion where it was wanted, as the question
    has it; whether its model has all that is asked for."""

    point: int
    verdict: str
    row: Row
    history: Any = None
    fits: bool = True
