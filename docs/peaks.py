"""Figures of ``peaks.md``: a chain that snaps taut, with and without internal damping, on several meshes.

``python docs/peaks.py`` from the root of the repository; about two minutes.
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import fem
from fem.study.tracks import tracked

EA, MASS, LENGTH, DEPTH, D = 1.6898e9, 348.94, 224.106, 106.95, 0.24144
"""Studless chain of 120 mm: N, kg/m; m; drag, added mass and buoyancy act on the diameter D."""
SPEED = math.sqrt(EA / MASS)
BETA = 0.3 * LENGTH / 50 / SPEED
"""0.3 L0/c of 50 bars, 0.61 ms."""
END, SNAP = 14.2, 11.0


def deck(bars: int, beta: float, dt: float) -> str:
    """The chain, one end driven by 1.8 m in surge and 6 m in heave with a period of 7 s, begun over one period."""
    time = np.arange(0.0, END + 0.15, 0.1)
    ramp = np.where(time < 7.0, 0.5 - 0.5 * np.cos(np.pi * time / 7.0), 1.0)
    curve = "\n".join(f"{t:.1f}, {f:.12g}" for t, f in zip(time, ramp * np.sin(2.0 * np.pi * time / 7.0), strict=True))
    return f"""*NODE
1, -193.6748, 0., -106.9497
{bars + 1}, 0., 0., -10.
*NGEN, LINE=CATENARY, NSET=INNER
1, {bars + 1}, 1, {LENGTH}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*ELSET, ELSET=TOP
{bars}
*MATERIAL, NAME=CHAIN
*ELASTIC
{EA}
*DENSITY
{MASS}
*DAMPING, BETA={beta!r}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=CHAIN, STRAIN=ENGINEERING
1.
*AQUA
-{DEPTH}, 0., 9.80665, 1025.
0., 0., 0., 0.
*SEABED, ELSET=LINE
1.E6, 1.E4, {D}
*AMPLITUDE, NAME=MOTION, TIME=STEP TIME, DEFINITION=SPLINE
{curve}
*BOUNDARY
1, 1, 3
{bars + 1}, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
1.E-6, 1.E-6
*DLOAD
LINE, GRAV, 9.80665, 0., 0., -1.
LINE, PB, 1., {D}
LINE, FDD, 1., {D}, 1.388152
LINE, FDT, 1., {D}, 0.157987
LINE, FI, 1., {D}, 2., 1.
*END STEP
*STEP, NLGEOM, INC=10000000
*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
{dt!r}, {END}
*CONTROLS, RESI_GLOB_RELA=1.E-8
*BOUNDARY, AMPLITUDE=MOTION
{bars + 1}, 1, 1, 1.8
{bars + 1}, 3, 3, 6.
*EL PRINT, ELSET=TOP
T
*END STEP
"""


def damped_always(bars: int, beta: float, dt: float) -> str:
    """The same with the damping of MoorDyn, which acts on slack bars, too: a dashpot beside each bar."""
    dashpots = f"""*ELEMENT, TYPE=DASHPOTA, ELSET=DASHPOTS
1001, 1, 2
*ELGEN, ELSET=DASHPOTS
1001, {bars}
*DASHPOT, ELSET=DASHPOTS

{EA * beta * bars / LENGTH!r}
*MATERIAL, NAME=CHAIN"""
    return deck(bars, 0.0, dt).replace("*MATERIAL, NAME=CHAIN", dashpots)


def tension(bars: int, beta: float, waves: float) -> tuple[np.ndarray, np.ndarray]:
    """Time from SNAP on and tension of the uppermost bar [MN]; increments of so many times L0/c."""
    model = fem.parse_deck(deck(bars, beta, waves * LENGTH / bars / SPEED))
    track = tracked(model, [f"T_e{bars}"])
    kept = track.time > SNAP
    return track.time[kept], track.values[kept, 0] / 1e6


def draw(folder: Path) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0))
    for bars, beta, style in (
        (100, 0.0, "0.7"),
        (50, BETA, "C1"),
        (100, BETA, "C0"),
        (200, BETA, "C3"),
        (100, 10 * BETA, "C2"),
    ):
        time, force = tension(bars, beta, 0.5)
        left.plot(
            time,
            force,
            color=style,
            lw=0.9,
            label=f"{bars} bars, " + (f"BETA = {1e3 * beta:.2g} ms" if beta else "without BETA"),
        )
    left.set(xlim=(13.3, 14.0), xlabel="time [s]", ylabel="tension at the fairlead [MN]")
    left.legend(fontsize=7, frameon=False)
    meshes = (25, 50, 100, 200)
    for beta, waves, style, label in (
        (0.0, 0.25, "o--", "without BETA, dt = L0/(4c)"),
        (0.0, 0.5, "o-", "without BETA, dt = L0/(2c)"),
        (BETA, 0.5, "s-", "BETA = 0.61 ms"),
        (3 * BETA, 0.5, "s-", "BETA = 1.8 ms"),
        (10 * BETA, 0.5, "s-", "BETA = 6.1 ms"),
    ):
        right.plot(meshes, [tension(bars, beta, waves)[1].max() for bars in meshes], style, label=label)
    right.set(
        xscale="log",
        xticks=meshes,
        xticklabels=map(str, meshes),
        xlabel="bars",
        ylabel="largest tension [MN]",
        ylim=(5.5, 12.0),
    )
    right.minorticks_off()
    right.legend(fontsize=7, frameon=False)
    plt.tight_layout()
    plt.savefig(folder / "peaks_snap.png", dpi=100)


if __name__ == "__main__":
    draw(Path(__file__).parent)
