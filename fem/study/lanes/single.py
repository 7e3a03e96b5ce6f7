"""Models of one shape, one after the other through the march of single runs: what lanes would do, not yet compiled.

Each ends, bit by bit, as a run of its own; what is spared is making the same arrays ready again for every model, and a
row of numbers at a time. Whatever a run of its own would cut back, refuse or tell is left to that run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Flags, Ints
from fem.compiled.interpreted import work
from fem.errors import FemError
from fem.forces.bar import VISCOUS
from fem.model import Dynamic
from fem.solve import start
from fem.solve.clock import first_chunk
from fem.solve.energy_watch import SETTLING
from fem.solve.loop import ErrorsTold
from fem.solve.newton.arc import no_arc
from fem.solve.newton.balance import note_increment
from fem.solve.newton.groups import CONTROL, DONE, ROW, Motion, Record
from fem.solve.newton.march import march
from fem.solve.rods import consistent_velocities
from fem.solve.step_system import StepSystem, loading, record
from fem.study.lanes.pack import Sample

NUMBERS = ("increments", "kinematics", "values")
"""Fields of a record that are numbers of increments."""
NONE, NO_ARC = np.zeros(0, np.int64), no_arc()


def is_short(stage: StepSystem, increments: int) -> bool:
    """A march of so many increments takes a fraction of a second: Ctrl-C waits no longer, and preparing pays."""
    return increments <= first_chunk(stage.system)


def march_singly(
    stage: StepSystem, samples: Sequence[Sample], probes: Ints, elements: Ints
) -> tuple[Record, Flags, Ints]:
    """The record (models, rows, ..., 1) of all increments, which models marched well, and their linear solves.
    stage: of the first model of this shape, whose working room all of them use."""
    empty = record(stage, len(samples[0].dt) + 1, probes, elements)
    parts = {name: np.zeros((len(samples), *getattr(empty, name).shape, 1)) for name in NUMBERS}
    motion, good = start.first_motion(stage.system), np.zeros(len(samples), np.bool_)
    work.ahead = math.inf  # so many runs are worth waiting for machine code
    for number, one in enumerate(samples):
        is_viscous, is_its = (bars.constants[VISCOUS].any() for bars in (one.bars, stage.bars))
        if is_viscous != is_its or one.system.has_flow != stage.system.has_flow:
            continue  # where only one of them loses energy another solver takes the tangent
        kept = empty._replace(**{name: part[number, ..., 0] for name, part in parts.items()})
        with suppress(FemError), ErrorsTold(one.model, 1):  # its own run will report it
            good[number] = march_one(restaged(stage, one), one, motion, kept)
    solves = parts["increments"][:, 1:, ROW.iterations, 0].sum(axis=1)
    return empty._replace(**parts), good, solves


def restaged(stage: StepSystem, one: Sample) -> StepSystem:
    """The stage of another model of this shape."""
    system = one.system
    damping = np.repeat(system.damping, 3) if system.damping.any() else np.zeros(0)
    nodes = stage.nodes._replace(mass=np.repeat(system.mass, 3), damping=damping, place=system.coordinates.reshape(-1))
    extrapolation = ("NO", "LINEAR", "PARABOLIC").index(one.model.steps[0].extrapolation)
    coefficients = stage.coefficients._replace(extrapolation=extrapolation)
    clear(*stage.work, *stage.work.tangent)
    return replace(
        stage, system=system, environment=one.environment, bars=one.bars, nodes=nodes, loads=one.loads,
        coefficients=coefficients, limits=one.limits.copy(),
    )  # fmt: skip


def clear(*arrays: Any) -> None:
    """All numbers are zero again, as those of new arrays."""
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype == np.float64:
            array[...] = 0.0


def march_one(stage: StepSystem, one: Sample, motion: Motion, room: Record) -> bool:
    """As a run of its own opens its step and goes through all increments, rows 1, 2, ...; whether it came to the end.
    motion: room"""
    procedure, held = one.model.steps[0].procedure, np.flatnonzero(one.supports.supported)
    assert isinstance(procedure, Dynamic)
    clear(*motion)
    motion.u[:], motion.v[:] = one.u, one.v
    chunk = loading(stage, motion, one.time, one.dt)
    _, motion.v[held], motion.a[held] = (each[0] for each in one.supports.motion(held, one.time[:1], after=True))
    start.evaluate_start(stage, motion, chunk)
    if len(stage.bars.rods):
        consistent_velocities(stage, motion, start.small_or_sparse_mass(stage))
        start.evaluate_start(stage, motion, chunk)
    start.initial_acceleration(stage, motion, NONE, procedure)
    start.open_energies(stage, motion, chunk, True)
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, stage.problem, chunk.thermal_end[0], motion, room)
    later = {name: getattr(room, name)[1:] for name in NUMBERS}
    control = np.zeros(len(CONTROL), np.int64)
    control[CONTROL.judged] = SETTLING
    through = stage.passage(chunk, motion, room._replace(**later))
    return bool(march(len(one.dt), control, NO_ARC, through) == DONE)
