"""The kernels that tests share, compiled together: those of the first start, and what is called in water and wind."""

from __future__ import annotations

from collections.abc import Collection

from fem.compiled.interpreted import Job, rehearsal
from fem.deck import parse_deck
from fem.runs.record import SilentSink
from fem.solve.loop import solve
from fem.study.warmup import compile_all
from tests.forces.families.examples import FLOWING

PROCEDURES = ("*STATIC\n1., 1.", "*DYNAMIC, DIRECT\n0.01, 0.02", "*DYNAMIC, DIRECT, EXPLICIT\n1e-3, 2e-3")


def wet_units() -> Collection[Job]:
    """As seen by running kernels as Python functions."""
    with rehearsal() as wanted:
        for procedure in PROCEDURES:
            solve(parse_deck(FLOWING.format(procedure=procedure)), SilentSink())
    return wanted


def compile_kernels() -> None:
    """On all processors; others that begin at the same time wait."""
    compile_all(wet_units)
