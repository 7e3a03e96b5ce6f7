"""Linear buckling, ``*BUCKLE``: (K + lambda K_D) v = 0 about the state after the steps before.

K is the tangent of that state, in which the loads P of the steps before act. K_D is the stiffness of the changes of
force dN that the loads Q of this step cause in it, for linear response and at its geometry: of a bar dN/L0 I (GREEN)
or dN/l (I - n n^T) (ENGINEERING, LOG); of a line that twists what changes of its curvatures, twist and strains do to
its stiffness. At P + lambda Q the stiffness vanishes along v.

Both matrices are kept as springs, K = R^T w R and K_D = R^T g R (``modes.py``), so that residuals and quotients lose no
digits. Eigenvalues mu = 1/lambda of -K_D v = mu K v, K positive definite, are sought from the largest down. Negative
pivots of K + lambda K_D then count the factors below lambda (Sylvester's law of inertia): none is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Sparse
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, load_set, next_environment, thermal_rows
from fem.assembly.equations import reduction
from fem.assembly.rigidity import not_counted, numbered
from fem.assembly.system import BAR_FAMILY
from fem.errors import ModelError, listed
from fem.forces.bar import ALPHA, AREA, GEOMETRIC, INV_LENGTH, MINUS, PLUS, YOUNG, P, Q
from fem.forces.families import FAMILIES
from fem.forces.laws import GREEN
from fem.forces.twist import LENGTH1, TWIST, rates_of
from fem.linear.factors import start_vector
from fem.linear.inertia import Spectrum
from fem.model import Step
from fem.model.quantities import angles_of
from fem.model.twists import BENT
from fem.runs.record import Factors
from fem.solve.modes import springs_of, springs_of_blocks
from fem.solve.newton.groups import LIMIT, Loading, Motion
from fem.solve.start import evaluate_start
from fem.solve.statics.rigid import Rigid, listed_motions, over_all, refuse_along, rigid_motions, unheld
from fem.solve.step_system import StepSystem

DENSE = 200
"""Up to this many equations all factors are computed, with dense matrices."""
MOST_FREE = 1500
"""Largest number of equations of structures with free rigid motions."""
SPARE = 6
"""Number of factors computed beyond those wanted: they are counted up to a gap after the last one."""
ROUNDS = 6
"""Largest number of searches for factors that the count has and the search has not found."""
ROUGH, FINE, BELOW = 1e-3, 1e-12, 0.98
"""Tolerances of the first factor, and of all about a shift at this fraction of it."""
NO_EFFECT = 1e-12
"""Change of a force, as a fraction of the largest, that is a rounding error."""
INDEPENDENT = 1e-6
"""Fraction of a shape that must remain without the others for it to count."""
SETTLING = 6
"""Most corrections of the equilibrium."""
UNBALANCED = 1e-3
"""Residual, as a fraction of the largest force, beyond which a state is no equilibrium."""
TURNED = 0.05
"""Ratio of the elongation by rotation to the linear one beyond which a notice says that the response is nonlinear."""


class Pair(NamedTuple):
    """K = R^T w R and K_D = R^T g R over the independent dofs (u). rows (r, u);  weights, change (r,);
    transform (3n, u);  spectrum of K"""

    rows: Sparse
    weights: Floats
    change: Floats
    transform: Sparse
    spectrum: Spectrum

    def times(self, weights: Floats, shapes: Floats) -> Floats:
        """R^T w R x."""
        return np.asarray(self.rows.T @ (weights.reshape(-1, *[1] * (shapes.ndim - 1)) * (self.rows @ shapes)))

    def matrix(self, factor: float) -> Sparse:
        """K + lambda K_D, sparse."""
        return matrix_of(self.rows, self.weights + factor * self.change)

    @property
    def least(self) -> float:
        """Size of mu of the stiffest shapes."""
        return float(np.abs(self.change).max(initial=0.0) / np.abs(self.weights).max(initial=0.0))

    def below(self, factor: float) -> int:
        """Number of factors between zero and lambda; -1: unknown."""
        return Spectrum(self.matrix(factor)).negative


class LinearResponse(NamedTuple):
    """Linear response of m bars to the loads: axial forces dN (m,), elongation by rotation over the linear one in the
    bar that turns most; displacements (3n,)."""

    forces: Floats
    turned: Floats
    moved: Floats


def matrix_of(rows: Sparse, weights: Floats) -> Sparse:
    """R^T w R."""
    from scipy.sparse import diags_array

    return (rows.T @ diags_array(weights) @ rows).tocsc()


def find_factors(
    stage: StepSystem, motion: Motion, instant: Loading, step: Step, number: int, time: float
) -> tuple[Factors, list[str]]:
    """The factors that ``step`` asks for, and notices. ModelError: the state or the loads do not allow them."""
    assert step.buckling is not None
    from scipy.sparse import vstack

    if why := not_counted(stage.system, but="beams that bend"):
        raise ModelError(f"*BUCKLE is for bars, cables, springs and beams; this model has {why}")
    if len(stage.bars.rods):
        raise ModelError("*BUCKLE: rods and ropes have no stiffness of their own; make them elastic (*ELASTIC)")
    transform = reduction(stage.nodes.dof_kind, stage.equations)
    if not transform.shape[1]:
        raise ModelError("*BUCKLE: the supports leave nothing free to move")
    still = motion._replace(
        u=motion.u.copy(), v=np.zeros_like(motion.v), force=motion.force.copy(), state=motion.state.copy()
    )
    if free := rigid_motions(stage, still):
        evaluate_start(stage, still, instant)
        free = unheld(stage, free, *springs_of(stage, transform)[:2])
    transform = _across(stage, free, transform)
    rows, weights, spectrum = _settle(stage, still, instant, transform)
    change, response = _change(stage, still, instant, step, transform, spectrum, free)
    changes = [*change, np.zeros(len(weights) - 4 * len(change[0]))]
    if stage.system.twists is not None:
        of_moments, moved = _change_of_moments(stage, still, instant, response.moved)
        rows, changes = vstack([rows, of_moments @ transform]).tocsr(), [*changes, moved]
        weights = np.append(weights, np.zeros(len(moved)))
    if not any(np.any(each) for each in changes):
        raise ModelError("*BUCKLE: the loads of the step change no force of a bar: do they act on supports only?")
    pair = Pair(rows, weights, np.concatenate(changes), transform, spectrum)
    wanted = step.buckling.factors
    factors, shapes, missing = search(pair, wanted)
    residual = residual_of(pair, factors, shapes)
    full = np.asarray(transform @ shapes)
    peak = full[np.abs(full).argmax(axis=0), np.arange(full.shape[1])] if full.size else np.ones(0)
    found = np.ascontiguousarray((full / peak).T.reshape(len(factors), len(full) // 3, 3)[:, : stage.system.shown])
    modes = Factors(number, time, 1 + np.arange(len(factors)), factors, residual, found)
    notices = _notices(stage, response, factors, wanted, missing)
    if free:
        notices.append(f"*BUCKLE: {listed_motions(stage, free)}: the shapes have no part along them")
    if _bends_without_twist(stage, still.u):
        notices.append(
            "*BUCKLE: changes of the moments of lines that bend, are bent before the step and do not twist are left "
            "out: *STATIC, RIKS takes all of it"
        )
    return modes, notices


def _bends_without_twist(stage: StepSystem, u: Floats) -> bool:
    """Whether lines without torsion are bent at displacement u."""
    model, twists = stage.system.model, stage.system.twists
    if not model.bends:
        return False
    start = model.mesh.coordinates
    phi = angles_of(model).bent(start, start + u.reshape(-1, 3)[: len(start)])
    if twists is not None:
        phi[twists.angles] = 0.0
    return bool(phi.max(initial=0.0) > BENT)


def _across(stage: StepSystem, free: list[Rigid], transform: Sparse) -> Sparse:
    """``transform`` for motions at right angles to the rigid ones that nothing holds: what dead loads in balance do to
    a body that turns is left out. ModelError: too many dofs, the basis is dense."""
    if not free:
        return transform
    if (size := transform.shape[1]) > MOST_FREE:
        raise ModelError(
            f"*BUCKLE: {listed_motions(stage, free)}; with more than {MOST_FREE} equations (here {size}) support them"
        )
    from scipy.sparse import csc_array

    held = np.asarray(transform.T @ over_all(stage, free))
    return csc_array(transform @ np.linalg.qr(held, mode="complete")[0][:, held.shape[1] :])


def _settle(stage: StepSystem, motion: Motion, instant: Loading, transform: Sparse) -> tuple[Sparse, Floats, Spectrum]:
    """Rows and weights of K, and its spectrum, in the equilibrium next to the state, to the last digits: the step
    before has found it to its tolerance only. ModelError: the state is not in equilibrium, or not stable."""
    last = np.inf
    for _ in range(SETTLING):
        evaluate_start(stage, motion, instant)
        _refuse_slack(stage)
        rows, weights, left = springs_of(stage, transform)
        if left is not None:
            raise ModelError("*BUCKLE: the stiffness of this state is not symmetric; follow it with *STATIC, RIKS")
        rows = (rows @ transform).tocsr()
        spectrum = Spectrum(matrix_of(rows, weights))
        if spectrum.negative:
            what = f"its stiffness is negative in {numbered(spectrum.negative, 'direction')}"
            what = what if spectrum.negative > 0 else "its stiffness cannot be factorised"
            raise ModelError(f"*BUCKLE: the state before the step is unstable already: {what}")
        residual = np.asarray(transform.T @ (stage.work.load - motion.force))
        left_over = float(np.abs(residual).max(initial=0.0))
        size = max(float(np.abs(stage.work.load).max()), float(np.abs(motion.force).max()))
        if left_over <= stage.limits[LIMIT.floor]:
            break
        if left_over > UNBALANCED * size:
            raise ModelError(
                f"*BUCKLE: the state before the step is not in equilibrium (residual {left_over / size:.2g} of the "
                "largest force): end with a *STATIC step"
            )
        step = spectrum.solve(residual) if left_over < 0.5 * last else None
        if step is None:
            break
        motion.u[:] += transform @ step
        last = left_over
    return rows, weights, spectrum


def _refuse_slack(stage: StepSystem) -> None:
    """ModelError: cables without tension, whose tangent depends on the direction of motion."""
    bars, tangent = stage.bars, stage.work.tangent.bar_tangent
    one_sided = bars.constants[MINUS] != bars.constants[PLUS]
    pull = np.where(bars.constants[MINUS] < bars.constants[PLUS], 1.0, -1.0) * tangent[GEOMETRIC]
    slack = np.flatnonzero(one_sided & ((pull <= 0.0) | (tangent[ALPHA] == 0.0)))
    if len(slack):
        names = listed(labels_of(stage, slack).tolist())
        raise ModelError(
            f"*BUCKLE: cables without tension before the step, whose stiffness is undefined: element {names}; give "
            "them tension by *REST LENGTH or loads in a *STATIC step before"
        )


def labels_of(stage: StepSystem, bars: Ints) -> Ints:
    """Labels of the elements of bars."""
    system = stage.system
    of_bar = np.zeros(len(system.bars.nodes), np.int64)
    is_bar = system.family[:, 0] == BAR_FAMILY
    of_bar[system.family[is_bar, 1]] = system.element_labels[is_bar]
    return of_bar[bars]


def _change(
    stage: StepSystem, motion: Motion, instant: Loading, step: Step, transform: Sparse, spectrum: Spectrum,
    free: list[Rigid],
) -> tuple[tuple[Floats, Floats], LinearResponse]:  # fmt: skip
    """Weights of K_D of elongations (m,) and of differences of ends (3m,), and the response to these loads."""
    system, bars, tangent = stage.system, stage.bars, stage.work.tangent.bar_tangent
    before, nothing = stage.environment, np.zeros(system.size)
    bare = Environment(before.supports, heat=before.heat, initial_temperature=before.initial_temperature)
    own = next_environment(system, bare, step.loading, Span(0.0, 0.0, False), motion.u, nothing, nothing)
    now = np.array([0.0])
    loads = load_set(system, own)
    load = loads.factors(now)[0] @ loads.vectors
    refuse_along(stage, free, load)
    heated = thermal_rows(system, own, now)[0] - instant.thermal_end[0]
    place = (stage.nodes.place + motion.u).reshape(-1, 3)
    i, j = bars.nodes.T
    way = place[j] - place[i]
    length = np.linalg.norm(way, axis=1)
    n = way / length[:, None]
    is_green = bars.kinds[:, 0] == GREEN
    constants = bars.constants
    stretch = np.where(is_green, length * constants[INV_LENGTH], 1.0)  # of N to the force between the nodes
    side = np.where(tangent[GEOMETRIC] < 0.0, constants[MINUS], constants[PLUS])
    cooled = -side * constants[YOUNG] * constants[AREA] * heated * stretch
    push = cooled[:, None] * n
    np.add.at(load.reshape(-1, 3), i, push)
    np.subtract.at(load.reshape(-1, 3), j, push)
    small = spectrum.solve(transform.T @ load)
    if small is None:
        what = "the state before the step is a mechanism: its stiffness is singular"
        raise ModelError(f"*BUCKLE: {what}; fem rigidity shows how it moves")
    u = np.asarray(transform @ small).reshape(-1, 3)
    w = u[j] - u[i]
    along, q = (n * w).sum(axis=1), tangent[GEOMETRIC]
    ahead = (tangent[P : P + 3].T * n).sum(axis=1) * (tangent[Q : Q + 3].T * w).sum(axis=1)
    forces = tangent[ALPHA] * ahead + q * along + cooled  # of the force between the nodes, along the bar
    density = (forces - q * along) / length  # of the force densities
    largest = float(np.abs(load).max(initial=0.0))
    if largest == 0.0 or np.abs(forces).max(initial=0.0) <= NO_EFFECT * largest:
        forces, density = np.zeros_like(forces), np.zeros_like(density)
    squares = (tangent[P : P + 3] ** 2).sum(axis=0)
    across = np.where(is_green, density, forces / length)
    axial = np.where(is_green, 0.0, -across / np.where(squares > 0.0, squares, 1.0))
    turned = (w * w).sum(axis=1) - along**2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.abs(forces) > 1e-3 * np.abs(forces).max(), turned / (2.0 * length * np.abs(along)), 0.0)
    conjugate = np.where(is_green, density / constants[INV_LENGTH], forces)
    return (axial, np.repeat(across, 3)), LinearResponse(conjugate, np.nan_to_num(ratio, posinf=0.0), u.ravel())


def _change_of_moments(stage: StepSystem, motion: Motion, instant: Loading, moved: Floats) -> tuple[Sparse, Floats]:
    """R (r, 3n) and g (r,) of lines that twist: their stiffness is linear in their moments, torques and C e. Those of a
    shape at rest with other strains are the ones wanted; without these the rest cancels."""
    system, number, tangent = stage.system, FAMILIES.index(TWIST), stage.work.tangent
    families = list(system.families or ())
    group = families[number]
    trial = motion._replace(
        u=motion.u.copy(), force=motion.force.copy(), flow=motion.flow.copy(), power=motion.power.copy(),
        state=motion.state.copy(),
    )  # fmt: skip
    rates = rates_of(group, motion.u, motion.state, moved)
    scale = 1.0 / (float(np.abs(rates).max(initial=0.0)) or 1.0)
    coupling = group.coupling.copy()
    coupling[:, LENGTH1:] -= scale * rates[:, 3:]
    families[number] = group._replace(rest=group.rest - scale * rates[:, :3], coupling=coupling)
    evaluate_start(replace(stage, system=replace(system, families=tuple(families))), trial, instant)
    block, cross = tangent.block.copy(), tangent.cross.copy()
    trial.state[:] = motion.state
    evaluate_start(stage, trial, instant)
    other = tangent._replace(block=block - tangent.block, cross=cross - tangent.cross)
    rows, weights = springs_of_blocks(other, system.size)
    return rows, weights / scale


def search(pair: Pair, wanted: int) -> tuple[Floats, Floats, int]:
    """The ``wanted`` factors nearest to zero, positive ones first, with shapes (u, k); the number of positive ones
    that were counted but not found, -1: not counted."""
    if pair.rows.shape[1] <= DENSE:
        mu, shapes = _all(pair)
        up = np.argsort(-mu, kind="stable")[: int(np.count_nonzero(mu > 0.0))][: wanted + SPARE]
        down = np.argsort(mu, kind="stable")[: int(np.count_nonzero(mu < 0.0))][:wanted]
        positive, negative = (mu[up], shapes[:, up]), (mu[down], shapes[:, down])
    else:
        positive = _some(pair, wanted, 1.0)
        negative = _some(pair, wanted - len(positive[0]), -1.0) if len(positive[0]) < wanted else _nothing(pair)
    positive, negative = _quotients(pair, *positive), _quotients(pair, *negative)
    missing = _missing(pair, 1.0 / positive[0], wanted)
    mu = np.concatenate([positive[0][:wanted], negative[0]])[:wanted]
    return 1.0 / mu, np.concatenate([positive[1][:, :wanted], negative[1]], axis=1)[:, : len(mu)], missing


def _nothing(pair: Pair) -> tuple[Floats, Floats]:
    return np.zeros(0), np.zeros((pair.rows.shape[1], 0))


def _all(pair: Pair) -> tuple[Floats, Floats]:
    """All mu that are no rounding errors, with shapes."""
    from scipy.linalg import eigh

    rows = pair.rows.toarray()
    stiffness, change = rows.T @ (pair.weights[:, None] * rows), rows.T @ (pair.change[:, None] * rows)
    scale = 1.0 / np.sqrt(np.diag(stiffness))
    both = scale[:, None] * scale
    mu, shapes = eigh(-both * change, both * stiffness)
    kept = np.abs(mu) > NO_EFFECT * max(np.abs(mu).max(initial=0.0), pair.least)
    return mu[kept], scale[:, None] * shapes[:, kept]


def _some(pair: Pair, wanted: int, sign: float) -> tuple[Floats, Floats]:
    """The largest mu of a sign, by Lanczos in the norm of K about a shift just below the first factor (spectral
    transformation of buckling: Ericsson, Ruhe 1980); repeated with more of them until the count agrees."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    size = pair.rows.shape[1]
    mu, shapes = _nothing(pair)

    def operator(apply: Callable[[Floats], Any]) -> LinearOperator:
        return LinearOperator((size, size), lambda x: apply(x.ravel()), dtype=float)

    stiffness, change = (operator(partial(pair.times, each)) for each in (pair.weights, -sign * pair.change))
    inverse = {"M": stiffness, "Minv": operator(pair.spectrum.solve), "which": "LA"}
    try:
        rough = float(eigsh(change, k=1, v0=start_vector(size), tol=ROUGH, return_eigenvectors=False, **inverse)[0])
    except ArpackNoConvergence:
        return mu, shapes
    if rough <= NO_EFFECT * pair.least:
        return mu, shapes
    shift = BELOW / rough
    beside = Spectrum(pair.matrix(sign * shift))
    for turn in range(ROUNDS):
        count = min(wanted + SPARE * 2**turn, size - 2)
        how = {"k": count, "M": change, "sigma": shift, "mode": "buckling", "v0": start_vector(size, turn), "tol": FINE}
        try:
            values, shapes = eigsh(stiffness, OPinv=operator(beside.solve), **how)
        except ArpackNoConvergence as error:
            values, shapes = error.eigenvalues, error.eigenvectors
        kept = np.flatnonzero(values > 0.0)
        kept = kept[np.argsort(values[kept], kind="stable")]
        mu, shapes = sign / values[kept], shapes[:, kept]
        if _missing(pair, 1.0 / mu, wanted, sign) <= 0 or count == size - 2:
            break
    return mu, shapes


