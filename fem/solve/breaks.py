"""Elements that break: when they do, and the energy that goes with them.

An element is gone once its T or E, or total time, has reached a limit at the end of an increment. Which increment of a
chunk that is shows in what was recorded of it; the chunk is then gone through again, up to there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.system import BAR_FAMILY, SPRING_FAMILY, System
from fem.forces.bar import Bars, bar_point
from fem.forces.families import FAMILIES, FIRST, Groups
from fem.forces.springs import spring_point
from fem.model import FAILURES, Model
from fem.model.quantities import ELEMENTAL
from fem.solve.newton.groups import Motion, Record

COLUMNS = [quantity.name for quantity in ELEMENTAL]


@dataclass(frozen=True, slots=True)
class Breaks:
    """The limits of all elements that may break.

    elements (f,)  indices;  values (f,) of the limits;  columns (f,) of the quantity, -1: total time
    watched        elements whose T or E is looked at after every increment
    instants       rising total times at which an element breaks: increments end there
    """

    elements: Ints
    values: Floats
    columns: Ints
    watched: Ints
    instants: Floats

    def reached(self, recorded: Ints, gone: Flags, kept: Record, time: Floats) -> tuple[Ints, Ints]:
        """At the ends (k,) of which of the first increments that are kept, rising, which limits are reached.
        recorded  elements whose values are kept;  gone  (elements,) out of the model already"""
        if not len(self.elements):
            return self.elements, self.elements
        now, looked_at = np.repeat(time[:, None], len(self.elements), axis=1), self.columns >= 0
        places = recorded.searchsorted(self.elements[looked_at])
        now[:, looked_at] = kept.values[: len(time), places, self.columns[looked_at]]
        rows, limits = ((now >= self.values) & ~gone[self.elements]).nonzero()
        return rows, limits


NO_BREAKS = Breaks(NONE := np.zeros(0, np.int64), np.zeros(0), NONE, NONE, np.zeros(0))


def breaks_of(model: Model) -> Breaks:
    """What may break in a model."""
    if not model.failures:
        return NO_BREAKS
    found = [(model.mesh.elements_of(each.target), each) for each in model.failures]
    sizes = [len(elements) for elements, _ in found]
    elements = np.concatenate([members for members, _ in found])
    values = np.repeat([each.value for _, each in found], sizes)
    columns = np.repeat([COLUMNS.index(FAILURES[each.kind]) if FAILURES[each.kind] else -1 for _, each in found], sizes)
    return Breaks(elements, values, columns, np.unique(elements[columns >= 0]), np.unique(values[columns < 0]))


def energies_of(system: System, bars: Bars, elements: Ints, motion: Motion, thermal: Floats) -> Floats:
    """(k,) stored and kinetic energy of elements; that of mass follows the mass rule of their section."""
    return np.array([stored(system, bars, e, motion, thermal) + kinetic(system, bars, e, motion) for e in elements])


def stored(system: System, bars: Bars, element: int, motion: Motion, thermal: Floats) -> float:
    kind, index = system.family[element].tolist()
    if kind == BAR_FAMILY:
        return float(bar_point(index, motion.u, motion.v, bars, thermal, motion.multiplier)[5])
    if kind >= FIRST and system.families is not None:
        return float(FAMILIES[kind - FIRST].stored(system.families[kind - FIRST], index, motion.u, motion.state))
    return float(spring_point(index, motion.u, motion.v, system.springs)[3]) if kind == SPRING_FAMILY else 0.0


def released(before: Groups, after: Groups, u: Floats) -> float:
    """Energy that families no longer store between elements, some of which have just broken."""
    if before is None or after is None:
        return 0.0
    groups = zip(FAMILIES, before, after, strict=True)
    return float(sum(family.released(group, left, u) for family, group, left in groups))


def kinetic(system: System, bars: Bars, element: int, motion: Motion) -> float:
    """v.M v/2 of one element."""
    index = int(system.bar_index[element])
    mass, off = system.element_mass[element], 0.0
    if index >= 0 and len(bars.off_mass):
        off = bars.off_mass[index]
    first, second = motion.v.reshape(-1, 3)[system.element_nodes[element]]
    return float(0.5 * ((0.5 * mass - off) * (first @ first + second @ second) + 2.0 * off * (first @ second)))
