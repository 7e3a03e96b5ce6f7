"""Steps: procedure, controls, changes of the model, loads and output requests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from fem.arrays import Floats, Ints, distinct, frozen
from fem.model.loads import Boundary, DistributedLoad, NodalLoad, Temperature, Winch
from fem.model.mesh import Mesh
from fem.model.surroundings import FluidLoad


@frozen
class Perturbation:
    """Small motions about the current state. They leave it unchanged and take no time."""

    period: ClassVar[float] = 0.0


@frozen
class Frequency(Perturbation):
    """``*FREQUENCY``: number of modes about the current state."""

    modes: int


@frozen
class Buckle(Perturbation):
    """``*BUCKLE``: number of factors of the loads of the step, which come on top of those of the steps before."""

    factors: int


SAME = 1e-9
"""Natural frequencies that are closer, as a fraction, are of one multiple mode: they differ by round-off."""


@frozen
class FrequencyRange:
    """Frequencies from ``lower`` to ``upper`` [cycles/time], both among the ``points``; bias > 1: dense at the ends."""

    lower: float
    upper: float
    points: int = 20
    bias: float = 1.0

    def frequencies(self, is_linear: bool, between: Collection[float] = ()) -> Floats:
        """Frequencies, rising: ``points`` in each of the ranges into which ``between`` divides it.
        Source: Abaqus Analysis Guide, Direct-solution and Mode-based steady-state dynamic analysis."""
        if self.upper == self.lower:
            return np.array([self.lower])
        lower, upper = self.lower * (1.0 + SAME), self.upper * (1.0 - SAME)
        inside = np.array(sorted(each for each in between if lower < each < upper))
        ends = np.array([self.lower, *inside[np.diff(inside, prepend=0.0) > SAME * inside], self.upper])
        low, high = (part if is_linear else np.log(part) for part in (ends[:-1, None], ends[1:, None]))
        way = np.linspace(-1.0, 1.0, self.points)
        place = 0.5 * (low + high) + 0.5 * (high - low) * np.sign(way) * np.abs(way) ** (1.0 / self.bias)
        found = place if is_linear else np.exp(place)
        found[:, 0], found[:, -1] = ends[:-1], ends[1:]
        return np.unique(found)


@frozen
class ModalDamping:
    """Of modes ``first`` to ``last``: a fraction of critical damping, and that of alpha M + beta K."""

    first: int
    last: int
    fraction: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0


@frozen
class SteadyState(Perturbation):
    """``*STEADY STATE DYNAMICS``: harmonic motion about the current state.

    is_linear        frequencies are spaced linearly, not by their logarithms
    modes            number of superposed modes of the ``*FREQUENCY`` step before; 0: DIRECT, all dofs
    parted           natural frequencies divide the ranges (INTERVAL=EIGENFREQUENCY)
    """

    ranges: tuple[FrequencyRange, ...]
    is_linear: bool = False
    modes: int = 0
    parted: bool = False
    damping: tuple[ModalDamping, ...] = ()

    def frequencies(self, natural: Collection[float] = ()) -> Floats:
        """(f,) frequencies of all ranges, rising, without duplicates; natural: natural frequencies, for ``parted``."""
        between = natural if self.parted else ()
        return np.unique(np.concatenate([each.frequencies(self.is_linear, between) for each in self.ranges]))

    def damping_rates(self, omega: Floats) -> Floats:
        """(m,) 2 zeta omega [1/time] of modes 1, 2, ... with natural frequencies omega (m,) [radians/time]."""
        rates = np.zeros_like(omega)
        for each in self.damping:
            mine = slice(each.first - 1, each.last)
            rates[mine] += 2.0 * each.fraction * omega[mine] + each.alpha + each.beta * omega[mine] ** 2
        return rates


MOST_INCREMENTS = 10**9
"""Largest number of increments of a step: weeks for a small model, and tables of a hundred gigabytes."""
IMPACTS = ("AUTO", "EVENT", "MOREAU")
EXTRAPOLATIONS = ("NO", "LINEAR", "PARABOLIC")


@frozen
class ArcEnd:
    """Where an arc length step ends: at the largest load factor, or where a dof has a displacement.
    ``target`` is a node label or a set of one node, None without that; ``factor`` None: no largest load factor."""

    factor: float | None = 1.0
    target: str | int | None = None
    dof: int = 0
    value: float = 0.0


@frozen
class Static:
    """``*STATIC``: loads ramp over ``period``; dt0 = dt, automatic between dt_min and dt_max unless direct.

    creeps  ``*VISCO``: time-dependent materials creep during the step; loads act at once
    riks  arc length: dt, dt_min and dt_max are arc lengths; the first one changes the load factor by dt/period
    """

    is_static: ClassVar[bool] = True
    integrator: ClassVar[str] = ""
    by_convergence: ClassVar[bool] = True

    dt: float = 1.0
    period: float = 1.0
    dt_min: float | None = None
    dt_max: float | None = None
    direct: bool = False
    riks: ArcEnd | None = None
    creeps: bool = False


PARAMETERS: dict[str, tuple[str, ...]] = {
    "NEWMARK": ("beta", "gamma"),
    "HHT": ("alpha",),
    "GENERALIZED ALPHA": ("rho",),
    "BACKWARD EULER": (),
    "ENERGY MOMENTUM": (),
    "CENTRAL DIFFERENCE": (),
}
"""Integrators -> the fields of ``Dynamic`` that each takes; in decks they have the same names."""


@frozen
class Dynamic:
    """``*DYNAMIC``. ``initial_acceleration`` False: ``INITIAL=NO``. ``singular_mass``: ERROR or WARNING.

    beta, gamma, alpha and rho belong to the integrators that ``PARAMETERS`` names.
    dt_min, dt_max  automatic increments without ``direct``: their lengths follow the local error (Controls.time_error)
    by_convergence  these lengths follow how well increments converge instead (APPLICATION=MODERATE DISSIPATION or
        QUASI-STATIC), unless a step states a TIME ERROR of its own
    dt  0: left to the solver, 0.9 of the critical increment (CENTRAL DIFFERENCE only, whose increments are all equal)
    """

    is_static: ClassVar[bool] = False

    dt: float
    period: float
    dt_min: float | None = None
    dt_max: float | None = None
    direct: bool = False
    integrator: str = "NEWMARK"
    beta: float = 0.25
    gamma: float = 0.5
    initial_acceleration: bool = True
    singular_mass: str = "ERROR"
    alpha: float = -0.05
    rho: float = 0.8
    by_convergence: bool = False


Procedure: TypeAlias = Static | Dynamic | Frequency | SteadyState | Buckle
Kind = TypeVar("Kind")


class Asked(Generic[Kind]):
    """The procedure of a step, or of the draft of one, if it is of the requested kind; else None."""

    def __init__(self, *kinds: type[Kind]) -> None:
        self.kinds = kinds

    def __get__(self, step: Any, owner: type | None = None) -> Kind | None:
        procedure: Kind | None = step.procedure if isinstance(step.procedure, self.kinds) else None
        return procedure


class HasProcedure:
    """Has a ``procedure``: each property is None unless it is of that kind; ``small_motion``: modes, harmonic or
    buckling."""

    __slots__ = ()

    static = Asked(Static)
    dynamic = Asked(Dynamic)
    modes = Asked(Frequency)
    harmonic = Asked(SteadyState)
    buckling = Asked(Buckle)
    small_motion = Asked[Frequency | SteadyState | Buckle](Frequency, SteadyState, Buckle)


@frozen
class Controls:
    """``*CONTROLS`` in force in a step (defaults and earlier steps already merged by the reader).

    residual_relative    RESI_GLOB_RELA; None: not tested
    residual_absolute    RESI_GLOB_MAXI; None: not tested; both None: iterate until the residual no longer falls
    correction_relative  largest |du| of a solve over largest |u - u_n| (FIELD's second entry); None: not tested
    max_iterations       ITER_GLOB_MAXI
    energy_drift         fraction of the exchanged energy; None: OFF
    time_error           local error of an automatic increment over the size of the motion of a part; None: OFF
    tension_change       of cables in such an increment, over the largest internal force so far; None: unlimited
    impact               of ropes: EVENT (located in time), MOREAU (time stepping), AUTO: by their number
    max_cutbacks, cut_factor, growth_factor   automatic increments
    """

    residual_relative: float | None = 1e-6
    residual_absolute: float | None = None
    correction_relative: float | None = None
    max_iterations: int = 50
    energy_drift: float | None = 0.1
    max_cutbacks: int = 10
    cut_factor: float = 0.5
    growth_factor: float = 1.5
    time_error: float | None = 1e-4
    tension_change: float | None = None
    impact: str = "AUTO"


@frozen
class OutputRequest:
    """What to write.

    kind       NODE PRINT, EL PRINT, ENERGY PRINT, NODE FILE or EL FILE (``*OUTPUT`` maps to FILE, HISTORY to PRINT)
    target     set name, or None for all
    variables  names in ``quantities.py``; empty: the kind's default
    every      FREQUENCY: every n-th increment and the last of the step; 0: none
    times      name of ``*TIME POINTS``, or None
    interval   TIME INTERVAL: time from one to the next, and the end of the step; intervals: NUMBER INTERVAL in a step
    marks      TIME MARKS: automatic increments land on these instants
    """

    kind: str
    target: str | None = None
    variables: tuple[str, ...] = ()
    every: int = 1
    times: str | None = None
    interval: float | None = None
    intervals: int | None = None
    marks: bool = True

    @property
    def pace(self) -> tuple[int, str | None, float | None, int | None]:
        """Requests with the same pace are due at the same increments of a step."""
        return self.every, self.times, self.interval, self.intervals


@frozen
class Step(HasProcedure):
    """One ``*STEP``. ``replaced`` names the card families given with OP=NEW in it.

    removals   elements (sets, or one) that are removed at its start
    shed, put  names of nonstructural masses that are removed, and added (again), at its start
    amplitude  default for loads without one: STEP (at once) or RAMP; None: default of the procedure

    nlgeom and controls are the values in force, stickiness already resolved by the reader.
    """

    procedure: Procedure
    nlgeom: bool = False
    name: str | None = None
    title: tuple[str, ...] = ()
    max_increments: int | None = None
    extrapolation: str = "NO"
    amplitude: str | None = None
    controls: Controls = field(default_factory=Controls)
    replaced: frozenset[str] = frozenset()
    boundaries: tuple[Boundary, ...] = ()
    rotations: tuple[Boundary, ...] = ()
    nodal_loads: tuple[NodalLoad, ...] = ()
    moments: tuple[NodalLoad, ...] = ()
    distributed_loads: tuple[DistributedLoad, ...] = ()
    fluid_loads: tuple[FluidLoad, ...] = ()
    temperatures: tuple[Temperature, ...] = ()
    winches: tuple[Winch, ...] = ()
    removals: tuple[str | int, ...] = ()
    shed: tuple[str, ...] = ()
    put: tuple[str, ...] = ()
    outputs: tuple[OutputRequest, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether it changes supports, loads or the model, which later steps go on with."""
        loads = self.nodal_loads, self.moments, self.distributed_loads, self.fluid_loads, self.temperatures
        model = self.boundaries, self.rotations, self.winches, self.removals, self.shed, self.put, self.replaced
        return any(map(bool, (*loads, *model)))

    @property
    def timed(self) -> Static | Dynamic:
        """The procedure of a step that has increments; None for modes and harmonic motions."""
        found = self.static or self.dynamic
        assert found is not None
        return found

    @property
    def ramps(self) -> bool:
        """Whether loads, supports and temperatures without an amplitude change linearly over the step."""
        at_once = self.dynamic or (self.static and self.static.creeps)
        return self.amplitude == "RAMP" or (self.amplitude is None and not at_once)

    @property
    def winds(self) -> bool:
        """Whether winches without an amplitude run at constant speed over the step; with AMPLITUDE=STEP they jump."""
        return self.amplitude != "STEP"

    @property
    def still(self) -> Step:
        """The step without loads and with fixed supports: the conditions of harmonic motions and of buckling."""
        if not (self.harmonic or self.buckling):
            return self
        given = self.boundaries, self.rotations
        held, turned = (tuple(Boundary(each.target, each.dof, kind="FIXED") for each in all_) for all_ in given)
        held_step = replace(self, nodal_loads=(), distributed_loads=(), boundaries=held, rotations=turned)
        return replace(held_step, temperatures=()) if self.buckling else held_step

    @property
    def loading(self) -> Step:
        """The step without its supports."""
        return replace(self, boundaries=(), rotations=())


@frozen
class EarlierState:
    """``*RESTART, READ``: the state of another run that the first step begins with.

    step, increment  None: the last state kept; the end of the step
    ends_step        END STEP: the rest of the step is not run
    """

    step: int | None = None
    increment: int | None = None
    ends_step: bool = False


Requests: TypeAlias = tuple[OutputRequest, ...]


def outputs_in_force(steps: tuple[Step, ...], index: int) -> Requests:
    """Requests in force in step ``index``: requests of a kind hold until a later step has requests of that kind."""
    global _latest
    latest = _latest  # read once: threads may run other models
    if latest[0] is not steps:
        latest = _latest = steps, _all_in_force(steps)
    return latest[1][index]


def _all_in_force(steps: tuple[Step, ...]) -> list[Requests]:
    """Requests in force in each step: a step without any of a kind keeps those before it."""
    latest: dict[str, Requests] = {}
    found: list[Requests] = []
    for step in steps:
        for kind in {request.kind for request in step.outputs}:
            latest[kind] = tuple(request for request in step.outputs if request.kind == kind)
        found.append(tuple(request for kind in sorted(latest) for request in latest[kind]))
    return found


_latest: tuple[tuple[Step, ...], list[Requests]] = ((), [])
"""Cache of the last steps: a run asks for each of its steps in turn, and may have thousands."""


@frozen
class Reach:
    """Element indices, rising: ``wound`` by winches; those with fluid loads, by kind of load."""

    wound: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    flows: Mapping[str, Ints] = field(default_factory=dict)

    def of(self, kinds: Iterable[str]) -> Ints:
        """Elements on which a fluid load of one of these kinds acts."""
        return union([self.flows[kind] for kind in kinds if kind in self.flows])

    def __or__(self, other: Reach) -> Reach:
        kinds = sorted({*self.flows, *other.flows})
        flows = {kind: union([each.of([kind]) for each in (self, other)]) for kind in kinds}
        return Reach(union([self.wound, other.wound]), flows)


def union(parts: Iterable[Ints]) -> Ints:
    some = [part for part in parts if len(part)]
    return distinct(np.concatenate(some)) if some else np.zeros(0, np.int64)


def reach_of(mesh: Mesh, steps: Iterable[Step]) -> Reach:
    wound, flows = list[Ints](), dict[str, list[Ints]]()
    for step in steps:
        wound += [mesh.elements_of(winch.target) for winch in step.winches]
        for load in step.fluid_loads:
            flows.setdefault(load.kind, []).append(mesh.elements_of(load.target))
    return Reach(union(wound), {kind: union(parts) for kind, parts in sorted(flows.items())})
