"""Jumps of loads and supports at the start of a dynamic step from rest, and the forces that they cause.

Statics ends in equilibrium with its loads, in a calm sea and a steady wind. Whatever is different at the first instant
of the dynamic step is a sudden load. A first step that is dynamic begins with its dead loads suddenly applied, as
intended, but water, wind and supports should not begin in full motion.

Forces of water and wind are those at the middle of each bar (Morison, ``forces/fluid``), whole bars in or out of it.
A support that jumps by s changes the force of a bar of stiffness k by k s. One that starts with the speed v changes it
by v sqrt(k m), m being the mass at the free end, as in a spring whose other end moves (E A v/c for a long bar).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats
from fem.assembly.environment import WATER, WIND, Environment, load_set
from fem.assembly.system import System
from fem.forces import bar
from fem.forces.laws import RIGID, TABLE
from fem.model.curves import evaluate
from fem.model.gusts import Velocities
from fem.model.quantities import in_newtons
from fem.model.surroundings import Airy, Jonswap, water_at

SMALL = 1e-4
"""Jumps below this fraction of the largest force are not reported."""
LARGE = 0.01
"""Jumps above this fraction of the largest force are reported as warnings; they may be intended."""


class Jump(NamedTuple):
    """The text of one jump, and whether it is large."""

    text: str
    is_large: bool


def sudden(
    system: System, before: Environment, now: Environment, time: float, u: Floats, largest: float, is_first: bool
) -> Iterator[Jump]:
    """Jumps of a dynamic step that begins from rest at a time. before: actions until then; u (3n,): displacements;
    largest: largest force so far; is_first: it is the first step."""
    supported = now.supports.supported.reshape(-1, 3)
    causes = [(what, forces) for what, forces in changes(system, before, now, time, u, is_first) if forces.any()]
    speeds, moving = np.zeros(system.size), now.supports.moving(u)
    speeds[moving] = now.supports.velocity_after(moving, np.array([time]))[0] if len(moving) else 0.0
    if not (causes or speeds.any()):
        return
    acting = [of_loads(system, each, time) for each in (before, now)]
    largest = max([largest, *(float(np.linalg.norm(each, axis=1).max(initial=0.0)) for each in acting)])
    for what, forces in causes:
        size = np.linalg.norm(np.where(supported, 0.0, forces), axis=1)
        node = int(size.argmax())
        if size[node] > SMALL * largest:
            name = system.model.mesh.named(int(system.labels[node]))
            total = f", {in_newtons(size.sum(), system.model)} at all nodes" if size.sum() > 1.01 * size[node] else ""
            text = f"{what}: {in_newtons(size[node], system.model)} at node {name}{total}, which nothing balances"
            is_large = bool(size.sum() > LARGE * largest)
            yield Jump(f"{text}. Unless that is intended, let it grow from the state before", is_large)
    if speeds.any():
        dof, (label, force) = int(np.abs(speeds).argmax()), pull(system, speeds, u, np.asarray(supported.all(axis=1)))
        if force > SMALL * largest:
            size = f"{in_newtons(force, system.model)} in element {label}"
            text = f"supports set off with a jump of velocity ({speeds[dof]:.4g} at {system.name_dof(dof)})"
            text += f": that makes {size} (v sqrt(k m)) before anything else moves. Unless that is intended, let"
            yield Jump(f"{text} their AMPLITUDE begin with the slope of the state before", force > LARGE * largest)


def changes(
    system: System, before: Environment, now: Environment, time: float, u: Floats, is_first: bool
) -> Iterator[tuple[str, Floats]]:
    """Causes of jumps at the start of the step, and their forces (n, 3); arguments as in ``sudden``."""
    if not is_first:
        loads = of_loads(system, now, time) - of_loads(system, before, time)
        yield "loads change abruptly at the start of the step", loads
    if not (before.flows or now.flows):
        return
    (water, wind), begun = flow_forces(system, now, time, u), waves_begun(system, now, time)
    was_water, was_wind = flow_forces(system, before, time, u)
    if begun:
        waves = flow_forces(system, now, time, u, begun)[0] - water
        yield "waves act with their whole height from the first instant on (RAMP= of *WAVE)", waves
    yield "a current acts with its whole speed from the first instant on", water - was_water
    yield "wind acts with its whole speed from the first instant on", wind - was_wind
    gusts = gust_forces(system, now, time, wind)
    yield "gusts act with their whole strength from the first instant on (RAMP= of *WIND)", gusts


def waves_begun(system: System, environment: Environment, time: float) -> tuple[Airy | Jonswap, ...]:
    """Waves that are present at a time: all but those whose ramp begins later."""
    return tuple(each for each in system.model.waves if not (each.ramp and time <= environment.sea_from))


def of_loads(system: System, environment: Environment, time: float) -> Floats:
    """(n, 3) dead loads at a time."""
    loads = load_set(system, environment)
    return np.asarray(loads.factors(np.array([time]))[0] @ loads.vectors).reshape(-1, 3)


def pull(system: System, jump: Floats, u: Floats, held: Flags | None = None) -> tuple[str, float]:
    """Label of the bar with the largest force from a jump (3n,) of supports, and that force. held (n,): fixed nodes,
    if the jump is one of velocities."""
    constants, nodes = system.bars.constants, system.bars.nodes
    if not len(nodes):
        return "", 0.0
    elastic = ~np.isin(system.bars.kinds[:, 1], (RIGID, TABLE))
    stiffness = elastic * constants[bar.AREA] * constants[bar.YOUNG] * constants[bar.INV_LENGTH]
    way = np.diff((system.coordinates + u.reshape(-1, 3))[nodes], axis=1)[:, 0]
    moved = np.diff(jump.reshape(-1, 3)[nodes], axis=1)[:, 0]
    size = np.linalg.norm(way, axis=1)
    felt = np.abs((moved * way).sum(axis=1)) / np.where(size > 0.0, size, 1.0)
    if held is not None:
        moves = ~held & (system.mass > 0.0)
        lightness = np.divide(1.0, system.mass, out=np.zeros(len(moves)), where=moves)[nodes].sum(axis=1)
        product = stiffness * lightness
        felt = np.divide(felt, np.sqrt(product), out=np.zeros(len(felt)), where=product > 0.0)
    force = stiffness * felt
    worst = int(force.argmax())
    if not force[worst] > 0.0:
        return "", 0.0
    return system.model.mesh.named(system.label_of_bar(worst)), float(force[worst])


def flow_forces(
    system: System, environment: Environment, time: float, u: Floats, waves: tuple[Airy | Jonswap, ...] = ()
) -> tuple[Floats, Floats]:
    """(n, 3) forces of water, in those waves, and of wind on nodes at rest."""
    model, up = system.model, system.model.mesh.up
    found = np.zeros((2, len(system.family), 3))
    instant, level = np.array([time]), model.water.level if model.water else 0.0
    ends = (system.coordinates + u.reshape(-1, 3))[system.element_nodes]
    seas: dict[bytes, tuple[Floats, Floats, Floats, Floats]] = {}  # by the bars that are loaded, often the same
    for flow in (flow for flow in environment.flows if flow.load.kind in (*WATER[:3], *WIND)):
        load, is_wind = flow.load, flow.load.kind in WIND
        factor = sum(case.field[:, 0] * evaluate(case.curve, instant)[0] for case in flow.cases)
        acts = np.flatnonzero((factor != 0.0) & ~system.gone)
        middle, way = ends[acts].mean(axis=1), ends[acts, 1] - ends[acts, 0]
        along = way / np.linalg.norm(way, axis=1)[:, None]
        first, second = (float(evaluate(curve, instant)[0]) for curve in flow.streams)
        height, accelerated = middle[:, up] - level, np.zeros_like(middle)
        if is_wind:
            assert model.wind is not None
            v, is_in = np.array([first, second]) @ model.wind.vectors(up), height >= 0.0
            v = v * ((np.maximum(height, 0.0) / model.wind.reference) ** model.wind.power)[:, None]
        else:
            assert model.water is not None
            if (bars := acts.tobytes()) not in seas:
                sea = water_at(waves, model.water, up, middle, time, 0.0, environment.sea_from)
                seas[bars] = (*sea, water_at((), model.water, up, middle, time)[1])
            eta, v, accelerated, current = seas[bars]
            is_in = height <= eta
            v = second * v + first * current
        speed_along = (v * along).sum(axis=1)[:, None]
        v_across, width = v - speed_along * along, flow.diameter(system)[acts][:, None]
        speed = np.linalg.norm(v_across, axis=1)[:, None]
        fluid = model.wind if is_wind else model.water
        assert fluid is not None
        pressure = 0.5 * fluid.density * width
        if load.kind == "FI":
            mass, a_along = 0.25 * np.pi * fluid.density * width**2, (accelerated * along).sum(axis=1)[:, None] * along
            share = 0.0 if load.added_along is None else 1.0 + load.added_along
            force = second * mass * (float(load.coefficient) * (accelerated - a_along) + share * a_along)
        elif load.kind == "FDT":
            size = np.abs(speed_along) ** (load.exponent - 1.0)
            force = np.pi * pressure * float(load.coefficient) * size * speed_along * along
        elif isinstance(load.coefficient, str) and load.kind != "FLD":
            rows = model.drag_laws[load.coefficient].radians
            force = np.interp(speed, rows[:, 0], rows[:, 1]) * v_across / np.where(speed > 0.0, speed, 1.0)
        else:
            drag = load.coefficient
            value = model.drag_laws[drag].at(load.angle)[0] if isinstance(drag, str) else drag
            force = pressure * value * speed * v_across
        found[int(is_wind), acts] += (is_in * factor[acts] * system.lengths_of(acts))[:, None] * force
    nodal = np.zeros((2, len(system.labels), 3))
    for end in range(2):
        np.add.at(nodal[0], system.element_nodes[:, end], 0.5 * found[0])
        np.add.at(nodal[1], system.element_nodes[:, end], 0.5 * found[1])
    return nodal[0], nodal[1]


def gust_forces(system: System, environment: Environment, time: float, steady: Floats) -> Floats:
    """(n, 3) force of gusts without a ramp beside that of the mean wind, from their standard deviation or from the
    present measured velocity."""
    wind = system.model.wind
    if wind is None or wind.gusts is None or wind.gusts.ramp > 0.0 or environment.gusts_from != time:
        return np.zeros_like(steady)
    mean = float(np.linalg.norm(wind.vectors(system.model.mesh.up).sum(axis=0))) or 1.0
    if isinstance(wind.gusts, Velocities):
        sample = int(time / wind.gusts.dt) % wind.gusts.velocities.shape[1]
        speed = float(np.linalg.norm(wind.gusts.velocities[:, sample], axis=1).max())
        return steady * ((speed / mean) ** 2 - 1.0)
    return np.asarray(steady * ((1.0 + wind.gusts.intensity[0]) ** 2 - 1.0))
