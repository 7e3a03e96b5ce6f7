"""``*TRANSFORM``: a model that is turned, with its supports and loads in turned axes, moves as it does unturned."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fem
from fem.deck import parse_deck, write_deck

HALF = math.sqrt(0.5)
AXES = np.array([[HALF, HALF, 0.0], [-HALF, HALF, 0.0], [0.0, 0.0, 1.0]])
DECK = """\
*NODE, NSET=ALL
{nodes}*NSET, NSET=ENDS
2, 3
*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
2, 2, 3
3, 1, 3
*MATERIAL, NAME=M
*ELASTIC
1.E4
*DENSITY
1.
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*AMPLITUDE, NAME=SWAY, DEFINITION=PERIODIC
1, 20., 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
ENDS, 3
{transform}*INITIAL CONDITIONS, TYPE=VELOCITY
{velocity}*EQUATION
2
3, 2, 1., 2, 1, -0.5
*STEP, NLGEOM
*{procedure}
*BOUNDARY, AMPLITUDE=SWAY
2, 2, 2, 0.2
*CLOAD
3, 1, 40.
*NODE PRINT, NSET=ALL
U, RF
*END STEP
"""
TRANSFORM = "*TRANSFORM, NSET=ENDS\n1., 1., 0., -1., 0., 0.\n"
PLACES = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [1.5, 1.0, 0.0]])


def run(procedure: str, is_turned: bool) -> fem.History:
    places, velocity = (PLACES @ AXES if is_turned else PLACES), np.array([0.0, 0.0, 0.0])
    velocity = np.array([3.0, 0.0, 0.0]) @ (AXES if is_turned else np.eye(3))
    rows = "".join(f"2, {dof}, {value!r}\n" for dof, value in enumerate(velocity.tolist(), 1) if value)
    nodes = "".join(f"{n}, {x!r}, {y!r}, {z!r}\n" for n, (x, y, z) in enumerate(places.tolist(), 1))
    return fem.run(
        parse_deck(DECK.format(nodes=nodes, transform=TRANSFORM * is_turned, velocity=rows, procedure=procedure))
    )


@pytest.mark.parametrize("procedure", ["DYNAMIC, DIRECT, ALPHA=0\n1e-3, 0.2", "STATIC, DIRECT\n0.05, 0.2"])
def test_a_turned_model_moves_as_the_unturned_one(procedure: str) -> None:
    plain, turned = run(procedure, False), run(procedure, True)
    assert np.abs(plain.u[:, 3:9]).max() > 1e-2
    shape = (len(plain.time), -1, 3)
    u, its, reaction, other = (each.reshape(shape) for each in (plain.u, turned.u, plain.reactions, turned.reactions))
    np.testing.assert_allclose(its[:, 3:5], u[:, 1:3], atol=1e-9)  # the added nodes: in their axes
    np.testing.assert_allclose(its[:, 1:3], u[:, 1:3] @ AXES, atol=1e-9)  # the nodes themselves
    np.testing.assert_allclose(other[:, 3:5], reaction[:, 1:3], atol=1e-6 * np.abs(reaction).max())
    np.testing.assert_allclose(other[:, 0], reaction[:, 0] @ AXES, atol=1e-6 * np.abs(reaction).max())


def test_an_inclined_roller() -> None:
    """Held across 45 degrees, pulled by 1 along it: N = sqrt(2), the roller presses by 1, u' = 2 L/(E A)."""
    text = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1.E6
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*NSET, NSET=ROLLER
2
*TRANSFORM, NSET=ROLLER
1., 1., 0., -1., 1., 0.
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM=NO
*STATIC
*CLOAD
2, 1, 1.
*END STEP
"""
    model = parse_deck(text)
    history = fem.run(model)
    np.testing.assert_allclose(history.u[-1].reshape(3, 3)[2], [2e-6, 0.0, 0.0], atol=1e-18)
    np.testing.assert_allclose(
        history.reactions[-1].reshape(3, 3)[[0, 2]], [[-HALF / 0.5, 0, 0], [0, -1, 0]], atol=1e-9
    )
    assert "*TRANSFORM: U, V, A and RF of node 2 in its axes are those of node 3" in model.notices
    assert parse_deck(write_deck(model)) == model
    with pytest.raises(fem.DeckError, match="lie on a line"):
        parse_deck(text.replace("-1., 1., 0.", "2., 2., 0."))
    with pytest.raises(fem.DeckError, match="TYPE=R is"):
        parse_deck(text.replace("NSET=ROLLER\n1.", "NSET=ROLLER, TYPE=C\n1."))
