"""Compile many units side by side: processes of our own, each with its numba and its LLVM.

``python -m fem.compiled.workers`` is one of them: it takes units to make from stdin and answers with those they call.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from fem.compiled.choice import is_plain
from fem.compiled.digest import adopted
from fem.compiled.folder import cache_folder
from fem.compiled.kernel import Kernel, Kind
from fem.compiled.store import find, is_kept, stored, symbol_of

Job: TypeAlias = tuple[str, Kind]
"""A unit to be made: name of the kernel, kinds of its arguments."""
Worker: TypeAlias = "subprocess.Popen[bytes]"
MOST = 8
"""Processes at once; each takes about 250 MB."""


def build_all(wanted: Collection[Job]) -> bool:
    """Make all units that are wanted and not there yet, and those that they call, on all processors.

    False where there is no room for them: then only what a run calls is worth compiling. Best with long ones at both
    ends, and those that have much in common side by side (``hand_out``).
    """
    if not is_plain():
        jobs = [(name, kinds) for name, kinds in wanted if not (stored(name, kinds) or adopted(kernel_of(name), kinds))]
        count = min(processors(), MOST, len(jobs))
        if count and cache_folder().is_dir():  # also with one processor: here Ctrl-C would wait for the end of a unit
            with processes(count) as workers:
                if workers:
                    hand_out(jobs, workers)
    for name, kinds in wanted:  # what no process of ours could do, if any
        if is_plain() or kernel_of(name).unit(kinds) is None:
            from fem.compiled.dispatchers import compile_plain

            compile_plain(kernel_of(name), kinds)
        elif not is_kept(name, kinds):
            return False
    return True


def kernel_of(name: str) -> Kernel:
    """The kernel of a name, "module:function"."""
    module, _, function = name.partition(":")
    found = attrgetter(function)(import_module(module))
    assert isinstance(found, Kernel)
    return found


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def hand_out(jobs: list[Job], workers: list[Worker]) -> None:
    """Hand out jobs, and the jobs that come of them, until none is left.

    The first process takes them from the front, the others from the back: what units have in common is translated only
    once in a process.
    """
    left = deque(jobs)
    seen = {symbol_of(*job) for job in jobs}
    change, busy = threading.Condition(), 0

    def serve(number: int) -> None:
        nonlocal busy
        while True:
            with change:
                while busy and not left:
                    change.wait()
                if not left:
                    return
                job = left.popleft() if number == 0 else left.pop()
                busy += 1
            try:
                for more in ask(workers[number], job):
                    with change:
                        new = {symbol_of(*each): each for each in more}
                        left.extend(each for symbol, each in new.items() if symbol not in seen and not find(symbol))
                        seen.update(new)
                        change.notify_all()
            except (OSError, EOFError, pickle.UnpicklingError):
                return  # it has died: the others, or this process, go on
            finally:
                with change:
                    busy -= 1
                    change.notify_all()

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            list(pool.map(serve, range(len(workers))))
        except BaseException:  # Ctrl-C: the threads wait for answers that only the end of a process cuts short
            for worker in workers:
                worker.kill()
            raise


def ask(worker: Worker, job: Job) -> Iterator[list[Job]]:
    """Have a job done; yields the jobs that come of it."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    pickle.dump(job, worker.stdin)
    worker.stdin.flush()
    while (more := pickle.load(worker.stdout)) is not None:
        yield more


@contextlib.contextmanager
def processes(count: int) -> Iterator[list[Worker]]:
    environment = {**os.environ, "PYTHONPATH": python_path(), "FEM_CACHE_DIR": str(cache_folder().parent)}
    command = [sys.executable, "-P", "-m", __name__]
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    workers: list[Worker] = []
    try:
        with contextlib.suppress(OSError):  # no Python to start, or no room for another process
            for _ in range(count):
                workers.append(subprocess.Popen(command, env=environment, **streams))
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def python_path() -> str:
    """Where our processes look for modules first: where this package lies, then as the user says.

    Never in the current folder, which may hold anything (``-P``); an empty entry would mean that one, too.
    """
    said = [Path(entry).absolute() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return os.pathsep.join(map(str, [Path(__file__).parents[2], *(path for path in said if path != Path.cwd())]))


def work() -> None:
    """Make units until stdin ends; answer None to each.

    Ends, too, where a unit cannot be kept: the process that waits for it would have to make it once more.
    """
    gc.disable()  # all that is made here lives on: a tenth of the time
    from fem.compiled.translate import make

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak there

    def say(answer: list[Job] | None) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    while True:
        try:
            name, kinds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if stored(name, kinds) is None and adopted(kernel_of(name), kinds) is None:
            make(kernel_of(name), kinds)
            if not is_kept(name, kinds):
                return
        say(None)


if __name__ == "__main__":
    work()
