"""Arc length: a static increment whose load factor lambda is unknown, too.

    K du = R + dlambda f,    n.du + n_lambda dlambda = 0,    f = d f_ext / d lambda

so that a path is followed through limit points and snap-backs. An increment starts along the tangent of the path by
the arc length, c |du|^2 + dlambda^2 = radius^2, and returns to the path in the plane normal to that. If the path
passes the largest load factor, or the wanted displacement, the increment ends exactly there instead.
Source: Riks, Int. J. Solids Struct. 15 (1979); Ramm's form in Crisfield, Non-linear Finite Element Analysis 1, 9.3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import called_kernel
from fem.forces.bar import GAP
from fem.solve.newton.groups import Loading, Problem, Scratch

# Entries of Arc.numbers: load factor of the last good state and of the trial state; radius (0: no arc length); c (0:
# not chosen yet); last change of the factor; n_lambda; largest factor; dof held at the end (-1: none), its value;
# 1 while the end is approached, 2 once it is reached; multiple of the radius that an increment may be long
FACTOR, TRIAL_FACTOR, RADIUS, METRIC, LAST_CHANGE, NORMAL, LARGEST, DOF, VALUE, ENDING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
FAR = 10
NUMBERS = 11
APPROACHING, REACHED = 1.0, 2.0
FARTHEST, ROUND_CORNERS = 1.5, 20.0
"""An increment longer than this multiple of the radius (48 degrees off its tangent) is repeated with a shorter one; the
shortest may be longer: the path has a corner there."""


class Arc(NamedTuple):
    """State of an arc length step.

    numbers    (NUMBERS,)
    base, slope (p,)   factors of the load vectors: base + lambda slope
    direction  (3n,)   displacement per unit of lambda
    pending    (3n,)   correction at constant lambda
    normal     (3n,)   n
    last       (3n,)   displacement of the last good increment
    pull       (m,)    correction of the multipliers of rods at constant lambda
    """

    numbers: Floats
    base: Floats
    slope: Floats
    direction: Floats
    pending: Floats
    normal: Floats
    last: Floats
    pull: Floats


def no_arc() -> Arc:
    """Placeholder of an arc in steps without one."""
    nothing = np.zeros(0)
    return Arc(np.zeros(NUMBERS), nothing, nothing, nothing, nothing, nothing, nothing, nothing)


@called_kernel
def set_factor(arc: Arc, k: int, loading: Loading, load: Floats, known_force: Floats) -> None:
    """Writes loads at the trial load factor into ``loading``, and the known forces of the equilibrium."""
    factor = arc.numbers[TRIAL_FACTOR]
    for dof in range(load.shape[0]):
        load[dof] = 0.0
    for p in range(arc.base.shape[0]):
        now = arc.base[p] + factor * arc.slope[p]
        loading.weighted[k, p], loading.factors[k + 1, p] = now, now
        for dof in range(load.shape[0]):
            load[dof] += now * loading.vectors[p, dof]
    for dof in range(load.shape[0]):
        known_force[dof] = load[dof]


@called_kernel
def open_arc(arc: Arc, k: int, loading: Loading, load: Floats, known_force: Floats) -> None:
    """Begins an increment at the last converged load factor."""
    arc.numbers[TRIAL_FACTOR] = arc.numbers[FACTOR]
    arc.numbers[ENDING] = 0.0
    set_factor(arc, k, loading, load, known_force)


@called_kernel
def load_direction(arc: Arc, problem: Problem, loading: Loading, work: Scratch) -> None:
    """f into the right-hand side; the correction at constant lambda is stored for later."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    for dof in range(work.residual.shape[0]):
        arc.pending[dof] = work.du[dof]
        work.residual[dof] = 0.0
        for p in range(arc.slope.shape[0]):
            work.residual[dof] += arc.slope[p] * loading.vectors[p, dof]
        work.residual[dof] *= nodes.mask[dof]
    condense(equations, work.residual)
    for dof in range(work.residual.shape[0]):
        work.residual[dof] *= nodes.mask[dof]
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        arc.pull[e] = work.tau[e]
        work.tangent.bar_tangent[GAP, e] = 0.0


