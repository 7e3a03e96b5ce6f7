"""Who computes the blocks of a sweep: this process, processes on this machine, or a Dask cluster.

Answers come in any order. The bytes of the table do not depend on who gave them, except that lanes of one march
differ from runs of their own by round-off.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Iterator
from itertools import chain, islice

from fem.compiled.folder import is_first_start
from fem.errors import FemError
from fem.model import Model, Perturbation
from fem.sweeping.block import Answer, Job, march_block, no_answer, solve_block
from fem.sweeping.crew import Block, Lost, Team, crew
from fem.sweeping.table import LOST
from fem.sweeping.together.run import can_run_in_lanes

START_UP = 5.0
"""Seconds of work left that are worth starting processes for (a start takes one or two)."""
BLOCK_SECONDS = 0.5
LARGEST_BLOCK = 256
BLOCKS_PER_WORKER = 4
"""Where there are enough points, each worker gets at least so many blocks: all end at about the same time."""
RUN_SECONDS, BAR_SECONDS = 1e-3, 2e-7
"""Guessed cost of a run, and of a bar in an increment: these decide where things run, never what comes out."""
FEWEST = 64
"""Runs that are worth marching together."""
COMPILE_SECONDS = 10.0
"""Compilation of the march of lanes, for every shape of model."""
DIED = LOST + ": its process died twice ({why})"
MOST_LOSSES = 20
"""Workers lost in a row, no answer between them: the machine is at fault, no parameter set."""
GONE = (
    "{count} workers were lost one after the other ({why}); finished parameter sets are kept, and the same command "
    "goes on from there, with fewer --workers if memory is short"
)


def on_this_machine(jobs: Iterator[Job], left: int, workers: int | None) -> Iterator[list[Answer]]:
    """Point after point in this process, as long as that ends sooner than starting others.

    left     how many jobs there are
    workers  at most so many processes; None: one per processor

    The first point loads the kernels, or compiles them for all that come later; its own time tells nothing.
    """
    count = workers or os.cpu_count() or 1
    measured = 0.0
    if left >= FEWEST:
        jobs, left, measured = yield from begin_in_lanes(jobs, left, count)
        if measured:
            work = blocks(jobs, left, count, measured)
            if min(count, left) > 1 and measured * left > START_UP:
                with crew(min(count, left)) as team:
                    yield from spread(team, (Block(part, in_lanes=True) for part in work))
            else:
                yield from (solve_block(part, True) for part in work)
            return
    for number, job in enumerate(jobs):
        is_cold = number == 0 and is_first_start()
        seconds = 0.0 if is_cold else measured or likely_seconds(job.model)
        if min(count, left) > 1 and seconds * left > START_UP:
            with crew(min(count, left)) as team:
                yield from spread(team, map(Block, blocks(chain([job], jobs), left, count, seconds)))
            return
        began = time.perf_counter()
        answers = solve_block([job])
        left -= 1
        measured = time.perf_counter() - began if number else 0.0
        yield answers


def begin_in_lanes(
    jobs: Iterator[Job], left: int, workers: int
) -> Generator[list[Answer], None, tuple[Iterator[Job], int, float]]:
    """Two points alone, then two blocks in lanes if that pays; the jobs left, and seconds of one in lanes (0: alone).

    It pays where the lanes are compiled already, or what they save is more than that takes.
    """
    first = next(jobs, None)
    if first is None or first.history or can_run_in_lanes(first.model):
        return chain([first] if first else [], jobs), left, 0.0
    seconds = 0.0
    for job in chain([first], islice(jobs, 1)):
        began = time.perf_counter()
        answers = solve_block([job])
        seconds = time.perf_counter() - began
        left -= 1
        yield answers
    block = list(islice(jobs, LARGEST_BLOCK))
    together = march_block(block, seconds * left > COMPILE_SECONDS * min(workers, left))
    if not together:
        return chain(block, jobs), left, 0.0
    yield list(together.values())
    began = time.perf_counter()
    rest = [job for job in block if job.point not in together]
    block = [*rest, *islice(jobs, LARGEST_BLOCK)]
    answers = solve_block(block, True)
    seconds = (time.perf_counter() - began) / max(1, len(block))
    left -= len(together) + len(block)
    yield answers
    return jobs, left, seconds


def on_dask(jobs: Iterator[Job], left: int, workers: int | None, scheduler: str) -> Iterator[list[Answer]]:
    """On a Dask cluster: ``local`` starts one here, ``tcp://host:port`` joins one that runs.

    The scheduler computes the blocks of a lost worker again elsewhere.
    """
    from fem.sweeping.cluster import connected

    first = next(jobs, None)
    if first is not None:
        with connected(scheduler, workers) as (team, count):
            seconds = likely_seconds(first.model)
            in_lanes = left >= FEWEST and not can_run_in_lanes(first.model)
            pays = in_lanes and seconds * left > COMPILE_SECONDS * count
            work = blocks(chain([first], jobs), left, count, seconds)
            yield from spread(team, (Block(part, in_lanes, pays) for part in work))


def likely_seconds(model: Model) -> float:
    """A guess at the time a run takes, from its increments and elements."""
    procedures = [step.procedure for step in model.steps if not isinstance(step.procedure, Perturbation)]
    increments = sum(procedure.period / procedure.dt for procedure in procedures)
    return RUN_SECONDS + increments * (10 + len(model.mesh.element_labels)) * BAR_SECONDS


def blocks(jobs: Iterator[Job], left: int, workers: int, seconds: float) -> Iterator[tuple[Job, ...]]:
    """Jobs in blocks of about ``BLOCK_SECONDS``, at ``seconds`` a job."""
    most = -(-left // (BLOCKS_PER_WORKER * workers))
    size = max(1, min(most, LARGEST_BLOCK, int(BLOCK_SECONDS / seconds)))
    while block := tuple(islice(jobs, size)):
        yield block


def spread(team: Team, work: Iterator[Block]) -> Iterator[list[Answer]]:
    """Keep a team busy and give answers as they come; what was lost with a worker is tried again, point by point.

    A point whose worker died twice, with nothing else to do, has that as its verdict. FemError: workers are lost one
    after the other.
    """
    ready = deque(islice(work, team.capacity))
    under_way = losses = 0
    while ready or under_way:
        while ready and under_way < team.capacity:
            team.submit(ready.popleft())
            under_way += 1
        ready.extend(islice(work, max(0, team.capacity - len(ready))))  # read while workers are busy
        for block, outcome in team.collect():
            under_way -= 1
            if not isinstance(outcome, Lost):
                losses = 0
                yield outcome
                continue
            losses += 1
            if block.losses == 0:
                alone = int(len(block.jobs) == 1)  # else who knows which job it was
                ready.extendleft(Block((job,), losses=alone) for job in reversed(block.jobs))
            else:
                yield [no_answer(job.point, job.layout, DIED.format(why=outcome.why)) for job in block.jobs]
            if losses >= MOST_LOSSES:
                raise FemError(GONE.format(count=losses, why=outcome.why))
