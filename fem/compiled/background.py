"""A process in the background that compiles what a run calls, while the run goes on with Python functions.

``python -m fem.compiled.background`` is that process: it reads units to compile from stdin, has them compiled by its
own processes at low priority, and ends when stdin is closed and all are compiled. So it may continue after the run that
started it, for the benefit of later runs; if the run is ended by a signal, it ends, too.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from fem.commands.files import turn
from fem.compiled.folder import cache_folder, delete_old, private
from fem.compiled.interpreted import Job
from fem.compiled.interpreted import work as ahead
from fem.compiled.store import stored, symbol_of
from fem.compiled.workers import MOST, Compilation, Worker, processors, start_worker
from fem.errors import Stopped

NICENESS = 5
"""Priority: a third of the weight of a run, so that on a busy machine the run has precedence over the compiler."""
LOOK_EVERY = 0.05
"""Seconds between two checks whether machine code is ready."""
ENDS_WITHIN = 5.0
"""Seconds in which the process should have ended with its own."""


class Background:
    """The background process, as seen by the run."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.process: Worker | None = None
        self.lock = threading.Lock()

    def ask(self, job: Job) -> bool:
        """Request the compilation of a unit, once; returns whether it is the first one."""
        symbol = symbol_of(*job)
        with self.lock:
            if symbol in self.asked:
                return False
            self.asked.add(symbol)
            is_first = self.process is None
            with contextlib.suppress(OSError):  # no process: ``wait_for`` detects this
                if is_first:
                    self.process = start_worker(__name__)
                    if cache_folder().parent in private:
                        atexit.register(self.end)
                if self.process is not None and self.process.stdin is not None:
                    pickle.dump(job, self.process.stdin)
                    self.process.stdin.flush()
            return is_first

    def wait_for(self, job: Job, seconds: float = math.inf) -> bool:
        """Waits until a unit is ready, or the process has ended without it; False: neither within so many seconds.
        Stopped: a signal has asked this process to end."""
        end = time.monotonic() + seconds
        while self.process is not None and self.process.poll() is None and not stored(*job):
            if ahead.signal:
                raise Stopped(ahead.signal)
            if time.monotonic() > end:
                return False
            time.sleep(LOOK_EVERY)
        return True

    def end(self) -> None:
        """Ends the process: machine code is no longer needed. A signal that the system hands to another of its threads
        does not wake the first one, which waits: it gets another one, and is killed at last; its own end with their
        stdin."""
        if self.process is None:
            return
        for stop in (self.process.terminate, self.process.terminate, self.process.kill):
            stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDS_WITHIN)
                return


compiler = Background()


def work() -> None:
    """Compiles units as they arrive, until stdin is closed and all are done."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has none
        os.nice(NICENESS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as with Ctrl-C, with its own processes
    compilation = Awaited()
    threading.Thread(target=take_jobs, args=(compilation, sys.stdin.buffer), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt), turn(cache_folder()):
        compilation.run(min(processors(), MOST))
        delete_old()


class Awaited(Compilation):
    """Units for which the run may wait: if one is lost, the run must compile it itself."""

    lost = Compilation.abandon


def take_jobs(compilation: Compilation, stream: Any) -> None:
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            compilation.add([pickle.load(stream)])
    compilation.close()


if __name__ == "__main__":
    work()
