"""An explicit step in the increment loop: what is refused, when energy balances are closed, the critical increment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import condense, expand
from fem.assembly.system import SPRING_FAMILY
from fem.compiled import inner_kernel, kernel
from fem.errors import ModelError
from fem.forces.bar import ALPHA, AREA, GEOMETRIC, MINUS, PLUS, P, Q
from fem.forces.families import as_stiff_as_they_get, massive_ones, trouble_of
from fem.forces.springs import spring_slopes
from fem.linear.choice import BAND_WORK, narrow_order
from fem.linear.products import multiply
from fem.model import Dynamic
from fem.model.steps import MOST_INCREMENTS
from fem.solve.clock import BALANCES
from fem.solve.explicit.blocks import BlockThreads, blocks_of, fraction_of, square_of_node
from fem.solve.explicit.leapfrog import BEFORE, STIFFENED, UNTIED, WATCH, Moved, Ties, leapfrog
from fem.solve.newton.evaluate import evaluate_instant
from fem.solve.newton.groups import CONTROL, NOT_FINITE, Ledger, Loading, Motion, Nodes, Problem, Scratch
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.schemes import Coefficients, equilibrium
from fem.solve.state import Marcher, StepState
from fem.solve.step_system import StepSystem

SAFE = 0.9
"""Fraction of the critical increment that a blank increment becomes."""


class Explicit(Marcher):
    """The explicit march of one step. ``taut``: ``as_stiff_as_can_be``; ``moved``: as in ``leapfrog``."""

    def __init__(self, stage: StepSystem) -> None:
        self.stage = stage
        self.taut = as_stiff_as_can_be(stage.problem)
        self.moved = _moved(stage)
        self.ties = tie(stage, self.moved.inverse)
        self.is_dissipative = bool(len(stage.nodes.damping) or len(stage.work.flow))
        blocks = blocks_of(stage)
        self.team = BlockThreads(blocks, self.moved.inverse, stage) if blocks else None

    def choose(self, procedure: Dynamic, motion: Motion, thermal: Floats, time: float) -> Dynamic:
        """The procedure with its increment: a blank one (0) becomes ``SAFE`` of the critical one.
        ModelError for an increment above the critical one, and for a period that would have too many blank ones."""
        if procedure.dt > 0.0 and not self._is_too_long(procedure.dt, motion, thermal, time):
            return procedure
        critical = critical_increment(self.stage, self.taut, self.moved, motion, thermal, time)
        if procedure.dt == 0.0 and not np.isfinite(critical.dt):
            raise ModelError("nothing stiff limits the increment of this EXPLICIT step: specify it on the data line")
        if procedure.dt > 0.0:
            raise ModelError(
                f"the increment {procedure.dt:.6g} of an EXPLICIT step exceeds the critical one, {critical.dt:.6g}, "
                f"set by {stiffest_at(self.stage, critical.node)}: take {SAFE * critical.dt:.3g} or less (the default, "
                "if it is blank), make that element longer, softer or its nodes heavier, or remove EXPLICIT"
            )
        if not procedure.period <= MOST_INCREMENTS * SAFE * critical.dt:
            raise ModelError(
                f"this EXPLICIT step would have more than {MOST_INCREMENTS:g} increments: its period is "
                f"{procedure.period:g}, the critical increment {critical.dt:.3g}, set by "
                f"{stiffest_at(self.stage, critical.node)}; make the period shorter, that element longer, softer or "
                "its nodes heavier, or remove EXPLICIT"
            )
        return replace(procedure, dt=min(SAFE * critical.dt, procedure.period))

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError: a free dof has no mass. Free dofs without any force (``held``) stay at rest."""
        massless = (self.stage.nodes.dof_kind == 1) & (self.moved.inverse == 0.0)
        massless[held] = False
        if np.any(massless):
            name = self.stage.system.name_dof(int(np.flatnonzero(massless)[0]))
            raise ModelError(
                f"{name} is free and has no mass, which EXPLICIT divides by: give it mass (*DENSITY, *MASS), hold it "
                "with *BOUNDARY, or remove EXPLICIT"
            )

    def length(self, count: int, increment: int) -> int:
        """Number of increments of a chunk, up to the next one whose balance is closed."""
        return count + BALANCES - (increment + count) % BALANCES

    def due(self, step: StepState, chunk: Loading) -> Flags:
        """(k,) increments whose energy balance is closed: all of them if work depends on the path in between."""
        factors, time, done = chunk.factors, chunk.time, step.progress.increment
        is_free = not (self.is_dissipative or len(chunk.support_dofs) or len(chunk.thermal_end) > 1)
        asks = step.whole.requests.record_all or step.system.model.failures
        if asks or not is_free or np.any(factors[1:] != factors[:-1]):
            self.closed: Flags = np.ones(len(chunk.dt), np.bool_)
            return self.closed
        increments = done + np.arange(1, len(time))
        wanted = step.schedule.rows_due(increments, time[1:], bool(time[-1] >= step.clock.end))
        self.closed = wanted | (increments % BALANCES == 0)
        self.closed[-1] = True  # the motion is returned there
        return self.closed

    def march(self, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> int:
        """Calls the march until the chunk ends, or until the increment exceeds the critical one (STIFFENED)."""
        stage, motion = self.stage, step.progress.motion
        control[BEFORE] = step.progress.increment
        through = stage.passage(chunk, motion, kept)
        if self.team:
            go_on = partial(self.team.march, control, self.closed, through)
        else:
            go_on = partial(leapfrog, control, self.closed.astype(np.int64), self.moved, self.ties, through)
        while (reason := go_on()) == WATCH:
            done = int(control[CONTROL.increment])
            thermal = chunk.thermal_end[min(done, len(chunk.thermal_end) - 1)]
            if self._is_too_long(float(chunk.dt[done - 1]), motion, thermal, float(chunk.time[done])):
                return STIFFENED
        return int(reason)

    def _is_too_long(self, dt: float, motion: Motion, thermal: Floats, time: float) -> bool:
        """Whether dt exceeds the critical increment; first by the bound, which is cheap and safe."""
        at = self.stage, self.taut, self.moved, motion, thermal, time
        square = self.team.largest_square(motion.u) if self.team else bound_of(*at, dt)[0]
        return dt**2 * square > 4.0 and dt > critical_increment(*at).dt

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        trouble = trouble_of(self.stage.system, self.stage.work.u, self.stage.work.state)
        if trouble and reason == NOT_FINITE:
            where = f"step {step.number} stopped after t = {step.progress.time:.9g}"
            return f"{where}: {trouble} Everything computed so far is written"
        if reason == UNTIED:
            what = f"lengths of rods cannot be kept with the increment {dt:.6g}, or their constraints depend on "
            what += "each other."
        elif reason != STIFFENED:
            what = "the motion is no longer finite (overflow)."
        else:
            now, known = step.progress, (self.stage, self.taut, self.moved)
            critical = critical_increment(*known, now.motion, step.thermal, now.time)
            what = (
                f"the structure has become stiffer, the increment {dt:.6g} exceeds what is now the critical one, "
                f"{critical.dt:.6g}, set by {stiffest_at(self.stage, critical.node)}."
            )
        return (
            f"step {step.number} stopped at t = {step.progress.time:.9g}: {what} Use smaller increments. Everything "
            "computed so far is written"
        )


def _moved(stage: StepSystem) -> Moved:
    """Mass and damping that move with each free dof. ModelError: they are not diagonal."""
    if len(stage.bars.off_mass) or len(stage.nodes.mass_pairs):
        if stage.system.model.free_bodies:
            raise ModelError("EXPLICIT does not support free bodies (ROTARYI), which couple the masses of their points")
        coupling = np.flatnonzero(stage.bars.off_mass) if len(stage.bars.off_mass) else np.zeros(1, np.int64)
        name = stage.system.name_bar(int(coupling[0]))
        raise ModelError(
            f"{name} couples the masses of its nodes, which EXPLICIT does not support: use MASS=LUMPED in its section"
        )
    if len(stage.nodes.directed_mass) and (len(stage.bars.rods) or len(stage.equations.slave)):
        names = " and ".join(massive_ones(stage.system.families))
        raise ModelError(
            f"the mass of {names} depends on direction; EXPLICIT supports that only without rods and *EQUATION: remove "
            "EXPLICIT"
        )
    equations, free = stage.equations, stage.nodes.dof_kind
    mass = np.where(free == 1, stage.nodes.mass, 0.0)
    damping = np.where(free == 1, stage.nodes.damping, 0.0) if len(stage.nodes.damping) else stage.nodes.damping
    for k, slave in enumerate(equations.slave):
        parts = np.arange(equations.start[k], equations.start[k + 1])
        parts = parts[free[equations.master[parts]] == 1]
        if len(parts) > 1:
            names = " and ".join(stage.system.name_dof(int(dof)) for dof in equations.master[parts[:2]])
            raise ModelError(
                f"an *EQUATION makes {stage.system.name_dof(int(slave))} depend on {names}, which couples their "
                "masses; EXPLICIT supports one free dof per dependent one: remove EXPLICIT"
            )
        for part in parts:
            fraction = equations.factor[part] ** 2
            mass[equations.master[part]] += fraction * stage.nodes.mass[slave]
            if len(damping):
                damping[equations.master[part]] += fraction * stage.nodes.damping[slave]
    return Moved(np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0), damping)


