"""Choice of the compiler of kernels: the program's own method, or plain numba if requested or necessary.

The decision is stored in the environment, so that child processes follow it without messages.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

from fem.errors import CommandError, tell_once

COMPILER = "FEM_COMPILER"
PLAIN, WAIT, PYTHON = "numba", "wait", "python"
"""Its values: plain numba; a run waits for its machine code; kernels stay Python functions. Empty: a run begins with
Python functions, and continues with machine code as soon as it is ready."""
OLDEST, NEWEST = (0, 60), (0, 68)
"""Versions of numba with which our method, which uses internal parts of numba, was tested; as in ``pyproject.toml``."""
SUITED = f"numba>={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}"
MISFIT = (
    "numba {installed} does not fit the compiler of fem ({reason}): plain numba compiles the solver instead, with the "
    "same results to round-off but slower starts; to avoid that, pip install '{suited}'"
)
ABSENT = "numba, which compiles the solver, cannot be imported ({reason}): pip install '{suited}'"

BROKEN = "numba, which compiles the solver, compiles nothing here ({reason}): pip install --force-reinstall '{suited}'"


def way() -> str:
    """The value of FEM_COMPILER.
    Raises CommandError for an unknown value."""
    asked = os.environ.get(COMPILER, "")
    if asked not in ("", PLAIN, WAIT, PYTHON):
        raise CommandError(f"{COMPILER} may be {PLAIN}, {WAIT}, {PYTHON} or empty, not {asked!r}")
    return asked


def is_plain() -> bool:
    """Whether plain numba compiles.
    Raises CommandError for an unknown value of FEM_COMPILER."""
    asked = way()
    return asked == PLAIN or (asked != PYTHON and not is_of_known_version())


@cache
def installed(package: str) -> str:
    """The version of a package, without importing it; empty: it is not installed.
    Read from the name of the folder made by installers; importing ``importlib.metadata`` takes as long as a small
    run."""
    for folder in sys.path:
        for found in Path(folder).glob(f"{package}-*.dist-info"):
            return found.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def numba_version() -> str:
    return installed("numba")


@cache
def is_of_known_version() -> bool:
    """Whether the installed numba is a tested version; if not, plain numba compiles from now on, with a notice."""
    found = re.match(r"(\d+)\.(\d+)", numba_version())
    is_known = found is None or OLDEST <= (int(found[1]), int(found[2])) <= NEWEST
    if not is_known:
        take_plain(f"it is made for {SUITED}")
    return is_known


def in_short(error: Exception) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


misfits: list[str] = []
"""Why plain numba compiles although it was not requested; empty: it does not, or the parent process has said so."""


def take_plain(reason: str) -> None:
    """Use plain Python kernels from now on, also in child processes."""
    misfits.append(reason)
    tell_once(MISFIT.format(installed=numba_version(), reason=reason, suited=SUITED))
    os.environ[COMPILER] = PLAIN
