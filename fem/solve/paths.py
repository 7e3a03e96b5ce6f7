"""Critical points of static equilibrium paths, and the check that an increment has stayed on its path.

After each increment the negative eigenvalues of the tangent are counted. If their number changes, an eigenvalue is zero
in between: the increment is repeated in parts until the point is known to 1e-9 of it. With the vector v of this
eigenvalue and the changing load f, v.f = 0 at a *bifurcation*, where another path crosses; otherwise it is a *limit*
point, an extreme of the load. Source: Riks (1979); Wriggers & Simo, Int. J. Numer. Methods Eng. 30 (1990) 155.

An increment [P, Q] stays on its path if u_Q - u_P is the mean of the predictions by the tangents at P and at Q, and
these do not differ much; or if no bar is in compression between the two, because the energy is convex there (on the
straight line, or on the cubic given by both tangents).
Arcs (``newton/arc.py``) that fail this check are shortened. Increments at given loads are repeated in parts: if no
part, however short, stays on the path, the path has ended, and the increment has jumped to another one. Increments
whose loads all change at constant rates are checked together: twice as many after each success, singly after a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.assembly.environment import thermal_rows
from fem.assembly.equations import condense
from fem.forces import bar
from fem.forces.added_mass import ADDED_MASS
from fem.forces.bathymetry import BATHYMETRY
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.families import acting
from fem.forces.fluid import FLUID
from fem.forces.laws import BILINEAR, GREEN, LOG
from fem.forces.reeving import REEVING
from fem.forces.rope_laws import LAW, PLASTIC, ROPE_LAWS
from fem.forces.seabed import SEABED
from fem.forces.springs import COUNT, STIFFNESS
from fem.linear.inertia import Spectrum
from fem.model.curves import evaluate
from fem.model.notices import warning
from fem.runs.record import Event
from fem.solve.newton import groups
from fem.solve.newton.arc import FACTOR, METRIC, RADIUS
from fem.solve.newton.groups import CONTROL, LIMIT, Loading
from fem.solve.start import evaluate_start
from fem.solve.state import StepState, copied, put_back
from fem.solve.statics.mechanisms import static_tangent
from fem.solve.step_system import NO_ROPES, StepSystem, loading, loading_at, record

TIGHT = 1e-10
"""Relative residual of parts of increments."""
FOUND = 1e-9
"""Accuracy of a critical point, as a fraction of an increment."""
FINEST, KINK, COARSE = 2.0**-23, 2.0**-10, 2.0**-5
"""Parts of an increment: the shortest that is tried; the longest over which tangents may differ by kinks of laws; the
longest without a count at half-way."""
FIRST = 16
"""Number of increments in the first check."""
STEADY = 0.1
"""Largest deviation of a load from a constant rate, as a fraction of its change."""
MOST = 200
"""Largest number of parts of an increment that are tried."""
SAMPLES = 8
"""Number of parts of the way at whose ends bars are checked for compression."""
BENT, ASKEW, ALIKE = 0.5, 0.1, 0.8
"""Largest difference of the predictions at both ends; largest error of their mean. Smallest cosine between tangents."""
ACROSS = 1e-5
"""Load and eigenvector are orthogonal if their cosine is below this."""
SAME, NEAR = 1e-4, 0.05
"""Fraction of an increment within which two points are the same, and within which they are close."""
BALANCED = 1e-4
"""Largest residual at the start of a path, as a fraction of the largest force."""
SMALL = 1e-9
"""Fraction of the stiffness, or of the displacements, that counts as zero."""


HARMLESS = (SEABED, BATHYMETRY, FLUID, ADDED_MASS, REEVING, ROPE_LAWS, BENDING, BENDING_DAMPING)
"""Families that are stable as long as no bar is in compression."""


class PathState(NamedTuple):
    """A point of the path: all that changes, its time (the arc length of RIKS), and the memory of bars before the
    increment that led there (empty: the same)."""

    state: dict[str, Any]
    time: float
    memory: Floats

    @property
    def u(self) -> Floats:
        found: Floats = self.state["motion"]["u"]
        return found

    @property
    def factor(self) -> float:
        return float(self.state["arc"]["numbers"][FACTOR])


class Critical(NamedTuple):
    """A zero eigenvalue between two increments; factor: of the load, ``v`` (n,) over the independent dofs."""

    kind: str
    time: float
    factor: float
    rises: bool
    v: Floats | None


def path_of(step: StepState, has_ropes: bool) -> PathWatch | None:
    """The watch of a path; None for steps whose stability cannot change or has no meaning."""
    if has_ropes or not step.plan.has_path or step.system.model.corners:
        return None
    if not (step.plan.riks or may_lose(step.stage)):
        return None
    return PathWatch(step)


def may_lose(stage: StepSystem) -> bool:
    """Whether there may be several equilibria: something other than cables may be in compression, or have negative
    stiffness."""
    is_bar = bool((stage.bars.kinds[:, 1] != BILINEAR).any() or _pressable(stage).any())
    return is_bar or _others(stage) or bool(stage.system.model.corners)


def _others(stage: StepSystem) -> bool:
    """Whether anything besides bars may have negative stiffness."""
    springs = stage.system.springs.constants
    families = any(family not in HARMLESS for family, _ in acting(stage.system.families))
    return bool(families or (springs[:, STIFFNESS] < 0.0).any() or (springs[:, COUNT] > 0.0).any())


def _yields(stage: StepSystem) -> bool:
    """Whether bars yield or buckle; cables that yield among them."""
    groups = (group for family, group in acting(stage.system.families) if family is ROPE_LAWS)
    return any(bool((group.kinds[:, LAW] >= PLASTIC).any()) for group in groups)


def _pressable(stage: StepSystem) -> Floats:
    constants = stage.bars.constants
    return np.asarray((constants[bar.AREA] > 0.0) & (constants[bar.MINUS] > 0.0))


class PathWatch:
    """Watches the path of one static step. negative: negative eigenvalues at the last increment; -1: unknown.
    is_there: the last increment is in equilibrium (not always so at the start of a step: no path begins there).
    most: number of increments in the next check. bends: tangents will be needed. memory: as of ``PathState``; a bar
    that yields has the tangent of the increment in which it did, at rest it would be elastic."""

    changing = ("negative", "is_told", "is_there", "most", "bends", "memory")

    def __init__(self, step: StepState) -> None:
        self.step, self.negative, self.is_told, self.most, self.bends = step, 0, False, FIRST, True
        self.ahead: tuple[float, float, Floats | None] | None = None
        self.is_arc, self.memory = len(step.arc.last) > 0, np.zeros(0)
        self.yields = self.is_arc and _yields(step.stage)
        self.others = self.yields or _others(step.stage)
        self.has_laws = bool((step.stage.bars.kinds[:, 1] != BILINEAR).any())
        self.pressable = _pressable(step.stage)
        self._room = record(step.stage, 1, step.nodes, step.elements)
        self.negative = self._count(step.clock.start)
        stage, work = step.stage, step.stage.work
        rest = work.load - work.force
        condense(stage.equations, rest)
        pull = np.abs(work.tangent.bar_tangent[bar.GEOMETRIC]) * step.system.length0
        size = max(float(np.abs(each).max(initial=0.0)) for each in (work.load, pull))
        self.is_there = bool(np.abs(rest[stage.nodes.dof_kind == 1]).max(initial=0.0) <= BALANCED * size)
        if self.is_arc or not self.is_there:
            self.most = 1

    def keep(self) -> PathState:
        """The present state."""
        step = self.step
        state = {"motion": copied(step.progress.motion), "arc": copied(step.arc)}
        return PathState(state, step.progress.time, self.memory)

    def _after(self, here: PathState, time: float) -> PathState:
        """The present state, to which an increment has led from a point."""
        self.memory = here.state["motion"]["state"] if self.yields else self.memory
        return self.keep()._replace(time=time)

    def sets_off(self, chunk: Loading) -> PathState:
        """The present state, at the start of a chunk. If tangents will be needed (at first, or if something may have
        negative stiffness), the prediction is computed now, as its factor also serves the first iteration."""
        here, time = self.keep(), float(chunk.time[-1])
        self.ahead = None
        if self.bends and self.is_there and not self.is_arc:
            self.ahead = here.time, time, self._foretold(here, time)
            self._put(here)
        return here

    def passes(self, before: PathState, chunk: Loading, done: int) -> bool:
        """Checks the increments of a chunk from a point on; False: they are undone; fewer follow, or a shorter one if
        there was only one."""
        after = self._after(before, float(chunk.time[done]))
        if done > 1 and not (self._is_steady(before, chunk, done) and self._stays(before, after)[0]):
            self.most = done // 2
            self._put(before)
            return False
        points: list[Critical] = []
        if not self.is_there:
            self.negative, self.is_there = self._count(after.time), True
        elif done > 1:
            self.most = 2 * done
        else:
            found = self._of_arc(before, after) if self.is_arc else self._of_loads(before, after)
            if found is None:
                self._put(before)
                return False
            points = found
        self._put(after)
        self._tell(points)
        self.ahead = None  # valid in this chunk only: no checkpoint needs it
        return True

    def _is_steady(self, before: PathState, chunk: Loading, done: int) -> bool:
        """Whether all loads change at constant rates in so many increments, so that no sign change is reversed."""
        acts, times = self.step.stage.environment, chunk.time[: done + 1]
        cases = [*acts.moments, *acts.winches, *(case for flow in acts.flows for case in flow.cases)]
        curves = [case.curve for case in cases] + [curve for flow in acts.flows for curve in flow.streams]
        moved = np.concatenate([before.u[None, chunk.support_dofs], chunk.support_u[:done]])
        columns = [chunk.factors[: done + 1], moved, *(evaluate(curve, times)[:, None] for curve in curves)]
        columns += [chunk.thermal_end[: done + 1]] if len(chunk.thermal_end) > 1 else []
        share = ((times - times[0]) / (times[-1] - times[0]))[:, None]
        changes = ((each, each[:1], each[-1:] - each[:1]) for each in columns if each.size)
        off = ((np.abs(each - first - share * change).max(), np.abs(change).max()) for each, first, change in changes)
        return not acts.tensions and all(most <= STEADY * change for most, change in off)

    def _stays(self, before: PathState, after: PathState) -> tuple[bool, int]:
        """Whether increments stay on the path without a critical point; the number of negative eigenvalues at the end.
        The present state is ``after``."""
        square = self._unstressed(before, after)
        self.bends = square is None
        if square is not None and self._is_convex(before, after, square):
            self.negative = 0
            return True, 0
        count = self._count(after.time)
        return self.negative == count >= 0 and self._goes_on(before, after, count), count

    # Arcs

    def _of_arc(self, before: PathState, after: PathState) -> list[Critical] | None:
        """Critical points of an arc; None: its direction changes too much, and it may be shortened."""
        end = self._spectrum(after.time)
        load = self._load()
        foretold = end.solve(load)
        turned, is_smooth = False, True
        if foretold is not None:
            ways = [self._full(foretold), after.state["arc"]["direction"]]
            if self.yields and (begun := self._spectrum_at(before).solve(load)) is not None:
                ways[1] = self._full(begun)  # an arc sets out as if nothing yielded
                self._put(after)
            chord = self._joined(after.u - before.u, after.factor - before.factor)
            tangents = [self._joined(way, 1.0) for way in ways]
            there, here = (math.copysign(1.0, chord @ way) * way / np.linalg.norm(way) for way in tangents)
            size = float(np.linalg.norm(chord))
            off = np.linalg.norm(chord - 0.5 * size * (here + there))
            turned = here[-1] * there[-1] < 0.0
            is_smooth = bool(here @ there >= ALIKE and off <= 2.0 * ASKEW * size)
            is_smooth &= not (turned and end.negative == self.negative)
        if not is_smooth and self.step.clock.cut(groups.TOO_LONG):
            return None
        return list(self._between(before, after, end, turned))

    def _joined(self, way: Floats, change: float) -> Floats:
        """(3n + 1,) displacement and load factor, scaled as in arc lengths."""
        return np.append(math.sqrt(self.step.arc.numbers[METRIC]) * way, change)

    def _load(self) -> Floats:
        """(n,) derivative of the load by the load factor, over the independent dofs."""
        return self._condensed(np.asarray(self.step.arc.slope @ self.step.stage.loads.vectors))

    # Increments at given loads

    def _of_loads(self, before: PathState, after: PathState) -> list[Critical] | None:
        """Critical points of an increment; None: it has left its path, and may be shortened."""
        stays, count = self._stays(before, after)
        if stays:
            self.most = 2
            return []
        if count < 0 or self.negative < 0:
            self.negative = count
            return []
        first, found = self.negative, list[Critical]()
        here, is_whole = before, True
        for there in self._parts(before, after.time, after, 0.5 if count == first else 1.0):
            if there is None:
                is_whole = False
                break
            found += self._between(here, there, self._spectrum_at(there), False)
            here = there
        if is_whole:
            away, way = self._deforming(here.u - after.u), self._deforming(after.u - before.u)
            if np.abs(away).max() <= SAME * np.abs(way).max():
                return found
        if is_whole and self.step.clock.cut(groups.TOO_LONG):
            self.negative = first
            return None
        self.negative = count
        ends = [] if is_whole else list(self._ends(before, here, after.time))
        jump = Critical("jump", after.time, math.nan, True, None)
        return [*found, *ends, jump] if ends or is_whole else found  # not followed, and nothing was found

    def where_it_ends(self, dt: float) -> str:
        """Message that no increment of dt converges because the path ends; empty if it does not."""
        here = before = self.keep()
        if self.is_arc or self.negative < 0:
            return ""
        is_whole = True
        for there in self._parts(before, before.time + dt, None, 1.0):
            is_whole = there is not None
            here = there or here
        ends = [] if is_whole else list(self._ends(before, here, before.time + dt))
        self._put(before)
        self._pass_on(ends)
        return "".join(f"; {self._ending(each)}" for each in ends)

    def _parts(self, before: PathState, end: float, after: PathState | None, part: float) -> Iterator[PathState | None]:
        """Points along the path from ``before`` to the loads of time ``end``, where the increment arrived at ``after``;
        None: the path ends, or could not be followed. part: first length tried, as a fraction."""
        here, done, has_failed = before, 0.0, True
        for _ in range(MOST):
            part = min(part, 1.0 - done)
            time = before.time + (done + part) * (end - before.time) if done + part < 1.0 else end
            there = after if part == 1.0 and after else self._to(here, time)
            if there and self._goes_on(here, there, self._count_at(there) if part > COARSE else None, part <= KINK):
                yield there
                here, done = there, done + part
                if done >= 1.0:
                    return
                part, has_failed = part if has_failed else 2.0 * part, False
            else:
                part, has_failed = 0.5 * part, True
                if part < FINEST:
                    break
        yield after if after and self._leads_back(after, before) else None

    def _leads_back(self, after: PathState, before: PathState) -> bool:
        """Whether the path of the end point, followed back, ends at the start, where the tangent may be singular."""
        here, part, left = after, 0.5, 1.0
        for _ in range(MOST):
            time = before.time + (left - part) * (after.time - before.time)
            there = self._to(here, time)
            if there and self._goes_on(here, there):
                here, left = there, left - part
                part = 0.5 * left
                if left < FINEST:
                    away, way = self._deforming(here.u - before.u), self._deforming(after.u - before.u)
                    return bool(np.abs(away).max() <= NEAR * np.abs(way).max())
            else:
                part *= 0.5
                if part < FINEST * left:
                    break
        return False

    def _goes_on(self, here: PathState, there: PathState, count: int | None = None, may_bend: bool = False) -> bool:
        """Whether the way between two points agrees with both tangents; count: negative eigenvalues at ``there``, to
        detect a change that is reversed on the way; may_bend: it may have a corner."""
        back = self._foretold(there, here.time)  # first, because the kept factor is of this tangent
        ahead = self._ahead(here, there.time)
        if ahead is None or back is None:
            return False
        if self._pulls(here, there, ahead, -back):
            return True
        is_smooth = self._is_smooth(there.u - here.u, ahead, -back, False)
        if not is_smooth and may_bend:
            is_smooth = self._is_smooth(there.u - here.u, ahead, -back, True)
        is_same = count is not None and count == self.negative
        return is_smooth and not (is_same and self._hides(here, there, ahead, -back))

    def _is_smooth(self, way: Floats, ahead: Floats, back: Floats, may_bend: bool) -> bool:
        """Whether a way (3n,) agrees with the predictions of the tangents at both ends; may_bend: it may have kinks."""
        way, ahead, back = map(self._deforming, (way, ahead, back))
        size = max(float(np.linalg.norm(each)) for each in (way, ahead, back))
        if size <= SMALL * float(np.ptp(self.step.system.coordinates, axis=0).max()):
            return True
        change, middle = ahead - back, 0.5 * (ahead + back)
        if may_bend:
            square = float(change @ change)
            share = min(max(float((way - back) @ change) / square, 0.0), 1.0) if square else 0.0
            return bool(np.linalg.norm(way - back - share * change) <= ASKEW * size)
        return bool(
            np.linalg.norm(change) <= BENT * max(np.linalg.norm(ahead), np.linalg.norm(back))
            and np.linalg.norm(way - middle) <= ASKEW * size
        )

    def _hides(self, here: PathState, there: PathState, ahead: Floats, back: Floats) -> bool:
        """Whether two points with the same number of negative eigenvalues have another number half-way, on the cubic
        with the predicted ways (3n,) (on a straight way, rotating bars would be compressed)."""
        self._put(there)
        self.step.progress.motion.u[:] = 0.5 * (here.u + there.u) + 0.125 * (ahead - back)
        return self._count(0.5 * (here.time + there.time)) != self.negative

    def _deforming(self, way: Floats) -> Floats:
        """A displacement without its part in free rigid motions."""
        shapes = self.step.stage.free_shapes
        return way - shapes @ (shapes.T @ way) if shapes.size else way

    def _foretold(self, here: PathState, time: float) -> Floats | None:
        """(3n,) displacement from a point to the loads of another time, by the tangent there; None: singular."""
        limits = self.step.stage.limits
        kept = limits.copy()
        limits[LIMIT.iterations], limits[LIMIT.relative] = 1.0, TIGHT
        found = self._march(here, time)
        limits[:] = kept
        way = self.step.stage.work.u - here.u
        return way if found in (groups.DONE, groups.NOT_CONVERGED) and np.isfinite(way).all() else None

    def _ahead(self, here: PathState, time: float) -> Floats | None:
        """``_foretold``, computed once for the start of a chunk."""
        if self.ahead and self.ahead[:2] == (here.time, time):
            return self.ahead[2]
        return self._foretold(here, time)

    def _is_convex(self, before: PathState, after: PathState, square: Floats) -> bool:
        """Whether no bar is compressed on the straight way between two points. square: result of ``_unstressed``."""
        d0, d1 = (self._ways(each.u) for each in (before, after))
        change = d1 - d0
        turn = np.einsum("bi,bi->b", change, change)
        share = np.divide(-np.einsum("bi,bi->b", d0, change), turn, out=np.zeros(len(turn)), where=turn > 0.0)
        nearest = d0 + np.clip(share, 0.0, 1.0)[:, None] * change
        return bool((np.einsum("bi,bi->b", nearest, nearest) >= square).all())

    def _pulls(self, here: PathState, there: PathState, ahead: Floats, back: Floats) -> bool:
        """Whether no bar is compressed between two points, on the cubic with the predicted ways (3n,). The energy is
        then convex in all displacements, and both points are on the same path of its minima."""
        if (square := self._unstressed(here, there)) is None:
            return False
        for share in np.linspace(0.0, 1.0, SAMPLES + 1).tolist():
            left = 1.0 - share
            u = here.u + share**2 * (3.0 - 2.0 * share) * (there.u - here.u)
            u += share * left * (left * ahead - share * back)
            way = self._ways(u)
            if (np.einsum("bi,bi->b", way, way) < square).any():
                return False
        return True

    def _ways(self, u: Floats) -> Floats:
        """(b, 3) vectors along the bars that can be compressed, at displacements (3n,)."""
        ends = (self.step.stage.nodes.place + u).reshape(-1, 3)[self.step.stage.bars.nodes[self.pressable]]
        return np.asarray(ends[:, 1] - ends[:, 0])

    def _unstressed(self, before: PathState, after: PathState) -> Floats | None:
        """(b,) squared lengths of bars below which they are compressed at either point; None: something else may have
        negative stiffness."""
        stage, those = self.step.stage, self.pressable
        if self.others or self.has_laws:
            return None
        constants, strain = stage.bars.constants[:, those], stage.bars.kinds[those, 0]
        thermal = thermal_rows(stage.system, stage.environment, np.array([before.time, after.time]))
        young = constants[bar.YOUNG]
        relief = np.divide(constants[bar.STRESS0], young, out=np.zeros_like(young), where=young > 0.0)
        unstressed = thermal.max(axis=0)[those] - relief
        length0 = 1.0 / constants[bar.INV_LENGTH]
        square = np.where(strain == GREEN, 1.0 + 2.0 * unstressed, (1.0 + unstressed) ** 2)
        square = length0**2 * np.where(strain == LOG, np.exp(2.0 * unstressed), square)
        return np.asarray((1.0 - SMALL) * square)

    def _ends(self, before: PathState, here: PathState, time: float) -> Iterator[Critical]:
        """The critical point next to a point at which the path ends before another time: an eigenvalue is almost zero.
        Nothing if the path ends for another reason (a law of bars, a bar without length)."""
        start, spectrum = self._spectrum_at(before), self._spectrum_at(here)
        if spectrum.negative < 0 or here.time == before.time:
            return
        numbers = [number for number in (spectrum.negative - 1, spectrum.negative) if 0 <= number < spectrum.size]
        pairs = [(*spectrum.pair(number), start.pair(number)[0]) for number in numbers]
        for value, v, first in sorted(pairs, key=lambda each: abs(each[0]))[:1]:
            if v is not None and abs(value) <= NEAR * abs(first):
                ahead = self._foretold(here, time)
                across = ahead is not None and self._is_across(v, spectrum.matrix @ self._open(ahead))
                yield Critical("bifurcation" if across else "limit", here.time, math.nan, True, v)

    # Critical points

    def _between(self, before: PathState, after: PathState, end: Spectrum, turned: bool) -> Iterator[Critical]:
        """Critical points between two points of one path, in order; the count is then that of the end."""
        first, self.negative = self.negative, end.negative
        if min(first, end.negative) < 0:
            return
        found = list[Critical]()
        for number in range(min(first, end.negative), max(first, end.negative)):
            found.append(self._located(before, after, end, number, turned))
        yield from sorted(found, key=lambda each: each.time)

    def _located(self, before: PathState, after: PathState, end: Spectrum, number: int, turned: bool) -> Critical:
        """The point at which an eigenvalue (by number from the lowest) is zero."""
        start, seen = self._spectrum_at(before), dict[float, tuple[PathState, Spectrum]]()

        def value(part: float) -> float:
            there = self._to(before, before.time + part * (after.time - before.time))
            if there is None:
                return math.nan
            seen[part] = there, self._spectrum(there.time)
            return seen[part][1].pair(number)[0]

        low, high = start.pair(number)[0], end.pair(number)[0]
        if abs(low) <= SMALL * start.scale:
            part, seen[0.0] = 0.0, (before, start)
        else:
            part = root(value, low, high)
        if part not in seen:
            value(part)
        there, spectrum = seen.get(part, (after, end))
        zero, v = spectrum.pair(number)
        v = v if abs(zero) <= 1e-3 * max(abs(low), abs(high)) else None
        is_limit = turned
        if self.is_arc and v is not None:
            is_limit = not self._is_across(v, self._load())
        kind = "limit" if is_limit else "bifurcation"
        return Critical(kind, there.time, there.factor, end.negative > start.negative, v)

    @staticmethod
    def _is_across(v: Floats, load: Floats) -> bool:
        return bool(abs(v @ load) <= ACROSS * np.linalg.norm(load) * np.linalg.norm(v))

    def _pass_on(self, found: list[Critical]) -> None:
        step, number = self.step, self.step.progress.increment + 1
        for each in found:
            factor = each.factor if self.is_arc else None
            step.sink.event(Event(step.number, number, each.time, 0, each.kind, load_factor=factor))

    @staticmethod
    def _ending(each: Critical) -> str:
        point = "limit point" if each.kind == "limit" else "bifurcation"
        return f"the path from its start ends in a {point} at t = {each.time:.9g}; *STATIC, RIKS follows the path"

    def _tell(self, found: list[Critical]) -> None:
        """Reports the critical points of the increment that ends now."""
        step, number = self.step, self.step.progress.increment + 1
        self._pass_on(found)
        if found and found[-1].kind == "jump":
            ends = found[-2] if len(found) > 1 else None
            how = f": {self._ending(ends)}" if ends else ", off the path from its start; try smaller increments"
            step.notify(warning(f"increment {number} jumps to another equilibrium{how}"))
            return
        branches = [each for each in found if each.kind == "bifurcation" and each.rises]
        if branches and not self.is_told:
            self.is_told = True
            first = branches[0]
            where = f"load factor {first.factor:.9g}" if self.is_arc else f"t = {first.time:.9g}"
            told = (
                f"bifurcation at {where} (increment {number}): another path crosses there"
                f"{self._named(first.v)}, and the one that is printed is unstable beyond; the real structure leaves "
                "it. A small load in that direction makes the run follow (events.csv lists all such points)"
            )
            step.notify(warning(told))

    def _named(self, v: Floats | None) -> str:
        if v is None:
            return ""
        dof = int(self.step.stage.tangent.independent[int(np.abs(v).argmax())])
        return f", on which {self.step.stage.system.name_dof(dof)} moves most"

    # States

    def _put(self, place: PathState) -> None:
        put_back(self.step.progress.motion, place.state["motion"])
        self.memory = place.memory
        if self.is_arc:
            put_back(self.step.arc, place.state["arc"])

    def _march(self, here: PathState, time: float) -> int:
        """Computes from a point to the loads of another time, or along an arc; returns the outcome."""
        step, ends = self.step, np.array([here.time, time])
        self._put(here)
        if self.is_arc:
            step.arc.numbers[RADIUS] = math.sqrt(2.0) * (time - here.time) / step.clock.period  # type: ignore[union-attr]
        chunk = loading(step.stage, step.progress.motion, ends, np.diff(ends))
        return step.try_out(np.zeros(len(CONTROL), np.int64), chunk, self._room, NO_ROPES)

    def _to(self, here: PathState, time: float) -> PathState | None:
        """The state at another time, computed from a point; None: not found."""
        limits = self.step.stage.limits
        kept = limits.copy()
        limits[LIMIT.relative], limits[[LIMIT.absolute, LIMIT.correction]], limits[LIMIT.to_floor] = TIGHT, -1.0, 0.0
        reason = self._march(here, time)
        limits[:] = kept
        return self._after(here, time) if reason == groups.DONE else None

    def _spectrum_at(self, place: PathState) -> Spectrum:
        self._put(place)
        return self._spectrum(place.time)

    def _spectrum(self, time: float) -> Spectrum:
        """Eigenvalues of the tangent at the present state."""
        self._evaluate(time)
        return Spectrum(static_tangent(self.step.stage))

    def _count_at(self, place: PathState) -> int:
        self._put(place)
        return self._count(place.time)

    def _count(self, time: float) -> int:
        """Negative eigenvalues at the present state: none if nothing is compressed or has negative stiffness."""
        self._evaluate(time)
        stage, numbers = self.step.stage, self.step.stage.work.tangent.bar_tangent
        others = self.others or bool((numbers[bar.GEOMETRIC] < 0.0).any() or (numbers[bar.ALPHA] < 0.0).any())
        return Spectrum(static_tangent(stage)).negative if others else 0

    def _evaluate(self, time: float) -> None:
        """Evaluates the present state into the work arrays."""
        stage, motion = self.step.stage, self.step.progress.motion
        kept = copied(motion)
        if len(self.memory):
            motion.state[:] = self.memory
        evaluate_start(stage, motion, loading_at(stage, motion, time))
        put_back(motion, kept)

    def _open(self, full: Floats) -> Floats:
        return np.asarray(full[self.step.stage.tangent.independent])

    def _full(self, x: Floats) -> Floats:
        """(3n,) all dofs from the independent ones (n,)."""
        tangent, whole = self.step.stage.tangent, np.zeros(self.step.system.size)
        whole[tangent.dofs if tangent.transform is not None else tangent.independent] = (
            tangent.transform @ x if tangent.transform is not None else x
        )
        return whole

    def _condensed(self, full: Floats) -> Floats:
        tangent = self.step.stage.tangent
        return self._open(full) if tangent.transform is None else np.asarray(tangent.transform.T @ full[tangent.dofs])


def root(value: Callable[[float], float], low: float, high: float) -> float:
    """Fraction (0 to 1) at which a function with the values ``low`` at 0 and ``high`` at 1 is zero (Ridders)."""
    a, b, last = 0.0, 1.0, math.nan
    while b - a > FOUND:
        middle = 0.5 * (a + b)
        at = value(middle)
        if math.isnan(at):
            return middle
        square = math.sqrt(at * at - low * high)
        if at == 0.0 or square == 0.0:
            return middle
        part = middle + (middle - a) * math.copysign(1.0, low - high) * at / square
        found = value(part)
        if found == 0.0 or math.isnan(found) or abs(part - last) <= 0.01 * FOUND:
            return part
        last = part
        points = sorted([(a, low), (middle, at), (part, found), (b, high)])
        for (left, at_left), (right, at_right) in pairwise(points):
            if (at_left < 0.0) != (at_right < 0.0):
                a, low, b, high = left, at_left, right, at_right
                break
    return last if a <= last <= b else 0.5 * (a + b)
