"""Random composite lines: what statics finds is in balance by forces that share no code with it.

The long study is ``benchmarks/reliability/composite_lines.py``. Seed 12 lies with friction on a slope, in a current;
596 and 709 are found from closer than where water and line nearly agree, 429 by drawing back what a current moves.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.reliability.composite_lines import composite, forces, solved


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 6, 7, 8, 12, 429, 596, 709])
@pytest.mark.sampled(4)
def test_composite_lines_are_found_from_their_deck(seed, tmp_path):
    """Sections, clumps, buoys, buoyant parts, slopes, friction, currents: forces on free nodes over all loads."""
    line = composite(seed)
    laid, found = solved(line, tmp_path)
    assert np.abs(forces(line, found, laid)).max() < 1e-6 * np.abs(line.load).sum()
