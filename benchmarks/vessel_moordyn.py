"""``python -m benchmarks.vessel_moordyn PYTHON``: a line below a vessel moved by RAO, in fem and in MoorDyn.

PYTHON is an interpreter that has MoorDyn. The line is that of W6 (``line_jobs.single``), in still water; the vessel of
``inputs/moored_vessel.inp`` moves its fairlead, in a regular wave and in an irregular sea. ``fem`` writes that motion
every 0.005 s; both programs get the same places and velocities of it, fem every 0.05 s (cubics between), MoorDyn every
0.01 s, as its ``Step`` goes on from them with constant velocity: with 0.1 s the jumps at the ends of its intervals send
waves along the line (700 kN).

Equal in both: masses at nodes, buoyancy, drag, added mass, the bottom and its damping, internal damping BETA = 0.005 s
(BA = BETA EA), no friction, no current, no waves at the line. Different: MoorDyn's drag and bottom act with the
directions and slopes of nodes, its scheme is Runge and Kutta's; at the fairlead fem has the inertia of half a bar, too.
Forces compared are those on the vessel, which ``Step`` returns; FairTen leaves out the weight of half a segment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.driven import driven_text
from benchmarks.line_jobs import LineJob, single
from benchmarks.peer_lines import MOORDYN, text_of, written

INPUTS = Path(__file__).resolve().parents[1] / "inputs"
SEAS = {
    "regular wave, 6 m, 12 s": "TYPE=AIRY, WAVE PERIOD, RAMP=20.\n3., 12., 0., 1., 0.",
    "irregular sea, Hs 5 m, Tp 11 s": "TYPE=JONSWAP, SEED=1, COMPONENTS=100, RAMP=20.\n5., 11., 3.3, 1., 0.",
}
VESSEL = """*NODE
1, 0., 0., -10.
2, 0., 0., -30.
1000, 58., 0., 0.
*NSET, NSET=FAIRLEAD
1
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1E3
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*AQUA
-200., 0., 9.80665, 1025.
*WAVE, {sea}
*RAO, NAME=BOX, INPUT=moored_vessel.csv, SYMMETRY=XZ
*RIGID BODY, REF NODE=1000, PIN NSET=FAIRLEAD, RAO=BOX, HEADING=150.
*BOUNDARY
2, 1, 3
*STEP, NLGEOM, INC=10000000
*DYNAMIC, DIRECT
{every}, {seconds}
*NODE PRINT, NSET=FAIRLEAD
U, V
*END STEP
"""
SECONDS, SETTLED, EVERY, SAMPLE, BETA = 120.0, 30.0, 0.005, 0.05, 0.005
"""Duration; what is left out at its start; seconds between places of the motion, between forces; internal damping."""
BARS = {10: (0.01, 0.3), 20: (0.01, 0.3), 40: (0.01, 0.3), 80: (0.005, 0.1)}
"""Seconds of MoorDyn's ``Step``, and the part of its own limit of increments with which it gets through."""
FINE = 160, 0.025


def job_of(bars: int, dt: float) -> LineJob:
    """The line, without a current."""
    return replace(single(bars, dt, SECONDS), current=(0.0, 0.0, 0.0))


def motion_of(sea: str) -> np.ndarray:
    """(2, k, 3) displacements and velocities of the fairlead."""
    import fem

    model = fem.parse_deck(VESSEL.format(sea=sea, every=EVERY, seconds=SECONDS), folder=INPUTS)
    history = fem.run(model)
    moved = np.stack([history.of_node(1), history.of_node(1, "V")])
    moved[:, 0] = 0.0  # the deck's own start; waves rise from rest
    return moved


def by_fem(moved: np.ndarray, bars: int, dt: float) -> np.ndarray:
    """(k,) force at the fairlead every ``SAMPLE``."""
    import fem

    text = driven_text(job_of(bars, dt)).replace("*NO COMPRESSION", f"*DAMPING, BETA={BETA}\n*NO COMPRESSION")
    count, every, forces = round(SECONDS / SAMPLE), round(SAMPLE / EVERY), []
    with fem.stepper(fem.parse_deck(text), history=False) as sim:
        for k in range(1, count + 1):
            for axis, (u, v) in enumerate(moved[:, k * every].T.tolist()):
                sim[f"Q{axis}"] = u, v
            sim.advance_to(1e-6 + k * SAMPLE)
            forces.append(float(np.linalg.norm(sim.reaction(1 + bars))))
    return np.array(forces)


def by_moordyn(moved: np.ndarray, bars: int) -> np.ndarray:
    """The same."""
    import moordyn

    (step, limit), job = BARS[bars], job_of(bars, SAMPLE)
    ends = [f"1 Fixed {' '.join(map(repr, job.anchors[0]))} 0 0 0 0"]
    ends += [f"2 Coupled {' '.join(map(repr, job.rest[0]))} 0 0 0 0"]
    options = f"rk4 tScheme\n{limit} CFL\n0.00001 threshIC\n2000 TmaxIC\n4 CdScaleIC\n2.0 dtIC"
    line, damping = f"1 chain 1 2 {job.length} {bars} -", BETA * job.chain.stiffness
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = text_of(MOORDYN, job, ends, [line], damping, current="0 Currents", options=options)
        system = moordyn.Create(written(folder, text))
        rest, forces = np.array(job.rest[0]), []
        moordyn.Init(system, rest.tolist(), [0.0, 0.0, 0.0])
        for k in range(round(SECONDS / step)):
            u, v = moved[:, k * round(step / EVERY)]
            forces.append(np.linalg.norm(moordyn.Step(system, (rest + u).tolist(), v.tolist(), k * step, step)))
        os.chdir(INPUTS)
    every = round(SAMPLE / step)
    return np.array(forces)[every - 1 :: every]


def rms(difference: Any) -> float:
    """In kN, after ``SETTLED``."""
    return float(np.sqrt(np.mean(difference[round(SETTLED / SAMPLE) :] ** 2))) / 1e3


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(prog="benchmarks.vessel_moordyn", description=__doc__)
    options.add_argument("python", help="interpreter that has MoorDyn")
    python = options.parse_args().python
    for name, sea in SEAS.items():
        moved = motion_of(sea)
        fine = by_fem(moved, *FINE)
        print(f"{name}: standard deviation {rms(fine - fine[round(SETTLED / SAMPLE) :].mean()):.1f} kN")
        print("| bars | fem - fem, 160 bars | MoorDyn - MoorDyn, 80 | MoorDyn - fem | MoorDyn - fem, 160 |")
        print("|---|---|---|---|---|")
        with tempfile.TemporaryDirectory() as room:
            np.save(Path(room) / "moved.npy", moved)
            peer = {}
            for bars in BARS:
                own = [python, "-m", "benchmarks.vessel_moordyn", "moordyn", str(Path(room) / "moved.npy"), str(bars)]
                subprocess.run(own, check=True, stdout=subprocess.DEVNULL)
                peer[bars] = np.load(Path(room) / f"{bars}.npy")
        for bars, its in peer.items():
            ours = by_fem(moved, bars, SAMPLE)
            found = (rms(ours - fine), rms(its - peer[max(BARS)]), rms(its - ours), rms(its - fine))
            print(f"| {bars} | " + " | ".join(f"{each:.1f}" for each in found) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["moordyn"]:
        path, count = Path(sys.argv[2]), int(sys.argv[3])
        np.save(path.parent / f"{count}.npy", by_moordyn(np.load(path), count))
    else:
        main()
