"""VTK's own reader understands the fields."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

from fem.model import Dynamic, Frequency, OutputRequest, Step
from fem.runs.fields import VtkSink, field_variables
from fem.runs.record import Modes, StepStart
from tests.results.synthetic import chain, frame_of, make_rows, play, with_outputs


def grid(path: Path) -> Any:
    reader = vtkXMLUnstructuredGridReader()
    assert reader.CanReadFile(str(path))
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


def names(attributes: Any) -> set[str]:
    return {attributes.GetArrayName(j) for j in range(attributes.GetNumberOfArrays())}


def entries(path: Path) -> list[tuple[float, str]]:
    return [(float(t), file) for t, file in re.findall(r'timestep="(.*?)".*file="(.*?)"', path.read_text())]


def test_vtk_reads_what_was_written(tmp_path: Path) -> None:
    model = chain(steps=(Step(Dynamic(0.1, 1.0)),))
    play(model, VtkSink(tmp_path, "chain", model), chunk=11)
    [(time, file)] = entries(tmp_path / "chain.pvd")
    field = grid(tmp_path / file)
    rows = make_rows(model, 1, 10, 10)
    assert time == 1.0 and field.GetFieldData().GetArray("TimeValue").GetValue(0) == 1.0
    assert np.array_equal(vtk_to_numpy(field.GetPoints().GetData()), model.mesh.coordinates)
    point, cell = field.GetPointData(), field.GetCellData()
    for place, name in enumerate(("displacement", "velocity", "acceleration", "reaction")):
        assert np.array_equal(vtk_to_numpy(point.GetArray(name)), rows.motion[0, place])
    assert vtk_to_numpy(point.GetArray("node")).tolist() == [40, 30, 20, 10]
    for column, name in ((0, "strain"), (2, "N"), (3, "T")):
        assert np.array_equal(vtk_to_numpy(cell.GetArray(name)), rows.element_values[0, :, column])
    assert vtk_to_numpy(cell.GetArray("element")).tolist() == [3, 6, 9, 1000]
    assert vtk_to_numpy(cell.GetArray("section")).tolist() == [0, 0, 0, 1]
    assert vtk_to_numpy(cell.GetArray("radius")) == pytest.approx([np.sqrt(1e-4 / np.pi)] * 3 + [0.0])
    assert [field.GetCellType(j) for j in range(4)] == [3, 3, 3, 1]
    assert [field.GetCell(2).GetPointId(j) for j in (0, 1)] == [2, 3]
    sections = field.GetFieldData().GetArray("section_names")
    assert [sections.GetComponentName(j) for j in range(sections.GetNumberOfComponents())] == ["ROPE", "BOB"]
    assert sections.GetTuple(0) == (0.0, 1.0)


def test_every_time_has_one_field(tmp_path: Path) -> None:
    model = chain(steps=(Step(Dynamic(0.1, 1.0)),) * 2)
    play(model, VtkSink(tmp_path, "chain", model), chunk=1)
    times = [time for time, _ in entries(tmp_path / "chain.pvd")]
    assert len(times) == 21 and times == sorted(set(times))
    assert not list(tmp_path.rglob("*.tmp"))


def test_requests_choose_the_variables(tmp_path: Path) -> None:
    model = with_outputs(OutputRequest("NODE FILE", None, ("V",)), OutputRequest("EL FILE", None, ("S",)))
    play(model, VtkSink(tmp_path, "chain", model))
    field = grid(tmp_path / "vtu/chain_00000.vtu")
    assert names(field.GetPointData()) == {"displacement", "velocity", "node", "TIP", "ENDS"}
    assert names(field.GetCellData()) == {"stress", "T", "radius", "element", "section", "ROPE", "BOB"}


def test_all_steps_have_the_same_arrays(tmp_path: Path) -> None:
    """ParaView's filters lose arrays that come and go: what one step asks for is in all, and T; modes want none."""
    requests = (), (OutputRequest("NODE FILE", None, ("COORD",)),), (OutputRequest("EL FILE", None, ("S",)),)
    model = chain(steps=(Step(Frequency(2)), *(Step(Dynamic(0.1, 1.0), outputs=asked) for asked in requests[1:])))
    play(model, VtkSink(tmp_path, "chain", model), chunk=5)
    fields = [grid(tmp_path / file) for _, file in entries(tmp_path / "chain.pvd")]
    assert len(fields) > 2
    for field in fields:
        assert names(field.GetPointData()) == {"displacement", "position", "node", "TIP", "ENDS"}
        assert names(field.GetCellData()) == {"stress", "T", "radius", "element", "section", "ROPE", "BOB"}
    model = chain(steps=tuple(Step(Dynamic(0.1, 1.0), outputs=asked) for asked in requests))
    nodal, elemental = field_variables(model)
    assert [each.name for each in nodal] == ["U", "V", "A", "RF", "COORD"]
    assert [each.name for each in elemental] == ["E", "S", "N", "T"]


