"""Public moorings as files of MoorDyn: the OC4 semi-submersible (OpenFAST r-test), IEA 15 MW on VolturnUS-S."""

from __future__ import annotations

MOORDYN = """--- MoorDyn Input File ---
{title}
--- LINE TYPES ---
Name Diam MassDen EA BA/-zeta EI Cd Ca CdAx CaAx
(-) (m) (kg/m) (N) (N-s/-) () (-) (-) (-) (-)
main {line}
--- POINTS ---
Node Type X Y Z M V CdA CA
(-) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 418.8 725.383 -200.0 0 0 0 0
2 Fixed -837.6 0.0 -200.0 0 0 0 0
3 Fixed 418.8 -725.383 -200.0 0 0 0 0
4 Vessel {x} {y} -14.0 0 0 0 0
5 Vessel {far} 0.0 -14.0 0 0 0 0
6 Vessel {x} -{y} -14.0 0 0 0 0
--- LINES ---
Line LineType AttachA AttachB UnstrLen NumSegs Outputs
(-) (-) (-) (-) (m) (-) (-)
1 main 1 4 {length} {bars} -
2 main 2 5 {length} {bars} -
3 main 3 6 {length} {bars} -
--- SOLVER OPTIONS ---
200 WtrDpth
{bed} kbot
3.0e5 cbot
--- need this line ---
"""
OC4 = {
    "title": "OC4 semi: OpenFAST/r-test, 5MW_OC4Semi_WSt_WavesWN",
    "line": "0.0766 113.35 7.536E8 -1 0 2 0.8 0.4 0.25",
}
OC4 |= {"x": "20.434", "y": "35.393", "far": "-40.868", "length": "835.35"}
IEA = {"title": "IEA 15 MW: IEAWindTask37, UMaineSemi", "line": "0.333 685.0 3.27E9 -1 0 1.11 0.82 0.2 0.27"}
IEA |= {"x": "29.0", "y": "50.229", "far": "-58.0", "length": "850.0"}
BARS = {"OC4": (OC4, 20), "IEA 15 MW": (IEA, 50)}
"""With the bars of the public files."""
TURNED = (5.0, -8.0, 1.0, 0.03, -0.02, 0.1)
"""An offset in MoorPy's angles: about x, then y, then z."""
