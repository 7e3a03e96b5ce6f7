"""One explicit job in MuJoCo, in a process of its own: ``python -m benchmarks.peer_mujoco JOB``. With three words, the
first and last EA and how many: the chain of ``many`` with each of them, in a batch (``mujoco.batch``).

Every free node is a body with three slides and the lumped mass, every bar a spatial tendon whose stiffness is EA/L
(engineering strain). Its Euler rule advances velocities and then positions, which is leapfrog when the velocities start
half an increment early: the scheme, increment and error are those of central differences.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.arrays import Arrays, arrays_of
from benchmarks.jobs import GRAVITY, MANY_EXPLICIT, Job
from benchmarks.process import ENOUGH_SECONDS, LONG_PASS, MOST_PASSES, job_of, peak_mib, report

INERTIA = 1e-9
"""Moments of inertia MuJoCo wants of every body; nothing turns."""


PASSES = 2
"""Of a batch; the least counts."""


def model_text(job: Job, arrays: Arrays) -> str:
    """The model as MJCF."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    places = []
    for number, (place, mass, is_pinned) in enumerate(
        zip(arrays.coordinates.tolist(), arrays.mass.tolist(), arrays.pinned.tolist(), strict=True)
    ):
        at = " ".join(map(repr, place))
        if is_pinned:
            places.append(f'<site name="n{number}" pos="{at}"/>')
            continue
        inertial = f'<inertial pos="0 0 0" mass="{mass!r}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
        places.append(f'<body name="b{number}" pos="{at}">{slides}{inertial}<site name="n{number}"/></body>')
    bars = []
    for (first, second), length in zip(arrays.bars.tolist(), arrays.length.tolist(), strict=True):
        if not (arrays.pinned[first] and arrays.pinned[second]):
            rest = length * (1.0 - job.prestrain)
            bars.append(
                f'<spatial stiffness="{job.modulus / length!r}" springlength="{rest!r}"><site site="n{first}"/>'
                f'<site site="n{second}"/></spatial>'
            )
    return (
        f'<mujoco><compiler boundmass="0" boundinertia="0"/><option timestep="{job.dt!r}" gravity="0 0 {-GRAVITY}" '
        'integrator="Euler"><flag contact="disable" constraint="disable" eulerdamp="disable"/></option>'
        f'<size memory="1500M"/><worldbody>{"".join(places)}</worldbody><tendon>{"".join(bars)}</tendon></mujoco>'
    )


def run(job: Job) -> dict[str, Any]:
    """Time passes until they last long enough, each from the start."""
    import mujoco

    arrays = arrays_of(job)
    model = mujoco.MjModel.from_xml_string(model_text(job, arrays))
    data = mujoco.MjData(model)
    seconds: list[float] = []
    while not seconds or (seconds[0] < LONG_PASS and sum(seconds[1:]) < ENOUGH_SECONDS and len(seconds) <= MOST_PASSES):
        mujoco.mj_resetData(model, data)
        mujoco.mj_forward(model, data)
        data.qvel -= 0.5 * job.dt * data.qacc
        began = time.perf_counter()
        mujoco.mj_step(model, data, job.increments)
        seconds.append(time.perf_counter() - began)
    mujoco.mj_forward(model, data)
    u, v = np.zeros((2, len(arrays.coordinates), 3))
    u[~arrays.pinned] = data.qpos.reshape(-1, 3)
    v[~arrays.pinned] = (data.qvel + 0.5 * job.dt * data.qacc).reshape(-1, 3)
    return {
        "program": "MuJoCo",
        "seconds": statistics.median(seconds[1:] or seconds),
        "best": min(seconds),
        "iterations": 0,
        "tip": u[arrays.tip].tolist(),
        "probe": u[arrays.probe].tolist(),
        "energies": dict(zip(("kinetic", "strain", "potential"), arrays.energies(u, v), strict=True)),
        "peak_mib": peak_mib(),
        "variant": "tendons, leapfrog",
        "notes": [],
    }


def run_rows(moduli: np.ndarray) -> dict[str, Any]:
    """Seconds of all rows on one thread; the tip and the force of the first bar at the end of the first and last."""
    import mujoco
    from mujoco.batch import Batch

    job = MANY_EXPLICIT
    arrays, seconds = arrays_of(job), list[float]()
    batch = Batch(mujoco.MjModel.from_xml_string(model_text(job, arrays)), len(moduli), 1)
    batch.expand("tendon_stiffness")[:] = moduli[:, None] / arrays.length
    q, v, a = map(batch.bind, ("qpos", "qvel", "qacc"))
    for _ in range(PASSES):
        began = time.process_time()
        batch.reset()
        v -= 0.5 * job.dt * a
        batch.step(nstep=job.increments)
        seconds.append(time.process_time() - began)
    first_bar = arrays.coordinates[1] + q[:, :3]
    tension = moduli * (np.linalg.norm(first_bar, axis=1) / job.cell - 1.0)
    found = [
        {f"U1_{job.size + 1}_end": u[-3], f"U3_{job.size + 1}_end": u[-1], "T_1_end": force}
        for u, force in zip(q.tolist(), tension.tolist(), strict=True)
    ]
    return {"seconds": min(seconds), "version": mujoco.__version__, "first": found[0], "last": found[-1]}


if __name__ == "__main__":
    if len(sys.argv) > 2:
        low, high, rows = sys.argv[1:]
        report(lambda: run_rows(np.linspace(float(low), float(high), int(rows))))
    else:
        report(lambda: run(job_of(sys.argv[1])))
