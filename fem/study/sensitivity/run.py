"""One run with the derivatives of its motion by parameters.

The run is an ordinary one. Beside it go its shadows, the same deck with slightly other parameters, which are assembled
and opened with every step but never solved: they begin each step from the motion of the run and its derivatives. After
each chunk of accepted increments the march of dual numbers repeats it. The increments are those of the run: where they
are automatic, they keep their fractions of the step, and the choice of these is not differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
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
from fem.solve.newton.groups import CONTROL, Ledger, Loading, Motion, Problem
from fem.solve.schemes import SCHEMES
from fem.solve.statics.mechanisms import faintly_held
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

if TYPE_CHECKING:
    from fem.solve.rope_states import Stages
    from fem.solve.ropes.active import ActiveSet
    from fem.solve.ropes.events import Events
    from fem.solve.ropes.watched import Failed
    from fem.study.sensitivity.ropes import Course, Instants

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
MOVED = 1e-6
"""Strain that the steps of differences give ropes which are at their length."""
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
        if step_run.watched:
            step_run.watched.same_length = MOVED
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
    """A step whose accepted increments the run differentiates.

    courses  number of an increment in a chunk -> what ropes do in it, where they change
    """

    whole: Differentiated
    courses: dict[int, Course]

    def watch_ropes(self, stages: Stages) -> tuple[Events | None, ActiveSet | None]:
        """With records of what they do."""
        from fem.study.sensitivity.ropes import followed

        return followed(self, stages)

    def start_up(self) -> tuple[Floats, StepSystem, StepSystem, Loading]:
        """Keeps all nodes, those of spins, too."""
        self.kept_nodes = np.arange(len(self.stage.nodes.place) // 3)
        return super().start_up()

    def _chunk(self, most: int) -> tuple[Loading, Ledger, Ints]:
        self.courses = {}
        return super()._chunk(most)

    def _pass_events(self, control: Ints, chunk: Loading, kept: Ledger) -> Failed | None:
        k = control.item(CONTROL.increment)
        if (failed := super()._pass_events(control, chunk, kept)) is None:
            its: Any = self.watched
            if its.no_derivative:
                raise NoDerivative(f"step {self.number}, near time {chunk.time[k]:.9g}: {its.no_derivative}")
            self.courses[k] = its.course
        return failed

    def _accept(self, kept: Ledger, rows: Ints | None, times: Floats, steps: Floats, chunk: Loading) -> None:
        first, count, limits = 0, len(steps), self._reached(kept, times[1:])[1]  # reached at the end alone
        if self.courses:
            from fem.study.sensitivity.ropes import pass_ropes
        whole = count - bool(limits.size)
        for k in (*sorted(each for each in self.courses if each < count), whole):
            if k > first:
                self.whole.differentiate(self, kept.kinematics[first:k], times[first : k + 1], steps[first:k], first)
            if k in self.courses:
                pass_ropes(self.whole, self, self.courses[k], times[k : k + 2], steps[k : k + 1], k)
            first = k + 1
        if limits.size:
            if whole in self.courses:
                raise NoDerivative(f"step {self.number}: before {times[-1]:.9g} ropes change, and elements break")
            from fem.study.sensitivity.breaks import break_at

            its = self.whole, self, kept.kinematics[whole], times[whole:], steps[whole:], whole, limits
            self.whole.late = break_at(*its)
        if len(self.kept_nodes) > len(self.nodes):
            shown = np.ascontiguousarray(kept.kinematics[:, :, : len(self.nodes)])
            kept = kept._replace(nodes=self.nodes, kinematics=shown)
        super()._accept(kept, rows, times, steps, chunk)

    def break_off(self, reached: Ints) -> bool:
        """The shadows lose the same elements, each at its own instant, from the motion moved by the derivatives."""
        if not reached.size:
            return False
        self.whole.hand_over()
        super().break_off(reached)
        assert self.whole.late is not None
        for run, now in zip(self.whole.shadows, self.whole.late[1:].tolist(), strict=True):
            run.progress.time = now
            run.break_off(np.unique(run.breaks.elements[reached]))
            if not self.clock.is_finished:
                run.last.rebuild()
        self.whole.go_on(self)
        return True


class Setting(NamedTuple):
    """Arrays of dual numbers for the stages of a run and of its shadows, with the same ropes taut.

    room  of the march;  solving, forces: the same with fewer matrices;  known: of ``march_duals``
    """

    stages: Sequence[StepSystem]
    problem: Problem
    room: Any
    solving: Any
    forces: Any
    known: KnownForces


class Differentiated(Run):
    """A run with derivatives by parameters.

    parameters  name -> value;  scales (s,): |value| of each, 1 where it is zero
    series      the numbers over time that are kept: of the run, and of each shadow those that are computed from others
    asks        energies are among them
    late        (1 + 4 s,) instants at which elements have broken, of the run and of each shadow; None: with which the
                next increment does not begin
    rates       of each parameter, derivatives by p over |p| of those that the march itself computes
    """

    kind = DifferentiatedStep
    shadows: Sequence[Shadow]
    motion: Any = None
    late: Floats | None = None

    def differentiate_by(
        self, reader: Reader, given: Mapping[str, float], parameters: Mapping[str, float], names: Sequence[str]
    ) -> None:
        """Makes the shadows. ``given``: values of parameters; ``names`` of the numbers over time.
        NoDerivative: a parameter changes more than numbers."""
        self.parameters, self.width, shadows = dict(parameters), width_of(len(parameters)), list[Shadow]()
        if self.requests.solver == "AUTO" and len(self.system.bars.rods) and self.system.families is not None:
            self.requests = replace(self.requests, solver="BORDER")  # the one that differentiates both
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
                    raise NoDerivative(no_derivative_by(name, error)) from error
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
            try:
                run._step(step_run.number, run.model.steps[step_run.number - 1])
            except FemError as error:
                raise NoDerivative(no_derivative_by(run.parameter, error)) from error
        step_run.open()
        self._open(step_run)
        try:
            while not step_run.clock.is_finished:
                step_run.advance()
        except BaseException as error:
            step_run.close(error)
            raise
        step_run.close()
        self.hand_over()
        if step_run.events:
            from fem.study.sensitivity.ropes import leave

            leave(self, step_run)
        for run in self.shadows:
            run.progress.time, run.progress.increment = run.last.clock.end, self.progress.increment

    def hand_over(self) -> None:
        """Gives the shadows the motion, moved by its derivatives."""
        for number, run in enumerate(self.shadows):
            for name in Motion._fields:
                getattr(run.progress.motion, name)[...] = moved(getattr(self.motion, name), number)

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

    def _steps(self, step_run: StepRun) -> list[StepRun]:
        """The present step of the run, and of each shadow."""
        return [step_run, *(run.last for run in self.shadows)]

    def _open(self, step_run: StepRun) -> None:
        """What the run and its shadows have become dual numbers."""
        number, stage, its = step_run.number, step_run.stage, self._steps(step_run)
        if type(step_run.marcher) is not Newton:
            raise NoDerivative(f"step {number}: there are no derivatives of ropes and stops with IMPACT=MOREAU")
        if any(each.stage.coefficients != stage.coefficients for each in its):
            raise NoDerivative(f"step {number}: a parameter changes the scheme, which has no derivative")
        before, motions = self.motion, [each.progress.motion for each in its]
        self.motion = self.joined(motions, before)
        self.settings: dict[bytes, Setting] = {}
        held = [each.stage.nodes if len(each.stage.nodes.caution) else faintly_held(each.stage) for each in its]
        self.nodes = packed(held, self.width)  # lines that were straight pull later: what held them is far stiffer
        pulls = [pulling(each) for each in its]
        if step_run.events and any(not np.array_equal(each, pulls[0]) for each in pulls):
            raise NoDerivative(f"step {number}: a parameter changes which ropes are taut at its start")
        self.turn_to(step_run, pulls[0])
        self.is_first, self.of = True, self._recorded(step_run)

    def go_on(self, step_run: StepRun) -> None:
        """After elements have broken."""
        if step_run.clock.is_finished:
            ends = [step_run.clock.end, *(run.last.clock.end for run in self.shadows)]
            if self.late is None or not np.array_equal(self.late, ends):
                raise NoDerivative(f"step {step_run.number}: an element breaks at its end")
            self.motion = self.joined([run.progress.motion for run in (self, *self.shadows)], self.motion)
            self.late = None
        else:
            self._open(step_run)
            self.is_first = False

    def instants(self, step_run: StepRun, times: Floats, steps: Floats) -> list[tuple[Floats, Floats]]:
        """Times (k + 1,) and increments (k,) of the run, and those of each shadow in their place."""
        found = [(times, steps), *(run.instants(step_run, times, steps) for run in self.shadows)]
        if self.late is not None:
            starts, self.late = self.late[1:].tolist(), None
            for place, start in enumerate(starts, 1):
                its, dt = found[place]
                found[place] = np.append(start, its[1:]), np.append(its[1] - start, dt[1:])
        return found

    def joined(self, motions: Sequence[Motion], before: Any) -> Any:
        """The motion of the run and those of its shadows; slopes of what these have kept are those of ``before``."""
        found = packed(motions, self.width)
        for name in Motion._fields if before is not None else ():
            parts = [getattr(each, name) for each in motions[1:]]
            keep_slopes(getattr(found, name), getattr(before, name), parts)
        return found

    def turn_to(self, step_run: StepRun, basis: Flags) -> None:
        """The march goes on with these ropes taut."""
        self.basis = basis
        self.setting = self._setting(step_run)
        self.setting.room.state.array[:] = self.motion.state.array

    def _setting(self, step_run: StepRun) -> Setting:
        """Arrays for the ropes that are taut now."""
        if (key := self.basis.tobytes()) in self.settings:
            return self.settings[key]
        its = self._steps(step_run)
        stages = [each.watched.stages.of(self.basis) if each.watched else each.stage for each in its]
        stage, number, solver = stages[0], step_run.number, stages[0].choice.solver
        if solver not in (*CHAINS, BAND, BORDER):
            raise NoDerivative(f"step {number}: derivatives need --solver chain, band or border")
        if len(stage.bars.rods) and solver in CHAINS and stage.system.families is not None:
            raise NoDerivative(f"step {number}: derivatives of rods among other forces need --solver border")
        room = room_like(stage.work, self.width)
        # the gaps of rods, which have derivatives, are part of the tangent
        has_rods = bool(len(stage.bars.rods))
        solving = room if has_rods else without_slopes(room, stage.work)
        forces, tangent = solving if has_rods else without_blocks(solving), stage.work.tangent
        known = KnownForces(like(stage.work.force, self.width), like(tangent.block, 1), like(tangent.cross, 1))
        found = self.settings[key] = Setting(stages, self._problem(stages), room, solving, forces, known)
        return found

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
            self.nodes, side_by_side([each.bars for each in stages]),
            side_by_side([each.system.springs for each in stages]), forces, stage.system.is_passive,
            side_by_side([each.equations for each in stages]), NO_ROPES, choice.solver, choice.tree,
            side_by_side([each.choice.plan for each in stages]),
        )  # fmt: skip

    def differentiate(
        self, step_run: StepRun, kinematics: Floats, times: Floats, steps: Floats, first: int
    ) -> None:  # fmt: skip
        """Repeats accepted increments, which end at times[1:], with dual numbers.
        kinematics  (k, 3, n, 3) at their ends; first: number of the first one in its chunk"""
        instants = self.instants(step_run, times, steps)
        known, ends = (np.ascontiguousarray(kinematics[:, of].reshape(len(steps), -1)) for of in (0, 2))
        before, self.is_first = int(self.is_first), False
        is_timed = step_run.watched is not None  # then lengths of increments may have derivatives
        found = self.march(step_run, instants, known, ends, before, is_timed)
        shown = [(each[0][1 - before :], np.append(np.zeros(before), each[1])) for each in instants]
        self.note(found, step_run.progress.increment + first + 1 - before, shown, step_run)

    def march(
        self, step_run: StepRun, instants: Instants, known: Floats, ends: Floats, before: int,
        is_timed: bool,
    ) -> list[Floats]:  # fmt: skip
        """Increments with the present ropes; returns arrays of their rows. known, ends: as of ``march_duals``
        instants  times and increments of the run and of each shadow
        before    1: the first row is that before the first increment; without increments the only one"""
        setting, width, count = self.setting, self.width, len(known)
        stage, its = setting.stages[0], self._steps(step_run)
        moves = (each.stage.environment.supports.moving(each.progress.motion.u) for each in its)
        moving = np.unique(np.concatenate(list(moves)))  # a shadow may miss the place of a support by round-off
        loadings = [
            loading(at, each.progress.motion, *when, moving)
            for at, each, when in zip(setting.stages, its, instants, strict=True)
        ]
        self._judge(step_run, loadings)
        is_timed = is_timed or any(not np.array_equal(each.time, loadings[0].time) for each in loadings)
        acting = packed(loadings, width, plain=() if is_timed else ("dt", "time"))
        if count == 0:
            acting = acting._replace(dt=empty((0,), width) if is_timed else acting.dt[:0])
        room = record(stage, 1, *self.of)
        numbers = {name: empty((count + before, *getattr(room, name).shape[1:]), width) for name in NUMBERS}
        found, scheme = np.zeros(OUTCOME), stage.coefficients
        choices = np.array([scheme.secant, scheme.projects, scheme.lags, scheme.takes, before, self.asks], np.int64)
        row = np.array([*scheme[:11], scheme.late, scheme.onset], float)
        is_symmetric = not (scheme.secant or np.any(stage.bars.blocks[:, 4]))
        march_duals(
            is_symmetric, scheme.extrapolation, choices, row, known, ends, stage.limits, setting.problem, acting,
            self.motion, setting.room, setting.solving, setting.forces, setting.known, room._replace(**numbers), found,
        )  # fmt: skip
        self.worst = max(self.worst, float(found[WORST]))
        when = f"the equilibrium at time {loadings[0].time[1 + int(found[WHERE])]:.6g}"
        if found[STOPPED] or not found[WORST] <= LOST:
            raise NoDerivative(f"step {step_run.number}: {when} has no derivative: {KINK}")
        if found[WORST] > POOR:
            step_run.notify(
                warning(f"{when} is nearly singular: derivatives are known to {found[WORST]:.1g} of theirs")
            )
        return [numbers[name].array for name in NUMBERS]

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

    def note(self, arrays: Sequence[Floats], first: int, instants: Instants, step_run: StepRun) -> None:
        """Rows of the run and of the derivatives to their series; also those of the shadows, which have the numbers of
        the run moved by the derivatives, where numbers are computed from others.
        first     number of the first one;  instants  times and increments of the rows, of the run and of each shadow"""
        arrays = [np.ascontiguousarray(np.moveaxis(each, -1, 0)[: 1 + len(self.parameters)]) for each in arrays]
        room, count = record(step_run.stage, 1, *self.of), len(OFFSETS)

        def rows(parts: Sequence[Floats], stage: StepSystem, number: int, is_slope: bool = False) -> Rows:
            shown = room._replace(**dict(zip(NUMBERS, parts, strict=True)))  # type: ignore[arg-type]
            time, dt = instants[number]
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
            self.times[number].append(instants[number + 1][0])
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


def no_derivative_by(parameter: str, error: FemError) -> str:
    """Message: a neighbouring value of a parameter makes no run."""
    return f"there is no derivative by {parameter}: {str(error).splitlines()[0]}"


def pulling(step_run: StepRun) -> Flags:
    """(r,) ropes that the march keeps taut now."""
    if step_run.events:
        return step_run.events.states.basis.copy()
    return step_run.active.taut.copy() if step_run.active else np.zeros(0, np.bool_)


KINK = "a line is just slack there, or the structure is about to buckle"


def refuse(number: int, step: Step) -> None:
    """NoDerivative: what this step does has none here."""
    if step.dynamic and not SCHEMES[step.dynamic.integrator](step.dynamic).is_recursion:
        name = step.dynamic.integrator.replace("CENTRAL DIFFERENCE", "EXPLICIT")
        raise NoDerivative(f"step {number}: there are no derivatives of {name}")
    if getattr(step.procedure, "riks", None) is not None:
        raise NoDerivative(f"step {number}: there are no derivatives of *STATIC, RIKS")
