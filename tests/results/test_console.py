"""What a user sees while a run goes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fem.model import ArcEnd, Boundary, Dynamic, Frequency, OutputRequest, Static, Step
from fem.model.quantities import ENERGIES
from fem.runs.console import ConsoleSink
from fem.runs.record import Event, StepStart
from fem.runs.run_record import Totals
from tests.results.synthetic import chain, make_rows, play, with_outputs


def lines_of(steps: tuple[Step, ...], **how: int) -> list[str]:
    model = chain(steps=steps)
    stream = io.StringIO()
    play(model, ConsoleSink(model, stream), **how)
    return stream.getvalue().splitlines()


def test_one_line_per_increment_in_aligned_columns() -> None:
    printed = Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT", "TIP"),))
    blank, title, head, *lines = lines_of((printed,))
    assert blank == "" and title == "step 1: dynamic, period 1, 10 increments"
    assert head.split() == ["step", "increment", "time", "iterations", "residual", "U1(10)", "U2(10)", "U3(10)"]
    assert len(lines) == 11 and {len(line) for line in lines} == {len(head)}
    rows = make_rows(chain(), 1, 7, 7)
    cells = lines[7].split()
    assert cells[:3] == ["1", "7", "0.7"] and float(cells[5]) == pytest.approx(rows.motion[0, 0, 3, 0], rel=1e-5)


def test_the_node_that_is_shown_moves() -> None:
    """Of a chain of ten nodes whose first is held, all of them printed: the last one, not the support."""
    model = chain(steps=(Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT"),)),))
    held = replace(model, boundaries=tuple(Boundary(int(model.mesh.node_labels[0]), dof) for dof in (1, 2, 3)))
    stream = io.StringIO()
    play(held, ConsoleSink(held, stream))
    assert f"U1({int(model.mesh.node_labels[-1])})" in stream.getvalue().splitlines()[2]


def test_without_node_print_the_largest_displacement() -> None:
    _, _, head, *lines = lines_of((Step(Dynamic(0.1, 1.0)),))
    assert "largest |u|" in head and len(lines) == 11
    assert float(lines[3].split()[-1]) == pytest.approx(make_rows(chain(), 1, 3, 3).largest_u[0], rel=1e-5)


@pytest.mark.parametrize("chunk", [1, 11])
def test_chunks_do_not_change_the_text(chunk: int) -> None:
    steps = (Step(Dynamic(0.1, 1.0)), Step(Static()), Step(Frequency(2)))
    assert lines_of(steps, chunk=chunk) == lines_of(steps, chunk=4)


def test_automatic_increments_show_their_size() -> None:
    model = chain()
    stream = io.StringIO()
    sink = ConsoleSink(model, stream)
    sink.begin(StepStart(1, "Swing", "DYNAMIC", 0.0, 1.0, None))
    sink.rows(make_rows(model, 1, 0, 3))
    assert "step 1 'Swing': dynamic, period 1, automatic increments" in stream.getvalue()
    assert " dt " in stream.getvalue()


def test_paths_show_their_load_factor() -> None:
    model = replace(chain(), steps=(Step(Static(riks=ArcEnd())),))
    stream = io.StringIO()
    sink = ConsoleSink(model, stream)
    sink.begin(StepStart(1, "", "STATIC", 0.0, 1.0, None))
    rows = make_rows(model, 1, 0, 1)
    sink.rows(replace(rows, load_factor=np.array([0.0, 0.25])))
    title, head, _, last = stream.getvalue().strip().splitlines()
    assert title.endswith("time is the arc length")
    assert head.split()[5:7] == ["load", "factor"] and last.split()[5] == "0.25"


def test_modes_are_listed() -> None:
    lines = lines_of((Step(Frequency(2)),))
    assert lines[2].split() == ["mode", "frequency", "omega", "generalized", "mass"]
    assert [float(line.split()[2]) for line in lines[3:]] == [1.0, 3.0]


def test_summary() -> None:
    stream = io.StringIO()
    totals = Totals(
        steps=1,
        increments=40,
        iterations=249,
        largest_residual_norm=5e-7,
        largest_energy_error=1e-3,
        numerical_dissipation=0.25,
        time=4.0,
        energies={"kinetic": 1.0, "external_work": 2.0},
        events={"taut": 2},
    )
    ConsoleSink(with_outputs(), stream).summary(totals, "no convergence", 1.234, Path("x"), ["run.json"])
    text = stream.getvalue()
    for part in (
        "NO CONVERGENCE",
        "40 in 1 step",
        "249",
        "external work 2",
        "numerical dissipation 0.25",
        "2 taut",
        "1.23 s",
        "in x: run.json",
    ):
        assert part in text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_run_on_a_terminal_gets_a_bar_and_keeps_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fem.runs.progress.BAR_AFTER", -1.0)
    model = chain()
    stream = Terminal()
    play(model, ConsoleSink(model, stream), chunk=2)
    text = stream.getvalue()
    assert "step 1/1, energy error" in text and "%" in text and "left" in text
    assert all(f" {0.1 * increment:.6g} " in text for increment in range(11))


def on_terminal(increments: int, **how: int) -> list[int]:
    """Numbers of the increments shown."""
    stream = Terminal()
    sink = ConsoleSink(chain(), stream)
    play(chain(), sink, increments, **how)
    sink.close()
    return [int(line.split()[1]) for line in stream.getvalue().splitlines() if line.strip()[:1].isdigit()]


@pytest.mark.parametrize("chunk", [1, 7, 5000])
def test_a_terminal_shows_some_increments_evenly_and_the_last(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fem.runs.progress.BAR_AFTER", float("inf"))  # on a slow machine, too
    assert on_terminal(1234, chunk=chunk) == [*range(0, 1234, 50), 1234]
    assert on_terminal(50, chunk=chunk) == list(range(51))
    # What ended early ends with its last increment.
    assert on_terminal(1234, chunk=chunk, until=120) == [0, 50, 100, 120]


def test_a_terminal_shows_automatic_increments_evenly_in_time() -> None:
    model, stream = chain(), Terminal()
    sink = ConsoleSink(model, stream)
    sink.begin(StepStart(1, None, "DYNAMIC", 0.0, 1.0, None))
    rows = make_rows(model, 1, 0, 2000)
    time = np.linspace(0.0, 1.0, 2001) ** 2  # they grow
    sink.rows(replace(rows, time=time, is_end=True))
    for number in range(100):
        sink.event(Event(1, number, 1.0, 0, "cutback"))
    lines = stream.getvalue().splitlines()
    shown = [float(line.split()[2]) for line in lines[3:] if "cut back" not in line]
    assert np.diff(shown) == pytest.approx(np.full(50, 0.02), abs=2e-3)
    assert sum("cut back" in line for line in lines) == 50


@pytest.mark.parametrize("increments", [None, 10])
def test_tables_fit_100_columns(increments: int | None) -> None:
    """Whatever the numbers and labels are."""
    steps = (Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT", "TIP"),)),)
    model = chain(steps=steps)
    mesh = replace(model.mesh, node_labels=model.mesh.node_labels + 2_000_000_000)
    model, stream = replace(model, mesh=mesh), io.StringIO()
    sink = ConsoleSink(model, stream)
    sink.begin(StepStart(1, None, "DYNAMIC", 0.0, 1.0, increments))
    rows = make_rows(model, 1, 10**9, 10**9)
    sink.rows(replace(rows, time=rows.time * 1.2345678e-15, motion=-1e-20 * rows.motion))
    totals = Totals(
        steps=1,
        increments=10**9,
        iterations=10**9,
        cutbacks=10**9,
        largest_residual_norm=1e-100,
        largest_energy_error=1e-100,
        numerical_dissipation=-1.23456e-100,
        energy_drift=-1.23456e-100,
        time=1.2345678e100,
        energies=dict.fromkeys(ENERGIES, -1.23456e-100),
    )
    sink.summary(totals, "completed", 1e6, Path("results/long_name_of_a_deck"), ["long_name_of_a_file.csv"] * 9)
    assert max(map(len, stream.getvalue().splitlines())) <= 100
    assert "e-21" in stream.getvalue() and "U1(.." in stream.getvalue()
