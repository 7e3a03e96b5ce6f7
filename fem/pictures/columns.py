"""The CSV tables of a run, read in blocks: a million lines in seconds, in bounded memory.

numpy reads them, to the last digit. Of drawing all figures of 10,000 links with every 10th of 200 increments printed
that is 29 % (0.5 of 1.7 s with U, 2.6 of 9.1 s with everything printed); a compiled parser of our own took half of
that, which would not be worth its keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError

BLOCK = 1 << 23
"""Bytes read at once."""
MOST_NUMBERS = 16_000_000
"""Larger selections are thinned while they are read: extremes stay, memory is bounded."""
KEY = ("step", "increment", "time")


def parsed(text: bytes, places: Sequence[int]) -> Floats:
    """(lines, places) numbers of whole lines of a table; NaN for an empty cell.

    Raises ValueError for what is no number, and for lines that are too short.
    """

    def read(text: bytes) -> Floats:
        return np.loadtxt(BytesIO(text), delimiter=",", usecols=places, ndmin=2, comments=None, encoding="ascii")

    try:
        return read(text)
    except ValueError:  # an empty cell; most tables have none
        text = text.replace(b",\n", b",nan\n").replace(b",,", b",nan,").replace(b",,", b",nan,")
        return read(text)


class Table:
    """One CSV file; the fourth column of ``nodes.csv`` and ``elements.csv`` is a label.

    A last line without an end (a run that was killed) is left out; a missing or empty file is a table without columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        head = b""
        if path.is_file():
            with path.open("rb") as file:
                head = file.readline()
        self.columns = tuple(head.decode(errors="replace").strip().split(",")) if head.endswith(b"\n") else ()
        self._start = len(head)
        self._instants: dict[int, Floats] = {}

    def blocks(self, names: Sequence[str]) -> Iterator[Floats]:
        """(lines, names) of the whole file, piece by piece."""
        if not self.columns:
            return
        places = [self.columns.index(name) for name in names]
        with self.path.open("rb") as file:
            file.seek(self._start)
            rest = b""
            while piece := file.read(BLOCK):
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                if newline:
                    try:
                        yield parsed(whole + newline, places)
                    except ValueError as error:
                        raise CommandError(f"{self.path} is not a table written by fem: {error}") from None

    @cached_property
    def lines_of(self) -> dict[int, int]:
        """Label -> number of its lines, in the order of the labels."""
        found: dict[int, int] = {}
        for block in self.blocks(self.columns[3:4]):
            labels, counts = np.unique(block[:, 0], return_counts=True)
            for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
                found[int(label)] = found.get(int(label), 0) + count
        return dict(sorted(found.items()))

    @cached_property
    def lines(self) -> int:
        """Lines below the head."""
        return sum(len(block) for block in self.blocks(self.columns[:1]))

    def instants(self, label: int) -> Floats:
        """(lines, 3) step, increment, time of a label."""
        if label not in self._instants:
            self._instants[label] = self.curves((), (label,))[label]
        return self._instants[label]

    def read(self, names: Sequence[str]) -> Floats:
        """(lines, names) of the whole table."""
        size = share_size(self.lines, len(names))
        parts = [extremes(block, size) for block in self.blocks(names)]
        return np.concatenate([np.empty((0, len(names))), *parts])

    def curves(
        self, names: Sequence[str], labels: Sequence[int], instants: Floats | None = None, is_whole: bool = False
    ) -> dict[int, Floats]:
        """Label -> (lines, 3 + names): step, increment, time, values; at all its lines, or those of some ``instants``
        (rising keys of ``instant_keys``). ``is_whole``: however many, none is left out."""
        width = 3 + len(names)
        is_whole |= instants is not None
        size = 1 if is_whole else share_size(sum(self.lines_of[label] for label in labels), width)
        parts: dict[int, list[Floats]] = {label: [] for label in labels}
        for block in self.blocks((*KEY, *names, self.columns[3])):
            keep = np.isin(block[:, -1], labels)
            if instants is not None:
                keep &= np.isin(instant_keys(block), instants)
            rows = block[keep]
            rows = rows[np.argsort(rows[:, -1], kind="stable")]
            found, starts = np.unique(rows[:, -1], return_index=True)
            for label, part in zip(found.tolist(), np.split(rows[:, :-1], starts[1:]), strict=False):
                parts[int(label)].append(extremes(part, size))
        return {label: np.concatenate([np.empty((0, width)), *parts[label]]) for label in labels}


def instant_keys(rows: Floats) -> Floats:
    """One number per line for step and increment (the first two columns): steps share their first and last times."""
    return np.asarray(rows[:, 0] * 2.0**40 + rows[:, 1])


def share_size(lines: int, width: int, most: int = MOST_NUMBERS) -> int:
    """Lines per share, so that the extremes of all shares together stay below ``most`` numbers; 1: keep every line."""
    return 1 if lines * width <= most else -(-lines * width // most) * 2 * width


def extremes(rows: Floats, size: int) -> Floats:
    """Of every ``size`` consecutive rows those with the smallest and the largest value of a column; first and last."""
    whole = len(rows) // size if size > 1 else 0
    if whole < 2:
        return rows
    shares = rows[: whole * size].reshape(whole, size, -1)
    base = size * np.arange(whole)[:, None]
    low = np.argmin(np.where(np.isnan(shares), np.inf, shares), axis=1)
    high = np.argmax(np.where(np.isnan(shares), -np.inf, shares), axis=1)
    ends = 0, *range(whole * size, len(rows)), len(rows) - 1
    return np.asarray(rows[np.unique(np.concatenate([ends, (base + low).ravel(), (base + high).ravel()]))])
