"""The answer does not depend on how the user numbers, orders, turns or places the model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decks import run_text

POINTS = np.array([[0, 0, 0], [1, 0, 0.1], [2, 0.2, 0], [1, 1, 0.3], [2.2, 1.1, 0], [0.1, 1.2, 0.2]], float)
BARS = [(0, 1), (1, 2), (0, 3), (1, 3), (3, 4), (2, 4), (5, 3)]
FIXED = {"DYNAMIC": (0, 5), "STATIC": (0, 2, 4, 5)}
START = np.array([[0, 0, 0], [0.3, 1, -2], [0, 0.5, 1], [-1, 0, 0.7], [2, 0, 0], [0, 0, 0]], float)
GRAVITY = np.array([0.3, -9.0, -3.0])


def net(points, labels, bars, turn, procedure: str) -> str:
    """The model with its nodes labelled, its bars listed and its axes turned as asked."""
    lines = ["*NODE"]
    lines += [f"{label}, {x!r}, {y!r}, {z!r}" for label, (x, y, z) in zip(labels, points.tolist(), strict=True)]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=NET"]
    lines += [f"{k + 1}, {labels[i]}, {labels[j]}" for k, (i, j) in enumerate(bars)]
    lines += ["*ELEMENT, TYPE=MASS, ELSET=TIP", f"99, {labels[4]}", "*MASS, ELSET=TIP", "3."]
    lines += [
        "*MATERIAL, NAME=M",
        "*ELASTIC",
        "2e4",
        "*DENSITY",
        "1.",
        "*NO COMPRESSION, RATIO=0.1",
        "*DAMPING, ALPHA=0.2",
    ]
    lines += ["*SOLID SECTION, ELSET=NET, MATERIAL=M, MASS=CONSISTENT, STRAIN=LOG", "1."]
    lines += ["*INITIAL CONDITIONS, TYPE=STRESS", "NET, 30." if procedure == "DYNAMIC" else "NET, 600."]
    lines += ["*BOUNDARY", *(f"{labels[i]}, 1, 3" for i in FIXED[procedure])]
    if procedure == "DYNAMIC":
        lines += ["*INITIAL CONDITIONS, TYPE=VELOCITY"]
        for label, speed in zip(labels, (START @ turn.T).tolist(), strict=True):
            lines += [f"{label}, {axis + 1}, {value!r}" for axis, value in enumerate(speed) if value]
        header = ["*DYNAMIC, DIRECT", "0.005, 0.15"]
    else:
        header = ["*STATIC", "0.25, 1."]
    direction = turn @ (GRAVITY / np.linalg.norm(GRAVITY))
    lines += ["*STEP, NLGEOM=YES", *header, "*CONTROLS, RESI_GLOB_RELA=1e-11, ENERGY DRIFT=OFF", "*DLOAD"]
    lines += [f"{name}, GRAV, 9.5, " + ", ".join(map(repr, direction.tolist())) for name in ("NET", "TIP")]
    return "\n".join([*lines, "*END STEP", ""])


def rotation(angles) -> np.ndarray:
    a, b, c = angles
    rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return rz @ ry @ rx


def end(text, labels):
    """Displacements at the end by original node, tensions at the end by bar."""
    history = run_text(text)
    place = {label: k for k, label in enumerate(history.mesh.node_labels.tolist())}
    u = history.u[-1].reshape(-1, 3)[[place[label] for label in labels]]
    return u, dict(zip(history.mesh.element_labels.tolist(), history.elements[-1, :, 3], strict=True))


@pytest.fixture(scope="module", params=["DYNAMIC", "STATIC"])
def plain(request):
    labels = list(range(1, 7))
    u, tension = end(net(POINTS, labels, BARS, np.eye(3), request.param), labels)
    return request.param, u, tension


@given(
    labels=st.permutations([7, 3, 12, 1000001, 4, 5]),
    order=st.permutations(range(6)),
    flips=st.lists(st.booleans(), min_size=7, max_size=7),
    angles=st.tuples(*[st.floats(-3, 3)] * 3),
    shift=st.tuples(*[st.floats(-50, 50)] * 3),
)
@settings(max_examples=12)
def test_numbering_reversal_rotation_and_origin_leave_the_answer_alone(plain, labels, order, flips, angles, shift):
    """To 1e-10 of the span (shifted coordinates lose up to 50 * 1e-16 in every length)."""
    procedure, u, tension = plain
    turn = rotation(angles)
    points = POINTS @ turn.T + np.array(shift)
    bars = [(j, i) if flip else (i, j) for (i, j), flip in zip(BARS, flips, strict=True)]
    text = net(points, labels, bars, turn, procedure)
    head, body = text.split("*ELEMENT, TYPE=T3D2", 1)
    rows = head.splitlines()
    head = "\n".join([rows[0], *(rows[1 + k] for k in order), ""])
    turned, forces = end(head + "*ELEMENT, TYPE=T3D2" + body, labels)
    assert np.abs(turned - u @ turn.T).max() < 1e-10
    for label, force in tension.items():
        assert forces[label] == pytest.approx(force, abs=1e-10 * 2e4)
