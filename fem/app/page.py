"""The page and its four tabs: a pendulum, a line between two ends, any deck, any results."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from fem.app import deck_text
from fem.app.chaos import ChaosPanel
from fem.app.outcome import NumberField, OutcomePanel, Player, chart, not_negative, positive, read_number, whole
from fem.app.pendulum import PendulumPlace
from fem.app.scene import REST, along, bar_tensions, sketch_of
from fem.app.solver import Solver, Workplace, verdict_of
from fem.commands.example import shipped
from fem.errors import CommandError
from fem.lines import spans
from fem.lines.spans import MEASURES, LineSpan, section_of
from fem.model import Model
from fem.runs.read import Missing, open_results

PAUSE = 0.3
"""Seconds after the last key before the text is read."""
MOST_SLIDERS = 40
STEPS = 200
MOST_FINDINGS = 20
SKETCH = "Drag to move or turn, hover for labels. Triangles: supports; green arrows: loads of the first step."
EXAMPLE = Path(__file__).with_name("string.inp")


class DeckPlace:
    """An editor and what its text describes."""

    def __init__(self, workplace: Workplace, deck: Path | None) -> None:
        self._workplace = workplace
        self._source: Path | None = None
        self._judged: deck_text.Judged | None = None
        self._due: float | None = None
        self._name = "deck.inp"
        self._sliders: dict[str, tuple[Any, Any]] = {}
        self._is_setting = self._is_copying = False
        self._build_open()
        with ui.element("div").classes("fem-two"):
            with ui.column().classes("w-full gap-2"):
                self._editor = ui.codemirror("", on_change=self._typed).classes("fem-editor")
                self._findings = ui.column().classes("w-full gap-1 fem-findings").props("data-testid=findings")
                with ui.row().classes("w-full items-center gap-3"):
                    self._run = ui.button("Run", icon="play_arrow", on_click=self._start)
                    self._run.props("no-caps data-testid=run-deck")
                    self._keep = ui.input("keep the results in", placeholder="a temporary folder")
                    self._keep.props("dense outlined stack-label")
            with ui.column().classes("w-full gap-2"):
                self._player = Player()
                self._sets = ui.select([""], value="", label="show a set", on_change=self._mark).props("dense outlined")
                self._sets.classes("fem-choice")
                self._sketch = ui.label().classes("fem-quiet")
                self._parameters = ui.element("div").classes("fem-parameters w-full")
                with ui.expansion("Chaos: section and Lyapunov exponent").props("dense").classes("w-full"):
                    self._chaos = ChaosPanel(workplace, self._write, has_section=True)
                with ui.expansion("What the deck describes").props("dense").classes("w-full"):
                    self._description = ui.label().classes("fem-said")
        self._outcome = OutcomePanel(workplace, self._follow)
        ui.timer(0.1, self._look)
        if deck:
            background_tasks.create(self._load(deck))
        else:
            self._set(EXAMPLE.read_text(encoding="utf-8"), EXAMPLE.name)

    def _build_open(self) -> None:
        with ui.row().classes("w-full items-center gap-2"):
            self._path = ui.input("deck (.inp)", placeholder="inputs/sdnl100.inp").props("dense outlined")
            self._path.classes("grow").props("data-testid=deck")
            self._path.on("keydown.enter", lambda: self._load(Path(self._path.value or "")))
            show = ui.button("Open", on_click=lambda: self._load(Path(self._path.value or "")))
            show.props("no-caps data-testid=open-deck")
            upload = ui.upload(on_upload=self._uploaded, auto_upload=True, max_file_size=deck_text.MOST_TEXT)
            upload.classes("hidden")
            names = {str(path): path.stem for path in sorted((shipped() / "inputs").glob("*.inp"))}
            examples = ui.select(names, label="examples", on_change=lambda event: self._load(Path(event.value)))
            examples.props("dense outlined").classes("fem-examples")
            ui.button("Upload", on_click=lambda: upload.run_method("pickFiles")).props("outline no-caps")
        self._wrong = ui.label().classes("fem-failure").props("data-testid=deck-wrong")

    async def _load(self, path: Path) -> None:
        try:
            path = path.expanduser()
            text = await asyncio.to_thread(deck_text.read_deck_text, path)
        except (OSError, ValueError, RuntimeError) as error:
            self._wrong.text = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
            return
        self._source = path
        self._path.value = str(path)
        self._set(text, path.name)

    async def _uploaded(self, event: Any) -> None:
        try:
            text = deck_text.as_text(await event.file.read(), event.file.name)
        except ValueError as error:
            self._wrong.text = str(error)
            return
        self._source = None
        self._set(text, Path(event.file.name).name)

    def _set(self, text: str, name: str) -> None:
        self._name, self._wrong.text = name, ""
        self._editor.value = text.replace("\r\n", "\n")
        self._typed(pause=0.0)

    # ------------------------------------------------------------------------------------------ what the text says
    def _typed(self, *_: object, pause: float = PAUSE) -> None:
        """The text is other: it is read once nobody has typed for a moment."""
        self._judged, self._due = None, time.monotonic() + pause
        self._follow()

    async def _look(self) -> None:
        """Read and check the text where it is due."""
        if self._due is None or time.monotonic() < self._due:
            return
        self._due, text = None, str(self._editor.value or "")
        folder = self._source.parent if self._source else None
        judged = await asyncio.to_thread(deck_text.judge, text, self._name, folder)
        if text == self._editor.value:
            self._judged = judged
            self._show(judged, text)

    def _show(self, judged: deck_text.Judged, text: str) -> None:
        marked = [finding for finding in judged.findings if finding.line]
        lines = {finding.line: "fem-bad-line" if finding.is_error else "fem-odd-line" for finding in marked}
        count = text.count("\n") + 1
        there = [(line, look) for line, look in sorted(lines.items()) if line <= count]
        self._editor.decorations = [{"kind": "line", "line": line, "class": look} for line, look in there]
        self._findings.clear()
        with self._findings:
            self._list(judged)
        self._fill_parameters(deck_text.parameters_of(text))
        self._description.text = "\n".join(judged.description)
        if judged.model is not None:
            self._draw(judged.model)
        self._follow()

    def _list(self, judged: deck_text.Judged) -> None:
        errors = sum(finding.is_error for finding in judged.findings)
        others = len(judged.findings) - errors
        heads = f"{errors} error{'s' * (errors != 1)}" if errors else "the deck can be run"
        ui.label(heads + (f", {others} remark{'s' * (others != 1)}" if others else "")).classes("text-weight-medium")
        for finding in judged.findings[:MOST_FINDINGS]:
            label = ui.label(finding.said()).classes("fem-finding fem-failure" if finding.is_error else "fem-finding")
            if finding.line:
                label.classes("cursor-pointer").on("click", lambda line=finding.line: self._editor.reveal_line(line))
        if len(judged.findings) > MOST_FINDINGS:
            ui.label(f"and {len(judged.findings) - MOST_FINDINGS} more").classes("fem-quiet")

    def _draw(self, model: Model) -> None:
        names = ["", *sorted(model.mesh.node_sets), *sorted(f"{name} (elements)" for name in model.mesh.element_sets)]
        self._sets.set_options({name: name or "none" for name in names}, value="")
        try:
            self._player.show([sketch_of(model)])
            self._sketch.text = SKETCH
        except Missing as error:
            self._player.show([])
            self._sketch.text = str(error)

    def _mark(self) -> None:
        self._player.mark(str(self._sets.value or ""))

    # ------------------------------------------------------------------------------------------ parameters
    def _fill_parameters(self, found: list[deck_text.DeckNumber]) -> None:
        """A field and a slider for each; those that are there stay, with other numbers."""
        found = found[:MOST_SLIDERS]
        self._is_setting = True
        if [each.name for each in found] != list(self._sliders):
            self._parameters.clear()
            with self._parameters:
                self._sliders = {each.name: self._slider(each) for each in found}
        for each in found:
            field, slider = self._sliders[each.name]
            if read_number(field.value)[0] != each.value:
                field.value = each.text
            slider.value = each.value
        self._is_setting = False

    def _slider(self, parameter: deck_text.DeckNumber) -> tuple[Any, Any]:
        name, twice = parameter.name, 2.0 * parameter.value
        low, high = (min(0.0, twice), max(0.0, twice)) if twice else (-1.0, 1.0)
        field = ui.input(name, value=parameter.text, validation=lambda text: read_number(text)[1] or None)
        field.props("dense outlined hide-bottom-space inputmode=decimal").props(f"data-testid=parameter-{name}")
        slider = ui.slider(min=low, max=high, step=(high - low) / STEPS, value=parameter.value)
        slider.props(f'dense aria-label="{name}"')
        field.on_value_change(lambda event: self._put(name, read_number(event.value)[0]))
        slider.on("change", lambda event: self._put(name, float(event.args)))
        return field, slider

    def _put(self, name: str, value: float | None) -> None:
        text = str(self._editor.value or "")
        if self._is_setting or value is None:
            return
        for parameter in deck_text.parameters_of(text):
            if parameter.name == name and parameter.value != value:
                self._editor.value = deck_text.with_value(text, name, value)
                self._typed()

    # ------------------------------------------------------------------------------------------ runs
    def _follow(self) -> None:
        """A deck without errors can be run, one at a time."""
        model = self._judged.model if self._judged else None
        self._run.set_enabled(model is not None and not self._outcome.is_running)
        self._chaos.set_enabled(model is not None)

    async def _write(self) -> Path | None:
        """A copy of the deck in a folder of its own; None: it has errors, or is being copied.
        CommandError: a file that it reads is gone."""
        if self._judged is None or self._is_copying:
            return None
        place, text = self._workplace.new_folder(Path(self._name).stem), str(self._editor.value)
        self._is_copying = True
        try:
            given = text, place, self._name, self._judged.model, self._source
            return await asyncio.to_thread(deck_text.write_copy, *given)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        finally:
            self._is_copying = False

    async def _start(self) -> None:
        try:
            deck = None if self._outcome.is_running else await self._write()
        except CommandError as error:
            self._wrong.text = str(error)
            return
        if deck is None:
            return
        kept = str(self._keep.value or "").strip()
        folder = Path(kept).expanduser().absolute() if kept else deck.parent / "results"
        self._outcome.show([folder], [self._workplace.solve(deck, folder)], deck)
        self._follow()


UNITS = {"length": "m", "tension": "N", "sag": "m"}
SECTIONS = ("R4-studless-142", "R3-studlink-76", "studless-100", "wire-90", "polyester-200", "drake", "dove")


class LinePlace:
    """A form, the line at rest, and what its run gives."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._due: float | None = 0.0
        self._text = ""
        with ui.element("div").classes("fem-two"):
            with ui.column().classes("w-full gap-3"):
                self._build()
                with ui.row().classes("w-full items-center gap-3"):
                    self._run = ui.button("Run", icon="play_arrow", on_click=self._start)
                    self._run.props("no-caps data-testid=run-line")
                    self._wrong = ui.label().classes("fem-failure grow").props("data-testid=line-wrong")
            with ui.column().classes("w-full gap-2"):
                self._player = Player()
                self._numbers = ui.label().classes("fem-said").props("data-testid=line-numbers")
                self._chart = ui.column().classes("w-full")
        self._outcome = OutcomePanel(workplace, self._follow)
        ui.timer(0.1, self._look)

    def _field(self, label: str, text: str = "", check: Any = None, unit: str = "m", hint: str = "") -> NumberField:
        return NumberField(label, text, check=check, unit=unit, is_optional=True, on_change=self._typed, hint=hint)

    def _build(self) -> None:
        ui.label("Ends of the line; z points up, the water surface is at z = 0").classes("fem-quiet")
        with ui.element("div").classes("fem-three"):
            anchor, fairlead = {"x": "0", "y": "0", "z": "-200"}, {"x": "800", "y": "0", "z": "-14"}
            self._first = [self._field(f"anchor {axis}", text) for axis, text in anchor.items()]
            self._last = [self._field(f"fairlead {axis}", text) for axis, text in fairlead.items()]
        with ui.element("div").classes("fem-three"):
            self._measure = ui.select(list(MEASURES), value="length", label="specified by", on_change=self._measured)
            self._measure.props("dense outlined")
            self._value = self._field("value", "850", positive)
            typed = {"on_change": self._typed, "with_input": True, "new_value_mode": "add-unique"}
            self._section = ui.select(list(SECTIONS), value=SECTIONS[0], label="section", **typed)
            self._section.props("dense outlined")
        with ui.element("div").classes("fem-three"):
            self._depth = self._field("water depth", "200", positive, hint="empty: the line is in air")
            self._friction = self._field("seabed friction", "1", not_negative, "")
            self._bars = self._field("number of bars", "80", whole(2, 2000, "bars"), "")
            self._stream = [self._field(f"current (wind) {axis}", "", None, "m/s") for axis in "xy"]
        ui.label("Motion of the fairlead, a cosine; empty: it is fixed").classes("fem-quiet")
        with ui.element("div").classes("fem-three"):
            self._motion = [self._field(f"amplitude {axis}") for axis in "xyz"]
            self._period = self._field("period", "", positive, "s")
            self._time = self._field("time", "", positive, "s", "empty: 10 periods")
            self._dt = self._field("increment dt", "", positive, "s", "empty: 1/200 of a period")

    def _measured(self) -> None:
        self._value.input.props(f'suffix="{UNITS[str(self._measure.value)]}"')
        self._typed()

    def _typed(self, *_: object) -> None:
        self._due = time.monotonic() + PAUSE

    def _read(self) -> LineSpan:
        """CommandError: a field is wrong, or there is no such line."""
        fields = [*self._first, *self._last, self._value, self._depth, self._friction, self._bars]
        fields += [*self._stream, *self._motion, self._period, self._time, self._dt]
        for field in fields:
            if field.wrong:
                raise CommandError(f"{field.label}: {field.wrong}")
        if self._value.value is None:
            raise CommandError(f"the {self._measure.value} is missing")
        if self._time.value and self._dt.value and self._time.value / self._dt.value > deck_text.MOST_INCREMENTS:
            raise CommandError(f"at most {deck_text.MOST_INCREMENTS:,} increments: raise dt or shorten the time")

        def vector(fields: list[NumberField]) -> Any:
            return tuple(field.value or 0.0 for field in fields)

        return LineSpan(
            vector(self._first), vector(self._last), section_of(str(self._section.value)), str(self._measure.value),
            self._value.value, self._depth.value, self._friction.value or 0.0, vector(self._stream),
            vector(self._motion), self._period.value or 0.0, bars=int(self._bars.value or 50),
            time=self._time.value or 0.0, dt=self._dt.value or 0.0,
        )  # fmt: skip

    async def _look(self) -> None:
        """Find the equilibrium again when numbers have changed."""
        if self._due is None or time.monotonic() < self._due:
            return
        self._due, self._text = None, ""
        try:
            text = spans.deck_text(self._read())
            judged = await asyncio.to_thread(deck_text.judge, text, "line.inp")
            errors = [finding.text for finding in judged.findings if finding.is_error]
            if errors or judged.model is None:
                raise CommandError(errors[0] if errors else "no equilibrium of the line was found")
        except CommandError as error:
            self._wrong.text = str(error)
        else:
            self._text, self._wrong.text = text, ""
            self._show(judged)
        self._follow()

    def _show(self, judged: deck_text.Judged) -> None:
        assert judged.model is not None
        tension = bar_tensions(judged.model)
        self._player.show([sketch_of(judged.model, tension)])
        self._numbers.text = "\n".join(notice for notice in judged.model.notices if "natural length" in notice)
        self._chart.clear()
        with self._chart:
            chart(along(judged.model, tension), "m", REST)

    def _follow(self) -> None:
        self._run.set_enabled(bool(self._text) and not self._outcome.is_running)

    def _start(self) -> None:
        if not self._text or self._outcome.is_running:
            return
        deck = self._workplace.new_folder("line") / "line.inp"
        deck.write_text(self._text, encoding="utf-8", newline="")
        folder = deck.parent / "results"
        self._outcome.show([folder], [self._workplace.solve(deck, folder)], deck)
        self._follow()


