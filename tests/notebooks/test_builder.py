"""``fem.Builder``: the model of a deck, and its errors, from Python."""

from __future__ import annotations

import inspect
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fem

ROOT = Path(__file__).resolve().parents[2]


def test_a_chain_is_that_of_the_deck():
    """``inputs/chain_modes.inp``, piece by piece."""
    chain = fem.Builder("Small vibrations of a vertical chain")
    nodes = chain.nodes([(0.0, 0.0, -k / 190) for k in range(191)])
    chain.bars(nodes, area=1.0, modulus=1e8, density=1.0, mass="ONE POINT", strain="ENGINEERING", tangent_tension=1.0)
    chain.support(nodes[0])
    chain.support(nodes, 2, 2)
    chain.static(gravity=9.81)
    chain.card("CONTROLS", RESI_GLOB_RELA=1e-12)
    chain.frequency(4)
    (found,), (known,) = fem.run(chain.model()).modes, fem.run(ROOT / "inputs" / "chain_modes.inp").modes
    assert found.frequency == pytest.approx(known.frequency, rel=1e-9)


def test_prestress_pulls():
    """A string of 2 m under 10 kN sags by F L/(4 T) = 0.05 mm under 1 N at its middle."""
    string = fem.Builder("taut string")
    nodes = string.nodes([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    bars = string.bars(nodes, area=1e-4, modulus=1e11, prestress=1e4)
    string.support(nodes[[0, -1]])
    string.static()
    string.card("CLOAD", [(nodes[1], 3, -1.0)])
    history = fem.run(string.model())
    assert history.of_element(bars[0], "T")[0] == pytest.approx(1e4, rel=1e-12)
    assert history.of_node(nodes[1])[-1] == pytest.approx([0, 0, -5e-5], rel=1e-5, abs=1e-12)


def test_a_starting_tension_is_not_taken_for_a_prestress():
    with pytest.raises(fem.CommandError, match=r"starting_tension is not a force.*prestress= for a force"):
        fem.Builder("x").bars([1, 2], area=1e-4, modulus=1e11, starting_tension=1e4)
    with pytest.raises(fem.CommandError, match="prestress= needs a modulus"):
        fem.Builder("x").bars([1, 2], area=1e-4, prestress=1e4)


def test_it_is_written_as_a_deck_and_read_again():
    net = fem.Builder("two bars, two masses, a rope\nSI units")
    nodes = net.nodes(np.eye(3))
    assert nodes.tolist() == [1, 2, 3]
    assert net.bars(nodes, area=1, modulus=2e5, density=1.0).tolist() == [1, 2]
    assert net.bars([(1, 3)], area=1, no_compression=True).tolist() == [3]
    assert net.masses(nodes[1:], 2.0).tolist() == [4, 5]
    net.support(1)
    net.dynamic(1.0, 0.1, integrator="ENERGY MOMENTUM", gravity=9.81, extrapolation="LINEAR")
    model = net.model()
    assert fem.parse_deck(fem.write_deck(model)) == model == net.model()
    assert model.heading == ("two bars, two masses, a rope", "SI units")
    assert model.steps[0].procedure.integrator == "ENERGY MOMENTUM" and model.steps[0].extrapolation == "LINEAR"
    assert [len(block.labels) for block in model.mesh.blocks] == [3, 2]


def test_errors_name_the_line_that_called():
    model = fem.Builder("wrong in four places")
    nodes = model.nodes(np.zeros((3, 3)) + np.arange(3)[:, None])
    model.bars([(1, 2), (2, 9)], area=-1.0, modulus=2e11, densty=3)
    here = inspect.currentframe().f_lineno - 1
    model.support(7)
    model.static(gravitation=2)
    with pytest.raises(fem.DeckError) as error:
        model.model()
    found = [(problem.file, problem.line, problem.message) for problem in error.value.problems]
    assert {file for file, _, _ in found} == {__file__} and len(nodes) == 3
    for line, words in (
        (here, "element 2 refers to node 9, which does not exist"),
        (here, "has no parameter 'DENSTY'"),
        (here + 2, "there is no node 7"),
        (here + 3, "*STEP has no parameter 'GRAVITATION'"),
    ):
        assert any(line == at and words in message for _, at, message in found), (words, found)
    assert "2, 9" in str(error.value) and "^" in str(error.value)


def test_what_the_whole_model_lacks_names_the_last_line():
    model = fem.Builder("nothing")
    with pytest.raises(fem.DeckError, match="has no") as error:
        model.model()
    assert error.value.problems[0].file == __file__


@pytest.mark.parametrize("places", [[1, 2, 3], [(0, 0)], [("a", "b", "c")], [], [(0, 0, 0), (1,)]])
def test_places_that_are_none(places):
    with pytest.raises(fem.CommandError, match=r"places of nodes are \(n, 3\) numbers, got"):
        fem.Builder("x").nodes(places)


def test_numbers_that_are_none_are_told():
    model = fem.Builder("x")
    nodes = model.nodes([(0, 0, 0), (np.nan, 0, 0)])
    model.bars([(1.5, 2)], area=1.0, modulus=1.0)
    model.static()
    with pytest.raises(fem.DeckError) as error:
        model.model()
    text = str(error.value)
    assert len(nodes) == 2 and "nan" in text and "1.5" in text


def swing_of_parameters() -> fem.Model:
    """A mass on a bar; its length, area, mass and load are parameters."""
    swing = fem.Builder("A mass on a bar", name="swing")
    length, area, mass = (swing.parameter(*given) for given in (("L", 1.0), ("A", 1e-4), ("M", 2.0)))
    ends = swing.nodes([(0.0, 0.0, 0.0), (length, 0.0, 0.0)])
    swing.bars(ends, area=area, modulus=1e9)
    swing.masses(ends[1], mass)
    swing.support(ends[0])
    swing.support(ends[1], 2)
    swing.dynamic(0.5, 0.01)
    swing.load(ends[1], (0.0, 0.0, swing.parameter("F", 0.0)), amplitude=swing.amplitude("pull"))
    swing.load(ends[1], (3.0, 0.0, 0.0))
    return swing.model()


def test_parameters_of_a_model_are_varied_as_those_of_a_deck(tmp_path):
    """The same text in a file gives the same rows; so do the other ways to set parameters."""
    model, values = swing_of_parameters(), [1.0, 2.0, 3.0]
    deck = tmp_path / "swing"
    deck.write_text(model.text)
    rows, known = (fem.sweep(each, {"L": values}, parameters={"M": 1.0}) for each in (model, deck))
    assert all(rows[name].tolist() == known[name].tolist() for name in known)
    assert len(set(rows["kinetic_end"].tolist())) == 3
    prepared = fem.prepare(model, parameters={"M": 1.0})
    for place, value in enumerate(values):
        for history in (prepared.run({"L": value}), fem.run(model, parameters={"L": value, "M": 1.0})):
            assert history.of_energy("kinetic")[-1] == rows["kinetic_end"][place]
            assert history.model.parameters["L"] == value
    assert repr(prepared) == "Prepared swing with M=1: run(parameters), model(parameters)"
    with pytest.raises(fem.CommandError, match="a Model without a file"):
        fem.run(fem.read_deck(deck), parameters={"L": 2.0})
    with pytest.raises(fem.CommandError, match=r"no \*PARAMETER K"):
        fem.sweep(model, {"K": values})


@pytest.mark.long
def test_a_sweep_of_a_model_in_processes_and_again_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("fem.study.workers.START_UP", 0.0)
    model, grid = swing_of_parameters(), {"L": [1.0, 2.0, 3.0]}
    rows = fem.sweep(model, grid, workers=2, output=tmp_path / "out")
    assert not rows.failed.any() and fem.sweep(model, grid, output=tmp_path / "out")["verdict"].tolist() == 3 * [
        "completed"
    ]


def test_a_model_as_a_unit_for_co_simulation_has_its_text(tmp_path):
    pytest.importorskip("pythonfmu3")
    model = swing_of_parameters()
    unit = fem.export_fmu(model, tmp_path / "swing.fmu", ["U3_n2"])
    with zipfile.ZipFile(unit) as archive:
        archive.extractall(tmp_path / "unit")
    (deck,) = (tmp_path / "unit").rglob("deck/swing")
    assert fem.read_deck(deck) == model
