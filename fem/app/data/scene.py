"""What the player of the page draws: positions and values of a model at some instants, as JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.runs.read import Missing, Results, Table
from fem.show.animate import even_times
from fem.show.motion import (
    Motion,
    Pick,
    bars_of,
    break_times,
    field_values,
    plane_of,
    table_values,
    tension_scale,
    whole_motion,
)
from fem.show.scenery import planes_of, upright

MOST_NUMBERS = 3_000_000
"""Coordinates that are sent to the browser: 12 MB."""
MOST_FRAMES, LEAST_FRAMES = 1_000, 20
VALUES = {"T": ("T", "force"), "N": ("N", "force"), "E": ("strain", "")}
"""What colours bars: name -> array of the fields, formula of its unit."""


def packed(numbers: Any, kind: str = "<f4") -> str:
    """Numbers as the browser takes them: bytes of single precision, or ``<i4``, in base64."""
    return base64.b64encode(np.ascontiguousarray(numbers, kind).tobytes()).decode()


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """k instants of n nodes and m elements.

    time (k,), x (k, n, 3), ends (m, 2) node indices, the last ``dashed`` of them no bars; labels, elements: their names
    rest      (n, 3) positions without displacements, for magnifying these; None: there are none
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

    def text(self) -> bytes:
        """As the player reads it."""
        scales = {}
        for name, part in self.values.items():
            if np.isfinite(part).any():
                colours, slack = tension_scale(part)
                low, high = colours.get_clim()
                formula = VALUES[name][1]
                scales[name] = {"numbers": packed(part), "low": float(low), "high": float(high), "slack": slack}
                least, most = self.extremes.get(name, (float(np.nanmin(part)), float(np.nanmax(part))))
                scales[name] |= {"least": least, "most": most}
                scales[name]["unit"] = self.unit(formula) if formula else ""
        plain = {name: list(getattr(self, name)) for name in ("axes", "supports", "traced", "planes")}
        plain |= {name: [str(label) for label in getattr(self, name)] for name in ("labels", "elements")}
        bars, breaks = len(self.ends) - self.dashed, self.breaks
        content = plain | {"nodes": len(self.labels), "bars": bars, "up": self.up, "values": scales}
        content |= {"time": packed(self.time, "<f8"), "x": packed(self.x), "ends": packed(self.ends, "<i4")}
        content["rest"] = None if self.rest is None else packed(self.rest)
        content["loads"] = {str(node): list(load) for node, load in self.loads.items()}
        content["sets"] = {name: indices.tolist() for name, indices in self.sets.items()}
        content["breaks"] = None if breaks is None or not np.isfinite(breaks).any() else packed(breaks)
        content["units"] = {"time": self.unit("time"), "length": self.unit("length")}
        return json.dumps(content, allow_nan=False).encode()


def motion_of(results: Results) -> tuple[Motion, Pick]:
    """The whole motion, at so many instants as a browser can hold. Missing: there is none, or too large a model."""
    count = len(results.mesh.node_labels)
    frames = min(MOST_FRAMES, MOST_NUMBERS // (3 * max(count, 1)))
    if frames < LEAST_FRAMES:
        raise Missing(f"{count} nodes are too many to be shown in a browser: ParaView opens {results.name}.pvd")
    pick = even_times(results.boundaries, frames)
    return whole_motion(results, pick), pick


def scene_of(results: Results) -> bytes:
    """The motion of a run. Missing: there is none."""
    mesh = results.mesh
    motion, pick = motion_of(results)
    bars, labels = bars_of(mesh)
    lines = mesh.ends[:, 0] != mesh.ends[:, 1]
    others = lines & ~mesh.is_bar
    held = still(motion.values["U"])
    up = upright(results)
    return Scene(
        motion.time,
        mesh.coordinates + motion.values["U"],
        mesh.node_labels.tolist(),
        [*labels, *mesh.element_labels[others].tolist()],
        np.concatenate([bars, mesh.ends[others]]),
        plane_of(results),
        results.symbol,
        up=up,
        values=values_of(results, motion, pick, labels),
        dashed=int(others.sum()),
        supports=np.flatnonzero(held & used(mesh.legs[0], len(held))).tolist(),
        traced=free_ends(bars, held),
        planes=[(plane.height, plane.colour, plane.is_bottom) for plane in planes_of(results)],
        breaks=break_times(results),
        extremes={} if motion.keys is None else extremes_of(results.elements, labels),
        rest=mesh.coordinates,
    ).text()


def still(u: Floats) -> Flags:
    """(n,) nodes that stay where they are; u (k, n, 3). None of them where nothing has moved yet."""
    found = np.asarray((u == u[0]).all(axis=(0, 2)))
    return found & ~found.all()


def used(ends: Ints, count: int) -> Flags:
    """(n,) nodes at which an element ends."""
    return np.asarray(np.isin(np.arange(count), ends))


def free_ends(bars: Ints, held: Flags, most: int = 4) -> list[int]:
    """Nodes at which a single bar ends and that move: their trails are drawn."""
    count = np.bincount(bars.ravel(), minlength=len(held))
    free: list[int] = np.flatnonzero((count == 1) & ~held).tolist()
    return free[-most:]


def extremes_of(table: Table, labels: list[int]) -> dict[str, tuple[float, float]]:
    """Least and greatest of T, N and E of some labels over all lines of a table."""
    names = [name for name in VALUES if name in table.columns]
    ends = dict.fromkeys(names, (np.inf, -np.inf))
    for block in table.blocks([table.columns[3], *names]) if names else ():
        rows = block[np.isin(block[:, 0], labels)]
        for place, name in enumerate(names, 1):
            known = rows[:, place][np.isfinite(rows[:, place])]
            if len(known):
                ends[name] = min(ends[name][0], float(known.min())), max(ends[name][1], float(known.max()))
    return {name: both for name, both in ends.items() if both[0] <= both[1]}


def values_of(results: Results, motion: Motion, pick: Pick, labels: list[int]) -> dict[str, Floats]:
    """T, N and E of all bars at the instants of a motion, as far as they were written: name -> (k, bars)."""
    if motion.keys is None:
        elements = results.mesh.bars[1]
        return field_values(results, pick, {name: (array, elements) for name, (array, _) in VALUES.items()})[1]
    table = results.elements
    names = [name for name in VALUES if name in table.columns]
    found = table_values(table, names, labels, motion.keys) if names else None
    return {} if found is None else {name: found[:, :, place] for place, name in enumerate(names)}
