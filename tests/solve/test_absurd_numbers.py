"""Numbers of absurd size end in words where they overflow."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import fem
from tests.decks import chain, run_text
from tests.solve.ensembles import run_ensemble
from tests.solve.test_lanes import PENDULUM
from tests.solve.test_ropes import hung


@pytest.mark.parametrize(
    ("old", "new"),
    [("1000000.0\n*DENSITY", "1E308\n*DENSITY"), ("2, 0.1, 0, 0", "2, 1E200, 0, 0"), ("9.81,", "-1E308,")],
)
def test_absurd_decks_end_in_words(old, new):
    text = chain(1)
    assert old in text
    with pytest.raises(fem.FemError):
        run_text(text.replace(old, new))


def test_an_endless_stiffness_of_nodes_ends_in_words():
    """Lift and drag over the angle of attack, whose tangent overflows: NumPy has no eigenvalues of it."""
    text = (Path(__file__).parents[2] / "inputs" / "galloping.inp").read_text()
    for old, new in (("-8., 1.6, 0.6144", "-8., 1E308, 0.6144"), (", 0., -1.", ", 0., -1.\nWIRE, FLD, 1., 1., ICE")):
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(fem.ModelError, match="stiffness at node"):
        run_text(text)


def test_a_bend_of_endless_length_ends_in_words_alone():
    """NumPy's warnings about the overflow were printed before the message."""
    text = (Path(__file__).parents[1] / "deck" / "bad" / "beam_bent.inp").read_text()
    assert "4, 2, 1, 0" in text
    with warnings.catch_warnings(), pytest.raises(fem.FemError):
        warnings.simplefilter("error")
        run_text(text.replace("4, 2, 1, 0", "4, 2, 1E200, 0").replace("3, 2, 0, 0", "3, 2, 1E200, 3"))


@pytest.mark.parametrize("number", ["1E99", "-1E99", "1E-99", "0.", "1D36"])
def test_numbers_that_stand_for_infinity_or_nothing_in_other_programs_are_read(number):
    model = fem.parse_deck(chain(1).replace("LINE, GRAV, 9.81", f"LINE, GRAV, {number}"))
    assert model.steps


def built(young: float, area: float) -> fem.Model:
    """Without a deck, whose reader would have refused some of it."""
    model = fem.parse_deck(chain(1))
    materials = {name: replace(one, young=young) for name, one in model.materials.items()}
    return replace(model, materials=materials, sections=tuple(replace(one, area=area) for one in model.sections))


@pytest.mark.parametrize(("young", "area"), [(1e308, 1e300), (1e308, 1e-300), (1e-320, 1e300)])
def test_models_built_without_a_deck_say_what_overflows(young, area):
    with pytest.raises(fem.FemError):
        fem.run(built(young, area))


def test_without_any_stiffness_a_model_falls():
    """E A is 0: what remains is g t^2/2."""
    history = fem.run(built(1e-320, 1e-300))
    assert history.u[-1, -1] == pytest.approx(-0.5 * 9.81 * history.time[-1] ** 2, rel=1e-12)


def test_an_overflow_in_the_march_is_told():
    with pytest.raises(fem.FemError):
        run_text(chain(1, dynamic=", TIME INTEGRATOR=BACKWARD EULER").replace("9.81", "1E99"))


GROWING = chain(1, dt=0.05, period=1.0, dynamic=", BETA=1E-30, GAMMA=0.5")
"""Newmark's scheme divides by BETA: round-off grows until v.M v overflows."""
THIN = chain(1).replace("*ELASTIC\n1000000.0\n*DENSITY\n1.\n", "*INEXTENSIBLE\n")
THIN = (
    THIN.replace("MASS=LUMPED\n1.", "MASS=LUMPED\n5E-324")
    .replace("*MATERIAL", "*ELEMENT, TYPE=MASS, ELSET=BOB\n9, 2\n*MASS, ELSET=BOB\n1.\n*MATERIAL", 1)
    .replace("LINE, GRAV", "BOB, GRAV")
)
"""A rod whose tension is finite, while T/A is not."""
HEAVY = chain(3, dt=1e-3, period=0.02, young=1.0, dynamic=", EXPLICIT").replace("9.81", "1E60")
"""Velocities whose squares overflow, in a motion whose forces do not."""


@pytest.mark.parametrize("text", [GROWING, THIN, HEAVY])
def test_what_only_energies_and_stresses_show_is_told_and_in_no_table(text, tmp_path):
    with pytest.raises(fem.FemError, match=r"step 1 .*are out of range"):
        fem.run(fem.parse_deck(text), output=tmp_path)
    for table in tmp_path.glob("*.csv"):
        numbers = {word for line in table.read_text().lower().split() for word in line.split(",")}
        assert not numbers & {"inf", "-inf", "nan"}


def test_lanes_whose_energies_overflow_run_alone_and_say_so():
    text = (
        PENDULUM.replace("*PARAMETER\n", "*PARAMETER\ng = 1.\n")
        .replace("9.81", "<g>")
        .replace("0.005, 0.4", "1e-8, 5e-8")
    )
    models = [fem.parse_deck(text, {"g": gravity, "YOUNG": 1e-300}) for gravity in (9.81, 1e164, 5.0)]
    results = run_ensemble(models)
    assert (
        [result.in_lanes for result in results] == [result.error is None for result in results] == [True, False, True]
    )
    assert "are out of range" in str(results[1].error)


FAR = hung(0.0).replace("2, 0", "3, 1E154, 0, 0\n2, 0", 1).replace("1, 1, 2\n", "1, 1, 2\n3, 3, 2\n", 1)
"""A rope to a pin whose coordinate has an exponent too many."""


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
def test_ropes_beside_absurd_lengths_are_told_at_once(impact):
    text = FAR.replace("*BOUNDARY\n", "*BOUNDARY\n3, 1, 3\n", 1).replace("*CONTROLS", f"*CONTROLS, IMPACT={impact}", 1)
    assert "3, 1E154" in text
    assert "3, 3, 2" in text
    with pytest.raises(fem.FemError, match=r"element 3 is 1e\+154 long, element 1 1: .* wrong exponent"):
        run_text(text)
