"""Blocks of parameter sets, and who computes them: this process, threads of it, or other processes on this machine
(``cluster``: Dask).

Lanes spend some of their time in kernels, which hold no lock of Python: threads, which need no start, compute them side
by side where little is left to do. Processes take a second or two to start, and then all of their time counts.

Answers come in any order. The bytes of the table do not depend on their process, except that lanes of one march
differ from runs of their own by round-off.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_one
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np

from fem.compiled.interpreted import work
from fem.errors import FemError
from fem.model import Model
from fem.runs.run_record import COMPLETED
from fem.study.lanes.run import can_run_in_lanes, goes_on
from fem.study.question import Answer, Job, Jobs, models_of, points_in
from fem.study.table import CONTINUES, LOST


def solve_block(jobs: Sequence[Job], in_lanes: bool = False, may_compile: bool = False) -> list[Answer]:
    """Solve some parameter sets of a deck, in order. Every worker calls this and nothing else.

    in_lanes     models that differ in numbers only march together, all others alone
    may_compile  lanes of a shape that is not compiled yet are worth it; else it marches model by model
    """
    return alone(jobs, march_block(jobs, may_compile) if in_lanes else {})


def alone(jobs: Sequence[Job], together: Mapping[int, Answer]) -> list[Answer]:
    """Answers of all jobs, of which those that did not march together run now."""
    return [together.get(point) or jobs[place].solve() for place, point in enumerate(points_in(jobs))]


def march_block(jobs: Sequence[Job], may_compile: bool) -> dict[int, Answer]:
    """Answers by point, of those jobs that march well as lanes and whose motion is not wanted."""
    wanted = jobs if isinstance(jobs, Jobs) and not jobs.history else [job for job in jobs if not job.history]
    if not wanted:
        return {}
    rows = wanted[0].question.together(wanted, may_compile)
    fits = next((job.question.fits(job.model) for job in wanted if job.point in rows), True)
    return {point: Answer(point, COMPLETED, row, fits=fits) for point, row in rows.items()}


class JobQueue(Iterator[Job]):
    """Jobs that are still to be done: one by one, or in blocks."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs, self._next = jobs, 0

    def __len__(self) -> int:
        return len(self._jobs) - self._next

    def __next__(self) -> Job:
        if not len(self):
            raise StopIteration
        self._next += 1
        return self._jobs[self._next - 1]

    def block(self, size: int) -> Sequence[Job]:
        """The next ones, as many as there are."""
        part = self._jobs[self._next : self._next + size]
        self._next += len(part)
        return part

    def put_back(self, count: int) -> None:
        """The last ones are still to be done."""
        self._next -= count


END_SECONDS = 5.0
"""For a process to end when it is asked to; then it is killed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Jobs for one worker; ``in_lanes``, ``may_compile`` as ``solve_block`` has them; ``losses`` of workers so far."""

    jobs: Sequence[Job]
    in_lanes: bool = False
    may_compile: bool = False
    losses: int = 0

    def solve(self) -> list[Answer]:
        return solve_block(self.jobs, self.in_lanes, self.may_compile)


Outcome: TypeAlias = list[Answer] | str
"""Of a block; of one whose worker gave no answer, why."""


class Team(Protocol):
    """Workers. ``capacity``: blocks that they take at once."""

    capacity: int

    def submit(self, block: Block) -> None:
        """Give a block to a worker; at most ``capacity`` are under way."""

    def collect(self) -> list[tuple[Block, Outcome]]:
        """Outcomes of some blocks; waits for one. FemError: there are no workers left."""


