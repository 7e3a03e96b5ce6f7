"""Ropes in statics: the taut ones pull, the slack ones are short, whatever the loads; and what cannot be solved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import fem
from fem.errors import ModelError, NoConvergence
from fem.solve.ropes import active
from fem.solve.ropes.active import ActiveSet, enter
from fem.solve.statics.laying import LAID
from tests.decks import run_text
from tests.solve.test_ropes import GRAVITY, hung, line

SSNL105A = Path(__file__).resolve().parents[2] / "inputs" / "ssnl105a.inp"
PINS = np.array([[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 4.0, -1.0], [0.5, -4.0, -1.0]])
ROOT, STIFFNESS, REST = np.array([0.0, 0.0, -6.0]), 100.0, 2.0


def tripod(loads: list[np.ndarray]) -> str:
    """Node 5 at (0, 0, -4) on four ropes to ``PINS`` and a spring to ``ROOT``; a step for each load."""
    nodes = "\n".join(f"{k}, {x}, {y}, {z}" for k, (x, y, z) in enumerate([*PINS, [0, 0, -4.0], ROOT], 1))
    steps = "".join(
        "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CONTROLS, RESI_GLOB_RELA=1e-11\n*CLOAD\n"
        + "".join(f"5, {axis}, {force!r}\n" for axis, force in enumerate(load.tolist(), 1))
        + "*END STEP\n"
        for load in loads
    )
    return f"""*NODE
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 5
2, 2, 5
3, 3, 5
4, 4, 5
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
5, 5, 6
*SPRING, ELSET=SPRING

