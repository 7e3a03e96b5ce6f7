"""``fem plot``: the figures are there, say what is missing, and show the laws of motion."""

from __future__ import annotations

import json
import struct
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import fem
from fem.cli import main
from fem.runs.own import FIGURES
from fem.runs.read import Missing, open_results
from fem.show import links as figures
from fem.show.curves import displacements
from fem.show.links import angles_of, frame_of, joints, moving_support, read_links
from fem.show.plot import WHAT
from fem.show.reading import plane_of
from fem.show.style import panels
from tests.pictures.runs import ALL, SIDEWAYS, chain

ROOT = Path(__file__).resolve().parents[2]
OF_OTHER_RUNS = {"modes", "buckling", "load_factor", "curvature"}
"""Drawn in ``test_modes``, ``test_buckling``, ``test_load_factor`` and ``test_curvature``."""


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a chain of three bars in the x-z plane above a bottom, everything printed."""
    shaken = "*END STEP\n*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT\n1., 9., 4\n*CLOAD\n4, 3, 1."
    return chain(
        tmp_path_factory.mktemp("swing"), extra="*SEABED, ELEVATION=-9.\n1e3, 0., 0.1", output=f"{ALL}\n{shaken}"
    )


def png_size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and content[12:16] == b"IHDR"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


@pytest.fixture(scope="module")
def all_figures(swing: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of all figures of a run, which is made, and what the command prints."""
    folder = tmp_path_factory.mktemp("plot") / "new" / "figures"
    with redirect_stdout(StringIO()) as printed:
        assert main(["plot", str(swing), "--output", str(folder)]) == 0
    return folder, printed.getvalue().splitlines()


@pytest.mark.long
def test_all_figures_of_a_chain(all_figures: tuple[Path, list[str]]) -> None:
    folder, printed = all_figures
    assert {path.stem for path in folder.iterdir()} == set(FIGURES) - OF_OTHER_RUNS
    assert all(min(png_size(path)) > 400 for path in folder.iterdir())
    drawn, lost = printed[: -len(OF_OTHER_RUNS)], printed[-len(OF_OTHER_RUNS) :]
    assert len(printed) == len(FIGURES) and not any("no " in line or "note" in line for line in drawn)
    assert all(word in line for word, line in zip(("SK", "*FREQUENCY", "*BUCKLE", "*STATIC, RIKS"), lost, strict=True))


@pytest.mark.long_cases("pdf-%PDF", "png-\\x89PNG", "svg-<?xml")
@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_formats_and_equal_bytes(swing: Path, tmp_path: Path, form: str, start: bytes) -> None:
    for name in "ab":
        assert main(["plot", str(swing), "--what", "energy", "--format", form, "--output", str(tmp_path / name)]) == 0
    first, second = ((tmp_path / name / f"energies.{form}").read_bytes() for name in "ab")
    assert first.startswith(start) and first == second


@pytest.mark.long
def test_what_is_skipped_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = chain(tmp_path, output="*NODE FILE\nU\n*EL FILE\nE")
    assert main(["plot", str(folder)]) == 0
    output = capsys.readouterr().out
    assert "no velocities: nodes.csv contains fewer than three instants" in output and "*NODE PRINT" in output
    assert "no reactions: " in output and "no joints: " in output and "angles.png (from the 31 fields" in output
    assert main(["plot", str(folder), "--what", "phase"]) == 2
    error = capsys.readouterr().err
    assert "no phase: no node has a velocity" in error and "no phase angles: no velocities" in error


def test_a_history_has_its_figures_where_the_fields_hold_less(tmp_path: Path) -> None:
    """RF of the support stands in nodes.csv alone."""
    history = "*OUTPUT, HISTORY, NUMBER INTERVAL=6\n*NODE OUTPUT\nRF1\n*NODE FILE\nU"
    folder = chain(tmp_path, output=history)
    assert main(["plot", str(folder), "--what", "reactions"]) == 0
    rows = (folder / "nodes.csv").read_text().splitlines()[1:]
    assert len(rows) == 7 * len({row.split(",")[3] for row in rows})


