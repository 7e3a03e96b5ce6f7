"""``fem.load``: what comes back from the files is what the run had, to the last bit; what was not written is NaN."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.runs.history import BALANCED
from tests.sweeping.swings import write_swing

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "inputs"
ARRAYS = ("step", "increment", "time", "dt", "iterations", "cutbacks", "residual_norm", "energy", "energy_error")
ARRAYS += ("load_factor", "motion", "elements")
DECKS = ("sdnl100", "cable_net", "string_pendulum_rope", "chain_modes", "chain_on_bottom", "parting_line", "ssnl105a")
"""Increments all printed; a net; ropes with events; modes; CFORCE of a bottom; breaks; arc lengths."""


def written(again: np.ndarray) -> np.ndarray:
    return ~np.isnan(again.astype(float))


@pytest.mark.long_cases("cable_net", "parting_line")
@pytest.mark.parametrize("name", DECKS)
@pytest.mark.sampled(4)
def test_what_was_written_comes_back(name, tmp_path):
    ran = fem.run(INPUTS / f"{name}.inp", output=tmp_path)
    again = fem.load(tmp_path)
    for array in ARRAYS:
        one, other = getattr(ran, array), getattr(again, array)
        assert one.shape == other.shape and one.dtype == other.dtype, array
        assert np.array_equal(one[written(other)], other[written(other)]), array
    for array in ("time", "iterations", "energy"):
        assert written(getattr(again, array)).all()
    # *NODE PRINT, or at least the fields at the end of each step; every reaction of a support that prints none is there
    ends = [np.flatnonzero(ran.of_step(step))[-1] for step in np.unique(ran.step)]
    assert written(again.u[ends]).all() and written(again.elements[ends][..., 3]).all()
    assert again.events == ran.events and again.model == ran.model and set(again.notices) == set(ran.notices)
    for one, other in zip(ran.modes, again.modes, strict=True):
        assert all(np.array_equal(getattr(one, each), getattr(other, each)) for each in type(one).__slots__)


def test_everything_printed_is_everything(tmp_path):
    """A deck that prints all quantities of all nodes and elements: no NaN is left."""
    deck = write_swing(tmp_path, "*NODE PRINT, NSET=TIP\nU\n", "*NODE PRINT\nU, V, A, RF\n*EL PRINT\nE, S, N, T\n")
    ran, again = fem.run(deck, output=tmp_path / "out"), fem.load(tmp_path / "out")
    assert np.array_equal(again.motion, ran.motion) and np.array_equal(again.elements, ran.elements)
    few = fem.load(tmp_path / "out", output_every=7)
    less = fem.run(deck, output_every=7)
    assert len(few) < len(ran) / 5
    assert np.array_equal(few.motion, less.motion) and np.array_equal(few.time, less.time)


def test_a_run_that_was_killed(tmp_path):
    """Half a line at the end of the tables, the record still says running."""
    ran = fem.run(INPUTS / "sdnl100.inp", output=tmp_path)
    record = json.loads((tmp_path / "run.json").read_text()) | {"verdict": "running"}
    (tmp_path / "run.json").write_text(json.dumps(record))
    for name in ("increments", "nodes", "elements"):
        table = tmp_path / f"{name}.csv"
        table.write_bytes(table.read_bytes()[: 30 - len(table.read_bytes()) // 2])
    again = fem.load(tmp_path)
    assert 10 < len(again) < len(ran) and np.array_equal(again.time, ran.time[: len(again)])
    assert any("is still running, or was killed" in notice for notice in again.notices)
    shutil.rmtree(tmp_path / "vtu")
    for name in ("increments", "nodes", "elements"):
        (tmp_path / f"{name}.csv").write_bytes(b"")
    assert len(fem.load(tmp_path)) == 0 and "0 rows" in repr(fem.load(tmp_path))


def test_a_run_that_failed_has_its_rows(tmp_path):
    with pytest.raises(fem.EnergyDrift) as error:
        fem.run(INPUTS / "sdnl100_3periods.inp", output=tmp_path)
    again = fem.load(tmp_path)
    assert np.array_equal(again.energy, error.value.history.energy)
    assert any("energy drift" in notice for notice in again.notices)


def test_increments_that_energy_print_leaves_out(tmp_path):
    deck = write_swing(tmp_path, "*NODE PRINT, NSET=TIP\nU\n", "*NODE PRINT\nU\n*ENERGY PRINT, FREQUENCY=10\n")
    ran, again = fem.run(deck, output=tmp_path / "out"), fem.load(tmp_path / "out")
    assert np.array_equal(again.time, ran.time) and np.array_equal(again.u, ran.u)
    is_there = written(again.energy).all(axis=1)
    assert 2 < is_there.sum() < len(ran) / 5
    assert np.array_equal(again.energy[is_there], ran.energy[is_there]) and again.energy.shape[1] == len(BALANCED)
    assert any(f"{(~is_there).sum()} rows are not in increments.csv" in notice for notice in again.notices)


@pytest.mark.parametrize("change", ["gone", "edited"])
def test_without_its_deck_the_mesh_is_that_of_the_fields(change, tmp_path):
    """Results that were sent alone, or whose deck went on to something else."""
    deck = Path(shutil.copy(INPUTS / "springs_dashpots.inp", tmp_path))
    ran = fem.run(deck, output=tmp_path / "out")
    deck.unlink() if change == "gone" else deck.write_text(deck.read_text() + "** later\n")
    again = fem.load(tmp_path / "out")
    for name in ("node_labels", "coordinates", "element_labels", "element_nodes"):
        assert np.array_equal(getattr(again.mesh, name), getattr(ran.mesh, name)), name
    assert again.model.heading == ran.model.heading
    told = "has changed since" if change == "edited" else "cannot be read"
    assert any(told in notice and "mesh of the fields alone" in notice for notice in again.notices)
    shutil.rmtree(tmp_path / "out" / "vtu")
    with pytest.raises(fem.CommandError, match=r"no fields \(vtu/\) to take the mesh from"):
        fem.load(tmp_path / "out")


def test_folders_that_hold_no_run(tmp_path):
    (tmp_path / "file").write_text("")
    fem.sweep(write_swing(tmp_path), {"length": [1.0, 2.0]}, output=tmp_path / "many")
    for folder, words in (
        (tmp_path / "nowhere", "does not exist"),
        (tmp_path / "file", "is not a folder"),
        (tmp_path, "contains no results of a run: there is no run.json"),
        (tmp_path / "many", r"contains a sweep, not a run: pandas\.read_csv"),
    ):
        with pytest.raises(fem.CommandError, match=words):
            fem.load(folder)


def test_tables_of_others_are_refused(tmp_path):
    fem.run(INPUTS / "sdnl100.inp", output=tmp_path)
    nodes = tmp_path / "nodes.csv"
    text = nodes.read_text()
    nodes.write_text(text.replace(",2,", ",3,"))
    with pytest.raises(fem.CommandError, match="has node 3, which is not in the model"):
        fem.load(tmp_path)
    nodes.write_text(text.replace(",2,", ",two,"))
    with pytest.raises(fem.CommandError, match="is not a table written by fem"):
        fem.load(tmp_path)


def test_too_much_for_memory_is_told_before(tmp_path, monkeypatch):
    fem.run(INPUTS / "sdnl100.inp", output=tmp_path)
    monkeypatch.setattr("fem.runs.read.MOST_LOADED", 400)
    with pytest.raises(fem.CommandError, match="output_every=3") as error:
        fem.load(tmp_path)
    assert "41 rows" in str(error.value)
