"""Mooring lines in MoorDyn or CableDyn, in a process of its own: ``python -m benchmarks.peer_lines moordyn JOB``.

Both get the positions (CableDyn the velocities and accelerations, too) of the fairleads after every increment, computed
before the loop. MoorDyn writes no files and prints no times. Prints the seconds of processor time of the loop and the
largest, least and mean force of each fairlead.

``PEER JOB WAVES``: in a sea, of which WAVES has circular frequency, amplitude and phase of each regular wave. CableDyn
sums them at its nodes (WaveKin 7, which its program of its own can, its library cannot: seconds are those of the whole
process). MoorDyn interpolates in a table of places and times that it makes of the elevation before the loop (WaveKin
3); ``moordyn_sum`` sums them (WaveKin 7) at every node in each of its own steps.

``PEER ROWS.npz``: rows of ``python -m benchmarks many``, each with height and period of heave (``heaves``) and its
regular waves (``waves``), one after the other. Seconds are those of all rows: of CableDyn's program, which is started
for each of them; of MoorDyn with its own state of rest and, as it sums, WaveKin 7, with no time for increments that
are too long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line_jobs import LineJob, heaving, line_job
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
{waves}
1 disableOutput
{options}
--- OUTPUTS ---
FairTen1
--- need this line ---
"""
LIMITS = (0.9, 0.5, 0.3, 0.2, 0.1, 0.05)
"""Fractions of MoorDyn's own limit of increments (RK4): the first with which it gets through; its limit leaves out the
bottom. Internal damping is 0.8 of the critical one of a segment."""
GRID_TIME = 0.25
"""Seconds between two points of MoorDyn's table of waves; its places: every 8 m along x, 15 heights."""
GRID = """\
--- MoorDyn grid of waves ---
kinds: 0 one point, 1 a list, 2 ends and number
x, y, z
2
-850 430 161
0
0
1
-200 -160 -120 -90 -70 -55 -45 -36 -28 -22 -17 -12 -8 -4 0
--- end ---
"""
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
{waves}
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
        damping_bed=job.bed[1], **{"waves": "", **more},
    )  # fmt: skip


def written(folder: str, text: str) -> str:
    """The file with the input."""
    path = Path(folder) / "line.txt"
    path.write_text(text)
    return str(path)


def elevation_text(job: LineJob, waves: np.ndarray) -> str:
    """The surface at x = 0 over time."""
    time, (omega, amplitude, phase) = np.arange(0.0, job.dt * job.increments + 60.0, GRID_TIME), waves.T
    rows = zip(time.tolist(), (np.cos(phase - np.outer(time, omega)) @ amplitude).tolist(), strict=True)
    return "".join(f"{t!r} {eta!r}\n" for t, eta in rows)


def frequencies_text(waves: np.ndarray) -> str:
    """Complex amplitudes of a sum of sines of omega t - k x, the first of frequency 0."""
    rows = waves[np.argsort(waves[:, 0])]
    sines = rows[:, 1] * np.exp(1j * (0.5 * np.pi - rows[:, 2]))
    parts = zip(rows[:, 0].tolist(), sines.real.tolist(), sines.imag.tolist(), strict=True)
    return "0 0 0\n" + "".join(f"{omega!r} {real!r} {imaginary!r}\n" for omega, real, imaginary in parts)


def run_moordyn(
    job: LineJob, folder: str, waves: np.ndarray | None, sums: bool = False, whole: bool = False
) -> tuple[float, np.ndarray]:
    """Seconds of the loop, or of the ``whole`` run, and forces (k, fairleads)."""
    told = ""
    if waves is not None:
        told = "7 WaveKin" if sums else f"3 WaveKin\n{GRID_TIME} dtWave"
        (Path(folder) / "wave_frequencies.txt").write_text(frequencies_text(waves))
        (Path(folder) / "wave_elevation.txt").write_text(elevation_text(job, waves))
        (Path(folder) / "water_grid.txt").write_text(GRID)
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
        path = written(folder, text_of(MOORDYN, job, points, lines, -0.8, current=current, waves=told, options=options))
        with suppress(RuntimeError):
            return march_moordyn(job, path, whole)
    raise RuntimeError("MoorDyn gets through with no increment")


def march_moordyn(job: LineJob, path: str, whole: bool) -> tuple[float, np.ndarray]:
    """The same, RuntimeError where numbers overflow."""
    import moordyn

    motion = [[part.ravel().tolist() for part in job.fairleads((k + 1) * job.dt)] for k in range(job.increments)]
    created = time.process_time()
    system, count = moordyn.Create(path), len(job.anchors)
    moordyn.SetVerbosity(system, moordyn.LEVEL_ERR)
    place, speed, _ = job.fairleads(0.0)
    moordyn.Init(system, place.ravel().tolist(), speed.ravel().tolist())
    handles = [moordyn.GetLine(system, k + 1) for k in range(count)]
    forces, now = np.zeros((job.increments, count)), 0.0
    began = created if whole else time.process_time()
    for k, (places, speeds, _) in enumerate(motion):
        moordyn.Step(system, places, speeds, now, job.dt)
        now = (k + 1) * job.dt
        forces[k] = [moordyn.GetLineFairTen(handle) for handle in handles]
    spent = time.process_time() - began
    moordyn.Close(system)
    return spent, forces


