"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

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
