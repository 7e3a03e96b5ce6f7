"""Moored bodies find their equilibrium by ``*STATIC`` from where they are drawn."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import fem

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
HELD = "1, 1, 1, <offset>\n1, 2, 3\n101, 2, 3\n201, 3, 3\n"
CHAIN = """*NODE
100, 5., 0., {z}
130, 837., 0., -200.
*NGEN, LINE=CATENARY
100, 130, 1, 880.
*NSET, NSET=ENDS
100, 130
*ELEMENT, TYPE=T3D2, ELSET=CHAIN
100, 100, 101
*ELGEN, ELSET=CHAIN
100, 30
*MATERIAL, NAME=CHAIN
*ELASTIC
1.03E9
*NO COMPRESSION
*DENSITY
242.
*SOLID SECTION, ELSET=CHAIN, MATERIAL=CHAIN, STRAIN=ENGINEERING
1.
*AQUA
-200., 0., 9.80665, 1025.
*SEABED, ELSET=CHAIN
1.E6, 1.E5, 0.198
*BOUNDARY
ENDS, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
CHAIN, GRAV, 9.80665, 0., 0., -1.
CHAIN, PB, 1., 0.198
*NODE PRINT, NSET=ENDS
RF
*END STEP
"""


@pytest.mark.parametrize("draught", [80.0, 60.0, 89.0])
def test_a_spar_sinks_until_it_carries_its_chains(draught):
    """Its displacement is its mass and the pull of three chains that end where it was found; half of the first bar
    hangs at the spar."""
    history = fem.run(fem.read_deck(INPUTS / "moored_spar.inp", parameters={"draught": draught}))
    end = np.flatnonzero(history.of_step(1))[-1]
    sinks = -history.of_node(1)[end, 2]
    held = fem.run(fem.parse_deck(CHAIN.format(z=-20.0 - sinks)))
    water = 1025.0 * 9.80665 * math.pi / 4.0 * 8.0**2
    carried = 3.0 * held.of_node(100, "RF")[-1, 2] + 9.80665 * (3.67e6 + 4.5e5)
    assert water * (draught + sinks) == pytest.approx(carried, rel=1e-6)
    assert history.of_node(1, "UR")[end] == pytest.approx(np.zeros(3), abs=1e-6)
    assert history.of_node(1)[-1, 0] > 30.0  # pushed, and still upright
    assert 0.0 < -history.of_node(1, "UR")[-1, 1] < 0.2


def drawn(way):
    """The buoy on three legs that only pull, drawn elsewhere, in one static step."""
    text = (INPUTS / "moored_buoy.inp").read_text()
    text = text[: text.index("*STEP, NLGEOM, INC=100000")].replace("*BOUNDARY\n1, 1, 1, <offset>\n", "")
    nodes, rest = text.split("*NGEN", 1)

    def moved(match):
        return ", ".join([match[1], *(repr(float(x) + d) for x, d in zip(match[2].split(","), way, strict=True))])

    nodes = re.sub(r"^(1|2|3|101|201|301), (.*)$", moved, nodes, flags=re.M)
    return fem.parse_deck(f"{nodes}*NGEN{rest}")


@pytest.mark.parametrize("way", [(0, 0, 0), (0, 0, 15), (0, 0, -40), (5, 0, 0), (20, 0, 0), (10, 20, -30)], ids=str)
def test_a_buoy_comes_to_its_place_from_far_away(way):
    """There is one equilibrium with all legs taut: above the middle of the anchors, all pulls alike."""
    history = fem.run(drawn(way))
    place = history.of_node(1)[-1] + way + [0.0, 0.0, -20.0]
    assert place == pytest.approx([0.0, 0.0, -20.005679], abs=1e-5)
    assert [history.of_element(leg, "T")[-1] for leg in (101, 201, 301)] == pytest.approx([76173.0] * 3, rel=1e-5)


def test_legs_of_a_buoy_pull_as_in_another_code():
    """The buoy 0.5 m aside without pitch (V-D1a of CableDyn's validation, whose statics agree with OrcaFlex's).

    The tension of the two legs upwind is 143,223 N at their ends in CableDyn 0.3.0; ours is that of the first bar.
    """
    text = (INPUTS / "moored_buoy.inp").read_text().replace("1, 1, 1, <offset>\n", HELD)
    history = fem.run(fem.parse_deck(text.replace("<dt>, <duration>", "<dt>, <dt>")))
    end = np.flatnonzero(history.of_step(1))[-1]
    assert [history.of_element(label, "T")[end] for label in (201, 301)] == pytest.approx([143223.0] * 2, rel=2e-3)
