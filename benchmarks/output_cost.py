"""What output costs: ``python -m benchmarks.output_cost``. W2 10000, tables and VTK of every 10th increment.

Runs the command line in a fresh process and reads ``timing`` of its ``run.json``: seconds for which the time loop
waits for the writers over seconds of the loop itself, and peak memory for two lengths of the run (it must not grow with
the number of increments).
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.decks import deck_text
from benchmarks.jobs import Job, jobs_of
from benchmarks.process import run_process

EVERY = 10
CHILD = """
import sys
from benchmarks.process import MARK, peak_mib
from fem.cli import main
code = main(["run", sys.argv[1], "--output", sys.argv[2], "--quiet"])
print(MARK + '{"peak_mib": %g, "code": %d}' % (peak_mib(), code))
"""


def saving_deck(job: Job) -> str:
    """The deck of a job, with all displacements in the tables and in VTK at every ``EVERY``-th increment."""
    requests = f"*NODE PRINT, FREQUENCY={EVERY}\nU\n*NODE FILE, FREQUENCY={EVERY}\nU, V\n*END STEP"
    return deck_text(job).replace("*END STEP", requests)


def cost(job: Job) -> tuple[float, float, float]:
    """Seconds of the time loop, seconds of writing, peak MiB."""
    with tempfile.TemporaryDirectory() as folder:
        deck, output = Path(folder) / f"{job.slug}.inp", Path(folder) / "out"
        deck.write_text(saving_deck(job), encoding="utf-8")
        answer, _ = run_process([sys.executable, "-c", CHILD, str(deck), str(output)], 600.0)
        if answer.get("code") != 0:
            raise SystemExit(f"{job.name}: {answer.get('failed', answer)}")
        timing = json.loads((output / "run.json").read_text(encoding="utf-8"))["timing"]
        return timing["solve"], timing["write"], answer["peak_mib"]


def main() -> None:
    """Print one line per length of the run."""
    job = jobs_of("W2", (10_000,))[0]
    for increments in (job.increments, 3 * job.increments):
        solve, write, peak = cost(dataclasses.replace(job, increments=increments))
        print(
            f"{job.name}, {increments} increments, every {EVERY}th saved: solve {solve:.3f} s, "
            f"write {write:.3f} s ({write / solve:.0%} of the solve), peak {peak:.0f} MiB"
        )


if __name__ == "__main__":
    main()
