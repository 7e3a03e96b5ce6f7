"""Checks of static equilibria: mechanisms, unstable equilibria, the softest direction of the sparse tangent.

Unrestrained directions of nodes have neither stiffness nor, in dynamics, mass.

Examples are plane trusses in space and nodes between collinear bars, which are common in real decks. An unloaded
direction is held by a stiffness in the *tangent only* (the result is unchanged, the matrix regular), with a notice;
if it is loaded, there is an error that names node and dof.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fem.arrays import Flags, Floats, Ints, Sparse
from fem.assembly.supports import IMPLICIT
from fem.errors import ModelError, listed
from fem.forces.bar import ALPHA, AREA, GEOMETRIC, INV_LENGTH, MINUS, PLUS, YOUNG, bar_blocks
from fem.linear.factors import start_vector
from fem.linear.inertia import Spectrum
from fem.model import Step
from fem.solve.newton.groups import Motion, Nodes, Scratch
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.start import evaluate_start
from fem.solve.statics.laying import may_be_laid
from fem.solve.step_system import StepSystem, loading_at

if TYPE_CHECKING:
    from fem.linear.sparse import SparseTangent


RATHER_STIFF = 1e3
"""Stiffness of the bars that replace rods while negative eigenvalues are counted, over the largest of the model."""
FAINT = 1e-8
"""Transverse stiffness added at a node without mass in large motions, as a fraction of its stiffness: small, as its
bars become stiff themselves when they pull or rotate, and Newton's method would ignore them beside a large one."""
MECHANISM = 1e-12
"""Smallest ratio of the softest mode's stiffness to the largest; below it the model is a mechanism."""


def softest(stage: StepSystem, motion: Motion, now: float) -> tuple[int, float]:
    """The dof with the largest displacement in the softest mode, and the mode's stiffness over the largest."""
    evaluate_start(stage, motion, loading_at(stage, motion, now))
    nodal_blocks(stage.coefficients, 1.0, stage.problem, stage.work)
    return weakest_dof(stage.tangent, stage.work) if len(stage.tangent.independent) else (0, np.inf)


def refuse_mechanism(stage: StepSystem, motion: Motion, now: float, number: int) -> None:
    """ModelError where the tangent at the start of a static step is singular."""
    if stage.loose:
        raise ModelError(stage.loose)
    dof, fraction = softest(stage, motion, now)
    if fraction < MECHANISM:
        raise ModelError(
            f"the model is a mechanism: {stage.system.name_dof(dof)} can move without resistance at the start of step "
            f"{number}; support it, add a bar or a spring, or give straight cables *NO COMPRESSION, an "
            "initial stress or a STARTING TENSION"
        )


def instability_notice(stage: StepSystem, known: int | None) -> str:
    """Notice of an unstable equilibrium, which statics finds as easily as a stable one. It needs compression, or a free
    body whose weight is above its supports. known: negative eigenvalues, if counted already"""
    work, has_bodies = stage.work, bool(stage.system.model.corners)
    is_pressed = np.any(work.tangent.bar_tangent[GEOMETRIC] < 0.0) or np.any(work.tangent.bar_tangent[ALPHA] < 0.0)
    if known is None and not (is_pressed or has_bodies):
        return ""
    tangent = static_tangent(stage) if known is None or has_bodies else None
    count = Spectrum(tangent).negative if known is None else known
    if count <= 0:
        return neutral_notice(stage, tangent) if has_bodies else ""
    return (
        f"the equilibrium at the end of the step is unstable: its stiffness is negative in {count} direction"
        f"{'s' if count > 1 else ''} ({'a body topples' if has_bodies else 'bars in compression buckle'}); the real "
        "structure will not stay there"
    )


NEUTRAL = 1e-11
"""Stiffness of a mode over that of its parts, without signs, below which it is round-off."""


def neutral_notice(stage: StepSystem, tangent: Sparse) -> str:
    """Notice of a free body that stands where round-off has put it: the parts of the stiffness in its softest mode
    cancel each other. tangent: static"""
    x = softest_mode(tangent, 6)
    if x is None:
        return ""
    if abs(x @ (tangent @ x)) > NEUTRAL * (np.abs(x) @ (abs(tangent) @ np.abs(x))):
        return ""
    dofs = stage.tangent.independent
    name = stage.system.name_dof(int(dofs[int(np.abs(x[: len(dofs)]).argmax())]))
    return (
        f"the equilibrium at the end of the step is neutral: {name} can move or turn without resistance, and is where "
        "round-off has put it; hold it (*BOUNDARY), or give it what holds the real one"
    )


