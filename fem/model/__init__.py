"""What the user said, as frozen data: no arrays of dofs, no text, no solver."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from fem.arrays import Floats, Ints, frozen
from fem.model.curves import Amplitude
from fem.model.loads import (
    Boundary,
    DistributedLoad,
    Equation,
    InitialCondition,
    NodalLoad,
    RigidBody,
    StopPlane,
    Temperature,
    Winch,
)
from fem.model.mesh import ElementBlock, Mesh
from fem.model.properties import (
    BarSection,
    Dashpot,
    DynamicStiffness,
    Expansion,
    Failure,
    Material,
    NonstructuralMass,
    PointMass,
    Pulley,
    RestLength,
    Spring,
    Uniaxial,
    Viscoelastic,
)
from fem.model.steps import (
    ArcEnd,
    Controls,
    Dynamic,
    EarlierState,
    Frequency,
    FrequencyRange,
    ModalDamping,
    OutputRequest,
    Perturbation,
    Reach,
    Static,
    SteadyState,
    Step,
    outputs_in_force,
    reach_of,
)
from fem.model.surroundings import (
    Airy,
    DragLaw,
    FluidLoad,
    Jonswap,
    MarineGrowth,
    RigidCylinder,
    Seabed,
    Water,
    Wind,
    components_of,
)

LONGEST = 110


def shortened(line: str) -> str:
    """A line that fits a screen."""
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


@frozen
class Model:
    """A whole analysis. Equality ignores where it came from (``source``, ``digest``, ``notices``).

    boundaries   supports given before the first step (zero-valued); rotations: those of reference nodes
    pulleys      friction of ropes that run over some; these are elements of the mesh
    bodies       rigid bodies on prescribed ways;  planes: half-spaces that nodes do not enter
    parameters   name -> value of ``*PARAMETER``, ``--set`` applied (for the record; already substituted)
    links        pairs of node indices that keep their distance (``*MPC``, LINK)
    time_points  name -> rising instants
    restart_every  increments between two checkpoints (``*RESTART, WRITE``), 0: by wall time and at the ends of steps;
                 None: not asked for
    earlier      the state of another run to begin with (``*RESTART, READ``)
    inherited    what the steps of that run act on
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
    nonstructural: tuple[NonstructuralMass, ...] = ()
    rest_lengths: tuple[RestLength, ...] = ()
    pulleys: tuple[Pulley, ...] = ()
    failures: tuple[Failure, ...] = ()
    seabeds: tuple[Seabed, ...] = ()
    cylinders: tuple[RigidCylinder, ...] = ()
    water: Water | None = None
    wind: Wind | None = None
    waves: tuple[Airy | Jonswap, ...] = ()
    drag_laws: dict[str, DragLaw] = field(default_factory=dict)
    growths: tuple[MarineGrowth, ...] = ()
    amplitudes: dict[str, Amplitude] = field(default_factory=dict)
    equations: tuple[Equation, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    initial_conditions: tuple[InitialCondition, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    rotations: tuple[Boundary, ...] = ()
    bodies: tuple[RigidBody, ...] = ()
    planes: tuple[StopPlane, ...] = ()
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
    inherited: Reach = field(default_factory=Reach, compare=False)

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
    def sea(self) -> Floats:
        """(c, 6) regular waves: those of all ``*WAVE``, as ``surroundings.py`` has them, and their ramps."""
        return components_of(self.waves, self.water)

    @property
    def pinned(self) -> Ints:
        """Nodes that move with rigid bodies."""
        return np.concatenate([np.zeros(0, np.int64), *(self.mesh.nodes_of(body.pinned) for body in self.bodies)])

    @property
    def runs(self) -> bool:
        """Some lines run: over pulleys, or on winches."""
        return self.mesh.has_pulleys or len(self.reach.wound) > 0

    @property
    def reach(self) -> Reach:
        """What winches and fluid loads act on in any step, those of earlier runs included."""
        return self.inherited | reach_of(self.mesh, self.steps)

    @property
    def planes_at_rest(self) -> list[StopPlane]:
        """Those whose nodes are held where they are."""
        steps = [boundary for step in self.steps for boundary in step.boundaries]
        found = []
        for plane in self.planes:
            (node,) = self.mesh.nodes_of(plane.node)
            own = [each for each in (*self.boundaries, *steps) if node in self.mesh.nodes_of(each.target)]
            if {each.dof for each in own} >= {1, 2, 3} and not any(each.value for each in own):
                found.append(plane)
        return found

    def with_pinned(self, nodes: Ints) -> Ints:
        """Sorted node indices; with reference nodes of rigid bodies all that are pinned to these."""
        for body in self.bodies:
            if np.isin(self.mesh.nodes_of(body.node), nodes).any():
                nodes = np.union1d(nodes, self.mesh.nodes_of(body.pinned))
        return nodes


__all__ = ["ElementBlock", "Mesh", "Model", "outputs_in_force"]
__all__ += ["Amplitude", "Boundary", "DistributedLoad", "Equation", "InitialCondition", "NodalLoad", "Temperature"]
__all__ += ["Failure", "RigidBody", "StopPlane"]
__all__ += ["BarSection", "Dashpot", "Expansion", "Material", "NonstructuralMass", "PointMass", "RestLength", "Spring"]
__all__ += ["Pulley", "Winch"]
__all__ += ["DynamicStiffness", "Uniaxial", "Viscoelastic"]
__all__ += ["ArcEnd", "Controls", "Dynamic", "EarlierState", "Frequency", "OutputRequest", "Static", "Step"]
__all__ += ["FrequencyRange", "ModalDamping", "Perturbation", "SteadyState"]
__all__ += ["Airy", "DragLaw", "FluidLoad", "Jonswap", "MarineGrowth", "RigidCylinder", "Seabed", "Water", "Wind"]
