"""A line between two ends: its shape at rest and its tensions follow the numbers as they are typed."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from nicegui import ui

from fem.app.deck_text import MOST_INCREMENTS, Judged, judge
from fem.app.outcome import NumberField, Outcome, Player, chart, not_negative, positive, whole
from fem.app.scene import REST, along, bar_tensions, said_of, sketch_of
from fem.app.solver import Workplace
from fem.errors import CommandError
from fem.tools.spans import MEASURES, Span, deck_text, section_of

PAUSE = 0.25
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
        self._outcome = Outcome(workplace, self._follow)
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

    def _read(self) -> Span:
        """CommandError: a field is wrong, or there is no such line."""
        fields = [*self._first, *self._last, self._value, self._depth, self._friction, self._bars]
        fields += [*self._stream, *self._motion, self._period, self._time, self._dt]
        for field in fields:
            if field.wrong:
                raise CommandError(f"{field.label}: {field.wrong}")
        if self._value.value is None:
            raise CommandError(f"the {self._measure.value} is missing")
        if self._time.value and self._dt.value and self._time.value / self._dt.value > MOST_INCREMENTS:
            raise CommandError(f"at most {MOST_INCREMENTS:,} increments: raise dt or shorten the time")

        def vector(fields: list[NumberField]) -> Any:
            return tuple(field.value or 0.0 for field in fields)

        return Span(
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
            text = deck_text(self._read())
            judged = await asyncio.to_thread(judge, text, "line.inp")
            errors = [finding.text for finding in judged.findings if finding.is_error]
            if errors or judged.model is None:
                raise CommandError(errors[0] if errors else "no equilibrium of the line was found")
        except CommandError as error:
            self._wrong.text = str(error)
        else:
            self._text, self._wrong.text = text, ""
            self._show(judged)
        self._follow()

    def _show(self, judged: Judged) -> None:
        assert judged.model is not None
        tension = bar_tensions(judged.model)
        self._player.show([sketch_of(judged.model, tension)])
        self._numbers.text = said_of(judged.model)
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
