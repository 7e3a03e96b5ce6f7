"""Lyapunov exponent and stroboscopic section of the deck that a form describes, by the commands that have them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from nicegui import ui

from fem.app.outcome import NumberField, positive, whole
from fem.app.solver import Solver, Workplace
from fem.errors import CommandError

WORDS = {"lyapunov": "Lyapunov exponent", "sections": "Section"}
PICTURE = "section.png"
MOST_PERIODS, MOST_POINTS = 100_000, 128
PROGRESS = re.compile(r" *\d+% ")
"""Lines of the commands that say how far they are."""


class ChaosPanel:
    """Buttons, what their commands say, and the section as a picture.

    write        -> the deck, written; None: it cannot be computed now. CommandError: something is wrong with the form
    has_section  the deck may be forced with a period
    over         time of the exponent at first; empty: that of the deck
    """

    def __init__(
        self, workplace: Workplace, write: Callable[[], Awaitable[Path | None]], has_section: bool, over: str = ""
    ) -> None:
        self._workplace, self._write = workplace, write
        self._process: Solver | None = None
        self._running = ""
        self._is_enabled = True
        self._buttons: dict[str, ui.button] = {}
        with ui.row().classes("w-full items-center gap-3"):
            self._button("lyapunov")
            hint = (
                "time over which the exponent is averaged: a longer time gives a more accurate result but takes longer"
            )
            self._over = NumberField("over", over, unit="s", check=positive, is_optional=not over, hint=hint)
        self._fields = [self._over]
        if has_section:
            with ui.row().classes("w-full items-center gap-3"):
                self._button("sections")
                hint = "empty: the period of the deck's amplitude (DEFINITION=PERIODIC)"
                self._period = NumberField("every", unit="s", check=positive, is_optional=True, hint=hint)
                self._cycles = NumberField("periods", "400", check=whole(2, MOST_PERIODS, "periods"))
            self._fields += [self._period, self._cycles]
        self._said = ui.label().classes("fem-said").props("data-testid=exponent")
        self._said.visible = False
        self._place = ui.element("div").classes("w-full")

    def _button(self, command: str) -> None:
        button = ui.button(WORDS[command], on_click=lambda: self._compute(command)).props("outline no-caps")
        self._buttons[command] = button.props(f"data-testid={command}")

    def set_enabled(self, is_enabled: bool) -> None:
        """Whether there is a deck to compute; what is being computed can always be stopped."""
        self._is_enabled = is_enabled
        for command, button in self._buttons.items():
            button.set_enabled(command == self._running if self._process else is_enabled)

    def _options(self, command: str) -> list[str]:
        """CommandError: a field is wrong."""
        for field in self._fields:
            if field.wrong:
                raise CommandError(f"{field.label}: {field.wrong}")
        if command == "lyapunov":
            return ["--error", "none", *(["--time", repr(self._over.value)] if self._over.value else [])]
        cycles = int(self._cycles.value or 0)
        period = ["--period", repr(self._period.value)] if self._period.value else []
        return ["--cycles", str(cycles), "--points", str(min(cycles, MOST_POINTS)), *period]

    async def _compute(self, command: str) -> None:
        """Asked for again, it stops."""
        if self._process is not None:
            self._process.stop()
            return
        self._said.visible = True
        self._place.clear()
        try:
            options, deck = self._options(command), await self._write()
        except CommandError as error:
            self._said.text = str(error)
            return
        if deck is None:
            return
        folder = deck.parent / command
        self._said.text = f"computing: {WORDS[command]} ..."
        process = self._workplace.command([command, str(deck), *options, "--output", str(folder)], deck.parent)
        self._process, self._running, self._buttons[command].text = process, command, "Stop computing"
        self.set_enabled(self._is_enabled)
        while process.is_running:
            await asyncio.sleep(0.3)
            if PROGRESS.match(last := process.said.rpartition("\n")[2]):
                self._said.text = f"computing: {WORDS[command]}, {last.strip()}"
        self._process, self._buttons[command].text = None, WORDS[command]
        self.set_enabled(self._is_enabled)
        said = process.said.splitlines()
        lines = [line for line in said if not (line.startswith("written") or PROGRESS.match(line))]
        self._said.text = "stopped" if process.is_asked_to_stop else process.failure or "\n".join(lines)
        if (folder / PICTURE).is_file():
            with self._place:
                ui.image(folder / PICTURE).props(f'alt="stroboscopic section of {deck.stem}"').classes("fem-picture")
