"""Sections: points once in a period, periods found, commands write what they say, sweeps go on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from fem.chaos.exponents import lyapunov
from fem.chaos.sections import Sections, drive_period, period_of
from fem.cli import main
from fem.deck import read_deck
from fem.errors import CommandError

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
RIGID = str(INPUTS / "string_pendulum_rigid.inp")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("period", [1, 2, 3, 7])
def test_period_is_found(period):
    n = np.arange(64)
    points = np.column_stack([np.cos(2 * np.pi * n / period), np.zeros(64)])
    assert period_of(points, np.array([2.0, 0.0])) == period


def test_quasi_periodic_and_noisy_points_have_no_period():
    n = np.arange(64)
    assert period_of(np.cos(n)[:, None], np.array([2.0])) == 0
    noise = np.random.default_rng(0).standard_normal((64, 1))
    assert period_of(noise, np.array([5.0])) == 0


def test_section_of_the_regular_and_the_chaotic_pendulum():
    asked = Sections(cycles=120, points=60)
    regular = asked.section(read_deck(RIGID, parameters={"A": 4.0, "beta": 0.5}))
    assert regular.period == 1
    # Exact times: one point in every period of the drive.
    cycle = drive_period(read_deck(RIGID))
    assert regular.time == pytest.approx(cycle * np.arange(61, 121), rel=1e-12)
    chaotic = asked.section(read_deck(RIGID, parameters={"A": 11.0}))
    assert chaotic.period == 0
    assert chaotic.points.shape == (60, 6) and chaotic.track.shape[0] == 16 * 400 + 1
    # In the section the support stands at z = A: the mass at the distance L of it.
    x, z = chaotic.of("U1_2") + 5 * np.sin(0.1), chaotic.of("U3_2") - 5 * np.cos(0.1)
    assert np.hypot(x, z) == pytest.approx(5.0, abs=1e-9)


def test_increments_that_do_not_divide_the_period_are_refused():
    with pytest.raises(CommandError, match="do not divide"):
        Sections(period=1.0, cycles=4, points=2).section(read_deck(RIGID))
    with pytest.raises(CommandError, match="--period"):
        drive_period(read_deck(INPUTS / "pendulum_lumped.inp"))


def test_commands_write_tables_and_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["lyapunov", RIGID, "--time", "200", "--exponents", "2"]) == 0
    assert "exponent 2" in capsys.readouterr().out
    folder = tmp_path / "results" / "string_pendulum_rigid_lyapunov_one"
    rows = rows_of(folder / "convergence.csv")
    assert len(rows) > 100 and (folder / "convergence.png").is_file()
    # The curve and its band end at what is printed.
    found = lyapunov(RIGID, time=200.0, exponents=2)
    for n, (value, error) in enumerate(zip(found.values, found.errors, strict=True), 1):
        assert (float(rows[-1][f"exponent_{n}"]), float(rows[-1][f"error_{n}"])) == (value, error)
    assert main(["sections", RIGID, "--cycles", "40", "--points", "20", "--set", "A=4"]) == 0
    folder = tmp_path / "results" / "string_pendulum_rigid_sections_one"
    assert len(rows_of(folder / "section.csv")) == 20 and (folder / "section.png").is_file()


def test_sweeps_go_on_where_they_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["lyapunov", RIGID, "--vary", "A=4,11", "--time", "200", "--workers", "1"]
    assert main(command) == 0
    table = tmp_path / "results" / "string_pendulum_rigid_lyapunov" / "sweep.csv"
    whole = table.read_bytes()
    assert [row["chaotic"] for row in rows_of(table)] == ["0", "1"]
    assert (table.parent / "exponents.png").is_file()
    table.write_bytes(b"\n".join(whole.split(b"\n")[:2]) + b"\n")
    capsys.readouterr()
    assert main(command) == 0
    assert "1 of them are finished from before" in capsys.readouterr().out
    assert table.read_bytes() == whole
    assert main([*command[:-2], "--time", "201"]) == 2  # another question, same folder


def test_bifurcation_diagram_is_a_tidy_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["sections", RIGID, "--vary", "A=3,4", "--set", "beta=0.5", "--cycles", "30", "--points", "5"]
    assert main([*command, "--what", "U3_2", "--workers", "1", "--quiet"]) == 0
    folder = tmp_path / "results" / "string_pendulum_rigid_sections"
    points = rows_of(folder / "points.csv")
    assert len(points) == 10 and points[0].keys() == {"A", "n", "U3_2"}
    assert (folder / "bifurcation.png").is_file()
