"""Perturbations cross impacts, contacts and releases: derivatives of the motion, symmetries, known multipliers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.runs.record import Event, SilentSink
from fem.study.exponents import lyapunov
from fem.study.growth import Varied, map_over
from fem.study.trajectory import Trajectory
from fem.study.variation.linearise import DA, DF, DU, DV

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
ROPE, CRADLE = INPUTS / "string_pendulum_rope.inp", INPUTS / "cradle.inp"
STEP = 1e-5
TWO_BODIES = """*NODE
1, 0., 0., 0.
2, 0.3, 0., -0.8
3, 0.9, 0., -0.5
*ELEMENT, TYPE=T3D2, ELSET=STRING
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=GAP
2, 2, 3
*ELEMENT, TYPE=SPRING1, ELSET=S
3, 3
*SPRING, ELSET=S
1
40.
*ELEMENT, TYPE=SPRING1, ELSET=T
4, 3
*SPRING, ELSET=T
3
25.
*ELEMENT, TYPE=MASS, ELSET=M
5, 2
*ELEMENT, TYPE=MASS, ELSET=N
6, 3
*MASS, ELSET=M, ALPHA=<alpha>
1.3
*MASS, ELSET=N, ALPHA=<alpha>
0.8
*SOLID SECTION, ELSET=STRING, MATERIAL=A
1.
*SOLID SECTION, ELSET=GAP, MATERIAL=B
1.
*REST LENGTH
STRING, 1.
GAP, <gap>
*MATERIAL, NAME=A
*INEXTENSIBLE, RESTITUTION=<c>
*NO COMPRESSION
*MATERIAL, NAME=B
*INEXTENSIBLE, RESTITUTION=<d>
*NO TENSION
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, 7., 0., -1.
1., 0.3
*BOUNDARY
1, 1, 3
2, 2
3, 2
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
<dt>, 100.
*CONTROLS, ENERGY DRIFT=OFF, RESI_GLOB_MAXI=1.E-11, IMPACT={impact}
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, <A>
*DLOAD
M, GRAV, 9.81, 0., 0., -1.
N, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
MASS, FREE = np.repeat([1.3, 0.8], 2), np.array([3, 5, 6, 8])
"""Masses of the free dofs, and their numbers."""


class Listening(SilentSink):
    """Keeps what happens."""

    def __init__(self) -> None:
        self.heard: list[Event] = []

    def event(self, event: Event) -> None:
        self.heard.append(event)


def two_bodies(scheme: str = "NEWMARK", impact: str = "EVENT", **numbers: float) -> fem.Model:
    """A ball on a rope from a shaken support, which meets a ball on springs."""
    defaults = {"alpha": 0.0, "c": 1.0, "d": 1.0, "dt": 1e-3, "A": 0.1, "gap": 0.5} | numbers
    card = "*PARAMETER\n" + "".join(f"{name} = {value!r}\n" for name, value in defaults.items())
    return fem.parse_deck(card + TWO_BODIES.format(scheme=scheme, impact=impact))


def opened(model: fem.Model) -> Trajectory:
    trajectory = Trajectory(model, Listening(), Varied)
    trajectory.open()
    return trajectory


def marched(trajectory: Trajectory, count: int) -> Trajectory:
    end = trajectory.progress.increment + count
    while trajectory.progress.increment < end:
        trajectory.progress.chunk = end - trajectory.progress.increment
        trajectory.last.advance()
    return trajectory


