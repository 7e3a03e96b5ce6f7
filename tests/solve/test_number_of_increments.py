"""No step has more increments than anybody waits for, whoever chose their length, nor ones that time cannot hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fem
from tests.decks import chain, run_text


def explicit(period: str, young: float = 1e4) -> str:
    """Two bars of 0.1 with mass 1/m: the critical increment is about 0.1/sqrt(young)."""
    return chain(2, young=young).replace("*DYNAMIC, DIRECT\n0.01, 0.5", f"*DYNAMIC, EXPLICIT\n, {period}")


@pytest.mark.parametrize(("period", "young"), [("1.E9", 1e4), ("1E308", 1e4), ("1.", 1e30)])
def test_a_blank_explicit_increment_may_not_come_too_often(period, young):
    with pytest.raises(fem.ModelError, match=r"more than 1e\+09 increments.*set by element [12]"):
        run_text(explicit(period, young))


def test_a_blank_explicit_increment_is_chosen_where_it_can_be():
    history = run_text(explicit("0.02"))
    assert 10 < len(history.time) < 100


@pytest.mark.parametrize("direct", [True, False])
def test_models_built_without_a_deck_are_held_to_it_too(direct):
    model = fem.parse_deck(chain(1))
    step = model.steps[0]
    endless = replace(step, procedure=replace(step.procedure, dt=1e-12, period=1.0, direct=direct))
    with pytest.raises(fem.ModelError, match="step 1 would have more than 1e"):
        fem.run(replace(model, steps=(endless,)))


def test_increments_that_total_time_cannot_hold_are_refused():
    """After 1e6 units of time increments of 1e-9 would be multiples of its round-off, 1.2e-10."""
    text = chain(1, young=1e4, dt=1e-9, period=1e-7)
    static = "*STEP, NLGEOM\n*STATIC\n1.E6, 1.E6\n*DLOAD\nLINE, GRAV, 9.81, 1, 0, 0\n*END STEP\n*STEP"
    held = text.replace("*BOUNDARY\n1, 1, 3\n", "*BOUNDARY\n1, 1, 3\n2, 2, 3\n")
    with pytest.raises(fem.ModelError, match="step 2 ends at the total time 1e"):
        run_text(held.replace("*STEP", static, 1).replace("0, 0, -1", "1, 0, 0"))
