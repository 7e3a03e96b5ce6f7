"""The jobs: which model, how many increments, which convergence criterion. Nothing here needs ``fem``."""

from __future__ import annotations

import math
from dataclasses import dataclass

GRAVITY = 9.81
PERIOD = 2.3678419
"""Of a point pendulum of length 1 let go from the horizontal: 4 K(1/2) / sqrt(g), complete elliptic integral."""
CELL = 0.1
DENSITY = 1.0
"""Mass per length; the area is 1, so E = EA."""
RELATIVE_RESIDUAL = 1e-8
"""|R|_2 below this share of the 2-norm of the gravity load: the peers' criterion."""
CHAIN_SIZES = (10, 100, 1000, 10000, 100000)
NET_SIZES = (30, 100, 200, 300)
NET_PRESTRAIN = 1e-3
STATIC_INCREMENTS = 10
"""Full Newton from the flat net under the whole weight at once diverges from n = 100 on; ten steps of load do not."""
WORKS = ("W1", "W2", "W3", "W4", "W5", "W6", "W7")


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work.

    work        W1 pendulum, W2 chain, W3 net
    size        bars of the chain, cells along one side of the net
    dt          increment; 0: a ``*STATIC`` step under gravity
    increments  how many
    explicit    central differences in place of the trapezoidal rule (W4)
    """

    work: str
    size: int
    dt: float
    increments: int
    explicit: bool = False

    @property
    def is_static(self) -> bool:
        return self.dt == 0.0

    @property
    def is_net(self) -> bool:
        return self.work == "W3"

    @property
    def name(self) -> str:
        if self.explicit:
            return f"W4 {self.work} {self.size}"
        if self.work == "W1":
            return "W1"
        if self.work == "W2":
            return f"W2 {self.size}"
        return f"W3 {self.size} " + ("static" if self.is_static else f"dt={self.dt:g}")

    @property
    def slug(self) -> str:
        """The name as part of a file name."""
        return self.name.replace(" ", "_").replace("=", "")

    @property
    def modulus(self) -> float:
        """EA."""
        return {"W1": 1e8, "W2": 1e6, "W3": 1e4}[self.work]

    @property
    def cell(self) -> float:
        """Length of a bar."""
        return 1.0 if self.work == "W1" else CELL

    @property
    def prestrain(self) -> float:
        return NET_PRESTRAIN if self.is_net else 0.0

    @property
    def bars(self) -> int:
        return 2 * self.size * (self.size + 1) if self.is_net else self.size

    @property
    def free_nodes(self) -> int:
        return (self.size - 1) ** 2 if self.is_net else self.size

    @property
    def gravity_norm(self) -> float:
        """2-norm of the gravity load on the free nodes, lumped mass.

        A node of a chain carries one bar (two halves), the last node half a bar; an inner node of a net carries two.
        """
        bar = DENSITY * self.cell * GRAVITY
        if self.is_net:
            return 2.0 * bar * (self.size - 1)
        return bar * math.sqrt(self.size - 0.75)

    @property
    def residual_limit(self) -> float:
        """RESI_GLOB_MAXI such that |R|_inf <= it implies |R|_2 <= 1e-8 |gravity load|_2.

        Of k numbers none larger than r, the 2-norm is at most sqrt(k) r. k counts the residuals that can differ
        from zero: three at a free node of a net, two of a chain, which stays in its plane y = 0 (its out-of-plane
        residual is exactly 0). Hence r = 1e-8 |gravity load|_2 / sqrt(k): never looser than the peers' criterion,
        and up to sqrt(k) stricter where few dofs hold the whole residual (a falling chain near its pin).
        """
        axes = 3 if self.is_net else 2
        return RELATIVE_RESIDUAL * self.gravity_norm / math.sqrt(axes * self.free_nodes)


MANY_EXPLICIT = Job("W2", 10, 1e-4, 4000, explicit=True)
"""A row of ``many`` by central differences; the chain of M2, whose EA is varied up to 2e5: at most 2.2e-4 is stable."""


def jobs_of(work: str, sizes: tuple[int, ...] = ()) -> list[Job]:
    """The jobs of a row of the table; ``sizes`` replaces its own."""
    if work == "W1":
        return [Job("W1", 1, PERIOD / 400, 100_000)]
    if work == "W2":
        return [Job("W2", size, 1e-3, 200) for size in sizes or CHAIN_SIZES]
    if work == "W3":
        times = ((1e-3, 50), (1e-2, 50), (0.0, STATIC_INCREMENTS))
        return [Job("W3", size, dt, count) for size in sizes or NET_SIZES for dt, count in times]
    if work == "W4":
        chains, nets = ((sizes or CHAIN_SIZES), (sizes or NET_SIZES))
        return [
            Job(kind, size, 0.5 * critical_increment(kind), 1000, explicit=True)
            for kind, group in (("W2", chains), ("W3", nets))
            for size in group
        ]
    raise ValueError(f"no jobs for {work!r}")


def critical_increment(work: str) -> float:
    """2 / omega_max of the infinite chain, sqrt(2) less for the net: its nodes weigh twice and take four bars.

    Chain: m = rho l, k = EA/l, omega_max^2 = 4 k/m. Net: m = 2 rho l and, along one axis, the same two bars beside
    prestressed cross bars of stiffness N/l = 1e-3 k: omega_max^2 = 4 k (1 + 1e-3)/m.
    """
    job = Job(work, 1, 0.0, 1)
    stiffness = job.modulus / job.cell
    mass = DENSITY * job.cell * (2.0 if job.is_net else 1.0)
    return 2.0 / math.sqrt(4.0 * stiffness * (1.0 + job.prestrain) / mass)
