"""Bars split in two: the same structure, finer."""

from dataclasses import replace

import numpy as np
import pytest

import fem
from fem.model.facts import natural_lengths, of_sections
from fem.runs.record import Requests
from fem.solve.loop import solve
from fem.study.refined import refined
from fem.study.tracks import SeriesSink

LINE = """*NODE
1, 0., 0., 0.
11, 10., 0., 0.
*NGEN, NSET=LINE
1, 11
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*ELGEN, ELSET=BARS
1, 10
*SOLID SECTION, ELSET=BARS, MATERIAL=M
2.
*MATERIAL, NAME=M
*ELASTIC
1.E4
*DENSITY
3.
*BOUNDARY
1, 1, 3
LINE, 2, 3
"""


def mass(model):
    length = natural_lengths(model.mesh, model.rest_lengths)
    return float(of_sections(model, lambda section, material: section.area * material.density) @ length)


@pytest.mark.parametrize("deck", ["ssnl114a", "slack_chain", "hanging_chain", "sdnl138", "sdll135e", "bergdahl"])
def test_mass_and_length_stay(deck):
    model = fem.read_deck(f"inputs/{deck}.inp")
    fine = refined(model)
    assert len(fine.split) == len(fine.model.mesh.element_labels) - len(model.mesh.element_labels) > 0
    assert mass(fine.model) == pytest.approx(mass(model), rel=1e-13)
    lengths = [natural_lengths(each.mesh, each.rest_lengths) for each in (model, fine.model)]
    of_halves = np.where(
        np.diff(fine.halves)[:, 0] > 0, lengths[1][fine.halves].sum(axis=1), lengths[1][fine.halves[:, 0]]
    )
    np.testing.assert_allclose(of_halves, lengths[0], rtol=1e-13)
    for name, its in model.mesh.element_sets.items():
        assert set(fine.model.mesh.element_sets[name]) == set(fine.halves[its].ravel())
    np.testing.assert_array_equal(fine.model.mesh.node_labels[: len(model.mesh.node_labels)], model.mesh.node_labels)


def test_a_straight_bar_pulls_alike_in_statics():
    """Weight along a bar with linear strain: u of the nodes is exact, whatever the mesh (rho g (L x - x^2/2) / E)."""
    text = LINE + "*STEP\n*STATIC, DIRECT\n1., 1.\n*DLOAD\nBARS, GRAV, 9.81, 1., 0., 0.\n*END STEP\n"
    model = fem.parse_deck(text)
    coarse, fine = fem.run(model), fem.run(refined(model).model)
    x = model.mesh.coordinates[:, 0]
    exact = 3.0 * 9.81 * (10.0 * x - 0.5 * x**2) / 1e4
    for found in (coarse, fine):
        np.testing.assert_allclose(found.motion[-1, 0, :11, 0], exact, rtol=1e-9)
    assert fine.reactions[-1].reshape(-1, 3)[:11].sum(axis=0)[0] == pytest.approx(-3.0 * 9.81 * 20.0)


def test_members_are_not_pieces():
    """A bar between joints keeps its length in one piece: a pendulum, a net, bars with a point mass at each end."""
    for deck, why in (("sdnl100", "fewer than 6"), ("cable_net", "fewer than 6")):
        fine = refined(fem.read_deck(f"inputs/{deck}.inp"))
        assert not len(fine.split)
        (reason,) = fine.kept
        assert reason.startswith(why)
    beads = "*ELEMENT, TYPE=MASS, ELSET=BEADS\n" + "".join(f"{100 + n}, {n}\n" for n in range(1, 12))
    step = "*MASS, ELSET=BEADS\n1.\n*STEP\n*DYNAMIC, DIRECT\n0.1, 1.\n*END STEP\n"
    fine = refined(fem.parse_deck(LINE + beads + step))
    assert list(fine.kept) == ["a point mass at each end"]
    assert len(fine.kept["a point mass at each end"]) == 10


def test_initial_velocities_and_supports_of_middles():
    step = "*INITIAL CONDITIONS, TYPE=VELOCITY\n3, 1, 2.\n4, 1, 4.\n*STEP\n*DYNAMIC, DIRECT\n0.01, 0.1\n*END STEP\n"
    fine = refined(fem.parse_deck(LINE + step)).model
    start = fem.run(fine)
    velocity = start.v[0].reshape(-1, 3)[:, 0]
    middles = fine.mesh.coordinates[:, 0]
    np.testing.assert_allclose(velocity[np.argsort(middles)][2:8], [0.0, 1.0, 2.0, 3.0, 4.0, 2.0], atol=1e-12)
    assert not start.u.reshape(len(start), -1, 3)[:, :, 1:].any()


def test_loads_by_label_act_on_both_halves():
    step = "*STEP\n*STATIC, DIRECT\n1., 1.\n*DLOAD\n5, BX, 7.\n*END STEP\n"
    model = fem.parse_deck(LINE + step)
    forces = [fem.run(each).reactions[-1].reshape(-1, 3)[0, 0] for each in (model, refined(model).model)]
    assert forces[0] == pytest.approx(-7.0 * 2.0 * 1.0)
    assert forces[1] == pytest.approx(forces[0], rel=1e-9)
    assert refined(replace(model, steps=())).split.tolist() == list(range(1, 11))


