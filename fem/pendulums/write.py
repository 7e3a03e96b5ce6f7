"""``fem.pendulum``: the deck of a pendulum of N links in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fem.files.whole import write_new
from fem.pendulums.description import Pendulum, body_of, per_link
from fem.pendulums.text import deck_text


def pendulum(
    links: int,
    *,
    length: float | Sequence[float] = 1.0,
    mass: float | Sequence[float] = 1.0,
    angles: float | Sequence[float] = 30.0,
    speeds: float | Sequence[float] = (),
    absolute: bool = False,
    body: str = "bar",
    gravity: float = 9.81,
    time: float = 10.0,
    dt: float = 1e-3,
    integrator: str = "",
    output: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the deck of a pendulum, for ``fem.run``, ``fem.sweep`` and the others; its numbers are ``*PARAMETER``.

    length, mass  of the links: one number for all, or one for each
    angles        at the start [degrees]: the first from the downward vertical, each other from the previous link
    speeds        rates of these angles at the start [degrees per unit of time]; none: at rest
    absolute      angles and speeds are those from the vertical
    body          ``bar``: uniform slender bars without stretch; ``point``: point masses on massless rods;
                  ``elastic:EA``, ``point:EA``: with stretch
    time, dt      duration and increment
    integrator    TIME INTEGRATOR of the deck; empty: ENERGY MOMENTUM
    output        file of the deck; None: ``pendulum_<links>.inp`` in the current folder
    force         write over a file that holds something else

    Raises
    ------
    CommandError  numbers out of their range, or the file exists and holds something else.

    >>> deck = pendulum(2, angles=[90, 0], time=0.1)
    >>> len(fem.run(deck))
    101
    """
    form, stiffness = body_of(body)
    given = {"length": length, "mass": mass, "angles": angles, "speeds": speeds}
    lengths, masses, turns, rates = (per_link(values, links, name) for name, values in given.items())
    found = Pendulum(lengths, masses, turns, rates, absolute, form, stiffness, gravity, time, dt, integrator)
    target = Path(f"pendulum_{links}.inp") if output is None else Path(output)
    return write_new(target, deck_text(found).encode(), force)
