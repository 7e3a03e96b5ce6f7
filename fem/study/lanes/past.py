"""What the steps before the last one leave: computed once for all models in which these are the same.

Statics and modes know no waves, and nothing that only the last step names. So models that differ in their waves, in
values and amplitudes of supports and loads of the last step have the same state where that step begins, to the last
bit. There each is given its own arrays: those of the first one, in which what differs is replaced. Where a motion
comes before, waves must be the same, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fem.arrays import Floats, same
from fem.assembly.environment import Environment, load_set, next_environment
from fem.assembly.supports import advance_supports
from fem.assembly.system import System
from fem.forces.waves import sea_of
from fem.model import Model, Step
from fem.runs.record import Modes, Rows, SilentSink, Sink, StepStart
from fem.solve.clock import expected_increments, increments
from fem.solve.newton.groups import Loading, Motion
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem, loading
from fem.study.lanes.forces import is_another
from fem.study.lanes.pack import is_alike
from fem.study.trajectory import Trajectory

LATE = ("waves", "amplitudes", "steps")
"""Fields of a model that may differ, in what only the last step asks for."""
DEAD = ("nodal_loads", "distributed_loads")
LOADS = ("boundaries", *DEAD)
"""Fields of the last step that may differ."""
FORCES = ("nodal", "released", "moments", "body", "gravity", "flows")
"""Fields of an environment that dead loads come from."""
OTHERS = tuple(each.name for each in fields(Model) if each.name not in (*LATE, "parameters", "given"))
OF_STEP = tuple(each.name for each in fields(Step))
OF_LAST = tuple(name for name in OF_STEP if name not in LOADS)


class Heard(SilentSink):
    """Keeps what steps tell of their increments and modes, for sinks that are made later."""

    hears_notices = False

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def begin(self, start: StepStart) -> None:
        self.told.append(("begin", replace(start, acting=None)))

    def rows(self, rows: Rows) -> None:
        self.told.append(("rows", rows))

    def modes(self, modes: Modes) -> None:
        self.told.append(("modes", modes))

    def tell(self, sink: Sink) -> None:
        """All of it, in order."""
        for what, each in self.told:
            getattr(sink, what)(each)


class Deaf(SilentSink):
    """For steps of which nobody hears."""

    hears_rows = hears_notices = False


class Past:
    """All steps of a model but the last one, which is made ready, and not opened.

    heard  what they told;  stage, environment, motion: arrays, loads and state at the start of the last step
    """

    def __init__(self, model: Model) -> None:
        self.model, self.heard = model, Heard()
        self._run = Trajectory(model, self.heard)
        last = self._run.last
        self.stage, self.environment, self.motion = last.stage, last.stage.environment, last.progress.motion

    def last_step(self, model: Model) -> StepRun | None:
        """The last step of a model, not opened, that begins where these steps end; None: its own steps end elsewhere,
        or it needs other arrays than numbers."""
        if not self.is_of(model):
            return None
        system, environment = in_other_waves(self.stage.system, model), self.environment
        if system is None:
            return None
        if model.steps is not self.model.steps or model.amplitudes is not self.model.amplitudes:
            environment = self._surrounding(system, model.steps[-1])
        known = self.environment
        is_held = np.array_equal(environment.supports.supported, known.supports.supported)
        if not is_held or bool(environment.nodal) != bool(known.nodal):
            return None
        stage = restaged(self.stage, system, environment)
        return self._run.branch(model, Deaf(), stage, environment).last

    def is_of(self, model: Model) -> bool:
        """The steps before the last one of a model are these."""
        first = self.model
        if model is first:
            return True
        *before, last = model.steps
        *earlier, its = first.steps
        changed = self._changed(model)
        return (
            is_alike(model, first, OTHERS)
            and len(model.steps) == len(first.steps)
            and all(is_alike(one, other, OF_STEP) for one, other in zip(before, earlier, strict=True))
            and is_alike(last, its, OF_LAST)
            and model.amplitudes.keys() == first.amplitudes.keys()
            and not (changed and changed & self._named)
            and bool(model.waves) == bool(first.waves)
            and (model.waves is first.waves or all(step.static or step.modes for step in before))
        )

    def _changed(self, model: Model) -> set[str]:
        """Names of amplitudes that are others."""
        known = self.model.amplitudes
        return {name for name, each in model.amplitudes.items() if not same(each, known.get(name))}

    @cached_property
    def _named(self) -> frozenset[str]:
        """All names in the model, less those of amplitudes themselves and of supports and loads of the last step."""
        *before, last = self.model.steps
        parts = [getattr(self.model, name) for name in OTHERS]
        return frozenset(texts_in((*parts, *before, *(getattr(last, name) for name in OF_LAST))))

    def _surrounding(self, system: System, step: Step) -> Environment:
        """Supports and loads of another last step."""
        span, motion, before, known = self._run.last.plan.span, self.motion, self._run.before, self.environment
        first = self.model.steps[-1]
        loads: tuple[Any, ...] = (*step.nodal_loads, *step.distributed_loads)
        followed = {load.amplitude for load in loads}.intersection(self._changed(system.model))
        if is_alike(step, first, DEAD) and not followed:
            supports = advance_supports(system, before.supports, step, span, motion.u, motion.v)
            return replace(known, supports=replace(supports, sea_from=known.sea_from))
        return next_environment(system, before, step, span, motion.u, motion.v, motion.reaction)

    @cached_property
    def instants(self) -> tuple[Floats, Floats]:
        """Times and lengths of all increments of the last step."""
        last = self._run.last
        count = expected_increments(last.step.timed)
        assert count is not None
        return increments(last.clock.plan(count))

    @cached_property
    def _loading(self) -> Loading:
        return loading(self.stage, self.motion, *self.instants)

    def loading(self, stage: StepSystem, motion: Motion) -> Loading:
        """Loads in all increments of the last step of a model, which is open."""
        return self._loading if stage.environment is self.environment else loading(stage, motion, *self.instants)


def in_other_waves(system: System, model: Model) -> System | None:
    """The system of a model that differs in its waves, and in what these arrays do not hold; None where it has not as
    many waves."""
    groups = list(system.families or ())
    for place, group in enumerate(groups):
        if "sea" in group._fields and model.waves is not system.model.waves:
            sea = sea_of(model, group.sea.nodes, system.lengths_of(group.elements), group.sea.first)
            sea = sea._replace(since=group.sea.since)
            if is_another(sea, group.sea, False):
                return None
            groups[place] = group._replace(sea=sea)
    return replace(system, model=model, families=system.families and tuple(groups))


def restaged(stage: StepSystem, system: System, environment: Environment) -> StepSystem:
    """The arrays of a step for another system of this shape, and other loads; working room is shared."""
    nodes = stage.nodes._replace(directed_mass=stage.nodes.directed_mass.copy())
    is_loaded_alike = all(getattr(environment, name) is getattr(stage.environment, name) for name in FORCES)
    loads = stage.loads if is_loaded_alike else load_set(system, environment)
    stage.work.state[:] = 0.0  # no water of other waves
    own: dict[str, Any] = {"nodes": nodes, "loads": loads, "limits": stage.limits.copy()}
    return replace(stage, system=system, environment=environment, **own)


def texts_in(part: Any) -> Iterator[str]:
    """All texts in a part of a model."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, tuple | frozenset | dict):
        for item in part.values() if isinstance(part, dict) else part:
            yield from texts_in(item)
    elif is_dataclass(part):
        for field in fields(part):
            yield from texts_in(getattr(part, field.name))
