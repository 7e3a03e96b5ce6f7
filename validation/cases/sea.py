"""An irregular sea and what is in it: its waves, the water at moving nodes, statistics, a buoy, a body on springs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import moored_buoy, sea

NAME = "sea"
TITLE = "waves: JONSWAP components, the water at nodes, statistics of a sea, a buoy on a rope, a body on springs"
SOURCE = (
    "The spectrum integrated by quad, waves summed as complex potentials, the body's equation by DOP853, the rope's by "
    "Radau. Deck inputs/sea_state.inp; the deck of the body is part of the case."
)
LONG = False

HEIGHT, PERIOD, GAMMA, COUNT, DEPTH, GRAVITY, DENSITY, RAMP = 2.5, 8.0, 3.3, 100, 40.0, 9.80665, 1025.0, 20.0
SINCE = 1.0
"""End of statics, with which the ramp begins."""
SECONDS = 1800.0
BODY = """*NODE, NSET=ALL
1, 0., 0., -6.
2, 0., 3., -6.
*ELEMENT, TYPE=T3D2, ELSET=BODY
1, 1, 2
*ELEMENT, TYPE=SPRING1, ELSET=SX
11, 1
12, 2
*ELEMENT, TYPE=SPRING1, ELSET=SZ
13, 1
14, 2
*SPRING, ELSET=SX
1
300.
*SPRING, ELSET=SZ
3
300.
*MATERIAL, NAME=M
*ELASTIC
2e11
*DENSITY
9000.
*SOLID SECTION, ELSET=BODY, MATERIAL=M
0.01
*AQUA
-25., 0., 9.80665, 1025.
0.3, 0., 0., 0.
*WAVE, TYPE=AIRY, WAVE PERIOD
1., 7., 40., 1., 0.
*BOUNDARY
ALL, 2, 2
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
{dt!r}, 21.
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
BODY, FDD, 1., 0.3, 1.1
BODY, FI, 1., 0.3, 2., 1.
*NODE PRINT
U
*END STEP
"""


def run(folder: Path) -> Outcome:
    """Components, kinematics, statistics, motion."""
    body, history, exact = _body()
    rows = [*_components(), *_water(), *_buoy(), *_statistics(), *body]
    return Outcome(tuple(rows), {"body": _motion(history, exact)}, ())


def _known(seed: int) -> Any:
    return sea.components(HEIGHT, PERIOD, GAMMA, seed, COUNT, DEPTH, GRAVITY)


def _components() -> list[Row]:
    """Of two seeds; energy and peak."""
    rows, why = [], "independent: quad over each bin, brentq, SplitMix64 in numpy; round-off"
    for seed in (1, 2):
        found, known = tools.deck("sea_state", {"SEED": seed}).sea[:, :4], _known(seed)
        for n, name in enumerate(("frequency", "wave number", "amplitude", "phase")):
            error = float(np.abs(found[:, n] / known[:, n] - 1.0).max())
            rows.append(
                Row(Target(f"seed {seed}: largest error of {name}, relative", 0.0, "absolute", why, 1e-13), error)
            )
    m0 = float(0.5 * np.sum(found[:, 2] ** 2))
    rows.append(Row(Target("m0 [m^2]", HEIGHT**2 / 16.0, "relative", "analytic: Hs^2/16; round-off", 1e-13), m0))
    peak, known = float(found[found[:, 2].argmax(), 0]), _known(2)
    exact, why = (
        float(known[known[:, 2].argmax(), 0]),
        "independent: the largest bin of the spectrum by quad; round-off",
    )
    rows.append(Row(Target("frequency of the largest wave, seed 2 [1/s]", exact, "relative", why, 1e-13), peak))
    return rows


def _water() -> list[Row]:
    """At a buoy that moves, in the ramp and after it."""
    history = fem.run(tools.deck("sea_state", {"period": 40.0}))
    later = np.asarray(history.step) == 2
    place, time = history.of_node(19, "COORD")[later], history.time[later]
    eta, velocity, acceleration = sea.water(_known(1), place[:, 0], place[:, 2], time, DEPTH, RAMP, SINCE)
    velocity[:, 0] += np.interp(place[:, 2], [-DEPTH, 0.0], [0.3, 0.5])
    rows, why = [], "independent: sum of complex potentials at the places of the node; round-off"
    for name, unit, found, known in (
        ("elevation", "m", history.of_node(19, "FE")[later].ravel(), eta),
        ("velocity", "m/s", history.of_node(19, "FV")[later][:, [0, 2]], velocity),
        ("acceleration", "m/s^2", history.of_node(19, "FA")[later][:, [0, 2]], acceleration),
    ):
        target = Target(f"largest error of the {name} at the buoy [{unit}]", 0.0, "absolute", why, 1e-13)
        rows.append(Row(target, float(np.abs(found - known).max())))
    return rows


def _buoy() -> list[Row]:
    """Its way through waves and current, and the error of its place; of its rope of 16 bars, as the deck has it."""
    exact, errors, ways = np.empty(0), [], []
    for dt in (0.1, 0.05):
        history = fem.run(tools.with_procedure(tools.deck("sea_state", {"period": 40.0}), 2, dt=dt))
        later = np.flatnonzero(np.asarray(history.step) == 2)[:: round(0.1 / dt)]
        place = history.of_node(19, "COORD")[later][:, [0, 2]]
        if not errors:
            exact = moored_buoy.motion(_rope(), DEPTH, _flow, _current, history.time[later], 1e-5)[:, -1]
        errors.append(float(np.abs(place - exact).max()))
        ways.append(float(np.ptp(place[:, 0])))
    why = "independent: its nodes' equations of motion by Radau; dt = 0.05 s, of second order"
    order = Target("buoy: order of its place", 2.0, "order", "independent; analytic: generalised alpha", 0.06)
    return [
        Row(Target("buoy: way along x [m]", float(np.ptp(exact[:, 0])), "relative", why, 1.5e-3), ways[-1]),
        Row(Target("buoy: largest error of its place [m]", 0.0, "absolute", why, 8e-3), errors[-1]),
        Row(order, float(tools.orders(np.array(errors))[-1])),
    ]


def _rope() -> moored_buoy.Rope:
    """Sixteen bars of rope, two of buoy."""
    displaced = [DENSITY * 0.25 * np.pi * diameter**2 for diameter in (0.039, 1.2)]
    rows = (4e9 * 1.2e-3, 1e9 * 1.13), (1380.0 * 1.2e-3, 300.0 * 1.13), displaced, (0.05, 1.2), (1.2, 0.8), (1.0, 1.0)
    return moored_buoy.Rope(np.full(18, 2.0), *(np.repeat(row, (16, 2)) for row in rows))


def _current(place: tools.Array, time: float) -> tuple[tools.Array, tools.Array]:
    speed = np.interp(place[:, 1], [-DEPTH, 0.0], [0.3, 0.5])
    return speed[:, None] * [1.0, 0.0], np.zeros_like(place)


def _flow(place: tools.Array, time: float) -> tuple[tools.Array, tools.Array]:
    """The sea of seed 1 and the current."""
    _, velocity, acceleration = sea.water(_waves(), *place.T, np.full(len(place), time), DEPTH, RAMP, SINCE)
    return velocity + _current(place, time)[0], acceleration


@cache
def _waves() -> Any:
    return _known(1)


def _statistics() -> list[Row]:
    """Of half an hour above the anchor, beside those of the same waves summed up; the sea that is asked for."""
    history = fem.run(tools.deck("sea_state", {"period": SECONDS}))
    late = history.time > SINCE + RAMP
    time, none = history.time[late], np.zeros(int(late.sum()))
    exact, _, _ = sea.water(_known(1), none, none, time, DEPTH, RAMP, SINCE)
    height, period = _of_record(time, history.of_node(1, "FE")[late].ravel())
    its_height, its_period = _of_record(time, exact)
    why = "independent: the same half hour as a sum of complex potentials; round-off"
    asked = "analytic: what the deck asks for; the 3e-4 of this record of half an hour, and as much again twice"
    return [
        Row(Target("Hs from 4 sigma, of these waves [m]", its_height, "relative", why, 1e-12), height),
        Row(Target("mean period of upward crossings, of these waves [s]", its_period, "relative", why, 1e-12), period),
        Row(Target("Hs from 4 sigma, as asked for [m]", HEIGHT, "relative", asked, 1e-3), height),
    ]


def _of_record(time: tools.Array, eta: tools.Array) -> tuple[float, float]:
    """4 sigma, and the mean time between upward crossings."""
    rises = np.flatnonzero((eta[:-1] < 0.0) & (eta[1:] >= 0.0))
    return float(4.0 * eta.std()), float((time[rises[-1]] - time[rises[0]]) / (len(rises) - 1))


def _body() -> tuple[list[Row], Any, Any]:
    """Order and error."""
    wave = np.array([[2.0 * np.pi / 7.0, sea.wave_number(2.0 * np.pi / 7.0, 25.0, GRAVITY), 1.0, np.radians(40.0)]])

    def flow(x: float, z: float, time: float) -> tuple[Any, Any]:
        _, velocity, acceleration = sea.water(wave, np.array([x]), np.array([z]), np.array([time]), 25.0)
        return velocity[0] + [0.3, 0.0], acceleration[0]

    displaced, errors = DENSITY * 0.25 * np.pi * 0.3**2 * 3.0, []
    for dt in (0.07, 0.035, 0.0175):
        history = fem.run(fem.parse_deck(BODY.format(dt=dt), name="body"))
        drag = 0.5 * DENSITY * 0.3 * 1.1 * 3.0
        exact = sea.body(history.time, flow, 6.0, 270.0, 600.0, drag, 2.0 * displaced, displaced)
        errors.append(float(np.abs(history.of_node(1)[:, [0, 2]] - exact).max()))
    why = "independent: the equation of motion by DOP853; second order"
    order = Target("body: order of its place", 2.0, "order", "analytic: trapezoidal rule", 0.02)
    error = Target("body: largest error of its place, dt = T/400 [m]", 0.0, "absolute", why, 2e-4)
    return [Row(order, float(tools.orders(np.array(errors))[-1])), Row(error, errors[-1])], history, exact


def _motion(history: Any, exact: Any) -> Any:
    sheet, axes = tools.figure("A body on springs in regular waves and a current", "t [s]", "displacement [m]")
    found = history.of_node(1)
    for axis, (column, colour) in enumerate(((0, tools.BLUE), (2, tools.ORANGE))):
        axes.plot(history.time, exact[:, axis], "-", color=colour, label=f"{'xz'[axis]}: DOP853")
        axes.plot(
            history.time[::40], found[::40, column], "o", color=colour, markersize=4, label=f"{'xz'[axis]}: one bar"
        )
    tools.legend(axes)
    return sheet
