"""What decks of Abaqus and CalculiX say beside the model: taken with its meaning, or with a notice if it has none."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fem
from fem.deck import parse_deck, write_deck
from fem.model import Boundary, Dynamic, Model, Static
from tests.deck.decks import MATERIAL, MESH, MODEL

STEP = "*STEP, NLGEOM\n*STATIC\n*END STEP\n"


def step(procedure: str, head: str = "*STEP, NLGEOM") -> Model:
    return parse_deck(f"{MODEL}{head}\n{procedure}\n*END STEP\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*STATIC\n0., 2., 0., 0.", Static(2.0, 2.0)),
        ("*STATIC\n0.1, 0.", Static(0.1, 1.0)),
        ("*STATIC, DIRECT\n0.1, 2., 1e-5, 0.1", Static(0.1, 2.0, direct=True)),
        ("*DYNAMIC, ALPHA=0\n0.1, 2., 0., 0.", Dynamic(0.1, 2.0)),
        ("*DYNAMIC, ALPHA=0\n0., 2.", Dynamic(2.0, 2.0)),
        ("*DYNAMIC, ALPHA=0, DIRECT\n0.1, 2., 1e-9, 1e-4", Dynamic(0.1, 2.0, direct=True)),
        ("*DYNAMIC, EXPLICIT\n, 2., , 0.01", Dynamic(0.0, 2.0, direct=True, integrator="CENTRAL DIFFERENCE")),
    ],
)
def test_zero_and_blank_are_defaults_and_fixed_increments_have_no_limits(text: str, expected: object) -> None:
    model = step(text)
    assert model.steps[0].procedure == expected
    assert any("limits of the increment" in notice for notice in model.notices) == (
        text.count("e-") + ("0.01" in text) > 0
    )


def test_abbreviations_of_one_name_are_that_name() -> None:
    text = "*STATIC\n*NODE PRINT, NSET=ALL, FREQ=3\nU"
    assert step(text, "*STEP, NLGEO, EXTRAP=LINEAR") == step(
        text.replace("FREQ", "FREQUENCY"), "*STEP, NLGEOM, EXTRAPOLATION=LINEAR"
    )
    with pytest.raises(fem.DeckError, match="no parameter 'AMPL'"):
        parse_deck(MODEL + "*BOUNDARY, AMPL\n1, 1, 3\n*NODE PRINT, TI=P\n" + STEP.replace("STATIC", "STATIC, AMPL"))


@pytest.mark.parametrize(("word", "expected"), [("ON", True), ("OFF", False), ("YES", True), ("NO", False)])
def test_nlgeom_takes_on_and_off(word: str, expected: bool) -> None:
    assert step("*STATIC", f"*STEP, NLGEOM={word}").steps[0].nlgeom is expected


def test_comments_with_one_asterisk_and_a_blank_are_said() -> None:
    plain = parse_deck(MODEL + STEP)
    text = MODEL.replace("2, 1, 0\n", "* --- the middle, node\n2, 1, 0\n").replace("*ELASTIC", "* ELASTIC") + STEP
    model = parse_deck(text)
    assert model == plain
    assert model.notices[0] == "lines with a blank after one asterisk are comments: 1, the first deck:3"


def test_what_changes_no_result_is_accepted_with_a_notice() -> None:
    model = parse_deck(
        "*SYSTEM\n" + MESH + "*ORIENTATION, NAME=O\n1., 0., 0., 0., 1., 0.\n*SECTION CONTROLS, NAME=C\n"
        '*MATERIAL, NAME=STEEL, DESCRIPTION="mild, steel"\n*CONDUCTIVITY\n50.\n*SPECIFIC HEAT\n450.\n*ELASTIC\n2e11\n'
        "*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL, ORIENTATION=O, CONTROLS=C\n1e-4\n" + STEP
    )
    assert model == parse_deck(MODEL + STEP)
    for name in ("*SYSTEM", "*ORIENTATION", "DESCRIPTION", "*CONDUCTIVITY", "*SOLID SECTION, ORIENTATION"):
        assert any(name in notice for notice in model.notices)


def test_unknown_output_variables_are_left_out_everywhere() -> None:
    asked = "*NODE PRINT, NSET=ALL\nU, PU\n*EL PRINT, ELSET=BARS\nCEEQ\n*NODE FILE\nXYZ, U\n"
    model = step(f"*STATIC\n{asked}")
    assert [(request.kind, request.variables) for request in model.steps[0].outputs] == [
        ("NODE PRINT", ("U",)), ("NODE FILE", ("U",))
    ]  # fmt: skip
    assert all(f"{name} of *" in model.notices[-1] for name in ("PU", "CEEQ", "XYZ"))


def test_nodes_of_an_element_set() -> None:
    model = parse_deck(MODEL + "*ELSET, ELSET=LAST\n2\n*NSET, NSET=ENDS, ELSET=LAST\n" + STEP)
    assert model.mesh.node_sets["ENDS"].tolist() == [1, 2]


def test_sets_named_by_numbers() -> None:
    mesh = MESH.replace("NSET=ALL", "NSET=12").replace("ELSET=BARS", "ELSET=7")
    text = mesh + MATERIAL.replace("ELSET=BARS", "ELSET=7") + '*BOUNDARY\n"12", 1\n2, 2\n' + STEP
    model = parse_deck(text)
    assert model.boundaries == (Boundary("12", 1), Boundary(2, 2))
    assert model.sections[0].element_set == "7"
    assert parse_deck(write_deck(model)) == model
    with pytest.raises(fem.DeckError, match=r'no node 12; put the name in quotes, "12", for the set'):
        parse_deck(text.replace('"12"', "12"))


def test_data_lines_of_other_files(tmp_path) -> None:
    (tmp_path / "nodes.dat").write_text("1, 0, 0\n2, 1, 0\n3, 2, 0\n")
    (tmp_path / "bars.dat").write_text("1, 1, 2\n2, 2, 3\n")
    text = "*NODE, NSET=ALL, INPUT=nodes.dat\n*ELEMENT, TYPE=T3D2, ELSET=BARS, INPUT=bars.dat\n" + MATERIAL + STEP
    model = parse_deck(text, folder=tmp_path)
    assert model == parse_deck(MODEL + STEP)
    assert [path.rpartition("/")[2] for path in model.files] == ["nodes.dat", "bars.dat"]
    with pytest.raises(
        fem.DeckError, match=r"nodes.dat:2:4: error: expected the x coordinate(.|\n)*included from deck:1"
    ):
        (tmp_path / "nodes.dat").write_text("1, 0, 0\n2, x\n3, 2, 0\n")
        parse_deck(text, folder=tmp_path)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.6, -0.8, 0.0), (2.0, 3.0, -6.0)])
def test_stresses_of_integration_points(axis: tuple[float, ...]) -> None:
    """CalculiX: xx, yy, zz, xy, xz, yz in global axes. S of a held bar is n.S.n; what lies across it is named."""
    n = np.array(axis) / np.linalg.norm(axis)
    for tensor, is_named in ((5e6 * np.outer(n, n), False), (np.diag([1e6, 2e6, 4e6]) + 3e5, True)):
        parts = ", ".join(repr(float(tensor[at])) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        rows = "".join(f"1, {point}, {parts}\n" for point in range(1, 9))
        ends = f"*NODE\n7, 0, 0, 0\n8, {', '.join(map(str, axis))}\n*ELEMENT, TYPE=T3D2, ELSET=BARS\n1, 7, 8\n"
        text = f"{ends}{MATERIAL}*INITIAL CONDITIONS, TYPE=STRESS\n{rows}*BOUNDARY\n7, 1, 3\n8, 1, 3\n"
        model = parse_deck(f"{text}*STEP\n*STATIC\n*END STEP\n")
        assert len(model.initial_conditions) == 1
        assert any("stress across them is left out" in notice for notice in model.notices) == is_named
        assert fem.run(model).of_element(1, "S")[-1] == pytest.approx(n @ tensor @ n, rel=1e-9)


def test_comments_among_parameters() -> None:
    model = parse_deck("*PARAMETER\n# python\nL = 2.0   # length, ^\n\nhalf = L/2\n" + MODEL + STEP)
    assert model.parameters == {"L": 2.0, "half": 1.0}


def test_a_long_heading_is_cut() -> None:
    model = parse_deck("*HEADING\n" + "x" * 50_000 + "\nmore\n" + MODEL + STEP)
    assert model.heading == ("x" * 20_000,)
    assert any("heading is truncated" in notice for notice in model.notices)


def test_a_file_that_is_not_text_is_named_as_such(tmp_path) -> None:
    (tmp_path / "deck.inp").write_bytes(b"*NODE\n1,\0\0\n")
    with pytest.raises(fem.DeckError, match=r"deck\.inp:1:1: error: the file is not text"):
        fem.read_deck(tmp_path / "deck.inp")


SPRING = """\
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=SPRINGA, ELSET=S
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=M
2, 2
*SPRING, ELSET=S

