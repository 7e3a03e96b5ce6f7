"""Sweeps: rows are what single runs give, failures are rows, a broken-off sweep goes on."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.study import row, sweep, workers
from fem.study.points import read_vary
from fem.study.question import Job
from tests.sweeping.swings import write_swing
from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parents[2]
VARY = ["--vary", "length=1,2", "--vary", "gravity=1:9:3"]
FAILING = ("<dt>, <end>", "<dt>, <end>\n*CONTROLS, RESI_GLOB_RELA=1e-9, ITER_GLOB_MAXI=<most>")


@pytest.fixture
def deck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_swing(tmp_path)


def table(folder: Path | str) -> list[dict[str, str]]:
    with (Path(folder) / "sweep.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def counted(monkeypatch) -> list[int]:
    """Points that are really computed, from now on."""
    seen: list[int] = []

    solve = workers.solve_block

    def solve_block(jobs, *lanes):
        seen.extend(job.point for job in jobs)
        return solve(jobs, *lanes)

    monkeypatch.setattr(workers, "solve_block", solve_block)
    return seen


# ------------------------------------------------------------------------------------------ values
def test_rows_are_what_single_runs_give(deck):
    found = fem.sweep(deck, {"length": [1.0, 2.0], "gravity": [1.0, 9.81]}, history=True)
    assert found.parameters["length"].tolist() == [1, 1, 2, 2] and len(found["point"]) == 4
    assert not found.failed.any() and found.failures() == ""
    for point in range(4):
        single = fem.run(deck, parameters={name: found[name][point] for name in found.names})
        u, tension = single.of_node(2), single.of_element(1, "T")
        for axis in range(3):
            name = f"U{axis + 1}_2"
            expected = [u[-1, axis], u[:, axis].min(), u[:, axis].max()]
            assert [found[f"{name}_{what}"][point] for what in ("end", "min", "max")] == expected
        assert [found["T_1_min"][point], found["T_1_max"][point]] == [tension.min(), tension.max()]
        assert found["increments_total"][point] == 20
        assert found["iterations_total"][point] == single.iterations.sum()
        assert found["time_end"][point] == single.time[-1]
        for name in ("kinetic", "strain", "potential"):
            assert found[f"{name}_end"][point] == single.of_energy(name)[-1]
        assert found["energy_error_largest"][point] == np.abs(single.energy_error).max()
        assert np.array_equal(found.histories[point].u, single.u)


def test_frequencies_grow_with_the_root_of_the_stiffness(tmp_path):
    path = tmp_path / "oscillator.inp"
    path.write_text(
        "*PARAMETER\nk = 1.\n*NODE\n1, 0.\n*ELEMENT, TYPE=SPRING1, ELSET=S\n1, 1\n*ELEMENT, TYPE=MASS, ELSET=M\n2, 1\n"
        "*SPRING, ELSET=S\n1\n<k>\n*MASS, ELSET=M\n4.\n*BOUNDARY\n1, 2, 3\n*STEP\n*FREQUENCY\n1\n*END STEP\n"
    )
    stiffness = [1.0, 4.0, 100.0]
    found = fem.sweep(path, {"k": stiffness})
    assert found["frequency_1_1"] == pytest.approx(np.sqrt(np.array(stiffness) / 4.0) / (2 * np.pi), rel=1e-12)


def test_a_deck_that_prints_nothing_is_remarked(deck):
    path = write_swing(deck.parent, "*NODE PRINT, NSET=TIP\nU\n*EL PRINT, ELSET=BAR\nT\n")
    found = fem.sweep(path, {"length": [1, 2]})
    assert list(found)[-1] == "energy_error_largest"
    assert any("no *NODE PRINT" in text for text in found.notices)


def test_table_and_record(deck, capsys):
    assert main(["sweep", "swing.inp", *VARY, "--set", "dt=0.02"]) == 0
    output = capsys.readouterr()
    assert "6 parameter sets" in output.out and "none failed" in output.out and not output.err
    folder = Path("results/swing_sweep")
    rows = table(folder)
    assert [(row["point"], row["length"], row["gravity"]) for row in rows[:4]] == [
        ("1", "1.0", "1.0"), ("2", "1.0", "5.0"), ("3", "1.0", "9.0"), ("4", "2.0", "1.0")
    ]  # fmt: skip
    found = fem.sweep(deck, {"length": [1, 2], "gravity": [1, 5, 9]}, parameters={"dt": 0.02})
    assert [float(row["U2_2_end"]) for row in rows] == found["U2_2_end"].tolist()
    assert list(rows[0]) == list(found)
    record = json.loads((folder / "sweep.json").read_text())
    assert record["verdict"] == "completed" and record["finished"] == record["points"] == 6
    assert record["grid"] == {"length": [1.0, 2.0], "gravity": [1.0, 5.0, 9.0]}
    assert record["deck"]["parameters"] == {"dt": 0.02}


def test_quiet_says_nothing(deck, capsys):
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_nodes_that_only_some_parameter_sets_print(deck):
    path = write_swing(deck.parent, "*NSET, NSET=TIP\n2", "*NSET, NSET=TIP\n<length>")
    found = fem.sweep(path, {"length": [1, 2]})
    assert np.isnan(found["U1_1_end"]).tolist() == [False, True]
    assert any("print other nodes" in text for text in found.notices)


# ------------------------------------------------------------------------------------------ failures
def test_a_failing_parameter_set_is_a_row_and_exit_3(deck, capsys):
    write_swing(deck.parent, *FAILING).write_text(deck.read_text().replace("dt = 0.01", "dt = 0.01\nmost = 50"))
    assert main(["sweep", "swing.inp", "--vary", "most=50,1,49", "--vary", "length=1,-1,0"]) == 3
    output = capsys.readouterr()
    assert "5 of 9 parameter sets failed\n  error: swing.inp:11: element 1 has no length" in output.err
    assert "  no convergence at most=1, length=1; most=1, length=-1\n" in output.err and "5 failed" in output.out
    rows = table("results/swing_sweep")
    assert rows[2]["verdict"].startswith("error: swing.inp:")
    completed = [row["verdict"] == "completed" for row in rows]
    assert completed == [True, True, False, False, False, False, True, True, False]
    assert rows[3]["increments_total"] == "0" and float(rows[3]["U1_2_end"]) == 0.0  # it began
    assert rows[2]["increments_total"] == "0" and rows[2]["U1_2_end"] == rows[2]["time_end"] == ""
    assert rows[6]["U1_2_end"] == rows[0]["U1_2_end"]
    # What failed is not tried again, and not forgotten.
    assert main(["sweep", "swing.inp", "--vary", "most=50,1,49", "--vary", "length=1,-1,0", "--quiet"]) == 3
    assert "5 of 9" in capsys.readouterr().err


def test_a_program_fault_is_a_row(deck, monkeypatch):
    drive = row.drive

    def faulty(model, *arguments, **options):
        if model.parameters["length"] == 2:
            raise ZeroDivisionError("on purpose")
        drive(model, *arguments, **options)

    monkeypatch.setattr(row, "drive", faulty)
    found = fem.sweep(deck, {"length": [1, 2, 3]})
    assert found["verdict"].tolist() == ["completed", "error: ZeroDivisionError: on purpose", "completed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vary", "lenght=1,2"], "the deck has no *PARAMETER lenght; did you mean length?"),
        (["--vary", "length=1,2", "--set", "Length=3"], "both varied and set"),
        (["--vary", "length=1,2", "--set", "nothing=3"], "no *PARAMETER NOTHING"),
        (["--vary", "length=1:2.5"], "lacks the number of values"),
        (["--vary", "length=1,2", "--scheduler", "nowhere"], "takes local or an address"),
        (["--vary", "length=1,2", "--scheduler", "tcp://127.0.0.1:9", "--workers", "2"], "remove --workers"),
    ],
)
def test_a_wrong_sweep_is_exit_2_and_computes_nothing(deck, capsys, arguments, message):
    pytest.importorskip("distributed")
    assert main(["sweep", "swing.inp", *arguments, "--output", "x"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("x/sweep.csv").exists() or len(table("x")) == 0


def test_a_wrong_deck_is_exit_2(deck, capsys):
    assert main(["sweep", "swin", "--vary", "length=1,2"]) == 2
    write_swing(deck.parent, "*DYNAMIC", "*DYNAMICS")
    assert main(["sweep", "swing.inp", "--vary", "length=1,2"]) == 2
    assert "unknown keyword" in capsys.readouterr().err and not Path("results").exists()
    with pytest.raises(fem.CommandError, match="given by its path"):
        fem.sweep(fem.read_deck(ROOT / "inputs/pendulum_lumped.inp"), {"duration": [1]})


def test_a_parameter_named_as_a_column_is_refused(deck):
    path = write_swing(deck.parent, "length = 1.", "length = 1.\nverdict = 3")
    with pytest.raises(fem.CommandError, match="rename"):
        fem.sweep(path, {"verdict": [1, 2]})


def test_a_wrong_number_of_workers_is_exit_2(capsys):
    for number in ("0", "-1", "two"):
        with pytest.raises(SystemExit) as end:
            main(["sweep", "swing.inp", "--vary", "length=1,2", "--workers", number])
        assert end.value.code == 2 and "not a number of processes" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------ progress
class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_and_elsewhere(monkeypatch):
    monkeypatch.setattr("fem.runs.progress.BAR_AFTER", -1.0)
    monkeypatch.setattr(sweep, "LINE_SECONDS", -1.0)
    grid = read_vary(["A=0:1:50", "k=1,2"])
    for stream in (Terminal(), io.StringIO()):
        shown = sweep.SweepConsole("deck", grid, 10, ["a remark"], stream)
        for finished in (11, 12, 20):  # kernels are loaded, lanes compiled
            shown.move(finished, 3)
        assert "s left" not in stream.getvalue()
        time.sleep(0.02)
        shown.move(40, 3)
        shown.close(40, 3, Path("there/sweep.csv"), ["a remark", "another"])
        text = stream.getvalue()
        assert text.startswith("sweep of deck over A = 0 ... 1 (50 values) x k = 1, 2: 100 parameter sets\n10 of them")
        assert "40/100 parameter sets, 3 failed" in text
        assert text.count("note: a remark") == text.count("note: another") == 1
        assert "40 of 100 parameter sets, 3 failed" in text and "in there: sweep.csv, sweep.json" in text
    assert "s left" in text


# ------------------------------------------------------------------------------------------ going on
@pytest.mark.parametrize("cut", [-1, -30, 3])
def test_a_cut_table_goes_on_with_the_same_bytes(deck, monkeypatch, cut):
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    path = Path("results/swing_sweep/sweep.csv")
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    # Cut in the last line, by one byte or more; or three rows in the order in which blocks came.
    path.write_bytes(whole[:cut] if cut < 0 else b"".join([lines[0], lines[5], lines[2], lines[4]]))
    seen = counted(monkeypatch)
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    assert seen == ([5] if cut < 0 else [0, 2, 5])
    assert path.read_bytes() == whole
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    assert seen == ([5] if cut < 0 else [0, 2, 5])


def test_another_grid_is_refused_without_output(deck, capsys, monkeypatch):
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    path = Path("results/swing_sweep/sweep.csv")
    whole = path.read_bytes()
    assert main(["sweep", "swing.inp", "--vary", "length=1,2", "--quiet"]) == 2
    assert "over other values" in capsys.readouterr().err and path.read_bytes() == whole
    seen = counted(monkeypatch)
    assert main(["sweep", "swing.inp", "--vary", "length=1,2", "--quiet", "--output", "results/swing_sweep"]) == 0
    assert main(["sweep", "swing.inp", *VARY, "--quiet", "--force"]) == 0
    assert len(seen) == 8 and path.read_bytes() == whole  # overwritten, since it was named, or asked for


def test_a_sweep_of_an_edited_deck_takes_the_place_of_the_one_before(deck, capsys, monkeypatch):
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0
    write_swing(deck.parent, "*NSET, NSET=TIP", "** edited\n*NSET, NSET=TIP")
    seen = counted(monkeypatch)
    assert main(["sweep", "swing.inp", *VARY, "--quiet"]) == 0 and len(seen) == 6
    Path("else").mkdir()
    write_swing(Path("else"))
    assert main(["sweep", "else/swing.inp", *VARY, "--quiet"]) == 2  # another file of that name
    assert "results of another deck" in capsys.readouterr().err
    assert main(["sweep", "else/swing.inp", *VARY, "--quiet", "--force"]) == 0 and len(seen) == 12


def test_the_deck_is_not_read_from_the_disk_for_each_point(deck, monkeypatch):
    reads = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: reads.append(path.name) or read_bytes(path))
    fem.sweep(deck, {"length": [1, 2, 3, 4]})
    assert reads.count("swing.inp") == 2  # to look at it, and for all parameter sets


# ------------------------------------------------------------------------------------------ processes
@pytest.mark.long
def test_processes_give_the_same_bytes(deck, monkeypatch):
    options = ["--vary", "length=1,2,0", "--vary", "gravity=1:9:9"]
    assert main(["sweep", "swing.inp", *options, "--quiet"]) == 3
    monkeypatch.setattr(workers, "START_UP", 0.0)
    monkeypatch.setattr(workers, "BLOCK_SECONDS", 0.005)
    monkeypatch.setattr(Job, "solve", None)  # not in this process
    fem.sweep(deck, {"length": [1, 2, 0], "gravity": range(1, 10)}, output="many", workers=2)
    assert Path("many/sweep.csv").read_bytes() == Path("results/swing_sweep/sweep.csv").read_bytes()


@pytest.mark.long_cases("9")
@pytest.mark.skipif(os.name == "nt", reason="kills as a shell does")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.sampled(1)
def test_a_killed_sweep_leaves_whole_lines_and_no_processes(deck, sent):
    command = [sys.executable, "-m", "fem", "sweep", "swing.inp", "--vary", "end=2000:2001:400", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, "--quiet"], env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    path = Path("results/swing_sweep/sweep.csv")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_for(lambda: process.poll() is not None or (path.exists() and path.read_bytes().count(b"\n") > 2))
    found = children.read_text().split() if children.exists() else []
    if sent == signal.SIGINT:
        os.killpg(process.pid, sent)  # a terminal sends it to all
    else:
        process.send_signal(sent)
    _, errors = process.communicate(timeout=PATIENCE)
    assert errors.count("\n") == (sent == signal.SIGINT), errors
    assert ("repeat the command to continue" in errors) == (sent == signal.SIGINT)
    assert process.returncode == (130 if sent == signal.SIGINT else -signal.SIGKILL), errors
    rows = path.read_bytes()
    assert 3 <= rows.count(b"\n") < 401 and rows.endswith(b"\n")
    assert len(found) >= 2 or not children.parent.parent.parent.exists()
    wait_for(lambda: not any(alive(pid) for pid in found))


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False
