"""Elements that break: when they do, and the energy that goes with them.

An element is gone once its T or E, or total time, has reached a limit at the end of an increment. Which increment of a
chunk that is shows in what was recorded of it; the chunk is then gone through again, up to there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.system import BAR_FAMILY, SPRING_FAMILY, System
from fem.forces.bar import Bars, bar_point
from fem.forces.families import FAMILIES, FIRST
from fem.forces.springs import spring_point
from fem.model import Dynamic, Model, Static
from fem.model.properties import FAILURES
from fem.model.quantities import ELEMENTAL
from fem.results.record import Event
from fem.solve.clock import ErrorClock
from fem.solve.increment import OneStep
from fem.solve.newton.groups import ENERGY, Motion, Record
from fem.solve.start import open_energies

MOST_NAMED = 6
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

    def reached(self, step: OneStep, kept: Record, time: Floats) -> tuple[Ints, Ints]:
        """At the ends (k,) of which of the first increments that are kept, rising, which limits are reached."""
        if not len(self.elements):
            return self.elements, self.elements
        now, looked_at = np.repeat(time[:, None], len(self.elements), axis=1), self.columns >= 0
        places = step.elements.searchsorted(self.elements[looked_at])
        now[:, looked_at] = kept.values[: len(time), places, self.columns[looked_at]]
        rows, limits = ((now >= self.values) & ~step.whole.gone[self.elements]).nonzero()
        return rows, limits


NO_BREAKS = Breaks(NONE := np.zeros(0, np.int64), np.zeros(0), NONE, NONE, np.zeros(0))


def breaks_of(model: Model) -> Breaks:
    """Those of a model."""
    if not model.failures:
        return NO_BREAKS
    found = [(model.mesh.elements_of(each.target), each) for each in model.failures]
    sizes = [len(elements) for elements, _ in found]
    elements = np.concatenate([members for members, _ in found])
    values = np.repeat([each.value for _, each in found], sizes)
    columns = np.repeat([COLUMNS.index(FAILURES[each.kind]) if FAILURES[each.kind] else -1 for _, each in found], sizes)
    return Breaks(elements, values, columns, np.unique(elements[columns >= 0]), np.unique(values[columns < 0]))


def break_off(step: OneStep, reached: Ints) -> bool:
    """Take out the elements whose limits are reached now; whether there are any."""
    if not reached.size:
        return False
    tell_broken(step, step.whole.break_off(np.unique(step.whole.breaks.elements[reached])))
    if not step.clock.is_finished:
        rebuild(step)
    return True


def tell_broken(step: OneStep, broken: list[tuple[int, float]]) -> None:
    """Pass on labels of elements that are gone from now on, and the energies that went with them."""
    if not broken:
        return
    now = step.progress
    for label, lost in broken:
        step.sink.event(Event(step.number, now.increment, now.time, label, "break", lost))
    system = step.whole.system
    alone = np.intersect1d(system.idle.nonzero()[0], system.model.mesh.legs[0])
    if len(alone):
        names = ", ".join(map(str, system.labels[alone[:MOST_NAMED]]))
        more = f" and {len(alone) - MOST_NAMED} more" if len(alone) > MOST_NAMED else ""
        step.notify(f"nodes that have lost all their elements are held where they are: {names}{more}")


def rebuild(step: OneStep) -> None:
    """Go on with what is left of the model: forces and accelerations are new, the books go on."""
    motion, limits, procedure = step.progress.motion, step.stage.limits, step.step.procedure
    assert isinstance(procedure, (Static, Dynamic))
    step.take(*step.whole.stage_of(step.step))
    step.stage.limits[:] = limits
    if isinstance(step.clock, ErrorClock):
        step.clock.limits = step.stage.limits
    if isinstance(procedure, Dynamic) and not procedure.initial_acceleration:
        procedure = replace(procedure, initial_acceleration=True, singular_mass="WARNING")
    stage, instant = step.settle(procedure, step.progress.time, is_first=False)
    books, origin = motion.energies[ENERGY.error0 :].copy(), motion.origin.copy()
    open_energies(stage, motion, instant, is_first=False)
    motion.energies[ENERGY.error0 :], motion.origin[:] = books, origin
    if step.at_start:
        step.at_start.open(motion, is_first=False)
        step.at_start.tell()


def energies_of(system: System, bars: Bars, elements: Ints, motion: Motion, thermal: Floats) -> Floats:
    """(k,) stored and kinetic energy of elements; that of mass follows the mass rule of their section."""
    return np.array([stored(system, bars, e, motion, thermal) + kinetic(system, bars, e, motion) for e in elements])


def stored(system: System, bars: Bars, element: int, motion: Motion, thermal: Floats) -> float:
    """Stored energy of one element."""
    kind, index = system.family[element].tolist()
    if kind == BAR_FAMILY:
        return float(bar_point(index, motion.u, motion.v, bars, thermal, motion.multiplier)[5])
    if kind >= FIRST and system.families is not None:
        return float(FAMILIES[kind - FIRST].stored(system.families[kind - FIRST], index, motion.u, motion.state))
    return float(spring_point(index, motion.u, motion.v, system.springs)[3]) if kind == SPRING_FAMILY else 0.0


def kinetic(system: System, bars: Bars, element: int, motion: Motion) -> float:
    """v.M v/2 of one element."""
    index = int(system.bar_index[element])
    mass, off = system.element_mass[element], 0.0
    if index >= 0 and len(bars.off_mass):
        off = bars.off_mass[index]
    first, second = motion.v.reshape(-1, 3)[system.element_nodes[element]]
    return float(0.5 * ((0.5 * mass - off) * (first @ first + second @ second) + 2.0 * off * (first @ second)))
