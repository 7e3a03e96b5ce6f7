"""Output requests that hold until replaced: what a step has in force, and what it costs to ask."""

from __future__ import annotations

import fem
from fem.model import steps as module
from fem.model.steps import outputs_in_force

STEP = "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.1, 0.1\n{asked}*END STEP\n"
MESH = "*NODE, NSET=N\n1,0,0,0\n*ELEMENT, TYPE=MASS, ELSET=M\n1,1\n*MASS, ELSET=M\n1.\n*BOUNDARY\n1,1,3\n"


def model(*asked: str) -> fem.Model:
    return fem.parse_deck(MESH + "".join(STEP.format(asked=text) for text in asked))


def test_requests_of_a_kind_hold_until_that_kind_is_stated_again():
    steps = model("", "*NODE PRINT, NSET=N\nU\n", "*EL PRINT, ELSET=M\nT\n", "*NODE PRINT, NSET=N\nV\n", "").steps
    found = [{request.kind: request.variables for request in outputs_in_force(steps, k)} for k in range(5)]
    node, element = {"NODE PRINT": ("U",)}, {"EL PRINT": ("T",)}
    assert found == [{}, node, node | element, element | {"NODE PRINT": ("V",)}, element | {"NODE PRINT": ("V",)}]


def test_all_steps_are_looked_at_once(monkeypatch):
    """A run asks of each of its steps several times: thousands of steps must not be gone through each time."""
    many, other = model(*["*NODE PRINT, NSET=N\nU\n"] * 50).steps, model("").steps
    passes = []
    every = module._all_in_force
    monkeypatch.setattr(module, "_all_in_force", lambda steps: passes.append(len(steps)) or every(steps))
    for _ in range(3):
        assert all(len(outputs_in_force(many, k)) == 1 for k in range(50))
    assert outputs_in_force(other, 0) == ()
    assert passes == [50, 1]
