"""Which way kernels become machine code: ours, or plain numba where it is asked for or nothing else fits.

What was decided stands in the environment, so that processes of ours do the same without a word.
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
Python functions, and goes on with machine code as soon as that is there."""
OLDEST, NEWEST = (0, 60), (0, 68)
"""Versions of numba that our way, which uses parts of numba that change, was run with; as in ``pyproject.toml``."""
SUITED = f"numba>={OLDEST[0]}.{OLDEST[1]},<{NEWEST[0]}.{NEWEST[1] + 1}"
MISFIT = (
    "numba {installed} does not fit the compiler of fem ({reason}): plain numba compiles the solver instead, with the "
    "same results to round-off but slower starts; to avoid that, pip install '{suited}'"
)
ABSENT = "numba, which compiles the solver, cannot be imported ({reason}): pip install '{suited}'"

BROKEN = "numba, which compiles the solver, compiles nothing here ({reason}): pip install --force-reinstall '{suited}'"


def way() -> str:
    """What FEM_COMPILER asks for.
    Raises CommandError where there is no such way."""
    asked = os.environ.get(COMPILER, "")
    if asked not in ("", PLAIN, WAIT, PYTHON):
        raise CommandError(f"{COMPILER} may be {PLAIN}, {WAIT}, {PYTHON} or empty, not {asked!r}")
    return asked


def is_plain() -> bool:
    """Plain numba compiles.
    Raises CommandError where FEM_COMPILER asks for what does not exist."""
    asked = way()
    return asked == PLAIN or (asked != PYTHON and not is_of_known_version())


@cache
def installed(package: str) -> str:
    """The version of a package, without importing it; empty: it is not installed.
    As the folder is named that installers make; to import ``importlib.metadata``, which reads it, takes as long as a
    small run."""
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
    """The installed numba is one of those we know; if not, plain numba compiles from now on, and says so."""
    found = re.match(r"(\d+)\.(\d+)", numba_version())
    is_known = found is None or OLDEST <= (int(found[1]), int(found[2])) <= NEWEST
    if not is_known:
        take_plain(f"it is made for {SUITED}")
    return is_known


def in_short(error: Exception) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


misfits: list[str] = []
"""Why plain numba compiles though nobody asked for it; empty: it does not, or the process that started us knows."""


def take_plain(reason: str) -> None:
    """Use plain Python kernels from now on, also in child processes."""
    misfits.append(reason)
    tell_once(MISFIT.format(installed=numba_version(), reason=reason, suited=SUITED))
    os.environ[COMPILER] = PLAIN
