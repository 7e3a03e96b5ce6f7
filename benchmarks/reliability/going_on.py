"""Kills at random times, each run then continued: a hundred over decks of all cards, twenty of them killed twice.

Every file has to end with the bytes of an undisturbed run, ``run.json`` without its timing.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reliability.card_decks import card_decks
from benchmarks.reliability.going_on_decks import decks, with_checkpoints
from benchmarks.reliability.trial import Trial, command, environment

TRIALS, FEW = 100, 3
TWICE = 5
"""Every so many trials the continued run is killed, too."""
SIZE, SHORT = 600, 100
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)
PATIENCE = 1800.0
"""Seconds for a run to end: hundreds of checkpoints wait for the disk, which others may use."""
EARLIEST, LATEST = 0.3, 1.05
"""Kills come between these shares of the seconds of a whole run, of which its start takes about the first."""


def run(work: Path, is_short: bool) -> Iterator[Trial]:
    """All trials, deck by deck."""
    chance = random.Random(1)
    subprocess.run(command("warmup"), env=environment(), check=True, stdout=subprocess.DEVNULL, timeout=600)
    size = SHORT if is_short else SIZE
    texts = decks(size) | card_decks(size)
    wholes: dict[str, tuple[dict[str, bytes], float]] = {}
    for number in range(FEW if is_short else TRIALS):
        name = list(texts)[number % len(texts)]
        deck = work / f"{name.replace(' ', '_')}.inp"
        if name not in wholes:
            deck.write_text(with_checkpoints(texts[name], chance.choice((1, 3, 10, 40))))
            begun = time.monotonic()
            end(started(work, deck, "whole"))
            wholes[name] = contents(work / "whole"), time.monotonic() - begun
            shutil.rmtree(work / "whole")
        whole, seconds = wholes[name]
        times = [chance.uniform(EARLIEST, LATEST) * seconds for _ in range(2 if number % TWICE == 0 else 1)]
        yield killed(work, deck, whole, times, chance.choice(SIGNALS))


def killed(work: Path, deck: Path, whole: dict[str, bytes], times: list[float], sent: signal.Signals) -> Trial:
    """One run that is killed after so many seconds, once or more, and each time continued."""
    shutil.rmtree(work / "out", ignore_errors=True)
    trial, kept = Trial(f"{len(times)} x {sent.name}", ""), []
    for after in times:
        process = started(work, deck, "out", *(["--continue"] if kept else []))
        time.sleep(after)
        process.send_signal(sent)
        errors = process.communicate(timeout=60)[1]
        if process.returncode not in (0, -sent, 128 + sent):
            trial.faults.append(f"{deck.stem}: exit code {process.returncode}: {errors.strip()[-300:]}")
        kept.append((work / "out" / "checkpoint.npz").exists() and process.returncode != 0)
    try:
        end(started(work, deck, "out", "--continue"))
    except RuntimeError as error:
        trial.faults.append(f"{deck.stem}: {error}")
    trial.end = "from a checkpoint" if kept[-1] else "complete, or from nothing"
    found = contents(work / "out")
    other = sorted(name for name in {*found, *whole} if found.get(name) != whole.get(name))
    if other:
        trial.faults.append(f"{deck.stem} after {times} s: {', '.join(other[:5])} differ")
    return trial


def started(work: Path, deck: Path, output: str, *options: str) -> subprocess.Popen[str]:
    """``fem run`` on its way."""
    words = command("run", deck, "--output", output, "--quiet", *options)
    return subprocess.Popen(words, cwd=work, env=environment(), stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> None:
    """Wait for it. RuntimeError: it ends badly, or not at all."""
    try:
        errors = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise RuntimeError(f"not ended after {PATIENCE:g} s") from None
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {errors.strip()[-300:]}")


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a run, ``run.json`` without its timing."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if "run.json" in found:
        record = json.loads(found["run.json"])
        record.pop("timing", None)
        found["run.json"] = json.dumps(record).encode()
    return found
