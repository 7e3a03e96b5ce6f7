"""``fem.error_bars``: the numbers of a run with error bars and their contributions.

Errors are computed from the same number in three runs, each with half the increment of the one before (Richardson).

With y of the runs, d1 = y1 - y2 and d2 = y2 - y3, the order is p = log2 |d1/d2|, and what both pairs extrapolate to

    x1 = y2 - d1/(2^p - 1),   x2 = y3 - d2/(2^p - 1)

shows the accuracy of x2: if the error is C dt^p + D dt^q, x2 is |x1 - x2|/(2^q - 1) from the truth. The error of a run,
which is one of the three, is its y less x2, with that uncertainty. Differences of numbers over time also vanish where
they cross, without small errors: orders and uncertainties are therefore those of the largest differences in a window.
Source: Roache, Verification and Validation in Computational Science and Engineering, 1998, ch. 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats, Ints
from fem.deck import read_model
from fem.errors import CommandError, unknown
from fem.model import Model
from fem.model.named import members_named, number_named, set_named
from fem.model.quantities import ENERGIES
from fem.runner import run
from fem.runs.history import History
from fem.runs.progress import Progress, part_of, showing
from fem.runs.run_record import COMPLETED
from fem.study.certainty.companions import DOUBLE, FACTORS, FINE, FOURFOLD, RUN, TIGHT, Companions, answered
from fem.study.certainty.numbers import ROUND_OFF, Aligned, asked, peak_of, printed_names, round_offs, scales, statistic
from fem.study.question import Answer
from fem.study.tracks import Track, track_of, tracked

LEAST, MOST = 0.7, 4.5
"""Range of orders that are accepted."""
ORDERS = (1.0, 2.0)
"""Orders of schemes: an observed order close to one of them is set to it."""
NEAR = 0.35
SAFE, ROUGH, UNSEEN, ALONE = 0.5, 1.0, 2.0, 3.0
"""Factors of the uncertainty: of smooth errors, over the distance of two extrapolations; added for rough ones; over the
last difference if no order is seen; over the only difference of two runs."""
MESH = 2.0
"""Factor of the error of a mesh over the largest difference from twice the bars in a window: 4/3 at second order, 2 at
first, as with a sudden load at a node."""
RESIDUAL = 2.0
"""Factor of the error of a residual over its largest effect in a window, with two or four times the increment."""
MARGIN = 1.15
WINDOWS = 40
"""Number of windows of a run, in each of which an order is computed; and their smallest number of rows."""
LEAST_WINDOW = 4
UNCONVERGED = 0.3
"""A number is not converged if its bar over its size exceeds this."""
BEGUN = 1e-3
"""A motion has begun if its size over its largest exceeds this."""
CHAOTIC = 1e3
"""Growth of the difference of two increments, at a steady rate, that counts as chaos."""
EXACT = 1e-9
"""Bar over the size of a number that counts as a rounding error."""
STRAYED = 4.0
"""A companion is unstable, and ignored, if its energy exceeds the largest of the run by this factor."""
HOLDS = 0.1
"""Relative energy error of a run above which the run may be unstable, too."""
HIDDEN = 0.02
"""Fraction of the numbers of a run that may have no order, because their error curves cross zero."""
AT_ONCE = 1 << 17
"""Numbers whose errors are estimated together, to bound the memory."""
PLAIN = 0.2
"""Share of the work that the run itself counts as, beside its companions."""
PARTS = ("dt", "mesh", "residual", "rows")
IMPACT = "impact"
"""Kind of events at which velocities and forces jump."""
NOT_CONVERGED, NOT_SEEN, CHAOS = "not converged: 30 % or more", "order not seen", "chaotic: bars on statistics only"


def error_bars(
    deck: str | Path | Model,
    parameters: Mapping[str, float] | None = None,
    processes: int | None = None,
    *,
    mesh: bool = True,
    solver: str = "AUTO",
    progress: Progress = False,
) -> ErrorBars:
    """Run a deck with its companions, and return its numbers with error bars.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``
    processes   at most so many (short runs use none besides this one); None: one per processor
    mesh        False: the mesh is the model, as of masses that are joined by bars; its bars are not split
    solver      as in ``fem.run``
    progress    as for ``run``

    Raises what ``fem.run`` raises for the deck itself. A companion that fails leaves out its contribution
    (``ErrorBars.missing``).

    >>> bars = fem.error_bars("inputs/sdnl100.inp")
    >>> round(bars.value("U1_n2@1.2558"), 4), [round(each, 4) for each in bars.error("U1_n2@1.2558")]
    (-1.0745, [-0.0744, 0.0093])
    """
    model = read_model(deck, parameters)
    if model.earlier is not None:
        raise CommandError("no error bars for a run that continues another one: the state it begins with has none")
    with showing(progress) as told:
        history = run(model, solver=solver, progress=part_of(told, 0.0, PLAIN))
        companions = Companions(model, mesh, solver)
        answers = companions.run(history, processes, part_of(told, PLAIN, 1.0))
        return completed(history, companions, answers, processes)


def wanted_bars(companions: Companions, processes: int | None = None, progress: Progress = False) -> ErrorBars:
    """Error bars of selected numbers only, for runs too long to be stored; energies are kept, too, to detect unstable
    companions.

    Raises what ``fem.run`` raises for the model itself.
    """
    wanted = companions.names or ()
    names = tuple(dict.fromkeys([*wanted, *ENERGIES])) if wanted else ()
    companions = replace(companions, names=names)
    with showing(progress) as told:
        plain = tracked(companions.model, names, companions.solver, part_of(told, 0.0, PLAIN))
        answers = companions.run(plain, processes, part_of(told, PLAIN, 1.0))
        return completed(plain, companions, answers, processes, frozenset(wanted))


def completed(
    run: History | Track,
    companions: Companions,
    answers: Mapping[str, Answer],
    processes: int | None = None,
    printed: frozenset[str] | None = None,
) -> ErrorBars:
    """As ``bars_from``, with one more companion if the order is not seen yet, or longer increments fail."""
    found = bars_from(run, companions, answers, printed)
    if companions.is_joint or not (
        companions.moves and (found.lacks_increments or (companions.is_short and found.hides_order))
    ):
        return found
    more = answered(companions.finer(found.levels[-1], run), processes)
    return bars_from(run, companions, {**answers, **more}, printed)


def bars_from(
    run: History | Track,
    companions: Companions,
    answers: Mapping[str, Answer],
    printed: frozenset[str] | None = None,
) -> ErrorBars:
    """Error bars of a run from the results of its companions. printed: the numbers that count; None: those that the
    deck prints, or all of a track."""
    if printed is None and isinstance(run, History):
        printed = printed_names(run.model)
    tracks = {RUN: track_of(run, companions.names) if isinstance(run, History) else run}
    missing = dict(companions.missing)
    for name, answer in answers.items():
        track: Track | None = answer.history
        has_strayed = track is not None and strays(track, tracks[RUN])
        if track is not None and (len(track.time) or track.modes) and not has_strayed:
            tracks[name] = track
        if has_strayed:
            missing[name] = "its energy grew without bound, as it did not in the run: it is not taken"
        elif answer.verdict != COMPLETED:
            reached = f" (from time {track.time[-1]:.6g} on)" if track is not None and len(track.time) else ""
            missing[name] = answer.verdict + reached
    return ErrorBars(tracks, missing, companions, printed)


def strays(track: Track, run: Track) -> bool:
    """Whether some energy, or the energy error, is ``STRAYED`` times the largest of the run, whose own energies
    balance."""
    kept = [place for place, name in enumerate(run.names) if name in ENERGIES]
    own, its = (np.fmax.reduce(np.abs(each.values[:, kept]), axis=0, initial=0.0) for each in (run, track))
    wrong = [size for size, place in zip(own.tolist(), kept, strict=True) if run.names[place] == "energy_error"]
    largest = float(own.max(initial=0.0))
    return float(its.max(initial=0.0)) > STRAYED * largest > 0.0 and max(wrong, default=0.0) <= HOLDS * largest


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Errors of numbers (k, c), each a number per row and column; NaN: unknown.

    error     value minus truth, as far as due to dt
    own       uncertainty of ``error``
    dt, mesh, residual, rows   contributions to the bar; rows: excess of an extreme between the rows, and jumps at
              impacts
    order     observed; NaN where none is
    scale     (c,) size of the number over the run
    noise     (c,) its round-off
    """

    error: Floats
    own: Floats
    dt: Floats
    mesh: Floats
    residual: Floats
    rows: Floats
    order: Floats
    scale: Floats
    noise: Floats

    @property
    def bar(self) -> Floats:
        total = sum(np.fmax(part, 0.0) for part in (self.dt, self.mesh, self.residual, self.rows))
        return np.asarray(MARGIN * total + self.noise)

    def at(self, *place: int | Ints) -> Estimate:
        """The estimate of one number, or of some of them."""
        found: Any = {each.name: getattr(self, each.name) for each in fields(self)}
        return Estimate(**{name: values[place[-1] if values.ndim == 1 else place] for name, values in found.items()})


