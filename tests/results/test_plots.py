"""Figures: that they come, and that thinning is honest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fem.results.plots import thinned, write_plots
from hypothesis import given
from hypothesis import strategies as st

from fem.model import OutputRequest
from fem.results.tables import TableSink
from tests.results.synthetic import chain, play, with_outputs


def test_figures_of_a_run(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT", None, ("U", "V"), 2), steps=2)
    play(model, TableSink(tmp_path, model))
    paths = write_plots(tmp_path)
    assert [path.name for path in paths] == ["energies.png", "iterations.png", "displacements.png"]
    before = [path.read_bytes() for path in paths]
    assert all(content.startswith(b"\x89PNG") for content in before)
    assert [path.read_bytes() for path in write_plots(tmp_path)] == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("until", [0, 1])
def test_a_run_that_failed_at_once_can_be_drawn(tmp_path: Path, until: int) -> None:
    model = chain()
    sink = TableSink(tmp_path, model)
    play(model, sink, until=until)
    sink.close()
    assert [path.name for path in write_plots(tmp_path)] == ["energies.png", "iterations.png"]


@pytest.mark.filterwarnings("error")
def test_empty_tables_give_no_figures(tmp_path: Path) -> None:
    TableSink(tmp_path, chain()).close()
    assert write_plots(tmp_path) == []


@given(count=st.integers(1, 700), most=st.integers(4, 100), seed=st.integers(0, 99))
def test_thinning_keeps_extremes_and_order(count: int, most: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    values[values > 2.0] = np.nan
    time, kept = thinned(np.arange(float(count)), values, most)
    assert len(kept) <= max(count if count <= most else 0, most)
    assert np.all(np.diff(time) > 0)
    if not np.isnan(values).all():
        assert np.nanmax(kept) == np.nanmax(values) and np.nanmin(kept) == np.nanmin(values)
    assert np.array_equal(values[time.astype(int)], kept, equal_nan=True)
