"""``*NGEN, LINE=CATENARY``: where its nodes go, what its bars become, and what statics says about it."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from benchmarks.reliability.random_lines import MOST_SOLVES, starts
from fem.deck import deck_reader, parse_deck, read_deck, write_deck
from fem.errors import DeckError
from fem.model import Model
from tests.decks import run_text

LINE = """*PARAMETER
length = 120.
*NODE
1, 0., 0., 0.
21, 80., 30., 40.
*NGEN, LINE=CATENARY, NSET=LINE{options}
{pieces}
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 20
*ELSET, ELSET=UPPER, GENERATE
13, 20
*ELSET, ELSET=LOWER, GENERATE
1, 12
*MATERIAL, NAME=CHAIN
*ELASTIC
1e6
*DENSITY
30.
*NO COMPRESSION
*MATERIAL, NAME=ROPE
{rope}
*DENSITY
8.
*NO COMPRESSION
*SOLID SECTION, ELSET=LOWER, MATERIAL=CHAIN, STRAIN=ENGINEERING
0.5
*SOLID SECTION, ELSET=UPPER, MATERIAL=ROPE, STRAIN={strain}
0.25
*BOUNDARY
1, 1, 3
21, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC, DIRECT
1., 1.
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
LINE, GRAV, 9.81, {gravity}
*NODE PRINT, NSET=LINE
COORD, RF
*EL PRINT, ELSET=LINE
T
*END STEP
"""
WHOLE, TWO = "1, 21, 1, <length>", "1, 13, 1, 80.\n13, 21, 1, 35."
ELASTIC, ROPE = "*ELASTIC\n4e5", "*INEXTENSIBLE"


def deck(pieces: str = WHOLE, options: str = "", strain: str = "ENGINEERING", rope: str = ELASTIC,
         gravity: str = "0., 0., -1.") -> str:  # fmt: skip
    return LINE.format(pieces=pieces, options=options, strain=strain, rope=rope, gravity=gravity)


def length_of(model: Model) -> float:
    """Of all bars."""
    return sum(rest.length for rest in model.rest_lengths)


@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN", "LOG"])
@pytest.mark.parametrize("pieces", [WHOLE, TWO])
@pytest.mark.parametrize("gravity", ["0., 0., -1.", "0., -1., 0.", "0., 0., 1.", "0.6, 0., -0.8"])
def test_the_line_is_in_equilibrium_as_it_stands(strain, pieces, gravity):
    """Any law, uniform or composite, any direction of gravity: statics moves no node, in at most three solves."""
    history = run_text(deck(pieces, strain=strain, gravity=gravity))
    assert history.iterations[-1] <= 3
    assert np.abs(history.u[-1]).max() < 1e-9 * 120
    tension = history.elements[-1, :, 3]
    assert tension.min() > 0.0
    weight = 9.81 * (30 * 0.5 * (72 if pieces == WHOLE else 80) + 8 * 0.25 * (48 if pieces == WHOLE else 35))
    total = history.reactions[-1].reshape(-1, 3).sum(axis=0)
    assert total == pytest.approx(-weight * np.array([float(c) for c in gravity.split(",")]), abs=1e-6)


@pytest.mark.parametrize("procedure", ["*DYNAMIC, DIRECT\n0.01, 0.2", "*DYNAMIC, EXPLICIT, DIRECT\n1e-4, 0.02"])
def test_it_stays_where_it_is_when_time_begins_at_once(procedure):
    """No static step is needed: nothing accelerates, and stored energy is that of the tensions."""
    history = run_text(deck(TWO).replace(", AMPLITUDE=STEP\n*STATIC, DIRECT\n1., 1.", f"\n{procedure}"))
    assert np.abs(history.u[-1]).max() < 1e-9 and np.abs(history.a[0]).max() < 1e-8 * 9.81
    tension = history.elements[0, :, 3]
    length = np.array([80 / 12] * 12 + [35 / 8] * 8)
    stiffness = np.array([0.5e6] * 12 + [1e5] * 8)
    assert history.energy[0, 1] == pytest.approx((0.5 * tension**2 * length / stiffness).sum(), rel=1e-9)


@pytest.mark.parametrize("gravity", ["0., 0., -1.", "0.6, 0., -0.8", "-0.48, 0.6, 0.64"])
def test_an_end_straight_above_the_other_has_the_line_fold(gravity):
    """Two legs along gravity, less than one bar away from each other; statics moves nothing."""
    along = -30.0 * np.array([float(c) for c in gravity.split(",")])
    folded = deck(gravity=gravity).replace("21, 80., 30., 40.", "21, " + ", ".join(map(repr, along.tolist())))
    history = run_text(folded)
    x = history.mesh.coordinates[np.argsort(history.mesh.node_labels)]
    assert np.linalg.norm(np.cross(x, along)) / 30.0 < 6.0
    assert np.abs(history.u[-1]).max() < 1e-6


def test_ropes_and_rods_hang_in_catenaries_too():
    """Multipliers take the tensions that were found: a composite of a chain and an inextensible rope."""
    history = run_text(deck(TWO, rope=ROPE))
    assert np.abs(history.u[-1]).max() < 1e-7
    vector = np.diff(history.mesh.coordinates[np.argsort(history.mesh.node_labels)], axis=0)
    assert np.linalg.norm(vector[12:], axis=1) == pytest.approx(35 / 8, rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "value", "found"),
    [
        ("TENSION", 9000.0, lambda history: np.linalg.norm(history.of_node(21, "reactions")[-1])),
        ("HORIZONTAL TENSION", 2500.0, lambda history: np.linalg.norm(history.of_node(21, "reactions")[-1, :2])),
        ("SAG", 25.0, lambda history: 20.0 - np.interp(0.5, *shares(history))),
    ],
)
@pytest.mark.parametrize("pieces", ["1, 21, 1", "1, 13, 1, 80.\n13, 21, 1", "1, 13, 1\n13, 21, 1, 35."])
@pytest.mark.sampled
def test_the_length_that_is_blank_follows_from_what_is_asked(asked, value, found, pieces):
    history = run_text(deck(pieces, f", {asked}={value}"))
    assert found(history) == pytest.approx(value, rel=1e-7)
    assert ("the shorter of two" in str(history.notices)) == (asked == "TENSION")


def shares(history: fem.History) -> tuple[np.ndarray, np.ndarray]:
    """Fractions of the distance between the ends, and heights, of all nodes."""
    x = history.mesh.coordinates[np.argsort(history.mesh.node_labels)]
    return x[:, 0] / 80.0, x[:, 2]


def test_weight_is_given_or_that_of_the_first_step():
    """rho A g = 30 * 0.5 * 9.81 of a uniform line; WEIGHT needs no gravity, and hangs the line along z."""
    uniform = deck().replace("MATERIAL=ROPE", "MATERIAL=CHAIN").replace("0.25", "0.5")
    own = parse_deck(uniform)
    given = parse_deck(uniform.replace("NSET=LINE\n", f"NSET=LINE, WEIGHT={30 * 0.5 * 9.81!r}\n", 1))
    assert given.mesh.coordinates == pytest.approx(own.mesh.coordinates, abs=1e-9)
    alone = parse_deck(uniform.replace("NSET=LINE\n", "NSET=LINE, WEIGHT=3.\n", 1).replace("9.81", "0."))
    assert alone.mesh.coordinates[5, 2] < 0.0
    floats = parse_deck(uniform.replace("NSET=LINE\n", "NSET=LINE, WEIGHT=-3.\n", 1).replace("9.81", "0."))
    assert floats.mesh.coordinates[2:, 2].max() > 40.0


WET = "*AQUA\n-100., 60., 9.81, 1025.\n*MARINE GROWTH, ELSET=LOWER, DIAMETER=0.05\n0.02, 1300.\n*BOUNDARY\n1, 1, 3"


def test_what_water_carries_does_not_weigh():
    """PB on the diameter with its growth: the line is that of the weights left; and it is at rest in the water."""
    loads = "LOWER, PB, 1., 0.05\nUPPER, PB, 1., 0.03\n*NODE PRINT"
    wet = deck(TWO).replace("*BOUNDARY\n1, 1, 3", WET).replace("*NODE PRINT", loads)
    grown = 0.25 * np.pi * (0.09**2 - 0.05**2)
    left = np.array([15.0 + 1300 * grown, 2.0]) - 1025 * 0.25 * np.pi * np.array([0.09**2, 0.03**2])
    dry = deck(TWO).replace("30.\n*NO", f"{float(left[0] / 0.5)!r}\n*NO")
    dry = dry.replace("8.\n*NO", f"{float(left[1] / 0.25)!r}\n*NO")
    assert parse_deck(wet).mesh.coordinates == pytest.approx(parse_deck(dry).mesh.coordinates, rel=1e-9, abs=1e-9)
    history = run_text(wet.replace("0.02, 1300.", "0., 1300."))
    assert np.abs(history.u[-1]).max() < 1e-7


def test_a_flat_line_hangs_along_y():
    flat = deck().replace("T3D2", "T2D2").replace("30., 40.", "30.").replace("9.81", "0.").replace(
        "NSET=LINE\n", "NSET=LINE, WEIGHT=3.\n", 1
    )  # fmt: skip
    model = parse_deck(flat)
    assert not model.mesh.coordinates[:, 2].any() and model.mesh.coordinates[:, 1].min() < -20.0


def test_the_model_reads_back_and_says_what_was_found():
    model = parse_deck(deck(TWO))
    assert length_of(model) == pytest.approx(115.0, rel=1e-14)
    assert parse_deck(write_deck(model)) == model
    assert "*NGEN, LINE=CATENARY" in model.extensions
    (notice,) = [text for text in model.notices if text.startswith("line of nodes 1 to 21: natural length 115")]
    assert "horizontal tension" in notice and ", tension " in notice and "at node 21" in notice


def test_a_ramp_that_would_take_the_weight_away_is_noticed():
    ramped = parse_deck(deck().replace(", AMPLITUDE=STEP", ""))
    assert any("AMPLITUDE=STEP" in text for text in ramped.notices)
    assert not any("AMPLITUDE=STEP" in text for text in parse_deck(deck()).notices)


def test_a_swept_length_gives_the_line_of_each_reading(tmp_path):
    path = tmp_path / "line.inp"
    path.write_text(deck())
    swept = deck_reader(path, ["length"])
    for length in (115.0, 130.0, 170.0):
        assert swept({"length": length}) == read_deck(path, {"length": length})


def test_a_deck_of_further_steps_lays_the_line_under_its_first_weight(tmp_path):
    """The load of the earlier first step, which the later ones do not repeat."""
    first, later = tmp_path / "first.inp", tmp_path / "later.inp"
    first.write_text(deck().replace("*STEP", "*RESTART, WRITE\n*STEP", 1))
    later.write_text("*RESTART, READ\n*STEP, NLGEOM\n*DYNAMIC\n0.01, 0.02\n*END STEP\n")
    model = read_deck(later, earlier=[(first, {})])
    assert np.array_equal(model.mesh.coordinates, read_deck(first).mesh.coordinates)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1, 1, 2\n*ELGEN", "1, 1, 3\n*ELGEN", "no bar connects nodes 1 and 2"),
        ("21, 80.", "22, 80.", "there is no node 21"),
        ("21, 80.", "5, 3., 3., 3.\n21, 80.", "node 5 exists already"),
        ("9.81", "0.", "the line has no weight"),
        ("LINE, GRAV", "UPPER, GRAV, 9.81, 0., 1., 0.\nLOWER, GRAV", "points in different directions"),
        ("NSET=LINE\n", "NSET=LINE, TENSION=9000.\n", "TENSION: another entry fixes the length"),
        ("NSET=LINE\n", "NSET=LINE, SEABED=YES\n", "SEABED=YES, but the bars of the line have no *SEABED below"),
        ("NSET=LINE\n", "NSET=LINE, FRICTION=YES\n", "FRICTION=YES, but the bars of the line have no"),
        (", <length>", "", "a natural length is missing"),
        (", <length>", ", -3", "the natural length must be positive, got -3"),
        ("NSET=LINE\n1, 21, 1, <length>", "NSET=LINE, TENSION=10.\n1, 21", "is not possible: the least is 6824.72"),
        (
            "21, 80., 30., 40.\n*NGEN, LINE=CATENARY, NSET=LINE\n1, 21, 1, <length>",
            "21, 0., 0., 40.\n*NGEN, LINE=CATENARY, NSET=LINE, SAG=3\n1, 21",
            "SAG has no meaning if one end",
        ),
        ("NSET=LINE\n1, 21, 1, <length>", "NSET=LINE, SAG=-1.\n1, 21", "SAG must be positive, got -1"),
        ("NSET=LINE\n1, 21, 1, <length>", "NSET=LINE, SAG=3, TENSION=5\n1, 21", "SAG: another entry"),
        ("1, 21, 1, <length>", "1, 9, 1, 40.\n10, 21, 1, 80.", "begins at node 10, the one before ends at 9"),
        ("1, 21, 1, <length>", "1, 21, 1, 60.\n21, 1, 1, 60.", "passes through the same node twice"),
        ("*BOUNDARY\n", "*REST LENGTH\n4, 6.\n*BOUNDARY\n", "element 4 has a second rest length"),
        ("LINE=CATENARY, NSET=LINE\n1, 21, 1, <length>", "NSET=LINE, SAG=3.\n1, 21", "SAG is for catenaries"),
        ("*MATERIAL, NAME=CHAIN\n*ELASTIC\n1e6", "*MATERIAL, NAME=CHAIN", "neither *ELASTIC nor *INEXTENSIBLE"),
        ("*SOLID SECTION, ELSET=UPPER", "*SOLID SECTION, ELSET=UPER", "there is no element set UPER"),
    ],
)
def test_mistakes(old, new, message):
    """One problem each, with its place; nothing is said about what follows from it."""
    text = deck()
    assert old in text
    with pytest.raises(DeckError) as caught:
        parse_deck(text.replace(old, new, 1))
    problems = caught.value.problems
    assert [message in f"{problem.message}; {problem.hint}" for problem in problems] == [True], problems


CORE = """*ELEMENT, TYPE=T3D2
101, 1, 2
*ELGEN, ELSET=CORE
101, 20
*MATERIAL, NAME=CORE
*ELASTIC
3e6
*NO COMPRESSION
*SOLID SECTION, ELSET=CORE, MATERIAL=CORE, STRAIN=ENGINEERING
0.1
"""


def pulls(history: fem.History, first: int) -> np.ndarray:
    """T of 20 bars at the end."""
    return np.array([history.of_element(first + k, "T")[-1] for k in range(20)])


def test_bars_side_by_side_are_one_line():
    """The shape is that of one line with the stiffness of both, at rest at once; each has its part of T."""
    both = deck().replace("*MATERIAL, NAME=CHAIN", f"{CORE}*MATERIAL, NAME=CHAIN", 1)
    both = both.replace("ELSET=LINE\nT", "ELSET=ALL\nT")
    both = both.replace("*BOUNDARY", "*ELSET, ELSET=ALL\nLINE, CORE\n*BOUNDARY", 1)
    two = run_text(both)
    one = run_text(deck().replace("*ELASTIC\n1e6", "*ELASTIC\n1.6e6").replace(ELASTIC, "*ELASTIC\n16e5"))
    assert np.abs(two.mesh.coordinates - one.mesh.coordinates).max() < 1e-12 * 120
    assert np.abs(two.u[-1]).max() < 1e-9
    line, core, whole = pulls(two, 1), pulls(two, 101), pulls(one, 1)
    assert line + core == pytest.approx(whole, rel=1e-9)
    share = np.array([0.5e6] * 12 + [1e5] * 8)
    assert line == pytest.approx(whole * share / (share + 3e5), rel=1e-6)


def test_a_core_of_its_own_length_keeps_it():
    """What a ``*REST LENGTH`` says of one of two bars side by side holds; the run finds the rest of them together."""
    both = deck().replace("*MATERIAL, NAME=CHAIN", f"{CORE}*MATERIAL, NAME=CHAIN", 1)
    model = parse_deck(both.replace("*BOUNDARY", "*REST LENGTH\nCORE, 6.3\n*BOUNDARY", 1))
    lengths = {rest.target: rest.length for rest in model.rest_lengths}
    assert lengths.pop("CORE") == 6.3 and set(lengths) == set(range(1, 21)) and lengths[20] == pytest.approx(6.0)
    assert any("20 bars, the first is 101, keep their *REST LENGTH" in text for text in model.notices)
    history = fem.run(model)
    assert pulls(history, 1).min() > 0.0
    assert history.reactions[-1].reshape(-1, 3)[:, 2].sum() == pytest.approx(
        9.81 * (30 * 0.5 * 72 + 8 * 0.25 * 48), rel=1e-6
    )


def test_bars_side_by_side_have_one_strain():
    both = deck().replace("*MATERIAL, NAME=CHAIN", CORE.replace("ENGINEERING", "LOG") + "*MATERIAL, NAME=CHAIN", 1)
    with pytest.raises(DeckError, match="bars between nodes 1 and 2 have different STRAIN"):
        parse_deck(both)


def test_a_line_too_short_that_keeps_its_length_is_refused():
    with pytest.raises(DeckError, match=r"natural length 90 is shorter than the distance 94\.339"):
        parse_deck(deck("1, 21, 1, 90.").replace("*ELASTIC\n1e6", "*INEXTENSIBLE").replace(ELASTIC, ROPE))


@pytest.mark.long
def test_random_lines_start_in_a_few_solves():
    """Hanging, resting, taut, slack: a hundred of the thousand of ``benchmarks.reliability.random_lines``, coarser."""
    solves, failed = starts(100, most_bars=60)
    assert not failed
    assert max(solves) <= MOST_SOLVES and solves[1] > 50


@pytest.mark.parametrize(("lift", "said"), [(2500.0, True), (0.0, False)])
def test_friction_that_a_line_with_rising_parts_is_laid_without_is_told(lift, said):
    """FRICTION=YES, a buoy above a line that lies on both sides of it; without the buoy friction acts."""
    text = deck("1, 21, 1, 140.", ", FRICTION=YES").replace("21, 80., 30., 40.", "21, 100., 0., 20.")
    text = text.replace("*STEP", "*SEABED, ELSET=LINE, ELEVATION=0., FRICTION=ALL\n1e6, 0., 0.1\n0.5, , 0.01\n*STEP", 1)
    text = text.replace("*NODE PRINT", f"*CLOAD\n9, 3, {lift!r}\n*NODE PRINT") if lift else text
    notices = parse_deck(text).notices
    assert any("lies on the seabed" in notice for notice in notices)
    assert any("FRICTION=YES has no effect on the line of nodes 1 to 21" in notice for notice in notices) == said


@pytest.mark.long_cases("97.5-GREEN", "97.5-LOG", "99.0-LOG")
@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN", "LOG"])
@pytest.mark.parametrize("length", [103.0, 99.0, 97.5])
def test_a_line_with_a_table_is_laid_in_equilibrium(strain: str, length: float) -> None:
    """Slack and taut: a static step moves nothing, and the stress S of each bar is on the curve at its strain E."""
    curve = [(0.0, 0.0), (2e5, 0.01), (8e5, 0.02), (4e6, 0.05)]
    text = (
        "*NODE\n1, 0, 0, 0\n21, 100, 0, 5\n*NGEN, LINE=CATENARY, NSET=ALL\n1, 21, 1, {length}\n"
        "*ELEMENT, TYPE=T3D2, ELSET=E\n1, 1, 2\n*ELGEN, ELSET=E\n1, 20\n*MATERIAL, NAME=M\n*UNIAXIAL\n*LOADING DATA\n"
        "{rows}*DENSITY\n50.\n*NO COMPRESSION\n*SOLID SECTION, ELSET=E, MATERIAL=M, STRAIN={strain}\n1.\n"
        "*BOUNDARY\n1, 1, 3\n21, 1, 3\n*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC\n*CONTROLS, RESI_GLOB_RELA=1e-10\n"
        "*DLOAD\nE, GRAV, 9.81, 0., 0., -1.\n*END STEP\n"
    ).format(length=length, strain=strain, rows="".join(f"{stress}, {value}\n" for stress, value in curve))
    history = fem.run(fem.parse_deck(text))
    assert max(np.abs(history.of_node(node)[-1]).max() for node in range(1, 22)) < 1e-7
    stresses, strains = np.array(curve).T
    for bar in range(1, 21):
        found = float(history.of_element(bar, "S")[-1])
        assert found == pytest.approx(np.interp(float(history.of_element(bar, "E")[-1]), strains, stresses), rel=1e-9)
        assert found > 0.0


STRETCHED_BEFORE = """*NODE
1, 0., 0., 0.
11, 100., 0., 20.
*NGEN, LINE=CATENARY
1, 11, 1, {length}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 10
*MATERIAL, NAME=M
*UNIAXIAL, LARGEST STRESS=5e5
*LOADING DATA, TYPE=PERMANENT DEFORMATION
0., 0.
2e5, 0.03
1e6, 0.1
*UNLOADING DATA, DEFINITION={unloading}
*DENSITY
{density}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
11, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*END STEP
"""


@pytest.mark.parametrize(
    ("unloading", "modulus", "length", "density"),
    [
        ("INTERPOLATED CURVE\n0., 0.04\n1e6, 0.1", 5e5 / 0.03375, 98.0, 50.0),
        ("INTERPOLATED CURVE\n0., 0.04\n1e6, 0.1", 5e5 / 0.03375, 101.0, 50.0),
        ("SHIFTED CURVE\n0., 0.\n2e5, 0.002\n1e6, 0.01", 1e8, 96.95, 5.0),
    ],
)
def test_a_line_with_a_permanent_strain_is_laid_below_its_largest_stress(unloading, modulus, length, density):
    """From a strain of 0.05625 at 5e5 (a line from 2e5, 0.03 to 1e6, 0.1) it unloads along a straight one: to 0.04/0.1
    of that strain, or by 1e8. The second line is longer than the distance of its ends with that strain only; nearly all
    strain of the third, which is taut, is permanent. Statics find all three at rest."""
    text = STRETCHED_BEFORE.format(unloading=unloading, length=length, density=density)
    history = fem.run(fem.parse_deck(text))
    assert np.abs(history.u).max() < 1e-8
    for bar in (1, 5, 10):
        strain, tension = (history.of_element(bar, name)[-1] for name in ("E", "T"))
        assert 0.0 < tension < 5e5 and tension == pytest.approx(5e5 + modulus * (strain - 0.05625), rel=1e-6)


def test_everything_that_hangs_on_a_node_or_is_gone_from_the_first_step_on_counts_once():
    """Two masses at one node add up; half of the buoyancy is M = 0.5; a load that step 1 takes off is not there."""
    masses = "*ELEMENT, TYPE=MASS, ELSET=BOBS\n51, 6\n52, 6\n*MASS, ELSET=BOBS\n40.\n"
    marine = "*AQUA\n-100., 60., 9.81, 1025.\n*NONSTRUCTURAL MASS, ELSET=LOWER, UNITS=MASS PER LENGTH, NAME=ICE\n7.\n"
    loads = "LINE, PB, 0.5, 0.08\nBOBS, GRAV, 9.81, 0., 0., -1.\n*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, REMOVE\nICE\n"
    text = (
        deck(TWO).replace("*BOUNDARY", masses + marine + "*BOUNDARY", 1).replace("*NODE PRINT", loads + "*NODE PRINT")
    )
    history = run_text(text)
    assert np.abs(history.u[-1]).max() < 1e-6
    carried = -sum(history.of_node(node, "RF")[-1, 2] for node in (1, 21))
    lift = 0.5 * 1025 * 9.81 * np.pi / 4 * 0.08**2 * (80 + 35)
    assert -carried == pytest.approx(9.81 * (30 * 0.5 * 80 + 8 * 0.25 * 35 + 2 * 40) - lift, rel=1e-6)