def static_tangent(stage: StepSystem) -> Sparse:
    """The tangent of statics at the state in ``stage.work`` over the independent dofs (CSC), for its inertia.

    Held directions have almost no stiffness, so that buckling of a hinge is detected; rigid motions are held; rods are
    replaced by very stiff bars.
    """
    from fem.linear.sparse import bordered

    work = stage.work
    careful = careful_nodes(stage) if stage.system.model.corners else None
    nodes = careful or faintly_held(stage, 1e-12)
    nodal_blocks(stage.coefficients, 1.0, stage.problem._replace(nodes=nodes), work)
    matrix, open_dofs = bordered(stage.tangent, work).tocsc(), len(stage.tangent.independent)
    if matrix.shape[0] == open_dofs:
        return matrix
    stiffness, pulls = matrix[:open_dofs, :open_dofs], matrix[:open_dofs, open_dofs:]
    largest = float(np.abs(stiffness.data).max(initial=0.0)) / (float((pulls.data**2).max(initial=0.0)) or 1.0)
    return (stiffness + RATHER_STIFF * largest * (pulls @ pulls.T)).tocsc()


def faintly_held(stage: StepSystem, part: float = FAINT) -> Nodes:
    """The nodes of a stage with this part of what holds unrestrained directions; rigid motions are held as they are."""
    nodes, rigid = stage.nodes, stage.rigid if len(stage.rigid) else 0.0
    return nodes._replace(artificial_stiffness=part * (nodes.artificial_stiffness - rigid) + rigid)


def softest_mode(matrix: Sparse, turns: int) -> Floats | None:
    """The softest mode of a stiffness, largest component 1, by so many steps of inverse iteration from a fixed vector.
    None: singular even with 1e-11 of its largest entry on the diagonal."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    count, largest = matrix.shape[0], float(np.abs(matrix.data).max(initial=0.0)) or 1.0
    x: Floats = start_vector(count)
    try:
        factor = splu((matrix + 1e-11 * largest * eye_array(count)).tocsc(), permc_spec="COLAMD")
        for _ in range(turns):
            x = factor.solve(x)
            x /= np.abs(x).max()
    except RuntimeError:
        return None
    return x


def weakest_dof(tangent: SparseTangent, work: Scratch) -> tuple[int, float]:
    """The dof that moves most in the softest mode of the tangent, and that mode's stiffness relative to the largest.
    By ``softest_mode``; a fraction below about 1e-12 means a mechanism."""
    from fem.linear.sparse import bordered

    matrix = bordered(tangent, work)
    x = softest_mode(matrix, 3)
    if x is None:
        return int(tangent.independent[0]), 0.0
    largest = float(np.abs(matrix.data).max(initial=0.0)) or 1.0
    fraction = float(np.abs(matrix @ x).max()) / largest
    dofs = x[: len(tangent.independent)]
    return int(tangent.independent[int(np.abs(dofs).argmax())]), fraction


NO_STIFFNESS = 1e-14
"""Eigenvalues of a nodal block below this fraction of its largest one are zero within rounding errors."""
CAUTION, FLOOR = 2.0, 1e-10
"""Stiffness of slack nodes over residual, length of bars and root of their number; and least one over the model's."""
SLACK = "bars are slack in the flow: only the flow holds them while the equilibrium is sought"
NO_LOAD = 1e-12
"""Load components below this fraction of the largest are zero within rounding errors."""


