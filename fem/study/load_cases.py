"""Load cases of a sweep, a row for each case and each recorded number: what was seen, and the extreme to expect in a
given duration.

Parameter sets that differ in their seed alone are one case. Of two seeds or more the extreme is that of a Gumbel
distribution of their largest values (``show/series.py``: by moments, its interval by random samples); of one seed it is
that of a generalised Pareto distribution of the highest peaks (``show/extremes.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Columns, Floats
from fem.runs.run_record import COMPLETED
from fem.runs.sweep_files import CASES, CSV, write_columns_as
from fem.show.extremes import ALL_EQUAL, SAME_PEAKS, count_over, why_no_tail
from fem.show.series import FEWEST, gumbel, gumbel_interval
from fem.study.certainty.recorded import BAR
from fem.study.points import LoadCase, is_seed
from fem.study.row import Record
from fem.study.table import write_columns

SURE = 0.95
"""Confidence of intervals, as in ``seeds.csv``."""
GUMBEL, PARETO, NONE = "Gumbel of seeds", "Pareto of peaks", "none"


class Expected(NamedTuple):
    """The extreme to expect, its interval, by which method from how many values, and why not; NaN: unknown."""

    value: float
    low: float
    high: float
    method: str
    values: int
    why: str = ""


def none_from(count: int, why: str) -> Expected:
    return Expected(math.nan, math.nan, math.nan, NONE, count, why)


def expected_of(its: Mapping[str, Floats], duration: float) -> Expected:
    """From columns (k,) of one number, of the completed runs of a case."""
    largest, time = its["max"], its["time"]
    count = len(largest)
    if not count:
        return none_from(0, "no run is completed")
    if count == 1:
        peaks = int(its["cycles"][0])
        if math.isfinite(its["extreme"][0]):
            value, low, high = (float(its[name][0]) for name in ("extreme", "extreme_low", "extreme_high"))
            return Expected(value, low, high, PARETO, count_over(peaks))
        return none_from(peaks, why_no_tail(peaks, duration / float(time[0])) or ALL_EQUAL)
    if not np.ptp(largest) > SAME_PEAKS * (largest - its["mean"]).max():
        return none_from(count, "the largest values of all seeds are equal: they have no distribution")
    (mode, beta), periods = gumbel(largest), duration / float(time.mean())
    return Expected(
        mode + beta * math.log(periods), *gumbel_interval(largest, periods, SURE), GUMBEL, count,
        f"only {its['cycles'].mean():.3g} peaks in each seed" if its["cycles"].mean() < FEWEST else "",
    )  # fmt: skip


def notes_on(found: Expected, largest: float, time: float, duration: float, failed: int, runs: int) -> str:
    """What has to be known of a row; empty: nothing."""
    notes = [f"{failed} of {runs} runs failed and are left out"] if failed else []
    notes += [f"no estimate: {found.why}" if found.method == NONE else found.why] if found.why else []
    if largest > found.value:
        beyond = " and the upper end of its interval" if largest > found.high and time <= duration else ""
        notes.append(f"the largest value seen exceeds the estimate{beyond}; "
                     f"{time / duration:.3g} times the duration was simulated")  # fmt: skip
    return "; ".join(notes)


def over_cases(sweep: Columns, names: Sequence[str], record: Record, cases: Sequence[LoadCase]) -> Columns:
    """The table of load cases of a sweep over parameters ``names``, in the order in which cases occur.

    cases  their names and shares of time, where a list has them; others are called by their parameters
    """
    duration = record.duration or math.nan
    others = [name for name in names if not is_seed(name)]
    is_done, known = sweep["verdict"] == COMPLETED, {case.values: case for case in cases}
    keys = list(zip(*(sweep[name].tolist() for name in others), strict=True)) or [()] * len(is_done)
    has_share = any(math.isfinite(case.share) for case in cases)
    rows = []
    for key in dict.fromkeys(keys):
        case = known.get(key) or LoadCase("", key)
        called = case.name or ", ".join(f"{name}={value:.6g}" for name, value in zip(others, key, strict=True))
        here = np.array([other == key for other in keys])
        for number in record.what:
            every = {name: sweep[f"{number}_{name}"][here] for name in record.kept}
            good = is_done[here] & np.isfinite(every["max"])
            its = {name: column[good] for name, column in every.items()}
            found, count, time = expected_of(its, duration), int(good.sum()), float(its["time"].sum())
            largest = float(its["max"].max(initial=-math.inf)) if count else math.nan
            row: dict[str, Any] = {"case": called or "1", **dict(zip(others, key, strict=True))}
            row |= {"share": case.share} if has_share else {}
            row |= {"number": number, "seeds": count, "time": time, "mean": mean_of(its["mean"])}
            row |= {"std": math.sqrt(mean_of(its["std"] ** 2)), "skewness": mean_of(its["skew"])}
            row |= {"cycles": int(its["cycles"].sum()), "max": largest}
            if record.bars:
                bars = sweep[f"{number}_{BAR}"][here][good]
                row[BAR] = float(bars[its["max"].argmax()]) if count else math.nan
            row |= {"duration": duration, "extreme": found.value, "extreme_low": found.low}
            row |= {"extreme_high": found.high, "method": found.method, "values": found.values}
            if "rate" in record.kept:
                rate = mean_of(np.where(good, every["rate"], np.nan))
                row |= {"rate": rate, "damage": rate * duration}
            row["note"] = notes_on(found, largest, time, duration, int((~good).sum()), len(good))
            rows.append(row)
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    if has_share and "rate" in columns:
        note = columns.pop("note")
        columns |= {"part": parts_of(columns), "note": note}
    return Columns(columns)


def mean_of(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def parts_of(columns: Mapping[str, Any]) -> Floats:
    """(r,) part of each row in the damage of its number in all time; NaN where some of that is unknown."""
    done = np.where(columns["share"] > 0.0, columns["share"] * columns["rate"], 0.0)
    whole = {number: done[columns["number"] == number].sum() for number in np.unique(columns["number"])}
    total = np.array([whole[number] for number in columns["number"]])
    return np.asarray(np.divide(done, total, out=np.zeros_like(done), where=total != 0.0))


MOST_LINES = 12


def write_load_cases(table: Columns, folder: Path, form: str, is_quiet: bool) -> None:
    """``load_cases.csv``, or in the format of the table of the sweep; its extremes on the console."""
    name = next(each for each in CASES if each.endswith(form))
    if form == CSV:
        write_columns(folder / name, table)
    else:
        write_columns_as(
            form, folder / name, {key: its.dtype for key, its in table.items()}, len(table["case"]), [table]
        )
    for other in CASES:
        if other != name:
            (folder / other).unlink(missing_ok=True)
    if is_quiet:
        return
    print(f"           and {name}")
    rows = [dict(zip(table, row, strict=True)) for row in zip(*(its.tolist() for its in table.values()), strict=True)]
    for row in rows[:MOST_LINES]:
        print(line_of(row))
    if len(rows) > MOST_LINES:
        print(f"... and {len(rows) - MOST_LINES} more in {name}")
    if any(row["method"] == GUMBEL and row["seeds"] < FEWEST for row in rows):
        print(f"note: fewer than {FEWEST} seeds of a case: intervals of its extreme are wide")


def line_of(row: Mapping[str, Any]) -> str:
    """A row on the console."""
    bar = f" +- {row[BAR]:.2g}" if math.isfinite(row.get(BAR, math.nan)) else ""
    text = f"{row['case']}, {row['number']}: largest {row['max']:.6g}{bar}"
    if row["method"] != NONE:
        text += f", expected in {row['duration']:g} {row['extreme']:.6g} ({row['extreme_low']:.6g} to "
        text += f"{row['extreme_high']:.6g}, {row['method']}: {row['values']})"
    return text + (f"\n  note: {row['note']}" if row["note"] else "")
