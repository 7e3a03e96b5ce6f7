"""``*BUCKLING STRENGTH``: struts that buckle (Hill, Blandford and Wang 1989): stress, unloading, work, paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import fem
from fem.assembly.system import assemble
from fem.deck import write_deck
from fem.forces.families import FAMILIES
from fem.forces.rope_laws import ROPE_LAWS
from fem.study.additions import compare_tangent
from tests.forces.test_plastic import PULLED, cycled

E, CRITICAL = 200e3, 100.0
LAW = "*BUCKLING STRENGTH\n100., 0.4, 50., 100.\n"
YIELDS = "*PLASTIC\n250., 0.\n350., 0.1\n"


def borne(e, residual=0.4, first=50.0, second=100.0):
    """Stress after a further shortening: the formula of the paper."""
    rest = residual * CRITICAL
    return rest + (CRITICAL - rest) * np.exp(-(first + second * np.sqrt(e)) * e)


def pressed(strains, parts=4, law=LAW, **more):
    return cycled(law, list(strains), parts, **more)


@pytest.mark.parametrize("parts", [1, 7])
@pytest.mark.parametrize("nlgeom", ["", ", NLGEOM"])
def test_a_strut_bears_what_the_formula_says(parts, nlgeom):
    """However many increments: elastic to the critical stress, then softer; unloaded and pressed again it is elastic up
    to where it was, and in tension it has only become shorter."""
    strains = [-0.0005, -0.002, -0.01, 0.0, -0.0099, -0.02, 0.001]
    history = pressed(strains, parts, nlgeom=nlgeom)
    stress, left = history.of_element(1, "S")[parts::parts], history.of_element(1, "PE")[parts::parts]
    e = np.array([0.0, 0.0015, 0.0095, 0.0095, 0.0095, 0.0195, 0.0195])
    shorter = np.where(e > 0.0, e + (CRITICAL - borne(e)) / E, 0.0)
    assert left == pytest.approx(-shorter, abs=1e-15)
    assert stress == pytest.approx(E * (np.array(strains) + shorter), abs=1e-9)
    assert stress[[1, 2, 5]] == pytest.approx(-borne(e[[1, 2, 5]]), rel=1e-12)
    assert (history.of_element(1, "PEEQ") == 0.0).all()


def test_it_yields_in_tension_too():
    """250 and more of *PLASTIC; its shortening then counts from the longer length, and what it has lost it has lost."""
    history = pressed([-0.005, 0.01, -0.005], law=LAW + YIELDS)
    stress, peeq = history.of_element(1, "S")[4::4], history.of_element(1, "PEEQ")[4::4]
    shorter = 0.0045 + (CRITICAL - borne(0.0045)) / E
    p = (E * (0.01 + shorter) - 250.0) / (E + 1000.0)
    assert peeq[1:] == pytest.approx([p, p], rel=1e-12)
    assert stress == pytest.approx([-borne(0.0045), 250.0 + 1000.0 * p, -borne(0.005 + p - CRITICAL / E)], rel=1e-10)


def test_work_is_stored_or_lost():
    """Lost: the integral of the stress over the shortening, less what is stored; by quadrature."""
    for parts in (1, 50):
        history = pressed([-0.01], parts)
        work, _ = quad(borne, 0.0, 0.0095, epsabs=1e-12)
        exact = work + 0.5 * (CRITICAL**2 - borne(0.0095) ** 2) / E
        assert history.of_energy("dissipated")[-1] == pytest.approx(exact, rel=1e-6)
        assert history.of_energy("strain")[-1] == pytest.approx(0.5 * borne(0.0095) ** 2 / E, rel=1e-9)


@given(strains=st.lists(st.floats(-0.02, 0.01), min_size=1, max_size=5), law=st.sampled_from([LAW, LAW + YIELDS]))
def test_closed_cycles_gain_no_energy(strains, law):
    history = pressed([*strains, 0.0], 1, law)
    assert (np.diff(history.of_energy("dissipated")) >= -1e-12).all()
    assert (history.of_energy("strain") >= 0.0).all()


@pytest.mark.parametrize("law", [LAW, LAW + YIELDS])
def test_the_tangent_is_the_derivative_of_the_force(law):
    """At rest, in motion and as a secant force; at strains of a thousandth, some of which buckle."""
    law = law.replace("100., 0.4", "20., 0.4").replace("250.", "50.").replace("350.", "55.")
    system = assemble(fem.parse_deck(PULLED.format(law=law, path="0., 0.\n1., 0.", dt=1.0, end=1.0, nlgeom="")))
    compare_tangent(ROPE_LAWS, system.families[FAMILIES.index(ROPE_LAWS)], system)


@pytest.mark.parametrize("rows", ["100.\n", "100., 0., 30.\n", "100., 1.\n", "100., 0.2, 0., 0.\n"])
def test_decks_are_written_and_read_again(rows):
    """Blank: 0.4, 50 and 100 of the paper."""
    text = PULLED.format(law=f"*BUCKLING STRENGTH\n{rows}", path="0., 0.\n1., 0.", dt=0.5, end=1.0, nlgeom="")
    model = fem.parse_deck(text)
    assert fem.parse_deck(write_deck(model)) == model
    if rows == "100.\n":
        own = model.materials["STEEL"].buckling
        assert (own.stress, own.residual, own.first, own.second) == (100.0, 0.4, 50.0, 100.0)


SNAP = """*NODE
1, 0., 0., 0.
2, 0., 0., 1.
*ELEMENT, TYPE=T3D2, ELSET=STRUT
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=LOAD
2, 2
*MASS, ELSET=LOAD
1.
*MATERIAL, NAME=STEEL
*ELASTIC
200e3
{law}*SOLID SECTION, ELSET=STRUT, MATERIAL=STEEL, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
2, 1, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 3, -1.
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
1e-4, 0.02
*EL PRINT
S, PE
*END STEP
"""


def test_a_mass_that_buckles_a_strut_loses_its_energy():
    """Energy momentum: the books close to round-off, and half m v^2 = 0.5 is more than the strut stores (0.025)."""
    history = fem.run(fem.parse_deck(SNAP.format(law=LAW)))
    assert np.abs(history.energy_error).max() < 1e-9
    assert history.of_element(1, "S").min() == pytest.approx(-CRITICAL, rel=0.2)
    lost = history.of_energy("dissipated")[-1]
    assert 0.4 < lost < 0.5 and (np.diff(history.of_energy("dissipated")) > -1e-12).all()


def test_riks_follows_a_strut_that_softens():
    """Pressed by a load that grows and falls: the first limit is the critical stress, then s(e)."""
    steps = "*STEP, NLGEOM, INC=400\n*STATIC, RIKS\n0.1, 1., , 1., , 2, 3, -0.01\n*CLOAD\n2, 3, -200.\n"
    text = SNAP[: SNAP.index("*INITIAL")] + steps + "*EL PRINT\nE, S\n*END STEP\n"
    history = fem.run(fem.parse_deck(text.format(law=LAW)))
    strain, stress = history.of_element(1, "E"), history.of_element(1, "S")
    assert strain[-1] <= -0.01
    beyond = strain < -1.01 * CRITICAL / E
    assert beyond.sum() > 3
    assert stress[beyond] == pytest.approx(-borne(-strain[beyond] - CRITICAL / E), rel=1e-6)
    assert 200.0 * history.load_factor[beyond] == pytest.approx(-stress[beyond], rel=1e-5)


@pytest.mark.parametrize(
    ("law", "told"),
    [
        ("*BUCKLING STRENGTH\n-100.\n", "the critical stress must be positive"),
        ("*BUCKLING STRENGTH\n100., 1.2\n", "the residual fraction"),
        ("*BUCKLING STRENGTH\n100., 0.4, -1.\n", "X1"),
        ("*BUCKLING STRENGTH\n", "has no data lines"),
        (LAW + "*NO COMPRESSION\n", r"\*NO COMPRESSION with \*BUCKLING STRENGTH"),
        (LAW + "*NO TENSION\n", r"\*NO TENSION with \*BUCKLING STRENGTH"),
        (LAW + "*DAMPING, BETA=0.1\n", "BETA of"),
        (LAW + "*VISCOELASTIC\n0.1, , 1.\n", "stands alone|VISCOELASTIC"),
        (LAW + "*PLASTIC, HARDENING=KINEMATIC\n250., 0.\n260., 0.1\n", "HARDENING=KINEMATIC with"),
    ],
)
def test_what_is_wrong_is_said(law, told):
    text = PULLED.format(law=law, path="0., 0.\n1., 0.", dt=0.5, end=1.0, nlgeom="")
    with pytest.raises(fem.DeckError, match=told):
        fem.parse_deck(text)
