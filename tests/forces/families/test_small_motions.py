"""Modes and slow responses about a static state, of every family that has them: against the forces themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigvals, null_space

import fem
from fem.forces.families import FAMILIES
from fem.solve import frequencies
from fem.solve.start import evaluate_start, mass_matrix
from tests.forces.families.examples import EXAMPLES, acting

AT_REST = "*STATIC\n0.25, 1.\n*CONTROLS, RESI_GLOB_RELA=1E-11\n"
KNOWN = [
    pytest.param(family, deck, id=f"{family.name}-{place}")
    for place, (family, deck) in enumerate(EXAMPLES)
    if family in FAMILIES
]


@pytest.mark.parametrize(("family", "deck"), KNOWN)
@pytest.mark.sampled
def test_modes_are_those_of_the_derivative_of_all_forces(family, deck, monkeypatch):
    """(K - omega^2 M) x = 0 among motions that keep rods: K by central differences (h^2/6 of the third derivative,
    and round-off: 1e-8 of the largest entry), all omega^2 of it by QZ."""
    kept, honest = {}, frequencies.modes_of

    def noted(stage, motion, instant, wanted):
        kept["found"] = honest(stage, motion, instant, wanted)
        kept["whole"] = derivative(stage, motion, instant)
        kept["mass"] = mass_matrix(stage)
        return kept["found"]

    def derivative(stage, motion, instant):
        def force(u):
            arrays = {name: getattr(motion, name).copy() for name in ("a", "force", "flow", "state", "power")}
            evaluate_start(stage, moved := motion._replace(u=u, v=0.0 * u, **arrays), instant)
            return moved.force

        steps = 1e-6 * np.eye(stage.system.size)
        found = np.array([force(motion.u + d) - force(motion.u - d) for d in steps]).T / 2e-6
        force(motion.u)
        return found

    monkeypatch.setattr(frequencies, "modes_of", noted)
    with acting(family):
        fem.run(fem.parse_deck(deck.format(procedure=AT_REST) + "*STEP, NLGEOM\n*FREQUENCY\n20\n*END STEP\n"))
    pencil = kept["found"].pencil
    gradients = pencil.gradients.toarray()
    ways = pencil.transform @ (null_space(gradients) if len(gradients) else np.eye(gradients.shape[1]))
    all_ = eigvals(ways.T @ kept["whole"] @ ways, ways.T @ kept["mass"] @ ways)
    all_ = all_[np.isfinite(all_)]
    assert len(kept["found"].squares) == len(all_)
    size = np.abs(kept["whole"]).max() / np.abs(kept["mass"].diagonal()).max()
    for square in kept["found"].squares:
        assert np.abs(all_ - square).min() < 1e-6 * size


@pytest.mark.parametrize(("family", "deck"), [each for each in KNOWN if each.values[0].name in
                                              ("fluid", "seabed", "moments on bodies", "bending")])  # fmt: skip
@pytest.mark.sampled(1)
def test_a_slow_response_is_the_derivative_of_the_static_state(family, deck):
    """Central differences of two static states. Drag makes w c/k of a difference: 1e-5 at 1e-5 Hz."""
    if "*WAVE" in deck:
        pytest.skip("waves do not act in harmonic motions")
    load = "*CLOAD\n3, 3, {}\n*END STEP\n"
    slow = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT\n1E-5, 2E-5, 2\n" + load.format(1.0)
    still = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1E-11\n" + load
    with acting(family):
        base = deck.format(procedure=AT_REST)
        found = fem.run(fem.parse_deck(base + slow)).responses[0].motion[0]
        up, down = (fem.run(fem.parse_deck(base + still.format(h))).u[-1].reshape(-1, 3) for h in (1e-4, -1e-4))
    expected = (up - down) / 2e-4
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())
