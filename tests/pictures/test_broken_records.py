"""Records of a run that are no records: a clear error, whatever they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from fem.app.solver import progress_of
from fem.commands.files import holder_of
from fem.errors import CommandError
from fem.runs.own import read_record
from fem.runs.read import open_results
from fem.show.report import summary
from fem.show.series import unresolved_snaps

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("text", [DEEP, DEEP.replace("[", '{"a":').replace("]", "}"), "[]", "3", "{", "nothing"])
def test_a_record_that_is_none_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(CommandError, match=r"run\.json cannot be read as the record of a run"):
        open_results(tmp_path)
    assert read_record(tmp_path / "run.json") == {}
    assert holder_of(text.encode()) == {}


RECORD: dict[str, Any] = {
    "deck": {"file": "a.inp", "parameters": {}, "sha256": ""},
    "settings": {"heading": ["a"], "steps": [{"procedure": {"period": 1.0}}], "nodes": 2},
    "totals": {
        **{"events": {"snap": 3}, "energy_exchanged": 1.0, "largest_energy_error": 0.1, "time": 1.0},
        **{"increments": 3, "steps": 1},
    },
    "verdict": "completed",
}


def places(record: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of the numbers of a record, and of its parts."""
    if isinstance(record, int | float) or len(way) == 1:
        yield way
    for key in record if isinstance(record, dict) else range(len(record)) if isinstance(record, list) else ():
        yield from places(record[key], (*way, key))


def test_whatever_stands_for_a_number_is_an_error_or_unknown(tmp_path: Path) -> None:
    """NaN, which is no JSON; the words that we write for numbers that are none; nothing."""
    for way in places(RECORD):
        for odd in (math.nan, math.inf, "nan", None, 1e308, -1):
            record = json.loads(json.dumps(RECORD))
            reduce(getitem, way[:-1], record)[way[-1]] = odd
            (tmp_path / "run.json").write_text(json.dumps(record))
            if isinstance(odd, float) and not math.isfinite(odd):
                with pytest.raises(CommandError, match="cannot be read"):
                    open_results(tmp_path)
            with suppress(CommandError):
                assert isinstance(open_results(tmp_path).energy_error_text, str)
                summary(open_results(tmp_path))
            assert unresolved_snaps(tmp_path) >= -1
            progress = progress_of(tmp_path)
            assert progress is None or progress.said()
