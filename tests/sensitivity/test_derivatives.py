"""Derivatives of runs: closed forms, laws of similarity, central differences of runs; refusals; files and the command.

One shape of dual numbers takes a minute to compile: all decks but that of the pendulum, whose increments depend on a
parameter, are of the same.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

import fem
from fem.cli import main
from fem.compiled.choice import is_plain
from fem.study.sensitivity import figures
from fem.study.sensitivity.derivatives import Derivatives
from fem.study.sensitivity.duals import STEP, NoDerivative, roughness
from fem.study.sensitivity.uncertain import Contribution, InputBar, Range, read_ranges, representative
from fem.study.tracks import Track, tracked
from tests.sensitivity.decks import LINE, STRING, SWING, hanging
from tests.sensitivity.test_ropes import fourth_order

pytestmark = pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")
BAR = """*PARAMETER
EA = 200.
F = 3.
*NODE, NSET=ALL
1, 0, 0, 0
2, 4, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
<EA>
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP
*STATIC
1., 1.
*CLOAD
2, 1, <F>
*NODE PRINT, NSET=ALL
U, RF
*EL PRINT, ELSET=BAR
T
*END STEP
"""


def by_differences(deck: str, name: str, names: tuple[str, ...], h: float = 1e-3) -> np.ndarray:
    """(k, c) derivatives from four runs, of fourth order, iterated to round-off."""
    value = fem.parse_deck(deck).parameters[name]
    found = []
    for step in (-2.0, -1.0, 1.0, 2.0):
        model = fem.parse_deck(deck, {name: value * (1.0 + step * h)})
        criteria = {"residual_relative": None, "residual_absolute": None}
        steps = tuple(replace(its, controls=replace(its.controls, **criteria)) for its in model.steps)
        found.append(tracked(replace(model, steps=steps), names).values)
    return (8.0 * (found[2] - found[1]) - (found[3] - found[0])) / (12.0 * h * value)


def chain_of(lengths: np.ndarray, span: float, rise: float, ea, weight) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal and vertical force of the first bar of a hanging chain, and their derivatives by E A and the density.

    Bar i pulls with (H, V - w_1 - ... - w_i), w_i the weight of the node behind bar i; its length is L (1 + T/EA).
    Their sums are span and rise. Newton's method and derivatives with complex steps, exact to round-off.
    Source: Irvine, Cable Structures, 1981, section 1.3, for a chain of bars.
    """

    def ends(h, v, ea, rho):
        loads = 5.0 * rho * (lengths[:-1] + lengths[1:])
        vertical = v + np.concatenate([[0.0], np.cumsum(loads)])
        pull = np.sqrt(h * h + vertical * vertical)
        stretched = lengths * (1.0 + pull / ea)
        return np.array([np.sum(stretched * h / pull) - span, np.sum(stretched * vertical / pull) - rise])

    x, tiny = np.array([30.0, -50.0]), 1e-30j
    for _ in range(60):
        matrix = np.column_stack([ends(x[0] + tiny, x[1], ea, weight).imag, ends(x[0], x[1] + tiny, ea, weight).imag])
        x = x - 0.7 * np.linalg.solve(matrix / 1e-30, ends(*x, ea, weight).real)
    by = [ends(*x, ea + tiny, weight).imag / 1e-30, ends(*x, ea, weight + tiny).imag / 1e-30]
    return x, -np.linalg.solve(matrix / 1e-30, np.column_stack(by))


def test_a_hanging_chain_over_its_stiffness_and_weight():
    deck, lengths = hanging()
    found = fem.sensitivity(fem.parse_deck(deck), ["EA", "rho"], ["T_e1"])
    force, slopes = chain_of(lengths, 8.0, 0.8, 400.0, 1.5)
    pull = float(np.hypot(*force))
    assert found.value("T_e1") == pytest.approx(pull, rel=1e-9)
    assert list(found.slope("T_e1").values()) == pytest.approx((force @ slopes / pull).tolist(), rel=1e-8)


