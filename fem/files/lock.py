"""One writer at a time in a folder: a file that the system locks for a process and frees when that ends, however.

``compiled/safe/lock.py`` has another lock, for another end: there who comes second waits, and where there are no locks
everybody goes on. Here he is refused and told by whom, a writer on another host counts though its lock cannot be seen,
and the file is also the room on the disk and gone in the end: filelock's empties a file it finds and leaves it there.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from fem.errors import CommandError
from fem.files.room import Room

try:
    import fcntl
except ImportError:  # Windows: a file that is open cannot be removed, so one that can be is stale
    fcntl = None  # type: ignore[assignment]

LOCK = ".fem-lock"
LONGEST = 1000
TRIES = 100
"""The file may be removed by its last owner between opening and locking it; then another try finds it gone."""
CANNOT = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Answers of file systems that have no locks: there the process named in the file decides."""


class FolderLock:
    """The right to write in a folder, from ``acquire`` to ``release``; its file also keeps room on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / LOCK
        self._file: int | None = None
        self.room = Room()
        """What the file keeps free on the disk, while it is locked."""

    def acquire(self) -> None:
        """Take the lock, over from a dead process if need be. CommandError: a living one has it."""
        for _ in range(TRIES):
            file = self._open()
            try:
                if self._is_mine(file):
                    self._file = file
                    os.ftruncate(file, 0)
                    os.lseek(file, 0, os.SEEK_SET)
                    os.write(file, (json.dumps(process()) + "\n").encode())
                    self.room = Room(file)
                    return
            finally:
                if self._file is None:
                    os.close(file)
        raise CommandError(f"{self._folder} is in use: {LOCK} in it changes all the time")

    def release(self) -> None:
        """Let others in; the file goes while it is still locked, so none of theirs is removed."""
        file, self._file = self._file, None
        if file is None:
            return
        if fcntl is not None:
            self._path.unlink(missing_ok=True)
        os.close(file)
        if fcntl is None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _open(self) -> int:
        if fcntl is None:
            try:
                self._path.unlink(missing_ok=True)
            except PermissionError:
                raise self._taken(holder_of(self._path.read_bytes())) from None
        # never through a link, which may lead to a file of the user's
        return os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)

    def _is_mine(self, file: int) -> bool:
        """Lock the open file; False where it is not the one in the folder any more."""
        if fcntl is None:
            return True
        can_lock = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._taken(holder_of(os.pread(file, LONGEST, 0))) from None
        except OSError as error:
            if error.errno not in CANNOT:
                raise
            can_lock = False
        if not self._path.exists() or not os.path.samestat(os.fstat(file), self._path.stat()):
            return False
        content = os.pread(file, LONGEST, 0)
        holder = holder_of(content)
        if content.strip(b"\0") and not holder:
            raise CommandError(f"{self._path} is not a lock of this program; it was not touched: remove or rename it")
        here = holder.get("host", platform.node()) == platform.node()
        if not here or (not can_lock and is_alive(holder.get("pid"))):
            raise self._taken(holder)
        return True

    def _taken(self, holder: dict[str, Any]) -> CommandError:
        who = f"process {holder['pid']} on {holder['host']}, since {holder['start']}" if holder else "another process"
        elsewhere = holder and holder["host"] != platform.node()
        hint = f"; if that process has ended, remove {self._path}" if elsewhere else ""
        return CommandError(
            f"{self._folder} is being written by another run ({who}); nothing was touched: wait for its end, "
            f"or choose a folder with --output DIR{hint}"
        )


def free(folder: Path) -> None:
    """Remove a lock whose process was killed after its last file; that of a living one stays."""
    if (folder / LOCK).exists():
        with contextlib.suppress(CommandError, OSError):
            lock = FolderLock(folder)
            lock.acquire()
            lock.release()


def process() -> dict[str, Any]:
    """Who we are, for others to read."""
    return {"pid": os.getpid(), "host": platform.node(), "start": time.strftime("%Y-%m-%d %H:%M:%S")}


def holder_of(content: bytes) -> dict[str, Any]:
    """The process named in a lock; empty where none is."""
    try:
        found = json.loads(content.split(b"\n")[0])
        return {"pid": int(found["pid"]), "host": str(found["host"]), "start": str(found["start"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def is_alive(pid: Any) -> bool:
    """A process of this machine that has not ended."""
    if not isinstance(pid, int) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
