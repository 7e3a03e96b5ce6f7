"""Files to take away: the deck that was run, its tables, films."""

from __future__ import annotations

import asyncio
from pathlib import Path

from nicegui import ui

from fem.app.solver import Workplace

TABLES = ("nodes.csv", "elements.csv", "increments.csv", "events.csv", "touchdown.csv", "waves.csv", "frequencies.csv")
FILMS = {"GIF": ".gif", "MP4": ".mp4", "HTML page": ".html"}


class Downloads:
    """Buttons below the player."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._folder = Path()
        self._deck: Path | None = None
        with ui.row().classes("items-center gap-2"):
            self._button = ui.button("Deck", on_click=self._send_deck).props("flat dense no-caps icon=download")
            with ui.dropdown_button("Tables (CSV)", auto_close=True).props("flat dense no-caps"):
                for name in TABLES:
                    ui.item(name, on_click=lambda name=name: self._send(self._folder / name))
            with ui.dropdown_button("Film", auto_close=True).props("flat dense no-caps"):
                for name, ending in FILMS.items():
                    ui.item(name, on_click=lambda ending=ending: self._film(ending))
            self._said = ui.label().classes("fem-quiet")

    def show(self, folder: Path, deck: Path | None) -> None:
        """Of another run; ``deck`` None: it is not there any more."""
        self._folder, self._deck = folder, deck
        self._button.visible = deck is not None
        self._said.text = ""

    def _send_deck(self) -> None:
        if self._deck is not None:
            self._send(self._deck)

    def _send(self, path: Path) -> None:
        if path.is_file():
            ui.download.file(path, path.name)
        else:
            self._said.text = f"this run has no {path.name}"

    async def _film(self, ending: str) -> None:
        """Drawn by a process of its own."""
        folder = self._folder
        path = self._workplace.new_folder("film") / f"motion{ending}"
        self._said.text = "drawing the film ..."
        process = self._workplace.command(["animate", str(folder.resolve()), "--output", str(path)], path.parent)
        while process.is_running:
            await asyncio.sleep(0.2)
        self._said.text = "" if path.is_file() else process.failure or "no film was made"
        if path.is_file():
            ui.download.file(path, f"{folder.name}{ending}")