@called_kernel
def predict(arc: Arc, rods: Ints, equations: Equations, du: Floats, tau: Floats) -> None:
    """du along the tangent of the path: at an acute angle to the increment before, first with increasing load."""
    numbers, direction = arc.numbers, arc.direction
    expand(equations, du)
    square, onward = 0.0, numbers[LAST_CHANGE]
    for dof in range(direction.shape[0]):
        direction[dof] = du[dof]
        square += direction[dof] * direction[dof]
    if numbers[METRIC] == 0.0:
        numbers[METRIC] = 1.0 / square if square > 0.0 else 1.0
    for dof in range(direction.shape[0]):
        onward += numbers[METRIC] * direction[dof] * arc.last[dof]
    change = numbers[RADIUS] / math.sqrt(1.0 + numbers[METRIC] * square)
    if onward < 0.0:
        change = -change
    for dof in range(direction.shape[0]):
        du[dof] = change * direction[dof]
        arc.normal[dof] = numbers[METRIC] * du[dof]
    for r in range(rods.shape[0]):
        tau[rods[r]] *= change
    numbers[NORMAL] = change
    numbers[TRIAL_FACTOR] += change


@called_kernel
def combine_arc(arc: Arc, rods: Ints, equations: Equations, du: Floats, tau: Floats) -> None:
    """du and dlambda in the plane normal to the prediction."""
    expand(equations, du)
    expand(equations, arc.pending)
    above, below = 0.0, arc.numbers[NORMAL]
    for dof in range(du.shape[0]):
        above += arc.normal[dof] * arc.pending[dof]
        below += arc.normal[dof] * du[dof]
    change = -above / below
    for dof in range(du.shape[0]):
        du[dof] = arc.pending[dof] + change * du[dof]
    for r in range(rods.shape[0]):
        e = rods[r]
        tau[e] = arc.pull[e] + change * tau[e]
    arc.numbers[TRIAL_FACTOR] += change


@called_kernel
def hold_end(arc: Arc, u0: Floats, u1: Floats) -> bool:
    """If the converged increment passes the end of the step, returns to it in proportion and holds it there."""
    numbers = arc.numbers
    if numbers[ENDING] == APPROACHING:
        numbers[ENDING] = REACHED
        return False
    dof = int(numbers[DOF])
    fraction = 2.0
    if dof >= 0:
        before, after = u0[dof] - numbers[VALUE], u1[dof] - numbers[VALUE]
        if before * after <= 0.0 and before != after:
            fraction = before / (before - after)
    change = numbers[TRIAL_FACTOR] - numbers[FACTOR]
    holds_factor = numbers[TRIAL_FACTOR] >= numbers[LARGEST] and change > 0.0
    if holds_factor:
        holds_factor = (numbers[LARGEST] - numbers[FACTOR]) / change < fraction
        fraction = min(fraction, (numbers[LARGEST] - numbers[FACTOR]) / change)
    if fraction > 1.0:
        return False
    numbers[ENDING] = APPROACHING
    numbers[NORMAL] = 1.0 if holds_factor else 0.0
    numbers[TRIAL_FACTOR] = numbers[LARGEST] if holds_factor else numbers[FACTOR] + fraction * change
    for d in range(u1.shape[0]):
        u1[d] = u0[d] + fraction * (u1[d] - u0[d])
        arc.normal[d] = 0.0
    if not holds_factor:
        arc.normal[dof] = 1.0
        u1[dof] = numbers[VALUE]
    return True


@called_kernel
def strays(arc: Arc, u0: Floats, u1: Floats) -> bool:
    """Whether the increment ended far from its tangent: it may have left the path at a sharp turn."""
    square = (arc.numbers[TRIAL_FACTOR] - arc.numbers[FACTOR]) ** 2
    for dof in range(u1.shape[0]):
        square += arc.numbers[METRIC] * (u1[dof] - u0[dof]) ** 2
    return bool(square > (arc.numbers[FAR] * arc.numbers[RADIUS]) ** 2)


@called_kernel
def close_arc(arc: Arc, u0: Floats, u1: Floats) -> None:
    """Accepts the trial load factor."""
    numbers = arc.numbers
    numbers[LAST_CHANGE] = numbers[TRIAL_FACTOR] - numbers[FACTOR]
    numbers[FACTOR] = numbers[TRIAL_FACTOR]
    for dof in range(arc.last.shape[0]):
        arc.last[dof] = u1[dof] - u0[dof]
