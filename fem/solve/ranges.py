"""Bars and springs outside their intended range: GREEN beyond small strain, and tables beyond their last row, where the
force is constant.

T of GREEN at the elongation e is E A (1 + e/2)(1 + e) e (``forces/laws``): (3 e + e^2)/2 above Hooke's law E A e.
STRAIN=GREEN may be given or be the default, which results do not show.
"""

from __future__ import annotations

import math

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.system import SPRING_FAMILY, System
from fem.forces import bar
from fem.forces.bar import Bars
from fem.forces.laws import BILINEAR, GREEN, TABLE
from fem.forces.springs import COUNT, Springs
from fem.forces.springs import FIRST as FIRST_ROW
from fem.model.quantities import in_newtons
from fem.solve.newton.groups import MEMORY

LARGE_STRAIN = 0.05
"""Elongation above which GREEN is reported: T is then 7.6 % above Hooke's law."""


def ranges_of(bars: Bars, springs: Springs) -> tuple[Ints, Floats]:
    """``watched`` (w, 3) and ``allowed`` (w, 2) of a record."""
    constants, kinds = bars.constants, bars.kinds
    stiff = (constants[bar.YOUNG] * constants[bar.AREA] > 0.0) & (kinds[:, 0] == GREEN) & (kinds[:, 1] == BILINEAR)
    green = np.flatnonzero(stiff)
    allowed = [np.where(constants[[bar.MINUS, bar.PLUS]][:, green].T > 0.0, ELASTIC, [-np.inf, np.inf])]
    watched = [np.column_stack([np.zeros_like(green), green, np.full_like(green, MEMORY.stretch)])]
    for index in np.flatnonzero(kinds[:, 1] == TABLE).tolist():
        watched.append(np.array([[0, index, MEMORY.stray]]))
        allowed.append(greens(ends_of(rows_of_bar(bars, index)) * constants[bar.INV_LENGTH, index])[None])
    for index in np.flatnonzero(springs.constants[:, COUNT] > 0.0).tolist():
        watched.append(np.array([[1, index, MEMORY.stray]]))
        allowed.append(ends_of(rows_of_spring(springs, index))[None])
    return np.concatenate(watched), np.concatenate(allowed)


def rows_of_bar(bars: Bars, index: int) -> Floats:
    """(rows, 3) elongation, force and energy of a bar with a table."""
    first, count = bars.constants[bar.OF_LAW : bar.OF_LAW + 2, index].astype(int)
    return np.asarray(bars.table)[first : first + count]


def rows_of_spring(springs: Springs, index: int) -> Floats:
    """The same of a spring between dofs."""
    first, count = springs.constants[index, [FIRST_ROW, COUNT]].astype(int)
    return np.asarray(springs.table)[first : first + count]


def greens(elongation: Floats) -> Floats:
    """Green's strain of relative elongations; below -1 that of a bar of length zero."""
    e = np.maximum(elongation, -1.0)
    return np.asarray(np.where(np.isneginf(elongation), -np.inf, e + 0.5 * e * e))


ELASTIC = greens(np.array([-LARGE_STRAIN, LARGE_STRAIN]))
"""Range of Green's strain without a notice."""


def ends_of(table: Floats) -> Floats:
    """Elongations of the first and the last row; infinite if the table is constant there itself, or slack."""
    (first, last), (low, high) = table[[0, -1], 0], table[[0, -1], 1]
    rises = np.diff(table[:, 1]) if len(table) > 1 else np.zeros(1)
    return np.array([first if rises[0] and low else -np.inf, last if rises[-1] and high else np.inf])


FARTHEST = MEMORY.stretch, MEMORY.stray
"""Entries of the memory with the largest excess over ranges."""


def told_of_ranges(system: System, bars: Bars, memory: Floats) -> dict[int, str]:
    """Notices of bars and springs outside their range in a step, with the largest excess, by entry of ``FARTHEST``."""
    found, (watched, _) = dict[int, str](), ranges_of(bars, system.springs)
    if memory[MEMORY.stretch] > 0.0:
        index = int(watched[int(memory[MEMORY.stretch_at]), 1])
        e = math.sqrt(1.0 + 2.0 * memory[MEMORY.stretch_by]) - 1.0
        off, name = 50.0 * abs(3.0 * e + e * e), system.model.mesh.named(system.label_of_bar(index))
        how = ("stretched", "above") if e > 0.0 else ("shortened", "below")
        found[MEMORY.stretch] = (
            f"element {name} is {how[0]} by {100.0 * abs(e):.3g} %: with STRAIN=GREEN, the default, its T is {off:.3g} "
            f"% {how[1]} Hooke's law, E A (L - L0)/L0; STRAIN=ENGINEERING in *SOLID SECTION follows that law"
        )
    if memory[MEMORY.stray] > 0.0:
        is_spring, index, _ = watched[int(memory[MEMORY.stray_at])].tolist()
        x = float(memory[MEMORY.stray_by])
        if is_spring:
            (element,) = np.flatnonzero((system.family == [SPRING_FAMILY, index]).all(axis=1))
            name = system.model.mesh.named(int(system.element_labels[element]))
            rows = rows_of_spring(system.springs, index)
        else:
            name = system.model.mesh.named(system.label_of_bar(index))
            x = (math.sqrt(1.0 + 2.0 * x) - 1.0) / bars.constants[bar.INV_LENGTH, index]
            rows = rows_of_bar(bars, index)
        is_last = x > rows[-1, 0]
        end, force = rows[-1 if is_last else 0, :2]
        found[MEMORY.stray] = (
            f"element {name} leaves the table of its *SPRING: at the elongation {x:.6g} its force stays at "
            f"{in_newtons(force, system.model)}, that of the {'last' if is_last else 'first'} row ({end:.6g}); give "
            "the table more rows, or a level end where that is meant"
        )
    return found
