"""Results of a run, also while it is running: progress, the player, charts that follow its time, files to download.

Fields of forms: text that is read as a number, arithmetic and decimal commas included, or an error. Nothing is clipped.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from nicegui import app, background_tasks, ui
from starlette.responses import Response

from fem.app.scene import DISTANCE, GROUPS, FolderContent, Group, Panel, is_small
from fem.app.solver import ShownProgress, Solver, Workplace, progress_of, verdict_of
from fem.deck.parameters import ArithmeticMistake, evaluate
from fem.runs.tables import TABLES

Check = Callable[[float], str]
"""Error message for a number; empty: it is valid."""


THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def read_number(
    text: object, check: Check | None = None, is_optional: bool = False, unit: str = ""
) -> tuple[float | None, str]:
    """The number of a text (``1,5``, ``pi/2``, ``sqrt(2)``), and what is wrong with it; in degrees pi is 180."""
    shown = str(text if text is not None else "").strip()
    if not shown:
        return None, "" if is_optional else "a number is missing"
    if THOUSANDS.fullmatch(shown):
        return None, f"{shown!r} may be {shown.replace(',', '')} or {shown.replace(',', '.')}: write it without comma"
    try:
        value = evaluate(shown.replace(",", "."), {"PI": 180.0} if "°" in unit else {})
    except ArithmeticMistake as mistake:
        return None, f"{shown!r} is not a number: {mistake.message}"
    wrong = check(value) if check else ""
    return (None, wrong) if wrong else (value, "")


def positive(value: float) -> str:
    return "" if value > 0.0 else f"must be a positive number, got {value:g}"


def not_negative(value: float) -> str:
    return "" if value >= 0.0 else f"must not be negative, got {value:g}"


def whole(least: int, most: int, what: str) -> Check:
    def check(value: float) -> str:
        if value != int(value):
            return f"must be a whole number, got {value:g}"
        return "" if least <= value <= most else f"from {least} to {most} {what}, got {value:.12g}"

    return check


class NumberField:
    """A field for one number; ``value`` is None where there is none, or what is there is wrong."""

    def __init__(
        self, label: str, text: str = "", *, check: Check | None = None, unit: str = "", is_optional: bool = False,
        on_change: Callable[[], Any] = lambda: None, hint: str = "",
    ) -> None:  # fmt: skip
        self.label, self._check, self._is_optional, self._unit = label, check, is_optional, unit
        self.input = ui.input(label, value=text, on_change=lambda: on_change(), validation=self._wrong)
        self.input.props("dense outlined stack-label hide-bottom-space inputmode=decimal").classes("fem-field")
        if unit:
            self.input.props(f'suffix="{unit}"')
        if hint:
            self.input.tooltip(hint)

    def _wrong(self, text: object) -> str | None:
        return read_number(text, self._check, self._is_optional, self._unit)[1] or None

    @property
    def wrong(self) -> str:
        return self._wrong(self.input.value) or ""

    @property
    def value(self) -> float | None:
        return read_number(self.input.value, self._check, self._is_optional, self._unit)[0]

    def set(self, text: str) -> None:
        self.input.value = text


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Those of the figures: apart for colour-blind readers, on light and on dark ground."""
GREY, FAINT = "#8a8f94", "rgba(138,143,148,0.25)"
SHORT = "value => value && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) ? value.toExponential() : String(value)"

END = "range => Math.max(range.max, Number(range.max.toPrecision(3)))"
"""End of the time axis, rounded up: 4 if accelerations end half an increment before."""


def chart(panel: Panel, unit: str, over: str = "time") -> Any:
    """One panel; what it is over, with its unit."""
    return ui.echart(options_of(panel, unit, over)).classes("fem-chart").props("data-testid=chart")


