"""What the page shows of one run, or of two that are compared, read from their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fem.app.data.panels import GROUPS, Group, group_of
from fem.app.data.parting import DISTANCE, distances, parting_of
from fem.app.data.scene import scene_of
from fem.errors import CommandError
from fem.pictures.folder import Missing, Results, open_results

SMALL = 30_000_000
"""Bytes of tables of which all groups of charts are read at once."""


class Seen:
    """Some groups of charts, the unit of time; where they are asked for, a scene of each folder, and remarks."""

    def __init__(self, folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> None:
        results = [open_results(folder) for folder in folders]
        self.groups = {name: group_of(results[0], name) for name in names if name in GROUPS}
        self.unit = results[0].symbol("time")
        self.scenes: list[bytes] = []
        self.remarks: list[str] = []
        if has_scenes:
            self._show(results)

    def _show(self, results: list[Results]) -> None:
        try:
            self.scenes = [scene_of(each) for each in results]
            if len(results) == 2:
                self._compare(results)
        except (Missing, CommandError) as missing:
            self.remarks.append(f"no motion is shown: {missing}")
            self.groups |= {DISTANCE: Group(DISTANCE, (), str(missing))} if len(results) == 2 else {}

    def _compare(self, results: list[Results]) -> None:
        found = parting_of(*results)
        length = results[0].symbol("length")
        self.groups[DISTANCE] = distances(found, length)
        self.remarks.append(found.said(self.unit, length))


def read(folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> Seen | None:
    """None: of no folder, where nothing is written yet, or the folder is being cleared."""
    try:
        return Seen(folders, names, has_scenes) if folders else None
    except (CommandError, OSError):
        return None


def is_small(folder: Path) -> bool:
    """All charts of it are read at once."""
    try:
        return sum(path.stat().st_size for path in folder.glob("*.csv")) < SMALL
    except OSError:
        return True
