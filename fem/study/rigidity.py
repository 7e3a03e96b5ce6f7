"""Self-stress, mechanisms and stability of a state of a structure: ``fem rigidity``, ``fem.rigidity``.

With orthonormal mechanisms M, the stiffness K_G of the forces N and the force densities q = N/L:
    prestress stable  M^T K_G M is positive (Guest, Int. J. Solids Structures 43, 2006)
    super-stable      sum q |x_i - x_j|^2 is convex, and only motions that change lengths leave it unchanged: either it
                      grows in every motion that the supports allow, or Omega = C^T diag(q) C has d + 1 zeros in d
                      dimensions and the directions n n^T of the bars span d(d + 1)/2 (Connelly, Invent. Math. 66, 1982)
A change e of natural lengths changes the forces by S S_a e with S_a = -(S^T F S)^-1 S^T, S states of self-stress and F
flexibilities of the members (Feron et al., Eng. Struct. 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import reduction
from fem.assembly.rigidity import CUT, Count, Members, count, members_of, numbered
from fem.deck import read_model
from fem.errors import CommandError, unknown
from fem.forces.bar import ALPHA, AREA, GEOMETRIC, INV_LENGTH, MINUS, PLUS, YOUNG
from fem.model import Frequency, Model, Static, Step
from fem.runner import still
from fem.runs.record import Requests, SilentSink
from fem.solve.loop import Run, begin
from fem.solve.modes import springs_of
from fem.solve.plan import StepPlan
from fem.solve.rods import rod_matrix
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem, loading_at

ZERO = 1e-6
"""Fraction of the largest force density, or stiffness of prestress, that is an error of equilibrium."""
FLAT = 1e-9
"""Fraction of the extent of a structure, or of a singular value, that counts as zero."""
LEAST = 1e-11
"""Fraction of the largest stiffness that is a rounding error."""


@dataclass(frozen=True, slots=True, eq=False)
class Rigidity:
    """Members (m): bars, then springs between dofs; n nodes.

    model          the deck, up to the state
    elements (m,)  labels;  force (m,) N in this state, NaN for springs
    found          the count: singular values, rank
    states (m, s)  of self-stress, largest value 1, struts negative
    mechanisms (k, n, 3)  largest component 1, by rising stiffness; place (n, 3): positions of the nodes
    stiffness (k,) of the prestress in each mechanism of unit length, K_G
    least          least eigenvalue of the tangent without rigid motions; infinite if there is none
    sensitivity (s, m)  force of each state per unit elongation of each member
    residuals      of states and of mechanisms, relative
    verdict        super-stable, prestress stable, stable without prestress, unstable, or loose
    notices        what to know about the result
    """

    model: Model
    elements: Ints
    force: Floats
    found: Count
    states: Floats
    mechanisms: Floats
    place: Floats
    stiffness: Floats
    least: float
    sensitivity: Floats
    residuals: tuple[float, float]
    verdict: str
    notices: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of states of self-stress, of mechanisms, of rigid motions."""
        return self.found.sizes

    def __repr__(self) -> str:
        (s, m, rigid), singular, rank = self.sizes, self.found.singular, self.found.rank
        dofs, members = self.found.rigid.shape[0], len(self.elements)
        relative = np.abs(singular / singular.max(initial=0.0)) if rank else singular
        beside = [f"{value:.3g} kept" for value in relative[max(rank - 1, 0) : rank]]
        beside += [f"{value:.3g} dropped" for value in relative[rank : rank + 1]]
        lines = [
            f"rigidity   {self.found}",
            f"count      dofs - members = mechanisms + rigid - states: {dofs} - {members} = {m} + {rigid} - {s}",
            f"cut        singular values over the largest: {', '.join(beside)}",
        ]
        if m:
            lines.append(f"K_G        on the mechanisms: {first_six(self.stiffness)}")
        if np.isfinite(self.least):
            lines.append(f"K_T        least eigenvalue without rigid motions: {self.least:.6g}")
        lines.append(f"residuals  {self.residuals[0]:.1e} of states, {self.residuals[1]:.1e} of mechanisms")
        return "\n".join([*lines, f"verdict    {self.verdict}"])


