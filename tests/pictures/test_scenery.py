"""Water and bottom behind the bars: where the record says, in pictures and films."""

from __future__ import annotations

import copy
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from fem.runner import run_to_files
from fem.runs.read import Results, open_results
from fem.show.animate import Scene, Window
from fem.show.reading import Tensions, slack_bar
from fem.show.scenery import (
    BOTTOM,
    WATER,
    corners_of,
    cylinders_of,
    facets_of,
    planes_of,
    upright,
    with_scenery,
)
from fem.show.shapes import shapes, tension
from tests.pictures.runs import SIDEWAYS, chain

INPUTS = Path(__file__).resolve().parents[2] / "inputs"

BED = {"elevation": -2.0, "slope": 10.0, "uphill": 180.0}


def placed(results: Results, level: float = 0.5, bed: dict[str, float] = BED) -> Results:
    """In water of a level, above a bottom."""
    record = copy.deepcopy(results.record)
    record["settings"] |= {"water": {"level": level}, "seabeds": [bed, bed]}
    return replace(results, record=record)


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(chain(tmp_path_factory.mktemp("plane")))


def test_planes_are_drawn_where_they_are(swing: Results) -> None:
    """Through the place of their node, across their normal; walls are not."""
    record, up = copy.deepcopy(swing.record), upright(swing)
    label, place = swing.mesh.node_labels[1], swing.mesh.coordinates[1]
    normal, wall = np.array([-0.6, -0.6, -0.6]), np.eye(3)[(up + 1) % 3]
    normal[up] = 1.6
    record["settings"]["planes"] = [{"node": int(label), "normal": way.tolist()} for way in (normal, wall)]
    (plane,) = planes_of(replace(swing, record=record))
    low, high = np.zeros(3), np.ones(3)
    corners = corners_of(plane, up, (0, 1, 2), low, high)
    np.testing.assert_allclose((corners - place) @ normal, 0.0, atol=1e-12)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(chain(tmp_path_factory.mktemp("space"), extra=SIDEWAYS))


def drawn(panel: object, colour: str) -> np.ndarray:
    (line,) = [line for line in panel.lines if to_hex(line.get_color()) == colour.lower()]  # type: ignore[attr-defined]
    return np.asarray(line.get_xydata())


def test_lines_lie_on_the_planes(swing: Results) -> None:
    """z = -2 - tan(10 degrees) x, the water at 0.5; also in the film, and within the limits of both."""
    scene = Scene(placed(swing), 0, 5, (), Window())
    for panel in (*[axes for axes in shapes(placed(swing)).axes if axes.get_title()], scene._panel):
        x, z = drawn(panel, BOTTOM).T
        assert z == pytest.approx(-2.0 - math.tan(math.radians(10.0)) * x, rel=1e-12)
        assert drawn(panel, WATER)[:, 1].tolist() == [0.5, 0.5]
        assert panel.get_ylim()[0] < z.min() + 0.2 and panel.get_ylim()[1] > 0.5
        assert panel.get_xlim() == pytest.approx((x.min(), x.max()), rel=1e-9)


def test_equal_bottoms_are_one_and_far_planes_are_left_out(swing: Results) -> None:
    assert len(planes_of(placed(swing))) == 2 and not planes_of(swing)
    low, high = np.array([0.0, -1.0]), np.array([3.0, 0.0])
    far = placed(swing, 90.0, BED | {"elevation": -50.0})
    assert [edge.tolist() for edge in with_scenery(far, (0, 2), low, high)] == [[0.0, -1.0], [3.0, 0.0]]


def test_sheets_in_space(space: Results) -> None:
    """Of a slope along x and y, four corners in one plane."""
    bed = BED | {"uphill": 30.0}
    scene = Scene(placed(space, bed=bed), 0, 3, (), Window())
    sheets = [each for each in scene._panel.collections if type(each).__name__ == "Poly3DCollection"]
    assert len(sheets) == 2
    corners = corners_of(planes_of(placed(space, bed=bed))[1], 2, (0, 1, 2), -np.arange(1.0, 4.0), np.arange(1.0, 4.0))
    assert len(np.unique(corners[:, :2], axis=0)) == 4
    rise = math.tan(math.radians(10.0)) * np.array([math.cos(math.radians(30.0)), math.sin(math.radians(30.0))])
    assert corners[:, 2] == pytest.approx(-2.0 + corners[:, :2] @ rise, rel=1e-12)
    assert scene.draw(0).shape[2] == 3


def test_extremes_are_marked(swing: Results) -> None:
    values = [line for line in tension(swing).axes[0].lines if line.get_label().startswith(("maximum", "minimum"))]
    bars = [line.get_ydata() for line in tension(swing).axes[0].lines if line.get_label().startswith("bar")]
    assert [line.get_ydata()[0] for line in values] == [np.max(bars), np.min(bars)]


def test_an_elastic_bar_is_slack_where_it_does_not_pull() -> None:
    time, quiet = np.arange(8.0), np.full(8, 5.0)
    pulls = np.array([0.0, 0.0, 3.0, 0.0, 4.0, 0.0, 0.0, 0.0])
    found = Tensions([3, 7], time, np.column_stack([pulls, quiet]))
    assert slack_bar(found, 0) == {3: [(0.0, 1.0), (5.0, 7.0)]}  # a single instant at zero is no spell
    assert slack_bar(found, 1) == {}
    assert slack_bar(Tensions([3], time, np.column_stack([pulls - 1.0])), 0) == {}  # it pushes


