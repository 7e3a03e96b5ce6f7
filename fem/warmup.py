"""Compile everything ahead: ``python -m fem warmup``, and the first run after an installation or update."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import numpy as np

from fem.compiled.folder import cache_folder, is_first_start, mark_warm
from fem.compiled.kernel import rehearsal
from fem.compiled.workers import build_all
from fem.deck import parse_deck
from fem.results.digits import NUMBER, lines
from fem.results.record import SilentSink
from fem.solve.loop import solve

DECK = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M, MASS=LUMPED
1.
*BOUNDARY
1, 1, 3
3, 1, 3
*INITIAL CONDITIONS, TYPE=STRESS
BAR, 1e4
*STEP, NLGEOM
*STATIC, DIRECT
1., 1.
*DLOAD
BAR, GRAV, 9.81, 0., -1., 0.
*EL PRINT, ELSET=BAR
S
*END STEP
*STEP
*FREQUENCY
1
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.02
*END STEP
"""
MESSAGE = "the solver is compiled once after every installation or update"


def compile_all() -> None:
    """Compile what every kind of run calls: statics, modes, a motion, and the numbers of tables.

    Which kernels these are is seen by running them as Python functions.
    """
    with rehearsal() as wanted:
        lines(np.zeros((1, 1)), np.full((1, 1), NUMBER, np.uint8))
        for solver in ("AUTO", "DIRECT"):
            solve(parse_deck(DECK), SilentSink(), solver=solver)
    build_all(wanted)
    mark_warm()


def warmup(stream: TextIO | None = None) -> None:
    """``fem warmup``: compile what is not compiled yet, and say so."""
    out = stream or sys.stdout
    if not is_first_start():
        print(f"everything is compiled already, in {cache_folder()}", file=out)
        return
    began = time.perf_counter()
    with announced(out):
        compile_all()
    print(f"compiled in {time.perf_counter() - began:.1f} s, in {cache_folder()}", file=out)


@contextmanager
def announced(stream: TextIO) -> Iterator[None]:
    """Say that the solver is being compiled: with the time spent, where somebody watches."""
    if not stream.isatty():
        print(f"note: {MESSAGE}; this takes about a minute", file=stream, flush=True)
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with contextlib.suppress(BrokenPipeError), Progress(*columns, console=Console(file=stream), transient=True) as bar:
        bar.add_task(MESSAGE, total=None)
        yield
