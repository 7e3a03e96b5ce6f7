"""Runs jobs beside peers, interleaved, each run in a fresh process; checks the answers."""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.decks import write_deck
from benchmarks.jobs import DENSITY, GRAVITY, Job, jobs_of
from benchmarks.process import LONG_JOB, run_job, run_process

PEERS = {
    "OpenSees": ("peer_opensees", "openseespy.opensees"),
    "Exudyn": ("peer_exudyn", "exudyn"),
    "MuJoCo": ("peer_mujoco", "mujoco"),
}
"""Program: our module that runs a job in it, the module it needs."""
EXPLICIT = ("MuJoCo",)
"""Programs for explicit jobs; the others run all the rest."""
OURS = "fem"
REFERENCES = Path(__file__).with_name("references.json")
ENERGY_TOLERANCE = 1e-6
"""Energies at the end, relative to their size."""


def tolerance_of(job: Job) -> float:
    """Metres by which tip and probe may differ from the reference.

    1e-9, the target of the work. W1 is compared after 250 periods: a residual of 1e-8 in each of 100,000 increments
    turns into a phase error; OpenSees with the same criterion is 5e-8 away, Exudyn 4e-5.
    """
    return 1e-6 if job.work == "W1" else 1e-9


@dataclass(slots=True)
class Outcome:
    """What one program did with one job: all its runs, medians of their figures."""

    job: Job
    program: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    process_seconds: list[float] = field(default_factory=list)
    failed: str = ""

    @property
    def answer(self) -> dict[str, Any]:
        """The first good run."""
        return self.runs[0] if self.runs else {}

    @property
    def seconds(self) -> float:
        """Median of the time loop."""
        return self.median("seconds")

    @property
    def best(self) -> float:
        """The fastest pass of all: on a machine shared with others the steadier figure."""
        return min((run["best"] for run in self.runs), default=math.nan)

    @property
    def iterations(self) -> int:
        return int(self.answer.get("iterations", 0))

    @property
    def microseconds(self) -> float:
        """Per element and Newton iteration."""
        return 1e6 * self.seconds / (self.iterations * self.job.bars) if self.iterations else math.nan

    @property
    def nanoseconds(self) -> float:
        """Per bar and increment."""
        return 1e9 * self.seconds / (self.job.increments * self.job.bars)

    @property
    def whole(self) -> float:
        """Median of the whole cached process."""
        return statistics.median(self.process_seconds) if self.process_seconds else math.nan

    @property
    def spread(self) -> float:
        """(largest - smallest) / median of the time loop."""
        every = [run["seconds"] for run in self.runs]
        return (max(every) - min(every)) / statistics.median(every) if every else math.nan

    def median(self, name: str) -> float:
        """Median over the runs."""
        values = [run[name] for run in self.runs if name in run]
        return statistics.median(values) if values else math.nan

    def distance(self, other: dict[str, Any]) -> float:
        """Largest component by which tip and probe differ from another answer; NaN without one."""
        if not self.runs or "tip" not in other:
            return math.nan
        pairs = (zip(self.answer[name], other[name], strict=True) for name in ("tip", "probe"))
        distances = [abs(mine - theirs) for pair in pairs for mine, theirs in pair]
        return math.nan if any(map(math.isnan, distances)) else max(distances)

    def energy_distance(self, other: dict[str, Any]) -> float:
        """Sum of the differences of kinetic, strain and potential energy, over the largest of them or the weight times
        the length of a bar (where a pendulum turns, all three are small).
        """
        if not self.runs or "energies" not in other:
            return math.nan
        mine, theirs = self.answer["energies"], other["energies"]
        weight = GRAVITY * DENSITY * self.job.cell * self.job.bars
        scale = max(weight * self.job.cell, *(abs(value) for value in theirs.values()))
        # A sum, not a maximum: it does not lose a NaN.
        return sum(abs(mine[name] - theirs[name]) for name in theirs) / scale


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure. ``peers``: names of ``PEERS``; ``limit``: seconds any process may take."""

    repeat: int = 3
    peers: tuple[str, ...] = ()
    peer_python: str = sys.executable
    limit: float = 120.0
    whole: bool = True
    solver: str = "AUTO"


def references() -> dict[str, Any]:
    """Answers by name of the job."""
    answers: dict[str, Any] = json.loads(REFERENCES.read_text())["answers"] if REFERENCES.exists() else {}
    return answers


def reference_of(job: Job, known: dict[str, Any]) -> dict[str, Any]:
    """The stored answer of exactly this job, else nothing."""
    answer: dict[str, Any] = known.get(job.name, {})
    return answer if answer.get("increments") == job.increments else {}


def verdict_of(outcome: Outcome, reference: dict[str, Any], others: Sequence[Outcome] = ()) -> str:
    """``ok`` or ``WRONG`` with what differs; OpenSees stands in where no reference is stored."""
    if not outcome.runs:
        return "failed"
    peer = next((other for other in others if other.program == "OpenSees" and other.runs), None)
    beside = reference or (peer.answer if peer else {})
    if not beside:
        return "no reference"
    faults = []
    if not outcome.distance(beside) <= tolerance_of(outcome.job):
        faults.append(f"u by {outcome.distance(beside):.1e}")
    if not outcome.energy_distance(beside) <= ENERGY_TOLERANCE:
        faults.append(f"energy by {outcome.energy_distance(beside):.1e}")
    return "WRONG: " + ", ".join(faults) if faults else ("ok" if reference else "ok (OpenSees)")


def missing_peers(plan: Plan) -> dict[str, str]:
    """Peers that cannot be imported by the peers' interpreter, and why."""
    missing = {}
    for name in plan.peers:
        answer, _ = run_process([plan.peer_python, "-c", f"import {PEERS[name][1]}"], plan.limit)
        if "failed" in answer:
            missing[name] = answer["failed"]
    return missing


