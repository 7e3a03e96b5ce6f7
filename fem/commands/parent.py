"""A process that ends when the one that started it does, however that ended: killed, too, when it can ask nobody."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping

WATCHED = "FEM_ENDS_WITH_PARENT"
"""Set: standard input is a pipe that the parent holds open and writes nothing to."""


def watched(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is to end with this one; its standard input must be a pipe of this one."""
    return {**environment, WATCHED: "1"}


def end_with_parent() -> None:
    """Where the parent asked for it, its end is SIGTERM to this process: what has been computed is written.

    The system closes the pipe when the parent is gone, also where that was before anybody watched.
    """
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
