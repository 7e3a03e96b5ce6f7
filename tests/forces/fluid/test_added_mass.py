"""Added mass that couples the nodes of bars: every integrator, every solver, rods, starts."""

from __future__ import annotations

import numpy as np
import pytest

from fem.errors import ModelError
from tests.decks import run_text
from tests.forces.fluid.test_flows import CHAIN, CURRENT

ORDERS = [("NEWMARK", 2), ("HHT", 2), ("GENERALIZED ALPHA", 2), ("BACKWARD EULER", 1), ("ENERGY MOMENTUM", 2)]
INERTIA = "LINE, FI, 1., 0.2, 2., 1., , 0.3\n"


def falls(integrator, dt, *, rule="CONSISTENT", solver="AUTO", period=0.4, material="*ELASTIC\n1e6"):
    """A chain that falls into a current from above its surface."""
    text = CHAIN.format(current=CURRENT, integrator=integrator, more=INERTIA)
    text = text.replace("0.02, 2.", f"{dt!r}, {period!r}").replace("MATERIAL=M\n", f"MATERIAL=M, MASS={rule}\n")
    return run_text(text.replace("*ELASTIC\n1e6", material), solver=solver)


@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_order(integrator, order):
    finest = falls("NEWMARK", 0.4 / 1600).u[-1]
    errors = [np.abs(falls(integrator, 0.4 / count).u[-1] - finest).max() for count in (50, 100)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("rule", ["CONSISTENT", "ONE POINT"])
@pytest.mark.parametrize("solver", ["CHAIN", "BAND", "CG", "DIRECT"])
def test_every_solver_gives_one_answer(solver, rule):
    assert falls("HHT", 0.01, rule=rule, solver=solver).u == pytest.approx(falls("HHT", 0.01, rule=rule).u, abs=1e-9)


def test_the_books_close():
    history = falls("ENERGY MOMENTUM", 0.01)
    balance = history.energy[:, :5] @ [1.0, 1.0, 1.0, -1.0, 1.0]
    assert np.abs(balance - balance[0]).max() < 1e-10 * history.energy[-1, 4]


def test_rods_have_it_too():
    """A chain of rods is what one of stiff bars tends to."""
    rods = falls("GENERALIZED ALPHA", 0.005, material="*INEXTENSIBLE").u[-1]
    bars = falls("GENERALIZED ALPHA", 0.005, material="*ELASTIC\n1e10").u[-1]
    assert rods == pytest.approx(bars, abs=1e-4)


def test_explicit_wants_it_lumped():
    text = CHAIN.format(current=CURRENT, integrator="NEWMARK", more=INERTIA).replace(
        "MATERIAL=M\n", "MATERIAL=M, MASS=CONSISTENT\n"
    )
    with pytest.raises(ModelError, match="use MASS=LUMPED"):
        run_text(text.replace("DIRECT, TIME INTEGRATOR=NEWMARK\n0.02, 2.", "EXPLICIT\n1e-4, 0.01"))
