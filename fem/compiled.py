"""The one decorator of compiled functions, and the folder where their machine code is kept.

numba's disk cache looks only at a function's own file: a kernel that calls one in another file would stay stale
after that one is edited. So the cache folder is keyed by a hash of all kernel sources, numba's version and the
processor, and a new version never loads old code. The folder is ``FEM_CACHE_DIR``, else the user's cache folder,
else (nowhere writable) a temporary one.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
from numba.core import config as numba_config

Function = TypeVar("Function", bound=Callable[..., Any])

FAST = {"contract", "reassoc", "nsz", "arcp"}
"""Fast-math flags of kernels: none of them lets the compiler assume that there are no NaN."""

ROOMS = ("assembly", "lanes", "mechanics", "solve")
"""Folders that hold kernels."""


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def source_key() -> str:
    """Hash of all kernel sources, numba's version and the processor."""
    here = Path(__file__).parent
    files = [Path(__file__), *sorted(path for room in ROOMS for path in (here / room).rglob("*.py"))]
    key = hashlib.sha256()
    for path in files:
        key.update(path.read_bytes())
    key.update(numba.__version__.encode())
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
            return base / name
    return Path(tempfile.gettempdir()) / f"fem-{os.getuid() if hasattr(os, 'getuid') else 0}" / name


def is_first_start() -> bool:
    """Nothing compiled yet for these sources: the first run will take some seconds longer."""
    return not any(cache_folder().rglob("*.nbc"))


def kernel(function: Function) -> Function:
    """Compile on first call, scalar errors as in numpy, kept on disk in ``cache_folder()``.

    Kernels own no memory: without numba's reference counting (``_nrt``) an array cannot be allocated in one, and
    passing groups of arrays costs nothing (it made one bar's march six times slower). ``forceinline`` spares calls
    with dozens of arguments.
    """
    return _compile(function, FAST)


def number_kernel(function: Function) -> Function:
    """A kernel that may take its operands for numbers: maxima then run on vectors. The caller looks for NaN."""
    return _compile(function, FAST | {"nnan"})


def _compile(function: Function, fastmath: set[str]) -> Function:
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": fastmath, "nogil": True}
    options |= {"forceinline": True, "_nrt": False}
    settings: Any = numba_config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder())
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = before
    return cast(Function, compiled)


@contextmanager
def without_blas() -> Iterator[None]:
    """Spare numba its search for SciPy's BLAS, which our kernels do not use: 0.2 s of every start.

    numba looks for it when it first loads or compiles a function, by importing ``scipy.linalg``. Meant for processes
    of our own (the command line); a program that uses numba's linear algebra itself must not be inside this.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401

        yield
    finally:
        del sys.modules[name]
