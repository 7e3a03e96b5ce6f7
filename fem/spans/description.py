"""What a line between two ends is: ends, what is given of its shape, what it is made of, what acts on it."""

from __future__ import annotations

from dataclasses import dataclass

from fem.errors import CommandError
from fem.spans.catalogue import Section
from fem.spans.record import Record

Vector = tuple[float, float, float]
MEASURES = ("length", "tension", "sag")
STILL: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Span:
    """A line from its first end (the anchor) to its last (the fairlead), z up, the water's surface at z = 0.

    measure, value  one of ``MEASURES`` and its value: natural length, tension at the last end, sag at half span
    depth     of the water; None: there is none. friction: coefficient between the line and the bottom
    stream    velocity (x, y) of the current, without water of the wind 10 above z = 0; both the same everywhere but
              that wind grows with height
    motion    amplitudes (x, y, z) of the last end, which moves as a cosine of a period; in its place a ``record``
    time, dt  of the motion; 0: 10 and 1/200 periods, or all of a record in increments of 0.05

    Raises CommandError on what cannot be.
    """

    first: Vector
    last: Vector
    section: Section
    measure: str
    value: float
    depth: float | None = None
    friction: float = 0.0
    stream: tuple[float, float] = (0.0, 0.0)
    motion: Vector = STILL
    period: float = 0.0
    record: Record | None = None
    bars: int = 50
    gravity: float = 9.81
    time: float = 0.0
    dt: float = 0.0

    def __post_init__(self) -> None:
        is_low = max(self.first[2], self.last[2]) <= 0.0
        wrong = {
            f"a {self.measure} must be positive, got {self.value:g}": not self.value > 0.0,
            "both ends of the line are in one place": self.first == self.last,
            f"the depth must be positive, got {self.depth}": self.is_wet and not (self.depth or 0.0) > 0.0,
            f"a line takes 2 bars at least, got {self.bars}": self.bars < 2,
            "a motion takes both its amplitudes and its period": any(self.motion) != (self.period > 0.0),
            "the end moves as a cosine or by a record, not both": any(self.motion) and self.record is not None,
            "friction takes a bottom: give the depth of the water": bool(self.friction) and not self.is_wet,
            "wind blows above z = 0: give the heights of the ends": self.is_streaming and not self.is_wet and is_low,
        }
        for message in (message for message, is_so in wrong.items() if is_so):
            raise CommandError(message)

    @property
    def is_moving(self) -> bool:
        return any(self.motion) or self.record is not None

    @property
    def is_streaming(self) -> bool:
        return any(self.stream)

    @property
    def is_wet(self) -> bool:
        return self.depth is not None
