"""Rods: bars that keep their length, in statics and in motion, through every linear solver."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from tests.decks import run_text

GRAVITY = 9.81


def rods(
    places: list[tuple[float, float, float]],
    pairs: list[tuple[int, int]],
    *,
    pinned: tuple[int, ...] = (1,),
    mass: str = "LUMPED",
    elastic: tuple[int, ...] = (),
    dt: float = 0.005,
    period: float = 0.2,
    procedure: str = "*DYNAMIC, DIRECT",
    before: str = "",
    loads: str = "",
    section: str = "",
    tolerance: str = "RESI_GLOB_RELA=1e-9, ",
) -> str:
    """Bars between places (labels from 1); those in ``elastic`` are soft, all others keep their length."""
    nodes = "\n".join(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(places, 1))
    stiff = "\n".join(f"{k}, {i}, {j}" for k, (i, j) in enumerate(pairs, 1) if k not in elastic)
    soft = "\n".join(f"{k}, {i}, {j}" for k, (i, j) in enumerate(pairs, 1) if k in elastic)
    supports = "\n".join(f"{label}, 1, 3" for label in pinned)
    springy = f"""*ELEMENT, TYPE=T3D2, ELSET=SOFT
{soft}
*MATERIAL, NAME=RUBBER
*ELASTIC
500.
*DENSITY
1.
*SOLID SECTION, ELSET=SOFT, MATERIAL=RUBBER, MASS={mass}
1.
"""
    return f"""*NODE, NSET=ALL
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=STIFF
{stiff}
{springy if elastic else ""}*MATERIAL, NAME=RIGID
*INEXTENSIBLE
*DENSITY
1.
*SOLID SECTION, ELSET=STIFF, MATERIAL=RIGID, MASS={mass}{section}
1.
*BOUNDARY
{supports}
{before}*STEP, NLGEOM
{procedure}
{dt!r}, {period!r}
*CONTROLS, {tolerance}ENERGY DRIFT=OFF
*DLOAD
, GRAV, {GRAVITY}, 0, 0.1, -1
{loads}*END STEP
"""


def arc(count: int, span: float = 0.8) -> list[tuple[float, float, float]]:
    """Places of a sagging chain of equal links of length 1/count between (0, 0, 0) and (span, 0, 0)."""
    low, high = 1e-9, np.pi
    for _ in range(100):
        half = 0.5 * (low + high)
        turn = 2 * half / count
        chord = np.sin(half) / (count * np.sin(turn / 2))
        low, high = (half, high) if chord > span else (low, half)
    angles = -half + turn / 2 + turn * np.arange(count)
    x = np.concatenate([[0.0], np.cumsum(np.cos(angles))]) / count
    z = np.concatenate([[0.0], np.cumsum(np.sin(angles))]) / count
    return [(float(a), 0.0, float(b)) for a, b in zip(x, z, strict=True)]


def line(count: int) -> list[tuple[float, float, float]]:
    return [(k / count, 0.0, 0.0) for k in range(count + 1)]


def following(count: int) -> list[tuple[int, int]]:
    return [(k, k + 1) for k in range(1, count + 1)]


BRANCHES = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 0.5), (3.0, 0.0, 0.0), (3.0, 1.0, 1.0)]
LADDER = [(float(x), 0.0, float(-z)) for z in range(4) for x in range(2)]
MODELS = {
    "falling chain": rods(line(6), following(6)),
    "pinned at both ends": rods(arc(8), following(8), pinned=(1, 9), mass="CONSISTENT"),
    "tree on two anchors": rods(
        BRANCHES, [(1, 2), (3, 2), (2, 4), (5, 4), (6, 5)], pinned=(1, 3), mass="CONSISTENT", period=0.1
    ),
    "rods and elastic bars": rods(line(7), following(7), elastic=(2, 5, 6), mass="CONSISTENT"),
    "pinned in the middle": rods(line(6), following(6), pinned=(3,)),
}


def by_node(values: np.ndarray) -> np.ndarray:
    """(k, 3n) as (k, n, 3)."""
    return values.reshape(len(values), -1, 3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("solver", ["BAND", "DIRECT"])
@pytest.mark.sampled
def test_solvers_agree(model, solver):
    """Block elimination, pivoting band and sparse saddle matrix: one motion, one iteration count."""
    chain, other = run_text(MODELS[model]), run_text(MODELS[model], solver=solver)
    np.testing.assert_array_equal(chain.iterations, other.iterations)
    np.testing.assert_allclose(chain.u, other.u, atol=1e-9)
    np.testing.assert_allclose(chain.elements[:, :, 3], other.elements[:, :, 3], atol=2e-6)


@pytest.mark.parametrize("model", MODELS)
def test_lengths_and_rates_are_kept(model):
    history = run_text(MODELS[model])
    mesh = fem.parse_deck(MODELS[model]).mesh
    rigid = mesh.element_sets["STIFF"]
    ends = np.concatenate([block.connectivity for block in mesh.blocks])[rigid]
    place = mesh.coordinates + by_node(history.u)
    d = place[:, ends[:, 1]] - place[:, ends[:, 0]]
    rate = ((by_node(history.v)[:, ends[:, 1]] - by_node(history.v)[:, ends[:, 0]]) * d).sum(axis=2)
    length = np.linalg.norm(mesh.coordinates[ends[:, 1]] - mesh.coordinates[ends[:, 0]], axis=1)
    np.testing.assert_allclose(np.linalg.norm(d, axis=2) / length, 1.0, atol=2e-12)
    np.testing.assert_allclose(rate, 0.0, atol=1e-11)


@pytest.mark.parametrize("model", MODELS)
def test_elements_may_be_named_either_way_round(model):
    """Reversed bars: same motion, same tensions."""
    deck = fem.parse_deck(MODELS[model])
    blocks = tuple(
        fem.model.ElementBlock(block.kind, block.labels, np.ascontiguousarray(block.connectivity[:, ::-1]))
        for block in deck.mesh.blocks
    )
    from dataclasses import replace

    turned = fem.run(replace(deck, mesh=replace(deck.mesh, blocks=blocks)))
    history = fem.run(deck)
    np.testing.assert_allclose(turned.u, history.u, atol=1e-10)
    np.testing.assert_allclose(turned.elements[:, :, 3], history.elements[:, :, 3], atol=1e-6)


def test_tension_of_a_pendulum_is_exact_to_second_order():
    """Released horizontally, a point mass m pulls with 3 m g sin(angle below the horizontal); no ringing."""
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        text = rods(line(1), [(1, 2)], dt=dt, period=0.4)
        history = run_text(text.replace("0, 0.1, -1", "0, 0, -1"))
        exact = 3.0 * 0.5 * GRAVITY * -by_node(history.u)[:, 1, 2]
        errors.append(np.abs(history.elements[:, 0, 3] - exact).max())
        second = np.abs(np.diff(history.elements[:, 0, 3] - exact, 2)).max()
        assert second < 0.3 * errors[-1]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


def test_motion_is_of_second_order():
    ends = []
    for dt in (0.01, 0.005, 0.0025):
        text = rods(line(3), following(3), mass="CONSISTENT", elastic=(2,), dt=dt, period=0.4)
        ends.append(run_text(text).u[-1])
    ratio = np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()
    assert np.log2(ratio) == pytest.approx(2.0, abs=0.1)


def test_closed_loops_go_to_the_direct_solver():
    """A ladder of rods with its rungs swings as one plane mechanism; lengths hold."""
    pairs = [(1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (3, 4), (5, 6), (7, 8)]
    places = [(x, 0.05 * z, z) for x, _, z in LADDER]
    history = run_text(rods(places, pairs, pinned=(1, 2)))
    place = np.array(places) + by_node(history.u)
    for i, j in pairs:
        gap = np.linalg.norm(place[:, j - 1] - place[:, i - 1], axis=1)
        np.testing.assert_allclose(gap, gap[0], atol=1e-11)
    assert np.abs(by_node(history.u)[-1]).max() > 1e-3


def test_moving_support_carries_a_rod():
    """A chain whose support moves with constant acceleration behaves as in a field that is stronger by it."""
    lift = """*AMPLITUDE, NAME=UP, DEFINITION=TABULAR
