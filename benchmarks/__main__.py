"""``python -m benchmarks [W1 W2 W3 ...]``: run the jobs, print a table, write Markdown and CSV.

``python -m benchmarks kernels``: the kernels alone, in ns per bar.
``python -m benchmarks first``: the first and the second time of commands, from an empty cache.
``python -m benchmarks driven``: runs that a program drives.
``python -m benchmarks buoy``: lines on a free body.
``python -m benchmarks gradients``: what derivatives cost, beside JAX.
``python -m benchmarks many``: sweeps beside JAX, CableDyn and MoorDyn, in us a row; ``--scale``: up to 1e6 rows.
``python -m benchmarks moorings``: a mooring engineer's work beside MoorPy, MoorDyn and pyextremes.
``python -m benchmarks reliability``: runs that are killed, starved of room and the like.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import buoy, driven, first, gradients, kernels, lanes, lines, many, moorings
from benchmarks.decks import write_deck
from benchmarks.jobs import WORKS, Job, jobs_of
from benchmarks.measure import OURS, PEERS, Plan, measure, missing_peers, references
from benchmarks.reliability import parts
from benchmarks.report import markdown, rows_of, write_report


def parser() -> argparse.ArgumentParser:
    """The options."""
    top = argparse.ArgumentParser(
        prog="benchmarks", description="Speed and answers of fixed work, beside other programs."
    )
    top.add_argument("works", metavar="WORK", nargs="*", help=f"of {', '.join(WORKS)} (default: all)")
    top.add_argument("--sizes", type=int, nargs="+", default=[], help="bars of W2, cells a side of W3, in place of all")
    top.add_argument("--match", default="", help="only jobs whose name contains this, such as dt=0.001 or static")
    top.add_argument("--repeat", type=int, default=3, help="runs of each program (default: 3)")
    top.add_argument("--limit", type=float, default=120.0, help="seconds any run may take (default: 120)")
    top.add_argument("--peers", nargs="*", metavar="NAME", choices=list(PEERS), help=f"beside {', '.join(PEERS)}")
    top.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    top.add_argument("--solver", default="AUTO", type=str.upper, help="linear solver of fem (default: AUTO)")
    top.add_argument("--no-whole", dest="whole", action="store_false", help="do not time whole processes")
    top.add_argument("--decks", action="store_true", help="only write the decks to benchmarks/decks/")
    top.add_argument("--output", type=Path, default=Path("results/benchmarks"), help="folder of the report")
    return top


def chosen_jobs(works: Sequence[str], sizes: Sequence[int], match: str) -> list[Job]:
    """The jobs to run; W5, an ensemble, and W6 and W7, lines in water, are none of them."""
    own = [work for work in works if work != "W5" and work not in lines.JOBS]
    return [job for work in own for job in jobs_of(work, tuple(sizes)) if match in job.name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 1 when an answer of ours is wrong or missing."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault("FEM_COMPILER", "wait")  # what is timed is machine code
    if words[:1] == ["kernels"]:
        return kernels.main(words[1:])
    if words[:1] == ["buoy"]:
        return buoy.main(words[1:])
    if words[:1] == ["driven"]:
        return driven.main(words[1:])
    if words[:1] == ["first"]:
        return first.main(words[1:])
    if words[:1] == ["gradients"]:
        return gradients.main(words[1:])
    if words[:1] == ["many"]:
        return many.main(words[1:])
    if words[:1] == ["moorings"]:
        return moorings.main(words[1:])
    if words[:1] == ["reliability"]:
        return parts.main(words[1:])
    options = parser().parse_args(words)
    works = [work.upper() for work in options.works] or list(WORKS)
    if unknown := [work for work in works if work not in WORKS]:
        parser().error(f"no work {', '.join(unknown)}; there are {', '.join(WORKS)}")
    jobs, remarks = chosen_jobs(works, options.sizes, options.match), []
    if options.decks:
        for job in jobs:
            print(write_deck(job))
        if "W5" in works:
            print(lanes.write_deck())
        return 0
    if "W5" in works and options.match in "W5":
        line, is_right = lanes.report()
        remarks.append(line)
        print(line)
        if not is_right:
            return 1
    for work in lines.JOBS:
        if work in works and options.match in work:
            remarks += lines.report(options.peer_python, work)
    peers = () if options.peers is None else tuple(options.peers or PEERS)
    plan = Plan(options.repeat, peers, options.peer_python, options.limit, options.whole, options.solver)
    for name, why in missing_peers(plan).items():
        remarks.append(f"{name} is missing: {why}")
        print(remarks[-1])
        peers = tuple(peer for peer in peers if peer != name)
    plan = Plan(options.repeat, peers, options.peer_python, options.limit, options.whole, options.solver)
    load, known, rows = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"), references(), []
    for job in jobs:
        rows += rows_of(measure(job, plan, lambda text: print(text, file=sys.stderr, flush=True)), known)
        paths = write_report(options.output, rows, remarks, load)
    if not jobs:
        return 0
    print(markdown(rows))
    print("written:", *paths)
    wrong = [row["job"] for row in rows if row["program"] == OURS and row["answer"].startswith(("WRONG", "failed"))]
    if wrong:
        print("wrong or missing answers:", ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
