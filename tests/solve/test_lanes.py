"""Models as lanes give what each of them gives alone, in as many iterations.

A shape of lanes of its own takes 10 to 20 s to compile: that of ``TIMED`` is in the suite, for sweeps
and for extremes, too; all others are long.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import llvmlite.binding
import numba
import numpy as np
import pytest

import fem
from fem.arrays import Floats, Ints
from fem.compiled import kernel, single_kernel
from fem.compiled.choice import is_plain
from fem.compiled.lanes import Lanes, common, every, some, where
from fem.linear.chain import invert
from fem.model.quantities import NODAL
from fem.study.lanes.run import can_run_in_lanes
from tests.machine_code import assembly
from tests.solve.ensembles import run_alone, run_ensemble

PENDULUM = """*PARAMETER
HEIGHT = 0.01
OMEGA = 5.
YOUNG = 1e5
ITERATIONS = 20
*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
<YOUNG>
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=GREEN
1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <OMEGA>, 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, EXTRAPOLATION=PARABOLIC
*DYNAMIC, DIRECT
0.005, 0.4
*CONTROLS, RESI_GLOB_RELA=1e-7, ITER_GLOB_MAXI=<ITERATIONS>
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, <HEIGHT>
*DLOAD
BAR, GRAV, 9.81, 0, 0, -1
*NODE PRINT, FREQUENCY=10
U
*END STEP
"""
TIMED = PENDULUM.replace("YOUNG = 1e5\n", "YOUNG = 1e5\ndt = 0.025/OMEGA\nend = 80.4*dt\n").replace(
    "0.005, 0.4\n", "<dt>, <end>\n"
)
"""Increments as long as the shaking of its support asks for, the last one shorter; as many in all."""
CHAIN = """*PARAMETER
YOUNG = 1e4
PULL = 1.
*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0.3
4, 3, 0, 0.1
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=CABLE
3, 3, 4
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
4, 3
*SPRING, ELSET=GROUND
2
50.
*MATERIAL, NAME=BARS
*ELASTIC
<YOUNG>
*DENSITY
1.
*DAMPING, ALPHA=0.3
*MATERIAL, NAME=CABLE
*ELASTIC
2e3
*NO COMPRESSION
*DENSITY
1.
*DAMPING, BETA=0.001
*SOLID SECTION, ELSET=BARS, MATERIAL=BARS, STRAIN=ENGINEERING
1.
*SOLID SECTION, ELSET=CABLE, MATERIAL=CABLE, STRAIN=LOG, MASS=CONSISTENT
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.5
*CONTROLS, RESI_GLOB_RELA=1e-8, ENERGY DRIFT=OFF
*DLOAD
BARS, GRAV, 9.81, 0, 0, -1
CABLE, GRAV, 9.81, 0, 0, -1
*CLOAD
4, 3, <PULL>
*END STEP
"""
TIMED_CHAIN = CHAIN.replace("PULL = 1.\n", "PULL = 1.\ndt = 0.01\nend = 50*dt\n").replace(
    "0.01, 0.5\n", "<dt>, <end>\n"
)
SERIES = ("kinetic", "strain", "potential", "external_work", "dissipated", "element_values")


def pendulums(**series):
    """One model for each place in the given series of parameters."""
    names = list(series)
    return [
        fem.parse_deck(TIMED, dict(zip(names, values, strict=True))) for values in zip(*series.values(), strict=True)
    ]


def check_alike(result, model, every=10, has_counts=True):
    """The lane of a model holds what the model's own run holds; ``has_counts``: in as many iterations."""
    alone = run_alone(model, every)
    assert result.in_lanes
    assert result.error is None
    assert alone.error is None
    assert result.iterations == alone.iterations or not has_counts
    for name in ("increment", "time", "dt", *(["iterations"] if has_counts else [])):
        assert np.array_equal(getattr(result.rows, name), getattr(alone.rows, name)), name
    pairs = {name: (getattr(result.rows, name), getattr(alone.rows, name)) for name in SERIES}
    pairs |= {
        each.name: (result.rows.values(model)["n"][each.name], alone.rows.values(model)["n"][each.name])
        for each in NODAL
        if each.name
        not in ("CF", "TF", "TE", "DECL", "AZIM")  # lanes record no loads: nothing that a sweep keeps is made of them
    }
    for name, (found, expected) in pairs.items():
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-10 * max(1.0, np.abs(expected).max())), name


