"""Cards of water and wind: defaults, orders of lines, what they mean to steps."""

from __future__ import annotations

import pytest

import fem
from fem.deck import deck_reader, parse_deck
from fem.errors import DeckError
from fem.model import Airy, Jonswap
from tests.deck.decks import MATERIAL, MESH

HEAD = MESH + MATERIAL + "*AMPLITUDE, NAME=TIDE\n0, 1\n"
DYNAMIC = "*STEP, NLGEOM{}\n*DYNAMIC, DIRECT\n0.01, 1\n{}*END STEP\n"


def test_lines_of_a_current_may_come_in_any_order():
    model = parse_deck(HEAD + "*AQUA\n-9, 0, 9.81, 1025\n1, 0, 0, 0\n.5,,,-9\n*STEP\n*STATIC\n*END STEP\n")
    assert model.water is not None
    assert model.water.current == ((0.5, 0.0, 0.0, -9.0), (1.0, 0.0, 0.0, 0.0))


def test_a_wind_has_abaqus_defaults():
    model = parse_deck(HEAD + "*WIND\n1.2, 10\n*STEP\n*STATIC\n*END STEP\n")
    assert model.wind is not None
    assert (model.wind.speeds, model.wind.direction, model.wind.power) == ((1.0, 1.0), (1.0, 0.0), 1.0 / 7.0)


@pytest.mark.parametrize(("stated", "length"), [("", 1200.0), ("1200.", 1200.0), ("3937.", 3937.0), ("150.", 1200.0)])
def test_the_length_of_davenport_may_be_in_feet(stated, length):
    """1200 m are 3937 ft; another length does not count, which is told."""
    card = "*WIND, TYPE=DAVENPORT, SEED=1, DURATION=100, CUTOFF=1\n1.2, 10, 20\n0.1, , , {}\n"
    model = parse_deck(HEAD + card.format(stated) + "*STEP\n*STATIC\n*END STEP\n")
    assert model.wind is not None and model.wind.gusts.length == (length,) * 3
    assert any("does not count" in text for text in model.notices) == (stated == "150.")


def test_a_drag_law_begins_at_nothing():
    model = parse_deck(HEAD + "*DRAG LAW, NAME=F\n2, 9\n1, 3\n*STEP\n*STATIC\n*END STEP\n")
    assert model.drag_laws["F"].rows == ((0.0, 0.0), (1.0, 3.0), (2.0, 9.0))


def test_blank_fields_of_loads_are_defaults():
    loads = "*DLOAD\nBARS, FDT, , 0.1, 0.3, , , TIDE\nBARS, FI, , 0.1, 2, 1, , 0.5\nBARS, PB, , 0.1\n"
    model = parse_deck(HEAD + "*AQUA\n-9, 0, 9.81, 1025\n" + DYNAMIC.format("", loads))
    along, inertia, lift = model.steps[0].fluid_loads
    assert (along.magnitude, along.follows, along.exponent, along.streams) == (1.0, 1.0, 2.0, ("TIDE", None))
    assert (inertia.coefficient, inertia.added, inertia.added_along) == (2.0, 1.0, 0.5)
    assert (lift.kind, lift.diameter, lift.is_current) == ("PB", 0.1, False)
    assert any("the acceleration of a varying current" in text for text in model.notices)


def test_the_amplitude_of_a_load_takes_the_place_of_that_of_the_current():
    aqua = "*AMPLITUDE, NAME=EBB, TIME=TOTAL TIME\n0, 1\n*AQUA, AMPLITUDE=EBB\n-9, 0, 9.81, 1025\n1, 0, 0, 0\n"
    loads = "*DLOAD\nBARS, FDD, , 0.1, 1.2\nBARS, FDT, , 0.1, 0.3, , , TIDE\n"
    model = parse_deck(HEAD + aqua + DYNAMIC.format("", loads))
    assert [load.streams for load in model.steps[0].fluid_loads] == [("EBB", None), ("TIDE", None)]


@pytest.mark.parametrize(("given", "expected"), [("", "PARABOLIC"), (", EXTRAPOLATION=NO", "NO")])
def test_motion_in_a_fluid_is_guessed_along_unless_told_otherwise(given, expected):
    wet = DYNAMIC.format(given, "*DLOAD\nBARS, PB, 1., 0.1\n") + DYNAMIC.format(given, "")
    model = parse_deck(HEAD + "*AQUA\n-9, 0, 9.81, 1025\n" + DYNAMIC.format("", "") + wet)
    assert [step.extrapolation for step in model.steps] == ["NO", expected, expected]
    assert parse_deck(fem.write_deck(model)) == model


