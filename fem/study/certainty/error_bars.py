"""``fem.error_bars``: the numbers of a run, each with what it may be wrong by, and what that comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from fem.arrays import Columns, Floats
from fem.deck import read_model
from fem.errors import CommandError, unknown
from fem.model import Model
from fem.model.quantities import ENERGIES
from fem.runner import run
from fem.runs.history import History
from fem.runs.run_record import COMPLETED
from fem.study.certainty.companions import FINE, Companions, halves_of
from fem.study.certainty.numbers import Curves, Peaks, aligned, curves_of, event_times, frequencies_of, peaks_of
from fem.study.certainty.richardson import Estimate, estimate
from fem.study.question import Answer

WINDOWS = 40
"""A run has so many windows, in each of which an order is observed; and these have so many rows at least."""
LEAST_WINDOW = 4
UNCONVERGED = 0.3
"""Bar over the size of a number beyond which it is said to be not converged."""
BEGUN = 1e-3
"""Size of a motion over its largest from which it counts."""
CHAOTIC = 1e3
"""Growth of what two increments make different, at a steady rate, that is chaos."""
EXACT = 1e-9
"""Bar over the size of a number that is round-off."""
PARTS = ("dt", "mesh", "residual", "rows")
NOT_CONVERGED, NOT_SEEN, CHAOS = "not converged: 30 % or more", "order not seen", "chaotic: bars on statistics only"


def error_bars(
    deck: str | Path | Model,
    parameters: Mapping[str, float] | None = None,
    processes: int | None = None,
    *,
    mesh: bool = True,
    solver: str = "AUTO",
) -> ErrorBars:
    """Run a deck with its companions, and return its numbers with error bars.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``
    processes   at most so many (short runs use none besides this one); None: one per processor
    mesh        False: the mesh is the model, as of masses that are joined by bars; its bars are not split
    solver      as in ``fem.run``

    Raises what ``fem.run`` raises for the deck itself. A companion that fails leaves out its contribution
    (``ErrorBars.missing``).

    >>> bars = fem.error_bars("inputs/sdnl100.inp")
    >>> round(bars.value("U1_n2@1.2558"), 4), [round(each, 4) for each in bars.error("U1_n2@1.2558")]
    (-1.0745, [-0.0749, 0.0004])
    """
    model = read_model(deck, parameters)
    if model.earlier is not None:
        raise CommandError("no error bars for a run that continues another one: the state it begins with has none")
    return bars_of(run(model, solver=solver), Companions(model, mesh, solver=solver), processes)


def bars_of(history: History, companions: Companions, processes: int | None = None) -> ErrorBars:
    """Error bars of a run that has been made, by companions that are run now."""
    return bars_from(history, companions, companions.run(history, processes))


def bars_from(history: History, companions: Companions, answers: Mapping[str, Answer]) -> ErrorBars:
    """Error bars of a run, from what came of its companions."""
    found = {
        name: each.history
        for name, each in answers.items()
        if each.history is not None and (len(each.history) or each.history.modes)
    }
    missing = companions.missing
    for name, answer in answers.items():
        if answer.verdict != COMPLETED:
            reached = f" (from time {found[name].time[-1]:.6g} on)" if name in found and len(found[name]) else ""
            missing[name] = answer.verdict + reached
    return ErrorBars(history, found, missing, companions)


class ErrorBars:
    """The numbers of a run with error bars.

    Names: ``U1_n2`` (at the end of the run), ``U1_n2@0.5`` (at an instant), ``max:T_e1``, ``min:U3_n2`` (over the run),
    ``instant:max:T_e1``, ``mean:T_e1``, ``kinetic`` and other energies in the same ways, ``frequency_1_2`` (step,
    mode), ``event:1:slack_e5`` (the first time).

    history   of the run itself
    missing   name of a companion -> why its contribution is missing, or is missing from some time on
    """

    def __init__(
        self, history: History, found: Mapping[str, History], missing: dict[str, str], companions: Companions
    ) -> None:
        self.history, self.missing, self.companions = history, missing, companions
        fine = companions.fine if FINE in found else None
        self._curves: Curves = curves_of(history)
        self._others: dict[str, Curves] = {
            name: curves_of(its, halves_of(fine, FINE) if name == FINE and fine else None, self._curves.names)
            for name, its in found.items()
        }
        self._histories = {"": history, **found}
        self._place = {name: place for place, name in enumerate(self._curves.names)}

    def __repr__(self) -> str:
        return f"ErrorBars of {self.history.model.source or 'a model'}: {len(self._curves.names)} numbers over time"

    # Over time

    @cached_property
    def estimate(self) -> Estimate:
        """Of all numbers (columns) at all rows."""
        curves = self._curves
        window = max(LEAST_WINDOW, len(curves.time) // WINDOWS)
        none = np.full_like(curves.values, np.nan)
        there = {name: aligned(its, curves) for name, its in self._others.items()}
        given = [there.get(name, none) for name in self.companions.compared]
        return estimate(curves.values, given, scale=curves.scale, window=window)

    @cached_property
    def is_chaotic(self) -> bool:
        """What two increments make different grows exponentially, by ``CHAOTIC`` or more."""
        rows = [n for name, n in self._place.items() if name.startswith("U")]
        apart = np.abs(self.estimate.error[:, rows]) / self._curves.scale[rows].max(initial=1e-300)
        return grows_exponentially(self._curves.time, np.fmax.reduce(apart, axis=1)) if rows else False

    @cached_property
    def horizon(self) -> float:
        """Time from which the motion is not converged: the bar of a displacement, or of the kinetic energy, is for the
        first time ``UNCONVERGED`` of what has been its largest until then. Infinite: never."""
        first = math.inf
        for start in ("U", "kinetic"):
            columns = [n for name, n in self._place.items() if name.startswith(start)]
            values, bars = self._curves.values[:, columns], self.all_bars[:, columns]
            size = np.fmax.accumulate(np.nan_to_num(np.abs(values)).max(axis=1, initial=0.0))
            unsure = np.nan_to_num(bars).max(axis=1, initial=0.0) > UNCONVERGED * size
            begun = size > BEGUN * self._curves.scale[columns].max(initial=0.0)
            first = min([first, *self._curves.time[unsure & begun][:1].tolist()])
        return first

    def series(self, name: str) -> Columns:
        """time, value, bar at all rows, and its parts. KeyError: no such number."""
        column, found = self._column(name), self.estimate
        parts = {part: getattr(found, part)[:, column] for part in PARTS}
        return Columns(time=self._curves.time, value=self._curves.values[:, column], bar=found.bar[:, column], **parts)

    # Numbers

    def value(self, name: str) -> float:
        """What the run itself says. KeyError: no such number."""
        return self._number(name)[0]

    def bar(self, name: str) -> float:
        """What it may be wrong by; NaN where nothing is known of that."""
        found = self._number(name)[1]
        is_known = any(np.isfinite(getattr(found, part)) for part in ("dt", "mesh", "residual"))
        return float(found.bar) if is_known else math.nan

    def error(self, name: str) -> tuple[float, float]:
        """Value minus truth as far as dt goes, and the uncertainty of that error."""
        found = self._number(name)[1]
        return float(found.error), float(found.own)

    def parts(self, name: str) -> dict[str, float]:
        """Contributions of dt, mesh, residual, and of the rows between which an extreme may be."""
        found = self._number(name)[1]
        return {part: float(getattr(found, part)) for part in PARTS}

    def order(self, name: str) -> float:
        """Observed order in dt; NaN where none is seen."""
        return float(self._number(name)[1].order)

    def verdict(self, name: str) -> str:
        """Empty, or why its bar is to be read with care."""
        found = self._number(name)[1]
        kind = name.partition(":")[0]
        if self.is_chaotic and kind not in ("mean", "max", "min"):
            return CHAOS
        if found.bar >= UNCONVERGED * found.scale > 0.0:
            return NOT_CONVERGED
        is_small = not found.dt > max(np.nan_to_num(found.mesh), np.nan_to_num(found.residual), 1e-6 * found.scale)
        return NOT_SEEN if np.isfinite(found.dt) and np.isnan(found.order) and not is_small else ""

    def limits(self) -> Columns:
        """What limits the accuracy: of each quantity printed (U1, T, ...) the number and instant with the largest bar,
        and the extremes; of each frequency. With the bar's parts, the largest of these, the order, the verdict. What is
        exact but for round-off is left out."""
        sizes = np.fmax.reduce(self.all_bars, axis=0)
        families: dict[str, list[int]] = {}
        for name in self._curves.names:
            if name in self._curves.printed and np.isfinite(sizes[self._place[name]]):
                families.setdefault(name if name in ENERGIES else name.partition("_")[0], []).append(self._place[name])
        names = []
        for places in families.values():
            worst = places[int(np.argmax(sizes[places]))]
            if sizes[worst] <= EXACT * self._curves.scale[worst]:
                continue
            row = int(np.nanargmax(self.all_bars[:, worst]))
            names.append(f"{self._curves.names[worst]}@{float(self._curves.time[row])!r}")
            for kind, sign in (("max", 1.0), ("min", -1.0)):
                largest = np.nan_to_num(sign * self._peaks[kind][""].row[places], nan=-np.inf)
                names.append(f"{kind}:{self._curves.names[places[int(np.argmax(largest))]]}")
        rows = []
        for name in [*names, *self._frequencies]:
            parts = self.parts(name)
            known = {part: value for part, value in parts.items() if np.isfinite(value)}
            largest_part = max(known, key=lambda part: known[part]) if any(known.values()) else ""
            numbers = self.value(name), self.bar(name), *parts.values()
            rows.append((name, *numbers, largest_part, self.order(name), self.verdict(name)))
        heads = ("name", "value", "bar", *PARTS, "limited_by", "order", "verdict")
        columns = list(zip(*rows, strict=True)) or [()] * len(heads)
        return Columns(zip(heads, map(np.array, columns), strict=True))

    @cached_property
    def all_bars(self) -> Floats:
        """(k, c) bars of all numbers at all rows; NaN: nothing is known."""
        found = self.estimate
        unknown = np.isnan(found.dt) & np.isnan(found.mesh) & np.isnan(found.residual)
        return np.where(unknown | np.isnan(self._curves.values), np.nan, found.bar)

    def place(self, name: str) -> int:
        """Column of a number over time in ``all_bars``; -1: there is no such number."""
        return self._place.get(name, -1)

    def _column(self, name: str) -> int:
        if name not in self._place:
            raise unknown("number", name, self._place)
        return self._place[name]

    def _number(self, name: str) -> tuple[float, Estimate]:
        kind, _, rest = name.partition(":")
        if kind in ("max", "min"):
            return self._extreme(kind, rest, False)
        if kind == "instant":
            which, _, inner = rest.partition(":")
            if which not in ("max", "min"):
                raise unknown("extreme", which, ("max", "min"))
            return self._extreme(which, inner, True)
        if kind == "mean":
            return self._mean(rest)
        if kind == "event" or name.startswith("frequency_"):
            table = self._frequencies if kind != "event" else self._events
            key = rest if kind == "event" else name
            if key not in table:
                raise unknown("number", name, [f"event:{each}" if kind == "event" else each for each in table])
            return table[key]
        inner, _, instant = name.partition("@")
        row = len(self._curves.time) - 1 if not instant else self._row(float(instant), name)
        column = self._column(inner)
        return float(self._curves.values[row, column]), self.estimate.at(row, column)

    def _row(self, time: float, name: str) -> int:
        times = self._curves.time
        row = int(np.abs(times - time).argmin())
        step = np.diff(times).max(initial=0.0) or 1.0
        if abs(times[row] - time) > 1e-3 * step:
            raise KeyError(f"{name}: the run has no row at {time:g}; the nearest one is at {times[row]:.9g}")
        return len(times) - 1 - int(np.abs(times[::-1] - times[row]).argmin())

    def _extreme(self, kind: str, name: str, is_instant: bool) -> tuple[float, Estimate]:
        column = self._column(name)
        peaks = self._peaks[kind]
        own = peaks[""]
        found = self._extremes[kind, is_instant].at(0, column)
        return float((own.instant if is_instant else own.row)[column]), found

    @cached_property
    def _peaks(self) -> dict[str, dict[str, Peaks]]:
        every = {"": self._curves, **self._others}
        return {
            kind: {name: peaks_of(curves, sign) for name, curves in every.items()}
            for kind, sign in (("max", 1.0), ("min", -1.0))
        }

    @cached_property
    def _extremes(self) -> dict[tuple[str, bool], Estimate]:
        found = {}
        curves = self._curves
        for kind, peaks in self._peaks.items():
            none = np.full_like(peaks[""].row, np.nan)
            for is_instant in (False, True):
                what = "peak_instant" if is_instant else "peak"
                own = peaks[""]
                given = [getattr(peaks[each], what) if each in peaks else none for each in self.companions.compared]
                scale = np.full_like(none, np.ptp(curves.time)) if is_instant else curves.scale
                rows = np.abs(own.instant - own.peak_instant) if is_instant else np.abs(own.row - own.peak)
                made = estimate(getattr(own, what)[None], [each[None] for each in given], scale=scale, rows=rows[None])
                found[kind, is_instant] = made
        return found

    def _mean(self, name: str) -> tuple[float, Estimate]:
        column = self._column(name)
        every = {"": self._curves, **self._others}
        means = {key: np.array([[mean_of(its, column)]]) for key, its in every.items()}
        none = np.full((1, 1), np.nan)
        given = [means.get(each, none) for each in self.companions.compared]
        found = estimate(means[""], given, scale=self._curves.scale[[column]])
        return float(means[""][0, 0]), found.at(0, 0)

    @cached_property
    def _frequencies(self) -> dict[str, tuple[float, Estimate]]:
        return self._single({name: frequencies_of(its) for name, its in self._histories.items()}, is_modal=True)

    @cached_property
    def _events(self) -> dict[str, tuple[float, Estimate]]:
        return self._single({name: event_times(its) for name, its in self._histories.items()}, is_modal=False)

    def _single(self, tables: dict[str, dict[str, float]], is_modal: bool) -> dict[str, tuple[float, Estimate]]:
        """Numbers that a run has once, with their estimates. Frequencies do not depend on dt."""
        found = {}
        for name, value in tables[""].items():
            given = [np.array([[tables.get(each, {}).get(name, np.nan)]]) for each in self.companions.compared]
            if is_modal:
                given[1] = given[2] = given[4] = given[0]
            made = estimate(np.array([[value]]), given, scale=np.array([abs(value)]))
            found[name] = value, made.at(0, 0)
        return found


def mean_of(curves: Curves, column: int) -> float:
    """Over time, by the trapezoidal rule."""
    length = np.ptp(curves.time)
    values = curves.values[:, column]
    return float(np.trapezoid(values, curves.time) / length) if length > 0.0 else float(values[-1])


def grows_exponentially(time: Floats, apart: Floats) -> bool:
    """Differences (k,) grow by ``CHAOTIC`` or more, and at a steadier rate over time than over its logarithm."""
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
