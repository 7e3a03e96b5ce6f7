"""The start position of a pendulum, drawn as the form is filled in; its joints can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from nicegui import ui

from fem.app.data.links import dragged, joints_of, nearest_joint

SIZE = 460
MARGIN = 26
REACH = 18
"""Pixels of the drawing from a joint at which it is taken."""


class Drawing:
    """Joints in a square with the fixed one in its middle; ``on_drag`` is told the link (from 0) and its angle."""

    def __init__(self, on_drag: Callable[[int, float], Any]) -> None:
        self._on_drag = on_drag
        self._lengths: list[float] = []
        self._angles: list[float] = []
        self._is_absolute = False
        self._held: int | None = None
        self._image = ui.interactive_image(size=(SIZE, SIZE), sanitize=False)
        self._image.classes("fem-drawing").props("data-testid=drawing")
        self._image.on("svg:pointerdown", self._take)
        self._image.on("svg:pointermove", self._move, throttle=0.03)
        self._image.on("svg:pointerup", self._leave)
        self._image.on("svg:pointerleave", self._leave)

    def show(self, lengths: Sequence[float], angles: Sequence[float], is_absolute: bool) -> None:
        """Redraw with other numbers."""
        self._lengths, self._angles, self._is_absolute = list(lengths), list(angles), is_absolute
        self._image.content = self._content()

    @property
    def _scale(self) -> float:
        """Pixels of a length of one."""
        return (SIZE / 2 - MARGIN) / (sum(self._lengths) or 1.0)

    def _pixels(self) -> list[tuple[float, float]]:
        places = joints_of(self._lengths, self._angles, self._is_absolute)
        return [(SIZE / 2 + self._scale * x, SIZE / 2 - self._scale * z) for x, z in places]

    def _content(self) -> str:
        """SVG: the reach, the vertical, links, joints."""
        middle, pixels = SIZE / 2, self._pixels()
        reach = middle - MARGIN
        parts = [
            f'<rect width="{SIZE}" height="{SIZE}" fill="transparent" pointer-events="all" style="touch-action:none"/>',
            f'<circle class="fem-reach" cx="{middle}" cy="{middle}" r="{reach}"/>',
            f'<line class="fem-reach" x1="{middle}" y1="{middle}" x2="{middle}" y2="{middle + reach}"/>',
        ]
        for (x1, y1), (x2, y2) in pairwise(pixels):
            parts.append(f'<line class="fem-link" x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"/>')
        size = min(7.0, max(3.0, 0.3 * self._scale * min(self._lengths)))
        for joint, (x, y) in enumerate(pixels[1:], 1):
            parts.append(f'<circle class="fem-joint" id="joint-{joint}" cx="{x:.2f}" cy="{y:.2f}" r="{size:.1f}"/>')
        x, y = pixels[0]
        parts.append(f'<path class="fem-fixed" d="M{x} {y} l-9 -14 h18 z"/>')
        return "".join(parts)

    def _place(self, event: Any) -> tuple[float, float]:
        """Where the pointer is, as lengths."""
        x, y = float(event.args["image_x"]), float(event.args["image_y"])
        return (x - SIZE / 2) / self._scale, (SIZE / 2 - y) / self._scale

    def _take(self, event: Any) -> None:
        places = joints_of(self._lengths, self._angles, self._is_absolute)
        self._held = nearest_joint(places, *self._place(event), REACH / self._scale)

    def _move(self, event: Any) -> None:
        if self._held is not None and self._held <= len(self._lengths):
            place = self._place(event)
            angle = dragged(self._lengths, self._angles, self._is_absolute, self._held, *place)
            self._on_drag(self._held - 1, angle)

    def _leave(self, _: Any) -> None:
        self._held = None
