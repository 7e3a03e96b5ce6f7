"""Runs that begin as Python functions: their answers, where they change over, what is left of the compiler."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.compiled import background, called_kernel, interpreted, kernel
from fem.compiled.interpreted import rehearsal
from fem.compiled.kernel import Kernel
from fem.deck import parse_deck
from fem.errors import Stopped
from fem.runs.history import History
from fem.study.warmup import shortened
from tests.machine_code import come_back

ROOT = Path(__file__).resolve().parents[2]
HANGING = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., -0.3
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC{kind}
*DLOAD
BAR, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
KINDS = {
    "trapezoidal": ", DIRECT\n0.01, 1.",
    "automatic": "\n0.01, 1.\n*CONTROLS, TIME ERROR=1e-3",
    "explicit": ", DIRECT, EXPLICIT\n1e-3, 0.5",
    "dissipative": ", DIRECT, ALPHA=-0.1\n0.01, 1.",
}
DECKS = {name: HANGING.format(kind=kind) for name, kind in KINDS.items()} | {
    name: (ROOT / "inputs" / f"{name}.inp").read_text() for name in ("sdnl100", "bouncing_ball", "ssnl114a")
}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels without machine code run as Python functions, and nothing compiles them."""
    monkeypatch.setenv("FEM_COMPILER", "")
    monkeypatch.setattr(background, "compiler", Nobody())
    monkeypatch.setattr(interpreted, "work", interpreted.Work())


class Nobody(background.Background):
    def ask(self, job: Any) -> bool:
        return False


def history_of(name: str) -> History:
    return fem.run(parse_deck(DECKS[name]))


def assert_same(one: History, other: History) -> None:
    assert one.iterations.tolist() == other.iterations.tolist()
    for values, expected in ((one.u, other.u), (one.v, other.v)):
        assert np.abs(values - expected).max() <= 1e-9 * np.abs(expected).max()
    # strains of stiff bars are small differences
    assert np.abs(one.elements - other.elements).max() <= 1e-8 * np.abs(other.elements).max()


@pytest.mark.parametrize("name", DECKS)
def test_python_functions_give_the_answers_of_machine_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = history_of(name)
    monkeypatch.setenv("FEM_COMPILER", "python")
    monkeypatch.setattr(Kernel, "__call__", without_variants(Kernel.__call__, {}, 1))
    before = interpreted.work.spent
    assert_same(history_of(name), expected)
    assert interpreted.work.spent > before


COARSER = {
    "grown_riser": {"41,": "9,", "1, 41$": "1, 9", "1, 40$": "1, 8"},
    "twisted_cable": {"61,": "13,", "31,": "7,", "1, 61$": "1, 13", "1, 60$": "1, 12"},
}
"""Their lines with fewer bars: Python takes a quarter of a minute for all of them."""


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((ROOT / "inputs").glob("*.inp")), ids=lambda path: path.stem)
def test_every_deck_begins_in_python_as_in_machine_code(path: Path) -> None:
    """Runs that ask for less than round-off, and are told so, count as it falls; those that end in it, nearly.
    And kinds of arguments come back from their types, as in ``tests/test_compiled.py``."""
    text = path.read_text(encoding="utf-8")
    for old, new in COARSER.get(path.stem, {}).items():
        text = re.sub(rf"^{old}", new, text, flags=re.MULTILINE)
    model = shortened(parse_deck(text, folder=path.parent))
    expected = fem.run(model)
    with rehearsal() as wanted:
        found = fem.run(model)
    assert wanted and all(come_back(kinds) for _, kinds in wanted)
    if not any("only to round-off" in notice for notice in expected.notices):
        controls = [step.controls for step in model.steps]
        ends_in_round_off = any(one.residual_relative is one.residual_absolute is None for one in controls)
        assert np.abs(found.iterations - expected.iterations).max(initial=0) <= int(ends_in_round_off)
    round_off = 1e-11 * np.ptp(model.mesh.coordinates, axis=0).max()
    assert np.abs(found.u - expected.u).max(initial=0.0) <= 1e-9 * np.abs(expected.u).max(initial=0.0) + round_off
    for mode, its in zip(found.modes, expected.modes, strict=True):
        np.testing.assert_allclose(mode.frequency, its.frequency, rtol=1e-9, atol=1e-9 * its.frequency.max(initial=0.0))