def test_modes_have_added_mass_of_their_own():
    text = HEAD + "*AQUA\n-9, 0, 9.81, 1025\n" + DYNAMIC.format("", "*DLOAD\nBARS, FI, 1., 0.1, 2, 1\n")
    model = parse_deck(text + "*STEP\n*FREQUENCY\n2\n*D ADDED MASS\nBARS, FI, 0.1, 1.\n*END STEP\n")
    assert model.steps[1].fluid_loads[0].kind == "ADDED MASS"
    assert any("FI of earlier steps adds no mass" in text for text in model.notices)


def test_mistakes_that_leave_no_nodes_are_told_where_there_is_buoyancy():
    """PB asks where bars are; what is wrong with the nodes is the answer."""
    with pytest.raises(DeckError, match="expected the x coordinate"):
        parse_deck(
            "*NODE\n1, a, 0., 0.\n2, b, 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=ROD\n1, 1, 2\n"
            "*MATERIAL, NAME=M\n*ELASTIC\n1.\n*SOLID SECTION, ELSET=ROD, MATERIAL=M\n1.\n"
            "*AQUA\n-9., 0., 9.81, 1000.\n*STEP\n*STATIC\n*DLOAD\n"
            "ROD, PB, 1., 0.1\n*END STEP\n"
        )


WAVES = "*WAVE, TYPE=AIRY, WAVE PERIOD, RAMP=5\n1.5, 8, 30, 0, 1\n.5, 6\n*WAVE, TYPE=JONSWAP, SEED=3\n<Hs>, <Tp>\n"
STANDING = "*PARAMETER\nHs = 2\nTp = 8\n" + HEAD + "*AQUA\n-9, 0, 9.81, 1025\n" + WAVES


def test_waves_have_defaults_and_are_written_as_they_are_read():
    model = parse_deck(STANDING + DYNAMIC.format("", ""))
    assert model.waves[0] == Airy(((1.5, 8.0, 30.0, 0.0, 1.0), (0.5, 6.0, 0.0, 1.0, 0.0)), True, 5.0)
    assert model.waves[1] == Jonswap(2.0, 8.0, 3, 200, 3.3, (1.0, 0.0), 0.5, 4.0)
    assert parse_deck(fem.write_deck(model)) == model


def test_sea_states_are_put_into_a_model_that_was_read_once(tmp_path):
    (tmp_path / "sea.inp").write_text(STANDING + DYNAMIC.format("", ""))
    read = deck_reader(tmp_path / "sea.inp", ["HS", "TP"])
    for values in ({"HS": 1.0, "TP": 7.0}, {"HS": 3.0, "TP": 12.0}):
        assert read(values) == fem.read_deck(tmp_path / "sea.inp", values)


def test_seeds_are_put_into_a_model_that_was_read_once(tmp_path):
    deck = tmp_path / "sea.inp"
    deck.write_text(
        STANDING.replace("Tp = 8\n", "Tp = 8\nS = 3\n").replace("SEED=3", "SEED=<S>") + DYNAMIC.format("", "")
    )
    read = deck_reader(deck, ["S"])
    for seed in (1.0, 7.0):
        assert read({"S": seed}) == fem.read_deck(deck, {"S": seed})
        assert read.last is not None
    with pytest.raises(DeckError, match="SEED"):
        read({"S": 1.5})


@pytest.mark.parametrize(("period", "breaks"), [("8", False), ("3.7", False), ("3.6", True)])
def test_waves_that_break_are_told_of(tmp_path, period, breaks):
    """In deep water at 0.142 of their length g T^2/(2 pi) (Miche 1944): amplitude 1.5 at a period of 3.68."""
    deck = tmp_path / "steep.inp"
    text = (
        "*PARAMETER\nT = 8\n" + HEAD + "*AQUA\n-90, 0, 9.81, 1025\n*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, <T>, 0, 1, 0\n"
    )
    deck.write_text(text + DYNAMIC.format("", ""))
    model = deck_reader(deck, ["T"])({"T": float(period)})
    told = [text for text in model.notices if "would break" in text]
    assert bool(told) == breaks
    assert [text for text in fem.check(model).findings if "would break" in text] == told


def test_amplitudes_of_waves_say_so_where_there_are_none():
    loads = "*DLOAD\nBARS, FDD, 1, 0.1, 1, 1, , TIDE\n"
    still, moving = (parse_deck(head + DYNAMIC.format("", loads)) for head in (STANDING.split("*WAVE")[0], STANDING))
    assert any("there are no waves" in text for text in still.notices)
    assert not any("there are no waves" in text for text in moving.notices)
