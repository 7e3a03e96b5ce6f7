"""The player: a model in the plane or in space, moving, with its colours; the clock of the charts beside it."""

from __future__ import annotations

from itertools import count
from typing import Any

from nicegui import app, ui
from starlette.responses import Response

ROUTE = "/scenes"
SCENES: dict[str, bytes] = {}
"""What players that are open show."""
_numbers = count(1)


class Player(ui.element, component="player.js"):  # type: ignore[call-arg]
    """Shows one scene (``fem.app.data.scene``), or two side by side by one clock."""

    def __init__(self) -> None:
        super().__init__()
        self._props["sources"] = []
        self._props["names"] = []
        self._props["charts"] = []
        self._mine: list[str] = []
        self._before: list[str] = []
        self.client.on_delete(lambda: self._forget([*self._before, *self._mine]))

    def show(self, scenes: list[bytes], names: list[str] | None = None) -> None:
        """Other scenes; the place in time stays."""
        self._forget(self._before)
        self._before = self._mine  # the browser may be asking for it right now
        self._mine = [str(next(_numbers)) for _ in scenes]
        SCENES.update(zip(self._mine, scenes, strict=True))
        self._props["sources"] = [f"{ROUTE}/{number}" for number in self._mine]
        self._props["names"] = names or []
        self.update()

    def follow(self, charts: list[Any]) -> None:
        """Charts that show the time of the player, and lead it where they are clicked."""
        self._props["charts"] = [chart.id for chart in charts]
        self.update()

    def mark(self, name: str) -> None:
        """Show the nodes of a set; an empty name: of none."""
        self._props["marked"] = name
        self.update()

    def _forget(self, numbers: list[str]) -> None:
        for number in numbers:
            SCENES.pop(number, None)


@app.get(ROUTE + "/{number}")
def scene(number: str) -> Response:
    """A scene as JSON; gone where its page is gone."""
    found = SCENES.get(number)
    return Response(found, media_type="application/json", headers={"Cache-Control": "no-store"},
                    status_code=200 if found else 404)  # fmt: skip
