"""The energy watch of a dynamic step: the limit of the energy error, and the notice at the end.

The run stops when the energy error exceeds its limit, with two exceptions. A scheme with numerical damping removes
energy of unresolved frequencies: the loss explained by its coefficients (``newton/balance.py``) is reported as such,
and the rest as the error of the trapezoidal rule for the work of forces over such increments. A loss of the
second kind does not stop the run: where cables go slack within increments it is as large as the damping, and only
increments that resolve the damped frequencies would avoid it. If it exceeds the limit by itself, there is a separate
notice. A gain stops the run, counted from the last increment with damping. With ENERGY DRIFT=OFF the run continues,
with a notice.
"""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.errors import EnergyDrift
from fem.model import Controls
from fem.model.notices import WARNING, warning
from fem.runs.frames import energy_error_text
from fem.solve.advice import drift_message
from fem.solve.clock import Progress
from fem.solve.newton.balance import has_drifted
from fem.solve.newton.estimate import damps_ringing
from fem.solve.newton.groups import CONTROL, ENERGY, LIMIT, Motion
from fem.solve.plan import StepPlan
from fem.solve.step_system import StepSystem

SETTLING = 10
"""The balance is judged from this increment of a step on: before, too little energy is exchanged to compare with."""
MENTIONED = 0.01
"""Fraction of the exchanged energy above which drift is reported beside numerical damping."""


class EnergyWatch:
    """Watches the energy balance of one dynamic step; in statics it does nothing.

    fraction  limit as a fraction of the exchanged energy; the default one if the watch is OFF
    limit  the fraction that the march tests; < 0: none
    """

    changing = ("limit", "has_left", "begin")

    def __init__(self, stage: StepSystem, plan: StepPlan) -> None:
        self.stage, self.plan, step = stage, plan, plan.step
        self.is_off = step.controls.energy_drift is None
        self.fraction = step.controls.energy_drift or Controls().energy_drift or 0.0
        self.limit = self.fraction
        self.has_left = False
        self.begin = 0.0

    def open(self, motion: Motion) -> None:
        """Begins to watch a step."""
        self.begin = float(motion.energies[ENERGY.error0])

    def prepare(self, limits: Floats, control: Ints, increment: int) -> None:
        """Sets the limit for a chunk after ``increment`` increments: first increment that is judged, and fraction."""
        control[CONTROL.judged] = SETTLING - increment
        limits[LIMIT.drift_fraction] = self.limit

    def gains(self, motion: Motion, dt: float) -> bool:
        """Whether the last increment has increased the energy by more than the limit."""
        error = balance(motion)
        is_gain = error > motion.energies[ENERGY.error0]
        return is_gain and has_drifted(self.stage.nodes, self.stage.bars, motion, dt, error, self.fraction)

    def leaves(self, progress: Progress, dt: float) -> str:
        """The balance has exceeded its limit: a notice, or an empty text, if the run may continue.
        Raises EnergyDrift if it may not."""
        motion, time = progress.motion, progress.time
        error = balance(motion)
        is_damped = self.damps and error < motion.energies[ENERGY.error0]
        if not (self.is_off or is_damped):
            raise EnergyDrift(drift_message(self.stage, self.plan, time, dt, self.text(error - self.begin, motion)))
        self.has_left = True
        motion.energies[ENERGY.error0] = error  # judged from here on
        if is_damped:
            return ""
        self.limit = -1.0
        return (
            f"at t = {time:.6g} the energy balance is off by {self.text(error - self.begin, motion)}, more than "
            f"{100.0 * self.fraction:g} %; ENERGY DRIFT=OFF switches the check off"
        )

    def text(self, change: float, motion: Motion) -> str:
        """Text of a change of the energy error in this step."""
        exchanged = float(motion.energies[ENERGY.exchanged])
        return energy_error_text(change, exchanged, self.stage.system.model.heading)

    @property
    def damps(self) -> bool:
        """Whether the scheme has numerical damping."""
        scheme = self.stage.scheme
        return damps_ringing(self.stage.coefficients) if scheme.is_recursion else scheme.damps

    def closing(self, progress: Progress, dt: float) -> str:
        """Notice at the end of the step; empty while the balance is within its limit."""
        texts = [text for text in (self._balance_at_end(progress, dt), self._unexplained(progress.motion, dt)) if text]
        text = ". ".join(each.removeprefix(WARNING) for each in texts)
        return warning(text) if any(each.startswith(WARNING) for each in texts) else text

    def _balance_at_end(self, progress: Progress, dt: float) -> str:
        """Text of the numerical damping, or of the energy error."""
        motion = progress.motion
        error = balance(motion)
        is_short = self.stage.is_dynamic and progress.increment <= SETTLING
        if not (
            self.has_left
            or (is_short and has_drifted(self.stage.nodes, self.stage.bars, motion, dt, error, self.fraction))
        ):
            return ""
        change, exchanged = error - self.begin, float(motion.energies[ENERGY.exchanged])
        taken = float(motion.energies[ENERGY.numerical] - motion.energies[ENERGY.numerical0])
        if self.damps and change < 0.0:
            integrator, drift = self.plan.integrator, change + taken
            which = "taken" if drift < 0.0 else "returned"
            also = f" (the work of forces over long increments has {which} another {abs(drift):.3g})"
            return (
                f"the numerical damping of {integrator} has dissipated "
                f"{self.text(taken, motion)}{also if abs(drift) > MENTIONED * exchanged else ''}: motion that the "
                "increments do not resolve is damped out, as intended; smaller increments keep more of it"
            )
        text = f"{WARNING}at the end the energy balance is off by {self.text(change, motion)}"
        few = "" if self.has_left else "; the step has too few increments for the check that stops it"
        return text + few

    def _unexplained(self, motion: Motion, dt: float) -> str:
        """Text of the energy error of a damping scheme beyond its numerical damping, if that exceeds the limit."""
        energies = motion.energies
        drift = balance(motion) - self.begin + float(energies[ENERGY.numerical] - energies[ENERGY.numerical0])
        is_judged = self.stage.is_dynamic and self.damps
        if not is_judged or not has_drifted(
            self.stage.nodes, self.stage.bars, motion, dt, float(energies[ENERGY.error0]) + drift, self.fraction
        ):
            return ""
        return warning(
            f"the energy balance has {'lost' if drift < 0.0 else 'gained'} {self.text(abs(drift), motion)}, which "
            f"numerical damping does not explain (energy_drift in run.json), more than {100.0 * self.fraction:g} %: "
            "forces change too much within increments (cables that go slack, contact); check the effect with smaller "
            "ones"
        )


def balance(motion: Motion) -> float:
    """Energy error: kinetic + strain + potential energy now, less what it should be."""
    energies = motion.energies
    stored = energies[ENERGY.kinetic] + energies[ENERGY.strain] + energies[ENERGY.potential]
    return float(stored - energies[ENERGY.total0] - energies[ENERGY.work] + energies[ENERGY.dissipated])
