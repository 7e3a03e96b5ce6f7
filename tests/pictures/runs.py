"""Decks and runs for the pictures: a chain of three bars, swinging in a plane or in space."""

from __future__ import annotations

from pathlib import Path

from fem.runner import run_to_files

CHAIN = """*HEADING
three bars, SI units
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
4, 3., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
11, 1, 2
12, 2, 3
13, 3, 4
*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
1.
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
{extra}
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, {period}
*CONTROLS, ENERGY DRIFT=OFF
*DLOAD
BARS, GRAV, 9.81, {gravity}
{output}
*END STEP
"""
ALL = "*NODE PRINT, NSET=ALL\nU, V, A, RF, UR\n*EL PRINT, ELSET=BARS\nT"
SIDEWAYS = "*INITIAL CONDITIONS, TYPE=VELOCITY\n4, 2, 3."


def chain(folder: Path, extra: str = "", gravity: str = "0., 0., -1.", period: float = 0.3, output: str = ALL) -> Path:
    """Run the chain; the folder of its results."""
    deck = folder / "chain.inp"
    deck.write_text(CHAIN.format(extra=extra, gravity=gravity, period=period, output=output))
    run_to_files(deck, folder / "results", quiet=True)
    return folder / "results"
