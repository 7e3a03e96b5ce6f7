"""Loads, supports, initial conditions and constraints.

``target`` is a set name (upper case) or one label. ``dof`` is 1, 2 or 3. ``amplitude`` is a name or None.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints, frozen
from fem.model.mesh import Mesh

TOUCHES = 1e-9
"""A node within this fraction of the size of the model counts as being at a plane."""


@frozen
class RigidBody:
    """``*RIGID BODY``: the nodes of the set ``pinned`` move with a node (its label); rotation: RPY or VECTOR.

    corners  a free body: node set of the points that carry its rotary inertia (``free_bodies.py``)
    axes  of one whose rotations are held at times: node set of the ends of three vectors that turn with it
    rao  name of the ``*RAO`` by which waves move it, too;  heading: of its bow, degrees from +x
    """

    node: int
    pinned: str
    rotation: str = "RPY"
    rao: str | None = None
    heading: float = 0.0
    corners: str | None = None
    axes: str | None = None


@frozen
class StopPlane:
    """``*STOP PLANE``: nodes of a set stay above the plane through a node (its label), which it moves with.

    normal       away from the plane, of any length
    restitution  separation speed over approach speed;  friction: Coulomb's coefficient
    """

    node: int
    node_set: str
    normal: tuple[float, float, float]
    restitution: float = 0.0
    friction: float = 0.0

    @property
    def direction(self) -> Floats:
        """(3,) the normal, of length 1."""
        normal = np.array(self.normal) / np.abs(self.normal).max()
        return np.asarray(normal / np.linalg.norm(normal))

    def pairs(self, mesh: Mesh) -> Ints:
        """(c, 2) indices: of the reference node, of each of the nodes."""
        nodes = mesh.node_sets[self.node_set]
        return np.column_stack([np.full(len(nodes), mesh.nodes_of(self.node)[0]), nodes])

    def distances(self, mesh: Mesh) -> Floats:
        """(c,) distances of the nodes above the plane, in the reference position."""
        first, second = self.pairs(mesh).T
        return np.asarray((mesh.coordinates[second] - mesh.coordinates[first]) @ self.direction)

    def size(self, mesh: Mesh) -> float:
        """Largest distance of the model from the reference node, 1 if it is 0: the scale for small distances."""
        at = mesh.coordinates[mesh.nodes_of(self.node)[0]]
        with np.errstate(over="ignore"):  # infinite: assembly refuses such lengths
            return float(np.linalg.norm(mesh.coordinates - at, axis=1).max(initial=0.0)) or 1.0


@frozen
class Boundary:
    """One prescribed dof of a node or node set; ``kind``: DISPLACEMENT, VELOCITY, ACCELERATION, FIXED (where it is).
    Dofs 4, 5, 6 are rotations of reference nodes of rigid bodies; of nodes of lines that bend they clamp these."""

    target: str | int
    dof: int
    value: float = 0.0
    amplitude: str | None = None
    kind: str = "DISPLACEMENT"
    is_imaginary: bool = False


@frozen
class NodalLoad:
    """``*CLOAD``: force on one dof of a node or node set, or moment on a free body (dofs 4 to 6); ``is_imaginary``: the
    imaginary part of a harmonic load, a quarter of a period ahead."""

    target: str | int
    dof: int
    value: float
    amplitude: str | None = None
    is_imaginary: bool = False


@frozen
class DistributedLoad:
    """``*DLOAD``: GRAV (magnitude times unit direction, on all mass of the elements) or BX, BY, BZ (per volume).
    ``target`` is an element set or element label; None: all elements (a blank first field, GRAV only)."""

    target: str | int | None
    kind: str
    value: float
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    amplitude: str | None = None
    is_imaginary: bool = False


@frozen
class Winch:
    """``*WINCH``: change of the natural length of each element of a set, or of one, relative to the start.

    is_tension  the length is adjusted to the tension ``value``, at most at ``speed`` (None: no limit)
    end         of a rope over a pulley: the branch that is wound, 1 or 2
    """

    target: str | int
    value: float
    end: int = 1
    amplitude: str | None = None
    is_tension: bool = False
    speed: float | None = None


@frozen
class Temperature:
    """``*TEMPERATURE``: temperature of a node or node set."""

    target: str | int
    value: float
    amplitude: str | None = None


@frozen
class InitialCondition:
    """``kind`` DISPLACEMENT or VELOCITY (dof, value), STRESS (element target, value), TEMPERATURE (value), or ANCHOR
    (dof, value): displacement u of the anchor of a node's friction spring on the seabed."""

    kind: str
    target: str | int
    value: float
    dof: int = 0


@frozen
class Equation:
    """``*EQUATION``: sum of coefficient * u[node index, dof] = 0; the first term's dof is the dependent one."""

    terms: tuple[tuple[int, int, float], ...]