def options_of(panel: Panel, per: str, over: str = "time") -> dict[str, Any]:
    """What ECharts draws; ``per``: unit of the axis along."""
    count = len(panel.curves)
    unit = f" [{panel.unit}]" if panel.unit else ""
    label = {"color": GREY, "hideOverlap": True, ":formatter": SHORT}
    axis: dict[str, Any] = {"axisLine": {"lineStyle": {"color": GREY}}, "splitLine": {"lineStyle": {"color": FAINT}}}
    axis |= {"axisLabel": label, "nameTextStyle": {"color": GREY}}
    heading = {"fontSize": 13, "fontWeight": "normal", "color": GREY}
    return {
        "animation": False,
        "color": list(COLOURS),
        "title": {"text": panel.title + unit, "left": 0, "top": 2, "textStyle": heading},
        "grid": {"left": 12, "right": 18, "top": 34 if count < 2 else 56, "bottom": 26, "containLabel": True},
        "legend": {"show": count > 1, "top": 22, "left": 0, "type": "scroll", "itemWidth": 14, "itemHeight": 8,
                   "textStyle": {"color": GREY, "fontSize": 11}, "pageTextStyle": {"color": GREY}},
        "tooltip": {"trigger": "axis", "order": "valueDesc", "confine": True, "textStyle": {"fontSize": 11}},
        "xAxis": {"type": "value", "name": f"{over} [{per}]" if per else over, "nameLocation": "middle",
                  "nameGap": 24, ":max": END, **axis, "splitLine": {"show": False}},
        "yAxis": {"type": "log" if panel.is_log else "value", "scale": True, **axis},
        "series": [*map(series_of, panel.curves), now()],
    }  # fmt: skip


def series_of(curve: tuple[str, Any]) -> dict[str, Any]:
    name, points = curve
    rows = ",".join(f"[{time:.8g},{value:.7g}]" for time, value in points.tolist() if math.isfinite(value))
    look = {"type": "line", "showSymbol": False, "lineStyle": {"width": 2.6 if name == "total" else 1.4}}
    # As text: NiceGUI would watch every pair of numbers.
    return {"id": name, "name": name, **look, ":data": f"[{rows}]"}


def now() -> dict[str, Any]:
    """The vertical line that the player moves."""
    look = {"color": "#D55E00", "width": 1, "type": "solid"}
    mark = {"symbol": "none", "silent": True, "animation": False, "label": {"show": False}, "lineStyle": look}
    return {"id": "now", "type": "line", "data": [], "markLine": {**mark, "data": []}, "tooltip": {"show": False}}


ROUTE = "/scenes"
SCENES: dict[str, bytes] = {}
"""Scenes of the open players."""
_numbers = count(1)


class Player(ui.element, component="player.js"):  # type: ignore[call-arg]
    """Shows one scene (``fem.app.scene``), or two side by side by one clock."""

    def __init__(self) -> None:
        super().__init__()
        self._props["sources"] = []
        self._props["names"] = []
        self._props["charts"] = []
        self._mine: list[str] = []
        self._before: list[str] = []
        self.client.on_delete(lambda: self._forget([*self._before, *self._mine]))

    def show(self, scenes: list[bytes], names: list[str] | None = None) -> None:
        """Shows other scenes; the time stays the same."""
        self._forget(self._before)
        self._before = self._mine  # the browser may be asking for it right now
        self._mine = [str(next(_numbers)) for _ in scenes]
        SCENES.update(zip(self._mine, scenes, strict=True))
        self._props["sources"] = [f"{ROUTE}/{number}" for number in self._mine]
        self._props["names"] = names or []
        self.update()

    def follow(self, charts: list[Any]) -> None:
        """Charts that show the time of the player, and set it when they are clicked."""
        self._props["charts"] = [chart.id for chart in charts]
        self.update()

    def mark(self, name: str) -> None:
        """Show the nodes of a set; an empty name: of none."""
        self._props["marked"] = name
        self.update()

    def _forget(self, numbers: list[str]) -> None:
        for name in numbers:
            SCENES.pop(name, None)


@app.get(ROUTE + "/{number}")
def scene(number: str) -> Response:
    """A scene as JSON; gone where its page is gone."""
    found = SCENES.get(number)
    headers, status = {"Cache-Control": "no-store"}, 200 if found else 404
    return Response(found, media_type="application/json", headers=headers, status_code=status)


LEAST_PAUSE = 1.5
"""Seconds between two looks at the tables of a run in progress; five times as long as a look takes, at least."""
BEGINNING = "reading the deck"


