"""The folder of a validation report: ``validation.json`` lists what is ours in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fem.files.names import REPORT
from fem.files.own import Names, Origin, OwnFolder, listed_names, read_record
from fem.files.whole import replace_file

RECORD = "validation.json"


@contextmanager
def report_folder(folder: Path, cases: Sequence[str], inputs: Sequence[Path], force: bool) -> Iterator[OwnFolder]:
    """The folder of a report, ours while it is made; sweeps of cases have folders of their own in it."""
    names = Names(frozenset(("report.md", "report.csv", RECORD)), files_of(cases))
    own = OwnFolder(folder, RECORD, Origin(Path("validation"), "", tuple(inputs)), names, owned_names, force)
    own.check()
    with own:
        write_record(own, cases)
        own.clear(names.among(folder) - {RECORD})
        yield own


def write_record(own: OwnFolder, going_on: Sequence[str] = ()) -> None:
    """What is ours in the folder of the report, cases of other starts included; ``going_on``: and what these write."""
    record = own.path / RECORD
    files = own.names.among(own.path) | owned_names(read_record(record) or {}).among(own.path) | {RECORD}
    found = {"deck": {"file": "validation", "sha256": ""}, "files": sorted(files), "going_on": list(going_on)}
    replace_file(record, (json.dumps(found, indent=1) + "\n").encode())


def owned_names(record: Mapping[str, Any]) -> Names:
    """The files a record lists, and whatever a killed start may have written."""
    going_on = record.get("going_on")
    cases = files_of(map(str, going_on if isinstance(going_on, list) else ()))
    return Names(listed_names(record), cases, (REPORT,))


def files_of(cases: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Patterns of what cases write."""
    return tuple((".", rf"{re.escape(name)}_.*\.(csv|png)") for name in cases)
