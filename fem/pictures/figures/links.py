"""Figures of a chain of bars: angle and angular speed of each link, and the motion of its centre."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.pictures.folder import Results
from fem.pictures.motion import NODES, chain_of, nodes_at, plane_of, read_motion
from fem.pictures.style import AXES, MOST_CURVES, curve, finish, labelled, panels, share_of, some_of


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """k instants of p links of a chain.

    labels (p,) of the elements; every: number of links of the chain
    centre       U -> position, V, A of the middle between both ends, (k, p, 3); what was written
    direction    (k, p, 3) from the end nearer to the support to the other
    rate         (k, p, 3) its time derivative, None without V
    """

    time: Floats
    labels: list[int]
    every: int
    centre: dict[str, Floats]
    direction: Floats
    rate: Floats | None
    source: str


@lru_cache(maxsize=1)
def read_links(results: Results, variables: tuple[str, ...] = ("U", "V"), most: int = MOST_CURVES) -> Links:
    """At most ``most`` links of the chain. Missing: no chain, or no motion of both ends."""
    nodes, elements = chain_of(results)
    places = some_of(elements, most)
    labels = [elements[place] for place in places]
    first, second = [nodes[place] for place in places], [nodes[place + 1] for place in places]
    ends = list(dict.fromkeys([*first, *second]))
    motion = read_motion(results, ends, variables)
    start, end = ([ends.index(label) for label in side] for side in (first, second))
    values = dict(motion.values)
    values["U"] = values["U"] + results.mesh.coordinates[nodes_at(results, ends)]
    centre = {name: 0.5 * (part[:, start] + part[:, end]) for name, part in values.items()}
    direction = values["U"][:, end] - values["U"][:, start]
    rate = values["V"][:, end] - values["V"][:, start] if "V" in values else None
    return Links(motion.time, labels, len(elements), centre, direction, rate, motion.source)


def frame_of(results: Results) -> tuple[Floats, Floats | None, str]:
    """Down (3,), the horizontal in the plane of motion (None: the motion is in space), and the name of down.

    Down is where GRAV points; without it, or where it stands on the plane, against the plane's second axis.
    """
    axes = plane_of(results)
    down = np.zeros(3)
    gravity = results.gravity
    largest = -1 if gravity is None else int(np.argmax(np.abs(gravity)))
    if gravity is not None and largest in axes and np.count_nonzero(np.abs(gravity) > 1e-9) == 1:
        down[largest] = np.sign(gravity[largest])
    else:
        down[axes[-1]] = -1.0
    upright = int(np.argmax(np.abs(down)))
    name = f"{'−' if down[upright] < 0.0 else '+'}{AXES[upright]}"
    if len(axes) == 3:
        return down, None, name
    across = np.zeros(3)
    across[next(axis for axis in axes if axis != upright)] = 1.0
    return down, across, name


def angles_of(links: Links, down: Floats, across: Floats | None) -> tuple[Floats, Floats | None]:
    """Angle (k, p) [rad] and its rate (k, p), None without velocities.

    In a plane theta = atan2(d.h, d.g), unwrapped, theta' = (d.h' d.g - d.h d.g') / (d.h^2 + d.g^2) with the direction
    d of the link, g down, h across. In space the inclination acos(d.g / |d|), and |d x d'| / d^2.
    """
    d, rate = links.direction, links.rate
    square = np.einsum("kpi,kpi->kp", d, d)
    if across is None:
        angle = np.arccos(np.clip(d @ down / np.sqrt(square), -1.0, 1.0))
        return angle, None if rate is None else np.linalg.norm(np.cross(d, rate), axis=2) / square
    a, b = d @ across, d @ down
    angle = np.unwrap(np.arctan2(a, b), axis=0)
    return angle, None if rate is None else (rate @ across * b - a * (rate @ down)) / (a * a + b * b)


def angles(results: Results) -> Figure:
    """Angle of each link from the vertical, and its angular speed."""
    found = read_links(results)
    down, across, name = frame_of(results)
    angle, speed = angles_of(found, down, across)
    what = f"angle from {name}" if across is not None else f"inclination from {name}"
    title = f"Angles of the links{share_of(found.labels, found.every)}"
    figure, rows = panels(1 if speed is None else 2, title, height=2.5)
    for place, label in enumerate(found.labels):
        curve(rows[0][0], found.time, angle[:, place], place, f"link {label}")
        if speed is not None:
            curve(rows[1][0], found.time, speed[:, place], place)
    rows[0][0].set_ylabel(f"{what}\n[rad]")
    if speed is not None:
        rows[1][0].set_ylabel(f"angular speed\n[rad/{results.unit('time')}]")
    finish(results, rows)
    figure.set_label(found.source)
    return figure


def links(results: Results) -> Figure:
    """Position, velocity and acceleration of the centre of each link."""
    found = read_links(results, ("U", "V", "A"))
    axes = plane_of(results)
    title = f"Centres of the links{share_of(found.labels, found.every)}"
    figure, rows = panels(len(found.centre), title, len(axes))
    for row, (name, values) in zip(rows, found.centre.items(), strict=True):
        word = "position" if name == "U" else NODES[name].field
        for panel, axis in zip(row, axes, strict=True):
            for place, label in enumerate(found.labels):
                curve(panel, found.time, values[:, place, axis], place, f"link {label}")
            panel.set_ylabel(labelled(results, f"{word} {AXES[axis]}", NODES[name].unit))
    finish(results, rows)
    figure.set_label(found.source)
    return figure
