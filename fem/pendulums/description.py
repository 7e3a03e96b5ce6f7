"""What a pendulum of N links is: lengths, masses, angles, speeds, bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fem.errors import CommandError

BODIES = {"bar": "uniform slender bars", "point": "point masses at the ends of massless bars"}
QUANTITIES = ("length", "mass", "angle", "speed")


@dataclass(frozen=True, slots=True)
class Pendulum:
    """N links hung from each other, the first from a fixed joint; they move in the plane x, z (up).

    lengths, masses  (N,)  of each link, positive
    angles           (N,)  at t = 0 [degrees], counter-clockwise from the downward vertical; of the second link on
                           from the direction of the previous link, unless ``absolute``
    speeds           (N,)  rates of ``angles`` [degrees per unit of time]; empty: at rest
    body             ``bar``: uniform slender bars (m L^2/12 about their centre);  ``point``: all mass at the lower ends
    stiffness        axial stiffness E A of every link; None: rods without stretch
    time, dt         duration and increment
    integrator       name in the deck; empty: the one that suits the body

    Raises CommandError on lists of different lengths and numbers out of their range.
    """

    lengths: tuple[float, ...]
    masses: tuple[float, ...]
    angles: tuple[float, ...]
    speeds: tuple[float, ...] = ()
    absolute: bool = False
    body: str = "bar"
    stiffness: float | None = None
    gravity: float = 9.81
    time: float = 10.0
    dt: float = 1e-3
    integrator: str = ""

    def __post_init__(self) -> None:
        counts = [len(values) for values in (self.lengths, self.masses, self.angles, self.speeds or self.angles)]
        if len(set(counts)) > 1 or not self.lengths:
            listed = ", ".join(f"{n} of {name}" for n, name in zip(counts, QUANTITIES, strict=True))
            raise CommandError(f"every link needs its own numbers, got {listed}")
        if self.body not in BODIES:
            raise CommandError(f"a body of a pendulum is {' or '.join(BODIES)}, not {self.body!r}")
        stiffness = () if self.stiffness is None else (self.stiffness,)
        for name, values in (("length", self.lengths), ("mass", self.masses), ("stiffness EA", stiffness)):
            for value in values:
                if value <= 0.0:
                    raise CommandError(f"a {name} must be positive, got {value:g}")
        if not 0.0 < self.dt <= self.time:
            message = f"the increment must be positive and at most the time, got {self.dt:g} and {self.time:g}"
            raise CommandError(message)

    @property
    def links(self) -> int:
        return len(self.lengths)


def per_link(values: float | Sequence[float], links: int, name: str) -> tuple[float, ...]:
    """One value per link from one for all or ``links`` values; none from none. Raises CommandError."""
    given: tuple[float, ...] = tuple(np.ravel(values).tolist())
    if len(given) not in (0, 1, links):
        message = f"{name} has {len(given)} values for {links} link{'s' * (links > 1)}"
        raise CommandError(f"{message}; give one for all, or one per link")
    return given * links if len(given) == 1 else given


def body_of(text: str) -> tuple[str, float | None]:
    """``bar``, ``point``, ``elastic:EA``, ``point:EA`` as body and axial stiffness. Raises CommandError."""
    kind, colon, number = text.strip().lower().partition(":")
    if kind not in (*BODIES, "elastic") or (kind == "elastic" and not colon):
        raise CommandError(f"unknown body {text!r}; known are bar, point, elastic:EA and point:EA")
    try:
        stiffness = float(number) if colon else None
    except ValueError:
        stiffness = math.nan
    if stiffness is not None and not 0.0 < stiffness < math.inf:
        raise CommandError(f"the axial stiffness EA in {text!r} must be a positive number")
    return "point" if kind == "point" else "bar", stiffness
