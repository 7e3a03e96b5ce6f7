"""What perturbations of a state do to its internal force."""

from __future__ import annotations

from fem.arrays import Floats
from fem.chaos.variation.groups import DU, DV, KNOWN
from fem.compiled import kernel
from fem.forces.protocol import Trial
from fem.solve.linear.tangent import add_product
from fem.solve.newton.evaluate import evaluate_apart
from fem.solve.newton.groups import Motion, Problem, Scratch


@kernel
def change_forces(
    now: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch, vectors: Floats
) -> None:
    """Row KNOWN of every perturbation: K du + D dv, the multipliers of rods kept; their gradients into ``work``.

    The tangent at dv1/du1 = r is T(r) = K + r D:  K du + D dv = T(1) (2 du - dv) + T(2) (dv - du).
    """
    for turn in range(2):
        trial = Trial(
            False, 1.0, 1.0 + turn, 0.0, 0.0, now, now, 0.0, motion.u, motion.v, motion.a, motion.u, motion.v,
            motion.a, thermal, motion.multiplier, problem.nodes.place, motion.state, work.state, work.power,
        )  # fmt: skip
        evaluate_apart(trial, problem, work)
        for j in range(vectors.shape[0]):
            for dof in range(vectors.shape[2]):
                du, dv = vectors[j, DU, dof], vectors[j, DV, dof]
                work.du[dof] = 2.0 * du - dv if turn == 0 else dv - du
                if turn == 0:
                    vectors[j, KNOWN, dof] = 0.0
            add_product(1.0, problem.bars.rods.shape[0] > 0, work.tangent, work.du, vectors[j, KNOWN])
