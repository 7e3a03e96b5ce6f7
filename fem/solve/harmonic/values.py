"""Amplitudes of what is printed of nodes and elements, from those of displacements."""

from __future__ import annotations

import numpy as np

from fem.arrays import Complexes, Ints
from fem.assembly.system import BAR_FAMILY, SPRING_FAMILY
from fem.forces.bar import AREA, CONJUGATE, INV_LENGTH, MINUS, PLUS, bar_point, senses
from fem.forces.laws import GREEN, LINEAR, LOG
from fem.forces.springs import DAMPING, spring_slopes
from fem.solve.harmonic.small import Small
from fem.solve.harmonic.solve import Answer
from fem.solve.outcome import gather_reactions


class Bars:
    """What does not change with the frequency: of each bar its tension, its length and its strain at the state."""

    def __init__(self, small: Small) -> None:
        stage, work = small.stage, small.stage.work
        bars, count = stage.bars, len(stage.bars.nodes)
        thermal, still = small.instant.thermal_end[0], np.zeros(stage.system.size)
        points = np.array(
            [bar_point(e, work.u, still, bars, thermal, work.multiplier) for e in range(count)], float
        ).reshape(count, 6)
        self.stress, self.slope, stretch = points[:, 1], points[:, 3], points[:, 4]
        self.area, self.inverse = bars.constants[AREA], bars.constants[INV_LENGTH]
        self.lever = self.slope * stretch
        """T over A S."""
        self.tension = self.area * self.stress * self.lever
        self.sense = np.ones(count)
        self.sense[bars.rods] = senses(bars, bars.rods)
        self.way = self.sense[:, None] * small.stiffness.p
        self.length = np.sqrt((self.way**2).sum(axis=1))
        self.measure, self.conjugate = bars.kinds[:, 0], bars.constants[CONJUGATE]

    def values(self, small: Small, answer: Answer) -> Complexes:
        """(m, 4) amplitudes of E, S, N, T."""
        longer = (self.way * (small.incidence @ answer.u.reshape(-1, 3))).sum(axis=1) / self.length
        tension = (self.way * small.bar_forces(answer.u)).sum(axis=1) / self.length + self.length * answer.pull
        rods = small.stage.bars.rods
        tension[rods] = self.sense[rods] * self.length[rods] * answer.tau
        strain = self.slope * self.length * longer * self.inverse**2
        of_length = np.select(
            [self.measure == GREEN, self.measure == LOG], [self.inverse, -self.lever / self.length], 0.0
        )
        over, stress = tension - self.area * self.stress * of_length * longer, np.zeros_like(tension)
        np.divide(over, self.area * self.lever, out=stress, where=self.area > 0.0)  # no area: it is gone
        force = np.select(
            [self.measure == LOG, self.measure == LINEAR], [tension, self.area * stress * self.conjugate],
            self.area * stress,
        )  # fmt: skip
        return np.column_stack([strain, stress, force, tension])


def element_values(small: Small, of_bars: Complexes, answer: Answer, omega: float) -> Complexes:
    """(k, 4) amplitudes of E, S, N, T of all elements, from those of the bars; zero where an element has none."""
    system = small.stage.system
    found = np.zeros((len(system.family), 4), complex)
    kind, index = system.family.T
    found[kind == BAR_FAMILY] = of_bars[index[kind == BAR_FAMILY]]
    springs = system.springs
    ends = springs.dofs
    apart = answer.u[ends[:, 0]] - np.where(ends[:, 1] >= 0, answer.u[ends[:, 1]], 0.0)
    force = (spring_slopes(small.stage.work.u, springs) + 1j * omega * springs.constants[:, DAMPING]) * apart
    of_springs = np.column_stack([apart, force, force, force])
    found[kind == SPRING_FAMILY] = of_springs[index[kind == SPRING_FAMILY]]
    found[system.gone] = 0.0
    return found


def node_values(small: Small, answer: Answer, omega: float) -> Complexes:
    """(4, n, 3) amplitudes of U, V, A, RF."""
    system, count = small.stage.system, len(small.stage.system.labels)
    supported = small.stage.nodes.dof_kind == 0
    u, reaction = answer.u, np.where(supported, -answer.left, 0.0)
    found = np.stack([u, 1j * omega * u, -(omega**2) * u, reaction]).reshape(4, count, 3)
    gather_reactions(system.bodies, np.arange(count), found[None])
    return found


def going_slack(small: Small, bars: Bars, of_bars: Complexes) -> Ints:
    """Bars that resist tension alone, or more than compression, and whose tension changes by more than it is."""
    constants, tension = small.stage.bars.constants, np.abs(of_bars[:, 3])
    is_line = (constants[PLUS] != 0.0) & (constants[MINUS] < constants[PLUS])
    return np.flatnonzero(is_line & (bars.tension > 0.0) & (tension > bars.tension))