def whole_map(model: fem.Model, increments: int) -> tuple[np.ndarray, list[str]]:
    """(8, 8) derivative of (u, v) at the end by those at the start; the events."""
    trajectory = opened(model)
    starts = np.zeros((8, 2, 9))
    for k in range(8):
        starts[k, k // 4, FREE[k % 4]] = 1.0
    ends = map_over(trajectory.last, increments, starts)
    return ends[:, :, FREE].reshape(8, 8).T, [event.event for event in trajectory.sink.heard]


CASES = {
    # restitution of both, amplitude, distance kept, first and last increment, what happens
    "impacts": (0.8, 0.1, 0.5, 0, 45, ["impact", "impact"]),
    "taut, slack": (0.0, 0.8, 0.5, 30, 90, ["impact", "slack"]),
    "an impact loosens a rope": (0.0, 0.4, 0.5, 115, 190, ["impact", "slack", "impact", "impact"]),
    "contact, apart": (0.0, 0.1, 0.64, 175, 187, ["slack", "impact", "apart"]),
}
SCHEMES = (
    "NEWMARK",
    "NEWMARK, BETA=0.3025, GAMMA=0.6",
    "HHT, ALPHA=-0.1",
    "GENERALIZED ALPHA, RHO=0.6",
    "BACKWARD EULER",
    "ENERGY MOMENTUM",
)


@pytest.mark.parametrize(
    ("case", "scheme"),
    # BACKWARD EULER moves ropes that it makes too long after a release back, which has no derivative here.
    [(case, scheme) for case in CASES for scheme in SCHEMES if case == "impacts" or scheme != "BACKWARD EULER"],
)
@pytest.mark.sampled
def test_the_map_through_events_is_the_derivative_of_the_run(case, scheme):
    """Of its increments, cut where the events are: in long ones the derivative of the motion is far away."""
    c, amplitude, gap, first, last, events = CASES[case]
    model = two_bodies(scheme, alpha=0.2, c=c, d=c, A=amplitude, gap=gap, dt=0.01)
    varied = marched(opened(model), first)
    varied.sink.heard.clear()
    varied.last.begin(np.random.default_rng(5).standard_normal((2, 2, 9)))
    vectors = varied.last.variation.vectors
    starts = vectors.copy()
    marched(varied, last - first)
    assert [event.event for event in varied.sink.heard] == events
    for start, end in zip(starts, vectors, strict=True):
        ends = []
        for way in (STEP, -STEP):
            other = marched(opened(model), first)
            for name, row in (("u", DU), ("v", DV), ("a", DA), ("lagged", DA), ("force", DF)):
                getattr(other.progress.motion, name)[:] += way * start[row]
            ends.append(marched(other, last - first).progress.motion)
        for row, name in ((DU, "u"), (DV, "v")):
            slope = (getattr(ends[0], name) - getattr(ends[1], name)) / (2.0 * STEP)
            assert np.abs(slope - end[row]).max() < 1e-6 * np.abs(end[: DV + 1]).max()


def test_impacts_travel_through_a_row_of_balls_on_rods():
    """The same law for a cradle with gaps, four impacts in 20 ms beside five rods."""
    model = fem.parse_deck(CRADLE.read_text(), {"gap": 2e-3, "c": 0.9})
    varied = opened(model)
    varied.last.begin(np.random.default_rng(5).standard_normal((1, 2, 30)))
    [start], ends = varied.last.variation.vectors.copy(), []
    for way in (STEP, -STEP):
        other = opened(model)
        for name, row in (("u", DU), ("v", DV), ("a", DA)):
            getattr(other.progress.motion, name)[:] += way * start[row]
        ends.append(marched(other, 200).progress.motion)
    end = marched(varied, 200).last.variation.vectors[0]
    assert [(event.element, event.event) for event in varied.sink.heard] == [(n, "impact") for n in (11, 12, 13, 14)]
    for row, name in ((DU, "u"), (DV, "v")):
        slope = (getattr(ends[0], name) - getattr(ends[1], name)) / (2.0 * STEP)
        assert np.abs(slope - end[row]).max() < 1e-5 * np.abs(end[: DV + 1]).max()


@pytest.mark.parametrize(
    ("scheme", "apart"),
    [
        ("HHT, ALPHA=-0.1", 1e-3),
        ("GENERALIZED ALPHA, RHO=0.6", 1e-3),
        ("ENERGY MOMENTUM", 5e-4),
        pytest.param("BACKWARD EULER", 5e-2, marks=pytest.mark.long),
    ],
)
def test_all_schemes_have_nearly_the_same_map(scheme, apart):
    """Through an impact after which the rope is taut, its release and an impact: to the first order of dt.

    The map of increments cut at events is one order less exact than their motion, which starts anew at each.
    """
    numbers = {"alpha": 0.2, "c": 0.0, "d": 0.7, "A": 0.8}
    exact, events = whole_map(two_bodies("NEWMARK", **numbers), 1500)
    found, same = whole_map(two_bodies(scheme, **numbers), 1500)
    assert events == same == ["impact", "slack", "impact", "slack", "impact", "impact"]
    assert np.abs(found - exact).max() < apart * np.abs(exact).max()


def test_impacts_without_loss_are_symplectic():
    """Law: S^T J S = J with J of (u, M v); of increments cut at events to dt^2, and volumes are kept to round-off.

    The trapezoidal rule keeps J between impacts, where all forces are linear.
    """
    momentum = np.diag(np.concatenate([np.ones(4), MASS]))
    form = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.eye(4), np.zeros((4, 4))]])
    for dt in (8e-3, 4e-3, 2e-3, 1e-3, 5e-4):  # where in an increment an event falls matters, too: no ratio is steady
        found, events = whole_map(two_bodies(dt=dt), round(1.0 / dt))
        assert events == ["impact"] * 3
        assert np.linalg.det(found) == pytest.approx(1.0, abs=1e-8)
        whole = momentum @ found @ np.linalg.inv(momentum)
        assert np.abs(whole.T @ form @ whole - form).max() < (dt * np.abs(found).max()) ** 2


