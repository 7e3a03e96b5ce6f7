"""Basins: each start ends where an integration of its own says, in lanes and alone, however attractors are numbered."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.study import workers
from fem.study.basins import Attractor, Basins, Settling, at_half, chosen_in, furthest, grouped, returning, turns
from fem.study.figures import picture
from fem.study.sweep import Sweep

RIGID = str(Path(__file__).resolve().parents[2] / "inputs" / "string_pendulum_rigid.inp")
HEIGHT, STIFF, DRAG = 0.3, 40.0, 0.8
TRUSS = f"""*HEADING
A truss that snaps: two bars over a flat arch, a mass at its top
*PARAMETER
drag = {DRAG}
*NODE
1, -1, 0, 0
2, 0, 0, {HEIGHT}
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
{STIFF}
*MASS, ELSET=TOP, ALPHA=<drag>
1
*BOUNDARY
1, 1, 3
3, 1, 3
2, 1, 2
*NSET, NSET=TOP
2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.02, 1
*NODE PRINT, NSET=TOP
U
*END STEP
"""
STARTS = {"U3_2": np.linspace(-0.83, 0.31, 8), "V3_2": np.linspace(-3.1, 2.7, 8)}


@pytest.fixture
def truss(tmp_path):
    path = tmp_path / "truss.inp"
    path.write_text(TRUSS)
    return path


def ends_up(u: float, v: float) -> bool:
    """z'' = -EA/(m L^3) z (z^2 - h^2) - d z': Green strain of both bars (Crisfield, vol. 1, section 1.2), in full."""
    stiff = STIFF / (1.0 + HEIGHT**2) ** 1.5

    def rates(_, y):
        return [y[1], -stiff * y[0] * (y[0] ** 2 - HEIGHT**2) - DRAG * y[1]]

    return bool(solve_ivp(rates, (0.0, 30.0), [HEIGHT + u, v], method="DOP853", rtol=1e-10, atol=1e-12).y[0, -1] > 0.0)


@pytest.mark.long
def test_a_truss_snaps_where_an_integration_says(truss, monkeypatch):
    """64 starts in lanes, on both sides of the stable manifold of the flat state; then some of them alone."""
    monkeypatch.setattr(workers, "is_worth_compiling", lambda *_: True)
    found = fem.basins(truss, STARTS, period=1.0, workers=1)
    expected = np.array([ends_up(u, v) for u, v in zip(*found.starts.values(), strict=True)])
    assert 20 < expected.sum() < 44 and [each.kind for each in found.attractors] == ["rest", "rest"]
    heights = np.array([each.points[0, each.columns.index("COOR3_2")] for each in found.attractors])
    assert np.abs(heights) == pytest.approx(HEIGHT, abs=1e-4)
    assert ((heights > 0.0)[found.attractor - 1] == expected).all()
    assert sum(each.share for each in found.attractors) == pytest.approx(1.0)
    # One start in twenty ran again at dt/2, in lanes, too.
    assert (found.again >= 0).sum() in (3, 4) and not found.elsewhere.any()
    # The order of names and values changes nothing but the order of the starts; alone they end as in lanes.
    few = {name: values[::-3] for name, values in reversed(STARTS.items())}
    again = fem.basins(truss, few, period=1.0, workers=1)
    its = np.array([each.points[0, each.columns.index("COOR3_2")] for each in again.attractors])
    here = [
        list(zip(*found.starts.values(), strict=True)).index((u, v))
        for v, u in zip(*again.starts.values(), strict=True)
    ]
    assert ((its > 0.0)[again.attractor - 1] == expected[here]).all()


def test_some_starts_run_again_at_half_the_increment(truss, monkeypatch, tmp_path, capsys):
    """Where they end at dt/2 is where the same starts end in a run of their own."""
    truss.write_text(TRUSS.replace("drag = ", "dt = 0.1\ndrag = ").replace("0.02, 1\n", "<dt>, 1\n"))
    monkeypatch.setattr("fem.study.basins.ONE_IN", 2)
    monkeypatch.chdir(tmp_path)
    command = ["basins", str(truss), "--grid", "U3_2=-0.7:0.1:4", "--period", "1", "--workers", "1"]
    assert main([*command, "--output", "own"]) == 0
    assert "starts repeated at dt/2 end on another attractor" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--set", "dt=0.05", "--error", "none", "--output", "finer"]) == 0
    assert "dt/2" not in capsys.readouterr().out
    own, finer = (list(csv.DictReader((tmp_path / name / "sweep.csv").open())) for name in ("own", "finer"))
    chosen = [row for row, other in enumerate(own) if other["period_dt"]]
    assert chosen[0] == 0 and len(chosen) == 2 and chosen == [0, 2 + chosen_in(1)]
    for row in chosen:
        assert own[row]["COOR3_2_dt"] == finer[row]["COOR3_2_point"] and "period_dt" not in finer[row]
    with (tmp_path / "own" / "basins.csv").open(newline="") as file:
        assert [bool(row["attractor_dt"]) for row in csv.DictReader(file)] == [row in chosen for row in range(4)]


