"""Parameters that a scheme does not take, and cards that a law takes no notice of, are refused by tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields

import pytest

from fem.deck import KEYWORDS, conditions, parse_deck, sections, steps, surfaces, waves
from fem.deck.materials import LAWS, strangers
from fem.deck.table import NEEDED, Value
from fem.errors import DeckError
from fem.model import PARTS, BarSection, Dynamic, PointMass, RigidBody, StopPlane
from fem.model.steps import PARAMETERS
from fem.model.surroundings import Airy, Jonswap, RigidCylinder, Seabed
from fem.model.vessels import Rao
from fem.solve.schemes import SCHEMES

MODEL = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
{cards}*SOLID SECTION, ELSET=BAR, MATERIAL=M
1
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT{parameters}
0.1, 1
*END STEP
"""
ELASTIC = "*ELASTIC\n1e3\n*DENSITY\n1\n"
GIVEN = {"BETA": 0.3, "GAMMA": 0.6, "ALPHA": -0.1, "RHO": 0.4}


def test_every_scheme_has_a_row_and_every_parameter_is_read() -> None:
    assert set(PARAMETERS) == set(SCHEMES)
    assert set(steps.OF_SCHEMES) == set(steps.NUMBERS) == set(GIVEN)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("scheme", PARAMETERS)
def test_a_parameter_is_taken_or_refused(scheme: str, name: str) -> None:
    text = MODEL.format(cards=ELASTIC, parameters=f", TIME INTEGRATOR={scheme}, {name}={GIVEN[name]}")
    if name.lower() in PARAMETERS[scheme]:
        assert getattr(parse_deck(text).steps[0].procedure, name.lower()) == GIVEN[name]
        return
    with pytest.raises(DeckError, match=rf"{name}.* (is for|contradicts) TIME INTEGRATOR="):
        parse_deck(text)


def test_a_new_scheme_takes_what_its_row_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """RHO of a scheme that this program does not know yet is the RHO of its deck."""
    monkeypatch.setitem(PARAMETERS, "TOY", ("rho",))
    procedure = parse_deck(MODEL.format(cards=ELASTIC, parameters=", TIME INTEGRATOR=TOY, RHO=0.4")).steps[0].procedure
    assert isinstance(procedure, Dynamic) and procedure.rho == 0.4
    with pytest.raises(DeckError, match="ALPHA"):
        parse_deck(MODEL.format(cards=ELASTIC, parameters=", TIME INTEGRATOR=TOY, ALPHA=-0.1"))


def test_every_card_of_a_material_stands_in_the_table() -> None:
    cards = {name for name, stated in KEYWORDS.items() if stated.level == "material"}
    assert "DENSITY" in cards
    assert cards <= {*LAWS, *(card for row in LAWS.values() for card in row)}


def test_a_new_law_goes_with_nothing_until_its_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = ("DENSITY", "NO COMPRESSION", "EXPANSION")
    assert {card for card, _ in strangers(["TOY", *beside])} == {"TOY", *beside}
    monkeypatch.setitem(LAWS, "TOY", ("DENSITY",))
    assert list(strangers(["TOY", *beside])) == [("NO COMPRESSION", "TOY"), ("EXPANSION", "TOY")]


def test_what_a_law_ignores_is_refused_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAWS, "ELASTIC", ("DENSITY",))
    with pytest.raises(DeckError, match=r"deck:11:1: error: \*NO COMPRESSION with \*ELASTIC in material M"):
        parse_deck(MODEL.format(cards=f"{ELASTIC}*NO COMPRESSION\n", parameters=""))


@pytest.mark.parametrize(
    ("made", "rows"),
    [
        (BarSection, sections.SOLID_SECTION.parameters.values()),
        (PointMass, sections.MASS.parameters.values()),
        *((form.make, form.parameters.values()) for form in sections.LISTED.values()),
        *((form.make, form.line.values) for form in sections.LISTED.values() if form.line),
        (Seabed, surfaces.SEABED.values()),
        (RigidCylinder, surfaces.RIGID_CYLINDER.values()),
        (StopPlane, surfaces.STOP_PLANE.values()),
        (RigidBody, conditions.RIGID_BODY.values()),
        (Airy, waves.OF_ALL.values()),
        (Jonswap, waves.OF_SEAS.values()),
        (Rao, [each for name, each in waves.RAO.items() if name == "OUTSIDE"]),
    ],
)
def test_defaults_of_rows_are_those_of_the_model(made: type, rows: Iterable[Value]) -> None:
    """Where both have one, and every field of a row is one of what the card makes."""
    defaults = {field.name: field.default for field in fields(made)}
    for row in rows:
        own = defaults[row.field] if row.field else MISSING
        assert own is MISSING or row.default is NEEDED or row.default == own, row


def test_cards_of_lists_fill_the_field_that_names_them() -> None:
    """By that name a restart says what has changed."""
    assert {name: PARTS[form.into] for name, form in sections.LISTED.items()} == {
        name: name for name in sections.LISTED
    }
