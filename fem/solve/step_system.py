"""Arrays of one step for the march: free dofs, solver, work arrays, loads of any chunk of increments; the change
from the iterative to the direct linear solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints, Say
from fem.assembly.environment import Environment, LoadSet, load_set, thermal_rows
from fem.assembly.equations import Equations, eliminate
from fem.assembly.supports import Supports
from fem.assembly.system import System
from fem.forces import bar
from fem.forces.bar import STORED, Bars
from fem.forces.families import Groups, acting, in_step
from fem.forces.protocol import BOOKS, PULLED, Tangent
from fem.linear import choice as linear
from fem.linear.chain import JOINED, PINNED
from fem.linear.choice import BICGSTAB, BORDER, CG, CHAINS, EXTERNAL, UNSYMMETRIC, Choice, choose_solver
from fem.model import Controls
from fem.model.quantities import BENDING, CONTACT, recorded_rows, recorded_values
from fem.solve.newton import groups
from fem.solve.newton.groups import LIMIT, MEMORY, ROW, Ledger, Loading, Motion, Nodes, Passage, Problem, Ropes, Scratch
from fem.solve.ranges import ranges_of
from fem.solve.schemes import Coefficients, Scheme, keeps_energy

if TYPE_CHECKING:
    from fem.linear.sparse import DirectSolver, SaddleSolver, SparseTangent


Moves: TypeAlias = tuple[Floats, Floats, Floats, Floats]
CROWD = 30_000
"""Bars of an explicit step from which it is done in blocks, by threads: fewer fit a cache, and threads would wait for
each other."""
NO_ROPES = Ropes(np.zeros(0, np.int64), np.zeros(0))
"""For a march without ropes."""
FIRST_HALVED = 2.0
NEAR_FLOOR = 1e-6
"""Relative residual below which an increment that iterates to rounding error may stop when it no longer decreases."""


class Rods(NamedTuple):
    """Constraints of the rods of some bars: heads (c,) and row (r,) as ``bar.heads`` and ``rows_of`` have them, sense
    (r,), inverse (c,) lengths; rows and dofs of their gradients (``rod_places``)."""

    bars: Bars
    heads: Ints
    row: Ints
    sense: Floats
    inverse: Floats
    rows: Ints
    dofs: Ints


@dataclass(slots=True)
class StepSystem:
    """Arrays of a step. tangent and direct solvers: made on demand; recorded: common arrays of all records;
    rigid (n or 0, 9): the part of ``nodes.artificial_stiffness`` that holds rigid motions; free_shapes (3n, r): these;
    loose: message if no equilibrium is found because a load meets no stiffness at first."""

    system: System
    environment: Environment
    bars: Bars
    nodes: Nodes
    equations: Equations
    loads: LoadSet
    scheme: Scheme
    coefficients: Coefficients
    limits: Floats
    choice: Choice
    work: Scratch
    is_symmetric: bool
    recorded: tuple[Any, ...] = ()
    rigid: Floats = field(default_factory=lambda: np.zeros((0, 9)))
    free_shapes: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    loose: str = ""
    _tangent: SparseTangent | None = field(default=None)
    _rods: Rods | None = None
    opened: DirectSolver | SaddleSolver | None = field(default=None)
    opened_mass: DirectSolver | None = field(default=None)

    @property
    def problem(self) -> Problem:
        choice, system = self.choice, self.system
        forces = self.bars, system.springs, system.families, system.is_passive
        return Problem(self.nodes, *forces, self.equations, NO_ROPES, choice.solver, choice.tree, choice.plan)

    def passage(self, chunk: Loading, motion: Motion, kept: Ledger) -> Passage:
        """Arguments of the march for a chunk of increments."""
        return Passage(self.coefficients, self.limits, self.problem, chunk, motion, self.work, kept)

    @property
    def is_dynamic(self) -> bool:
        return bool(self.coefficients.wm != 0.0)

    @property
    def is_explicit(self) -> bool:
        """Whether the march is that of ``solve/explicit``, without linear solves."""
        return self.scheme.is_explicit

    @property
    def tangent(self) -> SparseTangent:
        """The sparse tangent, with its pattern."""
        if self._tangent is None:
            from fem.linear.sparse import SparseTangent  # not imported for chains

            self._tangent = SparseTangent(self.system, self.nodes.dof_kind, self.equations)
        return self._tangent

    @property
    def rods(self) -> Rods:
        """Its constraints."""
        if not (self._rods and self._rods.bars is self.bars):
            bars, heads = self.bars, bar.heads(self.bars)
            own = heads, bar.rows_of(bars), bar.senses(bars, bars.rods), bars.constants[bar.INV_LENGTH, heads]
            self._rods = Rods(bars, *own, *bar.rod_places(bars))
        return self._rods

    def rod_gradients(self) -> tuple[Ints, Ints, Floats]:
        """Rows, dofs and values of the gradients of rods, of the state evaluated last."""
        rods = self.rods
        return rods.rows, rods.dofs, bar.rod_values(self.bars, self.work.tangent.bar_tangent)

    @property
    def direct(self) -> DirectSolver | SaddleSolver:
        """The direct solver of this step."""
        if self.opened is None and len(self.bars.rods):
            from fem.linear.sparse import SaddleSolver

            self.opened = SaddleSolver(self.system, self.tangent)
        if self.opened is None:
            self.opened = self._open_direct(self.is_symmetric)
        return self.opened

    def _open_direct(self, is_symmetric: bool) -> DirectSolver:
        from fem.linear.sparse import DirectSolver

        return DirectSolver(self.system, self.nodes.dof_kind, self.equations, is_symmetric, self.choice.library)

    @property
    def is_crowd(self) -> bool:
        """Whether it is an explicit step of so many bars, and of nothing else, that their tangent takes much memory."""
        is_plain = self.system.is_passive and not (len(self.bars.rods) or len(self.system.springs.dofs))
        return self.is_explicit and is_plain and len(self.bars.nodes) >= CROWD

    def parts(self) -> Ints:
        """(n,) number of the connected part that each node belongs to (by bars, springs, equations): its smallest node.
        Each round joins all neighbours."""
        system, equations = self.system, self.equations
        bars = np.delete(self.bars.nodes, system.gone_bars, axis=0)
        tied = np.column_stack([np.repeat(equations.slave, np.diff(equations.start)), equations.master]) // 3
        first, second = np.concatenate([bars, system.pairs, tied]).T
        label = np.arange(len(system.labels))
        while (label[first] != label[second]).any():
            least = np.minimum(label[first], label[second])
            for ends in (first, second):
                np.minimum.at(label, label[ends], least)
            while (label != label[label]).any():
                label = label[label]
        return label

    def directed_blocks(self) -> tuple[Ints, Floats]:
        """Mass added by families: nodes of rows and columns (q, 2) of its blocks (q, 3, 3)."""
        mass, count = self.nodes.directed_mass, min(len(self.nodes.directed_mass), len(self.system.mass))
        own, pairs = np.arange(count).repeat(2).reshape(-1, 2), self.nodes.mass_pairs
        blocks = np.concatenate([mass, mass[count:]]).reshape(-1, 3, 3)
        return np.concatenate([own, pairs, pairs[:, ::-1]]), blocks

    def solver_of(self, phase: int) -> DirectSolver | SaddleSolver:
        """The direct solver of a phase; the mass has its own, whose factor is kept."""
        if phase != groups.PROJECT_ACCELERATION or len(self.bars.rods):
            return self.direct
        if self.opened_mass is None:
            self.opened_mass = self._open_direct(True)
        return self.opened_mass


def prepare(
    system: System, environment: Environment, bars: Bars, scheme: Scheme, controls: Controls, wanted: str
) -> StepSystem:
    """Assembles the arrays of one step. ``wanted``: one of ``SOLVERS``."""
    system = in_step(system, environment, bars)
    equations = eliminate(system, environment.supports.supported)
    free = (~environment.supports.supported).astype(np.int64)
    free[equations.slave] = 2
    damping = np.repeat(system.damping, 3) if system.damping.any() else np.zeros(0)
    diagonal, place, mask = np.repeat(system.mass, 3), system.coordinates.reshape(-1), (free != 0).astype(float)
    pairs = system.pairs[: max(len(system.directed_mass) - len(system.labels), 0)]
    nothing = np.zeros((0, 9)), np.zeros(0)
    nodes = Nodes(diagonal, damping, place, free, mask, system.directed_mass, *nothing, pairs)
    coefficients, is_explicit = scheme.coefficients, scheme.is_explicit
    is_static = coefficients.wm == 0.0
    is_late = not (is_static or is_explicit or coefficients.secant)
    coefficients = coefficients._replace(
        onset=1.0 / coefficients.vu if is_late else 0.0,
        projects=len(bars.rods) > 0 and not is_static,
        lags=is_late and (coefficients.wm != 1.0 or coefficients.wf != 1.0),
        takes=is_late and not keeps_energy(coefficients),
    )
    families = [family for family, _ in acting(system.families)]
    lost = scheme.secant or bars.constants[bar.VISCOUS].any()
    symmetric = not lost and all(family.symmetric for family in families)
    choice = choice_of(system, bars, free, equations, scheme, symmetric, wanted)
    limits, loads = limits_of(controls, bars, system.families), load_set(system, environment)
    if any(family.kinked for family in families) and not is_static and len(bars.rods) == 0:
        limits[LIMIT.halves] = FIRST_HALVED
    made = system, environment, bars, nodes, equations, loads
    return StepSystem(*made, scheme, coefficients, limits, choice, scratch(system, bars, choice), symmetric)


def choice_of(
    system: System, bars: Bars, free: Ints, equations: Equations, scheme: Scheme, symmetric: bool, wanted: str
) -> Choice:
    """The linear solver of a step."""
    if scheme.is_explicit:
        return Choice(linear.NO_SOLVE, linear.NO_TREE, 0, 0, "central differences, lumped mass", "", "")
    is_static = scheme.coefficients.wm == 0.0
    may_iterate = not is_static and len(bars.rods) == 0
    choice = choose_solver(system, free, equations, may_iterate, wanted, is_static)
    if symmetric:
        return choice
    solver = UNSYMMETRIC.get(choice.solver, choice.solver)
    return replace(choice, solver=solver, reason=choice.reason.replace("symmetric", "unsymmetric"))


def with_bars(stage: StepSystem, system: System, bars: Bars, wanted: str) -> StepSystem:
    """A stage like this one, whose bars have other laws."""
    system = in_step(system, stage.environment, bars)
    equations, free = stage.equations, stage.nodes.dof_kind
    choice = choice_of(system, bars, free, equations, stage.scheme, stage.is_symmetric, wanted)
    work, rule = scratch(system, bars, choice), (stage.scheme, stage.coefficients, stage.limits)
    made = stage.nodes, equations, stage.loads, *rule, choice, work, stage.is_symmetric, stage.recorded
    return StepSystem(system, stage.environment, bars, *made)


FLOOR = 16.0 * np.finfo(float).eps
"""Of the largest E A: residuals below it are round-off."""


def limits_of(controls: Controls, bars: Bars, families: Groups = None) -> Floats:
    """Limits tested by the march; a criterion not in use is negative."""
    largest = float((bars.constants[bar.AREA] * bars.constants[bar.YOUNG]).max(initial=0.0))
    largest = max([largest, *(family.size(own) for family, own in acting(families))])

    def given(value: float | None) -> float:
        return -1.0 if value is None else value

    limits = np.zeros(len(LIMIT))
    to_floor = controls.residual_relative is None and controls.residual_absolute is None
    limits[LIMIT.to_floor] = to_floor
    limits[LIMIT.relative] = NEAR_FLOOR if to_floor else given(controls.residual_relative)
    limits[LIMIT.absolute] = given(controls.residual_absolute)
    limits[LIMIT.correction] = given(controls.correction_relative)
    limits[LIMIT.iterations] = controls.max_iterations
    limits[LIMIT.floor] = FLOOR * largest
    limits[LIMIT.drift_fraction] = given(controls.energy_drift)
    return limits


def scratch(system: System, bars: Bars, choice: Choice) -> Scratch:
    size, count = system.size, len(system.labels)
    is_checked = len(bars.rods) > 0 or choice.solver == BORDER
    shapes: dict[str, int | tuple[int, int]] = {
        "flow": size if system.has_flow else 0,
        "state": len(system.state),
        "power": BOOKS * (system.families is not None),
        "mass_before": (len(system.directed_mass), 9),
        "block": (count, 9),
        "inverse": (count if choice.solver in (*CHAINS, CG, BICGSTAB) else 0, JOINED if len(choice.tree.pair) else 9),
        "krylov": (6, size if choice.solver in (CG, BICGSTAB) else 0),
        "band": (choice.rows, 3 * choice.width + 1),
        "blocks": (choice.plan.blocks, 9),
        "unknowns": choice.rows,
        "multiplier": len(bars.nodes),
        "tau": len(bars.nodes),
        "pinned": (count if len(bars.rods) else 0, PINNED),
        "kept": (count if is_checked else 0, 9),
        **dict.fromkeys(("right", "found", "size"), size if is_checked else 0),
        **dict.fromkeys(("gaps", "pulls"), len(bars.nodes) if is_checked else 0),
    }
    names = [name for name in Scratch._fields if name != "tangent"]
    arrays: dict[str, Any] = dict(zip(names, groups.rooms(*(shapes.get(name, size) for name in names)), strict=True))
    return Scratch(**arrays, tangent=no_tangent(system, bars))


def no_tangent(system: System, bars: Bars) -> Tangent:
    """An empty tangent of a model."""
    has_blocks = len(system.springs.dofs) > 0 or not system.is_passive
    block, cross = groups.room((len(system.labels) if has_blocks else 0, 9)), groups.room((len(system.pairs), 18))
    bar_tangent, off = groups.room((STORED, len(bars.nodes))), groups.room(len(bars.off_mass))
    return Tangent(bars.nodes, bar_tangent, off, block, system.pairs, cross)


def loading(
    stage: StepSystem, motion: Motion, time: Floats, exact_dt: Floats, moving: Ints | None = None,
    start: Floats | None = None,
) -> Loading:  # fmt: skip
    """Loads in the increments that end at ``time[1:]`` and begin at ``time[0]``. moving: supports that move; None:
    those that have not arrived. start: their velocities after ``time[:-1]``, if known"""
    supports, factors = stage.environment.supports, stage.loads.factors(time)
    moving = supports.moving(motion.u) if moving is None else moving
    moves = support_motion(stage, supports, moving, time, exact_dt, start)
    thermal = thermal_rows(stage.system, stage.environment, time)
    loads = stage.loads.vectors, stage.loads.is_gravity, weighted(stage, factors), factors
    return Loading(exact_dt, time, *loads, moving, *moves, thermal, thermal_mean(stage, thermal))


def support_motion(
    stage: StepSystem, supports: Supports, dofs: Ints, time: Floats, dt: Floats, start: Floats | None = None
) -> Moves:
    """(k, c) u, v, a at the ends of increments, v after their starts (``start``, if known); for secant schemes a is the
    mean of the increment."""
    u, v, a = supports.motion(dofs, time[1:])
    start = supports.velocity_after(dofs, time[:-1]) if start is None else start
    if not stage.is_dynamic:
        v[:], a[:], start[:] = 0.0, 0.0, 0.0
    return u, v, (v - start) / dt[:, None] if stage.scheme.secant else a, start


def weighted(stage: StepSystem, factors: Floats) -> Floats:
    """(k, p) factors of loads in the equilibrium of the increments, from those at their ends (k + 1, p)."""
    late = stage.coefficients.wc
    return np.asarray(late * factors[1:] + (1.0 - late) * factors[:-1])


def thermal_mean(stage: StepSystem, thermal: Floats) -> Floats:
    """(1 or k, m) thermal strain in the equilibrium of the increments, from that at their ends."""
    if len(thermal) == 1:
        return thermal
    return 0.5 * (thermal[:-1] + thermal[1:]) if stage.scheme.secant else thermal[1:]


def loading_at(stage: StepSystem, motion: Motion, now: float) -> Loading:
    """Loads at one instant, as an increment that starts and ends there."""
    return loading(stage, motion, np.array([now, now]), np.ones(1))


def record(stage: StepSystem, count: int, nodes: Ints, elements: Ints) -> Ledger:
    """Empty record of ``count`` increments."""
    known = stage.recorded
    if not (known and known[0] is nodes and known[1] is elements):
        known = stage.recorded = (nodes, elements, *_recorded(stage, nodes, elements))
    _, _, count_of, width, family, touching, watched, allowed = known
    increments, kinematics, values = groups.rooms(
        (count, len(ROW)), (count, count_of, len(nodes), 3), (count, len(elements), width)
    )
    shown = np.array([stage.system.shown])
    return Ledger(increments, nodes, kinematics, family, values, touching, watched, allowed, shown)


def _recorded(stage: StepSystem, nodes: Ints, elements: Ints) -> tuple[Any, ...]:
    """Quantities of nodes and elements; family and index of the elements; contacts at nodes; elements with ranges."""
    touching = stage.system.touching
    contacts, twists = (bool(np.any(touching[:, 1] == quantity)) for quantity in (CONTACT, BENDING))
    count_of = recorded_rows(contacts, bool(stage.environment.nodal), len(stage.equations.slave) > 0, twists)
    if len(touching):
        place, of_element = (np.full(len(each), -1) for each in (stage.system.labels, stage.system.family))
        place[nodes], of_element[elements] = np.arange(len(nodes)), np.arange(len(elements))
        of_bars = touching[:, 1] == PULLED
        places = of_element[touching[:, 0] * of_bars], place[touching[:, 0] * ~of_bars]
        touching = np.column_stack([np.where(of_bars, *places), touching[:, 1:]])
        touching = touching[touching[:, 0] >= 0]
    width = recorded_values(stage.system.model)
    family = stage.system.family
    chosen = family if len(elements) == len(family) else family[elements]
    return count_of, width, chosen, touching, *ranges_of(stage.bars, stage.system.springs)


MOST_REFUSALS = 3
"""Number of linear systems that the iterative solver may fail to solve in a step before the direct solver is used."""
MANY_PRODUCTS = 120
"""Iterations of conjugate gradients per solve of a chunk beyond which kept factors are cheaper: on nets of 100 x 100 to
300 x 300 a back-substitution costs 15 to 18 of them, and a solve with its part of factorisations 6 or 7 of those."""


class Patience:
    """Decides when a step stops using its iterative solver. notify: receives a notice."""

    changing = ("refusals",)

    def __init__(self, notify: Say) -> None:
        self.notify, self.refusals = notify, 0

    def note_refusal(self, stage: StepSystem) -> None:
        """Notes that the iterative solver failed (indefinite or ill-conditioned system): after a few, it is not used
        any more."""
        self.refusals += 1
        if self.refusals >= MOST_REFUSALS:
            self._stop(stage, "gave up on indefinite or stiff systems")

    def judge(self, stage: StepSystem, motion: Motion, increments: Floats) -> None:
        """Stops conjugate gradients with so many iterations that a direct solver with kept factors is faster.
        increments (k, ``ROW``) just computed"""
        memory = motion.memory
        if memory[MEMORY.spent] > 0.0:
            count, spent = float(increments[:, ROW.iterations].sum()), float(memory[MEMORY.spent])
            if spent > MANY_PRODUCTS * count:
                self._stop(stage, f"need {spent / count:.0f} iterations a solve")
            memory[MEMORY.spent] = 0.0

    def _stop(self, stage: StepSystem, reason: str) -> None:
        """Uses the direct solver for the rest of the step."""
        choice = stage.choice
        if choice.solver in (CG, BICGSTAB):
            stage.choice = replace(choice, solver=EXTERNAL)
            name = linear.NAMES[choice.solver]
            self.notify(f"{name} {reason}: a direct solver is used from here on ({choice.remark})")
