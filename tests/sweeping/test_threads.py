"""Lanes in threads: the table of one worker; what Ctrl-C finds; blocks that fit into memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import fem
from fem.deck import parse_deck
from fem.study import workers
from fem.study.points import make_grid
from fem.study.question import Answer, Job, Jobs, columns_of
from fem.study.row import layout_of
from fem.study.sweep import jobs_of, make_plan
from tests.sweeping.swings import SWING, write_swing

GRID = {"gravity": [1.0, 9.81], "length": np.linspace(-0.2, 2.0, 100)}
"""Some have a negative length, and fail."""


@pytest.fixture
def marched(monkeypatch) -> list[tuple[str, int]]:
    """Threads that marched, with how many jobs; threads are taken for anything that marches together."""
    found, march = list[tuple[str, int]](), workers.march_block

    def march_block(jobs: Any, may_compile: bool) -> Any:
        found.append((threading.current_thread().name, len(jobs)))
        return march(jobs, may_compile)

    monkeypatch.setattr(workers, "march_block", march_block)
    monkeypatch.setattr(workers, "is_worth_compiling", lambda *_: False)
    monkeypatch.setattr(workers, "THREADS_START_UP", 0.0)
    monkeypatch.setattr(workers, "LANES_SPARE", 0.0)
    monkeypatch.setattr(workers, "LARGEST_BLOCK", 40)
    return found


@pytest.mark.long
def test_threads_give_the_bytes_of_one_worker(tmp_path, marched, monkeypatch):
    deck = write_swing(tmp_path)
    found = [fem.sweep(deck, GRID, output=tmp_path / f"{count}", workers=count) for count in (1, 3)]
    assert (tmp_path / "1/sweep.csv").read_bytes() == (tmp_path / "3/sweep.csv").read_bytes()
    assert found[1].failed.any() and not found[1].failed.all()
    names = {name for name, _ in marched}
    assert threading.current_thread().name in names and 2 <= len(names) <= 4
    assert not any("ThreadPool" in thread.name for thread in threading.enumerate())


@pytest.mark.long
def test_threads_end_with_ctrl_c_and_keep_what_they_computed(tmp_path, marched, monkeypatch):
    deck, collect = write_swing(tmp_path), workers.ThreadTeam.collect

    def stops(team: workers.ThreadTeam) -> Any:
        if len(marched) > 4:
            raise KeyboardInterrupt
        return collect(team)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(workers.ThreadTeam, "collect", stops)
        fem.sweep(deck, GRID, output=tmp_path / "out", workers=2)
    assert not any("ThreadPool" in thread.name for thread in threading.enumerate())
    rows = (tmp_path / "out/sweep.csv").read_bytes().count(b"\n") - 1
    assert 34 < rows < 200
    seen = len(marched)
    fem.sweep(deck, GRID, output=tmp_path / "out", workers=2)
    assert sum(count for _, count in marched[seen:]) <= 200 - rows
    fem.sweep(deck, GRID, output=tmp_path / "whole", workers=1)
    assert (tmp_path / "out/sweep.csv").read_bytes() == (tmp_path / "whole/sweep.csv").read_bytes()


def test_an_error_of_a_thread_ends_the_sweep(tmp_path, marched, monkeypatch):
    march = workers.march_block

    def fails(jobs: Any, may_compile: bool) -> Any:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("no room")
        return march(jobs, may_compile)

    monkeypatch.setattr(workers, "march_block", fails)
    with pytest.raises(MemoryError, match="no room"):
        fem.sweep(write_swing(tmp_path), GRID, workers=2)


def test_answers_of_lanes_pass_a_pipe_as_they_are():
    answers = [Answer(point, "completed", np.array([point, 0.1, np.nan]), None, point == 2) for point in (2, 5)]
    content = workers.sent(answers)
    assert isinstance(content, tuple) and len(workers.received(content)) == 2
    for one, other in zip(answers, workers.received(content), strict=True):
        assert one[:2] + one[3:] == other[:2] + other[3:] and np.array_equal(one.row, other.row, equal_nan=True)
    mixed = [*answers, Answer(7, "error: none", (0, np.nan), None, True)]
    assert workers.received(workers.sent(mixed)) is mixed and workers.received("lost") == "lost"


@pytest.mark.parametrize(("seconds", "teams"), [(1e-4, []), (1e-2, ["threads"]), (1.0, ["processes"])])
def test_threads_are_for_short_work_and_processes_for_long(monkeypatch, seconds, teams):
    model, found = parse_deck(SWING), []

    @contextmanager
    def team_of(name: str, count: int, works: bool = False) -> Iterator[None]:
        found.append(name)
        yield None

    def begin_together(line: workers.JobQueue, count: int) -> Any:
        yield from ()
        return seconds, 512, True

    monkeypatch.setattr(workers, "begin_together", begin_together)
    monkeypatch.setattr(workers, "thread_team", partial(team_of, "threads"))
    monkeypatch.setattr(workers, "process_team", partial(team_of, "processes"))
    monkeypatch.setattr(workers, "spread", lambda team, work: ([] for _ in work))
    monkeypatch.setattr(workers, "solve_block", lambda *_: [])
    list(workers.on_this_machine(iter([Job(point, model, layout_of(model)) for point in range(100)]), 100, 2))
    assert found == teams


@pytest.mark.parametrize(("end", "rows"), [(0.2, 2048), (1e3, 83), (1e5, 1)])
def test_a_block_has_room_for_all_increments_of_its_rows(end, rows):
    """16 bytes for each of them: 1e5 increments of 2048 rows would take 3 GB."""
    assert workers.largest_block(parse_deck(SWING, {"end": end})) == rows


def test_jobs_of_a_sweep_are_the_points_of_its_grid(tmp_path):
    plan = make_plan(
        write_swing(tmp_path), make_grid({"gravity": [1.0, 2.0], "length": [1.0, 2.0, 3.0]}), {"dt": 0.02}, False
    )
    jobs = jobs_of(plan, [1, 4, 5])
    assert [job.point for job in jobs] == [1, 4, 5] and isinstance(jobs[1:], Jobs)
    assert [job.source.values for job in jobs] == [{"dt": 0.02, **plan.grid.point(point)} for point in (1, 4, 5)]
    (model, columns), (its, others) = columns_of(jobs[1:]), columns_of(list(jobs)[1:])
    assert columns.keys() == others.keys() and model.parameters == its.parameters
    assert all(np.array_equal(columns[name], others[name]) for name in columns)
