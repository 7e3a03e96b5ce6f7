"""Forces of the supports."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results
from fem.pictures.motion import REST, overview, read_motion
from fem.pictures.style import MOST_CURVES, curve, finish, labelled, moving, panels, share_of


def reactions(results: Results) -> Figure:
    """RF of the supported nodes, those with the largest."""
    labels = supported(results)
    if not labels:
        raise Missing("no support carries a force in the fields or in RF of nodes.csv (*NODE PRINT of RF)")
    chosen = labels[:MOST_CURVES]
    motion = read_motion(results, chosen, ("RF",))
    if "RF" not in motion.values:
        raise Missing("neither nodes.csv (*NODE PRINT of RF) nor the fields (*NODE FILE of RF) hold reactions")
    force = motion.values["RF"]
    title = f"Reactions of the supports{share_of(chosen, len(labels))}"
    names = [f"node {label}" for label in chosen]
    figure = force_figure(results, motion.time, force, names, title, ["RF1", "RF2", "RF3"], None)
    figure.set_label(motion.source)
    return figure


def supported(results: Results) -> list[int]:
    """Labels of nodes with reactions, the largest first."""
    largest: dict[int, float] = {}
    if results.fields:
        sizes = overview(results).reaction.max(axis=1)
        largest = dict(zip(results.mesh.node_labels.tolist(), sizes.tolist(), strict=True))
    if not any(largest.values()) and "RF1" in results.nodes.columns:
        rows = results.nodes.curves(["RF1", "RF2", "RF3"], list(results.nodes.lines_of))
        largest = {
            label: float(np.nanmax(np.abs(part[:, 3:]), initial=0.0))
            for label, part in rows.items()
            if len(part) >= LEAST_INSTANTS
        }
    least = REST * max(largest.values(), default=0.0)
    return sorted((label for label, size in largest.items() if size > least), key=lambda label: -largest[label])


def force_figure(
    results: Results, time: Floats, force: Floats, names: list[str], title: str, labels: list[str], pull: Floats | None
) -> Figure:
    """Components of force (k, p, 3), one panel each, and T (k, p) below where it is given."""
    axes = moving(force)
    figure, rows = panels(len(axes) + (pull is not None), title)
    for place, name in enumerate(names):
        for (panel,), axis in zip(rows, axes, strict=False):
            curve(panel, time, force[:, place, axis], place, name)
        if pull is not None:
            curve(rows[-1][0], time, pull[:, place], place)
    for (panel,), axis in zip(rows, axes, strict=False):
        panel.set_ylabel(labelled(results, labels[axis], "force"))
    if pull is not None:
        rows[-1][0].set_ylabel(labelled(results, "T along the bar", "force"))
    finish(results, rows)
    return figure
