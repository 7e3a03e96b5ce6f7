"""Sections: points once in a period, periods found, commands write what they say, sweeps go on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from fem.cli import main
from fem.deck import read_deck
from fem.errors import CommandError
from fem.study.exponents import lyapunov
from fem.study.sections import Sections, drive_period, period_of, strobe

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


SWEPT = ["--vary", "A=3:4:2", "--set", "beta=0.5"]
FEW = {
    "sections": ["--cycles", "6", "--points", "4"],
    "continue": ["--transient", "2", "--points", "4", "--method", "none"],
    "orbits": ["--transient", "2"],
}


@pytest.mark.long_cases("continue", "orbits", "sections")
@pytest.mark.parametrize("command", FEW)
def test_the_force_of_a_set_is_asked_for_by_its_name(command, tmp_path, capsys):
    """Of one rod it is the force of that; a set that is not there is refused before anything is computed."""
    words = [command, RIGID, *FEW[command], "--quiet"]
    for more in ([], SWEPT) if command == "sections" else (SWEPT,):
        for what, message in (("T_TOPS", "no element set TOPS; there are ROD, BOB"), ("T_BOB", "prints no T_2; it")):
            assert main([*words, *more, "--what", what, "--output", str(tmp_path / "none")]) == 2
            assert message in capsys.readouterr().err
    found = []
    for what in ("T_ROD", "T_e1", "U1_2"):
        assert main([*words, *SWEPT, "--what", what, "--output", str(tmp_path / what)]) == 0
        found.append(rows_of(tmp_path / what / f"{'orbits' if command == 'orbits' else 'sweep'}.csv"))
    assert found[0] == found[1] != found[2]


@pytest.mark.long
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


@pytest.mark.long
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
    assert "1 of them were finished before" in capsys.readouterr().out
    assert table.read_bytes() == whole
    assert main([*command[:-2], "--time", "201"]) == 2  # another question, same folder


def test_bifurcation_diagram_is_a_tidy_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["sections", RIGID, "--vary", "A=3,4", "--set", "beta=0.5", "--cycles", "30", "--points", "5"]
    assert main([*command, "--what", "U3_2", "--workers", "1", "--quiet"]) == 0
    folder = tmp_path / "results" / "string_pendulum_rigid_sections"
    points = rows_of(folder / "points.csv")
    assert len(points) == 10 and points[0].keys() == {"A", "n", "U3_2"}
    table = (folder / "sweep.csv").read_bytes()
    assert main([*command, "--what", "U3_n2", "--workers", "1"]) == 0  # the same sweep, all of it finished
    assert (folder / "sweep.csv").read_bytes() == table
    assert (folder / "bifurcation.png").is_file()


OSCILLATOR = """*PARAMETER
w = 5.0
cycle = 2*pi/w
dt = cycle/400
*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
1, 1, 2
*ELEMENT, TYPE=DASHPOTA, ELSET=DASHPOT
2, 1, 2
*ELEMENT, TYPE=MASS, ELSET=MASS
3, 2
*SPRING, ELSET=SPRING

50
*DASHPOT, ELSET=DASHPOT

1.2
*MASS, ELSET=MASS
2
*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC
1, <w>, 0, 0
0, 1
*BOUNDARY
1, 1, 3
2, 2, 3
*NSET, NSET=TIP
2
*STEP
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
<dt>, 1
*CLOAD, AMPLITUDE=WAVE
2, 1, 3
*NODE PRINT, NSET=TIP
U
*EL PRINT, ELSET=SPRING
T
*END STEP
"""


@pytest.mark.long_cases("U1_2-1.0")
@pytest.mark.parametrize(("what", "factor"), [("U1_2", 1.0), ("T_1", 50.0)])
@pytest.mark.sampled(1)
def test_peaks_over_the_frequency_are_the_response_of_an_oscillator(tmp_path, monkeypatch, what, factor):
    """|H| = F / sqrt((k - m w^2)^2 + (c w)^2); 40 periods leave exp(-0.3 t) < 1e-4, 400 increments some 1e-4."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "oscillator.inp").write_text(OSCILLATOR)
    command = [
        "sections",
        "oscillator.inp",
        "--vary",
        "w=3:7:9",
        "--period",
        "cycle",
        "--cycles",
        "60",
        "--points",
        "5",
    ]
    assert main([*command, "--what", what, "--workers", "1", "--quiet"]) == 0
    folder = tmp_path / "results" / "oscillator_sections"
    rows = rows_of(folder / "sweep.csv")
    w, greatest, least = (np.array([float(row[name]) for row in rows]) for name in ("w", "greatest", "least"))
    expected = factor * 3.0 / np.hypot(50.0 - 2.0 * w**2, 1.2 * w)
    assert greatest == pytest.approx(expected, rel=1e-3) and least == pytest.approx(-expected, rel=1e-3)
    assert {row["period"] for row in rows} == {"1"} and (folder / "peaks.png").is_file()


def test_a_period_by_name_is_a_parameter(tmp_path):
    deck = read_deck(RIGID)
    assert strobe(deck, "Cycle") == strobe(deck, None) and strobe(deck, "cycle")[1] == 400
    for name in ("nothing", "rate0"):
        with pytest.raises(CommandError, match=f"{name} is neither"):
            strobe(deck, name)
