"""Mass of a bar, per direction: three rules, m = rho A L0.

LUMPED      m/2 diag(1, 1)     the default
CONSISTENT  m/6 [2 1; 1 2]     exact slender rod
ONE POINT   m/4 [1 1; 1 1]     mass at the centre of gravity (Code_Aster's MECABL2)

Each is a fraction on the diagonal and a fraction off it; it never depends on the order in which a bar names its nodes.
What depends on direction is added by families (``Family.masses``).
"""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.lanes.choose import some

SHARES = {"LUMPED": (1 / 2, 0.0), "CONSISTENT": (1 / 3, 1 / 6), "ONE POINT": (1 / 4, 1 / 4)}
"""rule -> (diagonal, off-diagonal) fraction of the bar's mass."""


@kernel
def multiply_mass(diagonal: Floats, off: Floats, nodes: Ints, x: Floats, product: Floats) -> None:
    """product = M x for the diagonal (3n,) and the coupling part (m,) (empty: none) of a mass or damping matrix."""
    for dof in range(diagonal.shape[0]):
        product[dof] = diagonal[dof] * x[dof]
    for e in range(off.shape[0]):
        coupling = off[e]
        if some(coupling != 0.0):
            i = 3 * nodes[e, 0]
            j = 3 * nodes[e, 1]
            for c in range(3):
                product[i + c] += coupling * x[j + c]
                product[j + c] += coupling * x[i + c]