def run_cabledyn(job: LineJob, folder: str, waves: np.ndarray | None) -> tuple[float, np.ndarray]:
    """Seconds of the loop (in a sea of the whole process), forces (k, fairleads)."""
    import cabledyn

    anchors, fairleads = job.anchors, job.fairleads(0.0)[0]
    count = len(anchors)
    points = [f"{k + 1} Fixed {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(anchors)]
    points += [f"{count + k + 1} Coupled {x:.12g} {y:.12g} {z:.12g}" for k, (x, y, z) in enumerate(fairleads)]
    lines = [f"{k + 1} chain {count + k + 1} {k + 1} {job.length} {job.bars} -" for k in range(count)]
    options = f"{job.dt} dtM\n{job.dt * job.increments} TMax\n0.4 rhoInf\ndynamic_solver 1e-8 1e-14 30 12"
    current = "uniform {} {} {} current".format(*job.current) if any(job.current) else ""
    if waves is not None:
        return alone(job, folder, waves, points, lines, current, options + "\nmotion.txt motionFile")
    text = text_of(CABLEDYN, job, points, lines, 0.0, current=current, options=options)
    model = cabledyn.CableDyn(written(folder, text))
    moved, driven = model.get_coupled_motion(), model.host_dofs()
    motion = [[part.ravel() for part in job.fairleads((k + 1) * job.dt)] for k in range(job.increments)]
    forces, began = np.zeros((job.increments, count)), time.process_time()
    for k, parts in enumerate(motion):
        for part, known in zip(moved, parts, strict=True):
            part[driven] = known
        model.step(job.dt, *moved)
        forces[k] = [line.fairlead_tension() for line in model.lines]
    return time.process_time() - began, forces


def alone(
    job: LineJob, folder: str, waves: np.ndarray, points: list[str], lines: list[str], current: str, options: str
) -> tuple[float, np.ndarray]:
    """CableDyn's program, with the motion of the fairleads in a file: seconds of the process, forces."""
    import resource

    import cabledyn

    count, rows = len(job.anchors), []
    for k in range(job.increments + 1):
        motion = job.fairleads(k * job.dt)
        rows += [
            f"{k * job.dt!r} {count + n + 1} " + " ".join(f"{x:.15g}" for part in motion for x in part[n])
            for n in range(count)
        ]
    (Path(folder) / "motion.txt").write_text("\n".join(rows))
    (Path(folder) / "wave_frequencies.txt").write_text(frequencies_text(waves))
    text = text_of(CABLEDYN, job, points, lines, 0.0, current=current, waves="7 WaveKin", options=options)
    forces = "\n".join(f"FairTen{n + 1}" for n in range(count))
    deck = written(folder, text.replace("FairTen1", forces))
    program = Path(cabledyn.__file__).parent / "bin" / "cabledyn"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(program), deck, "out"], check=True, capture_output=True, cwd=folder)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime, np.loadtxt(
        Path(folder) / "out.out", skiprows=2
    )[1:, 1:]


def run_moordyn_sum(job: LineJob, folder: str, waves: np.ndarray | None) -> tuple[float, np.ndarray]:
    """The same with sums at the nodes."""
    return run_moordyn(job, folder, waves, sums=True)


PEERS = {"moordyn": run_moordyn, "moordyn_sum": run_moordyn_sum, "cabledyn": run_cabledyn}


def run_rows(peer: str, folder: str, path: str) -> dict[str, Any]:
    """Seconds of all rows, largest force of the first and the last."""
    known, found = np.load(path), []
    for (height, period), waves in zip(known["heaves"].tolist(), known["waves"], strict=True):
        row = heaving(height, period), folder, waves
        seconds, forces = run_moordyn(*row, sums=True, whole=True) if peer == "moordyn" else PEERS[peer](*row)
        found.append((seconds, {"T_20_max": float(forces.max())}))
    seconds = sum(spent for spent, _ in found)
    return {"seconds": seconds, "version": version(peer), "first": found[0][1], "last": found[-1][1]}


def summary(seconds: float, forces: np.ndarray, **more: Any) -> dict[str, Any]:
    """What is compared; the first tenth is left out, in which peers differ by how they start."""
    kept = forces[len(forces) // 10 :]
    return {
        "seconds": seconds, "largest": kept.max(0).tolist(), "least": kept.min(0).tolist(),
        "mean": kept.mean(0).tolist(), **more,
    }  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        if sys.argv[2].endswith(".npz"):
            report(lambda: run_rows(sys.argv[1], room, sys.argv[2]))
            raise SystemExit
        known = np.loadtxt(sys.argv[3]) if len(sys.argv) > 3 else None
        report(lambda: summary(*PEERS[sys.argv[1]](line_job(sys.argv[2]), room, known)))
