"""Signals at random times: SIGKILL, SIGTERM, SIGHUP and Ctrl-C, 25 of each."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reliability.trial import (
    Trial,
    command,
    environment,
    faults_of_fields,
    faults_of_leftovers,
    faults_of_rerun,
    faults_of_tables,
    record_of,
    reference,
)

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
TRIALS, FEW = 100, 4
INCREMENTS, SHORT = 20_000, 3_000
PROMPT = 2.0
"""Seconds from the signal to the end, where the machine has a processor for us."""
AGAIN = 10
"""After every so many trials the deck is run once more into the same folder."""
START = 0.3
"""Seconds in which Python itself starts, or more: a signal then finds nobody to answer, and nothing written."""


def run(work: Path, is_short: bool) -> Iterator[Trial]:
    """All trials."""
    for number in (signal.SIGHUP, signal.SIGINT):  # `nohup` and `&` have them ignored, here and in all that we start
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    chance = random.Random(1)
    whole, seconds = reference(work, SHORT if is_short else INCREMENTS)
    for number in range(FEW if is_short else TRIALS):
        sent = SIGNALS[number % len(SIGNALS)]
        shutil.rmtree(work / "out", ignore_errors=True)
        trial = killed(work, whole, sent, chance.uniform(START, max(1.1 * seconds, START)))
        if number % AGAIN == AGAIN - 1 or (is_short and sent == signal.SIGKILL):
            trial.faults += faults_of_rerun(work, work / "out", whole)
        yield trial


def killed(work: Path, whole: Path, sent: signal.Signals, after: float) -> Trial:
    """One run that gets a signal after some seconds."""
    run = command("run", "long.inp", "--output", "out", "--quiet")
    with subprocess.Popen(run, cwd=work, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after)
        process.send_signal(sent)
        begun = time.monotonic()
        errors = process.communicate(timeout=60)[1]
        seconds = time.monotonic() - begun
    code, trial = process.returncode, Trial(sent.name, "")
    if sent == signal.SIGKILL:
        expected = {-sent: "killed", 0: "completed"}
    else:
        expected = {128 + sent: "interrupted", 0: "completed"}
        if not (work / "out").exists():
            expected |= {-sent: "before Python began"}
    if code not in expected:
        trial.faults.append(f"exit code {code} after {after:.2f} s: {errors.strip()[-200:]}")
    if seconds > PROMPT * crowd():
        trial.faults.append(f"ended {seconds:.1f} s after the signal")
    trial.end = expected.get(code, str(code))
    if (work / "out").is_dir():
        trial.faults += faults_of(work / "out", whole, trial.end)
    elif trial.end == "interrupted":
        trial.end = "before the first step"
    return trial


def crowd() -> float:
    """How many processes want each processor, at least one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def faults_of(folder: Path, whole: Path, end: str) -> list[str]:
    """What is wrong in a folder of a run that was stopped."""
    is_killed = end == "killed"
    faults = faults_of_tables(folder, whole, is_killed) + faults_of_fields(folder, whole, not is_killed)
    if not is_killed:
        faults += faults_of_leftovers(folder)
    if not (folder / "run.json").exists():
        return faults if is_killed else [*faults, "there is no run.json"]
    record = record_of(folder)
    verdict = {"killed": "running"}.get(end, end)
    names = [place / "increments.csv" for place in (folder, whole)]
    came_late = record["verdict"] == "completed" and names[0].read_bytes() == names[1].read_bytes()
    if record["verdict"] != verdict and not came_late:
        faults.append(f"verdict {record['verdict']!r}, not {verdict!r}")
    lines = (folder / "increments.csv").read_bytes().count(b"\n") - 2 if (folder / "increments.csv").exists() else 0
    if not is_killed and record["totals"]["increments"] != max(lines, 0):
        faults.append(f"{record['totals']['increments']} increments, {lines} in the table")
    return faults
