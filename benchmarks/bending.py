"""A lazy wave that bends (80 m, ``inputs/lazy_wave.inp``) in fem and CableDyn: ``python -m benchmarks.bending PYTHON``.

PYTHON: an interpreter that has CableDyn. Both start at rest, the hang-off heaves by 3 m in 12 s behind a ramp of one
period, for 48 s. Prints, for each number of bars and increment, the least and largest tension at the hang-off and the
largest curvature of the last two periods, their largest difference from the finest run of the same program, and the
processor time of the time loop: of the whole run, less that of one of two increments. The programs run in turn.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import fem

Array = NDArray[np.float64]
LENGTHS = 68.114, 50.0, 15.993
SHARES = 0.51, 0.37
"""Of the bars in the first two of these lengths."""
RUNS = ((50, 0.1), (100, 0.1), (100, 0.05), (200, 0.1))
FINEST = {"fem": (400, 0.0125), "CableDyn": (200, 0.0125)}
PERIOD, HEAVE, DURATION = 12.0, 3.0, 48.0
INNER = 0.03, 0.97
DECK = Path(__file__).resolve().parents[1] / "inputs" / "lazy_wave.inp"
CABLEDYN = """--- CableDyn Input File ---
lazy wave
--- LINE TYPES ---
TypeName Diam MassDenInAir EA BA EI Cd_n Cd_t Ca_n Ca_t
(-) (m) (kg/m) (N) (-) (N-m2) (-) (-) (-) (-)
bare 0.160 36.70 4.69e8 0.0 1.99e4 1.2 0.1 1.0 0.0
buoy 0.290 59.53 4.69e8 0.0 1.99e4 1.2 0.1 1.0 0.0
--- POINTS ---
ID Type X Y Z
(-) (-) (m) (m) (m)
1 Coupled 0.0 0.0 -14.0
2 Fixed 83.8754 0.0 -80.0
--- LINES ---
ID NodeA NodeB Outputs
(-) (-) (-) (-)
1 1 2 -
--- SECTIONS ---
LineID LineType Length NumSegs
(-) (-) (m) (-)
1 bare 68.114 {0}
1 buoy 50.000 {1}
1 bare 15.993 {2}
--- OPTIONS ---
9.80665 g
1025.0 rhoW
0.4 rhoInf
{dt} dtM
{duration} TMax
motion.txt motionFile
False adaptive_mesh
True tensile_safety
dynamic_solver 1.0e-4 1.0e-14 100 12
--- OUTPUTS ---
"FairTen1"
{outputs}
--- need this line ---
"""


def parts_of(bars: int) -> tuple[int, int, int]:
    one, two = (round(bars * share) for share in SHARES)
    return one, two, bars - one - two


def motion(dt: float, duration: float) -> Array:
    """(k, 4) time, heave, its rate and acceleration: a sine behind a ramp of fifth order."""
    t = dt * np.arange(round(duration / dt) + 1)
    s, w = np.minimum(t / PERIOD, 1.0), 2.0 * math.pi / PERIOD
    ramp = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    rate = 30.0 * s**2 * (1.0 - s) ** 2 / PERIOD
    second = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / PERIOD**2
    sine, cosine = np.sin(w * t), np.cos(w * t)
    v, a = rate * sine + ramp * w * cosine, second * sine + 2.0 * rate * w * cosine - ramp * w * w * sine
    return np.column_stack([t, HEAVE * ramp * sine, HEAVE * v, HEAVE * a])


def numbers(bars: int, time_: Array, tension: Array, curvature: Array) -> Array:
    """Least and largest tension, largest curvature between the ends (nodes from the hang-off on)."""
    pieces = np.repeat(np.divide(LENGTHS, parts_of(bars)), parts_of(bars))
    arc = np.concatenate([[0.0], np.cumsum(pieces)])[: curvature.shape[1]] / sum(LENGTHS)
    late, inner = time_ >= DURATION - 2.0 * PERIOD - 1e-9, (arc > INNER[0]) & (arc < INNER[1])
    return np.array([tension[late].min(), tension[late].max(), curvature[late][:, inner].max()])


def by_fem(bars: int, dt: float, folder: Path) -> tuple[Array, float]:
    """Numbers, and seconds of the loop."""
    text = DECK.read_text()
    head, rest = text.split("*AMPLITUDE, NAME=HEAVE", 1)
    record = folder / "heave.csv"
    np.savetxt(record, motion(0.0125, DURATION)[:, :2], delimiter=",", header="time,heave", comments="", fmt="%.12g")
    given = f"*AMPLITUDE, NAME=HEAVE, INPUT={record.name}, COLUMN=heave, DEFINITION=SPLINE\n"
    rest = rest[rest.index("*BOUNDARY") :]
    ramp, heave = rest.index("** up to the crest"), rest.index("*STEP, NLGEOM, NAME=HEAVE")
    text = (head + given + rest[:ramp] + rest[heave:]).replace("3, 3, <heave>", "3, 3, 1.")
    text = text.replace("GENERALIZED ALPHA\n", "GENERALIZED ALPHA, RHO=0.4\n")
    count = dict(zip(("one", "two", "three"), map(float, parts_of(bars)), strict=True))
    (folder / "wave.inp").write_text(text)
    model = fem.read_deck(folder / "wave.inp", parameters={**count, "dt": dt, "time": DURATION})
    last = model.steps[-1]
    short = replace(last, procedure=replace(last.procedure, period=2.0 * dt))
    begun = replace(model, steps=(*model.steps[:-1], short))
    fem.run(begun)
    used = [time.process_time()]
    fem.run(begun)
    used.append(time.process_time())
    history = fem.run(model)
    used.append(time.process_time())
    nodes = np.sort(model.mesh.node_labels)
    curvature = np.stack([history.of_node(int(node), "SK") for node in nodes], axis=1)
    tension = np.linalg.norm(history.of_node(1, "RF"), axis=1)
    return numbers(bars, history.time - 1.0, tension, curvature), used[2] - 2.0 * used[1] + used[0]


def by_cabledyn(program: str, bars: int, dt: float, folder: Path) -> tuple[Array, float]:
    """The same."""
    seconds = []
    for duration in (2.0 * dt, DURATION):
        rows = motion(dt, duration)
        lines = (f"{t:.10g} 1 0 0 {h - 14.0:.12e} 0 0 {v:.12e} 0 0 {a:.12e}" for t, h, v, a in rows.tolist())
        (folder / "motion.txt").write_text("\n".join(lines) + "\n")
        outputs = "\n".join(f'"Curv1N{node}"' for node in range(1, bars + 1))
        deck = CABLEDYN.format(*parts_of(bars), dt=dt, duration=duration, outputs=outputs)
        (folder / "wave.dat").write_text(deck)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run([program, "wave.dat", "wave"], cwd=folder, env=environment, check=True, capture_output=True)
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    found = np.loadtxt(folder / "wave.out", skiprows=2)
    return numbers(bars, found[:, 0], found[:, 1], found[:, 2:]), seconds[1] - seconds[0]


def main() -> None:
    where = "import cabledyn, pathlib; print(pathlib.Path(cabledyn.__file__).parent / 'bin' / 'cabledyn')"
    program = subprocess.run([sys.argv[1], "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        best = {"fem": by_fem(*FINEST["fem"], folder)[0]}
        best["CableDyn"] = by_cabledyn(program, *FINEST["CableDyn"], folder)[0]
        for bars, dt in RUNS:
            least: dict[str, float] = {}
            for turn in range(3):
                for code in best:
                    found, seconds = (
                        by_fem(bars, dt, folder) if code == "fem" else by_cabledyn(program, bars, dt, folder)
                    )
                    least[code] = min(seconds, least.get(code, math.inf))
                    off = float(np.abs(found / best[code] - 1.0).max())
                    if turn == 2:
                        print(f"{code:9s} {bars:4d} {dt:6g}  {found.round(5)}  off {off:.2%}  {least[code]:.2f} s")


if __name__ == "__main__":
    main()
