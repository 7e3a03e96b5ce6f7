"""Increments end on those corners of amplitudes that they would not see otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from fem.model.curves import Amplitude, Follow, evaluate, points_of_waves
from fem.runs.history import History
from fem.solve.corners import Corners
from tests.decks import run_text

PULSE = "0, 0, 3., 0, 3.0005, 1, 3.001, 0, 10., 0"
IMPULSE = 0.5  # of a force of 1000, triangular, 0.001 long
MASS, STIFFNESS = 2.0, 50.0


def mass_on_a_spring(
    points: str, *, load: str = "*CLOAD, AMPLITUDE=P\n2, 1, 1000.", kind: str = "", step: str = "*DYNAMIC\n0.1, 10."
) -> str:
    return f"""*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=MASS, ELSET=M
10, 2
*MASS, ELSET=M
{MASS}
*ELEMENT, TYPE=SPRINGA, ELSET=S
1, 1, 2
*SPRING, ELSET=S

{STIFFNESS}
*BOUNDARY
1, 1, 3
2, 2, 3
*AMPLITUDE, NAME=P{kind}
{points}
*STEP, NLGEOM
{step}
{load}
*END STEP
"""


def moved(history: History) -> float:
    return float(np.abs(history.u[:, 3]).max())


@pytest.mark.parametrize(
    "kind, points, load",
    [
        ("", PULSE, "*CLOAD, AMPLITUDE=P\n2, 1, 1000."),
        (", DEFINITION=SMOOTH STEP", PULSE, "*CLOAD, AMPLITUDE=P\n2, 1, 1000."),
        (", DEFINITION=EQUALLY SPACED, FIXED INTERVAL=0.0005, BEGIN=3.", "0, 1, 0", "*CLOAD, AMPLITUDE=P\n2, 1, 1000."),
        ("", PULSE, "*DLOAD, AMPLITUDE=P\nM, GRAV, 500., 1, 0, 0"),
    ],
)
def test_a_pulse_much_shorter_than_an_increment_acts(kind: str, points: str, load: str) -> None:
    """Its impulse gives the mass the speed IMPULSE/m, and the swing this speed over the circular frequency."""
    found = moved(run_text(mass_on_a_spring(points, kind=kind, load=load)))
    assert found == pytest.approx(IMPULSE / MASS / np.sqrt(STIFFNESS / MASS), rel=2e-3)


def test_a_jerk_of_a_support_much_shorter_than_an_increment_acts() -> None:
    """The spring pulls with k u for the time of the jerk: an impulse of 0.025, which moves the mass by 0.0025."""
    text = mass_on_a_spring(PULSE, load="*BOUNDARY, AMPLITUDE=P\n1, 1, 1, 1.\n*CONTROLS, TIME ERROR=1e-6")
    assert moved(run_text(text)) == pytest.approx(0.025 / MASS / 5.0, rel=0.02)


@pytest.mark.parametrize("step", ["*DYNAMIC\n1., 100.", "*DYNAMIC\n, 100."])
def test_a_wave_with_the_length_of_an_increment_acts(step: str) -> None:
    """m u'' + k u = 3 sin(2 pi t): with increments of one second the load is zero at their ends."""
    history = run_text(mass_on_a_spring(f"1, {2 * np.pi!r}, 0, 0\n0, 1", kind=", DEFINITION=PERIODIC",
                                        load="*CLOAD, AMPLITUDE=P\n2, 1, 3.", step=step))  # fmt: skip
    w, own, time = 2.0 * np.pi, 5.0, history.time[history.time <= 5.0]
    exact = 1.5 / (own**2 - w**2) * (np.sin(w * time) - w / own * np.sin(own * time))
    assert history.u[: len(time), 3] == pytest.approx(exact, abs=0.02 * np.abs(exact).max())


def test_statics_reaches_the_peak_of_an_amplitude() -> None:
    """A bar that yields at the peak stays longer, though a single increment begins and ends without load."""
    text = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
2e11
*PLASTIC
2e8, 0
3e8, 0.1
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1e-4
*BOUNDARY
1, 1, 3
2, 2, 3
*AMPLITUDE, NAME=P
0, 0, 0.5, 1, 1, 0
*STEP, NLGEOM
*STATIC
1., 1.
*CLOAD, AMPLITUDE=P
2, 1, 25000.
*END STEP
"""
    assert run_text(text).u[-1, 3] == pytest.approx(0.05, rel=0.3)


def test_equal_increments_say_what_they_do_not_see() -> None:
    lost = run_text(mass_on_a_spring(PULSE, step="*DYNAMIC, DIRECT\n0.1, 10."))
    assert any("do not see how P changes" in text for text in lost.notices)
    assert moved(lost) == 0.0
    seen = run_text(mass_on_a_spring(PULSE, step="*DYNAMIC, DIRECT\n0.0005, 10."))
    assert not any("do not see" in text for text in seen.notices)


def test_amplitudes_that_increments_follow_anyway_change_nothing() -> None:
    """A dense table of a slow wave, and the line through its turning points where they do not matter."""
    time = np.linspace(0.0, 10.0, 401)
    slow = Follow(Amplitude("A", points=np.column_stack([time, np.sin(time)])), 0.0)
    corners = Corners("A", slow, 0.0, 10.0, time[1:-1], evaluate(slow, time[1:-1]), 0.05 * 2.0)
    assert len(corners.needed(0.1)) == 0
    assert len(corners.needed(3.0)) > 100


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("first, last", [(1.0, 10.0), (10.0, 1.0), (2.0, 2.0)])
def test_points_of_a_sweep_are_eighths_of_its_waves(first: float, last: float, logarithmic: bool) -> None:
    own = Amplitude("S", "SWEEP", omega=first, omega_end=last, duration=20.0, start=1.0, fourier=((0.0, 1.0),),
                    is_logarithmic=logarithmic)  # fmt: skip
    times = points_of_waves(own, 30.0)
    assert evaluate(Follow(own, 0.0), times) == pytest.approx(np.sin(np.arange(len(times)) * np.pi / 4.0), abs=1e-10)
    assert 29.0 < times[-1] <= 30.0


def test_points_of_a_series_follow_its_shortest_large_wave() -> None:
    own = Amplitude("S", "PERIODIC", omega=2.0, start=1.0, fourier=((0.0, 1.0), (0.0, 0.0), (0.5, 0.0), (0.001, 0.0)))
    times = points_of_waves(own, 3.0)
    assert np.diff(times) == pytest.approx(2.0 * np.pi / 6.0 / 8.0)
