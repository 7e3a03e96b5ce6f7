"""A scheme with a march of its own: nothing that is made for the march of Newton's method takes it for another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fem
from fem.errors import EnergyDrift
from fem.model.steps import PARAMETERS
from fem.solve.newton.groups import CONTROL, DONE
from fem.solve.schemes import SCHEMES, Scheme, backward_euler, newmark
from fem.solve.step_run import Newton
from fem.solve.step_system import NO_ROPES
from fem.study.lanes.run import can_run_in_lanes
from tests.solve.ensembles import run_ensemble
from tests.sweeping.swings import SWING

NAME = "IN TURN"


class InTurn(Newton):
    """Increments of implicit Euler and of the trapezoidal rule, in turn."""

    rows = backward_euler().coefficients, newmark(0.25, 0.5).coefficients

    def march(self, step, control, chunk, kept):
        reason = DONE
        while reason == DONE and control[CONTROL.increment] < len(chunk.dt):
            step.stage.coefficients = self.rows[(step.progress.increment + int(control[CONTROL.increment])) % 2]
            reason = step.try_out(control, chunk, kept, NO_ROPES, int(control[CONTROL.increment]) + 1)
        return reason


@pytest.fixture(autouse=True, params=[True])
def scheme(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(procedure: object) -> Scheme:
        return backward_euler()._replace(march=lambda stage: InTurn(), damps=request.param)

    monkeypatch.setitem(SCHEMES, NAME, made)
    monkeypatch.setitem(PARAMETERS, NAME, ())


def swing(more: str = "", integrator: str = NAME, **parameters: float) -> fem.Model:
    text = SWING.replace("*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, ALPHA=0").replace("*DLOAD", f"{more}*DLOAD")
    model = fem.parse_deck(text, parameters)
    (step,) = model.steps
    return replace(model, steps=(replace(step, procedure=replace(step.procedure, integrator=integrator)),))


def test_it_is_neither_of_its_parts():
    ends = [fem.run(swing(integrator=name)).u[-1] for name in (NAME, "NEWMARK", "BACKWARD EULER")]
    assert min(np.abs(ends[0] - other).max() for other in ends[1:]) > 1e-3


def test_lanes_leave_it_to_runs_of_its_own():
    models = [swing(length=length) for length in (1.0, 1.1, 1.2)]
    assert f"{NAME} has a march of its own" in can_run_in_lanes(models[0])
    for result, model in zip(run_ensemble(models, 1), models, strict=True):
        assert not result.in_lanes
        np.testing.assert_array_equal(result.rows.motion[:, 0, -1], fem.run(model).of_node(2))


def test_a_stepper_takes_it_in_every_interval():
    """Intervals that nobody listens to are repeated, where a scheme is the march of single runs alone."""
    model = swing(end=1.0)
    with fem.stepper(model, history=False) as stepper:
        for k in range(1, 21):
            stepper.advance_to(0.05 * k)
        found = stepper.u(2)
    np.testing.assert_allclose(found, fem.run(model).of_node(2)[-1], rtol=1e-10, atol=1e-12)


def test_there_is_no_tangent_map():
    with pytest.raises(fem.CommandError, match="no tangent map for a scheme with a march of its own"):
        fem.lyapunov(swing(), time=0.1)


def test_error_bars_hold():
    truth = fem.run(swing(integrator="NEWMARK", dt=1e-4, end=0.2)).of_node(2)[-1, 1]
    bars = fem.error_bars(swing(), processes=1)
    assert 0.0 < abs(bars.value("U2_n2") - truth) <= bars.bar("U2_n2") < 0.2
    assert bars.order("U2_n2") == 1.0


@pytest.mark.parametrize("scheme", [True, False], indirect=True)
def test_the_energy_watch_believes_what_it_says_of_itself(request: pytest.FixtureRequest):
    model = swing(dt=0.05, end=6.0)
    if request.node.callspec.params["scheme"]:
        assert fem.run(model).time[-1] == pytest.approx(6.0)
    else:
        with pytest.raises(EnergyDrift, match="energy drift"):
            fem.run(model)


@pytest.mark.parametrize("impact", ["MOREAU", "EVENT"])
def test_ropes_are_refused(impact: str):
    model = swing(f"*CONTROLS, IMPACT={impact}\n")
    rope = {"is_inextensible": True, "compression_ratio": 0.0, "young": None}
    model = replace(model, materials={name: replace(one, **rope) for name, one in model.materials.items()})
    with pytest.raises(fem.ModelError, match=f"is a rope, which {NAME} does not support"):
        fem.run(model)


def test_increments_are_equal():
    model = swing()
    (step,) = model.steps
    automatic = replace(step, procedure=replace(step.procedure, direct=False))
    with pytest.raises(fem.ModelError, match=f"{NAME} has a march of its own, with equal increments"):
        fem.run(replace(model, steps=(automatic,)))
