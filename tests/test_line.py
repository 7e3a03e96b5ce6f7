"""``fem line``: what its decks say, the catalogue, and what it refuses."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.lines.spans import TABLE, section_of

ROOT = Path(__file__).resolve().parents[1]
CHAIN = "--last 796,0,-14 --depth 200 --section R4-studless-142 --length 850"
SPAN = "--last 300,40,28 --first 0,0,20 --section drake"


def deck_of(tmp_path, words):
    """The text that the command writes."""
    deck = tmp_path / "line.inp"
    assert main(["line", *words.split(), "--output", str(deck), "--force"]) == 0
    return deck.read_text()


@pytest.mark.parametrize(("grade", "size", "load"), [("R3", 40, 1456), ("R3S", 50, 2490), ("R4", 60, 3867)])
def test_breaking_loads_of_chains(grade, size, load):
    """IACS UR W22 as printed by makers [kN] (Pilotfits, offshore mooring chain)."""
    assert section_of(f"{grade}-studless-{size}").strength / 1e3 == pytest.approx(load, rel=5e-4)
    assert section_of(f"{grade}-studlink-{size}").strength == section_of(f"{grade}-studless-{size}").strength


def test_stiffness_of_chains_is_that_of_their_grade():
    """DNV-OS-E301 (2010): moduli on the area of two bars, d in mm; by hand."""
    area = 2.0 * math.pi / 4 * 0.1**2
    moduli = {"R3-studless": 5.0e10, "R4-studless": 5.2e10, "studless": 5.2e10, "R5-studless": 5.67e10}
    for name, young in (moduli | {"R3-studlink": 5.6e10, "studlink": 5.6e10}).items():
        assert section_of(f"{name}-100").stiffness == pytest.approx(young * area, rel=3e-4)


def test_densities_are_those_of_the_materials():
    """Mass over displaced volume: steel, polyester; conductors of aluminium and steel weigh 3474 kg/m^3 of wire."""
    for name, density in (("studless-100", 7850), ("studlink-100", 7850), ("polyester-180", 1380)):
        made = section_of(name)
        assert made.mass / (math.pi / 4 * made.volume_diameter**2) == pytest.approx(density, rel=0.01)
    for name in ("drake", "gannet", "grosbeak", "dove"):
        made = section_of(name)
        area = made.stiffness / (10.755e6 * 6894.757)
        assert made.mass / area == pytest.approx(3474, rel=2e-3)
        assert area < math.pi / 4 * made.diameter**2 < 1.4 * area  # wires leave gaps


def test_every_number_of_the_catalogue_has_a_source():
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 50 and all(row["source"] and row["how"] and float(row["factor"]) for row in rows)


def test_what_is_asked_for_is_how_the_line_hangs(tmp_path):
    """Sag from the chord at half span, tension at the last end: that of the last bar and half of its weight."""
    model = fem.parse_deck(deck_of(tmp_path, f"{SPAN} --sag 9 --bars 40"))
    place = model.mesh.coordinates[np.argsort(model.mesh.node_labels)]
    assert place[[0, -1]].tolist() == [[0, 0, 20], [300, 40, 28]]
    middle = np.interp(0.5 * math.hypot(300, 40), np.hypot(*place[:, :2].T), place[:, 2])
    assert middle == pytest.approx(24 - 9, abs=1e-6)
    model = fem.parse_deck(deck_of(tmp_path, f"{SPAN} --tension 25e3 --bars 40"))
    history = fem.run(model)
    assert np.linalg.norm(history.of_node(41, "RF")[-1]) == pytest.approx(25e3, rel=1e-6)
    assert {rest.length for rest in model.rest_lengths} == {model.rest_lengths[0].length}


def test_mass_and_stiffness_are_those_of_the_section(tmp_path):
    model = fem.parse_deck(deck_of(tmp_path, "--last 30,0,8 --EA 2e6 --mass 3.5 --diameter 0.04 --length 33 --bars 3"))
    (material,) = model.materials.values()
    assert (material.density, material.young, model.sections[0].area) == (3.5, 2e6, 1.0)
    assert sum(rest.length for rest in model.rest_lengths) == pytest.approx(33, rel=1e-12)


def test_lines_that_bend(tmp_path):
    """E I is that of the options; at mid span of a taut line the curvature is w/T, ends being far beside sqrt(EI/T)."""
    words = "--first 0,0,0 --last 60,0,0 --EA 4.69e8 --EI 1.99e4 --mass 36.7 --diameter 0.16 --sag 6 --bars 40"
    text = deck_of(tmp_path, words)
    model = fem.parse_deck(text)
    assert model.sections[0].inertia * model.materials["LINE"].young == pytest.approx(1.99e4)
    history = fem.run(fem.parse_deck(text.replace("U, RF\n", "U, RF, SK\n")))
    expected = 36.7 * 9.81 / history.of_element(20, "T")[-1]
    table = history.table("nodes")
    assert table["SK"][table["node"] == 21][-1] == pytest.approx(expected, rel=1e-3)


def test_the_command_of_the_page_writes_the_deck_of_inputs(tmp_path):
    page = (ROOT / "docs" / "bending.md").read_text()
    command = re.search(r"python -m fem line (.*?) --output lazy_wave_laid.inp", page, re.S)[1].replace("\\\n", " ")
    assert deck_of(tmp_path, command) == (ROOT / "inputs" / "lazy_wave_laid.inp").read_text()


def test_buoyancy_modules_make_a_lazy_wave(tmp_path):
    """Where they are the line weighs, displaces and is dragged as with them; it rises there, and lies at its anchor.

    Tension at the hang-off: CableDyn 0.3, of which OrcaFlex differs by 0.01 %.
    """
    words = "--first 125,0,-80 --last 5,0,-14 --depth 80 --length 170.215 --EA 4.69e8 --EI 1.99e4 --mass 36.7"
    words += " --diameter 0.16 --modules 52.101,102.101,59.53,0.29 --bars 50 --stream 0.1,0"
    model = fem.parse_deck(deck_of(tmp_path, words).replace("9.81", "9.80665"))
    sets = model.mesh.element_sets
    heavy = np.asarray(sets["MODULES1"]).size
    assert heavy + np.asarray(sets["BARE"]).size == 50 and heavy * 170.215 / 50 == pytest.approx(50, abs=2)
    assert sum(rest.length for rest in model.rest_lengths) == pytest.approx(170.215, rel=1e-12)
    assert {material.density for material in model.materials.values()} == {36.7, 59.53}
    drag = [load for load in model.steps[1].fluid_loads if load.kind == "FDD"]
    assert {load.target: load.diameter for load in drag} == {"BARE": 0.16, "MODULES1": 0.29}
    history = fem.run(model)
    end = np.flatnonzero(history.of_step(1))[-1]
    height = [history.of_node(node)[end][2] + model.mesh.coordinates[model.mesh.nodes_of(node)[0], 2]
              for node in range(1, 52)]  # fmt: skip
    assert np.linalg.norm(history.of_node(51, "RF")[end]) == pytest.approx(9320, rel=1e-3)
    assert max(np.abs(np.array(height[:8]) + 80)) < 1e-3 and max(height[16:30]) - min(height[34:]) > 4


@pytest.mark.parametrize("words", [f"{SPAN} --sag 9", CHAIN])
def test_a_line_at_rest_takes_less_than_forty_lines(tmp_path, words):
    assert len(deck_of(tmp_path, words).splitlines()) < 40


def test_sizes_and_speeds_are_parameters(tmp_path):
    text = deck_of(tmp_path, f"{CHAIN} --stream 0.5,0.2 --motion 4,0,2 --period 12")
    given = dict(re.findall(r"^(\w+) = (\S+)$", text, re.M))
    assert given.items() >= {"length": "850.0", "current_x": "0.5", "surge": "4.0", "heave": "2.0"}.items()
    assert all(f"<{name}>" in text for name in given if name != "period") and "sway" not in given
    turned = fem.parse_deck(deck_of(tmp_path, f"{SPAN} --sag 9 --bars 4"), {"sag": 12.0}).mesh.coordinates
    assert turned[:, 2].min() < 24 - 11.9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--last 1,0,0 --section R9-studless-30 --sag 1", "there is no section 'R9-studless-30' in the catalogue"),
        ("--last 1,0,0 --section chain --sag 1", "polyester-MM (MM: nominal diameter in mm"),
        ("--last 1,0,0 --EA 100 --sag 1", "or its numbers (diameter, mass)"),
        ("--last 1,0,0 --section drake --mass 2 --sag 1", "has its own numbers: leave out mass"),
        ("--last 0,0,0 --section drake --sag 1", "both ends of the line are at the same point"),
        (f"{CHAIN} --motion 1,0,0", "a motion needs amplitudes and a period"),
        (f"{SPAN} --sag 1 --friction 1", "friction needs a seabed"),
        ("--last 9,0,0 --section drake --sag 1 --stream 9,0", "wind acts above z = 0"),
        (f"{CHAIN} --modules 300,900,800,2", "parts with buoyancy modules must follow each other from 0 to 850"),
        (f"{CHAIN} --modules 9,9,800,2", "parts with buoyancy modules must follow each other"),
        (f"{SPAN} --length 320 --modules 9,20,8,1", "buoyancy modules need water"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["line", *words.split()]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "line.inp").exists()


def test_decks_of_others_are_left_alone(tmp_path):
    deck = fem.line((9, 0, 5), section="dove", sag=0.5, output=tmp_path / "line.inp")
    assert fem.line((9, 0, 5), section="dove", sag=0.5, output=deck) == deck
    with pytest.raises(CommandError, match="contains another deck"):
        fem.line((9, 0, 5), section="dove", sag=0.6, output=deck)
    with pytest.raises(CommandError, match="one of length, tension, sag"):
        fem.line((9, 0, 5), section="dove", sag=0.6, length=11.0)


def test_a_moored_line_follows_its_end(tmp_path):
    """Over a bottom, in a current, moved: what is said of its start holds, and the end is where the cosine puts it."""
    words = f"{CHAIN} --bars 12 --stream 0.5,0 --motion 4,0,2 --period 12 --friction 0.6 --time 1.2"
    history = fem.run(fem.parse_deck(deck_of(tmp_path, words)))
    pull = float(re.search(r"(\S+) at node 13", str(history.notices)).group(1).rstrip(","))
    start = np.flatnonzero(history.of_step(1))[-1]
    assert np.linalg.norm(history.of_node(13, "RF")[start]) == pytest.approx(pull, rel=2e-3)  # the bottom gives way
    rows = np.flatnonzero(history.of_step(3))
    cosine = np.cos(2 * math.pi * (history.time[rows] - 2.0) / 12)
    assert history.of_node(13)[rows] == pytest.approx(np.outer(cosine, [4, 0, 2]), abs=1e-9)
    assert history.of_node(13, "RF")[rows[-1], 0] > 0.0


RECORD = "time, Surge, heave\n" + "".join(f"{t / 10}, {3 - t / 10}, {0.2 * t}\n" for t in range(13))


def test_the_end_follows_a_record(tmp_path):
    """A table beside the deck: straight lines in time, which splines keep; the line begins where they do."""
    (tmp_path / "motion.csv").write_text(RECORD)
    deck_of(tmp_path, f"{CHAIN} --bars 8 --record {tmp_path / 'motion.csv'}")
    history = fem.run(tmp_path / "line.inp")
    rows = np.flatnonzero(history.of_step(3))
    since = history.time[rows] - 2.0
    assert since[-1] == pytest.approx(1.2)
    assert history.of_node(9)[rows] == pytest.approx(np.column_stack([3 - since, 0 * since, 2 * since]), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECORD.replace("0.0,", "-1.0,", 1), "begins at time -1; the motion of a line must begin at time 0"),
        (RECORD.replace("Surge, heave", "x, y"), "has no column surge, sway or heave"),
        (RECORD.replace("3.0", "three"), "is not a table of numbers"),
        ("", "has no column surge"),
    ],
)
def test_records_that_are_none(tmp_path, text, message):
    (tmp_path / "motion.csv").write_text(text)
    with pytest.raises(CommandError, match=message):
        fem.line((9, 0, 5), section="dove", sag=0.5, record=tmp_path / "motion.csv", output=tmp_path / "line.inp")


def test_increments_of_the_motion_become_shorter_where_their_error_asks_for_it(tmp_path):
    """As where a line snaps taut; none is longer than ``--dt``."""
    text = deck_of(tmp_path, CHAIN + " --motion 4,0,0 --period 12 --dt 0.06")
    step = fem.parse_deck(text).steps[-1]
    assert (step.procedure.direct, step.procedure.dt, step.procedure.dt_max) == (False, 0.06, 0.06)
    assert (step.controls.time_error, step.controls.tension_change) == (5e-4, 0.3)


def test_lines_that_move_have_internal_damping(tmp_path):
    """BETA = 0.3 L0/c, unless another fraction of the critical damping is asked for; at rest there is none."""
    moved = CHAIN + " --motion 4,0,0 --period 12"
    made = section_of("R4-studless-142")
    passing = 850 / 50 * math.sqrt(made.mass / made.stiffness)
    for words, fraction in ((moved, 0.3), (moved + " --damping 0.8", 0.8), (moved + " --damping 0", 0.0), (CHAIN, 0.0)):
        (material,) = fem.parse_deck(deck_of(tmp_path, words)).materials.values()
        assert material.beta == pytest.approx(fraction * passing, rel=1e-5)
