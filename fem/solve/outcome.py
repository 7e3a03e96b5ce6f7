"""From the arrays of the march to output: rows, whole fields, notices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.bodies import Body
from fem.assembly.environment import Environment
from fem.assembly.system import MASS_FAMILY, SPRING_FAMILY
from fem.forces import bar
from fem.forces.springs import COUNT, DAMPING, STIFFNESS
from fem.model.curves import Live, Ramp, evaluate
from fem.model.notices import warning
from fem.model.quantities import CONCENTRATED
from fem.runs.record import Acting, Frame, Rows
from fem.solve.clock import Progress
from fem.solve.newton import groups
from fem.solve.newton.balance import note_increment
from fem.solve.newton.groups import ROW, Ledger, Loading, Motion
from fem.solve.rods import SAME_RATE
from fem.solve.step_system import StepSystem, record

REACTION = 3
"""Index of RF among the recorded quantities of nodes."""
TENSION = 3
"""Index of T among the quantities of elements; quantities derived from it follow."""
REMARKS = {
    groups.AT_FLOOR: (
        "some increments converged only to round-off: the residual stopped falling above the given tolerance, which "
        "cannot be reached with bars of this stiffness"
    ),
    groups.LOADS_VANISHED: ("loads vanish in some increments: the last converged absolute residual is the limit there"),
    groups.UNRESOLVED: warning(
        "some increments are as short as allowed, and still their local error is larger than TIME ERROR: it was "
        "accepted; a smaller dtmin resolves them"
    ),
    groups.RINGS: warning(
        "bars vibrate faster than the increments can resolve, by more than TIME ERROR of the motion: "
        "numerical damping removes these vibrations, and TIME ERROR does not include them; ALPHA=0, or a first "
        "increment of a twentieth of their period, resolves them"
    ),
    groups.SNAPPED: warning(
        "lines snap taut in increments that are too long to resolve it: peaks of tension are wrong there (see the "
        "notice on slack lines)"
    ),
}
"""Flag of an increment -> notice, given once."""
MANY_ITERATIONS = 15
"""A static increment with more solves than this may have jumped to another branch."""


def rows_of(
    step: int, kept: Ledger, rows: Ints, increment: Ints, time: Floats, dt: Floats, of: tuple[Ints, Ints], is_end: bool,
    sea_from: float = math.inf,
) -> Rows:  # fmt: skip
    """Rows of a chunk (``kept`` may have more axes at its end), ``of`` nodes and elements."""
    increments, kinematics, values = kept.increments, kept.kinematics, kept.values
    if len(rows) < len(increments):
        increments, kinematics, values = increments[rows], kinematics[rows], values[rows]
    columns = increments.swapaxes(0, 1)
    iterations, norm = columns[ROW.iterations].astype(np.int64), columns[ROW.norm]
    energies = columns[ROW.kinetic : ROW.flags]
    found: Any = (time[rows], dt[rows], iterations, norm, np.zeros(len(rows), np.int64), *energies)
    recorded: Any = (of[0], kinematics, of[1], values, is_end, None, sea_from)
    return Rows(*(step, increment, *found, *recorded))


def copy_of(kept: Ledger, rows: Ints) -> Ledger:
    """A copy of some rows of a record."""
    return kept._replace(increments=kept.increments[rows], kinematics=kept.kinematics[rows], values=kept.values[rows])


def gather_reactions(bodies: tuple[Body, ...], nodes: Ints, kinematics: Floats) -> None:
    """RF of the reference nodes among recorded ones is the sum of those of the nodes pinned to them."""
    for body in bodies:
        (place,) = (nodes == body.driven[0] // 3).nonzero()
        if place.size:
            pinned = nodes.searchsorted(body.dofs[::3] // 3)
            for row in range(REACTION, kinematics.shape[1], CONCENTRATED + 1 - REACTION):  # RF, EF
                kinematics[:, row, place] = kinematics[:, row, pinned].sum(axis=1, keepdims=True)


def note_loads(
    environment: Environment, nodes: Ints, time: Floats, factor: Floats | None, kinematics: Floats,
    factors: Floats | None = None,
) -> None:  # fmt: skip
    """CF (k, p, 3) of k instants: the concentrated loads of recorded nodes.
    factor  (k,) load factor of RIKS;  factors (k, q): those of all loads, if known"""
    for number, case in enumerate(environment.nodal):
        of_case = evaluate(case.curve, time) if factors is None else factors[:, number]
        if factor is not None and isinstance(case.curve, Ramp):
            of_case = case.curve.first + factor * (case.curve.last - case.curve.first)
        kinematics[: len(time), CONCENTRATED] += of_case[:, None, None] * case.field[nodes]


def numbers_in(kept: Ledger) -> int:
    """Amount of numbers that a record can store."""
    return kept.increments.size + kept.kinematics.size + kept.values.size


def before_overflow(kept: Ledger, rows: Ints) -> Ints:
    """Those of ``rows`` before the first one with an infinite number or NaN.
    Forces are checked during the solution; quantities computed from them (energies, stresses) are checked here."""
    whole = kept.increments.base if kept.increments.base is kept.values.base else None
    if len(rows) == len(kept.increments) and whole is not None and np.isfinite(whole).all():
        return rows
    is_all = len(rows) == 0 or rows.item(-1) == len(rows) - 1
    for array in (kept.increments, kept.kinematics, kept.values):
        finite = np.isfinite(array[: len(rows)] if is_all else array[rows])
        if np.count_nonzero(finite) < finite.size:
            rows = rows[: int(finite.reshape(len(rows), -1).all(axis=1).argmin())]
    return rows


def frame_of(
    stage: StepSystem, number: int, progress: Progress, thermal: Floats, factor: Floats | None, is_end: bool,
    is_due: bool,
) -> Frame:  # fmt: skip
    """The whole field of a state; ``factor`` (1,): load factor of RIKS."""
    system = stage.system
    kept = record(stage, 1, np.arange(system.shown), np.arange(len(system.family)))
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, stage.problem, thermal, progress.motion, kept)
    gather_reactions(system.bodies, kept.nodes, kept.kinematics)
    note_loads(stage.environment, kept.nodes, np.array([progress.time]), factor, kept.kinematics)
    kept.values[:, system.gone] = 0.0
    now, since = (number, progress.increment, progress.time), stage.environment.sea_from
    return Frame(*now, kept.kinematics[0], kept.values[0], is_end, is_due, since)


UNLOADED = 1e-3
"""A converged increment with a larger residual, relative to its forces, has no load to compare it with."""
NO_FORCE = 1e-9
"""Strain of bars that is a rounding error."""


def is_unloaded(increment: Floats) -> bool:
    """Whether an increment (its row) has no forces with which its residual could be compared."""
    flags = int(increment[ROW.flags]) & (groups.AT_FLOOR | groups.LOADS_VANISHED)
    return flags != 0 and bool(increment[ROW.norm] > UNLOADED)


def slack_notice(stage: StepSystem, motion: Motion, thermal: Floats) -> str:
    """Notice that statics has ended in a state without force in any bar; otherwise empty."""
    system, constants = stage.system, stage.bars.constants
    elements = np.flatnonzero(system.family[:, 0] != MASS_FAMILY)
    if not len(elements):
        return ""
    kept = record(stage, 1, np.zeros(0, np.int64), elements)
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, stage.problem, thermal, motion, kept)
    stiffness, own = constants[bar.YOUNG] * constants[bar.AREA], system.bar_index[elements]
    least = np.full(len(elements), stiffness.max(initial=0.0))
    elastic = own >= 0
    elastic[elastic] = stiffness[own[elastic]] > 0.0
    least[elastic] = stiffness[own[elastic]]  # of a light cable beside a heavy bar its own
    if np.any(np.abs(kept.values[0, :, TENSION:]).max(axis=1) > NO_FORCE * least):
        return ""
    is_cable = (constants[bar.MINUS] < constants[bar.PLUS]) & (constants[bar.YOUNG] > 0.0)
    text = "no bar carries a force at the end of the step"
    return warning(f"{text}: all cables are slack") if is_cable.any() else text


def acting_of(stage: StepSystem, scales: bool) -> Acting:
    """Masses, loads and springs of a step. scales: its loads are multiplied by a load factor"""
    system, environment = stage.system, stage.environment
    springs, model = system.springs, system.model
    elements = np.flatnonzero(system.family[:, 0] == SPRING_FAMILY)
    obstacles = {
        "the forces of *EQUATION and *MPC are in no table": system.equations or model.links,
        "RIKS scales the loads": scales,
        "the forces of planes are in no table": model.planes,
        "the forces of winches and pulleys are in no table": model.runs,
        "the forces of water and wind are in no table": environment.flows,
        "elements that break are removed with their masses and loads": model.failures,
        "forces of tabulated springs between dofs do not follow from the motion alone": (
            springs.constants[:, COUNT] > 0.0
        ).any(),
        "dashpots of EXPLICIT steps use velocities that are in no table": (
            stage.is_explicit and springs.constants[:, DAMPING].any()
        ),
    }
    obstacle = next((text for text, is_there in obstacles.items() if is_there), "")
    constants = springs.constants[:, [STIFFNESS, DAMPING]] * [1.0, float(stage.is_dynamic)]
    still, none = np.zeros((system.shown, 3)), np.zeros((len(system.family), 3))
    forces = [(case.field[: system.shown], none, case.curve) for case in (*environment.nodal, *environment.released)]
    forces += [(still, case.field * system.volume[:, None], case.curve) for case in environment.body]
    forces += [(still, case.field * system.element_mass[:, None], case.curve) for case in environment.gravity]
    if any(isinstance(curve, Live) for *_, curve in forces):
        obstacle, forces = "loads that a program sets are in no table", []
    labels = np.zeros(len(springs.dofs), np.int64)
    labels[system.family[elements, 1]] = system.element_labels[elements]
    of_elements = system.element_mass, system.element_damping
    return Acting(*of_elements, tuple(forces), springs.dofs, constants, labels, stage.scheme.secant, obstacle)


def jumps_of(increments: Floats, increment: int) -> list[tuple[Flags, str]]:
    """Static increments after ``increment`` with suspiciously many solves, and the notice for the first."""
    many = increments[:, ROW.iterations] > MANY_ITERATIONS
    if not np.any(many):
        return []
    first = int(many.argmax())
    text = (
        f"increment {increment + 1 + first} took {int(increments[first, ROW.iterations])} iterations: the structure "
        "may have jumped to another branch (snap-through); smaller increments show where"
    )
    return [(many, text)]


def snapped(increments: Floats) -> Ints:
    """Rows of increments that are too long for a line that snaps taut in them."""
    return np.flatnonzero(increments[:, ROW.flags].astype(np.int64) & groups.SNAPPED)


def jerked(stage: StepSystem, chunk: Loading, count: int, start: float) -> str:
    """Notice where supports begin one of the first ``count`` increments with another velocity than they ended the last
    one with, and rods follow: a secant scheme, which keeps the mean velocity of an increment, then swings about it.
    At the start of the step velocities are made consistent."""
    ends = stage.environment.supports.motion(chunk.support_dofs, chunk.time[:1])[1]
    ends, starts = np.concatenate([ends, chunk.support_v[: count - 1]]), chunk.support_start[:count]
    jumps = np.abs(starts - ends).max(axis=1) > SAME_RATE * max(np.abs(starts).max(), np.abs(ends).max())
    jumps &= chunk.time[:count] > start
    if not jumps.any():
        return ""
    return (
        f"the velocity of supports jumps at t = {chunk.time[int(jumps.argmax())]:.6g}, and rods with it: with ENERGY "
        "MOMENTUM velocities and kinetic energies alternate from there on, by twice the jump from one increment to the "
        "next; displacements and the means of two increments are right. NEWMARK has no such error, nor has a step that "
        "begins there"
    )


def remarks_of(increments: Floats, others: list[tuple[Flags, str]]) -> list[str]:
    """Notices about new rows, in order of time, independent of the division into chunks."""
    flags = increments[:, ROW.flags].astype(np.int64)
    remarks = [((flags & flag) != 0, text) for flag, text in REMARKS.items()]
    return [text for _, text in sorted((int(where.argmax()), text) for where, text in remarks + others if where.any())]
