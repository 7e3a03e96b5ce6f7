"""``fem compare DECK --with calculix,opensees,moordyn``: one deck in several codes, at the instants of our rows.

Each code runs in a temporary folder, from the exported files alone and within a time limit. One that is missing, fails
or cannot express the deck is a row of the table with its reason. For what differs beyond the error bars known reasons
are tried, by runs with one change. The figure has quantities in all codes on the left, differences from ours with bars
on the right.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fem.arrays import Floats, Say
from fem.codes.export import CODES, files_for, module_of
from fem.codes.moordyn_files import number_of
from fem.codes.reasons import ADDED, REASONS, Reason, all_of, finer, without_watch
from fem.codes.twin import printed
from fem.commands.files import write_table
from fem.deck import read_model
from fem.errors import CommandError, DeckError, FemError, lacks, proposal
from fem.model import Model
from fem.model.named import names_of
from fem.runs.own import Names, claim, deck_entry, deck_name
from fem.runs.progress import Progress, part_of, showing
from fem.show.style import OKABE_ITO, curve, legend_below, panels, save_png, tidy
from fem.study.certainty.companions import RUN as OURS
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import wanted_bars
from fem.study.tracks import tracked

RUN = {"calculix": "ccx", "opensees": "openseespy", "moordyn": "moordyn"}
"""Codes that are run: a program on PATH, or packages of a Python."""
RECORD, TABLE, SERIES, FIGURE = "compare.json", "comparison.csv", "series.csv", "comparison.png"
EXPLAINED = "reasons.csv"
COLUMNS = (
    *("code", "status", "quantity", "instants", "size", "largest_difference", "at_time", "rms_difference"),
    *("our_bar", "its_bar", "within_bars", "reason"),
)
REASON_COLUMNS = ("code", "reason", "quantity", "difference", "with_it", "explains", "within_bars", "what_it_is")
LINES = 14
"""Of the table on the console."""
RICHARDSON = 4.0 / 3.0
"""Error of a scheme of second order over the difference of dt and dt/2."""
LAST_WORDS = 300
COMMON = 0.1
"""Of the instants of the shorter table: if fewer are common, those of a code stand between its own."""
AT_REST = 1e-4
"""Acceleration that is left of MoorDyn's static solve."""
DIGITS = 1e-8
"""Of the extent of a model: displacements that are equal."""
ENDS_EARLY = "the run with this change lacks some of the instants"
HELPS = 0.05
"""Of what is left of a difference: a reason that explains so much is kept beside another one."""
NOTHING = 1e-9
"""Of the largest number of its kind: a direction in which nothing moves."""


class CodeAnswer(NamedTuple):
    """What a code has given: names of columns, rows of time and these; or why not."""

    code: str
    status: str
    reason: str = ""
    names: tuple[str, ...] = ()
    rows: Floats = np.zeros((0, 1))
    notes: tuple[str, ...] = ()

    def at(self, names: Sequence[str], time: Floats) -> Floats:
        """(k, c) values at the instants that it has, NaN at others; where it has hardly any, straight between its own.
        NaN for columns that it does not have."""
        values = np.full((len(time), len(names)), np.nan)
        place = {name: column for column, name in enumerate(self.names, 1)}
        if not len(self.rows):
            return values
        own, first = np.unique(self.rows[::-1, 0], return_index=True)
        rows, near = self.rows[::-1][first], 1e-6 * max(abs(own[-1]), 1e-300)
        found = (time >= own[0] - near) & (time <= own[-1] + near)
        next_ = np.clip(np.searchsorted(own, time - near), 0, len(own) - 1)
        is_common = np.abs(own[next_] - time) <= near
        if is_common.sum() >= COMMON * min(len(own), found.sum()):
            found = is_common
        for column, name in enumerate(names):
            if name in place:
                values[found, column] = np.interp(time[found], own, rows[:, place[name]])
        return values


class Explained(NamedTuple):
    """A known reason, tried: what a code and we differ by with that one change (k, c), or why this is not known. The
    change may leave an error (k, c) in both, as a mesh does; what is more than that is ``beyond_error``."""

    code: str
    reason: Reason
    apart: Floats
    failed: str = ""
    error: Floats | float = 0.0

    @property
    def beyond_error(self) -> Floats:
        return np.asarray(self.apart - self.error)


