"""Arrays of dual numbers from arrays of neighbouring models.

Each parameter has four shadows: the same model with the parameter at p - 2h, p - h, p + h and p + 2h. What is assembled
from them (constants, loads, tables of waves) are smooth functions of numbers, so that differences of fourth order give
derivatives to 1e-11 or so. Nothing that is solved for is differenced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.compiled.lanes import Duals
from fem.errors import CommandError
from fem.forces.families import FAMILIES, Groups
from fem.study.lanes.forces import LARGEST, UNUSED, LaneForces

OFFSETS = (-2.0, -1.0, 1.0, 2.0)
"""Of the shadows of a parameter, in steps h."""
STEP = 2e-4
"""h over the parameter: the error is (phase angle of a load times h)^4/30, and round-off over h."""
MOST = 7
"""Parameters of one run."""


class NoDerivative(CommandError):
    """A number has no derivative by a parameter, or the program has none of it."""


def width_of(count: int) -> int:
    """Slots of dual numbers for so many parameters: half or a whole vector register."""
    return 4 if count < 4 else MOST + 1


def difference(one: Floats, other: Floats) -> Floats:
    """one - other, 0 where they are equal (infinite)."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def slopes(parts: Sequence[Any]) -> Floats:
    """Derivative by p over |p| of arrays at the four shadows."""
    far, near = difference(parts[3], parts[0]), difference(parts[2], parts[1])
    return np.asarray((8.0 * near - far) / (12.0 * STEP))


def dual(parts: Sequence[Floats], width: int) -> Any:
    """An array and those of its shadows, all of one shape, as one of dual numbers."""
    found = Duals(*parts[0].shape, width)
    found.array[..., 0] = parts[0]
    for slot in range(1, 1 + len(parts) // 4):
        found.array[..., slot] = slopes(parts[4 * slot - 3 : 4 * slot + 1])
    return found


def empty(shape: Sequence[int], width: int) -> Any:
    return Duals(*shape, width)


def packed(groups: Sequence[Any], width: int, plain: Sequence[str] = ()) -> Any:
    """A group of arrays and those of its shadows as one group of dual numbers. ``plain``: members that stay arrays of
    numbers. NoDerivative: a parameter changes something that is no array of numbers."""
    first, kind = groups[0], type(groups[0])
    members: dict[str, Any] = {}
    for name, its in first._asdict().items():
        parts = [getattr(each, name) for each in groups]
        if hasattr(its, "_fields"):
            members[name] = packed(parts, width)
        elif isinstance(its, np.ndarray) and its.dtype == np.float64 and name not in (*plain, *UNUSED.get(kind, ())):
            if any(part.shape != its.shape for part in parts):
                raise NoDerivative(f"a parameter changes the size of {kind.__name__}.{name}, not only its numbers")
            members[name] = dual(parts, width)
        elif name in LARGEST.get(kind, ()):
            members[name] = max(parts)
        else:
            if not all(np.array_equal(part, its) for part in parts) and name not in (*plain, *UNUSED.get(kind, ())):
                raise NoDerivative(f"a parameter changes {kind.__name__}.{name}, which has no derivative")
            members[name] = its
    return kind(**members)


def packed_forces(models: Sequence[Groups], width: int) -> LaneForces | None:
    """The groups of all families."""
    if models[0] is None:
        return None
    if others := [family.name for family in FAMILIES[len(LaneForces._fields) :]]:
        raise NoDerivative(f"there are no derivatives with registered forces ({', '.join(others)})")
    found = []
    for place, family in enumerate(FAMILIES):
        groups = [groups[place] for groups in models if groups is not None]
        found.append(packed(groups, width) if family.acts(groups[0]) else None)
    return LaneForces(*found)


def room_like(group: Any, width: int) -> Any:
    """Working room: zeros in the shapes of the arrays of a group."""
    members = {
        name: room_like(its, width)
        if hasattr(its, "_fields")
        else empty(its.shape, width)
        if its.dtype == np.float64
        else its
        for name, its in group._asdict().items()
    }
    return type(group)(**members)