def test_broken_bars_are_not_drawn(swing: Results, tmp_path: Path) -> None:
    """From the time of their event on."""
    shutil.copytree(swing.folder, tmp_path / "broken")
    events = tmp_path / "broken" / "events.csv"
    events.write_text("step,increment,time,element,event,energy_loss\n1,15,0.15,12,break,0.0\n")
    broken = open_results(tmp_path / "broken")
    for panel in [axes for axes in shapes(broken).axes if axes.get_title()]:
        (drawn_bars,) = [each for each in panel.collections if type(each).__name__ == "LineCollection"]
        count = sum(bool(len(segment) and np.isfinite(segment).all()) for segment in drawn_bars.get_segments())
        assert count == (3 if float(panel.get_title().split()[2]) < 0.15 else 2)
    scene = Scene(broken, 0, 31, (), Window())
    segments = [(scene.draw(frame), scene._bar_lines.get_segments())[1] for frame in (0, 30)]
    assert [sum(np.isfinite(segment).all() and len(segment) > 0 for segment in its) for its in segments] == [3, 2]


ROLLER = {"point": [1.0, 5.0, -0.6], "other": [1.0, 7.0, -0.6], "radius": 0.5}


def beside(results: Results, *cylinders: dict[str, object]) -> Results:
    """With cylinders in its record."""
    record = copy.deepcopy(results.record)
    record["settings"]["cylinders"] = list(cylinders)
    return replace(results, record=record)


def test_cylinders_are_circles_from_their_ends_and_strips_from_aside(swing: Results) -> None:
    """In figures and films, behind the bars; the near ones are within the picture."""
    leaning = {"point": [0.0, 0.0, -0.5], "other": [4.0, 9.0, 2.5], "radius": 0.25}
    model = beside(swing, ROLLER, ROLLER, leaning)
    assert len(cylinders_of(model)) == 2 and not cylinders_of(swing)
    scene = Scene(model, 0, 5, (), Window())
    for panel in (*[axes for axes in shapes(model).axes if axes.get_title()], scene._panel):
        circle, strip = panel.patches
        assert circle.get_center() == (1.0, -0.6) and circle.get_radius() == 0.5
        assert panel.get_ylim()[0] < -1.1 and circle.get_zorder() < 1.0
        corners = strip.get_xy()[:4]
        along = np.array([0.8, 0.6])
        aside = (corners - [0.0, -0.5]) @ [-0.6, 0.8]
        assert aside == pytest.approx([0.25, 0.25, -0.25, -0.25], abs=1e-12)
        x, y = panel.get_xlim(), panel.get_ylim()
        ends, box = corners @ along, [np.array([a, b]) @ along for a in x for b in y]
        assert ends.min() < min(box) and ends.max() > max(box)


def test_far_cylinders_do_not_widen_a_picture(swing: Results) -> None:
    low, high = np.array([0.0, -1.0]), np.array([3.0, 0.0])
    far = beside(swing, ROLLER | {"point": [0.0, 0.0, -900.0], "other": [0.0, 1.0, -900.0], "radius": 899.0})
    assert [edge.tolist() for edge in with_scenery(far, (0, 2), low, high)] == [[0.0, -1.0], [3.0, 0.0]]
    near = with_scenery(beside(swing, ROLLER), (0, 2), low, high)
    assert [edge.tolist() for edge in near] == [[0.0, -1.1], [3.0, 0.0]]


def test_cylinders_in_space(space: Results) -> None:
    """Facets about the part of the axis that is in the box."""
    model = beside(space, {"point": [0.0, 0.0, -0.5], "other": [1.0, 1.0, -0.5], "radius": 0.2})
    scene = Scene(model, 0, 3, (), Window())
    assert [type(each).__name__ for each in scene._panel.collections].count("Poly3DCollection") == 1
    (cylinder,) = cylinders_of(model)
    facets = facets_of(cylinder, np.array([-1.0, -2.0, -3.0]), np.array([4.0, 3.0, 0.0])).reshape(-1, 3)
    way = facets - [0.0, 0.0, -0.5]
    along = way @ np.array([1.0, 1.0, 0.0]) / math.sqrt(2.0)
    assert np.linalg.norm(way, axis=1) ** 2 - along**2 == pytest.approx(0.04, rel=1e-9)
    assert (along.min(), along.max()) == pytest.approx((-math.sqrt(2.0), 3.0 * math.sqrt(2.0)))
    assert not len(facets_of(cylinder, np.array([-1.0, -2.0, 1.0]), np.array([4.0, 3.0, 2.0])))
    assert scene.draw(0).shape[2] == 3


def test_the_rope_on_the_drum_lies_on_its_outline(tmp_path: Path) -> None:
    """As it is drawn: bars of the wrapped part are chords of the circle, within their own bulge and 1e-4."""
    run_to_files(INPUTS / "rope_on_drum.inp", tmp_path / "drum", quiet=True)
    for panel in [axes for axes in shapes(open_results(tmp_path / "drum")).axes if axes.get_title()]:
        (circle,) = panel.patches
        (bars,) = [each for each in panel.collections if type(each).__name__ == "LineCollection"]
        ends = np.array(bars.get_segments())
        wrapped = ends[(ends[:, :, 1] >= -1e-6).all(axis=1)]
        assert len(wrapped) >= 29
        assert np.linalg.norm(wrapped - circle.get_center(), axis=2) == pytest.approx(circle.get_radius(), abs=1e-4)