# The rods of an explicit step: their common nodes, the order of elimination, work arrays.
def tie(stage: StepSystem, inverse: Floats) -> Ties:
    """Arrays of the rods for ``leapfrog``. ``inverse`` (3n,): inverse of the mass that moves with each dof.
    ModelError where a rod ends at a dependent dof, or where rods form nets too wide to be solved in every increment."""
    _refuse_dependent_ends(stage)
    ends = stage.bars.nodes[stage.bars.rods]
    pairs, corners = _meetings(ends)
    place = _order(pairs, len(ends))
    rows = place[pairs]
    lower = rows[:, 0] >= rows[:, 1]
    meetings = np.column_stack([rows, pairs])[lower]
    width = int((meetings[:, 0] - meetings[:, 1]).max(initial=0))
    if len(ends) * float(width) ** 2 > BAND_WORK:
        raise ModelError(
            f"{len(ends)} rods form a net (half bandwidth {width}) that EXPLICIT cannot solve in every increment: make "
            "some of them elastic, or remove EXPLICIT"
        )
    count = len(ends)
    rooms = np.zeros((3, count)), np.zeros(count), np.zeros((count, width + 1)), np.zeros(count)
    return Ties(stage.bars.rods, inverse, place, meetings, corners[lower], *rooms)


def _meetings(ends: Ints) -> tuple[Ints, Ints]:
    """Pairs of rods (each with itself, too) that share a node, in both orders; the node, and the sign of the entry:
    the product of the signs of both rods, + at a second node, - at a first."""
    at: dict[int, list[tuple[int, int]]] = {}
    for rod, (i, j) in enumerate(ends.tolist()):
        at.setdefault(i, []).append((rod, -1))
        at.setdefault(j, []).append((rod, 1))
    rows = [
        (one, other, node, sign * factor)
        for node, there in at.items()
        for one, sign in there
        for other, factor in there
    ]
    table = np.array(rows, np.int64).reshape(-1, 4)
    return np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:])


