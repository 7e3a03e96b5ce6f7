"""Charts of curves over time, and the player: a model in motion with its colours, whose clock the charts follow."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

from nicegui import app, ui
from starlette.responses import Response

from fem.app.data.panels import Panel

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Those of the figures: apart for colour-blind readers, on light and on dark ground."""
GREY, FAINT = "#8a8f94", "rgba(138,143,148,0.25)"
SHORT = "value => value && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3) ? value.toExponential() : String(value)"


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
                  "nameGap": 24, "max": "dataMax", **axis, "splitLine": {"show": False}},
        "yAxis": {"type": "log" if panel.is_log else "value", "scale": True, **axis},
        "series": [*map(series_of, panel.curves), now()],
    }  # fmt: skip


def series_of(curve: tuple[str, Any]) -> dict[str, Any]:
    name, points = curve
    rows = ",".join(f"[{time:.8g},{value:.7g}]" for time, value in points.tolist() if math.isfinite(value))
    look = {"type": "line", "showSymbol": False, "lineStyle": {"width": 1.4}}
    # As text: NiceGUI would watch every pair of numbers.
    return {"id": name, "name": name, **look, ":data": f"[{rows}]"}


def now() -> dict[str, Any]:
    """The vertical line that the player moves."""
    look = {"color": "#D55E00", "width": 1, "type": "solid"}
    mark = {"symbol": "none", "silent": True, "animation": False, "label": {"show": False}, "lineStyle": look}
    return {"id": "now", "type": "line", "data": [], "markLine": {**mark, "data": []}, "tooltip": {"show": False}}


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
    headers, status = {"Cache-Control": "no-store"}, 200 if found else 404
    return Response(found, media_type="application/json", headers=headers, status_code=status)
