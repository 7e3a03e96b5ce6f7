"""Chaotic, regular or not settled: chaos that ends by itself is not called chaos."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.study.exponents import Exponents, Horizon, coming_back, course_of, doubt_at, judge, lyapunov
from tests.chaos.test_policies import Known

RIGID = str(Path(__file__).resolve().parents[2] / "inputs" / "string_pendulum_rigid.inp")
SNAPPING = """*HEADING
A flat arch of two bars with a mass, shaken
*PARAMETER
gamma = 0.4
w = 1.7786
drag = 0.25*w
force = gamma*0.3*w**2
dt = 2*pi/w/100
*NODE
1, -1, 0, 0
2, 0, 0, 0.3
3, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=TOP
3, 2
*SOLID SECTION, ELSET=BARS, MATERIAL=SOFT
1
*MATERIAL, NAME=SOFT
*ELASTIC
20.
*MASS, ELSET=TOP, ALPHA=<drag>
1
*BOUNDARY
1, 1, 3
3, 1, 3
2, 1, 2
*NSET, NSET=TOP
2
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 3, 0.1
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <w>, 0., 0.
1., 0.
*STEP, NLGEOM, INC=100000000
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
<dt>, 150
*CONTROLS, ENERGY DRIFT=OFF
*CLOAD, AMPLITUDE=SHAKE
2, 3, <force>
*NODE PRINT, NSET=TOP
U, V
*END STEP
"""


@pytest.mark.parametrize("amplitude", [7.0, 15.0])
def test_chaos_that_ends_is_not_called_chaos(amplitude):
    """Both swing with period 2 after 2000 s; when they begin to is another time on every processor."""
    found = lyapunov(RIGID, parameters={"A": amplitude}, time=300.0)
    assert not found.is_chaotic
    assert found.is_chaotic is False or "periodic (period 2)" in found.verdict
    assert found.is_chaotic is False or "run for at least " in found.verdict


@pytest.mark.long
def test_what_lasts_keeps_its_verdict():
    chaotic = lyapunov(RIGID, parameters={"A": 11.0}, time=300.0)
    assert chaotic.is_chaotic and chaotic.verdict.startswith("chaotic: the largest exponent is positive (")
    settled = lyapunov(RIGID, parameters={"A": 15.0}, time=1500.0)
    assert settled.is_chaotic is False and settled.settled is not None and settled.settled.period == 2
    assert settled.values[0] == pytest.approx(
        -0.05, abs=5e-4
    )  # analytic: half of beta/m, where multipliers are complex


def test_a_shaken_arch_that_settles():
    early, late = (lyapunov(fem.parse_deck(SNAPPING, {"gamma": 0.4}), time=time) for time in (150.0, 1500.0))
    assert not early.is_chaotic and late.is_chaotic is False and late.settled is not None
    assert lyapunov(fem.parse_deck(SNAPPING, {"gamma": 0.5}), time=150.0).is_chaotic


@pytest.mark.long
def test_tables_notes_and_figures_leave_the_verdict_open(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["lyapunov", RIGID, "--time", "100", "--error", "none"]
    assert main([*command, "--vary", "A=4,15", "--workers", "1", "--output", "many"]) == 0
    with Path("many/sweep.csv").open(newline="") as file:
        assert [row["chaotic"] for row in csv.DictReader(file)] == ["0", ""]
    assert "note: 1 of 2 parameter sets have no verdict (A=15)" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--set", "A=15", "--output", "one"]) == 0
    record = json.loads(Path("one/lyapunov.json").read_text())
    assert record["verdict"] == "" and record["in words"].startswith("not settled")
    assert record["in words"] in " ".join(capsys.readouterr().out.split())
    assert "not settled: not periodic up to time 99.98" in fem.report("one").read_text()


def test_the_figure_sets_open_verdicts_apart():
    from fem.study.figures import exponents_against
    from fem.study.sweep import Sweep

    columns = {"A": [1.0, 2.0, 3.0], "exponent_1": [-0.1, 0.3, 0.2], "error_1": [0.01] * 3, "chaotic": [0, np.nan, 1]}
    arrays = {name: np.array(values, float) for name, values in columns.items()} | {"point": np.arange(3)}
    figure = exponents_against(Sweep(arrays, ("A",)), True)
    (panel,) = figure.axes
    assert np.isnan(panel.lines[0].get_ydata()).tolist() == [False, True, False]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["no verdict"]


# ----------------------------------------------------------------------------------------------- records that are given
def record(*means: float, rows: int = 160, noise: float = 0.05) -> Any:
    """Parts of equal length with these rates, one unit of time a row."""
    random = noise * np.random.default_rng(5).standard_normal(rows * len(means))
    growth = np.repeat(means, rows) + random
    return Known(Horizon(None, 1, 1, 0, 0.0, 0.0), np.column_stack([growth, np.ones(len(growth))]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "means, verdict",
    [((0.2, 0.2), True), ((-0.1, -0.1), False), ((0.0, 0.0), False), ((0.3, -0.1), None), ((-0.1, 0.3), None)],
)
def test_parts_of_a_record_that_differ_are_no_record(means, verdict):
    found = judge(record(*means), 0)
    assert found.is_chaotic is verdict
    assert ("the first part of the run gives" in found.words) == (verdict is None)


def test_what_dt_changes_is_no_chaos():
    numbers = np.array([0.3]), np.array([0.05]), np.zeros((0, 2)), np.array([-0.25])
    found = Exponents(*numbers, True, "chaotic", None)
    finer = replace(found, values=np.array([0.05]))
    assert doubt_at(found, finer).startswith("depends on the increment: 0.3, but 0.05 at dt/2")
    assert doubt_at(found, replace(found, is_chaotic=False)).startswith("depends on the increment")
    assert doubt_at(found, replace(found, is_chaotic=None, verdict="not settled: x")) == "at dt/2 not settled: x"
    assert doubt_at(replace(found, dt_errors=np.array([0.01])), finer) == ""
    assert "0.050000 at dt/2, a change of -0.250000" in repr(found)


@pytest.mark.parametrize("period", [1, 2, 7])
def test_a_section_comes_back_from_the_point_on_from_which_it_does(period):
    points = np.random.default_rng(period).uniform(-1.0, 1.0, (60, 4))
    points[20:] = points[20 + np.arange(40) % period]
    assert coming_back(points, 1.0, 1.0) == (period, 20)
    assert coming_back(points[: 20 + max(16, 2 * period) + period - 1], 1.0, 1.0) == (0, 0)  # one too few


def test_a_motion_is_followed_only_where_what_acts_goes_on():
    """42, 142 and 1415 periods of 100 increments."""
    for time, most in ((150.0, lambda n: 8 * n), (500.0, lambda n: 400 * 100), (5000.0, lambda n: 2 * n)):
        course = course_of(fem.parse_deck(SNAPPING.replace(", 150\n", f", {time}\n")))
        assert (course.every, course.most) == (100, most(course.record))
    ends = SNAPPING.replace(
        "*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC\n1, <w>, 0., 0.\n1., 0.",
        "*AMPLITUDE, NAME=SHAKE\n0., 0., 150., 1.",
    )
    course = course_of(fem.parse_deck(ends))
    assert course.most == course.record and course.every == 0
    automatic = course_of(fem.parse_deck(SNAPPING.replace("*DYNAMIC, DIRECT", "*DYNAMIC")))
    assert automatic.model.steps[-1].procedure.period == 150.0
