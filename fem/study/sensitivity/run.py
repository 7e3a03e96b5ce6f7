"""One run with the derivatives of its motion by parameters.

The run is an ordinary one. Beside it go its shadows, the same deck with slightly other parameters, which are assembled
and opened with every step but never solved: they begin each step from the motion of the run and its derivatives. After
each chunk of accepted increments the march of dual numbers repeats it. The increments are those of the run: where they
are automatic, they keep their fractions of the step, and the choice of these is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import FemError
from fem.forces.families import FAMILIES, acting
from fem.linear.choice import BAND, BORDER, CHAINS
from fem.model import Model, Step
from fem.model.named import number_named
from fem.model.notices import of_step, warning
from fem.runs.record import Factors, Modes, Requests, Response, Rows, SilentSink
from fem.runs.signals import places_of
from fem.solve import outcome
from fem.solve.clock import Clock, expected_increments, increments
from fem.solve.loop import Run
from fem.solve.newton.groups import Ledger, Loading, Motion, Problem
from fem.solve.schemes import SCHEMES
from fem.solve.step_run import Newton, StepRun
from fem.solve.step_system import NO_ROPES, StepSystem, loading, record
from fem.study.sensitivity.duals import (
    OFFSETS,
    STEP,
    NoDerivative,
    empty,
    keep_slopes,
    like,
    moved,
    packed,
    packed_forces,
    room_like,
    roughness,
    slopes,
    width_of,
    without_blocks,
    without_slopes,
)
from fem.study.sensitivity.harmonic import Harmonics, by_shadows, harmonics_of, told_of_resonance
from fem.study.sensitivity.march import OUTCOME, STOPPED, WHERE, WORST, KnownForces, march_duals
from fem.study.tracks import SeriesSink, Track

Reader: TypeAlias = Callable[[Collection[str]], Callable[[Mapping[str, float]], Model]]
"""From the parameters that vary to a function that reads a model for values of parameters."""
NUMBERS = ("increments", "kinematics", "values")
"""Fields of a record that are numbers of increments."""
POOR, LOST = 1e-8, 1e-2
"""Fraction of the derivatives of an increment that is left after all solves: it is told, and there is no derivative."""
OVER_TIME = (
    "weighted", "factors", "support_u", "support_v", "support_a", "support_start", "thermal_end", "thermal_mean",
)  # fmt: skip
"""Fields of ``Loading`` that are functions of time."""
ROUGH, JUMPS = 0.01, 0.3
"""``roughness`` of these that is told, and at which there is no derivative."""
COMMON = "fluid", "added mass", "seabed", "depth grids", "bending", "damping of bending", "moments on bodies"
"""Families of forces of most decks: where no others act, the march is one without these, which takes two thirds of the
time to compile."""
SAME_MODE = 1e-6
"""Frequencies closer than this are of one multiple mode."""


class SmallMotions(SilentSink):
    """Keeps frequencies and buckling factors, name -> number, and harmonic motions."""

    hears_rows = hears_notices = False

    def __init__(self) -> None:
        self.found: dict[str, float] = {}
        self.responses: list[Response] = []

    def modes(self, modes: Modes) -> None:
        self.found |= modes.by_name

    def factors(self, factors: Factors) -> None:
        for number, factor in zip(factors.number.tolist(), factors.factor.tolist(), strict=True):
            self.found[f"factor_{factors.step}_{number}"] = factor

    def response(self, response: Response) -> None:
        self.responses.append(response)


class Shadow(Run):
    """A neighbour of a run: its steps are opened, never advanced. parameter: the one that is another."""

    settles = True  # what is left of iterations would be differenced

    def __init__(self, parameter: str, model: Model, solver: str) -> None:
        self.parameter, self.found_in = parameter, SmallMotions()
        super().__init__(model, self.found_in, Requests(solver, fields=False))

    def follow(self, step_run: StepRun) -> None:
        step_run.start_up()
        self.last = step_run

    def instants(self, of: StepRun, times: Floats, steps: Floats) -> tuple[Floats, Floats]:
        """Its own times (k + 1,) and increments (k,) in place of those of the run: equal ones as it has them, automatic
        ones as the same fractions of its step. NoDerivative: it has another number of them."""
        clock = self.last.clock
        assert isinstance(clock, Clock) and isinstance(of.clock, Clock)
        if clock.is_direct:
            if expected_increments(self.last.step.timed) != expected_increments(of.step.timed):
                raise NoDerivative(f"step {of.number}: {self.parameter} changes the number of increments")
            found = increments(clock.plan(len(steps)))
            clock.advance(float(found[0][-1]), len(steps), 0)
            return found
        ratio = (clock.end - clock.start) / (of.clock.end - of.clock.start)
        if ratio == 1.0 and clock.start == of.clock.start:
            return times, steps
        return clock.start + ratio * (times - of.clock.start), ratio * steps


class DifferentiatedStep(StepRun):
    """A step whose accepted increments the run differentiates."""

    whole: Differentiated

    def start_up(self) -> tuple[Floats, StepSystem, StepSystem, Loading]:
        """Keeps all nodes, those of spins, too."""
        self.kept_nodes = np.arange(len(self.stage.nodes.place) // 3)
        return super().start_up()

    def _accept(self, kept: Ledger, rows: Ints | None, times: Floats, steps: Floats, chunk: Loading) -> None:
        self.whole.differentiate(self, kept, times, steps)
        if len(self.kept_nodes) > len(self.nodes):
            shown = np.ascontiguousarray(kept.kinematics[:, :, : len(self.nodes)])
            kept = kept._replace(nodes=self.nodes, kinematics=shown)
        super()._accept(kept, rows, times, steps, chunk)

    def break_off(self, reached: Ints) -> bool:
        if reached.size:
            raise NoDerivative(f"step {self.number}: an element breaks; the derivatives of what follows are not known")
        return False


class Differentiated(Run):
    """A run with derivatives by parameters.

    parameters  name -> value;  scales (s,): |value| of each, 1 where it is zero
    series      the numbers over time that are kept: of the run, and of each shadow those that are computed from others
    asks        energies are among them
    rates       of each parameter, derivatives by p over |p| of those that the march itself computes
    """

    kind = DifferentiatedStep
    shadows: Sequence[Shadow]
    motion: Any = None

    def differentiate_by(
        self, reader: Reader, given: Mapping[str, float], parameters: Mapping[str, float], names: Sequence[str]
    ) -> None:
        """Makes the shadows. ``given``: values of parameters; ``names`` of the numbers over time.
        NoDerivative: a parameter changes more than numbers."""
        self.parameters, self.width, shadows = dict(parameters), width_of(len(parameters)), list[Shadow]()
        self.scales = np.array([abs(value) or 1.0 for value in parameters.values()])
        for (name, value), scale in zip(parameters.items(), self.scales.tolist(), strict=True):
            read = reader([name])
            for offset in OFFSETS:
                try:
                    model = read({**given, name: value + offset * STEP * scale})
                    if len(model.mesh.node_labels) != len(self.model.mesh.node_labels):
                        raise NoDerivative("it changes how many nodes there are")
                    shadows.append(Shadow(name, model, self.requests.solver))
                except FemError as error:
                    text = str(error).splitlines()[0]
                    raise NoDerivative(f"there is no derivative by {name}: {text}") from error
        self.shadows, self.worst, self.is_first = shadows, 0.0, False
        self.asks = any(not number_named(name).kind for name in names)
        is_exact = [number_named(name).quantity.derived is None for name in names]
        exact, others = (
            tuple(name for name, its in zip(names, is_exact, strict=True) if its is of) for of in (True, False)
        )
        self.harmonics: dict[int, Harmonics] = {}
        self.series = [SeriesSink(self.model, tuple(names)), *(SeriesSink(run.model, others) for run in shadows)]
        self.rates = [SeriesSink(self.model, exact) for _ in parameters]
        self.times: list[list[Floats]] = [[] for _ in shadows]

    def _step(self, number: int, step: Step) -> None:
        refuse(number, step)
        super()._step(number, step)
        for run in self.shadows if step.small_motion else ():
            run._step(number, run.model.steps[number - 1])
        if step.harmonic:
            self._compare(number)

    def respond(self, response: Response) -> None:
        self.series[0].response(response)
        super().respond(response)

    def _compare(self, number: int) -> None:
        """Derivatives of the harmonic motions of a step; resonances that spoil them are told."""
        own = harmonics_of(self.model, self.series[0].responses).get(number)
        parts = [harmonics_of(run.model, run.found_in.responses)[number] for run in self.shadows]
        for run, its in zip(self.shadows, parts, strict=True):
            if its.values.shape != parts[0].values.shape:
                raise NoDerivative(f"step {number}: {run.parameter} changes the number of frequencies")
        if own is None:
            return
        self.harmonics[number], rough = by_shadows(own, parts, self.scales)
        for parameter, off in zip(self.parameters, rough.T, strict=True):
            if text := told_of_resonance(off, own.frequency):
                self.sink.notice(of_step(number, warning(f"derivatives by {parameter}: {text}")))

    def follow(self, step_run: StepRun) -> None:
        for run in self.shadows:
            run._step(step_run.number, run.model.steps[step_run.number - 1])
        step_run.open()
        self._open(step_run)
        try:
            while not step_run.clock.is_finished:
                step_run.advance()
        except BaseException as error:
            step_run.close(error)
            raise
        step_run.close()
        for number, run in enumerate(self.shadows):
            for name in Motion._fields:
                getattr(run.progress.motion, name)[...] = moved(getattr(self.motion, name), number)
            run.progress.time, run.progress.increment = run.last.clock.end, self.progress.increment

    def small_motions(self) -> dict[str, tuple[float, Floats]]:
        """Frequencies and buckling factors: name -> value, slopes (s,); NaN for those of a multiple mode, whose
        derivatives are not defined one by one."""
        told = [run.found_in.found for run in self.shadows]
        found = {}
        for name in told[0] if told else ():
            values = np.array([each.get(name, np.nan) for each in told]).reshape(-1, len(OFFSETS))
            own = (4.0 * (values[0, 1] + values[0, 2]) - values[0, 0] - values[0, 3]) / 6.0
            family = name.rpartition("_")[0]
            others = [each for of, each in told[0].items() if of != name and of.rpartition("_")[0] == family]
            is_alone = all(abs(each - told[0][name]) > SAME_MODE * abs(own) for each in others)
            found[name] = float(own), np.where(is_alone, slopes(list(values.T)) / self.scales, np.nan)
        return found

    def _open(self, step_run: StepRun) -> None:
        """What the run and its shadows have become dual numbers."""
        number, stage, width = step_run.number, step_run.stage, self.width
        solver, families = stage.choice.solver, stage.system.families
        if step_run.watched is not None or type(step_run.marcher) is not Newton:
            raise NoDerivative(f"step {number}: there are no derivatives of ropes and stops that go slack or taut")
        if solver not in (*CHAINS, BAND, BORDER):
            raise NoDerivative(f"step {number}: derivatives need --solver chain, band or border")
        if len(stage.bars.rods) and solver in CHAINS and families is not None:
            raise NoDerivative(f"step {number}: derivatives of rods among other forces need --solver border")
        its = [step_run, *(run.last for run in self.shadows)]
        stages = [each.stage for each in its]
        if any(each.coefficients != stage.coefficients for each in stages):
            raise NoDerivative(f"step {number}: a parameter changes the scheme, which has no derivative")
        self.problem = self._problem(stages)
        before, motions = self.motion, [each.progress.motion for each in its]
        self.motion = packed(motions, width)
        for name in Motion._fields if before is not None else ():
            parts = [getattr(each, name) for each in motions[1:]]
            keep_slopes(getattr(self.motion, name), getattr(before, name), parts)
        self.room = room_like(stage.work, width)
        self.room.state.array[:] = self.motion.state.array
        has_rods = bool(len(stage.bars.rods))  # the gaps of rods, which have derivatives, are part of the tangent
        self.solving = self.room if has_rods else without_slopes(self.room, stage.work)
        self.forces = self.solving if has_rods else without_blocks(self.solving)
        tangent = stage.work.tangent
        self.known = KnownForces(like(stage.work.force, width), like(tangent.block, 1), like(tangent.cross, 1))
        self.is_first, self.of = True, self._recorded(step_run)

    def _recorded(self, step_run: StepRun) -> tuple[Ints, Ints]:
        """Nodes and elements that the numbers are made of; all where they are computed from others."""
        numbers = list(map(number_named, self.series[0].names))
        if self.system.bodies or any(each.quantity.derived for each in numbers):
            return step_run.nodes, step_run.elements
        found = []
        for kind in ("n", "e"):
            places = places_of(self.model, kind)
            found.append(np.unique(np.array([places[each.label] for each in numbers if each.kind == kind], np.int64)))
        return found[0], found[1]

    def _problem(self, stages: Sequence[StepSystem]) -> Problem:
        stage, choice = stages[0], stages[0].choice

        def side_by_side(parts: Sequence[Any]) -> Any:
            return packed(parts, self.width)

        is_common = all(family.name in COMMON for family, _ in acting(stage.system.families))
        names = COMMON if is_common else [family.name for family in FAMILIES]
        forces = packed_forces([each.system.families for each in stages], self.width, names)
        return Problem(
            side_by_side([each.nodes for each in stages]), side_by_side([each.bars for each in stages]),
            side_by_side([each.system.springs for each in stages]), forces, stage.system.is_passive,
            side_by_side([each.equations for each in stages]), NO_ROPES, choice.solver, choice.tree,
            side_by_side([each.choice.plan for each in stages]),
        )  # fmt: skip

    def differentiate(self, step_run: StepRun, kept: Ledger, times: Floats, steps: Floats) -> None:
        """Repeats accepted increments, which end at times[1:], with dual numbers."""
        stage, width, count = step_run.stage, self.width, len(steps)
        instants = [(times, steps), *(run.instants(step_run, times, steps) for run in self.shadows)]
        its = [step_run, *(run.last for run in self.shadows)]
        moved = (each.stage.environment.supports.moving(each.progress.motion.u) for each in its)
        moving = np.unique(np.concatenate(list(moved)))  # a shadow may miss the place of a support by round-off
        loadings = [loading(a.stage, a.progress.motion, *when, moving) for a, when in zip(its, instants, strict=True)]
        self._judge(step_run, loadings)
        is_timed = any(not np.array_equal(each.time, times) for each in loadings)
        acting = packed(loadings, width, plain=() if is_timed else ("dt", "time"))
        room, before = record(stage, 1, *self.of), int(self.is_first)
        numbers = {name: empty((count + before, *getattr(room, name).shape[1:]), width) for name in NUMBERS}
        known, ends = (np.ascontiguousarray(kept.kinematics[:count, of].reshape(count, -1)) for of in (0, 2))
        found, scheme = np.zeros(OUTCOME), stage.coefficients
        choices = np.array([scheme.secant, scheme.projects, scheme.lags, scheme.takes, before, self.asks], np.int64)
        row = np.array([*scheme[:11], scheme.late, scheme.onset], float)
        is_symmetric = not (scheme.secant or np.any(stage.bars.blocks[:, 4]))
        march_duals(
            is_symmetric, scheme.extrapolation, choices, row, known, ends, stage.limits, self.problem, acting,
            self.motion, self.room, self.solving, self.forces, self.known, room._replace(**numbers), found,
        )  # fmt: skip
        self.worst = max(self.worst, float(found[WORST]))
        when = f"step {step_run.number}: the equilibrium at time {times[1 + int(found[WHERE])]:.6g}"
        if found[STOPPED] or not found[WORST] <= LOST:
            raise NoDerivative(f"{when} has no derivative: {KINK}")
        if found[WORST] > POOR:
            step_run.notify(
                warning(f"{when} is nearly singular: derivatives are known to {found[WORST]:.1g} of theirs")
            )
        self.is_first = False
        self._note([numbers[name].array for name in NUMBERS], room, before, instants, step_run)

    def _judge(self, step_run: StepRun, loadings: Sequence[Loading]) -> None:
        """NoDerivative: a parameter moves a jump over time across the end of an increment. Kinks, and phases that it
        turns far, are told."""
        for slot, parameter in enumerate(self.parameters):
            its = loadings[1 + len(OFFSETS) * slot :][: len(OFFSETS)]
            rough = max(roughness([getattr(each, name) for each in its]) for name in OVER_TIME)
            begins = f"step {step_run.number}, from time {its[0].time[0]:.6g}"
            if rough > JUMPS:
                raise NoDerivative(f"{begins}: {parameter} moves a jump of a load or support past an increment")
            if rough > ROUGH:
                text = f"{parameter} moves kinks of loads or supports past increments, or turns their phases far"
                step_run.notify(
                    warning(f"{begins}: {text}: there their derivatives are known to {rough:.1g} of the largest")
                )

    def _note(
        self, arrays: Sequence[Floats], room: Ledger, before: int, instants: Sequence[tuple[Floats, Floats]],
        step_run: StepRun,
    ) -> None:  # fmt: skip
        """Rows of the run and of the derivatives to their series; also those of the shadows, which have the numbers of
        the run moved by the derivatives, where numbers are computed from others.
        before  1: the first row is that before the first increment"""
        arrays = [np.ascontiguousarray(np.moveaxis(each, -1, 0)[: 1 + len(self.parameters)]) for each in arrays]
        first, count = step_run.progress.increment + 1 - before, len(OFFSETS)

        def rows(parts: Sequence[Floats], stage: StepSystem, number: int, is_slope: bool = False) -> Rows:
            shown = room._replace(**dict(zip(NUMBERS, parts, strict=True)))  # type: ignore[arg-type]
            time, dt = instants[number][0][1 - before :], np.append(np.zeros(before), instants[number][1])
            outcome.gather_reactions(stage.system.bodies, self.of[0], shown.kinematics)
            if not is_slope:
                outcome.note_loads(stage.environment, self.of[0], time, None, shown.kinematics)
            shown.values[:, self.gone[self.of[1]]] = 0.0
            which, since = np.arange(len(time)), stage.environment.sea_from
            return outcome.rows_of(step_run.number, shown, which, first + which, time, dt, self.of, False, since)

        own = step_run.stage
        for slot, sink in enumerate(self.rates, 1):
            sink.rows(rows([each[slot].copy() for each in arrays], own, 0, True))
        for number, (shadow, sink) in enumerate(zip(self.shadows, self.series[1:], strict=True)):
            self.times[number].append(instants[number + 1][0][1 - before :])
            if sink.names:
                move, slot = OFFSETS[number % count] * STEP, 1 + number // count
                moved = [each[0] + move * each[slot] for each in arrays]
                sink.rows(rows(moved, shadow.last.stage, number + 1))
        self.series[0].rows(rows([each[0] for each in arrays], own, 0))

    def tracks(self) -> tuple[Track, list[Track], list[int], list[Floats]]:
        """The numbers over time of the run, and of its shadows; columns of those that the march itself computes, and
        their derivatives by p over |p| (k, e), for each parameter."""
        own, rates, found = self.series[0].track(), [each.track().values for each in self.rates], []
        exact = [own.names.index(name) for name in self.rates[0].names]
        for number, sink in enumerate(self.series[1:]):
            values, (slot, place) = own.values.copy(), divmod(number, len(OFFSETS))
            values[:, exact] += OFFSETS[place] * STEP * rates[slot]
            if sink.names:
                values[:, [own.names.index(name) for name in sink.names]] = sink.track().values
            time = np.concatenate([own.time[:0], *self.times[number]])
            found.append(replace(own, model=sink.model, time=time, values=values))
        return own, found, exact, rates


KINK = "a line is just slack there, or the structure is about to buckle"


def refuse(number: int, step: Step) -> None:
    """NoDerivative: what this step does has none here."""
    if step.dynamic and not SCHEMES[step.dynamic.integrator](step.dynamic).is_recursion:
        name = step.dynamic.integrator.replace("CENTRAL DIFFERENCE", "EXPLICIT")
        raise NoDerivative(f"step {number}: there are no derivatives of {name}")
    if getattr(step.procedure, "riks", None) is not None:
        raise NoDerivative(f"step {number}: there are no derivatives of *STATIC, RIKS")
