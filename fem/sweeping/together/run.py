"""March models that differ in numbers as lanes, where they allow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.supports import jumps
from fem.compiled import is_compiled
from fem.errors import FemError
from fem.lanes.arrays import Fixed
from fem.model import Dynamic, Model
from fem.results.record import Rows
from fem.results.schedule import Schedule
from fem.solve.clock import expected_increments
from fem.solve.newton import groups
from fem.solve.newton.groups import CHAINS, DONE
from fem.solve.outcome import numbers_in, rows_of
from fem.solve.schemes import SCHEMES
from fem.solve.start import evaluate_start, first_motion
from fem.solve.statics.unrestrained import hold_unrestrained
from fem.solve.step_system import StepSystem, loading, prepare, record
from fem.solve.watch.energy import SETTLING
from fem.sweeping.together.blocks import march_blocks
from fem.sweeping.together.march import REASON, SOLVES, Fleet
from fem.sweeping.together.pack import WIDTH, fleet
from fem.sweeping.together.sample import Sample, instants, is_alike, sample

BLOCKS_AT_ONCE = 64
"""Blocks that march before Python looks for Ctrl-C."""
MOST_NUMBERS = 2**25
"""Numbers that the lanes of one march may record: 256 MB."""
NAMES = ("node_labels", "element_labels", "node_sets", "element_sets")
"""What of a mesh says which rows are whose."""


def can_run_in_lanes(model: Model) -> str:
    """Why a model cannot be a lane; empty where it can.

    Lanes take one ``*DYNAMIC, DIRECT`` step of an implicit scheme, chains and trees of bars with springs and dashpots,
    moving supports, loads, temperatures; no rods, no equations, no tables of force over elongation, no limit of
    increments.
    """
    if len(model.steps) != 1:
        return "it has more than one step"
    step = model.steps[0]
    if not isinstance(step.procedure, Dynamic) or not step.procedure.direct:
        return "its step is not *DYNAMIC, DIRECT"
    if step.procedure.integrator == "CENTRAL DIFFERENCE":
        return "its step is *DYNAMIC, EXPLICIT"
    if step.max_increments is not None and step.max_increments < (expected_increments(step.procedure) or 0):
        return "INC= ends the step early"
    if model.failures or step.removals:
        return "it has elements that break"
    if model.bodies:
        return "it has rigid bodies"
    if model.equations:
        return "it has equations between dofs"
    if model.links or any(material.is_inextensible for material in model.materials.values()):
        return "it has rods"
    if any(spring.table for spring in model.springs):
        return "it has a spring with a table"
    return ""


@dataclass(frozen=True, slots=True)
class Marched:
    """Models that marched side by side.

    rows     of all lanes: two more axes at the end of what is per increment, block and lane in the block
    numbers  model -> its lane, of those that marched well;  solves (lanes,): linear solves in all increments
    """

    rows: Rows
    numbers: dict[int, int]
    solves: Ints


def march_together(
    models: Sequence[Model], every: int = 1, *, record_all: bool = False, may_compile: bool = True
) -> Iterator[Marched]:
    """All models that march well as lanes of one march, which differ in numbers only.

    every        increments between two recorded rows; the energy watch looks at all increments
    record_all   rows carry every node and element, not only the printed ones
    may_compile  False: none marches whose shape is not compiled yet
    """
    numbers, samples, stage = gather(models)
    if stage is None:
        return
    time, dt = instants(samples[0].model)
    schedule = Schedule(samples[0].model, 0, 0.0, len(dt), False)
    count = len(stage.system.labels), len(stage.system.family)
    probes, elements = (np.arange(n) for n in count) if record_all else (schedule.nodes, schedule.elements)
    increments = np.array([*range(0, len(dt), every), len(dt)])
    kept = len(increments) * numbers_in(record(stage, 1, probes, elements)) * WIDTH
    at_once = MOST_NUMBERS // kept * WIDTH
    for start in range(0, len(samples) if at_once else 0, max(at_once, 1)):
        part = samples[start : start + at_once]
        whole = fleet(stage, part, time, dt, len(increments), probes, elements)
        if not march_all(whole, stage, every, may_compile):
            return
        reasons = whole.outcome.array[:, REASON].ravel()[: len(part)]
        rows = record_of_lanes(whole, increments, time, dt, probes, elements)
        good = (reasons == DONE) & finite_lanes(rows)[: len(part)]
        done = {numbers[start + lane]: lane for lane in np.flatnonzero(good).tolist()}
        yield Marched(rows, done, whole.outcome.array[:, SOLVES].ravel().astype(np.int64))


def finite_lanes(rows: Rows) -> Flags:
    """(lanes,) whose energies and stresses never overflowed; a run of their own says it of the others."""
    finite = np.isfinite(rows.energy_error).all(axis=0) & np.isfinite(rows.element_values).all(axis=(0, 1, 2))
    return np.asarray(finite.ravel())


def gather(models: Sequence[Model]) -> tuple[list[int], list[Sample], StepSystem | None]:
    """The models that can march together (numbers, samples), and the first one of them made ready."""
    numbers: list[int] = []
    samples: list[Sample] = []
    stage: StepSystem | None = None
    for number, model in enumerate(models):
        known = samples[-1] if samples else None  # the one most likely to have the same parts
        if can_run_in_lanes(model) or not (known is None or has_same_march(model, known.model)):
            continue
        try:
            if known is None:
                time, _ = instants(model)
            one = sample(model, time, known)
            stage = stage or template(one, time)
        except FemError:  # its own run will say so
            continue
        if stage is not None and (known is None or has_same_shape(one, known)):
            numbers.append(number)
            samples.append(one)
    if stage is None:
        return [], [], None
    stay = standing(samples)
    return list(compress(numbers, stay)), list(compress(samples, stay)), stage if stay[0] else None


def standing(samples: Sequence[Sample]) -> Flags:
    """(samples,) whose supports are where they are prescribed at the start: lanes have no jumps."""
    systems = {id(one.system): one.system for one in samples}
    size = min(float(np.abs(system.coordinates).max()) for system in systems.values())
    jumping = jumps([one.supports for one in samples], np.array([one.u for one in samples]), 0.0, size)
    return np.asarray(~jumping.any(axis=1))


def template(first: Sample, time: Floats) -> StepSystem | None:
    """A sample made ready to march, or None where it needs what lanes have not."""
    step = first.model.steps[0]
    assert isinstance(step.procedure, Dynamic)
    scheme = SCHEMES[step.procedure.integrator](step.procedure)
    stage = prepare(first.system, first.environment, first.bars, scheme, step.controls, "AUTO")
    if stage.choice.solver not in CHAINS or len(first.system.pairs) or not first.system.is_passive:
        return None
    motion = first_motion(first.system)
    evaluate_start(stage, motion, loading(stage, motion, time[[0, 0]], np.ones(1)))
    hold_unrestrained(stage, step)
    return stage if len(stage.nodes.artificial_stiffness) == 0 else None


def has_same_march(model: Model, first: Model) -> bool:
    """Both march through the same instants by the same scheme and record the same."""
    step, its = model.steps[0], first.steps[0]
    same_step = step.procedure == its.procedure and step.extrapolation == its.extrapolation
    same_names = model.mesh is first.mesh or is_alike(model.mesh, first.mesh, NAMES)
    return same_step and same_names and step.nlgeom == its.nlgeom and step.outputs == its.outputs


def has_same_shape(one: Sample, first: Sample) -> bool:
    """Two samples differ in numbers only."""
    is_another = one.system is not first.system and one.bars is not first.bars
    if is_another and not all(map(np.array_equal, shape_of(one), shape_of(first))):
        return False
    if one.loads is not first.loads and not np.array_equal(one.loads.is_gravity, first.loads.is_gravity):
        return False
    if one.supports is not first.supports:
        orders = [[order for order, _ in each.groups] for each in (one.supports, first.supports)]
        if orders[0] != orders[1] or not np.array_equal(one.supports.group, first.supports.group):
            return False
    same_tests = one.limits is first.limits or np.array_equal(kinds_of(one.limits), kinds_of(first.limits))
    return same_tests and one.thermal.shape == first.thermal.shape


def shape_of(one: Sample) -> tuple[Any, ...]:
    """What is the same in models of one shape."""
    bars, system = one.bars, one.system
    return bars.nodes, bars.kinds, bars.off_mass.shape, system.springs.dofs, system.family, system.mass > 0.0


def kinds_of(limits: Floats) -> Any:
    """Which of the criteria are in use."""
    return np.append(limits[[groups.RELATIVE, groups.ABSOLUTE, groups.CORRECTION]] >= 0.0, limits[groups.TO_FLOOR])


def march_all(whole: Fleet, stage: StepSystem, every: int, may_compile: bool) -> bool:
    """March all blocks; False: it would have to be compiled and must not."""
    step = stage.system.model.steps[0]
    assert isinstance(step.procedure, Dynamic)
    extrapolation = ("NO", "LINEAR", "PARABOLIC").index(step.extrapolation)
    secant = stage.scheme.secant
    blocks: Any = whole.problem.bars.blocks
    is_symmetric = not (secant or np.any(blocks.array[:, 4]))
    options: Any = Fixed(
        np.array([secant, extrapolation, SETTLING, step.procedure.initial_acceleration, is_symmetric], np.int64)
    )
    row: Any = Fixed(np.array(stage.coefficients, float))
    rest = every, options, row, whole
    if not (may_compile or is_compiled(march_blocks, 0, 1, *rest)):
        return False
    for first in range(0, whole.blocks, BLOCKS_AT_ONCE):
        march_blocks(first, min(first + BLOCKS_AT_ONCE, whole.blocks), *rest)
    return True


def record_of_lanes(whole: Fleet, increments: Ints, time: Floats, dt: Floats, probes: Ints, elements: Ints) -> Rows:
    """The record of all lanes, as ``Marched`` has it."""
    packs = ((name, getattr(whole.record, name).array) for name in ("increments", "kinematics", "values"))
    kept = whole.record._replace(**{name: np.moveaxis(array, 0, -2) for name, array in packs})
    lengths = np.concatenate([[0.0], dt])[increments]
    rows = np.arange(len(increments))
    return rows_of(1, kept, rows, increments, time[increments], lengths, (probes, elements), True)
