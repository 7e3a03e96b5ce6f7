"""Arrays of dual numbers from arrays of neighbouring models.

Each parameter has four shadows: the same model with the parameter at p - 2h, p - h, p + h and p + 2h. What is assembled
from them (constants, loads, tables of waves) are smooth functions of numbers, so that differences of fourth order give
derivatives to 1e-11 or so. Nothing that is solved for is differenced.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.compiled.lanes import Duals
from fem.errors import CommandError
from fem.forces.families import FAMILIES, Groups
from fem.forces.waves import Sea
from fem.solve.newton.groups import Scratch
from fem.study.lanes.forces import LARGEST, UNUSED, LaneForces

OFFSETS = (-2.0, -1.0, 1.0, 2.0)
"""Of the shadows of a parameter, in steps h."""
STEP = 2e-5
"""h over the parameter: the error is (phase angle of a load times h)^4/30, and round-off over h. Kinks and jumps of
loads over time that are nearer to the end of an increment than 2 h spoil derivatives there."""
ROUND_OFF = 2e-11
"""Of such differences, as a fraction of the numbers: 1e-16/h."""
MOST = 7
"""Parameters of one run."""
UNREACHED: dict[Any, tuple[str, ...]] = {Sea: ("trains",)}
"""Arrays that stay plain numbers where no parameter reaches them: for them there are faster kernels."""


class NoDerivative(CommandError):
    """A number has no derivative by a parameter, or the program has none of it."""


def width_of(count: int) -> int:
    """Slots of dual numbers for so many parameters: half or a whole vector register. A quarter is no faster."""
    return 4 if count < 4 else MOST + 1


def difference(one: Floats, other: Floats) -> Floats:
    """one - other, 0 where they are equal (infinite)."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def slopes(parts: Sequence[Any]) -> Floats:
    """Derivative by p over |p| of arrays at the four shadows."""
    far, near = difference(parts[3], parts[0]), difference(parts[2], parts[1])
    return np.asarray((8.0 * near - far) / (12.0 * STEP))


