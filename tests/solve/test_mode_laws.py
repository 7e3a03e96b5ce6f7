"""Laws of modes, whatever the structure: K x = omega^2 M x and x_i.M x_j = 0, against matrices summed up here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.solve import modes
from tests.solve.test_modes import CORNERS, EDGES, SKEW, deck, run

SHARES = {"LUMPED": (1 / 2, 0.0), "CONSISTENT": (1 / 3, 1 / 6), "ONE POINT": (1 / 4, 1 / 4)}
"""Of a bar's mass: at each end, and between the ends (Cook et al., Concepts and Applications of FEA, 11.3)."""


@dataclass
class Body:
    """Bars (m, 2) between places (n, 3), with E A and tension (m,), mass 1 per length; which nodes are held."""

    places: np.ndarray
    bars: list[tuple[int, int]]
    stiffness: np.ndarray
    tension: np.ndarray
    rule: str
    held: tuple[int, ...] = ()

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """K, M and which dofs are free. K of a bar: E A/L n n^T + N/L I, with opposite signs across."""
        count = 3 * len(self.places)
        stiffness, mass = np.zeros((2, count, count))
        own, across = SHARES[self.rule]
        for (i, j), modulus, tension in zip(self.bars, self.stiffness, self.tension, strict=True):
            along = self.places[j] - self.places[i]
            length = float(np.linalg.norm(along))
            block = modulus / length**3 * np.outer(along, along) + tension / length * np.eye(3)
            for a, b in ((i, i), (j, j), (i, j), (j, i)):
                at = np.ix_(range(3 * a, 3 * a + 3), range(3 * b, 3 * b + 3))
                stiffness[at] += block if a == b else -block
                mass[at] += length * (own if a == b else across) * np.eye(3)
        free = np.repeat(~np.isin(np.arange(len(self.places)), self.held), 3)
        return stiffness, mass, free

    def modes(self, wanted: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """omega^2 (k,), shapes (k, 3n) and generalized masses (k,)."""
        held = [f"{node + 1},1,3" for node in self.held]
        tension = self.tension.tolist() if np.any(self.tension) else ()
        text = deck(self.places, self.bars, self.stiffness, wanted, held=held, tension=tension, rule=self.rule)
        modes = run(text)[0].modes[0]
        return modes.omega * np.abs(modes.omega), modes.shapes.reshape(len(modes.omega), -1), modes.generalized_mass


def check(body: Body, wanted: int, rtol: float = 2e-10) -> np.ndarray:
    """Residuals, orthogonality and masses of the modes; their omega^2. A mode of no stiffness has no |K x|.

    rtol  of 400 links |K x| is 3e-6 of the terms it is summed up from, whose round-off is 4e-11 of it
    """
    stiffness, mass, free = body.matrices()
    square, shapes, generalized = body.modes(wanted)
    assert len(square) == wanted and np.all(np.diff(square) >= 0.0)
    assert np.all(shapes[:, ~free] == 0.0)
    force = (shapes @ stiffness)[:, free]
    rest = force - square[:, None] * (shapes @ mass)[:, free]
    moved = square != 0.0
    largest = np.abs(stiffness).max() * np.linalg.norm(shapes, axis=1)
    share = np.linalg.norm(rest[moved], axis=1) / np.linalg.norm(force[moved], axis=1)
    assert share.max(initial=0.0) < rtol
    assert np.all(np.linalg.norm(force[~moved], axis=1) <= 1e-13 * largest[~moved])
    gram = shapes @ mass @ shapes.T
    size = np.sqrt(np.diag(gram))
    np.testing.assert_allclose(gram / np.outer(size, size), np.eye(wanted), atol=1e-12)
    np.testing.assert_allclose(np.diag(gram), generalized, rtol=1e-12)
    return square


def row(bars: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Bars of length 1 in line."""
    return np.arange(bars + 1)[:, None] * SKEW, [(k, k + 1) for k in range(bars)]


@pytest.mark.parametrize("rule", SHARES)
@pytest.mark.parametrize("bars", [10, 45, 400])
@pytest.mark.sampled
def test_taut_chains(bars, rule):
    places, pairs = row(bars)
    body = Body(places, pairs, np.full(bars, 50.0), np.full(bars, 10.0), rule, (0, bars))
    assert np.all(check(body, 8) > 0.0)


@pytest.mark.parametrize("rule", SHARES)
@pytest.mark.parametrize("bars", [10, 60])
def test_free_taut_chains(bars, rule):
    """Three translations; turning meets the tension, which nothing outside holds."""
    places, pairs = row(bars)
    square = check(Body(places, pairs, np.full(bars, 50.0), np.full(bars, 10.0), rule), 9)
    assert np.count_nonzero(square == 0.0) == 3


@pytest.mark.parametrize("rule", SHARES)
@pytest.mark.parametrize("dense", [modes.DENSE, 0])
def test_free_bodies(rule, dense, monkeypatch):
    """Six motions without stiffness. ONE POINT leaves the corners of a tetrahedron mass, for each has three bars."""
    monkeypatch.setattr(modes, "DENSE", dense)
    body = Body(CORNERS, EDGES, np.arange(1.0, 7.0), np.zeros(6), rule)
    square = check(body, 12 if dense else 9)
    assert np.count_nonzero(square == 0.0) == 6


@pytest.mark.parametrize("rule", SHARES)
@pytest.mark.parametrize("bars", [5, 20])
def test_mechanisms(bars, rule):
    """A row without tension, held at one end: two directions of each joint meet no stiffness."""
    places, pairs = row(bars)
    square = check(Body(places, pairs, np.full(bars, 50.0), np.zeros(bars), rule, (0,)), 3 * bars)
    assert np.count_nonzero(square == 0.0) == 2 * bars


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(SHARES)), st.sampled_from([modes.DENSE, 0]))
def test_random_trusses(seed, rule, dense):
    """Some bars push, so that some modes may be unstable; one node is held or none."""
    generator = np.random.default_rng(seed)
    places = generator.normal(size=(7, 3))
    bars = [(i, j) for i in range(7) for j in range(i) if generator.random() < 0.8 or i == j + 1]
    stiffness = 10.0 ** generator.uniform(0.0, 2.0, len(bars))
    tension = generator.uniform(-0.05, 0.5, len(bars))
    held = (0,) if generator.random() < 0.5 else ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modes, "DENSE", dense)
        check(Body(places, bars, stiffness, tension, rule, held), 6)
