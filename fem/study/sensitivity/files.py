"""``fem run --sensitivity`` and ``--uncertain``: tables of derivatives, what limits a result, the tornado figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.commands.files import FolderLock, lines_of, replace_file
from fem.deck import deck_reader, read_model
from fem.errors import CommandError
from fem.model.named import names_of
from fem.runner import run_to_files
from fem.runs.console import as_note, say
from fem.runs.digits import EMPTY, NUMBER, WHOLE, lines
from fem.runs.own import RESULTS, as_json, deck_name, from_json
from fem.runs.read import open_results
from fem.runs.run_record import RUN_RECORD
from fem.runs.tables import COUNTED, HEAD, PHASE
from fem.study.certainty.files import in_columns, known, run_with_bars, shown
from fem.study.certainty.numbers import common
from fem.study.points import parameter_of
from fem.study.sensitivity import derivatives
from fem.study.sensitivity.derivatives import WILD, Derivatives, differentiating
from fem.study.sensitivity.figures import tornado
from fem.study.sensitivity.harmonic import is_harmonic
from fem.study.sensitivity.uncertain import InputBar, input_bars, read_ranges, representative
from fem.study.tracks import table_names

KINDS = {"nodes": "n", "elements": "e"}
MOST_TOLD = 24
"""Lines of derivatives on the console."""


def run_with_derivatives(
    deck: str | Path,
    output: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    sensitivity: Sequence[str] = (),
    uncertain: str = "",
    error_bars: bool = False,
    solver: str = "AUTO",
    **options: Any,
) -> None:
    """``run_to_files``, then derivatives and bars of inputs in its folder."""
    given = dict(parameters or {})
    model = read_model(deck, given)
    if options.get("goes_on") or options.get("earlier"):
        raise CommandError("there are no derivatives of a run that continues another one")
    ranges = read_ranges(uncertain, model) if uncertain else []
    by = list(dict.fromkeys([*(parameter_of(model, name) for name in sensitivity), *(each.name for each in ranges)]))
    folder = RESULTS / deck_name(model) if output is None else Path(output)
    names = table_names(model)
    if error_bars:
        run_with_bars(deck, output, given, solver=solver, **options)
        found = derivatives.sensitivity(deck, by, None, given, solver)
    else:
        solving, results = differentiating(partial(deck_reader, deck), model, by, given, names)
        run_to_files(deck, output, given, solver=solver, solving=solving, **options)
        found = results()
    chosen = representative(found)
    bars = input_bars(deck, found, ranges, chosen, given, solver) if ranges else []
    with FolderLock(folder):
        impacts = [event.time for event in open_results(folder).events if event.event == "impact"]
        record = from_json((folder / RUN_RECORD).read_bytes())
        replace_file(folder / "sensitivity.csv", table_of(found))
        for name in KINDS:
            replace_file(folder / f"{name}_sensitivity.csv", over_time(found, folder, name))
            if found.harmonics:
                replace_file(folder / f"steady_{name}_sensitivity.csv", over_frequency(found, folder, name))
        if bars:
            limits = limits_of(bars, record.get("error_bars"))
            record |= {"uncertain": {"inputs": uncertain, "limits": limits}}
            replace_file(folder / RUN_RECORD, as_json(record))
            replace_file(folder / "uncertain.csv", uncertain_lines(bars))
            tornado(bars, folder / "tornado.png", open_results(folder).mark)
    tell(found, chosen, impacts)
    if bars:
        tell_limits(limits)


def numbers_told(found: Derivatives) -> Iterator[tuple[str, float, Floats, float]]:
    """Name, value, derivatives and instant of the end, the largest and the least of each number, of the largest
    amplitudes and their phases, and of single ones."""
    for name in found.track.names if len(found.track.time) else ():
        for each in (name, f"max:{name}", f"min:{name}"):
            value, slopes, when = found.of(each)
            yield each, value, slopes, when
    for name in (*largest_amplitudes(found), *found.single):
        value, slopes, when = found.of(name)
        yield name, value, slopes, when


def largest_amplitudes(found: Derivatives) -> Iterator[str]:
    """Of each number of harmonic motions, its largest amplitude over all frequencies, and its phase there."""
    for step, its in found.harmonics.items():
        for name in its.names:
            yield (largest := f"max:amplitude_{step}:{name}")
            yield f"phase_{step}:{name}@{found.of(largest)[2]!r}"


def table_of(found: Derivatives) -> bytes:
    """sensitivity.csv: each number, its value and instant, its derivatives."""
    told = ([name, value, when, *slopes.tolist()] for name, value, slopes, when in numbers_told(found))
    return lines_of([("number", "value", "time", *found.parameters), *map(known_cells, told)])


def over_time(found: Derivatives, folder: Path, name: str) -> Iterator[bytes | memoryview]:
    """The derivatives of all numbers of a table of the run, ``T_by_EA``, at its lines."""
    table, kind = open_results(folder).table(name), KINDS[name]
    heads, track = table.columns[: len(HEAD) + 1], found.track
    numbers, places = table.whole(heads), {each: place for place, each in enumerate(track.names)}
    labels, items = np.unique(numbers[:, -1], return_inverse=True) if len(numbers) else (np.zeros(0), np.zeros(0, int))
    rows = np.zeros(len(numbers), np.int64)
    for step in np.unique(numbers[:, 0]) if len(numbers) else ():
        its, own = numbers[:, 0] == step, np.flatnonzero(track.step == step)
        if len(own):
            rows[its] = own[common(numbers[its, 2], track.time[own])[0]]
    columns, found_in = list[str](), list[Floats]()
    for column in table.columns[len(heads) :]:
        at = np.array(
            [places.get(each, -1) for each in names_of(kind, [column], labels.astype(int).tolist())], np.int64
        )
        if not len(at) or at.max() < 0 or not len(track.time):
            continue
        for place, parameter in enumerate(found.parameters):
            columns.append(f"{column}_by_{parameter}")
            found_in.append(np.where(at[items] >= 0, found.slopes[rows, at[items], place], np.nan))
    yield ",".join((*heads, *columns)).encode() + b"\n"
    if len(numbers):
        whole = np.column_stack([numbers, *found_in])
        kinds = np.array([WHOLE if each in COUNTED else NUMBER for each in (*heads, *columns)], np.uint8)
        yield lines(whole, np.where(np.isnan(whole), EMPTY, kinds))


def over_frequency(found: Derivatives, folder: Path, name: str) -> Iterator[bytes | memoryview]:
    """The derivatives of all amplitudes and phases of a table of harmonic motions, ``T_by_EA``, ``T_phase_by_EA``, at
    its lines; those of frequencies that a parameter moves."""
    table, kind, count = open_results(folder).table(f"steady_{name}"), KINDS[name], len(found.parameters)
    heads, shown = table.columns[:3], table.columns[3:]
    numbers = table.whole(heads)
    slopes, rates = np.full((len(numbers), len(shown), count), np.nan), np.zeros((len(numbers), 1, count))
    for step, its in found.harmonics.items():
        rows = np.flatnonzero(numbers[:, 0] == step)
        at, labels = common(numbers[rows, 1], its.frequency)[0], numbers[rows, 2].astype(int).tolist()
        rates[rows, 0] = its.rates[at]
        of = {phase: its.parts("phase" if phase else "amplitude")[1] for phase in (False, True)}
        for column, title in enumerate(shown):
            names = names_of(kind, [title.removesuffix(PHASE)], labels)
            where = np.array([its.places.get(each.upper(), -1) for each in names], np.int64)[:, None]
            slopes[rows, column] = np.where(where < 0, np.nan, of[title.endswith(PHASE)][at, where[:, 0]])
    if rates.any():
        shown, slopes = ("frequency", *shown), np.concatenate([rates, slopes], axis=1)
    columns = *heads, *(f"{title}_by_{parameter}" for title in shown for parameter in found.parameters)
    yield ",".join(columns).encode() + b"\n"
    if len(numbers):
        whole = np.column_stack([numbers, slopes.reshape(len(numbers), -1)])
        kinds = np.array([WHOLE if each in COUNTED else NUMBER for each in columns], np.uint8)
        yield lines(whole, np.where(np.isnan(whole), EMPTY, kinds))


UNCERTAIN = ("number", "value", "below", "above", "input", "first_low", "first_high", "run_low", "run_high", "curved")


def uncertain_lines(bars: Sequence[InputBar]) -> bytes:
    """uncertain.csv: each number and input, what it changes to first order and in runs at the ends of its range."""
    rows = (
        [one.name, one.value, *one.bar, each.name, *each.first, *each.ends, int(each.is_curved)]
        for one in bars
        for each in one.contributions
    )
    return lines_of([UNCERTAIN, *map(known_cells, rows)])


def known_cells(row: Sequence[Any]) -> list[Any]:
    """Cells of a table, empty where a number is NaN."""
    return ["" if cell != cell else cell for cell in row]


def limits_of(bars: Sequence[InputBar], numerics: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What limits each number: the bar of inputs beside that of numerics (where the run has error bars)."""
    own = {line["name"]: line["bar"] for line in (numerics or {}).get("limits", ())}
    found = []
    for one in bars:
        below, above = one.bar
        first, *_ = one.contributions
        of_numerics = own.get(one.name)
        inputs = max(below, above)
        limited = "nothing" if not inputs else first.name
        if of_numerics is not None and of_numerics > inputs:
            limited = "numerics"
        curved = ", ".join(each.name for each in one.contributions if each.is_curved)
        line = {"number": one.name, "value": one.value, "below": below, "above": above, "numerics": of_numerics}
        found.append({**{name: known(cell) for name, cell in line.items()}, "limited_by": limited, "curved": curved})
    return found


