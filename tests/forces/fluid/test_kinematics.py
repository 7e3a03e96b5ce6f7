"""Kernels of waves: their sums against the formulas in longer numbers, at any instants, in any order."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.compiled import kernel
from fem.compiled.interpreted import rehearsal
from fem.forces.added_mass import AddedMass, mass
from fem.forces.curves import gathered
from fem.forces.protocol import Trial
from fem.forces.waves import ELEVATION, PLACE, REMEMBERED, STRETCHINGS, VELOCITY, Sea, foresee, sea_of
from fem.model.curves import Constant

LONG = np.longdouble
NO_NODES = np.zeros(0, np.int64)


@kernel
def water(trial, sea):
    foresee(trial, sea)


@kernel
def added(group, time, place, u, state, block):
    mass(group, time, place, u, state, block)


@st.composite
def seas(draw, most: int = 40):
    """Rows (omega, k, amplitude, phase, direction, ramp); the axis that is up, level, depth, stretching."""
    count, rng = draw(st.integers(1, most)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    depth = 10.0 ** draw(st.floats(0.3, 3.0))
    rows = np.column_stack([
        rng.uniform(0.2, 4.0, count), 10.0 ** rng.uniform(-3.0, 1.0, count),
        depth * rng.uniform(0.0, 0.2, count) / count, rng.uniform(0.0, 7.0, count), rng.uniform(-3.2, 3.2, count),
        rng.choice([0.0, 0.0, 30.0, 70.0], count),
    ])  # fmt: skip
    return rows, draw(st.sampled_from([1, 2])), draw(st.floats(-5.0, 5.0)), depth, draw(st.sampled_from(STRETCHINGS))


def sea_from(given, nodes: int) -> Sea:
    rows, up, level, depth, stretching = given
    model = SimpleNamespace(
        sea=rows,
        mesh=SimpleNamespace(up=up),
        water=SimpleNamespace(level=level, seabed=level - depth),
        waves=[SimpleNamespace(stretching=stretching)],
    )
    return sea_of(model, np.arange(nodes), np.zeros(1), 0)._replace(since=0.0)


def trial(place, time: float, state, u=None, dt: float = 0.0, v=None) -> Trial:
    """Nodes (p, 3) that are asked for where u, v foresee them."""
    rest, none = np.zeros(place.size), np.zeros(0)
    u, v = (rest if one is None else one for one in (u, v))
    return Trial(
        False, 1.0, 1.0, 1.0, 0.0, time - dt, time, dt, u, v, rest, u, v, rest, none, none, place.ravel(), state, state,
        none,
    )  # fmt: skip


def asked(given, place, time: float):
    """(p, REMEMBERED) states of nodes at places (p, 3) that nobody has asked for before."""
    state = np.zeros(REMEMBERED * len(place))
    water(trial(place, time, state), sea_from(given, len(place)))
    return state.reshape(-1, REMEMBERED)


def direct(given, place, time: float):
    """(p, 7) elevation, velocity and acceleration by the formulas of ``model/surroundings``, and (3,) their sizes."""
    rows, up, level, depth, stretching = given
    place, h, t, side = place.astype(LONG), LONG(depth), LONG(time), 1 if up == 2 else -1
    x, y, z = place[:, 0], side * place[:, 3 - up], place[:, up] - LONG(level)
    waves = []
    for omega, k, a, phase, b, ramp in rows.astype(LONG):
        grown, rate = LONG(1), LONG(0)
        if ramp and t < ramp:
            part = LONG(4) * np.arctan(LONG(1)) * max(t, LONG(0)) / ramp
            grown = (1 - np.cos(part)) / 2
            rate = LONG(2) * np.arctan(LONG(1)) / ramp * np.sin(part)
        waves.append((k * (x * np.cos(b) + y * np.sin(b)) - omega * t + phase, omega, k, a, b, grown, rate))
    eta = sum(a * grown * np.cos(theta) for theta, _, _, a, _, grown, _ in waves)
    height = np.clip((z - eta) * h / (h + eta) if stretching == "WHEELER" else z, -h, LONG(0))
    moves = (z <= 0) | (stretching != "NONE")
    found = np.zeros((len(place), 7), LONG)
    found[:, 0] = eta
    for theta, omega, k, a, b, grown, rate in waves:
        size = moves * a * omega / -np.expm1(-2 * k * h)
        along = size * (np.exp(k * height) + np.exp(-k * (height + 2 * h)))
        upwards = size * (np.exp(k * height) - np.exp(-k * (height + 2 * h)))
        for axis, part in ((0, np.cos(b)), (3 - up, side * np.sin(b))):
            found[:, 1 + axis] += part * along * grown * np.cos(theta)
            found[:, 4 + axis] += part * along * (grown * omega * np.sin(theta) + rate * np.cos(theta))
        found[:, 1 + up] += upwards * grown * np.sin(theta)
        found[:, 4 + up] += upwards * (rate * np.sin(theta) - grown * omega * np.cos(theta))
    omega, k, a = rows.T[:3]
    speed = (a * omega / np.tanh(k * depth)).sum()
    return found, np.array([a.sum(), speed, (a * omega * (omega + 1.0) / np.tanh(k * depth)).sum()])


def roundoff(given, time: float) -> float:
    """Of sums, over the sum of their terms' sizes: some ulp, and of phases and heights times k those that they lose."""
    rows, _, _, depth, stretching = given
    angle = 150.0 * rows[:, 1].max() + rows[:, 0].max() * time + 7.0
    decay = rows[:, 1].max() * depth if stretching == "WHEELER" else 0.0
    return 3e-14 + 1e-15 * (angle + decay)


