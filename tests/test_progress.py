"""Long work shows how far it is; what Ctrl-C ends leaves all that was computed."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.runs import progress
from fem.runs.progress import NotebookBar, ProgressLines, shown
from tests.branches.oscillators import OSCILLATOR
from tests.sweeping.swings import write_swing

PENDULUM = "inputs/pendulum_lumped.inp"
CRANE = "inputs/driven_crane.inp"


def noted() -> tuple[list[tuple[float, str]], progress.Progress]:
    """What a run tells a function, and the function."""
    heard: list[tuple[float, str]] = []
    return heard, lambda share, text: heard.append((share, text))


def stop_at(share: float, how=lambda: signal.raise_signal(signal.SIGINT)):
    """A function of a caller, in which Ctrl-C comes once so much is done."""
    return lambda done, text: how() if done >= share else None


@pytest.mark.long_cases("span_response")
@pytest.mark.parametrize("name", ["pendulum_lumped", "chain_modes", "span_response"])
def test_a_run_tells_a_function_how_far_it_is(name):
    """In time, modes and harmonic motions; every step is named."""
    heard, tell = noted()
    history = fem.run(f"inputs/{name}.inp", progress=tell)
    shares = [share for share, _ in heard]
    count = len(history.model.steps)
    assert shares == sorted(shares) and shares[0] < 1.0 and shares[-1] == pytest.approx(1.0)
    assert {text.partition(",")[0] for _, text in heard} == {f"step {step}/{count}" for step in range(1, count + 1)}


def test_a_run_that_is_interrupted_leaves_the_motion_so_far_and_its_files(tmp_path):
    whole = fem.run(PENDULUM)
    with pytest.raises(KeyboardInterrupt) as caught:
        fem.run(PENDULUM, output=tmp_path / "out", progress=stop_at(0.5))
    error = caught.value
    assert error.__notes__ == ["what was computed is in its attribute history"]
    count = len(error.history)
    assert 0 < count < len(whole) and np.array_equal(error.history.u, whole.u[:count])
    assert np.array_equal(fem.load(tmp_path / "out").time, error.history.time)
    assert '"interrupted"' in (tmp_path / "out" / "run.json").read_text()


def test_what_a_function_raises_ends_the_run():
    def refuse() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fem.run(PENDULUM, progress=stop_at(0.0, refuse))


def test_a_sweep_that_is_interrupted_leaves_its_rows(tmp_path):
    deck, lengths = write_swing(tmp_path), [1.0, 1.5, 2.0, 2.5]
    heard, tell = noted()
    whole = fem.sweep(deck, {"length": lengths}, progress=tell)
    assert heard[-1] == (1.0, "4/4 parameter sets") and len(heard) >= 4
    for history in (False, True):
        with pytest.raises(KeyboardInterrupt) as caught:
            fem.sweep(deck, {"length": lengths}, workers=1, history=history, progress=stop_at(0.5))
        found = caught.value.sweep
        assert found["length"].tolist() == lengths[:2] and not found.failed.any()
        assert all(np.array_equal(found[name], whole[name][:2], equal_nan=name != "verdict") for name in whole)
        assert len(found.histories) == 2 * history
    with pytest.raises(KeyboardInterrupt):
        fem.sweep(deck, {"length": lengths}, workers=1, output=tmp_path / "out", progress=stop_at(0.5))
    heard, tell = noted()
    fem.sweep(deck, {"length": lengths}, output=tmp_path / "out", progress=tell)
    assert heard[0][0] >= 0.5, "the rows in the folder are not computed again"


FOLLOWED = {"transient": 2, "points": 4, "method": "none", "what": "U3_2"}
SETTLED = {"parameters": {"A": 0.0, "beta": 1.0}, "again": False}


@pytest.mark.parametrize(
    ("study", "deck", "grid", "given"),
    [
        (fem.continuation, OSCILLATOR, {"F": [0.2, 0.4, 0.6]}, FOLLOWED),
        (fem.basins, Path("inputs/string_pendulum_rigid.inp").read_text(), {"theta0": [0.5, 1.0, 1.5]}, SETTLED),
    ],
)
def test_continuation_and_basins_that_are_interrupted_leave_their_rows(tmp_path, study, deck, grid, given):
    """Also in their folder, where they go on."""
    (path := tmp_path / "deck.inp").write_text(deck.replace("{stop}", ""))
    whole = study(path, grid, **given)
    whole = getattr(whole, "sweep", whole)
    with pytest.raises(KeyboardInterrupt) as caught:
        study(path, grid, **given, output=tmp_path / "out", progress=stop_at(0.3))
    found = caught.value.sweep
    assert 0 < len(found["verdict"]) < len(whole["verdict"]) and not found.failed.any()
    assert all(
        np.array_equal(found[name], whole[name][: len(found[name])], equal_nan=name != "verdict") for name in whole
    )
    heard, tell = noted()
    again = study(path, grid, **given, output=tmp_path / "out", progress=tell)
    assert heard[0][0] > 1.0 / len(whole["verdict"]) and heard[-1][0] == 1.0
    assert len(getattr(again, "sweep", again)["verdict"]) == len(whole["verdict"])


def test_a_stepper_that_is_interrupted_has_its_motion(monkeypatch):
    with fem.stepper(CRANE) as sim:
        sim.advance(0.1)
        rows = len(sim.history())
        monkeypatch.setattr(sim._run, "advance_to", lambda time: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as caught:
            sim.advance(0.1)
        assert len(caught.value.history) == rows
    assert "ended by" in repr(sim)


RIGID = "inputs/string_pendulum_rigid.inp"
REST = {"A": 0.0, "beta": 1.0}


def rises(heard: list[tuple[float, str]]) -> bool:
    """From near the start to the end, and never back."""
    shares = [share for share, _ in heard]
    return shares == sorted(shares) and shares[0] < 0.5 and shares[-1] == pytest.approx(1.0)


def test_exponents_tell_a_function_how_far_they_are():
    """Of one run; of a second one at dt/2, which is twice the work of the first."""
    heard, tell = noted()
    found = fem.lyapunov(RIGID, parameters=REST, time=200.0, progress=tell)
    assert rises(heard) and len(heard) > 10 and heard[-1][1] == "time 200.002"
    assert (found.values == fem.lyapunov(RIGID, parameters=REST, time=200.0).values).all()
    heard, tell = noted()
    fem.lyapunov(RIGID, parameters=REST, time=200.0, again="dt", progress=tell)
    assert rises(heard) and [text for share, text in heard if share == pytest.approx(1.0 / 3.0)] == ["time 200.002"]


@pytest.mark.long
def test_sections_and_orbits_tell_a_function_how_far_they_are(tmp_path):
    heard, tell = noted()
    fem.sections(RIGID, cycles=20, points=4, progress=tell)
    assert rises(heard) and heard[-1][1].startswith("step 1/1, ")
    heard, tell = noted()
    fem.orbits(RIGID, parameters=REST, transient=4, progress=tell)
    assert rises(heard) and heard[1] == (0.5, "period 2/4 of the transient")
    (path := tmp_path / "deck.inp").write_text(OSCILLATOR.replace("{stop}", ""))
    heard, tell = noted()
    found = fem.orbits(path, {"F": [0.01, 0.1]}, what="U3_2", progress=tell)
    assert heard[0] == (0.0, "branch 1, 1 orbits, F = 0.01") and heard[-1] == (1.0, "branch 1 has ended")
    assert rises(heard[1:]) and len(heard) == 1 + len(found.orbits)


def test_error_bars_tell_of_the_run_and_its_companions():
    heard, tell = noted()
    fem.error_bars("inputs/sdnl100.inp", processes=1, progress=tell)
    texts = [text for _, text in heard]
    assert rises(heard) and texts[0].startswith("step 1/1, ") and texts[-3:] == [f"{n}/3 companions" for n in (1, 2, 3)]
    assert [share for share, text in heard if text.startswith("step")][-1] == pytest.approx(0.2)


@pytest.mark.long
def test_searches_tell_of_each_of_their_rounds():
    """How many rounds there will be is not known: the share is that of one."""
    heard, tell = noted()
    lines: list[str] = []
    fem.converge("inputs/sdnl100.inp", "max:T_e1", processes=1, say=lines.append, progress=tell)
    rounds = [[each for each in heard if each[1].startswith(f"round {n}: ")] for n in range(1, len(lines) + 1)]
    assert len(rounds) > 1 and all(map(rises, rounds)) and sum(map(len, rounds)) == len(heard)
    heard, tell = noted()
    given = {"step": 2, "parameters": {"EA": 21000.0}, "workers": 1, "progress": tell}
    vary = {"density": (800.0, 1500.0), "Cd": (0.3, 4.0)}
    found = fem.fit("inputs/circled_weight.inp", ["inputs/circled_weight.csv"], vary, **given)
    assert [text for _, text in heard] == [f"{n} runs" for n in range(1, found.search["runs"] + 1)]
    assert heard[0][0] == 1.0 and 0.5 in [share for share, _ in heard] and heard[-1][0] == 1.0


def test_a_comparison_tells_which_code_runs():
    heard, tell = noted()
    fem.compare("inputs/sdnl100.inp", ["calculix", "opensees"], time_limit=1e-9, error_bars=False, progress=tell)
    assert rises(heard) and heard[-1] == (1.0, "compared")
    assert [(pytest.approx(share), text) for share, text in heard[-3:-1]] == [(1 / 3, "CalculiX"), (2 / 3, "OpenSees")]


LONG = {
    "lyapunov": ["--time", "200", "--error", "none"],
    "sections": ["--cycles", "20", "--points", "4"],
    "orbits": ["--transient", "4"],
}


@pytest.mark.long_cases("lyapunov")
@pytest.mark.parametrize("command", LONG)
def test_commands_show_it_unless_they_are_to_be_quiet(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
    words = [command, RIGID, "--set", "A=0", "--set", "beta=1", *LONG[command], "--output", str(tmp_path / "out")]
    assert main(words) == 0
    assert "100% " in capsys.readouterr().out
    assert main([*words, "--quiet"]) == 0
    assert not capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_a_line_in_a_file(monkeypatch, capsys):
    monkeypatch.setattr(progress, "BAR_AFTER", -1.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
    fem.run(PENDULUM, progress=True)
    assert "100% step 1/1, energy error" in capsys.readouterr().out
    fem.run(PENDULUM)
    assert not capsys.readouterr().out
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    fem.run(PENDULUM, progress=True)
    assert "step 1/1, energy error" in terminal.getvalue() and "\x1b[" in terminal.getvalue()


def test_a_bar_in_a_notebook(monkeypatch):
    """One output below the cell, which goes when the work has ended."""
    pictures: list[str] = []
    display = ModuleType("IPython.display")
    display.HTML = str
    handle = SimpleNamespace(update=pictures.append)
    display.display = lambda text, display_id: pictures.append(text) or handle
    shell = ModuleType("IPython")
    shell.get_ipython = lambda: SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "BAR_AFTER", -1.0)
    monkeypatch.setattr(progress, "REDRAWN", -1.0)
    assert isinstance(shown(True, 1.0), NotebookBar)
    fem.run(PENDULUM, progress=True)
    assert '<progress value="1.0000"></progress> step 1/1' in pictures[-2] and not pictures[-1]
    shell.get_ipython = lambda: None
    assert isinstance(shown(True, 1.0), ProgressLines)
