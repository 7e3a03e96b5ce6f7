"""Points of a sweep that march together give the rows they give alone."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.deck import parse_deck
from fem.sweeping import workers
from fem.sweeping.block import Job, march_block
from fem.sweeping.row import layout_of
from tests.sweeping.swings import SWING, write_swing

GRID = {"length": [0.0, *np.linspace(0.5, 2.0, 18)], "gravity": [1.0, 5.0, 9.81], "dt": [0.01, 0.005]}


def test_a_sweep_in_lanes_gives_the_rows_of_single_runs(tmp_path, monkeypatch):
    deck = write_swing(tmp_path, "1e6", "1e4")  # forces of stiff bars have the round-off of EA
    alone = fem.sweep(deck, GRID, workers=1, history=True)
    marched = []

    def counted(jobs, may_compile):
        found = march_block(jobs, may_compile)
        marched.extend(found)
        return found

    monkeypatch.setattr(workers, "COMPILE_SECONDS", 0.0)
    monkeypatch.setattr(workers, "march_block", counted)
    together = fem.sweep(deck, GRID, workers=1)
    assert len(marched) > 40
    assert (together["verdict"] == alone["verdict"]).all() and together.failed.sum() == 6
    for name in set(alone) - {"verdict"}:
        mine, its = together[name][~together.failed], alone[name][~alone.failed]
        size = np.abs(its).max()
        if name.startswith("energy_error"):  # a difference of energies
            size = np.abs(alone["potential_end"][~alone.failed]).max()
        assert mine == pytest.approx(its, rel=1e-12, abs=1e-12 * size), name


def test_a_shape_that_is_not_worth_its_compilation_does_not_march():
    text = SWING.replace("1, 0., 0., 0.\n", "1, 0., 0., 0.\n7, 3., 4., 5.\n")
    model = parse_deck(text)
    jobs = [Job(point, model, layout_of(model)) for point in range(3)]
    assert march_block(jobs, may_compile=False) == {}


def test_only_models_that_print_the_same_nodes_march_together(tmp_path, monkeypatch):
    deck = write_swing(tmp_path, "*NSET, NSET=TIP\n2\n", "*NSET, NSET=TIP\n<tip>\n")
    deck.write_text(deck.read_text().replace("*PARAMETER\n", "*PARAMETER\ntip = 2\n"))
    grid = {"tip": [2.0, 1.0], "gravity": np.linspace(1.0, 9.81, 40)}
    alone = fem.sweep(deck, grid, workers=1, history=True)
    monkeypatch.setattr(workers, "COMPILE_SECONDS", 0.0)
    together = fem.sweep(deck, grid, workers=1)
    for name in ("U3_2_end", "U2_2_end", "U2_2_min"):
        assert np.isnan(together[name][40:]).all()
        assert together[name] == pytest.approx(alone[name], rel=1e-12, nan_ok=True)


def test_only_models_whose_nodes_have_the_same_labels_march_together(tmp_path, monkeypatch):
    deck = write_swing(tmp_path)
    text = deck.read_text().replace("2, <length>", "<tip>, <length>").replace("1, 1, 2", "1, 1, <tip>")
    text = text.replace("*NSET, NSET=TIP\n2\n", "*NSET, NSET=TIP\n<tip>\n").replace("\n2, 3\n", "\n<tip>, 3\n")
    deck.write_text(text.replace("*PARAMETER\n", "*PARAMETER\ntip = 2\n"))
    grid = {"tip": [2.0, 7.0], "gravity": np.linspace(1.0, 9.81, 40)}
    alone = fem.sweep(deck, grid, workers=1, history=True)
    monkeypatch.setattr(workers, "COMPILE_SECONDS", 0.0)
    together = fem.sweep(deck, grid, workers=1)
    assert np.isnan(alone["U2_2_end"][40:]).all() and not alone.failed.any()
    assert together["U2_2_end"] == pytest.approx(alone["U2_2_end"], rel=1e-12, nan_ok=True)