def first_six(values: Floats) -> str:
    """The first six numbers, as text."""
    return ", ".join(f"{value:.6g}" for value in values[:6]) + (", ..." if len(values) > 6 else "")


class UpToState(Run):
    """A run whose last step prepares the arrays of a state."""

    stage: StepSystem

    def frequency(self, plan: StepPlan, procedure: Frequency, stage: StepSystem) -> None:
        motion = self.progress.motion
        evaluate_start(stage, motion, loading_at(stage, motion, plan.span.start))
        self.stage = stage


def rigidity(
    deck: str | Path | Model,
    *,
    after: int | str | None = None,
    tolerance: float = CUT,
    parameters: Mapping[str, float] | None = None,
) -> Rigidity:
    """States of self-stress, mechanisms and stability of a structure in the state of a deck, or after one of its steps.

    The verdict is that of the forces in this state, not of the best combination of states of self-stress.

    deck        path of the ``.inp``, or a model
    after       number or name of the step; None: the state before the first one, with the supports of that step
    tolerance   singular values below this fraction of the largest are zero
    parameters  values that override the deck's ``*PARAMETER``

    Raises ModelError for more than 3000 free dofs and for stiffness other than that of members; errors of ``fem.run``.

    >>> found = rigidity("inputs/tensegrity_prism.inp")
    >>> found.sizes, found.verdict
    ((1, 1, 6), 'super-stable')
    """
    if not 0.0 < tolerance < 1.0:
        raise CommandError(f"tolerance={tolerance:g}: expected a fraction between 0 and 1")
    model = read_model(deck, parameters)
    number = number_of(model, after)
    first = (*model.steps, Step(Static(), nlgeom=True))[0]
    boundaries, rotations = ((), ()) if number else (still(first.boundaries), still(first.rotations))
    asking = Step(Frequency(1), nlgeom=True, boundaries=boundaries, rotations=rotations)
    model = replace(model, steps=(*model.steps[:number], asking))
    run = begin(UpToState, model, SilentSink(), Requests(fields=False), None)
    run.run()
    return judged(model, run.stage, run.progress.motion.u, tolerance, is_loaded=number > 0)


def number_of(model: Model, after: int | str | None) -> int:
    """Number of the step; 0: none. CommandError: there is no such step."""
    if after is None:
        return 0
    names = {(step.name or "").upper(): number for number, step in enumerate(model.steps, start=1)}
    known = names | {str(number): number for number in range(1, len(model.steps) + 1)}
    try:
        return known[str(after).upper()]
    except KeyError:
        raise CommandError(unknown("step", str(after), filter(None, known)).args[0]) from None


