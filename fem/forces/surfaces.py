"""Surfaces that nodes of lines touch: planes, and cylinders without ends. How deep a node is in one, and its normal.

With P = I - a a^T across the axis a of a cylinder of radius R, r = P (x - p) from it to a node: g = R - |r|, n = r/|r|.
Of an increment the discrete gradient of |r|, (r0 + r1)/(|r0| + |r1|), does the work of a spring exactly, and has no
moment about the axis. Source: Gonzalez, J. Nonlinear Sci. 6 (1996) 449.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel
from fem.forces.protocol import Trial

Numbers: TypeAlias = tuple[float, ...]

STIFFNESS, DAMPING, DEPTH, RAMP, AXIAL, LATERAL, SLIP, RUBS_IN_STATICS, NORMAL, RADIUS, AXIS = *range(9), 11, 12
NUMBERS = 15
"""Columns of ``Contacts.numbers``; DEPTH: of the reference position; NORMAL: three of them, of a cylinder from its
axis to the reference position; RADIUS: 0 of planes; AXIS: three of them."""


class Contacts(NamedTuple):
    """c nodes that may touch a surface; a node between bars above two of them counts twice.

    nodes (c,);  chord (c, 2) the nodes before and after along the line;  numbers (c, NUMBERS);  anchors (c, 3) u of
    the anchors at first;  first of their states
    """

    nodes: Ints
    chord: Ints
    numbers: Floats
    anchors: Floats
    first: int


def seen(numbers: Floats, u: Floats) -> tuple[Floats, Floats]:
    """(c,) depths and (c, 3) normals of contacts (c, NUMBERS) displaced by u (c, 3)."""
    foot, axis, radius = numbers[:, NORMAL:RADIUS], numbers[:, AXIS:], numbers[:, RADIUS]
    way = foot + u
    way = way - (way * axis).sum(axis=1)[:, None] * axis
    far = np.sqrt((way * way).sum(axis=1))
    is_plane = radius == 0.0
    normal = np.where(is_plane[:, None], foot, way / np.where(far > 0.0, far, 1.0)[:, None])
    return np.where(is_plane, numbers[:, DEPTH] - (foot * u).sum(axis=1), radius - far), normal


@inner_kernel
def from_axis(c: int, u: Floats, own: Contacts) -> tuple[float, float, float]:
    """From the axis of a cylinder to the node, across it."""
    dof, numbers = 3 * own.nodes[c], own.numbers
    x, y, z = numbers[c, NORMAL] + u[dof], numbers[c, NORMAL + 1] + u[dof + 1], numbers[c, NORMAL + 2] + u[dof + 2]
    along = numbers[c, AXIS] * x + numbers[c, AXIS + 1] * y + numbers[c, AXIS + 2] * z
    return x - along * numbers[c, AXIS], y - along * numbers[c, AXIS + 1], z - along * numbers[c, AXIS + 2]


@inner_kernel
def depth_of(c: int, u: Floats, own: Contacts) -> float:
    """Of a node below the surface."""
    numbers = own.numbers
    depth: float = numbers[c, DEPTH]
    if numbers[c, RADIUS] > 0.0:
        x, y, z = from_axis(c, u, own)
        depth = numbers[c, RADIUS] - math.sqrt(x * x + y * y + z * z)
    else:
        for a in range(3):
            depth -= numbers[c, NORMAL + a] * u[3 * own.nodes[c] + a]
    return depth


@inner_kernel
def normal_of(c: int, secant: bool, trial: Trial, own: Contacts) -> tuple[float, float, float, float, float]:
    """Unit normal n at u1, or where secant of the increment, and two numbers, bend and size.

    size n is minus the (discrete) gradient of the depth, n1 the normal at u1:
    dn/du1 = bend (P - n n^T),  d(size n)/du1 = bend size (P - size n n1^T); of planes bend = 0.
    """
    numbers = own.numbers
    if numbers[c, RADIUS] == 0.0:
        return numbers[c, NORMAL], numbers[c, NORMAL + 1], numbers[c, NORMAL + 2], 0.0, 1.0
    x, y, z = from_axis(c, trial.u1, own)
    far, size = math.sqrt(x * x + y * y + z * z), 1.0
    if secant:
        before = from_axis(c, trial.u0, own)
        both = far + math.sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2])
        x, y, z = x + before[0], y + before[1], z + before[2]
        far = math.sqrt(x * x + y * y + z * z)
        size = far / both
    return x / far, y / far, z / far, 1.0 / far, size


@inner_kernel
def across_axis(c: int, a: int, b: int, own: Contacts) -> float:
    """P_ab, across the axis of a cylinder."""
    found: float = (1.0 if a == b else 0.0) - own.numbers[c, AXIS + a] * own.numbers[c, AXIS + b]
    return found


@inner_kernel
def gradient(c: int, stiff: float, turns: float, end: Numbers, trial: Trial, own: Contacts) -> Numbers:
    """Of the normal force by u1: by the depth, and as the normal turns, which changes the speed of sinking."""
    if turns == 0.0:
        return -stiff * end[0], -stiff * end[1], -stiff * end[2]
    dof, numbers = 3 * own.nodes[c], own.numbers
    x, y, z = trial.v1[dof], trial.v1[dof + 1], trial.v1[dof + 2]
    along = turns * (numbers[c, AXIS] * x + numbers[c, AXIS + 1] * y + numbers[c, AXIS + 2] * z)
    down = stiff - turns * (end[0] * x + end[1] * y + end[2] * z)
    return (
        along * numbers[c, AXIS] - turns * x - down * end[0],
        along * numbers[c, AXIS + 1] - turns * y - down * end[1],
        along * numbers[c, AXIS + 2] - turns * z - down * end[2],
    )
