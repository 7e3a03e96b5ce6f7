"""The plan of a ``*STEP``: its kind, times and scheme, decided once at its start.

All modules ask the plan. ``step_run.ready`` makes the arrays and the marcher from it, again when elements break.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fem.assembly.cases import Span
from fem.errors import ModelError
from fem.model import Dynamic, Step
from fem.model.steps import ArcEnd
from fem.solve.schemes import SCHEMES, Scheme, equilibrium


@dataclass(frozen=True, slots=True)
class StepPlan:
    """step    its kind is ``static``, ``dynamic``, ``modes``, ``harmonic`` or ``buckling``
    scheme  time integrator; static equilibrium for all but dynamic steps"""

    number: int
    step: Step
    span: Span
    scheme: Scheme

    @property
    def riks(self) -> ArcEnd | None:
        """End of an arc-length step; None: the step proceeds in time."""
        return self.step.static.riks if self.step.static else None

    @property
    def integrator(self) -> str:
        """Name of the integrator in decks; empty for steps without motion."""
        return self.step.dynamic.integrator if self.step.dynamic else ""

    @property
    def without_ropes(self) -> str:
        """Name of the method of the step if that does not support ropes; otherwise empty."""
        if self.step.dynamic and not self.scheme.is_recursion:
            return "EXPLICIT" if self.scheme.is_explicit else self.integrator
        return "RIKS" if self.riks else ""

    @property
    def has_path(self) -> bool:
        """Whether its states are an equilibrium path, with a meaningful stability."""
        static = self.step.static
        return bool(static and not static.creeps and self.step.nlgeom)

    @property
    def keeps_acceleration(self) -> bool:
        """Whether it continues with the accelerations at its start (INITIAL=NO)."""
        return bool(self.step.dynamic and not self.step.dynamic.initial_acceleration)

    def going_on(self) -> StepPlan:
        """The plan for the continuation of a motion after a change of forces, with new accelerations."""
        dynamic = self.step.dynamic
        if not dynamic or dynamic.initial_acceleration:
            return self
        return self.by(replace(dynamic, initial_acceleration=True, singular_mass="WARNING"))

    def by(self, procedure: Dynamic) -> StepPlan:
        """The plan with other numbers of its procedure."""
        return replace(self, step=replace(self.step, procedure=procedure))


def plan_of(number: int, step: Step, start: float) -> StepPlan:
    """The plan of a step that begins at a total time. ModelError: its scheme cannot do what the step requires."""
    dynamic, scheme, period = step.dynamic, equilibrium(), step.procedure.period
    if dynamic:
        scheme = SCHEMES[dynamic.integrator](dynamic)
        if scheme.march and not dynamic.direct:
            what = f"{dynamic.integrator} has a march of its own, with equal increments"
            raise ModelError(f"{what}: use *DYNAMIC, DIRECT")
    span = Span(start, start + period, step.ramps and period > 0.0)
    return StepPlan(number, step, span, scheme)
