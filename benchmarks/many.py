"""``python -m benchmarks many``: many rows of a small deck, beside JAX, MuJoCo, CableDyn and MoorDyn, in microseconds a
row.

What counts is processor time. Of fem: that of the whole command ``fem sweep`` with one worker, from deck to table, less
that of a sweep of four rows, over the rows beyond these; lanes are compiled before, and taken wherever a deck allows
them. Of the peers: that of all rows, without start and compilation (``peer_jax.py``, ``peer_lines.py``); CableDyn's
program is started for each row, which takes 10 ms. Programs run in turn. The ratio is that of a round; what is shown is
the middle one of the rounds.

``--scale``: seconds and largest memory of M1 with 1e3 to 1e6 rows, each number in a process of its own, and a figure.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.jobs import MANY_EXPLICIT
from benchmarks.line_jobs import heaving
from benchmarks.lines import text_with
from benchmarks.measure import OURS
from benchmarks.process import ROOT, environment, run_process
from benchmarks.report import aligned, number, occasion

Axis = tuple[str, float, float, int]
"""A *PARAMETER, its first and last value, how many."""
LOOSE, TIGHT = "1.E-7", "1.E-10"
"""RESI_GLOB_RELA of M1, M1D and M2; with which their numbers are compared, as iterates of either program differ."""
COARSE = 0.1
"""Largest forces of a line of 20 bars are up to 6 % apart, most of it by the mesh."""
WARM, FEW = 100, 4
"""Rows that compile, or load, all there is; rows of a sweep that is hardly more than its start."""
SIZES = (1_000, 10_000, 100_000, 1_000_000)
LIMIT = 3600.0
"""Seconds of a peer."""
HEIGHT, PERIOD = 4.0, 10.0
"""Of the sea of M5L, and of the heave in it."""
COLUMNS = ("job", "program", "rows", "us a row", "fem / it", "start, s", "difference", "answer")


@dataclass(frozen=True, slots=True)
class Study:
    """A deck whose parameters are varied.

    text       the deck
    axes       of so many rows: what is varied
    rows       of fem;  peers (name -> rows) of others
    agreement  how far numbers of peers may be from ours, over the largest of their kind
    """

    what: str
    text: Callable[[], str]
    axes: Callable[[int], Sequence[Axis]]
    rows: int
    peers: Mapping[str, int]
    agreement: float

    def vary(self, rows: int) -> list[str]:
        """Words of ``fem sweep``."""
        return [f"--vary={name}={first!r}:{last!r}:{count}" for name, first, last, count in self.axes(rows)]

    def cases(self, rows: int) -> list[dict[str, float]]:
        """The parameters of each row, in order."""
        axes = self.axes(rows)
        values = [np.linspace(first, last, count).tolist() for _, first, last, count in axes]
        return [dict(zip((axis[0] for axis in axes), row, strict=True)) for row in itertools.product(*values)]


def pendulum_text() -> str:
    return (ROOT / "inputs/pendulum_lumped.inp").read_text(encoding="utf-8")


def chain_text() -> str:
    """Ten bars, let go from the horizontal."""
    return f"""*HEADING
