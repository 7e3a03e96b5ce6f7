"""``*RAO`` in its forms: rows, named columns, WAMIT's lines; what the reader says of waves beyond it; ``fem check``."""

from __future__ import annotations

import cmath
import math
from pathlib import Path

import numpy as np
import pytest

from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from fem.show.checking import check

HEAD = """*NODE
1, 0, 0, 0
2, 3, 0, 0
3, 3, 0, -9
*NSET, NSET=PINS
2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1
*AQUA
-50, 0, 9.81, 1025
*WAVE, TYPE=AIRY, WAVE PERIOD, RAMP=9
1, 8
*RIGID BODY, REF NODE=1, PIN NSET=PINS, RAO=BOX{heading}
*BOUNDARY
3, 1, 3
"""
STEP = "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.1, 1\n*END STEP\n"
ROWS = ((5.0, 0.0), (5.0, 60.0), (20.0, 0.0), (20.0, 60.0))
NUMBERS = np.random.default_rng(5).uniform(0.1, 1.0, (4, 12)) * np.repeat([1.0, 150.0], 6)


def rows(kind="period"):
    size = {"period": lambda t: t, "frequency": lambda t: 1 / t, "omega": lambda t: 2 * math.pi / t}[kind]
    return "".join(
        ", ".join(map(repr, (size(t), h, *own))) + "\n" for (t, h), own in zip(ROWS, NUMBERS.tolist(), strict=True)
    )


