"""A model for every family: what the laws of ``test_families`` are held against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fem.forces.families import FAMILIES, registered
from fem.forces.protocol import Family
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

EXAMPLES: list[tuple[Family, str]] = [(MAGNETS, MAGNETIC)]
"""A deck with a place for the procedure (and step cards after it); time about 1, energies about 1."""


@contextmanager
def known(family: Family) -> Iterator[None]:
    """With a family that may be registered for good."""
    if family in FAMILIES:
        yield
    else:
        with registered(family):
            yield
