"""Loops over nodes run on wide registers: packed arithmetic of doubles in the machine code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import pytest

from fem.mechanics.bar import CONSTANTS, STORED, Bars, evaluate_bars
from fem.solve.newton.iterate import combine

FEATURES = dict(llvmlite.binding.get_host_cpu_features())
PACKED = re.compile(r"\bv(?:f(?:n?m(?:add|sub)\w*)|mul|add|sub|div)pd\b[^\n]*%[yz]mm")
pytestmark = pytest.mark.skipif(not FEATURES.get("avx2"), reason="the processor has no wide registers")


def packed(function: Callable[..., Any], *arguments: object) -> int:
    """How many instructions of a compiled function work on four or eight doubles at once."""
    # A fresh compilation: code from the disk cache cannot be disassembled.
    options = {name: value for name, value in function.targetoptions.items() if name != "nopython"}  # type: ignore[attr-defined]
    fresh = numba.njit(**options)(function.py_func)  # type: ignore[attr-defined]
    fresh.compile(tuple(a if isinstance(a, numba.types.Type) else numba.typeof(a) for a in arguments))
    return sum(len(PACKED.findall(text)) for text in fresh.inspect_asm().values())


WITH_TANGENT = numba.types.Omitted(True)


def test_evaluation_of_bars():
    u, one = np.zeros(6), np.zeros(1)
    bars = Bars(
        np.zeros((1, 2), np.int64), np.zeros((1, 2), np.int64), np.zeros((1, 5), np.int64),
        np.zeros((CONSTANTS, 1)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0, np.int64),
    )  # fmt: skip
    count = packed(evaluate_bars, False, 1.0, 0.0, u, u, u, bars, one, one, u, np.zeros((STORED, 1)), WITH_TANGENT)
    assert count > 50


def test_sums_of_vectors():
    assert packed(combine, np.zeros((1, 3)), np.zeros((1, 1)), 0, np.zeros(3)) >= 4


def test_a_loop_that_cannot_be_packed_is_told_from_one_that_can():
    def running(x, y):
        total = 0.0
        for k in range(x.shape[0]):
            if total < 1.0:
                total = total * x[k] + y[k]
        return total

    kernel = numba.njit(fastmath={"contract", "reassoc", "nsz", "arcp"})(running)
    assert packed(kernel, np.zeros(3), np.zeros(3)) == 0