def model_of(card, heading=", HEADING=-30", tmp_path=None, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return parse_deck(HEAD.format(heading=heading) + card + STEP, folder=tmp_path)


def raos_of(card, **files):
    return model_of(card, **files).raos["BOX"]


LINES = rows()
PLAIN = "*RAO, NAME=BOX\n" + LINES


def near(one, other):
    """Equal but for what decimals leave out."""
    for mine, its in zip(one.rows, other.rows, strict=True):
        assert mine[:8] == pytest.approx(its[:8], rel=1e-9)
        assert np.exp(1j * np.radians(mine[8:])) == pytest.approx(np.exp(1j * np.radians(its[8:])), rel=1e-9)


@pytest.mark.parametrize("kind", ["frequency", "omega"])
def test_periods_and_frequencies_are_the_same(kind):
    near(raos_of(f"*RAO, NAME=BOX, BY={kind}\n" + rows(kind)), raos_of(PLAIN))


@pytest.mark.parametrize("name", ["INPUT", "FILE"])
def test_columns_have_names_in_any_order(name, tmp_path):
    """Units in brackets, words joined in any way; what has no column stays 0."""
    names = "Heave Phase (deg); T_heading; RAOHeaveAmp [m/m]; omega".replace("T_", "")
    lines = [
        f"{own[8]!r}; {h}; {own[2]!r}; {2 * math.pi / t!r}" for (t, h), own in zip(ROWS, NUMBERS.tolist(), strict=True)
    ]
    found = raos_of(f"*RAO, NAME=BOX, {name}=t.txt, PHASE=LEAD\n", tmp_path=tmp_path, t="\n".join([names, *lines]))
    plain = raos_of(PLAIN)
    for mine, its in zip(found.rows, plain.rows, strict=True):
        assert mine[:2] == pytest.approx(its[:2], rel=1e-14)
        assert (mine[4], mine[10]) == (its[4], -its[10])
        assert not any(mine[2:4] + mine[5:10] + mine[11:])


def test_lines_of_wamit(tmp_path):
    """PHA leads; rotations are in radians, times ULEN; a head of names; a second body moves as the first in surge."""
    lines = ["PER BETA I MOD PHA RE IM"]
    for (t, h), own in zip(ROWS, NUMBERS.tolist(), strict=True):
        for mode in range(7):
            size = own[mode % 6] * (10.0 * math.pi / 180.0 if 2 < mode < 6 else 1.0)
            z = cmath.rect(size, -math.radians(own[6 + mode % 6]))
            lines.append(f" {t:.6E} {h:.6E} {mode + 1} {size:.6E} {-own[6 + mode % 6]:.6E} {z.real:.6E} {z.imag:.6E}")
    card = "*RAO, NAME=BOX, INPUT=t.txt, FORMAT=WAMIT, LENGTH=10\n"
    model = model_of(card, tmp_path=tmp_path, t="\n".join(lines))
    assert np.array(model.raos["BOX"].rows) == pytest.approx(np.array(raos_of(PLAIN).rows), rel=2e-6)
    second = raos_of(card.replace("FORMAT", "BODY=2, FORMAT"), tmp_path=tmp_path)
    assert np.array(second.rows)[:, 2] == pytest.approx(np.array(model.raos["BOX"].rows)[:, 2])
    assert not np.array(second.rows)[:, 3:8].any()
    assert "*RAO: motions of other bodies than 1 are ignored (BODY=)" in model.notices


def test_what_is_written_is_read():
    for options in ("", ", SYMMETRY=XZ, OUTSIDE=HOLD", ", PHASE=LEAD, OUTSIDE=ZERO"):
        model = model_of(f"*RAO, NAME=BOX{options}\n" + rows().replace(", 0.0,", ", 1.0,"))
        assert parse_deck(write_deck(model)) == model
        assert "*RAO" in " ".join(model.extensions)


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("\n5, 0, 1\n", "expected period, heading, six amplitudes and six phases, got 3 entries"),
        ("\n" + LINES.replace("5.0, 0.0", "-5.0, 0.0"), "the period must not be negative, got -5"),
        ("\n" + LINES.replace("5.0, 0.0", "0, 0.0"), "the period must be positive, got 0"),
        ("\n" + LINES.replace("5.0, 60.0", "5.0, 0.0"), "a second row for the period 5 and the heading 0"),
        (", SYMMETRY=XZ\n" + LINES, "in waves along the vessel, which has SYMMETRY=XZ"),
        (
            ", SYMMETRY=XZ\n" + LINES.replace("20.0, 0.0", "5, 300").replace("5.0, 0.0", "9, 20"),
            "heading 300 (SYMMETRY=XZ made the first)",
        ),
        ("\n5, 0, 1, 1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 0\n", "the heave must not be negative, got -1"),
        ("\nperiod, heading, heave\n5, 0, 1\n", "one of amplitude and phase of heave alone"),
        ("\nperiod, heading, heav, heave phase\n5, 0, 1, 0\n", "a column 'heav', which means nothing here"),
        ("\nperiod, heading, heave, heave\n5, 0, 1, 0\n", "two columns with the heave"),
        ("\nperiod, heave, heave phase\n5, 0, 1\n", "no column with the heading: period, heave and heave phase"),
        ("\nheading, heave, heave phase\n5, 0, 1\n", "no column with the period"),
        (", BY=OMEGA\nperiod, heading\n5, 0\n", "BY=OMEGA, and the table has a column of period"),
        ("\nperiod, heading, heave and phase\n5, 0, 1, 0\n", "is not one name for each of 4 columns"),
        (", FORMAT=WAMIT\n5, 0, 1, 1\n", "expected PER, BETA, I, MOD, PHA, RE and IM, got 4 entries"),
        (", FORMAT=WAMIT\n-1, 0, 1, 1, 0, 1, 0\n", "PER must be positive"),
        (", FORMAT=WAMIT\n5, 0, 1.5, 1, 0, 1, 0\n", "I is the number of a mode, from 1 on, got 1.5"),
        (", FORMAT=WAMIT\n5, 0, 1, 1, 90, 1, 0\n", "MOD and PHA disagree with RE and IM"),
        (", FORMAT=WAMIT\n5, 0, 1, 1, 0, 1, 0\n5, 0, 1, 1, 0, 1, 0\n", "a second line for PER 5, BETA 0, I 1"),
        (", FORMAT=WAMIT, PHASE=LAG\n5, 0, 1, 1, 0, 1, 0\n", "PHASE does not belong to FORMAT=WAMIT"),
        (", FORMAT=WAMIT, BODY=2\n5, 0, 1, 1, 0, 1, 0\n", "the table has no motions of body 2, I 7 to 12"),
        (", LENGTH=2\n" + LINES, "LENGTH does not belong to FORMAT=TABLE"),
        ("\n" + LINES.replace("5.0,", "10.0,"), "waves of 8 to 8, 1 of the energy of the sea, are not in RAO BOX"),
    ],
)  # fmt: skip
def test_mistakes(card, message):
    with pytest.raises(DeckError) as error:
        model_of("*RAO, NAME=BOX" + card)
    assert message in str(error.value)


