"""One process at a time compiles into a folder; the others use what it made, and wait for nobody who is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fem import errors as notices
from fem.commands.files import TURNS, turn
from fem.compiled.choice import is_plain

ROOT = Path(__file__).resolve().parents[2]
HOLDS = """
import sys
from pathlib import Path
from fem.commands.files import turn
with turn(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""
COMPILES = """
import numpy as np
import fem.compiled.translate as build
from fem.solve.newton.evaluate import combine
make, total = build.make, np.zeros(3)
build.make = lambda *arguments: print("made", flush=True) or make(*arguments)
print("ready", flush=True)
input()
combine(np.ones((2, 3)), np.full((1, 2), 2.0), 0, total)
print(total.tolist())
"""


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_told", set())


def start(code: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", code, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, text=True)


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process whose turn it is."""
    process = start(HOLDS, str(folder))
    assert process.stdout is not None and process.stdout.readline() == "mine\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_who_comes_second_waits_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with holder(tmp_path) as process:
        assert process.stdin is not None
        began = time.monotonic()
        threading.Timer(0.3, process.stdin.close).start()
        with turn(tmp_path):
            assert time.monotonic() - began > 0.25
    said = capsys.readouterr().err
    assert "waiting up to 300 s for it" in said and "compiling in this one" not in said


def test_the_wait_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with holder(tmp_path) as process:
        process.send_signal(signal.SIGSTOP)
        with turn(tmp_path, patience=0.2):
            pass
        process.send_signal(signal.SIGCONT)
    assert "compiling in this one" in capsys.readouterr().err


def test_the_turn_of_a_killed_process_is_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        with turn(tmp_path):
            pass
    assert not capsys.readouterr().err


def test_a_turn_within_a_turn(tmp_path: Path) -> None:
    with turn(tmp_path, patience=0.1):
        with turn(tmp_path, patience=0.1):
            pass
        with pytest.raises(KeyError), turn(tmp_path, patience=0.1):
            raise KeyError
    with holder(tmp_path):
        pass


@pytest.mark.parametrize("kind", ["none", "a folder"])
def test_where_there_can_be_no_lock_nobody_waits(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "cache"
    if kind == "a folder":
        (folder / TURNS).mkdir(parents=True)
    else:
        tmp_path.joinpath("cache").touch()  # nothing can be made in a file
    began = time.monotonic()
    with turn(folder):
        assert time.monotonic() - began < 100.0  # of the 300 that others would wait


@pytest.mark.skipif(is_plain(), reason="plain numba makes no units")
@pytest.mark.long
def test_four_first_starts_compile_once(tmp_path: Path) -> None:
    """Four processes that need the same unit at the same instant."""
    processes = [start(COMPILES, FEM_CACHE_DIR=str(tmp_path)) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    assert sum(out.count("made") for out, _ in answers) == 1
    assert all("[4.0, 4.0, 4.0]" in out for out, _ in answers)
