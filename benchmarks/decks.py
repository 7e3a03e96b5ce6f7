"""The jobs as decks: generators of nodes and elements keep each of them under a few KB, whatever its size."""

from __future__ import annotations

from pathlib import Path

from benchmarks.jobs import DENSITY, GRAVITY, Job

FOLDER = Path(__file__).with_name("decks")
PRINTED_EVERY = 100
"""W1 prints its tip and energies this often; the others at their last increment only."""
ROW = 1000
"""Node label of a net: ROW * (row + 1) + column + 1."""


def deck_text(job: Job) -> str:
    """The deck of a job."""
    every = PRINTED_EVERY if job.work == "W1" else job.increments
    mesh = net_mesh(job) if job.is_net else chain_mesh(job)
    stress = f"*INITIAL CONDITIONS, TYPE=STRESS\nBARS, {job.prestrain * job.modulus!r}\n" if job.prestrain else ""
    return f"""*HEADING
Benchmark {job.name}: {job.bars} bars, {job.increments} increments (python -m benchmarks)
{mesh}*SOLID SECTION, ELSET=BARS, MATERIAL=CABLE, MASS=LUMPED, STRAIN=ENGINEERING
1.
*MATERIAL, NAME=CABLE
*ELASTIC
{job.modulus!r}
*DENSITY
{DENSITY!r}
{stress}*BOUNDARY
PINNED, 1, 3
*STEP, NLGEOM{"" if job.is_static else ", EXTRAPOLATION=PARABOLIC"}
{procedure(job)}
*DLOAD
BARS, GRAV, {GRAVITY!r}, 0., 0., -1.
*NODE PRINT, NSET=CHECKED, FREQUENCY={every}
U
*ENERGY PRINT, FREQUENCY={every}
*END STEP
"""


def procedure(job: Job) -> str:
    """Time integration and criterion."""
    if job.is_static:
        return f"*STATIC, DIRECT\n{1.0 / job.increments!r}, 1.\n{controls(job)}"
    times = f"{job.dt!r}, {job.dt * job.increments!r}"
    if job.explicit:
        return f"*DYNAMIC, DIRECT, EXPLICIT\n{times}"
    return f"*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n{times}\n{controls(job)}"


def controls(job: Job) -> str:
    """The residual of ``Job.residual_limit``."""
    return f"*CONTROLS, RESI_GLOB_MAXI={job.residual_limit!r}"


def chain_mesh(job: Job) -> str:
    """Nodes 1 (pinned) to n + 1 along x."""
    last, probe = job.size + 1, min(6, job.size + 1)
    nodes = f"*NODE\n1, 0., 0., 0.\n{last}, {job.cell * job.size!r}, 0., 0.\n"
    between = f"*NGEN\n1, {last}, 1\n" if job.size > 1 else ""
    return f"""{nodes}{between}*NSET, NSET=PINNED
1
*NSET, NSET=CHECKED
{last}, {probe}
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
{f"*ELGEN, ELSET=BARS{chr(10)}1, {job.size}, 1, 1{chr(10)}" if job.size > 1 else ""}"""


def net_mesh(job: Job) -> str:
    """Rows of nodes along x, rows filled in along y; the four edges pinned."""
    n, side = job.size, job.cell * job.size
    south, north = ROW, ROW * (n + 1)
    tip, probe = ROW * (n // 2 + 1) + n // 2 + 1, ROW * (n // 2 + 1) + 2
    return f"""*NODE
{south + 1}, 0., 0., 0.
{south + n + 1}, {side!r}, 0., 0.
{north + 1}, 0., {side!r}, 0.
{north + n + 1}, {side!r}, {side!r}, 0.
*NGEN, NSET=SOUTH
{south + 1}, {south + n + 1}, 1
*NGEN, NSET=NORTH
{north + 1}, {north + n + 1}, 1
*NFILL
SOUTH, NORTH, {n}, {ROW}
*NSET, NSET=SIDES, GENERATE
{south + 1}, {north + 1}, {ROW}
{south + n + 1}, {north + n + 1}, {ROW}
*NSET, NSET=PINNED
SOUTH, NORTH, SIDES
*NSET, NSET=CHECKED
{tip}, {probe}
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, {south + 1}, {south + 2}
{n * (n + 1) + 1}, {south + 1}, {south + ROW + 1}
*ELGEN, ELSET=BARS
1, {n}, 1, 1, {n + 1}, {ROW}, {n}
{n * (n + 1) + 1}, {n}, {ROW}, {n + 1}, {n + 1}, 1, 1
"""


def write_deck(job: Job, folder: Path = FOLDER) -> Path:
    """Write the deck of a job; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{job.slug}.inp"
    path.write_text(deck_text(job), encoding="utf-8")
    return path


def checked_labels(job: Job) -> tuple[int, int]:
    """Node labels of the tip and the probe (``arrays.arrays_of``)."""
    n = job.size
    if job.is_net:
        return ROW * (n // 2 + 1) + n // 2 + 1, ROW * (n // 2 + 1) + 2
    return n + 1, min(5, n) + 1