100.
*MASS, ELSET=M
1.
*BOUNDARY
1, 1, 3
2, 2, 3
"""


def test_loads_of_a_step_act_at_once_or_ramp() -> None:
    """k = 100, m = 1, F = 10: at once u = F/k; a ramp over T gives u = F/k (t - sin(w t)/w)/T, w = 10 (Duhamel)."""
    static = "*STEP, NLGEOM=NO{}\n*STATIC, DIRECT\n0.25, 1.\n*CLOAD\n2, 1, 10.\n*END STEP\n"
    for amplitude, expected in (("", [0.025, 0.05, 0.075, 0.1]), (", AMPLITUDE=STEP", [0.1] * 4)):
        history = fem.run(parse_deck(SPRING + static.format(amplitude)))
        np.testing.assert_allclose(history.u[1:, 3], expected, rtol=1e-9)
    dynamic = "*STEP, NLGEOM=NO, AMPLITUDE=RAMP\n*DYNAMIC, DIRECT, ALPHA=0\n1e-3, 1.\n*CLOAD\n2, 1, 10.\n*END STEP\n"
    model = parse_deck(SPRING + dynamic)
    history, w = fem.run(model), 10.0
    np.testing.assert_allclose(history.u[:, 3], 0.1 * (history.time - np.sin(w * history.time) / w), atol=1e-6)
    assert parse_deck(write_deck(model)) == model


def test_supports_are_fixed_where_they_are() -> None:
    """The load 10 has moved the node by 0.1; held there, without the load, its reaction is that of the spring."""
    steps = "*STEP, NLGEOM=NO\n*STATIC\n*CLOAD\n2, 1, 10.\n*END STEP\n"
    steps += "*STEP, NLGEOM=NO\n*STATIC\n*BOUNDARY, FIXED\n2, 1, 1, 7.\n*CLOAD, OP=NEW\n*END STEP\n"
    model = parse_deck(SPRING + steps)
    history = fem.run(model)
    np.testing.assert_allclose(history.u[-1, 3], 0.1, rtol=1e-12)
    np.testing.assert_allclose(history.reactions[-1, 3], 10.0, rtol=1e-9)
    assert parse_deck(write_deck(model)) == model
    assert any("keep their present values" in notice for notice in model.notices)


def test_a_chain_of_300000_bars_with_three_sets_reads() -> None:
    count = 300_000
    text = f"*NODE\n1, 0, 0\n{count + 1}, {count}, 0\n*NGEN, NSET=ALL\n1, {count + 1}\n*ELEMENT, TYPE=T3D2\n1, 1, 2\n"
    text += f"*ELGEN, ELSET=BARS\n1, {count}\n" + "".join(f"*NSET, NSET=S{k}\nALL\n" for k in range(3))
    model = parse_deck(text + MATERIAL + STEP)
    assert [len(model.mesh.node_sets[f"S{k}"]) for k in range(3)] == [count + 1] * 3
    assert len(model.mesh.element_labels) == count


def test_running_out_of_increments_is_no_failure_to_converge(tmp_path) -> None:
    step = "*STEP, NLGEOM=NO, INC=3\n*DYNAMIC, ALPHA=0{}\n0.01, 1.\n*CLOAD\n2, 1, 10.\n*END STEP\n"
    for direct, cure in (("", r"TIME ERROR of \*CONTROLS(.*)DIRECT"), (", DIRECT", "")):
        deck = tmp_path / f"spring{len(direct)}.inp"
        deck.write_text(SPRING + step.format(direct))
        with pytest.raises(
            fem.NoConvergence, match=rf"spring\d\.inp: step 1 stopped at (.*)used up its 3 increments(.*){cure}"
        ):
            fem.run(deck, output=tmp_path / f"out{len(direct)}")
        assert json.loads((tmp_path / f"out{len(direct)}" / "run.json").read_text())["verdict"] == "out of increments"


def test_errors_while_solving_name_the_deck_and_the_step() -> None:
    text = SPRING.replace("*MASS, ELSET=M\n1.", "*MASS, ELSET=M\n0.")
    dynamic = "*STEP, NLGEOM=NO\n*STATIC\n*END STEP\n*STEP, NLGEOM=NO\n*DYNAMIC, DIRECT, ALPHA=0\n0.1, 1.\n*END STEP\n"
    with pytest.raises(fem.ModelError, match=r"^swing: step 2: "):
        fem.run(parse_deck(text + dynamic, name="swing"))
