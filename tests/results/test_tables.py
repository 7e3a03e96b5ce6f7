"""The CSV tables keep their contract: columns, digits, cadence, and what is left of a run that ends early."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fem.model import Dynamic, Frequency, Model, OutputRequest, Step
from fem.runs.record import Event, StepStart
from fem.runs.tables import TableSink
from tests.results.synthetic import chain, frame_of, make_modes, make_rows, play, with_outputs

START = StepStart(1, None, "DYNAMIC", 0.0, 1.0, 10)


def read(path: Path) -> list[list[str]]:
    text = path.read_bytes()
    assert b"\r" not in text and text.endswith(b"\n")
    return list(csv.reader(text.decode().splitlines()))


def table(folder: Path, name: str) -> tuple[list[str], list[list[str]]]:
    head, *lines = read(folder / name)
    assert all(len(line) == len(head) for line in lines)
    return head, lines


def record(folder: Path, model: Model, **how: int) -> None:
    play(model, TableSink(folder, model), **how)


def test_headers_are_the_contract(tmp_path: Path) -> None:
    model = chain(steps=(Step(Dynamic(0.1, 1.0)), Step(Frequency(2))))
    TableSink(tmp_path, model).close()
    heads = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert heads == {
        "increments.csv": "step,increment,time,dt,iterations,residual_norm,cutbacks,"
        "kinetic,strain,potential,external_work,dissipated,energy_error\n",
        "nodes.csv": "step,increment,time,node,U1,U2,U3\n",
        "elements.csv": "step,increment,time,element,E,S,N,T\n",
        "events.csv": "step,increment,time,element,event,energy_loss\n",
        "frequencies.csv": "step,mode,frequency,omega,generalized_mass\n",
    }


def test_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT", None, ("V", "RF")), OutputRequest("EL PRINT"))
    record(tmp_path, model, chunk=3)
    rows = make_rows(model, 1, 0, 10)
    head, lines = table(tmp_path, "nodes.csv")
    assert head[4:] == ["U1", "U2", "U3", "V1", "V2", "V3", "RF1", "RF2", "RF3"]
    values = np.array([[float(cell) for cell in line[4:]] for line in lines]).reshape(11, 4, 9)
    assert np.array_equal(values, np.concatenate([rows.motion[:, place] for place in (0, 1, 3)], axis=2))
    assert [line[3] for line in lines[:4]] == ["40", "30", "20", "10"]
    _, lines = table(tmp_path, "elements.csv")
    values = np.array([[float(cell) for cell in line[4:]] for line in lines]).reshape(11, 4, 4)
    assert np.array_equal(values, rows.element_values)
    assert [line[3] for line in lines[:4]] == ["3", "6", "9", "1000"]
    head, lines = table(tmp_path, "increments.csv")
    for name in ("time", "dt", "residual_norm", "kinetic", "energy_error"):
        assert [float(line[head.index(name)]) for line in lines] == getattr(rows, name).tolist()
    for name in ("step", "increment", "iterations", "cutbacks"):
        assert all(line[head.index(name)].isdigit() for line in lines)


@pytest.mark.parametrize("chunk", [1, 2, 3, 11])
def test_chunks_of_any_size_give_the_same_bytes(tmp_path: Path, chunk: int) -> None:
    outputs = (
        OutputRequest("NODE PRINT", "TIP", ("V",), 3),
        OutputRequest("NODE PRINT", "ENDS", ("U",), 4),
        OutputRequest("EL PRINT", "ROPE", ("N",), 5),
        OutputRequest("ENERGY PRINT", every=2),
        OutputRequest("NODE FILE"),
    )
    model = with_outputs(*outputs, steps=2)
    contents = []
    for size in (7, chunk):
        folder = tmp_path / f"{size}"
        folder.mkdir()
        record(folder, model, chunk=size)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]


def test_requests_of_different_cadence_share_a_line_where_both_are_due(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT", "TIP", ("V",), 2), OutputRequest("NODE PRINT", "ENDS", ("U",), 5))
    record(tmp_path, model)
    _, lines = table(tmp_path, "nodes.csv")
    found = [(int(line[1]), int(line[3]), line[7] != "") for line in lines]
    both = [(0, 40, False), (0, 10, True), (10, 40, False), (10, 10, True), (5, 40, False), (5, 10, False)]
    assert sorted(found) == sorted(both + [(i, 10, True) for i in (2, 4, 6, 8)])
    assert found == sorted(found, key=lambda line: line[0])


def test_a_request_holds_until_its_kind_is_stated_again(tmp_path: Path) -> None:
    first = Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT", "TIP", ("A",), 5),))
    second = Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("EL PRINT", "BOB", ("T",), 10),))
    third = Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT", "ENDS", (), 10),))
    record(tmp_path, chain(steps=(first, second, third)))
    head, lines = table(tmp_path, "nodes.csv")
    assert head[7:] == ["A1", "A2", "A3"]
    assert [(line[0], line[1], line[3]) for line in lines] == [
        *((step, i, "10") for step in "12" for i in ("0", "5", "10")),
        *(("3", i, label) for i in ("0", "10") for label in ("40", "10")),
    ]
    assert all(line[7] for line in lines if line[0] != "3") and not any(line[7] for line in lines if line[0] == "3")
    _, lines = table(tmp_path, "elements.csv")
    assert [(line[0], line[1], line[3], line[4:7]) for line in lines] == [
        (step, i, "1000", ["", "", ""]) for step in "23" for i in ("0", "10")
    ]


def test_without_node_print_all_nodes_at_the_end_of_each_step(tmp_path: Path) -> None:
    record(tmp_path, chain(steps=(Step(Dynamic(0.1, 1.0)),) * 2))
    _, lines = table(tmp_path, "nodes.csv")
    assert [(line[0], line[1], line[3]) for line in lines] == [
        (step, "10", label) for step in "12" for label in ("40", "30", "20", "10")
    ]


def test_frequency_zero_prints_nothing(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT", every=0), OutputRequest("ENERGY PRINT", every=0))
    record(tmp_path, model, until=7)
    assert table(tmp_path, "nodes.csv")[1] == table(tmp_path, "increments.csv")[1] == []


def test_time_points(tmp_path: Path) -> None:
    model = replace(with_outputs(OutputRequest("NODE PRINT", "TIP", (), 1, "P")), time_points={"P": (0.3, 0.45)})
    record(tmp_path, model)
    assert [line[1] for line in table(tmp_path, "nodes.csv")[1]] == ["3", "5"]


def test_a_history_and_a_print_request_of_one_node_share_its_lines(tmp_path: Path) -> None:
    """Instants 0, 0.4, 0.8 and the end; the header has what both ask for."""
    outputs = OutputRequest("NODE PRINT", "ENDS", ("V",), 2), OutputRequest("NODE PRINT", "TIP", ("RF",), interval=0.4)
    record(tmp_path, with_outputs(*outputs), chunk=3)
    head, lines = table(tmp_path, "nodes.csv")
    assert [(int(line[1]), int(line[3])) for line in lines] == [(i, n) for i in range(0, 11, 2) for n in (40, 10)]
    given = {(int(line[1]), int(line[3])) for line in lines if line[head.index("RF1")]}
    assert given == {(0, 10), (4, 10), (8, 10), (10, 10)}


@pytest.mark.parametrize("requests", [(), (OutputRequest("NODE PRINT", every=100), OutputRequest("EL PRINT", every=5))])
def test_a_run_that_ends_early_keeps_its_last_increment(tmp_path: Path, requests: tuple[OutputRequest, ...]) -> None:
    model = with_outputs(*requests, OutputRequest("ENERGY PRINT", every=100))
    sink = TableSink(tmp_path, model)
    play(model, sink, until=7)
    sink.close()
    assert [line[1] for line in table(tmp_path, "increments.csv")[1]] == ["0", "7"]
    assert [line[1] for line in table(tmp_path, "nodes.csv")[1]][-4:] == ["7"] * 4
    if requests:
        assert [line[1] for line in table(tmp_path, "elements.csv")[1]] == ["0"] * 4 + ["5"] * 4 + ["7"] * 4


def test_every_call_leaves_whole_lines_on_disk(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT"))
    sink = TableSink(tmp_path, model)
    sink.begin(START)
    for increment in range(5):
        sink.rows(make_rows(model, 1, increment, increment))
        assert len(table(tmp_path, "nodes.csv")[1]) == 4 * (increment + 1)
        assert len(table(tmp_path, "increments.csv")[1]) == increment + 1


def test_reused_buffers_do_not_change_what_is_owed(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE PRINT", "TIP", every=100))
    sink = TableSink(tmp_path, model)
    sink.begin(START)
    rows = make_rows(model, 1, 0, 3)
    expected = repr(float(rows.motion[-1, 0, 3, 0]))
    sink.rows(rows)
    rows.motion[:] = rows.increment[:] = rows.time[:] = 0
    sink.close()
    assert table(tmp_path, "nodes.csv")[1][-1][1:5:3] == ["3", expected]


def test_events_and_frequencies(tmp_path: Path) -> None:
    model = chain(steps=(Step(Dynamic(0.1, 1.0)), Step(Frequency(2))))
    sink = TableSink(tmp_path, model)
    play(model, sink)
    assert (tmp_path / "events.csv").read_text().splitlines()[1] == "1,10,1.0,3,impact,0.1"
    lines = table(tmp_path, "frequencies.csv")[1]
    assert [line[:2] for line in lines] == [["2", "1"], ["2", "2"]]
    assert float(lines[1][3]) == 3.0 and float(lines[1][4]) == 2.0 / 3.0


def test_modes_keep_their_numbers_where_some_are_left_out(tmp_path: Path) -> None:
    model = chain(steps=(Step(Frequency(3)),))
    sink = TableSink(tmp_path, model)
    sink.begin(StepStart(1, None, "FREQUENCY", 0.0, 0.0, None))
    sink.modes(replace(make_modes(model, 1, 0.0), number=np.array([1, 3])))
    sink.close()
    assert [line[1] for line in table(tmp_path, "frequencies.csv")[1]] == ["1", "3"]


def test_numpy_scalars_are_plain_numbers(tmp_path: Path) -> None:
    sink = TableSink(tmp_path, chain())
    sink.begin(START)
    sink.event(Event(1, int(np.int64(2)), np.float64(0.5), np.int64(3), "slack", np.float64(0.0)))  # type: ignore[arg-type]
    sink.close()
    assert (tmp_path / "events.csv").read_text().splitlines()[1] == "1,2,0.5,3,slack,0.0"


def test_frame_without_rows_at_the_end_of_a_frequency_step(tmp_path: Path) -> None:
    model = chain(steps=(Step(Frequency(1)),))
    sink = TableSink(tmp_path, model)
    sink.begin(StepStart(1, None, "FREQUENCY", 0.0, 0.0, None))
    sink.frame(frame_of(make_rows(model, 1, 0, 0), is_end=True))
    sink.close()
    assert len(table(tmp_path, "nodes.csv")[1]) == 4