def _order(pairs: Ints, count: int) -> Ints:
    """Row of each rod in a narrow band."""
    if np.all(np.abs(pairs[:, 0] - pairs[:, 1]) <= 1):  # a chain, numbered along itself
        return np.arange(count)
    place = np.empty(count, np.int64)
    place[narrow_order(pairs, count)] = np.arange(count)
    return place


def _refuse_dependent_ends(stage: StepSystem) -> None:
    """ModelError where an *EQUATION moves an end of a rod."""
    ends = (3 * stage.bars.nodes[stage.bars.rods][:, :, None] + np.arange(3)).reshape(-1, 6)
    wrong = np.isin(ends, stage.equations.slave)
    if np.any(wrong):
        rod, at = np.argwhere(wrong)[0]
        raise ModelError(
            f"{stage.system.name_bar(int(stage.bars.rods[rod]))} is inextensible and ends at "
            f"{stage.system.name_dof(int(ends[rod, at]))}, which depends on others through an *EQUATION; EXPLICIT "
            "supports rods between independent dofs: remove EXPLICIT"
        )


# The critical increment: which one would make the motion unstable, and which element sets it. Two figures bracket
# omega_max: a bound from above and Lanczos' iteration from below. An increment within the bound is safe and nothing
# more is computed; beyond it, the sharp figure of Lanczos decides.