@pytest.mark.long  # a shape of its own: increments depend on a parameter
def test_a_pendulum_is_similar_to_longer_ones():
    """With increments that follow the period, u ~ L, v ~ sqrt(L), and tensions stay: the period is T ~ sqrt(L). A bar
    keeps its strain. Source: dimensional analysis."""
    found = fem.sensitivity(fem.parse_deck(SWING), ["L"], ["U1_n2", "U3_n2", "V3_n2", "T_e1"])
    u1, u3, v3, pull = found.track.values.T
    d1, d3, dv, dpull = found.slopes[..., 0].T
    size = np.abs(u3).max() / 1.3
    assert np.abs(d1 - u1 / 1.3).max() < 1e-8 * size
    assert np.abs(d3 - u3 / 1.3).max() < 1e-8 * size
    assert np.abs(dv - v3 / 2.6).max() < 1e-8 * np.abs(v3).max()
    assert np.abs(dpull).max() < 1e-8 * pull.max()
    time = [its.time[-1] for its in found.shadows]
    period = (8.0 * (time[2] - time[1]) - (time[3] - time[0])) / (12.0 * STEP * 1.3)
    assert period == pytest.approx(0.5 * found.track.time[-1] / 1.3, rel=1e-8)


def test_frequencies_of_a_string_over_its_tension():
    """f ~ sqrt(T/m): df/dT = f/2T, df/dm = -f/2m, for any number of bars (lumped masses on a string)."""
    found = fem.sensitivity(fem.parse_deck(STRING), ["T", "m"], ["frequency_1_1"])
    for number in (1, 2, 3):
        frequency, slopes, _ = found.of(f"frequency_1_{number}")
        exact = math.sqrt(50.0 / 0.4) * math.sin(number * math.pi / 16.0) / math.pi
        assert frequency == pytest.approx(exact, rel=1e-9)
        assert slopes.tolist() == pytest.approx([exact / 100.0, -exact / 0.8], rel=1e-8)


def test_round_off_is_no_result():
    """A line that is laid at rest stays there: displacements of 1e-13 m are no numbers whose derivatives are told, and
    no motion that could be chaotic."""
    found = fem.sensitivity("inputs/catenary.inp", ["weight"], None, {"rise": 0.0, "stiffness": 1e7})
    told = representative(found)
    assert found.growth < 1.0
    assert told and not any(":U" in name for name in told)


def test_the_end_force_is_told_and_a_reaction_of_rounding_errors_is_not():
    """TE of a held end is what its line is checked by. RF2 is 1e-13 of RF1: no number whose derivatives are told."""
    deck = BAR.replace("\nU, RF\n", "\nU, RF, TE\n").replace("2, 1, <F>", "2, 1, <F>\n2, 2, 3e-13")
    assert "RF, TE" in deck and "3e-13" in deck
    told = representative(fem.sensitivity(fem.parse_deck(deck), ["EA"]))
    assert "max:TE_n1" in told
    assert {name for name in told if ":RF" in name} == {"min:RF1_n1"}


KNOT = ("0., 0., 0.3, 1.", "0., 0., <t1>, 1."), (", DEFINITION=SMOOTH STEP", "")


def with_parameter(line: str, *changes: tuple[str, str]) -> str:
    deck = LINE.replace("*PARAMETER\n", f"*PARAMETER\n{line}\n", 1)
    for old, new in changes:
        assert old in deck
        deck = deck.replace(old, new)
    return deck


@pytest.mark.parametrize(
    ("deck", "by", "most"),
    [
        pytest.param(with_parameter("t1 = 0.30005", *KNOT), "t1", 1e-8, id="knot of a table"),
        pytest.param(
            with_parameter(
                "w = 3000.",
                ("DEFINITION=SMOOTH STEP\n0., 0., 0.3, 1.", "DEFINITION=PERIODIC\n1, <w>, 0., 0.\n0., 1."),
            ),
            "w", 2e-6, id="phase of 1500 rad",
        ),
    ],
)  # fmt: skip
def test_loads_over_time_that_a_parameter_moves(deck, by, most):
    """A knot of a table 5e-5 s behind the end of an increment, and a fast load: differences whose steps pass the knot,
    or turn the phase far, are wrong by 1e-2 and 2e-4."""
    names = ("U3_n3", "A3_n3", "T_e2")
    found = fem.sensitivity(fem.parse_deck(deck), [by], names)
    expected = by_differences(deck, by, names, 3e-5)
    assert np.all(np.abs(found.slopes[..., 0] - expected).max(axis=0) <= most * np.abs(expected).max(axis=0))


