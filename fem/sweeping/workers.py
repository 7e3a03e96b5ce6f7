"""Who computes the blocks of a sweep: this process, processes on this machine, or a Dask cluster.

Answers come in any order. The bytes of the table do not depend on who gave them, except that lanes of one march
differ from runs of their own by round-off.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from types import ModuleType
from typing import Any

from fem.compiled.folder import is_first_start
from fem.errors import FemError
from fem.model import Frequency, Model
from fem.solve.ensemble.run import can_run_in_lanes
from fem.sweeping.block import Answer, Job, march_block, solve_block

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
LOST = "a worker was lost{why}; finished parameter sets are kept, and the same command goes on from there"


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
                with processes(min(count, left)) as executor:
                    yield from spread(executor, work, count, True)
            else:
                yield from (solve_block(block, True) for block in work)
            return
    for number, job in enumerate(jobs):
        is_cold = number == 0 and is_first_start()
        seconds = 0.0 if is_cold else measured or likely_seconds(job.model)
        if min(count, left) > 1 and seconds * left > START_UP:
            with processes(min(count, left)) as executor:
                yield from spread(executor, blocks(chain([job], jobs), left, count, seconds), count)
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
        with connected(scheduler, workers) as (executor, count):
            seconds = likely_seconds(first.model)
            in_lanes = left >= FEWEST and not can_run_in_lanes(first.model)
            pays = in_lanes and seconds * left > COMPILE_SECONDS * count
            yield from spread(executor, blocks(chain([first], jobs), left, count, seconds), count, in_lanes, pays)


def likely_seconds(model: Model) -> float:
    """A guess at the time a run takes, from its increments and elements."""
    procedures = [step.procedure for step in model.steps if not isinstance(step.procedure, Frequency)]
    increments = sum(procedure.period / procedure.dt for procedure in procedures)
    return RUN_SECONDS + increments * (10 + len(model.mesh.element_labels)) * BAR_SECONDS


def blocks(jobs: Iterator[Job], left: int, workers: int, seconds: float) -> Iterator[list[Job]]:
    """Jobs in blocks of about ``BLOCK_SECONDS``, at ``seconds`` a job."""
    share = -(-left // (BLOCKS_PER_WORKER * workers))
    size = max(1, min(share, LARGEST_BLOCK, int(BLOCK_SECONDS / seconds)))
    while block := list(islice(jobs, size)):
        yield block


def spread(
    executor: Executor, work: Iterator[list[Job]], workers: int, in_lanes: bool = False, may_compile: bool = False
) -> Iterator[list[Answer]]:
    """Keep the workers busy, two blocks each, and give answers as they come; lanes as ``solve_block`` has them."""
    pending: set[Future[list[Answer]]] = set()
    for block in work:
        pending.add(executor.submit(solve_block, block, in_lanes, may_compile))
        if len(pending) >= 2 * workers:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from map(answers_of, finished)
    yield from map(answers_of, as_completed(pending))


def answers_of(future: Future[list[Answer]]) -> list[Answer]:
    """The answers of a block; runs report their failures there, so an exception here is a lost worker."""
    try:
        return future.result()
    except Exception as error:
        why = " ".join(str(error).split())[:200]
        raise FemError(LOST.format(why=f" ({why})" if why else "")) from error


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """``count`` processes that end with this one, whichever way it ends."""
    executor = QuietPool(count, mp_context=get_context("spawn"), initializer=begin_worker)
    try:
        yield executor
    except BaseException:
        for process in list((getattr(executor, "_processes", None) or {}).values()):
            process.terminate()
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


class QuietPool(ProcessPoolExecutor):
    """Processes that do not run the user's script again: what they need, they import."""

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        with without_main():
            return super().submit(function, *arguments, **options)


@contextmanager
def without_main() -> Iterator[None]:
    """Started processes import the main script of their parent, which would start the sweep anew: hide it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def begin_worker() -> None:
    """Leave Ctrl-C to the parent, end with it, load the solver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    import_module("fem.sweeping.block")


def end_with_parent() -> None:
    """A killed parent leaves nobody to answer to."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