@pytest.mark.long
def test_lanes_with_a_moving_support_are_single_runs():
    models = pendulums(HEIGHT=[0.0, 0.01, 0.02, 0.05, 0.1, 0.3, 0.02, 0.04, 0.06, 0.08], OMEGA=[5.0] * 9 + [6.0])
    results = run_ensemble(models, 10)
    assert len({result.iterations for result in results}) > 1  # lanes wait for others
    for result, model in zip(results, models, strict=True):
        check_alike(result, model)


@pytest.mark.long
def test_lanes_may_have_increments_of_their_own():
    """And curves: those of ``TIMED``."""
    models = pendulums(OMEGA=[3.0, 5.0, 5.0, 6.5, 9.0], HEIGHT=[0.05] * 5)
    results = run_ensemble(models, 10)
    assert len({result.rows.time[-1] for result in results}) == 4 and results[0].rows.increment[-1] == 81
    for result, model in zip(results, models, strict=True):
        check_alike(result, model)
    alone = run_ensemble(models[::-1], 10)
    for result, other in zip(results, alone[::-1], strict=True):  # a lane does not depend on its place
        assert np.array_equal(result.rows.kinetic, other.rows.kinetic)


@pytest.mark.long
def test_lanes_of_damped_chains_may_have_increments_of_their_own():
    """Bars and a cable with damping, and a spring; more lanes than one block has."""
    models = [
        fem.parse_deck(TIMED_CHAIN, {"dt": 0.002 * (1 + k), "PULL": 2.0 + 0.5 * k, "YOUNG": 1e4 * (1 + k)})
        for k in range(9)
    ]
    for result, model in zip(run_ensemble(models, 7), models, strict=True):
        check_alike(result, model, 7)


@pytest.mark.long
def test_lanes_march_as_many_increments():
    texts = [TIMED.replace("80.4*dt", f"{count}*dt") for count in (80.4, 80.4, 40.4)]
    models = [fem.parse_deck(text, {"OMEGA": omega}) for text, omega in zip(texts, (5.0, 6.0, 5.0), strict=True)]
    results = run_ensemble(models, 10)
    assert [result.in_lanes for result in results] == [True, True, False]


@pytest.mark.long
def test_a_lane_that_fails_does_not_disturb_others():
    models = pendulums(ITERATIONS=[20, 1, 20, 20], HEIGHT=[0.01, 0.3, 0.3, 0.02], OMEGA=[5.0, 5.0, 5.0, 6.0])
    results = run_ensemble(models, 10)
    assert not results[1].in_lanes
    assert isinstance(results[1].error, fem.NoConvergence)
    for number in (0, 2, 3):
        check_alike(results[number], models[number])


@pytest.mark.long
def test_secant_lanes_that_iterate_to_round_off_are_single_runs():
    text = CHAIN.replace("*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM")
    text = text.replace("*CONTROLS, RESI_GLOB_RELA=1e-8, ENERGY DRIFT=OFF\n", "")
    text = text.replace("*CLOAD\n", "*BOUNDARY, TYPE=VELOCITY\n")
    models = [fem.parse_deck(text.replace("<PULL>", "3, <PULL>"), {"PULL": 0.1 * k}) for k in range(1, 5)]
    for result, model in zip(run_ensemble(models, 7), models, strict=True):
        check_alike(result, model, 7, has_counts=False)  # when round-off no longer falls is a matter of round-off


@pytest.mark.long
def test_lanes_whose_supports_lag_behind_weighted_forces_are_single_runs():
    text = PENDULUM.replace("*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA")
    text = text.replace("STRAIN=GREEN", "STRAIN=GREEN, MASS=CONSISTENT")
    models = [fem.parse_deck(text, {"HEIGHT": height}) for height in (0.01, 0.03, 0.05)]
    for result, model in zip(run_ensemble(models, 10), models, strict=True):
        check_alike(result, model)