def test_a_parameter_of_the_scheme_is_refused():
    deck = with_parameter("r = 0.6", ("RHO=0.6", "RHO=<r>"))
    with pytest.raises(NoDerivative, match="step 2: a parameter changes the scheme"):
        fem.sensitivity(fem.parse_deck(deck), ["r"], ["T_e1"])


def test_a_jump_of_a_support_that_moves_past_an_increment_is_refused():
    """The velocity of a support jumps at the knot of a table, which is the end of an increment."""
    its = "*CLOAD, AMPLITUDE=RISE"
    deck = with_parameter("t1 = 0.3", *KNOT, (its, f"*BOUNDARY, AMPLITUDE=RISE\n4, 3, 3, 0.05\n{its}"))
    with pytest.raises(NoDerivative, match="t1 moves a jump of a load or support past an increment"):
        fem.sensitivity(fem.parse_deck(deck), ["t1"], ["T_e1"])


def test_roughness_is_that_of_kinks_jumps_and_phases():
    """Of a phase angle a it is (a h)^2/2, of a jump at an instant a half, of what does not change nothing."""
    time = np.linspace(0.0, 600.0, 6001)[:, None]

    def rough(function):
        return roughness([function(1.0 + step * STEP) for step in (-2.0, -1.0, 1.0, 2.0)])

    assert rough(lambda p: np.sin(10.0 * p * time)) == pytest.approx(0.5 * (6000.0 * STEP) ** 2, rel=0.02)
    assert rough(lambda p: 1.0 * (time >= 300.0 * p)) == pytest.approx(0.5, rel=1e-3)
    assert rough(lambda p: np.minimum(1.0, time / (300.004 * p))) > 0.01
    assert rough(lambda p: 3e7 * np.cos(time)) == 0.0
    assert rough(lambda p: 3e7 * p * np.cos(time)) < 1e-4


TRUSS = """\
*PARAMETER
EA = 1000.
h = 0.6
*NODE
1, -1., 0., 0.
2, 1., 0., 0.
3, 0., 0., <h>
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 3
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
<EA>
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 1, 3
3, 2, 2
*STEP
*BUCKLE
1
*CLOAD
3, 3, -1.
*END STEP
"""


def test_a_buckling_factor_over_stiffness_and_height(tmp_path):
    """Factors are proportional to EA; over the height as central differences of runs say."""
    (tmp_path / "truss.inp").write_text(TRUSS)

    def factor(**given: float) -> float:
        return float(fem.run(tmp_path / "truss.inp", parameters=given).buckling[0].factor[0])

    found = fem.sensitivity(tmp_path / "truss.inp", ["EA", "h"], ["factor_1_1"])
    slope = found.slope("factor_1_1")
    assert found.value("factor_1_1") == pytest.approx(factor(), rel=1e-9)
    assert slope["EA"] == pytest.approx(factor() / 1000.0, rel=1e-9)
    assert slope["h"] == pytest.approx((factor(h=0.6 + 1e-4) - factor(h=0.6 - 1e-4)) / 2e-4, rel=1e-6)


STRAIGHT = """*PARAMETER
F = 5.
*NODE, NSET=ALL
1, 0, 0, 0
5, 10, 0, 0
*NGEN, NSET=ALL
1, 5
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 4
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
5, 1, 3
*STEP, NLGEOM
*STATIC
0.5, 1.
*DLOAD
LINE, GRAV, 10., 0, 0, -1
*CLOAD
3, 2, <F>
*NODE PRINT, NSET=ALL
U
*END STEP
"""


