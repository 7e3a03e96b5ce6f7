"""Small decks with parameters, for derivatives."""

from __future__ import annotations

import numpy as np

HANGING = """*HEADING
A chain between two supports under its weight
*PARAMETER
EA = {ea}
rho = {rho}
*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=CHAIN
{bars}
*MATERIAL, NAME=M
*ELASTIC
<EA>
*DENSITY
<rho>
*SOLID SECTION, ELSET=CHAIN, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
{last}, 1, 3
ALL, 2, 2
*STEP, NLGEOM
*STATIC
0.25, 1.
*CONTROLS, RESI_GLOB_RELA=1e-10
*DLOAD
CHAIN, GRAV, 10., 0, 0, -1
*NODE PRINT, NSET=ALL
U
*EL PRINT, ELSET=CHAIN
T
*END STEP
"""


def hanging(count: int = 8, ea: float = 400.0, rho: float = 1.5) -> tuple[str, np.ndarray]:
    """The deck, and natural lengths of the bars."""
    x = np.linspace(0.0, 8.0, count + 1)
    z = -1.6 * (1.0 - (x / 4.0 - 1.0) ** 2) + 0.1 * x
    lengths = np.hypot(np.diff(x), np.diff(z))
    nodes = "\n".join(f"{n}, {a!r}, 0., {b!r}" for n, (a, b) in enumerate(zip(x.tolist(), z.tolist(), strict=True), 1))
    bars = "\n".join(f"{n}, {n}, {n + 1}" for n in range(1, count + 1))
    return HANGING.format(ea=ea, rho=rho, nodes=nodes, bars=bars, last=count + 1), lengths


SWING = """*PARAMETER
L = 1.3
period = 2*pi*sqrt(L/9.81)
dt = period/40
*NODE
1, 0, 0, 0
2, <L>, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
2.
*MATERIAL, NAME=M
*ELASTIC
1e5
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
2, 2, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT
<dt>, <period>
*CONTROLS, RESI_GLOB_RELA=1e-11
*DLOAD
BOB, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U, V
*EL PRINT, ELSET=BAR
T
*END STEP
"""
STRING = """*PARAMETER
T = 50.
m = 0.4
*NODE, NSET=ALL
1, 0, 0, 0
9, 8, 0, 0
*NGEN, NSET=ALL
1, 9
*ELEMENT, TYPE=T3D2, ELSET=STRING
1, 1, 2
*ELGEN, ELSET=STRING
1, 8
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
<m>
*SOLID SECTION, ELSET=STRING, MATERIAL=M
1.
*INITIAL CONDITIONS, TYPE=STRESS
STRING, <T>
*BOUNDARY
1, 1, 3
9, 1, 3
ALL, 2, 2
*STEP, NLGEOM
*FREQUENCY
3
*END STEP
"""
LINE = """*PARAMETER
EA = 3000.
F = 30.
beta = 0.002
*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0.3
4, 3, 0, 0.1
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
<EA>
*DENSITY
1.
*DAMPING, ALPHA=0.3, BETA=<beta>
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN=GREEN, MASS=CONSISTENT
1.
*INITIAL CONDITIONS, TYPE=STRESS
BARS, 5.
*AMPLITUDE, NAME=RISE, DEFINITION=SMOOTH STEP
0., 0., 0.3, 1.
*BOUNDARY
1, 1, 3
4, 3, 3
*STEP, NLGEOM
*STATIC
0.5, 1.
*CONTROLS, RESI_GLOB_RELA=1e-10
*CLOAD
4, 1, <F>
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.6
0.01, 0.5
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF
*DLOAD
BARS, GRAV, 9.81, 0, 0, -1
*CLOAD, AMPLITUDE=RISE
3, 3, <F>
*NODE PRINT, NSET=ALL
U, V, A, RF, COORD
*EL PRINT, ELSET=BARS
E, T
*END STEP
"""