def test_ends_at_half_the_increment_are_told_apart_though_orbits_move():
    """Own attractor moved by 1 %; the other one; nothing near; another period; not run again; aperiodic."""
    asked = Settling((2,))
    ends, periods = [1.01, -1.0, 3.0, 1.0, np.nan, 0.0], [1.0, 1.0, 1.0, 2.0, np.nan, 0.0]
    columns = {f"{name}_dt": np.array(ends if name == "COOR3_2" else [0.0] * 6) for name in asked.state}
    sweep = Sweep(columns | {"period_dt": np.array(periods)}, ("U3_2",))
    points = np.zeros((3, 1, 6))
    points[:2, 0, asked.state.index("COOR3_2")] = 1.0, -1.0
    kinds = zip((1, 1, 0), points, strict=True)
    attractors = [Attractor(n, p, "rest", 0, tuple(asked.state), x, 0.3) for n, (p, x) in enumerate(kinds, 1)]
    number = np.array([1, 1, 1, 1, 1, 3])
    again = at_half(sweep, asked, attractors, np.ones(6), number)
    assert again.tolist() == [1, 2, 0, 0, -1, 3]
    found = Basins({}, number, number, tuple(attractors), again, sweep)
    assert found.elsewhere.tolist() == [False, True, True, True, False, False]
    assert (
        found.what_dt_does == "3 of 5 starts repeated at dt/2 end on another attractor (60 %): use smaller increments"
    )


def test_the_figure_of_basins_says_what_dt_does(truss):
    found = fem.basins(truss, {"U3_2": [-0.7, 0.1]}, period=1.0, workers=1)
    assert found.again.tolist() == [found.attractor[0], -1]
    assert "0 of 1 starts repeated at dt/2 end on another attractor (0 %)" in picture(found, True).get_suptitle()


def test_a_damped_pendulum_comes_to_hang(tmp_path):
    found = fem.basins(
        RIGID,
        {"theta0": [-3.0, 0.7, 3.1], "rate0": [-4.0, 4.0]},
        parameters={"A": 0.0, "beta": 1.0, "increments": 100},
        output=tmp_path / "out",
        workers=1,
    )
    (one,) = found.attractors
    assert (one.kind, one.period, one.turns, one.share) == ("rest", 1, 0, 1.0)
    assert one.points[0] == pytest.approx([0.0, 0.0, -5.0, 0.0, 0.0, 0.0], abs=1e-3)
    with (tmp_path / "out" / "basins.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["rate0"]) for row in rows] == [-4.0, 4.0] * 3 and {row["attractor"] for row in rows} == {"1"}


def test_the_command_goes_on_and_names_what_fails(truss, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["basins", str(truss), "--grid", "U3_2=-0.7,0.1", "--period", "1", "--workers", "1"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "1: rest, 50 % of the starts" in shown and "basins.png" in shown
    folder = tmp_path / "results" / "truss_basins"
    before = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    assert set(before) == {"sweep.csv", "basins.csv", "attractors.csv"} and (folder / "basins.png").is_file()
    assert main(command) == 0
    assert "2 of them were finished" in capsys.readouterr().out
    assert before == {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    # A rod has no start displacement across it that keeps its length.
    grid = ["--grid", "U1_2=0,1", "--set", "A=0", "--set", "beta=1", "--set", "increments=100"]
    assert main(["basins", RIGID, *grid, "--workers", "1"]) == 3
    assert "has the constant length" in capsys.readouterr().err
    with pytest.raises(CommandError, match="no node 9"):
        fem.basins(truss, {"U3_9": [0.1]}, period=1.0)


@given(period=st.integers(1, 9), shift=st.integers(0, 8), decay=st.floats(0.1, 0.6))
@settings(max_examples=30)
def test_sections_return_whatever_their_phase(period, shift, decay):
    """Orbits of a period, reached at a rate, from any of their points on: one period, one point that stands for all."""
    orbit = np.random.default_rng(period).uniform(-1.0, 1.0, (period, 4))
    n = np.arange(60)
    points = orbit[(n + shift) % period] + decay ** n[:, None]
    assert returning(points[None], 1e-6, 1e-3).tolist() == [period]
    fewest = period + max(period, 3)  # points that are compared with those before them
    found = [returning(points[None, -count:], 1e-6, 1e-3).tolist() for count in (fewest, fewest - 1)]
    assert found == [[period], [0]]
    last = points[-period:]
    expected = orbit[furthest(orbit)]
    assert last[furthest(last)] == pytest.approx(expected, abs=1e-6)
    assert returning(np.cos(n)[None, :, None], 1e-6, 1e-3).tolist() == [0]


def test_groups_know_periods_and_failures():
    period = np.array([1, 1, -1, 2, 0, 1, 0])
    points = np.array([[0.0], [1.0], [np.nan], [0.0], [3.0], [1.0005], [9.0]])
    assert grouped(period, points, 1e-3).tolist() == [0, 1, -1, 2, 3, 1, 3]
    with pytest.raises(CommandError, match="more than 100 attractors"):
        grouped(np.ones(101, int), np.arange(101.0)[:, None], 1e-3)


@pytest.mark.parametrize("count", [-2, 0, 1, 3])
def test_turns_are_counted(count):
    angle = np.linspace(0.0, 2.0 * np.pi * count, 65) + 0.3 * np.sin(np.linspace(0.0, 2.0 * np.pi, 65))
    track = np.zeros((65, 2, 3))
    track[:, 1, 1], track[:, 1, 2] = 2.0 * np.cos(angle), 2.0 * np.sin(angle)
    assert turns(track, np.array([[0, 1]])) == count


def test_points_are_compared_over_the_size_of_the_model_and_its_speed_in_a_period():
    """The truss is 2 long and 0.3 high: positions over its diagonal, velocities over that times 2 pi/period."""
    study = Settling((2,), 0.5, 1, 2, 1e-3, False)
    assert study.scale(fem.parse_deck(TRUSS)) == pytest.approx(
        np.hypot(2.0, HEIGHT) * np.repeat([1.0, 2.0 * np.pi / 0.5], 3)
    )
