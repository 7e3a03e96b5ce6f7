"""Rods in explicit steps (RATTLE): lengths, order of motion and tension, energy, momenta, supports, loops."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.errors import ModelError, NoConvergence
from tests.decks import run_text
from tests.solve.test_rods import BRANCHES, GRAVITY, LADDER, arc, by_node, following, line, rods


def explicit(*arguments, **settings):
    """A deck of rods with an explicit step."""
    return rods(*arguments, procedure="*DYNAMIC, EXPLICIT", **{"dt": 0.002, **settings})


MODELS = {
    "falling chain": explicit(line(6), following(6)),
    "pinned at both ends": explicit(arc(8), following(8), pinned=(1, 9)),
    "tree on two anchors": explicit(BRANCHES, [(1, 2), (3, 2), (2, 4), (5, 4), (6, 5)], pinned=(1, 3)),
    "rods and elastic bars": explicit(line(7), following(7), elastic=(2, 5, 6)),
    "pinned in the middle": explicit(line(6), following(6), pinned=(3,)),
    "ladder": explicit(
        [(x, 0.05 * z, z) for x, _, z in LADDER],
        [(1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (3, 4), (5, 6), (7, 8)],
        pinned=(1, 2),
    ),
}


def rods_of(text: str, history: fem.History) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lengths (m,), and at all increments the vectors along the rods and the relative velocities of their ends."""
    mesh = fem.parse_deck(text).mesh
    ends = np.concatenate([block.connectivity for block in mesh.blocks])[mesh.element_sets["STIFF"]]
    length = np.linalg.norm(mesh.coordinates[ends[:, 1]] - mesh.coordinates[ends[:, 0]], axis=1)
    place, velocity = mesh.coordinates + by_node(history.u), by_node(history.v)
    return length, place[:, ends[:, 1]] - place[:, ends[:, 0]], velocity[:, ends[:, 1]] - velocity[:, ends[:, 0]]


@pytest.mark.parametrize("model", MODELS)
def test_lengths_and_rates_are_kept(model):
    history = run_text(MODELS[model])
    length, along, rate = rods_of(MODELS[model], history)
    np.testing.assert_allclose(np.linalg.norm(along, axis=2) / length, 1.0, atol=1e-12)
    np.testing.assert_allclose((along * rate).sum(axis=2), 0.0, atol=1e-12)
    assert np.abs(history.u[-1]).max() > 0.01


@pytest.mark.parametrize("model", MODELS)
def test_same_motion_and_tension_as_newmark(model):
    """Both rules are of second order: their difference falls to a quarter when the increment is halved."""
    differences = []
    for dt in (0.001, 0.0005):
        text = MODELS[model].replace("0.002, 0.2", f"{dt}, 0.1")
        one, other = run_text(text), run_text(text.replace("EXPLICIT", "DIRECT"))
        tension = np.abs(one.elements[:, :, 3] - other.elements[:, :, 3])
        differences.append((np.abs(one.u - other.u).max(), tension.max() / np.abs(other.elements[:, :, 3]).max()))
    for coarse, fine in zip(*differences, strict=True):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.15) or coarse < 1e-9


def test_tension_of_a_pendulum_is_exact_to_second_order():
    """Released horizontally, a point mass m pulls with 3 m g sin(angle below the horizontal); no ringing."""
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        history = run_text(explicit(line(1), [(1, 2)], dt=dt, period=0.4).replace("0, 0.1, -1", "0, 0, -1"))
        exact = 3.0 * 0.5 * GRAVITY * -by_node(history.u)[:, 1, 2]
        errors.append(np.abs(history.elements[:, 0, 3] - exact).max())
        assert np.abs(np.diff(history.elements[:, 0, 3] - exact, 2)).max() < 0.3 * errors[-1]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("material", ["", "*DAMPING, ALPHA=2.\n", "*DAMPING, BETA=0.001\n"])
def test_motion_is_of_second_order(material):
    """Richardson's quotient; rods beside soft bars, mass and stiffness damping."""
    ends, tensions = [], []
    for dt in (0.002, 0.001, 0.0005):
        text = explicit(line(4), following(4), elastic=(2,), dt=dt, period=0.2)
        text = text.replace("*SOLID SECTION, ELSET=SOFT", f"{material}*SOLID SECTION, ELSET=SOFT")
        if "BETA" not in material:
            text = text.replace("*SOLID SECTION, ELSET=STIFF", f"{material}*SOLID SECTION, ELSET=STIFF")
        history = run_text(text)
        ends.append(history.u[-1])
        tensions.append(history.elements[-1, :, 3])
    for values in (ends, tensions):
        ratio = np.abs(values[0] - values[1]).max() / np.abs(values[1] - values[2]).max()
        assert np.log2(ratio) == pytest.approx(2.0, abs=0.1)


