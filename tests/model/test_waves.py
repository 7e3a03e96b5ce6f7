"""Waves: components of seas, the laws of water that has a potential, what cards that add add."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fem.model import Airy, Jonswap, Water
from fem.model.surroundings import components_of, split_mix, water_at, wave_numbers

WATER = Water(-20.0, 0.0, 9.80665, 1025.0)
DEEP = Water(-200.0, 0.0, 9.80665, 1025.0)
SEA = Jonswap(3.0, 9.0, 1)
CROSSING = (
    Airy(((1.5, 8.0, 20.0, 0.6, 0.8), (0.4, 5.0, -70.0, -1.0, 0.0)), True),
    Airy(((0.7, 60.0, 130.0, 0.0, -1.0),)),
)


def at(x, y, z, time, waves=CROSSING, water=WATER, up=2):
    eta, velocity, acceleration = water_at(waves, water, up, np.array([[x, y, z]], float), time)
    return eta[0], velocity[0], acceleration[0]


def slope(function, x, step=1e-3):
    """Derivative by differences of fourth order."""
    near, far = function(x + step) - function(x - step), function(x + 2 * step) - function(x - 2 * step)
    return (8 * near - far) / (12 * step)


def test_chance_is_that_of_split_mix():
    """First outputs of SplitMix64 for the seed 1234567, as in its published test vectors."""
    published = 6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431
    assert list(split_mix(1234567, 4)) == [(number >> 11) / 2.0**53 for number in published]


@pytest.mark.parametrize(
    ("row", "omega", "amplitude", "phase"),
    [
        (0, 0.35598770583029504, 0.00013575278034175936, 0.8274976676399506),
        (66, 1.1558653069716542, 0.06569354556873636, 0.1763418854308217),
        (199, 2.7855264706110465, 0.007976467767390907, 3.6887812345405546),
    ],
)
def test_components_of_a_sea(row, omega, amplitude, phase):
    """An independent program of the same spectrum, bins and chance, integrated adaptively."""
    found = SEA.components(DEEP)[row]
    assert found[[0, 2, 3]] == pytest.approx([omega, amplitude, phase], rel=1e-12)


@given(
    st.floats(0.1, 20.0), st.floats(3.0, 20.0), st.floats(1.0, 7.0), st.integers(0, 2**64 - 1), st.integers(1, 300)
)  # fmt: skip
def test_a_sea_has_its_energy_in_bins_of_equal_width(height, period, gamma, seed, count):
    omega, _, amplitude, phase, _ = Jonswap(height, period, seed, count, gamma).components(DEEP).T
    assert 0.5 * (amplitude**2).sum() == pytest.approx(height**2 / 16.0, rel=1e-12)
    edges = 2.0 * np.pi / period * np.linspace(0.5, 4.0, count + 1)
    assert np.all((edges[:-1] <= omega * (1 + 1e-12)) & (omega <= edges[1:] * (1 + 1e-12)))
    assert np.all((phase >= 0.0) & (phase < 2.0 * np.pi))


def test_a_sea_does_not_repeat_itself():
    """After 2 pi over the width of its bins it would, without jitter: its correlation with itself is far from 1."""
    again = 2.0 * np.pi / (3.5 * 2.0 * np.pi / 9.0 / 200)
    time = np.arange(0.0, 3000.0, 1.0)
    here, there = (water_at((SEA,), DEEP, 2, np.zeros((len(time), 1, 3)), time + t)[0][:, 0] for t in (0.0, again))
    assert abs(np.corrcoef(here, there)[0, 1]) < 0.5


@given(st.floats(-7.0, 7.0), st.floats(0.0, 4.0))
def test_lengths_and_periods_are_each_other_s(size, depth):
    """omega^2 = g k tanh kh, from the shallowest to the deepest water."""
    h, omega = 10.0**depth, np.array([10.0**size])
    k = wave_numbers(omega, 9.81, h)
    assert omega**2 == pytest.approx(9.81 * k * np.tanh(k * h), rel=1e-13)
    water = Water(-h, 0.0, 9.81, 1.0)
    by_length = Airy(((1.0, 2.0 * math.pi / float(k[0]), 0.0, 1.0, 0.0),)).components(water)
    assert by_length[0, :2] == pytest.approx([omega[0], k[0]], rel=1e-13)


@pytest.mark.parametrize("up", [2, 1])
@given(x=st.floats(-30.0, 30.0), y=st.floats(-30.0, 30.0), z=st.floats(-19.9, -3.0), time=st.floats(0.0, 60.0))
@pytest.mark.sampled(1)
def test_water_below_waves_has_a_potential(up, x, y, z, time):
    """Neither divergence nor rotation; accelerations are the rates of velocities at a place."""
    place = [x, 0.0, 0.0]
    place[up], place[3 - up] = z, y

    def velocity(axis, move):
        moved = place.copy()
        moved[axis] += move
        return at(*moved, time, up=up)[1]

    gradient = np.array([slope(lambda s, axis=axis: velocity(axis, s), 0.0) for axis in range(3)])
    assert gradient.trace() == pytest.approx(0.0, abs=1e-9)
    assert gradient == pytest.approx(gradient.T, abs=1e-9)
    _, _, acceleration = at(*place, time, up=up)
    assert slope(lambda t: at(*place, t, up=up)[1], time) == pytest.approx(acceleration, abs=1e-8)


@given(x=st.floats(-30.0, 30.0), y=st.floats(-30.0, 30.0), time=st.floats(0.0, 60.0))
def test_surface_and_bottom(x, y, time):
    """At the still level eta rises with the water, and weighs on what is below it; at the bottom nothing climbs."""
    place = x, y, -1e-12
    eta, velocity, acceleration = at(*place, time)
    if eta > 1e-9:
        assert slope(lambda t: at(*place, t)[0], time) == pytest.approx(velocity[2], abs=1e-8)
        steep = [slope(lambda s: at(x + s, y, 0.0, time)[0], 0.0), slope(lambda s: at(x, y + s, 0.0, time)[0], 0.0)]
        assert acceleration[:2] == pytest.approx(-WATER.gravity * np.array(steep), abs=1e-7)
    assert at(x, y, WATER.seabed, time)[1][2] == pytest.approx(0.0, abs=1e-14)


def test_a_ramp_is_in_velocity_and_acceleration():
    waves = (Airy(((1.5, 8.0, 20.0, 1.0, 0.0),), True, 12.0),)
    for time in (0.5, 6.0, 11.5):
        assert slope(lambda t: at(3, 1, -4, t, waves)[1], time) == pytest.approx(at(3, 1, -4, time, waves)[2], abs=1e-8)
    full = (Airy(waves[0].rows, True),)
    half = [0.5 * np.asarray(each) for each in at(3, 1, -4, 6.0, full)[:2]]
    assert np.hstack(at(3, 1, -4, 6.0, waves)[:2]) == pytest.approx(np.hstack(half), abs=1e-14)
    assert np.hstack(at(3, 1, -4, 12.0, waves)) == pytest.approx(np.hstack(at(3, 1, -4, 12.0, full)), abs=1e-14)
    assert not np.hstack(at(3, 1, -4, 0.0, waves)).any()


def test_what_is_above_the_still_level():
    """VERTICAL: as there; WHEELER: at eta what is at the still level; NONE: nothing. Above eta there is no water."""
    row = ((2.0, 8.0, 0.0, 1.0, 0.0),)
    crest = {how: (Airy(row, True, 0.0, how),) for how in ("VERTICAL", "WHEELER", "NONE")}
    level = at(0, 0, 0, 0.0, crest["VERTICAL"])[1]
    assert at(0, 0, 1.5, 0.0, crest["VERTICAL"])[1] == pytest.approx(level, rel=1e-14)
    assert at(0, 0, 2.0, 0.0, crest["WHEELER"])[1] == pytest.approx(level, rel=1e-14)
    assert at(0, 0, -9.0, 0.0, crest["WHEELER"])[1] == pytest.approx(
        at(0, 0, -10.0, 0.0, crest["VERTICAL"])[1], rel=1e-14
    )
    assert not at(0, 0, 1.5, 0.0, crest["NONE"])[1].any()
    assert at(0, 0, -1e-9, 0.0, crest["NONE"])[1] == pytest.approx(level, rel=1e-8)
    assert all(not at(0, 0, 2.1, 0.0, waves)[1].any() for waves in crest.values())
    trough = at(0, 0, -1.0, 4.0, crest["VERTICAL"])
    assert trough[0] == pytest.approx(-2.0)
    assert not trough[1].any()


def test_cards_and_lines_add_up():
    """Two halves are the whole; which comes first is nothing."""
    whole, half = ((1.5, 8.0, 20.0, 0.6, 0.8),), ((0.75, 8.0, 20.0, 0.6, 0.8),)
    one = np.hstack(at(3, 1, -4, 2.0, (Airy(whole, True),)))
    assert np.hstack(at(3, 1, -4, 2.0, (Airy(half * 2, True),))) == pytest.approx(one, abs=1e-14)
    assert np.hstack(at(3, 1, -4, 2.0, (Airy(half, True),) * 2)) == pytest.approx(one, abs=1e-14)
    forth, back = (np.hstack(at(3, 1, -4, 2.0, CROSSING[::step])) for step in (1, -1))
    assert forth == pytest.approx(back, abs=1e-14)
    assert components_of((SEA, *CROSSING), WATER).shape == (203, 6)


def test_deep_water_overflows_nowhere():
    """kh = 4000: velocities fall off as exp(kz)."""
    waves, water = (
        (
            Airy(
                ((0.5, 1.0, 0.0, 1.0, 0.0),),
            ),
        ),
        Water(-1000.0, 0.0, 9.81, 1025.0),
    )
    speeds = [float(np.linalg.norm(at(0, 0, z, 0.2, waves, water)[1])) for z in (0.0, -0.5, -1.0, -999.0)]
    assert all(faster * math.exp(-math.pi) == pytest.approx(slower) for faster, slower in pairwise(speeds[:3]))
    assert speeds[3] == 0.0
