"""What tells one model of an ensemble from another: numbers, gathered without assembling the same thing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, same
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, LoadSet, first_environment, load_set, next_environment, thermal_rows
from fem.assembly.supports import Supports, advance_supports, initial_supports
from fem.assembly.system import System, assemble, linearised
from fem.forces.bar import Bars
from fem.model import Dynamic, InitialCondition, Model
from fem.solve.checkpoint import refuse_earlier
from fem.solve.clock import Clock, expected_increments
from fem.solve.start import first_motion
from fem.solve.step_system import limits_of

OF_SYSTEM = tuple(
    "mesh materials sections springs dashpots masses nonstructural growths rest_lengths".split()
    + "seabeds cylinders equations".split()
)
"""Fields of a model that its assembled arrays come from, with initial conditions that are no motion."""
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
    for name in names:
        its, that = getattr(one, name), getattr(other, name)
        if its is not that and not same(its, that):
            return False
    return True


def at_rest(model: Model) -> list[InitialCondition]:
    """Initial conditions that are no motion: stresses, temperatures, anchors."""
    return [each for each in model.initial_conditions if each.kind not in ("DISPLACEMENT", "VELOCITY")]


def has_same_loads(one: Model, other: Model) -> bool:
    """Loads, temperatures and whether bars are linear are the same in the only step of both."""
    step, its = one.steps[0], other.steps[0]
    return is_alike(step, its, OF_LOADS) and is_alike(one, other, ("amplitudes",))


def sample(model: Model, time: Floats, known: Sample | None = None) -> Sample:
    """Arrays of a model; what it has in common with ``known`` is taken from there. ModelError as of a run."""
    step = model.steps[0]
    span = Span(0.0, float(time[-1]), ramps=step.ramps)
    if known is not None and is_alike(model, known.model, OF_SYSTEM) and at_rest(model) == at_rest(known.model):
        system, u, v = known.system, known.u, known.v
        is_elsewhere = not is_alike(model, known.model, ("initial_conditions",))
        if is_elsewhere or not is_alike(model, known.model, ("amplitudes",)):
            system = replace(system, model=model)
        if is_elsewhere:
            u, v, *_ = first_motion(system)
            held = known.supports.supported
            is_elsewhere = not step.nlgeom or not all(map(same, (u[held], v[held]), (known.u[held], known.v[held])))
        if not is_elsewhere and has_same_loads(model, known.model):
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
            return known._replace(model=model, system=system, environment=environment, u=u, v=v, limits=limits)
    else:
        refuse_earlier(model)
        system = assemble(model)
        u, v, *_ = first_motion(system)
    before_all = first_environment(system, u)
    environment = next_environment(system, before_all, step, span, u, v, np.zeros_like(u))
    bars = system.bars if step.nlgeom else linearised(system.bars, u)
    thermal = thermal_rows(system, environment, time)
    loads, limits = load_set(system, environment), limits_of(step.controls, bars)
    return Sample(model, system, bars, before_all.supports, environment, loads, u, v, limits, thermal)
