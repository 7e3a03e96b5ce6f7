"""The filmed ropes: what is read, and that the numbers of a motion that was computed are found again."""

import pickle
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from validation.cases import deform


def sagging(frames):
    """(frames, 7, 3): hands that come closer and swing across; markers between them stay on a parabola."""
    along = np.linspace(-1.0, 1.0, 7)
    markers = np.tile(np.column_stack([0.25 * along, 0.0 * along, 0.4 * along**2]), (frames, 1, 1))
    time = deform.FRAME * np.arange(frames)
    moved = 0.06 * (1.0 - np.cos(6.0 * time))[:, None]
    markers[:, :2, 0] += moved
    markers[:, -2:, 1] += moved
    return markers


def test_without_the_data_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.delenv(deform.DATA, raising=False)
    outcome = deform.run(tmp_path)
    assert outcome.rows == ()
    assert "github.com/roahmlab/DEFORM" in outcome.remarks[0]


def test_a_folder_without_the_data_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv(deform.DATA, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="data_set/DLO1/train"):
        deform.run(tmp_path)


def table(turn=0.6):
    """(7, 3): an arc that turns by an angle from end to end, as long as the line that sags."""
    angles = np.concatenate([[0.0], turn * (np.arange(6) + 0.5) / 6])
    return np.cumsum(0.16 * np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles]), axis=0)


def test_only_numbers_are_read(tmp_path):
    path = tmp_path / "1.pkl"
    path.write_bytes(pickle.dumps(OrderedDict(a=1.0)))
    with pytest.raises(pickle.UnpicklingError, match=r"collections\.OrderedDict"):
        deform.markers_in(path)


def test_shapes_at_rest_are_the_first_of_each_rope(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "rest_vert = (tensor(((0.0, 1.0, 2.0), (3.0, 4.0, 4.0), (-6, 7.0, 6.0)))).repeat(1, 1)\n"
        "rest_vert = cat((rest_vert[:, :, 0], rest_vert[:, :, 2]), dim=-1)\n"
        "rest_vert = (tensor(((5.0, 1.0, 2.0), (3.0, 4.0, 2.0), (6.0, 7.0, 2.0)))).repeat(1, 1)\n"
    )
    assert deform.on_table(program, 1).tolist() == [[0.0, 1.0, 4.0], [3.0, 4.0, 4.0], [-6.0, 7.0, 4.0]]
    assert deform.on_table(program, 2)[0].tolist() == [5.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="has 2 shapes of ropes at rest"):
        deform.on_table(program, 3)


def beginning(frames=21):
    markers = sagging(frames)
    chords = np.linalg.norm(np.diff(markers[1], axis=0), axis=1)
    return deform.beginning(markers, table(), chords)


def test_a_line_begins_as_long_as_it_is_at_rest_and_nothing_stretches_it():
    start = beginning()
    bars, laid, rates = (np.diff(each, axis=0) for each in (start.places, start.rest, start.speeds))
    assert np.linalg.norm(bars, axis=1) == pytest.approx(np.linalg.norm(laid, axis=1), rel=1e-12)
    assert np.abs((bars * rates).sum(axis=1)).max() < 1e-12


def test_hands_hold_at_constant_angles():
    """An angle more turns a hand about its direction, at every instant; on the way the line twists evenly."""
    start = beginning()
    first, second = (deform.turns(start, {"FIRST": angle, "LAST": 0.3}) for angle in (0.0, 0.8))
    one, other = (Rotation.from_rotvec(each[2][0]) for each in (first, second))
    assert (other * one.inv()).as_rotvec() == pytest.approx(0.8 * start.hands[:, 0], abs=1e-9)
    assert second[2][1] == pytest.approx(first[2][1], abs=1e-9)
    for way, before, after in (first, second):
        assert before[:, 0] == pytest.approx(np.zeros((2, 3)), abs=1e-9)
        assert before[:, -1] == pytest.approx(after[:, 0], abs=1e-9)
        assert np.linalg.norm(np.diff(before, axis=1), axis=2).max() < 8.0 / len(way)


def test_initial_velocities_stretch_no_bar():
    rng = np.random.default_rng(1)
    places, speeds, held = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), np.array([0, 1, 7, 8])
    kept = speeds[held].copy()
    deform.without_stretch(places, speeds, held)
    rates = (np.diff(speeds, axis=0) * np.diff(places, axis=0)).sum(axis=1)
    assert np.abs(rates[1:-1]).max() < 1e-12
    assert (speeds[held] == kept).all()


TRUTH = {"EI": 0.06, "BETA": 0.06, "FIRST": 0.4, "LAST": 0.9}


def made():
    """A motion that the model itself has moved, as if recorded."""
    markers = sagging(41)
    motion = deform.Motion("made", markers, table(), np.linalg.norm(np.diff(markers[1], axis=0), axis=1))
    moved = motion.run(TRUTH)[:, deform.line_of(7)[2:-2]]
    markers = markers.copy()
    markers[2:, 2:-2] = moved
    return replace(motion, markers=markers)


def test_the_numbers_of_a_computed_motion_are_found_again():
    """No error is left, and its numbers return from a beginning nearby."""
    recorded = made()
    assert deform.distance(recorded.away(recorded.run(TRUTH))) < 1e-9
    assert deform.distance(recorded.away(recorded.run(deform.START))) > 1.0
    found = deform.nearest([recorded], np.array([np.log(0.07), np.log(0.07), 0.3, 1.0]), 10)
    assert deform.named(found.x) == pytest.approx(TRUTH, rel=2e-2)


@pytest.mark.long
def test_they_are_found_from_nothing():
    assert deform.fit([made()]) == pytest.approx(TRUTH, rel=2e-2)