def hold_unrestrained(stage: StepSystem, step: Step, has_ropes: bool = False) -> tuple[Ints, str]:
    """Enters held directions into ``stage.nodes``; returns the dofs held along an axis, and a notice or an empty text.
    The state must have been evaluated into ``stage.work``. ModelError where an unrestrained direction is loaded."""
    _refuse_loads_on_nothing(stage)
    free = (stage.nodes.dof_kind == 1).reshape(-1, 3)
    free.flat[np.concatenate([stage.equations.slave, stage.equations.master])] = False  # possibly stiff by equations
    candidates = np.flatnonzero(free.any(axis=1))
    if stage.is_dynamic:
        candidates = candidates[~stage.system.inertia.reshape(-1, 3)[candidates].any(axis=1)]
    if len(candidates) == 0:
        return np.zeros(0, np.int64), ""
    blocks = _nodal_stiffness(stage) * (free[:, :, None] & free[:, None, :])
    if len(endless := np.flatnonzero(~np.isfinite(blocks).all(axis=(1, 2)))):
        where = stage.system.labels[endless[0]]
        raise ModelError(f"the stiffness at node {where} is not finite: look for a load or a coefficient out of range")
    values, vectors = np.linalg.eigh(blocks[candidates])
    largest = np.abs(values).max(axis=1)
    loads, vectors_of_loads = np.abs(stage.loads.vectors).max(initial=0.0), stage.loads.by_curve()
    held, wet = np.zeros((len(free), 9)), _dragged(stage)
    part = FAINT if stage.is_dynamic and step.nlgeom else 1.0
    slack = False
    names: list[str] = []
    dofs: list[int] = []
    stiff = float(np.abs(blocks).max()) or 1.0
    find_their_place = cache(lambda: bool(stage.system.model.corners) or may_be_laid(stage))
    for k in np.flatnonzero((np.abs(values) <= NO_STIFFNESS * largest[:, None]).any(axis=1)):
        node = int(candidates[k])
        if wet[node]:
            slack = True
            continue
        null = _free_null_space(values[k], vectors[k], largest[k], free[node])
        for direction in null:
            pull = np.abs(vectors_of_loads.reshape(-1, len(free), 3)[:, node] @ direction).max(initial=0.0)
            if pull > NO_LOAD * loads and step.nlgeom and find_their_place():
                continue  # cables and bodies: ``laying.py``, ``careful_nodes``
            if pull > NO_LOAD * loads:
                if stage.is_dynamic or not step.nlgeom or has_ropes:
                    raise ModelError(_loaded(stage, node, direction, step))
                stage.loose = stage.loose or _loaded(stage, node, direction, step)  # motion may stretch bars
                continue
            axis = int(np.abs(direction).argmax())
            if abs(direction[axis]) > 1.0 - 1e-9:
                names.append(stage.system.name_dof(3 * node + axis))
                dofs.append(3 * node + axis)
            else:
                along = ", ".join(f"{c:.3g}" for c in direction)
                names.append(f"node {stage.system.labels[node]} along ({along})")
            held[node] += part * (largest[k] or stiff) * np.outer(direction, direction).ravel()
    if slack:
        stage.nodes = _cautious(stage, wet, stiff, held)
    if not names:
        return np.zeros(0, np.int64), SLACK if slack else ""
    stage.nodes = stage.nodes._replace(artificial_stiffness=held)
    return np.array(dofs, np.int64), f"no stiffness and no load; kept in place: {listed(names)}"


def hold_again(stage: StepSystem, step: Step, motion: Motion, now: float) -> bool:
    """Holds only what has no stiffness in the present state of statics: lines that were straight at the start of the
    step pull now, and what held them is far stiffer than they are. Returns whether that changes anything."""
    before = stage.nodes.artificial_stiffness
    if stage.is_dynamic or not step.nlgeom or not len(before) or len(stage.nodes.caution):
        return False
    evaluate_start(stage, motion, loading_at(stage, motion, now))
    stage.nodes = stage.nodes._replace(artificial_stiffness=before[:0])
    hold_unrestrained(stage, step)
    held = stage.nodes.artificial_stiffness if len(stage.nodes.artificial_stiffness) else np.zeros_like(before)
    held = held + stage.rigid if len(stage.rigid) else held
    stage.nodes = stage.nodes._replace(artificial_stiffness=held)
    return not np.array_equal(held, before)


def _dragged(stage: StepSystem) -> Flags:
    """(n,) nodes of bars with stream loads in statics."""
    found = np.zeros(len(stage.system.labels), np.bool_)
    for flow in () if stage.is_dynamic else stage.environment.flows:
        for case in flow.cases if flow.load.kind in ("FDD", "FDT", "WDD", "FLD") else ():
            found[stage.system.element_nodes[case.field[:, 0] != 0.0]] = True
    return found


