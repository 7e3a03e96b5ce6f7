"""Kernels in ns per bar: ``python -m benchmarks kernels [--against CLONE]``, a chain of 1000 bars; a sea of 200 waves.

Times are the shortest of many calls in this process; ``--against`` runs the same in another clone and prints ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

BARS, CALLS = 1000, 300
MARK = "kernels: "
STRAINS = ("GREEN", "ENGINEERING", "LOG")
SEA = """*NODE, NSET=ALL
1, 0., 0., {top}
501, 200., 90., {bottom}
*NGEN, NSET=ALL
1, 501, 1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 500
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
1e3
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*AQUA
-200., 0., 9.81, 1025.
*WAVE, TYPE=JONSWAP, SEED=1, COMPONENTS={waves}, STRETCHING={how}
6., 11., 3.3, 1., 0.
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.1, 1.
*DLOAD
LINE, FDD, 1., 0.2, 1.
*END STEP
"""


def shortest(act: Callable[[], object], items: int = BARS) -> float:
    """Nanoseconds of the fastest call, over so many bars (or else)."""
    act()
    best = float("inf")
    for _ in range(CALLS):
        began = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - began)
    return 1e9 * best / items


def deck(strain: str, increments: int) -> str:
    """W2 1000 with a strain measure."""
    import dataclasses

    from benchmarks.decks import deck_text
    from benchmarks.jobs import jobs_of

    text = deck_text(dataclasses.replace(jobs_of("W2", (BARS,))[0], increments=increments))
    return text.replace("STRAIN=ENGINEERING", f"STRAIN={strain}")


def trial(system: Any, u: Any, time: float = 0.0, secant: bool = False) -> Any:
    """The state that forces of a model are asked in: displacements u (3n,), at rest, at a time."""
    from fem.forces.protocol import Trial

    rest, none, bars = np.zeros(system.size), np.zeros(0), np.zeros(len(system.bars.nodes))
    place, state = system.coordinates.ravel(), system.state
    return Trial(
        secant, 1.0, 1.0, 1.0, 0.0, time, time, 0.1, u, rest, rest, u, rest, rest, bars, bars, place, state, state, none
    )


def evaluation() -> dict[str, float]:
    """Evaluation of all bars, by strain measure and by scheme."""
    import fem
    from fem.assembly.system import assemble
    from fem.compiled import kernel
    from fem.forces.bar import STORED, evaluate_bars

    @kernel
    def evaluate(trial, bars, force, flow, bar_tangent):  # type: ignore[no-untyped-def]
        return evaluate_bars(trial, bars, True, force, flow, bar_tangent)

    found = {}
    for strain in STRAINS:
        system = assemble(fem.parse_deck(deck(strain, 1), name="chain"))
        force, flow, bar_tangent = np.zeros(system.size), np.zeros(system.size), np.zeros((STORED, BARS))
        for name, secant in (("", False), (", secant", True)):
            state = trial(system, 1e-3 * np.sin(np.arange(system.size)), secant=secant)
            act = partial(evaluate, state, system.bars, force, flow, bar_tangent)
            found[f"evaluate {strain}{name}"] = shortest(act)
    return found


def seas() -> dict[str, float]:
    """The water at the nodes of a line of 500 bars, and of the lines of W7, at new instants, per node and wave."""
    import fem
    from benchmarks import lines
    from benchmarks.line_jobs import line_job
    from fem.assembly.system import assemble
    from fem.compiled import kernel
    from fem.forces.waves import foresee

    @kernel
    def water(trial, sea):  # type: ignore[no-untyped-def]
        foresee(trial, sea)

    def timed(text: str) -> float:
        system = assemble(fem.parse_deck(text, name="sea"))
        (sea,) = (group.sea for group in system.families if hasattr(group, "sea_nodes"))
        states = cycle([trial(system, np.zeros(system.size), 0.1 * number) for number in range(10)])
        return shortest(lambda: water(next(states), sea), sea.nodes.size * sea.trains.shape[1])

    def line(how: str, top: float, bottom: float, waves: int = 200) -> float:
        return timed(SEA.format(how=how, top=top, bottom=bottom, waves=waves))

    return {
        "water, deep": line("VERTICAL", -70.0, -150.0),
        "water, from surface down": line("VERTICAL", 4.0, -150.0),
        "water, Wheeler": line("WHEELER", 4.0, -150.0),
        "water, Wheeler, at the bottom": line("WHEELER", -200.0, -200.0),
        "water, one wave": line("VERTICAL", 4.0, -150.0, 1),
        "water, W7": timed(lines.deck_text(line_job("sea:50:0.1:60"))),
    }


def marches() -> dict[str, float]:
    """The whole march, by linear solver, per bar and Newton iteration."""
    import fem
    import fem.solve.step_run as step_run
    from fem.runs.record import Requests, Rows, SilentSink
    from fem.solve.loop import solve

    found = {}
    inner, spent, iterations = step_run.Newton.march, 0.0, 0

    class Count(SilentSink):
        def rows(self, rows: Rows) -> None:
            nonlocal iterations
            iterations += int(rows.iterations.sum())

    def timed(*arguments: object) -> int:
        nonlocal spent
        began = time.perf_counter()
        reason = inner(*arguments)  # type: ignore[arg-type]
        spent += time.perf_counter() - began
        return int(reason)

    model = fem.parse_deck(deck("ENGINEERING", 20))
    step_run.Newton.march = timed  # type: ignore[assignment,method-assign]
    try:
        for solver in ("CHAIN", "BAND", "CG"):
            best = float("inf")
            for _ in range(10):
                spent, iterations = 0.0, 0
                solve(model, Count(), Requests(solver, fields=False))
                best = min(best, spent / iterations)
            found[f"march, {solver.lower()}, an iteration"] = 1e9 * best / BARS
    finally:
        step_run.Newton.march = inner  # type: ignore[method-assign]
    return found


def other(clone: str) -> dict[str, float]:
    """The same in another clone, whose package is measured by this file."""
    code = f"import sys; sys.path[:0] = [{clone!r}]; import runpy; runpy.run_path({__file__!r}, run_name='measure')"
    environment = {**os.environ, "PYTHONPATH": clone, "FEM_COMPILER": ""}  # older clones know no other way
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith(MARK))
    return dict(json.loads(line.removeprefix(MARK)))


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks kernels", description="Kernels in ns per bar, a chain of 1000.")
    parser.add_argument("--against", metavar="CLONE", help="another clone to compare with")
    options = parser.parse_args(arguments)
    before = other(options.against) if options.against else {}
    found = {**evaluation(), **seas(), **marches()}
    print(f"| kernel | ns per bar |{' before | ratio |' if before else ''}")
    print(f"|---|---|{'---|---|' if before else ''}")
    for name, value in found.items():
        old = before.get(name, float("nan"))
        print(f"| {name} | {value:.1f} |" + (f" {old:.1f} | {value / old:.2f} |" if before else ""))
    return 0


if __name__ == "measure":
    print(MARK + json.dumps({**evaluation(), **seas(), **marches()}))
