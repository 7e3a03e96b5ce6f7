"""Names of files: as the system has them, bytes, and as text, which every record and list is."""

from __future__ import annotations

import os


def as_bytes(name: str) -> bytes:
    """A name the system gave, or one from a record."""
    return name.encode(errors="surrogateescape")


def on_disk(name: str) -> str:
    """A name from a record, whose text is UTF-8, as this system asks for it."""
    try:
        return os.fsdecode(as_bytes(name))
    except UnicodeEncodeError:  # no system gave that
        return name
