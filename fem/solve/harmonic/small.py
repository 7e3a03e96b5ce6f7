"""Small motions about a state: stiffness, damping, mass, constraints of rods; forces that depend on velocities.

These are evaluated over a cycle, at velocities v(phi) = Re(i w u e^(i phi)) and the displacements of the state. Of the
forces F(phi) = F_0 + Re(F_1 e^(i phi)) + ... only the first harmonic F_1 acts on a harmonic motion. It dissipates the
same energy per cycle as F, because v has no other harmonic (equivalent linearisation; Krylov and Bogoliubov). For drag
k |v| v in one direction F_1 = 8/(3 pi) k |w u| i w u.
Source: Caughey, Equivalent linearization techniques, J. Acoust. Soc. Am. 35 (1963) 1706.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Complexes, Floats, Matrix, Sparse
from fem.assembly.equations import coupled_matrix, reduction
from fem.compiled import inner_kernel, shared_kernel
from fem.forces.bar import PULL, VISCOUS
from fem.forces.springs import DAMPING
from fem.solve.newton.evaluate import at_end, evaluate_apart
from fem.solve.newton.groups import Loading, Motion, Problem, Scratch, room
from fem.solve.rods import rod_matrix
from fem.solve.start import evaluate_start, mass_matrix
from fem.solve.step_system import StepSystem
from fem.solve.stiffness import Stiffness, entries, stiffness_of

SLOW, FAST = 1e-12, 1e6
"""dv/du over w for tangents that contain stiffness only, and damping only, within rounding errors."""


@dataclass(frozen=True, slots=True)
class Small:
    """Small motions of n nodes, m bars, r rods.

    stiffness   K
    mass, slowing  M and C = ALPHA M, sparse (3n, 3n)
    transform   (3n, u) all dofs from the independent ones;  rods (r, 3n): lengths stay where rods @ u = 0
    shapes      (3n, k) all dofs from the unknowns, which are the independent dofs or modal coordinates
    resisting   (3n, k) modal damping: forces, from i w times the unknowns
    instant     loads on the state;  motion  the state, at rest
    """

    stage: StepSystem
    motion: Motion
    instant: Loading
    stiffness: Stiffness
    mass: Sparse
    slowing: Sparse
    transform: Sparse
    rods: Sparse
    shapes: Matrix
    resisting: Matrix
    cycle: Cycle

    @property
    def follows(self) -> bool:
        """Whether some force depends, or may depend, on velocities."""
        system = self.stage.system
        viscous = self.stage.bars.constants[VISCOUS].any() or system.springs.constants[:, DAMPING].any()
        return system.families is not None or bool(viscous)

    def following(self, omega: float, u: Complexes) -> Complexes:
        """(3n,) first harmonic of velocity-dependent forces but ALPHA; ``cycle`` has mean tangents and bar forces."""
        cycle, work = self.cycle, self.stage.work
        if not self.follows:
            return np.zeros_like(u)
        cycle.v_cosine[:], cycle.v_sine[:] = -omega * u.imag, -omega * u.real
        now, thermal = float(self.instant.time[0]), self.instant.thermal_end[0]
        go_round(FAST * omega, now, thermal, self.stage.problem, self.motion, work, cycle)
        return np.asarray(cycle.cosine - 1j * cycle.sine)

    def damping(self, omega: float) -> Floats:
        """Entries of the mean d(force)/dv over the last cycle, at ``places``; omega 0: zero velocities."""
        cycle = self.cycle
        if not self.follows or omega == 0.0:
            return np.zeros(len(self.stiffness.places[0]))
        still = self.stiffness.tangent
        mean = still._replace(bar_tangent=cycle.bars, block=cycle.block, cross=cycle.cross)
        return (entries(mean) - entries(still)) / (FAST * omega)

    def matrix(self, values: Floats | Complexes) -> Sparse:
        """(3n, 3n) sparse, with these entries at ``places``."""
        from scipy.sparse import coo_array

        size = self.stage.system.size
        return coo_array((values, self.stiffness.places), shape=(size, size)).tocsr()


def small_motions(stage: StepSystem, motion: Motion, instant: Loading, omega: float) -> Small:
    """Small motions about a state; omega: of the slowest motion. The state is left evaluated in ``stage.work``."""
    from scipy.sparse import csr_array

    work, coefficients = stage.work, stage.coefficients
    arrays = {name: getattr(motion, name).copy() for name in ("a", "force", "flow", "state", "power")}
    still = motion._replace(v=np.zeros_like(motion.v), **arrays)
    stage.coefficients = coefficients._replace(viscous=1.0, vu=SLOW * omega)
    evaluate_start(stage, still, instant)
    tangent, ends, size = work.tangent, stage.bars.nodes, stage.system.size
    slowing = csr_array((size, size))
    if len(stage.nodes.damping):
        slowing = coupled_matrix(stage.nodes.damping, stage.bars.off_damping, ends)
    arrays = {"v_cosine": size, "v_sine": size, "cosine": size, "sine": size}
    shapes: dict[str, Any] = {"pull_cosine": len(ends), "pull_sine": len(ends), "bars": tangent.bar_tangent.shape}
    shapes |= {"block": tangent.block.shape, "cross": tangent.cross.shape, **arrays}
    cycle = Cycle(still=work.force.copy(), **{name: room(shape) for name, shape in shapes.items()})
    rods = rod_matrix(stage) if len(stage.bars.rods) else csr_array((0, size))
    transform = reduction(stage.nodes.dof_kind, stage.equations)
    made = stage, still, instant, stiffness_of(stage), mass_matrix(stage), slowing, transform, rods
    return Small(*made, transform, csr_array(transform.shape), cycle)


SAMPLES = 36
"""Instants of a cycle: the first harmonic of |v| v is off by 1e-5."""


class Cycle(NamedTuple):
    """Velocities of a cycle as cosine and sine parts, and the resulting forces; n nodes, m bars, p pairs.

    v_cosine, v_sine (3n,);  still (3n,)  force without velocities
    cosine, sine (3n,), pull_cosine, pull_sine (m,)  first harmonic of the force, and of N/L0 of bars, out
    bars (STORED, m), block (n, 9), cross (p, 18)    means of the tangent, out
    """

    v_cosine: Floats
    v_sine: Floats
    still: Floats
    cosine: Floats
    sine: Floats
    pull_cosine: Floats
    pull_sine: Floats
    bars: Floats
    block: Floats
    cross: Floats


@shared_kernel
def go_round(
    rate: float, time: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch, cycle: Cycle
) -> float:
    """Evaluates a cycle and fills in its results; ``work.u`` is the state. rate: dv/du of the tangents."""
    for dof in range(cycle.cosine.shape[0]):
        cycle.cosine[dof], cycle.sine[dof] = 0.0, 0.0
    for e in range(cycle.pull_cosine.shape[0]):
        cycle.pull_cosine[e], cycle.pull_sine[e] = 0.0, 0.0
        for c in range(cycle.bars.shape[0]):
            cycle.bars[c, e] = 0.0
    for i in range(cycle.block.shape[0]):
        for c in range(9):
            cycle.block[i, c] = 0.0
    for p in range(cycle.cross.shape[0]):
        for c in range(18):
            cycle.cross[p, c] = 0.0
    fraction = 1.0 / SAMPLES
    for k in range(SAMPLES):
        angle = 2.0 * math.pi * fraction * (k + 0.5)
        cosine, sine = math.cos(angle), math.sin(angle)
        for dof in range(work.v.shape[0]):
            work.v[dof] = cycle.v_cosine[dof] * cosine + cycle.v_sine[dof] * sine
        evaluate_apart(at_end(1.0, rate, 0.0, time, time, thermal, problem, motion, work), problem, work)
        add_instant(fraction, cosine, sine, work, cycle)
    for dof in range(work.v.shape[0]):
        work.v[dof] = 0.0
    return 0.0


@inner_kernel
def add_instant(fraction: float, cosine: float, sine: float, work: Scratch, cycle: Cycle) -> None:
    """Adds one instant of a cycle."""
    tangent = work.tangent
    for dof in range(cycle.cosine.shape[0]):
        change = 2.0 * fraction * (work.force[dof] - cycle.still[dof])
        cycle.cosine[dof] += cosine * change
        cycle.sine[dof] += sine * change
    for e in range(cycle.pull_cosine.shape[0]):
        pull = 2.0 * fraction * tangent.bar_tangent[PULL, e]
        cycle.pull_cosine[e] += cosine * pull
        cycle.pull_sine[e] += sine * pull
        for c in range(cycle.bars.shape[0]):
            cycle.bars[c, e] += fraction * tangent.bar_tangent[c, e]
    for i in range(cycle.block.shape[0]):
        for c in range(9):
            cycle.block[i, c] += fraction * tangent.block[i, c]
    for p in range(cycle.cross.shape[0]):
        for c in range(18):
            cycle.cross[p, c] += fraction * tangent.cross[p, c]
