"""What a model needs of memory is said before the first increment, where it is more than what is free."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from fem.cli import main
from fem.commands import memory

ROOT = Path(__file__).resolve().parents[1]


def test_more_is_needed_of_more():
    assert 2e9 < memory.run_bytes(1_000_001, 1_000_000) + 0.7e3 * 1e6 < 3.5e9  # measured: 2.8 GB, with what is read
    assert memory.run_bytes(2, 1) < 1e5


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_it_is_said_before_the_run(monkeypatch, tmp_path, capsys, quiet):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e3)
    deck = str(ROOT / "inputs/sdnl100.inp")
    assert main(["run", deck, "--output", str(tmp_path / "out"), *quiet]) == 0
    assert "of memory, and 1e-06 GB are free" in capsys.readouterr().err
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e9)
    assert main(["run", deck, "--output", str(tmp_path / "out"), *quiet]) == 0
    assert "of memory" not in capsys.readouterr().err


def test_what_is_free_is_a_number():
    for found in (memory.machine_left(), memory.address_space_left(), memory.group_left()):
        assert found > 0.0 or math.isinf(found)


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v")
@pytest.mark.parametrize("kilobytes", [150_000, 250_000])
@pytest.mark.sampled(1)
def test_too_little_for_the_libraries_is_said_as_that(tmp_path, kilobytes):
    command = f"ulimit -v {kilobytes}; exec '{sys.executable}' -m fem run inputs/sdnl100.inp --output '{tmp_path}/out'"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and "not enough memory" in done.stderr and "llvmlite" not in done.stderr
