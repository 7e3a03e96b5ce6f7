"""The buoy on three legs in fem and CableDyn: ``python -m benchmarks.buoy_cabledyn PYTHON``.

PYTHON: an interpreter that has CableDyn. The buoy (``inputs/moored_buoy.inp``) is held 0.5 m aside without pitch and
let go for 20 s. Prints, for each number of bars a leg and increment, the root mean square differences of surge, heave
and pitch from the finest run of the same program, over the largest excursion, and the processor time of the time loop:
of the whole run, less that of one of two increments. The programs run in turn.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fem
from benchmarks.bending import Array
from validation.cases.moored_buoy import INSTANTS, motion, upright

RUNS = ((20, 0.05), (20, 0.025), (40, 0.025), (40, 0.0125))
FINEST, DURATION = (80, 0.0025), float(INSTANTS[-1])
CABLEDYN = """--- CableDyn Input File ---
buoy on three legs
--- LINE TYPES ---
TypeName Diam MassDenInAir EA BA EI Cd_n Cd_t Ca_n Ca_t
(-) (m) (kg/m) (N) (-) (N-m2) (-) (-) (-) (-)
rope 0.12 15.0 5.0e7 0.0 0.0 1.2 0.2 1.0 0.0
--- BODIES ---
ID Type X Y Z Roll Pitch Yaw Mass Volume C33 C44 C55 CdA Ca Ixx Iyy Izz
(-) (-) (m) (m) (m) (deg) (deg) (deg) (kg) (m^3) (N/m) (N-m) (N-m) (m^2) (-) (-) (-) (-)
1 Rigid6 0.5 0 -20 0 0 0 20000 40 0 0 0 8 0.5 35000 35000 35000
--- POINTS ---
ID Type X Y Z
(-) (-) (m) (m) (m)
1 Body1 1.5 0 -2
2 Body1 -0.75 1.299038106 -2
3 Body1 -0.75 -1.299038106 -2
4 Fixed 40 0 -100
5 Fixed -20 34.64101615 -100
6 Fixed -20 -34.64101615 -100
--- LINES ---
ID NodeA NodeB Outputs
(-) (-) (-) (-)
1 1 4 -
2 2 5 -
3 3 6 -
--- SECTIONS ---
LineID LineType Length NumSegs
(-) (-) (m) (-)
1 rope 86.85 {bars}
2 rope 86.85 {bars}
3 rope 86.85 {bars}
--- OPTIONS ---
9.80665 g
1025.0 rhoW
100.0 WtrDpth
1.0e5 kBot
0.4 rhoInf
deck bodyIC
{dt} dtM
{duration} TMax
False adaptive_mesh
True tensile_safety
dynamic_solver 1.0e-4 1.0e-14 100 12
--- OUTPUTS ---
"Body1Px"
"Body1Pz"
"Body1Ry"
--- need this line ---
"""


def errors(found: Array, best: Array) -> Array:
    """(3,) of the motions (k, 3) at ``INSTANTS``."""
    excursion = np.abs(best - best[0]).max(axis=0)
    return np.asarray(np.sqrt(((found - best) ** 2).mean(axis=0)) / excursion)


def by_fem(bars: int, dt: float) -> tuple[Array, float]:
    """Surge, heave and pitch at ``INSTANTS``, and seconds of the loop."""
    used, histories = [], []
    for duration in (2.0 * dt, 2.0 * dt, DURATION):
        model = upright(bars=bars, dt=dt, duration=duration)
        began = time.process_time()
        histories.append(fem.run(model))
        used.append(time.process_time() - began)
    return motion(histories[-1]) * [1.0, 1.0, math.degrees(1.0)], used[2] - used[1]


def by_cabledyn(program: str, bars: int, dt: float, folder: Path) -> tuple[Array, float]:
    """The same."""
    used = []
    for duration in (2.0 * dt, DURATION):
        (folder / "buoy.dat").write_text(CABLEDYN.format(bars=bars, dt=dt, duration=duration))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run([program, "buoy.dat", "buoy"], cwd=folder, env=environment, check=True, capture_output=True)
        used.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    found = np.loadtxt(folder / "buoy.out", skiprows=2)
    return np.column_stack([np.interp(INSTANTS, found[:, 0], found[:, c]) for c in (1, 2, 3)]), used[1] - used[0]


def main() -> None:
    where = "import cabledyn, pathlib; print(pathlib.Path(cabledyn.__file__).parent / 'bin' / 'cabledyn')"
    program = subprocess.run([sys.argv[1], "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        best = {"fem": by_fem(*FINEST)[0], "CableDyn": by_cabledyn(program, *FINEST, folder)[0]}
        between = errors(best["fem"] + [0.5, -20.0, 0.0] - best["fem"][0], best["CableDyn"])
        print(f"fem beside CableDyn, surge, heave, pitch: {between.round(4)}")
        for bars, dt in RUNS:
            least = dict.fromkeys(best, math.inf)
            for turn in range(5):
                for code in best:
                    found, seconds = by_fem(bars, dt) if code == "fem" else by_cabledyn(program, bars, dt, folder)
                    least[code] = min(seconds, least[code])
                    if turn == 4:
                        off = ", ".join(f"{each:.2%}" for each in errors(found, best[code]))
                        print(f"{code:9s} {bars:4d} {dt:6g}  {off}  {least[code]:.3f} s")


if __name__ == "__main__":
    main()