def places(given, seed: int, nodes: int = 5):
    """(p, 3) over the whole depth, above the surface and below the bottom."""
    _, up, level, depth, _ = given
    rng = np.random.default_rng(seed)
    found = rng.uniform(-100.0, 100.0, (nodes, 3))
    found[:, up] = level + depth * np.where(
        rng.random(nodes) < 0.5, rng.uniform(-1.1, 0.3, nodes), -(rng.random(nodes) ** 8)
    )
    return found


@given(seas(), st.integers(0, 1000), st.floats(0.0, 200.0))
def test_sums_are_those_of_the_formulas(sea, seed, time):
    """Elevations where bars may meet the surface or heights are stretched; where not, nobody reads them."""
    place = places(sea, seed)
    found, (expected, sizes) = asked(sea, place, time), direct(sea, place, time)
    limit = roundoff(sea, time) * sizes
    height = place[:, sea[1]] - sea[2]
    needed = (height > -sea[0][:, 2].sum()) | ((sea[4] == "WHEELER") & (height > -sea[3]))
    error = np.abs(found[:, ELEVATION:] - expected)
    assert (error[needed, 0] <= limit[0]).all(), error[needed, 0].max() / sizes[0]
    assert (error[:, 1:4] <= limit[1]).all(), error[:, 1:4].max() / sizes[1]
    assert (error[:, 4:] <= limit[2]).all(), error[:, 4:].max() / sizes[2]


@given(
    seas(), st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 100.0), st.floats(0.0, 0.5)), min_size=1, max_size=6)
)
def test_what_was_asked_before_changes_nothing(sea, requests):
    """Instants in any order, twice, steps back, nodes that move or stand: the same bits as at once."""
    start = places(sea, 3)
    state, group, rng = np.zeros(REMEMBERED * len(start)), sea_from(sea, len(start)), np.random.default_rng(5)
    moves = 0.3 * rng.standard_normal((4, start.size)) * (rng.random((4, start.size)) < 0.7)
    for which, time, dt in requests:
        water(trial(start, time, state, moves[which], dt, moves[which - 1]), group)
        known = state.reshape(-1, REMEMBERED)
        where = known[:, PLACE : PLACE + 3]
        assert where.ravel() == pytest.approx(start.ravel() + moves[which] + dt * moves[which - 1], abs=1e-12)
        assert np.array_equal(known, asked(sea, where, time))


@given(seas(12), st.floats(0.0, 50.0))
def test_kernels_as_python_give_the_same_water(sea, time):
    place = places(sea, 1, 3)
    compiled = asked(sea, place, time)
    with rehearsal():
        plain = asked(sea, place, time)
    assert np.abs(compiled - plain).max() <= roundoff(sea, time) * direct(sea, place, time)[1].max()


def test_waves_that_are_gone_leave_nothing():
    """Below the depth of k z = -40 the water rests."""
    rows = np.array([[6.0, 4.0, 0.1, 0.3, 0.0, 0.0]] * 40)
    place = np.array([[1.0, 0.0, -10.5], [1.0, 0.0, -9.9], [1.0, 0.0, -300.0]])
    found = asked((rows, 2, 0.0, 300.0, "VERTICAL"), place, 1.0)
    assert not found[[0, 2], VELOCITY:].any() and found[1, VELOCITY:].any()


def test_along_the_bottom_water_does_not_rise():
    rows = np.array([[0.8, 0.01, 1.0, 0.3, 0.5, 0.0], [0.9, 0.02, 1.0, 0.1, -0.5, 40.0]])
    for stretching in STRETCHINGS:
        sea = rows, 2, 0.0, 60.0, stretching
        on, below = asked(sea, np.array([[3.0, 4.0, -60.0], [3.0, 4.0, -60.4]]), 9.0)[:, VELOCITY:]
        assert on[[0, 1, 3, 4]].all() and not below[[2, 5]].any()
        if stretching != "WHEELER":
            assert np.array_equal(on, below)


@given(seas(10), st.integers(0, 1000), st.floats(0.0, 100.0))
def test_added_mass_is_that_of_the_wet_part(sea, seed, time):
    """Of a bar anywhere near the surface: m (I - t t^T) of what of it is below the moving surface."""
    _, up, level, _, _ = sea
    rng = np.random.default_rng(seed)
    ends = rng.uniform(-20.0, 20.0, (2, 3))
    rise = sea[0][:, 2].sum()
    ends[:, up] = level + rise * rng.uniform(-1.5, 1.5, 2)
    group = AddedMass(
        np.zeros((1, 3), np.int64), np.array([[3.0, 0.0, 1.0, 0.5, 0.0]]), NO_NODES, np.array([[0, 1]]),
        np.zeros((1, 2)), -1, gathered((Constant(1.0),)), sea_from(sea, 0),
    )  # fmt: skip
    block = np.zeros((2, 9))
    added(group, time, np.zeros(6), ends.ravel(), np.zeros(0), block)
    eta = direct(sea, ends, time)[0][:, 0].astype(float)
    (zi, zj), d = ends[:, up] - level - eta, ends[1] - ends[0]
    part = 1.0 if max(zi, zj) <= 0.0 else 0.0 if min(zi, zj) > 0.0 else max(-zi, -zj) / abs(zj - zi)
    expected = 1.5 * part * (np.eye(3) - np.outer(d, d) / (d @ d))
    tolerance = 1e-10 + 1e-12 * rise / abs(zj - zi)
    assert block[0] == pytest.approx(expected.ravel(), abs=tolerance) and np.array_equal(block[0], block[1])
