"""Where steps with ropes set off: T, A and RF of increment 0 are those of the start, and going on is no event."""

from __future__ import annotations

import numpy as np
import pytest

from fem.errors import ModelError
from tests.decks import run_text
from tests.solve.test_ropes import EVENT_SCHEMES, GRAVITY, events, hung
from tests.solve.test_ropes_together import ACROSS, MORE_THAN_NEEDED


def swung(integrator: str, impact: str, steps: int = 1) -> str:
    """A mass that sets off sideways with 2 below its pin, its rope of length 1 taut all the time."""
    deck = hung(0.5, integrator=integrator, rise=0.0, dt=0.01, period=0.3)
    deck = deck.replace("TYPE=DISPLACEMENT\n2, 3, 0.0", "TYPE=VELOCITY\n2, 1, 2.").replace("2, 1, 2\n*", "2, 2\n*")
    deck = deck.replace("*DLOAD", f"*CONTROLS, IMPACT={impact}\n*DLOAD")
    return deck + (steps - 1) * deck[deck.index("*STEP") :]


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
def test_a_rope_taut_at_the_start_pulls_at_increment_0(impact):
    """Statics of an instant: T = m (g + v^2/l), the mass accelerates towards its pin; no event."""
    history = run_text(swung("NEWMARK", impact))
    assert not history.events
    assert abs(history.of_element(1, "T")[0] - (GRAVITY + 4.0)) < 1e-12
    assert np.abs(history.a[0][3:] - [0.0, 0.0, 4.0]).max() < 1e-12
    assert np.abs(history.reactions[0][:3] - [0.0, 0.0, GRAVITY + 4.0]).max() < 1e-12


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
@pytest.mark.sampled
def test_a_rope_that_stays_taut_meets_no_impact_where_a_step_begins(integrator, impact):
    """Two steps go on as one does: no event, nothing lost, T goes on smoothly, its second differences small."""
    history = run_text(swung(integrator, impact, steps=2))
    assert not history.events
    assert abs(history.energy[-1, 4]) < 1e-12
    later = history.of_element(1, "T")[np.diff(history.time, prepend=-1.0) > 0.0]
    assert np.abs(np.diff(later, 2)[1:]).max() < 0.02


def test_ropes_that_share_their_pull_share_it_from_increment_0_on():
    """Time stepping tells of four ropes that hold one node the pulls that events do."""
    deck = MORE_THAN_NEEDED.replace("5, 3, 0.1", "5, 3, 0.")
    first = [run_text(deck.replace("*DLOAD", f"*CONTROLS, IMPACT={impact}\n*DLOAD")) for impact in ("EVENT", "MOREAU")]
    pulls = np.array([[history.of_element(k, "T")[0] for k in (1, 2, 3, 4)] for history in first])
    assert pulls.max() > 1.0
    assert np.abs(pulls[0] - pulls[1]).max() < 1e-12
    assert np.abs(first[0].reactions[0] - first[1].reactions[0]).max() < 1e-12


def test_impacts_at_the_start_of_time_stepping_are_in_the_books():
    """A mass that sets off against its taut rope loses m v^2/2 at once, as with events."""
    deck = hung(0.0, rise=0.0, period=0.01).replace("TYPE=DISPLACEMENT\n2, 3, 0.0", "TYPE=VELOCITY\n2, 3, -3.")
    history = run_text(deck.replace("*DLOAD", "*CONTROLS, IMPACT=MOREAU\n*DLOAD"))
    assert events(history, "impact") == [(0.0, pytest.approx(4.5, abs=1e-12))]
    assert abs(history.energy[-1, 4] - 4.5) < 1e-12
    assert np.abs(history.energy_error).max() < 1e-12


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
def test_motion_across_straight_ropes_is_refused(impact):
    """A mass between two ropes in a straight line sets off across them: no finite pull bends its path."""
    start = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 3, 1.\n*STEP"
    deck = ACROSS.replace("<INTEGRATOR>", "NEWMARK").replace("<MOVED>", f"*CONTROLS, IMPACT={impact}")
    with pytest.raises(
        ModelError, match="at the start of the step no tensions of ropes and rods keep all lengths: elem"
    ):
        run_text(deck.replace("*STEP", start))


CARRIED = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=M
2, 3
*MASS, ELSET=M
1.
*MATERIAL, NAME=I
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPE, MATERIAL=I
1.
*EQUATION
2
2, 1, 1., 3, 1, -1.
2
2, 2, 1., 3, 2, -1.
2
2, 3, 1., 3, 3, -1.
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
3, 1, 2.
3, 2, 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.05
*CONTROLS, IMPACT={impact}
*END STEP
"""


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
def test_a_rope_at_a_node_that_follows_others_feels_their_velocity(impact):
    """The mass leaves with 2 along its rope, which meets its impact at the start: m v^2/2 = 2 is lost."""
    history = run_text(CARRIED.format(impact=impact))
    assert [(event.event, event.increment, event.energy_loss) for event in history.events] == [("impact", 0, 2.0)]
    assert np.abs(history.v[0][3:] - [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]).max() < 1e-12


@pytest.mark.long
def test_the_work_of_moments_on_bodies_is_in_the_balance_of_moreau():
    """It was lost where the links of a body had their lengths corrected."""
    turning = CARRIED.replace("2, 3\n*MASS", "2, 3\n*ELEMENT, TYPE=ROTARYI, ELSET=J\n3, 3\n*MASS")
    start, end = turning.index("*EQUATION"), turning.index("*BOUNDARY")
    body = "*ROTARY INERTIA, ELSET=J\n1., 1.2, 1.5\n*NSET, NSET=TIED\n2\n*RIGID BODY, REF NODE=3, TIE NSET=TIED\n"
    turning = turning[:start] + body + turning[end:].replace("*END STEP", "*CLOAD\n3, 6, 9.\n3, 4, 5.\n*END STEP")
    history = run_text(turning.format(impact="MOREAU"))
    assert np.ptp(history.energy[:, 3]) > 0.01 and np.abs(history.energy_error).max() < 1e-11
