"""The filmed ropes: what is read, and that the numbers of a motion that was computed are found again."""

import pickle
from collections import OrderedDict

import numpy as np
import pytest

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


def test_only_numbers_are_read(tmp_path):
    path = tmp_path / "1.pkl"
    path.write_bytes(pickle.dumps(OrderedDict(a=1.0)))
    with pytest.raises(pickle.UnpicklingError, match=r"collections\.OrderedDict"):
        deform.motion(path)


def test_initial_velocities_stretch_no_bar():
    rng = np.random.default_rng(1)
    places, speeds, held = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), np.array([0, 1, 7, 8])
    kept = speeds[held].copy()
    found = deform.without_stretch(places, speeds, held)
    rates = (np.diff(found, axis=0) * np.diff(places, axis=0)).sum(axis=1)
    assert np.abs(rates[1:-1]).max() < 1e-12
    assert (found[held] == kept).all()


def test_the_numbers_of_a_computed_motion_are_found_again(tmp_path):
    """Markers that the model itself moved, read as a recording: no error is left, and its numbers return."""
    truth = {"EI": 0.08, "BETA": 0.03}
    markers = sagging(41)
    text, nodes = deform.deck_of(markers)
    markers[2:, 2:-2] = deform.Motion("made", markers, text, nodes).run(truth)[:, nodes[2:-2]]
    path = tmp_path / "1.pkl"
    path.write_bytes(pickle.dumps(markers.transpose(0, 2, 1).tolist()))
    recorded = deform.motion(path)
    assert deform.distance(recorded.away(recorded.run(truth))) < 1e-9
    assert deform.distance(recorded.away(recorded.run(deform.START))) > 1.0
    assert deform.fit([recorded]) == pytest.approx(truth, rel=1e-2)