Benchmark many M2: a falling chain of ten bars (python -m benchmarks many)
*PARAMETER
EA = 1e5
*NODE
1, 0., 0., 0.
11, 1., 0., 0.
*NGEN, NSET=ALL
1, 11, 1
*NSET, NSET=TIP
11
*ELEMENT, TYPE=T3D2, ELSET=CHAIN
1, 1, 2
*ELGEN, ELSET=CHAIN
1, 10
*ELSET, ELSET=FIRST
1
*SOLID SECTION, ELSET=CHAIN, MATERIAL=M, MASS=LUMPED, STRAIN=GREEN
1.
*MATERIAL, NAME=M
*ELASTIC
<EA>, 0.
*DENSITY
1.
*BOUNDARY
1, 1, 3
ALL, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.002, 0.4
*CONTROLS, RESI_GLOB_RELA={LOOSE}
*DLOAD
CHAIN, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=TIP
U
*EL PRINT, ELSET=FIRST
T
*END STEP
"""


def explicit_text() -> str:
    """The same by central differences, as a peer without strain measures has them: elongation over length."""
    job, head = MANY_EXPLICIT, "*DYNAMIC, DIRECT, "
    text = chain_text().replace("M2:", "M2X:").replace("STRAIN=GREEN", "STRAIN=ENGINEERING")
    before, rest = text.split(head)
    return f"{before}{head}EXPLICIT\n{job.dt!r}, {job.dt * job.increments!r}\n{rest[rest.index('*DLOAD') :]}"


def wave_text() -> str:
    """The line of ``heaving`` in a regular wave of height H and period T; AIRY takes the amplitude."""
    return line_text(["amplitude = H/2"], ["*WAVE, TYPE=AIRY, WAVE PERIOD", "<amplitude>, <T>, 0., 1., 0."])


def sea_text() -> str:
    """The same line and heave in an irregular sea."""
    return line_text(["SEED = 1"], ["*WAVE, TYPE=JONSWAP, SEED=<SEED>, COMPONENTS=100", "<H>, <T>, 3.3, 1., 0."])


def line_text(parameters: Sequence[str], sea: Sequence[str]) -> str:
    """A deck with H, T and other parameters; waves are stretched as CableDyn does it."""
    job, (wave, numbers) = heaving(HEIGHT, PERIOD), sea
    heave = ["*AMPLITUDE, NAME=HEAVE, TIME=STEP TIME, DEFINITION=PERIODIC", "1, <omega>, 0., -1.", "1., 0."]
    names = ["*PARAMETER", f"H = {HEIGHT!r}", f"T = {PERIOD!r}", "omega = 2*pi/T", "half = H/2", *parameters]
    return text_with(
        job, [f"{wave}, STRETCHING=WHEELER", numbers], ["*ELSET, ELSET=TOP", str(job.bars), *heave],
        ["*BOUNDARY, AMPLITUDE=HEAVE", "FAIRLEADS, 3, 3, <half>"], names, ["*EL PRINT, ELSET=TOP, FREQUENCY=1", "T"],
    )  # fmt: skip


def heights_and_periods(rows: int) -> tuple[Axis, Axis]:
    """Periods are at most 40, heights at least two."""
    heights = max(2, rows // 40)
    return ("H", 1.0, 8.0, heights), ("T", 6.0, 15.0, max(2, rows // heights))


def along(name: str, first: float, last: float) -> Callable[[int], tuple[Axis]]:
    return lambda rows: ((name, first, last, rows),)


STUDIES = {
    "M1": Study("pendulum over period", pendulum_text, along("period", 2.0, 3.0), 10_000, {"jax": 10_000}, 1e-6),
    "M1D": Study(
        "pendulum over duration", pendulum_text, along("duration", 1.18392, 3.55176), 10_000, {"jax": 10_000}, 1e-6
    ),
    "M2": Study("chain of 10 bars over EA", chain_text, along("EA", 5e4, 2e5), 2048, {"jax": 2048}, 1e-6),
    "M2X": Study(
        "the same by central differences",
        explicit_text,
        along("EA", 5e4, 2e5),
        2048,
        {"mujoco": 256},
        1e-6,
    ),
    "M3": Study(
        "line of 20 bars in a regular wave",
        wave_text,
        heights_and_periods,
        1000,
        {"cabledyn": 80, "moordyn": 80},
        COARSE,
    ),
    "M5L": Study("the same in seas", sea_text, lambda n: [("SEED", 1.0, float(n), n)], 200, {"cabledyn": 20}, COARSE),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds and largest memory [MB] of a process."""

    seconds: float
    megabytes: float


