"""The lowest modes of K x = omega^2 M x, each confirmed by its residual, none left out.

Modes are computed near a shift. The first shift is below all modes, the next ones are close to the lowest mode that is
not confirmed yet, so that each mode has a shift nearby, however wide the spectrum is. Signs of pivots show that no mode
is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Complexes, Flags, Floats, Ints, Sparse
from fem.assembly.equations import reduction
from fem.errors import ModelError
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.forces.springs import spring_slopes, stiffen_all
from fem.linear.factors import equilibrated, minimum_degree, negative_pivots, start_vector, symmetric_factor
from fem.solve.rods import rod_matrix
from fem.solve.start import mass_matrix
from fem.solve.step_system import StepSystem

# Stiffness and mass over the independent dofs, the stiffness kept as the springs it is made of: K = R^T w R, or L^T w R
# where forces have no potential and K is not symmetric (``unsymmetric_modes.py`` finds its modes).
#
# A row of R gives the elongation of one spring in a motion: a bar's elongation (w = alpha), one component of the
# difference of its ends (w = t, the stiffness of its tension), a spring. In the sum K, rounding errors eps EA/L of a
# stiff inclined bar hide the stiffness of its tension; in products with R^T w R they do not, because an elongation is
# the difference of nearly equal displacements: the remaining error of energies is eps^2 EA/L.

DENSE = 150
"""Up to this many equations, rods included, matrices are dense, and all modes are sought at once."""
ROUNDING = 1e3 * float(np.finfo(float).eps)
"""An elongation below this fraction of the displacements is a rounding error."""
CANCELLED = 1e-9
"""If stiffness of tension and compression cancel to this fraction, the sum is zero within the error of equilibrium."""


@dataclass(frozen=True, slots=True)
class Pencil:
    """K = L^T w R, M and the gradients G of rods, over the independent dofs (n).

    rows       (r, n)  R, sparse
    weights    (r,)    w [N/m]
    axial      ()      number of rows, from the first, that are elongations of bars
    mass       (n, n)  sparse
    gradients  (m, n)  sparse; a motion x keeps the lengths of rods where G x = 0
    transform  (3n', n)  all dofs from the independent ones
    left       (r, n)  L, sparse; None: K is symmetric, and L is R
    """

    rows: Sparse
    weights: Floats
    axial: int
    mass: Sparse
    gradients: Sparse
    transform: Sparse
    left: Sparse | None = None

    @property
    def given(self) -> Sparse:
        """L."""
        return self.rows if self.left is None else self.left

    @property
    def size(self) -> int:
        """Number of independent dofs."""
        return int(self.mass.shape[0])

    @property
    def is_small(self) -> bool:
        """Small enough for dense matrices."""
        return self.size + int(self.gradients.shape[0]) <= DENSE

    @property
    def scale(self) -> float:
        """Approximate size of the largest eigenvalues [1/s^2]; 1 for bodies without stiffness."""
        largest = abs(self.rows).max(axis=1).toarray().ravel()
        return float((largest**2 * np.abs(self.weights)).max(initial=0.0)) / float(abs(self.mass).max()) or 1.0

    def stiffness(self, kept: Flags) -> Sparse:
        """The sum over the ``kept`` rows, sparse."""
        from scipy.sparse import diags_array

        rows = np.flatnonzero(kept)
        return (self.given[rows].T @ diags_array(self.weights[rows]) @ self.rows[rows]).tocsc()

    def force(self, shapes: Floats | Complexes) -> Any:
        """K x for each column x, spring by spring."""
        return np.asarray(self.given.T @ (self.weights[:, None] * (self.rows @ shapes)))

    def quotients(self, shapes: Floats) -> Floats:
        """x.K x of columns with x.M x = 1: omega^2."""
        return np.asarray(self.weights @ (self.rows @ shapes) ** 2)

    def are_zero(self, shapes: Floats) -> Flags:
        """Columns without stiffness: their spring forces are rounding errors, or cancel within the error of
        equilibrium."""
        energies = self.weights[:, None] * (self.rows @ shapes) ** 2
        rounding = np.abs(self.weights) @ (ROUNDING * (abs(self.rows) @ np.abs(shapes))) ** 2
        return np.asarray(np.abs(energies.sum(axis=0)) <= CANCELLED * np.abs(energies).sum(axis=0) + rounding)


def pencil_of(stage: StepSystem) -> Pencil:
    """The pencil of a state evaluated into ``stage.work``. ModelError: no free dof has mass."""
    transform = reduction(stage.nodes.dof_kind, stage.equations)
    mass = (transform.T @ mass_matrix(stage) @ transform).tocsc()
    if mass.shape[0] == 0 or abs(mass).max() == 0.0:
        raise ModelError("*FREQUENCY: no free dof has mass; give the material a *DENSITY or add *MASS elements")
    gradients = (rod_matrix(stage) @ transform).tocsr()
    rows, weights, left = springs_of(stage, transform)
    return Pencil((rows @ transform).tocsr(), weights, len(stage.bars.nodes), mass, gradients, transform, left)


def springs_of(stage: StepSystem, transform: Sparse) -> tuple[Sparse, Floats, Sparse | None]:
    """R over all dofs, w, and L over the independent ones (or None): elongations of bars, differences of their ends,
    springs."""
    from scipy.sparse import coo_array, vstack

    bars, bar_tangent, springs = stage.bars, stage.work.tangent.bar_tangent, stage.system.springs
    count, size = len(bars.nodes), stage.system.size
    axes = np.arange(3)
    ends = 3 * bars.nodes[:, :, None] + axes  # (m, 2, 3)
    bar = np.repeat(np.arange(count), 3)
    along = bar_tangent[P : P + 3].T.ravel()
    # At rest q is a multiple of p (1; for viscous bars alpha); rods are separate constraints.
    multiple = np.einsum("ae,ae->e", bar_tangent[P : P + 3], bar_tangent[Q : Q + 3]) / (
        bar_tangent[P : P + 3] ** 2
    ).sum(axis=0)
    alpha = np.where(np.isinf(bar_tangent[ALPHA]), 0.0, bar_tangent[ALPHA]) * multiple

    def between(rows: Ints, values: Floats, height: int) -> Sparse:
        places = np.concatenate([ends[:, 1].ravel(), ends[:, 0].ravel()])
        return coo_array((np.concatenate([values, -values]), (np.tile(rows, 2), places)), shape=(height, size))

    first, second = springs.dofs[:, 0], springs.dofs[:, 1]
    inside = second >= 0
    spring = np.arange(len(springs.dofs))
    values = np.concatenate([np.ones(len(spring)), np.full(int(inside.sum()), -1.0)])
    places = np.concatenate([spring, spring[inside]]), np.concatenate([first, second[inside]])
    parts = [
        between(bar, along, count),
        between(np.arange(3 * count), np.ones(3 * count), 3 * count),
        coo_array((values, places), shape=(len(spring), size)),
    ]
    slopes = spring_slopes(stage.work.u, springs)
    nodes, blocks = _families(stage, slopes)
    is_whole = _is_unsymmetric(nodes, blocks, transform)
    others, to, own = _split(nodes, blocks, is_whole, size)
    weights = np.concatenate([alpha, np.repeat(bar_tangent[GEOMETRIC], 3), slopes, own])
    left = (vstack([*parts, to]) @ transform).tocsr() if is_whole else None
    return vstack([*parts, others]).tocsr(), weights, left


def springs_of_blocks(tangent: Tangent, size: int) -> tuple[Sparse, Floats]:
    """R over all dofs and w of the blocks of a symmetric tangent, without bars."""
    rows, _, weights = _split(*_blocks(tangent), False, size)
    return rows, weights


Blocks: TypeAlias = list[Floats]


def _families(stage: StepSystem, slopes: Floats) -> tuple[list[Ints], Blocks]:
    """Blocks of the tangent other than bars and springs."""
    tangent, springs = stage.work.tangent, stage.system.springs
    rest = tangent._replace(block=tangent.block.copy(), cross=tangent.cross.copy())
    stiffen_all(springs, -slopes, rest)
    return _blocks(rest)


def _blocks(rest: Tangent) -> tuple[list[Ints], Blocks]:
    """Blocks of one node (3, 3) or of two (6, 6), with their dofs."""
    own = np.flatnonzero(np.abs(rest.block).max(axis=1, initial=0.0) > 0.0)
    dofs, blocks = [3 * node + np.arange(3) for node in own], [rest.block[node].reshape(3, 3) for node in own]
    for pair in np.flatnonzero(np.abs(rest.cross).max(axis=1, initial=0.0) > 0.0):
        both = np.zeros((6, 6))
        both[:3, 3:], both[3:, :3] = rest.cross[pair].reshape(2, 3, 3)
        dofs.append((3 * rest.pairs[pair][:, None] + np.arange(3)).ravel())
        blocks.append(both)
    return dofs, blocks


def _is_unsymmetric(dofs: list[Ints], blocks: Blocks, transform: Sparse) -> bool:
    """Whether their sum over the independent dofs is unsymmetric, beyond rounding errors."""
    odd = [(at, block) for at, block in zip(dofs, blocks, strict=True) if np.any(block != block.T)]
    if not odd:
        return False
    from scipy.sparse import coo_array

    across = np.concatenate([np.tile(at, len(at)) for at, _ in odd])
    down = np.concatenate([np.repeat(at, len(at)) for at, _ in odd])
    values = np.concatenate([block.ravel() for _, block in odd])
    turn = np.concatenate([(block - block.T).ravel() for _, block in odd])
    shape = (transform.shape[0],) * 2
    rest, size = (coo_array((each, (down, across)), shape=shape).tocsr() for each in (turn, np.abs(values)))
    left, all_ = transform.T @ rest @ transform, abs(transform).T @ size @ abs(transform)
    left = (abs(left) - CANCELLED * all_).tocoo()
    largest = np.zeros(shape[0] // 3)  # of each node: an entry may consist of rounding errors of others
    for at, block in zip(dofs, blocks, strict=True):
        np.maximum.at(largest, at // 3, np.abs(block).max(axis=1))
    scale = abs(transform).T @ np.sqrt(largest.repeat(3))
    return bool((left.data > ROUNDING * scale[left.row] * scale[left.col]).any())


def _split(dofs: list[Ints], blocks: Blocks, is_whole: bool, size: int) -> tuple[Sparse, Sparse, Floats]:
    """R, L and w of blocks: singular vectors, or eigenvectors of the symmetric part unless ``is_whole``."""
    from scipy.sparse import coo_array

    weights, right, left = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for block in blocks:
        if is_whole and np.any(block != block.T):
            to, found, of = np.linalg.svd(block)
            to = to.T
        else:
            found, vectors = np.linalg.eigh(0.5 * (block + block.T))
            to = of = vectors.T
        weights.append(found)
        right.append(of.ravel())
        left.append(to.ravel())
    own = np.concatenate(weights)
    columns = np.concatenate([np.zeros(0), *(np.tile(at, len(at)) for at in dofs)]).astype(int)
    places = np.repeat(np.arange(len(own)), [len(at) for at in dofs for _ in at]), columns
    shape = len(own), size
    rows, to = (coo_array((np.concatenate(each), places), shape=shape) for each in (right, left))
    return rows, to, own


# Solutions with K - shift M for motions that keep the lengths of rods, and the number of modes below the shift.
#
#     [ K - shift M  G^T ] [x  ]   [ b ]
#     [ G            0   ] [tau] = [ g ]
#
# The signs of the pivots of a symmetric factorisation count the eigenvalues below the shift (Sylvester's law of
# inertia); each rod adds a negative one.
#
# If rounding errors of stiff bars hide smaller stiffness, these bars are removed from K and treated as elastic rods:
# their rows join G, with -1/alpha on the diagonal instead of 0, so that no small number is added to a large one.

SOUND = 1e-6
"""Largest change of a solution by its residual, as a fraction, before bars are removed from K."""
REGULAR = 1e-3
"""The same with bars removed: beyond it the shift counts as an eigenvalue."""


class Factor:
    """Factors at one shift.

    is_regular  the shift is not an eigenvalue: a solution has been checked by its residual
    below       modes below the shift, directions without mass and with negative stiffness included; -1: unknown
    """

    def __init__(self, pencil: Pencil, shift: float) -> None:
        self.pencil, self.shift = pencil, shift
        self.is_regular = self._factorise(False, SOUND) or self._factorise(True, REGULAR)

    def solve(self, right: Floats, gaps: Floats) -> Floats:
        """x (n, k) for b (n, k) and g (m, k)."""
        nothing = np.zeros((len(self._scale) - len(right) - len(gaps), right.shape[1]))
        whole = np.concatenate([right, nothing, gaps])
        return np.asarray(self._scale[:, None] * self._solve(self._scale[:, None] * whole))[: len(right)]

    def _factorise(self, is_apart: bool, limit: float) -> bool:
        """Factorises; False if the factors are unusable. ``is_apart``: bars are removed from K."""
        from scipy.linalg import eigvalsh_tridiagonal, ldl
        from scipy.sparse.linalg import splu

        pencil, self.below = self.pencil, -1
        matrix = bordered(pencil, self.shift, is_apart)
        if (scaled := equilibrated(matrix)) is None:
            return False
        matrix, self._scale = scaled
        is_even = pencil.left is None
        if is_even and not pencil.is_small and self._without_pivots(matrix, limit):
            return True
        try:
            self._solve = splu(matrix, permc_spec="COLAMD").solve
        except RuntimeError:  # exactly singular
            return False
        if not self._confirms(limit):
            return False
        if is_even and pencil.is_small:
            _, pivots, _ = ldl(matrix.toarray())  # of Bunch and Kaufman
            negative = eigvalsh_tridiagonal(np.diag(pivots), np.diag(pivots, 1)) < 0.0
            self.below = int(np.count_nonzero(negative)) - (matrix.shape[0] - pencil.size)
        return True

    def _without_pivots(self, matrix: Sparse, limit: float) -> bool:
        """Symmetric factors of large models, whose pivots are counted; False if they are unusable."""
        order = elimination_order(matrix, self.pencil.size)
        back = np.argsort(order)
        factor = symmetric_factor(matrix[order][:, order].tocsc(), "NATURAL")
        if factor is None:
            return False
        self._solve = lambda right: np.asarray(factor.solve(right[order])[back])
        negative = negative_pivots(factor)
        if negative < 0 or not self._confirms(limit):
            return False
        self.below = negative - (matrix.shape[0] - self.pencil.size)
        return True

    def _confirms(self, limit: float) -> bool:
        """Whether a solution is hardly changed by its own residual."""
        pencil = self.pencil
        right = pencil.mass @ start_vector(pencil.size)[:, None]
        with np.errstate(all="ignore"):
            x = self.solve(right, np.zeros((pencil.gradients.shape[0], 1)))
            residual = right - pencil.force(x) + self.shift * (pencil.mass @ x)
            change = self.solve(residual, -(pencil.gradients @ x))
        return bool(np.linalg.norm(change) <= limit * np.linalg.norm(x))


def elimination_order(matrix: Sparse, size: int) -> Ints:
    """Order of rows that keeps factors sparse; rods and bars follow the dofs they connect, so that no pivot is zero."""
    pattern = abs(matrix)
    joins = pattern[size:, :size].tocoo()
    turn = minimum_degree(pattern[:size, :size] + joins.T @ joins).astype(float)
    behind = np.zeros(matrix.shape[0] - size)
    np.maximum.at(behind, joins.row, turn[joins.col] + 0.5)
    return np.argsort(np.concatenate([turn, behind]), kind="stable")


def bordered(pencil: Pencil, shift: complex, is_apart: bool) -> Sparse:
    """The matrix above; rods are its last rows."""
    from scipy.sparse import block_array, diags_array, vstack

    weights = pencil.weights
    taken = np.zeros(len(weights), np.bool_)
    taken[: pencil.axial] = is_apart & (weights[: pencil.axial] > 0.0)
    matrix = pencil.stiffness(~taken) - shift * pencil.mass
    rods = pencil.gradients.shape[0]
    if not rods + np.count_nonzero(taken):
        return matrix.tocsc()
    held = vstack([pencil.rows[np.flatnonzero(taken)], pencil.gradients])
    give = diags_array(np.concatenate([-1.0 / weights[taken], np.zeros(rods)]))
    return block_array([[matrix, held.T], [held, give]]).tocsc()


FREE = 1e-10
"""First negative shift, relative to the largest eigenvalues: small, but larger than rounding errors."""
ROUNDS = 20
"""Largest number of shifts: a spectrum 1e16 wide needs four, and a mode that is not confirmed two."""
STRIDE = 1e4
"""Factor by which a shift moves away if no mode is found."""
APART = 1e-4
"""Smallest relative distance of two modes between which modes are counted."""
SPARE = 6
"""Number of modes computed beyond those wanted: modes are counted up to a gap after the last one."""


@dataclass(slots=True)
class Ladder:
    """Modes by rising omega^2.

    squares   (k,)    omega^2 of confirmed modes; zero for motions without stiffness
    shapes    (n, k)  x.M x = 1
    failed    (f,)    omega^2 of modes that were seen but not confirmed, roughly, rising
    total     number of modes of the model; -1: not counted
    missing   modes counted below the highest one but not seen; -1: they could not be counted
    massless  directions without mass and with negative stiffness
    """

    squares: Floats
    shapes: Floats
    failed: Floats
    total: int
    missing: int
    massless: int
    _previous: float = field(default=np.nan, init=False)

    def add(self, squares: Floats, shapes: Floats, seen: Floats) -> Floats:
        """Adds confirmed modes; of those only ``seen``, returns the ones that another shift may confirm, rising."""
        order = np.argsort(np.concatenate([self.squares, squares]), kind="stable")
        self.squares = np.concatenate([self.squares, squares])[order]
        self.shapes = np.concatenate([self.shapes, shapes], axis=1)[:, order]
        self.failed = self.failed[~_are_among(self.failed, squares)]  # confirmed by another shift meanwhile
        seen = np.sort(seen[~_are_among(seen, self.failed)])
        if len(seen) and abs(seen[0] - self._previous) <= 1e-2 * abs(self._previous):  # a close shift did not help
            of_it = _are_among(seen, seen[:1])
            self.failed, seen = np.sort(np.append(self.failed, seen[of_it])), seen[~of_it]
        self._previous = seen[0] if len(seen) else np.nan
        return seen

    def settled(self) -> Floats:
        """Modes that are not computed again, rising."""
        return np.sort(np.concatenate([self.squares, self.failed]))


def lowest_modes(pencil: Pencil, wanted: int) -> Ladder:
    """At least the ``wanted`` lowest modes, as far as they exist and can be confirmed."""
    heavy, none = int(np.count_nonzero(pencil.mass.diagonal())), np.zeros(0)
    root = MassRoot(pencil) if pencil.is_small or 2 * wanted >= heavy else None
    if root and root.modes == 0:
        return Ladder(none, np.zeros((pencil.size, 0)), none, 0, 0, 0)
    lowest = factor = _below_all(pencil)
    total = root.modes if root else -1
    sought = min(wanted, total) if root else wanted
    ladder = Ladder(none, np.zeros((pencil.size, 0)), none, total, -1, max(lowest.below, 0))
    spare = SPARE
    for turn in range(ROUNDS):
        settled = ladder.settled()
        if len(settled) == total:
            ladder.missing = 0
            break
        count, known = sought - len(ladder.squares) + spare, ladder.shapes
        near = root.near(factor, known) if root else some_near(factor, known, count, turn)
        order = np.argsort(near[0], kind="stable")
        order = order[near[0][order] > lowest.shift][:count]  # below it there are only rounding errors
        seen = ladder.add(*confirm(factor, known, near[0][order], near[1][:, order]))
        settled = ladder.settled()
        if len(settled) >= sought and not np.any(seen < settled[sought - 1]):
            ladder.missing = _missing(pencil, np.sort(np.append(settled, seen)), sought, lowest.below)
            if ladder.missing <= 0:
                break
            factor, spare = lowest, 2 * spare + ladder.missing
        elif len(seen):
            factor = _beside(pencil, seen[0], settled)
        else:  # nothing more is found from here
            farthest = np.abs(np.append(settled, [factor.shift, FREE * pencil.scale])).max()
            factor, spare = _beside(pencil, STRIDE * farthest, settled), 2 * spare
    return ladder


def _below_all(pencil: Pencil) -> Factor:
    """Factors at a shift below all modes, tried at ever lower values. ModelError: none is regular."""
    last: Factor | None = None
    for shift in (0.0, *(-FREE * pencil.scale * 100.0 ** np.arange(10))):
        factor = Factor(pencil, float(shift))
        if factor.is_regular and (last is None or factor.below < last.below):
            last = factor
        if last is not None and last.below <= 0:
            return last
    if last is None:
        raise ModelError("*FREQUENCY: some free dofs have neither mass nor stiffness: give them one, or supports")
    return last


def _beside(pencil: Pencil, square: float, settled: Floats) -> Factor:
    """Factors at a shift near a mode: half-way to the next settled one below, or farther away if singular."""
    below = settled[settled < square]
    gap = max(1e-2 * abs(square), 0.5 * (square - below[-1]) if len(below) else abs(square))
    gap = max(gap, 1e-14 * pencil.scale * FREE)
    for _ in range(30):
        factor = Factor(pencil, float(square - gap))
        if factor.is_regular:
            break
        gap *= 10.0
    return factor


def _missing(pencil: Pencil, rungs: Floats, sought: int, below_all: int) -> int:
    """Number of modes below the widest gap after the last mode sought that are not among ``rungs``; -1: unknown."""
    if sought == 0 or np.all(rungs[:sought] == 0.0):  # no mode is below the first shift, so none is negative
        return 0
    gaps = np.diff(rungs[sought - 1 :])
    sizes = np.maximum(np.abs(rungs[sought:]), np.abs(rungs[sought - 1 : -1]))
    fraction = np.divide(gaps, sizes, out=np.zeros(len(gaps)), where=sizes > 0.0)  # several may be 0 above one below
    widest = int(fraction.argmax()) if len(gaps) else 0
    last, top = len(rungs), rungs[-1] + APART * abs(rungs[-1])
    if len(gaps) and fraction[widest] > APART:
        last, top = sought + widest, rungs[sought - 1 + widest] + 0.5 * gaps[widest]
    factor = Factor(pencil, float(top))
    if not factor.is_regular or min(factor.below, below_all) < 0:
        return -1
    return max(factor.below - below_all - last, 0)


def _are_among(values: Floats, others: Floats) -> Flags:
    """Which values agree with one of the others to a hundredth."""
    near = np.abs(values[:, None] - others) <= 1e-2 * np.abs(others)
    return np.asarray(near.any(axis=1))


# Modes near a shift: computed by inverse iteration, corrected and confirmed.
#
# Each x is corrected by (K - shift M)^-1 (K x - omega^2 M x), which is a step of inverse iteration, and also a step of
# iterative refinement, for K x is formed spring by spring. The size of the last correction, |dx| for |x| = 1 in the
# norm of the mass, is the residual in the norm in which errors of frequencies are read off: an eigenvalue lies within
# |omega^2 - shift| |dx| (Parlett, The Symmetric Eigenvalue Problem, 4-5-1), and omega^2 itself is off by no more than
# the square of that over the distance to the next one.

CONFIRMED = 1e-8
"""Largest relative distance of omega^2 from an eigenvalue for a mode to be accepted."""
WINDOW = 1e5
"""Modes this many times farther from the shift than the nearest one are computed with another shift."""
CORRECTIONS = 8
"""Most corrections at one shift; each reduces the error by the ratio of distances of this and the next mode."""
UNSEEN = 1e-13
"""A mode is lost in rounding errors if the nearest one is closer to the shift by this factor."""
MASSLESS = 1e-12
"""A motion has no mass if its mass is below this fraction of the mass of its dofs."""
INDEPENDENT = 1e-6
"""Fraction of a motion's mass that must remain after subtraction of others for it to count as independent."""


class MassRoot:
    """M = C C^T over the dofs with mass: for small models all modes are those of C^T (K - shift M)^-1 C.
    modes   number of motions with mass that the rods allow"""

    def __init__(self, pencil: Pencil) -> None:
        mass = pencil.mass.toarray()
        scale = np.sqrt(np.diag(mass))
        heavy = np.flatnonzero(scale > 0.0)
        fraction, vectors = np.linalg.eigh(mass[np.ix_(heavy, heavy)] / np.outer(scale[heavy], scale[heavy]))
        kept = fraction > MASSLESS
        self.root = np.zeros((pencil.size, int(kept.sum())))
        self.root[heavy] = scale[heavy, None] * vectors[:, kept] * np.sqrt(fraction[kept])
        self.modes = self.root.shape[1]
        if pencil.gradients.shape[0]:
            self.modes = _rank_of_moves(pencil, scale, heavy, vectors[:, kept])

    def inverse(self, factor: Factor) -> tuple[Floats, Floats]:
        """(K - shift M)^-1 C, and C^T times it."""
        moved = factor.solve(self.root, np.zeros((factor.pencil.gradients.shape[0], self.root.shape[1])))
        return moved, self.root.T @ moved

    def near(self, factor: Factor, known: Floats) -> tuple[Floats, Floats]:
        """omega^2 and shapes of the modes that are not known, as far as they can be resolved from this shift."""
        root, (moved, inverse) = self.root, self.inverse(factor)
        taken = root.T @ known
        inverse -= taken @ (taken.T @ inverse)
        inverse -= (inverse @ taken) @ taken.T
        mu, vectors = np.linalg.eigh(0.5 * (inverse + inverse.T))
        order = np.argsort(-np.abs(mu))[: self.modes - known.shape[1]]
        order = order[np.abs(mu[order]) > UNSEEN * np.abs(mu).max(initial=0.0)]
        return factor.shift + 1.0 / mu[order], np.asarray(moved @ vectors[:, order])


def _rank_of_moves(pencil: Pencil, scale: Floats, heavy: Ints, vectors: Floats) -> int:
    """Dimension of the motions that have mass and keep the lengths of rods."""
    from scipy.linalg import null_space

    moves = null_space(pencil.gradients.toarray())
    if moves.shape[1] == 0:
        return 0
    weighted = vectors.T @ (scale[heavy, None] / scale.max() * moves[heavy])
    return int(np.linalg.matrix_rank(weighted, tol=1e-8)) if len(weighted) else 0


def some_near(factor: Factor, known: Floats, count: int, turn: int) -> tuple[Floats, Floats]:
    """The ``count`` modes nearest to the shift that are not known (Lanczos)."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

    pencil, rods = factor.pencil, factor.pencil.gradients.shape[0]
    held = pencil.mass @ known

    def inverse(load: Floats) -> Floats:
        x = factor.solve(load.reshape(-1, 1), np.zeros((rods, 1)))[:, 0]
        return np.asarray(x - known @ (held.T @ x))

    start = inverse(pencil.mass @ start_vector(pencil.size, turn))
    operator = LinearOperator((pencil.size, pencil.size), inverse, dtype=float)
    wanted = {"k": min(count, pencil.size - 1), "sigma": factor.shift, "which": "LM", "v0": start, "tol": 1e-9}
    try:
        squares, shapes = eigsh(operator, M=pencil.mass, OPinv=operator, **wanted)
    except ArpackNoConvergence as error:
        squares, shapes = error.eigenvalues, error.eigenvectors
    except ArpackError:  # the start vector is exhausted
        return np.zeros(0), np.zeros((pencil.size, 0))
    return np.asarray(squares), factor.solve(pencil.mass @ shapes, np.zeros((rods, len(squares))))


def confirm(factor: Factor, known: Floats, squares: Floats, shapes: Floats) -> tuple[Floats, Floats, Floats]:
    """omega^2 and shapes of the modes confirmed at this shift, and omega^2 of those that were not."""
    pencil, distance = factor.pencil, np.abs(squares - factor.shift)
    inside = distance <= WINDOW * distance.min(initial=np.inf)
    beyond, x = squares[~inside], shapes[:, inside]
    last = np.inf
    for turn in range(CORRECTIONS):
        x = _ritz(pencil, _apart_from(pencil, x, known))
        now = pencil.quotients(x)
        residual = pencil.force(x) - (pencil.mass @ x) * now
        change = factor.solve(residual, np.asarray(pencil.gradients @ x))
        off = np.abs(now - factor.shift)
        moved = np.einsum("ik,ik->k", change, pencil.mass @ change)
        error = off * np.sqrt(moved + np.abs(pencil.quotients(change)) / off)
        is_zero = pencil.are_zero(x)
        good = (error <= CONFIRMED * np.abs(now)) | (is_zero & (error <= CONFIRMED * off))
        worst = float((error / off)[~good].max(initial=0.0))
        # One correction at least: omega^2 may be confirmed, its error the square of the shape's, while a stiff bar
        # makes a large force of what the shape is off.
        if (good.all() and turn) or worst > 0.5 * last:
            break
        last, x = worst, x - change
    now = np.where(is_zero, 0.0, now)
    return now[good], x[:, good], np.concatenate([now[~good], beyond])


def _apart_from(pencil: Pencil, x: Floats, known: Floats) -> Floats:
    """The part of the motions that is orthogonal to the known ones; motions without such a part are dropped."""
    held = pencil.mass @ known
    size = np.sqrt(np.abs(np.einsum("ik,ik->k", x, pencil.mass @ x)))
    x = x[:, size > 0.0] / size[size > 0.0]
    for _ in range(2):
        x = x - known @ (held.T @ x)
    left = np.einsum("ik,ik->k", x, pencil.mass @ x)
    return np.asarray(x[:, left > 0.1])


def _ritz(pencil: Pencil, x: Floats) -> Floats:
    """The motions combined to be orthogonal in mass and in stiffness, x.M x = 1 (Rayleigh and Ritz)."""
    for _ in range(2):
        fraction, vectors = np.linalg.eigh(x.T @ (pencil.mass @ x))
        kept = fraction > INDEPENDENT
        x = x @ (vectors[:, kept] / np.sqrt(fraction[kept]))
    stiffness = x.T @ pencil.force(x)
    x = x @ np.linalg.eigh(0.5 * (stiffness + stiffness.T))[1]
    return np.asarray(x / np.sqrt(np.einsum("ik,ik->k", x, pencil.mass @ x)))
