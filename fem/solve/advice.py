"""Messages when a run fails or is about to fail: place, cause and remedy.

Resolution of snaps: the longest increments that resolve a line snapping taut, and the notice for longer ones.
"""

from __future__ import annotations

import math

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.forces import bar
from fem.forces.families import trouble_of
from fem.forces.laws import RIGID, TABLE
from fem.model import Controls, Dynamic, Model
from fem.model.mesh import BARS
from fem.model.notices import FOLLOW, SHARE, expected_peaks, floating_text, follows_snaps
from fem.solve.clock import SHARP, Clock, ErrorClock
from fem.solve.newton.groups import CONTROL, LIMIT, MEMORY, NOT_CONVERGED, NOT_FINITE, ROW
from fem.solve.newton.iterate import ROD_STRAIN
from fem.solve.plan import StepPlan
from fem.solve.state import StepState
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import StepSystem

SOFT = 0.1
"""Fraction of the contact width by which lines may sink into a bottom without a notice."""
COARSE = 5e-4
"""TIME ERROR of increments that resolve tensions, for the notice."""
SPARE = 1.2
"""Factor on the number of increments that is recommended, relative to the present pace."""
OUT_OF_RANGE = (
    "look for a modulus, area, density, mass, load, velocity or length of a very different size than the others"
)


def overflow_message(step: StepState, increment: int, time: float) -> str:
    """Message: numbers other than forces (energies, stresses) have become infinite."""
    stage, motion = step.stage, step.progress.motion
    if trouble := trouble_of(stage.system, motion.u, motion.state):
        return f"step {step.number} stopped in increment {increment} at t = {time:.9g}: {trouble}"
    return (
        f"step {step.number} stopped in increment {increment} at t = {time:.9g}: its energies, motion or stresses are "
        f"out of range; {OUT_OF_RANGE}, and check whether the motion grows without bound"
    )


def pace_notice(clock: Clock | ArcClock) -> str:
    """Notice of the length of automatic increments of dynamics; empty for equal increments."""
    if not isinstance(clock, ErrorClock):
        text = (
            f"automatic increments from {clock.smallest:.3g} to {clock.largest:.3g}, as long as they converge: "
            "numerical damping removes what they do not resolve; dtmax, or a TIME ERROR of *CONTROLS, follows the "
            "motion"
        )
        return text if clock.is_paced else ""
    change = clock.controls.tension_change
    also = f", and cables change their tension by at most {change:g} of the largest force" if change else ""
    return (
        f"automatic increments from {clock.smallest:.3g} to {clock.largest:.3g}: their local error stays below "
        f"{clock.controls.time_error:g} of the size of the motion{also} (TIME ERROR of *CONTROLS; OFF keeps the "
        "first increment, DIRECT gives equal ones)"
    )


def _against_dt(stage: StepSystem, dt: float) -> str:
    """Comparison of the increment with the period of the fastest bar against the masses of its free ends."""
    square = squares_of(stage)
    if not np.any(square > 0.0):
        return ""
    fastest = int(square.argmax())
    name = stage.system.model.mesh.named(stage.system.label_of_bar(fastest))
    period = float(2.0 * np.pi / np.sqrt(square[fastest]))
    return (
        f" The stiffest bar (element {name}) has a period of {period:.3g}, the increment is {dt:.3g} "
        f"({dt / period:.3g} periods)."
    )


def drift_message(stage: StepSystem, plan: StepPlan, time: float, dt: float, error: str) -> str:
    """Message: where the energy left its band, and how to correct that."""
    fraction = plan.step.controls.energy_drift or 0.0
    cure = (
        "Use smaller increments, or *DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM, which keeps the balance at any "
        "increment"
    )
    if plan.integrator == "ENERGY MOMENTUM":
        cure = "Iterate to round-off (leave out RESI_GLOB_RELA), or use smaller increments"
    return (
        f"energy drift at t = {time:.6g}: the energy balance is off by {error}, more than {100.0 * fraction:g} %, so "
        "the motion beyond this point is unreliable."
        + _against_dt(stage, dt)
        + f" {cure}; *CONTROLS, ENERGY DRIFT= sets the allowed fraction, OFF switches the check off. "
        "Everything computed so far is written"
    )


