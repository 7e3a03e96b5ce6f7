"""Phase planes: a printed node's displacement and velocity, a link's angle and angular speed."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fem.arrays import Floats
from fem.pictures.columns import extremes
from fem.pictures.figures.links import angles_of, frame_of, read_links
from fem.pictures.figures.nodes import printed
from fem.pictures.folder import Missing, Results
from fem.pictures.motion import NODES, REST, overview, read_motion
from fem.pictures.style import DASHES, OKABE_ITO, TITLE, legend_beside, moving, share_of, shortened, some_of, tidy

MOST_ORBITS = 4
MOST_POINTS = 10_000


def phase(results: Results) -> Figure:
    """(u, v) of the printed nodes that move, one panel per direction; relative to a support that moves."""
    support = moving_support(results)
    labels = [label for label, (_, v) in printed(results, NODES["V"]).items() if label != support and v.any()]
    if not labels:
        raise Missing("no node has a velocity in nodes.csv: request *NODE PRINT, NSET=... of U, V")
    chosen = [labels[place] for place in some_of(labels, MOST_ORBITS)]
    motion: dict[int, tuple[Floats, Floats]] = {}
    for label in chosen:
        pair = read_motion(results, [label] if support is None else [label, support], ("V",)).values
        if "V" not in pair:
            raise Missing(f"V is printed at some instants only, or not of node {support}: request *NODE PRINT of U, V")
        u, v = pair["U"], pair["V"]
        motion[label] = (u[:, 0], v[:, 0]) if support is None else (u[:, 0] - u[:, 1], v[:, 0] - v[:, 1])
    axes = moving(np.concatenate([motion[label][1] for label in chosen]))
    figure, panels = orbit_panels(len(axes), f"Phase plane of the printed nodes{share_of(chosen, len(labels))}")
    beside = "" if support is None else f" relative to node {support}"
    for panel, axis in zip(panels, axes, strict=True):
        for place, label in enumerate(chosen):
            orbit(panel, motion[label][0][:, axis], motion[label][1][:, axis], place, f"node {label}")
        panel.set_xlabel(f"U{axis + 1}{beside} [{results.unit('length')}]")
        panel.set_ylabel(f"V{axis + 1}{beside} [{results.unit('length/time')}]")
    finish(panels)
    return figure


def moving_support(results: Results) -> int | None:
    """The one node that is held in a direction in which it moves; None where there is none, or more than one."""
    if not results.fields:
        return None
    look = overview(results)
    held = look.reaction > REST * look.reaction.max()
    found = results.mesh.node_labels[(held & look.moved).any(axis=1)]
    return int(found[0]) if len(found) == 1 else None


def phase_angles(results: Results) -> Figure:
    """(theta, theta') of links of a chain in a plane."""
    links = read_links(results, most=MOST_ORBITS)
    down, across, name = frame_of(results)
    angle, speed = angles_of(links, down, across)
    if across is None or speed is None:
        raise Missing("the motion is in space" if across is None else "no velocities of both ends of every bar (V)")
    figure, (panel,) = orbit_panels(1, f"Phase plane of the links{share_of(links.labels, links.every)}")
    for place, label in enumerate(links.labels):
        orbit(panel, angle[:, place], speed[:, place], place, f"link {label}")
    panel.set_xlabel(f"angle from {name} [rad]")
    panel.set_ylabel(f"angular speed [rad/{results.unit('time')}]")
    finish([panel])
    figure.set_label(links.source)
    return figure


def orbit_panels(count: int, title: str) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(4.4 * count + 1.6, 4.6), layout="constrained")
    figure.suptitle(shortened(title), fontsize=TITLE)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def orbit(panel: Axes, x: Floats, y: Floats, place: int, label: str) -> None:
    """One orbit; a dot where it starts."""
    rows = np.stack([x, y], axis=1)
    rows = extremes(rows, -(-len(rows) * 4 // MOST_POINTS)) if len(rows) > MOST_POINTS else rows
    look: dict[str, Any] = {"color": OKABE_ITO[place], "ls": DASHES[place], "lw": 1.2}
    if len(x) > MOST_POINTS:
        look |= {"ls": "-", "lw": 0.5}
    panel.plot(rows[:, 0], rows[:, 1], label=label, **look)
    panel.plot(x[0], y[0], "o", color=OKABE_ITO[place], ms=5)


def finish(panels: list[Axes]) -> None:
    for panel in panels:
        tidy(panel)
        panel.margins(0.05)
        panel.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    legend_beside(panels[-1])
