"""What a run says by itself: jumps at the start of dynamics, strains beyond Hooke's law, tables that are left, slack
ends; warnings are printed by quiet runs, too."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.model.notices import WARNING, of_step, warning
from tests.decks import run_text

SPRING = """*HEADING
SI
*NODE
1, 0., 0., 0.
2, {x}, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=C
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=M
10, 2
*MASS, ELSET=M
1.
*MATERIAL, NAME=R
*ELASTIC
100.
*SOLID SECTION, ELSET=C, MATERIAL=R{strain}
1.
*BOUNDARY
1, 1, 3
2, 2, 3
{steps}"""
STATIC = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*CLOAD\n2, 1, {force}\n*END STEP\n"
DYNAMIC = (
    "*STEP, NLGEOM, INC=10000\n*DYNAMIC, DIRECT{scheme}\n0.01, {time}\n{loads}*NODE PRINT\nU\n*EL PRINT\nT\n*END STEP\n"
)


def told(text, what):
    return [notice for notice in run_text(text).notices if what in notice]


@pytest.mark.parametrize(
    "steps",
    [
        STATIC.format(force=20.0),
        DYNAMIC.format(scheme="", time=1.0, loads="*CLOAD\n2, 1, 20.\n"),
        DYNAMIC.format(scheme=", TIME INTEGRATOR=ENERGY MOMENTUM", time=1.0, loads="*CLOAD\n2, 1, 20.\n"),
        DYNAMIC.format(scheme="", time=1.0, loads="*CLOAD\n2, 1, 20.\n").replace("DIRECT", "EXPLICIT, DIRECT"),
        STATIC.format(force=20.0) + DYNAMIC.format(scheme="", time=0.5, loads=""),
    ],
    ids=["static", "newmark", "secant", "explicit", "twice"],
)
def test_large_strain_with_green_says_how_far_t_is_off(steps):
    """The largest of the step, once in a run: T of GREEN over E A e is (1 + e/2)(1 + e), for T as it is printed."""
    text = SPRING.format(x=1.0, strain="", steps=steps)
    history = run_text(text)
    (notice,) = [each for each in history.notices if "Hooke's law" in each]
    first = history.of_step(1)
    e = float(np.abs(history.of_node(2)[first][:, 0]).max())
    assert f"stretched by {100.0 * e:.3g} %" in notice and "STRAIN=ENGINEERING" in notice
    tension = history.of_element(1, "T")[first][np.abs(history.of_node(2)[first][:, 0]).argmax()]
    off = float(notice.split("its T is ")[1].split(" %")[0])
    assert off == pytest.approx(100.0 * (tension / (100.0 * e) - 1.0), rel=6e-3)
    assert notice.startswith("warning: step 1: element 1")


@pytest.mark.parametrize(
    ("strain", "force"),
    [(", STRAIN=ENGINEERING", 20.0), (", STRAIN=LOG", 20.0), ("", 4.0)],
    ids=["hooke", "log", "small"],
)
def test_other_measures_and_small_strains_are_not_told(strain, force):
    assert not told(SPRING.format(x=1.0, strain=strain, steps=STATIC.format(force=force)), "Hooke's law")


TABLE = """*HEADING
SI
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE={kind}, ELSET=S
1, {ends}
*SPRING, ELSET=S, NONLINEAR
{dofs}
{first}, -0.1
0., 0.
100., 0.1
{more}*ELEMENT, TYPE=MASS, ELSET=M
10, 2
*MASS, ELSET=M
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, {speed}
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
0.001, 0.2
*NODE PRINT
U
*END STEP
"""


@pytest.mark.parametrize(
    ("kind", "ends", "dofs"), [("SPRINGA", "1, 2", ""), ("SPRING2", "1, 2", "1, 1"), ("SPRING1", "2", "1")]
)
def test_a_spring_that_leaves_its_table_is_told_with_its_force(kind, ends, dofs):
    """Its farthest elongation, at which the force is still that of the last row; one that stays inside, one that ends
    level, and one that ends slack are not told."""

    def deck(speed, more="", first=-100.0):
        return TABLE.format(kind=kind, ends=ends, dofs=dofs, speed=speed, more=more, first=first)

    history = run_text(deck(5.0))
    (notice,) = [each for each in history.notices if "leaves the table" in each]
    x, u = float(notice.split("at the elongation ")[1].split()[0]), history.of_node(2)[:, 0]
    assert min(abs(abs(x) - abs(end)) for end in (u.max(), u.min())) < 1e-6 and abs(x) > 0.99 * np.abs(u).max()
    assert "stays at 100 N" in notice.replace("-100", "100") and notice.startswith("warning: step 1: element 1")
    assert not told(deck(0.5), "leaves the table")
    assert not told(deck(5.0, "100., 0.2\n", 0.0), "leaves the table")


def test_loads_that_jump_after_statics_are_told_with_their_force(tmp_path):
    """By check and run, in newtons; loads that begin as they were, and those of a first step, are not."""
    one = SPRING.format(x=1.0, strain=", STRAIN=ENGINEERING", steps=STATIC.format(force=3.0))
    jumps = one + DYNAMIC.format(scheme="", time=0.1, loads="*CLOAD\n2, 1, 5.\n")
    goes_on = one + DYNAMIC.format(scheme="", time=0.1, loads="")
    alone = SPRING.format(x=1.0, strain="", steps=DYNAMIC.format(scheme="", time=0.1, loads="*CLOAD\n2, 1, 1.\n"))
    for text, is_told in ((jumps, True), (goes_on, False), (alone, False)):
        assert bool(told(text, "loads change abruptly")) == is_told
        assert any("loads change abruptly" in each for each in fem.check(fem.parse_deck(text)).findings) == is_told
    (notice,) = told(jumps, "loads change abruptly")
    assert "2 N at node 2" in notice and notice.startswith(WARNING)
    grown = jumps.replace("*CLOAD\n2, 1, 5.", "*CLOAD, AMPLITUDE=A\n2, 1, 1.").replace(
        "*BOUNDARY", "*AMPLITUDE, NAME=A\n0., 3., 1., 5.\n*BOUNDARY"
    )
    assert not told(grown, "loads change abruptly")


def test_a_support_that_sets_off_is_told_with_the_tension_that_comes():
    """A mass on a spring whose other end is pulled at v: the tension comes to v sqrt(k m) at most, as it does."""
    move = "*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n"
    deck = SPRING.format(x=1.0, strain=", STRAIN=ENGINEERING", steps="").replace("*BOUNDARY\n", f"{move}*BOUNDARY\n")
    deck = deck.replace("1, 1, 3\n2,", "1, 2, 3\n2,")
    pulled = DYNAMIC.format(scheme="", time=0.4, loads="*BOUNDARY, AMPLITUDE=A\n1, 1, 1, -0.02\n")
    history = run_text(deck + pulled)
    (notice,) = [each for each in history.notices if "jump of velocity" in each]
    force = float(notice.split("that makes ")[1].split(" N")[0])
    assert force == pytest.approx(0.02 * np.sqrt(100.0 * 1.0), rel=1e-3)
    assert history.of_element(1, "T").max() == pytest.approx(force, rel=1e-2)
    assert any("jump of velocity" in each for each in fem.check(fem.parse_deck(deck + pulled)).findings)


def test_a_support_that_jumps_is_told_with_its_tension():
    deck = SPRING.format(x=1.0, strain=", STRAIN=ENGINEERING", steps="").replace("1, 1, 3\n2,", "1, 2, 3\n2,")
    text = deck + DYNAMIC.format(scheme="", time=0.1, loads="*BOUNDARY\n1, 1, 1, -0.03\n")
    (notice,) = told(text, "differs from the state at the start")
    assert "T of element 1 by 3 N" in notice
    (finding,) = [each for each in fem.check(fem.parse_deck(text)).findings if "jumps to" in each]
    assert "changes T by 3 N at once" in finding


SLACK = """*HEADING
SI
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=C
1, 1, 2
2, 2, 3
*MATERIAL, NAME=R
*ELASTIC
1e9
*NO COMPRESSION
*SOLID SECTION, ELSET=C, MATERIAL=R
1e-4
*INITIAL CONDITIONS, TYPE=STRESS
C, 1e6
*BOUNDARY
1, 1, 3
3, {held}, 3
2, 3
*STEP, NLGEOM, INC=1000
*STATIC
*END STEP
"""


def test_statics_that_ends_without_any_force_says_so():
    """Two cables whose far end is not held lose their stress; held, they keep it, though nodes carry nothing."""
    assert told(SLACK.format(held=2), "no bar carries a force at the end of the step: all cables are slack")
    assert not told(SLACK.format(held=1), "no bar carries a force")


SWUNG = """*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=ROD
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
1.
*MATERIAL, NAME=M
*INEXTENSIBLE
*SOLID SECTION, ELSET=ROD, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
*STEP{nlgeom}
*DYNAMIC, DIRECT
0.01, {time}
*CLOAD
2, 3, -9.81
*END STEP
"""


def test_a_linear_step_in_which_a_rod_turns_says_so():
    """Without NLGEOM a pendulum falls along a straight line: 1.2 m after 0.5 s, an angle of 50.8 degrees."""
    words = "element 1 has turned by 50.8 degrees, but its force keeps the direction"
    assert told(SWUNG.format(nlgeom="", time=0.5), words)
    assert not told(SWUNG.format(nlgeom="", time=0.1), "has turned")  # 5 cm
    assert not told(SWUNG.format(nlgeom=", NLGEOM", time=0.5), "has turned")


def test_quiet_runs_print_what_is_wrong(tmp_path, monkeypatch, capsys):
    """On standard error, and in run.json; what is not wrong is in the record alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slack.inp").write_text(SLACK.format(held=2))
    (tmp_path / "fine.inp").write_text(SLACK.format(held=1))
    assert main(["run", "slack.inp", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("warning: step 1: no bar carries a force")
    assert any(
        each.startswith("warning: step 1: no bar")
        for each in json.loads((tmp_path / "results/slack/run.json").read_text())["notices"]
    )
    assert main(["run", "fine.inp", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", "slack.inp"]) == 0
    assert "\nwarning: step 1: no bar carries a force" in capsys.readouterr().out


def test_kinds_of_notices():
    assert warning("") == "" and of_step(2, "x") == "step 2: x" and of_step(2, warning("x")) == "warning: step 2: x"


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize("scheme", ["", ", TIME INTEGRATOR=HHT", ", TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4"])
def test_initial_no_goes_on_as_if_the_step_had_not_ended(scheme, mass):
    """A run cut in two, to the last bit; INITIAL=YES begins the recursion anew, which is seen with schemes that lag."""
    head = SPRING.format(x=1.0, strain=f", MASS={mass}", steps="").replace("*ELASTIC", "*DENSITY\n1.\n*ELASTIC")
    weight = "*DLOAD\nM, GRAV, 9.81, 1., 0., 0.\n"
    whole = run_text(head + DYNAMIC.format(scheme=scheme, time=0.2, loads=weight))
    ends = []
    for initial in (", INITIAL=NO", ""):
        parts = DYNAMIC.format(scheme=scheme, time=0.1, loads=weight)
        cut = run_text(head + parts + DYNAMIC.format(scheme=scheme + initial, time=0.1, loads=""))
        ends.append(cut.of_node(2)[-1])
    assert ends[0] == pytest.approx(whole.of_node(2)[-1], abs=1e-15)
    assert ends[1] == pytest.approx(whole.of_node(2)[-1], rel=1e-3)
    if "HHT" in scheme:
        assert abs(ends[1] - whole.of_node(2)[-1]).max() > 1e-9