def tell(found: Derivatives, names: Sequence[str], impacts: Sequence[float]) -> None:
    """Prints the derivatives of some numbers of a run with impacts at some instants."""
    say("derivatives by " + ", ".join(f"{name} = {value:g}" for name, value in found.parameters.items()))
    at = "at time, frequency" if found.harmonics else "at time"
    heads = ["number", "value", at, *(f"d/d{name}" for name in found.parameters)]
    cells = []
    for name in names[:MOST_TOLD]:
        value, slopes, when = found.of(name)
        cells.append([name, shown(value), shown(when), *map(shown, slopes.tolist())])
    for line in in_columns([heads, *cells]):
        say(line)
    if len(names) > MOST_TOLD:
        say(as_note(f"{len(names) - MOST_TOLD} more numbers are in sensitivity.csv"))
    if kinks := [name for name in names[:MOST_TOLD] if is_beside(impacts, found, name)]:
        text = "beside an impact, where numbers have a kink: the derivative is that at the end of an increment"
        say(as_note(f"{', '.join(kinks)}: {text}, not that of the extreme within it"))
    if found.growth > WILD:
        text = (
            f"1 % of a parameter moves nodes by {found.growth:.2g} % of the largest motion: where a motion is chaotic"
        )
        say(as_note(f"{text}, derivatives hold for smaller changes only, and late ones tell nothing"))
    if any(np.isnan(found.of(name)[1]).any() for name in found.single):
        say(as_note("frequencies of multiple modes have no derivatives of their own"))


def is_beside(impacts: Sequence[float], found: Derivatives, name: str) -> bool:
    """Whether a largest or least value is at an end of an increment with an impact. The number has a kink there; its
    extreme, within the increment, moves by as much as the instant does."""
    if not name.startswith(("max:", "min:")) or is_harmonic(name):
        return False
    time = found.track.time
    row = int(time.searchsorted(found.of(name)[2]))
    first, last = time[max(row - 1, 0)], time[min(row + 1, len(time) - 1)]
    return any(first <= instant <= last for instant in impacts)


def tell_limits(limits: Sequence[Mapping[str, Any]]) -> None:
    say("what limits this result: how far the ranges of the inputs move each number down and up")
    heads = ["number", "value", "down by", "up by", "numerics", "limited by", "not linear in"]
    keys = ("number", "value", "below", "above", "numerics", "limited_by", "curved")
    cells = [["-" if line[key] is None else shown(line[key]) for key in keys] for line in limits]
    for text in in_columns([heads, *cells]):
        say(text)
