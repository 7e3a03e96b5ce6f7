"""Turbulent wind: spectra, variances and coherence of the table against their formulas, and what a place does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from fem.errors import ModelError
from fem.model.gusts import FINER, Gusts, Velocities, gusts_at
from fem.model.surroundings import Wind, split_mix

U = 20.0
GUSTS = Gusts("KAIMAL", 7, 600.0, 2.0, (0.15, 0.12, 0.08), (120.0, 60.0, 30.0))
LINE = np.column_stack([np.zeros(21), np.linspace(0.0, 100.0, 21), np.full(21, 20.0)])


@pytest.mark.parametrize("spectrum", ["KAIMAL", "VON KARMAN", "DAVENPORT"])
@pytest.mark.parametrize("component", [0, 1, 2])
def test_spectra_have_the_variance_of_their_intensity(spectrum, component):
    """Their integral over all frequencies is (I U)^2."""
    gusts = replace(GUSTS, spectrum=spectrum)

    def density(log_f):
        f = np.exp(log_f)
        return float(gusts.density(component, np.array([f]), U)[0]) * f

    whole = quad(density, np.log(1e-9), np.log(1e9), limit=500)[0]
    assert whole == pytest.approx((gusts.intensity[component] * U) ** 2, rel=2e-3)  # the constants have three digits


def test_spectra_are_those_of_their_sources():
    """f S/s^2 at its largest: Kaimal at n = 1/4, von Karman at n = 0.146 (ESDU 85020), Davenport at n^2 = 3."""
    n = np.geomspace(1e-3, 1e2, 20001)
    f = n * U / GUSTS.length[0]
    for spectrum, most in (("KAIMAL", 0.25), ("VON KARMAN", 0.146), ("DAVENPORT", 3**0.5)):
        gusts = replace(GUSTS, spectrum=spectrum)
        assert n[np.argmax(f * gusts.density(0, f, U))] == pytest.approx(most, rel=5e-3)


def ensemble(gusts, places, count):
    """(count, p, m, 3) coefficients of the table: complex amplitudes at the f_k."""
    found = []
    for seed in range(count):
        table = replace(gusts, seed=seed).table(U, places)
        found.append(2.0 * np.fft.rfft(table, axis=1)[:, 1 : len(gusts.frequencies) + 1] / table.shape[1])
    return np.array(found)


@pytest.mark.parametrize("spectrum", ["KAIMAL", "VON KARMAN"])
@pytest.mark.sampled
def test_amplitudes_have_spectrum_and_coherence(spectrum):
    """Over seeds: E |a|^2/2 = S/T at every place, E a_i a_j* = coherence. Five standard errors of means over 80 seeds
    and a band of frequencies; the first place has the spectrum exactly."""
    gusts, places = replace(GUSTS, spectrum=spectrum, duration=50.0), LINE[::7]
    f, seeds = gusts.frequencies, 80
    found = ensemble(gusts, places, seeds)
    for component in range(3):
        scaled = found[..., component] / np.sqrt(2.0 * gusts.density(component, f, U) / gusts.duration)
        assert np.abs(scaled[:, 0]) == pytest.approx(np.ones_like(scaled[:, 0].real), rel=1e-9)
        for first, last in ((0, 1), (1, 3), (5, 10), (20, 40), (70, 99)):
            expected = np.mean([gusts.coherence(each, places, U) for each in f[first:last]], axis=0)
            measured = np.einsum("sik,sjk->ij", scaled[:, :, first:last], scaled[:, :, first:last].conj())
            measured /= seeds * (last - first)
            error = 5.0 / np.sqrt(seeds * (last - first))
            assert np.abs(measured - expected).max() < error


def test_between_its_frequencies_coherence_is_kept():
    """H is interpolated over log f: the covariance that it makes differs from the formula by less than 0.004."""
    gusts, worst = GUSTS, 0.0
    m = len(gusts.frequencies)
    grid = np.unique(np.geomspace(1, m, 96).round().astype(int)) / gusts.duration
    for low, high in zip(grid[40:-1:4], grid[41::4], strict=False):
        one, other = (np.linalg.cholesky(gusts.coherence(f, LINE, U)) for f in (low, high))
        mixed = 0.5 * (one + other)
        mixed /= np.linalg.norm(mixed, axis=1)[:, None]
        worst = max(worst, float(np.abs(mixed @ mixed.T - gusts.coherence(np.sqrt(low * high), LINE, U)).max()))
    assert worst < 4e-3


def test_variance_of_a_record_is_that_of_its_band():
    """The variance over time of the first place is the sum over its frequencies; what is missing has no frequency."""
    table = GUSTS.table(U, LINE[:1])
    assert table.shape == (1, FINER * 1200, 3)
    shares = table.var(axis=1)[0] / (np.array(GUSTS.intensity) * U) ** 2
    assert shares == pytest.approx(GUSTS.shares(U), rel=1e-12)
    low, high = 0.5 / GUSTS.duration, GUSTS.frequencies[-1] + 0.5 / GUSTS.duration
    band = (1 + 6 * low * 6) ** (-2 / 3) - (1 + 6 * high * 6) ** (-2 / 3)  # of Kaimal in closed form, L/U = 6 s
    assert shares[0] == pytest.approx(band, rel=2e-3)


def test_gusts_travel_along_the_wind():
    """Taylor: 40 m downstream the same gust comes 2 s later."""
    one, other = GUSTS.table(U, np.array([[0.0, 0.0, 10.0], [40.0, 0.0, 10.0]]))
    late = int(2.0 / GUSTS.duration * one.shape[0])
    assert np.roll(one, late, axis=0) == pytest.approx(other, abs=1e-3)  # the two are alike but for ALIKE


def test_places_that_are_added_change_nothing_before_them():
    some, more = GUSTS.table(U, LINE[:5]), GUSTS.table(U, LINE)
    assert more[:5] == pytest.approx(some, abs=1e-9)
    assert not np.allclose(replace(GUSTS, seed=8).table(U, LINE[:5]), some, atol=1.0)


def test_a_table_too_large_is_refused_before_it_is_made():
    with pytest.raises(ModelError, match=r"GB of gusts at 5000 nodes are too many: reduce DURATION"):
        replace(GUSTS, duration=3600.0).table(U, np.zeros((5000, 3)))


def test_a_place_has_the_whole_variance_at_every_frequency():
    """Of two places the second has h1 e^(i phi1) + h2 e^(i phi2), with the phases of both: h1^2 + h2^2 = 1 and h1 the
    coherence, also between the frequencies at which H is computed."""
    places = LINE[:2] + [[0.0, 0.0, 0.0], [0.0, 15.0, 0.0]]
    table, m = GUSTS.table(U, places), len(GUSTS.frequencies)
    phases = np.exp(2j * np.pi * split_mix(GUSTS.seed, 6 * m).reshape(2, 3, m))
    found = 2.0 * np.fft.rfft(table, axis=1)[1, 1 : m + 1, 0] / table.shape[1]
    found /= np.sqrt(2.0 * GUSTS.density(0, GUSTS.frequencies, U) / GUSTS.duration)
    one, other = phases[:, 0]
    h1, h2 = (np.imag(found * each.conj()) / np.imag(way * each.conj()) for way, each in ((one, other), (other, one)))
    clear = np.abs(np.imag(one * other.conj())) > 0.2
    assert (h1**2 + h2**2)[clear] == pytest.approx(1.0, abs=1e-9)
    expected = np.array([GUSTS.coherence(f, places, U)[0, 1] for f in GUSTS.frequencies])
    assert h1[clear] == pytest.approx(expected[clear], abs=4e-3)


def test_gusts_are_right_handed_along_the_mean_wind():
    """u along it, w upwards, v upwards x u, in space and in a plane (y is up)."""
    bare = replace(GUSTS, duration=50.0)
    wind = Wind(1.2, 10.0, (U, 0.0), gusts=bare)
    table = bare.table(U, np.zeros((1, 3)))
    assert gusts_at(wind, 2, np.zeros((1, 3)), 0.0) == pytest.approx(table, abs=1e-12)
    for up, turn in ((2, lambda u, v, w: (-v, u, w)), (1, lambda u, v, w: (v, w, u))):
        across = replace(wind, direction=(0.0, 1.0 if up == 2 else -1.0))
        expected = np.stack(turn(*np.moveaxis(table, 2, 0)), axis=2)
        assert gusts_at(across, up, np.zeros((1, 3)), 0.0) == pytest.approx(expected, abs=1e-9)


def test_a_measured_wind_takes_the_place_of_the_mean_wind_above_the_still_level():
    """What is added is the record less (height/10)^0.2 of 8 m/s, heights from a level of 5 on; nothing below it."""
    measured = Velocities(np.tile([9.0, 1.0, 0.5], (1, 4, 1)), 0.5, np.zeros((1, 3)))
    wind = Wind(1.2, 10.0, (8.0, 0.0), power=0.2, gusts=measured)
    places = np.array([[0.0, 0.0, 15.0], [0.0, 0.0, 45.0], [0.0, 0.0, 2.0]])
    found = gusts_at(wind, 2, places, 5.0)
    assert found[:, 0, 0] == pytest.approx([1.0, 9.0 - 8.0 * 4.0**0.2, 9.0])
    assert found[:, 2, 1:] == pytest.approx(np.tile([1.0, 0.5], (3, 1)))
