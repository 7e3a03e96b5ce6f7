"""Ropes that change together: at one instant, side by side, one after the other, and more of them than are needed."""

from __future__ import annotations

import numpy as np
import pytest

from fem.errors import ModelError, NoConvergence
from tests.decks import run_text
from tests.solve.test_ropes import EVENT_SCHEMES, GRAVITY, events, hung, lengths, shaken

MIXED = (0.0, 0.5, 1.0)


def swing(*, half: float | None, integrator: str, period: float = 6.0) -> str:
    """The string pendulum of ``shaken``, let go at 0.1; with ``half`` two strings from pins so far from y = 0."""
    deck = shaken(8.0, 0.1, dt=0.008, period=period, controls="RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF")
    deck = deck.replace("*DYNAMIC, DIRECT", f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}")
    if half is None:
        return deck
    deck = deck.replace("1, 0, 0, 0\n", f"1, 0, {-half}, 0\n3, 0, {half}, 0\n").replace(
        "1, 1, 2\n2, 2\n", "1, 1, 2\n3, 1, 2\n2, 2\n"
    )
    deck = deck.replace("ELSET=ROPE\n1, 1, 2\n", "ELSET=ROPE\n1, 1, 2\n3, 3, 2\n", 1).replace(
        "1, 3, 8.0\n", "1, 3, 8.0\n3, 3, 8.0\n"
    )
    return deck.replace("1, 3, 3, 8.0\n", "1, 3, 3, 8.0\n3, 3, 3, 8.0\n")


