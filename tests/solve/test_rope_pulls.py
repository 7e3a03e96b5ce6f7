"""Pulls of ropes at one instant: their conditions hold, whatever the ropes, or it is said that nothing fulfils them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fem.solve.ropes import events
from fem.solve.ropes.complementarity import NoPulls, complementarity, independent, outside, residual, shared
from fem.solve.ropes.events import EventSearch, NoInstant


def gradients(seed: int, most: int = 8) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """(r, 3) gradients of up to ``most`` bars on one node, some of them the same; which are ropes."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((int(generator.integers(1, most + 1)), 3))
    rows[generator.random(len(rows)) < 0.3] = rows[0]
    one_sided = np.ones(len(rows), np.bool_)
    one_sided[0] = generator.random() < 0.7
    return generator, rows, one_sided


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_pulls_fulfil_their_conditions(seed):
    """p >= 0, W p >= G v, one of the two zero, for any ropes on one node: whether they repeat each other or not."""
    generator, rows, one_sided = gradients(seed)
    speed = generator.standard_normal(3)
    pull, acts = complementarity(rows @ rows.T, rows @ speed, one_sided)
    size = np.abs(rows).max() ** 2 * (1.0 + np.abs(speed).max())
    assert residual(rows @ rows.T, rows @ speed, pull, one_sided).max() < 1e-8 * size
    assert pull[one_sided].min(initial=0.0) >= 0.0
    assert not pull[~acts].any()
    after = speed - rows.T @ pull
    assert after @ after <= speed @ speed * (1.0 + 1e-9)


def test_equal_ropes_have_equal_pulls():
    """Of all pulls of ropes side by side those of least norm."""
    pull, acts = complementarity(np.ones((4, 4)), np.ones(4), np.ones(4, np.bool_))
    assert acts.all()
    assert np.abs(pull - 0.25).max() < 1e-12


def test_what_nothing_fulfils_is_said():
    """Two ropes in a straight line cannot both give way on one mass: W p >= 1 has no answer."""
    with pytest.raises(NoPulls):
        complementarity(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2), np.ones(2, np.bool_))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_independent_ropes_carry_the_same_force(seed):
    """Law: the force stays, no rope pushes, the rows left are independent; sharing keeps it with less squares."""
    generator, rows, one_sided = gradients(seed)
    one_sided[:] = True
    pull = generator.random(len(rows))
    basis, alone = independent(rows, pull, np.ones(len(rows), np.bool_), one_sided, np.zeros(len(rows), np.bool_))
    assert np.abs(alone @ rows - pull @ rows).max() < 1e-9
    assert alone.min() >= 0.0
    assert np.linalg.matrix_rank(rows[basis], 1e-7) == basis.sum()
    length = np.linalg.norm(rows, axis=1)
    least = shared(rows, alone, one_sided, length)
    assert np.abs(least @ rows - pull @ rows).max() < 1e-8
    assert least.min() >= 0.0
    if (least > 0.0).all():
        assert ((least * length) ** 2).sum() <= ((pull * length) ** 2).sum() * (1.0 + 1e-9)


def test_ropes_that_repeat_only_those_that_leave_leave_with_them():
    rows = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0], [1.0, 1.0, 0]])
    stays, asked = np.array([False, True, False, False]), np.array([False, False, True, False])
    assert outside(rows, stays, asked).tolist() == [False, False, True, False]
    assert not outside(rows, np.array([True, True, False, False]), np.array([False, False, False, True])).any()


def test_all_ropes_of_one_instant_are_found_in_one_search():
    """Two that change together, up to round-off, are asked once each; the later third is not among them."""
    asked = []

    def excess(step: float) -> np.ndarray:
        asked.append(step)
        return np.array([step - 0.3, step - 0.3 - 1e-15, step - 0.6])

    search = EventSearch(excess, np.zeros(3), excess(0.0), np.ones(3, np.bool_), np.ones(3), np.zeros(3), 1e-10)
    step, at = search.run(1.0)
    assert step == pytest.approx(0.3, abs=1e-10)
    assert at.tolist() == [True, True, False]
    assert len(asked) < 60


def test_a_search_without_end_is_given_up(monkeypatch):
    """Each rope asked has an earlier instant than the one before: no more than so many are looked for."""
    monkeypatch.setattr(events, "MOST_ROOTS", 3)
    instants = np.array([0.9, 0.7, 0.5, 0.3, 0.1])
    search = EventSearch(
        lambda step: step - instants, np.zeros(5), -instants, np.ones(5, np.bool_), np.ones(5), np.zeros(5), 1e-10
    )
    with pytest.raises(NoInstant):
        search.run(1.0)


@settings(max_examples=200)
@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6), st.booleans())
def test_a_lone_pull_is_what_it_is_beside_another(compliance, right, one_sided):
    """Of a bar that has nothing to do with it, as heavy and as loaded. Quotients of still smaller numbers underflow."""
    assume(right == 0.0 or abs(right) > 1e-290)
    pull, acts = complementarity(np.array([[compliance]]), np.array([right]), np.array([one_sided]))
    both, act = complementarity(compliance * np.eye(2), np.full(2, right), np.full(2, one_sided))
    assert acts[0] == act[0] and pull[0] == pytest.approx(both[0], rel=1e-15, abs=0.0)
    assert pull[0] == pytest.approx(max(right, 0.0) / compliance if one_sided else right / compliance, rel=1e-14)