NAMES = """<script>
const named = {
  ".cm-content": {"aria-label": "text of the deck", tabindex: "0"},
  ".fem-drawing img": {alt: "the pendulum as drawn"},
};
new MutationObserver(() => {
  for (const [where, attributes] of Object.entries(named))
    for (const each of document.querySelectorAll(where))
      for (const [name, text] of Object.entries(attributes)) each.hasAttribute(name) || each.setAttribute(name, text);
}).observe(document, {childList: true, subtree: true});
</script>"""
"""Names for parts of NiceGUI's elements that it gives none."""
STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


class Tab:
    """All of one tab of a browser; nothing of it is shared with another."""

    def __init__(self, workplace: Workplace, start: Path | None) -> None:
        self._workplace = workplace
        self._deck = start if start is not None and start.is_file() else None
        self._folder = start if start is not None and start.is_dir() else None

    def build(self) -> None:
        ui.colors(primary="#0072B2", secondary="#56B4E9", accent="#009E73", negative="#c4451c")
        ui.add_css(STYLE)
        ui.add_head_html(NAMES)
        dark = ui.dark_mode(None)
        first = "Results" if self._folder else "Deck" if self._deck else "Pendulum"
        with ui.header().classes("fem-header items-center no-wrap gap-4"):
            ui.label("fem").classes("fem-name").props("role=heading aria-level=1")
            with ui.tabs(value=first).props("dense no-caps inline-label shrink") as tabs:
                for name in ("Pendulum", "Line", "Deck", "Results"):
                    ui.tab(name)
            ui.space()
            theme = ui.button("Theme", icon="contrast").props("flat dense no-caps color=grey")
            with theme.props('title="light or dark" aria-label="theme: light or dark"'), ui.menu():
                for name, value in (("same as the system", None), ("light", False), ("dark", True)):
                    ui.menu_item(name, on_click=lambda value=value: dark.set_value(value))
        with ui.tab_panels(tabs, value=first, animated=False).props("keep-alive").classes("w-full fem-page"):
            with ui.tab_panel("Pendulum"):
                PendulumPlace(self._workplace)
            with ui.tab_panel("Line"):
                LinePlace(self._workplace)
            with ui.tab_panel("Deck"):
                DeckPlace(self._workplace, self._deck)
            with ui.tab_panel("Results"):
                ResultsPlace(self._workplace, self._folder)


