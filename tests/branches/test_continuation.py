"""Motions followed up and down: what one value hands to the next, hysteresis, going on, files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from fem.cli import main
from fem.deck import read_deck
from fem.errors import CommandError
from fem.study.branches import orbits
from fem.study.continuation import KEPT, Continuation, continuation
from fem.study.sections import Sections
from tests.branches.oscillators import OSCILLATOR, TABLE, written

FORCES = [0.2, 0.6, 1.0]


def test_one_value_is_the_section_of_the_deck(tmp_path):
    model = read_deck(written(tmp_path, OSCILLATOR))
    asked = Continuation(transient=20, points=40, what="U3_2", nudge=0.0)
    verdict, row, _ = asked.follow(model, None)
    section = Sections(cycles=60, points=40).section(model)
    assert verdict == "completed" and row[0] == section.period
    assert row[6:] == pytest.approx(section.of("U3_2").tolist(), abs=1e-12)
    assert np.isnan(row[3])  # no ropes


def test_duffing_oscillator_remembers_where_it_came_from(tmp_path):
    path = written(tmp_path, OSCILLATOR)
    found = continuation(path, {"F": FORCES}, transient=80, points=40, what="U3_2", output=tmp_path / "out")
    up, down = (found["greatest"][found["way"] == way] for way in (1.0, -1.0))
    assert (found["period"] == 1).all() and (found["exponent"] < -0.01).all()
    # Folds at F = 0.22 and 0.87 (test_orbits.py): between them the large orbit and the small one are both stable.
    assert up[1] < 0.8 and down[1] > 1.4
    assert [up[0], up[2]] == pytest.approx([down[0], down[2]], rel=1e-3)
    small = orbits(path, parameters={"F": 0.6}, what="U3_2")
    assert up[1] == pytest.approx(small["greatest"][0], rel=1e-4)
    # The exponent of an orbit is the logarithm of its largest multiplier over the period.
    rate = np.log(np.abs(small.orbits[0].multipliers[0])) * 1.6 / (2.0 * np.pi)
    assert abs(found["exponent"][1] - rate) < found["error"][1]


@pytest.mark.long
def test_it_goes_on_where_it_stopped(tmp_path, monkeypatch):
    path, folder = written(tmp_path, OSCILLATOR), tmp_path / "out"
    words = ["continue", str(path), "--vary", "F=0.2:1:3", "--back", "--transient", "5", "--points", "4", "--quiet"]
    words += ["--method", "none", "--output", str(folder), "--what", "U3_2"]
    assert main(words) == 0
    whole, last = (folder / "sweep.csv").read_bytes(), (folder / KEPT).read_bytes()
    with np.load(folder / KEPT) as kept:
        np.savez(folder / KEPT, place=2, u=kept["u"], v=kept["v"])  # not the state that was there after three values
    rows = whole.splitlines(keepends=True)
    (folder / "sweep.csv").write_bytes(b"".join(rows[:4]))
    assert main(words) == 0
    assert (folder / "sweep.csv").read_bytes().splitlines()[:4] == whole.splitlines()[:4]
    assert (folder / "sweep.csv").read_bytes() != whole  # it set off from the state that is kept
    (folder / KEPT).write_bytes(last[:100])  # damaged: anew
    (folder / "sweep.csv").write_bytes(b"".join(rows[:4]))
    assert main(words) == 0
    assert (folder / "sweep.csv").read_bytes() == whole and (folder / "continue.png").is_file()
    with (folder / "points.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 6 * 4


@pytest.mark.long
def test_share_of_contact_and_failures(tmp_path):
    path = written(tmp_path, TABLE)
    found = continuation(path, {"A": [0.0, 0.03]}, back=False, transient=4, points=4, method="none", what="U3_2")
    assert found["taut"][0] == 1.0 and 0.1 < found["taut"][1] < 0.9  # at rest on the table, in flight now and then
    with pytest.raises(CommandError, match="one parameter"):
        continuation(path, {"A": [0.0], "c": [0.5]})
    with pytest.raises(CommandError, match="at least 2 points"):
        continuation(path, {"A": [0.0]}, points=1)
    failed = continuation(path, {"omega": [0.0, 20.0]}, back=False, transient=1, points=2, method="none")
    assert failed.failed.tolist() == [True, False]


@pytest.mark.long
def test_command_of_orbits_writes_tables_and_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = str(written(tmp_path, OSCILLATOR))
    assert main(["orbits", path, "--set", "F=0.3", "--what", "U3_2"]) == 0
    assert "stable" in capsys.readouterr().out
    folder = Path("results") / "driven_orbits"
    assert (folder / "orbit.csv").is_file() and (folder / "orbits.png").is_file()
    assert main(["orbits", path, "--vary", "F=0.8:0.9:3", "--what", "U3_2", "--depth", "0"]) == 0
    assert "fold at F = 0.8" in capsys.readouterr().out
    assert not (folder / "orbit.csv").exists()
    with (folder / "orbits.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows].count("fold") == 1
    assert {row["unstable"] for row in rows} == {"0", "1"} and max(float(row["residual"]) for row in rows) <= 1e-8