def test_a_line_that_was_straight_and_pulls_now():
    """Its nodes are held across in the tangent, at the start of the step as stiffly as the line is along itself."""
    names = ("U2_n2", "U2_n3", "U3_n3")
    found = fem.sensitivity(fem.parse_deck(STRAIGHT), ["F"], names)
    slopes = by_differences(STRAIGHT, "F", names)[-1]
    assert [found.slope(name)["F"] for name in names] == pytest.approx(slopes.tolist(), rel=1e-6) and slopes.all()


def test_statics_then_a_motion_equal_differences_of_runs():
    names = ("U1_n4", "U3_n3", "V3_n3", "A1_n2", "RF3_n1", "COOR3_n3", "E_e2", "T_e1", "T_e3", "kinetic", "strain",
             "dissipated")  # fmt: skip
    found = fem.sensitivity(fem.parse_deck(LINE), ["EA", "F", "beta"], names)
    for place, name in enumerate(("EA", "F", "beta")):
        expected = by_differences(LINE, name, names)
        size = np.abs(expected).max(axis=0)
        assert np.all(np.abs(found.slopes[..., place] - expected).max(axis=0) <= 1e-6 * size)
    assert found.slope("max:T_e1")["F"] == found.slopes[found.track.values[:, 7].argmax(), 7, 1]
    mean = by_differences(LINE, "F", names)[:, 7]
    assert found.slope("mean:T_e1")["F"] == pytest.approx(
        trapezoid(mean, found.track.time) / np.ptp(found.track.time), rel=1e-6
    )


def test_a_support_stays_where_a_parameter_has_moved_it():
    """In the second step it stands, at a place that depends on the parameter."""
    held = "*BOUNDARY\n4, 3, 3, <rise>\n*CLOAD\n4,"
    deck = LINE.replace("F = 30.", "F = 30.\nrise = 0.13").replace("*CLOAD\n4,", held)
    names = ("U3_n3", "V3_n3", "T_e1", "RF3_n4")
    found, expected = fem.sensitivity(fem.parse_deck(deck), ["rise"], names), by_differences(deck, "rise", names)
    assert np.all(np.abs(found.slopes[..., 0] - expected).max(axis=0) <= 1e-6 * np.abs(expected).max(axis=0))


def test_a_bar_is_as_its_formula_says():
    """u = F l/EA, without NLGEOM: exact."""
    found = fem.sensitivity(fem.parse_deck(BAR), ["EA", "F"], ["U1_n2", "T_e1"])
    assert found.value("U1_n2") == pytest.approx(0.06, rel=1e-12)
    assert found.slope("U1_n2") == pytest.approx({"EA": -0.06 / 200.0, "F": 0.02}, rel=1e-9)
    assert found.slope("T_e1") == pytest.approx({"EA": 0.0, "F": 1.0}, rel=1e-9, abs=1e-12)


def test_each_parameter_that_is_named_changes_while_the_others_are_held():
    deck = BAR.replace("F = 3.\n", "F = 3.\nmore = 0.5*F\n").replace("2, 1, <F>", "2, 1, <F>\n2, 1, <more>")
    model = fem.parse_deck(deck)
    assert fem.sensitivity(model, ["F"], ["U1_n2"]).slope("U1_n2") == pytest.approx({"F": 0.03}, rel=1e-9)
    both = fem.sensitivity(model, ["F", "more"], ["U1_n2"]).slope("U1_n2")
    assert both == pytest.approx({"F": 0.02, "more": 0.02}, rel=1e-9)
    assert fem.gradient(model, "U1_n2", ["F", "more"]).jac() == pytest.approx([0.02, 0.02], rel=1e-9)


def test_an_optimum_is_found_by_gradients():
    """The stiffness at which u = F l/EA is 0.1: 120."""
    from scipy.optimize import minimize

    f = fem.gradient(fem.parse_deck(BAR), "U1_n2", ["EA"])

    def off(x):
        value, slope = f(x)
        return (10.0 * value - 1.0) ** 2, 20.0 * (10.0 * value - 1.0) * slope

    found = minimize(off, f.x0, jac=True, bounds=[(50.0, 400.0)])
    assert found.x[0] == pytest.approx(120.0, rel=1e-3)
    assert f.runs == found.nfev