class Worker:
    """A process, this end of its pipe, and its blocks: the first is computed, others wait in the process."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,))
        with without_main(), without_interrupts():
            self.process.start()
        there.close()
        self.blocks: deque[Block] = deque()

    def give(self, block: Block) -> None:
        """One more block; if the process is dead, that shows when it is waited for."""
        self.blocks.append(block)
        with suppress(OSError):
            self.pipe.send(block)

    def take(self) -> Outcome:
        """Of its first block."""
        self.blocks.popleft()
        try:
            return received(self.pipe.recv())
        except (OSError, EOFError):
            self.end()
            return ending(self.process.exitcode)

    def end(self) -> None:
        """Ask the process to end, and see to it."""
        self.pipe.close()
        self.process.join(END_SECONDS)
        self.process.kill()
        self.process.join()


class ProcessTeam:
    """A team of processes, started together; one that died is replaced when it is needed."""

    def __init__(self, count: int) -> None:
        self.capacity = count
        self.workers: list[Worker] = []

    def submit(self, block: Block) -> None:
        free = min(self.workers, key=lambda worker: len(worker.blocks))
        if not (free.blocks or free.process.is_alive()):
            self.workers.remove(free)
            free = Worker()
            self.workers.append(free)
        free.give(block)

    def collect(self) -> list[tuple[Block, Outcome]]:
        """Answers of those that have ended."""
        return self._ended(None)

    def _ended(self, timeout: float | None) -> list[tuple[Block, Outcome]]:
        """Of the first block of each worker that has an answer; what else a dead one had is given to others."""
        busy: dict[Any, Worker] = {worker.pipe: worker for worker in self.workers if worker.blocks}
        ready = [busy[pipe] for pipe in wait(list(busy), timeout)]
        ended = [(worker.blocks[0], worker.take()) for worker in ready]
        waiting = [worker.blocks.popleft() for worker in ready if worker.pipe.closed for _ in range(len(worker.blocks))]
        for block in waiting:
            self.submit(block)
        return ended


class WorkingTeam(ProcessTeam):
    """Processes, each with one block ahead, and this process: it computes a block whenever no other has an answer."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.capacity = AHEAD * count + 1
        self.own: Block | None = None

    def submit(self, block: Block) -> None:
        if self.own is None and block.losses == 0 and all(worker.blocks for worker in self.workers):
            self.own = block
        else:
            super().submit(block)

    def collect(self) -> list[tuple[Block, Outcome]]:
        if self.own is None:
            return super().collect()
        if not (ended := self._ended(0.0)):
            block, self.own = self.own, None
            ended = [(block, outcome_of(block))]
        return ended


@contextmanager
def process_team(count: int, works: bool = False) -> Iterator[ProcessTeam]:
    """``count`` processes that end with this one, whichever way it ends. works: this one is one of them, and works."""
    team = WorkingTeam(count - 1) if works else ProcessTeam(count)
    try:
        for _ in range(count - works):
            team.workers.append(Worker())
        yield team
    except BaseException:
        for worker in team.workers:
            worker.process.terminate()
        raise
    finally:
        for worker in team.workers:
            worker.pipe.close()
        for worker in team.workers:
            worker.end()


class ThreadTeam:
    """Threads of this process, for lanes; what does not march well runs alone, in the thread that collects."""

    def __init__(self, pool: ThreadPoolExecutor, count: int) -> None:
        self.capacity, self._pool = count, pool
        self._pending: dict[Future[dict[int, Answer]], Block] = {}

    def submit(self, block: Block) -> None:
        self._pending[self._pool.submit(march_block, block.jobs, block.may_compile)] = block

    def collect(self) -> list[tuple[Block, Outcome]]:
        ended = wait_for_one(self._pending, return_when=FIRST_COMPLETED).done
        return [(block, alone(block.jobs, future.result())) for future in ended if (block := self._pending.pop(future))]


@contextmanager
def thread_team(count: int) -> Iterator[ThreadTeam]:
    """``count`` threads, which end with the blocks that they have begun."""
    with ThreadPoolExecutor(count) as pool:
        try:
            yield ThreadTeam(pool, count)
        finally:
            pool.shutdown(cancel_futures=True)


def lost_by(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None or code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"{name}, out of memory?" if name == "SIGKILL" else name


def serve(pipe: Connection) -> None:
    """A process of the team: blocks come in, answers go out, until the other end is closed."""
    for name in ("SIGINT", "SIGHUP"):  # the parent answers those
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    blocks: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=receive, args=(pipe, blocks), daemon=True).start()
    with suppress(OSError):
        while (content := blocks.get()) is not None:
            found = outcome_of(content)
            pipe.send(found if isinstance(found, str) else sent(found))


def receive(pipe: Connection, blocks: SimpleQueue[bytes | None]) -> None:
    """Take blocks as they come, so that whoever sends them never waits; None: there are no more."""
    with suppress(EOFError, OSError):
        while True:
            blocks.put(pipe.recv_bytes())
    blocks.put(None)


def outcome_of(block: Block | bytes) -> Outcome:
    """Answers of a block, which may be pickled. Runs report their failures as answers: an error is one of the
    machine."""
    try:
        its: Block = pickle.loads(block) if isinstance(block, bytes) else block
        return its.solve()
    except Exception as error:
        return lost_by(error)


def sent(answers: list[Answer]) -> Any:
    """Answers as a few objects, where their rows are arrays: those of lanes."""
    if not answers or not all(isinstance(answer.row, np.ndarray) for answer in answers):
        return answers
    points, verdicts, rows, histories, fit = zip(*answers, strict=True)
    return points, verdicts, np.array(rows), histories, fit


