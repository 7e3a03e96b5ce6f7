"""The one decorator of compiled functions, and the folder where their machine code is kept.

numba's disk cache looks only at a function's own file: a kernel that calls one in another file would stay stale
after that one is edited. So the cache folder is keyed by a hash of all kernel sources, numba's version and the
processor, and a new version never loads old code. The folder is ``FEM_CACHE_DIR``, else the user's cache folder,
else (nowhere writable) a temporary one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
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
"""Folders that hold kernels; ``results`` has one file of them."""

WARM = "complete"
"""Name of the file in the cache that says that everything is compiled."""

KEPT_DAYS = 30
"""Compiled code of other versions is kept so long after its last use."""


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def source_key() -> str:
    """Hash of all kernel sources, numba's version and the processor."""
    here = Path(__file__).parent
    files = [
        Path(__file__),
        here / "results" / "digits.py",
        *sorted(path for room in ROOMS for path in (here / room).rglob("*.py")),
    ]
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


def kernel(function: Function) -> Function:
    """Compile on first call, scalar errors as in numpy, kept on disk in ``cache_folder()``.

    Kernels own no memory: without numba's reference counting (``_nrt``) an array cannot be allocated in one, and
    passing groups of arrays costs nothing (it made one bar's march six times slower). ``forceinline`` spares calls
    with dozens of arguments. Python's lock is free meanwhile, so that results are written while the march goes on.
    """
    return _compile(function, FAST, is_inner=False)


def inner_kernel(function: Function) -> Function:
    """A kernel that only other kernels call: without an entry for Python it is compiled much faster.

    The arrays it is given lie apart: none that it writes is given twice (``tests/test_architecture.py``). So its loops
    run on vectors without a look at where memory lies.
    """
    return _compile(function, FAST, is_inner=True)


def called_kernel(function: Function) -> Function:
    """An inner kernel that is called, not inlined: for what few models need or what takes long anyway.

    The kernels around it stay smaller, and are compiled in less time.
    """
    return _compile(function, FAST, is_inner=True, inline=False)


def number_kernel(function: Function) -> Function:
    """An inner kernel that may take its operands for numbers: maxima then run on vectors. The caller looks for NaN."""
    return _compile(function, FAST | {"nnan"}, is_inner=True)


def _compile(function: Function, fastmath: set[str], is_inner: bool, inline: bool = True) -> Function:
    options: dict[str, Any] = {
        "error_model": "numpy",
        "fastmath": fastmath,
        "forceinline": inline,
        "nogil": True,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": is_inner,
        "_nrt": False,
    }
    settings: Any = numba_config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder())
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = before
    if is_inner:
        compiled._compiler._customize_flags = _apart
        # Python would call an address that is not there: a plain error in place of a crash.
        compiled._insert = lambda *_, **__: None
        compiled._compile_for_args = _refuse
    return cast(Function, compiled)


def _apart(flags: Any) -> Any:
    """numba's compilation flags with the promise that arrays do not overlap."""
    flags.noalias = True
    return flags


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """A kernel has code for arguments like these, in memory or on disk: calling it takes no compilation."""
    dispatcher: Any = function
    kinds = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
    if kinds in dispatcher.overloads:
        return True
    kept = dispatcher._cache
    return kept._index_key(kinds, dispatcher.targetctx.codegen()) in kept._cache_file._load_index()


def _refuse(*_: Any, **__: Any) -> None:
    raise TypeError("an inner kernel has no entry for Python: call it from a kernel, or make it one")


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
