"""Runs in processes of their own, how far they are, what their files show; the command itself."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import fem
from fem.app.scene import (
    GROUPS,
    MOST_POINTS,
    Parting,
    along,
    bar_tensions,
    group_of,
    growth,
    parting_of,
    point_loads,
    point_masses,
    scene_of,
    sketch_of,
)
from fem.app.solver import Workplace, last_row, progress_of, verdict_of
from fem.cli import main
from fem.lines.pendulums import Pendulum, deck_text
from fem.runs.read import open_results
from fem.runs.run_record import COMPLETED, INTERRUPTED
from fem.show.links import joint_forces
from tests.waiting import PATIENCE, wait_for


def write(folder, angle=40.0, when=0.5, dt=1e-3):
    deck = folder / "swing.inp"
    deck.write_text(deck_text(Pendulum((1.0, 0.5), (1.0, 2.0), (angle, -10.0), time=when, dt=dt)))
    return deck


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swing")
    fem.run(write(folder), output=folder / "results")
    return open_results(folder / "results")


def numbers(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), kind)


def test_a_scene_is_the_motion_of_the_tables(results):
    found = json.loads(scene_of(results))
    time = numbers(found["time"], "<f8")
    x = numbers(found["x"]).reshape(len(time), 3, 3)
    table = results.nodes.curves(["U1", "U3"], [3])[3]
    at = np.searchsorted(table[:, 2], time)
    start = results.mesh.coordinates[2, [0, 2]]
    np.testing.assert_allclose(x[:, 2][:, [0, 2]], start + table[at, 3:], atol=1e-6)
    tension = numbers(found["values"]["T"]["numbers"]).reshape(len(time), 2)
    rows = results.elements.curves(["T"], [2])[2]
    np.testing.assert_allclose(tension[:, 1], rows[np.searchsorted(rows[:, 2], time), 3], rtol=1e-6, atol=1e-5)
    assert (found["axes"], found["supports"], found["traced"]) == ([0, 2], [0], [2])
    assert found["units"] == {"time": "s", "length": "m"}
    assert found["values"]["T"]["words"] == "tension T"


def test_the_legend_knows_the_largest_force_of_the_run(results):
    """Also where it is beyond the colours, or between the instants that are drawn."""
    scale = json.loads(scene_of(results))["values"]["T"]
    rows = np.concatenate([*results.elements.curves(["T"], [1, 2]).values()])[:, 3]
    assert (scale["least"], scale["most"]) == (rows.min(), rows.max())


def test_all_groups_of_a_pendulum_have_charts(results):
    found = {name: group_of(results, name) for name in GROUPS}
    assert not [group.reason for group in found.values() if group.reason]
    energy = dict(found["Energies"].panels[0].curves)
    assert np.ptp(energy["total"][:, 1]) < 1e-9 * energy["kinetic"][:, 1].max()
    assert energy["potential (0 at lowest)"][:, 1].min() == 0.0 and "strain" not in energy
    titles = [panel.title for panel in found["Elements"].panels]
    assert titles == ["tension T", "stress S"]  # N is T, and strain the rounding of lengths
    reactions = {panel.title: panel.curves for panel in found["Reactions"].panels}
    pulled = {panel.title: panel.curves[0] for panel in found["Joint forces"].panels}  # of the link at the support
    for axis in "xz":
        np.testing.assert_allclose(reactions[f"reaction {axis}"][0][1], pulled[f"joint force {axis}"][1], atol=1e-6)
    assert (
        max(len(curve) for group in found.values() for panel in group.panels for _, curve in panel.curves)
        < 2 * MOST_POINTS
    )
    names = [panel.title for panel in found["Links"].panels]
    assert [name.split()[0] for name in names] == ["position"] * 2 + ["velocity"] * 2 + ["acceleration"] * 2


def test_angles_are_in_degrees_as_in_the_deck_with_two_derivatives(results):
    """Of the link at the support, 1 m long: A across it, where both are means of an increment."""
    angle, velocity, acceleration = group_of(results, "Angles").panels
    assert [panel.unit for panel in (angle, velocity, acceleration)] == ["°", "°/s", "°/s²"]
    assert [curve[0, 1] for _, curve in angle.curves] == pytest.approx([40.0, 30.0])
    (_, turned), (_, rate), (_, found) = (panel.curves[0] for panel in (angle, velocity, acceleration))
    np.testing.assert_allclose(found[:, 0], 0.5 * (rate[1:, 0] + rate[:-1, 0]), atol=1e-12)
    theta = np.radians(0.5 * (turned[1:, 1] + turned[:-1, 1]))
    a1, a3 = results.nodes.curves(["A1", "A3"], [2])[2][1:, 3:].T
    across = np.degrees(a1 * np.cos(theta) + a3 * np.sin(theta))
    np.testing.assert_allclose(found[:, 1], across, atol=1e-4 * np.abs(across).max())


def test_forces_of_the_joints_are_those_of_the_chart(results):
    """The first is the reaction of the support."""
    found = json.loads(scene_of(results))
    time, joints = numbers(found["time"], "<f8"), found["joints"]
    force = numbers(joints["numbers"]).reshape(len(time), 2, 3)
    chart = joint_forces(results)
    assert joints["nodes"] == [0, 1] and chart.nodes.tolist() == [0, 1]
    assert joints["largest"] == pytest.approx(np.linalg.norm(force, axis=2).max(), rel=1e-6)
    rows = results.nodes.curves(["RF1", "RF3"], [1])[1]
    size = joints["largest"]
    for axis, column in ((0, 3), (2, 4)):
        expected = np.interp(time, rows[:, 2], rows[:, column])
        np.testing.assert_allclose(force[5:-5, 0, axis], expected[5:-5], atol=0.01 * size)


def test_links_and_bobs_of_a_scene(results, tmp_path):
    """Links in the colours of their curves; no colours for strains that are rounding, nor for N that is T."""
    found = json.loads(scene_of(results))
    assert (found["links"], found["heavy"], found["bobs"], [*found["values"]]) == ([0, 1], [0, 1], {}, ["T"])
    deck = tmp_path / "point.inp"
    deck.write_text(deck_text(Pendulum((1.0,), (2.0,), (40.0,), body="point", time=0.01)))
    fem.run(deck, output=tmp_path / "point")
    found = json.loads(scene_of(open_results(tmp_path / "point")))
    assert (found["heavy"], found["bobs"]) == ([], {"1": 2.0})
    assert json.loads(sketch_of(fem.read_deck(deck)))["bobs"] == {"1": 2.0}


def test_a_sketch_has_the_nodes_of_the_deck(tmp_path):
    found = json.loads(sketch_of(fem.read_deck(write(tmp_path))))
    assert found["labels"] == ["1", "2", "3"] and found["supports"] == [0]
    assert found["sets"]["JOINTS"] == [0, 1, 2] and found["axes"] == [0, 2]


def test_two_runs_that_begin_alike_part_as_they_do(results, tmp_path):
    deck = write(tmp_path, angle=40.001)
    fem.run(deck, output=tmp_path / "results")
    found = parting_of(results, open_results(tmp_path / "results"))
    first = np.hypot(*(np.radians(0.001) * np.array([1.0, 1.0])))  # joint 2 by 1 m, joint 3 by up to 1.5 m
    assert first < found.distance[0] < 2.0 * first
    with_unit = found.said("s", "m")
    assert f": {found.distance[0]:.3g} m at the start" in with_unit


def test_growth_of_an_exponential_is_its_rate():
    time = np.linspace(0.0, 10.0, 101)
    assert growth(time, np.minimum(1e-9 * np.exp(1.7 * time), 1e-2)) == pytest.approx(1.7)
    assert np.isnan(growth(time, np.zeros(101)))


def test_the_time_in_which_two_runs_part_tenfold():
    """e^(0.5 t) is 10 at ln(10)/0.5 = 4.61."""
    found = Parting(np.array([0.0, 1.0]), np.array([1e-6, 1.0]), 0.5)
    assert found.said("s", "m").endswith("1e-06 m at the start, 1 m at most; it grows tenfold in 4.61 s")


SKETCH = """*NODE
1, 0., 0., 0.
2, 3., 0., 0.
3, 4., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=ONE
3, 2
*ELEMENT, TYPE=MASS, ELSET=OTHER
4, 2
*MASS, ELSET=ONE
2.
*MASS, ELSET=OTHER
3.
*REST LENGTH
1, 2.5
2, 1.25
*MATERIAL, NAME=M
*ELASTIC
1e3
*SOLID SECTION, ELSET=LINE, MATERIAL=M
0.5
*STEP
*STATIC
*CLOAD
2, 3, -5.
2, 3, -2.
2, 1, 4.
*END STEP
"""


def test_a_sketch_adds_up_what_is_at_a_node_and_knows_what_is_slack():
    """T = EA (l/L0 - 1), 0.2 of 500 in the first bar; the second is shorter than its rest length. Bars are 2.5 and 1.25
    long, their middles at 1.25 and 3.125."""
    model = fem.parse_deck(SKETCH)
    assert point_masses(model) == {1: 5.0} and point_loads(model) == {1: [4.0, 0.0, -7.0]}
    assert bar_tensions(model) == pytest.approx([100.0, 0.0])
    assert along(model, bar_tensions(model)).curves[0][1] == pytest.approx(np.array([[1.25, 100.0], [3.125, 0.0]]))


def test_the_last_whole_line_counts(tmp_path):
    table = tmp_path / "increments.csv"
    table.write_text("step,time\n1,0.5\n1,0.7")
    assert last_row(table) == {"step": "1", "time": "0.5"}
    table.write_text("step,time\n")
    assert last_row(table) == {} == last_row(tmp_path / "none.csv")


@pytest.fixture
def workplace():
    found = Workplace()
    yield found
    found.close()
    assert not found.folder.exists()


def test_a_run_ends_well(workplace):
    deck = write(workplace.new_folder("swing"))
    run = workplace.solve(deck, deck.parent / "results")
    assert workplace.of_folder(deck.parent / "results") is run
    run.wait(PATIENCE)
    progress = run.progress()
    assert (progress.fraction, progress.increment, progress.time) == (1.0, 500, pytest.approx(0.5))
    assert verdict_of(progress, run) == COMPLETED and not run.failure
    assert workplace.of_folder(deck.parent / "results") is None


def test_a_stopped_run_leaves_whole_files(workplace):
    deck = write(workplace.new_folder("swing"), when=1000.0)
    run = workplace.solve(deck, deck.parent / "results")
    wait_for(lambda: getattr(progress_of(run.folder), "increment", 0) > 0)
    run.stop()
    run.wait(PATIENCE)
    assert verdict_of(run.progress(), run) == INTERRUPTED and not run.failure
    assert 0 < run.progress().fraction < 1
    for table in ("nodes.csv", "increments.csv"):
        assert (run.folder / table).read_bytes().endswith(b"\n")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_run_says_so(workplace):
    deck = write(workplace.new_folder("swing"), when=1000.0)
    run = workplace.solve(deck, deck.parent / "results")
    wait_for(lambda: (run.folder / "increments.csv").exists())
    os.kill(run.number, signal.SIGKILL)
    run.wait(PATIENCE)
    assert "SIGKILL" in run.failure and verdict_of(run.progress(), run) == "killed"


def test_a_deck_that_is_wrong_says_what(workplace):
    deck = workplace.new_folder("wrong") / "wrong.inp"
    deck.write_text("*NODE\n1, a\n")
    run = workplace.solve(deck, deck.parent / "results")
    run.wait(PATIENCE)
    assert "wrong.inp:2:4" in run.failure and verdict_of(run.progress(), run) == "ended without results"


def test_the_command_without_its_extra(monkeypatch, capsys):
    monkeypatch.setattr("fem.app.server.find_spec", lambda name: None)
    assert main(["app", "--no-open"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_the_command_refuses_what_is_not_there(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("fem.app.server.find_spec", lambda name: name)
    assert main(["app", str(tmp_path / "none.inp"), "--no-open"]) == 2
    assert "does not exist" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["app", "--port", "70000"])


def test_a_run_knows_nothing_of_the_page(tmp_path):
    """Neither the page nor NiceGUI is imported by the other commands."""
    deck = write(tmp_path, when=0.01)
    script = (
        "import sys; from fem.cli import main; "
        f"assert main(['run', {str(deck)!r}, '--quiet', '--output', {str(tmp_path / 'results')!r}]) == 0; "
        "print([name for name in sys.modules if name.startswith(('fem.app', 'nicegui', 'uvicorn'))])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
