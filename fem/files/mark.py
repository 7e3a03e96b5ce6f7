"""Pictures and films say in their own description that they are of this program, and from which deck.

They are drawn anywhere, also into folders without a record; a picture of one of our names without the mark is not ours.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from fem.files.names import as_bytes

MARK = "made by fem, deck "


def mark_of(deck: str) -> str:
    """The mark of pictures from the results of a deck, by its name; the same in every format, and ASCII."""
    return MARK + hashlib.sha256(as_bytes(deck)).hexdigest()[:16]


def is_marked(path: Path, mark: str = MARK) -> bool:
    """A file that exists and bears the mark (of any deck, if none is given)."""
    try:
        return path.is_file() and mark.encode() in path.read_bytes()
    except OSError:
        return False
