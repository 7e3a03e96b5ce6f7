"""Statics of light parts beside heavy ones: all forces of the light part are below the tolerance of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.decks import run_text


@pytest.mark.parametrize("force", [1e8, 0.0])
def test_a_light_cable_hangs_beside_a_heavily_loaded_bar(force: float) -> None:
    """Two cables of 1.01 over 2 carry rho A L0 g between them: 2 T sin = weight, by the strain of Green."""
    history = run_text(f"""*NODE
1, 0, 0, 0
2, 10, 0, 0
11, 0, 5, 0
12, 1, 5, 0
13, 2, 5, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=CABLE
11, 11, 12
12, 12, 13
*MATERIAL, NAME=STEEL
*ELASTIC
2e11
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL
1.
*MATERIAL, NAME=ROPE
*ELASTIC
1e9
*NO COMPRESSION
*DENSITY
1000
*SOLID SECTION, ELSET=CABLE, MATERIAL=ROPE
1e-5
*REST LENGTH
CABLE, 1.01
*BOUNDARY
1, 1, 3
2, 2, 3
11, 1, 3
13, 1, 3
*STEP, NLGEOM
*STATIC
0.5, 1
*CLOAD
2, 1, {force!r}
*DLOAD
CABLE, GRAV, 9.81, 0, 0, -1
*END STEP
""")
    sag, weight = -history.u[-1, 3 * 3 + 2], 1000.0 * 1e-5 * 1.01 * 9.81
    strain = (1.0 + sag**2 - 1.01**2) / (2.0 * 1.01**2)
    assert 2.0 * 1e4 * strain * sag / 1.01 == pytest.approx(weight, rel=1e-3)
    assert not [text for text in history.notices if "slack" in text]
    assert np.isfinite(history.u).all()


def test_light_lines_beside_a_bridge_are_in_equilibrium() -> None:
    """A line that hangs from the bridge was carried by twenty times its weight; two bars in line sagged too far."""
    history = run_text("""*NODE
1, 0, 0, 0
2, 50, 0, -5
3, 100, 0, 0
4, 50, 5, -5
5, 52, 0, -8
6, 0, 50, 0
7, 1, 50, 0
8, 2, 50, 0
*ELEMENT, TYPE=T3D2, ELSET=BRIDGE
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=LINE
3, 2, 5
4, 5, 4
*ELEMENT, TYPE=T3D2, ELSET=PAIR
5, 6, 7
6, 7, 8
*MATERIAL, NAME=STEEL
*ELASTIC
2e11
*SOLID SECTION, ELSET=BRIDGE, MATERIAL=STEEL
0.1
*SOLID SECTION, ELSET=PAIR, MATERIAL=STEEL
1e-4
*MATERIAL, NAME=ROPE
*ELASTIC
1e9
*NO COMPRESSION
*DENSITY
1000
*SOLID SECTION, ELSET=LINE, MATERIAL=ROPE
1e-5
*BOUNDARY
1, 1, 3
3, 1, 3
2, 2
4, 1, 3
6, 1, 3
8, 1, 3
7, 2
*STEP, NLGEOM
*STATIC
0.25, 1
*CLOAD
2, 3, -1e8
7, 3, -1e-3
*DLOAD
LINE, GRAV, 9.81, 0, 0, -1
*END STEP
""")
    places = np.array([[50, 0, -5], [50, 5, -5], [52, 0, -8.0]]) + history.u[-1].reshape(-1, 3)[[1, 3, 4]]
    ways, lengths = places[:2] - places[2], np.linalg.norm([[2, 0, -3], [2, -5, -3]], axis=1)
    strains = ((ways**2).sum(axis=1) - lengths**2) / (2.0 * lengths**2)
    held = (1e4 * np.maximum(strains, 0.0) / lengths) @ ways
    weight = 0.5 * 1000.0 * 1e-5 * 9.81 * lengths.sum()
    np.testing.assert_allclose(held, [0.0, 0.0, weight], atol=0.01 * weight)
    assert history.u[-1, 3 * 6 + 2] == pytest.approx(-((1e-3 / 2e7) ** (1.0 / 3.0)), rel=0.01)


@pytest.mark.parametrize("alone", ["*DYNAMIC, DIRECT\n0.01, 2.", "*DYNAMIC\n0.01, 2."], ids=["equal", "automatic"])
def test_a_light_pendulum_swings_beside_a_heavy_spring_as_it_does_alone(alone: str) -> None:
    """10 g beside 10,000 t on a spring: the forces of the pendulum are below the tolerance of the spring's, its swing
    is small beside that of the spring, which is slow. Own: a rigid pendulum (the bar stretches by 1e-5)."""
    history = run_text(f"""*NODE
1, 0, 0, 0
2, 0.5, 0, 0
3, 50, 0, 0
4, 90, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
2, 3, 4
*ELEMENT, TYPE=MASS, ELSET=LIGHT
3, 2
*ELEMENT, TYPE=MASS, ELSET=HEAVY
4, 4
*SPRING, ELSET=SPRING

1e7
*MASS, ELSET=LIGHT
0.01
*MASS, ELSET=HEAVY
1e7
*MATERIAL, NAME=ROPE
*ELASTIC
1e9
*SOLID SECTION, ELSET=LINE, MATERIAL=ROPE, STRAIN=ENGINEERING
1e-5
*BOUNDARY
1, 1, 3
3, 1, 3
4, 2, 3
*STEP, NLGEOM, INC=100000
{alone}
*DLOAD
LIGHT, GRAV, 9.81, 0, 0, -1
*CLOAD
4, 1, 1e8
*END STEP
""")
    angle = solve_ivp(
        lambda _, y: (y[1], 9.81 / 0.5 * np.cos(y[0])), (0.0, 2.0), (0.0, 0.0), t_eval=history.time, rtol=1e-10
    ).y[0]
    x, z = history.u[:, 3] + 0.5, history.u[:, 5]
    assert np.hypot(x - 0.5 * np.cos(angle), z + 0.5 * np.sin(angle)).max() < 0.01
