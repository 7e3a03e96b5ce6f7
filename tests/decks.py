"""Decks as text, for tests: a deck in, its history out."""

from __future__ import annotations

import fem


def run_text(text: str, *, solver: str = "AUTO", **parameters: float) -> fem.History:
    """Run a deck given as text; its history."""
    return fem.run(fem.parse_deck(text, parameters), solver=solver)


def chain(
    bars: int,
    *,
    dt: float = 0.01,
    period: float = 0.5,
    young: float = 1e6,
    strain: str = "GREEN",
    mass: str = "LUMPED",
    extra: str = "",
    both_ends: bool = False,
    dynamic: str = "",
    material: str = "",
    direction: str = "0, 0, -1",
) -> str:
    """A horizontal chain of bars of 0.1 under its weight, one end (or both) pinned."""
    nodes = "\n".join(f"{i + 1}, {0.1 * i!r}, 0, 0" for i in range(bars + 1))
    elements = "\n".join(f"{i + 1}, {i + 1}, {i + 2}" for i in range(bars))
    last = f"{bars + 1}, 1, 3\n" if both_ends else ""
    return f"""*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=LINE
{elements}
*MATERIAL, NAME=M
*ELASTIC
{young!r}
*DENSITY
1.
{material}
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN={strain}, MASS={mass}
1.
*BOUNDARY
1, 1, 3
{last}{extra}
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT{dynamic}
{dt!r}, {period!r}
*CONTROLS, RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF
*DLOAD
LINE, GRAV, 9.81, {direction}
*END STEP
"""


COLUMN = """*NODE
1,0,0,0
2,0,0,1
3,0,0,2
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
1e4
*SOLID SECTION, ELSET=ALL, MATERIAL=M
1.
*BOUNDARY
1,1,3
3,1,2
"""
"""Two bars in line, the upper end guided, the hinge in the middle free."""

STEP = """*STEP, NLGEOM={nlgeom}
*STATIC{options}
{data}
*CONTROLS, RESI_GLOB_RELA=1e-10
{loads}
*END STEP
"""


def step(loads: str, nlgeom: str = "YES", options: str = "", data: str = "1., 1.") -> str:
    """A static step with a tight tolerance."""
    return STEP.format(loads=loads, nlgeom=nlgeom, options=options, data=data)
