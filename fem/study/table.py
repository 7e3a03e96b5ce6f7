"""``sweep.csv`` and ``sweep.json``: rows as they come, whole lines only; an interrupted sweep continues from them.

``sweep.sums`` has the checksum of each row, mixed with what makes the sweep: a row is taken over only where its bytes
are those that this sweep wrote. Whatever else stands in the table (a changed digit, half a line) is computed again.
When all rows are there, they may become a file of another format; ``sweep.json`` has the checksum of the whole file.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from fem.arrays import Floats, Ints
from fem.commands.files import GrowingFile, beside, lines_of, write_table
from fem.errors import CommandError, from_system
from fem.model import Model
from fem.runs.digits import EMPTY, NUMBER, WHOLE, lines
from fem.runs.own import Names, OwnFolder, claim, listed_names, plain, read_record
from fem.runs.run_record import COMPLETED
from fem.runs.sweep_files import (
    CSV,
    FORMATS,
    checksum,
    line_pieces,
    read_columns,
    table_in,
    table_name,
    write_columns_as,
)
from fem.study.points import stated

TABLE, RECORD, SUMS = table_name(CSV), "sweep.json", "sweep.sums"
IDENTITY = ("deck", "grid", "columns", "versions")
"""What must be equal for a sweep to go on where it stopped."""
LOST = "lost"
DONE = f",{COMPLETED},".encode()
UNREADABLE = ValueError, IndexError, TypeError, OverflowError, csv.Error
"""What lines may raise that this program has not written."""
SUM = 16
"""Digits of the checksum of a row."""
CHUNK, BLOCK = 10_000, 65_536
"""Rows whose text is made at once, and those of a block of another format."""
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
    form: str = CSV,
) -> OwnFolder:
    """Where the table goes: ``output``, else ``results/<deck>_<kind>/`` unless a sweep of this very deck over other
    values is there."""
    names = Names(frozenset((TABLE, table_name(form), RECORD, SUMS, *figures)))
    own = claim(model, output, RECORD, names, kind, force)
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
    """The table in a folder belongs to this sweep; earlier records list all values of its grid."""
    known = {**found, "grid": stated(found.get("grid"))}
    return all(known.get(name) == plain(identity[name]) for name in IDENTITY)


def key_of(identity: Mapping[str, Any]) -> bytes:
    """What makes a sweep, mixed into the checksums of its rows."""
    text = json.dumps([plain(identity[name]) for name in IDENTITY], sort_keys=True)
    return blake2b(text.encode(errors="backslashreplace")).digest()


def lines_in(path: Path) -> list[bytes]:
    """The whole lines of a file; none where there is no such file."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


class RowRange(NamedTuple):
    """Lines that stand together in the file: the first and the last point, how many, bytes."""

    first: int
    last: int
    lines: int
    size: int


def move_pieces(path: Path, head: int, sizes: Sequence[int], order: Sequence[int]) -> None:
    """Write the pieces of a file, of so many bytes each after a head, in another order."""
    places = list(accumulate(sizes, initial=head))
    with beside(path) as new, path.open("rb") as old, new.open("wb") as file:
        file.write(old.read(head))
        for piece in order:
            old.seek(places[piece])
            file.write(old.read(sizes[piece]))


