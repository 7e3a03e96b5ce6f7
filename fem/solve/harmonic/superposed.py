"""Superposition of modes: small motions as u = u_s + sum of x_i phi_i, each mode with a damping of its own.

u_s is what supports and loads would do without inertia (K u_s = f): modes carry the rest alone, so that few of them do
(static correction; Clough and Penzien, Dynamics of Structures, ch. 12 and 26). Modal damping acts on the motion beside
e, what the supports do to the model without inertia: forces i w M phi_i 2 zeta_i w_i phi_i.M (u - e). What follows
velocities acts by its first harmonic, as with all dofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fem.arrays import Complexes, Floats
from fem.errors import ModelError
from fem.model import SteadyState
from fem.solve.harmonic.small import Small
from fem.solve.harmonic.solve import factorised, largest
from fem.solve.modes.find import Found

BALANCED = 1e-8
"""Fraction of the largest force that a static answer may leave."""
TURNS = 4
"""Most refinements of a static answer."""


@dataclass(frozen=True, slots=True)
class Superposition:
    """Modes (m) of n nodes: ``shapes`` (3n, m), ``held`` M phi, ``rates`` (m,) 2 zeta w [1/time]; ``whole``: all dofs.

    solve  K u = f over the independent dofs, roughly
    """

    whole: Small
    shapes: Floats
    held: Floats
    rates: Floats
    solve: Callable[[Complexes], Complexes]

    @property
    def small(self) -> Small:
        """Small motions whose unknowns are amounts of the modes."""
        return replace(self.whole, shapes=self.shapes, resisting=self.held * self.rates)

    def about(self, load: Complexes, given: Complexes, omega: float) -> tuple[Complexes, Complexes]:
        """The load (3n,) with the damping of what it does without inertia, and the displacements (3n,) of that."""
        carried = self.static(np.zeros_like(load), given)
        loaded = self.static(load, np.zeros_like(given))
        damped = 1j * omega * (self.held @ (self.rates * (self.held.T @ loaded)))
        return load - damped, carried + loaded

    def static(self, load: Complexes, given: Complexes) -> Complexes:
        """(3n,) displacements under a load where supports move by ``given``. ModelError: not found."""
        whole, u = self.whole, given.copy()
        for _ in range(TURNS):
            forces = whole.elastic(u)
            left = whole.transform.T @ (load - forces)
            if largest(left) <= BALANCED * max(largest(load), largest(forces)):
                return u
            u += whole.transform @ self.solve(left)
        raise ModelError(f"*STEADY STATE DYNAMICS: no static answer within {TURNS} refinements; DIRECT needs none")


def superposed(whole: Small, found: Found, procedure: SteadyState) -> Superposition:
    """The superposition of modes of the same state. ModelError: rods and taut ropes, loose dofs."""
    if whole.rods.shape[0]:
        raise ModelError("*STEADY STATE DYNAMICS: modes do not give the tensions of rods and taut ropes; DIRECT does")
    solve = factorised(whole, 0.0)
    if solve is None:
        raise ModelError(
            "*STEADY STATE DYNAMICS: without stiffness for all motions there is no static answer; use DIRECT"
        )
    omega = np.zeros(procedure.modes)
    omega[found.number - 1] = found.omega.clip(min=0.0)
    shapes = np.asarray(whole.transform @ found.shapes)
    return Superposition(whole, shapes, whole.mass @ shapes, procedure.damping_rates(omega)[found.number - 1], solve)
