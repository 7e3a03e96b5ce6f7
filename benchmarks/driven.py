"""``python -m benchmarks driven [--peer-python PYTHON]``: what it costs to drive a run from Python (``fem.stepper``).

Two bars, one increment an advance; the line of 20 bars of W6 (``line_jobs.py``) with its fairlead set, as places and
velocities, and its force read every 0.1 s, in increments of 0.1, 0.01 and 0.0025 s, beside the same run alone and
MoorDyn's ``Step``. The motion is computed before the loop. Processes take turns; seconds of processor time, the least
of some runs.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.line_jobs import LineJob, line_job
from benchmarks.lines import SAMPLE, deck_text
from benchmarks.process import report as report_answer
from benchmarks.process import run_process

LINES = "line:20:0.1:600", "line:20:0.01:60", "line:20:0.0025:30"
BARS = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*MATERIAL, NAME=STEEL
*ELASTIC
2E11
*DENSITY
7850.
*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL
1E-4
*AMPLITUDE, NAME=PUSH, DEFINITION=USER
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT, ALPHA=-0.05
0.001, 10.
*DLOAD
BARS, GRAV, 9.81, 0., 0., -1.
*CLOAD, AMPLITUDE=PUSH
3, 3, 1.
*END STEP
"""


def driven_text(job: LineJob) -> str:
    """The deck of a line whose fairlead is set from outside."""
    text, _, rest = deck_text(job).partition("*AMPLITUDE")
    text += "".join(f"*AMPLITUDE, NAME=Q{axis}, DEFINITION=USER\n" for axis in range(3))
    return text + rest[rest.rindex("*BOUNDARY\nANCHORS") :]


def run_line(word: str) -> dict[str, Any]:
    """Seconds of the loop, largest force at the fairlead."""
    import numpy as np

    import fem

    job, seconds = line_job(word), []
    model = fem.parse_deck(driven_text(job), name="driven")
    count, rest = round(job.dt * job.increments / SAMPLE), np.array(job.rest[0])
    motion = []
    for k in range(1, count + 1):
        place, speed, _ = job.fairleads(k * SAMPLE)
        motion.append((1e-6 + k * SAMPLE, [*zip((place[0] - rest).tolist(), speed[0].tolist(), strict=True)]))
    for _ in range(2):
        sim, largest = fem.stepper(model, history=False), 0.0
        began = time.process_time()
        for now, (surge, sway, heave) in motion:
            sim["Q0"], sim["Q1"], sim["Q2"] = surge, sway, heave
            sim.advance_to(now)
            largest = max(largest, math.hypot(*sim.reaction(1 + job.bars).tolist()))
        seconds.append(time.process_time() - began)
        sim.close()
    return {"seconds": min(seconds), "advances": count, "largest": [largest]}


def run_bars(_: str) -> dict[str, Any]:
    """Seconds of advances of one increment each."""
    import fem

    seconds, model = [], fem.parse_deck(BARS)
    for _ in range(3):
        sim, count = fem.stepper(model, history=False), 5000
        began = time.process_time()
        for k in range(count):
            sim["PUSH"] = 0.1 * (k % 7)
            sim.advance(0.001)
            sim.u(3)
        seconds.append(time.process_time() - began)
        sim.close()
    return {"seconds": min(seconds), "advances": count}


KINDS = {"bars": run_bars, "line": run_line}


def main(words: Sequence[str]) -> int:
    """Print a table."""
    options = argparse.ArgumentParser(prog="benchmarks driven", description=__doc__)
    options.add_argument("--peer-python", default="", help="interpreter that has MoorDyn; none: without it")
    options.add_argument("--passes", type=int, default=3, help="runs of each (default: 3)")
    given, own = options.parse_args(words), [sys.executable, "-m"]
    jobs = {"two bars, one increment an advance": [*own, "benchmarks.driven", "bars:"]}
    for line in LINES:
        jobs[f"{line} alone"] = [*own, "benchmarks.lines", line]
        jobs[f"{line} driven"] = [*own, "benchmarks.driven", line]
    if given.peer_python:
        jobs[f"{LINES[0]} in MoorDyn"] = [given.peer_python, "-m", "benchmarks.peer_lines", "moordyn", LINES[0]]
    rounds = [{name: run_process(command, 600.0)[0] for name, command in jobs.items()} for _ in range(given.passes)]
    print("| what | s | us an exchange | largest kN |\n|---|---|---|---|")
    for name in jobs:
        best = min((each[name] for each in rounds), key=lambda answer: answer.get("seconds", float("inf")))
        if "seconds" not in best:
            print(f"| {name} | {best.get('failed', 'no answer')} | | |")
            continue
        word = name.partition(" ")[0]
        count = best.get("advances") or round(line_job(word).dt * line_job(word).increments / SAMPLE)
        force = f"{max(best['largest']) / 1e3:.2f}" if "largest" in best else ""
        print(f"| {name} | {best['seconds']:.3f} | {1e6 * best['seconds'] / count:.0f} | {force} |")
    return 0


if __name__ == "__main__":
    report_answer(lambda: KINDS[sys.argv[1].partition(":")[0]](sys.argv[1]))
