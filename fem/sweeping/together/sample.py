"""What tells one model of an ensemble from another: numbers, gathered without assembling the same thing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, same
from fem.assembly.build import assemble
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, LoadSet, first_environment, load_set, next_environment, thermal_rows
from fem.assembly.supports import Supports, advance_supports, initial_supports
from fem.assembly.system import System, linearised
from fem.forces.bars.bar import Bars
from fem.model import Dynamic, Model
from fem.solve.checkpoint import refuse_earlier
from fem.solve.clock import Clock, expected_increments
from fem.solve.start import first_motion
from fem.solve.step_system import limits_of

OF_SYSTEM = tuple(
    "mesh materials sections springs dashpots masses rest_lengths seabeds equations initial_conditions".split()
)
"""Fields of a model that its assembled arrays come from."""
OF_LOADS = ("nodal_loads", "distributed_loads", "temperatures", "replaced", "nlgeom", "amplitude")
"""Fields of a step that loads and temperatures come from."""
OF_SUPPORTS = ("boundaries", "amplitudes")
"""Fields of a model that, with the boundaries of the step, supports come from."""


class Sample(NamedTuple):
    """One model, ready to become a lane. Samples of one ensemble share the parts in which they do not differ.

    initial: supports before the step; u, v (3n,) initial; limits as the march takes them; thermal (1 or k+1, m)
    """

    model: Model
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
        """Prescribed dofs."""
        return self.environment.supports


def instants(model: Model) -> tuple[Floats, Floats]:
    """Times (k+1,) and increments (k,) of the only step."""
    step = model.steps[0]
    assert isinstance(step.procedure, Dynamic)
    count = expected_increments(step.procedure)
    assert count is not None
    return Clock(step.procedure, step.controls, 0.0, np.zeros(0)).plan(count)


def is_alike(one: Any, other: Any, names: tuple[str, ...]) -> bool:
    """The named fields are the same objects, or equal."""
    return all(
        getattr(one, name) is getattr(other, name) or same(getattr(one, name), getattr(other, name)) for name in names
    )


def has_same_loads(one: Model, other: Model) -> bool:
    """Loads, temperatures and whether bars are linear are the same in the only step of both."""
    step, its = one.steps[0], other.steps[0]
    return is_alike(step, its, OF_LOADS) and is_alike(one, other, ("amplitudes",))


def sample(model: Model, time: Floats, known: Sample | None = None) -> Sample:
    """Arrays of a model; what it has in common with ``known`` is taken from there. ModelError as of a run."""
    step = model.steps[0]
    span = Span(0.0, float(time[-1]), ramps=step.ramps)
    if known is not None and is_alike(model, known.model, OF_SYSTEM):
        system, u, v = known.system, known.u, known.v
        if not is_alike(model, known.model, ("amplitudes",)):
            system = replace(system, model=model)
        if has_same_loads(model, known.model):
            environment = known.environment
            before = known.model.steps[0]
            if not (is_alike(model, known.model, OF_SUPPORTS) and is_alike(step, before, ("boundaries",))):
                initial = known.initial
                if not is_alike(model, known.model, ("boundaries",)):
                    initial = initial_supports(system, model, u)
                environment = replace(environment, supports=advance_supports(system, initial, step, span, u, v))
            limits = known.limits
            if not is_alike(step, before, ("controls",)):
                limits = limits_of(step.controls, known.bars)
            return known._replace(model=model, system=system, environment=environment, limits=limits)
    else:
        refuse_earlier(model)
        system = assemble(model)
        u, v, *_ = first_motion(system)
    before_all = first_environment(system, u)
    environment = next_environment(system, before_all, step, span, u, v, np.zeros_like(u))
    bars = system.bars if step.nlgeom else linearised(system.bars, u)
    thermal = thermal_rows(system, environment, time)
    loads = load_set(system, environment)
    return Sample(
        model, system, bars, before_all.supports, environment, loads, u, v, limits_of(step.controls, bars), thermal
    )
