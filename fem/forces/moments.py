"""Moments on free bodies, ``*CLOAD`` 4 to 6: forces on their points, which are at r_j from their middle.

    F_j = k M x r_j,    k sum of r_j x (M x r_j) = M

k = 3/(2 sum of |r_j|^2) for four points of a regular tetrahedron, 1/(sum of |r_j|^2) for two points of a slender body,
which carry the part of M perpendicular to their axis (rotation about the axis has no meaning).

M keeps its direction in space; the forces rotate with the body, as the points do. With s_j the place of a point in the
deck and d_j its displacement, less that of the middle, r_j = s_j + d_j: the forces of s_j are dead loads (``couples``),
those of d_j belong to this family. A moment has no potential. The family's part of its work in an increment is

    W = (M0 + M1)/2 . sum of k d0_j x d1_j,

M0 and M1 being the moments at both ends: that of mean forces, and of mean moments at mean places (ENERGY MOMENTUM).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, single_kernel
from fem.forces.curves import Curves, distinct, gathered, value_at
from fem.forces.protocol import GIVEN, Family, Tangent, Trial


class Moments(NamedTuple):
    """Moments in a step, r rows, on b bodies.

    rows    (r, 2)  body, curve;  fields (r, 3): k times the moment
    points  (b, 4)  nodes of each body, -1 after the two of a slender one
    factors (b,)    k
    pair    (b,)    the first of its pairs, in the order of ``itertools.combinations``
    """

    rows: Ints
    fields: Floats
    points: Ints
    factors: Floats
    pair: Ints
    curves: Curves


@inner_kernel
def middle_of(body: int, count: int, axis: int, points: Ints, u: Floats) -> float:
    """A component of the mean displacement of the points of a body."""
    total = 0.0
    for j in range(count):
        total += u[3 * points[body, j] + axis]
    return total / count


@single_kernel
def evaluate(trial: Trial, group: Moments, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces of all rows (see the heading of the file)."""
    u0, u1 = trial.u0, trial.u1
    for r in range(group.rows.shape[0]):
        body, curve = group.rows[r, 0], group.rows[r, 1]
        points, pair = group.points, group.pair[body]
        count = 4 if points[body, 3] >= 0 else 2
        now = value_at(group.curves, curve, trial.time1)
        mean = 0.5 * (value_at(group.curves, curve, trial.time0) + now)
        size = mean if trial.secant else now
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            along_b, along_c = group.fields[r, b], group.fields[r, c]
            middle_b0 = middle_of(body, count, b, points, u0)
            middle_c0 = middle_of(body, count, c, points, u0)
            middle_b1 = middle_of(body, count, b, points, u1)
            middle_c1 = middle_of(body, count, c, points, u1)
            for j in range(count):
                at = 3 * points[body, j]
                b0, c0 = u0[at + b] - middle_b0, u0[at + c] - middle_c0
                b1, c1 = u1[at + b] - middle_b1, u1[at + c] - middle_c1
                trial.power[GIVEN] += mean * group.fields[r, a] * (b0 * c1 - c0 * b1)
                if trial.secant:
                    b1, c1 = 0.5 * (b0 + b1), 0.5 * (c0 + c1)
                force[at + a] -= size * (along_b * c1 - along_c * b1)
            if tangent.block.shape[0] == 0:
                continue
            weight = size * trial.weight * (0.5 if trial.secant else 1.0)
            at_b, at_c, shared = 3 * a + b, 3 * a + c, weight / count
            for i in range(count):
                tangent.block[points[body, i], at_c] -= (weight - shared) * along_b
                tangent.block[points[body, i], at_b] += (weight - shared) * along_c
            for k in range(pair, pair + count * (count - 1) // 2):
                tangent.cross[k, at_c] += shared * along_b
                tangent.cross[k, at_b] -= shared * along_c
                tangent.cross[k, 9 + at_c] += shared * along_b
                tangent.cross[k, 9 + at_b] -= shared * along_c
    return 0.0


def points_of(model: Any) -> Iterator[tuple[Ints, Floats, float]]:
    """Points (c,), s_j (c, 3) and k of each free body."""
    for body in model.free_bodies:
        own = model.mesh.node_sets[body.corners]
        arms = model.mesh.coordinates[own] - model.mesh.coordinates[own].mean(axis=0)
        yield own, arms, (1.5 if len(own) > 2 else 1.0) / float((arms**2).sum())


def couples(model: Any, moments: Floats, count: int) -> Floats:
    """(n, 3) forces of moments (b, 3) on bodies in their position in the deck; count: n."""
    force = np.zeros((count, 3))
    for (own, arms, factor), moment in zip(points_of(model), moments, strict=True):
        force[own] += factor * np.cross(moment, arms)
    return force


def assemble(model: Any, system: Any, pair: int, state: int) -> Moments:
    """The bodies of a model; moments are added for each step."""
    points, factors = np.full((len(model.free_bodies), 4), -1), np.zeros(len(model.free_bodies))
    for number, (own, _, factor) in enumerate(points_of(model)):
        points[number, : len(own)], factors[number] = own, factor
    counts = np.where(points[:, 3] >= 0, 6, 1)
    empty = np.zeros((0, 2), np.int64), np.zeros((0, 3))
    return Moments(*empty, points, factors, pair + np.cumsum(counts) - counts, gathered(()))


def pairs_of(group: Moments) -> Ints:
    """Nodes that moments couple: all points of a body, which its links couple, too."""
    found = [pair for own in group.points.tolist() for pair in combinations([node for node in own if node >= 0], 2)]
    return np.array(found, np.int64).reshape(-1, 2)


def in_step(group: Moments, system: Any, environment: Any) -> Moments:
    """The group with the moments of a step."""
    curves = distinct(case.curve for case in environment.moments)
    found = [
        (body, curves[case.curve], case.field[body])
        for case in environment.moments
        for body in np.flatnonzero(case.field.any(axis=1)).tolist()
    ]
    rows = np.array([row[:2] for row in found], np.int64).reshape(-1, 2)
    fields = np.array([group.factors[body] * field for body, _, field in found]).reshape(-1, 3)
    return group._replace(rows=rows, fields=fields, curves=gathered(curves))


MOMENTS = Family(
    "moments on bodies", assemble, evaluate, None, pairs_of, wanted=lambda model: model.has_moments, in_step=in_step,
    symmetric=False,
)  # fmt: skip