class OutcomePanel:
    """A part of the page; hidden until there is something to show, and in view when a run starts."""

    def __init__(self, workplace: Workplace, on_end: Callable[[], Any] = lambda: None) -> None:
        self._workplace, self._on_end = workplace, on_end
        self._folders: list[Path] = []
        self._names: list[str] = []
        self._runs: list[Solver | None] = []
        self._stamp: tuple[object, ...] = ()
        self._due = 0.0
        self._reading: asyncio.Task[None] | None = None
        self._told: list[ShownProgress | None] = []
        self._is_small = False
        self._groups: dict[str, Group] = {}
        self._unit = ""
        self._charts: list[tuple[str, Any]] = []
        with ui.column().classes("w-full gap-2 fem-outcome") as self._all:
            self._build()
        self._all.visible = False
        self._all.client.on_delete(self._leave)
        ui.timer(0.3, self._look)

    def _build(self) -> None:
        with ui.row().classes("w-full items-center gap-x-3 gap-y-1"):
            self._verdict = ui.label().classes("text-weight-medium").props("data-testid=verdict")
            self._said = ui.label().classes("fem-quiet grow max-sm:order-last").props("data-testid=progress")
            self._stop = ui.button("Stop", icon="stop", color="negative", on_click=self.stop)
            self._stop.props("outline dense no-caps data-testid=stop")
            up = ui.button("Top", icon="arrow_upward", on_click=lambda: ui.run_javascript("scrollTo({top: 0})"))
            up.props("flat dense no-caps")
        self._bar = ui.linear_progress(0.0, show_value=False).props("rounded")
        self._failure = ui.label().classes("fem-failure").props("data-testid=failure")
        self._remarks = ui.label().classes("fem-quiet").props("data-testid=remarks")
        with ui.element("div").classes("fem-two"):
            with ui.column().classes("w-full gap-2"):
                self._player = Player()
                self._downloads = Downloads(self._workplace)
            with ui.column().classes("w-full gap-1"):
                self._tabs = ui.tabs(on_change=self._draw).props("dense no-caps align=left inline-label mobile-arrows")
                self._tabs.classes("w-full")
                self._reason = ui.label().classes("fem-quiet")
                self._panels = ui.column().classes("w-full gap-1")

    def show(
        self, folders: Sequence[Path], runs: Sequence[Solver | None], deck: Path | None = None,
        names: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Shows other folders, with the processes of this program that write into them, their deck, and their names.
        All that is shown or being read of the folders before is discarded."""
        self._leave()
        self._folders, self._runs, self._told, self._names = list(folders), list(runs), [], list(names)
        self._stamp, self._due, self._groups, self._charts = (), 0.0, {}, []
        self._all.visible = True
        self._player.show([])
        self._player.follow([])
        self._panels.clear()
        self._tabs.clear()
        with self._tabs:
            names = [*([DISTANCE] if len(folders) > 1 else []), *GROUPS]
            for name in names:
                ui.tab(name)
        self._tabs.value = names[0]
        self._draw()
        self._remarks.text = ""
        self._downloads.show(self._folders[0], deck)
        self._tell()
        if self.is_running:  # once the page has it, the picture comes into view
            self._all.client.run_javascript(f"setTimeout(() => getHtmlElement({self._all.id})?.scrollIntoView(), 100)")

    def _leave(self) -> None:
        """Ends the reader whose result is no longer needed."""
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    @property
    def is_running(self) -> bool:
        return any(run is not None and run.is_running for run in self._runs)

    def stop(self) -> None:
        for run in self._runs:
            if run is not None:
                run.stop()
        self._tell()

    def _tell(self) -> None:
        run, going = self._runs[0], self.is_running
        progress = self._told[0] if self._told else None
        self._verdict.text = verdict_of(progress, run) if self._told or going else "opening"
        said = progress.said() if progress and progress.increment else ""
        self._said.text = said or (BEGINNING if going else "")
        self._bar.value = min((each.fraction or 0.0 if each else 0.0 for each in self._told), default=0.0)
        self._bar.visible = self._stop.visible = going
        failures = [each.failure for each in self._runs if each is not None and each.failure]
        self._failure.text = failures[0] if failures else ""
        self._failure.visible = bool(failures)

    async def _look(self) -> None:
        """Tell, and read the files where they have changed, or where charts are asked for that were not read."""
        if not self._folders:
            return
        folders = self._folders
        told, stamp, is_small = await asyncio.to_thread(_state_of, folders, self._runs)
        if folders is not self._folders or self._all.is_deleted:
            return
        was_running = self._stop.visible
        self._told, self._is_small = told, is_small
        self._tell()
        if was_running and not self.is_running:
            self._due = 0.0
            self._on_end()
        if self._reading is not None:
            return
        if stamp != self._stamp and time.monotonic() >= self._due:
            self._begin(stamp, [str(self._tabs.value)], True)
        elif self._stamp:  # charts that are looked at; of a run that has ended all, so that they are at hand
            lacking = [str(self._tabs.value)] if self._tabs.value not in self._groups else []
            if not lacking and not self.is_running and self._is_small:
                lacking = [name for name in GROUPS if name not in self._groups]
            if lacking:
                self._begin(self._stamp, lacking, False)

    def _begin(self, stamp: tuple[object, ...], names: list[str], has_scenes: bool) -> None:
        self._reading = background_tasks.create(self._read(stamp, names, has_scenes))

    async def _read(self, stamp: tuple[object, ...], names: list[str], has_scenes: bool) -> None:
        """In a process. Cancelled where something else is to be shown: it then takes nothing over."""
        begun = time.monotonic()
        seen = await self._workplace.readers.read(self._folders, names, has_scenes)
        self._reading, self._due = None, time.monotonic() + max(LEAST_PAUSE, 5.0 * (time.monotonic() - begun))
        if seen is None:  # not repeatedly
            self._groups |= {name: Group(name, (), "nothing can be read yet") for name in names}
        elif not self._all.is_deleted:
            self._take(seen, stamp)

    def _take(self, seen: FolderContent, stamp: tuple[object, ...]) -> None:
        if stamp != self._stamp:
            self._stamp, self._groups = stamp, {}
            if seen.scenes:
                self._player.show(seen.scenes, self._names if len(seen.scenes) > 1 else None)
            self._remarks.text = "" if self.is_running and not seen.scenes else "\n".join(seen.remarks)
        self._groups |= seen.groups
        self._unit = seen.unit
        self._draw()

    def _draw(self) -> None:
        """The charts of the chosen group; those that are there stay, with other numbers."""
        group = self._groups.get(str(self._tabs.value))
        self._reason.text = group.reason if group else "reading ..."
        if group is None:
            if self._charts and self._charts[0][0].split(":")[0] != self._tabs.value:
                self._panels.clear()
                self._charts = []
            return
        titles = [f"{group.name}:{panel.title}" for panel in group.panels]
        if titles and titles == [title for title, _ in self._charts]:
            for (_, each), panel in zip(self._charts, group.panels, strict=True):
                each.options.clear()
                each.options.update(options_of(panel, self._unit))
                each.update()
            return
        self._panels.clear()
        with self._panels:
            pairs = zip(titles, group.panels, strict=True)
            self._charts = [(title, chart(panel, self._unit)) for title, panel in pairs]
        self._player.follow([each for _, each in self._charts])


def _state_of(
    folders: Sequence[Path], runs: Sequence[Solver | None]
) -> tuple[list[ShownProgress | None], tuple[object, ...], bool]:
    """How far runs are, what changes when their files do, and whether all charts are read at once. Reads files."""
    told = [each.progress() for each in runs if each is not None] or [progress_of(folders[0])]
    stamp: list[object] = []
    for path in (folder / name for folder in folders for name in ("run.json", "increments.csv", "nodes.csv")):
        try:
            status = path.stat()
            stamp += [status.st_mtime_ns, status.st_size]
        except OSError:
            stamp.append(None)
    return told, tuple(stamp), is_small(folders[0])


FILMS = {"GIF": ".gif", "MP4": ".mp4", "HTML page": ".html"}


class Downloads:
    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._folder = Path()
        self._deck: Path | None = None
        with ui.row().classes("items-center gap-2"):
            self._button = ui.button("Deck", on_click=lambda: self._deck and self._send(self._deck))
            self._button.props("flat dense no-caps icon=download")
            with ui.dropdown_button("Tables (CSV)", auto_close=True).props("flat dense no-caps"):
                for name in (f"{table}.csv" for table in TABLES):
                    ui.item(name, on_click=lambda name=name: self._send(self._folder / name))
            with ui.dropdown_button("Film", auto_close=True).props("flat dense no-caps"):
                for name, ending in FILMS.items():
                    ui.item(name, on_click=lambda ending=ending: self._make("animate", f"motion{ending}"))
            report = ui.button("Report", on_click=lambda: self._make("report", "report.html"))
            report.props("flat dense no-caps icon=download")
            self._said = ui.label().classes("fem-quiet")

    def show(self, folder: Path, deck: Path | None) -> None:
        """Of another run; ``deck`` None: it is not there any more."""
        self._folder, self._deck = folder, deck
        self._button.visible = deck is not None
        self._said.text = ""

    def _send(self, path: Path) -> None:
        if path.is_file():
            ui.download.file(path, path.name)
        else:
            self._said.text = f"this run has no {path.name}"

    async def _make(self, command: str, name: str) -> None:
        """A film or a report, by a process of its own."""
        folder, stem = self._folder, (self._deck or self._folder).stem
        path = self._workplace.new_folder(command) / name
        self._said.text = f"making {name} ..."
        process = self._workplace.command([command, str(folder.resolve()), "--output", str(path)], path.parent)
        while process.is_running:
            await asyncio.sleep(0.2)
        self._said.text = "" if path.is_file() else process.failure or f"{name} was not made"
        if path.is_file():
            ui.download.file(path, f"{stem}{path.suffix}")
