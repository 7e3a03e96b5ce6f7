"""Free memory, and the memory that a model needs: reported before the first increment, not when it is exhausted."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

PER_NODE, PER_ELEMENT = 500.0, 1200.0
"""Bytes that a run needs in addition to the model: measured on chains of 1e5 to 1e6 bars. Factors of nets and large
printed tables need more."""
LIBRARIES = 3.5e8
"""Address space that numpy, scipy and LLVM need with two processors; with less they end the process."""
SHORT = (
    "this model needs about {needed:.2g} GB of memory, and {free:.2g} GB are free: the run may be stopped for want of "
    "it; use fewer elements, or a machine with more"
)
NO_LIBRARIES = "not enough memory: the libraries of the program need {needed:.2g} GB, and {free:.2g} GB are left"


def run_bytes(nodes: int, elements: int) -> float:
    """Smallest memory of a run of a model that has been read."""
    return PER_NODE * nodes + PER_ELEMENT * elements


def free_bytes() -> float:
    """Memory available to this process; infinite if unknown."""
    return min(address_space_left(), machine_left(), group_left())


def shortage(nodes: int, elements: int) -> str:
    """Message before a run; empty where the memory suffices."""
    needed, free = run_bytes(nodes, elements), free_bytes()
    return SHORT.format(needed=needed / 1e9, free=free / 1e9) if needed > free else ""


def without_libraries() -> str:
    """Message: why libraries cannot be loaded; empty if they can."""
    left = address_space_left()
    return NO_LIBRARIES.format(needed=LIBRARIES / 1e9, free=left / 1e9) if left < LIBRARIES else ""


def machine_left() -> float:
    """Free memory of the machine, swap included."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {line.split()[0]: float(line.split()[1]) for line in lines}
        if "MemAvailable:" in found:
            return 1024.0 * (found["MemAvailable:"] + found.get("SwapFree:", 0.0))
    return math.inf


def address_space_left() -> float:
    """Free address space under ``ulimit -v``."""
    with contextlib.suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            used = float(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
            return float(limit) - used
    return math.inf


def group_left() -> float:
    """Memory left in a container (control groups, version 2); its file cache can be released."""
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        place = Path("/sys/fs/cgroup", own.lstrip("/"))
        place = place if (place / "memory.max").is_file() else Path("/sys/fs/cgroup")
        limit = float((place / "memory.max").read_text())  # ValueError: it is "max"
        rows = (place / "memory.stat").read_text().splitlines()
        files = next(float(row.split()[1]) for row in rows if row.startswith("inactive_file "))
        return limit - float((place / "memory.current").read_text()) + files
    return math.inf
