"""Signals that ask a process to end, as one exception."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, TypeAlias

from fem.errors import Stopped

Handler: TypeAlias = Callable[[int, FrameType | None], None]
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def stop(number: int, frame: FrameType | None) -> None:
    """A handler."""
    raise Stopped(number)


def stoppable() -> AbstractContextManager[None]:
    """SIGTERM and SIGHUP end what goes on as Ctrl-C does; what is ignored (``nohup``) stays ignored."""
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