0, 1, 10, 1
"""
    moved = rods(line(4), following(4), pinned=(), before=lift).replace(
        "*CONTROLS", "*BOUNDARY\n1, 1, 2\n*BOUNDARY, TYPE=ACCELERATION, AMPLITUDE=UP\n1, 3, 3, 2.5\n*CONTROLS"
    )
    moved = moved.replace("*BOUNDARY\n\n", "")
    still = rods(line(4), following(4)).replace(f"{GRAVITY}, 0, 0.1, -1", "12.31, 0, 0, -1")
    moved = moved.replace("0, 0.1, -1", "0, 0, -1")
    one, other = run_text(moved), run_text(still)
    rise = 0.5 * 2.5 * one.time**2
    np.testing.assert_allclose(by_node(one.u)[:, :, 2] - rise[:, None], by_node(other.u)[:, :, 2], atol=2e-7)
    np.testing.assert_allclose(one.elements[1:, :, 3], other.elements[1:, :, 3], atol=2e-4)


def test_static_chain_hangs_in_its_polygon():
    """Each joint balances: horizontal force constant, vertical force grows by the weight of a link."""
    count = 8
    text = rods(arc(count), following(count), pinned=(1, count + 1), procedure="*STATIC", dt=1.0, period=1.0,
                section=", STARTING TENSION=1.", loads="").replace("0, 0.1, -1", "0, 0, -1")  # fmt: skip
    history = run_text(text)
    place = np.array(arc(count)) + by_node(history.u)[-1]
    d = np.diff(place, axis=0)
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1.0 / count, rtol=1e-12)
    force = history.elements[-1, :, 3, None] * d * count
    np.testing.assert_allclose(force[:, 0], force[0, 0], rtol=1e-6)
    np.testing.assert_allclose(np.diff(force[:, 2]), GRAVITY / count, rtol=1e-6)


def test_mpc_link_is_a_rod_without_mass():
    text = rods(line(1), [(1, 2)])
    link = text.replace("*BOUNDARY", "*MPC\nLINK, 2, 1\n*BOUNDARY").replace("*INEXTENSIBLE", "*ELASTIC\n1e-9")
    rod, linked = run_text(text), run_text(link)
    np.testing.assert_allclose(linked.u, rod.u, atol=1e-9)
    np.testing.assert_allclose(linked.reactions[1:], rod.reactions[1:], atol=1e-6)


def test_rods_on_equations():
    """A rod between two masses on a common slide: equations and multipliers together."""
    text = rods(
        [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, -1.0)], [(1, 2), (2, 3)], elastic=(1,),
        before="*EQUATION\n2\n3, 1, 1., 2, 1, -1.\n",
    )  # fmt: skip
    history = run_text(text)
    np.testing.assert_allclose(by_node(history.u)[:, 2, 0], by_node(history.u)[:, 1, 0], atol=1e-12)
    d = np.array([0.0, 0.0, -1.0]) + by_node(history.u)[:, 2] - by_node(history.u)[:, 1]
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (rods(line(1), [(1, 2)], pinned=(1, 2)), "element 1 is inextensible between two supported nodes"),
        (rods(line(4), following(4), pinned=(1, 5)), "redundant constraints: the lengths of element 1, element 2"),
        (
            rods(line(2), following(2), before="*INITIAL CONDITIONS, TYPE=VELOCITY\n3, 1, 0.5\n"),
            "element 2 is inextensible, but the initial velocities",
        ),
        (
            rods(line(2), following(2), before="*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n3, 3, 0.1\n"),
            "element 2 has the constant length 0.5, but its nodes are 0.50990",
        ),
    ],
    ids=["between supports", "straight between supports", "velocity", "displacement"],
)
def test_what_rods_cannot_do_is_named(text, message):
    with pytest.raises(fem.ModelError, match=message):
        run_text(text)


def test_support_that_sets_off_with_a_jump_passes_it_on():
    """An impulse along the rods; the link in line with the jump starts at the support's speed."""
    text = rods([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(1, 2)], pinned=()).replace(
        "*CONTROLS", "*BOUNDARY\n1, 2, 3\n*BOUNDARY, TYPE=VELOCITY\n1, 1, 1, 0.25\n*CONTROLS"
    )
    text = text.replace("*BOUNDARY\n\n", "")
    model = fem.parse_deck(text)
    history = fem.run(model)
    assert by_node(history.v)[0, 1, 0] == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize(
    ("integrator", "order"),
    [("NEWMARK", 2), ("HHT", 2), ("GENERALIZED ALPHA", 2), ("BACKWARD EULER", 1), ("ENERGY MOMENTUM", 2)],
)
def test_every_integrator_keeps_its_order_with_rods(integrator, order):
    """Rods and elastic bars hung from a shaken support, damped; Richardson's quotient of three increments."""
    shaken = "*AMPLITUDE, NAME=S, DEFINITION=PERIODIC\n1, 4., 0., -0.1\n0.1, 0.\n"
    ends = []
    for dt in (0.004, 0.002, 0.001):
        text = rods(
            line(3), following(3), elastic=(2,), mass="CONSISTENT", dt=dt, period=0.4, pinned=(), before=shaken,
            procedure=f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}",
        )  # fmt: skip
        text = text.replace("*BOUNDARY\n\n", "").replace("*DENSITY", "*DAMPING, ALPHA=0.2\n*DENSITY")
        text = text.replace("*DLOAD", "*BOUNDARY\n1, 1, 2\n*BOUNDARY, AMPLITUDE=S\n1, 3, 3, 1.\n*DLOAD")
        ends.append(run_text(text).u[-1])
    quotient = np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()
    assert np.log2(quotient) == pytest.approx(order, abs=0.05)


