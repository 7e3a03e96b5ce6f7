"""One process at a time compiles into a folder; the others wait for what it makes.

Not the lock of ``files/lock.py``, which a process that died on another host keeps until somebody removes it: here that
would cost every start its patience, and two that compile at once do no harm, as units are written whole.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fem.compiled.safe.notices import tell_once

NAME = "lock"
PATIENCE = 300.0
"""Seconds after which a process that waits compiles for itself: ten times what everything takes on two processors."""
WAITING = "another process is compiling the solver: waiting for it, {seconds:g} s at most"
TIRED = "the other process has not finished compiling: compiling here"


@cache
def _lock(folder: Path) -> Any:
    from filelock import FileLock  # only who compiles needs it

    return FileLock(folder / NAME, mode=0o600)


_threads = threading.RLock()


@contextmanager
def turn(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Compile while no other process does; one that has died holds nothing, as the system then frees its lock.

    Where there can be no lock (a folder that may only be read, a full disk) every process compiles for itself.
    """
    from filelock import Timeout

    with _threads:
        lock = _lock(folder)
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                tell_once(WAITING.format(seconds=patience))
                lock.acquire(timeout=patience)
        except Timeout:
            tell_once(TIRED)
        except (OSError, NotImplementedError):
            pass
        held = lock.is_locked
        try:
            yield
        finally:
            if held:
                lock.release()
