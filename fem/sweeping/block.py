"""Blocks of parameter sets: the piece of a sweep that one worker computes, on this machine or another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from fem.model import Model
from fem.runs.history import History
from fem.runs.run_record import COMPLETED


class Question(Protocol):
    """What a sweep asks of each of its models: a row of numbers, NaN where there is none.

    kind      what the sweep is called: its folder is ``results/<deck>_<kind>``
    settings  what else makes two sweeps the same, as JSON
    columns   names of the numbers; ``counts`` are those that are whole
    figures   files that are made of the table when it is complete
    """

    kind: ClassVar[str]
    counts: ClassVar[tuple[str, ...]]
    figures: ClassVar[tuple[str, ...]]

    @property
    def settings(self) -> Mapping[str, Any]: ...
    def columns(self) -> list[str]: ...
    def solve(self, model: Model, point: int, history: bool) -> tuple[str, tuple[int | float, ...], History | None]:
        """Verdict, row and (where asked for) the motion of a point; whatever goes wrong is the verdict."""


@runtime_checkable
class Shared(Protocol):
    """A question that lanes can answer."""

    def together(
        self, models: Sequence[Model], points: Sequence[int], may_compile: bool
    ) -> dict[int, tuple[int | float, ...]]:
        """Rows, by number, of those models that march well as lanes; ``points``: their places in the grid."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep. ``point``: its place in the grid; ``history``: keep the whole motion too."""

    point: int
    model: Model
    layout: Question
    history: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a job: how it ended, the row (``Layout.columns``), the motion where it was asked for."""

    point: int
    verdict: str
    row: tuple[int | float, ...]
    history: History | None = None


def solve_block(jobs: Sequence[Job], in_lanes: bool = False, may_compile: bool = False) -> list[Answer]:
    """Solve some parameter sets of a deck, in order. Every worker calls this and nothing else.

    in_lanes     models that differ in numbers only march together, all others alone
    may_compile  lanes of a shape that is not compiled yet are worth it
    """
    together = march_block(jobs, may_compile) if in_lanes else {}
    return [together[job.point] if job.point in together else solve_job(job) for job in jobs]


def march_block(jobs: Sequence[Job], may_compile: bool) -> dict[int, Answer]:
    """Answers by point, of those jobs that march well as lanes and whose motion is not asked for."""
    wanted = [job for job in jobs if not job.history]
    asked = wanted[0].layout if wanted else None
    rows: dict[int, tuple[int | float, ...]] = {}
    if isinstance(asked, Shared):
        rows = asked.together([job.model for job in wanted], [job.point for job in wanted], may_compile)
    return {wanted[n].point: Answer(wanted[n].point, COMPLETED, row) for n, row in rows.items()}


def no_answer(point: int, layout: Question, verdict: str) -> Answer:
    """The row of a point of which nothing is known."""
    return Answer(point, verdict, tuple(0 if name in layout.counts else math.nan for name in layout.columns()))


def solve_job(job: Job) -> Answer:
    """One run."""
    return Answer(job.point, *job.layout.solve(job.model, job.point, job.history))
