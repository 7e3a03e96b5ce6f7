"""Arc length: von Mises' truss and a snap-back against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from tests.decks import run_text

AREA, YOUNG, HALF_SPAN, RISE = 2.0, 1000.0, 10.0, 1.0


def truss(strain: str, data: str, spring: float = 0.0, direct: str = "", load: float = -1.0) -> str:
    """Two bars on hinges; the apex is pulled down by ``load`` times the load factor, perhaps through a spring."""
    node, loaded = "", 3
    if spring:
        node = f"""*NODE
4, 0., 0., {RISE + 1.0}
*ELEMENT, TYPE=SPRING2, ELSET=PULL
3, 3, 4
*SPRING, ELSET=PULL
3, 3
{spring!r}
*BOUNDARY
4, 1, 2
"""
        loaded = 4
    return f"""*NODE
1, {-HALF_SPAN}, 0., 0.
2, {HALF_SPAN}, 0., 0.
3, 0., 0., {RISE}
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 3
2, 3, 2
*MATERIAL, NAME=M
*ELASTIC
{YOUNG}
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN={strain}
{AREA}
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 2
{node}*STEP, NLGEOM, INC=2000
*STATIC, RIKS{direct}
{data}
*CONTROLS, RESI_GLOB_RELA=1e-9
*CLOAD
{loaded}, 3, {load!r}
*END STEP
"""


def pull(strain: str, down: np.ndarray) -> np.ndarray:
    """Load that holds the apex at a displacement ``down``."""
    length0, height = np.hypot(HALF_SPAN, RISE), RISE - down
    length = np.hypot(HALF_SPAN, height)
    if strain == "GREEN":
        normal = AREA * YOUNG * (length**2 - length0**2) / (2 * length0**2) / length0
    else:
        normal = AREA * YOUNG * (length - length0) / length0 / length
    return -2.0 * normal * height


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING"])
def test_von_mises_truss_through_both_limit_points(strain):
    """Every state lies on the closed-form path; the load falls between the limit points and ends at factor 1."""
    history = run_text(truss(strain, "0.1, 1., , 0.2"))
    down, factor = -history.u[:, 8], history.load_factor
    np.testing.assert_allclose(factor[1:], pull(strain, down[1:]), atol=1e-8)
    assert factor[-1] == pytest.approx(1.0, abs=1e-12)
    assert down[-1] > 2.0 * RISE
    assert np.diff(factor[1:]).min() < 0.0 < factor.max()
    fine = np.linspace(0.0, 2.2, 20001)
    assert np.abs(factor).max() <= max(1.0, np.abs(pull(strain, fine)).max()) + 1e-9


def test_ends_exactly_at_a_displacement():
    history = run_text(truss("GREEN", "0.1, 1., , 0.2, 5., 3, 3, -1.3"))
    assert history.u[-1, 8] == pytest.approx(-1.3, abs=1e-12)
    assert history.load_factor[-1] == pytest.approx(pull("GREEN", np.array([1.3]))[0], abs=1e-8)


def test_snap_back_through_a_soft_spring():
    """In series with a spring softer than the truss the loaded point goes back: displacement and load both turn."""
    spring = 0.3
    history = run_text(truss("GREEN", "0.05, 1., , 0.05", spring=spring))
    apex, end = -history.u[:, 8], -history.u[:, 11]
    force = pull("GREEN", apex)
    np.testing.assert_allclose(history.load_factor[1:], force[1:], atol=1e-7)
    np.testing.assert_allclose(end, apex + force / spring, atol=1e-6)
    assert np.diff(end[1:]).min() < 0.0 and np.diff(history.load_factor[1:]).min() < 0.0
    assert history.load_factor[-1] == pytest.approx(1.0, abs=1e-12)


def test_fixed_arcs_keep_their_length():
    history = run_text(truss("GREEN", "0.02, 1.", direct=", DIRECT"))
    np.testing.assert_allclose(history.dt[1:], 0.02)


def test_loads_stay_as_they_are_afterwards():
    """A step that ends at a displacement hands its load factor on: a static step without changes does not move."""
    text = truss("GREEN", "0.1, 1., , 0.2, 5., 3, 3, -2.6")
    text += "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-9\n*END STEP\n"
    history = run_text(text)
    assert history.u[-1, 8] == pytest.approx(-2.6, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("*CLOAD\n3, 3, -1.0", "*BOUNDARY\n3, 3, 3, -0.5"), "moving support"),
        (("*CLOAD\n3, 3, -1.0", "*CLOAD, OP=NEW"), "no load changes"),
        (("0.1, 1., , 0.2", "0.1, 1., , , 1., 3, 1, 0.5"), "node 3 dof 1, whose displacement ends the step"),
    ],
)
def test_what_cannot_be_followed_is_named(change, message):
    with pytest.raises(fem.ModelError, match=message):
        run_text(truss("GREEN", "0.1, 1., , 0.2").replace(*change))


def test_a_path_that_leads_nowhere_ends():
    with pytest.raises(fem.NoConvergence, match=r"stopped after the arc length .* used up its 7 increments"):
        run_text(truss("GREEN", "0.1, 1., , 0.2").replace("INC=2000", "INC=7"))