def test_free_chain_of_rods_keeps_energy_and_momenta():
    """ENERGY MOMENTUM, 10,000 increments of a tumbling chain of rods and an elastic bar without supports."""
    spin = "".join(f"{k}, 3, {0.7 * (k - 1) / 4!r}\n{k}, 2, {-0.4 * (k - 1) / 4 + 0.3!r}\n" for k in range(1, 6))
    text = rods(
        line(4), following(4), elastic=(3,), mass="CONSISTENT", pinned=(), dt=0.01, period=100.0,
        procedure="*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM", tolerance="",
        before=f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{spin}",
    )  # fmt: skip
    text = text.replace("*BOUNDARY\n\n", "").replace(f"*DLOAD\n, GRAV, {GRAVITY}, 0, 0.1, -1\n", "")
    history = fem.run(fem.parse_deck(text), output_every=100)
    mass = np.zeros((5, 5))
    for k in range(4):
        mass[k : k + 2, k : k + 2] += 0.25 / 6 * np.array([[2.0, 1.0], [1.0, 2.0]])
    p = np.einsum("ij,kjc->kic", mass, by_node(history.v))
    place = np.array(line(4)) + by_node(history.u)
    linear, angular = p.sum(axis=1), np.cross(place, p).sum(axis=1)
    np.testing.assert_allclose(linear, linear[0] * np.ones_like(linear), atol=1e-12 * np.abs(linear[0]).max())
    np.testing.assert_allclose(angular, angular[0] * np.ones_like(angular), atol=1e-12 * np.abs(p).max() * 100)
    assert np.abs(history.energy_error).max() < 1e-12 * history.energy[0].sum()


def test_tension_does_not_ring_after_a_start_with_speed():
    """ENERGY MOMENTUM: a point mass set off at an angle with speed; its tension is smooth and second order."""
    errors = []
    for dt in (0.01, 0.005):
        text = rods(
            [(0.0, 0.0, 0.0), (0.6, 0.0, -0.8)], [(1, 2)], dt=dt, period=0.5, tolerance="",
            procedure="*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM",
            before="*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 1.6\n2, 3, 1.2\n",
        )  # fmt: skip
        history = run_text(text.replace("0, 0.1, -1", "0, 0, -1"))
        z = -0.8 + by_node(history.u)[:, 1, 2]
        speed = 2.0**2 + 2.0 * GRAVITY * (-0.8 - z)
        exact = 0.5 * (speed - GRAVITY * z)
        middle = 0.5 * (exact[1:] + exact[:-1])
        errors.append(np.abs(history.elements[1:, 0, 3] - middle).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
