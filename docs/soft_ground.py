"""A user's own force with its keyword, integrator, quantity and command, from a script: ``python soft_ground.py``.

``*SOFT GROUND, NSET=NAME``: springs along y from the nodes of a set to the ground, each of the given stiffness.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import fem
from fem.arrays import Floats, Ints
from fem.compiled import called_kernel
from fem.deck.kinds import POSITIVE_NUMBER
from fem.deck.sections import name_of
from fem.deck.table import DataLine, Form, Parameters, Value
from fem.forces.protocol import Family, Tangent, Trial
from fem.solve.schemes import newmark


@dataclass(frozen=True)
class SoftGround:
    """What one card says."""

    node_set: str
    stiffness: float


class Springs(NamedTuple):
    nodes: Ints
    stiffness: Floats


def assemble(model, system, pair, state):
    cards = [each for each in model.others if isinstance(each, SoftGround)]
    sets = [model.mesh.node_sets[each.node_set] for each in cards]
    stiffness = [each.stiffness for each, nodes in zip(cards, sets, strict=True) for _ in nodes]
    return Springs(np.concatenate([np.zeros(0, np.int64), *sets]), np.array(stiffness))


@called_kernel
def evaluate(trial: Trial, own: Springs, force: Floats, flow: Floats, tangent: Tangent) -> float:
    energy = 0.0
    for m in range(own.nodes.shape[0]):
        dof, k, part = 3 * own.nodes[m] + 1, own.stiffness[m], 1.0
        u = trial.u1[dof]
        energy += 0.5 * k * u * u
        if trial.secant:  # the mean of the force at both ends of the increment
            u, part = 0.5 * (trial.u0[dof] + u), 0.5
        force[dof] += k * u
        if tangent.block.shape[0] > 0:
            tangent.block[own.nodes[m], 4] += trial.weight * part * k
    return energy


def count(deck, parameters, say):
    say(f"{len(deck.read_text().splitlines())} lines")


fem.register(
    "SOFT GROUND",
    force=Family("soft ground", assemble, evaluate),
    keyword=Form(
        SoftGround,
        Parameters(NSET=Value("node_set", name_of("node"))),
        DataLine("the stiffness", Value("stiffness", POSITIVE_NUMBER, "the stiffness")),
    ),
    help="springs along y from the nodes of a set to the ground",
)
fem.register("LINEAR ACCELERATION", integrator=lambda: newmark(1.0 / 6.0, 0.5))
fem.register("SPEED", quantity=lambda of: np.linalg.norm(of["V"], axis=-1), unit="length/time")
fem.register("count", command=count, help="count the lines of a deck")

DECK = """*NODE
1, 0, 0, 0
*ELEMENT, TYPE=MASS, ELSET=POINT
1, 1
*MASS, ELSET=POINT
2.
*NSET, NSET=ALL
1
*SOFT GROUND, NSET=ALL
50.
*BOUNDARY
1, 1
1, 3
*STEP
*DYNAMIC, DIRECT, TIME INTEGRATOR=LINEAR ACCELERATION
0.001, 0.2
*CLOAD
1, 2, 10.
*NODE PRINT
U, SPEED
*END STEP
"""

if __name__ == "__main__":
    history = fem.run(fem.parse_deck(DECK))
    print(history.of_node(1)[-1, 1], history.of_node(1, "SPEED")[-1])  # 0.2 (1 - cos 5t), sin 5t at t = 0.2
