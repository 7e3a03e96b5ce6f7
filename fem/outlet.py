"""The way out of a run: to the console at once, to files through a thread that writes while the solver goes on."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from queue import Queue
from types import FrameType
from typing import Any

from fem.commands.signals import handled_by, stop
from fem.errors import from_system
from fem.results.record import SilentSink, Sink
from fem.results.run_record import Timing

WAITING = 4
"""Messages (rows of a chunk, fields) that may wait for the writer: bounds the memory; then the solver waits too."""


class Relay(SilentSink):
    """A sink that hands everything on as the name of a method and its arguments."""

    def _pass(self, method: str, *what: Any) -> None:
        raise NotImplementedError


def handed_on(method: str) -> Callable[..., None]:
    """A method of a relay."""

    def hand_on(self: Relay, *what: Any) -> None:
        self._pass(method, *what)

    return hand_on


for _method in ("begin", "rows", "frame", "event", "modes", "response", "notice", "keep", "resume"):
    setattr(Relay, _method, handed_on(_method))


class Writer(Relay):
    """Hands a run to sinks in a thread of its own.

    Signals reach the main thread only, so a file is never left half written. After an error the thread writes no
    more; the error is raised at the next call, at the latest by ``close``.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks
        self._error: Exception | None = None
        self._queue: Queue[tuple[Any, ...] | None] = Queue(WAITING)
        self._thread = threading.Thread(target=self._write, name="fem writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until everything is written, and close the sinks."""
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _pass(self, method: str, *what: Any) -> None:
        if self._error is not None:
            raise self._error
        self._queue.put((method, *what))

    def _write(self) -> None:
        while (message := self._queue.get()) is not None:
            if self._error is None:
                for sink in self._sinks:
                    self._try(getattr(sink, message[0]), *message[1:])
            del message
        for sink in self._sinks:
            self._try(sink.close)

    def _try(self, act: Callable[..., None], *what: Any) -> None:
        try:
            act(*what)
        except Exception as error:
            self._error = self._error or error


class InterruptGuard:
    """Ctrl-C and its like stop the solver at once, but wait while files are being written, so that lines stay whole.

    The first one ends the run; others that come while it ends change nothing. While ``is_patient`` the first one waits
    until the state of the run is kept, a second one does not.
    """

    def __init__(self) -> None:
        self.is_busy = self.is_patient = False
        self._pending = 0

    def watching(self) -> AbstractContextManager[None]:
        """It has the signals inside."""
        return handled_by(self._interrupt, (signal.default_int_handler, stop))

    def release(self) -> None:
        """Writing is done: let a waiting signal through."""
        self.is_busy = False
        if self.is_asked and not self.is_patient:
            self._stop(self._pending)

    @property
    def is_asked(self) -> bool:
        """A signal waits."""
        return self._pending != 0

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_busy or (self.is_patient and not self._pending):
            self._pending = self._pending or number
        else:
            self._stop(number)

    def _stop(self, number: int) -> None:
        self.is_busy = True
        stop(number, None)


class FanOut(Relay):
    """Passes a run on to several sinks; those that write files are made when the first step begins."""

    def __init__(
        self, sinks: Sequence[Sink], open_files: Callable[[], list[Sink]], timing: Timing, guard: InterruptGuard
    ) -> None:
        self._sinks = list(sinks)
        self._open_files: Callable[[], list[Sink]] | None = open_files
        self._timing, self._guard = timing, guard
        self._stage = "assemble"

    def close(self) -> None:
        """Close every sink, once."""
        self._pass("close")
        self._sinks = []

    def abandon(self) -> None:
        """Close after a failure: every sink gets its chance, and no second error hides the first."""
        sinks, self._sinks = self._sinks, []
        self._guard.is_busy = True
        for sink in sinks:
            with contextlib.suppress(Exception):
                sink.close()

    def _pass(self, method: str, *what: Any) -> None:
        self._timing.mark(self._stage)
        self._guard.is_busy = True
        try:
            if method in ("begin", "resume") and self._open_files is not None:
                self._sinks += self._open_files()
                self._open_files, self._stage = None, "solve"
            for sink in self._sinks:
                getattr(sink, method)(*what)
        except OSError as error:
            raise from_system(error, "cannot write") from error
        finally:
            self._timing.mark("write")
        self._guard.release()
