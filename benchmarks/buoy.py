"""``python -m benchmarks buoy [--bars 50] [--repeat 5]``: three lines on a free buoy, and the same on prescribed ends.

The deck is ``inputs/moored_buoy.inp`` with more bars, 20 s in increments of 0.02 s, without printed output. Prescribed
ends move as the buoy moved them. Runs take turns; seconds of processor time, the least of some runs. The buoy is also
run with the sparse direct solver.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import fem

DECK = Path(__file__).resolve().parents[1] / "inputs" / "moored_buoy.inp"
HULL = 2, 3
BODY = r"\*(RIGID BODY|ROTARY INERTIA|ELEMENT, TYPE=ROTARYI)"


def on_buoy(bars: int) -> str:
    """The deck with so many bars in each line, and no output."""
    text = DECK.read_text(encoding="utf-8").replace("<dt>, <duration>", "0.02, 20.")
    text = text.replace("bars = 20", f"bars = {bars}")
    return re.sub(r"\*(NODE|EL) PRINT.*\n.*\n", "", text)


def on_ends(bars: int) -> str:
    """The same lines without the body: their tops move as the buoy moved them."""
    text = on_buoy(bars)
    record = fem.run(fem.parse_deck(text))
    late = np.flatnonzero(record.time >= 1.0)[1:]  # the first is the end of the static step
    time_ = record.time[late] - 1.0
    tied = (*HULL, 101, 201, 301)
    amplitudes, held, moved = [], [], []
    for node in tied:
        u = record.of_node(node, "U")[late]
        for axis in range(3):
            rows = "\n".join(f"{t:.12g}, {x:.12g}" for t, x in zip(time_, u[:, axis], strict=True))
            amplitudes.append(f"*AMPLITUDE, NAME=A{node}X{axis}, DEFINITION=SPLINE\n{rows}\n")
            held.append(f"{node}, {axis + 1}, {axis + 1}, {u[0, axis]:.12g}\n")
            moved.append(f"*BOUNDARY, AMPLITUDE=A{node}X{axis}\n{node}, {axis + 1}, {axis + 1}, 1.\n")
    text = re.sub(rf"{BODY}.*\n([^*].*\n)*", "", text).replace("*STEP", "".join(amplitudes) + "*STEP", 1)
    text = text.replace(", AMPLITUDE=STEP\n*STATIC\n1., 1.", "\n*STATIC\n0.1, 1.")
    text = text.replace("ANCHORS, 1, 3\n*AQUA", "ANCHORS, 1, 3\nBUOY, 1, 3\n*AQUA")
    text = text.replace("1, 1, 1, <offset>\n", "".join(held))
    return text.replace("OP=NEW\nANCHORS, 1, 3\n", "OP=NEW\nANCHORS, 1, 3\nBUOY, 1, 3\n" + "".join(moved))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each."""
    top = argparse.ArgumentParser(prog="benchmarks buoy", description="Lines on a free body.")
    top.add_argument("--bars", type=int, default=50, help="of each line, 20 to 98 (default: 50)")
    top.add_argument("--repeat", type=int, default=5, help="runs of each (default: 5)")
    options = top.parse_args(arguments)
    jobs = {
        "prescribed ends": (on_ends(options.bars), "AUTO"),
        "free buoy": (on_buoy(options.bars), "AUTO"),
        "free buoy, sparse": (on_buoy(options.bars), "SUPERLU"),
    }
    seconds, counts = dict.fromkeys(jobs, float("inf")), dict.fromkeys(jobs, 0)
    for turn in range(options.repeat + 1):  # the first one loads machine code
        for name, (text, solver) in jobs.items():
            model = fem.parse_deck(text)
            began = time.process_time()
            history = fem.run(model, solver=solver)
            if turn:
                seconds[name] = min(seconds[name], time.process_time() - began)
            counts[name] = int(history.iterations.sum())
    least = seconds["prescribed ends"]
    for name, taken in seconds.items():
        each = 1e6 * taken / counts[name]
        print(f"{name:18} {taken:7.3f} s, {taken / least:5.2f} times; {counts[name]} iterations of {each:.0f} us")
    return 0
