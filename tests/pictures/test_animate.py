"""``fem animate``: films are whole, in the right format, and every frame is there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fem.cli import main
from fem.runs.read import open_results
from fem.show.animate import Scene, Window, even_times
from fem.show.reading import tension_scale
from tests.pictures.runs import SIDEWAYS, chain


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chain(tmp_path_factory.mktemp("film"), output="")


def test_a_gif_has_every_field(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["animate", str(swing)]) == 0
    assert "motion.gif (31 frames in 1.03 s, time 0 to 0.3)" in capsys.readouterr().out
    with Image.open(swing / "motion.gif") as film:
        assert film.format == "GIF" and film.n_frames == 31 and film.info["duration"] == 30
        assert all(size % 2 == 0 for size in film.size)
        first = np.asarray(film.convert("RGB"))
        film.seek(30)
        last = np.asarray(film.convert("RGB"))
    assert np.all(first[0, 0] == 255) and np.any(first != last)
    assert not list(swing.glob(".*part*"))


def test_at_most_so_many_frames(swing: Path, tmp_path: Path) -> None:
    path = tmp_path / "sub" / "few.gif"
    arguments = ["--frames", "7", "--fps", "10", "--trail", "0", "--output", str(path)]
    assert main(["animate", str(swing), *arguments]) == 0
    with Image.open(path) as film:
        assert film.n_frames == 7 and film.info["duration"] == 100


def test_html_needs_nothing_else(swing: Path, tmp_path: Path) -> None:
    path = tmp_path / "motion.html"
    assert main(["animate", str(swing), "--frames", "5", "--output", str(path)]) == 0
    page = path.read_text(encoding="utf-8")
    assert page.count("iVBORw0KGgo") == 5 and "http" not in page and "src=" not in page
    assert "three bars, SI units" in page and "fps = 30" in page


def test_mp4_without_ffmpeg_says_what_to_install(
    swing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert main(["animate", str(swing), "--output", str(tmp_path / "a.mp4")]) == 2
    assert "install" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg here")
def test_mp4(swing: Path, tmp_path: Path) -> None:
    assert main(["animate", str(swing), "--frames", "5", "--output", str(tmp_path / "a.mp4")]) == 0
    assert (tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "motion.avi"], "the name of a film must end in .gif, .mp4, .html"),
        (["--fps", "60"], "at most 50 frames per second"),
        (["--nodes", "4", "99"], "there is no node 99"),
    ],
)
def test_wrong_films_are_exit_2(
    swing: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["animate", str(swing), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--fps", "0"], ["--fps", "nan"], ["--trail", "-1"], ["--frames", "0"]])
def test_wrong_numbers_are_exit_2(swing: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["animate", str(swing), *arguments])
    assert end.value.code == 2


def test_without_fields_there_is_no_film(swing: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("run.json", "increments.csv", "nodes.csv", "elements.csv"):
        shutil.copy(swing / name, tmp_path / name)
    assert main(["animate", str(tmp_path)]) == 2
    assert "--no-vtk" in capsys.readouterr().err


def test_space_is_shown_in_space(swing: Path, tmp_path: Path) -> None:
    flat, space = (Scene(open_results(folder), 10, 20, [], Window()) for folder in (swing, chain(tmp_path, SIDEWAYS)))
    assert [hasattr(scene._panel, "get_zlim") for scene in (flat, space)] == [False, True]
    for scene in (flat, space):
        first, last = scene.draw(0), scene.draw(len(scene) - 1)
        assert first.shape == last.shape and np.any(first != last)
        np.testing.assert_array_equal(scene.draw(0), first)


def test_frames_are_evenly_spaced_in_the_time_of_each_step() -> None:
    """Increments that shrink a hundredfold half-way do not slow the film down."""
    time = np.concatenate([[0.0, 0.5, 1.0], 1.0 + np.linspace(0.01, 1.0, 100), 2.0 + np.linspace(1e-4, 1.0, 10_000)])
    picked = time[even_times(np.array([1.0]), 101)(time)]
    second = picked[picked > 1.0]
    assert 95 <= len(picked) <= 105 and picked[0] == 0.0 and picked[-1] == 3.0
    assert np.ptp(np.diff(second)) < 0.025
    whole = np.linspace(0.0, 1.0, 50)
    assert even_times(np.zeros(0), 100)(whole).tolist() == list(range(50))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.0, 5.0], 0.0, 5.0),
        ([-2.0, 5.0], -2.0, 5.0),
        ([9.0, 10.0], 9.0, 10.0),
        ([0.0, 0.0], 0.0, 1.0),
        ([7, 7], 0, 7),
    ],
)
def test_the_scale_of_tension(values: list[float], low: float, high: float) -> None:
    """Grey at zero force, blue above, orange to brown below."""
    scale, slack = tension_scale(np.array([values], float))
    assert (scale.norm.vmin, scale.norm.vmax) == (low, high) and slack <= 1e-8
    zero = scale.to_rgba(0.0)[:3]
    if low <= 0.0:
        assert np.ptp(zero) < 0.05
    red, _, blue, _ = scale.to_rgba(values[0])
    assert red > blue if values[0] < 0.0 else red <= blue + 1e-9


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=40))
def test_increments_of_any_size_go_by_at_one_speed(steps: list[float]) -> None:
    time = np.concatenate([[0.0], np.cumsum(steps)])
    frames = Window().frames(time)
    assert (frames[0], frames[-1], len(frames)) == (0.0, time[-1], len(time))
    np.testing.assert_allclose(np.diff(frames), time[-1] / (len(time) - 1), rtol=1e-9)


def test_a_frame_between_two_instants_is_between_them_and_displacements_are_magnified(swing: Path) -> None:
    results = open_results(swing)
    plain, large = (Scene(results, 0, 5, (), Window(), scale) for scale in (1.0, 10.0))
    time, x = plain.time, results.mesh.coordinates
    np.testing.assert_allclose(plain._at(0.5 * (time[1] + time[2])), 0.5 * (plain._x[1] + plain._x[2]), atol=1e-12)
    for moment in (time[0], 0.3 * time[-1], time[-1]):
        np.testing.assert_allclose(large._at(moment) - x, 10.0 * (plain._at(moment) - x), atol=1e-12)
    assert "displacements x 10" in large.title
