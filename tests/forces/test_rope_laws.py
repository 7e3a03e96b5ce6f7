"""Rope laws against closed forms and independent integrations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.assembly.system import assemble
from fem.compiled.interpreted import rehearsal
from fem.errors import NoConvergence
from fem.forces import rope_laws as bar
from fem.linear.choice import find_tree
from tests.forces.families.examples import ROPES

PULLED = """*NODE
1, 0, 0, 0
2, 0, 0, 1
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
{law}
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING
2.
*BOUNDARY
1, 1, 3
2, 1, 2
*AMPLITUDE, NAME=PATH{kind}
{path}
*STEP, NLGEOM, INC=100000
{procedure}
*BOUNDARY, AMPLITUDE=PATH
2, 3, 3, 1.
*EL PRINT
E, S
*END STEP
"""
AREA = 2.0
SERIES = "*ELASTIC, MODULI=INSTANTANEOUS\n100.\n*VISCOELASTIC, TIME={}\n{}"
PRONY = SERIES.format("PRONY", "0.3, , 0.5\n0.2, 0.2, 4.")
KELVIN = SERIES.format("KELVIN", "0.5, 0.5\n0.4, 4.")
SHIFTED = """*UNIAXIAL
*LOADING DATA, TYPE=PERMANENT DEFORMATION
0, 0
10, 0.1
40, 0.2
*UNLOADING DATA, DEFINITION=SHIFTED CURVE
0, 0
20, 0.05
60, 0.1
*NO COMPRESSION"""
SCALED = """*UNIAXIAL
*LOADING DATA, TYPE=DAMAGE
0, 0
10, 0.1
30, 0.2
*UNLOADING DATA, DEFINITION=INTERPOLATED CURVE
0, 0
5, 0.1
30, 0.2
*NO COMPRESSION"""


def pulled(law: str, path: str, procedure: str, kind: str = "") -> fem.History:
    """A bar of length 1 whose end goes a way."""
    return fem.run(fem.parse_deck(PULLED.format(law=law, path=path, procedure=procedure, kind=kind)))


def modulus(law: str, omega: float) -> complex:
    """Of harmonic strain: 1/J for KELVIN. Source: the rational functions of springs and dashpots."""
    if law is PRONY:
        return 100.0 * (0.5 + sum(g * 1j * omega * t / (1.0 + 1j * omega * t) for g, t in ((0.3, 0.5), (0.2, 4.0))))
    return 100.0 / (1.0 + sum(f / (1.0 + 1j * omega * t) for f, t in ((0.5, 0.5), (0.4, 4.0))))


@pytest.mark.parametrize("law", [PRONY, KELVIN])
def test_storage_and_loss_modulus(law):
    """Least squares over the last of ten cycles of 200 increments; the strain is a polygon: order 2."""
    omega, cycles = 2.0, 10
    period = cycles * 2.0 * np.pi / omega
    path = f"1, {omega!r}, 0., 0.\n0., 0.01"
    history = pulled(law, path, f"*VISCO, DIRECT\n{period / (200 * cycles)!r}, {period!r}", ", DEFINITION=PERIODIC")
    time, stress = history.time[-200:], history.of_element(1, "S")[-200:]
    waves = np.column_stack([np.sin(omega * time), np.cos(omega * time)])
    found = np.linalg.lstsq(waves, stress, rcond=None)[0] / 0.01
    exact = modulus(law, omega)
    assert found == pytest.approx([exact.real, exact.imag], rel=2e-4)


def test_relaxation_is_exact_for_strains_in_straight_pieces():
    """E e + sum g E0 r time (exp((t0 - t)/time) - exp(-t/time)) after a ramp of rate r up to t0."""
    history = pulled(PRONY, "0, 0, 0.5, 0.01, 100, 0.01", "*VISCO, DIRECT\n0.25, 5.")
    time = history.time[2:]
    exact = 50.0 * 0.01 + sum(
        g * 100.0 * 0.02 * t * (np.exp((0.5 - time) / t) - np.exp(-time / t)) for g, t in ((0.3, 0.5), (0.2, 4.0))
    )
    assert history.of_element(1, "S")[2:] == pytest.approx(exact, rel=1e-12)
    stored, lost = history.of_energy("strain"), history.of_energy("dissipated")
    assert np.all(np.diff(lost) > 0.0)
    pulls = sum(g * 100.0 * t * (0.5 - t * (1.0 - np.exp(-0.5 / t))) for g, t in ((0.3, 0.5), (0.2, 4.0)))
    work = AREA * 0.02**2 * (50.0 * 0.5**2 / 2.0 + pulls)  # of the stress during the ramp
    assert lost[-1] + stored[-1] == pytest.approx(work, rel=1e-12)


def test_creep():
    """J(t) = 1/E0 (1 + sum f (1 - exp(-t/time))) under a load that acts at once."""
    text = PULLED.format(law=KELVIN, path="0, 0, 1, 0", kind="", procedure="*VISCO, DIRECT\n0.01, 4.")
    text = text.replace("*BOUNDARY, AMPLITUDE=PATH\n2, 3, 3, 1.", "*CLOAD\n2, 3, 2.")
    history = fem.run(fem.parse_deck(text))
    time = history.time[1:]
    exact = 0.01 * (1.0 + sum(f * (1.0 - np.exp(-time / t)) for f, t in ((0.5, 0.5), (0.4, 4.0))))
    assert history.of_element(1, "E")[20:] == pytest.approx(exact[19:], rel=5e-3)  # half of the first increment late
    assert history.of_element(1, "E")[-1] == pytest.approx(exact[-1], rel=1e-3)


def test_rates_are_limits():
    """Statics is slow, sudden motion and *FREQUENCY are fast."""
    slow = pulled(PRONY, "0, 0, 1, 0.01", "*STATIC, DIRECT\n1., 1.")
    fast = pulled(PRONY, "0, 0, 1e-6, 0.01", "*VISCO, DIRECT\n1e-6, 1e-6")
    assert slow.of_element(1, "S")[-1] == pytest.approx(0.5, rel=1e-12)
    assert fast.of_element(1, "S")[-1] == pytest.approx(1.0, rel=1e-6)
    text = PULLED.format(law=KELVIN, path="0, 0, 1, 0", kind="", procedure="*FREQUENCY\n1")
    modes = fem.run(fem.parse_deck(text.replace("*BOUNDARY, AMPLITUDE=PATH\n2, 3, 3, 1.\n", ""))).modes
    assert modes[0].omega[0] == pytest.approx(np.sqrt(AREA * 100.0 / (0.5 * AREA)), rel=1e-12)


@pytest.mark.parametrize(
    ("law", "ends", "stresses", "lost"),
    [
        (SHIFTED, (0.15, 0.0, 0.2, 0.1), {0.15: 25.0, 0.125: 12.5, 0.05: 0.0}, 3.5),
        (SCALED, (0.15, 0.0, 0.2, 0.0), {0.15: 20.0, 0.075: 20.0 / 6.0, 0.0375: 10.0 / 6.0}, 1.0),
    ],
)
def test_loops(law, ends, stresses, lost):
    """The way back by hand; dissipated: area between loading and unloading curve of the largest strain."""
    path = ", ".join(f"{k}, {end}" for k, end in enumerate((0.0, *ends)))
    history = pulled(law, path, "*STATIC, DIRECT\n0.01, 4.")
    strain, stress = history.of_element(1, "E")[100:201], history.of_element(1, "S")[100:201]
    for at, value in stresses.items():
        assert np.interp(-at, -strain, stress) == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert np.interp(strain[::-1], history.of_element(1, "E")[200:276], history.of_element(1, "S")[200:276])[
        ::-1
    ] == pytest.approx(stress, abs=0.1)  # reloading goes the same way
    assert history.of_element(1, "S")[300] == pytest.approx(40.0 if law is SHIFTED else 30.0, rel=1e-12)
    assert history.of_energy("dissipated")[-1] == pytest.approx(lost, rel=1e-12)
    assert history.of_energy("strain")[-1] == pytest.approx(0.0, abs=1e-12)


BOUNCING = PULLED.replace("*AMPLITUDE, NAME=PATH{kind}\n{path}\n", "").replace(
    "*BOUNDARY, AMPLITUDE=PATH\n2, 3, 3, 1.\n", ""
)


@pytest.mark.parametrize("law", [SHIFTED, SCALED, PRONY + "\n*NO COMPRESSION"])
@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM", "EXPLICIT"])
def test_books_close_while_a_rope_goes_slack(law, integrator):
    """A bob thrown upwards comes back; the error is of second order, none at all with ENERGY MOMENTUM."""
    card = "EXPLICIT" if integrator == "EXPLICIT" else f"TIME INTEGRATOR={integrator}"
    start = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 3, 1.5\n*STEP"
    text = BOUNCING.format(law=law, procedure=f"*DYNAMIC, DIRECT, {card}\n0.001, 1.").replace("*STEP", start, 1)
    history = fem.run(fem.parse_deck(text))
    error = np.abs(history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0] - history.energy[0] @ [1.0, 1.0, 1.0, -1.0, 1.0]).max()
    assert history.of_element(1, "S").min() >= 0.0
    assert (history.of_element(1, "S") == 0.0).any()
    assert history.of_energy("dissipated")[-1] > 0.01
    assert error < (1e-11 if integrator == "ENERGY MOMENTUM" else 2e-4)


DYNAMIC = "*ELASTIC\n30.\n*DYNAMIC STIFFNESS\n60., {}, 15.\n*NO COMPRESSION"


def test_dynamic_stiffness_is_that_of_the_equations():
    """DOP853 on them, written out with the quasi-static strain as the unknown; halving dt divides the error by four."""
    strain = lambda x: np.interp(x, [0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.05, 0.05])  # noqa: E731

    def rate(x, q):
        fast = 60.0 + 2.0 * 30.0 * np.maximum(q, 0.0)
        return fast * (strain(x) - q) / (15.0 * (1.0 - 30.0 / fast))

    q = 0.0
    for begin in range(3):
        q = solve_ivp(rate, (begin, begin + 1.0), [q], method="DOP853", rtol=1e-11, atol=1e-13).y[0, -1]
    exact = 30.0 * q + (60.0 + 60.0 * q) * (0.05 - q)
    errors = []
    for count in (30, 60):
        history = pulled(DYNAMIC.format(2.0), "0, 0, 1, 0.1, 2, 0.05, 3, 0.05", f"*VISCO, DIRECT\n{3 / count!r}, 3.")
        errors.append(abs(history.of_element(1, "S")[-1] - exact))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)
    assert errors[1] < 1e-5


def test_dynamic_stiffness_is_that_of_moordyn():
    """EA_s|EA_d with BA_s of MoorDyn 2: its two equations (Hall, Duong, Lozon, IOWTC2023-119524) by DOP853."""
    static, fast, viscosity = 30.0, 60.0, 15.0
    slow = fast * static / (fast - static)
    path = np.array([[0.0, 0.0], [1.0, 0.1], [3.0, 0.04]])
    at = lambda t: np.interp(t, *path.T)  # noqa: E731
    rate = lambda t, y: (fast * at(t) - (fast + slow) * y) / viscosity  # noqa: E731
    y = np.zeros(1)
    for begin, end in ((0.0, 1.0), (1.0, 3.0)):
        y = solve_ivp(rate, (begin, end), y, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    tension = slow * y[0] + viscosity * rate(3.0, y[0])
    text = ", ".join(f"{t}, {e}" for t, e in path)
    ours = pulled(DYNAMIC.format(0.0), text, "*VISCO, DIRECT\n0.25, 3.").of_element(1, "S")
    assert ours[-1] == pytest.approx(tension, rel=1e-9)
    same = f"*ELASTIC\n30.\n*VISCOELASTIC, TIME=KELVIN\n{fast / slow}, {viscosity / slow}"
    assert ours == pytest.approx(pulled(same, text, "*VISCO, DIRECT\n0.25, 3.").of_element(1, "S"), rel=1e-10)


def test_stiffness_grows_with_the_mean_stress_as_it_is_told():
    """A small quick change about a relaxed state: constant + slope * mean."""
    for mean in (0.02, 0.1):
        text = f"0, 0, 1, {mean}, 1e4, {mean}, {1e4 + 1e-6!r}, {mean + 1e-4!r}"
        model = PULLED.format(law=DYNAMIC.format(2.0), path=text, kind="", procedure="*STATIC, DIRECT\n1e4, 1e4")
        second = "*STEP, NLGEOM\n*VISCO, DIRECT\n1e-6, 1e-6\n*EL PRINT\nE, S\n*END STEP\n"
        model = model.replace("PATH\n0", "PATH, TIME=TOTAL TIME\n0") + second
        history = fem.run(fem.parse_deck(model))
        rise = np.diff(history.of_element(1, "S")[-2:]) / np.diff(history.of_element(1, "E")[-2:])
        assert rise[0] == pytest.approx(60.0 + 2.0 * 30.0 * mean, rel=1e-5)  # it creeps by 4e-6 meanwhile


def test_direction_of_elements_changes_nothing():
    procedure = "*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.02, 0.4\n*CONTROLS, RESI_GLOB_RELA=1e-11"
    one = fem.run(fem.parse_deck(ROPES.format(procedure=procedure)))
    turned = ROPES.replace("1, 1, 2\n2, 3, 2", "1, 2, 1\n2, 2, 3")
    other = fem.run(fem.parse_deck(turned.format(procedure=procedure)))
    assert other.u == pytest.approx(one.u, abs=1e-12)


def test_chains_stay_chains():
    system = assemble(fem.parse_deck(BOUNCING.format(law=PRONY, procedure="*STATIC")))
    assert len(system.pairs) == 1
    assert find_tree(system, np.array([0, 0, 0, 0, 0, 1])) is not None


def test_what_breaks_is_booked():
    """All that a rope has stored is lost when it breaks; what it had lost before stays lost."""
    text = PULLED.format(law=SHIFTED, path="0, 0, 1, 0.2", kind="", procedure="*STATIC, DIRECT\n0.1, 1.")
    text = text.replace("*AMPLITUDE", "*FAILURE, TYPE=STRAIN\nBAR, 0.16\n*AMPLITUDE")
    text = text.replace("*SOLID", "*ELEMENT, TYPE=SPRING1, ELSET=GROUND\n2, 2\n*SPRING, ELSET=GROUND\n3\n1.\n*SOLID")
    history = fem.run(fem.parse_deck(text))
    assert history.of_element(1, "S")[-1] == 0.0
    assert history.energy[-1] @ [1.0, 1.0, 1.0, -1.0, 1.0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("procedure", ["*DYNAMIC, DIRECT\n0.01, 0.1", "*DYNAMIC, EXPLICIT\n0.01, 0.1"])
def test_a_run_stops_where_a_slow_strain_is_not_found(monkeypatch, procedure):
    """Its iteration being left with one turn; no NaN gets into the motion."""
    monkeypatch.setattr(bar, "MOST", 1)
    with rehearsal(), pytest.raises(NoConvergence, match=r"no delayed strain .* is found for element 2") as stopped:
        fem.run(fem.parse_deck(ROPES.format(procedure=procedure)))
    assert np.isfinite(stopped.value.history.u).all()
