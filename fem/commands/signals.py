"""Signals that ask a process to end, as one exception."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fem.errors import Stopped

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def stop(number: int, frame: FrameType | None) -> None:
    """A handler."""
    raise Stopped(number)


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM and SIGHUP end what goes on as Ctrl-C does; what is ignored (``nohup``) stays ignored."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                previous[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