def out_of_increments(step: StepState, most: int) -> str:
    """Message: the step has used all increments that it may have."""
    clock, time = step.clock, step.progress.time
    where = f"at t = {time:.9g}, before its end at {clock.end:.9g}"
    if len(step.arc.last):  # it ends at a load factor, wherever that is
        where = f"after the arc length {time - clock.start:.9g}, before the end of its path"
    text = f"step {step.number} stopped {where}: it used up its {most} increments (INC= of *STEP)"
    if not isinstance(clock, ErrorClock):
        return text
    damps = step.stage.limits[LIMIT.damps] > 0.0
    controls, done = clock.controls, time - clock.start
    enough = SPARE * most * (clock.end - clock.start) / done if done > 0.0 else 0.0
    needed = f" (some {float(f'{enough:.2g}'):.0f} at this pace)" if enough else ""
    follows = controls.tension_change is not None and (controls.time_error or 0.0) >= COARSE
    fewer = "" if follows else f"TIME ERROR={COARSE:g} with TENSION CHANGE=0.3 needs fewer, which follow tensions, "
    return (
        f"{text}. Their lengths follow TIME ERROR of *CONTROLS ({controls.time_error:g}; the last one was "
        f"{clock.dt:.3g}); "
        + (
            "they resolve swings and cables that go slack; numerical damping removes the vibration of taut bars"
            if damps
            else "the scheme has no numerical damping, so all vibration is resolved"
        )
        + f": a larger INC={needed} continues with these, {fewer}DIRECT with ENERGY MOMENTUM has equal ones, and "
        "APPLICATION=MODERATE DISSIPATION is for motions that come to rest: it takes few long ones and damps what "
        "they do not resolve"
    )