@pytest.mark.parametrize(
    ("change", "by", "why"),
    [
        (("*NO COMPRESSION", "*NO COMPRESSION"), ["Q"], "no \\*PARAMETER Q"),
        (("", ""), ["EA", "EA"], "1 to 7 different parameters"),
        (("*STATIC\n1., 1.", "*DYNAMIC, DIRECT, EXPLICIT\n1e-3, 1e-2"), ["EA"], "no derivatives of EXPLICIT"),
        (("*STATIC\n1., 1.", "*STATIC, RIKS\n0.5, 1."), ["EA"], "no derivatives of \\*STATIC, RIKS"),
    ],
)
def test_what_has_no_derivative_is_refused_by_name(change, by, why):
    text = BAR.replace("*STEP\n", "*STEP, NLGEOM\n").replace("*ELASTIC\n<EA>", "*ELASTIC\n<EA>\n*DENSITY\n1.")
    text = text.replace(*change)
    with pytest.raises((NoDerivative, fem.CommandError), match=why):
        fem.sensitivity(fem.parse_deck(text), by)


def test_a_parameter_that_counts_has_no_derivative():
    with pytest.raises(NoDerivative, match="no derivative by bars"):
        fem.sensitivity("inputs/hanging_chain.inp", ["bars"])


def test_the_command_writes_derivatives_and_what_limits_the_result(tmp_path, capsys):
    deck, folder = tmp_path / "bar.inp", tmp_path / "out"
    deck.write_text(BAR)
    asked = ["--sensitivity", "F", "--uncertain", "EA=50%,F=2.7:3.6", "--quiet"]
    assert main(["run", str(deck), "--output", str(folder), *asked]) == 0
    said = capsys.readouterr().out
    assert "derivatives by F = 3, EA = 200" in said
    assert "what limits this result" in said
    head, *lines = (folder / "sensitivity.csv").read_text().splitlines()
    assert head == "number,value,time,F,EA"
    row = next(line for line in lines if line.startswith("max:U1_n2,")).split(",")
    assert [float(each) for each in row[1:]] == pytest.approx([0.06, 1.0, 0.02, -0.0003], rel=1e-9)
    head, *lines = (folder / "nodes_sensitivity.csv").read_text().splitlines()
    assert head.startswith("step,increment,time,node,U1_by_F,U1_by_EA,")
    limits = {line["number"]: line for line in json.loads((folder / "run.json").read_text())["uncertain"]["limits"]}
    found = limits["max:U1_n2"]
    assert found["limited_by"] == "EA"
    assert found["curved"] == "EA"  # u = F l/EA: twice as much, or two thirds
    assert found["above"] == pytest.approx(math.hypot(0.06, 0.012), rel=1e-6)
    assert found["below"] == pytest.approx(math.hypot(0.02, 0.006), rel=1e-6)
    assert limits["max:T_e1"]["limited_by"] == "F"
    assert (folder / "tornado.png").stat().st_size > 5000
    page = fem.report(folder)
    assert "What limits this result" in page.read_text()
    assert main(["run", str(deck), "--output", str(folder), "--quiet"]) == 0
    assert not any((folder / name).exists() for name in ("sensitivity.csv", "uncertain.csv", "tornado.png"))


MOVED = """*PARAMETER
EA = 300.
*NODE, NSET=TOP
1, 0, 0, 0
*NODE
2, 0, 0, -2
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
1.
*MATERIAL, NAME=M
*ELASTIC
<EA>
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC
1, 3., 0., 0.
0., 1.
*BOUNDARY
1, 1, 2
2, 1, 2
*STEP, NLGEOM
*DYNAMIC
0.01, 4.
*BOUNDARY, AMPLITUDE=WAVE
1, 3, 3, 0.2
*NODE PRINT, NSET=TOP
U
*EL PRINT, ELSET=BAR
T
*END STEP
"""