def star(seed: int, integrator: str, impact: str) -> tuple[str, int]:
    """A mass of 1 on two to five ropes below pins, regular or not, at rest or shaken; each with its own impacts."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(2, 6))
    angle = 2.0 * np.pi * np.arange(count) / count
    pins = np.column_stack([np.cos(angle), np.sin(angle), np.full(count, 1.5)])
    if seed % 2:
        pins += 0.4 * generator.random(pins.shape)
    lines = ["*NODE", "1, 0, 0, 0", *(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(pins.tolist(), 2))]
    for k in range(count):
        lines += [f"*ELEMENT, TYPE=T3D2, ELSET=R{k}", f"{k + 1}, {k + 2}, 1", f"*MATERIAL, NAME=H{k}"]
        lines += [f"*INEXTENSIBLE, RESTITUTION={MIXED[k % 3]}", "*NO COMPRESSION"]
        lines += [f"*SOLID SECTION, ELSET=R{k}, MATERIAL=H{k}", "1."]
    lines += ["*ELEMENT, TYPE=MASS, ELSET=BOB", "9, 1", "*MASS, ELSET=BOB", "1.", "*BOUNDARY"]
    lines += [f"{k}, 1, 3" for k in range(2, count + 2)]
    lines += ["*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC", "1, 6., 0., -1.", "1., 0."]
    lines += ["*INITIAL CONDITIONS, TYPE=DISPLACEMENT", f"1, 3, {generator.uniform(0.05, 0.3)!r}"]
    lines += ["*STEP, NLGEOM", f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}", "0.005, 0.6"]
    lines += [f"*CONTROLS, ENERGY DRIFT=OFF, IMPACT={impact}"]
    if seed % 3 == 0:
        lines += ["*BOUNDARY, AMPLITUDE=SHAKE", *(f"{k}, 3, 3, 0.05" for k in range(2, count + 2))]
    lines += ["*DLOAD", f"BOB, GRAV, {GRAVITY}, 0.2, 0.1, -1", "*END STEP"]
    return "\n".join(lines) + "\n", count


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
@pytest.mark.sampled(2)
def test_two_strings_at_one_instant_are_one(integrator):
    """A V of two equal strings swings across its plane like one string of its depth; both meet each impact together."""
    double = run_text(swing(half=1.0, integrator=integrator))
    single = run_text(swing(half=None, integrator=integrator))
    assert np.abs(double.positions(2) - single.positions(2)).max() < 1e-6
    assert [e.event for e in double.events] == [e.event for e in single.events for _ in range(2)]
    found, wanted = (np.array(events(history, "impact", "slack")) for history in (double, single))
    assert len(wanted) > 1
    assert np.abs(found[:, 0] - np.repeat(wanted[:, 0], 2)).max() < 1e-6
    assert abs(found[:, 1].sum() - wanted[:, 1].sum()) < 1e-6
    slant = np.sqrt(26.0) / 5.0
    assert np.abs(2.0 * double.of_element(1, "T") / slant - single.of_element(1, "T")).max() < 1e-3


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(6)
def test_laws_of_many_ropes_on_one_mass(seed, impact):
    """No rope is too long or pushes; impacts take energy and give none; what they take is what is dissipated."""
    deck, count = star(seed, EVENT_SCHEMES[seed % 4], impact)
    history = run_text(deck)
    ropes = np.array([[k, 0] for k in range(1, count + 1)])
    full = np.linalg.norm(np.diff(history.mesh.coordinates[ropes], axis=1)[:, 0], axis=1)
    assert (lengths(history, ropes) / full).max() < 1.0 + 1e-9
    assert min(history.of_element(k, "T").min() for k in range(1, count + 1)) > -1e-9
    loss = np.array([event.energy_loss for event in history.events])
    assert len(loss) > 0
    assert loss.min() >= 0.0
    assert abs(loss.sum() - history.energy[-1, 4]) < 1e-9
    assert np.abs(history.energy_error).max() < (1e-4 if impact == "EVENT" else 1e-9)


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.sampled
def test_ropes_side_by_side_are_one_and_share_its_pull(restitution, integrator):
    """Three ropes between the same nodes move what they carry as one does; each has a third of T, and it is said."""
    deck = hung(restitution, integrator=integrator)
    single, triple = run_text(deck), run_text(deck.replace("1, 1, 2\n*ELEMENT", "1, 1, 2\n3, 1, 2\n4, 1, 2\n*ELEMENT"))
    assert np.abs(triple.positions(2) - single.positions(2)).max() < 1e-10
    assert np.abs(triple.reactions - single.reactions).max() < 1e-7
    for k in (1, 3, 4):
        assert np.abs(3.0 * triple.of_element(k, "T") - single.of_element(1, "T")).max() < 1e-7
    assert abs(sum(e.energy_loss for e in triple.events) - single.energy[-1, 4]) < 1e-9
    assert "lengths of element 1, element 3, element 4 depend on each other" in " ".join(triple.notices)
    assert "depend on each other" not in " ".join(single.notices)


MORE_THAN_NEEDED = """*NODE
1, 1, 0, 0
2, 0, 1, 0
3, -1, 0, 0
4, 0, -1, 0
5, 0, 0, -1
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 5
2, 2, 5
3, 3, 5
4, 4, 5
*ELEMENT, TYPE=MASS, ELSET=BOB
5, 5
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 3
4, 1, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
5, 3, 0.1
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.3
*DLOAD
BOB, GRAV, 9.81, 0.1, 0, -1
*END STEP
"""


def test_four_ropes_that_hold_one_node_share_by_least_squares():
    """Equilibrium leaves one of four pulls open: after the fall they are those of least squares (lstsq)."""
    history = run_text(MORE_THAN_NEEDED.replace("0.1, 0, -1", "0.05, 0, -1"))
    assert np.abs(history.positions(5)[-1] - [0, 0, -1]).max() < 1e-10
    weight = GRAVITY * np.array([0.05, 0.0, -1.0]) / np.linalg.norm([0.05, 0.0, -1.0])
    units = np.array([[1.0, 0, 1], [0, 1, 1], [-1, 0, 1], [0, -1, 1]]) / np.sqrt(2.0)
    wanted = np.linalg.lstsq(units.T, -weight, rcond=None)[0]
    assert wanted.min() > 0.0
    found = np.array([history.of_element(k, "T")[-1] for k in (1, 2, 3, 4)])
    assert np.abs(found - wanted).max() < 1e-8
    pulled = history.reactions[-1].reshape(-1, 3)[:4]
    assert np.abs(pulled - found[:, None] * units).max() < 1e-8


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
def test_impacts_at_the_start_are_in_the_books(integrator):
    """A mass that sets off against its taut rope loses m v^2/2 at once: listed, dissipated, the balance closed."""
    deck = hung(0.0, integrator=integrator, rise=0.0, period=0.01).replace(
        "TYPE=DISPLACEMENT\n2, 3, 0.0", "TYPE=VELOCITY\n2, 3, -3."
    )
    history = run_text(deck)
    assert events(history, "impact") == [(0.0, pytest.approx(4.5, abs=1e-12))]
    assert abs(history.energy[-1, 4] - 4.5) < 1e-12
    assert np.abs(history.energy_error).max() < 1e-12


ACROSS = """*NODE
1, -1, 0, 0
2, 0, 0, 0
3, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=BOB
3, 2
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*BOUNDARY
1, 1, 3
3, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=<INTEGRATOR>
0.01, 0.3
<MOVED>
*DLOAD
BOB, GRAV, 9.81, 0, 0, -1
*END STEP
"""


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
def test_straight_ropes_across_the_load_are_named(integrator):
    """No finite pull of two ropes in a straight line carries a load across it: said, not searched for ever."""
    with pytest.raises(NoConvergence, match="no finite tension keeps element 2 at its length"):
        run_text(ACROSS.replace("<INTEGRATOR>", integrator).replace("<MOVED>", "*CONTROLS, ENERGY DRIFT=OFF"))


def test_ropes_that_supports_pull_apart_are_named():
    """No impulse lets two ropes in a straight line follow supports that move away from each other."""
    moved = "*BOUNDARY, TYPE=VELOCITY\n3, 1, 1, 0.5"
    with pytest.raises((NoConvergence, ModelError), match="no tensions of ropes and rods keep all lengths: element"):
        run_text(ACROSS.replace("<INTEGRATOR>", "NEWMARK").replace("<MOVED>", moved))


def test_a_rope_that_becomes_taut_across_the_load_stays_taut():
    """At first nothing pulls a rope that lies across the load: its length holds from the first increment on."""
    deck = ACROSS.replace("<INTEGRATOR>", "NEWMARK").replace("<MOVED>", "*CONTROLS, ENERGY DRIFT=OFF")
    history = run_text(deck.replace("2, 2, 3\n", ""))
    assert lengths(history, np.array([[0, 1]])).max() < 1.0 + 1e-10
    drop = -history.positions(2)[-1, 2]
    assert abs(0.5 * (history.v[-1].reshape(-1, 3)[1] ** 2).sum() - GRAVITY * drop) < 2e-3


MOVED = {
    "PERIODIC": ("*AMPLITUDE, NAME=S, DEFINITION=PERIODIC\n1, 5., 0., -1.\n1., 0.", "", 0.2),
    "TABULAR": ("*AMPLITUDE, NAME=S\n0., 0., 0.4, 0.1, 1., -0.1", ", TYPE=ACCELERATION", 20.0),
    "SMOOTH STEP": ("*AMPLITUDE, NAME=S, DEFINITION=SMOOTH STEP\n0., 0., 1., 1.", "", 0.5),
    "VELOCITY": ("*AMPLITUDE, NAME=S, DEFINITION=PERIODIC\n1, 5., 0., 0.\n0., 1.", ", TYPE=VELOCITY", 1.0),
}


@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("kind", MOVED)
@pytest.mark.sampled
def test_moreau_keeps_a_rope_taut_below_a_support_that_moves(kind, restitution):
    """Exact: the mass follows its support, T = m (g + a); no impact, nothing lost, no length lost."""
    amplitude, given, size = MOVED[kind]
    deck = hung(restitution, rise=0.0, dt=0.005, period=1.0).replace("*BOUNDARY", f"{amplitude}\n*BOUNDARY", 1)
    deck = deck.replace("2, 3, 0.0\n", "2, 1, 0.0\n")
    deck = deck.replace("*DLOAD", f"*CONTROLS, IMPACT=MOREAU\n*BOUNDARY, AMPLITUDE=S{given}\n1, 3, 3, {size}\n*DLOAD")
    history = run_text(deck)
    assert not history.events
    assert abs(history.energy[-1, 4]) < 1e-12
    top, bob = history.positions(1)[:, 2], history.positions(2)[:, 2]
    assert np.abs(top - bob - 1.0).max() < 1e-11
    v = history.v.reshape(len(history.time), -1, 3)[:, 0, 2]
    wanted = GRAVITY + np.diff(v) / 0.005
    assert np.abs(history.of_element(1, "T")[2:] - wanted[1:]).max() < 1e-5


def moreau_error(amplitude: float, dt: float, period: float) -> float:
    """Root-mean-square distance of the shaken string by time stepping from that with events, at the same increments."""
    paths = [
        run_text(shaken(amplitude, 0.1, dt=dt, period=period, controls=f"ENERGY DRIFT=OFF, IMPACT={impact}")).positions(
            2
        )
        for impact in ("MOREAU", "EVENT")
    ]
    return float(np.sqrt(np.mean((paths[0] - paths[1]) ** 2)))


@pytest.mark.long
def test_moreau_and_events_tend_to_each_other():
    """First order over impacts; their error depends on where in an increment they fall: means of several increments."""
    coarse = np.mean([moreau_error(8.0, dt, 2.5) for dt in (0.02, 0.017, 0.0145, 0.0125)])
    fine = np.mean([moreau_error(8.0, dt, 2.5) for dt in (0.005, 0.00425, 0.003625, 0.003125)])
    assert 0.6 < np.log(coarse / fine) / np.log(4.0) < 1.5
