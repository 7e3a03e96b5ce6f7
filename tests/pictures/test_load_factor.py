"""The figure of the load factor of RIKS: it lies on the closed form of von Mises' truss and marks both limit points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fem.runner import run_to_files
from fem.runs.read import Missing, open_results
from fem.show.curves import load_factor, read_paths
from tests.pictures.runs import chain
from tests.solve.test_riks import RISE, pull, truss


def run_truss(folder: Path, printed: str) -> Path:
    text = truss("GREEN", "0.1, 1., , 0.1").replace("*STEP", "*NSET, NSET=ALL\n1, 2, 3\n*STEP", 1)
    (folder / "truss.inp").write_text(text.replace("*END STEP", f"{printed}\n*END STEP"))
    run_to_files(folder / "truss.inp", folder / "path", quiet=True)
    return folder / "path"


def test_the_path_and_its_limit_points(tmp_path: Path) -> None:
    """Green strain: the load is cubic in the height and turns at heights of +- RISE / sqrt(3). The load there is
    located between the rows; the displacement is read off between those next to it."""
    results = open_results(run_truss(tmp_path, "*NODE PRINT, NSET=ALL\nU"))
    figure = load_factor(results)
    panel = figure.axes[0]
    u, factor = np.asarray(panel.lines[0].get_xdata()), np.asarray(panel.lines[0].get_ydata())
    np.testing.assert_allclose(factor, pull("GREEN", -u), atol=1e-8)
    assert panel.get_xlabel() == "U3 of node 3 [length]" and u[-1] < -2.0 * RISE
    marks = [(line.get_marker(), float(np.asarray(line.get_xdata())[0])) for line in panel.lines[1:3]]
    turns = -RISE * (1.0 - np.array([1.0, -1.0]) / np.sqrt(3.0))
    assert [mark[0] for mark in marks] == ["^", "v"]
    np.testing.assert_allclose([mark[1] for mark in marks], turns, atol=0.01)
    (path,) = read_paths(results)
    assert [kind for kind, *_ in path.points] == ["limit", "limit"]
    np.testing.assert_allclose([load for *_, load in path.points], pull("GREEN", -turns), rtol=1e-8)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    for printed in ("*NODE PRINT, NSET=ALL, FREQUENCY=1000\nU", "*EL PRINT, ELSET=BARS\nT"):
        with pytest.raises(Missing, match=r"request \*NODE PRINT of U"):
            read_paths(open_results(run_truss(tmp_path, printed)))
    with pytest.raises(Missing, match=r"\*STATIC, RIKS"):
        read_paths(open_results(chain(tmp_path, period=0.05)))
