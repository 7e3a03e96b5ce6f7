"""A disk that is full at five sizes: a small file system of its own (Linux, as root), else a limit on every file."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
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

SIZES = (24, 120, 600, 1200, 2400)
"""Kilobytes."""
INCREMENTS, SHORT = 20_000, 3_000
MOUNTED = 'mount -t tmpfs -o size="$SIZE"k tmpfs disk && { "$@"; code=$?; cp -a disk/. left; exit $code; }'


def run(work: Path, is_short: bool) -> Iterator[Trial]:
    """All sizes; what there was room for is looked at, then the deck is run again with room enough."""
    whole, _ = reference(work, SHORT if is_short else INCREMENTS)
    in_namespace = has_namespaces()
    for size in SIZES[1:2] if is_short else SIZES:
        for name in ("disk", "left"):
            shutil.rmtree(work / name, ignore_errors=True)
            (work / name).mkdir()
        trial = filled(work, size, in_namespace)
        folder = work / "left" / "out"
        if folder.exists():
            trial.faults += faults_of_tables(folder, whole) + faults_of_fields(folder, whole)
            trial.faults += faults_of_leftovers(folder) + faults_of_record(folder)
            trial.faults += faults_of_rerun(work, folder, whole)
        yield trial


def has_namespaces() -> bool:
    """Whether we may mount a file system that nobody else sees."""
    try:
        done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and os.geteuid() == 0


def filled(work: Path, size: int, in_namespace: bool) -> Trial:
    """One run on a disk of so many kilobytes."""
    run = command("run", "long.inp", "--output", "disk/out" if in_namespace else "left/out", "--quiet")
    limit = None
    if in_namespace:
        run = ["unshare", "-m", "--propagation", "private", "sh", "-c", MOUNTED, "sh", *run]
    else:
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size << 10, size << 10))
    done = subprocess.run(
        run, cwd=work, env={**environment(), "SIZE": str(size)}, capture_output=True, text=True, timeout=300,
        check=False, preexec_fn=limit,
    )  # fmt: skip
    trial = Trial(f"{size} kB" + ("" if in_namespace else " a file"), f"exit code {done.returncode}")
    if done.returncode != 4:
        trial.faults.append(f"exit code {done.returncode}: {done.stderr.strip()[-200:]}")
    if "No space left" not in done.stderr and "File too large" not in done.stderr:
        trial.faults.append(f"the message has no reason: {done.stderr.strip()[-200:]}")
    if "out" not in done.stderr or "report it" in done.stderr or "Traceback" in done.stderr:
        trial.faults.append(f"the message names no file, or blames the program: {done.stderr.strip()[-200:]}")
    return trial


def faults_of_record(folder: Path) -> list[str]:
    """``run.json`` says how it ended."""
    if not (folder / "run.json").exists():
        return ["there is no run.json"]
    verdict = record_of(folder)["verdict"]
    return [] if verdict.startswith("error: cannot write") else [f"verdict {verdict!r}"]
