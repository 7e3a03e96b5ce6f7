"""``python -m benchmarks buoy [--bars 50] [--repeat 5]``: three lines on a free buoy, and the same on prescribed ends.

The deck is ``inputs/moored_buoy.inp`` with more bars, 20 s in increments of 0.02 s, without printed output. Prescribed
ends sway by the same 0.5 m in 5 s. Runs take turns; seconds of processor time, the least of some runs. The buoy is also
run with the sparse direct solver.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path

import fem

DECK = Path(__file__).resolve().parents[1] / "inputs" / "moored_buoy.inp"
SWAY = "*AMPLITUDE, NAME=SWAY, DEFINITION=PERIODIC\n1, 1.2566370614, 0., 0.\n1., 0.\n*STEP"
BODY = r"\*(RIGID BODY|ROTARY INERTIA|ELEMENT, TYPE=ROTARYI)"


def on_buoy(bars: int) -> str:
    """The deck with so many bars in each line, and no output."""
    text = DECK.read_text(encoding="utf-8").replace("<dt>, 10.", "0.02, 20.")
    for line in (1, 2, 3):
        text = re.sub(rf"\b{line}21, (-?\d+\.)", rf"{line}{bars + 1:02d}, \1", text)
        text = text.replace(f"{line}01, {line}21, 1, ", f"{line}01, {line}{bars + 1:02d}, 1, ")
        text = text.replace(f"{line}01, 20, 1, 1", f"{line}01, {bars}, 1, 1")
    text = text.replace("121, 221, 321", ", ".join(f"{line}{bars + 1:02d}" for line in (1, 2, 3)))
    return re.sub(r"\*(NODE|EL) PRINT.*\n.*\n", "", text)


def on_ends(bars: int) -> str:
    """The same lines without the body: their tops sway."""
    text = re.sub(rf"{BODY}.*\n([^*].*\n)*", "", on_buoy(bars)).replace("*STEP", SWAY, 1)
    text = text.replace("ANCHORS, 1, 3\n*AQUA", "ANCHORS, 1, 3\nBUOY, 1, 3\nTIED, 1, 3\n*AQUA")
    text = text.replace("1, 1, 1, <offset>", "TIED, 1, 1, <offset>")
    sway = "BUOY, 1, 3\nTIED, 2, 3\n*BOUNDARY, AMPLITUDE=SWAY\nTIED, 1, 1, <offset>\n"
    return text.replace("OP=NEW\nANCHORS, 1, 3\n", f"OP=NEW\nANCHORS, 1, 3\n{sway}")


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
