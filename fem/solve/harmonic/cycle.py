"""Forces in the course of a cycle: what follows velocities, at velocities v(phi) = Re(i w u e^(i phi)).

Displacements stay those of the state. Of the forces F(phi) = F_0 + Re(F_1 e^(i phi)) + ... the first harmonic F_1 is
what a harmonic motion meets; it dissipates in a cycle just what F does, for v has no other harmonic (equivalent
linearisation; Krylov and Bogoliubov). For drag k |v| v of one direction F_1 = 8/(3 pi) k |w u| i w u.
Source: Caughey, Equivalent linearization techniques, J. Acoust. Soc. Am. 35 (1963) 1706.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Floats
from fem.compiled import inner_kernel, shared_kernel
from fem.forces.bars.bar import PULL
from fem.solve.newton.evaluate import at_end, evaluate_apart
from fem.solve.newton.groups import Motion, Problem, Scratch

SAMPLES = 36
"""Instants of a cycle: the first harmonic of |v| v is off by 1e-5."""


class Cycle(NamedTuple):
    """Velocities of a cycle as cosine and sine, and what they give, n nodes, m bars, p pairs.

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
    """Fill in what comes out of a cycle; ``work.u`` is the state. rate: dv/du of the tangents."""
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
    share = 1.0 / SAMPLES
    for k in range(SAMPLES):
        angle = 2.0 * math.pi * share * (k + 0.5)
        cosine, sine = math.cos(angle), math.sin(angle)
        for dof in range(work.v.shape[0]):
            work.v[dof] = cycle.v_cosine[dof] * cosine + cycle.v_sine[dof] * sine
        evaluate_apart(at_end(1.0, rate, 0.0, time, time, thermal, problem, motion, work), problem, work)
        add_instant(share, cosine, sine, work, cycle)
    for dof in range(work.v.shape[0]):
        work.v[dof] = 0.0
    return 0.0


@inner_kernel
def add_instant(share: float, cosine: float, sine: float, work: Scratch, cycle: Cycle) -> None:
    """One instant of a cycle."""
    tangent = work.tangent
    for dof in range(cycle.cosine.shape[0]):
        change = 2.0 * share * (work.force[dof] - cycle.still[dof])
        cycle.cosine[dof] += cosine * change
        cycle.sine[dof] += sine * change
    for e in range(cycle.pull_cosine.shape[0]):
        pull = 2.0 * share * tangent.bar_tangent[PULL, e]
        cycle.pull_cosine[e] += cosine * pull
        cycle.pull_sine[e] += sine * pull
        for c in range(cycle.bars.shape[0]):
            cycle.bars[c, e] += share * tangent.bar_tangent[c, e]
    for i in range(cycle.block.shape[0]):
        for c in range(9):
            cycle.block[i, c] += share * tangent.block[i, c]
    for p in range(cycle.cross.shape[0]):
        for c in range(18):
            cycle.cross[p, c] += share * tangent.cross[p, c]
