"""VTK's own reader understands the fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vtk import vtkXMLUnstructuredGridReader
from vtk.util.numpy_support import vtk_to_numpy

from fem.model import Dynamic, Frequency, OutputRequest, Step
from fem.results.record import StepStart
from fem.results.vtk import VtkSink
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
    sections = field.GetFieldData().GetAbstractArray("section_names")
    assert [sections.GetValue(j) for j in range(sections.GetNumberOfValues())] == ["ROPE", "BOB"]


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
    assert names(field.GetPointData()) == {"displacement", "velocity", "node"}
    assert names(field.GetCellData()) == {"stress", "radius", "element", "section"}


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
    assert [time for time, _ in found] == [1.0, 2.0]
    point = grid(tmp_path / found[1][1]).GetPointData()
    assert vtk_to_numpy(point.GetArray("mode"))[-1, -1] == 1.0
    assert np.array_equal(vtk_to_numpy(point.GetArray("displacement")), make_rows(model, 1, 10, 10).motion[0, 0])


def test_special_characters_in_names(tmp_path: Path) -> None:
    name = "a & b 'ü'"
    model = chain()
    play(model, VtkSink(tmp_path, name, model))
    assert len(list((tmp_path / "vtu").glob("*.vtu"))) == 3
    assert "&amp;" in (tmp_path / f"{name}.pvd").read_text(encoding="utf-8")
