"""Lanes that go on from states: where steps come before the motion, or water, a bottom or friction act.

Each model goes through its earlier steps (``past``) and the start of its last one as a run of its own does. What that
leaves (the whole ``Motion``, what acts) is packed. Sides of these packs are known at run time only, so that one
compilation serves all models with forces of the same kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.compiled.lanes import Fixed
from fem.forces.springs import COUNT
from fem.linear.choice import BAND, BORDER, CHAINS
from fem.model import Model
from fem.solve.energy_watch import SETTLING
from fem.solve.newton.balance import note_increment
from fem.solve.newton.groups import CONTROL, ENERGY, LIMIT, ROW, Ledger, Loading, Motion, Passage, Problem, Scratch
from fem.solve.schemes import Coefficients
from fem.solve.step_run import StepRun
from fem.solve.step_system import NO_ROPES, StepSystem, record
from fem.study.lanes.forces import differ, packed_forces, side_by_side, without_lanes
from fem.study.lanes.march import OUTCOME, EndedLanes, march_lanes
from fem.study.lanes.pack import WIDTH, zeros
from fem.study.lanes.past import Past


class Begun(NamedTuple):
    """A model whose last step has been opened.

    past   the steps before;  motion: the state;  loading: of all increments
    """

    model: Model
    past: Past
    stage: StepSystem
    motion: Motion
    loading: Loading

    @property
    def jumps(self) -> bool:
        """Supports, and nodes that rods lead, are not where they are prescribed at the start."""
        return not np.array_equal(self.motion.u, self.past.motion.u)


def begun(past: Past, last: StepRun) -> Begun | None:
    """A model at the start of its last step, which ``past`` has made; None where that does not run in lanes. FemError:
    as of a run."""
    last.open()
    stage, motion = last.stage, last.progress.motion
    families = stage.system.families
    reasons = (
        stage.choice.solver not in (*CHAINS, BAND, BORDER),
        last.watched is not None,
        len(stage.nodes.artificial_stiffness) > 0 or len(stage.nodes.caution) > 0,
        np.any(stage.system.springs.constants[:, COUNT]),
        len(stage.bars.rods) > 0 and stage.choice.solver in CHAINS and families is not None,
        without_lanes(families),
    )
    if any(reasons):
        return None
    last.watch.prepare(stage.limits, np.zeros(len(CONTROL), np.int64), 0)
    return Begun(stage.system.model, past, stage, motion, past.loading(stage, motion))


def fits(one: Begun, first: Begun) -> bool:
    """Two models can be lanes of one march: they differ in numbers only."""
    its, other = one.stage, first.stage
    if one.past is first.past:
        alike = [(getattr(each.loading, name) for name in ("support_dofs", "is_gravity")) for each in (one, first)]
        shapes = one.loading.vectors.shape == first.loading.vectors.shape
        return shapes and its.coefficients == other.coefficients and all(map(np.array_equal, *alike))
    pairs: list[tuple[Any, Any]] = [
        (one.loading.time, first.loading.time),
        (one.loading.support_dofs, first.loading.support_dofs),
        (one.loading.is_gravity, first.loading.is_gravity),
        (one.loading.vectors.shape, first.loading.vectors.shape),
        (one.loading.thermal_end.shape, first.loading.thermal_end.shape),
        (its.bars.nodes, other.bars.nodes),
        (its.bars.kinds, other.bars.kinds),
        (its.bars.rods, other.bars.rods),
        (its.bars.off_mass.shape, other.bars.off_mass.shape),
        (its.system.springs.dofs, other.system.springs.dofs),
        (its.system.family, other.system.family),
        (its.system.gone, other.system.gone),
        (its.nodes.dof_kind, other.nodes.dof_kind),
        (its.nodes.damping.shape, other.nodes.damping.shape),
        (its.nodes.mass_pairs, other.nodes.mass_pairs),
        (its.work.flow.shape, other.work.flow.shape),
        (its.choice.tree.sequence, other.choice.tree.sequence),
        *zip(its.equations, other.equations, strict=True),
        *zip(its.choice.plan, other.choice.plan, strict=True),
        (its.coefficients, other.coefficients),
        (criteria(its.limits), criteria(other.limits)),
        (one.model.mesh.node_labels, first.model.mesh.node_labels),
        (one.model.mesh.element_labels, first.model.mesh.element_labels),
    ]
    is_alike = (
        all(mine is that or np.array_equal(mine, that) for mine, that in pairs)
        and one.model.steps[-1].outputs == first.model.steps[-1].outputs
    )
    return is_alike and not differ(its.system.families, other.system.families)


def criteria(limits: Floats) -> Any:
    """Which of the criteria are in use."""
    used = limits[[LIMIT.relative, LIMIT.absolute, LIMIT.correction]] >= 0.0
    return np.concatenate([used, limits[[LIMIT.to_floor, LIMIT.halves]]])


def block_of(lanes: Sequence[Begun], rows: int, probes: Ints, elements: Ints) -> tuple[Any, ...]:
    """Packs of at most ``WIDTH`` lanes: limits, what the march works on, outcome; ``rows`` of the record, of given
    nodes and elements."""
    first, stages = lanes[0], [each.stage for each in lanes]
    stage, choice = first.stage, first.stage.choice

    def packed(groups: Sequence[Any], *names: str) -> Any:
        """The first group, with members of all side by side."""
        members = {name: side_by_side([getattr(each, name) for each in groups]) for name in names}
        return groups[0]._replace(**members)

    nodes = packed([each.nodes for each in stages], "mass", "damping", "place", "directed_mass")
    bars = packed([each.bars for each in stages], "constants", "off_mass", "off_damping")
    kinds = stage.bars.blocks.copy()
    kinds[:, 4] = np.any([each.bars.blocks[:, 4] for each in stages], axis=0)
    springs = packed([each.system.springs for each in stages], "constants")
    families, forms = packed_forces([each.system.families for each in stages]), (choice.tree, choice.plan)
    bars, springs = bars._replace(blocks=kinds, table=None), springs._replace(table=None)
    problem = Problem(
        nodes, bars, springs, families, stage.system.is_passive, stage.equations, NO_ROPES, choice.solver, *forms
    )
    acts = [name for name in Loading._fields if name not in ("dt", "time", "is_gravity", "support_dofs")]
    acting = packed([each.loading for each in lanes], *acts)
    motion = packed([each.motion for each in lanes], *Motion._fields)
    kept = record(stage, 1, probes, elements)
    numbers = {
        "increments": zeros(rows, len(ROW), WIDTH),
        "kinematics": zeros(rows, *kept.kinematics.shape[1:], WIDTH),
        "values": zeros(rows, *kept.values.shape[1:], WIDTH),
    }
    limits, room = side_by_side([each.limits for each in stages]), room_of(stage.work)
    room.state.array[:] = motion.state.array  # type: ignore[attr-defined]
    ended: Any = EndedLanes(zeros(len(ENERGY), WIDTH), *(zeros(*numbers[name].array.shape[1:]) for name in numbers))
    counts = side_by_side([np.array([float(len(each.loading.dt))]) for each in lanes])
    return limits, problem, acting, motion, room, kept._replace(**numbers), counts, ended, zeros(OUTCOME, WIDTH)


def room_of(work: Scratch) -> Scratch:
    """Working room of one block."""

    def empty(group: Any, names: Iterable[str]) -> Any:
        return group._replace(**{name: zeros(*getattr(group, name).shape, WIDTH) for name in names})

    tangent = empty(work.tangent, ("bar_tangent", "off", "block", "cross"))
    room: Scratch = empty(work, (name for name in Scratch._fields if name != "tangent"))
    return room._replace(tangent=tangent)


def arguments_of(stage: StepSystem, every: int, block: tuple[Any, ...]) -> tuple[Any, ...]:
    """What ``march_begun`` is called with."""
    its, bars = stage.coefficients, block[1].bars
    is_symmetric = not (its.secant or np.any(bars.blocks[:, 4]))
    choices = [its.secant, its.projects, its.lags, its.takes, is_symmetric]
    numbers = np.array([*its[:11], its.late, its.onset], float)
    return every, SETTLING, its.extrapolation, Fixed(np.array(choices, np.int64)), numbers, *block


@kernel
def march_begun(
    stride: int, settling: int, extrapolation: int, choices: Ints, row: Floats, limits: Floats, problem: Problem,
    loading: Loading, motion: Motion, work: Scratch, record: Ledger, counts: Floats, ended: EndedLanes, outcome: Floats,
) -> None:  # fmt: skip
    """``march_lanes`` from ``motion``, which it moves on; row 0 of the record is the start.

    choices  secant, projects, lags, takes, and whether the tangent is symmetric;  row: the numbers of the scheme
    """
    scheme = Coefficients(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], choices[0] != 0,
        row[11], row[12], choices[1] != 0, choices[2] != 0, choices[3] != 0, extrapolation,
    )  # fmt: skip
    error, thermal = motion.energies[ENERGY.error0], loading.thermal_end[0]
    note_increment(0, 0, 0.0, 0.0, 0, error, problem, thermal, motion, record)
    through = Passage(scheme, limits, problem, loading, motion, work, record)
    march_lanes(choices[4] != 0, settling, stride, counts, ended, through, outcome)
