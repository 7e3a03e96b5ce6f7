"""Results as pandas, xarray and HTML: the numbers of the arrays, with names, labels and units."""

from __future__ import annotations

import builtins
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import fem
from fem.runs.frames import Exchange, exchanged, si_unit
from tests.sweeping.swings import write_swing

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def history():
    return fem.run(ROOT / "inputs" / "cable_net.inp", output_every=20)


@pytest.fixture(scope="module")
def found():
    grid = {"duration": [0.2, 0.4, 0.6], "increments": [100, 200]}
    return fem.sweep(ROOT / "inputs" / "pendulum_lumped.inp", grid)


@pytest.mark.parametrize("name", ["increments", "nodes", "elements"])
def test_frames_are_the_tables(history, name):
    frame, table = history.to_frame(name), history.table(name)
    assert list(frame.columns) == list(table)
    assert all(np.array_equal(frame[column], table[column], equal_nan=True) for column in table)
    assert frame.attrs["units"]["time"] == "s" and not {"step", "node", "element"} & set(frame.attrs["units"])


def test_a_data_set_finds_by_label(history):
    data = history.to_xarray()
    assert data.U.dims == ("time", "node", "axis") and data["T"].dims == ("time", "element")
    label = int(history.mesh.node_labels[7])
    assert np.array_equal(data.U.sel(node=label), history.of_node(label))
    assert np.array_equal(data.RF.sel(node=label), history.of_node(label, "reactions"))
    assert np.array_equal((data.U + data.X).sel(node=label), history.positions(label))
    bar = int(history.mesh.element_labels[5])
    assert np.array_equal(data["T"].sel(element=bar), history.of_element(bar, "T"))
    assert np.array_equal(data.kinetic, history.of_energy("kinetic"))
    units = {name: data[name].attrs.get("units") for name in ("U", "V", "A", "RF", "E", "S", "T", "kinetic", "step")}
    assert units == dict(zip(units, ("m", "m/s", "m/s²", "N", None, "N/m²", "N", "J", None), strict=True))
    assert data.attrs["heading"].startswith("A prestressed cable net")


def test_what_lies_on_a_bottom_has_its_contact_force():
    data = fem.run(ROOT / "inputs" / "chain_on_bottom.inp", output_every=500).to_xarray()
    assert data.CFORCE.dims == data.U.dims and float(data.CFORCE.max()) > 0.0


def test_without_si_there_are_no_units(tmp_path):
    motion = fem.run(write_swing(tmp_path))
    assert motion.to_frame().attrs["units"] == {}
    assert all("units" not in variable.attrs for variable in motion.to_xarray().variables.values())


def test_a_sweep_has_an_axis_for_each_parameter(found):
    data, frame = found.to_xarray(), found.to_frame()
    assert dict(data.sizes) == {"duration": 3, "increments": 2}
    for place in range(6):
        where = {name: values[place] for name, values in found.parameters.items()}
        assert data.U1_2_end.sel(where) == found["U1_2_end"][place] == frame.U1_2_end[place]
    assert data.T_1_max.attrs["units"] == "N" and "units" not in data.verdict.attrs
    assert frame.attrs["units"]["kinetic_end"] == "J" and "duration" not in frame.attrs["units"]


@pytest.mark.parametrize(
    ("column", "unit"),
    {"U1": "m", "COOR3": "m", "RM2": "N m", "U1_2_end": "m", "V2": "m/s", "T_17_min": "N", "energy_error_largest": "J",
     "time_end": "s", "frequency_1_2": "1/s", "dt": "s", "E": "", "iterations_total": "", "verdict": "", "A": "",
     "point": ""}.items(),
)  # fmt: skip
def test_units_of_columns(column, unit):
    assert si_unit(column) == unit


def test_a_parameter_called_as_a_quantity_has_no_unit(tmp_path):
    deck = write_swing(tmp_path)
    deck.write_text("*HEADING\nSI\n" + deck.read_text().replace("length", "T"))
    units = fem.sweep(deck, {"T": [1.0, 2.0]}).to_frame().attrs["units"]
    assert "T" not in units and units["kinetic_end"] == "J"


@pytest.mark.parametrize("library", ["pandas", "xarray"])
def test_a_library_that_is_missing_is_named(history, library, monkeypatch):
    known = builtins.__import__
    monkeypatch.setattr("fem.runs.frames.import_module", lambda name: known(name + "_that_is_not_there"))
    with pytest.raises(fem.CommandError, match=rf"package {library} is not installed.*\[notebook\]"):
        history.to_frame() if library == "pandas" else history.to_xarray()


def test_notebooks_show_numbers_and_a_plot(history, found, tmp_path):
    one = fem.sweep(ROOT / "inputs" / "pendulum_lumped.inp", {"duration": [0.2, 0.3, 0.4]})
    for thing, words in ((history, "A prestressed cable net"), (found, "duration, increments"), (one, "over duration")):
        html = thing._repr_html_()
        ElementTree.fromstring(html.replace("xlink:", "xlink-").replace("&nbsp;", " "))  # well-formed
        assert words in html and len(html) < 200_000
        assert ("<svg" in html) == (thing is not found)
    none = fem.run(ROOT / "inputs" / "sdnl138.inp")._repr_html_()
    assert "frequencies" in none and "<svg" not in none


def test_a_heading_stays_text(tmp_path):
    deck = write_swing(tmp_path)
    deck.write_text("*HEADING\n<script>alert(1)</script>\n" + deck.read_text())
    html = fem.run(deck)._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html


def test_energy_exchanged_is_the_largest_change_within_a_step():
    """Kinetic, strain, potential, work: 3 J in the first step, 5 J in the second, though work differs by 100 J between
    them; rows may come in parts."""
    first = np.array([[0.0, 2.0, 9.0, 0.0], [1.0, 1.0, 6.0, 0.0], [0.0, 2.0, 9.0, 0.0]])
    second = np.array([[0.0, 2.0, 9.0, 100.0], [4.0, 7.0, 9.0, 101.0], [0.0, 2.0, 9.0, 100.0]])
    assert exchanged(np.array([1, 1, 1, 2, 2, 2]), np.concatenate([first, second])) == 5.0
    found = Exchange()
    for part in (second[:1], second[1:2], second[2:]):
        found.add(part)
    assert found.largest == 5.0
