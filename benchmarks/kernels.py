"""Kernels in ns per bar: ``python -m benchmarks kernels [--against CLONE]``, a chain of 1000 bars.

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

import numpy as np

BARS, CALLS = 1000, 300
MARK = "kernels: "
STRAINS = ("GREEN", "ENGINEERING", "LOG")


def shortest(act: Callable[[], object]) -> float:
    """Nanoseconds per bar of the fastest call."""
    act()
    best = float("inf")
    for _ in range(CALLS):
        began = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - began)
    return 1e9 * best / BARS


def deck(strain: str, increments: int) -> str:
    """W2 1000 with a strain measure."""
    import dataclasses

    from benchmarks.decks import deck_text
    from benchmarks.jobs import jobs_of

    text = deck_text(dataclasses.replace(jobs_of("W2", (BARS,))[0], increments=increments))
    return text.replace("STRAIN=ENGINEERING", f"STRAIN={strain}")


def evaluation() -> dict[str, float]:
    """Evaluation of all bars, by strain measure and by scheme."""
    import fem
    from fem.assembly.system import assemble
    from fem.forces.bar import STORED, evaluate_bars

    found = {}
    for strain in STRAINS:
        system = assemble(fem.parse_deck(deck(strain, 1)))
        bars, size = system.bars, system.size
        u, v, force = 1e-3 * np.sin(np.arange(size)), np.zeros(size), np.zeros(size)
        bar_tangent, thermal = np.zeros((STORED, BARS)), np.zeros(BARS)
        for name, secant in (("", False), (", secant", True)):
            act = partial(evaluate_bars, secant, 1.0, 0.0, u, u, v, bars, thermal, np.zeros(BARS), force, bar_tangent)
            found[f"evaluate {strain}{name}"] = shortest(act)
    return found


def marches() -> dict[str, float]:
    """The whole march, by linear solver, per bar and Newton iteration."""
    import fem
    import fem.solve.step_run as step_run
    from fem.runs.record import Requests, Rows, SilentSink
    from fem.solve.loop import solve

    found = {}
    inner, spent, iterations = step_run.march, 0.0, 0

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
    step_run.march = timed  # type: ignore[assignment]
    try:
        for solver in ("CHAIN", "BAND", "CG"):
            best = float("inf")
            for _ in range(10):
                spent, iterations = 0.0, 0
                solve(model, Count(), Requests(solver, fields=False))
                best = min(best, spent / iterations)
            found[f"march, {solver.lower()}, an iteration"] = 1e9 * best / BARS
    finally:
        step_run.march = inner
    return found


def other(clone: str) -> dict[str, float]:
    """The same in another clone, whose package is measured by this file."""
    code = f"import sys; sys.path[:0] = [{clone!r}]; import runpy; runpy.run_path({__file__!r}, run_name='measure')"
    environment = {**os.environ, "PYTHONPATH": clone}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith(MARK))
    return dict(json.loads(line.removeprefix(MARK)))


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks kernels", description="Kernels in ns per bar, a chain of 1000.")
    parser.add_argument("--against", metavar="CLONE", help="another clone to compare with")
    options = parser.parse_args(arguments)
    before = other(options.against) if options.against else {}
    found = {**evaluation(), **marches()}
    print(f"| kernel | ns per bar |{' before | ratio |' if before else ''}")
    print(f"|---|---|{'---|---|' if before else ''}")
    for name, value in found.items():
        old = before.get(name, float("nan"))
        print(f"| {name} | {value:.1f} |" + (f" {old:.1f} | {value / old:.2f} |" if before else ""))
    return 0


if __name__ == "measure":
    print(MARK + json.dumps({**evaluation(), **marches()}))
