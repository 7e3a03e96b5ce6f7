"""Content of a deck as frozen dataclasses, without arrays of dofs, text or solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints, frozen
from fem.model.beams import Angles, angles_of, find_angles
from fem.model.curves import Amplitude, Live
from fem.model.free_bodies import RotaryInertia
from fem.model.gusts import gusts_at
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
from fem.model.materials import DynamicStiffness, Expansion, Material, Uniaxial, Viscoelastic
from fem.model.mesh import AXIAL, BEAMS, ElementBlock, Mesh
from fem.model.steps import (
    ArcEnd,
    Buckle,
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
    VortexLift,
    Water,
    Wind,
    components_of,
)
from fem.model.vessels import Rao

MASS_RULES = ("LUMPED", "CONSISTENT", "ONE POINT")
STRAINS = ("GREEN", "ENGINEERING", "LOG")


@frozen
class BarSection:
    """``*SOLID SECTION``: material, area and the conventions of a set of T3D2 / T2D2 / PULLEY.
    inertia  I11 of B31, whose card is a beam section; 0 for all others;  second: I22 where it differs
    torsion, shear  J and G (0: that of the material);  direction: n1;  coupling: of tension and torsion [force length]
    is_straight     lines are straight at rest, however they are drawn"""

    element_set: str
    material: str
    area: float
    mass_rule: str = "LUMPED"
    strain: str = "GREEN"
    starting_tension: float = 0.0
    inertia: float = 0.0
    second: float = 0.0
    torsion: float = 0.0
    shear: float = 0.0
    direction: tuple[float, ...] = ()
    coupling: float = 0.0
    is_straight: bool = False


@frozen
class Spring:
    """``*SPRING``. dofs: () axial, (i,) to ground, (i, j) between node 1 dof i and node 2 dof j (1-3).
    Either ``stiffness`` or ``table`` (rows (force, elongation), elongation rising, flat outside)."""

    element_set: str
    dofs: tuple[int, ...] = ()
    stiffness: float = 0.0
    table: tuple[tuple[float, float], ...] = ()


@frozen
class Dashpot:
    """``*DASHPOT``: force = coefficient times the relative velocity of the ends; dofs as for ``Spring``."""

    element_set: str
    dofs: tuple[int, ...] = ()
    coefficient: float = 0.0


@frozen
class PointMass:
    """``*MASS``: mass of each element of the set. alpha: coefficient of the damping force alpha m v."""

    element_set: str
    mass: float
    alpha: float = 0.0


@frozen
class NonstructuralMass:
    """``*NONSTRUCTURAL MASS``: mass on a set of bars that has weight and inertia, but no stiffness: ice, fittings.
    value  mass per natural length;  is_total: mass of the whole set, distributed by natural length"""

    element_set: str
    value: float
    is_total: bool = False
    name: str | None = None


@frozen
class RestLength:
    """``*REST LENGTH``: unstressed length L0 of each bar of a set, or of one bar. Default: distance of its nodes.
    second  of a rope over a pulley: natural length beyond the pulley at the start; ``length`` is then that before it"""

    target: str | int
    length: float
    second: float | None = None

    @property
    def whole(self) -> float:
        """Natural length L0 of the whole element."""
        return self.length + (self.second or 0.0)

    def legs(self, distances: Floats) -> Floats:
        """(q, 2) natural lengths before and beyond a pulley: given, or in proportion to the distances (q, 2) there."""
        if self.second is None:
            return np.asarray(distances * (self.length / distances.sum(axis=1, keepdims=True)))
        return np.tile((self.length, self.second), (len(distances), 1))


@frozen
class Pulley:
    """``*PULLEY``: friction of the ropes of a set: exp(-mu phi) <= T1/T2 <= exp(mu phi); mu = 0 by default."""

    element_set: str
    friction: float


FAILURES = {"TENSION": "T", "STRAIN": "E", "TIME": ""}
"""Kinds of ``*FAILURE``, and the quantity of elements that each of them watches (total time: none)."""


@frozen
class Failure:
    """``*FAILURE``: each element of a set, or one element, is removed once T, E or total time has reached the value."""

    target: str | int
    kind: str
    value: float


def part(card: str, otherwise: Any = ()) -> Any:
    """A field of ``Model`` that cards of one kind fill, and its default without them.
    A restart is refused, with the name of the card, if this field differs from the one of the earlier run."""
    if isinstance(otherwise, dict):
        return field(default_factory=dict, metadata={"card": card})
    return field(default=otherwise, metadata={"card": card})


LONGEST = 110


def shortened(line: str) -> str:
    """The line, cut to the width of a screen."""
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


@frozen
class Model:
    """A whole analysis. Comparison with == ignores its origin (``source``, ``digest``, ``notices``).

    boundaries   supports before the first step (zero-valued); rotations: those of reference nodes
                 and of nodes where beams are clamped
    pulleys      friction of ropes over pulleys, which are elements of the mesh
    others       of keywords that ``fem.register`` has added
    bodies       rigid bodies with prescribed motion;  free_bodies: those that move by themselves
    planes       half-spaces that nodes cannot enter
    parameters   name -> value of ``*PARAMETER``, with ``--set`` applied (for information; already substituted)
    links        pairs of node indices with a constant distance (``*MPC``, LINK)
    time_points  name -> increasing instants
    restart_every  increments between two checkpoints (``*RESTART, WRITE``), 0: by wall time and at the ends of steps;
                 None: not requested
    earlier      the state of another run with which this one begins (``*RESTART, READ``)
    inherited    what the steps of that run act on
    driven       amplitudes that a program sets during the run, in place of those of ``amplitudes``
    laid         lines that the reader laid in equilibrium (``deck/catenary.py``), for laying them again with finer bars
    found        what was computed of it and is asked for again
    source       path of the deck; ``digest``: SHA-256 of all bytes it was read from
    text         what it was read from, where that was no file: ``fem.Builder``, ``fem.parse_deck``
    given        values of parameters that the text was read with, by name in upper case, in place of its own
    files        real paths of all files it was read from
    notices      entries that the reader ignored, and other messages for the user
    extensions   cards and parameters in use that neither Abaqus nor CalculiX has

    >>> model = fem.read_deck("inputs/sdnl100.inp")
    >>> model.mesh.coordinates.tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    mesh: Mesh
    heading: tuple[str, ...] = ()
    materials: dict[str, Material] = field(default_factory=dict)
    sections: tuple[BarSection, ...] = part("SOLID SECTION")
    springs: tuple[Spring, ...] = part("SPRING")
    dashpots: tuple[Dashpot, ...] = part("DASHPOT")
    masses: tuple[PointMass, ...] = part("MASS")
    inertias: tuple[RotaryInertia, ...] = part("ROTARY INERTIA")
    nonstructural: tuple[NonstructuralMass, ...] = part("NONSTRUCTURAL MASS")
    rest_lengths: tuple[RestLength, ...] = part("REST LENGTH")
    pulleys: tuple[Pulley, ...] = part("PULLEY")
    others: tuple[Any, ...] = part("registered keywords")
    failures: tuple[Failure, ...] = ()
    seabeds: tuple[Seabed, ...] = part("SEABED")
    cylinders: tuple[RigidCylinder, ...] = part("RIGID CYLINDER")
    water: Water | None = part("AQUA", None)
    wind: Wind | None = part("WIND", None)
    waves: tuple[Airy | Jonswap, ...] = part("WAVE")
    raos: dict[str, Rao] = part("RAO", {})
    drag_laws: dict[str, DragLaw] = part("DRAG LAW", {})
    growths: tuple[MarineGrowth, ...] = part("MARINE GROWTH")
    vortices: tuple[VortexLift, ...] = part("VIV")
    amplitudes: dict[str, Amplitude] = field(default_factory=dict)
    equations: tuple[Equation, ...] = part("EQUATION")
    links: tuple[tuple[int, int], ...] = part("MPC")
    initial_conditions: tuple[InitialCondition, ...] = part("INITIAL CONDITIONS")
    boundaries: tuple[Boundary, ...] = part("BOUNDARY before the first step")
    rotations: tuple[Boundary, ...] = part("BOUNDARY before the first step")
    bodies: tuple[RigidBody, ...] = part("RIGID BODY")
    free_bodies: tuple[RigidBody, ...] = part("RIGID BODY")
    planes: tuple[StopPlane, ...] = part("STOP PLANE")
    time_points: dict[str, tuple[float, ...]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    restart_every: int | None = None
    earlier: EarlierState | None = None
    parameters: dict[str, float] = field(default_factory=dict, compare=False)
    source: str = field(default="", compare=False)
    digest: str = field(default="", compare=False)
    text: str = field(default="", compare=False)
    given: Mapping[str, float] = field(default_factory=dict, compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)
    notices: tuple[str, ...] = field(default=(), compare=False)
    extensions: tuple[str, ...] = field(default=(), compare=False)
    inherited: Reach = field(default_factory=Reach, compare=False)
    driven: dict[str, Live] = field(default_factory=dict, compare=False)
    laid: tuple[Any, ...] = field(default=(), compare=False)
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        """(c, 6) regular waves: those of all ``*WAVE`` cards, in the format of ``surroundings.py``, and their ramps."""
        return components_of(self.waves, self.water)

    def gusts_at(self, nodes: Ints) -> Floats:
        """(p, k, 3) turbulence of the wind at nodes (p,), over one of its durations."""
        level = self.water.level if self.water else 0.0
        return gusts_at(self.wind, self.mesh.up, self.mesh.coordinates[nodes], level)

    @property
    def pinned(self) -> Ints:
        """Nodes that move with rigid bodies."""
        return np.concatenate([np.zeros(0, np.int64), *(self.mesh.nodes_of(body.pinned) for body in self.bodies)])

    @property
    def corners(self) -> dict[int, str]:
        """Points that carry the rotary inertia of free bodies, and the reference node that stands for each body."""
        of_bodies = ((body.node, self.mesh.node_sets[body.corners or ""]) for body in self.free_bodies)
        return {int(node): str(name) for name, nodes in of_bodies for node in nodes}

    @property
    def members(self) -> Ints:
        """Bars and springs within a free body: their loads and masses act on it, and they have no force."""
        axial, inside = self.mesh.is_of(*AXIAL), np.zeros(len(self.mesh.element_labels), np.bool_)
        for body in self.free_bodies:
            inside |= axial & np.isin(self.mesh.element_nodes, self.nodes_on(body)).all(axis=1)
        return np.flatnonzero(inside)

    def nodes_on(self, body: RigidBody) -> Ints:
        """Nodes that are tied to a rigid body, and the reference node of a free one."""
        nodes = self.mesh.nodes_of(body.pinned)
        return nodes if body.corners is None else np.union1d(nodes, self.mesh.nodes_of(body.node))

    @property
    def runs(self) -> bool:
        """Whether any line runs over a pulley or on a winch."""
        return self.mesh.has_pulleys or len(self.reach.wound) > 0

    @property
    def yields(self) -> bool:
        """Whether some bar may yield (``*PLASTIC``) or buckle (``*BUCKLING STRENGTH``)."""
        return any(each.plastic is not None or each.buckling is not None for each in self.materials.values())

    @property
    def bends(self) -> bool:
        """Whether any bar resists bending."""
        return any(block.kind in BEAMS for block in self.mesh.blocks)

    @property
    def has_moments(self) -> bool:
        """Whether moments act on free bodies in any step, including steps of earlier runs."""
        return bool(self.free_bodies) and (self.earlier is not None or any(step.moments for step in self.steps))

    @property
    def bent_at(self) -> tuple[Ints, Ints]:
        """``nodes`` and ``bars`` of the angles between bars that bend (``beams.Angles``)."""
        if "angles" not in self.found:
            bodies = {body.node for body in self.bodies}
            clamped = {int(self.mesh.nodes_of(each.target)[0]) for each in self.rotations if each.target not in bodies}
            at = find_angles(self.mesh, clamped, map(self.nodes_on, (*self.bodies, *self.free_bodies)))
            self.found["angles"] = at
        nodes, bars = self.found["angles"]
        return nodes, bars

    def angles(self, lengths: Floats) -> Angles:
        """Angles between bars that bend; lengths: natural lengths of all elements."""
        return angles_of(self.mesh, self.bent_at, self.sections, self.materials, lengths)

    @property
    def may_twist(self) -> bool:
        """Whether some section resists torsion; whether a line twists is found by ``find_twists``."""
        return any(section.torsion for section in self.sections)

    @property
    def reach(self) -> Reach:
        """Elements on which winches and fluid loads act in any step, including steps of earlier runs."""
        return self.inherited | reach_of(self.mesh, self.steps)

    @property
    def planes_at_rest(self) -> list[StopPlane]:
        """Planes whose reference nodes are fixed."""
        steps = [boundary for step in self.steps for boundary in step.boundaries]
        found = []
        for plane in self.planes:
            (node,) = self.mesh.nodes_of(plane.node)
            own = [each for each in (*self.boundaries, *steps) if node in self.mesh.nodes_of(each.target)]
            if {each.dof for each in own} >= {1, 2, 3} and not any(each.value for each in own):
                found.append(plane)
        return found

    def with_pinned(self, nodes: Ints) -> Ints:
        """Sorted node indices, with all nodes that the moments at them depend on: the pinned nodes of reference nodes
        of rigid bodies, the neighbours of nodes of bending lines."""
        if self.bends:
            angles, _ = self.bent_at
            beside = angles[np.isin(angles[:, 1], nodes)]
            nodes = np.union1d(nodes, beside[beside >= 0])
        for body in (*self.bodies, *self.free_bodies):
            if np.isin(self.mesh.nodes_of(body.node), nodes).any():
                nodes = np.union1d(nodes, self.mesh.nodes_of(body.corners or body.pinned))
                nodes = np.union1d(nodes, self.mesh.nodes_of(body.axes)) if body.axes else nodes
        return nodes


PARTS = {each.name: each.metadata["card"] for each in fields(Model) if each.metadata}
"""Fields of ``Model`` that a restart must not change, with the cards that fill them."""

__all__ = ["ElementBlock", "Mesh", "Model", "outputs_in_force"]
__all__ += ["Amplitude", "Boundary", "DistributedLoad", "Equation", "InitialCondition", "NodalLoad", "Temperature"]
__all__ += ["Failure", "RigidBody", "RotaryInertia", "StopPlane"]
__all__ += ["BarSection", "Dashpot", "Expansion", "Material", "NonstructuralMass", "PointMass", "RestLength", "Spring"]
__all__ += ["Pulley", "Winch"]
__all__ += ["DynamicStiffness", "Uniaxial", "Viscoelastic"]
__all__ += ["ArcEnd", "Buckle", "Controls", "Dynamic", "EarlierState", "Frequency", "OutputRequest", "Static", "Step"]
__all__ += ["FrequencyRange", "ModalDamping", "Perturbation", "SteadyState"]
__all__ += ["Airy", "DragLaw", "FluidLoad", "Jonswap", "MarineGrowth", "Rao", "RigidCylinder", "Seabed"]
__all__ += ["VortexLift", "Water", "Wind"]
