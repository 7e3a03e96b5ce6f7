"""Decks of one mass that is driven, for tests of orbits: springs of u and u^3, a stop, a table."""

from __future__ import annotations

from pathlib import Path

OSCILLATOR = """*PARAMETER
F = 0.5
omega = 1.6
k = 1.
k3 = 1.
damping = 0.1
increments = 200
dt = 2*pi/omega/increments
duration = 4*dt
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*NSET, NSET=BALL
2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=MASS
3, 2
*ELEMENT, TYPE=SPRING1, ELSET=SPRING
4, 2
*SPRING, ELSET=SPRING
3
<k>
*MASS, ELSET=MASS, ALPHA=<damping>
1.
*SOLID SECTION, ELSET=BARS, MATERIAL=ELASTIC, STRAIN=GREEN
1.
*MATERIAL, NAME=ELASTIC
*ELASTIC
<k3>
*AMPLITUDE, NAME=DRIVE, DEFINITION=PERIODIC
1, <omega>, 0., 0.
1., 0.
*BOUNDARY
1, 1, 3
2, 1, 2
3, 1, 3
{stop}*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
<dt>, <duration>
*CONTROLS, RESI_GLOB_MAXI=1E-12, ENERGY DRIFT=OFF
*CLOAD, AMPLITUDE=DRIVE
2, 3, <F>
*NODE PRINT, NSET=BALL
U, V
*END STEP
"""
"""m u'' + damping u' + k u + k3 u^3 = F cos(omega t), m = 1: two bars of length 1 across the motion."""
STOP = """*NODE
4, 1., 0., 2.
*ELEMENT, TYPE=T3D2, ELSET=STOP
5, 2, 4
*SOLID SECTION, ELSET=STOP, MATERIAL=STEEL
1.
*MATERIAL, NAME=STEEL
*INEXTENSIBLE, RESTITUTION=0.8
*NO TENSION
*REST LENGTH
STOP, 1.
*BOUNDARY
4, 1, 3
"""
"""u <= 1."""
TABLE = """*PARAMETER
A = 0.03
c = 0.5
omega = 20.
increments = 20
dt = 2*pi/omega/increments
duration = 4*dt
*NODE
1, 0., 0., <A>
2, 0., 0., 1.2
*NSET, NSET=BALL
2
*ELEMENT, TYPE=T3D2, ELSET=STOP
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
1.
*MATERIAL, NAME=STEEL
*INEXTENSIBLE, RESTITUTION=<c>
*NO TENSION
*SOLID SECTION, ELSET=STOP, MATERIAL=STEEL
1.
*REST LENGTH
STOP, 1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <omega>, 0., -1.
1., 0.
*BOUNDARY
1, 1, 2
2, 1, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
<dt>, <duration>
*CONTROLS, ENERGY DRIFT=OFF, IMPACT=EVENT
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, <A>
*DLOAD
BALL, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=BALL
U, V
*END STEP
"""
"""A ball, one above the table at contact, whose height is A cos(omega t)."""


def written(folder: Path, text: str, stop: str = "") -> Path:
    """A deck on disk."""
    path = folder / "driven.inp"
    path.write_text(text.replace("{stop}", stop))
    return path
