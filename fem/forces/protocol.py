"""The interface between solver and forces: inputs (``Trial``) and outputs.

Whatever acts between or on nodes and is not a dead load is a force: bars, springs, and the families of ``families``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel

SPENT, GIVEN, TAKEN, WEIGHT = 0, 1, 2, 3
"""Entries of ``Trial.power``: what a stream spends per time on the bodies in it; work that comes from outside in the
increment besides, and what is lost in it besides; the potential energy at u1 of weight that families add."""
BOOKS = 4


class Trial(NamedTuple):
    """The state a force is asked in, n nodes, m bars. A scheme is, to a force, nothing but these numbers.

    secant          False: the force at u1; True: that of the increment from u0 to u1 (discrete gradient), whose
                    velocity is (u1 - u0) rate
    weight          of the force in the equilibrium of the scheme; goes into the tangent only
    rate, rate2     dv1/du1, da1/du1; rate 0 switches forces that follow velocities off (statics)
    onset           du1/dv1, for the damping of cables that become taut (``laws.damped_fractions``); 0: at an instant
    time0, time1    start and end of the increment
    ahead           time from u0, v0, a0 to where its forces act, half an increment where secant; 0: they act at u1 = u0
    u0, v0, a0      (3n,) at the start
    u1, v1, a1      (3n,) at the end
    thermal         (m,)  thermal strain at the end, its mean where secant
    multiplier      (m,)  N/L0 of rods
    place           (3n,) reference coordinates
    state0, state1  (s,)  what families remember: of the last good increment; of this one, written
    power           (4,)  what families add to the books, added to (no families: empty): ``SPENT`` to ``WEIGHT``
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
    """Derivative of the weighted forces by u1: all that a linear solver reads, n nodes, m bars, p pairs.

    ends   (m, 2)       nodes i, j of each bar
    bar_tangent  (STORED, m)  its numbers: + alpha p q^T + t I on jj and ii, - on ij and ji; alpha = inf: a rod
    off    (m,)         its coupling mass in the effective tangent (or empty)
    block  (n, 9)       everything else within one node, row by row; empty where there is nothing of the kind
    pairs  (p, 2)       two nodes i, j that anything else couples
    cross  (p, 18)      K_ij, then K_ji
    """

    ends: Ints
    bar_tangent: Floats
    off: Floats
    block: Floats
    pairs: Ints
    cross: Floats


NO_PAIRS = np.zeros((0, 2), np.int64)


@inner_kernel
def component(vector: tuple[float, ...], axis: int) -> float:
    """Of a vector, for loops over axes: compiled code takes no entry of a tuple by a variable."""
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

    wanted     (model) -> a deck asks for it somewhere
    assemble   (model, system, pair, state) -> its group, with empty arrays where the model has none of it; pair, state:
               from where on its own stand in ``Tangent.pairs`` and in the states of a trial
    evaluate, values  kernels, as ``families.py`` says
    pairs      its group -> (p, 2) nodes it couples
    states     its group -> (s,) what it remembers before anything has moved
    remembers  its group -> whether its forces depend on these states: not on time, positions and velocities alone;
               None: they do where there are states
    mass       kernel that adds the mass it gives to nodes, as ``families.py`` says; it does not weigh
    elements   its group -> (q,) indices of the elements whose force and values it gives; bars keep their mass
    in_step    (group, system, environment) -> its group in a step in which that acts
    touching   its group -> (q, 2) nodes, and the first of three states that are its contact force there (CFORCE)
    symmetric  its tangent is
    smooth     its force is: there are tangent maps
    stiffest   (group, place, u, dt) -> its group with its largest possible stiffness, for the critical increment of
               EXPLICIT
    couples    its mass may lie between the nodes of its pairs
    size       its group -> the largest force whose round-off its forces have
    stored     (group, index, u, state) -> energy that its element ``index`` stores, lost where it breaks
    released   (group, group after, u) -> energy that it stores between elements, lost where one of these breaks
    trouble    (group, system, u, state) -> why it cannot go on in a state in which its energy is not finite, or nothing
    kinked     it has kinks that full Newton updates run back and forth across: they are halved where R does not fall
    grounded   the world outside acts in it (water, a bottom): it tells a frame that travels from one at rest
    at_rest    (group, u, state) -> its group as small motions about a state meet it, where what slides sticks
    owners     its group -> (s,) the node or element that each state is of; None: the states are those of the model,
               whatever its steps act on
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

    def acts(self, group: Any) -> bool:
        """Whether the group of a model has elements."""
        return any(each.size for each in group if isinstance(each, np.ndarray))

    def has_history(self, group: Any) -> bool:
        """Its forces depend on more than time, positions and velocities."""
        return len(self.states(group)) > 0 and (self.remembers is None or self.remembers(group))
