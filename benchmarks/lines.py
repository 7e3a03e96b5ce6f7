"""W6, W7: mooring lines in a current and in an irregular sea, beside MoorDyn and CableDyn: seconds of processor time of
the time loop, error of the largest force.

``python -m benchmarks W6 W7 [--peer-python PYTHON]``. The error is that against our own run with more bars and shorter
increments. Programs take turns, the least of two runs counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line_jobs import GRAVITY, WATER, LineJob, line_job
from benchmarks.process import report as report_answer
from benchmarks.process import run_process

JOBS = {
    "W6": ("line:20:0.1:600", "line:100:0.1:600", "platform:50:0.1:3600"),
    "W7": ("sea:50:0.1:3600", "sea:50:0.2:3600"),
}
FINE = {"line": "line:200:0.025:600", "platform": "platform:200:0.025:600", "sea": "sea:150:0.05:3600"}
PEERS = ("moordyn", "cabledyn")
SETTLING = 1e-6
"""Seconds of the static step: waves count total time, for peers that of the motion."""
SAMPLE = 0.1
"""Seconds between the points of the splines that drive fairleads."""


def deck_text(job: LineJob) -> str:
    """The lines as a deck: laid on the bottom in still water, then the current, then the motion."""
    times = np.arange(0.0, job.dt * job.increments + 2.0 * SAMPLE, SAMPLE)
    moved = np.array([job.fairleads(float(t))[0][0] for t in times]) - np.array(job.rest[0])
    curves, driven, sea = [], [], []
    for axis, (amplitude, _) in enumerate(job.motion):
        if amplitude:
            rows = (f"{t!r}, {u!r}" for t, u in zip(times.tolist(), moved[:, axis].tolist(), strict=True))
            curves += [f"*AMPLITUDE, NAME=Q{axis}, TIME=STEP TIME, DEFINITION=SPLINE", *rows]
            driven += [f"*BOUNDARY, AMPLITUDE=Q{axis}", f"FAIRLEADS, {axis + 1}, {axis + 1}, 1."]
    if job.sea:
        *numbers, seed, count = job.sea
        sea = [f"*WAVE, TYPE=JONSWAP, SEED={seed}, COMPONENTS={count}, STRETCHING=WHEELER"]
        sea += [f"{', '.join(map(repr, numbers))}, 1., 0."]
    return text_with(job, sea, curves, driven)


def text_with(
    job: LineJob,
    sea: Sequence[str],
    curves: Sequence[str],
    driven: Sequence[str],
    parameters: Sequence[str] = (),
    printed: Sequence[str] = (),
) -> str:
    """The deck with lines for waves, amplitudes, the motion of the fairleads, parameters, more that is printed."""
    chain, count = job.chain, len(job.anchors)
    ends, laid, bars = [], [], []
    for k, (anchor, rest) in enumerate(zip(job.anchors, job.rest, strict=True)):
        first, last = 1000 * k + 1, 1000 * k + 1 + job.bars
        ends += [
            f"{first}, {anchor[0]!r}, {anchor[1]!r}, {anchor[2]!r}",
            f"{last}, {rest[0]!r}, {rest[1]!r}, {rest[2]!r}",
        ]
        laid += ["*NGEN, LINE=CATENARY, NSET=INNER", f"{first}, {last}, 1, {job.length!r}"]
        bars += [
            "*ELEMENT, TYPE=T3D2",
            f"{first}, {first}, {first + 1}",
            "*ELGEN, ELSET=LINE",
            f"{first}, {job.bars}, 1, 1",
        ]
    anchors = ", ".join(str(1000 * k + 1) for k in range(count))
    fairleads = ", ".join(str(1000 * k + 1 + job.bars) for k in range(count))
    loads = [
        f"LINE, GRAV, {GRAVITY!r}, 0., 0., -1.",
        f"LINE, PB, 1., {chain.diameter!r}",
        f"LINE, FDD, 1., {chain.diameter!r}, {chain.drag!r}",
        f"LINE, FDT, 1., {chain.diameter!r}, {chain.drag_along!r}",
        f"LINE, FI, 1., {chain.diameter!r}, {1.0 + chain.added!r}, {chain.added!r}, , {chain.added_along!r}",
    ]
    stream = ", ".join(map(repr, job.current))
    return "\n".join([
        "*HEADING", f"Benchmark {job.name} (python -m benchmarks {job.name.split()[0]})", *parameters,
        "*NODE", *ends, *laid, *bars,
        "*NSET, NSET=ANCHORS", anchors, "*NSET, NSET=FAIRLEADS", fairleads,
        "*MATERIAL, NAME=CHAIN", "*ELASTIC", repr(chain.stiffness), "*DENSITY", repr(chain.mass),
        "*NO COMPRESSION", "*SOLID SECTION, ELSET=LINE, MATERIAL=CHAIN, STRAIN=ENGINEERING", "1.",
        "*AQUA", f"{-job.depth!r}, 0., {GRAVITY!r}, {WATER!r}", f"{stream}, 0.", *sea,
        "*SEABED, ELSET=LINE", f"{job.bed[0]!r}, {job.bed[1]!r}, {chain.diameter!r}", *curves,
        "*BOUNDARY", "ANCHORS, 1, 3", "FAIRLEADS, 1, 3",
        "*STEP, NLGEOM, AMPLITUDE=STEP", "*STATIC", f"{SETTLING!r}, {SETTLING!r}", "*DLOAD", *loads, "*END STEP",
        "*STEP, NLGEOM, INC=10000000", "*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4",
        f"{job.dt!r}, {job.dt * job.increments!r}", "*CONTROLS, RESI_GLOB_RELA=1.E-8", *driven,
        "*NODE PRINT, NSET=FAIRLEADS, FREQUENCY=1", "RF", *printed, "*END STEP", "",
    ])  # fmt: skip


def run(job: LineJob) -> dict[str, Any]:
    """Processor time of our own time loop, the less of two runs; largest, least and mean force of each fairlead."""
    import fem
    from fem.runs.record import Requests, Rows, SilentSink, StepStart
    from fem.solve.loop import solve

    class Watch(SilentSink):
        def __init__(self) -> None:
            self.began, self.forces, self.iterations, self.notices = 0.0, list[Any](), 0, list[str]()

        def begin(self, start: StepStart) -> None:
            self.began, self.forces, self.iterations = time.process_time(), [], 0

        def rows(self, rows: Rows) -> None:
            self.iterations += int(rows.iterations.sum())
            chosen = np.isin(np.asarray(model.mesh.node_labels)[rows.nodes], fairleads)
            self.forces.append(np.linalg.norm(rows.values(model)["n"]["RF"][:, chosen], axis=-1))

        def notice(self, text: str) -> None:
            self.notices.append(text)

    model = fem.parse_deck(deck_text(job), name="W6")
    fairleads = [1000 * k + 1 + job.bars for k in range(len(job.anchors))]
    seconds = []
    for _ in range(2):
        watch = Watch()
        solve(model, watch, Requests(fields=False))
        seconds.append(time.process_time() - watch.began)
    forces = np.concatenate(watch.forces)[-job.increments :]
    kept = forces[len(forces) // 10 :]
    return {
        "seconds": min(seconds), "largest": kept.max(0).tolist(), "least": kept.min(0).tolist(),
        "mean": kept.mean(0).tolist(), "iterations": watch.iterations, "notices": watch.notices,
    }  # fmt: skip


def report(python: str, work: str, limit: float = 1800.0, passes: int = 2) -> list[str]:
    """Rows of a Markdown table, printed as they come."""
    lines = [
        "| job | program | s | solves an increment | largest kN | error | least | mean |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    exact: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for word in JOBS[work]:
            kind, job = word.partition(":")[0], line_job(word)
            waves = [write_waves(job, Path(folder) / "waves.txt")] if job.sea else []
            if kind not in exact:
                fine, _ = run_process([sys.executable, "-m", "benchmarks.lines", FINE[kind]], limit)
                exact[kind] = max(fine.get("largest", [float("nan")]))
            programs = {"fem": [sys.executable, "-m", "benchmarks.lines", word]}
            programs |= {peer: [python, "-m", "benchmarks.peer_lines", peer, word, *waves] for peer in PEERS}
            rounds = [{name: run_process(its, limit)[0] for name, its in programs.items()} for _ in range(passes)]
            for program in programs:
                best = min((found[program] for found in rounds), key=lambda answer: answer.get("seconds", np.inf))
                lines.append(row_of(job, program, best, exact[kind]))
                print(lines[-1], flush=True)
    return lines


def write_waves(job: LineJob, path: Path) -> str:
    """Circular frequency, amplitude and phase of the regular waves of a job, for peers."""
    import fem

    np.savetxt(path, fem.parse_deck(deck_text(job), name="waves").sea[:, [0, 2, 3]], fmt="%.17g")
    return str(path)


def row_of(job: LineJob, program: str, answer: dict[str, Any], exact: float) -> str:
    """One row; a program that failed says why."""
    if "seconds" not in answer:
        return f"| {job.name} | {program} | {answer.get('failed', 'no answer')} | | | | | |"
    largest, least, mean = max(answer["largest"]), min(answer["least"]), float(np.mean(answer["mean"]))
    solves = f"{answer['iterations'] / job.increments:.2f}" if "iterations" in answer else ""
    return (
        f"| {job.name} | {program} | {answer['seconds']:.2f} | {solves} | {largest / 1e3:.2f} | "
        f"{abs(largest / exact - 1.0):.2%} | {least / 1e3:.2f} | {mean / 1e3:.2f} |"
    )


if __name__ == "__main__":
    report_answer(lambda: run(line_job(sys.argv[1])))
