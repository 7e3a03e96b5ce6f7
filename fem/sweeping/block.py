"""Blocks of parameter sets: the piece of a sweep that one worker computes, on this machine or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fem.model import Model
from fem.results.history import History, HistorySink
from fem.results.run_record import COMPLETED, Timing
from fem.runner import drive, verdict_of
from fem.sweeping.row import Layout, RowSink


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep. ``point``: its place in the grid; ``history``: keep the whole motion too."""

    point: int
    model: Model
    layout: Layout
    history: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a job: how it ended, the row (``Layout.columns``), the motion where it was asked for."""

    point: int
    verdict: str
    row: tuple[int | float, ...]
    history: History | None = None


def solve_block(jobs: Sequence[Job]) -> list[Answer]:
    """Solve some parameter sets of a deck, in order.

    Every worker calls this and nothing else: models that differ in numbers only may march together in here.
    """
    return [solve_job(job) for job in jobs]


def solve_job(job: Job) -> Answer:
    """One run; whatever goes wrong in it is its verdict."""
    sink = RowSink(job.model, job.layout)
    collected = HistorySink(job.model.mesh, notices=job.model.notices) if job.history else None
    verdict = COMPLETED
    try:
        drive(job.model, "AUTO", [sink, collected] if collected else [sink], None, Timing(), record_all=job.history)
    except Exception as error:
        verdict = verdict_of(error)
    return Answer(job.point, verdict, sink.row(), collected.history() if collected else None)
