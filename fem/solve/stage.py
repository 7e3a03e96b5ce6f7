"""One step made ready for the march: free dofs, solver, scratch room, loads of any chunk of increments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.constraints import eliminate
from fem.assembly.environment import Environment, LoadSet, load_set, thermal_rows
from fem.assembly.system import System
from fem.mechanics import bar
from fem.mechanics.bar import STORED, Bars
from fem.mechanics.links import Links
from fem.model import Controls
from fem.solve.linear.chain import Tree
from fem.solve.linear.direct import DirectSolver
from fem.solve.linear.factors import PARDISO, SUPERLU, library_for
from fem.solve.linear.ordering import BAND_WORK, find_tree, number_band
from fem.solve.linear.saddle import SaddleSolver
from fem.solve.linear.sparse import SparseTangent
from fem.solve.newton.groups import (
    BAND,
    BICGSTAB,
    CG,
    CHAIN,
    CHAINS,
    EXTERNAL,
    LAGS,
    LEDGER,
    LIMITS,
    NOTHING,
    PROJECT,
    PROJECT_ACCELERATION,
    TIME_ERROR,
    UNSYMMETRIC_CHAIN,
    WC,
    WF,
    WM,
    Loading,
    Motion,
    Nodes,
    Record,
    Scratch,
    room,
)
from fem.solve.rods.waiting import PINNED
from fem.solve.schemes import CentralDifference, Scheme

NAMES = {
    EXTERNAL: "direct",
    CHAIN: "chain",
    BAND: "band",
    CG: "conjugate gradients",
    BICGSTAB: "stabilised biconjugate gradients",
    NOTHING: "none",
    UNSYMMETRIC_CHAIN: "chain",
}
"""Linear solvers as the user is told of them."""
UNSYMMETRIC = {CG: BICGSTAB, CHAIN: UNSYMMETRIC_CHAIN}
"""What takes their place where the tangent is not symmetric."""
NEAR_FLOOR = 1e-6
"""Relative residual from which on an increment that iterates to round-off may stop when it no longer falls."""
DIRECT_SOLVERS = ("DIRECT", SUPERLU, PARDISO)
SOLVERS = ("AUTO", "CHAIN", "BAND", "CG", *DIRECT_SOLVERS)
"""What may be asked for; DIRECT leaves the choice of the library to us."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The linear solver of a step: its number for the march, what that solver needs, and why it was chosen.

    library, remark  what direct solves use, and how the record tells
    """

    solver: int
    tree: Tree
    equation: Ints
    width: int
    reason: str
    library: str
    remark: str

    @property
    def text(self) -> str:
        """The choice as the record of the run has it."""
        remark = f" ({self.remark})" if self.solver == EXTERNAL else ""
        return f"{NAMES[self.solver]}{remark}: {self.reason}"


@dataclass(slots=True)
class Stage:
    """A step ready to march. ``row``: coefficients of its scheme; tangent and direct solvers: made when asked for."""

    system: System
    environment: Environment
    bars: Bars
    nodes: Nodes
    links: Links
    loads: LoadSet
    scheme: Scheme
    row: Floats
    limits: Floats
    choice: Choice
    work: Scratch
    is_symmetric: bool
    _tangent: SparseTangent | None = field(default=None)
    opened: DirectSolver | SaddleSolver | None = field(default=None)
    opened_mass: DirectSolver | None = field(default=None)

    @property
    def is_dynamic(self) -> bool:
        """Inertia takes part."""
        return bool(self.row[WM] != 0.0)

    @property
    def is_explicit(self) -> bool:
        """Nothing is solved: the march is that of ``solve/explicit``."""
        return isinstance(self.scheme, CentralDifference)

    @property
    def tangent(self) -> SparseTangent:
        """The sparse tangent, with its pattern."""
        if self._tangent is None:
            self._tangent = SparseTangent(self.system, self.nodes.free, self.links)
        return self._tangent

    @property
    def direct(self) -> DirectSolver | SaddleSolver:
        """The direct solver of this step."""
        if self.opened is None and len(self.bars.rods):
            self.opened = SaddleSolver(self.system, self.tangent)
        if self.opened is None:
            self.opened = self._open_direct(self.is_symmetric)
        return self.opened

    def _open_direct(self, is_symmetric: bool) -> DirectSolver:
        return DirectSolver(self.system, self.nodes.free, self.links, is_symmetric, self.choice.library)

    def solver_of(self, phase: int) -> DirectSolver | SaddleSolver:
        """The direct solver of a phase; the mass alone has its own, whose factor lasts."""
        if phase != PROJECT_ACCELERATION or len(self.bars.rods):
            return self.direct
        if self.opened_mass is None:
            self.opened_mass = self._open_direct(True)
        return self.opened_mass


def free_dofs(environment: Environment, links: Links) -> Ints:
    """(3n,) 1 free, 0 supported, 2 dependent."""
    free = np.where(environment.supports.supported, 0, 1).astype(np.int64)
    free[links.slave] = 2
    return free


def prepare(
    system: System, environment: Environment, bars: Bars, scheme: Scheme, controls: Controls, wanted: str
) -> Stage:
    """Gather what one step needs. ``wanted``: one of ``SOLVERS``."""
    links = eliminate(system, environment.supports.supported)
    free = free_dofs(environment, links)
    nodes = Nodes(
        np.repeat(system.mass, 3),
        np.repeat(system.damping, 3) if np.any(system.damping) else np.zeros(0),
        free,
        (free != 0).astype(float),
        np.zeros((0, 9)),
    )
    row = np.array((*scheme.coefficients(), 0.0, 0.0))
    is_static = bool(row[WM] == 0.0)
    row[PROJECT] = float(len(bars.rods) > 0 and not is_static)
    row[LAGS] = float(not is_static and not scheme.secant and (row[WM] != 1.0 or row[WF] != 1.0))
    symmetric = not (scheme.secant or np.any(bars.constants[bar.VISCOUS]))
    if isinstance(scheme, CentralDifference):
        choice = Choice(NOTHING, no_tree(), np.zeros(0, np.int64), 0, "central differences, lumped mass", "", "")
    else:
        may_iterate = not is_static and len(bars.rods) == 0
        choice = choose_solver(system, free, links, may_iterate, wanted, is_static)
    if not symmetric:
        solver = UNSYMMETRIC.get(choice.solver, choice.solver)
        choice = replace(choice, solver=solver, reason=choice.reason.replace("symmetric", "unsymmetric"))
    return Stage(
        system, environment, bars, nodes, links, load_set(system, environment), scheme, row,
        limits_of(controls, bars), choice, scratch(system, bars, choice), symmetric,
    )  # fmt: skip


def limits_of(controls: Controls, bars: Bars) -> Floats:
    """Numbers the march tests against; a criterion not in use is negative."""
    floor = 16.0 * np.finfo(float).eps * float((bars.constants[bar.AREA] * bars.constants[bar.YOUNG]).max(initial=0.0))

    def given(value: float | None) -> float:
        return -1.0 if value is None else value

    to_floor = controls.residual_relative is None and controls.residual_absolute is None
    return np.array(
        [
            NEAR_FLOOR if to_floor else given(controls.residual_relative),
            given(controls.residual_absolute),
            given(controls.correction_relative),
            controls.max_iterations,
            floor,
            given(controls.energy_drift),
            float(to_floor),
            *np.zeros(LIMITS - TIME_ERROR),
        ]
    )


def choose_solver(system: System, free: Ints, links: Links, may_iterate: bool, wanted: str, is_static: bool) -> Choice:
    """Chain elimination for paths and trees in motion, a narrow band otherwise; nets in motion iterate.

    Statics pivots (tangents may be indefinite or nearly singular), so it uses neither the chain nor iterations.
    """
    nothing = np.zeros(0, np.int64)
    count = int(np.count_nonzero(free == 1))
    direct = Choice(EXTERNAL, no_tree(), nothing, 0, "asked for", *library_for(wanted, count))
    if wanted in DIRECT_SOLVERS:
        return direct
    if len(links.slave):
        return replace(direct, reason="equations couple dofs")
    iterative = replace(direct, solver=CG)
    if wanted == "CG" and may_iterate:
        return iterative
    if wanted == "CHAIN" or (wanted == "AUTO" and not is_static):
        tree = find_tree(system, free)
        if tree is not None:
            return replace(direct, solver=CHAIN, tree=tree, reason="bars form paths or trees")
    if count == 0:
        return replace(direct, reason="nothing is free to move")
    equation, width = number_band(system, free)
    if wanted == "BAND" or count * float(width) ** 2 <= BAND_WORK:
        return replace(direct, solver=BAND, equation=equation, width=width, reason=f"narrow band, half width {width}")
    if may_iterate:
        return replace(iterative, reason=f"half bandwidth {width}, symmetric, with inertia")
    return replace(direct, reason=f"half bandwidth {width} is too wide")


def no_tree() -> Tree:
    """For solvers that follow no elimination order."""
    nothing = np.zeros(0, np.int64)
    return Tree(nothing, nothing, nothing, np.zeros(0), nothing, nothing, nothing)


def scratch(system: System, bars: Bars, choice: Choice) -> Scratch:
    """Working room of the march."""
    size, count = system.size, len(system.labels)
    rows = int(choice.equation.max(initial=-1)) + 1 if choice.solver == BAND else 0
    shapes: dict[str, int | tuple[int, int]] = {
        "store": (STORED, len(bars.nodes)),
        "off": len(bars.off_mass),
        "spring_stiffness": len(system.springs.dofs),
        "block": (count, 9),
        "inverse": (count if choice.solver in (*CHAINS, CG, BICGSTAB) else 0, 9),
        "krylov": (6, size if choice.solver in (CG, BICGSTAB) else 0),
        "band": (rows, 3 * choice.width + 1),
        "unknowns": rows,
        "multiplier": len(bars.nodes),
        "tau": len(bars.nodes),
        "pinned": (count if len(bars.rods) else 0, PINNED),
        "kept": (count if len(bars.rods) else 0, 9),
        "whole": (3, size if len(bars.rods) else 0),
        "pulls": (2, len(bars.nodes) if len(bars.rods) else 0),
    }
    return Scratch(**{name: room(shapes.get(name, size)) for name in Scratch._fields})


def loading(stage: Stage, motion: Motion, time: Floats, exact_dt: Floats) -> Loading:
    """What acts in the increments that end at ``time[1:]``; ``time[0]`` is where they start."""
    moving = stage.environment.supports.moving(motion.u)
    u, v, a = stage.environment.supports.motion(moving, time[1:])
    start = stage.environment.supports.velocity_after(moving, time[:-1])
    if not stage.is_dynamic:
        v[:], a[:], start[:] = 0.0, 0.0, 0.0
    factors = stage.loads.factors(time)
    thermal = thermal_rows(stage.system, stage.environment, time)
    warmth = thermal[1:] if len(thermal) > 1 else thermal
    if stage.scheme.secant:  # a is the mean acceleration of the increment, and the temperature its mean
        a = (v - start) / exact_dt[:, None]
        if len(thermal) > 1:
            warmth = 0.5 * (thermal[:-1] + thermal[1:])
    share = stage.row[WC]
    return Loading(
        exact_dt,
        stage.loads.vectors,
        stage.loads.is_gravity,
        share * factors[1:] + (1.0 - share) * factors[:-1],
        factors,
        moving,
        u,
        v,
        a,
        start,
        thermal,
        warmth,
    )


def record(stage: Stage, count: int, nodes: Ints, elements: Ints) -> Record:
    """Room for what is kept of ``count`` increments."""
    return Record(
        room((count, LEDGER)),
        nodes,
        room((count, 4, len(nodes), 3)),
        stage.system.family[elements],
        room((count, len(elements), 4)),
    )
