"""Lanes with different numbers of increments: each ends, to the last bit, as if no other had more."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.study.lanes.pack import WIDTH, sample
from fem.study.lanes.run import march_samples, template
from tests.solve.ensembles import LANE_SERIES
from tests.solve.test_lane_extremes import LUMPED
from tests.solve.test_lanes import CHAIN, PENDULUM
from tests.sweeping.test_lanes import RODS

TIMED = {"0.005, 0.4\n": "0.005, <end>\n", "0.01, 0.5\n": "0.01, <end>\n", "0.01, 2\n": "0.01, <end>\n"}
"""Decks of a fixed duration, and of any."""
DECKS = {
    "pendulum": (LUMPED, {"duration": 2.36784 / 400 * np.array([200, 600, 201.5, 333, 400, 205, 599, 200, 1, 256])}),
    "supports": (PENDULUM, {"end": [0.4, 0.1, 0.203, 0.005], "OMEGA": [5.0, 4.0, 3.0, 2.0]}),
    "chain": (CHAIN, {"end": [0.5, 0.2, 0.3], "PULL": [1.0, 2.0, 3.0]}),
    "rods": (RODS, {"end": [2.0, 0.5, 1.0, 0.77], "speed": [-1.0, 0.5, 2.0, 0.7], "width": [0.1, 0.3, 0.2, 0.0]}),
}


def samples_of(name):
    text, series = DECKS[name]
    for fixed, free in TIMED.items():
        text = text.replace(fixed, free)
    if "end" in series:
        text = text.replace("*PARAMETER\n", "*PARAMETER\nend = 1.\n", 1)
    points = zip(*series.values(), strict=True)
    return [sample(fem.parse_deck(text, dict(zip(series, map(float, point), strict=True)))) for point in points]


def march(samples, every):
    """Rows and solves of each model, and whether it marched well."""
    ((_, rows, good, solves),) = march_samples(template(samples[0]), samples, every, True, True)
    places = [(number // WIDTH, number % WIDTH) for number in range(len(samples))]
    if rows.kinetic.shape[-1] == 1:
        places = [(number, 0) for number in range(len(samples))]
    each = [{name: getattr(rows, name)[..., *place] for name in LANE_SERIES} for place in places]
    return list(zip(each, solves.tolist(), good.tolist(), strict=True))


def check_counts(name, every, alone_of):
    samples = samples_of(name)
    together = march(samples, every)
    assert len({len(one.dt) for one in samples}) > 2
    for one, (rows, solves, good) in zip(samples, together, strict=True):
        alone, its_solves, its_good = march(alone_of(one), every)[0]
        assert good and its_good and solves == its_solves
        for series in LANE_SERIES:
            count = len(alone[series])
            assert rows[series][:count].tobytes() == alone[series].tobytes(), (len(one.dt), series)
            assert (rows[series][count:] == rows[series][count - 1]).all()  # it waits


def beside_a_shorter_one(one):
    """The other one ends after its first increment, or, where this one has no more, after its second."""
    if len(one.dt) == 1:
        return [one, one._replace(time=np.append(one.time, 2.0 * one.time[1]), dt=np.append(one.dt, one.dt))]
    return [one, one._replace(time=one.time[:2], dt=one.dt[:1])]


def beside_one_as_long(one):
    """In machine code that knows nothing of counts."""
    return [one, one._replace(time=one.time.copy())]


@pytest.mark.long
@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize("name", DECKS)
def test_lanes_with_counts_of_their_own_end_as_alone(name, every):
    check_counts(name, every, beside_a_shorter_one)


@pytest.mark.long
def test_pendulums_with_counts_of_their_own_end_as_those_without():
    """Of larger models other machine code may round otherwise."""
    check_counts("pendulum", 1, beside_one_as_long)


@pytest.mark.parametrize("every", [0, 1])
@pytest.mark.parametrize("name", DECKS)
def test_models_of_different_counts_that_march_one_by_one_end_as_alone(name, every, monkeypatch):
    monkeypatch.setattr("fem.study.lanes.run.is_compiled_in_time", lambda *_: False)
    check_counts(name, every, beside_one_as_long)