def judged(model: Model, stage: StepSystem, u: Floats, tolerance: float, is_loaded: bool) -> Rigidity:
    """The state in ``stage.work``, at displacements (3n,)."""
    system = stage.system
    members = members_of(system, stage.environment.supports, u)
    found, bars, count_of = count(members, tolerance), members.bars, len(system.bars.nodes)
    transform = reduction(stage.nodes.dof_kind, stage.equations)
    rows, weights, _ = springs_of(stage, transform)
    rows = (rows @ transform).toarray()
    geometric, q = rows[count_of : 4 * count_of], weights[count_of : 4 * count_of]
    density = stage.work.tangent.bar_tangent[GEOMETRIC, bars]
    ends = system.bars.nodes[bars]
    length = np.linalg.norm(members.place[ends[:, 1]] - members.place[ends[:, 0]], axis=1)
    force = np.concatenate([density * length, np.full(len(members.springs), np.nan)])
    moved = geometric @ found.mechanisms
    stiffness, vectors = np.linalg.eigh(moved.T @ (q[:, None] * moved))
    mechanisms = found.mechanisms @ vectors
    tangent, whole = rows.T @ (weights[:, None] * rows), geometric.T @ (q[:, None] * geometric)
    least, scale = least_of(tangent, found.rigid, (rod_matrix(stage) @ transform).toarray())
    cables = np.zeros(len(force), np.bool_)
    cables[: len(bars)] = system.bars.constants[MINUS, bars] < system.bars.constants[PLUS, bars]
    states = signed(localised(found.states), np.nan_to_num(force), cables)
    notices = notices_of(stage, members, force, is_loaded)
    largest = float(np.abs(density).max(initial=0.0))
    limit = max(ZERO * largest, LEAST * scale)
    verdict = verdict_of(
        is_convex=largest > limit and (grows(whole, limit) or is_super_stable(members.place, ends, density)),
        stiffness=np.where(np.abs(stiffness) <= limit, 0.0, stiffness),
        least=0.0 if abs(least) <= LEAST * scale else least,
    )
    full = np.asarray(transform @ mechanisms).T.reshape(mechanisms.shape[1], len(members.place), 3)
    return Rigidity(
        model, labels_of(stage, members), force, found, states, scaled(full), members.place, stiffness, least,
        sensitivity_of(stage, members, states), residuals_of(members, states, mechanisms), verdict, notices,
    )  # fmt: skip


def verdict_of(is_convex: bool, stiffness: Floats, least: float) -> str:
    """In words, from numbers in which rounding errors are zero."""
    if least < 0.0 or stiffness.min(initial=0.0) < 0.0:
        return "unstable"
    if is_convex:
        return "super-stable"
    if np.any(stiffness == 0.0):
        return f"loose: {numbered(int(np.count_nonzero(stiffness == 0.0)), 'mechanism')} without stiffness"
    if least == 0.0:
        return "loose: slack members leave motions without stiffness"
    return "prestress stable" if len(stiffness) else "stable without prestress"


def least_of(tangent: Floats, rigid: Floats, rods: Floats) -> tuple[float, float]:
    """Least eigenvalue among motions that are not rigid and keep the lengths of rods, and the largest stiffness."""
    held = np.concatenate([rigid, rods.T], axis=1)
    base, values, _ = np.linalg.svd(held)
    rest = base[:, int(np.count_nonzero(values > FLAT * values.max(initial=0.0))) :]
    if not rest.shape[1]:
        return np.inf, 1.0
    return float(np.linalg.eigvalsh(rest.T @ tangent @ rest)[0]), float(np.abs(tangent).max())


def grows(whole: Floats, limit: float) -> bool:
    """Whether the energy of constant force densities grows in all motions (u, u) of the dofs."""
    return bool(len(whole)) and bool(np.linalg.eigvalsh(whole)[0] > limit)


def is_super_stable(place: Floats, ends: Ints, density: Floats) -> bool:
    """Connelly's conditions for a structure in equilibrium without supports."""
    nodes, both = np.unique(ends, return_inverse=True)
    both, x = both.reshape(-1, 2), place[nodes] - place[nodes].mean(axis=0)
    incidence = np.zeros((len(ends), len(nodes)))
    incidence[np.arange(len(ends)), both[:, 0]], incidence[np.arange(len(ends)), both[:, 1]] = 1.0, -1.0
    omega = incidence.T @ (density[:, None] * incidence)
    values, size = np.linalg.eigvalsh(omega), float(np.abs(omega).max())
    _, spread, axes = np.linalg.svd(x, full_matrices=False)
    axes = axes[spread > FLAT * spread[0]]
    d = len(axes)
    way = incidence @ x @ axes.T
    way /= np.linalg.norm(way, axis=1)[:, None]
    directions = [way[:, i] * way[:, j] for i in range(d) for j in range(i, d)]
    is_balanced = np.abs(omega @ x).max() <= ZERO * size * np.abs(x).max()
    zeros = int(np.count_nonzero(np.abs(values) <= ZERO * size))
    spans = np.linalg.matrix_rank(np.column_stack(directions), FLAT) == d * (d + 1) // 2
    return bool(is_balanced and values[0] > -ZERO * size and zeros == d + 1 and spans)


