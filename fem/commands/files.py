"""Atomic writes, growing files, file permissions; names, marks and locks of files.

Only regular files are opened, because reading a pipe without a writer, a terminal or a device could block. Names are
bytes to the system and text in records. Pictures and films contain a mark with the program and the deck; a file without
that mark belongs to the user, whatever its name.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import os
import platform
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from fem.errors import CommandError, tell_once

PART = ".fem-part"
"""Suffix of a file that is being written beside its final name."""


ATTEMPTS = 20


@contextmanager
def beside(path: Path, is_synced: bool = False, before: Path | None = None) -> Iterator[Path]:
    """A temporary file, which then replaces the other one atomically, never through a link. Windows refuses to replace
    a file that another program (ParaView, a virus scanner) has just opened: this tries again. OSError names the file.

    is_synced  flushed to the disk, so that it survives a power cut
    before     the old file is kept under this name
    """
    part = path.with_name(f"{path.name}.{threading.get_native_id()}.{os.getpid()}{PART}")
    try:
        part.unlink(missing_ok=True)
        yield part
        if is_synced:
            sync(part)
        if before is not None and path.exists():
            path.replace(before)
        for attempt in range(ATTEMPTS):
            try:
                part.replace(path)
                break
            except PermissionError:
                if os.name != "nt" or attempt == ATTEMPTS - 1:
                    raise
                time.sleep(0.05)
        if is_synced:
            with contextlib.suppress(OSError):
                sync(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def replace_file(
    path: Path, content: bytes | Iterable[bytes | memoryview], is_synced: bool = False, before: Path | None = None,
    mode: int = 0o666,
) -> None:  # fmt: skip
    """Write a file, or its pieces, as in ``beside``; ``mode``: its permissions."""
    with beside(path, is_synced, before) as part, open(part, "xb", opener=partial(os.open, mode=mode)) as file:
        file.writelines([content] if isinstance(content, bytes) else content)


def write_table(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A whole table as CSV, numbers with all digits."""
    replace_file(path, lines_of([heads, *rows]))


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def clear_parts(folder: Path) -> None:
    """Remove temporary files of killed processes in a folder, but not those of running ones."""
    for part in folder.glob(f"*{PART}"):
        number = part.name.removesuffix(PART).rpartition(".")[2]
        if not (number.isascii() and number.isdigit() and is_alive(int(number))):
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def write_new(path: Path, content: bytes, force: bool) -> Path:
    """Write a file that a command makes. CommandError: the file is there and holds something else."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; --output must name the deck to write")
    if os.path.lexists(path):
        if path.is_file() and path.read_bytes() == content:
            return path
        if not force:
            where = "choose another with --output FILE.inp, or overwrite it with --force"
            raise CommandError(f"{path} exists and contains another deck; {where}")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
    return path


def lines_of(rows: Iterable[Sequence[Any]]) -> bytes:
    """Lines of CSV; a cell never holds a line end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="backslashreplace")


def table_lines(path: str | Path) -> list[tuple[int, str]]:
    """Number and text of the non-empty lines of a table. CommandError: no such file, or no text in UTF-8."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(
            f"{path}:{line}: not text in UTF-8 (byte {content[error.start]:#04x}); save it as UTF-8"
        ) from None
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def table_rows(path: str | Path) -> list[tuple[int, list[str]]]:
    """Number and cells of the non-empty lines of a CSV table. CommandError as in ``table_lines``."""
    try:
        rows = [(number, next(csv.reader([line]))) for number, line in table_lines(path)]
    except csv.Error as error:
        raise CommandError(f"{path} is no table of cells between commas: {error}") from None
    return [(number, cells) for number, cells in rows if any(map(str.strip, cells))]


class GrowingFile:
    """A file that grows by complete pieces: a piece for which the disk has no space is removed, and writing ends.

    size       bytes in it;  is_broken: a piece had no space
    """

    def __init__(self, path: Path, size: int | None = None, is_new: bool = True) -> None:
        """``size``: cut it back to so many bytes. OSError: there is a file of that name, and it ought to be new.
        CommandError: it does not have so many bytes."""
        self._path = path
        self._file = path.open("xb" if is_new and size is None else "ab", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        if size is not None:
            if self.size < size:
                self._file.close()
                raise CommandError(f"{path} is shorter than it was at the checkpoint: start without --continue")
            self._file.truncate(size)
            self.size = size
        self.is_broken = False

    def add(self, content: bytes | memoryview) -> None:
        """Append all of it. OSError names the file."""
        left = memoryview(b"" if self.is_broken else content)
        try:
            while left:
                count = self._file.write(left)
                self.size += count
                left = left[count:]
        except OSError as error:
            self.is_broken = True
            with contextlib.suppress(OSError):
                self._file.truncate(self.size - (len(content) - len(left)))
            error.filename = str(self._path)
            raise

    def sync(self) -> None:
        """Write all of it through to the disk. OSError names the file."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            error.filename = str(self._path)
            raise

    def close(self) -> None:
        self._file.close()


NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path, flags: int = 0) -> BinaryIO:
    """Opened to be read, without waiting; links are followed. OSError: it cannot be, or is no regular file."""
    number = os.open(path, os.O_RDONLY | NONBLOCKING | flags)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


MARK = "made by fem, deck "
REPORT, PAPER = "report.html", "report.pdf"
"""What ``fem report`` writes into a folder of results: stale once the command that filled it runs again."""


def as_bytes(name: str) -> bytes:
    """A name the system gave, or one from a record."""
    return name.encode(errors="surrogateescape")


def on_disk(name: str) -> str:
    """Name of a file for this system, from its text (UTF-8) in a record."""
    try:
        return os.fsdecode(as_bytes(name))
    except UnicodeEncodeError:  # not a name of a file
        return name


def mark_of(deck: str) -> str:
    """The mark of pictures from the results of a deck, by its name; the same in every format, and ASCII."""
    return MARK + hashlib.sha256(as_bytes(deck)).hexdigest()[:16]


def is_marked(path: Path, mark: str = MARK) -> bool:
    """Whether a file exists and has the mark (of any deck, if none is given)."""
    try:
        return path.is_file() and mark.encode() in path.read_bytes()
    except OSError:
        return False


ROOM = 32_768
"""Bytes reserved for a record and the growth of a list of fields between two writings."""
FULL = (errno.ENOSPC, errno.EDQUOT)
LISTS = 3
"""A list is written beside its final name, so it must fit twice, with the new one longer."""


