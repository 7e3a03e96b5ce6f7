"""Decks of lines that run, for the laws of families and for their own."""

from __future__ import annotations

WOUND = """*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0.4
3, 2, 0.1, -0.3
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 3, 2
*ELEMENT, TYPE=MASS, ELSET=POINT
11, 2
12, 3
*MASS, ELSET=POINT
0.5
*ELEMENT, TYPE=SPRING1, ELSET=X
21, 2
22, 3
*SPRING, ELSET=X
1
40.
*ELEMENT, TYPE=SPRING1, ELSET=Y
31, 2
32, 3
*SPRING, ELSET=Y
2
40.
*ELEMENT, TYPE=SPRING1, ELSET=Z
41, 2
42, 3
*SPRING, ELSET=Z
3
40.
*MATERIAL, NAME=M
*ELASTIC
60.
*DENSITY
0.6
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN={strain}
1.
*AMPLITUDE, NAME=TURN, DEFINITION=SMOOTH STEP, TIME=TOTAL TIME
0., 0.
1., 1.
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, 0.3
3, 1, 0.2
*STEP, NLGEOM
{{procedure}}
{winch}
*DLOAD, AMPLITUDE=TURN
LINE, GRAV, 3., 0., 0.6, -0.8
*NODE PRINT
U, V
*EL PRINT
E, S
*END STEP
"""
TURNED = "*WINCH, AMPLITUDE=TURN\n1, 0.2\n2, 0.05"
KEPT = "*WINCH, TENSION\n1, 5.\n*WINCH, TENSION\n2, 3., {speed}"

REEVED = """*NODE, NSET=ALL
1, -0.8, 0.1, -1
2, 0, 0, 0
3, 0.9, 0.2, -0.7
4, 1.2, 0.5, 0.6
*ELEMENT, TYPE=PULLEY, ELSET=ROPE
1, 1, 2, 3
2, 2, 3, 4
*ELEMENT, TYPE=MASS, ELSET=POINT
11, 1
12, 2
13, 3
14, 4
*MASS, ELSET=POINT
0.5
*ELEMENT, TYPE=SPRING1, ELSET=X
21, 1
22, 2
23, 3
24, 4
*SPRING, ELSET=X
1
30.
*ELEMENT, TYPE=SPRING1, ELSET=Y
31, 1
32, 2
33, 3
34, 4
*SPRING, ELSET=Y
2
30.
*ELEMENT, TYPE=SPRING1, ELSET=Z
41, 1
42, 2
43, 3
44, 4
*SPRING, ELSET=Z
3
30.
*MATERIAL, NAME=M
*ELASTIC
40.
*DENSITY
0.4
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, STRAIN={strain}
1.
*REST LENGTH
1, 2.43
2, 2.52
{friction}*AMPLITUDE, NAME=TURN, DEFINITION=SMOOTH STEP, TIME=TOTAL TIME
0., 0.
1., 1.
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, 0.3
3, 1, 0.2
*STEP, NLGEOM
{{procedure}}
{winch}
*DLOAD, AMPLITUDE=TURN
ROPE, GRAV, 3., 0., 0.6, -0.8
*NODE PRINT
U, V
*EL PRINT
T, T2
*END STEP
"""
"""Two ropes, the second over a node that is an end of the first."""


def wound(strain: str = "ENGINEERING", winch: str = TURNED) -> str:
    """Two bars on winches."""
    return WOUND.format(strain=strain, winch=winch)


def reeved(strain: str = "GREEN", winch: str = "*WINCH, AMPLITUDE=TURN\n2, 0.1, 2", friction: float = 0.0) -> str:
    """Two ropes over pulleys."""
    rubs = f"*PULLEY, ELSET=ROPE\n{friction}\n" if friction else ""
    return REEVED.format(strain=strain, winch=winch, friction=rubs)
