"""``*PLASTIC``: bars that yield, against closed forms and published values; work, restart, cables, heat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fem
from fem.assembly.system import assemble
from fem.deck import write_deck
from fem.forces.families import FAMILIES
from fem.forces.rope_laws import ROPE_LAWS
from fem.study.additions import compare_tangent
from tests.stopped import check_goes_on

E, YIELD = 200e3, 250.0
HARDENING = {
    "perfect": "*PLASTIC\n250., 0.\n",
    "isotropic": "*PLASTIC\n250., 0.\n280., 0.001\n300., 0.01\n",
    "kinematic": "*PLASTIC, HARDENING=KINEMATIC\n250., 0.\n20250., 1.\n",
    "combined": "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n250., 30e3, 300., 5e3, 0.\n"
    "*CYCLIC HARDENING, PARAMETERS\n250., 60., 8.\n",
}
PULLED = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=STEEL
*ELASTIC
200e3
{law}*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*AMPLITUDE, NAME=CYCLE
{path}
*STEP, INC=100000{nlgeom}
*STATIC, DIRECT
{dt}, {end}
*BOUNDARY, AMPLITUDE=CYCLE
2, 1, 1, 1.
*EL PRINT
E, S, T, PE, PEEQ
*END STEP
"""


def cycled(law: str, strains: list[float], parts: int = 4, nlgeom: str = ", NLGEOM", **more: str) -> fem.History:
    """A bar whose strain goes from value to value, each way in so many increments."""
    path = "\n".join(f"{time}., {strain}" for time, strain in enumerate([0.0, *strains]))
    text = PULLED.format(law=law, path=path, dt=1.0 / parts, end=float(len(strains)), nlgeom=nlgeom, **more)
    return fem.run(fem.parse_deck(text))


THREE_BARS = (Path(__file__).parents[2] / "validation" / "structures" / "three_bars_isotropic.inp").read_text()


@pytest.mark.parametrize("dt", [0.05, 0.5])
@pytest.mark.parametrize(
    ("hardening", "forces"),
    [
        ("ISOTROPIC", (-664.5090909091, 690.8892561983, -712.4730277986)),
        ("KINEMATIC", (-664.5090909091, 664.5090909091, -664.5090909091)),
    ],
)
def test_three_bars_cycled_beyond_yield(hardening, forces, dt):
    """Small displacements; Jirasek and Bazant, Inelastic Analysis of Structures (2001), the case of ONSAS; the values
    are those of OpenSees' Hardening to 1e-13. However many increments: elastic and plastic parts are exact."""
    text = THREE_BARS.replace("*PLASTIC", f"*PLASTIC, HARDENING={hardening}")
    history = fem.run(fem.parse_deck(text.replace("0.05, 3.", f"{dt}, 3.")))
    at = [int(np.argmin(abs(history.time - time))) for time in (1.0, 2.0, 3.0)]
    assert history.of_node(4, "RF")[at, 2] == pytest.approx(forces, rel=1e-12)


def test_combined_hardening_over_cycles():
    """Armstrong and Frederick with Voce's growth; OpenSees' UVCuniaxial to 1e-6. First loading in closed form."""
    law = (
        "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n250., 30e3, 300.\n"
        "*CYCLIC HARDENING, PARAMETERS\n250., 60., 8.\n"
    )
    history = cycled(law, [0.005, -0.005, 0.005, -0.005, 0.005])
    stress = history.of_element(1, "S")[4::4]
    assert stress == pytest.approx([315.787482, -333.059638, 333.431043, -336.368189, 338.714099], abs=2e-6)
    p = history.of_element(1, "PEEQ")[4]
    assert stress[0] == pytest.approx(
        250.0 + 60.0 * (1.0 - np.exp(-8.0 * p)) + 100.0 * (1.0 - np.exp(-300.0 * p)), rel=1e-12
    )
    assert history.of_element(1, "PE")[4] == pytest.approx(p)


