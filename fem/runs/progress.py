"""How far long work is: a bar on a terminal or in a notebook, plain lines in a file, or a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol, TextIO, TypeAlias

Progress: TypeAlias = bool | Callable[[float, str], object]
"""Of functions that take long: True shows how far they are; a function is given the share that is done, 0 to 1, and a
text. What it raises ends the work."""
BAR_AFTER = 2.0
"""Seconds after which work counts as long."""
LINE_SECONDS, REDRAWN = 10.0, 0.25
"""Between two plain lines; between two pictures of a bar."""


class Shown(Protocol):
    """Who is told of progress."""

    def move(self, done: float, text: str) -> None:
        """So much of the total is done."""

    def close(self) -> None:
        """The work has ended."""


class Untold:
    """Nobody asked."""

    def move(self, done: float, text: str) -> None: ...
    def close(self) -> None: ...


def shown(progress: Progress, total: float) -> Shown:
    """What shows the progress that a caller asked for, of work of this size."""
    if callable(progress):
        return Relayed(progress, total)
    if not progress:
        return Untold()
    if sys.stdout.isatty():
        return ProgressBar(sys.stdout, total)
    return NotebookBar(total) if in_notebook() else ProgressLines(total)


@contextmanager
def showing(progress: Progress, total: float = 1.0) -> Iterator[Shown]:
    """``shown``, closed at the end."""
    found = shown(progress, total)
    try:
        yield found
    finally:
        found.close()


def part_of(whole: Shown, first: float, last: float) -> Callable[[float, str], object]:
    """The progress of a part of some work, of total 1: from one share of it to another."""
    return lambda share, text: whole.move(first + (last - first) * share, text)


def in_notebook() -> bool:
    """Whether pictures can be shown: IPython runs, with more than a terminal."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


class Relayed:
    """A function of the caller."""

    def __init__(self, tell: Callable[[float, str], object], total: float) -> None:
        self._tell, self._total = tell, total

    def move(self, done: float, text: str) -> None:
        self._tell(min(1.0, done / self._total) if self._total else 1.0, text)

    def close(self) -> None: ...


class ProgressLines:
    """Plain lines, at most one in ``LINE_SECONDS``."""

    def __init__(self, total: float) -> None:
        self._total, self._last = total, time.monotonic()

    def move(self, done: float, text: str) -> None:
        if time.monotonic() - self._last > LINE_SECONDS:
            self._last = time.monotonic()
            print(f"{done / self._total:4.0%} {text}", flush=True)

    def close(self) -> None: ...


class NotebookBar:
    """A bar of HTML below the cell, from the moment that the work has become long."""

    def __init__(self, total: float) -> None:
        self._total, self._next = total, time.monotonic() + BAR_AFTER
        self._handle: Any = None

    def move(self, done: float, text: str) -> None:
        if time.monotonic() > self._next:
            self._next = time.monotonic() + REDRAWN
            self._show(f'<progress value="{done / self._total:.4f}"></progress> {text}')

    def close(self) -> None:
        if self._handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        display = import_module("IPython.display")
        if self._handle is None:
            self._handle = display.display(display.HTML(text), display_id=True)
        else:
            self._handle.update(display.HTML(text))


class ProgressBar:
    """Progress of a long run on a terminal, below the lines. ``rich`` is imported when it first shows."""

    def __init__(self, stream: TextIO, total: float) -> None:
        self._stream = stream
        self._total = total
        self._begun = time.monotonic()
        self._progress: Any = None
        self._task: Any = None

    def move(self, done: float, text: str) -> None:
        """Sets the total time reached; shows the bar once the run has become long."""
        if self._progress is None and time.monotonic() - self._begun > BAR_AFTER:
            self._show()
        if self._progress is not None:
            self._progress.update(self._task, completed=done, description=text)

    def print(self, text: str) -> bool:
        """Prints lines above the bar; False if the bar is not shown."""
        if self._progress is not None:
            self._progress.console.out(text, end="", highlight=False)
        return self._progress is not None

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
        console = Console(file=self._stream)
        self._progress = Progress(*columns, TextColumn("left"), console=console, transient=True, refresh_per_second=4)
        self._task = self._progress.add_task("", total=self._total)
        self._progress.start()
