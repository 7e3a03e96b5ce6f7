"""Numbers in the script for OpenSees: forces over strains of the drawn length, masses beside those of its bars.

The script is not run here: ``test_structures.py``, ``test_compare.py`` and ``test_beams.py`` do that where OpenSees is
installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fem.codes.export import files_for
from fem.deck import parse_deck

DECK = """*NODE
1, 0., 0., 0.
2, 2., 0., 0.
3, 5., 0., 0.
4, 5., 3., 0.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=SPRINGA, ELSET=STAY
3, 3, 4
*SPRING, ELSET=STAY, NONLINEAR

-10., -0.6
0., 0.
90., 0.3
*ELEMENT, TYPE=SPRING2, ELSET=PAIR
4, 2, 3
*SPRING, ELSET=PAIR, NONLINEAR
1, 1
-1., -1.
0., 0.
7., 1.
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
5, 3
*SPRING, ELSET=GROUND
3
40.
*ELEMENT, TYPE=MASS, ELSET=BOB
6, 3
*MASS, ELSET=BOB
5.
*REST LENGTH
1, 1.6
*MATERIAL, NAME=STEEL
*ELASTIC
1e3
*DENSITY
4.
{law}
*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL, STRAIN=ENGINEERING, MASS={mass}
0.5
*BOUNDARY
1, 1, 3
4, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
0.1, 0.3
*END STEP
"""


def tables(law: str = "", mass: str = "CONSISTENT", scheme: str = "NEWMARK") -> dict[str, Any]:
    text = files_for("opensees", parse_deck(DECK.format(law=law, mass=mass, scheme=scheme)))[0]["deck_opensees.py"]
    found: dict[str, Any] = {}
    exec(text[text.index("# node label: x, y, z") : text.index("def build")], found)
    return found


@pytest.mark.parametrize(("mass", "share"), [("LUMPED", 2.0), ("CONSISTENT", 3.0)])
def test_a_node_has_the_mass_of_the_deck(mass, share):
    """-cMass 1 gives a third of a bar to each end, -rho alone a half; natural lengths 1.6 and 3, 2 kg/m, a bob of 5. A
    consistent bar at a support is a mass at its free end."""
    found = tables(mass=mass)
    bars = {1: 2.0 * 1.6, 2: 2.0 * 3.0}
    beside = {node: found["MASSES"].get(node, 0.0) for node in (2, 3)}
    for label, (i, j, *_, rho, consistent) in found["MEMBERS"].items():
        length = 2.0 if label == 1 else 3.0
        for node in {i, j} & beside.keys():
            beside[node] += rho * length / (3.0 if consistent else 2.0)
    assert beside == pytest.approx({2: (bars[1] + bars[2]) / share, 3: bars[2] / share + 5.0})
    assert found["MEMBERS"][2][-1] == (mass == "CONSISTENT") and found["MEMBERS"][1][-1] == 0


def test_forces_are_over_strains_of_the_drawn_length():
    """EA = 500 over natural lengths of 1.6 and 3; a dashpot of BETA EA per natural length beside each."""
    found = tables("*DAMPING, BETA=0.01\n*NO COMPRESSION, RATIO=0.25")
    for label, length, natural in ((1, 2.0, 1.6), (2, 3.0, 3.0)):
        _, _, stiff, pushed, viscosity, strain, *_ = found["MEMBERS"][label]
        assert stiff * strain == pytest.approx(500.0 * (length - natural) / natural)
        assert [stiff / length, pushed / length] == pytest.approx([500.0 / natural, 125.0 / natural])
        assert viscosity / length == pytest.approx(0.01 * 500.0 / natural)
    i, j, viscosity, strains, forces = found["TABLES"][3]
    assert (i, j, viscosity) == (3, 4, 0.0)
    assert np.interp([-9.0, -0.2, -0.1, 0.0, 0.05, 0.1, 9.0], strains, forces) == pytest.approx(
        [-10.0, -10.0, -5.0, 0.0, 45.0, 90.0, 90.0]
    )  # flat beyond its ends; 3 m long


def test_springs_of_dofs_extend_as_ours_do():
    """Ours by u_2 - u_3, zeroLength by the second node less the first; one at the ground by its node."""
    found = tables()["DOF_SPRINGS"]
    i, j, dof, _, _, elongations, forces = found[4]
    assert (i, j, dof) == (3, 2, 1) and np.interp([-0.5, 0.5], elongations, forces) == pytest.approx([-0.5, 3.5])
    assert found[5][:5] == (3, 0, 3, 40.0, 0.0)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("NEWMARK, BETA=0.3025, GAMMA=0.6", ("Newmark", 0.6, 0.3025)),
        ("HHT, ALPHA=-0.1", ("HHT", 0.9)),
        ("GENERALIZED ALPHA, RHO=0.5", ("GeneralizedAlpha", 1.0, 1.0 / 1.5)),
    ],
)
def test_schemes_have_the_order_of_numbers_of_opensees(scheme, expected):
    """Newmark takes gamma, then beta; HHT the weight of the end of the increment, 1 + alpha."""
    name, *numbers = tables(scheme=scheme)["STEPS"][0][7]
    assert (name, *numbers) == (expected[0], *(pytest.approx(number) for number in expected[1:]))


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ("*PLASTIC\n300., 0.\n340., 0.2", ("Hardening", 625.0, 150.0, 0.5 * 200.0 * 1.25, 0.0)),
        ("*PLASTIC, HARDENING=KINEMATIC\n300., 0.\n340., 0.2", ("Hardening", 625.0, 150.0, 0.0, 0.5 * 200.0 * 1.25)),
        (
            "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n300., 80., 4.\n"
            "*CYCLIC HARDENING, PARAMETERS\n300., 60., 8.",
            ("UVCuniaxial", 625.0, 150.0, 30.0, 10.0, 0.0, 1.0, 1, 0.5 * 80.0 * 1.25, 5.0),
        ),
    ],
)
def test_bars_that_yield_harden_over_strains_of_the_drawn_length(law, expected):
    """2 m drawn, 1.6 m natural: 1.25 of our strain; forces are 0.5 m2 times stresses. Hardening has E, sigmaY, H_iso,
    H_kin; UVCuniaxial E, f_y, Q, b, D, a, N, C, gamma."""
    name, *numbers = tables(law)["PLASTIC"][1]
    assert name == expected[0] and numbers == pytest.approx(list(expected[1:]))