def test_energy_stays_in_its_band():
    """The rule is symplectic: over 60 swings of a double pendulum the energy error does not grow."""
    text = explicit([(0.0, 0.0, 0.0), (0.5, 0.0, -0.6), (1.0, 0.0, -1.0)], following(2), dt=0.005, period=100.0)
    history = run_text(text.replace("0, 0.1, -1", "0, 0, -1"))
    error = np.abs(history.energy_error)
    quarter = len(error) // 4
    assert error[-quarter:].max() < 1.5 * error[:quarter].max() < 0.01 * history.of_energy("kinetic").max()


def test_momenta_of_a_free_chain_are_kept():
    """A chain that flies through empty space, spinning: linear and angular momentum to round-off."""
    speeds = "\n".join(f"{k}, 2, {(k - 2.0) * 3.0!r}\n{k}, 3, {0.7!r}" for k in range(1, 6))
    text = explicit(line(4), following(4), pinned=(), before=f"*INITIAL CONDITIONS, TYPE=VELOCITY\n{speeds}\n")
    text = text.replace("*BOUNDARY\n\n", "").replace(f"*DLOAD\n, GRAV, {GRAVITY}, 0, 0.1, -1\n", "")
    history = run_text(text.replace("0.002, 0.2", "0.002, 2."))
    mass = np.array([0.125, 0.25, 0.25, 0.25, 0.125])[:, None]
    place = np.array(line(4)) + by_node(history.u)
    momentum = mass * by_node(history.v)
    spin = np.cross(place, momentum).sum(axis=1)
    np.testing.assert_allclose(momentum.sum(axis=1) - momentum[0].sum(axis=0), 0.0, atol=5e-12)
    np.testing.assert_allclose(spin - spin[0], 0.0, atol=5e-12)
    assert np.ptp(by_node(history.v)[:, 0, 1]) > 1.0


def test_moving_support_carries_rods():
    """A chain whose support moves with constant acceleration behaves as in a field that is stronger by it."""
    lift = "*AMPLITUDE, NAME=UP, DEFINITION=TABULAR\n0, 1, 10, 1\n"
    moved = explicit(line(4), following(4), pinned=(), before=lift).replace(
        "*CONTROLS", "*BOUNDARY\n1, 1, 2\n*BOUNDARY, TYPE=ACCELERATION, AMPLITUDE=UP\n1, 3, 3, 2.5\n*CONTROLS"
    )
    moved = moved.replace("*BOUNDARY\n\n", "").replace("0, 0.1, -1", "0, 0, -1")
    still = explicit(line(4), following(4)).replace(f"{GRAVITY}, 0, 0.1, -1", "12.31, 0, 0, -1")
    one, other = run_text(moved), run_text(still)
    rise = 0.5 * 2.5 * one.time**2
    np.testing.assert_allclose(by_node(one.u)[:, :, 2] - rise[:, None], by_node(other.u)[:, :, 2], atol=1e-11)
    np.testing.assert_allclose(one.elements[1:, :, 3], other.elements[1:, :, 3], atol=1e-9)
    np.testing.assert_allclose(one.energy_error, 0.0, atol=1e-3)


def test_second_step_goes_on_as_if_there_were_none():
    text = MODELS["rods and elastic bars"]
    half = text.replace("0.002, 0.2", "0.002, 0.1")
    twice = run_text(half + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n0.002, 0.1\n*END STEP\n")
    np.testing.assert_allclose(twice.u[-1], run_text(text).u[-1], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (explicit(line(1), [(1, 2)], dt=1.0, period=100.0), NoConvergence, "lengths of rods cannot be kept"),
        (explicit(line(2), following(2), mass="CONSISTENT"), ModelError, "couples the masses of its nodes"),
        (
            explicit([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, -1.0)], following(2), elastic=(1,),
                     before="*EQUATION\n2\n3, 1, 1., 2, 1, -1.\n"),
            ModelError, "element 2 is inextensible and ends at node 3 dof 1, which depends on others",
        ),
    ],
    ids=["too long", "consistent mass", "equation"],
)  # fmt: skip
def test_what_explicit_rods_cannot_do_is_named(text, error, message):
    with pytest.raises(error, match=message):
        run_text(text)


def test_wide_nets_of_rods_are_refused():
    """Rods in a net of 40 x 40 would need a wide band in every increment."""
    count = 60
    places = [(float(x), float(y), 0.0) for y in range(count) for x in range(count)]
    pairs = [(k * count + x + 1, k * count + x + 2) for k in range(count) for x in range(count - 1)]
    pairs += [(k * count + x + 1, (k + 1) * count + x + 1) for k in range(count - 1) for x in range(count)]
    with pytest.raises(ModelError, match="rods form a net"):
        run_text(explicit(places, pairs, pinned=(1,)))
