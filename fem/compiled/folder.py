"""The folder where machine code is kept.

Its name is a hash of everything that affects code: code of another version is never loaded. It is in ``FEM_CACHE_DIR``,
else in the user's cache folder. It is used only if only the user or root may write it; a complete read-only one (in a
container, for example) is used unchanged. Without a usable folder, a private one is deleted when the process ends.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding
import numpy as np

from fem.commands.files import is_own_folder, is_safe_folder, make_folder, read_file, write_file
from fem.compiled.choice import is_plain, misfits, numba_version, take_plain
from fem.errors import tell_once

ROOMS = ("assembly", "compiled", "forces", "linear", "solve", "study/lanes", "study/sensitivity", "study/variation")
"""Folders with kernels, or with sources of the compiler."""
FILES = ("model/curves.py", "runs/digits.py")
"""Other files with kernels, or with constants of kernels."""
HARMLESS = ("NUMBA_CACHE_DIR", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER")
"""Variables of numba that do not affect code; any other may, even an unknown one."""
CONFIGURATION = ".numba_config.yaml"
"""File in the current folder from which numba reads the same settings."""

WARM, WARM_PLAIN = "complete", "complete-numba"
"""Names of the files in the cache that mark it as complete, compiled by us or by plain numba."""
MISFIT = "misfit"
"""Name of the file in the cache with the reason why plain numba compiles there although it was not requested."""
MARK = "CACHEDIR.TAG"
MARK_TEXT = b"""Signature: 8a477f597d28d172789f06886806bc55
# Machine code of fem, which makes it again when it is gone. See https://bford.info/cachedir/
"""
"""Content of the file that marks a folder as a cache of this program: backups omit it, and only such folders are
deleted."""

KEPT_DAYS = 30
"""Days after its last use for which compiled code of other versions is kept."""
FIRST_START = "the solver is compiled once after every installation or update"
"""Message of ``fem warmup``."""
FOREIGN = "{folder} belongs to another user, or others may write to it: code in it is not run"
NOWHERE = (
    "compiled code cannot be stored, so every start compiles it again: there is no folder for it; set FEM_CACHE_DIR to "
    "one of your own"
)


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


def kernel_files() -> list[Path]:
    """All sources of kernels and of the compiler."""
    here = Path(__file__).parents[1]
    rooms = sorted(path for room in ROOMS for path in (here / room).rglob("*.py"))
    return [*rooms, *(here / name for name in FILES)]


def source_key() -> str:
    """Hash of everything that affects code: kernel sources, versions, settings of numba, the processor."""
    key = hashlib.sha256()
    for path in kernel_files():
        key.update(path.read_bytes())
    for text in surroundings():
        key.update(f"{text}\n".encode(errors="backslashreplace"))
    return key.hexdigest()[:16]


def surroundings() -> Iterator[str]:
    """Everything but the source that changes compiled code."""
    yield from (numba_version(), llvmlite.__version__, np.__version__, sys.version)
    yield f"{llvmlite.binding.llvm_version_info} {llvmlite.binding.get_process_triple()}"
    yield llvmlite.binding.get_host_cpu_name()
    yield llvmlite.binding.get_host_cpu_features().flatten()
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    yield from (f"{name}={settings[name]}" for name in sorted(settings) if not name.startswith(HARMLESS))
    if Path(CONFIGURATION).is_file():
        with suppress(OSError):
            yield Path(CONFIGURATION).read_text(encoding="utf-8", errors="backslashreplace")


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _bases() -> Iterator[Path]:
    chosen = os.environ.get("FEM_CACHE_DIR")
    if chosen:
        yield Path(chosen).absolute()
    with suppress(RuntimeError):  # no home folder
        yield _user_cache() / "fem"


@cache
def cache_folder() -> Path:
    """The folder of compiled code for exactly these sources."""
    name = f"kernels-{source_key()}"
    for number, base in enumerate(_bases()):
        if is_usable(base / name):
            if number:
                os.environ["FEM_CACHE_DIR"] = str(base)  # child processes find the same one, without messages
            with suppress(OSError):  # there is none
                reason = read_file(base / name / MISFIT).decode(errors="backslashreplace")
                if not is_plain():
                    take_plain(reason)
            return base / name
    return _private_folder() / name


def is_usable(folder: Path) -> bool:
    """Whether code in this folder may be run, and it is complete or may be extended; created if missing."""
    try:
        make_cache(folder)
        if not is_safe_folder(folder):
            tell_once(FOREIGN.format(folder=folder))
            return False
    except OSError:
        return False
    with suppress(OSError):
        os.utime(folder)
    return is_warm(folder) or _is_writable(folder)


def make_cache(folder: Path) -> None:
    """Creates a cache if there is no folder yet."""
    if make_folder(folder):
        with suppress(OSError):  # a full disk: a folder without the mark is used, but never deleted
            write_file(folder / MARK, MARK_TEXT)


private: set[Path] = set()
"""The folder that this process deletes at its end, if any."""


def _private_folder() -> Path:
    """A folder for this process and its child processes, deleted at the end."""
    tell_once(NOWHERE)
    try:
        base = Path(tempfile.mkdtemp(prefix="fem-"))
    except OSError:
        return Path(os.devnull)  # nothing can be stored: code stays in memory
    owner = os.getpid()
    private.add(base)
    atexit.register(lambda: shutil.rmtree(base, ignore_errors=True) if os.getpid() == owner else None)
    os.environ["FEM_CACHE_DIR"] = str(base)
    return base


def is_warm(folder: Path) -> bool:
    """Whether everything has been compiled into this folder."""
    return os.path.isfile(folder / (WARM_PLAIN if is_plain() else WARM))  # noqa: PTH113  False, too, where it is locked


def is_first_start() -> bool:
    """Whether not everything has been compiled yet for these sources."""
    return not is_warm(cache_folder())


def mark_warm() -> None:
    """Marks the cache as complete."""
    folder = cache_folder()
    with suppress(OSError):
        make_cache(folder)
        write_file(folder / (WARM_PLAIN if is_plain() else WARM), b"")
        if misfits:
            write_file(folder / MISFIT, misfits[0].encode(errors="backslashreplace"))
    delete_old()


def delete_old() -> None:
    """Deletes caches that no version has used for ``KEPT_DAYS``.
    Every start renews the time of its folder, so no used folder is deleted, nor is one without our mark."""
    here = cache_folder()
    with suppress(OSError):
        for other in here.parent.glob("kernels-*"):
            if other != here and is_old_cache(other):
                shutil.rmtree(other, ignore_errors=True)


def is_old_cache(folder: Path) -> bool:
    """A cache of ours that no version used for ``KEPT_DAYS``."""
    try:
        is_ours = is_own_folder(folder) and read_file(folder / MARK) == MARK_TEXT
        return is_ours and time.time() - folder.stat().st_mtime > KEPT_DAYS * 86_400
    except OSError:
        return False
