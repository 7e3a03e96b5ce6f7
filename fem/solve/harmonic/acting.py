"""Harmonic loads and support motions of a step: complex amplitudes as functions of the frequency."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fem.arrays import Complexes, Floats
from fem.assembly.cases import Span, follow
from fem.assembly.environment import Environment, LoadSet, load_set, next_environment
from fem.assembly.system import System
from fem.model import Step
from fem.model.curves import evaluate

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
