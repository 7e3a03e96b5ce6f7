"""The lines of ``inputs/moored_vessel.inp`` by CableDyn or MoorDyn, for ``validation/cases/vessel.py``.

``python -m benchmarks.peer_vessel run FILE`` runs the deck and writes the motion of its fairleads, its waves and its
anchors; ``python -m benchmarks.peer_vessel cabledyn FILE`` (or ``moordyn``), where that program is installed, prints
the numbers of ``validation/references/moored_vessel.py``.

Both get places of the fairleads after every increment (CableDyn velocities and accelerations, too) and sum the same
regular waves at their nodes (WaveKin 7), without the ramp: what that does has gone by the time that is compared.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line_jobs import Chain
from benchmarks.peer_lines import CABLEDYN, MOORDYN, frequencies_text
from validation.references.moored_vessel import DT, SECONDS, SETTLED

ROOT = Path(__file__).resolve().parents[1]
CHAIN = Chain(0.137, 115.0, 4.93e8, 1.333, 0.639, 1.0)
FAIRLEADS, ANCHORS, LENGTH, BARS, DEPTH = (21, 121, 221, 321), (1, 101, 201, 301), 415.0, 20, 80.0


def run(path: Path) -> None:
    """By ``fem``: place, velocity, acceleration (k, 4, 3) of the fairleads, forces (k, 4), waves, anchors."""
    import fem

    model = fem.read_deck(ROOT / "inputs" / "moored_vessel.inp", {"time": SECONDS, "dt": DT})
    history = fem.run(model)
    moved = {name: np.stack([history.of_node(n, name) for n in FAIRLEADS], 1) for name in ("COORD", "V", "A", "RF")}
    anchors = model.mesh.coordinates[[int(model.mesh.nodes_of(n)[0]) for n in ANCHORS]]
    forces = np.linalg.norm(moved["RF"], axis=-1)
    waves = model.sea[:, [0, 2, 3]]
    np.savez(path, place=moved["COORD"], speed=moved["V"], rate=moved["A"], forces=forces, waves=waves, anchors=anchors)
    print(summary(forces[1:]))


def summary(forces: Any) -> dict[str, list[float]]:
    """Of tensions (k, 4) after every increment, from ``SETTLED`` on."""
    kept = forces[round(SETTLED / DT) :]
    return {"largest": kept.max(0).tolist(), "least": kept.min(0).tolist(), "mean": kept.mean(0).tolist()}


def text_of(form: str, known: Any, points: str, lines: str, damping: float, options: str) -> str:
    """An input file; points and lines: what stands between number and places, and behind the ends."""
    ends = [f"{n + 1} Fixed {x:.12g} {y:.12g} {z:.12g}{points}" for n, (x, y, z) in enumerate(known["anchors"])]
    ends += [f"{n + 5} Coupled {x:.12g} {y:.12g} {z:.12g}{points}" for n, (x, y, z) in enumerate(known["place"][0])]
    return form.format(
        title="moored vessel", diameter=CHAIN.diameter, mass=CHAIN.mass, stiffness=CHAIN.stiffness, drag=CHAIN.drag,
        added=CHAIN.added, drag_along=CHAIN.drag_along, added_along=0.0, damping=damping, points="\n".join(ends),
        lines="\n".join(lines.format(n + 1, n + 5) for n in range(4)), depth=DEPTH, stiffness_bed=3e6,
        damping_bed=3e4, current="", waves="7 WaveKin", options=options,
    )  # fmt: skip


def cabledyn(known: Any, folder: Path) -> Any:
    """(k, 4) tensions by the program of CableDyn, with the motion in a file."""
    import cabledyn as package

    rows = []
    for k, parts in enumerate(zip(known["place"], known["speed"], known["rate"], strict=True)):
        for n in range(4):
            rows.append(f"{k * DT!r} {n + 5} " + " ".join(f"{x:.15g}" for part in parts for x in part[n]))
    (folder / "motion.txt").write_text("\n".join(rows))
    options = f"{DT} dtM\n{SECONDS} TMax\n0.4 rhoInf\ndynamic_solver 1e-8 1e-14 30 12\nmotion.txt motionFile"
    text = text_of(CABLEDYN, known, "", f"{{0}} chain {{1}} {{0}} {LENGTH} {BARS} -", 0.0, options)
    (folder / "line.txt").write_text(text.replace("FairTen1", "\n".join(f"FairTen{n + 1}" for n in range(4))))
    program = Path(package.__file__).parent / "bin" / "cabledyn"
    subprocess.run([str(program), "line.txt", "out"], check=True, capture_output=True, cwd=folder)
    return np.loadtxt(folder / "out.out", skiprows=2)[1:, 1:]


def moordyn(known: Any, folder: Path) -> Any:
    """(k, 4) tensions by MoorDyn."""
    import os

    import moordyn as package

    options = "rk4 tScheme\n0.5 CFL\n0.0001 threshIC\n500 TmaxIC\n4 CdScaleIC\n2.0 dtIC"
    text = text_of(MOORDYN, known, " 0 0 0 0", f"{{0}} chain {{0}} {{1}} {LENGTH} {BARS} -", -0.8, options)
    os.chdir(folder)
    Path("line.txt").write_text(text)
    system = package.Create("line.txt")
    package.SetVerbosity(system, package.LEVEL_ERR)
    package.Init(system, known["place"][0].ravel().tolist(), known["speed"][0].ravel().tolist())
    handles, found = [package.GetLine(system, n + 1) for n in range(4)], []
    for k, (place, speed) in enumerate(zip(known["place"][1:], known["speed"][1:], strict=True)):
        package.Step(system, place.ravel().tolist(), speed.ravel().tolist(), k * DT, DT)
        found.append([package.GetLineFairTen(handle) for handle in handles])
    return np.array(found)


if __name__ == "__main__":
    what, file = sys.argv[1], Path(sys.argv[2]).resolve()
    if what == "run":
        run(file)
    else:
        arrays = np.load(file)
        with tempfile.TemporaryDirectory() as room:
            room = Path(room).resolve()
            (room / "wave_frequencies.txt").write_text(frequencies_text(arrays["waves"]))
            print(summary({"cabledyn": cabledyn, "moordyn": moordyn}[what](arrays, room)))