FAR = 1e200
"""An increment so long that the viscous stiffness 4/dt C is negligible."""
LANCZOS = 80
SETTLED = 1e-7
"""The iteration ends when omega^2 grows by less than this fraction in five steps."""
ROUNDS = 20


@dataclass(frozen=True, slots=True)
class CriticalIncrement:
    """The critical increment ``dt`` (infinite: no limit), and the node where the fastest mode is largest."""

    dt: float
    node: int


def as_stiff_as_can_be(problem: Problem) -> Problem:
    """The problem with all slack bars taut, because they may become so at any time."""
    constants = problem.bars.constants
    if (constants[PLUS] == constants[MINUS]).all():
        return problem
    constants = constants.copy()
    constants[PLUS] = constants[MINUS] = np.maximum(constants[PLUS], constants[MINUS])
    return problem._replace(bars=problem.bars._replace(constants=constants))


def bound_of(
    stage: StepSystem, taut: Problem, moved: Moved, motion: Motion, thermal: Floats, time: float, dt: float
) -> tuple[float, int]:
    """Upper bound of omega^2 at a time, damping for this dt included, and its node.
    The tangent is left in ``stage.work``."""
    if taut.families is not None:
        taut = taut._replace(families=as_stiff_as_they_get(taut.families, taut.nodes.place, motion.u, dt))
    square, node = largest_square(stage.coefficients, dt, time, thermal, moved.inverse, taut, motion, stage.work)
    return float(square), int(node)


def critical_increment(
    stage: StepSystem, taut: Problem, moved: Moved, motion: Motion, thermal: Floats, time: float
) -> CriticalIncrement:
    """dt with dt^2 omega^2 = 4 for the largest omega^2 = a + b/dt of K + 4/dt C'; a: undamped, b: effect of damping."""
    _, node = bound_of(stage, taut, moved, motion, thermal, time, FAR)
    stiff = fastest_square(stage, moved, node)
    dt = 2.0 / np.sqrt(stiff) if stiff > 0.0 else np.inf
    is_viscous = len(motion.flow) > 0
    for _ in range(ROUNDS if is_viscous else 0):
        before = dt
        _, node = bound_of(stage, taut, moved, motion, thermal, time, min(before, FAR))
        damped = fastest_square(stage, moved, node)
        slope = max(damped - stiff, 0.0) * min(before, FAR)
        if slope + stiff > 0.0:
            dt = 8.0 / (slope + np.sqrt(slope**2 + 16.0 * stiff))
        if abs(dt - before) <= 1e-9 * before:
            break
    return CriticalIncrement(float(dt), node)


