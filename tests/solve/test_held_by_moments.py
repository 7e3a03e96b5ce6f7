"""Harmonic motions and modes about states that moments hold on free bodies: their tangent is not symmetric."""

from __future__ import annotations

import numpy as np
import pytest

import fem

POINTS = np.array(
    [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, -1.0, 0.2], [0.0, 0.0, -1.0]]
)  # of the body, and where their springs end
ENDS = np.array([[1.0, 0.0, 2.0], [-1.0, 0.0, 2.0], [0.5, 2.0, 0.2], [0.0, -2.0, 0.2], [1.0, 0.0, -2.0]])
TILT = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
TILT *= np.linalg.det(TILT)
AS_IT_IS = np.eye(3)


def held(moment: float, turn: np.ndarray = AS_IT_IS, order: int = 1) -> str:
    """A body of mass 2 on six springs of 50, held turned by a moment; all of it turned, its nodes renumbered."""
    inertia = turn @ np.diag([0.5, 0.6, 0.8]) @ turn.T
    points, ends = POINTS @ turn.T, ENDS @ turn.T
    labels = np.arange(2, 7)[::order].tolist()
    tied, fixed = dict(zip(labels, points.tolist(), strict=True)), [label + 10 for label in labels]
    rows = [f"{label}, {x!r}, {y!r}, {z!r}" for label, (x, y, z) in tied.items()]
    rows += [f"{label}, {x!r}, {y!r}, {z!r}" for label, (x, y, z) in zip(fixed, ends.tolist(), strict=True)]
    side = (turn @ [2.0, 0.0, 0.0]).tolist()
    rows.append("30, " + ", ".join(map(repr, side)))
    springs = [f"{k}, {a}, {b}" for k, (a, b) in enumerate([*zip(labels, fixed, strict=True), (labels[0], 30)], 1)]
    ixx, iyy, izz, ixy, ixz, iyz = (float(inertia[at]) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    way = turn @ [moment, 0.0, moment]
    return "\n".join([
        "*NODE", "1, 0., 0., 0.", *rows, "*NSET, NSET=TIED", ", ".join(map(str, labels)),
        "*ELEMENT, TYPE=MASS, ELSET=BODY", "100, 1", "*MASS, ELSET=BODY", "2.",
        "*ELEMENT, TYPE=ROTARYI, ELSET=I", "101, 1", "*ROTARY INERTIA, ELSET=I",
        f"{ixx!r}, {iyy!r}, {izz!r}, {ixy!r}, {ixz!r}, {iyz!r}", "*RIGID BODY, REF NODE=1, TIE NSET=TIED",
        "*ELEMENT, TYPE=SPRINGA, ELSET=S", *springs, "*SPRING, ELSET=S", "", "50.",
        "*BOUNDARY", *(f"{label}, 1, 3" for label in (*fixed, 30)),
        "*STEP, NLGEOM", "*STATIC", "0.2, 1.", "*CONTROLS, RESI_GLOB_RELA=1E-11",
        "*CLOAD", *(f"1, {4 + axis}, {value!r}" for axis, value in enumerate(way.tolist())), "*END STEP", "",
    ])  # fmt: skip


def loaded(force: float, turn: np.ndarray = AS_IT_IS) -> str:
    way = (turn @ [force, 0.3 * force, 0.0]).tolist()
    return "*CLOAD\n" + "".join(f"1, {axis}, {value!r}\n" for axis, value in enumerate(way, 1)) + "*END STEP\n"


def answer(deck: str, frequency: float, turn: np.ndarray = AS_IT_IS) -> tuple[np.ndarray, list[int]]:
    """(n, 3) amplitudes under a unit force, and labels."""
    text = f"*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT\n{frequency}, {2 * frequency}, 2\n" + loaded(1.0, turn)
    history = fem.run(fem.parse_deck(deck + text))
    return history.responses[0].motion[0], history.mesh.node_labels.tolist()


@pytest.mark.parametrize("moment", [1.0, 5.0])
def test_a_slow_response_is_the_derivative_of_the_static_state(moment: float) -> None:
    """Central difference of two static states; truncated at h^2 = 1e-8 of the curvature, measured 1e-8."""
    deck, slow = held(moment), "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1E-12\n"
    found, _ = answer(deck, 1e-5)
    up, down = (fem.run(fem.parse_deck(deck + slow + loaded(h))).u[-1].reshape(-1, 3) for h in (1e-4, -1e-4))
    expected = (up - down) / 2e-4
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
