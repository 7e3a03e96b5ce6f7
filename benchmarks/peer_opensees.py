"""One job in OpenSees (``openseespy``), in a process of its own: ``python -m benchmarks.peer_opensees JOB [SYSTEM]``.

corotTruss (engineering strain, lumped mass), Newmark 1/2, 1/4 with the acceleration as unknown (``-form A``: Newton
starts from u + dt v + dt^2/2 a, as PARABOLIC does), full Newton, NormUnbalance. The true acceleration at the start is
set by hand; OpenSees would start from 0.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.arrays import Arrays, arrays_of
from benchmarks.jobs import GRAVITY, RELATIVE_RESIDUAL, Job
from benchmarks.process import ENOUGH_SECONDS, LONG_PASS, MOST_PASSES, job_of, peak_mib, report


def best_system(job: Job) -> str:
    """The fastest of BandGen, BandSPD, FullGeneral, ProfileSPD, SparseSYM and UmfPack, as measured."""
    if job.is_net:
        return "SparseSYM" if job.size < 60 else "UmfPack"
    return "ProfileSPD"


def build(job: Job, arrays: Arrays, system: str) -> None:
    """Model and analysis."""
    import openseespy.opensees as ops

    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 3)
    for label, place in enumerate(arrays.coordinates.tolist(), start=1):
        ops.node(label, *place)
    for node in np.flatnonzero(arrays.pinned).tolist():
        ops.fix(node + 1, 1, 1, 1)
    ops.uniaxialMaterial("Elastic", 1, job.modulus)  # the area is 1
    material = 1
    if job.prestrain:
        ops.uniaxialMaterial("InitStrainMaterial", 2, 1, job.prestrain)
        material = 2
    for label, (first, second) in enumerate(arrays.bars.tolist(), start=1):
        ops.element("corotTruss", label, first + 1, second + 1, 1.0, material, "-rho", 1.0, "-cMass", 0)
    ops.timeSeries("Linear" if job.is_static else "Constant", 1)
    ops.pattern("Plain", 1, 1)
    free = np.flatnonzero(~arrays.pinned).tolist()
    for node in free:
        ops.load(node + 1, 0.0, 0.0, -GRAVITY * float(arrays.mass[node]))
    ops.constraints("Plain")
    ops.numberer("RCM")
    ops.system(system)
    ops.test("NormUnbalance", RELATIVE_RESIDUAL * job.gravity_norm, 50, 0)
    ops.algorithm("Newton")
    if job.is_static:
        ops.integrator("LoadControl", 1.0 / job.increments)
        ops.analysis("Static")
        return
    ops.integrator("Newmark", 0.5, 0.25, "-form", "A")
    ops.analysis("Transient")
    for node in free:
        ops.setNodeAccel(node + 1, 3, -GRAVITY, "-commit")


def advance(job: Job, count: int) -> None:
    """``count`` increments in one call."""
    import openseespy.opensees as ops

    failed = ops.analyze(count) if job.is_static else ops.analyze(count, job.dt)
    if failed:
        raise RuntimeError(f"analyze returned {failed}")


def run(job: Job, system: str = "") -> dict[str, Any]:
    """A first pass counts iterations increment by increment; short jobs are then timed in one call of ``analyze``."""
    import openseespy.opensees as ops

    system = system or best_system(job)
    arrays = arrays_of(job)
    build(job, arrays, system)
    iterations, began = 0, time.perf_counter()
    for _ in range(job.increments):
        advance(job, 1)
        iterations += ops.testIter()
    seconds = [time.perf_counter() - began]
    if seconds[0] < LONG_PASS:
        seconds = []
        while not seconds or (sum(seconds) < ENOUGH_SECONDS and len(seconds) < MOST_PASSES):
            build(job, arrays, system)
            began = time.perf_counter()
            advance(job, job.increments)
            seconds.append(time.perf_counter() - began)
    nodes = range(1, len(arrays.coordinates) + 1)
    u, v = (np.array([read(node) for node in nodes]) for read in (ops.nodeDisp, ops.nodeVel))
    return {
        "program": "OpenSees",
        "seconds": statistics.median(seconds),
        "best": min(seconds),
        "iterations": iterations,
        "tip": u[arrays.tip].tolist(),
        "probe": u[arrays.probe].tolist(),
        "energies": dict(zip(("kinetic", "strain", "potential"), arrays.energies(u, v), strict=True)),
        "peak_mib": peak_mib(),
        "variant": f"-form A, {system}",
        "notes": [],
    }


if __name__ == "__main__":
    report(lambda: run(job_of(sys.argv[1]), *sys.argv[2:3]))
