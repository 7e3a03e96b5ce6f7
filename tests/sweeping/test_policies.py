"""Where the points of a sweep are computed: what the numbers decide that weigh starts and compilations."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import fem
from fem.deck import parse_deck
from fem.study import workers
from fem.study.question import Answer, Job
from fem.study.row import layout_of
from tests.sweeping.swings import SWING, write_swing

MODEL = parse_deck(SWING)
LAYOUT = layout_of(MODEL)


def jobs(count: int) -> list[Job]:
    return [Job(point, MODEL, LAYOUT) for point in range(count)]


@pytest.fixture
def places(monkeypatch) -> dict[str, Any]:
    """Nothing is computed: where it would be, and the seconds that a run takes."""
    found: dict[str, Any] = {"teams": [], "lanes": [], "seconds": 0.0, "now": 0.0}

    @contextmanager
    def process_team(count: int, works: bool):
        found["teams"].append(count)
        yield None

    def solve_block(block: Any, *_: Any) -> list[Answer]:
        found["now"] += found["seconds"] * len(block)
        return [Answer(job.point, "", ()) for job in block]

    def march_block(block: Any, may_compile: bool) -> dict[int, Answer]:
        found["lanes"].append((len(block), may_compile))
        return {}

    def now() -> float:
        return float(found["now"])

    monkeypatch.setattr(workers, "process_team", process_team)
    monkeypatch.setattr(workers, "spread", lambda team, work: ([] for _ in work))
    monkeypatch.setattr(workers, "solve_block", solve_block)
    monkeypatch.setattr(workers, "march_block", march_block)
    monkeypatch.setattr(workers, "likely_seconds", lambda model: found["seconds"])
    monkeypatch.setattr(workers, "time", SimpleNamespace(perf_counter=now, process_time=now))
    return found


@pytest.mark.parametrize(("seconds", "is_spread"), [(0.29, False), (0.31, True)])
def test_processes_are_started_for_more_than_three_seconds_of_work(places, seconds, is_spread):
    places["seconds"] = seconds
    list(workers.on_this_machine(iter(jobs(10)), 10, 2))
    assert places["teams"] == ([2] if is_spread else [])


@pytest.mark.parametrize(("count", "tries_lanes"), [(63, False), (64, True)])
def test_lanes_are_tried_from_64_points_on(places, count, tries_lanes):
    places["seconds"] = 1e-6
    list(workers.on_this_machine(iter(jobs(count)), count, 1))
    assert bool(places["lanes"]) == tries_lanes


@pytest.mark.parametrize(("processes", "seconds", "pays"), [(1, 0.204, False), (1, 0.206, True), (2, 0.206, False)])
def test_lanes_are_compiled_where_they_spare_more_work_than_that_takes(places, processes, seconds, pays):
    """16.4 s of a processor for a model of one bar, while all could work; of the runs that are left lanes spare 0.8."""
    places["seconds"] = seconds
    list(workers.on_this_machine(iter(jobs(102)), 102, processes))
    assert places["lanes"][0] == (32, False)
    assert ((32, True) in places["lanes"]) == pays


def test_what_is_measured_of_points_that_march_together_decides(places, monkeypatch):
    """Points that are prepared once take a tenth of a run of their own: then 0.3 s need no compilation."""
    asked = []

    def march_block(block: Any, may_compile: bool) -> dict[int, Answer]:
        asked.append((len(block), may_compile))
        places["now"] += 0.1 * places["seconds"] * len(block)
        return {job.point: Answer(job.point, "", ()) for job in block}

    monkeypatch.setattr(workers, "march_block", march_block)
    for seconds, pays in ((0.3, False), (4.0, True)):
        asked.clear()
        places["seconds"] = seconds
        answers = [one for block in workers.on_this_machine(iter(jobs(102)), 102, 1) for one in block]
        assert sorted(one.point for one in answers) == list(range(102))
        assert ((32, True) in asked) == pays


def test_one_process_marches_few_long_runs_before_others_start(places, monkeypatch):
    """A first block to load kernels, one to compile them, one to measure: of half a second, or of 32 runs."""
    asked = []

    def march_block(block: Any, may_compile: bool) -> dict[int, Answer]:
        asked.append(len(block))
        places["now"] += 0.1 * places["seconds"] * len(block)
        return {job.point: Answer(job.point, "", ()) for job in block}

    monkeypatch.setattr(workers, "march_block", march_block)
    for seconds, size in ((0.5, 32), (0.08, 62)):
        asked.clear()
        places["seconds"] = seconds
        list(workers.on_this_machine(iter(jobs(10_000)), 10_000, 2))
        assert asked[:3] == [32, 32, size] and places["teams"].pop() == 2


def test_each_worker_gets_four_blocks_of_half_a_second_where_there_are_enough_points():
    """The last ones are the shortest, of a twentieth of a second."""
    cases = ((1e-9, 80, 10, 10), (1e-9, 100_000, 2048, 2048), (1e-3, 3000, 375, 50), (0.1, 1000, 5, 1), (9.0, 10, 1, 1))
    for seconds, count, size, least in cases:
        sizes = [len(block) for block in workers.blocks(iter(jobs(count)), count, 2, seconds)]
        assert sum(sizes) == count and max(sizes) == size and len(sizes) >= 4 * 2
        assert sizes == sorted(sizes, reverse=True) and min(sizes[:-1]) == least


def test_a_guess_at_the_seconds_of_a_run_follows_its_increments_and_bars():
    """A millisecond and 0.2 microseconds for each bar (and ten more) in each increment."""
    long = parse_deck(SWING, {"end": 1e4})
    assert workers.likely_seconds(MODEL) == pytest.approx(1e-3 + 20 * 11 * 2e-7)
    assert workers.likely_seconds(long) == pytest.approx(1e-3 + 1e6 * 11 * 2e-7)


def test_explicit_increments_that_the_solver_chooses_are_run_to_see_how_long_they_take(tmp_path):
    """Their number is not known."""
    deck = write_swing(tmp_path, "*DYNAMIC, DIRECT\n<dt>, <end>", "*DYNAMIC, EXPLICIT\n, <end>")
    assert workers.likely_seconds(parse_deck(deck.read_text())) == 1e-3
    found = fem.sweep(deck, {"gravity": [5.0, 9.81]})
    assert not found.failed.any() and (found["increments_total"] > 20).all()
