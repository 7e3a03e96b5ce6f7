"""The motion of an end as a table that a deck names: times, and columns surge, sway, heave."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from fem.errors import CommandError

AXES = ("surge", "sway", "heave")


@dataclass(frozen=True, slots=True)
class Record:
    """file: as the deck has to name it;  first: column -> (axis from 1, its first value);  duration: its last time."""

    file: str
    first: dict[str, tuple[int, float]]
    duration: float


def read_record(path: Path, deck: Path) -> Record:
    """CommandError: the table has no head with these names, does not begin at time 0, or is none."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    heads = [head.strip() for head in rows[0]] if rows else []
    columns = {head: place for place, head in enumerate(heads) if head.lower() in AXES}
    if not columns or len(rows) < 3:
        raise CommandError(f"{path} has no column surge, sway or heave: its first line names the columns, time first")
    try:
        times = [float(row[0]) for row in (rows[1], rows[-1])]
        values = {head: float(rows[1][place]) for head, place in columns.items()}
    except (ValueError, IndexError):
        raise CommandError(f"{path} is not a table of numbers, separated by commas, below its heads") from None
    if times[0] != 0.0:
        raise CommandError(f"{path} begins at time {times[0]:g}; the motion of a line begins at 0")
    first = {head: (AXES.index(head.lower()) + 1, value) for head, value in values.items()}
    return Record(Path(os.path.relpath(path, deck.parent)).as_posix(), first, times[1])