def _quotients(pair: Pair, mu: Floats, shapes: Floats) -> tuple[Floats, Floats]:
    """Best mu and shapes in the space of some shapes, from the largest |mu| down (Rayleigh and Ritz)."""
    if not len(mu):
        return mu, shapes
    shapes = shapes / np.sqrt((shapes * pair.times(pair.weights, shapes)).sum(axis=0))
    mass, change = (shapes.T @ pair.times(each, shapes) for each in (pair.weights, -pair.change))
    fraction, base = np.linalg.eigh(0.5 * (mass + mass.T))
    base = (base / np.sqrt(np.abs(fraction)))[:, fraction > INDEPENDENT]
    mu, turn = np.linalg.eigh(base.T @ (0.5 * (change + change.T)) @ base)
    order = np.argsort(-np.abs(mu), kind="stable")
    return mu[order], shapes @ (base @ turn)[:, order]


def _missing(pair: Pair, factors: Floats, wanted: int, sign: float = 1.0) -> int:
    """Number of factors of a sign below the widest gap after the last one wanted that are not among ``factors``, which
    rise in size; -1: unknown. With fewer than wanted, up to ten times the last one."""
    size = np.abs(factors)
    if len(size) > wanted:
        gaps = size[wanted:] / size[wanted - 1 : -1]
        place = wanted - 1 + int(gaps.argmax())
        top, count = float(np.sqrt(size[place] * size[place + 1])), place + 1
    else:
        top, count = (10.0 * float(size[-1]), len(size)) if len(size) else (0.0, 0)
    if top == 0.0:
        return 0
    below = pair.below(sign * top)
    return below - count if below >= 0 else -1