def test_an_impact_takes_the_square_of_its_restitution_from_volumes():
    """Law: det S = c^2 of each impact, and drag takes exp(-alpha t) in each of four directions, to dt^2."""
    taken = {1: 0.9**2, 2: 0.3**2}
    trajectory = opened(two_bodies(c=0.9, d=0.3, alpha=0.05, A=0.4, dt=2e-3))
    starts = np.zeros((8, 2, 9))
    starts[np.arange(8), np.arange(8) // 4, np.tile(FREE, 2)] = 1.0
    ends = map_over(trajectory.last, 900, starts)[:, :, FREE].reshape(8, 8)
    labels = [event.element for event in trajectory.sink.heard]
    assert set(labels) == {1, 2}
    exact = np.exp(-4 * 0.05 * 1.8) * np.prod([taken[label] for label in labels])
    assert np.linalg.det(ends) == pytest.approx(exact, rel=2e-5)


BALL = """*NODE
1, 0., 0., 0.
2, 0., 0., <height>
*ELEMENT, TYPE=T3D2, ELSET=TABLE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
0.7
*SOLID SECTION, ELSET=TABLE, MATERIAL=STEEL
1.
*REST LENGTH
TABLE, 0.1
*MATERIAL, NAME=STEEL
*INEXTENSIBLE, RESTITUTION=<c>
*NO TENSION
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <omega>, 0., <mean>
<cosine>, <sine>
*BOUNDARY
1, 1, 2
2, 1, 2
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
<dt>, 60.
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, <A>
*DLOAD
BALL, GRAV, 9.81, 0., 0., -1.
*END STEP
"""


def bouncing(c: float, amplitude: float, way: float, scheme: str = "NEWMARK") -> tuple[fem.Model, np.ndarray]:
    """A ball that meets a shaken table once in every period T = 1, and its Floquet multipliers: analytic.

    Table A (cos(2 pi t + phase) - cos(phase)); impacts at T/2 with the speed gT/2 before and after, relative to rest:
    gT/2 = (1 + c) X' + c gT/2. A later impact dt' = dt + T/(X' + gT/2) dw and dw' = (1 + c) X'' dt' - c (dw - g (dt' -
    dt)) have the determinant c^2 and the trace 1 + c^2 + (1 + c)^2 X''/g.
    Source: Guckenheimer & Holmes, Nonlinear Oscillations (1983), ch. 2.4 (there for small amplitudes).
    """
    g, omega = 9.81, 2.0 * np.pi
    sine = g * (1.0 - c) / (2.0 * amplitude * omega * (1.0 + c))
    cosine = way * np.sqrt(1.0 - sine**2)
    numbers = {
        "height": 0.1 + g / 8.0 - 2.0 * amplitude * cosine, "c": c, "omega": omega, "mean": -cosine, "cosine": cosine,
        "sine": -sine, "A": amplitude, "dt": 0.005,
    }  # fmt: skip
    card = "*PARAMETER\n" + "".join(f"{name} = {float(value)!r}\n" for name, value in numbers.items())
    trace = 1.0 + c * c + (1.0 + c) ** 2 * amplitude * omega**2 * cosine / g
    return fem.parse_deck(card + BALL.format(scheme=scheme)), np.roots([1.0, -trace, c * c])


@pytest.mark.parametrize(
    ("c", "amplitude", "way"), [(0.8, 0.1, -1.0), (0.8, 0.1, 1.0), (0.5, 0.3, -1.0), (1.0, 0.05, -1.0)]
)
@pytest.mark.parametrize("scheme", ["NEWMARK", "HHT, ALPHA=-0.1", "ENERGY MOMENTUM"])
def test_multipliers_of_a_ball_on_a_shaken_table_are_known(c, amplitude, way, scheme):
    model, known = bouncing(c, amplitude, way, scheme)
    trajectory = opened(model)
    motion, starts = trajectory.progress.motion, np.zeros((2, 2, 6))
    start, starts[0, 0, 5], starts[1, 1, 5] = np.array([motion.u, motion.v]), 1.0, 1.0
    ends = map_over(trajectory.last, 200, starts)
    assert np.abs(np.array([motion.u, motion.v]) - start).max() < 1e-12
    found = np.linalg.eigvals(ends[:, :, 5])
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(known.astype(complex)), abs=1e-9)


