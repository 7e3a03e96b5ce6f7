"""``sweep.csv`` and ``sweep.json``: rows as they come, whole lines only; a broken-off sweep goes on from them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fem.errors import CommandError
from fem.files.own import Names, OwnFolder, read_record
from fem.files.room import Room
from fem.files.whole import replace_file
from fem.model import Model
from fem.results.run_record import RESULTS, deck_name, origin_of, plain

TABLE, RECORD, SUMS = "sweep.csv", "sweep.json", "sweep.sums"
IDENTITY = ("deck", "grid", "columns", "versions")
"""What must be equal for a sweep to go on where it stopped."""


def cells_of(values: Iterable[int | float]) -> list[str]:
    """Numbers with all their digits; nothing where there is no number."""
    return ["" if math.isnan(value) else repr(value) for value in values]


def lines_of(rows: Iterable[Sequence[str]]) -> bytes:
    """Lines of CSV; a cell never holds a line end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="backslashreplace")


def sweep_folder(
    output: str | Path | None,
    model: Model,
    identity: Mapping[str, Any],
    kind: str = "sweep",
    figures: Sequence[str] = (),
    force: bool = False,
) -> OwnFolder:
    """Where the table goes: ``output``, else ``results/<deck>_<kind>/`` unless another sweep is there."""
    folder = RESULTS / f"{deck_name(model)}_{kind}" if output is None else Path(output)
    names = Names(frozenset((TABLE, RECORD, SUMS, *figures)))
    own = OwnFolder(folder, RECORD, origin_of(model), names, force=force)
    own.check()
    found = read_record(folder / RECORD)
    if output is not None or force or found is None or is_same(found, identity):
        return own
    what = "of another deck" if found.get("deck") != plain(identity["deck"]) else "over other values"
    raise CommandError(
        f"{folder} holds a sweep {what}; nothing was overwritten: choose a folder with --output DIR, "
        f"replace it with --force, or remove {folder}"
    )


def is_same(found: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """The table in a folder belongs to this sweep."""
    return all(found.get(name) == plain(identity[name]) for name in IDENTITY)


class SweepTable:
    """The rows of a sweep, by point, and their file if there is a folder.

    identity  what ``IDENTITY`` names, as JSON
    heads     first cells of the row of each point: its number and parameters
    """

    def __init__(
        self, own: OwnFolder | None, identity: Mapping[str, Any], heads: Sequence[Sequence[str]], resume: bool
    ) -> None:
        folder = None if own is None else own.path
        self._about = {} if own is None else own.about()
        self._room = Room() if own is None else own.room
        self.rows: dict[int, list[str]] = {}
        self._folder, self._identity, self._heads = folder, identity, heads
        self._columns: list[str] = identity["columns"]
        self._is_sorted = True
        if own is not None and folder is not None:
            if resume and is_same(read_record(folder / RECORD) or {}, identity):
                self._read(folder / TABLE)
            else:
                own.clear(own.stale())
            self.record("running")
            # Whole again: the last line of a killed sweep may be half a line.
            replace_file(folder / TABLE, lines_of([self._columns, *self.rows.values()]))
            self._is_sorted = list(self.rows) == sorted(self.rows)
            self._file = (folder / TABLE).open("ab", buffering=0)

    def add(self, answers: Iterable[tuple[int, str, Sequence[int | float]]]) -> None:
        """Append the rows of some points: (point, verdict, numbers)."""
        new = {
            point: [*self._heads[point], " ".join(verdict.split()), *cells_of(values)]
            for point, verdict, values in answers
            if point not in self.rows
        }
        self._is_sorted &= list(new) == sorted(new) and max(self.rows, default=-1) < min(new, default=0)
        self.rows |= new
        if self._folder is not None:
            self._file.write(lines_of(new.values()))

    def close(self, verdict: str) -> None:
        """Sort the rows into grid order, whoever computed them when, and say how the sweep ended."""
        self.rows = {point: self.rows[point] for point in sorted(self.rows)}
        if self._folder is None:
            return
        self._file.close()
        if not self._is_sorted:
            replace_file(self._folder / TABLE, lines_of([self._columns, *self.rows.values()]))
        self.record(verdict)

    def record(self, verdict: str) -> None:
        """Write ``sweep.json``."""
        assert self._folder is not None
        record = {
            **self._identity,
            **self._about,
            "finished": len(self.rows),
            "points": len(self._heads),
            "verdict": verdict,
        }
        text = json.dumps(plain(record), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        self._room.replace(self._folder / RECORD, text.encode(errors="backslashreplace"))

    def _read(self, path: Path) -> None:
        """Take over the whole lines of an earlier start that belong to this sweep."""
        try:
            head, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, ValueError):
            return
        if head != lines_of([self._columns]).decode().rstrip("\n"):
            return
        places = {head[0]: point for point, head in enumerate(self._heads)}
        for row in csv.reader(lines):
            point = places.get(row[0], -1) if row else -1
            if point >= 0 and len(row) == len(self._columns) and row[: len(self._heads[0])] == list(self._heads[point]):
                self.rows.setdefault(point, row)
