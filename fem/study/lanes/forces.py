"""Families of forces in lanes: their groups as packs, and those of one block in the march.

What models may differ in is packed; all else (which bars are wet, amplitudes, levels) is the same in all lanes.
Families whose kernels have too many branches for packs are called lane after lane (``single_kernel``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.compiled.choice import is_plain
from fem.compiled.lanes import Lanes
from fem.forces.added_mass import AddedMass
from fem.forces.families import FAMILIES, Groups, acting
from fem.forces.fluid import EXPONENT, SIDE, Fluid
from fem.forces.protocol import Family
from fem.forces.seabed import RADIUS, RUBS_IN_STATICS, SLIP, Contacts
from fem.forces.waves import GustTable, Sea, Streams
from fem.study.lanes.pack import WIDTH

PACKED: dict[Any, tuple[str, ...]] = {
    Fluid: ("numbers",),
    Streams: ("profile", "along", "across"),
    Sea: ("trains",),
    GustTable: ("table",),
    AddedMass: ("numbers",),
    Contacts: ("numbers",),
}
"""Arrays of groups in which lanes may differ; of families that are called lane after lane: all numbers."""
LARGEST: dict[Any, tuple[str, ...]] = {Sea: ("rise", "reach")}
"""Bounds: of all lanes, the largest."""
UNUSED: dict[Any, tuple[str, ...]] = {Contacts: ("anchors",)}
"""What only a start asks for."""
ALIKE: dict[Any, Any] = {
    Fluid: lambda group: (group.numbers[:, EXPONENT], group.numbers[:, SIDE] != 0.0),
    Contacts: lambda group: (group.numbers[:, [RADIUS, SLIP]] != 0.0, group.numbers[:, RUBS_IN_STATICS] != 0.0),
}
"""What kernels decide on once for all lanes."""


class LaneForces(NamedTuple):
    """Groups of the families, in the order of ``FAMILIES``, for one block of lanes; None: it acts in none of them."""

    fluid: Fluid | None
    added_mass: AddedMass | None
    seabed: Contacts | None
    reeving: Any = None
    rope_laws: Any = None
    bending: Any = None
    bending_damping: Any = None
    moments: Any = None
    bathymetry: Any = None
    twist: Any = None
    vortices: Any = None


def is_single(family: Family) -> bool:
    """Lanes call its kernels one after the other."""
    return bool(family.evaluate.is_single)


def without_lanes(groups: Groups) -> list[str]:
    """Names of the families that do not run in lanes: registered ones, and where plain numba compiles those that are
    called lane after lane."""
    names = [family.name for family, _ in acting(groups) if is_plain() and is_single(family)]
    return names if groups is None else names + [family.name for family in FAMILIES[len(LaneForces._fields) :]]


def numbers_of(group: Any, singly: bool) -> list[str]:
    """Names of the arrays of a group in which lanes may differ."""
    if not singly:
        return list(PACKED.get(type(group), ()))
    return [name for name, its in group._asdict().items() if isinstance(its, np.ndarray) and its.dtype == np.float64]


def is_another(one: Any, first: Any, singly: bool) -> bool:
    """Two groups of a family, or members of them, differ in more than what lanes may differ in."""
    if one is first:
        return False
    if type(one) is not type(first):
        return True
    if hasattr(one, "_fields"):
        kind, each, numbers = type(one), ALIKE.get(type(one), lambda group: ()), numbers_of(one, singly)
        if not all(map(np.array_equal, each(one), each(first))):
            return True
        return any(
            np.shape(getattr(one, name)) != np.shape(getattr(first, name))
            if name in numbers
            else is_another(getattr(one, name), getattr(first, name), singly)
            for name in one._fields
            if name not in LARGEST.get(kind, ()) + UNUSED.get(kind, ())
        )
    return not np.array_equal(one, first)


def differ(one: Groups, first: Groups) -> bool:
    """Groups of two models cannot be lanes of one march."""
    if one is None or first is None:
        return one is not first
    return any(is_another(*each) for each in zip(one, first, map(is_single, FAMILIES), strict=True))


def packed(groups: Sequence[Any], singly: bool) -> Any:
    """Groups of one family, one for each lane, as one."""
    first, kind, numbers = groups[0], type(groups[0]), numbers_of(groups[0], singly)
    members: dict[str, Any] = {}
    for name, its in first._asdict().items():
        if name in numbers:
            members[name] = side_by_side([getattr(each, name) for each in groups])
        elif name in LARGEST.get(kind, ()):
            members[name] = max(getattr(each, name) for each in groups)
        elif hasattr(its, "_fields"):
            members[name] = packed([getattr(each, name) for each in groups], singly)
        else:
            members[name] = its
    return kind(**members)


def packed_forces(models: Sequence[Groups]) -> LaneForces | None:
    """The groups of all families, one for each lane."""
    if models[0] is None:
        return None
    found = []
    for place, family in enumerate(FAMILIES):
        groups = [groups[place] for groups in models if groups is not None]
        found.append(packed(groups, is_single(family)) if family.acts(groups[0]) else None)
    return LaneForces(*found)


def side_by_side(parts: Sequence[Floats]) -> Any:
    """One array per lane, all of one shape, as packs whose sides are known at run time; the last one fills them up."""
    packs: Any = Lanes(*parts[0].shape, WIDTH)
    if all(part is parts[0] for part in parts):
        packs.array[:] = parts[0][..., None]
    else:
        packs.array[:] = np.moveaxis(np.array([*parts, *[parts[-1]] * (WIDTH - len(parts))]), 0, -1)
    return packs
