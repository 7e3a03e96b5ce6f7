"""Curves over time of a run, group by group, for the charts of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError
from fem.model.quantities import ELEMENTAL, NODAL, Quantity
from fem.pictures.figures.increments import energy_curves
from fem.pictures.figures.links import angles_of, frame_of, joint_forces, read_links
from fem.pictures.folder import Missing, Results, Table, extremes
from fem.pictures.motion import NODES, plane_of
from fem.pictures.style import AXES, moving, some_of

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
