"""All that the page shows of one run, or of two that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fem.app.data.panels import Group, groups_of
from fem.app.data.parting import group_of, parting_of
from fem.app.data.scene import scene_of, units_of
from fem.errors import CommandError
from fem.pictures.folder import Missing, Results, open_results


class Seen:
    """What was read of one or two folders: a scene of each, groups of charts, the unit of time, remarks."""

    def __init__(self, folders: Sequence[Path]) -> None:
        results = [open_results(folder) for folder in folders]
        self.scenes: list[bytes] = []
        self.groups: list[Group] = groups_of(results[0])
        self.unit = units_of(results[0])("time")
        self.remarks: list[str] = []
        try:
            self.scenes = [scene_of(each) for each in results]
            if len(results) == 2:
                self._compare(results)
        except (Missing, CommandError) as missing:
            self.remarks.append(f"no motion is shown: {missing}")
        self.notices = [str(text) for text in results[0].record.get("notices", [])]

    def _compare(self, results: list[Results]) -> None:
        found = parting_of(*results)
        length = units_of(results[0])("length")
        self.groups.insert(0, group_of(found, length))
        self.remarks.append(found.said(self.unit, length))


def read(folders: Sequence[Path]) -> Seen | None:
    """None: of no folder, where nothing is written yet, or the folder is being cleared."""
    try:
        return Seen(folders) if folders else None
    except (CommandError, OSError):
        return None
