"""Waiting for what threads and other processes do, on machines of any speed."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which something has gone wrong, on however busy a machine."""


def wait_for(happens: Callable[[], object]) -> None:
    """Until it does."""
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
