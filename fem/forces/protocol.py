"""What the march asks a force with, and what it wants of it.

Whatever acts between or on nodes and is not a dead load is a force: bars, springs, and the families of ``families``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints


class Trial(NamedTuple):
    """The state a force is asked in, n nodes, m bars. A scheme is, to a force, nothing but these numbers.

    secant          False: the force at u1; True: that of the increment from u0 to u1 (discrete gradient), whose
                    velocity is (u1 - u0) rate
    weight          of the force in the equilibrium of the scheme; goes into the tangent only
    rate, rate2     dv1/du1, da1/du1; rate 0 switches forces that follow velocities off (statics)
    onset           du1/dv1, for the damping of cables that become taut (``laws.damped_fractions``); 0: at an instant
    time0, time1    start and end of the increment
    u0, v0          (3n,) at the start
    u1, v1, a1      (3n,) at the end
    thermal         (m,)  thermal strain at the end, its mean where secant
    multiplier      (m,)  N/L0 of rods
    place           (3n,) reference coordinates
    state0, state1  (s,)  what families remember: of the last good increment; of this one, written
    power           (1,)  what a stream that flows past spends on the bodies in it, added to (no families: empty)
    """

    secant: bool
    weight: float
    rate: float
    rate2: float
    onset: float
    time0: float
    time1: float
    u0: Floats
    v0: Floats
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


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of force.

    wanted     (model) -> a deck asks for it somewhere
    assemble   (model, system, pair, state) -> its group, with empty arrays where the model has none of it; pair, state:
               from where on its own stand in ``Tangent.pairs`` and in the states of a trial
    evaluate, values  kernels, as ``families.py`` says
    pairs      its group -> (p, 2) nodes it couples
    states     its group -> (s,) what it remembers before anything has moved
    mass       kernel that adds the mass it gives to nodes, as ``families.py`` says; it does not weigh
    elements   its group -> (q,) indices of the elements whose values it gives
    in_step    (own, system, environment) -> its group in a step in which that acts
    touching   its group -> (q, 2) nodes, and the first of three states that are its contact force there (CF)
    symmetric  its tangent is
    smooth     its force is: there are tangent maps
    stiffest   (own, u, dt) -> its group as stiff as it may soon become, which increments of EXPLICIT have to bear
    kinked     it has kinks that full Newton updates run back and forth across: they are halved where R does not fall
    """

    name: str
    assemble: Callable[[Any, Any, int, int], Any]
    evaluate: Any
    values: Any = None
    pairs: Callable[[Any], Ints] = lambda own: NO_PAIRS
    states: Callable[[Any], Floats] = lambda own: np.zeros(0)
    mass: Any = None
    elements: Callable[[Any], Ints] = lambda own: NO_PAIRS[:, 0]
    in_step: Callable[[Any, Any, Any], Any] = lambda own, system, environment: own
    touching: Callable[[Any], Ints] = lambda own: NO_PAIRS
    symmetric: bool = True
    smooth: bool = True
    wanted: Callable[[Any], bool] = lambda model: True
    kinked: bool = False
    stiffest: Callable[[Any, Floats, float], Any] = lambda own, u, dt: own

    def acts(self, own: Any) -> bool:
        """A model has some of it."""
        return any(each.size for each in own if isinstance(each, np.ndarray))
