"""What the page shows of one run, or of two that are compared: curves over time, read from their files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.app.data.scene import motion_of, scene_of
from fem.arrays import Floats
from fem.errors import CommandError
from fem.model.quantities import ELEMENTAL, NODAL, Quantity
from fem.runs.read import Missing, Results, Table, extremes, open_results
from fem.show.curves import energy_curves
from fem.show.links import angles_of, frame_of, joint_forces, read_links
from fem.show.motion import NODES, plane_of
from fem.show.style import AXES, moving, some_of

MOST_POINTS = 1_200
"""Of a curve: the least and the largest of equal shares, as on paper."""
MOST_LINKS = 20
MOST_CURVES = 6


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One chart: curves (name, points (k, 2): time and value) over time."""

    title: str
    unit: str
    curves: tuple[tuple[str, Floats], ...]
    is_log: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Charts that belong together; ``reason``: why there are none."""

    name: str
    panels: tuple[Panel, ...] = ()
    reason: str = ""


def points(time: Floats, values: Floats) -> Floats:
    """(k, 2) what is drawn of a curve: its extremes stay."""
    rows = np.column_stack([time, values])
    rows = rows[np.isfinite(values)]
    return extremes(rows, -(-2 * len(rows) // MOST_POINTS)) if len(rows) > MOST_POINTS else rows


def curves(time: Floats, values: Floats, names: list[str]) -> tuple[tuple[str, Floats], ...]:
    """values (k, p)."""
    return tuple((name, points(time, values[:, place])) for place, name in enumerate(names))


def energies(results: Results) -> list[Panel]:
    """Energies of the model, and the error of their balance."""
    time, error, unit = results.increments[:, 2], results.increments[:, 10], results.symbol("energy")
    lines = [
        (f"{name} (less {start:.4g})" if start else name, points(time, values - start))
        for name, values, start in energy_curves(results)
    ]
    return [Panel("energy", unit, tuple(lines)), Panel("error of the balance", unit, (("error", points(time, error)),))]


def newton(results: Results) -> list[Panel]:
    """Iterations and residuals of the increments."""
    time, count, residual = results.increments[:, 2:5].T
    shown = np.where(residual > 0.0, residual, np.nan)
    return [
        Panel("iterations of an increment", "", (("iterations", points(time, count)),)),
        Panel("relative residual", "", (("residual", points(time, shown)),), is_log=True),
    ]


def angles(results: Results) -> list[Panel]:
    """Of the links of a chain."""
    found = read_links(results, ("U", "V"), MOST_LINKS)
    down, across, name = frame_of(results)
    angle, speed = angles_of(found, down, across)
    names = [f"link {label}" for label in found.labels]
    rate = f"degrees/{results.unit('time')}"
    panels = [Panel(f"angle from {name}", "degrees", curves(found.time, np.degrees(angle), names))]
    return panels + ([] if speed is None else [Panel("its rate", rate, curves(found.time, np.degrees(speed), names))])


def links(results: Results) -> list[Panel]:
    """Position, velocity and acceleration of the centres of the links of a chain."""
    found = read_links(results, ("U", "V", "A"), MOST_LINKS)
    names = [f"link {label}" for label in found.labels]
    panels = []
    for quantity, values in found.centre.items():
        word = "position" if quantity == "U" else NODES[quantity].field
        for axis in plane_of(results):
            title, unit = f"{word} {AXES[axis]} of the centre", results.unit(NODES[quantity].unit)
            panels.append(Panel(title, unit, curves(found.time, values[..., axis], names)))
    return panels


def joints(results: Results) -> list[Panel]:
    """Force on each link at its joint nearer to the support."""
    found = joint_forces(results, MOST_LINKS)
    names, unit = [f"link {label}" for label in found.labels], results.unit("force")
    parts = [(f"joint force {AXES[axis]}", found.force[..., axis]) for axis in moving(found.force)]
    parts += [("joint force, size", np.linalg.norm(found.force, axis=2))]
    parts += [] if found.tension is None else [("force along the link T", found.tension)]
    return [Panel(title, unit, curves(found.time, values, names)) for title, values in parts]


def nodes(results: Results) -> list[Panel]:
    """What was printed of nodes."""
    return printed(results, results.nodes, "node", NODAL)


def elements(results: Results) -> list[Panel]:
    """What was printed of elements."""
    return printed(results, results.elements, "element", ELEMENTAL[::-1])


def printed(results: Results, table: Table, kind: str, quantities: Sequence[Quantity]) -> list[Panel]:
    """Columns of a table, of some of its labels. Missing: nothing is printed over time."""
    labels = [label for label, lines in table.lines_of.items() if lines > 1]
    labels = [labels[place] for place in some_of(labels, MOST_CURVES)]
    found = [(column, of.field, of.unit) for of in quantities for column in of.columns if column in table.columns]
    if not labels or not found:
        raise Missing(f"nothing of {kind}s is printed over time: request *{'NODE' if kind == 'node' else 'EL'} PRINT")
    rows = table.curves([column for column, _, _ in found], labels)
    panels = []
    for place, (column, word, unit) in enumerate(found, start=3):
        lines = tuple((f"{kind} {label}", points(rows[label][:, 2], rows[label][:, place])) for label in labels)
        lines = tuple((name, part) for name, part in lines if len(part) and part[:, 1].any())
        if lines:
            shown = column if word == column else f"{word} {column}"
            panels.append(Panel(shown, results.unit(unit) if unit else "", lines))
    return panels


GROUPS: dict[str, Callable[[Results], list[Panel]]] = {"Energies": energies, "Links": links, "Angles": angles}
GROUPS |= {"Joint forces": joints, "Nodes": nodes, "Elements": elements, "Solver": newton}


def group_of(results: Results, name: str) -> Group:
    """The charts of a group, or why there are none."""
    try:
        panels = tuple(GROUPS[name](results))
    except (Missing, CommandError) as missing:
        return Group(name, (), str(missing))
    return Group(name, panels, "" if panels else "nothing but zeros")


DISTANCE = "Distance"
LARGE = 0.1
"""Fraction of the largest distance at which two motions no longer part evenly."""


@dataclass(frozen=True, slots=True, eq=False)
class Parting:
    """time (k,), distance (k,): root of the sum of squares over all nodes; rate of its growth until it is large."""

    time: Floats
    distance: Floats
    rate: float

    def said(self, time: str, length: str) -> str:
        """In words, with the symbols of units."""
        first, last = self.distance[0], self.distance.max()
        unit = f" {length}" if length else ""
        text = f"apart by {first:.3g}{unit} at the start, by {last:.3g}{unit} at most"
        if not math.isfinite(self.rate) or self.rate <= 0.0:
            return f"{text}: they did not part"
        return f"{text}; ten times as far every {math.log(10.0) / self.rate:.3g} {time}".rstrip()


def parting_of(one: Results, other: Results) -> Parting:
    """Of two runs of one model. Missing: they have no instants in common."""
    first, second = motion_of(one)[0], motion_of(other)[0]
    _, here, there = np.intersect1d(first.time, second.time, return_indices=True)
    if len(here) < 3 or one.mesh.coordinates.shape != other.mesh.coordinates.shape:
        raise Missing("the two runs have too few instants in common")
    x = one.mesh.coordinates + first.values["U"][here]
    y = other.mesh.coordinates + second.values["U"][there]
    distance = np.sqrt(np.square(x - y).sum(axis=(1, 2)))
    time = first.time[here]
    return Parting(time, distance, growth(time, distance))


def growth(time: Floats, distance: Floats) -> float:
    """Rate of the exponential that goes from the first distance to where it is first large; NaN: it never is."""
    large = np.flatnonzero(distance >= LARGE * distance.max())
    if not len(large) or distance[0] <= 0.0 or time[large[0]] <= time[0]:
        return math.nan
    return float(np.log(distance[large[0]] / distance[0]) / (time[large[0]] - time[0]))


def distances(found: Parting, length: str) -> Group:
    """The chart."""
    shown = np.where(found.distance > 0.0, found.distance, np.nan)
    curve = ("distance", points(found.time, shown))
    return Group(DISTANCE, (Panel("distance of the two runs", length, (curve,), is_log=True),))


SMALL = 30_000_000
"""Bytes of tables of which all groups of charts are read at once."""


class Seen:
    """Some groups of charts, the unit of time; where they are asked for, a scene of each folder, and remarks."""

    def __init__(self, folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> None:
        results = [open_results(folder) for folder in folders]
        self.groups = {name: group_of(results[0], name) for name in names if name in GROUPS}
        self.unit = results[0].symbol("time")
        self.scenes: list[bytes] = []
        self.remarks: list[str] = []
        if has_scenes:
            self._show(results)

    def _show(self, results: list[Results]) -> None:
        try:
            self.scenes = [scene_of(each) for each in results]
            if len(results) == 2:
                self._compare(results)
        except (Missing, CommandError) as missing:
            self.remarks.append(f"no motion is shown: {missing}")
            self.groups |= {DISTANCE: Group(DISTANCE, (), str(missing))} if len(results) == 2 else {}

    def _compare(self, results: list[Results]) -> None:
        found = parting_of(*results)
        length = results[0].symbol("length")
        self.groups[DISTANCE] = distances(found, length)
        self.remarks.append(found.said(self.unit, length))


def read(folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> Seen | None:
    """None: of no folder, where nothing is written yet, or the folder is being cleared."""
    try:
        return Seen(folders, names, has_scenes) if folders else None
    except (CommandError, OSError):
        return None


def is_small(folder: Path) -> bool:
    """All charts of it are read at once."""
    try:
        return sum(path.stat().st_size for path in folder.glob("*.csv")) < SMALL
    except OSError:
        return True
