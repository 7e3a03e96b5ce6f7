"""Lanes that go on from states: each gives what its own run gives, statics before it, water, waves and bottom included.

One compilation serves all decks with the same families of forces; it takes a minute.
"""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.runs.record import Requests, SilentSink
from fem.solve.loop import solve
from fem.solve.outcome import CONCENTRATED
from fem.study.lanes.begun import begun, fits
from fem.study.lanes.past import Past
from fem.study.lanes.run import can_run_in_lanes, march_together
from fem.study.question import Job
from fem.study.row import layout_of

DRY = """*PARAMETER
PULL = 1.
YOUNG = 1e5
*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, -0.5
3, 2, 0, -0.5
4, 3, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=CABLE
1, 1, 2
2, 2, 3
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
<YOUNG>
*NO COMPRESSION
*DENSITY
1.
*SOLID SECTION, ELSET=CABLE, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
4, 1, 3
*STEP, NLGEOM
*STATIC
*DLOAD
CABLE, GRAV, 9.81, 0, 0, -1
*NODE PRINT, NSET=ALL
U
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.4
*CONTROLS, RESI_GLOB_RELA=1e-9
*CLOAD
3, 2, <PULL>
*NODE PRINT, NSET=ALL
U, RF
*EL PRINT, ELSET=CABLE
T
*END STEP
"""
WET = """*PARAMETER
H = 2.
T = 6.
SEED = 1
STREAM = 0.4
TOP = 0.5
*NODE
1, -75., 0, -20
7, 0., 0, <TOP>
*NGEN, LINE=CATENARY, NSET=ALL
1, 7, 1, 80.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 6, 1, 1
*MATERIAL, NAME=CHAIN
*ELASTIC
1e8
*DENSITY
286.56
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=CHAIN, STRAIN=ENGINEERING
1.
*AQUA
-20., 0., 9.80665, 1025.
0.2, 0., 0., -20.
<STREAM>, 0., 0., 0.
*WAVE, {wave}
*SEABED, ELSET=LINE, ELEVATION=-20.
3e6, 3e4, 0.216
0.6, 0.3
*BOUNDARY
1, 1, 3
7, 1, 3
*AMPLITUDE, NAME=HEAVE, TIME=STEP TIME, DEFINITION=PERIODIC
1, 1., 0., -1.
1., 0.
*STEP, NLGEOM
*STATIC
*DLOAD
LINE, GRAV, 9.80665, 0., 0., -1.
LINE, PB, 1., 0.216
LINE, FDD, 1., 0.216, 1.333
LINE, FDT, 1., 0.216, 0.639
LINE, FI, 1., 0.216, 2.0, 1.0, , 0.0
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
0.05, 2.
*CONTROLS, RESI_GLOB_RELA=1e-9
*BOUNDARY, AMPLITUDE=HEAVE
7, 3, 3, 0.5
*NODE PRINT, NSET=ALL
U, V, A, RF, CFORCE
*EL PRINT, ELSET=LINE
T
*END STEP
"""
REGULAR = "TYPE=AIRY, WAVE PERIOD, STRETCHING=WHEELER\n<H>, <T>, 0., 1., 0."
IRREGULAR = "TYPE=JONSWAP, SEED=<SEED>, COMPONENTS=20, RAMP=1.\n<H>, <T>, 3.3, 1., 0."
SERIES = (
    "time", "iterations", "kinetic", "strain", "potential", "external_work", "dissipated", "numerical_dissipation",
    "largest_u", "element_values",
)  # fmt: skip


def models_of(text, **series):
    names = list(series)
    return [
        fem.parse_deck(text, dict(zip(names, values, strict=True))) for values in zip(*series.values(), strict=True)
    ]


class LastStep(SilentSink):
    """Rows of the last step of a run."""

    def __init__(self, model):
        self.number, self.parts = len(model.steps), []

    def rows(self, rows):
        if rows.step == self.number:
            self.parts.append(rows)


def check_alike(text, **series):
    """All models march in lanes, and each gives what its own run gives; counts of iterations are the same."""
    check_models(models_of(text, **series), SERIES)


def check_models(models, names):
    """Series of these names, and the motion, of lanes and of single runs."""
    found = list(march_together(models, record_all=True))
    assert sorted(number for marched in found for number in marched.numbers) == list(range(len(models)))
    for marched in found:
        for number in marched.numbers:
            own = LastStep(models[number])
            solve(models[number], own, Requests(record_all=True, fields=False))
            alone, rows = own.parts[0].joined(own.parts[1:]), marched.of(number)
            for name in names:
                expected = getattr(alone, name)
                near = pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1e-3, np.abs(expected).max()))
                assert getattr(rows, name) == near, (name, number)
            for quantity in range(rows.motion.shape[1]):
                if quantity == CONCENTRATED:  # lanes record no loads: nothing that a sweep keeps is made of them
                    continue
                expected = alone.motion[:, quantity]
                near = pytest.approx(expected, rel=1e-8, abs=1e-8 * max(1e-3, np.abs(expected).max()))
                assert rows.motion[:, quantity] == near, (quantity, number)


@pytest.mark.long
def test_statics_come_before_lanes_of_slack_cables():
    check_alike(DRY, PULL=[0.0, 1.0, 2.0, 3.0, 5.0, 8.0, -1.0, -2.0, -4.0], YOUNG=[1e5, 1e5, 2e5, 1e5, 5e4] + 4 * [1e5])


@pytest.mark.long
def test_lanes_of_lines_in_waves_that_rub_on_the_bottom():
    """The surface cuts the top bar in some lanes, the current has a profile, friction is directed."""
    text = WET.format(wave=REGULAR)
    check_alike(
        text, H=[0.1, 0.5, 1.0, 1.5], T=[5.0, 6.0, 7.0, 8.0], TOP=[0.5, -0.5, 0.2, 1.0], STREAM=[0.2, 0.4, 1.0, 0.0]
    )


