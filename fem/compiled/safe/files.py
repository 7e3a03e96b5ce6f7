"""Files and folders that nobody but the user may write, and that are read only as long as that holds."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

LARGEST = 1 << 26
"""Bytes: the largest unit has a few hundred thousand, so nothing longer is ours."""
OTHERS = stat.S_IWGRP | stat.S_IWOTH
SPECIAL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A symbolic link is not followed, a pipe is not waited for."""


def is_safe(status: os.stat_result) -> bool:
    """Only the user or root may write it. Where the system knows no owners (Windows) the user's folders are private."""
    return not hasattr(os, "getuid") or (status.st_uid in (0, os.getuid()) and not status.st_mode & OTHERS)


def is_safe_folder(path: Path) -> bool:
    """A folder, not a link to one, that only the user or root may write."""
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and is_safe(status)


def is_own_folder(path: Path) -> bool:
    """A safe folder that belongs to the user."""
    return is_safe_folder(path) and (not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid())


def make_folder(path: Path) -> bool:
    """A folder for the user alone, with those above it; whether it was made now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def read_file(path: Path) -> bytes:
    """The content of a plain file that only the user or root may write, up to ``LARGEST`` bytes.

    Raises OSError for anything else: links, pipes, folders, files of other users.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | SPECIAL)) as file:
        status = os.fstat(file.fileno())
        if not (stat.S_ISREG(status.st_mode) and is_safe(status)):
            raise PermissionError(f"{path} is not a file that the user alone may write")
        return file.read(LARGEST)


def write_file(path: Path, content: bytes) -> None:
    """A whole file or none; it takes the place of whatever stood there, except a folder with something in it.

    Raises OSError, and leaves nothing behind then.
    """
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        with contextlib.suppress(OSError):
            path.rmdir()
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
