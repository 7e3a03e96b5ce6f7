"""Mode shapes after ``*FREQUENCY``, from the fields of the modes: each in its panel with its frequency."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats, Ints
from fem.pictures import style
from fem.pictures.columns import Table
from fem.pictures.fields import FieldMesh, read_field, read_mesh
from fem.pictures.figures.stage import draw_bars, dress, set_stage
from fem.pictures.folder import Missing, Results
from fem.pictures.magnified import magnified
from fem.pictures.motion import plane_within
from fem.pictures.tension import events_of
from fem.results.vtk import FOLDER

MOST_MODES = 6
SIZE = 0.12
"""Largest displacement drawn, as a fraction of the largest extent of the model."""
EQUAL = 1e-6
"""Components that differ by less of the largest are equal: the first of them has the sign of the mode."""
REST_COLOUR = "#b4b4b4"


@dataclass(frozen=True, slots=True, eq=False)
class ModeShapes:
    """The first k modes of a step.

    step, every: its number, and how many modes it has; number (k,), frequency (k,) [cycles/time]
    position (n, 3) of the nodes about which they move; shapes (k, n, 3): the largest displacement of a node is 1
    """

    step: int
    every: int
    number: Ints
    frequency: Floats
    mesh: FieldMesh
    position: Floats
    shapes: Floats


def modes(results: Results, scale: float = 1.0) -> Figure:
    """Up to six mode shapes over the shape about which they move, all of one size; ``scale`` times the usual one."""
    found = read_modes(results)
    extent = np.ptp(found.position, axis=0).max() or 1.0
    x = magnified(found.position, found.shapes, SIZE * scale * extent)
    every = np.concatenate([x, found.position[None]])
    low, high = every.min(axis=(0, 1)), every.max(axis=(0, 1))
    axes = plane_within(low, high, results.gravity)
    count = len(found.number)
    share = f", {count} of {found.every}" if count < found.every else ""
    title = f"Modes of step {found.step}{share}: {results.heading}"
    stage = set_stage(results, axes, low[list(axes)], high[list(axes)], count, title)
    lines = lines_of(results, found)
    for panel, shape, number, frequency in zip(stage.panels, x, found.number, found.frequency, strict=True):
        draw_bars(panel, found.position[lines][:, :, axes], None, None, REST_COLOUR)
        draw_bars(panel, shape[lines][:, :, axes], None, None, style.OKABE_ITO[0])
        panel.set_title(f"mode {number}\n{frequency_text(results, float(frequency))}", fontsize=style.SMALL)
        dress(results, panel, axes, stage.middle, stage.half)
    return stage.figure


def frequency_text(results: Results, frequency: float) -> str:
    """With its unit; a negative one is that of an unstable mode."""
    text = f"f = {frequency:.5g}" + (" Hz" if results.is_si else "")
    return text + (", unstable" if frequency < 0.0 else "")


def read_modes(results: Results) -> ModeShapes:
    """Of the last step that has modes. Missing: there are none, or their fields are not there."""
    table = Table(results.folder / "frequencies.csv")
    rows = np.concatenate([np.empty((0, 3)), *table.blocks(("step", "mode", "frequency"))])
    if not len(rows):
        raise Missing("there are no modes in frequencies.csv: ask for a step with *FREQUENCY")
    step = int(rows[-1, 0])
    rows = rows[rows[:, 0] == step]
    number, frequency = rows[:MOST_MODES, 1].astype(np.int64), rows[:MOST_MODES, 2]
    files = [mode_file(results, step, each) for each in number.tolist()]
    fields = [read_field(path, ("mode", "displacement")) for path in files]
    mesh = read_mesh(files[0])
    position = mesh.coordinates + fields[0]["displacement"]
    return ModeShapes(step, len(rows), number, frequency, mesh, position, np.stack([unit(f["mode"]) for f in fields]))


def mode_file(results: Results, step: int, number: int) -> Path:
    """The field of a mode. Missing: it is not there."""
    path = results.folder / FOLDER / f"{results.name}_modes_step{step}_{number:03d}.vtu"
    if not path.is_file():
        raise Missing(f"mode {number} of step {step} is not in {FOLDER}/: run the deck without --no-vtk")
    return path


def unit(shape: Floats) -> Floats:
    """A mode (n, 3) whose largest displacement of a node is 1 and whose first largest component is positive."""
    size = np.abs(shape)
    first = int(np.argmax(size.ravel() >= (1.0 - EQUAL) * size.max()))
    return np.asarray(shape * np.sign(shape.ravel()[first]) / (np.linalg.norm(shape, axis=1).max() or 1.0))


def lines_of(results: Results, found: ModeShapes) -> Ints:
    """(q, 2) node indices of the pieces of all elements with two nodes, without bars that broke before."""
    broken = {int(row["element"]) for row in events_of(results) if is_break(row, found.step)}
    legs, elements = found.mesh.legs
    there = ~np.isin(found.mesh.element_labels[elements], list(broken)) & (legs[:, 0] != legs[:, 1])
    return np.asarray(legs[there])


def is_break(row: dict[str, str], step: int) -> bool:
    return row["event"] == "break" and int(row["step"]) <= step
