"""The harmonic motion at one frequency, u(t) = Re(u e^(i w t)), confirmed by its residual.

    K u + F_1(u) + i w C u - w^2 M u + G^T tau = f,    G u = 0

F_1 is the first harmonic of what follows velocities (``small.py``). Newton's iterations with the mean d(force)/dv of
the cycle: it is what changes F_1, but for a part that turns with twice the frequency, so that drag alone leaves a third
of an error (its derivative is 16/(3 pi) in phase and 8/(3 pi) a quarter of a period off, the mean 12/(3 pi)).

Harmonic loads and support motions of a step: complex amplitudes as functions of the frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Complexes, Floats
from fem.assembly.cases import Span, follow
from fem.assembly.environment import Environment, LoadSet, load_set, next_environment
from fem.assembly.system import System
from fem.model import Step
from fem.model.curves import evaluate
from fem.solve.harmonic.small import Small, entries
from fem.solve.modes.pencil import equilibration

MOST = 60
"""Solves at one frequency."""
CHANGE = 1e-6
"""Fraction of the largest displacement that the last solve may change."""


class Answer(NamedTuple):
    """Amplitudes: unknowns x (k,), u (3n,), tau (r,) of rods, N/L0 that follows velocities (m,), what is left (3n,).

    left        forces that nothing balances: those of supports
    iterations  solves;  change, residual: of the last solve over the largest displacement, and the largest force left
    over the largest that acts
    """

    x: Complexes
    u: Complexes
    tau: Complexes
    pull: Complexes
    left: Complexes
    iterations: int
    change: float
    residual: float

    @property
    def is_confirmed(self) -> bool:
        """The last solve has changed nothing any more."""
        return self.change <= CHANGE


def answer_at(small: Small, omega: float, load: Complexes, given: Complexes, start: Complexes) -> Answer:
    """The motion under a load (3n,) where supports move by ``given`` (3n,); ``start`` (k,): a first guess of it.

    given: dofs that equations make dependent on those of supports included.
    """
    shapes = small.shapes
    x, tau, change, used = start.copy(), np.zeros(small.rods.shape[0], complex), np.inf, 0
    solve: Callable[[Complexes], Complexes] | None = None
    for _ in range(MOST):
        u = given + shapes @ x
        balance, _ = forces_left(small, omega, load, u, x, tau)
        if solve is None or small.follows:
            solve = factorised(small, omega)
            if solve is None:
                break
        with np.errstate(all="ignore"):
            step = solve(np.concatenate([shapes.T @ balance, -(small.rods @ u)]))
        if not np.isfinite(step).all():
            break
        used += 1
        x, tau = x + step[: len(x)], tau + step[len(x) :]
        change = largest(shapes @ step[: len(x)]) / (largest(given + shapes @ x) or 1.0)
        if change <= CHANGE:
            break
    u = given + shapes @ x
    balance, size = forces_left(small, omega, load, u, x, tau)
    residual = largest(small.transform.T @ balance) / (size or 1.0)
    cycle = small.cycle
    pull = np.asarray(cycle.pull_cosine - 1j * cycle.pull_sine)
    return Answer(x, u, tau, pull, balance, used, change, residual)


def largest(values: Complexes | Floats) -> float:
    """Magnitude; 0 of nothing."""
    return float(np.abs(values).max(initial=0.0))


def forces_left(
    small: Small, omega: float, load: Complexes, u: Complexes, x: Complexes, tau: Complexes
) -> tuple[Complexes, float]:
    """(3n,) what nothing balances, and the size of the largest force that takes part."""
    flow = small.following(omega, u)
    inertia = -(omega**2) * (small.mass @ u) + 1j * omega * (small.slowing @ u + small.resisting @ x)
    parts = small.elastic(u), flow, inertia, small.rods.T @ tau
    return load - sum(parts), max(map(largest, (load, *parts)))


def factorised(small: Small, omega: float) -> Callable[[Complexes], Complexes] | None:
    """Solutions with the matrix of the equations above, after a cycle; None where it is singular."""
    from scipy.sparse import block_array, csc_array
    from scipy.sparse.csgraph import structural_rank
    from scipy.sparse.linalg import splu

    values = entries(small.stiffness) + 1j * omega * small.damping(omega)
    whole = small.matrix(values) + 1j * omega * small.slowing - omega**2 * small.mass
    matrix: Any = csc_array(small.shapes.T @ (whole @ small.shapes + 1j * omega * small.resisting))
    if small.rods.shape[0]:
        gradients = small.rods @ small.shapes
        matrix = block_array([[matrix, gradients.T], [gradients, None]]).tocsc()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    if not np.isfinite(matrix.data).all() or structural_rank(matrix) < matrix.shape[0]:  # SuperLU would crash
        return None
    scale = equilibration(matrix)
    matrix = matrix.multiply(scale[:, None]).multiply(scale[None, :]).tocsc()
    try:
        solve = splu(matrix).solve
    except RuntimeError:  # exactly singular
        return None
    return lambda right: np.asarray(scale * solve(scale * right))


ALWAYS = Span(0.0, 0.0, ramps=False)
"""Amplitudes are functions of the frequency, which stands in the place of time."""


@dataclass(frozen=True, slots=True)
class Acting:
    """Loads in phase, and a quarter of a period ahead; support motions as prescribed; u (3n,) of the state."""

    system: System
    loads: tuple[LoadSet, LoadSet]
    step: Step
    environment: Environment
    u: Floats
    time: float

    def load(self, frequency: float) -> Complexes:
        """(3n,) amplitudes of nodal forces."""
        real, imaginary = (each.factors(np.array([frequency]))[0] @ each.vectors for each in self.loads)
        return np.asarray(real + 1j * imaginary)

    def given(self, frequency: float) -> Complexes:
        """(3n,) amplitudes of supported dofs; those of the nodes of rigid bodies to first order."""
        supports, system = self.environment.supports, self.system
        found = np.zeros(len(supports.group), complex)
        for entry in (*self.step.boundaries, *self.step.rotations):
            dofs = 3 * system.nodes_of(entry.target) + entry.dof - 1
            if entry.dof > 3:
                (body,) = (each for each in system.bodies if each.driven[0] == 3 * system.nodes_of(entry.target)[0])
                dofs = body.driven[[entry.dof - 1]]
            value = complex(entry.value)
            if entry.amplitude is not None:
                value *= evaluate(follow(system.model, entry.amplitude, ALWAYS), np.array([frequency]))[0]
            part = found.imag if entry.is_imaginary else found.real
            part[dofs] = value.real
        place, _ = supports.with_rotations(self.u, np.zeros_like(self.u), self.time)
        for body in system.bodies:
            at, still = place[None, body.driven], np.zeros((1, 6))
            rates = (part[None, body.driven] for part in (found.real, found.imag))
            real, imaginary = (body.moved(at, rate, still)[1][0] for rate in rates)
            found[body.dofs] = real + 1j * imaginary
        return found[: system.size]


def acting_in(system: System, step: Step, environment: Environment, u: Floats, time: float) -> Acting:
    """What acts in a step; ``environment``: what holds the state."""
    nothing = replace(environment, nodal=(), body=(), gravity=(), heat=(), released=(), flows=())
    parts = []
    for late in (False, True):
        nodal = tuple(each for each in step.nodal_loads if each.is_imaginary == late)
        spread = tuple(each for each in step.distributed_loads if each.is_imaginary == late)
        part = replace(step, nodal_loads=nodal, distributed_loads=spread, boundaries=(), rotations=())
        still = np.zeros_like(u)
        parts.append(load_set(system, next_environment(system, nothing, part, ALWAYS, u, still, still)))
    return Acting(system, (parts[0], parts[1]), step, environment, u, time)
