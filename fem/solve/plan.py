"""What a ``*STEP`` is, decided once, where it begins.

Whoever reckons with a step asks its plan: what it seeks, when, and by which scheme. ``step_run.ready`` makes its arrays
and its marcher of that, again where elements break in it.
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
    """step    which says what kind it is (``static``, ``dynamic``, ``modes``, ``harmonic``)
    scheme  time integrator; of all but motions the equilibrium"""

    number: int
    step: Step
    span: Span
    scheme: Scheme

    @property
    def riks(self) -> ArcEnd | None:
        """Where an arc ends; None: the step goes by time."""
        return self.step.static.riks if self.step.static else None

    @property
    def integrator(self) -> str:
        """Name of the integrator in decks; empty for steps without motion."""
        return self.step.dynamic.integrator if self.step.dynamic else ""

    @property
    def without_ropes(self) -> str:
        """What the step goes by that knows no ropes; nothing where it knows them."""
        if self.step.dynamic and not self.scheme.is_recursion:
            return "EXPLICIT" if self.scheme.is_explicit else self.integrator
        return "RIKS" if self.riks else ""

    @property
    def has_path(self) -> bool:
        """Its states are one path of equilibria, whose stability means something."""
        static = self.step.static
        return bool(static and not static.creeps and self.step.nlgeom)

    @property
    def keeps_acceleration(self) -> bool:
        """Its motion goes on with the accelerations that it finds (INITIAL=NO)."""
        return bool(self.step.dynamic and not self.step.dynamic.initial_acceleration)

    def going_on(self) -> StepPlan:
        """The plan, where its motion goes on with other forces, and so with other accelerations."""
        dynamic = self.step.dynamic
        if not dynamic or dynamic.initial_acceleration:
            return self
        return self.by(replace(dynamic, initial_acceleration=True, singular_mass="WARNING"))

    def by(self, procedure: Dynamic) -> StepPlan:
        """The plan with other numbers of its procedure."""
        return replace(self, step=replace(self.step, procedure=procedure))


def plan_of(number: int, step: Step, start: float) -> StepPlan:
    """Of a step that begins at a total time. ModelError where its scheme cannot do what it asks for."""
    dynamic, scheme, period = step.dynamic, equilibrium(), step.procedure.period
    if dynamic:
        scheme = SCHEMES[dynamic.integrator](dynamic)
        if scheme.march and not dynamic.direct:
            what = f"{dynamic.integrator} has a march of its own, with equal increments"
            raise ModelError(f"{what}: use *DYNAMIC, DIRECT")
    span = Span(start, start + period, step.ramps and period > 0.0)
    return StepPlan(number, step, span, scheme)