def received(content: Any) -> Outcome:
    """What ``sent`` was given."""
    return [Answer(*answer) for answer in zip(*content, strict=True)] if isinstance(content, tuple) else content


@contextmanager
def without_main() -> Iterator[None]:
    """Started processes import the main script of their parent, which would start the sweep anew: hide it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Processes started inside never see Ctrl-C, not even while they start; for this one it waits until after."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """End this process when its parent has been killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


START_UP, AHEAD = 3.0, 2
"""Seconds of work left that are worth starting processes for (a start takes one or two); blocks that each may have:
the second one waits for it, while this process computes one of its own."""
THREADS_START_UP, LANES_SPARE = 0.1, 3.0
"""The same of threads; how many times as fast as alone runs are together, if they are lanes."""
BLOCK_SECONDS, LAST_SECONDS = 0.5, 0.05
LARGEST_BLOCK = 2048
BLOCK_NUMBERS = 2**24
"""Numbers of all increments of a block, 128 MB."""
BLOCKS_PER_WORKER = 4
"""No block is more than this part of what is left for each worker: all end at about the same time."""
RUN_SECONDS, BAR_SECONDS = 1e-3, 2e-7
"""Guessed cost of a run, and of a bar in an increment: these decide where things run, never what comes out."""
FEWEST, TRIAL, SHORTEST = 64, 32, 1e-9
"""Runs that are worth marching together; those that show how long that takes; seconds of a run that count as none."""
COMPILE_SECONDS, ELEMENT_COMPILE_SECONDS = 16.0, 0.4
"""Processor seconds that the march of lanes takes to compile, for every shape of model, and for each element in it."""
BEGUN_COMPILE_SECONDS = 60.0
"""The same of lanes that go on from states, once for all shapes."""
SAVED, BEGUN_SAVED = 0.8, 0.3
"""Parts of the time of runs that lanes spare at least: of those that begin as lanes, and of those that go on."""
DIED = LOST + ": its process died twice ({why})"
MOST_LOSSES = 20
"""Workers lost in a row, no answer between them: the machine is at fault, no parameter set."""
GONE = (
    "{count} workers were lost in a row ({why}); finished parameter sets are kept; "
    f"{CONTINUES}, with fewer --workers if memory is short"
)


def on_this_machine(jobs: Iterator[Job], left: int, workers: int | None) -> Iterator[list[Answer]]:
    """Point after point in this process, as long as that ends sooner than starting others.

    left     how many jobs there are
    workers  at most so many processes; None: one per processor

    The first point loads the kernels, or compiles them for all that come later; its own time is no measure. Nor is time
    in kernels as Python functions: they soon are machine code.
    """
    count = workers or os.cpu_count() or 1
    line = jobs if isinstance(jobs, JobQueue) else JobQueue(tuple(jobs))
    measured = 0.0
    if left >= FEWEST:
        measured, most, are_lanes = yield from begin_together(line, count)
        if measured:
            parts, count = blocks(line, len(line), count, measured, most), min(count, len(line))
            of_processes = partial(process_team, works=measured < BLOCK_SECONDS)
            team_of = of_processes if measured * len(line) > START_UP else thread_team
            if count > 1 and measured * len(line) > (THREADS_START_UP if are_lanes else START_UP):
                with team_of(count) as team:
                    yield from spread(team, (Block(part, in_lanes=True) for part in parts))
            else:
                yield from (solve_block(part, True) for part in parts)
            return
    for number, job in enumerate(line):
        left = 1 + len(line)
        seconds = measured or sum(map(likely_seconds, models_of([job]).values()))
        if min(count, left) > 1 and seconds * left > START_UP:
            line.put_back(1)
            with process_team(min(count, left), works=seconds < BLOCK_SECONDS) as team:
                yield from spread(team, map(Block, blocks(line, left, count, seconds)))
            return
        began = time.perf_counter() - work.spent
        answers = solve_block([job])
        measured = time.perf_counter() - work.spent - began if number else 0.0
        yield answers


