"""Lanes that keep only the start, the end and the extremes have those of all rows, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.compiled import kernel
from fem.compiled.lanes import Fixed, Lanes, where
from fem.solve.newton.groups import DONE, NOT_FINITE, ROW, Ledger
from fem.study.lanes.march import EXTREMES, GREATEST, LEAST, NOW, REASON, are_finite, fold
from fem.study.lanes.pack import packs_of, sample
from fem.study.lanes.run import Marched, extremes_in, gather, march_all, march_samples, march_together, template
from tests.solve.ensembles import LANE_SERIES
from tests.solve.test_lanes import TIMED, TIMED_CHAIN
from tests.sweeping.test_lanes import RODS, TIMED_RODS

LUMPED = Path("inputs/pendulum_lumped.inp").read_text()
DECKS = {
    "supports": (
        TIMED,
        {"HEIGHT": [0.0, 0.01, 0.02, 0.05, 0.1, 0.3, 0.02, 0.04, 0.06, 0.08], "OMEGA": [5.0] * 9 + [6.0]},
    ),
    "pendulum": (LUMPED, {"period": [2.0, 2.3, 2.36784, 3.0], "increments": [200.0] * 4}),
    "chain": (TIMED_CHAIN, {"YOUNG": [1e4, 2e4, 4e4], "PULL": [1.0, 2.0, 3.0], "dt": [0.01, 0.005, 0.008]}),
    "rods": (RODS, {"speed": [-1.0, 0.5, 2.0], "width": [0.1, 0.3, 0.2]}),
}


def models_of(text, series):
    return [
        fem.parse_deck(text, dict(zip(series, values, strict=True))) for values in zip(*series.values(), strict=True)
    ]


def check_extremes(found, whole):
    """found  of ``every=0``;  whole: of all increments"""
    assert found.numbers == whole.numbers
    assert len(whole.numbers) > 2
    assert np.array_equal(found.solves, whole.solves)
    end, least, greatest = extremes_in(found.rows)
    for name in LANE_SERIES:
        its = getattr(whole.rows, name)
        assert getattr(end, name)[0].tobytes() == its[-1].tobytes(), name
        if name not in ("time", "dt"):
            assert getattr(least, name)[0].tobytes() == np.fmin.reduce(its).tobytes(), name
            assert getattr(greatest, name)[0].tobytes() == np.fmax.reduce(its).tobytes(), name
    assert end.increment.tolist() == [len(whole.rows.increment) - 1]


@pytest.mark.long_cases("chain")
@pytest.mark.parametrize("name", ["supports", "chain"])
def test_extremes_of_lanes_are_those_of_all_their_rows(name):
    models = models_of(*DECKS[name])
    (found,), (whole,) = (list(march_together(models, every, record_all=True)) for every in (0, 1))
    check_extremes(found, whole)


@pytest.mark.long
def test_extremes_of_lanes_that_end_one_by_one_are_those_of_all_their_rows():
    """Of rods, in the machine code of ``test_lane_counts.py``."""
    models = models_of(TIMED_RODS, {**DECKS["rods"][1], "end": [2.0, 0.5, 1.0]})
    samples = [sample(model) for model in models]
    counts, both = np.array([len(one.dt) for one in samples]), []
    for every in (0, 1):
        ((_, rows, good, solves),) = march_samples(template(samples[0]), samples, every, True, True)
        both.append(Marched(rows, dict(enumerate(np.flatnonzero(good).tolist())), counts, solves))
    check_extremes(*both)


@pytest.mark.parametrize("name", DECKS)
def test_extremes_of_models_that_march_one_by_one_are_those_of_all_their_rows(name, monkeypatch):
    monkeypatch.setattr("fem.study.lanes.run.is_compiled", lambda *_: False)
    models = models_of(*DECKS[name])
    both = [list(march_together(models, every, record_all=True, may_compile=False)) for every in (0, 1)]
    check_extremes(*(marched[0] for marched in both))


def test_a_lane_whose_energies_overflow_is_marked():
    text = TIMED.replace("HEIGHT = 0.01\n", "HEIGHT = 0.\ng = 1.\n").replace("9.81", "<g>").replace("80.4", "5")
    series = [{"g": g, "OMEGA": omega, "YOUNG": 1e-300} for g, omega in ((9.81, 2.5e6), (1e164, 2.5e6), (5.0, 2e6))]
    _, samples, stage = gather([fem.parse_deck(text, its) for its in series])
    packs = packs_of(stage, samples, EXTREMES, np.arange(2), np.arange(1))
    assert march_all(packs, stage, 0, lambda *_: True)
    assert packs.outcome.array[0, REASON].tolist() == [DONE, NOT_FINITE, *[DONE] * 6]


@kernel
def note(record, row, out):
    out[0] = where(are_finite(row, record), 1.0, 0.0)
    fold(row, record)


def test_what_is_not_finite_is_seen_in_its_lane_alone():
    """Whatever comes before or after it."""
    increments, kinematics = Lanes(EXTREMES, len(ROW), 8, known=1), Lanes(EXTREMES, 4, 1, 3, 8, known=3)
    values, out = Lanes(EXTREMES, 2, 4, 8, known=2), Lanes(1, 8)
    none = np.zeros((0, 3), np.int64)
    family, unwatched = Fixed(np.zeros((2, 2), np.int64)), np.zeros((0, 2))
    kept = increments, Fixed([0]), kinematics, family, values, none, none, unwatched, Fixed([1])
    arrays = increments.array, kinematics.array, values.array
    draw, rows = np.random.default_rng(1), []
    for row in (0, NOW, NOW, NOW):
        for array in arrays:
            array[row] = draw.standard_normal(array[row].shape)
        rows.append([array[row].copy() for array in arrays])
        for lane, number in enumerate((np.nan, np.inf, -np.inf)):
            values.array[row, 1, 2, lane] = increments.array[row, ROW.error, 3 + lane] = number
        note(Ledger(*kept), row, out)
        assert out.array[0].tolist() == [0.0] * 6 + [1.0] * 2
    for array, its in zip(arrays, zip(*rows, strict=True), strict=True):
        assert np.array_equal(array[LEAST, ..., 6:], np.min(its, axis=0)[..., 6:])
        assert np.array_equal(array[GREATEST, ..., 6:], np.max(its, axis=0)[..., 6:])
