"""Bounds of pictures: what is drawn just below them, and what just above."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fem.errors import CommandError
from fem.show.animate import check_film
from fem.show.style import thinned


def test_curves_of_more_than_5000_points_are_thinned_and_keep_their_extremes():
    for count, is_thinned in ((5_000, False), (5_001, True), (200_000, True)):
        time = np.linspace(0.0, 1.0, count)
        values = np.sin(40.0 * time)
        values[count // 3], values[count // 2] = 7.0, -9.0
        drawn, shown = thinned(time, values)
        assert (len(drawn) < count) == is_thinned and 2_000 < len(drawn) <= 5_000
        assert (shown.max(), shown.min()) == (7.0, -9.0)
        assert np.all(np.diff(drawn) >= 0.0) and set(drawn) <= set(time)


def test_a_gif_has_at_most_50_frames_a_second():
    check_film(Path("motion.gif"), 50.0)
    with pytest.raises(CommandError, match=r"at most 50 frames per second, not 51: write \.mp4 or \.html"):
        check_film(Path("motion.gif"), 51.0)
    check_film(Path("motion.html"), 51.0)