@pytest.mark.parametrize(("heading", "way"), [(", HEADING=30", 330), (", HEADING=-60.1", 60.1), (", HEADING=180", 180)])
def test_waves_between_no_headings(heading, way):
    """Neither beyond them, nor between two that are far apart."""
    with pytest.raises(DeckError, match=rf"run at {way:g} degrees from the bow.*no data between its headings: 0, 60"):
        model_of(PLAIN, heading)
    model_of(PLAIN, ", HEADING=-60")
    model_of(PLAIN)


@pytest.mark.parametrize(("outside", "factor"), [("ZERO", 0.0), ("HOLD", 1.0)])
def test_waves_beyond_the_frequencies(outside, factor):
    """As the deck says, with a notice of how much of the sea that is."""
    model = model_of(f"*RAO, NAME=BOX, OUTSIDE={outside}\n" + rows().replace("5.0,", "10.0,", 2), ", HEADING=-60")
    assert any("1 of the energy of the sea" in text and "move the vessel" in text for text in model.notices)
    found = model.raos["BOX"].answer(model.sea[:, 0], np.array([60.0]))[0]
    assert np.abs(found[:3, 0]) == pytest.approx(factor * NUMBERS[1, :3])


def test_check_tells_how_a_vessel_moves_and_what_is_coarse():
    """Standard deviations are |H| a/sqrt 2; rows whose phases turn by 120 degrees lose half of the amplitude."""
    text = "*RAO, NAME=BOX\n4, 0, 0,0,0.5,3,0,0, 0,0,0,0,0,0\n8, 0, 0,0,0.5,3,0,0, 0,0,120,0,0,0\n"
    report = str(check(model_of(text, "")))
    assert f"heave {0.5 / math.sqrt(2):.4g}, roll {3 / math.sqrt(2):.4g}, pitch 0" in report
    assert "the phase of heave turns by 120 degrees between periods 4 and 8 at heading 0" in report
    assert "leaves 0.5 of the amplitude" in report
    assert "without RAMP=" not in report
    model = parse_deck(write_deck(model_of(text, "")).replace("RAMP=9.0", "RAMP=0"))
    assert "without RAMP= are at full height" in str(check(model))


TABLE = np.loadtxt(Path(__file__).parents[2] / "inputs/moored_vessel.csv", delimiter=",", skiprows=1)
"""Headings, periods, and amplitude and phase of the six motions: of a box, from 2.5 to 24 s."""
TURN_AND = "surge, sway, roll and pitch are opposite to the water: "
LEADS, COMES = "phases are leads, not lags", "headings are those from which waves come"


def told_of(table, depth=50):
    """What ``fem check`` says of the longest waves of a table."""
    lines = [", ".join(map(repr, (row[1], row[0], *row[2::2], *row[3::2]))) for row in table.tolist()]
    text = "*RAO, NAME=BOX, SYMMETRY=XZ, OUTSIDE=HOLD\n" + "\n".join(lines) + "\n"
    model = parse_deck(HEAD.format(heading="").replace("-50, 0", f"{-depth}, 0") + text + STEP)
    return [text for text in check(model).findings if "longest waves" in text]