def localised(states: Floats) -> Floats:
    """States (m, s) that span the same, each with a member that the others leave without force; largest value 1."""
    from scipy.linalg import qr

    if not states.shape[1]:
        return states
    _, _, order = qr(states.T, mode="economic", pivoting=True)
    found = states @ np.linalg.inv(states[order[: states.shape[1]]])
    return np.asarray(found / np.abs(found).max(axis=0))


def signed(states: Floats, force: Floats, cables: Flags) -> Floats:
    """States with the sign of the forces; without these cables pull, or most members do."""
    ways = np.array([force @ states, cables @ states, np.sign(np.round(states, 9)).sum(axis=0)])
    sizes = np.array([np.abs(force).max(initial=0.0), 1.0, 1.0])[:, None]
    way = np.ones(states.shape[1])
    for its in ways[::-1] / np.where(sizes > 0.0, sizes, 1.0):
        way = np.where(np.abs(its) > FLAT, np.sign(its), way)
    return states * way


def scaled(shapes: Floats) -> Floats:
    """(k, n, 3) with a largest component of 1."""
    return np.array([each / each.ravel()[np.abs(each).argmax()] for each in shapes]).reshape(shapes.shape)


def labels_of(stage: StepSystem, members: Members) -> Ints:
    """(m,) labels of the elements."""
    system, labels = stage.system, stage.system.element_labels
    of_bar = np.zeros(len(system.bars.nodes), np.int64)
    has = system.bar_index >= 0
    of_bar[system.bar_index[has]] = labels[has]
    of_spring = np.zeros(len(system.springs.dofs), np.int64)
    is_spring = system.family[:, 0] == 1
    of_spring[system.family[is_spring, 1]] = labels[is_spring]
    return np.concatenate([of_bar[members.bars], of_spring[members.springs]])


def sensitivity_of(stage: StepSystem, members: Members, states: Floats) -> Floats:
    """S_a (s, m); NaN where all members of a state are rigid."""
    constants, springs = stage.bars.constants, stage.system.springs.constants[:, 0]
    stiff = constants[YOUNG] * constants[AREA] * constants[INV_LENGTH]
    stiff[stage.bars.rods] = np.inf
    with np.errstate(divide="ignore"):
        flexibility = 1.0 / np.concatenate([stiff[members.bars], springs[members.springs]])
    inner = states.T @ (flexibility[:, None] * states)
    try:
        return np.asarray(-np.linalg.solve(inner, states.T))
    except np.linalg.LinAlgError:
        return np.full(states.T.shape, np.nan)


def residuals_of(members: Members, states: Floats, mechanisms: Floats) -> tuple[float, float]:
    """Largest unbalanced force of the states, largest elongation of the mechanisms of unit length."""
    left, stretched = members.compatibility.T @ states, members.compatibility @ mechanisms
    return float(np.abs(left).max(initial=0.0)), float(np.abs(stretched).max(initial=0.0))


def notices_of(stage: StepSystem, members: Members, force: Floats, is_loaded: bool) -> tuple[str, ...]:
    """Slack members, and forces of the deck that are not in balance."""
    bars, notices = members.bars, list[str]()
    numbers = stage.work.tangent.bar_tangent[:, bars]
    slack = (numbers[ALPHA] == 0.0) & (numbers[GEOMETRIC] == 0.0)
    if slack.any():
        notices.append(f"{numbered(int(slack.sum()), 'member')} slack in this state: counted, but without stiffness")
    left = members.compatibility.T @ np.nan_to_num(force)
    largest = float(np.abs(np.nan_to_num(force)).max(initial=0.0))
    if not is_loaded and np.abs(left).max(initial=0.0) > ZERO * largest:
        worst = np.abs(left).max() / largest
        notices.append(f"the forces of the deck are not in balance (by {worst:.2g} of the largest): --after a *STATIC")
    return tuple(notices)