def fastest_square(stage: StepSystem, moved: Moved, node: int) -> float:
    """Largest omega^2 of the tangent in ``stage.work``, from below, by Lanczos' iteration on M^-1/2 K M^-1/2.
    It starts from a random vector, with the largest entries at ``node``."""
    work, equations = stage.work, stage.equations
    problem = stage.problem._replace(nodes=stage.nodes._replace(artificial_stiffness=np.zeros((0, 9))))
    nodal_blocks(equilibrium().coefficients, 1.0, problem, work)
    scale = np.sqrt(moved.inverse)
    moving = np.flatnonzero(scale > 0.0)
    if len(moving) == 0:
        return 0.0
    vector = np.random.default_rng(1).standard_normal(len(scale)) * (scale > 0.0)
    vector[3 * node : 3 * node + 3] *= np.sqrt(len(moving))
    vector /= np.linalg.norm(vector)
    previous, size = np.zeros_like(vector), 0.0
    diagonal: list[float] = []
    off: list[float] = []
    squares: list[float] = []
    everywhere, x, product = np.ones_like(vector), np.empty_like(vector), np.empty_like(vector)
    tangent = work.tangent._replace(off=np.zeros(0))
    for _ in range(min(LANCZOS, len(moving))):
        x[:] = scale * vector
        expand(equations, x)
        multiply(tangent, work.block, everywhere, x, product)
        condense(equations, product)
        image = scale * product - size * previous
        diagonal.append(float(vector @ image))
        image -= diagonal[-1] * vector
        matrix = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
        squares.append(float(np.linalg.eigvalsh(matrix)[-1]))
        size = float(np.linalg.norm(image))
        if size <= 1e-12 * abs(squares[-1]) or (len(squares) > 5 and squares[-1] - squares[-6] < SETTLED * squares[-1]):
            break
        off.append(size)
        previous, vector = vector, image / size
    return squares[-1]


