"""A model for every family: what the laws of ``test_families`` are held against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fem.compiled.interpreted import rehearsal
from fem.forces.added_mass import ADDED_MASS
from fem.forces.bathymetry import BATHYMETRY
from fem.forces.bending import BENDING, BENDING_DAMPING
from fem.forces.families import FAMILIES, registered
from fem.forces.fluid import FLUID
from fem.forces.moments import MOMENTS
from fem.forces.protocol import Family
from fem.forces.reeving import REEVING
from fem.forces.rope_laws import ROPE_LAWS
from fem.forces.seabed import SEABED
from fem.forces.twist import TWIST
from fem.forces.vortices import VORTICES
from tests.forces.families.fins import FINS
from tests.forces.families.lines import reeved, wound
from tests.forces.families.magnet import MAGNETS

MAGNETIC = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=MAGNETS
11, 2
12, 3
*MASS, ELSET=MAGNETS
1.
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
21, 2
22, 3
*SPRING, ELSET=GROUND
3
40.
*MATERIAL, NAME=M
*ELASTIC
60.
*DENSITY
0.3
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 2
3, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, 0.5
3, 1, 0.4
3, 3, 0.6
*STEP, NLGEOM
{procedure}
*NODE PRINT
U, V
*EL PRINT
E, S
*END STEP
"""

FRAME = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
4, 2, 0, 1
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 3, 2
*ELEMENT, TYPE=SPRING2, ELSET=ACROSS
11, 2, 3
12, 3, 4
*SPRING, ELSET=ACROSS
3, 2
30.
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
21, 2
22, 3
23, 4
*SPRING, ELSET=GROUND
3
40.
*ELEMENT, TYPE=SPRING1, ELSET=SIDE
31, 2
32, 3
33, 4
*SPRING, ELSET=SIDE
2
40.
*ELEMENT, TYPE=MASS, ELSET=POINT
41, 4
*MASS, ELSET=POINT
1.
*MATERIAL, NAME=M
*ELASTIC
60.
*DENSITY
2.
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
4, 1
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, 0.5
3, 1, 0.4
3, 3, 0.6
4, 2, 0.3
*STEP, NLGEOM
{procedure}
*NODE PRINT
U, V
*EL PRINT
E, S
*END STEP
"""
"""Two bars and, beyond them, a node that springs alone join: pairs beside a bar (two of them beside the second, which
runs the other way) and without one."""

FINNED = FRAME.replace("BARS", "FINNED")
FLUIDS = """*AQUA
-5., 0.1, 3., 2.
0.8, 0.5, -0.3, -0.4
0.3, 0.9, 0.1, 0.6
*WIND
0.5, 2., 1.5, 1., 0.6, 0.8, 0.5
*DRAG LAW, NAME=LAW
0.2, 0.1
1., 0.6
"""
FLOWS = """*DLOAD
BARS, FDD, 1., 0.6, 1.2, 0.9
BARS, FDT, 1., 0.6, 0.3, 0.9
1, PB, 1., 0.6
*DLOAD, LENGTH=CURRENT
1, WDD, 1., 0.5, LAW
2, WDD, 1., 0.5, 1.5
2, PB, 1., 0.6
"""
IMMERSED = FRAME.replace("2, 1, 0, 0", "2, 1, 0, 0.4").replace("3, 2, 0, 0", "3, 2, 0.1, -0.3")
"""The surface z = 0.1 goes through both bars."""


def in_fluids(loads: str) -> str:
    """The frame in water and wind."""
    return IMMERSED.replace("*BOUNDARY", FLUIDS + "*BOUNDARY").replace("*NODE PRINT", loads + "*NODE PRINT")


FLOWING, DRAGGED = in_fluids(FLOWS), in_fluids("*DLOAD\nBARS, FI, 1., 0.6, 2., 1., , 0.2\n")

WAVY = in_fluids(FLOWS + "*DLOAD\nBARS, FI, 1., 0.6, 2., 1., , 0.2\n").replace(
    "*DRAG LAW",
    "*WAVE, TYPE=AIRY\n0.1, 4., 30., 0.6, 0.8\n*WAVE, TYPE=AIRY, WAVE PERIOD\n0.05, 1.5, 0., 1., 0.\n*DRAG LAW",
)
"""The same in two waves, which move the surface and accelerate the water."""

BEDDED = (
    MAGNETIC.replace("MAGNETS", "POINTS")
    .replace("*BOUNDARY", "*SEABED, ELSET=LINE, ELEVATION=0.4, SLOPE=20, UPHILL=345, FRICTION=ALL\n12., 1.5, 1.\n"
             "0.5, 0.5, 2.\n*BOUNDARY")
    .replace("*STEP,", "*INITIAL CONDITIONS, TYPE=ANCHOR\n2, 1, 0.1\n3, 1, 0.1\n3, 3, 0.2\n*STEP,")
)  # fmt: skip
"""Two nodes that stay in the bottom, and stick; it rises across their line."""

ROPES = FRAME.replace(
    """*MATERIAL, NAME=M
