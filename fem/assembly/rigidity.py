"""States of self-stress, mechanisms and rigid motions of a structure of bars, cables, rods and springs.

    B u = elongations of the members (bars along themselves, springs), over the independent dofs;  B^T t = loads

The singular values of B decide (Pellegrino & Calladine, Int. J. Solids Structures 22, 1986): of rank r there are
s = members - r states of self-stress and dofs - r motions without elongation. Those that move each connected part as a
rigid body are no mechanisms; m are left, so that always dofs - members = m + rigid - s (Maxwell and Calladine).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, parts
from fem.assembly.equations import Independent, eliminate
from fem.assembly.supports import Supports
from fem.assembly.system import System
from fem.errors import ModelError
from fem.forces.bar import YOUNG
from fem.forces.laws import LINEAR

MOST = 3000
"""Most dofs, or members: matrices are dense, their singular values take a minute."""
CUT = 1e-8
"""Singular values below this fraction of the largest count as zero."""
NEARLY, GAP = 1e-2, 10.0
"""Smaller fractions that are separated by this factor from the next larger one are nearly zero."""
NONE = 1e-9
"""Fraction of a motion that counts as zero."""


class Members(NamedTuple):
    """m members: bars, then springs; u independent dofs.

    independent  the dofs;  place (n, 3) positions of the nodes
    bars (b,)    indices of the bars;  springs (s,) of the springs
    compatibility (m, u)  elongations B;  rigid (u, r) orthonormal motions without elongation of whole parts
    """

    independent: Independent
    place: Floats
    bars: Ints
    springs: Ints
    compatibility: Floats
    rigid: Floats


class Count(NamedTuple):
    """singular (min(m, u),) falling;  rank: number of those above the cut
    states (m, s) of self-stress, orthonormal;  mechanisms (u, k), orthonormal, without rigid motions (u, r)"""

    singular: Floats
    rank: int
    states: Floats
    mechanisms: Floats
    rigid: Floats

    @property
    def sizes(self) -> tuple[int, int, int]:
        """s, m, number of rigid motions."""
        return self.states.shape[1], self.mechanisms.shape[1], self.rigid.shape[1]

    @property
    def near(self) -> int:
        """Singular values that are nearly zero, but above the cut."""
        kept = self.singular[: self.rank]
        small = np.flatnonzero((kept[1:] < NEARLY * kept[:1]) & (kept[:-1] > GAP * kept[1:])) + 1
        return self.rank - int(small[0]) if len(small) else 0

    def __str__(self) -> str:
        s, m, rigid = self.sizes
        text = f"{numbered(s, 'state')} of self-stress, {numbered(m, 'mechanism')}, {numbered(rigid, 'rigid motion')}"
        if self.near:
            least = self.singular[self.rank - 1] / self.singular[0]
            text += f"; nearly {s + self.near} and {m + self.near} (least singular value {least:.2g} of the largest)"
        return text


def numbered(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"


def members_of(system: System, supports: Supports, u: Floats) -> Members:
    """The members at displacements (3n,). ModelError: the model has other stiffness than theirs, or is too large."""
    if why := not_counted(system):
        raise ModelError(f"rigidity counts bars, cables, rods, springs, supports and *EQUATION; this model has {why}")
    equations = eliminate(system, supports.supported)
    free = (~supports.supported).astype(np.int64)
    free[equations.slave] = 2
    independent, size = Independent(free, equations), system.size
    resists = system.bars.constants[YOUNG] > 0.0  # unlike dashpots
    resists[system.bars.rods], resists[system.gone_bars] = True, False
    bars = np.flatnonzero(resists)
    springs = np.flatnonzero((system.springs.constants[:, [0, 3]] != 0.0).any(axis=1))
    if (most := max(len(independent.unknown), len(bars) + len(springs))) > MOST:
        raise ModelError(f"rigidity needs dense matrices: at most {MOST} free dofs and members, this model has {most}")
    place = (system.coordinates.reshape(-1) + u).reshape(-1, 3)
    ends = system.bars.nodes[bars]
    way = place[ends[:, 1]] - place[ends[:, 0]]
    way /= np.linalg.norm(way, axis=1)[:, None]
    full, row, axes = np.zeros((len(bars) + len(springs), size + 1)), np.arange(len(bars))[:, None], np.arange(3)
    full[row, 3 * ends[:, 1:] + axes] = way
    full[row, 3 * ends[:, :1] + axes] = -way
    both, row = system.springs.dofs[springs], len(bars) + np.arange(len(springs))
    full[row, both[:, 0]], full[row, both[:, 1]] = 1.0, -1.0  # the ground is the last column
    owner = np.repeat(equations.slave, np.diff(equations.start))
    tied = np.column_stack([owner, equations.master])
    links = [*ends.tolist(), *(np.concatenate([both[both[:, 1] >= 0], tied]) // 3).tolist()]
    rigid = _rigid(place, parts(len(place), links), independent, full[len(bars) :, :-1])
    over = independent.transform
    short = full[:, independent.unknown] if over is None else np.asarray(over.T @ full[:, :-1].T).T
    return Members(independent, place, bars, springs, short, rigid)


def not_counted(system: System, but: str = "") -> str:
    """What a model has besides members, ``but`` one kind; empty if nothing."""
    model = system.model
    found = {
        "beams that bend": model.bends, "lines of variable length": model.runs, "*STOP PLANE": model.planes,
        "free rigid bodies": model.corners, "a seabed or cylinders": model.seabeds or model.cylinders,
        "laws with memory (*PLASTIC and others)": any(material.has_rope_law for material in model.materials.values()),
        "constraints along a line": (system.bars.kinds[:, 0] == LINEAR).any(),
    }  # fmt: skip
    return ", ".join(what for what, has in found.items() if has and what != but)


def _rigid(place: Floats, part: Ints, independent: Independent, springs: Floats) -> Floats:
    """(u, r) orthonormal rigid motions of parts that supports, equations and springs allow."""
    found = [np.zeros((len(independent.unknown), 0))]
    for number in np.unique(part[independent.unknown // 3]):
        (its,) = np.nonzero(part == number)
        arm = place[its] - place[its].mean(axis=0)
        arm /= np.abs(arm).max() or 1.0
        fields = np.zeros((len(place), 3, 6))
        fields[its, :, :3] = np.eye(3)
        fields[its, :, 3:] = np.cross(np.eye(3)[None], arm[:, None]).transpose(0, 2, 1)
        full = fields.reshape(-1, 6)
        own = full[independent.unknown]
        held = full - np.column_stack([independent.spread(each) for each in own.T])
        square, vectors = np.linalg.eigh(full.T @ full / len(its))
        moving = vectors[:, square > NONE]  # a straight part turns about its axis without motion
        rows = np.concatenate([held[np.abs(held).max(axis=1) > NONE], springs @ full])
        _, values, those = np.linalg.svd(rows @ moving)
        free = moving @ those[int(np.count_nonzero(values > 1e-7)) :].T
        base, size, _ = np.linalg.svd(own @ free, full_matrices=False)
        found.append(base[:, size > NONE])
    return np.concatenate(found, axis=1)


def count(members: Members, cut: float = CUT) -> Count:
    """Self-stress and mechanisms."""
    matrix, rigid = members.compatibility, members.rigid
    left, singular, right = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(singular > cut * singular.max(initial=0.0)))
    flexes = right[rank:].T
    rest, _, _ = np.linalg.svd(flexes - rigid @ (rigid.T @ flexes), full_matrices=False)
    return Count(singular, rank, left[:, rank:], rest[:, : flexes.shape[1] - rigid.shape[1]], rigid)
