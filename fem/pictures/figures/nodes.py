"""Displacement, velocity and acceleration of the printed nodes against time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results
from fem.pictures.style import curve, finish, labelled, moving, panels, share_of, some_of


def displacements(results: Results) -> Figure:
    return motion_figure(results, "U", "Displacements", "length")


def velocities(results: Results) -> Figure:
    return motion_figure(results, "V", "Velocities", "length/time")


def accelerations(results: Results) -> Figure:
    return motion_figure(results, "A", "Accelerations", "length/time²")


def motion_figure(results: Results, letter: str, title: str, formula: str) -> Figure:
    """One panel per direction that moves, one line per node. Missing: fewer than three instants."""
    motion = printed(results, letter)
    if not motion:
        raise Missing(f"nodes.csv holds fewer than three instants of it: request *NODE PRINT, NSET=... of {letter}")
    chosen = [list(motion)[place] for place in some_of(list(motion))]
    axes = moving(np.concatenate([motion[label][1] for label in chosen]))
    figure, rows = panels(len(axes), f"{title} of the printed nodes{share_of(len(chosen), len(motion))}")
    for place, label in enumerate(chosen):
        time, values = motion[label]
        for (panel,), axis in zip(rows, axes, strict=True):
            curve(panel, time, values[:, axis], place, f"node {label}")
    for (panel,), axis in zip(rows, axes, strict=True):
        panel.set_ylabel(labelled(results, f"{letter}{axis + 1}", formula))
    finish(results, rows)
    return figure


def printed(results: Results, letter: str) -> dict[int, tuple[Floats, Floats]]:
    """Label -> time (k,) and values (k, 3) of a variable, where ``nodes.csv`` holds at least three."""
    table = results.nodes
    if f"{letter}1" not in table.columns:
        return {}
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    curves = table.curves([f"{letter}{axis}" for axis in "123"], labels)
    found = {label: rows[~np.isnan(rows[:, 3:]).any(axis=1)] for label, rows in curves.items()}
    return {label: (rows[:, 2], rows[:, 3:]) for label, rows in found.items() if len(rows) >= LEAST_INSTANTS}
