"""Room on the disk that is kept for what has to be written at the end of a run, also where the disk is full then."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from fem.files.whole import replace_file

ROOM = 32_768
"""Bytes for a record and what a list of fields grows by between two writings of it."""
FULL = (errno.ENOSPC, errno.EDQUOT)
LISTS = 3
"""A list is written beside its final name, so two of it must fit, the new one longer."""


class Room:
    """Bytes of an open file that are given up when they are needed; of no file, there are none."""

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
        """``replace_file``, at the cost of the room where there is no other."""
        try:
            replace_file(path, content)
        except OSError as error:
            if error.errno not in FULL or not self._size:
                raise
            self.give()
            replace_file(path, content)

    def give(self) -> None:
        """Give the room back."""
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