@dataclass(slots=True)
class Outcome:
    """A program on a job: microseconds a row of each round, seconds of its start, how far its numbers are from ours,
    what it printed last."""

    job: str
    program: str
    rows: int
    microseconds: list[float]
    start: float = float("nan")
    difference: float = float("nan")
    failed: str = ""
    answer: dict[str, Any] = field(default_factory=dict)


def spend(command: Sequence[str], folder: Path) -> Spent:
    """Run to the end. CalledProcessError where it fails."""
    output = folder / "output.txt"
    with output.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=file, stderr=file)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output.read_text()[-2000:])
    return Spent(used.ru_utime + used.ru_stime, used.ru_maxrss / (1024.0 if sys.platform != "darwin" else 1024.0**2))


def sweep(folder: Path, text: str, *words: str) -> Spent:
    """``fem sweep`` of a deck in a process of its own; its table is in ``folder/table``."""
    deck = folder / "deck.inp"
    deck.write_text(text, encoding="utf-8")
    shutil.rmtree(folder / "table", ignore_errors=True)
    own = ["--workers=1", "--quiet", f"--output={folder / 'table'}"]
    return spend([sys.executable, "-m", "benchmarks.many", str(deck), *words, *own], folder)


def table_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "table/sweep.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ends_of(name: str, peer: int, folder: Path) -> list[dict[str, str]]:
    """Our table of the first and last row of a peer, as accurate as it is compared."""
    study = STUDIES[name]
    first, last = study.cases(peer)[0], study.cases(peer)[-1]
    cases = folder / "cases.csv"
    cases.write_text("\n".join(",".join(map(str, line)) for line in (first, first.values(), last.values())) + "\n")
    sweep(folder, study.text().replace(f"RELA={LOOSE}", f"RELA={TIGHT}"), f"--cases={cases}")
    return table_rows(folder)


def difference(ours: Sequence[Mapping[str, str]], answer: Mapping[str, Any]) -> float:
    """Largest one of numbers of U and T, over the largest number of its kind in the row."""
    found = [0.0]
    for row, its in zip(ours, (answer["first"], answer["last"]), strict=True):
        kinds: dict[str, list[str]] = {}
        for column in its:
            if column[0] in "UT":
                kinds.setdefault(column.partition("_")[0], []).append(column)
        for columns in kinds.values():
            size = max(abs(its[column]) for column in columns)
            found += [abs(float(row[column]) - its[column]) / size for column in columns]
    return max(found)


def write_rows(name: str, rows: int, folder: Path) -> Path:
    """Heave and regular waves (circular frequency, amplitude, phase) of each row of a line, for peers."""
    from fem.deck import deck_reader

    cases, deck = STUDIES[name].cases(rows), folder / "waves.inp"
    deck.write_text(STUDIES[name].text(), encoding="utf-8")
    read = deck_reader(deck, list(cases[0]))
    heaves = [(case.get("H", HEIGHT), case.get("T", PERIOD)) for case in cases]
    waves = [read(case).sea[:, [0, 2, 3]] for case in cases]
    path = folder / "rows.npz"
    np.savez(path, heaves=np.array(heaves), waves=np.array(waves))
    return path


def command_of(name: str, peer: str, rows: int, options: argparse.Namespace, folder: Path, relative: str) -> list[str]:
    """Which runs a peer."""
    if peer == "jax":
        ((_, first, last, _),) = STUDIES[name].axes(rows)
        words = name, repr(first), repr(last), str(rows), relative
        return [options.jax_python, "-m", "benchmarks.peer_jax", *words]
    if peer == "mujoco":
        ((_, first, last, _),) = STUDIES[name].axes(rows)
        return [options.peer_python, "-m", "benchmarks.peer_mujoco", repr(first), repr(last), str(rows)]
    return [options.peer_python, "-m", "benchmarks.peer_lines", peer, str(write_rows(name, rows, folder))]