def changed(leads=False, radians=False, comes=False, height=1.0, shortest=0.0, longest=99.0):
    table = TABLE[(TABLE[:, 1] >= shortest) & (TABLE[:, 1] <= longest)]
    table[:, 2::2] *= height
    table[:, 3::2] *= -1.0 if leads else 1.0
    table[:, 8::2] *= math.pi / 180.0 if radians else 1.0
    table[:, 0] = (table[:, 0] + 180.0) % 360.0 if comes else table[:, 0]
    return table


@pytest.mark.parametrize("depth", [50, 4000])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, []),
        ({"leads": True}, [TURN_AND + LEADS]),
        ({"comes": True}, [TURN_AND + COMES]),
        ({"radians": True}, ["they are in radians"]),
        ({"leads": True, "radians": True}, [TURN_AND + LEADS, "they are in radians"]),
        ({"comes": True, "radians": True}, [TURN_AND + COMES, "they are in radians"]),
        ({"longest": 16.0, "leads": True}, [TURN_AND + LEADS]),
        ({"longest": 7.0, "leads": True}, []),
        ({"height": 0.3, "leads": True}, []),
    ],
)
def test_the_longest_waves_tell_the_convention(wrong, said, depth):
    """Heave 1, surge and sway a quarter behind, roll and pitch the slope of the water: limits of small bodies. Where
    heave does not follow the waves, nothing is said."""
    found = told_of(changed(**wrong), depth)
    assert len(found) == len(said)
    for text, part in zip(found, said, strict=True):
        assert part in text, text


def test_what_a_body_without_damping_cannot_tell():
    """Leads and headings from which waves come are the same where heave has no phase: both are named."""
    k = (2.0 * math.pi / 20.0) ** 2 / 9.81
    rows_ = [
        (h, 20.0, *np.ravel([(1.0, p), (0.0, 0.0), (1.0, 0.0), (0.0, 0.0), (math.degrees(k), -p), (0.0, 0.0)]))
        for h, p in ((0.0, 90.0), (180.0, -90.0))
    ]
    table = np.array(rows_)
    assert told_of(table, 4000) == []
    table[:, 3::2] *= -1.0
    (text,) = told_of(table, 4000)
    assert LEADS in text and COMES in text
    table[:, 7] = 180.0
    assert "is z down?" in told_of(table, 4000)[0]


def test_a_calm_sea_and_a_turned_vessel_are_told():
    text = HEAD.format(heading="").replace("*WAVE, TYPE=AIRY, WAVE PERIOD, RAMP=9\n1, 8\n", "") + PLAIN
    model = parse_deck(
        text.replace("3, 1, 3\n", "3, 1, 3\n1, 1, 6\n") + STEP.replace("*END", "*BOUNDARY\n1, 6, 6, 0.1\n*END")
    )
    assert "RAO=BOX has no effect: the deck has no *WAVE" in model.notices
    assert any("rotations of *BOUNDARY add" in text for text in model.notices)


@pytest.mark.parametrize(("heading", "is_told"), [
    (", HEADING=-30", True), (", HEADING=-30, ROTATION=VECTOR", False), ("", False), (", ROTATION=RPY", False),
])  # fmt: skip
def test_angles_that_follow_one_another_about_the_axes_of_the_model_are_told(heading, is_told):
    """Rz(y) Ry(p) Rx(r) of angles about the axes of the vessel and of the model differ, unless these are the same."""
    told = [notice for notice in model_of(PLAIN, heading).notices if "differ if the whole model is turned" in notice]
    assert len(told) == is_told


def test_phases_of_round_off_are_no_mistake():
    """WAMIT computes with single precision: what is nothing has any phase (yaw of a round hull, MSS's cylinder.4)."""
    lines = "5, 0, 3, 0.9, -30, 0.779423, -0.45\n5, 0, 6, 1.485794E-11, 90, -1.760380E-12, 1.475328E-11\n"
    found = raos_of("*RAO, NAME=BOX, FORMAT=WAMIT, OUTSIDE=HOLD\n" + lines + lines.replace("5, 0,", "5, 60,"))
    assert found.rows[0][4] == pytest.approx(0.9, rel=1e-6) and found.rows[0][10] == pytest.approx(30.0, rel=1e-5)