class ResultsPlace:
    """A field for a folder, the runs of this program, and what the folder holds."""

    def __init__(self, workplace: Workplace, folder: Path | None) -> None:
        self._workplace = workplace
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            self._folder = ui.input("folder of results", value=str(folder or ""), placeholder="results/sdnl100")
            self._folder.props("dense outlined data-testid=folder").classes("grow").on("keydown.enter", self._open)
            ui.button("Open", on_click=self._open).props("no-caps").props("data-testid=open")
        self._wrong = ui.label().classes("fem-failure").props("data-testid=folder-wrong")
        with ui.expansion("Runs since the program was started").props("dense").classes("w-full") as self._list:
            self._runs = ui.column().classes("gap-1")
        self._list.on_value_change(self._fill)
        self._outcome = OutcomePanel(workplace)
        if folder is not None:
            background_tasks.create(self._open())

    async def _open(self) -> None:
        text = str(self._folder.value or "").strip()
        folder = Path(text).expanduser()
        try:
            if not text:
                raise CommandError("enter a folder of results, for example results/<deck name>")
            run, deck = await asyncio.to_thread(self._found, folder)
            self._wrong.text = ""
        except CommandError as error:
            self._wrong.text = str(error)
            return
        self._outcome.show([folder], [run], deck)

    def _found(self, folder: Path) -> tuple[Solver | None, Path | None]:
        """The run in progress there, if this program started it, and the deck, if any. CommandError: no results."""
        run = self._workplace.of_folder(folder)
        deck = run.deck if run else open_results(folder).deck
        return run, deck if deck is not None and deck.is_file() else None

    async def _fill(self) -> None:
        solved = [run for run in self._workplace.runs if run.folder is not None]
        verdicts = await asyncio.to_thread(lambda: [verdict_of(run.progress(), run) for run in solved])
        self._runs.clear()
        with self._runs:
            for run, verdict in zip(reversed(solved), reversed(verdicts), strict=True):
                name = f"{run.deck.name if run.deck else ''}: {verdict}"
                ui.link(name).on("click.prevent", lambda run=run: self._choose(str(run.folder)))
            if not solved:
                ui.label("none yet").classes("fem-quiet")

    async def _choose(self, folder: str) -> None:
        self._folder.value = folder
        await self._open()
