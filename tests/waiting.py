"""Waiting for what threads and other processes do, on machines of any speed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PATIENCE = 600.0
"""Seconds after which something has gone wrong, on however busy a machine."""


def wait_for(happens: Callable[[], object]) -> None:
    """Until it does."""
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def run_apart(coroutine: Coroutine[Any, Any, None]) -> None:
    """``asyncio.run`` in a thread: in this one a browser may have a loop of its own."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()