@dataclass(frozen=True)
class Comparison:
    """A deck in several codes.

    names   (c,) quantities;  time (k,);  ours (k, c);  bars (k, c): of ours, NaN without
    values  code -> (k, c), NaN where it has none;  its_bars  code -> (k, c)
    extent  of the model, whose places have so many digits;  tried: known reasons for differences beyond the bars
    """

    names: tuple[str, ...]
    time: Floats
    ours: Floats
    bars: Floats
    answers: tuple[CodeAnswer, ...]
    values: dict[str, Floats]
    its_bars: dict[str, Floats]
    is_si: bool = False
    extent: float = 0.0
    tried: tuple[Explained, ...] = ()

    def rows(self) -> list[tuple[Any, ...]]:
        """As ``COLUMNS``: a row for each code and quantity, the largest differences first; one for a code without."""
        found = []
        for answer in self.answers:
            if answer.status != "done":
                found.append((answer.code, answer.status, "", 0, *(np.nan,) * 7, answer.reason))
                continue
            rows = [self._row(answer, column) for column in range(len(self.names)) if self._says(column)]
            found += sorted((row for row in rows if row[3]), key=lambda row: -row[5] / (row[4] or np.inf))
        return found

    def _says(self, column: int) -> bool:
        """Something moves in this direction, in some code."""
        alike = [other for other, name in enumerate(self.names) if name[0] == self.names[column][0]]
        all_ = np.stack([self.ours, *self.values.values()])
        limit = NOTHING * np.nanmax(np.abs(all_[:, :, alike]), initial=0.0)
        return bool(np.nanmax(np.abs(all_[:, :, column]), initial=0.0) > limit)

    def apart(self, code: str) -> Floats:
        """(k, c) differences."""
        return np.asarray(np.abs(self.values[code] - self.ours))

    def within(self, code: str, column: int, apart: Floats) -> float:
        """Fraction of instants at which differences (k,) are not larger than both bars; NaN without bars."""
        bar, size = self.bars[:, column], np.abs(self.ours[:, column]).max(initial=0.0)
        (known,) = np.nonzero(np.isfinite(apart) & np.isfinite(bar))
        both = bar[known] + np.nan_to_num(self.its_bars[code][known, column])
        digits = max(1e-6 * size, DIGITS * self.extent if self.names[column].startswith("U") else 0.0)
        return float(np.mean(apart[known] <= both + digits)) if len(known) else np.nan

    def agrees(self, code: str, apart: Floats) -> bool:
        """Differences (k, c) are within the bars at all instants."""
        return all(self.within(code, column, apart[:, column]) == 1.0 for column in self.beyond(code))

    def size_of_kind(self, column: int) -> float:
        """The largest value of ours of all quantities of its kind; 1 where all are 0."""
        alike = [other for other, name in enumerate(self.names) if name[0] == self.names[column][0]]
        return float(np.abs(self.ours[:, alike]).max(initial=0.0)) or 1.0

    def beyond(self, code: str) -> list[int]:
        """Columns of what differs by more than both bars at some instant."""
        apart = self.apart(code)
        some = (column for column in range(len(self.names)) if self._says(column))
        return [column for column in some if self.within(code, column, apart[:, column]) < 1.0]

    def reasons(self) -> list[tuple[Any, ...]]:
        """As ``REASON_COLUMNS``: a row for each reason that was tried and each difference beyond the bars, the largest
        of a reason over the size of its kind first."""
        found = []
        for each in self.tried:
            code, apart, rows = each.code, self.apart(each.code), list[tuple[float, tuple[Any, ...]]]()
            for column in self.beyond(code):
                before, after = (np.nanmax(values[:, column], initial=0.0) for values in (apart, each.apart))
                if each.failed:
                    numbers = before, np.nan, np.nan, np.nan
                else:
                    within = self.within(code, column, each.beyond_error[:, column])
                    numbers = before, after, max(0.0, 1.0 - after / before), within
                what = (code, each.reason.name, self.names[column], *map(float, numbers))
                rows.append((before / self.size_of_kind(column), (*what, each.failed or each.reason.sentence)))
            found += [row for _, row in sorted(rows, key=lambda row: -row[0])]
        return found

    def _row(self, answer: CodeAnswer, column: int) -> tuple[Any, ...]:
        apart = self.apart(answer.code)[:, column]
        (there,) = np.isfinite(apart).nonzero()
        size = float(np.abs(self.ours[:, column]).max(initial=0.0))
        if not len(there):
            return (answer.code, "done", self.names[column], 0, size, *(np.nan,) * 6, "")
        worst = there[apart[there].argmax()]
        bar, its = self.bars[:, column], self.its_bars[answer.code][:, column]
        within = self.within(answer.code, column, apart)
        numbers = float(apart[worst]), float(self.time[worst]), float(np.sqrt(np.mean(apart[there] ** 2)))
        bars = bar[worst], its[worst], within
        return (answer.code, "done", self.names[column], len(there), size, *numbers, *bars, "; ".join(answer.notes))

    def __str__(self) -> str:
        form = "{:<11}{:<11}{:>12}{:>12}{:>10}{:>12}{:>12}{:>9}"
        lines = [form.format("code", "quantity", "size", "difference", "at time", "our bar", "its bar", "within")]
        rows = self.rows()
        count = sum(row[1] == "done" for row in rows)
        each = max(2, LINES // max(1, len({row[0] for row in rows if row[1] == "done"})))
        told: dict[str, int] = {}
        for row in rows:
            code, status, quantity, _, size, apart, at, _, bar, its, within, reason = row
            if status != "done":
                lines.append(f"{code:<11}{status}: {reason}")
            elif told.setdefault(code, 0) < each:
                told[code] += 1
                numbers = [f"{value:.4g}" if np.isfinite(value) else "-" for value in (size, apart, at, bar, its)]
                lines.append(form.format(code, quantity, *numbers, f"{within:.0%}" if np.isfinite(within) else "-"))
        if count > sum(told.values()):
            lines.append(f"(the largest differences over size of {count} rows; all are in {TABLE})")
        notes = [(answer.code, note) for answer in self.answers for note in answer.notes]
        return "\n".join([*lines, *self._told(), *(f"note: {code}: {note}" for code, note in notes)])

    def _told(self) -> list[str]:
        """Of the reasons: those of the largest difference of each kind, and what the reasons are."""
        rows, form = self.reasons(), "{:<11}{:<17}{:>10}{:>12}{:>12}{:>10}{:>9}"
        chosen = {(row[0], row[1], row[7], row[2][0]): row for row in reversed(rows)}
        lines = [form.format("code", "reason tried", "quantity", "difference", "with it", "explains", "within")]
        for code, name, quantity, before, after, explains, within, _ in reversed(chosen.values()):
            numbers = [f"{value:.4g}" if np.isfinite(value) else "-" for value in (before, after)]
            parts = [f"{value:.0%}" if np.isfinite(value) else "-" for value in (explains, within)]
            lines.append(form.format(code, name, quantity, *numbers, *parts))
        lines += dict.fromkeys(f"reason: {row[0]}, {row[1]}: {row[7]}" for row in rows)
        codes = {each.code for each in self.tried}
        none = [a.code for a in self.answers if a.status == "done" and a.code not in codes and self.beyond(a.code)]
        if np.isfinite(self.bars).any():
            lines += [f"{code}: no known reason applies to what differs beyond the bars" for code in none]
        return lines if rows else lines[1:]


def compare(
    deck: str | Path | Model,
    codes: Iterable[str] = tuple(RUN),
    parameters: Mapping[str, float] | None = None,
    *,
    python: str | Path | None = None,
    time_limit: float = 300.0,
    error_bars: bool = True,
    progress: Progress = False,
) -> Comparison:
    """Run a deck here and in other codes, and compare printed displacements and forces of elements.

    deck        path of the ``.inp``, or a ``Model``
    codes       calculix, opensees, moordyn
    parameters  values that override the deck's ``*PARAMETER``
    python      interpreter that has openseespy and moordyn; None: this one. CalculiX is ``ccx`` on PATH
    time_limit  seconds for each run of a code
    error_bars  ours by ``fem.error_bars`` for this mesh; theirs by a second run with dt/2, for schemes of second order;
                known reasons (``reasons.py``) are tried for what differs by more than both
    progress    as for ``run``

    Raises what ``fem.run`` raises for the deck itself; CommandError: no such code. What a code cannot do is in its row.

    >>> found = fem.compare("inputs/sdnl100.inp", ["calculix"], time_limit=1e-9, error_bars=False)
    >>> [answer.code for answer in found.answers], found.names[0]
    (['calculix'], 'U1_n2')
    """
    model, codes = read_model(deck, parameters), list(dict.fromkeys(codes))
    for code in codes:
        if code not in RUN:
            raise CommandError(f"{CODES.get(code, code)} is not run by fem compare; {proposal(code, RUN)}")
    if not any(step.static or step.dynamic for step in model.steps):
        raise CommandError("fem compare compares *STATIC and *DYNAMIC steps, and the deck has none; see fem export")
    model, left_out = with_timed_steps(model)
    interpreter, count = str(python or sys.executable), 1 + len(codes) + error_bars
    its_answer = partial(answer_of, python=interpreter, time_limit=time_limit)
    with showing(progress) as told:
        names, time, ours, bars = own_series(model, error_bars, part_of(told, 0.0, 1.0 / count))
        answers, values, its_bars = [], {}, {}
        for place, code in enumerate(codes, 1):
            told.move(place / count, CODES[code])
            answer = its_answer(code, model)
            answers.append(answer._replace(notes=(*answer.notes, *left_out)))
            values[code] = answer.at(names, time)
            its_bars[code] = np.full_like(ours, np.nan)
            if error_bars and answer.status == "done" and any(step.dynamic for step in model.steps):
                half = its_answer(code, finer(model, 2)).at(names, time)
                its_bars[code] = RICHARDSON * np.abs(half - values[code])
        from fem.model.quantities import says_si

        extent = float(np.ptp(model.mesh.coordinates, axis=0).max(initial=0.0))
        found = Comparison(names, time, ours, bars, tuple(answers), values, its_bars, says_si(model.heading), extent)
        if error_bars:
            told.move(1.0 - 1.0 / count, "known reasons")
            found = replace(found, tried=tuple(explanations(found, model, its_answer)))
        told.move(1.0, "compared")
        return found


def with_timed_steps(model: Model) -> tuple[Model, tuple[str, ...]]:
    """The model without modes, buckling and harmonic motions, which change nothing for other steps, and what to say."""
    last = max(place for place, step in enumerate(model.steps) if step.static or step.dynamic)
    needless = [
        place
        for place, step in enumerate(model.steps)
        if step.buckling or step.harmonic or (step.modes and (place > last or not step.acts))
    ]
    if not needless:
        return model, ()
    names = ", ".join(str(place + 1) for place in needless)
    steps = tuple(step for place, step in enumerate(model.steps) if place not in needless)
    return replace(model, steps=steps), (f"modes, buckling and harmonic motions (step {names}) are not compared",)


def explanations(found: Comparison, model: Model, its_answer: Callable[..., CodeAnswer]) -> Iterator[Explained]:
    """Known reasons for what differs beyond the bars, one at a time; then the best of them with those that help it,
    where something is left. Each repeats what it changes: our run, or that of the code."""
    here = cache(lambda reason: run_here(reason.ours(model), found))

    def with_change(code: str, reason: Reason) -> tuple[Floats, Floats] | None:
        """(k, c) of ours and of the code, None where the reason changes neither. FemError: a run failed."""
        ours, its = found.ours, found.values[code]
        try:
            is_ours, is_its = reason.changes_ours(model), reason.changes_its(code, model)
            ours = here(reason) if is_ours else ours
        except FemError as error:
            raise FemError(f"fem: {error}") from None
        if is_its:
            answer = its_answer(code, reason.its(model), **reason.options(model))
            if answer.status != "done":
                raise FemError(f"{code}: {answer.reason}")
            its = answer.at(found.names, found.time)
        return (ours, its) if is_ours or is_its else None

    def explained(code: str, reason: Reason) -> Explained | None:
        unknown = np.full_like(found.ours, np.nan)
        try:
            if not (pair := with_change(code, reason)):
                return None
            less = with_change(code, reason.halfway) if reason.halfway else pair
        except FemError as error:
            return Explained(code, reason, unknown, str(error))
        apart, (ours, its) = np.abs(pair[1] - pair[0]), less or pair
        lacks_some = np.isfinite(found.apart(code)) & ~np.isfinite(apart)
        left_in_both = np.nan_to_num(np.abs(pair[0] - ours) + np.abs(pair[1] - its))
        return Explained(code, reason, apart, ENDS_EARLY if lacks_some.any() else "", left_in_both)

    for code in (answer.code for answer in found.answers if answer.status == "done"):
        if not (beyond := found.beyond(code)):
            continue
        sizes = np.array([found.size_of_kind(column) for column in beyond])
        left = partial(sum_of_largest, beyond, sizes)
        before = left(Explained(code, REASONS[0], found.apart(code)))
        tried = [each for reason in REASONS if code in reason.codes and (each := explained(code, reason))]
        yield from tried
        best = min(tried, key=left, default=None)
        if best is None or left(best) > (1.0 - HELPS) * before or found.agrees(code, best.beyond_error):
            continue
        _, *others = (each.reason for each in sorted(tried, key=left))
        chosen = [best.reason]
        for reason in others:
            more = explained(code, all_of([*chosen, reason]))
            if more and left(more) < (1.0 - HELPS) * left(best):
                best, chosen = more, [*chosen, reason]
            if found.agrees(code, best.beyond_error):
                break
        if len(chosen) > 1:
            yield best


def sum_of_largest(columns: list[int], sizes: Floats, tried: Explained | None) -> float:
    """The largest differences of quantities over the sizes of their kinds, added."""
    if tried is None or tried.failed:
        return np.inf
    return float(np.sum(np.nanmax(tried.apart[:, columns], axis=0, initial=0.0) / sizes))


def run_here(changed: Model, found: Comparison) -> Floats:
    """(k, c) our values of a changed model at the instants of the comparison, straight between its own. Dashpots that
    it has beside bars add to their T."""
    mesh = changed.mesh
    added = {name.removeprefix(ADDED): its for name, its in mesh.element_sets.items() if name.startswith(ADDED)}
    beside = {f"T_e{mesh.element_labels[e]}": f"T_e{bar}" for bar, its in added.items() for e in its.tolist()}
    beside = {name: bar for name, bar in beside.items() if bar in found.names}
    track = tracked(without_watch(changed), [*found.names, *beside])
    values = {name: track.values[:, track.names.index(name)].copy() for name in (*found.names, *beside)}
    for name, bar in beside.items():
        values[bar] += values[name]
    last = np.append(np.diff(track.time) > 0.0, True)
    own, reach = track.time[last], track.time[-1] * (1.0 + 1e-9)
    there = [np.interp(found.time, own, values[name][last]) for name in found.names]
    return np.where(found.time[:, None] <= reach, np.column_stack(there), np.nan)


def own_series(model: Model, with_bars: bool, progress: Progress) -> tuple[tuple[str, ...], Floats, Floats, Floats]:
    """Names, instants (k,), our values and their bars (k, c)."""
    nodes, elements = printed(model)
    names = names_of("n", ["U1", "U2", "U3"], nodes) + names_of("e", ["T"], elements)
    found = wanted_bars(Companions(model, False, names=tuple(names)), None, progress) if with_bars else None
    track = found.tracks[OURS] if found else tracked(model, names, progress=progress)
    last = np.append(np.diff(track.time) > 0.0, True)
    wanted = [track.names.index(name) for name in names]  # energies stand beside them
    bars = found.all_bars if found else np.full_like(track.values, np.nan)
    return tuple(names), track.time[last], track.values[last][:, wanted], bars[last][:, wanted]


def answer_of(code: str, model: Model, python: str, time_limit: float, **options: Any) -> CodeAnswer:
    """Export, run and read, in a temporary folder. What goes wrong is in the answer."""
    try:
        files, notes = files_for(code, model, **options)
    except DeckError as error:
        reasons = dict.fromkeys(f"line {one.line}: {one.message}" for one in error.problems)
        return CodeAnswer(code, "refused", "; ".join(reasons))
    except FemError as error:
        return CodeAnswer(code, "refused", str(error))
    main = next(reversed(files))
    program = shutil.which("ccx") if code == "calculix" else shutil.which(python)
    if program is None:
        what = "ccx is not on PATH (Debian: calculix-ccx)" if code == "calculix" else f"there is no program {python}"
        return CodeAnswer(code, "missing", what)
    with TemporaryDirectory(prefix="fem-compare-") as place:
        folder = Path(place)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        status, words = carried_out([program, Path(main).stem if code == "calculix" else main], folder, time_limit)
        if status != "done" and f"No module named '{RUN[code]}'" in words:
            what = lacks(RUN[code], "compare").replace("is not installed", f"is not installed for {python}")
            return CodeAnswer(code, "missing", what)
        try:
            names, rows = results_of(code, folder, Path(main), model)
        except (OSError, ValueError) as error:
            return CodeAnswer(code, "failed", words or str(error))
        if code == "moordyn":
            notes += start_of(folder)
        if status == "done":
            return CodeAnswer(code, "done", "", tuple(names), rows, tuple(notes))
        if len(rows) < 3:
            return CodeAnswer(code, "failed", words)
        return CodeAnswer(code, "done", "", tuple(names), rows, (*notes, f"only up to time {rows[-1, 0]:g}: {words}"))


def start_of(folder: Path) -> list[str]:
    """What MoorDyn's log says of a start that has not come to rest."""
    found = re.findall(r"Remaining error after (?!0 s).* = (\S+)", (folder / "log.txt").read_text(errors="replace"))
    left = [each for each in found if not number_of(each) < AT_REST]
    return [f"its start is not at rest: accelerations of {each} m/s2 are left" for each in left]


def carried_out(command: list[str], folder: Path, time_limit: float) -> tuple[str, str]:
    """Status, and the last words of a program where it has failed; it and all that it has started end in time."""
    environment = os.environ | {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    with (folder / "log.txt").open("wb") as log:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
        try:
            code = process.wait(time_limit)
        except subprocess.TimeoutExpired:
            return "failed", f"not done after {time_limit:g} s (--time-limit)"
        finally:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
    if code == 0:
        return "done", ""
    lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
    said = [line.strip() for line in lines if line.strip() and not line.startswith("Process ")]
    errors = [place for place, line in enumerate(said) if "*ERROR" in line]
    chosen = " ".join(said[errors[0] : errors[0] + 3]) if errors else " ".join(said[-1:])
    return "failed", f"exit code {code}: {chosen[-LAST_WORDS:]}"


def results_of(code: str, folder: Path, main: Path, model: Model) -> tuple[Sequence[str], Floats]:
    """Columns and rows that a run has left. OSError, ValueError: it has left none."""
    if code == "calculix":
        names, rows = module_of(code).read_results(folder, main.stem, model)
        return names, rows
    with (folder / main.with_suffix(".csv").name).open(newline="", encoding="utf-8") as stream:
        head, *lines = csv.reader(stream)
    whole = np.array([list(map(float, line)) for line in lines if len(line) == len(head)])
    if not len(whole):
        raise ValueError("its table is empty")
    return head[1:], whole


def compare_as_asked(
    deck: Path, parameters: Any, codes: str, python: Path | None, time_limit: float, plain: bool, output: Path | None,
    force: bool, say: Say,
) -> None:  # fmt: skip
    """``fem compare``: table, series and figure in a folder; the table on the console."""
    model = read_model(deck, dict(parameters))
    names = Names(frozenset((RECORD, TABLE, SERIES, FIGURE, EXPLAINED)))
    with claim(model, output, RECORD, names, "compare", force) as own:
        folder = own.path
        chosen = [each.strip() for each in codes.split(",") if each.strip()]
        found = compare(model, chosen, python=python, time_limit=time_limit, error_bars=not plain, progress=True)
        own.begin({"deck": deck_entry(model), "codes": chosen})
        write_table(folder / TABLE, COLUMNS, (list(map(shown, row)) for row in found.rows()))
        if found.tried:
            write_table(folder / EXPLAINED, REASON_COLUMNS, (list(map(shown, row)) for row in found.reasons()))
        heads, *rows = series_rows(found)
        write_table(folder / SERIES, heads, rows)
        done = [CODES[each.code] for each in found.answers if each.status == "done"]
        title = f"{deck_name(model)} in fem{''.join(f', {name}' for name in done)}"
        save_png(drawn(found, title, [CODES[each.code] for each in found.answers]), folder / FIGURE)
    say(str(found))
    say(f"wrote {folder / TABLE}, {f'{EXPLAINED}, ' if found.tried else ''}{SERIES} and {FIGURE}")


def shown(value: Any) -> str:
    """A cell: all digits; nothing for what is not known."""
    if isinstance(value, float | np.floating):
        return repr(float(value)) if np.isfinite(value) else ""
    return str(value)


def series_rows(found: Comparison) -> list[list[str]]:
    """Time, our values and bars, those of each code."""
    tables = {"fem": found.ours, "fem_bar": found.bars, **found.values}
    tables |= {f"{code}_bar": bars for code, bars in found.its_bars.items()}
    some = {name: table for name, table in tables.items() if np.isfinite(table).any()}
    head = ["time", *(f"{name}:{column}" for name in some for column in found.names)]
    whole = np.column_stack([found.time, *some.values()])
    return [head, *([shown(value) for value in row] for row in whole)]


MOST_ROWS = 4
GIVEN = 1e-12
"""Of its range: a difference of what the deck prescribes."""
COLOUR = OKABE_ITO[-1]


def chosen_columns(found: Comparison) -> list[int]:
    """Quantities that show most: the largest differences over size among those of a size, one force at least."""
    ranges = np.ptp(found.ours, axis=0)
    known = [np.nanmax(np.abs(found.values[code] - found.ours), axis=0, initial=0.0) for code in found.values]
    apart = np.max(known, axis=0, initial=0.0) if known else ranges
    by_kind: dict[str, list[int]] = {}
    largest: dict[str, float] = {}
    for column, name in enumerate(found.names):
        largest[name[0]] = max(largest.get(name[0], 0.0), ranges[column])
    for column in np.argsort(-apart / np.where(ranges > 0.0, ranges, np.inf), kind="stable").tolist():
        name = found.names[column]
        if ranges[column] > 1e-3 * largest[name[0]] and (not known or apart[column] > GIVEN * ranges[column]):
            by_kind.setdefault(name[0], []).append(column)
    forces = by_kind.get("T", [])[:2]
    return sorted(by_kind.get("U", [])[: MOST_ROWS - len(forces)]) + sorted(forces)


def drawn(found: Comparison, title: str, names: Sequence[str]) -> Figure:
    """names: of the codes, in their order."""
    columns = chosen_columns(found) or [0]
    figure, axes = panels(len(columns), title, columns=2)
    handles: list[Any] = []
    for (left, right), column in zip(axes, columns, strict=True):
        name = found.names[column]
        unit = {"U": " [m]", "T": " [N]"}[name[0]] if found.is_si else ""
        lines: list[Any] = [curve(left, found.time, found.ours[:, column], 6, "fem", ls="-")]
        bar = found.bars[:, column]
        if np.isfinite(bar).any():
            right.fill_between(found.time, -bar, bar, color=COLOUR, alpha=0.18, lw=0)
            lines.append(Patch(color=COLOUR, alpha=0.18, label="error bar of fem"))
        right.axhline(0.0, color=COLOUR, lw=0.8)
        for place, (answer, code) in enumerate(zip(found.answers, names, strict=True)):
            values = found.values[answer.code][:, column]
            there = np.isfinite(values)
            if not there.any():
                continue
            time, apart = found.time[there], (values - found.ours[:, column])[there]
            marks: dict[str, Any] = {"marker": "o", "ms": 4} if there.sum() < 4 else {}
            lines.append(curve(left, time, values[there], place, code, **marks))
            curve(right, time, apart, place, **marks)
            its = found.its_bars[answer.code][there, column]
            if np.isfinite(its).any():
                right.fill_between(time, apart - its, apart + its, color=OKABE_ITO[place], alpha=0.15, lw=0)
        left.set_ylabel(f"{name}{unit}")
        right.set_ylabel(f"less that of fem{unit}")
        known = {str(handle.get_label()) for handle in handles}
        handles += [line for line in lines if str(line.get_label()) not in known]
        tidy(left)
        tidy(right)
    for panel in axes[-1]:
        panel.set_xlabel("time [s]" if found.is_si else "time")
    legend_below(axes[0][-1], handles)
    return figure
