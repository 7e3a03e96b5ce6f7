"""``python -m benchmarks first [--against TREE]``: first and second times of commands, from empty caches.

Wall time until the command has ended, processor time of it and, the first time, of all that compiles for it, also after
its end. Linux: processes whose parent has ended are handed to this one.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
LINE = "line --last 190,0,-10 --depth 107 --section R4-studless-120 --length 230 --motion 3,0,3 --period 10 --bars 20"
COMMANDS = {
    "README's first": "run inputs/sdnl100.inp --plot",
    "line at rest": "line --last 800,0,-10 --depth 110 --section R4-studless-142 --length 830 --run",
    "line that moves": f"{LINE} --time 20 --run",
    "pendulum": "pendulum --links 5 --angles 30 --body elastic:1e6 --time 2 --run",
    "lyapunov": "lyapunov inputs/string_pendulum_rigid.inp --time 500 --set A=11",
    "waves": "run inputs/sea_state.inp",
    "winch": "run inputs/winch.inp",
    "rope": "run inputs/ball_on_table.inp",
    "net": "run inputs/cable_net.inp",
}
ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def timed(tree: Path, words: str, folder: Path) -> tuple[float, float, float]:
    """Wall seconds of a command, its processor seconds with those of all processes it leaves, wall seconds until these
    have ended.

    CalledProcessError where it fails.
    """
    python = tree / ".venv/bin/python"
    command = [str(python if python.is_file() else sys.executable), "-m", "fem", *words.split()]
    environment = {**os.environ, "PYTHONPATH": str(tree), "FEM_CACHE_DIR": str(folder / "cache")}
    environment.pop("FEM_COMPILER", None)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    wall = time.perf_counter() - began
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
    return wall, processor, time.perf_counter() - began


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    options = argparse.ArgumentParser(prog="benchmarks first")
    options.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)} (default: all)")
    options.add_argument("--against", type=Path, help="another checkout, with its .venv")
    chosen = options.parse_args(arguments)
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)
    trees = {"now": HERE} | ({"before": chosen.against.resolve()} if chosen.against else {})
    print("| command | | first, s | processor, s | all compiled after, s | second, s | processor, s | units | kB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in chosen.commands or COMMANDS:
        for which, tree in trees.items():
            with tempfile.TemporaryDirectory() as text:
                folder = Path(text)
                (folder / "inputs").symlink_to(tree / "inputs")
                first = timed(tree, COMMANDS[name], folder)
                sizes = [path.stat().st_size for path in folder.glob("cache/*/*.unit")]
                second = timed(tree, f"{COMMANDS[name]} --force", folder)
            cells = [*first, *second[:2]]
            text = " | ".join(f"{value:.1f}" for value in cells)
            print(f"| {name} | {which} | {text} | {len(sizes)} | {sum(sizes) / 1024:.0f} |", flush=True)
    return 0
