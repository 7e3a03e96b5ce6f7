"""Laws that join procedures: paths and buckling loads, verdicts and motions, frames and bars that yield."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fem
from tests.stopped import check_goes_on
from tests.structures.made import STATIC, deck

DECKS = Path(__file__).parents[2] / "validation" / "structures"
COLUMN = np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 2], [-1, 0, 1], [1, 0, 1]])
STAYS = np.array([(0, 1), (1, 2), (1, 3), (1, 4)])
HELD = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3)]
RIKS = "*STEP, NLGEOM, INC=1000\n*STATIC, RIKS\n0.05, 1., , 0.05, 1.1\n*CLOAD\n3, 3, {load:.17g}\n*END STEP\n"
PUSHED = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CLOAD\n3, 3, {load:.17g}\n*END STEP\n"
BUCKLE = "*STEP, NLGEOM\n*BUCKLE\n1\n*CLOAD\n3, 3, -1.\n*END STEP\n"


def column(young, strain, steps):
    """Two bars on each other, held sideways by two stays of E A = 1000."""
    text = deck(COLUMN, STAYS, np.zeros(4), HELD, young, strain, steps="", between="")
    text = text.replace("*SOLID SECTION, ELSET=BARS", "*ELSET, ELSET=STAYS\n3, 4\n*ELSET, ELSET=COLUMN\n1, 2\n"
                        "*SOLID SECTION, ELSET=COLUMN")  # fmt: skip
    section = f"*SOLID SECTION, ELSET=STAYS, MATERIAL=M, STRAIN={strain}\n{1000.0 / young!r}\n"
    return fem.run(fem.parse_deck(text.replace("*REST LENGTH", f"{section}*REST LENGTH") + steps))


@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN", "LOG"])
def test_a_path_branches_where_its_buckling_load_says(strain):
    """The column gives way sideways at 2 P/L = 2 EA/L of the stays, but for the strain of the column; from a load near
    the branch the linear problem is that of the path."""
    for young in (1e5, 1e6):
        factor = column(young, strain, BUCKLE).buckling[-1].factor[0]
        assert factor == pytest.approx(1000.0, rel=3.0 * 1000.0 / young)
        path = column(young, strain, RIKS.format(load=-1.2 * factor))
        first = next(event for event in path.events if event.event in ("bifurcation", "limit"))
        assert first.event == "bifurcation"
        branch = 1.2 * factor * first.load_factor
        assert branch == pytest.approx(factor, rel=3.0 * 1000.0 / young)
        near = 0.999 * branch
        left = column(young, strain, PUSHED.format(load=-near) + BUCKLE).buckling[-1].factor[0]
        assert near + left == pytest.approx(branch, rel=3e-3 * 1000.0 / young)


@st.composite
def stressed(draw):
    """Four or five nodes in a plane, or five to six in space, all joined, in a random state of self-stress."""
    d, count = draw(st.sampled_from([(2, 4), (2, 5), (3, 5), (3, 6)]))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    x = np.zeros((count, 3))
    x[:, :d] = random.normal(size=(count, d))
    bars = np.array([(i, j) for i in range(count) for j in range(i + 1, count)])
    way = x[bars[:, 1]] - x[bars[:, 0]]
    length = np.linalg.norm(way, axis=1)
    balance = np.zeros((3 * count, len(bars)))  # forces of unit force densities on the nodes
    for k, (i, j) in enumerate(bars):
        balance[3 * i : 3 * i + 3, k], balance[3 * j : 3 * j + 3, k] = way[k], -way[k]
    _, values, right = np.linalg.svd(balance)
    states = right[int(np.count_nonzero(values > 1e-9 * values[0])) :]
    q = random.normal(size=len(states)) @ states
    assume(length.min() > 0.3)
    return x, bars, draw(st.floats(1.0, 30.0)) * q / np.abs(q).max()


@settings(max_examples=15)
@given(stressed(), st.integers(0, 10**6))
def test_a_small_push_grows_where_the_verdict_is_unstable(structure, seed):
    """And nowhere else: masses of 1, pushed by 1e-7 without rigid motion, over 12 times the time of the least
    eigenvalue of K_T; what is unstable grows by up to exp(12), what is stable stays within the push over its rate."""
    x, bars, q = structure
    text = deck(x, bars, q, young=1e3, steps="")
    found = fem.rigidity(fem.parse_deck(text + STATIC))
    assume(not found.verdict.startswith("loose") and abs(found.least) > 1e-2)
    rate = np.sqrt(abs(found.least))
    push = np.random.default_rng(seed).normal(size=x.size)
    rigid = found.found.rigid
    push -= rigid @ (rigid.T @ push)
    push *= 1e-7 / np.linalg.norm(push)
    nodes = range(1, len(x) + 1)
    text += "*ELEMENT, TYPE=MASS, ELSET=POINTS\n" + "".join(f"{100 + node}, {node}\n" for node in nodes)
    text += "*MASS, ELSET=POINTS\n1.\n*INITIAL CONDITIONS, TYPE=VELOCITY\n"
    text += "".join(f"{k // 3 + 1}, {k % 3 + 1}, {value!r}\n" for k, value in enumerate(push.tolist()))
    text += f"*STEP, NLGEOM, INC=100000\n*DYNAMIC, DIRECT\n{0.04 / rate:.17g}, {12.0 / rate:.17g}\n"
    history = fem.run(fem.parse_deck(text + "*CONTROLS, RESI_GLOB_RELA=1e-10\n*END STEP\n"))
    u = history.u - history.u @ rigid @ rigid.T
    grown = np.linalg.norm(u, axis=1).max() * rate / 1e-7
    assert (grown > 20.0) == (found.verdict == "unstable")
    assert grown > 20.0 or grown < 1.5


YIELDING = """*MATERIAL, NAME=M
*ELASTIC
1e4
*PLASTIC{hardening}
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN={strain}
1.
*ELEMENT, TYPE=MASS, ELSET=POINTS
11, 1
12, 2
13, 3
*MASS, ELSET=POINTS
1.
"""
HARDENING = {
    "isotropic": "\n100., 0.\n150., 0.05\n",
    "kinematic": ", HARDENING=KINEMATIC\n100., 0.\n150., 0.05\n",
    "combined": ", HARDENING=COMBINED, DATA TYPE=PARAMETERS\n100., 3000., 30.\n",
}


def triangle(hardening, strain, turn, wind):
    """Three masses on bars, which fly apart in turned axes and a frame that moves with ``wind``: S, PE of the bars."""
    x = np.array([(0.0, 0, 0), (1, 0, 0), (0.3, 0.9, 0)]) @ turn.T
    v = np.array([(-1.0, -1, 0.2), (2, 0, 0), (0.2, 1.5, -0.2)]) @ turn.T + wind
    text = "*NODE\n" + "".join(f"{k}, {a!r}, {b!r}, {c!r}\n" for k, (a, b, c) in enumerate(x.tolist(), 1))
    text += "*ELEMENT, TYPE=T3D2, ELSET=BARS\n1, 1, 2\n2, 2, 3\n3, 3, 1\n"
    text += YIELDING.format(hardening=HARDENING[hardening], strain=strain) + "*INITIAL CONDITIONS, TYPE=VELOCITY\n"
    text += "".join(f"{k}, {a}, {value!r}\n" for k, row in enumerate(v.tolist(), 1) for a, value in enumerate(row, 1))
    text += "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.005, 0.2\n"
    text += "*CONTROLS, RESI_GLOB_RELA=1e-11\n*EL PRINT\nS, PE, PEEQ\n*END STEP\n"
    history = fem.run(fem.parse_deck(text))
    lost = history.of_energy("dissipated")
    assert (np.diff(lost) > -1e-10).all() and lost[-1] > 0.1
    return np.array([[history.of_element(k, name) for name in ("S", "PE", "PEEQ")] for k in (1, 2, 3)])


@pytest.mark.parametrize("hardening", HARDENING)
@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN"])
def test_yielding_is_the_same_in_every_frame(hardening, strain):
    """Turned, and seen from a frame that travels at ten times the speed of the masses."""
    turn = Rotation.random(random_state=3).as_matrix()
    own = triangle(hardening, strain, np.eye(3), np.zeros(3))
    assert np.abs(own[:, 2, -1]).min() > 1e-3
    for other in (triangle(hardening, strain, turn, np.zeros(3)), triangle(hardening, strain, turn, np.full(3, 12.0))):
        np.testing.assert_allclose(other[:, 0], own[:, 0], atol=1e-6)
        np.testing.assert_allclose(other[:, 1:], own[:, 1:], atol=1e-10)


@pytest.mark.parametrize(("rows", "slope"), [("250, 0.\n20250, 1.", 20e3), ("250, 0.\n250.001, 1.", 1e-3)])
def test_arcs_follow_bars_that_yield(rows, slope):
    """Three bars, pressed down by 2: in a few dozen arcs, at the forces of their stresses; the plateau has a slope of
    second order only, by the turning bars."""
    text = (DECKS / "three_bars_isotropic.inp").read_text()
    text = text[: text.index("*AMPLITUDE")].replace("250, 0.\n20250, 1.", rows)
    steps = "*STEP, INC=60, NLGEOM\n*STATIC, RIKS\n0.02, 1., , 0.1, , 4, 3, -2.\n*CLOAD\n4, 3, -1000.\n"
    steps += "*EL PRINT\nE, S\n*END STEP\n"
    history = fem.run(fem.parse_deck(text + steps))
    outer, inner = history.of_element(1, "E")[-1], history.of_element(2, "E")[-1]
    stress = [250.0 + slope * 200e3 / (200e3 + slope) * (strain - 250.0 / 200e3) for strain in (outer, inner)]
    assert history.of_element(1, "S")[-1] == pytest.approx(stress[0], rel=1e-9)
    assert history.of_element(2, "S")[-1] == pytest.approx(stress[1], rel=1e-9)
    down = 402.0 / np.hypot(300.0, 402.0)
    assert 1000.0 * history.load_factor[-1] == pytest.approx(2.0 * stress[0] * down + stress[1], rel=1e-6)


PANELS = 6
GIRDER = [(k, 0, 0) for k in range(PANELS + 1)] + [(k + 0.5, 0, 1) for k in range(PANELS)]
MEMBERS = (
    [(k, k + 1) for k in range(PANELS)] + [(PANELS + 1 + k, PANELS + 2 + k) for k in range(PANELS - 1)]
    + [(k, PANELS + 1 + k) for k in range(PANELS)] + [(k + 1, PANELS + 1 + k) for k in range(PANELS)]
)  # fmt: skip


def girder(law, step, strain="ENGINEERING"):
    """A Warren girder of span 6 and height 1 with a load in the middle of its lower chord."""
    held = [(0, 1), (0, 3), (PANELS, 3)] + [(k, 2) for k in range(len(GIRDER))]
    text = deck(GIRDER, MEMBERS, np.zeros(len(MEMBERS)), held, young=2e5, strain=strain, steps="")
    text = text.replace("*ELASTIC\n200000.0\n", f"*ELASTIC\n200000.0\n{law}")
    return fem.run(fem.parse_deck(f"{text}*STEP, INC=150{step}4, 3, -300.\n*EL PRINT\nS\n*END STEP\n"))


ARC = "\n*STATIC, RIKS\n0.05, 1., , 0.1, , 4, 3, -0.3\n*CLOAD\n"


@pytest.mark.parametrize("nlgeom", ["", ", NLGEOM"])
def test_a_girder_collapses_at_the_load_of_limit_analysis(nlgeom):
    """The upper chord over the load yields at 250 = M/h, M = P 6/4: P = 166.667. It then bears as much however far it
    turns, but for the geometry of a sag of 0.3 in a span of 6."""
    history = girder("*PLASTIC\n250., 0.\n", nlgeom + ARC)
    assert history.u[-1].min() == pytest.approx(-0.3)
    beyond = history.u.min(axis=1) < -0.014
    assert beyond.sum() > 20
    assert 300.0 * history.load_factor[beyond] == pytest.approx(500.0 / 3.0, rel=0.06 if nlgeom else 1e-6)


def test_a_girder_whose_strut_buckles_loses_its_strength():
    """The upper chord bears 150, then less: the load has a maximum of 100, and falls to s/250 of the limit load."""
    history = girder("*BUCKLING STRENGTH\n150.\n*PLASTIC\n250., 0.\n", ", NLGEOM" + ARC)
    (most, *_) = [event for event in history.events if event.event == "limit"]
    assert 300.0 * most.load_factor == pytest.approx(100.0, rel=2e-3)
    assert history.load_factor.max() == pytest.approx(most.load_factor, rel=2e-3)
    pressed = -history.elements[-1, PANELS + 2, 2]
    assert 300.0 * history.load_factor[-1] == pytest.approx(pressed / 1.5, rel=0.06)
    assert pressed < 75.0


@pytest.mark.parametrize("strain", ["GREEN", "LOG"])
def test_arcs_get_around_the_corner_where_a_strut_buckles(strain):
    """To the load of a run in which the node is moved."""
    law = "*BUCKLING STRENGTH\n150.\n"
    arcs = girder(law, ", NLGEOM" + ARC, strain)
    moved = girder(law, ", NLGEOM\n*STATIC\n0.01, 1.\n*BOUNDARY\n4, 3, 3, -0.3\n*CLOAD\n", strain)
    assert 300.0 * arcs.load_factor[-1] == pytest.approx(300.0 - moved.of_node(4, "RF")[-1, 2], rel=1e-5)


def test_beyond_the_collapse_load_statics_says_so():
    with pytest.raises(fem.NoConvergence, match="beyond the collapse load"):
        girder("*PLASTIC\n250., 0.\n", ", NLGEOM\n*STATIC\n0.1, 1.\n*CLOAD\n")


PANEL = np.array([(0.0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)])
BRACED = np.array([(0, 2), (1, 3), (2, 3), (0, 3), (1, 2)])
PUSH = "\n*STATIC, RIKS\n0.2, 1., , 0.5, , 3, 1, 0.02\n*CLOAD\n3, 1, 100.\n*END STEP\n"


@pytest.mark.parametrize(("nlgeom", "hardening"), [(", NLGEOM", ""), ("", "260., 1.\n"), ("", "")])
def test_a_braced_panel_collapses_when_both_diagonals_yield(nlgeom, hardening):
    """P = sqrt(2) N_y of a square panel, by hand. A plateau that is exactly flat stops the arc, which says why."""
    held = [(k, dof) for k in (0, 1) for dof in (1, 2, 3)] + [(2, 2), (3, 2)]
    text = deck(PANEL, BRACED, np.zeros(5), held, young=2e5, steps="")
    text = text.replace("*ELASTIC\n200000.0\n", f"*ELASTIC\n200000.0\n*PLASTIC\n250., 0.\n{hardening}")
    model = fem.parse_deck(f"{text}*STEP, INC=150{nlgeom}{PUSH}")
    if nlgeom or hardening:
        history = fem.run(model)
    else:
        with pytest.raises(fem.NoConvergence, match="a perfectly plastic collapse needs some stiffness") as error:
            fem.run(model)
        history = error.value.history
    assert 100.0 * history.load_factor.max() == pytest.approx(250.0 * 2.0**0.5, rel=1e-3)


def test_an_arc_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    """To the byte, in the middle of a plateau: the memory of bars before the last arc is in the checkpoint."""
    held = [(0, 1), (0, 3), (PANELS, 3)] + [(k, 2) for k in range(len(GIRDER))]
    text = deck(GIRDER, MEMBERS, np.zeros(len(MEMBERS)), held, young=2e5, steps="*RESTART, WRITE, FREQUENCY=12\n")
    text = text.replace("*ELASTIC\n200000.0\n", "*ELASTIC\n200000.0\n*PLASTIC\n250., 0.\n300., 0.05\n")
    monkeypatch.chdir(tmp_path)
    Path("deck.inp").write_text(f"{text}*STEP, INC=150, NLGEOM{ARC.replace('-0.3', '-0.1')}4, 3, -300.\n*END STEP\n")
    check_goes_on(monkeypatch, ("nodes.csv", "increments.csv"))