class Room:
    """Bytes of an open file, reserved on the disk and released when needed; without a file, none."""

    def __init__(self, file: int | None = None) -> None:
        """OSError: not even the first bytes are there."""
        self._file, self._size, self._start = file, 0, 0
        if file is not None:
            self._start = os.fstat(file).st_size
            self._take(ROOM)

    def keep(self, listed: int) -> None:
        """Grow with a list of ``listed`` bytes; on a full disk it stays what it was."""
        wanted = ROOM + LISTS * listed
        if self._file is not None and self._size and wanted > self._size:
            with contextlib.suppress(OSError):
                self._take(max(wanted, 2 * self._size))

    def replace(self, path: Path, content: bytes) -> None:
        """``replace_file``, using the reserved bytes if the disk is full; then they are reserved again."""
        try:
            replace_file(path, content)
        except OSError as error:
            if error.errno not in FULL or not self._size:
                raise
            self.give()
            replace_file(path, content)
        self.keep(-(-len(content) // LISTS))

    def give(self) -> None:
        if self._file is not None and self._size:
            os.ftruncate(self._file, self._start)
        self._size = 0

    def _take(self, size: int) -> None:
        """OSError on a full disk, which then has what it had."""
        assert self._file is not None
        end = self._start + self._size
        os.lseek(self._file, end, os.SEEK_SET)
        left = memoryview(bytes(size - self._size))
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, end)
            raise
        self._size = size


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
            # never through a link, which may lead to a file of the user's
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
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
        raise CommandError(f"{self._folder} is in use: {LOCK} in it keeps changing")

    def release(self) -> None:
        """Release the lock. Its file is deleted while still locked, so that no other process loses its own."""
        file, self._file, self.room = self._file, None, Room()
        if file is None:
            return
        if os.name != "nt":
            self._path.unlink(missing_ok=True)
        os.close(file)
        if os.name == "nt":  # Windows does not delete an open file, which may be another process's
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def __enter__(self) -> FolderLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_mine(self, file: int) -> bool:
        """Locks the open file; False if it is no longer the one in the folder."""
        from filelock import lock_descriptor

        can_lock = True
        try:
            if not lock_descriptor(file, blocking=False):
                raise self._taken(holder_of(start_of(file)))
        except OSError as error:
            if error.errno not in CANNOT:
                raise
            can_lock = False
        if not self._path.exists() or not os.path.samestat(os.fstat(file), self._path.stat()):
            return False
        content = start_of(file)
        holder = holder_of(content)
        if content.strip(b"\0") and not holder:
            what = f"{self._path} is not a lock file of this program"
            raise CommandError(f"{what}; it was not changed: remove or rename it")
        here = holder.get("host", platform.node()) == platform.node()
        if not here or (not can_lock and is_alive(holder.get("pid"))):
            raise self._taken(holder)
        return True

    def _taken(self, holder: dict[str, Any]) -> CommandError:
        who = f"process {holder['pid']} on {holder['host']}, since {holder['start']}" if holder else "another process"
        elsewhere = holder and holder["host"] != platform.node()
        hint = f"; if that process has ended, remove {self._path}" if elsewhere else ""
        return CommandError(
            f"{self._folder} is being written by another run ({who}); nothing was changed: wait until it ends, or "
            f"choose a folder with --output DIR{hint}"
        )


def free(folder: Path) -> None:
    """Remove a lock whose process was killed after its last file; that of a living one stays."""
    if (folder / LOCK).exists():
        with contextlib.suppress(CommandError, OSError), FolderLock(folder):
            pass


def start_of(file: int) -> bytes:
    """The first bytes of an open lock; empty if another process blocks reading (Windows)."""
    os.lseek(file, 0, os.SEEK_SET)
    with contextlib.suppress(PermissionError):
        return os.read(file, LONGEST)
    return b""


def process() -> dict[str, Any]:
    """Identity of this process, as locks record it."""
    return {"pid": os.getpid(), "host": platform.node(), "start": time.strftime("%Y-%m-%d %H:%M:%S")}


def holder_of(content: bytes) -> dict[str, Any]:
    """The process named in a lock; empty if there is none."""
    try:
        found = json.loads(content.split(b"\n")[0])
        return {"pid": int(found["pid"]), "host": str(found["host"]), "start": str(found["start"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def is_alive(pid: Any) -> bool:
    """Whether a process of this machine is running."""
    if not isinstance(pid, int) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


LARGEST = 1 << 26
"""Bytes: the largest unit has a few hundred thousand, so nothing longer is ours."""
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_safe(status: os.stat_result) -> bool:
    """Whether only the user or root may write it. Without owners (Windows) the user's folders are private."""
    return not hasattr(os, "getuid") or (status.st_uid in (0, os.getuid()) and not status.st_mode & OTHERS)


def is_safe_folder(path: Path) -> bool:
    """Whether it is a folder, not a link to one, that only the user or root may write."""
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and is_safe(status)


def is_own_folder(path: Path) -> bool:
    """A safe folder that belongs to the user."""
    return is_safe_folder(path) and (not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid())


def make_folder(path: Path) -> bool:
    """Creates a folder for the user alone, with those above it; returns whether it is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def read_file(path: Path) -> bytes:
    """The content of a plain file that only the user or root may write, up to ``LARGEST`` bytes.
    Raises OSError for anything else: links, pipes, folders, files of other users."""
    with open_regular(path, getattr(os, "O_NOFOLLOW", 0)) as file:
        if not is_safe(os.fstat(file.fileno())):
            raise PermissionError(f"{path} is not a file that only the user may write")
        return file.read(LARGEST)


def write_file(path: Path, content: bytes) -> None:
    """Writes a file atomically; it replaces anything except a non-empty folder.
    Raises OSError, without leaving temporary files."""
    with contextlib.suppress(OSError):
        path.rmdir()
    replace_file(path, content, mode=0o600)


TURNS = "lock"
PATIENCE = 300.0
"""Seconds that a process waits for another compiler before it compiles itself: ten times what everything takes."""
WAITING = "another process is compiling the solver: waiting up to {seconds:g} s for it"
TIRED = "the other process has not finished compiling: compiling in this one"


@cache
def _lock(path: Path) -> Any:
    from filelock import FileLock  # needed only to compile

    return FileLock(path, mode=0o600)


_threads = threading.RLock()


@contextmanager
def turn(folder: Path, patience: float = PATIENCE, unit: str = "") -> Iterator[None]:
    """Compile, or compile this ``unit``, while no other process does; a dead process holds no lock, because the system
    releases it. If no lock is possible (a read-only folder, a full disk) every process compiles for itself."""
    from filelock import Timeout

    path = folder / (f"{unit}.{TURNS}" if unit else TURNS)
    with _threads:
        lock = _lock(path)
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
                if unit:  # who has waited for this file finds the unit
                    path.unlink(missing_ok=True)
                lock.release()
