"""Lines that snap taut: short increments follow the front, wherever they are asked to; others are told what they do."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.solve import step_run
from tests.decks import run_text

BARS, LENGTH, STIFFNESS, MASS = 20, 10.0, 4e5, 1.0
PASSING = LENGTH / BARS / np.sqrt(STIFFNESS / MASS)
"""What a wave needs through a bar: 0.79 ms."""
# In a fluid as thin as air, above a bottom it never meets: a kind of model that other tests have compiled.
DECK = f"""
*NODE
1, 0., 0., 0.
{BARS + 1}, 0.75, 0., -7.
*NGEN, LINE=CATENARY
1, {BARS + 1}, 1, {LENGTH}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {BARS}
*ELEMENT, TYPE=MASS, ELSET=LOAD
1000, {BARS + 1}
*MASS, ELSET=LOAD
30.
*MATERIAL, NAME=ROPE
*ELASTIC
{STIFFNESS}
*DENSITY
{MASS}
*DAMPING, BETA={0.3 * PASSING}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=ROPE, STRAIN=ENGINEERING
1.
*AQUA
-50., 0., 9.81, 1.
*SEABED, ELSET=LINE
1E6, 1E4, 0.02
*AMPLITUDE, NAME=PULL, DEFINITION=SMOOTH STEP
0., 0., 0.6, 1.
*BOUNDARY
1, 1, 3
{BARS + 1}, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
LOAD, GRAV, 9.81, 0., 0., -1.
LINE, PB, 1., 0.02
LINE, FDD, 1., 0.02, 1.2
LINE, FDT, 1., 0.02, 0.1
LINE, FI, 1., 0.02, 2., 1., , 0.
*END STEP
*STEP, NLGEOM, INC=1000000
*DYNAMIC, {{integrator}}
{{dt}}, 0.9
*CONTROLS, TIME ERROR={{error}}
{{motion}}
*EL PRINT, ELSET=LINE
T
*END STEP
"""
DROPPED = "*BOUNDARY, OP=NEW\n1, 1, 3"
"""The load falls for 0.8 s, until its line is taut."""
LIFTED = f"*BOUNDARY, AMPLITUDE=PULL\n{BARS + 1}, 3, 3, 0.1"
CALM = "TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4"


def pulled(integrator: str = CALM, waves: float = 8.0, motion: str = DROPPED, error: str = "1E-4") -> fem.History:
    """A slack line with a load at its end; the first increment lasts so many passages of a wave through a bar."""
    return run_text(DECK.format(integrator=integrator, dt=waves * PASSING, motion=motion, error=error))


def peak(history: fem.History) -> float:
    return max(float(history.of_element(bar, "T").max()) for bar in range(1, BARS + 1))


def marks(history: fem.History) -> int:
    return sum(event.event == "snap" for event in history.events)


@pytest.fixture(scope="module")
def limit() -> float:
    """Equal increments of a quarter of a passage: half as long ones change 1e-3 of it."""
    history = pulled("DIRECT, " + CALM, 0.25)
    assert marks(history) == 0
    assert not any("slack" in notice for notice in history.notices)
    return peak(history)


@pytest.mark.parametrize("integrator", [CALM, "TIME INTEGRATOR=ENERGY MOMENTUM"])
def test_the_local_error_follows_a_snap(integrator: str, limit: float) -> None:
    history = pulled(integrator)
    assert peak(history) == pytest.approx(limit, rel=0.05)
    assert marks(history) == 0


def test_the_change_of_tension_follows_a_snap(limit: float) -> None:
    """With a TIME ERROR that does not by itself."""
    history = pulled(error="5E-4, TENSION CHANGE=0.3")
    assert peak(history) == pytest.approx(limit, rel=0.04)
    assert marks(history) == 0
    changes = np.abs(np.diff([history.of_element(bar, "T") for bar in range(1, BARS + 1)], axis=1))
    assert changes[:, history.of_step(2)[1:]].max() < 0.31 * limit


def test_equal_increments_are_told_what_they_do(limit: float) -> None:
    history = pulled("DIRECT, " + CALM)
    assert 0.4 * limit < peak(history) < 0.85 * limit
    notices = " ".join(history.notices)
    assert "understated by 15 to 60 %" in notices and "L0/(c dt) = 0.125)" in notices
    assert "lines snap taut in increments that are too long" in notices
    assert marks(history) > 0


def test_increments_without_a_local_error_are_told_too() -> None:
    history = pulled(error="OFF")
    assert marks(history) > 0


def test_a_line_that_does_not_snap_has_no_marks() -> None:
    history = pulled("DIRECT, " + CALM, motion=LIFTED)
    assert marks(history) == 0
    assert not any("too long" in notice for notice in history.notices)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pulled("DIRECT, " + CALM)
    monkeypatch.setattr(step_run, "LONGEST_CHUNK", 3)
    assert [event.time for event in whole.events] == [event.time for event in pulled("DIRECT, " + CALM).events]
