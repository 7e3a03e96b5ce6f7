"""The stroboscopic map is the run of the deck, and its derivative that of neighbouring motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fem
from benchmarks.reliability.random_rods import MOST_APART, SCHEMES, study
from fem.errors import CommandError
from fem.study.strobe import State, Strobe
from fem.study.trajectory import lasting

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
RIGID, SPRING, ROPE = (INPUTS / f"string_pendulum_{kind}.inp" for kind in ("rigid", "spring", "rope"))
NAMES = {"string_pendulum_rope": {"beta": 0.5, "A": 8.0, "increments": 400}}

SMOOTH, WITH_EVENTS = (1, 2, 4, 6, 10, 11), (3, 5, 7, 14, 35, 54, 76, 83)
"""Trials in which nothing becomes slack or taut; in which ropes or stops do."""


def model_of(path: Path, **parameters: float) -> fem.Model:
    return fem.read_deck(path, {**NAMES.get(path.stem, {}), **parameters})


@pytest.mark.parametrize("path", [RIGID, SPRING, ROPE], ids=lambda path: path.stem)
def test_the_map_is_the_run(path):
    model = model_of(path)
    strobe = Strobe(model, multiple=2)
    history = fem.run(lasting(model, 2 * strobe.period))
    for _ in range(2):  # it can be asked again
        end = strobe.go()
        assert end.u == pytest.approx(history.u[-1].ravel(), abs=1e-13)
        assert end.v == pytest.approx(history.v[-1].ravel(), abs=1e-13)
    # Two periods at once are one after the other: the state is all there is (NEWMARK), and the drive comes back.
    once = Strobe(model)
    assert once.go(once.go()).u == pytest.approx(end.u, abs=1e-9)


@pytest.mark.parametrize("path", [RIGID, SPRING], ids=lambda path: path.stem)
def test_its_derivative_is_that_of_neighbouring_motions(path):
    strobe = Strobe(model_of(path, A=3.0))
    chart = strobe.chart(strobe.go())
    assert strobe.has_tangent
    end, slope = strobe.slopes(chart, np.eye(len(chart)))
    strobe.has_tangent = False
    other, differences = strobe.slopes(chart, np.eye(len(chart)))
    assert len(chart) == (2 if path == RIGID else 4)
    assert end == pytest.approx(other, abs=1e-13)
    # Differences: the fourth power of APART times fifth derivatives, round-off over APART.
    assert slope == pytest.approx(differences, abs=1e-6 * np.abs(slope).max())


def test_it_is_that_for_random_rods_and_ropes_of_unequal_masses():
    """A few of the thousand of ``benchmarks.reliability.random_rods``: chains, trees, nets, stops; every integrator."""
    trials = list(study((*SMOOTH, *WITH_EVENTS)))
    assert [bool(events) for _, why, (events, *_) in trials if not why] == [False] * len(SMOOTH) + [True] * 8
    happened = {what for _, _, (events, *_) in trials for *_, what in events}
    assert happened >= {"slack", "impact", "apart"}
    for name in ("ELSET=rod", "ELSET=rope", *(f"INTEGRATOR={scheme}\n" for scheme in SCHEMES)):
        assert any(name in text for text, *_ in trials), name
    for text, _, (_, *found) in trials:
        assert max(found) < MOST_APART, text


def test_states_handed_on_are_made_such_as_may_be():
    strobe = Strobe(model_of(RIGID))
    given = strobe.begin()
    wrong = State(given.u + 0.01 * (np.arange(6) == 5), given.v + 0.01)
    state = strobe.begin(wrong)
    place = strobe.model.mesh.coordinates.ravel() + state.u
    link, rate = place[3:] - place[:3], state.v[3:] - state.v[:3]
    assert np.linalg.norm(link) == pytest.approx(5.0, abs=1e-12)
    assert link @ rate == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < np.abs(state.u - given.u).max() < 0.011


def test_what_has_no_whole_period_is_refused():
    model = model_of(RIGID)
    with pytest.raises(CommandError, match="do not divide"):
        Strobe(model, period=1.0)
    step = model.steps[0]
    automatic = replace(step, procedure=replace(step.procedure, direct=False))
    with pytest.raises(CommandError, match="DIRECT"):
        Strobe(replace(model, steps=(automatic,)))
