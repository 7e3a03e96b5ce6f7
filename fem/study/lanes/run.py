"""March models that differ in numbers as lanes, where they allow it: block after block of lanes.

Lanes that are not compiled yet march one after the other through the march of single runs. Each ends, bit by bit, as a
run of its own; what is spared is making the same arrays ready again for every model, and a row of numbers at a time.
Whatever a run of its own would cut back, refuse or tell is left to that run.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import compress
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.supports import jumps
from fem.compiled import inner_kernel, is_compiled, is_compiled_in_time, kernel
from fem.compiled.interpreted import work
from fem.compiled.lanes import Fixed, Lanes, local
from fem.deck.parameters import Address
from fem.errors import FemError
from fem.forces.bar import INV_LENGTH, VISCOUS, Bars
from fem.forces.families import FAMILIES
from fem.forces.laws import LINEAR
from fem.forces.protocol import Tangent
from fem.forces.springs import Springs
from fem.linear.choice import CHAINS
from fem.model import Dynamic, Model
from fem.model.quantities import ENERGIES
from fem.runs.record import Rows
from fem.runs.schedule import Schedule
from fem.solve.clock import expected_increments, first_chunk
from fem.solve.energy_watch import SETTLING
from fem.solve.loop import ErrorsTold
from fem.solve.newton.arc import no_arc
from fem.solve.newton.balance import note_increment
from fem.solve.newton.groups import CONTROL, DONE, ROW, Ledger, Loading, Motion, Nodes, Passage, Problem, Scratch
from fem.solve.newton.march import march
from fem.solve.outcome import gather_reactions, numbers_in, rows_of
from fem.solve.rods import SAME_LENGTH, SAME_RATE, check_constraints, consistent_velocities
from fem.solve.schemes import SCHEMES, Coefficients
from fem.solve.start import evaluate_start, first_motion, initial_acceleration, open_energies, small_or_sparse_mass
from fem.solve.statics.mechanisms import hold_unrestrained
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem, loading, loading_at, prepare, record
from fem.study.lanes.begun import Begun, begun, block_of, criteria, fits, march_begun
from fem.study.lanes.begun import arguments_of as begun_arguments
from fem.study.lanes.march import (
    EXTREMES,
    GREATEST,
    LEAST,
    NOW,
    REASON,
    SOLVES,
    EndedLanes,
    Packs,
    march_lanes,
    open_lanes,
)
from fem.study.lanes.pack import OF_ITEMS, WIDTH, Sample, as_long, is_alike, packs_of, sample, varied
from fem.study.lanes.past import Heard, Past

NUMBERS = ("increments", "kinematics", "values")
"""Fields of a record that are numbers of increments."""
NONE, NO_ARC = np.zeros(0, np.int64), no_arc()
BLOCKS_AT_ONCE = 64
"""Blocks that march before Python looks for Ctrl-C."""
MOST_NUMBERS, SINGLE_NUMBERS = 2**25, 2**19
"""Numbers that the lanes of one march may record, 256 MB, and models that march one by one, 4 MB: in the cache."""
MOST_PASTS = 8
"""Of models that march together, so many are kept to begin others with."""
OF_SCHEME = tuple(each.name for each in fields(Dynamic) if each.name not in ("dt", "period"))
"""Fields of a procedure that lanes of one march share."""


def can_run_in_lanes(model: Model) -> str:
    """Why a model cannot be a lane; empty where it can.

    Lanes take a ``*DYNAMIC, DIRECT`` step of an implicit scheme, whatever comes before it, bars with springs and
    dashpots, equations, moving supports, loads, temperatures, water, wind, bottoms and cylinders, rods (of schemes that
    do not lag); no ropes or stops, no tables of force over elongation, no limit of increments.
    """
    step = model.steps[-1] if model.steps else None
    procedure = step.dynamic if step else None
    if not step or not procedure or not procedure.direct:
        return "its last step is not *DYNAMIC, DIRECT"
    if not (scheme := SCHEMES[procedure.integrator](procedure)).is_recursion:
        return f"{'EXPLICIT' if scheme.is_explicit else procedure.integrator} has a march of its own"
    most = step.max_increments
    rigid = [each for each in model.materials.values() if each.is_inextensible]
    ratios = [(each.compression_ratio, each.tension_ratio) for each in rigid]
    reasons = {
        "INC= ends the step early": most is not None and most < (expected_increments(procedure) or 0),
        "it has elements that break": model.failures,
        "it has planes": model.planes,
        "its seabed is a grid": any(bed.grid is not None for bed in model.seabeds),
        "it has vortices": model.vortices,
        "it has ropes or stops": any(0.0 in pair for pair in ratios),
        "it has a spring with a table": any(spring.table for spring in model.springs),
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


@dataclass(frozen=True, slots=True)
class Marched:
    """Models that marched side by side.

    rows     of all lanes: two more axes at the end of what is per increment, block and lane in the block
    numbers  model -> its lane, of those that marched well;  counts, solves (lanes,): increments, and linear solves in
             all of them
    before   what all of these models have told of earlier steps
    """

    rows: Rows
    numbers: dict[int, int]
    counts: Ints
    solves: Ints
    before: Heard = field(default_factory=Heard)

    def of(self, number: int) -> Rows:
        """The rows of one model, as its own run has them."""
        lane = divmod(self.numbers[number], WIDTH)
        alone: dict[str, Any] = {name: getattr(self.rows, name)[..., *lane] for name in PER_LANE}
        return replace(self.rows, **alone)


PER_LANE = (
    "time", "dt", "iterations", "residual_norm", *ENERGIES, "energy_error", "numerical_dissipation", "largest_u",
    "motion", "element_values",
)  # fmt: skip
"""Fields of ``Rows`` with axes of blocks and lanes."""


def march_together(
    models: Sequence[Model],
    every: int = 1,
    *,
    record_all: bool = False,
    may_compile: bool = True,
) -> Iterator[Marched]:
    """All models that march well as lanes of one march, which differ in numbers only.

    every        increments between two recorded rows; 0: only the start, the end and the extremes between them
                 (``extremes_in``). The energy watch looks at all increments
    record_all   rows carry every node and element, not only the printed ones
    may_compile  False: lanes whose shape is not compiled yet march one by one, if that is short
    """
    if models and goes_on(models[0]):
        return march_on(models, every, record_all, may_compile)
    numbers, samples, stage = gather(models, may_differ=every == 0)
    return marched(numbers, samples, stage, every, record_all, may_compile)


def march_columns(
    model: Model, columns: Mapping[Address, Floats], every: int = 1, *, may_compile: bool = True
) -> Iterator[Marched] | None:
    """``march_together`` of models that differ from the first one in some of its numbers, each a column; None where
    these reach more of it than ``varied`` knows."""
    if goes_on(model):
        return None
    if can_run_in_lanes(model):
        return iter(())
    try:
        first = sample(model)
        samples = varied(first, columns, may_differ=every == 0)
        if samples is None:
            return None
        good = {number: one for number, one in samples.items() if keeps_lengths(one)}
        ready = first if keeps_lengths(first) else next(iter(good.values()), None)
        stage = template(ready) if ready else None
    except FemError:  # its own run will report it
        return iter(())
    stay = standing(list(good.values())) if good else np.zeros(0, np.bool_)
    numbers, chosen = list(compress(good, stay)), list(compress(good.values(), stay))
    return marched(numbers, chosen, stage, every, False, may_compile)


def marched(
    numbers: Sequence[int], samples: Sequence[Sample], stage: StepSystem | None, every: int, record_all: bool,
    may_compile: bool,
) -> Iterator[Marched]:  # fmt: skip
    """Samples, and the numbers of their models; ``stage``: the first one made ready, None: there is none."""
    if stage is None or not samples:
        return
    for start, rows, good, solves in march_samples(stage, samples, every, record_all, may_compile):
        counts = np.array([len(one.dt) for one in samples[start : start + len(good)]])
        yield Marched(rows, {numbers[start + lane]: lane for lane in np.flatnonzero(good).tolist()}, counts, solves)


def march_samples(
    stage: StepSystem, samples: Sequence[Sample], every: int, record_all: bool, may_compile: bool
) -> Iterator[tuple[int, Rows, Flags, Ints]]:
    """As many as there is room for at once: number of the first, rows, which ones marched well, linear solves.
    In lanes, where these are compiled or ``may_compile``; else one by one, where that is short and all is recorded."""
    counts = [len(one.dt) for one in samples]
    count, has_counts = max(counts), len(set(counts)) > 1
    increments, probes, elements = recorded(samples[0].model, stage, 0.0, count, every, record_all)
    numbers = numbers_in(record(stage, 1, probes, elements))
    kept = len(increments) * numbers
    if any(one.time is not samples[0].time for one in samples):
        kept += count * (3 + 4 * int(np.count_nonzero(samples[0].supports.supported)))
    at_once = MOST_NUMBERS // (kept * WIDTH) * WIDTH
    are_all = len(samples) <= at_once  # else a few of them, to ask for machine code
    few, written = (samples, len(increments)) if are_all else (samples[:: -(-len(samples) // WIDTH)], 1)
    packs = packs_of(stage, few, written, probes, elements, has_counts)
    is_there = is_compiled_in_time if may_compile else is_compiled
    in_lanes = is_there(march_blocks, 0, 1, *arguments_of(packs, stage, every))
    may_be_single = every <= 1 and is_short(stage, count)
    if not in_lanes:
        at_once = max(1, SINGLE_NUMBERS // (numbers * (count + 1)))
    for start in range(0, len(samples) if at_once else 0, max(at_once, 1)):
        part = samples[start : start + at_once]
        whole = packs if in_lanes and are_all else None
        if in_lanes and not are_all:
            whole = packs_of(stage, part, len(increments), probes, elements, has_counts)
        if whole and march_all(whole, stage, every, is_there):
            reasons, solves = (whole.outcome.array[:, at].ravel()[: len(part)] for at in (REASON, SOLVES))
            done = reasons == DONE
            both = whole.loading.time, whole.loading.dt
            time, dt = (np.moveaxis(each.array if isinstance(each, Lanes) else each[..., None], 0, 1) for each in both)
            found = whole.record._replace(**{name: getattr(whole.record, name).array for name in NUMBERS})
        elif may_be_single:
            found, done, solves = march_singly(stage, part, probes, elements)
            found = found if every else folded(found)
            time, dt = (np.array(as_long([getattr(one, each) for one in part])).T[..., None] for each in ("time", "dt"))
        else:
            return
        rows = record_of_lanes(found, increments, time, dt, (probes, elements))
        # those whose energies or stresses overflowed are left to runs of their own
        finite = np.isfinite(rows.energy_error).all(axis=0) & np.isfinite(rows.element_values).all(axis=(0, 1, 2))
        yield start, rows, done & finite.ravel()[: len(part)], solves.astype(np.int64)


def recorded(
    model: Model, stage: StepSystem, start: float, count: int, every: int, record_all: bool
) -> tuple[Ints, Ints, Ints]:
    """Increments, nodes and elements that are recorded of the last step, which begins at a total time."""
    schedule = Schedule(model, len(model.steps) - 1, start, count, False)
    everything = np.arange(stage.system.shown), np.arange(len(stage.system.family))
    probes, elements = everything if record_all else (schedule.nodes, schedule.elements)
    return np.array([*range(0, count, every), count] if every else [0, *[count] * (EXTREMES - 1)]), probes, elements


def folded(found: Ledger) -> Ledger:
    """Of all rows (models, rows, ...) of a record the first, the last, and the least and greatest numbers in any."""

    def four(of: Floats) -> Floats:
        return np.stack([of[:, 0], of[:, -1], of.min(axis=1), of.max(axis=1)], axis=1)

    parts: dict[str, Any] = {name: four(getattr(found, name)) for name in NUMBERS}
    return found._replace(**parts)


def extremes_in(rows: Rows) -> tuple[Rows, Rows, Rows]:
    """The end, the least and the greatest of all numbers since the start, as one row each, of rows that ``every=0`` has
    recorded."""
    end, least, greatest = (rows.chosen(np.array([place])) for place in (NOW, LEAST, GREATEST))
    return end, least, greatest


def goes_on(model: Model) -> bool:
    """The lane of a model goes on from a state that the model reaches alone (``begun``)."""
    is_tied = bool(model.equations or model.links or model.bodies)
    return len(model.steps) > 1 or is_tied or any(family.wanted(model) for family in FAMILIES)


def march_on(models: Sequence[Model], every: int, record_all: bool, may_compile: bool) -> Iterator[Marched]:
    """``march_together`` of models that go on, block by block of those that differ in numbers only."""
    is_there = is_compiled_in_time if may_compile else is_compiled
    pasts, groups = deque[Past](maxlen=MOST_PASTS), list[LaneGroup]()
    for number, model in enumerate(models):
        try:
            with ErrorsTold(model):
                past, last = from_past(pasts, model)
                one = begun(past, last) if past and last else None
        except FemError:  # its own run will report it
            continue
        if past and one is None:  # it needs what lanes have not, and so do others
            return
        if one is None or one.jumps:
            continue
        group = next((group for group in groups if fits(one, group.first)), None)
        if group is None:
            group = LaneGroup(one, every, record_all)
            if not is_there(march_begun, *group.arguments([one])):
                return
            groups.append(group)
        group.lanes[number] = one
        if len(group.lanes) == WIDTH:
            yield from group.march()
    for group in groups:
        yield from group.march()


def from_past(pasts: deque[Past], model: Model) -> tuple[Past, StepRun] | tuple[None, None]:
    """One of some pasts, or a new one, and the last step of a model after it; none where the model is no lane."""
    for past in pasts:
        if last := past.last_step(model):
            return past, last
    if can_run_in_lanes(model):
        return None, None
    pasts.appendleft(past := Past(model))
    last = past.last_step(model)
    assert last is not None
    return past, last


class LaneGroup:
    """Models that can be lanes of one march, ``lanes``: those that have not marched yet, by number."""

    def __init__(self, first: Begun, every: int, record_all: bool) -> None:
        self.first, self.every, self.lanes = first, every, dict[int, Begun]()
        self.time, self.dt = first.loading.time, first.loading.dt
        self.recorded = recorded(first.model, first.stage, float(self.time[0]), len(self.dt), every, record_all)

    def arguments(self, lanes: Sequence[Begun]) -> tuple[Any, ...]:
        """What ``march_begun`` is called with."""
        increments, probes, elements = self.recorded
        return begun_arguments(self.first.stage, self.every, block_of(lanes, len(increments), probes, elements))

    def march(self) -> Iterator[Marched]:
        """All lanes through their last step, those with the same past together."""
        lanes = list(self.lanes.values())
        if not lanes:
            return
        increments, probes, elements = self.recorded
        arguments = self.arguments(lanes)
        march_begun(*arguments)
        kept, outcome, system = arguments[-4], arguments[-1].array, self.first.stage.system
        gather_reactions(system.bodies, probes, kept.kinematics.array)
        kept.values.array[:, system.gone[elements]] = 0.0
        found = kept._replace(**{name: getattr(kept, name).array[None] for name in NUMBERS})
        time, dt = (each[:, None, None] for each in (self.time, self.dt))
        rows = record_of_lanes(found, increments, time, dt, (probes, elements))
        rows = replace(rows, step=len(self.first.model.steps), sea_from=self.first.stage.environment.sea_from)
        counts, solves = np.full(WIDTH, len(self.dt)), outcome[SOLVES].astype(np.int64)
        places: dict[int, dict[int, int]] = {}
        for lane, (number, one) in enumerate(self.lanes.items()):
            if outcome[REASON, lane] == DONE:
                places.setdefault(id(one.past), {})[number] = lane
        self.lanes.clear()
        for numbers in places.values():
            yield Marched(rows, numbers, counts, solves, lanes[next(iter(numbers.values()))].past.heard)


def gather(models: Sequence[Model], may_differ: bool = False) -> tuple[list[int], list[Sample], StepSystem | None]:
    """The models that can march together (numbers, samples), and the first one of them made ready.
    may_differ: in the number of their increments"""
    numbers: list[int] = []
    samples: list[Sample] = []
    stage: StepSystem | None = None
    for number, model in enumerate(models):
        known = samples[-1] if samples else None  # the one most likely to have the same parts
        is_lane = not (can_run_in_lanes(model) or goes_on(model))
        if not is_lane or not (known is None or has_same_march(model, known.model, may_differ)):
            continue
        try:
            one = sample(model, known)
            if not keeps_lengths(one):
                continue
            stage = stage or template(one)
        except FemError:  # its own run will report it
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


def keeps_lengths(one: Sample) -> bool:
    """Its rods have their lengths and keep them at the start; all else is left to a run of its own."""
    rods = one.bars.rods
    if not len(rods):
        return True
    v, held = one.v.copy(), np.flatnonzero(one.supports.supported)
    v[held] = one.supports.motion(held, np.zeros(1), after=True)[1][0]
    along, rate = (
        np.subtract(*field.reshape(-1, 3)[one.bars.nodes[rods]].swapaxes(0, 1))
        for field in (one.system.coordinates.ravel() + one.u, v)
    )
    square = one.bars.constants[INV_LENGTH, rods] ** -2
    is_long = np.abs((along * along).sum(axis=1) - square) <= 2.0 * SAME_LENGTH * square
    stretching = np.abs((along * rate).sum(axis=1)) / np.sqrt(square)
    return bool(is_long.all() and stretching.max() <= SAME_RATE * np.abs(v).max())


def template(first: Sample) -> StepSystem | None:
    """A sample made ready to march, or None where it needs what lanes have not."""
    step = first.model.steps[0]
    assert step.dynamic
    scheme = SCHEMES[step.dynamic.integrator](step.dynamic)
    stage = prepare(first.system, first.environment, first.bars, scheme, step.controls, "AUTO")
    if stage.choice.solver not in CHAINS or len(first.system.pairs) or not first.system.is_passive:
        return None
    motion = first_motion(first.system)
    evaluate_start(stage, motion, loading_at(stage, motion, float(first.time[0])))
    if len(stage.bars.rods):
        if stage.scheme.secant or stage.coefficients.lags or LINEAR in stage.bars.kinds[stage.bars.rods, 0]:
            return None
        check_constraints(stage, motion)
    hold_unrestrained(stage, step)
    return stage if len(stage.nodes.artificial_stiffness) == 0 else None


def has_same_march(model: Model, first: Model, may_differ: bool) -> bool:
    """Both march through as many increments, which ``may_differ``, by the same scheme and record the same."""
    step, its = model.steps[0], first.steps[0]
    same_step = step.procedure is its.procedure or (
        is_alike(step.procedure, its.procedure, OF_SCHEME)
        and (may_differ or expected_increments(step.timed) == expected_increments(its.timed))
    )
    same_step = same_step and step.extrapolation == its.extrapolation
    same_names = is_alike(model.mesh, first.mesh, OF_ITEMS)
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
    same_tests = one.limits is first.limits or np.array_equal(criteria(one.limits), criteria(first.limits))
    return same_tests and one.thermal.shape == first.thermal.shape


def shape_of(one: Sample) -> tuple[Any, ...]:
    """What is the same in models of one shape."""
    bars, system = one.bars, one.system
    return bars.nodes, bars.kinds, bars.off_mass.shape, system.springs.dofs, system.family, system.mass > 0.0


def arguments_of(whole: Packs, stage: StepSystem, every: int) -> tuple[Any, ...]:
    """What ``march_blocks`` is called with, behind the numbers of blocks."""
    step = stage.system.model.steps[0]
    assert step.dynamic
    extrapolation = ("NO", "LINEAR", "PARABOLIC").index(step.extrapolation)
    secant = stage.scheme.secant
    blocks: Any = whole.problem.bars.blocks
    is_symmetric = not (secant or np.any(blocks.array[:, 4]))
    numbers = [secant, extrapolation, SETTLING, step.dynamic.initial_acceleration, is_symmetric]
    return every, Fixed(np.array(numbers, np.int64)), Fixed(np.array(stage.coefficients, float)), whole


def march_all(whole: Packs, stage: StepSystem, every: int, is_there: Callable[..., bool]) -> bool:
    """March all blocks; False: there is no machine code for that."""
    rest = arguments_of(whole, stage, every)
    if not is_there(march_blocks, 0, 1, *rest):
        return False
    for first in range(0, whole.blocks, BLOCKS_AT_ONCE):
        march_blocks(first, min(first + BLOCKS_AT_ONCE, whole.blocks), *rest)
    return True


def record_of_lanes(found: Ledger, increments: Ints, time: Floats, dt: Floats, of: tuple[Ints, Ints]) -> Rows:
    """Rows of some increments, with two more axes of what is per lane: block and lane in the block.

    found     the record; its arrays of numbers (``NUMBERS``) are (blocks, rows, ..., width);  of: nodes and elements
    time, dt  (k+1, blocks, width), (k, ...) of all increments; one block where all lanes have the same
    """
    kept = found._replace(**{name: np.moveaxis(getattr(found, name), 0, -2) for name in NUMBERS})
    shape = len(increments), *kept.increments.shape[-2:]
    lengths = np.concatenate([np.zeros_like(dt[:1]), dt])
    time, lengths = (np.broadcast_to(each[increments], shape) for each in (time, lengths))
    rows = rows_of(1, kept, np.arange(len(increments)), increments, time[:, 0, 0], lengths[:, 0, 0], of, True)
    return replace(rows, time=time, dt=lengths, sea_from=0.0)  # the only step is dynamic, and waves act on nothing


@inner_kernel
def at(packs: Floats, b: int) -> Floats:
    """Block b of an array of packs; the only one where it is that of all."""
    block: Floats = packs[min(b, packs.shape[0] - 1)]
    return block


@inner_kernel
def coefficients_of(row: Floats, options: Ints) -> Coefficients:
    """The numbers of the scheme, known when this is compiled."""
    return Coefficients(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], options[0] != 0,
        row[12], row[13], row[14] > 0.0, row[15] > 0.0, row[16] > 0.0, options[1],
    )  # fmt: skip


@inner_kernel
def of_block(b: int, problem: Problem) -> Problem:
    nodes, bars, springs = problem.nodes, problem.bars, problem.springs
    mass, damping, place, mask = at(nodes.mass, b), at(nodes.damping, b), nodes.place, nodes.mask
    directed, artificial = at(nodes.directed_mass, b), at(nodes.artificial_stiffness, b)
    massive = Nodes(mass, damping, place, nodes.dof_kind, mask, directed, artificial, nodes.caution, nodes.mass_pairs)
    constants, off_mass, off_damping = at(bars.constants, b), at(bars.off_mass, b), at(bars.off_damping, b)
    its = Bars(bars.nodes, bars.kinds, bars.blocks, constants, bars.table, off_mass, off_damping, bars.rods)
    ties = Springs(springs.dofs, at(springs.constants, b), springs.table, springs.pair)
    equations, ropes, tree = problem.equations, problem.ropes, problem.tree
    return Problem(massive, its, ties, None, True, equations, ropes, problem.solver, tree, problem.plan)


@inner_kernel
def follow(curves: Floats, shares: Floats, motion: Floats) -> None:
    """Motion (k, c) of supports: sum over j of curves (k, c, j), each times its share (c, j)."""
    for k in range(curves.shape[0]):
        for c in range(curves.shape[1]):
            motion[k, c] = curves[k, c, 0] * shares[c, 0]
            for j in range(1, curves.shape[2]):
                motion[k, c] += curves[k, c, j] * shares[c, j]


@inner_kernel
def loading_of(b: int, loading: Loading, curves: Floats, shares: Floats) -> Loading:
    curve, clock = min(b, loading.factors.shape[0] - 1), min(b, loading.dt.shape[0] - 1)
    vectors, gravity, weighted = at(loading.vectors, b), loading.is_gravity, loading.weighted[curve]
    dofs, factors, time = loading.support_dofs, loading.factors[curve], loading.time[clock]
    u, v = at(loading.support_u, b), at(loading.support_v, b)
    a, start = at(loading.support_a, b), at(loading.support_start, b)
    follow(curves[0], shares, u)
    follow(curves[1], shares, v)
    follow(curves[2], shares, a)
    follow(curves[3], shares, start)
    end, mean = at(loading.thermal_end, b), at(loading.thermal_mean, b)
    return Loading(loading.dt[clock], time, vectors, gravity, weighted, factors, dofs, u, v, a, start, end, mean)


@kernel
def march_blocks(first: int, last: int, stride: int, options: Ints, row: Floats, packs: Packs) -> None:
    """``open_lanes`` and ``march_lanes`` for blocks first..last, one after the other.

    options  secant, extrapolation, increments before the energy watch, whether accelerations are wanted at the start,
             whether the tangent is symmetric
    row      the numbers of the scheme
    """
    scheme, start, room, record = coefficients_of(row, options), packs.start, packs.room, packs.record
    for b in range(first, last):
        u, v, a, origin, lagged = local(room.u), local(room.v), local(room.a), local(room.u), local(room.lagged)
        spent = local(room.u)
        force, flow, reaction = local(room.force), local(room.flow), local(room.force)
        multiplier, energies, memory = local(room.multiplier), local(start.energies), local(start.memory)
        state, power = local(room.state), local(room.power)
        motion = Motion(
            u, v, a, force, flow, reaction, multiplier, energies, memory, origin, lagged, state, power, spent
        )
        for dof in range(motion.u.shape[0]):
            motion.u[dof], motion.v[dof], motion.a[dof] = start.u[b, dof], start.v[b, dof], start.a[b, dof]
        its = room.tangent  # room for registers: it lasts as long as the kernel that asks for it
        bar_tangent, off, block, cross = local(its.bar_tangent), local(its.off), local(its.block), local(its.cross)
        tangent = Tangent(its.ends, bar_tangent, off, block, its.pairs, cross)
        work = Scratch(
            local(room.u), local(room.v), local(room.a), local(room.force), local(room.flow), local(room.load),
            local(room.known_force), local(room.residual), local(room.shift), local(room.inertia),
            local(room.momentum), local(room.damping_force), local(room.du), local(room.multiplier), local(room.tau),
            local(room.pinned), tangent, local(room.block), local(room.inverse), local(room.reaction),
            local(room.band), local(room.unknowns), local(room.blocks), local(room.krylov), local(room.kept),
            local(room.right), local(room.found), local(room.size), local(room.gaps), local(room.pulls),
            local(room.lagged), local(room.state), local(room.power), local(room.mass_before), local(room.mean),
            local(room.rise), local(room.pull), local(room.gain),
        )  # fmt: skip
        kept = Ledger(
            record.increments[b], record.nodes, record.kinematics[b], record.elements, record.values[b],
            record.touching, record.watched, record.allowed, record.shown,
        )  # fmt: skip
        problem, loading = of_block(b, packs.problem), loading_of(b, packs.loading, packs.curves, at(packs.shares, b))
        through = Passage(scheme, at(packs.limits, b), problem, loading, motion, work, kept)
        open_lanes(options[3] != 0, through, packs.outcome[b])
        rows = local(kept.increments[0]), local(kept.kinematics[0]), local(kept.values[0])
        ended = EndedLanes(local(start.energies), rows[0], rows[1], rows[2])
        march_lanes(options[4] != 0, options[2], stride, at(packs.counts, b), ended, through, packs.outcome[b])


def is_short(stage: StepSystem, increments: int) -> bool:
    """A march of so many increments takes a fraction of a second: Ctrl-C waits no longer, and preparing pays."""
    return increments <= first_chunk(stage.system)


def march_singly(
    stage: StepSystem, samples: Sequence[Sample], probes: Ints, elements: Ints
) -> tuple[Ledger, Flags, Ints]:
    """The record (models, rows, ..., 1) of all increments, which models marched well, and their linear solves. Rows
    after the end of a model repeat it. stage: of the first model of this shape, whose working room all of them use."""
    empty = record(stage, max(len(one.dt) for one in samples) + 1, probes, elements)
    parts = {name: np.zeros((len(samples), *getattr(empty, name).shape, 1)) for name in NUMBERS}
    motion, good = first_motion(stage.system), np.zeros(len(samples), np.bool_)
    work.ahead = math.inf  # so many runs are worth waiting for machine code
    for number, one in enumerate(samples):
        is_viscous, is_its = (bars.constants[VISCOUS].any() for bars in (one.bars, stage.bars))
        if is_viscous != is_its or one.system.has_flow != stage.system.has_flow:
            continue  # where only one of them loses energy another solver takes the tangent
        kept = empty._replace(**{name: part[number, ..., 0] for name, part in parts.items()})
        with suppress(FemError), ErrorsTold(one.model, 1):  # its own run will report it
            good[number] = march_one(restaged(stage, one), one, motion, kept)
    solves = parts["increments"][:, 1:, ROW.iterations, 0].sum(axis=1)
    for part in parts.values():
        for number, one in enumerate(samples):
            part[number, len(one.dt) + 1 :] = part[number, len(one.dt)]
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


def march_one(stage: StepSystem, one: Sample, motion: Motion, room: Ledger) -> bool:
    """As a run of its own opens its step and goes through all increments, rows 1, 2, ...; whether it came to the end.
    motion: room"""
    procedure, held = one.model.steps[0].dynamic, np.flatnonzero(one.supports.supported)
    assert procedure is not None
    clear(*motion)
    motion.u[:], motion.v[:] = one.u, one.v
    chunk = loading(stage, motion, one.time, one.dt)
    _, motion.v[held], motion.a[held] = (each[0] for each in one.supports.motion(held, one.time[:1], after=True))
    evaluate_start(stage, motion, chunk)
    if len(stage.bars.rods):
        consistent_velocities(stage, motion, small_or_sparse_mass(stage))
        evaluate_start(stage, motion, chunk)
    initial_acceleration(stage, motion, NONE, procedure)
    open_energies(stage, motion, chunk, True)
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, stage.problem, chunk.thermal_end[0], motion, room)
    later = {name: getattr(room, name)[1:] for name in NUMBERS}
    control = np.zeros(len(CONTROL), np.int64)
    control[CONTROL.judged] = SETTLING
    through = stage.passage(chunk, motion, room._replace(**later))
    return bool(march(len(one.dt), control, NO_ARC, through) == DONE)
