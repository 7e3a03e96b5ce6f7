"""Decks of three kinds for comparisons with other codes: statics dry, statics in water, motions.

Each is small, and has what the codes are known to treat in their own ways: where lines begin, dashpots, friction,
strains, schemes, what pushes, g.
"""

from __future__ import annotations

from typing import NamedTuple

ALL, TWO = ("opensees", "calculix", "moordyn"), ("opensees", "calculix")
WATER = ("moordyn",)


class DeckOfCodes(NamedTuple):
    """A deck, the codes that can express it, and the reason that explains what differs in each: ``""`` for nothing."""

    text: str
    codes: dict[str, str]


PLAIN = """*HEADING
{name}, SI units
*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=C
{bars}
{more}*MATERIAL, NAME=M
*ELASTIC
{young}
*DENSITY
{density}
{material}*SOLID SECTION, ELSET=C, MATERIAL=M, STRAIN={strain}{rule}
1.E-4
*BOUNDARY
{held}
{model}{steps}"""
RESTS = """*STEP, NLGEOM
*STATIC
{dt}, 1.
*CONTROLS, RESI_GLOB_RELA=1E-10
{loads}*NODE PRINT
U
*EL PRINT, ELSET=C
T
*END STEP
"""
MOVES = """*STEP, NLGEOM, INC=100000
*DYNAMIC, {scheme}
{dt}, {time}
*CONTROLS, RESI_GLOB_RELA=1E-10
{loads}*NODE PRINT
U
*EL PRINT, ELSET=C
T
*END STEP
"""
WEIGHT = "*DLOAD\n, GRAV, 9.81, 0., 0., -1.\n"
POINT = "*ELEMENT, TYPE=MASS, ELSET=P\n101, {node}\n*MASS, ELSET=P\n{mass}\n"
