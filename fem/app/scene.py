"""Data that the page draws: the scene of the player (a run at some instants, or a model not yet run), charts."""

from __future__ import annotations

import base64
import contextlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.model import Model
from fem.model.mesh import BARS, REEVED
from fem.model.notices import held_dofs
from fem.model.quantities import ELEMENTAL, NODAL, says_si
from fem.runs.frames import unit_of
from fem.runs.read import Missing, Results, extremes, open_results
from fem.show import reading
from fem.show.animate import even_times
from fem.show.checking import collect_bars
from fem.show.curves import energy_curves, read_reactions
from fem.show.links import joint_forces, read_links, turns_of
from fem.show.scenery import planes_of, upright
from fem.show.style import AXES, moving, some_of

MOST_NUMBERS = 3_000_000
"""Largest number of coordinates sent to the browser: 12 MB."""
MOST_FRAMES, LEAST_FRAMES = 1_000, 20
MOST_TRAILS = 4
VALUES = {"T": ("T", "force", "tension T"), "N": ("N", "force", "normal force N"), "E": ("strain", "", "strain E")}
"""Values that colour bars: name -> array of the fields, formula of its unit, description."""
NOISE = 1e-12
"""Largest strain that is rounding of lengths; components of vectors are, over the largest of all, at ``MOVES``."""
MOVES = 1e-10


def packed(numbers: Any, kind: str = "<f4") -> str:
    """Numbers in the format of the browser: bytes of single precision, or ``<i4``, in base64."""
    return base64.b64encode(np.ascontiguousarray(numbers, kind).tobytes()).decode()


@dataclass(frozen=True, slots=True, eq=False)
class PlayerScene:
    """k instants of n nodes and m elements.

    time (k,), x (k, n, 3), ends (m, 2) node indices, the last ``dashed`` of them no bars; labels, elements: their names
    rest      (n, 3) positions without displacements, for magnifying these; None: there are none
    links     (bars,) place of each along a chain that hangs, for the colours of its curves; none: it is none, or long
    joints    node index (p,), and force (k, p, 3) on the link that hangs there
    bobs      node index -> point mass;  heavy: bars with mass: their centres are shown
    axes      two of the plane in which everything stays, or all three; up: the one against gravity
    unit      as ``Results.symbol``
    values    name -> (k, bars), NaN where unknown;  extremes: name -> least and greatest of the whole run, also
              between the instants;  breaks (bars,) times at which bars go
    supports, traced  node indices;  loads: node index -> direction;  planes: height, colour, is_bottom
    sets      name -> node indices
    """

    time: Floats
    x: Floats
    labels: Sequence[object]
    elements: Sequence[object]
    ends: Ints
    axes: Sequence[int]
    unit: Callable[[str], str]
    up: int = 2
    values: Mapping[str, Floats] = field(default_factory=dict)
    dashed: int = 0
    supports: Sequence[int] = ()
    traced: Sequence[int] = ()
    loads: Mapping[int, Sequence[float]] = field(default_factory=dict)
    planes: Sequence[Sequence[Any]] = ()
    breaks: Floats | None = None
    extremes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    sets: Mapping[str, Ints] = field(default_factory=dict)
    rest: Floats | None = None
    links: Sequence[int] = ()
    joints: tuple[Ints, Floats] | None = None
    bobs: Mapping[int, float] = field(default_factory=dict)
    heavy: Sequence[int] = ()

    def text(self) -> bytes:
        """The scene as JSON, which the player reads."""
        scales = {}
        for name, part in self.values.items():
            if np.isfinite(part).any():
                colours, slack = reading.tension_scale(part)
                low, high = colours.get_clim()
                _, formula, words = VALUES[name]
                scales[name] = {"numbers": packed(part), "low": float(low), "high": float(high), "slack": slack}
                least, most = self.extremes.get(name, (float(np.nanmin(part)), float(np.nanmax(part))))
                scales[name] |= {"least": least, "most": most}
                scales[name] |= {"words": words, "unit": self.unit(formula) if formula else ""}
        lists = ("axes", "supports", "traced", "planes", "links", "heavy")
        plain: dict[str, Any] = {name: list(getattr(self, name)) for name in lists}
        plain |= {name: [str(label) for label in getattr(self, name)] for name in ("labels", "elements")}
        bars, breaks = len(self.ends) - self.dashed, self.breaks
        content = plain | {"nodes": len(self.labels), "bars": bars, "up": self.up, "values": scales}
        content |= {"time": packed(self.time, "<f8"), "x": packed(self.x), "ends": packed(self.ends, "<i4")}
        content["rest"] = None if self.rest is None else packed(self.rest)
        if self.joints is not None:
            nodes, force = self.joints
            largest = float(np.linalg.norm(force, axis=2).max(initial=0.0))
            content["joints"] = {"nodes": nodes.tolist(), "numbers": packed(force), "largest": largest}
        content["loads"] = {str(node): list(load) for node, load in self.loads.items()}
        content["bobs"] = {str(node): mass for node, mass in self.bobs.items()}
        content["sets"] = {name: indices.tolist() for name, indices in self.sets.items()}
        content["breaks"] = None if breaks is None or not np.isfinite(breaks).any() else packed(breaks)
        content["units"] = {"time": self.unit("time"), "length": self.unit("length")}
        return json.dumps(content, allow_nan=False).encode()