{STIFFNESS}
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
6, 1, 3
{steps}"""


def equilibrium(load: np.ndarray, lengths: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """Place of least potential energy under the constraints, by SciPy's SLSQP."""
    found = minimize(
        lambda x: 0.5 * STIFFNESS * (np.linalg.norm(x - ROOT) - REST) ** 2 - load @ (x - [0, 0, -4.0]),
        guess,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: lengths**2 - ((x - PINS) ** 2).sum(axis=1)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(found.x)


@pytest.mark.parametrize("seed", range(3))
def test_taut_ropes_pull_and_slack_ropes_are_short(seed):
    """Laws: T >= 0, no rope too long, one of the two zero, forces in balance; independent: least potential energy."""
    generator = np.random.default_rng(seed)
    loads = [60.0 * generator.standard_normal(3) for _ in range(6)]
    history = run_text(tripod(loads))
    lengths, states = np.linalg.norm(PINS - [0, 0, -4.0], axis=1), set()
    place = history.positions(5)
    tension = np.column_stack([history.of_element(k, "T") for k in (1, 2, 3, 4)])
    short = lengths - np.linalg.norm(place[:, None] - PINS, axis=2)
    assert tension.min() >= 0.0
    assert short.min() > -1e-10
    assert np.abs(tension * short).max() < 1e-8
    for number, load in enumerate(loads, 1):
        k = int(np.flatnonzero(np.asarray(history.step) == number)[-1])
        at = place[k]
        along = (PINS - at) / np.linalg.norm(PINS - at, axis=1)[:, None]
        stretch = np.linalg.norm(at - ROOT) - REST
        spring = -STIFFNESS * stretch * (at - ROOT) / np.linalg.norm(at - ROOT)
        assert np.abs(tension[k] @ along + spring + load).max() < 1e-6
        assert np.abs(at - equilibrium(load, lengths, at + 0.01)).max() < 1e-5
        states.add(tuple(tension[k] > 0.0))
    assert len(states) >= 3
    assert {event.event for event in history.events} == {"taut", "slack"}
    assert np.abs(history.energy_error).max() < 1e-9


@pytest.mark.parametrize("rise", [0.0, 0.3])
def test_a_load_falls_into_its_rope_and_then_rests(rise):
    """Analytic: T = m g; the dynamic step that follows finds it at rest."""
    deck = hung(0.0, rise=rise, period=0.05)
    static = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*DLOAD\nBOB, GRAV, 9.81, 0, 0, -1\n*END STEP\n*STEP"
    history = run_text(deck.replace("*STEP", static, 1))
    steps = np.asarray(history.step)
    assert history.of_element(1, "T")[steps == 1][-1] == pytest.approx(GRAVITY, rel=1e-12)
    moving = history.positions(2)[steps == 2]
    assert np.abs(moving - [0.0, 0.0, -1.0]).max() < 1e-12
    assert [event.event for event in history.events] == (["taut"] if rise else [])


def test_square_braced_by_ropes():
    """Published: SSNL105A, whose forces follow from equilibrium of the joints alone."""
    text = SSNL105A.read_text(encoding="utf-8").replace(
        "*ELASTIC\n2.1E11, 0.\n*NO COMPRESSION, RATIO=0.", "*INEXTENSIBLE\n*NO COMPRESSION"
    )
    text = text.replace("STRAIN=GREEN, STARTING TENSION=5000.\n1.E-4\n*MATERIAL", "STRAIN=GREEN\n1.E-4\n*MATERIAL")
    history = run_text(text)
    assert history.of_element(13, "T")[-1] == pytest.approx(1414.2, rel=3e-4)
    assert history.of_element(34, "N")[-1] == pytest.approx(-1000.0, rel=3e-4)
    for label in (42, 12, 23, 41):
        assert abs(history.of_element(label, "T")[-1]) < 1e-3
    assert [(event.element, event.event) for event in history.events] == [(42, "slack")]


def test_modes_are_those_of_the_taut_ropes():
    """A slack rope takes no part in *FREQUENCY: the spring alone is left, omega^2 = k/m."""
    frequency = "*STEP\n*FREQUENCY\n1\n*END STEP\n"
    spring = "*ELEMENT, TYPE=SPRING1, ELSET=S\n3, 2\n*SPRING, ELSET=S\n3\n100.\n*BOUNDARY"
    text = hung(0.0, rise=0.5).split("*STEP")[0].replace("*BOUNDARY", spring, 1) + frequency
    history = run_text(text)
    assert history.modes[0].frequency[0] == pytest.approx(10.0 / (2.0 * np.pi), rel=1e-9)


def test_mechanisms_and_choices_without_end_are_named(monkeypatch):
    monkeypatch.setattr(active, "may_be_laid", lambda *_: False)  # as if there were more than ropes
    pulled = hung(0.0).replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001", "*STATIC\n0.1")
    with pytest.raises(ModelError, match=r"node 2 dof 3 is loaded but nothing resists.*slack: element 1"):
        run_text(pulled.replace("0, 0, -1\n*END", "0, 0, 1\n*END"))
    row = line("NEWMARK", 0.0).replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.002", "*STATIC\n0.1")
    with pytest.raises(ModelError, match=r"resist.*damped \*DYNAMIC"):
        run_text(row)
    monkeypatch.setattr(ActiveSet, "_off", lambda active, motion: np.ones(len(active.taut)))
    with pytest.raises(NoConvergence, match=r"no choice of taut ropes is in equilibrium; element 1, element 2"):
        run_text(tripod([np.array([0.0, 0.0, -10.0])]))


NET = """*NODE, NSET=N
1, 0., 0., 0.
2, 1., 0.2, 0.
3, 2., 0., 0.
4, 3., 0., 0.1
5, 2., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 2
2, 2, 3
3, 3, 4
4, 3, 5
*MATERIAL, NAME=HEMP
{law}
*NO COMPRESSION
*DENSITY
1.
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*REST LENGTH
ROPES, 1.3
*BOUNDARY
1, 1, 3
4, 1, 3
*STEP, NLGEOM
*STATIC
0.5, 1.
*DLOAD
ROPES, GRAV, 10., 0., 0., -1.
*NODE PRINT, NSET=N
U
*END STEP
"""


def test_slack_ropes_find_where_they_hang():
    """A line between two supports, and a rope with a free end, which hangs from its middle: as stiff cables do."""
    ropes, cables = (run_text(NET.format(law=law)) for law in ("*INEXTENSIBLE", "*ELASTIC\n1e8"))
    assert f"step 1: {LAID}" in ropes.notices and ropes.of_element(4)[-1] == pytest.approx(6.5, rel=1e-9)
    assert ropes.u[-1] == pytest.approx(cables.u[-1], abs=1e-5)
    assert [ropes.of_element(k)[-1] for k in (1, 2, 3)] == pytest.approx(
        [cables.of_element(k)[-1] for k in (1, 2, 3)], rel=1e-5
    )


def test_a_load_that_has_left_its_rope_is_found_at_the_other_end():
    """It is half a length below its pin, and pulled up: it ends a length above, where the rope has its weight."""
    text = hung(0.0).replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001", "*STATIC\n0.1")
    history = run_text(text.replace("0, 0, -1\n*END", "0, 0, 1\n*END"))
    assert f"step 1: {LAID}" in history.notices
    assert history.of_node(2)[-1, 2] == pytest.approx(2.0, rel=1e-12)
    assert history.of_element(1)[-1] == pytest.approx(GRAVITY, rel=1e-9)


def test_a_rope_that_enters_takes_over_the_pull_of_another():
    """Laws: the sum of pulls times gradients stays, none is negative, the set stays independent."""
    generator = np.random.default_rng(5)
    rows = generator.standard_normal((5, 3))  # of five ropes at one node
    rows[3] = 0.4 * rows[0] + 0.7 * rows[1] - 0.2 * rows[2]
    taut, pull = np.array([True, True, True, False, False]), np.array([1.0, 2.0, 3.0, 0.0, 0.0])
    force = pull @ rows
    found = enter(rows, taut, np.array([3]), pull)
    assert found.tolist() == [False, True, True, True, False]  # 1/0.4 is less than 2/0.7
    assert np.abs(pull @ rows - force).max() < 1e-12
    assert pull.min() >= 0.0
    assert np.linalg.matrix_rank(rows[found]) == 3
    assert enter(rows, np.zeros(5, np.bool_), np.arange(5), None).tolist() == [True, True, True, False, False]


def test_models_that_ask_for_explicit_ropes_are_refused():
    """Not only decks (``tests/deck/bad/rope_explicit.inp``)."""
    from dataclasses import replace

    model = fem.parse_deck(hung(0.0))
    step = model.steps[0]
    explicit = replace(step, procedure=replace(step.procedure, integrator="CENTRAL DIFFERENCE"))
    with pytest.raises(ModelError, match="element 1 is a rope, which EXPLICIT does not support"):
        fem.run(replace(model, steps=(explicit,)))