def careful_nodes(stage: StepSystem) -> Nodes | None:
    """Nodes with damped corrections, if a tangent on the way to equilibrium may be singular: nodes of bars that may go
    slack, of free bodies that can rotate freely (on a line: about this line), and all nodes if collinear bars have a
    transverse load.
    None without any of these, or if corrections are damped already."""
    bars = stage.bars.constants
    may = [*stage.bars.nodes[bars[PLUS] != bars[MINUS]].ravel(), *stage.system.model.corners]
    if not (len(may) or stage.loose) or len(stage.nodes.caution):
        return None
    slack = np.isin(np.arange(len(stage.system.labels)), may) | bool(stage.loose)
    held = stage.nodes.artificial_stiffness if len(stage.nodes.artificial_stiffness) else np.zeros((len(slack), 9))
    held = np.where(slack[:, None], 0.0, held)  # also without transverse load on a straight cable, which moves
    held = np.maximum(held, stage.rigid) if len(stage.rigid) else held
    return _cautious(stage, slack, float((bars[YOUNG] * bars[AREA] * bars[INV_LENGTH]).max()), held)


def _cautious(stage: StepSystem, slack: Flags, stiff: float, held: Floats) -> Nodes:
    """Slack lines get an artificial stiffness proportional to the residual, so that a correction is a fraction of a
    bar; it vanishes at the end (Levenberg-Marquardt). ``CAUTION`` was chosen with 150 ropes."""
    inside = slack[stage.bars.nodes].all(axis=1)
    bars, length = stage.bars.nodes[inside], np.zeros(len(slack))
    count = np.bincount(bars.ravel(), minlength=len(slack))
    np.add.at(length, bars, stage.system.length0[inside][:, None])
    caution = np.divide(CAUTION * count, length * np.sqrt(max(len(bars), 1)), out=np.zeros(len(slack)), where=count > 0)
    held[slack, ::4] += FLOOR * stiff
    return stage.nodes._replace(caution=caution, artificial_stiffness=held)


def _refuse_loads_on_nothing(stage: StepSystem) -> None:
    """ModelError: nodal loads on nodes without elements, or on T2D2 nodes perpendicular to their plane."""
    supports = stage.environment.supports
    implicit = np.flatnonzero(supports.group[: supports.size] == IMPLICIT)
    for case in stage.environment.nodal:
        loaded = implicit[case.field.ravel()[implicit] != 0.0]
        if len(loaded):
            raise ModelError(
                f"{stage.system.name_dof(int(loaded[0]))} is loaded but no element resists there; remove the load, or "
                "attach an element"
            )


def _free_null_space(values: Floats, vectors: Floats, largest: float, free: Flags) -> Floats:
    """Orthonormal unrestrained directions (k, 3) within the free dofs of a node, along axes where possible."""
    null = vectors[:, np.abs(values) <= NO_STIFFNESS * largest].T
    projector = null.T @ null * np.outer(free, free)
    directions: list[Floats] = []
    for axis in np.argsort(-np.diag(projector), kind="stable"):
        candidate = projector[axis].copy()
        for known in directions:
            candidate -= (candidate @ known) * known
        size = float(np.linalg.norm(candidate))
        if size > 1e-6:
            directions.append(candidate / size)
    return np.array(directions).reshape(-1, 3)


def _loaded(stage: StepSystem, node: int, direction: Floats, step: Step) -> str:
    axis = int(np.abs(direction).argmax())
    name = stage.system.name_dof(3 * node + axis)
    cure = "support it with *BOUNDARY, or give it stiffness: another bar, a spring, an initial tension"
    if step.nlgeom:
        cure += (
            " (*INITIAL CONDITIONS, TYPE=STRESS); for a straight cable, STARTING TENSION= in *SOLID SECTION, or, if "
            "all bars are *ELASTIC, *NO COMPRESSION: the place where it hangs is found then"
        )
    return f"{name} is loaded but nothing resists there; {cure}"


def _nodal_stiffness(stage: StepSystem) -> Floats:
    """(n, 3, 3) symmetric stiffness of everything attached to each node, with its neighbours fixed."""
    work, bars = stage.work, stage.bars
    nodal_blocks(stage.coefficients, 1.0, stage.problem, work)
    blocks = work.block.reshape(-1, 3, 3).copy()
    numbers = work.tangent.bar_tangent.copy()
    numbers[ALPHA, bars.rods] = np.inf  # also the legs over pulleys, which have a finite one, too
    of_bars = bar_blocks(numbers, rigid=float(np.abs(blocks).max(initial=0.0)) or 1.0)
    for end in range(2):
        np.add.at(blocks, bars.nodes[:, end], of_bars)
    return np.asarray(0.5 * (blocks + blocks.transpose(0, 2, 1)))
