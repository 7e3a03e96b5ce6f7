"""Figures of mode shapes, and ``--scale``: what is drawn is a string's own modes, of one size and sign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fem.cli import main
from fem.runner import run_to_files
from fem.runs.read import Missing, open_results
from fem.show.shapes import SIZE, modes, shapes, unit
from tests.pictures.runs import chain

LINKS, LENGTH, PULL, MASS = 8, 2.0, 50.0, 0.1
STRING = f"""*HEADING
a string, SI units
*NODE
1, 0., 0., 0.
{LINKS + 1}, {LENGTH}, 0., 0.
*NGEN, NSET=ALL
1, {LINKS + 1}, 1
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*ELGEN, ELSET=BARS
1, {LINKS}, 1, 1
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
{MASS}
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS=LUMPED, STARTING TENSION={PULL}
1.
*BOUNDARY
1, 1, 3
{LINKS + 1}, 1, 3
ALL, 2
*STEP, NLGEOM
*FREQUENCY
7
*END STEP
"""


def segments(panel: Any, place: int) -> np.ndarray:
    """(m, 2, axes) ends of the bars of a collection."""
    return np.array(panel.collections[place].get_segments())


@pytest.fixture(scope="module")
def string(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the modes of a string of eight links; a frequency step alone has no fields of its own."""
    folder = tmp_path_factory.mktemp("string")
    (folder / "string.inp").write_text(STRING)
    run_to_files(folder / "string.inp", folder / "results", quiet=True)
    return folder / "results"


def test_the_modes_of_a_string_are_sines_of_one_size(string: Path) -> None:
    """Source: beads on a string (Lagrange): u_j = sin(k pi j / n), omega = 2 sqrt(T n^2 / (m L^2)) sin(k pi / (2 n));
    the first of the largest components is positive.
    """
    figure = modes(open_results(string))
    panels = figure.axes
    assert len(panels) == 6 and "6 of 7" in figure.get_suptitle()
    place = np.arange(LINKS + 1) / LINKS
    for k, panel in enumerate(panels, start=1):
        still, moved = segments(panel, 0), segments(panel, 1)
        np.testing.assert_allclose(still[:, 0], np.stack([LENGTH * place[:-1], 0 * place[:-1]], 1))
        sine = np.sin(k * np.pi * place)
        largest = np.abs(sine).max()
        sine *= np.sign(sine[np.argmax(np.abs(sine) > largest - 1e-9)]) * SIZE * LENGTH / largest
        np.testing.assert_allclose(moved[:, 0, 1], sine[:-1], atol=1e-6 * LENGTH)
        speed = LINKS / LENGTH * np.sqrt(PULL / MASS)
        frequency = 2.0 * speed * np.sin(k * np.pi / (2 * LINKS)) / (2.0 * np.pi)
        assert panel.get_title() == f"mode {k}\nf = {frequency:.5g} Hz"


def test_scale_multiplies_modes_and_displacements(string: Path, tmp_path: Path) -> None:
    """Twice the scale is twice the distance from the place without motion."""
    results = open_results(string)
    once, twice = (segments(modes(results, scale).axes[1], 1) for scale in (1.0, 2.0))
    np.testing.assert_allclose(twice[:, :, 1], 2.0 * once[:, :, 1], rtol=0.0, atol=1e-12)
    swing = open_results(chain(tmp_path, period=0.1))
    lines = [segments(shapes(swing, scale).axes[5], 0) for scale in (0.0, 1.0, 3.0)]
    np.testing.assert_allclose(lines[2] - lines[0], 3.0 * (lines[1] - lines[0]), atol=1e-12)
    assert shapes(swing, 3.0).get_suptitle().endswith("displacements x 3)")


@pytest.mark.long
def test_the_scale_of_figures_without_shapes_is_an_error(string: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", str(string), "--what", "nodes", "--scale", "2"]) == 2
    assert "not of nodes" in capsys.readouterr().err
    assert main(["plot", str(string), "--what", "modes", "--scale", "2"]) == 0 and (string / "modes.png").is_file()


def test_sign_and_size_do_not_hang_on_those_of_the_solver() -> None:
    """Two equal components of opposite sign, one of them larger by round-off."""
    shape = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5 + 1e-12], [0.1, 0.0, 0.0]])
    for factor in (1.0, -1.0, 7.0):
        np.testing.assert_allclose(unit(factor * shape), [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [-0.2, 0.0, 0.0]])


def test_what_is_missing_is_said(string: Path, tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"\*FREQUENCY"):
        modes(open_results(chain(tmp_path, period=0.05)))
    (tmp_path / "string.inp").write_text(STRING)
    run_to_files(tmp_path / "string.inp", tmp_path / "bare", quiet=True, vtk=False)
    with pytest.raises(Missing, match="without --no-vtk"):
        modes(open_results(tmp_path / "bare"))
