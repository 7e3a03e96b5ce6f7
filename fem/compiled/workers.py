"""Compile many units side by side: processes of our own, each with its numba and its LLVM.

``python -m fem.compiled.workers`` is one of them: it takes units to make from stdin and answers with those they call.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from fem.compiled.folder import cache_folder
from fem.compiled.kernel import Kind
from fem.compiled.store import find, stored, symbol_of

Job: TypeAlias = tuple[str, Kind]
"""A unit to be made: name of the kernel, kinds of its arguments."""
MOST = 8
"""Processes at once; each takes about 250 MB."""


def build_all(wanted: Collection[Job]) -> None:
    """Make all units that are wanted and not there yet, and those that they call, on all processors."""
    jobs = [job for job in wanted if stored(*job) is None]
    # Long ones first: those with the most arguments, such as the march.
    jobs.sort(key=lambda job: len(repr(job[1])), reverse=True)
    count = min(processors(), MOST, len(jobs))
    if count > 1 and cache_folder().is_dir():
        with processes(count) as ask:
            share(jobs, count, ask)
    for name, kinds in jobs:  # what no process of ours could do, if any
        if stored(name, kinds) is None:
            from fem.compiled.build import build, kernel_of

            build(kernel_of(name), kinds)


def processors() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(jobs: list[Job], count: int, ask: Callable[[Job], Iterator[list[Job]]]) -> None:
    """Hand out jobs, and the jobs that come of them, until none is left."""
    seen: set[str] = set()
    lock, left, finished = threading.Lock(), 0, threading.Event()

    def do(job: Job) -> None:
        nonlocal left
        try:
            for more in ask(job):
                add(more)
        finally:
            with lock:
                left -= 1
                if left == 0:
                    finished.set()

    def add(more: list[Job]) -> None:
        nonlocal left
        for job in more:
            with lock:
                symbol = symbol_of(*job)
                if symbol in seen or find(symbol) is not None:
                    continue
                seen.add(symbol)
                left += 1
            pool.submit(do, job)

    with ThreadPoolExecutor(count) as pool:
        add(jobs)
        finished.wait()


@contextlib.contextmanager
def processes(count: int) -> Iterator[Callable[[Job], Iterator[list[Job]]]]:
    """Processes that make units; gives a function that has a job done and yields the jobs that come of it."""
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "FEM_CACHE_DIR": str(cache_folder().parent)}
    idle: queue.SimpleQueue[subprocess.Popen[bytes] | None] = queue.SimpleQueue()
    started = []
    for _ in range(count):
        try:
            worker = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
        except OSError:
            idle.put(None)
        else:
            started.append(worker)
            idle.put(worker)

    def ask(job: Job) -> Iterator[list[Job]]:
        worker = idle.get()
        try:
            if worker is None:
                return
            assert worker.stdin is not None
            assert worker.stdout is not None
            pickle.dump(job, worker.stdin)
            worker.stdin.flush()
            while (more := pickle.load(worker.stdout)) is not None:
                yield more
        except (OSError, EOFError, pickle.UnpicklingError):  # it has died: the others, or this process, go on
            worker = None
        finally:
            idle.put(worker)

    try:
        yield ask
    finally:
        for worker in started:
            worker.kill()
            worker.wait()


def work() -> None:
    """Make units until stdin ends; tell at once which others they call, then None."""
    gc.disable()  # all that is made here lives on: a tenth of the time
    from fem.compiled.build import kernel_of, make
    from fem.compiled.translate import NEEDS

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak there
    told: set[str] = set()

    def tell() -> None:
        new = [symbol for symbol in NEEDS if symbol not in told]
        told.update(new)
        say([(NEEDS[symbol][0].name, NEEDS[symbol][1]) for symbol in new])

    def say(answer: list[Job] | None) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    while True:
        try:
            name, kinds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if find(symbol_of(name, kinds)) is None:
            make(kernel_of(name), kinds, tell)
        say(None)


if __name__ == "__main__":
    work()
