"""The critical increment: which one would make the motion unstable, and which element sets it.

Two figures bracket omega_max: the bound of ``bound.py`` from above and Lanczos' iteration from below. An increment
within the bound is safe and nothing more is computed; beyond it, the sharp figure of Lanczos decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats
from fem.assembly.system import SPRING_FAMILY
from fem.forces.bars.bar import ALPHA, AREA, GEOMETRIC, MINUS, PLUS, P
from fem.forces.equations import condense, expand
from fem.forces.families import as_stiff_as_they_get
from fem.forces.springs import spring_slopes
from fem.solve.explicit.bound import largest_square
from fem.solve.explicit.leapfrog import Moved
from fem.solve.linear.tangent import multiply
from fem.solve.newton.groups import Motion, Problem
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.schemes import equilibrium
from fem.solve.step_system import StepSystem

FAR = 1e200
"""An increment so long that viscous stiffness 4/dt C vanishes."""
LANCZOS = 80
SETTLED = 1e-7
"""The iteration ends when omega^2 grows by less than this fraction in five steps."""
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Critical:
    """The critical increment ``dt`` (infinite: nothing limits it) and the node around which the fastest mode is."""

    dt: float
    node: int


def as_stiff_as_can_be(problem: Problem) -> Problem:
    """What marches, its slack bars taut: what is slack now will not be for long."""
    constants = problem.bars.constants.copy()
    constants[PLUS] = constants[MINUS] = np.maximum(constants[PLUS], constants[MINUS])
    return problem._replace(bars=problem.bars._replace(constants=constants))


def bound_of(
    stage: StepSystem, taut: Problem, moved: Moved, motion: Motion, thermal: Floats, time: float, dt: float
) -> tuple[float, int]:
    """Upper bound of omega^2 at a time, damping for this dt included, and its node.

    The tangent is left in ``stage.work``.
    """
    if taut.families is not None:
        taut = taut._replace(families=as_stiff_as_they_get(taut.families, taut.nodes.place, motion.u, dt))
    square, node = largest_square(stage.coefficients, dt, time, thermal, moved.inverse, taut, motion, stage.work)
    return float(square), int(node)


def critical_increment(
    stage: StepSystem, taut: Problem, moved: Moved, motion: Motion, thermal: Floats, time: float
) -> Critical:
    """Where dt^2 omega^2 = 4 for the largest omega^2 = a + b/dt of K + 4/dt C'; a, b: without and with damping."""
    _, node = bound_of(stage, taut, moved, motion, thermal, time, FAR)
    stiff = fastest_square(stage, moved, node)
    dt = 2.0 / np.sqrt(stiff) if stiff > 0.0 else np.inf
    is_viscous = len(motion.flow) > 0
    for _ in range(ROUNDS if is_viscous else 0):
        before = dt
        _, node = bound_of(stage, taut, moved, motion, thermal, time, min(before, FAR))
        damped = fastest_square(stage, moved, node)
        slope = max(damped - stiff, 0.0) * min(before, FAR)
        if slope + stiff > 0.0:
            dt = 8.0 / (slope + np.sqrt(slope**2 + 16.0 * stiff))
        if abs(dt - before) <= 1e-9 * before:
            break
    return Critical(float(dt), node)


def fastest_square(stage: StepSystem, moved: Moved, node: int) -> float:
    """Largest omega^2 of the tangent in ``stage.work``, from below, by Lanczos' iteration on M^-1/2 K M^-1/2.

    It starts from everything at random and most of all from ``node``.
    """
    work, equations = stage.work, stage.equations
    problem = stage.problem._replace(nodes=stage.nodes._replace(artificial_stiffness=np.zeros((0, 9))))
    nodal_blocks(equilibrium().coefficients, 1.0, problem, work)
    scale = np.sqrt(moved.inverse)
    moving = np.flatnonzero(scale > 0.0)
    if len(moving) == 0:
        return 0.0
    vector = np.random.default_rng(1).standard_normal(len(scale)) * (scale > 0.0)
    vector[3 * node : 3 * node + 3] *= np.sqrt(len(moving))
    vector /= np.linalg.norm(vector)
    previous, size = np.zeros_like(vector), 0.0
    diagonal: list[float] = []
    off: list[float] = []
    squares: list[float] = []
    everywhere, x, product = np.ones_like(vector), np.empty_like(vector), np.empty_like(vector)
    tangent = work.tangent._replace(off=np.zeros(0))
    for _ in range(min(LANCZOS, len(moving))):
        x[:] = scale * vector
        expand(equations, x)
        multiply(tangent, work.block, everywhere, x, product)
        condense(equations, product)
        image = scale * product - size * previous
        diagonal.append(float(vector @ image))
        image -= diagonal[-1] * vector
        matrix = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
        squares.append(float(np.linalg.eigvalsh(matrix)[-1]))
        size = float(np.linalg.norm(image))
        if size <= 1e-12 * abs(squares[-1]) or (len(squares) > 5 and squares[-1] - squares[-6] < SETTLED * squares[-1]):
            break
        off.append(size)
        previous, vector = vector, image / size
    return squares[-1]


def stiffest_at(stage: StepSystem, node: int) -> str:
    """The stiffest bar or spring at a node, with what it is made of; its tangent is in ``stage.work``.

    Where there is none, or a family is stiffer: what acts on the node.
    """
    system, bar_tangent = stage.system, stage.work.tangent.bar_tangent
    stiffness = np.abs(bar_tangent[ALPHA]) * (bar_tangent[P : P + 3] ** 2).sum(axis=0) + np.abs(bar_tangent[GEOMETRIC])
    stiffness = np.where((stage.bars.nodes == node).any(axis=1), stiffness, -1.0)
    springs = np.abs(spring_slopes(stage.work.u, system.springs))
    springs = np.where((system.springs.dofs // 3 == node).any(axis=1), springs, -1.0)
    most = max(stiffness.max(initial=-1.0), springs.max(initial=-1.0))
    mine = system.bar_index == (int(stiffness.argmax()) if len(stiffness) else 0)
    if most < 0.0 or (not stage.problem.is_passive and np.abs(stage.work.tangent.block[node]).max(initial=0.0) > most):
        return f"what acts on node {system.labels[node]}"
    if springs.max(initial=-1.0) > stiffness.max(initial=-1.0):
        mine = (system.family[:, 0] == SPRING_FAMILY) & (system.family[:, 1] == int(springs.argmax()))
    element = int(np.flatnonzero(mine)[0])
    name = f"element {system.element_labels[element]}"
    for section in reversed(system.model.sections):
        if np.any(system.model.mesh.element_sets[section.element_set] == element):
            area = system.bars.constants[AREA, system.bar_index[element]]
            return f"{name} (material {section.material}, *SOLID SECTION of {section.element_set}, area {area:.6g})"
    return name
