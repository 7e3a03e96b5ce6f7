"""One job in ``fem``, in a process of its own: ``python -m benchmarks.ours JOB.json``; prints one line of JSON."""

from __future__ import annotations

import dataclasses
import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.decks import checked_labels, deck_text
from benchmarks.jobs import Job
from benchmarks.process import ENOUGH_SECONDS, MOST_PASSES, job_of, peak_mib, report

WARMING = 20
"""Increments of the untimed run that loads or compiles the kernels."""


def run(job: Job, solver: str = "AUTO") -> dict[str, Any]:
    """Warm, then time the job until the passes last long enough to be trusted; the end state of the last pass."""
    import fem
    from fem.runs.record import Requests, Rows, SilentSink, StepStart
    from fem.solve.loop import solve

    class Watch(SilentSink):
        """Takes in what a run says; the time loop begins with its first step."""

        def __init__(self) -> None:
            self.began, self.iterations, self.solver = 0.0, 0, ""
            self.notices: list[str] = []
            self.exchanged, self.largest_error, self.worst_residual = 0.0, 0.0, 0.0
            self.last: Rows | None = None

        def begin(self, start: StepStart) -> None:
            self.solver = str(getattr(start, "solver", ""))
            self.began = time.perf_counter()

        def rows(self, rows: Rows) -> None:
            self.iterations += int(rows.iterations.sum())
            self.largest_error = max(self.largest_error, float(np.abs(rows.energy_error).max()))
            self.exchanged = max(self.exchanged, float(np.abs(rows.potential).max()))
            self.worst_residual = max(self.worst_residual, float(rows.residual_norm.max()))
            self.last = rows

        def notice(self, text: str) -> None:
            self.notices.append(text)

    began = time.perf_counter()
    model = fem.parse_deck(deck_text(job), name=job.slug)
    reading = time.perf_counter() - began
    warming = dataclasses.replace(job, increments=min(WARMING, job.increments))
    if not (job.is_static and job.size > 150):
        solve(fem.parse_deck(deck_text(warming), name=job.slug), Watch(), Requests(solver, fields=False))
    seconds: list[float] = []
    preparing = 0.0
    while not seconds or (sum(seconds) < ENOUGH_SECONDS and len(seconds) < MOST_PASSES):
        watch, began = Watch(), time.perf_counter()
        solve(model, watch, Requests(solver, fields=False))
        seconds.append(time.perf_counter() - watch.began)
        preparing = watch.began - began
    last = watch.last
    assert last is not None
    labels = np.asarray(model.mesh.node_labels)[last.nodes]
    u = last.values(model)["n"]["U"][-1]
    tip, probe = (u[int(np.flatnonzero(labels == label)[0])].tolist() for label in checked_labels(job))
    return {
        "program": "fem",
        "seconds": statistics.median(seconds),
        "best": min(seconds),
        "preparing": preparing,
        "reading": reading,
        "iterations": watch.iterations,
        "tip": tip,
        "probe": probe,
        "energies": {name: float(getattr(last, name)[-1]) for name in ("kinetic", "strain", "potential")},
        "energy_error": watch.largest_error / (watch.exchanged or 1.0),
        "peak_mib": peak_mib(),
        "notes": [text for text in watch.notices if "round-off" in text],
        "variant": watch.solver or solver.lower(),
    }


if __name__ == "__main__":
    report(lambda: run(job_of(sys.argv[1]), *sys.argv[2:3]))