def test_sets_are_arrays_of_zeros_and_ones(tmp_path: Path) -> None:
    """A set called as a quantity does not take its place; Abaqus/CAE's own are left out, and those beyond a bound."""
    model = chain()
    many = {"T": np.array([1]), "P-1._PICKED4": np.array([0])} | {f"S{j}": np.array([0]) for j in range(50)}
    model = replace(model, mesh=replace(model.mesh, element_sets=model.mesh.element_sets | many))
    play(model, VtkSink(tmp_path, "chain", model), chunk=11)
    field = grid(tmp_path / "vtu/chain_00000.vtu")
    point, cell = field.GetPointData(), field.GetCellData()
    assert vtk_to_numpy(point.GetArray("TIP")).tolist() == [0, 0, 0, 1]
    assert vtk_to_numpy(point.GetArray("ENDS")).tolist() == [1, 0, 0, 1]
    assert vtk_to_numpy(cell.GetArray("ROPE")).tolist() == [1, 1, 1, 0]
    assert vtk_to_numpy(cell.GetArray("SET T")).tolist() == [0, 1, 0, 0]
    assert np.array_equal(vtk_to_numpy(cell.GetArray("T")), make_rows(model, 1, 10, 10).element_values[0, :, 3])
    assert len({"S28", "S29", "P-1._PICKED4"} & names(cell)) == 1


def test_frames_that_are_not_due_are_not_written(tmp_path: Path) -> None:
    model = chain()
    sink = VtkSink(tmp_path, "chain", model)
    sink.begin(StepStart(1, None, "DYNAMIC", 0.0, 1.0, 10))
    sink.frame(frame_of(make_rows(model, 1, 0, 0), for_vtk=False))
    sink.close()
    assert not list(tmp_path.rglob("*.vtu")) and not list(tmp_path.rglob("*.pvd"))


def test_modes(tmp_path: Path) -> None:
    model = chain(steps=(Step(Dynamic(0.1, 1.0)), Step(Frequency(2))))
    play(model, VtkSink(tmp_path, "chain", model))
    found = entries(tmp_path / "chain_modes_step2.pvd")
    assert [time for time, _ in found] == (np.array([1.0, 3.0]) / (2.0 * np.pi)).tolist()
    assert grid(tmp_path / found[1][1]).GetFieldData().GetArray("TimeValue").GetValue(0) == found[1][0]
    point = grid(tmp_path / found[1][1]).GetPointData()
    assert vtk_to_numpy(point.GetArray("mode"))[-1, -1] == 1.0
    assert np.array_equal(vtk_to_numpy(point.GetArray("displacement")), make_rows(model, 1, 10, 10).motion[0, 0])


def test_modes_of_one_frequency_have_times_of_their_own(tmp_path: Path) -> None:
    model = chain(steps=(Step(Frequency(4)),))
    frequency = np.array([-0.5, 0.0, 0.0, 2.0])
    shapes = np.zeros((4, 4, 3))
    VtkSink(tmp_path, "chain", model).modes(Modes(1, 0.0, np.arange(1, 5), frequency, frequency, frequency, shapes))
    times = [time for time, _ in entries(tmp_path / "chain_modes_step1.pvd")]
    assert times == [-0.5, 0.0, 2e-9, 2.0]


def test_special_characters_in_names(tmp_path: Path) -> None:
    name = "a & b 'ü'"
    model = chain()
    play(model, VtkSink(tmp_path, name, model))
    assert len(list((tmp_path / "vtu").glob("*.vtu"))) == 3
    assert "&amp;" in (tmp_path / f"{name}.pvd").read_text(encoding="utf-8")