def residual_of(pair: Pair, factors: Floats, shapes: Floats) -> Floats:
    """(k,) largest residual force over the largest force."""
    stiff, changed = pair.times(pair.weights, shapes), factors * pair.times(pair.change, shapes)
    return np.asarray(np.abs(stiff + changed).max(axis=0, initial=0.0) / np.abs(stiff).max(axis=0, initial=0.0))


def _notices(stage: StepSystem, response: LinearResponse, factors: Floats, wanted: int, missing: int) -> list[str]:
    """What to know about the factors."""
    notices = list[str]()
    if len(factors) < wanted:
        notices.append(f"*BUCKLE: {wanted} factors asked for, the model has {len(factors)}")
    if missing:
        what = f"{missing} more lie among those given, but were not found" if missing > 0 else "they were not counted"
        notices.append(f"*BUCKLE: {what}")
    positive = factors[factors > 0.0]
    if not len(positive):
        return (
            [*notices, "*BUCKLE: no positive factor: these loads do not make the structure buckle"]
            if wanted
            else notices
        )
    first = float(positive[0])
    constants, tangent = stage.bars.constants, stage.work.tangent.bar_tangent
    length = np.linalg.norm(
        np.diff((stage.nodes.place + stage.work.u).reshape(-1, 3)[stage.bars.nodes], axis=1)[:, 0], axis=1
    )
    force = np.where(
        stage.bars.kinds[:, 0] == GREEN, tangent[GEOMETRIC] / constants[INV_LENGTH], tangent[GEOMETRIC] * length
    )
    cables = np.flatnonzero(constants[MINUS] < constants[PLUS])
    with np.errstate(divide="ignore"):
        limits = np.where(response.forces[cables] < 0.0, -force[cables] / response.forces[cables], np.inf)
    if len(limits) and (least := float(limits.min())) < first:
        label = labels_of(stage, cables[[int(limits.argmin())]])[0]
        notices.append(
            f"*BUCKLE: cable {label} goes slack at factor {least:.6g}, below the first factor {first:.6g}, which "
            "assumes that it stays taut: follow the loads with *STATIC"
        )
    if (turn := first * float(response.turned.max(initial=0.0))) > TURNED:
        notices.append(
            f"*BUCKLE: bars turn before the first factor (by {turn:.2g} of their elongation): shallow domes and arches "
            "snap through at a fraction of it (0.19 for two bars); *STATIC, RIKS finds that load"
        )
    return notices