def test_wrong_folders_are_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "run").mkdir()
    for command in ("plot", "animate"):
        for name, message in (("none", "does not exist"), ("file", "is not a folder"), ("run", "no run.json")):
            assert main([command, str(tmp_path / name)]) == 2
            assert message in capsys.readouterr().err
    (tmp_path / "run" / "run.json").write_text("[1]")
    assert main(["plot", str(tmp_path / "run")]) == 2 and "cannot be read" in capsys.readouterr().err


@pytest.mark.long
def test_a_run_that_was_killed_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = chain(tmp_path)
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | {"verdict": "running"}))
    for name in ("increments.csv", "nodes.csv"):
        path = folder / name
        path.write_bytes(path.read_bytes()[:-25])
    assert main(["plot", str(folder), "--what", "links"]) == 0 and main(["plot", str(folder), "--what", "energy"]) == 0
    assert "note: the run is still running, or was killed" in capsys.readouterr().out


@pytest.mark.long
def test_a_new_run_removes_the_old_pictures(tmp_path: Path) -> None:
    folder = chain(tmp_path)
    assert main(["plot", str(folder), "--what", "links", "--format", "svg"]) == 0 and (folder / "angles.svg").exists()
    chain(tmp_path)
    assert not (folder / "angles.svg").exists()


# -------------------------------------------------------------------------------------- what they show
def test_angles_are_those_of_the_positions_and_their_rate_is_the_derivative(swing: Path) -> None:
    """theta' against central differences of theta: the error is dt^2/6 theta''', of size 1e-2 with theta''' ~ 1e3."""
    results = open_results(swing)
    links = read_links(results)
    down, across, name = frame_of(results)
    assert name == "−z" and links.labels == [11, 12, 13] and links.time.tolist() == pytest.approx(np.arange(31) * 0.01)
    angle, rate = angles_of(links, down, across)
    assert rate is not None and np.allclose(angle[0], np.pi / 2, atol=1e-12)
    slope = np.gradient(angle, links.time, axis=0)[2:-2]
    assert np.abs(rate[2:-2] - slope).max() < 0.02 * np.abs(rate).max()


def test_joint_force_is_the_tension_and_half_a_bar(swing: Path) -> None:
    """F = -T d / |d| of the first link and the weight of the half bar that the rule LUMPED puts on the support.

    To what Newton's iterations leave in the equilibrium of the other nodes: 1e-6 of the largest force, and momenta.
    """
    results = open_results(swing)
    links = read_links(results)
    tension = results.elements.curves(["T"], [11])[11][:, 3]
    direction = links.direction[:, 0] / np.linalg.norm(links.direction[:, 0], axis=1)[:, None]
    drawn = np.stack([panel.lines[0].get_ydata() for panel in joints(results).axes[:2]], axis=1)
    expected = -tension[:, None] * direction + [0.0, 0.0, 0.5 * 9.81]
    np.testing.assert_allclose(drawn[1:], expected[1:, [0, 2]], rtol=0.0, atol=5e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("extra", "gravity", "plane", "down"),
    [
        ("", "0., 0., -1.", (0, 2), "−z"),
        ("", "0., -1., 0.", (0, 1), "−y"),
        (SIDEWAYS, "0., 0., -1.", (0, 1, 2), "−z"),
        ("", "1., 0., 0.", (0, 2), "+x"),
    ],
)
def test_the_plane_of_the_motion(tmp_path: Path, extra: str, gravity: str, plane: tuple[int, ...], down: str) -> None:
    results = open_results(chain(tmp_path, extra, gravity, period=0.05))
    assert plane_of(results) == plane and frame_of(results)[2] == down


def test_units_are_named_where_the_deck_names_them(swing: Path) -> None:
    results = open_results(swing)
    assert results.unit("length/time²") == "m/s²"
    assert displacements(results).axes[0].get_ylabel() == "U1\n[m]"
    del results.settings["heading"][:]
    unnamed = open_results(swing)
    unnamed.settings["heading"] = ["no units here"]
    assert unnamed.unit("length/time²") == "length/time²"


