"""Models as lanes: in what they differ, and the arrays ``march_blocks`` takes, packs of lanes in blocks.

Numbers are gathered without assembling the same thing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, same
from fem.assembly.cases import Span
from fem.assembly.environment import (
    Environment,
    LoadSet,
    first_environment,
    load_columns,
    load_set,
    next_environment,
    thermal_rows,
)
from fem.assembly.equations import Equations
from fem.assembly.supports import Supports, advance_supports, initial_supports, support_columns
from fem.assembly.system import BAR_FAMILY, System, assemble, linearised
from fem.compiled.lanes import Fixed, Lanes
from fem.deck.parameters import Address
from fem.forces.bar import AREA, COMPLIANCE, INV_LENGTH, YOUNG, Bars
from fem.forces.protocol import Tangent
from fem.linear.choice import EliminationPlan, Tree
from fem.model import InitialCondition, Material, Model
from fem.model.curves import Constant, evaluate
from fem.model.quantities import RECORDED
from fem.solve.checkpoint import refuse_earlier
from fem.solve.clock import Clock, equal_increments, expected_increments, increments
from fem.solve.newton.groups import ENERGY, LIMIT, MEMORY, ROW, Ledger, Loading, Nodes, Problem, Ropes, Scratch
from fem.solve.step_system import (
    FLOOR,
    NO_ROPES,
    StepSystem,
    limits_of,
    scratch,
    support_motion,
    thermal_mean,
    weighted,
)
from fem.study.lanes.march import OUTCOME, Packs, Start

OF_SYSTEM = tuple(
    "mesh materials sections springs dashpots masses nonstructural growths rest_lengths".split()
    + "seabeds cylinders vortices equations".split()
)
"""Fields of a model that its assembled arrays come from, with initial conditions that are no motion."""
OF_ITEMS = ("node_labels", "blocks", "node_sets", "element_sets")
"""Fields of a mesh that tell which nodes and elements there are: on no other do supports and loads depend."""
OF_LOADS = ("nodal_loads", "distributed_loads", "temperatures", "replaced", "nlgeom", "amplitude")
"""Fields of a step that loads and temperatures come from."""
OF_SUPPORTS = ("boundaries", "amplitudes")
"""Fields of a model that, with the boundaries of the step, supports come from."""


class Sample(NamedTuple):
    """One model, ready to become a lane. Samples of one ensemble share the parts in which they do not differ.

    time (k+1,), dt (k,): its increments; initial: supports before the step; u, v (3n,) initial; limits as the march
    takes them; thermal (1 or k+1, m)
    """

    model: Model
    time: Floats
    dt: Floats
    system: System
    bars: Bars
    initial: Supports
    environment: Environment
    loads: LoadSet
    u: Floats
    v: Floats
    limits: Floats
    thermal: Floats

    @property
    def supports(self) -> Supports:
        return self.environment.supports


def instants(model: Model) -> tuple[Floats, Floats]:
    """Times (k+1,) and increments (k,) of the only step."""
    step = model.steps[0]
    count = expected_increments(step.timed)
    assert count is not None
    return increments(Clock(step.timed, step.controls, 0.0, np.zeros(0)).plan(count))


def is_alike(one: Any, other: Any, names: tuple[str, ...]) -> bool:
    """The named fields are the same objects, or equal."""
    for name in names:
        its, that = getattr(one, name), getattr(other, name)
        if its is not that and not same(its, that):
            return False
    return True


def at_rest(model: Model) -> list[InitialCondition]:
    """Initial conditions that are no motion: stresses, temperatures, anchors."""
    return [each for each in model.initial_conditions if each.kind not in ("DISPLACEMENT", "VELOCITY")]


def sample(model: Model, known: Sample | None = None) -> Sample:
    """Arrays of a model; what it has in common with ``known`` is taken from there. ModelError as of a run."""
    if known is None or not is_alike(model.mesh, known.model.mesh, OF_ITEMS) or at_rest(model) != at_rest(known.model):
        refuse_earlier(model)
        return filled(model, assemble(model), None, *instants(model))
    step, before, system, environment = model.steps[0], known.model.steps[0], known.system, known.environment
    is_timed = same(step.procedure, before.procedure)
    time, dt = (known.time, known.dt) if is_timed else instants(model)
    is_built = is_alike(model, known.model, OF_SYSTEM)
    is_started = is_alike(model, known.model, ("initial_conditions",))
    follows_alike = is_alike(model, known.model, ("amplitudes",))
    if not is_built:
        refuse_earlier(model)
        system = assemble(model)
    elif not (is_started and follows_alike):
        system = replace(system, model=model)
    u, v = (known.u, known.v) if is_started else system.initial_motion
    held = known.supports.supported
    is_held_there = is_started or all(map(same, (u[held], v[held]), (known.u[held], known.v[held])))
    stays = is_held_there and (is_started or step.nlgeom) and follows_alike and is_alike(step, before, OF_LOADS)
    if not (stays and (is_timed or not (step.ramps or len(known.thermal) > 1))):
        return filled(model, system, None, time, dt)
    initial = known.initial
    if not (is_alike(model, known.model, OF_SUPPORTS) and is_alike(step, before, ("boundaries",))):
        if not is_alike(model, known.model, ("boundaries",)):
            initial = initial_supports(system, model, u)
        span = Span(0.0, float(time[-1]), ramps=step.ramps)
        environment = replace(environment, supports=advance_supports(system, initial, step, span, u, v))
    if not is_built:
        return filled(model, system, (initial, environment), time, dt)
    limits = known.limits
    if not is_alike(step, before, ("controls",)):
        limits = limits_of(step.controls, known.bars)
    parts: dict[str, Any] = {"system": system, "initial": initial, "environment": environment, "limits": limits}
    return known._replace(model=model, time=time, dt=dt, u=u, v=v, **parts)


def filled(
    model: Model, system: System, acting: tuple[Supports, Environment] | None, time: Floats, dt: Floats
) -> Sample:
    """A sample of a system; ``acting``: supports before the step and what acts in it, where that is known."""
    step, (u, v) = model.steps[0], system.initial_motion
    if acting is None:
        before_all, span = first_environment(system, u), Span(0.0, float(time[-1]), ramps=step.ramps)
        environment = next_environment(system, before_all, step, span, u, v, np.zeros_like(u))
        acting = before_all.supports, environment
    bars = system.bars if step.nlgeom else linearised(system.bars, u)
    thermal = thermal_rows(system, acting[1], time)
    loads, limits = load_set(system, acting[1]), limits_of(step.controls, bars)
    return Sample(model, time, dt, system, bars, *acting, loads, u, v, limits, thermal)


def varied(known: Sample, columns: Mapping[Address, Floats], may_differ: bool) -> dict[int, Sample] | None:
    """Samples of models that differ from ``known`` in some numbers, each a column (k,), by their place in it; those of
    few increments first. Some are left to runs of their own: whose stiffness is no number, and, unless they ``may
    differ`` in this, that have not as many increments. None: it is not known here what these numbers reach, or the
    first row, which is ``known`` itself, comes out otherwise."""
    model, step = known.model, known.model.steps[0]
    count = len(next(iter(columns.values())))
    is_good, counts, parts = np.ones(count, np.bool_), np.zeros(count, np.int64), dict[str, Any]()
    timed, moduli, starts = dict[str, Floats](), dict[str, Floats](), dict[int, Floats]()
    acting, held = dict[tuple[str, int], Floats](), dict[int, Floats]()
    for address, column in columns.items():
        match address:
            case ("parameters", _):
                continue
            case ("steps", 0, "procedure", "dt" | "period" as name) if not (step.ramps or len(known.thermal) > 1):
                timed[str(name)] = column
            case ("materials", str(name), "young") if step.nlgeom and is_plain(model.materials[name]):
                moduli[name] = column
            case ("initial_conditions", int(number), "value") if step.nlgeom:
                starts[number] = column
            case ("steps", 0, "boundaries", int(number), "value"):
                held[number] = column
            case ("steps", 0, "nodal_loads" | "distributed_loads" as family, int(number), "value"):
                acting[str(family), number] = column
            case _:
                return None
    if timed:
        assert step.dynamic
        dt, period = (timed.get(name, np.full(count, getattr(step.dynamic, name))) for name in ("dt", "period"))
        counts, instants = equal_increments(dt, period)
        most = np.inf if step.max_increments is None else step.max_increments
        is_good &= (counts > 0) & (counts <= most) & (may_differ | (counts == len(known.dt)))
        parts |= dict(zip(("time", "dt"), instants, strict=True))
    if moduli:
        constants, limits, are_usable = elastic(known, moduli)
        is_good &= are_usable
        parts |= {"bars": [known.bars._replace(constants=each) for each in constants], "limits": limits}
    if starts:
        motion = started(known, starts)
        if motion is None:
            return None
        parts |= dict(zip(("u", "v"), motion, strict=True))
    if held:
        supports = support_columns(known.system, known.supports, step, held)
        if supports is None:
            return None
        parts["environment"] = [replace(known.environment, supports=each) for each in supports]
    if acting:
        vectors = load_columns(known.system, known.environment, step, acting)
        if vectors is None:
            return None
        parts["loads"] = [replace(known.loads, vectors=each) for each in vectors]
    names, rows = list(parts), list(zip(*parts.values(), strict=True)) or [()] * count
    first = known._replace(**dict(zip(names, rows[0], strict=True)))
    pairs = [(getattr(first, name), getattr(known, name)) for name in ("time", "dt", "u", "v", "limits")]
    pairs += [(first.bars.constants, known.bars.constants), (first.loads.vectors, known.loads.vectors)]
    pairs += [(getattr(first.supports, name), getattr(known.supports, name)) for name in ("base", "value")]
    if not all(np.array_equal(*pair) for pair in pairs):
        return None
    order = np.argsort(counts, kind="stable")
    chosen = order[is_good[order]].tolist()
    return {n: known._replace(**dict(zip(names, rows[n], strict=True))) for n in chosen}


def is_plain(material: Material) -> bool:
    """Its modulus reaches nothing but the stiffness of its bars."""
    has_more = material.beta or material.expansion or material.is_inextensible or material.has_rope_law
    return material.young is not None and not has_more


def elastic(known: Sample, moduli: Mapping[str, Floats]) -> tuple[Floats, Floats, Flags]:
    """Constants of bars (k, ...) and limits (k, ...) for moduli of materials (k,); which of them can be used."""
    system, count = known.system, len(next(iter(moduli.values())))
    constants = np.repeat(known.bars.constants[None], count, axis=0)
    for section in system.model.sections:
        if section.material in moduli:
            elements = system.model.mesh.element_sets[section.element_set]
            chosen = system.family[elements][system.family[elements, 0] == BAR_FAMILY, 1]
            constants[:, YOUNG, chosen] = moduli[section.material][:, None]
    young, area, inverse = constants[:, YOUNG], known.bars.constants[AREA], known.bars.constants[INV_LENGTH]
    constants[:, COMPLIANCE] = np.divide(area / inverse, young, out=np.zeros_like(young), where=young != 0.0)
    limits = np.repeat(known.limits[None], count, axis=0)
    limits[:, LIMIT.floor] = FLOOR * (area * young).max(axis=1, initial=0.0)
    usable = np.isfinite(area * young * inverse**2) & (young > 0.0)
    return constants, limits, usable.all(axis=1)


def started(known: Sample, values: Mapping[int, Floats]) -> tuple[Floats, Floats] | None:
    """u and v (k, 3n) at the start for values (k,) of initial conditions, by their number; None where something else
    depends on them."""
    model, count = known.model, len(next(iter(values.values())))
    u, v = (np.repeat(each[None], count, axis=0) for each in (known.u, known.v))
    moved: dict[str, Ints] = {"DISPLACEMENT": np.zeros(0, np.int64), "VELOCITY": np.zeros(0, np.int64)}
    for number, condition in enumerate(model.initial_conditions):
        if condition.kind not in moved:
            if number in values:
                return None
            continue
        dofs = 3 * known.system.nodes_of(condition.target) + condition.dof - 1
        if number in values:
            (u if condition.kind == "DISPLACEMENT" else v)[:, dofs] = values[number][:, None]
            moved[condition.kind] = np.append(moved[condition.kind], dofs)
        elif np.isin(dofs, moved[condition.kind]).any():
            return None
    is_held = any(known.supports.supported[dofs].any() for dofs in moved.values())
    return None if is_held else (u, v)


WIDTH = 8
"""Lanes of a pack: eight float64 fill the widest vector register there is."""


zeros: Any = Lanes
"""An array of packs; to the march it is an array of numbers."""
fixed: Any = Fixed
"""An array known at compilation; to the march it is an array."""


NUMBERS = ("constants", "off_mass", "off_damping")
"""Of bars, that models may differ in."""


def pack(parts: Sequence[Floats], blocks: int = 0, known: int | None = None) -> Any:
    """One array per model (all of one shape) as packs (blocks, ..., WIDTH); the last model fills up the last block.
    One block where all models have the very same array, unless ``blocks`` asks for all of them, to be written to."""
    known = parts[0].ndim if known is None else known
    if is_one(parts):
        packs = zeros(blocks or 1, *parts[0].shape, WIDTH, known=known)
        packs.array[:] = parts[0][..., None]
        return packs
    whole = np.array([*parts, *[parts[-1]] * (-len(parts) % WIDTH)])
    stacked = whole.reshape(len(whole) // WIDTH, WIDTH, *parts[0].shape)
    packs = zeros(len(stacked), *stacked.shape[2:], WIDTH, known=known)
    packs.array[:] = np.moveaxis(stacked, 1, -1)
    return packs


def is_one(parts: Sequence[Any]) -> bool:
    """All are the same object."""
    return all(map(is_, parts, repeat(parts[0])))


def different(parts: Iterable[Any]) -> Iterable[Any]:
    """Each object once."""
    return {id(part): part for part in parts}.values()


def as_long(parts: Sequence[Floats]) -> list[Floats]:
    """All as long as the longest: shorter ones repeat their last row."""
    if is_one(parts):
        return list(parts)
    most = max(map(len, parts))
    return [part if len(part) == most else part[np.minimum(np.arange(most), len(part) - 1)] for part in parts]


def per_dof(parts: Sequence[Floats]) -> Any:
    """``pack`` of nodal values, once for each of the three directions."""
    nodal = pack(parts).array
    packs = zeros(len(nodal), 3 * nodal.shape[1], WIDTH, known=1)
    packs.array[:] = np.repeat(nodal, 3, axis=1)
    return packs


def packs_of(
    stage: StepSystem, samples: Sequence[Sample], rows: int, probes: Ints, elements: Ints, has_counts: bool = False
) -> Packs:
    """Packs of all samples, of which ``stage`` is the first; ``rows`` of the record, of given nodes and elements.
    has_counts: lanes may have different numbers of increments, also where these do not"""
    blocks, size = -(-len(samples) // WIDTH), stage.system.size
    systems = [sample.system for sample in samples]
    is_damped = any(np.any(system.damping) for system in different(systems))
    bars, springs = stage.bars, stage.system.springs
    kinds = bars.blocks.copy()
    kinds[:, 4] = np.any([each.blocks[:, 4] for each in different(sample.bars for sample in samples)], axis=0)
    u, v = (pack([getattr(sample, name) for sample in samples], blocks) for name in ("u", "v"))
    energies, memory = (zeros(count, WIDTH, known=1) for count in (len(ENERGY), len(MEMORY)))
    start: Any = Start(u, v, zeros(blocks, size, WIDTH, known=1), energies, memory)
    mass: Any = per_dof([system.mass for system in systems])
    damping = per_dof([system.damping for system in systems]) if is_damped else zeros(1, 0, WIDTH, known=1)
    place, caution, pairs = map(fixed, (np.zeros(0), np.zeros(0), np.zeros((0, 2), np.int64)))
    directed, artificial = zeros(1, 0, 9, WIDTH, known=2), zeros(1, 0, 9, WIDTH, known=2)
    dof_kind, mask = fixed(stage.nodes.dof_kind), fixed(stage.nodes.mask)
    nodes = Nodes(mass, damping, place, dof_kind, mask, directed, artificial, caution, pairs)
    increments: Any = zeros(blocks, rows, len(ROW), WIDTH, known=1)
    kinematics = zeros(blocks, rows, RECORDED["NODE"], len(probes), 3, WIDTH, known=3)
    values = zeros(blocks, rows, len(elements), RECORDED["EL"], WIDTH, known=2)
    family, touching = fixed(stage.system.family[elements]), fixed(stage.system.touching)
    unwatched = fixed(np.zeros((0, 3), np.int64)), fixed(np.zeros((0, 2)))
    shown = fixed(np.array([stage.system.shown]))
    record = Ledger(increments, fixed(probes), kinematics, family, values, touching, *unwatched, shown)
    same: Any = {"nodes": fixed(bars.nodes), "kinds": fixed(bars.kinds), "rods": fixed(bars.rods)}
    numbers = {name: pack([getattr(sample.bars, name) for sample in samples]) for name in NUMBERS}
    bars = bars._replace(blocks=fixed(kinds), table=None, **same, **numbers)
    constants: Any = pack([system.springs.constants for system in systems])
    springs = springs._replace(dofs=fixed(springs.dofs), constants=constants, table=None, pair=fixed(springs.pair))
    equations, ropes = Equations(*map(fixed, stage.equations)), Ropes(*map(fixed, NO_ROPES))
    tree, plan = Tree(*map(fixed, stage.choice.tree)), EliminationPlan(*map(fixed, stage.choice.plan))
    problem = Problem(nodes, bars, springs, None, True, equations, ropes, 0, tree, plan)
    limits, (loads, curves, shares) = pack([sample.limits for sample in samples]), acting(stage, samples, start)
    lengths = [len(sample.dt) for sample in samples]
    counts = zeros(1, 0, WIDTH, known=1)
    if has_counts or len(set(lengths)) > 1:
        counts = pack([np.array([float(length)]) for length in lengths])
    room, outcome = room_of_packs(stage, systems), zeros(blocks, OUTCOME, WIDTH, known=1)
    return Packs(blocks, counts, limits, problem, loads, curves, shares, start, room, record, outcome)


def room_of_packs(stage: StepSystem, systems: list[System]) -> Any:
    """Working room, as that of a single march."""
    room = scratch(stage.system, stage.bars, stage.choice)
    if any(system.has_flow for system in different(systems)):
        room = room._replace(flow=np.zeros(stage.system.size))
    its = room.tangent
    tangent = {"ends": fixed(its.ends), "pairs": fixed(its.pairs)}
    tangent = {name: empty(array) for name, array in its._asdict().items()} | tangent
    packs = {name: empty(array) for name, array in room._asdict().items() if name != "tangent"}
    return Scratch(**packs, tangent=Tangent(**tangent))


def empty(array: Floats) -> Any:
    return zeros(*array.shape, WIDTH, known=array.ndim)


def acting(stage: StepSystem, samples: Sequence[Sample], start: Any) -> tuple[Loading, Floats, Any]:
    """Loads of all increments, ``curves`` and ``shares`` (``Packs``); ``start`` gets what supports have at the start.

    Where all models follow the same curves through the same instants, only the numbers that multiply them are packed,
    and the motions of supports are room for one block. What acts after the end of a model is what acts there.
    """
    longest = max(samples, key=lambda one: len(one.dt))
    time, dt = longest.time, longest.dt
    supports = [sample.supports for sample in samples]
    first, blocks = supports[0], len(start.u.array)
    held = np.flatnonzero(first.supported)
    starts = (start.v.array, start.a.array)
    support: list[Any]
    curves, shares = np.zeros((4, 0, 0, 0)), zeros(1, 0, 0, WIDTH, known=2)
    if follow_one_curve(samples):
        numbers = zeros(blocks, stage.system.size, 3, WIDTH, known=2)
        for place, name in enumerate(("base", "rate", "value")):
            numbers.array[:, :, place] = pack([getattr(each, name) for each in supports]).array
        for level, array in enumerate(starts, start=1):
            curve = curves_of(first, held, time[:1], level, True)[0]
            array[:, held] = np.einsum("cj,bcjl->bcl", curve, numbers.array[:, held])
        dofs = held[~has_arrived(first, held, numbers.array, start.u.array)]
        is_used = numbers.array[:, dofs].any(axis=(0, 1, 3))
        terms = np.flatnonzero(is_used) if is_used.any() else [0]
        shares = zeros(blocks, len(dofs), len(terms), WIDTH, known=2)
        shares.array[:] = numbers.array[:, dofs][:, :, terms]
        parts = [curves_of(first, dofs, time[1:], level, False) for level in range(3)]
        parts.append(curves_of(first, dofs, time[:-1], 1, True))
        if stage.scheme.secant:
            parts[2] = (parts[1] - parts[3]) / dt[:, None, None]
        curves = np.array(parts)[:, :, :, terms]
        support = [zeros(1, len(dt), len(dofs), WIDTH, known=1) for _ in range(4)]
        factors = stage.loads.factors(time)[None]
        late = weighted(stage, factors[0])[None]
    else:
        begins = [each.motion(held, one.time[:1], after=True) for each, one in zip(supports, samples, strict=True)]
        for level, array in enumerate(starts, start=1):
            array[:, held] = pack([begin[level][0] for begin in begins]).array
        moving = [sample.supports.moving(sample.u) for sample in samples]
        dofs = np.unique(np.concatenate(moving))
        exact = [support_motion(stage, one.supports, dofs, one.time, one.dt) for one in samples]
        support = [pack(as_long([part[level] for part in exact]), blocks, 1) for level in range(4)]
        each = as_long([sample.loads.factors(sample.time) for sample in samples])
        factors, late = pack(each, known=1), pack([weighted(stage, part) for part in each], known=1)
    vectors = pack([sample.loads.vectors for sample in samples])
    warm = as_long([sample.thermal for sample in samples])
    thermal, mean = pack(warm, known=1), pack([thermal_mean(stage, one) for one in warm], known=1)
    gravity, (u, v, a, after) = fixed(stage.loads.is_gravity), support
    if is_one([one.time for one in samples]):
        time, dt = time[None], dt[None]  # numbers: a tenth faster than packs
    else:
        time, dt = (pack(as_long([getattr(one, name) for one in samples]), known=0) for name in ("time", "dt"))
    loads = Loading(dt, time, vectors, gravity, late, factors, fixed(dofs), u, v, a, after, thermal, mean)
    return loads, curves, shares


def follow_one_curve(samples: Sequence[Sample]) -> bool:
    """All models have the same functions of time at all instants: constant ones, or with the same instants."""
    first = samples[0]
    curves = tuple(case.curve for case in first.loads.cases)
    moves = first.supports.groups + tuple((0, curve) for curve in curves)
    is_constant = all(order == 0 and isinstance(curve, Constant) for order, curve in moves)
    return (
        (is_constant or is_one([one.time for one in samples]))
        and all(groups == first.supports.groups for groups in different(one.supports.groups for one in samples))
        and all(
            tuple(case.curve for case in cases) == curves for cases in different(one.loads.cases for one in samples)
        )
    )


def has_arrived(supports: Supports, dofs: Ints, numbers: Floats, u: Floats) -> Any:
    """(c,) supports that stand still where they are, in all lanes. numbers (blocks, 3n, 3, width), u likewise."""
    arrived = np.zeros(len(dofs), np.bool_)
    for k, (order, curve) in enumerate(supports.groups):
        if order == 0 and isinstance(curve, Constant):
            chosen = np.flatnonzero(supports.group[dofs] == k)
            place = dofs[chosen]
            target = numbers[:, place, 0] + numbers[:, place, 2] * curve.value
            arrived[chosen] = np.all(u[:, place] == target, axis=(0, 2))
    return arrived


def curves_of(supports: Supports, dofs: Ints, time: Floats, level: int, after: bool) -> Floats:
    """(k, c, 3) functions of time by which base, rate and value of supports enter u, v or a (level 0, 1, 2)."""
    curves = np.zeros((len(time), len(dofs), 3))
    for k, (order, curve) in enumerate(supports.groups):
        chosen = np.flatnonzero(supports.group[dofs] == k)
        if chosen.size == 0:
            continue
        if level == 0:
            curves[:, chosen, 0] = 1.0
        if order == 2 and level < 2:
            curves[:, chosen, 1] = (time - supports.start)[:, None] if level == 0 else 1.0
        curves[:, chosen, 2] = evaluate(curve, time, level - order, after, supports.start)[:, None]
    return curves
