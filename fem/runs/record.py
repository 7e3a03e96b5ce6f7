"""Output of a run while it proceeds: the interface between the increment loop and everything that writes.

The loop calls, for every step: ``begin``, then ``rows`` and ``frame`` as they come (increment 0 first), ``event``
and ``notice`` when there is one, ``modes`` in a frequency step. ``close`` comes once, also after a failure.
``keep`` comes between chunks: every sink adds to a checkpoint what it needs for ``resume``. In a continued run
``resume`` comes first, after notices only, with the step in progress, if there is one.

``Acting`` contains masses, loads and springs of one step, stored in ``run.json``. Together with the motion in the
tables it determines the forces of all bars of a statically determinate tree, whatever their material law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Complexes, Floats, Ints, frozen
from fem.model import Amplitude, Model
from fem.model.curves import Constant, Curve, Follow, Ramp, combined
from fem.model.quantities import ENERGIES, Values, values_of

MOST_SHOWN = 8
"""Frequencies in the text of modes."""


@frozen
class StepStart:
    """Start of a step (counted from 1) at a total time; a FREQUENCY step has no period and no ``acting``."""

    step: int
    name: str | None
    procedure: str
    time: float
    period: float
    increments: int | None
    solver: str = ""
    acting: Callable[[], Acting] | None = None


@frozen
class Rows:
    """k increments of one step, in order: increments, and the recorded nodes and elements.

    An explicit step omits increments that no request needs.

    increment, iterations, cutbacks (k,) int; time, dt, residual_norm, largest_u and the energies (k,)
    nodes     (p,)        node indices recorded; motion (k, r, p, 3): the recorded quantities of nodes, at them
    elements  (q,)        element indices recorded; element_values (k, q, s): those of elements
    is_end    the last row is the last increment of its step
    sea_from  total time at which ramps of waves begin
    unloaded  largest residual force in the last row, if there is no load to compare it with
    """

    step: int
    increment: Ints
    time: Floats
    dt: Floats
    iterations: Ints
    residual_norm: Floats
    cutbacks: Ints
    kinetic: Floats
    strain: Floats
    potential: Floats
    external_work: Floats
    dissipated: Floats
    energy_error: Floats
    numerical_dissipation: Floats
    largest_u: Floats
    nodes: Ints
    motion: Floats
    elements: Ints
    element_values: Floats
    is_end: bool = False
    load_factor: Floats | None = None
    sea_from: float = math.inf
    unloaded: float = 0.0

    def joined(self, others: Sequence[Rows]) -> Rows:
        """These rows and those of the same step that follow."""
        parts = [self, *others]
        arrays: Any = {name: np.concatenate([getattr(part, name) for part in parts]) for name in self.series}
        return replace(self, **arrays, is_end=parts[-1].is_end, unloaded=parts[-1].unloaded)

    def chosen(self, which: Ints) -> Rows:
        """Some of the rows."""
        arrays: Any = {name: getattr(self, name)[which] for name in self.series}
        return replace(self, **arrays)

    def after(self, first: int) -> Rows:
        """Those from row ``first`` on."""
        return self.chosen(np.arange(first, len(self.increment)))

    def in_lanes(self, lanes: tuple[int, ...]) -> Rows:
        """Rows of a model as those of lanes: with more axes of numbers, in which these are the same."""
        alike = ("increment", "cutbacks")
        arrays = {name: getattr(self, name) for name in self.series if name not in alike}
        spread: Any = {
            name: np.broadcast_to(each.reshape(each.shape + (1,) * len(lanes)), each.shape + lanes)
            for name, each in arrays.items()
        }
        return replace(self, **spread)

    @property
    def series(self) -> list[str]:
        """Fields that have one entry per increment."""
        same = {"step", "nodes", "elements", "is_end", "sea_from", "unloaded"}
        return [each.name for each in fields(self) if each.name not in same and getattr(self, each.name) is not None]

    def values(self, model: Model) -> dict[str, Values]:
        """Quantities by kind, in the format of ``values_of``."""
        motion, of_elements = self.motion.swapaxes(0, 1), self.element_values.swapaxes(0, 2).swapaxes(1, 2)
        energies = [getattr(self, name)[:, None] for name in ENERGIES]
        return values_of(model, self.nodes, motion, self.elements, of_elements, energies, self.time, self.sea_from)


@frozen
class Frame:
    """The whole field at one increment.

    motion   (r, n, 3)  recorded quantities of nodes;  element_values (m, s): and of elements
    for_vtk  a VTK output is due (frames at step ends, ``is_end``, always come, for the tables)
    sea_from as of ``Rows``
    """

    step: int
    increment: int
    time: float
    motion: Floats
    element_values: Floats
    is_end: bool
    for_vtk: bool
    sea_from: float = math.inf

    def values(self, model: Model) -> dict[str, Values]:
        """Quantities by kind, in the format of ``values_of``."""
        nodes, elements = np.arange(self.motion.shape[1]), np.arange(len(self.element_values))
        return values_of(model, nodes, self.motion, elements, self.element_values.T, (), self.time, self.sea_from)


@frozen
class Event:
    """A change of regime: taut, slack, impact, cutback, or snap, a line that becomes taut in an increment too long to
    show it; on static paths limit, bifurcation and jump (``solve/paths.py``), with the load factor of RIKS.
    ``element`` and ``node`` (that meets or leaves a plane) are labels, 0 for none."""

    step: int
    increment: int
    time: float
    element: int
    event: str
    energy_loss: float = 0.0
    node: int = 0
    load_factor: float | None = None


@frozen
class Modes:
    """Result of ``*FREQUENCY``: number (k,) counted from 1 with those left out because they could not be confirmed,
    frequency (k,) in cycles per unit time, omega (k,), generalized_mass (k,), shapes (k, n, 3) scaled to a largest
    component of 1. An unstable mode (omega^2 < 0) has negative values, a mode without stiffness has zero.
    Two modes with conjugate omega^2 have its real part; their shapes are the real and imaginary part of the shape."""

    step: int
    time: float
    number: Ints
    frequency: Floats
    omega: Floats
    generalized_mass: Floats
    shapes: Floats

    @property
    def by_name(self) -> dict[str, float]:
        """Frequencies as columns of sweeps and numbers with error bars."""
        return {
            frequency_name(self.step, number): frequency
            for number, frequency in zip(self.number.tolist(), self.frequency.tolist(), strict=True)
        }

    def __repr__(self) -> str:
        found = ", ".join(f"{value:.6g}" for value in self.frequency[:MOST_SHOWN])
        more = ", ..." if len(self.frequency) > MOST_SHOWN else ""
        return f"Modes of step {self.step}, frequency: {found}{more}; omega, generalized_mass, shapes"


@frozen
class Factors:
    """Result of ``*BUCKLE``: number (k,) from 1, factor (k,) of the loads of the step, the positive ones rising, then
    negative ones falling, residual (k,) over the largest force, shapes (k, n, 3) with a largest component of 1."""

    step: int
    time: float
    number: Ints
    factor: Floats
    residual: Floats
    shapes: Floats

    def __repr__(self) -> str:
        found = ", ".join(f"{value:.9g}" for value in self.factor[:MOST_SHOWN])
        more = ", ..." if len(self.factor) > MOST_SHOWN else ""
        return f"Factors of step {self.step}: {found}{more}; residual, shapes"


def frequency_name(step: int, number: int) -> str:
    """Name of a natural frequency of a step, for columns."""
    return f"frequency_{step}_{number}"


@frozen
class Response:
    """Harmonic motion at one frequency [cycles/time], x(t) = Re(x e^(2 pi i frequency t)): complex amplitudes.

    motion    (4, p, 3) of U, V, A, RF, at ``nodes`` (p,), indices;  values (q, 4) of E, S, N, T, of ``elements`` (q,)
    iterations  linear solves;  residual: largest residual force over the largest load
    """

    step: int
    frequency: float
    iterations: int
    residual: float
    nodes: Ints
    motion: Complexes
    elements: Ints
    values: Complexes


class SilentSink:
    """A sink that ignores everything; sinks override the methods they need.

    hears_rows     False: no rows are made for this sink
    hears_notices  False: notices that take long are not looked for
    hears_frames   False: no fields are made for it
    """

    hears_rows: bool = True
    hears_notices: bool = True
    hears_frames: bool = True

    def begin(self, start: StepStart) -> None: ...
    def rows(self, rows: Rows) -> None: ...
    def frame(self, frame: Frame) -> None: ...
    def event(self, event: Event) -> None: ...
    def modes(self, modes: Modes) -> None: ...
    def factors(self, factors: Factors) -> None: ...
    def response(self, response: Response) -> None: ...
    def notice(self, text: str) -> None: ...
    def keep(self, checkpoint: dict[str, Any]) -> None: ...
    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None: ...
    def close(self) -> None: ...


Sink: TypeAlias = SilentSink


NUMBERS = ("damping", "springs", "constants", "labels")
MOST_ELEMENTS = 1000
"""For larger models ``Acting`` is stored only if accelerations of most nodes are printed, which take more space."""


@dataclass(frozen=True, slots=True, eq=False)
class Acting:
    """n nodes, k elements, s springs between dofs.

    mass, damping (k,)  of each element, and its mass-proportional damping; half of both belongs to either end
    forces              (forces on nodes (n, 3), forces on elements (k, 3), their curve of total time)
    springs (s, 2)      dofs, -1 for the ground;  constants (s, 2): stiffness, viscosity;  labels (s,) of the elements
    is_middle           A and RF of an increment belong to its middle, with the means of loads, positions, velocities
    obstacle            other loads, with which forces of bars cannot be computed; empty: there are none
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
        return all(isinstance(curve, Constant) for _, _, curve in self.forces)


