"""``python -m benchmarks gradients``: what derivatives cost beside the run, and the same derivatives from JAX.

Each job is a deck, computed without and with derivatives in turn; ``fem.sensitivity`` computes them, and the middle
ratio of the rounds is shown. What counts is processor time: of the time loop, from the first increment to the last, and
of the whole call, in which the deck is read and assembled four times more for each parameter. Machine code is compiled
before. JAX differentiates Newmark's scheme of ``peer_jax.py``: its times are those of compiled programs, with and
without derivatives.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.line_jobs import STUDLESS, single
from benchmarks.lines import text_with
from benchmarks.many import chain_text
from benchmarks.process import run_process
from benchmarks.report import aligned, number, occasion

AGREE, SHORT = 1e-9, 1e-3
"""Largest difference of derivatives from those of JAX, over the largest of their kind. In shorter increments than these
accelerations have the round-off of places over the square of the increment, and sum it up as the root of their number:
it is larger as the increment to the power -2.5."""
LIMIT = 3600.0
COLUMNS = ("job", "by", "run, s", "loop: (with - without) / without", "each", "whole call: each")
AGAINST = (
    "job", "fem with / without", "JAX with / without", "fem / JAX", "at most", "difference U", "difference T",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Study:
    """A deck, the parameters by which it is differentiated, and the numbers that are asked for.

    falling  bars, increment and number of increments of a chain that JAX computes, too; None: it does not
    """

    text: Callable[[], str]
    by: tuple[str, ...]
    names: tuple[str, ...]
    falling: tuple[int, float, int] | None = None


@dataclass(slots=True)
class Clocked:
    """Seconds without and with derivatives in each round: of the time loop, of the whole call."""

    loops: list[tuple[float, float]] = field(default_factory=list)
    calls: list[tuple[float, float]] = field(default_factory=list)

    @staticmethod
    def share(pairs: Sequence[tuple[float, float]]) -> float:
        """The middle of what derivatives take, over the run."""
        return statistics.median(after / before - 1.0 for before, after in pairs)


def falling_text(bars: int, dt: float, increments: int) -> str:
    """The falling chain of ``many`` with EA, density and length as parameters, iterated nearly to round-off.
    Bars are soft: in stiff ones the round-off of places is a large part of what a derivative changes."""
    text = chain_text().replace("EA = 1e5", "EA = 1e3\nrho = 1.\nlength = 1.").replace("11, 1., 0.", "11, <length>, 0.")
    text = text.replace("*DENSITY\n1.", "*DENSITY\n<rho>").replace("1.E-7", "1.E-13")
    text = text.replace("0.002, 0.4", f"{dt!r}, {dt * increments!r}")
    if bars == 1:
        text = text.replace("*NGEN, NSET=ALL\n1, 11, 1", "*NSET, NSET=ALL\n1, 11")
        return text.replace("1, 1, 2\n*ELGEN, ELSET=CHAIN\n1, 10", "1, 1, 11")
    return text


def line_text(waves: int) -> str:
    """The line of W6 with 50 bars for 600 s on a bottom with friction, in still water or a sea."""
    job = replace(single(50), name="gradients", current=(0.0, 0.0, 0.0))
    values = {"EA": STUDLESS.stiffness, "Cd": STUDLESS.drag, "mu": 0.6, "HS": 4.0}
    sea = [f"*WAVE, TYPE=JONSWAP, SEED=1, COMPONENTS={waves}, STRETCHING=WHEELER", "<HS>, 9., 3.3, 1., 0."]
    surge = ["*ELSET, ELSET=TOP", "50", "*AMPLITUDE, NAME=SURGE, TIME=STEP TIME, DEFINITION=PERIODIC"]
    text = text_with(
        job, sea if waves else [], [*surge, f"1, {np.pi / 10.0!r}, 0., 0.", "0., 1."],
        ["*BOUNDARY, AMPLITUDE=SURGE", "FAIRLEADS, 1, 1, 4.", "FAIRLEADS, 3, 3, 1.5"],
        ["*PARAMETER", *(f"{name} = {value!r}" for name, value in values.items())], ["*EL PRINT, ELSET=TOP", "T"],
    )  # fmt: skip
    text = text.replace(f"*ELASTIC\n{STUDLESS.stiffness!r}", "*ELASTIC\n<EA>")
    text = text.replace(f"FDD, 1., {STUDLESS.diameter!r}, {STUDLESS.drag!r}", f"FDD, 1., {STUDLESS.diameter!r}, <Cd>")
    bed = f"{job.bed[0]!r}, {job.bed[1]!r}, {STUDLESS.diameter!r}"
    return text.replace(bed, f"{bed}\n<mu>, <mu>")


FALLS = {"pendulum": (1, 2e-3, 600), "chain": (10, 1e-3, 400), "long chain": (10, 1e-4, 4000)}
TIP, TOP = ("U1_n11", "U3_n11", "T_e1"), ("T_e50",)
STUDIES = {
    name: Study(lambda its=its: falling_text(*its), ("EA", "rho", "length"), TIP, its) for name, its in FALLS.items()
} | {
    "line": Study(lambda: line_text(0), ("EA", "Cd", "mu"), TOP),
    "line in waves": Study(lambda: line_text(50), ("EA", "Cd", "mu"), TOP),
    "line over waves": Study(lambda: line_text(50), ("EA", "Cd", "HS"), TOP),
}


def measure(study: Study, by: Sequence[str], rounds: int, folder: Path) -> tuple[Clocked, Any]:
    """Times of a deck without and with derivatives in turn, and the derivatives."""
    from fem.deck import deck_reader, read_model
    from fem.runs.record import Requests, SilentSink, StepStart
    from fem.solve.loop import solve
    from fem.study.sensitivity.derivatives import differentiating

    class Watch(SilentSink):
        began = 0.0

        def begin(self, start: StepStart) -> None:
            self.began = time.process_time()

    def run(is_with: bool) -> tuple[float, float, Any]:
        watch, found, began = Watch(), None, time.process_time()
        model = read_model(deck)
        if is_with:
            solving, results = differentiating(partial(deck_reader, deck), model, by, {}, study.names)
            solving(model, watch, Requests(fields=False))
            loop, found = time.process_time() - watch.began, results()
        else:
            solve(model, watch, Requests(fields=False))
            loop = time.process_time() - watch.began
        return loop, time.process_time() - began, found

    deck, clocked = folder / "deck.inp", Clocked()
    deck.write_text(study.text(), encoding="utf-8")
    run(False), run(True)
    for _ in range(rounds):
        without, its = run(False), run(True)
        clocked.loops.append((without[0], its[0]))
        clocked.calls.append((without[1], its[1]))
    return clocked, its[2]


def row_of(name: str, by: Sequence[str], clocked: Clocked) -> list[str]:
    seconds = statistics.median(before for before, _ in clocked.loops)
    loop, call = clocked.share(clocked.loops), clocked.share(clocked.calls)
    shares = loop, loop / len(by), call / len(by)
    return [name, ", ".join(by), number(seconds), *(number(share, ".2f") for share in shares)]


def compare(name: str, study: Study, clocked: Clocked, found: Any, python: str, folder: Path) -> list[str]:
    """A row beside JAX; its last cell says what failed."""
    path = folder / "jax.npy"
    values = [repr(found.parameters[each]) for each in study.by]
    words = [*map(repr, study.falling or ()), *values, str(path)]
    answer, _ = run_process([python, "-m", "benchmarks.peer_jax", "gradients", *words], LIMIT)
    if "with" not in answer:
        return [name, *["-"] * 5, f"failed: {answer.get('failed', 'no answer')}"]
    ours, its = 1.0 + clocked.share(clocked.loops), answer["with"] / answer["without"]
    apart = differences(found.slopes[1:], np.load(path)[..., 1:])
    cells = [number(its) for its in (ours, its)] + [number(ours / its, ".2f")]
    return [name, *cells, *(number(each, ".1e") for each in (allowed(study), *apart))]


def allowed(study: Study) -> float:
    """Largest difference of its derivatives."""
    assert study.falling is not None
    return AGREE * max(1.0, (SHORT / study.falling[1]) ** 2.5)


def agrees(cells: Sequence[str]) -> bool:
    """Of a row of ``compare``."""
    limit, *apart = cells[-3:]
    return not cells[-1].startswith("failed") and all(float(each) <= float(limit) for each in apart)


def differences(ours: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Largest differences of derivatives (k, 3, s) of two displacements and a tension, each over the largest one of its
    kind and parameter."""
    apart = [
        np.abs(ours[:, its] - others[:, its]).max(axis=(0, 1)) / np.abs(others[:, its]).max(axis=(0, 1))
        for its in (slice(0, 2), slice(2, 3))
    ]
    return float(apart[0].max()), float(apart[1].max())


