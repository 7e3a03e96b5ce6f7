"""Shipped decks in lanes: which of them run in lanes, and that these give what single runs give."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
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
    "modes before": "guyed_mast",
    "winches": "lift_stop",
    "pulleys and a band": "zip_line",
    "rope laws": "polyester_rope",
    "bending": "cantilever",
    "lift": "galloping_spans",
}
BEAM = """*NODE
9011, 0., 60., 0.
9012, 1., 60., 0.
9013, 2., 60., 0.
*ELEMENT, TYPE=B31, ELSET=OTHER_BEAM
9011, 9011, 9012
9012, 9012, 9013
*BEAM GENERAL SECTION, ELSET=OTHER_BEAM, DENSITY=1.
1., 0.05, 0., 0.05, 0.

600., 200.
*DAMPING, BETA=0.05
*BOUNDARY
9011, ENCASTRE
"""
PULLEY = """*NODE
9021, -1., 70., 0.
9022, 0., 70., -1.
9023, 1., 70., 0.
*ELEMENT, TYPE=PULLEY, ELSET=OTHER_ROPE
9021, 9021, 9022, 9023
*ELEMENT, TYPE=MASS, ELSET=OTHER_WEIGHT
9022, 9022
*MASS, ELSET=OTHER_WEIGHT
1.
*MATERIAL, NAME=OTHER_WIRE
*ELASTIC
500.
*DENSITY
0.5
*SOLID SECTION, ELSET=OTHER_ROPE, MATERIAL=OTHER_WIRE, STRAIN=ENGINEERING
1.
*REST LENGTH
OTHER_ROPE, 2.8
*ELEMENT, TYPE=SPRING1, ELSET=OTHER_GUIDE
9023, 9022
*SPRING, ELSET=OTHER_GUIDE
1
40.
*BOUNDARY
9021, 1, 3
9023, 1, 3
9022, 2
"""
ROPE = """*NODE
9031, 0., 80., 0.
9032, 0., 80., -1.
*ELEMENT, TYPE=T3D2, ELSET=OTHER_CORD
9031, 9031, 9032
*ELEMENT, TYPE=MASS, ELSET=OTHER_BOB
9032, 9032
*MASS, ELSET=OTHER_BOB
1.
*MATERIAL, NAME=OTHER_YARN
*ELASTIC
500.
*VISCOELASTIC
0.3, , 0.1
*DENSITY
0.5
*SOLID SECTION, ELSET=OTHER_CORD, MATERIAL=OTHER_YARN, STRAIN=ENGINEERING
1.
*BOUNDARY
9031, 1, 3
9032, 1, 2
"""
WATER = """*NODE
9041, 0., 90., -70.
9042, 1., 90., -70.
*ELEMENT, TYPE=T3D2, ELSET=OTHER_CHAIN
9041, 9041, 9042
*MATERIAL, NAME=OTHER_STEEL
*ELASTIC
1e6
*DENSITY
10.
*SOLID SECTION, ELSET=OTHER_CHAIN, MATERIAL=OTHER_STEEL, STRAIN=ENGINEERING
1.
*AQUA
-80., -60., 9.81, 1025.
*SEABED, ELSET=OTHER_CHAIN, ELEVATION=-69.99
3e4, 300., 0.1
0.6, 0.3
*BOUNDARY
9041, 1, 3
9042, 1, 3
"""
HELD = {
    BEAM: "9011, ENCASTRE\n", PULLEY: "9021, 1, 3\n9023, 1, 3\n9022, 2\n", ROPE: "9031, 1, 3\n9032, 1, 2\n",
    WATER: "9041, 1, 3\n9042, 1, 3\n",
}  # fmt: skip
PUSHED = {
    BEAM: "*CLOAD\n9013, 3, -2.\n", PULLEY: "*CLOAD\n9022, 1, 3.\n9022, 3, -2.\n", ROPE: "*CLOAD\n9032, 3, -2.\n",
    WATER: "*DLOAD\nOTHER_CHAIN, FI, 1., 0.1, 2.0, 1.0, , 0.0\n",
}  # fmt: skip
BESIDE = {
    "guyed_mast": (PULLEY, ROPE), "cantilever": (PULLEY, ROPE), "lift_stop": (BEAM, ROPE), "zip_line": (BEAM, ROPE),
    "polyester_rope": (BEAM, PULLEY), "galloping_spans": (WATER,),
}  # fmt: skip
"""What stands beside a deck, and swings under a push in its last step: all of these decks have the same families of
forces then, and march in the machine code of one compilation, which takes a minute; the spans in that of lines in
waves (``test_begun_lanes.WET``)."""
SHORTER = {"galloping_spans": {"time": 4.0}}
TO_ROUND_OFF = "spinning_body", "guyed_mast", "polyester_rope"
UNDAMPED = "cable_net", "ice_drop", "galloping_spans"
"""Marched without BETA, in the machine code of ``test_begun_lanes``; with it bars march in ``test_lanes``."""


def test_decks_that_do_not_run_in_lanes():
    models = {path.stem: fem.read_deck(path) for path in sorted(INPUTS.glob("*.inp"))}
    moving = {name: model for name, model in models.items() if any(step.dynamic for step in model.steps)}
    reasons = {name: can_run_in_lanes(model) for name, model in moving.items()}
    expected = {name: reason for reason, names in ALONE.items() for name in names}
    assert {name: reason for name, reason in reasons.items() if reason} == expected


def beside(deck: str, other: str) -> str:
    """A deck with another structure."""
    deck = deck.replace("*STEP", f"{other}*STEP", 1).replace("*BOUNDARY, OP=NEW\n", f"*BOUNDARY, OP=NEW\n{HELD[other]}")
    steps, end, rest = deck.rpartition("*END STEP")
    return f"{steps}{PUSHED[other]}{end}{rest}"


@pytest.mark.long
@pytest.mark.parametrize("name", MECHANISMS.values(), ids=MECHANISMS)
def test_rows_of_decks_in_lanes_are_those_of_single_runs(name):
    """Where increments iterate to round-off, how often is a matter of round-off."""
    deck = (INPUTS / f"{name}.inp").read_text(encoding="utf-8").replace("0.0005, 2.", "0.001, 1.2")  # of the lift
    if name in BESIDE:  # all by one scheme
        deck = deck.replace("DIRECT, ALPHA=0", "DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM")
    model = fem.parse_deck(reduce(beside, BESIDE.get(name, ()), deck), parameters=SHORTER.get(name))
    damping = 0.0 if name in UNDAMPED else 1.0
    models = []
    for factor in (1.0, 1.003, 1.006):
        materials = {
            key: replace(each, density=factor * each.density, beta=damping * each.beta)
            for key, each in model.materials.items()
        }
        models.append(replace(model, materials=materials))
    names = [each for each in SERIES if each != "iterations" or name not in TO_ROUND_OFF]
    check_models(models, names)
