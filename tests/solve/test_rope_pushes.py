"""Ropes do not push; where the error of the increments makes them, it is said."""

from __future__ import annotations

import pytest

from tests.decks import run_text
from tests.solve.test_ropes import EVENT_SCHEMES
from tests.solve.test_ropes_together import swing

NOTICE = "element 1 is held at its length with T < 0"


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
def test_a_rope_left_by_its_support_does_not_push(integrator):
    """The string pendulum whose support falls faster than its mass at first: second order sees it go slack."""
    history = run_text(swing(half=None, integrator=integrator, period=1.0))
    pull = history.of_element(1, "T")
    assert pull.min() >= -1e-9 * pull.max()
    assert NOTICE not in " ".join(history.notices)


def test_pushes_of_first_order_are_named():
    """BACKWARD EULER falls by g dt^2 in an increment, twice too far: the rope is held, which is said."""
    history = run_text(swing(half=None, integrator="BACKWARD EULER", period=0.05))
    assert history.of_element(1, "T").min() < -1.0
    assert NOTICE in " ".join(history.notices)