def as_record(acting: Acting | None, prints: bool) -> dict[str, Any] | None:
    """For JSON, every array as one line of text; None if too large. prints: accelerations of most nodes are printed."""
    if acting is None or (len(acting.mass) > MOST_ELEMENTS and not prints):
        return None
    loads = [
        {"nodes": rows_of(nodes), "elements": rows_of(elements), "curve": {type(curve).__name__: given_of(curve)}}
        for nodes, elements, curve in acting.forces
    ]
    arrays = {name: text_of(getattr(acting, name)) for name in ("mass", *NUMBERS)}
    return {**arrays, "loads": loads, "is_middle": acting.is_middle, "obstacle": acting.obstacle}


def from_record(record: Mapping[str, Any], nodes: int) -> Acting:
    """Reads the entry of ``as_record`` for so many nodes. ValueError, KeyError, TypeError: it is damaged."""
    mass = numbers_of(record["mass"])
    forces = tuple(
        (full(load["nodes"], nodes), full(load["elements"], len(mass)), curve_of(load["curve"]))
        for load in record["loads"]
    )
    damping, springs, constants, labels = (numbers_of(record[name]) for name in NUMBERS)
    pairs = springs.astype(np.int64).reshape(-1, 2), constants.reshape(-1, 2), labels.astype(np.int64)
    return Acting(mass, damping, forces, *pairs, bool(record["is_middle"]), str(record["obstacle"]))


def given_of(curve: Any) -> dict[str, Any]:
    """Its fields, without what was computed from them."""
    return asdict(curve, dict_factory=lambda pairs: {name: value for name, value in pairs if name[0] != "_"})


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
    """The rows (r, 3) that are not zero: their indices, and their values one after the other."""
    (rows,) = np.nonzero(array.any(axis=1))
    return [text_of(rows), text_of(array[rows])]


def full(rows: list[str], count: int) -> Floats:
    """(count, 3) from ``rows_of``."""
    array = np.zeros((count, 3))
    array[numbers_of(rows[0]).astype(np.int64)] = numbers_of(rows[1]).reshape(-1, 3)
    return array


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """State with which the first step begins, its source (for the record), and the folder of that run."""

    state: dict[str, Any]
    named: dict[str, Any]
    folder: Path


@dataclass(frozen=True, slots=True)
class Requests:
    """Options of a run besides its model."""

    solver: str = "AUTO"
    record_all: bool = False
    fields: bool = True
    earlier: EarlierRun | None = None
    is_driven: bool = False

    @property
    def state(self) -> dict[str, Any] | None:
        return self.earlier.state if self.earlier else None


NO_WISHES = Requests()
