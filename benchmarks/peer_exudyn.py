"""One job in Exudyn, in a process of its own: ``python -m benchmarks.peer_exudyn JOB [LINEAR SOLVER]``.

MassPoint + SpringDamper (engineering strain, lumped mass), trapezoidal rule (TrapezoidalIndex2), full Newton, the
module without range checks. Strains come from absolute positions, so that long chains stall above 1e-8; there the
tolerance is the loosest that works (``tolerance``), and the variant says so.
"""

from __future__ import annotations

import contextlib
import io
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.arrays import Arrays, arrays_of
from benchmarks.jobs import GRAVITY, RELATIVE_RESIDUAL, Job
from benchmarks.process import ENOUGH_SECONDS, LONG_PASS, MOST_PASSES, job_of, peak_mib, report


def best_solver(job: Job) -> str:
    """The faster linear solver, as measured: dense while the matrix is tiny."""
    return "EXUdense" if 3 * job.free_nodes <= 30 else "EigenSparse"


def tolerance(job: Job) -> float:
    """Relative residual; see the head of this file."""
    if job.is_net or job.size <= 100:
        return RELATIVE_RESIDUAL
    return 1e-6 if job.size <= 1000 else 1e-5


def load_exudyn() -> Any:
    """The fast module; it prints a line when imported and warns of its own tutorials' names."""
    warnings.simplefilter("ignore")
    sys.exudynFast = True  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()):
        import exudyn
    return exudyn


def build(container: Any, job: Job, arrays: Arrays) -> tuple[Any, list[int | None]]:
    """The assembled system, and the node numbers of what is free; the container has to outlive both."""
    import exudyn.utilities as items

    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    nodes: list[int | None] = []
    markers = []
    for place, mass, is_pinned in zip(
        arrays.coordinates.tolist(), arrays.mass.tolist(), arrays.pinned.tolist(), strict=True
    ):
        if is_pinned:
            nodes.append(None)
            markers.append(system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=place)))
            continue
        node = system.AddNode(items.NodePoint(referenceCoordinates=place))
        nodes.append(node)
        system.AddObject(items.MassPoint(physicsMass=mass, nodeNumber=node))
        markers.append(system.AddMarker(items.MarkerNodePosition(nodeNumber=node)))
        system.AddLoad(items.Force(markerNumber=markers[-1], loadVector=[0.0, 0.0, -GRAVITY * mass]))
    for (first, second), length in zip(arrays.bars.tolist(), arrays.length.tolist(), strict=True):
        if not (arrays.pinned[first] and arrays.pinned[second]):
            system.AddObject(
                items.SpringDamper(
                    markerNumbers=[markers[first], markers[second]],
                    referenceLength=length,
                    stiffness=job.modulus / length,
                    force=job.modulus * job.prestrain,
                )
            )
    system.Assemble()
    return system, nodes


def settings_of(job: Job, linear: str) -> Any:
    """Solver settings."""
    exudyn = load_exudyn()
    settings = exudyn.SimulationSettings()
    stepping = settings.staticSolver if job.is_static else settings.timeIntegration
    stepping.verboseMode = 0
    if job.is_static:
        stepping.numberOfLoadSteps = job.increments
    else:
        stepping.numberOfSteps, stepping.endTime = job.increments, job.increments * job.dt
    newton = stepping.newton
    newton.useModifiedNewton = False
    newton.relativeTolerance = tolerance(job)
    newton.absoluteTolerance = tolerance(job) * job.gravity_norm
    newton.maxIterations = 50
    settings.displayStatistics = settings.displayComputationTime = False
    settings.solutionSettings.writeSolutionToFile = False
    settings.parallel.numberOfThreads = 1
    settings.linearSolverType = getattr(exudyn.LinearSolverType, linear)
    return settings


def run(job: Job, linear: str = "") -> dict[str, Any]:
    """Time passes until they last long enough; every pass on a new system."""
    exudyn = load_exudyn()
    linear, arrays = linear or best_solver(job), arrays_of(job)
    seconds: list[float] = []
    while True:
        container = exudyn.SystemContainer()
        system, nodes = build(container, job, arrays)
        settings = settings_of(job, linear)
        began = time.perf_counter()
        if job.is_static:
            good = system.SolveStatic(settings, showHints=False)
        else:
            kind = exudyn.DynamicSolverType.TrapezoidalIndex2
            good = system.SolveDynamic(settings, solverType=kind, showHints=False)
        seconds.append(time.perf_counter() - began)
        if not good:
            raise RuntimeError("the solver did not converge")
        if (
            seconds[0] > LONG_PASS
            or (len(seconds) > 1 and sum(seconds[1:]) > ENOUGH_SECONDS)
            or len(seconds) > MOST_PASSES
        ):
            break
    solver = system.sys["staticSolver" if job.is_static else "dynamicSolver"]
    u, v = np.zeros((2, len(nodes), 3))
    kinds = exudyn.OutputVariableType
    for at, node in enumerate(nodes):
        if node is not None:
            u[at] = system.GetNodeOutput(node, kinds.Displacement)
            v[at] = system.GetNodeOutput(node, kinds.Velocity)
    return {
        "program": "Exudyn",
        "seconds": statistics.median(seconds[1:] or seconds),
        "best": min(seconds),
        "iterations": int(solver.it.newtonStepsCount),
        "tip": u[arrays.tip].tolist(),
        "probe": u[arrays.probe].tolist(),
        "energies": dict(zip(("kinetic", "strain", "potential"), arrays.energies(u, v), strict=True)),
        "peak_mib": peak_mib(),
        "variant": linear + ("" if tolerance(job) == RELATIVE_RESIDUAL else f", residual {tolerance(job):g} only"),
        "notes": [],
    }


if __name__ == "__main__":
    report(lambda: run(job_of(sys.argv[1]), *sys.argv[2:3]))
