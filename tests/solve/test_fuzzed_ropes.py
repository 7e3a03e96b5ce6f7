"""Random models of ropes that depend on each other: every run ends, completed or in words, and keeps the laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fem
from tests.solve.test_rope_pushes import IMPLICIT
from tests.solve.test_ropes import lengths

KINDS = ("parallel", "collinear", "redundant", "V", "net")
BOTH = ("EVENT", "MOREAU")


def degenerate(seed: int) -> tuple[str, np.ndarray]:
    """A deck, and the ends (r, 2) of its ropes from 0. Much is regular: instants coincide, lengths repeat."""
    draw = np.random.default_rng(seed)
    fixed, free, ropes = SHAPES[KINDS[seed % len(KINDS)]](draw)
    place = np.array([*fixed, *free], float)
    masses = range(len(fixed) + 1, len(place) + 1)
    shakes, gravity = bool(draw.integers(2)), float(draw.choice([0.0, 9.81, 9.81]))
    rise = float(draw.choice([0.0, 0.1])) if KINDS[seed % len(KINDS)] in ("parallel", "redundant") else 0.0
    restitution, speed = (float(draw.choice(values)) for values in ((0.0, 0.5, 1.0), (-1.0, 0.0, 1.0)))
    lines = ["*NODE", *(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(place.tolist(), 1))]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=R", *(f"{k}, {i}, {j}" for k, (i, j) in enumerate(ropes, 1))]
    lines += ["*ELEMENT, TYPE=MASS, ELSET=M", *(f"{100 + k}, {k}" for k in masses), "*MASS, ELSET=M", "1."]
    lines += ["*MATERIAL, NAME=H", f"*INEXTENSIBLE, RESTITUTION={restitution!r}", "*NO COMPRESSION"]
    lines += ["*SOLID SECTION, ELSET=R, MATERIAL=H", "1.", "*BOUNDARY"]
    lines += [f"{k}, 1, 3" for k in range(1, len(fixed) + 1)]
    lines += ["*AMPLITUDE, NAME=S, DEFINITION=PERIODIC", "1, 8., 0., -1.", "1., 0."]
    lines += ["*INITIAL CONDITIONS, TYPE=VELOCITY", f"{masses[0]}, {draw.integers(1, 4)}, {speed!r}"]
    lines += ["*INITIAL CONDITIONS, TYPE=DISPLACEMENT", f"{masses[-1]}, 3, {rise!r}"]
    lines += ["*STEP, NLGEOM", f"*DYNAMIC, DIRECT, TIME INTEGRATOR={draw.choice(IMPLICIT)}", "0.01, 0.3"]
    lines += [f"*CONTROLS, ENERGY DRIFT=OFF, IMPACT={BOTH[seed // len(KINDS) % 2]}"]
    if shakes:
        lines += ["*BOUNDARY, AMPLITUDE=S", *(f"{k}, 3, 3, 0.2" for k in range(1, len(fixed) + 1))]
    lines += ["*DLOAD", f"M, GRAV, {gravity!r}, 0., 0., -1.", "*END STEP"]
    return "\n".join(lines) + "\n", np.array(ropes) - 1


def parallel(draw):
    """Two or three ropes side by side, and perhaps one more below."""
    count = int(draw.integers(2, 4))
    return [(0, 0, 0)], [(0, 0, -1), (0, 0.5, -2)], [(1, 2)] * count + [(2, 3)]


def collinear(draw):
    """A plumb or level line, straight; a pin at the other end or none."""
    way = np.array([(0, 0, -1), (1, 0, 0)][draw.integers(2)])
    count, pinned = int(draw.integers(2, 5)), bool(draw.integers(2))
    place = [tuple(k * way) for k in range(count + 1)]
    if not pinned:
        return place[:1], place[1:], [(k, k + 1) for k in range(1, count + 1)]
    order = [1, *range(3, count + 2), 2]
    return [place[0], place[-1]], place[1:-1], list(itertools.pairwise(order))


def redundant(draw):
    """A mass on four to six ropes of one length below a ring of pins."""
    count = int(draw.integers(4, 7))
    angle = 2 * np.pi * np.arange(count) / count
    ring = [(float(np.cos(a)), float(np.sin(a)), 0.0) for a in angle]
    return ring, [(0, 0, -1)], [(k, count + 1) for k in range(1, count + 1)]


def symmetric(draw):
    """A V, perhaps with a second one below it."""
    ropes = [(1, 3), (2, 3)]
    if draw.integers(2):
        return [(-1, 0, 0), (1, 0, 0)], [(0, 0, -1)], ropes
    return [(-1, 0, 0), (1, 0, 0)], [(0, 0, -1), (-1, 0, -2), (1, 0, -2)], [*ropes, (3, 4), (3, 5), (4, 5)]


def net(draw):
    """Four masses between four pins, level or hanging."""
    depth = -0.5 * float(draw.integers(2))
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    inner = [(0.4 * x, 0.4 * y, depth) for x, y in corners]
    return [(x, y, 0) for x, y in corners], inner, [(1, 5), (2, 6), (3, 7), (4, 8), (5, 6), (6, 7), (7, 8), (8, 5)]


SHAPES = dict(zip(KINDS, (parallel, collinear, redundant, symmetric, net), strict=True))


@pytest.mark.parametrize("seed", [*range(60), 402, 772])
@pytest.mark.sampled(15)
def test_ropes_that_depend_on_each_other_keep_the_laws(seed):
    """No rope pushes or is too long; losses are those dissipated; what cannot go on says which rope it is."""
    text, ends = degenerate(seed)
    try:
        history = fem.run(fem.parse_deck(text, {}))
    except fem.NoConvergence as error:
        assert "element" in str(error)
        history = error.history
    except fem.ModelError as error:
        assert "element" in str(error)
        return
    pulls = np.array([history.of_element(k, "T") for k in range(1, len(ends) + 1)])
    assert np.all(np.isfinite(history.u))
    assert pulls.min() >= -1e-9 * pulls.max()
    full = np.linalg.norm(history.mesh.coordinates[ends[:, 0]] - history.mesh.coordinates[ends[:, 1]], axis=1)
    assert (lengths(history, ends) / full).max() < 1.0 + 1e-8
    loss = np.array([0.0] + [event.energy_loss for event in history.events])
    assert loss.min() >= 0.0
    assert abs(loss.sum() - history.energy[-1, 4]) < 1e-8 * max(1.0, loss.sum())
