"""Processes on this machine that compute blocks, each with a pipe of its own: when one dies, its block is known."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, Protocol

from fem.sweeping.block import Answer, Job, solve_block

END_SECONDS = 5.0
"""For a process to end of itself when it is told to; then it is killed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Jobs for one worker; ``in_lanes``, ``may_compile`` as ``solve_block`` has them; ``losses`` of workers so far."""

    jobs: tuple[Job, ...]
    in_lanes: bool = False
    may_compile: bool = False
    losses: int = 0

    def solve(self) -> list[Answer]:
        """What a worker does."""
        return solve_block(self.jobs, self.in_lanes, self.may_compile)


@dataclass(frozen=True, slots=True)
class Lost:
    """What came of a block whose worker gave no answer."""

    why: str


class Team(Protocol):
    """Workers. ``capacity``: blocks that they take at once."""

    capacity: int

    def submit(self, block: Block) -> None:
        """Give a block to a worker; at most ``capacity`` are under way."""

    def collect(self) -> list[tuple[Block, list[Answer] | Lost]]:
        """What came of some blocks; waits for one, but not for ever. FemError: nobody is left to wait for."""


class Worker:
    """A process, this end of its pipe, and the block that it computes."""

    def __init__(self) -> None:
        context: Any = get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,))
        with without_main(), without_interrupts():
            self.process.start()
        there.close()
        self.block: Block | None = None

    def give(self, block: Block) -> None:
        """Begin a block; if the process is dead, that shows when it is waited for."""
        self.block = block
        with suppress(OSError):
            self.pipe.send(block)

    def take(self) -> list[Answer] | Lost:
        """What came of the block."""
        self.block = None
        try:
            answer: list[Answer] | Lost = self.pipe.recv()
            return answer
        except (OSError, EOFError):
            self.end()
            return Lost(ending(self.process.exitcode))

    def end(self) -> None:
        """Ask the process to end, and see to it."""
        self.pipe.close()
        self.process.join(END_SECONDS)
        self.process.kill()
        self.process.join()


class Crew:
    """A team of processes, started together; one that died is replaced when its turn comes."""

    def __init__(self, count: int) -> None:
        self.capacity = count
        self.workers: list[Worker] = []

    def submit(self, block: Block) -> None:
        """To a process without one."""
        idle = next(worker for worker in self.workers if worker.block is None)
        if not idle.process.is_alive():
            self.workers.remove(idle)
            idle = Worker()
            self.workers.append(idle)
        idle.give(block)

    def collect(self) -> list[tuple[Block, list[Answer] | Lost]]:
        """Answers of those that have ended."""
        busy: dict[Any, Any] = {worker.pipe: worker for worker in self.workers if worker.block is not None}
        ready = [busy[pipe] for pipe in wait(list(busy))]
        return [(worker.block, worker.take()) for worker in ready]


@contextmanager
def crew(count: int) -> Iterator[Crew]:
    """``count`` processes that end with this one, whichever way it ends."""
    team = Crew(count)
    try:
        for _ in range(count):
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


def lost_by(error: BaseException) -> Lost:
    """Why, in a line."""
    return Lost(" ".join(f"{type(error).__name__}: {error}".split())[:200])


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None or code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"{name}, out of memory?" if name == "SIGKILL" else name


def serve(pipe: Connection) -> None:
    """A process of the crew: blocks come in, answers go out, until the other end is closed."""
    for name in ("SIGINT", "SIGHUP"):  # the parent answers those
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            content = pipe.recv_bytes()
            try:
                block: Block = pickle.loads(content)
                answer: list[Answer] | Lost = block.solve()
            except Exception as error:  # runs report their failures as answers: this is one of the machine
                answer = lost_by(error)
            pipe.send(answer)


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
    """A killed parent leaves nobody to answer to."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