def measure(name: str, options: argparse.Namespace) -> list[Outcome]:
    """A job in all programs that have an interpreter, in turn."""
    study = STUDIES[name]
    rows = options.rows or study.rows
    given = dict.fromkeys(("cabledyn", "moordyn", "mujoco"), options.peer_python) | {"jax": options.jax_python}
    peers = {peer: min(most, options.rows or most) for peer, most in study.peers.items() if given[peer]}
    ours = Outcome(name, OURS, len(study.cases(rows)), [])
    others = [Outcome(name, peer, len(study.cases(its)), []) for peer, its in peers.items()]
    with TemporaryDirectory() as text:
        folder = Path(text)
        sweep(folder, study.text(), *study.vary(min(WARM, rows)))
        for _ in range(options.rounds):
            ours.start = sweep(folder, study.text(), *study.vary(FEW)).seconds
            spent = sweep(folder, study.text(), *study.vary(rows)).seconds - ours.start
            ours.microseconds.append(1e6 * spent / (ours.rows - FEW))
            for peer in others:
                clock(peer, peers[peer.program], options, folder)
        for peer in others:
            compare(peer, peers[peer.program], options, folder)
    return [ours, *others]


def ask(peer: Outcome, rows: int, options: argparse.Namespace, folder: Path, relative: str = LOOSE) -> dict[str, Any]:
    """Let a peer compute so many rows; its answer."""
    answer, _ = run_process(command_of(peer.job, peer.program, rows, options, folder, relative), LIMIT)
    if "seconds" not in answer:
        peer.failed = answer.get("failed", "no answer")
    return answer


def clock(peer: Outcome, rows: int, options: argparse.Namespace, folder: Path) -> None:
    """A peer's part of a round."""
    answer = ask(peer, rows, options, folder)
    if not peer.failed:
        peer.microseconds.append(1e6 * answer["seconds"] / peer.rows)
        peer.answer, peer.start = answer, answer.get("start", float("nan"))


def compare(peer: Outcome, rows: int, options: argparse.Namespace, folder: Path) -> None:
    """The first and last row of a peer with ours."""
    answer = ask(peer, 2, options, folder, TIGHT) if peer.program == "jax" else peer.answer
    if not peer.failed:
        peer.difference = difference(ends_of(peer.job, rows, folder), answer)


def table(outcomes: Sequence[Outcome]) -> str:
    """The table of jobs, ours first in each."""
    ours = {each.job: each for each in outcomes if each.program == OURS}
    return aligned(
        [COLUMNS, *([each.job, each.program, str(each.rows), *cells_of(each, ours[each.job])] for each in outcomes)]
    )


def cells_of(outcome: Outcome, ours: Outcome) -> list[str]:
    """The rest of a row, from the microseconds on."""
    if outcome.failed or not outcome.microseconds:
        return ["-", "-", "-", "-", f"failed: {outcome.failed}"]
    middle, start = statistics.median(outcome.microseconds), number(outcome.start)
    if outcome is ours:
        return [f"{middle:.4g}", "-", start, "-", "-"]
    ratio = statistics.median(a / b for a, b in zip(ours.microseconds, outcome.microseconds, strict=True))
    return [f"{middle:.4g}", number(ratio), start, number(outcome.difference, ".1e"), verdict(outcome)]


def verdict(outcome: Outcome) -> str:
    return "ok" if outcome.difference <= STUDIES[outcome.job].agreement else "WRONG"


def scale(sizes: Sequence[int]) -> list[tuple[int, Spent]]:
    """M1 with so many rows; seconds are those less the start."""
    study, found = STUDIES["M1"], []
    with TemporaryDirectory() as text:
        folder = Path(text)
        sweep(folder, study.text(), *study.vary(WARM))
        start = sweep(folder, study.text(), *study.vary(FEW)).seconds
        for rows in sizes:
            spent = sweep(folder, study.text(), *study.vary(rows))
            found.append((rows, Spent(spent.seconds - start, spent.megabytes)))
            print(scale_table(found).splitlines()[-1], file=sys.stderr, flush=True)
    return found


