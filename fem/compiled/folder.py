"""The folder where machine code is kept.

It is keyed by a hash of all kernel sources, of versions and of the processor: code of another version is never loaded.
It is ``FEM_CACHE_DIR``, else the user's cache folder, else (nowhere writable) a temporary one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import llvmlite
import llvmlite.binding

ROOMS = ("assembly", "compiled", "lanes", "mechanics", "solve")
"""Folders that hold kernels or make machine code of them."""
FILES = ("results/digits.py", "pictures/columns.py")
"""Files of kernels elsewhere."""

WARM = "complete"
"""Name of the file in the cache that says that everything is compiled."""

KEPT_DAYS = 30
"""Compiled code of other versions is kept so long after its last use."""
FIRST_START = "the solver is compiled once after every installation or update"
"""What to say then; it takes about half a minute."""


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def source_key() -> str:
    """Hash of all kernel sources, the versions of Python, numba and LLVM, and the processor."""
    here = Path(__file__).parents[1]
    rooms = sorted(path for room in ROOMS for path in (here / room).rglob("*.py"))
    key = hashlib.sha256()
    for path in [*rooms, *(here / name for name in FILES)]:
        key.update(path.read_bytes())
    for text in (version("numba"), llvmlite.__version__, str(sys.implementation.cache_tag)):
        key.update(text.encode())
    key.update(llvmlite.binding.get_host_cpu_name().encode())
    key.update(llvmlite.binding.get_host_cpu_features().flatten().encode())
    return key.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder() -> Path:
    """Where compiled code of exactly these sources is kept."""
    name = f"kernels-{source_key()}"
    chosen = os.environ.get("FEM_CACHE_DIR")
    candidates = [Path(chosen)] if chosen else []
    with suppress(RuntimeError):  # no home folder
        candidates.append(_user_cache() / "fem")
    for base in candidates:
        if _is_writable(base / name):
            with suppress(OSError):
                os.utime(base / name)
            return base / name
    return Path(tempfile.gettempdir()) / f"fem-{os.getuid() if hasattr(os, 'getuid') else 0}" / name


def is_first_start() -> bool:
    """Not everything has been compiled yet for these sources."""
    return not (cache_folder() / WARM).is_file()


def mark_warm() -> None:
    """Everything is compiled: say so in the cache, and delete there what no version used for ``KEPT_DAYS``.

    Every start renews the time of its folder, so none in use is deleted.
    """
    folder = cache_folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WARM).touch()
        for other in folder.parent.glob("kernels-*"):
            if other != folder and time.time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other, ignore_errors=True)