def parser() -> argparse.ArgumentParser:
    """The options."""
    top = argparse.ArgumentParser(prog="benchmarks gradients", description="What derivatives cost, and those of JAX.")
    top.add_argument("--jobs", nargs="+", choices=list(STUDIES), default=list(STUDIES), help="default: all")
    top.add_argument("--rounds", type=int, default=5, help="runs of each, in turn (default: 5)")
    top.add_argument("--jax-python", default="", help="interpreter that has JAX; none: without it")
    top.add_argument("--output", type=Path, default=Path("results/benchmarks"), help="folder of the report")
    return top


def main(words: Sequence[str]) -> int:
    """Print and write tables; 1 where derivatives are not those of JAX."""
    options, load, rows, beside = parser().parse_args(words), os.getloadavg()[0], [], []
    options.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as text:
        for name in options.jobs:
            study, folder = STUDIES[name], Path(text)
            for by in (study.by[:1], study.by):
                clocked, found = measure(study, by, options.rounds, folder)
                rows.append(row_of(name, by, clocked))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
            if study.falling and options.jax_python:
                beside.append(compare(name, study, clocked, found, options.jax_python, folder))
    text = aligned([COLUMNS, *rows])
    if beside:
        text += "\n\n" + aligned([AGAINST, *beside])
    path = options.output / "gradients.md"
    path.write_text(f"# Derivatives\n\n{occasion(load)}; middle of {options.rounds} rounds.\n\n{text}\n", "utf-8")
    print(text, f"written: {path}", sep="\n")
    return int(not all(map(agrees, beside)))