def measure(job: Job, plan: Plan, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Ours and every peer, one run each in turn, ``repeat`` times; what is long runs once, what failed never again."""
    peers = [name for name in plan.peers if job.explicit == (name in EXPLICIT)]
    outcomes = [Outcome(job, OURS), *(Outcome(job, name) for name in peers)]
    for _ in range(plan.repeat):
        for outcome in outcomes:
            if outcome.failed or (outcome.runs and outcome.seconds > LONG_JOB):
                continue
            if outcome.program == OURS:
                answer = run_job("ours", job, plan.solver, limit=plan.limit)
            else:
                answer = run_job(PEERS[outcome.program][0], job, python=plan.peer_python, limit=plan.limit)
            if "seconds" in answer:
                outcome.runs.append(answer)
                say(f"{job.name}: {outcome.program} {answer['seconds']:.4g} s")
            else:
                outcome.failed = answer.get("failed", "no answer")
                say(f"{job.name}: {outcome.program} failed: {outcome.failed}")
        ours = outcomes[0]
        if plan.whole and ours.runs and (not ours.process_seconds or ours.whole < LONG_JOB):
            seconds, failed = whole_process(job, plan)
            if failed:
                say(f"{job.name}: python -m fem run failed: {failed}")
            else:
                ours.process_seconds.append(seconds)
    return outcomes


def whole_process(job: Job, plan: Plan) -> tuple[float, str]:
    """Wall-clock seconds of the command line with its kernels in the cache, from start to exit; and why it failed.

    A tiny deck goes first, so that kernels compiled since the last edit of the sources are never part of the time.
    """
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for each in (jobs_of("W2", (10,))[0], job):
            command = [sys.executable, "-m", "fem", "run", str(write_deck(each, Path(folder)))]
            command += ["--output", f"{folder}/{each.slug}", "--no-vtk", "--quiet"]
            if plan.solver != "AUTO" and each is job:
                command += ["--solver", plan.solver.lower()]
            answer, seconds = run_process(command, plan.limit)
            if "failed" in answer:
                return seconds, str(answer["failed"])
    return seconds, ""
