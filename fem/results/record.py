"""What a run says while it goes: the only language between the increment loop and everything that writes.

The loop calls, for every step: ``begin``, then ``rows`` and ``frame`` as they come (increment 0 first), ``event``
and ``notice`` when there is one, ``modes`` in a frequency step. ``close`` comes once, also after a failure.
``keep`` comes between chunks: everybody adds to a checkpoint what a later ``resume`` with it needs, which comes first,
before anything else but notices; with the step that goes on, if one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from fem.arrays import Complexes, Floats, Ints, frozen
from fem.model import Model
from fem.model.quantities import ELEMENTAL, NODAL, Values
from fem.results.acting import Acting

MOST_SHOWN = 8
"""Frequencies in the text of modes."""


@frozen
class StepStart:
    """A step begins.

    step        number, from 1
    procedure   ``STATIC``, ``DYNAMIC`` or ``FREQUENCY``
    time        total time at its start
    period      its length in time (0 for FREQUENCY)
    increments  expected number, None where increments are automatic
    solver      the linear solver chosen, and why
    acting      gives masses, loads and springs; None for FREQUENCY
    """

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

    An explicit step leaves out some of those nobody asked for.

    increment, iterations, cutbacks (k,) int; time, dt, residual_norm, largest_u and the energies (k,)
    nodes     (p,)        node indices recorded; motion (k, r, p, 3): the recorded quantities of nodes, at them
    elements  (q,)        element indices recorded; element_values (k, q, s): those of elements
    is_end    the last row is the last increment of its step
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

    def of_nodes(self, model: Model) -> Values:
        """Every quantity of the recorded nodes."""
        return Values(NODAL, model, self.nodes, self.motion.swapaxes(0, 1), self.time)

    def of_elements(self, model: Model) -> Values:
        """Every quantity of the recorded elements."""
        return Values(ELEMENTAL, model, self.elements, self.element_values.swapaxes(0, 2).swapaxes(1, 2))


@frozen
class Frame:
    """The whole field at one increment.

    motion          (r, n, 3)  recorded quantities of nodes
    element_values  (m, s)     and of elements
    is_end          the last increment of its step
    for_vtk         a VTK output is due (frames at step ends always come, for the tables)
    """

    step: int
    increment: int
    time: float
    motion: Floats
    element_values: Floats
    is_end: bool
    for_vtk: bool

    def of_nodes(self, model: Model) -> Values:
        """Every quantity of all nodes."""
        return Values(NODAL, model, np.arange(self.motion.shape[1]), self.motion, self.time)

    def of_elements(self, model: Model) -> Values:
        """Every quantity of all elements."""
        return Values(ELEMENTAL, model, np.arange(len(self.element_values)), self.element_values.T)


@frozen
class Event:
    """A change of regime: taut, slack, impact, cutback, or snap, a line that becomes taut in an increment too long to
    show it. ``element`` and ``node`` are labels, 0 for none.

    node: the one that meets or leaves a plane
    """

    step: int
    increment: int
    time: float
    element: int
    event: str
    energy_loss: float = 0.0
    node: int = 0


@frozen
class Modes:
    """Result of ``*FREQUENCY``: number (k,) counted from 1 with those left out because they could not be confirmed,
    frequency (k,) in cycles per unit time, omega (k,), generalized_mass (k,), shapes (k, n, 3) scaled to a largest
    component of 1. An unstable mode (omega^2 < 0) has negative values, a motion that meets no stiffness has zero.
    """

    step: int
    time: float
    number: Ints
    frequency: Floats
    omega: Floats
    generalized_mass: Floats
    shapes: Floats

    def __repr__(self) -> str:
        found = ", ".join(f"{value:.6g}" for value in self.frequency[:MOST_SHOWN])
        more = ", ..." if len(self.frequency) > MOST_SHOWN else ""
        return f"Modes of step {self.step}, frequency: {found}{more}; omega, generalized_mass, shapes"


@frozen
class Response:
    """Harmonic motion at one frequency [cycles/time], x(t) = Re(x e^(2 pi i frequency t)): complex amplitudes.

    motion    (4, p, 3) of U, V, A, RF, at ``nodes`` (p,), indices;  values (q, 4) of E, S, N, T, of ``elements`` (q,)
    iterations  solves;  residual: largest force that nothing balances over the largest that acts
    """

    step: int
    frequency: float
    iterations: int
    residual: float
    nodes: Ints
    motion: Complexes
    elements: Ints
    values: Complexes

    def of_nodes(self, model: Model) -> Values:
        """U, V, A, RF of the recorded nodes."""
        return Values(NODAL, model, self.nodes, self.motion)

    def of_elements(self, model: Model) -> Values:
        """E, S, N, T of the recorded elements."""
        return Values(ELEMENTAL, model, self.elements, self.values.T)


class SilentSink:
    """What takes in a run, and ignores all of it; sinks override what they need."""

    def begin(self, start: StepStart) -> None: ...
    def rows(self, rows: Rows) -> None: ...
    def frame(self, frame: Frame) -> None: ...
    def event(self, event: Event) -> None: ...
    def modes(self, modes: Modes) -> None: ...
    def response(self, response: Response) -> None: ...
    def notice(self, text: str) -> None: ...
    def keep(self, checkpoint: dict[str, Any]) -> None: ...
    def resume(self, checkpoint: Mapping[str, Any], start: StepStart | None) -> None: ...
    def close(self) -> None: ...


Sink: TypeAlias = SilentSink