*ELASTIC
60.
*DENSITY
2.
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
""",
    """*ELSET, ELSET=FIRST
1
*ELSET, ELSET=SECOND
2
*MATERIAL, NAME=SERIES
*ELASTIC
60.
*VISCOELASTIC
0.3, , 0.1
0.2, , 0.5
*DENSITY
2.
*MATERIAL, NAME=TWO CURVES
*ELASTIC
30.
*DYNAMIC STIFFNESS
60., 2., 15.
*DENSITY
2.
*SOLID SECTION, ELSET=FIRST, MATERIAL=SERIES
1.
*SOLID SECTION, ELSET=SECOND, MATERIAL=TWO CURVES, STRAIN=ENGINEERING
1.
""",
)
"""Laws with a memory that no kink disturbs: the others have tests of their own."""

WRAPPED = BEDDED.replace("*SEABED, ELSET=LINE, ELEVATION=0.4, SLOPE=20, UPHILL=345, FRICTION=ALL\n",
    "*RIGID CYLINDER, ELSET=LINE, RADIUS=3.\n0.2, -0.5, -2.4, 1., 0.1, -2.2\n",
).replace("0.5, 0.5, 2.\n", "")  # fmt: skip
"""The same on a smooth cylinder, whose normals turn: what sticks to it comes to rest elsewhere on another way."""

HILLY = BEDDED.replace(
    ", ELEVATION=0.4, SLOPE=20, UPHILL=345, FRICTION=ALL\n",
    ", POINTS=6\n-2, -3, 0.1\n3, -3, 1.4\n20, -3, 1.\n-2, 4, 0.6\n3, 4, 0.8\n20, 4, 2.\n",
).replace("0.5, 0.5, 2.\n", "")
"""The same on a smooth twisted grid, whose normals and cosines change from place to place."""

BENT = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
4, 2.7, 0, 0
*ELEMENT, TYPE=B31, ELSET=FIRST
1, 1, 2
2, 3, 2
*ELEMENT, TYPE=B31, ELSET=SECOND
3, 3, 4
*BEAM GENERAL SECTION, ELSET=FIRST, DENSITY=1.
1., 0.05, 0., 0.05

60., 20.
*BEAM GENERAL SECTION, ELSET=SECOND, DENSITY=1.
1., 0.02, 0., 0.02

60., 20.
*BOUNDARY
1, ENCASTRE
4, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, 0.3
3, 2, -0.4
3, 3, 0.5
4, 3, -0.6
*STEP, NLGEOM
{procedure}
*CLOAD
2, 2, 0.3
*NODE PRINT
U, V, SK, SM
*EL PRINT
E, S
*END STEP
"""
"""A clamp, a joint of two sections, an end that slides; the second element runs the other way."""
TWISTED = BENT.replace("4, 2.7, 0, 0", "4, 2.6, 0.3, 0.2").replace("3, 2, 0, 0", "3, 1.9, 0.3, 0").replace(
    "1., 0.05, 0., 0.05\n\n60., 20.", "1., 0.05, 0., 0.08, 0.06\n0.1, 0.3, 1.\n60., 20.\n*DAMPING, BETA=0.02",
).replace("1., 0.02, 0., 0.02\n", "1., 0.03, 0., 0.03, 0.03\n")  # fmt: skip
"""The same, bent at rest, of a section with two stiffnesses."""
DAMPED = BENT.replace("60., 20.\n", "60., 20.\n*DAMPING, BETA=0.05\n", 1)
GALLOPING = (
    IMMERSED.replace(
        "*BOUNDARY",
        "*AQUA\n-5., -3., 3., 2.\n*WIND\n0.5, 2., 1.5, 1., 0.6, 0.8, 0.5\n"
        "*DRAG LAW, NAME=ICE, BY=ANGLE\n-100., 1.4, -0.9\n100., 0.9, 0.8\n*BOUNDARY",
    )
).replace(
    "*NODE PRINT",
    "*DLOAD\n1, FLD, 1., 0.5, ICE, 0.9, 10.\n*DLOAD, LENGTH=CURRENT\n2, FLD, 1., 0.4, ICE\n*NODE PRINT",
)  # fmt: skip
"""Drag and lift over the angle of attack, in wind that grows with height; rows of the table are far from all angles."""

