"""Records of a run that are no records: a clear error, whatever they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from fem.errors import CommandError
from fem.files import holder_of
from fem.runs.own import read_record
from fem.runs.read import open_results

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("text", [DEEP, DEEP.replace("[", '{"a":').replace("]", "}"), "[]", "3", "{", "nothing"])
def test_a_record_that_is_none_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(CommandError, match=r"run\.json cannot be read as the record of a run"):
        open_results(tmp_path)
    assert read_record(tmp_path / "run.json") == {}
    assert holder_of(text.encode()) == {}
