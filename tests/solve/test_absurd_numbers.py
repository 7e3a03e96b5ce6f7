"""Numbers of absurd size end in words: where they are read, or where they overflow."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fem
from tests.decks import chain, run_text


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("1000000.0\n*DENSITY", "1E308\n*DENSITY", "out of range: '1E308'"),
        ("*DENSITY\n1.", "*DENSITY\n1E-300", "out of range: '1E-300'"),
        ("0.01, 0.5", "1E160, 1E161", "out of range: '1E160'"),
        ("0.01, 0.5", "1E-300, 0.5", "out of range: '1E-300'"),
        ("2, 0.1, 0, 0", "2, 1E200, 0, 0", "out of range: '1E200'"),
        ("9.81,", "-1E101,", "out of range: '-1E101'"),
    ],
)
def test_the_reader_names_the_field(old, new, what):
    text = chain(1)
    assert old in text
    with pytest.raises(fem.DeckError, match=what) as failure:
        fem.parse_deck(text.replace(old, new))
    assert "between 1e-100 and 1e+100" in str(failure.value)


@pytest.mark.parametrize("number", ["1E99", "-1E99", "1E-99", "0.", "1D36"])
def test_numbers_that_stand_for_infinity_or_nothing_in_other_programs_are_read(number):
    model = fem.parse_deck(chain(1).replace("LINE, GRAV, 9.81", f"LINE, GRAV, {number}"))
    assert model.steps


@pytest.mark.parametrize("young", [1e308, 1e-320])
@pytest.mark.parametrize("area", [1e300, 1e-300])
def test_models_built_without_a_deck_say_what_overflows(young, area):
    model = fem.parse_deck(chain(1))
    materials = {name: replace(one, young=young) for name, one in model.materials.items()}
    sections = tuple(replace(one, area=area) for one in model.sections)
    with pytest.raises(fem.FemError):
        fem.run(replace(model, materials=materials, sections=sections))


def test_an_overflow_in_the_march_is_told():
    with pytest.raises(fem.FemError):
        run_text(chain(1, dynamic=", TIME INTEGRATOR=BACKWARD EULER").replace("9.81", "1E99"))