SHEDDING = FRAME.replace(
    "*BOUNDARY", "*AQUA\n-9., 9., 9.81, 1.\n0.2, 1., 0., -9.\n0.4, 2., 0., 9.\n*VIV, ELSET=BARS\n0.6, 1.\n*BOUNDARY"
)
"""Two bars with vortices in a current that grows with height."""

TURNED = """*NODE
1, 0, 0, 0
2, 0.7, -0.3, 0.9
3, -0.5, 0.8, 0.4
*NSET, NSET=TIED
2, 3
*ELEMENT, TYPE=MASS, ELSET=M
1, 1
*MASS, ELSET=M
3
*ELEMENT, TYPE=ROTARYI, ELSET=R
2, 1
*ROTARY INERTIA, ELSET=R
1, 1.5, 2.2, 0.1, -0.2, 0.15
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
11, 2
12, 1
13, 3
*SPRING, ELSET=GROUND
3
20.
*ELEMENT, TYPE=SPRING1, ELSET=SIDE
21, 2
22, 1
23, 3
*SPRING, ELSET=SIDE
2
20.
*RIGID BODY, REF NODE=1, TIE NSET=TIED
*BOUNDARY
1, 1
*AMPLITUDE, NAME=A, TIME=TOTAL TIME
0, 1, 0.4, 0.6, 0.8, 1
*STEP, NLGEOM
{procedure}
*CLOAD
1, 4, 1.5
*CLOAD, AMPLITUDE=A
1, 5, 2.
1, 6, -1.
*NODE PRINT
U, V, UR
*END STEP
"""
"""Moments about all axes on a body on springs, one of them constant."""

EXAMPLES: list[tuple[Family, str]] = [
    (MAGNETS, MAGNETIC), (FLUID, FLOWING), (ADDED_MASS, DRAGGED), (FINS, FINNED), (SEABED, BEDDED), (SEABED, WRAPPED),
    (BATHYMETRY, HILLY), (VORTICES, SHEDDING),
    (FLUID, WAVY), (REEVING, wound()), (REEVING, reeved()), (ROPE_LAWS, ROPES),
    (BENDING, BENT), (BENDING_DAMPING, DAMPED), (MOMENTS, TURNED), (FLUID, GALLOPING),
    (TWIST, TWISTED),
]  # fmt: skip
"""A deck with a place for the procedure (and step cards after it); time about 1, energies about 1."""


@contextmanager
def known() -> Iterator[None]:
    """With the families of all examples; some may be registered for good."""
    with ExitStack() as stack:
        for each, _ in EXAMPLES:
            if each not in FAMILIES:
                stack.enter_context(registered(each))
        yield


@contextmanager
def alone(family: Family) -> Iterator[None]:
    """With it behind the first of fem's families only: a march of all of them takes twice as long to compile."""
    others = FAMILIES[1:]
    del FAMILIES[1:]
    with registered(family):
        try:
            yield
        finally:
            FAMILIES[1:] = [*others, family]


@contextmanager
def acting(family: Family) -> Iterator[None]:
    """With a family in the march; for one of a file that is Python functions, as compiling it for that takes longer."""
    if family in FAMILIES:
        yield
    else:
        with known(), rehearsal():
            yield
