"""Small valid files of each format that is read, and random changes of them: nothing but errors of fem may come out."""

from __future__ import annotations

import random
from collections.abc import Iterator

MOORDYN = """fuzzed
---- LINE TYPES ----
Name Diam Mass EA BA EI Cd Ca CdAx CaAx
(-) (m) (kg/m) (N) (Ns) (Nm2) - - - -
ch 0.1 40.0 1e8|2e8 1e6|0 0 1.2 1.0 0.2 0
hose 0.2 60.0 curve.txt -0.8 1e4 1.2 1.0 0.2 0
---- ROD TYPES ----
Name Diam Mass Cd Ca CdEnd CaEnd
(-) (m) (kg/m) - - - -
can 0.5 300.0 0.8 1.0 1.1 0.6
---- BODIES ----
ID Att X0 Y0 Z0 r p y M CG I V CdA Ca
- - - - - - - - - - - - - -
1 Free 0 0 -30 0 10 0 3000 0|0|1 9000 0.1 1|2|3 0.5
---- RODS ----
ID Type Att Xa Ya Za Xb Yb Zb N Out
- - - - - - - - - - -
1 can Body1 0 0 -2 0 0 2 4 -
2 can Body1Pinned 0 0 2 0 0 6 2 -
3 can Fixed 60 0 -50 61 0 -50 0 -
---- POINTS ----
ID Att X Y Z M V CdA Ca
- - - - - - - - -
1 Fixed 60 0 -80 0 0 0 0
2 Body1 0 0 -2 10 0.1 1 1
3 Free 30 0 -60 10 0.1 1 1
4 Turbine1 -60 0 -20 0 0 0 0
---- LINES ----
ID Type A B L N Out
- - - - - - -
1 ch 1 3 40 4 p
2 ch 3 2 45 4 p
3 hose R3B 4 150 4 -
---- FAILURE ----
ID Point Lines Time Tension
- - - - -
1 3 1 5 0
---- OPTIONS ----
9.80665 g
1025 rho
100 WtrDpth
0.3 FrictionCoefficient
1 Currents
7 WaveKin
---- OUTPUTS ----
FairTen1
"""
OLD = """version 1
---- LINE DICTIONARY ----
LineType Diam MassDenInAir EA BA/-zeta Can Cat Cdn Cdt
(-) (m) (kg/m) (N) (Pa-s/-) (-) (-) (-) (-)
main 0.1 80.0 4.0e8 -0.8 1.0 0.0 1.6 0.1
---- NODE PROPERTIES ----
Node Type X Y Z M V FX FY FZ CdA CA
(-) (-) (m) (m) (m) (kg) (m^3) (kN) (kN) (kN) (m^2) (-)
1 Fix 600 0 -250 0 0 0 0 0 0 0
3 Vessel 5 0 -20 0 0 0 0 0 0 0
---- LINE PROPERTIES ----
Line LineType UnstrLen NumSegs NodeAnch NodeFair Flags/Outputs
(-) (-) (m) (-) (-) (-) (-)
1 main 660.0 5 1 3 p
---- SOLVER OPTIONS ----
0.001 dtM
250 WtrDpth
"""
CURVE = "strain tension\n(-) (N)\n0.0 0.0\n0.01 2e5\n0.02 8e5\n0.05 4e6\n"
CURRENT = "current\nz ux uy uz\n(m) (m/s)\n-80 0.1 0 0\n0 0.5 0 0\n"
WAVES = "0.5 1.0 0.0 0\n0.6 0.5 0.5 0.1\n"
NASTRAN = """SOL 101
BEGIN BULK
GRDSET,,0
CORD2C,2,0,1.,0.,0.,1.,0.,1.
,2.,0.,0.
CORD1R,3,1,2,3
GRID    1               0.      0.      0.
GRID,2,2,3.,30.,0.
GRID*   3                               4.              3.
*       0.
GRID,4,3,1.,1.,1.
CROD    1       21      1       3
CONROD  2       2       3       22      4.
CBAR,3,5,1,4,0.,0.,1.
PROD    21      22      4.
ENDDATA
"""
MSH4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
0 3 "anchors"
1 1 "stays"
$EndPhysicalNames
$Entities
3 2 0 0
1 0 0 0 1 3
2 4 0 0 1 3
5 2 1.5 2 0
1 0 0 0 2 1.5 2 1 1 2 1 -5
2 2 0 0 4 1.5 2 1 1 2 2 -5
$EndEntities
$Nodes
3 3 1 5
0 1 0 1
1
0 0 0
0 2 0 1
2
4 0 0
0 5 0 1
5
2 1.5 2
$EndNodes
$Elements
4 4 1 7
0 1 15 1
1 1
0 2 15 1
2 2
1 1 1 1
6 1 5
1 2 1 1
7 2 5
$EndElements
"""
MSH2 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
1 7 "line"
$EndPhysicalNames
$Nodes
3
1 0 0 0
2 1 0 0
3 2 0 1
$EndNodes
$Elements
3
1 15 2 0 1 1
2 1 2 7 1 1 2
3 1 2 7 1 2 3
$EndElements
"""
VTK = """# vtk DataFile Version 3.0
lines
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 3 double
0 0 0 1 0 0 2 0 1
CELLS 2 6
2 0 1
2 1 2
CELL_TYPES 2
3 3
"""
VTU = """<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="3" NumberOfCells="2"><Points>
<DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 2 0 1</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 1 2</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">2 4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">3 3</DataArray></Cells></Piece>
</UnstructuredGrid></VTKFile>
"""
OUT = """
Predictions were generated on 01-Jan-2026 using OpenFAST

Description from the input file: 5.0 MW

Time	PtfmSurge	PtfmHeave
(s)	(m)	(m)
0.0	0.0	0.0
0.5	1.0	0.2
1.0	0.0	0.0
"""
CSV = "time;U1_n2 (m)\n0,0;0,0\n0,5;0,1\n0,75;\n1,0;0,2\n"
INP = """*HEADING
cards of other programs
*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
4, 2, 0, 0
*NSET, NSET=REF
4
*ELEMENT, TYPE=T3D2, ELSET=E
1, 1, 2
*ELEMENT, TYPE=CONN3D2, ELSET=C
2, 2, 3
*CONNECTOR SECTION, ELSET=C, BEHAVIOR=B
AXIAL,
*CONNECTOR BEHAVIOR, NAME=B
*CONNECTOR ELASTICITY, COMPONENT=1, NONLINEAR
-10., -0.1
10., 0.1
*MATERIAL, NAME=M
*UNIAXIAL
*LOADING DATA
0., 0.
10., 0.01
*SOLID SECTION, ELSET=E, MATERIAL=M
,
*MPC
PIN, 3, REF
*EQUATION
2
2, 2, 1., REF, 2, -1.
*INITIAL CONDITIONS, TYPE=STRESS
1, 1, 1., 0., 0., 0., 0., 0.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*STATIC
*CLOAD
4, 1, 1.
*END STEP
"""
WORDS = (
    "nan", "inf", "-1", "0", "1e400", "1e308", "1e-320", "99999999999999999999", "-5", "1.5", "x", "---- LINES ----",
    "$", "|", "1|2|3|4", "R1A", "R9B", "Body1", "Free", "Fixed", "Coupled", "Body1Pinned", "10000000", "3-1", "\x00",
    "\u00fc", "(m)", ";", ",", "*", "#", "$EndNodes", "<a>", "../x", "2147483648", "SEASTATE",
)  # fmt: skip


def mutate(text: str, draw: random.Random) -> str:
    """One change: a character, a word, a line, two lines that change places, the end cut off."""
    kind = draw.randrange(7)
    if kind == 0:
        return text[: draw.randrange(len(text) + 1)]
    if kind == 1:
        at = draw.randrange(len(text) + 1)
        return (
            text[:at] + draw.choice(("", "\n", "\t", " ", "-", "9", "e", "|", "\x00")) + text[at + draw.randrange(2) :]
        )
    lines = text.split("\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    if kind == 2:
        del lines[at]
    elif kind == 3:
        lines.insert(other, lines[at])
    elif kind == 4:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        separator = next((sign for sign in ";,\t" if sign in lines[at]), " ")
        words = lines[at].split(separator)
        words[draw.randrange(len(words))] = draw.choice((draw.choice(WORDS), draw.choice(lines[other].split(" "))))
        lines[at] = separator.join(words)
    return "\n".join(lines)


def mutations(text: str, count: int, seed: int) -> Iterator[str]:
    """So many files, each with one to four changes."""
    draw = random.Random(seed)
    for _ in range(count):
        changed = text
        for _ in range(draw.choice((1, 1, 1, 2, 4))):
            changed = mutate(changed, draw)
        yield changed
