"""Moorings of several lines: ``fem line --spread``, own line types, lines and vessels of ``fem.Builder``."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.lines.spans import LineSection, section_of
from fem.model.facts import natural_lengths

ENDS = {"first": (-837.6, 0.0, -200.0), "last": (-58.0, 0.0, -14.0), "depth": 200.0}
CHAIN = LineSection("chain", 0.333, 685.0, 3.27e9)
TYPES = (
    "name, diameter, mass, stiffness, volume_diameter, drag, source\nIEA, 0.333, 685, 3.27e9, , 1.11, a data sheet\n"
)


@pytest.mark.long
def test_lines_of_a_spread_are_one_line_turned(tmp_path):
    """Horizontal forces of equal lines at equal angles cancel, vertical ones add up; each has the tension asked for."""
    deck = fem.line(section=CHAIN, tension=2.436e6, bars=20, spread=3, output=tmp_path / "spread.inp", **ENDS)
    single = fem.line(section=CHAIN, tension=2.436e6, bars=20, output=tmp_path / "one.inp", **ENDS)
    history, one = fem.run(deck), fem.run(single)
    alone = one.of_node(21, "EF")[-1]
    assert history.of_node(1, "RF")[-1] == pytest.approx([0.0, 0.0, 3.0 * alone[2]], abs=1e-5 * 2.4e6)
    for label, azimuth in ((1021, 180.0), (2021, -60.0), (3021, 60.0)):
        assert history.of_node(label, "TE")[-1] == pytest.approx(2.436e6, rel=1e-4)
        assert history.of_node(label, "AZIM")[-1] == pytest.approx(azimuth, abs=1e-6)


def test_a_vessel_of_a_spread_moves_by_its_parameters(tmp_path):
    deck = fem.line(section=CHAIN, length=850.0, bars=20, spread=[0, 120, 240], output=tmp_path / "a.inp", **ENDS)
    history = fem.run(deck, parameters={"surge": 10.0})
    moored = fem.mooring(deck, after=1, offset=10.0, points=1, headings=[0.0])
    assert history.of_node(2021)[-1] == pytest.approx([10.0, 0.0, 0.0])
    assert history.of_node(1, "RF")[-1] == pytest.approx(-moored.paths[0.0][-1].force[:3], rel=1e-4, abs=10.0)


def test_own_line_types_stand_beside_the_catalogue(tmp_path):
    types = tmp_path / "types.csv"
    types.write_text(TYPES)
    deck = fem.line(section="iea", types=types, length=850.0, output=tmp_path / "a.inp", **ENDS)
    text = deck.read_text()
    assert "** diameter, mass, stiffness, drag: a data sheet" in text and "LINE, PB, 1., 0.333" in text
    assert fem.read_deck(fem.line(section="wire-90", types=types, length=850.0, output=tmp_path / "b.inp", **ENDS))


def test_segments_of_one_type_are_one_line(tmp_path):
    whole = fem.run(fem.line(section=CHAIN, length=850.0, bars=20, spread=3, output=tmp_path / "a.inp", **ENDS))
    halves = [(CHAIN, 340.0), (CHAIN, 510.0)]
    parts = fem.run(fem.line(segments=halves, bars=20, spread=3, output=tmp_path / "b.inp", **ENDS))
    assert parts.of_node(2021, "TE")[-1] == pytest.approx(whole.of_node(2021, "TE")[-1], rel=1e-9)
    assert parts.of_node(1, "RF")[-1] == pytest.approx(whole.of_node(1, "RF")[-1], abs=1e-3)


def test_a_segment_without_a_length_meets_the_tension(tmp_path, monkeypatch):
    """Chain, rope, chain, by the command: tension at the fairlead; supports carry the weight in water of the natural
    lengths, none of which lies on the bottom; each line is a set, and each segment."""
    monkeypatch.chdir(tmp_path)
    words = "--first=-837.6,0,-200 --last=-58,0,-14 --depth 200 --spread 3 --bars 30 --tension 2e6"
    words += " --segment R4-studless-142,50 --segment polyester-200 --segment R4-studless-142,50"
    assert main(["line", *words.split()]) == 0
    model = fem.read_deck("line.inp")
    history = fem.run(model)
    assert history.of_node(3031, "TE")[-1] == pytest.approx(2e6, rel=1e-3)
    mesh = model.mesh
    assert [mesh.element_labels[mesh.element_sets[f"LINE{k}"]].tolist()[-1] for k in (1, 2, 3)] == [1030, 2030, 3030]
    lengths = natural_lengths(mesh, model.rest_lengths)
    assert [lengths[mesh.element_sets[f"SEGMENT{n}"]].sum() for n in (1, 3)] == pytest.approx([150.0, 150.0])
    weight = 0.0
    for n, name in ((1, "R4-studless-142"), (2, "polyester-200"), (3, "R4-studless-142")):
        own = section_of(name)
        in_water = own.mass - 1025.0 * np.pi / 4.0 * own.volume_diameter**2
        weight += lengths[mesh.element_sets[f"SEGMENT{n}"]].sum() * in_water * 9.81
    carried = sum(history.of_node(node, "RF")[-1][2] for node in (1, 1001, 2001, 3001))
    assert carried == pytest.approx(weight, rel=5e-3)  # displaced is what is stretched


@pytest.mark.parametrize(
    "options, message",
    [
        ({"section": CHAIN}, "a line has either a section or segments"),
        ({"length": 850.0}, "segments have lengths of their own"),
        ({"tension": 1e6}, "--tension needs one segment without a length"),
        ({"segments": [(CHAIN, 425.0), (CHAIN, None)]}, "one of length, tension, sag must say"),
        ({"segments": [(CHAIN, -425.0)]}, "the length of a segment must be positive, got -425"),
        ({"segments": [("chian-90", 425.0)]}, "there is no section 'chian-90' in the catalogue"),
        ({"modules": [(9.0, 20.0, 8.0, 1.0)]}, "a line of segments has no buoyancy modules"),
        ({"bars": 3}, "a line needs at least 4 bars, got 3"),
    ],
)
def test_segments_that_cannot_be_are_refused(options, message, tmp_path):
    given = {"segments": [(CHAIN, 425.0), (CHAIN, 425.0)], "output": tmp_path / "a.inp", **ENDS, **options}
    with pytest.raises(fem.CommandError, match=message):
        fem.line(**given)


@pytest.mark.parametrize(
    "words, message",
    [
        ("--segment wire-90,300 --section wire-90", "--segment has a line type of its own: leave out --section"),
        ("", "one of length, tension, sag must say how the line hangs, got none"),
    ],
)
def test_words_of_segments_that_cannot_be_are_refused(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = words or "--section wire-90"
    assert main(["line", "--last=-58,0,-14", "--depth", "200", *words.split()]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "line.inp").exists()


@pytest.mark.parametrize(
    "text, message",
    [
        ("name,diameter,mass\n", "types.csv:1: a table of line types needs the columns stiffness"),
        (TYPES.replace("drag", "drug"), "types.csv:1: there is no column drug; there are name, diameter"),
        (TYPES.replace("685", "heavy"), "types.csv:2: line type IEA: 'heavy' is not a number"),
        (TYPES.replace("685", "-1"), "types.csv:2: line type IEA: the mass of a line must be positive"),
        (TYPES.replace("685", ""), "types.csv:2: line type IEA: it has no mass"),
    ],
)
def test_tables_of_types_that_cannot_be_are_refused(text, message, tmp_path):
    types = tmp_path / "types.csv"
    types.write_text(text)
    with pytest.raises(fem.CommandError, match=message):
        fem.line(section="IEA", types=types, length=850.0, output=tmp_path / "a.inp", **ENDS)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"spread": [0, 90, 450]}, "two lines of a spread have the same heading"),
        ({"spread": 3, "modules": [(100, 200, 300.0, 1.0)]}, "a spread has no modules"),
        ({"sea": (4.0, 10.0), "depth": None, "first": (-837.6, 0, -200)}, "waves need water"),
        ({"spread": 3, "first": (0, 0, -200), "last": (0, 0, -14)}, "a line on the axis of its spread"),
        ({"spread": 0}, "a spread needs 1 line or more"),
    ],
)
def test_spreads_that_cannot_be_are_refused(options, message, tmp_path):
    with pytest.raises(fem.CommandError, match=message):
        fem.line(section=CHAIN, length=850.0, output=tmp_path / "a.inp", **{**ENDS, **options})


def test_lines_of_the_builder_meet_a_tension_a_sag_or_a_length():
    """Against the deck that ``fem line`` writes for the same line, and the sag by the coordinates."""
    made = fem.Builder("Lines, SI units")
    made.water(200.0, gravity=9.81)
    chain = made.line(ENDS["first"], ENDS["last"], CHAIN, tension=2.436e6)
    hangs = made.line((0.0, 0.0, -20.0), (200.0, 0.0, -20.0), CHAIN, sag=12.0)
    made.support([chain[0], hangs[0], hangs[-1]])
    ship = made.vessel((0.0, 0.0, 0.0), chain[-1:])
    made.static(gravity=9.81)
    made.static()
    made.move(ship, 1, 5.0)
    history = fem.run(made.model())
    at_rest = list(history.step).index(2)
    assert history.of_node(chain[-1], "TE")[at_rest] == pytest.approx(2.436e6, rel=1e-4)
    assert history.positions(int(hangs[10]))[at_rest][2] == pytest.approx(-32.0, abs=1e-3)
    assert history.of_node(chain[-1])[-1] == pytest.approx([5.0, 0.0, 0.0])
    assert history.of_node(ship, "RF")[-1] == pytest.approx(history.of_node(chain[-1], "RF")[-1])


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "one of length, tension, sag"),
        ({"length": 850.0, "sag": 3.0}, "one of length, tension, sag"),
        ({"length": 850.0, "bars": 0}, "at least 1 bar"),
    ],
)
def test_lines_of_the_builder_that_cannot_be_are_refused(given, message):
    with pytest.raises(fem.CommandError, match=message):
        fem.Builder("Lines").line((0, 0, 0), (100, 0, 0), CHAIN, **given)


def test_a_line_that_cannot_reach_its_end_names_the_call():
    made = fem.Builder("Lines, SI units")
    made.line((0.0, 0.0, 0.0), (100.0, 0.0, 0.0), CHAIN, tension=1.0)
    made.static(gravity=9.81)
    with pytest.raises(fem.DeckError, match=r"test_spread\.py"):
        made.model()
    assert np.isfinite(CHAIN.mass)


def test_a_vessel_of_a_spread_follows_its_rao_in_a_sea(tmp_path, monkeypatch):
    """About its offset, as the RAO says: waves of unit amplitude in all, surge a quarter of a period behind; the bow
    points against them."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{period}, {heading}, 0.5, 0, 0, 0, 1, 0" for period in (2, 60) for heading in (0, 180)]
    head = "period, heading, surge, surge phase, sway, sway phase, heave, heave phase"
    (tmp_path / "box.csv").write_text("\n".join([head, *rows, ""]))
    words = "--first=-837.6,0,-200 --last=-58,0,-14 --depth 200 --spread 3 --bars 12 --length 850 --time 25"
    words += " --section R4-studless-142 --sea 4,10 --rao box.csv"
    assert main(["line", *words.split()]) == 0
    history = fem.run("line.inp", parameters={"surge": 5.0, "heave": -1.0})
    last = history.of_step(3)
    surge, _, heave = (history.of_node(1013) - [5.0, 0.0, -1.0])[last].T
    assert np.ptp(heave) > 2.0
    assert surge == pytest.approx(-0.5 * heave, abs=1e-9)
    assert np.ptp(history.of_node(2013, "TE")[last]) > 1e4


