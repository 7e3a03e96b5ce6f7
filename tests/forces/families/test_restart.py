"""What families remember is part of the state a run goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest

from fem.forces.moments import MOMENTS
from fem.forces.vortices import VORTICES
from tests.forces.families.examples import EXAMPLES, acting
from tests.forces.families.fins import FINS
from tests.stopped import check_goes_on


@pytest.mark.parametrize(("family", "deck"), EXAMPLES, ids=lambda each: getattr(each, "name", ""))
@pytest.mark.parametrize("integrator", ["TIME INTEGRATOR=NEWMARK", "EXPLICIT"])
@pytest.mark.sampled
def test_a_run_that_was_stopped_ends_with_the_same_bytes(family, deck, integrator, tmp_path, monkeypatch):
    if family in (FINS, MOMENTS, VORTICES) and integrator == "EXPLICIT":
        return  # which knows no mass that depends on direction, none between nodes, and no vortices
    monkeypatch.chdir(tmp_path)
    procedure = f"*DYNAMIC, DIRECT, {integrator}\n0.01, 0.4\n*RESTART, WRITE, FREQUENCY=10"
    Path("deck.inp").write_text(deck.format(procedure=procedure))
    with acting(family):
        check_goes_on(monkeypatch)
