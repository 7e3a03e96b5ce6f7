"""Names of files: as the system has them, bytes, and as text, which every record and list is; marks of pictures.

Pictures and films are drawn anywhere, also into folders without a record: they say in their own description that they
are of this program, and from which deck. One of our names without the mark is not ours.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

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