def test_a_vessel_of_a_spread_moves_as_a_cosine(tmp_path):
    given = {"section": CHAIN, "length": 850.0, "bars": 8, "spread": 3, "stream": (0.5, 0.0)}
    deck = fem.line(**given, motion=(2.0, 0.0, 0.5), period=8.0, time=6.0, output=tmp_path / "a.inp", **ENDS)
    history = fem.run(deck)
    last = history.of_step(3)
    time = history.time[last]
    wave = np.cos(2.0 * np.pi * (time - time[0]) / 8.0)
    assert history.of_node(3009)[last] == pytest.approx(np.outer(wave, [2.0, 0.0, 0.5]), abs=1e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--bow 90", "--bow is the heading of a vessel with --rao"),
        ("--sea 4,-10", "a sea needs a positive height and period"),
        ("--rao box.csv", "an RAO moves the vessel of a spread in a sea"),
        ("--sea 4,10 --rao wrong.csv", "wrong.csv is not a table of an RAO"),
    ],
)
def test_what_a_sea_lacks_is_said(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "box.csv").write_text("period, heading, surge, surge phase\n5, 0, 1, 0\n")
    (tmp_path / "wrong.csv").write_text("period, surge\n5, 1\n")
    line = "line --last=-58,0,-14 --first=-837.6,0,-200 --depth 200 --spread 3 --length 850 --section wire-90"
    assert main([*line.split(), *words.split()]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "line.inp").exists()