def failure_message(step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
    """Message: why an increment failed and could not be cut back."""
    stage, clock, progress, controls = step.stage, step.clock, step.progress, step.step.controls
    limit = controls.max_iterations
    if reason == NOT_CONVERGED:
        norm = increments[control[CONTROL.increment], ROW.norm]
        what = (
            f"no convergence in {limit} iterations: the relative residual is {norm:.3g}, largest at "
            f"{stage.system.name_dof(int(control[CONTROL.worst]))}."
        )
        gap = float(progress.motion.memory[MEMORY.previous_gap])
        if gap > ROD_STRAIN:
            what = (
                f"no convergence in {limit} iterations: the lengths of rods or taut ropes are still violated by the "
                f"strain {gap:.3g} (the relative residual is {norm:.3g})."
            )
    elif reason == NOT_FINITE and (trouble := trouble_of(stage.system, stage.work.u, stage.work.state)):
        where = f"step {step.number} stopped at t = {progress.time + dt:.9g}"
        return f"{where}: {trouble} Everything computed so far is written"
    elif reason == NOT_FINITE:
        what = f"the iteration diverged (not a number, or overflow) after {int(control[CONTROL.iteration])} solves."
    else:
        what = "the linear system is singular."
    if clock.is_direct:
        cure = "Use smaller increments, or leave out DIRECT so that increments are cut back"
    else:
        cure = f"The increment was cut back as far as allowed ({controls.max_cutbacks} times, or dtmin)"
    if clock.is_static:
        floating = floating_text(stage.system.model)
        hint = "slack or straight cables need an initial stress or STARTING TENSION="
        if stage.system.model.yields:
            hint = (
                "bars that yield or buckle have no equilibrium beyond the collapse load, *STATIC, RIKS follows the path"
            )
            if step.step.static is not None and step.step.static.riks is not None:
                hint = (
                    "a perfectly plastic collapse needs some stiffness (*STEP, NLGEOM, or a second row of *PLASTIC "
                    "that rises a little); where struts fail at once, use *DYNAMIC"
                )
        cure += f". {floating}" if floating else f"; {hint}"
    return (
        f"step {step.number} stopped in increment {progress.increment + 1} at t = {progress.time + dt:.9g} "
        f"(dt = {dt:.3g}): {what}{_against_dt(stage, dt) if not clock.is_static else ''} {cure}. Everything computed "
        "so far is written"
    )


def soft_bottom_notice(stage: StepSystem) -> str:
    """Notice that a line sinks into the bottom by a large part of its width, which moves the touchdown point."""
    mesh, up = stage.system.model.mesh, stage.system.model.mesh.up
    for bed in stage.system.model.seabeds:
        weight = stage.loads.vectors[stage.loads.is_gravity == 1].sum(axis=0).reshape(-1, 3)
        elements = mesh.bars_in(bed.element_set)
        ends, length = mesh.element_nodes[elements], stage.system.lengths_of(elements)
        area = 0.5 * bed.width * np.bincount(ends.ravel(), np.repeat(length, 2), len(weight))
        nodes = np.flatnonzero(area > 0.0)
        sunk = float((-weight[nodes] @ bed.normal(up) / (bed.stiffness * area[nodes])).max(initial=0.0))
        if sunk > SOFT * bed.width:
            return (
                f"the seabed is soft: lines resting on it sink in by up to {sunk:.3g}, {sunk / bed.width:.2g} of the "
                "contact width, which moves their touchdown points; increase K of *SEABED"
            )
    return ""


TURNED = 0.1
"""Rotation [radians] of a bar from which on small rotations are doubtful: half of its square is a strain of 0.5 %."""


def turned_notice(model: Model, gone: Flags, u: Floats) -> str:
    """Notice that a bar has turned far from how it was drawn, a direction that geometrically linear steps keep."""
    mesh, drawn = model.mesh, model.mesh.coordinates
    ends, now = mesh.element_nodes, drawn + u.reshape(-1, 3)[: len(drawn)]  # those of spins come last
    elements = np.flatnonzero(mesh.is_of(*BARS) & ~gone)
    before, after = (at[ends[elements, 1]] - at[ends[elements, 0]] for at in (drawn, now))
    across = np.linalg.norm(np.cross(before, after), axis=1)
    turned = np.arctan2(across, (before * after).sum(axis=1))
    if not turned.max(initial=0.0) > TURNED:
        return ""
    most = int(turned.argmax())
    name, angle = mesh.named(mesh.element_labels[elements[most]]), math.degrees(turned[most])
    return (
        f"element {name} has turned by {angle:.3g} degrees, but its force keeps the direction in which it was drawn, "
        "as the step is geometrically linear: *STEP, NLGEOM takes rotations into account"
    )


SHOWN = 0.5
"""Increments up to this fraction of L0/c resolve the front of a snap: peaks within 3 % of their limit on the mesh."""


def squares_of(stage: StepSystem) -> Floats:
    """(m,) omega^2 [1/time^2] of each bar against the masses of its free ends."""
    constants, nodes = stage.bars.constants, stage.bars.nodes
    stiffness = constants[bar.AREA] * constants[bar.YOUNG] * constants[bar.INV_LENGTH]
    free = stage.nodes.dof_kind.reshape(-1, 3).any(axis=1)
    mass = stage.system.mass
    with np.errstate(divide="ignore", invalid="ignore"):
        compliance = np.where(free & (mass > 0.0), 1.0 / mass, 0.0)
    return np.asarray(stiffness * (compliance[nodes[:, 0]] + compliance[nodes[:, 1]]))


def passing_times(stage: StepSystem) -> Floats:
    """(m,) travel time of a wave through each bar that can snap taut; inf for the others.
    Bars can snap if they are softer in compression than in tension, and have a modulus and masses at their ends.
    It is sqrt(2)/omega: within a chain, whose nodes have the mass of a bar each, this is L0/c."""
    kinds, constants = stage.bars.kinds[:, 1], stage.bars.constants
    elastic = (kinds != RIGID) & (kinds != TABLE) & (constants[bar.MINUS] < constants[bar.PLUS])
    times = np.full(len(kinds), np.inf)
    if elastic.any():
        squares = squares_of(stage)
        able = elastic & (squares > 0.0)
        times[able] = np.sqrt(2.0 / squares[able])
    return times


def watch_snaps(stage: StepSystem, controls: Controls, procedure: Dynamic) -> None:
    """Makes the march report snaps if increments are too long for them and do not adapt to them."""
    shortest = float(passing_times(stage).min(initial=np.inf))
    if shortest < np.inf and not follows_snaps(procedure, controls):
        stage.limits[[LIMIT.snap, LIMIT.front]] = SHARE, SHOWN * shortest * (1.0 + SHARP)


def snap_notice(stage: StepSystem, procedure: Dynamic, dt: float) -> str:
    """Notice of the error of tension peaks with increments dt; empty if they are resolved."""
    time = passing_times(stage)
    fastest = int(time.argmin()) if len(time) else 0
    if stage.limits[LIMIT.snap] == 0.0 or dt <= SHOWN * time[fastest] * (1.0 + SHARP):
        return ""
    shown, waves = SHOWN * float(time[fastest]), dt / float(time[fastest])
    name = stage.system.model.mesh.named(stage.system.label_of_bar(fastest))
    return (
        f"lines can go slack here: an increment of {dt:.3g} is {waves:.3g} times the time of a wave through element "
        f"{name} (L0/(c dt) = {1.0 / waves:.3g}). Should a line snap taut, its peaks "
        f"{expected_peaks(procedure, waves)}; increments up to {shown:.3g} give them within 3 %; {FOLLOW}"
    )
