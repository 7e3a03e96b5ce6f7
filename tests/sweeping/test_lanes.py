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
    for name in set(alone.columns) - {"verdict"}:
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
