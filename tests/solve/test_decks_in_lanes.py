"""Shipped decks in lanes: which of them run in lanes, and that these give what single runs give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import fem
from fem.study.lanes.run import can_run_in_lanes
from tests.solve.test_begun_lanes import SERIES, check_models

INPUTS = Path(__file__).parents[2] / "inputs"
ALONE = {
    "its last step is not *DYNAMIC, DIRECT": (
        "broken_wire", "driven_fairleads", "iced_span", "lazy_wave_laid", "line_section", "ridge_mooring",
        "slack_chain", "twisted_cable",
    ),
    "it has vortices": ("strumming_cable",),
    "it has elements that break": ("parting_line",),
    "it has planes": ("bouncing_ball", "chain_dropped"),
    "it has ropes or stops": (
        "ball_on_table", "ball_on_two_ropes", "cradle", "moving_rope", "string_pendulum_rope",
    ),
    "it has a spring with a table": ("springs_dashpots",),
}  # fmt: skip
"""Decks with motion whose runs march one by one, and why."""
MECHANISMS = {
    "band": "cable_net",
    "removed bars": "twin_lines",
    "fallen masses": "ice_drop",
    "rods and equations": "spinning_body",
    "modes before": "galloping_spans",
    "pulleys": "lift_stop",
    "pulleys and a band": "zip_line",
    "rope laws": "polyester_rope",
    "bending": "cantilever",
}
UNDAMPED = "cable_net", "ice_drop"
"""Marched without BETA, in the machine code of ``test_begun_lanes.DRY``; with it bars march in ``test_lanes``."""


def test_decks_that_do_not_run_in_lanes():
    models = {path.stem: fem.read_deck(path) for path in sorted(INPUTS.glob("*.inp"))}
    moving = {name: model for name, model in models.items() if any(step.dynamic for step in model.steps)}
    reasons = {name: can_run_in_lanes(model) for name, model in moving.items()}
    expected = {name: reason for reason, names in ALONE.items() for name in names}
    assert {name: reason for name, reason in reasons.items() if reason} == expected


@pytest.mark.long
@pytest.mark.parametrize("name", MECHANISMS.values(), ids=MECHANISMS)
def test_rows_of_decks_in_lanes_are_those_of_single_runs(name):
    """Rods of ENERGY MOMENTUM iterate to round-off: how often is a matter of round-off."""
    model = fem.read_deck(INPUTS / f"{name}.inp")
    damping = 0.0 if name in UNDAMPED else 1.0
    models = []
    for factor in (1.0, 1.003, 1.006):
        materials = {
            key: replace(each, density=factor * each.density, beta=damping * each.beta)
            for key, each in model.materials.items()
        }
        models.append(replace(model, materials=materials))
    names = [each for each in SERIES if each != "iterations" or name != "spinning_body"]
    check_models(models, names)
