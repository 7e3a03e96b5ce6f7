"""What a ``*STEP`` is, decided once, where it begins.

Whoever reckons with a step asks its plan: what it seeks, when, and by which scheme. ``step_run.ready`` makes its arrays
and its marcher of that, again where elements break in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fem.assembly.cases import Span
from fem.errors import ModelError
from fem.model import Dynamic, Frequency, Static, SteadyState, Step
from fem.model.steps import ArcEnd
from fem.solve.schemes import SCHEMES, Scheme, equilibrium


@dataclass(frozen=True, slots=True)
class StepPlan:
    """number  of the step, which is one of these: ``static`` equilibria, a ``dynamic`` motion, ``modes`` or
    ``harmonic`` motions about the state that it begins with; the others are None.
    scheme  time integrator; of all but motions the equilibrium"""

    number: int
    step: Step
    span: Span
    scheme: Scheme
    static: Static | None
    dynamic: Dynamic | None
    modes: Frequency | None
    harmonic: SteadyState | None

    @property
    def timed(self) -> Static | Dynamic:
        """The procedure of a step that has increments."""
        found = self.static or self.dynamic
        assert found is not None
        return found

    @property
    def riks(self) -> ArcEnd | None:
        """Where an arc ends; None: the step goes by time."""
        return self.static.riks if self.static else None

    @property
    def integrator(self) -> str:
        """Its name in decks; nothing where nothing moves."""
        return self.dynamic.integrator if self.dynamic else ""

    @property
    def without_ropes(self) -> str:
        """What the step goes by that knows no ropes; nothing where it knows them."""
        if self.dynamic and not self.scheme.is_recursion:
            return "EXPLICIT" if self.scheme.is_explicit else self.integrator
        return "RIKS" if self.riks else ""

    @property
    def has_path(self) -> bool:
        """Its states are one path of equilibria, whose stability means something."""
        return bool(self.static and not self.static.creeps and self.step.nlgeom)

    @property
    def keeps_acceleration(self) -> bool:
        """Its motion goes on with the accelerations that it finds (INITIAL=NO)."""
        return bool(self.dynamic and not self.dynamic.initial_acceleration)

    def going_on(self) -> StepPlan:
        """The plan, where its motion goes on with other forces, and so with other accelerations."""
        if not (self.dynamic and self.keeps_acceleration):
            return self
        dynamic = replace(self.dynamic, initial_acceleration=True, singular_mass="WARNING")
        return replace(self, dynamic=dynamic)


def plan_of(number: int, step: Step, start: float) -> StepPlan:
    """Of a step that begins at a total time. ModelError where its scheme cannot do what it asks for."""
    dynamic, scheme, period = step.dynamic, equilibrium(), step.procedure.period
    if dynamic:
        scheme = SCHEMES[dynamic.integrator](dynamic)
        if scheme.march and not dynamic.direct:
            what = f"{dynamic.integrator} has a march of its own, with equal increments"
            raise ModelError(f"{what}: use *DYNAMIC, DIRECT")
    span = Span(start, start + period, step.ramps and period > 0.0)
    return StepPlan(number, step, span, scheme, step.static, dynamic, step.modes, step.harmonic)
