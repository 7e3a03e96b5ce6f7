"""When output is due: laws of the cadence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.errors import ModelError
from fem.model import Dynamic, Frequency, OutputRequest, Step
from fem.runs.schedule import MAX_FIELDS, NEVER, Cadence, Schedule, instants_of
from tests.results.synthetic import chain, with_outputs

NO_ENERGIES = OutputRequest("ENERGY PRINT", every=0)


@given(count=st.integers(1, 5000))
def test_default_fields_are_first_last_and_at_most_200_evenly_spaced(count: int) -> None:
    schedule = Schedule(chain(), 0, 0.0, count)
    due = [i for i in range(count + 1) if schedule.is_vtk_due(i, i / count, i == count)]
    assert due[0] == 0 and due[-1] == count
    inner = [i for i in due if 0 < i < count]
    assert len(inner) <= MAX_FIELDS
    assert len(set(np.diff([0, *inner]).tolist())) <= 1
    foretold, increment = [0], 0
    while increment < count:
        following = schedule.next_field(increment)
        assert following > increment
        increment = following
        foretold.append(increment)
    assert foretold == due


@given(steps=st.lists(st.floats(1e-4, 0.3), min_size=1, max_size=400), start=st.floats(-5.0, 5.0))
def test_unknown_count_gives_at_most_200_evenly_spaced_instants(steps: list[float], start: float) -> None:
    fractions = np.cumsum(steps) / np.sum(steps)
    schedule = Schedule(chain(), 0, start, None)
    assert schedule.next_field(0) == NEVER and schedule.next_instant() <= start
    times = [start, *(start + fractions).tolist()]
    due = [i for i, t in enumerate(times) if schedule.is_vtk_due(i, t, i == len(times) - 1)]
    assert due[0] == 0 and due[-1] == len(times) - 1
    assert len(due) <= MAX_FIELDS + 2


@given(every=st.integers(1, 50), count=st.integers(1, 300))
def test_frequency_gives_every_nth_and_the_last(every: int, count: int) -> None:
    model = with_outputs(OutputRequest("NODE FILE", None, ("U",), every))
    for expected in (count, None):
        schedule = Schedule(model, 0, 0.0, expected)
        due = [i for i in range(count + 1) if schedule.is_vtk_due(i, float(i), i == count)]
        assert due == sorted({*range(0, count + 1, every), count})
        foretold = schedule.next_field(0)
        assert foretold == (min(every, count) if expected is not None else every)


def test_frequency_zero_is_never() -> None:
    schedule = Schedule(with_outputs(OutputRequest("NODE FILE", every=0)), 0, 0.0, 10)
    assert not any(schedule.is_vtk_due(i, 0.1 * i, i == 10) for i in range(11))
    assert schedule.next_field(0) == NEVER


def test_time_points_are_step_times_and_due_at_the_first_increment_reached() -> None:
    request = OutputRequest("NODE FILE", None, (), 1, "P")
    model = replace(with_outputs(request), time_points={"P": (0.0, 0.25, 0.5, 2.0)})
    schedule = Schedule(model, 0, 10.0, 10)
    assert schedule.instants.tolist() == [10.25, 10.5]
    due = [i for i in range(11) if schedule.is_vtk_due(i, 10.0 + 0.1 * i, i == 10)]
    assert due == [0, 3, 5]
    assert schedule.next_field(0) == NEVER and abs(schedule.next_instant() - 12.0) < 1e-6


@given(period=st.floats(1e-3, 1e3), count=st.integers(1, 60), start=st.floats(0.0, 1e3), marks=st.booleans())
def test_intervals_are_due_at_their_multiples_and_at_the_end(
    period: float, count: int, start: float, marks: bool
) -> None:
    """Increments of a seventh of an interval: every seventh is due, whatever round-off does to the multiples."""
    paces = {"intervals": count}, {"interval": period / count}
    for pace in paces:
        step = Step(Dynamic(0.1 * period, period), outputs=(OutputRequest("NODE PRINT", **pace, marks=marks),))
        schedule = Schedule(chain(steps=(replace(step, outputs=(*step.outputs, NO_ENERGIES)),)), 0, start, None)
        time = start + period / count / 7.0 * np.arange(7 * count + 1)
        due = np.flatnonzero(schedule.rows_due(np.arange(len(time)), time, True))
        assert due.tolist() == [*range(0, 7 * count + 1, 7)]
        assert len(schedule.instants) == (count - 1 if marks else 0)
        assert np.allclose(schedule.instants, time[7:-1:7] if marks else [], rtol=1e-12)


def test_intervals_that_do_not_divide_the_step_have_its_end() -> None:
    schedule = Schedule(with_outputs(OutputRequest("NODE PRINT", interval=0.4), NO_ENERGIES), 0, 0.0, 10)
    due = schedule.rows_due(np.arange(11), 0.1 * np.arange(11), True)
    assert np.flatnonzero(due).tolist() == [0, 4, 8, 10]


def test_intervals_that_divide_a_step_but_for_round_off_have_its_end_among_them() -> None:
    """0.3/0.1 is 2.9999999999999996."""
    found = instants_of(OutputRequest("NODE PRINT", interval=0.1), chain(), 0.3)
    assert found is not None and found.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_more_instants_than_a_run_has_room_for() -> None:
    with pytest.raises(ModelError, match="more than 1,000,000 in a step"):
        Schedule(with_outputs(OutputRequest("NODE PRINT", interval=1e-7)), 0, 0.0, 10)


def test_modes_know_no_intervals() -> None:
    step = Step(Frequency(2), outputs=(OutputRequest("NODE PRINT", intervals=3),))
    assert Schedule(chain(steps=(step,)), 0, 0.0, None).instants.size == 0


def test_asking_twice_gives_the_same_answer() -> None:
    schedule = Schedule(chain(), 0, 0.0, None)
    assert schedule.is_vtk_due(0, 0.0, False) and schedule.is_vtk_due(0, 0.0, False)


@given(
    times=st.lists(st.integers(1, 9), min_size=1, max_size=60).map(np.cumsum),
    instants=st.lists(st.integers(0, 300), min_size=1, max_size=20, unique=True).map(sorted),
    cut=st.integers(1, 60),
)
def test_chunks_of_any_size_and_single_questions_agree(times: np.ndarray, instants: list[int], cut: int) -> None:
    time = times.astype(float)
    increment = np.arange(len(time))
    whole, chunked, single = (Cadence(0, [float(t) for t in instants]) for _ in range(3))
    expected = whole.due(increment, time, True)
    parts = [chunked.due(increment[a : a + cut], time[a : a + cut], False) for a in range(0, len(time), cut)]
    assert np.array_equal(np.concatenate(parts), expected)
    assert [single.is_due(i, t, False) for i, t in enumerate(time.tolist())] == expected.tolist()


def test_recorded_nodes_are_the_union_of_the_print_requests() -> None:
    model = with_outputs(
        OutputRequest("NODE PRINT", "TIP"),
        OutputRequest("NODE PRINT", "ENDS", ("V",), 10),
        OutputRequest("NODE PRINT", None, every=0),
        OutputRequest("EL PRINT", "BOB"),
        steps=2,
    )
    for step in (0, 1):
        schedule = Schedule(model, step, 0.0, 10)
        assert schedule.nodes.tolist() == [0, 3]
        assert schedule.elements.tolist() == [3]
        assert schedule.shown_node == 3
    everything = Schedule(with_outputs(OutputRequest("NODE PRINT")), 0, 0.0, 10)
    assert everything.nodes.tolist() == [0, 1, 2, 3]
    nothing = Schedule(chain(), 0, 0.0, 10)
    assert nothing.nodes.size == nothing.elements.size == 0 and nothing.shown_node is None


def test_frequency_step_has_a_schedule() -> None:
    schedule = Schedule(chain(steps=(Step(Frequency(2)),)), 0, 0.0, None)
    assert schedule.is_vtk_due(0, 0.0, True)


@given(
    times=st.lists(st.floats(1e-3, 0.2), min_size=1, max_size=80).map(np.cumsum),
    size=st.integers(1, 90),
    every=st.sampled_from([0, 1, 3, 7]),
)
def test_chunks_that_end_where_a_field_is_due_miss_none(times: np.ndarray, size: int, every: int) -> None:
    outputs = [OutputRequest("NODE FILE", None, (), 1, "P"), OutputRequest("EL FILE", None, (), every)]
    model = replace(with_outputs(*outputs), time_points={"P": (0.0, 0.1, 0.15, 0.9, 3.0)})
    time = [0.0, *times.tolist()]
    one_by_one, chunked = (Schedule(model, 0, 0.0, None) for _ in range(2))
    expected = [i for i, t in enumerate(time) if one_by_one.is_vtk_due(i, t, False)]
    found, now = [0] if chunked.is_vtk_due(0, 0.0, False) else [], 0
    while now < len(times):
        count = min(size, chunked.next_field(now) - now, len(times) - now)
        count = min(count, int(np.searchsorted(times[now : now + count], chunked.next_instant())) + 1)
        now += count
        if chunked.is_vtk_due(now, time[now], False):
            found.append(now)
    assert found == expected


@pytest.mark.parametrize(("early", "is_reached"), [(0.9e-9, True), (1.1e-9, False)])
def test_an_instant_is_reached_to_a_billionth_of_the_period(early: float, is_reached: bool) -> None:
    request = OutputRequest("NODE FILE", None, (), 1, "P")
    model = replace(with_outputs(request), time_points={"P": (0.5,)})
    period = model.steps[0].procedure.period  # type: ignore[union-attr]
    schedule = Schedule(model, 0, 0.0, 10)
    assert schedule.is_vtk_due(5, 0.5 - early * period, False) == is_reached
