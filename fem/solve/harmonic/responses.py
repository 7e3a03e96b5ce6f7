"""The harmonic motions of a ``*STEADY STATE DYNAMICS`` step: loads, answers, superposed modes, printed values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Complexes, Floats, Ints, Say, Sparse
from fem.assembly.cases import Span, follow
from fem.assembly.environment import Environment, LoadSet, load_set, next_environment
from fem.assembly.equations import expand
from fem.assembly.supports import dofs_of, value_of
from fem.assembly.system import BAR_FAMILY, SPRING_FAMILY, System
from fem.errors import ModelError
from fem.forces.bar import AREA, CONJUGATE, INV_LENGTH, MINUS, PLUS, PULL, P, bar_point, rows_of, senses
from fem.forces.families import FAMILIES, FIRST
from fem.forces.laws import GREEN, LEG, LINEAR, LOG
from fem.forces.springs import DAMPING, spring_slopes
from fem.forces.twist import TWIST, pulls
from fem.linear.factors import equilibrated
from fem.model import SteadyState, Step
from fem.model.curves import evaluate
from fem.runs.record import Response
from fem.solve.frequencies import Found, modes_of
from fem.solve.harmonic.small import Small, small_motions
from fem.solve.newton.groups import Motion
from fem.solve.outcome import gather_reactions
from fem.solve.step_system import StepSystem, loading_at
from fem.solve.stiffness import entries, largest

# At one frequency u(t) = Re(u e^(i w t)), confirmed by its residual.
#
#     K u + F_1(u) + i w C u - w^2 M u + G^T tau = f,    G u = 0
#
# F_1 is the first harmonic of forces that depend on velocities (``small.py``). Newton's iterations use the mean
# d(force)/dv of the cycle. It neglects the part of dF_1 with twice the frequency, so for drag each iteration leaves a
# third of the error (the derivative is 16/(3 pi) in phase and 8/(3 pi) a quarter of a period off, the mean 12/(3 pi)).

MOST = 60
"""Largest number of solves at one frequency."""
CHANGE = 1e-6
"""Largest change in the last solve, as a fraction of the largest displacement."""
SETTLING = 1e-2
"""Change below which matrices stay while an answer settles to round-off: each solve leaves a third of it anyway."""


class Amplitudes(NamedTuple):
    """Amplitudes: unknowns x (k,), u (3n,), tau (r,) of rods, velocity-dependent N/L0 (m,), residual forces (3n,).

    left        residual forces: at supports their reactions
    iterations  solves;  change: of the last solve over the largest displacement;  residual: largest residual force
    over the largest force
    """

    x: Complexes
    u: Complexes
    tau: Complexes
    pull: Complexes
    left: Complexes
    iterations: int
    change: float
    residual: float


def answer_at(
    small: Small, omega: float, load: Complexes, given: Complexes, start: Complexes, settles: bool = False
) -> Amplitudes:
    """The response to a load (3n,) and support motion ``given`` (3n,); ``start`` (k,): initial guess.
    given: includes the dofs that equations make dependent on those of supports
    settles  solve until changes do not fall any more"""
    shapes = small.shapes
    x, tau, change, used = start.copy(), np.zeros(small.rods.shape[0], complex), np.inf, 0
    solve: Callable[[Complexes], Complexes] | None = None
    for _ in range(MOST):
        u = given + shapes @ x
        balance, _ = forces_left(small, omega, load, u, x, tau)
        if solve is None or (small.follows and not (settles and change < SETTLING)):
            solve = factorised(small, omega)
            if solve is None:
                break
        with np.errstate(all="ignore"):
            step = solve(np.concatenate([shapes.T @ balance, -(small.rods @ u)]))
        if not np.isfinite(step).all():
            break
        used += 1
        x, tau = x + step[: len(x)], tau + step[len(x) :]
        before, change = change, largest(shapes @ step[: len(x)]) / (largest(given + shapes @ x) or 1.0)
        if change <= CHANGE and not (settles and change < before):
            break
    u = given + shapes @ x
    balance, size = forces_left(small, omega, load, u, x, tau)
    residual = largest(small.transform.T @ balance) / (size or 1.0)
    cycle = small.cycle
    pull = np.asarray(cycle.pull_cosine - 1j * cycle.pull_sine)
    return Amplitudes(x, u, tau, pull, balance, used, change, residual)


def forces_left(
    small: Small, omega: float, load: Complexes, u: Complexes, x: Complexes, tau: Complexes
) -> tuple[Complexes, float]:
    """(3n,) residual forces, and the size of the largest force in the equation."""
    flow = small.following(omega, u)
    inertia = -(omega**2) * (small.mass @ u) + 1j * omega * (small.slowing @ u + small.resisting @ x)
    parts = small.stiffness.times(u), flow, inertia, small.rods.T @ tau
    return load - sum(parts), max(map(largest, (load, *parts)))


def factorised(small: Small, omega: float) -> Callable[[Complexes], Complexes] | None:
    """A function that solves with the matrix of the equations above, after a cycle; None if it is singular."""
    from scipy.sparse import block_array, csc_array
    from scipy.sparse.linalg import splu

    values = entries(small.stiffness.tangent) + 1j * omega * small.damping(omega)
    whole = small.matrix(values) + 1j * omega * small.slowing - omega**2 * small.mass
    matrix: Sparse = csc_array(small.shapes.T @ (whole @ small.shapes + 1j * omega * small.resisting))
    if small.rods.shape[0]:
        gradients = small.rods @ small.shapes
        matrix = block_array([[matrix, gradients.T], [gradients, None]]).tocsc()
    if (scaled := equilibrated(matrix)) is None:
        return None
    matrix, scale = scaled
    try:
        solve = splu(matrix).solve
    except RuntimeError:  # exactly singular
        return None
    return lambda right: np.asarray(scale * solve(scale * right))


ALWAYS = Span(0.0, 0.0, ramps=False)
"""Amplitudes are functions of the frequency, which takes the place of time."""


@dataclass(frozen=True, slots=True)
class PhasedLoads:
    """Loads, real and imaginary (a quarter of a period ahead); prescribed support motions; u (3n,) of the state."""

    system: System
    loads: tuple[LoadSet, LoadSet]
    step: Step
    environment: Environment
    u: Floats
    time: float

    def load(self, frequency: float) -> Complexes:
        """(3n,) amplitudes of nodal forces."""
        real, imaginary = (each.factors(np.array([frequency]))[0] @ each.vectors for each in self.loads)
        return np.asarray(real + 1j * imaginary)

    def given(self, frequency: float) -> Complexes:
        """(3n,) amplitudes of supported dofs; those of the nodes of rigid bodies to first order."""
        supports, system = self.environment.supports, self.system
        found = np.zeros(len(supports.group), complex)
        for entry in (each for each in (*self.step.boundaries, *self.step.rotations) if each.value):
            value: Any = value_of(system, entry)
            if entry.amplitude is not None:
                value = value * evaluate(follow(system.model, entry.amplitude, ALWAYS), np.array([frequency]))[0]
            part = found.imag if entry.is_imaginary else found.real
            part[dofs_of(system, entry)] = value
        place, _ = supports.with_rotations(self.u, np.zeros_like(self.u), self.time)
        for body in system.bodies:
            ways = np.zeros((3, 2, 6))
            ways[0], ways[1] = place[body.driven], (found.real[body.driven], found.imag[body.driven])
            found[body.dofs] = [1.0, 1j] @ body.moved(ways, np.zeros(2))[1]
        return found[: system.size]


def acting_in(system: System, step: Step, environment: Environment, u: Floats, time: float) -> PhasedLoads:
    """Loads and support motions of a step; ``environment``: those of the static state."""
    nothing = Environment(environment.supports, initial_temperature=environment.initial_temperature)
    parts = []
    for late in (False, True):
        nodal = tuple(each for each in step.nodal_loads if each.is_imaginary == late)
        spread = tuple(each for each in step.distributed_loads if each.is_imaginary == late)
        part = replace(step, nodal_loads=nodal, distributed_loads=spread, boundaries=(), rotations=())
        still = np.zeros_like(u)
        parts.append(load_set(system, next_environment(system, nothing, part, ALWAYS, u, still, still)))
    return PhasedLoads(system, (parts[0], parts[1]), step, environment, u, time)


# Superposition of modes: small motions as u = u_s + sum of x_i phi_i, each mode with a damping of its own.
#
# u_s is the static response to supports and loads (K u_s = f), so that few modes are enough for the rest (static
# correction; Clough and Penzien, Dynamics of Structures, ch. 12 and 26). Modal damping acts on the motion relative to
# e, the static response to the supports: forces i w M phi_i 2 zeta_i w_i phi_i.M (u - e). Forces that depend on
# velocities act by their first harmonic, as with all dofs.

STATIC_BALANCED = 1e-8
"""Largest residual of a static response, as a fraction of the largest force."""
TURNS = 4
"""Largest number of refinements of a static response."""


@dataclass(frozen=True, slots=True)
class Superposition:
    """Modes (m) of n nodes: ``shapes`` (3n, m), ``held`` M phi, ``rates`` (m,) 2 zeta w [1/time]; ``whole``: all dofs.
    taken  (3n, m) left vectors that give the modal coordinates of a motion: M phi if K is symmetric
    solve  approximate solution of K u = f over the independent dofs
    settles  it is refined as often as it may be"""

    whole: Small
    shapes: Floats
    held: Floats
    taken: Floats
    rates: Floats
    solve: Callable[[Complexes], Complexes]
    settles: bool

    @property
    def small(self) -> Small:
        """The small motions with modal coordinates as unknowns."""
        return replace(self.whole, shapes=self.shapes, resisting=self.held * self.rates)

    def about(self, load: Complexes, given: Complexes, omega: float) -> tuple[Complexes, Complexes]:
        """The load (3n,) with the damping force of its static response, and the static displacements (3n,)."""
        carried = self.static(np.zeros_like(load), given)
        loaded = self.static(load, np.zeros_like(given))
        damped = 1j * omega * (self.held @ (self.rates * (self.taken.T @ loaded)))
        return load - damped, carried + loaded

    def static(self, load: Complexes, given: Complexes) -> Complexes:
        """(3n,) static displacements under a load with support displacements ``given``. ModelError: not found."""
        whole, u = self.whole, given.copy()
        for turn in range(TURNS):
            forces = whole.stiffness.times(u)
            left = whole.transform.T @ (load - forces)
            is_last = turn == TURNS - 1 or not self.settles
            if is_last and largest(left) <= STATIC_BALANCED * max(largest(load), largest(forces)):
                return u
            u += whole.transform @ self.solve(left)
        raise ModelError(f"*STEADY STATE DYNAMICS: no static answer within {TURNS} refinements; DIRECT needs none")


def superposed(whole: Small, found: Found, procedure: SteadyState, settles: bool = False) -> Superposition:
    """The superposition of modes of the same state. ModelError: there are rods, taut ropes, or loose dofs."""
    if whole.rods.shape[0]:
        raise ModelError("*STEADY STATE DYNAMICS: modes do not give the tensions of rods and taut ropes; use DIRECT")
    solve = factorised(whole, 0.0)
    if solve is None:
        what = "*STEADY STATE DYNAMICS: some motions have no stiffness, so there is no static answer; use DIRECT"
        raise ModelError(what)
    omega = np.zeros(procedure.modes)
    omega[found.number - 1] = found.omega.clip(min=0.0)
    shapes = np.asarray(whole.transform @ found.shapes)
    held = taken = whole.mass @ shapes
    if found.pencil.left is not None:  # its modes are not orthogonal
        taken = held @ np.linalg.inv(shapes.T @ held)
    return Superposition(whole, shapes, held, taken, procedure.damping_rates(omega)[found.number - 1], solve, settles)


class BarStates:
    """Properties of bars that do not depend on the frequency: tension, length and strain at the state."""

    def __init__(self, small: Small) -> None:
        stage, work = small.stage, small.stage.work
        bars, count = stage.bars, len(stage.bars.nodes)
        thermal, still = small.instant.thermal_end[0], np.zeros(stage.system.size)
        found = [bar_point(e, work.u, still, bars, thermal, work.multiplier) for e in range(count)]
        points = np.array(found, float).reshape(count, 6)
        self.stress, self.slope, stretch = points[:, 1], points[:, 3], points[:, 4]
        self.area, self.inverse = bars.constants[AREA], bars.constants[INV_LENGTH]
        self.lever = self.slope * stretch
        """T over A S."""
        self.tension = self.area * self.stress * self.lever
        self.sense = np.ones(count)
        self.sense[bars.rods] = senses(bars, bars.rods)
        self.way = self.sense[:, None] * small.stiffness.tangent.bar_tangent[P : P + 3].T
        self.length = np.sqrt((self.way**2).sum(axis=1))
        self.measure, self.conjugate = bars.kinds[:, 0], bars.constants[CONJUGATE]

    def values(self, small: Small, answer: Amplitudes) -> Complexes:
        """(m, 4) amplitudes of E, S, N, T."""
        longer = (self.way * (small.stiffness.incidence @ answer.u.reshape(-1, 3))).sum(axis=1) / self.length
        tension = (self.way * small.stiffness.bar_forces(answer.u)).sum(axis=1) / self.length
        tension += self.length * answer.pull
        longer[self.measure >= LEG] = 0.0  # ropes over pulleys, whose total length is constant
        rods = small.stage.bars.rods
        tension[rods] = self.sense[rods] * self.length[rods] * answer.tau[rows_of(small.stage.bars)]
        strain = self.slope * self.length * longer * self.inverse**2
        of_length = np.select(
            [self.measure == GREEN, self.measure == LOG], [self.inverse, -self.lever / self.length], 0.0
        )
        over, stress = tension - self.area * self.stress * of_length * longer, np.zeros_like(tension)
        np.divide(over, self.area * self.lever, out=stress, where=self.area > 0.0)  # no area: the bar is removed
        force = np.select(
            [self.measure == LOG, self.measure == LINEAR], [tension, self.area * stress * self.conjugate],
            self.area * stress,
        )  # fmt: skip
        return np.column_stack([strain, stress, force, tension])


def element_values(small: Small, of_bars: Complexes, answer: Amplitudes, omega: float) -> Complexes:
    """(k, 4) amplitudes of E, S, N, T of all elements, from those of the bars; zero where an element has none."""
    system = small.stage.system
    found = np.zeros((len(system.family), 4), complex)
    kind, index = system.family.T
    found[kind == BAR_FAMILY] = of_bars[index[kind == BAR_FAMILY]]
    springs = system.springs
    ends = springs.dofs
    apart = answer.u[ends[:, 0]] - np.where(ends[:, 1] >= 0, answer.u[ends[:, 1]], 0.0)
    force = (spring_slopes(small.stage.work.u, springs) + 1j * omega * springs.constants[:, DAMPING]) * apart
    of_springs = np.column_stack([apart, force, force, force])
    found[kind == SPRING_FAMILY] = of_springs[index[kind == SPRING_FAMILY]]
    if system.families is not None and system.twists is not None:
        group = system.families[FAMILIES.index(TWIST)]
        found[:, 3] += pulls(group, small.stage.work.u, small.stage.work.state, answer.u, len(found))
    found[system.gone] = 0.0
    return found


def node_values(small: Small, answer: Amplitudes, omega: float) -> Complexes:
    """(4, n, 3) amplitudes of U, V, A, RF."""
    system, count = small.stage.system, len(small.stage.system.labels)
    supported = small.stage.nodes.dof_kind == 0
    u, reaction = answer.u, np.where(supported, -answer.left, 0.0)
    found = np.stack([u, 1j * omega * u, -(omega**2) * u, reaction]).reshape(4, count, 3)
    gather_reactions(system.bodies, np.arange(count), found[None])
    return found[:, : system.shown]


def going_slack(small: Small, bars: BarStates, of_bars: Complexes) -> Ints:
    """Bars that are softer in compression, and whose dynamic tension exceeds their static one."""
    constants, tension = small.stage.bars.constants, np.abs(of_bars[:, 3])
    is_line = (constants[PLUS] != 0.0) & (constants[MINUS] < constants[PLUS])
    return np.flatnonzero(is_line & (bars.tension > 0.0) & (tension > bars.tension))


BALANCED = 1e-3
"""Largest residual of a static state of equilibrium, as a fraction of the largest force."""
ALLOWED = 1e-3
"""Fraction of the largest force that may lie outside the modes without a notice."""


def responses(
    stage: StepSystem, motion: Motion, acting: PhasedLoads, procedure: SteadyState, recorded: tuple[int, Ints, Ints],
    notify: Say, settles: bool = False,
) -> Iterator[Response]:  # fmt: skip
    """Responses at all frequencies, checked by their residuals; those that fail are omitted, with a notice.
    recorded  number of the step, indices of nodes and of elements;  notify: receives notices
    settles   they are solved to round-off, and those that fail are NaN"""
    step, nodes, elements = recorded
    refuse_memories(stage.system.family[:, 0])
    is_known = stage.system.family[elements, 0] < FIRST
    elements, unknown = elements[is_known], int(np.count_nonzero(~is_known))
    instant = loading_at(stage, motion, acting.time)
    found = modes_of(stage, motion, instant, procedure.modes) if procedure.modes else None
    frequencies = procedure.frequencies(found.omega / (2.0 * np.pi) if found else ())
    omegas = 2.0 * np.pi * frequencies
    small = small_motions(stage, motion, instant, float(omegas[0]))
    if small.transform.shape[1] == 0:
        raise ModelError("*STEADY STATE DYNAMICS: no dof is free")
    superposition = superposed(small, found, procedure, settles) if found else None
    small = superposition.small if superposition else small
    unbalance = unbalanced(small)
    bars, guess = BarStates(small), np.zeros(small.shapes.shape[1], complex)
    failed, slack, beyond = list[float](), dict[int, float](), list[tuple[float, float]]()
    for frequency, omega in zip(frequencies.tolist(), omegas.tolist(), strict=True):
        load, given = acting.load(frequency), passed_on(small, acting.given(frequency))
        if superposition:
            load, given = superposition.about(load, given, omega)
        answer = answer_at(small, omega, load, given, guess, settles)
        has_failed = not answer.change <= CHANGE
        guess = np.zeros_like(guess) if has_failed else answer.x
        if has_failed:
            failed.append(frequency)
            if not settles:
                continue
            lost = {name: getattr(answer, name) * np.nan for name in ("u", "tau", "pull", "left")}
            answer = answer._replace(**lost)
        of_bars = bars.values(small, answer)
        for bar in going_slack(small, bars, of_bars).tolist():
            slack.setdefault(bar, frequency)
        beyond.append((answer.residual, frequency))
        moved, pulled = node_values(small, answer, omega), element_values(small, of_bars, answer, omega)
        known = step, frequency, answer.iterations, answer.residual
        yield Response(*known, nodes, moved[:, nodes], elements, pulled[elements])
    more = f"*STEADY STATE DYNAMICS: {unknown} elements have no amplitudes in the tables" if unknown else ""
    for text in filter(
        None, (unbalance, left_out(failed), outside(beyond) if superposition else "", over_slack(stage, slack), more)
    ):
        notify(text)


def outside(residuals: list[tuple[float, float]]) -> str:
    """Message: modes leave much of the forces unbalanced; residuals: fractions, with their frequencies."""
    worst, frequency = max(residuals, default=(0.0, 0.0))
    if worst <= ALLOWED:
        return ""
    return (
        f"*STEADY STATE DYNAMICS: at frequency {frequency:.6g} the modes leave {worst:.2g} of the largest force "
        "unbalanced: use more modes, or DIRECT"
    )


def refuse_memories(families: Ints) -> None:
    """ModelError: forces of elements depend on their history; families (k,) of all elements."""
    known = (FAMILIES[number - FIRST] for number in sorted(set(families.tolist())) if number >= FIRST)
    names = [family.name for family in known if not family.smooth]
    if names:
        raise ModelError(
            f"*STEADY STATE DYNAMICS does not follow {' and '.join(names)}: their memory changes within a cycle. Use "
            "*DYNAMIC"
        )


def passed_on(small: Small, given: Complexes) -> Complexes:
    """The motion of supports, with the dofs that equations make dependent on them."""
    parts = given.real.copy(), given.imag.copy()
    for part in parts:
        expand(small.stage.equations, part)
    return np.asarray(parts[0] + 1j * parts[1])


def unbalanced(small: Small) -> str:
    """Message: the state is not in equilibrium; empty if it is."""
    left = small.transform.T @ (small.stage.work.load - small.cycle.still)
    bars = small.stage.work.tangent.bar_tangent
    pulls = np.abs(bars[PULL]) * np.sqrt((bars[P : P + 3] ** 2).sum(axis=0))
    fraction = largest(left) / (max(pulls.max(initial=0.0), largest(small.stage.work.load)) or 1.0)
    if fraction <= BALANCED:
        return ""
    return (
        f"*STEADY STATE DYNAMICS: the state is not at rest: {fraction:.2g} of its largest force is unbalanced; put a "
        "*STATIC step before it"
    )


def left_out(failed: list[float]) -> str:
    if not failed:
        return ""
    named = ", ".join(f"{each:.6g}" for each in failed[:6]) + (", ..." if len(failed) > 6 else "")
    return (
        f"*STEADY STATE DYNAMICS: {len(failed)} frequencies omitted ({named}): not confirmed within {MOST} solves, as "
        "at an undamped resonance"
    )


def over_slack(stage: StepSystem, slack: dict[int, float]) -> str:
    """Message: lines would go slack, which linear motions about a state cannot describe."""
    if not slack:
        return ""
    first = min(slack, key=lambda bar: slack[bar])
    name = stage.system.name_bar(first)
    return (
        f"*STEADY STATE DYNAMICS: the amplitude of the tension of {len(slack)} bars exceeds its static value, first in "
        f"{name} at frequency {slack[first]:.6g}: they would go slack, and the answer is not valid; use *DYNAMIC"
    )
