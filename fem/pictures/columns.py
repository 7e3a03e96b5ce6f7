"""The CSV tables of a run, read in blocks: a million lines in seconds, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Floats, Ints
from fem.compiled import kernel

Bytes: TypeAlias = NDArray[np.uint8]
BLOCK = 1 << 23
"""Bytes read at once."""
MOST_NUMBERS = 16_000_000
"""Larger selections are thinned while they are read: extremes stay, memory is bounded."""
KEY = ("step", "increment", "time")
POWERS = 10.0 ** np.arange(309)
COMMA, NEWLINE, MINUS, POINT, ZERO, NINE, SMALL_E, CAPITAL_E, INFINITE, NOT = b",\n-.09eEin"
MOST_DIGITS = 18


@kernel
def parse_lines(text: Bytes, places: Ints, out: Floats) -> int:
    """Numbers of whole lines of a table; returns the number of lines.

    text    (bytes,)          ends with a newline
    places  (columns,)        for each column of the table its column in ``out``, -1: skipped
    out     (lines, numbers)  out; NaN for an empty cell

    The first 18 digits count and the power of ten is applied once: right to a few units in the last place (numbers
    below 1e-290 may become zero), far below what a picture shows, at a tenth of the time of exact reading.
    """
    row = cell = 0
    mantissa = digits = shift = power = 0
    is_negative = is_fraction = has_power = power_is_negative = False
    special = 0
    for k in range(text.shape[0]):
        c = text[k]
        if c in (COMMA, NEWLINE):
            if cell < places.shape[0] and places[cell] >= 0:
                shift += -power if power_is_negative else power
                value = float(mantissa)
                if special == NOT or (digits == 0 and special == 0):
                    value = np.nan
                elif special == INFINITE or shift > 308:
                    value = np.inf if special == INFINITE or mantissa > 0 else 0.0
                elif shift >= 0:
                    value *= POWERS[shift]
                elif shift >= -308:
                    value /= POWERS[-shift]
                else:
                    value = 0.0
                out[row, places[cell]] = -value if is_negative else value
            mantissa = digits = shift = power = special = 0
            is_negative = is_fraction = has_power = power_is_negative = False
            cell += 1
            if c == NEWLINE:
                cell = 0
                row += 1
        elif cell >= places.shape[0] or places[cell] < 0:
            continue
        elif ZERO <= c <= NINE:
            if has_power:
                power = 10 * power + (c - ZERO)
            elif digits < MOST_DIGITS:
                mantissa = 10 * mantissa + (c - ZERO)
                # Leading zeros are no digits, but an empty cell has none at all.
                digits += 1 if mantissa > 0 or digits == 0 else 0
                shift -= 1 if is_fraction else 0
            else:
                shift += 0 if is_fraction else 1
        elif c == POINT:
            is_fraction = True
        elif c == MINUS:
            if has_power:
                power_is_negative = True
            else:
                is_negative = True
        elif special == 0 and c in (NOT, INFINITE):
            special = c
        elif c in (SMALL_E, CAPITAL_E):
            has_power = True
    return row


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

    def blocks(self, names: Sequence[str]) -> Iterator[Floats]:
        """(lines, names) of the whole file, piece by piece."""
        if not self.columns:
            return
        places = np.full(len(self.columns), -1, np.int64)
        for place, name in enumerate(names):
            places[self.columns.index(name)] = place
        with self.path.open("rb") as file:
            file.seek(self._start)
            rest = b""
            while piece := file.read(BLOCK):
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                if newline:
                    text = np.frombuffer(whole + newline, np.uint8)
                    out = np.empty((int(np.count_nonzero(text == NEWLINE)), len(names)))
                    parse_lines(text, places, out)
                    yield out

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

    def read(self, names: Sequence[str]) -> Floats:
        """(lines, names) of the whole table."""
        size = share_size(self.lines, len(names))
        parts = [extremes(block, size) for block in self.blocks(names)]
        return np.concatenate([np.empty((0, len(names))), *parts])

    def curves(self, names: Sequence[str], labels: Sequence[int], instants: Floats | None = None) -> dict[int, Floats]:
        """Label -> (lines, 3 + names): step, increment, time, values; at all its lines, or those of some ``instants``
        (rising keys of ``instant_keys``)."""
        width = 3 + len(names)
        size = share_size(sum(self.lines_of[label] for label in labels), width) if instants is None else 1
        parts: dict[int, list[Floats]] = {label: [] for label in labels}
        for block in self.blocks((*KEY, *names, self.columns[3])):
            keep = np.isin(block[:, -1], labels)
            if instants is not None:
                keys = instant_keys(block)
                keep &= instants[np.searchsorted(instants, keys).clip(0, len(instants) - 1)] == keys
            rows = block[keep]
            rows = rows[np.argsort(rows[:, -1], kind="stable")]
            found, starts = np.unique(rows[:, -1], return_index=True)
            for label, part in zip(found.tolist(), np.split(rows[:, :-1], starts[1:]), strict=False):
                parts[int(label)].append(extremes(part, size))
        return {label: np.concatenate([np.empty((0, width)), *parts[label]]) for label in labels}


def instant_keys(rows: Floats) -> Floats:
    """One number per line for step and increment (the first two columns): steps share their first and last times."""
    keys: Floats = rows[:, 0] * 2.0**40 + rows[:, 1]
    return keys


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
    tail = np.arange(whole * size, len(rows))
    kept: Floats = rows[
        np.unique(np.concatenate([[0, len(rows) - 1], (base + low).ravel(), (base + high).ravel(), tail]))
    ]
    return kept
