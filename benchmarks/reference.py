"""Answers to compare with: numpy and SuperLU, sharing no code with ``fem``; ``python -m benchmarks.reference``.

Engineering strain from the difference of displacements, lumped mass, trapezoidal rule with first guess
u + dt v + dt^2/2 a, full Newton. Every increment is solved until |R|_2 is below 1e-12 of the gravity load, or stops
falling: four orders below what the benchmarks ask for, so that differences are those of the program under test.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from benchmarks.arrays import Array, Arrays, arrays_of
from benchmarks.jobs import GRAVITY, Job, jobs_of

FILE = Path(__file__).with_name("references.json")
MADE = "python -m benchmarks.reference: numpy + SuperLU, full Newton to 1e-12 of the gravity load or round-off"
RELATIVE, MOST = 1e-12, 60


class Net:
    """Forces and tangent of a model on its free dofs, with a fixed sparse pattern."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        count = len(arrays.coordinates)
        self.free = np.repeat(~arrays.pinned, 3)
        number = np.where(self.free, np.cumsum(self.free) - 1, -1)
        self.size = int(self.free.sum())
        dof = (3 * arrays.bars[:, :, None] + np.arange(3)).reshape(-1, 6)
        row, column = np.repeat(dof, 6, axis=1).ravel(), np.tile(dof, (1, 6)).ravel()
        self.kept = self.free[row] & self.free[column]
        key = number[column[self.kept]] * self.size + number[row[self.kept]]
        keys, self.slot = np.unique(key, return_inverse=True)
        self.rows = (keys % self.size).astype(np.int32)
        self.starts = np.searchsorted(keys, np.arange(self.size + 1) * self.size).astype(np.int32)
        self.diagonal = np.searchsorted(keys, np.arange(self.size) * (self.size + 1))
        self.mass = np.repeat(arrays.mass, 3)[self.free]
        load = np.zeros((count, 3))
        load[:, 2] = -GRAVITY * arrays.mass
        self.load = load.ravel()[self.free]

    def evaluate(self, u: Array) -> tuple[Array, Array]:
        """Internal forces on the free dofs and the values of their tangent."""
        arrays, modulus = self.arrays, self.arrays.job.modulus
        first, second = arrays.bars.T
        field = np.zeros(3 * len(arrays.coordinates))
        field[self.free] = u
        w = field.reshape(-1, 3)[second] - field.reshape(-1, 3)[first]
        distance, length = arrays.coordinates[second] - arrays.coordinates[first], arrays.length[:, None]
        green = ((distance * w).sum(1) + 0.5 * (w * w).sum(1))[:, None] / length**2
        stretch = np.sqrt(1.0 + 2.0 * green)
        force = modulus * (2.0 * green / (1.0 + stretch) + arrays.job.prestrain)
        current, now = distance + w, stretch * length
        pull = force * current / now
        total = np.column_stack(
            [
                np.bincount(second, pull[:, axis], len(arrays.coordinates))
                - np.bincount(first, pull[:, axis], len(arrays.coordinates))
                for axis in range(3)
            ]
        )
        axial = (modulus / length - force / now) / now**2
        block = axial[:, :, None] * current[:, :, None] * current[:, None, :] + (force / now)[:, :, None] * np.eye(3)
        signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
        element = np.einsum("pq,mij->mpiqj", signs, block).ravel()
        return total.ravel()[self.free], np.bincount(self.slot, element[self.kept], len(self.rows))

    def solve(self, values: Array, residual: Array) -> Array:
        """One linear solve: dense when tiny, SuperLU otherwise."""
        matrix = sparse.csc_matrix((values, self.rows, self.starts), shape=(self.size, self.size))
        if self.size <= 3:
            return np.linalg.solve(matrix.toarray(), residual)
        order = "MMD_AT_PLUS_A" if self.arrays.job.is_net else "NATURAL"
        factors = splu(matrix, permc_spec=order, options={"SymmetricMode": True}, diag_pivot_thresh=0.0)
        return factors.solve(residual)