def are_same(parts: Sequence[Any]) -> bool:
    """Whether the parameter does not change an array, or anything else that is compared. Most arrays are small, and
    the same bit for bit: numpy takes longer to begin with a comparison than Python for all of it."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        shape, content = first.shape, first.tobytes()
        return all(part is first or (np.shape(part) == shape and part.tobytes() == content) for part in parts[1:])
    return all(part is first or part == first for part in parts[1:])


def roughness(parts: Sequence[Floats]) -> float:
    """How far arrays (k, c) over time at the four shadows are from smooth functions of the parameter: of each column
    the largest difference of its two derivatives of second order, over the largest derivative.

    Of a phase of w t it is (w t h)^2/2, and the error of the derivative 2/15 of its square; a jump has 1/2, or more."""
    if are_same(parts):
        return 0.0
    far, near = 0.5 * difference(parts[3], parts[0]), difference(parts[2], parts[1])
    size = np.maximum(np.abs(near), np.abs(far)).max(axis=0, initial=0.0)
    value = np.maximum(np.abs(parts[0]), np.abs(parts[3])).max(axis=0, initial=0.0)
    off = np.abs(near - far).max(axis=0, initial=0.0) - ROUND_OFF * value
    return float(np.max(off / np.where(size > 0.0, size, 1.0), initial=0.0))


def dual(parts: Sequence[Floats], width: int) -> Any:
    """An array and those of its shadows, all of one shape, as one of dual numbers."""
    found = Duals(*parts[0].shape, width)
    found.array[..., 0] = parts[0]
    for slot in range(1, 1 + len(parts) // 4):
        if not are_same(its := parts[4 * slot - 3 : 4 * slot + 1]):
            found.array[..., slot] = as_powers(slopes(its), parts[0])
    return found


def as_powers(slope: Floats, value: Floats) -> Floats:
    """Slopes without round-off where numbers are as a power of the parameter, 0, 1/2, 1, ...: masses as the density."""
    with np.errstate(all="ignore"):
        power = 0.5 * np.round(2.0 * slope / value)
        return np.where(np.abs(slope - power * value) <= ROUND_OFF * np.abs(value), power * value, slope)


def moved(its: Any, number: int) -> Floats:
    """An array of dual numbers as the shadow of this number has it, to first order."""
    slot, offset = 1 + number // len(OFFSETS), OFFSETS[number % len(OFFSETS)]
    return np.asarray(its.array[..., 0] + offset * STEP * its.array[..., slot])


def keep_slopes(its: Any, before: Any, parts: Sequence[Floats]) -> None:
    """Takes the slopes that an array had ``before`` where the shadows, ``parts``, have still the numbers ``moved`` by
    them: differences of these have the round-off of the numbers over the step."""
    if its.array.shape != before.array.shape:
        return
    for slot in range(1, 1 + len(parts) // len(OFFSETS)):
        numbers = range(len(OFFSETS) * (slot - 1), len(OFFSETS) * slot)
        stays = np.all([parts[number] == moved(before, number) for number in numbers], axis=0)
        its.array[..., slot] = np.where(stays, before.array[..., slot], its.array[..., slot])


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
            stays = name in UNREACHED.get(kind, ()) and are_same(parts)
            members[name] = its if stays else dual(parts, width)
        elif name in LARGEST.get(kind, ()):
            members[name] = max(parts)
        else:
            if not are_same(parts) and name not in (*plain, *UNUSED.get(kind, ())):
                raise NoDerivative(f"a parameter changes {kind.__name__}.{name}, which has no derivative")
            members[name] = its
    return kind(**members)


def packed_forces(models: Sequence[Groups], width: int, names: Collection[str]) -> LaneForces | None:
    """The groups of the families of these names, whether they act or not: so all models with forces march in the same
    machine code, which takes longer to compile than to run."""
    if models[0] is None:
        return None
    if others := [family.name for family in FAMILIES[len(LaneForces._fields) :]]:
        raise NoDerivative(f"there are no derivatives with registered forces ({', '.join(others)})")
    found = []
    for place, family in enumerate(FAMILIES):
        groups = [groups[place] for groups in models if groups is not None]
        found.append(packed(groups, width) if family.name in names else None)
    return LaneForces(*found)


def room_like(group: Any, width: int) -> Any:
    """Working room: zeros in the shapes of the arrays of a group."""
    return type(group)(*(like(its, width) for its in group))


def like(its: Any, width: int) -> Any:
    """Room for an array, or the arrays of a group."""
    if hasattr(its, "_fields"):
        return room_like(its, width)
    return empty(its.shape, width) if its.dtype == np.float64 else its


def copied(group: Any) -> Any:
    """Another group of dual numbers, with the same content."""
    found = [empty(its.array.shape[:-1], its.array.shape[-1]) for its in group]
    for copy, its in zip(found, group, strict=True):
        copy.array[:] = its.array
    return type(group)(*found)


MATRICES = ("inverse", "band", "blocks")
"""Members of ``Scratch`` that hold matrices alone."""


def without_slopes(room: Scratch, stage: Scratch) -> Scratch:
    """Working room that shares all but the matrices, which are of plain numbers: equations for derivatives do not need
    theirs. The numbers of bars have them, as forces are made of these. ``stage`` lends shapes."""
    blocks = {name: like(getattr(stage.tangent, name), 1) for name in ("block", "cross")}
    own = {name: like(getattr(stage, name), 1) for name in MATRICES}
    return room._replace(**own, tangent=room.tangent._replace(**blocks))


def without_blocks(room: Scratch) -> Scratch:
    """The same room where no matrices of nodes are asked for."""
    its = {name: getattr(room.tangent, name).array for name in ("block", "cross")}
    blocks = {name: empty((0, *array.shape[1:-1]), array.shape[-1]) for name, array in its.items()}
    return room._replace(tangent=room.tangent._replace(**blocks))
