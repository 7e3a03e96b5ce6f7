"""The lines of ``inputs/moored_vessel.inp`` by CableDyn, for ``validation/cases/vessel.py``.

``python -m benchmarks.peer_vessel run FILE`` runs the deck and writes the motion of its fairleads, its waves and its
anchors; ``python -m benchmarks.peer_vessel cabledyn FILE``, where CableDyn is installed, prints the numbers of
``validation/references/moored_vessel.py``.

CableDyn gets places, velocities and accelerations of the fairleads after every increment, and sums the same regular
waves at its nodes (WaveKin 7), without the ramp: its effect has decayed before the time that is compared.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line_jobs import Chain
from benchmarks.peer_lines import CABLEDYN, frequencies_text
from validation.references.moored_vessel import BARS, DT, SECONDS, SETTLED

ROOT = Path(__file__).resolve().parents[1]
CHAIN = Chain(0.137, 115.0, 4.93e8, 1.333, 0.639, 1.0)
ANCHORS, LENGTH, DEPTH = (1, 101, 201, 301), 415.0, 80.0


def run(path: Path) -> None:
    """By ``fem``: place, velocity, acceleration (k, 4, 3) of the fairleads, forces (k, 4), waves, anchors."""
    import fem

    model = fem.read_deck(ROOT / "inputs" / "moored_vessel.inp", {"time": SECONDS, "dt": DT, "bars": BARS})
    history, fairleads = fem.run(model), [n + BARS for n in ANCHORS]
    moved = {name: np.stack([history.of_node(n, name) for n in fairleads], 1) for name in ("COORD", "V", "A", "RF")}
    anchors = model.mesh.coordinates[[int(model.mesh.nodes_of(n)[0]) for n in ANCHORS]]
    forces = np.linalg.norm(moved["RF"], axis=-1)
    waves = model.sea[:, [0, 2, 3]]
    np.savez(path, place=moved["COORD"], speed=moved["V"], rate=moved["A"], forces=forces, waves=waves, anchors=anchors)
    print(summary(forces[1:]))


def summary(forces: Any) -> dict[str, list[float]]:
    """Of tensions (k, 4) after every increment, from ``SETTLED`` on."""
    kept = forces[round(SETTLED / DT) :]
    return {"largest": kept.max(0).tolist(), "least": kept.min(0).tolist(), "mean": kept.mean(0).tolist()}


def input_text(known: Any) -> str:
    """The input file: anchors and fairleads, a line between each two."""
    ends = [f"{n + 1} Fixed {x:.12g} {y:.12g} {z:.12g}" for n, (x, y, z) in enumerate(known["anchors"])]
    ends += [f"{n + 5} Coupled {x:.12g} {y:.12g} {z:.12g}" for n, (x, y, z) in enumerate(known["place"][0])]
    options = f"{DT} dtM\n{SECONDS} TMax\n0.4 rhoInf\ndynamic_solver 1e-8 1e-14 30 12\nmotion.txt motionFile"
    return CABLEDYN.replace("FairTen1", "\n".join(f"FairTen{n + 1}" for n in range(4))).format(
        title="moored vessel", diameter=CHAIN.diameter, mass=CHAIN.mass, stiffness=CHAIN.stiffness, drag=CHAIN.drag,
        added=CHAIN.added, drag_along=CHAIN.drag_along, added_along=0.0, damping=0.0, points="\n".join(ends),
        lines="\n".join(f"{n + 1} chain {n + 5} {n + 1} {LENGTH} {BARS} -" for n in range(4)), depth=DEPTH,
        stiffness_bed=3e6, damping_bed=3e4, current="", waves="7 WaveKin", options=options,
    )  # fmt: skip


def cabledyn(known: Any, folder: Path) -> Any:
    """(k, 4) tensions by the program of CableDyn, with the motion in a file."""
    import cabledyn as package

    rows = []
    for k, parts in enumerate(zip(known["place"], known["speed"], known["rate"], strict=True)):
        for n in range(4):
            rows.append(f"{k * DT!r} {n + 5} " + " ".join(f"{x:.15g}" for part in parts for x in part[n]))
    (folder / "motion.txt").write_text("\n".join(rows))
    (folder / "line.txt").write_text(input_text(known))
    program = Path(package.__file__).parent / "bin" / "cabledyn"
    subprocess.run([str(program), "line.txt", "out"], check=True, capture_output=True, cwd=folder)
    return np.loadtxt(folder / "out.out", skiprows=2)[1:, 1:]


if __name__ == "__main__":
    what, file = sys.argv[1], Path(sys.argv[2]).resolve()
    if what == "run":
        run(file)
    else:
        arrays = np.load(file)
        with tempfile.TemporaryDirectory() as room:
            room = Path(room).resolve()
            (room / "wave_frequencies.txt").write_text(frequencies_text(arrays["waves"]))
            print(summary(cabledyn(arrays, room)))
