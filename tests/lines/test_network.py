"""Networks at rest: members, planes and what rubs on them, by statics of a single node."""

from __future__ import annotations

import numpy as np
import pytest

from fem.lines.hanging import Line, LineError
from fem.lines.network import Network, Rubs, free_nodes, relax

STIFFNESS, WEIGHT, LIMIT, SLIP = 1e4, 10.0, 4.0, 0.002
IS_NOT = np.zeros(1, np.bool_)


def on_a_plane(push: float) -> Network:
    """A node on a level plane, 1 m from the support of its bar, pushed away from it; it rubs from where it is."""
    places = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    load = np.array([[0.0, 0.0, 0.0], [push, 0.0, -WEIGHT]])
    bar = Line(np.ones(1), np.full(1, STIFFNESS), np.zeros(0), IS_NOT, IS_NOT)
    along = np.diag([1.0, 1.0, 0.0])[None]
    rubs = Rubs(np.array([1]), along, places[1:], np.full(1, LIMIT), np.full(1, SLIP))
    freedom = free_nodes(np.array([True, False]))
    normal = np.array([[0.0, 0.0, 1.0]])
    return Network(
        places, load, np.array([[0, 1]]), bar, np.array([1]), normal, np.zeros(1), np.full(1, 1e9), freedom, rubs
    )


@pytest.mark.parametrize("push", [300.0, 3.0, -1.0])
def test_friction_takes_its_limit_of_what_slides_and_a_spring_holds_what_sticks(push):
    """Slides: T = H - F, u = T L/(E A). Sticks: H = (E A/L + F/slip) u while the bar pulls, (F/slip) u where slack."""
    rest = relax(on_a_plane(push))
    moved = (push - LIMIT) / STIFFNESS if push > 100.0 else push / (LIMIT / SLIP + STIFFNESS * (push > 0.0))
    assert rest.places[1, 0] - 1.0 == pytest.approx(moved, rel=1e-6, abs=1e-8)
    assert rest.tension[0] == pytest.approx(max(STIFFNESS * moved, 0.0), rel=1e-6, abs=1e-4)
    assert rest.push[0] == pytest.approx(WEIGHT, rel=1e-6)


@pytest.mark.parametrize("push", [50.0, -8.0])
def test_springs_to_first_places_share_the_load_with_a_bar(push):
    """(E A/L + k) u = H while the bar pulls, k u = H where it is slack; both are above the plane, without friction."""
    net, k = on_a_plane(push), 2e3
    none = np.zeros(0)
    smooth = Rubs(np.zeros(0, np.int64), np.zeros((0, 3, 3)), np.zeros((0, 3)), none, none)
    rest = relax(net._replace(rubs=smooth, clings=np.array([0.0, k])))
    assert rest.places[1, 0] - 1.0 == pytest.approx(push / (k + STIFFNESS * (push > 0.0)), rel=3e-5)


def test_a_search_that_does_not_succeed_says_so():
    """A bar stretched between supports to five times its length, under loads of 1e-4 of its tension: no overflow."""
    places = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    load = np.array([[0.0, 0.0, -WEIGHT]] * 3)
    bars = Line(np.full(2, 0.2), np.full(2, 1.5e5), np.zeros(0), IS_NOT, IS_NOT)
    free, none = free_nodes(np.array([True, False, True])), np.zeros(0)
    net = Network(
        places, load, np.array([[0, 1], [1, 2]]), bars, np.zeros(0, np.int64), np.zeros((0, 3)), none, none, free
    )
    with np.errstate(over="raise"), pytest.raises(LineError):
        relax(net)
