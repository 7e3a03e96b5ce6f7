"""A mooring line in MoorDyn or CableDyn, in a process of its own: ``python -m benchmarks.peer_lines moordyn JOB``.

Both get the positions (CableDyn the velocities and accelerations, too) of the fairleads after every increment. Prints
the seconds of the time loop and the largest, least and mean force of each fairlead.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line_jobs import LineJob, line_job
from benchmarks.process import report

MOORDYN = """--- MoorDyn ---
{title}
--- LINE TYPES ---
Name Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
chain {diameter} {mass} {stiffness} {damping} 0 {drag} {added} {drag_along} {added_along}
--- POINTS ---
ID Attachment X Y Z Mass Volume CdA Ca
(#) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
{points}
--- LINES ---
ID LineType AttachA AttachB UnstrLen NumSegs LineOutputs
(#) (name) (#) (#) (m) (-) (-)
{lines}
--- SOLVER OPTIONS ---
2 writeLog
9.80665 g
1025 rho
{depth} WtrDpth
{stiffness_bed} kBot
{damping_bed} cBot
{current}
{options}
--- OUTPUTS ---
FairTen1
--- need this line ---
"""
LIMITS = (0.9, 0.5, 0.3, 0.2, 0.1)
"""Fractions of MoorDyn's own limit of increments (RK4): the first with which it gets through; its limit leaves out the
bottom. Internal damping is 0.8 of the critical one of a segment."""
CABLEDYN = """--- CableDyn Input File ---
{title}
--- LINE TYPES ---
TypeName Diam MassDenInAir EA BA/-zeta EI Cd_n Cd_t Ca_n Ca_t
chain {diameter} {mass} {stiffness} {damping} 0 {drag} {drag_along} {added} {added_along}
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
{stiffness_bed} kBot
{damping_bed} cBot
{current}
{options}
--- OUTPUTS ---
FairTen1
--- need this line ---
"""


def text_of(form: str, job: LineJob, points: list[str], lines: list[str], damping: float, **more: str) -> str:
    """The input file of a peer."""
    chain = job.chain
    return form.format(
        title=job.name, diameter=chain.diameter, mass=chain.mass, stiffness=chain.stiffness, drag=chain.drag,
        added=chain.added, drag_along=chain.drag_along, added_along=chain.added_along, damping=damping,
        points="\n".join(points), lines="\n".join(lines), depth=job.depth, stiffness_bed=job.bed[0],
        damping_bed=job.bed[1], **more,
    )  # fmt: skip


def written(folder: str, text: str) -> str:
    """The file with the input."""
    path = Path(folder) / "line.txt"
    path.write_text(text)
    return str(path)


def run_moordyn(job: LineJob, folder: str) -> tuple[float, np.ndarray]:
    """Seconds of the loop, forces (k, fairleads)."""
    anchors, fairleads = job.anchors, job.fairleads(0.0)[0]
    count = len(anchors)
    points = [f"{k + 1} Fixed {x:.12g} {y:.12g} {z:.12g} 0 0 0 0" for k, (x, y, z) in enumerate(anchors)]
    points += [f"{count + k + 1} Coupled {x:.12g} {y:.12g} {z:.12g} 0 0 0 0" for k, (x, y, z) in enumerate(fairleads)]
    lines = [f"{k + 1} chain {k + 1} {count + k + 1} {job.length} {job.bars} -" for k in range(count)]
    if any(job.current):
        profile = "\n".join(f"{-z} {job.current[0]} {job.current[1]} {job.current[2]}" for z in (0.0, job.depth))
        (Path(folder) / "current_profile.txt").write_text(
            f"--- MoorDyn steady currents ---\n(m) (m/s) (m/s) (m/s)\nDepth Ux Uy Uz\n{profile}\n"
        )
    current = f"{int(any(job.current))} Currents"
    os.chdir(folder)
    for limit in LIMITS:
        options = f"rk4 tScheme\n{limit} CFL\n0.0001 threshIC\n500 TmaxIC\n4 CdScaleIC\n2.0 dtIC"
        path = written(folder, text_of(MOORDYN, job, points, lines, -0.8, current=current, options=options))
        with suppress(RuntimeError):
            return march_moordyn(job, path)
    raise RuntimeError("MoorDyn gets through with no increment")


def march_moordyn(job: LineJob, path: str) -> tuple[float, np.ndarray]:
    """The same, RuntimeError where numbers overflow."""
    import moordyn

    system, count = moordyn.Create(path), len(job.anchors)
    moordyn.SetVerbosity(system, moordyn.LEVEL_ERR)
    place, speed, _ = job.fairleads(0.0)
    moordyn.Init(system, place.ravel().tolist(), speed.ravel().tolist())
    handles = [moordyn.GetLine(system, k + 1) for k in range(count)]
    forces, now = np.zeros((job.increments, count)), 0.0
    began = time.perf_counter()
    for k in range(job.increments):
        place, speed, _ = job.fairleads((k + 1) * job.dt)
        moordyn.Step(system, place.ravel().tolist(), speed.ravel().tolist(), now, job.dt)
        now = (k + 1) * job.dt
        forces[k] = [moordyn.GetLineFairTen(handle) for handle in handles]
    return time.perf_counter() - began, forces


def run_cabledyn(job: LineJob, folder: str) -> tuple[float, np.ndarray]:
    """Seconds of the loop, forces (k, fairleads)."""
    import cabledyn

    anchors, fairleads = job.anchors, job.fairleads(0.0)[0]
    count = len(anchors)
    points = [f"{k + 1} Fixed {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(anchors)]
    points += [f"{count + k + 1} Coupled {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(fairleads)]
    lines = [f"{k + 1} chain {count + k + 1} {k + 1} {job.length} {job.bars} -" for k in range(count)]
    options = f"{job.dt} dtM\n{job.dt * job.increments} TMax\n0.4 rhoInf\ndynamic_solver 1e-8 1e-14 30 12"
    current = "uniform {} {} {} current".format(*job.current) if any(job.current) else ""
    text = text_of(CABLEDYN, job, points, lines, 0.0, current=current, options=options)
    model = cabledyn.CableDyn(written(folder, text))
    moved, driven = model.get_coupled_motion(), model.host_dofs()
    forces, began = np.zeros((job.increments, count)), time.perf_counter()
    for k in range(job.increments):
        for part, known in zip(moved, job.fairleads((k + 1) * job.dt), strict=True):
            part[driven] = known.ravel()
        model.step(job.dt, *moved)
        forces[k] = [line.fairlead_tension() for line in model.lines]
    return time.perf_counter() - began, forces


PEERS = {"moordyn": run_moordyn, "cabledyn": run_cabledyn}


def summary(seconds: float, forces: np.ndarray, **more: Any) -> dict[str, Any]:
    """What is compared; the first tenth is left out, in which peers differ by how they start."""
    kept = forces[len(forces) // 10 :]
    return {
        "seconds": seconds, "largest": kept.max(0).tolist(), "least": kept.min(0).tolist(),
        "mean": kept.mean(0).tolist(), **more,
    }  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        report(lambda: summary(*PEERS[sys.argv[1]](line_job(sys.argv[2]), room)))
