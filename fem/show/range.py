"""Least, mean and greatest value of each bar along a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fem.arrays import Flags, Say, first_least
from fem.errors import CommandError, unknown
from fem.model.quantities import ELEMENTAL
from fem.runs.fields import read_field
from fem.runs.read import Missing, Results, open_results
from fem.show.motion import chain_of
from fem.show.plot import save
from fem.show.series import Series, read_series, write_table
from fem.show.shapes import along, arc_length

COLUMNS = ("element", "s", "min", "mean", "max", "std", "time_min", "time_max")


def line_range(folder: Path, members: str, what: str, step: int | None, start: float, say: Say) -> None:
    """``fem post range``: a table with a row for each bar of a set, and a figure."""
    results, members, what = open_results(folder), members.upper(), what.upper()
    units = {quantity.name: quantity.unit for quantity in ELEMENTAL}
    if what not in units:
        raise CommandError(unknown("number of elements", what, units).args[0])
    try:
        nodes, elements = chain_of(results, members_of(results, members))
    except Missing as missing:
        raise CommandError(f"no range of {members}: {missing}") from None
    found = read_series(folder, f"{what}_e", elements, step, start)
    extremes = np.array([summary(series) for series in found])
    s = arc_length(results, nodes, elements)
    for notice in found[0].notices:
        say(f"note: {notice}")
    rows = [[label, *row] for label, row in zip(elements, np.column_stack([s, extremes]).tolist(), strict=True)]
    write_table(folder / f"range_{what}_{members}.csv", COLUMNS, rows, say)
    least, mean, greatest = extremes[:, :3].T
    high, low = first_least(-greatest), first_least(least)
    for word, place, value, time in (("max", high, greatest, extremes[:, 5]), ("min", low, least, extremes[:, 4])):
        say(f"  {word}  {value[place]:.9g} in element {elements[place]}, s = {s[place]:.6g}, at {time[place]:.9g}")
    when = f"{what}, time {found[0].time[0]:g} to {found[0].time[-1]:g}"
    title = f"Least, mean and greatest {what} along {members}"
    figure = along(results, elements, [(when, least, mean, greatest)], title, (nodes, elements), units[what])
    path = folder / f"range_{what}_{members}.png"
    save(figure, path, results.mark)
    say(str(path))


def members_of(results: Results, name: str) -> Flags:
    """(m,) the elements of a set. Missing: there are no fields; CommandError: there is no such set in them."""
    count = len(results.mesh.element_labels)
    sets = {
        key.removeprefix("SET "): array > 0
        for key, array in read_field(results.fields[0][1], of="CellData").items()
        if array.dtype == np.uint8
    }
    if name not in sets:
        raise CommandError(unknown("element set", name, sets).args[0] + f" (of {count} elements)")
    return sets[name]


def summary(series: Series) -> list[float]:
    """min, mean, max, std, and the times of the extremes."""
    values, time = series.values, series.time
    low, high = int(values.argmin()), int(values.argmax())
    return [values[low], series.mean, values[high], series.std, time[low], time[high]]
