"""What a run gives, also while it goes on: how far it is, the player, charts, files to take away."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nicegui import run as threads
from nicegui import ui

from fem.app.data.panels import Group, groups_of
from fem.app.data.parting import group_of, parting_of
from fem.app.data.scene import scene_of, units_of
from fem.app.solver import Solver, Workplace, verdict_of
from fem.app.views.charts import chart, options_of
from fem.app.views.downloads import Downloads
from fem.app.views.player import Player
from fem.errors import CommandError
from fem.pictures.folder import Missing, Results, open_results

LEAST_PAUSE = 1.5
"""Seconds between two looks at the tables of a run that goes on; five times as long as a look takes, at least."""
BEGINNING = "reading the deck (the first run after an installation compiles the solver, half a minute)"


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


class Outcome:
    """A part of the page; hidden until there is something to show."""

    def __init__(self, workplace: Workplace, on_end: Callable[[], Any] = lambda: None) -> None:
        self._workplace, self._on_end = workplace, on_end
        self._folders: list[Path] = []
        self._runs: list[Solver | None] = []
        self._stamp: tuple[object, ...] = ()
        self._due = 0.0
        self._is_busy = False
        self._seen: Seen | None = None
        self._names: dict[str, bool] = {}
        self._charts: list[Any] = []
        with ui.column().classes("w-full gap-2 fem-outcome") as self._all:
            self._build()
        self._all.visible = False
        ui.timer(0.4, self._look)

    def _build(self) -> None:
        with ui.row().classes("w-full items-center gap-3"):
            self._verdict = ui.label().classes("text-weight-medium").props("data-testid=verdict")
            self._said = ui.label().classes("fem-quiet grow").props("data-testid=progress")
            self._stop = ui.button("Stop", icon="stop", color="negative", on_click=self.stop).props("data-testid=stop")
            self._stop.props("outline dense no-caps")
        self._bar = ui.linear_progress(0.0, show_value=False).props("rounded")
        self._failure = ui.label().classes("fem-failure").props("data-testid=failure")
        self._remarks = ui.label().classes("fem-quiet").props("data-testid=remarks")
        with ui.element("div").classes("fem-two"):
            with ui.column().classes("w-full gap-2"):
                self._player = Player()
                self._downloads = Downloads(self._workplace)
            with ui.column().classes("w-full gap-0"):
                self._tabs = ui.tabs(on_change=self._draw).props("dense no-caps align=left inline-label mobile-arrows")
                self._reason = ui.label().classes("fem-quiet")
                self._panels = ui.column().classes("w-full gap-1")

    def show(self, folders: Sequence[Path], runs: Sequence[Solver | None]) -> None:
        """Other folders, with the processes that write into them, where they are of this program."""
        self._folders, self._runs = list(folders), list(runs)
        self._stamp, self._due, self._seen = (), 0.0, None
        self._all.visible = True
        self._player.show([])
        self._tabs.clear()
        self._panels.clear()
        self._names, self._charts = {}, []
        self._reason.text = self._remarks.text = ""
        first = self._runs[0]
        self._downloads.show(self._folders[0], first.deck if first else None)
        self._tell()

    @property
    def is_running(self) -> bool:
        return any(run is not None and run.is_running for run in self._runs)

    def stop(self) -> None:
        """Ask the solver to end."""
        for run in self._runs:
            if run is not None:
                run.stop()
        self._tell()

    def _tell(self) -> None:
        """How far it is."""
        run, going = self._runs[0], self.is_running
        told = [each.progress() for each in self._runs if each is not None] or [_progress(self._folders[0])]
        progress = told[0]
        self._verdict.text = verdict_of(progress, run)
        said = progress.said() if progress and progress.increment else ""
        self._said.text = said or (BEGINNING if going else "")
        parts = [each.fraction or 0.0 if each else 0.0 for each in told]
        self._bar.value = min(parts)
        self._bar.visible = going
        self._stop.visible = going
        failures = [each.failure for each in self._runs if each is not None and each.failure]
        self._failure.text = failures[0] if failures else ""
        self._failure.visible = bool(failures)

    async def _look(self) -> None:
        """Tell, and read the files where they have changed."""
        if not self._folders or self._is_busy:
            return
        was_running = self._stop.visible
        self._tell()
        if was_running and not self.is_running:
            self._due = 0.0
            self._on_end()
        stamp = tuple(_stamp(folder) for folder in self._folders)
        if stamp == self._stamp or time.monotonic() < self._due:
            return
        self._is_busy, begun, folders = True, time.monotonic(), self._folders
        try:
            seen = await threads.io_bound(Seen, folders)
        except (CommandError, OSError):  # nothing written yet, or the folder is being cleared
            seen = None
        finally:
            self._is_busy = False
        if folders is not self._folders:
            return
        self._stamp = stamp
        self._due = time.monotonic() + max(LEAST_PAUSE, 5.0 * (time.monotonic() - begun))
        if seen is not None:
            self._take(seen)

    def _take(self, seen: Seen) -> None:
        """Show what was read."""
        names = {group.name: bool(group.panels) for group in seen.groups}
        if names != self._names:
            self._names = names
            self._tabs.clear()
            with self._tabs:
                for name, has_charts in names.items():
                    ui.tab(name).classes("" if has_charts else "fem-empty")
        self._seen = seen
        if seen.scenes:
            self._player.show(seen.scenes, ["the run", "the other"] if len(seen.scenes) > 1 else None)
        self._remarks.text = "\n".join(seen.remarks)
        if self._tabs.value in names:
            self._draw()
        else:
            self._tabs.value = next(iter(names))

    def _draw(self) -> None:
        """The charts of the chosen group."""
        seen = self._seen
        group = next((each for each in seen.groups if each.name == self._tabs.value), None) if seen else None
        if seen is None or group is None:
            return
        self._reason.text = group.reason
        titles = [panel.title for panel in group.panels]
        if titles and titles == [each.panel for each in self._charts]:
            for each, panel in zip(self._charts, group.panels, strict=True):
                each.options.clear()
                each.options.update(options_of(panel, seen.unit))
                each.update()
            return
        self._panels.clear()
        with self._panels:
            self._charts = [chart(panel, seen.unit) for panel in group.panels]
        for each, panel in zip(self._charts, group.panels, strict=True):
            each.panel = panel.title
        self._player.follow(self._charts)


def _progress(folder: Path) -> Any:
    from fem.app.progress import progress_of

    return progress_of(folder)


def _stamp(folder: Path) -> tuple[object, ...]:
    """Changes when the files of a run have."""
    found: list[object] = []
    for name in ("run.json", "increments.csv", "nodes.csv"):
        try:
            status = (folder / name).stat()
            found += [status.st_mtime_ns, status.st_size]
        except OSError:
            found.append(None)
    return tuple(found)