@pytest.mark.parametrize(("count", "panels"), [(5, [5]), (7, [7]), (12, [6, 6]), (20, [7, 7, 6])])
def test_the_phase_plane_has_all_links(monkeypatch: pytest.MonkeyPatch, count: int, panels: list[int]) -> None:
    """Each once, with colours that differ within a panel; so many as two or three panels take side by side."""
    angle = np.linspace(0.0, 1.0, 30)[:, None] * np.arange(1, count + 1)
    chain = SimpleNamespace(labels=list(range(1, count + 1)), every=count, source="")
    monkeypatch.setattr(figures, "read_links", lambda results, most: chain)
    monkeypatch.setattr(figures, "frame_of", lambda results: (np.zeros(3), np.zeros(3), "−z"))
    monkeypatch.setattr(figures, "angles_of", lambda *given: (angle, 2.0 * angle))
    drawn = figures.phase_angles(SimpleNamespace(unit=lambda formula: "s", settings={})).axes  # type: ignore[arg-type]
    lines = [[line for line in panel.lines if str(line.get_label()).startswith("link")] for panel in drawn]
    assert [len(own) for own in lines] == panels
    assert [line.get_label() for own in lines for line in own] == [f"link {n}" for n in range(1, count + 1)]
    assert all(len({line.get_color() for line in own}) == len(own) for own in lines)


def test_a_support_that_moves_is_found(swing: Path, tmp_path: Path) -> None:
    assert moving_support(open_results(swing)) is None
    sway = "*AMPLITUDE, NAME=SWAY\n0., 0., 1., 1."
    folder = chain(tmp_path, sway, output="*BOUNDARY, AMPLITUDE=SWAY\n1, 1, 1, 0.5\n*NODE PRINT, NSET=ALL\nU, V")
    assert moving_support(open_results(folder)) == 1
    assert main(["plot", str(folder), "--what", "phase"]) == 0


def test_dollars_in_titles_are_no_formula():
    figure, _ = panels(1, r"heat of $\frac$ and $x")
    figure.canvas.draw()
    assert figure.get_suptitle() == r"heat of $\frac$ and $x"


@pytest.mark.parametrize("deck", ["", "mooring_response", "span_response"])
@pytest.mark.long
def test_legends_lie_apart(deck: str, swing: Path, tmp_path: Path) -> None:
    """Every legend can be read: none lies on another, in any figure of a run."""
    if deck:
        fem.run(ROOT / "inputs" / f"{deck}.inp", output=tmp_path)
    results, counts = open_results(tmp_path if deck else swing), {}
    for draw in (draw for drawings in WHAT.values() for draw in drawings):
        with suppress(Missing):
            figure = draw(results)
            FigureCanvasAgg(figure).draw()
            legends = [*figure.legends, *(found for axes in figure.axes if (found := axes.get_legend()))]
            boxes = [legend.get_window_extent() for legend in legends]
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), draw.__name__
            assert all(figure.bbox.width >= box.x1 and box.x0 >= 0.0 for box in boxes), draw.__name__
            counts[draw.__name__] = len(legends)
    assert counts["response"] > 1


@pytest.mark.long
def test_a_motion_in_memory_has_the_figures_of_its_files(
    swing: Path, all_figures: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """To the last byte; but for forces in joints, which follow from loads that a motion does not hold, and rotations of
    bodies, of which there are none."""
    files = {path.name: path for path in all_figures[0].iterdir() if path.stem not in ("joints", "rotations")}
    again = fem.load(swing).plot(output=tmp_path)
    assert {path.name for path in again} == files.keys()
    assert not [path.stem for path in again if path.read_bytes() != files[path.name].read_bytes()]


@pytest.mark.long
def test_a_motion_in_memory_is_drawn_and_shown(tmp_path: Path) -> None:
    """Without a folder, files last as long as the program; notebooks show what is in them."""
    history = fem.run(ROOT / "inputs" / "sdnl100.inp")
    (energies,) = pictures = history.plot("energy")
    assert energies.is_file() and energies.name == "energies.png"
    assert 'src="data:image/png;base64,iVBOR' in pictures._repr_html_()
    vectors = fem.plot(history, "energy", format="svg", output=tmp_path)
    assert 'src="data:image/svg+xml;base64,' in vectors._repr_html_() and vectors == [tmp_path / "energies.svg"]
    assert fem.plot(history, "energy", format="pdf", output=tmp_path)._repr_html_().startswith("<p>")
