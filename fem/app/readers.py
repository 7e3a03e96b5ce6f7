"""Processes that read the files of runs: tables of millions of lines would make every page of this program wait."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fem.app.data.seen import Seen, read

SPAWN = multiprocessing.get_context("spawn")
MOST = max(2, os.cpu_count() or 2)
"""Readers at work at once; the others wait."""


def answer(asked: Connection) -> None:
    """What a reader does, until nobody can ask any more: the program has ended, or was killed."""
    try:
        while True:
            asked.send(read(*asked.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        pass


class Reader:
    """A process that reads on request, one thing at a time."""

    def __init__(self) -> None:
        self._asked, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=answer, args=(there,), name="reader", daemon=True)
        self._process.start()
        there.close()

    def ask(self, given: tuple[Any, ...]) -> Seen | None:
        """Waits. EOFError, OSError: it has ended, or was ended."""
        self._asked.send(given)
        found: Seen | None = self._asked.recv()
        return found

    def end(self) -> None:
        """At once, whatever it does."""
        self._process.kill()
        self._process.join()
        self._process.close()


class Readers:
    """Those of a program. What is cancelled while it waits for a reader ends that reader, too."""

    def __init__(self) -> None:
        self._idle: list[Reader] = []
        self._all: list[Reader] = []
        self._turn = asyncio.Semaphore(MOST)

    async def read(self, folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> Seen | None:
        """As ``read``; None also where the reader was lost."""
        async with self._turn:
            reader = self._idle.pop() if self._idle else self._new()
            try:
                found = await asyncio.to_thread(reader.ask, (folders, names, has_scenes))
            except (EOFError, OSError):
                self._end(reader)
                return None
            except asyncio.CancelledError:
                self._end(reader)
                raise
            self._idle.append(reader)
            return found

    def _new(self) -> Reader:
        self._all.append(Reader())
        return self._all[-1]

    def _end(self, reader: Reader) -> None:
        if reader in self._all:
            self._all.remove(reader)
            reader.end()

    def close(self) -> None:
        """End all."""
        self._idle.clear()
        for reader in [*self._all]:
            self._end(reader)
