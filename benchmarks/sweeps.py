"""Whole sweeps, from command to table: ``python -m benchmarks.sweeps [TREE ...]``, here and in other trees, in turn.

TREE is the folder of another version of the program, run by the Python of its ``.venv`` if there is one. Each pass is a
process of its own; the first one of each, which may compile, does not count. ``--lanes``: lanes are compiled before.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.process import ROOT

SWEEPS = {
    "periods": ("inputs/pendulum_lumped.inp", "period=2:3:10000"),
    "springs": ("inputs/string_pendulum_spring.inp", "A=0:15:500"),
}
FORCED = """
import sys, fem, numpy as np
from fem.study import workers
workers.is_worth_compiling = lambda *_: True
name, text = sys.argv[2].split("=")
first, last = map(float, text.split(":")[:2])
fem.sweep(sys.argv[1], {name: np.linspace(first, last, 100)}, workers=1)
"""


def interpreter(tree: Path) -> str:
    own = tree / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def in_tree(tree: Path, *words: str) -> tuple[float, float]:
    """Processor and wall-clock seconds of a Python process there."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    way = {} if tree == ROOT else {"FEM_COMPILER": ""}  # which older trees do not know
    environment = {**os.environ, "PYTHONPATH": str(tree), **way}
    subprocess.run([interpreter(tree), *words], cwd=tree, check=True, env=environment, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the least processor and wall-clock seconds of each sweep in each tree."""
    top = argparse.ArgumentParser(prog="benchmarks.sweeps", description="Processor and wall-clock seconds of sweeps.")
    top.add_argument("trees", metavar="TREE", nargs="*", type=Path, help="other trees to compare with")
    top.add_argument("--only", choices=list(SWEEPS), help="one of the sweeps")
    top.add_argument("--passes", type=int, default=3, help="processes of each (default: 3)")
    top.add_argument("--workers", type=int, default=2, help="of each sweep (default: 2)")
    top.add_argument("--lanes", action="store_true", help="compile lanes before, here")
    options = top.parse_args(arguments)
    os.environ.setdefault("FEM_COMPILER", "wait")
    trees = [ROOT, *(tree.resolve() for tree in options.trees)]
    for name in [options.only] if options.only else SWEEPS:
        deck, vary = SWEEPS[name]
        if options.lanes:
            in_tree(ROOT, "-c", FORCED, deck, vary)
        spent: dict[Path, list[tuple[float, float]]] = {tree: [] for tree in trees}
        for _ in range(options.passes + 1):
            for tree in trees:
                with TemporaryDirectory() as folder:
                    words = "-m", "fem", "sweep", deck, "--vary", vary, "--workers", str(options.workers), "--quiet"
                    spent[tree].append(in_tree(tree, *words, "--output", f"{folder}/table"))
        for tree, seconds in spent.items():
            processor, wall = (min(column) for column in zip(*seconds[1:], strict=True))
            print(f"{name} {vary}: processor {processor:.1f} s, wall clock {wall:.1f} s in {tree}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
