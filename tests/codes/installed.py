"""Which codes are installed: ccx on PATH, and packages of a Python, FEM_CODES_PYTHON or the one of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

import pytest

from fem.codes.compare import RUN

PYTHON = os.environ.get("FEM_CODES_PYTHON", sys.executable)


@cache
def is_installed(code: str) -> bool:
    if code == "calculix":
        return shutil.which(RUN[code]) is not None
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({RUN[code]!r}) is None)"
    return subprocess.run([PYTHON, "-c", find]).returncode == 0


def skip_without(code: str) -> None:
    if not is_installed(code):
        pytest.skip(f"no {RUN[code]}")
