"""Fresh, single-threaded processes for single jobs, and what they say about themselves. No import is heavy here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.jobs import Job

ROOT = Path(__file__).resolve().parents[1]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "BLIS_NUM_THREADS")
XLA_FLAGS = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
"""The same of JAX."""
ENOUGH_SECONDS, MOST_PASSES = 0.3, 99
"""A process repeats its timed pass until this much time is spent, at most so often; its median counts."""
LONG_PASS = 5.0
"""A first pass longer than this is timed itself; otherwise it is the untimed one."""
LONG_JOB = 20.0
"""A program that takes longer runs a job once only."""
MARK = "benchmark: "


def environment() -> dict[str, str]:
    """One thread for everybody; the packages of this clone first."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"XLA_FLAGS": XLA_FLAGS, "PYTHONPATH": os.pathsep.join(paths)}
    return {**os.environ, **dict.fromkeys(THREADS, "1"), **own}


def run_process(command: Sequence[str], limit: float) -> tuple[dict[str, Any], float]:
    """The JSON line a process prints, or ``{"failed": why}``, and its wall-clock seconds."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment(), check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {limit:g} s"}, time.perf_counter() - began
    except OSError as error:
        return {"failed": f"cannot start: {error}"}, time.perf_counter() - began
    spent = time.perf_counter() - began
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if lines:
        return dict(json.loads(lines[-1].removeprefix(MARK))), spent
    if done.returncode == 0:
        return {}, spent
    errors = done.stderr.strip().splitlines() or ["no message"]
    return {"failed": f"exit code {done.returncode}: {errors[-1][:200]}"}, spent


def run_job(
    program: str, job: Job, *options: str, python: str = sys.executable, limit: float = 120.0
) -> dict[str, Any]:
    """One job in one program (a module of this package) in a fresh process."""
    command = [python, "-m", f"benchmarks.{program}", json.dumps(asdict(job)), *options]
    return run_process(command, limit)[0]


def job_of(text: str) -> Job:
    """The job a process was started for."""
    return Job(**json.loads(text))


def report(run: Callable[[], dict[str, Any]]) -> None:
    """Run and print the answer as the one marked line; failures too, so that they carry their message."""
    try:
        answer = run()
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"}
    print("\n" + MARK + json.dumps(answer), flush=True)  # what a peer wrote may not have ended its line


def peak_mib() -> float:
    """Peak resident memory of this process. Linux's own figure where there is one: that of ``getrusage`` is
    inherited from a larger parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return float("nan")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024**2 if sys.platform == "darwin" else most / 1024
