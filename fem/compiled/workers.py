"""Parallel compilation of many units, in child processes with their own numba and LLVM.

``python -m fem.compiled.workers`` is one of them: it reads units to compile from stdin and returns those they call.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from fem.compiled.choice import is_plain
from fem.compiled.digest import adopted
from fem.compiled.folder import cache_folder
from fem.compiled.interpreted import Job
from fem.compiled.kernel import Kernel
from fem.compiled.store import find, is_kept, stored, symbol_of

Worker: TypeAlias = "subprocess.Popen[bytes]"
MOST = 8
"""Largest number of processes; each takes about 250 MB."""


def build_all(wanted: Collection[Job]) -> bool:
    """Compile all wanted units that are missing, on all processors.
    False: there is no space to store them, so that only units of a run are worth compiling. The order should have long
    ones at both ends, and those with much in common next to each other (``Compilation``)."""
    if not is_plain():
        jobs = [(name, kinds) for name, kinds in wanted if not (stored(name, kinds) or adopted(kernel_of(name), kinds))]
        count = min(processors(), MOST, len(jobs))
        if count and cache_folder().is_dir():  # also with one processor: here Ctrl-C would wait for the end of a unit
            compilation = Compilation()
            compilation.add(jobs)
            compilation.close()
            compilation.run(count)
    for name, kinds in wanted:  # units that no child process could compile, if any
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


class Compilation:
    """Units to compile, distributed to processes until all are done and no more can follow.

    The first process takes them from the front, the others from the back: common parts of units are translated only
    once per process. A process is started when there is work for it.
    """

    def __init__(self) -> None:
        self.left: deque[Job] = deque()
        self.seen: set[str] = set()
        self.change, self.is_open = threading.Condition(), True
        self.workers: list[Worker] = []

    def add(self, jobs: Iterable[Job]) -> None:
        """Adds wanted units, if they are new and missing."""
        with self.change:
            new = {symbol_of(*job): job for job in jobs}
            self.left.extend(job for symbol, job in new.items() if symbol not in self.seen and not find(symbol))
            self.seen.update(new)
            self.change.notify_all()

    def close(self) -> None:
        """No more units follow."""
        with self.change:
            self.is_open = False
            self.change.notify_all()

    def abandon(self) -> None:
        """Starts no more units."""
        with self.change:
            self.left.clear()
        self.close()

    def run(self, count: int) -> None:
        """Compiles the units with at most ``count`` processes; returns when all is done, or no process can continue."""
        with ThreadPoolExecutor(count) as pool:
            try:
                list(pool.map(self._serve, range(count)))
            except BaseException:  # Ctrl-C: the threads wait for answers that only the end of a process cuts short
                self.abandon()
                self.end()
                raise
        self.end()

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def _serve(self, number: int) -> None:
        """Have jobs done by a process."""
        worker: Worker | None = None
        while job := self._next(number):
            try:
                worker = worker or self._started()
                assert worker.stdin is not None and worker.stdout is not None
                pickle.dump(job, worker.stdin)
                worker.stdin.flush()
                is_done = bool(worker.stdout.readline())
            except OSError:
                is_done = False
            if not is_done:  # it has ended, or could not start: the others, or this process, continue
                self.lost()
                return

    def _next(self, number: int) -> Job | None:
        """A job for a process, waiting for one; None: there will be none."""
        with self.change:
            while not self.left:
                if not self.is_open:
                    return None
                self.change.wait()
            return self.left.popleft() if number == 0 else self.left.pop()

    def lost(self) -> None:
        """A process is lost, with the unit that it was compiling."""

    def _started(self) -> Worker:
        worker = start_worker(__name__)
        self.workers.append(worker)
        return worker


def start_worker(module: str) -> Worker:
    """A child process that reads jobs. OSError: Python cannot be started."""
    environment = {**os.environ, "PYTHONPATH": python_path(), "FEM_CACHE_DIR": str(cache_folder().parent)}
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-P", "-m", module], env=environment, **streams)


def python_path() -> str:
    """Search path of modules for child processes: first the folder of this package, then the user's.
    Never the current folder, which may contain anything (``-P``); an empty entry would mean that one, too."""
    said = [Path(entry).absolute() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return os.pathsep.join(map(str, [Path(__file__).parents[2], *(path for path in said if path != Path.cwd())]))


def work() -> None:
    """Compiles units until stdin ends, with a line of output for each.
    Ends, too, if a unit cannot be stored: the process that waits for it would have to compile it again."""
    gc.disable()  # all that is made here lives on: a tenth of the time
    from fem.compiled.translate import build

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak there

    while True:
        try:
            name, kinds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if not cache_folder().is_dir():
            return  # somebody has deleted it
        if stored(name, kinds) is None:
            build(kernel_of(name), kinds)
            if not is_kept(name, kinds):
                return
        answers.write(b"\n")
        answers.flush()


if __name__ == "__main__":
    work()
