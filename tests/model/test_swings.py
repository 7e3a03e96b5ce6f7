"""Distances of nodes from supports."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fem.deck import parse_deck
from fem.model import Model
from fem.model.notices import MOST_HELD, held_nodes, support_distance

MANY, HELD = 3000, 80


def cloud(origin: float, dofs: str) -> tuple[Model, np.ndarray]:
    """Random nodes about x = origin, the first of them held in some dofs; where they are."""
    x = np.random.default_rng(3).uniform(-1.0, 1.0, (MANY, 3)).round(6) + [origin, 0.0, 0.0]
    nodes = "\n".join(f"{k}, {p[0]!r}, {p[1]!r}, {p[2]!r}" for k, p in enumerate(x.tolist(), start=1))
    mass = "*ELEMENT, TYPE=MASS, ELSET=M\n1, 1\n*MASS, ELSET=M\n1.\n"
    held = f"*NSET, NSET=HELD, GENERATE\n1, {HELD}\n*BOUNDARY\nHELD, {dofs}\n"
    return parse_deck(f"*NODE\n{nodes}\n{mass}{held}*STEP\n*STATIC\n*END STEP\n"), x


@pytest.mark.parametrize("origin", [0.0, 1e7])
def test_distances_are_those_of_scipy_wherever_the_origin_lies(origin):
    assert HELD < MOST_HELD
    model, x = cloud(origin, "1, 3")
    held = held_nodes(model)
    distance = support_distance(model, np.arange(MANY), held)
    assert np.array_equal(held, np.arange(MANY) < HELD)
    assert np.allclose(distance, cdist(x, x[held]).min(axis=1), rtol=1e-14, atol=0.0)
    some = np.arange(5, MANY, 7)
    assert np.array_equal(support_distance(model, some, held), distance[some])


def test_nodes_that_can_move_hold_nothing():
    model, _ = cloud(0.0, "1, 2")
    assert not held_nodes(model).any()
    assert np.isinf(support_distance(model, np.arange(MANY), held_nodes(model))).all()


def test_no_room_for_all_nodes_times_all_supports():
    model, _ = cloud(0.0, "1, 3")
    tracemalloc.start()
    support_distance(model, np.arange(MANY), held_nodes(model))
    assert tracemalloc.get_traced_memory()[1] < 0.25 * MANY * HELD * 8
    tracemalloc.stop()
