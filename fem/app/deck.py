"""Any deck: its text with what is wrong beside it, its parameters as fields and sliders, its mesh, its run."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from fem.app import deck_text
from fem.app.outcome import Outcome, Player, read_number
from fem.app.scene import sketch_of
from fem.app.solver import Workplace
from fem.commands.example import shipped
from fem.model import Model
from fem.runs.read import Missing

PAUSE = 0.35
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
                with ui.expansion("What the deck describes").props("dense").classes("w-full"):
                    self._description = ui.label().classes("fem-said")
        self._outcome = Outcome(workplace, self._follow)
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
            upload = ui.upload(on_upload=self._uploaded, auto_upload=True, max_file_size=deck_text.MOST_TEXT).classes(
                "hidden"
            )
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
            text = await event.file.text()
        except ValueError:
            self._wrong.text = f"{event.file.name} is not a text file in UTF-8"
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
        self._editor.decorations = [
            {"kind": "line", "line": line, "class": look} for line, look in sorted(lines.items()) if line <= count
        ]
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
            look = "fem-finding fem-failure" if finding.is_error else "fem-finding"
            label = ui.label(finding.said()).classes(look)
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
    def _fill_parameters(self, found: list[deck_text.Parameter]) -> None:
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

    def _slider(self, parameter: deck_text.Parameter) -> tuple[Any, Any]:
        name, (low, high) = parameter.name, deck_text.slider_range(parameter.value)
        field = ui.input(name, value=parameter.text, validation=lambda text: read_number(text)[1] or None)
        field.props("dense outlined hide-bottom-space inputmode=decimal").props(f"data-testid=parameter-{name}")
        slider = ui.slider(min=low, max=high, step=(high - low) / STEPS, value=parameter.value).props("dense")
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

    async def _start(self) -> None:
        if self._judged is None or self._outcome.is_running or self._is_copying:
            return
        place, text = self._workplace.new_folder(Path(self._name).stem), str(self._editor.value)
        self._is_copying = True
        try:
            deck = await asyncio.to_thread(
                deck_text.write_copy, text, place, self._name, self._judged.model, self._source
            )
        except OSError as error:  # a file that the deck reads is gone
            self._wrong.text = f"{error.filename}: {error.strerror}"
            return
        finally:
            self._is_copying = False
        kept = str(self._keep.value or "").strip()
        folder = Path(kept).expanduser().absolute() if kept else deck.parent / "results"
        self._outcome.show([folder], [self._workplace.solve(deck, folder)], deck)
        self._follow()