def scale_table(found: Sequence[tuple[int, Spent]]) -> str:
    rows = [
        [str(count), f"{spent.seconds:.3g}", f"{1e6 * spent.seconds / (count - FEW):.3g}", f"{spent.megabytes:.0f}"]
        for count, spent in found
    ]
    return aligned([["rows of M1", "s", "us a row", "MB"], *rows])


def draw_scale(found: Sequence[tuple[int, Spent]], path: Path) -> None:
    """Seconds and MB over rows, with a line in proportion to the rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    seconds, memory = figure.subplots(1, 2)
    rows = [count for count, _ in found]
    seconds.loglog(rows, [spent.seconds for _, spent in found], "o-", color="#0072B2")
    line = found[-1][1].seconds / rows[-1]
    seconds.loglog(rows, [line * count for count in rows], "--", color="#666666", label="in proportion to rows")
    memory.loglog(rows, [spent.megabytes for _, spent in found], "o-", color="#D55E00")
    memory.set_ylim(10.0, max(1000.0, 2.0 * max(spent.megabytes for _, spent in found)))
    for axes, label in ((seconds, "processor time [s]"), (memory, "largest memory [MB]")):
        axes.set(xlabel="rows", ylabel=label)
        axes.grid(True, which="major", alpha=0.3)
    seconds.legend(frameon=False)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def parser() -> argparse.ArgumentParser:
    """The options."""
    top = argparse.ArgumentParser(
        prog="benchmarks many", description="Many rows of small decks, beside other programs."
    )
    top.add_argument("--jobs", nargs="+", choices=list(STUDIES), default=list(STUDIES), help="default: all")
    top.add_argument("--rows", type=int, default=0, help="rows of each job, of peers at most (default: its own)")
    top.add_argument("--rounds", type=int, default=3, help="runs of each program, in turn (default: 3)")
    top.add_argument("--peer-python", default="", help="interpreter that has CableDyn, MoorDyn, MuJoCo; none: without")
    top.add_argument("--jax-python", default="", help="interpreter that has JAX; none: without it")
    top.add_argument("--scale", action="store_true", help="seconds and memory of M1 over rows (at most --rows)")
    top.add_argument("--output", type=Path, default=Path("results/benchmarks"), help="folder of the report")
    return top


def main(words: Sequence[str]) -> int:
    """Print and write a table; 1 where numbers differ from those of a peer."""
    options, load = parser().parse_args(words), os.getloadavg()[0]
    if 0 < options.rows <= FEW:
        parser().error(f"--rows: more than {FEW}, which are part of the start")
    options.output.mkdir(parents=True, exist_ok=True)
    if options.scale:
        found = scale([size for size in SIZES if size <= (options.rows or size)])
        draw_scale(found, options.output / "benchmarks_scale.png")
        return write(options.output / "scale.md", f"{occasion(load)}; one worker.", scale_table(found))
    outcomes: list[Outcome] = []
    for name in options.jobs:
        outcomes += measure(name, options)
        print(table([each for each in outcomes if each.job == name]), file=sys.stderr, flush=True)
    peers = ", ".join(sorted({f"{each.program} {each.answer['version']}" for each in outcomes if each.answer}))
    write(
        options.output / "many.md",
        f"{occasion(load)}; {peers or 'no peers'}; middle of {options.rounds} rounds.",
        table(outcomes),
    )
    return int(any(each.failed or (each.program != OURS and verdict(each) != "ok") for each in outcomes))


def write(path: Path, head: str, text: str) -> int:
    path.write_text(f"# Many runs\n\n{head}\n\n{text}\n", encoding="utf-8")
    print(text, f"written: {path}", sep="\n")
    return 0


if __name__ == "__main__":
    from fem.cli import main as command
    from fem.study import workers

    workers.is_worth_compiling = lambda *_: True
    raise SystemExit(command(["sweep", *sys.argv[1:]]))
