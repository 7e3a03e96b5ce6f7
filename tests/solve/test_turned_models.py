"""Automatic increments do not depend on the axes of a model, nor on the order of its nodes."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.arrays import Floats, Ints
from fem.solve.clock import extent_of
from tests.decks import run_text

BARS = 12


def turned(seed: int) -> Floats:
    """A random rotation."""
    matrix = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return np.asarray(matrix * np.sign(np.linalg.det(matrix)))


def deck(
    turn: Floats, order: Ints, *, dynamic: str, controls: str = "", material: str = "", travel: float = 0.0,
    apart: bool = False, dt_max: str = "", period: float = 1.0, mass: str = "LUMPED",
) -> str:  # fmt: skip
    """A cable between two supports, pushed and set off across its plane; a mass hangs from its middle.

    travel  speed of the whole, along the first axis;  apart: a pendulum and a dumb-bell that flies beside it, as parts
    of their own;  order (n,): the node at each place of the deck
    """
    way = np.linspace(0.0, 1.0, BARS + 1)
    nodes = np.column_stack([3.0 * way, 0.6 * np.sin(2.0 * np.pi * way) * way, -2.0 * way * (1.0 - way)]).tolist()
    nodes.append([1.4, 0.3, -1.2])
    pairs = [*zip(range(BARS), range(1, BARS + 1), strict=True), (BARS // 2, BARS + 1)]
    speeds = {BARS // 2: (0.4, 2.0, 0.3), 3: (0.0, -1.0, 0.5)}
    held, heavy = [0, BARS], [BARS + 1]
    if apart:
        nodes += [[5.0, 0.0, 0.0], [5.3, 0.5, -0.4], [9.0, 1.0, 0.0], [9.2, 1.4, 0.3]]
        first = BARS + 2
        pairs += [(first, first + 1), (first + 2, first + 3)]
        held.append(first)
        heavy += [first + 1, first + 2, first + 3]
        speeds |= {first + 1: (0.3, 0.2, 0.0), first + 2: (3.0, 1.0, 4.0), first + 3: (2.0, 2.0, 4.5)}
    label = np.empty(len(nodes), int)
    label[order[order < len(nodes)]] = np.arange(1, len(nodes) + 1)
    place, drift = np.array(nodes) @ turn.T, travel * turn[:, 0]

    def rows(of: dict[int, Floats]) -> str:
        return "".join(f"{label[n]}, {c + 1}, {x:.17g}\n" for n, v in of.items() for c, x in enumerate(v))

    speed = {n: turn @ np.array(speeds.get(n, (0.0, 0.0, 0.0))) + drift for n in range(len(nodes)) if n not in held}
    held_rows = "".join(f"{label[n]}, {c}, {c}, {x:.17g}\n" for n in held for c, x in enumerate(drift, 1))
    by_label = "".join(
        f"{k}, {x:.17g}, {y:.17g}, {z:.17g}\n" for k, (x, y, z) in sorted(zip(label.tolist(), place, strict=True))
    )
    bars = "".join(f"{k}, {label[i]}, {label[j]}\n" for k, (i, j) in enumerate(pairs, 1))
    masses = "".join(f"{100 + k}, {label[n]}\n" for k, n in enumerate(heavy))
    push, gravity = turn @ (2.0, 5.0, 1.0), turn @ (0.0, 0.0, -1.0)
    return f"""*NODE
{by_label}*ELEMENT, TYPE=T3D2, ELSET=C
{bars}*ELEMENT, TYPE=MASS, ELSET=M
{masses}*MASS, ELSET=M
0.5
*MATERIAL, NAME=S
*ELASTIC
1e6
*DENSITY
1000.
{material}*SOLID SECTION, ELSET=C, MATERIAL=S, STRAIN=ENGINEERING, MASS={mass}
1e-3
*INITIAL CONDITIONS, TYPE=VELOCITY
{rows(speed)}*STEP, NLGEOM, INC=100000
*DYNAMIC, {dynamic}
0.01, {period!r}{dt_max}
*CONTROLS, RESI_GLOB_RELA=1e-11, ENERGY DRIFT=OFF{controls}
*BOUNDARY, TYPE=VELOCITY
{held_rows}*CLOAD
{rows({4: push})}*DLOAD
, GRAV, 9.81, {gravity[0]:.17g}, {gravity[1]:.17g}, {gravity[2]:.17g}
*END STEP
"""


CASES = {
    "newmark": {"dynamic": "TIME INTEGRATOR=NEWMARK"},
    "a lead": {"dynamic": "TIME INTEGRATOR=BACKWARD EULER", "controls": ", TIME ERROR=1e-3"},
    "ringing": {"dynamic": "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4", "controls": ", TIME ERROR=1e-3"},
    "consistent": {"dynamic": "ALPHA=-0.3", "mass": "CONSISTENT", "controls": ", TIME ERROR=1e-3", "travel": 2.0},
    "energy": {"dynamic": "TIME INTEGRATOR=ENERGY MOMENTUM", "controls": ", TIME ERROR=1e-3"},
    "parts": {"dynamic": "TIME INTEGRATOR=NEWMARK", "apart": True},
    "travel": {"dynamic": "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4", "travel": 30.0, "apart": True},
    "tension": {
        "dynamic": "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4", "controls": ", TIME ERROR=5e-3, TENSION CHANGE=0.05",
        "material": "*NO COMPRESSION\n*DAMPING, BETA=1e-3\n", "period": 0.5,
    },
}  # fmt: skip


def same(one: fem.History, other: fem.History, within: float) -> None:
    assert len(one.time) == len(other.time)
    np.testing.assert_allclose(one.dt[1:], other.dt[1:], rtol=within)
    tensions = [history.elements[..., 3] for history in (one, other)]
    np.testing.assert_allclose(*tensions, rtol=0.0, atol=within * np.nanmax(tensions[0]))


@pytest.mark.parametrize("case", CASES)
def test_a_turned_model_takes_the_same_increments(case):
    order = np.arange(100)
    one, other = (run_text(deck(turn, order, **CASES[case])) for turn in (np.eye(3), turned(3)))
    assert len(set(np.round(one.dt, 9))) > 3
    same(one, other, 1e-6)


@pytest.mark.parametrize("case", ["newmark", "parts", "travel", "tension"])
def test_the_order_of_nodes_changes_no_increment(case):
    count = BARS + (6 if CASES[case].get("apart") else 2)
    orders = np.arange(count), np.random.default_rng(1).permutation(count)
    same(*(run_text(deck(np.eye(3), order, **CASES[case])) for order in orders), 1e-6)


def test_the_size_of_a_model_is_the_same_in_any_axes():
    """That along the line of a straight model."""
    line = np.outer([0.0, 0.1, 0.4, 3.0], [1.0, 0.0, 0.0])
    places = np.random.default_rng(2).normal(size=(20, 3))
    assert extent_of(line) == 3.0 and extent_of(line[:1]) == 0.0
    assert extent_of(places @ turned(4)) == pytest.approx(extent_of(places), rel=1e-12)