def stiffest_at(stage: StepSystem, node: int) -> str:
    """Name and material of the stiffest bar or spring at a node; its tangent is in ``stage.work``.
    If there is none, or a family is stiffer: name of the load on the node."""
    system, bar_tangent = stage.system, stage.work.tangent.bar_tangent
    stiffness = np.abs(bar_tangent[ALPHA]) * (bar_tangent[P : P + 3] ** 2).sum(axis=0) + np.abs(bar_tangent[GEOMETRIC])
    stiffness = np.where((stage.bars.nodes == node).any(axis=1), stiffness, -1.0)
    springs = np.abs(spring_slopes(stage.work.u, system.springs))
    springs = np.where((system.springs.dofs // 3 == node).any(axis=1), springs, -1.0)
    most = max(stiffness.max(initial=-1.0), springs.max(initial=-1.0))
    mine = system.bar_index == (int(stiffness.argmax()) if len(stiffness) else 0)
    if most < 0.0 or (not stage.problem.is_passive and np.abs(stage.work.tangent.block[node]).max(initial=0.0) > most):
        return f"the forces on node {system.labels[node]}"
    if springs.max(initial=-1.0) > stiffness.max(initial=-1.0):
        mine = (system.family[:, 0] == SPRING_FAMILY) & (system.family[:, 1] == int(springs.argmax()))
    element = int(np.flatnonzero(mine)[0])
    name = f"element {system.element_labels[element]}"
    for section in reversed(system.model.sections):
        if np.any(system.model.mesh.element_sets[section.element_set] == element):
            area = system.bars.constants[AREA, system.bar_index[element]]
            return f"{name} (material {section.material}, section of {section.element_set}, area {area:.6g})"
    return name


@inner_kernel
def add_rows(nodes: Nodes, work: Scratch) -> None:
    """Adds all but bars to the diagonal: for each row the sum of its magnitudes, over dofs that can move."""
    within, pairs, cross, free = work.tangent.block, work.tangent.pairs, work.tangent.cross, nodes.dof_kind
    for i in range(within.shape[0]):
        for a in range(3):
            for c in range(3):
                if a == c or free[3 * i + c] != 0:
                    work.block[i, 4 * a] += 0.5 * abs(within[i, 3 * a + c] + within[i, 3 * c + a])
    for p in range(pairs.shape[0]):
        for m in range(2):
            i, j = pairs[p, m], pairs[p, 1 - m]
            for a in range(3):
                for c in range(3):
                    if free[3 * j + c] != 0:
                        coupling = cross[p, 9 * m + 3 * a + c] + cross[p, 9 * (1 - m) + 3 * c + a]
                        work.block[i, 4 * a] += 0.5 * abs(coupling)


# An upper bound of the largest eigenvalue of M^-1 K, node by node, in one sweep over the bars:
#
# For a bar with the stiffness block B >= 0 between nodes i and j,
# (d_i - d_j).B (d_i - d_j) <= 2 d_i.B d_i + 2 d_j.B d_j, and it is d_i.B d_i where j is held. So K is at most a matrix
# of 3 x 3 blocks, one per node; the largest eigenvalue of m_i^-1 times these bounds omega^2; for long chains and nets
# of equal bars it is the exact one. Parts of B that are negative (compression) count by their size.
# Source: the element eigenvalue theorem of Irons, with blocks of nodes in place of elements; Belytschko et al. 1985.
@inner_kernel
def gather_blocks(problem: Problem, work: Scratch) -> None:
    """Writes the 3 x 3 blocks of the bound into ``work.block``; blocks of dependent dofs are added to their masters."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    block, bar_tangent = work.block, work.tangent.bar_tangent
    for i in range(block.shape[0]):
        for k in range(9):
            block[i, k] = 0.0
    for e in range(bars.nodes.shape[0]):
        first, second = bars.nodes[e, 0], bars.nodes[e, 1]
        across = abs(bar_tangent[GEOMETRIC, e])
        for end in range(2):
            i, j = (first, second) if end == 0 else (second, first)
            fraction = fraction_of(3 * j, nodes)
            for a in range(3):
                for c in range(3):
                    along = 0.5 * (
                        bar_tangent[P + a, e] * bar_tangent[Q + c, e] + bar_tangent[P + c, e] * bar_tangent[Q + a, e]
                    )
                    block[i, 3 * a + c] += fraction * abs(bar_tangent[ALPHA, e]) * along
                block[i, 4 * a] += fraction * across
    add_rows(problem.nodes, work)
    for k in range(equations.slave.shape[0]):
        i, a = equations.slave[k] // 3, equations.slave[k] % 3
        row = abs(block[i, 3 * a]) + abs(block[i, 3 * a + 1]) + abs(block[i, 3 * a + 2])
        for m in range(equations.start[k], equations.start[k + 1]):
            master = equations.master[m]
            block[master // 3, 4 * (master % 3)] += equations.factor[m] ** 2 * row


@kernel
def largest_square(
    scheme: Coefficients, dt: float, time: float, thermal: Floats, inverse: Floats, problem: Problem, motion: Motion,
    work: Scratch,
) -> tuple[float, int]:  # fmt: skip
    """Bound of omega^2 of K + 4/dt C' at ``motion``, and the node that sets it. Overwrites the trial velocity.
    inverse (3n,)  of the mass that moves with each free dof, 0 at others"""
    bars = problem.bars
    for dof in range(work.u.shape[0]):
        work.u[dof], work.v[dof] = motion.u[dof], 0.0
    for r in range(bars.rods.shape[0]):
        work.multiplier[bars.rods[r]] = motion.multiplier[bars.rods[r]]
    evaluate_instant(scheme, dt, time, thermal, problem, motion, work)
    for r in range(bars.rods.shape[0]):  # constraints lower frequencies, so only the tension of rods counts
        work.tangent.bar_tangent[ALPHA, bars.rods[r]] = 0.0
    gather_blocks(problem, work)
    block, largest, worst = work.block, 0.0, 0
    for i in range(block.shape[0]):
        xx, yy, zz = block[i, 0], block[i, 4], block[i, 8]
        square = square_of_node(i, inverse, xx, yy, zz, block[i, 1], block[i, 2], block[i, 5])
        if square > largest or square != square:
            largest, worst = square, i
    return largest, worst
