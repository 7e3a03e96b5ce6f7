"""The history a run returns."""

from __future__ import annotations

import numpy as np
import pytest

from fem.model import Dynamic, Frequency, Step
from fem.runs.history import History, HistorySink
from fem.runs.record import StepStart
from tests.results.synthetic import chain, make_rows, play

TWO_STEPS = (Step(Dynamic(0.1, 1.0)), Step(Dynamic(0.1, 1.0)), Step(Frequency(2)))


def collect(save_every: int = 1, **how: int) -> History:
    model = chain(steps=TWO_STEPS, notices=("read",))
    sink = HistorySink(model, save_every)
    sink.notice("ran")
    sink.notice("ran")
    play(model, sink, **how)
    return sink.history()


def test_rows_and_shapes() -> None:
    history = collect()
    assert len(history) == 22 and history.increment.tolist() == [*range(11), *range(11)]
    assert history.u.shape == history.reactions.shape == (22, 12)
    assert history.energy.shape == (22, 5) and history.elements.shape == (22, 4, 4)
    assert history.iterations.dtype == history.step.dtype == np.int64
    assert history.notices == ("read", "ran") and len(history.modes) == 1 and len(history.events) == 2
    assert history.of_step(2).sum() == 11 and np.isnan(history.load_factor).all()


def test_labels_find_their_columns() -> None:
    history, rows = collect(), make_rows(chain(), 1, 0, 10)
    assert np.array_equal(history.of_node(10)[:11], rows.motion[:, 0, 3])
    assert np.array_equal(history.of_node(30, "reactions")[:11], rows.motion[:, 3, 1])
    assert np.array_equal(history.of_element(6)[:11], rows.element_values[:, 1, 2])
    assert np.array_equal(history.of_element(1000, "t")[:11], rows.element_values[:, 3, 3])
    assert np.array_equal(history.of_energy("potential")[:11], rows.potential)
    assert np.array_equal(history.positions(40) - history.of_node(40), np.zeros((22, 3)))
    with pytest.raises(KeyError):
        history.of_node(11)
    with pytest.raises(KeyError):
        history.of_node(10, "W")


@pytest.mark.parametrize("chunk", [1, 3, 11])
def test_output_every_keeps_first_and_last(chunk: int) -> None:
    history = collect(4, chunk=chunk)
    assert history.increment.tolist() == [0, 4, 8, 10] * 2
    assert np.array_equal(history.u, collect().u[[0, 4, 8, 10, 11, 15, 19, 21]])


def test_a_run_that_ends_early_keeps_its_last_increment() -> None:
    assert collect(4, until=7).increment.tolist() == [0, 4, 7]


def test_nothing_computed_is_an_empty_history() -> None:
    history = HistorySink(chain()).history()
    assert len(history) == 0 and history.u.shape == (0, 12) and history.elements.shape == (0, 4, 4)


def test_buffers_may_be_reused() -> None:
    model = chain()
    sink = HistorySink(model)
    sink.begin(StepStart(1, None, "DYNAMIC", 0.0, 1.0, 10))
    rows = make_rows(model, 1, 0, 3)
    before = rows.motion[:, 0].copy().reshape(4, -1)
    sink.rows(rows)
    rows.motion[:] = 0.0
    assert np.array_equal(sink.history().u, before)


def test_a_history_of_some_nodes_is_refused() -> None:
    model = chain(5)
    with pytest.raises(ValueError, match="record_all"):
        HistorySink(model).rows(make_rows(chain(), 1, 0, 0))
    with pytest.raises(ValueError, match="1 or more"):
        HistorySink(model, 0)
