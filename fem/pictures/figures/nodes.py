"""What is printed of nodes against time: displacements, positions, velocities, ..., one figure each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.model.quantities import NODAL, Quantity
from fem.pictures.figures.tension import shade
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results
from fem.pictures.motion import NODES, nodes_at
from fem.pictures.style import curve, finish, labelled, moving, panels, share_of, some_of
from fem.pictures.tension import slack_spells


def drawing(quantity: Quantity) -> Callable[[Results], Figure]:
    """The figure of a quantity, as a function of its name."""

    def draw(results: Results) -> Figure:
        return motion_figure(results, quantity)

    draw.__name__ = quantity.figure
    return draw


MOTIONS = tuple(drawing(quantity) for quantity in NODAL if quantity.figure)
displacements = MOTIONS[0]


def motion_figure(results: Results, quantity: Quantity) -> Figure:
    """One panel per direction that moves, one line per node. Missing: fewer than three instants."""
    motion = printed(results, quantity)
    if not motion:
        name = quantity.name
        raise Missing(f"nodes.csv holds fewer than three instants of it: request *NODE PRINT, NSET=... of {name}")
    chosen = [list(motion)[place] for place in some_of(list(motion))]
    parts = [motion[label][1] for label in chosen]
    columns = moving(np.concatenate([part - part[0] for part in parts] if quantity.name == "COORD" else parts))
    title = f"{quantity.figure.capitalize()} of the printed nodes{share_of(chosen, len(motion))}"
    figure, rows = panels(len(columns), title)
    for place, label in enumerate(chosen):
        time, values = motion[label]
        for (panel,), column in zip(rows, columns, strict=True):
            curve(panel, time, values[:, column], place, f"node {label}")
    spells = slack_spells(results, *(float(edge(motion[chosen[0]][0])) for edge in (np.min, np.max)))
    for (panel,), column in zip(rows, columns, strict=True):
        shade(panel, spells)
        panel.set_ylabel(labelled(results, quantity.columns[column], quantity.unit))
    finish(results, rows)
    return figure


def printed(results: Results, quantity: Quantity) -> dict[int, tuple[Floats, Floats]]:
    """Label -> time (k,) and values (k, c), where ``nodes.csv`` holds at least three; positions follow from U."""
    table = results.nodes
    if quantity.name == "COORD" and quantity.columns[0] not in table.columns and results.fields:
        u = printed(results, NODES["U"])
        places = results.mesh.coordinates[nodes_at(results, list(u))]
        return {label: (time, x + values) for (label, (time, values)), x in zip(u.items(), places, strict=True)}
    if quantity.columns[0] not in table.columns:
        return {}
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    curves = table.curves(quantity.columns, labels)
    found = {label: rows[~np.isnan(rows[:, 3:]).any(axis=1)] for label, rows in curves.items()}
    return {label: (rows[:, 2], rows[:, 3:]) for label, rows in found.items() if len(rows) >= LEAST_INSTANTS}
