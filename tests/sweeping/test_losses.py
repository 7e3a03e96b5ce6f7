"""Processes that die under a sweep: their points get a second try, the sweep goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import fem
from fem.deck import parse_deck
from fem.runs.own import Names, Origin, OwnFolder
from fem.runs.run_record import COMPLETED
from fem.study import workers
from fem.study.question import Job, Question
from fem.study.table import LOST, RECORD, SUMS, TABLE, SweepTable
from fem.study.workers import Block, Outcome, ProcessTeam, process_team, spread
from tests.sweeping.swings import SWING, write_swing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
MODEL = parse_deck(SWING)
IDENTITY = {"deck": {}, "grid": {}, "columns": ["point", "A", "verdict", "u"], "versions": {}}
NAMES = Names(frozenset((RECORD, SUMS, TABLE)))


@dataclass(frozen=True)
class Deadly(Question):
    """A question that kills its process so many times, counted by files; then it is answered. spared: a process that
    it does not kill"""

    folder: Path
    deaths: Mapping[int, int]
    point: int
    spared: int = 0
    kind: ClassVar[str] = "deadly"
    counts: ClassVar[tuple[str, ...]] = ("tries",)

    def columns(self) -> list[str]:
        return ["tries", "value"]

    def solve(self, model: Any, point: int, history: bool) -> tuple[str, tuple[int | float, ...], None]:
        tries = len(list(self.folder.glob(f"{self.point}_*")))
        (self.folder / f"{self.point}_{tries}").touch()
        if tries < self.deaths.get(self.point, 0) and os.getpid() != self.spared:
            os.kill(os.getpid(), signal.SIGKILL)
        return COMPLETED, (tries, 2.0 * self.point), None


def work(folder: Path, deaths: Mapping[int, int], count: int, size: int, spared: int = 0) -> Iterator[Block]:
    jobs = [Job(point, MODEL, Deadly(folder, deaths, point, spared)) for point in range(count)]
    return (Block(tuple(jobs[start : start + size])) for start in range(0, count, size))


@pytest.mark.parametrize(("processes", "size"), [(1, 1), (2, 3)])
@pytest.mark.sampled(1)
@pytest.mark.long
def test_a_point_whose_process_dies_is_tried_again_alone(tmp_path, processes, size):
    deaths = {0: 1, 4: 99, 5: 1}
    with process_team(processes) as team:
        answers = {answer.point: answer for part in spread(team, work(tmp_path, deaths, 9, size)) for answer in part}
        pids = [worker.process.pid for worker in team.workers]
    assert sorted(answers) == list(range(9))
    for point, answer in answers.items():
        if point != 4:
            assert (answer.verdict, answer.row[1]) == (COMPLETED, 2.0 * point)
    assert answers[4].verdict == "lost: its process died twice (SIGKILL, out of memory?)"
    assert answers[4].row[0] == 0 and answers[4].row[1] != answers[4].row[1]
    tries = [len(list(tmp_path.glob(f"{point}_*"))) for point in range(9)]
    assert tries[4] == 2 + (size > 1) and max(tries) <= 2 + (size > 1)  # two of its own, one in its block
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids if pid)


def test_a_block_that_waits_in_a_process_that_dies_is_given_to_another(tmp_path):
    """Beside the process that asks, which computes blocks of its own."""
    with process_team(2, works=True) as team:
        assert len(team.workers) == 1 and team.capacity == 3
        parts = spread(team, work(tmp_path, {0: 1, 1: 1}, 12, 2, os.getpid()))
        answers = [answer for part in parts for answer in part]
    assert sorted(answer.point for answer in answers) == list(range(12))
    assert all((answer.verdict, answer.row[1]) == (COMPLETED, 2.0 * answer.point) for answer in answers)
    assert len(list(tmp_path.glob("0_*"))) == 2


def test_processes_that_die_one_after_the_other_end_the_sweep(tmp_path):
    class Doomed:
        """A team that loses every block."""

        capacity = 3

        def __init__(self) -> None:
            self.blocks: list[Block] = []
            self.lost = 0

        def submit(self, block: Block) -> None:
            assert len(self.blocks) < self.capacity
            self.blocks.append(block)

        def collect(self) -> list[tuple[Block, Outcome]]:
            self.lost += 1
            return [(self.blocks.pop(0), "SIGBUS")]

    team, answers = Doomed(), []
    with pytest.raises(fem.FemError, match=r"20 workers were lost in a row \(SIGBUS\)"):
        for part in spread(team, work(tmp_path, {}, 1000, 1)):
            answers += part
    assert team.lost == 20
    assert all(answer.verdict.startswith(LOST) for answer in answers) and len(answers) >= 7


def test_answers_between_losses_let_a_sweep_go_on(tmp_path):
    class Unsteady(ProcessTeam):
        """A team that loses every second block, without processes."""

        def __init__(self) -> None:
            self.capacity, self.turn, self.blocks = 2, 0, []

        def submit(self, block: Block) -> None:
            self.blocks.append(block)

        def collect(self) -> list[tuple[Block, Outcome]]:
            self.turn += 1
            block = self.blocks.pop(0)
            return [(block, "x" if self.turn % 2 else block.solve())]

    answers = [answer for part in spread(Unsteady(), work(tmp_path, {}, 100, 1)) for answer in part]
    assert sorted(answer.point for answer in answers) == list(range(100))


def test_a_lost_point_is_tried_again_by_the_next_start(tmp_path):
    given = np.full((3, 1), 0.5)
    with OwnFolder(tmp_path, RECORD, Origin(tmp_path / "a.inp", ""), NAMES) as own:
        table = SweepTable(own, IDENTITY, given, (), (), resume=True)
        table.add([(0, COMPLETED, [1.0]), (1, f"{LOST}: its process died", [1.0]), (2, "no convergence", [1.0])])
        table.close("1 failed")
        again = SweepTable(own, IDENTITY, given, (), (), resume=True)
        assert np.flatnonzero(again.is_done).tolist() == [0, 2]


BLOCKS = [[0, 1, 2], [3, 4], [5], [6, 7, 8, 9], [10, 11]]
MIXED = [[2, 5, 11], [10, 4, 0], [1, 3, 6, 7], [9, 8]]


@pytest.mark.parametrize("stops", [(), (2,), (1, 3)], ids=["at once", "continued", "continued twice"])
@pytest.mark.parametrize("blocks", [BLOCKS[::-1], [BLOCKS[n] for n in (2, 0, 4, 1, 3)], MIXED])
def test_blocks_come_in_any_order_and_the_table_is_in_grid_order(tmp_path, blocks, stops):
    def files_of(folder: Path, blocks: list[list[int]], stops: tuple[int, ...]) -> tuple[bytes, bytes]:
        folder.mkdir()
        with OwnFolder(folder, RECORD, Origin(folder / "a.inp", ""), NAMES) as own:
            for first, last in pairwise([0, *stops, len(blocks)]):
                table = SweepTable(own, IDENTITY, np.arange(12.0)[:, None], (), (), resume=True)
                for block in blocks[first:last]:
                    table.add((n, COMPLETED if n % 5 else "no convergence", [10.0**-n]) for n in block)
                table.close(COMPLETED)
            again = SweepTable(own, IDENTITY, np.arange(12.0)[:, None], (), (), resume=True)
            assert again.is_done.all() and again.broken == 0
        return (folder / TABLE).read_bytes(), (folder / SUMS).read_bytes()

    assert files_of(tmp_path / "other", blocks, stops) == files_of(tmp_path / "one", BLOCKS, ())


@pytest.mark.long
def test_a_sweep_survives_a_killed_process_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deck, grid = write_swing(tmp_path), {"end": [50.0 + point for point in range(24)]}
    fem.sweep(deck, grid, output="alone", workers=1)
    monkeypatch.setattr(workers, "START_UP", 0.0)
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.005)
    add, killed = SweepTable.add, []

    def add_and_kill(table: SweepTable, answers: Any) -> None:
        add(table, answers)
        for process in [] if killed else multiprocessing.active_children():
            process.kill()
            killed.append(process.pid)

    monkeypatch.setattr(SweepTable, "add", add_and_kill)
    found = fem.sweep(deck, grid, output="many", workers=2)
    assert len(killed) == 2 and not found.failed.any()
    assert Path("many/sweep.csv").read_bytes() == Path("alone/sweep.csv").read_bytes()
