"""Signals that ask a process to end, as one exception.

A process that ends when the one that started it does, however that ended: killed, too, when it can ask nobody.
"""

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
"""Signals of this command: code in C that they interrupt may put another exception in the place of ``Stopped``."""


def stop(number: int, frame: FrameType | None) -> None:
    received.append(number)
    raise Stopped(number)


def stoppable() -> AbstractContextManager[None]:
    """SIGTERM and SIGHUP end what goes on as Ctrl-C does; what is ignored (``nohup``) stays ignored."""
    received.clear()
    return handled_by(stop, (signal.SIG_DFL, signal.default_int_handler))


@contextmanager
def handled_by(handler: Handler, in_place_of: tuple[Any, ...]) -> Iterator[None]:
    """Signals go to ``handler`` where others had them; only the main thread may say so."""
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
"""Set: standard input is a pipe that the parent holds open and writes nothing to."""


def watched(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is to end with this one; its standard input must be a pipe of this one."""
    return {**environment, WATCHED: "1"}


def end_with_parent() -> None:
    """Where the parent asked for it, its end is SIGTERM to this process: what has been computed is written.
    The system closes the pipe when the parent is gone, also where that was before anybody watched."""
    if os.environ.pop(WATCHED, ""):  # processes of this one have other parents
        threading.Thread(target=_watch, args=(0,), name="parent", daemon=True).start()


def _watch(pipe: int) -> None:
    """Until the other end of a pipe is closed."""
    try:
        while os.read(pipe, 1024):
            pass
    except OSError:  # there is no pipe
        return
    os.kill(os.getpid(), signal.SIGTERM)