@pytest.mark.parametrize("law", HARDENING)
@pytest.mark.parametrize("nlgeom", ["", ", NLGEOM"])
def test_stress_does_not_depend_on_the_increments_and_the_work_is_in_the_books(law, nlgeom):
    """S, PE and PEEQ at the turns; E = S/young + PE; what is dissipated is the area of the loop less what is stored."""
    strains = [0.004, -0.006, 0.003, 0.001]
    coarse, fine = (cycled(HARDENING[law], strains, parts, nlgeom) for parts in (1, 8))
    for name in ("S", "PE", "PEEQ"):
        few, many = coarse.of_element(1, name)[1:], fine.of_element(1, name)[8::8]
        assert few == pytest.approx(many, rel=1e-11, abs=1e-14)
    stress = fine.of_element(1, "S")
    assert fine.of_element(1, "E") == pytest.approx(stress / E + fine.of_element(1, "PE"), abs=1e-16)
    assert np.abs(stress).max() >= YIELD
    many = cycled(HARDENING[law], strains, 60, nlgeom)
    stress, strain = many.of_element(1, "S"), many.of_element(1, "E")
    area = float((0.5 * (stress[1:] + stress[:-1]) * np.diff(strain)).sum())
    lost = many.of_energy("dissipated")
    assert (np.diff(lost) > -1e-12).all()
    assert lost[-1] + many.of_energy("strain")[-1] == pytest.approx(area, rel=1e-3)
    assert fine.of_energy("dissipated")[-1] == pytest.approx(lost[-1], rel=1e-10)


@given(strains=st.lists(st.floats(-0.01, 0.01), min_size=1, max_size=5), law=st.sampled_from(sorted(HARDENING)))
def test_closed_cycles_gain_no_energy(strains, law):
    """From no strain along any path, each way of one increment: work done is stored or lost, and lost is not gained."""
    history = cycled(HARDENING[law], [*strains, 0.0], 1)
    lost, stored = history.of_energy("dissipated"), history.of_energy("strain")
    assert (np.diff(lost) >= -1e-12).all() and (stored >= 0.0).all()


def test_cables_that_yield_stay_longer():
    """Slack below the plastic strain; taut again where they went slack."""
    history = cycled(HARDENING["perfect"] + "*NO COMPRESSION\n", [0.003, -0.001, 0.002, 0.0025])
    assert history.of_element(1, "S")[4::4] == pytest.approx([250.0, 0.0, 50.0, 150.0], abs=1e-9)
    assert history.of_element(1, "PE")[4::4] == pytest.approx(4 * [0.003 - 250.0 / E])