def motion_of(results: Results) -> tuple[reading.RecordedMotion, reading.Pick]:
    """The whole motion, at as many instants as a browser can hold. Missing: there is none, or too large a model."""
    count = len(results.mesh.node_labels)
    frames = min(MOST_FRAMES, MOST_NUMBERS // (3 * max(count, 1)))
    if frames < LEAST_FRAMES:
        raise Missing(f"{count} nodes are too many to be shown in a browser: ParaView opens {results.name}.pvd")
    pick = even_times(results.boundaries, frames)
    return reading.whole_motion(results, pick), pick


def scene_of(results: Results) -> bytes:
    """The motion of a run. Missing: there is none."""
    mesh = results.mesh
    motion, pick = motion_of(results)
    bars, labels = reading.bars_of(mesh)
    lines = mesh.ends[:, 0] != mesh.ends[:, 1]
    others = lines & ~mesh.is_bar
    held = reading.overview(results).at_rest
    held = held & ~held.all()  # without motion, moving and fixed nodes cannot be distinguished
    up, masses = upright(results), np.zeros(len(mesh.element_labels))
    with contextlib.suppress(Missing):  # the record of the run may have none
        masses = next(iter(results.acting.values())).mass
    traced = reading.free_ends(results)[-MOST_TRAILS:]
    names = [name for name in VALUES if name in results.elements.columns]
    found = {} if motion.keys is None else reading.extremes_of(results.elements, names, labels)
    ends = {name: (found[name, "least"][0], found[name, "greatest"][0]) for name in names if (name, "least") in found}
    return PlayerScene(
        motion.time, mesh.coordinates + motion.values["U"], mesh.node_labels.tolist(),
        [*labels, *mesh.element_labels[others].tolist()], np.concatenate([bars, mesh.ends[others]]),
        reading.plane_of(results), results.symbol, up=up, values=values_of(results, motion, pick, labels),
        dashed=int(others.sum()), supports=np.intersect1d(np.flatnonzero(held), mesh.legs[0]).tolist(), traced=traced,
        planes=[(plane.height, plane.colour, plane.is_bottom) for plane in planes_of(results)],
        breaks=reading.break_times(results), extremes=ends, rest=mesh.coordinates,
        links=links_of(results, labels) if traced else (),
        joints=joints_of(results, motion.time) if traced else None,
        bobs={int(mesh.ends[e, 0]): float(masses[e]) for e in np.flatnonzero(~lines & (masses > 0.0))},
        heavy=np.flatnonzero(masses[mesh.bars[1]] > 0.0).tolist(),
    ).text()  # fmt: skip


def links_of(results: Results, labels: list[int]) -> list[int]:
    """Index of each bar along a chain of few links; empty if there is no such chain."""
    try:
        chain = reading.chain_of(results)[1]
    except Missing:
        return []
    return [chain.index(label) for label in labels] if len(chain) <= MOST_LINKS else []


def joints_of(results: Results, time: Floats) -> tuple[Ints, Floats] | None:
    """Joints of few links, and the forces in them at other instants than those of the tables; None: there are none."""
    if int(results.mesh.is_bar.sum()) > MOST_LINKS:
        return None
    try:
        found = joint_forces(results, MOST_LINKS)
    except (Missing, CommandError):
        return None
    flat = found.force.reshape(len(found.time), -1).T
    force = np.array([np.interp(time, found.time, part) for part in flat])
    return found.nodes, force.T.reshape(len(time), *found.force.shape[1:])


def values_of(
    results: Results, motion: reading.RecordedMotion, pick: reading.Pick, labels: list[int]
) -> dict[str, Floats]:
    """T, N and E of all bars at the instants of a motion, as far as they were written: name -> (k, bars); without N
    that is T, and without E that is rounding."""
    if motion.keys is None:
        elements = results.mesh.bars[1]
        source = {name: (array, elements) for name, (array, *_) in VALUES.items()}
        _, values = reading.field_values(results, pick, source)
    else:
        table = results.elements
        names = [name for name in VALUES if name in table.columns]
        found = reading.table_values(table, names, labels, motion.keys) if names else None
        values = {} if found is None else {name: found[:, :, place] for place, name in enumerate(names)}
    if {"T", "N"} <= set(values) and is_same(values["T"], values["N"]):
        del values["N"]
    if "E" in values and not np.nanmax(np.abs(values["E"]), initial=0.0) > NOISE:
        del values["E"]
    return values


MOST_NODES = 20_000
FLAT = 1e-9


def sketch_of(model: Model, tension: Floats | None = None) -> bytes:
    """The mesh as it is in the deck; tension (bars,) colours one without pulleys. Missing: it has too many nodes."""
    mesh = model.mesh
    if len(mesh.node_labels) > MOST_NODES:
        raise Missing(f"{len(mesh.node_labels)} nodes are too many to be shown here before a run")
    ends, elements = mesh.legs
    lines, is_bar = ends[:, 0] != ends[:, 1], mesh.is_of(*BARS, *REEVED)[elements]
    bars, others = np.flatnonzero(lines & is_bar), np.flatnonzero(lines & ~is_bar)
    order = np.concatenate([bars, others])
    axes, held = model_plane(model), held_dofs(model).copy()
    held[model.pinned] = False
    fixed = np.flatnonzero(held[:, axes].all(axis=1)).tolist()
    is_si = says_si(model.heading)
    levels = [(model.water.level, "#56B4E9", False)] if model.water else []
    sets = mesh.element_sets.items()
    of_elements = {f"{name} (elements)": np.unique(ends[np.isin(elements, each)]) for name, each in sets}
    return PlayerScene(
        np.zeros(1), mesh.coordinates[None], mesh.node_names.tolist(), mesh.element_names[elements[order]].tolist(),
        ends[order], axes, lambda formula: unit_of(formula, is_si) if is_si else "", up=mesh.up,
        values={} if tension is None else {"T": tension[None]}, dashed=len(others), supports=fixed,
        loads=point_loads(model), bobs=point_masses(model),
        planes=[*levels, *((bed.elevation, "#a08050", True) for bed in model.seabeds if not bed.points)],
        sets=mesh.node_sets | of_elements,
    ).text()  # fmt: skip


def model_plane(model: Model) -> tuple[int, ...]:
    """Axes of the plane in which the mesh lies, with the vertical; all three where there is none."""
    x = model.mesh.coordinates
    extent = np.ptp(x, axis=0) if len(x) else np.zeros(3)
    flat = extent <= FLAT * max(float(extent.max()), np.finfo(float).tiny)
    for axis in (1, 0, 2):
        if flat[axis] and axis != model.mesh.up:
            return tuple(j for j in range(3) if j != axis)
    return (0, 1, 2)


def point_loads(model: Model) -> dict[int, list[float]]:
    """Node index -> direction of what pulls at it in the first step, weights of all apart."""
    if not model.steps or not model.steps[0].nodal_loads:
        return {}
    step = model.steps[0]
    loads = np.zeros((len(model.mesh.node_labels), 3))
    for load in step.nodal_loads:
        loads[model.mesh.nodes_of(load.target), load.dof - 1] += load.value
    return {int(node): loads[node].tolist() for node in np.flatnonzero(loads.any(axis=1))}


def point_masses(model: Model) -> dict[int, float]:
    ends, elements = model.mesh.legs
    found: dict[int, float] = {}
    for each in model.masses:
        for node in ends[np.isin(elements, model.mesh.element_sets[each.element_set]), 0].tolist():
            found[node] = found.get(node, 0.0) + each.mass
    return {node: mass for node, mass in found.items() if mass > 0.0}


def bar_tensions(model: Model) -> Floats:
    """(bars,) T of bars with ENGINEERING strain where they are, from their rest lengths; 0 where they are slack."""
    bars = collect_bars(model)
    x = model.mesh.coordinates[bars.connectivity]
    length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
    return np.asarray(np.maximum(bars.young * bars.area * (length / bars.length0 - 1.0), 0.0))


REST = "unstressed length from the anchor"


def along(model: Model, tension: Floats) -> Panel:
    """T of the bars over the natural length, from the first end."""
    length = collect_bars(model).length0
    middle = np.cumsum(length) - 0.5 * length
    return Panel("tension at rest", "N", (("T", np.column_stack([middle, tension])),))


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
    """Charts of one group; ``reason``: why there are none."""

    name: str
    panels: tuple[Panel, ...] = ()
    reason: str = ""


def points(time: Floats, values: Floats) -> Floats:
    """(k, 2) points of a curve to be drawn; its extremes are kept."""
    rows = np.column_stack([time, values])
    rows = rows[np.isfinite(values)]
    return extremes(rows, -(-2 * len(rows) // MOST_POINTS)) if len(rows) > MOST_POINTS else rows


def curves(time: Floats, values: Floats, names: list[str]) -> tuple[tuple[str, Floats], ...]:
    return tuple((name, points(time, values[:, place])) for place, name in enumerate(names))


def energies(results: Results) -> list[Panel]:
    time, error, unit = results.increments[:, 2], results.increments[:, 10], results.symbol("energy")
    found = list(energy_curves(results))
    panel = Panel("energy", unit, tuple((name, points(time, values)) for _, name, values in found))
    largest, size = np.nanmax(np.abs(error), initial=0.0), max(np.ptp(values) for *_, values in found)
    if largest <= MOVES * size:
        return [replace(panel, title=f"energy, balanced to {largest:.0e}")]
    return [panel, Panel("energy error", unit, (("error", points(time, error)),))]


def newton(results: Results) -> list[Panel]:
    time, count, residual = results.increments[:, 2:5].T
    shown = np.where(residual > 0.0, residual, np.nan)
    return [
        Panel("iterations per increment", "", (("iterations", points(time, count)),)),
        Panel("relative residual", "", (("residual", points(time, shown)),), is_log=True),
    ]


def angles(results: Results) -> list[Panel]:
    found, turns = turns_of(results, MOST_LINKS)
    names = [f"link {label}" for label in found.labels]
    return [Panel(title, unit, curves(time, values, names)) for title, unit, time, values in turns]


def links(results: Results) -> list[Panel]:
    found = read_links(results, ("U", "V", "A"), MOST_LINKS)
    names = [f"link {label}" for label in found.labels]
    panels = []
    for quantity, values in found.centre.items():
        word = "position" if quantity == "U" else reading.NODES[quantity].field
        for axis in reading.plane_of(results):
            title, unit = f"{word} {AXES[axis]} of the centre", results.unit(reading.NODES[quantity].unit)
            panels.append(Panel(title, unit, curves(found.time, values[..., axis], names)))
    return panels


def joints(results: Results) -> list[Panel]:
    found = joint_forces(results, MOST_LINKS)
    names = [f"link {label}" for label in found.labels]
    panels = forces(results, "joint force", found.time, found.force, names)
    if found.tension is not None:
        panels.append(Panel("tension T of the link", results.unit("force"), curves(found.time, found.tension, names)))
    return panels


def reactions(results: Results) -> list[Panel]:
    motion, _ = read_reactions(results, MOST_CURVES)
    return forces(results, "reaction", motion.time, motion.values["RF"], [f"node {label}" for label in motion.nodes])


def forces(results: Results, what: str, time: Floats, force: Floats, names: list[str]) -> list[Panel]:
    """Components of forces (k, p, 3), and their magnitude."""
    parts = [(f"{what} {AXES[axis]}", force[..., axis]) for axis in moving(force)]
    parts += [(f"{what}, magnitude", np.linalg.norm(force, axis=2))] if len(parts) > 1 else []
    return [Panel(title, results.unit("force"), curves(time, values, names)) for title, values in parts]


def is_same(one: Floats, other: Floats) -> bool:
    """To rounding; of unknown values in the same places."""
    return np.allclose(one, other, 1e-9, MOVES * np.nanmax(np.abs(one), initial=0.0), equal_nan=True)


def printed(results: Results, kind: str) -> list[Panel]:
    """Printed columns of some nodes or elements; none that are rounding. Missing: nothing is printed over time."""
    table = results.nodes if kind == "node" else results.elements
    quantities = NODAL if kind == "node" else ELEMENTAL[::-1]
    labels = [label for label, lines in table.lines_of.items() if lines > 1]
    labels = [labels[place] for place in some_of(labels, MOST_CURVES)]
    found = [(column, of) for of in quantities for column in of.columns if column in table.columns]
    if not labels or not found:
        raise Missing(f"no {kind} is printed over time: request *{'NODE' if kind == 'node' else 'EL'} PRINT")
    rows = table.curves([column for column, _ in found], labels)
    columns = dict(zip([column for column, _ in found], np.concatenate([*rows.values()])[:, 3:].T, strict=True))
    noise = {of.name: 0.0 if of.unit else NOISE for _, of in found}
    for column, of in found:
        noise[of.name] = max(noise[of.name], MOVES * np.nanmax(np.abs(columns[column]), initial=0.0))
    panels = []
    for place, (column, of) in enumerate(found):
        if column == "N" and "T" in columns and is_same(columns["T"], columns["N"]):
            continue
        lines = tuple((f"{kind} {label}", points(rows[label][:, 2], rows[label][:, place + 3])) for label in labels)
        lines = tuple((name, part) for name, part in lines if np.abs(part[:, 1]).max(initial=0.0) > noise[of.name])
        if lines:
            word = "tension" if of.field == "T2" else of.field
            shown = VALUES[column][2] if column in VALUES else f"{word} {column}"
            panels.append(Panel(shown, results.unit(of.unit) if of.unit else "", lines))
    return panels


GROUPS: dict[str, Callable[[Results], list[Panel]]] = {"Energies": energies, "Links": links, "Angles": angles}
GROUPS |= {"Reactions": reactions, "Joint forces": joints, "Nodes": partial(printed, kind="node")}
GROUPS |= {"Elements": partial(printed, kind="element"), "Solver": newton}


def group_of(results: Results, name: str) -> Group:
    """The charts of a group, or why there are none."""
    try:
        panels = tuple(GROUPS[name](results))
    except (Missing, CommandError) as missing:
        return Group(name, (), str(missing))
    return Group(name, panels, "" if panels else "all values are zero")


DISTANCE = "Distance"
LARGE = 0.1
"""Fraction of the largest distance up to which the growth of two motions' distance is exponential."""


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
        text = f"distance of the two runs: {first:.3g}{unit} at the start, {last:.3g}{unit} at most"
        if not math.isfinite(self.rate) or self.rate <= 0.0:
            return f"{text}; it has not grown tenfold"
        return f"{text}; it grows tenfold in {math.log(10.0) / self.rate:.3g} {time}".rstrip()


def parting_of(one: Results, other: Results) -> Parting:
    """Distance of two runs of one model. Missing: they have no common instants."""
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
    """Rate of the exponential from the first distance to the first large one; NaN: it is never large."""
    large = np.flatnonzero(distance >= LARGE * distance.max())
    if not len(large) or distance[0] <= 0.0 or time[large[0]] <= time[0]:
        return math.nan
    return float(np.log(distance[large[0]] / distance[0]) / (time[large[0]] - time[0]))


SMALL = 30_000_000
"""Bytes of tables of which all groups of charts are read at once."""


class FolderContent:
    """Some groups of charts, the unit of time; where they are asked for, a scene of each folder, and remarks."""

    def __init__(self, folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> None:
        results = [open_results(folder) for folder in folders]
        self.groups = {name: group_of(results[0], name) for name in names if name in GROUPS}
        self.unit = results[0].symbol("time")
        self.scenes: list[bytes] = []
        self.remarks: list[str] = []
        if not has_scenes:
            return
        try:
            self.scenes = [scene_of(each) for each in results]
            if len(results) == 2:
                found, length = parting_of(*results), results[0].symbol("length")
                curve = points(found.time, np.where(found.distance > 0.0, found.distance, np.nan))
                panel = Panel("distance of the two runs", length, (("distance", curve),), is_log=True)
                self.groups[DISTANCE] = Group(DISTANCE, (panel,))
                self.remarks.append(found.said(self.unit, length))
        except (Missing, CommandError) as missing:
            self.remarks.append(f"no motion is shown: {missing}")
            self.groups |= {DISTANCE: Group(DISTANCE, (), str(missing))} if len(results) == 2 else {}


def read(folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> FolderContent | None:
    """None: of no folder, where nothing is written yet, or the folder is being cleared."""
    try:
        return FolderContent(folders, names, has_scenes) if folders else None
    except (CommandError, OSError):
        return None


def is_small(folder: Path) -> bool:
    """All charts of it are read at once."""
    try:
        return sum(path.stat().st_size for path in folder.glob("*.csv")) < SMALL
    except OSError:
        return True
