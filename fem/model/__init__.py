"""What the user said, as frozen data: no arrays of dofs, no text, no solver."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fem.arrays import ArrayData, Ints
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
from fem.model.mesh import ElementBlock, Mesh
from fem.model.properties import BarSection, Dashpot, Expansion, Failure, Material, PointMass, RestLength, Spring
from fem.model.steps import (
    ArcEnd,
    Controls,
    Dynamic,
    EarlierState,
    Frequency,
    OutputRequest,
    Static,
    Step,
    outputs_in_force,
)
from fem.model.surroundings import DragLaw, FluidLoad, MarineGrowth, Seabed, Water, Wind

LONGEST = 110


def shortened(line: str) -> str:
    """A line that fits a screen."""
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


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

    >>> model = fem.read_deck("inputs/sdnl100.inp")
    >>> model.mesh.coordinates.tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
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
    seabeds: tuple[Seabed, ...] = ()
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
        for body in self.bodies:
            if np.isin(self.mesh.nodes_of(body.node), nodes).any():
                nodes = np.union1d(nodes, self.mesh.nodes_of(body.pinned))
        return nodes


__all__ = ["ElementBlock", "Mesh", "Model", "outputs_in_force"]
__all__ += ["Amplitude", "Boundary", "DistributedLoad", "Equation", "InitialCondition", "NodalLoad", "Temperature"]
__all__ += ["Failure", "RigidBody"]
__all__ += ["BarSection", "Dashpot", "Expansion", "Material", "PointMass", "RestLength", "Spring"]
__all__ += ["ArcEnd", "Controls", "Dynamic", "EarlierState", "Frequency", "OutputRequest", "Static", "Step"]
__all__ += ["DragLaw", "FluidLoad", "MarineGrowth", "Seabed", "Water", "Wind"]
