"""Families of forces: each in a file of its group, and one line here.

A family has a group of arrays (a NamedTuple) that says what it acts on, and a kernel that adds its forces:

    evaluate(trial, group, force, flow, tangent) -> energy stored at u1
        force    (3n,)  internal force, added to: what pushes along +x is subtracted
        flow     (3n,)  the part of it that is not the gradient of the stored energy, added to
        tangent         derivative of the weighted force, added to ``block`` and ``cross``
    values(group, index, u, v, state, row)   E, S, N, T of its element ``index``; in models with pulleys row has T2, too
    mass(group, time, place, u, state, block)   adds to block (n, 9) its mass at nodes with positions place + u; a
                                       family with pairs may add to its rows of block (n + p, 9), between their nodes

Energies, integrators, linear solvers, restarts and tables use these functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel, shared_kernel
from fem.compiled.lanes import where
from fem.forces.added_mass import ADDED_MASS
from fem.forces.bar import AREA, CONJUGATE, VISCOUS, Bars, bar_point
from fem.forces.bathymetry import BATHYMETRY
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.fluid import FLUID
from fem.forces.laws import LINEAR, write_values
from fem.forces.moments import MOMENTS
from fem.forces.protocol import Family
from fem.forces.reeving import REEVING, trouble_of_legs
from fem.forces.rope_laws import ROPE_LAWS
from fem.forces.seabed import SEABED
from fem.forces.springs import DAMPING, Springs, evaluate_springs, spring_values
from fem.forces.twist import TWIST
from fem.forces.vortices import VORTICES

FIRST = 3
"""Number of the elements of the first family; 0: bars, 1: springs between dofs, 2: point masses."""
FAMILIES: list[Family] = [FLUID, ADDED_MASS, SEABED, REEVING, ROPE_LAWS, BENDING, BENDING_DAMPING, MOMENTS]
FAMILIES += [BATHYMETRY, TWIST, VORTICES]
"""All families, besides bars and springs."""
Groups: TypeAlias = tuple[Any, ...] | None
"""Groups of all families of a model; None if there are none, so that its march contains no code for them."""


def in_step(system: Any, environment: Any, bars: Bars) -> Any:
    """A system with the groups of a step with its environment, and with its bars, linear or not."""
    if system.families is None:
        return system
    seen, pairs = replace(system, bars=bars), zip(FAMILIES, system.families, strict=True)
    return replace(system, families=tuple(family.in_step(group, seen, environment) for family, group in pairs))


def states_in(groups: Groups, state: Floats, before: Groups, kept: Floats) -> Floats:
    """States (s,) of groups: those that other groups of the same model had, ``kept``; for nodes and elements without an
    earlier state, ``state``.
    """
    found = state.copy()
    if groups is None or before is None:
        return found
    to = of = 0
    for family, group, old in zip(FAMILIES, groups, before, strict=True):
        count, old_count = len(family.states(group)), len(family.states(old))
        if family.owners is None:
            found[to : to + count] = kept[of : of + old_count]
        else:
            owners, old_owners = family.owners(group), family.owners(old)
            found[to : to + count][np.isin(owners, old_owners)] = kept[of : of + old_count]
        to, of = to + count, of + old_count
    return found


def as_stiff_as_they_get(groups: Groups, place: Floats, u: Floats, dt: float) -> Groups:
    """Groups with their largest stiffness, for the critical increment of EXPLICIT, at displacement u of place."""
    return groups and tuple(
        family.stiffest(group, place, u, dt) for family, group in zip(FAMILIES, groups, strict=True)
    )


def as_they_rest(groups: Groups, u: Floats, state: Floats) -> Groups:
    """Groups for small motions about a state: u (3n,), state (s,)."""
    return groups and tuple(
        family.at_rest(group, u, state) if family.at_rest else group
        for family, group in zip(FAMILIES, groups, strict=True)
    )


def acting(groups: Groups) -> list[tuple[Family, Any]]:
    """Families with elements in a model, and their groups."""
    pairs = [] if groups is None else zip(FAMILIES, groups, strict=True)
    return [(family, group) for family, group in pairs if family.acts(group)]


def rough_ones(groups: Groups) -> list[str]:
    """Names of families in the model without a tangent map."""
    return [family.name for family, group in acting(groups) if not family.smooth or len(family.states(group))]


def with_history(groups: Groups) -> list[str]:
    """Names of families whose forces depend on the history."""
    return [family.name for family, group in acting(groups) if family.has_history(group)]


def sliding_ones(groups: Groups) -> list[str]:
    """Names of families with friction, for which small motions would need a direction of slip."""
    return [each.name for each, _ in acting(groups) if not (each.smooth or each.symmetric or each.at_rest)]


def trouble_of(system: Any, u: Floats, state: Floats) -> str:
    """Message: why a family has forces that are not finite in this state; empty if none has."""
    found = (family.trouble(group, system, u, state) for family, group in acting(system.families))
    return trouble_of_legs(system, u) or next(filter(None, found), "")


def massive_ones(groups: Groups) -> list[str]:
    """Names of families that add mass."""
    return [family.name for family, _ in acting(groups) if family.mass is not None]


def are_viscous(bars: Bars, springs: Springs) -> bool:
    """Whether some force of bars or springs may dissipate energy."""
    return bool(bars.constants[VISCOUS].any() or springs.constants[:, DAMPING].any())


def asking_all(head: str, before: str, each: str, after: str, asks: Callable[[Family], bool] = lambda one: True) -> Any:
    """Text of a kernel that calls springs, then all families that it ``asks``, because a loop in a kernel cannot run
    over groups of several types."""
    asked = [each.format(number=FIRST + k, place=k) for k, family in enumerate(FAMILIES) if asks(family)]
    if asked:  # most models have none of them
        asked = ["    if families is not None:", *asked]
    lines = [f"def {head}:", before, *asked, after]
    known: dict[str, Any] = {"__name__": __name__, "of_springs": evaluate_springs, "spring_values": spring_values}
    for place, family in enumerate(FAMILIES):
        known |= {f"evaluate_{place}": forces_of(family), f"values_{place}": values_of(family)}
        known |= {f"mass_{place}": masses_of(family)}
    exec(compile("\n".join(lines), __file__, "exec"), known)
    return known[head.partition("(")[0]]


# Lanes have None in place of the groups that do not act in them.


def forces_of(family: Family) -> Any:
    """Its ``evaluate`` where it acts, added to the energy so far."""
    evaluate = family.evaluate

    def ask(energy: float, trial: Any, group: Any, force: Floats, flow: Floats, tangent: Any) -> float:
        if group is not None and group[0].shape[0] > 0:
            energy += evaluate(trial, group, force, flow, tangent)
        return energy

    return named(ask, family)


def values_of(family: Family) -> Any:
    """Its ``values``; elements that only carry a force have zeros."""
    values = family.values

    def ask(group: Any, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
        if group is not None:
            values(group, index, u, v, state, row)

    return named(ask, family) if values else no_values


def masses_of(family: Family) -> Any:
    """Its ``mass`` where it acts."""
    mass = family.mass

    def ask(group: Any, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
        if group is not None and group[0].shape[0] > 0:
            mass(group, time, place, u, state, block)

    return named(ask, family) if mass else no_mass


def named(ask: Any, family: Family) -> Any:
    """A kernel of its own: kept machine code is found by the names of what is inlined into it."""
    ask.__qualname__ += "_" + family.name.replace(" ", "_")
    return inner_kernel(ask)


@inner_kernel
def no_values(group: Any, index: int, u: Any, v: Any, state: Any, row: Any) -> None:
    """Values of elements without strain and stress: zeros."""


@inner_kernel
def no_mass(group: Any, time: float, place: Any, u: Any, state: Any, block: Any) -> None:
    """For families without mass."""


WITH_SPRINGS = "    energy = of_springs(trial, springs, force, flow, tangent) if springs.dofs.shape[0] > 0 else 0.0"
EACH = "        energy = evaluate_{place}(energy, trial, families[{place}], force, flow, tangent)"


def _evaluate() -> Any:
    return asking_all(
        "evaluate_all(trial, springs, families, force, flow, tangent)", WITH_SPRINGS, EACH, "    return energy"
    )


def _evaluate_whole() -> Any:
    return asking_all(
        "evaluate_whole(trial, families, force, flow, tangent)", "    energy = 0.0", EACH, "    return energy",
        lambda family: family.whole,
    )  # fmt: skip


def _evaluate_rest() -> Any:
    return asking_all(
        "evaluate_rest(trial, springs, families, force, flow, tangent)", WITH_SPRINGS, EACH, "    return energy",
        lambda family: not family.whole,
    )  # fmt: skip


def _values() -> Any:
    return asking_all(
        "values_of_all(number, index, springs, families, u, v, state, row)",
        "    if number == 1: spring_values(springs, index, u, v, row)",
        "        if number == {number}: values_{place}(families[{place}], index, u, v, state, row)",
        "    return None",
    )


def _mass() -> Any:
    return asking_all(
        "masses_of_all(families, time, place, u, state, block)",
        "    for k in range(block.shape[0]):\n        for c in range(9): block[k, c] = 0.0",
        "        mass_{place}(families[{place}], time, place, u, state, block)",
        "    return None",
    )


evaluate_others = inner_kernel(_evaluate())
"""(trial, springs, families, force, flow, tangent) -> stored energy of springs and all families."""
evaluate_whole = inner_kernel(_evaluate_whole())
"""(trial, families, force, flow, tangent) -> the same of families whose tangent is ``whole``."""
evaluate_rest = inner_kernel(_evaluate_rest())
"""(trial, springs, families, force, flow, tangent) -> the same of springs and all others."""
values_of_others = inner_kernel(_values())
"""(number, index, springs, families, u, v, state, row): E, S, N, T of an element that is not a bar."""
masses_of_others = inner_kernel(_mass())
"""(families, time, place, u, state, block): adds the mass of families to block (n, 9)."""


@kernel
def element_values(
    elements: Ints, u: Floats, v: Floats, bars: Bars, springs: Springs, families: tuple[Any, ...] | None,
    thermal: Floats, multiplier: Floats, state: Floats, values: Floats, onset: float = 0.0,
) -> None:  # fmt: skip
    """Strain E, stress S, conjugate force N and force along the bar T of listed elements; where ropes run over pulleys
    T2, too: T at the other end, which differs for these ropes only; where bars may yield also PE and PEEQ.

    elements (q, 2) int   kind (0 bar, 1 spring between dofs, 2 point mass, more: a family) and index in it
    values   (q, 4, 5, 7) out; N = A S (GREEN, ENGINEERING; A S L0/l for LOG), T = A S e'(E) l/L0, viscous part included

    state          state variables of families
    onset          as in ``Trial``, of the increment that ends here
    Springs between dofs: elongation, then the force three times. Point masses: zeros.
    """
    for k in range(elements.shape[0]):
        number, index = elements[k, 0], elements[k, 1]
        if values.shape[1] > 4:
            values[k, 4] = np.inf  # overwritten by its family
        for c in range(5, values.shape[1]):
            values[k, c] = 0.0
        if number == 0:
            strain, stress, viscous, slope, stretch, _ = bar_point(index, u, v, bars, thermal, multiplier, onset)
            kind, area = bars.kinds[index, 0], bars.constants[AREA, index]
            conjugate = bars.constants[CONJUGATE, index] if kind == LINEAR else 1.0
            write_values(kind, strain, stress + viscous, area, slope * stretch, conjugate, values[k])
        else:
            for c in range(4):
                values[k, c] = 0.0
            values_of_others(number, index, springs, families, u, v, state, values[k])
        if values.shape[1] > 4:
            values[k, 4] = where(values[k, 4] < np.inf, values[k, 4], values[k, 3])


@shared_kernel
def write_masses(families: Groups, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
    """Writes the mass of families at nodes at displacement u into block (n, 9)."""
    masses_of_others(families, time, place, u, state, block)


def _ask_anew() -> None:
    evaluate_others.function, values_of_others.function = _evaluate(), _values()
    evaluate_whole.function, evaluate_rest.function = _evaluate_whole(), _evaluate_rest()
    masses_of_others.function = _mass()


def add_family(family: Family) -> None:
    """Add a family, as a line in ``FAMILIES`` does."""
    FAMILIES.append(family)
    _ask_anew()


def remove_family(family: Family) -> None:
    FAMILIES.remove(family)
    _ask_anew()


@contextmanager
def registered(family: Family) -> Iterator[None]:
    """Context in which a family is added."""
    add_family(family)
    try:
        yield
    finally:
        remove_family(family)
