"""Moving supports keep u, v, a consistent; frequencies against closed forms; starts of dynamic steps."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from tests.decks import chain, run_text
from tests.solve.test_rods import following, rods

MOVED = """*NODE
1,0,0,0
2,1,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
*MATERIAL, NAME=M
*ELASTIC
50.
*DENSITY
2.
*SOLID SECTION, ELSET=ALL, MATERIAL=M
1.
*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC
2, 3., 0., 0.05
0.2, 0.3, 0., -0.1
*AMPLITUDE, NAME=STEPS
0, 0, 0.25, 1, 0.5, 1, 1, -1
*BOUNDARY
1, 2, 3
2, 2, 3
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
0.05, 1.
*BOUNDARY, AMPLITUDE={amplitude}, TYPE={kind}
1, 1, 1, 0.4
*END STEP
"""


def wave(t, derivative=0):
    s = t
    terms = {
        0: 0.05 + 0.2 * np.cos(3 * s) + 0.3 * np.sin(3 * s) - 0.1 * np.sin(6 * s),
        1: 3 * (-0.2 * np.sin(3 * s) + 0.3 * np.cos(3 * s)) - 0.6 * np.cos(6 * s),
        2: 9 * (-0.2 * np.cos(3 * s) - 0.3 * np.sin(3 * s)) + 3.6 * np.sin(6 * s),
    }
    return np.where(s >= 0, terms[derivative], 0.05 if derivative == 0 else 0.0)


def test_periodic_support_has_exact_velocity_and_acceleration():
    history = run_text(MOVED.format(amplitude="WAVE", kind="DISPLACEMENT"))
    after = history.increment > 0
    t = history.time[after]
    for field, order in ((history.u, 0), (history.v, 1), (history.a, 2)):
        assert field[after, 0] == pytest.approx(0.4 * wave(t, order), abs=1e-12)


@pytest.mark.parametrize("kind", ["VELOCITY", "ACCELERATION"])
def test_prescribed_velocity_and_acceleration_integrate_exactly(kind):
    """Against 200,000 trapezoids."""
    history = run_text(MOVED.format(amplitude="STEPS", kind=kind))
    grid = np.linspace(0, 1, 200_001)
    value = 0.4 * np.interp(grid, [0, 0.25, 0.5, 1], [0, 1, 1, -1])

    def integral(f):
        return np.concatenate([[0], np.cumsum(0.5 * (f[1:] + f[:-1]) * np.diff(grid))])

    levels = {"VELOCITY": [integral(value), value], "ACCELERATION": [integral(integral(value)), integral(value), value]}
    for field, exact in zip((history.u, history.v, history.a), levels[kind], strict=False):
        assert field[1:, 0] == pytest.approx(np.interp(history.time[1:], grid, exact), abs=1e-9)


def test_tabular_support_moves_with_piecewise_constant_velocity_and_no_impulse():
    history = run_text(MOVED.format(amplitude="STEPS", kind="DISPLACEMENT"))
    v = history.v[1:, 0]
    assert v == pytest.approx([1.6] * 5 + [0.0] * 5 + [-1.6] * 10, abs=1e-12)
    assert not history.a[:, 0].any()


def test_supported_end_carries_the_other_one_along_in_static_and_dynamic():
    """A static pull of the support moves a hanging mass rigidly; its work is what the balance says."""
    text = MOVED.split("*STEP")[0].replace("2, 2, 3\n", "2, 2, 3\n", 1)
    text += "*STEP, NLGEOM=YES\n*STATIC\n0.25, 1.\n*BOUNDARY\n1, 1, 1, 0.3\n*END STEP\n"
    history = run_text(text)
    assert history.of_node(2)[-1, 0] == pytest.approx(0.3, rel=1e-12)
    assert history.iterations[1:].tolist() == [1] * (len(history.time) - 1)


@pytest.mark.parametrize(("mass", "factor"), [("LUMPED", 2.0), ("CONSISTENT", 3.0), ("ONE POINT", 4.0)])
def test_axial_frequency_of_one_bar(mass, factor):
    """k = EA/L against m/2, m/3, m/4 at the free end."""
    text = chain(1, mass=mass, young=1e4).replace("*DYNAMIC, DIRECT\n0.01, 0.5", "*FREQUENCY\n1")
    text = text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", "").replace("1, 1, 3\n", "1, 1, 3\n2, 2, 3\n")
    modes = run_text(text).modes[0]
    assert modes.omega[0] == pytest.approx(np.sqrt(factor * (1e4 / 0.1) / 0.1), rel=1e-12)
    assert modes.generalized_mass[0] == pytest.approx(0.1 / factor)


@pytest.mark.parametrize("bars", [8, 260])
def test_modes_of_a_taut_string(bars):
    """Lumped string: omega_k = 2 sqrt(T/(m L0)) sin(k pi / (2 n)), twice (y and z); dense and sparse solver."""
    text = chain(bars, both_ends=True, young=1e6).split("*STEP")[0]
    text += "*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 40.\n*STEP, NLGEOM=YES\n*FREQUENCY\n6\n*END STEP\n"
    modes = run_text(text).modes[0]
    k = np.array([1, 1, 2, 2, 3, 3])
    exact = 2 * np.sqrt(40.0 / (0.1 * 0.1)) * np.sin(k * np.pi / (2 * bars))
    assert modes.omega == pytest.approx(exact, rel=1e-8)


def test_frequencies_about_a_loaded_state_see_its_tension():
    """A static preload, then modes: the pendulum frequency sqrt(g / l) of a hanging lumped bar."""
    text = chain(1, young=1e8, direction="1, 0, 0").replace("*DYNAMIC, DIRECT\n0.01, 0.5", "*STATIC\n1., 1.")
    text = text.replace("NLGEOM=YES", "NLGEOM=YES").replace("LINE, MATERIAL=M", "LINE, MATERIAL=M, STARTING TENSION=1.")
    text += "*STEP, NLGEOM=YES\n*FREQUENCY\n3\n*END STEP\n"
    modes = run_text(text).modes[0]
    assert modes.omega[:2] == pytest.approx(np.sqrt(9.81 / 0.1), rel=1e-6)


def test_start_of_a_dynamic_step_is_consistent():
    """M a_0 = f_ext - f_int - C v_0, here with free fall; INITIAL=NO keeps the acceleration that was there."""
    history = run_text(chain(3))
    assert history.a[0].reshape(-1, 3)[1:, 2] == pytest.approx(-9.81)
    kept = run_text(chain(3, dynamic=", INITIAL=NO"))
    assert not kept.a[0].any()


def test_singular_mass_is_refused_or_set_to_zero_as_asked():
    text = chain(2, mass="ONE POINT", young=1e4).replace("1, 1, 3\n", "1, 2\n", 1)
    text = text.replace("*STEP", "*INITIAL CONDITIONS, TYPE=STRESS\nLINE, 10.\n*STEP", 1)
    with pytest.raises(fem.ModelError, match=r"mass matrix .* singular, first at node \d dof \d"):
        run_text(text)
    history = run_text(text.replace("DIRECT", "DIRECT, SINGULAR MASS=WARNING").replace("0.01, 0.5", "0.01, 0.01"))
    assert not history.a[0].any()
    assert any("singular" in notice for notice in history.notices)


def test_massless_node_needs_mass_or_a_word():
    """A massless bar between a support and a heavier one: dofs without mass are named."""
    text = chain(2).replace("*DENSITY\n1.\n", "").replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", "*CLOAD\n3, 3, 1.\n")
    with pytest.raises(fem.ModelError, match="node"):
        run_text(text)


def hanging_rods(count: int) -> np.ndarray:
    """Circular frequencies of a plumb chain of rods with its mass in the joints: T_k/h between them."""
    length = 1.0 / count
    mass = np.append(np.full(count - 1, length), 0.5 * length)
    pull = 9.81 * np.cumsum(mass[::-1])[::-1] / length
    stiffness = np.diag(pull + np.append(pull[1:], 0.0)) - np.diag(pull[1:], 1) - np.diag(pull[1:], -1)
    scale = 1.0 / np.sqrt(mass)
    return np.sqrt(np.linalg.eigvalsh(scale[:, None] * stiffness * scale))


@pytest.mark.parametrize(("count", "dense"), [(1, 600), (6, 600), (40, 600), (40, 0)])
def test_modes_of_a_hanging_chain_of_rods_are_exact(count, dense, monkeypatch):
    """In pairs, one in each plane; dense and sparse solver."""
    monkeypatch.setattr("fem.solve.modes.DENSE", dense)
    wanted = min(2 * count, 6)
    text = rods([(0.0, 0.0, -k / count) for k in range(count + 1)], following(count), procedure="*STATIC", dt=1.0,
                period=1.0)  # fmt: skip
    text = text.replace("0, 0.1, -1", "0, 0, -1") + f"*STEP, NLGEOM\n*FREQUENCY\n{wanted}\n*END STEP\n"
    modes = run_text(text).modes[0]
    np.testing.assert_allclose(modes.omega, np.repeat(hanging_rods(count), 2)[:wanted], rtol=1e-9)
    np.testing.assert_allclose(modes.shapes[:, :, 2], 0.0, atol=1e-9)


def test_rods_that_hold_each_other_have_no_modes():
    """A triangle of rods on two supports, in its plane: nothing is left to move, and the count is told."""
    places = [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (1.0, 0.0, -1.0)]
    text = rods(places, [(1, 3), (2, 3)], pinned=(1, 2), procedure="*STATIC", dt=1.0, period=1.0)
    text = text.replace("0, 0.1, -1", "0, 0, -1").replace("1, 1, 3\n2, 1, 3", "1, 1, 3\n2, 1, 3\n3, 2")
    with pytest.raises(fem.ModelError, match="the rods leave no degree of freedom"):
        run_text(text + "*STEP, NLGEOM\n*FREQUENCY\n1\n*END STEP\n")


def test_automatic_dynamic_increments_cut_back_and_recover():
    """Four iterations are too few for the full increment at first: it is cut, and the end is reached exactly."""
    text = chain(4, dt=0.05, period=0.3).replace("*DYNAMIC, DIRECT", "*DYNAMIC")
    text = text.replace("RESI_GLOB_RELA=1e-9", "RESI_GLOB_RELA=1e-9, ITER_GLOB_MAXI=6")
    history = run_text(text)
    assert history.cutbacks.sum() > 0
    assert history.time[-1] == 0.3
    assert any(event.event == "cutback" for event in history.events)


def test_time_points_are_hit_by_automatic_increments():
    text = chain(2, dt=0.02, period=0.1).replace("*DYNAMIC, DIRECT", "*DYNAMIC")
    text = text.replace("*STEP", "*TIME POINTS, NAME=TP\n0.013, 0.05, 0.077\n*STEP", 1)
    text = text.replace("*END STEP", "*NODE PRINT, TIME POINTS=TP\nU\n*END STEP")
    history = run_text(text)
    assert {0.013, 0.05, 0.077, 0.1} <= set(history.time.tolist())


def test_round_off_floor_is_accepted_with_a_notice():
    """EA = 1e10 with an absolute tolerance of 1e-30: the residual stops falling far above it."""
    text = chain(2, young=1e10, dt=1e-4, period=2e-3).replace("RESI_GLOB_RELA=1e-9", "RESI_GLOB_MAXI=1e-30")
    history = run_text(text)
    assert any("round-off" in notice for notice in history.notices)
    assert history.time[-1] == pytest.approx(2e-3)
