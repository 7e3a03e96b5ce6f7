"""The same models as arrays, for programs that read no deck. Needs numpy only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.jobs import DENSITY, GRAVITY, Job

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Arrays:
    """coordinates (n, 3), bars (m, 2), pinned (n,), and the two nodes whose displacement is checked."""

    job: Job
    coordinates: Array
    bars: Array
    pinned: Array
    tip: int
    probe: int

    @cached_property
    def length(self) -> Array:
        """(m,) reference lengths."""
        first, second = self.bars.T
        return np.linalg.norm(self.coordinates[second] - self.coordinates[first], axis=1)

    @cached_property
    def mass(self) -> Array:
        """(n,) half of each bar at both of its ends."""
        half = 0.5 * DENSITY * self.length
        ends = self.bars.ravel(), np.repeat(half, 2)
        return np.bincount(ends[0], ends[1], len(self.coordinates))

    def energies(self, u: Array, v: Array) -> tuple[float, float, float]:
        """Kinetic, strain and potential energy of nodal displacements and velocities."""
        first, second = self.bars.T
        distance, w = self.coordinates[second] - self.coordinates[first], u[second] - u[first]
        green = ((distance * w).sum(1) + 0.5 * (w * w).sum(1)) / self.length**2
        strain = 2.0 * green / (1.0 + np.sqrt(1.0 + 2.0 * green))
        stored = 0.5 * self.job.modulus * self.length * (strain + self.job.prestrain) ** 2
        kinetic = 0.5 * float((self.mass[:, None] * v * v).sum())
        return kinetic, float(stored.sum()), GRAVITY * float((self.mass * u[:, 2]).sum())


def arrays_of(job: Job) -> Arrays:
    """Chain along x from a pin at the origin, or a net in the xy plane pinned along its edges.

    Checked nodes: of a chain its end and the node 0.5 from the pin, of a net its centre and the node one cell from
    the middle of the edge x = 0.
    """
    n, cell = job.size, job.cell
    if not job.is_net:
        coordinates = np.zeros((n + 1, 3))
        coordinates[:, 0] = cell * np.arange(n + 1)
        bars = np.column_stack([np.arange(n), np.arange(1, n + 1)])
        return Arrays(job, coordinates, bars, np.arange(n + 1) == 0, n, min(5, n))
    i, j = (axis.ravel() for axis in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    coordinates = np.column_stack([cell * i, cell * j, np.zeros(len(i))])
    label = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    along = np.column_stack([label[:-1].ravel(), label[1:].ravel()])
    across = np.column_stack([label[:, :-1].ravel(), label[:, 1:].ravel()])
    pinned = (i == 0) | (i == n) | (j == 0) | (j == n)
    return Arrays(
        job, coordinates, np.vstack([along, across]), pinned, int(label[n // 2, n // 2]), int(label[1, n // 2])
    )
