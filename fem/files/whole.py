"""Files that are whole or not there; regular files; names of files, and the marks by which pictures are known as ours.

A pipe without a writer, a terminal or a device would be waited for without end: only regular files are opened. Names
are bytes to the system and text to every record and list. Pictures and films are drawn anywhere, also into folders
without a record: they say in their own description that they are of this program, and from which deck. One of our
names without the mark is not ours.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from fem.errors import CommandError

PART = ".fem-part"
"""Ending of a file that is being written beside its final name."""


def replace_file(path: Path, content: bytes, attempts: int = 20) -> None:
    """Write a file beside its final name, then rename: whole or not at all, and never through a link.

    Windows refuses to replace a file that another program (ParaView, a virus scanner) has just opened: try again.
    OSError names the file.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        part.unlink(missing_ok=True)
        with part.open("xb") as file:
            file.write(content)
        for attempt in range(attempts):
            try:
                part.replace(path)
                return
            except PermissionError:
                if os.name != "nt" or attempt == attempts - 1:
                    raise
                time.sleep(0.05)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def write_new(path: Path, content: bytes, force: bool) -> Path:
    """Write a file that a command makes. CommandError: the file is there and holds something else."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; --output names the deck to write")
    if os.path.lexists(path):
        if path.is_file() and path.read_bytes() == content:
            return path
        if not force:
            where = "--output FILE.inp says where to write, --force writes over it"
            raise CommandError(f"{path} exists and holds another deck; {where}")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
    return path


def lines_of(rows: Iterable[Sequence[Any]]) -> bytes:
    """Lines of CSV; a cell never holds a line end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="backslashreplace")


class GrowingFile:
    """A file that grows by whole pieces: what a full disk cuts short is taken back, and nothing comes after it.

    size       bytes in it;  is_broken: a piece had no room
    """

    def __init__(self, path: Path, size: int | None = None, is_new: bool = True) -> None:
        """``size``: cut it back to so many bytes. OSError: there is a file of that name, and it ought to be new.

        CommandError: it does not have so many bytes.
        """
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

    def close(self) -> None:
        self._file.close()


NONBLOCKING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> BinaryIO:
    """Opened to be read, without waiting; links are followed. OSError: it cannot be, or is no regular file."""
    number = os.open(path, os.O_RDONLY | NONBLOCKING)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


MARK = "made by fem, deck "
REPORT = "report.html"
"""What ``fem report`` writes into a folder of results: stale once the command that filled it runs again."""


def as_bytes(name: str) -> bytes:
    """A name the system gave, or one from a record."""
    return name.encode(errors="surrogateescape")


def on_disk(name: str) -> str:
    """A name from a record, whose text is UTF-8, as this system asks for it."""
    try:
        return os.fsdecode(as_bytes(name))
    except UnicodeEncodeError:  # no system gave that
        return name


def mark_of(deck: str) -> str:
    """The mark of pictures from the results of a deck, by its name; the same in every format, and ASCII."""
    return MARK + hashlib.sha256(as_bytes(deck)).hexdigest()[:16]


def is_marked(path: Path, mark: str = MARK) -> bool:
    """A file that exists and bears the mark (of any deck, if none is given)."""
    try:
        return path.is_file() and mark.encode() in path.read_bytes()
    except OSError:
        return False
