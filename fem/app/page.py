"""The page: its head and its four tabs; one of them opens any folder of results, also of a run that is not over."""

from __future__ import annotations

import asyncio
from pathlib import Path

from nicegui import background_tasks, ui

from fem.app.deck import DeckPlace
from fem.app.line import LinePlace
from fem.app.outcome import Outcome
from fem.app.pendulum import PendulumPlace
from fem.app.solver import Solver, Workplace, verdict_of
from fem.errors import CommandError
from fem.runs.read import open_results

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
        self._outcome = Outcome(workplace)
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
