"""Harmonic motions and modes about states that moments hold on free bodies: their tangent is not symmetric."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

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


FREQUENCY = "*STEP, NLGEOM\n*FREQUENCY\n6\n*END STEP\n"


def own_modes(history: fem.History, moment: float, turn: np.ndarray) -> np.ndarray:
    """(6,) omega^2 about the place and attitude of a run, from nothing but the springs: forces and moments in balance,
    and their derivative by small motions in space, over m and R I R^T."""
    labels, u = history.mesh.node_labels.tolist(), history.u[-1].reshape(-1, 3)
    points, place = POINTS @ turn.T, u[labels.index(1)]
    moved = points + u[[labels.index(label) for label in range(2, 7)]] - place
    turned = np.linalg.lstsq(points, moved, rcond=None)[0].T
    of_springs, ends = np.vstack([points, points[:1]]), np.vstack([ENDS, [2.0, 0.0, 0.0]]) @ turn.T
    rest = np.linalg.norm(ends - of_springs, axis=1)

    def left(moved: np.ndarray) -> np.ndarray:
        arms = of_springs @ turned.T @ Rotation.from_rotvec(moved[3:]).as_matrix().T
        ways = ends - (place + moved[:3] + arms)
        lengths = np.linalg.norm(ways, axis=1)
        pulls = 50.0 * ((lengths - rest) / lengths)[:, None] * ways
        turning = turn @ [moment, 0.0, moment] + np.cross(arms, pulls).sum(axis=0)
        return np.concatenate([pulls.sum(axis=0), turning])

    assert np.abs(left(np.zeros(6))).max() < 1e-8
    stiffness = np.array([left(-d) - left(d) for d in 1e-6 * np.eye(6)]).T / 2e-6
    mass = np.zeros((6, 6))
    mass[:3, :3], mass[3:, 3:] = 2.0 * np.eye(3), turned @ turn @ np.diag([0.5, 0.6, 0.8]) @ turn.T @ turned.T
    return np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)


@pytest.mark.parametrize("moment", [1.0, 5.0, 15.0])
def test_modes_are_those_of_springs_and_inertia_alone(moment: float) -> None:
    history = fem.run(fem.parse_deck(held(moment) + FREQUENCY))
    omega = history.modes[0].omega
    np.testing.assert_allclose(omega * np.abs(omega), own_modes(history, moment, AS_IT_IS), rtol=1e-7)


def test_turning_and_numbering_change_no_mode_and_no_response() -> None:
    found = [fem.run(fem.parse_deck(held(5.0, *how) + FREQUENCY)).modes[0].omega for how in ((), (TILT, -1))]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
    (as_it_is, labels), (moved, others) = (answer(held(5.0, turn, order), 0.8, turn) for turn, order in
                                           ((AS_IT_IS, 1), (TILT, -1)))  # fmt: skip
    for node, other in ((1, 1), (2, 6), (5, 3)):
        a, b = as_it_is[labels.index(node)], moved[others.index(other)]
        np.testing.assert_allclose(b, TILT @ a, atol=1e-8 * np.abs(as_it_is).max())


SPRUNG = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, -1., 0., 0.
4, 0., 1., 0.
5, 0., -1., 0.
6, 0., 0., 1.
7, 0., 0., -1.
*NSET, NSET=TIED, GENERATE
2, 7
*ELEMENT, TYPE=MASS, ELSET=BODY
100, 1
*MASS, ELSET=BODY
2.
*ELEMENT, TYPE=ROTARYI, ELSET=I
101, 1
*ROTARY INERTIA, ELSET=I
0.8, 0.8, 0.8
*RIGID BODY, REF NODE=1, TIE NSET=TIED
""" + "".join(
    f"*ELEMENT, TYPE=SPRING1, ELSET=S{dof}\n" + "".join(f"{10 * dof + n}, {n}\n" for n in range(2, 8))
    + f"*SPRING, ELSET=S{dof}\n{dof}\n50.\n" for dof in (1, 2, 3)
)  # fmt: skip
"""Six points of a ball, each on springs k to the ground in three directions: turned by R, they turn it back with
k sum of R s x s = - 2 k j sin(a) n about the axis n of an angle a, j = sum of s_x^2 = 2. A moment M holds it where
sin a = M/(2 k j). Small turns d meet k j (tr(R) - R) d: k j (1 + cos a +- i sin a) across M, 2 k j cos a along it."""


def sprung(angle: float) -> str:
    moment = 2.0 * 50.0 * 2.0 * math.sin(angle)
    head = "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CONTROLS, RESI_GLOB_RELA=1E-12\n*CLOAD\n"
    return SPRUNG + head + f"1, 6, {moment!r}\n*END STEP\n"


def test_a_moment_makes_a_ball_flutter() -> None:
    """Closed form, for every moment: two modes of one frequency, one of which grows."""
    history = fem.run(fem.parse_deck(sprung(0.7) + FREQUENCY))
    across, along = 100.0 / 0.8 * (1.0 + np.exp(0.7j)), 200.0 * np.cos(0.7) / 0.8
    root = np.sqrt(across)
    expected = np.sort([np.sqrt(along), root.real, root.real, *[np.sqrt(150.0)] * 3])
    np.testing.assert_allclose(history.modes[0].omega, expected, rtol=1e-9)
    (text,) = (each for each in history.notices if "flutter" in each)
    assert f"(by {root.imag:.4g})" in text
    real, imaginary = history.modes[0].shapes[np.abs(history.modes[0].omega - root.real) < 1e-6]
    for label, arm in zip(range(2, 8), np.vstack([np.eye(3), -np.eye(3)])[[0, 3, 1, 4, 2, 5]], strict=True):
        assert real[label - 1] @ Rotation.from_rotvec([0.0, 0.0, 0.7]).apply(arm) == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(imaginary) == pytest.approx(np.linalg.norm(real), rel=0.5)


def test_what_flutters_grows_in_time() -> None:
    """Small turns z = d_x + i d_y under a moment m about x: 0.8 z'' + q z = m, q = 100 (1 + cos a - i sin a), in
    closed form; the step of the scheme moves the phase by (w dt)^2/12 of it, 0.01 in five periods."""
    stiffness = 100.0 * (1.0 + np.exp(-0.3j))
    root = np.sqrt(stiffness / 0.8)
    period = float(2.0 * np.pi / root.real)
    step = f"*STEP, NLGEOM\n*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n{period / 100}, {5 * period}\n"
    history = fem.run(fem.parse_deck(sprung(0.3) + step + "*CLOAD\n1, 4, 1.E-3\n*END STEP\n"))
    rows = history.of_step(2)
    u = history.u[rows].reshape(len(history.time[rows]), -1, 3)[:, 5]
    time = history.time[rows] - 1.0
    expected = 1e-3 / stiffness * (1.0 - np.cos(root * time))
    np.testing.assert_allclose(1j * u[:, 0] - u[:, 1], expected, rtol=0.0, atol=0.03 * np.abs(expected).max())
    assert np.abs(expected).max() > 5e-3 / abs(stiffness)
