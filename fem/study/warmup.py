"""Compile the solver in advance: ``python -m fem warmup``; otherwise the first runs after an installation do it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

import numpy as np

from fem.commands.example import shipped
from fem.commands.files import turn
from fem.compiled.choice import is_plain
from fem.compiled.folder import FIRST_START, cache_folder, is_first_start, mark_warm
from fem.compiled.interpreted import Job, rehearsal
from fem.compiled.workers import build_all
from fem.deck import parse_deck, read_model
from fem.model import Model
from fem.runs.console import say
from fem.runs.digits import NUMBER, lines
from fem.runs.record import Requests, SilentSink
from fem.solve.loop import solve
from fem.study.growth import TangentGrowth

MOTION = "*DYNAMIC, DIRECT\n0.01, 0.02\n"
DECK = f"""*NODE, NSET=ALL
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
{MOTION}*END STEP
"""
EXPLICIT = "*DYNAMIC, EXPLICIT, DIRECT\n1e-4, 2e-4\n"
ROPE = f"""*NODE
1, 0., 0., 0.
2, 0., 0., -1.
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPE, MATERIAL=HEMP
1.
*BOUNDARY
1, 1, 3
2, 1, 2
*STEP, NLGEOM
{MOTION}*CONTROLS, IMPACT=EVENT
*DLOAD
BOB, GRAV, 9.81, 0, 0, -1
*END STEP
"""


TWISTED = f"""*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0.1, 0.
*ELEMENT, TYPE=B31, ELSET=WIRE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1.
*DAMPING, ALPHA=0.1, BETA=0.01
*BEAM GENERAL SECTION, ELSET=WIRE, MATERIAL=M
1., 1e-5, 0., 1e-5, 2e-5

, 4e5
*BOUNDARY
1, ENCASTRE
*STEP, NLGEOM
{MOTION}*CLOAD
3, 3, -1.
*END STEP
"""
LONG = {"twisted_cable", "turned_hose", "grown_riser", "lazy_wave", "lazy_wave_laid"}
"""Decks whose paths take ten seconds and more as Python functions; others call nearly all of their kernels."""


def compile_all(further: Callable[[], Collection[Job]] = tuple) -> None:
    """Compile what runs, tangent maps and plots call, and ``further`` units, if everything is not there yet.

    Kernels and their argument types are found by running them as Python functions. If another process compiles them
    already, this waits for it.
    """
    with turn(cache_folder()):
        if is_first_start() and build_all(sorted({*wanted_units(), *further()}, key=place_in_queue)):
            mark_warm()


def wanted_units() -> Collection[Job]:
    """Kernels called by a few tiny decks, and by the beginnings of those that come with the program."""
    with rehearsal() as wanted:
        lines(np.zeros((1, 1)), np.full((1, 1), NUMBER, np.uint8))
        for solver in ("AUTO", "DIRECT"):
            solve(parse_deck(DECK), SilentSink(), Requests(solver))
        for text in (DECK.replace(MOTION, EXPLICIT), ROPE, ROPE.replace("EVENT", "MOREAU")):
            solve(parse_deck(text), SilentSink())
        for text in (DECK, ROPE):
            TangentGrowth(parse_deck(text), 1).follow()
        if not is_plain():  # numba takes half an hour for these
            solve(parse_deck(TWISTED), SilentSink())
            for path in sorted((shipped() / "inputs").glob("*.inp")):
                if path.stem not in LONG:
                    solve(shortened(read_model(path)), SilentSink())
    return wanted


def shortened(model: Model) -> Model:
    """A model with two increments in each dynamic step, and without responses over many frequencies. Automatic
    increments are so short that errors do not shorten them, which would give a hundred of them.
    """
    steps = []
    for step in model.steps:
        if dynamic := step.dynamic:
            dt = dynamic.dt if dynamic.direct else dynamic.dt / 64.0
            step = replace(step, procedure=replace(dynamic, dt=dt, period=min(dynamic.period, 2.0 * dt)))
        if not step.harmonic:
            steps.append(step)
    return replace(model, steps=tuple(steps))


def place_in_queue(job: Job) -> tuple[int, int]:
    """Order of compilation: first the march and what shares its parts, the longest (with the most arguments) first;
    last the explicit march, with few arguments.
    """
    name, kinds = job
    length = len(repr(kinds))
    if name.startswith(("fem.solve.newton", "fem.study.variation")):
        return 0, -length
    return (2, length) if name.startswith("fem.solve.explicit") else (1, -length)


def warmup(stream: TextIO | None = None) -> None:
    """``fem warmup``: compiles what is not compiled yet, with messages."""
    out = stream or sys.stdout
    if not is_first_start():
        print(f"everything has been compiled already, in {cache_folder()}", file=out)
        return
    began = time.perf_counter()
    with announced(out):
        compile_all()
    print(f"compiled in {time.perf_counter() - began:.1f} s, in {cache_folder()}", file=out)


@contextmanager
def announced(stream: TextIO) -> Iterator[None]:
    """Prints that the solver is being compiled, on a terminal with the time spent."""
    if not stream.isatty():
        say(f"note: {FIRST_START}; this takes about a minute", stream)
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with contextlib.suppress(BrokenPipeError), Progress(*columns, console=Console(file=stream), transient=True) as bar:
        bar.add_task(FIRST_START, total=None)
        yield
