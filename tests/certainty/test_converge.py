"""``fem converge``: a deck that it writes has the accuracy, against closed forms; what it cannot do, it says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from fem.cli import main
from fem.deck.writer import with_increments
from fem.model import Model
from fem.study.certainty.companions import stretched
from fem.study.certainty.converge import (
    Refinement,
    Rounds,
    Share,
    changed,
    damped_model,
    next_choice,
    undamped,
    variants,
)
from fem.study.refined import refined

OSCILLATOR = """*HEADING
a mass on a spring, let go at 0.1
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=SPRING
1, 2
*SPRING, ELSET=SPRING
1
40.
*ELEMENT, TYPE=MASS, ELSET=MASS
2, 2
*MASS, ELSET=MASS
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 1, 0.1
** the increments that are to be found
*STEP
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.1, 2.
*NODE PRINT, NSET=ALL
U
*END STEP
""".replace("*BOUNDARY", "*NSET, NSET=ALL\n2\n*BOUNDARY")
"""Its angular frequency is sqrt(40)."""
LINE = """*NODE
1, 0., 0., 0.
9, {span}, 0., 0.
*NGEN{lay}, NSET=INNER
1, 9, 1{length}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 8
*MATERIAL, NAME=ROPE
*ELASTIC
{young}
*DENSITY
2.
*SOLID SECTION, ELSET=LINE, MATERIAL=ROPE, STRAIN=ENGINEERING{tension}
1.
*BOUNDARY
1, 1, 3
9, 1, 3
{held}*STEP, NLGEOM
*STATIC
{load}*EL PRINT, ELSET=LINE
T
*END STEP
{more}"""
GRAVITY = "*DLOAD\nLINE, GRAV, 9.81, 0., 0., -1.\n"


def test_a_converged_oscillator_is_within_its_accuracy(tmp_path):
    deck = tmp_path / "oscillator.inp"
    deck.write_text(OSCILLATOR)
    exact = 0.1 * math.cos(2.0 * math.sqrt(40.0))
    plain = fem.run(deck).of_node(2)[-1, 0]
    assert abs(plain / exact - 1.0) > 0.01, "the deck has the accuracy from the start: nothing is tested"
    found = fem.converge(deck, "U1_n2@2", 0.01)
    assert fem.run(fem.parse_deck(found.text)).of_node(2)[-1, 0] == pytest.approx(exact, rel=0.01)
    assert "** the increments that are to be found" in found.text


def test_a_converged_catenary_is_within_its_accuracy(tmp_path):
    """y = a cosh(x/a), s = a sinh(x/a), T = w y of a line that does not stretch (EA 1e6 times its weight)."""
    span, length, weight = 20.0, 24.0, 2.0 * 9.81
    a = brentq(lambda a: 2.0 * a * math.sinh(0.5 * span / a) - length, 5.0, 100.0)
    lay = {"lay": ", LINE=CATENARY", "length": f", {length}", "tension": "", "held": "INNER, 2\n", "more": ""}
    deck = tmp_path / "catenary.inp"
    deck.write_text(LINE.format(span=span, young=5e8, load=GRAVITY, **lay))
    found = fem.converge(deck, ["max:T_e1", "max:T_e4", "max:T_line"], 0.001)
    assert found.bars.value("max:T_LINE") == max(found.bars.value("max:T_e1"), found.bars.value("max:T_e8"))
    history = fem.run(fem.parse_deck(found.text))
    labels = history.mesh.element_labels.tolist()
    assert len(labels) > 8, "the mesh did not have to change: nothing is tested"
    for label, middle in ((1, 0.5 * length - length / 16.0), (4, length / 16.0)):
        tension = history.elements[-1, labels.index(label), 3]
        piece = (
            weight * 0.5 * length / len(labels) * middle / math.hypot(a, middle)
        )  # its middle is not that of the bar
        assert tension == pytest.approx(weight * math.hypot(a, middle), abs=piece + 0.001 * tension)


def test_a_converged_string_is_within_its_accuracy(tmp_path):
    """f = sqrt(T/m)/(2 L); on 8 bars with lumped masses it is 0.64 % too low."""
    more = "*STEP\n*FREQUENCY\n1\n*END STEP\n"
    lay = {"lay": "", "length": "", "tension": "", "held": "INNER, 2\n", "load": "*BOUNDARY\n9, 1, 1, 0.02\n"}
    deck = tmp_path / "string.inp"
    deck.write_text(LINE.format(span=10.0, young=1e5, more=more, **lay))
    found = fem.converge(deck, "frequency_2_1", 0.002)
    exact = math.sqrt(1e5 * 0.002 / (2.0 / 1.002)) / (2.0 * 10.02)
    assert abs(fem.run(deck).modes[0].frequency[0] / exact - 1.0) > 0.002
    assert fem.run(fem.parse_deck(found.text)).modes[0].frequency[0] == pytest.approx(exact, rel=0.002)


@pytest.mark.parametrize(
    ("want", "message"),
    [
        ("max:T_e12", "there is no element 12; did you mean 1?"),
        ("max:T_TOPS", "there is no element set TOPS; there "),
        ("largest:T_e1", "there is no 'largest' of a number; there are max, min, mean"),
        ("U1_n2@soon", "'soon' is not a time; write T_e12@2.5"),
        ("instant:T_e1", "write instant:max:T_e12"),
        ("max:T", "write T_e12 (element 12) or U3_n5 (node 5)"),
        ("frequency_1_1", "there is no number frequency_1_1"),
    ],
)
def test_numbers_that_there_are_not(want, message, capsys):
    assert main(["converge", "inputs/sdnl100.inp", "--want", want]) == 2
    assert message in capsys.readouterr().err


def test_an_accuracy_is_in_percent(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["converge", "inputs/sdnl100.inp", "--want", "max:T_e1", "--within", "0.01"])
    assert ended.value.code == 2
    assert "not an accuracy in percent, such as 1%" in capsys.readouterr().err


def test_the_command_writes_the_deck(tmp_path, capsys):
    path = tmp_path / "found.inp"
    assert main(["converge", "inputs/sdnl100.inp", "--want", "max:T_e1", "--output", str(path)]) == 0
    said = capsys.readouterr().out
    assert "round 1: dt / 1" in said and f"wrote {path}: max:T_e1 = 14.71" in said
    found, deck = fem.read_deck(path), fem.read_deck("inputs/sdnl100.inp")
    assert found.steps[0].procedure.dt < deck.steps[0].procedure.dt
    assert main(["converge", "inputs/sdnl100.inp", "--want", "U1_n2@1.2558", "--output", str(path)]) == 2


def test_a_round_with_smaller_residuals_says_so():
    said: list[str] = []
    rounds = Rounds({"max:T_e1": ("T_e1",)}, 0.01, 60.0, "AUTO", 1, said.append)
    model = fem.read_deck("inputs/sdnl100.inp")
    for choice in (Refinement(), Refinement(decades=2)):
        rounds.round(changed(model, choice), choice)
    assert [text.partition(":")[2].partition(":")[0] for text in said] == [
        " dt / 1, 1 elements",
        " dt / 1, 1 elements, residuals / 1e2",
    ]


def test_a_search_that_would_take_too_long_ends():
    with pytest.raises(fem.NoConvergence, match=r"more than --limit 1e-06: max:T_e1 = 32\.473 \+- [23]\d "):
        fem.converge("inputs/sdnl100.inp", "max:T_e1", limit=1e-6)


def test_the_next_choice_is_the_cheapest_that_is_enough():
    of_dt = Share(12.0, 12.0, 0.0, 0.0, 2.0, math.nan)
    assert next_choice([of_dt], can_split=True) == Refinement(4, 0, 0)
    of_mesh = Share(10.0, 0.0, 10.0, 0.0, 1.0, 2.0)
    assert next_choice([of_mesh], can_split=True) == Refinement(1, 2, 0)
    assert next_choice([of_mesh], can_split=False).splits == 0
    criterion = Share(5.0, 0.0, 0.0, 5.0, 1.0, math.nan)
    assert next_choice([criterion], can_split=True) == Refinement(1, 0, 2)
    unseen = Share(50.0, 50.0, 0.0, 0.0, math.nan, math.nan)
    assert next_choice([unseen], can_split=True).parts <= 8


def test_a_text_with_other_increments_reads_as_that_model():
    for name in ("sdnl100", "cradle", "catenary", "chain_dropped", "towed_rope"):
        path = Path(f"inputs/{name}.inp")
        model = fem.read_deck(path)
        wanted = stretched(model, 1 / 4)
        text = with_increments(path.read_text(), wanted.steps)
        found = fem.parse_deck(text, folder=path.parent)
        assert [step.procedure for step in found.steps] == [step.procedure for step in wanted.steps], name
        assert len(text.splitlines()) == len(path.read_text().splitlines())


def test_a_label_stays_in_the_middle_of_its_bar():
    model = fem.read_deck("inputs/chain_dropped.inp")
    fine = changed(model, Refinement(splits=3))
    old, new = model.mesh, fine.mesh
    assert len(set(new.element_labels.tolist())) == 8 * len(old.element_labels) or len(refined(model).kept)
    for label in refined(model).split.tolist():
        ends = old.coordinates[old.element_nodes[old.elements_of(label)[0]]]
        piece = new.coordinates[new.element_nodes[new.elements_of(label)[0]]]
        assert piece[1] == pytest.approx(ends.mean(axis=0), abs=1e-9)
        assert np.linalg.norm(np.diff(piece, axis=0)) == pytest.approx(np.linalg.norm(np.diff(ends, axis=0)) / 8.0)
    assert fem.parse_deck(fem.write_deck(fine)) == fine


def test_lines_that_can_go_slack_are_told_the_damping_that_they_lack():
    model = fem.read_deck("inputs/slack_chain.inp", {"beta": 0.0})
    passing = 0.5 * math.sqrt(1.0 / 4e5)
    assert undamped(model) == {"CHAIN": pytest.approx(0.3 * passing, rel=5e-3)}
    damped = damped_model(model, undamped(model))
    assert undamped(damped) == {}
    assert undamped(fem.read_deck("inputs/sdnl100.inp")) == {}
    massless = replace(model.materials["CHAIN"], density=0.0)
    assert undamped(replace(model, materials={**model.materials, "CHAIN": massless})) == {}
    found = variants(damped)
    assert list(found) == ["BETA x 0", "BETA x 0.5", "BETA x 2", "MASS=CONSISTENT", "ENERGY MOMENTUM"]
    assert all(isinstance(each, Model) and each != damped for each in found.values())
    assert found["BETA x 0"] == replace(damped, materials=model.materials)


@pytest.mark.long
def test_a_search_on_undamped_lines_names_the_damping(tmp_path, capsys, monkeypatch):
    """With one round alone nothing is reached; the same line with BETA is tried, and no deck is written."""
    monkeypatch.setattr("fem.study.certainty.converge.MOST_ROUNDS", 1)
    given = ["--want", "max:T_e20", "--within", "2%", "--output", str(tmp_path / "x.inp"), "--set", "beta=0"]
    assert main(["converge", "inputs/slack_chain.inp", *given]) == 3
    said = capsys.readouterr().err
    assert "no limit is seen: tension fronts on these lines are undamped" in said
    assert "BETA=0.000237 of CHAIN" in said
    assert not (tmp_path / "x.inp").exists()