def test_models_that_cannot_be_lanes_run_alone():
    model = pendulums(HEIGHT=[0.01])[0]
    step = model.steps[0]
    automatic = dataclasses.replace(step, procedure=dataclasses.replace(step.procedure, direct=False))
    assert can_run_in_lanes(model) == ""
    assert "DIRECT" in can_run_in_lanes(dataclasses.replace(model, steps=(automatic,)))
    assert can_run_in_lanes(dataclasses.replace(model, steps=(step, step))) == ""
    explicit = dataclasses.replace(step, procedure=dataclasses.replace(step.procedure, integrator="CENTRAL DIFFERENCE"))
    assert "EXPLICIT" in can_run_in_lanes(dataclasses.replace(model, steps=(explicit,)))
    ropes = {"is_inextensible": True, "compression_ratio": 0.0}
    slack = {name: dataclasses.replace(one, **ropes) for name, one in model.materials.items()}
    assert "ropes" in can_run_in_lanes(dataclasses.replace(model, materials=slack))
    result = run_ensemble([dataclasses.replace(model, steps=(step, automatic))], 40)[0]
    assert not result.in_lanes


def test_decisions_hold_lane_by_lane():
    @kernel
    def decide(x, out):
        for i in range(x.shape[0]):
            out[i] = where(x[i] > 0.5, x[i], -1.0) + abs(min(x[i], 0.2)) / max(x[i], 2)
        return some(x[0] > 0.9), every(x[0] < 0.9), common(x[0])

    values, out = Lanes(3, 8), Lanes(3, 8)
    x = values.array
    x[:] = np.linspace(0.0, 0.95, 24).reshape(3, 8) - 0.1
    assert decide(values, out) == ((x[0] > 0.9).any(), (x[0] < 0.9).all(), x[0, 0])
    assert out.array == pytest.approx(np.where(x > 0.5, x, -1.0) + np.abs(np.minimum(x, 0.2)) / np.maximum(x, 2))
    single = np.zeros(3)
    decide(np.ascontiguousarray(x[:, 5]), single)
    assert single == pytest.approx(out.array[:, 5])


def test_a_branch_on_a_mask_does_not_compile():
    @kernel
    def branch(x):
        return 1.0 if x[0] > 0.5 else 0.0

    with pytest.raises(numba.core.errors.NumbaError):
        branch(Lanes(1, 8))


class Pair(NamedTuple):
    """A group of an array of packs and one of numbers."""

    x: Floats
    steps: Ints


@single_kernel
def first_beyond(limit: float, given: Pair, out: Floats) -> float:
    """The first of x[0], x[0] + steps[0], ... that is not below a limit; all of x into out."""
    value = given.x[0]
    while value < limit:
        value += given.steps[0]
    for i in range(out.shape[0]):
        out[i] = given.x[i] if given.x[i] > 0.0 else -1.0
    return value


@pytest.mark.skipif(is_plain(), reason="plain numba does not take lanes apart")
def test_kernels_with_branches_are_called_lane_after_lane():
    @kernel
    def ask(limits, given, out):
        limits[0] = first_beyond(limits[0], given, out)

    limits, x, out = Lanes(1, 8), Lanes(3, 8), Lanes(3, 8)
    limits.array[:], x.array[:] = np.arange(8.0), np.random.default_rng(1).normal(size=(3, 8))
    expected = np.array(
        [[first_beyond.function(limits.array[0, lane], Pair(x.array[:, lane], [2]), np.zeros(3)) for lane in range(8)]]
    )
    ask(limits, Pair(x, np.array([2])), out)
    assert np.array_equal(limits.array, expected)
    assert np.array_equal(out.array, np.where(x.array > 0.0, x.array, -1.0))


@pytest.mark.skipif(is_plain(), reason="plain numba makes other machine code")
def test_lanes_use_the_widest_registers():
    features = llvmlite.binding.get_host_cpu_features()
    if not features.get("avx"):
        pytest.skip("no wide registers here")

    @kernel
    def one_node(block, free, inverse):
        return some(invert(False, block, 0, 0.0, free, inverse))

    blocks = Lanes(1, 9, 8)
    blocks.array[0, [0, 4, 8]] = 2.0
    inverse = Lanes(1, 9, 8)
    assert one_node(blocks, np.ones(3), inverse)
    assert inverse.array[0, 0] == pytest.approx(0.5)
    code = assembly(one_node, blocks, np.ones(3), inverse)
    register = "%zmm" if features.get("avx512f") else "%ymm"
    assert sum("mulpd" in line and register in line for line in code.splitlines()) > 10
