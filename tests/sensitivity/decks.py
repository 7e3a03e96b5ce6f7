"""Small decks with parameters, for derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fem.study.sensitivity.run import Differentiated


def march_as_ropes_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths of increments carry derivatives even where these are none: bodies on lines march in the machine code of
    ropes in water (``test_ropes.py``) then, which takes most of a minute to compile."""
    march = Differentiated.march

    def marched(its: Differentiated, *given: Any) -> Any:
        return march(its, *given[:-1], True)

    monkeypatch.setattr(Differentiated, "march", marched)


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
MOORING = """*PARAMETER
EA = 4.e5
Cd = 1.2
rho = 7800.
ground = 2.e5
mu = 0.4
surge = 0.8
area = 0.001
young = EA/area
half = mu/2
EI = 200.
I = EI/young
*NODE, NSET=ALL
1, 0., 0., 0.
2, 3., 0.2, 0.
3, 6., 0.3, 0.
4, 9., 0.2, 0.02
5, 11.6, 0.1, 1.6
6, 13.6, 0., 3.8
7, 15.3, 0., 6.3
*ELEMENT, TYPE={element}, ELSET=LINE
1, 1, 2
2, 2, 3
3, 3, 4
4, 4, 5
5, 5, 6
6, 6, 7
*MATERIAL, NAME=M
*ELASTIC
<young>
*DENSITY
<rho>
{section}
*AQUA
-2., 8., 9.81, 1025.
0.4, 0.1, 0., -2.
0.8, 0., 0., 8.
{bottom}
<ground>, 3000., 0.05
<mu>, <half>
*AMPLITUDE, NAME=ACROSS, DEFINITION=PERIODIC
1, 2., 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
7, 1, 3
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
LINE, PB, 1., 0.04
LINE, FDD, 1., 0.04, <Cd>
LINE, FDT, 1., 0.04, 0.1
LINE, FI, 1., 0.04, 2., 1.
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
0.02, 0.4
*CONTROLS, RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF
*BOUNDARY, AMPLITUDE=ACROSS
7, 1, 1, <surge>
7, 2, 2, 0.3
7, 3, 3, 0.
*NODE PRINT, NSET=ALL
U, V, RF
*EL PRINT, ELSET=LINE
T
*END STEP
"""
CABLE = "*NO COMPRESSION\n*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING\n<area>"
BEAM = """*DAMPING, BETA=0.01
*BEAM GENERAL SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING, STRAIGHT AT REST
<area>, <I>, 0., <I>, 0.
"""
PLANE, GRID = "*SEABED, ELSET=LINE, ELEVATION=0.", "*SEABED, ELSET=LINE, FRICTION=ALL, FILE=grid.csv"


def mooring(
    bottom: str = PLANE, element: str = "T3D2", section: str = CABLE, scheme: str = "GENERALIZED ALPHA, RHO=0.4"
) -> str:
    """A line in a current, of which a part lies on the bottom; its upper end moves sideways."""
    return MOORING.format(bottom=bottom, element=element, section=section, scheme=scheme)


def in_waves() -> str:
    """The line in shallow water, two regular waves above it; its upper end comes out of the water."""
    waves = "*WAVE, TYPE=AIRY, STRETCHING=WHEELER\n<height>, <period>, 40., 20.\n0.2, 3., 10., 70.\n*SEABED"
    text = mooring().replace("*SEABED", waves, 1).replace("-2., 8., 9.81", "-2., 4., 9.81")
    return text.replace("*PARAMETER\n", "*PARAMETER\nheight = 0.3\nperiod = 5.\n", 1)


def uneven() -> str:
    """Depths of a bottom below it: grid.csv."""
    x, y = (-5.0, 1.5, 4.5, 7.5, 10.5, 20.0), (-5.0, 0.1, 5.0)
    rows = (f"{a},{b},{0.02 * np.sin(a) + 0.02 - 0.01 * b * (a > 3.0) + 0.002 * a}" for a in x for b in y)
    return "\n".join(["x,y,z", *rows])