@pytest.mark.long
def test_lanes_of_lines_in_irregular_seas():
    check_alike(WET.format(wave=IRREGULAR), SEED=[1, 2, 3], H=[1.0, 1.0, 1.5])


@pytest.mark.long
def test_rows_of_lanes_count_the_steps_before():
    models = models_of(DRY, PULL=[1.0, 2.0, 3.0])
    layout = layout_of(models[0])
    rows = layout.together([Job(number, model, layout) for number, model in enumerate(models)], True)
    for number, model in enumerate(models):
        assert rows[number] == pytest.approx(layout.solve(model, number, False)[1], rel=1e-9, abs=1e-9)


def test_models_of_one_march_differ_in_numbers_only():
    regular, irregular = WET.format(wave=REGULAR), WET.format(wave=IRREGULAR)
    texts = regular, regular, regular.replace("0.6, 0.3", "0., 0."), regular.replace("FDT, 1.", "FDT, 0."), irregular
    first, other, smooth, without, sea = (
        begun_alone(fem.parse_deck(text, {"H": height}))
        for text, height in zip(texts, (0.1, 0.5, 0.1, 0.1, 0.1), strict=True)
    )
    assert fits(other, first) and not fits(sea, first)
    assert fits(smooth, smooth) and fits(without, without)


def begun_alone(model):
    return begun_from(Past(model), model)


def begun_from(past, model):
    return begun(past, past.last_step(model))


def leaves(part):
    """All numbers and texts of a group of arrays."""
    if hasattr(part, "_fields"):
        return [leaf for name in part._fields for leaf in leaves(getattr(part, name))]
    return [leaf for each in part for leaf in leaves(each)] if isinstance(part, tuple) else [part]


LATE = WET.format(wave=REGULAR).replace("*AMPLITUDE", "*AMPLITUDE, NAME=PUSH\n0., 0., 2., <T>\n*AMPLITUDE")
LATE = LATE.replace("7, 3, 3, 0.5\n", "7, 3, 3, <H>\n*CLOAD, AMPLITUDE=PUSH\n4, 2, <STREAM>\n").replace(
    "<STREAM>, 0., 0., 0.\n*WAVE", "0.4, 0., 0., 0.\n*WAVE"
)
"""Waves, amplitude, support and load of the last step vary."""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (LATE, {"H": [0.1, 0.5, 1.0], "T": [5.0, 6.0, 7.0], "STREAM": [10.0, 20.0, 30.0]}),
        (WET.format(wave=IRREGULAR), {"SEED": [1, 2, 3], "H": [1.0, 1.0, 1.5]}),
        (DRY, {"PULL": [1.0, 2.0, 3.0]}),
    ],
)
def test_models_with_the_same_statics_begin_their_motion_as_after_their_own(text, values):
    """To the last bit, in any order, though statics has run once."""
    first, *others = models_of(text, **values)
    past = Past(first)
    for model in (*others, first, *others):
        mine, its = begun_from(past, model), begun_alone(model)
        assert fits(mine, its) and not mine.jumps
        for name in ("motion", "loading"):
            for one, other in zip(leaves(getattr(mine, name)), leaves(getattr(its, name)), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)
        for name in ("nodes", "bars", "equations", "coefficients", "limits"):
            for one, other in zip(leaves(getattr(mine.stage, name)), leaves(getattr(its.stage, name)), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)
        for one, other in zip(leaves(mine.stage.system.families), leaves(its.stage.system.families), strict=True):
            np.testing.assert_array_equal(one, other)


FOLLOWED = DRY.replace("*BOUNDARY\n1, 1", "*AMPLITUDE, NAME=RISE\n0., 0., 1., <PULL>\n*BOUNDARY\n1, 1")
FOLLOWED = FOLLOWED.replace("*DLOAD", "*CLOAD, AMPLITUDE=RISE\n2, 2, 0.1\n*DLOAD")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (WET.format(wave=REGULAR), {"STREAM": [0.4, 0.5]}),
        (WET.format(wave=REGULAR), {"TOP": [0.5, 0.4]}),
        (DRY, {"YOUNG": [1e5, 2e5]}),
        (FOLLOWED, {"PULL": [1.0, 2.0]}),
        (DRY.replace("GRAV, 9.81", "GRAV, <PULL>"), {"PULL": [1.0, 2.0]}),
    ],
)
def test_models_whose_statics_end_elsewhere_have_their_own(text, values):
    first, other = models_of(text, **values)
    past = Past(first)
    assert past.last_step(first) is not None and past.last_step(other) is None
    assert not np.array_equal(Past(other).motion.u, past.motion.u)


def test_a_support_that_jumps_is_left_to_a_run_of_its_own():
    first, other = models_of(DRY.replace("*CLOAD\n3, 2,", "*BOUNDARY\n4, 3, 3,"), PULL=[0.0, 0.1])
    past = Past(first)
    assert not begun_from(past, first).jumps and begun_from(past, other).jumps
    assert begun_alone(other).jumps


def test_a_motion_before_the_last_step_is_shared_by_models_in_the_same_waves():
    """Which it feels, while statics does not."""
    twice = WET.format(wave=REGULAR)
    twice += twice[twice.index("*STEP, NLGEOM\n*DYNAMIC") :]
    first, other = models_of(twice, H=[0.1, 0.5])
    past = Past(first)
    assert can_run_in_lanes(first) == "" and past.last_step(first) is not None and past.last_step(other) is None
    still, moved = models_of(WET.format(wave=REGULAR), H=[0.1, 0.5])
    assert Past(still).last_step(moved) is not None
