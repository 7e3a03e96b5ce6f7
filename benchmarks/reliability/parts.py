"""``python -m benchmarks reliability [PART ...]``: run the parts, print a table; exit code 1 where anything failed.

To add a part: a file with ``run(work, is_short) -> Iterator[Trial]``, and a row in ``PARTS``.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.reliability import cache, full, going_on, kill
from benchmarks.reliability.trial import Trial

PARTS: dict[str, Callable[[Path, bool], Iterator[Trial]]] = {
    "kill": kill.run,
    "full": full.run,
    "cache": cache.run,
    "continue": going_on.run,
}
LIMIT = 900.0
"""Seconds that a part may take: what is left then is not tried, and said to be missing."""


def main(words: Sequence[str]) -> int:
    """The command."""
    options = argparse.ArgumentParser(prog="benchmarks reliability", description=__doc__)
    options.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    options.add_argument("--short", action="store_true", help="a few trials of each kind, as in the tests")
    options.add_argument("--limit", type=float, default=LIMIT, help=f"seconds for a part (default: {LIMIT:g})")
    chosen = options.parse_args(words)
    if unknown := [part for part in chosen.parts if part not in PARTS]:
        options.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    failed = False
    for part in chosen.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="fem-reliability-") as work:
            trials, is_whole = bounded(shown(part, PARTS[part](Path(work), chosen.short)), chosen.limit)
        print(table(part, trials) + ("" if is_whole else f"\n{part}: stopped after {chosen.limit:g} s"), flush=True)
        failed |= not is_whole or not trials or any(trial.faults for trial in trials)
    return int(failed)


def shown(part: str, trials: Iterator[Trial]) -> Iterator[Trial]:
    """The same trials; each is a line of the error output once it is over."""
    begun = time.monotonic()
    for number, trial in enumerate(trials, 1):
        found = "; ".join(trial.faults) or "as it should be"
        line = f"{part} {number}, after {time.monotonic() - begun:.0f} s: {trial.kind}, {trial.end}: {found}"
        print(line, file=sys.stderr, flush=True)
        yield trial


def bounded(trials: Iterator[Trial], limit: float) -> tuple[list[Trial], bool]:
    """Trials until the time is over, and whether these were all."""
    begun, done = time.monotonic(), []
    for trial in trials:
        done.append(trial)
        if time.monotonic() - begun > limit:
            return done, next(trials, None) is None
    return done, True


def table(part: str, trials: Sequence[Trial]) -> str:
    """A line for each kind of trial, then every fault."""
    kinds = collections.Counter(trial.kind for trial in trials)
    width = 2 + max(map(len, [*kinds, "kind"]))
    lines = [f"{'part':10}{'kind':{width}}{'trials':>7}{'faulty':>7}   what came of it"]
    for kind, count in kinds.items():
        found = [trial for trial in trials if trial.kind == kind]
        ends = collections.Counter(trial.end for trial in found)
        faulty = sum(bool(trial.faults) for trial in found)
        told = ", ".join(f"{number} {end}" for end, number in sorted(ends.items()))
        lines.append(f"{part:10}{kind:{width}}{count:7d}{faulty:7d}   {told}")
    lines += [f"  {trial.kind}: {fault}" for trial in trials for fault in trial.faults]
    return "\n".join(lines)
