"""Which linear solver a step takes, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fem.arrays import Ints
from fem.assembly.equations import Equations
from fem.assembly.system import System
from fem.solve.linear.ordering import BAND_WORK, Tree, find_tree, number_band
from fem.solve.linear.sparse.factors import PARDISO, SUPERLU, library_for
from fem.solve.newton.groups import BAND, BICGSTAB, CG, CHAIN, EXTERNAL, NO_SOLVE, UNSYMMETRIC_CHAIN

NAMES = {
    EXTERNAL: "direct",
    CHAIN: "chain",
    BAND: "band",
    CG: "conjugate gradients",
    BICGSTAB: "stabilised biconjugate gradients",
    NO_SOLVE: "none",
    UNSYMMETRIC_CHAIN: "chain",
}
"""Linear solvers as the user is told of them."""
UNSYMMETRIC = {CG: BICGSTAB, CHAIN: UNSYMMETRIC_CHAIN}
"""What takes their place where the tangent is not symmetric."""
DIRECT_SOLVERS = ("DIRECT", SUPERLU, PARDISO)
SOLVERS = ("AUTO", "CHAIN", "BAND", "CG", *DIRECT_SOLVERS)
"""What may be asked for; DIRECT leaves the choice of the library to us."""

NOTHING = np.zeros(0, np.int64)
NO_TREE = Tree(NOTHING, NOTHING, NOTHING, np.zeros(0), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
"""For solvers that follow no elimination order."""


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


def choose_solver(
    system: System, free: Ints, equations: Equations, may_iterate: bool, wanted: str, is_static: bool
) -> Choice:
    """Chain elimination for paths and trees in motion, a narrow band otherwise; nets in motion iterate.

    Statics pivots (tangents may be indefinite or nearly singular), so it uses neither the chain nor iterations.
    """
    count = int(np.count_nonzero(free == 1))
    direct = Choice(EXTERNAL, NO_TREE, NOTHING, 0, "asked for", *library_for(wanted, count))
    if wanted in DIRECT_SOLVERS:
        return direct
    if len(equations.slave):
        return replace(direct, reason="equations couple dofs")
    if wanted == "CG" and may_iterate:
        return replace(direct, solver=CG)
    if wanted == "CHAIN" or (wanted == "AUTO" and not is_static):
        tree = find_tree(system, free)
        if tree is not None:
            if len(system.pairs):
                reason = "bars and what else couples nodes form paths or trees"
                return replace(direct, solver=UNSYMMETRIC_CHAIN, tree=tree, reason=reason)
            return replace(direct, solver=CHAIN, tree=tree, reason="bars form paths or trees")
    if count == 0:
        return replace(direct, reason="nothing is free to move")
    equation, width = number_band(system, free)
    if wanted == "BAND" or count * float(width) ** 2 <= BAND_WORK:
        return replace(direct, solver=BAND, equation=equation, width=width, reason=f"narrow band, half width {width}")
    if may_iterate:
        return replace(direct, solver=CG, reason=f"half bandwidth {width}, symmetric, with inertia")
    return replace(direct, reason=f"half bandwidth {width} is too wide")
