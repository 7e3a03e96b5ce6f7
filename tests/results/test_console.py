"""What a user sees while a run goes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from fem.model import Boundary, Dynamic, Frequency, OutputRequest, Static, Step
from fem.results.console import ConsoleSink
from fem.results.record import StepStart
from fem.results.run_record import Totals
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


def test_modes_are_listed() -> None:
    lines = lines_of((Step(Frequency(2)),))
    assert lines[2].split() == ["mode", "frequency", "omega", "generalized", "mass"]
    assert [float(line.split()[2]) for line in lines[3:]] == [1.0, 3.0]


def test_summary() -> None:
    stream = io.StringIO()
    totals = Totals(1, 40, 249, 0, 5e-7, 1e-3, 4.0, {"kinetic": 1.0, "external_work": 2.0}, {"taut": 2})
    ConsoleSink(with_outputs(), stream).summary(totals, "no convergence", 1.234, Path("x"), ["run.json"])
    text = stream.getvalue()
    for part in ("NO CONVERGENCE", "40 in 1 step", "249", "external work 2", "2 taut", "1.23 s", "in x: run.json"):
        assert part in text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_run_on_a_terminal_gets_a_bar_and_keeps_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fem.results.console.BAR_AFTER", -1.0)
    model = chain()
    stream = Terminal()
    play(model, ConsoleSink(model, stream), chunk=2)
    text = stream.getvalue()
    assert "step 1/1" in text and "%" in text
    assert all(f" {0.1 * increment:.6g} " in text for increment in range(11))