@pytest.mark.parametrize("name", DECKS)
@pytest.mark.parametrize("calls", [1, 3, 10])
@pytest.mark.sampled
def test_a_run_changes_over_where_machine_code_appears(
    name: str, calls: int, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many calls of each kernel."""
    monkeypatch.setenv("FEM_COMPILER", "wait")
    expected = history_of(name)
    monkeypatch.setenv("FEM_COMPILER", "")
    load, seen = Kernel.load, dict[str, int]()

    def late(self: Kernel, *given: Any) -> bool:
        seen[self.name] = seen.get(self.name, 0) + 1
        return seen[self.name] > calls and load(self, *given)

    monkeypatch.setattr(Kernel, "load", late)
    monkeypatch.setattr(Kernel, "__call__", without_variants(Kernel.__call__, seen, calls))
    assert_same(history_of(name), expected)
    assert interpreted.work.spent > 0.0


def without_variants(call: Any, seen: dict[str, int], calls: int) -> Any:
    """Calls of kernels that have no machine code in memory until they have been called often enough."""

    def called(self: Kernel, *arguments: Any, **named: Any) -> Any:
        if seen.get(self.name, 0) <= calls:
            self.variants.clear()
        return call(self, *arguments, **named)

    return called


@kernel
def ended(x: np.ndarray) -> float:
    """What a signal comes to while it runs as a Python function."""
    signal.raise_signal(signal.SIGTERM)
    x[0] = 1.0
    return 0.0


def test_signals_wait_for_the_end_of_a_python_function(at_once: None) -> None:
    from fem.commands.signals import stoppable

    x = np.zeros(1)
    with stoppable(), pytest.raises(Stopped):
        ended(x)
    assert x[0] == 1.0


@kernel
def halved(x: np.ndarray) -> float:
    return 0.5 * x[0]


@called_kernel
def third(x: float) -> float:
    return x / 3.0


@kernel
def partly(x: np.ndarray) -> float:
    return third(x[0]) if x[0] > 1.0 else x[0]


def test_a_kernel_whose_parts_are_not_there_is_compiled_where_that_is_waited_for(at_once: None) -> None:
    assert partly(np.full(1, 6.0)) == 2.0 and not partly.variants
    assert any(name == third.name for wanted, _ in interpreted.parts.values() for name, _ in wanted)
    interpreted.work.ahead = 2.0 * interpreted.LONGEST
    assert partly(np.ones(1)) == 1.0 and len(partly.variants) == 1
    assert partly(np.full(1, 6.0)) == 2.0


def test_what_is_long_is_compiled(at_once: None) -> None:
    """Here, where no process in the background can."""
    assert halved(np.ones(1)) == 0.5 and not halved.variants
    interpreted.work.ahead = 2.0 * interpreted.LONGEST
    assert halved(np.ones(1)) == 0.5 and len(halved.variants) == 1


class Slow:
    """A compiler of low priority beside busy neighbours."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def ask(self, job: object) -> bool:
        return False

    def wait_for(self, job: object, seconds: float) -> bool:
        self.waited.append(seconds)
        return False


def test_a_slow_compiler_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work goes on in Python, four times as long as was waited; then it is waited for again."""
    monkeypatch.setattr(interpreted, "way", lambda: "auto")
    monkeypatch.setattr(interpreted, "work", interpreted.Work())
    work, slow, job = interpreted.work, Slow(), ("fem.a:a", ())
    work.ahead = 2.0 * interpreted.LONGEST
    for spent, waits in ((0.0, 1), (1.0, 1), (0.99 * interpreted.GRANTED, 1), (interpreted.GRANTED, 2)):
        work.spent = spent
        assert interpreted.takes(job, slow) and len(slow.waited) == waits  # type: ignore[arg-type]
    assert slow.waited == [interpreted.PATIENCE] * 2


def test_lanes_wait_for_a_slow_compiler_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then their models run one by one, until the machine code is there."""
    monkeypatch.setattr(interpreted, "work", interpreted.Work())
    slow, said, there = Slow(), list[str](), list[str]()
    monkeypatch.setattr(interpreted, "stored", lambda name, kinds: there or None)
    interpreted.work.notify = said.append
    for _ in range(2):
        assert not interpreted.comes_in_time(("fem.a:a", ()), slow)  # type: ignore[arg-type]
    assert slow.waited == [interpreted.PATIENCE] and said == [interpreted.WAITING, interpreted.TIRED]
    there.append("unit")
    assert interpreted.comes_in_time(("fem.a:a", ()), slow)  # type: ignore[arg-type]


def test_a_process_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(module: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(background, "start_worker", none)
    compiler = background.Background()
    assert compiler.ask(("fem.a:a", ()))
    assert not compiler.ask(("fem.a:a", ()))
    compiler.wait_for(("fem.a:a", ()))
    gone = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    compiler.process = gone
    gone.wait()
    compiler.ask(("fem.b:b", ()))
    compiler.wait_for(("fem.b:b", ()))
    compiler.end()


# ------------------------------------------------------------------------------------------ from outside
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


def fem_run(folder: Path, cache: Path, deck: str) -> subprocess.Popen[bytes]:
    """``fem run`` of a deck in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "deck.inp").write_text(deck)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FEM_CACHE_DIR": str(cache), "FEM_COMPILER": ""}
    command = [sys.executable, "-m", "fem", "run", "deck.inp"]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def processes_of(cache: Path) -> list[int]:
    """Those with this cache."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(cache).encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_for_none(cache: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while processes_of(cache):
        assert time.monotonic() < end
        time.sleep(0.1)


@linux
@pytest.mark.long
def test_the_second_run_is_machine_code(tmp_path: Path) -> None:
    """After two first ones at once; the explicit march is the one that is compiled soonest."""
    tables = {}
    for names in (("one", "two"), ("later",)):
        runs = {name: fem_run(tmp_path / name, tmp_path / "cache", DECKS["explicit"]) for name in names}
        for name, run in runs.items():
            printed, errors = run.communicate()
            assert (run.returncode, errors) == (0, b"")
            assert (b"compiled in the background" in b" ".join(printed.split())) == (name != "later")
        wait_for_none(tmp_path / "cache", 600.0)
        for name in names:
            record = json.loads((tmp_path / name / "results/deck/run.json").read_text())
            assert (record["timing"]["python"] > 0.0) == (name != "later")
            tables[name] = np.genfromtxt(tmp_path / name / "results/deck/nodes.csv", delimiter=",")
    assert np.nanmax(np.abs(tables["later"] - tables["one"])) < 1e-9
    assert not list((tmp_path / "cache").rglob("*.fem-part"))


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_machine_code_goes_on_from_what_python_functions_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is ended in Python and continued is the run in one."""
    deck = DECKS["trapezoidal"].replace("*DLOAD", "*RESTART, WRITE, FREQUENCY=10\n*NODE PRINT\nU\n*DLOAD")
    (tmp_path / "deck.inp").write_text(deck)
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FEM_COMPILER": "python"}
    command = [sys.executable, "-m", "fem", "run", "deck.inp", "--output", "parts"]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    for line in run.stdout:
        if line.split()[:2] == [b"1", b"20"]:
            break
    run.send_signal(signal.SIGTERM)
    run.communicate()
    assert run.returncode == 143
    assert main(["run", "deck.inp", "--output", "parts", "--continue", "--quiet"]) == 0
    assert main(["run", "deck.inp", "--output", "whole", "--quiet"]) == 0
    found, expected = (np.genfromtxt(f"{name}/nodes.csv", delimiter=",", names=True) for name in ("parts", "whole"))
    for name in ("U1", "U3"):
        assert np.abs(found[name] - expected[name]).max() <= 1e-9
    counts = [
        np.genfromtxt(f"{name}/increments.csv", delimiter=",", names=True)["iterations"] for name in ("parts", "whole")
    ]
    assert counts[0].tolist() == counts[1].tolist()


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize("deaf", ["once", "always"])
def test_a_process_that_does_not_hear_a_signal_is_ended(deaf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "ENDS_WITHIN", 0.5)
    again = "signal.SIG_DFL" if deaf == "once" else "signal.SIG_IGN"
    code = f"import signal, time; signal.signal(signal.SIGTERM, lambda *_: signal.signal(signal.SIGTERM, {again}))\n"
    code += "print('ready', flush=True)\nwhile True: time.sleep(0.1)"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    compiler = background.Background()
    compiler.process = process
    compiler.end()
    assert process.poll() == (-signal.SIGTERM if deaf == "once" else -signal.SIGKILL)
    process.communicate()


@pytest.mark.long_cases("2")
@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.sampled(1)
def test_a_signal_ends_the_compiler_too(number: signal.Signals, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run = fem_run(tmp_path / "run", cache, DECKS["trapezoidal"].replace("0.01, 1.", "0.01, 1000."))
    end = time.monotonic() + 120.0
    while len(processes_of(cache)) < 3:  # the run, the process in the background, one that compiles
        assert time.monotonic() < end
        time.sleep(0.1)
    run.send_signal(number)
    run.communicate()
    assert run.returncode == 128 + number
    wait_for_none(cache, 60.0)
    assert (tmp_path / "run/results/deck/nodes.csv").read_bytes().endswith(b"\n")