def test_exponents_of_a_ball_on_a_shaken_table_are_those_of_its_multipliers():
    model, known = bouncing(0.8, 0.1, -1.0)
    found = lyapunov(model, exponents=2)
    assert found.values == pytest.approx(np.log(np.abs(known)), abs=1e-3)


@pytest.mark.long
def test_what_a_rope_that_becomes_taut_ends_has_the_exponent_minus_infinity(tmp_path, capsys):
    """A mass on a rope has four exponents; impacts without rebound leave the two of a pendulum."""
    numbers = {"A": 8.0, "beta": 0.1, "increments": 100}
    found = lyapunov(ROPE, parameters=numbers, time=100.0, exponents=4)
    assert np.isfinite(found.values).tolist() == [True, True, False, False]
    assert np.all(found.values[2:] == -np.inf) and np.all(found.errors[2:] == 0.0)
    command = ["lyapunov", str(ROPE), "--time", "100", "--exponents", "4", "--set", "increments=100", "--error", "none"]
    assert main([*command, "--output", str(tmp_path / "whole")]) == 0
    assert capsys.readouterr().out.count("-inf +- 0.000000, removed where ropes or stops become taut") == 2
    assert (tmp_path / "whole" / "convergence.png").exists()


@pytest.mark.long
def test_exponents_sum_to_what_drag_and_impacts_take():
    """Law: the sum of all is minus the trace of M^-1 C, and 2 log d over the time for each impact of the stop."""
    model = two_bodies(alpha=0.05, c=1.0, d=0.5, dt=0.004)
    found = lyapunov(model, time=12.0, exponents=8, transient=0.0)
    trajectory = marched(opened(model), 3000)
    impacts = [event.time for event in trajectory.sink.heard if event.element == 2]
    assert len(impacts) > 3
    elapsed = found.growth[:, -1].sum()
    assert max(impacts) < elapsed
    exact = -4 * 0.05 + 2.0 * np.log(0.5) * len(impacts) / elapsed
    # The trapezoidal rule takes 1 - (w dt)^2/4 of the drag, w up to 7.
    assert found.growth[:, :-1].sum() / elapsed == pytest.approx(exact, abs=5e-5)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(CommandError, match=r"time stepping .IMPACT=MOREAU.: use --method two"):
        opened(two_bodies(impact="MOREAU")).last.perturb(1)
    with pytest.raises(CommandError, match="the model has 8 Lyapunov exponents, not 9"):
        opened(two_bodies()).last.perturb(9)
    with pytest.raises(CommandError, match="have simultaneous impacts: the motion has no derivative there"):
        lyapunov(CRADLE)
