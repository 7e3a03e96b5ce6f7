"""The saddle matrix of rods: what it consists of, and that a small one costs little."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from fem.forces.bar import P, Q, rod_places, rod_values
from fem.linear import sparse
from fem.linear.sparse import SaddleMatrix, SaddleSolver
from tests.decks import chain, run_text

TIED = "*EQUATION\n2\n3, 2, 1., 4, 2, -1.\n"
MOST_CALLS = 1500
"""Python calls of one solve (about 550 are made; scaling by SciPy's sparse products took 10000)."""


def rods(bars: int, extra: str = "") -> str:
    """A chain of rods that swings down, its first node pinned; one elastic bar hangs on it."""
    deck = chain(bars, period=0.05, material="*INEXTENSIBLE", extra=extra).replace("*ELASTIC\n1000000.0\n", "")
    last = f"{bars + 2}, {0.1 * bars!r}, 0, -0.1\n"
    soft = f"*ELEMENT, TYPE=T3D2, ELSET=SOFT\n{bars + 1}, {bars + 1}, {bars + 2}\n"
    soft += "*MATERIAL, NAME=RUBBER\n*ELASTIC\n1e4\n*DENSITY\n1.\n*SOLID SECTION, ELSET=SOFT, MATERIAL=RUBBER\n1.\n"
    return deck.replace("*ELEMENT", f"{last}*ELEMENT", 1).replace("*MATERIAL", f"{soft}*MATERIAL", 1)


@pytest.mark.parametrize("extra", ["", TIED, "5, 2, 2\n"])
def test_the_matrix_has_the_tangent_and_the_gradients_in_it(extra, monkeypatch):
    """[[T^T K T, T^T P], [Q^T T, 0]], dense, of the same parts, at every solve of a run."""
    seen = []
    whole = SaddleMatrix.of

    def checked(self: SaddleMatrix, work: Any) -> Any:
        found, tangent = whole(self, work), self._tangent
        bars, stiffness = tangent.system.bars, tangent.matrix(work).toarray()
        transform = np.eye(tangent.size) if tangent.transform is None else tangent.transform.toarray()
        across, along = np.zeros((2, tangent.system.size, len(bars.rods)))
        for gradients, row in ((across, P), (along, Q)):
            (columns, dofs), values = rod_places(bars), rod_values(bars, work.tangent.bar_tangent, row)
            gradients[dofs, columns] = values
        across, along = transform.T @ across[tangent.dofs], transform.T @ along[tangent.dofs]
        nothing = np.zeros((len(bars.rods), len(bars.rods)))
        expected = np.block([[stiffness, across], [along.T, nothing]])
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-14, atol=1e-14 * np.abs(expected).max())
        seen.append(len(stiffness))
        return found

    monkeypatch.setattr(SaddleMatrix, "of", checked)
    run_text(rods(4, extra), solver="DIRECT")
    assert len(seen) > 5 and set(seen) == {15 - (extra != "")}


@pytest.mark.parametrize("bars", [1, 5, 20])
def test_a_small_system_is_solved_with_few_calls(bars, monkeypatch):
    counts: list[int] = []
    whole = SaddleSolver.solve

    def counted(self: SaddleSolver, *arguments: Any) -> bool:
        counts.append(0)

        def count(frame: object, event: str, argument: object) -> None:
            counts[-1] += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            return whole(self, *arguments)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(sparse.SaddleSolver, "solve", counted)
    run_text(rods(bars), solver="DIRECT")
    assert len(counts) > 5
    assert max(counts[1:]) < MOST_CALLS  # the first one imports