@pytest.mark.parametrize("deck", ["catenary", "coupled_line", "slack_chain"])
def test_laid_lines_are_laid_again(deck):
    """With twice the bars they are at rest as well: the first step, a static one, moves no node."""
    model = fem.read_deck(f"inputs/{deck}.inp")
    fine = refined(model).model
    size = np.ptp(model.mesh.coordinates, axis=0).max()
    for each in (model, fine):
        rest = fem.run(replace(each, steps=each.steps[:1]))
        assert np.abs(rest.u[-1]).max() < 1e-9 * size
    nodes = len(model.mesh.node_labels)
    assert 0.0 < np.abs(fine.mesh.coordinates[:nodes] - model.mesh.coordinates).max() < 0.05 * size


ARC = """*NODE
{nodes}
*ELEMENT, TYPE=B31, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, {count}
*BEAM GENERAL SECTION, ELSET=LINE
1e-2, 1e-8, 0., 1e-8, 2e-8

1e8, 4e7
*BOUNDARY
1, ENCASTRE
*STEP
*STATIC
*END STEP
"""


def test_middles_of_a_line_that_is_bent_at_rest_lie_on_its_curve():
    """Of fourth order on a quarter of a circle, of third order beside its ends; only where that is asked for."""
    errors = []
    for count in (10, 20):
        f = np.linspace(0.0, 0.5 * np.pi, count + 1)
        nodes = "\n".join(
            f"{k}, {x!r}, {y!r}, 0." for k, (x, y) in enumerate(np.column_stack([np.cos(f), np.sin(f)]).tolist(), 1)
        )
        model = fem.parse_deck(ARC.format(nodes=nodes, count=count))
        assert not len(refined(model).split)
        fine = refined(model, curved=True).model
        assert len(fine.mesh.element_labels) == 2 * count
        off = np.abs(np.linalg.norm(fine.mesh.coordinates[count + 1 :], axis=1) - 1.0)
        errors.append((off[1:-1].max(), off[[0, -1]].max()))
    (inner, outer), (finer_inner, finer_outer) = errors
    assert inner / finer_inner == pytest.approx(16.0, rel=0.05)
    assert outer / finer_outer > 7.5
    assert outer < 5e-4
    straight = fem.parse_deck(LINE + "*STEP\n*STATIC\n*END STEP\n")
    alike = (refined(straight, curved).model.mesh.coordinates for curved in (False, True))
    np.testing.assert_allclose(*alike, atol=1e-14)


def test_what_acts_on_a_bar_by_its_label_acts_on_both_halves():
    """Water, failures, removals; what acts on a node stays there."""
    step = "*STEP\n*DYNAMIC, DIRECT\n0.01, 0.1\n*DLOAD\n5, PB, 1., 0.1\n*MODEL CHANGE, REMOVE\n7\n*END STEP\n"
    head = "*FAILURE, TYPE=TENSION\n3, 50.\n*AQUA\n-9., 9., 9.81, 1025.\n"
    fine = refined(fem.parse_deck(LINE + head + step))
    (found,) = fine.model.steps
    targets = [[each.target for each in its] for its in (found.fluid_loads, fine.model.failures)]
    assert targets == [[5, fine.second[5]], [3, fine.second[3]]]
    assert sorted(found.removals) == [7, fine.second[7]]


def test_middles_are_as_warm_as_the_mean_of_their_neighbours():
    """Of a bar free to expand: the far end moves by alpha times the integral of the temperature, linear in each bar."""
    warm = "*STEP\n*STATIC, DIRECT\n1., 1.\n*TEMPERATURE\nLINE, 10.\n4, 50.\n9, -20.\n*END STEP\n"
    model = fem.parse_deck(LINE.replace("*DENSITY", "*EXPANSION\n1e-4\n*DENSITY") + warm)
    for each in (model, refined(model).model):
        far = each.mesh.nodes_of(11)[0]
        assert fem.run(each).motion[-1, 0, far, 0] == pytest.approx(1e-4 * (10.0 * 10.0 + 40.0 - 30.0), rel=1e-9)


def test_a_bar_has_the_mean_of_its_halves():
    """Weight along the line: 5.5 bars hang below the middle of the fifth, whatever the mesh."""
    fine = refined(
        fem.parse_deck(LINE + "*STEP\n*STATIC, DIRECT\n1., 1.\n*DLOAD\nBARS, GRAV, 9., 1., 0., 0.\n*END STEP")
    )
    sink = SeriesSink(fine.model, ("T_e5", "U1_n2"), fine.second)
    solve(fine.model, sink, Requests(record_all=True, fields=False))
    assert sink.track().values[-1, 0] == pytest.approx(3.0 * 2.0 * 9.0 * 5.5, rel=1e-9)


@pytest.mark.parametrize(("ratio", "are_split"), [(1.9, True), (2.1, False)])
def test_neighbours_in_a_line_are_alike(ratio, are_split):
    """Six bars and six longer ones are one row up to twice the length; six bars alone are a line, four are not."""
    sizes = np.repeat([1.0, ratio], [8, 4])
    x = np.concatenate([[0.0], np.cumsum(sizes)])
    nodes = "\n".join(f"{k}, {each}, 0., 0." for k, each in enumerate(x, 1))
    text = LINE.replace(
        "1, 0., 0., 0.\n11, 10., 0., 0.\n*NGEN, NSET=LINE\n1, 11", f"{nodes}\n*NSET, NSET=LINE, GENERATE\n1, 13"
    )
    text = text.replace("BARS\n1, 10", "BARS\n1, 12") + "*STEP\n*STATIC\n*END STEP\n"
    assert (12 in refined(fem.parse_deck(text)).split) == are_split
