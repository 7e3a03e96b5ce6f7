"""The lines of the VolturnUS-S platform for an hour by CableDyn, for ``validation/cases/moored_platform.py``.

``python -m benchmarks.peer_platform``, where CableDyn is installed, prints the numbers of the reference of that name.

Chain of 185 mm, 200 m of water (Allen et al., NREL/TP-5000-76773, table 6); fairleads move by 5 m in surge with a
period of 90 s and 2 m in heave with 12 s, both as cosines, about where they are at rest.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from validation.references.moored_platform import SECONDS, SETTLED

RADII, TURNS, FAIRLEAD, DEPTH = (837.6, 58.0), (180.0, 60.0, -60.0), -14.0, 200.0
MOTION = ((5.0, 90.0), (0.0, 1.0), (2.0, 12.0))
"""Amplitude and period along x, y, z."""
DT = 0.1
INPUT = """\
--- CableDyn Input File ---
VolturnUS-S
--- LINE TYPES ---
TypeName Diam MassDenInAir EA BA/-zeta EI Cd_n Cd_t Ca_n Ca_t
chain 0.333 685.0 3270000000.0 0.0 0 1.333 0.639 0.82 0.0
--- POINTS ---
ID Type X Y Z
{points}
--- LINES ---
ID LineType A B L N Out
{lines}
--- OPTIONS ---
9.80665 g
1025 rhoW
{depth} WtrDpth
3000000.0 kBot
30000.0 cBot
{dt} dtM
{seconds} TMax
0.4 rhoInf
dynamic_solver 1e-8 1e-14 30 12
--- OUTPUTS ---
FairTen1
--- need this line ---
"""


def ends(t: float) -> tuple[Any, Any, Any]:
    """(3, 3) places of the fairleads, their velocities and accelerations."""
    amplitude, period = np.array(MOTION).T
    w, turns = 2.0 * np.pi / period, np.radians(TURNS)
    rest = np.column_stack([RADII[1] * np.cos(turns), RADII[1] * np.sin(turns), np.full(3, FAIRLEAD)])
    parts = amplitude * np.cos(w * t), -amplitude * w * np.sin(w * t), -amplitude * w * w * np.cos(w * t)
    return rest + parts[0], np.tile(parts[1], (3, 1)), np.tile(parts[2], (3, 1))


def forces(seconds: float) -> Any:
    """(k, 3) tensions at the fairleads at the ends of the increments."""
    import cabledyn

    turns = np.radians(TURNS)
    anchors = np.column_stack([RADII[0] * np.cos(turns), RADII[0] * np.sin(turns), np.full(3, -DEPTH)])
    points = [f"{k + 1} Fixed {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(anchors)]
    points += [f"{k + 4} Coupled {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(ends(0.0)[0])]
    lines = [f"{k + 1} chain {k + 4} {k + 1} 850.0 50 -" for k in range(3)]
    text = INPUT.format(points="\n".join(points), lines="\n".join(lines), depth=DEPTH, dt=DT, seconds=seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "platform.txt"
        path.write_text(text)
        model = cabledyn.CableDyn(str(path))
    moved, driven, found = model.get_coupled_motion(), model.host_dofs(), []
    for k in range(round(seconds / DT)):
        for part, known in zip(moved, ends((k + 1) * DT), strict=True):
            part[driven] = known.ravel()
        model.step(DT, *moved)
        found.append([line.fairlead_tension() for line in model.lines])
    return np.array(found)


if __name__ == "__main__":
    kept = forces(SECONDS)[round(SETTLED / DT) :]
    print({"largest": kept.max(0).tolist(), "least": kept.min(0).tolist(), "mean": kept.mean(0).tolist()})
