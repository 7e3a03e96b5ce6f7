"""The interface between solver and forces: inputs (``Trial``) and outputs.

Everything that acts between or on nodes, except dead loads, is a force: bars, springs, the families of ``families``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel

SPENT, GIVEN, TAKEN, WEIGHT = 0, 1, 2, 3
"""Entries of ``Trial.power``: power of a stream on the bodies in it; other external work in the increment; other losses
in it; potential energy at u1 of the weight of families."""
BOOKS = 4


class Trial(NamedTuple):
    """Input of a force, n nodes, m bars. These numbers are all that a force knows of a scheme.

    secant          False: the force at u1; True: that of the increment from u0 to u1 (discrete gradient), whose
                    velocity is (u1 - u0) rate
    weight          of the force in the equilibrium of the scheme; goes into the tangent only
    rate, rate2     dv1/du1, da1/du1; rate 0 switches velocity-dependent forces off (statics)
    onset           du1/dv1, for the damping of cables that become taut (``laws.damped_fractions``); 0: at an instant
    time0, time1    start and end of the increment
    ahead           time from u0, v0, a0 to the instant of its forces, half an increment if secant; 0: at u1 = u0
    u0, v0, a0      (3n,) at the start
    u1, v1, a1      (3n,) at the end
    thermal         (m,)  thermal strain at the end, its mean where secant
    multiplier      (m,)  N/L0 of rods
    place           (3n,) reference coordinates
    state0, state1  (s,)  state variables of families: of the last converged increment; of this one, written
    power           (4,)  energies of families, added to (no families: empty): ``SPENT`` to ``WEIGHT``
    """

    secant: bool
    weight: float
    rate: float
    rate2: float
    onset: float
    time0: float
    time1: float
    ahead: float
    u0: Floats
    v0: Floats
    a0: Floats
    u1: Floats
    v1: Floats
    a1: Floats
    thermal: Floats
    multiplier: Floats
    place: Floats
    state0: Floats
    state1: Floats
    power: Floats


class Tangent(NamedTuple):
    """Derivative of the weighted forces by u1, the input of linear solvers; n nodes, m bars, p pairs.

    ends   (m, 2)       nodes i, j of each bar
    bar_tangent  (STORED, m)  its numbers: + alpha p q^T + t I on jj and ii, - on ij and ji; alpha = inf: a rod
    off    (m,)         its coupling mass in the effective tangent (or empty)
    block  (n, 9)       everything else within one node, row by row; empty if there is nothing else
    pairs  (p, 2)       two nodes i, j coupled by anything else
    cross  (p, 18)      K_ij, then K_ji
    """

    ends: Ints
    bar_tangent: Floats
    off: Floats
    block: Floats
    pairs: Ints
    cross: Floats


NO_PAIRS = np.zeros((0, 2), np.int64)
PULLED = -1
"""In place of the quantity of a vector among the states: a state that is part of T of an element."""


@inner_kernel
def component(vector: tuple[float, ...], axis: int) -> float:
    """Component of a vector, for loops over axes: compiled code cannot index a tuple with a variable."""
    return vector[0] if axis == 0 else vector[1] if axis == 1 else vector[2]


@inner_kernel
def dot(x: Vector, y: Vector) -> float:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@inner_kernel
def cross(x: Vector, y: Vector) -> Vector:
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


@inner_kernel
def scaled(f: float, x: Vector) -> Vector:
    return f * x[0], f * x[1], f * x[2]


@inner_kernel
def apart(i: int, j: int, x: Floats) -> Vector:
    """x_j - x_i of two nodes with the first dofs i and j."""
    return x[j] - x[i], x[j + 1] - x[i + 1], x[j + 2] - x[i + 2]


@inner_kernel
def blend(f: float, x: Vector, g: float, y: Vector) -> Vector:
    """f x + g y."""
    return f * x[0] + g * y[0], f * x[1] + g * y[1], f * x[2] + g * y[2]


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of force.

    wanted     (model) -> whether a deck uses it
    assemble   (model, system, pair, state) -> its group, with empty arrays if the model has none of it; pair, state:
               first index of its own in ``Tangent.pairs`` and in the states of a trial
    evaluate, values  kernels, as described in ``families.py``
    pairs      its group -> (p, 2) nodes it couples
    states     its group -> (s,) initial values of its state variables
    remembers  its group -> whether its forces depend on these, besides time, positions and velocities;
               None: they do if there are any
    whole      its tangent is all of the derivative of its force, and its states follow from the start of an increment:
               with the solution of an increment, derivatives of its force are known without another evaluation
    mass       kernel that adds its mass at nodes, as described in ``families.py``; this mass has no weight
    elements   its group -> (q,) indices of the elements whose force and values it computes; bars keep their mass
    in_step    (group, system, environment) -> its group in a step with this environment
    touching   its group -> (q, 2) nodes, and the first of three states that are its contact force there (CFORCE)
    bending    its group -> (q, 4) nodes, and the first states of six: curvatures and twist, moments and torque there;
               of three: spins of both bars and twist; of three: the director
    pulling    its group -> (q, 2) bars, and the state that is a part of their T in the tables, beside that of the bar
    symmetric  its tangent is symmetric
    smooth     its force is smooth: tangent maps exist
    stiffest   (group, place, u, dt) -> its group with its largest possible stiffness, for the critical increment of
               EXPLICIT
    couples    its mass may lie between the nodes of its pairs
    size       its group -> size of the forces that determines the rounding errors of its forces
    stored     (group, index, u, state) -> energy stored by its element ``index``, lost when it breaks
    released   (group, group after, u) -> energy stored between elements, lost when one of these breaks
    trouble    (group, system, u, state) -> reason why its energy is not finite in a state, or empty
    kinked     it has kinks at which full Newton steps may oscillate: they are halved if R does not decrease
    grounded   it acts between the model and the surroundings (water, a bottom), so forces depend on the frame
    at_rest    (group, u, state) -> its group for small motions about a state, where sliding contacts stick
    owners     its group -> (s,) the node or element of each state; None: states do not depend on the loads of steps
    """

    name: str
    assemble: Callable[[Any, Any, int, int], Any]
    evaluate: Any
    values: Any = None
    pairs: Callable[[Any], Ints] = lambda group: NO_PAIRS
    states: Callable[[Any], Floats] = lambda group: np.zeros(0)
    mass: Any = None
    elements: Callable[[Any], Ints] = lambda group: NO_PAIRS[:, 0]
    in_step: Callable[[Any, Any, Any], Any] = lambda group, system, environment: group
    touching: Callable[[Any], Ints] = lambda group: NO_PAIRS
    bending: Callable[[Any], Ints] = lambda group: NO_PAIRS
    pulling: Callable[[Any], Ints] = lambda group: NO_PAIRS
    symmetric: bool = True
    smooth: bool = True
    wanted: Callable[[Any], bool] = lambda model: True
    kinked: bool = False
    grounded: bool = False
    stiffest: Callable[[Any, Floats, Floats, float], Any] = lambda group, place, u, dt: group
    couples: bool = True
    size: Callable[[Any], float] = lambda group: 0.0
    stored: Callable[[Any, int, Floats, Floats], float] = lambda group, index, u, state: 0.0
    released: Callable[[Any, Any, Floats], float] = lambda group, after, u: 0.0
    trouble: Callable[[Any, Any, Floats, Floats], str] = lambda group, system, u, state: ""
    at_rest: Callable[[Any, Floats, Floats], Any] | None = None
    owners: Callable[[Any], Ints] | None = None
    remembers: Callable[[Any], bool] | None = None
    whole: bool = False

    def acts(self, group: Any) -> bool:
        """Whether the group of a model has elements."""
        return any(each.size for each in group if isinstance(each, np.ndarray))

    def has_history(self, group: Any) -> bool:
        """Whether its forces depend on more than time, positions and velocities."""
        return len(self.states(group)) > 0 and (self.remembers is None or self.remembers(group))
