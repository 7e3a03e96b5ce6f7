"""What the numbers decide by which modes are sought, confirmed and called zero: just below and just above each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from fem.solve import modes
from fem.solve.frequencies import Found, _notices
from fem.solve.modes import Factor, MassRoot, Pencil, confirm
from tests.solve.test_modes import deck, run, string


def pencil_of(weights, mass=None, rows=None, axial=0) -> Pencil:
    """Springs ``weights`` that stretch as ``rows`` (else: each holds one dof), of mass 1 (else ``mass``)."""
    rows = eye_array(len(weights)) if rows is None else csr_array(np.array(rows, float))
    size = rows.shape[1]
    mass = eye_array(size) if mass is None else csr_array(np.array(mass, float))
    return Pencil(rows.tocsr(), np.array(weights, float), axial, mass.tocsc(), csr_array((0, size)), eye_array(size))


def none(size: int) -> np.ndarray:
    """No known modes."""
    return np.zeros((size, 0))


# ------------------------------------------------------------------------------------------ what is confirmed
@pytest.mark.parametrize(("distance", "is_given"), [(0.8e-8, True), (1.2e-8, False)])
def test_modes_are_given_to_a_hundred_millionth(distance, is_given, monkeypatch):
    """x = e1 + d e2 of omega^2 = 1 and 4: its residual says that an eigenvalue is within 3 d/4 sqrt(1 + 4)."""
    monkeypatch.setattr(modes, "CORRECTIONS", 1)
    shape = np.array([[1.0], [distance / (0.75 * np.sqrt(5.0))]])
    squares, _, left = confirm(Factor(pencil_of([1.0, 4.0]), 0.0), none(2), np.ones(1), shape)
    assert (len(squares), len(left)) == ((1, 0) if is_given else (0, 1))


def test_modes_a_hundred_thousand_times_farther_off_are_left_to_another_shift():
    weights = [1.0, 0.9e5, 1.1e5]
    squares, _, left = confirm(Factor(pencil_of(weights), 0.0), none(3), np.array(weights), np.eye(3))
    assert squares == pytest.approx(weights[:2]) and left == pytest.approx(weights[2:])


@pytest.mark.parametrize(("ratio", "is_given"), [(0.05, True), (0.3, False)])
def test_a_mode_that_eight_corrections_do_not_confirm_asks_for_a_nearer_shift(ratio, is_given):
    """Each leaves of what is wrong what the shift is nearer to this mode: 1e-10 of it, or 2e-4."""
    squares, _, left = confirm(
        Factor(pencil_of([ratio, 1.0]), 0.0), none(2), np.array([ratio]), np.array([[1.0], [0.1]])
    )
    assert (len(squares), len(left)) == ((1, 0) if is_given else (0, 1))


@pytest.mark.parametrize(("far", "seen"), [(0.5e13, 2), (2e13, 1)])
def test_modes_that_a_near_one_rubs_out_are_not_seen(far, seen):
    pencil = pencil_of([1.0, far])
    assert len(MassRoot(pencil).near(Factor(pencil, 0.0), none(2))[0]) == seen


@pytest.mark.parametrize(("share", "modes"), [(2e-12, 2), (0.5e-12, 1)])
def test_motions_with_a_billionth_of_a_thousandth_of_the_mass_have_none(share, modes):
    """Two dofs that nearly share their mass: 1 + c and 1 - c of it belong to their sum and difference."""
    mass = [[1.0, 1.0 - share], [1.0 - share, 1.0]]
    assert MassRoot(pencil_of([1.0, 1.0], mass)).modes == modes


@pytest.mark.parametrize(("left", "modes"), [(2e-6, 2), (0.5e-6, 1)])
def test_shapes_that_agree_to_a_millionth_of_their_mass_are_one(left, modes):
    """e1 and e1 + d e2: d^2/2 of their mass is what one leaves the other."""
    pencil = pencil_of([1.0, 100.0])
    shapes = np.array([[1.0, 1.0], [0.0, np.sqrt(2.0 * left)]])
    assert len(confirm(Factor(pencil, 0.0), none(2), np.array([1.0, 100.0]), shapes)[0]) == modes


# ------------------------------------------------------------------------------------------ what is zero
@pytest.mark.parametrize(("stretch", "is_zero"), [(0.4e-13, True), (2e-12, False)])
def test_a_stretch_of_round_off_is_none(stretch, is_zero):
    """Of displacements 1 + 1 some hundred times their round-off."""
    pencil = pencil_of([1e6], rows=[[-1.0, 1.0]], axial=1)
    assert bool(pencil.are_zero(np.array([[1.0], [1.0 + stretch]]))[0]) == is_zero


@pytest.mark.parametrize(("rest", "is_zero"), [(1e-9, True), (4e-9, False)])
def test_tension_and_compression_cancel_as_exactly_as_equilibrium_is_found(rest, is_zero):
    """What is left of 1 - (1 - d), a share of the sum of both, 2."""
    pencil = pencil_of([1.0, rest - 1.0])
    assert bool(pencil.are_zero(np.ones((2, 1)))[0]) == is_zero


# ------------------------------------------------------------------------------------------ factors
@pytest.mark.parametrize(("error", "is_apart", "is_regular"), [
    (0.8e-6, False, True), (1.3e-6, True, True), (0.8e-3, True, True), (1.3e-3, True, False),
])  # fmt: skip
def test_bars_leave_k_where_solutions_lose_six_digits_and_three_must_be_left(error, is_apart, is_regular):
    """A solution (1 + e) x has the residual e, and is changed by it by this share."""

    class Rough(Factor):
        def solve(self, right, gaps):
            return (1.0 + error) * super().solve(right, gaps)

    factor = Rough(pencil_of([1.0, 1.0], rows=[[1.0, 0.0], [-1.0, 1.0]], axial=2), -1.0)
    assert factor.is_regular == is_regular
    assert (len(factor._scale) > factor.pencil.size) == is_apart


def test_the_first_shift_of_a_free_body_is_below_its_modes_and_not_zero():
    """Two stiff pairs joined by a spring 2e-9 as stiff: the first shift lies between 0 and their mode, and both sides
    of it are told apart."""
    pencil = pencil_of([1.0, 1.0, 2e-9], rows=[[-1, 1, 0, 0], [0, 0, -1, 1], [0, -1, 1, 0]], axial=3)
    factor = modes._below_all(pencil)
    assert factor.below == 0 and -2e-9 < factor.shift < 0.0
    noise = 2.2e-16 * pencil.scale  # of a sum of springs, a hundred thousand of which must be below the shift
    assert abs(factor.shift) > 1e5 * noise


# ------------------------------------------------------------------------------------------ the search
@pytest.mark.parametrize("seen", [True, False])
def test_a_search_that_confirms_nothing_ends_after_twenty_shifts_and_says_so(seen, monkeypatch):
    """Modes that come and go at each look, or none at all."""
    calls = []

    def doubtful(factor, known, squares, shapes):
        calls.append(factor.shift)
        return np.zeros(0), known[:, :0], np.array([10.0 ** len(calls)] if seen else [])

    monkeypatch.setattr(modes, "confirm", doubtful)
    history, omega = run(string(3, 1e3, 4))
    assert len(calls) == 20 and len(omega) == 0
    assert any("could not check whether" in notice for notice in history.notices)


def test_where_nothing_more_is_seen_the_next_shift_is_some_thousand_times_farther(monkeypatch):
    """Half of ten thousand times: few strides lead through a spectrum 1e16 wide. One mode is confirmed at first."""
    shifts, honest = [], modes.confirm

    def blind(factor, known, squares, shapes):
        shifts.append(factor.shift)
        found = honest(factor, known, squares[:1], shapes[:, :1])
        return found if len(shifts) == 1 else (np.zeros(0), known[:, :0], np.zeros(0))

    monkeypatch.setattr(modes, "confirm", blind)
    run(string(3, 1e3, 4))
    strides = np.diff(np.log10(shifts[1:6]))
    assert np.all((strides > 3.0) & (strides < 4.5))


@pytest.mark.parametrize(("distance", "is_counted"), [(3e-4, True), (0.3e-4, False)])
def test_modes_are_counted_between_two_that_are_a_ten_thousandth_apart(distance, is_counted, monkeypatch):
    """Of 1, 2, 3, 3 + d and 9 the first is overlooked, and the third is not wanted: the count is taken above it."""
    asked, honest = [], modes.Factor

    class Noted(honest):
        def __init__(self, pencil, shift):
            asked.append(shift)
            super().__init__(pencil, shift)

    monkeypatch.setattr(modes, "Factor", Noted)
    third = 3.0 * (1.0 + distance)
    assert modes._missing(pencil_of([1.0, 2.0, 3.0, third]), np.array([2.0, 3.0, third]), 2, 0) == 1
    assert (3.0 < asked[0] < third) == is_counted


def test_six_modes_beyond_those_wanted_are_sought(monkeypatch):
    """Five equal modes of a regular structure leave a gap behind them in which to count."""
    asked, honest = [], modes.some_near

    def noted(factor, known, count, turn):
        asked.append(count)
        return honest(factor, known, count, turn)

    monkeypatch.setattr(modes, "some_near", noted)
    monkeypatch.setattr("fem.solve.modes.DENSE", 0)
    ladder = modes.lowest_modes(pencil_of([1.0] * 2 + [3.0] * 5 + [9.0] * 20), 2)
    assert asked == [8] and ladder.missing == 0 and ladder.squares[:2] == pytest.approx([1.0, 1.0])


# ------------------------------------------------------------------------------------------ notices
def found(squares, failed=(), missing: int = 0, massless: int = 0) -> Found:
    """Of all that is found, what notices speak of."""
    number = 1 + np.arange(len(squares)) + np.searchsorted(np.array(failed), np.real(squares))
    pencil = pencil_of(np.ones(2))
    return Found(pencil, number, np.array(squares), np.zeros((2, 2)), np.array(failed), -1, missing, massless)


@pytest.mark.parametrize(("missing", "text"), [
    (0, ""), (3, "3 more modes lie among those given, but were not found"),
    (-1, "could not check whether a mode is missing among those given"),
])  # fmt: skip
def test_what_the_count_of_modes_says(missing, text):
    assert " ".join(_notices(found([1.0, 2.0], missing=missing), 2)) == (text and f"*FREQUENCY: {text}")


@pytest.mark.parametrize(
    ("squares", "failed", "massless", "text"),
    [
        ([1.0, 2.0], [1.5], 0, "*FREQUENCY: mode 2 omitted: not confirmed by the residual"),
        ([1.0, 2.0], [0.5, 1.5], 0, "*FREQUENCY: modes 1, 3 omitted: not confirmed by the residual"),
        ([1.0, 2.0], [9.0], 0, ""),  # none of those asked for
        ([0.0, 2.0], [], 0, "1 mode of zero frequency: motions without stiffness"),
        ([0.0, 0.0], [], 0, "2 modes of zero frequency"),
        ([-1.0, 2.0], [], 0, "the state is unstable: negative frequencies stand for growing motions"),
        ([1.0, 2.0], [], 1, "the state is unstable: negative frequencies stand for growing motions"),
        ([3.0 - 4.0j, 3.0 + 4.0j], [], 0, "*FREQUENCY: the state is unstable: a mode and the one before it have the"),
    ],
)
def test_what_is_said_of_modes(squares, failed, massless, text):
    """Wanted: two of those given, or three with those left out."""
    wanted = 3 if failed and failed[0] < 2.0 else 2
    said = " ".join(_notices(found(squares, failed, massless=massless), wanted))
    assert said.startswith(text) and bool(said) == bool(text)


def test_a_mode_that_is_counted_but_never_found_is_named(monkeypatch):
    """Every look hides the second mode."""
    honest = modes.some_near

    def forgetful(*given):
        squares, shapes = honest(*given)
        kept = ~np.isclose(squares, SECOND, rtol=1e-6)
        return squares[kept], shapes[:, kept]

    monkeypatch.setattr(modes, "some_near", forgetful)
    monkeypatch.setattr(modes, "ROUNDS", 3)
    monkeypatch.setattr("fem.solve.modes.DENSE", 0)
    places = [(float(k), 0.0, 0.0) for k in range(41)]
    text = deck(
        places, [(k, k + 1) for k in range(40)], np.ones(40), 3, held=["1,1,3", *(f"{k},2,3" for k in range(2, 42))]
    )
    history, _ = run(text)
    assert any("1 more modes lie among those given, but were not found" in notice for notice in history.notices)


SECOND = float((2.0 * np.sin(3.0 * np.pi / 160.0)) ** 2)
"""Of forty bars of stiffness and mass 1 in a row, held at one end: 2 sin((2 k - 1) pi/4 n), squared, for k = 2."""
