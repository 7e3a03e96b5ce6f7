"""What a user has to know of where code is kept and who compiles it, though no run is at fault."""

from __future__ import annotations

import contextlib
import sys

_told: set[str] = set()


def tell_once(text: str) -> None:
    """A line on stderr, once in a process: on stdout it would be part of the answers."""
    if text not in _told:
        _told.add(text)
        with contextlib.suppress(OSError, ValueError):  # nobody reads
            print(f"note: {text}", file=sys.stderr, flush=True)