SUDDEN = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=POINT
2, 2
*MASS, ELSET=POINT
1.
*MATERIAL, NAME=SOFT
*ELASTIC
100.
*PLASTIC
0.1, 0.
*SOLID SECTION, ELSET=BAR, MATERIAL=SOFT, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
{dt}, 1.2
*CLOAD
2, 1, 0.08
*EL PRINT
E, S, T, PE
*END STEP
"""


@pytest.mark.parametrize("scheme", ["NEWMARK", "ENERGY MOMENTUM"])
def test_a_sudden_force_on_a_bar_that_yields(scheme):
    """Work P u = R (u - u_y/2): the largest u/u_y is 1/(2 (1 - P/R)) = 2.5 at P = 0.8 R; of second order in dt."""
    found, errors = [], []
    for dt in (0.01, 0.005):
        history = fem.run(fem.parse_deck(SUDDEN.format(scheme=scheme, dt=dt)))
        u = history.of_node(2)[:, 0]
        k = int(u.argmax())
        a, b, c = u[k - 1 : k + 2]
        found.append((b + (a - c) ** 2 / (8.0 * (2.0 * b - a - c))) / 1e-3)
        errors.append(np.abs(history.energy_error).max() / (0.08 * u.max()))
    assert abs(found[1] - 2.5) < 0.4 * abs(found[0] - 2.5) < 1e-2
    assert errors[0] < (1e-12 if scheme == "ENERGY MOMENTUM" else 1e-3)


@pytest.mark.parametrize("law", ["isotropic", "combined"])
def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, law):
    """To the byte: plastic strain, their sum and back stresses are in the checkpoint."""
    path = "0., 0., 1., 0.004, 2., -0.004"
    text = PULLED.format(law=HARDENING[law], path=path, dt=0.125, end=2.0, nlgeom=", NLGEOM")
    monkeypatch.chdir(tmp_path)
    Path("deck.inp").write_text(text.replace("*EL PRINT", "*RESTART, WRITE, FREQUENCY=4\n*EL PRINT"))
    check_goes_on(monkeypatch, ["elements.csv"])
    assert fem.load("whole").of_element(1, "PEEQ")[-1] > 0.001


@pytest.mark.parametrize("law", HARDENING)
def test_the_tangent_is_the_derivative_of_the_force(law):
    """At rest, in motion and as a secant force; at strains of a thousandth, some of which yield."""
    text = PULLED.format(law=HARDENING[law].replace("250.", "50."), path="0., 0.\n1., 0.", dt=1.0, end=1.0, nlgeom="")
    system = assemble(fem.parse_deck(text))
    place = FAMILIES.index(ROPE_LAWS)
    compare_tangent(ROPE_LAWS, system.families[place], system)


def test_two_steps_are_one():
    """A step that begins beyond yield, geometrically linear or not, goes on where the last one ended."""
    once = cycled(HARDENING["combined"], [0.004, -0.003])
    path = "0., 0.\n1., 0.004\n2., -0.003"
    text = PULLED.format(law=HARDENING["combined"], path=path, dt=0.25, end=1.0, nlgeom=", NLGEOM")
    again = text[text.index("*STEP") :].replace("2, 1, 1, 1.", "2, 1, 1, -0.003").replace(", AMPLITUDE=CYCLE", "")
    twice = fem.run(fem.parse_deck(text + again))
    for name in ("S", "PE", "PEEQ"):
        assert twice.of_element(1, name)[-1] == pytest.approx(once.of_element(1, name)[-1], rel=1e-12)


def test_heat_makes_a_held_bar_yield():
    """Between fixed ends alpha dT = e: -E alpha dT, then the yield stress; cooled again it pulls."""
    text = PULLED.format(
        law=HARDENING["perfect"] + "*EXPANSION\n1e-5\n", path="0., 0.\n1., 0.", dt=0.1, end=1.0, nlgeom=", NLGEOM"
    ).replace("*BOUNDARY, AMPLITUDE=CYCLE\n2, 1, 1, 1.\n", "*BOUNDARY\n2, 1\n*TEMPERATURE\nALL, 200.\n")
    text += text[text.index("*STEP") :].replace("ALL, 200.", "ALL, 0.")
    history = fem.run(fem.parse_deck(text))
    stress = history.of_element(1, "S")
    assert stress[10] == pytest.approx(-250.0, abs=1e-9)
    assert stress[-1] == pytest.approx(E * (200e-5 - 250.0 / E), rel=1e-9)
    assert np.abs(history.energy_error).max() < 0.02 * history.of_energy("dissipated")[-1]


@pytest.mark.parametrize("law", HARDENING)
def test_decks_are_written_and_read_again(law):
    text = PULLED.format(law=HARDENING[law], path="0., 0.\n1., 0.", dt=0.5, end=1.0, nlgeom="")
    model = fem.parse_deck(text)
    assert fem.parse_deck(write_deck(model)) == model


@pytest.mark.parametrize(
    ("law", "told"),
    [
        ("*PLASTIC\n250., 0.1\n", "the first row has plastic strain 0"),
        ("*PLASTIC\n250., 0.\n240., 0.1\n", "yield stresses must not fall"),
        ("*PLASTIC\n250., 0.\n260., 0.\n", "plastic strains must rise"),
        ("*PLASTIC\n-250., 0.\n", "the yield stress must be positive"),
        ("*PLASTIC\n", "has no data lines"),
        ("*PLASTIC\n250., 0., 20.\n260., 0.1, 30.\n", "depend on temperature"),
        ("*PLASTIC, HARDENING=KINEMATIC\n250., 0.\n", "has two rows, got 1"),
        ("*PLASTIC, HARDENING=COMBINED\n250., 1.\n", "needs DATA TYPE=PARAMETERS"),
        ("*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n250.\n", "needs a back stress"),
        ("*PLASTIC, DATA TYPE=PARAMETERS\n250., 0.\n", "belongs to HARDENING=COMBINED"),
        ("*PLASTIC, RATE=1.\n250., 0.\n", "does not depend on the rate"),
        ("*CYCLIC HARDENING, PARAMETERS\n250., 60., 8.\n", "belongs below *PLASTIC, HARDENING=COMBINED"),
        (HARDENING["combined"].replace("\n250., 60.", "\n251., 60."), "the yield stress is 250 in *PLASTIC"),
        (HARDENING["combined"].replace("60., 8.", "-260., 8."), "leaves no yield stress"),
        ("*PLASTIC\n250., 0.\n*NO TENSION\n", "struts do not yield"),
        ("*PLASTIC\n250., 0.\n*DAMPING, BETA=0.1\n", "BETA of *DAMPING with *PLASTIC"),
        ("*PLASTIC\n250., 0.\n*VISCOELASTIC\n0.1, , 1.\n", "a law with memory stands alone"),
    ],
)
def test_what_is_wrong_is_said(law, told):
    text = PULLED.format(law=law, path="0., 0.\n1., 0.", dt=0.5, end=1.0, nlgeom="")
    with pytest.raises(fem.DeckError, match=told.replace("*", r"\*")):
        fem.parse_deck(text)
