"""The deck the sweeps of these tests run over."""

from __future__ import annotations

from pathlib import Path

SWING = """*PARAMETER
length = 1.
gravity = 9.81
dt = 0.01
end = 20*dt
*NODE
1, 0., 0., 0.
2, <length>, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=STEEL
*ELASTIC
1e6
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL
1e-2
*NSET, NSET=TIP
2
*BOUNDARY
1, 1, 3
2, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
<dt>, <end>
*DLOAD
BAR, GRAV, <gravity>, 0., -1., 0.
*NODE PRINT, NSET=TIP
U
*EL PRINT, ELSET=BAR
T
*END STEP
"""


def write_swing(folder: Path, old: str = "", new: str = "") -> Path:
    """A pendulum of 20 increments; ``old`` in its deck replaced by ``new``."""
    assert old in SWING
    path = folder / "swing.inp"
    path.write_text(SWING.replace(old, new) if old else SWING)
    return path