class SweepTable:
    """The rows of a sweep, and their file if there is a folder.

    identity  what ``IDENTITY`` names, as JSON
    given     (k, p) parameters of each point
    counts    names of the columns of whole numbers;  whole: of those that are where there is a number
    form      format of the file when all rows are there
    values    (k, c) numbers of each point, NaN where there is none;  is_done (k,): the row of the point is there
    verdicts  point -> how it ended, of those that are not ``COMPLETED``
    broken    how many rows of an earlier start are not as they were written, in the file ``found``
    """

    def __init__(
        self,
        own: OwnFolder | None,
        identity: Mapping[str, Any],
        given: Floats,
        counts: Sequence[str],
        whole: Sequence[str],
        resume: bool,
        form: str = CSV,
    ) -> None:
        self._own, self._identity, self._given, self._form = own, identity, given, form
        self._columns: list[str] = identity["columns"]
        self._first = 2 + given.shape[1]
        names = self._columns[self._first :]
        self.values = np.full((len(given), len(names)), np.nan, order="F")
        self.is_done = np.zeros(len(given), np.bool_)
        self.verdicts: dict[int, str] = {}
        self.broken, self.found, self._others = 0, TABLE, frozenset[str]()
        self._counts = counts
        self._is_whole = np.array([name in (*counts, *whole) for name in names], np.bool_)
        self._parts, self._size = list[RowRange](), 0
        self._whole: dict[str, str] = {}
        if own is not None:
            self._open(own, resume)

    def _open(self, own: OwnFolder, resume: bool) -> None:
        """Take over what is there, and open what grows; neither where all is there."""
        found, key = read_record(own.path / RECORD) or {}, key_of(self._identity)
        self._others = listed_names(found) & {table_name(form) for form in FORMATS if form not in (CSV, self._form)}
        self._key = key
        if resume and is_same(found, self._identity):
            self._key = key_of(found)
            self._read(own.path, found)
            if self._key != key:
                self._key, self._size = key, 0
        else:
            own.clear(own.stale())
        self._note(own, "running")
        if not self._whole:
            if not self._size:
                self._replace(own.path)  # whole again: the last line of a killed sweep may be half a line
            self._sums, self._file = (GrowingFile(own.path / name, is_new=False) for name in (SUMS, TABLE))

    @property
    def finished(self) -> int:
        return int(np.count_nonzero(self.is_done))

    def add(self, answers: Iterable[tuple[int, str, Sequence[int | float]]]) -> None:
        """Append the rows of some points: (point, verdict, numbers)."""
        new = {point: (verdict, row) for point, verdict, row in answers if not self.is_done[point]}
        if not new:
            return
        points = np.sort(np.array(list(new), np.int64))
        rows = [new[point][1] for point in points.tolist()]
        self.values[points] = np.array(rows, np.float64).reshape(len(points), -1)
        self.verdicts |= {point: " ".join(text.split()) for point, (text, _) in new.items() if text != COMPLETED}
        self.is_done[points] = True
        if self._own is not None:
            content = self._lines(points)
            self._grow(points, len(content))
            self._sums.add(self._checksums(content))  # first: no whole row is ever without
            self._file.add(content)

    def close(self, verdict: str) -> None:
        """Put the rows of the file into grid order, all of them in the format that is wanted, and record how the sweep
        ended."""
        if self._own is None:
            return
        if self._whole:
            return self._note(self._own, verdict)
        self._sums.close()
        self._file.close()
        is_full = self._sums.is_broken or self._file.is_broken  # then the rows that are there are whole
        try:
            if not is_full:
                self._sort(self._own.path)
            if not is_full and self.is_done.all():
                self._finish(self._own.path)
        except OSError as error:  # no room for a second one: the rows stay as they are
            verdict = f"error: {from_system(error, 'cannot write')}"
            raise
        finally:
            self._note(self._own, verdict)

    @property
    def file(self) -> str:
        """Name of the file that has the rows."""
        return self._whole.get("file", TABLE)

    def columns(self) -> dict[str, np.ndarray]:
        """All rows that are there: name -> (k,), of counts as int64."""
        verdicts = np.broadcast_to(np.array(COMPLETED), len(self._given))  # in the room of one, where all have it
        if self.verdicts:
            verdicts = verdicts.astype(f"U{max(map(len, (COMPLETED, *self.verdicts.values())))}")
            verdicts[list(self.verdicts)] = list(self.verdicts.values())
        heads = [np.arange(1, len(self._given) + 1), *self._given.T, verdicts]
        found = dict(zip(self._columns, [*heads, *self.values.T], strict=True))
        if not self.is_done.all():
            found = {name: column[self.is_done] for name, column in found.items()}
        return found | {name: found[name].astype(np.int64) for name in self._counts}

    def _note(self, own: OwnFolder, verdict: str) -> None:
        state = {"finished": self.finished, "points": len(self._given), "verdict": verdict, "table": self._whole}
        own.note({**self._identity, **own.about(), **state})

    def _finish(self, folder: Path) -> None:
        """The file of all rows, and its checksum; those of other formats go."""
        name, stale = table_name(self._form), set(self._others)
        if self._form != CSV:
            columns, rows = self.columns(), len(self._given)
            head = {name: column.dtype for name, column in columns.items()}
            parts = [slice(start, start + BLOCK) for start in range(0, rows, BLOCK)]
            blocks = ({name: column[part] for name, column in columns.items()} for part in parts)
            write_columns_as(self._form, folder / name, head, rows, blocks)
            stale |= {TABLE, SUMS}
        self._whole = {"file": name, "blake2b": checksum(folder / name)}
        for other in stale:
            (folder / other).unlink(missing_ok=True)

    def _grow(self, points: Ints, size: int) -> None:
        """The file has the lines of some points more, in their order."""
        self._parts.append(RowRange(int(points[0]), int(points[-1]), len(points), size))
        self._size += size

    def _sort(self, folder: Path) -> None:
        """Put the parts of the file into grid order. Workers have blocks of points: only their bytes move."""
        parts = self._parts
        order = sorted(range(len(parts)), key=parts.__getitem__)
        is_apart = all(parts[one].last < parts[two].first for one, two in pairwise(order))
        if self._file.size != self._size or not is_apart:  # Ctrl-C came amid a part; points were tried again
            self._replace(folder)
        elif order != list(range(len(parts))):
            head = self._size - sum(part.size for part in parts)
            move_pieces(folder / TABLE, head, [part.size for part in parts], order)
            move_pieces(folder / SUMS, 0, [part.lines * (SUM + 1) for part in parts], order)

    def _replace(self, folder: Path) -> None:
        """Write the table anew from its rows."""
        points = np.flatnonzero(self.is_done)
        with (
            beside(folder / TABLE) as table, beside(folder / SUMS) as sums,
            sums.open("wb") as of_sums, table.open("wb") as of_table,
        ):  # fmt: skip
            self._parts, self._size = [], of_table.write(lines_of([self._columns]))
            for start in range(0, len(points), CHUNK):
                part = points[start : start + CHUNK]
                rows = self._lines(part)
                of_sums.write(self._checksums(rows))
                self._grow(part, of_table.write(rows))

    def _lines(self, points: Ints) -> bytes:
        """Rows of CSV: numbers with all their digits, nothing where there is no number."""
        texts = {text: lines_of([[text]])[:-1] for text in {COMPLETED, *self.verdicts.values()}}
        verdicts = [texts[self.verdicts.get(point, COMPLETED)] for point in points.tolist()]
        heads = np.column_stack([points + 1, self._given[points]])
        kinds = np.full((1, heads.shape[1]), NUMBER, np.uint8)
        kinds[0, 0] = WHOLE
        values = np.ascontiguousarray(self.values[points])
        cells = np.where(np.isnan(values), EMPTY, np.where(self._is_whole, WHOLE, NUMBER)).astype(np.uint8)
        parts = [bytes(lines(numbers, of)).split(b"\n") for numbers, of in ((heads, kinds), (values, cells))]
        return b"".join([b"%b,%b,%b\n" % row for row in zip(parts[0], verdicts, parts[1], strict=False)])

    def _checksums(self, lines: bytes) -> bytes:
        """Of rows of this sweep."""
        key = self._key
        found = [blake2b(line, key=key, digest_size=SUM // 2).hexdigest() for line in lines.split(b"\n")[:-1]]
        return "".join([f"{each}\n" for each in found]).encode()

    def _read(self, folder: Path, record: Mapping[str, Any]) -> None:
        """Take over the rows of an earlier start that are as they were written; the files stay where all are."""
        path = table_in(folder)
        self.found = path.name
        written = record.get("table")
        with ThreadPoolExecutor(1) as pool:  # the checksum, which needs no lock of Python, while lines are read
            its = pool.submit(checksum, path) if path.is_file() else None
            if its and path.name == TABLE and isinstance(written, dict) and written.get("file") == TABLE:
                with suppress(*UNREADABLE), np.errstate(invalid="ignore"):  # of lines that are not as they were written
                    for number, piece in enumerate(line_pieces(path)):
                        self._take(piece if number else piece.partition(b"\n")[2])
        whole = {"file": path.name, "blake2b": its.result() if its else ""}
        is_intact = written == whole
        if path.name == TABLE and not is_intact:
            self.values[:], self.is_done[:] = np.nan, False
            self.verdicts.clear()
            self._read_lines(folder)
        elif path.name != TABLE and is_intact:
            self._take_columns(read_columns(path))
        elif path.name != TABLE:
            self.broken = len(self._given)
        if is_intact and self.is_done.all() and path.name == table_name(self._form):
            self._whole = whole

    def _read_lines(self, folder: Path) -> None:
        """Line by line, as ``SUMS`` has them."""
        sums, (head, *rows) = lines_in(folder / SUMS), lines_in(folder / TABLE) or [b""]
        known, found = set(sums), self._checksums(b"".join([row + b"\n" for row in rows])).split(b"\n")[:-1]
        intact = [line for line, its in zip(rows, found, strict=True) if its in known]
        self.broken = len(rows) - len(intact)
        for start in range(0, len(intact), CHUNK):
            self._take(b"".join([row + b"\n" for row in intact[start : start + CHUNK]]))
        size = len(head) + 1 + sum(len(row) + 1 for row in rows)
        is_whole = head + b"\n" == lines_of([self._columns]) and size == (folder / TABLE).stat().st_size
        if is_whole and found == sums and self.finished == len(rows):
            points = np.array([int(row[: row.index(b",")]) - 1 for row in rows], np.int64)
            if bool(np.all(np.diff(points) > 0)):
                self._size = len(head) + 1
                if rows:
                    self._grow(points, size - self._size)

    def _take(self, text: bytes) -> None:
        """Numbers of lines as they were written."""
        try:
            self._take_plain(text)
        except ValueError:  # not all have numbers only, beside the verdict ``COMPLETED``
            self._take_any(text)

    def _take_plain(self, text: bytes) -> None:
        """Numbers of lines of completed points. ValueError: there is something else."""
        text = b",1,".join(text.split(DONE)).replace(b"\n", b",")
        table = np.array(orjson.loads(b"[%b]" % text[:-1]), np.float64).reshape(-1, len(self._columns))
        self._set(table[:, 0].astype(np.int64) - 1, table[:, self._first :])

    def _take_any(self, text: bytes) -> None:
        rows = text.split(b"\n")[:-1]
        are_plain = [DONE in row and b'"' not in row and b"inf" not in row for row in rows]
        others = csv.reader(row.decode() for row, is_plain in zip(rows, are_plain, strict=True) if not is_plain)
        for point, *cells in others:
            verdict, numbers = cells[self._first - 2], cells[self._first - 1 :]
            if not verdict.startswith(LOST):
                self._set(np.array([int(point) - 1]), [[float(cell or "nan") for cell in numbers]])
                self.verdicts[int(point) - 1] = verdict
        text = b"".join([row + b"\n" for row, is_plain in zip(rows, are_plain, strict=True) if is_plain])
        for _ in range(2):  # of ",,," too
            text = text.replace(b",,", b",null,")
        self._take_plain(text.replace(b",\n", b",null\n"))

    def _take_columns(self, table: Mapping[str, np.ndarray]) -> None:
        """Of a whole file of another format."""
        for place, name in enumerate(self._columns[self._first :]):
            self.values[:, place] = table[name]
        verdicts = np.asarray(table["verdict"], np.str_)
        is_lost = np.char.startswith(verdicts, LOST)
        self.values[is_lost], self.is_done[:] = np.nan, ~is_lost
        for point in np.flatnonzero((verdicts != COMPLETED) & ~is_lost).tolist():
            self.verdicts[point] = str(verdicts[point])

    def _set(self, points: Ints, values: Any) -> None:
        self.values[points], self.is_done[points] = values, True
