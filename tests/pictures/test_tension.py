"""Figures of T: what is drawn is what the tables hold; ropes are slack where they do not pull; scales see no spikes."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fem
from fem.errors import CommandError
from fem.runs.read import Missing, Results, open_results
from fem.show.animate import Scene, Window, even_times
from fem.show.curves import MOTIONS
from fem.show.reading import Tensions, read_tensions, slack_spells, tension_scale, whole_motion
from fem.show.shapes import envelope, line_of, maps, ranges, shapes, tension
from tests.pictures.runs import chain

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
HEAD = "step,increment,time,element,event,energy_loss\n"


@pytest.fixture(scope="module")
def swing(tmp_path_factory) -> Results:
    return open_results(chain(tmp_path_factory.mktemp("chain")))


@pytest.fixture(scope="module")
def rope(tmp_path_factory) -> Results:
    folder = tmp_path_factory.mktemp("rope") / "results"
    fem.run(INPUTS / "string_pendulum_rope.inp", output=folder, parameters={"duration": 12.0})
    return open_results(folder)


@pytest.fixture(scope="module")
def net(tmp_path_factory) -> Results:
    folder = tmp_path_factory.mktemp("net") / "results"
    fem.run(INPUTS / "cable_net.inp", output=folder)
    return open_results(folder)


def printed(results: Results) -> dict[int, np.ndarray]:
    """Element -> (k, 2) time and T, as ``elements.csv`` has them."""
    with (results.folder / "elements.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    labels = sorted({int(row["element"]) for row in rows})
    return {n: np.array([(float(r["time"]), float(r["T"])) for r in rows if int(r["element"]) == n]) for n in labels}


def test_curves_and_their_extremes_are_those_of_the_table(swing: Results) -> None:
    table = printed(swing)
    drawn = {line.get_label(): line.get_xydata() for line in tension(swing).axes[0].lines}
    assert all(np.array_equal(drawn[f"bar {label}"], rows) for label, rows in table.items())
    (panel,) = envelope(swing).axes
    lines = {line.get_label(): line.get_xydata() for line in panel.lines}
    assert lines["minimum"][:, 1].tolist() == [rows[:, 1].min() for rows in table.values()]
    assert lines["maximum"][:, 1].tolist() == [rows[:, 1].max() for rows in table.values()]
    assert lines["mean"][:, 0].tolist() == line_of(swing, ([1, 2, 3, 4], [11, 12, 13])).x.tolist() == [0.5, 1.5, 2.5]


def test_means_are_those_over_time() -> None:
    """Of a straight line the middle of its ends, however instants are spread."""
    time = np.sort(np.random.default_rng(1).uniform(2.0, 5.0, 40))
    found = Tensions([1, 2], time, np.column_stack([3.0 * time - 1.0, np.full(40, 7.0)]))
    least, mean, greatest = ranges(found, np.ones(40, bool))
    assert mean == pytest.approx([1.5 * (time[0] + time[-1]) - 1.0, 7.0], rel=1e-12)
    assert (least <= mean + 1e-12).all() and (mean <= greatest + 1e-12).all()


@pytest.mark.long
def test_a_rope_is_slack_where_it_does_not_pull(rope: Results) -> None:
    (rows,) = printed(rope).values()
    spells = slack_spells(rope, 0.0, float(rows[-1, 0]))[1]
    assert len(spells) > 2
    inside, outside = np.zeros(len(rows), bool), np.ones(len(rows), bool)
    for begin, end in spells:
        inside |= (rows[:, 0] > begin) & (rows[:, 0] < end)
        outside &= (rows[:, 0] < begin) | (rows[:, 0] > end)
    assert inside.sum() > 100 and not rows[inside, 1].any() and (rows[outside, 1] > 0.0).all()
    # As bands behind the force and behind the positions, which are X + U.
    positions = next(draw for draw in MOTIONS if draw.__name__ == "positions")(rope)
    for panel in (tension(rope).axes[0], *positions.axes):
        assert "rope 1 slack" in [band.get_label() for band in panel.collections]
    history = fem.run(INPUTS / "string_pendulum_rope.inp", parameters={"duration": 12.0})
    assert np.array_equal(positions.axes[-1].lines[0].get_xydata()[:, 1], history.positions(2)[:, 2])
    with pytest.raises(Missing, match="one bar"):
        envelope(rope)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("1,1,0.5,7,impact,0\n1,2,2.0,7,slack,0\n", {7: [(0.0, 0.5), (2.0, 10.0)]}),
        ("1,1,0.5,7,slack,0\n1,2,2.0,7,taut,0\n1,3,3.0,8,slack,0\n", {7: [(0.5, 2.0)], 8: [(3.0, 10.0)]}),
        ("1,1,1.0,7,slack,0\n1,2,2.0,7,taut,0\n1,3,2.0001,7,slack,0\n1,4,3.0,7,impact,0\n", {7: [(1.0, 3.0)]}),
        ("1,1,1.0,7,slack,0\n1,2,2.0,7,impact,0\n1,2,2.0,7,impact,0\n1,2,2.0,0,cutback,0\n", {7: [(1.0, 2.0)]}),
        ("", {}),
    ],
)
def test_spells_follow_from_events(swing: Results, tmp_path: Path, events: str, expected: dict) -> None:
    (tmp_path / "events.csv").write_text(HEAD + events)
    assert slack_spells(replace(swing, folder=tmp_path), 0.0, 10.0) == expected


def test_stops_and_planes_are_never_slack(swing: Results, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(
        HEAD + "1,1,0.5,7,impact,0\n1,1,0.6,0,impact,0\n1,2,2.0,8,impact,0\n1,3,3.0,8,slack,0\n"
    )
    record = {**swing.record, "settings": {**swing.settings, "stops": [7]}}
    assert slack_spells(replace(swing, folder=tmp_path, record=record), 0.0, 4.0) == {8: [(0.0, 2.0), (3.0, 4.0)]}


def test_one_spike_does_not_make_the_scale() -> None:
    force = np.random.default_rng(2).uniform(0.0, 10.0, (300, 7))
    calm, _ = tension_scale(force)
    force[100, 3], force[5, 5] = 1e6, -1e6
    spiked, _ = tension_scale(force)
    assert calm.norm.vmax == pytest.approx(spiked.norm.vmax, rel=0.01) and calm.norm.vmin == spiked.norm.vmin == 0.0
    assert spiked.cmap.colorbar_extend == "both"
    even, _ = tension_scale(np.linspace(0.0, 5.0, 11)[None] * np.ones((500, 1)))
    assert even.norm.vmax == 5.0 and even.cmap.colorbar_extend == "neither"


@pytest.mark.long
def test_a_net_is_drawn_from_its_fields(net: Results) -> None:
    found = read_tensions(net)
    assert found.values.shape[1] == 84 and "202 fields" in found.source
    figure = envelope(net)
    maps = [panel.collections[0].get_array() for panel in figure.axes[:6]]
    assert np.array_equal(maps[5], found.values[found.time >= 1.0].max(axis=0))
    assert figure.axes[0].get_title() == "minimum of T, time 0 to 1"
    assert [(panel.get_xlabel(), panel.get_ylabel()) for panel in figure.axes[:6]] == 6 * [("x [m]", "y [m]")]
    drawn = shapes(net)
    titles = [panel.get_title() for panel in drawn.axes]
    assert titles[0] == "t = 0 s" and titles[5] == "t = 1.4 s"
    u = np.linalg.norm(whole_motion(net, even_times(net.boundaries, 6)).values["U"], axis=2).max()
    extent = np.ptp(net.mesh.coordinates, axis=0).max()
    (scale,) = re.findall(r"displacements x (\d+)", drawn.get_suptitle())
    assert 0.04 < float(scale) * u / extent <= 0.1
    assert "displacements" not in shapes(net, 1.0).get_suptitle()


def test_the_envelope_of_a_structure_in_space_is_drawn_from_the_side(net: Results) -> None:
    """A net is flat, a dome is not: its bars are in space, upright, at equal scales."""
    dome = net.mesh.coordinates.copy()
    dome[:, 2] = 1.0 - 0.1 * ((dome[:, :2] - 3.0) ** 2).sum(axis=1)
    raised = SimpleNamespace(
        mesh=replace(net.mesh, coordinates=dome), gravity=np.array([0.0, 0.0, -1.0]), unit=net.unit
    )
    found = read_tensions(net)
    figure = maps(raised, found, [("T", *ranges(found, np.ones(len(found.time), bool)))], "")  # type: ignore[arg-type]
    panels = figure.axes[:3]
    assert all(panel.name == "3d" and panel.get_zlabel() == "z [m]" for panel in panels)
    lines = np.array(panels[0].collections[0]._segments3d)
    assert np.ptp(lines[:, :, 2]) == np.ptp(dome[:, 2])


def test_a_film_shows_the_window_at_its_speed(swing: Results) -> None:
    scene = Scene(swing, 0, 300, [], Window(0.1, 0.2, 0.004))
    shown = scene._frames
    assert len(scene) == 26 and scene.time[0] == pytest.approx(0.1) and scene.time[-1] == pytest.approx(0.2)
    assert shown == pytest.approx(0.1 + 0.004 * np.arange(26), abs=0.0051)  # the nearest of instants 0.01 apart
    assert scene.draw(25).shape == scene.draw(0).shape
    with pytest.raises(Missing, match=r"they range from 0 to 0\.3"):
        Scene(swing, 0, 300, [], Window(0.4))
    with pytest.raises(CommandError, match="frames, at most 10000"):
        Scene(swing, 0, 300, [], Window(step=1e-6))
