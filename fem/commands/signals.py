"""Signals that ask a process to end, as one exception; processes that end when their parent has ended or was killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, TypeAlias

from fem.errors import Stopped

Handler: TypeAlias = Callable[[int, FrameType | None], None]
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
received: list[int] = []
"""Signals of this command: C code that they interrupt may replace ``Stopped`` by another exception."""


def stop(number: int, frame: FrameType | None) -> None:
    received.append(number)
    raise Stopped(number)


def stoppable() -> AbstractContextManager[None]:
    """SIGTERM and SIGHUP act like Ctrl-C; ignored signals (``nohup``) stay ignored."""
    received.clear()
    return handled_by(stop, (signal.SIG_DFL, signal.default_int_handler))


@contextmanager
def handled_by(handler: Handler, in_place_of: tuple[Any, ...]) -> Iterator[None]:
    """Signals go to ``handler`` instead of the handlers in ``in_place_of``; in the main thread only."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) in in_place_of:
                previous[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


WATCHED = "FEM_ENDS_WITH_PARENT"
"""If set, standard input is a pipe that the parent holds open and never writes to."""


def watched(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is to end with this one; its standard input must be a pipe of this one."""
    return {**environment, WATCHED: "1"}


def end_with_parent() -> None:
    """If the parent asked for it, its end causes SIGTERM in this process, so that results are written.
    The system closes the pipe when the parent ends, even if that was before this call."""
    if os.environ.pop(WATCHED, ""):  # processes of this one have other parents
        threading.Thread(target=_watch, args=(0,), name="parent", daemon=True).start()


def _watch(pipe: int) -> None:
    """Waits until the other end of a pipe is closed."""
    try:
        while os.read(pipe, 1024):
            pass
    except OSError:  # there is no pipe
        return
    os.kill(os.getpid(), signal.SIGTERM)
