"""The page: its head and its four places."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from fem.app.places.deck import DeckPlace
from fem.app.places.line import LinePlace
from fem.app.places.pendulum import PendulumPlace
from fem.app.places.results import ResultsPlace
from fem.app.solver import Workplace

STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


class Page:
    """All of one tab of a browser; nothing of it is shared with another."""

    def __init__(self, workplace: Workplace, start: Path | None) -> None:
        self._workplace = workplace
        self._deck = start if start is not None and start.is_file() else None
        self._folder = start if start is not None and start.is_dir() else None

    def build(self) -> None:
        ui.colors(primary="#0072B2", secondary="#56B4E9", accent="#009E73", negative="#c4451c")
        ui.add_css(STYLE)
        dark = ui.dark_mode(None)
        first = "Results" if self._folder else "Deck" if self._deck else "Pendulum"
        with ui.header().classes("fem-header items-center no-wrap gap-4"):
            ui.label("fem").classes("fem-name")
            with ui.tabs(value=first).props("dense no-caps inline-label shrink") as tabs:
                for name in ("Pendulum", "Line", "Deck", "Results"):
                    ui.tab(name)
            ui.space()
            with ui.button(icon="contrast").props("flat round dense color=grey").tooltip("light or dark"), ui.menu():
                for name, value in (("as the system", None), ("light", False), ("dark", True)):
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
