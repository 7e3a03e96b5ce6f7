"""A tube of bars bends and twists as the rod that it stands for, and keeps the shape that it has at rest."""

import numpy as np
import pytest

import fem
from validation import tubes

ACROSS = np.array([0.0, 0.0, 1.0])


def bent(count, turn):
    """Sections of a line of length 1 that turns by an angle between both ends, in the plane z = 0."""
    angles = turn * (np.arange(count) + 0.5) / count
    bars = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles]) / count
    ends = [np.array([np.cos(angle), np.sin(angle), 0.0]) for angle in (0.0, turn)]
    return tubes.shape(np.concatenate([np.zeros((1, 3)), np.cumsum(bars, axis=0)]), *ends, ACROSS)


def end_of(line, torsion, moment=0.0, force=(0.0, 0.0, 0.0)):
    """(4, 3) places and displacements of the last section, the first held: EI is 1, and the length 1."""
    count = len(line.centres)
    radius = 0.35 / (count - 1)
    places = line.nodes(np.zeros(count), radius)
    lines = ["*NODE", *(f"{k}, {x:.15g}, {y:.15g}, {z:.15g}" for k, (x, y, z) in enumerate(places.reshape(-1, 3), 1))]
    for kind, modulus in (("BENT", 1.0), ("CORE", 1e4), ("RING", 1.0)):
        lines += [f"*MATERIAL, NAME={kind}", "*ELASTIC", f"{modulus}", "*DENSITY", "1."]
    lines += [*tubes.tube(line, radius, torsion).cards(), "*BOUNDARY", "1, 1, 3", "2, 1, 3", "3, 1, 3", "4, 1, 3"]
    lines += ["*STEP, NLGEOM", "*STATIC", "1., 1.", "*CLOAD"]
    loads = np.cross(line.normals[-1], places[-1] - places[-1, 0]) * moment / (3.0 * radius**2)
    for corner, load in enumerate([np.array(force), *loads[1:]]):
        lines += [f"{4 * count - 3 + corner}, {axis + 1}, {load[axis]:.15g}" for axis in range(3)]
    history = fem.run(fem.parse_deck("\n".join([*lines, "*END STEP", ""]), name="tube"))
    return places[-1], history.u[-1].reshape(-1, 4, 3)[-1]


@pytest.mark.parametrize("torsion", [0.33, 0.5])
@pytest.mark.parametrize("count", [10, 20])
def test_a_tip_force_bends_it_as_a_cantilever(count, torsion):
    """P L^3 / (3 EI); what is left is shear, and sections that are not rigid."""
    for axis in (1, 2):
        force = 1e-3 * np.eye(3)[axis]
        _, moved = end_of(bent(count, 0.0), torsion, force=force)
        assert moved[0, axis] == pytest.approx(1e-3 / 3.0, rel=1e-2)
        assert abs(moved[0, 3 - axis]) < 1e-4 * moved[0, axis]


@pytest.mark.parametrize("torsion", [0.33, 0.5])
def test_a_moment_about_its_axis_twists_it(torsion):
    """By M L / GJ, and stretch does not couple with twist."""
    places, moved = end_of(bent(10, 0.0), torsion, moment=1e-3)
    before, after = places[1] - places[0], (places + moved)[1] - (places + moved)[0]
    assert tubes.angle_from(before, after, np.array([1.0, 0.0, 0.0])) == pytest.approx(1e-3 / torsion, rel=1e-4)
    assert abs(moved[0, 0]) < 1e-3 * 1e-3 / torsion


def test_a_curved_tube_stays_as_it_is_without_load():
    _, moved = end_of(bent(12, 2.0), 0.5)
    assert np.abs(moved).max() < 1e-8


def test_bars_have_their_natural_lengths_in_the_shape_at_rest():
    line = bent(12, 2.0)
    bars = tubes.tube(line, 0.03, 0.5)
    nodes = line.nodes(np.zeros(13), 0.03).reshape(-1, 3)
    assert np.linalg.norm(nodes[bars.nodes[:, 1]] - nodes[bars.nodes[:, 0]], axis=1) == pytest.approx(bars.lengths)
    straight = bent(12, 0.0).nodes(np.zeros(13), 0.03).reshape(-1, 3)
    away = np.linalg.norm(straight[bars.nodes[:, 1]] - straight[bars.nodes[:, 0]], axis=1) / bars.lengths - 1.0
    assert np.abs(away).max() == pytest.approx(2.0 * 0.03, rel=0.1)


def test_twist_between_two_ends_is_even_in_a_straight_tube():
    line = bent(8, 0.0)
    bars = tubes.tube(line, 0.045, 0.5)
    guess = np.concatenate([np.zeros(8), [0.3]])
    assert bars.settled(line, guess, 0.045) == pytest.approx(np.linspace(0.0, 0.3, 9), abs=1e-4)


def test_a_curved_tube_in_its_shape_at_rest_settles_without_twist():
    line = bent(8, 1.5)
    guess = np.concatenate([[0.0], np.full(7, 0.2), [0.0]])
    assert tubes.tube(line, 0.045, 0.5).settled(line, guess, 0.045) == pytest.approx(np.zeros(9), abs=1e-5)


def test_a_tube_too_slender_for_its_bays_is_refused():
    with pytest.raises(ValueError, match="too slender"):
        tubes.bay_areas(0.1, 0.02, 0.5)


def test_sides_are_carried_without_twist():
    """Along a closed plane curve a side across the plane stays, and one in the plane keeps its angle to the line."""
    angles = np.linspace(0.0, 2.0 * np.pi, 25)
    normals = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    assert tubes.carried(ACROSS, normals) == pytest.approx(np.tile(ACROSS, (25, 1)))
    assert tubes.carried(np.array([0.0, 1.0, 0.0]), normals)[6] == pytest.approx(np.array([-1.0, 0.0, 0.0]))
