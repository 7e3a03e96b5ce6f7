"""``sweep.csv`` and ``sweep.json``: rows as they come, whole lines only; an interrupted sweep continues from them.

``sweep.sums`` has the checksum of each row, mixed with what makes the sweep: a row is taken over only where its bytes
are those that this sweep wrote. Whatever else stands in the table (a changed digit, half a line) is computed again.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from fem.commands.files import GrowingFile, lines_of, replace_file, write_table
from fem.errors import CommandError, from_system
from fem.model import Model
from fem.runs.own import Names, OwnFolder, claim, plain, read_record

TABLE, RECORD, SUMS = "sweep.csv", "sweep.json", "sweep.sums"
IDENTITY = ("deck", "grid", "columns", "versions")
"""What must be equal for a sweep to go on where it stopped."""
LOST = "lost"
CONTINUES = "repeat the command to continue"
"""How a verdict begins where the process that computed the point died: the next start tries it again."""


def cells_of(values: Iterable[int | float]) -> list[str]:
    """Numbers with all their digits; nothing where there is no number."""
    return ["" if math.isnan(value) else repr(value) for value in values]


def write_columns(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    """A table of numbers, as ``cells_of`` has them, and of texts."""
    cells = (column.tolist() if column.dtype.kind in "UO" else cells_of(column.tolist()) for column in columns.values())
    write_table(path, list(columns), zip(*cells, strict=True))


def sweep_folder(
    output: str | Path | None,
    model: Model,
    identity: Mapping[str, Any],
    kind: str = "sweep",
    figures: Sequence[str] = (),
    force: bool = False,
) -> OwnFolder:
    """Where the table goes: ``output``, else ``results/<deck>_<kind>/`` unless a sweep of this very deck over other
    values is there."""
    own = claim(model, output, RECORD, Names(frozenset((TABLE, RECORD, SUMS, *figures))), kind, force)
    found = read_record(own.path / RECORD) or {}
    deck = found.get("deck")
    is_of_this = isinstance(deck, Mapping) and deck.get("sha256") == model.digest  # else of an earlier text of the deck
    if output is None and not force and is_of_this and not is_same(found, identity):
        raise CommandError(
            f"{own.path} contains a sweep over other values or with other settings; nothing was overwritten: choose a "
            "folder with --output DIR, or replace it with --force"
        )
    return own


def is_same(found: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """The table in a folder belongs to this sweep."""
    return all(found.get(name) == plain(identity[name]) for name in IDENTITY)


def lines_in(path: Path) -> list[bytes]:
    """The whole lines of a file; none where there is no such file."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


class SweepTable:
    """The rows of a sweep, by point, and their file if there is a folder.

    identity  what ``IDENTITY`` names, as JSON
    heads     first cells of the row of each point: its number and parameters
    rows      cells by point; ``broken``: how many rows of an earlier start are not as they were written
    """

    def __init__(
        self, own: OwnFolder | None, identity: Mapping[str, Any], heads: Sequence[Sequence[str]], resume: bool
    ) -> None:
        self.rows: dict[int, list[str]] = {}
        self.broken = 0
        self._own, self._identity, self._heads = own, identity, heads
        self._columns: list[str] = identity["columns"]
        self._is_sorted, self._size = True, 0
        text = json.dumps([plain(identity[name]) for name in IDENTITY], sort_keys=True)
        self._key = blake2b(text.encode(errors="backslashreplace")).digest()
        if own is not None:
            if resume and is_same(read_record(own.path / RECORD) or {}, identity):
                self._read(own.path)
            else:
                own.clear(own.stale())
            self._note(own, "running")
            self._replace(own.path)  # whole again: the last line of a killed sweep may be half a line
            self._is_sorted = list(self.rows) == sorted(self.rows)
            self._sums, self._file = (GrowingFile(own.path / name, is_new=False) for name in (SUMS, TABLE))

    def add(self, answers: Iterable[tuple[int, str, Sequence[int | float]]]) -> None:
        """Append the rows of some points: (point, verdict, numbers)."""
        new = {
            point: [*self._heads[point], " ".join(verdict.split()), *cells_of(values)]
            for point, verdict, values in answers
            if point not in self.rows
        }
        self._is_sorted &= list(new) == sorted(new) and max(self.rows, default=-1) < min(new, default=0)
        self.rows |= new
        if self._own is not None:
            content = lines_of(new.values())
            self._size += len(content)
            self._sums.add(self._checksums(content))  # first: no whole row is ever without
            self._file.add(content)

    def close(self, verdict: str) -> None:
        """Sort the rows into grid order, and record how the sweep ended."""
        self.rows = {point: self.rows[point] for point in sorted(self.rows)}
        if self._own is None:
            return
        self._sums.close()
        self._file.close()
        is_full = self._sums.is_broken or self._file.is_broken  # then the rows that are there are whole
        try:
            if not is_full and not (self._is_sorted and self._file.size == self._size):  # Ctrl-C came before
                self._replace(self._own.path)
        except OSError as error:  # no room for a second one: the rows stay as they are
            verdict = f"error: {from_system(error, 'cannot write')}"
            raise
        finally:
            self._note(self._own, verdict)

    def _note(self, own: OwnFolder, verdict: str) -> None:
        state = {"finished": len(self.rows), "points": len(self._heads), "verdict": verdict}
        own.note({**self._identity, **own.about(), **state})

    def _replace(self, folder: Path) -> None:
        """Write the table anew from its rows."""
        rows = lines_of(self.rows.values())
        content = lines_of([self._columns]) + rows
        replace_file(folder / SUMS, self._checksums(rows))
        replace_file(folder / TABLE, content)
        self._size = len(content)

    def _checksums(self, lines: bytes) -> bytes:
        return b"".join(self._checksum(line) + b"\n" for line in lines.split(b"\n")[:-1])

    def _checksum(self, line: bytes) -> bytes:
        """Of a row of this sweep."""
        return blake2b(line, key=self._key, digest_size=8).hexdigest().encode()

    def _read(self, folder: Path) -> None:
        """Take over the rows of an earlier start that are as they were written."""
        known = set(lines_in(folder / SUMS))
        for line in lines_in(folder / TABLE)[1:]:
            if self._checksum(line) in known:
                (row,) = csv.reader([line.decode()])
                if not row[len(self._heads[0])].startswith(LOST):
                    self.rows.setdefault(int(row[0]) - 1, row)
            else:
                self.broken += 1
