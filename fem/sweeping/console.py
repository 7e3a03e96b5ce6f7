"""How a sweep shows that it goes on: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TextIO

from fem.compiled.folder import FIRST_START, is_first_start
from fem.results.console import Bar, as_note, show
from fem.sweeping.grid import Points
from fem.sweeping.table import RECORD, TABLE

LINE_SECONDS = 10.0
"""Between two plain lines."""
COLD = 3
"""Blocks of answers at the start that load or compile kernels: how long they take tells nothing of the others."""


class SweepConsole:
    """Prints how far a sweep is; goes silent when nobody reads any more (``| head``)."""

    def __init__(
        self, deck: str, grid: Points, finished: int, notices: list[str], stream: TextIO | None = None
    ) -> None:
        self._stream = stream or sys.stdout
        self._total, self._moves = len(grid), 0
        self._begun = self._last = time.monotonic()
        self._warm = self._begun, finished
        self._bar = Bar(self._stream, self._total) if self._stream.isatty() else None
        self._told = len(notices)
        self._print(f"sweep of {deck} over {grid.said()}: {self._total} parameter set{'s' * (self._total != 1)}")
        if finished:
            self._print(f"{finished} of them are finished from before")
        self._note(notices)
        if is_first_start():
            self._note([f"{FIRST_START}: half a minute"])

    def move(self, finished: int, failed: int) -> None:
        """Some more points are finished."""
        bad = f", {failed} failed" if failed else ""
        text = f"{finished}/{self._total} parameter sets{bad}"
        now = time.monotonic()
        self._moves += 1
        if self._moves <= COLD:
            self._warm = now, finished
        if self._bar is not None:
            self._bar.move(finished, text)
        elif now - self._last > LINE_SECONDS:
            self._last = now
            since, before = self._warm
            if finished > before:
                text += f", about {(self._total - finished) * (now - since) / (finished - before):.0f} s left"
            self._print(text)

    def close(self, finished: int, failed: int, folder: Path, notices: list[str]) -> None:
        """The last lines; ``notices`` may have grown."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        seconds = time.monotonic() - self._begun
        self._note(notices[self._told :])
        self._print(f"finished   {finished} of {self._total} parameter sets, {failed or 'none'} failed")
        self._print(f"wall time  {seconds:.2f} s")
        self._print(f"written    in {folder}: {TABLE}, {RECORD}")

    def _note(self, notices: list[str]) -> None:
        for text in notices:
            self._print(as_note(text))

    def _print(self, text: str) -> None:
        show(text + "\n", self._stream, self._bar)
