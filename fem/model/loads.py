"""Amplitudes, loads, supports, initial conditions and constraints.

``target`` is a set name (upper case) or one label. ``dof`` is 1, 2 or 3. ``amplitude`` is a name or None.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amplitude:
    """A function of time.

    definition  ``TABULAR`` (also EQUALLY SPACED once read), ``SMOOTH STEP``, ``SPLINE`` or ``PERIODIC``
    time        ``STEP TIME`` or ``TOTAL TIME``
    points      (t, value), t rising: TABULAR linear, SMOOTH STEP with Abaqus' quintic between two points,
                SPLINE with cubics that make one curve of two derivatives (not-a-knot ends);
                constant before the first and after the last
    PERIODIC    value = a0 for t < t0, else a0 + sum_n [A_n cos(n omega (t - t0)) + B_n sin(n omega (t - t0))]
                with ``fourier`` = ((A_1, B_1), ...)
    """

    name: str
    definition: str = "TABULAR"
    time: str = "STEP TIME"
    points: tuple[tuple[float, float], ...] = ()
    omega: float = 0.0
    start: float = 0.0
    mean: float = 0.0
    fourier: tuple[tuple[float, float], ...] = ()

    def __hash__(self) -> int:
        """Of what is short: measured motions have 100,000 points, and are looked up in every chunk."""
        return hash((self.name, self.definition, self.time, len(self.points), self.points[-1:], self.fourier))


@dataclass(frozen=True, slots=True)
class RigidBody:
    """``*RIGID BODY``: the nodes of the set ``pinned`` move with a node (its label); rotation: RPY or VECTOR."""

    node: int
    pinned: str
    rotation: str = "RPY"


@dataclass(frozen=True, slots=True)
class Boundary:
    """One prescribed dof of a node or node set; ``kind``: DISPLACEMENT, VELOCITY, ACCELERATION, FIXED (where it is).

    Dofs 4, 5, 6 are rotations of reference nodes of rigid bodies.
    """

    target: str | int
    dof: int
    value: float = 0.0
    amplitude: str | None = None
    kind: str = "DISPLACEMENT"


@dataclass(frozen=True, slots=True)
class NodalLoad:
    """``*CLOAD``: force on one dof of a node or node set."""

    target: str | int
    dof: int
    value: float
    amplitude: str | None = None


@dataclass(frozen=True, slots=True)
class DistributedLoad:
    """``*DLOAD``: GRAV (magnitude times unit direction, on all mass of the elements) or BX, BY, BZ (per volume).

    ``target`` is an element set or element label; None: all elements (a blank first field, GRAV only).
    """

    target: str | int | None
    kind: str
    value: float
    direction: tuple[float, float, float] = (0.0, 0.0, 0.0)
    amplitude: str | None = None


@dataclass(frozen=True, slots=True)
class Temperature:
    """``*TEMPERATURE``: temperature of a node or node set."""

    target: str | int
    value: float
    amplitude: str | None = None


@dataclass(frozen=True, slots=True)
class InitialCondition:
    """``kind`` DISPLACEMENT or VELOCITY (dof, value), STRESS (element target, value), TEMPERATURE (value), or ANCHOR
    (dof, value): u of what the friction of a bottom holds a node by.
    """

    kind: str
    target: str | int
    value: float
    dof: int = 0


@dataclass(frozen=True, slots=True)
class Equation:
    """``*EQUATION``: sum of coefficient * u[node index, dof] = 0; the first term's dof is the dependent one."""

    terms: tuple[tuple[int, int, float], ...]