def test_a_motion_that_is_given_is_limited_by_nothing(tmp_path):
    """Automatic increments end at other instants with another EA, and meet the peak of 0.2 by more or less: that is no
    change of the support's motion. The tension does change."""
    deck, folder = tmp_path / "moved.inp", tmp_path / "out"
    deck.write_text(MOVED)
    assert main(["run", str(deck), "--output", str(folder), "--uncertain", "EA=20%", "--quiet", "--no-vtk"]) == 0
    limits = {line["number"]: line for line in json.loads((folder / "run.json").read_text())["uncertain"]["limits"]}
    for name in ("max:U3_n1", "min:U3_n1"):
        assert (limits[name]["above"], limits[name]["below"], limits[name]["limited_by"]) == (0.0, 0.0, "nothing")
    assert limits["max:T_e1"]["above"] > 0.5 and limits["max:T_e1"]["curved"] == "EA"


def test_both_ends_of_an_input_are_seen(tmp_path, monkeypatch):
    """Where both move a number to the same side, the shorter bar is on top."""
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, path, mark: drawn.append(figure))
    ends = [Contribution("EA", (5.0, -5.0), (-2.0, -9.0), True), Contribution("Cd", (-9.0, -2.0), (0.0, 0.0), False)]
    figures.tornado([InputBar("max:T_e1", 331.0, tuple(ends))], tmp_path / "tornado.png", "")
    bars = drawn[0].axes[0].patches
    assert [bar.get_width() for bar in bars] == [-2.0, -9.0, -9.0, -2.0]
    assert [bar.get_zorder() for bar in bars] == [1.1, 1.0, 1.0, 1.1]


@pytest.mark.parametrize("text", ["EA", "EA=5", "EA=0%", "EA=3:1", "EA=300:400", "Q=5%", "EA=5%,EA=6%"])
def test_ranges_that_make_no_sense_are_refused(tmp_path, text, capsys):
    deck = tmp_path / "bar.inp"
    deck.write_text(BAR)
    assert main(["run", str(deck), "--output", str(tmp_path / "out"), "--uncertain", text]) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.long  # compiles a march for more than three parameters
def test_a_motion_that_does_not_depend_on_a_parameter():
    """A load on an inextensible rope swings whatever its mass is, and pulls in proportion to it. Of the others, which
    change its increments, too, derivatives equal differences of runs."""
    text, by, names = Path("inputs/crane.inp").read_text(), ["m", "L", "a", "g"], ["U1_n2", "U3_n2", "T_e1"]
    found = fem.sensitivity("inputs/crane.inp", by, names)
    move, rate = found.track.values, found.slopes[..., 0]
    assert np.abs(5000.0 * rate[:, :2]).max() < 1e-9 * np.abs(move[:, :2]).max()
    assert np.abs(5000.0 * rate[:, 2] - move[:, 2]).max() < 1e-9 * move[:, 2].max()
    for place, name in enumerate(by[1:], start=1):
        wanted = fourth_order(text, name, names, {}, 1e-4)
        off = np.abs(found.slopes[1:, :, place] - wanted[1:]).max(axis=0)
        size = np.maximum(np.abs(wanted), np.abs(move) / found.parameters[name]).max(axis=0)  # L changes no tension
        assert (off <= 1e-6 * size).all(), (name, off / size)


def test_a_share_of_a_value_below_zero_is_on_both_sides_of_it():
    model = fem.parse_deck(with_parameter("Q = -4."))
    assert read_ranges("Q=5%", model) == [Range("Q", -4.0, -4.2, -3.8)]


def test_the_least_of_all_elements_is_looked_at():
    """Of two tensions over two rows: the largest is in the second element, the least in the first."""
    model = fem.parse_deck(LINE)
    values = np.array([[1.0, 5.0], [2.0, 3.0]])
    track = Track(model, ("T_e1", "T_e2"), np.ones(2, int), np.arange(2.0), np.ones(2), values, (), ())
    assert representative(Derivatives({}, np.zeros(0), track, (), (), (), {})) == ["max:T_e2", "min:T_e1"]
