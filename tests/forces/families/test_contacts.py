"""Tangents of what rubs on a bottom and on cylinders, where it sticks and where it slides."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.compiled.interpreted import rehearsal
from fem.forces.seabed import REMEMBERED
from tests.forces.families.test_families import asked

CHAIN = """*NODE
1, 0, 0, 0
2, 1, 0.1, 0
3, 2, 0, 0.1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
60.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
{surface}
*STEP, NLGEOM
*DYNAMIC
1, 1
*END STEP
"""
PLANE = "*SEABED, ELSET=LINE, ELEVATION=0.4, SLOPE=20, UPHILL=345, FRICTION=ALL\n12., {damping}, 1.\n"
ROUND = "*RIGID CYLINDER, ELSET=LINE, RADIUS=3.\n0.2, -0.5, -2.4, 1., 0.1, -2.2\n12., {damping}, 1.\n"
SURFACES = {"bottom": PLANE, "cylinder": ROUND}
FAR = {"sticks": 1.0, "slides": 0.02}
"""gamma: ways from anchors lie between."""
H = 1e-4


def contact(surface: str, axial: float, lateral: float, slip: float, damping: float):
    """A system of three nodes that are in the surface."""
    text = SURFACES[surface].format(damping=damping) + f"{axial}, {lateral}, {slip}"
    return assemble(fem.parse_deck(CHAIN.format(surface=text)))


def derivative(system, u0, u1, v1, secant: bool, rate: float = 20.0):
    """(3n, 3n) of the force by u1 and the velocity that goes with it: central differences of fourth order."""
    columns = []
    for dof in range(system.size):
        step = H * (np.arange(system.size) == dof)
        ends = [
            asked(system, u0, u1 + k * step, v1 + k * rate * step, secant=secant, rate=rate)[1] for k in (1, -1, 2, -2)
        ]
        columns.append((8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * H))
    return np.column_stack(columns)


@pytest.mark.parametrize("secant", [False, True])
@pytest.mark.parametrize("damping", [0.0, 1.5])
@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize(
    ("surface", "axial", "lateral"), [("bottom", 0.7, 0.7), ("bottom", 0.3, 0.9), ("cylinder", 0.7, 0.7)]
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled
def test_tangent_of_friction_is_the_derivative_of_the_force(surface, axial, lateral, far, damping, secant, seed):
    """To 1e-9 of its largest entry, of which friction is a part; anchors lie apart from the nodes.

    Where mu turns with the chord, whose ends are not in the tangent: by the node between them, which they leave alone.
    """
    rng = np.random.default_rng(seed)
    with rehearsal():
        system = contact(surface, axial, lateral, FAR[far], damping)
        u0, u1, v1 = (0.1 * rng.normal(size=system.size) for _ in range(3))
        anchors = system.state.reshape(-1, REMEMBERED)[:, :3]
        anchors += 0.2 * rng.normal(size=anchors.shape)
        exact = asked(system, u0, u1, v1, secant=secant, rate=20.0)[2]
        found = derivative(system, u0, u1, v1, secant)
        smooth = contact(surface, 0.0, 0.0, FAR[far], damping)
        friction = exact - asked(smooth, u0, u1, v1, secant=secant, rate=20.0)[2]
    largest, within = np.abs(exact).max(), slice(None) if axial == lateral else slice(3, 6)
    assert np.abs(friction).max() > 0.05 * largest
    assert exact[within, within] == pytest.approx(found[within, within], abs=1e-9 * largest)