def newton(net: Net, guess: Array, inertia: float, history: Array) -> tuple[Array, int, float]:
    """u with load + history - inertia M u - internal(u) = 0; also the solves it took and the relative residual."""
    u, norm, best, limit = guess, np.inf, np.inf, RELATIVE * float(np.linalg.norm(net.load))
    for solves in range(MOST):
        internal, values = net.evaluate(u)
        residual = net.load + history - inertia * net.mass * u - internal
        before, norm = norm, float(np.linalg.norm(residual))
        best = min(best, norm)
        if norm <= limit or (norm < 1e6 * limit and norm >= 0.5 * before and solves > 1):
            return u, solves, norm / limit * RELATIVE
        values[net.diagonal] += inertia * net.mass
        u = u + net.solve(values, residual)
    raise RuntimeError(f"{net.arrays.job.name}: no convergence, {best:g} N reached")


def march_implicit(net: Net) -> tuple[Array, Array, int, float]:
    """Trapezoidal rule or load steps: u and v at the end, linear solves, worst relative residual."""
    job, whole = net.arrays.job, net.load
    u, v, solves, worst = np.zeros(net.size), np.zeros(net.size), 0, 0.0
    a = (net.load - net.evaluate(u)[0]) / net.mass
    inertia = 0.0 if job.is_static else 4.0 / job.dt**2
    for increment in range(1, job.increments + 1):
        if job.is_static:
            net.load = whole * (increment / job.increments)
            guess, history = u, np.zeros(net.size)
        else:
            guess = u + job.dt * v + 0.5 * job.dt**2 * a
            history = net.mass * (inertia * (u + job.dt * v) + a)
        following, count, residual = newton(net, guess, inertia, history)
        solves, worst = solves + count, max(worst, residual)
        if not job.is_static:
            acceleration = inertia * (following - u - job.dt * v) - a
            v, a = v + 0.5 * job.dt * (a + acceleration), acceleration
        u = following
    return u, v, solves, worst


def march_explicit(net: Net) -> tuple[Array, Array, int, float]:
    """Central differences, as u + dt v + dt^2/2 a and v + dt (a + a1)/2; the true acceleration at the start."""
    dt = net.arrays.job.dt
    u, v = np.zeros(net.size), np.zeros(net.size)
    a = (net.load - net.evaluate(u)[0]) / net.mass
    for _ in range(net.arrays.job.increments):
        u = u + dt * v + 0.5 * dt**2 * a
        following = (net.load - net.evaluate(u)[0]) / net.mass
        v, a = v + 0.5 * dt * (a + following), following
    return u, v, 0, 0.0


def solve(job: Job) -> dict[str, Any]:
    """The end state of a job."""
    arrays = arrays_of(job)
    net = Net(arrays)
    began = time.perf_counter()
    u, v, solves, worst = march_explicit(net) if job.explicit else march_implicit(net)
    field, speed = np.zeros((2, len(arrays.coordinates), 3))
    field.ravel()[net.free], speed.ravel()[net.free] = u, v
    return {
        "increments": job.increments,
        "tip": field[arrays.tip].tolist(),
        "probe": field[arrays.probe].tolist(),
        "energies": dict(zip(("kinetic", "strain", "potential"), arrays.energies(field, speed), strict=True)),
        "solves": solves,
        "worst_residual": worst,
        "seconds": round(time.perf_counter() - began, 2),
    }


def main() -> None:
    """Make the references that are missing, or those of the works named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", default=["W1", "W2", "W3"], help="of W1 W2 W3 W4 (default: W1 W2 W3)")
    parser.add_argument("--sizes", nargs="*", type=int, default=[])
    parser.add_argument("--again", action="store_true", help="make those that exist, too")
    options = parser.parse_args()
    for work in options.works:
        for job in jobs_of(work, tuple(options.sizes)):
            if job.name in stored()["answers"] and not options.again:
                continue
            answer = solve(job)
            known = stored()  # read again: another process may have added its own
            known["answers"][job.name] = answer
            FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(job.name, answer, flush=True)


def stored() -> dict[str, Any]:
    """The file of references, or an empty one."""
    if FILE.exists():
        return dict(json.loads(FILE.read_text(encoding="utf-8")))
    return {"made": MADE, "answers": {}}


if __name__ == "__main__":
    main()