def around(values: Floats, rows: int) -> Floats:
    """Largest value in some rows before and after; NaN is ignored."""
    most = np.pad(np.fmax(np.abs(values), 0.0), ((rows, rows), (0, 0)))
    width = 1  # maxima over windows that begin at each row
    while width < 2 * rows + 1:
        step = min(width, 2 * rows + 1 - width)
        most, width = np.maximum(most[:-step], most[step:]), width + step
    return most


def known_around(values: Floats, rows: int) -> Floats:
    """``around``, but NaN where there is no value."""
    return np.where(np.isnan(values), np.nan, around(values, rows))


def orders(first: Floats, second: Floats) -> Floats:
    """Observed orders; NaN where none is seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(first / second)
    order = np.where((order >= LEAST) & (order <= MOST), order, np.nan)
    for known in ORDERS:
        order = np.where(np.abs(order - known) <= NEAR, known, order)
    return np.asarray(order)


def estimate(
    run: Floats,
    three: Sequence[Floats | None],
    mesh: Floats | None,
    residual: Floats | None,
    scale: Floats,
    noise: Floats,
    rows: Floats | None = None,
    window: int = 0,
) -> Estimate:
    """Estimates for numbers (k, c) of a run; None: the other run does not exist.

    three     those of three runs, each with half the increment of the one before; the run is the second or third of
              them. NaN where one has none
    mesh      differences from twice the bars;  residual: from smaller residuals
    window    rows on either side of one that show its order
    """
    none = np.full_like(run, np.nan)
    error, own, order = none, none, none
    if three[1] is not None:
        first, second, third = (none if each is None else each for each in three)
        error, own, order = of_increments(run, first, second, third, window)
    return Estimate(
        error=error,
        own=own,
        dt=np.abs(error) + own,
        mesh=none if mesh is None else MESH * known_around(mesh, window),
        residual=none if residual is None else RESIDUAL * known_around(residual, window),
        rows=np.zeros_like(run) if rows is None else rows,
        order=order,
        scale=scale,
        noise=noise,
    )


def of_increments(
    run: Floats, first: Floats, second: Floats, third: Floats, window: int
) -> tuple[Floats, Floats, Floats]:
    """Error, its uncertainty, and order of numbers (k, c) of a run, from those of three runs."""
    d1, d2 = first - second, second - third
    wide = around(d1, window), around(d2, window)
    order = orders(*wide)
    seen = np.isfinite(order)
    factor = 1.0 / (2.0 ** np.where(seen, np.minimum(order, ORDERS[-1]), 1.0) - 1.0)
    x1, x2 = second - factor * d1, third - factor * d2
    apart = around(x2 - x1, window)
    with np.errstate(divide="ignore", invalid="ignore"):
        rough = np.where(apart > 0.0, np.minimum(apart / (factor * wide[0]), 1.0), 0.0)
    error = np.where(seen, run - x2, run - third)
    own = np.where(seen, (SAFE + ROUGH * rough) * apart, UNSEEN * wide[1])
    known = np.isfinite(d1), np.isfinite(d2)
    for is_alone, last, d, its in ((~known[0], third, d2, wide[1]), (~known[1], second, d1, wide[0])):
        if is_alone.any():
            error, own = np.where(is_alone, run - last + d / 3.0, error), np.where(is_alone, ALONE * its, own)
    if window:  # all runs begin with the same state
        own[0] = np.where((np.nan_to_num(d1[0]) == 0.0) & (np.nan_to_num(d2[0]) == 0.0), 0.0, own[0])
    some, both = known[0] | known[1], known[0] & known[1]
    return np.where(some, error, np.nan), np.where(some, own, np.nan), np.where(seen & both, order, np.nan)


class ErrorBars:
    """The numbers of a run with error bars.

    Names: ``U1_n2`` (at the end of the run), ``U1_n2@0.5`` (at an instant), ``max:T_e1``, ``min:U3_n2`` (over the run),
    ``instant:max:T_e1``, ``mean:T_e1``, ``std:T_e1``, ``damage:3:T_e1`` (Miner's sum of N = range^-3), ``kinetic`` and
    other energies in the same ways, ``frequency_1_2`` (step, mode), ``event:1:slack_e5`` (the first time).
    ``T_TOPS`` in place of ``T_e1``: at each instant the largest in a set.

    printed   names of the numbers that count in ``limits``; None: all
    missing   name of a companion -> why its contribution is missing, or is missing from some time on
    """

    def __init__(
        self,
        tracks: Mapping[str, Track],
        missing: dict[str, str],
        companions: Companions,
        printed: frozenset[str] | None = None,
        sizes: tuple[Floats, Floats] | None = None,
    ) -> None:
        """sizes: scales and round-off of the numbers; None: as their names say."""
        self.missing, self.companions, self.tracks = missing, companions, dict(tracks)
        self._run = tracks[RUN]
        scale = scales(self._run.values, self._run.names, self._run.model.mesh) if sizes is None else sizes[0]
        self._scale = scale
        self._noise = round_offs(self._run.names, scale, self._run.model) if sizes is None else sizes[1]
        self._printed = frozenset(self._run.names) if printed is None else printed
        self._numbers: dict[str, tuple[float, Estimate]] = {}
        self._place = {name: place for place, name in enumerate(self._run.names)}
        self._sets: dict[str, ErrorBars] = {}

    def __repr__(self) -> str:
        source, count = self._run.model.source or "a model", len(self._run.names)
        return f"ErrorBars of {source}: {count} numbers over time, {len(self._run.time)} rows"

    def _estimated(
        self, values: Mapping[str, Floats], scale: Floats, noise: Floats, rows: Floats | None = None, window: int = 0
    ) -> Estimate:
        """Estimate of numbers (k, c) of the run, from those of its companions by name."""

        def apart(name: str, other: str) -> Floats | None:
            return values[name] - values[other] if name in values and other in values else None

        three = [None, None, *(values[name] for name in self.levels)][-3:]
        mesh, residual = apart(FINE, self.companions.beside_fine), apart(self.companions.coarsest, TIGHT)
        return estimate(values[RUN], three, mesh, residual, scale, noise, rows, window)

    @property
    def levels(self) -> list[str]:
        """Runs that differ in increments only, the longest increments first."""
        return [name for name in FACTORS if name in self.tracks]

    @property
    def lacks_increments(self) -> bool:
        """Whether a companion with longer increments has failed."""
        return any(name in self.missing for name in (DOUBLE, FOURFOLD))

    @property
    def hides_order(self) -> bool:
        """Whether the order is unknown for more than ``HIDDEN`` of the printed numbers."""
        hidden = counted = 0
        for columns, found in self._estimates():
            is_printed = [name in self._printed for name in self._run.names[columns]]
            counts = (found.dt > EXACT * found.scale) & is_printed
            hidden += int(np.count_nonzero(counts & np.isnan(found.order)))
            counted += int(np.count_nonzero(counts))
        return hidden > HIDDEN * counted

    def _estimates(self) -> Iterator[tuple[slice, Estimate]]:
        """Estimates of all numbers at all rows, some columns at a time."""
        width = max(1, AT_ONCE // max(1, len(self._run.time)))
        for first in range(0, len(self._run.names), width):
            columns = slice(first, first + width)
            yield columns, self._estimate(columns)

    @cached_property
    def _aligned(self) -> dict[str, Aligned]:
        return {name: Aligned(its, self._run) for name, its in self.tracks.items() if name != RUN}

    def _estimate(self, columns: slice, laid: Floats | None = None) -> Estimate:
        """Estimate of some numbers; of positions if ``laid`` is given."""
        run, window = self._run, max(LEAST_WINDOW, len(self._run.time) // WINDOWS)
        values = {name: its.values(columns) for name, its in self._aligned.items()}
        values[RUN] = run.values[:, columns]
        if laid is not None:
            values[FINE] = values[FINE] + laid[columns]
        beside = self._beside_impacts(values[RUN])
        return self._estimated(values, self._scale[columns], self._noise[columns], beside, window)

    def _beside_impacts(self, values: Floats) -> Floats:
        """(k, c) jumps of numbers at impacts close to a row: with the uncertainty of its time, an impact may be on the
        other side of the row."""
        time, found = self._run.time, np.zeros_like(values)
        for name, (at, its) in self._events.items():
            if name.partition(":")[2].startswith(IMPACT) and len(time):
                reach = float(np.nan_to_num(its.bar))
                first, last = time.searchsorted([at - reach, at + reach], side="left")
                last = max(last, int(time.searchsorted(at + reach, side="right")))
                jump = np.abs(values[min(last, len(time) - 1)] - values[max(first - 1, 0)])
                found[first:last] = np.fmax(found[first:last], jump)
        return found

    @cached_property
    def is_chaotic(self) -> bool:
        """Whether the difference due to two increments grows exponentially, by ``CHAOTIC`` or more."""
        return grows_exponentially(self._run.time, self._at_all_rows[1])

    @cached_property
    def horizon(self) -> float:
        """Time from which the motion is not converged: the bar of a displacement, or of the kinetic energy, is larger
        than ``UNCONVERGED`` times its largest value so far, for the first time. Infinite: never."""
        first = math.inf
        for start in ("U", "kinetic"):
            columns = [n for name, n in self._place.items() if name.startswith(start)]
            values, bars = self._run.values[:, columns], self.all_bars[:, columns]
            size = np.fmax.accumulate(np.nan_to_num(np.abs(values)).max(axis=1, initial=0.0))
            unsure = np.nan_to_num(bars).max(axis=1, initial=0.0) > UNCONVERGED * size
            begun = size > BEGUN * self._scale[columns].max(initial=0.0)
            first = min([first, *self._run.time[unsure & begun][:1].tolist()])
        return first

    def series(self, name: str) -> Columns:
        """time, value, bar at all rows, and its parts. KeyError: no such number."""
        if name not in self._place and set_named(name):
            return self._of_set(name).series(name)
        column = self._column(name)
        found = self._estimate(slice(column, column + 1))
        parts = {part: getattr(found, part)[:, 0] for part in PARTS}
        return Columns(time=self._run.time, value=self._run.values[:, column], bar=found.bar[:, 0], **parts)

    # Numbers

    def value(self, name: str) -> float:
        """Value in the run itself. KeyError: no such number."""
        return self._number(name)[0]

    def bar(self, name: str) -> float:
        """Error bar of a number; NaN if unknown."""
        found = self._number(name)[1]
        is_known = any(np.isfinite(getattr(found, part)) for part in ("dt", "mesh", "residual"))
        return float(found.bar) if is_known else math.nan

    def error(self, name: str) -> tuple[float, float]:
        """Value minus truth, as far as due to dt, and the uncertainty of that error."""
        found = self._number(name)[1]
        return float(found.error), float(found.own)

    def parts(self, name: str) -> dict[str, float]:
        """Contributions of dt, mesh, residual, and of the rows between which an extreme may lie."""
        found = self._number(name)[1]
        return {part: float(getattr(found, part)) for part in PARTS}

    def order(self, name: str) -> float:
        """Observed order in dt; NaN if unknown."""
        return float(self._number(name)[1].order)

    def verdict(self, name: str) -> str:
        """Empty, or the reason why the bar is unreliable."""
        found = self._number(name)[1]
        if self.is_chaotic and asked(name)[0] not in ("mean", "max", "min"):
            return CHAOS
        if found.bar >= UNCONVERGED * found.scale > 0.0:
            return NOT_CONVERGED
        is_small = not found.dt > max(np.nan_to_num(found.mesh), np.nan_to_num(found.residual), 1e-6 * found.scale)
        return NOT_SEEN if np.isfinite(found.dt) and np.isnan(found.order) and not is_small else ""

    def limits(self) -> Columns:
        """What limits the accuracy: of each quantity printed (U1, T, ...) the number and instant with the largest bar,
        and the extremes; of each frequency. With the error due to dt and the uncertainty of that, the bar's parts, the
        largest of these, the order, the verdict. Numbers exact within rounding errors are omitted."""
        sizes = np.fmax.reduce(self.all_bars, axis=0, initial=np.nan)
        families: dict[str, list[int]] = {}
        for name in self._run.names:
            if name in self._printed and np.isfinite(sizes[self._place[name]]):
                families.setdefault(number_named(name).column, []).append(self._place[name])
        names, rows_of_worst, at_worst = list[str](), *self._at_all_rows[2:]
        for places in families.values():
            worst = places[int(np.argmax(sizes[places]))]
            if sizes[worst] <= EXACT * self._scale[worst]:
                continue
            row = rows_of_worst[worst]
            names.append(f"{self._run.names[worst]}@{self._run.time[row]:.12g}")
            self._numbers[names[-1]] = float(self._run.values[row, worst]), at_worst.at(worst)
            for kind, sign in (("max", 1.0), ("min", -1.0)):
                largest = np.fmax.reduce(sign * self._run.values[:, places], axis=0)
                names.append(f"{kind}:{self._run.names[places[int(np.nanargmax(largest))]]}")
        rows = []
        for name in [*names, *self._frequencies]:
            parts = self.parts(name)
            known = {part: value for part, value in parts.items() if np.isfinite(value)}
            largest_part = max(known, key=lambda part: known[part]) if any(known.values()) else ""
            numbers = self.value(name), self.bar(name), *self.error(name), *parts.values()
            rows.append((name, *numbers, largest_part, self.order(name), self.verdict(name)))
        heads = ("name", "value", "bar", "error", "own", *PARTS, "limited_by", "order", "verdict")
        columns = list(zip(*rows, strict=True)) or [()] * len(heads)
        return Columns(zip(heads, map(np.array, columns), strict=True))

    @cached_property
    def all_bars(self) -> Floats:
        """(k, c) bars of all numbers at all rows; NaN: unknown."""
        return self._at_all_rows[0]

    @cached_property
    def laid(self) -> Floats:
        """(c,) for displacements, the initial distance of their node in the finer mesh from that in the run, because
        lines are laid again with more bars. Zero for other numbers."""
        found = np.zeros(len(self._run.names))
        if FINE in self.tracks:
            meshes = self.tracks[FINE].model.mesh, self._run.model.mesh
            places = [dict(zip(mesh.node_labels.tolist(), mesh.coordinates, strict=True)) for mesh in meshes]
            for column, number in enumerate(map(number_named, self._run.names)):
                if number.family == "U":
                    fine, own = (each[number.label][number.axis] for each in places)
                    found[column] = fine - own
        return found

    @cached_property
    def place_bars(self) -> Floats:
        """``all_bars``, with positions (COOR) in place of displacements."""
        bars = self.all_bars
        for column in np.flatnonzero(self.laid).tolist():
            bars = bars.copy() if bars is self.all_bars else bars
            bars[:, column] = self._estimate(slice(column, column + 1), self.laid).bar[:, 0]
        return bars

    @cached_property
    def _at_all_rows(self) -> tuple[Floats, Floats, Ints, Estimate]:
        """``all_bars``; (k,) the largest error of a displacement due to dt, over the largest displacement; (c,) rows of
        the largest bars, of those at one time the last, and the estimates there."""
        time, bars = self._run.time, np.empty_like(self._run.values)
        fields_of = [each.name for each in fields(Estimate)]
        if not bars.size:  # no step has increments
            none = np.full(len(self._run.names), np.nan)
            return bars, time, np.zeros(len(none), np.int64), Estimate(**dict.fromkeys(fields_of, none))
        apart, size, rows, worst = np.zeros(len(bars)), TINY, list[Ints](), list[Estimate]()
        for columns, found in self._estimates():
            unknown = np.isnan(found.dt) & np.isnan(found.mesh) & np.isnan(found.residual)
            its = np.where(unknown | np.isnan(self._run.values[:, columns]), np.nan, found.bar)
            bars[:, columns] = its
            rows.append(time.searchsorted(time[np.fmax(its, -1.0).argmax(axis=0)], side="right") - 1)
            worst.append(found.at(rows[-1], np.arange(len(rows[-1]))))
            moves = [name.startswith("U") for name in self._run.names[columns]]
            apart = np.fmax(apart, np.fmax.reduce(np.abs(found.error[:, moves]), axis=1, initial=0.0))
            size = max(size, found.scale[moves].max(initial=0.0))
        at_worst = {name: np.concatenate([getattr(some, name) for some in worst]) for name in fields_of}
        return bars, apart / size, np.concatenate(rows), Estimate(**at_worst)

    def _column(self, name: str) -> int:
        if name not in self._place:
            raise unknown("number", name, self._place)
        return self._place[name]

    def _of_set(self, name: str) -> ErrorBars:
        """Bars of the one number that is at each instant the largest in a set, of the numbers that are kept."""
        if name not in self._sets:
            try:
                members = members_named(self._run.model.mesh, name)
            except CommandError as error:
                raise KeyError(*error.args) from None
            places = [self._place[str(each)] for each in members if str(each) in self._place]
            if not places:
                raise unknown("number", name, self._place)
            largest = {
                key: replace(its, names=(name,), values=its.values[:, places].max(axis=1, keepdims=True))
                for key, its in self.tracks.items()
            }
            sizes = self._scale[places].max(keepdims=True), self._noise[places].max(keepdims=True)
            self._sets[name] = ErrorBars(largest, self.missing, self.companions, None, sizes)
        return self._sets[name]

    def _number(self, name: str) -> tuple[float, Estimate]:
        if name not in self._numbers:
            self._numbers[name] = self._found(name)
        return self._numbers[name]

    def _found(self, name: str) -> tuple[float, Estimate]:
        kind, of, series, instant = asked(name)
        if series not in self._place and set_named(series):
            return self._of_set(series)._found(name)
        if kind in ("max", "min"):
            return self._extreme(kind, series, False)
        if kind == "instant":
            if of not in ("max", "min"):
                raise unknown("extreme", of, ("max", "min"))
            return self._extreme(of, series, True)
        if function := statistic(name):
            return self._statistic(series, function)
        if kind in ("event", "frequency"):
            table, head = (self._events, "event:") if kind == "event" else (self._frequencies, "")
            if series not in table:
                raise unknown("number", name, [f"{head}{each}" for each in table])
            return table[series]
        row = len(self._run.time) - 1 if not instant else self._row(float(instant), name)
        column = self._column(name if kind else series)
        return float(self._run.values[row, column]), self._estimate(slice(column, column + 1)).at(row, 0)

    def _row(self, time: float, name: str) -> int:
        times = self._run.time
        row = int(np.abs(times - time).argmin())
        step = np.diff(times).max(initial=0.0) or 1.0
        if abs(times[row] - time) > 1e-3 * step:
            raise KeyError(f"{name}: the run has no row at {time:g}; the nearest one is at {times[row]:.9g}")
        return len(times) - 1 - int(np.abs(times[::-1] - times[row]).argmin())

    def _extreme(self, kind: str, name: str, is_instant: bool) -> tuple[float, Estimate]:
        column, sign = self._column(name), 1.0 if kind == "max" else -1.0
        peaks = {name: peak_of(its, column, sign) for name, its in self.tracks.items()}
        own, scale = peaks[RUN], np.ptp(self._run.time) if is_instant else self._scale[column]
        noise = ROUND_OFF * scale if is_instant else self._noise[column]
        value, peak = (own.instant, own.peak_instant) if is_instant else (own.row, own.peak)
        values = {name: np.array([[its.peak_instant if is_instant else its.peak]]) for name, its in peaks.items()}
        rows = np.array([[abs(value - peak)]])
        return value, self._estimated(values, np.array([scale]), np.array([noise]), rows).at(0, 0)

    def _statistic(self, series: str, of: Callable[[Floats, Floats], float]) -> tuple[float, Estimate]:
        column = self._column(series)
        values = {name: np.array([[of(its.time, its.values[:, column])]]) for name, its in self.tracks.items()}
        value = float(values[RUN][0, 0])
        scale = np.array([max(abs(value), TINY)])
        return value, self._estimated(values, scale, ROUND_OFF * scale).at(0, 0)

    @cached_property
    def _frequencies(self) -> dict[str, tuple[float, Estimate]]:
        """Frequencies, which do not depend on dt, and their estimates."""
        tables = {name: its.frequencies for name, its in self.tracks.items()}
        return self._single(tables | dict.fromkeys(self.levels, tables[RUN]))

    @cached_property
    def _events(self) -> dict[str, tuple[float, Estimate]]:
        return self._single({name: its.event_times for name, its in self.tracks.items()})

    def _single(self, tables: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[float, Estimate]]:
        """Numbers that a run has once, with their estimates."""
        names = list(tables[RUN])
        values = {key: np.array([[its.get(name, np.nan) for name in names]]) for key, its in tables.items()}
        if not names:
            return {}
        scale = np.abs(values[RUN][0])
        found = self._estimated(values, scale, ROUND_OFF * scale)
        return {name: (tables[RUN][name], found.at(0, place)) for place, name in enumerate(names)}


TINY = 1e-300


def grows_exponentially(time: Floats, apart: Floats) -> bool:
    """Whether differences (k,) grow by ``CHAOTIC`` or more, at a rate steadier over time than over its logarithm."""
    begun = np.flatnonzero(apart > 0.0)
    if len(begun) < 8:
        return False
    since = time - time[0]
    good = begun[since[begun] > 0.05 * since[-1]]
    if len(good) < 8:
        return False
    log, span = np.log(np.maximum.accumulate(apart[good])), since[good]
    if log[-1] - log[0] < math.log(CHAOTIC):
        return False
    misfits = [np.polyfit(x, log, 1, full=True)[1] for x in (span, np.log(span))]
    return bool(misfits[0].sum() < misfits[1].sum())
