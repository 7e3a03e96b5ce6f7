"""Loops over nodes run on wide registers: packed arithmetic of doubles in the machine code."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import llvmlite
import llvmlite.binding
import numpy as np
import pytest

from fem.compiled import kernel, number_kernel
from fem.compiled.choice import is_plain
from fem.forces.bar import CONSTANTS, STORED, Bars, evaluate_bars
from fem.forces.waves import foresee, sea_of
from fem.solve.newton.evaluate import combine
from tests.machine_code import assembly
from tests.trials import trial

FEATURES = dict(llvmlite.binding.get_host_cpu_features())
PACKED = re.compile(r"\bv(?:f(?:n?m(?:add|sub)\w*)|mul|add|sub|div)pd\b[^\n]*%[yz]mm")
OLD = tuple(map(int, llvmlite.__version__.split(".")[:2])) < (0, 45)
pytestmark = [
    pytest.mark.skipif(not FEATURES.get("avx2"), reason="the processor has no wide registers"),
    pytest.mark.skipif(is_plain(), reason="plain numba makes other machine code"),
]


def packed(function: Any, *arguments: object) -> int:
    """How many instructions of a compiled function work on four or eight doubles at once."""
    return len(PACKED.findall(assembly(function, *arguments)))


@kernel
def evaluate_all(state, bars, force, flow, bar_tangent):
    return evaluate_bars(state, bars, True, force, flow, bar_tangent)


def test_evaluation_of_bars():
    u = np.zeros(6)
    bars = Bars(
        np.zeros((1, 2), np.int64), np.zeros((1, 2), np.int64), np.zeros((1, 5), np.int64),
        np.zeros((CONSTANTS, 1)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0, np.int64),
    )  # fmt: skip
    count = packed(evaluate_all, trial(u), bars, u, u, np.zeros((STORED, 1)))
    assert count > 50


@pytest.mark.skipif(OLD, reason="this LLVM does not see that the loop runs through memory in order")
def test_sums_of_vectors():
    assert packed(combine, np.zeros((1, 3)), np.zeros((1, 1)), 0, np.zeros(3)) >= 4


def test_sums_of_waves():
    """Of all waves at once, what stands side by side: an index that may count from the end made gathers of loads."""
    model = SimpleNamespace(
        sea=np.ones((1, 6)),
        mesh=SimpleNamespace(up=2),
        water=SimpleNamespace(level=0.0, seabed=-9.0),
        waves=[SimpleNamespace(stretching="WHEELER")],
    )
    sea = sea_of(model, np.zeros(1, np.int64), np.ones(1), 0)
    its = assembly(foresee, trial(np.zeros(3)), sea)
    assert len(PACKED.findall(its)) > 100 and "gather" not in its


@number_kernel
def largest_square(x):
    value = 0.0
    for k in range(x.shape[0]):
        value = max(value, x[k] * x[k])
    return value


def test_maxima_of_numbers_beside_others():
    """numba gives all calls of ``max`` the code it found last, with the flags of that caller."""

    @kernel
    def careful(x, y):
        return max(x[0], y[0]) + largest_square(x)

    assert re.search(r"vmaxpd[^\n]*%[yz]mm", assembly(careful, np.zeros(3), np.zeros(3)))

    @kernel
    def first_careful(x, y):
        value = max(x[0], y[0])
        return largest_square(y) + max(value, x[1])

    assert re.search(r"vmaxpd[^\n]*%[yz]mm", assembly(first_careful, np.zeros(3), np.zeros(3)))


def test_a_loop_that_cannot_be_packed_is_told_from_one_that_can():
    @kernel
    def running(x, y):
        total = 0.0
        for k in range(x.shape[0]):
            if total < 1.0:
                total = total * x[k] + y[k]
        return total

    assert packed(running, np.zeros(3), np.zeros(3)) == 0