def begin_together(line: JobQueue, workers: int) -> Generator[list[Answer], None, tuple[float, int, bool]]:
    """Two points alone, then some together; processor seconds of one together (0: all run alone), how many fit into a
    block, and whether their lanes are for threads. Lanes that are not compiled are compiled where what they save is
    more than that takes."""
    first, model = yield from first_readable(line)
    if first is not None:
        line.put_back(1)
    if first is None or model is None or first.history or can_run_in_lanes(model):
        return 0.0, 0, False
    seconds, is_together, most = 0.0, False, largest_block(model)
    for job in line.block(2):
        began = time.process_time() - work.spent
        answers = solve_block([job])
        seconds = max(0.0, time.process_time() - work.spent - began)
        yield answers
    single = seconds
    for size, may_compile in ((TRIAL, False), (TRIAL, True), (LARGEST_BLOCK, False)):
        if may_compile and not is_worth_compiling(model, seconds * len(line), min(workers, len(line))):
            break
        block = line.block(min(size, most, max(TRIAL, int(BLOCK_SECONDS / max(seconds, SHORTEST)))))
        began = time.process_time()
        found = march_block(block, may_compile)
        if not found:
            line.put_back(len(block))
            continue
        places = [place for place, point in enumerate(points_in(block)) if point not in found]
        answers = [*found.values(), *solve_block([block[place] for place in places])]
        seconds, is_together = (time.process_time() - began) / len(block), True
        yield answers
    are_lanes = LANES_SPARE * seconds < single and not goes_on(model) and first.question.threads
    return seconds if is_together else 0.0, most, are_lanes


def first_readable(jobs: Iterator[Job]) -> Generator[list[Answer], None, tuple[Job | None, Model | None]]:
    """The first job whose deck can be read, and its model; the answers of those before."""
    for job in jobs:
        if model := models_of([job]).get(job.point):
            return job, model
        yield [job.solve()]
    return None, None


def largest_block(model: Model) -> int:
    """Rows of which so many have room: each has the times of all its increments, and their lengths."""
    return int(min(LARGEST_BLOCK, max(1.0, BLOCK_NUMBERS / max(1.0, 2.0 * likely_increments(model)))))


def is_worth_compiling(model: Model, work: float, workers: int) -> bool:
    """The march of lanes for the shape of a model saves more of some processor seconds of work than it takes.
    One process compiles, while ``workers`` of them could work: so it ends sooner, too."""
    takes, saved = COMPILE_SECONDS + ELEMENT_COMPILE_SECONDS * len(model.mesh.element_labels), SAVED
    if goes_on(model):
        takes, saved = BEGUN_COMPILE_SECONDS, BEGUN_SAVED
    return saved * work > takes * workers


def likely_seconds(model: Model) -> float:
    """A guess at the time a run takes, from its increments and elements."""
    return RUN_SECONDS + likely_increments(model) * (10 + len(model.mesh.element_labels)) * BAR_SECONDS


def likely_increments(model: Model) -> float:
    """As many as there are if all are as long as the first one; none of a step whose length the solver chooses."""
    procedures = [step.timed for step in model.steps if not step.small_motion]
    return sum(procedure.period / procedure.dt for procedure in procedures if procedure.dt)


def blocks(
    jobs: Iterator[Job], left: int, workers: int, seconds: float, most: int = LARGEST_BLOCK
) -> Iterator[Sequence[Job]]:
    """Jobs in blocks of ``LAST_SECONDS`` to ``BLOCK_SECONDS``, at ``seconds`` a job, the last ones the shortest; at
    most ``most``."""
    parts = BLOCKS_PER_WORKER * workers
    least, most = min(-(-left // parts), int(LAST_SECONDS / seconds)), min(most, int(BLOCK_SECONDS / seconds))
    while True:
        size = max(1, min(most, max(least, -(-left // parts))))
        block = jobs.block(size) if isinstance(jobs, JobQueue) else tuple(islice(jobs, size))
        if not block:
            return
        left -= len(block)
        yield block


def spread(team: Team, work: Iterator[Block]) -> Iterator[list[Answer]]:
    """Keep a team busy and give answers as they come, none as soon as all workers are busy; what was lost with a worker
    is tried again, point by point.

    A point whose worker died twice, with nothing else to do, has that as its verdict. FemError: workers are lost one
    after the other.
    """
    ready = deque(islice(work, team.capacity))
    under_way = losses = 0
    has_begun = False
    while ready or under_way:
        while ready and under_way < team.capacity:
            team.submit(ready.popleft())
            under_way += 1
        if not has_begun:
            has_begun = True
            yield []
        ready.extend(islice(work, max(0, team.capacity - len(ready))))  # read while workers are busy
        for block, outcome in team.collect():
            under_way -= 1
            if not isinstance(outcome, str):
                losses = 0
                yield outcome
                continue
            losses += 1
            if block.losses == 0:
                alone = int(len(block.jobs) == 1)  # else it is unknown which job it was
                ready.extendleft(Block((job,), losses=alone) for job in reversed(block.jobs))
            else:
                verdict = DIED.format(why=outcome)
                yield [Answer(job.point, verdict, job.question.empty_row()) for job in block.jobs]
            if losses >= MOST_LOSSES:
                raise FemError(GONE.format(count=losses, why=outcome))
