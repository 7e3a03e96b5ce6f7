"""What the user said, as frozen data: no arrays of dofs, no text, no solver."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Floats, Ints
from fem.model.arrays_equal import ArrayData
from fem.model.loads import (
    Amplitude,
    Boundary,
    DistributedLoad,
    Equation,
    InitialCondition,
    NodalLoad,
    RigidBody,
    Temperature,
)
from fem.model.mesh import BARS, ElementBlock, Mesh
from fem.model.properties import BarSection, Dashpot, Expansion, Failure, Material, PointMass, RestLength, Spring
from fem.model.steps import (
    ArcEnd,
    Controls,
    Dynamic,
    EarlierState,
    Frequency,
    OutputRequest,
    Procedure,
    Static,
    Step,
    outputs_in_force,
)
from fem.model.surroundings import DragLaw, FluidLoad, MarineGrowth, Water, Wind

LONGEST = 110


def shortened(line: str) -> str:
    """A line that fits a screen."""
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


SHOWN_BY = 20
"""Increments in a period that show it: with them the trapezoidal rule makes it longer by 0.8 %."""
MOST_HELD = 100
"""Distances are taken from so many held nodes at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Model(ArrayData):
    """A whole analysis. Equality ignores where it came from (``source``, ``digest``, ``notices``).

    boundaries   supports given before the first step (zero-valued); rotations: those of reference nodes
    bodies       rigid bodies on prescribed ways
    parameters   name -> value of ``*PARAMETER``, ``--set`` applied (for the record; already substituted)
    links        pairs of node indices that keep their distance (``*MPC``, LINK)
    time_points  name -> rising instants
    restart_every  increments between two checkpoints (``*RESTART, WRITE``), 0: by wall time and at the ends of steps;
                 None: not asked for
    earlier      the state of another run to begin with (``*RESTART, READ``)
    source       path of the deck; ``digest``: SHA-256 of all bytes it was read from
    files        real paths of all files it was read from
    notices      what the reader accepted without effect, and other remarks for the user
    extensions   cards and parameters used that neither Abaqus nor CalculiX has
    """

    mesh: Mesh
    heading: tuple[str, ...] = ()
    materials: dict[str, Material] = field(default_factory=dict)
    sections: tuple[BarSection, ...] = ()
    springs: tuple[Spring, ...] = ()
    dashpots: tuple[Dashpot, ...] = ()
    masses: tuple[PointMass, ...] = ()
    rest_lengths: tuple[RestLength, ...] = ()
    failures: tuple[Failure, ...] = ()
    water: Water | None = None
    wind: Wind | None = None
    drag_laws: dict[str, DragLaw] = field(default_factory=dict)
    growths: tuple[MarineGrowth, ...] = ()
    amplitudes: dict[str, Amplitude] = field(default_factory=dict)
    equations: tuple[Equation, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    initial_conditions: tuple[InitialCondition, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    rotations: tuple[Boundary, ...] = ()
    bodies: tuple[RigidBody, ...] = ()
    time_points: dict[str, tuple[float, ...]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    restart_every: int | None = None
    earlier: EarlierState | None = None
    parameters: dict[str, float] = field(default_factory=dict, compare=False)
    source: str = field(default="", compare=False)
    digest: str = field(default="", compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    extensions: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        kinds = (f"{len(block.labels)} {block.kind}" for block in self.mesh.blocks)
        steps = (type(step.procedure).__name__.upper() for step in self.steps)
        lists = {
            f"{len(self.mesh.node_labels)} nodes; elements": kinds,
            "steps": steps,
            "node sets": self.mesh.node_sets,
            "element sets": self.mesh.element_sets,
            "parameters": (f"{name}={value:g}" for name, value in self.parameters.items()),
        }
        heading = f": {self.heading[0].strip()}" if self.heading else ""
        lines = [f"  {name}: {', '.join(items) or 'none'}" for name, items in lists.items()]
        return "\n".join(map(shortened, [f"Model of {self.source or 'no file'}{heading}", *lines]))

    @property
    def pinned(self) -> Ints:
        """Nodes that move with rigid bodies."""
        return np.concatenate([np.zeros(0, np.int64), *(self.mesh.nodes_of(body.pinned) for body in self.bodies)])

    def with_pinned(self, nodes: Ints) -> Ints:
        """Sorted node indices; with reference nodes of rigid bodies all that are pinned to these."""
        bodies = [body for body in self.bodies if np.isin(self.mesh.nodes_of(body.node), nodes).any()]
        return np.unique(np.concatenate([nodes, *(self.mesh.nodes_of(body.pinned) for body in bodies)]))

    def reach(self) -> Floats:
        """(n,) distance of each node from the nearest one that is held in all directions; infinite where none is."""
        held = np.zeros((len(self.mesh.node_labels), 3), bool)
        for given in (*self.boundaries, *(boundary for step in self.steps for boundary in step.boundaries)):
            held[self.mesh.nodes_of(given.target), given.dof - 1] = True
        held[self.pinned] = True
        x = self.mesh.coordinates
        places = x[held.all(axis=1)][:MOST_HELD]
        square = (x * x).sum(axis=1)[:, None] - 2.0 * x @ places.T + (places * places).sum(axis=1)
        distance: Floats = np.sqrt(np.maximum(square.min(axis=1, initial=np.inf), 0.0))
        distance[held.all(axis=1)] = 0.0
        return distance

    def coarse_swing(self, procedure: Procedure) -> str:
        """That equal increments do not show even the slowest swing, 2 pi sqrt(L/g); nothing where they do.

        L: how far a node is from a support. Nets and chains swing: they have fewer than two bars for each free node.
        """
        weights = [load.value for step in self.steps for load in step.distributed_loads if load.kind == "GRAV"]
        if not (isinstance(procedure, Dynamic) and procedure.direct and any(weights)):
            return ""
        reach, bars = self.reach(), [len(block.labels) for block in self.mesh.blocks if block.kind in BARS]
        free = np.isfinite(reach) & (reach > 0.0)
        far = int(np.where(free, reach, 0.0).argmax())
        period = 2.0 * math.pi * math.sqrt(reach[far] / max(map(abs, weights)))
        if not 0 < sum(bars) < 2 * np.count_nonzero(free) or SHOWN_BY * procedure.dt <= period:
            return ""
        return (
            f"dt = {procedure.dt:g} is longer than a twentieth of the slowest swing (period about {period:.3g}: "
            f"2 pi sqrt(L/g), L from a support to node {self.mesh.node_names[far]}): increments do not show the motion"
        )


__all__ = ["ElementBlock", "Mesh", "Model", "outputs_in_force"]
__all__ += ["Amplitude", "Boundary", "DistributedLoad", "Equation", "InitialCondition", "NodalLoad", "Temperature"]
__all__ += ["Failure", "RigidBody"]
__all__ += ["BarSection", "Dashpot", "Expansion", "Material", "PointMass", "RestLength", "Spring"]
__all__ += ["ArcEnd", "Controls", "Dynamic", "EarlierState", "Frequency", "OutputRequest", "Static", "Step"]
__all__ += ["DragLaw", "FluidLoad", "MarineGrowth", "Water", "Wind"]
