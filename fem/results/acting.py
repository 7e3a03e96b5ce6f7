"""What acts on a model in one step, bars apart: its masses, loads and springs, as ``run.json`` keeps them.

With the motion in the tables it gives every force that a tree of bars passes on, whatever the law of the bars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Amplitude
from fem.model.curves import Constant, Curve, Follow, Ramp, combined

NUMBERS = ("damping", "springs", "constants", "labels")
MOST_ELEMENTS = 1000
"""Models of more elements are kept only where the accelerations of most nodes are printed, which takes more room."""


@dataclass(frozen=True, slots=True, eq=False)
class Acting:
    """n nodes, k elements, s springs between dofs.

    mass, damping (k,)  of each element, and its mass-proportional damping; half of both belongs to either end
    forces              (forces on nodes (n, 3), forces on elements (k, 3), their curve of total time)
    springs (s, 2)      dofs, -1 for the ground;  constants (s, 2): stiffness, viscosity;  labels (s,) of the elements
    is_middle           A and RF of an increment belong to its middle, with the means of loads, positions, velocities
    obstacle            what acts besides, so that nothing follows; empty: nothing does
    """

    mass: Floats
    damping: Floats
    forces: tuple[tuple[Floats, Floats, Curve], ...]
    springs: Ints
    constants: Floats
    labels: Ints
    is_middle: bool
    obstacle: str = ""

    def loads(self, time: Floats) -> tuple[Floats, Floats]:
        """Forces on nodes (t, n, 3) and on elements (t, k, 3) at given times."""
        on_nodes = [(forces, curve) for forces, _, curve in self.forces]
        on_elements = [(forces, curve) for _, forces, curve in self.forces]
        shapes = (on_nodes[0][0].shape, on_elements[0][0].shape) if self.forces else ((1, 3), (1, 3))
        return combined(on_nodes, time, shapes[0]), combined(on_elements, time, shapes[1])

    @property
    def is_constant(self) -> bool:
        """No load varies."""
        return all(isinstance(curve, Constant) for _, _, curve in self.forces)


def as_record(acting: Acting | None, prints: bool) -> dict[str, Any] | None:
    """For JSON, every array as one line of text; None where it is too much. prints: A of most nodes is printed."""
    if acting is None or (len(acting.mass) > MOST_ELEMENTS and not prints):
        return None
    loads = [
        {"nodes": rows_of(nodes), "elements": rows_of(elements), "curve": {type(curve).__name__: asdict(curve)}}
        for nodes, elements, curve in acting.forces
    ]
    arrays = {name: text_of(getattr(acting, name)) for name in ("mass", *NUMBERS)}
    return {**arrays, "loads": loads, "is_middle": acting.is_middle, "obstacle": acting.obstacle}


def from_record(record: Mapping[str, Any], nodes: int) -> Acting:
    """What ``as_record`` made of a model with so many nodes. ValueError, KeyError, TypeError: it is none."""
    mass = numbers_of(record["mass"])
    forces = tuple(
        (full(load["nodes"], nodes), full(load["elements"], len(mass)), curve_of(load["curve"]))
        for load in record["loads"]
    )
    damping, springs, constants, labels = (numbers_of(record[name]) for name in NUMBERS)
    pairs = springs.astype(np.int64).reshape(-1, 2), constants.reshape(-1, 2), labels.astype(np.int64)
    return Acting(mass, damping, forces, *pairs, bool(record["is_middle"]), str(record["obstacle"]))


def curve_of(record: Mapping[str, Any]) -> Curve:
    """A curve from its name and fields."""
    ((name, fields),) = record.items()
    if name != Follow.__name__:
        return Ramp(**fields) if name == Ramp.__name__ else Constant(**fields)
    given = dict(fields["amplitude"])
    for pairs in ("points", "fourier"):
        given[pairs] = tuple((float(a), float(b)) for a, b in given[pairs])
    return Follow(Amplitude(**given), float(fields["origin"]))


def text_of(array: Any) -> str:
    """Numbers with all their digits, in one line."""
    return " ".join(map(repr, np.ravel(array).tolist()))


def numbers_of(text: str) -> Floats:
    return np.array(text.split(), float)


def rows_of(array: Floats) -> list[str]:
    """The rows (r, 3) that are not zero: their numbers, and behind each other what they hold."""
    (rows,) = np.nonzero(array.any(axis=1))
    return [text_of(rows), text_of(array[rows])]


def full(rows: list[str], count: int) -> Floats:
    """(count, 3) from ``rows_of``."""
    array = np.zeros((count, 3))
    array[numbers_of(rows[0]).astype(np.int64)] = numbers_of(rows[1]).reshape(-1, 3)
    return array
